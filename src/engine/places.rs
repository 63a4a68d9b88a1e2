//! What is written at a place of a file, and what it is tied to: the questions of an editor.

use super::input::Bundle;
use super::plan::{DeletionPlan, DeletionRequest, PlanError};
use super::rows::rows_about;
use super::session::Session;
use crate::inventory::{Member, ObjectId, ScopeSource};
use crate::kube::ObjectKey;
use crate::ownership::Ties;
use crate::report::RowInfo;
use crate::text::{SourceFile, Span};

/// Where an object is written.
#[derive(Clone, Debug)]
pub struct ObjectPlace {
    /// Its name within the cluster.
    pub key: ObjectKey,
    /// Its file.
    pub file: SourceFile,
    /// Its name, or its kind if it has none.
    pub name: Span,
    /// All of it.
    pub whole: Span,
}

/// What is written at a place of an object.
#[derive(Clone, Debug)]
pub enum Spot {
    /// Its kind or its name.
    Identity,
    /// An owner reference.
    Owner {
        /// The owner as the reference names it: `Deployment web`.
        named: String,
        /// Where the owner is written, if the input contains it.
        place: Option<ObjectPlace>,
    },
    /// A finalizer.
    Finalizer {
        /// The finalizer.
        finalizer: String,
        /// What is known of who removes it.
        rows: Vec<RowInfo>,
    },
    /// Its namespace.
    Namespace,
    /// Anything else.
    Other,
}

/// An object, and what of it is written at a place.
#[derive(Clone, Debug)]
pub struct ObjectSpot {
    /// The object.
    pub object: ObjectPlace,
    /// What is written there.
    pub spot: Spot,
    bundle: usize,
    id: ObjectId,
}

impl Session {
    /// The file that is reported as `path`.
    #[doc(hidden)]
    pub fn source(&self, path: &str) -> Option<&SourceFile> {
        let mut all = self.bundles().iter().flat_map(|bundle| bundle.inventory.sources.iter());
        all.find(|(_, file)| file.path() == path).map(|(_, file)| file)
    }

    /// Every object, in the order of the bundles and their files. One in two bundles comes twice.
    #[doc(hidden)]
    pub fn object_places(&self) -> impl Iterator<Item = ObjectPlace> {
        self.bundles().iter().flat_map(|bundle| bundle.inventory.members.iter().map(|member| place(bundle, member)))
    }

    /// The objects of a file, in order, as the first bundle that reads it knows them.
    #[doc(hidden)]
    pub fn objects_of(&self, path: &str) -> Vec<ObjectPlace> {
        let Some((_, bundle, members)) = self.members_of(path) else { return Vec::new() };
        members.iter().map(|member| place(bundle, member)).collect()
    }

    /// What is written at a byte of a file; `None` outside of objects.
    #[doc(hidden)]
    pub fn at(&self, path: &str, offset: u32) -> Option<ObjectSpot> {
        let (at, bundle, members) = self.members_of(path)?;
        let within = |member: &&Member| holds(member.object.value().span(), offset);
        let member = members.iter().filter(within).min_by_key(|member| member.object.value().span().len())?;
        Some(ObjectSpot {
            object: place(bundle, member),
            spot: spot(bundle, member, offset),
            bundle: at,
            id: member.id,
        })
    }

    /// Where that which is written at a place is itself written: the owner, the Namespace, the definition of the kind.
    #[doc(hidden)]
    pub fn definition(&self, found: &ObjectSpot) -> Option<ObjectPlace> {
        let bundle = &self.bundles()[found.bundle];
        let inventory = &bundle.inventory;
        match &found.spot {
            Spot::Owner { place, .. } => place.clone(),
            Spot::Namespace => {
                let namespace = ObjectKey::of_namespace(found.object.key.namespace.name()?);
                inventory.with_key(&namespace).first().map(|id| place(bundle, inventory.member(*id)))
            }
            Spot::Identity => match inventory.member(found.id).resolution.source {
                ScopeSource::Crd(crd) => Some(place(bundle, inventory.member(crd))),
                _ => None,
            },
            Spot::Finalizer { .. } | Spot::Other => None,
        }
    }

    /// The objects that name the object as their owner, that are made for it, or that use it, in the order of their files.
    #[doc(hidden)]
    pub fn dependents(&self, found: &ObjectSpot) -> Vec<ObjectPlace> {
        let bundle = &self.bundles()[found.bundle];
        let inventory = &bundle.inventory;
        let analysis = bundle.analysis();
        let owned = analysis.ownership().written.iter().filter(|edge| edge.bound() == Some(found.id));
        let ties: &Ties = analysis.ties();
        let made = ties.from(found.id).iter().filter(|tie| tie.owns()).filter_map(|tie| tie.to.id);
        let users = ties.users_of(&found.object.key).map(|tie| tie.from);
        let mut ids: Vec<ObjectId> = owned.map(|edge| edge.dependent).chain(made).chain(users).collect();
        ids.sort();
        ids.dedup();
        ids.into_iter().map(|id| place(bundle, inventory.member(id))).collect()
    }

    /// What deleting an object does.
    ///
    /// # Errors
    /// An object that several bundles contain.
    #[doc(hidden)]
    pub fn deletion_of(&self, object: &ObjectPlace) -> Result<DeletionPlan, PlanError> {
        self.plan_deletion(&DeletionRequest::new([object.key.to_string()]))
    }

    fn members_of(&self, path: &str) -> Option<(usize, &Bundle, &[Member])> {
        let found = self.bundles().iter().enumerate().find_map(|(at, bundle)| {
            let (file, _) = bundle.inventory.sources.iter().find(|(_, file)| file.path() == path)?;
            Some((at, bundle, bundle.inventory.members_of(file)))
        });
        found.filter(|(.., members)| !members.is_empty())
    }
}

fn holds(span: Span, offset: u32) -> bool {
    span.start <= offset && offset <= span.end
}

fn place(bundle: &Bundle, member: &Member) -> ObjectPlace {
    ObjectPlace {
        key: member.key.clone(),
        file: bundle.inventory.sources.file(member.file).clone(),
        name: member.object.name_span(),
        whole: member.object.value().span(),
    }
}

fn spot(bundle: &Bundle, member: &Member, offset: u32) -> Spot {
    let object = &member.object;
    let metadata = &object.metadata;
    let references = metadata.owner_references.entries.iter().enumerate();
    if let Some((entry, reference)) = references.into_iter().find(|(_, reference)| holds(reference.span, offset)) {
        let analysis = bundle.analysis();
        let edges = analysis.ownership().edges_of(member.id);
        let owner = edges.iter().find(|edge| edge.entry == entry).and_then(|edge| edge.bound());
        let owner = owner.map(|id| place(bundle, bundle.inventory.member(id)));
        return Spot::Owner { named: format!("{} {}", reference.kind(), reference.name()), place: owner };
    }
    if let Some(finalizer) = metadata.finalizers.iter().find(|finalizer| holds(finalizer.span, offset)) {
        let rows = rows_about(&bundle.tables, &finalizer.value);
        return Spot::Finalizer { finalizer: finalizer.value.clone(), rows };
    }
    if metadata.namespace.as_ref().is_some_and(|namespace| holds(namespace.span, offset)) {
        return Spot::Namespace;
    }
    let identity = [object.kind.span, object.api_version.span, object.name_span()];
    if identity.into_iter().any(|span| holds(span, offset)) { Spot::Identity } else { Spot::Other }
}
