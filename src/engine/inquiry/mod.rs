//! Questions of an editor: the text at a position, related objects, and the effects of deletions.

mod deletion;
mod lookup;
mod place;
mod suggest;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use foldhash::HashMap;

use self::deletion::Deletions;
use self::place::{holds, place};
use super::error::SessionError;
use super::input::Bundle;
use super::plan::{Candidate, Clusters, DeletionPlan, DeletionRequest, PlannedCluster, Planner};
use super::rows::rows_of_finalizer;
use super::session::{CheckOptions, Session};
use crate::cluster::Analysis;
use crate::inventory::{Member, ObjectId, ScopeSource};
use crate::kube::{ObjectKey, kinds};
use crate::ownership::{TieKind, instances_of};
use crate::report::Report;
use crate::text::{FileId, SourceFile};

pub use self::deletion::{ObjectDeletion, StuckObject};
pub use self::lookup::OwnerLookup;
use self::lookup::meant;
pub use self::place::{ObjectPlace, ObjectSpot, Spot};
pub use self::suggest::PossibleOwner;

/// Answers questions about a session, and caches what they have in common.
#[derive(Debug)]
pub struct Inquiry<'s> {
    pub(super) session: &'s Session,
    bundles: Vec<AskedBundle<'s>>,
    /// The first bundle that reads each file, and the file's id in it, by reported path.
    files: HashMap<&'s str, (usize, FileId)>,
}

/// A bundle, with cached facts about it.
#[derive(Debug)]
struct AskedBundle<'s> {
    bundle: &'s Bundle,
    analysis: Analysis<'s>,
    /// The objects that name each object as their owner.
    dependents: OnceCell<HashMap<ObjectId, Vec<ObjectId>>>,
    /// The clusters to which its objects are applied; if these cannot be evaluated, one with the objects as written.
    clusters: OnceCell<Clusters<'s>>,
    /// The deletions from each cluster, by the cluster's index; `None` for clusters that are too large.
    deletions: RefCell<BTreeMap<usize, Option<Rc<Deletions>>>>,
}

/// The objects of the input that a delivery object delivers.
#[derive(Clone, Debug)]
pub struct DeliveredObjects {
    /// Their keys, delivery by delivery.
    pub objects: Vec<ObjectKey>,
    /// Whether they are deleted with the delivery object.
    pub deleted_with_it: bool,
}

impl Session {
    /// Starts an inquiry about this session.
    #[doc(hidden)]
    pub fn inquiry(&self) -> Inquiry<'_> {
        let mut files = HashMap::default();
        for (at, bundle) in self.bundles().iter().enumerate() {
            for (id, file) in bundle.inventory.sources.iter() {
                files.entry(file.path()).or_insert((at, id));
            }
        }
        Inquiry {
            session: self,
            bundles: self.bundles().iter().map(AskedBundle::of).collect(),
            files,
        }
    }
}

impl<'s> Inquiry<'s> {
    /// Runs [`Session::check`]; later questions reuse its analyses.
    ///
    /// # Errors
    /// See [`Session::check`].
    pub fn check(&self, options: CheckOptions) -> Result<Report, SessionError> {
        let analyses: Vec<_> = self.bundles.iter().map(|asked| &asked.analysis).collect();
        self.session.check_analysed(&analyses, options)
    }

