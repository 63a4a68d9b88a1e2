//! AppProjects of Argo CD that a change removes while Applications name them.

use foldhash::HashMap;

use super::places::{left_in_head, on_base, related_in_base, related_in_head};
use crate::delivery::argocd;
use crate::finding::Severity;
use crate::inventory::Member;
use crate::kube::{GroupKind, kinds};
use crate::merge::{EffectKind, Merge};
use crate::rules::draft::{Draft, MOST_RELATED};
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::named;
use crate::text::{glob, plain};
use crate::yaml::Value;

pub(in crate::rules) static APPPROJECT_REMOVED: Rule = rule!(
    Change,
    "appproject-removed",
    Error,
    Stuck,
    "An AppProject is removed before its Applications, and they can no longer be synced or deleted",
    change appproject_removed
);

const APP_PROJECT: GroupKind<&str> = GroupKind::new("argoproj.io", "AppProject");

fn appproject_removed(merge: &Merge<'_>, sink: &mut Sink) {
    let base = &merge.part.base.inventory;
    let leaving = merge.part.leaving.iter().map(|id| base.member(*id));
    let (gone, left): (Vec<&Member>, Vec<&Member>) =
        leaving.partition(|member| merge.end_of(&member.key).is_some());
    let mut projects = gone
        .iter()
        .filter(|member| member.object.is(APP_PROJECT))
        .peekable();
    if projects.peek().is_none() {
        return;
    }
    let head = merge.part.head.into_iter().flat_map(|head| {
        let members = head.inventory.members.iter();
        members.filter(|member| head.applies(member))
    });
    let spared = left.into_iter().filter(|member| {
        let mut effects = merge.effects_on(&member.key).iter();
        effects.any(|effect| matches!(effect.effect, EffectKind::Kept | EffectKind::Orphaned))
    });
    let applications = Applications {
        applied: by_project(head),
        spared: by_project(spared),
        leaving: by_project(gone.iter().copied()),
    };
    sink.extend(projects.filter_map(|project| draft(merge, project, &applications)));
}

/// Applications and ApplicationSets by the name of their project.
type ByProject<'a> = HashMap<&'a str, Vec<&'a Member>>;

/// The Applications that may name a removed project.
struct Applications<'a> {
    /// Those that head applies.
    applied: ByProject<'a>,
    /// Those that leave as well, and stay in the cluster.
    spared: ByProject<'a>,
    /// Those that are deleted as well.
    leaving: ByProject<'a>,
}

fn by_project<'a>(members: impl Iterator<Item = &'a Member>) -> ByProject<'a> {
    let mut named = ByProject::default();
    for member in members {
        if let Some(project) = project_of(member) {
            named.entry(project).or_default().push(member);
        }
    }
    named
}

/// Returns the project of an Application, or of those that an ApplicationSet generates (argo-cd
/// pkg/apis/application/v1alpha1/types.go, GetProject).
fn project_of(member: &Member) -> Option<&str> {
    let spec = match member.object.group_kind() {
        kinds::APPLICATION => member.object.at(&["spec"])?,
        kinds::APPLICATION_SET => member.object.at(&["spec", "template", "spec"])?,
        _ => return None,
    };
    Some(spec.text_at(&["project"]).unwrap_or("default"))
}

/// Returns the Applications that name a project and may use it: those in its namespace, and those in one that its
/// `sourceNamespaces` permit (argo-cd pkg/apis/application/v1alpha1/app_project_types.go, IsAppNamespacePermitted).
fn naming<'a>(named: &ByProject<'a>, project: &Member) -> Vec<&'a Member> {
    let permitted = project.object.at(&["spec", "sourceNamespaces"]);
    let permitted = permitted
        .into_iter()
        .flat_map(Value::items)
        .filter_map(Value::as_str);
    let permitted: Vec<_> = permitted
        .filter_map(|pattern| glob::glob(pattern).ok())
        .collect();
    let named = named.get(project.key.name.as_str()).into_iter().flatten();
    let using = named.copied().filter(|member| {
        is_beside(member, project)
            || member.key.namespace.name().is_some_and(|namespace| {
                permitted.iter().any(|pattern| pattern.is_match(namespace))
            })
    });
    using.collect()
}

