//! Flow collections: `[a, {b: c}]`, on one line or several.
//!
//! Indentation means nothing inside. A key and its colon are on one line, as go-yaml requires; unquoted text is, too.

use smallvec::SmallVec;

use super::limits::{MAX_DEPTH, MAX_KEY};
use super::quoted;
use super::refused::Refused;
use super::source::SourceText;
use super::writer::{ScalarText, TapeWriter, WrittenScalar};
use crate::yaml::tape::{EventKind, Style};

/// Reads the flow collection whose bracket is at `start`. Returns the place behind its end.
pub(super) fn read(
    source: SourceText<'_>,
    start: usize,
    writer: &mut TapeWriter<'_>,
) -> Result<usize, Refused> {
    let mut reader = FlowReader {
        source,
        writer,
        at: start,
        open: SmallVec::new(),
    };
    reader.open(source.byte(start))?;
    while let Some(&bracket) = reader.open.last() {
        reader.skip_space()?;
        if source.byte(reader.at) == bracket.closing() {
            reader.close()?;
        } else if bracket == Bracket::Square || reader.key()? {
            reader.value()?;
        }
    }
    Ok(reader.at)
}

/// What an open collection is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    /// A sequence.
    Square,
    /// A mapping.
    Curly,
}

impl Bracket {
    fn closing(self) -> u8 {
        match self {
            Self::Square => b']',
            Self::Curly => b'}',
        }
    }
}

struct FlowReader<'t, 'w, 'p> {
    source: SourceText<'t>,
    writer: &'w mut TapeWriter<'p>,
    at: usize,
    open: SmallVec<[Bracket; 8]>,
}

impl FlowReader<'_, '_, '_> {
    fn open(&mut self, bracket: u8) -> Result<(), Refused> {
        if self.open.len() == MAX_DEPTH {
            return Err(Refused("deep nesting"));
        }
        let (bracket, start) = match bracket {
            b'[' => (Bracket::Square, EventKind::SeqStart { flow: true }),
            _ => (Bracket::Curly, EventKind::MapStart { flow: true }),
        };
        self.open.push(bracket);
        self.writer.bracket(start, self.at);
        self.at += 1;
        Ok(())
    }

    fn close(&mut self) -> Result<(), Refused> {
        let end = match self.open.pop() {
            Some(Bracket::Square) => EventKind::SeqEnd,
            _ => EventKind::MapEnd,
        };
        self.writer.bracket(end, self.at);
        self.at += 1;
        if self.open.is_empty() {
            Ok(())
        } else {
            self.separator()
        }
    }

    /// Reads a key and its colon. False when the value is left out, and so nothing of the entry is left to read.
    fn key(&mut self) -> Result<bool, Refused> {
        let (key, is_one_line) = self.scalar()?;
        let colon = self.source.after_blanks(key.end);
        if !is_one_line || self.source.byte(colon) != b':' || colon - key.start > MAX_KEY {
            return Err(Refused(
                "a flow mapping with other than short keys and values",
            ));
        }
        self.writer.key(key);
        self.at = colon + 1;
        self.writer.last_end = self.at;
        self.skip_space()?;
        let is_left_out = matches!(self.source.byte(self.at), b',' | b'}');
        if is_left_out {
            self.writer.nothing(colon + 1);
            self.separator()?;
        }
        Ok(!is_left_out)
    }

    /// Reads a scalar with what separates it from the next value, or the start of a collection.
    fn value(&mut self) -> Result<(), Refused> {
        let byte = self.source.byte(self.at);
        if matches!(byte, b'[' | b'{') {
            return self.open(byte);
        }
        if byte == b'*' {
            let start = self.at;
            self.at = self
                .source
                .name_end(start)
                .ok_or(Refused("an alias without a name"))?;
            self.writer.alias(start, self.at);
        } else {
            let (scalar, _) = self.scalar()?;
            self.writer.scalar(scalar);
            self.at = scalar.end;
        }
        self.separator()
    }

    /// Reads a comma, or sees the end of the collection.
    fn separator(&mut self) -> Result<(), Refused> {
        self.skip_space()?;
        match (self.source.byte(self.at), self.open.last()) {
            (b',', _) => self.at += 1,
            (byte, Some(bracket)) if byte == bracket.closing() => {}
            _ => return Err(Refused("a flow collection with other than simple values")),
        }
        Ok(())
    }

    /// A scalar, and whether it is on one line.
    fn scalar(&mut self) -> Result<(WrittenScalar, bool), Refused> {
        if matches!(self.source.byte(self.at), b'"' | b'\'') {
            let quoted = quoted::read(self.source, self.at, 0, self.writer.decoded())?;
            return Ok((quoted.scalar, quoted.is_one_line));
        }
        let start = self.at;
        self.check_plain_start()?;
        let end = self.source.before_blanks(start, self.plain_end(start));
        Ok((
            WrittenScalar {
                style: Style::Plain,
                start,
                end,
                text: ScalarText::Written(start, end),
            },
            true,
        ))
    }

    fn check_plain_start(&self) -> Result<(), Refused> {
        match self.source.byte(self.at) {
            b'-' if self.source.is_blank_or_break(self.at + 1) => {
                Err(Refused("a block sequence in a flow"))
            }
            b'&' => Err(Refused("an anchor in a flow")),
            b'!' => Err(Refused("a tag")),
            b',' | b'[' | b']' | b'{' | b'}' | b'?' | b':' | b'|' | b'>' | b'%' | b'@' | b'`'
            | b'#' | b'*' => Err(Refused("a character that cannot start a value in a flow")),
            _ => Ok(()),
        }
    }

    /// Where unquoted text ends at the latest.
    fn plain_end(&self, start: usize) -> usize {
        let mut at = start;
        loop {
            match self.source.byte(at) {
                b',' | b'?' | b'[' | b']' | b'{' | b'}' | b'\n' | b'\r' => return at,
                b':' if self.source.is_blank_or_break(at + 1) => return at,
                b'#' if self.source.is_blank(at - 1) => return at,
                _ => at += 1,
            }
        }
    }

    /// Goes to the next character that means something, over comments and line breaks.
    fn skip_space(&mut self) -> Result<(), Refused> {
        let token_end = self.at;
        self.at = self.source.after_blanks(token_end);
        let mut comment_allowed = self.at > token_end;
        loop {
            if self.source.byte(self.at) == b'#' && comment_allowed {
                self.at = self.writer.comment(self.source, self.at);
            }
            if !self.source.is_break(self.at) {
                return Ok(());
            }
            let line = self.source.after_break(self.at);
            self.at = self.source.after_spaces(line);
            let is_margin = self.at == line && matches!(self.source.byte(line), b'%' | b'-' | b'.');
            if self.source.is_end(line) || is_margin || self.source.byte(self.at) == b'\t' {
                return Err(Refused(
                    "a flow collection that does not close, or an odd line in one",
                ));
            }
            comment_allowed = true;
        }
    }
}
