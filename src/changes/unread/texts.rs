//! Files that tools do not apply as they are written: templates, programs, encrypted and unreadable files, and files
//! under names that tools ignore.

use std::collections::BTreeSet;

use super::canonical::canonical;
use super::charts::deciding_lines;
use super::input::{Finder, FoundInput, JSONNET, TEMPLATE, VALUES};
use super::report::UnreadWhat;
use super::state::{SourceState, canonical_text, objects, roots, shown_key, text_at, written_key};
use crate::graph::argo::overrides_source;
use crate::graph::flux::names_in;
use crate::kustomize::{folder_of, name_of};
use crate::manifest::{Object, ParsedFile, SkipReason, is_kustomization};
use crate::text::Span;
use crate::yaml::{Tree, Value};

/// kustomize leaves out objects with this annotation (api/internal/target/kusttarget.go).
const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

const PLACEHOLDER: &str = "its name or namespace has a placeholder";

/// The first line of a file that Git LFS stores elsewhere.
const LFS_POINTER: &str = "version https://git-lfs.github.com/spec/";

pub(super) fn find(finder: &mut Finder<'_>) {
    let state = finder.state;
    for (place, other) in state.others() {
        if let Some(input) = other_file(place, &other.text) {
            finder.add_at(place, other.path, 1, input);
        }
    }
    for (place, commit) in state.submodules() {
        let name = format!("submodule {place}");
        let reason = "its files are not read";
        let input = FoundInput::new(UnreadWhat::OtherRepository, name, reason).part(commit);
        finder.add_at(place, place, 1, input);
    }
    for (place, file) in state
        .files()
        .filter(|(place, _)| state.chart_of(place).is_none())
    {
        file_itself(finder, place, file);
        for object in objects(file) {
            object_itself(finder, place, file, object);
        }
        if !is_kustomization(place) {
            skipped(finder, place, file);
        }
    }
}

/// Returns the input for a file whose name is not that of a manifest.
fn other_file(place: &str, text: &str) -> Option<FoundInput> {
    let name = name_of(place);
    if name.ends_with(".jsonnet") || name.ends_with(".libsonnet") {
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| line.contains("kind:") || line.starts_with("import"));
        let input = FoundInput::new(UnreadWhat::Jsonnet, format!("program {place}"), JSONNET);
        Some(input.with_text(text).parts(lines.map(str::to_owned)))
    } else if name == ".sourceignore" {
        let name = format!("files left out by {place}");
        let reason = "Flux leaves out the files that match the patterns in it, which ownerlint does not evaluate";
        // A pattern that is added or removed may leave out more.
        let input = FoundInput::new(UnreadWhat::Missing, name, reason).may_remove();
        Some(input.part(text))
    } else if is_helmfile(place) {
        Some(helmfile(place, text))
    } else {
        is_jinja(place).then(|| template(place, text))
    }
}

fn template(place: &str, text: &str) -> FoundInput {
    FoundInput::new(UnreadWhat::Template, format!("template {place}"), TEMPLATE)
        .with_text(text)
        .parts(deciding_lines(text))
}

/// Whether helmfile reads a file: its name begins with `helmfile`, or it is in a folder `helmfile.d`.
pub fn is_helmfile(place: &str) -> bool {
    name_of(place).starts_with("helmfile") || name_of(folder_of(place)) == "helmfile.d"
}

/// Whether a file is a Jinja template of a manifest.
pub fn is_jinja(place: &str) -> bool {
    [".j2", ".jinja", ".jinja2"].into_iter().any(|ending| {
        let rest = place.strip_suffix(ending);
        rest.is_some_and(|rest| rest.ends_with(".yaml") || rest.ends_with(".yml"))
    })
}

fn helmfile(place: &str, text: &str) -> FoundInput {
    let lines = text.lines().map(str::trim).filter(|line| {
        line.starts_with("- {") || line.trim_start_matches("- ").starts_with("name:")
    });
    let name = format!("releases of {place}");
    FoundInput::new(UnreadWhat::Chart, name, "helmfile is not run")
        .with_text(text)
        .parts(lines.map(str::to_owned))
}

