//! Kustomizations: external inputs, generators, and transformations that are not evaluated.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::canonical::{canonical, stable};
use super::input::{ELSEWHERE, Finder, FoundInput};
use super::patches::{self, Patched};
use super::report::UnreadWhat;
use super::state::{canonical_text, contents, items, objects, path_of, text_at};
use crate::graph::kustomize::is_kustomization_field;
use crate::kustomize::{folder_of, is_remote, resolve};
use crate::manifest::{KUSTOMIZATIONS, ParsedFile, is_kustomization};
use crate::text::{Span, without_credentials};
use crate::yaml::Value;

/// Fields that are evaluated, or that affect neither the set of objects nor their identities.
const EVALUATED: [&str; 26] = [
    "apiVersion",
    "kind",
    "metadata",
    "resources",
    "bases",
    "components",
    "namespace",
    "namePrefix",
    "nameSuffix",
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "images",
    "imageTags",
    "replicas",
    "labels",
    "commonLabels",
    "commonAnnotations",
    "buildMetadata",
    "sortOptions",
    "generatorOptions",
    "configMapGenerator",
    "secretGenerator",
    "openapi",
    "crds",
    "helmGlobals",
];

const CHARTS: [&str; 2] = ["helmCharts", "helmChartInflationGenerator"];

/// Fields outside of [`EVALUATED`] whose entries are files and folders.
const NAMING: [&str; 5] = [
    "transformers",
    "generators",
    "validators",
    "configurations",
    "replacements",
];

pub(super) fn find(finder: &mut Finder<'_>) {
    let state = finder.state;
    let read: BTreeSet<&str> = state.kustomizations().map(|(place, ..)| place).collect();
    for (place, file) in state
        .files()
        .filter(|(place, _)| is_kustomization(place) && !read.contains(place))
    {
        let reason = "the kustomization cannot be read, so that nothing is built";
        let name = format!("kustomization {place}");
        let input = FoundInput::new(UnreadWhat::Unparsable, name, reason).may_remove();
        let span = file
            .skipped()
            .first()
            .map_or(Span::empty(0), |(_, skip)| skip.span);
        finder.add(place, file, span, input.part(file.source().text()));
    }
    for folder in state.unfollowed() {
        let reason = "too many kustomizations include each other";
        let name = format!("kustomization in {folder}/");
        let input = FoundInput::new(UnreadWhat::Limit, name, reason)
            .may_remove()
            // Its build may reach any object of the tree.
            .parts(contents(state, ""));
        let places = KUSTOMIZATIONS.map(|name| resolve(folder, name));
        let place = places
            .into_iter()
            .find(|place| state.path(place).is_some())
            .unwrap_or_default();
        finder.add_at(&place, state.path(&place).unwrap_or(folder), 1, input);
    }
    for (place, file, root) in state.kustomizations() {
        finder.inputs.present.insert(place.to_owned());
        let mut one = KustomizationInputs {
            finder,
            place,
            folder: folder_of(place),
            file,
            root,
        };
        one.sources();
        one.generators();
        one.charts();
        one.others();
        let patched = Patched {
            place,
            file,
            folder: Some(folder_of(place)),
            owner: place.to_owned(),
            within: place.to_owned(),
        };
        patches::find(finder, &patched, root);
    }
}

struct KustomizationInputs<'f, 's> {
    finder: &'f mut Finder<'s>,
    place: &'s str,
    folder: &'s str,
    file: &'s ParsedFile,
    root: Value<'s>,
}

impl KustomizationInputs<'_, '_> {
    fn add(&mut self, span: Span, input: FoundInput) {
        self.finder.add(self.place, self.file, span, input);
    }

    /// Adds entries of `resources` and `components` that are not in the tree.
    fn sources(&mut self) {
        for entry in items(self.root, &["resources", "bases", "components"]) {
            let Some(written) = entry.as_str() else {
                continue;
            };
            let path = resolve(self.folder, written);
            let state = self.finder.state;
            if state.file(&path).is_some() || state.has_folder(&path) {
                continue;
            }
            let name = format!("resource {path}");
            let input = if is_remote(written) {
                remote(written)
            } else if state.has(&path) {
                let reason = "its name does not end in .yaml, .yml or .json";
                FoundInput::new(UnreadWhat::Unparsable, name, reason)
                    .part(state.content(&path).unwrap_or_default())
            } else if state.leads_elsewhere(&path) || path.starts_with("..") {
                let reason =
                    "it is behind a link, in a submodule, or outside of the compared folder";
                FoundInput::new(UnreadWhat::OtherRepository, name, reason)
            } else {
                let reason = "the file does not exist, so that nothing is built";
                FoundInput::new(UnreadWhat::Missing, name, reason)
                    .may_remove()
                    .within(self.place)
            };
            let identity = format!("{} {}", self.place, input.identity);
            self.add(entry.span(), input.with_identity(identity));
        }
    }

