//! Recognises, by their own content, objects that are not to be applied.

use std::cell::{Cell, OnceCell};

use super::placeholder;
use super::reason::{ManifestTool, SkipReason, TemplateLanguage};
use crate::manifest::{Expected, Object};
use crate::yaml::{Tree, Value, Visited};

/// The maximum number of values that the search for foreign keys visits in one document. Aliases of a big mapping in
/// many items of a list would make it quadratic.
const MAX_VISITS: usize = 1_000_000;

/// Facts about a document as a whole, computed once for all items of a list.
#[derive(Debug)]
pub(in crate::manifest) struct DocumentTraits<'t> {
    text: &'t str,
    rendered: OnceCell<bool>,
    /// Whether some key, at any depth, belongs to chainsaw's assertion language.
    has_expressions: bool,
    /// Whether some key, at any depth, is a directive of a strategic merge patch.
    has_directives: bool,
    /// The first comment that is a statement of ytt.
    ytt: Option<&'t str>,
    visits_left: Cell<usize>,
}

impl<'t> DocumentTraits<'t> {
    /// Computes the traits of a document. Each comment comes with whether it has a line of its own.
    pub(in crate::manifest) fn new(
        text: &'t str,
        tree: &Tree,
        mut comments: impl Iterator<Item = (&'t str, bool)>,
    ) -> Self {
        let (mut has_expressions, mut has_directives) = (false, false);
        for key in tree.keys() {
            match key.as_bytes().first() {
                Some(b'(') => has_expressions = true,
                Some(b'$') => has_directives |= is_directive(key),
                _ => {}
            }
        }
        Self {
            text,
            ytt: comments
                .find(|(comment, own_line)| is_ytt(comment, *own_line))
                .map(|(comment, _)| comment),
            rendered: OnceCell::new(),
            has_expressions,
            has_directives,
            visits_left: Cell::new(MAX_VISITS),
        }
    }

    /// Whether an object of the document contains a directive of a strategic merge patch.
    pub(in crate::manifest) fn has_directive(&self, object: &Object) -> bool {
        self.has_directives && has_directive(object)
    }

    /// Whether the text was rendered from a template that it names: then, placeholders are applied.
    fn is_rendered(&self) -> bool {
        *self
            .rendered
            .get_or_init(|| self.text.lines().any(|line| line.starts_with("# Source: ")))
    }
}

/// Returns why an object is not a manifest to apply, judging by its own content.
pub(in crate::manifest) fn skip_reason(
    object: &Object,
    document: &DocumentTraits<'_>,
) -> Option<SkipReason> {
    if let Some(tool) = configured_tool(object) {
        return Some(SkipReason::Configuration(tool));
    }
    // No server returns a kind with a placeholder in it: a dump was turned into a template.
    if let Some(template) = in_type(object).filter(|_| !document.is_rendered()) {
        return Some(template);
    }
    if is_from_a_server(object) {
        return None;
    }
    if let Some(statement) = document.ytt {
        let evidence = format!("`{}` is a statement of ytt", statement.trim_end());
        return Some(SkipReason::template(TemplateLanguage::Ytt, evidence));
    }
    if document.has_expressions && has_key(object, &document.visits_left, is_expression) {
        return Some(SkipReason::Assertion(ManifestTool::Chainsaw));
    }
    in_name(object)
        .or_else(|| in_a_key(object))
        .or_else(|| in_place_of_a_value(object))
        .filter(|_| !document.is_rendered())
}

/// Whether a comment is ytt's: an annotation of one of its modules (`#@overlay/match …`), a statement in a line of its own
/// (`#@ if/end …`), or an expression in place of a value.
fn is_ytt(comment: &str, own_line: bool) -> bool {
    const STATEMENTS: [&str; 8] = [
        "load(", "if ", "if/end ", "elif ", "for ", "for/end ", "def ", "end",
    ];
    let Some(rest) = comment.strip_prefix("#@") else {
        return false;
    };
    let module = rest.split_once('/').map(|(module, _)| module);
    let annotates = module.is_some_and(|module| {
        !module.is_empty() && module.bytes().all(|byte| byte.is_ascii_lowercase())
    });
    let Some(code) = rest.strip_prefix(' ') else {
        return annotates;
    };
    !own_line
        || STATEMENTS
            .iter()
            .any(|statement| code.trim_start().starts_with(statement))
}

/// Returns the tool for which the object is a configuration, which is never sent to a cluster. The group decides, not
/// the file name: Flux's `Kustomization` is a manifest. Configurations of kustomize's own transformers have
/// `apiVersion: builtin`.
pub(super) fn configured_tool(object: &Object) -> Option<ManifestTool> {
    match object.group() {
        "kustomize.config.k8s.io" => Some(ManifestTool::Kustomize),
        "kuttl.dev" => Some(ManifestTool::Kuttl),
        "chainsaw.kyverno.io" => Some(ManifestTool::Chainsaw),
        _ if object.api_version() == "builtin" => Some(ManifestTool::Kustomize),
        _ => None,
    }
}

fn is_from_a_server(object: &Object) -> bool {
    let uid = object.uid();
    uid.is_some_and(|uid| placeholder::find(uid).is_none())
        && object.metadata().has_server_field("resourceVersion")
}

/// Whether a key belongs to chainsaw's assertion language: `(length(items))`.
fn is_expression(key: &str) -> bool {
    key.starts_with('(')
}

/// Whether a key is a directive of a strategic merge patch.
fn is_directive(key: &str) -> bool {
    matches!(key, "$patch" | "$retainKeys")
        || key.starts_with("$setElementOrder/")
        || key.starts_with("$deleteFromPrimitiveList/")
}

/// Whether an object contains a directive of a strategic merge patch.
pub fn has_directive(object: &Object) -> bool {
    has_key(object, &Cell::new(MAX_VISITS), is_directive)
}

/// Whether an object has a wanted key in a place where all keys are Kubernetes' own.
fn has_key(object: &Object, visits_left: &Cell<usize>, is_wanted: fn(&str) -> bool) -> bool {
    if has_closed_schema(object) {
        return in_depth(object.value(), visits_left, is_wanted);
    }
    let root = object.value();
    let parts = ["metadata", "spec", "status"].map(|part| root.get(part));
    let maps = std::iter::once(root).chain(parts.into_iter().flatten());
    let mut keys = maps.flat_map(Value::entries);
    keys.any(|entry| is_wanted(entry.key))
}

/// Whether every key of the object is Kubernetes' own, at any depth. Custom resources may contain other keys at depth:
/// patterns of Kyverno's policies have keys in parentheses, Flux' HelmReleases contain patches. Groups without a dot
/// are Kubernetes' own: a CustomResourceDefinition cannot have one.
fn has_closed_schema(object: &Object) -> bool {
    !object.group().contains('.') && object.kind() != "ControllerRevision"
}

/// Whether there is a wanted key at any depth. Shared values are visited once.
fn in_depth(root: Value<'_>, visits_left: &Cell<usize>, is_wanted: fn(&str) -> bool) -> bool {
    let mut visited = Visited::default();
    let mut pending = vec![root];
    while let Some(value) = pending.pop() {
        if !visited.is_new(value) {
            continue;
        }
        let Some(left) = visits_left.get().checked_sub(1) else {
            return false;
        };
        visits_left.set(left);
        for entry in value.entries() {
            if is_wanted(entry.key) {
                return true;
            }
            pending.push(entry.value);
        }
        pending.extend(value.items());
    }
    false
}

/// Finds a placeholder in the version or the kind.
fn in_type(object: &Object) -> Option<SkipReason> {
    in_field("apiVersion", object.api_version()).or_else(|| in_field("kind", object.kind()))
}

fn in_name(object: &Object) -> Option<SkipReason> {
    let metadata = object.metadata();
    let name = metadata
        .name()
        .and_then(|name| in_field("metadata.name", name.value));
    name.or_else(|| in_field("metadata.generateName", metadata.generate_name()?.value))
}

fn in_field(field: &str, text: &str) -> Option<SkipReason> {
    let (language, found) = placeholder::find(text)?;
    let evidence = format!("`{found}` in `{field}`");
    Some(SkipReason::template(language, evidence))
}

/// Finds a placeholder in a key of the object or of its metadata. Other keys and values do not matter: a ConfigMap may
/// contain any template.
fn in_a_key(object: &Object) -> Option<SkipReason> {
    let metadata = object.value().get("metadata");
    let keys = std::iter::once(object.value())
        .chain(metadata)
        .flat_map(Value::entries);
    // Editors read the key `$schema`.
    keys.filter(|entry| entry.key != "$schema" && !is_directive(entry.key))
        .find_map(|entry| {
            let (language, found) = placeholder::find(entry.key)?;
            let evidence = format!("`{found}` in a key");
            Some(SkipReason::template(language, evidence))
        })
}

/// Finds a placeholder in place of a value: `annotations: $ANNOTATIONS`, `labels: (removed)`, `name: {name}`.
fn in_place_of_a_value(object: &Object) -> Option<SkipReason> {
    object.decode_errors().iter().find_map(|error| {
        let value = object.rejected(error);
        let language = match error.expected {
            Expected::String => braces_as_yaml(value).then_some(TemplateLanguage::Placeholder)?,
            Expected::Bool
            | Expected::Integer
            | Expected::Time
            | Expected::Object
            | Expected::Array => placeholder::is_whole(value.as_str()?)?,
        };
        let evidence = format!("a placeholder in place of `{}`", error.field);
        Some(SkipReason::template(language, evidence))
    })
}

/// Whether a value is a placeholder: for YAML, `{word}` is a mapping without a value, `[WORD]` a list of one word.
fn braces_as_yaml(value: Value<'_>) -> bool {
    let mut entries = value.entries();
    let mut items = value.items();
    match (entries.next(), entries.next(), items.next(), items.next()) {
        (Some(entry), None, None, None) => entry.value.is_null() && is_word(entry.key),
        (None, None, Some(item), None) => item
            .as_str()
            .is_some_and(|text| is_word(text) && !text.contains(|c: char| c.is_ascii_lowercase())),
        _ => false,
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
}
