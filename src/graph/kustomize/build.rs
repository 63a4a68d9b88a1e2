//! From a kustomization to the objects that it builds (kustomize api/internal/target/kusttarget.go).

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde::de::IgnoredAny;

use super::generate::{Behavior, Generator, content_hash, merge_data};
use super::patch::{json_patched, merged};
use super::resource::{ResId, Resource};
use super::select::Target;
use crate::graph::files::{Parsed, TreeFiles, parse_inline};
use crate::graph::node::Node;
use crate::graph::unread::{UnreadInput, What};
use crate::kustomize::{is_remote, resolve};

/// Kustomizations within kustomizations that are followed.
const NESTING: usize = 64;

/// Why nothing is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    /// A sentence without its end.
    pub reason: String,
    /// The file that is at fault, from the root of the tree.
    pub file: String,
    /// The line.
    pub line: usize,
}

/// What a build makes.
#[derive(Clone, Debug, Default)]
pub struct Built {
    /// The objects, in their order.
    pub resources: Vec<Resource>,
    /// What decides on objects and could not be evaluated.
    pub unread: Vec<UnreadInput>,
    /// The folders whose kustomizations took part, and the files that were read as resources.
    pub reached: BTreeSet<String>,
}

/// A kustomization: one that is written, or one that a tool makes up.
#[derive(Clone, Debug)]
pub struct KustomizationDoc {
    /// The folder from which its paths are resolved.
    pub folder: String,
    /// Its file; that of the object that delivers, if a tool makes it up.
    pub file: String,
    /// What it says.
    pub node: Node,
}

/// The copies of objects that builds may still make: a tree of a few lines may ask for billions.
#[derive(Debug)]
pub struct Budget(Cell<usize>);

impl Budget {
    /// So many copies.
    pub fn of(most: usize) -> Self {
        Self(Cell::new(most))
    }

    /// Whether a build ended because it would have made more.
    pub fn is_spent(&self) -> bool {
        self.0.get() == 0
    }

    /// Takes some out; false if there are not as many.
    fn take(&self, copies: usize) -> bool {
        let left = self.0.get().saturating_sub(copies);
        self.0.set(left);
        left > 0
    }
}

/// Builds kustomizations of a tree.
pub struct Builder<'b> {
    files: &'b TreeFiles<'b>,
    budget: Option<&'b Budget>,
}

type Outcome<T = ()> = Result<T, BuildError>;

impl<'b> Builder<'b> {
    /// Builds in a tree.
    pub fn new(files: &'b TreeFiles<'b>) -> Self {
        Self {
            files,
            budget: None,
        }
    }

    /// Builds in a tree, as far as a budget allows.
    pub fn within(files: &'b TreeFiles<'b>, budget: &'b Budget) -> Self {
        Self {
            files,
            budget: Some(budget),
        }
    }

    /// What the kustomization of a folder says.
    ///
    /// # Errors
    /// There is none, there are two, or it cannot be read.
    pub fn kustomization(&self, folder: &str) -> Outcome<KustomizationDoc> {
        let mut found = self.files.kustomizations_of(folder);
        let Some(file) = found.next() else {
            return Err(BuildError {
                reason: format!("{} has no kustomization", shown(folder)),
                file: folder.to_owned(),
                line: 1,
            });
        };
        if let Some(second) = found.next() {
            return Err(BuildError {
                reason: format!(
                    "{} has two kustomizations: {second} is one, too",
                    shown(folder)
                ),
                file,
                line: 1,
            });
        }
        let parsed = self.files.parsed(&file);
        let node = match (&parsed.error, parsed.documents.first()) {
            (Some((reason, line)), _) => {
                return Err(BuildError {
                    reason: format!("{file} cannot be read: {reason}"),
                    file,
                    line: *line,
                });
            }
            (None, Some(node)) => node.clone(),
            (None, None) => Node::empty_map(),
        };
        Ok(KustomizationDoc {
            folder: folder.to_owned(),
            file,
            node,
        })
    }

