//! Canonical text of values, and the scalars in them.

use std::hash::BuildHasher;
use std::sync::LazyLock;

use foldhash::quality::RandomState;

use crate::yaml::{Kind, Value};

/// Maximum number of visited values: aliases can expand without bound.
const MAX_VALUES: usize = 100_000;

enum Piece<'v> {
    Value(Value<'v>),
    Text(String),
}

/// Returns the text of a value with its keys sorted; `None` if it is too large.
pub(super) fn canonical(value: Value<'_>) -> Option<String> {
    let mut text = String::new();
    let mut pending = vec![Piece::Value(value)];
    let mut visited = 0;
    while let Some(piece) = pending.pop() {
        let value = match piece {
            Piece::Text(piece) => {
                text.push_str(&piece);
                continue;
            }
            Piece::Value(value) => value,
        };
        visited += 1;
        if visited > MAX_VALUES {
            return None;
        }
        if value.is_map() {
            text.push('{');
            pending.push(Piece::Text("}".to_owned()));
            let mut entries: Vec<_> = value.entries().collect();
            entries.sort_by_key(|entry| std::cmp::Reverse(entry.key));
            for entry in entries {
                pending.push(Piece::Value(entry.value));
                pending.push(Piece::Text(format!("{:?}:", entry.key)));
            }
        } else if value.is_seq() {
            text.push('[');
            pending.push(Piece::Text("]".to_owned()));
            pending.extend(value.items().rev().map(Piece::Value));
        } else {
            text.push_str(&scalar(value));
            text.push(',');
        }
    }
    Some(text)
}

/// Returns the hash of a text. Hashes are comparable within one run.
pub(super) fn digest(text: &str) -> String {
    static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::default);
    format!("{:016x}", SEED.hash_one(text))
}

pub(super) fn scalar(value: Value<'_>) -> String {
    format!("{:?}", value.kind())
}

/// Returns every scalar of a value with the keys that lead to it, without list indices: `.list.elements.name` for
/// `"a"`. `None` if the value is too large.
pub(super) fn leaves(value: Value<'_>) -> Option<Vec<(String, Value<'_>)>> {
    let mut found = Vec::new();
    let mut pending = vec![(String::new(), value)];
    let mut visited = 0;
    while let Some((path, value)) = pending.pop() {
        visited += 1;
        if visited > MAX_VALUES || path.len() > 1_000 {
            return None;
        }
        match value.kind() {
            Kind::Map => pending.extend(
                value
                    .entries()
                    .map(|entry| (format!("{path}.{}", entry.key), entry.value)),
            ),
            Kind::Seq => pending.extend(value.items().map(|item| (path.clone(), item))),
            _ => found.push((path, value)),
        }
    }
    Some(found)
}

/// Returns the scalars of a value except versions: `.list.elements.name=String("a")`. `None` if the value is too large.
pub(super) fn stable(value: Value<'_>) -> Option<Vec<String>> {
    let leaves = leaves(value)?.into_iter();
    let stable = leaves.filter(|(path, _)| !is_version(path));
    Some(
        stable
            .map(|(path, value)| format!("{path}={}", scalar(value)))
            .collect(),
    )
}

/// Whether the last key of a path names a version: changing one removes no objects.
fn is_version(path: &str) -> bool {
    let key = path.rsplit('.').next().unwrap_or(path).to_ascii_lowercase();
    [
        "version", "revision", "tag", "ref", "digest", "commit", "sha",
    ]
    .iter()
    .any(|word| key.ends_with(word))
}
