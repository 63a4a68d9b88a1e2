//! Block scalars: `|` and `>` with their indicators.

use super::refused::Refused;
use super::source::SourceText;
use super::writer::{ScalarText, TapeWriter, WrittenScalar};
use crate::yaml::block_header::{BlockHeader, Chomp};
use crate::yaml::tape::Style;

/// Reads the block scalar at `start`, in a collection at the column `parent`. Returns the start of the line after it.
pub(super) fn read(
    source: SourceText<'_>,
    start: usize,
    parent: usize,
    writer: &mut TapeWriter<'_>,
) -> Result<usize, Refused> {
    let rest = source.text.as_bytes().get(start + 1..).unwrap_or_default();
    let (header, width) = BlockHeader::read(rest);
    let header_end = start + 1 + width;
    let first = end_header(source, header_end, writer)?;
    let indent = match header.increment {
        Some(increment) => parent + usize::from(increment),
        None => find_indent(source, first, parent)?,
    };
    let text = ScalarText::Decoded(writer.decoded().len());
    let decoded = writer.keeps_text().then(|| writer.decoded());
    let mut lines = BlockLines {
        source,
        indent,
        line: first,
        empty: 0,
        end: None,
        decoded,
    };
    let last_break = usize::from(lines.read(source.byte(start) == b'|')?);
    lines.add_breaks(match header.chomp {
        Chomp::Strip => 0,
        Chomp::Clip => last_break,
        Chomp::Keep => last_break + lines.empty,
    });
    let BlockLines { line, end, .. } = lines;
    writer.scalar(WrittenScalar {
        style: Style::Block,
        start,
        end: end.unwrap_or(header_end),
        text,
    });
    Ok(line)
}

/// Reads blanks and a comment up to the end of the header's line. Returns the start of the next one.
fn end_header(
    source: SourceText<'_>,
    header_end: usize,
    writer: &mut TapeWriter<'_>,
) -> Result<usize, Refused> {
    let at = source.after_blanks(header_end);
    match source.byte(at) {
        b'\n' | b'\r' => Ok(source.after_break(at)),
        b'#' if at > header_end => Ok(source.after_break(writer.comment(source, at))),
        _ => Err(Refused("the header of a block scalar")),
    }
}

/// The indentation of the first line with text. Empty lines before it must not be wider: then they would decide.
fn find_indent(source: SourceText<'_>, first: usize, parent: usize) -> Result<usize, Refused> {
    let (mut line, mut widest) = (first, 0);
    while !source.is_end(line) {
        let at = source.after_spaces(line);
        let width = at - line;
        match source.byte(at) {
            b'\n' | b'\r' => widest = widest.max(width),
            b'\t' => return Err(Refused("a tab before the text of a block scalar")),
            _ if widest > width => {
                return Err(Refused("a block scalar whose first line is wide and empty"));
            }
            _ => return Ok(width.max(parent + 1)),
        }
        line = source.after_break(at);
    }
    Ok(widest.max(parent + 1))
}

/// The lines of a block scalar.
struct BlockLines<'t, 'd> {
    source: SourceText<'t>,
    indent: usize,
    /// The line to read.
    line: usize,
    /// How many empty lines are before it.
    empty: usize,
    /// Where the last line with text ends.
    end: Option<usize>,
    /// The text so far. `None`: nobody asks for it.
    decoded: Option<&'d mut String>,
}

impl<'t> BlockLines<'t, '_> {
    /// Counts empty lines, and reads the one with text after them. `None` when there is none.
    fn next(&mut self) -> Result<Option<&'t str>, Refused> {
        self.empty = 0;
        while !self.source.is_end(self.line) {
            let limit = self.line + self.indent;
            let at = self.source.after_spaces(self.line).min(limit);
            match self.source.byte(at) {
                b'\n' | b'\r' => {
                    self.empty += 1;
                    self.line = self.source.after_break(at);
                }
                b'\t' if at < limit => {
                    return Err(Refused("a tab before the text of a block scalar"));
                }
                _ if at < limit => return Ok(None),
                _ => {
                    let end = self.source.line_end(at);
                    self.line = self.source.after_break(end);
                    self.end = Some(end);
                    return Ok(Some(self.source.slice(at, end)));
                }
            }
        }
        Ok(None)
    }

    /// Reads the text up to the break of its last line. Returns whether that line is there.
    fn read(&mut self, is_literal: bool) -> Result<bool, Refused> {
        let Some(first) = self.next()? else {
            return Ok(false);
        };
        self.add_breaks(self.empty);
        self.add(first);
        let mut after_blank = starts_with_blank(first);
        while let Some(text) = self.next()? {
            let is_blank = starts_with_blank(text);
            // Between two lines that do not begin with a blank, a folded break becomes a space, or nothing before empty lines.
            match is_literal || after_blank || is_blank {
                true => self.add_breaks(1 + self.empty),
                false if self.empty == 0 => self.add(" "),
                false => self.add_breaks(self.empty),
            }
            self.add(text);
            after_blank = is_blank;
        }
        Ok(true)
    }

    fn add(&mut self, text: &str) {
        if let Some(decoded) = &mut self.decoded {
            decoded.push_str(text);
        }
    }

    fn add_breaks(&mut self, count: usize) {
        match &mut self.decoded {
            Some(decoded) if count == 1 => decoded.push('\n'),
            Some(decoded) => decoded.extend(std::iter::repeat_n('\n', count)),
            None => {}
        }
    }
}

fn starts_with_blank(text: &str) -> bool {
    text.starts_with([' ', '\t'])
}
