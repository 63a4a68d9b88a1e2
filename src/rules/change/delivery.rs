//! Removed delivery objects, such as Applications, Kustomizations and HelmReleases.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashMap, HashSet};

use super::places::{changed_in_head, left_in_head, on_name, related_in_head};
use super::recipe::{keep, preserve_in_set};
use super::words::{
    counted_objects, deletes, describe_losses, leaving, on_culprit, stuck, taking, tool,
};
use crate::changes::same_value;
use crate::delivery::flux::{DeletionPolicy, KustomizationSettings};
use crate::finding::{Consequence, Severity};
use crate::graph::argo::{RESOURCES_FINALIZER, deletion_policy};
use crate::inventory::{Member, ObjectId};
use crate::kube::{ObjectKey, kinds};
use crate::kustomize::Deliverer;
use crate::merge::{
    Cascade, CascadeKind, DiffEffect, EffectCertainty, EffectKind, LossesByCause, Merge,
    ReplacedRelease,
};
use crate::ownership::{DeliveryKind, DeliveryObject, delivery_object};
use crate::rules::draft::{Draft, MAX_RELATED};
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::named;
use crate::text::plain;
use crate::yaml::Value;

pub(in crate::rules) static DELIVERY_REMOVED: Rule = rule!(
    Change,
    "delivery-removed",
    Error,
    Collected,
    "An Application, Kustomization or HelmRelease is removed or replaces its release, and its objects are deleted or left behind",
    change delivery_removed
);

fn delivery_removed(merge: &Merge<'_>, sink: &mut Sink) {
    let mut lost_with: HashMap<ObjectId, HashSet<&ObjectKey>> = HashMap::default();
    for cascade in merge.of_kind(CascadeKind::Delivery) {
        sink.push(draft(merge, cascade));
        let lost = cascade.losses.iter().map(|loss| &loss.key);
        lost_with.insert(cascade.culprit.id, lost.collect());
    }
    let delivered = LazyCell::new(|| delivered_of_all(merge));
    let known = LazyCell::new(|| merge.part.deliverers_of_all());
    for id in &merge.part.leaving {
        let member = merge.part.base.inventory.member(*id);
        let Some(end) = merge.end_of(&member.key) else {
            continue;
        };
        let Some(object) = delivery_object(member) else {
            continue;
        };
        let children = delivered.get(id).map_or(&[][..], Vec::as_slice);
        let lost_with = lost_with.get(id);
        sink.extend(unseen(merge, (member, end), &object, children, lost_with));
        if lost_with.is_none()
            && let Some(set) = merge.part.generated_by(member)
            && merge.part.renamed(member).is_none()
            && object.deletes()
            && !known.contains(id)
        {
            sink.push(no_longer_generated(merge, member, set));
        }
    }
    let lost = LazyCell::new(|| merge.losses_by_cause());
    for replaced in merge.part.replaced_releases() {
        let losses = replaced.objects.as_ref();
        let losses = losses.map(|objects| losses_of(&lost, objects));
        sink.extend(another_release(merge, &replaced, losses));
    }
}

fn draft(merge: &Merge<'_>, cascade: &Cascade<'_>) -> Draft {
    let delivery = cascade.culprit;
    let kind = delivery.object.kind();
    let message = format!("{} {}", leaving(merge, delivery), taking(merge, cascade));
    let draft = on_culprit(merge, cascade, message);
    let (tool, stuck) = (tool(merge, delivery), stuck(cascade));
    let leaves_objects = delivery_object(delivery).is_some_and(|object| !object.deletes())
        && describe_losses(cascade).is_empty();
    if leaves_objects {
        draft
            .label("deletes nothing")
            .reason(format!(
                "{tool} deletes the {kind}, and its objects stay.{stuck}"
            ))
            .help("remove its finalizers, merge that and wait until it is applied; then remove it")
    } else {
        draft
            .label("delivers the deleted objects")
            .reason(format!(
                "{tool} deletes the {kind}, which then deletes everything that it delivered.{stuck}"
            ))
            .help(recipe(merge, delivery))
    }
}

