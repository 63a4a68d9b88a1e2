//! Everything that one bundle of manifests holds: files found and read, objects with their scopes and keys, and lookup by
//! identity and by uid.
//!
//! Knows nothing of rules.

mod builtin;
mod error;
mod key;
mod kinds;
mod location;
mod read;
mod walk;

use std::collections::HashMap;

use crate::manifest::{CustomResourceDefinition, Object, OwnerReference};
use crate::text::{FileId, Sources, Span};

pub use builtin::*;
pub use error::InputError;
pub use key::{Namespace, ObjectKey};
pub use kinds::{ExtraKind, Kinds, Resolution, ScopeSource, Serving};
pub use location::locate;
pub use read::{DocumentProblem, Overlay, UnreadableDocument, UnreadableInput};
pub use walk::{InputFile, Origin, STDIN, UnreadableFile, Walk, reaches, walk};

/// The place of an object in its [`Inventory`]. Objects stand in the order of path, document and offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

/// Why something in the input is no object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// It has no `apiVersion` and `kind`, or it configures kustomize.
    NotAManifest,
    /// It is a Helm template that was not rendered.
    Template,
    /// It holds nothing.
    Empty,
    /// It cannot be read.
    Unreadable,
}

impl SkipReason {
    /// The word used in the `list` contract.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotAManifest => "not-a-manifest",
            Self::Template => "template",
            Self::Empty => "empty",
            Self::Unreadable => "unreadable",
        }
    }
}

/// A document, or an item of a list, that is no object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// The file.
    pub file: FileId,
    /// 0-based, as Kubernetes' reader counts.
    pub document: u32,
    /// Where.
    pub span: Span,
    /// Why.
    pub reason: SkipReason,
    /// A few words more.
    pub detail: String,
}

/// One object of the bundle.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its place in the inventory.
    pub id: ObjectId,
    /// The file.
    pub file: FileId,
    /// 0-based, as Kubernetes' reader counts.
    pub document: u32,
    /// The object as it is written.
    pub object: Object,
    /// What is known of its kind.
    pub resolution: Resolution,
    /// Its name within the cluster.
    pub key: ObjectKey,
    /// Whether it was read from a cluster, so that its uid is real.
    pub from_dump: bool,
}

impl Member {
    /// The scope of its kind; `None` is unknown.
    pub fn scope(&self) -> Option<Scope> {
        self.resolution.scope
    }

    /// Whether the API takes the types of all its metadata.
    pub fn decodes(&self) -> bool {
        self.object.decode_errors.is_empty()
    }
}

/// What a bundle is read with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The release whose built-in kinds count.
    pub release: Release,
    /// The namespace of namespaced objects that do not say theirs.
    pub namespace: Option<String>,
    /// Kinds beyond the built-in ones and the CRDs of the input.
    pub extra_kinds: Vec<ExtraKind>,
    /// Unsaved text in place of one file.
    pub overlay: Option<Overlay>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { release: Release::NEWEST, namespace: None, extra_kinds: Vec::new(), overlay: None }
    }
}

/// One bundle, read.
#[derive(Debug)]
pub struct Inventory {
    /// The files, in path order.
    pub sources: Sources,
    /// How many documents were read, empty ones included.
    pub documents: usize,
    /// The objects, in path, document and offset order.
    pub members: Vec<Member>,
    /// The kinds that the input may use.
    pub kinds: Kinds,
    /// What is no object.
    pub skipped: Vec<Skip>,
    /// Files that cannot be read.
    pub unreadable_inputs: Vec<UnreadableInput>,
    /// Documents that cannot be read.
    pub unreadable_documents: Vec<UnreadableDocument>,
    /// What Kubernetes drops or overrides in silence.
    pub problems: Vec<DocumentProblem>,
    /// The namespace given for the whole input.
    pub namespace: Option<String>,
    by_uid: HashMap<String, Vec<ObjectId>>,
    by_key: HashMap<ObjectKey, Vec<ObjectId>>,
    by_name: HashMap<(String, String, String), Vec<ObjectId>>,
}

impl Inventory {
    /// Reads the files of `walk`.
    pub fn read(walk: Walk, settings: Settings) -> Self {
        let Settings { release, namespace, extra_kinds, overlay } = settings;
        let mut inventory = Self {
            sources: Sources::default(),
            documents: 0,
            members: Vec::new(),
            kinds: Kinds::new(release, [], Vec::new()),
            skipped: Vec::new(),
            unreadable_inputs: Vec::new(),
            unreadable_documents: Vec::new(),
            problems: Vec::new(),
            namespace,
            by_uid: HashMap::new(),
            by_key: HashMap::new(),
            by_name: HashMap::new(),
        };
        let mut objects = Vec::new();
        for reading in read::read_all(walk, overlay.as_ref()) {
            let file = inventory.sources.push(reading.source);
            match reading.outcome {
                Ok(read) => objects.extend(inventory.take(file, read).into_iter().map(|read| (file, read))),
                Err(reason) => inventory.unreadable_inputs.push(UnreadableInput { file, reason }),
            }
        }
        inventory.settle(objects, extra_kinds);
        inventory
    }

