//! The parser of templates.

use serde_json::Value;

use super::format::integer;
use super::{failed, unread, unread_because};
use crate::graph::argo::template::Outcome;

/// Maximum nesting of blocks, and of parentheses.
const DEEPEST: usize = 50;

#[derive(Clone, Debug)]
pub(super) enum Part {
    Text(String),
    Action {
        /// The text of the action, with its braces.
        written: String,
        pipeline: Pipeline,
    },
    If {
        condition: Pipeline,
        then: Vec<Part>,
        otherwise: Vec<Part>,
        /// Whether it is a `with`, within which `.` is the value of the condition.
        is_with: bool,
    },
    Range {
        over: Pipeline,
        body: Vec<Part>,
        /// The parts for an empty list.
        otherwise: Vec<Part>,
    },
}

/// Commands, each of which gets the value of the one before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Pipeline {
    /// The variables that it sets; two only for a `range`.
    pub(super) variables: Vec<String>,
    /// Whether it declares its variables.
    pub(super) declares: bool,
    pub(super) commands: Vec<Vec<Term>>,
}

#[derive(Clone, Debug)]
pub(super) enum Term {
    Literal(Value),
    /// `.a.b`
    Field(Vec<String>),
    /// `$.a.b`
    Root(Vec<String>),
    /// `$name.a.b`
    Variable(String, Vec<String>),
    Function(String),
    /// `(…).a`
    Nested(Pipeline, Vec<String>),
}

pub(super) fn parse(text: &str) -> Outcome<Vec<Part>> {
    let pieces = pieces(text)?;
    let mut reader = Reader {
        pieces: &pieces,
        at: 0,
    };
    let (parts, end) = reader.block(0)?;
    match end {
        None => Ok(parts),
        Some(word) => Err(failed(format!("`{word}` ends nothing"))),
    }
}

/// A text between actions, or an action.
enum Piece<'t> {
    Text(&'t str),
    /// The action with its braces, and the text between them.
    Action(&'t str, &'t str),
}

fn pieces(text: &str) -> Outcome<Vec<Piece<'_>>> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("{{") {
        let after = &rest[at + 2..];
        let (inner, trims_before) = match after.strip_prefix('-') {
            Some(inner) if inner.starts_with(is_blank) => {
                (inner.trim_start_matches(is_blank), true)
            }
            _ => (after, false),
        };
        let is_comment = inner.starts_with("/*");
        let comment = if is_comment {
            inner.find("*/")
        } else {
            Some(0)
        };
        let end = comment.and_then(|end| Some(end + closing(&inner[end..])?));
        let end = end.ok_or_else(|| failed("an action is not closed"))?;
        let written = &rest[at..rest.len() - inner.len() + end + 2];
        let before = &rest[..at];
        rest = &inner[end + 2..];
        let inner = &inner[..end];
        let (inner, trims_after) = match inner.strip_suffix('-') {
            Some(inner) if inner.ends_with(is_blank) => (inner, true),
            _ => (inner, false),
        };
        let before = if trims_before {
            before.trim_end_matches(is_blank)
        } else {
            before
        };
        all.push(Piece::Text(before));
        if !is_comment {
            all.push(Piece::Action(written, inner.trim_matches(is_blank)));
        }
        if trims_after {
            rest = rest.trim_start_matches(is_blank);
        }
    }
    all.push(Piece::Text(rest));
    Ok(all)
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// Finds the end of an action, ignoring braces in quoted texts.
fn closing(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut quote = None;
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (Some(b'"' | b'\''), b'\\') => at += 1,
            (Some(open), byte) if byte == open => quote = None,
            (None, byte @ (b'"' | b'`' | b'\'')) => quote = Some(byte),
            (None, b'}') if bytes.get(at + 1) == Some(&b'}') => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

struct Reader<'p, 't> {
    pieces: &'p [Piece<'t>],
    at: usize,
}

