//! What the tables say of a kind or a finalizer, for whoever asks what a finding rests on.

use std::sync::Arc;

use super::error::SessionError;
use super::request::Request;
use super::resolve::{configuration, tables_of};
use crate::ownership::Tables;
use crate::ownership::known_finalizers::{Added, Controller, KindPattern, KnownFinalizer};
use crate::ownership::tables::{DataFate, DataKind, Generator, KeepCondition, OwningPolicy};
use crate::report::RowInfo;

/// The tables that count in the current folder.
///
/// # Errors
/// A mistake in the configuration.
pub fn configured_tables() -> Result<Arc<Tables>, SessionError> {
    Ok(tables_of(configuration(&Request::default())?.as_ref()))
}

/// The rows about `word`: a kind (`ExternalSecret.external-secrets.io`, or `externalsecret` if only one group has it), a
/// finalizer, or the name of a row as findings give it.
pub fn rows_about(tables: &Tables, word: &str) -> Vec<RowInfo> {
    let word = word
        .split_once('/')
        .filter(|(table, _)| matches!(*table, "generators" | "data" | "known-finalizers"))
        .map_or(word, |(_, row)| row);
    let (kind, group) = word.split_once('.').unwrap_or((word, ""));
    let named = |text: &str| {
        text == word
            || (group.is_empty()
                && text
                    .split('.')
                    .next()
                    .is_some_and(|kind| kind.eq_ignore_ascii_case(word)))
    };
    let generators: Vec<&Generator> = tables
        .generators
        .iter()
        .filter(|row| named(&row.text))
        .collect();
    // A row about every kind says nothing about this one.
    let of_pattern = tables
        .generators_of(group, kind)
        .filter(|row| is_kind(kind) && row.kinds != KindPattern::Any);
    let generators = if generators.is_empty() {
        of_pattern.collect()
    } else {
        generators
    };
    let data: Vec<&DataKind> = tables.data.iter().filter(|row| named(&row.text)).collect();
    let of_pattern = tables.data_of(group, kind).filter(|_| is_kind(kind));
    let data = if data.is_empty() {
        of_pattern.into_iter().collect()
    } else {
        data
    };
    let finalizers = &tables.finalizers;
    let of_kind = finalizers
        .of_kind(group, kind)
        .filter(|(_, row)| is_kind(kind) && !row.kinds.contains(&KindPattern::Any));
    let by_name = finalizers
        .find(word)
        .into_iter()
        .flat_map(|known| known.controllers.iter().map(move |row| (known, row)));
    let generators = generators.into_iter().map(generator);
    let data = data.into_iter().map(data_kind);
    generators
        .chain(data)
        .chain(
            by_name
                .chain(of_kind)
                .map(|(known, row)| controller(known, row)),
        )
        .collect()
}

/// Whether a word may be a kind: a group's pattern matches whatever stands before the dot.
fn is_kind(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_ascii_alphanumeric())
}

fn generator(row: &Generator) -> RowInfo {
    let names: Vec<_> = row
        .product
        .names
        .iter()
        .map(|name| format!("`{}`", name.as_str()))
        .collect();
    let whose = match &row.product.namespace {
        Some(field) => format!(", in the namespace that `{field}` names"),
        None => String::new(),
    };
    let product = format!(
        "Its controller creates a {} named by {}{whose}.",
        row.product.kind,
        names.join(", ")
    );
    let owns = match &row.owns {
        OwningPolicy::Always => "It is deleted with the object.".to_owned(),
        OwningPolicy::Never => "It is kept when the object is deleted.".to_owned(),
        OwningPolicy::Field {
            field,
            values,
            default,
        } => {
            let default = default
                .as_ref()
                .map_or(String::new(), |default| format!(" (left out: {default})"));
            format!(
                "It is deleted with the object if `{field}` is {}{default}.",
                values.join(" or ")
            )
        }
    };
    told(
        row.name().to_string(),
        vec![product, owns],
        &row.notes,
        row.verified,
        &row.source,
    )
}

fn data_kind(row: &DataKind) -> RowInfo {
    let deleted = match row.default {
        DataFate::Lost => format!("Deleting the object deletes {}.", row.lost),
        DataFate::Kept => format!("Deleting the object keeps {}.", row.lost),
        DataFate::Unknown => format!("Deleting the object may delete {}.", row.lost),
    };
    let condition = |condition: &KeepCondition| {
        let KeepCondition {
            field,
            values,
            negated,
        } = condition;
        let values = values.join(" or ");
        match (negated, row.default) {
            (false, _) => format!("Kept if `{field}` is {values}."),
            (true, DataFate::Kept) => format!("Deleted if `{field}` is {values}."),
            (true, _) => format!("Kept if `{field}` is set, and not to {values}."),
        }
    };
    let says = std::iter::once(deleted)
        .chain(row.keep.iter().map(condition))
        .collect();
    told(
        row.name().to_string(),
        says,
        &row.notes,
        row.verified,
        &row.source,
    )
}

fn controller(known: &KnownFinalizer, row: &Controller) -> RowInfo {
    let mut says = vec![format!(
        "The finalizer `{}` is removed by {}.",
        known.finalizer, row.removed_by
    )];
    says.push(match row.added {
        Added::Runtime => "It adds the finalizer when it sees the object.".to_owned(),
        Added::Written => "The finalizer is meant to be in manifests.".to_owned(),
        Added::Both => {
            "It adds the finalizer when it sees the object; manifests may contain it, too."
                .to_owned()
        }
    });
    if !row.images.is_empty() {
        let images: Vec<_> = row
            .images
            .iter()
            .map(|image| format!("`{}`", image.as_str()))
            .collect();
        let program = row.program.as_ref().map_or_else(String::new, |program| {
            format!(", as the program `{program}`")
        });
        says.push(format!("It runs in {}{program}.", images.join(" or ")));
    }
    told(
        format!("known-finalizers/{}", known.finalizer),
        says,
        &row.notes,
        row.verified,
        &row.source,
    )
}

fn told(row: String, mut says: Vec<String>, notes: &str, verified: bool, source: &str) -> RowInfo {
    if !notes.is_empty() {
        says.push(format!("{}.", notes.trim_end_matches('.')));
    }
    RowInfo {
        row,
        says,
        verified,
        source: source.to_owned(),
    }
}
