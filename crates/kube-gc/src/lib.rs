//! A small pure model of deletion in Kubernetes: the API server's DELETE, the garbage collector, the
//! namespace controller, the finalization of custom resource definitions, and operators that remove their finalizers.
//!
//! [`simulate`] takes a [`Cluster`] and a list of [`Step`]s and predicts the fate of every object:
//!
//! ```
//! use kube_gc::names::{GroupKind, ObjectKey, Wait};
//! use kube_gc::{Cluster, Fate, KindInfo, KindTable, Object, OwnerReference, SimulationOptions, Step, simulate};
//!
//! let ship = GroupKind::new("example.com", "Ship");
//! let mut kinds = KindTable::new();
//! kinds.add(KindInfo::custom(ship, "ships", true, &["v1"]));
//! let key = |name: &str| ObjectKey::new(ship, "harbour".into(), name);
//! let mother = Object { key: key("mother"), uid: "1".into(), ..Object::default() };
//! let owner = OwnerReference {
//!     api_version: "example.com/v1".into(),
//!     kind: "Ship".into(),
//!     name: "mother".into(),
//!     uid: "1".into(),
//!     ..OwnerReference::default()
//! };
//! let boat = Object { key: key("boat"), uid: "2".into(), owner_references: vec![owner], ..Object::default() };
//!
//! let cluster = Cluster::new(kinds, vec![mother, boat])?;
//! let delete = Step::Delete { targets: vec![key("mother")], policy: None, wait: Wait::Settled, client: 0 };
//! let plan = simulate(&cluster, &[delete], &SimulationOptions::default());
//! let verdict = &plan.steps[0].outcomes[0];
//! assert!(plan.fates(verdict).iter().all(|(_, fate)| matches!(fate, Fate::Gone)));
//! # Ok::<(), kube_gc::ClusterError>(())
//! ```
//!
//! The model does no I/O and is deterministic. Kubernetes itself has races: the collector has twenty workers and
//! processes its items in no fixed order. The *verdict* is the result of one canonical order (`rounds`, `[SIM-10]`),
//! the one that agrees best with a real control plane. The other outcomes are those that some other order reaches
//! (`search`, `[SIM-11]`). Both run the same rules.
//!
//! *Requests and waits.* A deletion step is a batch of requests: nothing happens between the first and the last of
//! them. The client's [`Wait`](names::Wait) after the batch decides what may happen before its next one. With `None`
//! the next batch follows at once, and the collector may or may not have acted in between. With `Named` it follows once
//! the targets are gone. With `Gone` the cluster comes to rest; if one of the targets is stuck by then, the client
//! sends nothing more. With `Settled` the cluster comes to rest, and a controller that has stopped by then never runs
//! again. Only a step that settles has outcomes. Several clients send their requests in the order of the steps, and the
//! wait of one does not delay the others.
//!
//! *Reconcilers.* An object may list controllers outside of the control plane that remove its
//! finalizers ([`Reconciler`]): the workloads that run them, and the ServiceAccounts, bindings and
//! roles that authorize them. The removal of such a finalizer is certain, impossible, or a race. A
//! race has both outcomes, and its verdict is the harmful one: the object stays
//! ([`HeldObject::unless_quicker`]). An authority removed by an earlier request is certainly lost;
//! one deleted by controllers at about the same time may still suffice, which is a race.
//!
//! *Releases.* [`Behaviour`] describes how older Kubernetes releases differ.
//!
//! * `names`: names of kinds and objects
//! * `object`, `kinds`, `behaviour`: the input of a caller; `assemble`, `ties`, `callout_ties` and `controller_ties`
//!   turn it into a `cluster`
//! * `cluster`, `references`, `links`: the immutable part: objects, references resolved by uid and by coordinates, and
//!   other ties between objects
//! * `state`, `timeline`, `purging`, `view`: the mutable state, and queries of it; every write goes through `world`,
//!   which leaves watch events for the collector
//! * `callouts`, `failing`, `webhooks`, `discovery`: Services that the API server calls, and the requests that fail
//!   without a backend
//! * `steps`, `requests`, `delete`, `controllers`, `collector`, `reconcilers`: requests of clients, and actions of the
//!   API server, the other controllers, the collector and operators; rules such as `[GC-22]` are cited
//!   where they are applied, and [`semantics()`] explains those that plans cite
//! * `client`, `search`: concurrent requests of several clients, and every outcome that some order reaches
//! * `plan`, `outcome`, `cause`, `hold`, `unattended`, `why`, `events`: results for the caller

mod assemble;
mod behaviour;
mod callout_ties;
mod callouts;
mod cause;
mod client;
mod cluster;
mod collector;
mod conditions;
mod controller_ties;
mod controllers;
mod delete;
mod discovery;
mod events;
mod failing;
mod flags;
mod hold;
mod id_set;
mod ids;
mod kinds;
mod links;
pub mod names;
mod object;
mod options;
mod outcome;
mod plan;
mod purging;
mod reading;
mod reconcilers;
mod references;
mod requests;
mod rounds;
mod search;
mod semantics;
mod simulate;
mod state;
mod steps;
mod symbols;
mod ties;
mod timeline;
mod trace;
mod unattended;
mod view;
mod webhooks;
mod why;
mod world;

pub use assemble::ClusterError;
pub use behaviour::Behaviour;
pub use cause::{Cause, Protection};
pub use cluster::Cluster;
pub use conditions::Condition;
pub use delete::IMMORTAL_NAMESPACES;
pub use discovery::FailingApi;
pub use events::Event;
pub use hold::{HeldObject, Hold};
pub use ids::ObjectId;
pub use kinds::{DefaultPolicy, KindId, KindInfo, KindTable};
pub use object::{
    ApiServiceFacts, DefinitionFacts, Deletion, Facts, NamespaceFacts, Object, OwnerReference,
    PodFacts, Reconciler, ServiceBackend, Verb, VolumeFacts, WebhookFacts, WebhookRequests,
};
pub use options::SimulationOptions;
pub use outcome::{Difference, Fate, Outcome, Present};
pub use plan::{Plan, StepPlan};
pub use reading::{Edge, StoredObjects};
pub use semantics::semantics;
pub use simulate::simulate;
pub use steps::Step;
pub use trace::{Change, Effect};
pub use webhooks::{Rejection, WEBHOOK_FAILED};
pub use why::Why;
