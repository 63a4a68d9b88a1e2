//! Everything that one bundle of manifests contains: files found and read, objects with their
//! scopes and keys, and lookup by identity and by uid. Independent of rules.

mod applied;
mod boundary;
mod budget;
mod build;
mod builtin;
mod copies;
mod descent;
mod device;
mod error;
mod exclusion;
mod index;
mod kinds;
mod listed;
mod location;
mod lookup;
mod neighbourhood;
mod open;
mod past;
mod read;
mod rendered;
mod resolutions;
mod tree;
mod volumes;
mod walk;
mod walked;

use std::sync::{Arc, OnceLock};

use foldhash::HashMap;
use smol_str::SmolStr;

use crate::kube::{GroupKind, Namespace, ObjectKey, Scope};
use crate::kustomize::folder_of;
use crate::manifest::{Object, ParsedDocument, ParsedFile, Skip, SkipReason};
use crate::text::{FileId, Limits, Sources, Span};
use crate::yaml::{Problem, Quirk, ReadError};

pub use applied::{AppliedFile, BuiltKeys, BuiltObject};
pub use boundary::{
    Escape, admit_manifests, admit_own_file, admit_own_file_for_writing, place_to_edit,
    place_to_write,
};
pub use budget::WalkBudget;
pub use builtin::*;
pub use copies::CopyBudget;
pub use device::names_a_device;
pub use error::InputError;
pub use exclusion::Exclusion;
use index::Index;
pub use kinds::{ExtraKind, Kinds, Resolution, ScopeSource, Serving};
pub use listed::{Listed, RequestedPaths, walk_listed};
pub use location::{FileIdentity, STDIN, locate};
pub use neighbourhood::Neighbourhood;
pub use open::{read_in_tree, read_own_file, too_large};
pub use past::{Past, walk_past};
pub use read::{Files, OnDisk, Texts, UnparsedFile, read_bytes};
use resolutions::Resolutions;
pub use tree::FolderTrees;
pub use volumes::VolumeChoice;
use volumes::Volumes;
pub(crate) use walk::is_manifest_name;
pub use walk::{globs, walk};
pub use walked::{InputFile, Origin, Overlay, UnreadableFile, Walk};

/// The index of an object in its [`Inventory`], which is in path, document and offset order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

/// A part of a document, with its file and document.
#[derive(Clone, Copy, Debug)]
pub struct InDocument<T> {
    /// The file.
    pub file: FileId,
    /// 0-based, as in Kubernetes' reader.
    pub document: u32,
    /// The part itself.
    pub what: T,
}

/// One object of the bundle.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its index in the inventory.
    pub id: ObjectId,
    /// The file.
    pub file: FileId,
    /// 0-based, as in Kubernetes' reader.
    pub document: u32,
    /// The object as written, or as a build changes it ([`BuiltObject::object`]).
    pub object: Arc<Object>,
    /// The facts about its kind, shared by all objects with the same apiVersion and kind.
    pub resolution: Arc<Resolution>,
    /// Its key in the cluster.
    pub key: ObjectKey,
    /// Whether it was read from a cluster, so its uid is real.
    pub from_dump: bool,
    /// Whether the API server generates its name or a part of it.
    pub is_generated: bool,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Member>() <= 88);

impl Member {
    /// Returns the scope of its kind; `None` if it is unknown.
    pub fn scope(&self) -> Option<Scope> {
        self.resolution.scope
    }

    /// Whether all its metadata have the types that the API server expects.
    pub fn decodes(&self) -> bool {
        self.object.decode_errors().is_empty()
    }
}

/// Settings of a bundle's inventory.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The Kubernetes release whose built-in kinds are known.
    pub release: Release,
    /// The namespace of namespaced objects without one.
    pub namespace: Option<String>,
    /// Kinds beyond the built-in ones and the CRDs in the input.
    pub extra_kinds: Vec<ExtraKind>,
    /// The limits of the run.
    pub limits: Limits,
}

/// The content of one bundle.
#[derive(Debug, Default)]
pub struct Inventory {
    /// The files, in path order.
    pub sources: Sources,
    /// The objects, in path, document and offset order.
    pub members: Vec<Member>,
    /// The kinds that the input may use.
    pub kinds: Kinds,
    /// The namespace given for the whole input.
    pub namespace: Option<String>,
    /// The limits of the run.
    pub limits: Limits,
    /// The namespaces given for single files.
    namespaces: HashMap<FileId, Arc<str>>,
    files: Vec<ParsedFile>,
    neighbourhood: Neighbourhood,
    /// Objects that are not applied according to neighbours of their file.
    skipped_for_neighbours: Vec<InDocument<Skip>>,
    hidden: usize,
    resolutions: Resolutions,
    by_uid: Index,
    by_key: Index,
    by_kind: Index,
    with_rare_fields: Vec<ObjectId>,
    with_templates: OnceLock<Vec<ObjectId>>,
    by_name: OnceLock<Index>,
    by_namespace: OnceLock<Index>,
    volumes: OnceLock<Volumes>,
}

