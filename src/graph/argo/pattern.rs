//! Patterns of Argo CD: those of git generators, of the paths in their templates, and of the files of a directory.

use std::str::Chars;

use globset::GlobSet;
use regex::Regex;

use crate::kustomize::{folder_of, resolve};
use crate::text::glob::{compiled, glob, with_unknown_parts};

/// A pattern of a git generator or of a path in a template. A pattern that is malformed or too large matches nothing.
#[derive(Debug)]
pub struct GitPattern {
    /// The folder that contains all paths that may match.
    start: String,
    fit: Option<Fit>,
    paths: Paths,
}

/// The form in which a pattern is compiled.
#[derive(Debug)]
enum Fit {
    Glob(GlobSet),
    Regex(Regex),
}

/// The paths that a pattern may match.
#[derive(Debug)]
enum Paths {
    /// Folders without a hidden part in their paths.
    VisibleFolders,
    /// Any folder: a parameter may name a hidden one, too.
    Folders,
    /// Files that match, and all files below this folder.
    Files(String),
}

impl GitPattern {
    /// Reads an entry of `directories`: `*` stays within a name, and so does `**`; hidden folders never match (argo-cd
    /// applicationset/generators/git.go, filterApps; Go path.Match).
    pub fn folders(pattern: &str) -> Self {
        Self {
            start: fixed_folder(pattern).to_owned(),
            fit: regex(folder_expression(pattern)).map(Fit::Regex),
            paths: Paths::VisibleFolders,
        }
    }

    /// Reads an entry of `files`, a pathspec of `git ls-files`: `*` crosses folders, and a folder
    /// means all files below it.
    pub fn files(pattern: &str) -> Self {
        let pattern = pattern.trim_start_matches("./").trim_end_matches('/');
        Self {
            start: fixed_folder(pattern).to_owned(),
            fit: compiled(&escaped(pattern), false).ok().map(Fit::Glob),
            paths: Paths::Files(pattern.to_owned()),
        }
    }

    /// Reads a path with unknown parts, each within one folder name. The path must not be [wholly
    /// unknown](Self::is_wholly_unknown).
    pub fn partly_unknown(path: &str) -> Self {
        let pattern = of_partly_unknown(path);
        Self {
            start: fixed_folder(&pattern).to_owned(),
            fit: glob(&within_names(pattern)).ok().map(Fit::Glob),
            paths: Paths::Folders,
        }
    }

    /// Whether nothing is known of a path with unknown parts, so that it names no folder.
    pub fn is_wholly_unknown(path: &str) -> bool {
        !of_partly_unknown(path).contains(|c: char| c != '*' && c != '/')
    }

    /// Returns the folder that contains all paths that may match.
    pub(super) fn start(&self) -> &str {
        &self.start
    }

    /// Whether the pattern matches a folder or, if it is of `files`, a file.
    pub fn is_match(&self, path: &str) -> bool {
        let fits = match &self.fit {
            Some(Fit::Glob(glob)) => glob.is_match(path),
            Some(Fit::Regex(regex)) => regex.is_match(path),
            None => false,
        };
        match &self.paths {
            Paths::VisibleFolders => {
                let is_hidden = path.split('/').any(|name| name.starts_with('.'));
                fits && !path.is_empty() && !is_hidden
            }
            Paths::Folders => fits && !path.is_empty(),
            Paths::Files(folder) => {
                let below = path.strip_prefix(folder.as_str());
                fits || below.is_some_and(|rest| rest.starts_with('/'))
            }
        }
    }
}

fn of_partly_unknown(path: &str) -> String {
    resolve("", &with_unknown_parts(path, "*"))
}

/// Replaces `**`, which would cross folders, by `*`.
fn within_names(mut pattern: String) -> String {
    while pattern.contains("**") {
        pattern = pattern.replace("**", "*");
    }
    pattern
}

/// Escapes braces, which are literal in these patterns.
fn escaped(pattern: &str) -> String {
    pattern.replace('{', "[{]").replace('}', "[}]")
}

/// Compiles an expression, unless it is too large.
fn regex(expression: Option<String>) -> Option<Regex> {
    Regex::new(&expression?).ok()
}

/// Returns the regular expression of a pattern of Go's path.Match; `None` if the pattern is malformed. Only a negated
/// class matches a slash.
fn folder_expression(pattern: &str) -> Option<String> {
    let mut expression = String::from(r"(?s)\A");
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' => expression.push_str("[^/]*"),
            '?' => expression.push_str("[^/]"),
            '[' => expression.push_str(&folder_class(&mut chars)?),
            '\\' => expression.push_str(&literal(chars.next()?)),
            c => expression.push_str(&literal(c)),
        }
    }
    Some(expression + r"\z")
}

