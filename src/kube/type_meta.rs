//! What kind of object something is, as it is written.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use foldhash::fast::RandomState;
use hashbrown::{Equivalent, HashSet};
use smol_str::SmolStr;

use super::ApiVersion;

/// `apiVersion` and `kind`. Millions of objects are of a few kinds, so all that one thread reads share one copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeMeta {
    /// `apiVersion` as written.
    pub api_version: SmolStr,
    /// The parsed `apiVersion`.
    pub group_version: ApiVersion<SmolStr>,
    /// `kind`.
    pub kind: SmolStr,
}

/// The texts of a [`TypeMeta`], by which a map finds it.
#[derive(Clone, Copy, Debug)]
pub struct WrittenKind<'a> {
    /// `apiVersion` as written.
    pub api_version: &'a str,
    /// `kind`.
    pub kind: &'a str,
}

impl Hash for WrittenKind<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.kind, self.api_version).hash(state);
    }
}

impl Hash for TypeMeta {
    fn hash<H: Hasher>(&self, state: &mut H) {
        WrittenKind { api_version: &self.api_version, kind: &self.kind }.hash(state);
    }
}

impl Equivalent<Arc<TypeMeta>> for WrittenKind<'_> {
    fn equivalent(&self, key: &Arc<TypeMeta>) -> bool {
        key.kind == self.kind && key.api_version == self.api_version
    }
}

/// How many are remembered at a time: somebody may write a million kinds.
const MOST_REMEMBERED: usize = 1024;

thread_local! {
    static REMEMBERED: RefCell<HashSet<Arc<TypeMeta>, RandomState>> = RefCell::default();
}

impl TypeMeta {
    fn new(api_version: &str, kind: &str) -> Self {
        let ApiVersion { group, version } = ApiVersion::split(api_version);
        let group_version = ApiVersion { group: group.into(), version: version.into() };
        Self { api_version: api_version.into(), group_version, kind: kind.into() }
    }

    /// The copy of this thread, or a new one.
    pub fn shared(api_version: &str, kind: &str) -> Arc<Self> {
        REMEMBERED.with_borrow_mut(|remembered| {
            if let Some(known) = remembered.get(&WrittenKind { api_version, kind }) {
                return Arc::clone(known);
            }
            if remembered.len() == MOST_REMEMBERED {
                remembered.clear();
            }
            let new = Arc::new(Self::new(api_version, kind));
            remembered.insert(Arc::clone(&new));
            new
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_alike_is_shared_and_not_all_is_remembered() {
        let first = TypeMeta::shared("apps/v1", "Deployment");
        assert!(Arc::ptr_eq(&first, &TypeMeta::shared("apps/v1", "Deployment")));
        let beta = TypeMeta::shared("apps/v1beta1", "Deployment");
        assert_eq!((&*beta.group_version.group, &*beta.group_version.version), ("apps", "v1beta1"));
        for number in 0..MOST_REMEMBERED {
            TypeMeta::shared("example.com/v1", &format!("Widget{number}"));
            TypeMeta::shared(&format!("v{number}"), "Widget");
        }
        let remembered = REMEMBERED.with_borrow(HashSet::len);
        assert!(remembered <= MOST_REMEMBERED, "{remembered}");
        assert_eq!(TypeMeta::shared("apps/v1", "Deployment"), first);
    }
}
