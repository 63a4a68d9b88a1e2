//! Charts and renderings of earlier runs: kept below the user's cache folder, each under a digest of its inputs.

use std::io::Write;
use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy, choose_base_strategy};

/// A folder of files that can be made again.
#[derive(Clone, Debug)]
pub(super) struct Cache(Option<PathBuf>);

impl Cache {
    /// That of the user; without a home folder nothing is kept.
    pub(super) fn of_user() -> Self {
        let base = choose_base_strategy().ok();
        Self(base.map(|base| base.cache_dir().join("ownerlint")))
    }

    /// The folder of a digest.
    pub(super) fn folder(&self, kind: &str, digest: &str) -> Option<PathBuf> {
        Some(self.0.as_ref()?.join(kind).join(digest))
    }

    /// A text that was kept.
    pub(super) fn text(&self, kind: &str, digest: &str) -> Option<String> {
        std::fs::read_to_string(self.folder(kind, digest)?).ok()
    }

    /// Keeps a text. That this fails costs time the next time, and nothing else.
    pub(super) fn keep(&self, kind: &str, digest: &str, text: &str) {
        if let Some(place) = self.folder(kind, digest) {
            let _ = write(&place, text);
        }
    }
}

/// Writes a file that others see whole or not at all.
fn write(place: &Path, text: &str) -> std::io::Result<()> {
    let folder = place.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(place)?;
    Ok(())
}
