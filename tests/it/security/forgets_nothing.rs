//! Additions to head never make `diff` omit an earlier result.
//!
//! A pair of trees is compared, something is added to head, and the pair is compared again: all deleted objects, stuck
//! objects and errors must be reported again. An omission must be explained: the object's delivery is in `failed` (a
//! failed build deletes nothing), or it or the added file is in `unread` and the verdict is not `nothing`.
//!
//! `OWNERLINT_FORGETS=10000` sets the number of cases and adds pairs from histories; `OWNERLINT_FORGETS_SEED` varies
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ownerlint::{CompareRequest, Comparison, Format, StateChoice};
use rayon::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{root, skip};

/// Pseudo-random numbers with a fixed sequence (SplitMix64).
struct Dice(u64);

impl Dice {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.number() % end.max(1) as u64) as usize
    }

    fn one<'t, T: ?Sized>(&mut self, among: &[&'t T]) -> &'t T {
        among[self.below(among.len())]
    }

    fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }
}

/// Two trees to compare: texts by path.
struct Pair {
    name: String,
    base: BTreeMap<String, String>,
    head: BTreeMap<String, String>,
}

/// An addition to head.
struct Addition {
    kind: &'static str,
    /// New or replaced files; paths are relative to head.
    files: Vec<(String, String)>,
    /// Symbolic links, with their targets.
    links: Vec<(String, String)>,
}

/// A pair written to disk.
struct Stage {
    folder: TempDir,
    head: BTreeMap<String, String>,
    /// Folders of head; the empty path is its root.
    folders: Vec<String>,
    /// The report before any addition.
    report: Value,
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

/// Returns the report on the trees below a folder.
fn report(folder: &Path) -> Result<Value, String> {
    let side = |side: &str| StateChoice::Path(folder.join(side).display().to_string());
    let request = CompareRequest::new(side("base"), side("head"));
    let comparison = Comparison::open(&request).map_err(|error| error.to_string())?;
    let report = comparison.report().map_err(|error| error.to_string())?;
    serde_json::from_str(&report.render(Format::Json)).map_err(|error| error.to_string())
}

fn list<'v>(value: &'v Value, field: &str) -> impl Iterator<Item = &'v Value> {
    value[field].as_array().into_iter().flatten()
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

/// Returns the deleted and stuck (`true`) objects, each with the folder of its build: its own, or that of the object
/// with which it is deleted.
fn deletions(report: &Value) -> BTreeMap<(String, bool), String> {
    let changes = list(report, "changes").map(|change| {
        let key = change["was"]
            .as_str()
            .unwrap_or_else(|| text(change, "key"));
        let file = text(&change["base"], "file");
        let folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
        (key, change["bundle"].as_str().unwrap_or(folder))
    });
    let folders: BTreeMap<&str, &str> = changes.collect();
    let deletes = list(report, "effects").filter(|effect| {
        [
            "deleted",
            "cascaded",
            "generated-deleted",
            "stuck",
            "recreated",
        ]
        .contains(&text(effect, "effect"))
    });
    let deletes = deletes.map(|effect| {
        let root = effect["because"][0]
            .as_str()
            .unwrap_or_else(|| text(effect, "key"));
        let folder = folders.get(root).copied().unwrap_or_default();
        (
            (
                text(effect, "key").to_owned(),
                text(effect, "effect") == "stuck",
            ),
            folder.to_owned(),
        )
    });
    deletes.collect()
}

/// Returns the errors, with their objects.
fn errors(report: &Value) -> BTreeSet<(String, String)> {
    let errors = list(report, "findings").filter(|finding| text(finding, "severity") == "error");
    errors
        .map(|finding| {
            (
                text(finding, "rule").to_owned(),
                text(finding, "object").to_owned(),
            )
        })
        .collect()
}

/// Returns the name of an object in messages: `Secret `key``.
fn named_in_messages(key: &str) -> Option<String> {
    let (kind, name) = (key.split(['.', '/']).next()?, key.rsplit('/').next()?);
    Some(format!("{kind} `{name}`"))
}

