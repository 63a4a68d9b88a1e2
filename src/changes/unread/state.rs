//! The files of one state in which inputs are found.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::canonical::{canonical, digest};
use super::data::{Data, DataObject, Home, WrittenAs};

use crate::graph::delivery::Release;
use crate::kustomize::{ancestors, folder_of, name_of, resolve};
use crate::manifest::{KUSTOMIZATIONS, Object, ParsedFile, is_kustomization};
use crate::yaml::{Tree, Value};

/// A file whose name is not that of a manifest.
#[derive(Clone, Debug)]
pub struct OtherFile<'s> {
    /// The path that it is reported under.
    pub path: &'s str,
    /// Its text, or why there is none.
    pub text: String,
}

/// One state of a tree.
pub struct SourceState<'s> {
    /// Its manifests and kustomizations by their places.
    files: BTreeMap<&'s str, &'s ParsedFile>,
    /// Other files that may be inputs.
    others: BTreeMap<&'s str, OtherFile<'s>>,
    /// The fingerprints of the contents of all files, read or not: ids of Git, or sizes on disk.
    contents: &'s BTreeMap<String, String>,
    folders: &'s BTreeSet<String>,
    submodules: &'s BTreeSet<String>,
    builds: Builds<'s>,
    /// Folders that kustomizations include and that were not followed.
    unfollowed: BTreeSet<&'s str>,
    charts: BTreeSet<&'s str>,
    /// The files that kustomizations name as resources.
    resources: BTreeSet<String>,
    /// ConfigMaps and Secrets, and their generators.
    data: Data<'s>,
    /// Cache of digests, by the content that is digested.
    digests: RefCell<HashMap<(Digested, String), String>>,
}

/// The kind of digested content. In a cache key, its name follows.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Digested {
    /// The file at a place.
    File,
    /// All files below a folder.
    Folder,
    /// ConfigMaps and Secrets, by their indices.
    Data,
}

/// Lookups of the files that builds evaluated.
#[derive(Clone, Copy)]
pub struct Builds<'s> {
    /// Whether the file at a place was evaluated by a renderer.
    pub rendered: &'s dyn Fn(&str) -> bool,
    /// Whether a build evaluated the components, patches, generators and variables in the file at a place.
    pub evaluated: &'s dyn Fn(&str) -> bool,
    /// The result of rendering the charts that the file at a place affects: `None` if none of them was rendered.
    pub charted: &'s dyn Fn(&str) -> Option<Result<(), String>>,
    /// The places into which an object of a file, or the objects of a generator in it, are delivered.
    pub homes: &'s dyn Fn(&str, WrittenAs<'_>) -> Vec<Home>,
    /// The releases of HelmReleases in the delivery graph, by the file and the name of the HelmRelease.
    pub releases: &'s HashMap<(&'s str, &'s str), &'s Release>,
}

impl<'s> SourceState<'s> {
    /// Builds the state of `files` and `others`. `contents` has every path of the state with the fingerprint of its
    /// content, `unfollowed` the folders that kustomizations include and that were not followed.
    pub fn new(
        files: impl IntoIterator<Item = (&'s str, &'s ParsedFile)>,
        others: impl IntoIterator<Item = (&'s str, OtherFile<'s>)>,
        contents: &'s BTreeMap<String, String>,
        folders: &'s BTreeSet<String>,
        submodules: &'s BTreeSet<String>,
        unfollowed: BTreeSet<&'s str>,
        builds: Builds<'s>,
    ) -> Self {
        let files: BTreeMap<&str, &ParsedFile> = files.into_iter().collect();
        let others: BTreeMap<&str, OtherFile<'_>> = others.into_iter().collect();
        let charts = files
            .keys()
            .chain(others.keys())
            .filter(|place| name_of(place) == "Chart.yaml")
            .map(|place| folder_of(place))
            .collect();
        let mut state = Self {
            files,
            others,
            contents,
            folders,
            submodules,
            builds,
            unfollowed,
            charts,
            resources: BTreeSet::new(),
            data: Data::default(),
            digests: RefCell::default(),
        };
        state.resources = state.named_resources();
        state.data = Data::new(&state);
        state
    }

    fn named_resources(&self) -> BTreeSet<String> {
        let mut named = BTreeSet::new();
        for (place, _, root) in self.kustomizations() {
            let entries = items(root, &["resources", "bases", "components"]);
            let paths = entries.filter_map(Value::as_str);
            named.extend(paths.map(|path| resolve(folder_of(place), path)));
        }
        named
    }

    /// Returns manifests and kustomizations, in order.
    pub(super) fn files(&self) -> impl Iterator<Item = (&'s str, &'s ParsedFile)> {
        self.files.iter().map(|(place, file)| (*place, *file))
    }

    pub(super) fn others(&self) -> impl Iterator<Item = (&'s str, &OtherFile<'s>)> {
        self.others.iter().map(|(place, other)| (*place, other))
    }

