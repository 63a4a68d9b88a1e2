//! The holds of a stuck object, and how to release it: the controller to restore, the objects to release first, and the
//! exact command as a last resort.

use std::collections::{BTreeMap, BTreeSet};

use super::command;
use super::telling::Story;
use super::words;
use crate::gc::{Cluster, FailingApi, HeldObject, Hold, ObjectId};
use crate::kube::kubectl::{self, Target};
use crate::kube::{ObjectKey, finalizers};
use crate::text::plain;

/// An object that is stuck in Terminating.
#[derive(Clone, Debug)]
pub(crate) struct Stuck {
    pub(crate) key: ObjectKey,
    /// Whether it was Terminating before this step.
    pub(crate) before: bool,
    /// A remedy for each hold.
    pub(crate) remedies: Vec<Remedy>,
}

/// A hold on an object, and how to end it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Remedy {
    /// The hold, as half a sentence about the object.
    pub(crate) what: String,
    pub(crate) citations: Vec<&'static str>,
    /// The remedy, as sentences.
    pub(crate) help: String,
    /// The commands of the remedy.
    pub(crate) commands: Vec<String>,
    /// Whether the hold ends automatically once other objects are released.
    pub(crate) waits: bool,
}

impl Stuck {
    /// Whether it is enough to release other objects.
    pub(crate) fn waits(&self) -> bool {
        self.remedies.iter().all(|remedy| remedy.waits)
    }
}

/// Returns the objects that are Terminating after the step: first those that need action, then those that only wait.
pub(crate) fn stuck(story: &Story<'_>) -> Vec<Stuck> {
    let rings = rings(&story.stuck);
    let stuck = story.stuck.iter().map(|held| one(story, held, &rings));
    let mut stuck: Vec<Stuck> = stuck.collect();
    stuck.sort_by(|a, b| (a.waits(), a.before, &a.key).cmp(&(b.waits(), b.before, &b.key)));
    stuck
}

/// Returns the objects that wait, directly or not, for a cycle of objects that wait for each other:
/// those that remain when objects that wait for nothing are repeatedly removed.
fn rings(stuck: &[HeldObject]) -> BTreeSet<ObjectId> {
    let all: BTreeSet<ObjectId> = stuck.iter().map(|held| held.object).collect();
    let mut waiting: BTreeMap<ObjectId, usize> = BTreeMap::new();
    let mut waited_for_by: BTreeMap<ObjectId, Vec<ObjectId>> = BTreeMap::new();
    for one in stuck {
        let blockers = one.holds.iter().flat_map(blocking_dependents);
        let blockers = blockers.filter(|blocker| all.contains(blocker));
        waiting.insert(one.object, blockers.clone().count());
        for blocker in blockers {
            waited_for_by.entry(*blocker).or_default().push(one.object);
        }
    }
    let free = waiting.iter().filter(|(_, count)| **count == 0);
    let mut free: Vec<ObjectId> = free.map(|(id, _)| *id).collect();
    while let Some(id) = free.pop() {
        waiting.remove(&id);
        for waiter in waited_for_by.get(&id).into_iter().flatten() {
            if let Some(count) = waiting.get_mut(waiter) {
                *count -= 1;
                if *count == 0 {
                    free.push(*waiter);
                }
            }
        }
    }
    waiting.into_keys().collect()
}

fn blocking_dependents(hold: &Hold) -> &[ObjectId] {
    match hold {
        Hold::BlockingDependents { dependents, .. } => dependents,
        _ => &[],
    }
}

