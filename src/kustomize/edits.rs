//! The effect of the kustomizations on the way from a root to a file on an object's identity.

use std::sync::Arc;

use smol_str::format_smolstr;

use super::kustomization::KustomizationFile;
use crate::kube::{Namespace, ObjectKey, Scope, kinds};

/// The kustomizations that an object goes through, from the one that names its file to the root.
#[derive(Clone, Debug, Default)]
pub struct Edits(Vec<Arc<KustomizationFile>>);

/// The fate of an object in a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildFate {
    /// It is applied under this key.
    As(ObjectKey),
    /// A patch deletes it from the build.
    Deleted,
}

impl Edits {
    /// Those of `steps`, the innermost first.
    pub(super) fn new(steps: Vec<Arc<KustomizationFile>>) -> Self {
        let steps = steps.into_iter();
        Self(steps.filter(|step| step.changes_identities()).collect())
    }

    /// The fate of the object of key `written` and that scope. Unlike Kubernetes, kustomize
    /// treats a kind that it does not know as namespaced; if it is not, the API server drops the namespace again.
    pub fn apply(&self, written: &ObjectKey, scope: Option<Scope>) -> BuildFate {
        let mut key = written.clone();
        for step in &self.0 {
            if step
                .deletes
                .iter()
                .any(|selector| selector.selects(&key) || selector.selects(written))
            {
                return BuildFate::Deleted;
            }
            if let Some(namespace) = &step.namespace {
                // kustomize, api/internal/konfig/builtinpluginconsts/namespace.go: `metadata/name` of kind Namespace.
                if key.is(kinds::NAMESPACE) {
                    key.name = namespace.into();
                } else if scope != Some(Scope::Cluster) {
                    key.namespace = Namespace::Named(namespace.into());
                }
            }
            if let (Some(namespace), Namespace::Unwritten, Some(Scope::Namespaced)) =
                (&step.fallback_namespace, &key.namespace, scope)
            {
                key.namespace = Namespace::Named(namespace.into());
            }
            if !keeps_its_name(&key) {
                key.name = format_smolstr!("{}{}{}", step.prefix, key.name, step.suffix);
            }
        }
        BuildFate::As(key)
    }
}

/// kustomize, plugin/builtin/prefixtransformer: `prefixFieldSpecsToSkip`. The names of these say what they are.
fn keeps_its_name(key: &ObjectKey) -> bool {
    key.is(kinds::NAMESPACE)
        || key.kind() == kinds::CUSTOM_RESOURCE_DEFINITION.kind
        || (key.kind() == "APIService" && key.group() == "apiregistration.k8s.io")
}
