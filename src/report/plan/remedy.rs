//! What holds an object that hangs, and what would unhang it: the controller to bring back, what to unhang first, and the
//! exact command as a last resort.

use std::collections::{BTreeMap, BTreeSet};

use super::command;
use super::story::Story;
use super::words;
use crate::gc::{CLEANUP_FINALIZER, FOREGROUND_FINALIZER, Fate, Hanging, Key, ORPHAN_FINALIZER, ObjectId};
use crate::ownership::known_finalizers;
use crate::report::plain;

/// An object that hangs.
#[derive(Debug)]
pub(super) struct Stuck {
    pub(super) key: Key,
    /// It was Terminating before this step.
    pub(super) before: bool,
    pub(super) holds: Vec<Hold>,
}

/// One thing that holds it.
#[derive(Debug)]
pub(super) struct Hold {
    /// What holds it, as half a sentence about the object.
    pub(super) what: String,
    pub(super) rules: Vec<&'static str>,
    /// What to do, as sentences.
    pub(super) help: String,
    /// The commands that do it.
    pub(super) commands: Vec<String>,
    /// Whether it ends by itself once other objects are unhung.
    pub(super) waits: bool,
}

impl Stuck {
    /// Whether nothing needs to be done to it but unhang others.
    pub(super) fn waits(&self) -> bool {
        self.holds.iter().all(|hold| hold.waits)
    }
}

/// Everything that is Terminating after the step: first what is held by itself, then what waits for others.
pub(super) fn stuck(story: &Story<'_>) -> Vec<Stuck> {
    let rings = rings(&story.hanging);
    let mut stuck: Vec<Stuck> = story.hanging.iter().filter_map(|hanging| one(story, hanging, &rings)).collect();
    stuck.sort_by(|a, b| (a.waits(), a.before, &a.key).cmp(&(b.waits(), b.before, &b.key)));
    stuck
}

/// The objects that wait, directly or not, for a ring of objects that wait for each other: what is left when those that
/// wait for nothing are taken away again and again.
fn rings(hanging: &[Hanging]) -> BTreeSet<&Key> {
    let all: BTreeSet<&Key> = hanging.iter().map(|hanging| &hanging.object).collect();
    let mut waiting: BTreeMap<&Key, usize> = BTreeMap::new();
    let mut waited_for_by: BTreeMap<&Key, Vec<&Key>> = BTreeMap::new();
    for one in hanging {
        let blockers = one.blocking_dependents.iter().filter(|blocker| all.contains(blocker));
        waiting.insert(&one.object, blockers.clone().count());
        blockers.for_each(|blocker| waited_for_by.entry(blocker).or_default().push(&one.object));
    }
    let mut free: Vec<&Key> = waiting.iter().filter(|(_, count)| **count == 0).map(|(key, _)| *key).collect();
    while let Some(key) = free.pop() {
        waiting.remove(key);
        for waiter in waited_for_by.get(key).into_iter().flatten() {
            if let Some(count) = waiting.get_mut(waiter) {
                *count -= 1;
                if *count == 0 {
                    free.push(waiter);
                }
            }
        }
    }
    waiting.into_keys().collect()
}

fn one(story: &Story<'_>, hanging: &Hanging, rings: &BTreeSet<&Key>) -> Option<Stuck> {
    let id = story.view.plan.cluster().find(&hanging.object)?;
    let case = Case { story, hanging, id, in_ring: rings.contains(&hanging.object) };
    let mut holds: Vec<Hold> = [case.kubelet(), case.foreign(), case.in_use(), case.definition(), case.namespace()]
        .into_iter()
        .flatten()
        .collect();
    holds.extend(case.spec_finalizers());
    holds.extend(case.collector());
    if holds.is_empty() {
        holds.push(Hold {
            what: "is not let go".to_owned(),
            rules: hanging.rules.clone(),
            help: String::new(),
            commands: Vec::new(),
            waits: true,
        });
    }
    Some(Stuck { key: hanging.object.clone(), before: story.hung_before.contains(&hanging.object), holds })
}

struct Case<'s> {
    story: &'s Story<'s>,
    hanging: &'s Hanging,
    id: ObjectId,
    /// It waits for objects that wait for each other.
    in_ring: bool,
}

