//! Rules on finalizers that the API server rejects or warns about, with the server's own messages.

use crate::finding::Severity;
use crate::inventory::{FinalizerNameCheck, Member, ScopeSource, table};
use crate::kube::{finalizers, kinds};
use crate::manifest::{DecodeError, Expected, Spanned, label_key_errors};
use crate::rules::draft::Draft;
use crate::rules::finalizers::words::{FinalizerEntry, entries, namespace_finalizers};
use crate::rules::holder::each_decoded;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::{a_json_type, named};
use crate::yaml::{Kind, Value};

pub(in crate::rules) static FINALIZER_INVALID_NAME: Rule = rule!(
    Finalizers,
    "finalizer-invalid-name",
    Error,
    Rejected,
    "The API server rejects the name of a finalizer",
    finalizer_invalid_name
)
.of_one_object();

pub(in crate::rules) static FINALIZER_WRONG_TYPE: Rule = rule!(
    Finalizers,
    "finalizer-wrong-type",
    Error,
    Rejected,
    "The list of finalizers, or one of its entries, has the wrong type",
    finalizer_wrong_type
)
.of_one_object();

pub(in crate::rules) static FINALIZER_CONFLICT: Rule = rule!(
    Finalizers,
    "finalizer-conflict",
    Error,
    Rejected,
    "An object has both `orphan` and `foregroundDeletion`",
    finalizer_conflict
)
.of_one_object();

pub(in crate::rules) static FINALIZER_UNQUALIFIED: Rule = rule!(
    Finalizers,
    "finalizer-unqualified",
    Warning,
    Warned,
    "A custom resource has a finalizer without a domain",
    finalizer_unqualified
)
.of_one_object();

/// The server's message about a name without a domain on a built-in kind ([VAL-20]).
const NOT_STANDARD: &str = "name is neither a standard finalizer name nor is it fully qualified";

/// The API server's requirements for the finalizers of an object ([VAL-20], [VAL-21]).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Demands {
    /// A label key.
    LabelKey,
    /// A label key; a name without a domain must be a standard name.
    Standard,
    /// A label key; the server warns about names without a domain ([VAL-22]).
    Custom,
    /// Nothing: such objects are never stored, or the table does not know the check.
    Nothing,
}

fn demands(member: &Member) -> Demands {
    let kind = member.object.group_kind();
    let by_crd = matches!(
        member.resolution.source,
        ScopeSource::Crd(_) | ScopeSource::Config
    );
    if by_crd || !table().is_builtin_group(kind.group) {
        return Demands::Custom;
    }
    // All versions of a kind have the same check.
    let row = table().versions_of(kind).next();
    match row.map(|row| row.finalizer_name_check) {
        Some(FinalizerNameCheck::QualifiedAndStandard) => Demands::Standard,
        Some(FinalizerNameCheck::Qualified) => Demands::LabelKey,
        Some(FinalizerNameCheck::None) | None => Demands::Nothing,
    }
}

/// Returns the server's error messages about a name.
fn name_errors(finalizer: &str, demands: Demands) -> Vec<String> {
    if demands == Demands::Nothing {
        return Vec::new();
    }
    let mut errors = label_key_errors(finalizer);
    if demands == Demands::Standard
        && !finalizer.contains('/')
        && !finalizers::is_standard(finalizer)
    {
        errors.push(NOT_STANDARD.to_owned());
    }
    errors
}

/// Whether the API server rejects an object because of the name of a finalizer.
pub(in crate::rules) fn is_rejected(member: &Member, finalizer: &str) -> bool {
    !name_errors(finalizer, demands(member)).is_empty()
}

/// [VAL-18], [VAL-20], [VAL-26].
fn finalizer_invalid_name(context: &Context<'_>, sink: &mut Sink) {
    for entry in entries(context.inventory) {
        let FinalizerEntry {
            member,
            finalizer,
            index,
            ..
        } = entry;
        let errors = name_errors(entry.name(), demands(member));
        if !errors.is_empty() {
            sink.push_with(|| invalid(member, finalizer, "metadata.finalizers", index, &errors));
        }
    }
    for member in context.inventory.of_kind(kinds::NAMESPACE) {
        for (index, finalizer) in namespace_finalizers(member) {
            let errors = name_errors(&finalizer.value, Demands::Standard);
            if !errors.is_empty() {
                sink.push_with(|| invalid(member, &finalizer, "spec.finalizers", index, &errors));
            }
        }
    }
}

