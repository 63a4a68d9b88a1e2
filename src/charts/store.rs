//! Requested renderings, and their results.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rayon::prelude::*;

use super::by_hand::ByHand;
use super::cache::Cache;
use super::call::{CallId, ChartCall, ChartSource, RemoteChart};
use super::digest::Digest;
use super::helm::{Helm, REJECTION_PREFIX, copy, may_be_random};
use super::pull::{Hosts, Pulls};
use crate::render::{Checkout, CheckoutFile, RenderError};

/// The options of rendering.
#[derive(Clone, Debug, Default)]
pub struct RenderingTerms {
    /// Whether no host is contacted and only earlier downloads are used.
    pub offline: bool,
    /// The settings of the command line and the configuration.
    pub settings: ChartSettings,
    /// The progress of rendering.
    pub progress: Arc<RenderingProgress>,
}

/// The settings of the command line and the configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChartSettings {
    /// Hosts that may be contacted besides those that the base state names.
    pub hosts: Vec<String>,
    /// The time limit of helm for fetching a chart, and for rendering one.
    pub timeout: Option<Duration>,
}

/// The number of charts that a run has to render, and of those that it has finished.
#[derive(Debug, Default)]
pub struct RenderingProgress {
    wanted: AtomicUsize,
    done: AtomicUsize,
}

impl RenderingProgress {
    /// Returns the number of finished charts, and of all charts.
    pub fn counts(&self) -> (usize, usize) {
        let done = self.done.load(Ordering::Relaxed);
        (done, self.wanted.load(Ordering::Relaxed))
    }
}

impl RenderingTerms {
    /// Adds the settings of a configuration.
    #[must_use]
    pub fn and(&self, configured: &ChartSettings) -> Self {
        let ChartSettings { hosts, timeout } = &self.settings;
        let settings = ChartSettings {
            hosts: [&**hosts, &*configured.hosts].concat(),
            timeout: timeout.or(configured.timeout),
        };
        Self {
            settings,
            ..self.clone()
        }
    }
}

/// The output of rendering a chart.
#[derive(Debug)]
pub struct Rendering {
    /// The output of helm.
    pub text: Arc<str>,
    /// The output of a second run, if it differs.
    pub again: Option<Arc<str>>,
}

/// The charts of a run.
#[derive(Debug, Default)]
pub struct Charts {
    run: Option<Run>,
    by_hand: ByHand,
    state: Mutex<State>,
}

#[derive(Debug)]
struct Run {
    helm: Result<Helm, RenderError>,
    cache: Cache,
    pulls: Pulls,
    kubernetes: String,
    progress: Arc<RenderingProgress>,
}

#[derive(Debug, Default)]
struct State {
    asked: BTreeMap<CallId, Arc<ChartCall>>,
    answers: BTreeMap<CallId, Result<Arc<Rendering>, String>>,
    hosts: Hosts,
}

impl Charts {
    /// Why a chart is not rendered if rendering was not requested.
    pub const OFF: &str = "charts are not rendered here";
    /// Why a chart that both states have is not rendered.
    pub const UNCHANGED: &str = "both states have it, so it was not rendered";

    /// Creates charts that are never rendered.
    pub fn unrendered() -> Self {
        Self::default()
    }

    /// Creates charts that [`Self::render`] renders. `kubernetes` is the version that helm assumes
    /// unless a call names another one.
    pub fn rendering(terms: &RenderingTerms, kubernetes: impl Into<String>) -> Self {
        let cache = Cache::of_user();
        let hosts = Hosts {
            offline: terms.offline,
            any: false,
            named: terms.settings.hosts.iter().cloned().collect(),
        };
        Self {
            run: Some(Run {
                helm: Helm::find(terms.settings.timeout),
                pulls: Pulls::of(cache.clone()),
                cache,
                kubernetes: kubernetes.into(),
                progress: Arc::clone(&terms.progress),
            }),
            state: Mutex::new(State {
                hosts,
                ..State::default()
            }),
            ..Self::default()
        }
    }

    /// Sets the namespace of charts that are installed by hand and not by a delivery.
    #[must_use]
    pub fn installed_by_hand(self, by_hand: ByHand) -> Self {
        Self { by_hand, ..self }
    }

