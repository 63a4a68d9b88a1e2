//! Objects of Flux: sources, and Kustomizations with their variables, components and patches.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use super::canonical::scalar;
use super::holder::Holder;
use super::input::{ELSEWHERE, Finder, FoundInput, OTHER_CLUSTER};
use super::report::UnreadWhat;
use super::state::{shown_key, text_at};
use super::texts::values_of;
use crate::graph::flux::COSMETIC;
use crate::kube::kinds;
use crate::kustomize::resolve;
use crate::manifest::Object;
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
    for holder in Holder::all(state) {
        let object = holder.object;
        if object.group() == "source.toolkit.fluxcd.io" && object.kind() != "HelmChart" {
            // Skipped if its charts were rendered and compared, or if the HelmRelease explains why they were not.
            let is_skipped = state.charted(holder.place).is_some()
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
                source(finder, holder);
            }
        } else if object.kind() == "FluxInstance" {
            let key = shown_key(object);
            let input = FoundInput::new(UnreadWhat::Remote, key, "Flux is installed from it")
                .with_identity(holder.key())
                .in_version(text_at(holder.spec, &["distribution", "version"]))
                .with_text(holder.text(holder.spec.get("distribution")))
                .part(holder.fields(&["sync", "kustomize", "components"]));
            holder.add(finder, object.name_span(), input);
        } else if object.is(kinds::FLUX_KUSTOMIZATION) {
            kustomization(finder, holder, variables);
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

fn source(finder: &mut Finder<'_>, holder: Holder<'_>) {
    let reference = holder.spec.get("ref");
    let version = ["tag", "semver", "commit", "name", "digest", "branch"]
        .iter()
        .find_map(|key| reference?.text_at(&[key]))
        .unwrap_or_default();
    let rest = holder
        .spec
        .entries()
        .filter(|entry| !FETCHING.contains(&entry.key));
    let input = FoundInput::new(UnreadWhat::Remote, shown_key(holder.object), ELSEWHERE)
        .with_identity(holder.key())
        .in_version(without_credentials(version))
        .with_text(holder.text(reference))
        .parts(rest.map(|entry| format!("{} {}", entry.key, holder.text(Some(entry.value)))))
        // A source that only one state has is an added or removed object, which is compared anyway.
        .only_changes();
    holder.add(finder, holder.object.name_span(), input);
}

fn kustomization(finder: &mut Finder<'_>, holder: Holder<'_>, variables: &BTreeSet<String>) {
    finder.inputs.present.insert(holder.key());
    // The source that it builds from, and the cluster that it applies to.
    let other_source = "the contents of another source are not read";
    for (key, name, reason) in [
        ("sourceRef", "source", other_source),
        ("kubeConfig", "cluster", OTHER_CLUSTER),
    ] {
        if let Some(value) = holder.spec.get(key) {
            let input = holder
                .input(UnreadWhat::OtherRepository, name, reason)
                .part(holder.text(Some(value)))
                .may_remove()
                .within(holder.key());
            holder.add(finder, value.span(), input);
        }
    }
    add_variables(finder, holder, variables);
    let path = text_at(holder.spec, &["path"]);
    let folder = resolve("", path.trim_start_matches('/'));
    for entry in holder.spec.items_at("components") {
        if let Some(written) = entry.as_str() {
            let name = format!("component {written}");
            let reason = "components of a Flux Kustomization are not built";
            let input = holder.input(UnreadWhat::Transformer, &name, reason);
            holder.add(finder, entry.span(), input.built());
            holder.add_component(finder, entry.span(), &resolve(&folder, written));
        }
    }
    let reason = "ownerlint does not know the field";
    holder.add_unknown(finder, holder.spec, &[&EVALUATED, &COSMETIC], reason);
    holder.add_patches(finder, holder.spec);
}

/// Adds the variables that are used in names, namespaces or folders of the tree.
fn add_variables(finder: &mut Finder<'_>, holder: Holder<'_>, used: &BTreeSet<String>) {
    let state = finder.state;
    let reason = "the variable is part of a name, a namespace or a folder, and it is not filled in";
    let substitute = holder
        .spec
        .at(&["postBuild", "substitute"])
        .into_iter()
        .flat_map(Value::entries);
    for entry in substitute.filter(|entry| used.contains(entry.key)) {
        let input = holder
            .input(
                UnreadWhat::Variable,
                &format!("variable {}", entry.key),
                reason,
            )
            .part(scalar(entry.value))
            .may_remove()
            .within(holder.key())
            .built();
        holder.add(finder, entry.value.span(), input);
    }
    if used.is_empty() {
        return;
    }
    let sources = holder.spec.at(&["postBuild", "substituteFrom"]);
    for from in sources.into_iter().flat_map(Value::items) {
        let [kind, name] = ["kind", "name"].map(|key| text_at(from, &[key]));
        let input = holder
            .input(
                UnreadWhat::Variable,
                &format!("variables from {kind} {name}"),
                reason,
            )
            .may_remove()
            .within(holder.key())
            .built();
        holder.add(finder, from.span(), input);
        let identity = format!("variables in {name}");
        if !finder.is_first(&identity) {
            continue;
        }
        for data in state.data(name) {
            let values: BTreeSet<String> = values_of(data.value, used).into_iter().collect();
            let what = if values.iter().any(|value| value.contains("ENC[")) {
                UnreadWhat::Encrypted
            } else if state.is_evaluated(holder.place) {
                continue;
            } else {
                UnreadWhat::Variable
            };
            let input = FoundInput::new(what, identity.clone(), reason)
                .parts(values)
                .may_remove();
            finder.add(data.place, data.file, data.value.span(), input);
        }
    }
}
