//! Rules on the form of owner references: what the API server rejects, warns about or drops, whatever the owner is.

use foldhash::HashMap;

use crate::finding::{Applicability, Consequence, Severity};
use crate::inventory::Member;
use crate::manifest::{OWNER_REFERENCE_FIELDS, OwnerReference};
use crate::rules::draft::Draft;
use crate::rules::holder::{MetadataHolder, each_decoded, each_effective};
use crate::rules::proposal::{Proposal, spelled_correctly};
use crate::rules::references::identity::group_of;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::{
    a_json_type, became_a_boolean, field, help_for_type, listed, named, place, reference_name,
    target,
};
use crate::text::{Span, near};

pub(in crate::rules) static OWNER_MISSING_FIELD: Rule = rule!(
    References,
    "owner-missing-field",
    Error,
    Rejected,
    "An owner reference lacks apiVersion, kind, name or uid",
    owner_missing_field
)
.fixes(&[Applicability::Safe, Applicability::Suggested])
.of_one_object()
.of_applied();

pub(in crate::rules) static OWNER_WRONG_TYPE: Rule = rule!(
    References,
    "owner-wrong-type",
    Error,
    Rejected,
    "A field of an owner reference has the wrong type",
    owner_wrong_type
)
.of_one_object();

pub(in crate::rules) static OWNER_EVENT: Rule = rule!(
    References,
    "owner-event",
    Error,
    Rejected,
    "An Event is named as an owner",
    owner_event
)
.fixes(&[Applicability::Suggested]);

pub(in crate::rules) static OWNER_MULTIPLE_CONTROLLERS: Rule = rule!(
    References,
    "owner-multiple-controllers",
    Error,
    Rejected,
    "Two owner references claim to be the controller",
    owner_multiple_controllers
)
.of_one_object();

pub(in crate::rules) static OWNER_DUPLICATE: Rule = rule!(
    References,
    "owner-duplicate",
    Warning,
    Warned,
    "An owner reference is listed twice",
    owner_duplicate
)
.fixes(&[Applicability::Safe])
.of_one_object();

pub(in crate::rules) static OWNER_SAME_UID: Rule = rule!(
    References,
    "owner-same-uid",
    Warning,
    Collected,
    "Owner references give the same uid to different owners",
    owner_same_uid
);

pub(in crate::rules) static OWNER_UNKNOWN_FIELD: Rule = rule!(
    References,
    "owner-unknown-field",
    Error,
    RejectedStrict,
    "An owner reference contains an unknown key",
    owner_unknown_field
)
.fixes(&[Applicability::Safe])
.of_one_object();

/// [VAL-4] to [VAL-7].
fn owner_missing_field(context: &Context<'_>, sink: &mut Sink) {
    each_effective(context.inventory, |holder| {
        for reference in &holder.metadata.owner_references().entries {
            // `owner-wrong-type` reports references that do not decode.
            if reference.decodes {
                sink.extend(missing_fields(&holder, reference));
            }
        }
    });
}

