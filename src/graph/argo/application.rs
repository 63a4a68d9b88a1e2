//! One Application of Argo CD: what it says.

use std::sync::Arc;

use super::clusters::KnownClusters;
use crate::graph::delivery::Settings;
use crate::graph::kustomize::{Origin, Resource};
use crate::graph::node::Node;
use crate::kube::Policy;
use crate::kustomize::{Deliverer, SourceTool};

/// The group of Applications and ApplicationSets.
pub(super) const GROUP: &str = "argoproj.io";

/// With it, deleting an Application deletes what it delivered; with nothing after it, or `/foreground`, or `/background`.
pub const RESOURCES_FINALIZER: &str = "resources-finalizer.argocd.argoproj.io";

/// An Application with this annotation is left alone while its value is true.
pub const SKIP_RECONCILE: &str = "argocd.argoproj.io/skip-reconcile";

/// How the objects of an Application with these finalizers are deleted with it, as the first of them says; `None` if they are not
/// (argo-cd pkg/apis/application/v1alpha1/types.go, GetPropagationPolicy).
pub fn deletion_policy<'f>(mut finalizers: impl Iterator<Item = &'f str>) -> Option<Policy> {
    finalizers.find_map(
        |finalizer| match finalizer.strip_prefix(RESOURCES_FINALIZER)? {
            "" | "/foreground" => Some(Policy::Foreground),
            "/background" => Some(Policy::Background),
            _ => None,
        },
    )
}

/// Whether Argo CD reads a text as true (Go's `strconv.ParseBool`).
pub fn is_true(text: &str) -> bool {
    matches!(text, "1" | "t" | "T" | "true" | "TRUE" | "True")
}

/// The cluster in which Argo CD itself runs (argo-cd docs/operator-manual/declarative-setup.md).
pub(super) const OWN_SERVER: &str = "https://kubernetes.default.svc";
pub(super) const OWN_NAME: &str = "in-cluster";

/// An Application as its parent applies it.
#[derive(Clone, Debug)]
pub(super) struct Application {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) node: Node,
    pub(super) origin: Origin,
}

impl Application {
    /// Reads an object, if it is an Application.
    pub(super) fn of(resource: &Resource) -> Option<Self> {
        let id = resource.id();
        (id.group == GROUP && id.kind == "Application").then(|| Self {
            namespace: id.namespace.into(),
            name: id.name.into(),
            node: resource.node.clone(),
            origin: resource.origin.clone(),
        })
    }

    fn text(&self, path: &[&str]) -> Option<String> {
        self.node.at(&["spec"])?.text_at(path)
    }

    /// The cluster that it delivers into, if it lies in `here`, to which the entry point in `entry` leads; `named` is
    /// the cluster that the parameters of its set name.
    pub(super) fn destination(
        &self,
        entry: &str,
        here: &Arc<str>,
        named: Option<&str>,
        clusters: &KnownClusters,
    ) -> Arc<str> {
        let written = self
            .text(&["destination", "name"])
            .or_else(|| self.text(&["destination", "server"]));
        let known =
            written.filter(|name| !super::template::is_partly_unknown(name) || named.is_none());
        match known.as_deref().or(named) {
            None => Arc::clone(here),
            Some(written) => clusters.destination(written, entry, here),
        }
    }

    /// The namespace of objects that write none.
    pub(super) fn target_namespace(&self) -> Option<String> {
        self.text(&["destination", "namespace"])
    }

    /// Its sources; one that others only take values from is none.
    pub(super) fn sources(&self) -> Vec<Node> {
        let Some(spec) = self.node.get("spec") else {
            return Vec::new();
        };
        let several = spec.items_at("sources");
        let all = if several.is_empty() {
            spec.get("source").into_iter().collect()
        } else {
            several
        };
        all.into_iter()
            .filter(|source| {
                source.text_at(&["path"]).is_some() || source.text_at(&["chart"]).is_some()
            })
            .collect()
    }

    /// Whether another branch is written by Argo CD and delivered instead of the sources.
    pub(super) fn is_hydrated(&self) -> bool {
        self.node
            .at(&["spec", "sourceHydrator"])
            .is_some_and(|hydrator| hydrator.is_map())
    }

    /// Its settings for its objects.
    pub(super) fn settings(&self) -> Settings {
        let policy = self.node.at(&["spec", "syncPolicy"]);
        let automated = policy.as_ref().and_then(|policy| policy.get("automated"));
        // `automated: {}` is on, `automated:` is not.
        let automated = automated.filter(Node::is_map);
        let flag = |key: &str| automated.as_ref()?.get(key)?.as_bool();
        let is_automated = automated.is_some() && flag("enabled") != Some(false);
        let finalizers = self.node.at(&["metadata"]);
        Settings {
            prune: is_automated.then(|| flag("prune").unwrap_or(false)),
            automated: Some(is_automated),
            self_heal: flag("selfHeal"),
            allow_empty: flag("allowEmpty"),
            sync_options: policy
                .map(|policy| policy.texts_at("syncOptions"))
                .unwrap_or_default(),
            finalizers: finalizers
                .map(|metadata| metadata.texts_at("finalizers"))
                .unwrap_or_default(),
            destination_namespace: self.target_namespace(),
            suspend: self.skips_reconciling().then_some(true),
            ..Settings::default()
        }
    }

    fn skips_reconciling(&self) -> bool {
        let annotations = self.node.at(&["metadata", "annotations"]);
        let skips = annotations.and_then(|all| all.get(SKIP_RECONCILE));
        skips
            .and_then(|skips| skips.scalar())
            .is_some_and(|text| is_true(&text))
    }

    /// The deliverer: `folder` distinguishes those that are partly unknown.
    pub(super) fn deliverer(&self, cluster: &Arc<str>, folder: &str) -> Deliverer {
        Deliverer {
            cluster: Arc::clone(cluster),
            tool: SourceTool::ArgoCd,
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            folder: folder.into(),
        }
    }
}