impl<'t> Reader<'_, 't> {
    /// Parses the parts up to `end`, `else` or the end of the text, and returns them with the word that ends them.
    fn block(&mut self, depth: usize) -> Outcome<(Vec<Part>, Option<&'t str>)> {
        if depth > DEEPEST {
            return Err(unread_because("blocks are nested too deeply"));
        }
        let mut parts = Vec::new();
        while let Some(piece) = self.pieces.get(self.at) {
            self.at += 1;
            let (written, inner) = match piece {
                Piece::Text(text) => {
                    parts.push(Part::Text((*text).to_owned()));
                    continue;
                }
                Piece::Action(written, inner) => (*written, *inner),
            };
            let (word, rest) = inner.split_once(char::is_whitespace).unwrap_or((inner, ""));
            match word {
                "end" | "else" => return Ok((parts, Some(inner))),
                "if" | "with" => parts.push(self.condition(word, rest, depth)?),
                "range" => {
                    let over = pipeline(rest)?;
                    let (body, end) = self.block(depth + 1)?;
                    let otherwise = self.otherwise(word, end, depth)?;
                    parts.push(Part::Range {
                        over,
                        body,
                        otherwise,
                    });
                }
                "define" | "template" | "block" | "break" | "continue" => {
                    return Err(unread_because(format!("`{word}` is not evaluated")));
                }
                _ => parts.push(Part::Action {
                    written: written.to_owned(),
                    pipeline: pipeline(inner)?,
                }),
            }
        }
        Ok((parts, None))
    }

    fn condition(&mut self, word: &str, condition: &str, depth: usize) -> Outcome<Part> {
        let condition = pipeline(condition)?;
        let (then, end) = self.block(depth + 1)?;
        let otherwise = self.otherwise(word, end, depth)?;
        Ok(Part::If {
            condition,
            then,
            otherwise,
            is_with: word == "with",
        })
    }

    /// Parses the parts after `else`, if the block of `word` ends with it.
    fn otherwise(&mut self, word: &str, end: Option<&str>, depth: usize) -> Outcome<Vec<Part>> {
        let rest = match end {
            Some("end") => return Ok(Vec::new()),
            Some(end) => end.strip_prefix("else").unwrap_or_default().trim(),
            None => return Err(failed(format!("`{word}` has no end"))),
        };
        if let Some((next @ ("if" | "with"), condition)) = rest.split_once(char::is_whitespace) {
            return Ok(vec![self.condition(next, condition, depth + 1)?]);
        }
        match self.block(depth + 1)? {
            (parts, Some("end")) => Ok(parts),
            _ => Err(failed("`else` has no end")),
        }
    }
}

fn pipeline(text: &str) -> Outcome<Pipeline> {
    let mut words = Words {
        rest: text,
        depth: 0,
    };
    let pipeline = words.pipeline()?;
    match words.rest.trim() {
        "" => Ok(pipeline),
        rest => Err(failed(format!("`{rest}` is not expected"))),
    }
}

struct Words<'t> {
    rest: &'t str,
    depth: usize,
}

impl Words<'_> {
    fn pipeline(&mut self) -> Outcome<Pipeline> {
        let mut pipeline = Pipeline::default();
        if let Some((variables, declares, rest)) = assigned(self.rest) {
            pipeline.variables = variables;
            pipeline.declares = declares;
            self.rest = rest;
        }
        loop {
            let mut terms = Vec::new();
            while let Some(term) = self.term()? {
                if let Term::Function(name) = &term
                    && self.rest.starts_with('.')
                {
                    return Err(unread(name, &self.path()));
                }
                terms.push(term);
                if self
                    .rest
                    .starts_with(|c: char| !c.is_whitespace() && !"|)".contains(c))
                {
                    return Err(failed(format!("`{}` is not expected", self.rest)));
                }
            }
            if terms.is_empty() {
                return Err(failed("a value is missing"));
            }
            let is_function = matches!(terms[0], Term::Function(_));
            if !is_function && (terms.len() > 1 || !pipeline.commands.is_empty()) {
                return Err(failed("there is a value where a function is expected"));
            }
            pipeline.commands.push(terms);
            match self.rest.strip_prefix('|') {
                Some(rest) => self.rest = rest,
                None => return Ok(pipeline),
            }
        }
    }

    fn term(&mut self) -> Outcome<Option<Term>> {
        self.rest = self.rest.trim_start();
        let Some(first) = self.rest.chars().next() else {
            return Ok(None);
        };
        Ok(Some(match first {
            '|' | ')' => return Ok(None),
            '(' => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(unread_because("parentheses are nested too deeply"));
                }
                self.rest = &self.rest[1..];
                let nested = self.pipeline()?;
                let rest = self.rest.strip_prefix(')');
                self.rest = rest.ok_or_else(|| failed("a parenthesis is not closed"))?;
                self.depth -= 1;
                Term::Nested(nested, self.path())
            }
            '"' => Term::Literal(Value::String(self.quoted()?)),
            '`' => {
                let (text, rest) = self.rest[1..]
                    .split_once('`')
                    .ok_or_else(|| failed("a string is not closed"))?;
                self.rest = rest;
                Term::Literal(Value::from(text))
            }
            '.' if self.rest[1..].starts_with(|c: char| c.is_ascii_digit()) => self.number()?,
            '.' => match self.path() {
                path if path.is_empty() => {
                    self.rest = &self.rest[1..];
                    Term::Field(path)
                }
                path => Term::Field(path),
            },
            '$' => {
                self.rest = &self.rest[1..];
                match self.name() {
                    "" => Term::Root(self.path()),
                    name => {
                        let name = name.to_owned();
                        Term::Variable(name, self.path())
                    }
                }
            }
            '-' | '+' | '0'..='9' => self.number()?,
            '\'' => {
                return Err(unread_because("the code of a letter is not evaluated"));
            }
            _ => match self.name() {
                "" => return Err(failed(format!("`{}` is not expected", self.rest))),
                "true" => Term::Literal(Value::Bool(true)),
                "false" => Term::Literal(Value::Bool(false)),
                "nil" => Term::Literal(Value::Null),
                name => Term::Function(name.to_owned()),
            },
        }))
    }

    /// Parses the keys of `.a.b`.
    fn path(&mut self) -> Vec<String> {
        let mut path = Vec::new();
        while let Some(rest) = self.rest.strip_prefix('.') {
            let end = rest.find(|c| !is_name_part(c)).unwrap_or(rest.len());
            if end == 0 {
                break;
            }
            path.push(rest[..end].to_owned());
            self.rest = &rest[end..];
        }
        path
    }

    fn name(&mut self) -> &str {
        let end = self
            .rest
            .find(|c| !is_name_part(c))
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name
    }

    fn number(&mut self) -> Outcome<Term> {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '+' | '.' | '_'))
            .unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        if let Some(integer) = integer(text) {
            return Ok(Term::Literal(integer.into()));
        }
        // A float in hexadecimal, an imaginary or a huge number.
        let digits = text.trim_start_matches(['-', '+']);
        if digits.starts_with(|c: char| c.is_ascii_digit()) && digits.ends_with('i')
            || digits.contains(['p', 'P', '_'])
            || !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
        {
            return Err(unread_because(format!(
                "the number `{text}` is not evaluated"
            )));
        }
        let is_float = text
            .chars()
            .all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
        let number = text
            .parse::<f64>()
            .ok()
            .filter(|number| is_float && number.is_finite());
        let number = number.ok_or_else(|| failed(format!("`{text}` is not a number")))?;
        Ok(Term::Literal(number.into()))
    }

    /// Parses a text in double quotes with the escapes of Go.
    fn quoted(&mut self) -> Outcome<String> {
        let mut text = String::new();
        let mut rest = self.rest[1..].chars();
        loop {
            match rest.next() {
                Some('"') => break,
                Some('\\') => {
                    let (character, behind) = escaped(rest.as_str())?;
                    text.push(character);
                    rest = behind.chars();
                }
                None | Some('\n') => return Err(failed("a string is not closed")),
                Some(c) => text.push(c),
            }
        }
        self.rest = rest.as_str();
        Ok(text)
    }
}

