//! Facts about one bundle: each is computed once, on first use, and shared by rules, pictures and plans.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Built, Source, build};
use crate::delivery::{BundleTools, DeliveredTogether, Deliveries};
use crate::gc::{self, ClusterError, Plan, SimulationOptions, Step};
use crate::inventory::{FolderTrees, Inventory, ObjectId};
use crate::knowledge::{DataFate, Tables};
use crate::kube::{ObjectKey, kinds};
use crate::kustomize::Deliverer;
use crate::ownership::{
    self, DeliveryObject, Implied, ImpliedObject, Ownership, Products, Reach, Ties,
};
use crate::text::FileId;

/// How many verdicts are kept for later use. Each holds a state of the whole cluster, so not every trial of a rule can be
/// kept; a report draws fewer pictures than this.
const MOST_KEPT: usize = 16;

/// The analysis of one bundle.
#[derive(Debug)]
pub struct Analysis<'a> {
    inventory: &'a Inventory,
    tables: Arc<Tables>,
    delivery: BundleTools,
    absent: BTreeSet<ObjectId>,
    trees: OnceLock<FolderTrees>,
    ownership: OnceLock<Ownership>,
    ties: OnceLock<Ties>,
    delivery_objects: OnceLock<Vec<DeliveryObject>>,
    reach: OnceLock<Reach>,
    deliveries: OnceLock<Deliveries>,
    together: OnceLock<DeliveredTogether>,
    cluster: OnceLock<Option<Built>>,
}

impl<'a> Analysis<'a> {
    /// The analysis of an inventory with the bundled tables; nothing is computed yet.
    pub fn of(inventory: &'a Inventory) -> Self {
        Self {
            inventory,
            tables: Tables::bundled(),
            delivery: BundleTools::default(),
            absent: BTreeSet::new(),
            trees: OnceLock::new(),
            ownership: OnceLock::new(),
            ties: OnceLock::new(),
            delivery_objects: OnceLock::new(),
            reach: OnceLock::new(),
            deliveries: OnceLock::new(),
            together: OnceLock::new(),
            cluster: OnceLock::new(),
        }
    }

    /// Sets the delivery of the configuration.
    pub fn delivered_by(self, delivery: impl Into<BundleTools>) -> Self {
        Self {
            delivery: delivery.into(),
            ..self
        }
    }

    /// Sets the tables.
    pub fn knowing(self, tables: Arc<Tables>) -> Self {
        Self { tables, ..self }
    }

    /// Leaves out objects that the input contains and the cluster does not.
    pub fn without(self, absent: BTreeSet<ObjectId>) -> Self {
        Self { absent, ..self }
    }

