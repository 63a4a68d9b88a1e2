//! An operator that a delivery tool deletes together with the objects that only it can release.
//!
//! The tool's requests are simulated on the bundle's cluster: an object that is stuck at the end is stuck because of
//! the order of the requests. If the tool fixes the order, the finding is certain; if it deletes everything at about
//! the same time, it is a race.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

use foldhash::HashMap;

use crate::cluster::steps_of;
use crate::delivery::flux::{HelmReleaseSettings, KustomizationSettings};
use crate::delivery::helm::HelmVersion;
use crate::delivery::{
    DeliveredSet, FluxObject, Leaving, Regime, ToolRequest, argocd, flux, helm, marks,
};
use crate::finding::{Applicability, Severity};
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::{ObjectKey, Policy, Wait};
use crate::ownership::FinalizerHolder;
use crate::ownership::access::Budget;
use crate::rules::draft::Draft;
use crate::rules::finalizers::early_hooks::EarlyHooks;
use crate::rules::finalizers::held::{Held, counted, held, with_held};
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

/// How likely it is that the objects of an operator get stuck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Risk {
    /// Possible: only permissions or the name of an image show that the workload is the operator.
    Guess,
    /// They get stuck unless the operator removes its finalizers before it is deleted.
    Race,
    /// The tool deletes the operator or its permissions first.
    Certain,
}

/// An object that an operator releases.
struct Released<'a> {
    held: Held<'a>,
    /// The objects that authorize the operator, as alternatives of which one is sufficient.
    authority: Rc<[Vec<ObjectId>]>,
}

impl Released<'_> {
    /// Returns the operator, and the objects that give it its permissions.
    fn needs(&self) -> impl Iterator<Item = ObjectId> {
        std::iter::once(self.held.operator).chain(self.authority.iter().flatten().copied())
    }

    /// Whether nothing can release the object once the objects that `goes` selects are deleted. If the operator is a
    /// guess, only its own deletion counts.
    fn is_lost_with(&self, goes: impl Fn(ObjectId) -> bool) -> bool {
        let mut ways = self.authority.iter();
        goes(self.held.operator)
            || !self.held.is_guess()
                && !self.authority.is_empty()
                && ways.all(|needed| needed.iter().any(|id| goes(*id)))
    }
}

