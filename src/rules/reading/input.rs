//! Rules on reading: input that cannot be read, and content that Kubernetes silently drops or overrides.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{Consequence, Severity};
use crate::inventory::{InDocument, Inventory, Member};
use crate::manifest::{DecodeError, ListReading};
use crate::rules::draft::Draft;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::{a_json_type, help_for_type, named};
use crate::text::{FileId, Span};
use crate::yaml::{Dropped, ProblemKind, Quirk, Value};

pub(in crate::rules) static UNREADABLE_FILE: Rule = rule!(
    Reading,
    "unreadable-file",
    Error,
    Lost,
    "An input file cannot be read",
    unreadable_file
)
.of_unread_input();

pub(in crate::rules) static UNREADABLE_DOCUMENT: Rule = rule!(
    Reading,
    "unreadable-document",
    Error,
    Rejected,
    "Kubernetes cannot read a document",
    unreadable_document
)
.of_unread_input()
.of_applied();

pub(in crate::rules) static DUPLICATE_KEY: Rule = rule!(
    Reading,
    "duplicate-key",
    Warning,
    Lost,
    "A mapping contains the same key twice",
    duplicate_key
)
.of_one_object();

pub(in crate::rules) static DROPPED_CONTENT: Rule = rule!(
    Reading,
    "dropped-content",
    Warning,
    Lost,
    "The input contains text that Kubernetes never reads",
    dropped_content
)
.of_one_object();

pub(in crate::rules) static NONSTANDARD_YAML: Rule = rule!(
    Reading,
    "nonstandard-yaml",
    Info,
    Style,
    "Kubernetes accepts this YAML, other parsers may not",
    nonstandard_yaml
)
.once_per_files();

fn unreadable_file(context: &Context<'_>, sink: &mut Sink) {
    for (file, reason) in context.inventory.unreadable_files() {
        let path = context.inventory.sources.file(file).path();
        sink.push(
            Draft::in_file(file, Span::empty(0), format!("`{path}` {reason}"))
                .reason("Nothing in this file was checked, and references to its objects cannot be resolved.")
                .help("make the file readable, or leave it out of the input"),
        );
    }
}

fn unreadable_document(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    for InDocument {
        file,
        what: problem,
        ..
    } in inventory.unreadable_documents()
    {
        sink.push(
            Draft::in_file(file, problem.span, problem.message.clone())
                .reason(problem.reason())
                .help(problem.help()),
        );
    }
    for (file, parsed) in inventory.files() {
        let Some((span, count)) = parsed.more_unreadable() else {
            continue;
        };
        let documents = if count == 1 {
            "One more document".to_owned()
        } else {
            format!("{count} more documents")
        };
        sink.push(
            Draft::in_file(file, span, format!("{documents} of this file cannot be read"))
                .reason(
                    "Kubernetes rejects each of them, and kubectl stops reading a file at the first that it rejects.",
                )
                .help("correct the documents above, and check again"),
        );
    }
    for member in inventory.members.iter().filter(|member| !member.decodes()) {
        sink.extend(undecodable(inventory, member));
    }
}

/// Reports an object whose metadata does not decode, except for fields with a rule of their own.
fn undecodable(inventory: &Inventory, member: &Member) -> Option<Draft> {
    let all = member.object.decode_errors();
    let errors = all.iter().filter(|error| !has_its_own_rule(error));
    let errors: Vec<&DecodeError> = errors.collect();
    let error = errors.first()?;
    let more = match errors.len() {
        1 => String::new(),
        n => format!(" ({n} fields in total)"),
    };
    let message = format!(
        "`{}` of {} is {}, not {}{more}",
        error.field,
        named(member),
        a_json_type(error.found),
        error.expected.as_str()
    );
    let mut draft = Draft::on(member, error.span, message)
        .label(format!("expects {}", error.expected.as_str()))
        .reason("Every client rejects the object before it reaches the API server.")
        .help(help_for_type(error.expected.as_str()))
        .field(error.field.clone());
    if is_kustomized(inventory, member) && all.iter().all(is_unquoted_annotation) {
        draft = draft.severity(Severity::Warning).reason(
            "kustomize quotes annotations, so its output is accepted. Any other client rejects this object as it is \
             written here.",
        );
    }
    for other in errors.iter().filter(|other| other.span != error.span) {
        let words = format!("expects {}", other.expected.as_str());
        draft = draft.related(member.file, other.span, words);
    }
    Some(draft)
}

fn is_kustomized(inventory: &Inventory, member: &Member) -> bool {
    let path = inventory.sources.file(member.file).path();
    inventory.neighbourhood().is_kustomized(path)
}

/// Whether the error is a number or boolean as the value of an annotation.
fn is_unquoted_annotation(error: &DecodeError) -> bool {
    error.field.starts_with("metadata.annotations.") && ["number", "bool"].contains(&error.found)
}

/// Whether `owner-wrong-type` or `finalizer-wrong-type` reports the error.
fn has_its_own_rule(error: &DecodeError) -> bool {
    error.field.starts_with("metadata.ownerReferences")
        || error.field.starts_with("metadata.finalizers")
}

