//! Protections from deletion that do not work as their author intends.

use std::collections::BTreeMap;

use foldhash::HashMap;

use crate::delivery::marks;
use crate::delivery::{
    Flaw, FluxObject, Regime, RegimeSource, Removal, TrackingLabels, ineffective_protections,
    spared,
};
use crate::finding::{Applicability, Severity};
use crate::inventory::{Inventory, Member};
use crate::kube::{GroupKind, kinds};
use crate::manifest::{Metadata, Spanned, Template, TemplateKind};
use crate::rules::data::claims;
use crate::rules::delivery::hooks::{deletion_of, hook_of};
use crate::rules::delivery::mistaken::mistaken;
use crate::rules::draft::Draft;
use crate::rules::holder::{MetadataHolder, each_template, own_metadata};
use crate::rules::proposal::{Proposal, kept_by_helm, with_annotation};
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::named;
use crate::text::Span;

pub(in crate::rules) static PROTECTION_INEFFECTIVE: Rule = rule!(
    Delivery,
    "protection-ineffective",
    Warning,
    Ignored,
    "An annotation that should keep an object from being deleted does not",
    protection_ineffective
)
.fixes(&[Applicability::Suggested])
.slow();

/// Kinds whose deletion also deletes data or other objects.
const PRECIOUS: [GroupKind<&str>; 3] = [
    kinds::NAMESPACE,
    kinds::PERSISTENT_VOLUME_CLAIM,
    kinds::PERSISTENT_VOLUME,
];

fn protection_ineffective(context: &Context<'_>, sink: &mut Sink) {
    let delivery = DeliveryObjects::of(context);
    let tracking = TrackingLabels::of(context.inventory);
    let released: Vec<&Member> = context.inventory.of_kind(kinds::HELM_RELEASE).collect();
    for member in &context.inventory.members {
        mistaken_protections(&own_metadata(member), sink);
    }
    each_template(context.inventory, |holder| {
        mistaken_protections(&holder, sink);
    });
    for member in &context.inventory.members {
        sink.extend(read_by_another_tool(context, member, &delivery));
        sink.extend(only_pruning(context, member, &delivery));
        sink.extend(on_a_hook(context, member));
    }
    for (member, template) in context.inventory.templates() {
        sink.extend(on_a_template(member, template, &tracking));
    }
    sink.extend(released.iter().filter_map(|release| in_values(release)));
    sink.extend(around_releases(context.inventory, &released));
}

/// Reports protections that are wholly or partly ineffective. Helm reads its policy only on objects of a release, so in
/// a template no value has an effect, which `on_a_template` reports.
fn mistaken_protections(holder: &MetadataHolder<'_>, sink: &mut Sink) {
    let protections = ineffective_protections(holder.metadata);
    let protections = protections.iter().filter(|protection| {
        holder.template.is_none() || !matches!(protection.flaw, Flaw::Policy | Flaw::PolicyCase)
    });
    sink.extend(protections.map(|protection| mistaken(holder, protection)));
}

/// The deletions by the delivery objects of a bundle, grouped by tool. The delivery objects that reach an object decide
/// how it is deleted. If none reaches it, all delivery objects of its tool do, because any of them may deliver it.
#[derive(Default)]
struct DeliveryObjects(BTreeMap<Regime, DeliveryDeletion>);

/// How some delivery objects of a tool delete objects.
#[derive(Clone, Copy, Default)]
struct DeliveryDeletion {
    /// One of them prunes objects that leave its sources.
    prunes: bool,
    /// One of them deletes its objects when it is deleted itself.
    deletes: bool,
}

impl DeliveryObjects {
    fn of(context: &Context<'_>) -> Self {
        let mut all = Self::default();
        for object in context.analysis.delivery_objects() {
            let deletion = all.0.entry(Regime::of(object.kind)).or_default();
            deletion.prunes |= object.prunes && !object.suspended;
            deletion.deletes |= object.deletes();
        }
        all
    }

    /// Returns how an object that `regime` delivers is deleted; `None` without any delivery object.
    fn deletion(
        &self,
        context: &Context<'_>,
        member: &Member,
        regime: Regime,
    ) -> Option<DeliveryDeletion> {
        if let Some(reached) = context.analysis.deliveries().reached(member) {
            return Some(DeliveryDeletion {
                prunes: reached.prunes,
                deletes: reached.deletes,
            });
        }
        let regime = match regime {
            // An object of Helm may be installed by a HelmRelease of Flux.
            Regime::Helm => Regime::Flux(FluxObject::HelmRelease),
            _ => regime,
        };
        self.0.get(&regime).copied()
    }
}