fn one(story: &Story<'_>, held: &HeldObject, rings: &BTreeSet<ObjectId>) -> Stuck {
    let id = held.object;
    let key = story.view.plan.cluster().key(id);
    let case = Case {
        story,
        id,
        key: &key,
        in_ring: rings.contains(&id),
        unattended: held.unattended,
    };
    // Until a namespace is empty, a second delete of it changes nothing [NS-1].
    let occupied = held
        .holds
        .iter()
        .any(|hold| matches!(hold, Hold::NamespaceContent { .. }));
    let holds = held.holds.iter().filter(|hold| {
        !occupied || !matches!(hold, Hold::BlockingDependents { .. } | Hold::Unhandled(_))
    });
    let mut remedies: Vec<Remedy> = holds.flat_map(|hold| case.remedies(hold, held)).collect();
    if remedies.is_empty() {
        remedies.push(Remedy {
            what: "is not released".to_owned(),
            waits: true,
            ..Remedy::default()
        });
    }
    let before = story.stuck_before.contains(&key);
    Stuck {
        key,
        before,
        remedies,
    }
}

/// A stuck object, for building its remedies.
struct Case<'s> {
    story: &'s Story<'s>,
    id: ObjectId,
    key: &'s ObjectKey,
    /// Whether the object waits for a cycle of objects that wait for each other.
    in_ring: bool,
    /// Whether the input lacks the controller that would release the object.
    unattended: bool,
}