/// Returns the results that a report with an addition omits without an explanation, and whether it explains others.
fn forgotten(before: &Value, after: &Value, addition: &Addition) -> (Vec<String>, bool) {
    let is_added = |file: &str| {
        let mut paths = addition
            .files
            .iter()
            .chain(&addition.links)
            .map(|(path, _)| path);
        paths.any(|path| file == path || file.ends_with(&format!("/{path}")))
    };
    let speaks = ["unknown", "deletes"].contains(&text(&after["summary"], "verdict"));
    let added_is_unread =
        speaks && list(after, "unread").any(|unread| is_added(text(unread, "file")));
    let was_failed: BTreeSet<String> = list(before, "failed").map(Value::to_string).collect();
    let failed = list(after, "failed").filter(|failed| text(failed, "side") == "head");
    let failed: Vec<&Value> = failed
        .filter(|failed| !was_failed.contains(&failed.to_string()))
        .collect();
    // The addition is in or below the folder of a kustomization.
    let is_broken = |file: &str| {
        let place = file.split_once("/head/").map_or(file, |(_, place)| place);
        let folder = place
            .rsplit_once('/')
            .map_or_else(String::new, |(folder, _)| format!("{folder}/"));
        let mut paths = addition.files.iter().chain(&addition.links);
        paths.any(|(path, _)| path.starts_with(&folder))
    };
    // The build of the object fails, or the addition broke the build that fails.
    let is_named = |folder: &str| {
        let fails =
            |file: &str| is_added(file) || is_broken(file) || file.contains(&format!("/{folder}/"));
        let is_emptied = |failed: &Value| {
            text(failed, "reason").starts_with(&format!("{folder} has nothing left to apply"))
        };
        added_is_unread
            || failed
                .iter()
                .any(|failed| fails(text(failed, "file")) || is_emptied(failed))
    };
    let deleted = deletions(after);
    let mut forgotten = Vec::new();
    let mut excused = BTreeSet::new();
    for ((key, stuck), delivery) in deletions(before) {
        // A deleted object may become stuck, but a stuck one may not become merely deleted.
        let is_told = deleted
            .keys()
            .any(|(other, as_stuck)| *other == key && (!stuck || *as_stuck));
        if is_told {
            continue;
        }
        if is_named(&delivery) {
            excused.insert(key);
        } else {
            forgotten.push(format!(
                "{} {key} of `{delivery}`",
                if stuck { "stuck" } else { "deleted" }
            ));
        }
    }
    let after_errors = errors(after);
    let graver: String = list(after, "findings")
        .filter(|finding| text(finding, "severity") == "error")
        .map(Value::to_string)
        .collect();
    for (rule, object) in errors(before).difference(&after_errors) {
        // An error on the object that causes the deletion names it.
        if named_in_messages(object).is_some_and(|named| graver.contains(&named)) {
            continue;
        }
        let related = excused.contains(object)
            || !excused.is_empty() && !deleted.keys().any(|(key, _)| key == object);
        if !related && !added_is_unread {
            forgotten.push(format!("{rule} on {object}"));
        }
    }
    (forgotten, !excused.is_empty())
}

impl Stage {
    /// Writes a pair to disk; `None` if it deletes nothing.
    fn new(pair: &Pair) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        for (side, files) in [("base", &pair.base), ("head", &pair.head)] {
            fs::create_dir_all(folder.path().join(side)).expect("a folder");
            for (path, text) in files {
                write(&folder.path().join(side), path, text);
            }
        }
        let report = report(folder.path()).unwrap_or_else(|error| panic!("{}: {error}", pair.name));
        if deletions(&report).is_empty() {
            return None;
        }
        let folder_of = |path: &String| {
            path.rsplit_once('/')
                .map_or_else(String::new, |(folder, _)| folder.to_owned())
        };
        let folders: BTreeSet<String> = pair
            .head
            .keys()
            .map(folder_of)
            .chain([String::new()])
            .collect();
        Some(Self {
            folder,
            head: pair.head.clone(),
            folders: folders.into_iter().collect(),
            report,
        })
    }

    /// Returns the results that an addition makes the report omit, and whether others are explained.
    fn forgets(&self, addition: &Addition) -> Result<(Vec<String>, bool), String> {
        let head = self.folder.path().join("head");
        let mut made: Vec<PathBuf> = Vec::new();
        for (path, text) in &addition.files {
            note_new(&head, path, &mut made);
            write(&head, path, text);
        }
        for (path, target) in &addition.links {
            note_new(&head, path, &mut made);
            link(&head.join(path), target);
        }
        let after = report(self.folder.path());
        for path in made.iter().rev() {
            if path.is_dir() && !path.is_symlink() {
                fs::remove_dir(path).expect("an empty folder");
            } else {
                fs::remove_file(path).expect("a file");
            }
        }
        for (path, _) in &addition.files {
            if let Some(text) = self.head.get(path) {
                write(&head, path, text);
            }
        }
        Ok(forgotten(&self.report, &after?, addition))
    }
}

/// Records the folders and the file that writing a path creates.
fn note_new(root: &Path, path: &str, made: &mut Vec<PathBuf>) {
    let mut above = root.to_owned();
    for part in path.split('/') {
        above.push(part);
        if !above.exists() && !above.is_symlink() && !made.contains(&above) {
            made.push(above.clone());
        }
    }
}

#[cfg(unix)]
fn link(place: &Path, target: &str) {
    fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
    std::os::unix::fs::symlink(target, place).expect("a link");
}

#[cfg(not(unix))]
fn link(_: &Path, _: &str) {}

// --- additions ---

const FILE_NAMES: [&str; 14] = [
    "added.yaml",
    "added.yml",
    "added.YAML",
    "added.json",
    "added.YML",
    "00-assert.yaml",
    "chainsaw-test.yaml",
    "kuttl-test.yaml",
    "zz-top.yaml",
    "00-first.yaml",
    "Chart.yaml",
    "values.yaml",
    "README.md",
    "notes.txt",
];

const CONFIGURATIONS: [&str; 12] = [
    "version: 1\nexclude: ['**']\n",
    "version: 1\nexclude: ['*.yaml', '**/*.yaml', 'apps/**']\nfail-on: never\nworld: open\n",
    "version: 1\nrules:\n  crd-removed: {severity: 'off'}\n  data-removed: {severity: info}\n  namespace-removed: {ignore: [{object: '*', reason: no}]}\n  volume-removed: {severity: 'off'}\n  delivery-removed: {severity: 'off'}\n",
    "version: 1\nbaseline: known.json\n",
    "version: 1\nnamespace: elsewhere\n",
    "version: 1\nbundles:\n  all: {paths: ['.'], delivery: kubectl, exclude: ['**']}\n",
    "version: 1\nbundles:\n  one: {paths: [apps], cluster: one, namespace: elsewhere}\n  two: {paths: ['**'], cluster: two}\n",
    "version: 1\nbundles:\n  x: {paths: [clusters], render: ['true'], timeout: 1}\nscopes: [{group: example.com, kind: Ship, scope: Cluster}, {group: '', kind: Namespace, scope: Namespaced}]\n",
    "version: 2\n",
    "exclude: ['**'\n",
    "",
    "version: 1\ncontrollers:\n  - {name: me, finalizers: [example.com/release]}\n",
];

