//! A kind within its group.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use hashbrown::Equivalent;
use smol_str::SmolStr;

use super::interner::Interner;

/// A kind within its API group, owned or, as `GroupKind<&str>`, borrowed. Written `Kind[.group]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct GroupKind<S = String> {
    /// The kind. It is the first field so that equality compares it first: kinds differ more often than groups.
    pub kind: S,
    /// The API group; empty for the core group.
    pub group: S,
}

/// By group, then by kind.
impl<S: Ord> Ord for GroupKind<S> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.group
            .cmp(&other.group)
            .then_with(|| self.kind.cmp(&other.kind))
    }
}

impl<S: Ord> PartialOrd for GroupKind<S> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Equivalent<Arc<GroupKind<SmolStr>>> for GroupKind<&str> {
    fn equivalent(&self, key: &Arc<GroupKind<SmolStr>>) -> bool {
        key.kind == self.kind && key.group == self.group
    }
}

thread_local! {
    static INTERNER: RefCell<Interner<GroupKind<SmolStr>>> = RefCell::default();
}

impl<'a> GroupKind<&'a str> {
    /// Creates a kind of a group; the core group is the empty string.
    pub const fn new(group: &'a str, kind: &'a str) -> Self {
        Self { group, kind }
    }

    /// Parses the output of [`Display`](fmt::Display): `Kind` or `Kind.group`.
    pub fn parse(text: &'a str) -> Self {
        let (kind, group) = text.split_once('.').unwrap_or((text, ""));
        Self { group, kind }
    }

    /// Interns the kind in a cache of this thread.
    pub(super) fn shared(self) -> Arc<GroupKind<SmolStr>> {
        INTERNER.with_borrow_mut(|interner| {
            interner.intern(self, |Self { kind, group }| GroupKind {
                kind: kind.into(),
                group: group.into(),
            })
        })
    }

    /// Copies the strings.
    pub fn to_owned(self) -> GroupKind {
        GroupKind {
            group: self.group.to_owned(),
            kind: self.kind.to_owned(),
        }
    }
}

impl GroupKind {
    /// Borrows the strings.
    pub fn as_ref(&self) -> GroupKind<&str> {
        GroupKind::new(&self.group, &self.kind)
    }
}

impl<S: AsRef<str>> fmt::Display for GroupKind<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind.as_ref(), self.group.as_ref()) {
            (kind, "") => f.write_str(kind),
            (kind, group) => write!(f, "{kind}.{group}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_group_is_omitted_from_text() {
        assert_eq!(GroupKind::new("", "Pod").to_string(), "Pod");
        assert_eq!(
            GroupKind::new("apps", "Deployment").to_owned().to_string(),
            "Deployment.apps"
        );
        assert_eq!(
            GroupKind::parse("Widget.example.com"),
            GroupKind::new("example.com", "Widget")
        );
        assert_eq!(GroupKind::parse("Pod"), GroupKind::new("", "Pod"));
    }
}
