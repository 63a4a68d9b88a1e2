//! Labels and annotations of a kustomization: on objects and, for some labels, in their selectors and templates
//! (kustomize api/internal/konfig/builtinpluginconsts/commonlabels.go).

use smol_str::SmolStr;

use super::build::{Build, Built, Outcome};
use super::doc::KustomizationDoc;
use super::resource::{ResId, Resource};
use crate::graph::node::Node;

/// A field that gets labels, with the group (empty for any) and the kind of its objects.
struct LabelField {
    group: &'static str,
    kind: &'static str,
    path: &'static str,
    /// Whether it is created if it is missing.
    creates: bool,
}

const fn field(
    (group, kind): (&'static str, &'static str),
    path: &'static str,
    creates: bool,
) -> LabelField {
    LabelField {
        group,
        kind,
        path,
        creates,
    }
}

const POD: &str = "spec/template/metadata/labels";

/// The labels of templates.
const TEMPLATES: [LabelField; 8] = [
    field(("", "ReplicationController"), POD, true),
    field(("", "Deployment"), POD, true),
    field(("", "ReplicaSet"), POD, true),
    field(("", "DaemonSet"), POD, true),
    field(("apps", "StatefulSet"), POD, true),
    field(("batch", "Job"), POD, true),
    field(
        ("batch", "CronJob"),
        "spec/jobTemplate/metadata/labels",
        true,
    ),
    field(
        ("batch", "CronJob"),
        "spec/jobTemplate/spec/template/metadata/labels",
        true,
    ),
];

const SELECTOR: &str = "spec/selector/matchLabels";

/// Selectors, and the labels of claim templates.
const SELECTORS: [LabelField; 13] = [
    field(("", "Service"), "spec/selector", true),
    field(("", "ReplicationController"), "spec/selector", true),
    field(("", "Deployment"), SELECTOR, true),
    field(("", "ReplicaSet"), SELECTOR, true),
    field(("", "DaemonSet"), SELECTOR, true),
    field(("apps", "StatefulSet"), SELECTOR, true),
    field(
        ("apps", "StatefulSet"),
        "spec/volumeClaimTemplates[]/metadata/labels",
        true,
    ),
    field(("batch", "Job"), SELECTOR, false),
    field(
        ("batch", "CronJob"),
        "spec/jobTemplate/spec/selector/matchLabels",
        false,
    ),
    field(("policy", "PodDisruptionBudget"), SELECTOR, false),
    field(
        ("networking.k8s.io", "NetworkPolicy"),
        "spec/podSelector/matchLabels",
        false,
    ),
    field(
        ("networking.k8s.io", "NetworkPolicy"),
        "spec/ingress/from/podSelector/matchLabels",
        false,
    ),
    field(
        ("networking.k8s.io", "NetworkPolicy"),
        "spec/egress/to/podSelector/matchLabels",
        false,
    ),
];

/// Fields of the Pods of Deployments and StatefulSets that select Pods.
const POD_SELECTORS: [&str; 5] = [
    "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels",
];

/// The fields of an object that get labels, besides its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// None.
    Object,
    /// Those of its templates.
    Templates,
    /// Those of its templates, and its selectors.
    Selectors,
}

impl Reach {
    /// Returns the paths of the fields, and whether each is created if it is missing.
    fn fields(self, id: &ResId) -> Vec<(&'static str, bool)> {
        let rows: &[&[LabelField]] = match self {
            Self::Object => &[],
            Self::Templates => &[&TEMPLATES],
            Self::Selectors => &[&TEMPLATES, &SELECTORS],
        };
        let fields = rows.iter().copied().flatten().filter(|field| {
            field.kind == id.kind && (field.group.is_empty() || field.group == id.group)
        });
        let mut found: Vec<_> = fields.map(|field| (field.path, field.creates)).collect();
        let has_pods = id.group == "apps" && ["Deployment", "StatefulSet"].contains(&&*id.kind);
        if self == Self::Selectors && has_pods {
            found.extend(POD_SELECTORS.map(|path| (path, false)));
        }
        found
    }
}

impl Build<'_> {
    /// Puts the labels and annotations of a kustomization on all objects.
    pub(super) fn marks(&self, doc: &KustomizationDoc, built: &mut Built) -> Outcome {
        for entry in doc.node.items_at("labels") {
            let reach = if entry.is_true_at(&["includeSelectors"]) {
                Reach::Selectors
            } else if entry.is_true_at(&["includeTemplates"]) {
                Reach::Templates
            } else {
                Reach::Object
            };
            self.labels(doc, reach, &entry.entries_at(&["pairs"]), built)?;
        }
        let labels = doc.node.entries_at(&["commonLabels"]);
        self.labels(doc, Reach::Selectors, &labels, built)?;
        let annotations = doc.node.entries_at(&["commonAnnotations"]);
        self.mark(doc, "annotations", &annotations, built)
    }

    /// Puts labels or annotations, by `field`, on all objects, and takes their bytes from the budget.
    pub(super) fn mark(
        &self,
        doc: &KustomizationDoc,
        field: &str,
        marks: &[(SmolStr, Node)],
        built: &mut Built,
    ) -> Outcome {
        if marks.is_empty() {
            return Ok(());
        }
        self.take_text(doc, None, Resource::bytes_of(marks), built.resources.len())?;
        for resource in built.resources_mut() {
            resource.mark(field, marks);
        }
        Ok(())
    }

    fn labels(
        &self,
        doc: &KustomizationDoc,
        reach: Reach,
        labels: &[(SmolStr, Node)],
        built: &mut Built,
    ) -> Outcome {
        self.mark(doc, "labels", labels, built)?;
        if labels.is_empty() || reach == Reach::Object {
            return Ok(());
        }
        let bytes = Resource::bytes_of(labels);
        for resource in built.resources_mut() {
            for (path, creates) in reach.fields(&resource.id()) {
                let path: Vec<&str> = path.split('/').collect();
                let places = places(&resource.node, &path, creates);
                if places > 0 {
                    self.take_text(doc, None, bytes, places)?;
                    put(&mut resource.node, &path, creates, labels);
                }
            }
        }
        Ok(())
    }
}

/// Counts the maps at a path below a value, in each item of the lists on the path.
fn places(node: &Node, path: &[&str], creates: bool) -> usize {
    if node.is_seq() {
        let items = node.items();
        return items.iter().map(|item| places(item, path, creates)).sum();
    }
    let Some((first, rest)) = path.split_first() else {
        return 1;
    };
    let (key, creates) = named(first, creates);
    match node.get(key).filter(|value| !value.is_null()) {
        Some(value) => places(&value, rest, creates),
        None => usize::from(creates),
    }
}

/// Puts labels into the maps at a path below a value.
fn put(node: &mut Node, path: &[&str], creates: bool, labels: &[(SmolStr, Node)]) {
    if node.is_seq() {
        for item in node.seq_mut() {
            put(item, path, creates, labels);
        }
        return;
    }
    let Some((first, rest)) = path.split_first() else {
        for (key, value) in labels {
            node.set(key, Node::text(value.scalar().unwrap_or_default()));
        }
        return;
    };
    let (key, creates_it) = named(first, creates);
    let is_there = node.get(key).is_some_and(|value| !value.is_null());
    if is_there || creates_it {
        put(node.entry_mut(key), rest, creates, labels);
    }
}

/// Returns the key of a part of a path, and whether its value is created: a list never is.
fn named(part: &str, creates: bool) -> (&str, bool) {
    part.strip_suffix("[]")
        .map_or((part, creates), |key| (key, false))
}
