//! The objects that are applied to a cluster together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::kustomize::{BuildError, Resource};
use super::unread::{UnreadInput, What};
use crate::charts::CallId;
use crate::kustomize::Deliverer;

/// The objects that a delivery object, or a person who runs a build, applies.
#[derive(Clone, Debug, Default)]
pub struct Delivery {
    /// An id that is equal in two states of a tree for the same delivery.
    pub id: String,
    /// The cluster that it delivers into, named by the folder of an entry point; a cluster that is not the tool's own is
    /// `folder/name`. Empty if it is unknown.
    pub cluster: Arc<str>,
    /// The delivery that applies its delivery object; `None` for an entry point.
    pub parent: Option<Arc<str>>,
    /// The key of its delivery object.
    pub key: String,
    /// Its deliverer; `None` for a HelmRelease that was not rendered, and for a build or a chart used by hand.
    pub by: Option<Deliverer>,
    /// The folder that it builds, of several sources the first one; empty if it builds none.
    pub path: String,
    /// Whether it depends on facts that only the cluster or a service knows.
    pub is_possible: bool,
    /// The name of the object that represents it, where the deliverer has a more specific name.
    pub object: Option<String>,
    /// The file that contains its delivery object.
    pub file: Arc<str>,
    /// The line in this file.
    pub line: usize,
    /// The settings of its delivery object.
    pub settings: Settings,
    /// The error, if it cannot be built.
    pub error: Option<BuildError>,
    /// If it fails: the objects that it would build without the parts that fail, if that can be built.
    pub attempt: Option<Arc<Vec<Resource>>>,
    /// Why it may fail, which only the cluster knows: a phrase that follows its name.
    pub may_fail: Option<String>,
    /// Its first build, if it reconciles once with its settings of the previous state and then cannot be built.
    pub built_first: Option<Arc<Vec<Resource>>>,
    /// The objects that it builds, as it applies them.
    pub resources: Arc<Vec<Resource>>,
    /// The folders that it builds or renders, and the files that it reads as resources.
    pub reached: Arc<BTreeSet<String>>,
    /// The inputs that it depends on and that were not read.
    pub unread: Vec<UnreadInput>,
    /// The settings that determine its objects, as text, if these are in a source that is not read.
    pub elsewhere: Option<String>,
    /// The charts that it requests.
    pub charts: BTreeSet<CallId>,
    /// Whether it is a chart of the tree that is installed by hand.
    pub is_chart: bool,
}

impl Delivery {
    /// Sorts deliveries by their ids. Of several with one id, the first counts.
    pub(super) fn sort(all: &mut Vec<Self>) {
        all.sort_by(|one, other| one.id.cmp(&other.id));
        all.dedup_by(|one, other| one.id == other.id);
    }

    /// Returns the unread inputs whose objects have other names or namespaces than in `before`, its previous state.
    pub fn transformed_since<'d>(&'d self, before: &'d Self) -> Vec<&'d UnreadInput> {
        let [is, was] = [self, before].map(Self::transformations);
        let unread = self.unread.iter().filter(|input| {
            let place = (input.what, input.file.as_str());
            was.get(&place)
                .is_some_and(|was| is.get(&place) != Some(was))
        });
        unread.collect()
    }

    /// Returns the transformations of the unread inputs of each kind in each file.
    fn transformations(&self) -> BTreeMap<(What, &str), BTreeSet<u64>> {
        let mut all: BTreeMap<_, BTreeSet<u64>> = BTreeMap::new();
        for input in &self.unread {
            let place = (input.what, input.file.as_str());
            all.entry(place).or_default().insert(input.transformed);
        }
        all
    }

    /// Finds a delivery in a sorted list.
    pub fn find<'d>(sorted: &'d [Self], id: &str) -> Option<&'d Self> {
        let found = sorted.binary_search_by(|one| one.id.as_str().cmp(id));
        found.ok().map(|at| &sorted[at])
    }
}

/// The settings of a delivery; those that are not written are `None` or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Settings {
    /// Whether it deletes objects that leave its sources.
    pub prune: Option<bool>,
    /// The commit or tag of this tree that it delivers, if that never changes.
    pub revision: Option<String>,
    /// The release of a HelmRelease.
    pub release: Option<Release>,
    /// Whether it is suspended.
    pub suspend: Option<bool>,
    /// The fate of its objects when it is deleted.
    pub deletion_policy: Option<String>,
    /// The ServiceAccount that it uses.
    pub service_account: Option<String>,
    /// The Kustomizations for which it waits: namespace and name.
    pub depends_on: Vec<(String, String)>,
    /// The entries of `depends_on` that must be ready; for the others, an expression must be true.
    pub awaits_ready: Vec<(String, String)>,
    /// Kind, namespace and name of the source of a Kustomization.
    pub source: Option<(String, String, String)>,
    /// The ConfigMaps without which it builds nothing: namespace and name.
    pub variables_from: Vec<(String, String)>,
    /// Whether an Application syncs on its own.
    pub automated: Option<bool>,
    /// Whether an Application also syncs when the cluster changes.
    pub self_heal: Option<bool>,
    /// Whether an Application deletes everything that it delivered if its sources are empty.
    pub allow_empty: Option<bool>,
    /// `syncOptions` of an Application.
    pub sync_options: Vec<String>,
    /// The finalizers of an Application.
    pub finalizers: Vec<String>,
    /// The namespace of the objects of an Application that name none.
    pub destination_namespace: Option<String>,
    /// Whether the Applications of a set leave the delivered objects when they are deleted.
    pub preserve_resources: Option<bool>,
    /// The policy of a set for its Applications: `create-only`, `create-update`, `create-delete` or `sync`.
    pub applications_sync: Option<String>,
}

