//! Real histories: whatever a commit removed is among the changes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{ownerlint, root, skip};

/// The folder with `removals.json` and the clones that it names. Without one the test is skipped; one that
/// `OWNERLINT_HISTORIES` names must be there.
fn histories() -> Option<PathBuf> {
    let found = std::env::var_os("OWNERLINT_HISTORIES").filter(|path| !path.is_empty());
    let found = found.map(|path| Path::new(&path).canonicalize().expect("OWNERLINT_HISTORIES names a folder"));
    let found = found.or_else(|| root().join("../diff-histories").canonicalize().ok());
    if found.is_none() {
        skip("no histories: set OWNERLINT_HISTORIES to a folder with removals.json and the clones");
    }
    found
}

/// A kind with its group, and a name.
type Name = (String, String);

fn name(key: &str) -> Name {
    let mut parts = key.splitn(3, '/');
    let kind = parts.next().unwrap_or_default().to_owned();
    (kind, parts.nth(1).unwrap_or_default().to_owned())
}

/// What a commit removed, renamed or moved, under all names that it had.
fn left(clone: &Path, commit: &str) -> BTreeSet<Name> {
    let mut command = ownerlint();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).current_dir(clone);
    let base = format!("{commit}~");
    command.args(["diff", "--no-config", "-o", "json", "--base-ref", &base, "--head-ref", commit]);
    let output = command.output().expect("it runs");
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{commit}: {error}: {}", String::from_utf8_lossy(&output.stderr)));
    let changes = document["changes"].as_array().expect("a list").iter();
    let changes = changes.filter(|change| ["removed", "renamed", "moved"].iter().any(|word| change["change"] == *word));
    let keys = changes.flat_map(|change| ["key", "written", "was"].map(|field| change[field].as_str().map(name)));
    keys.flatten().collect()
}

/// Whether the file of a commit contains the object: as text, so that this does not depend on how we read it.
fn stands_in(clone: &Path, commit: &str, file: &str, kind: &str, name: &str) -> bool {
    let output = Command::new("git").current_dir(clone).args(["show", &format!("{commit}:{file}")]).output();
    let text = String::from_utf8(output.expect("git runs").stdout).unwrap_or_default();
    let mut documents = text.split("\n---");
    let line = |document: &str, wanted: String| document.lines().any(|line| line.trim() == wanted);
    documents.any(|document| line(document, format!("kind: {kind}")) && line(document, format!("name: {name}")))
}

/// The one reason why an object of the list is not among the changes: whoever made the list overlooked that the commit left it
/// where it was. That is checked for each of them.
#[test]
fn whatever_a_commit_of_a_real_history_removed_is_among_the_changes() {
    let Some(histories) = histories() else { return };
    let removals = std::fs::read_to_string(histories.join("removals.json")).expect("removals.json");
    let removals: Vec<Value> = serde_json::from_str(&removals).expect("a list");
    let (mut objects, mut kept, mut missing) = (0, 0, Vec::new());
    for removal in &removals {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (clone, commit) = (histories.join(text(&removal["history"])), text(&removal["commit"]));
        let left = left(&clone, &commit);
        for gone in removal["gone"].as_array().expect("a list") {
            objects += 1;
            let (kind, group) = (text(&gone["kind"]), text(&gone["group"]));
            let full = if group.is_empty() { kind.clone() } else { format!("{kind}.{group}") };
            let (name, file) = (text(&gone["name"]), text(&gone["file"]));
            if left.contains(&(full.clone(), name.clone())) {
                continue;
            }
            match stands_in(&clone, &commit, &file, &kind, &name) {
                true => kept += 1,
                false => missing.push(format!("{commit} {full} {name} in {file}")),
            }
        }
    }
    println!("{objects} objects of {} commits; {kept} of them still stand where they stood", removals.len());
    assert_eq!(missing, [""; 0]);
}
