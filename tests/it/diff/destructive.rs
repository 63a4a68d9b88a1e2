//! Mechanical removals and renamings: each change is found, and its effects agree with a count that is independent of
//! the simulation.

use std::collections::BTreeSet;

use ownerlint::delivery::DeliveryTool;
use ownerlint::merge::DeliveryChoice;
use ownerlint::merge::EffectKind;
use ownerlint::report::diff::DiffReport;
use serde_json::{Value, json};

use super::renderings::{Rendering, Texts, compare, samples};
use crate::support::{corpus, root};

/// Renderings with objects whose removal matters: parts of the corpus, and one made for this test.
const RENDERINGS: [(&str, &[&str]); 10] = [
    (
        "gatekeeper",
        &[
            "deploy/gatekeeper.yaml",
            "test/gator/expand/fixtures/basic-expansion/input",
        ],
    ),
    ("istio", &["samples/security/spire"]),
    (
        "strimzi",
        &[
            "packaging/install/access-operator",
            "packaging/examples/kafka-access",
        ],
    ),
    (
        "tekton",
        &[
            "config/300-crds/300-pipeline.yaml",
            "examples/v1/pipelineruns",
        ],
    ),
    ("prometheus-community", &["rendered/helm-alertmanager.yaml"]),
    (
        "kubeflow",
        &["rendered/kustomize-applications-model-registry-upstream-overlays-db.yaml"],
    ),
    ("velero", &["examples/nginx-app/with-pv.yaml"]),
    (
        "longhorn",
        &["examples/statefulset.yaml", "examples/deployment.yaml"],
    ),
    ("metallb", &["rendered/helm-metallb.yaml"]),
    ("home-ops", &["kubernetes/apps/default/seerr/app"]),
];

/// The kinds: one object of each is removed or renamed.
const KINDS: [&str; 8] = [
    "Namespace",
    "CustomResourceDefinition",
    "ExternalSecret",
    "PersistentVolumeClaim",
    "StatefulSet",
    "Application",
    "Deployment",
    "ServiceAccount",
];

/// The number of objects for each kind of effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    deleted: usize,
    cascaded: usize,
    generated: usize,
    stuck: usize,
}

impl Counts {
    /// Counts the effects in a report.
    fn reported(report: &DiffReport) -> Self {
        let count = |kind| {
            report
                .effects
                .iter()
                .filter(|effect| effect.effect == kind)
                .count()
        };
        Self {
            deleted: count(EffectKind::Deleted),
            cascaded: count(EffectKind::Cascaded),
            generated: count(EffectKind::GeneratedDeleted),
            stuck: count(EffectKind::Stuck),
        }
    }

    /// Counts the expected losses from the manifests, if `tool` deletes `removed`.
    fn expected(rendering: &Rendering, removed: &Value, tool: DeliveryTool) -> Self {
        if is_spared(removed, tool) {
            return Self::default();
        }
        let objects: Vec<&Value> = rendering
            .objects()
            .filter(|object| object["metadata"].is_object())
            .collect();
        let gone = closure(&objects, removed);
        let stuck = stuck(&objects, &gone);
        let is_stuck = |object: &Value| stuck.contains(&identity(object));
        let all = gone.iter().filter(|object| !is_stuck(object));
        let deleted = usize::from(!is_stuck(removed));
        Self {
            deleted,
            cascaded: gone.len() - stuck.len() - deleted,
            generated: all.map(|object| products(object, &gone)).sum(),
            stuck: stuck.len(),
        }
    }
}

fn text<'v>(value: &'v Value, path: &str) -> &'v str {
    value
        .pointer(path)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn group(object: &Value) -> &str {
    text(object, "/apiVersion")
        .rsplit_once('/')
        .map_or("", |(group, _)| group)
}

type Identity = [String; 4];

fn identity(object: &Value) -> Identity {
    let metadata = &object["metadata"];
    [
        group(object),
        text(object, "/kind"),
        text(metadata, "/namespace"),
        text(metadata, "/name"),
    ]
    .map(str::to_owned)
}

