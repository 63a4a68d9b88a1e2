//! The syntax of variables in the objects of Flux (fluxcd/pkg envsubst/parse).

/// Maximum depth of variables in the arguments of variables.
const NESTED: usize = 10;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Text without variables.
    Text(String),
    /// A variable.
    Variable(Expression),
}

/// A variable, with a function: `${A:-x}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expression {
    /// The expression as it is written.
    pub(super) written: String,
    /// The name of the variable.
    pub(super) name: String,
    /// The function: `:-`, `//`; empty without one.
    pub(super) function: String,
    /// Its arguments.
    pub(super) arguments: Vec<Part>,
}

/// The escape sequences of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Escapes {
    None,
    /// `$$`.
    Dollar,
    /// `$$`, `\/` and `\\`.
    All,
}

/// Splits a text at its variables.
///
/// # Errors
/// Returns an error for an invalid variable.
pub(super) fn parse(text: &str) -> Result<Vec<Part>, String> {
    let mut scanner = Scanner { text, at: 0 };
    let mut parts = Vec::new();
    while !scanner.rest().is_empty() {
        parts.push(scanner.part(|_, _| true, Escapes::Dollar, 0)?);
    }
    Ok(parts)
}

/// A position in a text.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Reads a variable, or the text before the next one.
    fn part(
        &mut self,
        accepts: fn(char, usize) -> bool,
        escapes: Escapes,
        depth: usize,
    ) -> Result<Part, String> {
        if self.rest().starts_with("${") {
            return self.expression(depth).map(Part::Variable);
        }
        let text = self.token(accepts, escapes, true);
        text.map(Part::Text).ok_or_else(|| self.invalid(self.at))
    }

    /// Reads at least one character. `accepts` gets it and the length of the token with it.
    fn token(
        &mut self,
        accepts: fn(char, usize) -> bool,
        escapes: Escapes,
        ends_at_variables: bool,
    ) -> Option<String> {
        let mut token = String::new();
        while let Some(c) = self.peek() {
            let rest = self.rest();
            if ends_at_variables && rest.starts_with("${") {
                break;
            }
            let is_escaped = escapes != Escapes::None && rest.starts_with("$$")
                || escapes == Escapes::All && (rest.starts_with("\\/") || rest.starts_with("\\\\"));
            if is_escaped {
                token.push_str(&rest[1..2]);
                self.at += 2;
                continue;
            }
            if !accepts(c, token.len() + c.len_utf8()) {
                break;
            }
            token.push(c);
            self.at += c.len_utf8();
        }
        (!token.is_empty()).then_some(token)
    }

    /// Reads at least one character, without interpreting escapes and variables.
    fn word(&mut self, accepts: fn(char, usize) -> bool, start: usize) -> Result<String, String> {
        let word = self.token(accepts, Escapes::None, false);
        word.ok_or_else(|| self.invalid(start))
    }

    /// Reads a variable.
    fn expression(&mut self, depth: usize) -> Result<Expression, String> {
        let start = self.at;
        if depth > NESTED {
            return Err(self.invalid(start));
        }
        self.at += 2;
        if self.peek() == Some('#') {
            let function = self.word(is_one_hash, start)?;
            let name = self.word(is_of_name, start)?;
            return self.closed(start, name, function, Vec::new());
        }
        let name = self.word(is_of_name, start)?;
        let mut next = self.rest().chars();
        let (function, arguments) = match (next.next(), next.next()) {
            (Some(':'), Some('=' | '-' | '?' | '+')) => {
                self.default_of(is_of_default, start, depth)?
            }
            (Some('='), _) => self.default_of(is_one_equal, start, depth)?,
            (Some(':'), _) => self.substring(start, depth)?,
            (Some(',' | '^'), _) => (self.word(is_of_case, start)?, Vec::new()),
            (Some('/'), _) => self.replacement(start, depth)?,
            (Some('#'), _) => self.removal(is_of_prefix, start, depth)?,
            (Some('%'), _) => self.removal(is_of_suffix, start, depth)?,
            _ => (String::new(), Vec::new()),
        };
        self.closed(start, name, function, arguments)
    }

    /// Reads the closing brace of the variable that begins at `start`.
    fn closed(
        &mut self,
        start: usize,
        name: String,
        function: String,
        arguments: Vec<Part>,
    ) -> Result<Expression, String> {
        if self.peek() != Some('}') {
            return Err(self.invalid(start));
        }
        self.at += 1;
        Ok(Expression {
            written: self.text[start..self.at].to_owned(),
            name,
            function,
            arguments,
        })
    }

    /// Reads a function with a default, such as `:-x`.
    fn default_of(
        &mut self,
        accepts: fn(char, usize) -> bool,
        start: usize,
        depth: usize,
    ) -> Result<(String, Vec<Part>), String> {
        let function = self.word(accepts, start)?;
        let mut arguments = Vec::new();
        while self.peek().is_some_and(|c| c != '}') {
            arguments.push(self.part(is_not_closing, Escapes::None, depth + 1)?);
        }
        Ok((function, arguments))
    }

    /// Reads `:offset` or `:offset:length`.
    fn substring(&mut self, start: usize, depth: usize) -> Result<(String, Vec<Part>), String> {
        let function = self.word(is_one_colon, start)?;
        let mut arguments = vec![self.part(is_of_offset, Escapes::None, depth + 1)?];
        if self.peek() != Some('}') {
            self.word(|c, _| c == ':', start)?;
            arguments.push(self.part(is_not_closing, Escapes::None, depth + 1)?);
        }
        Ok((function, arguments))
    }

    /// Reads a removal, such as `#pattern`.
    fn removal(
        &mut self,
        accepts: fn(char, usize) -> bool,
        start: usize,
        depth: usize,
    ) -> Result<(String, Vec<Part>), String> {
        let function = self.word(accepts, start)?;
        let pattern = self.part(is_not_closing, Escapes::None, depth + 1)?;
        Ok((function, vec![pattern]))
    }

    /// Reads a replacement, such as `/old/new`.
    fn replacement(&mut self, start: usize, depth: usize) -> Result<(String, Vec<Part>), String> {
        let function = self.word(is_of_replacement, start)?;
        let mut arguments = vec![self.part(|c, _| c != '/', Escapes::All, depth + 1)?];
        self.word(|c, _| c == '/', start)?;
        if self.peek() != Some('}') {
            arguments.push(self.part(is_not_closing, Escapes::All, depth + 1)?);
        }
        Ok((function, arguments))
    }

    /// Returns the error for the invalid variable that begins at `start`.
    fn invalid(&self, start: usize) -> String {
        let rest = &self.text[start..];
        match rest.find('}') {
            Some(end) => format!("`{}` is not a valid variable", &rest[..=end]),
            None => "a variable is not closed".to_owned(),
        }
    }
}

fn is_of_name(c: char, _: usize) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_not_closing(c: char, _: usize) -> bool {
    c != '}'
}

fn is_of_offset(c: char, _: usize) -> bool {
    c != ':' && c != '}'
}

fn is_one_hash(c: char, length: usize) -> bool {
    c == '#' && length == 1
}

fn is_one_equal(c: char, length: usize) -> bool {
    c == '=' && length == 1
}

fn is_one_colon(c: char, length: usize) -> bool {
    c == ':' && length == 1
}

fn is_of_default(c: char, length: usize) -> bool {
    length == 1 && c == ':' || length == 2 && matches!(c, '=' | '-' | '?' | '+')
}

fn is_of_case(c: char, length: usize) -> bool {
    matches!(c, ',' | '^') && length < 3
}

fn is_of_prefix(c: char, length: usize) -> bool {
    c == '#' && length < 3
}

fn is_of_suffix(c: char, length: usize) -> bool {
    c == '%' && length < 3
}

fn is_of_replacement(c: char, length: usize) -> bool {
    length == 1 && c == '/' || length == 2 && matches!(c, '/' | '#' | '%')
}
