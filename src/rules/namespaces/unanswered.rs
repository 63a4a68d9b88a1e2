//! Services without a backend: webhooks that block the deletion of their own namespace or release, and aggregated APIs.
//!
//! A rendering shows which objects are deleted together. A Service that is missing from the input may be in another
//! rendering: it counts as absent only if the input contains its Namespace, or is a dump with Services.

use std::collections::{BTreeMap, BTreeSet};

use crate::delivery::{KindOrder, Sequence, kind_order};
use crate::finding::Severity;
use crate::inventory::{Member, ObjectId};
use crate::kube::{GroupKind, Namespace, ObjectKey, Scope, kinds, kubectl};
use crate::manifest::{CustomResourceDefinition, Labels, Spanned, Webhook};
use crate::ownership::{
    Absence, AdmissionOperation, Backend, Interception, KnownLabels, Purpose, RequestBudget,
    RequestedKind, RequestedObject, Selected, ServiceCaller,
};
use crate::rules::delivery::hooks::runs_before_deletion;
use crate::rules::draft::Draft;
use crate::rules::finalizers::held::counted;
use crate::rules::helm::release::{is_uninstalled, survives_uninstall};
use crate::rules::rule::{Context, Rule, Sink, World, rule};
use crate::rules::words::{named, whereabouts};
use crate::text::FileId;

pub(in crate::rules) static WEBHOOK_BLOCKS_DELETION: Rule = rule!(
    Namespaces,
    "webhook-blocks-deletion",
    Warning,
    Stuck,
    "A webhook rejects the deletion of objects that are deleted together with its own backend",
    webhook_blocks_deletion
)
.slow();

pub(in crate::rules) static APISERVICE_WITHOUT_BACKEND: Rule = rule!(
    Namespaces,
    "apiservice-without-backend",
    Warning,
    Stuck,
    "An APIService has no backend, or loses it with a Namespace: every Namespace that is deleted then gets stuck",
    apiservice_without_backend
);

/// When the backend of a webhook is deleted before objects that the webhook is asked about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Occasion {
    /// Its Namespace is deleted: Pods are deleted first.
    NamespaceDeletion,
    /// Its release is uninstalled: Services are deleted early.
    HelmUninstall,
    /// Its release is uninstalled, and the webhook configuration stays: it is kept, or was created by a hook.
    HelmLeavesWebhook,
}

/// The objects of a bundle that webhooks may be asked about, by the occasions of their deletion.
struct AskedObjects<'c, 'a> {
    context: &'c Context<'a>,
    by_namespace: BTreeMap<&'a str, ByKind<'a>>,
    released: ByKind<'a>,
    /// The indexes of releases with a hook that runs before anything is deleted, and may delete the configuration.
    prepared: BTreeSet<usize>,
    namespaces: BTreeMap<&'a str, &'a Member>,
    /// The CRDs of the input, each with its file.
    definitions: Vec<(FileId, &'a CustomResourceDefinition)>,
    helm: &'static KindOrder,
    budget: RequestBudget,
}

type ByKind<'a> = BTreeMap<GroupKind<&'a str>, Vec<&'a Member>>;

impl<'c, 'a> AskedObjects<'c, 'a> {
    fn new(context: &'c Context<'a>) -> Self {
        let inventory = context.inventory;
        let mut by_namespace: BTreeMap<&str, ByKind<'_>> = BTreeMap::new();
        let mut released = ByKind::new();
        let mut prepared = BTreeSet::new();
        for member in inventory.members.iter().filter(|member| member.decodes()) {
            let kind = member.key.group_kind();
            if let Some(namespace) = member.key.namespace.name() {
                let kinds = by_namespace.entry(namespace).or_default();
                kinds.entry(kind).or_default().push(member);
            }
            if runs_before_deletion(context, member) {
                prepared.extend(context.analysis.together().set_of(member.id));
            }
            if is_uninstalled(context, member) {
                released.entry(kind).or_default().push(member);
            }
        }
        let namespaces = inventory.of_kind(kinds::NAMESPACE);
        let namespaces = namespaces
            .map(|member| (member.key.name.as_str(), member))
            .collect();
        let definitions = inventory.of_kind(kinds::CUSTOM_RESOURCE_DEFINITION);
        let definitions = definitions
            .filter_map(|member| Some((member.file, member.object.definition()?)))
            .collect();
        Self {
            context,
            by_namespace,
            released,
            prepared,
            namespaces,
            definitions,
            helm: kind_order(Sequence::Helm3Uninstall),
            budget: RequestBudget::all(),
        }
    }