/// Whether an annotation for the tool protects an object; Argo CD protects every definition.
fn is_spared(object: &Value, tool: DeliveryTool) -> bool {
    let annotation = |key: &str| {
        object["metadata"]["annotations"]
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    match tool {
        DeliveryTool::Helm => {
            annotation("helm.sh/resource-policy") == "keep"
                || !annotation("helm.sh/hook").is_empty()
        }
        DeliveryTool::ArgoCd => {
            annotation("argocd.argoproj.io/sync-options").contains("Prune=false")
                || text(object, "/kind") == "CustomResourceDefinition"
        }
        DeliveryTool::Flux => annotation("kustomize.toolkit.fluxcd.io/prune") == "disabled",
        DeliveryTool::Kubectl => true,
    }
}

/// Returns the objects that are deleted with an object: those in a Namespace, and those of a CustomResourceDefinition.
fn closure<'v>(objects: &[&'v Value], removed: &'v Value) -> Vec<&'v Value> {
    let contains = |object: &Value, other: &Value| match text(object, "/kind") {
        "Namespace" => text(other, "/metadata/namespace") == text(object, "/metadata/name"),
        "CustomResourceDefinition" => {
            text(object, "/spec/group") == group(other)
                && text(object, "/spec/names/kind") == text(other, "/kind")
        }
        _ => false,
    };
    let mut gone = vec![removed];
    let mut at = 0;
    while at < gone.len() {
        let with_it: Vec<&Value> = objects
            .iter()
            .copied()
            .filter(|other| contains(gone[at], other))
            .collect();
        for other in with_it {
            if gone.iter().all(|one| identity(one) != identity(other)) {
                gone.push(other);
            }
        }
        at += 1;
    }
    gone
}

/// Returns the objects that stay Terminating: those with an unknown finalizer, claims that a remaining workload mounts,
/// and those that contain either.
fn stuck(objects: &[&Value], gone: &[&Value]) -> BTreeSet<Identity> {
    let is_gone = |object: &Value| gone.iter().any(|one| identity(one) == identity(object));
    let mounts = |workload: &Value, claim: &Value| {
        let volumes = workload
            .pointer("/spec/template/spec/volumes")
            .and_then(Value::as_array);
        let mounted = volumes
            .into_iter()
            .flatten()
            .map(|volume| text(volume, "/persistentVolumeClaim/claimName"));
        text(workload, "/metadata/namespace") == text(claim, "/metadata/namespace")
            && mounted
                .into_iter()
                .any(|name| name == text(claim, "/metadata/name"))
    };
    let held = |object: &Value| {
        let finalizers = object["metadata"]["finalizers"]
            .as_array()
            .is_some_and(|finalizers| !finalizers.is_empty());
        let in_use = object["kind"] == "PersistentVolumeClaim"
            && objects
                .iter()
                .any(|workload| !is_gone(workload) && mounts(workload, object));
        finalizers || in_use
    };
    let held: Vec<&&Value> = gone.iter().filter(|object| held(object)).collect();
    let contains = |object: &&&Value| held.iter().any(|held| closure(&[*held], object).len() > 1);
    let containers = gone.iter().filter(contains);
    containers
        .chain(held.iter().copied())
        .map(|object| identity(object))
        .collect()
}

/// Counts the objects in no manifest that are deleted with a deleted object: the Secret of an ExternalSecret, the
/// claims of a StatefulSet. In a deleted Namespace they are deleted in any case.
fn products(object: &Value, gone: &[&Value]) -> usize {
    let namespace = text(object, "/metadata/namespace");
    let with_namespace = gone
        .iter()
        .any(|one| one["kind"] == "Namespace" && text(one, "/metadata/name") == namespace);
    let spec = &object["spec"];
    match text(object, "/kind") {
        "ExternalSecret" => {
            let policy = spec
                .pointer("/target/creationPolicy")
                .and_then(Value::as_str);
            usize::from(with_namespace || matches!(policy, None | Some("Owner")))
        }
        "StatefulSet" => {
            let deletes =
                text(spec, "/persistentVolumeClaimRetentionPolicy/whenDeleted") == "Delete";
            let templates = spec["volumeClaimTemplates"].as_array().map_or(0, Vec::len);
            let replicas = spec["replicas"].as_u64().unwrap_or(1) as usize;
            if deletes || with_namespace {
                templates * replicas
            } else {
                0
            }
        }
        _ => 0,
    }
}

fn renderings() -> Vec<(&'static str, Rendering)> {
    let mut all = vec![(
        "shop",
        Rendering::read(&root().join("fixtures/changes/shop.yaml"), &[]),
    )];
    if let Some(corpus) = corpus() {
        all.extend(
            RENDERINGS
                .map(|(project, within)| (project, Rendering::read(&corpus.join(project), within))),
        );
    }
    all
}

fn written(rendering: &Rendering) -> Texts {
    rendering.written(|documents| {
        documents
            .iter()
            .map(|document| format!("---\n{document}\n"))
            .collect()
    })
}

fn changed(rendering: &Rendering, object: &Value, change: impl Fn(&mut Value)) -> Texts {
    let mut head = rendering.clone();
    head.objects_mut()
        .filter(|other| identity(other) == identity(object))
        .for_each(change);
    written(&head)
}

fn by(tool: DeliveryTool) -> DeliveryChoice {
    DeliveryChoice {
        by: Some(tool),
        ..DeliveryChoice::default()
    }
}

/// Returns the first object of each kind in `KINDS`.
fn targets(rendering: &Rendering) -> impl Iterator<Item = &Value> {
    let first = |kind| {
        rendering
            .objects()
            .find(|object| object["kind"] == kind && object["metadata"]["name"].is_string())
    };
    KINDS.into_iter().filter_map(first)
}

