//! The escapes of double quotes, as go-yaml v2 decodes them.

/// Decodes the escape whose backslash is before `rest`. Returns the character, and its length in `rest` in bytes.
///
/// # Errors
/// Returns go-yaml's message for an unknown escape.
pub(super) fn decode(rest: &[u8]) -> Result<(char, usize), &'static str> {
    let first = rest.first().copied().unwrap_or_default();
    let digits = match first {
        b'x' => 2,
        b'u' => 4,
        b'U' => 8,
        _ => {
            return simple(first)
                .map(|character| (character, 1))
                .ok_or("found unknown escape character");
        }
    };
    let mut value: u32 = 0;
    for at in 1..=digits {
        let digit = rest.get(at).and_then(|&byte| (byte as char).to_digit(16));
        value = value.wrapping_shl(4) | digit.ok_or("did not find expected hexdecimal number")?;
    }
    // Unlike JSON, YAML has no surrogate pairs.
    let character = char::from_u32(value).ok_or("found invalid Unicode character escape code")?;
    Ok((character, 1 + digits))
}

/// Decodes the escapes of one letter. go-yaml accepts `\'` besides YAML's own, but not JSON's `\/`.
fn simple(byte: u8) -> Option<char> {
    Some(match byte {
        b'0' => '\0',
        b'a' => '\u{7}',
        b'b' => '\u{8}',
        b't' | b'\t' => '\t',
        b'n' => '\n',
        b'v' => '\u{B}',
        b'f' => '\u{C}',
        b'r' => '\r',
        b'e' => '\u{1B}',
        b' ' | b'"' | b'\'' | b'\\' => byte as char,
        b'N' => '\u{85}',
        b'_' => '\u{A0}',
        b'L' => '\u{2028}',
        b'P' => '\u{2029}',
        _ => return None,
    })
}
