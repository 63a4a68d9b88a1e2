//! Objects of Flux: sources, and Kustomizations with their variables, components and patches.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use super::canonical::scalar;
use super::input::{Finder, FoundInput, UnreadWhat};
use super::patches::{self, Patched};
use super::state::{canonical_text, contents, shown_key, text_at, written_key};
use super::texts::values_of;
use crate::graph::flux::COSMETIC;
use crate::kube::kinds;
use crate::kustomize::resolve;
use crate::manifest::{Object, ParsedFile};
use crate::text::without_credentials;
use crate::yaml::Value;

/// Fields of a Kustomization that are evaluated or are inputs of their own, besides [`COSMETIC`] ones.
const EVALUATED: [&str; 12] = [
    "components",
    "namePrefix",
    "nameSuffix",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
    "path",
    "postBuild",
    "sourceRef",
    "targetNamespace",
    "buildMetadata",
    "substituteStrategy",
];

/// Fields of a source that decide how it is fetched; `ref` is compared separately.
const FETCHING: [&str; 13] = [
    "interval",
    "timeout",
    "suspend",
    "secretRef",
    "certSecretRef",
    "proxySecretRef",
    "serviceAccountName",
    "verify",
    "insecure",
    "accessFrom",
    "passCredentials",
    "gitImplementation",
    "ref",
];

pub(super) fn find(finder: &mut Finder<'_>, variables: &BTreeSet<String>) {
    let state = finder.state;
    let artifacts = LazyCell::new(|| {
        let objects = state.objects().map(|(.., object)| object);
        let mut artifacts: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
        for (name, namespace) in objects.filter_map(artifact_of) {
            artifacts.entry(name).or_default().insert(namespace);
        }
        artifacts
    });
    for (place, file, object) in state
        .objects()
        .filter(|(place, ..)| state.chart_of(place).is_none())
    {
        let Some(spec) = object.at(&["spec"]) else {
            continue;
        };
        if object.group() == "source.toolkit.fluxcd.io" && object.kind() != "HelmChart" {
            // Skipped if its charts were rendered and compared, or if the HelmRelease explains why they were not.
            let is_skipped = state.charted(place).is_some()
                && match object.kind() {
                    "HelmRepository" => true,
                    "OCIRepository" => {
                        let name = object.name().unwrap_or_default();
                        // A kustomization may set a namespace that is not written.
                        let namespace = object.namespace();
                        !artifacts.get(&*name).is_some_and(|written| {
                            namespace.is_none()
                                || written.contains(&namespace)
                                || written.contains(&None)
                        })
                    }
                    _ => false,
                };
            if !is_skipped {
                source(finder, place, file, object, spec);
            }
        } else if object.kind() == "FluxInstance" {
            let input = FoundInput::new(
                UnreadWhat::Remote,
                shown_key(object),
                "Flux is installed from it",
            )
            .identified(written_key(object))
            .in_version(text_at(spec, &["distribution", "version"]))
            .saying(canonical_text(file, spec.get("distribution")))
            .part(
                ["sync", "kustomize", "components"]
                    .map(|key| canonical_text(file, spec.get(key)))
                    .join("\n"),
            );
            finder.add(place, file, object.name_span(), input);
        } else if object.is(kinds::FLUX_KUSTOMIZATION) {
            FluxKustomization {
                finder,
                place,
                file,
                object,
                spec,
            }
            .find(variables);
        }
    }
}

/// Returns the name and the namespace of the OCIRepository that a Kustomization takes its manifests from.
fn artifact_of(object: &Object) -> Option<(&str, Option<&str>)> {
    if !object.is(kinds::FLUX_KUSTOMIZATION) {
        return None;
    }
    let reference = object.at(&["spec", "sourceRef"])?;
    let [kind, name, namespace] = ["kind", "name", "namespace"].map(|key| reference.str_at(&[key]));
    let name = name.filter(|_| kind == Some("OCIRepository"))?;
    Some((name, namespace.or_else(|| object.namespace())))
}

fn source(
    finder: &mut Finder<'_>,
    place: &str,
    file: &ParsedFile,
    object: &Object,
    spec: Value<'_>,
) {
    let reference = spec.get("ref");
    let keys = ["tag", "semver", "commit", "name", "digest", "branch"];
    let version = keys
        .iter()
        .map(|key| reference.map_or("", |reference| text_at(reference, &[key])));
    let version = version
        .into_iter()
        .find(|version| !version.is_empty())
        .unwrap_or_default();
    let rest = spec
        .entries()
        .filter(|entry| !FETCHING.contains(&entry.key));
    let parts =
        rest.map(|entry| format!("{} {}", entry.key, canonical_text(file, Some(entry.value))));
    let input = FoundInput::new(
        UnreadWhat::Remote,
        shown_key(object),
        "it is loaded from elsewhere, and ownerlint loads nothing",
    )
    .identified(written_key(object))
    .in_version(without_credentials(version))
    .saying(canonical_text(file, reference))
    .parts(parts)
    // A source that only one state has is an added or removed object, which is compared anyway.
    .only_changes();
    finder.add(place, file, object.name_span(), input);
}

