//! Strategic merge and JSON patches, as far as they affect the identity and metadata of objects.
//!
//! Lists are merged by key only where that changes metadata (finalizers, owner references); every other list is
//! replaced. kustomize merges the lists of known kinds, and replaces those of other kinds, such as Flux's.

use foldhash::HashSet;

use super::budget::Budget;
use crate::graph::node::Node;

/// Maximum depth of a merge; deeper values are replaced.
const DEEPEST: usize = 100;

/// Merges a strategic patch into an object; `None` if the patch deletes it.
pub fn merged(mut object: Node, patch: &Node) -> Option<Node> {
    let stays = merge(&mut object, patch, &mut Vec::new());
    stays.then_some(object)
}

/// Whether a patch may delete an object or change its identity. `name` and `kind` are whether a
/// strategic patch may change these.
pub(super) fn decides(patch: &Node, (name, kind): (bool, bool)) -> bool {
    if !patch.is_seq() {
        return patch.get("$patch").is_some()
            || name && patch.at(&["metadata", "name"]).is_some()
            || kind && patch.get("kind").is_some();
    }
    let operations = patch.items();
    let mut paths = operations
        .iter()
        .flat_map(|operation| ["path", "from"].map(|key| operation.str_at(&[key])))
        .flatten();
    paths.any(|path| {
        let identity = [
            "apiVersion",
            "kind",
            "metadata",
            "metadata/name",
            "metadata/namespace",
            "",
        ];
        identity.contains(&path.trim_matches('/'))
    })
}

/// Returns a patch as text.
pub(super) fn text_of(patch: &Node) -> String {
    patch.to_json(DEEPEST).to_string()
}

/// Merges `patch` into a value. Returns `false` if the patch deletes the value.
fn merge(into: &mut Node, patch: &Node, path: &mut Vec<String>) -> bool {
    match patch
        .get("$patch")
        .and_then(|word| word.scalar())
        .as_deref()
    {
        Some("delete") => return false,
        Some("replace") => {
            let mut replaced = patch.clone();
            replaced.remove("$patch");
            *into = replaced;
            return true;
        }
        _ => {}
    }
    let mut removed = HashSet::default();
    for (key, value) in patch.entries() {
        if key.starts_with("$") {
            continue;
        }
        if value.is_null() {
            removed.insert(key);
            continue;
        }
        let is_merged = value.is_map() && path.len() < DEEPEST;
        let place = into.entry_mut(&key);
        if value.is_seq() && path.as_slice() == ["metadata"] && place.is_seq() {
            let mut known: HashSet<_> = place.items().iter().map(identity).collect();
            let new = value.items().into_iter();
            let new = new.filter(|item| known.insert(identity(item)));
            place.seq_mut().extend(new);
        } else if is_merged {
            path.push(key.to_string());
            if !place.is_map() {
                *place = Node::empty_map();
            }
            let stays = merge(place, &value, path);
            path.pop();
            if !stays {
                removed.insert(key);
            }
        } else {
            *place = value;
        }
    }
    if !removed.is_empty() && into.is_map() {
        into.map_mut().retain(|key, _| !removed.contains(key));
    }
    true
}

/// Returns the merge key of an item in a list of metadata: an owner's uid, or the text itself.
fn identity(item: &Node) -> (bool, Option<String>) {
    let text = if item.is_map() {
        item.text_at(&["uid"])
    } else {
        item.scalar()
    };
    (item.is_map(), text)
}

/// Applies a JSON patch to an object. Nothing is built if an operation cannot be applied, or if copies of values are
/// beyond the budget.
pub(super) fn json_patched(
    mut object: Node,
    operations: &[Node],
    budget: &Budget,
) -> Result<Node, String> {
    // During a build, kustomize adds annotations of its own to every object.
    let metadata = object
        .get("metadata")
        .filter(|metadata| metadata.get("annotations").is_none());
    if metadata.is_some_and(|metadata| metadata.is_map()) {
        let annotations = Node::empty_map();
        object.entry_mut("metadata").set("annotations", annotations);
        let mut patched = json_patched(object, operations, budget)?;
        let metadata = patched.entry_mut("metadata");
        if metadata
            .get("annotations")
            .is_some_and(|all| all.entries().is_empty())
        {
            metadata.remove("annotations");
        }
        return Ok(patched);
    }
    for operation in operations {
        let [op, from, place] =
            ["op", "from", "path"].map(|key| operation.str_at(&[key]).unwrap_or_default());
        let (from, path) = (pointer(from), pointer(place));
        let value = operation.get("value").unwrap_or(Node::Null);
        match op {
            "add" => put(&mut object, &path, value, true)?,
            "replace" => put(&mut object, &path, value, false)?,
            "remove" => drop(take(&mut object, &path)?),
            "copy" => {
                let found = find(&object, &from).unwrap_or(Node::Null);
                budget.take_text(found.weight(budget.text_left()))?;
                put(&mut object, &path, found, true)?;
            }
            "move" => {
                let moved = take(&mut object, &from)?;
                put(&mut object, &path, moved, true)?;
            }
            "test" => {
                let found = find(&object, &path).map(|found| found.to_json(DEEPEST));
                if found != Some(value.to_json(DEEPEST)) {
                    return Err(format!("the test of {place} fails"));
                }
            }
            other => return Err(format!("`{other}` is not an operation of a JSON patch")),
        }
    }
    Ok(object)
}

