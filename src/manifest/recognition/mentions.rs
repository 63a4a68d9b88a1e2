//! Mentions of files and folders in other files.

use super::reason::{ManifestTool, SkipReason};
use crate::yaml::{Value, Visited};

/// How a file is used by the one that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Use {
    /// Its objects reach a cluster by this tool.
    Applied(ManifestTool),
    /// Its content is used in another way.
    NotApplied(SkipReason),
}

/// A file or folder that a file names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// The path as written, relative to the folder of the file that names it, without the key of a generator.
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
    /// Adds the files and folders that a kustomization names; components are found elsewhere. The fields:
    /// <https://kubectl.docs.kubernetes.io/references/kustomize/>.
    pub(super) fn in_kustomization(&mut self, root: Value<'_>) {
        use SkipReason::{Configuration, Data, Patch};
        let tool = ManifestTool::Kustomize;
        self.add_texts(root, &["resources", "bases"], &Use::Applied(tool));
        // A patch is a path or inline. `add` skips text of several lines; no file has an inline
        // patch of one line as its path.
        let patch = Use::NotApplied(Patch(tool));
        self.add_texts(root, &["patchesStrategicMerge"], &patch);
        self.add_paths(root, &["patches", "patchesJson6902"], &patch);
        let configuration = Use::NotApplied(Configuration(tool));
        self.add_paths(root, &["replacements"], &configuration);
        self.add_texts(
            root,
            &["transformers", "generators", "validators", "configurations"],
            &configuration,
        );
        let data = Use::NotApplied(Data(tool));
        for key in ["configMapGenerator", "secretGenerator"] {
            for entry in root.items_at(key) {
                self.add_texts(entry, &["files", "envs", "env"], &data);
            }
        }
    }

    /// Adds `apply`, `assert` and `error` of a kuttl TestStep: lists of paths.
    pub(super) fn in_kuttl_step(&mut self, root: Value<'_>) {
        let tool = ManifestTool::Kuttl;
        self.add_texts(root, &["apply"], &Use::Applied(tool));
        let assertion = Use::NotApplied(SkipReason::Assertion(tool));
        self.add_texts(root, &["assert", "error"], &assertion);
    }

    /// Adds the files of a chainsaw Test's operations, at any depth: `apply: {file: …}`.
    pub(super) fn in_chainsaw_test(&mut self, root: Value<'_>) {
        let tool = ManifestTool::Chainsaw;
        let mut visited = Visited::default();
        let mut pending: Vec<Value<'_>> = root.get("spec").into_iter().collect();
        while let Some(value) = pending.pop() {
            if !visited.is_new(value) {
                continue;
            }
            for entry in value.entries() {
                let used = match entry.key {
                    "apply" | "create" | "update" => Some(Use::Applied(tool)),
                    "assert" | "error" => Some(Use::NotApplied(SkipReason::Assertion(tool))),
                    "patch" => Some(Use::NotApplied(SkipReason::Patch(tool))),
                    // This is a Kubernetes object, whose keys are not operations.
                    "resource" => continue,
                    _ => None,
                };
                if let (Some(used), Some(file)) = (used, entry.value.str_at(&["file"])) {
                    self.add(file, &used);
                }
                pending.push(entry.value);
            }
            pending.extend(value.items());
        }
    }

    /// Adds the texts, or the items of the lists, under `keys`.
    fn add_texts(&mut self, value: Value<'_>, keys: &[&str], used: &Use) {
        for field in keys.iter().filter_map(|key| value.get(key)) {
            let texts = field.items().chain([field]).filter_map(Value::as_str);
            texts.for_each(|text| self.add(text, used));
        }
    }

    /// Adds the `path` of each entry under `keys`.
    fn add_paths(&mut self, value: Value<'_>, keys: &[&str], used: &Use) {
        for field in keys.iter().filter_map(|key| value.get(key)) {
            let paths = field.items().filter_map(|entry| entry.str_at(&["path"]));
            paths.for_each(|path| self.add(path, used));
        }
    }

    fn add(&mut self, written: &str, used: &Use) {
        if written.is_empty() || written.contains('\n') || written.contains("://") {
            return;
        }
        // `files` of generators may begin with a key: `config.yaml=files/config-prod.yaml`.
        let written = written.split_once('=').map_or(written, |(_, file)| file);
        self.found.push(Mention {
            path: written.to_owned(),
            used: used.clone(),
        });
    }
}

/// Returns the folders with tests: `testDirs` of a kuttl TestSuite, else the folder of the document.
pub(super) fn tested_folders(root: Value<'_>) -> Vec<String> {
    match root.get("testDirs") {
        Some(_) => root.texts_at("testDirs"),
        None => vec![".".to_owned()],
    }
}
