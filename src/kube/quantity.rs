//! Amounts as Kubernetes writes them: `500m`, `1Gi`.

/// Parses a Kubernetes quantity, in units of one; `None` if it has another form.
pub fn quantity(text: &str) -> Option<f64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '+' | '-'))
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let factor = match suffix {
        "" => 1.0,
        "m" => 1e-3,
        "k" => 1e3,
        binary if binary.len() == 2 && binary.ends_with('i') => 1024f64.powi(power(&binary[..1])?),
        decimal if decimal.len() == 1 => 1000f64.powi(power(decimal)?),
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * factor)
}

/// Returns the power of a suffix: 1 for `K`.
fn power(suffix: &str) -> Option<i32> {
    "KMGTPE".find(suffix).map(|at| at as i32 + 1)
}