fn invalid(
    member: &Member,
    finalizer: &Spanned<String>,
    field: &str,
    index: usize,
    errors: &[String],
) -> Draft {
    let name = finalizer.as_str();
    let unqualified = errors == [NOT_STANDARD];
    let who = named(member);
    let (message, label) = if name.is_empty() {
        (format!("{who} has an empty finalizer"), "empty")
    } else if unqualified {
        let message = format!("finalizer `{name}` of {who} has no domain");
        (message, "no domain, and not a standard name")
    } else {
        let message = format!("finalizer `{name}` of {who} is not a valid name");
        (message, "not a label key")
    };
    // The server's message has an index only where it checks for standard names ([VAL-18], [VAL-20]).
    let path = if unqualified && field == "metadata.finalizers" {
        format!("{field}[{index}]")
    } else {
        field.to_owned()
    };
    let errors = errors.iter();
    let server = errors.map(|error| format!("`{path}: Invalid value: {name:?}: {error}`"));
    let server = server.collect::<Vec<_>>().join(", ");
    Draft::on(member, finalizer.span, message)
        .label(label)
        .reason(format!("The API server rejects the object: {server}."))
        .help(help_on_name(name, unqualified))
        .field(format!("{field}[{index}]"))
        .target(name)
}

fn help_on_name(name: &str, unqualified: bool) -> String {
    let lower = name.to_lowercase();
    match lower.as_str() {
        "" => "remove the entry".to_owned(),
        "orphan" | "foregrounddeletion" | "kubernetes" => {
            "names are case-sensitive: only `kubernetes`, `orphan` and `foregroundDeletion` are standard, and none of \
             them belongs in a manifest, so remove the entry"
                .to_owned()
        }
        _ if unqualified => format!(
            "write it as its controller does, `<domain>/{name}`, or remove the entry if no controller handles it: \
             only `kubernetes`, `orphan` and `foregroundDeletion` need no domain"
        ),
        _ => "write `<domain>/<name>`: a lower-case DNS name, one slash, and up to 63 letters, digits, `-`, `_` or `.`"
            .to_owned(),
    }
}

/// Reports values that Go's decoder rejects before anything else is checked.
fn finalizer_wrong_type(context: &Context<'_>, sink: &mut Sink) {
    each_decoded(context.inventory, |holder| {
        for error in holder.decode_errors {
            if is_of_finalizers(&error.field) {
                sink.push_with(|| wrong_type(holder.member, error));
            }
        }
    });
    for member in context.inventory.of_kind(kinds::NAMESPACE) {
        for error in namespace_type_errors(member) {
            sink.push_with(|| wrong_type(member, &error));
        }
    }
}

/// Whether the field is `….metadata.finalizers`, or an entry of it.
fn is_of_finalizers(field: &str) -> bool {
    let list = field.rsplit_once('[').map_or(field, |(list, _)| list);
    list == "metadata.finalizers" || list.ends_with(".metadata.finalizers")
}

fn wrong_type(member: &Member, error: &DecodeError) -> Draft {
    let expected = error.expected.as_str();
    let whole = error.expected == Expected::Array;
    let help = if whole {
        "write a list: `finalizers: [example.com/cleanup]`"
    } else {
        "write each finalizer as text; quote what YAML reads as a number or a boolean"
    };
    // Clients decode an object's own metadata; only the API server decodes what is below `spec`.
    let who = if error.field.starts_with("metadata.") {
        "Every client and the API server reject it."
    } else {
        "The API server rejects it."
    };
    let (holder, element) = if error.field.starts_with("spec.finalizers") {
        ("NamespaceSpec", "v1.FinalizerName")
    } else {
        ("ObjectMeta", "string")
    };
    let parts = error.field.split(']');
    let list: String = parts.filter_map(|part| part.split('[').next()).collect();
    Draft::on(member, error.span, format!("`{}` of {} is {}, not {expected}", error.field, named(member), a_json_type(error.found)))
        .label(format!("expects {expected}"))
        .reason(format!(
            "The object does not decode: `json: cannot unmarshal {} into Go struct field {holder}.{list} of type {}{element}`. {who}",
            error.found,
            if whole { "[]" } else { "" }
        ))
        .help(help)
        .field(error.field.clone())
}