    pub(super) fn file(&self, place: &str) -> Option<&'s ParsedFile> {
        self.files.get(place).copied()
    }

    /// Returns the path under which a file is reported, if it was read.
    pub(super) fn path(&self, place: &str) -> Option<&'s str> {
        let parsed = self.files.get(place).map(|file| file.source().path());
        parsed.or_else(|| self.others.get(place).map(|other| other.path))
    }

    /// Returns the text of a file with any name.
    pub(super) fn text(&self, place: &str) -> Option<&str> {
        let parsed = self.files.get(place).map(|file| file.source().text());
        parsed.or_else(|| self.others.get(place).map(|other| other.text.as_str()))
    }

    /// Returns the text of a file, else the fingerprint of its content.
    pub(super) fn content(&self, place: &str) -> Option<&str> {
        let text = self.text(place).filter(|text| !text.is_empty());
        text.or_else(|| self.contents.get(place).map(String::as_str))
    }

    /// Returns the digest of the content of a file; empty if there is none.
    pub(super) fn digest(&self, place: &str) -> String {
        self.digests
            .borrow_mut()
            .entry((Digested::File, place.to_owned()))
            .or_insert_with(|| self.content(place).map(digest).unwrap_or_default())
            .clone()
    }

    fn cached(&self, of: Digested, name: &str, text: impl FnOnce() -> String) -> String {
        let key = (of, name.to_owned());
        if let Some(known) = self.digests.borrow().get(&key) {
            return known.clone();
        }
        let found = digest(&text());
        self.digests.borrow_mut().insert(key, found.clone());
        found
    }

    pub(super) fn digest_below(&self, folder: &str) -> String {
        self.cached(Digested::Folder, folder, || {
            let files = self.paths_below(folder);
            files
                .map(|place| format!("{place} {}\n", self.digest(place)))
                .collect()
        })
    }

    /// Returns the digest of the ConfigMaps and Secrets called `name` that `reader` may read, and
    /// of the files that generate them.
    pub(super) fn data_digest(&self, (place, reader): (&str, &Object), name: &str) -> String {
        let found = self.data.read_by(&self.homes(place, reader), name);
        self.cached(Digested::Data, &format!("{found:?}"), || {
            self.data.content(self, &found)
        })
    }

    /// Returns the release of a HelmRelease in the file at `place`, if the delivery graph has it.
    pub(super) fn release(&self, place: &str, name: &str) -> Option<&'s Release> {
        self.builds.releases.get(&(place, name)).copied()
    }

    /// Returns the places into which an object is delivered: those of its builds, else the one that is written.
    pub(super) fn homes(&self, place: &str, object: &Object) -> Vec<Home> {
        let written = WrittenAs::Object(object.value().span().start);
        let name = object.name().unwrap_or_default();
        self.built_or_written(place, written, (object.namespace(), &name))
    }

    /// Returns the places into which the object of a generator is delivered: those of its builds, else `namespace`.
    pub(super) fn generated(&self, place: &str, name: &str, namespace: Option<&str>) -> Vec<Home> {
        self.built_or_written(place, WrittenAs::Generator(name), (namespace, name))
    }

    fn built_or_written(
        &self,
        place: &str,
        written: WrittenAs<'_>,
        (namespace, name): (Option<&str>, &str),
    ) -> Vec<Home> {
        let built = (self.builds.homes)(place, written);
        if !built.is_empty() {
            return built;
        }
        vec![Home {
            cluster: String::new(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        }]
    }

    /// Returns the objects of the state, with the places of their files.
    pub(super) fn objects(&self) -> impl Iterator<Item = (&'s str, &'s ParsedFile, &'s Object)> {
        self.files()
            .flat_map(|(place, file)| objects(file).map(move |object| (place, file, object)))
    }

    /// Returns the kustomizations that can be read.
    pub(super) fn kustomizations(
        &self,
    ) -> impl Iterator<Item = (&'s str, &'s ParsedFile, Value<'s>)> {
        let read = self.files().filter(|(place, _)| is_kustomization(place));
        read.filter_map(|(place, file)| {
            file.facts().filter(|facts| facts.is_kustomization)?;
            Some((place, file, roots(file).next()?))
        })
    }

    /// Whether a folder has a kustomization, readable or not.
    pub(super) fn has_kustomization(&self, folder: &str) -> bool {
        KUSTOMIZATIONS
            .iter()
            .any(|name| self.contents.contains_key(&resolve(folder, name)))
    }

    /// Whether there is a file, a link or a submodule at a path.
    pub(super) fn has(&self, place: &str) -> bool {
        self.contents.contains_key(place)
    }

    pub(super) fn has_folder(&self, folder: &str) -> bool {
        folder.is_empty() || self.folders.contains(folder)
    }

    pub(super) fn folders(&self) -> impl Iterator<Item = &'s str> {
        self.folders.iter().map(String::as_str)
    }

    /// Whether a path, or a folder above it, is a file, a link or a submodule of the state.
    pub(super) fn leads_elsewhere(&self, path: &str) -> bool {
        ancestors(path).any(|place| self.contents.contains_key(place))
    }

    /// Returns the paths of all files, in order.
    pub(super) fn paths(&self) -> impl Iterator<Item = &'s str> {
        self.contents.keys().map(String::as_str)
    }

    /// Returns the files below a folder, with any names.
    pub(super) fn paths_below(&self, folder: &str) -> impl Iterator<Item = &'s str> {
        let start = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let from = self
            .contents
            .range(start.clone()..)
            .map(|(place, _)| place.as_str());
        from.take_while(move |place| place.starts_with(&start))
    }

    /// Returns the outermost chart that a file belongs to.
    pub(super) fn chart_of(&self, place: &str) -> Option<&'s str> {
        ancestors(folder_of(place))
            .filter_map(|folder| self.charts.get(folder).copied())
            .last()
    }

    /// Whether a kustomization names a file as a resource.
    pub(super) fn is_resource(&self, place: &str) -> bool {
        self.resources.contains(place)
    }

    /// Returns the ConfigMaps and Secrets of a name, and their generators.
    pub(super) fn data(&self, name: &str) -> impl Iterator<Item = &DataObject<'s>> {
        self.data.named(name)
    }

    /// Returns the submodules, each with its commit.
    pub(super) fn submodules(&self) -> impl Iterator<Item = (&'s str, &'s str)> {
        self.submodules
            .iter()
            .filter_map(|place| Some((place.as_str(), self.contents.get(place)?.as_str())))
    }

    pub(super) fn unfollowed(&self) -> impl Iterator<Item = &'s str> {
        self.unfollowed.iter().copied()
    }

    pub(super) fn is_rendered(&self, place: &str) -> bool {
        (self.builds.rendered)(place)
    }

    pub(super) fn charted(&self, place: &str) -> Option<Result<(), String>> {
        (self.builds.charted)(place)
    }

    pub(super) fn is_evaluated(&self, place: &str) -> bool {
        (self.builds.evaluated)(place)
    }
}

