//! Objects that an object mounts, reads or serves with (consumer → product).
//!
//! Kubernetes' own fields are certain. Only operators know the meaning of the fields of custom resources: a mapping
//! that looks like the spec of a Pod likely is one, and a `secretRef` is possibly a reference to a Secret.

use std::sync::{Arc, LazyLock};

use foldhash::HashSet;

use super::pod_specs::{CustomField, CustomFields, PodSpec, is_custom, pod_spec};
use super::references::{Reference, references_of};
use super::tie::{Tie, TieEnd, TieEvidence, TieKind};
use crate::finding::Certainty;
use crate::inventory::{Inventory, Member};
use crate::knowledge::FieldPath;
use crate::kube::{GroupKind, Namespace, ObjectKey, Scope, kinds};
use crate::yaml::Value;

/// Fields of Gateway API objects with references that name the kind (`{kind: Secret, name: x, namespace: y}`); Secret
/// if they do not.
static CERTIFICATES: LazyLock<Vec<FieldPath>> = LazyLock::new(|| {
    let paths = [
        "spec.listeners[].tls.certificateRefs[]",
        "spec.tls.certificateRefs[]",
        "spec.validation.caCertificateRefs[]",
    ];
    paths
        .into_iter()
        .filter_map(|path| FieldPath::parse(path).ok())
        .collect()
});

/// Keys of custom resources that name an object in the same namespace, in a mapping with a `name`.
const KEYS_OF_REFERENCES: [(&str, GroupKind<&str>); 4] = [
    ("secretRef", kinds::SECRET),
    ("secretKeyRef", kinds::SECRET),
    ("configMapRef", kinds::CONFIG_MAP),
    ("configMapKeyRef", kinds::CONFIG_MAP),
];

/// Finds everything that the objects use, in their order.
pub(super) fn of<'a>(inventory: &'a Inventory, members: &[&'a Member]) -> Vec<Tie> {
    let mut uses = Uses {
        inventory,
        ties: Vec::new(),
        fields: HashSet::default(),
    };
    for member in members {
        uses.read(member);
    }
    uses.ties.shrink_to_fit();
    uses.ties
}

struct Uses<'a> {
    inventory: &'a Inventory,
    ties: Vec<Tie>,
    /// Interned fields.
    fields: HashSet<Arc<str>>,
}

impl<'a> Uses<'a> {
    fn read(&mut self, member: &'a Member) {
        let object = &member.object;
        let kind = object.group_kind();
        // The fields of a Pod are read from its spec, like those of every workload.
        if kind != kinds::POD {
            let whole = PodSpec {
                value: object.value(),
                field: String::new(),
            };
            for reference in references_of(kind) {
                self.named(member, &whole, reference, Certainty::Certain);
            }
        }
        if let Some(pod) = pod_spec(object) {
            self.pod(member, &pod, Certainty::Certain);
        } else if object.group() == "gateway.networking.k8s.io" {
            self.certificates(member);
        } else if is_custom(object) {
            let fields = CustomFields::of(object);
            for pod in &fields.pods {
                let pod = PodSpec {
                    value: pod.value,
                    field: fields.path(*pod),
                };
                self.pod(member, &pod, Certainty::Likely);
            }
            for mapping in &fields.mappings {
                self.custom(member, &fields, *mapping);
            }
        }
    }

    fn pod(&mut self, member: &'a Member, pod: &PodSpec<'a>, certainty: Certainty) {
        for reference in references_of(kinds::POD) {
            self.named(member, pod, reference, certainty);
        }
    }

    fn named(
        &mut self,
        member: &'a Member,
        start: &PodSpec<'a>,
        reference: &Reference,
        certainty: Certainty,
    ) {
        for holder in reference.holders(start.value) {
            // A Pod starts without an optional object, and reads it if it exists. Flux does not
            // need it.
            let is_optional = holder.is_true_at(&["optional"]);
            if is_optional && reference.is_of_flux() {
                continue;
            }
            let certainty = if is_optional {
                Certainty::Possible
            } else {
                certainty
            };
            let Some(name) = holder.get(&reference.key) else {
                continue;
            };
            let path = reference.holder.as_ref().map_or("", FieldPath::as_str);
            let field = joined(&start.field, path);
            let to = reference.to.as_ref();
            let namespace = holder.str_at(&["namespace"]);
            let namespace = namespace.filter(|_| reference.names_namespace);
            let (place, key) = ((to, reference.scope, namespace), reference.key.as_str());
            self.add(member, place, name, &field, key, certainty);
        }
    }

    /// Adds the certificates that an object of the Gateway API names: the group defaults to core, the kind to Secret,
    /// the namespace to this one.
    fn certificates(&mut self, member: &'a Member) {
        for path in CERTIFICATES.iter() {
            for reference in path.nodes(member.object.value()) {
                let Some(name) = reference.get("name") else {
                    continue;
                };
                let [group, kind, namespace] =
                    ["group", "kind", "namespace"].map(|key| reference.text_at(&[key]));
                let kind = GroupKind::new(group.unwrap_or_default(), kind.unwrap_or("Secret"));
                let place = (kind, Scope::Namespaced, namespace);
                let holder = path.as_str();
                self.add(member, place, name, holder, "name", Certainty::Certain);
            }
        }
    }

    /// Adds the objects that a mapping of a custom resource may refer to.
    fn custom(&mut self, member: &'a Member, fields: &CustomFields<'a>, mapping: CustomField<'a>) {
        for (key, kind) in KEYS_OF_REFERENCES {
            let Some(reference) = mapping.value.get(key) else {
                continue;
            };
            let Some(name) = reference.get("name") else {
                continue;
            };
            let place = (kind, Scope::Namespaced, reference.str_at(&["namespace"]));
            let holder = joined(&fields.path(mapping), key);
            self.add(member, place, name, &holder, "name", Certainty::Possible);
        }
        if let Some(name) = mapping.value.get("secretName") {
            let place = (kinds::SECRET, Scope::Namespaced, None);
            let holder = fields.path(mapping);
            let key = "secretName";
            self.add(member, place, name, &holder, key, Certainty::Possible);
        }
    }

    fn add(
        &mut self,
        member: &'a Member,
        (kind, scope, namespace): (GroupKind<&str>, Scope, Option<&str>),
        name: Value<'a>,
        holder: &str,
        key: &str,
        certainty: Certainty,
    ) {
        let Some(text) = name.as_str().filter(|text| !text.is_empty()) else {
            return;
        };
        let namespace = match (namespace, member.scope()) {
            _ if scope == Scope::Cluster => Namespace::None,
            (Some(namespace), _) => Namespace::Named(namespace.into()),
            // A cluster-scoped object without a namespace field: only its operator knows the namespace.
            (None, Some(Scope::Cluster)) => return,
            (None, _) => self.inventory.namespace_beside(member),
        };
        let field = self.field(holder, key);
        self.ties.push(Tie {
            from: member.id,
            to: TieEnd::of(self.inventory, ObjectKey::new(kind, namespace, text)),
            kind: TieKind::Uses,
            evidence: TieEvidence {
                field,
                span: name.span(),
                row: None,
            },
            certainty,
        });
    }

    fn field(&mut self, holder: &str, key: &str) -> Arc<str> {
        let field = joined(holder, key);
        if let Some(known) = self.fields.get(&*field) {
            return Arc::clone(known);
        }
        let field: Arc<str> = field.into();
        self.fields.insert(Arc::clone(&field));
        field
    }
}

fn joined(holder: &str, key: &str) -> String {
    match (holder, key) {
        ("", only) | (only, "") => only.to_owned(),
        _ => format!("{holder}.{key}"),
    }
}
