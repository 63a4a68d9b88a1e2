//! Merges the findings of one rule that have one cause: an edited line may remove dozens of objects.

use foldhash::HashMap;

use crate::finding::{Finding, Label, Severity};
use crate::report::{Report, Reported};
use crate::text::{FileId, Span};

/// The maximum number of findings with one cause that are shown separately.
const APART: usize = 3;

/// The maximum number of other findings whose places the first one shows.
const SHOWN: usize = 8;

/// The rule, the severity, and the edited line of head, or the finding's own place if that line is not known.
type Cause = (&'static str, Severity, FileId, Span);

/// Merges more than [`APART`] findings of one rule with one cause into the first, which counts the others and shows up
/// to [`SHOWN`] of their places. Accepted findings are not merged with others, since their severity differs.
pub(super) fn folded(report: &Report) -> Report {
    let mut causes: HashMap<Cause, Vec<usize>> = HashMap::default();
    for (at, reported) in report.findings.iter().enumerate() {
        causes.entry(cause(&reported.finding)).or_default().push(at);
    }
    let mut folded = report.clone();
    let mut is_shown = vec![true; report.findings.len()];
    for all in causes.values().filter(|all| all.len() > APART) {
        let (first, rest) = (all[0], &all[1..]);
        for at in rest {
            is_shown[*at] = false;
        }
        let finding = &mut folded.findings[first].finding;
        let more = format!(" (and {} more)", rest.len());
        finding.message.push_str(&more);
        let others = rest.iter().take(SHOWN);
        let others = others.map(|at| place(&report.findings[*at]));
        finding.related.extend(others);
    }
    let mut is_shown = is_shown.into_iter();
    let findings = &mut folded.findings;
    findings.retain(|_| is_shown.next().unwrap_or_default());
    folded
}

fn cause(finding: &Finding) -> Cause {
    let edited = finding.related.iter().find(|label| label.is_cause);
    let label = edited.unwrap_or(&finding.primary);
    (finding.rule, finding.severity, label.file, label.span)
}

/// Returns the place of a finding, labelled with its object or, without one, its message.
fn place(reported: &Reported) -> Label {
    let finding = &reported.finding;
    let words = match &finding.object {
        Some(object) => object.to_string(),
        None => finding.message.clone(),
    };
    Label {
        message: words,
        ..finding.primary.clone()
    }
}