/// Whether an Application may be in the namespace of its project.
fn is_beside(member: &Member, project: &Member) -> bool {
    !member
        .key
        .namespace
        .certainly_differs(&project.key.namespace)
}

/// Reports Applications that stay as an error. For Applications that are removed as well it is a race, reported as a
/// warning.
fn draft(merge: &Merge<'_>, project: &Member, applications: &Applications<'_>) -> Option<Draft> {
    let [mut applied, mut spared, mut leaving] = [
        &applications.applied,
        &applications.spared,
        &applications.leaving,
    ]
    .map(|named| naming(named, project));
    // With its finalizer, Argo CD keeps the project until no Application in its namespace names it (argo-cd
    // controller/appcontroller.go, finalizeProjectDeletion).
    if argocd::policy_of(&project.object).is_some() {
        if applied
            .iter()
            .chain(&spared)
            .any(|member| is_beside(member, project))
        {
            return None;
        }
        leaving.retain(|member| !is_beside(member, project));
    }
    // An ApplicationSet generates some of the Applications.
    if applied
        .iter()
        .any(|member| member.object.is(kinds::APPLICATION))
    {
        applied.retain(|member| member.object.is(kinds::APPLICATION));
    }
    spared.retain(|member| member.object.is(kinds::APPLICATION));
    // Waves are deleted in reverse order: an Application in a higher wave is gone before the project is deleted.
    leaving.retain(|member| {
        member.object.is(kinds::APPLICATION)
            && argocd::policy_of(&member.object).is_some()
            && argocd::wave(member) <= argocd::wave(project)
    });
    if !applied.is_empty() || !spared.is_empty() {
        let stay = match applied
            .first()
            .map(|first| first.object.is(kinds::APPLICATION_SET))
        {
            None => format!(
                "{} that the change leaves in the cluster",
                plain::count(spared.len(), "Application")
            ),
            Some(true) => format!(
                "the Applications of {} that head still applies",
                plain::count(applied.len(), "ApplicationSet")
            ),
            Some(false) => format!(
                "{} that head still applies",
                plain::count(applied.len(), "Application")
            ),
        };
        let message = format!("removing {} stops {stay}", named(project));
        let draft = on_project(merge, project, message)
            .reason(
                "An Application whose project does not exist is rejected by Argo CD: it is neither synced nor pruned, and if it has the \
                 resources finalizer it cannot be deleted either.",
            )
            .help("move the Applications to another project first, and remove this one in a second change")
            .severity(Severity::Error);
        let draft = applied
            .iter()
            .take(MOST_RELATED)
            .fold(draft, |draft, member| {
                related_in_head(draft, merge, member, "names the project")
            });
        let room = MOST_RELATED.saturating_sub(applied.len());
        return Some(spared.iter().take(room).fold(draft, |draft, member| {
            related_in_base(
                draft,
                merge,
                member,
                "stays in the cluster, and names the project",
            )
        }));
    }
    if leaving.is_empty() {
        return None;
    }
    let leave = plain::count(leaving.len(), "Application");
    let message = format!(
        "removing {} together with {leave} can leave them stuck",
        named(project)
    );
    let draft = on_project(merge, project, message)
        .reason(
            "Argo CD deletes the objects of an Application before it removes the resources finalizer, and it needs the \
             project for that. If the project \
             is gone first, the Application stays Terminating, and so does everything that waits for it.",
        )
        .help(
            "remove the Applications first, and the project in a second change; or give the project a lower \
             `argocd.argoproj.io/sync-wave` than its Applications: waves are deleted in reverse",
        )
        .severity(Severity::Warning);
    let deleted = leaving.iter().take(MOST_RELATED);
    Some(deleted.fold(draft, |draft, member| {
        related_in_base(draft, merge, member, "is deleted at the same time")
    }))
}

fn on_project(merge: &Merge<'_>, project: &Member, message: String) -> Draft {
    let draft = on_base(merge, project, project.object.name_span(), message)
        .label("decides what its Applications may do")
        .field("metadata.name");
    left_in_head(draft, merge, project)
}
