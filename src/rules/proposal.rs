//! Changes that a rule proposes, and the fixes built from them.
//!
//! A rule names fields and values. This module finds the text to change, and whether it is in a
//! form that can be edited safely. It handles all findings of a rule together, so that the layout
//! of each document is computed once.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::delivery::marks;
use crate::finding::{Applicability, Edit, Finding, Fix};
use crate::inventory::{Inventory, Member};
use crate::text::{FileId, SourceFile, near};
use crate::yaml::Value;
use crate::yaml::edit::{Editor, NewValue, Route, TextEdit, ValueChange};

/// A fix under construction: changes to objects.
#[derive(Clone, Debug)]
pub(super) struct Proposal {
    title: String,
    applicability: Applicability,
    /// The changes, each with the document that it changes.
    changes: Vec<(FileId, u32, ValueChange)>,
}

impl Proposal {
    /// Creates a fix that can be applied without a review.
    pub(super) fn safe(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            applicability: Applicability::Safe,
            changes: Vec::new(),
        }
    }

    /// Creates a fix that the author should review.
    pub(super) fn suggested(title: impl Into<String>) -> Self {
        Self {
            applicability: Applicability::Suggested,
            ..Self::safe(title)
        }
    }

    /// Removes a field or a list item: `metadata.ownerReferences[0]`. Removing the last item removes the list.
    pub(super) fn remove(self, member: &Member, field: &str) -> Self {
        let route = way(member, field);
        self.change(member, ValueChange::Remove(route))
    }

    /// Removes a key of a mapping; the key may contain any characters.
    pub(super) fn remove_key(self, member: &Member, field: &str, key: &str) -> Self {
        let route = way(member, field).key(key);
        self.change(member, ValueChange::Remove(route))
    }

    /// Renames a key of a mapping.
    pub(super) fn rename(self, member: &Member, field: &str, key: &str, to: &str) -> Self {
        let route = way(member, field).key(key);
        self.change(member, ValueChange::Rename(route, to.to_owned()))
    }

    /// Sets a key of a mapping to a text, and adds missing parents.
    pub(super) fn set(self, member: &Member, field: &str, key: &str, text: &str) -> Self {
        let route = way(member, field).key(key);
        self.change(
            member,
            ValueChange::Set(route, NewValue::Text(text.to_owned())),
        )
    }

    /// Adds or replaces an annotation of an object.
    pub(super) fn annotate(self, member: &Member, key: &str, value: &str) -> Self {
        self.set(member, "metadata.annotations", key, value)
    }

    /// Adds an item to the end of a list.
    pub(super) fn append(self, member: &Member, field: &str, value: NewValue) -> Self {
        let route = way(member, field);
        self.change(member, ValueChange::Append(route, value))
    }

    fn change(mut self, member: &Member, change: ValueChange) -> Self {
        self.changes.push((member.file, member.document, change));
        self
    }
}

/// Proposes to add an annotation.
pub(super) fn with_annotation(member: &Member, key: &str, value: &str) -> Proposal {
    Proposal::suggested(format!("add the annotation `{key}: {value}`")).annotate(member, key, value)
}

/// Proposes the annotation `helm.sh/resource-policy: keep`.
pub(super) fn kept_by_helm(member: &Member) -> Proposal {
    with_annotation(member, marks::HELM_RESOURCE_POLICY, "keep")
}