    /// Builds a kustomization as `kustomize build` does.
    ///
    /// # Errors
    /// Why kustomize builds nothing.
    pub fn build(&self, doc: &KustomizationDoc) -> Outcome<Built> {
        let mut built = Built::default();
        let mut on_the_way = Vec::new();
        self.accumulate(doc, &mut built, &mut on_the_way)?;
        for resource in &mut built.resources {
            if resource.needs_hash {
                let name = format!("{}-{}", resource.id().name, content_hash(&resource.node));
                resource.remember();
                resource
                    .node
                    .entry_mut("metadata")
                    .set("name", Node::text(name));
            }
        }
        let is_local = |resource: &Resource| {
            resource
                .meta("annotations", "config.kubernetes.io/local-config")
                .is_some_and(|value| value != "false")
        };
        built.resources.retain(|resource| !is_local(resource));
        for resource in &mut built.resources {
            let (written, key) = (resource.original(), resource.id());
            if !resource.previous.is_empty() && written != key {
                resource.origin.written = Some(written.key());
            }
        }
        Ok(built)
    }

    fn failed(&self, doc: &KustomizationDoc, place: Option<&Node>, reason: String) -> BuildError {
        let line = self
            .files
            .parsed(&doc.file)
            .line(place.and_then(Node::span));
        BuildError {
            reason,
            file: doc.file.clone(),
            line,
        }
    }

    fn unread(
        &self,
        doc: &KustomizationDoc,
        place: Option<&Node>,
        what: What,
        subject: String,
        reason: &str,
    ) -> UnreadInput {
        let line = self
            .files
            .parsed(&doc.file)
            .line(place.and_then(Node::span));
        UnreadInput {
            what,
            subject,
            file: doc.file.clone(),
            line,
            reason: reason.to_owned(),
        }
    }

    /// Adds what a kustomization builds to what was built before it: for a component that is what the kustomization that names it
    /// has built so far.
    fn accumulate(
        &self,
        doc: &KustomizationDoc,
        built: &mut Built,
        on_the_way: &mut Vec<String>,
    ) -> Outcome {
        if on_the_way.contains(&doc.folder) {
            return Err(self.failed(doc, None, format!("{} includes itself", shown(&doc.folder))));
        }
        if on_the_way.len() >= NESTING {
            built.unread.push(self.unread(
                doc,
                None,
                What::Limit,
                shown(&doc.folder).to_owned(),
                "more kustomizations include each other than are followed",
            ));
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
            let component = self.included(doc, &entry, path)?;
            self.accumulate(&component, built, on_the_way)?;
        }
        self.transform(doc, built)?;
        on_the_way.pop();
        Ok(())
    }

    fn remote(&self, doc: &KustomizationDoc, entry: &Node, path: &str) -> UnreadInput {
        self.unread(
            doc,
            Some(entry),
            What::Remote,
            path.to_owned(),
            "nothing is fetched",
        )
    }

