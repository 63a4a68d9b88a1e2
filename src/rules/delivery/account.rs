//! Delivery objects that need a ServiceAccount to delete what they delivered, and are deleted together with it.

use crate::inventory::Member;
use crate::kube::{GroupKind, ObjectKey, kinds};
use crate::ownership::delivery_object;
use crate::rules::draft::Draft;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::named;
use crate::text::Span;

pub(in crate::rules) static DELIVERY_LOSES_ITS_ACCOUNT: Rule = rule!(
    Delivery,
    "delivery-loses-its-account",
    Warning,
    Orphaned,
    "A HelmRelease or Kustomization is deleted together with the ServiceAccount that it uses",
    delivery_loses_its_account
);

/// Kinds that skip the deletion of their objects if the account is gone (helm-controller
/// internal/controller/helmrelease_controller.go, reconcileReleaseDeletion; kustomize-controller
/// internal/controller/kustomization_controller.go, finalize).
const DELIVERIES: [GroupKind<&str>; 2] = [kinds::HELM_RELEASE, kinds::FLUX_KUSTOMIZATION];

fn delivery_loses_its_account(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    for member in inventory.of_kinds(&DELIVERIES) {
        // With `kubeConfig`, the account is in the other cluster.
        let is_elsewhere = member.object.at(&["spec", "kubeConfig"]).is_some();
        let written = member.object.at(&["spec", "serviceAccountName"]);
        let Some(written) = written.filter(|_| !is_elsewhere) else {
            continue;
        };
        let Some(name) = written.as_str() else {
            continue;
        };
        let namespace = inventory.namespace_beside(member);
        let key = ObjectKey::new(kinds::SERVICE_ACCOUNT, namespace, name);
        let Some(account) = inventory.with_key(&key).first() else {
            continue;
        };
        let account = inventory.member(*account);
        if are_deleted_together(context, member, account) && !leaves_its_objects(member) {
            sink.push(loses(member, account, written.span()));
        }
    }
}

/// Whether a delivery object of Flux deletes nothing when it is deleted, so that it needs no account for that.
fn leaves_its_objects(member: &Member) -> bool {
    let object = delivery_object(member).filter(|_| member.decodes());
    object.is_some_and(|object| !object.deletes())
}

/// Whether one removal deletes both `member` and `account`.
fn are_deleted_together(context: &Context<'_>, member: &Member, account: &Member) -> bool {
    let deliveries = context.analysis.deliveries();
    if !context.analysis.together().has(member, account) {
        return false;
    }
    // Marks alone do not say what the Application or Kustomization deletes.
    let reached = deliveries.reached(member);
    let (prunes, deletes) = reached.map_or((true, true), |one| (one.prunes, one.deletes));
    let removals = deliveries.regime(member).regime.removals();
    let (pruned, deleted) = (removals.first(), removals.last());
    let removals = [pruned.filter(|_| prunes), deleted.filter(|_| deletes)];
    removals.into_iter().flatten().any(|removal| {
        !context.is_spared(member, *removal) && !context.is_spared(account, *removal)
    })
}

fn loses(member: &Member, account: &Member, place: Span) -> Draft {
    let (controller, work, delivered) = if member.object.is(kinds::HELM_RELEASE) {
        ("helm-controller", "uninstall the release", "installed")
    } else {
        ("kustomize-controller", "prune", "applied")
    };
    let (who, needed) = (named(member), named(account));
    let kind = member.object.kind();
    let message = format!(
        "everything that {who} {delivered} may stay in the cluster: the {kind} is deleted together \
         with {needed}, which it needs to {work}"
    );
    Draft::on(member, place, message)
        .label("deleted at the same time")
        .reason(format!(
            "The two are deleted at about the same time. If the ServiceAccount is gone first, \
             {controller} logs that, deletes nothing and removes its finalizer from the {kind}."
        ))
        .help(format!(
            "deliver {needed} and its bindings with a Kustomization or Application that outlives \
             this one, and make this one depend on it"
        ))
        .field("spec.serviceAccountName")
        .related_object(account, "is deleted too")
}
