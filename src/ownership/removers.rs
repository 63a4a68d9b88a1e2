//! Workloads in the input that remove a finalizer from an object (controller → finalizer), with the evidence.
//!
//! Evidence is an image that the table of known finalizers names, the configuration, or a
//! ServiceAccount that may change objects of that kind in that namespace. None of these proves that
//! the controller works, nor that it uses its permissions. Permission to change everything is not
//! evidence: otherwise, a tool bound to `cluster-admin` would be the remover of every finalizer.
//! Nothing proves that no controller removes a finalizer: one can be outside the input.

use std::sync::{Arc, OnceLock};

use foldhash::HashMap;

use super::access::{Access, Budget};
use super::finalizer_holder::FinalizerHolder;
use crate::inventory::{Inventory, Member, ObjectId};
use crate::knowledge::{
    Condition, Controller, Handles, KnownFinalizer, KnownFinalizers, image_name,
};
use crate::kube::{GroupKind, KindMap, finalizers};
use crate::text::Span;

/// Why a workload is treated as the remover of a finalizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// It runs an image in which, according to the table, the controller of the finalizer runs.
    Image {
        /// The image as written.
        image: String,
        /// The span of the image in the workload's file.
        span: Span,
    },
    /// It runs an image of the same name from another path, such as a mirror: likely, not certain.
    ImageName {
        /// The image as written.
        image: String,
        /// The span of the image in the workload's file.
        span: Span,
    },
    /// The configuration names it.
    Configuration,
    /// Its ServiceAccount may change objects of that kind in that namespace.
    Access {
        /// The ServiceAccount's name.
        service_account: String,
        /// The RoleBinding or ClusterRoleBinding.
        binding: ObjectId,
        /// The role, if the input contains it; `cluster-admin` comes with every cluster.
        role: Option<ObjectId>,
    },
}