    /// The kustomization of a folder that another one names.
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
        match self.files.kustomization_of(&folder) {
            Some(_) => self.kustomization(&folder),
            None => Err(self.failed(doc, Some(entry), format!("{path} has no kustomization"))),
        }
    }

    fn resources(
        &self,
        doc: &KustomizationDoc,
        built: &mut Built,
        on_the_way: &mut Vec<String>,
    ) -> Outcome {
        let entries = ["resources", "bases"]
            .into_iter()
            .flat_map(|key| doc.node.items_at(key));
        let known = built.resources.iter().map(|resource| resource.id().key());
        let mut known: BTreeSet<String> = known.collect();
        for entry in entries {
            let Some(path) = entry.as_str() else { continue };
            let place = resolve(&doc.folder, path);
            if self.files.has_file(&place) {
                built.reached.insert(place.clone());
                let found = self.resources_of_file(doc, &entry, &place)?;
                self.append(doc, &entry, built, &mut known, found)?;
            } else if is_remote(path) {
                built.unread.push(self.remote(doc, &entry, path));
            } else {
                let base = self.included(doc, &entry, path)?;
                let mut inner = Built::default();
                self.accumulate(&base, &mut inner, on_the_way)?;
                built.unread.append(&mut inner.unread);
                built.reached.append(&mut inner.reached);
                self.append(doc, &entry, built, &mut known, inner.resources)?;
            }
        }
        Ok(())
    }

    fn append(
        &self,
        doc: &KustomizationDoc,
        entry: &Node,
        built: &mut Built,
        known: &mut BTreeSet<String>,
        found: Vec<Resource>,
    ) -> Outcome {
        for resource in found {
            let key = resource.id().key();
            if !known.insert(key.clone()) {
                return Err(self.failed(doc, Some(entry), format!("{key} is there twice")));
            }
            built.resources.push(resource);
        }
        Ok(())
    }

    /// The objects of a file.
    fn resources_of_file(
        &self,
        doc: &KustomizationDoc,
        entry: &Node,
        place: &str,
    ) -> Outcome<Vec<Resource>> {
        let parsed = self.files.parsed(place);
        if let Some((reason, line)) = &parsed.error {
            return Err(BuildError {
                reason: format!("{place} cannot be read: {reason}"),
                file: place.to_owned(),
                line: *line,
            });
        }
        let found = resources_of(&parsed, place).map_err(|line| {
            let reason = format!("{place} has a document that is no whole object");
            match line {
                Some(line) => BuildError {
                    reason,
                    file: place.to_owned(),
                    line,
                },
                None => self.failed(doc, Some(entry), reason),
            }
        })?;
        self.take(doc, entry, found.len())?;
        Ok(found)
    }

    /// Takes copies of objects out of the budget.
    fn take(&self, doc: &KustomizationDoc, entry: &Node, copies: usize) -> Outcome {
        match self.budget {
            Some(budget) if !budget.take(copies) => {
                let reason = "builds make more copies of objects than are allowed".to_owned();
                Err(self.failed(doc, Some(entry), reason))
            }
            _ => Ok(()),
        }
    }

    fn generators(&self, doc: &KustomizationDoc, built: &mut Built) -> Outcome {
        let options = doc.node.get("generatorOptions");
        for (key, is_secret) in [("configMapGenerator", false), ("secretGenerator", true)] {
            for entry in doc.node.items_at(key) {
                let line = self.files.parsed(&doc.file).line(entry.span());
                let generator = Generator {
                    files: self.files,
                    folder: &doc.folder,
                    origin: (Arc::from(doc.file.as_str()), line),
                    entry: &entry,
                    options: options.clone(),
                    is_secret,
                };
                let generated = generator.run()?;
                self.take(doc, &entry, 1)?;
                let id = generated.resource.id();
                let old = built
                    .resources
                    .iter()
                    .position(|resource| resource.was_called(&id));
                match (generated.behavior, old) {
                    (Behavior::Create, None) => built.resources.push(generated.resource),
                    (Behavior::Create, Some(_)) => {
                        return Err(self.failed(
                            doc,
                            Some(&entry),
                            format!("{} is there twice", id.key()),
                        ));
                    }
                    (_, None) if built.unread.is_empty() => {
                        let reason = format!("{} does not exist: nothing to merge with", id.key());
                        return Err(self.failed(doc, Some(&entry), reason));
                    }
                    (_, None) => {}
                    (Behavior::Merge, Some(old)) => {
                        let old = &mut built.resources[old];
                        merge_data(&mut old.node, &generated.resource.node);
                        mark_as(old, &generated.resource);
                    }
                    (Behavior::Replace, Some(old)) => {
                        let old = &mut built.resources[old];
                        for field in ["data", "binaryData"] {
                            match generated.resource.node.get(field) {
                                Some(data) => old.node.set(field, data),
                                None => old.node.remove(field),
                            }
                        }
                        mark_as(old, &generated.resource);
                    }
                }
            }
        }
        let charts = doc.node.items_at("helmCharts").into_iter();
        for chart in charts.chain(doc.node.get("helmChartInflationGenerator")) {
            let text = |key: &str| chart.text_at(&[key]).unwrap_or_default();
            let subject = format!("{} {}", text("name"), text("version"));
            let subject = subject.trim_end().to_owned();
            built.unread.push(self.unread(
                doc,
                Some(&chart),
                What::Chart,
                subject,
                "charts are not rendered here",
            ));
        }
        self.plugins(doc, built, "generators", What::Generator);
        Ok(())
    }

    /// What programs or files decide that nobody evaluates here.
    fn plugins(&self, doc: &KustomizationDoc, built: &mut Built, key: &str, what: What) {
        for entry in doc.node.items_at(key) {
            built.unread.push(self.plugin(doc, &entry, what, key));
        }
    }

    /// What a kustomization does to everything that it has built, in kustomize's order.
    fn transform(&self, doc: &KustomizationDoc, built: &mut Built) -> Outcome {
        for entry in doc.node.items_at("patchesStrategicMerge") {
            let patches = self.patch_documents(doc, &entry, entry.as_str())?;
            for patch in &patches {
                self.merge_by_name(doc, &entry, patch, built)?;
            }
        }
        for entry in doc.node.items_at("patches") {
            self.patch(doc, &entry, built)?;
        }
        self.namespace(doc, built)?;
        self.names(doc, built);
        self.marks(doc, built);
        for entry in doc.node.items_at("patchesJson6902") {
            self.patch(doc, &entry, built)?;
        }
        self.replacements(doc, built);
        self.transformers(doc, built)
    }

    /// Transformers of kustomize itself are evaluated; others are programs.
    fn transformers(&self, doc: &KustomizationDoc, built: &mut Built) -> Outcome {
        for entry in doc.node.items_at("transformers") {
            let place = entry.as_str().map(|text| resolve(&doc.folder, text));
            let is_folder = place
                .as_ref()
                .is_some_and(|place| !self.files.has_file(place) && self.files.has_folder(place));
            let documents = match is_folder {
                true => Vec::new(),
                false => self.patch_documents(doc, &entry, entry.as_str())?,
            };
            if documents.is_empty() {
                built
                    .unread
                    .push(self.plugin(doc, &entry, What::Transformer, "transformers"));
            }
            for transformer in &documents {
                if !self.builtin(doc, &entry, transformer, built)? {
                    built
                        .unread
                        .push(self.plugin(doc, &entry, What::Transformer, "transformers"));
                }
            }
        }
        Ok(())
    }

    /// Whether a transformer is one of kustomize's own (kustomize plugin/builtin) and was evaluated.
    fn builtin(
        &self,
        doc: &KustomizationDoc,
        entry: &Node,
        transformer: &Node,
        built: &mut Built,
    ) -> Outcome<bool> {
        if transformer.text_at(&["apiVersion"]).as_deref() != Some("builtin") {
            return Ok(false);
        }
        let marks = |key: &str| transformer.get(key).map(|marks| marks.entries());
        match transformer.text_at(&["kind"]).unwrap_or_default().as_str() {
            "NamespaceTransformer" => {
                let unset_only =
                    transformer.get("unsetOnly").and_then(|flag| flag.as_bool()) == Some(true);
                let namespace = transformer.text_at(&["metadata", "namespace"]);
                for resource in &mut built.resources {
                    let id = resource.id();
                    let is_free = !unset_only || id.namespace.is_empty();
                    if is_free && id.effective_namespace() != "_non_namespaceable_" {
                        resource.remember();
                        let metadata = resource.node.entry_mut("metadata");
                        let namespace = namespace.as_deref().unwrap_or_default();
                        metadata.set("namespace", Node::text(namespace));
                    }
                }
            }
            kind @ ("PrefixTransformer" | "SuffixTransformer" | "PrefixSuffixTransformer") => {
                let mut names = Node::empty_map();
                let text = |key: &str| transformer.text_at(&[key]).map(Node::text);
                if let Some(prefix) = text("prefix").filter(|_| kind != "SuffixTransformer") {
                    names.set("namePrefix", prefix);
                }
                if let Some(suffix) = text("suffix").filter(|_| kind != "PrefixTransformer") {
                    names.set("nameSuffix", suffix);
                }
                let named = KustomizationDoc {
                    node: names,
                    ..doc.clone()
                };
                self.names(&named, built);
            }
            "LabelTransformer" => {
                let labels = marks("labels").unwrap_or_default();
                built
                    .resources
                    .iter_mut()
                    .for_each(|resource| resource.mark("labels", &labels));
            }
            "AnnotationsTransformer" => {
                let annotations = marks("annotations").unwrap_or_default();
                built
                    .resources
                    .iter_mut()
                    .for_each(|resource| resource.mark("annotations", &annotations));
            }
            "PatchTransformer" | "PatchJson6902Transformer" => {
                self.patch(doc, transformer, built)?;
            }
            "ImageTagTransformer" | "ReplicaCountTransformer" => {}
            _ => {
                let _ = entry;
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn plugin(&self, doc: &KustomizationDoc, entry: &Node, what: What, key: &str) -> UnreadInput {
        let subject = entry.as_str().and_then(|text| text.lines().next());
        let subject = subject.unwrap_or(key).to_owned();
        self.unread(doc, Some(entry), what, subject, "plugins are not evaluated")
    }

    /// The documents of a patch: a file, or text in the place of its path.
    fn patch_documents(
        &self,
        doc: &KustomizationDoc,
        entry: &Node,
        text: Option<&str>,
    ) -> Outcome<Vec<Node>> {
        let Some(text) = text else {
            return Ok(vec![entry.clone()]);
        };
        let place = resolve(&doc.folder, text);
        let parsed = match self.files.has_file(&place) {
            true => self.files.parsed(&place),
            false if text.contains('\n') || text.contains(':') => Arc::new(parse_inline(text)),
            false => {
                return Err(self.failed(doc, Some(entry), format!("{text} does not exist")));
            }
        };
        match &parsed.error {
            Some((reason, _)) => Err(self.failed(
                doc,
                Some(entry),
                format!("the patch cannot be read: {reason}"),
            )),
            None => Ok(parsed.documents.clone()),
        }
    }

    /// An entry of `patches` or `patchesJson6902`.
    fn patch(&self, doc: &KustomizationDoc, entry: &Node, built: &mut Built) -> Outcome {
        let path = entry.text_at(&["path"]);
        let inline = entry.text_at(&["patch"]);
        if let Some(path) = path
            .as_deref()
            .filter(|path| is_remote(path) && !self.files.has_file(&resolve(&doc.folder, path)))
        {
            built.unread.push(self.remote(doc, entry, path));
            return Ok(());
        }
        let documents = match (&path, &inline) {
            (Some(path), _) => self.patch_documents(doc, entry, Some(path))?,
            (None, Some(text)) => {
                let parsed = parse_inline(text);
                // kustomize reads what begins so as JSON (kustomize plugin/builtin/patchtransformer, `jsonPatchFromBytes`).
                let as_json = text.starts_with('[');
                let as_json = as_json.then(|| serde_json::from_str::<IgnoredAny>(text));
                let refused = as_json.and_then(Result::err).map(|error| error.to_string());
                match refused.or(parsed.error.map(|(reason, _)| reason)) {
                    Some(reason) => {
                        let reason = format!("the patch cannot be read: {reason}");
                        return Err(self.failed(doc, Some(entry), reason));
                    }
                    None => parsed.documents,
                }
            }
            (None, None) => return Ok(()),
        };
        let target = entry.get("target").map(|target| Target::read(&target));
        let target = target
            .transpose()
            .map_err(|reason| self.failed(doc, Some(entry), reason))?;
        let is_json = documents.first().is_some_and(Node::is_seq);
        if is_json {
            let Some(target) = target else {
                let reason = "a JSON patch has no target".to_owned();
                return Err(self.failed(doc, Some(entry), reason));
            };
            let operations: Vec<Node> = documents.iter().flat_map(Node::items).collect();
            for resource in built.resources.iter_mut().filter(|one| target.selects(one)) {
                resource.remember();
                let patched = json_patched(resource.node.clone(), &operations);
                resource.node = patched.map_err(|reason| {
                    let reason =
                        format!("{} cannot be patched: {reason}", resource.original().key());
                    self.failed(doc, Some(entry), reason)
                })?;
            }
            return Ok(());
        }
        for patch in &documents {
            let Some(target) = &target else {
                self.merge_by_name(doc, entry, patch, built)?;
                continue;
            };
            let options = |key: &str| {
                entry.at(&["options", key]).and_then(|flag| flag.as_bool()) == Some(true)
            };
            let allowed = (options("allowNameChange"), options("allowKindChange"));
            let mut kept = Vec::with_capacity(built.resources.len());
            for resource in std::mem::take(&mut built.resources) {
                match target.selects(&resource) {
                    true => kept.extend(strategically(resource, patch, allowed)),
                    false => kept.push(resource),
                }
            }
            built.resources = kept;
        }
        Ok(())
    }

    /// A strategic merge patch that names its object.
    fn merge_by_name(
        &self,
        doc: &KustomizationDoc,
        entry: &Node,
        patch: &Node,
        built: &mut Built,
    ) -> Outcome {
        let Some(id) = ResId::of(patch) else {
            return Err(self.failed(doc, Some(entry), "the patch names no object".to_owned()));
        };
        let Some(at) = built.resources.iter().position(|one| one.was_called(&id)) else {
            // It may be part of what was not read.
            if built.unread.is_empty() {
                let reason = format!("the patch is about {}, which is not there", id.key());
                return Err(self.failed(doc, Some(entry), reason));
            }
            return Ok(());
        };
        let resource = built.resources.remove(at);
        if let Some(patched) = strategically(resource, patch, (false, false)) {
            built.resources.insert(at, patched);
        }
        Ok(())
    }

    fn namespace(&self, doc: &KustomizationDoc, built: &mut Built) -> Outcome {
        let Some(namespace) = doc.node.text_at(&["namespace"]) else {
            return Ok(());
        };
        for resource in &mut built.resources {
            let id = resource.id();
            resource.remember();
            let metadata = resource.node.entry_mut("metadata");
            if id.kind == "Namespace" && id.group.is_empty() {
                metadata.set("name", Node::text(namespace.as_str()));
            } else if id.effective_namespace() != "_non_namespaceable_" {
                metadata.set("namespace", Node::text(namespace.as_str()));
            }
        }
        let mut known = BTreeSet::new();
        for resource in &built.resources {
            let key = resource.id().key();
            if !known.insert(key.clone()) {
                let reason = format!("in the namespace `{namespace}`, {key} is there twice");
                return Err(self.failed(doc, doc.node.get("namespace").as_ref(), reason));
            }
        }
        Ok(())
    }

    fn names(&self, doc: &KustomizationDoc, built: &mut Built) {
        let prefix = doc.node.text_at(&["namePrefix"]).unwrap_or_default();
        let suffix = doc.node.text_at(&["nameSuffix"]).unwrap_or_default();
        if prefix.is_empty() && suffix.is_empty() {
            return;
        }
        for resource in &mut built.resources {
            let id = resource.id();
            // kustomize plugin/builtin/prefixtransformer, `prefixFieldSpecsToSkip`.
            let keeps = id.kind == "CustomResourceDefinition"
                || id.kind == "Namespace"
                || (id.kind == "APIService" && id.group == "apiregistration.k8s.io");
            if !keeps {
                resource.remember();
                let name = format!("{prefix}{}{suffix}", id.name);
                resource
                    .node
                    .entry_mut("metadata")
                    .set("name", Node::text(name));
            }
        }
    }

    fn marks(&self, doc: &KustomizationDoc, built: &mut Built) {
        let common = |key: &str| doc.node.get(key).map(|marks| marks.entries());
        let mut labels = common("commonLabels").unwrap_or_default();
        for entry in doc.node.items_at("labels") {
            labels.extend(
                entry
                    .get("pairs")
                    .map(|pairs| pairs.entries())
                    .unwrap_or_default(),
            );
        }
        let annotations = common("commonAnnotations").unwrap_or_default();
        for resource in &mut built.resources {
            if !labels.is_empty() {
                resource.mark("labels", &labels);
            }
            if !annotations.is_empty() {
                resource.mark("annotations", &annotations);
            }
        }
    }

    /// Replacements and variables in what an object is called are not evaluated.
    fn replacements(&self, doc: &KustomizationDoc, built: &mut Built) {
        let is_identity = |path: &String| {
            matches!(
                path.as_str(),
                "metadata.name" | "metadata.namespace" | "kind" | "apiVersion"
            )
        };
        for entry in doc.node.items_at("replacements") {
            let named = entry.text_at(&["path"]);
            let targets = entry.items_at("targets");
            let changes = targets
                .iter()
                .any(|target| target.texts_at("fieldPaths").iter().any(is_identity));
            if changes || named.is_some() {
                let subject = named.unwrap_or_else(|| "replacements".to_owned());
                let reason = "replacements in names are not evaluated";
                built.unread.push(self.unread(
                    doc,
                    Some(&entry),
                    What::Transformer,
                    subject,
                    reason,
                ));
            }
        }
    }
}

/// The objects of a file; items of lists come as themselves. An error is the line of a document that is no whole object.
pub fn resources_of(parsed: &Parsed, place: &str) -> Result<Vec<Resource>, Option<usize>> {
    let file: Arc<str> = Arc::from(place);
    let mut found = Vec::new();
    let mut pending: Vec<Node> = parsed.documents.iter().rev().cloned().collect();
    while let Some(node) = pending.pop() {
        let is_list = node
            .text_at(&["kind"])
            .is_some_and(|kind| kind.ends_with("List"));
        if is_list && node.get("items").is_some() {
            pending.extend(node.items_at("items").into_iter().rev());
            continue;
        }
        let line = parsed.line(node.span());
        match Resource::written(node, &file, line) {
            Some(resource) => found.push(resource),
            None => return Err(Some(line)),
        }
    }
    Ok(found)
}

/// What a strategic merge makes of an object, whose name, namespace and kind stay unless the patch may change them.
fn strategically(mut resource: Resource, patch: &Node, allowed: (bool, bool)) -> Option<Resource> {
    let id = resource.id();
    let (name, kind) = allowed;
    if name || kind {
        resource.remember();
    }
    let mut node = merged(resource.node.clone(), patch)?;
    if !kind {
        node.set("kind", Node::text(id.kind.as_str()));
    }
    node.set(
        "apiVersion",
        resource.node.get("apiVersion").unwrap_or(Node::Null),
    );
    let metadata = node.entry_mut("metadata");
    if !name {
        metadata.set("name", Node::text(id.name.as_str()));
    }
    match id.namespace.as_str() {
        "" => metadata.remove("namespace"),
        namespace => metadata.set("namespace", Node::text(namespace)),
    }
    resource.node = node;
    Some(resource)
}

/// Takes over labels, annotations and whether there is a hash.
fn mark_as(old: &mut Resource, new: &Resource) {
    for field in ["labels", "annotations"] {
        let marks = new
            .node
            .at(&["metadata", field])
            .map(|marks| marks.entries());
        if let Some(marks) = marks.filter(|marks| !marks.is_empty()) {
            old.mark(field, &marks);
        }
    }
    old.needs_hash |= new.needs_hash;
}

impl ResId {
    /// How messages call it.
    pub fn key(&self) -> String {
        let group = match self.group.as_str() {
            "" => String::new(),
            group => format!(".{group}"),
        };
        let namespace = match self.effective_namespace() {
            "_non_namespaceable_" => "",
            namespace => namespace,
        };
        format!("{}{group}/{namespace}/{}", self.kind, self.name)
    }
}

/// A folder as people write it.
pub fn shown(folder: &str) -> &str {
    match folder {
        "" => ".",
        folder => folder,
    }
}
