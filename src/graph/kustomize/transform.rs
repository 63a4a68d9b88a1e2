//! Transformations of the objects that a kustomization has built: patches, namespace, names, labels and annotations
//! (kustomize api/internal/target/kusttarget_configplugin.go).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::de::IgnoredAny;

use super::build::{Build, Built, Outcome};
use super::doc::KustomizationDoc;
use super::images::scale;
use super::patch::{decides, json_patched, merged, text_of};
use super::resource::{ResId, Resource};
use super::resource_index::ResourceIndex;
use super::select::Target;
use crate::graph::files::parse_inline;
use crate::graph::node::Node;
use crate::graph::unread::{UnreadInput, What};
use crate::kustomize::{is_remote, resolve};

impl Build<'_> {
    /// Transforms everything that a kustomization has built, in kustomize's order.
    pub(super) fn transform(&self, doc: &KustomizationDoc, built: &mut Built) -> Outcome {
        for key in ["patchesStrategicMerge", "patches"] {
            self.patches(doc, key, &doc.node.items_at(key), built)?;
        }
        self.tolerated(self.namespace(doc, built))?;
        let [prefix, suffix] =
            ["namePrefix", "nameSuffix"].map(|key| doc.node.str_at(&[key]).unwrap_or_default());
        self.names(doc, prefix, suffix, built)?;
        self.marks(doc, built)?;
        let key = "patchesJson6902";
        self.patches(doc, key, &doc.node.items_at(key), built)?;
        self.scale_and_tag(doc, built)?;
        self.replacements(doc, built);
        self.tolerated(self.transformers(doc, built))
    }

    /// Evaluates kustomize's own transformers; others are programs.
    fn transformers(&self, doc: &KustomizationDoc, built: &mut Built) -> Outcome {
        for entry in doc.node.items_at("transformers") {
            let place = entry.as_str().map(|text| resolve(&doc.folder, text));
            let is_folder = place
                .as_ref()
                .is_some_and(|place| !self.files.has_file(place) && self.files.has_folder(place));
            let documents = if is_folder {
                Vec::new()
            } else {
                self.patch_documents(doc, &entry, entry.as_str(), &mut built.unread)?
            };
            // Created only if needed, because looking up its line reads the kustomization: the
            // build could then not be reused after a change of that file.
            let unread = || self.plugin(doc, &entry, What::Transformer, "transformers");
            if documents.is_empty() {
                built.unread.push(unread());
            }
            for transformer in &documents {
                if !self.builtin(doc, transformer, built)? {
                    built.unread.push(unread());
                }
            }
        }
        Ok(())
    }

    /// Evaluates a transformer if it is one of kustomize's own (kustomize plugin/builtin), and returns whether it is.
    fn builtin(
        &self,
        doc: &KustomizationDoc,
        transformer: &Node,
        built: &mut Built,
    ) -> Outcome<bool> {
        if transformer.text_at(&["apiVersion"]).as_deref() != Some("builtin") {
            return Ok(false);
        }
        match transformer.text_at(&["kind"]).unwrap_or_default().as_str() {
            "NamespaceTransformer" => {
                let unset_only = transformer.is_true_at(&["unsetOnly"]);
                let namespace = transformer.text_at(&["metadata", "namespace"]);
                let Some(namespace) = namespace else {
                    return Ok(true);
                };
                let by = ("namespace", namespace.as_str(), unset_only);
                UnreadInput::transform(&mut built.unread, by);
                for resource in built.resources_mut() {
                    let id = resource.id();
                    let is_free = !unset_only || id.namespace.is_empty();
                    if is_free && id.effective_namespace() != "_non_namespaceable_" {
                        resource.rename("namespace", namespace.as_str());
                    }
                    if !unset_only {
                        resource.set_namespaces(&namespace);
                    }
                }
            }
            kind @ ("PrefixTransformer" | "SuffixTransformer" | "PrefixSuffixTransformer") => {
                let [prefix, suffix] = [
                    ("prefix", "SuffixTransformer"),
                    ("suffix", "PrefixTransformer"),
                ]
                .map(|(key, other)| {
                    let text = transformer.str_at(&[key]).filter(|_| kind != other);
                    text.unwrap_or_default()
                });
                self.names(doc, prefix, suffix, built)?;
            }
            "LabelTransformer" => {
                self.mark(doc, "labels", &transformer.entries_at(&["labels"]), built)?;
            }
            "AnnotationsTransformer" => {
                let annotations = transformer.entries_at(&["annotations"]);
                self.mark(doc, "annotations", &annotations, built)?;
            }
            "PatchTransformer" | "PatchJson6902Transformer" => {
                let entry = std::slice::from_ref(transformer);
                self.patches(doc, "patches", entry, built)?;
            }
            "ImageTagTransformer" => {
                let image: Vec<Node> = transformer.get("imageTag").into_iter().collect();
                self.tag_all(doc, &image, built)?;
            }
            "ReplicaCountTransformer" => {
                let replica: Vec<Node> = transformer.get("replica").into_iter().collect();
                scale(&replica, built);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the documents of a patch. `text` is the path of its file or the patch itself; without it, `entry` is the
    /// patch. A missing file becomes an unread input if the build may lack it, for example because it is uncommitted.
    fn patch_documents(
        &self,
        doc: &KustomizationDoc,
        entry: &Node,
        text: Option<&str>,
        unread: &mut Vec<UnreadInput>,
    ) -> Outcome<Vec<Node>> {
        let Some(text) = text else {
            return Ok(vec![entry.clone()]);
        };
        let place = resolve(&doc.folder, text);
        let parsed = if self.files.has_file(&place) {
            self.files.parsed(&place)
        } else if text.contains('\n') || text.contains(':') {
            Arc::new(parse_inline(text))
        } else if let Some(missing) = self.elsewhere(doc, entry, text) {
            unread.push(missing);
            return Ok(Vec::new());
        } else {
            return Err(self.failed(doc, Some(entry), format!("{text} does not exist")));
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

    /// Applies `entries` of a list of patches. `key` is the name of the list.
    fn patches(
        &self,
        doc: &KustomizationDoc,
        key: &str,
        entries: &[Node],
        built: &mut Built,
    ) -> Outcome {
        if entries.is_empty() {
            return Ok(());
        }
        let mut index = ResourceIndex::new(std::mem::take(built.resources_mut()));
        for entry in entries {
            let patched = if key == "patchesStrategicMerge" {
                let patches = self.patch_documents(doc, entry, entry.as_str(), &mut built.unread);
                patches.and_then(|patches| {
                    let mut patches = patches.iter();
                    patches.try_for_each(|patch| {
                        self.merge_by_name(doc, entry, patch, &mut index, &mut built.unread)
                    })
                })
            } else {
                self.patch(doc, entry, &mut index, &mut built.unread)
            };
            self.tolerated(patched)?;
        }
        *built.resources_mut() = index.into_resources();
        Ok(())
    }

    /// Applies an entry of `patches` or `patchesJson6902`.
    fn patch(
        &self,
        doc: &KustomizationDoc,
        entry: &Node,
        index: &mut ResourceIndex,
        unread: &mut Vec<UnreadInput>,
    ) -> Outcome {
        let path = entry.text_at(&["path"]);
        let inline = entry.text_at(&["patch"]);
        if let Some(path) = path
            .as_deref()
            .filter(|path| is_remote(path) && !self.files.has_file(&resolve(&doc.folder, path)))
        {
            unread.push(self.remote(doc, entry, path));
            return Ok(());
        }
        let documents = match (&path, &inline) {
            (Some(path), _) => self.patch_documents(doc, entry, Some(path), unread)?,
            (None, Some(text)) => {
                let parsed = parse_inline(text);
                // kustomize reads it as JSON (kustomize plugin/builtin/patchtransformer, `jsonPatchFromBytes`).
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
                return Err(self.failed(doc, Some(entry), "a JSON patch has no target"));
            };
            let operations: Vec<Node> = documents.iter().flat_map(Node::items).collect();
            let weights = operations.iter().map(|one| one.weight(usize::MAX));
            let weight = weights.sum();
            let mut is_found = false;
            for at in index.candidates(target.name()) {
                let Some(resource) = self.selected(doc, entry, &target, index.get(at))? else {
                    continue;
                };
                is_found = true;
                self.take_text(doc, Some(entry), weight, 1)?;
                let patched = json_patched(resource.node.clone(), &operations, self.budget);
                let node = patched.map_err(|reason| {
                    let reason =
                        format!("{} cannot be patched: {reason}", resource.original().key());
                    self.failed(doc, Some(entry), reason)
                })?;
                index.change(at, |mut resource| {
                    resource.record_identity();
                    Some(Resource { node, ..resource })
                });
            }
            if target.may_select_unread(is_found)
                && documents.iter().any(|patch| decides(patch, (true, true)))
            {
                // The operations may be in a file.
                let operations: Vec<String> = operations.iter().map(text_of).collect();
                UnreadInput::transform(unread, (text_of(entry), operations));
            }
            return Ok(());
        }
        for patch in &documents {
            let Some(target) = &target else {
                self.merge_by_name(doc, entry, patch, index, unread)?;
                continue;
            };
            let allowed = (
                entry.is_true_at(&["options", "allowNameChange"]),
                entry.is_true_at(&["options", "allowKindChange"]),
            );
            let weight = patch.weight(usize::MAX);
            let mut is_found = false;
            for at in index.candidates(target.name()) {
                if self.selected(doc, entry, target, index.get(at))?.is_some() {
                    is_found = true;
                    self.take_text(doc, Some(entry), weight, 1)?;
                    index.change(at, |resource| strategically(resource, patch, allowed));
                }
            }
            if target.may_select_unread(is_found) && decides(patch, allowed) {
                UnreadInput::transform(unread, (text_of(entry), text_of(patch)));
            }
        }
        Ok(())
    }

    /// Returns an object if a target selects it.
    fn selected<'r>(
        &self,
        doc: &KustomizationDoc,
        entry: &Node,
        target: &Target,
        resource: Option<&'r Resource>,
    ) -> Outcome<Option<&'r Resource>> {
        let Some(resource) = resource else {
            return Ok(None);
        };
        let selects = target.selects(resource);
        let selects = selects.map_err(|reason| self.failed(doc, Some(entry), reason))?;
        Ok(selects.then_some(resource))
    }

    /// Applies a strategic merge patch that names its object.
    fn merge_by_name(
        &self,
        doc: &KustomizationDoc,
        entry: &Node,
        patch: &Node,
        index: &mut ResourceIndex,
        unread: &mut [UnreadInput],
    ) -> Outcome {
        let Some(id) = ResId::from_node(patch) else {
            return Err(self.failed(doc, Some(entry), "the patch names no object"));
        };
        let Some(at) = index.find(&id) else {
            // The unread inputs may contain its target.
            if unread.is_empty() {
                let reason = format!("the patch targets {}, which does not exist", id.key());
                return Err(self.failed(doc, Some(entry), reason));
            }
            if decides(patch, (false, false)) {
                UnreadInput::transform(unread, text_of(patch));
            }
            return Ok(());
        };
        self.take_text(doc, Some(entry), patch.weight(usize::MAX), 1)?;
        index.change(at, |resource| {
            strategically(resource, patch, (false, false))
        });
        Ok(())
    }

    fn namespace(&self, doc: &KustomizationDoc, built: &mut Built) -> Outcome {
        let Some(namespace) = doc.node.text_at(&["namespace"]) else {
            return Ok(());
        };
        let field = doc.node.get("namespace");
        self.take_text(doc, field.as_ref(), namespace.len(), built.resources.len())?;
        let by = ("namespace", namespace.as_str(), false);
        UnreadInput::transform(&mut built.unread, by);
        for resource in built.resources_mut() {
            let id = resource.id();
            resource.record_identity();
            // Turns every object into a `Node::Map`, even one that keeps its name and namespace: Flux's variables are
            // filled in only in objects that are not `Node::Written` or whose file contains a `$`, and
            // `"\u0024{env}"` in a file is a variable without a `$`.
            let metadata = resource.node.entry_mut("metadata");
            if id.kind == "Namespace" && id.group.is_empty() {
                metadata.set("name", Node::text(namespace.as_str()));
            } else if id.effective_namespace() != "_non_namespaceable_" {
                metadata.set("namespace", Node::text(namespace.as_str()));
            }
            resource.set_namespaces(&namespace);
        }
        let mut known = BTreeSet::new();
        for resource in built.resources.iter() {
            let id = resource.id();
            if !known.insert(id.versioned_key()) {
                let key = id.key();
                let reason = format!("namespace `{namespace}` contains {key} twice");
                return Err(self.failed(doc, field.as_ref(), reason));
            }
        }
        Ok(())
    }

    fn names(
        &self,
        doc: &KustomizationDoc,
        prefix: &str,
        suffix: &str,
        built: &mut Built,
    ) -> Outcome {
        if prefix.is_empty() && suffix.is_empty() {
            return Ok(());
        }
        let added = prefix.len() + suffix.len();
        self.take_text(doc, None, added, built.resources.len())?;
        UnreadInput::transform(&mut built.unread, (prefix, suffix));
        for resource in built.resources_mut() {
            let id = resource.id();
            // kustomize plugin/builtin/prefixtransformer, `prefixFieldSpecsToSkip`.
            let keeps = id.kind == "CustomResourceDefinition"
                || id.kind == "Namespace"
                || (id.kind == "APIService" && id.group == "apiregistration.k8s.io");
            if !keeps {
                resource.rename("name", format!("{prefix}{}{suffix}", id.name));
            }
        }
        Ok(())
    }

    /// Adds the replacements that change the identities of objects, or are in files of their own, to the unread inputs.
    fn replacements(&self, doc: &KustomizationDoc, built: &mut Built) {
        for entry in doc.node.items_at("replacements") {
            let named = entry.text_at(&["path"]);
            let targets = entry.items_at("targets");
            let changes = targets.iter().any(|target| {
                target.texts_at("fieldPaths").iter().any(|path| {
                    matches!(
                        path.as_str(),
                        "metadata.name" | "metadata.namespace" | "kind" | "apiVersion"
                    )
                })
            });
            if changes || named.is_some() {
                let subject = named.as_deref().unwrap_or("replacements");
                let reason = "replacements in names are not evaluated";
                let what = What::Transformer;
                let unread = self.unread(doc, Some(&entry), what, subject, reason);
                built.unread.push(unread);
            }
        }
    }
}

/// Merges a strategic patch into an object; `None` if the patch deletes it. The namespace and the
/// API version stay; `allowed` is whether the name and the kind may change.
fn strategically(mut resource: Resource, patch: &Node, allowed: (bool, bool)) -> Option<Resource> {
    let id = resource.id();
    let (name, kind) = allowed;
    if name || kind {
        resource.record_identity();
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
