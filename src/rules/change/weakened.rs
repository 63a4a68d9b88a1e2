//! Protections that a change removes, and settings with which data is deleted from now on.

use super::places::{changed_in_head, on_base};
use crate::changes::TreePart;
use crate::delivery::flux::KustomizationSettings;
use crate::delivery::{Exempted, Exemption, Removal, argocd, spared};
use crate::finding::{Consequence, Severity};
use crate::inventory::Member;
use crate::knowledge::DataFate;
use crate::kube::kinds;
use crate::manifest::is_kustomization;
use crate::merge::{KeptObject, Merge, ScaledSet, Standing, Surprise, severity};
use crate::ownership::{DataLoss, data_loss, fate_of_templates};
use crate::rules::draft::Draft;
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::named;
use crate::text::{Span, plain};
use crate::yaml::Value;

pub(in crate::rules) static PROTECTION_WEAKENED: Rule = rule!(
    Change,
    "protection-weakened",
    Warning,
    Collected,
    "A change removes the protection of an object or its data, or adds one too late",
    change protection_weakened
);

fn protection_weakened(merge: &Merge<'_>, sink: &mut Sink) {
    for object in merge.part.kept() {
        sink.extend(unprotected(merge, object));
        sink.extend(loosened(merge, object));
        sink.extend(scaled_down(merge, object));
    }
    for id in &merge.part.leaving {
        let base = merge.part.base.inventory.member(*id);
        sink.extend(too_late(merge, base));
        sink.extend(preserves_too_late(merge, base));
    }
}

/// Returns the annotation or label that spares an object from `removal`.
fn protection(member: &Member, removal: Removal) -> Option<Exempted<'_>> {
    let spared = spared(&member.object, None, removal)?;
    let written = matches!(
        spared.by,
        Exemption::Keep
            | Exemption::UnknownPolicy(_)
            | Exemption::SyncOption(_)
            | Exemption::FluxOptOut(_)
    );
    written.then_some(spared)
}