fn missing_fields(holder: &MetadataHolder<'_>, reference: &OwnerReference) -> Option<Draft> {
    let parts = [
        (
            "apiVersion",
            reference.group_version().version.is_empty(),
            &reference.api_version,
        ),
        ("kind", reference.kind().is_empty(), &reference.kind),
        ("name", reference.name().is_empty(), &reference.name),
        ("uid", reference.uid().is_empty(), &reference.uid),
    ];
    let missing = parts.into_iter().filter(|(_, empty, _)| *empty);
    let written = missing.clone().find_map(|(_, _, value)| value.as_ref());
    let missing: Vec<&str> = missing.map(|(name, ..)| name).collect();
    let first = missing.first()?;
    let lacks_uid = missing.contains(&"uid");
    let fields = listed(missing.iter().copied());
    let api_version = reference.api_version();
    let what = match (missing.as_slice(), api_version.is_empty()) {
        (["apiVersion"], false) => {
            format!("has the `apiVersion` `{api_version}`, which has no version")
        }
        _ => format!("lacks {fields}"),
    };
    let owner = match (reference.kind(), reference.name()) {
        ("", "") => "an owner reference".to_owned(),
        (kind, "") => format!("the reference to a {kind}"),
        ("", name) => format!("the reference to `{name}`"),
        _ => format!("the reference to {}", reference_name(reference)),
    };
    let span = written.map_or_else(|| place(reference), |value| value.span);
    let message = format!("in {}, {owner} {what}", holder.named());
    let draft = Draft::on(holder.member, span, message)
        .label(match written {
            Some(value) if value.value.is_empty() => "empty".to_owned(),
            Some(_) => "no version".to_owned(),
            None => format!("no {fields} here"),
        })
        .reason(format!("An owner reference must have a version, a kind, a name and a uid. {}", holder.rejection()))
        .help(if lacks_uid {
            "remove the reference: only the cluster knows the owner's uid, so only a controller can write a valid \
             reference, at run time"
        } else { "write the field as `kubectl get OWNER -o yaml` shows it, or remove the reference" })
        .field(format!("{}.{first}", holder.entry(reference)))
        .target(target(reference))
        .consequence(holder.consequence());
    let proposal = match missing.len() {
        4 => Some(Proposal::safe("remove the empty reference")),
        _ if lacks_uid && !is_a_record(holder) => Some(Proposal::suggested("remove the reference")),
        _ => None,
    };
    let entry = holder.entry(reference);
    let draft = draft.fix(proposal.map(|proposal| proposal.remove(holder.member, &entry)));
    // A record that lacks only the uid was probably read from a cluster, or copied from the output
    // of a controller without the uid, which varies.
    Some(match missing.as_slice() {
        ["uid"] if is_a_record(holder) => draft.severity(Severity::Warning).help(
            "if this file only records the content of a cluster, leave it out of the input; if it is applied, remove \
             the reference",
        ),
        _ => draft,
    })
}

/// Whether an object has fields that only a server or a controller writes.
fn is_a_record(holder: &MetadataHolder<'_>) -> bool {
    let object = &holder.member.object;
    let has_status = object
        .at(&["status"])
        .is_some_and(|status| status.entries().len() > 0);
    holder.template.is_none() && (has_status || !object.metadata().server_fields().is_empty())
}

/// Reports values that every client's JSON decoder rejects.
fn owner_wrong_type(context: &Context<'_>, sink: &mut Sink) {
    each_decoded(context.inventory, |holder| {
        if holder.decode_errors.is_empty() {
            return;
        }
        let list = format!("{}.ownerReferences", holder.field);
        let errors = holder.decode_errors.iter();
        for error in errors.filter(|error| error.field.starts_with(&list)) {
            let is_list = error.field == list;
            let key = holder.metadata.owner_references().key_span;
            let key = key.filter(|_| is_list);
            let field = &error.field;
            let below = field.strip_prefix("metadata.").unwrap_or(field);
            let expected = error.expected.as_str();
            sink.push_with(|| {
                Draft::on(
                    holder.member,
                    key.unwrap_or_else(|| context.inventory.sources.file(holder.member.file).first_line(error.span)),
                    format!("in {}, `{below}` is {}, not {expected}", holder.named(), a_json_type(error.found)),
                )
                .label(format!("expects {expected}"))
                .reason(match holder.template {
                    None => {
                        "The field has the wrong type: every client rejects the object, and the API server would too."
                    }
                    Some(_) => "The field does not decode: the API server rejects the whole object.",
                })
                .help(if is_list { "write a list: each reference begins with `- apiVersion:`".to_owned() } else { help_for_type(expected) })
                .field(error.field.clone())
            });
        }
    });
}

/// [VAL-8], [VAL-12].
fn owner_event(context: &Context<'_>, sink: &mut Sink) {
    each_effective(context.inventory, |holder| {
        for reference in &holder.metadata.owner_references().entries {
            let version = reference.group_version();
            if !version.group.is_empty() || version.version != "v1" || reference.kind() != "Event" {
                continue;
            }
            sink.push_with(|| {
                Draft::on(holder.member, place(reference), format!("{} names an Event as its owner", holder.named()))
                    .label("an Event cannot own")
                    .reason(format!(
                        "A core/v1 Event is the only kind that cannot own anything. {}",
                        holder.rejection()
                    ))
                    .help(
                        "remove the reference: Events expire after an hour, and their dependents would be deleted \
                         with them",
                    )
                    .fix(Proposal::suggested("remove the reference").remove(holder.member, &holder.entry(reference)))
                    .field(format!("{}.kind", holder.entry(reference)))
                    .target(target(reference))
                    .consequence(holder.consequence())
            });
        }
    });
}

