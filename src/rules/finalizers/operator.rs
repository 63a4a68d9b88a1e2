//! An operator that a delivery tool deletes together with the objects that only it can release.
//!
//! The tool's requests are simulated on the bundle's cluster: an object that is stuck at the end is stuck because of
//! their order. If the tool fixes the order, the finding is certain; if it deletes everything at about the same time,
//! it is a race.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::steps_of;
use crate::delivery::flux::{HelmReleaseSettings, KustomizationSettings};
use crate::delivery::helm::HelmVersion;
use crate::delivery::{
    DeliveredSet, FluxObject, HookEvent, Leaving, Operation, Phase, Regime, ToolRequest, argocd,
    flux, helm, marks,
};
use crate::finding::{Applicability, Severity};
use crate::inventory::{Member, ObjectId};
use crate::kube::{ObjectKey, Policy, Wait};
use crate::ownership::FinalizerHolder;
use crate::ownership::access::Budget;
use crate::rules::delivery::hooks::hook_of;
use crate::rules::draft::{Draft, MOST_RELATED};
use crate::rules::finalizers::held::{Held, counted, held, resting};
use crate::rules::finalizers::words::with_workload;
use crate::rules::proposal::Proposal;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::trials::tried;
use crate::rules::words::named;

pub(in crate::rules) static OPERATOR_DELETED_FIRST: Rule = rule!(
    Finalizers,
    "operator-deleted-first",
    Warning,
    Stuck,
    "A delivery tool deletes an operator before, or together with, the objects that only it can release",
    operator_deleted_first
).fixes(&[Applicability::Suggested]).slow();

/// How likely the objects of an operator get stuck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Risk {
    /// Possible: only permissions or the name of an image show that it is the operator.
    Guess,
    /// They get stuck unless the operator removes its finalizers before it is deleted.
    Race,
    /// The tool deletes the operator or its permissions first.
    Certain,
}

