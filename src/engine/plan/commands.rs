//! What to type to let go of what hangs: one command for each object that holds something up by itself.

use std::collections::{BTreeMap, BTreeSet};

use crate::gc::{Cluster, FOREGROUND_FINALIZER, Hanging, Key, ORPHAN_FINALIZER, Plan};

/// The commands for the objects that hang after the last step. An object that only waits for others has none: theirs
/// frees it.
pub(super) fn commands(plan: &Plan<'_>) -> BTreeMap<Key, String> {
    let Some(last) = plan.steps.len().checked_sub(1) else { return BTreeMap::new() };
    let hanging = plan.hanging(last);
    let stuck: BTreeSet<&Key> = hanging.iter().map(|one| &one.object).collect();
    let commands = hanging.iter().filter_map(|one| {
        let command = command(plan.cluster(), one, &stuck)?;
        Some((one.object.clone(), command))
    });
    commands.collect()
}

fn command(cluster: &Cluster, hanging: &Hanging, stuck: &BTreeSet<&Key>) -> Option<String> {
    let Hanging { object, finalizers, blocking_dependents, content, held_by, kubelet, .. } = hanging;
    if *kubelet {
        return Some(format!("kubectl delete {} --grace-period=0 --force", address(cluster, object)));
    }
    if let Some(holder) = held_by.iter().find(|holder| !stuck.contains(holder)) {
        return Some(format!("kubectl delete {}", address(cluster, holder)));
    }
    let of_collector = |name: &&String| *name == FOREGROUND_FINALIZER || *name == ORPHAN_FINALIZER;
    let (collector, foreign): (Vec<&String>, Vec<&String>) = finalizers.iter().partition(of_collector);
    // A definition's own finalizer goes with its last instance, a protection with its last holder.
    let waits = !content.is_empty() || !held_by.is_empty();
    if !foreign.is_empty() && !waits {
        let left: Vec<String> = collector.iter().map(|name| format!("\"{name}\"")).collect();
        let left = if left.is_empty() { "null".to_owned() } else { format!("[{}]", left.join(",")) };
        let patch = format!("{{\"metadata\":{{\"finalizers\":{left}}}}}");
        return Some(format!("kubectl patch {} --type=merge -p {}", address(cluster, object), quoted(&patch)));
    }
    // [DEL-9]: deleting again in the background strips the collector's finalizer.
    let dependents_hang = blocking_dependents.iter().any(|key| key != object && stuck.contains(key));
    if !collector.is_empty() && !waits && !dependents_hang {
        return Some(format!("kubectl delete {} --cascade=background", address(cluster, object)));
    }
    None
}

/// `configmaps one -n shop`, as kubectl takes it.
fn address(cluster: &Cluster, key: &Key) -> String {
    let plural = cluster.find(key).map_or_else(|| key.kind.to_lowercase(), |id| cluster.kind(id).plural.clone());
    let resource = if key.group.is_empty() { plural } else { format!("{plural}.{}", key.group) };
    let mut text = format!("{} {}", quoted(&resource), quoted(&key.name));
    // `?`: nobody knows where it will be applied.
    if !matches!(key.namespace.as_str(), "" | "?") {
        text.push_str(&format!(" -n {}", quoted(&key.namespace)));
    }
    text
}

/// A word for a POSIX shell: names come from manifests.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/');
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