    /// Returns the file that is reported as `path`.
    pub fn source(&self, path: &str) -> Option<&'s SourceFile> {
        let (bundle, file) = self.files.get(path)?;
        Some(self.bundles[*bundle].bundle.inventory.sources.file(*file))
    }

    /// Returns every object, in the order of bundles and files. An object in two bundles comes twice.
    pub fn object_places(&self) -> impl Iterator<Item = ObjectPlace> {
        let bundles = self.bundles.iter().enumerate();
        bundles.flat_map(|(at, asked)| {
            asked
                .bundle
                .inventory
                .members
                .iter()
                .map(move |member| asked.place(at, member))
        })
    }

    /// Returns the objects of a file, in order, as the first bundle that contains the file reads them.
    pub fn objects_of(&self, path: &str) -> Vec<ObjectPlace> {
        let Some((at, members)) = self.members_of(path) else {
            return Vec::new();
        };
        members
            .iter()
            .map(|member| self.bundles[at].place(at, member))
            .collect()
    }

    /// Returns the object at a byte of a file, with the meaning of the text there; `None` outside of objects.
    pub fn at(&self, path: &str, offset: u32) -> Option<ObjectSpot> {
        let (at, members) = self.members_of(path)?;
        let member = members
            .iter()
            .filter(|member| holds(member.object.value().span(), offset))
            .min_by_key(|member| member.object.value().span().len())?;
        let asked = &self.bundles[at];
        Some(ObjectSpot {
            object: asked.place(at, member),
            spot: asked.spot(at, member, offset),
        })
    }

    /// Returns the object that a spot names: the owner, the used object, the Namespace, or the CRD of the kind.
    pub fn definition(&self, found: &ObjectSpot) -> Option<ObjectPlace> {
        let asked = self.asked(&found.object);
        let inventory = &asked.bundle.inventory;
        let id = match &found.spot {
            Spot::Owner { place, .. } | Spot::Use { place, .. } => return place.clone(),
            Spot::Namespace => *inventory.with_key(&found.object.namespace()?).first()?,
            Spot::Identity => match inventory.member(found.object.id).resolution.source {
                ScopeSource::Crd(crd) => crd,
                _ => return None,
            },
            Spot::Finalizer { .. } | Spot::Other => return None,
        };
        Some(asked.place(found.object.bundle, inventory.member(id)))
    }

    /// Returns the objects of the input that the garbage collector finds as owners of `object`.
    pub fn owners(&self, object: &ObjectPlace) -> Vec<ObjectPlace> {
        let asked = self.asked(object);
        let inventory = &asked.bundle.inventory;
        let edges = asked.analysis.ownership().edges_of(object.id).iter();
        let found = edges
            .filter(|edge| matches!(OwnerLookup::of(inventory, edge), OwnerLookup::Found { .. }));
        let owners = found.filter_map(|edge| edge.bound());
        owners
            .map(|id| asked.place(object.bundle, inventory.member(id)))
            .collect()
    }

    /// Returns the objects that name `object` as their owner, are created for it or use it; also the content of a
    /// Namespace, and the objects of the kind that a CRD defines. They are in the order of their files.
    pub fn dependents(&self, object: &ObjectPlace) -> Vec<ObjectPlace> {
        let asked = self.asked(object);
        let ties = asked.analysis.ties();
        let owned = asked.dependents().get(&object.id);
        let owned = owned.into_iter().flatten().copied();
        let made = ties
            .from(object.id)
            .iter()
            .filter(|tie| tie.owns())
            .filter_map(|tie| tie.to.id);
        let users = ties.users_of(&object.key).map(|tie| tie.from);
        let inventory = &asked.bundle.inventory;
        let is_namespace = object.key.is(kinds::NAMESPACE);
        let contained = is_namespace.then(|| inventory.in_namespace(&object.key.name));
        let defined = inventory.member(object.id).object.definition();
        let instances = defined.map(|crd| instances_of(inventory, crd.group_kind()));
        let instances = instances.into_iter().flatten().map(|member| member.id);
        let listed = contained.into_iter().flatten().copied().chain(instances);
        let mut ids: Vec<ObjectId> = owned.chain(made).chain(users).chain(listed).collect();
        ids.sort();
        ids.dedup();
        ids.into_iter()
            .map(|id| asked.place(object.bundle, inventory.member(id)))
            .collect()
    }

    /// Returns the objects that an object delivers, if it is a delivery object.
    pub fn delivered(&self, object: &ObjectPlace) -> Option<DeliveredObjects> {
        let asked = self.asked(object);
        let inventory = &asked.bundle.inventory;
        let delivers = asked.analysis.delivery_objects();
        let at = delivers.iter().position(|one| one.id == object.id)?;
        let delivered = asked.analysis.reach().deliveries(at);
        let objects = delivered.flat_map(|one| one.objects(inventory).map(|end| end.key));
        Some(DeliveredObjects {
            objects: objects.collect(),
            deleted_with_it: delivers[at].deletes(),
        })
    }

    /// Returns the effects of deleting an object from the first cluster that it is applied to; `None` if no cluster has
    /// it.
    pub fn deletion(&self, object: &ObjectPlace) -> Option<Rc<ObjectDeletion>> {
        self.deletion_of(object, |key| Some(key.clone()))
    }

    /// Returns the effects of deleting the Namespace of an object, which exists whether or not the input contains it.
    pub fn deletion_of_namespace(&self, object: &ObjectPlace) -> Option<Rc<ObjectDeletion>> {
        self.deletion_of(object, |key| {
            Some(ObjectKey::of_namespace(key.namespace.name()?))
        })
    }

    /// Returns the effects of deleting the object that `target` derives from the key of `object` in its cluster.
    fn deletion_of(
        &self,
        object: &ObjectPlace,
        target: impl FnOnce(&ObjectKey) -> Option<ObjectKey>,
    ) -> Option<Rc<ObjectDeletion>> {
        let asked = self.asked(object);
        let clusters = self.clusters(asked);
        let (at, cluster, key) = clusters.find(object.file.path(), object.whole.start)?;
        asked
            .deletions(at, cluster)?
            .deletion(cluster, &target(&key)?)
    }

    /// Plans the deletion of an object with the policy Background; `None` if no cluster has it.
    pub fn plan(&self, object: &ObjectPlace) -> Option<DeletionPlan> {
        let clusters = self.clusters(self.asked(object));
        let (_, cluster, key) = clusters.find(object.file.path(), object.whole.start)?;
        let request = DeletionRequest::new([key.to_string()]);
        let candidate = Candidate::of(cluster);
        let planner = Planner::new(&candidate, &request.question(), request.kubelet).ok()?;
        Some(DeletionPlan::new(planner))
    }

    /// Fills the caches that questions about deletions from the first cluster of each bundle need.
    pub fn prepare(&self) {
        for asked in &self.bundles {
            let first = self.clusters(asked).all().into_iter().next();
            first.map(|cluster| asked.deletions(0, cluster));
        }
    }

    fn clusters<'a>(&self, asked: &'a AskedBundle<'s>) -> &'a Clusters<'s> {
        let bundle = asked.bundle;
        asked.clusters.get_or_init(|| {
            let evaluated = self.session.clusters(bundle);
            evaluated.unwrap_or_else(|_| Clusters::as_written(bundle))
        })
    }

    fn asked(&self, object: &ObjectPlace) -> &AskedBundle<'s> {
        &self.bundles[object.bundle]
    }

    /// Returns the objects of a file, with the index of their bundle.
    fn members_of(&self, path: &str) -> Option<(usize, &'s [Member])> {
        let (at, file) = *self.files.get(path)?;
        Some((at, self.bundles[at].bundle.inventory.members_of(file)))
    }
}

