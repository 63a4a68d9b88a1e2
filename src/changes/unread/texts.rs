//! Texts that tools do not read as manifests as they are: templates, programs, encrypted and unreadable files, and
//! files under names that tools ignore.

use std::collections::BTreeSet;

use super::canonical::canonical;
use super::charts::deciding_lines;
use super::input::{Finder, FoundInput, UnreadWhat};
use super::state::{SourceState, canonical_text, shown_key, text_at, written_key};
use crate::kustomize::{folder_of, name_of};
use crate::manifest::{Object, ParsedFile, SkipReason, is_kustomization};
use crate::text::Span;
use crate::yaml::Value;

/// kustomize leaves out objects with this annotation (api/internal/target/kusttarget.go).
const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";

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
        let input = FoundInput::new(
            UnreadWhat::OtherRepository,
            format!("submodule {place}"),
            "its files are not read",
        );
        finder.add_at(place, place, 1, input.part(commit));
    }
    for (place, file) in state
        .files()
        .filter(|(place, _)| state.chart_of(place).is_none())
    {
        file_itself(finder, place, file);
        for document in file.documents() {
            for object in document.objects() {
                object_itself(finder, place, file, object);
            }
        }
        if !is_kustomization(place) {
            skipped(finder, place, file);
        }
    }
}

/// Returns the input for a file whose name is not that of a manifest.
fn other_file(place: &str, text: &str) -> Option<FoundInput> {
    let name = name_of(place);
    Some(
        if name.ends_with(".jsonnet") || name.ends_with(".libsonnet") {
            let lines = text.lines().map(str::trim);
            let lines = lines.filter(|line| line.contains("kind:") || line.starts_with("import"));
            FoundInput::new(
                UnreadWhat::Jsonnet,
                format!("program {place}"),
                "Jsonnet is not evaluated",
            )
            .saying(text)
            .parts(lines.map(str::to_owned))
        } else if name == ".sourceignore" {
            let reason = "Flux leaves out the files that its patterns match, and ownerlint does not apply them";
            let input = FoundInput::new(
                UnreadWhat::Missing,
                format!("files left out by {place}"),
                reason,
            );
            // A pattern that is added or removed may leave out more.
            input.part(text).taking_away()
        } else if is_helmfile(place) {
            helmfile(place, text)
        } else if is_jinja(place) {
            let reason = "it is a template that is not rendered";
            FoundInput::new(UnreadWhat::Template, format!("template {place}"), reason)
                .saying(text)
                .parts(deciding_lines(text))
        } else {
            return None;
        },
    )
}

/// Whether helmfile reads a file: `helmfile.yaml`, or a file in `helmfile.d`.
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
    let lines = text.lines().map(str::trim);
    let lines = lines
        .filter(|line| {
            line.starts_with("- {") || line.trim_start_matches("- ").starts_with("name:")
        })
        .map(str::to_owned);
    FoundInput::new(
        UnreadWhat::Chart,
        format!("releases of {place}"),
        "helmfile is not run",
    )
    .saying(text)
    .parts(lines)
}

/// Adds inputs for the name of a file and for its content as a whole.
fn file_itself(finder: &mut Finder<'_>, place: &str, file: &ParsedFile) {
    let name = name_of(place);
    let start = Span::new(0, 0);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    if ending != ending.to_ascii_lowercase()
        && !finder.state.is_resource(place)
        && file.has_objects()
    {
        let reason = "kubectl, Flux and Argo CD read only files whose names end in lower case";
        let input =
            FoundInput::new(UnreadWhat::Missing, format!("manifest {place}"), reason).taking_away();
        finder.add(place, file, start, input);
    }
    if name.starts_with(".argocd-source") {
        let text = file.source().text();
        let reason = "Argo CD changes the source of an Application with it";
        let input = FoundInput::new(UnreadWhat::Values, format!("source {place}"), reason)
            .part(text)
            .taking_away();
        finder.add(place, file, start, input);
    }
    if name.ends_with("Chart.yaml") {
        // argo-cd util/app/discovery/discovery.go.
        let reason = "Argo CD treats a folder with a file of such a name as a chart";
        finder.add(
            place,
            file,
            start,
            FoundInput::new(UnreadWhat::Chart, format!("chart {place}"), reason).taking_away(),
        );
    }
    if name == "fleet.yaml" {
        let reason = "Fleet changes the objects of the folder with it, and ownerlint does not";
        let input = FoundInput::new(UnreadWhat::Transformer, format!("options {place}"), reason);
        finder.add(place, file, start, input.part(file.source().text()));
    }
    if file.source().text().starts_with(LFS_POINTER) {
        let reason = "Git LFS stores its content elsewhere";
        let input = FoundInput::new(UnreadWhat::Unparsable, format!("file {place}"), reason);
        finder.add(place, file, start, input.part(file.source().text()));
    }
    if is_helmfile(place) {
        finder.add(place, file, start, helmfile(place, file.source().text()));
    } else if name.contains("values") && !file.has_objects() && file.failure().is_none() {
        let reason = "values decide which objects a chart contains, and the chart is not rendered";
        let input = FoundInput::new(UnreadWhat::Values, format!("values {place}"), reason);
        finder.add(place, file, start, input.saying(file.source().text()));
    }
    if let Some(reason) = file.failure() {
        let what = if reason.contains("larger") {
            UnreadWhat::Limit
        } else {
            UnreadWhat::Unparsable
        };
        let content = finder.state.content(place).unwrap_or_default().to_owned();
        let why = if reason.contains("not in this clone") {
            "its content is not in this clone, and could not be fetched"
        } else {
            "the file cannot be read"
        };
        let input = FoundInput::new(what, format!("file {place}"), why).taking_away();
        finder.add(place, file, start, input.part(content));
    }
    let roots = file
        .documents()
        .iter()
        .filter(|document| document.objects().is_empty());
    let encrypted = roots
        .filter_map(|document| document.tree())
        .find(|tree| tree.root().get("sops").is_some());
    if let Some(tree) = encrypted.filter(|_| finder.state.is_resource(place)) {
        let input = FoundInput::new(
            UnreadWhat::Encrypted,
            format!("file {place}"),
            "the file is encrypted",
        );
        finder.add(
            place,
            file,
            tree.root().span(),
            input.part(canonical_text(file, Some(tree.root()))),
        );
    }
}