    /// Sets who delivers which file, where that is known: nothing is evaluated for it.
    pub fn delivered_as<'d>(self, by: impl Fn(FileId) -> Option<&'d Deliverer>) -> Self {
        let reach = Reach::known(self.inventory, self.delivery_objects(), by);
        Self {
            reach: OnceLock::from(reach),
            ..self
        }
    }

    /// Computes the facts that most rules ask for in parallel: the thread that asks first would work while the others
    /// wait. A fact is never divided: a thread that waits for a part takes up another rule, which may ask for the same whole.
    pub fn prepare(&self) {
        if self.ownership.get().is_some() && self.deliveries.get().is_some() {
            return;
        }
        let (inventory, tables) = (self.inventory, &*self.tables);
        let ownership = || Ownership::side_by_side(inventory, Arc::clone(&tables.finalizers));
        // The longest begins first.
        let deliveries = || Deliveries::of(inventory, self.delivery.clone());
        let rest = || rayon::join(ownership, || self.reach());
        let (deliveries, (ownership, reach)) = rayon::join(deliveries, rest);
        let deliveries = deliveries.delivering(self.delivery_objects(), reach);
        // Facts that were computed before do not change.
        _ = (
            self.ownership.set(ownership),
            self.deliveries.set(deliveries),
        );
    }

    /// The tables of operators.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The ties between the objects that no manifest writes as owner references.
    pub fn ties(&self) -> &Ties {
        self.ties
            .get_or_init(|| Ties::of(self.inventory, &self.tables))
    }

    /// The objects that deliver others, in the order of the inventory.
    pub fn delivery_objects(&self) -> &[DeliveryObject] {
        self.delivery_objects
            .get_or_init(|| ownership::delivery_objects(self.inventory))
    }

    /// The objects.
    pub fn inventory(&self) -> &'a Inventory {
        self.inventory
    }

    /// How near two files are.
    pub fn nearness(&self, one: FileId, other: FileId) -> Nearness {
        let sources = &self.inventory.sources;
        let trees = || self.trees.get_or_init(|| FolderTrees::of(sources));
        match self.reach().share_a_cluster(one, other) {
            Some(true) => Nearness::SameCluster,
            Some(false) => Nearness::OtherCluster,
            None if trees().together(sources, one, other) => Nearness::SameCluster,
            None => Nearness::OtherTree,
        }
    }

    /// Whether two files are taken to be applied to one cluster.
    pub fn in_one_cluster(&self, one: FileId, other: FileId) -> bool {
        self.nearness(one, other) == Nearness::SameCluster
    }

    /// The edges between them, and who removes which finalizer.
    pub fn ownership(&self) -> &Ownership {
        self.ownership
            .get_or_init(|| Ownership::knowing(self.inventory, Arc::clone(&self.tables.finalizers)))
    }

    /// Who delivers the objects, and deletes them when they leave.
    pub fn deliveries(&self) -> &Deliveries {
        let deliveries = || Deliveries::of(self.inventory, self.delivery.clone());
        self.deliveries
            .get_or_init(|| deliveries().delivering(self.delivery_objects(), self.reach()))
    }

    /// Which of the objects one removal deletes together.
    pub fn together(&self) -> &DeliveredTogether {
        self.together
            .get_or_init(|| self.deliveries().together(self.inventory))
    }

    /// The parts of the input that [`Self::delivery_objects`] deliver.
    pub fn reach(&self) -> &Reach {
        self.reach
            .get_or_init(|| Reach::of(self.inventory, self.delivery_objects()))
    }

    /// The objects that controllers create below its rendered objects.
    pub fn implied(&self, products: Products) -> Implied<'a> {
        let mut implied = ownership::implied(
            self.inventory,
            self.ownership(),
            self.ties(),
            &self.tables,
            products,
        );
        // Owners come before what is created below them.
        let mut absent: BTreeSet<ObjectKey> = self
            .absent
            .iter()
            .map(|id| self.inventory.member(*id).key.clone())
            .collect();
        implied.objects.retain(|object| {
            let is_absent = absent.contains(&object.owner);
            if is_absent {
                absent.insert(object.key.clone());
            }
            !is_absent
        });
        implied
    }

    /// The objects whose deletion deletes data, or may do so, each with what is deleted: those of the input, and the claims among
    /// the implied ones.
    pub fn data(&self, implied: &Implied<'_>) -> BTreeMap<ObjectKey, String> {
        let written = self.inventory.members.iter().filter_map(|member| {
            let loss = ownership::data_loss(self.inventory, &self.tables, member)?;
            // The claims of a StatefulSet are objects of their own.
            let counts = loss.fate != DataFate::Kept && !member.object.is(kinds::STATEFUL_SET);
            counts.then(|| (member.key.clone(), loss.lost))
        });
        let claims = implied
            .objects
            .iter()
            .filter(|object| object.key.is(kinds::PERSISTENT_VOLUME_CLAIM));
        let row = self
            .tables
            .data_about("", kinds::PERSISTENT_VOLUME_CLAIM.kind)
            .next();
        let lost = |claim: &ImpliedObject<'_>| {
            ownership::reclaim_policy(self.inventory, Some(&claim.key), claim.spec)
                != Some(DataFate::Kept)
        };
        let claims = claims
            .filter(|claim| lost(claim))
            .filter_map(|claim| Some((claim.key.clone(), row?.lost.as_str().to_owned())));
        written.chain(claims).collect()
    }

    /// The cluster that the bundle describes, without what controllers would add; `None` when it is too large.
    pub fn cluster(&self) -> Option<&Built> {
        let nothing = Implied::default();
        self.cluster
            .get_or_init(|| self.build(&nothing, &BTreeSet::new(), true, false).ok())
            .as_ref()
    }

    /// The cluster with what controllers add below rendered objects, and with `namespaces` that exist without an object; one of
    /// its own for every plan. `running`: Pods run on nodes.
    ///
    /// # Errors
    /// More objects than the model can count.
    pub fn with_implied(
        &self,
        implied: &Implied<'_>,
        namespaces: &BTreeSet<String>,
        running: bool,
    ) -> Result<Built, ClusterError> {
        self.build(implied, namespaces, running, true)
    }

    fn build(
        &self,
        implied: &Implied<'_>,
        namespaces: &BTreeSet<String>,
        running: bool,
        closed: bool,
    ) -> Result<Built, ClusterError> {
        let (inventory, ownership) = (self.inventory, self.ownership());
        build(&Source {
            inventory,
            absent: &self.absent,
            ownership,
            implied,
            namespaces,
            running,
            closed,
        })
    }
}

