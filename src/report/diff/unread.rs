//! The inputs that were not read, in words.

use std::collections::{BTreeMap, BTreeSet};

use super::{DiffReport, DiffVerdict};
use crate::changes::{Unread, UnreadWhat};
use crate::text::plain;

/// The maximum number of inputs that a sentence names; further ones are counted.
const NAMED: usize = 3;

/// The maximum number of harmless inputs of one kind and with one reason that are listed separately.
const APART: usize = 3;

/// Inputs that share a line.
pub(super) struct UnreadRow {
    pub(super) subject: String,
    /// The place of the first input.
    pub(super) file: String,
    pub(super) line: usize,
    /// The number of further places.
    pub(super) more: usize,
    /// The file in base of a single input that the change moves.
    was: Option<String>,
    pub(super) reason: String,
}

/// A property that the inputs of a row share.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Shared<'u> {
    /// They are templates of this chart.
    Chart(&'u str),
    /// They have the same name, such as `chart web`, and reason.
    Subject(&'u str, &'u str),
    /// They are harmless and have the same kind and reason.
    Kind(UnreadWhat, &'u str),
}

impl DiffReport {
    /// Names the inputs that were not read; `None` if there are none, or if no deletion is
    /// predicted, because the headline names them then.
    pub(super) fn not_read(&self) -> Option<String> {
        let deletes = self.summary.verdict == DiffVerdict::Deletes;
        (deletes && !self.unread.is_empty())
            .then(|| format!("Not read: {}", subjects(&self.unread)))
    }

    /// Groups the inputs that were not read into rows: the templates of one chart; the inputs with
    /// one name and reason; or, if more than [`APART`], the harmless inputs of one kind and reason.
    pub(super) fn unread_rows(&self) -> Vec<UnreadRow> {
        let mut alike: BTreeMap<(UnreadWhat, &str), usize> = BTreeMap::new();
        for unread in self.unread.iter().filter(|unread| unread.is_harmless) {
            *alike.entry((unread.what, &unread.reason)).or_default() += 1;
        }
        let mut rows: Vec<Vec<&Unread>> = Vec::new();
        let mut at: BTreeMap<Shared<'_>, usize> = BTreeMap::new();
        for unread in &self.unread {
            let kind = (unread.what, unread.reason.as_str());
            let shared = match chart_of(unread) {
                Some(chart) => Shared::Chart(chart),
                None if unread.is_harmless
                    && alike.get(&kind).is_some_and(|count| *count > APART) =>
                {
                    Shared::Kind(kind.0, kind.1)
                }
                None => Shared::Subject(&unread.subject, &unread.reason),
            };
            let row = *at.entry(shared).or_insert(rows.len());
            if row == rows.len() {
                rows.push(Vec::new());
            }
            rows[row].push(unread);
        }
        rows.iter().map(|row| UnreadRow::new(row)).collect()
    }
}

impl UnreadRow {
    fn new(row: &[&Unread]) -> Self {
        let first = row[0];
        let chart = chart_of(first);
        let subject = match (chart, row) {
            (_, [one]) => one.subject.clone(),
            (Some(chart), _) => format!("{} templates of {chart}", row.len()),
            (None, _) => subjects(row.iter().copied()),
        };
        Self {
            subject,
            file: first.file.clone(),
            line: first.line,
            more: if chart.is_some() { 0 } else { row.len() - 1 },
            was: first.was.clone().filter(|_| row.len() == 1),
            reason: first.reason.clone(),
        }
    }

    /// Returns ` and 2 more` or `, before in old/Chart.yaml`, which follows the place; empty if there is only one place.
    pub(super) fn and_more(&self) -> String {
        match (self.more, &self.was) {
            (0, None) => String::new(),
            (0, Some(was)) => format!(", before in {}", plain::one_line(was)),
            (more, _) => format!(" and {more} more"),
        }
    }
}

/// Returns the folder of the chart that a template belongs to; `None` for other inputs.
fn chart_of(unread: &Unread) -> Option<&str> {
    if unread.what != UnreadWhat::Template {
        return None;
    }
    let file = unread.file.as_str();
    let (chart, _) = file.rsplit_once("/templates/")?;
    Some(chart)
}

/// Names inputs: `chart cilium 1.16.5 → 1.17.0, values of HelmRelease web and 12 more`.
pub(super) fn subjects<'u>(unread: impl IntoIterator<Item = &'u Unread>) -> String {
    let named = unread.into_iter().map(|unread| match chart_of(unread) {
        Some(chart) => format!("templates of {}", plain::one_line(chart)),
        None => match unnamed_kind(&unread.subject) {
            Some(kind) => format!(
                "{} with a placeholder in its name, in {}",
                plain::one_line(kind),
                plain::one_line(&unread.file)
            ),
            None => plain::one_line(&unread.subject),
        },
    });
    let mut seen = BTreeSet::new();
    let mut names: Vec<String> = named.filter(|name| seen.insert(name.clone())).collect();
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let named = names.join(", ");
    if more == 0 {
        named
    } else {
        format!("{named} and {more} more")
    }
}

/// Returns the kind of an object whose name has a placeholder; `None` for other subjects.
fn unnamed_kind(subject: &str) -> Option<&str> {
    let (kind, name) = subject.split_once(' ')?;
    ["${", "{{", "$("]
        .iter()
        .any(|opening| name.contains(opening))
        .then_some(kind)
}
