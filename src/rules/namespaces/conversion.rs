//! Conversion webhooks that run in a Namespace which contains objects that they convert.

use crate::finding::Severity;
use crate::inventory::Member;
use crate::kube::sort_versions;
use crate::manifest::CrdVersion;
use crate::ownership::{ServiceCaller, instances_of};
use crate::rules::draft::Draft;
use crate::rules::finalizers::held::counted;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::{named, whereabouts};

pub(in crate::rules) static CONVERSION_BLOCKS_DELETION: Rule = rule!(
    Namespaces,
    "conversion-blocks-deletion",
    Warning,
    Stuck,
    "A Namespace contains objects and the webhook that converts them: its deletion gets stuck",
    conversion_blocks_deletion
);

/// [NS-10]: Pods are deleted first, then every other kind is listed and deleted in the version that discovery prefers.
fn conversion_blocks_deletion(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    for client in &context.ownership.serves.clients {
        // If the workloads behind the Service are unknown, so is their deletion.
        let Some(id) = client.backend.with_workloads() else {
            continue;
        };
        let definition = inventory.member(client.object);
        // A CRD needs a Service only for conversions.
        let Some(crd) = definition.object.definition() else {
            continue;
        };
        let Some((preferred, stored)) = versions(&crd.versions) else {
            continue;
        };
        let namespace = client.service.namespace.as_str();
        let instances = instances_of(inventory, crd.group_kind());
        let inside = instances.filter(|member| {
            let analysis = context.analysis;
            member.key.namespace.name() == Some(namespace)
                && analysis.in_one_cluster(definition.file, member.file)
        });
        let inside: Vec<&Member> = inside.collect();
        if !inside.is_empty() {
            let service = inventory.member(id);
            let versions = (&*preferred, stored);
            sink.push(blocks((definition, client), service, versions, &inside));
        }
    }
}

/// Returns the version that discovery prefers and the stored version; `None` if there is only one version.
fn versions(all: &[CrdVersion]) -> Option<(String, &str)> {
    let served = all.iter().filter(|version| version.served);
    let mut served: Vec<String> = served.map(|version| version.name.value.clone()).collect();
    sort_versions(&mut served);
    let stored = all.iter().find(|version| version.storage)?;
    let preferred = served.into_iter().next()?;
    (all.len() > 1).then_some((preferred, stored.name.as_str()))
}

fn blocks(
    (definition, client): (&Member, &ServiceCaller),
    service: &Member,
    (preferred, stored): (&str, &str),
    inside: &[&Member],
) -> Draft {
    let namespace = client.service.namespace.as_str();
    let objects = counted(named(inside[0]), inside.len());
    let gone = format!("once {} is gone", named(service));
    let (severity, message, when) = if preferred == stored {
        (
            Severity::Info,
            format!(
                "deleting namespace `{namespace}` may get stuck: {objects} in it may not be readable {gone}"
            ),
            format!(
                "Objects are read as `{preferred}` to be deleted, and those written before \
                 `{preferred}` became the storage version are stored in another version"
            ),
        )
    } else {
        (
            Severity::Warning,
            format!(
                "deleting namespace `{namespace}` gets stuck: {objects} in it cannot be read {gone}"
            ),
            format!(
                "The objects are stored as `{stored}`, and read as `{preferred}` to be deleted"
            ),
        )
    };
    let draft = Draft::on(definition, client.service.name.span, message)
        .severity(severity)
        .label("converts the objects, and runs in their namespace")
        .reason(format!(
            "{when}: the API server asks the webhook to convert them. Deleting a Namespace removes its Pods first, so the \
             webhook has no backend, and the Namespace stays Terminating with the condition NamespaceDeletionContentFailure."
        ))
        .help(format!(
            "keep the objects and the webhook in different namespaces, or delete the objects \
             before Namespace `{namespace}`"
        ))
        .field("spec.conversion.webhook.clientConfig.service.name")
        .target(client.service_key().to_string())
        .related_object(service, format!("is the backend of the webhook, {}", whereabouts(service)));
    draft.related_objects(
        inside.iter().copied(),
        "has to be read before it is deleted",
    )
}
