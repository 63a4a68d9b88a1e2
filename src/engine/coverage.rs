//! The scope of a run: only a finding that it could have found counts as no longer found.

use foldhash::HashSet;

use super::input::Bundle;
use crate::baseline::{KnownFinding, any_namespace};
use crate::finding::Identity;
use crate::rules;

/// How much of the scope of a baseline a run reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadExtent {
    /// All of it.
    Whole,
    /// A part. An object that it reads is nowhere else.
    #[default]
    Part,
    /// A part of several bundles. Another one may contain an object of the same key.
    PartOfBundles,
}

/// The scope of a run.
#[derive(Debug)]
pub(super) struct Coverage {
    extent: ReadExtent,
    rules: HashSet<&'static str>,
    /// The keys of all objects, and each of them in any namespace.
    objects: HashSet<String>,
    anywhere: HashSet<String>,
    /// Their names, to know what a target like `apps/v1/Deployment/web` points at.
    names: HashSet<String>,
}

impl Coverage {
    /// The scope of a run of `rules` over `bundles`. An unreadable file may contain any object.
    pub(super) fn of(
        bundles: &[Bundle],
        rules: impl IntoIterator<Item = &'static str>,
        extent: ReadExtent,
    ) -> Self {
        let inventories = || bundles.iter().map(|bundle| &bundle.inventory);
        let hidden = inventories().any(|inventory| {
            inventory.unreadable_documents().next().is_some()
                || inventory.unreadable_files().next().is_some()
        });
        let objects = inventories()
            .flat_map(|inventory| &inventory.members)
            .map(|member| member.key.to_string());
        let objects: HashSet<String> = objects.collect();
        Self {
            extent: if hidden && extent == ReadExtent::Whole {
                ReadExtent::Part
            } else {
                extent
            },
            rules: rules.into_iter().collect(),
            names: objects.iter().map(|key| name(key).to_owned()).collect(),
            anywhere: objects
                .iter()
                .filter_map(|key| any_namespace(key))
                .collect(),
            objects,
        }
    }

    /// Whether the run, which found `found` of the findings that an entry knows, would have found the others.
    pub(super) fn judges(&self, entry: &KnownFinding, found: usize) -> bool {
        let rule = entry.identity.rule.as_str();
        // Findings of a rule that no longer exists are gone.
        if rules::find(rule).is_some() && !self.rules.contains(rule) {
            return false;
        }
        match self.extent {
            ReadExtent::Whole => true,
            // The others may be in a file that was not read, for an object of the same key.
            ReadExtent::Part => found == 0 && self.looked_at(&entry.identity),
            ReadExtent::PartOfBundles => false,
        }
    }

    /// Whether everything was read that a finding is about: its object, and the object that it points at.
    fn looked_at(&self, identity: &Identity) -> bool {
        let pointed_at = || {
            identity
                .target
                .as_deref()
                .is_some_and(|target| self.names.contains(name(target)))
        };
        let holds = identity
            .object
            .as_deref()
            .is_some_and(|key| self.holds(key));
        let rule = rules::find(&identity.rule);
        holds && (rule.is_some_and(|rule| rule.reads_one_object) || pointed_at())
    }

    fn holds(&self, key: &str) -> bool {
        let general = any_namespace(key);
        let general = general.as_deref();
        self.objects.contains(key)
            || general.is_some_and(|general| self.objects.contains(general))
            || (general == Some(key) && self.anywhere.contains(key))
    }
}

/// The last part of a key or a target.
fn name(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}