/// Explains how to remove or rename a delivery object without deleting the objects that it delivered.
fn recipe(merge: &Merge<'_>, delivery: &Member) -> String {
    let kind = delivery.object.kind();
    if let Some(set) = merge.part.generated_by(delivery) {
        return format!("{}; then stop generating the {kind}", preserve_in_set(set));
    }
    match delivery.object.group_kind() {
        kinds::FLUX_KUSTOMIZATION
            if KustomizationSettings::of(&delivery.object).deletion_policy
                != DeletionPolicy::MirrorPrune =>
        {
            "set `spec.deletionPolicy: Orphan` (with its current value, `spec.prune: false` does \
             not keep the objects), merge that and wait until Flux has applied it; then remove or \
             rename the Kustomization, and set the policy again in the new one"
                .to_owned()
        }
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
        kinds::APPLICATION_SET => match preserving(delivery) {
            Some(edits) => format!(
                "{edits}, merge that and wait until it is synced; then remove or rename the ApplicationSet or its elements"
            ),
            None => format!(
                "the objects that its Applications delivered stay. To keep the Applications, too, {}",
                keep(&merge.tools_of(delivery), "the ApplicationSet")
            ),
        },
        _ => format!(
            "remove the finalizer `resources-finalizer.argocd.argoproj.io` from the {kind}, merge that and wait until it is synced; \
             then remove or rename the {kind}"
        ),
    }
}

/// Describes how to make the Applications of a set leave their objects behind when they are
/// deleted; `None` if they do. The policy of the set decides only for a template without
/// finalizers.
fn preserving(set: &Member) -> Option<String> {
    let spec = set.object.at(&["spec"])?;
    let preserves = spec.is_true_at(&["syncPolicy", "preserveResourcesOnDeletion"]);
    let metadata = spec.at(&["template", "metadata"]).into_iter();
    let finalizers = metadata.flat_map(|metadata| metadata.items_at("finalizers"));
    let finalizers: Vec<&str> = finalizers.filter_map(Value::as_str).collect();
    let mut listed = finalizers.iter().copied();
    let finalizer = listed.find(|one| deletion_policy(std::iter::once(*one)).is_some());
    let patch = spec.str_at(&["templatePatch"]).unwrap_or_default();
    let patched = patch
        .contains(RESOURCES_FINALIZER)
        .then_some(RESOURCES_FINALIZER);
    let finalizer = finalizer.or(patched);
    // A finalizer that is taken out of the template is added again, unless the policy forbids that
    // or another finalizer is left.
    let is_added = !preserves && finalizers.iter().all(|one| Some(*one) == finalizer);
    let policy = "set `spec.syncPolicy.preserveResourcesOnDeletion: true`";
    let taken_out = finalizer.map(plain::one_line);
    let taken_out = taken_out.map(|one| format!("remove the finalizer `{one}` from its template"));
    match (is_added, taken_out) {
        (false, taken_out) => taken_out,
        (true, None) => Some(policy.to_owned()),
        (true, Some(taken_out)) => Some(format!("{policy} and {taken_out}")),
    }
}

