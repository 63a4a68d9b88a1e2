//! Objects of which only the key is known.

use foldhash::HashMap;
use smol_str::{SmolStr, format_smolstr};

use crate::gc::{Facts, NamespaceFacts, Object};
use crate::inventory::ObjectId;
use crate::kube::{ObjectKey, kinds as well_known};

/// An object with nothing but a name.
pub(super) fn object(key: &ObjectKey, uid: SmolStr) -> Object {
    let facts = if key.is(well_known::NAMESPACE) {
        Facts::Namespace(NamespaceFacts::default())
    } else {
        Facts::None
    };
    Object {
        key: key.clone(),
        uid,
        facts,
        ..Object::default()
    }
}

/// How uids begin that are made up: none of a cluster does, and they are the same in every run.
const MINTED: &str = "minted ";

/// A uid for an object of the input that has none: so short that it needs no allocation.
pub(super) fn numbered_uid(ObjectId(number): ObjectId) -> SmolStr {
    format_smolstr!("{MINTED}{number}")
}

/// A uid for an object that the input does not contain.
pub(super) fn minted_uid(key: &ObjectKey) -> SmolStr {
    format_smolstr!("{MINTED}for {key}")
}

/// Whether a uid is written as those that are made up.
pub(super) fn is_minted(uid: &str) -> bool {
    uid.starts_with(MINTED)
}

/// Uids by key.
pub(super) type Uids = HashMap<ObjectKey, SmolStr>;
