//! Sources of facts.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The separator between sources on a line.
const BETWEEN: &str = "; ";

/// Where a fact comes from: `path/to/file.go#L12` in the project and at the release that was read, or `owner/name:path`, or an
/// address. At least one.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(inline, with = "SourceList")]
pub struct Sources {
    /// As written, in one line. Only `explain` and the documentation show them.
    written: String,
    read: Option<Arc<ReadProject>>,
}

/// Their description in the schema.
#[derive(JsonSchema)]
#[schemars(inline)]
struct SourceList(
    #[schemars(length(min = 1))]
    #[expect(dead_code, reason = "for the schema")]
    Vec<String>,
);

/// The project and release that was read for a fact.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ReadProject {
    pub(super) project: Arc<str>,
    pub(super) release: Option<Arc<str>>,
}

impl Sources {
    /// Creates a single source.
    pub fn one(source: impl Into<String>) -> Self {
        Self {
            written: source.into(),
            read: None,
        }
    }

    /// Sets the project in which they are.
    pub(super) fn set_project(&mut self, read: &Arc<ReadProject>) {
        self.read = Some(Arc::clone(read));
    }
}

impl fmt::Display for Sources {
    /// Writes the sources on one line, each with its repository and release.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, source) in self.written.split(BETWEEN).enumerate() {
            if at > 0 {
                f.write_str(BETWEEN)?;
            }
            let path = source.split_once("#L").map(|(path, _)| path);
            if let Some(read) = &self.read
                && path.is_some_and(|path| !path.contains(':'))
            {
                let release = read.release.as_deref().unwrap_or_default();
                write!(f, "{}@{release}:", read.project)?;
            }
            f.write_str(source)?;
        }
        Ok(())
    }
}

impl Serialize for Sources {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.written.split(BETWEEN))
    }
}

impl<'de> Deserialize<'de> for Sources {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Lines)
    }
}

/// Reads a list of texts into one line.
struct Lines;

impl<'de> Visitor<'de> for Lines {
    type Value = Sources;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Sources, A::Error> {
        let mut written = String::new();
        while list.next_element_seed(Line(&mut written))?.is_some() {}
        if written.is_empty() {
            return Err(A::Error::custom(NO_SOURCE));
        }
        Ok(Sources::one(written))
    }
}

/// Appends a text to a line, so that the many sources read at start-up need no string each.
struct Line<'l>(&'l mut String);

impl<'de> DeserializeSeed<'de> for Line<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Line<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, source: &str) -> Result<(), E> {
        if source.trim().is_empty() {
            return Err(E::custom(NO_SOURCE));
        }
        if !self.0.is_empty() {
            self.0.push_str(BETWEEN);
        }
        self.0.push_str(source);
        Ok(())
    }
}

const NO_SOURCE: &str = "expects where the fact comes from, such as `[path/to/file.go#L12]`";
