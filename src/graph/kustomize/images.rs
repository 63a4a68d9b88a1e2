//! Images and replicas of a kustomization (kustomize api/filters/imagetag, api/filters/replicacount).

use std::collections::BTreeMap;

use super::build::{Build, Built, Outcome};
use super::doc::KustomizationDoc;
use super::resource::Resource;
use crate::graph::node::Node;

/// The fields in which objects have the `spec` of a Pod.
const POD_SPECS: [&[&str]; 3] = [
    &["spec"],
    &["spec", "template", "spec"],
    &["spec", "jobTemplate", "spec", "template", "spec"],
];

/// The kinds whose replicas kustomize sets.
const REPLICATED: [&str; 4] = [
    "Deployment",
    "ReplicationController",
    "ReplicaSet",
    "StatefulSet",
];

/// A new name, tag or digest of an image.
struct NewImage {
    name: String,
    new_name: Option<String>,
    new_tag: Option<String>,
    tag_suffix: String,
    digest: Option<String>,
}

impl NewImage {
    fn from_node(entry: &Node) -> Option<Self> {
        let scalar = |key: &str| entry.get(key).and_then(|value| value.scalar());
        let [new_name, new_tag, digest] =
            ["newName", "newTag", "digest"].map(|key| scalar(key).filter(|text| !text.is_empty()));
        Some(Self {
            name: entry.text_at(&["name"])?,
            new_name,
            new_tag,
            tag_suffix: scalar("tagSuffix").unwrap_or_default(),
            digest,
        })
    }

    /// Returns the replacement for `image`; `None` if `image` has another name.
    fn instead_of(&self, image: &str) -> Option<String> {
        let (name, tag, digest) = image_parts(image);
        if name != self.name {
            return None;
        }
        let name = self.new_name.as_deref().unwrap_or(name);
        let (tag, digest) = match (&self.new_tag, &self.digest) {
            (None, None) => (tag.to_owned(), digest.to_owned()),
            (new_tag, new_digest) => {
                let tag = new_tag.as_ref().map(|tag| format!(":{tag}"));
                let digest = new_digest.as_ref().map(|digest| format!("@{digest}"));
                (tag.unwrap_or_default(), digest.unwrap_or_default())
            }
        };
        let suffix = if tag.is_empty() { "" } else { &self.tag_suffix };
        Some([name, &tag, suffix, &digest].concat())
    }
}

/// Splits an image into its name, its tag with the colon, and its digest with the sign.
pub(in crate::graph) fn image_parts(image: &str) -> (&str, &str, &str) {
    let (rest, digest) = image.split_at(image.find('@').unwrap_or(image.len()));
    let start = rest.rfind('/').unwrap_or(0);
    let at = rest[start..].find(':').map_or(rest.len(), |at| start + at);
    let (name, tag) = rest.split_at(at);
    (name, tag, digest)
}

/// The images of a kustomization by name, each with its index among all images.
#[derive(Default)]
struct NewImages(BTreeMap<String, Vec<(usize, NewImage)>>);

impl NewImages {
    fn new(entries: &[Node]) -> Self {
        let mut all = Self::default();
        for (at, image) in entries.iter().filter_map(NewImage::from_node).enumerate() {
            let named = all.0.entry(image.name.clone()).or_default();
            named.push((at, image));
        }
        all
    }

    /// Replaces an image by each entry that names it, in turn. Returns the last image and the bytes of all; `None` if no
    /// entry names it.
    fn instead_of(&self, image: &str) -> Option<(String, usize)> {
        let (mut last, mut bytes, mut next) = (None::<String>, 0, 0);
        loop {
            let image = last.as_deref().unwrap_or(image);
            let Some((at, new)) = self.named(image_parts(image).0, next) else {
                return Some((last?, bytes));
            };
            let new = new.instead_of(image)?;
            bytes += new.len();
            (last, next) = (Some(new), at + 1);
        }
    }

    /// Returns the first entry for `name` at or after index `start`, with its index.
    fn named(&self, name: &str, start: usize) -> Option<(usize, &NewImage)> {
        let named = self.0.get(name)?;
        let (at, image) = named.get(named.partition_point(|(at, _)| *at < start))?;
        Some((*at, image))
    }
}