    /// Returns the deletions that the webhook blocks without its backend; `None` if none, or if the budget is spent.
    fn blockage(&self, client: &ServiceCaller, webhook: &Webhook) -> Option<Blockage<'a>> {
        for occasion in [
            Occasion::NamespaceDeletion,
            Occasion::HelmUninstall,
            Occasion::HelmLeavesWebhook,
        ] {
            let blocked = self.blocked(client, webhook, occasion)?;
            if !blocked.is_empty() {
                return Some(Blockage {
                    occasion,
                    what: counted(named(blocked[0]), blocked.len()),
                    severity: Severity::Warning,
                    blocked,
                });
            }
        }
        let (what, severity) = self.expected(client, webhook)?;
        Some(Blockage {
            occasion: Occasion::NamespaceDeletion,
            what,
            severity,
            blocked: Vec::new(),
        })
    }

    /// Returns the objects whose deletion the webhook is certainly asked about once its backend is
    /// gone; `None` if the budget is spent.
    fn blocked(
        &self,
        client: &ServiceCaller,
        webhook: &Webhook,
        occasion: Occasion,
    ) -> Option<Vec<&'a Member>> {
        let (context, analysis) = (self.context, self.context.analysis);
        let configuration = context.inventory.member(client.object);
        let is_release = match occasion {
            Occasion::NamespaceDeletion => false,
            Occasion::HelmUninstall => is_uninstalled(context, configuration),
            Occasion::HelmLeavesWebhook => survives_uninstall(context, configuration),
        };
        let kinds = if occasion == Occasion::NamespaceDeletion {
            self.by_namespace.get(client.service.namespace.as_str())
        } else {
            (is_release && self.loses_backend(client)).then_some(&self.released)
        };
        let Some(kinds) = kinds else {
            return Some(Vec::new());
        };
        if !self.budget.take(kinds.len() * webhook.rules.len()) {
            return None;
        }
        let mut blocked = Vec::new();
        for (kind, members) in kinds {
            if !self.goes_later(*kind, configuration, occasion)
                || !self.is_asked_about(*kind, members[0], webhook)
            {
                continue;
            }
            if !self.budget.take(members.len()) {
                return None;
            }
            blocked.extend(members.iter().copied().filter(|member| {
                self.is_selected(member, webhook)
                    && analysis.in_one_cluster(configuration.file, member.file)
                    && (occasion == Occasion::NamespaceDeletion
                        || analysis.together().has(configuration, member))
            }));
        }
        Some(blocked)
    }

    /// Whether the uninstall of the release of a webhook configuration deletes its Service.
    fn loses_backend(&self, client: &ServiceCaller) -> bool {
        let (context, inventory) = (self.context, self.context.inventory);
        let configuration = inventory.member(client.object);
        let together = context.analysis.together();
        let set = together.set_of(configuration.id);
        set.is_none_or(|set| !self.prepared.contains(&set))
            && client.backend.with_workloads().is_some_and(|service| {
                let service = inventory.member(service);
                is_uninstalled(context, service) && together.has(configuration, service)
            })
    }

    /// Whether objects of `kind` are deleted after the backend, and before the webhook
    /// configuration if that is deleted, too.
    fn goes_later(
        &self,
        kind: GroupKind<&str>,
        configuration: &Member,
        occasion: Occasion,
    ) -> bool {
        match occasion {
            Occasion::NamespaceDeletion => kind != kinds::POD,
            Occasion::HelmUninstall => {
                // Unlisted kinds are deleted last, in alphabetical order (helm kind_sorter.go).
                let (helm, kind, other) = (self.helm, kind.kind, configuration.key.kind());
                helm.place(kind) > helm.place(kinds::SERVICE.kind)
                    && (helm.place(kind), !helm.lists(kind), kind)
                        < (helm.place(other), !helm.lists(other), other)
            }
            Occasion::HelmLeavesWebhook => {
                self.helm.place(kind.kind) > self.helm.place(kinds::SERVICE.kind)
            }
        }
    }

    /// Returns an object that the backend's namespace will have although the input does not contain it: one that every
    /// namespace has or, possibly, an instance of a kind that the input defines.
    fn expected(&self, client: &ServiceCaller, webhook: &Webhook) -> Option<(String, Severity)> {
        let context = self.context;
        let namespace = namespace_of(context, client)?;
        let file = context.inventory.member(client.object).file;
        let is_asked =
            |kind: GroupKind<&str>, plural: &str, versions: &[String], labels: KnownLabels<'_>| {
                let resources = [plural.to_owned()];
                let kind = RequestedKind {
                    kind,
                    resources: &resources,
                    versions,
                    namespaced: true,
                };
                let object = RequestedObject {
                    namespace: &Namespace::Named(client.service.namespace.as_str().into()),
                    labels,
                    namespace_labels: Some(namespace.object.metadata().labels()),
                };
                kind.matched_by(webhook, AdmissionOperation::Delete, "") == Interception::Yes
                    && object.selected_by(webhook) == Interception::Yes
            };
        // Every namespace has these two objects: controllers create them.
        let config_map = GroupKind::new("", "ConfigMap");
        for (kind, plural, object) in [
            (config_map, "configmaps", "ConfigMap `kube-root-ca.crt`"),
            (
                kinds::SERVICE_ACCOUNT,
                "serviceaccounts",
                "ServiceAccount `default`",
            ),
        ] {
            if is_asked(kind, plural, &["v1".to_owned()], Some(Labels::default())) {
                let what = format!("{object}, which every namespace has");
                return Some((what, Severity::Warning));
            }
        }
        let looks = self.definitions.len() * webhook.rules.len();
        if !self.budget.take(looks) {
            return None;
        }
        let (_, definition) = self.definitions.iter().find(|(place, definition)| {
            let scope = definition.scope.as_ref().map(|scope| scope.value);
            if scope != Some(Scope::Namespaced) || !context.analysis.in_one_cluster(file, *place) {
                return false;
            }
            let served = definition.versions.iter().filter(|version| version.served);
            let served: Vec<String> = served.map(|version| version.name.value.clone()).collect();
            definition.plural.as_ref().is_some_and(|plural| {
                is_asked(definition.group_kind(), plural.as_str(), &served, None)
            })
        })?;
        let what = format!("every {} in it", definition.kind.value);
        Some((what, Severity::Info))
    }

    /// Whether the rules of a webhook certainly match the deletion of `member` and other objects of its kind.
    fn is_asked_about(&self, kind: GroupKind<&str>, member: &Member, webhook: &Webhook) -> bool {
        let resources = self.context.inventory.kinds.resources(kind);
        let versions = [member.object.group_version().version.to_string()];
        let namespaced = member.key.namespace != Namespace::None;
        let kind = RequestedKind {
            kind,
            resources: &resources,
            versions: &versions,
            namespaced,
        };
        kind.matched_by(webhook, AdmissionOperation::Delete, "") == Interception::Yes
    }

    /// Whether the selectors of a webhook certainly select an object.
    fn is_selected(&self, member: &Member, webhook: &Webhook) -> bool {
        let namespace = member.key.namespace.name();
        let namespace = namespace.and_then(|name| self.namespaces.get(name));
        let object = RequestedObject {
            namespace: &member.key.namespace,
            labels: Some(member.object.metadata().labels()),
            namespace_labels: namespace.map(|namespace| namespace.object.metadata().labels()),
        };
        object.selected_by(webhook) == Interception::Yes
    }
}