    /// Returns the namespaces into which a person installs charts.
    pub fn by_hand(&self) -> &ByHand {
        &self.by_hand
    }

    /// Whether anything is rendered at all.
    pub fn are_rendered(&self) -> bool {
        self.run.is_some()
    }

    /// Lets every host that the tree names be contacted.
    pub fn trust_all_hosts(&self) {
        self.state().hosts.any = true;
    }

    /// Lets the hosts of calls be contacted.
    pub fn trust_hosts_of<'c>(&self, calls: impl IntoIterator<Item = &'c CallId>) {
        let mut state = self.state();
        let State { asked, hosts, .. } = &mut *state;
        let named = calls.into_iter().filter_map(|id| asked.get(id));
        let named = named.flat_map(|call| remote(call));
        let named = named.filter_map(RemoteChart::host);
        hosts.named.extend(named.map(str::to_owned));
    }

    /// Records a call, and returns its rendering; the error says why it was not rendered.
    pub fn ask(&self, call: ChartCall) -> (CallId, Result<Arc<Rendering>, String>) {
        let id = call.id();
        let mut state = self.state();
        let answer = state.answers.get(&id).cloned();
        let asked = state.asked.entry(id.clone());
        asked.or_insert_with(|| Arc::new(call));
        let answer = answer.unwrap_or_else(|| Err(Self::UNCHANGED.to_owned()));
        (id, answer)
    }

    /// Returns a recorded call.
    pub fn call(&self, id: &CallId) -> Option<Arc<ChartCall>> {
        self.state().asked.get(id).cloned()
    }

    /// Returns the folders of the tree whose charts were rendered for these calls.
    pub fn folders<'c>(&self, calls: impl IntoIterator<Item = &'c CallId>) -> BTreeSet<String> {
        let state = self.state();
        let calls = calls.into_iter();
        let rendered = calls.filter(|id| matches!(state.answers.get(*id), Some(Ok(_))));
        let rendered = rendered.filter_map(|id| match &state.asked.get(id)?.source {
            ChartSource::Folder(folder) => Some(folder.folders.clone()),
            ChartSource::Remote(_) => None,
        });
        rendered.flatten().collect()
    }

    /// Returns the number of calls that were rendered.
    pub fn rendered(&self) -> usize {
        let state = self.state();
        let answers = state.answers.values();
        answers.filter(|answer| answer.is_ok()).count()
    }

    /// Returns the message of helm if `reason` is that helm rejects the chart.
    pub fn rejection_message(reason: &str) -> Option<&str> {
        reason.strip_prefix(REJECTION_PREFIX)
    }

    /// Returns whether a call was rendered, or why not; `None` if it was not tried.
    pub fn outcome(&self, id: &CallId) -> Option<Result<(), String>> {
        let state = self.state();
        let answer = state.answers.get(id)?;
        Some(answer.as_ref().map(drop).map_err(String::clone))
    }

    /// Renders recorded calls in parallel. Returns whether there are new answers.
    ///
    /// # Errors
    /// Returns an error if there are calls to render, but no `helm`.
    pub fn render(&self, wanted: &BTreeSet<CallId>) -> Result<bool, RenderError> {
        let Some(run) = &self.run else {
            return Ok(false);
        };
        let state = self.state();
        let open = wanted
            .iter()
            .filter(|id| !state.answers.contains_key(*id))
            .filter_map(|id| Some((id.clone(), Arc::clone(state.asked.get(id)?))));
        let open: Vec<(CallId, Arc<ChartCall>)> = open.collect();
        let hosts = state.hosts.clone();
        drop(state);
        if open.is_empty() {
            return Ok(false);
        }
        let helm = run.helm.as_ref().map_err(RenderError::clone)?;
        let progress = &run.progress;
        progress.wanted.fetch_add(open.len(), Ordering::Relaxed);
        let answers: Vec<_> = open
            .into_par_iter()
            .map(|(id, call)| {
                let answer = run.render(helm, &id, &call, &hosts);
                progress.done.fetch_add(1, Ordering::Relaxed);
                (id, answer.map(Arc::new))
            })
            .collect();
        self.state().answers.extend(answers);
        Ok(true)
    }

    /// Replaces renderings whose result in the other state is unknown by the reasons in `calls`.
    pub fn withdraw(&self, calls: &BTreeMap<CallId, String>) {
        let mut state = self.state();
        for (id, reason) in calls {
            state.answers.insert(id.clone(), Err(reason.clone()));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the charts that a call fetches.
fn remote(call: &ChartCall) -> Vec<&RemoteChart> {
    match &call.source {
        ChartSource::Remote(chart) => vec![chart],
        ChartSource::Folder(folder) => folder.needs.iter().map(|(_, chart)| chart).collect(),
    }
}

impl Run {
    fn render(
        &self,
        helm: &Helm,
        id: &CallId,
        call: &ChartCall,
        hosts: &Hosts,
    ) -> Result<Rendering, String> {
        let kept = remote(call).into_iter().all(RemoteChart::is_fixed);
        let kept = kept.then(|| self.cache_key(helm, id));
        if let Some(known) = kept.as_ref().and_then(|kept| self.known(kept)) {
            return Ok(known);
        }
        let checkout = self.checkout(helm, call, hosts)?;
        let text = self.template(helm, call, &checkout)?;
        let again = may_be_random(&checkout.root()).then(|| self.template(helm, call, &checkout));
        let again = again.transpose()?;
        let again = again.filter(|again| *again != text);
        if let Some(digest) = kept {
            self.cache
                .keep(AGAIN, &digest, again.as_deref().unwrap_or_default());
            self.cache.keep(RENDERED, &digest, &text);
        }
        Ok(Rendering {
            text: text.into(),
            again: again.map(Arc::from),
        })
    }

    fn template(
        &self,
        helm: &Helm,
        call: &ChartCall,
        checkout: &Checkout,
    ) -> Result<String, String> {
        let home = checkout.home().map_err(|error| error.to_string())?;
        helm.template(call, &checkout.root(), home.path(), &self.kubernetes)
    }

    fn known(&self, digest: &str) -> Option<Rendering> {
        let text = self.cache.text(RENDERED, digest)?;
        let again = self.cache.text(AGAIN, digest)?;
        Some(Rendering {
            text: text.into(),
            again: (!again.is_empty()).then(|| Arc::from(again)),
        })
    }

    fn cache_key(&self, helm: &Helm, id: &CallId) -> String {
        Digest::new()
            .and_all([id.as_str(), &helm.identity, &self.kubernetes])
            .finish()
    }

    /// Checks out the chart of a call. A remote chart is copied only if its values are replaced.
    fn checkout(&self, helm: &Helm, call: &ChartCall, hosts: &Hosts) -> Result<Checkout, String> {
        match &call.source {
            ChartSource::Remote(chart) => {
                let pulled = self.pulls.chart(helm, chart, hosts)?;
                if call.base_values.is_empty() {
                    return Checkout::existing(pulled).map_err(|error| error.to_string());
                }
                let checkout = Checkout::of([]).map_err(|error| error.to_string())?;
                copy(&pulled, &checkout.root())
                    .and_then(|()| std::fs::write(checkout.root().join(VALUES), ""))
                    .map_err(|error| error.to_string())?;
                Ok(checkout)
            }
            ChartSource::Folder(folder) => {
                let is_replaced = !call.base_values.is_empty();
                let files = folder.files.iter().map(|(path, bytes)| CheckoutFile {
                    path,
                    bytes: if is_replaced && path == VALUES {
                        &[]
                    } else {
                        bytes
                    },
                    is_link: false,
                    is_executable: false,
                });
                let checkout = Checkout::of(files).map_err(|error| error.to_string())?;
                for (at, (below, chart)) in folder.needs.iter().enumerate() {
                    let pulled = self.pulls.chart(helm, chart, hosts);
                    let pulled: PathBuf = pulled
                        .map_err(|reason| format!("its dependency {}: {reason}", chart.name))?;
                    let below = checkout.root().join(below);
                    let mut place = below.join(pulled.file_name().unwrap_or_default());
                    // For two versions of a chart: helm reads the name in Chart.yaml only.
                    if place.exists() {
                        place = below.join(format!("dependency-{at}"));
                    }
                    copy(&pulled, &place).map_err(|error| error.to_string())?;
                }
                Ok(checkout)
            }
        }
    }
}

/// Folders of the cache.
const RENDERED: &str = "rendered";
const AGAIN: &str = "rendered-again";
/// The file of a chart's own values.
const VALUES: &str = "values.yaml";
