//! Trees of manifests as plain JSON that tests can change and write again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;

use ownerlint::delivery::DeliveryTool;
use ownerlint::engine::{CompareRequest, Comparison};
use ownerlint::inventory::{Files, walk};
use ownerlint::kustomize::{folder_of, name_of, resolve};
use ownerlint::manifest::{KUSTOMIZATIONS, ParsedFile};
use ownerlint::merge::DeliveryChoice;
use ownerlint::report::diff::DiffReport;
use ownerlint::yaml::{self, Kind};
use ownerlint::{ConfigChoice, StateChoice};
use serde_json::{Map, Number, Value, json};

use super::places::Folder;

/// A part of the corpus: a rendering, or the sources of one.
pub(super) struct Sample {
    /// A file or folder of the corpus.
    pub(super) path: &'static str,
    /// The subfolders to read; empty for everything.
    within: &'static [&'static str],
    /// The tool for the comparison; `None` if the tree determines it.
    pub(super) by: Option<DeliveryTool>,
}

const fn by(tool: DeliveryTool, path: &'static str) -> Sample {
    Sample {
        path,
        within: &[],
        by: Some(tool),
    }
}

/// Renderings of charts and of kustomizations, and the sources of a repository that Flux applies.
const SAMPLES: [Sample; 10] = [
    by(
        DeliveryTool::Helm,
        "cert-manager/rendered/helm-cert-manager.yaml",
    ),
    by(DeliveryTool::Helm, "external-secrets/rendered"),
    by(DeliveryTool::Helm, "longhorn/rendered/helm-longhorn.yaml"),
    by(
        DeliveryTool::Helm,
        "prometheus-community/rendered/helm-prometheus.yaml",
    ),
    by(DeliveryTool::ArgoCd, "metallb/rendered/helm-metallb.yaml"),
    by(
        DeliveryTool::ArgoCd,
        "kyverno/rendered/helm-kyverno-nocrds.yaml",
    ),
    by(
        DeliveryTool::ArgoCd,
        "kubeflow/rendered/kustomize-applications-profiles-upstream-overlays-kubeflow.yaml",
    ),
    by(DeliveryTool::Flux, "gatekeeper/deploy"),
    by(DeliveryTool::Flux, "velero/config"),
    Sample {
        path: "home-ops",
        within: &[
            "kubernetes/flux",
            "kubernetes/components",
            "kubernetes/apps/cert-manager",
            "kubernetes/apps/external-secrets",
            "kubernetes/apps/network",
        ],
        by: None,
    },
];

/// Returns the samples, read once for all tests.
pub(super) fn samples(corpus: &Path) -> &'static [(Sample, Rendering)] {
    static READ: OnceLock<Vec<(Sample, Rendering)>> = OnceLock::new();
    READ.get_or_init(|| {
        let read = |sample: Sample| {
            let rendering = Rendering::read(&corpus.join(sample.path), sample.within);
            (sample, rendering)
        };
        SAMPLES.into_iter().map(read).collect()
    })
}

/// Texts by path.
pub(super) type Texts = BTreeMap<String, String>;

/// A tree of manifests: the documents of each file as values.
#[derive(Clone, Debug, Default)]
pub(super) struct Rendering {
    /// The files that can be read completely.
    pub(super) files: BTreeMap<String, Vec<Value>>,
    /// The other files, for example templates, which stay unchanged.
    pub(super) others: Texts,
    /// All files in their original form.
    pub(super) original: Texts,
}

impl Rendering {
    /// Reads the manifests of a file or a folder, or only those in `within`.
    pub(super) fn read(path: &Path, within: &[&str]) -> Self {
        let top = path.to_string_lossy().into_owned();
        let paths = within.iter().map(|part| format!("{top}/{part}"));
        let paths: Vec<String> = if within.is_empty() {
            vec![top.clone()]
        } else {
            paths.collect()
        };
        let mut rendering = Self::default();
        for file in Files::default().read(&walk(&paths, &[]).expect("paths of the corpus")) {
            let full = file.source().path();
            let below = full
                .strip_prefix(&top)
                .expect("a path below")
                .trim_start_matches('/');
            let name = if below.is_empty() {
                name_of(full)
            } else {
                below
            }
            .to_owned();
            rendering
                .original
                .insert(name.clone(), file.source().text().to_owned());
            match documents(&file) {
                Some(documents) => drop(rendering.files.insert(name, documents)),
                None => drop(
                    rendering
                        .others
                        .insert(name, file.source().text().to_owned()),
                ),
            }
        }
        assert!(
            !rendering.files.is_empty(),
            "{} contains manifests",
            path.display()
        );
        rendering
    }

    /// Creates a tree of one file.
    pub(super) fn of(objects: impl IntoIterator<Item = Value>) -> Self {
        let files = [("all.yaml".to_owned(), objects.into_iter().collect())].into();
        Self {
            files,
            ..Self::default()
        }
    }

    /// Returns its objects, including those in lists.
    pub(super) fn objects(&self) -> impl Iterator<Item = &Value> {
        self.manifests()
            .flat_map(|(_, documents)| documents)
            .flat_map(|document| {
                let items = document["items"]
                    .as_array()
                    .filter(|_| document["kind"] == "List");
                items.map_or_else(|| std::slice::from_ref(document), Vec::as_slice)
            })
    }

