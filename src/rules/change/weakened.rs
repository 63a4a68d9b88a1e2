//! Protections that a change removes, and settings with which data is deleted from now on.

use std::ops::Range;

use super::places::{changed_in_head, on_base};
use crate::changes::TreePart;
use crate::delivery::{Removal, Spared, Sparing, spared};
use crate::finding::{Consequence, Severity};
use crate::inventory::Member;
use crate::knowledge::DataFate;
use crate::kube::{ObjectKey, kinds};
use crate::manifest::is_kustomization;
use crate::merge::{KeptObject, Merge, Standing, Surprise, severity};
use crate::ownership::{DataLoss, data_loss, reclaim_policy};
use crate::rules::draft::Draft;
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::named;
use crate::text::Span;
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
        sink.extend(too_late(merge, merge.part.base.inventory.member(*id)));
    }
}

/// Returns the annotation or label with which an object is spared by a removal.
fn protection(member: &Member, removal: Removal) -> Option<Spared<'_>> {
    let spared = spared(&member.object, None, removal)?;
    let written = matches!(
        spared.by,
        Sparing::Keep | Sparing::UnknownPolicy(_) | Sparing::SyncOption(_) | Sparing::FluxOptOut(_)
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
    let lost = regime.removals().iter().find_map(|removal| {
        let was = protection(base, *removal)?;
        protection(head, *removal).is_none().then_some(was)
    })?;
    let place = lost.place?;
    let key = merge
        .part
        .base
        .inventory
        .sources
        .file(base.file)
        .slice(place)
        .trim_matches(['"', '\''])
        .to_owned();
    if said_by_a_kustomization(merge, &key) {
        return None;
    }
    let message = format!(
        "{} loses its protection: {} may delete it from now on",
        named(base),
        regime.tool()
    );
    let draft = on_base(merge, base, place, message)
        .label("protected it")
        .reason(format!(
            "Nothing is deleted now. When it is removed from git later, alone or with everything else, {} deletes it, and what depends on \
             it with it.",
            regime.tool()
        ))
        .help(format!("leave `{key}` as it is"))
        .field("metadata.annotations")
        .target(key);
    Some(changed_in_head(
        draft,
        merge,
        head,
        head.object.name_span(),
        "is no longer protected",
    ))
}

/// Whether deleting an object also deletes its contents, its Pods or data.
fn takes_others(merge: &Merge<'_>, member: &Member) -> bool {
    let containers = [
        kinds::CUSTOM_RESOURCE_DEFINITION,
        kinds::NAMESPACE,
        kinds::STATEFUL_SET,
    ];
    let analysis = &merge.part.analysis;
    containers.into_iter().any(|kind| member.object.is(kind))
        || data_loss(analysis.inventory(), analysis.tables(), member)
            .is_some_and(|loss| loss.fate != DataFate::Kept)
}

/// Whether more kustomizations of head than of base mention `key`: one may add it to all of its objects.
fn said_by_a_kustomization(merge: &Merge<'_>, key: &str) -> bool {
    let sides = merge.part.sides;
    kustomizations_with(sides.head, key) > kustomizations_with(sides.base, key)
}

/// Counts the kustomizations of a side that mention `key`.
fn kustomizations_with(trees: &[TreePart], key: &str) -> usize {
    let files = trees.iter().flat_map(|tree| {
        let files = tree.inventory.sources.iter();
        files.map(move |(id, file)| (tree.place(id), file))
    });
    files
        .filter(|(place, file)| is_kustomization(place) && file.text().contains(key))
        .count()
}

/// Reports an object whose data is kept on deletion in base, but deleted in head, by the table of data.
fn loosened(merge: &Merge<'_>, object: KeptObject<'_>) -> Option<Draft> {
    let KeptObject { base, head } = object;
    let tables = merge.part.analysis.tables();
    let was = data_loss(&merge.part.base.inventory, tables, base)?;
    let is = data_loss(&merge.part.head?.inventory, tables, head)?;
    // Whether a StatefulSet deletes its claims is written, even if the fate of their volumes is unknown.
    let is_certain = is.fate == DataFate::Lost;
    let deletes_claims = is.fate == DataFate::Unknown && head.object.is(kinds::STATEFUL_SET);
    if was.fate != DataFate::Kept
        || !(is_certain || deletes_claims)
        || base.object.is(kinds::PERSISTENT_VOLUME_CLAIM)
    {
        return None;
    }
    let field = was
        .written
        .as_ref()
        .or(is.written.as_ref())
        .map_or_else(|| "spec".to_owned(), |(field, _)| field.to_string());
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
    Some(changed_in_head(
        draft,
        merge,
        head,
        span_of(&is, head),
        "deletes it",
    ))
}

/// Returns the place of the field that decides about the data, else that of the object's name.
fn span_of(loss: &DataLoss, member: &Member) -> Span {
    let written = loss.written.as_ref();
    written.map_or_else(|| member.object.name_span(), |(_, value)| value.span)
}

/// The surprise of an object that may be deleted later, but not by this change.
const LATER: Surprise = Surprise::removed(false);

