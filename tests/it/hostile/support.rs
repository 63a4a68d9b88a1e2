//! A folder, the program in it, and limits on what the program may use.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::support::{Repository, ownerlint};

/// An object that is right in every way.
pub(super) const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\n";

/// A repository with one good object in `rendered/`.
pub(super) fn repository() -> Repository {
    let repository = Repository::new();
    repository.write("rendered/good.yaml", CONFIG_MAP);
    repository
}

/// The files of the objects that `list` sees.
pub(super) fn files(repository: &Repository, arguments: &[&str]) -> Vec<String> {
    let (_, out, error) = repository.run(&[&["list", "-o", "json"], arguments].concat(), "");
    let listed: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("no JSON: {error}"));
    let objects = listed["objects"].as_array().expect("objects");
    objects.iter().map(|object| object["file"].as_str().expect("a file").to_owned()).collect()
}

/// `rule message` of every finding.
pub(super) fn findings(repository: &Repository, arguments: &[&str]) -> Vec<String> {
    let (_, out, error) = repository.run(&[&["-o", "json"], arguments].concat(), "");
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("no JSON: {error}"));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found = report["findings"].as_array().expect("findings").iter();
    found.map(|finding| format!("{} {}", text(&finding["rule"]), text(&finding["message"]))).collect()
}

/// Runs a line of `sh` in a folder, in which `$OWNERLINT` is the program.
pub(super) fn shell(folder: &Path, line: &str) -> Output {
    let mut command = std::process::Command::new("sh");
    let program = ownerlint().get_program().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.current_dir(folder).env_clear().env("PATH", path).env("OWNERLINT", program).env("COLUMNS", "100");
    command.args(["-c", line]).output().expect("sh runs")
}
