//! Reads the files of one state, from a folder or from git.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::arguments::{argument, arguments, from_prefix};
use super::request::StateChoice;
use super::unlisted::entries;
use crate::changes::{is_helmfile, is_jinja};
use crate::charts::packed_chart;
use crate::config::FILE_NAMES;
use crate::engine::SessionError;
use crate::git::{
    Blobs, FileContent, GitError, ObjectName, Repository, Snapshot, SnapshotFile, StoredContent,
};
use crate::inventory::{
    self, RequestedPaths, Texts, is_manifest_name, locate, read_bytes, read_in_tree, walk_listed,
};
use crate::kustomize::{ancestors, folder_of, included_by, name_of, resolve};
use crate::manifest::{KUSTOMIZATIONS, is_kustomization};
use crate::render::{Checkout, CheckoutFile};
use crate::text::Side;

/// The bytes of a file, or the reason why there are none, worded to follow its name.
pub(super) type Bytes = Result<Arc<[u8]>, String>;

#[derive(Debug, Default)]
pub(super) struct TreeState {
    /// Its files, by their paths from its root: a file has the same path in both states.
    pub(super) files: BTreeMap<String, StateText>,
    /// The folders that contain files of any type, and the folders above them.
    pub(super) folders: BTreeSet<String>,
    /// Files whose names are not those of manifests, but which may be inputs of a build.
    pub(super) others: BTreeMap<String, StateText>,
    /// The fingerprint of the content of every file, read or not, and the commit of every submodule.
    pub(super) contents: BTreeMap<String, String>,
    /// The symbolic links among the files of `contents`.
    pub(super) links: BTreeSet<String>,
    /// Submodules within the requested paths: their files are not compared.
    pub(super) submodules: BTreeSet<String>,
    /// The requested paths, from its root.
    pub(super) requested: RequestedPaths,
    /// Arguments that match nothing in the state.
    pub(super) missing: Vec<String>,
    /// Reads a file that was not read, by its path from the root.
    pub(super) reader: Option<FileReader>,
}

impl TreeState {
    /// Compares the contents of unread files that have equal sizes in two folders. Those that differ get different
    /// fingerprints.
    pub(super) fn distinguish(&mut self, other: &Self) {
        let (Some(here), Some(there)) = (&self.reader, &other.reader) else {
            return;
        };
        for (path, content) in &mut self.contents {
            let is_read = self.files.contains_key(path) || self.others.contains_key(path);
            if !is_read
                && other.contents.get(path) == Some(content)
                && here.read(path) != there.read(path)
            {
                content.push_str(" changed bytes");
            }
        }
    }
}

#[derive(Clone)]
pub(super) struct FileReader(Arc<dyn Fn(&str) -> Bytes + Send + Sync>);

impl FileReader {
    pub(super) fn new(read: impl Fn(&str) -> Bytes + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    pub(super) fn read(&self, path: &str) -> Bytes {
        (self.0)(path)
    }
}

impl std::fmt::Debug for FileReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FileReader")
    }
}

#[derive(Debug)]
pub(super) struct StateText {
    /// The path that it is reported under.
    pub(super) path: String,
    pub(super) bytes: Bytes,
}

/// Reads states; contents that they share are read once.
#[derive(Debug, Default)]
pub(super) struct StateReader {
    repository: Option<Repository>,
    /// Shared with the readers of the states.
    blobs: Arc<Mutex<Blobs>>,
    /// The parsed texts of the states.
    pub(super) texts: Texts,
}

impl StateReader {
    /// Reads one state. A folder is read whole. From git, only `paths`, the files that kustomizations there include,
    /// and all configurations are read.
    pub(super) fn read(
        &mut self,
        choice: &StateChoice,
        paths: &[String],
    ) -> Result<TreeState, SessionError> {
        if let StateChoice::Path(path) = choice {
            return folder(path);
        }
        match self.stored(choice)? {
            Some(snapshot) => {
                let arguments = arguments(&self.repository()?, paths)?;
                self.tree(&snapshot, &arguments)
            }
            None => Ok(TreeState::default()),
        }
    }

    /// Returns the files of a state in git; `None` for a path, and for HEAD before the first commit.
    pub(super) fn stored(&mut self, choice: &StateChoice) -> Result<Option<Snapshot>, GitError> {
        let is_head = matches!(choice, StateChoice::Commit(reference) if reference == "HEAD");
        if is_head && !self.repository()?.has_commits() {
            return Ok(None);
        }
        self.snapshot(choice)
    }

