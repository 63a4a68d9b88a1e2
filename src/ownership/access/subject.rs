//! Whom a binding means among ServiceAccounts.

use std::collections::BTreeMap;

use crate::kube::Namespace;
use crate::yaml::Value;

/// A ServiceAccount, all of a namespace, or all.
pub(super) struct Subject<'a> {
    /// `None`: every ServiceAccount.
    name: Option<&'a str>,
    /// `None`: not written, or every namespace.
    namespace: Option<&'a str>,
}

impl<'a> Subject<'a> {
    pub(super) fn of(subject: Value<'a>) -> Option<Self> {
        let text = |key: &str| subject.get(key).and_then(Value::as_str);
        let (kind, name) = (text("kind")?, text("name")?);
        match kind {
            "ServiceAccount" => Some(Self { name: Some(name), namespace: text("namespace").filter(|n| !n.is_empty()) }),
            "User" => {
                let (namespace, name) = name.strip_prefix("system:serviceaccount:")?.split_once(':')?;
                Some(Self { name: Some(name), namespace: Some(namespace) })
            }
            "Group" if matches!(name, "system:serviceaccounts" | "system:authenticated") => {
                Some(Self { name: None, namespace: None })
            }
            "Group" => Some(Self { name: None, namespace: Some(name.strip_prefix("system:serviceaccounts:")?) }),
            _ => None,
        }
    }

    /// Places of the workloads that run as it. `by_account`: all places, by the name of the ServiceAccount.
    pub(super) fn workloads<'m>(
        &self,
        by_account: &BTreeMap<&str, Vec<usize>>,
        namespace: impl Fn(&usize) -> &'m Namespace,
    ) -> Vec<usize> {
        let named: Vec<usize> = match self.name {
            Some(name) => by_account.get(name).cloned().unwrap_or_default(),
            None => by_account.values().flatten().copied().collect(),
        };
        let here = |at: &usize| match (self.namespace, namespace(at)) {
            (Some(wanted), Namespace::Named(actual)) => wanted == actual,
            _ => true,
        };
        named.into_iter().filter(here).collect()
    }
}