/// How near two files are: the evidence of an object in one of them about an object in the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nearness {
    /// No evidence: both are delivered, and never to the same cluster.
    OtherCluster,
    /// Little evidence: nothing delivers one of them, and they are in different folder trees.
    OtherTree,
    /// Full evidence: some cluster gets both, or nothing delivers one of them and they are in one folder tree.
    SameCluster,
}

/// The effects of single steps on the cluster of an analysis. The verdict alone: rules ignore what races could change.
#[derive(Debug)]
pub struct Verdicts<'a> {
    analysis: &'a Analysis<'a>,
    kept: Mutex<Vec<(Step, Arc<Plan<'a>>)>>,
}

impl<'a> Verdicts<'a> {
    /// Verdicts on the cluster of `analysis`.
    pub fn new(analysis: &'a Analysis<'a>) -> Self {
        Self {
            analysis,
            kept: Mutex::new(Vec::new()),
        }
    }

    /// The analysis.
    pub fn analysis(&self) -> &'a Analysis<'a> {
        self.analysis
    }

    /// Returns the plan of `step`, cached or simulated. `None` when the cluster is too large.
    pub fn of(&self, step: &Step) -> Option<Arc<Plan<'a>>> {
        let kept = |(of, plan): &(Step, Arc<Plan<'a>>)| (of == step).then(|| Arc::clone(plan));
        if let Some(plan) = self.kept().iter().find_map(kept) {
            return Some(plan);
        }
        let built = self.analysis.cluster()?;
        Some(Arc::new(gc::simulate(
            &built.cluster,
            std::slice::from_ref(step),
            &SimulationOptions::verdict(),
        )))
    }

    /// Returns the plan of several steps, one after the other. `None` when the cluster is too large.
    pub fn after(&self, steps: &[Step]) -> Option<Plan<'a>> {
        let built = self.analysis.cluster()?;
        Some(gc::simulate(
            &built.cluster,
            steps,
            &SimulationOptions::verdict(),
        ))
    }

    /// Keeps a verdict that is needed again: one behind a finding.
    pub fn keep(&self, step: Step, plan: Arc<Plan<'a>>) {
        let mut kept = self.kept();
        if kept.len() < MOST_KEPT && kept.iter().all(|(of, _)| *of != step) {
            kept.push((step, plan));
        }
    }

    /// A rule that failed while it held the lock left whole verdicts behind.
    fn kept(&self) -> std::sync::MutexGuard<'_, Vec<(Step, Arc<Plan<'a>>)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
