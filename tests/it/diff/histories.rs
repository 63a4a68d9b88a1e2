//! Real histories: every removal of a commit is among the changes, and has an effect or a reason why it has none.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{ownerlint, root, skip};

/// Commits with removals of many kinds. Testing all commits takes minutes.
const FEW: [&str; 8] = [
    // A Namespace with its Kustomization, which the parent Kustomization does not prune.
    "04b1baf79",
    // CustomResourceDefinitions whose objects stay in Git.
    "d845c799a",
    // A claim that a Deployment still mounts.
    "d160db823",
    // A copy of a file that is also applied from elsewhere.
    "9d1e90fda",
    // A folder that no Kustomization applies.
    "a3936f038",
    // A database.
    "3a5634638",
    // HelmReleases under new names.
    "1b9366f8e",
    // The objects that Flux applies from the root of the repository.
    "84b00420b",
];

/// Cloned histories, and their removals.
struct Histories {
    clones: TempDir,
    removals: Vec<Value>,
}

impl Histories {
    /// Returns the removals of the folder that `OWNERLINT_HISTORIES` names, which must exist; or else a few of those
    /// beside the repository; or else `None`, and the test is skipped.
    fn found() -> Option<Self> {
        let named = std::env::var_os("OWNERLINT_HISTORIES").filter(|path| !path.is_empty());
        let all = named.is_some();
        let named = named.map(|path| {
            Path::new(&path)
                .canonicalize()
                .expect("OWNERLINT_HISTORIES names a folder")
        });
        let Some(folder) = named.or_else(|| root().join("../shared/histories").canonicalize().ok())
        else {
            skip(
                "no histories: set OWNERLINT_HISTORIES to a folder with removals.json and the bundles that it names",
            );
            return None;
        };
        let removals =
            std::fs::read_to_string(folder.join("removals.json")).expect("removals.json");
        let removals: Vec<Value> = serde_json::from_str(&removals).expect("a list");
        let chosen = |removal: &Value| {
            all || FEW
                .iter()
                .any(|few| text(&removal["commit"]).starts_with(few))
        };
        let removals: Vec<Value> = removals.into_iter().filter(chosen).collect();
        let clones = tempfile::tempdir().expect("a folder");
        let histories: BTreeSet<String> = removals
            .iter()
            .map(|removal| text(&removal["history"]))
            .collect();
        for history in histories {
            let bundle = folder.join(format!("{history}.bundle"));
            let mut clone = Command::new("git");
            clone
                .args(["clone", "-q", "--bare"])
                .arg(bundle)
                .arg(clones.path().join(history));
            assert!(clone.status().expect("git runs").success());
        }
        Some(Self { clones, removals })
    }

