//! A chart in a folder of the tree, with the charts that it depends on.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::call::{RemoteChart, numbers_in};
use super::digest::Digest;
use crate::kustomize::{name_of, resolve, shown};
use crate::text::{SourceFile, decode_manifest};
use crate::yaml::{self, Content, Tree, Value};

/// Maximum size in bytes of a chart in the tree.
const MAX_BYTES: usize = 64 * 1024 * 1024;
/// Maximum number of files of a chart in the tree.
const MAX_FILES: usize = 20_000;
/// Maximum nesting of charts in the tree.
const NESTING: usize = 8;

/// The files of a state of a tree.
pub trait FolderFiles {
    /// Returns the paths of the files in and below a folder, in order.
    fn below(&self, folder: &str) -> Vec<String>;
    /// Reads a file.
    ///
    /// # Errors
    /// Returns the reason if it cannot be read.
    fn bytes(&self, path: &str) -> Result<Arc<[u8]>, String>;
}

/// A chart of the tree.
#[derive(Debug, Default)]
pub struct ChartFolder {
    path: String,
    /// The name in Chart.yaml, else that of the folder.
    name: String,
    version: String,
    /// A digest of `files` and `needs`.
    pub(super) digest: String,
    /// Its files, by their paths from its folder.
    pub(super) files: BTreeMap<String, Arc<[u8]>>,
    /// Its dependencies that are not in the tree, each with the folder that it belongs in.
    pub(super) needs: BTreeSet<(String, RemoteChart)>,
    /// The folders of the tree that are part of it.
    pub(super) folders: Vec<String>,
}

impl PartialEq for ChartFolder {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Eq for ChartFolder {}

impl ChartFolder {
    /// Reads the chart in a folder.
    ///
    /// # Errors
    /// Returns the reason if it cannot be rendered: an unreadable file, a missing dependency, or an exceeded limit.
    pub fn read(path: &str, tree: &dyn FolderFiles) -> Result<Self, String> {
        let mut chart = Self {
            path: path.to_owned(),
            ..Self::default()
        };
        chart.take(path, "", tree, &mut Vec::new())?;
        let mut digest = Digest::new();
        for (path, bytes) in &chart.files {
            digest = digest.and(path).and(bytes);
        }
        for (place, needed) in &chart.needs {
            digest = digest.and(place).and_all(needed.words());
        }
        chart.digest = digest.finish();
        let about = chart.document("Chart.yaml");
        let about = about.as_ref().map(Tree::root);
        let name = about.and_then(|about| text(about, "name"));
        chart.name = name.unwrap_or_else(|| name_of(path).to_owned());
        let version = about.and_then(|about| text(about, "version"));
        chart.version = version.unwrap_or_default();
        Ok(chart)
    }

    /// Returns its name and its version.
    pub fn title(&self) -> (&str, &str) {
        (&self.name, &self.version)
    }

    /// Adds the chart in the folder `from` of the tree under the path `to`, with its dependencies.
    fn take(
        &mut self,
        from: &str,
        to: &str,
        tree: &dyn FolderFiles,
        on_the_way: &mut Vec<String>,
    ) -> Result<(), String> {
        if on_the_way.len() >= NESTING || on_the_way.iter().any(|above| above == from) {
            let chart = shown(&self.path);
            return Err(format!(
                "{chart} depends on itself, or its dependencies are nested too deeply"
            ));
        }
        on_the_way.push(from.to_owned());
        self.folders.push(from.to_owned());
        let start = if from.is_empty() { 0 } else { from.len() + 1 };
        let mut bytes: usize = self.files.values().map(|bytes| bytes.len()).sum();
        for path in tree.below(from) {
            let content = tree
                .bytes(&path)
                .map_err(|reason| format!("{path} {reason}"))?;
            bytes += content.len();
            if bytes > MAX_BYTES || self.files.len() >= MAX_FILES {
                let chart = shown(&self.path);
                return Err(format!("{chart} exceeds the size limit for charts"));
            }
            self.files.insert(resolve(to, &path[start..]), content);
        }
        self.dependencies(from, to, tree, on_the_way)?;
        on_the_way.pop();
        Ok(())
    }

    fn dependencies(
        &mut self,
        from: &str,
        to: &str,
        tree: &dyn FolderFiles,
        on_the_way: &mut Vec<String>,
    ) -> Result<(), String> {
        let named =
            ["Chart.yaml", "requirements.yaml"].map(|file| self.entries(&resolve(to, file)));
        let locked = ["Chart.lock", "requirements.lock"].into_iter();
        let locked = locked.flat_map(|file| self.entries(&resolve(to, file)));
        // Dependencies may share a name: the lock lists their versions in the same order.
        let mut versions: BTreeMap<String, VecDeque<String>> = BTreeMap::new();
        for lock in locked {
            let locked = versions.entry(lock.name).or_default();
            locked.push_back(lock.version);
        }
        let below = resolve(to, "charts");
        let mut present = self.charts_in(&below);
        for dependency in named.into_iter().flatten() {
            let version = versions
                .get_mut(&dependency.name)
                .and_then(VecDeque::pop_front);
            if present.contains(&dependency.name) {
                continue;
            }
            if let Some(path) = dependency.url.strip_prefix("file://") {
                let folder = resolve(from, path);
                if tree.below(&folder).is_empty() {
                    let folder = shown(&folder);
                    return Err(format!("it depends on {folder}, which does not exist"));
                }
                let place = resolve(&below, &dependency.name);
                self.take(&folder, &place, tree, on_the_way)?;
                present.insert(dependency.name);
                continue;
            }
            let version = version.unwrap_or(dependency.version);
            let dependency = RemoteChart::new(dependency.url, dependency.name, version);
            if dependency.host().is_none() {
                let (name, url) = (&dependency.name, &dependency.url);
                return Err(format!(
                    "its dependency {name} is not in its folder `charts`, and `{url}` names no host"
                ));
            }
            self.needs.insert((below.clone(), dependency));
        }
        Ok(())
    }

