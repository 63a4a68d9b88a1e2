//! Rules on how GitOps tools recognise and recreate objects: marks of a tool that are copied to objects which it does
//! not manage, and options that delete an object in order to change it.

use std::collections::BTreeSet;

use memchr::memmem;

use crate::delivery::TrackingLabels;
use crate::delivery::marks;
use crate::finding::Severity;
use crate::inventory::{Inventory, Member, ObjectId, table};
use crate::knowledge::DataFate;
use crate::kube::{GroupKind, kinds};
use crate::manifest::{Metadata, Object, Spanned, Template, TemplateKind};
use crate::ownership::{DeliveryKind, data_loss};
use crate::rules::data::claims;
use crate::rules::draft::Draft;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::named;
use crate::text::{FileId, Span};

pub(in crate::rules) static TRACKING_LABEL_LEAKS: Rule = rule!(
    ArgoCd,
    "tracking-label-leaks",
    Warning,
    Collected,
    "A template passes a delivery tool's own mark on to objects that the tool did not create",
    tracking_label_leaks
);

pub(in crate::rules) static FORCE_REPLACE_ON_STATEFUL: Rule = rule!(
    ArgoCd,
    "force-replace-on-stateful",
    Warning,
    Collected,
    "A delivery tool may delete an object that contains state in order to change it",
    force_replace_on_stateful
);

/// A mark of a delivery tool in the metadata of a template.
struct Leak<'a> {
    key: &'a str,
    value: Spanned<&'a str>,
    field: String,
    /// The kind of object that is made from the template.
    made: TemplateKind,
}

fn tracking_label_leaks(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    let tracking = TrackingLabels::of(inventory);
    let mut mentioning = MarkMentions::of(inventory);
    for (member, template) in inventory.templates() {
        if let Some(leak) = leak(template, &tracking) {
            sink.push(leaked(member, leak));
        }
    }
    for member in &inventory.members {
        if is_copied(member) && mentioning.has(member) {
            for (key, place) in leaks_of_custom_resource(member) {
                sink.push(leaked_by_custom_resource(member, key, place));
            }
        }
    }
}

/// Caches which documents mention Argo CD's marks; only these are searched for them.
struct MarkMentions<'a> {
    inventory: &'a Inventory,
    domain: memmem::Finder<'static>,
    /// The file and document of the last lookup: the objects of one list share a document.
    last: Option<(FileId, u32)>,
    /// The result of the last lookup.
    found: bool,
}

impl<'a> MarkMentions<'a> {
    fn of(inventory: &'a Inventory) -> Self {
        Self {
            inventory,
            domain: memmem::Finder::new("argocd.argoproj.io/"),
            last: None,
            found: false,
        }
    }

    fn has(&mut self, member: &Member) -> bool {
        let place = Some((member.file, member.document));
        if self.last != place {
            self.last = place;
            self.found = self.are_in(member.file, member.document);
        }
        self.found
    }

    fn are_in(&self, file: FileId, document: u32) -> bool {
        let Some(document) = self.inventory.document(file, document) else {
            return false;
        };
        let text = self.inventory.sources.file(file).slice(document.span);
        self.domain.find(text.as_bytes()).is_some()
            && (text.contains(marks::ARGOCD_INSTANCE) || text.contains(marks::ARGOCD_TRACKING_ID))
    }
}

fn leak<'a>(template: Template<'a>, tracking: &TrackingLabels<'_>) -> Option<Leak<'a>> {
    let metadata = template.metadata;
    let flux = [
        marks::FLUX_KUSTOMIZATION_NAME,
        marks::FLUX_HELM_RELEASE_NAME,
    ];
    // Generic labels such as `app.kubernetes.io/instance` are common: they count only where they do harm.
    let labelled = metadata.labels().iter().find(|(key, _)| {
        (*key == marks::ARGOCD_INSTANCE || template.kind == TemplateKind::Claim)
            && tracking.contains(key)
    });
    let tracked = metadata
        .annotations()
        .iter()
        .find(|(key, _)| *key == marks::ARGOCD_TRACKING_ID);
    let applied = metadata.labels().iter().find(|(key, _)| flux.contains(key));
    let ((key, value), where_written) = match (labelled, tracked) {
        (Some(labelled), _) => (labelled, "labels"),
        (None, Some(tracked)) => (tracked, "annotations"),
        (None, None) => (applied?, "labels"),
    };
    Some(Leak {
        key,
        value,
        field: format!("{}.metadata.{where_written}.{key}", template.field),
        made: template.kind,
    })
}

