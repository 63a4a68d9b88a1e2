//! The commented configuration that `init` writes.

use std::collections::{BTreeMap, BTreeSet};

use crate::inventory::{Inventory, Member};

/// Bundles that a starter names at most; a tree with more folders wants one bundle or a glob.
const MAX_BUNDLES: usize = 12;

/// How deep a starter looks for folders that are variants of each other.
const MAX_DEPTH: usize = 4;

/// A configuration for what a tree holds, as reported below `prefix`. It reads.
///
/// What lies in one tree is taken to go to one cluster: one bundle. Folders side by side that write the same object are
/// variants (`dev/`, `prod/`): one bundle per name of a variant, and in each of them all that has no variants.
pub fn starter(inventory: &Inventory, prefix: &str) -> String {
    let mut text = HEAD.to_owned();
    let bundles = bundles(inventory, prefix);
    match bundles.is_empty() || bundles.len() > MAX_BUNDLES {
        true => text.push_str(ONE_BUNDLE),
        false => {
            text.push_str("bundles:\n");
            for (name, folders) in bundles {
                let folders: Vec<_> = folders.iter().map(|folder| quoted(folder)).collect();
                text.push_str(&format!("  {}:\n    paths: [{}]\n", quoted(&name), folders.join(", ")));
            }
            text.push_str(BUNDLE_KEYS);
        }
    }
    text.push_str(REST);
    text
}

/// Paths and keys of objects, by the folder that they lie in.
type Parts<'a> = BTreeMap<String, Vec<(&'a str, String)>>;

/// The folders of every bundle, by its name.
fn bundles(inventory: &Inventory, prefix: &str) -> BTreeMap<String, BTreeSet<String>> {
    let path = |member: &Member| {
        let path = inventory.sources.file(member.file).path();
        path.strip_prefix(prefix).unwrap_or(path)
    };
    let all: Vec<_> = inventory.members.iter().map(|member| (path(member), member.key.to_string())).collect();
    let mut pending = match parts("", all) {
        Some(top) => variants_of(top),
        None => return BTreeMap::from([("all".to_owned(), BTreeSet::from([".".to_owned()]))]),
    };
    let mut shared = BTreeSet::new();
    let mut variants: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    while let Some(Part { folder, objects, variant }) = pending.pop() {
        let depth = folder.matches('/').count() + 1;
        let below = parts(&format!("{folder}/"), objects).filter(|_| depth < MAX_DEPTH).map(variants_of);
        match below.filter(|parts| parts.iter().any(|part| part.variant)) {
            Some(parts) => pending.extend(parts),
            None if variant => {
                let name = folder.rsplit('/').next().unwrap_or(&folder).to_owned();
                variants.entry(name).or_default().insert(folder);
            }
            None => {
                shared.insert(folder);
            }
        }
    }
    if variants.is_empty() && !shared.is_empty() {
        return BTreeMap::from([("all".to_owned(), shared)]);
    }
    variants.values_mut().for_each(|folders| folders.extend(shared.iter().cloned()));
    variants
}

/// A folder with its objects, and whether one beside it writes one of them too.
struct Part<'a> {
    folder: String,
    objects: Vec<(&'a str, String)>,
    variant: bool,
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

fn variants_of(parts: Parts<'_>) -> Vec<Part<'_>> {
    let mut writers: BTreeMap<String, usize> = BTreeMap::new();
    for objects in parts.values() {
        let keys: BTreeSet<_> = objects.iter().map(|(_, key)| key).collect();
        for key in keys {
            *writers.entry(key.clone()).or_default() += 1;
        }
    }
    let parts = parts.into_iter().map(|(folder, objects)| {
        let variant = objects.iter().any(|(_, key)| writers.get(key).is_some_and(|&writers| writers > 1));
        Part { folder, objects, variant }
    });
    parts.collect()
}

/// A text as YAML, quoted unless it is a plain word.
fn quoted(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null"
        );
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

// A `\` at the end of a line would take the indentation of the next one away.
const BUNDLE_KEYS: &str = "    # exclude: ['**/tests/**']
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
