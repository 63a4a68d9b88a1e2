//! Searches, by simulation, for preparations of a teardown after which it leaves nothing stuck.
//!
//! An object that gets stuck is deleted first, while everything that it needs still exists, and
//! awaited. If it is not released even then, its finalizers are removed by hand. Only objects of
//! the teardown are deleted and, if nothing else helps, webhook configurations and APIServices that
//! block it. Preparations count only if a simulated teardown then leaves nothing stuck in any
//! outcome.
//!
//! `kubectl delete --wait` returns as soon as the objects that it names are gone: the next command
//! may run before the collector and the operators have finished ([`Wait::Named`]). Dependents that
//! would then get stuck are named too. Patches come first, while all objects exist unchanged.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::harm::{Harm, harm};
use crate::gc::{self, Cluster, ObjectId, SimulationOptions, Step};
use crate::kube::{Namespace, ObjectKey, Policy, Wait, kinds};

/// Maximum number of simulations in one search.
const MAX_TRIALS: usize = 200;
/// Maximum number of rounds in which a search adds preparations for what still gets stuck.
const MAX_ROUNDS: usize = 8;
/// Budget of objects for all simulations of one search: ten times a large cluster.
const MAX_OBJECTS: usize = 100_000;
/// Maximum number of preparation steps: readers cannot use longer lists, and each step is simulated in each trial.
const MAX_STEPS: usize = 500;
/// Budget of objects for all steps of one simulation.
const MAX_LOOKS: usize = 1_000_000;
/// Maximum number of an object's owners that are visited.
const MAX_OWNERS: usize = 100;
/// Maximum number of states that each simulation searches beyond the verdict.
const MAX_STATES: usize = 20_000;

/// A preparation for a teardown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preparation {
    /// Delete these objects of one namespace, and wait until they are gone.
    Delete(Vec<ObjectKey>),
    /// Remove finalizers that no controller removes.
    RemoveFinalizers(ObjectKey, Vec<String>),
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// Webhook configurations and APIServices are deleted.
    Callouts,
    Patches,
    Deletions,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SafeOrder {
    /// The teardown leaves nothing stuck as it is.
    Unneeded,
    /// After these preparations, in this order, it leaves nothing stuck.
    Found(Vec<Preparation>),
    /// No preparations were found.
    Unknown,
}

/// Finds the fewest preparations after which `teardown` leaves nothing stuck. Objects that it deletes may be deleted
/// first, with `policy`, and so may the webhook configurations and APIServices in `leaving`.
pub fn safe_order(
    cluster: &Cluster,
    teardown: &[Step],
    leaving: &BTreeSet<ObjectKey>,
    policy: Policy,
    options: &SimulationOptions,
) -> SafeOrder {
    let options = SimulationOptions {
        state_cap: options.state_cap.min(MAX_STATES),
        ..options.clone()
    };
    let mut search = OrderSearch {
        cluster,
        teardown,
        leaving: leaving.clone(),
        policy,
        options: &options,
        trials: 0,
        used_definitions: OnceCell::new(),
    };
    let harm = search.after(&[], &options);
    if harm.is_none() {
        return SafeOrder::Unneeded;
    }
    let enough = search.enough(&harm).or_else(|| {
        search.leaving.extend(harm.silent.iter().cloned());
        search.enough(&harm)
    });
    match enough {
        Some(enough) => SafeOrder::Found(search.fewest(enough)),
        None => SafeOrder::Unknown,
    }
}

struct OrderSearch<'a> {
    cluster: &'a Cluster,
    teardown: &'a [Step],
    /// Of these, webhook configurations and APIServices may be deleted even if not stuck.
    leaving: BTreeSet<ObjectKey>,
    policy: Policy,
    options: &'a SimulationOptions,
    trials: usize,
    used_definitions: OnceCell<BTreeSet<String>>,
}

