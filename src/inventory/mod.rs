//! Everything that one bundle of manifests contains: files found and read, objects with their scopes and keys, and
//! lookup by identity and by uid.
//!
//! Knows nothing of rules.

mod applied;
mod boundary;
mod budget;
mod builtin;
mod copies;
mod descent;
mod device;
mod error;
mod index;
mod kinds;
mod listed;
mod location;
mod lookup;
mod merged;
mod neighbourhood;
mod object_id;
mod open;
mod past;
mod read;
mod resolutions;
mod tree;
mod volumes;
mod walk;
mod walked;

use std::sync::{Arc, OnceLock};

use foldhash::{HashMap, HashSet};
use rayon::prelude::*;
use smol_str::SmolStr;

use crate::kube::{GroupKind, Namespace, ObjectKey, Scope, kinds as well_known};
use crate::kustomize::pointed_folders;
use crate::manifest::{
    ManifestTool, Object, ParsedDocument, ParsedFile, Skip, SkipReason, has_directive,
};
use crate::text::{FileId, Limits, Sources, Span};
use crate::yaml::{Problem, Quirk, ReadError};

pub use applied::{AppliedFile, BuiltKeys};
pub use boundary::{
    Escape, admit_manifests, admit_own_file, admit_own_file_for_writing, place_to_edit,
    place_to_write,
};
pub use budget::WalkBudget;
pub use builtin::*;
pub use copies::CopyBudget;
pub use device::names_a_device;
pub use error::InputError;
use index::Index;
pub use kinds::{ExtraKind, Kinds, Resolution, ScopeSource, Serving};
pub use listed::{Listed, walk_listed};
pub use location::{FileIdentity, STDIN, locate};
pub use neighbourhood::Neighbourhood;
pub use object_id::ObjectId;
pub use open::{read_own_file, too_large};
pub use past::{Past, walk_past};
pub use read::{Files, OnDisk, Texts, UnparsedFile, read_bytes};
use resolutions::Resolutions;
pub use tree::FolderTrees;
pub use volumes::VolumeChoice;
use volumes::Volumes;
pub(crate) use walk::is_manifest_name;
pub use walk::{globs, walk};
pub use walked::{InputFile, Origin, Overlay, UnreadableFile, Walk};

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
    /// The object as it is written.
    pub object: Arc<Object>,
    /// The facts about its kind, shared by all objects with the same apiVersion and kind.
    pub resolution: Arc<Resolution>,
    /// Its key in the cluster.
    pub key: ObjectKey,
    /// Whether it was read from a cluster, so its uid is real.
    pub from_dump: bool,
    /// Whether its name is written. Otherwise the API server generates it.
    is_named: bool,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Member>() <= 88);

impl Member {
    /// Returns the scope of its kind; `None` if it is unknown.
    pub fn scope(&self) -> Option<Scope> {
        self.resolution.scope
    }

    /// Whether the API server generates its name or a part of it.
    pub fn is_generated(&self) -> bool {
        !self.is_named
    }

    /// Whether all its metadata have the types that the API server expects.
    pub fn decodes(&self) -> bool {
        self.object.decode_errors().is_empty()
    }
}

/// Settings of a bundle's inventory.
#[derive(Clone, Debug)]
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

impl Default for Settings {
    fn default() -> Self {
        Self {
            release: Release::NEWEST,
            namespace: None,
            extra_kinds: Vec::new(),
            limits: Limits::default(),
        }
    }
}

/// The content of one bundle.
#[derive(Debug)]
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
    /// Objects that are not applied according to neighbours of their file: the file, the document, and the reason.
    set_aside: Vec<(FileId, u32, Skip)>,
    hidden: usize,
    resolutions: Resolutions,
    by_uid: Index,
    by_key: Index,
    by_kind: Index,
    remarkable: Vec<ObjectId>,
    with_templates: OnceLock<Vec<ObjectId>>,
    by_name: OnceLock<Index>,
    by_namespace: OnceLock<Index>,
    volumes: OnceLock<Volumes>,
}

impl Inventory {
    /// Builds the inventory of the files of a bundle, which are in path order.
    pub fn new(files: Vec<ParsedFile>, settings: Settings) -> Self {
        Self::applied(files.into_iter().map(AppliedFile::from).collect(), settings)
    }

