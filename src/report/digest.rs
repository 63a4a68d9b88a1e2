//! The findings as the human and the concise format show them: by descending severity, equal ones
//! merged. Findings below the shown severity are counted by rule.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use foldhash::HashMap;

use super::{Report, Reported};
use crate::finding::{Finding, Identity, Severity};
use crate::text::{ColumnUnit, FileId, plain};

/// The maximum number of rows of a table. The findings of further rows are counted.
const ROWS: usize = 12;
/// The maximum number of places that are listed for equal findings.
const PLACES: usize = 5;

/// The shown and the hidden findings.
pub(super) struct Digest<'r> {
    /// Sorted by descending severity, otherwise in report order.
    pub(super) shown: Vec<DigestEntry<'r>>,
    /// One row per severity and rule of the findings below the shown severity, the worst first.
    pub(super) hidden: Vec<HiddenFindings<'r>>,
}

/// A finding, merged with equal ones, for example those on copies of an object in several overlays.
pub(super) struct DigestEntry<'r> {
    /// The first of them.
    pub(super) reported: &'r Reported,
    /// The files and the 1-based lines of the others, in report order.
    more: Vec<(FileId, usize)>,
}

/// The hidden findings of one rule and severity.
pub(super) struct HiddenFindings<'r> {
    pub(super) severity: Severity,
    /// The rule's id.
    pub(super) rule: &'static str,
    pub(super) summary: &'r str,
    /// The number of findings.
    pub(super) count: usize,
}

/// A row of the table at the end of a long report.
pub(super) struct TableRow<'r> {
    /// The number of findings.
    pub(super) count: usize,
    pub(super) rule: &'static str,
    /// The folder that contains the files of these findings.
    pub(super) folder: &'r str,
}

/// Which equal findings are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folding {
    /// Equal findings in one file: readers who jump from line to line need each file.
    WithinFiles,
    /// Equal findings in all files.
    AcrossFiles,
}

/// The fields that decide whether findings are equal.
#[derive(PartialEq, Eq, Hash)]
struct FindingKey<'r> {
    rule: &'static str,
    severity: Severity,
    file: Option<FileId>,
    field: Option<String>,
    message: &'r str,
}

impl<'r> FindingKey<'r> {
    fn of(finding: &'r Finding, folding: Folding) -> Self {
        Self {
            rule: finding.rule,
            severity: finding.severity,
            file: (folding == Folding::WithinFiles).then_some(finding.primary.file),
            field: Identity::of(finding).field,
            message: &finding.message,
        }
    }
}

impl<'r> Digest<'r> {
    /// Selects the findings of `report` with at least the severity `show`.
    pub(super) fn new(report: &'r Report, show: Severity, folding: Folding) -> Self {
        let mut shown: Vec<DigestEntry<'r>> = Vec::new();
        let mut first: HashMap<FindingKey<'r>, usize> = HashMap::default();
        let mut hidden: BTreeMap<(Reverse<Severity>, &str), usize> = BTreeMap::new();
        for reported in report.worst_first() {
            let finding = &reported.finding;
            if finding.severity < show {
                let rule = (Reverse(finding.severity), finding.rule);
                *hidden.entry(rule).or_default() += 1;
                continue;
            }
            let same = first.entry(FindingKey::of(finding, folding));
            let at = *same.or_insert(shown.len());
            match shown.get_mut(at) {
                Some(entry) => {
                    let line = report.region(&finding.primary, ColumnUnit::Utf8).start.line;
                    entry.more.push((finding.primary.file, line));
                }
                None => shown.push(DigestEntry {
                    reported,
                    more: Vec::new(),
                }),
            }
        }
        let hidden = hidden.into_iter().map(|((severity, rule), count)| {
            let info = report.rules.iter().find(|info| info.id == rule);
            HiddenFindings {
                severity: severity.0,
                rule,
                summary: info.map_or("", |info| info.summary),
                count,
            }
        });
        Self {
            shown,
            hidden: hidden.collect(),
        }
    }

    /// Returns the number of shown findings, counting each of the merged ones.
    pub(super) fn count(&self) -> usize {
        self.shown.iter().map(|entry| 1 + entry.more.len()).sum()
    }

