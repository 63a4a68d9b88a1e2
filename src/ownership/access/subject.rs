//! ServiceAccounts that a binding's subjects name: `appliesTo` in Kubernetes' pkg/registry/rbac/validation/rule.go.
//!
//! Kubernetes compares each subject with the user. Here the subjects of all bindings are in one table, in which the few
//! that include a workload's ServiceAccount are looked up.

use foldhash::HashMap;

use crate::inventory::Member;
use crate::kube::Namespace;
use crate::yaml::Value;

/// A set of ServiceAccounts that a subject of a binding names.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Subject<'a> {
    /// `None` for every ServiceAccount in the place.
    name: Option<&'a str>,
    place: Place<'a>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place<'a> {
    Anywhere,
    Named(&'a str),
    /// The unknown namespace of a workload whose manifest has none.
    Open,
}

impl<'a> Subject<'a> {
    /// Reads an entry of `subjects` of a binding; `None` if it names no ServiceAccount.
    fn of(subject: Value<'a>, binding: &'a Member) -> Option<Self> {
        let (kind, name) = (subject.str_at(&["kind"])?, subject.str_at(&["name"])?);
        let (name, place) = match kind {
            "ServiceAccount" => {
                let written = subject.text_at(&["namespace"]).map(Place::Named);
                (Some(name), written.unwrap_or_else(|| place_of(binding)))
            }
            "User" => {
                let (namespace, name) = name
                    .strip_prefix("system:serviceaccount:")?
                    .split_once(':')?;
                (Some(name), Place::Named(namespace))
            }
            "Group" if matches!(name, "system:serviceaccounts" | "system:authenticated") => {
                (None, Place::Anywhere)
            }
            "Group" => {
                let namespace = name.strip_prefix("system:serviceaccounts:")?;
                (None, Place::Named(namespace))
            }
            _ => return None,
        };
        Some(Self { name, place })
    }

    /// Returns the subject of an entry of `subjects`. If it is in one namespace, a second subject
    /// follows, for workloads without a written namespace: they may be in the same one.
    pub(super) fn all_of(subject: Value<'a>, binding: &'a Member) -> impl Iterator<Item = Self> {
        let subject = Self::of(subject, binding);
        let open = subject.filter(|subject| matches!(subject.place, Place::Named(_)));
        subject.into_iter().chain(open.map(|subject| Self {
            place: Place::Open,
            ..subject
        }))
    }

    /// Returns the subjects that include a ServiceAccount: the account itself, and the groups that it is in.
    pub(super) fn including(service_account: &'a str, namespace: &'a Namespace) -> [Self; 4] {
        let here = namespace.name().map_or(Place::Open, Place::Named);
        let name = Some(service_account);
        [
            (name, here),
            (None, here),
            (name, Place::Anywhere),
            (None, Place::Anywhere),
        ]
        .map(|(name, place)| Self { name, place })
    }
}

/// Returns the place of ServiceAccounts that `binding` names without a namespace: the namespace of
/// a RoleBinding. In a ClusterRoleBinding, a tool has to add the namespace, and workloads without a
/// written namespace may be there.
fn place_of(binding: &Member) -> Place<'_> {
    if binding.object.kind() == "ClusterRoleBinding" {
        return Place::Open;
    }
    let namespace = binding.key.namespace.name();
    namespace.map_or(Place::Anywhere, Place::Named)
}

/// The indices of the subjects that bindings name.
pub(super) type SubjectTable<'a> = HashMap<Subject<'a>, usize>;