/// Adds the content of a component's folder: the keys of the objects below it.
pub(super) fn component(
    finder: &mut Finder<'_>,
    place: &str,
    file: &ParsedFile,
    entry: Value<'_>,
    folder: &str,
) {
    let name = format!("component {folder}");
    if finder.is_first(&name) {
        let reason = "components that a delivery object adds are not built";
        let keys = contents(finder.state, folder);
        finder.add(
            place,
            file,
            entry.span(),
            FoundInput::new(UnreadWhat::Transformer, name, reason)
                .parts(keys)
                .only_changes()
                .built(),
        );
    }
}

struct FluxKustomization<'f, 's, 'o> {
    finder: &'f mut Finder<'s>,
    place: &'s str,
    file: &'s ParsedFile,
    object: &'o Object,
    spec: Value<'o>,
}

impl FluxKustomization<'_, '_, '_> {
    fn find(mut self, variables: &BTreeSet<String>) {
        self.finder.inputs.present.insert(written_key(self.object));
        self.origin();
        self.variables(variables);
        self.components();
        self.others();
        let Self {
            finder,
            place,
            file,
            object,
            spec,
        } = self;
        let patched = Patched {
            place,
            file,
            folder: None,
            owner: shown_key(object),
            within: written_key(object),
        };
        patches::find(finder, &patched, spec);
    }

    fn input(&self, what: UnreadWhat, name: &str, reason: &'static str) -> FoundInput {
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

    /// Adds the source that it builds from, and the cluster that it applies to.
    fn origin(&mut self) {
        for (key, name, reason) in [
            (
                "sourceRef",
                "source",
                "the contents of another source are not read",
            ),
            (
                "kubeConfig",
                "cluster",
                "objects of another cluster are not compared with those of this one",
            ),
        ] {
            let Some(value) = self.spec.get(key) else {
                continue;
            };
            let input = self
                .input(UnreadWhat::OtherRepository, name, reason)
                .part(canonical_text(self.file, Some(value)));
            self.add(value, input.taking_away().within(written_key(self.object)));
        }
    }

    /// Adds the variables that are used in names, namespaces or folders of the tree.
    fn variables(&mut self, used: &BTreeSet<String>) {
        let reason =
            "the variable is part of a name, a namespace or a folder, and it is not filled in";
        let substitute = self
            .spec
            .at(&["postBuild", "substitute"])
            .into_iter()
            .flat_map(Value::entries);
        for entry in substitute.filter(|entry| used.contains(entry.key)) {
            let name = format!("variable {}", entry.key);
            let input = self
                .input(UnreadWhat::Variable, &name, reason)
                .part(scalar(entry.value))
                .taking_away();
            let input = input.within(written_key(self.object)).built();
            self.add(entry.value, input);
        }
        if used.is_empty() {
            return;
        }
        for from in self
            .spec
            .at(&["postBuild", "substituteFrom"])
            .into_iter()
            .flat_map(Value::items)
        {
            let name = text_at(from, &["name"]);
            let kind = text_at(from, &["kind"]);
            let input = self
                .input(
                    UnreadWhat::Variable,
                    &format!("variables from {kind} {name}"),
                    reason,
                )
                .taking_away();
            self.add(from, input.within(written_key(self.object)).built());
            let identity = format!("variables in {name}");
            if !self.finder.is_first(&identity) {
                continue;
            }
            for data in self.finder.state.data(name) {
                let values: BTreeSet<String> = values_of(data.value, used).into_iter().collect();
                let is_encrypted = values.iter().any(|value| value.contains("ENC["));
                let what = if is_encrypted {
                    UnreadWhat::Encrypted
                } else {
                    UnreadWhat::Variable
                };
                let input = FoundInput::new(what, identity.clone(), reason)
                    .parts(values)
                    .taking_away();
                let is_evaluated = self.finder.state.is_evaluated(self.place);
                if is_evaluated && what == UnreadWhat::Variable {
                    continue;
                }
                self.finder
                    .add(data.place, data.file, data.value.span(), input);
            }
        }
    }

    /// Adds the components, with the keys of the objects below their folders.
    fn components(&mut self) {
        let folder = resolve("", text_at(self.spec, &["path"]).trim_start_matches('/'));
        for entry in self
            .spec
            .get("components")
            .into_iter()
            .flat_map(Value::items)
        {
            let Some(written) = entry.as_str() else {
                continue;
            };
            let reason = "components of a Flux Kustomization are not built";
            let input = self.input(
                UnreadWhat::Transformer,
                &format!("component {written}"),
                reason,
            );
            self.add(entry, input.built());
            let (place, file) = (self.place, self.file);
            component(self.finder, place, file, entry, &resolve(&folder, written));
        }
    }

    fn others(&mut self) {
        for entry in self
            .spec
            .entries()
            .filter(|entry| !EVALUATED.contains(&entry.key) && !COSMETIC.contains(&entry.key))
        {
            let reason = "ownerlint does not know the field";
            let input = self
                .input(UnreadWhat::Transformer, entry.key, reason)
                .part(canonical_text(self.file, Some(entry.value)));
            let input = input.taking_away().within(written_key(self.object));
            self.finder
                .add(self.place, self.file, entry.key_span, input);
        }
    }
}
