//! The contract `ownerlint.plan/1`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::outcomes::{FateDocument, OutcomeDocument, Outcomes};
use super::unanswered::{FailingApiDocument, RejectionDocument, failing_apis, rejections};
use crate::gc::{Cause, Event, Fate, Present, Step, StepPlan, Why};
use crate::kube::{ObjectKey, Policy, Wait};
use crate::story::{ImpliedDependent, PlanView, RemovalView, SafeCommand};

/// The document of `ownerlint plan --output json`. Within a major version, members are only ever added. Missing strings are
/// null, lists are never null.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::report) struct PlanDocument<'a> {
    #[schemars(extend("const" = "ownerlint.plan/1"))]
    schema: &'static str,
    /// One element per step, in order.
    steps: Vec<StepDocument<Outcomes<'a>>>,
    /// Objects that controllers would create for objects of the input; they are never in `objects`.
    implied: Vec<ImpliedDocument<'a>>,
    /// The assumptions of the plan, in sentences.
    notes: &'a [String],
    /// Deleted delivery objects whose tool deletes more than is known, because not all objects that they deliver are
    /// known; `notes` then says why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    unread: Vec<&'a ObjectKey>,
    /// For `plan teardown`: commands to run before, in this order, so that the same removal leaves nothing stuck;
    /// simulated before they are written. Empty if nothing gets stuck anyway, or if nothing is known to help; `notes`
    /// then says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    safe_order: Option<Vec<SafeCommandDocument<'a>>>,
    /// For `plan teardown`: objects that stay on purpose although everything is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<Vec<KeptDocument<'a>>>,
}

/// A command of a safe order.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "safeCommand")]
struct SafeCommandDocument<'a> {
    /// A line for a POSIX shell.
    #[schemars(length(min = 1))]
    command: &'a str,
    #[schemars(length(min = 1))]
    why: &'a str,
}

/// An object that a removal leaves on purpose.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "kept")]
struct KeptDocument<'a> {
    key: &'a ObjectKey,
    #[schemars(length(min = 1))]
    why: &'a str,
}

/// A step and its result.
// `O` is the list of its outcomes: written one by one, or collected.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "step", bound = "")]
#[schemars(extend(
    "if" = { "not": { "required": ["wait"] } },
    "then" = { "properties": { "outcomes": { "minItems": 1 } } }
))]
pub(super) struct StepDocument<O> {
    #[schemars(extend("enum" = ["settle", "delete", "remove-finalizer", "remove-all-finalizers", "force-delete"]))]
    op: &'static str,
    target: Option<ObjectKey>,
    /// Why a tool sends it, if it is not one of the requested steps: `Flux deletes what …
    /// delivered`.
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<String>,
    /// The propagation policy that the client sends; null when it sends none.
    #[schemars(extend("enum" = ["Background", "Foreground", "Orphan", null]))]
    policy: Option<&'static str>,
    /// For a request of `plan teardown`: what the tool waits for before it sends the next one.
    /// `none`: nothing. `gone`: the end of all objects of the requests so far; if they get stuck,
    /// it never sends the later requests. `settled`: the cluster has settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["none", "gone", "settled"]))]
    wait: Option<&'static str>,
    /// The status that the API server returns; null for a step that sends no request, and for one that is never sent.
    #[schemars(range(min = 100, max = 599))]
    http: Option<u16>,
    /// Every request of a step that sends more than one; `target` and `http` are those of the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 2))]
    requests: Vec<RequestDocument>,
    /// False if the search for other outcomes ended at the limit on states.
    complete: bool,
    /// The first is the verdict, which continues from the verdict of the previous step; the others
    /// are all other reachable states. For a removal, only the last step has any: the states of all
    /// objects once the cluster has settled.
    #[schemars(with = "Vec<OutcomeDocument>")]
    outcomes: O,
    /// Events that the controllers record, cumulative over the steps.
    events: Vec<EventDocument>,
    /// For each object that this step changed: the rules of the specification that say so, and the chain of owners that
    /// leads to it.
    why: BTreeMap<String, WhyDocument>,
    /// The requests of the step, and of the controllers that act on it, that a webhook rejects because it has no
    /// backend.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    rejections: Vec<RejectionDocument>,
    /// APIServices without a backend after the step. While one of them exists, every namespace that is deleted gets
    /// stuck.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    failing_apis: Vec<FailingApiDocument>,
}

