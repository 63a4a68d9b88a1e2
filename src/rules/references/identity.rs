//! Rules on which object an owner reference means: literal uids, uids of other objects, and owners that are not in the
//! input.

use foldhash::HashMap;

use crate::finding::{Applicability, Severity};
use crate::inventory::{Inventory, Member, ObjectId, Serving, table};
use crate::kube::{GroupKind, Scope};
use crate::manifest::{OwnerReference, TemplateKind};
use crate::ownership::{Owner, OwnerEdge};
use crate::rules::draft::Draft;
use crate::rules::holder::each_template;
use crate::rules::proposal::Proposal;
use crate::rules::rule::{Context, Rule, Sink, World, rule};
use crate::rules::words::{field, named, place, reference_name, target, whereabouts};
use crate::text::Span;

pub(in crate::rules) static OWNER_LITERAL_UID: Rule = rule!(
    References,
    "owner-literal-uid",
    Warning,
    Collected,
    "A rendered manifest hard-codes the uid of its owner",
    owner_literal_uid
)
.fixes(&[Applicability::Suggested]);

pub(in crate::rules) static OWNER_IDENTITY_MISMATCH: Rule = rule!(
    References,
    "owner-identity-mismatch",
    Error,
    Collected,
    "The owner's uid belongs to another object",
    owner_identity_mismatch
);

pub(in crate::rules) static OWNER_NOT_FOUND: Rule = rule!(
    References,
    "owner-not-found",
    Info,
    Collected,
    "The input does not contain the owner",
    owner_not_found
);

/// Whether the API server accepts the reference: other rules report rejected ones ([VAL-4] to [VAL-8]).
fn is_accepted(reference: &OwnerReference) -> bool {
    let version = reference.group_version();
    let (kind, name, uid) = (reference.kind(), reference.name(), reference.uid());
    let complete = ![version.version, kind, name, uid].contains(&"");
    let event = version.group.is_empty() && version.version == "v1" && kind == "Event";
    complete && reference.decodes && !event
}

/// Whether the collector can ever decide about the reference. It never deletes objects whose owner's kind it cannot
/// resolve ([GC-16]), or cluster-scoped objects with a namespaced owner ([GC-20]).
fn is_decidable(inventory: &Inventory, dependent: &Member, reference: &OwnerReference) -> bool {
    let owner_scope = inventory.owner_kind(reference).scope;
    let across =
        dependent.scope() == Some(Scope::Cluster) && owner_scope == Some(Scope::Namespaced);
    may_resolve(inventory, reference) && !across
}

/// Whether a cluster of the configured release may serve the owner's kind as written.
fn may_resolve(inventory: &Inventory, reference: &OwnerReference) -> bool {
    matches!(
        inventory.owner_kind(reference).serving,
        Serving::Yes | Serving::OffByDefault { .. } | Serving::Unknown
    )
}

/// Whether the uid is a placeholder that some tool replaces: `${OWNER_UID}`, `$(UID)`, `<uid>`, `%UID%`.
fn is_placeholder(uid: &str) -> bool {
    uid.contains(['$', '{', '<', '%', '@'])
}

