//! Findings of one rule with one cause, as one: an edited line may take dozens of objects away.

use foldhash::HashMap;

use crate::finding::{Finding, Label, Severity};
use crate::report::{Report, Reported};
use crate::text::{FileId, Span};

/// Findings with one cause that are shown one by one.
const APART: usize = 3;

/// Places of other findings that the first one shows.
const SHOWN: usize = 8;

/// The rule, the severity, and the line of head that was edited, or the place itself where that is not known.
type Cause = (&'static str, Severity, FileId, Span);

/// Folds the findings that a rule has for one cause into the first of them, which names the others. What somebody accepted
/// stays apart, as it has another severity.
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
        finding
            .message
            .push_str(&format!(" (and {} more)", rest.len()));
        let others = rest.iter().take(SHOWN);
        finding
            .related
            .extend(others.map(|at| place(&report.findings[*at])));
    }
    let mut is_shown = is_shown.into_iter();
    folded
        .findings
        .retain(|_| is_shown.next().unwrap_or_default());
    folded
}

fn cause(finding: &Finding) -> Cause {
    let edited = finding.related.iter().find(|label| label.is_cause);
    let label = edited.unwrap_or(&finding.primary);
    (finding.rule, finding.severity, label.file, label.span)
}

/// The place of a finding, with its object or, without one, its message.
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
