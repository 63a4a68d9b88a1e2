//! Workloads: `[DEP-1]` to `[DEP-7]`, `[DEP-11]`, `[DEP-12]`, `[DEP-20]`.

use foldhash::HashMap;

use super::builder::{Builder, dependent, integer, is_true, items, text};
use super::object::{ImpliedObject, ImpliedReference};
use crate::inventory::{Member, Release};
use crate::kube::{ObjectKey, finalizers};
use crate::manifest::{Metadata, TemplateKind};
use crate::yaml::Value;

const APPS: ImpliedReference<'_> = ImpliedReference::controller("apps/v1");
const CORE: ImpliedReference<'_> = ImpliedReference::controller("v1");
const BATCH: ImpliedReference<'_> = ImpliedReference::controller("batch/v1");

const CLAIM: (&str, &str) = ("v1", "PersistentVolumeClaim");
const REVISION: (&str, &str) = ("apps/v1", "ControllerRevision");

/// The manager of a Job without `spec.managedBy`.
const JOB_CONTROLLER: &str = "kubernetes.io/job-controller";

struct PodTemplate<'a> {
    finalizers: Vec<String>,
    spec: Option<Value<'a>>,
    claims: Vec<String>,
}

impl<'a> PodTemplate<'a> {
    /// Reads the template in `holder`, the part of `member` that has the field `template`.
    fn of(holder: Option<Value<'a>>, member: &Member) -> Self {
        let metadata = member
            .object
            .templates()
            .find(|template| template.kind == TemplateKind::Pod);
        Self {
            finalizers: metadata
                .map(|template| finalizers(template.metadata))
                .unwrap_or_default(),
            spec: holder.and_then(|holder| holder.at(&["template", "spec"])),
            claims: Vec::new(),
        }
    }

    /// Returns the number of objects per Pod, including its claims.
    fn objects(&self) -> usize {
        let ephemeral =
            items(self.spec, "volumes").filter(|volume| volume.get("ephemeral").is_some());
        1 + ephemeral.count() + items(self.spec, "resourceClaims").count()
    }
}

fn finalizers(metadata: Metadata<'_>) -> Vec<String> {
    metadata.finalizer_names().map(str::to_owned).collect()
}

fn spec(member: &Member) -> Option<Value<'_>> {
    member.object.at(&["spec"])
}

pub(super) fn deployment<'a>(builder: &mut Builder<'a>, member: &'a Member) {
    let kind = ("apps/v1", "ReplicaSet");
    if let Some(set) = builder.add_hashed("DEP-1", kind, member, APPS) {
        replicas(builder, member, &set, APPS);
    }
}

pub(super) fn replica_set<'a>(builder: &mut Builder<'a>, member: &'a Member) {
    if !builder.has_written(member, "Pod") {
        let is_core = member.key.group().is_empty();
        let reference = if is_core { CORE } else { APPS };
        replicas(builder, member, &member.key, reference);
    }
}

/// Adds the Pods of a ReplicaSet or ReplicationController `[DEP-2]`; `member` contains their template.
fn replicas<'a>(
    builder: &mut Builder<'a>,
    member: &'a Member,
    owner: &ObjectKey,
    reference: ImpliedReference<'a>,
) {
    let template = PodTemplate::of(spec(member), member);
    let wanted = integer(spec(member), "replicas").unwrap_or(1);
    let count = builder.capped(&member.key, wanted, template.objects());
    add_pods(builder, "DEP-2", count, owner, reference, &template);
}

