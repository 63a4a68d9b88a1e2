//! Objects as builds produce them: with the changes of patches and transformers.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use foldhash::{HashMap, HashMapExt};
use serde_json::Value as Json;

use super::content::{same_content, same_node};
use super::immutable::{RejectedField, has_immutable_fields, rejected_fields};
use super::tree::TreePart;
use crate::graph::kustomize::Resource;
use crate::graph::node::Node;
use crate::graph::scopes::ClusterScopes;
use crate::inventory::Member;
use crate::kustomize::SourceTool;
use crate::manifest::{Object, ParsedFile};
use crate::text::{SourceFile, Span};

/// Maximum bytes of a built object whose fields are compared; etcd stores no larger object.
const LARGEST: usize = 4 << 20;

/// Maximum number of levels of a built object whose fields are compared.
const DEPTH: usize = 200;

/// The objects of a build.
#[derive(Debug)]
pub struct BuiltObjects {
    objects: Arc<Vec<Resource>>,
    scopes: Arc<ClusterScopes>,
    /// The folders of the build, and the files that it reads as resources.
    reached: Arc<BTreeSet<String>>,
    /// Indices of the objects by key, found on first use.
    by_key: OnceLock<HashMap<String, usize>>,
    /// Cache: the path of the kustomization whose change makes the build differ between the sides.
    pub(crate) cause: OnceLock<Option<String>>,
}

impl BuiltObjects {
    /// Creates the objects of a build that reads the paths in `reached`.
    pub fn new(
        objects: Arc<Vec<Resource>>,
        reached: Arc<BTreeSet<String>>,
        scopes: Arc<ClusterScopes>,
    ) -> Self {
        Self {
            objects,
            scopes,
            reached,
            by_key: OnceLock::new(),
            cause: OnceLock::new(),
        }
    }

    /// Returns the folders of the build, and the files that it reads as resources.
    pub fn reached(&self) -> &BTreeSet<String> {
        &self.reached
    }

    /// Returns the built object; `None` for one of a rendered chart, whose text is already built.
    fn object(&self, member: &Member) -> Option<&Node> {
        let by_key = self.by_key.get_or_init(|| {
            let mut by_key = HashMap::with_capacity(self.objects.len());
            for (at, object) in self.objects.iter().enumerate() {
                if object.origin.template.is_none() {
                    by_key.insert(self.scopes.key(&object.id()), at);
                }
            }
            by_key
        });
        let at = by_key.get(&member.key.to_string())?;
        Some(&self.objects[*at].node)
    }
}

/// Returns the built object of each side; `None` if a build is unknown or both sides share it.
fn built<'t>(
    (base, old): (&'t TreePart, &Member),
    (head, new): (&'t TreePart, &Member),
) -> Option<(&'t Node, &'t Node)> {
    let (was, is) = (base.build_of(old.file)?, head.build_of(new.file)?);
    if Arc::ptr_eq(&was.objects, &is.objects) {
        return None;
    }
    was.object(old).zip(is.object(new))
}

/// Whether an object is the same on both sides: as built if both builds are known, else as written.
pub(super) fn is_same(old: (&TreePart, &Member), new: (&TreePart, &Member)) -> bool {
    match built(old, new) {
        Some((was, is)) => same_node(was, is),
        None => same_content(&old.1.object, &new.1.object),
    }
}

/// Returns the immutable fields of an object that an update would change. Compares the built
/// objects if both builds are known, else the written ones.
pub fn rejected_between(
    old: (&TreePart, &Member),
    new: (&TreePart, &Member),
) -> Vec<RejectedField> {
    if !has_immutable_fields(new.1.key.group_kind()) {
        return Vec::new();
    }
    let (before, after) = (&old.1.object, &new.1.object);
    let written = rejected_fields(before, after);
    let built = built(old, new).and_then(|(was, is)| json(was).zip(json(is)));
    let Some((mut was, mut is)) = built else {
        return written;
    };
    let [in_base, in_head] = [old, new].map(is_of_flux);
    assume_variables((&mut was, in_base), (&mut is, in_head));
    let [was, is] = [was, is].map(|object| parsed(&object));
    let (Some(old_object), Some(new_object)) = (object_in(&was), object_in(&is)) else {
        return written;
    };
    let rejected = rejected_fields(old_object, new_object).into_iter();
    let text = |(part, member): (&TreePart, &Member), place: Option<Span>| {
        let file = part.inventory.sources.file(member.file);
        place.map(|place| file.slice(place).to_owned())
    };
    let rejected = rejected.map(|built| {
        let known = written.iter().find(|one| one.field == built.field);
        // Both sides have one text: only the values of its variables differ.
        let known = known.cloned().map(|known| RejectedField {
            is_only_built: text(old, known.base) == text(new, known.head),
            ..known
        });
        known.unwrap_or_else(|| {
            let path: Vec<&str> = built.field.split('.').collect();
            let [base, head] =
                [before, after].map(|object| object.at(&path).map(|value| value.span()));
            RejectedField {
                base,
                head,
                is_only_built: true,
                ..built
            }
        })
    });
    rejected.collect()
}

/// Whether Flux applies an object. Flux replaces every variable, so one that remains in a build has
/// its value in a ConfigMap or Secret that is not read.
fn is_of_flux((part, member): (&TreePart, &Member)) -> bool {
    let by = part.destination(member.file).deliverer();
    by.is_some_and(|by| by.tool == SourceTool::Flux)
}

/// Replaces each value with a variable by that of the other side, because they may be equal, or
/// removes it if there is none. `in_base` and `in_head`: whether that side expands variables.
fn assume_variables((was, in_base): (&mut Json, bool), (is, in_head): (&mut Json, bool)) {
    if in_base && has_variable(was) {
        was.clone_from(is);
        return;
    }
    if in_head && has_variable(is) {
        is.clone_from(was);
        return;
    }
    match (was, is) {
        (Json::Object(was), Json::Object(is)) => {
            was.retain(|key, value| is.contains_key(key) || !in_base || !has_variable(value));
            is.retain(|key, value| was.contains_key(key) || !in_head || !has_variable(value));
            for (key, value) in was {
                if let Some(other) = is.get_mut(key) {
                    assume_variables((value, in_base), (other, in_head));
                }
            }
        }
        (Json::Array(was), Json::Array(is)) => {
            for (value, other) in was.iter_mut().zip(is) {
                assume_variables((value, in_base), (other, in_head));
            }
        }
        _ => {}
    }
}

/// Whether `value` is a text that contains a variable, or a map with a variable in a key.
fn has_variable(value: &Json) -> bool {
    match value {
        Json::String(text) => text.contains("${"),
        Json::Object(map) => map.keys().any(|key| key.contains("${")),
        _ => false,
    }
}

/// Converts a built object; `None` if it is too large.
fn json(node: &Node) -> Option<Json> {
    (node.weight(LARGEST) <= LARGEST).then(|| node.to_json(DEPTH))
}

fn parsed(object: &Json) -> ParsedFile {
    ParsedFile::parse(SourceFile::new("built.json", object.to_string()))
}

/// Returns the object in a file that [`parsed`] returned.
fn object_in(file: &ParsedFile) -> Option<&Object> {
    let documents = file.documents().iter();
    let mut objects = documents.flat_map(|document| document.objects());
    objects.next().map(|object| &**object)
}
