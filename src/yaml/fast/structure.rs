//! Lines and indentation: which block collections begin, go on and end.
//!
//! One line after the other: its indentation closes what is right of it; then it is a key or an item of the innermost open
//! collection, or the value that the line before left for it.

use super::limits::{MAX_DEPTH, MAX_KEY};
use super::plain::{PlainLine, PlainStop};
use super::refused::Refused;
use super::source::SourceText;
use super::writer::{TapeWriter, WrittenScalar};
use super::{block_scalar, flow, plain, quoted};
use crate::yaml::tape::EventKind;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockCollection {
    Mapping,
    Sequence,
    /// A sequence whose dashes are in the column of the mapping that it is a value of. It lies directly on that mapping.
    Indentless,
}

#[derive(Clone, Copy)]
pub(super) struct OpenCollection {
    pub(super) collection: BlockCollection,
    pub(super) column: usize,
}

/// The parser of one document.
pub(super) struct BlockParser<'t> {
    pub(super) source: SourceText<'t>,
    pub(super) writer: TapeWriter<'t>,
    /// The place to read on.
    pub(super) at: usize,
    /// Never more than [`MAX_DEPTH`]. Columns grow, but for indentless sequences.
    pub(super) open: Vec<OpenCollection>,
    /// Where the text of the line at `at` begins, if that was found out already; else it lies before.
    pub(super) text_at: usize,
    /// The end of the `:` or `-` whose value may be on a further line; if it is not, it is left out.
    pub(super) awaited: Option<usize>,
}

impl<'t> BlockParser<'t> {
    pub(super) fn new(source: SourceText<'t>, writer: TapeWriter<'t>) -> Self {
        Self {
            source,
            writer,
            at: 0,
            text_at: 0,
            open: Vec::with_capacity(16),
            awaited: None,
        }
    }

    /// Reads the document. False when there is nothing in it.
    pub(super) fn document(mut self) -> Result<bool, Refused> {
        let is_marked = self.source.has(0, b"---");
        if is_marked {
            self.writer.last_end = 3;
            self.end_line(3)?;
        }
        while let Some(column) = self.next_line()? {
            if !self.writer.is_passing() || !self.pass_over(column)? {
                self.line(column)?;
            }
            self.writer.is_sure()?;
        }
        self.close_from(0);
        self.writer.is_sure()?;
        if self.source.has(self.at, b"...") {
            self.end_marker()?;
        }
        if is_marked && self.writer.is_empty() {
            self.writer.nothing(3);
        }
        Ok(!self.writer.is_empty())
    }

    /// Goes to the first character of the next line with more than a comment, and returns its column. `None` at the end of the
    /// document.
    fn next_line(&mut self) -> Result<Option<usize>, Refused> {
        while !self.source.is_end(self.at) {
            let line = self.at;
            self.at = if self.text_at > line {
                self.text_at
            } else {
                self.source.after_spaces(line)
            };
            match self.source.byte(self.at) {
                b'\n' | b'\r' => self.at = self.source.after_break(self.at),
                b'#' => self.end_line(self.at)?,
                b'\t' => return Err(Refused("a tab as indentation")),
                byte @ (b'%' | b'-' | b'.') if self.at == line => match byte {
                    b'.' if self.source.has(line, b"...") => return Ok(None),
                    b'-' if !self.source.has(line, b"---") => return Ok(Some(0)),
                    b'.' => return Ok(Some(0)),
                    _ => return Err(Refused("a directive or a marker inside the document")),
                },
                _ => return Ok(Some(self.at - line)),
            }
        }
        Ok(None)
    }

    /// Reads a line `...`, which nothing but comments may follow.
    fn end_marker(&mut self) -> Result<(), Refused> {
        let is_alone = self.source.is_blank_or_break(self.at + 3) && !self.writer.is_empty();
        self.end_line(self.at + 3)?;
        if !is_alone || self.next_line()?.is_some() || !self.source.is_end(self.at) {
            return Err(Refused("something after the end of the document"));
        }
        self.writer.marked_end();
        Ok(())
    }

    /// Reads blanks and a comment up to the end of the line.
    fn end_line(&mut self, from: usize) -> Result<(), Refused> {
        let at = self.source.after_blanks(from);
        let line_break = match self.source.byte(at) {
            b'\n' | b'\r' => at,
            b'#' if at == 0 || self.source.is_blank_or_break(at - 1) => {
                self.writer.comment(self.source, at)
            }
            _ => return Err(Refused("something after a complete value")),
        };
        self.at = self.source.after_break(line_break);
        Ok(())
    }

