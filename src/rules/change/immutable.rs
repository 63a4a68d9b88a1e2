//! Updates that the API server rejects. The consequence depends on the tool.

use super::places::{changed_in_head, on_base};
use crate::changes::{RejectedField, class_set_later};
use crate::delivery::{FluxObject, Regime};
use crate::finding::{Consequence, Severity};
use crate::inventory::Member;
use crate::knowledge::DataFate;
use crate::kube::{GroupKind, Scope, kinds, kubectl};
use crate::manifest::{LabelSelector, Spanned};
use crate::merge::{
    Answer, CauseInHead, KeptObject, Merge, Standing, Surprise, ends_on_its_own, severity,
};
use crate::ownership::{data_loss, instances_of};
use crate::rules::data::claims;
use crate::rules::draft::Draft;
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::{listed, named};
use crate::yaml::Value;

pub(in crate::rules) static IMMUTABLE_CHANGED: Rule = rule!(
    Change,
    "immutable-changed",
    Error,
    Rejected,
    "A change to an immutable field: the API server rejects the update, or the object is deleted and created again",
    change immutable_changed
);

pub(in crate::rules) static SCOPE_CHANGED: Rule = rule!(
    Change,
    "scope-changed",
    Error,
    Rejected,
    "The scope of a CustomResourceDefinition changes: the update is rejected, and replacing the \
     definition deletes every object of the kind",
    change scope_changed
);

fn immutable_changed(merge: &Merge<'_>, sink: &mut Sink) {
    for object in merge.part.kept() {
        let mut fields = merge.part.rejected_fields(object);
        // `scope-changed` reports this field.
        fields.retain(|field| field.field != "spec.scope");
        if fields.is_empty()
            && let Some(class) = class_set_later(&object.base.object, &object.head.object)
        {
            sink.extend(class_may_be_rejected(merge, object, &class));
        }
        if fields.is_empty() || ends_on_its_own(object.base) {
            continue;
        }
        let regime = merge.regime_of(object.base);
        match merge.part.answer(regime, object) {
            Answer::Fails => sink.push(rejected(merge, regime, object, &fields)),
            Answer::Replaces { because } if loses_more(merge, object.base) => {
                sink.push(replaced(merge, regime, object, &fields, because));
            }
            Answer::Replaces { .. } | Answer::Recreates | Answer::Skips => {}
        }
    }
}

/// Whether recreating an object loses more than the object itself. Recreation alone is not reported, because it is the
/// purpose of a force option.
fn loses_more(merge: &Merge<'_>, member: &Member) -> bool {
    let takes_others = [
        kinds::CUSTOM_RESOURCE_DEFINITION,
        kinds::NAMESPACE,
        kinds::PERSISTENT_VOLUME_CLAIM,
        kinds::PERSISTENT_VOLUME,
    ];
    takes_others.contains(&member.object.group_kind())
        || member.object.is(kinds::STATEFUL_SET)
            && claims::are_deleted(&member.object, "whenDeleted")
        || loses_data(merge, member).is_some()
}

/// Whether deleting an object loses data, and whether that is certain; `None` if the data is kept.
fn loses_data(merge: &Merge<'_>, member: &Member) -> Option<bool> {
    let analysis = &merge.part.analysis;
    let loss = data_loss(analysis.inventory(), analysis.tables(), member)?;
    match loss.fate {
        DataFate::Lost => Some(loss.verified),
        DataFate::Unknown => Some(false),
        DataFate::Kept => None,
    }
}

/// Builds a finding at the field of base that head changes.
fn on_field(
    merge: &Merge<'_>,
    object: KeptObject<'_>,
    field: &RejectedField,
    message: String,
) -> Draft {
    let KeptObject { base, head } = object;
    let (place, label) = match field.base {
        Some(was) => (was, "cannot be changed"),
        None => (base.object.name_span(), "does not set the field"),
    };
    let draft = on_base(merge, base, place, message)
        .field(field.field)
        .label(label);
    if field.is_only_built {
        return match merge.part.build_cause(head) {
            Some(CauseInHead { file, span, label }) => draft.caused(file, span, label),
            None => draft,
        };
    }
    let place = field.head.unwrap_or_else(|| head.object.name_span());
    changed_in_head(draft, merge, head, place, "changed here")
}

/// Explains a field that only the build changes.
fn build_changes(fields: &[RejectedField]) -> &'static str {
    if fields.iter().any(|field| field.is_only_built) {
        "The value changes in the build, and not in the file of the object. "
    } else {
        ""
    }
}

fn rejected(
    merge: &Merge<'_>,
    regime: Regime,
    object: KeptObject<'_>,
    fields: &[RejectedField],
) -> Draft {
    let names = listed(fields.iter().map(|field| field.field));
    let who = named(object.base);
    let message = format!("the API server rejects the change to {names} of {who}");
    // A Job may have finished and been deleted by now.
    let severity = if object.base.object.is(kinds::JOB) {
        Severity::Warning
    } else {
        Severity::Error
    };
    on_field(merge, object, &fields[0], message)
        .reason(format!(
            "The field is immutable. {}{}",
            build_changes(fields),
            failure(regime)
        ))
        .help(remedy(object, regime, fields))
        .severity(severity)
}

