//! Objects by which tools deliver others, when they leave.

use std::cell::LazyCell;

use foldhash::{HashMap, HashSet};

use super::places::{changed_in_head, on_base, related_in_head};
use super::words::{deletes, leaving, shown, stuck, taking, tool};
use crate::finding::{Consequence, Severity};
use crate::inventory::{Member, ObjectId};
use crate::kube::kinds;
use crate::merge::{CascadeKind, EffectCertainty, Merge, MergeCascade};
use crate::ownership::{DeliveryKind, DeliveryObject, delivered_by};
use crate::rules::draft::{Draft, MOST_RELATED};
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::{listed, named};
use crate::text::plain;

pub(in crate::rules) static DELIVERY_REMOVED: Rule = rule!(
    Change,
    "delivery-removed",
    Error,
    Collected,
    "An Application, Kustomization or HelmRelease is removed, and its objects are deleted or left behind",
    change delivery_removed
);

fn delivery_removed(merge: &Merge<'_>, sink: &mut Sink) {
    sink.extend(
        merge
            .of_kind(CascadeKind::Delivery)
            .map(|cascade| draft(merge, cascade)),
    );
    let told: HashSet<ObjectId> = merge
        .of_kind(CascadeKind::Delivery)
        .map(|cascade| cascade.culprit.id)
        .collect();
    let delivered = LazyCell::new(|| delivered_of_all(merge));
    let leaving = merge
        .part
        .leaving
        .iter()
        .map(|id| merge.part.base.inventory.member(*id));
    for member in
        leaving.filter(|member| !told.contains(&member.id) && merge.end_of(&member.key).is_some())
    {
        if let Some(object) = delivered_by(member).first() {
            let children = delivered.get(&member.id).map_or(&[][..], Vec::as_slice);
            sink.extend(unseen(merge, member, object, children));
        }
    }
    sink.extend(generated(merge));
}

fn draft(merge: &Merge<'_>, cascade: &MergeCascade<'_>) -> Draft {
    let delivery = cascade.culprit;
    let draft = on_base(
        merge,
        delivery,
        delivery.object.name_span(),
        format!("{} {}", leaving(merge, delivery), taking(merge, cascade)),
    )
    .label("delivers the deleted objects")
    .reason(format!(
        "{} deletes it, and it then deletes everything that it delivered.{}",
        tool(merge, delivery),
        stuck(cascade)
    ))
    .help(recipe(merge, delivery))
    .field("metadata.name")
    .severity(cascade.severity);
    shown(draft, merge, cascade)
}

/// How to remove or rename an object that delivers without deleting what it delivered.
fn recipe(merge: &Merge<'_>, delivery: &Member) -> String {
    let kind = delivery.object.kind();
    if let Some(set) = merge.part.generated_by(delivery) {
        return format!(
            "in ApplicationSet `{}` set `spec.syncPolicy.preserveResourcesOnDeletion: true`, and take the finalizer \
             `resources-finalizer.argocd.argoproj.io` out of its template if that has it. Merge that and wait until it is \
             synced; then let it generate the {kind} no more",
            plain::one_line(&set.name)
        );
    }
    match delivery.object.group_kind() {
        kinds::FLUX_KUSTOMIZATION => {
            "set `spec.prune: false` (or `spec.deletionPolicy: Orphan`), merge that and wait until Flux has applied it; then remove \
             or rename the Kustomization, and set `prune` again in the new one"
                .to_owned()
        }
        kinds::HELM_RELEASE => {
            "set `spec.suspend: true`, merge that and wait until Flux has applied it; then remove or rename the HelmRelease. A new one \
             takes the release over if its `spec.releaseName`, `storageNamespace` and `targetNamespace` are those of the old one"
                .to_owned()
        }
        kinds::APPLICATION_SET => {
            "set `spec.syncPolicy.preserveResourcesOnDeletion: true`, merge that and wait until it is synced; then remove or rename \
             the ApplicationSet or its elements"
                .to_owned()
        }
        _ => format!(
            "remove the finalizer `resources-finalizer.argocd.argoproj.io` from the {kind}, merge that and wait until it is synced; \
             then remove or rename the {kind}"
        ),
    }
}