/// Returns the decoding errors of a Namespace's `spec.finalizers`, which decodes like the list in metadata.
fn namespace_type_errors(member: &Member) -> Vec<DecodeError> {
    let spec = member.object.at(&["spec", "finalizers"]);
    let Some(list) = spec.filter(|list| !list.is_null()) else {
        return Vec::new();
    };
    if !list.is_seq() {
        return vec![type_error("spec.finalizers", Expected::Array, list)];
    }
    let items = list.items().enumerate();
    let wrong = items.filter(|(_, item)| !matches!(item.kind(), Kind::String(_) | Kind::Null));
    let errors = wrong.map(|(index, item)| {
        type_error(&format!("spec.finalizers[{index}]"), Expected::String, item)
    });
    errors.collect()
}

fn type_error(field: &str, expected: Expected, value: Value<'_>) -> DecodeError {
    DecodeError {
        field: field.to_owned(),
        expected,
        found: value.type_name(),
        span: value.span(),
        node: value.id(),
    }
}

/// [VAL-19], [L-7].
fn finalizer_conflict(context: &Context<'_>, sink: &mut Sink) {
    for member in context.inventory.with_rare_fields() {
        let metadata = member.object.metadata();
        let both = [finalizers::ORPHAN, finalizers::FOREGROUND].map(|name| {
            let mut written = metadata.numbered_finalizers();
            written.find(|(_, finalizer)| finalizer.value == name)
        });
        let [Some(orphan), Some(foreground)] = both else {
            continue;
        };
        let ((_, first), (index, finalizer)) = if orphan.0 < foreground.0 {
            (orphan, foreground)
        } else {
            (foreground, orphan)
        };
        let entry = FinalizerEntry::new(member, index, finalizer);
        sink.push(
            entry
                .draft(format!("{} has both `{}` and `{}`", named(member), finalizers::ORPHAN, finalizers::FOREGROUND))
                .label(format!("conflicts with `{}`", first.value))
                .reason(
                    "The API server rejects the object, on creation and on every update: `metadata.finalizers: \
                     Invalid value: finalizer orphan and foregroundDeletion cannot be both set`. Dependents cannot be \
                     both kept and deleted.",
                )
                .help(
                    "remove both, and choose when you delete: `kubectl delete --cascade=orphan|foreground|background`",
                )
                .related(member.file, first.span, "the other one"),
        );
    }
}

/// [VAL-22].
fn finalizer_unqualified(context: &Context<'_>, sink: &mut Sink) {
    for entry in entries(context.inventory) {
        let (member, name) = (entry.member, entry.name());
        let qualified = name.contains('/') || finalizers::is_standard(name);
        if qualified || demands(member) != Demands::Custom || !label_key_errors(name).is_empty() {
            continue;
        }
        let known = context.ownership.removers.known().find(name);
        let owner =
            known.and_then(|known| known.controller_of(member.key.group(), member.key.kind()));
        // The author of a manifest cannot choose a name that the controller requires.
        if owner.is_some_and(|controller| !controller.added.is_at_run_time()) {
            continue;
        }
        sink.push_with(|| {
            // The server warns about a stored finalizer only when it is added again.
            let severity = if owner.is_some() || member.from_dump { Severity::Info } else { Severity::Warning };
            let path = if name.contains('.') { " including a path (/)" } else { "" };
            let help = match owner {
                Some(controller) => format!(
                    "nothing to do as long as {} uses this name; a newer release may use one with a domain",
                    controller.removed_by
                ),
                None => format!(
                    "let the controller use `<domain>/{}`, and write the same name here; an existing object keeps the old \
                     name until it is removed by hand",
                    name.split('.').next().unwrap_or(name)
                ),
            };
            let draft = entry
                .draft(format!("finalizer `{name}` of {} has no domain", named(member)))
                .severity(severity)
                .label("prefer `<domain>/<name>`")
                .reason(format!(
                    "The API server accepts it and warns: `metadata.finalizers: {name:?}: prefer a domain-qualified \
                     finalizer name{path} to avoid accidental conflicts with other finalizer writers`. On built-in kinds it \
                     rejects such names."
                ))
                .help(help);
            // With a row, the finding depends on it.
            let row = known.filter(|_| owner.is_some());
            row.into_iter().fold(draft, Draft::rests_on_finalizer)
        });
    }
}