fn operator_deleted_first(context: &Context<'_>, sink: &mut Sink) {
    let held = held(context);
    if held.is_empty() {
        return;
    }
    let sets = context
        .analysis
        .deliveries()
        .sets(context.inventory)
        .into_iter()
        .filter_map(|set| {
            let inside: BTreeSet<ObjectId> = set.members.iter().copied().collect();
            let held: Vec<&Held<'_>> = held
                .iter()
                .filter(|held| inside.contains(&held.member.id) && inside.contains(&held.operator))
                .collect();
            (!held.is_empty() && !has_hook_before(context, &set)).then_some((set, held))
        });
    for (set, held) in tried(sets, context, sink) {
        let requests = requests(context, &set);
        let mut left: BTreeMap<ObjectId, Vec<(Risk, &Held<'_>)>> = BTreeMap::new();
        for (risk, held) in left_behind(context, set.regime, &requests, &held) {
            left.entry(held.operator).or_default().push((risk, held));
        }
        for (operator, mut left) in left {
            // The highest risk comes first and decides the severity.
            left.sort_by_key(|(risk, held)| (std::cmp::Reverse(*risk), held.member.id));
            sink.push(finding(
                context,
                set.regime,
                context.inventory.member(operator),
                &left,
            ));
        }
    }
}

/// Whether a hook runs before anything is deleted. It may delete the objects and wait for them.
pub(super) fn has_hook_before(context: &Context<'_>, set: &DeliveredSet) -> bool {
    let before_deletion = HookEvent {
        operation: Operation::Delete,
        phase: Phase::Before,
    };
    set.members
        .iter()
        .filter_map(|id| hook_of(context, context.inventory.member(*id)))
        .any(|hook| hook.events.contains(&before_deletion))
}

/// Returns the requests of the tool when it removes everything that it delivered together.
fn requests(context: &Context<'_>, set: &DeliveredSet) -> Vec<ToolRequest> {
    let inventory = context.inventory;
    let members = set.members.iter().map(|id| inventory.member(*id)).collect();
    let leaving = Leaving {
        inventory,
        deliveries: context.analysis.deliveries(),
        members,
    };
    let withdrawal = match set.regime {
        Regime::Helm => helm::uninstall(&leaving, HelmVersion::default(), Policy::Background),
        Regime::ArgoCd => argocd::application_deleted(&leaving, Policy::Foreground),
        Regime::Flux(FluxObject::Kustomization) => {
            flux::kustomization_deleted(&leaving, KustomizationSettings::default())
        }
        Regime::Flux(FluxObject::HelmRelease) => flux::helm_release_deleted(
            &leaving,
            HelmVersion::default(),
            HelmReleaseSettings::default(),
        ),
        Regime::Kubectl => return Vec::new(),
    };
    withdrawal.requests
}

/// Returns the objects that are stuck once the tool has sent all requests.
fn left_behind<'h, 'a>(
    context: &Context<'_>,
    regime: Regime,
    requests: &[ToolRequest],
    held: &[&'h Held<'a>],
) -> Vec<(Risk, &'h Held<'a>)> {
    let steps = steps_of(requests);
    let plan = steps
        .len()
        .checked_sub(1)
        .and_then(|last| Some((context.plans.plan_of_steps(&steps)?, last)));
    let stuck: BTreeMap<ObjectKey, bool> = plan.map_or_else(BTreeMap::new, |(plan, last)| {
        let stuck = plan.stuck(last).into_iter();
        stuck
            .map(|stuck| (plan.cluster().key(stuck.object), stuck.is_certain()))
            .collect()
    });
    let places: BTreeMap<&ObjectKey, usize> = (0..)
        .zip(requests)
        .map(|(at, request)| (&request.key, at))
        .collect();
    // Only Helm's order of requests is fixed: Argo CD and Kustomizations send some of them concurrently.
    let ordered = regime.is_release();
    let left = held.iter().filter_map(|held| {
        let risk = if held.is_guess() {
            let operator = &context.inventory.member(held.operator).key;
            is_deleted_with(requests, &places, &held.member.key, operator).then_some(Risk::Guess)?
        } else {
            let certain = *stuck.get(&held.member.key)?;
            // Something other than the operator may hold it.
            lost(context, held)
                .find(|id| places.contains_key(&context.inventory.member(*id).key))?;
            if certain && ordered {
                Risk::Certain
            } else {
                Risk::Race
            }
        };
        Some((risk, *held))
    });
    left.collect()
}

/// Returns the operator of an object, and the objects that give it its permissions.
fn lost(context: &Context<'_>, held: &Held<'_>) -> impl Iterator<Item = ObjectId> {
    let holder = FinalizerHolder {
        name: None,
        ..FinalizerHolder::of(held.member)
    };
    let access = context.ownership.removers.access();
    let authority = access.authority(
        context.inventory,
        held.operator,
        &holder,
        &mut Budget::default(),
    );
    std::iter::once(held.operator).chain(authority.alternatives().into_iter().flatten())
}

/// Whether the tool deletes both, and does not wait for the object before it deletes the operator.
fn is_deleted_with(
    requests: &[ToolRequest],
    places: &BTreeMap<&ObjectKey, usize>,
    object: &ObjectKey,
    operator: &ObjectKey,
) -> bool {
    let (Some(&object), Some(&operator)) = (places.get(object), places.get(operator)) else {
        return false;
    };
    !requests
        .get(object..operator)
        .is_some_and(|between| between.iter().any(|request| request.wait != Wait::None))
}

fn finding(
    context: &Context<'_>,
    regime: Regime,
    operator: &Member,
    left: &[(Risk, &Held<'_>)],
) -> Draft {
    let (risk, first) = left[0];
    let (who, objects) = (named(operator), counted(named(first.member), left.len()));
    let severity = match risk {
        _ if !first.is_verified() => Severity::Info,
        Risk::Guess => Severity::Info,
        Risk::Race => Severity::Warning,
        Risk::Certain => Severity::Error,
    };
    let words = RemovalWords::of(regime);
    let message = match risk {
        Risk::Guess => format!(
            "{} may leave {objects} stuck: {who}, which may be what releases them, is deleted",
            words.removal
        ),
        Risk::Race => format!(
            "{} may leave {objects} stuck: {who} is deleted at about the same time",
            words.removal
        ),
        Risk::Certain => format!(
            "{} leaves {objects} stuck: {who} is deleted first",
            words.removal
        ),
    };
    let delete = "delete these objects first and wait until they are gone";
    let draft = Draft::on(operator, operator.object.name_span(), message)
        .severity(severity)
        .label("is gone before they are released")
        .reason(format!(
            "{} {who} {} the finalizer `{}` of {}. Without it the object stays Terminating, and so do its \
             CustomResourceDefinition and its namespace if they are deleted.",
            words.order,
            if risk == Risk::Guess { "may be what removes" } else { "removes" },
            first.finalizer,
            named(first.member)
        ))
        .claims_absence(context.inventory)
        .help(format!("{delete}: by hand, or {}", words.mitigation))
    .fix((regime == Regime::ArgoCd).then(|| deleted_before(context, left)))
        .field("metadata.name")
        .target(first.member.key.group_kind().to_string());
    let draft = resting(draft, context, left.iter().map(|(_, held)| held.finalizer));
    let draft = with_workload(draft, context.inventory, &first.remover);
    left.iter()
        .take(MOST_RELATED)
        .fold(draft, |draft, (_, held)| {
            draft.related_object(
                held.member,
                format!("has or gets the finalizer `{}`", held.finalizer),
            )
        })
}

/// Proposes a sync wave above those of the operator and its permissions: Argo CD deletes waves in reverse order.
fn deleted_before(context: &Context<'_>, left: &[(Risk, &Held<'_>)]) -> Proposal {
    let last = left
        .iter()
        .flat_map(|(_, held)| lost(context, held))
        .map(|id| argocd::wave(context.inventory.member(id)))
        .max()
        .unwrap_or_default();
    let wave = last.saturating_add(1).to_string();
    let proposal = Proposal::suggested(format!(
        "put the objects that the operator has to release into sync wave {wave}"
    ));
    let members: BTreeMap<ObjectId, &Member> = left
        .iter()
        .map(|(_, held)| (held.member.id, held.member))
        .collect();
    members.into_values().fold(proposal, |proposal, member| {
        proposal.annotate(member, marks::ARGOCD_SYNC_WAVE, &*wave)
    })
}

/// The removal of everything that a tool delivered, in words.
struct RemovalWords {
    removal: &'static str,
    order: &'static str,
    mitigation: &'static str,
}

impl RemovalWords {
    fn of(regime: Regime) -> Self {
        let helm = "Helm deletes kind by kind without waiting: workloads and permissions first, kinds that it does not know, \
                    such as custom resources, last.";
        let hook = "with a hook `helm.sh/hook: pre-delete` of the chart; or put them into a release of their own, and \
                    uninstall that first";
        match regime {
            Regime::Helm => Self {
                removal: "uninstalling the release",
                order: helm,
                mitigation: hook,
            },
            Regime::Flux(FluxObject::HelmRelease) => Self {
                removal: "deleting the HelmRelease",
                order: helm,
                mitigation: hook,
            },
            Regime::ArgoCd => Self {
                removal: "deleting the Application",
                order: "Argo CD deletes everything of one wave at once.",
                mitigation: "with a higher `argocd.argoproj.io/sync-wave` than the operator's: Argo CD deletes the highest \
                             wave first, and waits for it",
            },
            Regime::Flux(FluxObject::Kustomization) | Regime::Kubectl => Self {
                removal: "deleting the Kustomization",
                order: "Flux deletes custom resources first, and the operator a moment later, without waiting.",
                mitigation: "with a Kustomization of their own that depends on the operator's and has `deletionPolicy: \
                             WaitForTermination`, which is deleted first",
            },
        }
    }
}