    /// Returns the files of a state in git; `None` for a path.
    fn snapshot(&mut self, choice: &StateChoice) -> Result<Option<Snapshot>, GitError> {
        let repository = self.repository()?;
        Ok(Some(match choice {
            StateChoice::Path(_) => return Ok(None),
            StateChoice::Commit(reference) => {
                repository.snapshot_of(&repository.commit(reference)?)?
            }
            StateChoice::Staged => repository.staged()?,
            StateChoice::WorkTree => repository.checked_out()?,
        }))
    }

    /// Converts a path from the working directory into one from the root of the repository.
    ///
    /// # Errors
    /// It is outside of the repository.
    pub(super) fn place(&mut self, path: &str) -> Result<String, GitError> {
        argument(&self.repository()?, path)
    }

    /// Whether a state in git has a file, or a link, at `place` or at a folder above it.
    pub(super) fn has(&mut self, choice: &StateChoice, place: &str) -> Result<bool, SessionError> {
        let Some(snapshot) = self.snapshot(choice)? else {
            return Ok(false);
        };
        Ok(ancestors(place).any(|above| snapshot.files.contains_key(above)))
    }

    /// Returns the tree of a state for programs that render it: the folder itself, or a temporary one with all files
    /// that git has stored. `None` if there is no tree: for standard input and single files.
    pub(super) fn checkout(
        &mut self,
        choice: &StateChoice,
    ) -> Result<Option<Checkout>, SessionError> {
        let snapshot = match choice {
            StateChoice::Path(path) => {
                let folder = Some(locate(path)).filter(|folder| folder.is_dir());
                return Ok(folder.map(Checkout::existing).transpose()?);
            }
            StateChoice::WorkTree => {
                let root = self.repository()?.work_tree().map(Path::to_owned);
                return Ok(root.map(Checkout::existing).transpose()?);
            }
            StateChoice::Commit(_) | StateChoice::Staged => self.snapshot(choice)?,
        };
        let Some(stored) = snapshot else {
            return Ok(None);
        };
        let files = stored
            .files
            .iter()
            .map(|(path, file)| (path.as_str(), file));
        self.repository()?.read(&mut self.blobs(), files.clone())?;
        let blobs = self.blobs();
        let written = files.filter_map(|(path, file)| match &file.content {
            // Files that are too large to be read are left out.
            FileContent::Stored(name) => Some(CheckoutFile {
                path,
                bytes: blobs.get(name).bytes()?,
                is_link: file.is_link,
                is_executable: file.is_executable,
            }),
            FileContent::Disk(_) => None,
        });
        Ok(Some(Checkout::of(written)?))
    }

    /// Returns the repository of the working directory.
    pub(super) fn repository(&mut self) -> Result<Repository, GitError> {
        if let Some(repository) = &self.repository {
            Ok(repository.clone())
        } else {
            let found = Repository::discover(Path::new("."))?;
            self.repository = Some(found.clone());
            Ok(found)
        }
    }

