//! The contract `ownerlint.plan/1`.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::outcomes::{FateDocument, Outcomes};
use super::unanswered::{FailingApiDocument, RejectionDocument, failing_apis, rejections};
use crate::gc::{Cause, Event, Fate, Outcome, Present, Step, StepPlan, Why};
use crate::kube::{ObjectKey, Policy, Wait};
use crate::story::{ImpliedDependent, PlanView, RemovalView, SafeCommand};

pub(super) fn render(view: &PlanView<'_>) -> String {
    crate::report::line::line(serde_json::to_string_pretty(&document(view)))
}

/// The whole contract of a plan.
pub(in crate::report) fn document<'a>(view: &'a PlanView<'a>) -> impl Serialize + 'a {
    PlanDocument::new(view, view.steps)
}

/// The last step of a plan as the contract has it, owned: what is told beside other things.
#[derive(Clone, Debug)]
pub struct LastStep(serde_json::Value);

impl LastStep {
    /// The last step of a plan.
    pub fn of(view: &PlanView<'_>) -> Self {
        let last = view.plan.steps.len().saturating_sub(1);
        let document = match (view.steps.get(last), view.plan.steps.get(last)) {
            (Some(step), Some(planned)) => {
                serde_json::to_value(StepDocument::new(view, last, step, planned))
            }
            _ => Ok(serde_json::Value::Null),
        };
        // What is serialised is data of our own: no map has another key than text.
        Self(document.unwrap_or_default())
    }

    /// Adds an object that nothing touches to all outcomes.
    pub fn appears(&mut self, key: &ObjectKey) {
        let untouched = Present {
            terminating: false,
            finalizers: Vec::new(),
            owner_references: Vec::new(),
            spec_finalizers: None,
            conditions: None,
        };
        let fate =
            serde_json::to_value(FateDocument::from(&Fate::Present(untouched))).unwrap_or_default();
        for objects in self.outcomes() {
            objects
                .entry(key.to_string())
                .or_insert_with(|| fate.clone());
        }
    }

    /// Adds the objects of another cluster, as they are in its verdict.
    pub fn merge(&mut self, mut other: Self) {
        let Some(verdict) = other.outcomes().next().cloned() else {
            return;
        };
        for objects in self.outcomes() {
            for (key, fate) in &verdict {
                objects.entry(key.clone()).or_insert_with(|| fate.clone());
            }
        }
    }

    fn outcomes(
        &mut self,
    ) -> impl Iterator<Item = &mut serde_json::Map<String, serde_json::Value>> {
        let outcomes = self
            .0
            .get_mut("outcomes")
            .and_then(serde_json::Value::as_array_mut);
        let outcomes = outcomes.into_iter().flatten();
        outcomes.filter_map(|outcome| {
            outcome
                .get_mut("objects")
                .and_then(serde_json::Value::as_object_mut)
        })
    }
}

impl Serialize for LastStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[derive(Serialize)]
struct PlanDocument<'a> {
    schema: &'static str,
    steps: Vec<StepDocument<'a>>,
    implied: Vec<ImpliedDocument<'a>>,
    /// What was assumed.
    notes: &'a [String],
    /// What to do before a removal, so that nothing gets stuck.
    #[serde(rename = "safeOrder", skip_serializing_if = "Option::is_none")]
    safe_order: Option<Vec<SafeCommandDocument<'a>>>,
    /// What a removal leaves on purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<Vec<KeptDocument<'a>>>,
}

#[derive(Serialize)]
struct SafeCommandDocument<'a> {
    command: &'a str,
    why: &'a str,
}

#[derive(Serialize)]
struct KeptDocument<'a> {
    key: &'a ObjectKey,
    why: &'a str,
}