impl Case<'_> {
    fn cluster(&self) -> &Cluster {
        self.story.view.plan.cluster()
    }

    fn target(&self) -> Target {
        command::target(self.cluster(), self.id)
    }

    /// Lists keys of objects for a sentence.
    fn named(&self, ids: &[ObjectId]) -> String {
        let keys = ids.iter().map(|id| self.cluster().key(*id));
        words::keys(keys.collect::<Vec<_>>().iter())
    }

    fn remedies(&self, hold: &Hold, held: &HeldObject) -> Vec<Remedy> {
        let remedy = match hold {
            Hold::Kubelet => self.kubelet(),
            Hold::Finalizers(names) => self.finalizers(names, held),
            Hold::InUse { by, .. } => self.in_use(by),
            Hold::Instances(left) => self.definition(left),
            Hold::NamespaceContent { pods, others } => self.namespace(pods, others),
            Hold::SpecFinalizers(tokens) => {
                return tokens
                    .iter()
                    .map(|token| self.spec_finalizer(token))
                    .collect();
            }
            Hold::BlockingDependents { dependents, itself } => self.dependents(dependents, *itself),
            Hold::Unhandled(names) => self.unhandled(names),
            Hold::Discovery(failing) => self.discovery(failing),
        };
        let mut citations = hold.citations().to_vec();
        citations.extend(remedy.citations);
        vec![Remedy {
            citations,
            ..remedy
        }]
    }

    fn kubelet(&self) -> Remedy {
        Remedy {
            what: "waits for the kubelet of its node to confirm that its containers have stopped"
                .to_owned(),
            help: "Bring the node back. Only if it is gone for good:".to_owned(),
            commands: vec![kubectl::delete(
                &self.target(),
                &["--grace-period=0", "--force"],
            )],
            ..Remedy::default()
        }
    }

    fn finalizers(&self, names: &[String], held: &HeldObject) -> Remedy {
        let table = self.story.view.known;
        let known = names.iter().filter_map(|name| {
            let (group, kind) = (self.key.group(), self.key.kind());
            Some((name, table.find(name)?.controller_of(group, kind)?))
        });
        let known: Vec<_> = known.collect();
        let removers = known.iter().map(|(name, remover)| {
            let name = plain::one_line(name);
            let by = plain::one_line(&remover.removed_by);
            format!("{name} is removed by {by}")
        });
        let removers: Vec<String> = removers.collect();
        let ways_out = known.iter().filter_map(|(_, one)| one.way_out.as_deref());
        let ways_out: BTreeSet<&str> = ways_out.collect();
        let ways_out = ways_out.into_iter().map(plain::one_line);
        let ways_out: String = ways_out.map(|way| format!(" Or {way}.")).collect();
        let whose = if names.len() == 1 {
            "its controller"
        } else {
            "their controllers"
        };
        let bring = match (removers.as_slice(), self.unattended, names.len()) {
            ([], false, _) => format!("Bring {whose} back"),
            ([], true, 1) => format!("Make sure that {whose} runs"),
            ([], true, _) => format!("Make sure that {whose} run"),
            (known, false, _) => format!("Bring back its controller ({})", known.join("; ")),
            (known, true, _) => {
                format!("Make sure that its controller runs ({})", known.join("; "))
            }
        };
        let mut unless = String::new();
        if !held.unless_quicker.is_empty() {
            let going = self.named(&held.unless_quicker);
            unless.push_str(&format!(
                ", unless its controller removes it before the deletion of {going}"
            ));
        }
        if !held.unless_run_by.is_empty() {
            let left = self.named(&held.unless_run_by);
            unless.push_str(&format!(
                ", unless its controller is {left}: several workloads run its image"
            ));
        }
        let plan = self.story.view.plan;
        let stored = plan.stored_finalizers(self.story.step, self.id);
        let breaks = names.iter();
        let breaks = breaks.filter_map(|name| finalizers::removal_breaks(name));
        let breaks: String = breaks.map(|breaks| format!(" ({breaks})")).collect();
        Remedy {
            what: format!("is held by finalizer {}{unless}", words::finalizers(names)),
            help: format!(
                "{bring}.{ways_out} Or, skipping the clean-up that {whose} would do{breaks}:"
            ),
            commands: vec![kubectl::remove_finalizers(&self.target(), &stored, names)],
            ..Remedy::default()
        }
    }

    fn in_use(&self, by: &[ObjectId]) -> Remedy {
        let live = by.iter().filter(|id| !self.terminating(**id));
        // Implied objects share one command, because their names are unknown.
        let mut commands: Vec<String> = live
            .map(|id| kubectl::delete(&command::target(self.cluster(), *id), &[]))
            .take(3)
            .collect();
        commands.dedup();
        let help = if commands.is_empty() {
            "Release those first."
        } else {
            "It is deleted when they are gone. To end the use:"
        };
        Remedy {
            what: format!("is in use by {}", self.named(by)),
            help: help.to_owned(),
            waits: commands.is_empty(),
            commands,
            ..Remedy::default()
        }
    }

    fn definition(&self, left: &[ObjectId]) -> Remedy {
        Remedy {
            what: format!("waits until its instances are gone: {}", self.named(left)),
            help: format!(
                "Release the instances. Do not remove {} by hand: they would stay in storage and come back with the next definition of the kind.",
                finalizers::CUSTOM_RESOURCE_CLEANUP
            ),
            waits: true,
            ..Remedy::default()
        }
    }

    fn namespace(&self, pods: &[ObjectId], others: &[ObjectId]) -> Remedy {
        let what = if pods.is_empty() {
            format!("waits until it is empty: {}", self.named(others))
        } else {
            let rest = plain::count(others.len(), "other object");
            format!(
                "waits for its Pods ({}), and until then deletes nothing else ({rest})",
                self.named(pods)
            )
        };
        let content = pods.iter().chain(others).copied();
        let next = content.clone().filter(|id| self.stuck_later(*id));
        let mut next: Vec<ObjectId> = next.collect();
        next.sort_unstable();
        let next = if next.is_empty() {
            String::new()
        } else {
            format!(
                " Then these, which have finalizers, get stuck next: {}.",
                self.named(&next)
            )
        };
        let conditions = self.conditions();
        let conditions = if conditions.is_empty() {
            String::new()
        } else {
            format!(" Its conditions will say: {}.", conditions.join("; "))
        };
        let rejections = self.story.view.plan.rejections(self.story.step);
        let rejected = rejections.iter().map(|rejection| rejection.object);
        let rejected: BTreeSet<ObjectId> = rejected.collect();
        let rejected: Vec<ObjectId> = content.filter(|id| rejected.contains(id)).collect();
        let release = if rejected.is_empty() {
            "Release the rest of its content.".to_owned()
        } else {
            format!(
                "A webhook without a backend rejects the deletion of {}: see below.",
                self.named(&rejected)
            )
        };
        Remedy {
            what,
            help: format!("{release}{next}{conditions}"),
            waits: true,
            ..Remedy::default()
        }
    }

    /// Whether an object is not Terminating yet, and needs its finalizers removed once it is.
    fn stuck_later(&self, id: ObjectId) -> bool {
        let after = &self.story.after;
        !after.terminating(id)
            && after
                .present(id)
                .is_some_and(|one| !one.finalizers.is_empty())
    }

    /// Returns the messages of the Namespace's conditions with status `True`.
    fn conditions(&self) -> Vec<String> {
        let present = self.story.after.present(self.id);
        let conditions = present.and_then(|present| present.conditions);
        let conditions = conditions.into_iter().flatten();
        let bad = conditions.filter(|condition| condition.status == "True");
        bad.map(|condition| plain::one_line(&condition.message))
            .collect()
    }

    fn spec_finalizer(&self, token: &str) -> Remedy {
        Remedy {
            what: format!(
                "is held by {} in its spec.finalizers",
                plain::one_line(token)
            ),
            help: "Bring its controller back. Or, skipping the clean-up that it would do:"
                .to_owned(),
            commands: vec![kubectl::remove_spec_finalizer(&self.key.name, token)],
            ..Remedy::default()
        }
    }

    fn dependents(&self, dependents: &[ObjectId], itself: bool) -> Remedy {
        if itself {
            let what = "blocks its own Foreground deletion, which never ends";
            return self.deleted_again(what.to_owned(), "Delete it again, in the background:");
        }
        let which = plain::count(dependents.len(), "blocking dependent");
        let what = format!("waits for {which}: {}", self.named(dependents));
        let all_stuck = dependents.iter().all(|id| self.terminating(*id));
        let help = if self.in_ring {
            "At the end of that chain, objects wait for each other and are never deleted. To break \
             the chain here:"
        } else if all_stuck {
            "It is deleted once they are released. Or, without waiting for them:"
        } else {
            "Not all of them are being deleted, and the collector will never delete the others. To stop waiting:"
        };
        Remedy {
            waits: !self.in_ring && all_stuck,
            ..self.deleted_again(what, help)
        }
    }

    fn unhandled(&self, names: &[String]) -> Remedy {
        let why = if self.cluster().kind_of(self.id).versions.is_empty() {
            "its kind is unknown, so no handler is known"
        } else {
            "nothing handles it"
        };
        let what = format!("has finalizer {}, and {why}", names.join(", "));
        self.deleted_again(what, "Delete it again, in the background:")
    }

    /// Returns the remedy for failing discovery, for which every Namespace waits, whatever its content.
    fn discovery(&self, failing: &[FailingApi]) -> Remedy {
        let objects: Vec<ObjectId> = failing.iter().map(|api| api.object).collect();
        let named = self.named(&objects);
        let (exist, delete) = match failing.len() {
            1 => ("exists", "Delete the APIService"),
            _ => ("exist", "Delete the APIServices"),
        };
        let silent: Vec<String> = failing.iter().map(words::silent_api).collect();
        Remedy {
            what: format!(
                "waits until the API server can ask every API group for its kinds: {}",
                silent.join("; ")
            ),
            help: format!(
                "While {named} {exist} without a backend, every namespace that is deleted gets stuck like this one. {delete} \
                 (best before the namespace), or bring the backend back:"
            ),
            commands: objects
                .iter()
                .map(|id| kubectl::delete(&command::target(self.cluster(), *id), &[]))
                .collect(),
            ..Remedy::default()
        }
    }

    /// Returns the remedy of a second delete in the background, which removes the collector's own finalizers.
    fn deleted_again(&self, what: String, help: &str) -> Remedy {
        Remedy {
            what,
            citations: vec!["DEL-9"],
            help: help.to_owned(),
            commands: vec![kubectl::delete(&self.target(), &["--cascade=background"])],
            waits: false,
        }
    }

    fn terminating(&self, id: ObjectId) -> bool {
        self.story.after.terminating(id)
    }
}