/// [L-5], [L-16].
fn owner_literal_uid(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    for (edge, dependent, reference) in context.references() {
        let fits = is_accepted(reference) && is_decidable(inventory, dependent, reference);
        if dependent.from_dump || !fits || is_placeholder(reference.uid()) {
            continue;
        }
        sink.push_with(|| {
            let kind = dependent.object.kind();
            let owner = edge.bound().map(|id| inventory.member(id));
            let help = match owner {
                Some(_) => format!(
                    "remove the reference: its owner is in the same input, so the tool that installs both also deletes \
                     this {kind}"
                ),
                None => format!(
                    "remove the reference and let the tool that installs the {kind} delete it; a controller that should \
                     own it adds the reference at run time, with the owner's current uid"
                ),
            };
            let assumed = match inventory.owner_kind(reference).serving {
                Serving::Unknown => {
                    " This assumes that the cluster serves the owner's kind: the input does not show it."
                }
                _ => "",
            };
            let mut draft = literal_uid(dependent, reference, &named(dependent))
                .reason(format!(
                    "The API server gives every object a new uid when it is created, so this uid \
                     is valid in one cluster only, until the owner is recreated. Otherwise, the \
                     collector finds no {} with this uid, treats the owner as deleted and deletes \
                     this {kind}, often seconds after it is applied.{assumed}",
                    reference_name(reference)
                ))
                .help(help)
                .fix(Proposal::suggested("remove the reference").remove(dependent, &field(reference)))
                .field(format!("{}.uid", field(reference)));
            if let Some(owner) = owner {
                draft = draft.related_object(owner, format!("the owner, {}", whereabouts(owner)));
            }
            draft
        });
    }
    each_template(inventory, |holder| {
        if holder.template != Some(TemplateKind::Claim) {
            return;
        }
        for reference in &holder.metadata.owner_references().entries {
            let fits = is_accepted(reference) && may_resolve(inventory, reference);
            if !fits || is_placeholder(reference.uid()) {
                continue;
            }
            sink.push(
                literal_uid(holder.member, reference, &holder.named())
                    .reason(format!(
                        "The StatefulSet controller copies the reference into every claim. In any \
                         cluster but the one that this uid comes from, the collector finds no {} \
                         with this uid. It treats the owner as deleted and deletes the claims, and \
                         the data with them.",
                        reference_name(reference)
                    ))
                    .help(
                        "remove the reference; `persistentVolumeClaimRetentionPolicy` decides when claims are deleted",
                    )
                    .fix(Proposal::suggested("remove the reference").remove(holder.member, &holder.entry(reference)))
                    .field(format!("{}.uid", holder.entry(reference))),
            );
        }
    });
}

fn literal_uid(member: &Member, reference: &OwnerReference, holder: &str) -> Draft {
    let uid = reference.uid.as_ref();
    let owner = reference_name(reference);
    let message = format!("{holder} names its owner {owner} by a literal uid");
    Draft::on(member, uid.map_or(reference.span, |uid| uid.span), message)
        .label("no new cluster has this uid")
        .target(target(reference))
}

/// How the uids in the input show that a reference is wrong.
enum Mismatch<'a> {
    /// The uid belongs to these objects, none of which the reference describes.
    OtherObject(&'a [ObjectId]),
    /// The object that the reference describes has another uid: the first such object.
    OtherUid(&'a Member),
}

/// Returns how a reference is wrong ([GC-18]). `OtherUid` needs a dump: the uid of a rendered object proves nothing.
fn mismatch<'a>(inventory: &'a Inventory, edge: &OwnerEdge) -> Option<Mismatch<'a>> {
    let (dependent, reference) = (edge.dependent(inventory), edge.reference(inventory));
    if !is_accepted(reference) || !is_decidable(inventory, dependent, reference) {
        return None;
    }
    match edge.owner {
        Owner::ByUid(_) => {
            let holders = inventory.with_uid(reference.uid());
            // Many objects may share a uid or a name: check the shorter list for one that has both.
            let group = reference.group_version().group;
            let named = inventory.with_name(group, reference.kind(), reference.name());
            let fewer = if named.len() < holders.len() {
                named
            } else {
                holders
            };
            let is_right = fewer.iter().map(|id| inventory.member(*id)).any(|owner| {
                owner.object.uid() == Some(reference.uid())
                    && describes(reference, owner)
                    && !lives_elsewhere(inventory, dependent, reference, owner)
            });
            (!is_right).then_some(Mismatch::OtherObject(holders))
        }
        Owner::Absent if dependent.from_dump => namesakes(inventory, dependent, reference)
            .next()
            .map(Mismatch::OtherUid),
        _ => None,
    }
}

/// Returns the objects of a dump that a reference describes, whatever their uids.
fn namesakes<'a>(
    inventory: &'a Inventory,
    dependent: &Member,
    reference: &OwnerReference,
) -> impl Iterator<Item = &'a Member> + use<'a> {
    let group = reference.group_version().group;
    let kind = GroupKind::new(group, reference.kind());
    let namesakes = inventory.with_name_near(kind, reference.name(), &dependent.key.namespace);
    namesakes
        .map(|id| inventory.member(id))
        .filter(|owner| owner.from_dump)
}

