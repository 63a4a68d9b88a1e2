//! Unquoted scalars of block collections, on one line or several.

use super::refused::Refused;
use super::source::SourceText;
use super::writer::{ScalarText, WrittenScalar};
use crate::yaml::tape::Style;

/// What ends the unquoted text of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum PlainStop {
    /// A colon with a blank or the line's end after it: the text is a key.
    Colon,
    /// A blank and `#`.
    Comment,
    /// The end of the line.
    Line,
}

/// The unquoted text of one line.
#[derive(Clone, Copy)]
pub(super) struct PlainLine {
    pub(super) start: usize,
    /// Where it ends, blanks after it left out.
    pub(super) end: usize,
    pub(super) stop: PlainStop,
    /// The colon, the `#` or the line break.
    pub(super) stop_at: usize,
}

impl PlainLine {
    pub(super) fn scalar(self) -> WrittenScalar {
        let Self { start, end, .. } = self;
        WrittenScalar {
            style: Style::Plain,
            start,
            end,
            text: ScalarText::Written(start, end),
        }
    }
}

/// Whether unquoted text can begin here, in a block collection.
pub(super) fn check_start(source: SourceText<'_>, at: usize) -> Result<(), Refused> {
    match source.byte(at) {
        b'-' | b'?' | b':' if source.is_blank_or_break(at + 1) => {
            Err(Refused("an indicator where a value is expected"))
        }
        b'!' => Err(Refused("a tag")),
        b'\t' | b'#' | b'%' | b'@' | b'`' | b',' | b'[' | b']' | b'{' | b'}' | b'|' | b'>'
        | b'"' | b'\'' | b'&' | b'*' => Err(Refused("a character that cannot start a value")),
        _ => Ok(()),
    }
}

/// Reads unquoted text up to what ends it on its line. Half of all tokens are read here.
#[inline(always)]
pub(super) fn read_line(source: SourceText<'_>, start: usize) -> PlainLine {
    let mut at = start;
    let stop = loop {
        at = next_stop(source, at);
        match source.byte(at) {
            b':' if source.is_blank_or_break(at + 1) => break PlainStop::Colon,
            b'#' if at > start && source.is_blank(at - 1) => break PlainStop::Comment,
            b'\n' | b'\r' => break PlainStop::Line,
            _ => at += 1,
        }
    };
    PlainLine {
        start,
        end: source.before_blanks(start, at),
        stop,
        stop_at: at,
    }
}

/// The next byte from `at` on that may end unquoted text.
#[inline]
fn next_stop(source: SourceText<'_>, at: usize) -> usize {
    source.before_return(at, source.find(at, [b':', b'#', b'\n']))
}

/// Where the text of the line at `line` begins, if the text before it in a collection at the column `indent` certainly ends there.
#[inline]
pub(super) fn next_entry(source: SourceText<'_>, line: usize, indent: usize) -> Option<usize> {
    let start = source.after_spaces(line);
    let is_text = !matches!(source.byte(start), b'\n' | b'\r' | b'\t' | b'#');
    (is_text && start - line <= indent).then_some(start)
}

/// Reads the rest of a scalar whose first line is `first`, in a collection at the column `indent`. Returns it, and the last of
/// its lines. Without `decoded` nobody asks for its text, and that of its first line stands for it.
pub(super) fn read_rest(
    source: SourceText<'_>,
    first: PlainLine,
    indent: usize,
    mut decoded: Option<&mut String>,
) -> Result<(WrittenScalar, PlainLine), Refused> {
    let decoded_from = decoded.as_ref().map(|decoded| decoded.len());
    let mut last = first;
    while last.stop == PlainStop::Line {
        let Some((breaks, start)) = next_line(source, last.stop_at, indent)? else {
            break;
        };
        let previous = last;
        last = read_line(source, start);
        if last.stop == PlainStop::Colon {
            return Err(Refused("a colon in unquoted text of several lines"));
        }
        if let Some(decoded) = &mut decoded {
            if previous.start == first.start {
                decoded.push_str(source.slice(first.start, first.end));
            }
            fold(breaks, decoded);
            decoded.push_str(source.slice(last.start, last.end));
        }
    }
    if last.start == first.start {
        return Ok((first.scalar(), first));
    }
    let text = decoded_from.map_or(
        ScalarText::Written(first.start, first.end),
        ScalarText::Decoded,
    );
    Ok((
        WrittenScalar {
            style: Style::Plain,
            start: first.start,
            end: last.end,
            text,
        },
        last,
    ))
}

/// How many line breaks are before the line that continues the text, and where its text starts; `None` when none does.
fn next_line(
    source: SourceText<'_>,
    line_break: usize,
    indent: usize,
) -> Result<Option<(usize, usize)>, Refused> {
    let mut line = source.after_break(line_break);
    let mut breaks = 1;
    while !source.is_end(line) {
        let start = source.after_spaces(line);
        match source.byte(start) {
            b'\n' | b'\r' => {
                breaks += 1;
                line = source.after_break(start);
            }
            b'\t' => return Err(Refused("a tab before text")),
            b'#' => return Ok(None),
            _ if start - line <= indent => return Ok(None),
            _ => return Ok(Some((breaks, start))),
        }
    }
    Ok(None)
}

/// One line break becomes a space, several become one less.
pub(super) fn fold(breaks: usize, decoded: &mut String) {
    match breaks {
        1 => decoded.push(' '),
        2 => decoded.push('\n'),
        _ => decoded.extend(std::iter::repeat_n('\n', breaks - 1)),
    }
}