impl Inventory {
    /// Returns the files, in path order.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &ParsedFile)> {
        (0u32..).map(FileId).zip(&self.files)
    }

    /// Returns the folder of a file.
    pub fn folder_of(&self, file: FileId) -> &str {
        folder_of(self.sources.file(file).path())
    }

    /// Returns a document of a file.
    pub fn document(&self, file: FileId, document: u32) -> Option<&ParsedDocument> {
        self.files.get(file.0 as usize)?.document(document)
    }

    /// Returns the number of documents that were read, including empty ones.
    pub fn documents(&self) -> usize {
        self.files.iter().map(ParsedFile::document_count).sum()
    }

    /// Returns the statements of the files about each other.
    pub fn neighbourhood(&self) -> &Neighbourhood {
        &self.neighbourhood
    }

    /// Returns the documents that are skipped: for their own content, then because of neighbours.
    pub fn skipped(&self) -> impl Iterator<Item = InDocument<Skip>> {
        self.skipped_by_themselves()
            .chain(self.skipped_for_neighbours())
    }

    /// Counts the documents that are templates and were not rendered.
    pub fn unrendered_templates(&self) -> usize {
        let reasons = self.skipped().map(|skip| skip.what.reason);
        reasons
            .filter(|reason| matches!(reason, SkipReason::Template(..)))
            .count()
    }

    /// Returns the documents that are skipped for their own content, in order.
    pub fn skipped_by_themselves(&self) -> impl Iterator<Item = InDocument<Skip>> {
        self.files().flat_map(|(file, parsed)| {
            parsed
                .skipped()
                .iter()
                .map(move |(document, what)| InDocument {
                    file,
                    document: *document,
                    what: what.clone(),
                })
        })
    }

    /// Returns the objects that are skipped because of neighbours of their file, in order.
    pub fn skipped_for_neighbours(&self) -> impl Iterator<Item = InDocument<Skip>> {
        self.skipped_for_neighbours.iter().cloned()
    }

    /// Returns the number of documents and files that may contain unseen objects: templates, and unreadable ones.
    pub fn hidden_documents(&self) -> usize {
        self.hidden
    }

    /// Returns the errors of documents in manifest files that cannot be read although they are not templates.
    pub fn unreadable_documents(&self) -> impl Iterator<Item = InDocument<&ReadError>> {
        located(&self.files, |document| {
            document.error().map_or(&[], std::slice::from_ref)
        })
    }

    /// Returns the fields and the text that Kubernetes silently drops or overrides when it reads a document, and bytes
    /// that are not UTF-8.
    pub fn problems(&self) -> impl Iterator<Item = InDocument<&Problem>> {
        let problems = located(&self.files, |document| &document.problems);
        problems.filter(|problem| !self.is_set_aside(problem.file))
    }

    /// Returns the text that Kubernetes accepts and YAML 1.2 forbids or reads differently, with its places.
    pub fn quirks(&self) -> impl Iterator<Item = InDocument<&(Quirk, Span)>> {
        let quirks = located(&self.files, |document| &document.quirks);
        quirks.filter(|quirk| !self.is_set_aside(quirk.file))
    }

    /// Whether neighbours of the file say that none of its objects are applied.
    fn is_set_aside(&self, file: FileId) -> bool {
        let found = self
            .skipped_for_neighbours
            .binary_search_by_key(&file, |skip| skip.file);
        found.is_ok() && self.members_of(file).is_empty()
    }

    /// Returns the files that cannot be read, with a reason that follows the name: `is a broken symbolic link`.
    pub fn unreadable_files(&self) -> impl Iterator<Item = (FileId, &str)> {
        self.files()
            .filter_map(|(id, file)| Some((id, file.failure()?)))
    }

    /// Returns the key of an object as it is written in its file.
    pub fn written_key(&self, member: &Member) -> ObjectKey {
        let lacks_namespace = member.from_dump && member.object.namespace().is_none();
        self.key_of(
            member.file,
            &member.object,
            member.scope().or(lacks_namespace.then_some(Scope::Cluster)),
        )
    }

    fn key_of(&self, file: FileId, object: &Object, scope: Option<Scope>) -> ObjectKey {
        let group = table().identity(object.group(), object.kind());
        let namespace = self.namespace_of(file, object.namespace(), scope);
        let name = object.name().map(SmolStr::from).unwrap_or_default();
        ObjectKey::new(GroupKind::new(group, object.kind()), namespace, name)
    }

    /// Returns the namespace of an object in `file` whose kind has the scope `scope`. The namespace of a cluster-scoped
    /// kind is silently cleared ([VAL-34]); a kind of unknown scope is never given the namespace of the input.
    fn namespace_of(&self, file: FileId, written: Option<&str>, scope: Option<Scope>) -> Namespace {
        let given = self.namespaces.get(&file).map(|given| &**given);
        let given = given.or(self.namespace.as_deref());
        match (scope, written, given) {
            (Some(Scope::Cluster), _, _) => Namespace::None,
            (_, Some(written), _) => Namespace::Named(written.into()),
            (Some(Scope::Namespaced), None, Some(given)) => Namespace::Named(given.into()),
            (_, None, _) => Namespace::Unwritten,
        }
    }

    /// Returns the namespace in which an object creates or names other objects: its own. The scope of such an object's
    /// kind is often unknown, and is then assumed to be namespaced.
    pub fn namespace_beside(&self, member: &Member) -> Namespace {
        match &member.key.namespace {
            Namespace::Named(name) => Namespace::Named(name.clone()),
            Namespace::None | Namespace::Unwritten => self.namespace_of(
                member.file,
                member.object.namespace(),
                Some(Scope::Namespaced),
            ),
        }
    }
}

fn located<'a, T: 'a>(
    files: &'a [ParsedFile],
    part: impl Fn(&'a ParsedDocument) -> &'a [T] + Copy,
) -> impl Iterator<Item = InDocument<&'a T>> {
    let files = (0u32..).map(FileId).zip(files);
    files.flat_map(move |(file, parsed)| {
        parsed.documents().iter().flat_map(move |parsed| {
            part(parsed).iter().map(move |what| InDocument {
                file,
                document: parsed.index,
                what,
            })
        })
    })
}