/// Whether group, kind and name agree. The version does not matter ([GC-19]), nor does the group of a kind that several
/// groups share.
pub(in crate::rules) fn describes(reference: &OwnerReference, owner: &Member) -> bool {
    reference.kind() == owner.key.kind()
        && group_of(reference) == owner.key.group()
        && reference.name() == owner.key.name
}

/// Returns the group under which the inventory knows the reference's kind.
pub(in crate::rules) fn group_of(reference: &OwnerReference) -> &str {
    table().identity(reference.group_version().group, reference.kind())
}

/// Whether a dump shows the owner in another namespace. If both scopes are known, `owner-cross-namespace` reports it.
fn lives_elsewhere(
    inventory: &Inventory,
    dependent: &Member,
    reference: &OwnerReference,
    owner: &Member,
) -> bool {
    let known = dependent.scope().is_some() && inventory.owner_kind(reference).scope.is_some();
    !known
        && dependent.from_dump
        && owner.from_dump
        && dependent
            .key
            .namespace
            .certainly_differs(&owner.key.namespace)
}

/// Whether the edge contradicts the uids in the input, so that the collector does not follow it.
pub(crate) fn is_contradicted(inventory: &Inventory, edge: &OwnerEdge) -> bool {
    mismatch(inventory, edge).is_some()
}

fn owner_identity_mismatch(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    let mut known = HashMap::default();
    for (edge, dependent, reference) in context.references() {
        match mismatch(inventory, edge) {
            Some(Mismatch::OtherObject(holders)) => {
                sink.extend(other_object(inventory, dependent, reference, holders));
            }
            Some(Mismatch::OtherUid(first)) => {
                let namesakes: &Namesakes<'_> = known
                    .entry((first.id, &dependent.key.namespace))
                    .or_insert_with(|| {
                        Namesakes::of(inventory, namesakes(inventory, dependent, reference))
                    });
                sink.push(other_uid(inventory, dependent, reference, namesakes));
            }
            None => {}
        }
    }
}

/// The objects of a dump that a reference may describe, as far as a finding needs them.
struct Namesakes<'a> {
    first: Vec<&'a Member>,
    /// The folder that contains all of them, if they have one uid and one folder.
    folder: Option<&'a str>,
}

impl<'a> Namesakes<'a> {
    fn of(inventory: &'a Inventory, all: impl Iterator<Item = &'a Member>) -> Self {
        let mut namesakes = Self {
            first: Vec::new(),
            folder: None,
        };
        let mut together = true;
        for owner in all {
            let folder = inventory.folder_of(owner.file);
            namesakes.folder.get_or_insert(folder);
            let uid = namesakes.first.first().unwrap_or(&owner).object.uid();
            together &= owner.object.uid() == uid && namesakes.folder == Some(folder);
            if namesakes.first.len() < MAX_NAMESAKES {
                namesakes.first.push(owner);
            }
        }
        namesakes.folder = namesakes.folder.filter(|_| together);
        namesakes
    }
}

/// The maximum number of objects that a finding shows for an ambiguous reference.
const MAX_NAMESAKES: usize = 3;