#[derive(Serialize)]
struct StepDocument<'a> {
    op: &'static str,
    target: Option<String>,
    policy: Option<&'static str>,
    /// Of a request of a removal.
    #[serde(skip_serializing_if = "Option::is_none")]
    wait: Option<&'static str>,
    http: Option<u16>,
    /// Every request of a step that sends more than one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    requests: Vec<RequestDocument>,
    complete: bool,
    outcomes: Outcomes<'a>,
    events: Vec<EventDocument<'a>>,
    why: BTreeMap<String, WhyDocument>,
    /// What webhooks rejected, because nobody answers for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rejections: Vec<RejectionDocument>,
    /// APIServices without a backend: until they are deleted or answered, every namespace that is deleted gets stuck.
    #[serde(rename = "failingApis", skip_serializing_if = "Vec::is_empty")]
    failing_apis: Vec<FailingApiDocument>,
}

#[derive(Serialize)]
struct RequestDocument {
    target: String,
    http: u16,
}

#[derive(Serialize)]
struct EventDocument<'a> {
    object: String,
    reason: &'a str,
    message: &'a str,
    certain: bool,
}

#[derive(Serialize)]
struct WhyDocument {
    rules: Vec<&'static str>,
    chain: Vec<String>,
    /// How many objects of a long chain are left out after its first.
    #[serde(skip_serializing_if = "is_zero")]
    omitted: usize,
}

#[derive(Serialize)]
struct ImpliedDocument<'a> {
    key: String,
    owner: String,
    rule: &'a str,
    /// What becomes of it, in the verdict of each step.
    outcomes: Vec<FateDocument>,
}

impl<'a> PlanDocument<'a> {
    fn new(view: &'a PlanView<'a>, steps: &'a [Step]) -> Self {
        let verdicts: Vec<BTreeMap<ObjectKey, Fate>> = match view.implied.is_empty() {
            true => Vec::new(),
            false => view
                .plan
                .steps
                .iter()
                .filter_map(|step| Some(fates(view, step.outcomes.first()?)))
                .collect(),
        };
        let steps = match &view.removal {
            Some(removal) => StepDocument::of_removal(view, removal, steps),
            None => {
                let steps = steps.iter().zip(&view.plan.steps).enumerate();
                steps
                    .map(|(index, (step, planned))| StepDocument::new(view, index, step, planned))
                    .collect()
            }
        };
        let removal = view.removal.as_ref();
        let safe_order = removal.map(|removal| {
            let commands = removal.safe_order.iter().flatten();
            commands
                .map(|SafeCommand { command, why }| SafeCommandDocument { command, why })
                .collect()
        });
        let kept = removal.map(|removal| {
            removal
                .kept
                .iter()
                .map(|(key, why)| KeptDocument { key, why })
                .collect()
        });
        Self {
            schema: "ownerlint.plan/1",
            steps,
            implied: view
                .implied
                .iter()
                .map(|implied| ImpliedDocument::new(implied, &verdicts))
                .collect(),
            notes: &view.notes,
            safe_order,
            kept,
        }
    }
}

fn fates(view: &PlanView<'_>, outcome: &Outcome) -> BTreeMap<ObjectKey, Fate> {
    view.plan.fates(outcome).into_iter().collect()
}

impl<'a> StepDocument<'a> {
    fn new(view: &'a PlanView<'a>, index: usize, step: &'a Step, planned: &'a StepPlan) -> Self {
        let (op, policy, targets) = operation(step);
        let requests = targets.iter().zip(&planned.responses);
        let requests = requests.map(|(target, http)| RequestDocument {
            target: target.to_string(),
            http: *http,
        });
        let why = view
            .plan
            .why(index)
            .into_iter()
            .map(|(key, why)| (key.to_string(), WhyDocument::from(why)));
        Self {
            op,
            target: targets.first().map(ObjectKey::to_string),
            policy: policy.map(policy_name),
            wait: None,
            http: planned.responses.first().copied(),
            requests: if targets.len() > 1 {
                requests.collect()
            } else {
                Vec::new()
            },
            complete: planned.complete,
            outcomes: Outcomes::new(view, &planned.outcomes),
            events: planned.events.iter().map(EventDocument::from).collect(),
            why: why.collect(),
            rejections: rejections(view, index),
            failing_apis: failing_apis(view, index),
        }
    }

