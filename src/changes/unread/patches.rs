//! Patches that may change which objects are applied, or how they are delivered, and that are not evaluated.

use super::input::{Finder, FoundInput};
use super::report::UnreadWhat;
use super::state::{canonical_text, items, path_of, roots, text_at};
use crate::kustomize::resolve;
use crate::manifest::ParsedFile;
use crate::text::SourceFile;
use crate::yaml::Value;

const REASON: &str = "the patch may change which objects are applied, and it is not evaluated";

/// The kinds of delivery objects and of their sources.
const DELIVERING: [&str; 11] = [
    "Kustomization",
    "HelmRelease",
    "HelmChart",
    "HelmRepository",
    "GitRepository",
    "OCIRepository",
    "Bucket",
    "FluxInstance",
    "Application",
    "ApplicationSet",
    "HelmChartConfig",
];

/// Prefixes of annotations by which tools leave objects out or delete them.
const DECIDING: [&str; 4] = [
    "config.kubernetes.io/local-config",
    "kustomize.toolkit.fluxcd.io/",
    "argocd.argoproj.io/",
    "helm.sh/",
];

/// The kustomization or object that contains patches.
pub(super) struct Patched<'s> {
    pub(super) place: &'s str,
    pub(super) file: &'s ParsedFile,
    /// The folder from which paths are looked up; `None` where patches are inline.
    pub(super) folder: Option<&'s str>,
    /// The name of the owner in messages.
    pub(super) owner: String,
    /// The identity of the kustomization or object that contains them.
    pub(super) within: String,
}

/// Adds the patches of `value`: a kustomization, or the fields that a delivery object adds to one.
pub(super) fn find(finder: &mut Finder<'_>, of: &Patched<'_>, value: Value<'_>) {
    let lists = &["patches", "patchesStrategicMerge", "patchesJson6902"];
    for entry in items(value, lists) {
        let target = entry.get("target");
        let place = path_of(entry)
            .zip(of.folder)
            .map(|(written, folder)| resolve(folder, written));
        let patch_file = place.as_ref().and_then(|place| finder.state.file(place));
        let deciding = match (patch_file, &place) {
            (Some(file), _) => deciding_documents(file, entry, target),
            // The path, or a folder above it, is a file, link or submodule, and nothing there is parsed as a manifest.
            (None, Some(place)) if finder.state.leads_elsewhere(place) => finder
                .state
                .content(place)
                .map(str::to_owned)
                .into_iter()
                .collect(),
            (None, _) => match inline(entry) {
                Some(file) => deciding_documents(&file, entry, target),
                None if decides(entry, entry, target) => vec![canonical_text(of.file, Some(entry))],
                None => Vec::new(),
            },
        };
        if deciding.is_empty() {
            continue;
        }
        let about = canonical_text(of.file, target);
        let takes_away = deciding.iter().any(|text| {
            text.contains("$patch") || text.contains("/metadata/") || !text.contains("spec")
        });
        let name = format!("patch of {}", of.owner);
        let identity = format!("{name} {about} {}", place.unwrap_or_default());
        let input = FoundInput::new(UnreadWhat::Transformer, name, REASON)
            .with_identity(identity)
            .parts(deciding)
            .within(&of.within)
            .built();
        let input = if takes_away {
            input.may_remove()
        } else {
            input
        };
        finder.add(of.place, of.file, entry.span(), input);
    }
}

/// Returns, as text, the documents of a patch for which [`decides`] holds; all if none can be read.
fn deciding_documents(
    file: &ParsedFile,
    entry: Value<'_>,
    target: Option<Value<'_>>,
) -> Vec<String> {
    if roots(file).next().is_none() {
        return vec![file.source().text().to_owned()];
    }
    roots(file)
        .filter(|root| decides(*root, entry, target))
        .map(|root| canonical_text(file, Some(root)))
        .collect()
}

/// Parses a patch that is written in the entry itself.
fn inline(entry: Value<'_>) -> Option<ParsedFile> {
    let text = entry.as_str().or_else(|| entry.str_at(&["patch"]))?;
    Some(ParsedFile::parse(SourceFile::new("", text)))
}

fn decides(patch: Value<'_>, entry: Value<'_>, target: Option<Value<'_>>) -> bool {
    let kind = text_at(target.unwrap_or(patch), &["kind"]);
    let delivers = kind.is_empty() || is_pattern(kind) || DELIVERING.contains(&kind);
    if patch.is_seq() {
        return patch.items().any(|operation| {
            let paths = ["path", "from"].map(|key| text_at(operation, &[key]));
            paths
                .iter()
                .any(|path| is_identity(path) || path.starts_with("/spec") && delivers)
                || is_whole(operation)
        });
    }
    let annotations = patch
        .at(&["metadata", "annotations"])
        .into_iter()
        .flat_map(Value::entries);
    let mut annotations = annotations.map(|entry| entry.key);
    let has_directive = patch
        .get("$patch")
        .is_some_and(|patch| patch.as_str() != Some("delete") || !is_evaluated(target));
    has_directive
        || ["allowNameChange", "allowKindChange"]
            .into_iter()
            .any(|option| entry.is_true_at(&["options", option]))
        || annotations.any(|key| DECIDING.iter().any(|beginning| key.starts_with(beginning)))
        || (delivers && patch.get("spec").is_some())
}

/// Whether an operation replaces or removes a whole object.
fn is_whole(operation: Value<'_>) -> bool {
    operation.get("op").is_some() && text_at(operation, &["path"]).trim_matches('/').is_empty()
}

/// Whether a JSON pointer refers to a part of the identity or to an annotation in `DECIDING`.
fn is_identity(pointer: &str) -> bool {
    let parts: Vec<String> = pointer
        .split('/')
        .skip(1)
        .map(|part| part.replace("~1", "/").replace("~0", "~"))
        .collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    match parts.as_slice() {
        ["apiVersion" | "kind" | "metadata"]
        | ["metadata", "name" | "namespace" | "annotations"] => true,
        ["metadata", "annotations", key] => {
            DECIDING.iter().any(|beginning| key.starts_with(beginning))
        }
        _ => false,
    }
}

/// Whether the target of a patch that deletes is evaluated: it has no selector and no pattern.
fn is_evaluated(target: Option<Value<'_>>) -> bool {
    target.is_none_or(|target| {
        let texts =
            ["group", "version", "kind", "name", "namespace"].map(|key| text_at(target, &[key]));
        let selects = ["labelSelector", "annotationSelector"]
            .iter()
            .any(|key| target.get(key).is_some());
        !selects && !texts.into_iter().any(is_pattern)
    })
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '|', '[', '(', '^', '$', '+', '?', '\\'])
}
