//! Chart folders: `Chart.yaml`, values and templates.

use std::collections::{BTreeMap, BTreeSet};

use super::canonical::canonical;
use super::input::{CHART, Finder, FoundInput, PACKED, VALUES};
use super::report::UnreadWhat;
use super::state::{canonical_text, roots, text_at};
use crate::charts::packed_chart;
use crate::kustomize::{folder_of, name_of, resolve};
use crate::manifest::ParsedFile;
use crate::yaml::Value;

/// Returns the identity of the chart in a folder.
fn identity(folder: &str) -> String {
    format!("chart in {folder}/")
}

pub(super) fn find(finder: &mut Finder<'_>) {
    let state = finder.state;
    for place in state.paths() {
        let Some(path) = state.path(place) else {
            continue;
        };
        let input = match (state.chart_of(place), state.file(place)) {
            (Some(folder), _) if !is_read(folder, place) => continue,
            (Some(folder), Some(file))
                if name_of(place) == "Chart.yaml" && folder_of(place) == folder =>
            {
                chart(finder, folder, file)
            }
            (Some(folder), _) => member(finder, folder, place),
            (None, _) => match packed(finder, place) {
                Some(input) => input,
                None => continue,
            },
        };
        finder.add_at(place, path, 1, input);
    }
}

/// Whether the file at `place` may decide what the chart in a folder contains.
fn is_read(folder: &str, place: &str) -> bool {
    let below = place[folder.len()..].trim_start_matches('/');
    let (name, top) = (name_of(place), below.split('/').next().unwrap_or_default());
    if top == "templates" {
        return name != "NOTES.txt";
    }
    let is_prose = [".md", ".png", ".svg"]
        .iter()
        .any(|ending| name.ends_with(ending))
        || name.starts_with("LICENSE");
    let is_folder = below.contains('/');
    !is_prose && !(is_folder && (top.starts_with('.') || ["ci", "docs", "tests"].contains(&top)))
}

/// Returns the chart in an archive outside of charts; `None` if it is not named like a chart.
fn packed(finder: &Finder<'_>, place: &str) -> Option<FoundInput> {
    let (name, version) = packed_chart(name_of(place))?;
    let content = finder.state.content(place).unwrap_or_default();
    let input = FoundInput::new(UnreadWhat::Chart, format!("packed chart {name}"), PACKED)
        .with_identity(format!("packed {}", resolve(folder_of(place), name)))
        .in_version(version)
        .with_text(content);
    Some(input)
}

fn chart(finder: &Finder<'_>, folder: &str, file: &ParsedFile) -> FoundInput {
    let root = roots(file).next();
    let [name, version, kind] = ["name", "version", "type"]
        .map(|key| root.map(|root| text_at(root, &[key])).unwrap_or_default());
    let name = if name.is_empty() {
        name_of(folder)
    } else {
        name
    };
    let dependencies = root
        .into_iter()
        .flat_map(|root| root.items_at("dependencies"));
    let dependencies: Vec<Value<'_>> = dependencies.collect();
    let parts = dependencies.iter().map(|dependency| {
        let keys = ["name", "repository", "alias", "condition", "tags"];
        let fields = keys.map(|key| dependency.get(key).and_then(canonical).unwrap_or_default());
        format!("dependency {}", fields.join(" "))
    });
    let versions = ["version", "appVersion", "kubeVersion", "dependencies"];
    let versions = versions.map(|key| canonical_text(file, root.and_then(|root| root.get(key))));
    // If a chart only wraps another one, the version of the wrapped chart is more informative.
    let templates = resolve(folder, "templates");
    let has_templates = || finder.state.paths_below(&templates).next().is_some();
    let wrapped = match dependencies[..] {
        [dependency] if !has_templates() => text_at(dependency, &["version"]),
        _ => "",
    };
    let version = if wrapped.is_empty() { version } else { wrapped };
    let found = FoundInput::new(UnreadWhat::Chart, format!("chart {name}"), CHART)
        .with_identity(identity(folder))
        .in_version(version)
        .with_text(versions.join("\n"))
        .parts(parts)
        // Templates derive the names of objects from the name of the chart.
        .part(format!("name {name}"))
        .part(format!("type {kind}"));
    // Argo CD treats the folder as a chart, and applies none of the manifests beside `Chart.yaml`.
    let files = finder
        .state
        .paths_below(folder)
        .filter(|place| folder_of(place) == folder);
    let mut files = files.filter_map(|place| finder.state.file(place));
    let beside = files.any(ParsedFile::has_objects);
    if beside { found.may_remove() } else { found }
}

fn member(finder: &Finder<'_>, folder: &str, place: &str) -> FoundInput {
    let name = name_of(place);
    let content = finder.state.content(place).unwrap_or_default();
    let below = place[folder.len()..].trim_start_matches('/');
    let input = if name.starts_with("values") && !place.contains("/templates/") {
        FoundInput::new(UnreadWhat::Values, format!("values {place}"), VALUES)
    } else if name == "Chart.yaml" || name == "Chart.lock" || name == "requirements.yaml" {
        FoundInput::new(UnreadWhat::Chart, format!("chart {place}"), CHART)
    } else if name.ends_with(".tgz") {
        let stem = name
            .split(|c: char| c.is_ascii_digit())
            .next()
            .unwrap_or(name);
        FoundInput::new(UnreadWhat::Chart, format!("chart {place}"), CHART)
            .with_identity(format!("packed {}", resolve(folder_of(place), stem)))
    } else if below.starts_with("crds/") {
        FoundInput::new(UnreadWhat::Template, format!("file {place}"), CHART)
    } else {
        let reason = "templates of charts are not rendered";
        FoundInput::new(UnreadWhat::Template, format!("template {place}"), reason)
            .parts(deciding_lines(content))
    };
    input.with_text(content).within(identity(folder))
}

/// Returns the lines of a template that decide which objects there are, each with its count.
pub(super) fn deciding_lines(text: &str) -> BTreeSet<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let words = ["if ", "range ", "with "];
    let names = ["kind:", "- kind:", "name:"];
    for line in text.lines().map(str::trim) {
        let is_control = line.contains("{{") && words.iter().any(|word| line.contains(word))
            || line.starts_with("{%");
        if is_control || names.iter().any(|name| line.starts_with(name)) {
            *counts.entry(line).or_default() += 1;
        }
    }
    counts
        .into_iter()
        .map(|(line, count)| format!("{line} ×{count}"))
        .collect()
}
