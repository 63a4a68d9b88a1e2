//! HelmReleases of known operators that are removed while head keeps objects of their kinds.

use std::collections::BTreeSet;

use foldhash::{HashMap, HashSet};

use super::controller::{MAY_BE_DELIVERED, may_be_delivered};
use super::places::{left_in_head, on_name, related_in_head};
use crate::finding::Severity;
use crate::inventory::Member;
use crate::knowledge::{NamedOperator, operators_of_chart};
use crate::kube::kinds;
use crate::merge::{Merge, Outlook};
use crate::ownership::{FinalizerHolder, Remover};
use crate::rules::draft::{Draft, MAX_RELATED};
use crate::rules::finalizers::held::{counted, resting};
use crate::rules::rule::Sink;
use crate::rules::words::{listed, named};

/// The maximum number of finalizers that a finding names.
const MAX_FINALIZERS: usize = 3;

/// Reports deleted HelmReleases whose charts were not read but have the name of a known operator.
pub(super) fn operators_removed(merge: &Merge<'_>, sink: &mut Sink) {
    let (Some(head), Some(outlook)) = (merge.part.head, &merge.part.outlook) else {
        return;
    };
    let base = merge.part.base;
    let releases = head.inventory.of_kind(kinds::HELM_RELEASE);
    let charts = releases.filter_map(|release| head.chart_of_release(release));
    let charts: HashSet<&str> = charts.collect();
    // Several releases may have charts of one operator.
    let mut known: HashMap<(&str, Option<String>), LeftBehind<'_>> = HashMap::default();
    for key in merge.unseen() {
        let release = merge.part.applied_before(&key);
        let Some(release) = release.filter(|member| is_release_of_this_cluster(member)) else {
            continue;
        };
        let Some(chart) = base.chart_of_release(release) else {
            continue;
        };
        if charts.contains(chart) {
            continue;
        }
        let cluster = base.cluster_of(Some(base.destination(release.file)));
        for operator in operators_of_chart(chart) {
            let left = known.entry((&operator.name, cluster.clone()));
            let left = left.or_insert_with(|| {
                let applied = head.inventory.members.iter().filter(|member| {
                    let destination = head.destination(member.file);
                    head.applies(member)
                        && member.decodes()
                        && head.cluster_of(Some(destination)) == cluster
                });
                LeftBehind::new(operator, outlook, applied)
            });
            if !left.objects.is_empty() && !left.has_operator {
                sink.push(draft(merge, release, operator, left));
            }
        }
    }
}

/// Whether an object is a HelmRelease that installs into its own cluster.
fn is_release_of_this_cluster(member: &Member) -> bool {
    member.object.group_kind() == kinds::HELM_RELEASE
        && member.object.at(&["spec", "kubeConfig"]).is_none()
}

/// Objects of head that lose their operator.
struct LeftBehind<'m> {
    /// Objects of the operator's API groups, or with its finalizers.
    objects: Vec<&'m Member>,
    /// Their finalizers that no workload of head removes.
    finalizers: BTreeSet<&'m str>,
    /// Whether a workload of head removes one of its finalizers: then the operator is still there.
    has_operator: bool,
}

impl<'m> LeftBehind<'m> {
    /// Searches `applied`, the objects that head applies in the cluster.
    fn new(
        named: &NamedOperator,
        outlook: &'m Outlook<'_>,
        applied: impl Iterator<Item = &'m Member>,
    ) -> Self {
        let mut left = Self {
            objects: Vec::new(),
            finalizers: BTreeSet::new(),
            has_operator: false,
        };
        for member in applied {
            let removers = outlook.removers();
            let finalizers = removers.finalizers_of(member);
            let finalizers = finalizers.filter(|name| named.operator.has_finalizer(name));
            let mut is_held = false;
            for finalizer in finalizers {
                let holder = FinalizerHolder::unnamed(member);
                match removers.remover_from(outlook.inventory(), &holder, finalizer) {
                    Remover::KnownElsewhere(_) => {
                        is_held = true;
                        left.finalizers.insert(finalizer);
                    }
                    Remover::Workload { .. } => left.has_operator = true,
                    Remover::ControlPlane(_) | Remover::Unlisted(_) | Remover::Unknown => {}
                }
            }
            if is_held || named.operator.has_group(member.key.group()) {
                left.objects.push(member);
            }
        }
        left
    }
}

fn draft(
    merge: &Merge<'_>,
    release: &Member,
    operator: &NamedOperator,
    left: &LeftBehind<'_>,
) -> Draft {
    let who = named(release);
    let what = counted(named(left.objects[0]), left.objects.len());
    let name = &operator.name;
    let (loses, its) = match left.objects.len() {
        1 => ("loses", "its"),
        _ => ("lose", "their"),
    };
    let hang = if left.finalizers.is_empty() {
        String::new()
    } else {
        format!(
            " Only {name} removes {}: without it, a deleted object that has such a finalizer stays Terminating, and so does its \
             Namespace.",
            listed(left.finalizers.iter().copied().take(MAX_FINALIZERS))
        )
    };
    let draft = on_name(
        merge,
        release,
        format!("{what} probably {loses} {its} operator, {name}: {who} is removed"),
    )
    .label("installs a chart that was not read")
    .reason(format!(
        "The chart was not read, but its name is that of {}, so the uninstall probably deletes the \
         operator. CustomResourceDefinitions in the templates of the chart are deleted, too, with \
         every object of their kinds, in Git or not; those in its folder `crds` stay.{hang}{}",
        operator.operator.project.as_str(),
        if may_be_delivered(merge) {
            MAY_BE_DELIVERED
        } else {
            ""
        }
    ))
    .help(
        "`--render` shows what the chart contains. Remove the objects first, merge that and wait \
         until they are gone; remove the HelmRelease in a second change",
    )
    .target(name.clone())
    .severity(Severity::Warning);
    let known = merge.part.analysis.ownership().removers.known();
    let draft = resting(
        left_in_head(draft, merge, release),
        known,
        left.finalizers.iter().copied(),
    );
    left.objects
        .iter()
        .take(MAX_RELATED)
        .fold(draft, |draft, object| {
            related_in_head(draft, merge, object, "stays")
        })
}
