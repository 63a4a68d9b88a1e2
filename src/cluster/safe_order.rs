//! What to do before a teardown, so that it leaves nothing stuck: a search over the model.
//!
//! Whatever gets stuck is deleted before, while everything that it needs is still there, and awaited; only what nobody releases
//! even then is freed of its finalizers by hand. Nothing is deleted that the teardown would not delete anyway. A list of
//! preparations counts only if the same teardown after it, simulated over all that may happen, leaves nothing stuck.

use std::collections::{BTreeMap, BTreeSet};

use crate::gc::{self, Cluster, Fate, Hold, Plan, SimulationOptions, Step};
use crate::kube::{Namespace, ObjectKey, Policy, Wait};

/// Most simulations of one search.
const MOST_TRIALS: usize = 200;
/// How often a search looks at what still gets stuck.
const MOST_ROUNDS: usize = 8;
/// How many objects all simulations of one search may look at together: ten times a large cluster.
const MOST_OBJECTS: usize = 100_000;
/// Most steps of preparations: nobody follows more, and each of them is simulated in each trial.
const MOST_STEPS: usize = 500;
/// How many objects all steps of one simulation may look at together.
const MOST_LOOKS: usize = 1_000_000;
/// How many states each of them may look at beyond the verdict.
const MOST_STATES: usize = 20_000;

/// One thing to do before a teardown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Preparation {
    /// Delete these objects of one namespace, and wait until they are gone.
    Delete(Vec<ObjectKey>),
    /// Remove finalizers that nobody removes.
    RemoveFinalizers(ObjectKey, Vec<String>),
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SafeOrder {
    /// The teardown leaves nothing stuck as it is.
    Unneeded,
    /// After these, in this order, it leaves nothing stuck.
    Found(Vec<Preparation>),
    /// None was found.
    Unknown,
}

/// What is left of what a teardown deletes, in any of its outcomes.
#[derive(Debug, Default)]
struct Harm {
    /// What stays Terminating, and the finalizers that hold it; none where it only waits for others.
    stuck: BTreeMap<ObjectKey, Vec<String>>,
    /// What was asked to be deleted and is still there, not Terminating: the request was rejected or never sent.
    left: BTreeSet<ObjectKey>,
    /// Webhook configurations and APIServices that nobody answers for, and that therefore reject or hold it.
    silent: BTreeSet<ObjectKey>,
}

impl Harm {
    fn is_none(&self) -> bool {
        self.stuck.is_empty() && self.left.is_empty()
    }

    /// What does not merely wait for others.
    fn roots(&self) -> impl Iterator<Item = &ObjectKey> {
        let held = self.stuck.iter().filter(|(_, finalizers)| !finalizers.is_empty()).map(|(key, _)| key);
        let held: Vec<&ObjectKey> = held.collect();
        // With nothing that is held, what is left over is what to begin with.
        let left = self.left.iter();
        let waiting = self.stuck.keys().filter(|_| held.is_empty() && self.left.is_empty()).collect::<Vec<_>>();
        held.into_iter().chain(left).chain(waiting)
    }
}

/// The fewest preparations after which `teardown` leaves nothing stuck. Whatever it deletes, and what else is `leaving`, may be deleted
/// first; `policy` is the one with which that is done.
pub fn safe_order(
    cluster: &Cluster,
    teardown: &[Step],
    leaving: &BTreeSet<ObjectKey>,
    policy: Policy,
    options: &SimulationOptions,
) -> SafeOrder {
    let options = SimulationOptions { state_cap: options.state_cap.min(MOST_STATES), ..options.clone() };
    let weight = cluster.weight();
    let mut search = OrderSearch { cluster, teardown, leaving, policy, options: &options, weight, trials: 0 };
    let harm = search.proven(&[]);
    if harm.is_none() {
        return SafeOrder::Unneeded;
    }
    match search.enough(&harm) {
        Some(enough) => SafeOrder::Found(search.fewest(enough)),
        None => SafeOrder::Unknown,
    }
}

struct OrderSearch<'a> {
    cluster: &'a Cluster,
    teardown: &'a [Step],
    leaving: &'a BTreeSet<ObjectKey>,
    policy: Policy,
    options: &'a SimulationOptions,
    weight: usize,
    trials: usize,
}