fn webhook_blocks_deletion(context: &Context<'_>, sink: &mut Sink) {
    let serves = &context.ownership.serves;
    let mut asked = None;
    for (client, webhook) in serves.webhooks() {
        // If the workloads behind the Service are unknown, so is their deletion.
        let Some(id) = client.backend.with_workloads() else {
            continue;
        };
        let Some(operation) = deletion(webhook).filter(|_| webhook.fails_closed) else {
            continue;
        };
        let asked = asked.get_or_insert_with(|| AskedObjects::new(context));
        if let Some(blockage) = asked.blockage(client, webhook) {
            sink.push(blocks(context, client, webhook, operation, id, &blockage));
        }
    }
    sink.leave_untried(asked.map_or(0, |asked| asked.budget.refused()));
}

/// Returns the operation for which a webhook is asked about deletions, with the position of its rule.
fn deletion(webhook: &Webhook) -> Option<(usize, &Spanned<String>)> {
    let rules = webhook.rules.iter().enumerate();
    let mut operations =
        rules.flat_map(|(at, rule)| rule.operations.iter().map(move |operation| (at, operation)));
    operations.find(|(_, operation)| matches!(operation.as_str(), "DELETE" | "*"))
}

/// The deletions that a webhook blocks.
struct Blockage<'a> {
    occasion: Occasion,
    /// The objects that cannot be deleted, in words.
    what: String,
    severity: Severity,
    /// The objects of the input among them.
    blocked: Vec<&'a Member>,
}

