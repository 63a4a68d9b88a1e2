//! Objects of files as builds apply them: with the values of Flux's variables and the new names of referenced objects.

use std::cell::OnceCell;
use std::sync::Arc;

use foldhash::HashMap;

use crate::graph::kustomize::Resource;
use crate::inventory::BuiltObject;
use crate::manifest::{Object, ParsedFile};
use crate::yaml::{NodeId, Tree, Value, Visited};

/// The beginning of a variable.
const VARIABLE: &str = "${";

/// The objects of files as they are written, by the index of the file.
#[derive(Default)]
pub(super) struct WrittenObjects(HashMap<usize, FileObjects>);

struct FileObjects {
    has_variables: bool,
    /// Cache: the objects by offset.
    objects: OnceCell<HashMap<u32, Arc<Object>>>,
}

impl WrittenObjects {
    /// Sets the applied objects of a file. Each object comes with its content in the build.
    pub(super) fn apply(
        &mut self,
        (at, file): (usize, &ParsedFile),
        built: &mut [(BuiltObject, &Resource)],
    ) {
        let known = self.0.entry(at).or_insert_with(|| FileObjects {
            has_variables: file.source().text().contains(VARIABLE),
            objects: OnceCell::new(),
        });
        // The objects of a list share a document.
        let mut scalars: HashMap<*const Tree, Vec<(NodeId, String)>> = HashMap::default();
        let mut changed = Vec::new();
        for (object, resource) in built {
            if !known.has_variables && resource.references.is_empty() {
                continue;
            }
            let objects = known.objects.get_or_init(|| objects_of(file));
            let Some(written) = objects.get(&object.begins) else {
                continue;
            };
            let found = new_scalars(written.value(), resource);
            if !found.is_empty() {
                let of_document = scalars.entry(Arc::as_ptr(written.tree()));
                of_document.or_default().extend(found);
                changed.push((object, written));
            }
        }
        let mut trees: HashMap<*const Tree, Arc<Tree>> = HashMap::default();
        for (object, written) in changed {
            let document = Arc::as_ptr(written.tree());
            let tree = trees
                .entry(document)
                .or_insert_with(|| Arc::new(written.tree().with_scalars(&scalars[&document])));
            object.object = written.in_tree(tree).map(Arc::new);
        }
    }
}

/// Returns the objects of a file by their offset.
fn objects_of(file: &ParsedFile) -> HashMap<u32, Arc<Object>> {
    let objects = file.documents().iter().flat_map(|one| one.every_object());
    objects
        .map(|object| (object.value().span().start, object))
        .collect()
}

/// Returns the texts with variables, and the names of referenced objects, that a build changes in a written object.
fn new_scalars(written: Value<'_>, built: &Resource) -> Vec<(NodeId, String)> {
    let mut found = Vec::new();
    let mut visited = Visited::default();
    let mut pending = vec![(written, built.node.clone())];
    while let Some((written, node)) = pending.pop() {
        if !visited.is_new(written) {
            continue;
        }
        if let Some(text) = written.as_str() {
            let new = node.as_str().filter(|new| {
                *new != text && (text.contains(VARIABLE) || built.references.contains(*new))
            });
            found.extend(new.map(|new| (written.id(), new.to_owned())));
        } else if written.is_seq() {
            // A patch that adds items shifts the others.
            let items = node.items();
            if items.len() == written.items().count() {
                pending.extend(written.items().zip(items));
            }
        } else {
            let entries = written.entries();
            pending.extend(entries.filter_map(|entry| Some((entry.value, node.get(entry.key)?))));
        }
    }
    found
}