    /// Reads a line that begins in `column`, and those below that its last value needs.
    fn line(&mut self, column: usize) -> Result<(), Refused> {
        self.close_from(column + 1);
        let is_dash = self.source.is_dash(self.at);
        let Some(&OpenCollection {
            collection,
            column: indent,
        }) = self.open.last()
        else {
            return if self.writer.is_empty() {
                self.node(column)
            } else {
                Err(Refused("something after the root"))
            };
        };
        if indent < column {
            return match self.awaited.take() {
                Some(_) => self.node(column),
                None => Err(Refused("a line that belongs to nothing")),
            };
        }
        match (collection, is_dash) {
            (BlockCollection::Mapping, true) => match self.awaited.take() {
                Some(_) => {
                    self.open(BlockCollection::Indentless, column)?;
                    self.items(column)
                }
                None => Err(Refused("an item where a key is expected")),
            },
            (BlockCollection::Mapping, false) => {
                self.leave_out();
                self.entry()
            }
            (BlockCollection::Sequence | BlockCollection::Indentless, true) => {
                self.leave_out();
                self.items(column)
            }
            (BlockCollection::Indentless, false) => {
                self.close();
                self.entry()
            }
            (BlockCollection::Sequence, false) => Err(Refused("a key where an item is expected")),
        }
    }

    /// The column of the innermost collection.
    fn indent(&self) -> Result<usize, Refused> {
        self.open
            .last()
            .map(|open| open.column)
            .ok_or(Refused("a root that is no collection"))
    }

    pub(super) fn open(
        &mut self,
        collection: BlockCollection,
        column: usize,
    ) -> Result<(), Refused> {
        if self.open.len() == MAX_DEPTH {
            return Err(Refused("deep nesting"));
        }
        self.open.push(OpenCollection { collection, column });
        let start = match collection {
            BlockCollection::Mapping => EventKind::MapStart { flow: false },
            BlockCollection::Sequence | BlockCollection::Indentless => {
                EventKind::SeqStart { flow: false }
            }
        };
        self.writer.block(start, self.at);
        Ok(())
    }

    /// Writes the value that does not come any more.
    pub(super) fn leave_out(&mut self) {
        if let Some(mark) = self.awaited.take() {
            self.writer.nothing(mark);
        }
    }

    fn close(&mut self) {
        self.leave_out();
        let end = match self.open.pop() {
            None => return,
            Some(OpenCollection {
                collection: BlockCollection::Mapping,
                ..
            }) => EventKind::MapEnd,
            Some(_) => EventKind::SeqEnd,
        };
        self.writer.block(end, self.writer.last_end);
    }

    /// Closes the collections in `column` and right of it.
    pub(super) fn close_from(&mut self, column: usize) {
        while self.open.last().is_some_and(|open| open.column >= column) {
            self.close();
        }
    }

    /// Reads a value in `column` with nothing but indentation and dashes before it on its line.
    fn node(&mut self, column: usize) -> Result<(), Refused> {
        if self.source.is_dash(self.at) {
            self.open(BlockCollection::Sequence, column)?;
            return self.items(column);
        }
        let start = self.at;
        match self.source.byte(start) {
            b'"' | b'\'' => {
                let key = self.quoted()?;
                match self.colon_after(&key) {
                    Some(colon) => self.first_entry(column, key.scalar, colon),
                    None => self.scalar(key.scalar),
                }
            }
            // The root.
            b'[' | b'{' if self.open.is_empty() => {
                let end = flow::read(self.source, start, &mut self.writer)?;
                self.end_line(end)
            }
            b'|' | b'>' | b'[' | b'{' | b'&' | b'*' => self.value(),
            _ => {
                plain::check_start(self.source, start)?;
                let line = plain::read_line(self.source, start);
                match line.stop {
                    PlainStop::Colon => self.first_entry(column, line.scalar(), line.stop_at),
                    PlainStop::Comment | PlainStop::Line => self.plain(line),
                }
            }
        }
    }

    /// Reads the item whose dash is here, in the innermost sequence. `- - a` begins sequences inside.
    fn items(&mut self, mut column: usize) -> Result<(), Refused> {
        loop {
            let mark = self.at + 1;
            self.writer.last_end = mark;
            let next = self.source.after_spaces(mark);
            match self.source.byte(next) {
                b'\n' | b'\r' | b'#' => return self.await_value(mark),
                b'\t' => return Err(Refused("a tab after a dash")),
                _ => {}
            }
            column += next - self.at;
            self.at = next;
            if !self.source.is_dash(next) {
                return self.node(column);
            }
            self.open(BlockCollection::Sequence, column)?;
        }
    }

    /// The value of the `:` or `-` that ends at `mark` is not on its line.
    fn await_value(&mut self, mark: usize) -> Result<(), Refused> {
        self.awaited = Some(mark);
        self.end_line(mark)
    }

    fn first_entry(
        &mut self,
        column: usize,
        key: WrittenScalar,
        colon: usize,
    ) -> Result<(), Refused> {
        self.open(BlockCollection::Mapping, column)?;
        self.entry_of(key, colon)
    }

    /// Reads a key of the innermost mapping, and its value as far as it begins on the same line.
    fn entry(&mut self) -> Result<(), Refused> {
        let start = self.at;
        if matches!(self.source.byte(start), b'"' | b'\'') {
            let key = self.quoted()?;
            let colon = self
                .colon_after(&key)
                .ok_or(Refused("quoted text where a key is expected"))?;
            return self.entry_of(key.scalar, colon);
        }
        plain::check_start(self.source, start)?;
        let line = plain::read_line(self.source, start);
        match line.stop {
            PlainStop::Colon => self.entry_of(line.scalar(), line.stop_at),
            PlainStop::Comment | PlainStop::Line => Err(Refused("text where a key is expected")),
        }
    }

