//! How rules name objects, references and places, so that all messages speak alike.

use crate::inventory::{Member, Scope};
use crate::manifest::OwnerReference;
use crate::text::Span;

/// Where to point when a reference as a whole is meant: the kind or name it gives, else whatever field it has, else the
/// entry, which then is `null` or `{}`.
pub(super) fn place(reference: &OwnerReference) -> Span {
    let texts = [&reference.kind, &reference.name, &reference.api_version, &reference.uid];
    let flags = [&reference.controller, &reference.block_owner_deletion];
    let text = texts.into_iter().flatten().map(|text| text.span).next();
    let flag = || flags.into_iter().flatten().map(|flag| flag.key_span).next();
    let unknown = || reference.unknown.first().map(|unknown| unknown.span);
    text.or_else(flag).or_else(unknown).unwrap_or(reference.span)
}

/// The path of the entry: `metadata.ownerReferences[0]`.
pub(super) fn field(reference: &OwnerReference) -> String {
    format!("metadata.ownerReferences[{}]", reference.index)
}

/// What tells one reference of an object from another.
pub(super) fn target(reference: &OwnerReference) -> String {
    format!("{}/{}/{}", reference.api_version(), reference.kind(), reference.name())
}

/// An object in a sentence: ``CSIDriver `rook` ``.
pub(super) fn named(member: &Member) -> String {
    match member.key.name.is_empty() {
        true => format!("an unnamed {}", member.object.kind.value),
        false => format!("{} `{}`", member.object.kind.value, member.key.name),
    }
}

/// The owner that a reference names, in a sentence.
pub(super) fn reference_name(reference: &OwnerReference) -> String {
    format!("{} `{}`", reference.kind(), reference.name())
}

/// Where an object lives, in a few words.
pub(super) fn whereabouts(member: &Member) -> String {
    match (member.key.namespace.name(), member.scope()) {
        (Some(namespace), _) => format!("in namespace `{namespace}`"),
        (None, Some(Scope::Cluster)) => "cluster-scoped".to_owned(),
        (None, _) => "its namespace is not written".to_owned(),
    }
}

/// A JSON type in a sentence.
pub(super) fn a_json_type(name: &str) -> String {
    match name {
        "bool" => "a boolean".to_owned(),
        "object" => "a mapping".to_owned(),
        "array" => "a list".to_owned(),
        "null" => "empty".to_owned(),
        other => format!("a {other}"),
    }
}

/// How to write a value of the wanted type.
pub(super) fn help_for_type(expected: &str) -> String {
    match expected {
        "a string" => "quote the value: YAML reads bare numbers, `yes`, `on` and `null` as something else".to_owned(),
        "a boolean" => "write `true` or `false` without quotes".to_owned(),
        other => format!("write {other}"),
    }
}

/// Several words of code in a sentence: `` `a`, `b` and `c` ``.
pub(super) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut quoted: Vec<_> = words.into_iter().map(|word| format!("`{word}`")).collect();
    match quoted.pop() {
        Some(last) if !quoted.is_empty() => format!("{} and {last}", quoted.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// The field that somebody who wrote `name` most likely meant: one that differs in case or in a few letters, or that is
/// written out where `name` is a shorthand. `None` when nothing is close.
pub(super) fn closest(name: &str, fields: &[&'static str]) -> Option<&'static str> {
    let written = name.to_lowercase();
    let limit = (written.chars().count() / 4).clamp(1, 3);
    let distance = |field: &str| {
        let field = field.to_lowercase();
        let singular = written.trim_end_matches('s');
        let shorthand = singular.len() >= 5 && field.starts_with(singular);
        if shorthand { 1 } else { strsim::osa_distance(&written, &field) }
    };
    let close = fields.iter().map(|field| (distance(field), *field)).filter(|(distance, _)| *distance <= limit);
    close.min().map(|(_, field)| field)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::{OBJECT_META_FIELDS, OWNER_REFERENCE_FIELDS};

    #[test]
    fn near_misses_are_recognised_and_other_words_are_not() {
        let meta = |name| closest(name, &OBJECT_META_FIELDS);
        assert_eq!(meta("ownerReference"), Some("ownerReferences"));
        assert_eq!(meta("ownerRefs"), Some("ownerReferences"));
        assert_eq!(meta("owners"), Some("ownerReferences"));
        assert_eq!(meta("finalizer"), Some("finalizers"));
        assert_eq!(meta("lables"), Some("labels"));
        assert_eq!(meta("Annotations"), Some("annotations"));
        for other in
            ["version", "updatedAt", "region", "tags", "title", "description", "repository", "spec", "clusterName"]
        {
            assert_eq!(meta(other), None, "{other}");
        }
        let owner = |name| closest(name, &OWNER_REFERENCE_FIELDS);
        assert_eq!(owner("blockownerdeletion"), Some("blockOwnerDeletion"));
        assert_eq!(owner("isController"), Some("controller"));
        assert_eq!(owner("apiversion"), Some("apiVersion"));
        assert_eq!(owner("namespace"), None);
    }

    #[test]
    fn words_are_listed_as_people_do() {
        assert_eq!(listed([]), "");
        assert_eq!(listed(["a"]), "`a`");
        assert_eq!(listed(["a", "b", "c"]), "`a`, `b` and `c`");
    }
}
