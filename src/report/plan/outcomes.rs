//! The states of all objects after a step, as the contract has them.
//!
//! Outcomes are written one at a time, not collected first: a plan may have thousands, each naming every object.

use std::collections::BTreeSet;

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};
use smol_str::SmolStr;

use crate::gc::{Difference, Fate, Outcome, OwnerReference, Present};
use crate::kube::ObjectKey;
use crate::story::PlanView;

/// The outcomes of one step.
pub(super) struct Outcomes<'a> {
    view: &'a PlanView<'a>,
    /// Empty for a request of a removal that others follow.
    outcomes: &'a [Outcome],
    implied: BTreeSet<&'a ObjectKey>,
}

/// An object's state as the contract has it.
#[derive(Serialize, PartialEq)]
#[serde(untagged)]
pub(super) enum FateDocument {
    Gone(&'static str),
    Present {
        terminating: bool,
        finalizers: Vec<String>,
        #[serde(rename = "ownerReferences")]
        owner_references: Vec<ReferenceDocument>,
        #[serde(rename = "spec.finalizers", skip_serializing_if = "Option::is_none")]
        spec_finalizers: Option<Vec<String>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        conditions: Option<Vec<ConditionDocument>>,
    },
}

#[derive(Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReferenceDocument {
    api_version: Option<String>,
    kind: Option<String>,
    name: Option<String>,
    uid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    controller: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block_owner_deletion: Option<bool>,
}

#[derive(Serialize, PartialEq)]
pub(super) struct ConditionDocument {
    r#type: String,
    status: String,
    reason: String,
    message: String,
}

impl<'a> Outcomes<'a> {
    pub(super) fn new(view: &'a PlanView<'a>, outcomes: &'a [Outcome]) -> Self {
        let implied = match outcomes {
            [] => BTreeSet::new(),
            _ => view.implied.iter().map(|one| &one.key).collect(),
        };
        Self {
            view,
            outcomes,
            implied,
        }
    }

    /// What becomes of the objects of the input.
    fn objects(&self, outcome: &Outcome) -> Vec<(ObjectKey, Fate)> {
        let fates = self.view.plan.fates(outcome).into_iter();
        let mut fates: Vec<(ObjectKey, Fate)> = fates
            .filter(|(key, _)| !self.implied.contains(key))
            .collect();
        let absent = self.view.removal.iter().flat_map(|removal| &removal.absent);
        fates.extend(absent.map(|key| (key.clone(), Fate::Gone)));
        fates.sort();
        fates
    }

    /// How an outcome differs from the verdict in objects of the input; `None` if it does not.
    fn difference(&self, outcome: &Outcome) -> Option<Difference> {
        if self.implied.is_empty() {
            return outcome.differs;
        }
        let differences = self.view.plan.differences(outcome).into_iter();
        differences
            .filter(|(key, ..)| !self.implied.contains(key))
            .map(|(_, here, there)| difference(&here, &there))
            .min()
    }
}

fn difference(here: &Fate, there: &Fate) -> Difference {
    let state = |present: &Present| Present {
        owner_references: Vec::new(),
        ..present.clone()
    };
    match (here, there) {
        (Fate::Present(here), Fate::Present(there)) if state(here) == state(there) => {
            Difference::References
        }
        (Fate::Present(_), Fate::Present(_)) => Difference::Terminating,
        _ => Difference::Existence,
    }
}

impl Serialize for Outcomes<'_> {
    /// The verdict, then what differs from it: outcomes that differ in implied objects alone look like the verdict, or
    /// like one another, and are written once.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(None)?;
        let mut written = BTreeSet::new();
        for (index, outcome) in self.outcomes.iter().enumerate() {
            let differs = self.difference(outcome);
            if index > 0 && differs.is_none() {
                continue;
            }
            let objects = self.objects(outcome);
            if !self.implied.is_empty() && !written.insert(objects.clone()) {
                continue;
            }
            sequence.serialize_element(&OutcomeDocument { differs, objects })?;
        }
        sequence.end()
    }
}

struct OutcomeDocument {
    differs: Option<Difference>,
    objects: Vec<(ObjectKey, Fate)>,
}

impl Serialize for OutcomeDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let differs = self.differs.map(|difference| match difference {
            Difference::Existence => "existence",
            Difference::Terminating => "terminating",
            Difference::References => "references",
        });
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("differs", &differs)?;
        map.serialize_entry("objects", &Objects(&self.objects))?;
        map.end()
    }
}

struct Objects<'a>(&'a [(ObjectKey, Fate)]);

impl Serialize for Objects<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            self.0
                .iter()
                .map(|(key, fate)| (key.to_string(), FateDocument::from(fate))),
        )
    }
}

impl From<&Fate> for FateDocument {
    fn from(fate: &Fate) -> Self {
        let Fate::Present(present) = fate else {
            return Self::Gone("gone");
        };
        let Present {
            terminating,
            finalizers,
            owner_references,
            spec_finalizers,
            conditions,
        } = present.clone();
        let conditions = conditions.map(|conditions| {
            let documents = conditions.into_iter().map(|condition| ConditionDocument {
                r#type: condition.kind,
                status: condition.status,
                reason: condition.reason,
                message: condition.message,
            });
            documents.collect()
        });
        let owner_references = owner_references
            .into_iter()
            .map(ReferenceDocument::from)
            .collect();
        Self::Present {
            terminating,
            finalizers,
            owner_references,
            spec_finalizers,
            conditions,
        }
    }
}

impl From<OwnerReference> for ReferenceDocument {
    fn from(reference: OwnerReference) -> Self {
        let text = |text: SmolStr| Some(text).filter(|text| !text.is_empty()).map(String::from);
        Self {
            api_version: text(reference.api_version),
            kind: text(reference.kind),
            name: text(reference.name),
            uid: text(reference.uid),
            controller: reference.controller,
            block_owner_deletion: reference.block_owner_deletion,
        }
    }
}