/// The remover of a finalizer, as far as the input and the table show it.
#[derive(Clone, Debug)]
pub enum Remover<'t> {
    /// A controller of the control plane or of the cloud provider, which is in no manifest.
    ControlPlane(&'t Controller),
    /// A workload in the input.
    Workload {
        /// The workload.
        id: ObjectId,
        /// Why it is treated as the remover.
        evidence: Evidence,
        /// The row of its controller in the table.
        controller: Option<&'t Controller>,
    },
    /// A known controller that is not in the input; it may run elsewhere in the cluster.
    KnownElsewhere(&'t Controller),
    /// A known controller that removes it from other kinds; the table does not list this kind.
    Unlisted(&'t Controller),
    /// Neither the table nor the input contains a controller for it. Also the result if its known controllers certainly
    /// do not handle the kind, or if the table names only their framework.
    Unknown,
}

/// The workloads of a bundle that can remove finalizers.
#[derive(Debug)]
pub struct Removers {
    known: Arc<KnownFinalizers>,
    access: Access,
    /// By kind: the finalizers that its objects get from their controller, if there are any.
    added: KindMap<Vec<AddedFinalizer>>,
    /// The workloads that run the controllers of each known finalizer, found on first use.
    running: HashMap<String, OnceLock<Vec<RunningController>>>,
}

/// A finalizer that objects get from their controller.
#[derive(Clone, Debug)]
struct AddedFinalizer {
    name: String,
    /// Conditions on the object, all of which must hold.
    when: Vec<Condition>,
}

/// The workloads that run a controller, in order, with the evidence.
type RunningController = Vec<(ObjectId, Evidence)>;

#[derive(Clone, Copy)]
struct Running<'t> {
    controller: &'t Controller,
    workload: &'t (ObjectId, Evidence),
}

/// Maximum number of candidates. If more workloads run a controller, the only candidate is the
/// first one that may change the object, or else the first.
const MAX_CANDIDATES: usize = 8;

/// If there are several candidates, keeps only those for which `has_sign` holds, unless it holds for none.
fn prefer<T>(candidates: &mut Vec<T>, mut has_sign: impl FnMut(&T) -> bool) {
    if candidates.len() < 2 {
        return;
    }
    let signs: Vec<bool> = candidates.iter().map(&mut has_sign).collect();
    if signs.contains(&true) {
        let mut signs = signs.into_iter();
        candidates.retain(|_| signs.next() == Some(true));
    }
}

/// Whether a workload is named after its image, perhaps with the release name as a prefix.
fn is_called(workload: &str, image: &str) -> bool {
    workload
        .strip_suffix(image)
        .is_some_and(|before| before.is_empty() || before.ends_with('-'))
}

/// Whether a row of the table applies to an object.
fn applies_to(handles: Handles, row: &Controller, holder: &FinalizerHolder<'_>) -> bool {
    match handles {
        Handles::Unproven => !row.kinds_proven || row.handles_others_of(holder.group),
        _ => row.handles(holder.group, holder.kind),
    }
}

impl Removers {
    /// Finds every workload of `inventory`; `known` says which controllers their images run.
    pub fn of(inventory: &Inventory, known: Arc<KnownFinalizers>) -> Self {
        let added = KindMap::of(inventory.kinds_of_members(), |kind| {
            known
                .added_to(kind.group, kind.kind)
                .map(|(known, row)| AddedFinalizer {
                    name: known.finalizer.clone(),
                    when: row.when.clone(),
                })
        });
        let running = known
            .iter()
            .map(|known| (known.finalizer.clone(), OnceLock::new()))
            .collect();
        Self {
            known,
            access: Access::of(inventory),
            added,
            running,
        }
    }

    /// Returns the table of known finalizers.
    pub fn known(&self) -> &Arc<KnownFinalizers> {
        &self.known
    }

    /// Returns the permissions of the workloads.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Whether any kind in the input has [added finalizers](Self::added_finalizers).
    pub fn adds_finalizers(&self) -> bool {
        !self.added.is_empty()
    }

    /// Returns the finalizers that controllers have to remove from the object: those in its manifest, without the garbage
    /// collector's, and those that it gets from its controller.
    pub fn finalizers_of<'t>(
        &'t self,
        member: &'t Member,
    ) -> impl Iterator<Item = &'t str> + use<'t> {
        let written = member.object.metadata().finalizer_names();
        let written = written.filter(|name| !finalizers::is_collectors(name));
        written.chain(self.added_finalizers(member))
    }

    /// Returns the finalizers that the object gets from its controller, whether or not its manifest lists them. None
    /// for an object of a dump, which shows all of them.
    pub fn added_finalizers<'t>(
        &'t self,
        member: &'t Member,
    ) -> impl Iterator<Item = &'t str> + use<'t> {
        let added = self
            .added
            .get(member.key.group_kind())
            .filter(|_| !member.from_dump);
        let added = added.into_iter().flatten().filter(|added| {
            let mut conditions = added.when.iter();
            conditions.all(|condition| condition.holds(member.object.value()))
        });
        added.map(|added| added.name.as_str())
    }

    /// Finds the remover of `finalizer` from an object in the input.
    pub fn remover(&self, inventory: &Inventory, member: &Member, finalizer: &str) -> Remover<'_> {
        self.remover_from(inventory, &FinalizerHolder::new(member), finalizer)
    }

    /// Finds the remover of `finalizer` from `holder`: the control plane, else a workload that runs its controller,
    /// else a workload whose ServiceAccount may change such objects, else the controllers that the table names.
    pub fn remover_from(
        &self,
        inventory: &Inventory,
        holder: &FinalizerHolder<'_>,
        finalizer: &str,
    ) -> Remover<'_> {
        let Some(known) = self.known.find(finalizer) else {
            return self
                .with_access(inventory, holder, None)
                .unwrap_or(Remover::Unknown);
        };
        let handles = known.handles(holder.group, holder.kind);
        match handles {
            Handles::No => return Remover::Unknown,
            Handles::Unlisted => {
                let first = known.controllers.first();
                return self
                    .with_access(inventory, holder, None)
                    .unwrap_or(first.map_or(Remover::Unknown, Remover::Unlisted));
            }
            Handles::Yes | Handles::Unproven => {}
        }
        let mut rows = known.controllers.iter();
        let Some(controller) = rows.find(|row| applies_to(handles, row, holder)) else {
            return Remover::Unknown;
        };
        if controller.control_plane {
            return Remover::ControlPlane(controller);
        }
        if let Some(first) = self.running(inventory, holder, known).first() {
            let (id, evidence) = first.workload.clone();
            return Remover::Workload {
                id,
                evidence,
                controller: Some(first.controller),
            };
        }
        self.with_access(inventory, holder, Some(controller))
            .unwrap_or(if controller.is_identified() {
                Remover::KnownElsewhere(controller)
            } else {
                Remover::Unknown
            })
    }

    /// Returns the workloads that may run the controller of `finalizer`, by image or configuration:
    /// several if the input does not show which one does.
    pub fn candidates(
        &self,
        inventory: &Inventory,
        holder: &FinalizerHolder<'_>,
        finalizer: &str,
    ) -> Vec<ObjectId> {
        let Some(known) = self.known.find(finalizer) else {
            return Vec::new();
        };
        self.running(inventory, holder, known)
            .iter()
            .map(|running| running.workload.0)
            .collect()
    }

    /// Returns the workload that a configuration names for a controller, or those that run its image. Of several it
    /// prefers those that may change such objects, then those that are not Jobs, then those named after the image.
    fn running<'t>(
        &'t self,
        inventory: &Inventory,
        holder: &FinalizerHolder<'_>,
        known: &'t KnownFinalizer,
    ) -> Vec<Running<'t>> {
        let Some(rows) = self.running.get(&known.finalizer) else {
            return Vec::new();
        };
        let rows = rows.get_or_init(|| {
            let rows = known.controllers.iter();
            rows.map(|row| self.runs(inventory, row)).collect()
        });
        let handles = known.handles(holder.group, holder.kind);
        let rows = known.controllers.iter().zip(rows);
        let rows = rows.filter(|(controller, _)| applies_to(handles, controller, holder));
        let mut all = rows.flat_map(|(controller, running)| {
            running.iter().map(move |workload| Running {
                controller,
                workload,
            })
        });
        let mut found: Vec<Running<'t>> = all.clone().take(MAX_CANDIDATES + 1).collect();
        let resources = inventory
            .kinds
            .resources(GroupKind::new(holder.group, holder.kind));
        let mut budget = Budget::default();
        let may_change = |running: &Running<'_>| {
            self.access
                .may_change(running.workload.0, holder, &resources, &mut budget)
        };
        if found.len() > MAX_CANDIDATES {
            let able = if self.access.has_grants() {
                all.find(may_change)
            } else {
                None
            };
            return vec![able.unwrap_or(found[0])];
        }
        let first = found.first().map(|running| &running.workload.1);
        if first == Some(&Evidence::Configuration) {
            found.truncate(1);
        }
        prefer(&mut found, may_change);
        prefer(&mut found, |running| {
            inventory.member(running.workload.0).object.group() != "batch"
        });
        prefer(&mut found, |running| match &running.workload {
            (id, Evidence::Image { image, .. }) => {
                is_called(&inventory.member(*id).key.name, image_name(image))
            }
            _ => false,
        });
        found
    }

    fn runs(&self, inventory: &Inventory, controller: &Controller) -> RunningController {
        let named = controller
            .workload
            .iter()
            .flat_map(|key| inventory.with_key(key).first());
        let named = named.map(|id| (*id, Evidence::Configuration));
        let known = self.access.workloads();
        let by_image = known.running(inventory, controller, Controller::is_run_by);
        let by_image = by_image.map(|(workload, image)| {
            let (image, span) = (image.value.to_owned(), image.span);
            (workload, Evidence::Image { image, span })
        });
        let mut workloads: Vec<_> = named.chain(by_image).collect();
        if workloads.is_empty() {
            let by_name = known.running(inventory, controller, Controller::may_be_run_by);
            workloads.extend(by_name.map(|(workload, image)| {
                let (image, span) = (image.value.to_owned(), image.span);
                (workload, Evidence::ImageName { image, span })
            }));
        }
        // A dump contains a Deployment together with its ReplicaSets and their Pods.
        prefer(&mut workloads, |(id, _)| {
            let metadata = inventory.member(*id).object.metadata();
            metadata.owner_references().entries.is_empty()
        });
        workloads
    }

    fn with_access<'t>(
        &'t self,
        inventory: &Inventory,
        holder: &FinalizerHolder<'_>,
        controller: Option<&'t Controller>,
    ) -> Option<Remover<'t>> {
        if !self.access.has_grants() {
            return None;
        }
        let resources = inventory
            .kinds
            .resources(GroupKind::new(holder.group, holder.kind));
        let (grant, workload) = self.access.first_grant_naming_kind(holder, &resources)?;
        let evidence = Evidence::Access {
            service_account: workload.service_account.to_string(),
            binding: grant.binding,
            role: self.access.role_of(grant).id,
        };
        Some(Remover::Workload {
            id: workload.id,
            evidence,
            controller,
        })
    }
}
