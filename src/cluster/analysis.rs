//! Facts about one bundle. Each is computed once, on first use, and shared by rules, graphs and plans.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Built, Source, build};
use crate::delivery::{BundleTools, DeliveredTogether, Deliveries};
use crate::gc::{self, ClusterError, Plan, SimulationOptions, Step};
use crate::inventory::{FolderTrees, Inventory, ObjectId};
use crate::knowledge::{DataFate, Tables};
use crate::kube::{ObjectKey, kinds};
use crate::kustomize::Deliverer;
use crate::ownership::{self, DeliveryObject, Implied, Ownership, Products, Reach, Ties};
use crate::text::FileId;

/// Maximum number of cached plans. Each holds a state of the whole cluster, so only plans behind
/// findings are cached; a report draws fewer graphs.
const MAX_CACHED: usize = 16;

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
    /// Creates the analysis of an inventory with the bundled tables; nothing is computed yet.
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

    /// Sets the tools that deliver the bundle according to the configuration.
    pub fn delivered_by(self, delivery: impl Into<BundleTools>) -> Self {
        Self {
            delivery: delivery.into(),
            ..self
        }
    }

    /// Sets the tables of operators.
    pub fn with_tables(self, tables: Arc<Tables>) -> Self {
        Self { tables, ..self }
    }

    /// Excludes objects that the input contains but the cluster does not.
    pub fn without(self, absent: BTreeSet<ObjectId>) -> Self {
        Self { absent, ..self }
    }

    /// Sets the known deliverer of each file, so that the delivery graph is not evaluated.
    pub fn delivered_as<'d>(self, by: impl Fn(FileId) -> Option<&'d Deliverer>) -> Self {
        let reach = Reach::known(self.inventory, self.delivery_objects(), by);
        Self {
            reach: OnceLock::from(reach),
            ..self
        }
    }

    /// Computes the facts that most rules need, on several threads, before rules wait for them.
    /// Only here may computing a fact spawn tasks: a thread that waits for a task may run another
    /// rule, which would wait for the same fact.
    pub fn prepare(&self) {
        if self.ownership.get().is_some() && self.deliveries.get().is_some() {
            return;
        }
        let (inventory, tables) = (self.inventory, &*self.tables);
        // The slowest begins first.
        let (deliveries, (ownership, reach)) = rayon::join(
            || Deliveries::of(inventory, self.delivery.clone()),
            || {
                rayon::join(
                    || Ownership::in_parallel(inventory, Arc::clone(&tables.finalizers)),
                    || self.reach(),
                )
            },
        );
        let deliveries = deliveries.delivering(self.delivery_objects(), reach);
        // No-ops for facts that were computed before.
        _ = (
            self.ownership.set(ownership),
            self.deliveries.set(deliveries),
        );
    }

    /// Returns the tables of operators.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Returns the ties between the objects other than owner references in manifests.
    pub fn ties(&self) -> &Ties {
        self.ties
            .get_or_init(|| Ties::of(self.inventory, &self.tables))
    }

    /// Returns the objects that deliver others, in the order of the inventory.
    pub fn delivery_objects(&self) -> &[DeliveryObject] {
        self.delivery_objects
            .get_or_init(|| ownership::delivery_objects(self.inventory))
    }

    /// Returns the inventory.
    pub fn inventory(&self) -> &'a Inventory {
        self.inventory
    }

    /// Returns how likely two files are to be applied to the same cluster.
    pub fn nearness(&self, one: FileId, other: FileId) -> Nearness {
        let sources = &self.inventory.sources;
        match self.reach().share_a_cluster(one, other) {
            Some(true) => Nearness::SameCluster,
            Some(false) => Nearness::OtherCluster,
            None => {
                let trees = self.trees.get_or_init(|| FolderTrees::of(sources));
                if trees.together(sources, one, other) {
                    Nearness::SameCluster
                } else {
                    Nearness::OtherTree
                }
            }
        }
    }

    /// Whether two files are assumed to be applied to one cluster.
    pub fn in_one_cluster(&self, one: FileId, other: FileId) -> bool {
        self.nearness(one, other) == Nearness::SameCluster
    }

    /// Returns the ownership edges, and the removers of finalizers.
    pub fn ownership(&self) -> &Ownership {
        self.ownership.get_or_init(|| {
            Ownership::with_finalizers(self.inventory, Arc::clone(&self.tables.finalizers))
        })
    }

    /// Returns the tools that deliver the objects, and delete those that are removed from the sources.
    pub fn deliveries(&self) -> &Deliveries {
        self.deliveries.get_or_init(|| {
            Deliveries::of(self.inventory, self.delivery.clone())
                .delivering(self.delivery_objects(), self.reach())
        })
    }

    /// Returns the groups of objects that one removal deletes together.
    pub fn together(&self) -> &DeliveredTogether {
        self.together
            .get_or_init(|| self.deliveries().together(self.inventory))
    }

    /// Returns the parts of the input that [`Self::delivery_objects`] deliver.
    pub fn reach(&self) -> &Reach {
        self.reach
            .get_or_init(|| Reach::of(self.inventory, self.delivery_objects()))
    }

    /// Returns the objects that controllers create below the rendered objects.
    pub fn implied(&self, products: Products) -> Implied<'a> {
        let mut implied = ownership::implied(
            self.inventory,
            self.ownership(),
            self.ties(),
            &self.tables,
            products,
        );
        // Owners come before the objects that are created below them.
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

    /// Returns the objects whose deletion deletes data, or may do so, each with a description of the data: those of the
    /// input, and the claims among the implied ones.
    pub fn data(&self, implied: &Implied<'_>) -> BTreeMap<ObjectKey, String> {
        let written = self.inventory.members.iter().filter_map(|member| {
            let loss = ownership::data_loss(self.inventory, &self.tables, member)?;
            // The claims of a StatefulSet count separately.
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
        let claims = claims
            .filter(|claim| {
                ownership::reclaim_policy(self.inventory, Some(&claim.key), claim.spec)
                    != Some(DataFate::Kept)
            })
            .filter_map(|claim| Some((claim.key.clone(), row?.lost.as_str().to_owned())));
        written.chain(claims).collect()
    }

    /// Returns the cluster that the bundle describes, without objects that controllers add; `None` if it is too large.
    pub fn cluster(&self) -> Option<&Built> {
        let nothing = Implied::default();
        self.cluster
            .get_or_init(|| self.build(&nothing, &BTreeSet::new(), true, false).ok())
            .as_ref()
    }

    /// Builds the cluster with the objects that controllers add below rendered ones, and with `namespaces` that exist
    /// without an object. Not cached: every plan has its own. `running` is whether Pods run on nodes.
    ///
    /// # Errors
    /// Fails if there are more objects than the model can count.
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
        build(&Source {
            inventory: self.inventory,
            absent: &self.absent,
            ownership: self.ownership(),
            implied,
            namespaces,
            running,
            closed,
        })
    }
}

