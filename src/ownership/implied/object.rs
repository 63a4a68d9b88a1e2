//! Implied objects as values.

use std::borrow::Cow;

use crate::inventory::ObjectId;
use crate::knowledge::Table;
use crate::kube::ObjectKey;
use crate::manifest::OwnerReference;
use crate::yaml::Value;

/// Maximum number of implied Pods of a workload and claims of a template: more behave alike.
pub(super) const MAX_REPLICAS: i64 = 100;
/// Maximum number of objects below one workload with several replicas. At least two replicas are implied.
pub(super) const MAX_BELOW_ONE: usize = 2_000;
/// From this many implied objects on, workloads get only a tenth of [`MAX_REPLICAS`], from twice as many on only two.
pub(super) const MANY_IMPLIED: usize = 20_000;

/// An object that a built-in controller or an operator creates.
#[derive(Clone, Debug)]
pub struct ImpliedObject<'a> {
    /// Its key, perhaps with placeholders in the name.
    pub key: ObjectKey,
    /// The object it is created for.
    pub owner: ObjectKey,
    /// The reference to that object; `None` if the controller writes none `[DEP-19]`, `[DEP-20]`.
    pub reference: Option<ImpliedReference<'a>>,
    /// `metadata.finalizers`, including those of the template `[VAL-35]`, `[VAL-36]`.
    pub finalizers: Vec<String>,
    /// Other owner references, copied from the template of a claim `[VAL-36]`.
    pub copied_references: Vec<OwnerReference>,
    /// `spec`, if a template has it.
    pub spec: Option<Value<'a>>,
    /// Claims of a Pod that its StatefulSet adds to the volumes of the template.
    pub claims: Vec<String>,
    /// The source: a row of section 7 (`DEP-1`) or of a table (`generators/ExternalSecret.external-secrets.io`).
    pub rule: Cow<'static, str>,
}

impl ImpliedObject<'_> {
    /// Whether an operator creates it, by a row of the table of generators; if not, a built-in controller does.
    pub fn is_generated(&self) -> bool {
        self.rule.starts_with(Table::Generators.as_str())
    }
}

/// An object of the input that an operator makes a dependent of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdoptedObject {
    /// The object.
    pub child: ObjectId,
    /// The object that becomes its owner.
    pub owner: ObjectId,
}

/// The owner reference of an implied object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImpliedReference<'a> {
    /// `apiVersion` as the controller writes it.
    pub api_version: &'a str,
    /// `controller`; `None` if absent.
    pub controller: Option<bool>,
    /// `blockOwnerDeletion`; `None` if absent.
    pub block_owner_deletion: Option<bool>,
}

impl<'a> ImpliedReference<'a> {
    /// Returns the reference that `NewControllerRef` writes (apimachinery `controller_ref.go`).
    pub const fn controller(api_version: &'a str) -> Self {
        Self {
            api_version,
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }

    /// Returns a reference without the blocking flag `[DEP-12]`.
    pub const fn unblocking_controller(api_version: &'a str) -> Self {
        Self {
            block_owner_deletion: None,
            ..Self::controller(api_version)
        }
    }

    /// Returns a reference with neither flag `[DEP-15]`.
    pub const fn plain(api_version: &'a str) -> Self {
        Self {
            api_version,
            controller: None,
            block_owner_deletion: None,
        }
    }
}

/// Everything that the input implies.
#[derive(Clone, Debug, Default)]
pub struct Implied<'a> {
    /// In the order of the objects that they are created for; an owner comes before its dependents.
    pub objects: Vec<ImpliedObject<'a>>,
    /// Workloads with more replicas than are implied, and the implied number.
    pub capped: Vec<(ObjectKey, i64)>,
    /// Objects of the input that get another owner, in their order.
    pub adopted: Vec<AdoptedObject>,
}