    /// Takes over all of a file but its objects.
    fn take(&mut self, file: FileId, read: read::ReadFile) -> Vec<read::ReadObject> {
        self.documents += read.documents;
        self.skipped.extend(read.skipped.into_iter().map(|skip| Skip::new(file, skip)));
        let unreadable = read.unreadable.into_iter();
        self.unreadable_documents.extend(unreadable.map(|(document, error)| UnreadableDocument {
            file,
            document,
            error,
        }));
        let problems = read.problems.into_iter();
        self.problems.extend(problems.map(|(document, problem)| DocumentProblem { file, document, problem }));
        read.objects
    }

    /// Once all objects are known: kinds, then scopes and keys, then lookup.
    fn settle(&mut self, objects: Vec<(FileId, read::ReadObject)>, extra_kinds: Vec<ExtraKind>) {
        let ids = || (0u32..).map(ObjectId);
        let crds: Vec<_> = ids()
            .zip(&objects)
            .filter_map(|(id, (_, read))| CustomResourceDefinition::of(&read.object).map(|crd| (id, crd)))
            .collect();
        self.kinds = Kinds::new(self.kinds.release(), crds.iter().map(|(id, crd)| (*id, crd)), extra_kinds);
        // A definition handed in to tell the kinds of a dump does not make the dump a rendering.
        let is_crd = |object: &Object| object.is("apiextensions.k8s.io", "CustomResourceDefinition");
        let mut others = objects.iter().map(|(_, read)| &read.object).filter(|object| !is_crd(object));
        let all_have_uids = others.all(|object| object.uid().is_some());
        for (id, (file, read)) in ids().zip(objects) {
            let read::ReadObject { document, object } = read;
            let resolution = self.kinds.resolve(&object.group_version, &object.kind.value);
            let stamped =
                ["resourceVersion", "creationTimestamp"].iter().any(|field| object.metadata.has_server_field(field));
            let from_dump = object.uid().is_some() && (stamped || all_have_uids);
            // A live object has its namespace written: without one it has none, whatever its kind.
            let homeless = from_dump && object.namespace().is_none();
            let key = self.key_of(&object, resolution.scope.or(homeless.then_some(Scope::Cluster)));
            self.index(id, &object, &key);
            self.members.push(Member { id, file, document, object, resolution, key, from_dump });
        }
    }

    fn key_of(&self, object: &Object, scope: Option<Scope>) -> ObjectKey {
        ObjectKey {
            kind: object.kind.value.clone(),
            group: object.group().to_owned(),
            namespace: self.namespace_of(object.namespace(), scope),
            name: object.name().unwrap_or_default(),
        }
    }

    /// The namespace that `written` leads to for a kind of that scope. On a cluster-scoped kind it is cleared in silence
    /// ([VAL-34]); a kind of unknown scope is never given the namespace of the input.
    pub fn namespace_of(&self, written: Option<&str>, scope: Option<Scope>) -> Namespace {
        match (scope, written, &self.namespace) {
            (Some(Scope::Cluster), _, _) => Namespace::None,
            (_, Some(written), _) => Namespace::Named(written.to_owned()),
            (Some(Scope::Namespaced), None, Some(given)) => Namespace::Named(given.clone()),
            (_, None, _) => Namespace::Unwritten,
        }
    }

    fn index(&mut self, id: ObjectId, object: &Object, key: &ObjectKey) {
        if let Some(uid) = object.uid() {
            self.by_uid.entry(uid.to_owned()).or_default().push(id);
        }
        // An object whose name the server makes up cannot be meant by name.
        if object.metadata.name.as_ref().is_some_and(|name| !name.value.is_empty()) {
            let name = (key.group.clone(), key.kind.clone(), key.name.clone());
            self.by_name.entry(name).or_default().push(id);
            self.by_key.entry(key.clone()).or_default().push(id);
        }
    }

    /// The object of `id`. Ids come from this inventory; another one's id is a programming error and panics.
    pub fn member(&self, id: ObjectId) -> &Member {
        &self.members[id.0 as usize]
    }

    /// The objects that carry a uid, in order.
    pub fn with_uid(&self, uid: &str) -> &[ObjectId] {
        self.by_uid.get(uid).map_or(&[], Vec::as_slice)
    }

    /// The objects of a key, in order; several when it is written more than once.
    pub fn with_key(&self, key: &ObjectKey) -> &[ObjectId] {
        self.by_key.get(key).map_or(&[], Vec::as_slice)
    }

    /// The objects of a group, kind and name in whatever namespace, in order.
    pub fn with_name(&self, group: &str, kind: &str, name: &str) -> &[ObjectId] {
        let key = (group.to_owned(), kind.to_owned(), name.to_owned());
        self.by_name.get(&key).map_or(&[], Vec::as_slice)
    }

    /// What is known of the kind that a reference names.
    pub fn owner_kind(&self, reference: &OwnerReference) -> Resolution {
        self.kinds.resolve(&reference.group_version(), reference.kind())
    }

    /// The key under which the collector looks for an owner: in the dependent's namespace, or in none when the owner's
    /// kind is cluster-scoped ([GC-15]). `None` when the scope of the owner's kind is unknown.
    pub fn owner_key(&self, dependent: &Member, reference: &OwnerReference) -> Option<ObjectKey> {
        let namespace = match self.owner_kind(reference).scope? {
            Scope::Cluster => Namespace::None,
            Scope::Namespaced => dependent.key.namespace.clone(),
        };
        Some(ObjectKey {
            kind: reference.kind().to_owned(),
            group: reference.group_version().group,
            namespace,
            name: reference.name().to_owned(),
        })
    }
}