fn leaked(member: &Member, leak: Leak<'_>) -> Draft {
    let key = leak.key;
    let made = match leak.made {
        TemplateKind::Claim | TemplateKind::Restricted => "claims",
        TemplateKind::Pod => "Pods",
        TemplateKind::Job => "Jobs",
    };
    let (severity, effect) = match key {
        marks::ARGOCD_TRACKING_ID => (
            Severity::Info,
            format!(
                "Argo CD writes this annotation onto the objects that it applies, and it names exactly one object. Argo CD \
                 ignores it on the {made}, where it names another object; older releases took them for its own."
            ),
        ),
        marks::FLUX_KUSTOMIZATION_NAME | marks::FLUX_HELM_RELEASE_NAME => (
            Severity::Info,
            format!(
                "Flux writes this label onto the objects that it applies. It prunes from its own inventory and not by \
                 label, but selectors on the label also match the {made}, which then look like a part of the delivery. The template \
                 looks like a copy of a live object."
            ),
        ),
        _ if leak.made == TemplateKind::Claim => (
            Severity::Warning,
            "The StatefulSet controller copies the label onto every claim, and Argo CD recognises its objects by this \
             label. The claims are not in Git and usually have no owner: the application is out of sync forever, and \
             a sync that prunes deletes the claims with their data."
                .to_owned(),
        ),
        _ => (
            Severity::Info,
            format!(
                "Argo CD recognises its objects by this label and takes the {made} for its own, \
                 although they are not in Git. It prunes nothing that has an owner, so this hurts \
                 only when the {made} lose theirs."
            ),
        ),
    };
    let message = format!("{} passes `{key}` on to its {made}", named(member));
    Draft::on(member, leak.value.key_span, message)
        .severity(severity)
        .label("copied onto every object from the template")
        .reason(effect)
        .help(format!(
            "remove `{key}` from the template; the tool writes it onto the objects that it applies"
        ))
        .field(leak.field)
        .target(key)
}

/// Groups whose templates describe objects that the tool itself creates, or are patterns to match.
const NOT_COPIED: [&str; 3] = ["argoproj.io", "kyverno.io", "toolkit.fluxcd.io"];

