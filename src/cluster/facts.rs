//! Facts outside of an object's metadata that the deletion controllers read, and the finalizers that every object of a
//! kind gets whether or not its manifest lists them `[L-31]`.

use std::collections::BTreeMap;

use crate::gc::{DefinitionFacts, Deletion, Facts, NamespaceFacts, PodFacts, VolumeFacts};
use crate::inventory::{Inventory, Member};
use crate::kube::{GroupKind, Namespace, ObjectKey, Scope, finalizers, kinds, likeliest_plural};
use crate::manifest::{CustomResourceDefinition, Object};
use crate::ownership::ImpliedObject;
use crate::yaml::Value;

/// The manager of a Job without `spec.managedBy`.
const JOB_CONTROLLER: &str = "kubernetes.io/job-controller";
const ACCOUNT_ANNOTATION: &str = "kubernetes.io/service-account.name";

/// Reads the facts of objects, including those that come from other objects.
pub(super) struct Reader<'a> {
    /// Whether a scheduler and kubelets run, so that rendered Pods are on nodes.
    running: bool,
    /// For each volume name, the claim that requests this volume.
    asked_for: BTreeMap<&'a str, &'a ObjectKey>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(inventory: &'a Inventory, running: bool) -> Self {
        let claims = inventory.of_kind(kinds::PERSISTENT_VOLUME_CLAIM);
        let asked_for = claims.filter_map(|claim| {
            let volume = string(claim.object.at(&["spec"]), &["volumeName"])?;
            Some((volume, &claim.key))
        });
        Self {
            running,
            asked_for: asked_for.collect(),
        }
    }

    pub(super) fn facts(&self, member: &Member) -> Facts {
        let object = &member.object;
        match object.group_kind() {
            kinds::POD => {
                let status = object.at(&["status"]).filter(|_| member.from_dump);
                let pod = pod(&member.key.name, object.at(&["spec"]), status);
                Facts::Pod(Box::new(PodFacts {
                    scheduled: pod.scheduled || (self.running && !member.from_dump),
                    ..pod
                }))
            }
            kinds::NAMESPACE => Facts::Namespace(namespace(member)),
            kinds::PERSISTENT_VOLUME => Facts::Volume(Box::new(self.volume(member))),
            kinds::PERSISTENT_VOLUME_CLAIM => Facts::Claim {
                attributes_classes: attributes_classes(object.value()),
            },
            kinds::SECRET => token_secret(object).unwrap_or_default(),
            kinds::IP_ADDRESS => address(object.at(&["spec"])).unwrap_or_default(),
            kinds::JOB
                if string(object.at(&["spec"]), &["managedBy"])
                    .is_some_and(|manager| manager != JOB_CONTROLLER) =>
            {
                Facts::ExternallyManagedJob
            }
            kinds::CUSTOM_RESOURCE_DEFINITION => object.definition().map_or(Facts::None, |crd| {
                Facts::Definition(Box::new(definition(crd, Some(member))))
            }),
            _ => Facts::None,
        }
    }

    pub(super) fn implied_facts(&self, object: &ImpliedObject<'_>) -> Facts {
        match object.key.group_kind() {
            kinds::POD => {
                let mut pod = pod(&object.key.name, object.spec, None);
                pod.claims.extend(object.claims.iter().cloned());
                Facts::Pod(Box::new(PodFacts {
                    scheduled: pod.scheduled || self.running,
                    ..pod
                }))
            }
            kinds::PERSISTENT_VOLUME_CLAIM => {
                let class = string(object.spec, &["volumeAttributesClassName"]);
                Facts::Claim {
                    attributes_classes: class.map(str::to_owned).into_iter().collect(),
                }
            }
            _ => Facts::None,
        }
    }

    /// Returns the facts of a volume. It is bound to the claim in `claimRef` or, in a rendering, to one that names it
    /// [FIN-2].
    fn volume(&self, member: &Member) -> VolumeFacts {
        let spec = member.object.at(&["spec"]);
        let reference = spec.and_then(|spec| spec.get("claimRef"));
        let named = string(reference, &["namespace"]).zip(string(reference, &["name"]));
        let named = named.map(|(namespace, name)| {
            let namespace = Namespace::Named(namespace.into());
            ObjectKey::new(kinds::PERSISTENT_VOLUME_CLAIM, namespace, name)
        });
        let bound_to = named.or_else(|| {
            let asked_for = self.asked_for.get(member.key.name.as_str());
            asked_for.filter(|_| !member.from_dump).copied().cloned()
        });
        VolumeFacts {
            bound_to,
            attributes_class: string(spec, &["volumeAttributesClassName"]).map(str::to_owned),
        }
    }
}

