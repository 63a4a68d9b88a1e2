//! The environment of a job: a repository with an `origin`, a base branch and a pull request, checkouts of it, and
//! fakes of `gh` and `cargo` on the `PATH`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use super::runner::Job;
use crate::support::write_program;

/// Whether bash, git and jq are installed; prints a note if not.
pub(crate) fn tools() -> bool {
    let there = |tool: &str| {
        Command::new(tool)
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success())
    };
    let missing: Vec<_> = ["bash", "git", "jq"]
        .into_iter()
        .filter(|tool| !there(tool))
        .collect();
    if !missing.is_empty() {
        crate::support::skip(&format!("not installed: {}", missing.join(", ")));
    }
    missing.is_empty()
}

/// The state of the workspace after `actions/checkout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checkout {
    /// The default: only the merge commit of the pull request.
    Shallow,
    /// `fetch-depth: 2`: the merge commit and its parents.
    Two,
    /// `fetch-depth: 0`.
    Full,
    /// `ref: <the head of the pull request>`: only that commit.
    ShallowHead,
    /// The base branch.
    Base,
}

/// A repository on a code host, with one pull request.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
    base: String,
    head: String,
    merge: String,
}

type Files<'a> = &'a [(&'a str, &'a str)];

impl Stage {
    /// Creates a base branch with `base`, a pull request that adds or replaces the files of `change` and removes those
    /// without a text, and then a commit `later` on the base branch.
    pub(crate) fn new(base: Files<'_>, change: Files<'_>, later: Files<'_>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it exists");
        for name in ["bin", "home", "seed", "origin.git"] {
            std::fs::create_dir(root.join(name)).expect("a folder");
        }
        let mut stage = Self {
            folder,
            base: String::new(),
            head: String::new(),
            merge: String::new(),
        };
        stage.git("origin.git", &["init", "-q", "--bare", "-b", "main"]);
        stage.git("seed", &["init", "-q", "-b", "main"]);
        // The base has an earlier commit, so that a shallow checkout lacks something.
        stage.commit("README.md", &[("README.md", "# Deploy\n")]);
        stage.base = stage.commit("base", base);
        stage.git("seed", &["checkout", "-q", "-b", "topic"]);
        stage.head = stage.commit("change", change);
        stage.git("seed", &["checkout", "-q", "main"]);
        if !later.is_empty() {
            stage.commit("later", later);
        }
        stage.git("seed", &["checkout", "-q", "--detach"]);
        stage.git("seed", &["merge", "-q", "--no-ff", "-m", "merge", "topic"]);
        stage.merge = stage.git("seed", &["rev-parse", "HEAD"]);
        let origin = stage.origin();
        stage.git(
            "seed",
            &[
                "push",
                "-q",
                &origin,
                "main",
                "topic",
                "HEAD:refs/pull/7/merge",
            ],
        );
        stage.program("gh", GH);
        stage.write("gh/comments.json", "[]");
        stage
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("it exists")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.root().join(path)).unwrap_or_default()
    }

    /// Writes a program to the `PATH` of the jobs.
    pub(crate) fn program(&self, name: &str, text: &str) {
        let path = self.root().join("bin").join(name);
        write_program(&path, text.as_bytes());
    }

    /// Returns the job of a push to the base branch, checked out in full depth.
    pub(crate) fn push(&self) -> Job {
        let workspace = self.checkout("push", Checkout::Base);
        let sha = self.git(&workspace, &["rev-parse", "HEAD"]);
        self.job(
            &workspace,
            "push",
            json!({"ref": "refs/heads/main", "after": sha}),
            &sha,
        )
    }

    /// Returns the job of the pull request.
    pub(crate) fn pull_request(&self, checkout: Checkout) -> Job {
        let name = format!("pull-{checkout:?}");
        let workspace = self.checkout(&name, checkout);
        let event = json!({
            "number": 7,
            "pull_request": {
                "number": 7,
                "user": {"login": "bob"},
                "base": {"sha": self.base, "ref": "main", "repo": {"full_name": "shop/deploy"}},
                "head": {"sha": self.head, "ref": "topic", "repo": {"full_name": "shop/deploy", "fork": false}},
            },
        });
        self.job(&workspace, "pull_request", event, &self.merge)
    }

    /// Returns the job of the pull request in a merge queue: a commit on top of the base branch.
    pub(crate) fn merge_group(&self, checkout: Checkout) -> Job {
        let workspace = self.checkout(&format!("queue-{checkout:?}"), checkout);
        let base = self.git("seed", &["rev-parse", "main"]);
        let event = json!({
            "action": "checks_requested",
            "merge_group": {
                "base_ref": "refs/heads/main",
                "base_sha": base,
                "head_ref": format!("refs/heads/gh-readonly-queue/main/pr-7-{base}"),
                "head_sha": self.merge,
            },
        });
        self.job(&workspace, "merge_group", event, &self.merge)
    }

    fn job(&self, workspace: &str, event_name: &str, event: serde_json::Value, sha: &str) -> Job {
        let gh = self.root().join("gh").to_string_lossy().into_owned();
        Job {
            workspace: self.root().join(workspace),
            temp: self.root(),
            inputs: BTreeMap::new(),
            event_name: event_name.to_owned(),
            event,
            sha: sha.to_owned(),
            environment: BTreeMap::from([
                (
                    "OWNERLINT_BINARY".to_owned(),
                    env!("CARGO_BIN_EXE_ownerlint").to_owned(),
                ),
                ("FAKE_GH".to_owned(), gh),
            ]),
        }
    }

    fn origin(&self) -> String {
        format!("file://{}", self.root().join("origin.git").display())
    }

    /// Checks out like `actions/checkout`: fetches one commit, then detaches the head.
    fn checkout(&self, name: &str, checkout: Checkout) -> String {
        std::fs::create_dir(self.root().join(name)).expect("a folder");
        self.git(name, &["init", "-q"]);
        self.git(name, &["remote", "add", "origin", &self.origin()]);
        let main = self.git("seed", &["rev-parse", "main"]);
        let (commit, depth) = match checkout {
            Checkout::Shallow => (&self.merge, Some("--depth=1")),
            Checkout::Two => (&self.merge, Some("--depth=2")),
            Checkout::Full => (&self.merge, None),
            Checkout::ShallowHead => (&self.head, Some("--depth=1")),
            Checkout::Base => (&main, None),
        };
        let refspec = format!("+{commit}:refs/remotes/pull/7/merge");
        let mut fetch = vec!["fetch", "-q", "--no-tags"];
        fetch.extend(depth);
        fetch.extend(["origin", refspec.as_str()]);
        self.git(name, &fetch);
        self.git(
            name,
            &["checkout", "-q", "--force", "refs/remotes/pull/7/merge"],
        );
        name.to_owned()
    }

    /// Makes `origin` unreachable, as for a job without credentials.
    pub(crate) fn cut_off(&self) {
        std::fs::rename(self.root().join("origin.git"), self.root().join("away.git"))
            .expect("a folder");
    }

    fn commit(&self, message: &str, files: Files<'_>) -> String {
        for (path, text) in files {
            match *text {
                "" => std::fs::remove_file(self.root().join("seed").join(path)).expect("a file"),
                text => self.write(&format!("seed/{path}"), text),
            }
        }
        self.git("seed", &["add", "-A"]);
        self.git("seed", &["commit", "-q", "--allow-empty", "-m", message]);
        self.git("seed", &["rev-parse", "HEAD"])
    }

    pub(crate) fn git(&self, folder: &str, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.com",
            "-c",
            "commit.gpgsign=false",
        ]);
        command
            .args(arguments)
            .current_dir(self.root().join(folder));
        command
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", self.root().join("home"));
        let output = command.output().expect("git runs");
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Returns the comments on the pull request, as the API would list them.
    pub(crate) fn comments(&self) -> Vec<serde_json::Value> {
        serde_json::from_str(&self.read("gh/comments.json")).expect("JSON")
    }

    /// Whether any file below the stage has this name, to detect programs that should not have run.
    pub(crate) fn holds_file_named(&self, name: &str) -> bool {
        fn search(folder: &Path, name: &str) -> bool {
            std::fs::read_dir(folder)
                .expect("a folder")
                .flatten()
                .any(|entry| {
                    let path = entry.path();
                    path.file_name().is_some_and(|file| file == name)
                        || (path.is_dir() && search(&path, name))
                })
        }
        search(&self.root(), name)
    }
}

