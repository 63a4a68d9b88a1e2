//! Decodes the bytes of a file.

use thiserror::Error;

use super::{SourceFile, Span};

/// The error for bytes that are not text.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct UndecodableBytes {
    /// The offset in the file of the first wrong byte.
    pub offset: u64,
    /// The error.
    pub message: String,
}

/// Decoded text, and the characters that replace undecodable bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// The text.
    pub text: String,
    /// The first U+FFFD in `text` that replaces bytes which are not UTF-8, and the number of these characters.
    pub replaced: Option<(Span, usize)>,
}

/// Decodes a file: UTF-8, or UTF-16 with a byte order mark.
///
/// A UTF-8 byte order mark stays in the text, so that offsets are those of the file. A UTF-16 mark is removed, and
/// unpaired surrogates become U+FFFD, as in kubectl.
///
/// # Errors
/// The bytes are not UTF-8, with the offset of the first, or the file is over [`SourceFile::MAX_BYTES`].
pub fn decode(bytes: Vec<u8>) -> Result<String, UndecodableBytes> {
    limited(&bytes)?;
    let text = match utf16(&bytes) {
        Some(text) => text,
        None => String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            let byte = error.as_bytes().get(offset).copied().unwrap_or_default();
            UndecodableBytes {
                offset: offset as u64,
                message: format!("byte {offset} (0x{byte:02X}) is not valid UTF-8"),
            }
        })?,
    };
    limited_text(text)
}

/// Decodes a manifest as kubectl does: like [`decode`], but every invalid sequence of UTF-8 becomes one U+FFFD. kubectl
/// reads through `unicode.BOMOverride` over a UTF-8 decoder that replaces these sequences, also in comments.
///
/// # Errors
/// The file is over [`SourceFile::MAX_BYTES`].
pub fn decode_manifest(bytes: Vec<u8>) -> Result<Decoded, UndecodableBytes> {
    limited(&bytes)?;
    if let Some(text) = utf16(&bytes) {
        return Ok(Decoded {
            text: limited_text(text)?,
            replaced: None,
        });
    }
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => {
            return Ok(Decoded {
                text,
                replaced: None,
            });
        }
        Err(error) => error.into_bytes(),
    };
    let mut decoded = Decoded::default();
    for chunk in bytes.utf8_chunks() {
        decoded.text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            let start = decoded.text.len() as u32;
            decoded.text.push(char::REPLACEMENT_CHARACTER);
            let (first, count) = decoded
                .replaced
                .unwrap_or((Span::new(start, decoded.text.len() as u32), 0));
            decoded.replaced = Some((first, count + 1));
        }
    }
    Ok(Decoded {
        text: limited_text(decoded.text)?,
        replaced: decoded.replaced,
    })
}

fn limited(bytes: &[u8]) -> Result<(), UndecodableBytes> {
    if bytes.len() as u64 > SourceFile::MAX_BYTES {
        let message = format!(
            "the file is larger than {} MiB",
            SourceFile::MAX_BYTES / (1024 * 1024)
        );
        Err(UndecodableBytes {
            offset: SourceFile::MAX_BYTES,
            message,
        })
    } else {
        Ok(())
    }
}

fn limited_text(text: String) -> Result<String, UndecodableBytes> {
    if text.len() as u64 > SourceFile::MAX_BYTES {
        let message = "the file is too large once it is decoded to UTF-8".to_owned();
        Err(UndecodableBytes {
            offset: SourceFile::MAX_BYTES,
            message,
        })
    } else {
        Ok(text)
    }
}

/// Decodes bytes that begin with a UTF-16 byte order mark; `None` for others.
fn utf16(bytes: &[u8]) -> Option<String> {
    match bytes {
        [0xFF, 0xFE, rest @ ..] => Some(decode_utf16(rest, u16::from_le_bytes)),
        [0xFE, 0xFF, rest @ ..] => Some(decode_utf16(rest, u16::from_be_bytes)),
        _ => None,
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
        assert_eq!(
            decode(b"\xFF\xFEa\0\xE9\0".to_vec()),
            Ok("a\u{e9}".to_owned())
        );
        assert_eq!(
            decode(b"\xFE\xFF\0a\xD8\x3D\xDE\0".to_vec()),
            Ok("a\u{1F600}".to_owned())
        );
        assert_eq!(
            decode(b"\xEF\xBB\xBFa".to_vec()),
            Ok("\u{FEFF}a".to_owned())
        );
    }

    #[test]
    fn invalid_utf8_in_manifests_is_replaced_and_counted() {
        let decoded = decode_manifest(b"a\xFF\xE2\x82b\n\xC3".to_vec());
        let expected = Decoded {
            text: "a\u{FFFD}\u{FFFD}b\n\u{FFFD}".to_owned(),
            replaced: Some((Span::new(1, 4), 3)),
        };
        assert_eq!(decoded, Ok(expected));
        let written = "\u{FFFD} was typed";
        assert_eq!(
            decode_manifest(written.into()),
            Ok(Decoded {
                text: written.to_owned(),
                replaced: None
            })
        );
    }

    #[test]
    fn invalid_utf8_error_names_byte_and_offset() {
        let error = decode(b"ab\xFFc".to_vec()).map_err(|error| (error.offset, error.message));
        assert_eq!(
            error,
            Err((2, "byte 2 (0xFF) is not valid UTF-8".to_owned()))
        );
    }
}
