//! Which characters a text may contain at all, checked before anything is parsed.
//!
//! What is left afterwards has one line break (LF, or CR LF), no byte order mark, and nothing that Kubernetes' reader
//! rejects wherever it is. So everything behind this file may think in bytes.

use super::refused::Refused;

/// How many bytes are looked at together.
const BLOCK: usize = 64;

/// Refuses control characters, Unicode's own line breaks, byte order marks, and CR without LF.
pub(super) fn check(text: &[u8]) -> Result<(), Refused> {
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    for (number, block) in blocks.iter().enumerate() {
        if !are_ordinary(block) {
            check_others(text, number * BLOCK, BLOCK)?;
        }
    }
    if !are_ordinary(rest) {
        check_others(text, text.len() - rest.len(), rest.len())?;
    }
    Ok(())
}

/// Without a way out early, this is a few vector instructions. Few texts have carriage returns.
#[inline(always)]
fn are_ordinary(bytes: &[u8]) -> bool {
    bytes.iter().fold(true, |ordinary, byte| {
        ordinary & matches!(byte, b' '..=b'~' | b'\t'..=b'\n')
    })
}

/// Looks at each character that begins in the block.
fn check_others(text: &[u8], start: usize, length: usize) -> Result<(), Refused> {
    for at in start..start + length {
        let refused = match text[at..] {
            [b'\r', ref after @ ..] if !after.starts_with(b"\n") => {
                return Err(Refused("a carriage return inside a line"));
            }
            [0x00..=0x08 | 0x0B | 0x0C | 0x0E..=0x1F | 0x7F, ..] => true,
            // U+0080 to U+009F: controls, NEL among them.
            [0xC2, 0x80..=0x9F, ..] => true,
            // LS and PS.
            [0xE2, 0x80, 0xA8 | 0xA9, ..] => true,
            // U+FEFF, and what is not a character.
            [0xEF, 0xBB, 0xBF, ..] | [0xEF, 0xBF, 0xBE | 0xBF, ..] => true,
            _ => false,
        };
        if refused {
            return Err(Refused("an unusual character"));
        }
    }
    Ok(())
}