/// A fake of the part of the GitHub CLI that the action uses, on the files of `$FAKE_GH`: with `read-only`, writes fail
/// as with the token of a fork's pull request; `archive` is the file of the only release, `attested` the content that
/// the release workflow attested for its tag.
const GH: &str = r#"#!/usr/bin/env bash
set -euo pipefail
cd "$FAKE_GH"
printf '%s\n' "$*" >>log
[[ "${GH_TOKEN:-}" == the-token ]] || { echo "gh: no token" >&2; exit 4; }
case "$1 $2" in
  "api repos/shop/deploy/collaborators/"*"/permission")
    [[ "$3 $4" == "--jq .permission" ]]
    login=${2%/permission}
    jq -r --arg login "${login##*/}" '.[$login] // "read"' permissions.json ;;
  "api user") [[ -f me ]] && cat me || { echo "gh: Resource not accessible by integration (HTTP 403)" >&2; exit 1; } ;;
  "api --paginate")
    [[ "$3" == repos/shop/deploy/issues/7/comments ]]
    [[ ! -f unreadable ]] || { echo "gh: Not Found (HTTP 404)" >&2; exit 1; }
    # Two pages.
    jq '.[:1]' comments.json
    jq '.[1:]' comments.json ;;
  "api --method")
    [[ ! -f read-only ]] || { printf 'gh: Resource not accessible by integration (HTTP 403)\n::error::pwned\n' >&2; exit 1; }
    [[ "$5" == --field && "$6" == body=@* ]]
    jq -n --rawfile body "${6#body=@}" '$body' >body
    case "$3 $4" in
      "POST repos/shop/deploy/issues/7/comments")
        jq --slurpfile body body '. + [{id: (length + 1), body: $body[0], user: {login: "github-actions[bot]", type: "Bot"}}]' comments.json >new ;;
      "PATCH repos/shop/deploy/issues/comments/"*)
        jq --slurpfile body body --argjson id "${4##*/}" 'map(if .id == $id then .body = $body[0] else . end)' comments.json >new ;;
      *) exit 9 ;;
    esac
    mv new comments.json ;;
  "release view")
    [[ "$3 $4 $5 $6 $7 $8" == "--repo ownerlint/ownerlint --json tagName --jq .tagName" && -f latest ]] ||
      { echo "release not found" >&2; exit 1; }
    cat latest ;;
  "release download")
    [[ -f archive && "$3" == v9.8.7 && "$4 $5" == "--repo ownerlint/ownerlint" && "$6" == --pattern && "$8" == --dir ]] ||
      { echo "release not found" >&2; exit 1; }
    cp archive "$9/$7" ;;
  "attestation verify")
    [[ "$4 $5" == "--repo ownerlint/ownerlint" && "$6 $7" == "--signer-workflow ownerlint/ownerlint/.github/workflows/release.yaml" ]]
    [[ "$8 $9" == "--source-ref refs/tags/v9.8.7" ]]
    cmp -s "$3" attested || { echo "no attestation" >&2; exit 1; } ;;
  *) exit 9 ;;
esac
"#;