/// How likely two files are to be applied to the same cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Nearness {
    /// Evidence against it: both are delivered, but never to the same cluster.
    OtherCluster,
    /// Little evidence: nothing delivers one of them, and they are in different folder trees.
    OtherTree,
    /// Full evidence: some cluster gets both, or nothing delivers one of them and they are in one folder tree.
    SameCluster,
}

/// Cache of plans for the cluster of an analysis, with one outcome each: rules ignore the others.
#[derive(Debug)]
pub struct PlanCache<'a> {
    analysis: &'a Analysis<'a>,
    cached: Mutex<Vec<(Step, Arc<Plan<'a>>)>>,
}

impl<'a> PlanCache<'a> {
    /// Creates an empty cache for the cluster of `analysis`.
    pub fn new(analysis: &'a Analysis<'a>) -> Self {
        Self {
            analysis,
            cached: Mutex::new(Vec::new()),
        }
    }

    /// Returns the analysis.
    pub fn analysis(&self) -> &'a Analysis<'a> {
        self.analysis
    }

    /// Returns the plan of `step`, cached or simulated. `None` if the cluster is too large.
    pub fn plan(&self, step: &Step) -> Option<Arc<Plan<'a>>> {
        if let Some((_, plan)) = self.cached().iter().find(|(of, _)| of == step) {
            return Some(Arc::clone(plan));
        }
        self.plan_of_steps(std::slice::from_ref(step)).map(Arc::new)
    }

    /// Returns the plan of several consecutive steps. `None` if the cluster is too large.
    pub fn plan_of_steps(&self, steps: &[Step]) -> Option<Plan<'a>> {
        let built = self.analysis.cluster()?;
        let options = SimulationOptions::verdict();
        Some(gc::simulate(&built.cluster, steps, &options))
    }

    /// Caches a plan on which a finding is based, because it is needed again.
    pub fn keep(&self, step: Step, plan: Arc<Plan<'a>>) {
        let mut cached = self.cached();
        if cached.len() < MAX_CACHED && cached.iter().all(|(of, _)| *of != step) {
            cached.push((step, plan));
        }
    }

    /// Locks the cache. A poisoned lock is fine: entries are pushed whole.
    fn cached(&self) -> std::sync::MutexGuard<'_, Vec<(Step, Arc<Plan<'a>>)>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