    /// Returns the names of the charts in a folder, unpacked or packed.
    fn charts_in(&self, below: &str) -> BTreeSet<String> {
        let start = format!("{below}/");
        let files = self.files.range(start.clone()..);
        let files = files.map_while(|(path, _)| Some((path, path.strip_prefix(&start)?)));
        let names = files.filter_map(|(path, below)| match below.split_once('/') {
            None => Some(packed_chart(below)?.0.to_owned()),
            Some((folder, "Chart.yaml")) => {
                let about = self.document(path);
                let name = about.and_then(|about| text(about.root(), "name"));
                Some(name.unwrap_or_else(|| folder.to_owned()))
            }
            Some(_) => None,
        });
        names.collect()
    }

    /// Returns the first document of a file of the chart that is neither empty nor unreadable.
    fn document(&self, path: &str) -> Option<Tree> {
        let decoded = decode_manifest(self.files.get(path)?.to_vec()).ok()?;
        let source = SourceFile::new(path, decoded.text);
        let mut documents = yaml::read(source.shared_text()).into_iter();
        documents.find_map(|document| match document.content {
            Content::Value(tree) => Some(tree),
            Content::Empty | Content::Unreadable(_) => None,
        })
    }

    /// Returns the entries of `dependencies` in a file of the chart.
    fn entries(&self, path: &str) -> Vec<RemoteChart> {
        let Some(tree) = self.document(path) else {
            return Vec::new();
        };
        let all = tree.root().get("dependencies");
        let entries = all.into_iter().flat_map(Value::items);
        let entries = entries.map(|entry| RemoteChart {
            url: text(entry, "repository").unwrap_or_default(),
            name: text(entry, "name").unwrap_or_default(),
            version: text(entry, "version").unwrap_or_default(),
            is_plain: false,
        });
        entries.filter(|entry| !entry.name.is_empty()).collect()
    }
}

/// Returns the name and the version of the chart in an archive `NAME-VERSION.tgz`; both may contain `-`.
pub fn packed_chart(file: &str) -> Option<(&str, &str)> {
    let stem = file.strip_suffix(".tgz")?;
    let mut splits = stem.match_indices('-');
    let (at, _) = splits.find(|(at, _)| is_version(&stem[at + 1..]))?;
    Some((&stem[..at], &stem[at + 1..]))
}

/// Whether a text is a version. A suffix requires three numbers: `v2-1.0.0` is not a version.
fn is_version(text: &str) -> bool {
    numbers_in(text).is_some_and(|count| count == 3 || count < 3 && !text.contains(['-', '+']))
}

fn text(map: Value<'_>, key: &str) -> Option<String> {
    map.str_at(&[key]).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Files(BTreeMap<&'static str, &'static str>);

    impl FolderFiles for Files {
        fn below(&self, folder: &str) -> Vec<String> {
            let start = format!("{folder}/");
            let paths = self.0.keys().filter(|path| path.starts_with(&start));
            paths.map(|path| (*path).to_owned()).collect()
        }

        fn bytes(&self, path: &str) -> Result<Arc<[u8]>, String> {
            let text = self.0.get(path).ok_or("is missing")?;
            Ok(Arc::from(text.as_bytes()))
        }
    }

    /// Returns the dependencies of the chart in `app` that are not in the tree.
    fn needs(files: &[(&'static str, &'static str)]) -> Vec<String> {
        let files = Files(files.iter().copied().collect());
        let chart = ChartFolder::read("app", &files).expect("a chart");
        let needs = chart.needs.iter();
        needs
            .map(|(_, chart)| format!("{} {}", chart.name, chart.version))
            .collect()
    }

    const ONE: &str =
        "name: app\ndependencies: [{name: web, version: 1.x, repository: 'https://a.b'}]";

    #[test]
    fn packed_chart_is_recognised_by_name_and_version() {
        for (archive, is_web) in [
            ("app/charts/web-1.0.0.tgz", true),
            ("app/charts/web-v1.0.0-rc.1+build.tgz", true),
            ("app/charts/web-1.2.tgz", true),
            ("app/charts/web-v2-1.0.0.tgz", false),
            ("app/charts/web-2-1.0.0.tgz", false),
            ("app/charts/web.tgz", false),
        ] {
            let found = needs(&[("app/Chart.yaml", ONE), (archive, "")]);
            assert_eq!(found.is_empty(), is_web, "{archive}");
        }
    }

    #[test]
    fn unpacked_chart_is_recognised_by_its_own_name() {
        let chart = ("app/Chart.yaml", ONE);
        let found = needs(&[chart, ("app/charts/other/Chart.yaml", "name: web")]);
        assert!(found.is_empty(), "{found:?}");
        let found = needs(&[chart, ("app/charts/web/Chart.yaml", "name: other")]);
        assert_eq!(found, ["web 1.x"]);
    }

    #[test]
    fn dependencies_with_one_name_keep_their_own_versions() {
        let about = "dependencies:\n\
            - {name: web, version: 1.x, alias: one, repository: 'https://a.b'}\n\
            - {name: web, version: 2.x, alias: two, repository: 'https://a.b'}\n";
        let lock = "dependencies: [{name: web, version: 1.0.1}, {name: web, version: 2.0.2}]";
        let found = needs(&[("app/Chart.yaml", about), ("app/Chart.lock", lock)]);
        assert_eq!(found, ["web 1.0.1", "web 2.0.2"]);
    }
}
