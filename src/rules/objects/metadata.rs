//! Rules on object metadata: unknown keys, missing names, and fields that only the server writes.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{Applicability, Consequence, Severity};
use crate::inventory::{Member, ObjectId, Serving, table};
use crate::manifest::{OBJECT_META_FIELDS, ServerField, TemplateKind, UnknownField};
use crate::ownership::OwnerEdge;
use crate::rules::draft::Draft;
use crate::rules::holder::{MetadataHolder, each_decoded};
use crate::rules::proposal::{Proposal, spelled_correctly};
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::{became_a_boolean, listed, named};
use crate::text::{FileId, near};

pub(in crate::rules) static METADATA_UNKNOWN_FIELD: Rule = rule!(
    Objects,
    "metadata-unknown-field",
    Error,
    RejectedStrict,
    "Object metadata contains an unknown key",
    metadata_unknown_field
)
.fixes(&[Applicability::Safe])
.of_one_object();

pub(in crate::rules) static OBJECT_WITHOUT_NAME: Rule = rule!(
    Objects,
    "object-without-name",
    Error,
    Rejected,
    "An object has neither a name nor a generateName",
    object_without_name
)
.of_one_object()
.of_applied();

pub(in crate::rules) static LIVE_OBJECT: Rule = rule!(
    Objects,
    "live-object",
    Info,
    Ignored,
    "A manifest contains fields that only the API server writes",
    live_object
)
.fixes(&[Applicability::Safe])
.of_one_object();

/// Reports keys that strict decoding rejects, and [VAL-38] for templates that may have only labels and annotations.
fn metadata_unknown_field(context: &Context<'_>, sink: &mut Sink) {
    each_decoded(context.inventory, |holder| {
        for unknown in holder.metadata.unknown() {
            sink.push(unknown_field(context, &holder, unknown));
        }
        if holder.template == Some(TemplateKind::Restricted) {
            sink.extend(forbidden_fields(&holder));
        }
    });
}

fn unknown_field(
    context: &Context<'_>,
    holder: &MetadataHolder<'_>,
    unknown: &UnknownField,
) -> Draft {
    let name = unknown.name.as_str();
    let meant = near::meant(name, &OBJECT_META_FIELDS);
    let file = context.inventory.sources.file(holder.member.file);
    let written = file.slice(unknown.span);
    let (label, help) = match (meant, place_of(name)) {
        _ if became_a_boolean(written, name) => (
            format!("YAML 1.1 reads `{written}` as the boolean `{name}`"),
            "complete the key, or remove it".to_owned(),
        ),
        (Some(meant), _) => (format!("`{meant}`?"), format!("write `{meant}`")),
        (None, Some(place)) => ("not part of metadata".to_owned(), place.to_owned()),
        (None, None) => (
            "unknown".to_owned(),
            "remove it, or move it to `metadata.annotations`, which accepts any text".to_owned(),
        ),
    };
    let message = format!("metadata of {} has no key `{name}`", holder.named());
    let draft = Draft::on(holder.member, unknown.span, message)
        .label(label)
        .help(help)
        .fix(known_key(holder, name))
        .field(format!("{}.{name}", holder.field));
    // A kind that neither Kubernetes nor a CRD in the input defines may be the file of some tool with its own metadata.
    // A typo of one or two letters shows that Kubernetes' metadata is meant.
    let misspelt = meant.is_some_and(|meant| near::is_misspelling(name, meant));
    let effect = "kubectl validates strictly and rejects the object. Clients that do not validate silently drop the \
                  key and everything below it.";
    if is_served_kind(holder.member) || misspelt {
        draft.reason(effect)
    } else {
        draft.severity(Severity::Info).reason(format!(
        "{effect} This assumes that the object is applied to a cluster: no CRD in the input defines {}.",
        holder.member.object.kind()
    ))
    }
}

/// Proposes to correct a typo of one or two letters, or to remove a field that Kubernetes has removed.
fn known_key(holder: &MetadataHolder<'_>, name: &str) -> Option<Proposal> {
    let MetadataHolder { member, field, .. } = holder;
    if ["clusterName", "initializers"].contains(&name) {
        Some(Proposal::safe(format!("remove `{name}`")).remove_key(member, field, name))
    } else {
        spelled_correctly(member, field, name, &OBJECT_META_FIELDS)
    }
}

