//! The build of a kustomization (kustomize api/internal/target/kusttarget.go).

use std::collections::BTreeSet;
use std::sync::Arc;

use super::budget::Budget;
use super::doc::{KustomizationDoc, read_kustomization};
use super::generate::{Generator, merge_data};
use super::memo::{Builds, Tolerance, Watched};
use super::objects::objects_of;
use super::resource::{Origin, ResId, Resource};
use super::resource_index::ResourceIndex;
use crate::charts::{CallId, Charts};
use crate::graph::node::Node;
use crate::graph::unread::{UnreadInput, What};
use crate::kustomize::{is_remote, resolve, shown};

/// The reason why nothing is built.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BuildError {
    /// A clause without a full stop.
    pub reason: String,
    /// The file with the error, from the root of the tree.
    pub file: String,
    /// The line.
    pub line: usize,
}

impl BuildError {
    /// Creates the error of a build that fails because of a line of a file.
    pub fn new(reason: impl Into<String>, file: impl Into<String>, line: usize) -> Self {
        Self {
            reason: reason.into(),
            file: file.into(),
            line,
        }
    }
}

/// The result of a build.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The objects, in their order.
    pub resources: Arc<Vec<Resource>>,
    /// Inputs that determine objects, but could not be evaluated.
    pub unread: Vec<UnreadInput>,
    /// The folders whose kustomizations took part, and the files that were read as resources.
    pub reached: BTreeSet<String>,
    /// The charts that it requests.
    pub charts: BTreeSet<CallId>,
    /// Cache: the keys of the objects, with their versions.
    pub(in crate::graph) keys: Option<BTreeSet<String>>,
}

impl Built {
    /// Returns the objects for modification.
    pub fn resources_mut(&mut self) -> &mut Vec<Resource> {
        self.keys = None;
        Arc::make_mut(&mut self.resources)
    }

    fn keys(&mut self) -> &mut BTreeSet<String> {
        self.keys.get_or_insert_with(|| {
            let ids = self.resources.iter().map(Resource::id);
            ids.map(|id| id.versioned_key()).collect()
        })
    }
}

/// Builder of the kustomizations of a tree.
pub struct Builder<'b> {
    builds: &'b Builds<'b>,
    budget: &'b Budget,
    tolerance: Tolerance,
}

/// One build.
pub(super) struct Build<'b> {
    pub(super) builds: &'b Builds<'b>,
    pub(super) files: &'b Watched<'b>,
    pub(super) budget: &'b Budget,
}

pub(super) type Outcome<T = ()> = Result<T, BuildError>;

impl<'b> Builder<'b> {
    /// Creates a builder that is limited by `budget`.
    pub fn within(builds: &'b Builds<'b>, budget: &'b Budget) -> Self {
        Self {
            builds,
            budget,
            tolerance: builds.tolerance,
        }
    }

    /// Makes it build as a person does who may have uncommitted files.
    #[must_use]
    pub fn by_hand(self) -> Self {
        Self {
            tolerance: Tolerance::Uncommitted,
            ..self
        }
    }

    /// Makes it leave out everything that fails.
    #[must_use]
    pub fn without_failures(self) -> Self {
        Self {
            tolerance: Tolerance::Whatever,
            ..self
        }
    }

    /// Whether it leaves out everything that fails.
    pub fn tolerates(&self) -> bool {
        self.tolerance == Tolerance::Whatever
    }

    /// Builds a kustomization as `kustomize build` does.
    ///
    /// # Errors
    /// Returns the reason if kustomize builds nothing.
    pub fn build(&self, doc: &KustomizationDoc) -> Result<Built, BuildError> {
        let objects = self.builds.objects_of(doc, self.budget.nesting);
        let copies = self.builds.copies(objects);
        self.budget.expect(copies, &doc.file)?;
        self.builds.get_or_build(doc, self.tolerance, |files| {
            let build = Build {
                builds: self.builds,
                files,
                budget: self.budget,
            };
            build.run(doc)
        })
    }

    /// Returns the cache of the builds.
    pub fn builds(&self) -> &'b Builds<'b> {
        self.builds
    }

