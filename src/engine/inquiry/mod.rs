//! Questions of an editor: the text at a position, related objects, and the effects of deletions.

mod asked;
mod deletion;
mod lookup;
mod missing;
mod place;
mod relations;
mod spot;
mod suggest;

use std::collections::BTreeSet;
use std::rc::Rc;

use foldhash::HashMap;

use self::asked::{AskedBundle, Instance, View};
use self::place::holds;
use super::error::SessionError;
use super::plan::{Candidate, DeletionPlan, DeletionRequest, Planner};
use super::session::{CheckOptions, Session};
use crate::inventory::{Member, ScopeSource};
use crate::kube::ObjectKey;
use crate::ownership::owner_edges_of;
use crate::report::Report;
use crate::text::{FileId, SourceFile};

pub use self::deletion::{ObjectDeletion, StuckObject};
pub use self::lookup::OwnerLookup;
pub use self::place::{ObjectPlace, ObjectSpot, Spot};
use self::spot::each_once;
pub use self::suggest::PossibleOwner;

/// Answers questions about a session, and caches what they have in common.
#[derive(Debug)]
pub struct Inquiry<'s> {
    pub(super) session: &'s Session,
    bundles: Vec<AskedBundle<'s>>,
    /// The first bundle that reads each file, and the file's id in it, by reported path.
    files: HashMap<&'s str, (usize, FileId)>,
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
                files.entry(bundle.path(id)).or_insert((at, id));
            }
        }
        let bundles = self.bundles().iter().enumerate();
        let bundles = bundles.map(|(at, bundle)| AskedBundle::new(self, at, bundle));
        Inquiry {
            session: self,
            bundles: bundles.collect(),
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

    /// Returns every object of the input as it is written, in the order of bundles and files. An object in two bundles comes
    /// twice.
    pub fn object_places(&self) -> impl Iterator<Item = ObjectPlace> {
        let bundles = self.bundles.iter();
        bundles.flat_map(|asked| {
            let members = asked.bundle.asked_for();
            members.map(|member| asked.written(member))
        })
    }

    /// Returns the objects of a file as they are written, in order, as the first bundle that contains the file reads
    /// them.
    pub fn objects_of(&self, path: &str) -> Vec<ObjectPlace> {
        let Some((asked, members)) = self.members_of(path) else {
            return Vec::new();
        };
        members.iter().map(|member| asked.written(member)).collect()
    }

    /// Returns those objects of a file whose deletion has known effects.
    pub fn deletable_objects_of(&self, path: &str) -> Vec<ObjectPlace> {
        let Some((asked, members)) = self.members_of(path) else {
            return Vec::new();
        };
        let instances = asked.first_instances(path);
        let members = members.iter().filter(|member| member.decodes());
        let places = members.filter_map(|member| {
            let instance = instances.get(&member.object.value().span().start)?;
            Some(asked.place(*instance))
        });
        places.collect()
    }

    /// Returns the object at a byte of a file, with the meaning of the text there; `None` outside of objects. If builds
    /// make several objects of it, returns the first for which the object that the text names exists.
    pub fn at(&self, path: &str, offset: u32) -> Option<ObjectSpot> {
        let (asked, members) = self.members_of(path)?;
        let member = members
            .iter()
            .filter(|member| holds(member.object.value().span(), offset))
            .min_by_key(|member| member.object.value().span().len())?;
        let instances = asked.instances(path, member.object.value().span().start);
        let mut instances = instances.into_iter();
        let first = instances.next()?;
        let mut found = ObjectSpot {
            object: asked.place(first),
            spot: asked.spot(first, offset),
        };
        for instance in instances {
            let Some(places) = found.spot.places_mut() else {
                break;
            };
            let other = asked.spot(instance, offset);
            if places.is_empty() && !other.places().is_empty() {
                found = ObjectSpot {
                    object: asked.place(instance),
                    spot: other,
                };
                continue;
            }
            places.extend_from_slice(other.places());
        }
        if let Some(places) = found.spot.places_mut() {
            *places = each_once(std::mem::take(places));
        }
        Some(found)
    }

    /// Returns the objects that a spot names: the owner, the used object (if absent, the one for
    /// which it is created), the Namespace, or the CRD of the kind. There are several if builds of
    /// the file differ.
    pub fn definitions(&self, found: &ObjectSpot) -> Vec<ObjectPlace> {
        match &found.spot {
            Spot::Use { places, makers, .. } if places.is_empty() => makers.clone(),
            Spot::Identity => self.definition_of_kind(&found.object).into_iter().collect(),
            spot => spot.places().to_vec(),
        }
    }

    fn definition_of_kind(&self, object: &ObjectPlace) -> Option<ObjectPlace> {
        // The CRD may be applied by another build than the object.
        let (asked, member) = self.written(object)?;
        match member.resolution.source {
            ScopeSource::Crd(crd) => Some(asked.written(asked.bundle.inventory.member(crd))),
            _ => None,
        }
    }

    /// Returns the keys of the objects of its cluster that the garbage collector finds as owners of `object`.
    pub fn owners(&self, object: &ObjectPlace) -> Vec<ObjectKey> {
        let instance = self.instance(object);
        let inventory = instance.view.inventory();
        let edges = owner_edges_of(inventory, instance.member);
        let found = edges
            .filter(|edge| matches!(OwnerLookup::of(inventory, edge), OwnerLookup::Found { .. }));
        let owners = found.filter_map(|edge| edge.bound());
        owners.map(|id| inventory.member(id).key.clone()).collect()
    }

    /// Returns the keys of the objects that use `object` in its cluster.
    pub fn users(&self, object: &ObjectPlace) -> BTreeSet<ObjectKey> {
        let users = self.asked(object).users(self.instance(object));
        keys(&users)
    }

    /// Returns the keys of the objects that use what a spot names, in its cluster.
    pub fn users_of_named(&self, found: &ObjectSpot) -> BTreeSet<ObjectKey> {
        let Spot::Use { named, places, .. } = &found.spot else {
            return BTreeSet::new();
        };
        if let Some(used) = places.first() {
            return self.users(used);
        }
        let asked = self.asked(&found.object);
        keys(&asked.users_of_absent(self.view_of_absent(found), named))
    }

    /// Returns the assumed cluster of an object that the input does not contain: that of the object
    /// for which a controller creates it, else that of the object that names it.
    fn view_of_absent(&self, found: &ObjectSpot) -> View<'_> {
        let maker = match &found.spot {
            Spot::Use { makers, .. } => makers.first(),
            _ => None,
        };
        self.instance(maker.unwrap_or(&found.object)).view
    }

    /// Returns the other objects that builds make of the text of `object`, each with the name of its cluster, if it
    /// has one.
    pub fn others(&self, object: &ObjectPlace) -> Vec<(ObjectKey, Option<String>)> {
        let asked = self.asked(object);
        let (path, begins) = object.written_at();
        let own = asked.view(object.cluster).cluster.name();
        let mut others = Vec::new();
        for Instance { view, member } in asked.instances(path, begins) {
            let cluster = view.cluster.name();
            let other = (member.key.clone(), cluster.map(str::to_owned));
            let is_same = member.key == object.key && cluster == own;
            if !is_same && !others.contains(&other) {
                others.push(other);
            }
        }
        others
    }

    /// Returns the objects that depend on what a spot names, or on its object; see [`Self::dependents`].
    pub fn references(&self, found: &ObjectSpot) -> Vec<ObjectPlace> {
        let asked = self.asked(&found.object);
        match &found.spot {
            Spot::Use { named, places, .. } if places.is_empty() => {
                let mut users =
                    asked.places(asked.users_of_absent(self.view_of_absent(found), named));
                users.push(found.object.clone());
                in_order(users)
            }
            spot => match spot.places() {
                [] => self.dependents(&found.object),
                places => {
                    let dependents = places.iter().flat_map(|place| self.dependents(place));
                    in_order(dependents.collect())
                }
            },
        }
    }

    /// Returns the objects that name `object` as their owner, are created for it or use it; also
    /// the content of a Namespace, and the objects of the kind that a CRD defines. Covers all
    /// objects that builds make of its text. They are in the order of their files.
    pub fn dependents(&self, object: &ObjectPlace) -> Vec<ObjectPlace> {
        let asked = self.asked(object);
        let (path, begins) = object.written_at();
        let mut places = Vec::new();
        for instance in asked.instances(path, begins) {
            let mut found = asked.dependents(instance);
            let ties = asked.ties_from(instance);
            let made = ties.iter().filter(|tie| tie.owns());
            found.extend(made.flat_map(|tie| asked.targets(instance, &tie.to.key)));
            found.extend(asked.content(instance));
            places.extend(asked.places(found));
        }
        in_order(places)
    }

    /// Returns the objects that an object delivers, if it is a delivery object.
    pub fn delivered(&self, object: &ObjectPlace) -> Option<DeliveredObjects> {
        let (asked, written) = self.written(object)?;
        let inventory = &asked.bundle.inventory;
        let delivers = asked.analysis.delivery_objects();
        let at = delivers.iter().position(|one| one.id == written.id)?;
        let delivered = asked.analysis.reach().deliveries(at);
        let objects = delivered.flat_map(|one| one.objects(inventory).map(|end| end.key));
        Some(DeliveredObjects {
            objects: objects.collect(),
            deleted_with_it: delivers[at].deletes(),
        })
    }

    /// Returns the effects of deleting an object from its cluster; `None` if it has none or is not in the model.
    pub fn deletion(&self, object: &ObjectPlace) -> Option<Rc<ObjectDeletion>> {
        let asked = self.asked(object);
        let view = asked.view(object.cluster);
        asked.deletions(view)?.deletion(view.cluster, &object.key)
    }

    /// Returns why the effects of deleting an object are unknown.
    pub fn why_unknown(&self, object: &ObjectPlace) -> &'static str {
        if !self.instance(object).member.decodes() {
            "its metadata has an error"
        } else if object.cluster.is_none() {
            "no build contains it, or its build fails"
        } else {
            "it has no name, or its cluster is too large"
        }
    }

    /// Returns the effects of deleting the Namespace of an object, which exists whether or not the input contains it.
    pub fn deletion_of_namespace(&self, object: &ObjectPlace) -> Option<Rc<ObjectDeletion>> {
        let (asked, namespace) = (self.asked(object), object.namespace()?);
        let view = asked.view_with_namespace(asked.view(object.cluster), &namespace);
        asked.deletions(view)?.deletion(view.cluster, &namespace)
    }

    /// Plans the deletion of an object with the policy Background; `None` if no cluster has it.
    pub fn plan(&self, object: &ObjectPlace) -> Option<DeletionPlan> {
        let cluster = self.asked(object).view(Some(object.cluster?)).cluster;
        let request = DeletionRequest::new([object.key.to_string()]);
        let candidate = Candidate::of(cluster);
        let planner = Planner::new(&candidate, &request.question(), request.kubelet).ok()?;
        Some(DeletionPlan::new(planner))
    }

    /// Fills the caches that questions about deletions from the first cluster of each bundle need.
    pub fn prepare(&self) {
        for asked in &self.bundles {
            if let Some(first) = asked.views().first() {
                asked.deletions(*first);
            }
        }
    }

    fn asked(&self, object: &ObjectPlace) -> &AskedBundle<'s> {
        &self.bundles[object.bundle]
    }

    fn instance(&self, object: &ObjectPlace) -> Instance<'_> {
        self.asked(object).view(object.cluster).instance(object.id)
    }

    /// Returns an object as it is written, with its bundle.
    fn written(&self, object: &ObjectPlace) -> Option<(&AskedBundle<'s>, &'s Member)> {
        let (path, begins) = object.written_at();
        let (asked, members) = self.members_of(path)?;
        let mut members = members.iter();
        let written = members.find(|member| member.object.value().span().start == begins)?;
        Some((asked, written))
    }

    /// Returns the objects of a file as they are written, with their bundle.
    fn members_of(&self, path: &str) -> Option<(&AskedBundle<'s>, &'s [Member])> {
        let (at, file) = *self.files.get(path)?;
        let asked = &self.bundles[at];
        Some((asked, asked.bundle.inventory.members_of(file)))
    }
}

fn keys(found: &[Instance<'_>]) -> BTreeSet<ObjectKey> {
    let keys = found.iter().map(|instance| instance.member.key.clone());
    keys.collect()
}

/// Sorts places by file and offset, each once.
fn in_order(mut places: Vec<ObjectPlace>) -> Vec<ObjectPlace> {
    places.sort_by(|a, b| a.written_at().cmp(&b.written_at()));
    places.dedup_by(|a, b| a.written_at() == b.written_at());
    places
}