/// Reports a StatefulSet without some of its Pods whose policy deletes their claims.
fn scaled_down(merge: &Merge<'_>, object: KeptObject<'_>) -> Option<Draft> {
    let KeptObject { base, head } = object;
    if !base.object.is(kinds::STATEFUL_SET) {
        return None;
    }
    let deletes = head
        .object
        .at(&["spec", "persistentVolumeClaimRetentionPolicy", "whenScaled"]);
    let deletes = deletes.filter(|policy| policy.as_str() == Some("Delete"))?;
    let (was, is) = (Ordinals::of(base)?, Ordinals::of(head)?);
    let templates = head
        .object
        .at(&["spec", "volumeClaimTemplates"])
        .into_iter()
        .flat_map(Value::items);
    let templates: Vec<(String, Option<DataFate>)> = templates
        .filter_map(|claim| {
            let name = claim.at(&["metadata", "name"])?.as_str()?.to_owned();
            Some((
                name,
                reclaim_policy(&merge.part.base.inventory, None, claim.get("spec")),
            ))
        })
        .collect();
    let (removed, last) = was.without(&is)?;
    if templates.is_empty() {
        return None;
    }
    let retained = templates
        .iter()
        .all(|(_, fate)| *fate == Some(DataFate::Kept));
    let certain = templates
        .iter()
        .any(|(_, fate)| *fate == Some(DataFate::Lost));
    let claims = ObjectKey::new(
        kinds::PERSISTENT_VOLUME_CLAIM,
        base.key.namespace.clone(),
        format!("{}-{}-{last}", templates[0].0, base.key.name),
    );
    let data = (!retained).then_some(certain);
    let surprise = Surprise {
        standing: Standing::Unwritten,
        data,
        ..Surprise::removed(true)
    };
    let lost = removed.saturating_mul(templates.len());
    let is_smaller = is.range.len() < was.range.len();
    let (reduced, field, labels) = if is_smaller {
        (
            "fewer replicas",
            "spec.replicas",
            ("the number until now", "fewer here"),
        )
    } else {
        (
            "other ordinals",
            "spec.ordinals.start",
            ("until now", "another start"),
        )
    };
    let places = [(&was, base), (&is, head)].map(|(ordinals, set)| {
        let place = if is_smaller {
            ordinals.replicas
        } else {
            ordinals.start
        };
        place.unwrap_or_else(|| set.object.name_span())
    });
    let message = format!(
        "{reduced} of {} delete {}, such as `{}`",
        named(base),
        crate::text::plain::count(lost, "claim"),
        claims.name
    );
    let help = "scale down first and keep the claims: set `whenScaled: Retain`, merge that, and remove the claims by hand \
        when they are no longer needed";
    let draft = on_base(merge, base, places[0], message)
        .label(labels.0)
        .reason(format!(
            "`whenScaled: Delete` lets the controller of StatefulSets delete the claims of Pods that are scaled away.{}",
            if retained { " Their volumes are retained." } else { " The data on their volumes is deleted with them." }
        ))
        .help(help)
        .field(field)
        .severity(severity(surprise).unwrap_or(Severity::Warning));
    let draft = draft.related(
        merge.part.sides.head_file(merge.part.at, head.file),
        deletes.span(),
        "deletes them",
    );
    Some(changed_in_head(draft, merge, head, places[1], labels.1))
}

/// The ordinals of the Pods of a StatefulSet.
struct Ordinals {
    range: Range<i32>,
    /// The place of `spec.replicas`, if it is written.
    replicas: Option<Span>,
    /// The place of `spec.ordinals.start`, if it is written.
    start: Option<Span>,
}

impl Ordinals {
    /// Returns `None` if a field is no number.
    fn of(set: &Member) -> Option<Self> {
        let (count, replicas) = number(set, &["spec", "replicas"], 1)?;
        let (first, start) = number(set, &["spec", "ordinals", "start"], 0)?;
        Some(Self {
            range: first..first.saturating_add(count),
            replicas,
            start,
        })
    }

    /// Returns the number of ordinals that `other` does not have, and the last of them; `None` if it has all.
    fn without(&self, other: &Self) -> Option<(usize, i32)> {
        let (own, kept) = (&self.range, &other.range);
        let below = own.start..own.end.min(kept.start);
        let above = own.start.max(kept.end)..own.end;
        let last = [&above, &below]
            .into_iter()
            .find(|part| !part.is_empty())?
            .end
            - 1;
        Some((below.len() + above.len(), last))
    }
}

/// Returns the number in a field, and its place; `default` if it is omitted or null.
fn number(member: &Member, field: &[&str], default: i32) -> Option<(i32, Option<Span>)> {
    let written = member.object.at(field).filter(|value| !value.is_null());
    let Some(written) = written else {
        return Some((default, None));
    };
    let number = i32::try_from(written.as_int()?).ok()?;
    Some((number.max(0), Some(written.span())))
}

/// Reports a protection that is added in the change which removes the object: the tool does not know of it.
fn too_late(merge: &Merge<'_>, base: &Member) -> Option<Draft> {
    let (regime, part) = (merge.tool_of(base)?, merge.part);
    let removal = *regime.removals().first()?;
    if protection(base, removal).is_some() || !takes_others(merge, base) {
        return None;
    }
    let place = part.base.place(base.file);
    let (tree, copy) = part.sides.head.iter().enumerate().find_map(|(at, tree)| {
        let written = tree.inventory.with_name(
            base.key.group(),
            base.key.kind(),
            base.object.name().as_deref()?,
        );
        let copy = written
            .iter()
            .map(|id| tree.inventory.member(*id))
            .find(|copy| tree.place(copy.file) == place)?;
        Some((at, copy))
    })?;
    let protected = protection(copy, removal)?;
    let message = format!(
        "the protection of {} comes with its removal: too late",
        named(base)
    );
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
    let span: Span = protected.place?;
    Some(draft.related(part.sides.head_file(tree, copy.file), span, "added here"))
}
