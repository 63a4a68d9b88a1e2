//! The reasons why the API server calls a Service: webhooks, aggregated API groups, and conversions between versions of
//! a kind; and the Pods that the Service selects, without which it does not answer.
//!
//! A bundle is rarely a whole cluster, so an absent backend may run elsewhere: [`Backend`] distinguishes known facts
//! from what the input leaves open, and callers decide what that proves.

mod budget;
mod matching;
mod selecting;

pub use budget::RequestBudget;
pub use matching::{AdmissionOperation, Interception, KnownLabels, RequestedKind, RequestedObject};
use selecting::Selecting;
pub use selecting::{Selected, SelectionId};

use crate::finding::Certainty;
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::{Namespace, ObjectKey, kinds};
use crate::manifest::{ServiceClient, ServiceReference, Webhook};

/// All webhooks, APIServices and conversions in a bundle that call a Service, in the order of the inventory.
#[derive(Clone, Debug, Default)]
pub struct Serves {
    /// One for each webhook, APIService and conversion.
    pub clients: Vec<ServiceCaller>,
    selections: Vec<Vec<ObjectId>>,
}

/// A webhook, an APIService or a conversion that calls a Service.
#[derive(Clone, Debug)]
pub struct ServiceCaller {
    /// The object that names the Service: a webhook configuration, an APIService, a CustomResourceDefinition.
    pub object: ObjectId,
    /// The purpose of the call.
    pub purpose: Purpose,
    /// The Service as named, with its span in the file of `object`.
    pub service: ServiceReference,
    /// The backend, as far as the input shows it.
    pub backend: Backend,
}

/// The purpose of calls to a Service.
#[derive(Clone, Debug)]
pub enum Purpose {
    /// Admits requests.
    Webhook(Box<Webhook>),
    /// Serves a version of an API group.
    Api {
        /// The group.
        group: String,
        /// The version.
        version: String,
    },
    /// Converts custom resources between versions.
    Conversion,
}

/// The backend of a Service, as far as the input shows it.
#[derive(Clone, Debug)]
pub enum Backend {
    /// The input contains the Service.
    Service {
        /// The Service; the first of several.
        id: ObjectId,
        /// Certain, unless the manifest of the Service has no namespace.
        certainty: Certainty,
        /// The Pods behind it.
        pods: Selected,
    },
    /// The input contains no such Service.
    Absent(Absence),
}

/// The evidence that a Service is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The object that names it comes from a dump that contains Services, but none of that name.
    Dumped,
    /// The input contains its Namespace, but not the Service.
    Unplaced,
    /// No evidence: the Service may be part of another input.
    Unknown,
}

impl Backend {
    /// Returns the Service, if the input contains workloads behind it.
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
    /// Finds everything in `inventory` that calls a Service.
    pub fn of(inventory: &Inventory) -> Self {
        let clients: Vec<_> = inventory.members.iter().flat_map(calls_of).collect();
        if clients.is_empty() {
            return Self::default();
        }
        let mut selecting = Selecting::of(inventory);
        let services_dumped = inventory
            .members
            .iter()
            .any(|member| member.from_dump && member.key.is(kinds::SERVICE));
        let served = clients.into_iter().map(|(object, purpose, service)| {
            let backend = match service_of(inventory, &service) {
                Some((id, certainty)) => Backend::Service {
                    id,
                    certainty,
                    pods: selecting.behind(id),
                },
                None => Backend::Absent(absence(inventory, object, &service, services_dumped)),
            };
            ServiceCaller {
                object,
                purpose,
                service,
                backend,
            }
        });
        Self {
            clients: served.collect(),
            selections: selecting.selections,
        }
    }

    /// Returns the workloads and Pods of a selection; never empty.
    pub fn workloads(&self, selection: SelectionId) -> &[ObjectId] {
        &self.selections[selection.0]
    }

    /// Returns the webhooks among the clients.
    pub fn webhooks(&self) -> impl Iterator<Item = (&ServiceCaller, &Webhook)> {
        let clients = self.clients.iter();
        clients.filter_map(|client| match &client.purpose {
            Purpose::Webhook(webhook) => Some((client, &**webhook)),
            _ => None,
        })
    }
}

impl ServiceCaller {
    /// Returns the key of the Service.
    pub fn service_key(&self) -> ObjectKey {
        key_of(&self.service)
    }
}

fn key_of(service: &ServiceReference) -> ObjectKey {
    let namespace = Namespace::Named(service.namespace.value.as_str().into());
    ObjectKey::new(kinds::SERVICE, namespace, &service.name.value)
}

fn calls_of(member: &Member) -> Vec<(ObjectId, Purpose, ServiceReference)> {
    let (purpose, service) = match member.object.service_client() {
        Some(ServiceClient::Webhooks(webhooks)) => {
            let called = webhooks.into_iter().filter_map(|webhook| {
                let service = webhook.service.clone()?;
                Some((member.id, Purpose::Webhook(Box::new(webhook)), service))
            });
            return called.collect();
        }
        Some(ServiceClient::Api(api)) => {
            let (group, version) = (api.group, api.version);
            (Purpose::Api { group, version }, api.service)
        }
        Some(ServiceClient::Conversion(service)) => (Purpose::Conversion, Some(service)),
        None => return Vec::new(),
    };
    let call = service.map(|service| (member.id, purpose, service));
    call.into_iter().collect()
}

/// Finds a Service. One of that name without a written namespace is likely it.
fn service_of(inventory: &Inventory, service: &ServiceReference) -> Option<(ObjectId, Certainty)> {
    if let Some(id) = inventory.with_key(&key_of(service)).first() {
        return Some((*id, Certainty::Certain));
    }
    let name = &service.name.value;
    let mut namesakes = inventory.with_name("", kinds::SERVICE.kind, name).iter();
    namesakes
        .find(|id| inventory.member(**id).key.namespace == Namespace::Unwritten)
        .map(|id| (*id, Certainty::Likely))
}

/// Classifies an absent Service. A dump of Services is never empty: every cluster has the Service `kubernetes`.
fn absence(
    inventory: &Inventory,
    object: ObjectId,
    service: &ServiceReference,
    services_dumped: bool,
) -> Absence {
    let namespace = ObjectKey::of_namespace(&service.namespace.value);
    if services_dumped && inventory.member(object).from_dump {
        Absence::Dumped
    } else if inventory.with_key(&namespace).is_empty() {
        Absence::Unknown
    } else {
        Absence::Unplaced
    }
}
