//! Notes on the input of a plan: every assumption, in a sentence.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::Assumptions;
use crate::engine::notes::{ChartFolders, is_in_templates};
use crate::gc::{Effect, Fate, Hold, Plan};
use crate::inventory::{Inventory, Member};
use crate::knowledge::{KnownFinalizers, Tables};
use crate::kube::{GroupKind, Namespace, ObjectKey};
use crate::kustomize::{UNEVALUATED_DELIVERIES, folder_of, shown};
use crate::manifest::{SkipReason, TemplateLanguage};
use crate::ownership::{Implied, Reach, instances_of};
use crate::text::plain;

/// Maximum number of objects that a note names.
const MAX_NAMED: usize = 3;

/// The facts that notes on a plan are about.
pub(super) struct NoteInput<'a> {
    pub(super) inventory: &'a Inventory,
    pub(super) tables: &'a Tables,
    /// The objects that controllers create below rendered objects.
    pub(super) implied: &'a Implied<'a>,
    /// The deliveries of the input.
    pub(super) reach: &'a Reach,
    /// Namespaces that exist although the input does not contain them.
    pub(super) namespaces: &'a BTreeSet<String>,
    /// Whether Pods run on nodes.
    pub(super) running: bool,
}

/// Returns a sentence for each assumption about a cluster, the most important first.
pub(super) fn notes(input: &NoteInput<'_>, assumptions: &Assumptions) -> Vec<String> {
    let inventory = input.inventory;
    let mut notes = Vec::new();
    let Assumptions {
        bound_by_name,
        assumed_owners,
        absent_owners,
        unknown_kinds,
        proven_kinds,
        expected_kinds,
        retired_kinds,
        added_finalizers,
        duplicates,
        shared_uids,
        rejected,
        answered_elsewhere,
        unanswered,
        not_looked_at,
        waits_left_out,
    } = assumptions;
    notes.extend(unread(inventory, input.reach));
    notes.extend(note(&owners(assumed_owners), |named| {
        format!("Not in the input and assumed to exist elsewhere, because a uid in a rendering proves nothing: {named}.")
    }));
    notes.extend(note(&owners(absent_owners), |named| {
        format!(
            "Not in the input and assumed not to exist, because a dump is treated as the whole cluster: {named}. If they \
             exist, add them to the input."
        )
    }));
    notes.extend(note(&callers(unanswered), |named| {
        format!(
            "Without a backend from the start, because the input is treated as the whole cluster and has no such Service \
             or no Pods for it: {named}. If they run elsewhere, add them to the input."
        )
    }));
    notes.extend(note(&callers(answered_elsewhere), |named| {
        format!(
            "Not in the input and assumed to answer elsewhere, because a rendering proves nothing: {named}. If it does \
             not, everything that needs it fails."
        )
    }));
    if *waits_left_out > 0 {
        notes.push(format!(
            "There are too many waves to wait for each: the last {} are deleted together.",
            waits_left_out + 1
        ));
    }
    notes.extend(note(&callers(not_looked_at), |named| {
        format!("Assumed to answer, because there are too many webhooks, APIs and objects to look at all of them: {named}.")
    }));
    notes.extend(note(&sorted(unknown_kinds), |named| {
        format!(
            "Unknown kinds, so their objects are never collected, and the dependents of these are kept: {named}. Add \
             their CustomResourceDefinitions to the input."
        )
    }));
    notes.extend(note(&sorted(proven_kinds), |named| {
        format!(
            "Assumed to be served, because the dump contains objects of these kinds, though not their \
             CustomResourceDefinitions: {named}."
        )
    }));
    notes.extend(note(&sorted(expected_kinds), |named| {
        format!(
            "The CustomResourceDefinitions of these kinds are not in the input. They are treated \
             as installed, in the versions that the input uses, because rendered objects need \
             them: {named}."
        )
    }));
    notes.extend(note(&sorted(retired_kinds), |named| {
        format!(
            "Treated as served, because rendered objects need them: {named}. Kubernetes {} no longer serves them.",
            inventory.kinds.release()
        )
    }));
    if *bound_by_name > 0 {
        notes.push(format!(
            "Owner references of rendered objects, resolved by name and assumed to be correct: \
             {bound_by_name}."
        ));
    }
    notes.extend(on_implied(input));
    let added: Vec<String> = added_finalizers
        .iter()
        .map(|(kind, finalizer)| format!("{finalizer} on {kind}"))
        .collect();
    notes.extend(note(&added, |named| {
        format!("Finalizers that controllers in the input add at run time, and remove while they run: {named}.")
    }));
    let unseen = added_later(inventory, &input.tables.finalizers, added_finalizers);
    notes.extend(note(&unseen, |named| {
        format!(
            "A rendering does not contain the finalizers that operators add at run time; only a \
             dump does. They hold objects of these kinds until the operator removes them: {named}."
        )
    }));
    notes.extend(note(&owned_unseen(inventory, input.tables), |named| {
        format!(
            "A rendering does not contain the objects that operators create. They are deleted with \
             their owners: {named}."
        )
    }));
    let mut capped: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    for (workload, shown) in &input.implied.capped {
        capped.entry(*shown).or_default().push(workload.to_string());
    }
    for (shown, workloads) in capped.iter().rev() {
        notes.push(format!(
            "Only {shown} replicas are shown for {}.",
            named(workloads)
        ));
    }
    notes.extend(on_namespaces(input));
    notes.extend(note(&texts(duplicates), |named| {
        format!("Listed more than once; the last one is used: {named}.")
    }));
    notes.extend(note(&texts(shared_uids), |named| {
        format!(
            "The uid of these objects is ignored, because another object in the input has it, too: \
             {named}."
        )
    }));
    notes.extend(note(&texts(rejected), |named| {
        format!("Left out, because no API server accepts them as they are: {named}.")
    }));
    notes
}

