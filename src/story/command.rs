//! Addresses objects of a plan in a form that `kubectl` is certain to accept.

use crate::gc::{Cluster, ObjectId};
use crate::kube::GroupKind;
use crate::kube::kubectl::Target;

/// Returns the target with the lower-case kind of a built-in kind, or with the plural of a custom one.
pub(crate) fn target(cluster: &Cluster, id: ObjectId) -> Target {
    let (key, info) = (cluster.key(id), cluster.kind_of(id));
    let name = if info.custom {
        info.plural.clone()
    } else {
        key.kind().to_lowercase()
    };
    Target::new(
        GroupKind::new(key.group(), &name).to_string(),
        &key.name,
        &key.namespace,
    )
}
