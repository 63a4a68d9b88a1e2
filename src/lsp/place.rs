//! Places in the editor's terms: URIs, and 0-based lines and columns in the agreed encoding.

use lsp_types::{Position, Range, Uri};

use crate::text::{self, ColumnUnit, SourceFile, Span};

/// Whether a document has no file. Neovim gives an unnamed buffer the URI `file://`.
pub(super) fn is_untitled(uri: &Uri) -> bool {
    uri.as_str().starts_with("untitled:") || uri.as_str().trim_end_matches('/') == "file:"
}

/// Returns the path of a `file:` URI, with forward slashes; `None` for other schemes and for a URI without a path.
pub(super) fn path_of(uri: &Uri) -> Option<String> {
    let encoded = uri.as_str().strip_prefix("file://")?;
    // The authority is empty or `localhost`.
    let encoded = encoded.strip_prefix("localhost").unwrap_or(encoded);
    let path = decoded(encoded).filter(|path| path.len() > 1)?;
    // `/C:/x` is `C:/x`.
    let drive = matches!(path.as_bytes(), [b'/', letter, b':', ..] if letter.is_ascii_alphabetic());
    Some(if drive { path[1..].to_owned() } else { path })
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                let [high, low] = digits.map(|digit| char::from(digit).to_digit(16));
                (high? * 16 + low?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Returns the byte offset of a position. Editors do not count the byte order mark.
pub(super) fn offset(file: &SourceFile, at: Position, unit: ColumnUnit) -> u32 {
    let column = at.character as usize + 1 + if at.line == 0 { mark(file, unit) } else { 0 };
    file.offset(
        text::Position {
            line: at.line as usize + 1,
            column,
        },
        unit,
    )
}

pub(super) fn range(file: &SourceFile, span: Span, unit: ColumnUnit) -> Range {
    let [start, end] = [span.start, span.end].map(|offset| {
        let at = file.position(offset, unit);
        let mark = if at.line == 1 { mark(file, unit) } else { 0 };
        Position::new(
            at.line as u32 - 1,
            (at.column - 1).saturating_sub(mark) as u32,
        )
    });
    Range::new(start, end)
}

/// Returns the length of the byte order mark.
fn mark(file: &SourceFile, unit: ColumnUnit) -> usize {
    if file.text().starts_with('\u{feff}') {
        unit.length("\u{feff}")
    } else {
        0
    }
}
