//! Mentions of other files in files.

use super::reason::{ManifestTool, SkipReason};
use crate::yaml::{Value, Visited};

/// How a file is used by the one that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Use {
    /// Its objects reach a cluster by this tool.
    Applied(ManifestTool),
    /// Its objects do not.
    Otherwise(SkipReason),
}

/// A file that another one names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The path as written, from the folder of the file that names it.
    pub path: String,
    /// How it is used.
    pub used: Use,
}

/// Collects the mentions of one file.
#[derive(Default)]
pub(super) struct Mentions {
    pub(super) found: Vec<Mention>,
}

impl Mentions {
    /// The files that a kustomization names. Its fields: <https://kubectl.docs.kubernetes.io/references/kustomize/>.
    pub(super) fn in_kustomization(&mut self, root: Value<'_>) {
        use SkipReason::{Configuration, Data, Patch};
        let tool = ManifestTool::Kustomize;
        self.each(root, &["resources", "bases"], &Use::Applied(tool));
        // A patch is a path or inline; a path has no line break and no colon followed by a space.
        self.each(
            root,
            &["patchesStrategicMerge"],
            &Use::Otherwise(Patch(tool)),
        );
        self.each_path(
            root,
            &["patches", "patchesJson6902"],
            &Use::Otherwise(Patch(tool)),
        );
        self.each_path(
            root,
            &["replacements"],
            &Use::Otherwise(Configuration(tool)),
        );
        self.each(
            root,
            &["transformers", "generators", "validators", "configurations"],
            &Use::Otherwise(Configuration(tool)),
        );
        for generator in ["configMapGenerator", "secretGenerator"]
            .iter()
            .filter_map(|key| root.get(key))
        {
            for entry in generator.items() {
                self.each(
                    entry,
                    &["files", "envs", "env"],
                    &Use::Otherwise(Data(tool)),
                );
            }
        }
    }

    /// `apply`, `assert` and `error` of a kuttl TestStep: lists of paths.
    pub(super) fn in_kuttl_step(&mut self, root: Value<'_>) {
        self.each(root, &["apply"], &Use::Applied(ManifestTool::Kuttl));
        self.each(
            root,
            &["assert", "error"],
            &Use::Otherwise(SkipReason::Assertion(ManifestTool::Kuttl)),
        );
    }

    /// Operations of a chainsaw Test: `apply: {file: …}`, wherever they appear.
    pub(super) fn in_chainsaw_test(&mut self, root: Value<'_>) {
        let mut visited = Visited::default();
        let mut pending: Vec<Value<'_>> = root.get("spec").into_iter().collect();
        while let Some(value) = pending.pop() {
            if !visited.is_new(value) {
                continue;
            }
            for entry in value.entries() {
                let used = match entry.key {
                    "apply" | "create" | "update" => Some(Use::Applied(ManifestTool::Chainsaw)),
                    "assert" | "error" => Some(Use::Otherwise(SkipReason::Assertion(
                        ManifestTool::Chainsaw,
                    ))),
                    "patch" => Some(Use::Otherwise(SkipReason::Patch(ManifestTool::Chainsaw))),
                    // An inline object is not one of chainsaw's own keys.
                    "resource" => continue,
                    _ => None,
                };
                if let (Some(used), Some(file)) =
                    (used, entry.value.get("file").and_then(Value::as_str))
                {
                    self.add(file, &used);
                }
                pending.push(entry.value);
            }
            pending.extend(value.items());
        }
    }

    /// The texts, or lists of texts, under `keys`.
    fn each(&mut self, value: Value<'_>, keys: &[&str], used: &Use) {
        for field in keys.iter().filter_map(|key| value.get(key)) {
            let texts = field.items().chain([field]).filter_map(Value::as_str);
            texts.for_each(|text| self.add(text, used));
        }
    }

    /// The `path` of each entry under `keys`.
    fn each_path(&mut self, value: Value<'_>, keys: &[&str], used: &Use) {
        for field in keys.iter().filter_map(|key| value.get(key)) {
            let texts = field
                .items()
                .filter_map(|entry| entry.get("path"))
                .filter_map(Value::as_str);
            texts.for_each(|text| self.add(text, used));
        }
    }

    fn add(&mut self, written: &str, used: &Use) {
        // `files` of generators may give the key first: `config.yaml=files/config-prod.yaml`.
        let written = written.split_once('=').map_or(written, |(_, file)| file);
        if written.is_empty() || written.contains('\n') || written.contains("://") {
            return;
        }
        self.found.push(Mention {
            path: written.to_owned(),
            used: used.clone(),
        });
    }
}

/// The folders in which a kuttl TestSuite says that tests are; any other document of a test tool means its own.
pub(super) fn tested_folders(root: Value<'_>) -> Vec<String> {
    match root.get("testDirs") {
        Some(folders) => folders
            .items()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        None => vec![".".to_owned()],
    }
}