/// One request of a step.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "request")]
struct RequestDocument {
    target: ObjectKey,
    #[schemars(range(min = 100, max = 599))]
    http: u16,
}

/// An event that a controller records.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "event")]
struct EventDocument {
    object: ObjectKey,
    reason: &'static str,
    message: String,
    /// Whether every order of arrival produces it.
    certain: bool,
}

/// Why an object changed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "why")]
struct WhyDocument {
    /// Rules of the specification, as `GC-22`.
    #[schemars(inner(regex(pattern = "^[A-Z]+-[0-9]+[a-z]?$")))]
    rules: Vec<&'static str>,
    chain: Vec<ObjectKey>,
    /// How many objects of a long chain are left out after its first.
    #[serde(skip_serializing_if = "is_zero")]
    #[schemars(range(min = 1))]
    omitted: usize,
}

/// An object that a controller would create.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "implied")]
struct ImpliedDocument<'a> {
    key: &'a ObjectKey,
    /// The object that it is created for.
    owner: &'a ObjectKey,
    /// The rule of the specification, or the row of a table, that says so.
    #[schemars(regex(pattern = "^([A-Z]+-[0-9]+[a-z]?|[a-z]+/.+)$"))]
    rule: &'a str,
    /// Its state in the verdict of each step.
    outcomes: Vec<FateDocument>,
}

/// The last step of a plan.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct LastStep(Option<StepDocument<Vec<OutcomeDocument>>>);

impl LastStep {
    /// Takes the last step of a plan.
    pub fn of(view: &PlanView<'_>) -> Self {
        let last = view.plan.steps.len().saturating_sub(1);
        let step = view.steps.get(last).zip(view.plan.steps.get(last));
        Self(step.map(|(step, planned)| StepDocument::new(view, last, step, planned).collected()))
    }

    /// Adds an untouched object to all outcomes that do not contain it.
    pub fn add_untouched(&mut self, key: &ObjectKey) {
        let untouched = FateDocument::from(Fate::Present(Present {
            terminating: false,
            finalizers: Vec::new(),
            owner_references: Vec::new(),
            spec_finalizers: None,
            conditions: None,
        }));
        for outcome in self.outcomes() {
            outcome.add(key, &untouched);
        }
    }

    /// Adds missing objects of `other`, a step of another cluster, in the states of its verdict.
    pub fn merge(&mut self, mut other: Self) {
        let Some(verdict) = other.outcomes().next() else {
            return;
        };
        for outcome in self.outcomes() {
            for (key, fate) in &verdict.objects {
                outcome.add(key, fate);
            }
        }
    }

    fn outcomes(&mut self) -> impl Iterator<Item = &mut OutcomeDocument> {
        self.0.iter_mut().flat_map(|step| &mut step.outcomes)
    }
}

pub(super) fn render(view: &PlanView<'_>) -> String {
    crate::report::line::line(serde_json::to_string_pretty(&PlanDocument::new(view)))
}

impl<'a> PlanDocument<'a> {
    /// Builds the whole document of a plan.
    pub(in crate::report) fn new(view: &'a PlanView<'a>) -> Self {
        let verdicts: Vec<BTreeMap<ObjectKey, Fate>> = if view.implied.is_empty() {
            Vec::new()
        } else {
            let steps = view.plan.steps.iter();
            let verdicts = steps.filter_map(|step| step.outcomes.first());
            verdicts
                .map(|verdict| view.plan.fates(verdict).into_iter().collect())
                .collect()
        };
        let steps = if let Some(removal) = &view.removal {
            StepDocument::of_removal(view, removal, view.steps)
        } else {
            let steps = view.steps.iter().zip(&view.plan.steps).enumerate();
            steps
                .map(|(index, (step, planned))| StepDocument::new(view, index, step, planned))
                .collect()
        };
        let removal = view.removal.as_ref();
        let safe_order = removal.map(|removal| {
            let commands = removal.safe_order.iter().flatten();
            commands
                .map(|SafeCommand { command, why }| SafeCommandDocument { command, why })
                .collect()
        });
        let kept = removal.map(|removal| {
            let kept = removal.kept.iter();
            kept.map(|(key, why)| KeptDocument { key, why }).collect()
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
            unread: view.unread.iter().collect(),
            safe_order,
            kept,
        }
    }
}

impl<'a> StepDocument<Outcomes<'a>> {
    fn new(view: &'a PlanView<'a>, index: usize, step: &'a Step, planned: &'a StepPlan) -> Self {
        let (_, _, targets) = operation(step);
        let requests = targets.iter().zip(&planned.responses);
        let requests = requests.map(|(target, http)| RequestDocument {
            target: target.clone(),
            http: *http,
        });
        let why = view.plan.why(index).into_iter();
        let why = why.map(|(key, why)| (key.to_string(), WhyDocument::from(why)));
        Self {
            because: view.because(index).map(str::to_owned),
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
            ..Self::without_result(view, step)
        }
    }

