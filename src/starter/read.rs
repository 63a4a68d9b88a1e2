//! Conversion of an inventory to the tree that `init` divides.

use std::borrow::Cow;

use super::tree::{FileTree, TreeFile};
use crate::inventory::Inventory;
use crate::kustomize::{folder_of, resolve};
use crate::manifest::ParsedFile;
use crate::yaml::Value;

/// Converts the files of `inventory`. Their paths begin with `folder`, which is empty or ends in a slash.
pub(super) fn tree(inventory: &Inventory, folder: &str) -> FileTree {
    let mut tree = FileTree::default();
    for (_, file) in inventory.files() {
        let path = file.source().path();
        let path = path.strip_prefix(folder).unwrap_or(path);
        tree.files.push(TreeFile {
            path: path.to_owned(),
            is_chart: is_chart(path, file),
            tests: values(file)
                .flat_map(|value| test_folders(folder_of(path), value))
                .collect(),
            ..TreeFile::default()
        });
    }
    for member in &inventory.members {
        let Some(file) = tree.files.get_mut(member.file.0 as usize) else {
            continue;
        };
        let object = &member.object;
        file.objects.push(member.key.to_string());
        file.definitions
            .extend(object.definition().and(object.name()).map(Cow::into_owned));
    }
    tree.files.sort_by(|a, b| a.path.cmp(&b.path));
    tree
}

/// Returns the values of a file's documents.
fn values(file: &ParsedFile) -> impl Iterator<Item = Value<'_>> {
    let documents = file.documents().iter();
    documents.filter_map(|document| Some(document.tree()?.root()))
}

/// Whether a file describes a chart other than a library chart.
fn is_chart(path: &str, file: &ParsedFile) -> bool {
    let is_named = path == "Chart.yaml" || path.ends_with("/Chart.yaml");
    let root = values(file).next().filter(|_| is_named);
    root.is_some_and(|root| {
        root.str_at(&["name"]).is_some() && root.str_at(&["type"]) != Some("library")
    })
}

/// Returns the folders of tests of a kuttl or chainsaw document: its own, unless it is a suite that names others.
fn test_folders(folder: &str, document: Value<'_>) -> Vec<String> {
    let version = document.str_at(&["apiVersion"]).unwrap_or_default();
    if !version.starts_with("kuttl.dev/") && !version.starts_with("chainsaw.kyverno.io/") {
        return Vec::new();
    }
    let Some(named) = document.get("testDirs") else {
        return vec![folder.to_owned()];
    };
    named
        .items()
        .filter_map(Value::as_str)
        .filter(|path| !path.contains("://") && !path.starts_with('/'))
        .map(|path| resolve(folder, path))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::SourceFile;

    fn tree_of(files: &[(&str, &str)]) -> FileTree {
        let files = files
            .iter()
            .map(|(path, text)| ParsedFile::parse(SourceFile::new(*path, *text)))
            .collect();
        tree(
            &Inventory::new(files, crate::inventory::Settings::default()),
            "",
        )
    }

    #[test]
    fn library_charts_are_not_counted_as_charts() {
        let files = [
            ("a/Chart.yaml", "name: web\n"),
            ("b/Chart.yaml", "name: lib\ntype: library\n"),
            ("c/MyChart.yaml", "name: x\n"),
        ];
        let tree = tree_of(&files);
        let charts: Vec<_> = tree.files.iter().map(|file| file.is_chart).collect();
        assert_eq!(charts, [true, false, false]);
    }

    #[test]
    fn test_folders_come_from_file_location_or_test_dirs() {
        let test = "apiVersion: chainsaw.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: x}\n";
        let suite =
            "apiVersion: kuttl.dev/v1beta1\nkind: TestSuite\ntestDirs: [./tests/e2e/, /outside]\n";
        let tree = tree_of(&[("kuttl-test.yaml", suite), ("x/chainsaw-test.yaml", test)]);
        let tests: Vec<_> = tree.files.iter().map(|file| file.tests.join(" ")).collect();
        assert_eq!(tests, ["tests/e2e", "x"]);
    }
}
