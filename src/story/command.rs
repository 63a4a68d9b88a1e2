//! `kubectl` commands about one object, ready to be pasted into a shell.
//!
//! Names come from manifests: each is quoted for the shell wherever it is not plainly harmless, and can never become an
//! option. A name with control characters is shown with pictures in their place; such a command does nothing.

use crate::gc::{Cluster, ObjectId};
use crate::kube::ObjectKey;
use crate::text::plain;

/// `kubectl VERB TYPE NAME -n NAMESPACE`.
pub(crate) fn kubectl(verb: &str, cluster: &Cluster, id: ObjectId) -> String {
    let key = cluster.key(id);
    let name =
        if key.name.starts_with('-') { format!("/{}", quoted(&key.name)) } else { format!(" {}", quoted(&key.name)) };
    format!("kubectl {verb} {}{name}{}", quoted(&resource(cluster, id, &key)), namespace(&key))
}

/// The type as `kubectl` takes it for certain: the lower-case kind of a built-in kind, the plural of a custom one.
fn resource(cluster: &Cluster, id: ObjectId, key: &ObjectKey) -> String {
    let info = cluster.kind_of(id);
    let name = if info.custom { info.plural.clone() } else { key.kind.to_lowercase() };
    if key.group.is_empty() { name } else { format!("{name}.{}", key.group) }
}

fn namespace(key: &ObjectKey) -> String {
    match key.namespace.name() {
        // What nobody wrote is the namespace of the user's context.
        None => String::new(),
        Some(namespace) => format!(" -n {}", quoted(namespace)),
    }
}

/// Removes some of `stored`, by position; the patch fails where another finalizer has taken a position meanwhile.
pub(crate) fn without_finalizers(cluster: &Cluster, id: ObjectId, stored: &[String], remove: &[String]) -> String {
    let doomed = stored.iter().enumerate().filter(|(_, name)| remove.contains(name));
    // From the end: removing one moves those behind it.
    let operations = doomed.rev().flat_map(|(at, name)| {
        let path = format!("/metadata/finalizers/{at}");
        let value = serde_json::Value::from(name.as_str());
        [format!(r#"{{"op":"test","path":"{path}","value":{value}}}"#), format!(r#"{{"op":"remove","path":"{path}"}}"#)]
    });
    let operations: Vec<String> = operations.collect();
    let patch = format!("[{}]", operations.join(","));
    format!("{} --type=json -p {}", kubectl("patch", cluster, id), quoted(&patch))
}

/// Takes a token out of the `spec.finalizers` of a Namespace; only its subresource accepts that.
pub(crate) fn without_spec_finalizer(namespace: &str, token: &str) -> String {
    let filter = format!("del(.spec.finalizers[] | select(. == {}))", serde_json::Value::from(token));
    format!(
        "kubectl get namespace {} -o json | jq {} | kubectl replace --raw {} -f -",
        quoted(namespace),
        quoted(&filter),
        quoted(&format!("/api/v1/namespaces/{namespace}/finalize")),
    )
}

/// One word for a POSIX shell.
fn quoted(text: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':');
    if !text.is_empty() && text.chars().all(harmless) {
        return text.to_owned();
    }
    format!("'{}'", plain::one_line(text).replace('\'', r"'\''"))
}
