//! The bytes of a file to text.

use thiserror::Error;

use super::SourceFile;

/// Why the bytes of a file are no text.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{message}")]
pub struct DecodeError {
    /// The first byte that is wrong, counted in the file.
    pub offset: u64,
    /// What is wrong.
    pub message: String,
}

/// Decodes a file: UTF-8, or UTF-16 with a byte order mark, which is what kubectl takes.
///
/// A UTF-8 byte order mark stays in the text, so that offsets are the file's. The mark of UTF-16 does not, and its unpaired
/// surrogates become U+FFFD, as in kubectl.
///
/// # Errors
/// Bytes that are no UTF-8, with the offset of the first, and files over [`SourceFile::MAX_BYTES`].
pub fn decode(bytes: Vec<u8>) -> Result<String, DecodeError> {
    if bytes.len() as u64 > SourceFile::MAX_BYTES {
        let message = format!("the file is larger than {} MiB", SourceFile::MAX_BYTES / (1024 * 1024));
        return Err(DecodeError { offset: SourceFile::MAX_BYTES, message });
    }
    let text = match bytes.as_slice() {
        [0xFF, 0xFE, rest @ ..] => decode_utf16(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => decode_utf16(rest, u16::from_be_bytes),
        _ => String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            let byte = error.as_bytes().get(offset).copied().unwrap_or_default();
            DecodeError { offset: offset as u64, message: format!("byte {offset} (0x{byte:02X}) is not valid UTF-8") }
        })?,
    };
    if text.len() as u64 > SourceFile::MAX_BYTES {
        let message = "the file is too large once it is decoded to UTF-8".to_owned();
        return Err(DecodeError { offset: SourceFile::MAX_BYTES, message });
    }
    Ok(text)
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let pairs = bytes.chunks_exact(2);
    let odd = pairs.remainder().first().map(|_| char::REPLACEMENT_CHARACTER);
    let units = pairs.map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|found| found.unwrap_or(char::REPLACEMENT_CHARACTER)).chain(odd).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf16_with_a_mark_is_decoded_and_utf8_keeps_its_mark() {
        assert_eq!(decode(b"\xFF\xFEa\0\xE9\0".to_vec()), Ok("a\u{e9}".to_owned()));
        assert_eq!(decode(b"\xFE\xFF\0a\xD8\x3D\xDE\0".to_vec()), Ok("a\u{1F600}".to_owned()));
        assert_eq!(decode(b"\xEF\xBB\xBFa".to_vec()), Ok("\u{FEFF}a".to_owned()));
    }

    #[test]
    fn bytes_that_are_no_utf8_are_named_with_their_offset() {
        let error = decode(b"ab\xFFc".to_vec()).map_err(|error| (error.offset, error.message));
        assert_eq!(error, Err((2, "byte 2 (0xFF) is not valid UTF-8".to_owned())));
    }
}