    /// Returns the number of hidden findings by severity: `61 infos`. Empty if all are shown.
    pub(super) fn hidden_in_words(&self) -> String {
        let counts = [Severity::Warning, Severity::Info].map(|severity| {
            let rows = self.hidden.iter();
            let rows = rows.filter(|row| row.severity == severity);
            (rows.map(|row| row.count).sum(), severity.as_str())
        });
        let counts = counts.into_iter().filter(|&(count, _)| count > 0);
        let counts = counts.map(|(count, noun)| plain::count(count, noun));
        counts.collect::<Vec<_>>().join(" and ")
    }

    /// Counts the shown findings by rule and folder, the highest counts first, and the findings that are in none of
    /// these rows. Folders are cut to the greatest depth at which there are at most [`ROWS`] rows.
    pub(super) fn table(&self, report: &'r Report) -> (Vec<TableRow<'r>>, usize) {
        let found = self.shown.iter().flat_map(|entry| {
            let Finding { rule, primary, .. } = &entry.reported.finding;
            let files = entry.more.iter().map(|(file, _)| *file);
            let files = files.chain([primary.file]);
            files.map(|file| (*rule, folder_of(report.path(file))))
        });
        let found: Vec<_> = found.collect();
        let deepest = found.iter().map(|(_, folder)| folder.split('/').count());
        let deepest = deepest.max().unwrap_or_default();
        let mut rows = counted(&found, 1);
        for levels in 2..=deepest.min(ROWS) {
            let deeper = counted(&found, levels);
            if deeper.len() > ROWS {
                break;
            }
            rows = deeper;
        }
        let rows = rows.into_iter();
        let rows = rows.map(|((rule, folder), count)| TableRow {
            count,
            rule,
            folder,
        });
        let mut rows: Vec<_> = rows.collect();
        // The sort is stable: rows with equal counts stay in the order of rule and folder.
        rows.sort_by_key(|row| Reverse(row.count));
        let rest = rows.split_off(rows.len().min(ROWS));
        (rows, rest.iter().map(|row| row.count).sum())
    }
}

impl DigestEntry<'_> {
    /// Returns `264 more in this file, on lines 12, 40, 77, 80, 91 and others`, `2 more in other files: a.yaml:3,
    /// b.yaml:7`, or both; `None` for a finding without equal ones.
    pub(super) fn repetitions(&self, report: &Report) -> Option<String> {
        let own = self.reported.finding.primary.file;
        let (here, elsewhere): (Vec<_>, Vec<_>) =
            self.more.iter().partition(|(file, _)| *file == own);
        let lines = here.iter().map(|(_, line)| line.to_string());
        let noun = if here.len() == 1 { "line" } else { "lines" };
        let here = (!here.is_empty()).then(|| {
            let lines = some(lines.collect());
            format!("{} more in this file, on {noun} {lines}", here.len())
        });
        let places = elsewhere.iter();
        let places =
            places.map(|(file, line)| format!("{}:{line}", plain::one_line(report.path(*file))));
        let noun = if elsewhere.len() == 1 {
            "another file"
        } else {
            "other files"
        };
        let elsewhere = (!elsewhere.is_empty()).then(|| {
            let places = some(places.collect());
            format!("{} more in {noun}: {places}", elsewhere.len())
        });
        let said: Vec<String> = [here, elsewhere].into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

/// Joins the first [`PLACES`] places.
fn some(places: Vec<String>) -> String {
    let shown = places[..places.len().min(PLACES)].join(", ");
    if places.len() > PLACES {
        shown + " and others"
    } else {
        shown
    }
}

/// Counts the findings by rule and by the first `levels` levels of the folder.
fn counted<'r>(
    found: &[(&'static str, &'r str)],
    levels: usize,
) -> BTreeMap<(&'static str, &'r str), usize> {
    let mut rows = BTreeMap::new();
    for (rule, folder) in found {
        *rows.entry((*rule, cut(folder, levels))).or_default() += 1;
    }
    rows
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(".", |(folder, _)| folder)
}

/// Returns the first `levels` parts of a folder.
fn cut(folder: &str, levels: usize) -> &str {
    folder
        .match_indices('/')
        .nth(levels - 1)
        .map_or(folder, |(end, _)| &folder[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_paths_are_truncated_to_the_given_levels() {
        assert_eq!(
            [1, 2, 3, 9].map(|levels| cut("a/b/c", levels)),
            ["a", "a/b", "a/b/c", "a/b/c"]
        );
        assert_eq!(cut("/a/b", 2), "/a");
        assert_eq!(folder_of("x.yaml"), ".");
    }
}