/// Explains where keys belong that are often put into metadata by mistake.
fn place_of(key: &str) -> Option<&'static str> {
    match key {
        "clusterName" => {
            Some("remove it: the field was never used, and Kubernetes 1.24 removed it")
        }
        "initializers" => Some("remove it: Kubernetes 1.16 removed initializers"),
        "spec" | "data" | "stringData" | "status" | "rules" | "subjects" | "roleRef"
        | "webhooks" | "type" | "template" => {
            Some("indent it less: it belongs to the object, beside `metadata`")
        }
        _ if key.contains(['/', '.']) => Some("move it below `labels` or `annotations`"),
        _ => None,
    }
}

/// Whether the metadata of the object is certainly that of Kubernetes.
fn is_served_kind(member: &Member) -> bool {
    !matches!(
        member.resolution.serving,
        Serving::Unknown | Serving::Never { .. }
    )
}

/// Reports the fields that a template may not have, as one finding at the first of them.
fn forbidden_fields(holder: &MetadataHolder<'_>) -> Option<Draft> {
    let mut fields: Vec<_> = holder.metadata.set_fields().collect();
    fields.retain(|(_, field)| !["labels", "annotations"].contains(field));
    fields.sort_unstable();
    let ((key, field), others) = fields.split_first()?;
    let names = listed(fields.iter().map(|(_, field)| *field));
    let draft = Draft::on(holder.member, *key, format!("{} may not set {names}", holder.named()))
        .label("only labels and annotations may be set here")
        .consequence(Consequence::Rejected)
        .reason("The API server rejects the object, no matter which client sends it: `Forbidden: cannot be set`.")
        .help("remove it: the claim gets its name, its namespace and its owner from the object that uses it")
        .field(format!("{}.{field}", holder.field));
    Some(others.iter().fold(draft, |draft, (key, _)| {
        draft.related(holder.member.file, *key, "nor this one")
    }))
}

/// [VAL-31].
fn object_without_name(context: &Context<'_>, sink: &mut Sink) {
    for member in &context.inventory.members {
        if !member.key.name.is_empty() {
            continue;
        }
        let metadata = member.object.metadata();
        let decodes = member.object.decode_errors().iter().all(|error| {
            !["metadata", "metadata.name", "metadata.generateName"].contains(&error.field.as_str())
        });
        if !decodes || !needs_a_name(member) {
            continue;
        }
        let written = metadata
            .name()
            .as_ref()
            .or(metadata.generate_name().as_ref())
            .map(|name| name.span);
        let span = written
            .or(metadata.key_span())
            .unwrap_or(member.object.kind_span());
        sink.push_with(|| {
            let draft = Draft::on(member, span, format!("this {} has no name", member.object.kind()))
                .label(if written.is_some() { "empty" } else { "no `name` here" })
                .reason(
                    "The API server rejects the object, no matter which client sends it: `name or generateName is \
                     required`.",
                )
                .help("write `metadata.name`")
                .field("metadata.name");
            match (is_served_kind(member), has_name_key(member) && !table().is_builtin_group(member.object.group())) {
                (false, _) => draft.severity(Severity::Info).reason(format!(
                    "The API server rejects the object: `name or generateName is required`. This assumes that it is applied to a \
                     cluster: no CRD in the input defines {}.",
                    member.object.kind()
                )),
                // An empty `name:`: a script may fill in the name of a custom resource before applying it.
                (true, true) => draft.severity(Severity::Warning).reason(
                    "The API server rejects the object as it is written here: `name or generateName is required`. This \
                     assumes that no script fills in the name first.",
                ),
                (true, false) => draft,
            }
        });
    }
}

fn has_name_key(member: &Member) -> bool {
    let metadata = member.object.at(&["metadata"]);
    metadata.is_some_and(|metadata| metadata.entry("name").is_some())
}

/// Whether the object must have a name. Reviews and bindings are requests and are never stored. An object of an unknown
/// kind needs one only if it has some metadata, because files of many tools have none.
fn needs_a_name(member: &Member) -> bool {
    let object = &member.object;
    match member.resolution.serving {
        Serving::Never { .. } => false,
        Serving::Unknown => object
            .at(&["metadata"])
            .is_some_and(|metadata| metadata.entries().len() > 0),
        _ => {
            // A version that no release serves any more has the persistence of the others.
            let mut rows = table().versions_of(object.group_kind());
            rows.next().is_none_or(|row| row.persisted)
        }
    }
}

