//! Chooses the cluster that a plan is about. A plan treats its objects as the whole cluster.

use std::collections::BTreeSet;

use super::clusters::{Clusters, PlannedCluster};
use super::question::{PlanError, Question};
use super::targets::{TargetError, Targets};
use crate::cluster::Analysis;
use crate::ownership::{Implied, Products};
use crate::text::plain;

/// A cluster that a plan may be about, with its possible targets.
pub(in crate::engine) struct Candidate<'g> {
    pub(super) analysis: Analysis<'g>,
    /// The objects that controllers create below its rendered objects.
    pub(super) implied: Implied<'g>,
    pub(super) targets: Targets,
    pub(super) cluster: PlannedCluster<'g>,
}

impl<'g> Candidate<'g> {
    pub(in crate::engine) fn of(cluster: PlannedCluster<'g>) -> Self {
        let analysis = cluster.analysis();
        let implied = analysis.implied(Products::Owned);
        let targets = Targets::new(analysis.inventory(), &implied).with_synced(cluster.synced());
        Self {
            analysis,
            implied,
            targets,
            cluster,
        }
    }

    /// Whether it has all targets of a deletion, or any target of a list of steps, whose other targets need not exist.
    fn contains(&self, question: &Question) -> bool {
        match question {
            Question::Delete {
                targets, namespace, ..
            } => self.targets.resolve(targets, namespace.as_deref()).is_ok(),
            Question::Steps { steps, namespace } => {
                steps.any_in(&self.targets, namespace.as_deref())
            }
        }
    }

    /// Whether it has no object of the kind of a target.
    fn lacks_kind(&self, question: &Question) -> bool {
        let Question::Delete {
            targets, namespace, ..
        } = question
        else {
            return false;
        };
        let found = self.targets.resolve(targets, namespace.as_deref());
        matches!(found, Err(TargetError::Kind { .. }))
    }
}

/// Chooses the cluster that contains the targets of the question, only among those called `name` if it is given.
pub(in crate::engine) fn choose<'g>(
    read: &'g [Clusters<'g>],
    question: &Question,
    name: Option<&str>,
) -> Result<Candidate<'g>, PlanError> {
    let mut all: Vec<Candidate<'g>> = asked(read, name)?.into_iter().map(Candidate::of).collect();
    let applied = all.iter().filter(|one| one.cluster.is_applied()).count();
    let mut found: Vec<usize> = (0..all.len())
        .filter(|at| all[*at].contains(question))
        .collect();
    if found.iter().any(|at| *at < applied) {
        found.retain(|at| *at < applied);
    }
    match found[..] {
        [one] => Ok(all.swap_remove(one)),
        // The plan of the chosen cluster then fails with a more specific error about the target.
        [] if read.len() == 1 => {
            let nearest = (0..all.len()).find(|at| !all[*at].lacks_kind(question));
            Ok(all.swap_remove(nearest.unwrap_or_default()))
        }
        [] => Err(PlanError::Bundles {
            found: format!(
                "none of the {} that were read contains the target",
                read.len()
            ),
            help: choice_of_bundle(all.iter().map(|one| one.cluster)),
        }),
        _ => Err(several(found.iter().map(|at| all[*at].cluster).collect())),
    }
}

/// Chooses the cluster that contains the objects to remove, only among those called `name` if it is given.
pub(in crate::engine) fn choose_removed<'g>(
    read: &'g [Clusters<'g>],
    name: Option<&str>,
) -> Result<PlannedCluster<'g>, PlanError> {
    let all = asked(read, name)?;
    let mut with = all.clone();
    with.retain(|one| one.asked_for().next().is_some());
    let mut applied = with.clone();
    applied.retain(|one| one.is_applied());
    match (applied.as_slice(), with.first().or(all.first())) {
        ([one], _) | ([], Some(one)) => Ok(*one),
        ([], None) => Err(PlanError::Bundles {
            found: "none was read".to_owned(),
            help: "name the objects, release or delivery to remove".to_owned(),
        }),
        _ => Err(several(applied)),
    }
}

/// Returns the clusters called `name`, or all without a name. Objects that nothing applies come last.
fn asked<'g>(
    read: &'g [Clusters<'g>],
    name: Option<&str>,
) -> Result<Vec<PlannedCluster<'g>>, PlanError> {
    let all: Vec<PlannedCluster<'_>> = read.iter().flat_map(Clusters::all).collect();
    let mut asked = all.clone();
    asked.retain(|one| name.is_none_or(|name| one.is_called(name)));
    if let Some(name) = name.filter(|_| asked.is_empty()) {
        let there = names(all.iter());
        return Err(PlanError::UnknownCluster {
            name: name.to_owned(),
            help: match there.as_str() {
                "" => "the input has one cluster: leave `--cluster` out".to_owned(),
                _ => format!("the input has {there}"),
            },
        });
    }
    asked.sort_by_key(|one| !one.is_applied());
    Ok(asked)
}

/// Builds the error for several possible clusters.
fn several(clusters: Vec<PlannedCluster<'_>>) -> PlanError {
    let bundles: BTreeSet<_> = clusters.iter().map(|one| &one.bundle.name).collect();
    if bundles.len() == 1 {
        return PlanError::Clusters {
            found: clusters.len(),
            help: format!(
                "choose with `--cluster NAME`, one of those that `ownerlint list --deliveries` names: {}",
                names(clusters.iter())
            ),
        };
    }
    PlanError::Bundles {
        found: format!("the target is in {}", bundles.len()),
        help: choice_of_bundle(clusters.into_iter()),
    }
}

fn choice_of_bundle<'g>(clusters: impl Iterator<Item = PlannedCluster<'g>>) -> String {
    let mut names: Vec<String> = clusters.map(|one| one.bundle.named()).collect();
    names.dedup();
    format!("choose with `--bundle NAME`: {}", names.join(", "))
}

/// Lists the names of the clusters that have one.
fn names<'g>(clusters: impl Iterator<Item = &'g PlannedCluster<'g>>) -> String {
    let names: Vec<&str> = clusters.filter_map(PlannedCluster::name).collect();
    plain::few(&names)
}