    /// Builds the inventory of files whose objects may be applied under other keys than the written ones. A file that
    /// is part of several builds is passed once for each of them.
    pub fn applied(files: Vec<AppliedFile>, settings: Settings) -> Self {
        let clients: Vec<_> = files.iter().map(|file| file.client).collect();
        let given = (0u32..)
            .map(FileId)
            .zip(&files)
            .filter_map(|(id, file)| Some((id, file.namespace.clone()?)));
        let namespaces = given.collect();
        let (files, built): (Vec<_>, Vec<_>) = files
            .into_iter()
            .map(|file| (file.file, file.built))
            .unzip();
        let Settings {
            release,
            namespace,
            extra_kinds,
            limits,
        } = settings;
        let facts = files
            .iter()
            .filter_map(|file| Some((file.source().path(), file.facts()?)));
        let (neighbourhood, (sources, mut written)) = rayon::join(
            || {
                Neighbourhood::of(
                    facts,
                    located(&files, ParsedDocument::objects)
                        .flat_map(|object| pointed_folders(object.what)),
                )
            },
            || {
                let sources = files.iter().map(|file| file.source().clone()).collect();
                let written: Vec<_> = located(&files, ParsedDocument::objects).collect();
                (Sources::new(sources), written)
            },
        );
        // A file that is part of a build is applied, even if its neighbours say otherwise.
        let said = files
            .par_iter()
            .zip(&built)
            .map(|(file, built)| match built {
                None => (
                    neighbourhood.skip_reason(file.source().path()),
                    neighbourhood.has_patches(file.source().path()),
                ),
                Some(_) => (None, false),
            });
        let said: Vec<_> = said.collect();
        let mut set_aside = Vec::new();
        written.retain(|object| {
            let said = said.get(object.file.0 as usize);
            let reason = said.and_then(|said| reason_to_skip(object.what, said));
            let is_written = reason.is_none();
            set_aside.extend(reason.map(|reason| {
                let span = object.what.start();
                (object.file, object.document, Skip { span, reason })
            }));
            is_written
        });
        let more = built_besides(&files, &built, &written);
        if !more.is_empty() {
            written.extend(more.iter().map(|object| InDocument {
                file: object.file,
                document: object.document,
                what: &object.what,
            }));
            written.sort_by_key(|object| (object.file, object.document, object.what.start()));
        }
        written.retain(|object| match clients.get(object.file.0 as usize) {
            Some(Some(client)) => object
                .what
                .list_reading()
                .is_none_or(|reading| reading.is_applied_by(*client)),
            _ => true,
        });
        let mut inventory = Self {
            sources,
            members: Vec::new(),
            kinds: Kinds::new(release, [], extra_kinds),
            namespace,
            limits,
            namespaces,
            files: Vec::new(),
            neighbourhood: Neighbourhood::default(),
            set_aside,
            hidden: 0,
            resolutions: Resolutions::default(),
            by_uid: Index::default(),
            by_key: Index::default(),
            by_kind: Index::default(),
            remarkable: Vec::new(),
            with_templates: OnceLock::new(),
            by_name: OnceLock::new(),
            by_namespace: OnceLock::new(),
            volumes: OnceLock::new(),
        };
        inventory.build(written, &built);
        inventory.index();
        inventory.neighbourhood = neighbourhood;
        inventory.files = files;
        let hidden = inventory
            .skipped()
            .filter(|skip| skip.what.reason.hides_objects())
            .count();
        inventory.hidden = hidden + inventory.unreadable_files().count();
        inventory
    }

    /// Computes the kinds that the objects define, and the identities of the objects. If a build leaves out a
    /// definition, both are computed again without it.
    fn build(
        &mut self,
        mut written: Vec<InDocument<&Arc<Object>>>,
        built: &[Option<Arc<BuiltKeys>>],
    ) {
        loop {
            let crds = (0u32..).map(ObjectId).zip(&written);
            let crds =
                crds.filter_map(|(id, object)| object.what.definition().map(|crd| (id, crd)));
            self.kinds = Kinds::new(self.kinds.release(), crds, self.kinds.extra().to_vec());
            self.resolutions =
                Resolutions::of(&self.kinds, written.iter().map(|object| &**object.what));
            let built = self.built(&written, built);
            let count = built.iter().flatten().count();
            if count == written.len() {
                // `map_while` collects in place. `flatten` would not: a second list would take as much memory again.
                self.members = built.into_iter().map_while(|member| member).collect();
                return;
            }
            let mut built = built.iter();
            written.retain(|_| built.next().is_some_and(Option::is_some));
        }
    }

