//! Who runs as which ServiceAccount, and what RBAC grants it: by what a workload may change the finalizers of an object.
//!
//! Where the input leaves something open (a namespace that is not written, a plural that no CRD defines) the answer is
//! yes: a finding that no controller can remove a finalizer must not rest on a guess.

mod bindings;
mod index;
mod rule;
mod search;
mod subject;

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use bindings::Bindings;
pub use bindings::{BoundRole, Grant, RuleSet};
pub use rule::{PolicyRule, ResourceRequest, may_set_blocking_reference};
pub use search::GrantOrder;
use search::GrantSearch;

use super::finalizer_holder::FinalizerHolder;
use super::known_finalizers::{Controller, ImagePattern, image_name};
use super::workloads::{self, RunContainer, Workload};
use crate::inventory::{Inventory, ObjectId};
use crate::kube::{GroupKind, ObjectKey, kinds};
use crate::manifest::Spanned;

/// Whoever is granted more than so many roles is not looked at one by one: none of them decides what it may do.
const MANY_GRANTS: usize = 500;

/// The workloads of a bundle, and what bindings in it allow them.
#[derive(Debug, Default)]
pub struct Access {
    /// Those that end on their own come last.
    pub(super) workloads: Vec<Workload>,
    /// How many of them do not.
    running: usize,
    /// Places among them, in order, by the names of their images.
    by_image: HashMap<String, Vec<usize>>,
    /// For the place of each workload that bindings name, the groups in which they do, in order.
    named_in: HashMap<usize, Vec<usize>>,
    /// For each group the grants that name it, in order.
    granted_to: Vec<Vec<usize>>,
    search: GrantSearch,
    /// All grants in the order of the input, but not for permission to change everything.
    naming: GrantOrder,
}

/// Workloads that are granted the same.
pub struct AlikeWorkloads<'a> {
    /// The workloads, those that end on their own last.
    pub workloads: Vec<ObjectId>,
    /// What bindings grant their ServiceAccount.
    pub grants: Vec<&'a Grant>,
}

/// The tie from permissions to a controller: what lets it release objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Authority {
    /// The ServiceAccount that its Pods run as, if the input contains it.
    pub service_account: Option<ObjectId>,
    /// A binding with its role, and with a role that this one aggregates. Each of them is enough; without any, the input does not
    /// say what allows it.
    pub grants: Vec<Vec<ObjectId>>,
}

impl Authority {
    /// Everything that has to exist, in alternatives of which each is enough. None: nothing in the input matters.
    pub fn alternatives(&self) -> Vec<Vec<ObjectId>> {
        let account = self.service_account;
        match self.grants.as_slice() {
            [] => account.map(|account| vec![account]).into_iter().collect(),
            grants => grants.iter().map(|grant| account.into_iter().chain(grant.iter().copied()).collect()).collect(),
        }
    }
}

impl Access {
    /// Whether any binding grants a workload something: otherwise all namespaces are alike.
    pub fn has_grants(&self) -> bool {
        !self.granted_to.is_empty()
    }

    /// Finds every workload of `inventory` with its images and with what its ServiceAccount may do.
    pub fn of(inventory: &Inventory) -> Self {
        let (workloads, running) = workloads::of(inventory);
        let mut by_image: HashMap<String, Vec<usize>> = HashMap::default();
        for (at, workload) in workloads.iter().enumerate() {
            for container in workloads::containers(inventory.member(workload.id)) {
                let name = image_name(container.image.value);
                match by_image.get_mut(name) {
                    Some(places) => places.push(at),
                    None => _ = by_image.insert(name.to_owned(), vec![at]),
                }
            }
        }
        let bindings = Bindings::of(inventory, &workloads);
        let mut named_in: HashMap<usize, Vec<usize>> = HashMap::default();
        for (group, workloads) in bindings.subjects.iter().enumerate() {
            workloads.iter().for_each(|at| named_in.entry(*at).or_default().push(group));
        }
        let mut granted_to = vec![Vec::new(); bindings.subjects.len()];
        for (at, grant) in bindings.grants.iter().enumerate() {
            grant.subjects.iter().for_each(|group| granted_to[*group].push(at));
        }
        let naming = GrantOrder::new((0..bindings.grants.len()).map(Some).collect(), false);
        Self { workloads, running, by_image, named_in, granted_to, search: GrantSearch::new(bindings), naming }
    }

