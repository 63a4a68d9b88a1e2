//! Objects of Argo CD: Applications and ApplicationSets.

use std::borrow::Cow;

use globset::GlobBuilder;

use super::canonical::{is_version, leaves, scalar};
use super::flux::component;
use super::input::{Finder, FoundInput, UnreadWhat};
use super::patches::{self, Patched};
use super::state::{canonical_text, contents, shown_key, text_at, written_key};
use crate::graph::argo::{COSMETIC, OWN_NAME, OWN_SERVER};
use crate::kube::kinds;
use crate::kustomize::resolve;
use crate::manifest::{Object, ParsedFile};
use crate::text::{Span, plain, without_credentials};
use crate::yaml::Value;

/// Maximum number of patterns of ApplicationSets that are compared with the folders and files of a state.
const MOST_PATTERNS: usize = 1_000;

const VALUES: &str = "values decide which objects a chart contains, and the chart is not rendered";

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
    for (place, file, object) in state
        .objects()
        .filter(|(place, ..)| state.chart_of(place).is_none())
    {
        let Some(spec) = object.at(&["spec"]) else {
            continue;
        };
        let (is_application, is_set) = (
            object.is(kinds::APPLICATION),
            object.is(kinds::APPLICATION_SET),
        );
        if is_application {
            ArgoObject {
                finder,
                place,
                file,
                object,
            }
            .application(spec);
        } else if is_set {
            let mut set = ArgoObject {
                finder,
                place,
                file,
                object,
            };
            // The generators of an evaluated set are known.
            if !state.is_evaluated(place) {
                set.generators(spec);
            }
            if let Some(spec) = spec.at(&["template", "spec"]) {
                set.application(spec);
            }
        }
    }
}

struct ArgoObject<'f, 's, 'o> {
    finder: &'f mut Finder<'s>,
    place: &'s str,
    file: &'s ParsedFile,
    object: &'o Object,
}