/// [VAL-9], after the API server has dropped identical entries ([VAL-14], [VAL-16]).
fn owner_multiple_controllers(context: &Context<'_>, sink: &mut Sink) {
    each_effective(context.inventory, |holder| {
        let written = holder.metadata.owner_references();
        let entries = written.entries.iter().zip(written.repetitions());
        let controllers = entries
            .filter(|(reference, first)| first.is_none() && reference.is_controller())
            .map(|(reference, _)| reference);
        let controllers: Vec<_> = controllers.collect();
        let [first, second, others @ ..] = controllers.as_slice() else {
            return;
        };
        let mut draft = Draft::on(
            holder.member,
            controller_flag(second),
            format!(
                "{0} names {2} and {3} as its controllers ({1} in all)",
                holder.named(),
                controllers.len(),
                reference_name(first),
                reference_name(second)
            ),
        )
        .label("a second controller")
        .reason(format!("At most one reference may set `controller: true`. {}", holder.rejection()))
        .help("keep `controller: true` for the owner that manages the object; other owners need no flag")
        .field(format!("{}.controller", holder.entry(second)))
        .target(target(second))
        .consequence(holder.consequence())
        .related(holder.member.file, controller_flag(first), "the first controller");
        for other in others {
            let flag = controller_flag(other);
            draft = draft.related(holder.member.file, flag, "another controller");
        }
        sink.push(draft);
    });
}

fn controller_flag(reference: &OwnerReference) -> Span {
    let flag = reference.controller.as_ref();
    flag.map_or(reference.span, |flag| flag.span)
}

/// [VAL-14], [VAL-15].
fn owner_duplicate(context: &Context<'_>, sink: &mut Sink) {
    // An object that does not decode never reaches the API server.
    let members = context.inventory.with_rare_fields();
    for member in members.filter(|member| member.decodes()) {
        let written = member.object.metadata().owner_references();
        for (reference, first) in written.entries.iter().zip(written.repetitions()) {
            let Some(first) = first.map(|at| &written.entries[at]) else {
                continue;
            };
            sink.push_with(|| {
                Draft::on(
                    member,
                    place(reference),
                    format!("{} names its owner {} twice", named(member), reference_name(reference)),
                )
                .label("listed again")
                .reason(
                    "The API server drops the repetition and returns a warning, which says that it may reject such \
                     objects in the future.",
                )
                .help("remove one of the two")
                .fix(Proposal::safe("remove the repetition").remove(member, &field(reference)))
                .field(field(reference))
                .target(target(reference))
                .related(member.file, place(first), "first listed here")
            });
        }
    }
}

/// [L-17], [GC-23].
fn owner_same_uid(context: &Context<'_>, sink: &mut Sink) {
    for member in context.inventory.with_rare_fields() {
        // For each uid, its first reference and the first one that differs from that.
        let mut known: HashMap<&str, (&OwnerReference, Option<&OwnerReference>)> =
            HashMap::default();
        for reference in &member.object.metadata().owner_references().entries {
            let Some(uid) = reference.uid.as_ref().filter(|uid| !uid.value.is_empty()) else {
                continue;
            };
            let (first, other) = known.entry(&uid.value).or_insert((reference, None));
            let differs = coordinates(first) != coordinates(reference);
            let conflicting = if differs { Some(*first) } else { *other };
            if differs {
                other.get_or_insert(reference);
            }
            sink.extend(conflicting.map(|first| same_uid(member, reference, first, uid.span)));
        }
    }
}

/// Returns the collector's lookup key of an owner, without the uid.
fn coordinates(reference: &OwnerReference) -> [&str; 3] {
    [reference.api_version(), reference.kind(), reference.name()]
}

/// Whether two references name one object, in any version, and in any group that serves its kind.
fn names_same_object(one: &OwnerReference, other: &OwnerReference) -> bool {
    (one.kind(), one.name()) == (other.kind(), other.name()) && group_of(one) == group_of(other)
}

