//! Which tool probably applies what nothing in the tree points at: the one whose objects are there.
//!
//! Tools are set up from outside: `flux bootstrap`, a FluxInstance, or an Application that was created by hand leads to the
//! first folder, and the objects in it lead to the others. Where they do, a folder that none of them leads to is not applied.

use foldhash::HashMap;

use crate::changes::{Destination, TreePart};
use crate::delivery::{FluxObject, Regime};
use crate::inventory::Member;
use crate::kube::kinds;

/// The tool of each destination that something speaks for; `None` where several do.
#[derive(Debug)]
pub(super) struct LikelyTools(HashMap<Destination, Option<Regime>>);

impl LikelyTools {
    /// Those of one of the `trees` of a side.
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

    /// The tool that probably applies what is there.
    pub(super) fn get(&self, destination: &Destination) -> Option<Regime> {
        self.0.get(destination).copied().flatten()
    }
}

const FLUX: Regime = Regime::Flux(FluxObject::Kustomization);

/// The tool that an object leads to other folders.
fn leading(member: &Member) -> Option<Regime> {
    match member.object.group_kind() {
        kinds::FLUX_KUSTOMIZATION => Some(FLUX),
        kinds::APPLICATION | kinds::APPLICATION_SET => Some(Regime::ArgoCd),
        _ => None,
    }
}

/// The tool whose controllers are all that reads an object.
fn read_by(member: &Member) -> Option<Regime> {
    member
        .key
        .group()
        .ends_with(".toolkit.fluxcd.io")
        .then_some(FLUX)
}