/// Returns the values of the documents of a file that can be read.
pub(super) fn roots(file: &ParsedFile) -> impl Iterator<Item = Value<'_>> {
    let trees = file
        .documents()
        .iter()
        .filter_map(|document| document.tree());
    trees.map(Tree::root)
}

pub(super) fn objects(file: &ParsedFile) -> impl Iterator<Item = &Object> {
    let objects = file
        .documents()
        .iter()
        .flat_map(|document| document.objects());
    objects.map(|object| &**object)
}

/// Returns the items of several lists of a mapping.
pub(super) fn items<'v>(
    value: Value<'v>,
    keys: &'static [&'static str],
) -> impl Iterator<Item = Value<'v>> {
    keys.iter().flat_map(move |key| value.items_at(key))
}

/// Returns the canonical text of a value, or the text of the whole file if the value is too large.
pub(super) fn canonical_text(file: &ParsedFile, value: Option<Value<'_>>) -> String {
    value.map_or_else(String::new, |value| {
        canonical(value).unwrap_or_else(|| file.source().text().to_owned())
    })
}

/// Returns `Kind/namespace/name` of an object as it is written.
pub fn written_key(object: &Object) -> String {
    let name = object.name().unwrap_or_default();
    let namespace = object.namespace().unwrap_or_default();
    format!("{}/{namespace}/{name}", object.kind())
}

/// Returns `Kind namespace/name` for messages.
pub(super) fn shown_key(object: &Object) -> String {
    let name = object.name().unwrap_or_default();
    match object.namespace() {
        Some(namespace) => format!("{} {namespace}/{name}", object.kind()),
        None => format!("{} {name}", object.kind()),
    }
}

/// Returns the text at a path of keys; empty if there is none.
pub(super) fn text_at<'v>(value: Value<'v>, path: &[&str]) -> &'v str {
    value.str_at(path).unwrap_or_default()
}

/// Returns the path in an entry: the entry itself if it is a string, else its `path`.
pub(super) fn path_of(entry: Value<'_>) -> Option<&str> {
    entry.as_str().or_else(|| entry.str_at(&["path"]))
}

/// Returns the content of a folder that an unevaluated build uses: keys of objects, kustomizations, skipped documents.
pub(super) fn contents(state: &SourceState<'_>, folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    for place in state.paths_below(folder) {
        let Some(file) = state.file(place) else {
            continue;
        };
        if is_kustomization(place) {
            found.push(file.source().text().to_owned());
        }
        found.extend(objects(file).map(|object| format!("{place} {}", written_key(object))));
        let skipped = file.skipped().iter();
        found.extend(skipped.map(|(index, skip)| format!("{place} {index} {}", skip.reason)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::SourceFile;

    #[test]
    fn file_named_like_data_has_own_digest() {
        let contents = BTreeMap::from([("{}".to_owned(), "1".to_owned())]);
        let none = BTreeSet::new();
        let releases = HashMap::default();
        let builds = Builds {
            rendered: &|_| false,
            evaluated: &|_| false,
            charted: &|_| None,
            homes: &|_, _| Vec::new(),
            releases: &releases,
        };
        let state = SourceState::new([], [], &contents, &none, &none, BTreeSet::new(), builds);
        let text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}}";
        let file = ParsedFile::parse(SourceFile::new("a.yaml", text));
        let object = objects(&file).next().expect("an object");
        let of_data = state.data_digest(("a.yaml", object), "web");
        assert_ne!(state.digest("{}"), of_data);
    }
}
