//! Parsing of targets, as kubectl users type them.

use super::targets::TargetError;
use crate::inventory::STDIN;
use crate::kube::{Namespace, ObjectKey};
use crate::text::glob;

/// One target, parsed.
pub(super) struct Wanted<'w> {
    pub(super) kind: &'w str,
    /// The namespace, if the target is a full key.
    pub(super) namespace: Option<&'w str>,
    pub(super) name: &'w str,
}

impl Wanted<'_> {
    /// Whether the target may be in `namespace`. A target without a namespace is looked up in `default`, if it is
    /// given.
    pub(super) fn is_in(&self, namespace: &Namespace, default: Option<&str>) -> bool {
        match self.namespace {
            Some(written) => *namespace == Namespace::from(written),
            // kubectl ignores the namespace for a cluster-scoped kind [CLI-5].
            None => {
                matches!(namespace, Namespace::None | Namespace::Unwritten)
                    || default.is_none_or(|name| namespace.name() == Some(name))
            }
        }
    }

    /// Whether the target may be the object with `key`, which has unknown parts.
    pub(super) fn may_match(&self, key: &ObjectKey, default: Option<&str>) -> bool {
        let default = default.filter(|_| key.namespace.name().is_some());
        let namespace = match self.namespace.or(default) {
            Some(name) => Namespace::from(name),
            None => key.namespace.clone(),
        };
        let known = ObjectKey::new(key.group_kind(), namespace, self.name);
        let listed = key.to_string();
        listed.contains("{{") && glob::stands_for(&listed, &known.to_string())
    }
}

impl std::fmt::Display for Wanted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.namespace {
            Some(namespace) => write!(f, "{}/{namespace}/{}", self.kind, self.name),
            None => write!(f, "{}/{}", self.kind, self.name),
        }
    }
}

/// Parses `kind/name…`, `kind name…`, or keys.
pub(super) fn parse_words(words: &[String]) -> Result<Vec<Wanted<'_>>, TargetError> {
    match words {
        [kind, names @ ..] if !kind.contains('/') => {
            if names.is_empty() {
                return Err(incomplete(kind));
            }
            let names = names.iter().map(|name| {
                if name.contains('/') || name.is_empty() {
                    return Err(incomplete(kind));
                }
                Ok(Wanted {
                    kind,
                    namespace: None,
                    name,
                })
            });
            names.collect()
        }
        _ => words
            .iter()
            .map(|word| parse(word).ok_or_else(|| incomplete(word)))
            .collect(),
    }
}

pub(super) fn incomplete(word: &str) -> TargetError {
    let help = if is_path(word) {
        format!("read files with `-f`: `ownerlint plan delete KIND/NAME -f {word}`")
    } else {
        HOW_TO_NAME.to_owned()
    };
    TargetError::Incomplete {
        word: word.to_owned(),
        help,
    }
}

/// Returns the error about a file after the targets, as in `cm web web.yaml`; `None` if there is none.
pub(super) fn file_among(words: &[String]) -> Option<TargetError> {
    let first = words.first()?;
    let named = if first.contains('/') { 1 } else { 2 };
    let file = words.iter().skip(named).find(|word| is_path(word))?;
    let targets: Vec<&str> = words
        .iter()
        .filter(|word| *word != file)
        .map(String::as_str)
        .collect();
    Some(TargetError::Incomplete {
        word: file.clone(),
        help: format!(
            "read files with `-f`: `ownerlint plan delete {} -f {file}`",
            targets.join(" ")
        ),
    })
}

pub(super) const HOW_TO_NAME: &str = "write a kind and a name, `deployment/web` or `deployment web`, or a key, `Deployment.apps/shop/web`";

/// Whether a word is meant as a file to read: `plan delete` expects its input after `-f`, as kubectl does.
pub(super) fn is_path(word: &str) -> bool {
    let manifest = [".yaml", ".yml", ".json"]
        .iter()
        .any(|extension| word.to_ascii_lowercase().ends_with(extension));
    manifest || word == STDIN || word.ends_with('/') || std::path::Path::new(word).exists()
}

/// Splits a line into its words and the namespace of `-n NAME`, in any form that kubectl accepts.
pub(super) fn without_namespace(line: &str) -> (Vec<String>, Option<String>) {
    let (mut words, mut namespace) = (Vec::new(), None);
    let mut rest = line.split_whitespace();
    while let Some(word) = rest.next() {
        match word
            .strip_prefix("--namespace")
            .or_else(|| word.strip_prefix("-n"))
        {
            Some("") => namespace = rest.next().map(str::to_owned),
            Some(name) => namespace = Some(name.trim_start_matches('=').to_owned()),
            None => words.push(word.to_owned()),
        }
    }
    (words, namespace)
}

fn parse(word: &str) -> Option<Wanted<'_>> {
    let (kind, rest) = word.split_once('/')?;
    let (namespace, name) = match rest.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, rest),
    };
    (!kind.is_empty() && !name.is_empty()).then_some(Wanted {
        kind,
        namespace,
        name,
    })
}
