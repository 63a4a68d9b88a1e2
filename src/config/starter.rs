//! The commented configuration that `init` writes.

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::{Inventory, Member};

/// Bundles that a starter names at most; a tree with more folders wants one bundle or a glob.
const MAX_BUNDLES: usize = 12;

/// How deep a starter looks for folders that are variants of each other.
const MAX_DEPTH: usize = 4;

/// A configuration for what a tree holds, as reported below `prefix`: one bundle per folder with manifests, and one per
/// variant where folders side by side write the same object. It reads.
pub fn starter(inventory: &Inventory, prefix: &str) -> String {
    let mut text = HEAD.to_owned();
    let folders = folders(inventory, prefix);
    match folders.is_empty() || folders.len() > MAX_BUNDLES {
        true => text.push_str(ONE_BUNDLE),
        false => {
            text.push_str("bundles:\n");
            for folder in folders {
                let name = if folder == "." { "all".to_owned() } else { folder.replace('/', "-") };
                text.push_str(&format!("  {}:\n    paths: [{}]\n", quoted(&name), quoted(&folder)));
            }
            text.push_str(BUNDLE_KEYS);
        }
    }
    text.push_str(REST);
    text
}

/// Paths and keys of objects, by the folder that they lie in.
type Parts<'a> = BTreeMap<String, Vec<(&'a str, String)>>;

fn folders(inventory: &Inventory, prefix: &str) -> Vec<String> {
    let path = |member: &Member| {
        let path = inventory.sources.file(member.file).path();
        path.strip_prefix(prefix).unwrap_or(path)
    };
    let all: Vec<_> = inventory.members.iter().map(|member| (path(member), member.key.to_string())).collect();
    if all.is_empty() {
        return Vec::new();
    }
    let Some(top) = parts("", all) else { return vec![".".to_owned()] };
    let mut found = Vec::new();
    let mut pending: Vec<_> = top.into_iter().collect();
    while let Some((folder, objects)) = pending.pop() {
        let deep = folder.matches('/').count() + 1 >= MAX_DEPTH;
        match parts(&format!("{folder}/"), objects).filter(|parts| !deep && are_variants(parts)) {
            Some(parts) => pending.extend(parts),
            None => found.push(folder),
        }
    }
    found.sort();
    found
}

/// The folders directly below `folder`, which is empty or ends in a slash; `None` when an object lies in that one itself.
fn parts<'a>(folder: &str, objects: Vec<(&'a str, String)>) -> Option<Parts<'a>> {
    let mut parts = Parts::new();
    for (path, key) in objects {
        let (below, _) = path.strip_prefix(folder)?.split_once('/')?;
        parts.entry(format!("{folder}{below}")).or_default().push((path, key));
    }
    Some(parts)
}

/// Whether two folders write the same object: `dev/` and `prod/`.
fn are_variants(parts: &Parts<'_>) -> bool {
    let mut seen = BTreeSet::new();
    parts.values().any(|objects| {
        let own: BTreeSet<_> = objects.iter().map(|(_, key)| key).collect();
        let again = own.iter().any(|key| seen.contains(key));
        seen.extend(own);
        again
    })
}

/// A text as YAML, quoted unless it is a plain word.
fn quoted(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        && !matches!(text.to_ascii_lowercase().as_str(), "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null");
    if plain { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

const HEAD: &str = "\
# The configuration of ownerlint. `ownerlint schema config` prints its JSON Schema.
version: 1

# A bundle is what goes to one cluster: objects of one bundle see each other, those of two never do.
# Paths are files, folders or globs, and start at the folder of this file.
";

const ONE_BUNDLE: &str = "\
# bundles:
#   production:
#     paths: [rendered/production]
#     exclude: ['**/tests/**']
#     namespace: shop      # of objects that do not say theirs
#     world: closed        # the bundle is all there is: a missing owner is an error
";

const BUNDLE_KEYS: &str = "\
    # exclude: ['**/tests/**']
    # namespace: shop      # of objects that do not say theirs
    # world: closed        # the bundle is all there is: a missing owner is an error
";

const REST: &str = "
# The release whose built-in kinds count.
# kubernetes-version: \"1.36\"

# Kinds whose CRD is not among the manifests.
# scopes:
#   - group: example.com
#     kind: Widget
#     scope: Namespaced

# The least severity that makes a run fail: error, warning, info or never.
fail-on: error

# Rules: their severity (error, warning, info, off), and objects on which they are silent.
# rules:
#   owner-cross-namespace:
#     severity: error
#     ignore:
#       - object: Deployment.apps/shop/*
#         reason: moved by the operator, see the runbook
#         expires: 2031-12-31
";