fn operator_deleted_first(context: &Context<'_>, sink: &mut Sink) {
    let mut held = held(context);
    if held.is_empty() {
        return;
    }
    let together = context.analysis.together();
    held.retain(|held| together.set_of(held.member.id).is_some());
    let released = released(context, held);
    let mut by_set: BTreeMap<usize, Vec<&Released<'_>>> = BTreeMap::new();
    for released in &released {
        let Some(set) = together.set_of(released.held.member.id) else {
            continue;
        };
        if released.is_lost_with(|id| together.set_of(id) == Some(set)) {
            by_set.entry(set).or_default().push(released);
        }
    }
    if by_set.is_empty() {
        return;
    }
    let sets = context.analysis.deliveries().sets(context.inventory);
    let sets = sets.into_iter().enumerate().filter_map(|(at, set)| {
        let mut released = by_set.remove(&at)?;
        let mut hooks = EarlyHooks::of(context, &set);
        released.retain(|released| {
            !hooks.may_release(context, released.held.member, Some(released.held.operator))
        });
        (!released.is_empty()).then_some((set, released, hooks))
    });
    for (set, released, hooks) in tried(sets, context, sink) {
        let requests = requests(context, &set);
        let mut left: BTreeMap<(ObjectId, ObjectId), Vec<(Risk, &Released<'_>)>> = BTreeMap::new();
        for (risk, cause, released) in left_behind(context, set.regime, &requests, &released) {
            let cause = (cause, released.held.operator);
            left.entry(cause).or_default().push((risk, released));
        }
        for ((cause, _), mut left) in left {
            // The highest risk comes first and decides the severity.
            left.sort_by_key(|(risk, released)| (Reverse(*risk), released.held.member.id));
            let cause = context.inventory.member(cause);
            sink.push(hooks.beside(finding(context, set.regime, cause, &left)));
        }
    }
}

/// Returns the objects that operators of the input release, each with the operator's permissions.
fn released<'a>(context: &Context<'a>, held: Vec<Held<'a>>) -> Vec<Released<'a>> {
    let access = context.ownership.removers.access();
    let mut known: HashMap<_, Rc<[Vec<ObjectId>]>> = HashMap::default();
    let released = held.into_iter().map(|held| {
        let key = &held.member.key;
        let authority = known.entry((held.operator, key.group_kind(), &key.namespace));
        let authority = authority.or_insert_with(|| {
            let holder = FinalizerHolder::unnamed(held.member);
            let budget = &mut Budget::default();
            let authority = access.authority(context.inventory, held.operator, &holder, budget);
            authority.alternatives().into()
        });
        Released {
            authority: Rc::clone(authority),
            held,
        }
    });
    released.collect()
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

/// Returns the objects that are stuck once the tool has sent all requests, each with the deleted object that causes it:
/// the operator, or what gives it its permissions.
fn left_behind<'h, 'a>(
    context: &Context<'_>,
    regime: Regime,
    requests: &[ToolRequest],
    released: &[&'h Released<'a>],
) -> Vec<(Risk, ObjectId, &'h Released<'a>)> {
    let steps = steps_of(requests);
    let mut certain_of: BTreeMap<ObjectKey, bool> = BTreeMap::new();
    if let Some(last) = steps.len().checked_sub(1)
        && let Some(plan) = context.plans.plan_of_steps(&steps)
    {
        for stuck in plan.stuck(last) {
            certain_of.insert(plan.cluster().key(stuck.object), stuck.is_certain());
        }
    }
    let order = RequestOrder::of(context.inventory, requests);
    let left = released.iter().filter_map(|released| {
        let (member, operator) = (released.held.member, released.held.operator);
        if released.held.is_guess() {
            let is_left = order.deletes_with(member.id, operator);
            return is_left.then_some((Risk::Guess, operator, *released));
        }
        let certain = *certain_of.get(&member.key)?;
        // If the tool deletes none of them, something else holds the object.
        let deleted = released.needs().find(|id| order.place(*id).is_some())?;
        let gone = order.gone_before(released);
        // Only Helm's order of requests is fixed: Argo CD and Kustomizations send some of them concurrently.
        let risk = if certain && (regime.is_release() || gone.is_some()) {
            Risk::Certain
        } else {
            Risk::Race
        };
        Some((risk, gone.unwrap_or(deleted), *released))
    });
    left.collect()
}

/// The order in which a tool deletes objects.
struct RequestOrder<'r> {
    inventory: &'r Inventory,
    /// The positions of the requests.
    places: HashMap<&'r ObjectKey, usize>,
    /// For each position, the number of earlier requests after which the tool waits.
    waits: Vec<usize>,
}

impl<'r> RequestOrder<'r> {
    fn of(inventory: &'r Inventory, requests: &'r [ToolRequest]) -> Self {
        let places = requests.iter().enumerate();
        let places = places.map(|(at, request)| (&request.key, at));
        let waits = requests.iter().scan(0, |waits, request| {
            let before = *waits;
            *waits += usize::from(request.wait != Wait::None);
            Some(before)
        });
        Self {
            inventory,
            places: places.collect(),
            waits: waits.collect(),
        }
    }

    /// Returns the position of the request that deletes an object, if there is one.
    fn place(&self, id: ObjectId) -> Option<usize> {
        self.places.get(&self.inventory.member(id).key).copied()
    }

    /// Whether the tool deletes both, and does not wait for the object before it deletes the operator.
    fn deletes_with(&self, object: ObjectId, operator: ObjectId) -> bool {
        let places = [object, operator].map(|id| self.place(id));
        !places.contains(&None) && !self.is_awaited(object, operator)
    }

    /// Whether the tool waits between the deletion of `first` and that of `second`.
    fn is_awaited(&self, first: ObjectId, second: ObjectId) -> bool {
        let waits = [first, second].map(|id| self.place(id).map(|at| self.waits[at]));
        matches!(waits, [Some(first), Some(second)] if first < second)
    }

    /// Returns the operator, or an object that gives it its permissions, if the tool waits until that is gone before it
    /// deletes the object to release.
    fn gone_before(&self, released: &Released<'_>) -> Option<ObjectId> {
        let (member, operator) = (released.held.member, released.held.operator);
        if self.is_awaited(operator, member.id) {
            return Some(operator);
        }
        let lost = released.authority.iter().map(|needed| {
            let mut needed = needed.iter();
            needed.find(|id| self.is_awaited(**id, member.id)).copied()
        });
        lost.collect::<Option<Vec<_>>>()?.first().copied()
    }
}

fn finding(
    context: &Context<'_>,
    regime: Regime,
    cause: &Member,
    left: &[(Risk, &Released<'_>)],
) -> Draft {
    let (risk, first) = (left[0].0, &left[0].1.held);
    let operator = context.inventory.member(first.operator);
    let is_operator = cause.id == operator.id;
    let (who, objects) = (named(operator), counted(named(first.member), left.len()));
    let deleted = if is_operator {
        who.clone()
    } else {
        format!("{} of {who}", named(cause))
    };
    let severity = match risk {
        _ if !first.is_verified() => Severity::Info,
        Risk::Guess => Severity::Info,
        Risk::Race => Severity::Warning,
        Risk::Certain => Severity::Error,
    };
    let RemovalWords {
        removal,
        order,
        mitigation,
    } = RemovalWords::of(regime, risk);
    let message = match risk {
        Risk::Guess => format!(
            "{removal} may leave {objects} stuck: {who}, which may be the operator, is deleted"
        ),
        Risk::Race => {
            format!(
                "{removal} may leave {objects} stuck: {deleted} is deleted at about the same time"
            )
        }
        Risk::Certain => format!("{removal} leaves {objects} stuck: {deleted} is deleted first"),
    };
    let needs = if is_operator {
        String::new()
    } else {
        format!(", and needs {} for that", named(cause))
    };
    let draft = Draft::on(cause, cause.object.name_span(), message)
        .severity(severity)
        .label(if risk == Risk::Certain {
            "is gone before the objects are released"
        } else {
            "may be gone before the objects are released"
        })
        .reason(format!(
            "{order} {who} {} the finalizer `{}` of {}{needs}. Without it the object stays Terminating, and so do its \
             CustomResourceDefinition and its namespace if they are deleted.",
            if risk == Risk::Guess { "may be what removes" } else { "removes" },
            first.finalizer,
            named(first.member)
        ))
        .claims_absence(context.inventory)
        .help(format!("delete these objects first and wait until they are gone: by hand, or {mitigation}"))
    .fix((regime == Regime::ArgoCd).then(|| deleted_before(context, left)))
        .field("metadata.name")
        .target(first.member.key.group_kind().to_string());
    let draft = with_workload(draft, context.inventory, &first.remover);
    let held = left.iter().map(|(_, released)| &released.held);
    with_held(draft, context, held)
}

/// Proposes a sync wave above those of the operator and its permissions: Argo CD deletes waves in reverse order.
fn deleted_before(context: &Context<'_>, left: &[(Risk, &Released<'_>)]) -> Proposal {
    let needs = left.iter().flat_map(|(_, released)| released.needs());
    let waves = needs.map(|id| argocd::wave(context.inventory.member(id)));
    let last = waves.max().unwrap_or_default();
    let wave = last.saturating_add(1).to_string();
    let proposal = Proposal::suggested(format!(
        "put the objects that the operator has to release into sync wave {wave}"
    ));
    let members = left.iter().map(|(_, released)| released.held.member);
    let members: BTreeMap<ObjectId, &Member> = members.map(|member| (member.id, member)).collect();
    members.into_values().fold(proposal, |proposal, member| {
        proposal.annotate(member, marks::ARGOCD_SYNC_WAVE, &wave)
    })
}

/// The removal of everything that a tool delivered, in words.
struct RemovalWords {
    removal: &'static str,
    order: &'static str,
    mitigation: &'static str,
}

impl RemovalWords {
    fn of(regime: Regime, risk: Risk) -> Self {
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
                order: if risk == Risk::Certain {
                    "Argo CD deletes the highest wave first, and waits until it is gone."
                } else {
                    "Argo CD deletes everything of one wave at once."
                },
                mitigation: "with a higher `argocd.argoproj.io/sync-wave` than the operator's: Argo CD deletes the highest \
                             wave first, and waits for it",
            },
            Regime::Flux(FluxObject::Kustomization) | Regime::Kubectl => Self {
                removal: "deleting the Kustomization",
                order: "Flux deletes custom resources first, and the operator a moment later, without waiting.",
                mitigation: "with a Kustomization of their own that depends on the operator's and has `deletionPolicy: \
                             WaitForTermination`; delete that one first",
            },
        }
    }
}
