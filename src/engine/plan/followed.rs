//! The deletions that tools make on their own after one: Flux deletes the objects of a Kustomization and uninstalls the
//! release of a HelmRelease, Argo CD deletes the objects of an Application.

use std::collections::{BTreeSet, VecDeque};

use foldhash::HashMap;

use crate::cluster::Analysis;
use crate::delivery::flux::{HelmReleaseSettings, KustomizationSettings};
use crate::delivery::helm::HelmVersion;
use crate::delivery::{Leaving, Op, Regime, Withdrawal, argocd, flux};
use crate::engine::rendering::{RENDERED, rendered_beside};
use crate::gc::Step;
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::{ObjectKey, Wait, kinds};
use crate::ownership::{DeliveryKind, DeliveryObject};
use crate::text::FileId;

/// The requests of tools after a deletion.
#[derive(Debug, Default)]
pub(super) struct Followed {
    /// Each with its title.
    pub(super) steps: Vec<(Step, String)>,
    /// Sentences on deletions that cannot be followed, because their objects are not in the input.
    pub(super) unknown: Vec<String>,
}

/// The files with renderings of charts, by their paths without number and ending.
type Rendered<'i> = HashMap<&'i str, Vec<FileId>>;

fn rendered(inventory: &Inventory) -> Rendered<'_> {
    let mut rendered = Rendered::default();
    for (id, file) in inventory.files() {
        let path = file.source().path();
        if let Some(end) = path.rfind(RENDERED) {
            let beside = &path[..end + RENDERED.len()];
            rendered.entry(beside).or_default().push(id);
        }
    }
    rendered
}

/// The deletions that follow that of `targets`, and those that follow these in turn.
pub(super) fn followed(analysis: &Analysis<'_>, targets: &[ObjectKey]) -> Followed {
    let inventory = analysis.inventory();
    let objects = analysis.delivery_objects();
    let mut delivering: HashMap<&ObjectKey, Vec<usize>> = HashMap::default();
    for (at, object) in objects.iter().enumerate() {
        let key = &inventory.member(object.id).key;
        delivering.entry(key).or_default().push(at);
    }
    let rendered = rendered(inventory);
    let mut followed = Followed::default();
    let has_deliveries = (0..objects.len()).any(|at| !analysis.reach().files(at).is_empty());
    if has_deliveries && !inventory.neighbourhood().kustomizations().is_empty() {
        followed.unknown.push(
            "Read as the files are written: what kustomizations, target namespaces and variables make of them is not \
             part of this plan. `ownerlint list --deliveries` lists the objects as they are applied, and `ownerlint diff` \
             says what removing them deletes."
                .to_owned(),
        );
    }
    let mut pending: VecDeque<ObjectKey> = targets.iter().cloned().collect();
    let mut seen: BTreeSet<ObjectKey> = targets.iter().cloned().collect();
    while let Some(key) = pending.pop_front() {
        // Most of its Applications are in no file.
        if key.is(kinds::APPLICATION_SET) {
            followed.unknown.push(format!(
                "Not followed: Argo CD deletes the Applications that {key} generates and, unless it preserves them, \
                 the objects that they deliver. `ownerlint list --deliveries` lists them."
            ));
            continue;
        }
        for &at in delivering.get(&key).into_iter().flatten() {
            let object = &objects[at];
            let tool = Regime::of(object.kind).tool();
            let withdrawal = withdrawal(analysis, at, &rendered);
            let gone: Vec<ObjectKey> = withdrawal
                .requests
                .iter()
                .filter(|request| request.op == Op::Delete && seen.insert(request.key.clone()))
                .map(|request| request.key.clone())
                .collect();
            if gone.is_empty() {
                let is_empty = withdrawal.nothing.is_none() && withdrawal.requests.is_empty();
                if is_empty && object.deletes() {
                    followed.unknown.push(unknown(object, &key, tool));
                }
                continue;
            }
            pending.extend(gone.iter().cloned());
            let first = withdrawal.requests.first();
            let step = Step::Delete {
                targets: gone,
                policy: first.and_then(|request| request.policy),
                wait: Wait::Settled,
                client: 0,
            };
            let title = format!("{tool} deletes what {key} delivered");
            followed.steps.push((step, title));
        }
    }
    followed
}

/// The tool's requests once a delivery object is deleted.
fn withdrawal<'a>(
    analysis: &'a Analysis<'_>,
    at: usize,
    rendered: &Rendered<'_>,
) -> Withdrawal<'a> {
    let inventory = analysis.inventory();
    let object = &analysis.delivery_objects()[at];
    let own = inventory.member(object.id);
    let leaving = Leaving {
        inventory,
        deliveries: analysis.deliveries(),
        members: delivered(analysis, at, rendered),
    };
    match object.kind {
        DeliveryKind::Kustomization => {
            flux::kustomization_deleted(&leaving, KustomizationSettings::of(&own.object))
        }
        DeliveryKind::HelmRelease => {
            let settings = HelmReleaseSettings::of(&own.object);
            flux::helm_release_deleted(&leaving, HelmVersion::default(), settings)
        }
        DeliveryKind::Application | DeliveryKind::Generated => {
            match argocd::policy_of(&own.object) {
                Some(policy) => argocd::application_deleted(&leaving, policy),
                None => Withdrawal::nothing("has no resources finalizer"),
            }
        }
    }
}

/// The objects of the input that a delivery object delivers, those of its rendered charts included.
fn delivered<'a>(
    analysis: &'a Analysis<'_>,
    at: usize,
    rendered: &Rendered<'_>,
) -> Vec<&'a Member> {
    let inventory = analysis.inventory();
    let built = analysis.reach().deliveries(at);
    let mut ids: BTreeSet<ObjectId> = built
        .flat_map(|one| one.objects(inventory))
        .filter_map(|end| end.id)
        .collect();
    let own = inventory.member(analysis.delivery_objects()[at].id);
    let file = inventory.sources.file(own.file).path();
    let beside = rendered_beside(file, &own.key.name);
    let charts = rendered.get(&*beside).into_iter().flatten();
    let of_charts = charts.flat_map(|file| inventory.members_of(*file));
    ids.extend(of_charts.map(|member| member.id));
    let members = ids.into_iter().map(|id| inventory.member(id));
    // A Kustomization may be among what it delivers.
    members.filter(|member| member.id != own.id).collect()
}

fn unknown(object: &DeliveryObject, key: &ObjectKey, tool: &str) -> String {
    let (what, remedy) = match object.kind {
        DeliveryKind::HelmRelease => (
            "the objects of its release",
            "`--render` renders its chart, if `helm` is installed",
        ),
        _ => (
            "what it delivers",
            "add the folder or the repository that it names to the input",
        ),
    };
    format!(
        "Not followed: {tool} deletes {what} once {key} is deleted, and they are not in the input: {remedy}."
    )
}
