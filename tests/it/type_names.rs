//! A type's name means one thing in the whole of `src/`: who reads `Entry` need not ask whose.

use std::collections::{BTreeMap, BTreeSet};

use walkdir::WalkDir;

use crate::support::root;

/// Kubernetes' own words, for which manifests and the model each have a type: as it is written, and as it is stored. Add none.
const MORE_THAN_ONCE: &[&str] = &["Object", "OwnerReference"];

/// The name of a type that a line defines; associated types are indented and define none.
fn defined(line: &str) -> Option<&str> {
    let words = line.trim_start().trim_start_matches("pub").trim_start();
    let words = match words.strip_prefix('(') {
        Some(limited) => limited.split_once(") ")?.1,
        None => words,
    };
    let (keyword, name) = words.split_once(' ')?;
    let is_type =
        matches!(keyword, "struct" | "enum" | "trait" | "union") || (line == line.trim_start() && keyword == "type");
    let name = name.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    (is_type && name.starts_with(char::is_uppercase)).then_some(name)
}

#[test]
fn a_type_name_has_one_meaning() {
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for entry in WalkDir::new(root().join("src")).into_iter().map(|entry| entry.expect("our own files")) {
        if entry.path().extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).expect("a file of ours");
        let file = entry.path().strip_prefix(root()).expect("a file of ours").display().to_string();
        for name in text.lines().filter_map(defined) {
            files.entry(name.to_owned()).or_default().insert(file.clone());
        }
    }
    files.retain(|_, files| files.len() > 1);
    let stale: Vec<_> = MORE_THAN_ONCE.iter().filter(|name| !files.contains_key(**name)).collect();
    assert!(stale.is_empty(), "take off the list: {stale:?}");
    files.retain(|name, _| !MORE_THAN_ONCE.contains(&name.as_str()));
    assert!(files.is_empty(), "{files:#?}");
}

#[test]
fn definitions_are_told_from_uses() {
    assert_eq!(defined("pub(super) struct Entry<'a> {"), Some("Entry"));
    assert_eq!(defined("pub enum Fate {"), Some("Fate"));
    assert_eq!(defined("    type Item = u8;"), None);
    assert_eq!(defined("/// A struct Entry"), None);
    assert_eq!(defined("let r#struct = Entry { at };"), None);
}
