//! Objects in which Flux replaces variables.

use std::sync::Arc;

use foldhash::HashMap;

use crate::graph::node::Node;
use crate::manifest::{Object, ParsedFile};
use crate::yaml::{NodeId, Value, Visited};

/// The beginning of a variable.
const VARIABLE: &str = "${";

/// The objects that contain variables, by the index of their file and their offset in it.
#[derive(Debug, Default)]
pub(super) struct WithVariables(HashMap<usize, HashMap<u32, Arc<Object>>>);

impl WithVariables {
    /// Returns the object at an offset of a file with the values that its variables have in a build; `None` if it has no
    /// variables.
    pub(super) fn replaced(
        &mut self,
        (at, file): (usize, &ParsedFile),
        begins: u32,
        built: &Node,
    ) -> Option<Arc<Object>> {
        let objects = self.0.entry(at).or_insert_with(|| objects_of(file));
        let written = objects.get(&begins)?;
        let scalars = values(written.value(), built);
        written.with_scalars(&scalars).map(Arc::new)
    }
}

/// Returns the objects of a file that contain variables, by their offset.
fn objects_of(file: &ParsedFile) -> HashMap<u32, Arc<Object>> {
    let text = file.source().text();
    if !text.contains(VARIABLE) {
        return HashMap::default();
    }
    let objects = file.documents().iter().flat_map(|one| one.every_object());
    let with_variables = objects.filter(|object| {
        let written = text.get(object.value().span().range());
        written.is_some_and(|written| written.contains(VARIABLE))
    });
    with_variables
        .map(|object| (object.value().span().start, object))
        .collect()
}

/// Returns the texts with variables of a written value that are others in its build.
fn values(written: Value<'_>, built: &Node) -> Vec<(NodeId, String)> {
    let mut values = Vec::new();
    let mut visited = Visited::default();
    let mut pending = vec![(written, built.clone())];
    while let Some((written, built)) = pending.pop() {
        if !visited.is_new(written) {
            continue;
        }
        if let Some(text) = written.as_str() {
            let value = built.as_str().filter(|value| *value != text);
            if let Some(value) = value.filter(|_| text.contains(VARIABLE)) {
                values.push((written.id(), value.to_owned()));
            }
        } else if written.is_seq() {
            // A patch that adds items shifts the others.
            let items = built.items();
            if items.len() == written.items().count() {
                pending.extend(written.items().zip(items));
            }
        } else {
            let entries = written.entries();
            pending.extend(entries.filter_map(|entry| Some((entry.value, built.get(entry.key)?))));
        }
    }
    values
}
