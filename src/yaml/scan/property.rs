//! Anchors, aliases, tags and directives.

use super::{Scanner, TokenKind};
use crate::text::Span;
use crate::yaml::tape::{SyntaxError, TextRef};

impl Scanner<'_> {
    pub(super) fn fetch_anchor(&mut self, alias: bool) -> Result<(), SyntaxError> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.cursor.mark;
        self.cursor.skip();
        let name_start = self.offset();
        while self.cursor.is_word(0) {
            self.cursor.skip();
        }
        let name = Span::new(name_start, self.offset());
        let ends = self.cursor.is_blank_or_end(0)
            || matches!(
                self.cursor.at(0),
                b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`'
            );
        if name.is_empty() || !ends {
            return self.fail("did not find expected alphabetic or numeric character");
        }
        let text = TextRef {
            start: name.start,
            end: name.end,
            decoded: false,
        };
        self.push(
            if alias {
                TokenKind::Alias(text)
            } else {
                TokenKind::Anchor(name)
            },
            start,
        );
        Ok(())
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
        self.push(
            TokenKind::Tag {
                handle: handle.into(),
                suffix: suffix.into(),
            },
            start,
        );
        Ok(())
    }

    /// `!handle!suffix`, `!suffix` or `!` alone, which libyaml gives as the suffix `!` without a handle.
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
        let mut handle = String::new();
        self.cursor.read(&mut handle);
        while self.cursor.is_word(0) {
            self.cursor.read(&mut handle);
        }
        if self.cursor.at(0) == b'!' {
            self.cursor.read(&mut handle);
        }
        Ok(handle)
    }

    /// The rest of a tag; `head` is what was already read of it, with its `!`.
    fn read_tag_uri(&mut self, head: &str) -> Result<String, SyntaxError> {
        let mut bytes = head.as_bytes().get(1..).unwrap_or_default().to_vec();
        let mut found = !head.is_empty();
        loop {
            match self.cursor.at(0) {
                b'%' => {
                    let digit = |ahead| (self.cursor.at(ahead) as char).to_digit(16);
                    let (Some(high), Some(low)) = (digit(1), digit(2)) else {
                        return self.fail("did not find URI escaped octet");
                    };
                    bytes.push((high * 16 + low) as u8);
                    self.skip_many(3);
                }
                byte @ (b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z') => {
                    bytes.push(byte);
                    self.cursor.skip();
                }
                byte if byte != 0 && b"_-;/?:@&=+$,.!~*'()[]".contains(&byte) => {
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
        let mut name = String::new();
        while self.cursor.is_word(0) {
            self.cursor.read(&mut name);
        }
        if name.is_empty() {
            return self.fail("could not find expected directive name");
        }
        if !self.cursor.is_blank_or_end(0) {
            return self.fail("found unexpected non-alphabetical character");
        }
        let kind = match name.as_str() {
            "YAML" => self.read_version()?,
            "TAG" => self.read_tag_directive()?,
            _ => return self.fail("found unknown directive name"),
        };
        self.push(kind, start);
        self.skip_blanks();
        self.skip_comment();
        if !self.cursor.is_break_or_end(0) {
            return self.fail("did not find expected comment or line break");
        }
        self.cursor.skip_line();
        Ok(())
    }

    fn skip_blanks(&mut self) {
        while self.cursor.is_blank(0) {
            self.cursor.skip();
        }
    }

    fn read_version(&mut self) -> Result<TokenKind, SyntaxError> {
        self.skip_blanks();
        let major = self.read_version_number()?;
        if self.cursor.at(0) != b'.' {
            return self.fail("did not find expected digit or '.' character");
        }
        self.cursor.skip();
        let minor = self.read_version_number()?;
        Ok(TokenKind::VersionDirective { major, minor })
    }

    fn read_version_number(&mut self) -> Result<u32, SyntaxError> {
        let mut digits = String::new();
        while self.cursor.at(0).is_ascii_digit() {
            self.cursor.read(&mut digits);
            // go-yaml's limit; libyaml has nine.
            if digits.len() > 2 {
                return self.fail("found extremely long version number");
            }
        }
        digits
            .parse()
            .or_else(|_| self.fail("did not find expected version number"))
    }

    fn read_tag_directive(&mut self) -> Result<TokenKind, SyntaxError> {
        self.skip_blanks();
        let handle = self.read_tag_handle()?;
        if !(handle == "!" || handle.ends_with('!')) {
            return self.fail("did not find expected '!'");
        }
        if !self.cursor.is_blank(0) {
            return self.fail("did not find expected whitespace");
        }
        self.skip_blanks();
        let prefix = self.read_tag_uri("")?;
        if !self.cursor.is_blank_or_end(0) {
            return self.fail("did not find expected whitespace or line break");
        }
        Ok(TokenKind::TagDirective {
            handle: handle.into(),
            prefix: prefix.into(),
        })
    }
}
