//! Objects of Argo CD: Applications and ApplicationSets.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::canonical::{leaves, stable};
use super::holder::Holder;
use super::input::{CHART, Finder, FoundInput, JSONNET, OTHER_CLUSTER, VALUES};
use super::report::UnreadWhat;
use super::state::{SourceState, contents, text_at};
use crate::graph::argo::{COSMETIC, GitPattern, OWN_NAME, OWN_SERVER};
use crate::kube::kinds;
use crate::kustomize::resolve;
use crate::text::glob::with_stars;
use crate::text::{Span, plain, without_credentials};
use crate::yaml::Value;

/// Maximum number of patterns of ApplicationSets that are compared with the folders and files of a state.
const MAX_PATTERNS: usize = 1_000;

/// Options of `kustomize` that are evaluated, besides [`COSMETIC`] ones.
const EVALUATED: [&str; 7] = [
    "namePrefix",
    "nameSuffix",
    "namespace",
    "patches",
    "version",
    "kubeVersion",
    "apiVersions",
];

pub(super) fn find(finder: &mut Finder<'_>) {
    let state = finder.state;
    for holder in Holder::all(state) {
        if holder.object.is(kinds::APPLICATION) {
            application(finder, holder, holder.spec, &BTreeSet::new());
        } else if holder.object.is(kinds::APPLICATION_SET) {
            // The generators of an evaluated set are known, except in other revisions.
            let repositories = if state.is_evaluated(holder.place) {
                let generators = holder.spec.get("generators").and_then(leaves);
                let generators = generators.unwrap_or_default();
                revisions(finder, holder, of_git(&generators, "revision"));
                of_git(&generators, "repoURL").collect()
            } else {
                generators(finder, holder);
                BTreeSet::new()
            };
            if let Some(spec) = holder.spec.at(&["template", "spec"]) {
                application(finder, holder, spec, &repositories);
            }
        }
    }
}

/// Returns the sources in `spec.sources`, unless it is empty, else `spec.source`.
fn sources(spec: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    let mut several = spec.items_at("sources").peekable();
    let single = if several.peek().is_none() {
        spec.get("source")
    } else {
        None
    };
    several.chain(single)
}

/// Adds the sources and the cluster of an Application. `repositories`: those that the git
/// generators of its ApplicationSet read; empty if the set is not evaluated.
fn application(
    finder: &mut Finder<'_>,
    holder: Holder<'_>,
    spec: Value<'_>,
    repositories: &BTreeSet<&str>,
) {
    finder.inputs.present.insert(holder.key());
    for (at, value) in sources(spec).enumerate() {
        source(finder, holder, (value, at), repositories);
    }
    if let Some(hydrator) = spec.get("sourceHydrator") {
        let reason = "the contents of another branch are not read";
        let input = holder
            .input(UnreadWhat::OtherRepository, "hydrated source", reason)
            .part(holder.text(Some(hydrator)));
        holder.add(finder, hydrator.span(), input);
    }
    if let Some(destination) = spec.get("destination") {
        let [server, name] = ["server", "name"].map(|key| text_at(destination, &[key]));
        let cluster = if server == OWN_SERVER || name == OWN_NAME {
            OWN_NAME.to_owned()
        } else {
            format!("{server} {name}")
        };
        let input = holder
            .input(UnreadWhat::OtherRepository, "cluster", OTHER_CLUSTER)
            .part(cluster)
            .only_changes();
        holder.add(finder, destination.span(), input);
    }
}

