//! Folders to compare, and the results of comparing them.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::formats::schemas::{parsed, schema_errors, validator};
use crate::support::ownerlint;

/// A temporary folder for a test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> &Self {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
        self
    }

    pub(crate) fn remove(&self, path: &str) -> &Self {
        std::fs::remove_file(self.path().join(path)).expect("a file");
        self
    }

    /// Runs Git in the folder, with the folder's configuration only.
    pub(crate) fn git(&self, arguments: &[&str]) -> &Self {
        self.output(arguments);
        self
    }

    /// Returns the output of Git.
    pub(crate) fn output(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(self.path()).args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-c",
            "protocol.file.allow=always",
        ]);
        command
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("HOME", self.path());
        let output = command.args(arguments).output().expect("git runs");
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn commit(&self) -> &Self {
        self.git(&["add", "-A"]).git(&["commit", "-qm", "x"])
    }

    /// Returns the output of `diff` with these arguments, run in a subfolder.
    pub(crate) fn run(&self, below: &str, arguments: &[&str]) -> Result<Value, String> {
        let mut command = ownerlint();
        command
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path());
        command
            .current_dir(self.path().join(below))
            .args(["diff", "-o", "json"])
            .args(arguments);
        let output = command.output().expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        match output.status.code() {
            Some(2) | None => Err(String::from_utf8(output.stderr).expect("text")),
            Some(_) => {
                let document = parsed(&text);
                assert_eq!(schema_errors(validator("diff"), &document), [""; 0]);
                Ok(document)
            }
        }
    }

    /// Returns what the comparison of the subfolders `base` and `head` prints, 1000 columns wide.
    pub(crate) fn text(&self, arguments: &[&str]) -> String {
        let mut command = ownerlint();
        command
            .current_dir(self.path())
            .args(["diff", "--base", "base", "--head", "head"])
            .args(arguments)
            .env("COLUMNS", "1000");
        let output = command.output().expect("it runs");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Returns the changes as lines.
    pub(crate) fn changes(&self, arguments: &[&str]) -> Vec<String> {
        lines(
            &self
                .run("", arguments)
                .unwrap_or_else(|error| panic!("{error}")),
        )
    }
}

/// Writes the folders `base` and `head`, and returns the changes between them.
pub(super) fn changed(base: &[(&str, &str)], head: &[(&str, &str)]) -> Vec<String> {
    let folder = Folder::new();
    for (side, files) in [("base", base), ("head", head)] {
        std::fs::create_dir(folder.path().join(side)).expect("a folder");
        for (path, text) in files {
            folder.write(&format!("{side}/{path}"), text);
        }
    }
    folder.changes(&["--base", "base", "--head", "head"])
}

/// Returns lines such as `removed Secret/a/b` and `renamed Secret/a/b -> Secret/a/c`.
pub(super) fn lines(document: &Value) -> Vec<String> {
    let changes = document["changes"].as_array().expect("a list").iter();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let lines = changes.map(|change| {
        let (kind, key) = (
            text(&change["change"]).expect("a word"),
            text(&change["key"]).expect("a key"),
        );
        match text(&change["was"]) {
            Some(was) => format!("{kind} {was} -> {key}"),
            None => format!("{kind} {key}"),
        }
    });
    lines.collect()
}

/// Returns a small manifest.
pub(super) fn object(api_version: &str, kind: &str, name: &str) -> String {
    format!("apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: {name}\n")
}

/// Returns a ConfigMap with data.
pub(super) fn config(name: &str) -> String {
    object("v1", "ConfigMap", name) + "data: {a: one, b: two, c: three, d: four, e: five}\n"
}