    fn of(&self, removal: &Value) -> PathBuf {
        self.clones.path().join(text(&removal["history"]))
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A kind with its group, and a name.
type Name = (String, String);

fn name(key: &str) -> Name {
    let mut parts = key.splitn(3, '/');
    let kind = parts.next().unwrap_or_default().to_owned();
    (kind, parts.nth(1).unwrap_or_default().to_owned())
}

/// Returns the report of `diff` on a commit.
fn diff(clone: &Path, commit: &str) -> Value {
    let mut command = ownerlint();
    command
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .current_dir(clone);
    let base = format!("{commit}~");
    command.args([
        "diff",
        "--no-config",
        "-o",
        "json",
        "--base-ref",
        &base,
        "--head-ref",
        commit,
    ]);
    let output = command.output().expect("it runs");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{commit}: {error}: {}",
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

/// Returns the changes in which an object leaves its place.
fn leaving(document: &Value) -> impl Iterator<Item = &Value> {
    let changes = document["changes"].as_array().expect("a list").iter();
    changes.filter(|change| {
        ["removed", "renamed", "moved"]
            .iter()
            .any(|word| change["change"] == *word)
    })
}

fn git(clone: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(clone)
        .args(arguments)
        .output()
        .expect("git runs");
    String::from_utf8(output.stdout).unwrap_or_default()
}

/// Whether a text contains the object, by comparing lines: a check that is independent of ownerlint's parser.
fn stands_in(text: &str, kind: &str, name: &str) -> bool {
    let line = |document: &str, wanted: String| document.lines().any(|line| line.trim() == wanted);
    let mut documents = text.split("\n---");
    documents.any(|document| {
        let named =
            line(document, format!("name: {name}")) || line(document, format!("name: \"{name}\""));
        line(document, format!("kind: {kind}")) && named
    })
}

/// Why an object that leaves its place has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    /// Another file of head contains the object, and is applied.
    AppliedFromElsewhere,
    /// No kustomization included its file, so that it was not applied from there.
    NotApplied,
}

fn reason(clone: &Path, commit: &str, document: &Value, change: &Value) -> Option<Reason> {
    let key = text(if change["was"].is_null() {
        &change["key"]
    } else {
        &change["was"]
    });
    let (kind, name) = name(&key);
    let kind = kind.split('.').next().unwrap_or_default();
    if !document["plan"]["outcomes"][0]["objects"]
        .as_object()
        .expect("objects")
        .contains_key(&key)
    {
        return Some(Reason::NotApplied);
    }
    let is_generated = text(&change["base"]["file"]).ends_with("kustomization.yaml");
    // The name ends with a hash of the content.
    let written = match name.rsplit_once('-') {
        Some((generator, _)) if is_generated => generator,
        _ => &name,
    };
    let pattern = format!("name: {written}");
    let files = git(clone, &["grep", "-l", "-F", &pattern, commit]);
    let kustomizations = files
        .lines()
        .filter(|file| file.ends_with("kustomization.yaml"));
    if is_generated && kustomizations.count() > 0 {
        return Some(Reason::AppliedFromElsewhere);
    }
    let copies = files
        .lines()
        .filter(|file| stands_in(&git(clone, &["show", file]), kind, &name));
    (copies.count() > 0).then_some(Reason::AppliedFromElsewhere)
}

#[test]
fn removals_in_real_histories_have_effects_or_a_reason() {
    let Some(histories) = Histories::found() else {
        return;
    };
    let (mut kept, mut reasons, mut wrong) = (0, BTreeMap::<Reason, usize>::new(), Vec::new());
    for removal in &histories.removals {
        let (clone, commit) = (histories.of(removal), text(&removal["commit"]));
        let document = diff(&clone, &commit);
        let keys = leaving(&document).flat_map(|change| {
            ["key", "written", "was"].map(|field| change[field].as_str().map(name))
        });
        let left: BTreeSet<Name> = keys.flatten().collect();
        for gone in removal["gone"].as_array().expect("a list") {
            let (kind, group) = (text(&gone["kind"]), text(&gone["group"]));
            let full = if group.is_empty() {
                kind.clone()
            } else {
                format!("{kind}.{group}")
            };
            let (name, file) = (text(&gone["name"]), text(&gone["file"]));
            if left.contains(&(full.clone(), name.clone())) {
                continue;
            }
            // The list overlooks that the object stayed in its place.
            if stands_in(
                &git(&clone, &["show", &format!("{commit}:{file}")]),
                &kind,
                &name,
            ) {
                kept += 1;
            } else {
                wrong.push(format!(
                    "{commit} {full} {name} in {file} is not among the changes"
                ));
            }
        }
        let affected: BTreeSet<&str> = document["effects"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|effect| effect["key"].as_str())
            .collect();
        for change in leaving(&document).filter(|change| change["change"] != "moved") {
            let key = text(if change["was"].is_null() {
                &change["key"]
            } else {
                &change["was"]
            });
            if affected.contains(key.as_str()) {
                continue;
            }
            match reason(&clone, &commit, &document, change) {
                Some(reason) => *reasons.entry(reason).or_default() += 1,
                None => wrong.push(format!("{commit} {key} leaves, and nothing comes of it")),
            }
        }
    }
    println!(
        "{} removals; {kept} objects still stand where they stood; {reasons:?}",
        histories.removals.len()
    );
    assert_eq!(wrong, [""; 0]);
}

/// Whether a commit changes a version or a tag in a file with a HelmRelease, or a file of a chart, by comparing lines:
/// a check that is independent of ownerlint's parser.
fn touches_a_chart(clone: &Path, commit: &str) -> bool {
    let charts = git(
        clone,
        &["ls-tree", "-r", "--name-only", &format!("{commit}~")],
    );
    let charts: Vec<&str> = charts
        .lines()
        .filter_map(|path| path.strip_suffix("/Chart.yaml"))
        .collect();
    let changed = git(
        clone,
        &[
            "diff",
            "--name-only",
            "--no-renames",
            &format!("{commit}~"),
            commit,
        ],
    );
    changed.lines().any(|file| {
        let in_chart = charts
            .iter()
            .any(|chart| file.starts_with(&format!("{chart}/templates/")));
        let release =
            || git(clone, &["show", &format!("{commit}:{file}")]).contains("kind: HelmRelease");
        let versions = || {
            let lines = git(
                clone,
                &["diff", "-U0", &format!("{commit}~"), commit, "--", file],
            );
            let words = ["version:", "tag:"]
                .map(|word| move |line: &str| line[1..].trim_start().starts_with(word));
            let mut removed = lines
                .lines()
                .filter(|line| line.starts_with('-') && !line.starts_with("---"));
            removed.any(|line| words.iter().any(|is_version| is_version(line)))
        };
        in_chart || (file.ends_with(".yaml") && release() && versions())
    })
}

#[test]
fn verdict_is_never_nothing_if_inputs_are_unread() {
    let Some(histories) = Histories::found() else {
        return;
    };
    let clones: BTreeSet<PathBuf> = histories
        .removals
        .iter()
        .map(|removal| histories.of(removal))
        .collect();
    let step = if std::env::var_os("OWNERLINT_HISTORIES").is_some_and(|path| !path.is_empty()) {
        40
    } else {
        800
    };
    let (mut counts, mut wrong) = (BTreeMap::<String, usize>::new(), Vec::new());
    for clone in clones {
        let commits = git(&clone, &["rev-list", "--first-parent", "HEAD"]);
        let commits: Vec<&str> = commits.lines().collect();
        // The first commit has no parent.
        for commit in commits[..commits.len() - 1].iter().step_by(step) {
            let document = diff(&clone, commit);
            let verdict = text(&document["summary"]["verdict"]);
            let unread = document["unread"].as_array().expect("a list").len();
            if verdict == "nothing" && (unread > 0 || touches_a_chart(&clone, commit)) {
                wrong.push(format!("{commit}: {unread} unread"));
            }
            *counts.entry(verdict).or_default() += 1;
        }
    }
    println!("{counts:?}");
    assert_eq!(wrong, [""; 0]);
}
