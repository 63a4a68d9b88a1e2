//! controller → finalizer: which workload in the input removes a finalizer from an object, and on what evidence.
//!
//! Evidence is an image that the table of known finalizers names, or a ServiceAccount that may change objects of that
//! kind there. Neither proves that the controller works, only that it is meant to do this; and permissions alone do not
//! prove what a workload does with them. Permission to change everything names no kind and is not evidence at all: one
//! tool that is bound to `cluster-admin` would be the remover of every finalizer. Nothing proves that no controller
//! removes one, because a controller can be outside the input.

use std::sync::{Arc, OnceLock};

use foldhash::HashMap;

use super::access::{Access, GrantOrder};
use super::finalizer_holder::FinalizerHolder;
use super::known_finalizers::{Controller, Handles, KnownFinalizer, KnownFinalizers};
use crate::inventory::{Inventory, Member, ObjectId};
use crate::kube::{GroupKind, KindMap};
use crate::text::Span;

/// Why a workload is treated as the remover of a finalizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// It runs an image in which, according to the table, the finalizer's controller runs.
    Image {
        /// The image as written.
        image: String,
        /// Where it is written, in the workload's file.
        span: Span,
    },
    /// The configuration says so.
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

/// Who removes a finalizer from an object: the tie from a controller to what it reconciles.
#[derive(Clone, Debug)]
pub enum Remover<'t> {
    /// A controller of the control plane, or of the cloud's: always there, in no manifest.
    ControlPlane(&'t Controller),
    /// A workload in the input.
    Workload {
        /// The workload.
        id: ObjectId,
        /// Why it is treated as the remover.
        evidence: Evidence,
        /// What the table says about its controller.
        controller: Option<&'t Controller>,
    },
    /// A known controller that is not in the input; it may run elsewhere in the cluster.
    KnownElsewhere(&'t Controller),
    /// A known controller that removes it from other kinds; whether from this one, the table does not say.
    Unlisted(&'t Controller),
    /// Neither the table nor the input contains a controller for it. A known finalizer gets this answer only on a kind
    /// that its controllers certainly do not handle.
    Nobody,
}

/// The workloads of a bundle that can remove finalizers.
#[derive(Debug)]
pub struct Removers {
    known: Arc<KnownFinalizers>,
    access: Access,
    /// The finalizers that all objects of a kind get, if there are any.
    added: KindMap<Vec<String>>,
    /// Who runs the controllers of each known finalizer, found when somebody asks.
    running: HashMap<String, OnceLock<Vec<RunningController>>>,
}

/// The workloads in which a controller runs.
#[derive(Debug)]
struct RunningController {
    /// In order, and how that is known.
    workloads: Vec<(ObjectId, Evidence)>,
    /// The grants by the first of them that they name.
    order: OnceLock<GrantOrder>,
}

impl Removers {
    /// Finds every workload of `inventory`; what is known of their images comes from a table.
    pub fn of(inventory: &Inventory, known: Arc<KnownFinalizers>) -> Self {
        let at_run_time = known.added_at_run_time();
        let added = KindMap::of(inventory.kinds_of_members(), |kind| {
            at_run_time.of_kind(kind.group, kind.kind).map(|(known, _)| known.finalizer.clone())
        });
        let running = known.iter().map(|known| (known.finalizer.clone(), OnceLock::new())).collect();
        Self { known, access: Access::of(inventory), added, running }
    }

    /// What is known of finalizers.
    pub fn known(&self) -> &Arc<KnownFinalizers> {
        &self.known
    }

    /// Who may do what.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Whether some kind of the input has [added finalizers](Self::added_finalizers).
    pub fn adds_finalizers(&self) -> bool {
        !self.added.is_empty()
    }

    /// The finalizers that every object of its kind gets from its controller, whether or not this one's manifest lists them. A
    /// dump shows what an object has.
    pub fn added_finalizers<'t>(&'t self, member: &Member) -> impl Iterator<Item = &'t str> + use<'t> {
        let added = self.added.get(member.key.group_kind()).filter(|_| !member.from_dump);
        added.into_iter().flatten().map(String::as_str)
    }

    /// Who removes `finalizer` from an object in the input.
    pub fn remover(&self, inventory: &Inventory, member: &Member, finalizer: &str) -> Remover<'_> {
        self.remover_from(inventory, &FinalizerHolder::of(member), finalizer)
    }

    /// Who removes `finalizer` from `holder`: the control plane, else a workload in which its controller runs, else a
    /// workload whose ServiceAccount may change such objects, else whoever the table names.
    pub fn remover_from(&self, inventory: &Inventory, holder: &FinalizerHolder<'_>, finalizer: &str) -> Remover<'_> {
        let Some(known) = self.known.find(finalizer) else {
            return self.with_access(inventory, holder, None).unwrap_or(Remover::Nobody);
        };
        let handles = known.handles(holder.group, holder.kind);
        let counts = |row: &Controller| match handles {
            Handles::Unproven => !row.verified,
            _ => row.handles(holder.group, holder.kind),
        };
        match handles {
            Handles::No => return Remover::Nobody,
            Handles::Unlisted => {
                let named = || known.controllers.first().map_or(Remover::Nobody, Remover::Unlisted);
                return self.with_access(inventory, holder, None).unwrap_or_else(named);
            }
            Handles::Yes | Handles::Unproven => {}
        }
        let Some(controller) = known.controllers.iter().find(|row| counts(row)) else { return Remover::Nobody };
        if controller.control_plane {
            return Remover::ControlPlane(controller);
        }
        let running = || self.running(inventory, holder, known, counts);
        let by_access = || self.with_access(inventory, holder, Some(controller));
        running().or_else(by_access).unwrap_or(Remover::KnownElsewhere(controller))
    }

    /// The workload that a configuration names for a controller, or one that runs its image. Of several, as tools and jobs run it
    /// too, the one that may change such objects.
    fn running<'t>(
        &'t self,
        inventory: &Inventory,
        holder: &FinalizerHolder<'_>,
        known: &'t KnownFinalizer,
        counts: impl Fn(&Controller) -> bool,
    ) -> Option<Remover<'t>> {
        let rows = self.running.get(&known.finalizer)?;
        let rows = rows.get_or_init(|| known.controllers.iter().map(|row| self.runs(inventory, row)).collect());
        let rows = || known.controllers.iter().zip(rows).filter(|(controller, _)| counts(controller));
        let mut found =
            rows().flat_map(|(controller, running)| running.workloads.iter().map(move |at| (controller, at)));
        let first = found.next()?;
        let able = found.next().and_then(|_| {
            let resources = inventory.kinds.resources(GroupKind::new(holder.group, holder.kind));
            rows().find_map(|(controller, running)| {
                let workloads = || running.workloads.iter().map(|(id, _)| *id);
                let order = running.order.get_or_init(|| self.access.order_of(workloads()));
                let able = self.access.first_able(order, holder, &resources)?;
                Some((controller, &running.workloads[able]))
            })
        });
        let (controller, (id, evidence)) = able.unwrap_or(first);
        Some(Remover::Workload { id: *id, evidence: evidence.clone(), controller: Some(controller) })
    }

    fn runs(&self, inventory: &Inventory, controller: &Controller) -> RunningController {
        let named = controller.workload.iter().flat_map(|key| inventory.with_key(key).first());
        let named = named.map(|id| (*id, Evidence::Configuration));
        let by_image = self
            .access
            .running(inventory, controller)
            .map(|(workload, image)| (workload, Evidence::Image { image: image.value.to_owned(), span: image.span }));
        RunningController { workloads: named.chain(by_image).collect(), order: OnceLock::new() }
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
        let resources = inventory.kinds.resources(GroupKind::new(holder.group, holder.kind));
        let grant = self.access.naming(holder, &resources)?;
        let workload = self.access.first_workload(grant)?;
        let evidence = Evidence::Access {
            service_account: workload.service_account.to_string(),
            binding: grant.binding,
            role: self.access.role_of(grant).id,
        };
        Some(Remover::Workload { id: workload.id, evidence, controller })
    }
}
