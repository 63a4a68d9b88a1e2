//! Both states of a comparison, whose change named paths may limit.

use std::collections::BTreeSet;

use super::arguments::arguments;
use super::request::StateChoice;
use super::state::{StateReader, TreeState};
use crate::engine::SessionError;
use crate::git::{GitError, Repository, Snapshot};
use crate::inventory::walk_listed;

impl StateReader {
    /// Reads both states. From git, only `paths` and the files that kustomizations there include are read.
    pub(super) fn each(
        &mut self,
        [base, head]: [&StateChoice; 2],
        paths: &[String],
    ) -> Result<[TreeState; 2], SessionError> {
        Ok([self.read(base, paths)?, self.read(head, paths)?])
    }

    /// Reads all files of both states. In git, `paths` and the files that kustomizations there include limit the change:
    /// any other file of head is read as it is in base. Also returns the number of changed files that this leaves out.
    pub(super) fn both(
        &mut self,
        choices: [&StateChoice; 2],
        paths: &[String],
    ) -> Result<([TreeState; 2], usize), SessionError> {
        let [base, head] = choices;
        let is_in_git = |choice: &&StateChoice| !matches!(choice, StateChoice::Path(_));
        if paths.is_empty() || !choices.iter().all(is_in_git) {
            return Ok((self.each(choices, paths)?, 0));
        }
        let repository = self.repository()?;
        let mut arguments = arguments(&repository, paths)?;
        let [before, after] =
            [self.stored(base)?, self.stored(head)?].map(Option::unwrap_or_default);
        let left_out = self.paths_left_out(&repository, [&before, &after], &arguments)?;
        let limited = after.within(&before, |path| !left_out.contains(path));
        let count = self.changed(&repository, [&before, &after], &left_out)?;
        arguments.push(String::new());
        let states = [
            self.tree(&before, &arguments)?,
            self.tree(&limited, &arguments)?,
        ];
        Ok((states, count))
    }

    /// Returns the paths of two states to which no argument leads, and that no kustomization there includes.
    fn paths_left_out<'s>(
        &mut self,
        repository: &Repository,
        states: [&'s Snapshot; 2],
        arguments: &[String],
    ) -> Result<BTreeSet<&'s str>, SessionError> {
        let all = states.into_iter().flat_map(|state| state.files.keys());
        let mut all: BTreeSet<&str> = all.map(String::as_str).collect();
        let paths: Vec<&str> = all.iter().copied().collect();
        let listed = walk_listed(&paths, arguments)?;
        let found: BTreeSet<&str> = listed.found.iter().map(|at| paths[*at]).collect();
        all.retain(|path| !listed.requested.has(path));
        for state in states {
            let mut included = found.clone();
            self.follow(repository, state, &mut included)?;
            all.retain(|path| !included.contains(path));
        }
        Ok(all)
    }

    /// Returns how many of the files at `paths` differ.
    fn changed(
        &mut self,
        repository: &Repository,
        states: [&Snapshot; 2],
        paths: &BTreeSet<&str>,
    ) -> Result<usize, GitError> {
        let both = paths
            .iter()
            .map(|path| (*path, states.map(|state| state.files.get(*path))));
        let both: Vec<_> = both.filter(|(_, [was, is])| was != is).collect();
        let files = both.iter().flat_map(|(path, both)| {
            let files = both.iter().flatten();
            files.map(|file| (*path, *file))
        });
        repository.read(&mut self.blobs(), files)?;
        // An unchanged file of the work tree may be on the disk.
        let changed = both.iter().filter(|(_, both)| {
            let [was, is] = both.map(|file| file.map(|file| self.bytes(file)));
            was != is
        });
        Ok(changed.count())
    }
}
