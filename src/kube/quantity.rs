//! Amounts as Kubernetes writes them: `500m`, `1Gi`, `1e3`.

/// Parses a Kubernetes quantity, in units of one; `None` if the API server rejects it (apimachinery
/// pkg/api/resource/quantity.go, ParseQuantity). A suffix without any digit is rejected, although ParseQuantity reads
/// some as zero.
pub fn quantity(text: &str) -> Option<f64> {
    let text = text.trim();
    let whole = without_digits(text.strip_prefix(['+', '-']).unwrap_or(text));
    let suffix = whole.strip_prefix('.').map_or(whole, without_digits);
    let number = &text[..text.len() - suffix.len()];
    if let Some(prefix) = suffix.strip_suffix('i') {
        let power = ["K", "M", "G", "T", "P", "E"]
            .into_iter()
            .position(|known| known == prefix)?;
        return Some(number.parse::<f64>().ok()? * 1024f64.powi(power as i32 + 1));
    }
    let exponent = match suffix {
        "n" => -9,
        "u" => -6,
        "m" => -3,
        "" => 0,
        "k" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        "P" => 15,
        "E" => 18,
        _ => suffix.strip_prefix(['e', 'E'])?.parse::<i64>().ok()?,
    };
    // Parsed with its exponent, and thus rounded once: `0.7` and `700m` are equal.
    format!("{number}e{exponent}").parse().ok()
}

fn without_digits(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::quantity;

    #[test]
    fn quantity_has_suffixes_and_exponents_of_kubernetes() {
        for (text, amount) in [
            ("1", 1.0),
            ("-1.5", -1.5),
            ("+.5", 0.5),
            ("5.", 5.0),
            ("700m", 0.7),
            ("3u", 3e-6),
            ("3n", 3e-9),
            ("1k", 1e3),
            ("2E", 2e18),
            ("1e3", 1e3),
            ("1E3", 1e3),
            ("1e+3", 1e3),
            ("25E-1", 2.5),
            ("1Ki", 1024.0),
            ("0.5Gi", 536_870_912.0),
            (" 1 ", 1.0),
        ] {
            assert_eq!(quantity(text), Some(amount), "{text}");
        }
        for text in [
            "", "+", ".", "k", "1K", "1ki", "1i", "1e", "1Ee3", "1e3e3", "1 k", "1_000", "0x10",
            "inf", "1Ki3",
        ] {
            assert_eq!(quantity(text), None, "{text}");
        }
    }
}