/// Reports an object that stays but loses its protection, if its deletion would delete more than the object.
fn unprotected(merge: &Merge<'_>, object: KeptObject<'_>) -> Option<Draft> {
    let KeptObject { base, head } = object;
    if !takes_others(merge, base) {
        return None;
    }
    let regime = merge.regime_of(base);
    let lost = regime.removals().iter().filter_map(|removal| {
        let was = protection(base, *removal)?;
        protection(head, *removal)
            .is_none()
            .then_some((*removal, was))
    });
    let lost: Vec<(Removal, Exempted<'_>)> = lost.collect();
    let (removal, was) = lost.first()?;
    let place = was.place?;
    let file = merge.part.base.inventory.sources.file(base.file);
    let key = file.slice(place).trim_matches(['"', '\'']);
    if may_come_from_kustomization(merge, key) {
        return None;
    }
    let who = named(base);
    let tool = regime.tool();
    let is_all = lost.len() == regime.removals().len();
    let (with, when) = if is_all {
        (
            "",
            "it is removed from Git later, alone or with everything else",
        )
    } else {
        occasion(*removal)
    };
    let is_pruned =
        *removal == Removal::ArgoCdApplication && protection(base, Removal::ArgoCdPrune).is_none();
    let other = if is_pruned {
        " The annotation never kept it from being pruned."
    } else {
        ""
    };
    let message = format!("{who} loses its protection: {tool} may delete it{with} from now on");
    let draft = on_base(merge, base, place, message)
        .label("protected it")
        .reason(format!(
            "Nothing is deleted now. When {when}, {tool} deletes it and everything that depends on \
             it.{other}"
        ))
        .help(format!("leave `{key}` as it is"))
        .field("metadata.annotations")
        .target(key);
    let name = head.object.name_span();
    Some(changed_in_head(
        draft,
        merge,
        head,
        name,
        "is no longer protected",
    ))
}

/// Describes when `removal` deletes an object: to follow "delete it", and to follow "when".
fn occasion(removal: Removal) -> (&'static str, &'static str) {
    match removal {
        Removal::HelmUninstall => (" with its release", "its release is uninstalled"),
        Removal::ArgoCdApplication => (
            " with its Application",
            "its Application is deleted with the resources finalizer",
        ),
        Removal::HelmUpgrade
        | Removal::Kubectl
        | Removal::ArgoCdPrune
        | Removal::FluxPrune
        | Removal::Namespace => ("", "it is removed from Git later"),
    }
}

/// Whether deleting an object also deletes its contents, its Pods or data.
fn takes_others(merge: &Merge<'_>, member: &Member) -> bool {
    let containers = [
        kinds::CUSTOM_RESOURCE_DEFINITION,
        kinds::NAMESPACE,
        kinds::STATEFUL_SET,
    ];
    let analysis = &merge.part.analysis;
    containers.contains(&member.object.group_kind())
        || data_loss(analysis.inventory(), analysis.tables(), member)
            .is_some_and(|loss| loss.fate != DataFate::Kept)
}

/// Whether more kustomizations mention `key` in head than in base: one of them may now add it to all of its objects.
fn may_come_from_kustomization(merge: &Merge<'_>, key: &str) -> bool {
    let sides = merge.part.sides;
    kustomizations_with(sides.head, key) > kustomizations_with(sides.base, key)
}

/// Counts the kustomizations of a side that mention `key`.
fn kustomizations_with(trees: &[TreePart], key: &str) -> usize {
    let files = trees.iter().flat_map(|tree| {
        let files = tree.inventory.sources.iter();
        files.filter(|(id, file)| is_kustomization(tree.place(*id)) && file.text().contains(key))
    });
    files.count()
}

/// Reports an object whose deletion keeps its data in base, but deletes it in head, according to the data table.
fn loosened(merge: &Merge<'_>, object: KeptObject<'_>) -> Option<Draft> {
    let KeptObject { base, head } = object;
    let tables = merge.part.analysis.tables();
    let was = data_loss(&merge.part.base.inventory, tables, base)?;
    let is = data_loss(&merge.part.head?.inventory, tables, head)?;
    // A StatefulSet states whether its claims are deleted, even if the fate of their volumes is unknown.
    let is_certain = is.fate == DataFate::Lost;
    let deletes_claims = is.fate == DataFate::Unknown && head.object.is(kinds::STATEFUL_SET);
    if was.fate != DataFate::Kept
        || !(is_certain || deletes_claims)
        || base.object.is(kinds::PERSISTENT_VOLUME_CLAIM)
    {
        return None;
    }
    let written = was.written.as_ref().or(is.written.as_ref());
    let field = written.map_or("spec", |(field, _)| field.as_str());
    let surprise = Surprise {
        data: Some(is_certain && is.verified),
        ..LATER
    };
    let message = format!("deleting {} deletes {} from now on", named(base), is.lost);
    let draft = on_base(merge, base, span_of(&was, base), message)
        .label("kept it until now")
        .reason(
            "Nothing is deleted now. The setting takes effect once it is applied, for every later \
             deletion.",
        )
        .help("keep the old value, and change it only when the data is no longer needed")
        .field(field)
        .severity(severity(surprise).unwrap_or(Severity::Warning))
        .rests_on(&is.row, is.verified);
    let place = span_of(&is, head);
    Some(changed_in_head(draft, merge, head, place, "deletes it"))
}

/// Returns the place of the field that decides about the data, else that of the object's name.
fn span_of(loss: &DataLoss, member: &Member) -> Span {
    let written = loss.written.as_ref();
    written.map_or_else(|| member.object.name_span(), |(_, value)| value.span)
}

/// The surprise of an object that may be deleted later, but not by this change.
const LATER: Surprise = Surprise::removed(false);

/// Reports a StatefulSet that loses some of its Pods, and whose policy deletes their claims.
fn scaled_down(merge: &Merge<'_>, object: KeptObject<'_>) -> Option<Draft> {
    let KeptObject { base, head } = object;
    let ScaledSet { policy, was, is } = ScaledSet::of(object)?;
    let templates = head.object.at(&["spec", "volumeClaimTemplates"])?.items();
    let named_templates = templates.filter(|claim| claim.str_at(&["metadata", "name"]).is_some());
    let templates: Vec<Value<'_>> = named_templates.collect();
    let (removed, last) = was.without(&is)?;
    let first = templates.first()?.str_at(&["metadata", "name"])?;
    let fate = fate_of_templates(&merge.part.base.inventory, templates.iter().copied());
    let surprise = Surprise {
        standing: Standing::Unwritten,
        data: (fate != DataFate::Kept).then_some(fate == DataFate::Lost),
        ..Surprise::removed(true)
    };
    let lost = removed.saturating_mul(templates.len());
    let is_smaller = is.range.len() < was.range.len();
    let (reduced, field, labels) = if is_smaller {
        (
            "scaling down",
            "spec.replicas",
            ("the number in base", "fewer here"),
        )
    } else {
        (
            "changing the ordinals of",
            "spec.ordinals.start",
            ("the first ordinal in base", "the first ordinal in head"),
        )
    };
    let (before, after) = if is_smaller {
        (was.replicas, is.replicas)
    } else {
        (was.start, is.start)
    };
    let message = format!(
        "{reduced} {} deletes {}, such as `{first}-{}-{last}`",
        named(base),
        plain::count(lost, "claim"),
        base.key.name
    );
    let help = "to keep the claims, set `whenScaled: Retain` in the same change, and delete them \
                by hand when they are no longer needed";
    let place = before.unwrap_or_else(|| base.object.name_span());
    let draft = on_base(merge, base, place, message)
        .label(labels.0)
        .reason(format!(
            "With `whenScaled: Delete`, the StatefulSet controller deletes the claims of the Pods \
             that it removes.{}",
            if fate == DataFate::Kept {
                " Their volumes are retained."
            } else {
                " The data on their volumes is deleted with them."
            }
        ))
        .help(help)
        .field(field)
        .severity(severity(surprise).unwrap_or(Severity::Warning));
    let file = merge.part.sides.head_file(merge.part.at, head.file);
    let draft = draft.related(file, policy.span(), "deletes them");
    let place = after.unwrap_or_else(|| head.object.name_span());
    Some(changed_in_head(draft, merge, head, place, labels.1))
}

/// Reports a protection that is added in the change which removes the object: the tool does not know of it.
fn too_late(merge: &Merge<'_>, base: &Member) -> Option<Draft> {
    let (regime, part) = (merge.tool_of(base)?, merge.part);
    let removal = *regime.removals().first()?;
    if protection(base, removal).is_some() || !takes_others(merge, base) {
        return None;
    }
    let (tree, copy) = copy_in_head(merge, base)?;
    let protected = protection(copy, removal)?;
    let who = named(base);
    let message = format!("{who} gets its protection in the change that removes it: too late");
    let reason = if regime.is_release() {
        "An upgrade reads the annotation from the object in the cluster, an uninstall from the installed release. Neither has it, \
         because Helm does not update an object that left the chart."
    } else {
        "The tool reads the protection from the cluster, and an object that left its sources is no longer applied."
    };
    let draft = on_base(merge, base, base.object.name_span(), message)
        .label("is deleted without it")
        .reason(reason)
        .help("add the protection in a change of its own, merge it and wait until it is applied; remove the object afterwards")
        .field("metadata.annotations")
        .severity(Severity::Warning)
        .consequence(Consequence::Ignored);
    let file = part.sides.head_file(tree, copy.file);
    Some(draft.related(file, protected.place?, "added here"))
}

/// Reports a removed delivery object whose file still contains a version that keeps its objects.
/// Only the version in the cluster counts, and it deletes them.
fn preserves_too_late(merge: &Merge<'_>, base: &Member) -> Option<Draft> {
    if !deletes_with_it(base) {
        return None;
    }
    merge.tool_of(base)?;
    let (tree, copy) = copy_in_head(merge, base)?;
    if deletes_with_it(copy) {
        return None;
    }
    let field = if base.object.is(kinds::APPLICATION) {
        "metadata.finalizers"
    } else {
        "spec.prune"
    };
    let (who, kind) = (named(base), base.object.kind());
    let message =
        format!("{who} is set to keep its objects in the change that removes it: too late");
    let draft = on_base(merge, base, base.object.name_span(), message)
        .label("is deleted with its old settings")
        .reason(format!(
            "An object that left its sources is no longer applied: the {kind} is deleted with the \
             settings that it has in the cluster, and its objects with it."
        ))
        .help(format!(
            "change the settings in a change of their own, merge it and wait until it is applied; remove the {kind} afterwards"
        ))
        .field(field)
        .severity(Severity::Warning)
        .consequence(Consequence::Ignored);
    let file = merge.part.sides.head_file(tree, copy.file);
    Some(draft.related(file, copy.object.name_span(), "never reaches the cluster"))
}

/// Whether the objects that a delivery object applied are deleted with it.
fn deletes_with_it(member: &Member) -> bool {
    let object = &member.object;
    if object.is(kinds::APPLICATION) {
        argocd::policy_of(object).is_some()
    } else {
        object.is(kinds::FLUX_KUSTOMIZATION) && KustomizationSettings::of(object).deletes_with_it()
    }
}

/// Returns the object of head that the file of a removed object still contains, and the index of its tree.
fn copy_in_head<'a>(merge: &Merge<'a>, base: &Member) -> Option<(usize, &'a Member)> {
    let part = merge.part;
    let place = part.base.place(base.file);
    let name = base.object.name()?;
    let (group, kind) = (base.key.group(), base.key.kind());
    part.sides.head.iter().enumerate().find_map(|(at, tree)| {
        let written = tree.inventory.with_name(group, kind, &name).iter();
        let mut written = written.map(|id| tree.inventory.member(*id));
        Some((at, written.find(|copy| tree.place(copy.file) == place)?))
    })
}