    /// Adds the generators of ConfigMaps and Secrets without their content, which changes only the
    /// hash.
    fn generators(&mut self) {
        let options = self.root.get("generatorOptions");
        let names = ["namespace", "namePrefix", "nameSuffix"]
            .map(|key| text_at(self.root, &[key]))
            .join("/");
        for (key, kind) in [
            ("configMapGenerator", "ConfigMap"),
            ("secretGenerator", "Secret"),
        ] {
            for entry in self.root.items_at(key) {
                let name = text_at(entry, &["name"]);
                let fixed = [entry.get("options"), options]
                    .into_iter()
                    .flatten()
                    .find_map(|options| options.get("disableNameSuffixHash")?.as_bool())
                    .unwrap_or_default();
                let shown = format!("generated {kind} {name}");
                let reason =
                    "kustomize generates it, and nothing that ownerlint follows builds this folder";
                let input = FoundInput::new(UnreadWhat::Generator, shown, reason)
                    .with_identity(format!("{} {kind} {name}", self.place))
                    .part(format!("namespace {}", text_at(entry, &["namespace"])))
                    .part(format!("behavior {}", text_at(entry, &["behavior"])))
                    .part(names.clone())
                    .part(format!("fixed {fixed}"))
                    .built();
                self.add(entry.span(), input);
            }
        }
    }

    fn charts(&mut self) {
        for entry in items(self.root, &CHARTS) {
            let either = |keys: [&str; 2]| keys.map(|key| text_at(entry, &[key])).concat();
            let name = either(["name", "chartName"]);
            let version = either(["version", "chartVersion"]);
            let repository = either(["repo", "chartRepo"]);
            let release = text_at(entry, &["releaseName"]);
            let fields = entry
                .entries()
                .filter(|field| !["version", "chartVersion"].contains(&field.key));
            let fields: Vec<String> = fields
                .map(|field| {
                    let text = canonical_text(self.file, Some(field.value));
                    format!("{} {text}", field.key)
                })
                .collect();
            let files = entry.get("valuesFile").into_iter();
            let files = files.chain(entry.items_at("additionalValuesFiles"));
            let values: Vec<String> = files
                .filter_map(Value::as_str)
                .map(|path| self.finder.state.digest(&resolve(self.folder, path)))
                .collect();
            let text = format!("{}\n{}", fields.join("\n"), values.join("\n"));
            let identity = format!("{} chart {name} {release}", self.place);
            let reason = "kustomize renders the chart";
            let input = FoundInput::new(UnreadWhat::Chart, format!("chart {name}"), reason)
                .with_identity(&identity)
                .in_version(version)
                .part(repository)
                .part(format!("namespace {}", text_at(entry, &["namespace"])));
            self.add(entry.span(), input);
            let name = format!("values of chart {name}");
            let reason =
                "values decide which objects a chart contains, and kustomize renders the chart";
            let input = FoundInput::new(UnreadWhat::Values, name, reason)
                .with_identity(format!("values of {identity}"))
                .with_text(text)
                .within(identity);
            self.add(entry.span(), input);
        }
    }