/// The keys that begin an object: if both are repeated, a second object follows.
const OF_EVERY_OBJECT: [&str; 2] = ["apiVersion", "kind"];

fn duplicate_key(context: &Context<'_>, sink: &mut Sink) {
    let mut objects = DocumentObjects::of(context.inventory);
    let mut beginnings: BTreeMap<(FileId, u32), BTreeSet<&str>> = BTreeMap::new();
    for problem in context.inventory.problems() {
        let path = &*problem.what.path;
        if OF_EVERY_OBJECT.contains(&path) {
            let document = (problem.file, problem.document);
            beginnings.entry(document).or_default().insert(path);
        }
    }
    for InDocument {
        file,
        document,
        what: problem,
    } in context.inventory.problems()
    {
        let (key, merged) = match &problem.kind {
            ProblemKind::DuplicateKey { key } => (key, false),
            ProblemKind::MergeOverride { key } => (key, true),
            ProblemKind::DroppedContent { .. } | ProblemKind::NotUtf8 { .. } => continue,
        };
        let begun = beginnings.get(&(file, document)).map_or(0, BTreeSet::len);
        let is_unseparated = !merged && begun == OF_EVERY_OBJECT.len() && *problem.path == **key;
        if is_unseparated && key != OF_EVERY_OBJECT[0] {
            continue;
        }
        let mut draft = if is_unseparated {
            Draft::in_file(
                file,
                problem.span,
                "a line `---` is missing before this object",
            )
            .label("begins another object")
            .reason(
                "Kubernetes reads one object per document. Here, two share one document: the keys \
                 of the second replace those of the first, so the first object is silently never \
                 applied. kustomize, and so Flux and `kubectl apply -k`, rejects the file.",
            )
            .help("write a line `---` between the objects")
        } else if merged {
            Draft::in_file(
                file,
                problem.span,
                format!("key `{key}` is overridden by a merge below it"),
            )
            .label("this value is lost")
            .reason(
                "Kubernetes' YAML parser applies `<<` where it appears, so a merge below a key \
                 replaces the key's value. By the rules of YAML, the key itself would win.",
            )
            .help("move the `<<` to the top of the mapping")
        } else {
            Draft::in_file(file, problem.span, format!("key `{key}` appears twice"))
                .label("this one wins")
                .reason(
                    "kubectl, Helm and the API server keep the second one and silently drop the \
                     first and everything below it. `--validate` does not help: kubectl sends \
                     JSON, in which the repetition is gone. kustomize, and so Flux and `kubectl \
                     apply -k`, rejects the file.",
                )
                .help("remove one of the two, or merge them")
        };
        if let Some(other) = problem.related {
            let words = if merged {
                "this merge wins"
            } else {
                "this one is dropped"
            };
            draft = draft.related(file, other, words);
        }
        let draft = draft.field(problem.path.clone());
        sink.push(match objects.around(file, document, problem.span.start) {
            Some(member) => draft.about(member),
            None => draft,
        });
    }
}

fn dropped_content(context: &Context<'_>, sink: &mut Sink) {
    for InDocument {
        file,
        what: problem,
        ..
    } in context.inventory.problems()
    {
        let ProblemKind::DroppedContent { after } = &problem.kind else {
            continue;
        };
        let (end, help) = match after {
            Dropped::DocumentEnd => ("`...` ends the document", "write `---` instead of `...`"),
            Dropped::Root => (
                "the document's value is complete",
                "start a new document with a line `---`",
            ),
        };
        let span = context
            .inventory
            .sources
            .file(file)
            .first_line(problem.span);
        let mut draft = Draft::in_file(file, span, "text that never reaches the cluster")
            .label("dropped from here on")
            .reason(format!(
                "Kubernetes reads one value per document and silently drops what follows it. Here {end}: {} lost.",
                bytes(problem.span.len())
            ))
            .help(help);
        if let Some(end) = problem.related {
            draft = draft.related(file, end, "the document ends here");
        }
        sink.push(draft);
    }
    for member in &context.inventory.members {
        if let Some(reading) = member.object.list_reading()
            && let Some(items) = member.object.value().entry("items")
        {
            sink.push(as_list(member, reading, items.key_span));
        }
    }
}

/// Reports an object with `items`, which clients take for a list.
fn as_list(member: &Member, reading: ListReading, items: Span) -> Draft {
    let name = named(member);
    let (message, reason) = match reading {
        ListReading::List => (
            format!("{name} is never applied: because of `items`, its document is read as a list"),
            "kubectl, Helm, Flux and Argo CD treat a document with a list under `items` as a list, \
             whatever its kind. They apply the items and drop everything else. A tool that prunes \
             deletes the object from the cluster.",
        ),
        ListReading::ListInList => (
            format!("{name} is an object for some tools and a list for others"),
            "kubectl and Helm also treat an item with `items` as a list: they apply its items and \
             drop everything else. Flux and Argo CD apply the object itself.",
        ),
        ListReading::Null => (
            format!("{name} is an object for some tools and an empty list for others"),
            "kubectl and Helm treat a document with `items` as a list, whatever its kind: this one \
             is empty, and they apply nothing. Flux applies the object, and Argo CD does if it has \
             a `spec` or a `status`.",
        ),
        ListReading::Rejected => (
            format!("kubectl and Helm reject {name}: `items` is not a list"),
            "They treat a document with `items` as a list, whatever its kind, and stop reading the \
             file at one that is not a list. Flux and Argo CD apply the object.",
        ),
    };
    Draft::on(member, items, message)
        .label("because of this key, the object is read as a list")
        .reason(reason)
        .help("remove `items`, or write the list as a document of its own with `kind: List`")
        .field("items")
}

