//! The content of one kustomization, as far as it decides which objects are applied under which names.

use crate::kube::{ApiVersion, ObjectKey};
use crate::manifest::ParsedFile;
use crate::text::SourceFile;
use crate::yaml::Value;

/// A kustomization, or what a delivery object adds to one. Fields that change no identity are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct KustomizationFile {
    /// Files and folders under `resources` and `bases`, as written.
    pub resources: Vec<String>,
    /// Folders under `components`, as written.
    pub components: Vec<String>,
    /// The namespace of all namespaced objects, and the name of all Namespaces.
    pub namespace: Option<String>,
    /// The namespace of namespaced objects that have none, which an Application gives them.
    pub fallback_namespace: Option<String>,
    /// The prefix of names.
    pub prefix: String,
    /// The suffix of names.
    pub suffix: String,
    /// The objects that its patches delete.
    pub deletes: Vec<Selector>,
}

/// The objects that a patch is about. An omitted field matches any.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Selector {
    /// The group.
    pub group: Option<String>,
    /// The kind.
    pub kind: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The namespace.
    pub namespace: Option<String>,
}

impl Selector {
    /// Whether the patch is about the object of `key`.
    pub(super) fn selects(&self, key: &ObjectKey) -> bool {
        let is = |wanted: &Option<String>, actual: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == actual)
        };
        let namespace = key.namespace.name().unwrap_or_default();
        is(&self.group, key.group())
            && is(&self.kind, key.kind())
            && is(&self.name, &key.name)
            && is(&self.namespace, namespace)
    }
}

impl KustomizationFile {
    /// Reads a kustomization. `patch_file` finds the file of a patch by its path as written.
    pub(super) fn read<'f>(
        value: Value<'_>,
        patch_file: impl Fn(&str) -> Option<&'f ParsedFile>,
    ) -> Self {
        let mut deletes = Vec::new();
        for patch in items(value, &["patchesStrategicMerge", "patches"]) {
            deletes.extend(deleted_by(patch, &patch_file));
        }
        Self {
            resources: items(value, &["resources", "bases"])
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            components: items(value, &["components"])
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            namespace: text(value, "namespace"),
            fallback_namespace: None,
            prefix: text(value, "namePrefix").unwrap_or_default(),
            suffix: text(value, "nameSuffix").unwrap_or_default(),
            deletes,
        }
    }

    /// The effect of a Flux Kustomization on its build, from its `spec`. Its patches are inline.
    pub(super) fn of_flux(spec: Value<'_>) -> Self {
        let patches = items(spec, &["patchesStrategicMerge", "patches"]);
        Self {
            namespace: text(spec, "targetNamespace"),
            prefix: text(spec, "namePrefix").unwrap_or_default(),
            suffix: text(spec, "nameSuffix").unwrap_or_default(),
            deletes: patches
                .flat_map(|patch| deleted_by(patch, &|_| None))
                .collect(),
            ..Self::default()
        }
    }

    /// Whether some object leaves it with another name or namespace, or not at all.
    pub(super) fn changes_identities(&self) -> bool {
        let namespaces = self.namespace.is_some() || self.fallback_namespace.is_some();
        namespaces || !self.prefix.is_empty() || !self.suffix.is_empty() || !self.deletes.is_empty()
    }
}

fn text(value: Value<'_>, key: &str) -> Option<String> {
    value
        .get(key)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
}

fn items<'v>(value: Value<'v>, keys: &'v [&str]) -> impl Iterator<Item = Value<'v>> {
    keys.iter()
        .filter_map(move |key| value.get(key))
        .flat_map(Value::items)
}

/// The objects that an entry of `patches` or `patchesStrategicMerge` deletes. It is a path, inline text, a mapping that
/// is the patch itself, or one with `path` or `patch` and perhaps a `target`.
fn deleted_by<'f>(
    entry: Value<'_>,
    patch_file: &impl Fn(&str) -> Option<&'f ParsedFile>,
) -> Vec<Selector> {
    let target = entry.get("target").map(PatchTarget::read);
    let named = entry
        .as_str()
        .or_else(|| entry.get("path").and_then(Value::as_str))
        .and_then(patch_file);
    let deleted_in = |file: &ParsedFile| {
        let trees = file
            .documents()
            .iter()
            .filter_map(|document| document.tree());
        trees
            .filter_map(|tree| deleted(tree.root(), target.as_ref()))
            .collect()
    };
    if let Some(file) = named {
        return deleted_in(file);
    }
    match entry
        .as_str()
        .or_else(|| entry.get("patch").and_then(Value::as_str))
    {
        // A key may be written with escapes.
        Some(inline) if inline.contains("$patch") || inline.contains('\\') => {
            deleted_in(&ParsedFile::parse(SourceFile::new("", inline)))
        }
        Some(_) => Vec::new(),
        None => deleted(entry, target.as_ref()).into_iter().collect(),
    }
}

/// The objects that a patch with `$patch: delete` is about: those of its target, else the one that it names.
fn deleted(patch: Value<'_>, target: Option<&PatchTarget>) -> Option<Selector> {
    if patch.get("$patch").and_then(Value::as_str) != Some("delete") {
        return None;
    }
    match target {
        Some(PatchTarget::Named(selector)) => Some(selector.clone()),
        Some(PatchTarget::Unknown) => None,
        None => named_by(patch),
    }
}

fn named_by(patch: Value<'_>) -> Option<Selector> {
    let metadata = patch.get("metadata")?;
    let group = text(patch, "apiVersion").map(|version| ApiVersion::parse(&version).group);
    let (kind, name) = (text(patch, "kind")?, text(metadata, "name")?);
    Some(Selector {
        group,
        kind: Some(kind),
        name: Some(name),
        namespace: text(metadata, "namespace"),
    })
}

/// The `target` of a patch.
enum PatchTarget {
    Named(Selector),
    /// By labels, annotations or a pattern: names do not say which objects these are.
    Unknown,
}

impl PatchTarget {
    fn read(target: Value<'_>) -> Self {
        const PATTERN: [char; 9] = ['*', '|', '[', '(', '^', '$', '+', '?', '\\'];
        let [group, kind, name, namespace] =
            ["group", "kind", "name", "namespace"].map(|key| text(target, key));
        let texts = [&kind, &name, &namespace];
        let unknown = ["labelSelector", "annotationSelector"]
            .iter()
            .any(|key| target.get(key).is_some())
            || texts
                .into_iter()
                .flatten()
                .any(|text| text.contains(PATTERN));
        if unknown {
            Self::Unknown
        } else {
            Self::Named(Selector {
                group,
                kind,
                name,
                namespace,
            })
        }
    }
}