const SUPPRESSIONS: [&str; 4] = [
    "# ownerlint: ignore-document[crd-removed, data-removed, volume-removed, namespace-removed, delivery-removed, owner-removed] so it is\n",
    "# ownerlint: ignore[crd-removed] so it is\n",
    "# ownerlint: ignore-file so it is\n# +argocd:skip-file-rendering\n",
    "# Source: web/templates/x.yaml\n# yaml-language-server: $schema=x\n",
];

const KINDS: [(&str, &str, &str); 12] = [
    ("v1", "ConfigMap", "data: {a: one, b: two, c: three}\n"),
    ("v1", "Secret", "stringData: {a: one}\n"),
    ("v1", "Namespace", ""),
    ("v1", "ServiceAccount", ""),
    (
        "apps/v1",
        "Deployment",
        "spec: {replicas: 99999999999999999999, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}\n",
    ),
    ("example.com/v1", "Ship", "spec: {size: 1e400}\n"),
    (
        "kustomize.toolkit.fluxcd.io/v1",
        "Kustomization",
        "spec: {path: ./apps, prune: false}\n",
    ),
    (
        "kustomize.toolkit.fluxcd.io/v1",
        "Kustomization",
        "spec: {path: ./added, prune: true, suspend: true}\n",
    ),
    (
        "argoproj.io/v1alpha1",
        "Application",
        "spec: {source: {repoURL: https://example.com/x.git, path: apps}, destination: {namespace: x}}\n",
    ),
    (
        "argoproj.io/v1alpha1",
        "ApplicationSet",
        "spec: {generators: [{list: {elements: [{a: b}]}}], template: {metadata: {name: '{{a}}'}, spec: {source: {repoURL: x, path: apps}, destination: {}}}}\n",
    ),
    (
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "spec: {group: added.example.com, scope: Cluster, names: {kind: Added, plural: addeds}, versions: [{name: v1, served: true, storage: true}]}\n",
    ),
    (
        "chainsaw.kyverno.io/v1alpha1",
        "Test",
        "spec: {steps: [{try: [{assert: {file: ../apps}}, {apply: {file: a.yaml}}, {delete: {file: b.yaml}}]}]}\n",
    ),
];

/// Returns a manifest of an object that no tree contains.
fn manifest(dice: &mut Dice) -> String {
    let (version, kind, body) = KINDS[dice.below(KINDS.len())];
    let name = format!("added-{}", dice.below(1000));
    let extra = dice.one(&[
        "",
        "",
        "",
        ", annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}",
        ", annotations: {argocd.argoproj.io/sync-wave: '999999999999999999999'}",
        ", annotations: {config.kubernetes.io/local-config: 'true'}",
        ", annotations: {helm.sh/hook: pre-upgrade}",
        ", annotations: {argocd.argoproj.io/hook: PreSync}",
        ", finalizers: [added.example.com/x]",
        ", namespace: added",
        ", labels: {app.kubernetes.io/managed-by: Helm, helm.sh/chart: x-1.0.0}",
    ]);
    format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}{extra}}}\n{body}")
}

/// Returns a document that is not a complete object, or that no client applies.
fn oddity(dice: &mut Dice) -> String {
    dice.one(&[
        "apiVersion: v1\nkind: ConfigMap\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ''}\n",
        "kind: ConfigMap\nmetadata: {name: added}\n",
        "apiVersion: v1\nkind: List\nitems: []\n",
        "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: added-in-a-list}}\n",
        "items: []\n",
        "apiVersion: v1\nkind: Deployment\nmetadata: {name: added-odd}\nspec: {}\nitems: []\n",
        "{{- if .Values.x }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\n{{- end }}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '${ADDED}'}\n",
        "apiVersion: v1\n  kind: [broken\n",
        "\u{0}\u{1}\u{2}",
        "%YAML 1.2\n---\n...\n---\n",
        "a: &a [*a]\n",
        "$patch: delete\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: added-patch}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: added-}\n",
        "name: chart\nversion: 1.0.0\napiVersion: v2\n",
        "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"added-json\"}}",
        "apiVersion: kuttl.dev/v1beta1\nkind: TestAssert\ntimeout: 99999999999999999999\n",
        "",
        "# only a comment\n",
    ])
    .to_owned()
}

