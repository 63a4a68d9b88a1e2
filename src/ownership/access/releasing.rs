//! The permissions of a workload that may release an object before its controller is deleted.

use super::{Access, Budget, GrantedRule, ResourceRequest};
use crate::inventory::{Inventory, ObjectId};
use crate::kube::{GroupKind, Namespace, ObjectKey, Scope, kinds};
use crate::ownership::FinalizerHolder;
use crate::ownership::workloads::Workload;

const DELETING: [&str; 2] = ["delete", "deletecollection"];

/// A finalizer can be removed by the controller, once the object is deleted, or by an update.
const RELEASING: [&str; 4] = ["delete", "deletecollection", "update", "patch"];

/// The plural of CustomResourceDefinitions, whose deletion deletes their objects.
const DEFINITIONS: &str = "customresourcedefinitions";

/// A workload's permission, as far as the input shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// A rule allows it, or there are too many to evaluate.
    Granted,
    /// The workload has roles, and none of them allows it.
    Denied,
    /// The input names the ServiceAccount in no binding.
    Unbound,
    /// The ServiceAccount, or one of its roles, is not in the input.
    Unknown,
}

impl Access {
    /// Whether a workload may release `holder` before its controller is deleted: by deleting or changing it, or by
    /// deleting the definition of its kind.
    pub fn may_release(
        &self,
        inventory: &Inventory,
        workload: ObjectId,
        holder: &FinalizerHolder<'_>,
        budget: &mut Budget,
    ) -> Permission {
        let Some(at) = self.workloads.place(workload) else {
            return Permission::Unknown;
        };
        let subjects = self.subjects.get(&at).map_or(&[][..], Vec::as_slice);
        let Some(grants) = self.grants_to(subjects) else {
            return Permission::Unknown;
        };
        let mut grants = grants.peekable();
        if grants.peek().is_none() && self.is_account_known(inventory, at) {
            return Permission::Unbound;
        }
        if grants.peek().is_none()
            || grants.any(|grant| self.role_of(&self.roles.grants[grant]).partial)
        {
            return Permission::Unknown;
        }
        let resources = inventory
            .kinds
            .resources(GroupKind::new(holder.group, holder.kind));
        let definition = FinalizerHolder {
            group: kinds::CUSTOM_RESOURCE_DEFINITION.group,
            kind: kinds::CUSTOM_RESOURCE_DEFINITION.kind,
            scope: Some(Scope::Cluster),
            namespace: &Namespace::None,
            name: None,
        };
        let definitions = [DEFINITIONS.to_owned()];
        let answers = [
            self.allows(at, holder, &resources, &RELEASING, budget),
            self.allows(at, &definition, &definitions, &DELETING, budget),
        ];
        if answers == [Some(false); 2] {
            Permission::Denied
        } else {
            Permission::Granted
        }
    }

    /// Whether the input contains the ServiceAccount of a workload, or it is the one of every namespace.
    fn is_account_known(&self, inventory: &Inventory, workload: usize) -> bool {
        let Workload {
            id,
            service_account,
        } = &self.workloads.all[workload];
        let namespace = inventory.member(*id).key.namespace.clone();
        let key = ObjectKey::new(kinds::SERVICE_ACCOUNT, namespace, service_account.clone());
        service_account == "default" || !inventory.with_key(&key).is_empty()
    }

    /// Whether a workload may use one of `verbs` on `holder`, whose kind is one of `resources`; `None` if it has too
    /// many grants or rules.
    fn allows(
        &self,
        workload: usize,
        holder: &FinalizerHolder<'_>,
        resources: &[String],
        verbs: &[&str],
        budget: &mut Budget,
    ) -> Option<bool> {
        for GrantedRule { rule, .. } in self.rules_for(workload, holder)? {
            if !budget.spend() {
                return None;
            }
            let mut requests = resources.iter().flat_map(|resource| {
                verbs.iter().map(move |verb| ResourceRequest {
                    verb,
                    group: holder.group,
                    resource,
                    subresource: "",
                    name: holder.name,
                })
            });
            if requests.any(|request| rule.allows(request)) {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Whether two workloads run as one ServiceAccount.
    pub fn share_account(&self, inventory: &Inventory, one: ObjectId, other: ObjectId) -> bool {
        let accounts = [one, other].map(|id| {
            let at = self.workloads.place(id)?;
            let namespace = &inventory.member(id).key.namespace;
            Some((namespace, &self.workloads.all[at].service_account))
        });
        accounts[0].is_some() && accounts[0] == accounts[1]
    }
}