impl OrderSearch<'_> {
    /// Whether the budget allows another simulation.
    fn may_try(&self) -> bool {
        self.trials < MAX_TRIALS && self.trials * self.cluster.weight() < MAX_OBJECTS
    }

    /// Whether the preparations have few enough steps.
    fn may_follow(&self, prepared: &[Preparation]) -> bool {
        let steps = steps(prepared, self.policy).len();
        steps <= MAX_STEPS && steps * self.cluster.len() <= MAX_LOOKS
    }

    /// Returns sufficient preparations, if any: each round adds preparations for the objects that still get stuck.
    fn enough(&mut self, harm: &Harm) -> Option<Vec<Preparation>> {
        let mut prepared = Vec::new();
        let more = self.preparations(harm, &[]);
        self.insert(more, &mut prepared);
        let mut rounds = 0..MAX_ROUNDS;
        while !prepared.is_empty() && self.may_try() && self.may_follow(&prepared) {
            let harm = self.after(&prepared, self.options);
            if harm.is_none() {
                return Some(prepared);
            }
            let more = self.preparations(&harm, &prepared);
            if more.is_empty() || rounds.next().is_none() {
                return None;
            }
            self.insert(more, &mut prepared);
        }
        None
    }

    /// Returns preparations that may prevent `harm`: a deletion of webhook configurations and
    /// APIServices without a backend, one deletion per namespace of objects that can be deleted
    /// before everything else, and a patch for the others. Omits those in `prepared`.
    fn preparations(&mut self, harm: &Harm, prepared: &[Preparation]) -> Vec<Preparation> {
        let known: BTreeSet<&ObjectKey> = prepared.iter().flat_map(Preparation::objects).collect();
        let silent: BTreeSet<&ObjectKey> = harm
            .silent
            .intersection(&self.leaving)
            .filter(|key| !known.contains(key) && self.may_prepare(key))
            .collect();
        let roots: Vec<ObjectKey> = harm
            .roots()
            .filter(|key| !known.contains(key) && self.may_prepare(key))
            .filter(|key| !silent.contains(key))
            .cloned()
            .collect();
        let silent: Vec<ObjectKey> = silent.into_iter().cloned().collect();
        let held = self.unreleased(&silent, &roots);
        let owners = Self::places(prepared);
        let mut free: BTreeMap<(Option<usize>, &Namespace), Vec<ObjectKey>> = BTreeMap::new();
        for key in roots.iter().filter(|key| !held.contains_key(*key)) {
            free.entry((self.place_of_owners(key, &owners), &key.namespace))
                .or_default()
                .push(key.clone());
        }
        for keys in free.values_mut() {
            self.sort_owners_first(keys);
        }
        let silent = Some(silent).filter(|silent| !silent.is_empty());
        let deletions = silent
            .into_iter()
            .chain(free.into_values())
            .map(Preparation::Delete);
        let patches = held
            .into_iter()
            .map(|(key, finalizers)| Preparation::RemoveFinalizers(key, finalizers));
        deletions.chain(patches).collect()
    }

    /// Whether a command may delete or patch an object on its own.
    fn may_prepare(&self, key: &ObjectKey) -> bool {
        // Objects that controllers create have generated names, which a command cannot use.
        !key.name.contains(['<', '*']) && !self.is_used_definition(key)
    }

    /// Inserts preparations in order. Webhook configurations and APIServices go first, then patches. A deletion goes
    /// after that of an owner in `prepared`, since a controller might otherwise recreate the object; any other goes
    /// before the deletions in `prepared`, which often wait for its objects.
    fn insert(&self, more: Vec<Preparation>, prepared: &mut Vec<Preparation>) {
        let [patches, deletions] = [Stage::Patches, Stage::Deletions].map(|stage| {
            let before = prepared.iter().take_while(|one| one.stage() < stage);
            before.count()
        });
        let owners = Self::places(prepared);
        let placed = more.into_iter().map(|one| {
            let place = match one.stage() {
                Stage::Callouts => 0,
                Stage::Patches => patches,
                Stage::Deletions => {
                    let last = one
                        .objects()
                        .iter()
                        .filter_map(|key| self.place_of_owners(key, &owners))
                        .max();
                    last.map_or(deletions, |owner| owner + 1)
                }
            };
            (place, one)
        });
        let mut placed: Vec<(usize, Preparation)> = placed.collect();
        placed.sort_by_cached_key(|(place, one)| (*place, one.stage()));
        for (place, one) in placed.into_iter().rev() {
            prepared.insert(place, one);
        }
    }

    /// Returns the index of the preparation that deletes each object.
    fn places(prepared: &[Preparation]) -> BTreeMap<&ObjectKey, usize> {
        let deletions = prepared
            .iter()
            .enumerate()
            .filter(|(_, one)| one.stage() != Stage::Patches);
        deletions
            .flat_map(|(place, one)| one.objects().iter().map(move |key| (key, place)))
            .collect()
    }

    /// Returns the index of the last preparation that deletes an owner of an object.
    fn place_of_owners(
        &self,
        key: &ObjectKey,
        places: &BTreeMap<&ObjectKey, usize>,
    ) -> Option<usize> {
        self.above(key)
            .into_iter()
            .filter_map(|id| places.get(&self.cluster.key(id)))
            .max()
            .copied()
    }

    fn sort_owners_first(&self, keys: &mut [ObjectKey]) {
        let all: BTreeSet<ObjectId> = keys
            .iter()
            .filter_map(|key| self.cluster.find(key))
            .collect();
        keys.sort_by_cached_key(|key| self.above(key).intersection(&all).count());
    }

    /// Returns the owners of an object, transitively, at most about `MAX_OWNERS`.
    fn above(&self, key: &ObjectKey) -> BTreeSet<ObjectId> {
        let (mut above, mut open) = (BTreeSet::new(), Vec::from_iter(self.cluster.find(key)));
        while let Some(id) = open.pop().filter(|_| above.len() < MAX_OWNERS) {
            let owners = self.cluster.edges(id).filter_map(|edge| edge.owner);
            open.extend(owners.filter(|owner| above.insert(*owner)));
        }
        above
    }

    /// Whether the cluster has instances of a definition: `kubectl` and Helm fail on these once their kind is gone.
    fn is_used_definition(&self, key: &ObjectKey) -> bool {
        key.is(kinds::CUSTOM_RESOURCE_DEFINITION)
            && self
                .used_definitions
                .get_or_init(|| {
                    self.cluster
                        .ids()
                        .filter(|id| self.cluster.kind_of(*id).custom)
                        .map(|id| {
                            let plural = &self.cluster.kind_of(id).plural;
                            format!("{plural}.{}", self.cluster.key(id).group())
                        })
                        .collect()
                })
                .contains(key.name.as_str())
    }

    /// Returns the finalizers of those `roots` that are not released when they are deleted right after `silent`.
    fn unreleased(
        &mut self,
        silent: &[ObjectKey],
        roots: &[ObjectKey],
    ) -> BTreeMap<ObjectKey, Vec<String>> {
        if roots.is_empty() {
            return BTreeMap::new();
        }
        let steps = [silent, roots].map(|keys| Step::delete(keys.to_vec(), Some(self.policy)));
        let mut stuck = self.harm_of(&steps, roots, self.options).stuck;
        let roots: BTreeSet<&ObjectKey> = roots.iter().collect();
        stuck.retain(|key, finalizers| roots.contains(key) && !finalizers.is_empty());
        stuck
    }

    /// Returns the smallest sufficient subset of `enough` that the budget allows to find:
    /// preparations that are necessary by themselves, with the smallest combination of the others.
    fn fewest(&mut self, enough: Vec<Preparation>) -> Vec<Preparation> {
        let spare: Vec<usize> = (0..enough.len())
            .filter(|at| {
                self.may_try() && self.is_enough(&[&enough[..*at], &enough[at + 1..]].concat())
            })
            .collect();
        for size in 0..spare.len() {
            let mut chosen: Vec<usize> = (0..size).collect();
            // The number of combinations is exponential.
            while self.may_try() {
                let fewer: Vec<Preparation> = (0..enough.len())
                    .filter(|at| match spare.binary_search(at) {
                        Ok(place) => chosen.contains(&place),
                        Err(_) => true,
                    })
                    .map(|at| enough[at].clone())
                    .collect();
                if self.is_enough(&fewer) {
                    return fewer;
                }
                if !next_choice(&mut chosen, spare.len()) {
                    break;
                }
            }
        }
        enough
    }

    /// Whether nothing gets stuck after `prepared`. The verdict, the worst outcome, comes first.
    fn is_enough(&mut self, prepared: &[Preparation]) -> bool {
        let verdict_only = SimulationOptions {
            state_cap: 0,
            ..self.options.clone()
        };
        self.may_try()
            && self.after(prepared, &verdict_only).is_none()
            && self.after(prepared, self.options).is_none()
    }

    /// Returns the harm of the teardown after `prepared`, in any outcome that `options` search for.
    fn after(&mut self, prepared: &[Preparation], options: &SimulationOptions) -> Harm {
        let mut steps = steps(prepared, self.policy);
        steps.extend(self.teardown.iter().cloned());
        let asked: Vec<ObjectKey> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Delete { targets, .. } => Some(targets),
                _ => None,
            })
            .flatten()
            .cloned()
            .collect();
        self.harm_of(&steps, &asked, options)
    }

    fn harm_of(
        &mut self,
        steps: &[Step],
        asked: &[ObjectKey],
        options: &SimulationOptions,
    ) -> Harm {
        self.trials += 1;
        let plan = gc::simulate(self.cluster, steps, options);
        harm(&plan, asked)
    }
}

