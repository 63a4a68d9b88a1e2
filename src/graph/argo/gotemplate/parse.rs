//! The parser of templates.

use serde_json::Value;

use crate::graph::argo::template::TemplateError;

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
        /// Whether it is a `with`: fields within it are then those of the condition's value.
        is_with: bool,
    },
    Range {
        over: Pipeline,
        body: Vec<Part>,
    },
}

/// Commands, each of which gets the value of the one before it.
#[derive(Clone, Debug, Default)]
pub(super) struct Pipeline {
    /// The variable that it sets.
    pub(super) assigns: Option<String>,
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

type Outcome<T> = Result<T, TemplateError>;

/// Parses a template into its parts.
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

fn failed(reason: impl Into<String>) -> TemplateError {
    TemplateError::Failed(reason.into())
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
    let mut trims = false;
    while let Some(at) = rest.find("{{") {
        let after = &rest[at + 2..];
        let end = closing(after).ok_or_else(|| failed("an action does not end"))?;
        let inner = &after[..end];
        let before = if trims {
            rest[..at].trim_start()
        } else {
            &rest[..at]
        };
        let (inner, trims_before) = match inner.strip_prefix("- ") {
            Some(inner) => (inner, true),
            None => (inner, false),
        };
        let (inner, trims_after) = match inner.strip_suffix(" -") {
            Some(inner) => (inner, true),
            None => (inner, false),
        };
        let before = if trims_before {
            before.trim_end()
        } else {
            before
        };
        all.push(Piece::Text(before));
        let is_comment = inner.trim().starts_with("/*");
        if !is_comment {
            all.push(Piece::Action(&rest[at..at + 2 + end + 2], inner.trim()));
        }
        trims = trims_after;
        rest = &after[end + 2..];
    }
    all.push(Piece::Text(if trims { rest.trim_start() } else { rest }));
    Ok(all)
}

/// Finds the end of an action, ignoring braces in quoted texts.
fn closing(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut quote = None;
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (Some(b'"'), b'\\') => at += 1,
            (Some(open), byte) if byte == open => quote = None,
            (None, byte @ (b'"' | b'`')) => quote = Some(byte),
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
            let reason = "more blocks are within each other than are followed";
            return Err(TemplateError::Unread(reason.to_owned()));
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
                    if end != Some("end") {
                        let reason = "`range` has no end, or an `else`, which is not evaluated";
                        return Err(TemplateError::Unread(reason.to_owned()));
                    }
                    parts.push(Part::Range { over, body });
                }
                "define" | "template" | "block" | "break" | "continue" => {
                    return Err(TemplateError::Unread(format!("`{word}` is not evaluated")));
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
        let otherwise = match end.and_then(|end| end.strip_prefix("else")) {
            None if end == Some("end") => Vec::new(),
            None => return Err(failed(format!("`{word}` has no end"))),
            Some(rest) => {
                if let Some((word @ ("if" | "with"), rest)) =
                    rest.trim().split_once(char::is_whitespace)
                {
                    vec![self.condition(word, rest, depth + 1)?]
                } else {
                    let (parts, end) = self.block(depth + 1)?;
                    if end != Some("end") {
                        return Err(failed("`else` has no end"));
                    }
                    parts
                }
            }
        };
        Ok(Part::If {
            condition,
            then,
            otherwise,
            is_with: word == "with",
        })
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
        if let Some((variable, rest)) = self.rest.split_once(":=").or_else(|| assigned(self.rest)) {
            let name = variable.trim().strip_prefix('$');
            if let Some(name) = name.filter(|name| name.chars().all(is_name_part)) {
                pipeline.assigns = Some(name.to_owned());
                self.rest = rest;
            } else if name.is_some() {
                let reason = "two variables are set at once, which is not evaluated";
                return Err(TemplateError::Unread(reason.to_owned()));
            }
        }
        loop {
            let mut terms = Vec::new();
            while let Some(term) = self.term()? {
                terms.push(term);
            }
            if terms.is_empty() {
                return Err(failed("a value is missing"));
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
                    let reason = "more parentheses are within each other than are followed";
                    return Err(TemplateError::Unread(reason.to_owned()));
                }
                self.rest = &self.rest[1..];
                let nested = self.pipeline()?;
                let rest = self.rest.strip_prefix(')');
                self.rest = rest.ok_or_else(|| failed("a parenthesis does not close"))?;
                self.depth -= 1;
                Term::Nested(nested, self.path())
            }
            '"' => Term::Literal(Value::String(self.quoted()?)),
            '`' => {
                let (text, rest) = self.rest[1..]
                    .split_once('`')
                    .ok_or_else(|| failed("a text does not end"))?;
                self.rest = rest;
                Term::Literal(Value::from(text))
            }
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
        let number = text.trim_start_matches('+').parse::<i64>().map(Value::from);
        let number = number.or_else(|_| text.parse::<f64>().map(Value::from));
        let number = number.map_err(|_| failed(format!("`{text}` is no number")))?;
        Ok(Term::Literal(number))
    }

    fn quoted(&mut self) -> Outcome<String> {
        let mut text = String::new();
        let mut rest = self.rest[1..].chars();
        loop {
            match rest.next() {
                Some('"') => break,
                Some('\\') => match rest.next() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some(escaped @ ('"' | '\\' | '\'')) => text.push(escaped),
                    _ => return Err(failed("a text has an escape that is not known")),
                },
                Some(c) => text.push(c),
                None => return Err(failed("a text does not end")),
            }
        }
        self.rest = rest.as_str();
        Ok(text)
    }
}

/// Splits an assignment `$a = …`; Go templates have no `$a == …`.
fn assigned(text: &str) -> Option<(&str, &str)> {
    let (variable, rest) = text.split_once('=')?;
    variable
        .trim_start()
        .starts_with('$')
        .then_some((variable, rest))
}

fn is_name_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