pub(super) fn stateful_set<'a>(builder: &mut Builder<'a>, member: &'a Member) {
    let mut template = PodTemplate::of(spec(member), member);
    builder.add_hashed("DEP-3", REVISION, member, APPS);
    let start = integer(spec(member).and_then(|spec| spec.get("ordinals")), "start").unwrap_or(0);
    let wanted = integer(spec(member), "replicas").unwrap_or(1);
    let claims_of_each = claim_templates(member);
    let objects = template.objects() + claims_of_each.len();
    let replicas = builder.capped(&member.key, wanted, objects);
    let pods_written = builder.has_written(member, "Pod");
    for ordinal in (0..replicas).map(|number| start.saturating_add(number)) {
        let name = format!("{}-{ordinal}", member.key.name);
        template.claims = claims_of_each
            .iter()
            .map(|claim| claim.name_for(&name))
            .collect();
        if !pods_written {
            add_pod(builder, "DEP-3", name.clone(), &member.key, APPS, &template);
        }
        claims(builder, member, &claims_of_each, &name);
    }
}

struct ClaimTemplate<'a> {
    name: &'a str,
    metadata: Option<Metadata<'a>>,
    spec: Option<Value<'a>>,
}

impl ClaimTemplate<'_> {
    /// Returns the name of the claim of a Pod, `<template>-<pod>` `[DEP-4]`.
    fn name_for(&self, pod: &str) -> String {
        format!("{}-{pod}", self.name)
    }
}

/// Returns the claim templates that have a name.
fn claim_templates(member: &Member) -> Vec<ClaimTemplate<'_>> {
    let metadata: HashMap<&str, Metadata<'_>> = member
        .object
        .templates()
        .map(|template| (template.field, template.metadata))
        .collect();
    let templates = items(spec(member), "volumeClaimTemplates").enumerate();
    let named = templates.filter_map(|(index, claim)| {
        let name = text(Some(claim), &["metadata", "name"])?;
        let metadata = metadata
            .get(format!("spec.volumeClaimTemplates[{index}]").as_str())
            .copied();
        Some(ClaimTemplate {
            name,
            metadata,
            spec: claim.get("spec"),
        })
    });
    named.collect()
}

/// The first release that respects `persistentVolumeClaimRetentionPolicy` of a StatefulSet (feature gate
/// StatefulSetAutoDeletePVC, beta and on by default; KEP-1847).
const CLAIM_RETENTION: Release = Release::new(27);

/// Adds the claims of one Pod of a StatefulSet.
fn claims<'a>(
    builder: &mut Builder<'a>,
    member: &'a Member,
    templates: &[ClaimTemplate<'a>],
    pod: &str,
) {
    let policy = text(
        spec(member),
        &["persistentVolumeClaimRetentionPolicy", "whenDeleted"],
    );
    let in_force = builder.inventory.kinds.release() >= CLAIM_RETENTION;
    for template in templates {
        let metadata = template.metadata;
        // [VAL-36]: the metadata of the template is copied in full.
        let copied = metadata
            .map(|metadata| metadata.owner_references().entries.clone())
            .unwrap_or_default();
        // [DEP-20]: a claim with another controller is left untouched.
        let refers = in_force
            && policy == Some("Delete")
            && !copied.iter().any(|reference| reference.is_controller());
        let name = template.name_for(pod);
        let rule = if refers { "DEP-20" } else { "DEP-4" };
        let object = dependent(rule, CLAIM, name, &member.key, APPS);
        builder.add(ImpliedObject {
            reference: object.reference.filter(|_| refers),
            finalizers: metadata.map(finalizers).unwrap_or_default(),
            copied_references: copied,
            spec: template.spec,
            ..object
        });
    }
}

pub(super) fn daemon_set<'a>(builder: &mut Builder<'a>, member: &'a Member) {
    builder.add_hashed("DEP-5", REVISION, member, APPS);
    if !builder.has_written(member, "Pod") {
        let template = PodTemplate::of(spec(member), member);
        // One Pod stands for one per node: a rendering does not show nodes.
        let name = format!("{}-<node>", member.key.name);
        add_pod(builder, "DEP-5", name, &member.key, APPS, &template);
    }
}

