//! The Pods that a Service selects: Pods in the input, and those that workloads in the input run.

use foldhash::HashMap;

use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::{Namespace, kinds};
use crate::manifest::{LabelSelector, Metadata, SelectorOperator, TemplateKind};

/// The Pods behind a Service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selected {
    /// Workloads in the input whose Pods the Service selects, and Pods that it selects.
    Workloads(SelectionId),
    /// It has a selector, but selects no Pod of the input.
    NoPods,
    /// It has no selector, or is an alias of an external name: its backend is not determined by labels.
    Unselected,
}

/// The index of a list in [`super::Serves::workloads`]. Services with the same selector share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SelectionId(pub(super) usize);

/// Index of the Pods of a bundle by their labels.
pub(super) struct Selecting<'a> {
    inventory: &'a Inventory,
    /// The objects that run Pods with a label and value, in the order of the inventory.
    by_label: HashMap<(&'a str, &'a str), Vec<ObjectId>>,
    /// Cache of results by namespace and selector.
    known: HashMap<(Namespace, LabelSelector), Selected>,
    /// The lists of all selections, none of them empty.
    pub(super) selections: Vec<Vec<ObjectId>>,
}

impl<'a> Selecting<'a> {
    pub(super) fn of(inventory: &'a Inventory) -> Self {
        let mut by_label: HashMap<(&str, &str), Vec<ObjectId>> = HashMap::default();
        for member in &inventory.members {
            let metadata = pod_metadata(member).into_iter();
            for (key, value) in metadata.flat_map(|metadata| metadata.labels().iter()) {
                let same = by_label.entry((key, value.value)).or_default();
                same.push(member.id);
            }
        }
        Self {
            inventory,
            by_label,
            known: HashMap::default(),
            selections: Vec::new(),
        }
    }

    /// Returns the Pods behind a Service.
    pub(super) fn behind(&mut self, service: ObjectId) -> Selected {
        let service = self.inventory.member(service);
        let object = service.object.value();
        let selector = LabelSelector::of_map(object.at(&["spec", "selector"]));
        let names_another = object.str_at(&["spec", "type"]) == Some("ExternalName");
        if selector.is_empty() || names_another {
            return Selected::Unselected;
        }
        let decisive = (service.key.namespace.clone(), selector);
        if let Some(known) = self.known.get(&decisive) {
            return *known;
        }
        let found = self.select(&decisive.0, &decisive.1);
        let selected = if found.is_empty() {
            Selected::NoPods
        } else {
            self.selections.push(found);
            Selected::Workloads(SelectionId(self.selections.len() - 1))
        };
        self.known.insert(decisive, selected);
        selected
    }

    fn select(&self, namespace: &Namespace, selector: &LabelSelector) -> Vec<ObjectId> {
        // Only the objects with the rarest of the required labels are compared.
        let candidates = selector.requirements.iter().map(|requirement| {
            let SelectorOperator::In(values) = &requirement.operator else {
                return &[][..];
            };
            let label = values
                .first()
                .map(|value| (requirement.key.as_str(), value.as_str()));
            let found = label.and_then(|label| self.by_label.get(&label));
            found.map_or(&[][..], Vec::as_slice)
        });
        let candidates = candidates.min_by_key(|found| found.len());
        let selected = candidates.into_iter().flatten().copied().filter(|id| {
            let member = self.inventory.member(*id);
            !member.key.namespace.certainly_differs(namespace)
                && pod_metadata(member).is_some_and(|metadata| {
                    selector.selects(|key| metadata.label(key).map(|label| label.value))
                })
        });
        selected.collect()
    }
}

/// Returns the metadata of a Pod, or of the Pods that an object runs; `None` for Jobs.
fn pod_metadata(member: &Member) -> Option<Metadata<'_>> {
    if member.object.is(kinds::POD) {
        return Some(member.object.metadata());
    }
    // A Job ends on its own, so it does not serve.
    if member.object.group() == "batch" {
        return None;
    }
    let template = member
        .object
        .templates()
        .find(|template| template.kind == TemplateKind::Pod)?;
    Some(template.metadata)
}