/// Reports a removed delivery object with which no known object is lost: it is renamed and hands its objects over, its
/// objects are not in the tree, or it leaves them behind. Leaves out `lost_with`, the losses that another finding reports.
fn unseen(
    merge: &Merge<'_>,
    (member, end): (&Member, &DiffEffect),
    object: &DeliveryObject,
    children: &[&Member],
    lost_with: Option<&HashSet<&ObjectKey>>,
) -> Option<Draft> {
    let renamed = merge.part.renamed(member);
    let verb = deletes(merge, member);
    let certain = merge.is_tool_known(member) && end.certainty != EffectCertainty::Possible;
    if object.suspended {
        return None;
    }
    if !object.deletes() {
        if renamed.is_some() || lost_with.is_some() || children.is_empty() {
            return None;
        }
        let left = plain::count(children.len(), "object");
        let message = format!("{} leaves {left} behind", leaving(merge, member));
        let draft = on_name(merge, member, message)
            .label("deletes nothing")
            .reason("Deleting it does not delete its objects. From then on, nothing manages them.")
            .help("delete the objects by hand, or have it prune them before you remove it")
            .consequence(Consequence::Orphaned)
            .severity(Severity::Info);
        return Some(draft);
    }
    // A Kustomization applies before it prunes: objects that it takes over from a deleted one already have its labels,
    // and the deleted one spares them (fluxcd/kustomize-controller internal/controller/kustomization_controller.go,
    // fluxcd/pkg ssa/manager_delete.go).
    let is_flux = object.kind == DeliveryKind::Kustomization;
    let handed = children
        .iter()
        .filter(|child| lost_with.is_none_or(|lost_with| !lost_with.contains(&child.key)))
        .filter(|child| !(is_flux && merge.part.is_applied_beside(&child.key, member)));
    let handed: Vec<(&Member, &Member)> = handed
        .filter_map(|child| Some((*child, merge.part.still_applied(child)?)))
        .collect();
    let leaves = leaving(merge, member);
    if !handed.is_empty() {
        // Another set may own the Applications.
        let is_owned = handed
            .iter()
            .any(|(child, _)| is_surely_delivered(merge, child));
        let certain = certain && is_owned;
        let verb = if is_owned { verb } else { "may delete" };
        let number = plain::count(handed.len(), "object");
        let draft = on_delivery(
            merge,
            member,
            format!("{leaves} {verb} {number} that head still applies"),
        )
        .label("delivers the deleted objects")
        .reason(if renamed.is_some() {
            "To the tool, an object with a new name or namespace is a different object. The old \
             one is deleted with its objects, while the new one creates the same objects. Those \
             that the new one has not taken over by then are deleted, and come back empty."
        } else {
            "It deletes its objects when it is deleted, while another delivery in head creates the \
             same objects. Those that the other delivery has not taken over by then are deleted, \
             and come back empty."
        })
        .severity(if certain {
            Severity::Error
        } else {
            Severity::Warning
        });
        let shown = handed.iter().take(MAX_RELATED - 1);
        Some(shown.fold(draft, |draft, (_, child)| {
            related_in_head(draft, merge, child, "is deleted, and created again")
        }))
    } else if renamed.is_some() && lost_with.is_none() {
        let draft = on_delivery(
            merge,
            member,
            format!("{leaves} {verb} everything that it delivered"),
        )
        .label("delivers the deleted objects")
        .reason(
            "To the tool, an object with a new name or namespace is a different object. The old \
             one is deleted with everything that it delivered. The new one starts from nothing: it \
             takes over neither volumes nor generated objects.",
        )
        .severity(Severity::Warning);
        Some(draft)
    } else {
        None
    }
}

/// Whether the delivery that applies `member` in base certainly contains it.
fn is_surely_delivered(merge: &Merge<'_>, member: &Member) -> bool {
    let base = merge.part.base;
    let by = base.destination(member.file).deliverer();
    let known = by.and_then(|by| base.delivery(by));
    known.is_none_or(|known| !known.objects.possible.contains(&member.key.to_string()))
}

fn on_delivery(merge: &Merge<'_>, member: &Member, message: String) -> Draft {
    let draft = on_name(merge, member, message).help(recipe(merge, member));
    left_in_head(draft, merge, member)
}

/// Reports a HelmRelease that installs another release: Flux uninstalls the old one. `losses`
/// describes what is deleted with the old one, if its objects are known.
fn another_release(
    merge: &Merge<'_>,
    replaced: &ReplacedRelease<'_>,
    losses: Option<Option<(String, Severity)>>,
) -> Option<Draft> {
    let ReplacedRelease {
        base,
        head,
        was,
        is,
        objects,
    } = replaced;
    let (taken, severity) = match &losses {
        None => ("whose objects are not known", Severity::Warning),
        Some(None) => return None,
        Some(Some((taken, severity))) => (taken.as_str(), *severity),
    };
    let release = format!("{}/{}", was.namespace, was.name);
    let message = format!(
        "{} installs another release: Flux uninstalls release `{}`, {taken}",
        named(base),
        plain::one_line(&release)
    );
    let is_other_chart = was.place() == is.place();
    let changed = if was.name != is.name {
        "name of the release"
    } else if was.namespace != is.namespace {
        "namespace of the release"
    } else if is_other_chart {
        "name of the chart"
    } else {
        "namespace in which Helm stores it"
    };
    let moved = if was.namespace == is.namespace {
        ""
    } else {
        " Objects whose templates name no namespace stay behind in the old one."
    };
    let keep = if is_other_chart {
        "set `spec.upgrade.chartNameChangeStrategy: InPlaceUpdate` in the same change if your helm-controller has it, or keep the \
         name of the chart"
    } else {
        "keep the name and the namespaces of the release, or move its data first"
    };
    let render = match objects {
        None => "; `--render` shows what is deleted",
        Some(_) => "",
    };
    let draft = on_name(merge, base, message)
        .label("installed the release")
        .reason(format!(
            "The {changed} changes. Flux then runs `helm uninstall` before it installs the new \
             release: the objects of the chart are deleted, including claims with their volumes, \
             unless the chart keeps them.{moved}"
        ))
        .help(format!("{keep}{render}"))
        .severity(severity);
    let [before, after] = [base, head].map(|member| member.object.at(&["spec"]));
    let fields = [
        "releaseName",
        "targetNamespace",
        "storageNamespace",
        "chart",
        "chartRef",
    ];
    let changed = fields.into_iter().find_map(|field| {
        let now = after?.entry(field)?;
        let was = before?.get(field);
        let is_same = was.is_some_and(|was| same_value(was, now.value));
        (!is_same).then_some(now.key_span)
    });
    let place = changed.unwrap_or_else(|| head.object.name_span());
    Some(changed_in_head(
        draft,
        merge,
        head,
        place,
        "installs another release",
    ))
}

