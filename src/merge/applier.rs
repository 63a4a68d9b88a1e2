//! The deliverer or the tool that applies removed objects, and the messages about it.

use super::deleters::deleted;
use super::part::MergePart;
use super::pruning::DeliveryChoice;
use crate::changes::Destination;
use crate::delivery::{Regime, RegimeSource, Withdrawal};
use crate::inventory::Member;
use crate::kustomize::{Deliverer, SourceTool};
use crate::text::plain;

/// The applier of the objects at a destination.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Applier {
    /// A delivery object.
    Object(Deliverer),
    /// A tool; `is_known` is whether there is evidence for it.
    Tool { regime: Regime, is_known: bool },
}

impl Applier {
    /// Returns the applier of `member`, an object of base at `destination`.
    pub(super) fn of(
        part: &MergePart<'_>,
        member: &Member,
        destination: &Destination,
        choice: &DeliveryChoice,
    ) -> Self {
        match (choice.by, destination.deliverer()) {
            (Some(tool), _) => Self::Tool {
                regime: tool.regime(),
                is_known: true,
            },
            (None, Some(deliverer)) => Self::Object(deliverer.clone()),
            (None, None) => {
                let delivered = part.analysis.deliveries().regime(member);
                let is_known = match delivered.source {
                    RegimeSource::None => false,
                    // The files of a kustomization may be copied from a chart, with its marks.
                    RegimeSource::Mark { .. } if delivered.regime == Regime::Helm => {
                        !matches!(destination, Destination::Root { .. })
                    }
                    // If all deliveries of the tool are known, none of them has the object: it is not applied yet, or left
                    // over.
                    RegimeSource::Object(_) | RegimeSource::Mark { .. } => {
                        ![SourceTool::Flux, SourceTool::ArgoCd]
                            .into_iter()
                            .any(|tool| {
                                delivered.regime == Regime::from(tool) && part.base.knows(tool)
                            })
                    }
                    RegimeSource::Config => true,
                };
                let regime = if is_known {
                    delivered.regime
                } else {
                    part.likely_tool(destination).unwrap_or(Regime::Kubectl)
                };
                Self::Tool { regime, is_known }
            }
        }
    }

    /// Returns the tool, and whether there is evidence for it.
    pub(super) fn regime(&self) -> (Regime, bool) {
        match self {
            Self::Object(deliverer) => (Regime::from(deliverer.tool), true),
            Self::Tool { regime, is_known } => (*regime, *is_known),
        }
    }

    /// Returns why a tool sends nothing, if there is evidence that it delivers these objects.
    pub(super) fn idle(
        &self,
        withdrawal: &Withdrawal<'_>,
        unbuildable: Option<&str>,
        objects: usize,
    ) -> Option<String> {
        let reason = withdrawal.nothing?;
        let subject = match self {
            Self::Object(deliverer) => format!("the {} {deliverer}", deliverer.tool.kind().kind),
            Self::Tool {
                regime,
                is_known: true,
            } => regime.tool().to_owned(),
            Self::Tool {
                is_known: false, ..
            } => return None,
        };
        let because = match (&withdrawal.rejected, unbuildable) {
            (Some(key), _) => format!(", because the API server rejects the update of {key}"),
            (None, Some(obstacle)) => format!(", because {obstacle}"),
            (None, None) => String::new(),
        };
        let stay = if objects == 1 { "stays" } else { "stay" };
        let objects = plain::count(objects, "object");
        Some(format!(
            "{subject} {reason}{because}: {objects} that left {stay} in the cluster"
        ))
    }

    /// Returns why a setting of the change does not keep the objects, and why the tool may fail before it deletes them.
    pub(super) fn remarks(&self, withdrawal: &Withdrawal<'_>) -> Vec<String> {
        let Self::Object(by) = self else {
            return Vec::new();
        };
        if withdrawal.requests.is_empty() {
            return Vec::new();
        }
        let reasons = [withdrawal.late, withdrawal.may_fail];
        let reasons = reasons.into_iter().flatten();
        reasons
            .map(|reason| format!("the {} {by} {reason}", by.tool.kind().kind))
            .collect()
    }

    /// Returns the assumption that a probable tool deletes objects; `None` if it is known or idle.
    pub(super) fn assumed(
        &self,
        destination: &Destination,
        withdrawal: &Withdrawal<'_>,
    ) -> Option<String> {
        let Self::Tool {
            regime,
            is_known: false,
        } = self
        else {
            return None;
        };
        let count = deleted(&withdrawal.requests).count();
        let (tool, place) = (regime.tool(), destination.folder().filter(|_| count > 0)?);
        let objects = plain::count(count, "object");
        Some(format!(
            "nothing here points at {place}, which holds objects of {tool}: if {tool} applies it, {tool} deletes {objects}"
        ))
    }
}
