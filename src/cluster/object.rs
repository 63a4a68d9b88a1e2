//! Objects of which only the key is known.

use foldhash::HashMap;

use crate::gc::{Facts, NamespaceFacts, Object};
use crate::kube::{ObjectKey, kinds as well_known};

/// An object with nothing but a name.
pub(super) fn object(key: &ObjectKey, uid: String) -> Object {
    let facts = match key.is(well_known::NAMESPACE) {
        true => Facts::Namespace(NamespaceFacts::default()),
        false => Facts::None,
    };
    Object { key: key.clone(), uid, facts, ..Object::default() }
}

/// A uid for an object that has none: no uid of a cluster looks like this, and it is the same in every run.
pub(super) fn minted_uid(key: &ObjectKey) -> String {
    format!("minted for {key}")
}

/// Uids by key.
pub(super) type Uids = HashMap<ObjectKey, String>;