/// Maximum length of the name of a release.
const LONGEST_NAME: usize = 53;

/// The fields of a HelmRelease that name its chart.
const REFERENCE: [&[&str]; 7] = [
    &["chart", "spec", "chart"],
    &["chart", "spec", "sourceRef", "kind"],
    &["chart", "spec", "sourceRef", "name"],
    &["chart", "spec", "sourceRef", "namespace"],
    &["chartRef", "kind"],
    &["chartRef", "name"],
    &["chartRef", "namespace"],
];

/// The release that a HelmRelease installs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Release {
    /// Its name.
    pub name: String,
    /// The namespace in which Helm stores it.
    pub storage: String,
    /// The namespace in which it is installed.
    pub namespace: String,
    /// The name of its chart, if it is known.
    pub chart: Option<String>,
    /// The texts that name its chart: the chart and its source.
    pub reference: Vec<String>,
    /// Whether a chart of another name upgrades it (`spec.upgrade.chartNameChangeStrategy: InPlaceUpdate`).
    pub takes_any_chart: bool,
}

impl Release {
    /// Whether it is uninstalled before `next` is installed (fluxcd/helm-controller internal/action/verify.go,
    /// `ReleaseTargetChanged`).
    pub fn is_replaced_by(&self, next: &Self) -> bool {
        let charts = self.chart.as_ref().zip(next.chart.as_ref());
        let is_other_chart = charts.is_some_and(|(was, is)| was != is);
        self.place() != next.place() || is_other_chart && !next.takes_any_chart
    }

    /// Whether only an unknown chart name decides this: `next` names another chart or source.
    pub fn may_be_replaced_by(&self, next: &Self) -> bool {
        let is_unknown = self.chart.is_none() || next.chart.is_none();
        is_unknown
            && self.place() == next.place()
            && self.reference != next.reference
            && !next.takes_any_chart
    }

    /// Returns its name, the namespace in which Helm stores it and the one in which it is installed.
    pub fn place(&self) -> [&str; 3] {
        [&self.name, &self.storage, &self.namespace]
    }

    /// Creates the release that the HelmRelease with a namespace and a name installs from a chart.
    /// `text` returns the text at a path in its `spec`, unless that is empty.
    pub fn of<T: Into<String>>(
        (own, name): (&str, &str),
        chart: Option<String>,
        text: impl Fn(&[&str]) -> Option<T>,
    ) -> Self {
        let [written, target, storage, strategy] = [
            &["releaseName"][..],
            &["targetNamespace"],
            &["storageNamespace"],
            &["upgrade", "chartNameChangeStrategy"],
        ]
        .map(|path| text(path).map(Into::into));
        Self {
            name: Self::name_of(name, (written.as_deref(), target.as_deref())),
            storage: storage.unwrap_or_else(|| own.to_owned()),
            namespace: target.unwrap_or_else(|| own.to_owned()),
            chart,
            reference: REFERENCE
                .iter()
                .map(|path| text(path).map(Into::into).unwrap_or_default())
                .collect(),
            takes_any_chart: strategy.as_deref() == Some("InPlaceUpdate"),
        }
    }

    /// Returns the name of the release of a HelmRelease called `name`, with its `releaseName` and `targetNamespace` if
    /// they are not empty (fluxcd/helm-controller api/v2/helmrelease_types.go, `GetReleaseName`;
    /// internal/release/util.go, `ShortenName`).
    fn name_of(name: &str, (written, target): (Option<&str>, Option<&str>)) -> String {
        let name = match (written, target) {
            (Some(written), _) => written.to_owned(),
            (None, Some(namespace)) => format!("{namespace}-{name}"),
            (None, None) => name.to_owned(),
        };
        if name.len() <= LONGEST_NAME {
            return name;
        }
        let hash = sha2_const_stable::Sha256::new().update(name.as_bytes());
        let digest = data_encoding::HEXLOWER.encode(&hash.finalize());
        let start: String = name.chars().take(LONGEST_NAME - 13).collect();
        format!("{start}-{}", &digest[..12])
    }
}