fn words(report: &DiffReport) -> Vec<&str> {
    report.changes.iter().map(|change| change.change).collect()
}

#[test]
fn effects_of_removals_agree_with_independent_count() {
    let (mut wrong, mut kinds) = (Vec::new(), BTreeSet::new());
    for (name, rendering) in renderings() {
        let base = written(&rendering);
        for removed in targets(&rendering) {
            kinds.insert(text(removed, "/kind").to_owned());
            let head = changed(&rendering, removed, |object| *object = json!({}));
            for tool in [DeliveryTool::Helm, DeliveryTool::ArgoCd, DeliveryTool::Flux] {
                let report = compare(&base, &head, by(tool));
                let (expected, reported) = (
                    Counts::expected(&rendering, removed, tool),
                    Counts::reported(&report),
                );
                if words(&report) != ["removed"] || expected != reported {
                    let (words, key) = (words(&report), identity(removed));
                    wrong.push(format!(
                        "{name}: {key:?} by {tool:?}: {words:?} {reported:?} and not {expected:?}"
                    ));
                }
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
    assert!(
        kinds.is_superset(&KINDS.into_iter().map(str::to_owned).collect()),
        "{kinds:?}"
    );
}

#[test]
fn renaming_deletes_the_objects_that_a_removal_deletes() {
    let mut wrong = Vec::new();
    for (at, (name, rendering)) in renderings().into_iter().enumerate() {
        let tool = [DeliveryTool::Helm, DeliveryTool::ArgoCd, DeliveryTool::Flux][at % 3];
        let base = written(&rendering);
        for renamed in targets(&rendering) {
            let head = changed(&rendering, renamed, |object| {
                object["metadata"]["name"] = json!(format!("{}-2", text(object, "/metadata/name")));
            });
            let report = compare(&base, &head, by(tool));
            let found = matches!(
                &*words(&report),
                ["renamed"] | ["removed", "added"] | ["added", "removed"]
            );
            let (expected, reported) = (
                Counts::expected(&rendering, renamed, tool),
                Counts::reported(&report),
            );
            if !found || expected != reported {
                let (words, key) = (words(&report), identity(renamed));
                wrong.push(format!(
                    "{name}: {key:?} by {tool:?}: {words:?} {reported:?} and not {expected:?}"
                ));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn removed_corpus_application_deletes_its_objects() {
    let Some(corpus) = corpus() else { return };
    let rendering = Rendering::read(&corpus.join("istio/samples/ambient-argo"), &[]);
    // Another Application delivers this one: it includes the one file of the folder that this one excludes.
    let (own, rest) = ("application/application.yaml", "application/");
    let delivered = rendering
        .files
        .iter()
        .filter(|(path, _)| path.starts_with(rest) && *path != own);
    let delivered: BTreeSet<Identity> = delivered
        .flat_map(|(_, documents)| documents)
        .map(identity)
        .collect();
    let application = &rendering.files[own][0];
    let head = changed(&rendering, application, |object| *object = json!({}));
    let counts = Counts::reported(&compare(
        &rendering.original,
        &head,
        DeliveryChoice::default(),
    ));
    assert_eq!(
        counts,
        Counts {
            deleted: delivered.len() + 1,
            ..Counts::default()
        }
    );
}

#[test]
fn removed_corpus_kustomization_deletes_its_objects() {
    let Some(corpus) = corpus() else { return };
    let (_, sources) = samples(corpus)
        .iter()
        .find(|(sample, _)| sample.by.is_none())
        .expect("sources that Flux applies");
    let kustomizations = sources
        .objects()
        .filter(|object| group(object) == "kustomize.toolkit.fluxcd.io");
    let inner = |object: &&Value| {
        sources
            .files
            .contains_key(&format!("{}/kustomization.yaml", path(object)))
    };
    let mut compared = 0;
    for kustomization in kustomizations.filter(inner).take(6) {
        let folder = format!("{}/", path(kustomization));
        let files = sources
            .files
            .iter()
            .filter(|(path, _)| path.starts_with(&folder) && !path.ends_with("kustomization.yaml"));
        let applied: Vec<&Value> = files
            .flat_map(|(_, documents)| documents)
            .filter(|object| !group(object).is_empty())
            .collect();
        let generated = applied.iter().map(|object| products(object, &[])).sum();
        let expected = Counts {
            deleted: applied.len() + 1,
            generated,
            ..Counts::default()
        };
        let head = changed(sources, kustomization, |object| *object = json!({}));
        let report = compare(&sources.original, &head, DeliveryChoice::default());
        assert_eq!(Counts::reported(&report), expected, "{folder}");
        compared += 1;
    }
    assert!(compared > 3, "{compared}");
}

fn path(kustomization: &Value) -> &str {
    text(kustomization, "/spec/path").trim_start_matches("./")
}
