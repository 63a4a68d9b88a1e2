//! Anchors, aliases, tags and directives.

use super::{Scanner, TokenKind};
use crate::event::SyntaxError;

impl Scanner<'_> {
    /// Scans an anchor or an alias, depending on `kind`.
    pub(super) fn fetch_anchor(&mut self, kind: TokenKind) -> Result<(), SyntaxError> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.cursor.mark;
        self.cursor.skip();
        self.skip_word();
        let ends = self.cursor.is_blank_or_end(0)
            || matches!(
                self.cursor.at(0),
                b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`'
            );
        if self.cursor.mark.pos == start.pos + 1 || !ends {
            return self.fail("did not find expected alphabetic or numeric character");
        }
        self.push(kind, start);
        Ok(())
    }

    fn skip_word(&mut self) {
        while self.cursor.is_word(0) {
            self.cursor.skip();
        }
    }

    pub(super) fn fetch_tag(&mut self) -> Result<(), SyntaxError> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.cursor.mark;
        let (handle, suffix) = if self.cursor.at(1) == b'<' {
            self.skip_many(2);
            let suffix = self.read_tag_uri("")?;
            if self.cursor.at(0) != b'>' {
                return self.fail("did not find the expected '>'");
            }
            self.cursor.skip();
            (String::new(), suffix)
        } else {
            self.read_short_tag()?
        };
        if !self.cursor.is_blank_or_end(0) {
            return self.fail("did not find expected whitespace or line break");
        }
        self.tags.push_back((handle.into(), suffix.into()));
        self.push(TokenKind::Tag, start);
        Ok(())
    }

    /// Reads `!handle!suffix`, `!suffix` or `!` alone, for which libyaml returns the suffix `!` without a handle.
    fn read_short_tag(&mut self) -> Result<(String, String), SyntaxError> {
        let handle = self.read_tag_handle()?;
        if handle.len() > 1 && handle.ends_with('!') {
            let suffix = self.read_tag_uri("")?;
            return Ok((handle, suffix));
        }
        let suffix = self.read_tag_uri(&handle)?;
        Ok(if suffix.is_empty() {
            (String::new(), "!".to_owned())
        } else {
            ("!".to_owned(), suffix)
        })
    }

    fn read_tag_handle(&mut self) -> Result<String, SyntaxError> {
        if self.cursor.at(0) != b'!' {
            return self.fail("did not find expected '!'");
        }
        let start = self.cursor.mark.pos;
        self.cursor.skip();
        self.skip_word();
        if self.cursor.at(0) == b'!' {
            self.cursor.skip();
        }
        Ok(self.cursor.since(start).to_owned())
    }

    /// Reads the rest of a tag; `head` is the part that was already read, with its `!`.
    fn read_tag_uri(&mut self, head: &str) -> Result<String, SyntaxError> {
        let mut bytes = head.as_bytes().get(1..).unwrap_or_default().to_vec();
        let mut found = !head.is_empty();
        loop {
            match self.cursor.at(0) {
                b'%' => {
                    let digits = [1, 2].map(|ahead| (self.cursor.at(ahead) as char).to_digit(16));
                    let [Some(high), Some(low)] = digits else {
                        return self.fail("did not find URI escaped octet");
                    };
                    bytes.push((high * 16 + low) as u8);
                    self.skip_many(3);
                }
                byte if byte.is_ascii_alphanumeric()
                    || b"_-;/?:@&=+$,.!~*'()[]".contains(&byte) =>
                {
                    bytes.push(byte);
                    self.cursor.skip();
                }
                _ => break,
            }
            found = true;
        }
        if !found {
            return self.fail("did not find expected tag URI");
        }
        match String::from_utf8(bytes) {
            Ok(uri) => Ok(uri),
            Err(_) => self.fail("found an incorrect UTF-8 octet in a tag"),
        }
    }

    pub(super) fn fetch_directive(&mut self) -> Result<(), SyntaxError> {
        self.unroll_indent(-1);
        self.remove_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.cursor.mark;
        self.cursor.skip();
        self.skip_word();
        let name = self.cursor.since(start.pos + 1);
        if name.is_empty() {
            return self.fail("could not find expected directive name");
        }
        if !self.cursor.is_blank_or_end(0) {
            return self.fail("found unexpected non-alphabetical character");
        }
        let kind = match name {
            "YAML" => self.read_version()?,
            "TAG" => self.read_tag_directive()?,
            _ => return self.fail("found unknown directive name"),
        };
        self.push(kind, start);
        self.cursor.skip_blanks();
        self.skip_comment();
        if !self.cursor.is_break_or_end() {
            return self.fail("did not find expected comment or line break");
        }
        self.cursor.skip_line();
        Ok(())
    }

    fn read_version(&mut self) -> Result<TokenKind, SyntaxError> {
        self.cursor.skip_blanks();
        let major = self.read_version_number()?;
        if self.cursor.at(0) != b'.' {
            return self.fail("did not find expected digit or '.' character");
        }
        self.cursor.skip();
        let minor = self.read_version_number()?;
        Ok(TokenKind::VersionDirective { major, minor })
    }

    fn read_version_number(&mut self) -> Result<u8, SyntaxError> {
        let start = self.cursor.mark.pos;
        while self.cursor.at(0).is_ascii_digit() {
            self.cursor.skip();
            // go-yaml's limit; libyaml allows nine digits.
            if self.cursor.mark.pos - start > 2 {
                return self.fail("found extremely long version number");
            }
        }
        let digits = self.cursor.since(start).parse();
        digits.or_else(|_| self.fail("did not find expected version number"))
    }

    fn read_tag_directive(&mut self) -> Result<TokenKind, SyntaxError> {
        self.cursor.skip_blanks();
        let handle = self.read_tag_handle()?;
        if !handle.ends_with('!') {
            return self.fail("did not find expected '!'");
        }
        if !self.cursor.is_blank() {
            return self.fail("did not find expected whitespace");
        }
        self.cursor.skip_blanks();
        let prefix = self.read_tag_uri("")?;
        if !self.cursor.is_blank_or_end(0) {
            return self.fail("did not find expected whitespace or line break");
        }
        self.tags.push_back((handle.into(), prefix.into()));
        Ok(TokenKind::TagDirective)
    }
}