fn other_object(
    inventory: &Inventory,
    dependent: &Member,
    reference: &OwnerReference,
    holders: &[ObjectId],
) -> Option<Draft> {
    let owner = inventory.member(*holders.first()?);
    let (part, written) = if reference.name() != owner.key.name {
        ("name", &reference.name)
    } else if reference.kind() != owner.object.kind() {
        ("kind", &reference.kind)
    } else if group_of(reference) != owner.key.group() {
        ("apiVersion", &reference.api_version)
    } else {
        ("uid", &reference.uid)
    };
    let span = written
        .as_ref()
        .map_or_else(|| place(reference), |part| part.span);
    let (mut meant, mut found) = (reference_name(reference), named(owner));
    // Without the groups, the two kinds would look equal.
    if part == "apiVersion" {
        meant = format!("{meant} of `{}`", reference.api_version());
        found = format!("{found} of `{}`", owner.object.api_version());
    }
    let mut draft = Draft::on(
        dependent,
        span,
        format!(
            "{} names {meant} as its owner, but the uid belongs to {found}, {}",
            named(dependent),
            whereabouts(owner)
        ),
    )
    .label("not the object with this uid")
    .reason(format!(
        "The collector looks up the owner by kind and name in the dependent's namespace and compares the uids. Here \
         they cannot match: it treats the owner as deleted and deletes this {}, unless another owner keeps it.",
        dependent.object.kind()
    ))
    .help(
        "copy apiVersion, kind, name and uid from one object in the dependent's namespace, as `kubectl get -o yaml` \
         shows it, or remove the reference: as written, it matches no object",
    )
    .field(format!("{}.{part}", field(reference)))
    .target(target(reference));
    for holder in holders.iter().take(MAX_NAMESAKES) {
        let holder = inventory.member(*holder);
        let words = format!("the uid belongs to {}", named(holder));
        draft = draft.related(holder.file, uid_span(holder), words);
    }
    Some(draft)
}

/// Returns the place of an object's uid, else that of its name.
fn uid_span(member: &Member) -> Span {
    let uid = member.object.metadata().uid();
    uid.map_or_else(|| member.object.name_span(), |uid| uid.span)
}

fn other_uid(
    inventory: &Inventory,
    dependent: &Member,
    reference: &OwnerReference,
    namesakes: &Namesakes<'_>,
) -> Draft {
    // Only a dump of a single moment proves anything: not several uids under one name, or files from different folders.
    let together = namesakes.folder == Some(inventory.folder_of(dependent.file));
    let doubt = if together {
        ""
    } else {
        " This assumes that both objects were read from the same cluster at the same time."
    };
    let mut draft = Draft::on(
        dependent,
        reference.uid.as_ref().map_or_else(|| place(reference), |uid| uid.span),
        format!("{} names its owner {} by the wrong uid", named(dependent), reference_name(reference)),
    )
    .severity(if together { Severity::Error } else { Severity::Warning })
    .label("not the owner's uid")
    .reason(format!(
        "The collector finds {} with another uid: the owner that the reference means was deleted, and another object \
         now has its name. The collector deletes this {}, unless another owner keeps it.{doubt}",
        reference_name(reference),
        dependent.object.kind()
    ))
    .help("remove the reference, or write the owner's current uid if the new object should own this one")
    .field(format!("{}.uid", field(reference)))
    .target(target(reference));
    for owner in &namesakes.first {
        let words = format!("the uid of {}", named(owner));
        draft = draft.related(owner.file, uid_span(owner), words);
    }
    draft
}

/// [GC-48]. Silent where another rule says more: about unresolvable kinds, other namespaces or other uids.
fn owner_not_found(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    for (edge, dependent, reference) in context.references() {
        if edge.owner != Owner::Absent {
            continue;
        }
        let resolved = inventory.owner_kind(reference).serving == Serving::Yes;
        if !resolved
            || !is_accepted(reference)
            || !is_decidable(inventory, dependent, reference)
            || is_contradicted(inventory, edge)
        {
            continue;
        }
        sink.push_with(|| {
            let closed = context.world == World::Closed;
            let by = if dependent.from_dump { "with that uid" } else { "with that name" };
            let span = reference.name.as_ref().map_or_else(|| place(reference), |name| name.span);
            let kind = dependent.object.kind();
            Draft::on(
                dependent,
                span,
                format!("{}, the owner of {}, is not in the input", reference_name(reference), named(dependent)),
            )
            .severity(if closed { Severity::Error } else { Severity::Info })
            .label(format!("no {} {by}", reference.kind()))
            .reason(if closed { format!(
                "The collector finds no such owner, treats it as deleted and deletes this {kind}, unless another \
                 owner keeps it."
            ) } else { format!(
                "If the owner is not in the cluster either, the collector treats it as deleted and deletes this \
                 {kind}."
            ) })
            .claims_absence(inventory)
            .help(format!("add {} to the input, or remove the reference", reference_name(reference)))
            .field(format!("{}.name", field(reference)))
            .target(target(reference))
        });
    }
}
