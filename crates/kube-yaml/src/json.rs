//! Reads JSON as Go's `encoding/json` does, and emits events.
//!
//! Kubernetes reads a manifest whose first character is `{` as a stream of JSON values, as long as that works. Go is
//! strict about JSON's grammar, with two exceptions: a lone surrogate becomes U+FFFD, and equal keys are accepted.

use super::event::{Events, Properties, ScalarEvent, StartEvent, Style, SyntaxError};
use super::limits::MAX_DEPTH;
use crate::Span;

/// Reads one value from `start` on, and returns its place; `None` if only blanks are left.
pub(super) fn parse(
    text: &str,
    start: usize,
    events: &mut impl Events,
) -> Result<Option<Span>, SyntaxError> {
    let mut reader = JsonReader {
        text,
        at: start,
        events,
        decoded: String::new(),
        open: Vec::new(),
    };
    reader.skip_blanks();
    if reader.at >= text.len() {
        return Ok(None);
    }
    let start = reader.at;
    reader.value()?;
    Ok(Some(reader.span_from(start)))
}

struct JsonReader<'t, 'e, E> {
    text: &'t str,
    at: usize,
    events: &'e mut E,
    /// The text of the current string, if it differs from what is written.
    decoded: String,
    /// For each open collection, whether it is an object.
    open: Vec<bool>,
}