/// Reports a claim whose class is first written in head: rejected if the claim already has another.
fn class_may_be_rejected(
    merge: &Merge<'_>,
    object: KeptObject<'_>,
    class: &RejectedField,
) -> Option<Draft> {
    let regime = merge.regime_of(object.base);
    let effect = match merge.part.answer(regime, object) {
        Answer::Fails => failure(regime).to_owned(),
        Answer::Replaces { because } => format!(
            "Because of {because}, {} then deletes the claim and creates it again, without its data.",
            regime.tool()
        ),
        Answer::Recreates | Answer::Skips => return None,
    };
    let (who, name) = (named(object.base), class.field);
    let message = format!("the API server may reject the change to `{name}` of {who}");
    let draft = on_field(merge, object, class, message)
        .reason(format!(
            "A claim without a class in its manifest gets the default class of the cluster, if \
             there is one, and keeps it. If its class differs from the one in head, the API server \
             rejects the update. {effect}"
        ))
        .help(format!(
            "write the class that the claim has in the cluster; for another class, {}",
            remedy(object, regime, std::slice::from_ref(class))
        ))
        .severity(Severity::Warning);
    Some(draft)
}

fn replaced(
    merge: &Merge<'_>,
    regime: Regime,
    object: KeptObject<'_>,
    fields: &[RejectedField],
    because: &str,
) -> Draft {
    let (tool, who) = (regime.tool(), named(object.base));
    let names = listed(fields.iter().map(|field| field.field));
    let message =
        format!("{tool} deletes {who} and creates it again, because {names} cannot be changed");
    let surprise = Surprise {
        standing: Standing::Applied,
        data: loses_data(merge, object.base),
        ..Surprise::removed(true)
    };
    on_field(merge, object, &fields[0], message)
        .reason(format!(
            "{}The API server rejects the update. Because of {because}, {tool} then deletes the object. Objects and data that \
             are deleted with it do not come back.",
            build_changes(fields)
        ))
        .help(format!("remove that setting and merge that first. Then: {}", remedy(object, regime, fields)))
        .severity(severity(surprise).unwrap_or(Severity::Error))
        .consequence(Consequence::Collected)
}

/// Describes the consequence for the rest of the change when one update is rejected.
fn failure(regime: Regime) -> &'static str {
    match regime {
        Regime::Helm => {
            "`helm upgrade` fails: new objects have been created by then, nothing is removed, and every further upgrade \
             fails too."
        }
        Regime::Flux(FluxObject::HelmRelease) => {
            "The upgrade of the HelmRelease fails: new objects have been created by then, and nothing is removed."
        }
        Regime::Flux(FluxObject::Kustomization) => {
            "The Kustomization fails, and none of its other changes reaches the cluster until this \
             is resolved."
        }
        Regime::ArgoCd => "The sync fails, and so does every retry until this is resolved.",
        Regime::Kubectl => "`kubectl apply` fails for the object.",
    }
}

/// Explains how to make the change without losing the dependents of the object, in terms of its tool.
fn remedy(object: KeptObject<'_>, regime: Regime, fields: &[RejectedField]) -> String {
    let member = object.base;
    let target = kubectl::Target::from(&member.key);
    let again = match regime {
        Regime::Helm => "upgrade the release",
        Regime::Flux(FluxObject::HelmRelease) => "merge; Flux upgrades the release",
        Regime::Flux(FluxObject::Kustomization) => "merge; Flux creates it again",
        Regime::ArgoCd => "merge; Argo CD creates it again",
        Regime::Kubectl => "apply it",
    };
    let removed = removed_templates(object);
    match member.key.group_kind() {
        kinds::STATEFUL_SET if !removed.is_empty() => {
            let name = &member.key.name;
            let (them, volumes) = match removed.as_slice() {
                [_] => ("it", "the volume"),
                _ => ("them", "the volumes"),
            };
            format!(
                "if the data is needed, keep {} in `volumeClaimTemplates`. To give {them} up: `{}`, then {again}. The Pods are \
                 replaced by Pods without {volumes}: the program starts without its data, and the claims, such as \
                 `{}-{name}-0`, stay behind",
                listed(removed.iter().copied()),
                kubectl::delete(&target, &["--cascade=orphan"]),
                removed[0]
            )
        }
        kinds::STATEFUL_SET if !adopts_pods(object, fields) => {
            let retain = if claims::are_deleted(&member.object, "whenDeleted") {
                "set `persistentVolumeClaimRetentionPolicy.whenDeleted: Retain` first; then "
            } else {
                ""
            };
            format!(
                "keep `spec.selector`. To change it, with a downtime: {retain}`{}`, then {again}. The Pods are deleted with the \
                 StatefulSet, because a new one would not adopt them; the claims stay",
                kubectl::delete(&target, &[])
            )
        }
        kinds::STATEFUL_SET => format!(
            "keep the Pods and their volumes: `{}`, then {again}. The new StatefulSet adopts the Pods; existing claims keep their \
             size and class",
            kubectl::delete(&target, &["--cascade=orphan"])
        ),
        kinds::JOB => "give the Job a name of its own for each version, or `ttlSecondsAfterFinished`, or make it a hook".to_owned(),
        kinds::PERSISTENT_VOLUME_CLAIM => {
            "add a claim of another name, copy the data, let the workload use it, and remove this one in a later change".to_owned()
        }
        GroupKind { group: "apps", .. } => format!(
            "add the {} under another name, and remove this one in a later change; or, with a downtime: `{}`, then {again}",
            member.key.kind(),
            kubectl::delete(&target, &[])
        ),
        GroupKind { group: "rbac.authorization.k8s.io", .. } => {
            format!("add the binding under another name, and remove this one in the same change; or `{}`, then {again}", kubectl::delete(&target, &[]))
        }
        kinds::CUSTOM_RESOURCE_DEFINITION => {
            "keep the version in `spec.versions` until no object is stored in it; for another \
             group or kind, add another definition".to_owned()
        }
        _ => format!("add the {} under another name, let others use it, and remove this one in a later change", member.key.kind()),
    }
}