/// Returns fields of a kustomization that refer to `added` files only.
fn constructs(dice: &mut Dice, up: &str, may_rename: bool) -> String {
    let mut text = String::new();
    let mut seen = BTreeSet::new();
    for _ in 0..=dice.below(3) {
        let renames = [
            format!("namePrefix: added-{}-\n", dice.below(10)),
            "nameSuffix: -added\n".to_owned(),
            "namespace: added\n".to_owned(),
        ];
        let all = [
            "patches:\n- patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: other}, $patch: delete}'\n".to_owned(),
            "patches:\n- target: {kind: .*}\n  patch: '[{op: remove, path: /metadata/annotations}]'\n".to_owned(),
            "patches:\n- target: {labelSelector: a=b}\n  path: added-patch.yaml\n".to_owned(),
            "patchesStrategicMerge:\n- added-patch.yaml\n".to_owned(),
            "patchesJson6902:\n- {target: {version: v1, kind: ConfigMap, name: other}, path: added-patch.json}\n".to_owned(),
            "transformers: [added-transformer.yaml]\n".to_owned(),
            "generators: [added-generator.yaml]\n".to_owned(),
            "validators: [added-validator.yaml]\n".to_owned(),
            "configurations: [added-configuration.yaml]\n".to_owned(),
            format!("configMapGenerator:\n- {{name: added-generated, files: [{up}README.md, x={up}clusters/apps.yaml]}}\n"),
            "secretGenerator:\n- {name: added-secret, literals: [a=b]}\n".to_owned(),
            "generatorOptions: {disableNameSuffixHash: true, annotations: {a: b}}\n".to_owned(),
            "commonLabels: {added: label}\n".to_owned(),
            "commonAnnotations: {kustomize.toolkit.fluxcd.io/prune: disabled, argocd.argoproj.io/sync-options: 'Prune=false,Delete=false', helm.sh/resource-policy: keep}\n".to_owned(),
            "components: [added-component]\n".to_owned(),
            "crds: [added-crd.json]\n".to_owned(),
            "replacements: [{source: {kind: ConfigMap, name: other}, targets: [{select: {kind: ConfigMap}, fieldPaths: [metadata.name]}]}]\n".to_owned(),
            "vars: [{name: X, objref: {kind: ConfigMap, name: other, apiVersion: v1}}]\n".to_owned(),
            "helmCharts: [{name: added, repo: https://example.com, version: 1.0.0}]\n".to_owned(),
            "openapi: {path: added-schema.json}\n".to_owned(),
            "images: [{name: a, newTag: '99999999999999999999'}]\n".to_owned(),
            "replicas: [{name: web, count: 99999999999999999999}]\n".to_owned(),
            "buildMetadata: [originAnnotations]\n".to_owned(),
            "unknownField: true\n".to_owned(),
        ];
        let added = if may_rename && dice.chance(6) {
            dice.one(&renames.each_ref().map(String::as_str))
        } else {
            all[dice.below(all.len())].as_str()
        };
        // A duplicate key makes kustomize fail, which is another kind of addition.
        if seen.insert(added.split(':').next().unwrap_or_default().to_owned()) {
            text.push_str(added);
        }
    }
    text
}

/// Returns some of the files to which the fields refer.
fn referred(dice: &mut Dice, folder: &str) -> Vec<(String, String)> {
    let all = [
        (
            "added-patch.yaml",
            "$patch: delete\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n",
        ),
        (
            "added-patch.json",
            "[{\"op\": \"replace\", \"path\": \"/metadata/name\", \"value\": \"renamed\"}]",
        ),
        (
            "added-transformer.yaml",
            "apiVersion: builtin\nkind: PrefixTransformer\nmetadata: {name: x}\nprefix: added-\n",
        ),
        (
            "added-generator.yaml",
            "apiVersion: builtin\nkind: ConfigMapGenerator\nmetadata: {name: added-made}\nliterals: [a=b]\n",
        ),
        (
            "added-configuration.yaml",
            "namePrefix: [{path: metadata/name, kind: ConfigMap}]\n",
        ),
        (
            "added-component/kustomization.yaml",
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonLabels: {a: b}\n",
        ),
    ];
    let there = all.into_iter().filter(|_| !dice.chance(3));
    there
        .map(|(path, text)| (joined(folder, path), text.to_owned()))
        .collect()
}

fn joined(folder: &str, path: &str) -> String {
    if folder.is_empty() {
        path.to_owned()
    } else {
        format!("{folder}/{path}")
    }
}

fn is_kustomization(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    ["kustomization.yaml", "kustomization.yml", "Kustomization"].contains(&name)
}

/// Returns the names of deleted objects: no addition names an existing file with one of them.
fn deleted_names(report: &Value) -> BTreeSet<String> {
    deletions(report)
        .keys()
        .filter_map(|(key, _)| Some(key.rsplit('/').next()?.to_owned()))
        .collect()
}

impl Stage {
    /// Returns a folder of head, or a subfolder of one.
    fn somewhere(&self, dice: &mut Dice) -> String {
        let folder = &self.folders[dice.below(self.folders.len())];
        let deeper = dice.one(&[
            "",
            "",
            "",
            "",
            "added",
            "tests",
            "test/fixtures",
            "templates",
            "crds",
            "charts/x",
            ".github",
            "base",
            "zz",
        ]);
        if deeper.is_empty() {
            folder.clone()
        } else {
            joined(folder, deeper)
        }
    }

    fn file_of(&self, dice: &mut Dice, wanted: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
        let files: Vec<(&str, &str)> = self
            .head
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .filter(|(path, _)| wanted(path))
            .collect();
        (!files.is_empty()).then(|| files[dice.below(files.len())])
    }

    /// Returns the existing files of a folder that do not mention deleted objects.
    fn innocent(&self, folder: &str) -> Vec<String> {
        let names = deleted_names(&self.report);
        let prefix = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let own = self
            .head
            .iter()
            .filter_map(|(path, text)| Some((path.strip_prefix(&prefix)?, text)));
        let own = own.filter(|(path, _)| {
            !path.contains('/') && path.ends_with(".yaml") && !is_kustomization(path)
        });
        own.filter(|(_, text)| !names.iter().any(|name| text.contains(name.as_str())))
            .map(|(path, _)| path.to_owned())
            .collect()
    }

