//! How large an object is as JSON.

use super::event::SyntaxError;
use super::limits::MAX_REQUEST;
use super::tree::{Kind, Tree, Value, Visited};

/// The problem of an object that is too large.
pub(super) const TOO_LARGE: &str = "the object is larger than the 3 MiB that an API server takes";

/// Rejects an object that is too large for any API server. Of a list, which a client takes apart, each item counts by itself; a
/// document without a kind is not applied.
pub(super) fn check(tree: &Tree) -> Result<(), SyntaxError> {
    let root = tree.root();
    // No value takes more than its text, two quotes and a comma.
    let tokens = tree.nodes.len() + tree.entries.len();
    let at_most = root.span().len() as usize + tree.decoded.len() + 3 * tokens;
    if at_most <= MAX_REQUEST || !is_too_large(root, &mut Visited::default()) {
        return Ok(());
    }
    let at = match root.get("kind") {
        None if root.is_map() => return Ok(()),
        Some(kind) if kind.as_str().is_some_and(|kind| kind.ends_with("List")) => {
            match unfit_item(root) {
                Some(item) => item.span().start,
                None => return Ok(()),
            }
        }
        _ => root.span().start,
    };
    Err(SyntaxError::new(at, TOO_LARGE))
}

/// The first item of a list that no client can apply: too large, or nothing like an object.
fn unfit_item(list: Value<'_>) -> Option<Value<'_>> {
    let mut visited = Visited::default();
    list.get("items")?.items().find(|item| {
        let is_empty = item.entries().len() + item.items().len() == 0;
        is_empty || is_too_large(*item, &mut visited)
    })
}

/// Whether the JSON of a value is larger than an API server takes. A value that several aliases name counts once.
fn is_too_large(value: Value<'_>, visited: &mut Visited) -> bool {
    let mut size = 0;
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        if !visited.is_new(value) {
            continue;
        }
        size += json_bytes(value);
        if size > MAX_REQUEST {
            return true;
        }
        pending.extend(value.items());
        for entry in value.entries() {
            size += entry.key.len() + 3;
            pending.push(entry.value);
        }
    }
    false
}

/// At least how many bytes a value takes, with the comma that follows it and without its members.
fn json_bytes(value: Value<'_>) -> usize {
    match value.kind() {
        Kind::String(text) => text.len() + 3,
        Kind::Map => 2 + usize::from(value.entries().len() == 0),
        Kind::Seq => 2 + usize::from(value.items().len() == 0),
        // A number may be written longer than it is.
        Kind::Null | Kind::Bool(_) | Kind::Int(_) | Kind::Uint(_) | Kind::Float(_) => 2,
    }
}