/// Reads the rest of a class of Go's path.Match after its `[`. A range whose first character comes
/// after its last one, such as `b-a`, contains nothing.
fn folder_class(chars: &mut Chars<'_>) -> Option<String> {
    let is_negated = chars.as_str().starts_with('^');
    if is_negated {
        chars.next();
    }
    let mut found = String::new();
    let mut is_empty = true;
    while is_empty || !chars.as_str().starts_with(']') {
        is_empty = false;
        let first = char_of_class(chars)?;
        let mut last = first;
        if chars.as_str().starts_with('-') {
            chars.next();
            last = char_of_class(chars)?;
        }
        if first <= last {
            found.push_str(&format!("{}-{}", literal(first), literal(last)));
        }
    }
    chars.next();
    Some(match (found.is_empty(), is_negated) {
        (true, true) => ".".to_owned(),
        (true, false) => "[a&&b]".to_owned(),
        (false, true) => format!("[^{found}]"),
        (false, false) => format!("[{found}]"),
    })
}

/// Reads a character of a class of Go's path.Match.
fn char_of_class(chars: &mut Chars<'_>) -> Option<char> {
    match chars.next()? {
        '-' | ']' => None,
        '\\' => chars.next(),
        c => Some(c),
    }
}

/// A pattern of `directory.include` or `exclude`, for paths below the folder of the source. A pattern that is malformed or
/// too large matches nothing (argo-cd util/glob/glob.go).
pub(super) struct FilePattern(Option<Regex>);

impl FilePattern {
    /// Reads a pattern as github.com/gobwas/glob v1.1.0 does without separators: `*` and `?` match
    /// slashes, too, and `**` is the same as `*`.
    pub(super) fn new(pattern: &str) -> Self {
        let expression = expression(pattern);
        Self(regex(expression))
    }

    /// Whether the pattern matches a path.
    pub(super) fn is_match(&self, path: &str) -> bool {
        self.0.as_ref().is_some_and(|regex| regex.is_match(path))
    }
}

/// Returns the regular expression of a [`FilePattern`]; `None` if the pattern is malformed.
fn expression(pattern: &str) -> Option<String> {
    let mut expression = String::from(r"(?s)\A");
    let mut open_braces = 0_usize;
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '*' => expression.push_str(".*"),
            '?' => expression.push('.'),
            '[' => expression.push_str(&class(&mut chars)?),
            '{' => {
                open_braces += 1;
                expression.push_str("(?:");
            }
            ',' if open_braces > 0 => expression.push('|'),
            '}' if open_braces > 0 => {
                open_braces -= 1;
                expression.push(')');
            }
            '\\' => expression.push_str(&literal(chars.next()?)),
            c => expression.push_str(&literal(c)),
        }
    }
    (open_braces == 0).then(|| expression + r"\z")
}

/// Reads the rest of a class after its `[`: an optional `!`, then a range `a-z` or characters.
fn class(chars: &mut Chars<'_>) -> Option<String> {
    let rest = chars.as_str();
    let (negation, members) = match rest.strip_prefix('!') {
        Some(members) => ("^", members),
        None => ("", rest),
    };
    *chars = members.chars();
    let first = chars.next()?;
    if let Some(range) = chars.as_str().strip_prefix('-') {
        *chars = range.chars();
        let last = chars.next().filter(|last| first <= *last)?;
        let is_closed = chars.next()? == ']';
        return is_closed.then(|| format!("[{negation}{}-{}]", literal(first), literal(last)));
    }
    *chars = members.chars();
    let mut found = String::new();
    loop {
        match chars.next()? {
            ']' => break,
            '\\' => found.push_str(&literal(chars.next()?)),
            c => found.push_str(&literal(c)),
        }
    }
    (!found.is_empty()).then(|| format!("[{negation}{found}]"))
}

/// Returns the regular expression of one character, within or outside of a class.
fn literal(c: char) -> String {
    format!("\\x{{{:x}}}", u32::from(c))
}

