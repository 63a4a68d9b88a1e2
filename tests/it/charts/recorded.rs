//! Recorded output of real Helm for consecutive versions of charts, delivered by each tool.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::real::{helms, run};
use super::surroundings::Surroundings;
use crate::support::{root, skip};

type Keys = BTreeSet<String>;

/// One case in this many is compared for each tool, and no case for two tools.
const ONE_IN: usize = 7;

/// The charts that real Helm rendered, and both states of each.
struct Recorded {
    cases: Vec<Value>,
    clone: TempDir,
}

fn recorded() -> Option<Recorded> {
    let shared = root().join("../shared");
    let bundle = shared.join("histories/charts.bundle");
    let Ok(text) = std::fs::read_to_string(shared.join("conformance/charts.json")) else {
        skip("no recorded charts");
        return None;
    };
    let clone = tempfile::tempdir().expect("a folder");
    let bundle = bundle.to_str()?;
    run(
        Path::new("git"),
        clone.path(),
        &["clone", "-q", bundle, "."],
    );
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    let cases = document["cases"].take();
    let cases = cases.as_array().expect("a list").iter();
    let cases = cases
        .filter(|case| !case["bundle"].is_null())
        .cloned()
        .collect();
    Some(Recorded { cases, clone })
}

/// Exports folders of a commit to a folder of its own.
fn export(clone: &Path, commit: &str, folders: &[&str], to: &Path) {
    let listed = run(Path::new("git"), clone, &["ls-tree", "--name-only", commit]);
    let listed: BTreeSet<&str> = listed.lines().collect();
    let there = folders
        .iter()
        .copied()
        .filter(|folder| listed.contains(folder));
    let archive = to.join("tree.tar");
    let archive = archive.to_str().expect("a path");
    let arguments = ["archive", "-o", archive, commit].into_iter().chain(there);
    run(Path::new("git"), clone, &arguments.collect::<Vec<_>>());
    run(Path::new("tar"), to, &["xf", archive]);
    std::fs::remove_file(archive).expect("the archive");
}

/// A tool that delivers the chart.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Delivery {
    HelmRelease,
    Application,
    HelmCharts,
}

impl Delivery {
    fn folder(self) -> &'static str {
        match self {
            Self::HelmRelease => "flux",
            Self::Application => "argocd",
            Self::HelmCharts => "kustomize",
        }
    }

    /// Returns a key as this tool knows it: kustomize gives objects no namespace.
    fn key(self, key: &str) -> String {
        match key.split('/').collect::<Vec<_>>()[..] {
            [kind, namespace, name] if self == Self::HelmCharts && !namespace.is_empty() => {
                format!("{kind}/?/{name}")
            }
            _ => key.to_owned(),
        }
    }

    fn keys<'v>(self, keys: impl IntoIterator<Item = &'v Value>) -> Keys {
        let keys = keys.into_iter().filter_map(Value::as_str);
        keys.map(|key| self.key(key)).collect()
    }
}

fn items<'v>(case: &'v Value, field: &str) -> impl Iterator<Item = &'v Value> {
    case[field].as_array().into_iter().flatten()
}

/// The objects that a delivery of a recorded case adds, removes and deletes.
#[derive(Debug, Default, PartialEq)]
struct Change {
    added: Keys,
    removed: Keys,
    deleted: Keys,
}

impl Change {
    /// Reads the recorded change.
    fn recorded(case: &Value, tool: Delivery) -> Self {
        let side = |name: &str| {
            let beside = items(case, "hooks").chain(items(case, "crds"));
            let beside = beside.filter(|entry| entry["side"] == name || entry["side"] == "both");
            let beside = beside.map(|entry| &entry["key"]);
            items(case, name).chain(beside).collect::<Vec<_>>()
        };
        let (before, after) = (side("before"), side("after"));
        // Compare before leaving out namespaces.
        let only = |these: &[&Value], those: &[&Value]| {
            let only = these.iter().filter(|key| !those.contains(key));
            tool.keys(only.copied())
        };
        let removed = only(&before, &after);
        let is_refused = items(case, "immutable").any(|field| field["accepted"] != true);
        let deleted = match tool {
            // An upgrade that the API server rejects deletes nothing.
            Delivery::HelmRelease if is_refused => Keys::new(),
            Delivery::HelmRelease => tool.keys(items(case, "deleted")),
            // Argo CD prunes even objects that Helm keeps, but no definition and no hook.
            Delivery::Application => {
                let pruned = tool.keys(items(case, "removed")).into_iter();
                let is_definition = |key: &String| key.starts_with("CustomResourceDefinition.");
                pruned.filter(|key| !is_definition(key)).collect()
            }
            Delivery::HelmCharts => removed.clone(),
        };
        Self {
            added: only(&after, &before),
            removed,
            deleted,
        }
    }