impl Preparation {
    fn stage(&self) -> Stage {
        match self {
            Self::RemoveFinalizers(..) => Stage::Patches,
            Self::Delete(keys)
                if keys
                    .iter()
                    .all(|key| kinds::CALLOUTS.contains(&key.group_kind())) =>
            {
                Stage::Callouts
            }
            Self::Delete(_) => Stage::Deletions,
        }
    }

    fn objects(&self) -> &[ObjectKey] {
        match self {
            Self::Delete(keys) => keys,
            Self::RemoveFinalizers(key, _) => std::slice::from_ref(key),
        }
    }
}

/// Converts preparations to steps. Consecutive patches become one step per finalizer, however many objects have it.
fn steps(prepared: &[Preparation], policy: Policy) -> Vec<Step> {
    let mut steps = Vec::new();
    for alike in
        prepared.chunk_by(|one, next| [one, next].iter().all(|one| one.stage() == Stage::Patches))
    {
        let mut holders: BTreeMap<&String, BTreeSet<&ObjectKey>> = BTreeMap::new();
        for one in alike {
            match one {
                Preparation::Delete(keys) => {
                    steps.push(Step::Delete {
                        targets: keys.clone(),
                        policy: Some(policy),
                        wait: Wait::Named,
                        client: 0,
                    });
                }
                Preparation::RemoveFinalizers(key, names) => {
                    for name in names {
                        _ = holders.entry(name).or_default().insert(key);
                    }
                }
            }
        }
        steps.extend(
            holders
                .into_iter()
                .map(|(name, targets)| Step::RemoveFinalizer {
                    targets: targets.into_iter().cloned().collect(),
                    finalizer: name.clone(),
                    wait: Wait::None,
                }),
        );
    }
    steps
}

/// Advances to the next combination of the first `count` numbers, in lexical order; returns `false` after the last.
fn next_choice(chosen: &mut [usize], count: usize) -> bool {
    let size = chosen.len();
    let Some(at) = (0..size).rev().find(|at| chosen[*at] < count - size + at) else {
        return false;
    };
    chosen[at] += 1;
    for later in at + 1..size {
        chosen[later] = chosen[later - 1] + 1;
    }
    true
}
