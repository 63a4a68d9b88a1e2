//! The objects of a file.

use std::sync::Arc;

use super::build::BuildError;
use super::resource::Resource;
use crate::graph::files::Parsed;
use crate::graph::node::Node;

/// Returns the objects of a file that a build reads.
///
/// # Errors
/// Returns an error if it cannot be read, or if a document is not a complete object.
pub fn objects_of(parsed: &Parsed, place: &str) -> Result<Vec<Resource>, BuildError> {
    let found = match &parsed.error {
        Some((reason, line)) => Err((format!("cannot be read: {reason}"), *line)),
        None => resources_of(parsed, place).map_err(|line| {
            let reason = "has a document that is not a complete object";
            (reason.to_owned(), line)
        }),
    };
    found.map_err(|(reason, line)| BuildError::new(format!("{place} {reason}"), place, line))
}

/// Returns the objects of a file, as far as it can be read; lists are replaced by their items.
/// Fails with the line of a document that is not a complete object.
pub fn resources_of(parsed: &Parsed, place: &str) -> Result<Vec<Resource>, usize> {
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
            None => return Err(line),
        }
    }
    Ok(found)
}
