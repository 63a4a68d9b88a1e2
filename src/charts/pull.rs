//! Fetches charts that are not in the tree, each once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tempfile::TempDir;

use super::cache::Cache;
use super::call::RemoteChart;
use super::digest::Digest;
use super::helm::Helm;

/// The folder of pulled charts in the cache.
const KIND: &str = "charts";

/// The hosts that charts may be fetched from.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    /// Whether no host is contacted, not even one of `named`.
    pub(super) offline: bool,
    /// Whether every host that the tree names may be contacted.
    pub(super) any: bool,
    /// Hosts that may be contacted.
    pub(super) named: BTreeSet<String>,
}

impl Hosts {
    /// Returns why a chart may not be fetched; `None` if it may.
    fn refuse(&self, chart: &RemoteChart) -> Option<String> {
        let Some(host) = chart.host() else {
            let url = &chart.url;
            return Some(format!("`{url}` names no host to fetch charts from"));
        };
        if self.offline {
            return Some("it was not pulled before, and `--offline` allows no download".to_owned());
        }
        let is_known = self.any || self.named.contains(host);
        (!is_known).then(|| {
            format!(
                "only the change names the host {host}; `--render-from {host}` lets it be contacted"
            )
        })
    }
}

type Pulled = Arc<OnceLock<Result<PathBuf, String>>>;

/// The charts that were fetched, or are in the cache.
#[derive(Debug)]
pub(super) struct Pulls {
    cache: Cache,
    /// Temporary folder into which charts are fetched. Those without a fixed version, or that cannot be cached, are
    /// used from there.
    scratch: Result<TempDir, String>,
    known: Mutex<BTreeMap<RemoteChart, Pulled>>,
}

impl Pulls {
    pub(super) fn of(cache: Cache) -> Self {
        Self {
            cache,
            scratch: TempDir::new().map_err(|error| error.to_string()),
            known: Mutex::default(),
        }
    }

    /// Returns the folder of a chart. Fails if its host may not be contacted, or if helm fails.
    pub(super) fn chart(
        &self,
        helm: &Helm,
        chart: &RemoteChart,
        hosts: &Hosts,
    ) -> Result<PathBuf, String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = Arc::clone(known.entry(chart.clone()).or_default());
        drop(known);
        slot.get_or_init(|| self.get(helm, chart, hosts)).clone()
    }

    fn get(&self, helm: &Helm, chart: &RemoteChart, hosts: &Hosts) -> Result<PathBuf, String> {
        let digest = Digest::new().and_all(chart.words()).finish();
        let kept = self.cache.folder(KIND, &digest);
        let kept = kept.filter(|_| chart.is_fixed());
        if let Some(found) = kept.as_deref().and_then(first_chart) {
            return Ok(found);
        }
        if let Some(reason) = hosts.refuse(chart) {
            return Err(reason);
        }
        let scratch = self.scratch.as_ref().map_err(String::clone)?.path();
        let fetched = scratch.join(&digest);
        std::fs::create_dir_all(&fetched).map_err(|error| error.to_string())?;
        helm.pull(chart, &fetched, scratch)?;
        if let Some(kept) = kept
            && move_to(&fetched, &kept).is_ok()
            && let Some(found) = first_chart(&kept)
        {
            return Ok(found);
        }
        first_chart(&fetched)
            .ok_or_else(|| "the archive does not contain the folder of the chart".to_owned())
    }
}

/// Moves a folder into the cache atomically.
fn move_to(from: &Path, to: &Path) -> std::io::Result<()> {
    let above = to.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(above)?;
    let beside = tempfile::Builder::new()
        .prefix(".pulled-")
        .tempdir_in(above)?;
    super::helm::copy(from, beside.path())?;
    // Fails if another process was faster; the copy is then removed.
    std::fs::rename(beside.path(), to)
}

/// Returns the first chart in a folder.
fn first_chart(above: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(above).ok()?;
    let mut folders = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.join("Chart.yaml").is_file());
    folders.next()
}
