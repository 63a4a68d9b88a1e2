//! The related places of a finding, for formats that show one place.

use super::{Place, Report};
use crate::finding::Finding;
use crate::text::{ColumnUnit, plain};

/// The maximum number of related places that are shown beside a message.
const PLACES: usize = 3;

/// Formats the first [`PLACES`] related places of `finding` as `owner declared here: deploy/rook/cluster.yaml:5:3`, and
/// counts the others.
pub(super) fn other_ends(
    report: &Report,
    finding: &Finding,
    path: impl Fn(&str) -> String,
) -> Vec<String> {
    let ends = finding.related.iter().take(PLACES).map(|label| {
        let at = report.region(label, ColumnUnit::Utf8);
        let role = plain::one_line(&label.message);
        let role = if role.is_empty() { "see also" } else { &role };
        let place = format!("{}:{}:{}", path(at.path), at.start.line, at.start.column);
        format!("{role}: {place}{}", rendered_from(report, label))
    });
    let more = finding.related.len().saturating_sub(PLACES);
    ends.chain((more > 0).then(|| format!("and {}", plain::count(more, "more place"))))
        .collect()
}

/// Formats the related places of `finding` for the end of its line; empty if there are none.
pub(super) fn bracketed_ends(
    report: &Report,
    finding: &Finding,
    path: impl Fn(&str) -> String,
) -> String {
    match other_ends(report, finding, path).as_slice() {
        [] => String::new(),
        ends => format!(" [{}]", ends.join("; ")),
    }
}

/// Returns the template that a place was rendered from as ` (web/templates/crd.yaml)`; empty if there is none.
pub(super) fn rendered_from(report: &Report, place: impl Into<Place>) -> String {
    let template = report.template(place.into());
    template.map_or_else(String::new, |name| format!(" ({})", plain::one_line(name)))
}