fn blocks(
    context: &Context<'_>,
    client: &ServiceCaller,
    webhook: &Webhook,
    (rule, operation): (usize, &Spanned<String>),
    service: ObjectId,
    Blockage {
        occasion,
        what,
        severity,
        blocked,
    }: &Blockage<'_>,
) -> Draft {
    let inventory = context.inventory;
    let configuration = inventory.member(client.object);
    let (service, webhook_name) = (inventory.member(service), &webhook.name.value);
    let (message, reason) = match occasion {
        Occasion::NamespaceDeletion => (
            format!(
                "deleting namespace `{}` gets stuck: webhook `{webhook_name}` runs in it and rejects the deletion of {what}",
                client.service.namespace.value
            ),
            format!(
                "Deleting a Namespace removes its Pods first. From then on {} has no backend, and \
                 with `failurePolicy: Fail`, the default, the API server rejects every request for \
                 which it would call the webhook. The configuration is cluster-scoped, so it is \
                 not deleted with the Namespace.",
                named(service)
            ),
        ),
        Occasion::HelmUninstall => (
            format!(
                "`helm uninstall` fails with Helm 3: the backend of webhook `{webhook_name}` is \
                 gone when the API server calls it for the deletion of {what}"
            ),
            format!(
                "Helm 3 deletes Services before most other kinds, and webhook configurations last. \
                 Once {} is gone, the webhook has no backend, and with `failurePolicy: Fail`, the \
                 default, the API server rejects every request for which it would call the \
                 webhook. Helm then reports a failed uninstall.",
                named(service)
            ),
        ),
        Occasion::HelmLeavesWebhook => (
            format!(
                "`helm uninstall` fails: it leaves {}, and the backend of webhook `{webhook_name}` \
                 is gone when the API server calls it for the deletion of {what}",
                named(configuration)
            ),
            format!(
                "Helm deletes neither hooks nor objects with `helm.sh/resource-policy: keep`. Once \
                 {} is gone, the webhook has no backend, and with `failurePolicy: Fail`, the \
                 default, the API server rejects every request for which it would call the \
                 webhook, also after the uninstall.",
                named(service)
            ),
        ),
    };
    let delete = kubectl::delete(&(&configuration.key).into(), &[]);
    let draft = Draft::on(configuration, operation.span, message)
        .severity(*severity)
        .label("called for deletions, even after its backend is gone")
        .reason(reason)
        .help(format!(
            "exempt these objects with `namespaceSelector`, `objectSelector` or `matchConditions`, \
             remove `DELETE` from its operations, or set `failurePolicy: Ignore`; or delete the \
             configuration before everything else: `{delete}`"
        ))
        .field(format!(
            "webhooks[{}].rules[{rule}].operations",
            webhook.index
        ))
        .target(client.service_key().to_string())
        .related_object(
            service,
            format!("is the backend of the webhook, {}", whereabouts(service)),
        );
    let words = "cannot be deleted while the webhook has no backend";
    draft.related_objects(blocked.iter().copied(), words)
}

