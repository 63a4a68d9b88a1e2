//! Deliveries of Flux that may fail after the merge because of objects that are not in the tree.

use std::collections::BTreeSet;

use super::Delivered;
use super::refused::dependencies;
use crate::graph::delivery::Delivery;
use crate::graph::kustomize::Resource;
use crate::kustomize::SourceTool;

/// The namespaces of every cluster.
const ALWAYS_THERE: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// The kinds of objects for which others wait.
const AWAITED: [&str; 2] = ["Kustomization", "HelmRelease"];

/// Pairs of a cluster and a namespace that it is known to have.
type Namespaces<'d> = BTreeSet<(&'d str, String)>;

impl Delivered {
    /// Records why Kustomizations and HelmReleases of `base` may fail in this state: nothing in the
    /// tree applies a new dependency of theirs, or creates the namespace of their objects. They
    /// fail unless the cluster has it (fluxcd/kustomize-controller
    /// internal/controller/kustomization_controller.go, `checkDependencies` and `apply`).
    pub(super) fn note_unknown_dependencies(&mut self, base: &Self) {
        let tools = self
            .all
            .iter()
            .filter_map(|one| Some(one.by.as_ref()?.tool));
        if !tools.into_iter().any(SourceTool::is_flux) {
            return;
        }
        let namespaces = self.namespaces(base);
        let awaited = self.all.iter().map(|one| new_dependencies(one, base));
        let awaited: Vec<Vec<String>> = awaited.collect();
        let applied = self.applied_among(base, awaited.iter().flatten());
        let doubts = self.all.iter().zip(&awaited).map(|(one, awaited)| {
            base.delivery(&one.id).filter(|_| one.error.is_none())?;
            let missing = awaited.iter().find(|key| !applied.contains(key));
            let missing = missing.map(|key| {
                format!(
                    "waits for {key}, which nothing here applies: if the cluster does not have it, nothing is deleted"
                )
            });
            missing.or_else(|| unknown_namespace(one, &namespaces))
        });
        let doubts: Vec<Option<String>> = doubts.collect();
        for (one, doubt) in self.all.iter_mut().zip(doubts) {
            one.may_fail = doubt;
        }
    }

    /// Returns those of the `wanted` keys that this state or `base` applies.
    fn applied_among<'k>(
        &self,
        base: &Self,
        wanted: impl Iterator<Item = &'k String>,
    ) -> BTreeSet<&'k String> {
        let wanted: BTreeSet<&String> = wanted.collect();
        let mut found = BTreeSet::new();
        if wanted.is_empty() {
            return found;
        }
        for one in self.deliveries().into_iter().chain(base.deliveries()) {
            let resources = one.resources.iter().map(Resource::id);
            let resources = resources.filter(|id| AWAITED.contains(&id.kind.as_str()));
            let keys = resources.map(|id| id.key()).chain([one.key.clone()]);
            found.extend(keys.filter_map(|key| wanted.get(&key).copied()));
        }
        found
    }

    /// Returns the namespaces that clusters have before the merge, or that this state creates.
    fn namespaces<'d>(&'d self, base: &'d Self) -> Namespaces<'d> {
        let mut found = Namespaces::new();
        for (state, is_base) in [(base, true), (self, false)] {
            for one in &state.all {
                let home = state.home(one);
                if is_base && let Some(by) = &one.by {
                    found.insert((home, by.namespace.clone()));
                }
                let settings = &one.settings;
                let release = settings.release.as_ref().map(|release| &release.namespace);
                // Helm and Argo CD may create the namespace, unless it is that of the HelmRelease.
                let own = one.key.split('/').nth(1).unwrap_or_default();
                let release = release.filter(|name| is_base || *name != own);
                let created = release.into_iter().chain(&settings.destination_namespace);
                found.extend(created.map(|name| (&*one.cluster, name.clone())));
                for id in one.resources.iter().map(|resource| resource.id()) {
                    if id.group.is_empty() && id.kind == "Namespace" {
                        found.insert((&one.cluster, id.name.into()));
                    } else if is_base {
                        found.insert((&one.cluster, id.namespace.into()));
                    }
                }
            }
        }
        found
    }
}

/// Returns the keys of the dependencies that a delivery does not have in `base`.
fn new_dependencies(one: &Delivery, base: &Delivered) -> Vec<String> {
    let known = base.delivery(&one.id).into_iter().flat_map(dependencies);
    let known: BTreeSet<String> = known.collect();
    let new = dependencies(one).filter(|key| !known.contains(key) && is_literal(key));
    new.collect()
}

/// Returns a phrase about a namespace of a Kustomization's objects that its cluster is not known to have.
fn unknown_namespace(one: &Delivery, known: &Namespaces<'_>) -> Option<String> {
    let by = one.by.as_ref().filter(|by| by.tool == SourceTool::Flux)?;
    let named = one.resources.iter().map(|resource| resource.id().namespace);
    let named: BTreeSet<String> = named.map(Into::into).collect();
    let unknown = named.into_iter().find(|name| {
        !name.is_empty()
            && is_literal(name)
            && *name != by.namespace
            && !ALWAYS_THERE.contains(&name.as_str())
            && !known.contains(&(&*one.cluster, name.clone()))
    })?;
    Some(format!(
        "applies objects to the namespace {unknown}, which nothing here creates: if the cluster does not have it, nothing is deleted"
    ))
}

/// Whether a text has no parts that only the cluster knows.
fn is_literal(text: &str) -> bool {
    !text.contains("${") && !text.contains("{{")
}
