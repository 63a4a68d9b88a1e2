//! Typed access to the values of a file that users write for ownerlint; every mistake has its place.

use super::Mistake;
use super::read::place_of;
use crate::text::{SourceFile, Span, glob, near};
use crate::yaml::{self, Content, Entry, Kind, ProblemKind, Tree, Value};

/// Parses the only document of a file; `None` if the file is empty.
///
/// # Errors
/// There is a second document, a duplicate key, or text that is not YAML.
pub(crate) fn tree_of(file: &SourceFile) -> Result<Option<Tree>, Mistake> {
    let documents = yaml::read(file.shared_text())
        .into_iter()
        .filter(|document| !matches!(document.content, Content::Empty));
    let documents: Vec<_> = documents.collect();
    if let Some(second) = documents.get(1) {
        let span = Span::new(second.span.start, second.span.start + 3);
        let mistake = Mistake::at(file, span, "has more than one document");
        return Err(mistake.help("keep one of them in this file"));
    }
    let Some(document) = documents.into_iter().next() else {
        return Ok(None);
    };
    for problem in &document.problems {
        if let ProblemKind::DuplicateKey { key } = &problem.kind {
            let mistake = Mistake::at(
                file,
                problem.span,
                format!("contains the key `{key}` twice"),
            );
            return Err(mistake.label("the second one"));
        }
    }
    match document.content {
        Content::Value(tree) => Ok(Some(tree)),
        Content::Unreadable(error) => {
            Err(
                Mistake::at(file, error.span, format!("is not YAML: {}", error.message))
                    .help(error.help()),
            )
        }
        Content::Empty => Ok(None),
    }
}

/// Access to the values of one file.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a> {
    pub(crate) file: &'a SourceFile,
}

impl<'a> Values<'a> {
    pub(crate) fn mistake(self, span: Span, message: impl Into<String>) -> Mistake {
        Mistake::at(self.file, span, message)
    }

    /// Returns the entries of a mapping, if all of its keys are known. Null is an empty mapping.
    pub(crate) fn fields(
        self,
        value: Value<'a>,
        what: &str,
        known: &[&str],
    ) -> Result<Vec<Entry<'a>>, Mistake> {
        let entries = self.mapping(value, what)?;
        for entry in &entries {
            let key = entry.key;
            if !known.contains(&key) {
                let what = format!("key `{key}` in {what}");
                let mistake = self.unknown(entry.key_span, &what, key, known);
                return Err(match (place_of(key, known), near::nearest(key, known)) {
                    (Some(place), Some(near)) => {
                        mistake.help(format!("{place}; or did you mean `{near}`?"))
                    }
                    (Some(place), None) => mistake.help(place),
                    (None, _) => mistake,
                });
            }
        }
        Ok(entries)
    }

    /// Returns the entries of a mapping. Null is an empty mapping.
    pub(crate) fn mapping(self, value: Value<'a>, what: &str) -> Result<Vec<Entry<'a>>, Mistake> {
        if value.is_map() || value.is_null() {
            Ok(value.entries().collect())
        } else {
            Err(self.expects(value, &format!("a mapping for {what}")))
        }
    }

    /// Creates a mistake about an unknown word, with a suggestion from the known ones.
    pub(crate) fn unknown(self, span: Span, what: &str, word: &str, known: &[&str]) -> Mistake {
        let help = near::did_you_mean(word, known, || {
            format!("expected one of: {}", known.join(", "))
        });
        self.mistake(span, format!("has an unknown {what}"))
            .label("not known")
            .help(help)
    }

    /// Creates a mistake about a value of the wrong type.
    fn expects(self, value: Value<'_>, expected: &str) -> Mistake {
        let span = self.file.first_line(value.span());
        self.mistake(span, format!("expects {expected}"))
    }

    /// Returns a text, which must not be empty.
    pub(crate) fn string(self, entry: Entry<'a>) -> Result<&'a str, Mistake> {
        let text = entry.value.as_str().filter(|text| !text.trim().is_empty());
        text.ok_or_else(|| self.expects(entry.value, &format!("a string for `{}`", entry.key)))
    }

    /// Returns a list of texts; a single text counts as a list of one.
    pub(crate) fn strings(self, entry: Entry<'a>) -> Result<Vec<String>, Mistake> {
        each(entry, |item| self.string(item).map(str::to_owned))
    }

    /// Returns a list of globs; a single glob counts as a list of one.
    pub(super) fn globs(self, entry: Entry<'a>) -> Result<Vec<String>, Mistake> {
        let globs = self.strings(entry)?;
        for (at, pattern) in globs.iter().enumerate() {
            glob::glob(pattern).map_err(|reason| {
                let value = entry.value.items().nth(at).unwrap_or(entry.value);
                let mistake = self.mistake(value.span(), format!("has a malformed glob: {reason}"));
                mistake.help("`*` matches within a folder, `**` across folders; quote `[` and `{` as `[[]` and `[{]`")
            })?;
        }
        Ok(globs)
    }

    /// Returns a scalar as Kubernetes would compare it: `true` for `yes` without quotes.
    pub(crate) fn scalar(self, entry: Entry<'a>) -> Result<String, Mistake> {
        match entry.value.kind() {
            Kind::Bool(flag) => Ok(flag.to_string()),
            Kind::Int(number) => Ok(number.to_string()),
            Kind::String(text) if !text.trim().is_empty() => Ok(text.to_owned()),
            _ => {
                let expected = format!("a string, a number or a boolean for `{}`", entry.key);
                Err(self.expects(entry.value, &expected))
            }
        }
    }

    /// Returns a list of scalars; a single scalar counts as a list of one.
    pub(crate) fn words(self, entry: Entry<'a>) -> Result<Vec<String>, Mistake> {
        each(entry, |item| self.scalar(item))
    }

    /// Returns the items of a list. Null is an empty list.
    pub(crate) fn items(self, entry: Entry<'a>) -> Result<Vec<Value<'a>>, Mistake> {
        if entry.value.is_seq() || entry.value.is_null() {
            Ok(entry.value.items().collect())
        } else {
            Err(self.expects(entry.value, &format!("a list for `{}`", entry.key)))
        }
    }

    /// Returns a scalar as it is written, without quotes: `1.30` is not read as a number.
    pub(crate) fn written(self, value: Value<'a>) -> &'a str {
        let text = value.as_str();
        text.unwrap_or_else(|| self.file.slice(value.span()))
    }

    /// Returns the value that `words` assigns to the word of an entry.
    pub(crate) fn word<T: Copy>(self, entry: Entry<'a>, words: &[(&str, T)]) -> Result<T, Mistake> {
        let written = self.written(entry.value);
        if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == written) {
            Ok(*meaning)
        } else {
            let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            let what = format!("value `{written}` for `{}`", entry.key);
            Err(self.unknown(entry.value.span(), &what, written, &known))
        }
    }
}

/// Reads each item of a list; a single item counts as a list of one.
pub(super) fn each<'a, T>(
    field: Entry<'a>,
    mut read: impl FnMut(Entry<'a>) -> Result<T, Mistake>,
) -> Result<Vec<T>, Mistake> {
    if !field.value.is_seq() {
        return Ok(vec![read(field)?]);
    }
    let items = field.value.items();
    items.map(|value| read(Entry { value, ..field })).collect()
}

/// Returns the place of a mapping's first key.
pub(super) fn start(value: Value<'_>) -> Span {
    value
        .entries()
        .next()
        .map_or(Span::empty(value.span().start), |entry| entry.key_span)
}
