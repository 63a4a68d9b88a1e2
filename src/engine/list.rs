//! Lists the content of the input for `ownerlint list`.

use std::borrow::Cow;
use std::io::{self, Write};

use rayon::prelude::*;

use super::input::Bundle;
use crate::inventory::{InDocument, Inventory, Member, ScopeSource};
use crate::kube::Scope;
use crate::manifest::{OwnerReference, Skip, Spanned};
use crate::report::{
    ListedObject, ListedPlace, ListedReference, ListedSkip, Listing, write_listed,
};
use crate::text::{ColumnUnit, FileId, Span};

/// Maximum number of skipped documents that are listed for one bundle.
pub(super) const MAX_SKIPPED: usize = 100_000;

/// Lists several bundles in the order of their files. A document in two bundles is listed once if both read it as the
/// same object, else once for each.
pub(super) fn list_bundles(bundles: &[Bundle]) -> Listing {
    let mut objects: Vec<_> = bundles
        .iter()
        .flat_map(|bundle| objects(&bundle.inventory))
        .collect();
    if bundles.len() > 1 {
        // Stable: within a document the order is the written one.
        objects.sort_by(|a, b| {
            (&a.file, a.document, a.line, a.column).cmp(&(&b.file, b.document, b.line, b.column))
        });
        objects.dedup();
    }
    Listing {
        objects,
        skipped: skipped_in(bundles),
    }
}

/// Writes [`list_bundles`] as JSON. One bundle is streamed; several are collected first, to remove duplicates.
pub(super) fn write_list(bundles: &[Bundle], out: impl Write) -> io::Result<()> {
    if let [bundle] = bundles {
        write_listed(objects(&bundle.inventory), &skipped_in(bundles), out)
    } else {
        let listing = list_bundles(bundles);
        write_listed(listing.objects.iter(), &listing.skipped, out)
    }
}

/// Lists the skipped documents of bundles in the order of their files, at most [`MAX_SKIPPED`] of each. A document
/// that two bundles skip is listed once.
pub(super) fn skipped_in(bundles: &[Bundle]) -> Vec<ListedSkip> {
    let mut all: Vec<_> = bundles.iter().flat_map(skipped).collect();
    if bundles.len() > 1 {
        all.sort_by(|a, b| (&a.file, a.document, a.line).cmp(&(&b.file, b.document, b.line)));
        all.dedup();
    }
    all
}

/// Lists the objects of an inventory whose metadata decodes. The others are skipped documents: no client can read them.
fn objects(inventory: &Inventory) -> impl Iterator<Item = ListedObject> {
    inventory
        .members
        .iter()
        .filter(|member| member.decodes())
        .map(|member| listed(inventory, member))
}

/// Lists the first [`MAX_SKIPPED`] skipped documents.
fn skipped(bundle: &Bundle) -> Vec<ListedSkip> {
    let inventory = &bundle.inventory;
    let broken = bundle.asked_for().filter(|member| !member.decodes());
    let broken = broken.map(|member| {
        (
            member.file,
            member.object.start(),
            undecodable(bundle, member),
        )
    });
    // Each of the three lists is in the order of the files.
    let asked_for = |skip: &InDocument<Skip>| bundle.is_asked_for(skip.file);
    let by_themselves = inventory.skipped_by_themselves().filter(asked_for);
    let for_neighbours = inventory.skipped_for_neighbours().filter(asked_for);
    let by_themselves = by_themselves.take(MAX_SKIPPED);
    let listed: Vec<_> = by_themselves
        .chain(for_neighbours.take(MAX_SKIPPED))
        .collect();
    let mut skipped: Vec<_> = listed
        .into_par_iter()
        .map(|skip| (skip.file, skip.what.span, listed_skip(bundle, &skip)))
        .collect();
    skipped.extend(broken.take(MAX_SKIPPED));
    skipped.sort_by_key(|(file, span, _)| (*file, *span));
    skipped.truncate(MAX_SKIPPED);
    skipped.into_iter().map(|(_, _, skip)| skip).collect()
}

fn listed(inventory: &Inventory, member: &Member) -> ListedObject {
    let object = &member.object;
    let position = inventory
        .sources
        .file(member.file)
        .position(object.start().start, ColumnUnit::Utf8);
    let (source, from) = match member.resolution.source {
        ScopeSource::BuiltIn => ("built-in", None),
        ScopeSource::Crd(crd) => ("crd", Some(inventory.member(crd))),
        ScopeSource::Config => ("config", None),
        ScopeSource::None => ("none", None),
    };
    ListedObject {
        key: member.key.to_string(),
        api_version: object.api_version().to_owned(),
        kind: object.kind().to_owned(),
        namespace: object.namespace().map(str::to_owned),
        name: object.name().map(Cow::into_owned),
        uid: object.uid().map(str::to_owned),
        scope: match member.scope() {
            Some(Scope::Namespaced) => "Namespaced",
            Some(Scope::Cluster) => "Cluster",
            None => "Unknown",
        },
        scope_source: source,
        scope_from: from.map(|crd| place(inventory, crd.file, crd.object.start())),
        owner_references: object
            .metadata()
            .owner_references()
            .entries
            .iter()
            .map(reference)
            .collect(),
        finalizers: object
            .metadata()
            .finalizer_names()
            .map(str::to_owned)
            .collect(),
        file: path(inventory, member.file),
        document: member.document,
        line: position.line,
        column: position.column,
    }
}

fn reference(reference: &OwnerReference) -> ListedReference {
    ListedReference {
        api_version: text(&reference.api_version),
        kind: text(&reference.kind),
        name: text(&reference.name),
        uid: text(&reference.uid),
        controller: reference.controller.as_ref().map(|flag| flag.value),
        block_owner_deletion: reference
            .block_owner_deletion
            .as_ref()
            .map(|flag| flag.value),
    }
}

fn text(field: &Option<Spanned<String>>) -> Option<String> {
    field.as_ref().map(|field| field.value.clone())
}

fn listed_skip(bundle: &Bundle, skip: &InDocument<Skip>) -> ListedSkip {
    ListedSkip {
        file: bundle.path(skip.file).to_owned(),
        document: skip.document,
        line: line(&bundle.inventory, skip.file, skip.what.span),
        reason: skip.what.reason.as_str(),
        detail: skip.what.reason.to_string(),
    }
}

fn undecodable(bundle: &Bundle, member: &Member) -> ListedSkip {
    let errors = member.object.decode_errors();
    let fields: Vec<_> = errors
        .iter()
        .map(|error| format!("{} is not {}", error.field, error.expected.as_str()))
        .collect();
    ListedSkip {
        file: bundle.path(member.file).to_owned(),
        document: member.document,
        line: line(&bundle.inventory, member.file, member.object.start()),
        reason: "unreadable",
        detail: format!("{} does not decode: {}", member.key, fields.join(", ")),
    }
}

fn place(inventory: &Inventory, file: FileId, span: Span) -> ListedPlace {
    ListedPlace {
        file: path(inventory, file),
        line: line(inventory, file, span),
    }
}

fn path(inventory: &Inventory, file: FileId) -> String {
    inventory.sources.file(file).path().to_owned()
}

fn line(inventory: &Inventory, file: FileId, span: Span) -> usize {
    inventory
        .sources
        .file(file)
        .position(span.start, ColumnUnit::Utf8)
        .line
}
