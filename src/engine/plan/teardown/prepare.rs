//! Writes a safe order as commands.

use std::collections::BTreeSet;

use super::request::TeardownBy;
use super::withdraw::{Withdrawn, cascade_option};
use crate::cluster::{Analysis, Preparation};
use crate::delivery::{argocd, marks};
use crate::engine::plan::clusters::PlannedCluster;
use crate::engine::plan::planner::Planner;
use crate::gc::Step;
use crate::kube::kubectl::{self, Target};
use crate::kube::{ObjectKey, kinds};
use crate::ownership::Remover;
use crate::story::SafeCommand;
use crate::story::words;

/// Maximum number of objects that a command names instead of `--all`, if their namespaces contain no others of their
/// kinds.
const MAX_NAMED: usize = 12;

/// Returns the commands for the preparations; `removal` is the removal that follows them.
pub(super) fn commands(
    preparations: &[Preparation],
    planner: &Planner,
    by: TeardownBy,
    (cluster, analysis): (PlannedCluster<'_>, &Analysis<'_>),
    removal: &Withdrawn<'_>,
) -> Vec<SafeCommand> {
    let asked = cluster.asked_for().map(|member| &member.key).collect();
    let writer = Writer {
        planner,
        analysis,
        removal,
        asked,
    };
    let delivered: BTreeSet<&ObjectKey> = planner.requests().iter().flat_map(targets).collect();
    let highest = cluster.asked_for().map(argocd::wave).max().unwrap_or(0);
    // Waves take effect during the removal, so only the last preparations can be waves.
    let last = preparations.iter().rev();
    let last = last.take_while(|preparation| match preparation {
        Preparation::Delete(keys) => {
            by == TeardownBy::ArgoCd && keys.iter().all(|key| delivered.contains(key))
        }
        Preparation::RemoveFinalizers(..) => false,
    });
    let first_wave = preparations.len() - last.count();
    // The first preparation has the highest wave.
    let waves = (1..=preparations.len() as i64).rev();
    let each =
        preparations.iter().zip(waves).enumerate().map(
            |(at, (preparation, wave))| match preparation {
                Preparation::Delete(keys) if at >= first_wave => {
                    writer.wave(keys, highest.saturating_add(wave))
                }
                Preparation::Delete(keys) => writer.delete(keys),
                Preparation::RemoveFinalizers(key, finalizers) => {
                    writer.remove_finalizers(key, finalizers)
                }
            },
        );
    each.collect()
}

fn targets(step: &Step) -> &[ObjectKey] {
    match step {
        Step::Delete { targets, .. } => targets,
        _ => &[],
    }
}

struct Writer<'a> {
    planner: &'a Planner,
    analysis: &'a Analysis<'a>,
    removal: &'a Withdrawn<'a>,
    /// The objects to remove.
    asked: BTreeSet<&'a ObjectKey>,
}

impl Writer<'_> {
    fn target(&self, key: &ObjectKey) -> Target {
        self.planner.target(key)
    }

    fn delete(&self, keys: &[ObjectKey]) -> SafeCommand {
        let targets: Vec<Target> = keys.iter().map(|key| self.target(key)).collect();
        let cascade = cascade_option(self.removal.policy);
        let options: Vec<&str> = ["--ignore-not-found", "--wait"]
            .into_iter()
            .chain(cascade.as_deref())
            .collect();
        let command = if keys.len() > MAX_NAMED && self.are_all_of_their_kinds(keys) {
            kubectl::delete_every(&targets, &options)
        } else {
            kubectl::delete_several(&targets, &options)
        };
        let named = words::keys(keys.iter());
        let are_callouts = keys
            .iter()
            .all(|key| kinds::CALLOUTS.contains(&key.group_kind()));
        let why = match self.controllers(keys) {
            _ if are_callouts && keys.iter().any(|key| !self.asked.contains(key)) => {
                format!(
                    "{named} has no backend without its Service, and then blocks the later \
                     deletions. It is not among the targets, but something gets stuck unless it is \
                     deleted."
                )
            }
            _ if are_callouts => {
                format!(
                    "{named} has no backend once its Service is gone, and then blocks the later deletions."
                )
            }
            controllers if !controllers.is_empty() => format!(
                "{} removes the finalizers of {named} only while it runs and has its permissions: \
                 `{}` deletes it too early.",
                words::keys(controllers.iter()),
                self.removal.command
            ),
            _ => format!(
                "Deleted first, while everything else still exists, {named} does not get stuck."
            ),
        };
        SafeCommand { command, why }
    }

    /// Whether the cluster has no other objects of the same kinds in the same namespaces.
    fn are_all_of_their_kinds(&self, keys: &[ObjectKey]) -> bool {
        let chosen: BTreeSet<&ObjectKey> = keys.iter().collect();
        let places: BTreeSet<_> = keys
            .iter()
            .map(|key| (key.group_kind(), &key.namespace))
            .collect();
        let cluster = self.planner.cluster();
        cluster
            .ids()
            .map(|id| cluster.key(id))
            .filter(|key| places.contains(&(key.group_kind(), &key.namespace)))
            .all(|key| chosen.contains(&key))
    }

    /// Returns the workloads that remove finalizers of these objects, as far as the input shows them.
    fn controllers(&self, keys: &[ObjectKey]) -> Vec<ObjectKey> {
        let inventory = self.analysis.inventory();
        let removers = &self.analysis.ownership().removers;
        let members = keys
            .iter()
            .flat_map(|key| inventory.with_key(key))
            .map(|id| inventory.member(*id));
        let mut controllers = BTreeSet::new();
        for member in members {
            let written = member.object.metadata().finalizer_names();
            for finalizer in written.chain(removers.added_finalizers(member)) {
                if let Remover::Workload { id, .. } = removers.remover(inventory, member, finalizer)
                {
                    controllers.insert(inventory.member(id).key.clone());
                }
            }
        }
        controllers.into_iter().collect()
    }

    fn wave(&self, keys: &[ObjectKey], wave: i64) -> SafeCommand {
        let targets: Vec<Target> = keys.iter().map(|key| self.target(key)).collect();
        let annotation = format!("{}={wave}", marks::ARGOCD_SYNC_WAVE);
        SafeCommand {
            command: kubectl::annotate(&targets, &annotation),
            why: format!(
                "Argo CD deletes the highest wave first and waits for it: with this annotation, it \
                 deletes {} before the controllers that release them. Write the wave into Git, \
                 too, because a sync undoes the annotation.",
                words::keys(keys.iter())
            ),
        }
    }

    fn remove_finalizers(&self, key: &ObjectKey, finalizers: &[String]) -> SafeCommand {
        let stored = self.planner.finalizers(key);
        SafeCommand {
            command: kubectl::remove_finalizers(&self.target(key), &stored, finalizers),
            why: format!(
                "Nothing in the input removes {} of {}. Make sure that no other controller does: everything that it would \
                 clean up stays behind.",
                words::finalizers(finalizers),
                words::key(key)
            ),
        }
    }
}