/// Adds inputs for an object that is read but whose key or presence is uncertain.
fn object_itself(finder: &mut Finder<'_>, place: &str, file: &ParsedFile, object: &Object) {
    let name = object.name();
    let mut names = name.as_deref().into_iter().chain(object.namespace());
    if names.any(|name| name.contains("ENC[")) {
        let key = written_key(object);
        let input = FoundInput::new(
            UnreadWhat::Encrypted,
            format!("name of a {}", object.kind()),
            "it is encrypted",
        );
        let input = input.identified(format!("{place} {key}")).taking_away();
        finder.add(place, file, object.name_span(), input);
    }
    if let Some(marked) = object
        .metadata()
        .annotation(LOCAL_CONFIG)
        .filter(|marked| marked.value != "false")
    {
        let reason =
            "kustomize leaves out objects with the annotation config.kubernetes.io/local-config";
        let input = FoundInput::new(
            UnreadWhat::Transformer,
            format!("local {}", shown_key(object)),
            reason,
        );
        let input = input
            .identified(format!("{place} {}", written_key(object)))
            .taking_away();
        finder.add(place, file, marked.key_span, input);
    }
    if object
        .namespace()
        .is_some_and(|namespace| namespace.contains("${"))
    {
        let input = placeholder(
            place,
            &written_key(object),
            &shown_key(object),
            UnreadWhat::Variable,
        );
        finder.add(place, file, object.name_span(), input);
    }
}

fn placeholder(place: &str, key: &str, shown: &str, what: UnreadWhat) -> FoundInput {
    let reason = "its name or namespace has a placeholder";
    FoundInput::new(what, shown, reason).identified(format!("{place} {key}"))
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
        let tree = file
            .document(*index)
            .and_then(|document| document.tree())
            .map(|tree| tree.root());
        match tree.filter(|root| root.get("items").is_none()) {
            Some(root) => {
                let kind = text_at(root, &["kind"]);
                let [name, namespace] =
                    ["name", "namespace"].map(|key| text_at(root, &["metadata", key]));
                let key = format!("{kind}/{namespace}/{name}");
                finder.add(
                    place,
                    file,
                    skip.span,
                    placeholder(place, &key, format!("{kind} {name}").trim(), what),
                );
            }
            None => whole = whole.or(Some((skip.span, what))),
        }
    }
    let Some((span, what)) = whole else { return };
    let text = file.source().text();
    let input = match what {
        UnreadWhat::Unparsable => {
            let reason = "part of it cannot be read as YAML";
            FoundInput::new(what, format!("file {place}"), reason)
                .part(text)
                .taking_away()
        }
        _ => FoundInput::new(
            UnreadWhat::Template,
            format!("template {place}"),
            "it is a template that is not rendered",
        )
        .saying(text)
        .parts(deciding_lines(text)),
    };
    finder.add(place, file, span, input);
}

/// Returns the variables in the names, namespaces and folders of a state.
pub(super) fn variables(state: &SourceState<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (place, file) in state.files() {
        for root in file
            .documents()
            .iter()
            .filter_map(|document| document.tree())
            .map(|tree| tree.root())
        {
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
    for rest in text.split("${").skip(1) {
        let name = rest
            .split(|character: char| !character.is_ascii_alphanumeric() && character != '_')
            .next();
        found.extend(name.filter(|name| !name.is_empty()).map(str::to_owned));
    }
}

/// Returns the values of variables in the data of a ConfigMap, a Secret or a generator.
pub(super) fn values_of(data: Value<'_>, variables: &BTreeSet<String>) -> Vec<String> {
    let maps = ["data", "stringData"]
        .into_iter()
        .filter_map(|key| data.get(key));
    let entries = maps
        .flat_map(Value::entries)
        .filter(|entry| variables.contains(entry.key))
        .map(|entry| {
            let value = canonical(entry.value).unwrap_or_default();
            format!("{}={value}", entry.key)
        });
    let literals = data
        .get("literals")
        .into_iter()
        .flat_map(Value::items)
        .filter_map(Value::as_str);
    let literals = literals.filter(|literal| {
        let name = literal.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| variables.contains(name))
    });
    entries.chain(literals.map(str::to_owned)).collect()
}
