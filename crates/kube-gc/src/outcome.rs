//! The cluster at rest, as a user sees it.

use std::borrow::Cow;
use std::sync::Arc;

use crate::cluster::Cluster;
use crate::conditions::{self, Condition};
use crate::failing::Failing;
use crate::flags::{GONE, GRACEFUL, SPEC_KUBERNETES, TERMINATING, VISIBLE};
use crate::ids::{ObjectId, RefId};
use crate::links::Role;
use crate::names::{ObjectKey, finalizers};
use crate::object::OwnerReference;
use crate::state::{RefState, State};

/// The fate of an object at rest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// It is no longer stored.
    Gone,
    /// It is stored like this.
    Present(Present),
}

/// The deletion-related fields of a stored object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Present {
    /// `deletionTimestamp` is set.
    pub terminating: bool,
    /// `metadata.finalizers`, sorted.
    pub finalizers: Vec<String>,
    /// `metadata.ownerReferences`, as stored.
    pub owner_references: Vec<OwnerReference>,
    /// `spec.finalizers` of a Namespace, sorted.
    pub spec_finalizers: Option<Vec<String>>,
    /// The conditions of a Terminating Namespace, and of a CustomResourceDefinition that is established or Terminating;
    /// `None` for everything else.
    pub conditions: Option<Vec<Condition>>,
}

/// The gravest kind of difference between an outcome and the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Difference {
    /// Other objects exist.
    Existence,
    /// Objects differ in their Terminating state, finalizers or conditions.
    Terminating,
    /// Only owner references differ.
    References,
}

impl Difference {
    /// Returns the graver of this difference and the gravest `known` one.
    pub(super) fn or_graver(self, known: Option<Self>) -> Self {
        known.map_or(self, |known| self.min(known))
    }
}

/// One state of the cluster at rest.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// `None` if this is the verdict.
    pub differs: Option<Difference>,
    /// Whether it is reached only if the cluster seems at rest while a failed item backs off, which
    /// may last as long as the item has already been failing `[GC-16]`.
    pub late: bool,
    pub(super) base: Arc<State>,
    pub(super) patches: Vec<Patch>,
}

/// The objects of an independent part of the cluster, in another state than the verdict's.
#[derive(Debug, Clone)]
pub(super) struct Patch {
    pub(super) objects: Arc<Vec<ObjectId>>,
    pub(super) state: Arc<State>,
}

impl Outcome {
    pub(super) fn verdict(state: Arc<State>) -> Outcome {
        Outcome {
            differs: None,
            late: false,
            base: state,
            patches: Vec::new(),
        }
    }

    /// Returns the objects whose state may differ from the verdict's.
    pub(super) fn patched(&self) -> impl Iterator<Item = ObjectId> + '_ {
        self.patches
            .iter()
            .flat_map(|patch| patch.objects.iter().copied())
    }

    pub(super) fn state(&self, cluster: &Cluster) -> Cow<'_, State> {
        if self.patches.is_empty() {
            return Cow::Borrowed(&self.base);
        }
        let mut state = (*self.base).clone();
        for patch in &self.patches {
            patch.apply(cluster, &mut state);
        }
        state.failing = Failing::new(cluster, |id| state.live(id));
        Cow::Owned(state)
    }
}

impl Patch {
    /// Copies the part into `state`. Its references and finalizers are consecutive, in the order of its objects.
    fn apply(&self, cluster: &Cluster, state: &mut State) {
        let (mut references, mut finalizers) =
            (self.state.refs.iter(), self.state.finalizers.iter());
        for (&id, flags) in self.objects.iter().zip(&self.state.flags) {
            state.flags[id] = *flags;
            for (index, now) in cluster.refs_of(id).zip(&mut references) {
                state.refs[index] = *now;
            }
            for (slot, present) in cluster.finalizers_of(id).zip(&mut finalizers) {
                state.finalizers[slot] = *present;
            }
        }
    }

    /// Returns how the part differs from the verdict, if it does.
    pub(super) fn difference(&self, cluster: &Cluster, verdict: &State) -> Option<Difference> {
        let (mut references, mut finalizers) =
            (self.state.refs.iter(), self.state.finalizers.iter());
        let mut gravest = None;
        for (&id, flags) in self.objects.iter().zip(&self.state.flags) {
            let (here, there) = (flags & VISIBLE, verdict.flags[id] & VISIBLE);
            let gone = here & GONE != 0;
            if (here ^ there) & GONE != 0 {
                gravest = Some(Difference::Existence.or_graver(gravest));
            } else if here != there && !gone {
                gravest = Some(Difference::Terminating.or_graver(gravest));
            }
            for (index, now) in cluster.refs_of(id).zip(&mut references) {
                if *now != verdict.refs[index] && !gone {
                    gravest = Some(Difference::References.or_graver(gravest));
                }
            }
            for (slot, present) in cluster.finalizers_of(id).zip(&mut finalizers) {
                if *present != verdict.finalizers[slot] && !gone {
                    gravest = Some(Difference::Terminating.or_graver(gravest));
                }
            }
        }
        gravest
    }
}

pub(super) fn fate(cluster: &Cluster, state: &State, id: ObjectId) -> Fate {
    if state.gone(id) {
        return Fate::Gone;
    }
    let names = state.finalizer_names(cluster, id);
    let mut finalizers: Vec<String> = names.map(str::to_owned).collect();
    finalizers.sort();
    Fate::Present(Present {
        terminating: state.has(id, TERMINATING),
        finalizers,
        owner_references: cluster
            .refs_of(id)
            .filter_map(|index| owner_reference(cluster, state, index))
            .collect(),
        spec_finalizers: spec_finalizers(cluster, state, id),
        conditions: conditions::of(cluster, state, id),
    })
}

/// Returns a reference as stored; `None` if it was removed.
fn owner_reference(cluster: &Cluster, state: &State, index: RefId) -> Option<OwnerReference> {
    let reference = cluster.written[index];
    let block = match state.refs[index] {
        RefState::Removed => return None,
        RefState::Blocking | RefState::Kept => reference.block,
        RefState::Unblocked => Some(false),
    };
    Some(OwnerReference {
        api_version: cluster.text.get(reference.api_version).into(),
        kind: cluster.text.get(reference.kind_name).into(),
        name: cluster.text.get(reference.name).into(),
        uid: cluster.shown_uid(index).into(),
        written_uid: None,
        controller: reference.controller,
        block_owner_deletion: block,
    })
}

fn spec_finalizers(cluster: &Cluster, state: &State, id: ObjectId) -> Option<Vec<String>> {
    let Some(Role::Namespace { tokens, .. }) = cluster.links.roles.get(&id) else {
        return None;
    };
    let mut names = tokens.clone();
    if state.has(id, SPEC_KUBERNETES) {
        names.push(finalizers::KUBERNETES.to_owned());
    }
    names.sort();
    Some(names)
}

/// Whether a Terminating Pod still waits for its kubelet.
pub(super) fn waits_for_kubelet(state: &State, id: ObjectId) -> bool {
    state.live(id) && state.has(id, TERMINATING | GRACEFUL)
}

/// Returns the fates of all objects except assumed ones, in the order of the keys.
pub(super) fn fates(cluster: &Cluster, state: &State) -> Vec<(ObjectKey, Fate)> {
    let shown = cluster.ids().filter(|id| !cluster.is_assumed(*id));
    shown
        .map(|id| (cluster.key(id), fate(cluster, state, id)))
        .collect()
}