impl ArgoObject<'_, '_, '_> {
    fn input(
        &self,
        what: UnreadWhat,
        name: &str,
        reason: impl Into<Cow<'static, str>>,
    ) -> FoundInput {
        FoundInput::new(
            what,
            format!("{name} of {}", shown_key(self.object)),
            reason,
        )
        .identified(format!("{name} of {}", written_key(self.object)))
    }

    fn add(&mut self, value: Value<'_>, input: FoundInput) {
        self.finder.add(self.place, self.file, value.span(), input);
    }

    /// Adds the sources of an Application and its cluster.
    fn application(&mut self, spec: Value<'_>) {
        self.finder.inputs.present.insert(written_key(self.object));
        let several = spec.get("sources").into_iter().flat_map(Value::items);
        for (at, source) in several.chain(spec.get("source")).enumerate() {
            self.source(source, at);
        }
        if let Some(hydrator) = spec.get("sourceHydrator") {
            let reason = "the contents of another branch are not read";
            let input = self.input(UnreadWhat::OtherRepository, "hydrated source", reason);
            let input = input.part(canonical_text(self.file, Some(hydrator)));
            self.add(hydrator, input);
        }
        if let Some(destination) = spec.get("destination") {
            let [server, name] = ["server", "name"].map(|key| text_at(destination, &[key]));
            let cluster = if server == OWN_SERVER || name == OWN_NAME {
                OWN_NAME.to_owned()
            } else {
                format!("{server} {name}")
            };
            let reason = "objects of another cluster are not compared with those of this one";
            let input = self
                .input(UnreadWhat::OtherRepository, "cluster", reason)
                .part(cluster)
                .only_changes();
            self.add(destination, input);
        }
    }

    fn source(&mut self, source: Value<'_>, at: usize) {
        let [chart, path, revision, address] =
            ["chart", "path", "targetRevision", "repoURL"].map(|key| text_at(source, &[key]));
        let folder = resolve("", path.trim_start_matches('/'));
        let is_here = !path.is_empty()
            && (self.finder.state.has_folder(&folder) || self.is_generated_here(path, address));
        let input = match (chart, is_here) {
            ("", true) => {
                let reason = "it is another revision or repository, which is not read";
                let input = self.input(UnreadWhat::OtherRepository, "source", reason);
                input
                    .part(format!("{address} {revision}"))
                    .within(written_key(self.object))
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
                let input = self.input(UnreadWhat::OtherRepository, "source", reason);
                input
                    .part(format!("{repository} {path}"))
                    .saying(revision)
                    .in_version(revision)
            }
            (chart, _) => FoundInput::new(
                UnreadWhat::Chart,
                format!("chart {chart}"),
                "the chart is not rendered",
            )
            .identified(format!("chart of {}", written_key(self.object)))
            .part(format!("{address} {chart}"))
            .in_version(revision),
        };
        let input = input.numbered(at);
        let within = input.identity.clone();
        self.add(source, input);
        if let Some(helm) = source.get("helm") {
            let mut values = canonical_text(self.file, Some(helm));
            for written in helm
                .get("valueFiles")
                .into_iter()
                .flat_map(Value::items)
                .filter_map(Value::as_str)
            {
                let place = match written
                    .strip_prefix('$')
                    .and_then(|rest| rest.split_once('/'))
                {
                    Some((_, path)) => resolve("", path),
                    None => resolve(&folder, written),
                };
                values.push_str(&self.finder.state.digest(&place));
            }
            let parts = ["releaseName", "namespace"]
                .map(|key| text_at(helm, &[key]))
                .join(" ");
            let input = self
                .input(UnreadWhat::Values, "values", VALUES)
                .numbered(at)
                .saying(values)
                .part(parts);
            self.add(helm, input.within(&within));
        }
        if let Some(plugin) = source.get("plugin") {
            let input = self
                .input(UnreadWhat::Plugin, "plugin", "plugins are not run")
                .numbered(at)
                .part(canonical_text(self.file, Some(plugin)))
                .parts(is_here.then(|| self.finder.state.digest_below(&folder)))
                .within(&within)
                .taking_away();
            self.add(plugin, input);
        }
        if let Some(jsonnet) = source.at(&["directory", "jsonnet"]) {
            let input = self
                .input(UnreadWhat::Jsonnet, "program", "Jsonnet is not evaluated")
                .numbered(at)
                .part(canonical_text(self.file, Some(jsonnet)))
                .within(&within);
            self.add(jsonnet, input);
        }
        let is_evaluated = self.finder.state.is_evaluated(self.place);
        if let Some(kustomize) = source.get("kustomize").filter(|_| !is_evaluated) {
            self.kustomize(kustomize, &folder);
        }
    }

    /// Whether a path with parameters leads into this tree: its set is evaluated, so the repositories of its git
    /// generators are this tree, and one of them is `repository`.
    fn is_generated_here(&self, path: &str, repository: &str) -> bool {
        let generators = self.object.at(&["spec", "generators"]);
        path.contains("{{")
            && self.finder.state.is_evaluated(self.place)
            && generators
                .and_then(leaves)
                .unwrap_or_default()
                .iter()
                .any(|(path, value)| {
                    path.ends_with("git.repoURL") && value.as_str() == Some(repository)
                })
    }

    fn kustomize(&mut self, kustomize: Value<'_>, folder: &str) {
        for entry in kustomize
            .entries()
            .filter(|entry| !EVALUATED.contains(&entry.key) && !COSMETIC.contains(&entry.key))
        {
            let reason = "it may change which objects are built, and it is not evaluated";
            let input = self
                .input(UnreadWhat::Transformer, entry.key, reason)
                .part(canonical_text(self.file, Some(entry.value)));
            let input = input.taking_away().within(written_key(self.object));
            self.finder
                .add(self.place, self.file, entry.key_span, input);
            for written in entry
                .value
                .items()
                .filter(|_| entry.key == "components")
                .filter_map(Value::as_str)
            {
                component(
                    self.finder,
                    self.place,
                    self.file,
                    entry.value,
                    &resolve(folder, written),
                );
            }
        }
        let (place, file) = (self.place, self.file);
        let patched = Patched {
            place,
            file,
            folder: None,
            owner: shown_key(self.object),
            within: written_key(self.object),
        };
        patches::find(self.finder, &patched, kustomize);
    }

    /// Adds the inputs that decide which Applications a set generates.
    fn generators(&mut self, spec: Value<'_>) {
        let template = spec.get("template");
        let named = ["name", "namespace"]
            .map(|key| template.map_or("", |template| text_at(template, &["metadata", key])));
        let mut input = self
            .input(
                UnreadWhat::Generator,
                "generators",
                "its Applications depend on inputs outside of the tree",
            )
            .part(named.join("/"))
            .part(canonical_text(self.file, spec.get("templatePatch")));
        let generators = spec.get("generators");
        input = input.saying(canonical_text(self.file, generators));
        // Removing an element removes its Application; changing a version in it removes nothing.
        match generators.map(leaves) {
            Some(Some(leaves)) => {
                let steady = leaves.into_iter().filter(|(path, _)| !is_version(path));
                input =
                    input.parts(steady.map(|(path, value)| format!("{path}={}", scalar(value))));
            }
            Some(None) => input = input.part(canonical_text(self.file, generators)),
            None => {}
        }
        let span = generators.map_or(self.object.name_span(), Value::span);
        self.finder.add(self.place, self.file, span, input);
        for (kind, pattern) in git_patterns(generators) {
            self.matches(kind, pattern, span);
        }
        let template = template.and_then(|template| template.get("spec"));
        let sources = template
            .into_iter()
            .flat_map(|template| template.items_at("sources").chain(template.get("source")));
        let paths = sources.map(|source| text_at(source, &["path"]));
        for pattern in paths.filter(|path| path.contains("{{")).map(pattern_of) {
            // A parameter alone names no folder.
            if pattern.contains(|c: char| c != '*' && c != '/') {
                self.matches(GitPattern::Directory, &pattern, span);
            }
        }
    }

    /// Adds the files or folders that a pattern of a set matches, once for all sets.
    fn matches(&mut self, kind: GitPattern, pattern: &str, span: Span) {
        let state = self.finder.state;
        let (name, reason) = match kind {
            GitPattern::File => (
                format!("files {pattern}"),
                "an ApplicationSet generates Applications from them",
            ),
            GitPattern::Directory => (
                format!("folders {pattern}"),
                "an ApplicationSet generates Applications from them",
            ),
        };
        if !self.finder.is_first(&name) {
            return;
        }
        self.finder.patterns += 1;
        if self.finder.patterns > MOST_PATTERNS {
            let reason = "ApplicationSets have too many patterns";
            let input = FoundInput::new(UnreadWhat::Limit, "patterns of ApplicationSets", reason)
                .taking_away();
            if self.finder.patterns == MOST_PATTERNS + 1 {
                // Any folder may match a pattern beyond the limit.
                self.finder.add(
                    self.place,
                    self.file,
                    span,
                    input.parts(contents(state, "")),
                );
            }
            return;
        }
        let mut input = FoundInput::new(UnreadWhat::Generator, name, reason).only_changes();
        match kind {
            GitPattern::File => {
                for place in matching(state.paths(), pattern, false) {
                    input.text.push_str(&state.digest(&place));
                    input = input.part(format!("file {place}"));
                }
            }
            GitPattern::Directory => {
                for folder in matching(state.folders(), pattern, true) {
                    if !state.has_kustomization(&folder) {
                        input = input.parts(contents(state, &folder));
                    }
                    input = input.part(format!("folder {folder}"));
                }
            }
        }
        self.finder.add(self.place, self.file, span, input);
    }
}

