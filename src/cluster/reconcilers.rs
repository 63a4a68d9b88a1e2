//! Which workloads in the input remove finalizers, as the model of deletion needs to know it.
//!
//! Only a known controller is evidence here: that a workload may change objects of a kind does not say that it does, and a
//! finalizer that is never removed must not vanish from a plan.

use std::collections::BTreeSet;

use foldhash::HashMap;

use super::members::Members;
use super::source::Source;
use crate::gc::Reconciler;
use crate::inventory::{Member, ObjectId};
use crate::kube::{GroupKind, Namespace, ObjectKey, finalizers};
use crate::ownership::access::Budget;
use crate::ownership::{Evidence, FinalizerHolder, Remover};

/// Group and kind of an object, its namespace if permissions are known, and one of its finalizers: all that decides who
/// removes it.
type FinalizerQuestion<'a> = (GroupKind<&'a str>, Option<&'a Namespace>, &'a str);

pub(super) struct Reconcilers<'a> {
    source: &'a Source<'a>,
    members: &'a Members<'a>,
    answers: HashMap<FinalizerQuestion<'a>, Vec<(ObjectId, Reconciler)>>,
}

impl<'a> Reconcilers<'a> {
    pub(super) fn new(source: &'a Source<'a>, members: &'a Members<'a>) -> Self {
        Self {
            source,
            members,
            answers: HashMap::default(),
        }
    }

    /// The controllers of an object, each with one finalizer that the object has or gets when they first see it. None where Pods
    /// do not run; and none for what a dump shows Terminating, because its controllers have had their chance.
    pub(super) fn of_member(&mut self, member: &'a Member) -> Vec<Reconciler> {
        if !self.source.running || super::facts::deletion(member).is_some() {
            return Vec::new();
        }
        let written = member
            .object
            .metadata()
            .finalizers()
            .iter()
            .map(|finalizer| finalizer.value.as_str());
        let foreign = written.filter(|name| !finalizers::is_collectors(name));
        let removers = &self.source.ownership.removers;
        let namespace = removers
            .access()
            .has_grants()
            .then_some(&member.key.namespace);
        let added = removers.added_finalizers(member);
        let mut reconcilers = Vec::new();
        for finalizer in foreign.chain(added) {
            let question = (member.key.group_kind(), namespace, finalizer);
            if !self.answers.contains_key(&question) {
                let answer = self.answer(member, finalizer);
                self.answers.insert(question, answer);
            }
            let answer = self.answers.get(&question).into_iter().flatten();
            // A controller that lists itself would need itself.
            let answer = answer.filter(|(workload, _)| *workload != member.id);
            reconcilers.extend(answer.map(|(_, reconciler)| reconciler.clone()));
        }
        reconcilers
    }

    /// The workloads that may be the controller, each once: several where it is unknown which of them is.
    fn answer(&self, member: &Member, finalizer: &str) -> Vec<(ObjectId, Reconciler)> {
        let Source {
            inventory,
            ownership,
            ..
        } = self.source;
        let removers = &ownership.removers;
        // Which object of its kind it is makes no difference to who removes it.
        let holder = FinalizerHolder {
            name: None,
            ..FinalizerHolder::of(member)
        };
        let remover = removers.remover_from(inventory, &holder, finalizer);
        if !matches!(
            remover,
            Remover::Workload {
                evidence: Evidence::Image { .. }
                    | Evidence::ImageName { .. }
                    | Evidence::Configuration,
                ..
            }
        ) {
            return Vec::new();
        }
        let (mut seen, mut budget) = (BTreeSet::new(), Budget::default());
        let mut answer = Vec::new();
        for workload in removers.candidates(inventory, &holder, finalizer) {
            let running = self.outermost(workload);
            // A Job ends on its own: it is not a controller.
            if inventory.member(workload).object.group() == "batch" || !seen.insert(running) {
                continue;
            }
            let authority = removers
                .access()
                .authority(inventory, workload, &holder, &mut budget);
            let authority = authority.alternatives();
            let authority = authority
                .iter()
                .map(|alternative| self.keys(alternative))
                .collect();
            let workloads = self.keys(&[running]);
            if !workloads.is_empty() {
                answer.push((
                    running,
                    Reconciler {
                        finalizers: vec![finalizer.to_owned()],
                        workloads,
                        authority,
                    },
                ));
            }
        }
        answer
    }

    fn keys(&self, ids: &[ObjectId]) -> Vec<ObjectKey> {
        ids.iter()
            .filter_map(|id| self.members.key_of(*id).cloned())
            .collect()
    }

    /// A dump shows a Deployment with its ReplicaSets and their Pods: what matters is the one that makes the others.
    fn outermost(&self, mut workload: ObjectId) -> ObjectId {
        let Source {
            inventory,
            ownership,
            ..
        } = self.source;
        // Pod, ReplicaSet, Deployment: no chain of them is longer.
        for _ in 0..2 {
            let owners = ownership
                .edges_of(workload)
                .iter()
                .filter_map(|edge| edge.bound());
            let Some(owner) = owners
                .into_iter()
                .find(|owner| inventory.member(*owner).object.group() == "apps")
            else {
                break;
            };
            workload = owner;
        }
        workload
    }
}
