//! Images and replicas of a kustomization (kustomize api/filters/imagetag, api/filters/replicacount).

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

    /// Returns the image instead of `image`; `None` if it is another one.
    fn instead_of(&self, image: &str) -> Option<String> {
        let (name, tag, digest) = parts(image);
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
fn parts(image: &str) -> (&str, &str, &str) {
    let (rest, digest) = image.split_at(image.find('@').unwrap_or(image.len()));
    let start = rest.rfind('/').unwrap_or(0);
    let at = rest[start..].find(':').map_or(rest.len(), |at| start + at);
    let (name, tag) = rest.split_at(at);
    (name, tag, digest)
}

impl Build<'_> {
    /// Sets the images and the replicas of a kustomization.
    pub(super) fn scale_and_tag(&self, doc: &KustomizationDoc, built: &mut Built) -> Outcome {
        for entry in doc.node.items_at("replicas") {
            let name = entry.text_at(&["name"]);
            let Some((name, count)) = name.zip(entry.get("count")) else {
                continue;
            };
            for resource in built.resources_mut() {
                let id = resource.id();
                let is_named = *id.name == *name || *resource.original().name == *name;
                if is_named && REPLICATED.contains(&&*id.kind) {
                    let spec = resource.node.entry_mut("spec");
                    spec.set("replicas", count.clone());
                }
            }
        }
        let images = doc.node.items_at("images");
        for image in images.iter().filter_map(NewImage::from_node) {
            for resource in built.resources_mut() {
                let bytes = tagged(resource, &image);
                self.take_text(doc, None, bytes, 1)?;
            }
        }
        Ok(())
    }
}

/// Sets the image of the containers of an object, and returns the bytes of the new texts.
fn tagged(resource: &mut Resource, image: &NewImage) -> usize {
    let mut bytes = 0;
    for path in POD_SPECS {
        let Some(spec) = resource.node.at(path) else {
            continue;
        };
        for list in ["containers", "initContainers"] {
            for (at, container) in spec.items_at(list).iter().enumerate() {
                let new = container.str_at(&["image"]);
                let Some(new) = new.and_then(|old| image.instead_of(old)) else {
                    continue;
                };
                bytes += new.len();
                let mut place = &mut resource.node;
                for key in path {
                    place = place.entry_mut(key);
                }
                place.entry_mut(list).seq_mut()[at].set("image", Node::text(new));
            }
        }
    }
    bytes
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
}
