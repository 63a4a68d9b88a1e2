//! The baseline of a session: its path, and where a configured one may be.

use std::path::Path;

use super::Session;
use crate::baseline::{self, Baseline};
use crate::engine::error::SessionError;
use crate::engine::request::{BaselineChoice, ConfigChoice};
use crate::engine::resolve::{folder, joined, read_text};
use crate::inventory::{Escape, admit_own_file, admit_own_file_for_writing};
use crate::text::SourceFile;

impl Session {
    /// Returns the path of the baseline: `given`, else as configured, else the default beside the configuration.
    #[doc(hidden)]
    pub fn baseline_path(&self, given: Option<&str>) -> String {
        let config = self.config.as_ref();
        let named = config.and_then(|config| config.baseline.as_deref());
        given.map_or_else(
            || joined(folder(config), named.unwrap_or(baseline::FILE_NAME)),
            str::to_owned,
        )
    }

    /// Returns [`Self::baseline_path`], if it may be written.
    ///
    /// # Errors
    /// Without `given`: a path in `.git` or, from a discovered configuration, outside its repository or through a
    /// symbolic link.
    #[doc(hidden)]
    pub fn baseline_path_to_write(&self, given: Option<&str>) -> Result<String, SessionError> {
        let path = self.baseline_path(given);
        if given.is_none() {
            self.admit_baseline(&path, admit_own_file_for_writing)?;
        }
        Ok(path)
    }

    /// Reads the baseline. It has to exist only if an option or the configuration names it.
    pub(super) fn known(
        &self,
        choice: &BaselineChoice,
    ) -> Result<Option<(SourceFile, Baseline)>, SessionError> {
        let given = match choice {
            BaselineChoice::Discover => None,
            BaselineChoice::File(path) => Some(path.as_str()),
            BaselineChoice::Without => return Ok(None),
        };
        let path = self.baseline_path(given);
        let config = self.config.as_ref();
        let is_configured = config.is_some_and(|config| config.baseline.is_some());
        if given.is_none() && !is_configured && !Path::new(&path).exists() {
            return Ok(None);
        }
        if given.is_none() {
            self.admit_baseline(&path, admit_own_file)?;
        }
        read_baseline(&path).map(Some)
    }

    /// Checks where the configured baseline is. A discovered configuration comes from the author of the repository, so
    /// it may only name a file in the repository. No configuration may name a file in `.git`.
    ///
    /// # Errors
    /// The path is not allowed: messages would show lines of that file, or it would be overwritten.
    fn admit_baseline(
        &self,
        path: &str,
        admit: fn(&str, &str) -> Result<(), Escape>,
    ) -> Result<(), SessionError> {
        let Some(config) = &self.config else {
            return Ok(());
        };
        match admit(config.source.path(), path) {
            Err(escape)
                if self.request.config == ConfigChoice::Discover || escape == Escape::Git =>
            {
                Err(SessionError::ConfiguredBaseline {
                    path: path.to_owned(),
                    reason: escape.of_configured_path(),
                })
            }
            _ => Ok(()),
        }
    }
}

/// Reads a baseline.
///
/// # Errors
/// A file that cannot be read, or that is not a baseline.
pub fn read_baseline(path: &str) -> Result<(SourceFile, Baseline), SessionError> {
    let file = read_text(path).map_err(|reason| SessionError::Baseline {
        path: path.to_owned(),
        reason,
    })?;
    let baseline = Baseline::read(&file)?;
    Ok((file, baseline))
}