/// Proposes to add a sync option of Argo CD to an object.
fn with_option(member: &Member, option: &str) -> Proposal {
    let key = marks::ARGOCD_SYNC_OPTIONS;
    let written = member.object.metadata().annotation(key);
    let written = written.map_or("", |options| options.value.trim());
    let options = if written.is_empty() {
        option.to_owned()
    } else {
        format!("{written},{option}")
    };
    Proposal::suggested(format!("write the annotation `{key}: {options}`"))
        .annotate(member, key, &options)
}

/// Returns the annotation `helm.sh/resource-policy: keep`, even with spaces around the value.
pub(in crate::rules) fn keep_of_helm(member: &Member) -> Option<Spanned<&str>> {
    let policy = member
        .object
        .metadata()
        .annotation(marks::HELM_RESOURCE_POLICY);
    policy.filter(|policy| policy.value.trim() == "keep")
}

/// Reports `keep` on a hook: neither Helm nor Argo CD reads it when deleting a hook (helm pkg/action/hooks.go,
/// deleteHookByPolicy).
fn on_a_hook(context: &Context<'_>, member: &Member) -> Option<Draft> {
    let keep = keep_of_helm(member)?;
    let hook = hook_of(context, member)?;
    let deleted = deletion_of(&hook, member)?;
    let tool = hook.tool.name();
    let key = marks::HELM_RESOURCE_POLICY;
    let who = named(member);
    let message = format!("{tool} deletes {who} {deleted}, despite `{key}: keep`");
    let draft = Draft::on(member, keep.key_span, message)
        .label("does not protect a hook")
        .reason(format!(
            "`{key}` keeps objects of a release, and a hook is not part of the release. The hook's delete policy decides when \
             it is deleted: by default, before it is created again."
        ))
        .help(format!(
            "remove `{}`: as part of the release the object is updated in place, and `{key}: keep` protects it",
            hook.key
        ))
        .field(format!("metadata.annotations.{key}"))
        .related(member.file, hook.annotation.key_span, "makes it a hook");
    Some(draft)
}

/// Reports a correct annotation that the object's own tool does not read when it deletes the object.
fn read_by_another_tool(
    context: &Context<'_>,
    member: &Member,
    delivery: &DeliveryObjects,
) -> Option<Draft> {
    let metadata = member.object.metadata();
    let keep = keep_of_helm(member);
    let flux = metadata
        .annotation(marks::FLUX_PRUNE)
        .filter(|prune| prune.value.eq_ignore_ascii_case("disabled"));
    // Few objects have either annotation.
    keep.or(flux)?;
    let evident = context.analysis.deliveries().evident(member)?;
    let (value, removal, effect, reason, instead, fix) = match (evident, keep, flux) {
        (Regime::ArgoCd, Some(keep), _) => (
            keep,
            Removal::ArgoCdPrune,
            "Argo CD prunes",
            "Argo CD looks at Helm's annotation when an Application is deleted, and not when it prunes: once the object \
             leaves the sources, a sync that prunes deletes it.",
            format!("{}: Prune=false", marks::ARGOCD_SYNC_OPTIONS),
            with_option(member, "Prune=false"),
        ),
        (Regime::Flux(FluxObject::Kustomization), Some(keep), _) => (
            keep,
            Removal::FluxPrune,
            "Flux prunes",
            "A Flux Kustomization applies this object, and Flux ignores Helm's annotation: once \
             the object leaves the sources, or the Kustomization is deleted, Flux deletes it.",
            format!("{}: disabled", marks::FLUX_PRUNE),
            with_annotation(member, marks::FLUX_PRUNE, "disabled"),
        ),
        (Regime::Helm | Regime::Flux(FluxObject::HelmRelease), None, Some(flux)) => (
            flux,
            Removal::HelmUninstall,
            "Helm deletes",
            "The object is part of a Helm release. Flux reads the annotation only on objects that a Kustomization applies. Helm \
             ignores it, and deletes the object when the release is uninstalled or no longer contains it.",
            format!("{}: keep", marks::HELM_RESOURCE_POLICY),
            kept_by_helm(member),
        ),
        _ => return None,
    };
    if context.is_spared(member, removal) {
        return None;
    }
    let (key, written) = match removal {
        Removal::HelmUninstall => (marks::FLUX_PRUNE, "disabled"),
        _ => (marks::HELM_RESOURCE_POLICY, "keep"),
    };
    // The Application or Kustomization decides whether anything is pruned.
    let deletion = delivery.deletion(context, member, evident);
    let message = format!("{effect} {} despite `{key}: {written}`", named(member));
    let draft = Draft::on(member, value.key_span, message)
        .label("read by another tool")
        .reason(reason)
        .help(format!("add `{instead}`"))
        .fix(fix)
        .field(format!("metadata.annotations.{key}"))
        .info_if(!deletion.is_some_and(|deletion| deletion.prunes));
    Some(draft)
}