    /// What comes before a removal, then a step per request; only the last one has outcomes.
    fn of_removal(view: &'a PlanView<'a>, removal: &RemovalView, steps: &'a [Step]) -> Vec<Self> {
        let (before, requests) = steps.split_at(removal.first.min(steps.len()));
        let Some(together) = view.plan.steps.get(removal.first) else {
            return Vec::new();
        };
        let mut responses = together.responses.iter().copied();
        let sent = |step: &'a Step| {
            let (op, policy, targets) = operation(step);
            let wait = match step {
                Step::Delete { wait, .. } | Step::RemoveFinalizer { wait, .. } => *wait,
                _ => Wait::Settled,
            };
            Self {
                op,
                target: targets.first().map(ObjectKey::to_string),
                policy: policy.map(policy_name),
                wait: Some(wait_name(wait)),
                http: if targets.is_empty() {
                    None
                } else {
                    responses.next()
                },
                requests: Vec::new(),
                complete: true,
                outcomes: Outcomes::new(view, &[]),
                events: Vec::new(),
                why: BTreeMap::new(),
                rejections: Vec::new(),
                failing_apis: Vec::new(),
            }
        };
        let mut documents: Vec<Self> = before.iter().chain(requests).map(sent).collect();
        if let (Some(last), Some(request)) = (documents.last_mut(), requests.last()) {
            let whole = Self::new(view, removal.first, request, together);
            let Self {
                complete,
                outcomes,
                events,
                why,
                rejections,
                failing_apis,
                ..
            } = whole;
            (last.complete, last.outcomes, last.events, last.why) =
                (complete, outcomes, events, why);
            (last.rejections, last.failing_apis) = (rejections, failing_apis);
        }
        documents
    }
}

/// The contract's word, the policy that the client sends, and the targets of a step.
fn operation(step: &Step) -> (&'static str, Option<Policy>, &[ObjectKey]) {
    match step {
        Step::Settle => ("settle", None, &[]),
        Step::Delete {
            targets, policy, ..
        } => ("delete", *policy, targets),
        Step::RemoveFinalizer { targets, .. } => ("remove-finalizer", None, targets),
        Step::RemoveAllFinalizers { target } => {
            ("remove-all-finalizers", None, std::slice::from_ref(target))
        }
        // Its policy is part of the operation, not of the step.
        Step::ForceDelete { target } => ("force-delete", None, std::slice::from_ref(target)),
    }
}

fn policy_name(policy: Policy) -> &'static str {
    match policy {
        Policy::Background => "Background",
        Policy::Foreground => "Foreground",
        Policy::Orphan => "Orphan",
    }
}

fn wait_name(wait: Wait) -> &'static str {
    match wait {
        Wait::None => "none",
        Wait::Named | Wait::Gone => "gone",
        Wait::Settled => "settled",
    }
}

impl<'a> ImpliedDocument<'a> {
    fn new(implied: &'a ImpliedDependent, verdicts: &[BTreeMap<ObjectKey, Fate>]) -> Self {
        let fates = verdicts
            .iter()
            .filter_map(|verdict| verdict.get(&implied.key));
        Self {
            key: implied.key.to_string(),
            owner: implied.owner.to_string(),
            rule: &implied.rule,
            outcomes: fates.map(FateDocument::from).collect(),
        }
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl From<Why> for WhyDocument {
    fn from(why: Why) -> Self {
        let chain = why.chain.iter().map(ObjectKey::to_string).collect();
        Self {
            rules: Cause::all_citations(&why.causes),
            chain,
            omitted: why.omitted,
        }
    }
}

impl<'a> From<&'a Event> for EventDocument<'a> {
    fn from(event: &'a Event) -> Self {
        let Event {
            object,
            reason,
            message,
            certain,
            ..
        } = event;
        Self {
            object: object.to_string(),
            reason,
            message,
            certain: *certain,
        }
    }
}
