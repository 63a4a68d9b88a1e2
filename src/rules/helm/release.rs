//! Rules on Helm releases: what an uninstall deletes by accident, and what it leaves behind.
//!
//! An object counts as part of a release only with evidence: a mark on it or in its file, or the configuration.

use std::collections::BTreeMap;

use foldhash::HashMap;

use crate::delivery::{HookTool, Operation, Phase, Regime, Removal, marks};
use crate::finding::{Applicability, Severity};
use crate::inventory::Member;
use crate::kube::{GroupKind, Scope, kinds};
use crate::manifest::Object;
use crate::rules::delivery::hooks::{deletion_of, hook_of};
use crate::rules::draft::Draft;
use crate::rules::proposal::kept_by_helm;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::named;
use crate::text::FileId;

pub(in crate::rules) static CRD_WITHOUT_KEEP: Rule = rule!(
    Helm,
    "crd-without-keep",
    Warning,
    Collected,
    "Uninstalling a Helm release deletes a CRD, and every instance with it",
    crd_without_keep
)
.once_per_message()
.fixes(&[Applicability::Suggested]);

pub(in crate::rules) static RELEASE_OWNS_ITS_NAMESPACE: Rule = rule!(
    Helm,
    "release-owns-its-namespace",
    Warning,
    Collected,
    "A Helm release contains the Namespace that it is installed in",
    release_owns_its_namespace
)
.fixes(&[Applicability::Suggested]);

pub(in crate::rules) static HOOK_SURVIVES_UNINSTALL: Rule = rule!(
    Helm,
    "hook-survives-uninstall",
    Info,
    Orphaned,
    "Uninstalling a Helm release leaves an object behind that a hook created",
    hook_survives_uninstall
);

/// Whether Helm, on its own or for Flux, installs an object.
fn is_released(context: &Context<'_>, member: &Member) -> bool {
    let regime = context.analysis.deliveries().evident(member);
    regime.is_some_and(Regime::is_release)
}

/// Whether uninstalling its release deletes an object.
pub(in crate::rules) fn is_uninstalled(context: &Context<'_>, member: &Member) -> bool {
    is_released(context, member) && !context.is_spared(member, Removal::HelmUninstall)
}

/// Whether an object that Helm created still exists after its release is uninstalled: it is kept, or a hook.
pub(in crate::rules) fn survives_uninstall(context: &Context<'_>, member: &Member) -> bool {
    let exists = hook_of(context, member).is_none_or(|hook| {
        let mut events = hook.events.iter();
        let is_created =
            events.any(|event| (event.operation, event.phase) != (Operation::Delete, Phase::After));
        is_created && !hook.is_deleted_on_success
    });
    exists && is_released(context, member) && context.is_spared(member, Removal::HelmUninstall)
}

/// [CRD-1]: a CRD is gone only after all its instances.
///
/// If only the comment `# Source:` shows that Helm rendered a CRD, the finding is an info: the CRD
/// may be part of no release.
fn crd_without_keep(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    for member in inventory.of_kind(kinds::CUSTOM_RESOURCE_DEFINITION) {
        let Some(definition) = member.object.definition() else {
            continue;
        };
        let is_supposed = context.analysis.deliveries().is_only_rendered(member);
        let is_released = is_supposed || is_released(context, member);
        if !is_released || context.is_spared(member, Removal::HelmUninstall) {
            continue;
        }
        let (condition, doubt) = if is_supposed {
            (
                "if Helm installs it, ",
                " Only the comment `# Source:` says that Helm rendered the CRD: if another tool applies it, set `delivery` in the \
                 configuration.",
            )
        } else {
            ("", "")
        };
        let kind = definition.group_kind();
        let instances: Vec<&Member> = inventory.of_kind(kind).collect();
        let crd = named(member);
        let message = match instances.len() {
            0 => format!("{condition}uninstalling the release deletes {crd} and all its instances"),
            n => format!(
                "{condition}uninstalling the release deletes {crd} and its instances, {n} of them in the input"
            ),
        };
        let draft = Draft::on(member, member.object.name_span(), message)
            .label(format!("its deletion deletes every {}", kind.kind))
            .reason(format!(
                "`helm uninstall` deletes a CustomResourceDefinition from `templates/` like every other object, and so \
                 does an upgrade to a version of the chart that no longer renders it. The API server then deletes every \
                 {} in the cluster, whether this release has it or not, and the garbage collector deletes their dependents.{doubt}",
                kind.kind
            ))
            .help(
                "add the annotation `helm.sh/resource-policy: keep`, and deploy that before you uninstall the release or upgrade to a chart without the CRD; after that \
                 you can also move the CRD into the chart's `crds/` folder, from which Helm deletes nothing",
            )
            .fix(kept_by_helm(member))
            .field("metadata.annotations")
            .target(kind.to_string())
            .related_objects(instances, "is deleted with the CRD")
            .info_if(is_supposed);
        sink.push(draft);
    }
}