/// [NS-11]: if discovery fails for one group, every Namespace that is deleted stays Terminating.
fn apiservice_without_backend(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    for client in &context.ownership.serves.clients {
        let Purpose::Api { group, version } = &client.purpose else {
            continue;
        };
        let object = inventory.member(client.object);
        let absent = if context.world == World::Closed {
            Severity::Error
        } else {
            Severity::Warning
        };
        let (service, namespace) = (&client.service.name.value, &client.service.namespace.value);
        let who = named(object);
        let (severity, message, label) = match &client.backend {
            Backend::Absent(Absence::Dumped | Absence::Unplaced) => (
                absent,
                format!("{who} has no backend: namespace `{namespace}` has no Service `{service}`"),
                "no such Service",
            ),
            Backend::Service {
                pods: Selected::NoPods,
                ..
            } => (
                absent,
                format!("{who} has no backend: Service `{service}` selects no Pod in the input"),
                "selects no Pod",
            ),
            Backend::Service {
                pods: Selected::Workloads(_),
                ..
            } if namespace_of(context, client).is_some() => (
                Severity::Info,
                format!(
                    "deleting namespace `{namespace}` leaves {who} without a backend, and every namespace that is deleted then \
                     gets stuck"
                ),
                "is deleted with its namespace, and the APIService is not",
            ),
            _ => continue,
        };
        let delete = kubectl::delete(&(&object.key).into(), &[]);
        let draft = Draft::on(object, client.service.name.span, message)
            .severity(severity)
            .label(label)
            .reason(format!(
                "Before the namespace controller finishes a namespace, it lists the kinds of every \
                 API group. That fails while `{group}/{version}` has no backend: every deleted \
                 namespace in the cluster, even an empty one, stays Terminating with the condition \
                 NamespaceDeletionDiscoveryFailure [NS-11]."
            ));
        let draft = if severity == Severity::Info {
            draft
        } else {
            draft.claims_absence(inventory)
        };
        let backend = match &client.backend {
            Backend::Service { id, .. } => Some(inventory.member(*id)),
            Backend::Absent(_) => None,
        };
        let draft = draft
            .help(format!(
                "make sure that the Service exists and selects Pods, or delete the APIService first: `{delete}`"
            ))
            .field("spec.service.name")
            .target(client.service_key().to_string())
            .related_objects(backend, "the Service");
        sink.push(draft);
    }
}

/// Returns the Namespace of a client's Service, if the input contains it in the cluster of the client.
fn namespace_of<'a>(context: &Context<'a>, client: &ServiceCaller) -> Option<&'a Member> {
    let inventory = context.inventory;
    let file = inventory.member(client.object).file;
    let namespaces =
        inventory.with_key(&ObjectKey::of_namespace(client.service.namespace.as_str()));
    let mut namespaces = namespaces.iter().map(|id| inventory.member(*id));
    namespaces.find(|namespace| context.analysis.in_one_cluster(file, namespace.file))
}