    pub(super) fn blobs(&self) -> MutexGuard<'_, Blobs> {
        self.blobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the files of a state to which `arguments` lead, which begin at the root.
    pub(super) fn tree(
        &mut self,
        snapshot: &Snapshot,
        arguments: &[String],
    ) -> Result<TreeState, SessionError> {
        let repository = self.repository()?;
        let all: Vec<&str> = snapshot.files.keys().map(String::as_str).collect();
        let listed = walk_listed(&all, arguments)?;
        let requested = listed.requested;
        let configs = all.iter().copied();
        let configs = configs.filter(|path| FILE_NAMES.contains(&name_of(path)));
        let wanted = listed.found.into_iter().map(|at| all[at]);
        let mut wanted: BTreeSet<&str> = wanted.chain(configs).collect();
        let charts: BTreeSet<&str> = all
            .iter()
            .filter(|path| is_chart(path))
            .map(|path| folder_of(path))
            .collect();
        let others = all.iter().copied();
        let others = others
            .filter(|path| requested.has(path))
            .filter(|path| may_be_input(path, &charts));
        let mut others: BTreeSet<&str> = others.collect();
        // A glob also finds files that are not manifests.
        wanted.retain(|path| is_manifest_name(Path::new(path)) || !others.contains(path));
        // One request for all, because git fetches what a partial clone lacks.
        let first = wanted
            .union(&others)
            .map(|path| (*path, &snapshot.files[*path]));
        repository.read(&mut self.blobs(), first)?;
        self.follow(&repository, snapshot, &mut wanted)?;
        others.retain(|path| !wanted.contains(path));
        let files: Vec<(&str, &SnapshotFile)> = wanted
            .into_iter()
            .map(|path| (path, &snapshot.files[path]))
            .collect();
        repository.read(&mut self.blobs(), files.iter().copied())?;
        let behind = files.iter().filter_map(|(path, file)| {
            Some(((*path).to_owned(), self.resolve_link(snapshot, path, file)?))
        });
        let behind: Vec<(String, &SnapshotFile)> = behind.collect();
        repository.read(
            &mut self.blobs(),
            behind.iter().map(|(path, file)| (path.as_str(), *file)),
        )?;
        let text_of = |place: &str, file: &SnapshotFile| StateText {
            path: from_prefix(repository.prefix(), place),
            bytes: self.bytes(file),
        };
        let files = behind.into_iter().map(|(place, file)| {
            let text = text_of(&place, file);
            (place, text)
        });
        let others = others
            .into_iter()
            .map(|place| (place.to_owned(), text_of(place, &snapshot.files[place])));
        // Collected before `repository` moves into the reader.
        let files: BTreeMap<String, StateText> = files.collect();
        let others: BTreeMap<String, StateText> = others.collect();
        let folders = all.iter().flat_map(|path| ancestors(folder_of(path)));
        let folders: BTreeSet<&str> = folders.collect();
        let contents = snapshot.files.iter();
        let contents = contents.map(|(path, file)| (path.clone(), content_name(file)));
        let links = snapshot.files.iter().filter(|(_, file)| file.is_link);
        let submodules = snapshot.submodules.keys();
        Ok(TreeState {
            files,
            folders: folders.into_iter().map(str::to_owned).collect(),
            others,
            contents: contents.chain(snapshot.submodules.clone()).collect(),
            links: links.map(|(path, _)| path.clone()).collect(),
            submodules: submodules
                .filter(|path| requested.has(path))
                .cloned()
                .collect(),
            missing: listed.missing,
            requested,
            reader: Some(reader_of(
                repository,
                snapshot.clone(),
                Arc::clone(&self.blobs),
            )),
        })
    }

    /// Adds the files that kustomizations include from outside of the requested paths, so that
    /// their roots can be built.
    pub(super) fn follow<'s>(
        &mut self,
        repository: &Repository,
        snapshot: &'s Snapshot,
        wanted: &mut BTreeSet<&'s str>,
    ) -> Result<(), SessionError> {
        let mut pending: Vec<&'s str> = wanted
            .iter()
            .copied()
            .filter(|path| is_kustomization(path))
            .collect();
        while !pending.is_empty() {
            let files: Vec<_> = pending
                .iter()
                .filter_map(|path| Some((*path, snapshot.files.get(*path)?)))
                .collect();
            repository.read(&mut self.blobs(), files.iter().copied())?;
            let unparsed = files
                .iter()
                .map(|(path, file)| ((*path).to_owned(), self.bytes(file)))
                .collect();
            let parsed = self.texts.parse(unparsed, Side::Base);
            let included = parsed
                .iter()
                .flat_map(|file| included_by(file.source().path(), file));
            let found = included.flat_map(|place| {
                let kustomizations = KUSTOMIZATIONS.iter().map(|name| resolve(&place, name));
                let places: Vec<String> = std::iter::once(place.clone())
                    .chain(kustomizations)
                    .collect();
                places
                    .into_iter()
                    .filter_map(|place| snapshot.files.get_key_value(&place))
                    .map(|(path, _)| path.as_str())
            });
            pending = found
                .filter(|path| wanted.insert(path))
                .filter(|path| is_kustomization(path))
                .collect();
        }
        Ok(())
    }

    pub(super) fn bytes(&self, file: &SnapshotFile) -> Bytes {
        match &file.content {
            FileContent::Stored(name) => stored(&self.blobs(), name),
            FileContent::Disk(path) => read_in_tree(path, None).map(Arc::from),
        }
    }

    /// Returns the file with the content of `path`: `file`, or the target of a symbolic link. `None` for a link that
    /// leads out of the repository, to a folder or to another link.
    fn resolve_link<'s>(
        &self,
        snapshot: &'s Snapshot,
        path: &str,
        file: &'s SnapshotFile,
    ) -> Option<&'s SnapshotFile> {
        if !file.is_link {
            return Some(file);
        }
        let target = match &file.content {
            FileContent::Stored(_) => String::from_utf8_lossy(&self.bytes(file).ok()?).into_owned(),
            FileContent::Disk(disk) => disk.read_link().ok()?.to_string_lossy().into_owned(),
        };
        snapshot
            .files
            .get(&resolve(folder_of(path), &target))
            .filter(|file| !file.is_link)
    }
}