fn same_uid(
    member: &Member,
    reference: &OwnerReference,
    first: &OwnerReference,
    span: Span,
) -> Draft {
    let kind = member.object.kind();
    let (who, owner) = (named(member), reference_name(reference));
    let is_same_owner = names_same_object(reference, first);
    let draft = if is_same_owner {
        Draft::on(member, span, format!("{who} names its owner {owner} in two versions"))
            .severity(Severity::Info)
            .consequence(Consequence::Ignored)
            .reason("Both references lead to the same object as long as both versions are served; the second adds nothing.")
            .help("keep the reference in the version that the owner's manifest uses")
    } else {
        let mut owners = [first, reference].map(reference_name);
        if owners[0] == owners[1] {
            // Only their groups differ.
            owners = [first, reference]
                .map(|one| format!("{} of `{}`", reference_name(one), one.api_version()));
        }
        let [first, second] = owners;
        let message = format!("{who} gives the same uid to two owners, {first} and {second}");
        Draft::on(member, span, message)
            .reason(format!(
                "A uid belongs to one object forever, so at most one of the two references is right. The collector treats \
                 the other owner as deleted and removes references by uid: both disappear, and this {kind} is left \
                 without an owner. If neither is right, this {kind} is deleted."
            ))
            .help("keep the reference to the object that has this uid and remove the other")
    };
    let first_uid = first.uid.as_ref().map_or(first.span, |uid| uid.span);
    let words = if is_same_owner {
        "first listed here"
    } else {
        "given to another owner here"
    };
    draft
        .label("the same uid")
        .field(format!("{}.uid", field(reference)))
        .target(target(reference))
        .related(member.file, first_uid, words)
}

/// Reports keys that strict decoding rejects, in typed templates too.
fn owner_unknown_field(context: &Context<'_>, sink: &mut Sink) {
    each_decoded(context.inventory, |holder| {
        for reference in &holder.metadata.owner_references().entries {
            for unknown in &reference.unknown {
                let name = &unknown.name;
                let file = context.inventory.sources.file(holder.member.file);
                let written = file.slice(unknown.span);
                let (label, help) = match (name.as_str(), near::meant(name, &OWNER_REFERENCE_FIELDS)) {
                    _ if became_a_boolean(written, name) => (
                        format!("YAML 1.1 reads `{written}` as the boolean `{name}`"),
                        format!(
                            "replace it with a key of owner references, or remove it: the keys are {}",
                            listed(OWNER_REFERENCE_FIELDS)
                        ),
                    ),
                    ("namespace", _) => (
                        "an owner reference has no namespace".to_owned(),
                        "remove it: a namespaced owner is always looked up in the dependent's own namespace and \
                         cannot be in another"
                            .to_owned(),
                    ),
                    (_, Some(meant)) => (format!("`{meant}`?"), format!("write `{meant}`")),
                    (_, None) => (
                        "unknown".to_owned(),
                        format!("remove it: the keys of an owner reference are {}", listed(OWNER_REFERENCE_FIELDS)),
                    ),
                };
                sink.push(
                    Draft::on(holder.member, unknown.span, format!("owner references have no key `{name}`"))
                        .label(label)
                        .reason(
                            "kubectl validates strictly and rejects the object. Clients that do not validate, \
                             including many controllers, silently drop the key, and it never has any effect.",
                        )
                        .help(help)
                        .fix(key_of_reference(&holder, reference, name))
                        .field(format!("{}.{name}", holder.entry(reference)))
                        .target(target(reference)),
                );
            }
        }
    });
}

/// Proposes to correct a typo of one or two letters, or to remove `namespace`, which has no effect.
fn key_of_reference(
    holder: &MetadataHolder<'_>,
    reference: &OwnerReference,
    name: &str,
) -> Option<Proposal> {
    let entry = holder.entry(reference);
    if name == "namespace" {
        Some(Proposal::safe("remove `namespace`").remove_key(holder.member, &entry, name))
    } else {
        spelled_correctly(holder.member, &entry, name, &OWNER_REFERENCE_FIELDS)
    }
}