/// Proposes to correct a key of metadata or of an owner reference, if it is a known key with one or two wrong letters.
pub(super) fn spelled_correctly(
    member: &Member,
    field: &str,
    key: &str,
    known: &[&'static str],
) -> Option<Proposal> {
    let meant = near::meant(key, known)?;
    let is_typo = near::is_misspelling(key, meant) && fits(member, field, key, meant);
    let title = format!("rename `{key}` to `{meant}`");
    is_typo.then(|| Proposal::safe(title).rename(member, field, key, meant))
}

/// Whether the value of a key would be valid under the key `meant` of metadata or an owner reference. Never for fields
/// that only the server writes.
fn fits(member: &Member, field: &str, key: &str, meant: &str) -> bool {
    let Some(value) = way(member, field).key(key).follow(member.object.value()) else {
        return false;
    };
    match meant {
        "labels" | "annotations" => {
            value.is_map() && value.entries().all(|entry| entry.value.as_str().is_some())
        }
        "finalizers" => value.is_seq() && value.items().all(is_text),
        "ownerReferences" => value.is_seq() && value.items().all(Value::is_map),
        "controller" | "blockOwnerDeletion" => value.as_bool().is_some(),
        "uid" => field != "metadata" && !field.ends_with(".metadata") && is_text(value),
        "name" | "generateName" | "namespace" | "apiVersion" | "kind" => is_text(value),
        _ => false,
    }
}

fn is_text(value: Value<'_>) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

fn way(member: &Member, field: &str) -> Route {
    Route::along(member.object.value().span().start, field)
}

/// The changes that one proposal makes to one document.
struct ChangeSet {
    /// The position of its finding.
    finding: usize,
    changes: Vec<ValueChange>,
}

/// Builds the fixes of findings from their proposals, for findings in files that are `wanted`.
pub(super) fn fixed(
    inventory: &Inventory,
    found: Vec<(Finding, Option<Proposal>)>,
    wanted: impl Fn(&SourceFile) -> bool,
) -> Vec<Finding> {
    let (mut findings, mut proposals): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    for (finding, proposal) in findings.iter().zip(&mut proposals) {
        proposal.take_if(|_| !wanted(inventory.sources.file(finding.primary.file)));
    }
    // Combine the changes of a proposal to one document: they are made together.
    let mut by_document: BTreeMap<(FileId, u32), Vec<ChangeSet>> = BTreeMap::new();
    for (at, proposal) in proposals.iter().enumerate() {
        for (file, document, change) in proposal.iter().flat_map(|proposal| &proposal.changes) {
            let sets = by_document.entry((*file, *document)).or_default();
            match sets.last_mut().filter(|set| set.finding == at) {
                Some(set) => set.changes.push(change.clone()),
                None => sets.push(ChangeSet {
                    finding: at,
                    changes: vec![change.clone()],
                }),
            }
        }
    }
    let edited: Vec<_> = by_document
        .into_par_iter()
        .map(|((file, document), sets)| {
            let changes: Vec<&[ValueChange]> =
                sets.iter().map(|set| set.changes.as_slice()).collect();
            let edits = edits_in(inventory, file, document, &changes)
                .unwrap_or_else(|| vec![None; sets.len()]);
            sets.iter()
                .zip(edits)
                .map(|(set, edits)| (set.finding, file, edits))
                .collect::<Vec<_>>()
        })
        .collect();
    let mut edits: Vec<Option<Vec<Edit>>> = proposals
        .iter()
        .map(|proposal| proposal.as_ref().map(|_| Vec::new()))
        .collect();
    for (at, file, made) in edited.into_iter().flatten() {
        match (&mut edits[at], made) {
            // A proposal may change several documents.
            (Some(all), Some(made)) => all.extend(made.into_iter().map(|edit| located(file, edit))),
            // A fix is dropped unless all of it can be made.
            (all, _) => *all = None,
        }
    }
    for ((finding, proposal), edits) in findings.iter_mut().zip(proposals).zip(edits) {
        let fix = proposal.zip(edits.filter(|edits| !edits.is_empty()));
        finding.fix = fix.map(|(proposal, edits)| Fix {
            title: proposal.title,
            applicability: proposal.applicability,
            edits,
        });
    }
    findings
}

fn located(file: FileId, edit: TextEdit) -> Edit {
    Edit {
        file,
        span: edit.span,
        replacement: edit.replacement,
        within: edit.within,
    }
}

/// Returns the edits to one document for each set of changes; `None` for a set that cannot be made safely, or for all
/// if the document cannot be edited.
fn edits_in(
    inventory: &Inventory,
    file: FileId,
    document: u32,
    changes: &[&[ValueChange]],
) -> Option<Vec<Option<Vec<TextEdit>>>> {
    let source = inventory.sources.file(file);
    // Without the original text, spans are not places in the file.
    let parsed = inventory
        .document(file, document)
        .filter(|_| source.replaced().is_empty())?;
    let tree = parsed.tree()?;
    let editor = Editor::new(source.text(), parsed.span, parsed.notation, tree)?;
    Some(editor.edits(changes))
}
