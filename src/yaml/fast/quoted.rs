//! Quoted scalars, on one line or several.

use super::plain::fold;
use super::refused::Refused;
use super::source::SourceText;
use super::writer::{ScalarText, WrittenScalar};
use crate::yaml::escape;
use crate::yaml::tape::Style;

/// A quoted scalar.
pub(super) struct Quoted {
    pub(super) scalar: WrittenScalar,
    /// Only then it can be a key.
    pub(super) is_one_line: bool,
}

/// Reads the scalar whose quote is at `start`. Its further lines must begin right of the column `indent`.
pub(super) fn read(
    source: SourceText<'_>,
    start: usize,
    indent: usize,
    decoded: &mut String,
) -> Result<Quoted, Refused> {
    let quote = source.byte(start);
    let style = if quote == b'\'' {
        Style::Single
    } else {
        Style::Double
    };
    let from = start + 1;
    let stop = words_end(source, from, quote);
    if source.byte(stop) == quote && !is_doubled(source, stop, quote) {
        let scalar = WrittenScalar {
            style,
            start,
            end: stop + 1,
            text: ScalarText::Written(from, stop),
        };
        return Ok(Quoted {
            scalar,
            is_one_line: true,
        });
    }
    let text = ScalarText::Decoded(decoded.len());
    let mut reader = QuotedReader {
        source,
        quote,
        indent,
        decoded,
        at: from,
        is_one_line: true,
    };
    reader.read()?;
    let scalar = WrittenScalar {
        style,
        start,
        end: reader.at,
        text,
    };
    Ok(Quoted {
        scalar,
        is_one_line: reader.is_one_line,
    })
}

/// The next quote, line break, or backslash that escapes something.
#[inline]
fn words_end(source: SourceText<'_>, at: usize, quote: u8) -> usize {
    source.before_return(
        at,
        source.find(
            at,
            [quote, if quote == b'"' { b'\\' } else { quote }, b'\n'],
        ),
    )
}

/// Whether the quote at `at` is a single quote that stands for itself.
fn is_doubled(source: SourceText<'_>, at: usize, quote: u8) -> bool {
    quote == b'\'' && source.byte(at + 1) == quote
}

/// Reads what cannot be taken as it is written.
struct QuotedReader<'t, 'd> {
    source: SourceText<'t>,
    quote: u8,
    indent: usize,
    decoded: &'d mut String,
    at: usize,
    is_one_line: bool,
}

impl QuotedReader<'_, '_> {
    /// Reads up to and including the closing quote.
    fn read(&mut self) -> Result<(), Refused> {
        loop {
            let start = self.at;
            let stop = words_end(self.source, start, self.quote);
            self.at = stop + 1;
            match self.source.byte(stop) {
                b'\\' => {
                    self.decoded.push_str(self.source.slice(start, stop));
                    self.escape()?;
                }
                byte if byte != self.quote => {
                    // Blanks at the end of a line are not part of the text, unless they are escaped.
                    self.decoded.push_str(
                        self.source
                            .slice(start, self.source.before_blanks(start, stop)),
                    );
                    let breaks = 1 + self.next_line(stop)?;
                    fold(breaks, self.decoded);
                }
                _ if is_doubled(self.source, stop, self.quote) => {
                    self.decoded.push_str(self.source.slice(start, stop + 1));
                    self.at += 1;
                }
                _ => {
                    self.decoded.push_str(self.source.slice(start, stop));
                    return Ok(());
                }
            }
        }
    }

    /// Reads the escape after a backslash. An escaped line break joins two lines without a space.
    fn escape(&mut self) -> Result<(), Refused> {
        if self.source.is_break(self.at) {
            let empty = self.next_line(self.at)?;
            self.decoded.extend(std::iter::repeat_n('\n', empty));
            return Ok(());
        }
        let rest = self
            .source
            .text
            .as_bytes()
            .get(self.at..)
            .unwrap_or_default();
        let (character, width) =
            escape::decode(rest).map_err(|_| Refused("an escape that does not exist"))?;
        self.decoded.push(character);
        self.at += width;
        Ok(())
    }

    /// Goes to the text after the line break at `line_break`, and returns how many empty lines are before it.
    fn next_line(&mut self, line_break: usize) -> Result<usize, Refused> {
        self.is_one_line = false;
        let mut empty = 0;
        let mut line = self.source.after_break(line_break);
        while !self.source.is_end(line) {
            self.at = self.source.after_blanks(line);
            if !self.source.is_break(self.at) {
                let is_right = self.at - line > self.indent;
                return if is_right {
                    Ok(empty)
                } else {
                    Err(Refused("quoted text left of its parent's indentation"))
                };
            }
            empty += 1;
            line = self.source.after_break(self.at);
        }
        Err(Refused("a quote that is not closed"))
    }
}