    /// Returns its objects as mutable values, without kustomizations.
    pub(super) fn objects_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        let files = self
            .files
            .iter_mut()
            .filter(|(path, _)| !is_kustomization(path));
        files
            .flat_map(|(_, documents)| documents)
            .flat_map(|document| {
                let is_list = document["kind"] == "List" && document["items"].is_array();
                if is_list {
                    document["items"]
                        .as_array_mut()
                        .expect("a list")
                        .as_mut_slice()
                } else {
                    std::slice::from_mut(document)
                }
            })
    }

    fn manifests(&self) -> impl Iterator<Item = (&String, &Vec<Value>)> {
        self.files
            .iter()
            .filter(|(path, _)| !is_kustomization(path))
    }

    /// Returns the texts of its files.
    pub(super) fn written(&self, write: impl Fn(&[Value]) -> String) -> Texts {
        let written = self
            .files
            .iter()
            .map(|(path, documents)| (path.clone(), write(documents)));
        written.chain(self.others.clone()).collect()
    }

    /// Moves the objects to other files, which `place` returns for the path and the documents of a file. In kustomize's
    /// sources, only files listed in `resources` are moved, and `resources` lists the new files.
    pub(super) fn rearranged(
        &self,
        place: impl Fn(&str, &[Value]) -> Vec<(String, Vec<Value>)>,
    ) -> Self {
        let is_source = self.files.keys().any(|path| is_kustomization(path));
        let named = self.named();
        let mut arranged = Self {
            others: self.others.clone(),
            ..Self::default()
        };
        let mut became: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (path, documents) in self.manifests() {
            let parts = if is_source && !named.contains(path) {
                vec![(path.clone(), documents.clone())]
            } else {
                place(path, documents)
            };
            for (new, documents) in parts {
                let to = became.entry(path).or_default();
                if !to.contains(&new) {
                    to.push(new.clone());
                }
                arranged.files.entry(new).or_default().extend(documents);
            }
        }
        for (path, documents) in self.files.iter().filter(|(path, _)| is_kustomization(path)) {
            let mut documents = documents.clone();
            for list in documents
                .iter_mut()
                .filter_map(|document| document.get_mut("resources"))
            {
                let entries = list
                    .as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str);
                let new =
                    entries.flat_map(
                        |entry| match became.get(&*resolve(folder_of(path), entry)) {
                            Some(files) => files
                                .iter()
                                .map(|file| relative(folder_of(path), file))
                                .collect(),
                            None => vec![entry.to_owned()],
                        },
                    );
                let unique: BTreeSet<String> = new.collect();
                *list = json!(unique);
            }
            arranged.files.insert(path.clone(), documents);
        }
        arranged
    }

    /// Returns the files that some kustomization lists in `resources`.
    fn named(&self) -> BTreeSet<String> {
        let mut named = BTreeSet::new();
        for (path, documents) in self.files.iter().filter(|(path, _)| is_kustomization(path)) {
            let entries = documents
                .iter()
                .filter_map(|document| document["resources"].as_array())
                .flatten();
            named.extend(
                entries
                    .filter_map(Value::as_str)
                    .map(|entry| resolve(folder_of(path), entry)),
            );
        }
        named
    }
}

fn is_kustomization(path: &str) -> bool {
    KUSTOMIZATIONS.contains(&name_of(path))
}

/// Returns `file` relative to `folder`, as a kustomization lists it.
fn relative(folder: &str, file: &str) -> String {
    let up = if folder.is_empty() {
        0
    } else {
        folder.split('/').count()
    };
    format!("{}{file}", "../".repeat(up))
}

/// Returns the documents of a file; `None` if one of them cannot be read.
fn documents(file: &ParsedFile) -> Option<Vec<Value>> {
    let documents = file
        .documents()
        .iter()
        .filter(|document| document.tree().is_some() || document.error().is_some());
    let trees: Option<Vec<_>> = documents.map(|document| document.tree()).collect();
    let values = trees?.into_iter().map(|tree| plain(tree.root()));
    Some(values.filter(Value::is_object).collect())
}

fn plain(value: yaml::Value<'_>) -> Value {
    match value.kind() {
        Kind::Null => Value::Null,
        Kind::Bool(flag) => json!(flag),
        Kind::Int(number) => json!(number),
        Kind::Uint(number) => json!(number),
        Kind::Float(number) => Number::from_f64(number).map_or(Value::Null, Value::Number),
        Kind::String(text) => json!(text),
        Kind::Map => {
            let entries = value
                .entries()
                .map(|entry| (entry.key.to_owned(), plain(entry.value)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
        Kind::Seq => value.items().map(plain).collect(),
    }
}

/// Compares two trees.
pub(super) fn compare(base: &Texts, head: &Texts, delivery: DeliveryChoice) -> DiffReport {
    let folder = Folder::new();
    for (side, texts) in [("base", base), ("head", head)] {
        std::fs::create_dir(folder.path().join(side)).expect("a folder");
        for (path, text) in texts {
            folder.write(&format!("{side}/{path}"), text);
        }
    }
    let state = |side| StateChoice::Path(folder.path().join(side).to_string_lossy().into_owned());
    let mut request = CompareRequest::new(state("base"), state("head"));
    request.config = ConfigChoice::Without;
    request.delivery = delivery;
    Comparison::open(&request)
        .expect("both can be read")
        .report()
        .expect("both can be simulated")
}