    /// Returns the charts that builds request.
    pub fn charts(&self) -> &'b Charts {
        self.builds.charts()
    }

    /// Applies a kustomization to objects that were built elsewhere.
    ///
    /// # Errors
    /// Returns the reason if kustomize builds nothing.
    pub fn transformed(
        &self,
        doc: &KustomizationDoc,
        resources: Vec<Resource>,
    ) -> Result<Vec<Resource>, BuildError> {
        let build = Build {
            builds: self.builds,
            files: &Watched::new(self.builds.files()),
            budget: self.budget,
        };
        let mut built = Built {
            resources: Arc::new(resources),
            ..Built::default()
        };
        build.transform(doc, &mut built)?;
        Ok(Arc::unwrap_or_clone(built.resources))
    }

    /// Returns the budget of the builds.
    pub fn budget(&self) -> &'b Budget {
        self.budget
    }
}

impl Build<'_> {
    fn run(&self, doc: &KustomizationDoc) -> Outcome<Built> {
        let mut built = Built::default();
        self.accumulate(doc, &mut built, &mut Vec::new())?;
        for resource in built.resources_mut() {
            if resource.needs_hash {
                let hash = self.builds.content_hash(&resource.node);
                let name = format!("{}-{hash}", resource.id().name);
                resource.rename("name", name);
            }
        }
        self.references(doc, &mut built)?;
        let resources = built.resources_mut();
        resources.retain(|resource| {
            let local = resource.meta("annotations", "config.kubernetes.io/local-config");
            local.is_none_or(|value| value == "false")
        });
        resources.shrink_to_fit();
        Ok(built)
    }

    /// Returns the origin of an object that the entry at `place` generates.
    pub(super) fn origin(&self, doc: &KustomizationDoc, place: Option<&Node>) -> Origin {
        let span = place.and_then(Node::span);
        Origin {
            file: Arc::from(doc.file.as_str()),
            line: self.files.parsed(&doc.file).line(span),
            offset: span.map(|span| span.start).unwrap_or_default(),
            is_generated: true,
            template: None,
            template_file: None,
            document: None,
        }
    }

    pub(super) fn failed(
        &self,
        doc: &KustomizationDoc,
        place: Option<&Node>,
        reason: impl Into<String>,
    ) -> BuildError {
        self.origin(doc, place).failed(reason)
    }

    pub(super) fn unread(
        &self,
        doc: &KustomizationDoc,
        place: Option<&Node>,
        what: What,
        subject: &str,
        reason: &str,
    ) -> UnreadInput {
        self.origin(doc, place).unread(what, subject, reason)
    }

    /// Adds the objects of a kustomization to those in `built`. For a component, `built` contains
    /// the objects that its parent kustomization has built so far.
    pub(super) fn accumulate(
        &self,
        doc: &KustomizationDoc,
        built: &mut Built,
        on_the_way: &mut Vec<String>,
    ) -> Outcome {
        if on_the_way.contains(&doc.folder) {
            return Err(self.failed(doc, None, format!("{} includes itself", shown(&doc.folder))));
        }
        if let Some((reason, value)) = doc.rejected_field() {
            self.tolerated(Err(self.failed(doc, Some(&value), reason)))?;
        }
        self.files.enter(on_the_way.len() + 1);
        if on_the_way.len() > self.budget.nesting {
            let reason = "kustomizations are nested too deeply";
            let unread = self.unread(doc, None, What::Limit, shown(&doc.folder), reason);
            built.unread.push(unread);
            return Ok(());
        }
        on_the_way.push(doc.folder.clone());
        built.reached.insert(doc.folder.clone());
        self.resources(doc, built, on_the_way)?;
        self.generators(doc, built)?;
        for entry in doc.node.items_at("components") {
            let Some(path) = entry.as_str() else { continue };
            if is_remote(path) {
                built.unread.push(self.remote(doc, &entry, path));
                continue;
            }
            if let Some(unread) = self.elsewhere(doc, &entry, path) {
                built.unread.push(unread);
                continue;
            }
            let component = self.included(doc, &entry, path);
            let added = component.and_then(|one| self.accumulate(&one, built, on_the_way));
            self.tolerated(added)?;
        }
        self.transform(doc, built)?;
        on_the_way.pop();
        Ok(())
    }

    pub(super) fn remote(&self, doc: &KustomizationDoc, entry: &Node, path: &str) -> UnreadInput {
        self.unread(doc, Some(entry), What::Remote, path, "nothing is fetched")
    }

    /// Returns an unread input for a missing file or folder, if the build may lack it.
    pub(super) fn elsewhere(
        &self,
        doc: &KustomizationDoc,
        entry: &Node,
        path: &str,
    ) -> Option<UnreadInput> {
        let place = resolve(&doc.folder, path);
        self.files.lacks(&place).then(|| {
            let reason = "it is not in the tree";
            self.unread(doc, Some(entry), What::Remote, path, reason)
        })
    }

    /// Returns the kustomization of the folder that an `entry` of `doc` names.
    fn included(
        &self,
        doc: &KustomizationDoc,
        entry: &Node,
        path: &str,
    ) -> Outcome<KustomizationDoc> {
        let folder = resolve(&doc.folder, path);
        if !self.files.has_folder(&folder) {
            return Err(self.failed(doc, Some(entry), format!("{path} does not exist")));
        }
        if self.files.kustomizations_of(&folder).next().is_none() {
            return Err(self.failed(doc, Some(entry), format!("{path} has no kustomization")));
        }
        read_kustomization(self.files, &folder)
    }

    fn resources(
        &self,
        doc: &KustomizationDoc,
        built: &mut Built,
        on_the_way: &mut Vec<String>,
    ) -> Outcome {
        let keys = ["resources", "bases"].into_iter();
        for entry in keys.flat_map(|key| doc.node.items_at(key)) {
            let Some(path) = entry.as_str() else { continue };
            let added = self.resource(doc, (&entry, path), built, on_the_way);
            self.tolerated(added)?;
        }
        Ok(())
    }

    fn resource(
        &self,
        doc: &KustomizationDoc,
        (entry, path): (&Node, &str),
        built: &mut Built,
        on_the_way: &mut Vec<String>,
    ) -> Outcome {
        let place = resolve(&doc.folder, path);
        if self.files.has_file(&place) {
            built.reached.insert(place.clone());
            if self.is_encrypted(&place) {
                let reason = "it is encrypted";
                let unread = self.unread(doc, Some(entry), What::Remote, path, reason);
                built.unread.push(unread);
                return Ok(());
            }
            let found = objects_of(&self.files.parsed(&place), &place)?;
            let taken = self.budget.take_file(&place, found.len(), &doc.file);
            taken.map_err(|error| self.failed(doc, Some(entry), error.reason))?;
            self.append(doc, entry, built, found)
        } else if is_remote(path) {
            built.unread.push(self.remote(doc, entry, path));
            Ok(())
        } else if let Some(unread) = self.elsewhere(doc, entry, path) {
            built.unread.push(unread);
            Ok(())
        } else {
            let base = self.included(doc, entry, path)?;
            let part = self.part(&base, on_the_way)?;
            built.unread.extend_from_slice(&part.built.unread);
            built.reached.extend(part.built.reached.iter().cloned());
            built.charts.extend(part.built.charts.iter().cloned());
            self.append(doc, entry, built, part.built.resources.to_vec())
        }
    }

    /// Ignores an error if the build leaves out what fails, unless the budget is spent.
    pub(super) fn tolerated(&self, outcome: Outcome) -> Outcome {
        let tolerates =
            self.files.tolerance == Tolerance::Whatever && self.budget.spent().is_none();
        outcome.or_else(|error| if tolerates { Ok(()) } else { Err(error) })
    }

    pub(super) fn append(
        &self,
        doc: &KustomizationDoc,
        entry: &Node,
        built: &mut Built,
        found: Vec<Resource>,
    ) -> Outcome {
        for resource in found {
            let id = resource.id();
            if !built.keys().insert(id.versioned_key()) {
                let key = id.key();
                return Err(self.failed(doc, Some(entry), format!("{key} is there twice")));
            }
            Arc::make_mut(&mut built.resources).push(resource);
        }
        Ok(())
    }

    /// Whether a file is wholly encrypted; `false` if this build may not lack its objects.
    fn is_encrypted(&self, place: &str) -> bool {
        if self.files.tolerance == Tolerance::Nothing {
            return false;
        }
        let parsed = self.files.parsed(place);
        let mut documents = parsed.documents.iter();
        documents.any(|node| node.get("sops").is_some() && ResId::from_node(node).is_none())
    }

    /// Takes copies of objects from the budget.
    pub(super) fn take(&self, doc: &KustomizationDoc, entry: &Node, copies: usize) -> Outcome {
        let taken = self.budget.take(copies, &doc.file);
        taken.map_err(|error| self.failed(doc, Some(entry), error.reason))
    }

    /// Takes `bytes` of text for each of `copies` objects from the budget.
    pub(super) fn take_text(
        &self,
        doc: &KustomizationDoc,
        place: Option<&Node>,
        bytes: usize,
        copies: usize,
    ) -> Outcome {
        let taken = self.budget.take_text(bytes.saturating_mul(copies));
        taken.map_err(|reason| self.failed(doc, place, reason))
    }

    fn generators(&self, doc: &KustomizationDoc, built: &mut Built) -> Outcome {
        let options = doc.node.get("generatorOptions");
        for (key, is_secret) in [("configMapGenerator", false), ("secretGenerator", true)] {
            let entries = doc.node.items_at(key);
            if entries.is_empty() {
                continue;
            }
            let mut index = ResourceIndex::new(std::mem::take(built.resources_mut()));
            for entry in entries {
                let generator = Generator {
                    files: self.files,
                    folder: &doc.folder,
                    origin: self.origin(doc, Some(&entry)),
                    entry: &entry,
                    options: options.clone(),
                    is_secret,
                };
                self.tolerated(self.generate(doc, &generator, &mut index, &built.unread))?;
            }
            *built.resources_mut() = index.into_resources();
        }
        self.inflate(doc, built)?;
        // These are programs, or files that generate objects.
        for entry in doc.node.items_at("generators") {
            let input = self.plugin(doc, &entry, What::Generator, "generators");
            built.unread.push(input);
        }
        Ok(())
    }

    fn generate(
        &self,
        doc: &KustomizationDoc,
        generator: &Generator<'_>,
        index: &mut ResourceIndex,
        unread: &[UnreadInput],
    ) -> Outcome {
        let generated = generator.run()?;
        self.take(doc, generator.entry, 1)?;
        let id = generated.id();
        let old = index.find(&id).and_then(|at| index.get_mut(at));
        let old = match (generator.entry.str_at(&["behavior"]), old) {
            (Some("merge"), Some(old)) => {
                merge_data(&mut old.node, &generated.node);
                old
            }
            (Some("replace"), Some(old)) => {
                for field in ["data", "binaryData"] {
                    match generated.node.get(field) {
                        Some(data) => old.node.set(field, data),
                        None => old.node.remove(field),
                    }
                }
                old
            }
            (Some("merge" | "replace"), None) if unread.is_empty() => {
                let reason = format!("{} does not exist: nothing to merge with", id.key());
                return Err(generator.origin.failed(reason));
            }
            (Some("merge" | "replace"), None) => return Ok(()),
            (_, Some(_)) => {
                let reason = format!("{} is there twice", id.key());
                return Err(generator.origin.failed(reason));
            }
            (_, None) => {
                index.push(generated);
                return Ok(());
            }
        };
        // A merged or replaced object takes over labels, annotations and the need for a hash.
        for field in ["labels", "annotations"] {
            old.mark(field, &generated.node.entries_at(&["metadata", field]));
        }
        old.needs_hash |= generated.needs_hash;
        Ok(())
    }

    pub(super) fn plugin(
        &self,
        doc: &KustomizationDoc,
        entry: &Node,
        what: What,
        key: &str,
    ) -> UnreadInput {
        let subject = entry.as_str().and_then(|text| text.lines().next());
        let subject = subject.unwrap_or(key);
        let reason = "plugins are not evaluated";
        self.unread(doc, Some(entry), what, subject, reason)
    }
}