/// Returns notes on the number of implied objects.
fn on_implied(input: &NoteInput<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let mut members = input.inventory.members.iter();
    let rendered = members.any(|member| !member.from_dump);
    let implied = &input.implied.objects;
    let generated = implied.iter().filter(|one| one.is_generated()).count();
    let built_in = implied.len() - generated;
    if rendered && built_in > 0 {
        let pods = if input.running {
            " (Pods are assumed to run on nodes)"
        } else {
            ""
        };
        notes
            .push(format!("Implied objects, which built-in controllers create below rendered ones{pods}: {built_in}."));
    }
    if generated > 0 {
        notes.push(format!(
            "Implied objects, which operators create for custom resources: {generated}."
        ));
    }
    notes
}

/// Returns notes on objects without a namespace, and on namespaces without an object.
fn on_namespaces(input: &NoteInput<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let unwritten = input
        .inventory
        .members
        .iter()
        .filter(|member| member.key.namespace == Namespace::Unwritten);
    // `-n` does not reach objects whose kind may be cluster-scoped.
    let (scoped, unscoped): (Vec<&Member>, Vec<&Member>) =
        unwritten.partition(|member| member.resolution.scope.is_some());
    if !scoped.is_empty() {
        notes.push(
            "Objects without a namespace are assumed to share one, written `?`; `-n` names it."
                .to_owned(),
        );
    }
    let unscoped: BTreeSet<String> = unscoped
        .iter()
        .map(|member| member.key.group_kind().to_string())
        .collect();
    notes.extend(note(&Vec::from_iter(unscoped), |named| {
        format!(
            "The scope of these kinds is not known, so the namespace of their objects is written `?`; their \
             CustomResourceDefinitions, or `scopes` in ownerlint.yaml, name it: {named}."
        )
    }));
    notes.extend(note(&Vec::from_iter(input.namespaces), |named| {
        format!("Namespaces that exist because objects live in them: {named}.")
    }));
    notes
}

/// Returns `sentence` with the first names of `all`; `None` if there are none.
fn note(all: &[impl AsRef<str>], sentence: impl FnOnce(String) -> String) -> Option<String> {
    (!all.is_empty()).then(|| sentence(named(all)))
}

/// Returns notes on parts of the input that are not part of the plan.
fn unread(inventory: &Inventory, reach: &Reach) -> impl Iterator<Item = String> {
    let files = inventory
        .unreadable_files()
        .map(|(file, reason)| format!("{} {reason}", inventory.sources.file(file).path()));
    let charts = unrendered_charts(inventory);
    let mut folders = ChartFolders::default();
    let mut documents: Vec<String> = Vec::new();
    let hiding = inventory
        .skipped()
        // The notes on a delivery say which of its documents are not read.
        .filter(|skip| skip.what.reason.hides_objects() && !reach.is_delivery_known(skip.file));
    for skip in hiding {
        let path = inventory.sources.file(skip.file).path();
        // Templates of charts are in a note of their own, and Helm renders no other file of a chart.
        if !is_template(&skip.what.reason) || folders.above(folder_of(path)).is_none() {
            documents.push(format!(
                "document {} of {path} ({})",
                skip.document,
                skip.what.reason.as_str()
            ));
        }
    }
    let unrendered = note(&Vec::from_iter(charts), |named| {
        format!(
            "Not rendered, and so not part of this plan: the templates of {named}. `--render` renders charts with helm."
        )
    });
    let all: Vec<String> = files.chain(documents).collect();
    let unread = note(&all, |named| {
        format!("Not read, and so not part of this plan: {named}.")
    });
    unrendered
        .into_iter()
        .chain(unread)
        .chain(unevaluated(inventory))
}

