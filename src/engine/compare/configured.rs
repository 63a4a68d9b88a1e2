//! The configuration of a comparison, and the settings that follow from it.

use std::collections::BTreeMap;

use super::cluster::ClusterInput;
use super::configuration::{Found, find};
use super::request::CompareRequest;
use super::state::{StateReader, TreeState};
use crate::changes::Unread;
use crate::charts::ChartSettings;
use crate::config::Config;
use crate::engine::input::BundleInput;
use crate::engine::resolve::bundles_and_rest;
use crate::engine::{Request, Selection, SessionError};
use crate::finding::Severity;
use crate::graph::argo::KnownCluster;
use crate::rules::Rule;
use crate::suppression::{Date, Ignore};

/// Settings for reading the files of both states; paths are from their roots.
#[derive(Debug)]
pub(super) struct Configured {
    pub(super) clusters: Vec<ClusterInput>,
    /// The settings for files of no bundle.
    pub(super) rest: BundleInput,
    /// The clusters of Argo CD, if the configuration names them.
    pub(super) argo_clusters: Option<Vec<KnownCluster>>,
    pub(super) charts: ChartSettings,
    pub(super) judging: Judging,
    /// Whether only head has the configuration.
    pub(super) is_new: bool,
    /// The programs of bundles that the change edits.
    pub(super) unread: Vec<Unread>,
    pub(super) notes: Vec<String>,
}

impl Configured {
    pub(super) fn bundles(&self) -> impl Iterator<Item = &BundleInput> {
        self.clusters.iter().flat_map(|cluster| &cluster.bundles)
    }
}

/// Settings for the findings of a change.
#[derive(Debug)]
pub(super) struct Judging {
    /// The rules of change that run.
    pub(super) rules: Vec<&'static Rule>,
    /// Severities that the configuration gives to rules.
    pub(super) severities: BTreeMap<&'static str, Severity>,
    pub(super) ignores: Vec<Ignore>,
    pub(super) configuration: Option<String>,
    /// The lowest severity that makes a run fail, if the configuration says; the inner `None` means no severity.
    pub(super) fail_on: Option<Option<Severity>>,
    /// The current date, for ignores that expire.
    pub(super) today: Option<Date>,
}

impl Judging {
    fn of(request: &CompareRequest, config: Option<&Config>) -> Result<Self, SessionError> {
        let selection = Selection::configured(config, &request.select, &request.ignore)?;
        let rules = selection.rules_of_change();
        if let Some(rule) = selection.first_by_name().filter(|_| rules.is_empty()) {
            return Err(SessionError::OfAnotherCommand {
                id: rule.id,
                what: "one state",
                command: "check",
            });
        }
        Ok(Self {
            rules,
            severities: config
                .map(|config| config.severities.clone())
                .unwrap_or_default(),
            ignores: config
                .map(|config| config.ignores.clone())
                .unwrap_or_default(),
            configuration: config.map(|config| config.source.path().to_owned()),
            fail_on: config.and_then(|config| config.fail_on),
            today: request.today,
        })
    }
}

/// Finds the configuration, and combines it with the request.
pub(super) fn configured(
    request: &CompareRequest,
    reader: &mut StateReader,
    base: &TreeState,
    head: &TreeState,
) -> Result<Configured, SessionError> {
    let Found {
        config,
        is_new,
        unread,
        notes,
    } = find(request, reader, base, head)?;
    let plain = Request {
        exclude: request.exclude.clone(),
        namespace: request.namespace.clone(),
        release: request.release,
        ..Request::default()
    };
    let (bundles, rest) = bundles_and_rest(&plain, config.as_ref());
    let judging = Judging::of(request, config.as_ref())?;
    Ok(Configured {
        clusters: ClusterInput::of(bundles),
        rest,
        judging,
        argo_clusters: config.as_ref().and_then(|config| config.clusters.clone()),
        // A configuration that only head has cannot allow anything.
        charts: config
            .as_ref()
            .filter(|_| !is_new)
            .map(|config| config.charts.clone())
            .unwrap_or_default(),
        is_new: is_new && config.is_some(),
        unread,
        notes,
    })
}
