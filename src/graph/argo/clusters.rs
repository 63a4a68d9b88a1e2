//! The clusters that Argo CD delivers into: those of the configuration, and those whose Secrets it delivers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::application::{OWN_NAME, OWN_SERVER};
use super::gotemplate::normalized;
use super::parameters::{compared, selects};
use super::template::{Language, Parameters};
use crate::graph::kustomize::Resource;
use crate::graph::node::Node;
use crate::yaml::base64;

/// The label of cluster Secrets, and its value.
const SECRET_TYPE: (&str, &str) = ("argocd.argoproj.io/secret-type", "cluster");

/// A cluster as `clusters` generators see it (argo-cd applicationset/generators/cluster.go).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownCluster {
    /// The name that Argo CD gives it.
    pub name: String,
    /// The address of its API server.
    pub server: String,
    /// The labels of its Secret.
    pub labels: BTreeMap<String, String>,
    /// The annotations of its Secret.
    pub annotations: BTreeMap<String, String>,
}

impl KnownCluster {
    /// Reads the cluster of a Secret; `None` if it is not a cluster Secret or lacks a name or server.
    fn from_secret(secret: &Resource) -> Option<Self> {
        if secret.node.str_at(&["kind"]) != Some("Secret") {
            return None;
        }
        let metadata = secret.node.get("metadata")?;
        let labels = scalars_of(&metadata, "labels");
        let (label, value) = SECRET_TYPE;
        if labels.get(label).is_none_or(|found| found != value) {
            return None;
        }
        Some(Self {
            name: data_of(&secret.node, "name")?,
            server: data_of(&secret.node, "server")?,
            labels,
            annotations: scalars_of(&metadata, "annotations"),
        })
    }

    fn is_own(&self) -> bool {
        self.server == OWN_SERVER
    }

    /// Returns its parameters for templates in `language`.
    fn parameters(&self, language: Language) -> Map<String, Value> {
        let mut known = Map::from_iter([
            ("name".to_owned(), self.name.as_str().into()),
            ("nameNormalized".to_owned(), normalized(&self.name).into()),
            ("server".to_owned(), self.server.as_str().into()),
            ("project".to_owned(), "".into()),
        ]);
        let mut metadata = Map::new();
        for (group, texts) in [("annotations", &self.annotations), ("labels", &self.labels)] {
            if !texts.is_empty() {
                language.put(&mut metadata, group, values(texts));
            }
        }
        language.put(&mut known, "metadata", metadata);
        known
    }

    /// Whether the selector of a generator matches its labels.
    fn is_selected(&self, selector: &Node) -> bool {
        let mut labels = values(&self.labels);
        let (label, value) = SECRET_TYPE;
        labels.insert(label.to_owned(), value.into());
        let labels = Parameters {
            known: labels,
            ..Parameters::default()
        };
        selects(selector, &labels, false)
    }
}

fn scalars_of(metadata: &Node, field: &str) -> BTreeMap<String, String> {
    let entries = metadata.entries_at(&[field]).into_iter();
    entries
        .filter_map(|(key, value)| Some((key.to_string(), value.scalar()?)))
        .collect()
}

/// Returns an entry of a Secret's data, decoded.
fn data_of(secret: &Node, key: &str) -> Option<String> {
    let plain = secret.text_at(&["stringData", key]);
    plain.or_else(|| base64(&secret.text_at(&["data", key])?))
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KnownClusters {
    /// Shared with the cached output of each set.
    all: Arc<Vec<KnownCluster>>,
    pub(super) are_complete: bool,
}

impl KnownClusters {
    /// Returns the clusters of a configuration. The list is complete if the configuration has one.
    pub(super) fn configured(all: Option<&[KnownCluster]>) -> Self {
        Self {
            all: Arc::new(all.unwrap_or_default().to_vec()),
            are_complete: all.is_some(),
        }
    }

    /// Returns the clusters of the Secrets that a control plane delivers to itself; the list may be incomplete. `None`
    /// if there are no such Secrets, or if the configuration lists all clusters.
    pub(super) fn with_secrets<'r>(
        &self,
        resources: impl Iterator<Item = &'r Resource>,
    ) -> Option<Self> {
        if self.are_complete {
            return None;
        }
        let mut names = BTreeSet::new();
        let all: Vec<KnownCluster> = resources
            .filter_map(KnownCluster::from_secret)
            .filter(|one| names.insert(one.name.clone()))
            .collect();
        (!all.is_empty()).then(|| Self {
            all: Arc::new(all),
            are_complete: false,
        })
    }

    /// Returns the parameters of the known clusters that a `clusters` generator selects: without a
    /// selector, also Argo CD's own cluster, which needs no Secret, if the list is complete.
    pub(super) fn selected(
        &self,
        selector: Option<&Node>,
        language: Language,
    ) -> Vec<Map<String, Value>> {
        if let Some(selector) = selector.filter(|selector| !compared(selector).is_empty()) {
            let selected = self.all.iter().filter(|one| one.is_selected(selector));
            return selected.map(|one| one.parameters(language)).collect();
        }
        let own = KnownCluster {
            name: OWN_NAME.to_owned(),
            server: OWN_SERVER.to_owned(),
            ..KnownCluster::default()
        };
        let needs_own = self.are_complete && !self.all.iter().any(KnownCluster::is_own);
        let all = self.all.iter().chain(needs_own.then_some(&own));
        all.map(|one| one.parameters(language)).collect()
    }

    /// Returns the cluster that a destination names or whose server it states: a cluster of the
    /// control plane `entry`, or `here` if it is Argo CD's own.
    pub(super) fn destination(&self, written: &str, entry: &str, here: &Arc<str>) -> Arc<str> {
        let mut all = self.all.iter();
        let known = all.find(|one| one.name == written || one.server == written);
        if matches!(written, OWN_SERVER | OWN_NAME) || known.is_some_and(KnownCluster::is_own) {
            return Arc::clone(here);
        }
        let name = known.map_or(written, |known| &known.name);
        Arc::from(format!("{entry}/{name}"))
    }
}

fn values(texts: &BTreeMap<String, String>) -> Map<String, Value> {
    let texts = texts.iter();
    texts
        .map(|(key, value)| (key.clone(), value.as_str().into()))
        .collect()
}
