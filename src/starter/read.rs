//! From an inventory to the tree that `init` looks at.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::tree::{FileTree, Kustomization, TreeFile, folder_of};
use crate::inventory::{Inventory, globs};
use crate::kube::kinds;
use crate::manifest::{Object, ParsedFile};
use crate::yaml::Value;

/// Where the paths of a tree start.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathRoots<'a> {
    /// What reported paths begin with: the folder of the configuration as it was given, with a slash at its end, or nothing.
    pub reported: &'a str,
    /// The folder of the configuration within the repository, without slashes around it: Flux and Argo CD name folders from
    /// the repository's root.
    pub repository: &'a str,
}

/// The files of `inventory`.
pub(super) fn tree(inventory: &Inventory, roots: PathRoots<'_>) -> FileTree {
    let mut tree = FileTree::default();
    for (_, file) in inventory.files() {
        let path = file.source().path();
        let path = path.strip_prefix(roots.reported).unwrap_or(path);
        tree.files.push(TreeFile {
            path: path.to_owned(),
            kustomization: kustomization(path, file),
            chart: chart(path, file),
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
        file.delivers
            .extend(delivered(object).filter_map(|path| below(roots.repository, path)));
    }
    tree.files.sort_by(|a, b| a.path.cmp(&b.path));
    expand(&mut tree);
    tree
}

/// Patterns of an ApplicationSet stand for the folders that they match.
fn expand(tree: &mut FileTree) {
    let folders: BTreeSet<String> = tree.folders().into_iter().map(str::to_owned).collect();
    for file in &mut tree.files {
        let (patterns, plain): (Vec<_>, Vec<_>) = std::mem::take(&mut file.delivers)
            .into_iter()
            .partition(|path| path.contains(['*', '?', '[']));
        let globs = patterns
            .into_iter()
            .filter_map(|pattern| globs(&[pattern]).ok());
        let matched = globs.flat_map(|glob| {
            folders
                .iter()
                .filter(move |folder| glob.is_match(folder.as_str()))
                .cloned()
                .collect::<Vec<_>>()
        });
        file.delivers = plain.into_iter().chain(matched).collect();
    }
}

/// The values of a file's documents.
fn values(file: &ParsedFile) -> impl Iterator<Item = Value<'_>> {
    file.documents()
        .iter()
        .filter_map(|document| document.tree())
        .map(|tree| tree.root())
}

/// What kustomize reads: <https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/>.
fn kustomization(path: &str, file: &ParsedFile) -> Option<Kustomization> {
    let name = path.rsplit('/').next()?;
    if !matches!(name, "kustomization.yaml" | "kustomization.yml") {
        return None;
    }
    let root = values(file).next()?;
    let folder = folder_of(path);
    let applied = ["resources", "bases", "components"]
        .iter()
        .filter_map(|key| root.get(key));
    let applied =
        applied.flat_map(|list| list.items().filter_map(Value::as_str).collect::<Vec<_>>());
    Some(Kustomization {
        applies: applied.filter_map(|path| joined(folder, path)).collect(),
        is_component: root.get("kind").and_then(Value::as_str) == Some("Component"),
    })
}

/// The name of the chart that a file describes, unless it only serves other charts.
fn chart(path: &str, file: &ParsedFile) -> Option<String> {
    if path != "Chart.yaml" && !path.ends_with("/Chart.yaml") {
        return None;
    }
    let root = values(file).next()?;
    let text = |key: &str| root.get(key).and_then(Value::as_str);
    text("name")
        .filter(|_| text("type") != Some("library"))
        .map(str::to_owned)
}

/// The folders, from the root of the repository, that an object of Flux or Argo CD delivers.
fn delivered(object: &Object) -> impl Iterator<Item = &str> {
    let mut paths = Vec::new();
    let at = |path: &[&str]| object.at(path);
    match object.group_kind() {
        kinds::FLUX_KUSTOMIZATION => paths.extend(at(&["spec", "path"])),
        kinds::APPLICATION => paths.extend(at(&["spec"]).map(sources).into_iter().flatten()),
        kinds::APPLICATION_SET => {
            paths.extend(
                at(&["spec", "template", "spec"])
                    .map(sources)
                    .into_iter()
                    .flatten(),
            );
            paths.extend(
                at(&["spec", "generators"])
                    .map(generated)
                    .into_iter()
                    .flatten(),
            );
        }
        _ => {}
    }
    paths
        .into_iter()
        .filter_map(Value::as_str)
        .filter(|path| !path.contains("{{"))
}

/// The paths of an Application's `source` or `sources`.
fn sources(spec: Value<'_>) -> Vec<Value<'_>> {
    let many = spec
        .get("sources")
        .into_iter()
        .flat_map(|sources| sources.items().collect::<Vec<_>>());
    spec.get("source")
        .into_iter()
        .chain(many)
        .filter_map(|source| source.get("path"))
        .collect()
}

/// The folders of git generators, also inside of `matrix` and `merge`.
fn generated(generators: Value<'_>) -> Vec<Value<'_>> {
    let mut paths = Vec::new();
    let mut pending: Vec<Value<'_>> = generators.items().collect();
    // A generator holds generators one level deep; the number of looks is bounded where an alias repeats them.
    for _ in 0..1000 {
        let Some(generator) = pending.pop() else {
            break;
        };
        let nested = ["matrix", "merge"]
            .iter()
            .filter_map(|key| generator.at(&[key, "generators"]));
        pending.extend(nested.flat_map(|generators| generators.items().collect::<Vec<_>>()));
        let folders = generator.at(&["git", "directories"]);
        let folders = folders
            .into_iter()
            .flat_map(|folders| folders.items().collect::<Vec<_>>());
        let included =
            folders.filter(|folder| folder.get("exclude").and_then(Value::as_bool) != Some(true));
        paths.extend(included.filter_map(|folder| folder.get("path")));
    }
    paths
}

/// The folders in which a document of kuttl or chainsaw says that tests are: its own, unless it is a suite that names others.
fn test_folders(folder: &str, document: Value<'_>) -> Vec<String> {
    let version = document
        .get("apiVersion")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if !version.starts_with("kuttl.dev/") && !version.starts_with("chainsaw.kyverno.io/") {
        return Vec::new();
    }
    let Some(named) = document.get("testDirs") else {
        return vec![folder.to_owned()];
    };
    named
        .items()
        .filter_map(Value::as_str)
        .filter_map(|path| joined(folder, path))
        .collect()
}

/// `path` as `folder` means it; `None` for what lies above the tree, and for addresses.
fn joined(folder: &str, path: &str) -> Option<String> {
    if path.contains("://") || path.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// A path of the repository as seen from one of its folders; `None` when it lies elsewhere.
fn below(folder: &str, path: &str) -> Option<String> {
    let path = joined("", path.trim_start_matches('/'))?;
    match folder {
        "" => Some(path),
        _ if path == folder => Some(String::new()),
        _ => path
            .strip_prefix(folder)?
            .strip_prefix('/')
            .map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::SourceFile;

    fn tree_of(files: &[(&str, &str)], roots: PathRoots<'_>) -> FileTree {
        let files = files
            .iter()
            .map(|(path, text)| ParsedFile::parse(SourceFile::new(*path, *text)))
            .collect();
        tree(
            &Inventory::new(files, crate::inventory::Settings::default()),
            roots,
        )
    }

    #[test]
    fn a_kustomization_applies_files_and_folders_of_the_tree() {
        let text = "resources: [web.yaml, ../base/, 'https://example.com/x', ../../outside]\ncomponents: [../proxy]\n";
        let tree = tree_of(&[("dev/kustomization.yaml", text)], PathRoots::default());
        let applies = ["dev/web.yaml", "base", "proxy"]
            .map(str::to_owned)
            .to_vec();
        assert_eq!(
            tree.files[0].kustomization,
            Some(Kustomization {
                applies,
                is_component: false
            })
        );
    }

    #[test]
    fn flux_and_argo_cd_name_folders_from_the_root_of_the_repository() {
        let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: x}\nspec: {path: ./deploy/apps}\n";
        let argo = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: x}\n\
                    spec: {source: {path: deploy/web}, sources: [{path: other}, {chart: x}]}\n";
        let set = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: x}\nspec:\n  template: {spec: {source: {path: '{{path}}'}}}\n  \
                   generators: [{matrix: {generators: [{git: {directories: [{path: 'deploy/addons/*'}, {path: deploy/off, exclude: true}]}}]}}]\n";
        let files = [
            ("at/a.yaml", flux),
            ("at/addons/b/x.yaml", argo),
            ("at/c.yaml", set),
        ];
        let tree = tree_of(
            &files,
            PathRoots {
                reported: "at/",
                repository: "deploy",
            },
        );
        let delivers: Vec<_> = tree
            .files
            .iter()
            .map(|file| (file.path.as_str(), file.delivers.join(" ")))
            .collect();
        let expected = [
            ("a.yaml", "apps"),
            ("addons/b/x.yaml", "web"),
            ("c.yaml", "addons/b"),
        ];
        assert_eq!(
            delivers,
            expected.map(|(path, delivers)| (path, delivers.to_owned()))
        );
    }

    #[test]
    fn charts_are_named_and_libraries_are_not() {
        let files = [
            ("a/Chart.yaml", "name: web\n"),
            ("b/Chart.yaml", "name: lib\ntype: library\n"),
            ("c/MyChart.yaml", "name: x\n"),
        ];
        let tree = tree_of(&files, PathRoots::default());
        let charts: Vec<_> = tree
            .files
            .iter()
            .map(|file| file.chart.as_deref())
            .collect();
        assert_eq!(charts, [Some("web"), None, None]);
    }

    #[test]
    fn tests_lie_where_their_documents_lie_or_say() {
        let test = "apiVersion: chainsaw.kyverno.io/v1alpha1\nkind: Test\nmetadata: {name: x}\n";
        let suite =
            "apiVersion: kuttl.dev/v1beta1\nkind: TestSuite\ntestDirs: [./tests/e2e/, /outside]\n";
        let tree = tree_of(
            &[("kuttl-test.yaml", suite), ("x/chainsaw-test.yaml", test)],
            PathRoots::default(),
        );
        let tests: Vec<_> = tree.files.iter().map(|file| file.tests.join(" ")).collect();
        assert_eq!(tests, ["tests/e2e", "x"]);
    }
}