/// Adds inputs for the name of a file and for its content as a whole.
fn file_itself(finder: &mut Finder<'_>, place: &str, file: &ParsedFile) {
    let name = name_of(place);
    let text = file.source().text();
    let mut inputs = Vec::new();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    if ending != ending.to_ascii_lowercase()
        && !finder.state.is_resource(place)
        && file.has_objects()
    {
        let reason = "kubectl, Flux and Argo CD read only files whose names end in lower case";
        let input = FoundInput::new(UnreadWhat::Missing, format!("manifest {place}"), reason);
        inputs.push(input.may_remove());
    }
    if overrides_source(place) {
        let reason = "Argo CD changes the source of an Application with it";
        let input = FoundInput::new(UnreadWhat::Values, format!("source {place}"), reason);
        inputs.push(input.part(text).may_remove());
    }
    if name.ends_with("Chart.yaml") {
        // argo-cd util/app/discovery/discovery.go.
        let reason = "Argo CD treats a folder with a file of such a name as a chart";
        let input = FoundInput::new(UnreadWhat::Chart, format!("chart {place}"), reason);
        inputs.push(input.may_remove());
    }
    if name == "fleet.yaml" {
        let reason = "Fleet changes the objects of the folder with it, and ownerlint does not";
        let input = FoundInput::new(UnreadWhat::Transformer, format!("options {place}"), reason);
        inputs.push(input.part(text));
    }
    if text.starts_with(LFS_POINTER) {
        let reason = "Git LFS stores its content elsewhere";
        let input = FoundInput::new(UnreadWhat::Unparsable, format!("file {place}"), reason);
        inputs.push(input.part(text));
    }
    if is_helmfile(place) {
        inputs.push(helmfile(place, text));
    } else if name.contains("values") && !file.has_objects() && file.failure().is_none() {
        let input = FoundInput::new(UnreadWhat::Values, format!("values {place}"), VALUES);
        inputs.push(input.with_text(text));
    }
    if let Some(reason) = file.failure() {
        let what = if reason.contains("larger") {
            UnreadWhat::Limit
        } else {
            UnreadWhat::Unparsable
        };
        let why = if reason.contains("not in this clone") {
            "its content is not in this clone, and could not be fetched"
        } else {
            "the file cannot be read"
        };
        let content = finder.state.content(place).unwrap_or_default();
        let input = FoundInput::new(what, format!("file {place}"), why);
        inputs.push(input.may_remove().part(content));
    }
    for input in inputs {
        finder.add(place, file, Span::empty(0), input);
    }
    let documents = file.documents().iter();
    let encrypted = documents
        .filter(|document| document.objects().is_empty())
        .filter_map(|document| Some(document.tree()?.root()))
        .find(|root| root.get("sops").is_some());
    if let Some(root) = encrypted.filter(|_| finder.state.is_resource(place)) {
        let name = format!("file {place}");
        let input = FoundInput::new(UnreadWhat::Encrypted, name, "the file is encrypted");
        let input = input.part(canonical_text(file, Some(root)));
        finder.add(place, file, root.span(), input);
    }
}

/// Adds inputs for an object that is read but whose key or presence is uncertain.
fn object_itself(finder: &mut Finder<'_>, place: &str, file: &ParsedFile, object: &Object) {
    let name = object.name();
    let identity = || format!("{place} {}", written_key(object));
    let mut names = name.as_deref().into_iter().chain(object.namespace());
    if names.any(|name| name.contains("ENC[")) {
        let name = format!("name of a {}", object.kind());
        let input = FoundInput::new(UnreadWhat::Encrypted, name, "it is encrypted");
        let input = input.with_identity(identity()).may_remove();
        finder.add(place, file, object.name_span(), input);
    }
    let marked = object.metadata().annotation(LOCAL_CONFIG);
    if let Some(marked) = marked.filter(|marked| marked.value != "false") {
        let name = format!("local {}", shown_key(object));
        let reason =
            "kustomize leaves out objects with the annotation config.kubernetes.io/local-config";
        let input = FoundInput::new(UnreadWhat::Transformer, name, reason);
        let input = input.with_identity(identity()).may_remove();
        finder.add(place, file, marked.key_span, input);
    }
    let namespace = object.namespace().unwrap_or_default();
    if namespace.contains("${") {
        let input = FoundInput::new(UnreadWhat::Variable, shown_key(object), PLACEHOLDER);
        finder.add(
            place,
            file,
            object.name_span(),
            input.with_identity(identity()),
        );
    }
}