/// Parses an escape after its backslash, and returns its character and the text after it.
fn escaped(text: &str) -> Outcome<(char, &str)> {
    let mut rest = text.chars();
    let simple = match rest.next() {
        Some('a') => '\x07',
        Some('b') => '\x08',
        Some('f') => '\x0c',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('v') => '\x0b',
        Some(c @ ('"' | '\\')) => c,
        Some(c @ ('x' | 'u' | 'U' | '0'..='7')) => {
            let (digits, base) = match c {
                'x' => (text.get(1..3), 16),
                'u' => (text.get(1..5), 16),
                'U' => (text.get(1..9), 16),
                _ => (text.get(..3), 8),
            };
            let code =
                digits.and_then(|digits| Some((digits, u32::from_str_radix(digits, base).ok()?)));
            let Some((digits, code)) = code else {
                return Err(failed("a string has an unknown escape"));
            };
            // `\x` and octal escapes are bytes: above 0x7f, a character needs several.
            if !matches!(c, 'u' | 'U') && code > 0x7f {
                return Err(unread_because("a string with bytes is not evaluated"));
            }
            let character = char::from_u32(code);
            let character =
                character.ok_or_else(|| failed("an escape in a string is not a character"))?;
            let start = usize::from(base == 16);
            return Ok((character, &text[start + digits.len()..]));
        }
        _ => return Err(failed("a string has an unknown escape")),
    };
    Ok((simple, rest.as_str()))
}

/// Splits off the variables of `$a := …`, `$a = …` or `$a, $b := …`, and whether they are new.
fn assigned(text: &str) -> Option<(Vec<String>, bool, &str)> {
    let (one, rest) = variable(text)?;
    let (all, rest) = match rest.strip_prefix(',').and_then(variable) {
        Some((other, rest)) => (vec![one, other], rest),
        None => (vec![one], rest),
    };
    match rest.strip_prefix(":=") {
        Some(rest) => Some((all, true, rest)),
        None => Some((all, false, rest.strip_prefix('=')?)),
    }
}

fn variable(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start().strip_prefix('$')?;
    let end = text.find(|c| !is_name_part(c)).unwrap_or(text.len());
    (end > 0).then(|| (text[..end].to_owned(), text[end..].trim_start()))
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