    fn entry_of(&mut self, key: WrittenScalar, colon: usize) -> Result<(), Refused> {
        if colon - key.start > MAX_KEY {
            return Err(Refused("a long key"));
        }
        self.writer.key(key);
        let mark = colon + 1;
        self.writer.last_end = mark;
        self.at = self.source.after_blanks(mark);
        match self.source.byte(self.at) {
            b'\n' | b'\r' | b'#' => self.await_value(mark),
            _ => self.value(),
        }
    }

    /// Reads a value that does not begin with a key or a dash.
    fn value(&mut self) -> Result<(), Refused> {
        let (start, indent) = (self.at, self.indent()?);
        match self.source.byte(start) {
            // The anchor may stand on a line above.
            b'&' | b'*' if self.writer.has_anchor() => {
                return Err(Refused("an anchor of an anchor or alias"));
            }
            b'&' => {}
            _ => return self.bare_value(indent),
        }
        let end = self.name_end(start)?;
        self.writer.anchor(start, end);
        self.at = self.source.after_blanks(end);
        match self.source.byte(self.at) {
            b'\n' | b'\r' | b'#' => self.await_value(end),
            _ => self.value(),
        }
    }

    /// Reads a value without an anchor, in a collection at the column `indent`.
    fn bare_value(&mut self, indent: usize) -> Result<(), Refused> {
        let start = self.at;
        match self.source.byte(start) {
            b'"' | b'\'' => {
                let quoted = self.quoted()?;
                self.scalar(quoted.scalar)
            }
            b'[' | b'{' => {
                let end = flow::read(self.source, start, &mut self.writer)?;
                self.end_line(end)
            }
            b'*' => {
                let end = self.name_end(start)?;
                self.writer.alias(start, end);
                self.end_line(end)
            }
            b'|' | b'>' => {
                self.at = block_scalar::read(self.source, start, indent, &mut self.writer)?;
                Ok(())
            }
            _ => {
                plain::check_start(self.source, start)?;
                let line = plain::read_line(self.source, start);
                match line.stop {
                    PlainStop::Colon => Err(Refused("a key inside a value")),
                    PlainStop::Comment | PlainStop::Line => self.plain(line),
                }
            }
        }
    }

    /// The end of the name of an anchor or alias, which only a blank may follow.
    fn name_end(&self, at: usize) -> Result<usize, Refused> {
        let end = self
            .source
            .name_end(at)
            .filter(|&end| self.source.is_blank_or_break(end));
        end.ok_or(Refused("an anchor or alias without a simple name"))
    }

    /// Writes unquoted text that begins with `first`.
    #[inline]
    fn plain(&mut self, first: PlainLine) -> Result<(), Refused> {
        if self.open.is_empty() {
            return self.only_line(first);
        }
        let indent = self.indent()?;
        if first.stop == PlainStop::Line {
            // Nearly always a key or an item follows on the next line.
            let next = self.source.after_break(first.stop_at);
            if let Some(start) = plain::next_entry(self.source, next, indent) {
                self.writer.scalar(first.scalar());
                (self.at, self.text_at) = (next, start);
                return Ok(());
            }
        }
        self.long_plain(first, indent)
    }

    /// Writes unquoted text that is the root, if it is the last line.
    fn only_line(&mut self, line: PlainLine) -> Result<(), Refused> {
        let next = self.source.after_break(line.stop_at);
        if line.stop != PlainStop::Line || !self.source.is_end(next) || self.writer.has_anchor() {
            return Err(Refused("a root that is no collection"));
        }
        self.writer.scalar(line.scalar());
        self.at = next;
        Ok(())
    }

    /// Writes unquoted text that may go on on the next line.
    #[inline(never)]
    fn long_plain(&mut self, first: PlainLine, indent: usize) -> Result<(), Refused> {
        let decoded = self.writer.keeps_text().then(|| self.writer.decoded());
        let (scalar, last) = plain::read_rest(self.source, first, indent, decoded)?;
        self.writer.scalar(scalar);
        self.end_line(last.stop_at)
    }

    fn scalar(&mut self, scalar: WrittenScalar) -> Result<(), Refused> {
        self.indent()?;
        self.writer.scalar(scalar);
        self.end_line(scalar.end)
    }

    fn quoted(&mut self) -> Result<quoted::Quoted, Refused> {
        let indent = self.open.last().map_or(0, |open| open.column);
        quoted::read(self.source, self.at, indent, self.writer.decoded())
    }

    /// The colon that makes a key of quoted text.
    fn colon_after(&self, quoted: &quoted::Quoted) -> Option<usize> {
        let colon = self.source.after_blanks(quoted.scalar.end);
        let is_key = quoted.is_one_line
            && self.source.byte(colon) == b':'
            && self.source.is_blank_or_break(colon + 1);
        is_key.then_some(colon)
    }
}
