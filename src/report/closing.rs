//! The lines after the findings: hidden findings, skipped documents, the next steps. The human format ends with them;
//! for formats that cannot contain them, they go to standard error.

use std::collections::BTreeSet;

use super::digest::{Digest, Folding};
use super::{Format, ListedSkip, Remedy, Report};
use crate::finding::Severity;
use crate::starter::Exclusion;
use crate::text::plain;

/// The maximum number of rules that are named after a failed run.
const EXPLAINED: usize = 5;
/// The maximum number of notes below severity error that are shown without `verbose`.
const NOTES: usize = 5;

/// The options of the lines after the findings.
#[derive(Clone, Copy, Debug)]
pub struct Closing {
    /// The lowest severity that the concise format shows.
    pub show: Severity,
    /// The lowest severity that makes the run fail; `None` if none does.
    pub fail_on: Option<Severity>,
    /// Whether to list every note and every skipped document.
    pub verbose: bool,
}

/// Returns the lines that follow a document in `format`, ending in a line break: notes, skipped documents if `verbose`,
/// the remedy, and the counts of findings that are not shown; for [`Format::Concise`], also the commands that explain
/// why the run failed. Empty for human, JSON, SARIF and Markdown output, which contains the notes.
pub fn closing(format: Format, report: &Report, options: &Closing) -> String {
    let show = match format {
        Format::Human | Format::Json | Format::Sarif | Format::Markdown => return String::new(),
        Format::Concise => options.show,
        _ => Severity::Info,
    };
    let digest = Digest::new(report, show, Folding::WithinFiles);
    let mut lines = notes(report, options.verbose);
    if options.verbose {
        lines.extend(report.skipped.iter().map(skip));
    }
    lines.extend(remedy(report));
    lines.extend(before(report));
    lines.extend(hidden(&digest));
    // The other formats link the page of each rule.
    if format == Format::Concise {
        lines.extend(failure(report, options.fail_on));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// Returns the notes: all errors, then the first [`NOTES`] others, or all if `verbose`.
pub(super) fn notes(report: &Report, verbose: bool) -> Vec<String> {
    let mut notes: Vec<_> = report.notes.iter().collect();
    notes.sort_by_key(|note| std::cmp::Reverse(note.severity));
    let errors = notes.partition_point(|note| note.severity == Severity::Error);
    let most = if verbose { notes.len() } else { errors + NOTES };
    let lines = notes.iter().take(most).map(|note| {
        let place = match (&note.path, note.line) {
            (Some(path), Some(line)) => format!("{}:{line}: ", plain::one_line(path)),
            (Some(path), None) => format!("{}: ", plain::one_line(path)),
            (None, _) => String::new(),
        };
        format!("note: {place}{}", plain::one_line(&note.message))
    });
    let more = notes.len().saturating_sub(most);
    let more = (more > 0).then(|| {
        let more = plain::count(more, "more note");
        format!("and {more} (`-v` lists them)")
    });
    lines.chain(more).collect()
}

/// Returns `a.yaml:3: skipped: template (an action of Helm)`.
pub(super) fn skip(skip: &ListedSkip) -> String {
    let detail = match plain::one_line(&skip.detail) {
        detail if detail.is_empty() => detail,
        detail => format!(" ({detail})"),
    };
    let file = plain::one_line(&skip.file);
    format!("{file}:{}: skipped: {}{detail}", skip.line, skip.reason)
}

/// Describes the step that resolves most findings; `None` if there is none.
pub(super) fn remedy(report: &Report) -> Option<String> {
    Some(match report.remedy.as_ref()? {
        Remedy::Build { resolved, of } => format!(
            "{resolved} of {} are in files that a kustomization changes: run `kustomize build FOLDER | ownerlint -`, which \
             checks what is applied",
            plain::count(*of, "finding")
        ),
        Remedy::Exclude(Exclusion { glob, covers }) => format!(
            "{covers} of {} match one pattern; to leave these files out: --exclude '{}'",
            plain::count(report.summary.error, "error"),
            plain::one_line(&glob.replace('\'', r"'\''"))
        ),
    })
}

/// Says how many findings existed before the change; `None` if there are none.
fn before(report: &Report) -> Option<String> {
    let before = report.summary.before.filter(|&before| before > 0)?;
    let verb = if before == 1 { "was" } else { "were" };
    let findings = plain::count(before, "finding");
    Some(format!(
        "{findings} that {verb} there before the change: not shown"
    ))
}

/// Returns a title and one line per rule whose findings are hidden; empty if none are.
pub(super) fn hidden(digest: &Digest<'_>) -> Vec<String> {
    if digest.hidden.is_empty() {
        return Vec::new();
    }
    let rows = digest.hidden.iter();
    let numbers = rows.clone().map(|row| row.count.to_string().len()).max();
    let rules = rows.clone().map(|row| row.rule.len()).max();
    let numbers = numbers.unwrap_or_default();
    let rules = rules.unwrap_or_default();
    let title = format!(
        "{} not shown (`--show info` or `-v` shows everything):",
        digest.hidden_in_words()
    );
    let rows = rows.map(|row| {
        let count = row.count;
        let rule = row.rule;
        let summary = plain::one_line(row.summary);
        let line = format!("  {count:>numbers$}  {rule:rules$}  {summary}");
        line.trim_end().to_owned()
    });
    std::iter::once(title).chain(rows).collect()
}

/// Counts the findings, and names the commands that explain the first [`EXPLAINED`] rules that made the run fail.
fn failure(report: &Report, fail_on: Option<Severity>) -> Vec<String> {
    let Some(least) = fail_on else {
        return Vec::new();
    };
    let findings = report.findings.iter().map(|reported| &reported.finding);
    let failing = findings.filter(|finding| finding.severity >= least);
    let rules: BTreeSet<_> = failing.map(|finding| finding.rule).collect();
    if rules.is_empty() {
        return Vec::new();
    }
    let found = report.summary.found();
    let mut lines = vec![format!("{found}; why, and how to fix it:")];
    let explained = rules.iter().take(EXPLAINED);
    lines.extend(explained.map(|rule| format!("  ownerlint explain {rule}")));
    if rules.len() > EXPLAINED {
        let more = plain::count(rules.len() - EXPLAINED, "more rule");
        lines.push(format!("  and {more}"));
    }
    lines
}
