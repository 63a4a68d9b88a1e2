//! `list`: the objects of the input with their scopes, owners and finalizers.

use std::cell::Cell;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::line;
use crate::text::plain;

/// The maximum width of the key column. A longer key shifts only its own line.
const MAX_KEY: usize = 60;

/// The content of an input: the contract `ownerlint.list/1`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// The objects, in path, document and offset order.
    pub objects: Vec<ListedObject>,
    /// The documents and list items that are not objects.
    pub skipped: Vec<ListedSkip>,
}

/// An object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "object")]
#[non_exhaustive]
pub struct ListedObject {
    /// `Kind[.group]/namespace/name`. The namespace is empty for cluster-scoped kinds and `?` when the manifest leaves it
    /// out; `generateName: x-` gives the name `x-*`.
    pub key: String,
    /// `apiVersion` as written.
    pub api_version: String,
    /// `kind`.
    pub kind: String,
    /// `metadata.namespace` as written.
    pub namespace: Option<String>,
    /// `metadata.name`, or `x-*` for a generated one.
    pub name: Option<String>,
    /// `metadata.uid`.
    pub uid: Option<String>,
    /// The scope of its kind.
    #[schemars(extend("enum" = ["Namespaced", "Cluster", "Unknown"]))]
    pub scope: &'static str,
    /// Where the scope comes from.
    #[schemars(extend("enum" = ["built-in", "crd", "config", "none"]))]
    pub scope_source: &'static str,
    /// The CustomResourceDefinition or the line of the configuration that defines the scope.
    pub scope_from: Option<ListedPlace>,
    /// Owner references as written.
    pub owner_references: Vec<ListedReference>,
    /// Finalizers as written.
    pub finalizers: Vec<String>,
    /// The path given on the command line, joined with the path below it, with forward slashes; `-` for standard input.
    pub file: String,
    /// The document's position in its file, counted from 0, as Kubernetes' YAML parser counts.
    pub document: u32,
    /// The line of the object's first key.
    #[schemars(range(min = 1))]
    pub line: usize,
    /// The column of the object's first key, in bytes of UTF-8.
    #[schemars(range(min = 1))]
    pub column: usize,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "place")]
#[non_exhaustive]
pub struct ListedPlace {
    /// The file.
    pub file: String,
    /// Counted from 1.
    #[schemars(range(min = 1))]
    pub line: usize,
}

/// An owner reference; flags that are not written are left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ownerReference")]
#[non_exhaustive]
pub struct ListedReference {
    /// `apiVersion`.
    pub api_version: Option<String>,
    /// `kind`.
    pub kind: Option<String>,
    /// `name`.
    pub name: Option<String>,
    /// `uid`.
    pub uid: Option<String>,
    /// `controller`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// `blockOwnerDeletion`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
}

/// A document or list item that is not an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "skipped")]
#[non_exhaustive]
pub struct ListedSkip {
    /// The path given on the command line, joined with the path below it, with forward slashes; `-` for standard input.
    pub file: String,
    /// The document's position in its file, counted from 0, as Kubernetes' YAML parser counts.
    pub document: u32,
    /// Counted from 1.
    #[schemars(range(min = 1))]
    pub line: usize,
    /// Why it is not an object.
    #[schemars(extend("enum" = ["not-a-manifest", "template", "empty", "unreadable"]))]
    pub reason: &'static str,
    /// More detail on `reason`.
    pub detail: String,
}

impl ListedSkip {
    /// Whether the document is empty, so that skipping it loses nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.reason == "empty"
    }
}

/// The document of `ownerlint list --output json`. Within a major version, members are only ever added. Missing strings are
/// null, lists are never null, booleans that the manifest omits are omitted.
#[derive(Serialize, JsonSchema)]
#[schemars(bound = "")]
pub(super) struct ListDocument<'a, I: Iterator<Item: Serialize>> {
    #[schemars(extend("const" = "ownerlint.list/1"))]
    schema: &'static str,
    /// Every object; items of a List count as separate objects.
    #[serde(serialize_with = "each")]
    #[schemars(with = "Vec<ListedObject>")]
    objects: Cell<Option<I>>,
    /// Every document and list item that is not an object.
    skipped: &'a [ListedSkip],
}

fn each<S: Serializer>(
    all: &Cell<Option<impl Iterator<Item: Serialize>>>,
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_seq(all.take().into_iter().flatten())
}

/// Writes a listing as JSON, ending in a line break. Each object is converted while it is written, so that they are
/// never all in memory.
///
/// # Errors
/// Returns the errors of `out`.
pub fn write_listed(
    objects: impl Iterator<Item: Serialize>,
    skipped: &[ListedSkip],
    out: impl Write,
) -> io::Result<()> {
    let document = ListDocument {
        schema: "ownerlint.list/1",
        objects: Cell::new(Some(objects)),
        skipped,
    };
    line::write(&document, out)
}

impl Listing {
    /// Returns the listing as JSON, ending in a line break.
    pub fn json(&self) -> String {
        let mut text = Vec::new();
        // Writing to a `Vec` never fails.
        let _ = write_listed(self.objects.iter(), &self.skipped, &mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    /// Returns the listing for people: a line per object, its owners and finalizers below it, and the counts of objects
    /// and of skipped documents.
    pub fn human(&self) -> String {
        let mut text = String::new();
        let keys = self.objects.iter().map(|object| object.key.chars().count());
        let keys = keys.max().unwrap_or_default().min(MAX_KEY);
        for object in &self.objects {
            let ListedObject {
                key,
                scope,
                file,
                line,
                ..
            } = object;
            let key = plain::one_line(key);
            let scope = scope.to_lowercase();
            let place = plain::one_line(&format!("{file}:{line}"));
            text.push_str(&format!("{key:keys$}  {scope:10}  {place}\n"));
            for owner in &object.owner_references {
                let flags = [
                    (owner.controller, " controller"),
                    (owner.block_owner_deletion, " blocking"),
                ];
                let flags = flags.into_iter().filter(|(flag, _)| *flag == Some(true));
                let flags: String = flags.map(|(_, word)| word).collect();
                let [api_version, kind, name] = [&owner.api_version, &owner.kind, &owner.name]
                    .map(|part| part.as_deref().unwrap_or_default());
                let owner = format!("  owned by {kind} {name} ({api_version}){flags}");
                push(&mut text, &owner);
            }
            for finalizer in &object.finalizers {
                push(&mut text, &format!("  held by finalizer {finalizer}"));
            }
        }
        let reasons = ["not-a-manifest", "template", "empty", "unreadable"];
        let skipped = reasons.into_iter().filter_map(|reason| {
            let skipped = self.skipped.iter().filter(|skip| skip.reason == reason);
            let count = skipped.count();
            (count > 0).then(|| format!("{count} {reason}"))
        });
        let skipped: Vec<_> = skipped.collect();
        text.push_str(&format!("\n{}", plain::count(self.objects.len(), "object")));
        if !skipped.is_empty() {
            text.push_str(&format!("; skipped: {}", skipped.join(", ")));
        }
        text.push('\n');
        text
    }
}

/// Appends `line` with its indentation; the rest is made safe to print on one line.
fn push(text: &mut String, line: &str) {
    let indent = line.len() - line.trim_start().len();
    text.push_str(&line[..indent]);
    text.push_str(&plain::one_line(line));
    text.push('\n');
}
