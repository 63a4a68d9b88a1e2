//! `explain`: the rows of the tables about a kind, a finalizer or an operator, in sentences.

use std::sync::Arc;

use super::error::SessionError;
use super::request::Request;
use super::resolve::{configuration, tables_of};
use crate::knowledge::{
    Added, Condition, Controller, DataFate, DataKind, DefinedScope, FinalizerName, Generator,
    KindPattern, KnownFinalizer, KnownFinalizers, NamedOperator, Owned, OwnedKind, Tables, Test,
    operators,
};
use crate::report::RowInfo;
use crate::text::capitalised;

/// Returns the built-in tables with the rows that the configuration of the current folder adds.
///
/// # Errors
/// A mistake in the configuration.
pub fn configured_tables() -> Result<Arc<Tables>, SessionError> {
    Ok(tables_of(configuration(&Request::default())?.as_ref()))
}

/// Returns the rows about `word`: a kind (`ExternalSecret.external-secrets.io`, or `externalsecret` in any group), a
/// finalizer, an operator (`rook`, `rook/rook`), or the name of a row as findings give it. With `only_of`, the rows of
/// a finalizer are only those about objects of that kind.
pub fn rows_about(tables: &Tables, word: &str, only_of: Option<&KindPattern>) -> Vec<RowInfo> {
    let word = word
        .split_once('/')
        .filter(|(table, _)| {
            matches!(
                *table,
                "generators" | "data" | "known-finalizers" | "operators" | "owns"
            )
        })
        .map_or(word, |(_, row)| row);
    let (kind, group) = word.split_once('.').unwrap_or((word, ""));
    let generators = tables.generators.iter();
    let mut generators: Vec<&Generator> = generators
        .filter(|row| is_named(&row.kinds, word))
        .collect();
    if generators.is_empty() && is_kind(kind) {
        // A row about every kind says nothing about this one.
        let of_pattern = tables.generators_of(group, kind);
        generators.extend(of_pattern.filter(|row| row.kinds != KindPattern::Any));
    }
    let data = tables.data.iter();
    let mut data: Vec<&DataKind> = data.filter(|row| is_named(&row.kinds, word)).collect();
    if data.is_empty() && is_kind(kind) {
        data.extend(tables.data_about(group, kind));
    }
    let owns = tables.owns.iter().filter(|row| {
        is_kind(kind) && (row.kind.matches(group, kind) || row.child.matches(group, kind))
            || is_named(&row.kind, word)
    });
    let finalizers = &tables.finalizers;
    let of_kind = finalizers
        .of_kind(group, kind)
        .filter(|(_, row)| is_kind(kind) && !row.kinds.contains(&KindPattern::Any));
    let known = operators().into_iter().filter(|known| {
        known.name.eq_ignore_ascii_case(word)
            || known.operator.project.as_str().eq_ignore_ascii_case(word)
    });
    known
        .map(|known| operator(&known))
        .chain(generators.into_iter().map(generator))
        .chain(owns.map(owned))
        .chain(data.into_iter().map(data_kind))
        .chain(rows_of_finalizer(finalizers, word, only_of))
        .chain(of_kind.map(|(known, row)| controller(known, row)))
        .collect()
}

/// Whether `word` is a pattern as it is written, or its kind without the group.
fn is_named(kinds: &KindPattern, word: &str) -> bool {
    kinds.to_string() == word
        || matches!(kinds, KindPattern::Exact { kind, .. } if kind.eq_ignore_ascii_case(word))
}

/// Returns the rows about a finalizer; with `only_of`, those about objects of that kind.
pub(super) fn rows_of_finalizer(
    finalizers: &KnownFinalizers,
    name: &str,
    only_of: Option<&KindPattern>,
) -> Vec<RowInfo> {
    let Some(known) = finalizers.find(name) else {
        return Vec::new();
    };
    let rows = known.controllers.iter();
    rows.filter(|row| only_of.is_none_or(|kind| row.is_about(kind)))
        .map(|row| controller(known, row))
        .collect()
}

/// Reads `word` as the name of a finalizer, if it looks like one: it has a domain, and does not start with a capital
/// letter as a kind does.
pub fn parse_finalizer(word: &str) -> Option<FinalizerName> {
    let has_domain =
        word.contains(['/', '.']) && !word.starts_with(|c: char| c.is_ascii_uppercase());
    word.parse()
        .ok()
        .filter(|_| has_domain && !word.contains('*'))
}

/// Whether a word can be a kind. A pattern such as `*.example.com` would match any word before the dot.
fn is_kind(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.chars().all(|c| c.is_ascii_alphanumeric())
}

fn operator(known: &NamedOperator) -> RowInfo {
    let NamedOperator { name, operator } = known;
    let read = match &operator.read {
        Some(read) => format!(
            "From the source of {} at {}.",
            operator.project.as_str(),
            read.as_str()
        ),
        None => format!("Its source is {}.", operator.project.as_str()),
    };
    let mut says = vec![read];
    if operator.none {
        says.push("It adds no finalizer to any object.".to_owned());
    }
    for program in &operator.controllers {
        let finalizers = program.finalizers.iter();
        says.push(format!(
            "{} removes {}.",
            capitalised(program.name.as_str()),
            quoted(finalizers.map(|finalizer| finalizer.name.as_str()), ", ")
        ));
    }
    let products = operator.generates.iter();
    let products = products.map(|row| format!("{} for {}", row.product.kind, row.kinds));
    let data = operator.data.iter().map(|row| row.kinds.to_string());
    let cluster = operator.crds.iter();
    let cluster = cluster.filter(|crd| crd.scope == DefinedScope::Cluster);
    let cluster = cluster.map(|crd| crd.kind.to_string());
    let lists: [(&str, Vec<String>); 3] = [
        ("It creates", products.collect()),
        ("Deleting these kinds may lose data:", data.collect()),
        ("Its cluster-scoped kinds:", cluster.collect()),
    ];
    let lists = lists.iter().filter(|(_, kinds)| !kinds.is_empty());
    says.extend(lists.map(|(what, kinds)| format!("{what} {}.", kinds.join(", "))));
    RowInfo {
        row: format!("operators/{name}"),
        says,
        verified: true,
        source: format!("rules/operators/{name}.yaml"),
    }
}