    /// The workloads in which a controller runs, in order, each with the image.
    pub(super) fn running<'a>(
        &'a self,
        inventory: &'a Inventory,
        controller: &'a Controller,
    ) -> impl Iterator<Item = (ObjectId, Spanned<&'a str>)> {
        let named = |pattern: &ImagePattern| match pattern.name() {
            Some(name) => self.by_image.get(name).cloned().unwrap_or_default(),
            None => (0..self.workloads.len()).collect(),
        };
        let places: BTreeSet<usize> = controller.images.iter().flat_map(named).collect();
        places.into_iter().filter_map(|at| {
            let workload = self.workloads[at].id;
            let runs =
                |container: &RunContainer<'_>| controller.is_run_by(container.image.value, container.command_line());
            let container = workloads::containers(inventory.member(workload)).find(runs)?;
            Some((workload, container.image))
        })
    }

    /// The first grant that allows changing `holder`, whose kind is one of `resources`, by a rule about its kind or group, and not
    /// merely because it allows everything.
    pub(super) fn naming(&self, holder: &FinalizerHolder<'_>, resources: &[String]) -> Option<&Grant> {
        self.search.first(&self.naming, holder, resources).map(|at| &self.search.bindings.grants[at])
    }

    /// The first workload that a grant names.
    pub(super) fn first_workload(&self, grant: &Grant) -> Option<&Workload> {
        let named = grant.subjects.iter().filter_map(|group| self.search.bindings.subjects[*group].first());
        named.min().map(|at| &self.workloads[*at])
    }

    /// The role that a grant grants.
    pub fn role_of(&self, grant: &Grant) -> &BoundRole {
        self.search.bindings.role_of(grant)
    }

    /// The rules of a grant in sets, one for each role that writes them: the bound one, or one that it aggregates. Each set has a
    /// number, as many grants share one.
    pub fn rule_sets(&self, grant: &Grant) -> impl Iterator<Item = (usize, &RuleSet)> {
        self.search.bindings.rule_sets_of(self.role_of(grant))
    }

    /// The workloads that bindings name, but for those that are granted too much to look at it one by one.
    pub fn granted(&self) -> impl Iterator<Item = AlikeWorkloads<'_>> {
        let mut alike: BTreeMap<&[usize], Vec<usize>> = BTreeMap::new();
        for at in 0..self.workloads.len() {
            if let Some(groups) = self.named_in.get(&at) {
                alike.entry(groups).or_default().push(at);
            }
        }
        alike.into_iter().filter_map(|(groups, places)| {
            let workloads = places.into_iter().map(|at| self.workloads[at].id).collect();
            Some(AlikeWorkloads { workloads, grants: self.grants_to(groups)? })
        })
    }

    /// The grants that name one of `groups`. None: too many to look at them one by one.
    fn grants_to(&self, groups: &[usize]) -> Option<Vec<&Grant>> {
        if groups.iter().map(|group| self.granted_to[*group].len()).sum::<usize>() > MANY_GRANTS {
            return None;
        }
        let mut grants: Vec<usize> = groups.iter().flat_map(|group| &self.granted_to[*group]).copied().collect();
        grants.sort_unstable();
        grants.dedup();
        Some(grants.into_iter().map(|at| &self.search.bindings.grants[at]).collect())
    }

    /// The order of grants by the first of `workloads` that they name.
    pub(super) fn order_of(&self, workloads: impl Iterator<Item = ObjectId>) -> GrantOrder {
        let mut first: Vec<Option<usize>> = vec![None; self.granted_to.len()];
        for (rank, id) in workloads.enumerate() {
            let place = self.place(id).and_then(|at| self.named_in.get(&at));
            for group in place.into_iter().flatten() {
                first[*group].get_or_insert(rank);
            }
        }
        let rank = |grant: &Grant| grant.subjects.iter().filter_map(|group| first[*group]).min();
        GrantOrder::new(self.search.bindings.grants.iter().map(rank).collect(), true)
    }

    /// Of the workloads that made an order the place of the first one that may change `holder`, whose kind is one of `resources`.
    pub(super) fn first_able(
        &self,
        order: &GrantOrder,
        holder: &FinalizerHolder<'_>,
        resources: &[String],
    ) -> Option<usize> {
        self.search.first(order, holder, resources)
    }

    fn place(&self, workload: ObjectId) -> Option<usize> {
        let (running, ending) = self.workloads.split_at(self.running);
        let place = |among: &[Workload]| among.binary_search_by_key(&workload, |known| known.id).ok();
        place(running).or_else(|| Some(self.running + place(ending)?))
    }

    /// What lets a workload change `holder`.
    pub fn authority(&self, inventory: &Inventory, workload: ObjectId, holder: &FinalizerHolder<'_>) -> Authority {
        let Some(at) = self.place(workload) else { return Authority::default() };
        let account = self.workloads[at].service_account.clone();
        let namespace = inventory.member(workload).key.namespace.clone();
        let account = inventory.with_key(&ObjectKey::new(kinds::SERVICE_ACCOUNT, namespace, account)).first();
        let resources = inventory.kinds.resources(GroupKind::new(holder.group, holder.kind));
        let groups = self.named_in.get(&at).map_or(&[][..], Vec::as_slice);
        let own = self.grants_to(groups).unwrap_or_default();
        let ways = |finalizers| -> Vec<Vec<ObjectId>> {
            let counting = own.iter().filter(|grant| grant.counts_in(holder.scope, holder.namespace));
            let ways = counting.flat_map(|grant| self.ways(grant, holder, &resources, finalizers));
            ways.take(MANY_GRANTS + 1).collect()
        };
        let mut grants = ways(false);
        if grants.is_empty() {
            grants = ways(true);
        }
        if grants.len() > MANY_GRANTS {
            grants.clear();
        }
        grants.sort_unstable();
        grants.dedup();
        Authority { service_account: account.copied(), grants }
    }

    /// The objects by which a grant allows changing `holder`, or its `finalizers`: once for each role that says so.
    fn ways(
        &self,
        grant: &Grant,
        holder: &FinalizerHolder<'_>,
        resources: &[String],
        finalizers: bool,
    ) -> impl Iterator<Item = Vec<ObjectId>> {
        let role = self.role_of(grant).id;
        self.search.ways(grant, holder, resources, finalizers, MANY_GRANTS + 1).into_iter().map(move |set| {
            let written_in = self.search.bindings.rule_sets[set].written_in;
            let aggregated = written_in.filter(|written_in| Some(*written_in) != role);
            [Some(grant.binding), role, aggregated].into_iter().flatten().collect()
        })
    }
}
