//! The tool of a removal that names none: the one that delivers all objects.

use std::collections::BTreeMap;

use super::request::TeardownBy;
use crate::cluster::Analysis;
use crate::delivery::{Regime, RegimeSource};
use crate::engine::plan::clusters::PlannedCluster;
use crate::engine::plan::question::PlanError;
use crate::text::plain;

/// Returns the tool that delivers all objects of the input, and a note on it.
///
/// # Errors
/// The objects have several tools or none, or their tool is kubectl: it does not build files, so
/// the input has to be read in another way.
pub(super) fn detected(
    cluster: PlannedCluster<'_>,
    analysis: &Analysis<'_>,
) -> Result<(TeardownBy, String), PlanError> {
    let deliveries = analysis.deliveries();
    let mut seen: BTreeMap<Option<&str>, (Option<TeardownBy>, usize)> = BTreeMap::new();
    for member in cluster.asked_for() {
        let delivered = deliveries.regime(member);
        let is_known = delivered.source != RegimeSource::None;
        let tool = is_known.then(|| delivered.regime.tool());
        let (_, number) = seen.entry(tool).or_insert((by(delivered.regime), 0));
        *number += 1;
    }
    if let (Some((Some(tool), (Some(by), _))), 1) = (seen.first_key_value(), seen.len()) {
        let note = format!(
            "By {tool}, which delivers all objects as far as the input shows; `--by` names another tool."
        );
        return Ok((*by, note));
    }
    let found = seen.iter().map(|(tool, (_, number))| {
        let objects = plain::count(*number, "object");
        match tool {
            Some(tool) => format!("{objects} of {tool}"),
            None => format!("{objects} without marks of a tool"),
        }
    });
    let found: Vec<String> = found.collect();
    Err(PlanError::WhichTool {
        found: found.join(", "),
    })
}

fn by(regime: Regime) -> Option<TeardownBy> {
    match regime {
        Regime::Helm => Some(TeardownBy::Helm),
        Regime::ArgoCd => Some(TeardownBy::ArgoCd),
        Regime::Flux(_) => Some(TeardownBy::Flux),
        Regime::Kubectl => None,
    }
}
