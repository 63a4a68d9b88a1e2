//! Kustomizations that wait for others which are not ready after the merge (fluxcd/kustomize-controller
//! internal/controller/kustomization_controller.go, `checkDependencies`).

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Delivered;
use super::refused::error_of;
use crate::graph::delivery::Delivery;
use crate::kustomize::SourceTool;

/// Why a Kustomization is not ready.
#[derive(Clone, Copy, Debug)]
struct Obstacle {
    /// The end of a sentence that begins `it waits for X, `.
    why: &'static str,
    /// Whether it is certainly not ready when head is first reconciled.
    is_certain: bool,
}

impl Delivered {
    /// Sets an error on Kustomizations that wait for others that are suspended, whose builds fail,
    /// or that wait in turn. `before`: the previous state; `None` means an equal one.
    /// Kustomizations that may reconcile once before they wait keep that build.
    pub(super) fn fail_on_unready_dependencies(&mut self, before: Option<&Self>) {
        let waiting = self.waiting(before.unwrap_or(self));
        for (at, (dependency, obstacle)) in waiting {
            let key = self.all[dependency].key.clone();
            let one = &mut self.all[at];
            let reason = format!("{} waits for {key}, {}", one.key, obstacle.why);
            one.error = Some(error_of(one, reason));
            if !obstacle.is_certain {
                one.built_first = Some(Arc::clone(&one.resources));
            }
        }
    }

    /// Returns the indices of the waiting Kustomizations, each with a dependency and its obstacle.
    fn waiting(&self, base: &Self) -> BTreeMap<usize, (usize, Obstacle)> {
        let mut waiting = BTreeMap::new();
        if self
            .all
            .iter()
            .all(|one| one.settings.awaits_ready.is_empty())
        {
            return waiting;
        }
        let mut obstacles: BTreeMap<usize, Obstacle> = BTreeMap::new();
        for (at, one) in self.all.iter().enumerate() {
            obstacles.extend(not_ready(one, base).map(|obstacle| (at, obstacle)));
        }
        let awaited = self.awaited();
        let in_base = in_cycles(&base.awaited());
        let in_base: BTreeSet<&str> = in_base.iter().map(|at| &*base.all[*at].id).collect();
        for at in in_cycles(&awaited) {
            obstacles.entry(at).or_insert_with(|| Obstacle {
                why: "whose dependencies form a cycle",
                is_certain: in_base.contains(&*self.all[at].id),
            });
        }
        let dependants = dependants(&awaited);
        let mut pending: Vec<usize> = obstacles.keys().copied().collect();
        while let Some(dependency) = pending.pop() {
            let obstacle = obstacles[&dependency];
            for at in dependants[dependency].iter().copied() {
                let one = &self.all[at];
                if one.error.is_some() || waiting.contains_key(&at) {
                    continue;
                }
                let Some(is_certain) = blocks((one, &self.all[dependency]), base) else {
                    continue;
                };
                let is_certain = is_certain && obstacle.is_certain;
                let why = obstacle.why;
                waiting.insert(at, (dependency, Obstacle { why, is_certain }));
                if let Entry::Vacant(entry) = obstacles.entry(at) {
                    entry.insert(Obstacle {
                        why: "which waits, too",
                        is_certain,
                    });
                    pending.push(at);
                }
            }
        }
        waiting
    }

    /// Returns the indices of the Kustomizations that must be ready before each delivery. An entry
    /// point may depend on another entry point, which counts as one of its cluster if no other has
    /// the key.
    pub(super) fn awaited(&self) -> Vec<BTreeSet<usize>> {
        let mut places: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        let mut entries: BTreeMap<&str, Option<usize>> = BTreeMap::new();
        for (one, at) in self.all.iter().zip(0..) {
            places.insert((self.home(one), one.key.as_str()), at);
            if one.parent.is_none() {
                let only = entries.entry(one.key.as_str());
                only.and_modify(|only| *only = None).or_insert(Some(at));
            }
        }
        let kind = SourceTool::Flux.kind();
        let awaited = self.all.iter().map(|one| {
            let names = one.settings.awaits_ready.iter();
            let found = names.filter_map(|(namespace, name)| {
                let key = format!("{kind}/{namespace}/{name}");
                let here = places.get(&(self.home(one), key.as_str())).copied();
                let entry = entries.get(key.as_str()).copied().flatten();
                here.or(entry.filter(|_| one.parent.is_none()))
            });
            found.collect()
        });
        awaited.collect()
    }
}

/// Returns the indices of the deliveries that wait for each delivery: the inverse of `awaited`.
fn dependants(awaited: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let mut dependants = vec![Vec::new(); awaited.len()];
    for (at, dependencies) in awaited.iter().enumerate() {
        for dependency in dependencies {
            dependants[*dependency].push(at);
        }
    }
    dependants
}

/// Returns the deliveries in dependency cycles and those that depend on them: a topological sort
/// cannot order these.
fn in_cycles(awaited: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let dependants = dependants(awaited);
    let mut missing: Vec<usize> = awaited.iter().map(BTreeSet::len).collect();
    let mut left: BTreeSet<usize> = (0..awaited.len()).collect();
    let mut pending: Vec<usize> = (0..awaited.len()).filter(|at| missing[*at] == 0).collect();
    while let Some(sorted) = pending.pop() {
        left.remove(&sorted);
        for at in dependants[sorted].iter().copied() {
            missing[at] -= 1;
            if missing[at] == 0 {
                pending.push(at);
            }
        }
    }
    left
}

/// Returns whether a delivery certainly does not reconcile head while its dependency is not ready; `None` if it does
/// not wait.
fn blocks((one, dependency): (&Delivery, &Delivery), base: &Delivered) -> Option<bool> {
    let has_one_source = one.settings.source == dependency.settings.source;
    let was_suspended = base
        .delivery(&dependency.id)
        .is_some_and(|was| was.settings.suspend == Some(true));
    // A suspended Kustomization stays ready, but it has not applied the new revision of its own source.
    if dependency.error.is_none() && was_suspended && !has_one_source {
        return None;
    }
    let Some(was) = base.delivery(&one.id) else {
        return Some(true);
    };
    let waited = was
        .settings
        .awaits_ready
        .iter()
        .any(|name| is_named(dependency, name) && one.settings.awaits_ready.contains(name));
    // Nothing applies the new specification of an entry point.
    if !waited && one.parent.is_none() {
        return None;
    }
    Some(waited && has_one_source)
}

/// Returns why a Kustomization is not ready once head is merged, apart from its dependencies.
fn not_ready(one: &Delivery, base: &Delivered) -> Option<Obstacle> {
    let is_flux = one
        .by
        .as_ref()
        .is_some_and(|by| by.tool == SourceTool::Flux);
    if !is_flux {
        return None;
    }
    if one.error.is_some() {
        return Some(Obstacle {
            why: "which fails",
            is_certain: one.built_first.is_none(),
        });
    }
    if one.settings.suspend != Some(true) {
        return None;
    }
    let was = base.delivery(&one.id);
    let was_suspended = was.is_none_or(|was| was.settings.suspend == Some(true));
    // Nothing applies the new specification of an entry point.
    (was_suspended || one.parent.is_some()).then_some(Obstacle {
        why: "which is suspended",
        // It may reconcile head once before its parent suspends it.
        is_certain: was_suspended,
    })
}

fn is_named(one: &Delivery, (namespace, name): &(String, String)) -> bool {
    let by = one.by.as_ref();
    by.is_some_and(|by| by.namespace == *namespace && by.name == *name)
}
