//! An object whose finalizers some controller removes.

use crate::inventory::Member;
use crate::kube::{Namespace, Scope};

/// An object with a finalizer: one in the input, or one that will be created from a template.
#[derive(Clone, Copy, Debug)]
pub struct FinalizerHolder<'a> {
    /// The API group of its kind; empty for the core group.
    pub group: &'a str,
    /// Its kind.
    pub kind: &'a str,
    /// The scope of its kind; `None` if unknown.
    pub scope: Option<Scope>,
    /// Its namespace.
    pub namespace: &'a Namespace,
    /// Its name; `None` if the API server or a controller generates it.
    pub name: Option<&'a str>,
}

impl<'a> FinalizerHolder<'a> {
    /// Describes an object in the input.
    pub fn new(member: &'a Member) -> Self {
        let name = member.object.metadata().name().map(|name| name.value);
        Self {
            group: member.key.group(),
            kind: member.key.kind(),
            scope: member.scope(),
            namespace: &member.key.namespace,
            name: name.filter(|name| !name.is_empty()),
        }
    }

    /// Describes `member` and all objects that differ from it only in their names.
    pub fn unnamed(member: &'a Member) -> Self {
        Self {
            name: None,
            ..Self::new(member)
        }
    }
}