    fn addition(&self, dice: &mut Dice) -> Addition {
        let folder = self.somewhere(dice);
        let up = "../".repeat(if folder.is_empty() {
            0
        } else {
            folder.split('/').count()
        });
        let none = Vec::new;
        let file = |kind, path: String, text: String| Addition {
            kind,
            files: vec![(path, text)],
            links: none(),
        };
        loop {
            match dice.below(16) {
                0 => {
                    let count = 1 + dice.below(3);
                    let text = (0..count)
                        .map(|_| manifest(dice))
                        .collect::<Vec<_>>()
                        .join("---\n");
                    return file("manifest", joined(&folder, dice.one(&FILE_NAMES)), text);
                }
                1 | 2 => {
                    let mut text = oddity(dice);
                    if dice.chance(3) {
                        text = format!("{}---\n{text}", manifest(dice));
                    }
                    let path = joined(&folder, dice.one(&FILE_NAMES));
                    if !self.head.contains_key(&path) {
                        return file("oddity", path, text);
                    }
                }
                3 => {
                    let path = joined(&folder, dice.one(&["ownerlint.yaml", ".ownerlint.yaml"]));
                    let mut files = vec![(path, dice.one(&CONFIGURATIONS).to_owned())];
                    if dice.chance(5) {
                        files.push((joined(&folder, "ownerlint.yaml"), "version: 1\n".to_owned()));
                    }
                    return Addition {
                        kind: "configuration",
                        files,
                        links: none(),
                    };
                }
                4 => {
                    if let Some((path, text)) = self.file_of(dice, |path| !is_kustomization(path)) {
                        let added = match dice.below(3) {
                            0 => format!("{}{text}", dice.one(&SUPPRESSIONS)),
                            1 => format!("{text}\n{}", dice.one(&SUPPRESSIONS)),
                            _ => text
                                .lines()
                                .map(|line| {
                                    format!(
                                        "{line} # ownerlint: ignore[crd-removed, data-removed] x\n"
                                    )
                                })
                                .collect(),
                        };
                        return file("suppression", path.to_owned(), added);
                    }
                }
                5 => {
                    if let Some((path, text)) = self.file_of(dice, |path| {
                        !is_kustomization(path) && path.ends_with(".yaml")
                    }) {
                        let annotations = "annotations: {ignore.ownerlint/crd-removed: x, ignore.ownerlint/data-removed: x}";
                        let mut document = manifest(dice).replacen(
                            "metadata: {",
                            &format!("metadata: {{{annotations}, "),
                            1,
                        );
                        if document.matches("annotations").count() > 1 {
                            document = manifest(dice);
                        }
                        return file(
                            "document in a file",
                            path.to_owned(),
                            format!("{text}\n---\n{document}"),
                        );
                    }
                }
                6 => {
                    if let Some((path, text)) = self.file_of(dice, |path| {
                        !is_kustomization(path) && path.ends_with(".yaml")
                    }) {
                        return file(
                            "oddity in a file",
                            path.to_owned(),
                            format!("{text}\n---\n{}", oddity(dice)),
                        );
                    }
                }
                7 | 8 => {
                    if let Some((path, text)) = self.file_of(dice, is_kustomization) {
                        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                        let up = "../".repeat(if folder.is_empty() {
                            0
                        } else {
                            folder.split('/').count()
                        });
                        let added = constructs(dice, &up, true);
                        let is_there = |line: &str| {
                            let key = line.split(':').next().unwrap_or_default();
                            !line.starts_with([' ', '-'])
                                && text.lines().any(|own| own.starts_with(&format!("{key}:")))
                        };
                        if dice.chance(8) || !added.lines().any(is_there) {
                            let mut files = referred(dice, folder);
                            files.push((path.to_owned(), format!("{}\n{added}", text.trim_end())));
                            return Addition {
                                kind: "constructs in a kustomization",
                                files,
                                links: none(),
                            };
                        }
                    }
                }
                9 | 10 => {
                    let name = dice.one(&[
                        "kustomization.yaml",
                        "kustomization.yaml",
                        "kustomization.yml",
                        "Kustomization",
                    ]);
                    let path = joined(&folder, name);
                    if !self.head.contains_key(&path) {
                        let own = self.innocent(&folder);
                        let mut text = match dice.below(3) {
                            0 => String::new(),
                            1 => format!("resources: [{}]\n", own.join(", ")),
                            _ => "resources: [added.yaml, https://example.com/x.yaml]\n".to_owned(),
                        };
                        text.push_str(&constructs(dice, &up, true));
                        if dice.chance(3) {
                            text.push_str(
                                "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n",
                            );
                        }
                        let mut files = referred(dice, &folder);
                        files.push((path, text));
                        return Addition {
                            kind: "kustomization",
                            files,
                            links: none(),
                        };
                    }
                }
                11 => {
                    // A deep chain of folders, or a cycle.
                    let deep = 3 + dice.below(80);
                    let below = |at: usize| joined(&folder, &vec!["deep"; at + 1].join("/"));
                    let files = (0..deep).map(|at| {
                        let next = match (at + 1 == deep, dice.chance(2)) {
                            (false, _) => "resources: [deep]\n".to_owned(),
                            (true, true) => format!("resources: [{}]\n", "../".repeat(deep - 1)),
                            (true, false) => "resources: []\n".to_owned(),
                        };
                        (format!("{}/kustomization.yaml", below(at)), next)
                    });
                    return Addition {
                        kind: "nested kustomizations",
                        files: files.collect(),
                        links: none(),
                    };
                }
                12 => {
                    let target = dice.one(&[
                        "..",
                        ".",
                        "../..",
                        "/etc",
                        "/",
                        ".git",
                        "../.git",
                        "loop",
                        "nowhere.yaml",
                        "/dev/null",
                        "/dev/zero",
                        "/proc/self/environ",
                        "../clusters",
                        "../apps",
                        "../head",
                        "../../base",
                    ]);
                    let name = dice.one(&[
                        "loop",
                        "link.yaml",
                        "link",
                        "kustomization.yaml",
                        "ownerlint.yaml",
                        ".sourceignore",
                        "Chart.yaml",
                    ]);
                    let path = joined(&folder, name);
                    if !self.head.contains_key(&path) {
                        return Addition {
                            kind: "link",
                            files: none(),
                            links: vec![(path, target.to_owned())],
                        };
                    }
                }
                13 => {
                    let folder = if dice.chance(2) {
                        String::new()
                    } else {
                        folder.clone()
                    };
                    let text = dice.one(&[
                        "*\n",
                        "apps\n",
                        "/apps/\n**/*.yaml\n",
                        "!*\n",
                        "added\n",
                        "*.yaml\n!*.yaml\n",
                    ]);
                    let name = dice.one(&[
                        ".sourceignore",
                        ".gitignore",
                        ".helmignore",
                        ".krmignore",
                        ".gitattributes",
                        ".yamllint",
                    ]);
                    return file("ignore file", joined(&folder, name), text.to_owned());
                }
                14 => {
                    let name = dice.one(&[
                        ".argocd-source.yaml",
                        ".argocd-source-apps.yaml",
                        "argocd-source.yaml",
                    ]);
                    let text = dice.one(&[
                        "kustomize: {namePrefix: added-}\n",
                        "directory: {exclude: '*'}\n",
                        "helm: {values: 'a: b'}\n",
                        "plugin: {name: x}\n",
                        "directory: {recurse: false, include: none}\n",
                    ]);
                    return file(
                        "source of an Application",
                        joined(&folder, name),
                        text.to_owned(),
                    );
                }
                _ => {
                    let test = joined(&folder, "chainsaw-test.yaml");
                    let own = self.innocent(&folder).join("}}, {assert: {file: ");
                    let text = format!(
                        "apiVersion: chainsaw.kyverno.io/v1alpha1\nkind: Test\nmetadata: {{name: added}}\nspec: {{steps: [{{try: [{{assert: {{file: {}}}}}]}}]}}\n",
                        if own.is_empty() { "none.yaml" } else { &own }
                    );
                    let mut files = vec![(test, text)];
                    if dice.chance(2) {
                        files.push((joined(&folder, "01-errors.yaml"), oddity(dice)));
                        files.push((joined(&folder, "00-assert.yaml"), manifest(dice)));
                    }
                    return Addition {
                        kind: "test",
                        files,
                        links: none(),
                    };
                }
            }
        }
    }
}

