//! Names of objects, references and places, so that all messages use the same words.

use crate::inventory::Member;
use crate::kube::Scope;
use crate::manifest::OwnerReference;
use crate::text::Span;

/// Returns the place to point at for a whole reference: its kind or name, else another field that it has, else the
/// entry, which is then `null` or `{}`.
pub(super) fn place(reference: &OwnerReference) -> Span {
    let texts = [
        &reference.kind,
        &reference.name,
        &reference.api_version,
        &reference.uid,
    ];
    let flags = [&reference.controller, &reference.block_owner_deletion];
    let text = texts.into_iter().flatten().map(|text| text.span).next();
    text.or_else(|| flags.into_iter().flatten().map(|flag| flag.key_span).next())
        .or_else(|| reference.unknown.first().map(|unknown| unknown.span))
        .unwrap_or(reference.span)
}

/// Returns the path of the entry: `metadata.ownerReferences[0]`.
pub(super) fn field(reference: &OwnerReference) -> String {
    format!("metadata.ownerReferences[{}]", reference.index)
}

/// Returns a text that distinguishes the references of an object.
pub(super) fn target(reference: &OwnerReference) -> String {
    format!(
        "{}/{}/{}",
        reference.api_version(),
        reference.kind(),
        reference.name()
    )
}

/// Names an object in a sentence: ``CSIDriver `rook` ``.
pub(super) fn named(member: &Member) -> String {
    if member.key.name.is_empty() {
        format!("an unnamed {}", member.object.kind())
    } else {
        format!("{} `{}`", member.object.kind(), member.key.name)
    }
}

/// Names the owner of a reference in a sentence.
pub(super) fn reference_name(reference: &OwnerReference) -> String {
    format!("{} `{}`", reference.kind(), reference.name())
}

/// Describes the namespace of an object.
pub(super) fn whereabouts(member: &Member) -> String {
    match (member.key.namespace.name(), member.scope()) {
        (Some(namespace), _) => format!("in namespace `{namespace}`"),
        (None, Some(Scope::Cluster)) => "cluster-scoped".to_owned(),
        (None, _) => "without a namespace".to_owned(),
    }
}

/// Names a JSON type in a sentence.
pub(super) fn a_json_type(name: &str) -> String {
    match name {
        "bool" => "a boolean".to_owned(),
        "object" => "a mapping".to_owned(),
        "array" => "a list".to_owned(),
        "null" => "empty".to_owned(),
        other => format!("a {other}"),
    }
}

/// Explains how to write a value of the expected type.
pub(super) fn help_for_type(expected: &str) -> String {
    match expected {
        "a string" => {
            "quote the value: YAML reads unquoted numbers, `yes`, `on` and `null` as other types"
                .to_owned()
        }
        "a boolean" => "write `true` or `false` without quotes".to_owned(),
        other => format!("write {other}"),
    }
}

/// Lists words as code in a sentence: `` `a`, `b` and `c` ``.
pub(super) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let quoted = words.into_iter().map(|word| format!("`{word}`"));
    joined(&quoted.collect::<Vec<_>>())
}

/// Joins `parts` to `a, b and c`.
pub(super) fn joined(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// Whether a key was read as a boolean: Kubernetes' reader does that with an unquoted `n`, `y`, `no` or `on`.
pub(super) fn became_a_boolean(written: &str, key: &str) -> bool {
    matches!(key, "true" | "false")
        && !written.eq_ignore_ascii_case(key)
        && !written.starts_with(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_joined_with_commas_and_a_final_and() {
        assert_eq!(listed([]), "");
        assert_eq!(listed(["a"]), "`a`");
        assert_eq!(listed(["a", "b", "c"]), "`a`, `b` and `c`");
    }
}