impl Build<'_> {
    /// Sets the images and the replicas of a kustomization.
    pub(super) fn scale_and_tag(&self, doc: &KustomizationDoc, built: &mut Built) -> Outcome {
        scale(&doc.node.items_at("replicas"), built);
        self.tag_all(doc, &doc.node.items_at("images"), built)
    }

    /// Sets the images of `entries`.
    pub(super) fn tag_all(
        &self,
        doc: &KustomizationDoc,
        entries: &[Node],
        built: &mut Built,
    ) -> Outcome {
        let images = NewImages::new(entries);
        if images.0.is_empty() {
            return Ok(());
        }
        for resource in built.resources_mut() {
            self.tag(doc, resource, &images)?;
        }
        Ok(())
    }

    /// Sets the images of the containers of an object, and takes their bytes from the budget.
    fn tag(&self, doc: &KustomizationDoc, resource: &mut Resource, images: &NewImages) -> Outcome {
        for path in POD_SPECS {
            let Some(spec) = resource.node.at(path) else {
                continue;
            };
            for list in ["containers", "initContainers"] {
                for (at, container) in spec.items_at(list).iter().enumerate() {
                    let new = container.str_at(&["image"]);
                    let Some((new, bytes)) = new.and_then(|old| images.instead_of(old)) else {
                        continue;
                    };
                    self.take_text(doc, None, bytes, 1)?;
                    let mut place = &mut resource.node;
                    for key in path {
                        place = place.entry_mut(key);
                    }
                    place.entry_mut(list).seq_mut()[at].set("image", Node::text(new));
                }
            }
        }
        Ok(())
    }
}

/// Sets replicas; of several entries for an object, the last counts.
pub(super) fn scale(entries: &[Node], built: &mut Built) {
    let mut counts = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        if let Some((name, count)) = entry.text_at(&["name"]).zip(entry.get("count")) {
            counts.insert(name, (at, count));
        }
    }
    if counts.is_empty() {
        return;
    }
    for resource in built.resources_mut() {
        let id = resource.id();
        if !REPLICATED.contains(&&*id.kind) {
            continue;
        }
        let names = [id.name, resource.original().name];
        let found = names.iter().filter_map(|name| counts.get(name.as_str()));
        if let Some((_, count)) = found.max_by_key(|(at, _)| *at) {
            let spec = resource.node.entry_mut("spec");
            spec.set("replicas", count.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_renamed_as_by_kustomize() {
        let image = |new_tag: Option<&str>, digest: Option<&str>| NewImage {
            name: "host:5000/web".to_owned(),
            new_name: Some("other/web".to_owned()),
            new_tag: new_tag.map(str::to_owned),
            tag_suffix: String::new(),
            digest: digest.map(str::to_owned),
        };
        let cases = [
            (None, None, "host:5000/web:1", Some("other/web:1")),
            (Some("2"), None, "host:5000/web", Some("other/web:2")),
            (
                Some("2"),
                None,
                "host:5000/web:1@sha256:a",
                Some("other/web:2"),
            ),
            (
                None,
                Some("sha256:b"),
                "host:5000/web:1",
                Some("other/web@sha256:b"),
            ),
            (Some("2"), None, "host:5000/web-api:1", None),
            (Some("2"), None, "web:1", None),
        ];
        for (tag, digest, old, expected) in cases {
            assert_eq!(
                image(tag, digest).instead_of(old).as_deref(),
                expected,
                "{old}"
            );
        }
    }

    #[test]
    fn images_are_replaced_in_the_order_of_their_entries() {
        let images = [("a", "b"), ("c", "d"), ("b", "c"), ("a", "x")];
        let entries: Vec<Node> = images
            .iter()
            .map(|(name, new)| {
                let mut entry = Node::empty_map();
                entry.set("name", Node::text(*name));
                entry.set("newName", Node::text(*new));
                entry
            })
            .collect();
        let images = NewImages::new(&entries);
        let image = |old| images.instead_of(old).map(|(image, _)| image);
        assert_eq!(image("a:1").as_deref(), Some("c:1"));
        assert_eq!(image("c:1").as_deref(), Some("d:1"));
        assert_eq!(image("d:1"), None);
    }
}
