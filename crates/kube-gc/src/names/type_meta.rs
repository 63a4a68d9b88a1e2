//! The apiVersion and kind of an object, as written.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use hashbrown::Equivalent;
use smol_str::SmolStr;

use super::ApiVersion;
use super::interner::Interner;

/// `apiVersion` and `kind`. Inputs have few distinct pairs, so each is interned per thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeMeta {
    /// `apiVersion` as written.
    pub api_version: SmolStr,
    /// The parsed `apiVersion`.
    pub group_version: ApiVersion<SmolStr>,
    /// `kind`.
    pub kind: SmolStr,
}

/// The key of a [`TypeMeta`] in the cache.
#[derive(Clone, Copy, Debug)]
struct WrittenKind<'a> {
    api_version: &'a str,
    kind: &'a str,
}

impl Hash for WrittenKind<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.kind, self.api_version).hash(state);
    }
}

impl Hash for TypeMeta {
    fn hash<H: Hasher>(&self, state: &mut H) {
        WrittenKind {
            api_version: &self.api_version,
            kind: &self.kind,
        }
        .hash(state);
    }
}

impl Equivalent<Arc<TypeMeta>> for WrittenKind<'_> {
    fn equivalent(&self, key: &Arc<TypeMeta>) -> bool {
        key.kind == self.kind && key.api_version == self.api_version
    }
}

thread_local! {
    static INTERNER: RefCell<Interner<TypeMeta>> = RefCell::default();
}

impl TypeMeta {
    fn new(WrittenKind { api_version, kind }: WrittenKind<'_>) -> Self {
        let ApiVersion { group, version } = ApiVersion::split(api_version);
        let group_version = ApiVersion {
            group: group.into(),
            version: version.into(),
        };
        Self {
            api_version: api_version.into(),
            group_version,
            kind: kind.into(),
        }
    }

    /// Interns a pair in a cache of this thread.
    pub fn shared(api_version: &str, kind: &str) -> Arc<Self> {
        INTERNER.with_borrow_mut(|interner| {
            interner.intern(WrittenKind { api_version, kind }, Self::new)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::interner::CAPACITY;
    use super::*;

    #[test]
    fn equal_type_metas_are_interned_and_the_cache_is_bounded() {
        let first = TypeMeta::shared("apps/v1", "Deployment");
        assert!(Arc::ptr_eq(
            &first,
            &TypeMeta::shared("apps/v1", "Deployment")
        ));
        let beta = TypeMeta::shared("apps/v1beta1", "Deployment");
        assert_eq!(
            (&*beta.group_version.group, &*beta.group_version.version),
            ("apps", "v1beta1")
        );
        for number in 0..CAPACITY {
            TypeMeta::shared("example.com/v1", &format!("Widget{number}"));
            TypeMeta::shared(&format!("v{number}"), "Widget");
        }
        let interned = INTERNER.with_borrow(Interner::len);
        assert!(interned <= CAPACITY, "{interned}");
        assert_eq!(TypeMeta::shared("apps/v1", "Deployment"), first);
    }
}