fn missing(path: &str) -> String {
    format!("{path} does not exist")
}

fn pointer(text: &str) -> Vec<String> {
    let parts = text.split('/').skip(1);
    parts
        .map(|part| part.replace("~1", "/").replace("~0", "~"))
        .collect()
}

fn find(object: &Node, path: &[String]) -> Option<Node> {
    path.iter().try_fold(object.clone(), |value, part| {
        if value.is_seq() {
            value.item(part.parse().ok()?)
        } else {
            value.get(part)
        }
    })
}

/// Returns the value at `path` for modification.
fn parent<'n>(object: &'n mut Node, path: &[String]) -> Result<&'n mut Node, String> {
    let mut place = object;
    for part in path {
        place = if place.is_seq() {
            let at: usize = part.parse().map_err(|_| missing(part))?;
            place.seq_mut().get_mut(at).ok_or_else(|| missing(part))?
        } else {
            if place.get(part).is_none() {
                return Err(missing(&format!("/{}", path.join("/"))));
            }
            place.entry_mut(part)
        };
    }
    Ok(place)
}

/// Sets a value at `path`; with `inserts`, it becomes a new item if the place is in a list.
fn put(object: &mut Node, path: &[String], value: Node, inserts: bool) -> Result<(), String> {
    let Some((last, above)) = path.split_last() else {
        *object = value;
        return Ok(());
    };
    let place = parent(object, above)?;
    if place.is_map() {
        // A missing key is added.
        place.set(last, value);
        return Ok(());
    }
    if !place.is_seq() {
        return Err(missing(&format!("/{}", path.join("/"))));
    }
    let list = place.seq_mut();
    let at = match last.as_str() {
        "-" if inserts => list.len(),
        number => number.parse().map_err(|_| missing(number))?,
    };
    if at > list.len() || at == list.len() && !inserts {
        return Err(missing(last));
    }
    if inserts {
        list.insert(at, value);
    } else {
        list[at] = value;
    }
    Ok(())
}

fn take(object: &mut Node, path: &[String]) -> Result<Node, String> {
    let found = find(object, path).ok_or_else(|| missing(&format!("/{}", path.join("/"))))?;
    let Some((last, above)) = path.split_last() else {
        return Err("a whole object cannot be removed".to_owned());
    };
    let place = parent(object, above)?;
    if place.is_seq() {
        let at: usize = last.parse().map_err(|_| missing(last))?;
        place.seq_mut().remove(at);
    } else {
        place.remove(last);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::graph::files::parse_inline;
    use crate::text::Limits;

    /// Applies one operation to an object without annotations, or returns whether kustomize refuses it (kustomize
    /// 5.8.1, measured).
    #[test]
    fn json_patch_operations_match_kustomize() {
        let object = json!({"kind": "ConfigMap", "metadata": {"name": "a"}, "l": [1], "m": {}});
        for (operation, made) in [
            (
                json!({"op": "replace", "path": "/m/x", "value": 1}),
                Some(json!({"m": {"x": 1}})),
            ),
            (
                json!({"op": "replace", "path": "/a", "value": 1}),
                Some(json!({"a": 1})),
            ),
            (json!({"op": "replace", "path": "/a/x", "value": 1}), None),
            (json!({"op": "replace", "path": "/l/4", "value": 1}), None),
            (
                json!({"op": "add", "path": "/l/1", "value": 2}),
                Some(json!({"l": [1, 2]})),
            ),
            (json!({"op": "add", "path": "/l/2", "value": 2}), None),
            (json!({"op": "add", "path": "/a/b", "value": 2}), None),
            (
                json!({"op": "add", "path": "/metadata/labels/x", "value": "y"}),
                None,
            ),
            (
                json!({"op": "add", "path": "/metadata/annotations/x", "value": "y"}),
                Some(json!({"metadata": {"name": "a", "annotations": {"x": "y"}}})),
            ),
            (
                json!({"op": "remove", "path": "/metadata/annotations"}),
                Some(json!({})),
            ),
            (json!({"op": "remove", "path": "/m/x"}), None),
            (
                json!({"op": "copy", "path": "/m/x", "from": "/q"}),
                Some(json!({"m": {"x": null}})),
            ),
            (json!({"op": "move", "path": "/m/x", "from": "/q"}), None),
        ] {
            let budget = Budget::new(&Limits::default());
            let [object_node, operation_node] = [&object, &operation]
                .map(|json| parse_inline(&json.to_string()).documents[0].clone());
            let patched = json_patched(object_node, &[operation_node], &budget);
            let expected = made.map(|changes| {
                let mut expected = object.clone();
                if let (Value::Object(all), Value::Object(changes)) = (&mut expected, changes) {
                    all.extend(changes);
                }
                expected
            });
            assert_eq!(
                patched.ok().map(|node| node.to_json(9)),
                expected,
                "{operation}"
            );
        }
    }
}