/// How it is known that a release is installed in a namespace.
enum ReleaseNamespace {
    /// An annotation of Helm, the command line or the configuration says so.
    Said,
    /// All namespaced objects of the rendering are in it.
    AllIsThere,
}

fn release_owns_its_namespace(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    let namespaces = inventory.of_kind(kinds::NAMESPACE);
    let namespaces: Vec<_> = namespaces
        .filter(|member| is_uninstalled(context, member))
        .collect();
    if namespaces.is_empty() {
        return;
    }
    let placement = Placement::of(context);
    for namespace in namespaces {
        let Some(known) = placement.release_namespace(context, namespace) else {
            continue;
        };
        let name = &namespace.key.name;
        let record = match known {
            ReleaseNamespace::Said => "the release's own record",
            ReleaseNamespace::AllIsThere => {
                "the release's own record if the release is installed there"
            }
        };
        let strangers = placement.strangers.get(name.as_str()).into_iter().flatten();
        let message = format!(
            "uninstalling the release deletes {} and everything in it",
            named(namespace)
        );
        let draft = Draft::on(namespace, namespace.object.name_span(), message)
            .label("the release's own namespace")
            .reason(format!(
                "The Namespace is part of the release, so `helm uninstall` deletes it, and the \
                 namespace controller then deletes everything in it. That includes objects of \
                 other releases, objects that controllers or users created, and {record}."
            ))
            .help(
                "remove the Namespace from the chart and create it with `helm install --create-namespace`, which an uninstall \
                 leaves alone; or add the annotation `helm.sh/resource-policy: keep`, and upgrade the release once before you rely on it",
            )
            .fix(kept_by_helm(namespace))
            .field("metadata.name")
            .related_objects(strangers.copied(), "is not part of the release");
        sink.push(draft);
    }
}

/// The namespaces of a bundle's objects.
struct Placement<'a> {
    /// The one namespace of all objects that a file of a release contains; `None` if there are several, or if one
    /// object leaves its namespace to the release.
    renderings: BTreeMap<FileId, Option<&'a str>>,
    /// The objects that belong to no release, by namespace.
    strangers: HashMap<&'a str, Vec<&'a Member>>,
}

impl<'a> Placement<'a> {
    fn of(context: &Context<'a>) -> Self {
        let mut placement = Self {
            renderings: BTreeMap::new(),
            strangers: HashMap::default(),
        };
        for member in &context.inventory.members {
            if !is_released(context, member) {
                if let Some(namespace) = member.key.namespace.name() {
                    let strangers = placement.strangers.entry(namespace).or_default();
                    strangers.push(member);
                }
            } else if member.scope() == Some(Scope::Namespaced) {
                let namespace = member.object.namespace();
                let one = placement.renderings.entry(member.file).or_insert(namespace);
                *one = one.filter(|one| Some(*one) == namespace);
            }
        }
        placement
    }