fn generator(row: &Generator) -> RowInfo {
    let names = row.product.names.iter();
    let in_namespace = match &row.product.namespace {
        Some(field) => format!(", in the namespace that `{field}` names"),
        None => String::new(),
    };
    let product = format!(
        "Its controller creates {} {}{in_namespace}.",
        row.product.kind,
        quoted(names.map(|name| name.as_str()), ", ")
    );
    let owns = match &row.owned {
        Owned::Always(true) => "It is deleted with the object.".to_owned(),
        Owned::Always(false) => "It is kept when the object is deleted.".to_owned(),
        Owned::When(condition) => {
            format!("It is deleted with the object if {}.", condition.in_words())
        }
    };
    let mut says = vec![product];
    says.extend(conditions("Only if", &row.when));
    says.push(owns);
    let name = row.name().to_string();
    row_info(name, says, &row.note, row.proven, &row.source)
}

fn owned(row: &OwnedKind) -> RowInfo {
    let how = match &row.owner_field {
        Some(field) => format!("`{field}` of the {} names it", row.child),
        None => "its operator sets the owner reference".to_owned(),
    };
    let says = format!("{} is deleted with {}: {how}.", row.child, row.kind);
    let name = format!("owns/{}", row.kind);
    row_info(name, vec![says], &row.note, row.proven, &row.source)
}

fn data_kind(row: &DataKind) -> RowInfo {
    let lost = row.lost.as_str();
    let deleted = match row.default {
        DataFate::Lost => format!("Deleting the object deletes {lost}."),
        DataFate::Kept => format!("Deleting the object keeps {lost}."),
        DataFate::Unknown => format!("Deleting the object may delete {lost}."),
    };
    let mut says = vec![deleted];
    says.extend(conditions("Only if", &row.when));
    for condition in &row.keep {
        says.push(match (&condition.test, row.default) {
            (Test::IsNot(values), DataFate::Kept) => {
                let values = values.join(" or ");
                format!("Deleted if `{}` is {values}.", condition.field)
            }
            _ => format!("Kept if {}.", condition.in_words()),
        });
    }
    let name = row.name().to_string();
    row_info(name, says, &row.note, row.proven, &row.source)
}

fn quoted<'n>(names: impl Iterator<Item = &'n str>, separator: &str) -> String {
    let quoted: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    quoted.join(separator)
}

/// Joins conditions, all of which have to hold, into a sentence that begins with `start`.
fn conditions(start: &str, conditions: &[Condition]) -> Option<String> {
    let words: Vec<String> = conditions.iter().map(Condition::in_words).collect();
    (!words.is_empty()).then(|| format!("{start} {}.", words.join(" and ")))
}

fn controller(known: &KnownFinalizer, row: &Controller) -> RowInfo {
    let kinds: Vec<String> = row.kinds.iter().map(KindPattern::to_string).collect();
    let kinds = match (row.kinds.as_slice(), kinds.is_empty()) {
        ([KindPattern::Any], _) => " from objects of any kind".to_owned(),
        (_, true) => String::new(),
        (_, false) => format!(" from {}", kinds.join(", ")),
    };
    let mut says = vec![format!(
        "The finalizer `{}` is removed{kinds} by {}.",
        known.finalizer, row.removed_by
    )];
    says.push(match row.added {
        Added::Always => "The controller adds it when it sees the object.".to_owned(),
        Added::Sometimes => "The controller adds it to some objects.".to_owned(),
        Added::Written => "The finalizer is meant to be in manifests.".to_owned(),
        Added::Both => {
            "The controller adds it when it sees the object; manifests may contain it, too."
                .to_owned()
        }
    });
    says.extend(conditions("An object has it only if", &row.when));
    if !row.images.is_empty() {
        let images = row.images.iter();
        let program = row.program.as_ref().map_or_else(String::new, |program| {
            format!(", as the program `{program}`")
        });
        let proven = if row.images_proven {
            ""
        } else {
            ", which the source does not prove"
        };
        says.push(format!(
            "The controller runs in {}{program}{proven}.",
            quoted(images.map(|image| image.as_str()), " or ")
        ));
    }
    let way_out = row.way_out.as_ref();
    says.extend(way_out.map(|way| format!("If the controller is gone: {way}.")));
    let name = format!("known-finalizers/{}", known.finalizer);
    row_info(name, says, &row.note, row.is_proven(), &row.source)
}

fn row_info(
    row: String,
    mut says: Vec<String>,
    note: &str,
    verified: bool,
    source: &impl ToString,
) -> RowInfo {
    if !note.is_empty() {
        says.push(format!("{}.", note.trim_end_matches('.')));
    }
    RowInfo {
        row,
        says,
        verified,
        source: source.to_string(),
    }
}