pub(super) fn cron_job<'a>(builder: &mut Builder<'a>, member: &'a Member) {
    if is_true(spec(member), "suspend") || builder.has_written(member, "Job") {
        return;
    }
    let job_spec = spec(member).and_then(|spec| spec.at(&["jobTemplate", "spec"]));
    let name = format!("{}-<time>", member.key.name);
    let mut job = dependent("DEP-6", ("batch/v1", "Job"), name, &member.key, BATCH);
    job.spec = job_spec;
    if let Some(job) = builder.add(job) {
        job_pods(builder, member, &job, job_spec);
    }
}

pub(super) fn job<'a>(builder: &mut Builder<'a>, member: &'a Member) {
    if !builder.has_written(member, "Pod") {
        job_pods(builder, member, &member.key, spec(member));
    }
}

/// Adds the Pods that a Job starts with `[DEP-7]`; `member` contains their template.
fn job_pods<'a>(
    builder: &mut Builder<'a>,
    member: &'a Member,
    owner: &ObjectKey,
    job_spec: Option<Value<'a>>,
) {
    let managed_elsewhere =
        text(job_spec, &["managedBy"]).is_some_and(|manager| manager != JOB_CONTROLLER);
    if is_true(job_spec, "suspend") || managed_elsewhere {
        return;
    }
    let mut template = PodTemplate::of(job_spec, member);
    template
        .finalizers
        .push(finalizers::JOB_TRACKING.to_owned());
    let parallelism = integer(job_spec, "parallelism").unwrap_or(1);
    let completions = integer(job_spec, "completions").unwrap_or(parallelism);
    let wanted = parallelism.min(completions);
    let count = builder.capped(&member.key, wanted, template.objects());
    add_pods(builder, "DEP-7", count, owner, BATCH, &template);
}

pub(super) fn pod<'a>(builder: &mut Builder<'a>, member: &'a Member) {
    pod_dependents(builder, &member.key, spec(member));
}

fn add_pods<'a>(
    builder: &mut Builder<'a>,
    rule: &'static str,
    count: i64,
    owner: &ObjectKey,
    reference: ImpliedReference<'a>,
    template: &PodTemplate<'a>,
) {
    for number in 1..=count {
        let name = format!("{}-<{number}>", owner.name);
        add_pod(builder, rule, name, owner, reference, template);
    }
}

fn add_pod<'a>(
    builder: &mut Builder<'a>,
    rule: &'static str,
    name: String,
    owner: &ObjectKey,
    reference: ImpliedReference<'a>,
    template: &PodTemplate<'a>,
) {
    let pod = ImpliedObject {
        finalizers: template.finalizers.clone(),
        claims: template.claims.clone(),
        spec: template.spec,
        ..dependent(rule, ("v1", "Pod"), name, owner, reference)
    };
    if let Some(pod) = builder.add(pod) {
        pod_dependents(builder, &pod, template.spec);
    }
}

/// Adds the claims that are created and deleted with a Pod.
fn pod_dependents<'a>(builder: &mut Builder<'a>, pod: &ObjectKey, spec: Option<Value<'a>>) {
    for volume in items(spec, "volumes") {
        if let (Some(name), Some(claim)) = (
            text(Some(volume), &["name"]),
            volume.at(&["ephemeral", "volumeClaimTemplate"]),
        ) {
            let name = format!("{}-{name}", pod.name);
            let object = dependent("DEP-11", CLAIM, name, pod, CORE);
            builder.add(ImpliedObject {
                spec: claim.get("spec"),
                ..object
            });
        }
    }
    for claim in items(spec, "resourceClaims") {
        if let (Some(name), Some(_)) = (
            text(Some(claim), &["name"]),
            text(Some(claim), &["resourceClaimTemplateName"]),
        ) {
            let name = format!("{}-{name}-<hash>", pod.name);
            let kind = ("resource.k8s.io/v1", "ResourceClaim");
            let reference = ImpliedReference::unblocking_controller("v1");
            builder.add(dependent("DEP-12", kind, name, pod, reference));
        }
    }
}
