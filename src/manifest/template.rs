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
        let Self {
            kind,
            field,
            node,
            metadata,
        } = self;
        let decode_errors = metadata.decode_errors();
        Template {
            kind: *kind,
            field,
            metadata: metadata.of(tree, tree.value(*node)),
            decode_errors,
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

/// Finds the templates of an object of that group and kind whose metadata takes effect.
pub(super) fn templates_of(
    group: &str,
    kind: &str,
    object: Value<'_>,
) -> SmallVec<[FoundTemplate; 1]> {
    let mut templates = SmallVec::new();
    let mut add = |kind, field: &str, holder: Option<Value<'_>>| {
        if let Some(template) = read(kind, field, holder) {
            templates.push(template);
        }
    };
    let spec = object.get("spec");
    let pod_template =
        |value: Option<Value<'_>>,
         field: &str,
         add: &mut dyn FnMut(TemplateKind, &str, Option<Value<'_>>)| {
            let value = value.and_then(|value| value.get("template"));
            add(TemplateKind::Pod, &format!("{field}.template"), value);
            ephemeral_claims(
                value.and_then(|v| v.get("spec")),
                &format!("{field}.template.spec"),
                add,
            );
        };
    match (group, kind) {
        ("apps", "StatefulSet") => {
            pod_template(spec, "spec", &mut add);
            let claims = spec
                .and_then(|spec| spec.get("volumeClaimTemplates"))
                .into_iter()
                .flat_map(Value::items);
            for (index, claim) in claims.enumerate() {
                add(
                    TemplateKind::Claim,
                    &format!("spec.volumeClaimTemplates[{index}]"),
                    Some(claim),
                );
            }
        }
        ("apps", "Deployment" | "ReplicaSet" | "DaemonSet")
        | ("batch", "Job")
        | ("", "ReplicationController") => {
            pod_template(spec, "spec", &mut add);
        }
        ("batch", "CronJob") => {
            let job = spec.and_then(|spec| spec.get("jobTemplate"));
            add(TemplateKind::Job, "spec.jobTemplate", job);
            pod_template(
                job.and_then(|job| job.get("spec")),
                "spec.jobTemplate.spec",
                &mut add,
            );
        }
        ("", "Pod") => ephemeral_claims(spec, "spec", &mut add),
        ("resource.k8s.io", "ResourceClaimTemplate") => add(TemplateKind::Restricted, "spec", spec),
        _ => {}
    }
    templates.shrink_to_fit();
    templates
}

fn ephemeral_claims(
    spec: Option<Value<'_>>,
    field: &str,
    add: &mut dyn FnMut(TemplateKind, &str, Option<Value<'_>>),
) {
    let volumes = spec
        .and_then(|spec| spec.get("volumes"))
        .into_iter()
        .flat_map(Value::items);
    for (index, volume) in volumes.enumerate() {
        let field = format!("{field}.volumes[{index}].ephemeral.volumeClaimTemplate");
        add(
            TemplateKind::Restricted,
            &field,
            volume.at(&["ephemeral", "volumeClaimTemplate"]),
        );
    }
}

fn read(kind: TemplateKind, field: &str, holder: Option<Value<'_>>) -> Option<FoundTemplate> {
    let holder = holder.filter(|holder| holder.get("metadata").is_some())?;
    let metadata =
        MetadataFields::read(Decoder::default(), format_args!("{field}.metadata"), holder);
    Some(FoundTemplate {
        kind,
        field: field.into(),
        node: holder.id(),
        metadata,
    })
}
