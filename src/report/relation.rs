//! The other ends of a relation, for formats that show one place of a finding.

use super::{Place, Report};
use crate::finding::Finding;
use crate::text::{ColumnUnit, plain};

/// Other places that fit beside a message.
const PLACES: usize = 3;

/// `owner declared here: deploy/rook/cluster.yaml:5:3` for the first of the other places of `finding`; columns count bytes.
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

/// ` (web/templates/crd.yaml)`: the template that a place was rendered from; empty where it is unknown.
pub(super) fn rendered_from(report: &Report, place: impl Into<Place>) -> String {
    report
        .template(place.into())
        .map(|template| format!(" ({})", plain::one_line(template)))
        .unwrap_or_default()
}
