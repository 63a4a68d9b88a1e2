//! The specification of one Application of Argo CD.

use std::sync::Arc;

use super::clusters::KnownClusters;
use crate::graph::delivery::Settings;
use crate::graph::kustomize::{Origin, Resource};
use crate::graph::node::Node;
use crate::kube::Policy;
use crate::kustomize::{Deliverer, SourceTool};

/// The group of Applications and ApplicationSets.
pub(super) const GROUP: &str = "argoproj.io";

/// The finalizer of an Application that is deleted with its objects; may end in `/foreground` or `/background`.
pub const RESOURCES_FINALIZER: &str = "resources-finalizer.argocd.argoproj.io";

/// The annotation that stops the reconciliation of an Application while its value is true.
pub const SKIP_RECONCILE: &str = "argocd.argoproj.io/skip-reconcile";

/// Returns the policy with which an Application deletes its objects, by the first of its
/// `finalizers` that states one. `None` if it leaves its objects (argo-cd
/// pkg/apis/application/v1alpha1/types.go, GetPropagationPolicy).
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
pub const OWN_SERVER: &str = "https://kubernetes.default.svc";
/// The name of that cluster.
pub const OWN_NAME: &str = "in-cluster";

/// Options of `kustomize` that affect neither the set of objects nor their identities.
pub const COSMETIC: [&str; 9] = [
    "images",
    "replicas",
    "commonLabels",
    "commonAnnotations",
    "commonAnnotationsEnvsubst",
    "labelWithoutSelector",
    "labelIncludeTemplates",
    "forceCommonLabels",
    "forceCommonAnnotations",
];

/// Returns the sources in an Application or in the template of a set, without those that only provide values to others.
pub(super) fn sources_in(application: &Node) -> Vec<Node> {
    let Some(spec) = application.get("spec") else {
        return Vec::new();
    };
    let mut all = spec.items_at("sources");
    if all.is_empty() {
        all.extend(spec.get("source"));
    }
    all.retain(|source| {
        source.text_at(&["path"]).is_some() || source.text_at(&["chart"]).is_some()
    });
    all
}

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
    pub(super) fn from_resource(resource: &Resource) -> Option<Self> {
        if !resource.is_of(GROUP, "Application") {
            return None;
        }
        let id = resource.id();
        Some(Self {
            namespace: id.namespace.into(),
            name: id.name.into(),
            node: resource.node.clone(),
            origin: resource.origin.clone(),
        })
    }

    /// Returns a copy without the place of its object.
    pub(super) fn without_place(&self) -> Self {
        Self {
            origin: Origin::default(),
            ..self.clone()
        }
    }

    fn text(&self, path: &[&str]) -> Option<String> {
        self.node.at(&["spec"])?.text_at(path)
    }

    /// Returns the cluster that it delivers into. `entry` is the control plane from which it was reached, `here` the
    /// cluster that contains it, and `named` the cluster that the parameters of its set name.
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

    /// Returns the name of its project (argo-cd pkg/apis/application/v1alpha1/types.go, GetProject).
    pub(super) fn project(&self) -> String {
        let written = self.text(&["project"]);
        written.unwrap_or_else(|| "default".to_owned())
    }

    /// Returns the name of its cluster, if it is written.
    pub(super) fn destination_name(&self) -> Option<String> {
        let name = self.text(&["destination", "name"]);
        name.filter(|name| !super::template::is_partly_unknown(name))
    }

    /// Returns the namespace of objects that name none.
    pub(super) fn target_namespace(&self) -> Option<String> {
        self.text(&["destination", "namespace"])
    }

    /// Returns its sources, without those that only provide values to others.
    pub(super) fn sources(&self) -> Vec<Node> {
        sources_in(&self.node)
    }

    /// Returns the settings, except versions and values, that determine the objects of `sources`.
    pub(super) fn deciding(&self, sources: &[Node]) -> String {
        let mut all = vec![self.target_namespace().unwrap_or_default()];
        for source in sources {
            all.push(source.text_without(&["targetRevision", "helm", "kustomize"]));
            let kustomize = source.get("kustomize").unwrap_or(Node::Null);
            all.push(kustomize.text_without(&COSMETIC));
            let release = ["releaseName", "namespace"].map(|key| source.text_at(&["helm", key]));
            all.extend(release.into_iter().flatten());
        }
        all.join("\n")
    }

    /// Whether Argo CD writes the sources to another branch and delivers that.
    pub(super) fn is_hydrated(&self) -> bool {
        self.node
            .at(&["spec", "sourceHydrator"])
            .is_some_and(|hydrator| hydrator.is_map())
    }

    /// Returns its settings as a delivery.
    pub(super) fn settings(&self) -> Settings {
        let policy = self.node.at(&["spec", "syncPolicy"]).unwrap_or(Node::Null);
        let automated = policy.get("automated").unwrap_or(Node::Null);
        // `automated: {}` is on, `automated:` is not.
        let is_automated = automated.is_map() && automated.bool_at(&["enabled"]) != Some(false);
        let metadata = self.node.get("metadata").unwrap_or(Node::Null);
        Settings {
            prune: is_automated.then(|| automated.is_true_at(&["prune"])),
            automated: Some(is_automated),
            self_heal: automated.bool_at(&["selfHeal"]),
            allow_empty: automated.bool_at(&["allowEmpty"]),
            sync_options: policy.texts_at("syncOptions"),
            finalizers: metadata.texts_at("finalizers"),
            destination_namespace: self.target_namespace(),
            suspend: self.skips_reconciling().then_some(true),
            ..Settings::default()
        }
    }

    fn skips_reconciling(&self) -> bool {
        let skips = self.node.at(&["metadata", "annotations", SKIP_RECONCILE]);
        skips
            .and_then(|skips| skips.scalar())
            .is_some_and(|text| is_true(&text))
    }

    /// Returns its deliverer. `folder` distinguishes deliverers with the same partly unknown name.
    pub(super) fn deliverer(&self, cluster: &Arc<str>, folder: &str) -> Deliverer {
        Deliverer {
            folder: folder.to_owned(),
            ..Deliverer::new(cluster, SourceTool::ArgoCd, &self.namespace, &self.name)
        }
    }
}
