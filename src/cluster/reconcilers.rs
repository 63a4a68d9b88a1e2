//! Which workloads in the input remove finalizers, as the model of deletion needs to know it.
//!
//! Only the image of a known controller is evidence here: that a workload may change objects of a kind does not say that it
//! does, and a finalizer that nobody removes must not vanish from a plan.

use std::collections::BTreeMap;

use super::members::Members;
use super::source::Source;
use crate::gc::Reconciler;
use crate::inventory::{Member, ObjectId};
use crate::kube::{GroupKind, Namespace, finalizers};
use crate::ownership::{Evidence, Remover, added_finalizers};

/// Group, kind and namespace of an object, and one of its finalizers: all that decides who removes it.
type Question<'a> = (GroupKind<&'a str>, &'a Namespace, &'a str);

pub(super) struct Reconcilers<'a> {
    source: &'a Source<'a>,
    members: &'a Members,
    answers: BTreeMap<Question<'a>, Option<ObjectId>>,
}

impl<'a> Reconcilers<'a> {
    pub(super) fn new(source: &'a Source<'a>, members: &'a Members) -> Self {
        Self { source, members, answers: BTreeMap::new() }
    }

    /// The controllers of an object, each with one finalizer that the object has or gets when they first see it. None where Pods
    /// do not run; and none for what a dump shows Terminating, because its controllers have had their chance.
    pub(super) fn of_member(&mut self, member: &'a Member) -> Vec<Reconciler> {
        if !self.source.running || super::facts::deletion(member).is_some() {
            return Vec::new();
        }
        let written = member.object.metadata.finalizers.iter().map(|finalizer| finalizer.value.as_str());
        let foreign = written.filter(|name| !finalizers::is_collectors(name));
        let reconcilers = foreign.chain(added_finalizers(member)).filter_map(|finalizer| {
            let workload = self.workload(member, finalizer).filter(|workload| *workload != member.id)?;
            let key = self.members.keys.get(&workload)?;
            Some(Reconciler { finalizers: vec![finalizer.to_owned()], needs: vec![key.clone()] })
        });
        reconcilers.collect()
    }

    fn workload(&mut self, member: &'a Member, finalizer: &'a str) -> Option<ObjectId> {
        let question = (member.key.group_kind(), &member.key.namespace, finalizer);
        if let Some(answer) = self.answers.get(&question) {
            return *answer;
        }
        let Source { inventory, ownership, .. } = self.source;
        let answer = match ownership.removers.remover(inventory, member, finalizer) {
            Remover::Workload { id, evidence: Evidence::Image { .. }, .. } => Some(self.outermost(id)),
            _ => None,
        };
        // A Job ends on its own: it is not a controller.
        let answer = answer.filter(|id| inventory.member(*id).object.group() != "batch");
        self.answers.insert(question, answer);
        answer
    }

    /// A dump shows a Deployment with its ReplicaSets and their Pods: what matters is the one that makes the others.
    fn outermost(&self, mut workload: ObjectId) -> ObjectId {
        let Source { inventory, ownership, .. } = self.source;
        // Pod, ReplicaSet, Deployment: no chain of them is longer.
        for _ in 0..2 {
            let owners = ownership.edges_of(workload).iter().filter_map(|edge| edge.bound());
            let Some(owner) = owners.into_iter().find(|owner| inventory.member(*owner).object.group() == "apps") else {
                break;
            };
            workload = owner;
        }
        workload
    }
}