    /// Computes the identity of each object, once all kinds are known; `None` if the build of its file leaves it out.
    fn built(
        &self,
        written: &[InDocument<&Arc<Object>>],
        built: &[Option<Arc<BuiltKeys>>],
    ) -> Vec<Option<Member>> {
        // A CRD without a uid, added to define the kinds of a dump, does not make the dump a rendering.
        let all_have_uids = written.iter().map(|object| object.what).all(|object| {
            object.is(well_known::CUSTOM_RESOURCE_DEFINITION) || object.uid().is_some()
        });
        let members = written.par_iter().enumerate().map(|(at, object)| {
            let built = built.get(object.file.0 as usize).and_then(Option::as_deref);
            self.built_one(ObjectId(at as u32), *object, built, all_have_uids)
        });
        members.collect()
    }

    /// Computes the identity of one object. `all_have_uids` means that the input is a dump.
    fn built_one(
        &self,
        id: ObjectId,
        written: InDocument<&Arc<Object>>,
        built: Option<&BuiltKeys>,
        all_have_uids: bool,
    ) -> Option<Member> {
        let InDocument {
            file,
            document,
            what: object,
        } = written;
        let resolution = self.resolution_of(object.api_version(), object.kind());
        let stamped = ["resourceVersion", "creationTimestamp"]
            .iter()
            .any(|field| object.metadata().has_server_field(field));
        let from_dump = object.uid().is_some() && (stamped || all_have_uids);
        // The namespace of a live object is always written: without one, the object is cluster-scoped.
        let homeless = from_dump && object.namespace().is_none();
        let scope = resolution.scope.or(homeless.then_some(Scope::Cluster));
        let key = self.key_of(file, object, scope);
        let key = match built {
            None => key,
            Some(built) => built.key(&key, scope, object.value().span().start)?,
        };
        let is_named = object
            .metadata()
            .name()
            .is_some_and(|name| !name.value.is_empty());
        Some(Member {
            id,
            file,
            document,
            object: Arc::clone(object),
            resolution,
            key,
            from_dump,
            is_named,
        })
    }

    /// Returns the files, in path order.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &ParsedFile)> {
        (0u32..).map(FileId).zip(&self.files)
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