impl<E: Events> JsonReader<'_, '_, E> {
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn skip_blanks(&mut self) {
        while matches!(self.byte(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    fn fail<T>(&self, context: &str) -> Result<T, SyntaxError> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let problem = match rest.chars().next() {
            None => "json: unexpected end of JSON input".to_owned(),
            Some(found) => format!("json: invalid character {found:?} {context}"),
        };
        Err(SyntaxError::new(self.at as u32, problem))
    }

    fn span_from(&self, start: usize) -> Span {
        Span::new(start as u32, self.at as u32)
    }

    fn emit_scalar(&mut self, style: Style, start: usize, text: Option<&str>) {
        let scalar = ScalarEvent {
            style,
            span: self.span_from(start),
            text: text.unwrap_or(&self.decoded),
            is_verbatim: text.is_some(),
        };
        self.events.scalar(scalar, &Properties::default());
    }

    /// Reads one value and everything in it.
    fn value(&mut self) -> Result<(), SyntaxError> {
        loop {
            self.skip_blanks();
            let opened = self.start_value()?;
            if opened && !self.closes_empty() {
                self.key()?;
                continue;
            }
            if !self.end_value()? {
                return Ok(());
            }
        }
    }

    /// Reads a scalar, or opens a collection and returns `true`.
    fn start_value(&mut self) -> Result<bool, SyntaxError> {
        let start = self.at;
        match self.byte() {
            open @ (b'{' | b'[') => {
                if self.open.len() >= MAX_DEPTH {
                    return Err(SyntaxError::new(start as u32, "json: exceeded max depth"));
                }
                self.at += 1;
                self.open.push(open == b'{');
                let start = StartEvent {
                    is_map: open == b'{',
                    flow: true,
                    span: self.span_from(start),
                };
                self.events.start(start, &Properties::default());
                return Ok(true);
            }
            b'"' => self.string()?,
            b'-' | b'0'..=b'9' => self.number()?,
            _ => self.word()?,
        }
        Ok(false)
    }

    /// Whether the collection just opened closes at once. If not, and it is an object, a key must follow.
    fn closes_empty(&mut self) -> bool {
        self.skip_blanks();
        matches!(
            (self.open.last(), self.byte()),
            (Some(true), b'}') | (Some(false), b']')
        )
    }

    /// Reads a key and its colon in an object; does nothing in an array.
    fn key(&mut self) -> Result<(), SyntaxError> {
        if self.open.last() != Some(&true) {
            return Ok(());
        }
        self.skip_blanks();
        if self.byte() != b'"' {
            return self.fail("looking for beginning of object key string");
        }
        self.string()?;
        self.skip_blanks();
        if self.byte() != b':' {
            return self.fail("after object key");
        }
        self.at += 1;
        Ok(())
    }

    /// Closes all collections that end after a value. Returns `true` if another value follows a comma.
    fn end_value(&mut self) -> Result<bool, SyntaxError> {
        while let Some(&object) = self.open.last() {
            self.skip_blanks();
            let start = self.at;
            match (self.byte(), object) {
                (b',', _) => {
                    self.at += 1;
                    self.key()?;
                    return Ok(true);
                }
                (b'}', true) | (b']', false) => {
                    self.at += 1;
                    self.open.pop();
                    self.events.end(self.span_from(start));
                }
                (_, true) => return self.fail("after object key:value pair"),
                (_, false) => return self.fail("after array element"),
            }
        }
        Ok(false)
    }

    fn word(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        let rest = self.text.get(start..).unwrap_or_default();
        let Some(word) = ["true", "false", "null"]
            .into_iter()
            .find(|word| rest.starts_with(word))
        else {
            return self.fail("looking for beginning of value");
        };
        self.at += word.len();
        self.emit_word(start);
        Ok(())
    }

    fn emit_word(&mut self, start: usize) {
        let word = self.text.get(start..self.at).unwrap_or_default();
        self.emit_scalar(Style::JsonWord, start, Some(word));
    }

    fn digits(&mut self) -> Result<(), SyntaxError> {
        if !self.byte().is_ascii_digit() {
            return self.fail("in numeric literal");
        }
        while self.byte().is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        let start = self.at;
        if self.byte() == b'-' {
            self.at += 1;
        }
        match self.byte() {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.byte() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.byte(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        self.emit_word(start);
        Ok(())
    }

    fn string(&mut self) -> Result<(), SyntaxError> {
        let text = self.text;
        let start = self.at;
        self.decoded.clear();
        self.at += 1;
        let mut copied = self.at;
        loop {
            match self.byte() {
                b'"' => break,
                b'\\' => {
                    let part = text.get(copied..self.at).unwrap_or_default();
                    self.decoded.push_str(part);
                    self.escape()?;
                    copied = self.at;
                }
                0..=0x1F => return self.fail("in string literal"),
                _ => self.at += 1,
            }
        }
        let last = text.get(copied..self.at).unwrap_or_default();
        let is_verbatim = copied == start + 1;
        self.decoded.push_str(if is_verbatim { "" } else { last });
        self.at += 1;
        self.emit_scalar(Style::Double, start, is_verbatim.then_some(last));
        Ok(())
    }

    fn escape(&mut self) -> Result<(), SyntaxError> {
        self.at += 1;
        let character = match self.byte() {
            b'b' => '\u{8}',
            b'f' => '\u{C}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            byte @ (b'"' | b'\\' | b'/') => byte as char,
            b'u' => return self.unicode_escape(),
            _ => return self.fail("in string escape code"),
        };
        self.at += 1;
        self.decoded.push(character);
        Ok(())
    }

    fn unicode_escape(&mut self) -> Result<(), SyntaxError> {
        let high = self.four_digits()?;
        let mut code = high;
        if (0xD800..0xDC00).contains(&high)
            && self.text.as_bytes().get(self.at..self.at + 2) == Some(b"\\u")
        {
            let back = self.at;
            self.at += 1;
            let low = self.four_digits()?;
            if (0xDC00..0xE000).contains(&low) {
                code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            } else {
                self.at = back;
            }
        }
        let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        self.decoded.push(character);
        Ok(())
    }

    /// Reads `u` and four hexadecimal digits.
    fn four_digits(&mut self) -> Result<u32, SyntaxError> {
        self.at += 1;
        let mut value = 0;
        for _ in 0..4 {
            let Some(digit) = (self.byte() as char).to_digit(16) else {
                return self.fail("in \\u hexadecimal character escape");
            };
            value = value * 16 + digit;
            self.at += 1;
        }
        Ok(value)
    }
}