/// Whether the workload in head still selects the Pods of base. `fields` are the fields that
/// changed.
fn adopts_pods(object: KeptObject<'_>, fields: &[RejectedField]) -> bool {
    let mut selectors = fields.iter().filter(|field| field.field == "spec.selector");
    let selector = LabelSelector::read(object.head.object.at(&["spec", "selector"]));
    let labels = ["spec", "template", "metadata", "labels"];
    let labels = object.base.object.at(&labels);
    selectors
        .all(|field| !field.is_only_built && selector.selects(|label| labels?.str_at(&[label])))
}

/// Returns the names of the claim templates of a StatefulSet that head does not have.
fn removed_templates(object: KeptObject<'_>) -> Vec<&str> {
    let [before, after] = [object.base, object.head].map(template_names);
    let removed = before.iter().filter(|name| !after.contains(name));
    removed.copied().collect()
}

fn template_names(set: &Member) -> Vec<&str> {
    let templates = set.object.at(&["spec", "volumeClaimTemplates"]).into_iter();
    let templates = templates.flat_map(Value::items);
    templates
        .filter_map(|template| template.at(&["metadata", "name"])?.as_str())
        .collect()
}

fn scope_changed(merge: &Merge<'_>, sink: &mut Sink) {
    for object in merge.part.kept() {
        let scopes = [object.base, object.head]
            .map(|member| member.object.definition().and_then(|crd| crd.scope));
        let [Some(was), Some(is)] = scopes else {
            continue;
        };
        let answer = merge.part.answer(merge.regime_of(object.base), object);
        if was.value != is.value && answer != Answer::Skips {
            sink.push(new_scope(merge, object, (&was, &is)));
        }
    }
}

fn new_scope(
    merge: &Merge<'_>,
    object: KeptObject<'_>,
    (was, is): (&Spanned<Scope>, &Spanned<Scope>),
) -> Draft {
    let crd = object.base;
    let regime = merge.regime_of(crd);
    let inventory = merge.part.analysis.inventory();
    let definition = crd.object.definition();
    let instances = definition.map_or(0, |crd| instances_of(inventory, crd.group_kind()).count());
    let known = match instances {
        0 => String::new(),
        1 => " Base contains 1 such object.".to_owned(),
        n => format!(" Base contains {n} such objects."),
    };
    let message = format!(
        "the scope of {} changes from {:?} to {:?}",
        named(crd),
        was.value,
        is.value
    );
    let field = RejectedField {
        field: "spec.scope",
        base: Some(was.span),
        head: Some(is.span),
        is_only_built: false,
    };
    match merge.part.answer(regime, object) {
        Answer::Replaces { because } => on_field(merge, object, &field, message)
            .reason(format!(
                "The scope is immutable, and {because} makes {} delete the definition and create it again: every object of \
                 the kind is deleted with it.{known}",
                regime.tool()
            ))
            .consequence(Consequence::Collected)
            .severity(Severity::Error),
        Answer::Fails | Answer::Recreates | Answer::Skips => on_field(merge, object, &field, message).reason(format!(
            "The scope is immutable. {} Deleting the definition to get past this deletes every \
             object of the kind.{known}",
            failure(regime)
        )),
    }
    .help(
        "define the kind in another group, or another kind, beside this one; move the objects over, and remove this definition in a \
         later change",
    )
}