    fn without_result(view: &'a PlanView<'a>, step: &Step) -> Self {
        let (op, policy, targets) = operation(step);
        Self {
            op,
            target: targets.first().cloned(),
            because: None,
            policy: policy.map(policy_name),
            wait: None,
            http: None,
            requests: Vec::new(),
            complete: true,
            outcomes: Outcomes::new(view, &[]),
            events: Vec::new(),
            why: BTreeMap::new(),
            rejections: Vec::new(),
            failing_apis: Vec::new(),
        }
    }

    /// Builds the steps before a removal, then one step per request; only the last one has outcomes.
    fn of_removal(view: &'a PlanView<'a>, removal: &RemovalView, steps: &'a [Step]) -> Vec<Self> {
        let (before, requests) = steps.split_at(removal.first.min(steps.len()));
        let Some(together) = view.plan.steps.get(removal.first) else {
            return Vec::new();
        };
        let mut responses = together.responses.iter().copied();
        let documents = before.iter().chain(requests).map(|step| {
            let wait = match step {
                Step::Delete { wait, .. } | Step::RemoveFinalizer { wait, .. } => *wait,
                _ => Wait::Settled,
            };
            let mut document = Self::without_result(view, step);
            document.wait = Some(wait_name(wait));
            // A step without targets sends no request, so it has no response.
            if document.target.is_some() {
                document.http = responses.next();
            }
            document
        });
        let mut documents: Vec<Self> = documents.collect();
        if let (Some(last), Some(request)) = (documents.last_mut(), requests.last()) {
            *last = Self {
                because: None,
                wait: last.wait,
                http: last.http,
                requests: Vec::new(),
                ..Self::new(view, removal.first, request, together)
            };
        }
        documents
    }
}

impl StepDocument<Outcomes<'_>> {
    /// Collects the outcomes of the step.
    fn collected(self) -> StepDocument<Vec<OutcomeDocument>> {
        StepDocument {
            op: self.op,
            target: self.target,
            because: self.because,
            policy: self.policy,
            wait: self.wait,
            http: self.http,
            requests: self.requests,
            complete: self.complete,
            outcomes: self.outcomes.documents().collect(),
            events: self.events,
            why: self.why,
            rejections: self.rejections,
            failing_apis: self.failing_apis,
        }
    }
}

/// Returns the operation in the contract's terms, the policy that the client sends, and the targets of a step.
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
        // The operation implies the policy.
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
        let verdicts = verdicts.iter();
        let fates = verdicts.filter_map(|verdict| verdict.get(&implied.key));
        Self {
            key: &implied.key,
            owner: &implied.owner,
            rule: &implied.rule,
            outcomes: fates.cloned().map(FateDocument::from).collect(),
        }
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl From<Why> for WhyDocument {
    fn from(why: Why) -> Self {
        Self {
            rules: Cause::all_citations(&why.causes),
            chain: why.chain,
            omitted: why.omitted,
        }
    }
}

impl From<&Event> for EventDocument {
    fn from(event: &Event) -> Self {
        Self {
            object: event.object.clone(),
            reason: event.reason,
            message: event.message.clone(),
            certain: event.certain,
        }
    }
}