/// Returns the facts of a Pod from `spec` and, for a running one, `status`.
fn pod(name: &str, spec: Option<Value<'_>>, status: Option<Value<'_>>) -> PodFacts {
    let claims = items(spec, "volumes")
        .filter_map(|volume| volume.text_at(&["persistentVolumeClaim", "claimName"]));
    let ephemeral = items(spec, "volumes")
        .filter(|volume| volume.at(&["ephemeral", "volumeClaimTemplate"]).is_some());
    let ephemeral = ephemeral.filter_map(|volume| volume.text_at(&["name"]));
    let named =
        items(spec, "resourceClaims").filter_map(|claim| claim.text_at(&["resourceClaimName"]));
    let created = items(status, "resourceClaimStatuses");
    let created = created.filter_map(|claim| claim.text_at(&["resourceClaimName"]));
    // [DEL-12]: an absent value is 30, a negative one is 1.
    let grace = spec
        .and_then(|spec| spec.get("terminationGracePeriodSeconds"))
        .and_then(Value::as_int)
        .unwrap_or(30);
    PodFacts {
        scheduled: string(spec, &["nodeName"]).is_some(),
        finished: matches!(string(status, &["phase"]), Some("Succeeded" | "Failed")),
        grace_seconds: u64::try_from(grace).unwrap_or(1),
        claims: claims.map(str::to_owned).collect(),
        ephemeral_claims: ephemeral.map(|volume| format!("{name}-{volume}")).collect(),
        resource_claims: named.chain(created).map(str::to_owned).collect(),
    }
}

/// Returns the facts of a namespace. The API server adds the token `kubernetes` on creation; a dump shows the tokens
/// that remain [VAL-26].
fn namespace(member: &Member) -> NamespaceFacts {
    let spec = member.object.at(&["spec"]);
    let written = items(spec, "finalizers")
        .filter_map(Value::as_str)
        .map(str::to_owned);
    let mut spec_finalizers: Vec<String> = written.collect();
    let complete = member.from_dump && spec.is_some();
    if !complete
        && !spec_finalizers
            .iter()
            .any(|token| token == finalizers::KUBERNETES)
    {
        spec_finalizers.push(finalizers::KUBERNETES.to_owned());
    }
    // Pushing to an empty list allocates capacity for four tokens.
    spec_finalizers.shrink_to_fit();
    NamespaceFacts { spec_finalizers }
}

/// Returns the VolumeAttributesClasses that a claim uses or is changed to `[FIN-3]`.
fn attributes_classes(claim: Value<'_>) -> Vec<String> {
    let paths: [&[&str]; 3] = [
        &["spec", "volumeAttributesClassName"],
        &["status", "currentVolumeAttributesClassName"],
        &[
            "status",
            "modifyVolumeStatus",
            "targetVolumeAttributesClassName",
        ],
    ];
    paths
        .into_iter()
        .filter_map(|path| claim.text_at(path))
        .map(str::to_owned)
        .collect()
}