    /// Reads the change that `diff --render` reports.
    fn said(document: &Value, tool: Delivery) -> Self {
        let changes = || items(document, "changes");
        let of = |kinds: &[&str], field: &str| {
            let changes =
                changes().filter(|change| kinds.iter().any(|kind| change["change"] == *kind));
            tool.keys(changes.map(|change| &change[field]))
        };
        let effects = items(document, "effects")
            .filter(|effect| effect["effect"] == "deleted" || effect["effect"] == "cascaded");
        let mut removed = of(&["removed"], "key");
        removed.extend(of(&["renamed"], "was"));
        Self {
            added: of(&["added", "renamed"], "key"),
            removed,
            deleted: tool.keys(effects.map(|effect| &effect["key"])),
        }
    }

    /// Removes objects that the recording cannot decide: those with a random or missing name, and those of the group
    /// `extensions`, which have a second identity in another group.
    fn without_the_unclear(self, case: &Value) -> Self {
        let kind_and_name = |key: &str| {
            let (kind, rest) = key.split_once('/').unwrap_or((key, ""));
            let kind = kind.split('.').next().unwrap_or_default();
            let name = rest.rsplit('/').next().unwrap_or_default();
            format!("{kind}/{name}")
        };
        let recorded = items(case, "before").chain(items(case, "after"));
        let recorded = recorded.filter_map(Value::as_str);
        let of_two_groups = recorded.filter(|key| key.contains(".extensions/"));
        let by_chance = items(case, "random_names").filter_map(Value::as_str);
        let unclear: Keys = of_two_groups.chain(by_chance).map(kind_and_name).collect();
        let is_clear =
            |key: &String| !key.contains("(no name)") && !unclear.contains(&kind_and_name(key));
        let clear = |keys: Keys| keys.into_iter().filter(is_clear).collect();
        Self {
            added: clear(self.added),
            removed: clear(self.removed),
            deleted: clear(self.deleted),
        }
    }
}

/// Whether no cluster accepts a state of the case, or the tool rejects it.
fn cannot_be_built(case: &Value, tool: Delivery) -> bool {
    ["before", "after"].into_iter().any(|side| {
        let manifest = || items(case, side).filter_map(Value::as_str);
        let definitions = items(case, "crds");
        let mut definitions =
            definitions.filter(|entry| entry["side"] == side || entry["side"] == "both");
        let mut is_twice = || definitions.any(|entry| manifest().any(|key| entry["key"] == key));
        manifest().any(|key| key.contains("(no name)"))
            || tool == Delivery::HelmCharts && is_twice()
    })
}

/// Returns the report of `diff --render` on a recorded case.
fn compare(helm: &Path, clone: &Path, case: &Value, tool: Delivery) -> Value {
    let tree = Surroundings::with_helm(helm);
    for (side, commit) in [("base", "from"), ("head", "to")] {
        let to = tree.folder.path().join(side);
        std::fs::create_dir(&to).expect("a folder");
        let commit = case["bundle"][commit].as_str().expect("a commit");
        export(clone, commit, &[tool.folder(), "charts"], &to);
    }
    let mut command = tree.ownerlint();
    command.args(["diff", "--base", "base", "--head", "head", "--render"]);
    let output = command.args(["-o", "json", "--exit-zero"]).output();
    serde_json::from_slice(&output.expect("it runs").stdout).expect("JSON")
}

/// Compares some recorded cases. Returns the number of their deletions, and the differences.
fn differences(tool: Delivery) -> Option<(usize, Vec<String>)> {
    let helms = helms();
    let Recorded { cases, clone } = recorded().filter(|_| !helms.is_empty())?;
    let mut deletions = 0;
    let mut found = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let version = case["helm"].as_str().unwrap_or("4");
        let named = |helm: &&std::path::PathBuf| helm.ends_with(format!("helm-{version}/helm"));
        let Some(helm) = helms.iter().find(named) else {
            continue;
        };
        if at % ONE_IN != tool as usize {
            continue;
        }
        let document = compare(helm, clone.path(), case, tool);
        let said = Change::said(&document, tool).without_the_unclear(case);
        let truth = Change::recorded(case, tool).without_the_unclear(case);
        let is_unread = items(&document, "unread").next().is_some();
        if is_unread != cannot_be_built(case, tool) {
            found.push(format!(
                "{at} {}: unread: {}",
                case["chart"], document["unread"]
            ));
        }
        if is_unread {
            continue;
        }
        deletions += truth.deleted.len();
        if said != truth {
            found.push(format!(
                "{at} {}: {said:#?} instead of {truth:#?}",
                case["chart"]
            ));
        }
    }
    Some((deletions, found))
}

/// Asserts that the reports agree with the recordings.
fn agree(tool: Delivery) {
    if let Some((deletions, differences)) = differences(tool) {
        assert_eq!(differences, [""; 0]);
        assert!(deletions > 30, "{deletions}");
    }
}

#[test]
fn helm_releases_delete_recorded_removals() {
    agree(Delivery::HelmRelease);
}

#[test]
fn applications_prune_recorded_removals() {
    agree(Delivery::Application);
}

#[test]
fn kustomize_helm_charts_delete_recorded_removals() {
    agree(Delivery::HelmCharts);
}