    /// Returns the number of skipped documents.
    pub fn skipped_count(&self) -> usize {
        self.set_aside.len()
            + self
                .files
                .iter()
                .map(|file| file.skipped().len())
                .sum::<usize>()
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
        self.set_aside
            .iter()
            .map(|(file, document, what)| InDocument {
                file: *file,
                document: *document,
                what: what.clone(),
            })
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

    /// Returns the fields that Kubernetes silently drops or overrides when it reads a document.
    pub fn problems(&self) -> impl Iterator<Item = InDocument<&Problem>> {
        let problems = located(&self.files, ParsedDocument::problems);
        problems.filter(|problem| !self.is_set_aside(problem.file))
    }

    /// Returns the text that Kubernetes accepts and YAML 1.2 does not, with its places.
    pub fn quirks(&self) -> impl Iterator<Item = InDocument<&(Quirk, Span)>> {
        located(&self.files, ParsedDocument::quirks).filter(|quirk| !self.is_set_aside(quirk.file))
    }

    /// Whether neighbours of the file say that none of its objects are applied.
    fn is_set_aside(&self, file: FileId) -> bool {
        let is_mentioned = self
            .set_aside
            .binary_search_by_key(&file, |(file, ..)| *file)
            .is_ok();
        is_mentioned && self.members_of(file).is_empty()
    }

    /// Returns the files that cannot be read, with a reason that follows the name: `is a broken symbolic link`.
    pub fn unreadable_files(&self) -> impl Iterator<Item = (FileId, &str)> {
        self.files()
            .filter_map(|(id, file)| Some((id, file.failure()?)))
    }

    /// Returns the key of an object as it is written in its file.
    pub fn written_key(&self, member: &Member) -> ObjectKey {
        let homeless = member.from_dump && member.object.namespace().is_none();
        self.key_of(
            member.file,
            &member.object,
            member.scope().or(homeless.then_some(Scope::Cluster)),
        )
    }

    fn key_of(&self, file: FileId, object: &Object, scope: Option<Scope>) -> ObjectKey {
        let kind = GroupKind::new(
            table().identity(object.group(), object.kind()),
            object.kind(),
        );
        let name = object.name().map(SmolStr::from).unwrap_or_default();
        ObjectKey::new(
            kind,
            self.namespace_of(file, object.namespace(), scope),
            name,
        )
    }

    /// Returns the namespace of an object in `file` whose kind has the scope `scope`. The namespace of a cluster-scoped
    /// kind is silently cleared ([VAL-34]); a kind of unknown scope is never given the namespace of the input.
    fn namespace_of(&self, file: FileId, written: Option<&str>, scope: Option<Scope>) -> Namespace {
        let given = self
            .namespaces
            .get(&file)
            .map(|given| &**given)
            .or(self.namespace.as_deref());
        match (scope, written, given) {
            (Some(Scope::Cluster), _, _) => Namespace::None,
            (_, Some(written), _) => Namespace::Named(written.into()),
            (Some(Scope::Namespaced), None, Some(given)) => Namespace::Named(given.into()),
            (_, None, _) => Namespace::Unwritten,
        }
    }

    /// Returns the namespace in which an object creates or names other objects: its own. The scope of such an object's
    /// kind is often unknown, and is then taken to be namespaced.
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

/// Returns why an object is not to be applied. The neighbours of its file give a reason for the whole file, if any, and
/// say whether some of its objects are patches.
fn reason_to_skip(
    object: &Object,
    (reason, has_patches): &(Option<SkipReason>, bool),
) -> Option<SkipReason> {
    let reason = reason.clone().filter(|reason| may_be(reason, object));
    reason.or_else(|| {
        (*has_patches && has_directive(object))
            .then_some(SkipReason::Patch(ManifestTool::Kustomize))
    })
}

/// Whether an object may be skipped for `reason`. Kubernetes' own kinds configure no plugin of kustomize, unless they
/// carry the annotation that names a function (<https://kubectl.docs.kubernetes.io/guides/extending_kustomize/>).
fn may_be(reason: &SkipReason, object: &Object) -> bool {
    !matches!(reason, SkipReason::Configuration(_))
        || table()
            .find(
                object.group(),
                &object.group_version().version,
                object.kind(),
            )
            .is_none()
        || object
            .at(&["metadata", "annotations", "config.kubernetes.io/function"])
            .is_some()
}

/// Returns the objects that builds apply and that `written` lacks, in order. Their text may look like a template where
/// it is written: `${APP}` is a name once Flux has replaced it.
fn built_besides(
    files: &[ParsedFile],
    built: &[Option<Arc<BuiltKeys>>],
    written: &[InDocument<&Arc<Object>>],
) -> Vec<InDocument<Arc<Object>>> {
    let known: HashSet<(FileId, u32)> = written
        .iter()
        .map(|object| (object.file, object.what.value().span().start))
        .collect();
    let mut more = Vec::new();
    for ((file, parsed), built) in (0u32..).map(FileId).zip(files).zip(built) {
        let Some(built) = built else { continue };
        for document in parsed.documents() {
            let objects = document.every_object().into_iter();
            let besides = objects.filter(|object| {
                let at = object.value().span().start;
                built.contain(at) && !known.contains(&(file, at))
            });
            more.extend(besides.map(|what| InDocument {
                file,
                document: document.index,
                what,
            }));
        }
    }
    more
}

fn located<'a, T: 'a>(
    files: &'a [ParsedFile],
    part: impl Fn(&'a ParsedDocument) -> &'a [T] + Copy,
) -> impl Iterator<Item = InDocument<&'a T>> {
    (0u32..)
        .map(FileId)
        .zip(files)
        .flat_map(move |(file, parsed)| {
            parsed.documents().iter().flat_map(move |parsed| {
                part(parsed).iter().map(move |what| InDocument {
                    file,
                    document: parsed.index,
                    what,
                })
            })
        })
}