/// Reports `Prune=false` without `Delete=false`: it has no effect on the deletion of the Application.
fn only_pruning(
    context: &Context<'_>,
    member: &Member,
    delivery: &DeliveryObjects,
) -> Option<Draft> {
    let object = &member.object;
    let options = object.metadata().annotation(marks::ARGOCD_SYNC_OPTIONS)?;
    let never = marks::sync_options(options.value).any(|option| option == "Prune=false");
    let spared = spared(object, None, Removal::ArgoCdApplication).is_some();
    let deletion = delivery.deletion(context, member, Regime::ArgoCd);
    let stays = deletion.is_some_and(|deletion| !deletion.deletes);
    if !never || spared || stays || is_of_another_tool(context, member) {
        return None;
    }
    let message = format!(
        "deleting the Application deletes {} despite `Prune=false`",
        named(member)
    );
    let draft = Draft::on(member, options.key_span, message)
        .label("protects from pruning only")
        .reason(
            "`Prune=false` keeps an object that leaves the sources. When an Application with the finalizer \
             `resources-finalizer.argocd.argoproj.io` is deleted, or renamed, Argo CD looks at `Delete=false` instead, and \
             deletes this object with all others.",
        )
        .help(format!("add `Delete=false` to `{}`", marks::ARGOCD_SYNC_OPTIONS))
        .fix(with_option(member, "Delete=false"))
        .field(format!("metadata.annotations.{}", marks::ARGOCD_SYNC_OPTIONS))
        .info_if(!PRECIOUS.contains(&object.group_kind()));
    Some(draft)
}

/// Whether a tool other than Argo CD delivers an object that has an option for Argo CD. Labels from a chart prove
/// nothing: Argo CD renders charts too.
fn is_of_another_tool(context: &Context<'_>, member: &Member) -> bool {
    let deliveries = context.analysis.deliveries();
    match deliveries.evident(member) {
        None | Some(Regime::ArgoCd) => false,
        Some(Regime::Helm) => {
            !matches!(deliveries.regime(member).source, RegimeSource::Mark { .. })
        }
        Some(Regime::Flux(_) | Regime::Kubectl) => true,
    }
}

/// Reports a protection in a template, from which a controller makes objects.
fn on_a_template(
    member: &Member,
    template: Template<'_>,
    tracking: &TrackingLabels<'_>,
) -> Option<Draft> {
    let (key, value) = protection_of(template.metadata)?;
    // Argo CD prunes claims with its tracking label, and then respects the options (argo-cd#3050). When the Application is
    // deleted, it respects Helm's annotation, too.
    let mut labels = template.metadata.labels().iter();
    if key != marks::FLUX_PRUNE && labels.any(|(key, _)| tracking.contains(key)) {
        return None;
    }
    let (made, instead) = match template.kind {
        TemplateKind::Claim => (
            "claims",
            "claims of a StatefulSet stay unless `spec.persistentVolumeClaimRetentionPolicy` deletes them: set `whenDeleted` \
             and `whenScaled` to `Retain`. To protect them from the deletion of their namespace, protect the Namespace",
        ),
        TemplateKind::Pod => (
            "Pods",
            "write the annotation into the object's own `metadata`",
        ),
        TemplateKind::Job => (
            "Jobs",
            "write the annotation into the object's own `metadata`",
        ),
        TemplateKind::Restricted => (
            "claims",
            "create the claim as an object of its own, and annotate that",
        ),
    };
    // No delivery tool deletes these claims. The protection matters where their controller deletes them, and some users
    // rely on Argo CD's options for that (argo-cd#13503).
    let missed = key == marks::ARGOCD_SYNC_OPTIONS
        || ["whenDeleted", "whenScaled"]
            .into_iter()
            .any(|when| claims::are_deleted(&member.object, when));
    let message = format!(
        "`{key}` in a template of {} protects none of its {made}",
        named(member)
    );
    let draft = Draft::on(member, value.key_span, message)
        .label(format!("copied onto {made} that no tool delivers"))
        .reason(format!(
            "A controller makes the {made} from the template and copies the annotation. Delivery tools neither apply nor delete \
             these {made}, so they never read it; controllers, the garbage collector and the deletion of a namespace ignore it."
        ))
        .help(instead)
        .field(format!("{}.metadata.annotations.{key}", template.field))
        .info_if(template.kind != TemplateKind::Claim || !missed);
    Some(draft)
}