fn source(
    finder: &mut Finder<'_>,
    holder: Holder<'_>,
    (source, at): (Value<'_>, usize),
    repositories: &BTreeSet<&str>,
) {
    let state = finder.state;
    let [chart, path, revision, address] =
        ["chart", "path", "targetRevision", "repoURL"].map(|key| text_at(source, &[key]));
    let folder = resolve("", path.trim_start_matches('/'));
    let is_here = !path.is_empty()
        && (state.has_folder(&folder)
            || is_generated_here(state, holder, path, repositories.contains(address)));
    let input = match (chart, is_here) {
        ("", true) => {
            let reason = "it is another revision or repository, which is not read";
            holder
                .input(UnreadWhat::OtherRepository, "source", reason)
                .part(format!("{address} {revision}"))
                .within(holder.key())
        }
        ("", false) => {
            let repository = without_credentials(address);
            let reason = if path.is_empty() || path.contains("{{") {
                Cow::Borrowed("it is another repository, which is not read")
            } else {
                let path = plain::one_line(path);
                Cow::Owned(format!(
                    "`{path}` is not a folder of this tree: it is in another repository, or does not exist"
                ))
            };
            holder
                .input(UnreadWhat::OtherRepository, "source", reason)
                .part(format!("{repository} {path}"))
                .with_text(revision)
                .in_version(revision)
        }
        (chart, _) => FoundInput::new(UnreadWhat::Chart, format!("chart {chart}"), CHART)
            .with_identity(format!("chart of {}", holder.key()))
            .part(format!("{address} {chart}"))
            .in_version(revision),
    };
    let input = input.with_number(at);
    let within = input.identity.clone();
    holder.add(finder, source.span(), input);
    if let Some(helm) = source.get("helm") {
        let mut values = holder.text(Some(helm));
        for written in helm.items_at("valueFiles").filter_map(Value::as_str) {
            let place = match written
                .strip_prefix('$')
                .and_then(|rest| rest.split_once('/'))
            {
                Some((_, path)) => resolve("", path),
                None => resolve(&folder, written),
            };
            values.push_str(&state.digest(&place));
        }
        let parts = ["releaseName", "namespace"]
            .map(|key| text_at(helm, &[key]))
            .join(" ");
        let input = holder
            .input(UnreadWhat::Values, "values", VALUES)
            .with_number(at)
            .with_text(values)
            .part(parts)
            .within(&within);
        holder.add(finder, helm.span(), input);
    }
    if let Some(plugin) = source.get("plugin") {
        let input = holder
            .input(UnreadWhat::Plugin, "plugin", "plugins are not run")
            .with_number(at)
            .part(holder.text(Some(plugin)))
            .parts(is_here.then(|| state.digest_below(&folder)))
            .within(&within)
            .may_remove();
        holder.add(finder, plugin.span(), input);
    }
    if let Some(jsonnet) = source.at(&["directory", "jsonnet"]) {
        let input = holder
            .input(UnreadWhat::Jsonnet, "program", JSONNET)
            .with_number(at)
            .part(holder.text(Some(jsonnet)))
            .within(&within);
        holder.add(finder, jsonnet.span(), input);
    }
    if let Some(options) = source.get("kustomize")
        && !state.is_evaluated(holder.place)
    {
        let reason = "it may change which objects are built, and it is not evaluated";
        holder.add_unknown(finder, options, &[&EVALUATED, &COSMETIC], reason);
        if let Some(components) = options.get("components") {
            for written in components.items().filter_map(Value::as_str) {
                holder.add_component(finder, components.span(), &resolve(&folder, written));
            }
        }
        holder.add_patches(finder, options);
    }
}

/// Whether a `path` with parameters leads into this tree: the set is evaluated, and the tree has
/// the folder above the parameters, or a git generator, which reads this tree, names the same
/// repository.
fn is_generated_here(
    state: &SourceState<'_>,
    holder: Holder<'_>,
    path: &str,
    is_read_by_generator: bool,
) -> bool {
    if !path.contains("{{") || !state.is_evaluated(holder.place) {
        return false;
    }
    let known = path.split("{{").next().unwrap_or_default();
    let above = known.rsplit_once('/').map_or("", |(above, _)| above);
    let above = resolve("", above.trim_start_matches('/'));
    is_read_by_generator || !above.is_empty() && state.has_folder(&above)
}

/// Returns the texts of a field of git generators, at any depth.
fn of_git<'l, 'v>(
    generators: &'l [(String, Value<'v>)],
    field: &'l str,
) -> impl Iterator<Item = &'v str> + use<'l, 'v> {
    let fields = generators.iter().filter(move |(path, _)| {
        let generator = path.strip_suffix(field);
        generator.is_some_and(|generator| generator.ends_with("git."))
    });
    fields.filter_map(|(_, value)| value.as_str())
}

/// Adds the `revisions`, except HEAD, of the git generators of a set that was evaluated on this
/// tree.
fn revisions<'v>(
    finder: &mut Finder<'_>,
    holder: Holder<'_>,
    revisions: impl Iterator<Item = &'v str>,
) {
    let others = revisions.filter(|revision| !revision.is_empty() && *revision != "HEAD");
    let reason = "its git generators read another revision, which is not read";
    let input = holder
        .input(UnreadWhat::OtherRepository, "revision", reason)
        .parts(others.map(str::to_owned))
        .only_changes();
    let generators = holder.spec.get("generators");
    let span = generators.map_or(holder.object.name_span(), Value::span);
    holder.add(finder, span, input);
}

