//! A safe order in the words of the tool.

use std::collections::BTreeSet;

use super::request::TeardownBy;
use crate::cluster::Preparation;
use crate::delivery::{argocd, marks};
use crate::engine::input::Bundle;
use crate::engine::plan::rehearsal::Rehearsal;
use crate::gc::Step;
use crate::kube::ObjectKey;
use crate::kube::kubectl::{self, Target};
use crate::story::SafeCommand;
use crate::story::words;

/// Objects of one kind beyond which a command says `--all`, if they are all of that kind in the namespace.
const MOST_NAMED: usize = 12;

/// The commands that do the preparations; `teardown` is the one that follows them.
pub(super) fn commands(
    preparations: &[Preparation],
    rehearsal: &Rehearsal,
    by: TeardownBy,
    bundle: &Bundle,
    teardown: &str,
) -> Vec<SafeCommand> {
    let writer = Writer { rehearsal, teardown };
    let delivered: BTreeSet<&ObjectKey> = rehearsal.requests().iter().flat_map(targets).collect();
    let highest = bundle.asked_for().map(argocd::wave).max().unwrap_or(0);
    // The first has the highest wave.
    let waves = (1..=preparations.len() as i64).rev();
    let each = preparations.iter().zip(waves).map(|(preparation, wave)| match preparation {
        Preparation::Delete(keys) if by == TeardownBy::ArgoCd && keys.iter().all(|key| delivered.contains(key)) => {
            writer.wave(keys, highest.saturating_add(wave))
        }
        Preparation::Delete(keys) => writer.delete(keys),
        Preparation::RemoveFinalizers(key, finalizers) => writer.remove_finalizers(key, finalizers),
    });
    each.collect()
}

fn targets(step: &Step) -> &[ObjectKey] {
    match step {
        Step::Delete { targets, .. } => targets,
        _ => &[],
    }
}

struct Writer<'a> {
    rehearsal: &'a Rehearsal,
    teardown: &'a str,
}

impl Writer<'_> {
    fn target(&self, key: &ObjectKey) -> Target {
        self.rehearsal.target(key)
    }

    fn delete(&self, keys: &[ObjectKey]) -> SafeCommand {
        let targets: Vec<Target> = keys.iter().map(|key| self.target(key)).collect();
        let command = match keys.len() > MOST_NAMED && self.are_all_of_their_kinds(keys) {
            true => kubectl::delete_every(&targets, &["--wait"]),
            false => kubectl::delete_several(&targets, &["--wait"]),
        };
        let configurations = keys.iter().all(|key| key.group == "admissionregistration.k8s.io");
        let named = words::keys(keys.iter());
        let why = match configurations {
            true => format!("{named} would reject requests once what serves it is gone."),
            false => format!(
                "{named}: delete while the controllers that release them still run and may; `{}` would leave them behind.",
                self.teardown
            ),
        };
        SafeCommand { command, why }
    }

    /// Whether the cluster has no other objects of these kinds in their namespace.
    fn are_all_of_their_kinds(&self, keys: &[ObjectKey]) -> bool {
        let chosen: BTreeSet<&ObjectKey> = keys.iter().collect();
        let alike = |one: &ObjectKey| {
            keys.iter().any(|key| key.group_kind() == one.group_kind() && key.namespace == one.namespace)
        };
        let cluster = self.rehearsal.cluster();
        cluster.ids().map(|id| cluster.key(id)).filter(alike).all(|key| chosen.contains(&key))
    }

    fn wave(&self, keys: &[ObjectKey], wave: i64) -> SafeCommand {
        let targets: Vec<Target> = keys.iter().map(|key| self.target(key)).collect();
        let annotation = format!("{}={wave}", marks::ARGOCD_SYNC_WAVE);
        SafeCommand {
            command: kubectl::annotate(&targets, &annotation),
            why: format!(
                "Argo CD deletes the highest wave first and waits for it, so {} are gone before the controllers that release \
                 them. Write the wave into git too: a sync would undo the annotation.",
                words::keys(keys.iter())
            ),
        }
    }

    fn remove_finalizers(&self, key: &ObjectKey, finalizers: &[String]) -> SafeCommand {
        let stored = self.rehearsal.finalizers(key);
        SafeCommand {
            command: kubectl::remove_finalizers(&self.target(key), &stored, finalizers),
            why: format!(
                "Nothing in the input removes {} of {}. Make sure that no other controller does: what it would clean up stays behind.",
                finalizers.iter().map(|name| crate::text::plain::one_line(name)).collect::<Vec<_>>().join(", "),
                words::key(key)
            ),
        }
    }
}
