//! What is known of the kinds that objects and references name, each found out once.

use std::collections::HashMap;
use std::sync::Arc;

use super::kinds::{Kinds, Resolution};
use crate::kube::ApiVersion;

/// The kinds that an input names.
#[derive(Debug, Default)]
pub(super) struct Resolutions {
    /// By kind, then by apiVersion as it is written: few versions share the name of a kind.
    known: HashMap<String, HashMap<String, Arc<Resolution>>>,
}

impl Resolutions {
    /// What is known of a kind, found out if nobody asked before.
    pub(super) fn note(&mut self, kinds: &Kinds, api_version: &str, kind: &str) -> Arc<Resolution> {
        if let Some(known) = self.get(api_version, kind) {
            return Arc::clone(known);
        }
        let resolution = Arc::new(kinds.resolve(ApiVersion::split(api_version), kind));
        let of_kind = self.known.entry(kind.to_owned()).or_default();
        of_kind.insert(api_version.to_owned(), Arc::clone(&resolution));
        resolution
    }

    /// What was found out about a kind.
    pub(super) fn get(&self, api_version: &str, kind: &str) -> Option<&Arc<Resolution>> {
        self.known.get(kind)?.get(api_version)
    }
}
