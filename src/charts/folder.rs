//! A chart in a folder of the tree, with the charts that it depends on.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::call::RemoteChart;
use super::digest::Digest;
use crate::kustomize::{name_of, resolve, shown};
use crate::text::{SourceFile, decode_manifest};
use crate::yaml::{self, Content, Tree, Value};

/// Maximum size of a chart of the tree in bytes.
const MOST_BYTES: usize = 64 * 1024 * 1024;
/// Maximum number of its files.
const MOST_FILES: usize = 20_000;
/// Maximum nesting of charts of the tree.
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
#[derive(Debug)]
pub struct ChartFolder {
    path: String,
    /// The name in Chart.yaml, else that of the folder.
    name: String,
    version: String,
    digest: String,
    files: BTreeMap<String, Arc<[u8]>>,
    needs: Vec<(String, RemoteChart)>,
    /// The folders of the tree that are part of it.
    folders: Vec<String>,
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
            name: String::new(),
            version: String::new(),
            digest: String::new(),
            files: BTreeMap::new(),
            needs: Vec::new(),
            folders: Vec::new(),
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
        let about = chart.files.get("Chart.yaml");
        let about = about.and_then(|bytes| first("Chart.yaml", bytes));
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

    /// Returns a digest of the files and of their dependencies.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns the folders of the tree that are part of it.
    pub fn folders(&self) -> &[String] {
        &self.folders
    }

    /// Returns its files with their paths from its folder.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files
            .iter()
            .map(|(path, bytes)| (path.as_str(), &**bytes))
    }

    /// Returns its dependencies that are not in the tree, with the folders that they belong in.
    pub(super) fn needs(&self) -> &[(String, RemoteChart)] {
        &self.needs
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
            return Err(format!("{} depends on too many charts", shown(&self.path)));
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
            if bytes > MOST_BYTES || self.files.len() >= MOST_FILES {
                return Err(format!("{} is larger than charts are", shown(&self.path)));
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
        let locked: BTreeMap<String, String> =
            locked.map(|lock| (lock.name, lock.version)).collect();
        let below = resolve(to, "charts");
        for mut dependency in named.into_iter().flatten() {
            if self.has_chart(&below, &dependency.name) {
                continue;
            }
            if let Some(path) = dependency.url.strip_prefix("file://") {
                let folder = resolve(from, path);
                if tree.below(&folder).is_empty() {
                    return Err(format!(
                        "{} does not exist, on which it depends",
                        shown(&folder)
                    ));
                }
                let place = resolve(&below, &dependency.name);
                self.take(&folder, &place, tree, on_the_way)?;
                continue;
            }
            if let Some(version) = locked.get(&dependency.name) {
                dependency.version.clone_from(version);
            }
            if dependency.url.starts_with("oci://") {
                let RemoteChart { url, name, .. } = &mut dependency;
                *url = format!("{}/{name}", url.trim_end_matches('/'));
                name.clear();
            }
            if dependency.host().is_none() {
                let (name, url) = (&dependency.name, &dependency.url);
                return Err(format!(
                    "its dependency {name} is not in its folder `charts`, and `{url}` names no host"
                ));
            }
            self.needs.push((below.clone(), dependency));
        }
        Ok(())
    }

    /// Whether a folder contains a chart, unpacked or packed.
    fn has_chart(&self, below: &str, name: &str) -> bool {
        let unpacked = resolve(below, &format!("{name}/Chart.yaml"));
        let start = format!("{below}/{name}-");
        let packed = self.files.range(start.clone()..).map(|(path, _)| path);
        let mut packed = packed.map_while(|path| path.strip_prefix(&start));
        self.files.contains_key(&unpacked)
            || packed.any(|rest| {
                !rest.contains('/')
                    && rest.ends_with(".tgz")
                    && rest.starts_with(|c: char| c.is_ascii_digit() || c == 'v')
            })
    }

    /// Returns the entries of `dependencies` in a file of the chart.
    fn entries(&self, path: &str) -> Vec<RemoteChart> {
        let Some(tree) = self.files.get(path).and_then(|bytes| first(path, bytes)) else {
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

fn text(map: Value<'_>, key: &str) -> Option<String> {
    map.str_at(&[key]).map(str::to_owned)
}

/// Returns the first document of a file that is neither empty nor unreadable.
fn first(path: &str, bytes: &[u8]) -> Option<Tree> {
    let decoded = decode_manifest(bytes.to_vec()).ok()?;
    let source = SourceFile::new(path, decoded.text);
    yaml::read(&source)
        .into_iter()
        .find_map(|document| match document.content {
            Content::Value(tree) => Some(tree),
            Content::Empty | Content::Unreadable(_) => None,
        })
}