/// Whether `member` is a custom resource whose operator may copy its marks onto the objects that it creates.
fn is_copied(member: &Member) -> bool {
    let group = member.object.group();
    !table().is_builtin_group(group)
        && !NOT_COPIED.into_iter().any(|domain| {
            group
                .strip_suffix(domain)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
}

/// Returns Argo CD's marks in each `metadata` below the `spec` of a custom resource, with places.
fn leaks_of_custom_resource(member: &Member) -> Vec<(&'static str, Span)> {
    let Some(spec) = member.object.at(&["spec"]) else {
        return Vec::new();
    };
    let entries = spec.entries_below().into_iter();
    let mut found = Vec::new();
    for metadata in entries.filter(|entry| entry.key == "metadata") {
        for (field, key) in [
            ("labels", marks::ARGOCD_INSTANCE),
            ("annotations", marks::ARGOCD_TRACKING_ID),
        ] {
            let written = metadata.value.get(field).and_then(|marks| marks.entry(key));
            found.extend(written.map(|written| (key, written.key_span)));
        }
    }
    found
}

fn leaked_by_custom_resource(member: &Member, key: &'static str, place: Span) -> Draft {
    Draft::on(
        member,
        place,
        format!(
            "{} contains Argo CD's mark `{key}`, which its operator may copy onto other objects",
            named(member)
        ),
    )
    .severity(Severity::Info)
    .label("may be copied")
    .reason(
        "If the operator copies it onto the objects that it creates, Argo CD takes these for its \
         own, although they are not in Git. Without an owner, a sync that prunes deletes them. \
         ownerlint does not know whether this operator copies it.",
    )
    .help(format!(
        "remove `{key}` from the spec; the tool writes it onto the objects that it applies"
    ))
    .target(key)
}

/// How a tool deletes an object in order to change it.
#[derive(Clone, Copy)]
enum Force {
    /// Argo CD with `Replace=true`: `kubectl replace --force`, at every sync.
    ArgoCdReplace,
    /// Argo CD with `Force=true`: `kubectl apply --force`, which recreates after a failed patch.
    ArgoCdApply,
    /// Flux: recreates the object when an immutable field changes.
    Flux,
}

/// Kinds whose objects lose state when they are deleted and created again.
const STATEFUL: [GroupKind<&str>; 5] = [
    kinds::NAMESPACE,
    kinds::PERSISTENT_VOLUME_CLAIM,
    kinds::PERSISTENT_VOLUME,
    kinds::CUSTOM_RESOURCE_DEFINITION,
    kinds::STATEFUL_SET,
];

fn force_replace_on_stateful(context: &Context<'_>, sink: &mut Sink) {
    for member in context.inventory.of_kinds(&STATEFUL) {
        if let Some((force, place, field)) = force(member.object.metadata()) {
            sink.push(forced(context, member, force, place).field(field));
        }
    }
    for (place, object) in context.analysis.delivery_objects().iter().enumerate() {
        if object.kind == DeliveryKind::Kustomization {
            let kustomization = context.inventory.member(object.id);
            sink.extend(forced_by_kustomization(context, place, kustomization));
        }
    }
}

/// Checks `spec.force` of a Flux Kustomization, which applies to everything that it delivers. Only objects in the input
/// are considered.
fn forced_by_kustomization(
    context: &Context<'_>,
    place: usize,
    kustomization: &Member,
) -> Option<Draft> {
    let inventory = context.inventory;
    let force = kustomization.object.at(&["spec"])?.entry("force")?;
    if force.value.as_bool() != Some(true) {
        return None;
    }
    let deliveries = context.analysis.reach().deliveries(place);
    let delivered = deliveries.flat_map(|one| one.objects(inventory));
    let delivered: BTreeSet<ObjectId> = delivered.filter_map(|end| end.id).collect();
    let delivered = delivered.into_iter().map(|id| inventory.member(id));
    let stateful: Vec<&Member> = delivered
        .filter(|member| STATEFUL.contains(&member.object.group_kind()))
        .collect();
    // Name the object that is most likely to be lost.
    let mut lost = stateful.iter().filter(|member| !is_lasting(&member.object));
    let worst = lost.next().or(stateful.first())?;
    let (more, them) = match stateful.len() {
        1 => (String::new(), "it"),
        2 => (" and 1 more object with state".to_owned(), "them"),
        n => (format!(" and {} more objects with state", n - 1), "them"),
    };
    let message = format!(
        "{}{more} may be deleted and created again: `force: true` does that to change {them}",
        named(worst)
    );
    let draft = Draft::on(kustomization, force.key_span, message)
        .label("applies to everything that it delivers")
        .reason(format!(
            "If a field cannot be changed, Flux deletes the object and creates it again. {} \
             `prune: disabled` does not prevent this.",
            lost_with(context, worst)
        ))
        .help(format!(
            "remove it here, and annotate objects that can be recreated, such as Jobs, with `{}: enabled`",
            marks::FLUX_FORCE
        ))
        .field("spec.force")
        .info_if(is_lasting(&worst.object))
        .related_objects(stateful.iter().copied(), "is deleted if a field cannot be changed");
    Some(draft)
}

/// Returns how a tool may force a change, with the place of the option and its field.
fn force(metadata: Metadata<'_>) -> Option<(Force, Span, String)> {
    if let Some(options) = metadata.annotation(marks::ARGOCD_SYNC_OPTIONS) {
        let written: Vec<&str> = marks::sync_options(options.value).collect();
        let has = |option| written.contains(&option);
        let field = format!("metadata.annotations.{}", marks::ARGOCD_SYNC_OPTIONS);
        if has("Force=true") && has("Replace=true") {
            return Some((Force::ArgoCdReplace, options.key_span, field));
        }
        // A forced server-side apply takes over fields and deletes nothing.
        if has("Force=true") && !has("ServerSideApply=true") {
            return Some((Force::ArgoCdApply, options.key_span, field));
        }
    }
    let annotated = metadata.annotation(marks::FLUX_FORCE);
    let labelled = metadata.label(marks::FLUX_FORCE);
    let mut places = [(annotated, "annotations"), (labelled, "labels")].into_iter();
    places.find_map(|(value, place)| {
        let value = value.filter(|value| value.value.eq_ignore_ascii_case("enabled"))?;
        let field = format!("metadata.{place}.{}", marks::FLUX_FORCE);
        Some((Force::Flux, value.key_span, field))
    })
}

/// Describes, in a sentence, the loss when an object is recreated.
fn lost_with(context: &Context<'_>, member: &Member) -> &'static str {
    let object = &member.object;
    if object.is(kinds::NAMESPACE) {
        "Everything in the namespace is deleted with it, even objects that are not in Git."
    } else if object.is(kinds::CUSTOM_RESOURCE_DEFINITION) {
        "Every instance is deleted with it, and every object that the instances own."
    } else if object.is(kinds::STATEFUL_SET) && claims::are_deleted(object, "whenDeleted") {
        let (inventory, tables) = (context.inventory, context.analysis.tables());
        let fate = data_loss(inventory, tables, member).map(|loss| loss.fate);
        match fate {
            Some(DataFate::Kept) => {
                "All of its Pods stop at once, and `whenDeleted: Delete` deletes their claims. The volumes are retained, but the \
                 new Pods get new, empty ones."
            }
            Some(DataFate::Unknown) => {
                "All of its Pods stop at once, and `whenDeleted: Delete` deletes their claims, and the data unless the volumes are \
                 retained."
            }
            Some(DataFate::Lost) | None => {
                "All of its Pods stop at once, and `whenDeleted: Delete` deletes their claims, and the data."
            }
        }
    } else if object.is(kinds::STATEFUL_SET) {
        "All of its Pods stop at once. Their claims stay, and the new StatefulSet takes them over if their names are the same."
    } else {
        "The claim stays Terminating until no Pod mounts it, and its data is deleted with it \
         unless the volume is retained."
    }
}

/// Whether an object is hardly ever recreated, or everything that is lost with it comes back.
fn is_lasting(object: &Object) -> bool {
    contains_others(object) || is_mild(object)
}

/// Whether everything that is lost with an object comes back.
fn is_mild(object: &Object) -> bool {
    object.is(kinds::STATEFUL_SET) && !claims::are_deleted(object, "whenDeleted")
}

/// Whether other objects are deleted with an object: a Namespace or a CRD. Recent releases of Argo CD update these
/// instead of replacing them (gitops-engine sync_context.go, applyObject), and hardly any of their fields is immutable.
fn contains_others(object: &Object) -> bool {
    object.is(kinds::NAMESPACE) || object.is(kinds::CUSTOM_RESOURCE_DEFINITION)
}

impl Force {
    /// Returns the option as it is written, and the protections that do not help against it as the start of a sentence.
    fn named(self) -> (&'static str, &'static str) {
        match self {
            Self::ArgoCdReplace => (
                "`Force=true` with `Replace=true`",
                "`Prune=false` and `Delete=false` do",
            ),
            Self::ArgoCdApply => ("`Force=true`", "`Prune=false` and `Delete=false` do"),
            Self::Flux => ("`force: enabled`", "`prune: disabled` does"),
        }
    }

    /// Returns a sentence on when the tool deletes the object.
    fn when(self, object: &Object) -> &'static str {
        match self {
            Self::ArgoCdReplace if contains_others(object) => {
                "Older releases of Argo CD delete the object and create it again at every sync; newer ones \
                 update a Namespace or a CRD instead (argo-cd#12810)."
            }
            Self::ArgoCdReplace => {
                "Argo CD runs `kubectl replace --force` at every sync: it deletes the object and creates it again."
            }
            Self::ArgoCdApply => {
                "Argo CD runs `kubectl apply --force`: if a field cannot be changed, it deletes the object and creates it \
                 again."
            }
            Self::Flux => {
                "If a field cannot be changed, Flux deletes the object and creates it again."
            }
        }
    }
}

/// Describes how to recreate `object` by hand, as the end of a sentence; empty for most kinds.
fn by_hand(object: &Object) -> &'static str {
    if object.is(kinds::STATEFUL_SET) {
        ": `kubectl delete --cascade=orphan` keeps its Pods and claims"
    } else if object.is(kinds::PERSISTENT_VOLUME_CLAIM) {
        ", with a new claim and a copy of the data"
    } else {
        ""
    }
}

fn forced(context: &Context<'_>, member: &Member, force: Force, place: Span) -> Draft {
    let object = &member.object;
    let (option, protections) = force.named();
    let mild = match force {
        Force::ArgoCdReplace => contains_others(object),
        Force::ArgoCdApply | Force::Flux => is_mild(object),
    };
    Draft::on(
        member,
        place,
        format!(
            "{} may be deleted and created again, because of {option}",
            named(member)
        ),
    )
    .label("deletes in order to change")
    .reason(format!(
        "{} {} {protections} not prevent this.",
        force.when(object),
        lost_with(context, member)
    ))
    .help(format!(
        "remove the option here, and make such a change by hand when it is needed{}",
        by_hand(object)
    ))
    .info_if(mild)
}