/// Returns the ServiceAccount of a token Secret `[DEP-19]`; `None` for other Secrets.
fn token_secret(object: &Object) -> Option<Facts> {
    let is_token = object.value().text_at(&["type"]) == Some("kubernetes.io/service-account-token");
    let account = object
        .metadata()
        .annotation(ACCOUNT_ANNOTATION)
        .filter(|_| is_token)?;
    Some(Facts::TokenSecret {
        service_account: account.value.to_owned(),
    })
}

/// Returns the Service of an address [DEP-19]; other parents delete their addresses themselves.
fn address(spec: Option<Value<'_>>) -> Option<Facts> {
    let parent = spec?.get("parentRef");
    let [group, resource, namespace, name] =
        ["group", "resource", "namespace", "name"].map(|part| string(parent, &[part]));
    let is_service = group.is_none() && resource == Some("services");
    is_service.then_some(Facts::Address {
        namespace: namespace?.to_owned(),
        service: name?.to_owned(),
    })
}

/// Returns the facts of a definition: established, unless a dump says otherwise `[CRD-3]`.
pub(super) fn definition(
    crd: &CustomResourceDefinition,
    member: Option<&Member>,
) -> DefinitionFacts {
    let status = member
        .filter(|member| member.from_dump)
        .and_then(|member| member.object.at(&["status"]));
    let mut conditions = items(status, "conditions");
    let established =
        conditions.find(|condition| condition.text_at(&["type"]) == Some("Established"));
    let plural = crd.plural.as_ref().map(|plural| plural.value.clone());
    DefinitionFacts {
        group: crd.group.value.clone(),
        kind: crd.kind.value.clone(),
        plural: plural.unwrap_or_else(|| likeliest_plural(&crd.kind.value)),
        namespaced: crd
            .scope
            .as_ref()
            .is_none_or(|scope| scope.value == Scope::Namespaced),
        served: crd
            .versions
            .iter()
            .filter(|version| version.served)
            .map(|version| version.name.value.clone())
            .collect(),
        established: established
            .is_none_or(|condition| condition.text_at(&["status"]) != Some("False")),
    }
}

/// Returns the deletion under way in a dump. The API server clears `metadata.deletionTimestamp` on creation `[VAL-28]`.
pub(super) fn deletion(member: &Member) -> Option<Deletion> {
    let metadata = member.object.metadata();
    if !member.from_dump || !metadata.has_server_field("deletionTimestamp") {
        return None;
    }
    let grace = member
        .object
        .at(&["metadata", "deletionGracePeriodSeconds"])
        .and_then(Value::as_int);
    let grace = grace.and_then(|grace| u64::try_from(grace).ok());
    Some(Deletion {
        grace_seconds: grace.unwrap_or(0),
    })
}

/// Returns the protection finalizer that admission adds to every object of a kind [FIN-1] to [FIN-3], or that the cloud
/// controller adds to a load balancer [FIN-4].
pub(super) fn protection(kind: GroupKind<&str>, spec: Option<Value<'_>>) -> Option<&'static str> {
    match kind {
        kinds::PERSISTENT_VOLUME_CLAIM => Some(finalizers::PVC_PROTECTION),
        kinds::PERSISTENT_VOLUME => Some(finalizers::PV_PROTECTION),
        kinds::VOLUME_ATTRIBUTES_CLASS => Some(finalizers::VAC_PROTECTION),
        kinds::SERVICE if string(spec, &["type"]) == Some("LoadBalancer") => {
            let own_class = string(spec, &["loadBalancerClass"]).is_some();
            (!own_class).then_some(finalizers::LOAD_BALANCER_CLEANUP)
        }
        _ => None,
    }
}

fn string<'a>(value: Option<Value<'a>>, path: &[&str]) -> Option<&'a str> {
    value?.text_at(path)
}

fn items<'a>(value: Option<Value<'a>>, field: &str) -> impl Iterator<Item = Value<'a>> + use<'a> {
    value
        .and_then(|value| value.get(field))
        .into_iter()
        .flat_map(Value::items)
}
