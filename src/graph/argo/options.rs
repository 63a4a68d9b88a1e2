//! The options of `spec.source.kustomize`: edits of a kustomization before it is built (argo-cd
//! util/kustomize/kustomize.go, Build; kustomize commands/edit).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::environment::Environment;
use crate::graph::files::{TreeFiles, parse_inline};
use crate::graph::kustomize::{KustomizationDoc, image_parts};
use crate::graph::node::{Entries, Node};

/// The placeholder for a part of an image that the kustomization keeps.
const KEPT: &str = "*";

/// The options of a source.
pub(super) struct KustomizeOptions<'o> {
    pub(super) node: &'o Node,
    pub(super) environment: Environment,
}

impl KustomizeOptions<'_> {
    /// Edits a kustomization. Fails if Argo CD refuses an option and builds nothing.
    pub(super) fn edit(
        &self,
        doc: &mut KustomizationDoc,
        files: &TreeFiles<'_>,
    ) -> Result<(), String> {
        let fields = ["namePrefix", "nameSuffix", "namespace"].map(|field| (field, field));
        doc.add(self.node, &fields, &["patches"], files);
        self.set_images(doc)?;
        self.set_replicas(doc)?;
        self.add_labels(doc)?;
        let expands = self.node.is_true_at(&["commonAnnotationsEnvsubst"]);
        let force = self.node.is_true_at(&["forceCommonAnnotations"]);
        let annotations = self.marks("commonAnnotations", expands);
        if annotations.is_empty() {
            return Ok(());
        }
        add(doc.node.entry_mut("commonAnnotations"), annotations, force)
    }

    /// Sets images as `kustomize edit set image` does: the result is sorted by name.
    fn set_images(&self, doc: &mut KustomizationDoc) -> Result<(), String> {
        let written = self.node.texts_at("images");
        if written.is_empty() {
            return Ok(());
        }
        let mut images = BTreeMap::new();
        for text in written {
            let text = self.environment.expand(&text);
            let image =
                image(&text).ok_or_else(|| format!("the image `{text}` changes nothing"))?;
            images.insert(image.text_at(&["name"]), image);
        }
        let parts = ["newName", "newTag", "digest"];
        for known in doc.node.items_at("images") {
            match images.entry(known.text_at(&["name"])) {
                Entry::Vacant(place) => {
                    place.insert(known);
                }
                Entry::Occupied(mut image) => {
                    let image = image.get_mut();
                    for part in parts {
                        if image.str_at(&[part]) == Some(KEPT) {
                            image.set(part, known.get(part).unwrap_or(Node::Null));
                        }
                    }
                }
            }
        }
        let mut images: Vec<Node> = images.into_values().collect();
        for image in &mut images {
            for part in parts {
                if image.str_at(&[part]) == Some(KEPT) {
                    image.remove(part);
                }
            }
        }
        *doc.node.entry_mut("images").seq_mut() = images;
        Ok(())
    }

    /// Sets replicas, and removes those of the same objects.
    fn set_replicas(&self, doc: &mut KustomizationDoc) -> Result<(), String> {
        for entry in self.node.items_at("replicas") {
            let name = entry.text_at(&["name"]).unwrap_or_default();
            let count = entry.get("count").and_then(|count| count.scalar());
            let count: i64 = count
                .map_or(Ok(0), |count| count.parse())
                .map_err(|_| format!("the replicas of `{name}` are not a number"))?;
            let count = parse_inline(&count.to_string())
                .documents
                .into_iter()
                .next();
            let mut replica = Node::empty_map();
            replica.set("name", Node::text(name.as_str()));
            replica.set("count", count.unwrap_or(Node::Null));
            let all = doc.node.entry_mut("replicas").seq_mut();
            all.retain(|one| one.text_at(&["name"]).unwrap_or_default() != name);
            all.push(replica);
        }
        Ok(())
    }

    fn add_labels(&self, doc: &mut KustomizationDoc) -> Result<(), String> {
        let labels = self.marks("commonLabels", true);
        if labels.is_empty() {
            return Ok(());
        }
        let force = self.node.is_true_at(&["forceCommonLabels"]);
        let [bare, in_templates] = ["labelWithoutSelector", "labelIncludeTemplates"]
            .map(|option| self.node.is_true_at(&[option]));
        match (bare, in_templates) {
            (false, true) => Err("labelIncludeTemplates needs labelWithoutSelector".to_owned()),
            (false, false) => add(doc.node.entry_mut("commonLabels"), labels, force),
            (true, _) => {
                let all = doc.node.entry_mut("labels").seq_mut();
                let alike = all.iter().position(|one| {
                    !one.is_true_at(&["includeSelectors"])
                        && one.is_true_at(&["includeTemplates"]) == in_templates
                });
                let at = alike.unwrap_or(all.len());
                if at == all.len() {
                    let mut new = Node::empty_map();
                    new.set("includeTemplates", Node::Bool(in_templates));
                    all.push(new);
                }
                add(all[at].entry_mut("pairs"), labels, force)
            }
        }
    }

    /// Returns labels or annotations, with variables if `expands`.
    fn marks(&self, field: &str, expands: bool) -> Entries {
        let marks = self.node.entries_at(&[field]).into_iter();
        let marks = marks.map(|(key, value)| match value.scalar().filter(|_| expands) {
            Some(text) => (key, Node::text(self.environment.expand(&text))),
            None => (key, value),
        });
        marks.collect()
    }
}

/// Adds labels or annotations. Fails if one exists already, unless `force` is set.
fn add(place: &mut Node, marks: Entries, force: bool) -> Result<(), String> {
    for (key, value) in marks {
        if !force && place.get(&key).is_some() {
            return Err(format!("the kustomization already sets `{key}`"));
        }
        place.set(&key, value);
    }
    Ok(())
}

/// Reads an image such as `web=example.org/web:2@sha256:…` as an entry of `images`; `None` if it is only a name
/// (kustomize commands/edit/set/setimage.go, parse).
fn image(text: &str) -> Option<Node> {
    let (old, new) = text.split_once('=').unwrap_or(("", text));
    let (name, tag, digest) = image_parts(new);
    if name == text {
        return None;
    }
    let (old, new) = if old.is_empty() {
        (name, "")
    } else {
        (old, name)
    };
    let mut image = Node::empty_map();
    image.set("name", Node::text(old));
    let tag = tag.trim_start_matches(':');
    let digest = digest.trim_start_matches('@');
    for (part, text) in [("newName", new), ("newTag", tag), ("digest", digest)] {
        if !text.is_empty() {
            image.set(part, Node::text(text));
        }
    }
    Some(image)
}