impl<'s> AskedBundle<'s> {
    fn of(bundle: &'s Bundle) -> Self {
        Self {
            bundle,
            analysis: bundle.analysis(),
            dependents: OnceCell::new(),
            clusters: OnceCell::new(),
            deletions: RefCell::default(),
        }
    }

    fn place(&self, at: usize, member: &Member) -> ObjectPlace {
        place((at, self.bundle), member)
    }

    fn dependents(&self) -> &HashMap<ObjectId, Vec<ObjectId>> {
        self.dependents.get_or_init(|| {
            let mut dependents: HashMap<ObjectId, Vec<ObjectId>> = HashMap::default();
            for edge in &self.analysis.ownership().written {
                if let Some(owner) = edge.bound() {
                    dependents.entry(owner).or_default().push(edge.dependent);
                }
            }
            dependents
        })
    }

    /// Returns the deletions from the cluster at index `at`; `None` if it is too large.
    fn deletions(&self, at: usize, cluster: PlannedCluster<'_>) -> Option<Rc<Deletions>> {
        let mut known = self.deletions.borrow_mut();
        let deletions = known.entry(at).or_insert_with(|| {
            let deletions = match cluster.part() {
                Some(_) => Deletions::of(&cluster.analysis()),
                None => Deletions::of(&self.analysis),
            };
            deletions.map(Rc::new)
        });
        deletions.clone()
    }

    fn spot(&self, at: usize, member: &Member, offset: u32) -> Spot {
        let object = &member.object;
        let metadata = object.metadata();
        let references = metadata.owner_references().entries.iter().enumerate();
        if let Some((entry, reference)) = references
            .into_iter()
            .find(|(_, reference)| holds(reference.span, offset))
        {
            let inventory = &self.bundle.inventory;
            let edges = self.analysis.ownership().edges_of(member.id);
            let lookups = edges
                .iter()
                .map(|edge| (edge, OwnerLookup::of(inventory, edge)));
            let (this, others): (Vec<_>, Vec<_>) =
                lookups.partition(|(edge, _)| edge.entry == entry);
            let owner = this.first().and_then(|(edge, _)| meant(inventory, edge));
            let unknown = OwnerLookup::Absent {
                unknown_scope: true,
            };
            return Spot::Owner {
                named: format!("{} {}", reference.kind(), reference.name()),
                place: owner.map(|id| self.place(at, inventory.member(id))),
                blocks: reference.is_blocking(),
                has_others: !others.is_empty(),
                is_undecided: others.iter().any(|(_, lookup)| lookup.is_undecided()),
                lookup: this
                    .into_iter()
                    .next()
                    .map_or(unknown, |(_, lookup)| lookup),
            };
        }
        if let Some(finalizer) = metadata
            .finalizers()
            .iter()
            .find(|finalizer| holds(finalizer.span, offset))
        {
            let rows = rows_of_finalizer(&self.bundle.tables.finalizers, &finalizer.value, None);
            return Spot::Finalizer {
                finalizer: finalizer.value.clone(),
                rows,
            };
        }
        if metadata
            .namespace()
            .as_ref()
            .is_some_and(|namespace| holds(namespace.span, offset))
        {
            return Spot::Namespace;
        }
        let ties = self.analysis.ties().from(member.id);
        if let Some(tie) = ties.iter().find(|tie| holds(tie.evidence.span, offset)) {
            let inventory = &self.bundle.inventory;
            return Spot::Use {
                named: tie.to.key.clone(),
                place: tie.to.id.map(|id| self.place(at, inventory.member(id))),
                is_created: tie.kind != TieKind::Uses,
            };
        }
        let identity = [
            object.kind_span(),
            object.api_version_span(),
            object.name_span(),
        ];
        if identity.into_iter().any(|span| holds(span, offset)) {
            Spot::Identity
        } else {
            Spot::Other
        }
    }
}
