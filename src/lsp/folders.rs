//! The folders of the editor, and the documents that it has open in and outside of them.

use lsp_types::{Uri, WorkspaceFoldersChangeEvent};

use super::folder::Folder;
use super::greeting::paths_of;
use super::place::{is_untitled, path_of};
use super::workspace::{OpenDocument, Workspace};
use crate::inventory::STDIN;

/// The folders that the editor has open, and the folders of open documents outside of them.
#[derive(Default)]
pub(super) struct Folders {
    all: Vec<Folder>,
    /// Whether the editor reports changes of files that are not open.
    watched: bool,
}

impl Folders {
    /// Creates the folders at `roots`, which are not read yet.
    pub(super) fn opened(roots: Vec<String>) -> Self {
        let mut folders = Self::default();
        folders.add(roots.into_iter().map(Workspace::opened));
        folders
    }

    fn add(&mut self, opened: impl IntoIterator<Item = Workspace>) {
        for mut workspace in opened {
            workspace.watched = self.watched;
            self.all.push(Folder::new(workspace));
        }
    }

    /// Sets whether the editor reports changes of files in its folders that are not open.
    pub(super) fn set_watched(&mut self, watched: bool) {
        self.watched = watched;
        for folder in &mut self.all {
            let workspace = &mut folder.workspace;
            workspace.watched = watched && workspace.is_opened;
        }
    }

    /// Marks all folders as stale after a change on disk, or in the configuration of the editor.
    pub(super) fn mark_stale(&mut self) {
        for folder in &mut self.all {
            folder.workspace.mark_stale();
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Folder> {
        self.all.iter()
    }

    /// Returns the folders in which something has changed.
    pub(super) fn stale_mut(&mut self) -> impl Iterator<Item = &mut Folder> {
        let all = self.all.iter_mut();
        all.filter(|folder| folder.workspace.is_stale())
    }

    /// Whether something has changed in any of them.
    pub(super) fn are_stale(&self) -> bool {
        self.iter().any(|folder| folder.workspace.is_stale())
    }

    /// Returns the folder of a document, and its path: the innermost folder that contains it.
    pub(super) fn of(&self, uri: &Uri) -> Option<(&Folder, String)> {
        let (at, path) = self.place_of(uri)?;
        Some((&self.all[at], path))
    }

    fn place_of(&self, uri: &Uri) -> Option<(usize, String)> {
        let mut folders = self.iter().enumerate();
        match path_of(uri) {
            Some(path) => folders
                .filter(|(_, folder)| folder.workspace.contains(&path))
                .max_by_key(|(_, folder)| folder.workspace.root.len())
                .map(|(at, _)| (at, path)),
            None => folders
                .find(|(_, folder)| folder.workspace.text() == Some(uri))
                .map(|(at, _)| (at, STDIN.to_owned())),
        }
    }

    /// Opens a document, or replaces its text. For a document outside all folders, its folder is added.
    pub(super) fn open(&mut self, document: OpenDocument) {
        let uri = &document.uri;
        if let Some((at, path)) = self.place_of(uri) {
            self.all[at].workspace.set(path, document);
            return;
        }
        let (mut workspace, path) = match path_of(uri) {
            Some(path) => (Workspace::of_file(&path), path),
            None if is_untitled(uri) => (Workspace::untitled(), STDIN.to_owned()),
            None => return,
        };
        workspace.set(path, document);
        self.all.push(Folder::new(workspace));
    }

    /// Closes a document, and its folder if that was opened only for it.
    pub(super) fn close(&mut self, uri: &Uri) {
        if let Some((at, path)) = self.place_of(uri) {
            self.all[at].workspace.close(&path);
            if self.all[at].workspace.is_done() {
                self.all.remove(at);
            }
        }
    }

    /// Adds and removes folders of the editor. Closes and returns the open documents that may be in another folder now.
    pub(super) fn change(&mut self, change: &WorkspaceFoldersChangeEvent) -> Vec<OpenDocument> {
        let removed = paths_of(&change.removed);
        let added: Vec<Workspace> = paths_of(&change.added)
            .into_iter()
            .map(Workspace::opened)
            .collect();
        let mut moving = Vec::new();
        self.all.retain_mut(|folder| {
            let workspace = &mut folder.workspace;
            let is_removed = removed.contains(&workspace.root);
            workspace.is_opened &= !is_removed;
            moving.extend(
                workspace.take(|path| {
                    is_removed || added.iter().any(|workspace| workspace.contains(path))
                }),
            );
            !workspace.is_done()
        });
        self.add(added);
        moving
    }
}