#[derive(Clone, Copy)]
enum GitPattern {
    Directory,
    File,
}

/// Returns the patterns of git generators, at any depth.
fn git_patterns(generators: Option<Value<'_>>) -> Vec<(GitPattern, &str)> {
    let mut found = Vec::new();
    for (path, value) in generators.and_then(leaves).unwrap_or_default() {
        let kind = match path.rsplit('.').take(3).collect::<Vec<_>>().as_slice() {
            ["path", "directories", "git"] => GitPattern::Directory,
            ["path", "files", "git"] => GitPattern::File,
            _ => continue,
        };
        found.extend(value.as_str().map(|pattern| (kind, pattern)));
    }
    found
}

/// Converts a path with parameters to a pattern: `apps/{{name}}` becomes `apps/*`.
fn pattern_of(path: &str) -> String {
    let mut pattern = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once("{{") {
        pattern.push_str(before);
        pattern.push('*');
        rest = after.split_once("}}").map_or("", |(_, after)| after);
    }
    pattern + rest
}

fn matching<'p>(
    paths: impl Iterator<Item = &'p str>,
    pattern: &str,
    within_folders: bool,
) -> Vec<String> {
    let pattern = pattern.trim_start_matches("./").trim_matches('/');
    let glob = GlobBuilder::new(pattern)
        .literal_separator(within_folders)
        .build();
    let Ok(matcher) = glob.map(|glob| glob.compile_matcher()) else {
        return Vec::new();
    };
    paths
        .filter(|path| matcher.is_match(path))
        .map(str::to_owned)
        .collect()
}