impl Case<'_> {
    fn kubectl(&self, verb: &str) -> String {
        command::kubectl(verb, self.story.view.plan.cluster(), self.id)
    }

    /// Finalizers that somebody else than the control plane has to remove `[FIN-17]`.
    fn foreign_names(&self) -> Vec<String> {
        let definition = self.hanging.object.kind == "CustomResourceDefinition";
        let own = |name: &&String| match name.as_str() {
            FOREGROUND_FINALIZER | ORPHAN_FINALIZER => true,
            CLEANUP_FINALIZER => definition,
            name => self.protects(name),
        };
        self.hanging.finalizers.iter().filter(|name| !own(name)).cloned().collect()
    }

    /// A finalizer that the control plane removes as soon as nobody holds the object any more.
    fn protects(&self, name: &str) -> bool {
        !self.hanging.held_by.is_empty()
            && known_finalizers::table().find(name).is_some_and(|known| known.removed_by_control_plane())
    }

    fn kubelet(&self) -> Option<Hold> {
        self.hanging.kubelet.then(|| Hold {
            what: "waits for the kubelet of its node to confirm that its containers have stopped".to_owned(),
            rules: vec!["DEL-15"],
            help: "Bring the node back. Only if it is gone for good:".to_owned(),
            commands: vec![format!("{} --grace-period=0 --force", self.kubectl("delete"))],
            waits: false,
        })
    }

    fn foreign(&self) -> Option<Hold> {
        let names = self.foreign_names();
        if names.is_empty() {
            return None;
        }
        let Key { group, kind, .. } = &self.hanging.object;
        let table = known_finalizers::table();
        let removers = names.iter().filter_map(|name| {
            let remover = table.find(name)?.controller_of(group, kind)?;
            Some(format!("{} is removed by {}", plain::one_line(name), plain::one_line(&remover.removed_by)))
        });
        let removers: Vec<String> = removers.collect();
        let whose = if names.len() == 1 { "its controller" } else { "their controllers" };
        let bring = match removers.as_slice() {
            [] => format!("Bring {whose} back"),
            known => format!("Bring back what removes it ({})", known.join("; ")),
        };
        let stored = self.story.view.plan.stored_finalizers(self.story.step, self.id);
        let shown: Vec<String> = names.iter().map(|name| plain::one_line(name)).collect();
        Some(Hold {
            what: format!("is held by finalizer {}", shown.join(", ")),
            rules: vec!["FIN-17"],
            help: format!("{bring}. Or, skipping the clean-up that {whose} would do:"),
            commands: vec![command::without_finalizers(self.story.view.plan.cluster(), self.id, &stored, &names)],
            waits: false,
        })
    }

    fn in_use(&self) -> Option<Hold> {
        let holders = &self.hanging.held_by;
        if holders.is_empty() {
            return None;
        }
        let cluster = self.story.view.plan.cluster();
        let ids = holders.iter().filter_map(|holder| cluster.find(holder));
        let live = ids.filter(|id| !self.terminating(*id));
        let commands = live.map(|id| command::kubectl("delete", cluster, id)).take(3).collect::<Vec<_>>();
        let help =
            if commands.is_empty() { "Unhang those first." } else { "It goes when they are gone. To end the use:" };
        Some(Hold {
            what: format!("is in use by {}", words::keys(holders.iter())),
            rules: self.protection_rules(),
            help: help.to_owned(),
            waits: commands.is_empty(),
            commands,
        })
    }

    fn protection_rules(&self) -> Vec<&'static str> {
        match self.hanging.object.kind.as_str() {
            "PersistentVolumeClaim" => vec!["FIN-1"],
            "PersistentVolume" => vec!["FIN-2"],
            "VolumeAttributesClass" => vec!["FIN-3"],
            _ => vec!["FIN-6"],
        }
    }

    fn definition(&self) -> Option<Hold> {
        let left = &self.hanging.content;
        if left.is_empty() || self.hanging.object.kind != "CustomResourceDefinition" {
            return None;
        }
        Some(Hold {
            what: format!("waits until its instances are gone: {}", words::keys(left.iter())),
            rules: vec!["CRD-4"],
            help: format!(
                "Unhang the instances. Do not remove {CLEANUP_FINALIZER} by hand: they would stay in storage and come back with the next definition of the kind."
            ),
            commands: Vec::new(),
            waits: true,
        })
    }

    fn namespace(&self) -> Option<Hold> {
        let left = &self.hanging.content;
        if left.is_empty() || self.hanging.object.kind != "Namespace" {
            return None;
        }
        let pods: Vec<&Key> = left.iter().filter(|key| key.kind == "Pod" && key.group.is_empty()).collect();
        let (what, rule) = if pods.is_empty() {
            (format!("waits until it is empty: {}", words::keys(left.iter())), "NS-9")
        } else {
            let rest = plain::count(left.len() - pods.len(), "other object");
            let pods = words::keys(pods.into_iter());
            (format!("waits for its Pods ({pods}), and until then deletes nothing else ({rest})"), "NS-17")
        };
        let next: Vec<&Key> = left.iter().filter(|key| self.hangs_later(key)).collect();
        let next = if next.is_empty() {
            String::new()
        } else {
            format!(" Then these, which have finalizers, are next to hang: {}.", words::keys(next.into_iter()))
        };
        let told = self.conditions();
        let told =
            if told.is_empty() { String::new() } else { format!(" Its conditions will say: {}.", told.join("; ")) };
        Some(Hold {
            what,
            rules: vec![rule],
            help: format!("Unhang what is left in it.{next}{told}"),
            commands: Vec::new(),
            waits: true,
        })
    }

    /// Whether an object is not Terminating yet, and somebody has to remove its finalizers once it is.
    fn hangs_later(&self, key: &Key) -> bool {
        let fate = self.story.view.plan.cluster().find(key).map(|id| &self.story.after[id as usize]);
        matches!(fate, Some(Fate::Present(present)) if !present.terminating && !present.finalizers.is_empty())
    }

    /// What the conditions of a Namespace complain about.
    fn conditions(&self) -> Vec<String> {
        let Fate::Present(present) = &self.story.after[self.id as usize] else { return Vec::new() };
        let conditions = present.conditions.iter().flatten().filter(|condition| condition.status == "True");
        conditions.map(|condition| plain::one_line(&condition.message)).collect()
    }

    /// Tokens in `spec.finalizers` of a Namespace besides the namespace controller's own.
    fn spec_finalizers(&self) -> Vec<Hold> {
        let Fate::Present(present) = &self.story.after[self.id as usize] else { return Vec::new() };
        let tokens = present.spec_finalizers.iter().flatten().filter(|token| token.as_str() != "kubernetes");
        let hold = |token: &String| Hold {
            what: format!("is held by {} in its spec.finalizers", plain::one_line(token)),
            rules: vec!["NS-3"],
            help: "Bring its controller back. Or, skipping the clean-up that it would do:".to_owned(),
            commands: vec![command::without_spec_finalizer(&self.hanging.object.name, token)],
            waits: false,
        };
        tokens.map(hold).collect()
    }

    /// The collector's own finalizers: a second delete in the background takes them off `[DEL-9]`.
    fn collector(&self) -> Option<Hold> {
        let gc = |name: &&String| name.as_str() == FOREGROUND_FINALIZER || name.as_str() == ORPHAN_FINALIZER;
        let names: Vec<&String> = self.hanging.finalizers.iter().filter(gc).collect();
        let is_namespace = self.hanging.object.kind == "Namespace" && self.hanging.object.group.is_empty();
        // Until a namespace is empty, a second delete of it changes nothing [NS-1].
        if names.is_empty() || (is_namespace && !self.hanging.content.is_empty()) {
            return None;
        }
        let cluster = self.story.view.plan.cluster();
        let blockers = &self.hanging.blocking_dependents;
        let ids: Vec<ObjectId> = blockers.iter().filter_map(|blocker| cluster.find(blocker)).collect();
        let stuck = |id: &ObjectId| self.terminating(*id) && *id != self.id;
        let (what, rule, help) = if blockers.contains(&self.hanging.object) {
            (
                "blocks its own Foreground deletion, which never ends".to_owned(),
                "GC-44",
                "Delete it again, in the background:",
            )
        } else if blockers.is_empty() {
            let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
            let help = "Delete it again, in the background:";
            let unwatched = match cluster.kind_of(self.id).versions.is_empty() {
                true => "nothing is known of its kind, so that nobody is seen to handle it",
                false => "nothing handles it",
            };
            (format!("has finalizer {}, and {unwatched}", names.join(", ")), "GC-2", help)
        } else {
            let which = plain::count(blockers.len(), "blocking dependent");
            let what = format!("waits for {which}: {}", words::keys(blockers.iter()));
            let help = if self.in_ring {
                "At the end of that chain objects wait for each other, and none ever goes. To break it here:"
            } else if ids.iter().all(stuck) {
                "It goes when they are unhung. Or, without waiting for them:"
            } else {
                "Not all of them are being deleted, and the collector never will. To stop waiting:"
            };
            (what, "GC-33", help)
        };
        Some(Hold {
            what,
            rules: vec![rule, "DEL-9"],
            help: help.to_owned(),
            commands: vec![format!("{} --cascade=background", self.kubectl("delete"))],
            waits: !self.in_ring && !ids.is_empty() && ids.iter().all(stuck),
        })
    }

    fn terminating(&self, id: ObjectId) -> bool {
        matches!(&self.story.after[id as usize], Fate::Present(present) if present.terminating)
    }
}
