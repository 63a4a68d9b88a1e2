//! Metadata inside templates that a controller acts on.
//!
//! A pod template's finalizers reach every pod ([VAL-35]); a StatefulSet's claim templates are copied whole ([VAL-36]);
//! a job template passes only labels and annotations on ([VAL-37]); ephemeral volumes and ResourceClaimTemplates reject
//! anything else ([VAL-38]). Equal keys elsewhere (CRD schemas, ConfigMap strings) are not metadata.

use smallvec::SmallVec;
use smol_str::SmolStr;

use super::decode::Decoder;
use super::metadata::MetadataFields;
use super::{DecodeError, Metadata};
use crate::kube::GroupKind;
use crate::yaml::{NodeId, Tree, Value};

/// The objects that a controller creates from a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateKind {
    /// Pods of a workload ([VAL-35]).
    Pod,
    /// Jobs of a CronJob ([VAL-37]).
    Job,
    /// Claims of a StatefulSet ([VAL-36]).
    Claim,
    /// Claims of generic ephemeral volumes, and resource claims ([VAL-38]).
    Restricted,
}

/// The metadata of one template.
#[derive(Clone, Copy, Debug)]
pub struct Template<'a> {
    /// The objects that are created from it.
    pub kind: TemplateKind,
    /// The field that contains the template: `spec.template`, `spec.volumeClaimTemplates[0]`.
    pub field: &'a str,
    /// The metadata that the objects get.
    pub metadata: Metadata<'a>,
    /// The errors of its fields that do not decode.
    pub decode_errors: &'a [DecodeError],
}

/// The parts of a template that are stored with its object.
#[derive(Clone, Debug)]
pub(super) struct FoundTemplate {
    kind: TemplateKind,
    field: SmolStr,
    /// The mapping that contains the metadata.
    node: NodeId,
    metadata: MetadataFields,
}

impl FoundTemplate {
    /// Returns the template in the tree in which it was found.
    pub(super) fn of<'a>(&'a self, tree: &'a Tree) -> Template<'a> {
        Template {
            kind: self.kind,
            field: &self.field,
            metadata: self.metadata.of(tree, tree.value(self.node)),
            decode_errors: self.metadata.decode_errors(),
        }
    }
}

/// The kinds that have templates.
pub const WITH_TEMPLATES: [GroupKind<&str>; 9] = [
    GroupKind::new("apps", "StatefulSet"),
    GroupKind::new("apps", "Deployment"),
    GroupKind::new("apps", "ReplicaSet"),
    GroupKind::new("apps", "DaemonSet"),
    GroupKind::new("batch", "Job"),
    GroupKind::new("batch", "CronJob"),
    GroupKind::new("", "ReplicationController"),
    GroupKind::new("", "Pod"),
    GroupKind::new("resource.k8s.io", "ResourceClaimTemplate"),
];

/// Finds the templates of an object of this group and kind whose metadata takes effect.
pub(super) fn templates_of(
    group: &str,
    kind: &str,
    object: Value<'_>,
) -> SmallVec<[FoundTemplate; 1]> {
    let mut templates = Templates(SmallVec::new());
    let spec = object.get("spec");
    match (group, kind) {
        ("apps", "StatefulSet") => {
            templates.add_pod(spec, "spec");
            let claims = spec.into_iter();
            let claims = claims.flat_map(|spec| spec.items_at("volumeClaimTemplates"));
            for (index, claim) in claims.enumerate() {
                let field = format!("spec.volumeClaimTemplates[{index}]");
                templates.add(TemplateKind::Claim, &field, Some(claim));
            }
        }
        ("apps", "Deployment" | "ReplicaSet" | "DaemonSet")
        | ("batch", "Job")
        | ("", "ReplicationController") => {
            templates.add_pod(spec, "spec");
        }
        ("batch", "CronJob") => {
            let job = spec.and_then(|spec| spec.get("jobTemplate"));
            templates.add(TemplateKind::Job, "spec.jobTemplate", job);
            let job_spec = job.and_then(|job| job.get("spec"));
            templates.add_pod(job_spec, "spec.jobTemplate.spec");
        }
        ("", "Pod") => templates.add_ephemeral_claims(spec, "spec"),
        ("resource.k8s.io", "ResourceClaimTemplate") => {
            templates.add(TemplateKind::Restricted, "spec", spec);
        }
        _ => {}
    }
    templates.0.shrink_to_fit();
    templates.0
}

/// The templates that were found so far.
struct Templates(SmallVec<[FoundTemplate; 1]>);

impl Templates {
    fn add(&mut self, kind: TemplateKind, field: &str, holder: Option<Value<'_>>) {
        let Some(holder) = holder.filter(|holder| holder.get("metadata").is_some()) else {
            return;
        };
        let metadata =
            MetadataFields::read(Decoder::default(), format_args!("{field}.metadata"), holder);
        self.0.push(FoundTemplate {
            kind,
            field: field.into(),
            node: holder.id(),
            metadata,
        });
    }

    /// Adds the pod template of the specification in `field`.
    fn add_pod(&mut self, spec: Option<Value<'_>>, field: &str) {
        let template = spec.and_then(|spec| spec.get("template"));
        let pod_spec = template.and_then(|template| template.get("spec"));
        self.add(TemplateKind::Pod, &format!("{field}.template"), template);
        self.add_ephemeral_claims(pod_spec, &format!("{field}.template.spec"));
    }

    fn add_ephemeral_claims(&mut self, spec: Option<Value<'_>>, field: &str) {
        let volumes = spec.into_iter().flat_map(|spec| spec.items_at("volumes"));
        for (index, volume) in volumes.enumerate() {
            let field = format!("{field}.volumes[{index}].ephemeral.volumeClaimTemplate");
            let claim = volume.at(&["ephemeral", "volumeClaimTemplate"]);
            self.add(TemplateKind::Restricted, &field, claim);
        }
    }
}
