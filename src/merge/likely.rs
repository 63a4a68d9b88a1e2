//! The tool that probably applies a folder to which no object points, by the objects in it.
//!
//! Tools are set up from outside: `flux bootstrap`, a FluxInstance, or a manually created
//! Application points at the first folder, whose objects point at the others. If objects of the
//! tree point at folders, Flux sources alone are no evidence.

use foldhash::HashMap;

use crate::changes::{Destination, TreePart};
use crate::delivery::{FluxObject, Regime, flux};
use crate::inventory::Member;
use crate::kube::kinds;

/// The tool of each destination for which there is evidence; `None` if the evidence names several.
#[derive(Debug)]
pub(super) struct LikelyTools(HashMap<Destination, Option<Regime>>);

impl LikelyTools {
    /// Finds the probable tools of `tree`, one of the `trees` of a side.
    pub(super) fn of(tree: &TreePart, trees: &[TreePart]) -> Self {
        let leads = trees.iter().any(|tree| {
            let mut members = tree.inventory.members.iter();
            members.any(|member| tree.destination(member.file).deliverer().is_some())
        });
        let mut tools: HashMap<Destination, Option<Regime>> = HashMap::default();
        for member in tree
            .inventory
            .members
            .iter()
            .filter(|member| tree.is_own(member) && tree.applies(member))
        {
            let destination = tree.destination(member.file);
            let tool = leading(member).or_else(|| read_by(member).filter(|_| !leads));
            let Some(tool) = tool.filter(|_| destination.deliverer().is_none()) else {
                continue;
            };
            let known = tools.entry(destination.clone()).or_insert(Some(tool));
            *known = known.filter(|known| *known == tool);
        }
        Self(tools)
    }

    /// Returns the tool that probably applies the objects at `destination`.
    pub(super) fn get(&self, destination: &Destination) -> Option<Regime> {
        self.0.get(destination).copied().flatten()
    }
}

const FLUX: Regime = Regime::Flux(FluxObject::Kustomization);

/// Returns the tool that an object directs to other folders.
fn leading(member: &Member) -> Option<Regime> {
    match member.object.group_kind() {
        kinds::FLUX_KUSTOMIZATION => Some(FLUX),
        kinds::APPLICATION | kinds::APPLICATION_SET => Some(Regime::ArgoCd),
        _ => None,
    }
}

/// Returns the only tool whose controllers read an object.
fn read_by(member: &Member) -> Option<Regime> {
    flux::is_own(member).then_some(FLUX)
}
