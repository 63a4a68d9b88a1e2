//! Decodes the bytes of a file.

use std::string::FromUtf8Error;

use super::SourceFile;

/// Decoded text, and the characters that replace undecodable bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// The text.
    pub text: String,
    /// The offsets in `text` of each U+FFFD that replaces bytes which are not UTF-8.
    pub replaced: Vec<u32>,
}

/// Decodes a file: UTF-8, or UTF-16 with a byte order mark.
///
/// A UTF-8 byte order mark stays in the text, so that offsets are those of the file. A UTF-16 mark is removed, and
/// unpaired surrogates become U+FFFD, as in kubectl.
///
/// # Errors
/// The bytes are not UTF-8, or the file is over [`SourceFile::MAX_BYTES`].
pub fn decode(bytes: Vec<u8>) -> Result<String, String> {
    check_file(&bytes)?;
    let text = utf16_or_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let byte = error.as_bytes()[offset];
        format!("byte {offset} (0x{byte:02X}) is not valid UTF-8")
    })?;
    check_text(&text)?;
    Ok(text)
}

/// Decodes a manifest as kubectl does: like [`decode`], but every invalid sequence of UTF-8 becomes one U+FFFD. kubectl
/// reads through `unicode.BOMOverride` over a UTF-8 decoder that replaces these sequences, also in comments.
///
/// # Errors
/// The file is over [`SourceFile::MAX_BYTES`].
pub fn decode_manifest(bytes: Vec<u8>) -> Result<Decoded, String> {
    check_file(&bytes)?;
    let mut decoded = Decoded::default();
    match utf16_or_utf8(bytes) {
        Ok(text) => decoded.text = text,
        Err(error) => {
            for chunk in error.as_bytes().utf8_chunks() {
                decoded.text.push_str(chunk.valid());
                if !chunk.invalid().is_empty() {
                    decoded.replaced.push(decoded.text.len() as u32);
                    decoded.text.push(char::REPLACEMENT_CHARACTER);
                }
                check_text(&decoded.text)?;
            }
        }
    }
    check_text(&decoded.text)?;
    Ok(decoded)
}

fn check_file(bytes: &[u8]) -> Result<(), String> {
    if bytes.len() as u64 > SourceFile::MAX_BYTES {
        let limit = SourceFile::MAX_BYTES / (1024 * 1024);
        return Err(format!("the file is larger than {limit} MiB"));
    }
    Ok(())
}

fn check_text(text: &str) -> Result<(), String> {
    if text.len() as u64 > SourceFile::MAX_BYTES {
        return Err("the file is too large once it is decoded to UTF-8".to_owned());
    }
    Ok(())
}

/// Decodes UTF-16 with a byte order mark, or UTF-8.
fn utf16_or_utf8(bytes: Vec<u8>) -> Result<String, FromUtf8Error> {
    match &*bytes {
        [0xFF, 0xFE, rest @ ..] => Ok(decode_utf16(rest, u16::from_le_bytes)),
        [0xFE, 0xFF, rest @ ..] => Ok(decode_utf16(rest, u16::from_be_bytes)),
        _ => String::from_utf8(bytes),
    }
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let pairs = bytes.chunks_exact(2);
    let odd = pairs
        .remainder()
        .first()
        .map(|_| char::REPLACEMENT_CHARACTER);
    let units = pairs.map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units)
        .map(|found| found.unwrap_or(char::REPLACEMENT_CHARACTER))
        .chain(odd)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf16_with_bom_is_decoded_and_utf8_keeps_its_bom() {
        for (bytes, text) in [
            (&b"\xFF\xFEa\0\xE9\0"[..], "a\u{e9}"),
            (b"\xFE\xFF\0a\xD8\x3D\xDE\0", "a\u{1F600}"),
            (b"\xEF\xBB\xBFa", "\u{FEFF}a"),
        ] {
            assert_eq!(decode(bytes.to_vec()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn invalid_utf8_in_manifests_is_replaced_and_located() {
        let decoded = decode_manifest(b"a\xFF\xE2\x82b\n\xC3".to_vec());
        let expected = Decoded {
            text: "a\u{FFFD}\u{FFFD}b\n\u{FFFD}".to_owned(),
            replaced: vec![1, 4, 9],
        };
        assert_eq!(decoded, Ok(expected));
        let written = "\u{FFFD} was typed";
        let expected = Decoded {
            text: written.to_owned(),
            replaced: Vec::new(),
        };
        assert_eq!(decode_manifest(written.into()), Ok(expected));
    }

    #[test]
    fn invalid_utf8_error_names_byte_and_offset() {
        let error = "byte 2 (0xFF) is not valid UTF-8".to_owned();
        assert_eq!(decode(b"ab\xFFc".to_vec()), Err(error));
    }
}