impl OrderSearch<'_> {
    /// Whether there is time for another simulation.
    fn may_try(&self) -> bool {
        self.trials < MOST_TRIALS && self.trials * self.weight < MOST_OBJECTS
    }

    /// Whether that is few enough steps.
    fn may_follow(&self, prepared: &[Preparation]) -> bool {
        let steps = steps(prepared, self.policy).len();
        steps <= MOST_STEPS && steps * self.cluster.len() <= MOST_LOOKS
    }

    /// Preparations that are enough, if there are any: round by round, whatever still gets stuck is added.
    fn enough(&mut self, harm: &Harm) -> Option<Vec<Preparation>> {
        let mut prepared = self.preparations(harm, &[]);
        let mut rounds = 0..MOST_ROUNDS;
        while !prepared.is_empty() && self.may_try() && self.may_follow(&prepared) {
            let harm = self.proven(&prepared);
            if harm.is_none() {
                return Some(prepared);
            }
            let more = self.preparations(&harm, &prepared);
            if more.is_empty() || rounds.next().is_none() {
                return None;
            }
            // What turns up later is often what the earlier ones wait for.
            prepared.splice(0..0, more);
        }
        None
    }

    /// What may help against a harm: what nobody answers for goes first, then one deletion per namespace for what can be deleted
    /// before everything else, and a patch for what cannot. Nothing that is prepared already.
    fn preparations(&mut self, harm: &Harm, prepared: &[Preparation]) -> Vec<Preparation> {
        let known: BTreeSet<&ObjectKey> = prepared.iter().flat_map(Preparation::objects).collect();
        // What controllers made up has no name that a command could use.
        let is_new = |key: &&ObjectKey| !known.contains(key) && !key.name.contains(['<', '*']);
        let may_go = |key: &&ObjectKey| self.leaving.contains(*key);
        let silent: Vec<ObjectKey> = harm.silent.iter().filter(is_new).filter(may_go).cloned().collect();
        let roots: Vec<ObjectKey> = harm.roots().filter(is_new).filter(|key| !silent.contains(key)).cloned().collect();
        let held = self.unreleased(&silent, &roots);
        let mut free: BTreeMap<&Namespace, Vec<ObjectKey>> = BTreeMap::new();
        for key in roots.iter().filter(|key| !held.contains_key(*key)) {
            free.entry(&key.namespace).or_default().push(key.clone());
        }
        let silent = Some(silent).filter(|silent| !silent.is_empty());
        let deletions = silent.into_iter().chain(free.into_values()).map(Preparation::Delete);
        let patches = held.into_iter().map(|(key, finalizers)| Preparation::RemoveFinalizers(key, finalizers));
        deletions.chain(patches).collect()
    }

    /// The finalizers of those that nobody releases even if they are deleted while everything else but `silent` is there.
    fn unreleased(&mut self, silent: &[ObjectKey], roots: &[ObjectKey]) -> BTreeMap<ObjectKey, Vec<String>> {
        if roots.is_empty() {
            return BTreeMap::new();
        }
        let delete = |keys: &[ObjectKey]| Step::Delete {
            targets: keys.to_vec(),
            policy: Some(self.policy),
            wait: Wait::Settled,
            client: 0,
        };
        let mut stuck = self.harm_of(&[delete(silent), delete(roots)], roots, self.options).stuck;
        let roots: BTreeSet<&ObjectKey> = roots.iter().collect();
        stuck.retain(|key, finalizers| roots.contains(key) && !finalizers.is_empty());
        stuck
    }

    /// The fewest of them that are enough. Those without which something gets stuck are needed; of the others, small choices are
    /// tried first, as long as there is time.
    fn fewest(&mut self, enough: Vec<Preparation>) -> Vec<Preparation> {
        let without = |search: &mut Self, at: usize| {
            let others: Vec<Preparation> =
                enough.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, one)| one.clone()).collect();
            search.is_enough(&others)
        };
        let spare: Vec<usize> = (0..enough.len()).filter(|at| self.may_try() && without(self, *at)).collect();
        for size in 0..spare.len() {
            let mut chosen: Vec<usize> = (0..size).collect();
            // There are as many choices as subsets.
            while self.may_try() {
                let kept = |at: &usize| match spare.binary_search(at) {
                    Ok(place) => chosen.contains(&place),
                    Err(_) => true,
                };
                let fewer: Vec<Preparation> = (0..enough.len()).filter(kept).map(|at| enough[at].clone()).collect();
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

    /// Whether nothing gets stuck after these. The verdict is the harm where controllers race, and quicker to have.
    fn is_enough(&mut self, prepared: &[Preparation]) -> bool {
        self.may_try() && self.verdict(prepared).is_none() && self.proven(prepared).is_none()
    }

    /// What the teardown leaves after these, in whatever may happen.
    fn proven(&mut self, prepared: &[Preparation]) -> Harm {
        self.after(prepared, self.options)
    }

    /// What it leaves in the verdict, which is the harm where controllers race.
    fn verdict(&mut self, prepared: &[Preparation]) -> Harm {
        let verdict_only = SimulationOptions { state_cap: 0, ..self.options.clone() };
        self.after(prepared, &verdict_only)
    }

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

    fn harm_of(&mut self, steps: &[Step], asked: &[ObjectKey], options: &SimulationOptions) -> Harm {
        self.trials += 1;
        let plan = gc::simulate(self.cluster, steps, options);
        harm(&plan, asked)
    }
}

impl Preparation {
    fn objects(&self) -> &[ObjectKey] {
        match self {
            Self::Delete(keys) => keys,
            Self::RemoveFinalizers(key, _) => std::slice::from_ref(key),
        }
    }
}

/// The steps of preparations. Patches that follow each other are one step for each finalizer, however many objects have it: every
/// step is awaited, and that looks at the whole cluster.
fn steps(prepared: &[Preparation], policy: Policy) -> Vec<Step> {
    let is_patch = |one: &Preparation| matches!(one, Preparation::RemoveFinalizers(..));
    let mut steps = Vec::new();
    for alike in prepared.chunk_by(|one, next| is_patch(one) && is_patch(next)) {
        let mut holders: BTreeMap<&String, BTreeSet<&ObjectKey>> = BTreeMap::new();
        for one in alike {
            match one {
                Preparation::Delete(keys) => {
                    let (targets, policy) = (keys.clone(), Some(policy));
                    steps.push(Step::Delete { targets, policy, wait: Wait::Gone, client: 0 });
                }
                Preparation::RemoveFinalizers(key, names) => {
                    names.iter().for_each(|name| _ = holders.entry(name).or_default().insert(key));
                }
            }
        }
        let patch = |(name, targets): (&String, BTreeSet<&ObjectKey>)| Step::RemoveFinalizer {
            targets: targets.into_iter().cloned().collect(),
            finalizer: name.clone(),
        };
        steps.extend(holders.into_iter().map(patch));
    }
    steps
}

fn harm(plan: &Plan<'_>, asked: &[ObjectKey]) -> Harm {
    let mut harm = Harm::default();
    let Some(last) = plan.steps.len().checked_sub(1) else { return harm };
    let cluster = plan.cluster();
    let held = plan.stuck(last).into_iter().map(|held| {
        let finalizers = held.holds.iter().flat_map(|hold| match hold {
            Hold::Finalizers(names) => names.clone(),
            _ => Vec::new(),
        });
        (cluster.key(held.object), finalizers.collect())
    });
    harm.stuck.extend(held);
    let rejecting = (0..plan.steps.len()).flat_map(|step| plan.rejections(step)).map(|one| one.configuration);
    let silent = rejecting.chain(plan.failing_apis(last).into_iter().map(|api| api.object));
    harm.silent.extend(silent.map(|id| cluster.key(id)));
    let asked: BTreeSet<&ObjectKey> =
        asked.iter().filter(|key| !gc::IMMORTAL_NAMESPACES.contains(&key.name.as_str())).collect();
    let mut look = |key: ObjectKey, fate: &Fate| match fate {
        Fate::Present(present) if present.terminating => {
            harm.stuck.entry(key).or_insert_with(|| present.finalizers.clone());
        }
        Fate::Present(_) if asked.contains(&key) => _ = harm.left.insert(key),
        Fate::Present(_) | Fate::Gone => {}
    };
    let mut outcomes = plan.steps[last].outcomes.iter();
    if let Some(verdict) = outcomes.next() {
        plan.fates(verdict).into_iter().for_each(|(key, fate)| look(key, &fate));
    }
    for outcome in outcomes {
        plan.differences(outcome).into_iter().for_each(|(key, fate, _)| look(key, &fate));
    }
    harm
}

/// The next choice of as many of the first `count` numbers, in lexical order; false after the last.
fn next_choice(chosen: &mut [usize], count: usize) -> bool {
    let size = chosen.len();
    let Some(at) = (0..size).rev().find(|at| chosen[*at] < count - size + at) else { return false };
    chosen[at] += 1;
    for later in at + 1..size {
        chosen[later] = chosen[later - 1] + 1;
    }
    true
}
