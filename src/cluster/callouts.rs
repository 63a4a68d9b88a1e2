//! Converts webhooks and aggregated APIs to the model: the requests that each webhook is called
//! for, and the objects that have to exist for it to answer.
//!
//! A Service that the input does not contain may be part of another input. It counts as absent only
//! if a dump shows that, or if the input contains its Namespace. Otherwise it is assumed to answer:
//! else the webhooks of other charts would reject every request in a plan of one chart. A Service
//! that selects no Pod of the input has no backend if the cluster is closed (`Source::closed`);
//! otherwise it may have one.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use foldhash::HashMap;

use super::members::Members;
use super::source::{Assumptions, Source};
use crate::gc::{
    ApiServiceFacts, Facts, KindTable, Object, ServiceBackend, Verb, WebhookFacts, WebhookRequests,
};
use crate::inventory::{Inventory, Member};
use crate::kube::{GroupKind, Namespace, ObjectKey, kinds as well_known};
use crate::manifest::{TemplateKind, Webhook};
use crate::ownership::{
    Absence, AdmissionOperation, Backend, Interception, KnownLabels, Purpose, RequestBudget,
    RequestedKind, RequestedObject, Selected, SelectionId, ServiceCaller,
};

/// Cost of a Pod behind a webhook or API, in objects: every request to it depends on the Pod.
const A_POD: usize = 20;
/// Cost of a Namespace in objects: none is finished while an aggregated API is unavailable.
const A_NAMESPACE: usize = 10;

/// Adds facts to the webhook configurations and APIServices among `objects`: requests and backends.
pub(super) fn add_callouts(
    source: &Source<'_>,
    kinds: &KindTable,
    members: &Members<'_>,
    objects: &mut [Object],
    assumptions: &mut Assumptions,
) {
    let clients = &source.ownership.serves.clients;
    if clients.is_empty() {
        return;
    }
    let asked = Asked::new(source, kinds, members, objects);
    let mut facts: BTreeMap<&ObjectKey, Facts> = BTreeMap::new();
    for client in clients {
        let Some(key) = members.key_of(client.object).filter(|key| {
            members
                .get(key)
                .is_some_and(|chosen| chosen.id == client.object)
        }) else {
            continue;
        };
        let matters = match &client.purpose {
            Purpose::Webhook(webhook) => webhook.fails_closed,
            Purpose::Api { .. } => true,
            Purpose::Conversion => false,
        };
        if !matters {
            continue;
        }
        if asked.answers_elsewhere(client) {
            let called = (key.clone(), client.service_key());
            assumptions.answered_elsewhere.push(called);
            continue;
        }
        if !asked.may_look_at(client) {
            let called = (key.clone(), client.service_key());
            assumptions.not_looked_at.push(called);
            continue;
        }
        let backend = asked.backend(client);
        let is_silent = backend
            .pods
            .as_ref()
            .map_or(!client.backend.is_known(), Vec::is_empty);
        let pair = (key.clone(), backend.service.clone());
        match &client.purpose {
            Purpose::Webhook(webhook) => {
                let Some(webhook) = asked.webhook(client, webhook, backend) else {
                    assumptions.not_looked_at.push(pair);
                    continue;
                };
                let none = || Facts::Webhooks(Vec::new());
                if let Facts::Webhooks(webhooks) = facts.entry(key).or_insert_with(none) {
                    webhooks.push(webhook);
                }
            }
            Purpose::Api { group, version } => {
                let api = ApiServiceFacts {
                    group_version: format!("{group}/{version}"),
                    backend,
                };
                facts.insert(key, Facts::ApiService(Box::new(api)));
            }
            Purpose::Conversion => {}
        }
        if is_silent {
            assumptions.unanswered.push(pair);
        }
    }
    if facts.is_empty() {
        return;
    }
    for object in objects {
        if let Some(facts) = facts.remove(&object.key) {
            object.facts = facts;
        }
    }
}

/// Index of all requests that webhooks may be called for.
struct Asked<'a> {
    source: &'a Source<'a>,
    members: &'a Members<'a>,
    kinds: Vec<AskedKind<'a>>,
    /// Number of Namespaces.
    namespaces: usize,
    /// For each implied object, the rendered object at the top of its chain of owners.
    tops: HashMap<&'a ObjectKey, &'a ObjectKey>,
    /// Pods that controllers create, by the rendered object at the top.
    pods: HashMap<&'a ObjectKey, Vec<&'a ObjectKey>>,
    budget: RequestBudget,
}

struct AskedKind<'a> {
    kind: GroupKind<&'a str>,
    resources: Vec<String>,
    versions: Vec<String>,
    namespaced: bool,
    keys: Vec<&'a ObjectKey>,
    /// The objects with what selectors read; computed when a webhook has rules for the kind.
    objects: OnceCell<Vec<AskedObject<'a>>>,
}