/// Describes what is deleted with the `objects` of an uninstalled release, and the severity; `None`
/// if nothing is. `lost` contains all losses by their first cause.
fn losses_of(lost: &LossesByCause<'_>, objects: &[&Member]) -> Option<(String, Severity)> {
    let objects: BTreeSet<&ObjectKey> = objects.iter().map(|member| &member.key).collect();
    let lost = objects.iter().filter_map(|key| lost.get(*key)).flatten();
    let mut severity = Severity::Warning;
    let (mut verb, mut possibly) = ("may delete", "possibly ");
    let mut taken: BTreeMap<&ObjectKey, bool> = BTreeMap::new();
    for effect in lost {
        let loses_data = effect.effect == EffectKind::DataLost;
        *taken.entry(&effect.key).or_default() |= loses_data;
        if effect.certainty != EffectCertainty::Certain {
            continue;
        }
        verb = "deletes";
        if loses_data {
            possibly = "";
        }
        let mut containers = [kinds::CUSTOM_RESOURCE_DEFINITION, kinds::NAMESPACE].into_iter();
        if loses_data || containers.any(|kind| effect.key.is(kind)) {
            severity = Severity::Error;
        }
    }
    let taken: Vec<(&ObjectKey, bool)> = taken.into_iter().collect();
    let mut text = format!("which {verb} {}", counted_objects(&taken));
    let with_data: Vec<_> = taken.iter().filter(|(_, data)| *data).copied().collect();
    if !with_data.is_empty() {
        text += &format!(
            ", {possibly}with the data of {}",
            counted_objects(&with_data)
        );
    }
    let mut keys = taken.iter().map(|(key, _)| key);
    if keys.any(|key| key.is(kinds::CUSTOM_RESOURCE_DEFINITION)) {
        text += ", and every object that a deleted CustomResourceDefinition defines";
    }
    (!taken.is_empty()).then_some((text, severity))
}

/// Reports an Application that its set no longer generates and whose objects are unknown.
fn no_longer_generated(merge: &Merge<'_>, member: &Member, set: &Deliverer) -> Draft {
    let message = format!(
        "ApplicationSet `{}` no longer generates {}: this {} everything that the Application \
         delivered",
        plain::one_line(&set.name),
        named(member),
        deletes(merge, member)
    );
    on_delivery(merge, member, message)
        .label("generates it in base")
        .reason(
            "An ApplicationSet adds the resources finalizer to its Applications, unless it \
             preserves resources or its template sets finalizers itself. It deletes an Application \
             that its generators no longer produce, and Argo CD then deletes everything that the \
             Application delivered. The sources of this Application are not in the input.",
        )
        .severity(Severity::Warning)
}

/// Groups the objects of base by the delivery object that delivers them.
fn delivered_of_all<'a>(merge: &Merge<'a>) -> HashMap<ObjectId, Vec<&'a Member>> {
    let mut delivered: HashMap<ObjectId, Vec<&Member>> = HashMap::default();
    for member in &merge.part.base.inventory.members {
        if let Some(by) = merge.part.deliverer_here(member) {
            delivered.entry(by.id).or_default().push(member);
        }
    }
    delivered
}