/// Adds the inputs that decide which Applications a set generates.
fn generators(finder: &mut Finder<'_>, holder: Holder<'_>) {
    let template = holder.spec.get("template");
    let named = ["name", "namespace"]
        .map(|key| template.map_or("", |template| text_at(template, &["metadata", key])));
    let generators = holder.spec.get("generators");
    let reason = "its Applications depend on inputs outside of the tree";
    let input = holder
        .input(UnreadWhat::Generator, "generators", reason)
        .part(named.join("/"))
        .part(holder.text(holder.spec.get("templatePatch")))
        .with_text(holder.text(generators))
        // Removing an element removes its Application; changing a version in it removes nothing.
        .parts(generators.into_iter().flat_map(|generators| {
            stable(generators).unwrap_or_else(|| vec![holder.text(Some(generators))])
        }));
    let span = generators.map_or(holder.object.name_span(), Value::span);
    holder.add(finder, span, input);
    for (kind, pattern) in git_patterns(generators) {
        matches(finder, holder, kind, pattern, span);
    }
    let template = template.and_then(|template| template.get("spec"));
    let paths = template
        .into_iter()
        .flat_map(sources)
        .map(|source| text_at(source, &["path"]));
    for path in paths.filter(|path| path.contains("{{") && !GitPattern::is_wholly_unknown(path)) {
        matches(finder, holder, PatternKind::Template, path, span);
    }
}

/// Adds the files or folders that a pattern matches, once if several sets have the pattern.
fn matches(
    finder: &mut Finder<'_>,
    holder: Holder<'_>,
    kind: PatternKind,
    pattern: &str,
    span: Span,
) {
    let state = finder.state;
    let name = match kind {
        PatternKind::File => format!("files {pattern}"),
        PatternKind::Directory => format!("folders {pattern}"),
        PatternKind::Template => format!("folders {}", with_stars(pattern)),
    };
    if !finder.is_first(&name) {
        return;
    }
    finder.patterns += 1;
    if finder.patterns > MAX_PATTERNS {
        if finder.patterns == MAX_PATTERNS + 1 {
            let reason = "ApplicationSets have too many patterns";
            let input = FoundInput::new(UnreadWhat::Limit, "patterns of ApplicationSets", reason)
                .may_remove()
                // Any folder may match a pattern beyond the limit.
                .parts(contents(state, ""));
            holder.add(finder, span, input);
        }
        return;
    }
    let reason = "an ApplicationSet generates Applications from them";
    let mut input = FoundInput::new(UnreadWhat::Generator, name, reason).only_changes();
    let pattern = match kind {
        PatternKind::File => GitPattern::files(pattern),
        PatternKind::Directory => GitPattern::folders(pattern),
        PatternKind::Template => GitPattern::partly_unknown(pattern),
    };
    match kind {
        PatternKind::File => {
            for place in state.paths().filter(|path| pattern.is_match(path)) {
                input.text.push_str(&state.digest(place));
                input = input.part(format!("file {place}"));
            }
        }
        PatternKind::Directory | PatternKind::Template => {
            for folder in state.folders().filter(|path| pattern.is_match(path)) {
                if !state.has_kustomization(folder) {
                    input = input.parts(contents(state, folder));
                }
                input = input.part(format!("folder {folder}"));
            }
        }
    }
    holder.add(finder, span, input);
}

#[derive(Clone, Copy)]
enum PatternKind {
    Directory,
    File,
    /// A path with parameters in a template.
    Template,
}

/// Returns the patterns of git generators, at any depth.
fn git_patterns(generators: Option<Value<'_>>) -> Vec<(PatternKind, &str)> {
    let mut found = Vec::new();
    for (path, value) in generators.and_then(leaves).unwrap_or_default() {
        let kind = match path.rsplit('.').take(3).collect::<Vec<_>>().as_slice() {
            ["path", "directories", "git"] => PatternKind::Directory,
            ["path", "files", "git"] => PatternKind::File,
            _ => continue,
        };
        found.extend(value.as_str().map(|pattern| (kind, pattern)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::ParsedFile;
    use crate::text::SourceFile;

    #[test]
    fn single_source_counts_only_without_sources() {
        let expected: [(&str, &[&str]); 3] = [
            (
                "{source: {path: a}, sources: [{path: b}, {path: c}]}",
                &["b", "c"],
            ),
            ("{source: {path: a}, sources: []}", &["a"]),
            ("{source: {path: a}}", &["a"]),
        ];
        for (spec, paths) in expected {
            let file = ParsedFile::parse(SourceFile::new("a.yaml", spec));
            let tree = file.documents()[0].tree().expect("a document");
            let found: Vec<&str> = sources(tree.root())
                .map(|source| text_at(source, &["path"]))
                .collect();
            assert_eq!(found, paths, "{spec}");
        }
    }
}
