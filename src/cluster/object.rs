//! Objects without facts, and minted uids.

use smol_str::{SmolStr, format_smolstr};

use crate::gc::{Facts, NamespaceFacts, Object};
use crate::inventory::ObjectId;
use crate::kube::{ObjectKey, kinds as well_known};

/// Creates an object with nothing but a key and a uid.
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

/// Prefix of minted uids. No real uid has it, and minted uids are equal in every run.
const MINTED: &str = "minted ";

/// Mints a uid for an object of the input: short enough to need no allocation.
pub(super) fn numbered_uid(ObjectId(number): ObjectId) -> SmolStr {
    format_smolstr!("{MINTED}{number}")
}

/// Mints a uid for an object that the input does not contain.
pub(super) fn minted_uid(key: &ObjectKey) -> SmolStr {
    format_smolstr!("{MINTED}for {key}")
}

/// Whether a uid looks minted.
pub(super) fn is_minted(uid: &str) -> bool {
    uid.starts_with(MINTED)
}
