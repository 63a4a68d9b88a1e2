//! A folder, and runs of the program in it.

use serde_json::Value;

use crate::support::Repository;

/// A correct object.
pub(super) const CONFIG_MAP: &str =
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\n";

/// Creates a repository with one correct object in `rendered/`.
pub(super) fn repository() -> Repository {
    let repository = Repository::new();
    repository.write("rendered/good.yaml", CONFIG_MAP);
    repository
}

/// Returns the files of the objects that `list` shows.
pub(super) fn files(repository: &Repository, arguments: &[&str]) -> Vec<String> {
    let (_, out, error) = repository.run(&[&["list", "-o", "json"], arguments].concat(), "");
    let listed: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("no JSON: {error}"));
    let objects = listed["objects"].as_array().expect("objects");
    objects
        .iter()
        .map(|object| object["file"].as_str().expect("a file").to_owned())
        .collect()
}

/// Returns `rule message` for every finding.
pub(super) fn findings(repository: &Repository, arguments: &[&str]) -> Vec<String> {
    let (_, out, error) = repository.run(&[&["-o", "json"], arguments].concat(), "");
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("no JSON: {error}"));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let found = report["findings"].as_array().expect("findings").iter();
    found
        .map(|finding| format!("{} {}", text(&finding["rule"]), text(&finding["message"])))
        .collect()
}