    /// Adds every other field, with the content of the files that it names.
    fn others(&mut self) {
        for entry in self.root.entries() {
            // A field that kustomize does not know fails the build, or Flux drops it.
            let is_known = is_kustomization_field(entry.key);
            if !is_known || EVALUATED.contains(&entry.key) || CHARTS.contains(&entry.key) {
                continue;
            }
            let mut parts = vec![canonical_text(self.file, Some(entry.value))];
            let is_list = NAMING.contains(&entry.key);
            let written = entry.value.items().filter(|_| is_list).filter_map(path_of);
            let places: BTreeSet<String> = written
                .map(|written| resolve(self.folder, written))
                .collect();
            let state = self.finder.state;
            let below = places.iter().flat_map(|place| state.paths_below(place));
            let files: BTreeSet<&str> = places.iter().map(String::as_str).chain(below).collect();
            let mut texts = Vec::new();
            for place in &files {
                texts.push(format!("{place} {}", state.digest(place)));
                match state.file(place).and_then(inflated) {
                    Some(stable) => parts.extend(stable),
                    None => parts.extend(texts.last().cloned()),
                }
            }
            let mut read = files.iter().filter_map(|place| state.text(place));
            // Replacements take their values from the resources and the data of generators.
            if entry.key == "replacements"
                && (entry.value.items().any(into_identities)
                    || read.any(|text| text.contains("metadata.")))
            {
                parts.extend(self.source_texts());
            }
            let what = if entry.key == "generators" {
                UnreadWhat::Generator
            } else {
                UnreadWhat::Transformer
            };
            let name = format!("{} of {}", entry.key, self.place);
            let reason = "the field may change which objects are built, and it is not evaluated";
            let input = FoundInput::new(what, name, reason)
                .with_text(texts.join("\n"))
                .parts(parts)
                .may_remove();
            let input = if ["transformers", "configurations"].contains(&entry.key) {
                input.built()
            } else {
                input
            };
            // Generators make objects that no file names.
            let input = if what == UnreadWhat::Generator {
                input
            } else {
                input.within(self.place)
            };
            self.add(entry.key_span, input);
        }
    }

    fn source_texts(&self) -> Vec<String> {
        let state = self.finder.state;
        let resources = self.root.items_at("resources").filter_map(Value::as_str);
        let generated = items(self.root, &["configMapGenerator", "secretGenerator"]);
        let generated: Vec<Value<'_>> = generated.collect();
        let files = generated
            .iter()
            .flat_map(|entry| items(*entry, &["files", "envs"]))
            .filter_map(Value::as_str)
            .map(|file| file.split_once('=').map_or(file, |(_, file)| file));
        let digests = resources
            .chain(files)
            .map(|path| state.digest(&resolve(self.folder, path)));
        let literals = generated.iter().filter_map(|entry| canonical(*entry));
        digests.chain(literals).collect()
    }
}

/// Returns the scalars of a file of HelmChartInflationGenerators, except versions and values; `None` for other files.
fn inflated(file: &ParsedFile) -> Option<Vec<String>> {
    if !file.has_objects() {
        return None;
    }
    let mut scalars = Vec::new();
    for object in objects(file) {
        if object.kind() != "HelmChartInflationGenerator" {
            return None;
        }
        let stable = stable(object.value())?.into_iter();
        scalars.extend(stable.filter(|scalar| !scalar.starts_with(".values")));
    }
    Some(scalars)
}

/// Whether a replacement writes into the metadata or the kind of an object.
fn into_identities(replacement: Value<'_>) -> bool {
    let paths = replacement
        .items_at("targets")
        .flat_map(|target| target.items_at("fieldPaths"));
    paths
        .filter_map(Value::as_str)
        .any(|path| path.starts_with("metadata.") || path.starts_with("kind"))
}

/// Returns the input for a source outside of the tree. Its identity is the address without the version, so another
/// version is a change of the same input.
fn remote(address: &str) -> FoundInput {
    static VERSION: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            "[?&](?:ref|version|tag)=[^&]+|v?[0-9]+(?:\\.[0-9]+)+[0-9A-Za-z.+-]*|[0-9a-f]{40}",
        )
        .ok()
    });
    let shown = without_credentials(address);
    let pattern = VERSION.as_ref();
    let name = pattern.map_or_else(
        || shown.clone(),
        |pattern| pattern.replace_all(&shown, "…").into_owned(),
    );
    let version = pattern
        .and_then(|pattern| pattern.find(&shown))
        .map_or("", |found| found.as_str());
    let version = version
        .rsplit('=')
        .next()
        .unwrap_or_default()
        .trim_end_matches(".yaml");
    let is_commit = version.len() == 40 && version.bytes().all(|byte| byte.is_ascii_hexdigit());
    let version = if is_commit { &version[..7] } else { version };
    let shown = if version.is_empty() {
        &shown
    } else {
        name.trim_end_matches('…')
    };
    FoundInput::new(UnreadWhat::Remote, format!("resource {shown}"), ELSEWHERE)
        .in_version(version)
        .with_identity(name)
        .with_text(address)
}
