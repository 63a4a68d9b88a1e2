//! A repository with charts and a `helm`, and the reports of `diff --render` on it.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::diff::places::Folder;
use crate::formats::schemas::{parsed, schema_errors, validator};
use crate::support::{ownerlint, write_program};

/// A fake of Helm: `template` prints `objects.txt` of a chart, with the names of the release and its namespace; `pull`
/// copies a chart from the folder `served`. It logs its arguments.
pub(crate) const HELM: &str = r#"#!/bin/sh
here=${0%/*}
printf '%s\n' "$*" >> "$here/log"
case $1 in
template)
  [ -z "$SECRET" ] || { echo 'Error: sees secrets' >&2; exit 1; }
  [ ! -e "$3/fails" ] || { cat "$3/fails" >&2; exit 1; }
  for option; do case $option in --namespace=*) namespace=${option#*=};; esac; done
  sed -e "s/RELEASE/$2/" -e "s/NAMESPACE/$namespace/" -e "s/RANDOM/$$/" "$3/objects.txt"
  for option; do case $option in --values=*) cat "${option#*=}" >> "$here/values";; esac; done ;;
pull)
  for option; do case $option in
  --untardir=*) into=${option#*=} ;;
  --version=*) version=${option#*=} ;;
  esac; done
  cp -r "$here/served/${2##*/}-$version" "$into/${2##*/}" 2>/dev/null || { echo "Error: no chart ${2##*/} $version" >&2; exit 1; } ;;
esac
"#;

/// The environment of a test of charts.
pub(super) struct Surroundings {
    pub(super) folder: Folder,
    /// Contains `helm`, its served charts and its log.
    programs: TempDir,
    home: TempDir,
    helm: Option<PathBuf>,
}

/// The arguments that render and compare the last commit.
pub(super) const LAST_COMMIT: [&str; 6] = [
    "diff",
    "--base-ref",
    "HEAD~",
    "--head-ref",
    "HEAD",
    "--render",
];

impl Surroundings {
    /// Creates an environment with the fake of Helm.
    pub(super) fn with_fake_helm() -> Self {
        let found = Self::with(None);
        write_program(&found.programs.path().join("helm"), HELM.as_bytes());
        found
    }

    /// Creates an environment with a real Helm.
    pub(super) fn with_helm(helm: &Path) -> Self {
        Self::with(Some(helm.to_owned()))
    }

    fn with(helm: Option<PathBuf>) -> Self {
        let folder = Folder::new();
        folder.git(&["init", "-q", "-b", "main"]);
        Self {
            folder,
            programs: tempfile::tempdir().expect("a folder"),
            home: tempfile::tempdir().expect("a folder"),
            helm,
        }
    }

    pub(super) fn write(&self, files: &[(&str, &str)]) -> &Self {
        for (path, text) in files {
            self.folder.write(path, text);
        }
        self
    }

    /// Serves a chart that renders to `objects`.
    pub(super) fn serve(&self, name: &str, version: &str, objects: &str) -> &Self {
        let chart = self
            .programs
            .path()
            .join(format!("served/{name}-{version}"));
        std::fs::create_dir_all(chart.join("templates")).expect("a folder");
        let about = format!("apiVersion: v2\nname: {name}\nversion: {version}\n");
        std::fs::write(chart.join("Chart.yaml"), about).expect("a file");
        std::fs::write(chart.join("objects.txt"), objects).expect("a file");
        self
    }

    /// Writes a file of a served chart.
    pub(super) fn serve_file(&self, path: &str, text: &str) -> &Self {
        let path = self.programs.path().join("served").join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
        self
    }

    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns the calls of Helm so far, the first two words of each.
    pub(super) fn calls(&self) -> Vec<String> {
        let log = self.programs.path().join("log");
        let log = std::fs::read_to_string(log).unwrap_or_default();
        let words = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
        log.lines().map(words).collect()
    }

    /// Returns the calls of Helm so far, with all their words.
    pub(super) fn log(&self) -> String {
        std::fs::read_to_string(self.programs.path().join("log")).unwrap_or_default()
    }

    /// Returns the values with which Helm was called so far.
    pub(super) fn values(&self) -> String {
        let values = self.programs.path().join("values");
        std::fs::read_to_string(values).unwrap_or_default()
    }

    /// Returns the program in the tree, with this `helm` and a home folder of its own.
    pub(super) fn ownerlint(&self) -> assert_cmd::Command {
        let own = self.programs.path().to_owned();
        let helm = self.helm.as_deref().and_then(Path::parent);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = [helm.unwrap_or(&own).to_owned()];
        let path = folders.into_iter().chain(std::env::split_paths(&path));
        let mut command = ownerlint();
        command
            .env("PATH", std::env::join_paths(path).expect("a path"))
            .env("HOME", self.home.path())
            .env("SECRET", "token")
            .current_dir(self.folder.path());
        command
    }

    /// Returns the report of `diff` on the last commit.
    pub(super) fn diff(&self, more: &[&str]) -> Value {
        let mut command = self.ownerlint();
        command.args(["diff", "-o", "json", "--exit-zero"]);
        command.args(["--base-ref", "HEAD~", "--head-ref", "HEAD"]);
        let output = command.args(more).output().expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        let document = parsed(&text);
        assert_eq!(schema_errors(validator("diff"), &document), [""; 0]);
        document
    }
}

/// Returns a line such as `deleted Service/shop/web` for each effect, except for objects that stay.
pub(super) fn effects(document: &Value) -> Vec<String> {
    let effects = document["effects"].as_array().expect("a list").iter();
    let effects = effects.filter(|effect| effect["effect"] != "kept");
    let said = effects.map(|effect| {
        let text = |field: &str| effect[field].as_str().expect("a text").to_owned();
        let possibly = match text("certainty").as_str() {
            "certain" => String::new(),
            word => format!("{word} "),
        };
        format!("{possibly}{} {}", text("effect"), text("key"))
    });
    let mut said: Vec<String> = said.collect();
    said.sort();
    said
}

/// Returns a line such as `chart web 1.0.0 → 2.0.0: why` for each unread input.
pub(super) fn unread(document: &Value) -> Vec<String> {
    let unread = document["unread"].as_array().expect("a list").iter();
    let said = unread.map(|input| {
        let text = |field: &str| input[field].as_str().expect("a text").to_owned();
        format!("{}: {}", text("subject"), text("reason"))
    });
    said.collect()
}
