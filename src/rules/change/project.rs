//! AppProjects of Argo CD that a change removes while Applications name them.

use foldhash::HashMap;

use super::places::{left_in_head, on_base, related_in_base, related_in_head};
use crate::delivery::argocd;
use crate::finding::Severity;
use crate::inventory::Member;
use crate::kube::{GroupKind, kinds};
use crate::merge::Merge;
use crate::rules::draft::{Draft, MOST_RELATED};
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::named;
use crate::text::plain;
use crate::yaml::Value;

pub(in crate::rules) static APPPROJECT_REMOVED: Rule = rule!(
    Change,
    "appproject-removed",
    Error,
    Stuck,
    "An AppProject leaves before its Applications, and they can no longer be synced or deleted",
    change appproject_removed
);

const APP_PROJECT: GroupKind<&str> = GroupKind::new("argoproj.io", "AppProject");

fn appproject_removed(merge: &Merge<'_>, sink: &mut Sink) {
    let leaving = merge
        .part
        .leaving
        .iter()
        .map(|id| merge.part.base.inventory.member(*id));
    let projects = leaving
        .filter(|member| member.object.is(APP_PROJECT) && merge.end_of(&member.key).is_some());
    let projects: Vec<&Member> = projects.collect();
    if projects.is_empty() {
        return;
    }
    let leaving = merge
        .part
        .leaving
        .iter()
        .map(|id| merge.part.base.inventory.member(*id));
    let leaving = Applications::new(leaving.filter(|member| merge.end_of(&member.key).is_some()));
    let head = merge.part.head.into_iter();
    let staying = head.flat_map(|head| {
        head.inventory
            .members
            .iter()
            .filter(|member| head.applies(member))
    });
    let staying = Applications::new(staying);
    sink.extend(
        projects
            .into_iter()
            .filter_map(|project| draft(merge, project, &staying, &leaving)),
    );
}

/// Applications by the name of their project.
struct Applications<'a>(HashMap<&'a str, Vec<&'a Member>>);

impl<'a> Applications<'a> {
    fn new(members: impl Iterator<Item = &'a Member>) -> Self {
        let mut named: HashMap<&str, Vec<&Member>> = HashMap::default();
        for member in members.filter(|member| member.object.is(kinds::APPLICATION)) {
            if let Some(project) = member
                .object
                .at(&["spec", "project"])
                .and_then(Value::as_str)
            {
                named.entry(project).or_default().push(member);
            }
        }
        Self(named)
    }

    /// Returns the Applications that name a project and may be in its namespace.
    fn of(&self, project: &Member) -> impl Iterator<Item = &'a Member> {
        let namespace = project.key.namespace.name();
        let named = self
            .0
            .get(project.key.name.as_str())
            .into_iter()
            .flatten()
            .copied();
        named.filter(
            move |member| match (member.key.namespace.name(), namespace) {
                (Some(here), Some(there)) => here == there,
                _ => true,
            },
        )
    }
}

/// Reports Applications that stay as an error. For Applications that leave as well it is a race, reported as a warning.
fn draft(
    merge: &Merge<'_>,
    project: &Member,
    staying: &Applications<'_>,
    leaving: &Applications<'_>,
) -> Option<Draft> {
    // With its finalizer, Argo CD keeps the project until no Application names it.
    if argocd::policy_of(&project.object).is_some() {
        return None;
    }
    let staying: Vec<&Member> = staying.of(project).collect();
    // Waves are deleted in reverse order: an Application in a higher wave is gone before the project is deleted.
    let leaving = leaving.of(project).filter(|member| {
        argocd::policy_of(&member.object).is_some() && argocd::wave(member) <= argocd::wave(project)
    });
    let leaving: Vec<&Member> = leaving.collect();
    if !staying.is_empty() {
        let stay = plain::count(staying.len(), "Application");
        let message = format!(
            "removing {} stops {stay} that head still applies",
            named(project)
        );
        let draft = on_project(merge, project, message)
            .reason(
                "An Application whose project does not exist is rejected by Argo CD: it is neither synced nor pruned, and if it has the \
                 resources finalizer it cannot be deleted either.",
            )
            .help("move the Applications to another project first, and remove this one in a second change")
            .severity(Severity::Error);
        let named = staying.iter().take(MOST_RELATED);
        return Some(named.fold(draft, |draft, member| {
            related_in_head(draft, merge, member, "names the project")
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
            "Argo CD needs the project to delete the objects of an Application before it removes the resources finalizer. \
             If the project \
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