/// Returns the folder that contains all paths that a pattern may match.
fn fixed_folder(pattern: &str) -> &str {
    let end = pattern
        .find(['*', '?', '[', '\\', '{'])
        .unwrap_or(pattern.len());
    folder_of(&pattern[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with `path.Match` of Go 1.26, for the folders below.
    #[test]
    fn folder_patterns_match_like_in_go() {
        let paths = ["a", "b", "c", "!", "^", "{a}", "-", "a/b"];
        for (pattern, expected) in [
            ("*", &["a", "b", "c", "!", "^", "{a}", "-"][..]),
            ("**", &["a", "b", "c", "!", "^", "{a}", "-"][..]),
            ("?", &["a", "b", "c", "!", "^", "-"][..]),
            ("[a-b]", &["a", "b"][..]),
            ("[^a-b]", &["c", "!", "^", "-"][..]),
            ("[!a]", &["a", "!"][..]),
            ("[b-a]", &[][..]),
            ("[^b-a]", &["a", "b", "c", "!", "^", "-"][..]),
            ("[b-ac]", &["c"][..]),
            ("a[^b]b", &["a/b"][..]),
            ("[\\-]", &["-"][..]),
            ("{a}", &["{a}"][..]),
            ("[]a]", &[][..]),
            ("[a-]", &[][..]),
            ("[-a]", &[][..]),
            ("[a", &[][..]),
            ("a\\", &[][..]),
        ] {
            let read = GitPattern::folders(pattern);
            let found = paths.into_iter().filter(|path| read.is_match(path));
            assert_eq!(found.collect::<Vec<_>>(), expected, "{pattern}");
        }
    }

    /// Compares with `glob.Compile(pattern)` of github.com/gobwas/glob v1.1.0, for the paths below.
    #[test]
    fn file_patterns_match_like_in_argo_cd() {
        let paths = [
            "a.yaml",
            "b.yaml",
            "sub/a.yaml",
            "sub/b.yaml",
            "sub/x/a.yaml",
            "x.yml",
            "^.yaml",
            "-.yaml",
            "*.yaml",
            "{a}",
            "a}",
            "a]",
            "",
        ];
        for (pattern, expected) in [
            (
                "**/*.yaml",
                &["sub/a.yaml", "sub/b.yaml", "sub/x/a.yaml"][..],
            ),
            (
                "sub/*.yaml",
                &["sub/a.yaml", "sub/b.yaml", "sub/x/a.yaml"][..],
            ),
            ("**/x/**", &["sub/x/a.yaml"][..]),
            ("*.{yml,json}", &["x.yml"][..]),
            ("{b.yaml,**/b.yaml}", &["b.yaml", "sub/b.yaml"][..]),
            ("{x,{a,sub/b}}.y*", &["a.yaml", "sub/b.yaml", "x.yml"][..]),
            ("?.yml", &["x.yml"][..]),
            ("sub?a.yaml", &["sub/a.yaml"][..]),
            ("[ab].yaml", &["a.yaml", "b.yaml"][..]),
            ("[!ab].yaml", &["^.yaml", "-.yaml", "*.yaml"][..]),
            ("[^b].yaml", &["b.yaml", "^.yaml"][..]),
            ("[a-c].yaml", &["a.yaml", "b.yaml"][..]),
            ("[!a-c].yaml", &["^.yaml", "-.yaml", "*.yaml"][..]),
            ("[,-^].yaml", &["^.yaml", "-.yaml"][..]),
            ("[b-].yaml", &[][..]),
            ("\\*.yaml", &["*.yaml"][..]),
            ("\\{a\\}", &["{a}"][..]),
            ("a}", &["a}"][..]),
            ("a[\\]]", &["a]"][..]),
            ("{a,}]", &["a]"][..]),
            ("{}", &[""][..]),
            (
                "*a*",
                &[
                    "a.yaml",
                    "b.yaml",
                    "sub/a.yaml",
                    "sub/b.yaml",
                    "sub/x/a.yaml",
                    "^.yaml",
                    "-.yaml",
                    "*.yaml",
                    "{a}",
                    "a}",
                    "a]",
                ][..],
            ),
            ("[a-bx].yaml", &[][..]),
            ("[b-a].yaml", &[][..]),
            ("[]a]", &[][..]),
            ("[a", &[][..]),
            ("{a.yaml", &[][..]),
            ("a.yaml\\", &[][..]),
            ("", &[""][..]),
        ] {
            let pattern_read = FilePattern::new(pattern);
            let found = paths.into_iter().filter(|path| pattern_read.is_match(path));
            assert_eq!(found.collect::<Vec<_>>(), expected, "{pattern}");
        }
    }
}