fn bytes(count: u32) -> String {
    match count {
        1 => "1 byte of text is".to_owned(),
        n => format!("{n} bytes of text are"),
    }
}

/// Looks like a space but is an ordinary character to YAML. It comes from copied web pages.
const NO_BREAK_SPACE: char = '\u{a0}';

/// Reports keys that begin with a no-break space: the line looks indented but is not.
fn not_indented(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    let files = inventory.files();
    let with_one = files.filter(|(_, file)| file.source().text().contains(NO_BREAK_SPACE));
    for member in with_one.flat_map(|(id, _)| inventory.members_of(id)) {
        let object = member.object.value();
        let metadata = object.get("metadata").into_iter();
        let mut keys = object.entries().chain(metadata.flat_map(Value::entries));
        let Some(entry) = keys.find(|entry| entry.key.starts_with(NO_BREAK_SPACE)) else {
            continue;
        };
        let message = "a line begins with a no-break space (U+00A0)";
        sink.push(
            Draft::on(member, entry.key_span, message)
                .severity(Severity::Warning)
                .consequence(Consequence::Lost)
                .label("the space is part of this key")
                .reason(
                    "YAML indents with ordinary spaces only. The key is at the start of the line, with the no-break space as part of its \
                     name, and Kubernetes does not know such a key.",
                )
                .help("replace U+00A0 with ordinary spaces"),
        );
    }
}

fn nonstandard_yaml(context: &Context<'_>, sink: &mut Sink) {
    not_indented(context, sink);
    for InDocument {
        file,
        what: problem,
        ..
    } in context.inventory.problems()
    {
        if let ProblemKind::NotUtf8 { count } = &problem.kind {
            sink.push(not_utf8(file, problem.span, *count));
        }
    }
    for InDocument {
        file,
        what: (quirk, span),
        ..
    } in context.inventory.quirks()
    {
        let help = match quirk {
            Quirk::LowContinuation => "indent the continued lines, or use a `|` block",
            Quirk::CommentWithoutBlank => "put a space before the `#`",
            Quirk::UnicodeLineBreakInQuotes | Quirk::UnicodeLineBreak => {
                "replace the character with an ordinary line break"
            }
        };
        sink.push_with(|| {
            Draft::in_file(file, *span, quirk.describe())
                .reason(
                    "Kubernetes' YAML parser accepts this, but YAML 1.2 does not allow it: other \
                     tools may reject the file or read it differently.",
                )
                .help(help)
        });
    }
}

/// Reports invalid UTF-8 once per document: a file in another encoding has many such bytes.
fn not_utf8(file: FileId, first: Span, count: usize) -> Draft {
    let message = match count {
        1 => "a byte that is not UTF-8".to_owned(),
        n => format!("bytes that are not UTF-8, in {n} places of this document"),
    };
    Draft::in_file(file, first, message)
        .severity(Severity::Warning)
        .consequence(Consequence::Lost)
        .label(if count == 1 { "read as U+FFFD" } else { "the first one, read as U+FFFD" })
        .reason(
            "kubectl replaces each of them with U+FFFD and continues, so the cluster gets a different text. Other \
             tools may reject the file.",
        )
        .help("save the file as UTF-8")
}

/// Finds the object that contains a place. The objects of a document are sorted once, because a document may have many,
/// and lookups come one document after the other.
struct DocumentObjects<'a> {
    inventory: &'a Inventory,
    document: Option<(FileId, u32)>,
    /// Sorted by the start of each object. An object that is an alias has the start of its anchor.
    starts: Vec<(u32, &'a Member)>,
}

impl<'a> DocumentObjects<'a> {
    fn of(inventory: &'a Inventory) -> Self {
        Self {
            inventory,
            document: None,
            starts: Vec::new(),
        }
    }

    /// Returns the last object of a document that begins at or before a place.
    fn around(&mut self, file: FileId, document: u32, place: u32) -> Option<&'a Member> {
        if self.document.replace((file, document)) != Some((file, document)) {
            let members = &self.inventory.members;
            let from =
                members.partition_point(|member| (member.file, member.document) < (file, document));
            let here = members[from..]
                .iter()
                .take_while(|member| (member.file, member.document) == (file, document));
            self.starts = here
                .map(|member| (member.object.start().start, member))
                .collect();
            self.starts.sort_by_key(|(start, _)| *start);
        }
        let after = self.starts.partition_point(|(start, _)| *start <= place);
        Some(self.starts[after.checked_sub(1)?].1)
    }
}