struct AskedObject<'a> {
    key: &'a ObjectKey,
    /// The namespace of requests for the object; a Namespace's own name.
    namespace: Namespace,
    labels: KnownLabels<'a>,
    namespace_labels: KnownLabels<'a>,
}

impl<'a> Asked<'a> {
    fn new(
        source: &'a Source<'a>,
        kinds: &KindTable,
        members: &'a Members<'a>,
        objects: &'a [Object],
    ) -> Self {
        let tops = tops(source);
        let mut pods: HashMap<&ObjectKey, Vec<&ObjectKey>> = HashMap::default();
        for (pod, top) in tops.iter().filter(|(key, _)| key.is(well_known::POD)) {
            pods.entry(top).or_default().push(pod);
        }
        #[expect(clippy::iter_over_hash_type, reason = "each list is sorted by itself")]
        for pods in pods.values_mut() {
            pods.sort_unstable();
        }
        let mut by_kind: BTreeMap<GroupKind<&str>, Vec<&ObjectKey>> = BTreeMap::new();
        for Object { key, .. } in objects.iter().filter(|object| !object.assumed) {
            by_kind.entry(key.group_kind()).or_default().push(key);
        }
        let namespaces = by_kind.get(&well_known::NAMESPACE).map_or(0, Vec::len);
        let each = by_kind
            .into_iter()
            .map(|(kind, keys)| AskedKind::new(source.inventory, kinds, kind, keys));
        Self {
            source,
            members,
            kinds: each.collect(),
            namespaces,
            tops,
            pods,
            budget: RequestBudget::all(),
        }
    }

    fn object(&self, key: &'a ObjectKey) -> AskedObject<'a> {
        let labels = if let Some(member) = self.members.get(key) {
            Some(member.object.metadata().labels())
        } else {
            let top = self.tops.get(key).and_then(|top| self.members.get(top));
            top.and_then(|top| template_labels(key, top))
        };
        let is_namespace = key.is(well_known::NAMESPACE);
        let namespace = if is_namespace {
            Namespace::Named(key.name.clone())
        } else {
            key.namespace.clone()
        };
        let inside = namespace
            .name()
            .and_then(|name| self.members.get(&ObjectKey::of_namespace(name)));
        AskedObject {
            key,
            labels,
            namespace_labels: inside.map(|member| member.object.metadata().labels()),
            namespace,
        }
    }

    /// Charges the Pods behind `client`, and the Namespaces that wait if it is an API, to the
    /// budget. Returns `false` if the budget is exceeded.
    fn may_look_at(&self, client: &ServiceCaller) -> bool {
        let selected = match client.backend {
            Backend::Service {
                pods: Selected::Workloads(selected),
                ..
            } => Some(selected),
            _ => None,
        };
        let namespaces = match client.purpose {
            Purpose::Api { .. } => self.namespaces,
            _ => 0,
        };
        let workloads = selected.map_or(0, |selected| self.workloads(selected).len());
        if !self
            .budget
            .take(namespaces * A_NAMESPACE + workloads * A_POD)
        {
            return false;
        }
        let workloads = selected
            .into_iter()
            .flat_map(|selected| self.workloads(selected));
        let pods: usize = workloads
            .filter_map(|key| self.pods.get(key))
            .map(Vec::len)
            .sum();
        self.budget.take(pods * A_POD)
    }

    fn workloads(&self, selected: SelectionId) -> impl ExactSizeIterator<Item = &'a ObjectKey> {
        let source = self.source;
        source
            .ownership
            .serves
            .workloads(selected)
            .iter()
            .map(|id| &source.inventory.member(*id).key)
    }

    /// Whether the backend may exist although the input does not contain it.
    fn answers_elsewhere(&self, client: &ServiceCaller) -> bool {
        match client.backend {
            Backend::Service { .. } => false,
            Backend::Absent(absence) => !self.source.closed || absence == Absence::Unknown,
        }
    }

    /// Returns the Service of a client, with the Pods behind it if they are known.
    fn backend(&self, client: &ServiceCaller) -> ServiceBackend {
        match &client.backend {
            Backend::Service { id, pods, .. } => {
                let service = self.source.inventory.member(*id).key.clone();
                let pods = match pods {
                    Selected::Workloads(workloads) => Some(self.running(*workloads)),
                    Selected::Unselected => None,
                    Selected::NoPods if self.source.closed => Some(Vec::new()),
                    Selected::NoPods => None,
                };
                ServiceBackend { service, pods }
            }
            Backend::Absent(_) => ServiceBackend {
                service: client.service_key(),
                pods: None,
            },
        }
    }

