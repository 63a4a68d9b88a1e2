//! Builds an inventory: decides which objects of the files are applied, and under which keys.

use std::sync::Arc;

use foldhash::HashSet;
use rayon::prelude::*;

use super::rendered::RenderedTemplates;
use super::resolutions::Resolutions;
use super::{
    AppliedFile, BuiltKeys, InDocument, Inventory, Kinds, Member, Neighbourhood, ObjectId,
    Settings, located, table,
};
use crate::kube::{Scope, kinds};
use crate::kustomize::pointed_folders;
use crate::manifest::{
    ManifestTool, Object, ParsedDocument, ParsedFile, Skip, SkipReason, has_directive,
};
use crate::text::{FileId, Sources};

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
        let neighbours = files
            .par_iter()
            .zip(&built)
            .map(|(file, built)| match built {
                None => (
                    neighbourhood.skip_reason(file.source().path()),
                    neighbourhood.has_patches(file.source().path()),
                ),
                Some(_) => (None, false),
            });
        let neighbours: Vec<_> = neighbours.collect();
        let mut skipped_for_neighbours = Vec::new();
        let rendered = RenderedTemplates::of(&files);
        written.retain(|object| {
            let at = object.file.0 as usize;
            let neighbours = neighbours.get(at);
            let reason = neighbours.and_then(|neighbours| reason_to_skip(object.what, neighbours));
            let reason = reason.or_else(|| {
                let path = files[at].source().path();
                let is_draft = rendered.has(&files[at], object.what)
                    && built[at].is_none()
                    && !neighbourhood.is_applied(path);
                is_draft.then_some(SkipReason::RenderedTemplate)
            });
            let is_written = reason.is_none();
            skipped_for_neighbours.extend(reason.map(|reason| {
                let span = object.what.start();
                InDocument {
                    what: Skip { span, reason },
                    file: object.file,
                    document: object.document,
                }
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
            kinds: Kinds::new(release, [], extra_kinds),
            namespace,
            limits,
            namespaces,
            skipped_for_neighbours,
            ..Self::default()
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

    /// Computes the kinds that the objects define, and the identities of the objects. If builds leave out objects, both
    /// are computed again without them, because some may be definitions.
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
            let built = self.identify_all(&written, built);
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
    fn identify_all(
        &self,
        written: &[InDocument<&Arc<Object>>],
        built: &[Option<Arc<BuiltKeys>>],
    ) -> Vec<Option<Member>> {
        // A CRD without a uid, added to define the kinds of a dump, does not make the dump a rendering.
        let all_have_uids = written
            .iter()
            .map(|object| object.what)
            .all(|object| object.is(kinds::CUSTOM_RESOURCE_DEFINITION) || object.uid().is_some());
        let members = written.par_iter().enumerate().map(|(at, object)| {
            let built = built.get(object.file.0 as usize).and_then(Option::as_deref);
            self.identify(ObjectId(at as u32), *object, built, all_have_uids)
        });
        members.collect()
    }

    /// Computes the identity of one object. `all_have_uids` means that the input is a dump.
    fn identify(
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
        let lacks_namespace = from_dump && object.namespace().is_none();
        let scope = resolution
            .scope
            .or(lacks_namespace.then_some(Scope::Cluster));
        let key = self.key_of(file, object, scope);
        let begins = object.value().span().start;
        let key = match built {
            None => key,
            Some(built) => built.key(&key, scope, begins)?,
        };
        let object = built
            .and_then(|built| built.of(begins)?.object.as_ref())
            .unwrap_or(object);
        let name = object.metadata().name();
        let is_generated = name.is_none_or(|name| name.value.is_empty());
        Some(Member {
            id,
            file,
            document,
            object: Arc::clone(object),
            resolution,
            key,
            from_dump,
            is_generated,
        })
    }
}

/// Returns why an object is not to be applied. Neighbours of its file provide a reason to skip the
/// file, if any, and whether some of its objects are patches.
fn reason_to_skip(
    object: &Object,
    (reason, has_patches): &(Option<SkipReason>, bool),
) -> Option<SkipReason> {
    let reason = reason.clone().filter(|reason| may_be(reason, object));
    let is_patch = reason.is_none() && *has_patches && has_directive(object);
    reason.or(is_patch.then_some(SkipReason::Patch(ManifestTool::Kustomize)))
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

/// Returns the objects that builds apply and that `written` lacks, in order. As written, they may
/// look like templates: `${APP}` is a name once Flux has replaced it.
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