/// Returns a note on the rendered objects from which other tools make objects.
fn unevaluated(inventory: &Inventory) -> Option<String> {
    let members = inventory.members.iter();
    let unevaluated = members.filter(|member| {
        !member.from_dump && UNEVALUATED_DELIVERIES.contains(&member.key.group_kind())
    });
    let keys: Vec<String> = unevaluated.map(|member| member.key.to_string()).collect();
    note(&keys, |named| {
        format!(
            "Not evaluated, and so not part of this plan: the objects that tools make of {named}."
        )
    })
}

/// Returns the folders of the charts whose templates are in the input and not rendered.
pub(super) fn unrendered_charts(inventory: &Inventory) -> BTreeSet<String> {
    let templates = inventory
        .skipped()
        .filter(|skip| is_template(&skip.what.reason));
    let mut folders = ChartFolders::default();
    let charts = templates.filter_map(|skip| {
        let folder = inventory.folder_of(skip.file);
        let chart = folders
            .above(folder)
            .filter(|chart| is_in_templates(chart, folder))?;
        Some(shown(folders.installed_with(chart)).to_owned())
    });
    charts.collect()
}

fn is_template(reason: &SkipReason) -> bool {
    matches!(reason, SkipReason::Template(TemplateLanguage::Braces, _))
}

/// Returns a note on objects that the garbage collector deletes before any request.
pub(super) fn collapse(settled: &Plan<'_>, assumptions: &Assumptions) -> Option<String> {
    let changes = settled.changes(0).into_iter();
    let gone: BTreeSet<_> = changes
        .filter(|change| change.effect == Effect::Gone)
        .map(|change| change.object)
        .collect();
    let why = if assumptions.absent_owners.is_empty() {
        "their owners are not as their references say"
    } else {
        "their owners are not in the input"
    };
    let gone: Vec<ObjectKey> = gone
        .into_iter()
        .map(|id| settled.cluster().key(id))
        .collect();
    note(&texts(&gone), |named| {
        format!("The collector removes these before the first request, because {why}: {named}.")
    })
}

/// Returns the kinds of CRDs whose objects may not all be in the inventory, by the key of the CRD: the CRD is rendered,
/// or the inventory has no object of the kind.
pub(super) fn defined_kinds(inventory: &Inventory) -> BTreeMap<ObjectKey, GroupKind> {
    let definitions = inventory
        .members
        .iter()
        .filter_map(|member| Some((member, member.object.definition()?)));
    let open = definitions.filter(|(member, crd)| {
        !member.from_dump || instances_of(inventory, crd.group_kind()).next().is_none()
    });
    open.map(|(member, crd)| (member.key.clone(), crd.group_kind().to_owned()))
        .collect()
}

/// Returns a note on the kinds among `defined` whose CRD is deleted: some of their objects may not be in the input
/// `[CRD-3]`.
pub(super) fn instances(
    defined: &BTreeMap<ObjectKey, GroupKind>,
    plan: &Plan<'_>,
) -> Option<String> {
    let verdict = plan.verdict().filter(|_| !defined.is_empty())?;
    let fates = plan.fates(verdict).into_iter();
    let deleted = fates.filter_map(|(key, fate)| {
        let stays = matches!(fate, Fate::Present(present) if !present.terminating);
        defined.get(&key).filter(|_| !stays).cloned()
    });
    note(&sorted(&deleted.collect()), |named| {
        format!(
            "The API server deletes every object of a kind with its CustomResourceDefinition, in all namespaces, in the \
             input or not, and the garbage collector deletes their dependents: {named}."
        )
    })
}

