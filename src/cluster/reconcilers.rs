//! The workloads in the input that remove finalizers, in the form of the model.
//!
//! Only a known controller counts as evidence here: that a workload may change objects of a kind does not prove that it
//! does, and a finalizer that is never removed must not disappear from a plan.

use std::collections::BTreeSet;

use foldhash::HashMap;

use super::members::Members;
use super::source::Source;
use crate::gc::Reconciler;
use crate::inventory::{Member, ObjectId};
use crate::kube::{GroupKind, Namespace, ObjectKey};
use crate::ownership::access::Budget;
use crate::ownership::{Evidence, FinalizerHolder, Remover};

/// Cache key: kind and group of an object, its namespace if permissions are known, and one of its finalizers. Together
/// they decide which controllers remove the finalizer.
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

    /// Returns the controllers of an object, each with a finalizer that the object has or gets from
    /// it. Empty if Pods do not run, and for objects that a dump shows Terminating: their
    /// controllers do not release them.
    pub(super) fn of_member(&mut self, member: &'a Member) -> Vec<Reconciler> {
        if !self.source.running || super::facts::deletion(member).is_some() {
            return Vec::new();
        }
        let removers = &self.source.ownership.removers;
        let namespace = removers
            .access()
            .has_grants()
            .then_some(&member.key.namespace);
        let mut reconcilers = Vec::new();
        for finalizer in removers.finalizers_of(member) {
            let question = (member.key.group_kind(), namespace, finalizer);
            if !self.answers.contains_key(&question) {
                let answer = self.answer(member, finalizer);
                self.answers.insert(question, answer);
            }
            let answer = self.answers.get(&question).into_iter().flatten();
            // A controller that removes its own finalizer would need itself.
            let answer = answer.filter(|(workload, _)| *workload != member.id);
            reconcilers.extend(answer.map(|(_, reconciler)| reconciler.clone()));
        }
        reconcilers
    }

    /// Returns the workloads that may be the controller, deduplicated: several if it is unknown which one is.
    fn answer(&self, member: &Member, finalizer: &str) -> Vec<(ObjectId, Reconciler)> {
        let inventory = self.source.inventory;
        let removers = &self.source.ownership.removers;
        let holder = FinalizerHolder::unnamed(member);
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
            let alternatives = authority.alternatives();
            let authority = alternatives.iter().map(|ids| self.keys(ids)).collect();
            let reconciler = Reconciler {
                finalizers: vec![finalizer.to_owned()],
                workloads: self.keys(&[running]),
                authority,
            };
            if !reconciler.workloads.is_empty() {
                answer.push((running, reconciler));
            }
        }
        answer
    }

    fn keys(&self, ids: &[ObjectId]) -> Vec<ObjectKey> {
        ids.iter()
            .filter_map(|id| self.members.key_of(*id).cloned())
            .collect()
    }

    /// Returns the outermost owner: a dump shows a Deployment with its ReplicaSets and their Pods.
    fn outermost(&self, mut workload: ObjectId) -> ObjectId {
        let inventory = self.source.inventory;
        // Pod, ReplicaSet, Deployment: no chain is longer.
        for _ in 0..2 {
            let edges = self.source.ownership.edges_of(workload).iter();
            let mut owners = edges.filter_map(|edge| edge.bound());
            workload = owners
                .find(|owner| inventory.member(*owner).object.group() == "apps")
                .unwrap_or(workload);
        }
        workload
    }
}
