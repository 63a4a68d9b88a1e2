//! The states of all objects after a step, in the form of the contract.
//!
//! Outcomes are written one at a time, not collected first: a plan may have thousands, each naming every object.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use smol_str::SmolStr;

use crate::gc::{Difference, Fate, Outcome, OwnerReference, Present};
use crate::kube::ObjectKey;
use crate::report::ListedReference;
use crate::story::PlanView;

/// The outcomes of one step.
pub(super) struct Outcomes<'a> {
    view: &'a PlanView<'a>,
    /// Empty for all requests of a removal but the last.
    outcomes: &'a [Outcome],
    implied: BTreeSet<&'a ObjectKey>,
}

/// One state that the cluster can reach.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "outcome")]
pub(super) struct OutcomeDocument {
    /// How this state differs from the verdict; null for the verdict itself.
    #[schemars(extend("enum" = ["existence", "terminating", "references", null]))]
    differs: Option<&'static str>,
    /// The state of each object, by key.
    #[schemars(with = "BTreeMap<String, FateDocument>")]
    pub(super) objects: FatesByKey,
}

impl OutcomeDocument {
    /// Adds an object, unless the outcome contains it.
    pub(super) fn add(&mut self, key: &ObjectKey, fate: &FateDocument) {
        if !self.objects.contains_key(key) {
            self.objects.insert(key.clone(), fate.clone());
        }
    }
}

/// The states of objects, sorted by key unless later ones were added.
pub(super) type FatesByKey = IndexMap<ObjectKey, FateDocument, RandomState>;

/// The state of an object: gone, or as the cluster holds it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "fate")]
pub(super) enum FateDocument {
    Gone(#[schemars(extend("const" = "gone"))] &'static str),
    Present(PresentDocument),
}

/// An object that exists.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "state")]
pub(super) struct PresentDocument {
    /// Whether a deletion of it has begun.
    terminating: bool,
    /// `metadata.finalizers`, sorted; for a Namespace too.
    finalizers: Vec<String>,
    /// The owner references as the cluster stores them, or as a rendering writes them.
    owner_references: Vec<ListedReference>,
    /// `spec.finalizers` of a Namespace.
    #[serde(rename = "spec.finalizers", skip_serializing_if = "Option::is_none")]
    spec_finalizers: Option<Vec<String>>,
    /// The conditions of a Namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    conditions: Option<Vec<ConditionDocument>>,
}

/// A condition of a Namespace.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "condition")]
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

    /// Returns the fates of the objects of the input.
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

    /// Returns the verdict, then the states that differ from it. Implied objects are left out, and outcomes that are
    /// equal without them are returned once.
    pub(super) fn documents(&self) -> impl Iterator<Item = OutcomeDocument> {
        let mut written = BTreeSet::new();
        let outcomes = self.outcomes.iter().enumerate();
        outcomes.filter_map(move |(index, outcome)| {
            let differs = self.difference(outcome);
            if index > 0 && differs.is_none() {
                return None;
            }
            let objects = self.objects(outcome);
            if !self.implied.is_empty() && !written.insert(objects.clone()) {
                return None;
            }
            let objects = objects.into_iter();
            Some(OutcomeDocument {
                differs: differs.map(word),
                objects: objects
                    .map(|(key, fate)| (key, FateDocument::from(fate)))
                    .collect(),
            })
        })
    }

    /// Returns how an outcome differs from the verdict in objects of the input; `None` if it does not.
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

fn word(difference: Difference) -> &'static str {
    match difference {
        Difference::Existence => "existence",
        Difference::Terminating => "terminating",
        Difference::References => "references",
    }
}

fn difference(here: &Fate, there: &Fate) -> Difference {
    match (here, there) {
        (Fate::Present(here), Fate::Present(there))
            if without_references(here) == without_references(there) =>
        {
            Difference::References
        }
        (Fate::Present(_), Fate::Present(_)) => Difference::Terminating,
        _ => Difference::Existence,
    }
}

fn without_references(present: &Present) -> Present {
    Present {
        owner_references: Vec::new(),
        ..present.clone()
    }
}

impl Serialize for Outcomes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.documents())
    }
}

impl From<Fate> for FateDocument {
    fn from(fate: Fate) -> Self {
        let Fate::Present(present) = fate else {
            return Self::Gone("gone");
        };
        let conditions = present.conditions.map(|conditions| {
            let documents = conditions.into_iter().map(|condition| ConditionDocument {
                r#type: condition.kind,
                status: condition.status,
                reason: condition.reason,
                message: condition.message,
            });
            documents.collect()
        });
        let owner_references = present.owner_references.into_iter().map(reference);
        Self::Present(PresentDocument {
            terminating: present.terminating,
            finalizers: present.finalizers,
            owner_references: owner_references.collect(),
            spec_finalizers: present.spec_finalizers,
            conditions,
        })
    }
}

fn reference(reference: OwnerReference) -> ListedReference {
    ListedReference {
        api_version: filled(reference.api_version),
        kind: filled(reference.kind),
        name: filled(reference.name),
        uid: filled(reference.uid),
        controller: reference.controller,
        block_owner_deletion: reference.block_owner_deletion,
    }
}

fn filled(text: SmolStr) -> Option<String> {
    (!text.is_empty()).then(|| text.into())
}