// --- pairs ---

const CRD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ships.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n  names: {kind: Ship, plural: ships}\n  versions: [{name: v1, served: true, storage: true}]\n";
const HELM: &str = ", labels: {app.kubernetes.io/managed-by: Helm, helm.sh/chart: web-1.0.0, app.kubernetes.io/instance: web}";

fn object(kind: &str, name: &str, more: &str) -> String {
    let version = match kind {
        "StatefulSet" => "apps/v1",
        "Ship" => "example.com/v1",
        _ => "v1",
    };
    let namespace = if kind == "Namespace" {
        ""
    } else {
        ", namespace: shop"
    };
    format!("apiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}{namespace}{more}}}\n")
}

fn flux(name: &str, path: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: flux-system}}\nspec: {{path: ./{path}, prune: true}}\n"
    )
}

fn application(name: &str, path: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}}\nspec: {{source: {{repoURL: https://example.com/x.git, path: {path}}}, destination: {{namespace: shop}}, syncPolicy: {{automated: {{prune: true}}}}}}\n"
    )
}

/// Returns a pair: `stays` are files of both trees, `leaves` only of base, and `head` replaces files in head.
fn pair(
    name: &str,
    stays: &[(&str, String)],
    leaves: &[(&str, String)],
    head: &[(&str, String)],
) -> Pair {
    let tree = |files: &[&[(&str, String)]]| {
        files
            .iter()
            .copied()
            .flatten()
            .map(|(path, text)| ((*path).to_owned(), text.clone()))
            .collect()
    };
    Pair {
        name: name.to_owned(),
        base: tree(&[stays, leaves]),
        head: tree(&[stays, head]),
    }
}

/// Returns various small changes that delete something.
fn small_pairs() -> Vec<Pair> {
    let other = || {
        (
            "apps/other.yaml",
            object("ConfigMap", "other", "") + "data: {a: one, b: two, c: three}\n",
        )
    };
    let root = || ("clusters/apps.yaml", flux("apps", "apps"));
    let claim = || {
        object("PersistentVolumeClaim", "data", "")
            + "spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
    };
    let ship = |name: &str, more: &str| object("Ship", name, more) + "spec: {size: 1}\n";
    let kustomization = |resources: &str| format!("resources: [{resources}]\n");
    vec![
        pair("flux definition", &[root(), other(), ("shop/ship.yaml", ship("one", ""))], &[("apps/crd.yaml", CRD.to_owned())], &[]),
        pair("flux claim and namespace", &[root(), other(), ("shop/web.yaml", object("Service", "web", "") + "spec: {selector: {a: b}}\n")], &[("apps/claim.yaml", claim()), ("apps/ns.yaml", object("Namespace", "shop", ""))], &[]),
        pair(
            "flux kustomization with a patch",
            &[root(), other()],
            &[("apps/kustomization.yaml", kustomization("other.yaml, secret.yaml")), ("apps/secret.yaml", object("Secret", "key", ""))],
            &[("apps/kustomization.yaml", kustomization("other.yaml")), ("apps/secret.yaml", object("Secret", "key", ""))],
        ),
        pair(
            "flux nested kustomizations with names",
            &[root(), ("apps/kustomization.yaml", "namePrefix: prod-\nresources: [base]\ncomponents: [extra]\n".to_owned()), ("apps/base/other.yaml", other().1), ("apps/extra/kustomization.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n".to_owned())],
            &[("apps/base/kustomization.yaml", kustomization("other.yaml, gone.yaml")), ("apps/base/gone.yaml", object("Secret", "gone", ""))],
            &[("apps/base/kustomization.yaml", kustomization("other.yaml"))],
        ),
        pair("flux delivery", &[("clusters/other.yaml", flux("rest", "rest")), ("rest/other.yaml", other().1), ("apps/kept.yaml", object("Secret", "kept", ""))], &[("clusters/apps.yaml", flux("apps", "apps")), ("clusters/top.yaml", flux("top", "clusters"))], &[("clusters/top.yaml", flux("top", "clusters"))]),
        pair("flux held by a finalizer", &[root(), other(), ("apps/crd.yaml", CRD.to_owned())], &[("apps/ship.yaml", ship("held", ", finalizers: [example.com/release]"))], &[]),
        pair("flux moved to an archive", &[root(), other()], &[("apps/gone.yaml", object("Secret", "gone", ""))], &[("archive/secret.yaml", object("Secret", "gone", ""))]),
        pair("argo application", &[("argocd/apps.yaml", application("apps", "apps")), other()], &[("apps/gone.yaml", object("Secret", "gone", "")), ("apps/set.yaml", object("StatefulSet", "db", "") + "spec: {serviceName: db, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}\n")], &[]),
        pair("argo application that leaves", &[("argocd/top.yaml", application("top", "argocd")), other(), ("rest/x.yaml", object("ConfigMap", "x", ""))], &[("argocd/apps.yaml", application("apps", "apps"))], &[]),
        pair("helm rendering", &[("rendered/web/templates/config.yaml", format!("---\n# Source: web/templates/config.yaml\n{}", object("ConfigMap", "web", HELM)))], &[("rendered/web/templates/claim.yaml", format!("---\n# Source: web/templates/claim.yaml\n{}", object("PersistentVolumeClaim", "data", HELM) + "spec: {}\n"))], &[]),
        pair("helm rendering in one file", &[], &[("rendered.yaml", format!("---\n# Source: web/templates/a.yaml\n{}---\n# Source: web/templates/b.yaml\n{}", object("ConfigMap", "web", HELM), object("Secret", "web", HELM)))], &[("rendered.yaml", format!("---\n# Source: web/templates/a.yaml\n{}", object("ConfigMap", "web", HELM)))]),
        pair("flux document of a file", &[root()], &[("apps/all.yaml", other().1 + "---\n" + &object("Secret", "gone", ""))], &[("apps/all.yaml", other().1)]),
        pair(
            "flux secret in use",
            &[root(), other(), ("web/web.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, envFrom: [{secretRef: {name: key}}]}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}}\n".to_owned())],
            &[("apps/key.yaml", object("Secret", "key", "")), ("apps/claim.yaml", claim())],
            &[],
        ),
        pair("flux list", &[root(), other()], &[("apps/list.yaml", "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: gone, namespace: shop}}\n".to_owned())], &[]),
        pair("flux overlays of one base", &[("clusters/prod.yaml", flux("prod", "overlays/prod")), ("clusters/stage.yaml", flux("stage", "overlays/stage")), ("overlays/prod/kustomization.yaml", "namespace: prod\nresources: [../../base]\n".to_owned()), ("overlays/stage/kustomization.yaml", "namespace: stage\nresources: [../../base]\n".to_owned()), ("base/other.yaml", other().1)], &[("base/kustomization.yaml", kustomization("other.yaml, gone.yaml")), ("base/gone.yaml", object("Secret", "gone", ""))], &[("base/kustomization.yaml", kustomization("other.yaml"))]),
    ]
}

/// Returns pairs from real histories: commits that delete files, and their parents.
fn history_pairs(dice: &mut Dice, most: usize) -> Vec<Pair> {
    let named = std::env::var_os("OWNERLINT_HISTORIES").map(PathBuf::from);
    let Some(folder) = named.or_else(|| root().join("../shared/histories").canonicalize().ok())
    else {
        skip("no histories: set OWNERLINT_HISTORIES to a folder with bundles");
        return Vec::new();
    };
    let bundles = fs::read_dir(folder)
        .expect("histories")
        .map(|entry| entry.expect("an entry").path());
    let mut bundles: Vec<PathBuf> = bundles
        .filter(|path| path.extension().is_some_and(|end| end == "bundle"))
        .collect();
    bundles.sort();
    let clones = tempfile::tempdir().expect("a folder");
    let mut pairs = Vec::new();
    for bundle in &bundles {
        let clone = clones.path().join(bundle.file_stem().expect("a name"));
        let cloned = Command::new("git")
            .args(["clone", "-q", "--bare"])
            .arg(bundle)
            .arg(&clone)
            .status();
        assert!(cloned.expect("git runs").success());
        let log = git(
            &clone,
            &[
                "log",
                "--all",
                "--no-merges",
                "--diff-filter=D",
                "--format=%H",
            ],
        );
        let mut commits: Vec<&str> = log.lines().collect();
        let mut chosen = 0;
        while chosen < most / bundles.len() && !commits.is_empty() {
            let commit = commits.swap_remove(dice.below(commits.len())).to_owned();
            let tree = |reference: &str| tree_of(&clone, reference);
            let (Some(base), Some(head)) = (tree(&format!("{commit}~")), tree(&commit)) else {
                continue;
            };
            let name = format!(
                "{} {commit}",
                bundle.file_stem().expect("a name").to_string_lossy()
            );
            pairs.push(Pair { name, base, head });
            chosen += 1;
        }
    }
    pairs
}

fn git(clone: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(clone)
        .args(arguments)
        .output()
        .expect("git runs");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the texts of a commit; `None` if there is no such commit, or if it is too large.
fn tree_of(clone: &Path, reference: &str) -> Option<BTreeMap<String, String>> {
    let listed = git(clone, &["ls-tree", "-r", "--full-tree", reference]);
    let files: Vec<(&str, &str)> = listed
        .lines()
        .filter(|line| line.starts_with("100"))
        .filter_map(|line| {
            let (about, path) = line.split_once('\t')?;
            Some((about.split(' ').nth(2)?, path))
        })
        .collect();
    if files.is_empty() || files.len() > 600 {
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut tar = Command::new("sh");
    tar.arg("-c")
        .arg("git archive \"$1\" | tar -x -C \"$2\"")
        .args(["sh", reference])
        .arg(folder.path())
        .current_dir(clone);
    tar.status()
        .ok()
        .filter(std::process::ExitStatus::success)?;
    let text = |path: &str| fs::read_to_string(folder.path().join(path)).ok();
    let files = files.into_iter().filter(|(_, path)| !path.starts_with('"'));
    Some(
        files
            .filter_map(|(_, path)| Some((path.to_owned(), text(path)?)))
            .filter(|(_, text)| text.len() < 200_000)
            .collect(),
    )
}

// --- the property ---

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .and_then(|value| value.parse().ok())
}

#[test]
fn additions_in_head_do_not_hide_deletions() {
    let many = number("OWNERLINT_FORGETS");
    let (cases, seed) = (
        many.unwrap_or(200) as usize,
        number("OWNERLINT_FORGETS_SEED").unwrap_or(36),
    );
    let mut pairs = small_pairs();
    if let Some(cases) = many {
        pairs.extend(history_pairs(&mut Dice(seed), 14.max(cases as usize / 250)));
    }
    let small = small_pairs().len();
    let stages: Vec<(&Pair, Option<Stage>)> = pairs
        .par_iter()
        .map(|pair| (pair, Stage::new(pair)))
        .collect();
    let dull: Vec<&str> = stages[..small]
        .iter()
        .filter(|(_, stage)| stage.is_none())
        .map(|(pair, _)| &*pair.name)
        .collect();
    assert_eq!(dull, [""; 0], "every small pair deletes something");
    let stages: Vec<(&Pair, Stage)> = stages
        .into_iter()
        .filter_map(|(pair, stage)| Some((pair, stage?)))
        .collect();
    let (mut kinds, mut named, mut failures) =
        (BTreeMap::<&str, (usize, usize)>::new(), 0, Vec::new());
    // Two thirds of the cases use small pairs, which take a tenth of the time.
    let real = stages.len() - small;
    let quota = |at: usize| {
        let all = if real == 0 {
            cases
        } else if at < small {
            cases * 2 / 3
        } else {
            cases - cases * 2 / 3
        };
        let (among, place) = if at < small {
            (small, at)
        } else {
            (real, at - small)
        };
        all / among + usize::from(place < all % among)
    };
    let run: Vec<_> = stages
        .par_iter()
        .enumerate()
        .flat_map_iter(|(at, (pair, stage))| {
            (0..quota(at)).map(move |case| {
                let mut dice = Dice(seed ^ (at as u64) << 32 ^ case as u64);
                let addition = stage.addition(&mut dice);
                let outcome = stage.forgets(&addition);
                (pair.name.as_str(), addition, outcome)
            })
        })
        .collect();
    for (pair, addition, outcome) in run {
        let (count, failed) = kinds.entry(addition.kind).or_default();
        *count += 1;
        match outcome {
            Ok((forgotten, is_named)) if forgotten.is_empty() => named += usize::from(is_named),
            Ok((forgotten, _)) => {
                failures.push(complaint(pair, &addition, &forgotten.join("; ")));
            }
            Err(error) if is_limit(&error) => *failed += 1,
            Err(error) => failures.push(complaint(pair, &addition, &error)),
        }
    }
    println!(
        "{} pairs, {cases} cases; additions, and of them runs that ended at a limit: {kinds:?}",
        stages.len()
    );
    println!(
        "in {named} cases a build that fails or an input that is not read is named instead; {} complaints",
        failures.len()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Whether a run ended with an error about a limit, which omits no result silently.
fn is_limit(error: &str) -> bool {
    error.contains("more than") || error.contains("too large") || error.contains("limit")
}

fn complaint(pair: &str, addition: &Addition, said: &str) -> String {
    let files =
        addition.files.iter().take(8).map(|(path, text)| {
            format!("  {path}: {:?}", text.chars().take(300).collect::<String>())
        });
    let links = addition
        .links
        .iter()
        .map(|(path, target)| format!("  {path} -> {target}"));
    format!(
        "{pair}, {}: {said}\n{}",
        addition.kind,
        files.chain(links).collect::<Vec<_>>().join("\n")
    )
}