/// Returns notes on requests that are rejected or find no object. `targets`: the targets of each step.
pub(super) fn rejections(targets: &[Vec<ObjectKey>], plan: &Plan<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for (targets, planned) in targets.iter().zip(&plan.steps) {
        for (key, http) in targets.iter().zip(&planned.responses) {
            match http {
                403 => notes.push(format!("The API server rejects the deletion of {key}.")),
                404 => notes.push(format!(
                    "{key} does not exist when its deletion is requested: nothing happens."
                )),
                _ => {}
            }
        }
    }
    notes
}

fn owners(pairs: &[(ObjectKey, ObjectKey)]) -> Vec<String> {
    pairs
        .iter()
        .map(|(dependent, owner)| format!("{owner}, owner of {dependent}"))
        .collect()
}

fn callers(pairs: &[(ObjectKey, ObjectKey)]) -> Vec<String> {
    let texts: BTreeSet<String> = pairs
        .iter()
        .map(|(caller, service)| format!("{service}, for {caller}"))
        .collect();
    texts.into_iter().collect()
}

fn texts(keys: &[ObjectKey]) -> Vec<String> {
    keys.iter().map(ObjectKey::to_string).collect()
}

fn sorted(kinds: &BTreeSet<GroupKind>) -> Vec<String> {
    let mut texts: Vec<String> = kinds.iter().map(GroupKind::to_string).collect();
    texts.sort();
    texts
}

/// Returns a note on finalizers that stay because the input, a rendering, contains no controller that removes them.
pub(super) fn unattended(plan: &Plan<'_>) -> Option<String> {
    let last = plan.steps.len().checked_sub(1)?;
    let mut held: BTreeSet<String> = BTreeSet::new();
    for one in plan.stuck(last).into_iter().filter(|one| one.unattended) {
        let kind = plan.cluster().key(one.object).group_kind().to_string();
        let names = one.holds.iter().filter_map(|hold| match hold {
            Hold::Finalizers(names) => Some(names),
            _ => None,
        });
        held.extend(
            names
                .flatten()
                .map(|name| format!("{} of {kind}", plain::one_line(name))),
        );
    }
    note(&Vec::from_iter(held), |named| {
        format!(
            "These finalizers stay, because no controller in the input is known to remove them: {named}. If one runs in \
             the cluster, it releases the objects that they hold."
        )
    })
}

/// Returns the kinds of rendered custom resources to which a controller outside the input adds a finalizer, with the
/// controller.
fn added_later(
    inventory: &Inventory,
    table: &KnownFinalizers,
    in_input: &BTreeSet<(GroupKind, String)>,
) -> Vec<String> {
    let kinds = custom_kinds(inventory);
    kinds
        .iter()
        .filter_map(|kind| {
            let kind_of = GroupKind::new(kind.group, kind.kind).to_owned();
            let mut added = table.added_to(kind.group, kind.kind);
            let (_, controller) = added.find(|(known, _)| {
                !in_input.contains(&(kind_of.clone(), known.finalizer.clone()))
            })?;
            Some(format!("{kind} ({})", controller.removed_by))
        })
        .collect()
}

/// Returns the kinds of objects that operators create for rendered objects under names that no manifest shows.
fn owned_unseen(inventory: &Inventory, tables: &Tables) -> Vec<String> {
    let rows = tables.owns.iter();
    let unseen = rows.filter(|row| row.proven && row.owner_field.is_none());
    let kinds = custom_kinds(inventory);
    let of_kind = unseen.flat_map(|row| {
        let owners = kinds.iter();
        let owners = owners.filter(|kind| row.kind.matches(kind.group, kind.kind));
        owners.map(|kind| format!("{} of {kind}", row.child))
    });
    of_kind.collect()
}

/// Returns the kinds of rendered objects that are not built into Kubernetes.
fn custom_kinds(inventory: &Inventory) -> BTreeSet<GroupKind<&str>> {
    let rendered = inventory.members.iter().filter(|member| !member.from_dump);
    rendered
        .map(|member| member.key.group_kind())
        .filter(|kind| !crate::inventory::table().is_builtin_group(kind.group))
        .collect()
}

pub(super) fn named(all: &[impl AsRef<str>]) -> String {
    let mut shown: Vec<String> = all
        .iter()
        .take(MAX_NAMED)
        .map(|one| one.as_ref().to_owned())
        .collect();
    if all.len() > MAX_NAMED {
        shown.push(format!("{} more", all.len() - MAX_NAMED));
    }
    shown.join("; ")
}