/// [L-4].
fn live_object(context: &Context<'_>, sink: &mut Sink) {
    // A dump normally has these fields: one finding per file is enough.
    let mut dumped: BTreeMap<FileId, Vec<&Member>> = BTreeMap::new();
    let edges = context.ownership.written.iter();
    let owners: BTreeSet<ObjectId> = edges.filter_map(OwnerEdge::bound).collect();
    for member in &context.inventory.members {
        if member.from_dump {
            dumped.entry(member.file).or_default().push(member);
        } else {
            sink.extend(server_fields(&owners, &[member]));
        }
    }
    for members in dumped.values() {
        sink.extend(server_fields(&owners, members));
    }
}

/// Proposes to remove the fields. `None` if an object has an owner or a dependent, or is being deleted: the file is a
/// record of a cluster.
fn without_server_fields(owners: &BTreeSet<ObjectId>, members: &[&Member]) -> Option<Proposal> {
    let is_record = members.iter().any(|member| {
        let metadata = member.object.metadata();
        // A record may lack the uids of its owners; an object to apply may not.
        let mut references = metadata.owner_references().entries.iter();
        let is_owned = references
            .any(|one| member.from_dump || (one.uid().is_empty() && !one.name().is_empty()));
        let owns = metadata.has_server_field("uid") && owners.contains(&member.id);
        is_owned || owns || metadata.has_server_field("deletionTimestamp")
    });
    if is_record {
        return None;
    }
    let mut proposal = Proposal::safe("remove the fields that only the server writes");
    for member in members {
        for field in member.object.metadata().server_fields() {
            proposal = proposal.remove_key(member, "metadata", field.name);
        }
    }
    Some(proposal)
}

/// Reports the first of some objects in one file, as one finding for all of them.
fn server_fields(owners: &BTreeSet<ObjectId>, members: &[&Member]) -> Option<Draft> {
    let (member, others) = (*members.first()?, members.len() - 1);
    let fields = member.object.metadata().server_fields();
    let harmful = fields.iter().find(|field| obstacle(field).is_some());
    let primary = harmful.or(fields.first())?;
    let kind = member.object.kind();
    let more = match others {
        0 => String::new(),
        1 => ", and so does one more object in this file".to_owned(),
        n => format!(", and so do {n} more objects in this file"),
    };
    let names = listed(fields.iter().map(|field| field.name));
    let obstacles: Vec<_> = fields.iter().filter_map(obstacle).collect();
    let harm = if obstacles.is_empty() {
        "None of them makes an apply fail.".to_owned()
    } else {
        obstacles.join(" ")
    };
    let mut draft = Draft::on(
        member,
        primary.key_span,
        format!("{} contains {names}, which only the server writes{more}", named(member)),
    )
    .label("written by the server")
    .reason(format!("These fields belong to the API server, which ignores them when it creates a {kind}. {harm}"))
    .help(if member.from_dump { "if this is a backup or a test, leave it; if it is to be applied, remove these fields and `status`" } else { "remove them: `kubectl get -o yaml` prints them, manifests do not need them" })
    .fix(without_server_fields(owners, members))
    .field(format!("metadata.{}", primary.name));
    for field in fields.iter().filter(|field| field.name != primary.name) {
        draft = draft.related(member.file, field.key_span, "and this one");
    }
    Some(draft)
}

/// Explains how a field makes an apply fail ([VAL-29], [VAL-30], [VAL-33]).
fn obstacle(field: &ServerField) -> Option<&'static str> {
    match field.name {
        "resourceVersion" => Some(
            "`resourceVersion` makes a create fail (`resourceVersion should not be set on objects to be created`), \
             and an update too if the object has changed since.",
        ),
        "uid" => Some(
            "`uid` makes a server-side apply fail if it would create the object (`uid mismatch`), and an update too \
             if the object has another uid.",
        ),
        "deletionTimestamp" => Some(
            "`deletionTimestamp` makes an update of the live object fail (`field is immutable`).",
        ),
        "deletionGracePeriodSeconds" => Some(
            "`deletionGracePeriodSeconds` makes an update of the live object fail (`field is immutable`).",
        ),
        "managedFields" => Some(
            "`managedFields` makes a server-side apply fail (`metadata.managedFields must be nil`).",
        ),
        _ => None,
    }
}