/// Removed deliverers that take no known object along: because they are renamed and hand their objects over, because
/// these are elsewhere, or because they leave them behind.
fn unseen(
    merge: &Merge<'_>,
    member: &Member,
    object: &DeliveryObject,
    children: &[&Member],
) -> Option<Draft> {
    let here = |message: String| {
        on_base(merge, member, member.object.name_span(), message)
            .field("metadata.name")
            .help(recipe(merge, member))
    };
    let renamed = merge.part.renamed(member);
    let end = merge.end_of(&member.key);
    let is_possible = end.is_some_and(|end| end.certainty == EffectCertainty::Possible);
    let verb = deletes(merge, member);
    let certain = merge.is_told(member) && !is_possible;
    if object.suspended {
        return None;
    }
    if !object.deletes() {
        let left = (!children.is_empty()).then(|| plain::count(children.len(), "object"))?;
        let draft = here(format!("{} leaves {left} behind", leaving(merge, member)))
            .label("deletes nothing")
            .reason(
                "Its own deletion does not delete its objects. From then on nothing manages them.",
            )
            .help("delete the objects by hand, or let it prune before it leaves")
            .consequence(Consequence::Orphaned)
            .severity(Severity::Info);
        return renamed.is_none().then_some(draft);
    }
    // A Kustomization applies before it prunes: what it takes over from one that it deletes has its labels by then, and the other
    // one spares it (fluxcd/kustomize-controller internal/controller/kustomization_controller.go, fluxcd/pkg
    // ssa/manager_delete.go).
    let is_flux = object.kind == DeliveryKind::Kustomization;
    let is_safe = |child: &Member| is_flux && merge.part.is_applied_beside(&child.key, member);
    let handed = children.iter().filter(|child| !is_safe(child));
    let handed: Vec<&Member> = handed
        .filter_map(|child| merge.part.still_applied(child))
        .collect();
    match (renamed, handed.len()) {
        (_, 1..) => {
            let number = plain::count(handed.len(), "object");
            let draft = here(format!("{} {verb} {number} that head still applies", leaving(merge, member)))
                .label("delivers the deleted objects")
                .reason(
                    "For the tool a new name is a new object. The old one is deleted and deletes its objects, while the \
                     new one creates the same objects: they are deleted unless the new one is quicker, and come back empty.",
                )
                .severity(if certain { Severity::Error } else { Severity::Warning });
            let shown = handed.iter().take(MOST_RELATED - 1);
            Some(shown.fold(cause(draft, merge, renamed), |draft, child| {
                related_in_head(draft, merge, child, "is deleted, and created again")
            }))
        }
        (Some(_), 0) => {
            let draft = here(format!("{} {verb} everything that it delivered", leaving(merge, member)))
                .label("delivers the deleted objects")
                .reason(
                    "For the tool a new name is a new object. The old one is deleted with everything that it delivered, and the new one \
                     starts from nothing: volumes and generated objects are not taken over.",
                )
                .severity(Severity::Warning);
            Some(cause(draft, merge, renamed))
        }
        _ => None,
    }
}

fn cause(draft: Draft, merge: &Merge<'_>, renamed: Option<&Member>) -> Draft {
    match renamed {
        Some(after) => changed_in_head(
            draft,
            merge,
            after,
            after.object.name_span(),
            "its new name",
        ),
        None => draft,
    }
}

/// The objects of the tree that each object delivers.
fn delivered_of_all<'a>(merge: &Merge<'a>) -> HashMap<ObjectId, Vec<&'a Member>> {
    let mut delivered: HashMap<ObjectId, Vec<&Member>> = HashMap::default();
    for member in &merge.part.base.inventory.members {
        if let Some(by) = merge.part.deliverer_here(member) {
            delivered.entry(by.id).or_default().push(member);
        }
    }
    delivered
}

/// Applications that an ApplicationSet no longer generates.
fn generated(merge: &Merge<'_>) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for set in merge
        .part
        .base
        .inventory
        .members
        .iter()
        .filter(|member| member.object.is(kinds::APPLICATION_SET))
    {
        let after = merge
            .part
            .after(&set.key)
            .or_else(|| merge.part.renamed(set));
        let leaves = merge.end_of(&set.key).is_some();
        let stays = after.map(delivered_by).unwrap_or_default();
        if after.is_none() && !leaves || stays.is_empty() && after.is_some() {
            continue;
        }
        let gone: Vec<DeliveryObject> = delivered_by(set)
            .into_iter()
            .filter(|object| {
                object.deletes() && !stays.iter().any(|stays| stays.name == object.name)
            })
            .collect();
        if gone.is_empty() {
            continue;
        }
        let names = listed(gone.iter().map(|object| object.name.as_str()));
        let before: Vec<String> = delivered_by(set)
            .into_iter()
            .map(|object| object.name)
            .collect();
        let new = stays.iter().filter(|object| !before.contains(&object.name));
        let same_source = |old: &DeliveryObject, new: &DeliveryObject| {
            old.sources
                .iter()
                .zip(&new.sources)
                .any(|(old, new)| old.content == new.content)
        };
        let renamed = new
            .clone()
            .any(|new| gone.iter().any(|old| same_source(old, new)));
        let (what, they) = if gone.len() == 1 {
            ("Application", "it")
        } else {
            ("Applications", "they")
        };
        let message = format!(
            "{} no longer generates {what} {names}, which deletes everything that {they} delivered",
            named(set)
        );
        let draft = on_base(merge, set, set.object.name_span(), message)
            .label("generates them in base")
            .reason(
                "An ApplicationSet adds the resources finalizer to the Applications that it generates. It deletes an Application that its \
                 generators no longer give, or give another name, and Argo CD then deletes everything that this delivered.",
            )
            .help(recipe(merge, set))
            .field("metadata.name")
            .target(gone.iter().map(|object| object.name.as_str()).collect::<Vec<_>>().join(","))
            .severity(if renamed { Severity::Error } else { Severity::Warning });
        drafts.push(match after {
            Some(after) => changed_in_head(
                draft,
                merge,
                after,
                after.object.name_span(),
                "generates others",
            ),
            None => draft,
        });
    }
    drafts
}