/// Adds inputs for skipped documents that may become objects.
fn skipped(finder: &mut Finder<'_>, place: &str, file: &ParsedFile) {
    let mut whole: Option<(Span, UnreadWhat)> = None;
    for (index, skip) in file.skipped() {
        let what = match &skip.reason {
            SkipReason::Template(language, _) if language.is_variable() => UnreadWhat::Variable,
            SkipReason::Template(..) => UnreadWhat::Template,
            SkipReason::Unreadable(_) => UnreadWhat::Unparsable,
            _ => continue,
        };
        let tree = file.document(*index).and_then(|document| document.tree());
        let root = tree.map(Tree::root);
        let Some(root) = root.filter(|root| root.get("items").is_none()) else {
            whole = whole.or(Some((skip.span, what)));
            continue;
        };
        let kind = text_at(root, &["kind"]);
        let [name, namespace] = ["name", "namespace"].map(|key| text_at(root, &["metadata", key]));
        let input = FoundInput::new(what, format!("{kind} {name}").trim(), PLACEHOLDER);
        let input = input.with_identity(format!("{place} {kind}/{namespace}/{name}"));
        finder.add(place, file, skip.span, input);
    }
    let Some((span, what)) = whole else { return };
    let text = file.source().text();
    let input = if what == UnreadWhat::Unparsable {
        let reason = "part of it cannot be read as YAML";
        let input = FoundInput::new(what, format!("file {place}"), reason);
        input.part(text).may_remove()
    } else {
        template(place, text)
    };
    finder.add(place, file, span, input);
}

/// Returns the variables in names, namespaces and folders of a state.
pub(super) fn variables(state: &SourceState<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (place, file) in state.files() {
        for root in roots(file) {
            let keys: &[&[&str]] = if is_kustomization(place) {
                &[
                    &["namespace"],
                    &["namePrefix"],
                    &["nameSuffix"],
                    &["resources"],
                    &["components"],
                ]
            } else {
                &[
                    &["kind"],
                    &["metadata", "name"],
                    &["metadata", "namespace"],
                    &["spec", "path"],
                    &["spec", "targetNamespace"],
                    &["spec", "releaseName"],
                    &["spec", "source"],
                    &["spec", "components"],
                ]
            };
            for value in keys.iter().filter_map(|path| root.at(path)) {
                match value.as_str() {
                    Some(text) => note(text, &mut found),
                    None if value.is_map() || value.is_seq() => {
                        note(&canonical(value).unwrap_or_default(), &mut found);
                    }
                    None => {}
                }
            }
        }
    }
    found
}

/// Adds the variables of a text: `${NAME}`, `${NAME:=x}`.
fn note(text: &str, found: &mut BTreeSet<String>) {
    let names = names_in(text).filter(|name| !name.is_empty());
    found.extend(names.map(str::to_owned));
}

/// Returns the values of variables in the data of a ConfigMap, a Secret or a generator.
pub(super) fn values_of(data: Value<'_>, variables: &BTreeSet<String>) -> Vec<String> {
    let maps = ["data", "stringData"].map(|key| data.get(key));
    let entries = maps.into_iter().flatten().flat_map(Value::entries);
    let entries = entries
        .filter(|entry| variables.contains(entry.key))
        .map(|entry| {
            let value = canonical(entry.value).unwrap_or_default();
            format!("{}={value}", entry.key)
        });
    let literals = data.items_at("literals").filter_map(Value::as_str);
    let literals = literals.filter(|literal| {
        literal
            .split_once('=')
            .is_some_and(|(name, _)| variables.contains(name))
    });
    entries.chain(literals.map(str::to_owned)).collect()
}