/// Returns a reader of single files of a snapshot.
fn reader_of(repository: Repository, snapshot: Snapshot, blobs: Arc<Mutex<Blobs>>) -> FileReader {
    FileReader(Arc::new(move |path| {
        let file = snapshot.files.get(path).ok_or("does not exist")?;
        match &file.content {
            FileContent::Disk(disk) => read_in_tree(disk, None).map(Arc::from),
            FileContent::Stored(name) => {
                let mut blobs = blobs.lock().unwrap_or_else(PoisonError::into_inner);
                let read = repository.read_one(&mut blobs, name);
                read.map_err(|error| error.to_string())?;
                stored(&blobs, name)
            }
        }
    }))
}

fn stored(blobs: &Blobs, name: &ObjectName) -> Bytes {
    match blobs.get(name) {
        StoredContent::Bytes(bytes) => Ok(Arc::clone(bytes)),
        StoredContent::TooLarge => Err(inventory::too_large()),
        StoredContent::Missing => Err("is not in this clone".to_owned()),
    }
}

fn is_chart(path: &str) -> bool {
    name_of(path) == "Chart.yaml"
}

/// Whether a file whose name is not that of a manifest may decide what is applied: it is in one of the folders
/// `charts`, or has a name that a tool looks for.
fn may_be_input(path: &str, charts: &BTreeSet<&str>) -> bool {
    let name = name_of(path);
    let is_input =
        name.ends_with(".jsonnet") || name.ends_with(".libsonnet") || name == ".sourceignore";
    is_input
        || packed_chart(name).is_some()
        || is_helmfile(path)
        || is_jinja(path)
        || ancestors(folder_of(path)).any(|folder| charts.contains(folder))
}

/// Returns a fingerprint of the content, as far as it is known without reading: of a file on the disk, its size.
fn content_name(file: &SnapshotFile) -> String {
    match &file.content {
        FileContent::Stored(name) => name.as_str().to_owned(),
        FileContent::Disk(path) => path
            .symlink_metadata()
            .map_or(0, |metadata| metadata.len())
            .to_string(),
    }
}

/// Reads a folder, or a single file.
fn folder(path: &str) -> Result<TreeState, SessionError> {
    let walk = inventory::walk(&[path.to_owned()], &[])?;
    let shown = path
        .strip_prefix("./")
        .unwrap_or(path)
        .trim_end_matches('/');
    let read = walk.files.into_iter().map(|file| {
        let bytes = read_bytes(&file.origin).map(Arc::from);
        (file.path, bytes)
    });
    let unreadable = walk.unreadable.into_iter();
    let unreadable = unreadable.map(|file| (file.path, Err(file.reason)));
    let mut state = TreeState::default();
    for (path, bytes) in read.chain(unreadable) {
        // Two single files are two states of one file, even if their names differ.
        let place = match path.strip_prefix(shown) {
            Some(below) if shown != "." => below.trim_start_matches('/').to_owned(),
            _ => path.clone(),
        };
        state.files.insert(place, StateText { path, bytes });
    }
    for entry in entries(Path::new(path)) {
        let below = entry
            .path()
            .strip_prefix(path)
            .unwrap_or(entry.path())
            .to_string_lossy()
            .replace('\\', "/");
        if entry.file_type().is_file() {
            state
                .folders
                .extend(ancestors(folder_of(&below)).map(str::to_owned));
        }
        let content = match entry.path().read_link() {
            Ok(target) => {
                state.links.insert(below.clone());
                target.to_string_lossy().into_owned()
            }
            Err(_) => entry
                .metadata()
                .map_or(0, |metadata| metadata.len())
                .to_string(),
        };
        state.contents.insert(below, content);
    }
    let charts: BTreeSet<&str> = state
        .contents
        .keys()
        .filter(|path| is_chart(path))
        .map(|path| folder_of(path))
        .collect();
    for below in state
        .contents
        .keys()
        .filter(|path| !state.files.contains_key(*path) && may_be_input(path, &charts))
    {
        let disk = Path::new(path).join(below);
        let bytes = read_in_tree(&disk, Some(Path::new(path))).map(Arc::from);
        let shown = disk.to_string_lossy().replace('\\', "/");
        let path = shown.trim_start_matches("./").to_owned();
        state
            .others
            .insert(below.clone(), StateText { path, bytes });
    }
    let root = Path::new(path).to_path_buf();
    state.reader = Some(FileReader(Arc::new(move |below| {
        read_in_tree(&root.join(below), Some(&root)).map(Arc::from)
    })));
    Ok(state)
}