    /// Returns how it is known that the release of a Namespace is installed in it; `None` if nothing says so.
    fn release_namespace(
        &self,
        context: &Context<'_>,
        namespace: &Member,
    ) -> Option<ReleaseNamespace> {
        let metadata = namespace.object.metadata();
        let said = metadata.annotation(marks::HELM_RELEASE_NAMESPACE);
        let said = said.map(|said| said.value);
        let said = said.or(context.inventory.namespace.as_deref());
        let (place, known) = if said.is_some() {
            (said, ReleaseNamespace::Said)
        } else {
            let placed = self.renderings.get(&namespace.file).copied().flatten();
            (placed, ReleaseNamespace::AllIsThere)
        };
        (place == Some(&*namespace.key.name)).then_some(known)
    }
}

/// Kinds that grant, intercept or contain something, so that leftover objects still have an effect.
const LASTING: [GroupKind<&str>; 8] = [
    GroupKind::new("rbac.authorization.k8s.io", "ClusterRole"),
    GroupKind::new("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    GroupKind::new("rbac.authorization.k8s.io", "Role"),
    GroupKind::new("rbac.authorization.k8s.io", "RoleBinding"),
    GroupKind::new(
        "admissionregistration.k8s.io",
        "MutatingWebhookConfiguration",
    ),
    GroupKind::new(
        "admissionregistration.k8s.io",
        "ValidatingWebhookConfiguration",
    ),
    kinds::PERSISTENT_VOLUME_CLAIM,
    kinds::NAMESPACE,
];

fn hook_survives_uninstall(context: &Context<'_>, sink: &mut Sink) {
    for member in context.inventory.of_kinds(&LASTING) {
        let Some(hook) = hook_of(context, member).filter(|hook| hook.tool == HookTool::Helm) else {
            continue;
        };
        let holds =
            member.object.is(kinds::PERSISTENT_VOLUME_CLAIM) || member.object.is(kinds::NAMESPACE);
        // `hook-not-kept` reports these kinds if they are deleted earlier. An object with a policy is kept on purpose.
        let is_reported = holds && deletion_of(&hook, member).is_some();
        let policy = member
            .object
            .metadata()
            .annotation(marks::HELM_RESOURCE_POLICY);
        let kept = policy.is_some();
        if hook.events.is_empty() || hook.is_deleted_on_success || kept || is_reported {
            continue;
        }
        let intercepts = blocks_requests(&member.object);
        let effect = match member.key.kind() {
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" if intercepts => {
                " Its webhooks reject all matching requests once their Service is uninstalled."
            }
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => {
                " The API server continues to call its webhooks, and ignores the failed calls."
            }
            "PersistentVolumeClaim" => " Its volume stays too.",
            "Namespace" => " So does everything in it.",
            _ => " Its permissions stay granted.",
        };
        let default = if hook.is_replaced {
            "Helm deletes this hook only before it creates it again."
        } else {
            "This delete policy does not delete a hook that succeeded."
        };
        let help = if holds {
            format!(
                "remove `{}`, and Helm deletes the object with the release",
                hook.key
            )
        } else {
            format!(
                "add `hook-succeeded` to `{}` if the object is needed only while the hook runs; otherwise remove `{}`, and Helm \
                 deletes the object with the release",
                marks::HELM_HOOK_DELETE_POLICY,
                hook.key
            )
        };
        let message = format!("{} survives the uninstall of its release", named(member));
        let draft = Draft::on(member, hook.annotation.key_span, message)
            .label("a hook is not part of the release")
            .reason(format!(
                "Helm runs an object with `{}` as a hook and does not count it as part of the release: `helm uninstall` never \
                 deletes it. {default}{effect}",
                hook.key
            ))
            .help(help)
            .field(format!("metadata.annotations.{}", hook.key));
        sink.push(if intercepts {
            draft.severity(Severity::Warning)
        } else {
            draft
        });
    }
}

/// Whether an object is a webhook configuration that rejects requests when a Service does not answer.
fn blocks_requests(object: &Object) -> bool {
    object.value().items_at("webhooks").any(|webhook| {
        webhook.str_at(&["failurePolicy"]) != Some("Ignore")
            && webhook.at(&["clientConfig", "service"]).is_some()
    })
}