/// Returns the first annotation that protects from a tool, with its key.
fn protection_of(metadata: Metadata<'_>) -> Option<(&'static str, Spanned<&str>)> {
    [
        marks::ARGOCD_SYNC_OPTIONS,
        marks::FLUX_PRUNE,
        marks::HELM_RESOURCE_POLICY,
    ]
    .into_iter()
    .find_map(|key| {
        let value = metadata.annotation(key)?;
        protects(key, value.value).then_some((key, value))
    })
}

/// Whether `value` makes the tool that reads the annotation `key` keep an object.
fn protects(key: &str, value: &str) -> bool {
    match key {
        marks::ARGOCD_SYNC_OPTIONS => marks::sync_options(value).any(|option| {
            matches!(
                option,
                "Prune=false" | "Prune=confirm" | "Delete=false" | "Delete=confirm"
            )
        }),
        marks::FLUX_PRUNE => value.eq_ignore_ascii_case("disabled"),
        _ => value.trim().eq_ignore_ascii_case("keep"),
    }
}

/// Reports Flux's annotation in a chart's values: it ends up on objects that Helm deletes (fluxcd/flux2#5035).
fn in_values(release: &Member) -> Option<Draft> {
    let values = release.object.at(&["spec", "values"])?;
    let entry = values.entries_below().into_iter().find(|entry| {
        let value = entry.value.as_str().unwrap_or_default();
        entry.key == marks::FLUX_PRUNE && value.eq_ignore_ascii_case("disabled")
    })?;
    let who = named(release);
    let key = marks::FLUX_PRUNE;
    let message = format!("Helm deletes what {who} installs, despite `{key}: disabled`");
    let draft = Draft::on(release, entry.key_span, message)
        .label("ends up on objects of the release")
        .reason(
            "The chart writes the annotation onto objects that Helm installs. Flux reads it only on objects that a \
             Kustomization applies. Helm ignores it, and deletes them when the HelmRelease is deleted or no longer renders them.",
        )
        .help(format!(
            "write `{}: keep` in its place; to keep the release itself, annotate the HelmRelease with `{key}: disabled`",
            marks::HELM_RESOURCE_POLICY
        ))
        .field("spec.values");
    Some(draft)
}

/// Reports an opt-out on a Namespace: it keeps the Namespace, but not the releases in it.
fn around_releases(inventory: &Inventory, released: &[&Member]) -> Vec<Draft> {
    let mut exposed = HashMap::default();
    for release in released.iter().filter(|release| opt_out(release).is_none()) {
        if let Some(namespace) = release.key.namespace.name() {
            exposed.entry(namespace).or_insert(*release);
        }
    }
    let namespaces = inventory.of_kind(kinds::NAMESPACE);
    let found = namespaces.filter_map(|namespace| {
        let (place, release) = (opt_out(namespace)?, exposed.get(namespace.key.name.as_str())?);
        let message = format!("Flux keeps {}, but not {} in it", named(namespace), named(release));
        let draft = Draft::on(namespace, place, message)
            .severity(Severity::Info)
            .label("covers this object only")
            .reason(
                "Flux looks only at the labels and annotations of each object itself. A HelmRelease that leaves the sources is pruned, and \
                 its release is uninstalled with everything that it installed.",
            )
            .help(format!("annotate the HelmRelease with `{}: disabled` too if it must stay", marks::FLUX_PRUNE))
            .field(format!("metadata.annotations.{}", marks::FLUX_PRUNE));
        Some(draft.related_object(release, "is pruned and uninstalled"))
    });
    found.collect()
}

/// Returns the place of an object's opt-out from pruning by Flux.
fn opt_out(member: &Member) -> Option<Span> {
    spared(&member.object, None, Removal::FluxPrune)?.place
}
