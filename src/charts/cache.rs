//! A cache of charts and renderings below the user's cache folder, by digests of their inputs.

use std::io::Write;
use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy, choose_base_strategy};

/// The cache folder; `None` if there is none.
#[derive(Clone, Debug)]
pub(super) struct Cache(Option<PathBuf>);

impl Cache {
    /// Returns the cache of the user; without a home folder nothing is cached.
    pub(super) fn of_user() -> Self {
        let base = choose_base_strategy().ok();
        Self(base.map(|base| base.cache_dir().join("ownerlint")))
    }

    pub(super) fn folder(&self, kind: &str, digest: &str) -> Option<PathBuf> {
        Some(self.0.as_ref()?.join(kind).join(digest))
    }

    pub(super) fn text(&self, kind: &str, digest: &str) -> Option<String> {
        std::fs::read_to_string(self.folder(kind, digest)?).ok()
    }

    /// Caches a text. Errors are ignored: they only make the next run slower.
    pub(super) fn keep(&self, kind: &str, digest: &str, text: &str) {
        if let Some(place) = self.folder(kind, digest) {
            let _ = write(&place, text);
        }
    }
}

/// Writes a file atomically.
fn write(place: &Path, text: &str) -> std::io::Result<()> {
    let folder = place.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(place)?;
    Ok(())
}
