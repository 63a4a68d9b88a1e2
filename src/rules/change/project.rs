//! AppProjects of Argo CD that a change removes while Applications name them.

use foldhash::HashMap;
use globset::GlobSet;

use super::places::{left_in_head, on_name, related_in_base, related_in_head};
use crate::delivery::argocd;
use crate::finding::Severity;
use crate::inventory::Member;
use crate::kube::{GroupKind, kinds};
use crate::merge::{EffectKind, Merge};
use crate::rules::draft::{Draft, MAX_RELATED};
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::named;
use crate::text::{glob, plain};

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
    let projects = gone.iter().filter(|member| member.object.is(APP_PROJECT));
    let projects: Vec<_> = projects.collect();
    if projects.is_empty() {
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
    for project in projects {
        sink.extend(draft(merge, project, &applications));
    }
}

/// Applications and ApplicationSets by the name of their project.
type ByProject<'a> = HashMap<&'a str, Vec<&'a Member>>;

/// The Applications that may name a removed project.
struct Applications<'a> {
    /// Those that head applies.
    applied: ByProject<'a>,
    /// Those that head no longer contains, but that stay in the cluster.
    spared: ByProject<'a>,
    /// Those that the change deletes, too.
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
fn naming<'a>(named: &ByProject<'a>, project: &Member, permitted: &[GlobSet]) -> Vec<&'a Member> {
    let named = named.get(project.key.name.as_str()).into_iter().flatten();
    let using = named.copied().filter(|member| {
        let namespace = member.key.namespace.name();
        is_beside(member, project)
            || namespace.is_some_and(|name| permitted.iter().any(|glob| glob.is_match(name)))
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

/// Reports an error if Applications stay. If they are removed as well, it is a race: a warning.
fn draft(merge: &Merge<'_>, project: &Member, applications: &Applications<'_>) -> Option<Draft> {
    let spec = project.object.at(&["spec"]);
    let permitted = spec.map_or_else(Vec::new, |spec| spec.texts_at("sourceNamespaces"));
    let permitted = permitted
        .iter()
        .filter_map(|pattern| glob::glob(pattern).ok());
    let permitted: Vec<GlobSet> = permitted.collect();
    let mut applied = naming(&applications.applied, project, &permitted);
    let mut spared = naming(&applications.spared, project, &permitted);
    let mut leaving = naming(&applications.leaving, project, &permitted);
    // With its finalizer, Argo CD keeps the project until no Application in its namespace names it (argo-cd
    // controller/appcontroller.go, finalizeProjectDeletion).
    if argocd::policy_of(&project.object).is_some() {
        let mut staying = applied.iter().chain(&spared);
        if staying.any(|member| is_beside(member, project)) {
            return None;
        }
        leaving.retain(|member| !is_beside(member, project));
    }
    // Name ApplicationSets only if there are no Applications, some of which the sets generate.
    let mut using = applied.iter();
    if using.any(|member| member.object.is(kinds::APPLICATION)) {
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
        let stay = match applied.first() {
            None => {
                let number = plain::count(spared.len(), "Application");
                format!("{number} that the change leaves in the cluster")
            }
            Some(first) if first.object.is(kinds::APPLICATION_SET) => {
                let number = plain::count(applied.len(), "ApplicationSet");
                format!("the Applications of {number} that head still applies")
            }
            Some(_) => {
                let number = plain::count(applied.len(), "Application");
                format!("{number} that head still applies")
            }
        };
        let message = format!("removing {} stops {stay}", named(project));
        let mut draft = on_project(merge, project, message)
            .reason(
                "Argo CD rejects an Application whose project does not exist: it neither syncs nor \
                 prunes the Application, and cannot delete it either if it has the resources \
                 finalizer.",
            )
            .help("move the Applications to another project first, and remove this one in a second change")
            .severity(Severity::Error);
        for member in applied.iter().take(MAX_RELATED) {
            draft = related_in_head(draft, merge, member, "names the project");
        }
        let room = MAX_RELATED.saturating_sub(applied.len());
        let words = "stays in the cluster, and names the project";
        for member in spared.iter().take(room) {
            draft = related_in_base(draft, merge, member, words);
        }
        return Some(draft);
    }
    if leaving.is_empty() {
        return None;
    }
    let who = named(project);
    let leave = plain::count(leaving.len(), "Application");
    let message = format!("removing {who} together with {leave} can leave them stuck");
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
    let deleted = leaving.iter().take(MAX_RELATED);
    Some(deleted.fold(draft, |draft, member| {
        related_in_base(draft, merge, member, "is deleted at the same time")
    }))
}

fn on_project(merge: &Merge<'_>, project: &Member, message: String) -> Draft {
    let draft = on_name(merge, project, message).label("decides what its Applications may do");
    left_in_head(draft, merge, project)
}
