//! Service → why the API server calls it: every webhook, every aggregated API group, every conversion between the
//! versions of a kind; and the Pods that the Service selects, without which there is no answer.
//!
//! A bundle is rarely a whole cluster, so an absent backend may run elsewhere: [`Backend`] distinguishes what the input shows
//! from what it leaves open, and callers decide what that proves.

mod looks;
mod matching;
mod selecting;

pub use looks::RequestLooks;
pub use matching::{AdmissionOperation, Interception, KnownLabels, RequestedKind, RequestedObject};
pub use selecting::{Selected, SelectionId};
use selecting::{Selecting, Selections};

use crate::finding::Certainty;
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::{Namespace, ObjectKey, kinds};
use crate::manifest::{ServiceClient, ServiceReference, Webhook};

/// Everything in a bundle that a Service has to answer for, in the order of the inventory.
#[derive(Clone, Debug, Default)]
pub struct Serves {
    /// One for each webhook, APIService and conversion.
    pub clients: Vec<ServedClient>,
    selections: Selections,
}

/// One thing that a Service has to answer for.
#[derive(Clone, Debug)]
pub struct ServedClient {
    /// The object that names the Service: a webhook configuration, an APIService, a CustomResourceDefinition.
    pub object: ObjectId,
    /// The purpose of the call.
    pub purpose: Purpose,
    /// The Service as it is named, with its place in the file of `object`.
    pub service: ServiceReference,
    /// Who answers, as far as the input shows.
    pub backend: Backend,
}

/// The purpose of calls to a Service.
#[derive(Clone, Debug)]
pub enum Purpose {
    /// To admit requests.
    Webhook(Box<Webhook>),
    /// To serve a version of an API group.
    Api {
        /// The group.
        group: String,
        /// The version.
        version: String,
    },
    /// To convert custom resources between versions.
    Conversion,
}

/// Who answers for a Service, as far as the input shows.
#[derive(Clone, Debug)]
pub enum Backend {
    /// The input contains the Service.
    Service {
        /// It; of several the first.
        id: ObjectId,
        /// Certain, unless the Service does not say its namespace.
        certainty: Certainty,
        /// Who stands behind it.
        pods: Selected,
    },
    /// The input contains no such Service.
    Absent(Absence),
}

/// The meaning of an absent Service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The object that names it was read from a cluster, and so were Services: there is none of that name.
    Dumped,
    /// The input contains its Namespace, and not the Service.
    Unplaced,
    /// Nothing: it may be part of another input.
    Unknown,
}

impl Backend {
    /// The Service, if the input shows the workloads that answer for it.
    pub fn with_workloads(&self) -> Option<ObjectId> {
        match self {
            Self::Service {
                id,
                pods: Selected::Workloads(_),
                ..
            } => Some(*id),
            Self::Service { .. } | Self::Absent(_) => None,
        }
    }

    /// Whether the input contains the Service.
    pub fn is_known(&self) -> bool {
        matches!(self, Self::Service { .. })
    }
}

impl Serves {
    /// Finds everything in `inventory` that needs a Service.
    pub fn of(inventory: &Inventory) -> Self {
        let clients: Vec<_> = inventory.members.iter().flat_map(needs).collect();
        if clients.is_empty() {
            return Self::default();
        }
        let mut selecting = Selecting::of(inventory);
        let services_dumped = inventory
            .members
            .iter()
            .any(|member| member.from_dump && member.key.is(kinds::SERVICE));
        let clients = clients.into_iter().map(|(object, purpose, service)| {
            let backend = match service_of(inventory, &service) {
                Some((id, certainty)) => Backend::Service {
                    id,
                    certainty,
                    pods: selecting.behind(id),
                },
                None => Backend::Absent(absence(inventory, object, &service, services_dumped)),
            };
            ServedClient {
                object,
                purpose,
                service,
                backend,
            }
        });
        let clients = clients.collect();
        Self {
            clients,
            selections: selecting.into_selections(),
        }
    }

    /// The workloads and Pods behind Services; never empty.
    pub fn workloads(&self, selection: SelectionId) -> &[ObjectId] {
        self.selections.get(selection)
    }

    /// The webhooks among them, each with what it is called for.
    pub fn webhooks(&self) -> impl Iterator<Item = (&ServedClient, &Webhook)> {
        self.clients
            .iter()
            .filter_map(|client| match &client.purpose {
                Purpose::Webhook(webhook) => Some((client, &**webhook)),
                _ => None,
            })
    }
}

impl ServedClient {
    /// The key of the Service.
    pub fn service_key(&self) -> ObjectKey {
        let namespace = Namespace::Named(self.service.namespace.value.as_str().into());
        ObjectKey::new(kinds::SERVICE, namespace, &self.service.name.value)
    }
}

/// The calls of one object to Services.
fn needs(member: &Member) -> Vec<(ObjectId, Purpose, ServiceReference)> {
    let with = |purpose, service| vec![(member.id, purpose, service)];
    match member.object.service_client() {
        Some(ServiceClient::Webhooks(webhooks)) => {
            let called = webhooks.into_iter().filter_map(|webhook| {
                let service = webhook.service.clone()?;
                Some((member.id, Purpose::Webhook(Box::new(webhook)), service))
            });
            called.collect()
        }
        Some(ServiceClient::Api(api)) => {
            let (group, version) = (api.group, api.version);
            api.service.map_or_else(Vec::new, |service| {
                with(Purpose::Api { group, version }, service)
            })
        }
        Some(ServiceClient::Conversion(service)) => with(Purpose::Conversion, service),
        None => Vec::new(),
    }
}

/// A namesake whose namespace is not written may be the one that is meant.
fn service_of(inventory: &Inventory, service: &ServiceReference) -> Option<(ObjectId, Certainty)> {
    let (namespace, name) = (&service.namespace.value, &service.name.value);
    let key = ObjectKey::new(kinds::SERVICE, Namespace::Named(namespace.into()), name);
    if let Some(id) = inventory.with_key(&key).first() {
        return Some((*id, Certainty::Certain));
    }
    let mut namesakes = inventory.with_name("", kinds::SERVICE.kind, name).iter();
    namesakes
        .find(|id| inventory.member(**id).key.namespace == Namespace::Unwritten)
        .map(|id| (*id, Certainty::Likely))
}

/// A dump without any Service is one of other kinds: every cluster has the Service `kubernetes`.
fn absence(
    inventory: &Inventory,
    object: ObjectId,
    service: &ServiceReference,
    services_dumped: bool,
) -> Absence {
    let namespace = ObjectKey::of_namespace(&service.namespace.value);
    let placed = || !inventory.with_key(&namespace).is_empty();
    match inventory.member(object).from_dump {
        true if services_dumped => Absence::Dumped,
        _ if placed() => Absence::Unplaced,
        _ => Absence::Unknown,
    }
}