    /// Returns the selected Pods, and those that the selected workloads will run; if there is none, the workloads
    /// themselves.
    fn running(&self, selected: SelectionId) -> Vec<ObjectKey> {
        let implied = self
            .workloads(selected)
            .filter_map(|key| self.pods.get(key))
            .flatten()
            .copied();
        let pods: Vec<ObjectKey> = self
            .workloads(selected)
            .filter(|key| key.is(well_known::POD))
            .chain(implied)
            .cloned()
            .collect();
        if pods.is_empty() {
            self.workloads(selected).cloned().collect()
        } else {
            pods
        }
    }

    /// Returns the facts about a webhook; `None` if evaluating it exceeds the budget.
    fn webhook(
        &self,
        client: &ServiceCaller,
        webhook: &Webhook,
        backend: ServiceBackend,
    ) -> Option<WebhookFacts> {
        if !self.budget.take(self.kinds.len() * webhook.rules.len()) {
            return None;
        }
        let mut requests = Vec::new();
        for kind in &self.kinds {
            let verbs = kind.verbs(webhook);
            if verbs.is_empty() {
                continue;
            }
            if !self.budget.take(kind.keys.len()) {
                return None;
            }
            let objects = kind
                .objects
                .get_or_init(|| kind.keys.iter().map(|key| self.object(key)).collect());
            let selected = objects.iter().filter(|object| object.selected_by(webhook));
            requests.push(WebhookRequests {
                verbs,
                objects: selected.map(|object| object.key.clone()).collect(),
            });
        }
        let service = &client.service;
        let path = if service.path.is_empty() {
            "/"
        } else {
            &service.path
        };
        let url = format!(
            "https://{}.{}.svc:{}{path}?timeout={}s",
            service.name.value, service.namespace.value, service.port, webhook.timeout_seconds
        );
        Some(WebhookFacts {
            name: webhook.name.value.clone(),
            url,
            backend,
            requests,
        })
    }
}

impl<'a> AskedKind<'a> {
    fn new(
        inventory: &Inventory,
        kinds: &KindTable,
        kind: GroupKind<&'a str>,
        keys: Vec<&'a ObjectKey>,
    ) -> Self {
        let versions = kinds.find(kind).map(|id| kinds.get(id).versions.clone());
        Self {
            kind,
            resources: inventory.kinds.resources(kind),
            versions: versions.unwrap_or_default(),
            namespaced: keys.iter().any(|key| key.namespace != Namespace::None),
            keys,
            objects: OnceCell::new(),
        }
    }

    /// Returns the verbs of requests for this kind that certainly call `webhook`.
    fn verbs(&self, webhook: &Webhook) -> Vec<Verb> {
        let kind = RequestedKind {
            kind: self.kind,
            resources: &self.resources,
            versions: &self.versions,
            namespaced: self.namespaced,
        };
        let finalize: &[&str] = if kind.kind == well_known::NAMESPACE {
            &["finalize", "status"]
        } else {
            &[]
        };
        let verbs = [
            (Verb::Delete, AdmissionOperation::Delete, &[""][..]),
            (Verb::Update, AdmissionOperation::Update, &[""]),
            (Verb::UpdateStatus, AdmissionOperation::Update, &["status"]),
            (Verb::Finalize, AdmissionOperation::Update, finalize),
        ];
        let asked = verbs.into_iter().filter(|(_, operation, subresources)| {
            subresources.iter().any(|subresource| {
                kind.matched_by(webhook, *operation, subresource) == Interception::Yes
            })
        });
        asked.map(|(verb, ..)| verb).collect()
    }
}

impl AskedObject<'_> {
    fn selected_by(&self, webhook: &Webhook) -> bool {
        let object = RequestedObject {
            namespace: &self.namespace,
            labels: self.labels,
            namespace_labels: self.namespace_labels,
        };
        object.selected_by(webhook) == Interception::Yes
    }
}

/// Returns the rendered object at the top of each implied one. An owner is implied before its dependents.
fn tops<'a>(source: &'a Source<'a>) -> HashMap<&'a ObjectKey, &'a ObjectKey> {
    let mut tops: HashMap<&ObjectKey, &ObjectKey> = HashMap::default();
    for implied in &source.implied.objects {
        let top = tops.get(&implied.owner).copied().unwrap_or(&implied.owner);
        tops.insert(&implied.key, top);
    }
    tops
}

/// Returns the labels that a workload gives to its Pods, and a Deployment to its ReplicaSets; `None` for other objects.
fn template_labels<'a>(key: &ObjectKey, top: &'a Member) -> KnownLabels<'a> {
    let made_from_template = key.is(well_known::POD) || key.kind() == "ReplicaSet";
    let mut templates = top.object.templates().filter(|_| made_from_template);
    let pod = templates.find(|template| template.kind == TemplateKind::Pod)?;
    Some(pod.metadata.labels())
}
