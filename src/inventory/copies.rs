//! A limit on the copies of objects that the bundles of a run make.

use foldhash::{HashMap, HashSet};

use super::error::InputError;
use super::location::FileIdentity;
use super::walked::Walk;
use crate::manifest::ParsedFile;

/// The copies of objects that bundles make. The first copy of each does not count.
#[derive(Debug, Default)]
pub struct CopyBudget {
    seen: HashSet<FileIdentity>,
    copies: usize,
}

impl CopyBudget {
    /// Counts the objects in the files of a bundle, which `walk` found.
    ///
    /// # Errors
    /// The bundles so far have more than `most` copies of objects together.
    pub fn admit(
        &mut self,
        walk: &Walk,
        files: &[ParsedFile],
        most: usize,
    ) -> Result<(), InputError> {
        let objects: HashMap<&str, usize> = files
            .iter()
            .map(|file| (file.source().path(), file.instances()))
            .collect();
        for file in &walk.files {
            if !self.seen.insert(file.identity.clone()) {
                self.copies += objects.get(file.path.as_str()).copied().unwrap_or_default();
            }
        }
        if self.copies > most {
            return Err(InputError::TooMany {
                most,
                what: "copies of objects",
            });
        }
        Ok(())
    }
}
