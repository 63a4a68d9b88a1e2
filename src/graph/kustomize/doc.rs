//! Kustomizations as they are written.

use std::collections::BTreeSet;

use super::build::{BuildError, Outcome};
use super::memo::Watched;
use crate::graph::files::TreeFiles;
use crate::graph::node::Node;
use crate::kustomize::{is_remote, resolve, shown};
use crate::text::{near, plain};

/// The lists of included files and folders.
const LISTS: [&str; 3] = ["resources", "bases", "components"];

/// The fields that kustomize knows (kustomize api/types/kustomization.go); `inventory` until version 4.
const FIELDS: [&str; 35] = [
    "apiVersion",
    "bases",
    "buildMetadata",
    "commonAnnotations",
    "commonLabels",
    "components",
    "configMapGenerator",
    "configurations",
    "crds",
    "generatorOptions",
    "generators",
    "helmChartInflationGenerator",
    "helmCharts",
    "helmGlobals",
    "imageTags",
    "images",
    "inventory",
    "kind",
    "labels",
    "metadata",
    "namePrefix",
    "nameSuffix",
    "namespace",
    "openapi",
    "patches",
    "patchesJson6902",
    "patchesStrategicMerge",
    "replacements",
    "replicas",
    "resources",
    "secretGenerator",
    "sortOptions",
    "transformers",
    "validators",
    "vars",
];

/// Whether kustomize knows a field, ignoring case, as Go does in JSON.
pub fn is_kustomization_field(name: &str) -> bool {
    FIELDS.iter().any(|field| field.eq_ignore_ascii_case(name))
}

/// A kustomization: one that is written, or one that a tool generates.
#[derive(Clone, Debug)]
pub struct KustomizationDoc {
    /// The folder from which its paths are resolved.
    pub folder: String,
    /// Its file, or the file of the delivery object if a tool generates it.
    pub file: String,
    /// Its fields.
    pub node: Node,
}

impl KustomizationDoc {
    /// Whether it has a list of included files, even an empty one.
    pub fn lists(&self) -> bool {
        LISTS.iter().any(|list| self.node.get(list).is_some())
    }

    /// Returns why kustomize rejects one of its fields, with the value of the field.
    pub(super) fn rejected_field(&self) -> Option<(String, Node)> {
        let mut entries = self.node.entries().into_iter();
        let (name, value) = entries.find(|(name, _)| !is_kustomization_field(name))?;
        let name = plain::one_line(&name);
        let known = near::nearest(&name, FIELDS);
        let meant = known.map_or_else(String::new, |known| format!("; did you mean `{known}`?"));
        Some((format!("kustomize knows no field `{name}`{meant}"), value))
    }

    /// Removes the fields that kustomize does not know. If it knows none, they stay and fail the
    /// build, because kustomize rejects an empty kustomization.
    pub fn remove_unknown_fields(&mut self) {
        let fields = self.node.entries().into_iter();
        let (known, unknown): (Vec<_>, Vec<_>) = fields
            .map(|(name, _)| name)
            .partition(|name| is_kustomization_field(name));
        let mut known = known.iter();
        if known.any(|name| !matches!(&**name, "apiVersion" | "kind")) {
            for name in unknown {
                self.node.remove(&name);
            }
        }
    }

    /// Adds the options of a delivery object: `fields`, each with its name in a kustomization, the
    /// items of `lists`, and components, except missing ones with `ignoreMissingComponents`.
    pub fn add(
        &mut self,
        options: &Node,
        fields: &[(&str, &str)],
        lists: &[&str],
        files: &TreeFiles<'_>,
    ) {
        for (own, field) in fields {
            if let Some(text) = options.text_at(&[own]) {
                self.node.set(field, Node::text(text));
            }
        }
        let mut components = options.items_at("components");
        if options.is_true_at(&["ignoreMissingComponents"]) {
            components.retain(|path| {
                let place = path.as_str().map(|path| resolve(&self.folder, path));
                place.is_some_and(|place| files.has_folder(&place))
            });
        }
        let lists = lists.iter().map(|list| (*list, options.items_at(list)));
        for (list, items) in lists.chain([("components", components)]) {
            if !items.is_empty() {
                self.node.entry_mut(list).seq_mut().extend(items);
            }
        }
    }

    /// Adds images, and removes those with the same names.
    pub fn set_images(&mut self, images: Vec<Node>) {
        if images.is_empty() {
            return;
        }
        let named: BTreeSet<Option<String>> = images
            .iter()
            .map(|image| image.text_at(&["name"]))
            .collect();
        let known = self.node.entry_mut("images").seq_mut();
        known.retain(|image| !named.contains(&image.text_at(&["name"])));
        known.extend(images);
    }

    /// Returns the files and folders of the tree that it includes.
    pub fn includes(&self) -> Vec<String> {
        let lists = LISTS.into_iter();
        let entries = lists.flat_map(|list| self.node.texts_at(list));
        let local = entries.filter(|entry| !is_remote(entry));
        local.map(|entry| resolve(&self.folder, &entry)).collect()
    }
}

/// Reads the kustomization of a folder.
///
/// # Errors
/// Returns an error if there is none, if there are two, or if it cannot be read.
pub fn kustomization(files: &TreeFiles<'_>, folder: &str) -> Result<KustomizationDoc, BuildError> {
    read_kustomization(&Watched::new(files), folder)
}

pub(super) fn read_kustomization(files: &Watched<'_>, folder: &str) -> Outcome<KustomizationDoc> {
    let mut found = files.kustomizations_of(folder);
    let Some(file) = found.next() else {
        let reason = format!("{} has no kustomization", shown(folder));
        return Err(BuildError::new(reason, folder, 1));
    };
    if let Some(second) = found.next() {
        let folder = shown(folder);
        let reason = format!("{folder} has two kustomizations: {second} is one, too");
        return Err(BuildError::new(reason, file, 1));
    }
    let parsed = files.parsed(&file);
    let node = match (&parsed.error, parsed.documents.first()) {
        (Some((reason, line)), _) => {
            let reason = format!("{file} cannot be read: {reason}");
            return Err(BuildError::new(reason, file, *line));
        }
        (None, Some(node)) => node.clone(),
        (None, None) => Node::empty_map(),
    };
    Ok(KustomizationDoc {
        folder: folder.to_owned(),
        file,
        node,
    })
}
