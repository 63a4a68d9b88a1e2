//! The coverage of a run: a baseline entry is stale only if the run could have found its finding.

use foldhash::HashSet;

use super::input::Bundle;
use crate::baseline::{KnownFinding, any_namespace};
use crate::finding::Identity;
use crate::rules;

/// How much a run reads of the files that a baseline covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadExtent {
    /// All of them.
    Whole,
    /// Some of them. The others are assumed not to have an object with the same key.
    #[default]
    Part,
    /// Some files of several bundles. Another bundle may contain an object with the same key.
    PartOfBundles,
}

/// The rules that ran, and the objects that they ran on.
#[derive(Debug)]
pub(super) struct Coverage {
    extent: ReadExtent,
    rules: HashSet<&'static str>,
    /// The keys of all objects; `anywhere` has them for any namespace.
    objects: HashSet<String>,
    anywhere: HashSet<String>,
    /// The names of the objects, to look up targets such as `apps/v1/Deployment/web`.
    names: HashSet<String>,
}

impl Coverage {
    /// Computes the coverage of a run of `rules` on `bundles`. An unreadable file may contain any object.
    pub(super) fn of(
        bundles: &[Bundle],
        rules: impl IntoIterator<Item = &'static str>,
        extent: ReadExtent,
    ) -> Self {
        let hidden = bundles.iter().any(|bundle| {
            bundle.inventory.unreadable_documents().next().is_some()
                || bundle.inventory.unreadable_files().next().is_some()
        });
        let objects = bundles
            .iter()
            .flat_map(Bundle::asked_for)
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

    /// Whether the run, which found `found` of the findings of an entry, would have found the others.
    pub(super) fn judges(&self, entry: &KnownFinding, found: usize) -> bool {
        let rule = entry.identity.rule.as_str();
        // Findings of a rule that no longer exists are gone.
        if rules::find(rule).is_some() && !self.rules.contains(rule) {
            return false;
        }
        match self.extent {
            ReadExtent::Whole => true,
            // The others may be on an object of the same key in a file that was not read.
            ReadExtent::Part => found == 0 && self.looked_at(&entry.identity),
            ReadExtent::PartOfBundles => false,
        }
    }

    /// Whether the object of a finding was read, and also the object that it points at if the rule reads both.
    fn looked_at(&self, identity: &Identity) -> bool {
        let (object, target) = (identity.object.as_deref(), identity.target.as_deref());
        let rule = rules::find(&identity.rule);
        object.is_some_and(|key| self.holds(key))
            && (rule.is_some_and(|rule| rule.reads_one_object)
                || target.is_some_and(|target| self.names.contains(name(target))))
    }

    fn holds(&self, key: &str) -> bool {
        let general = any_namespace(key);
        let general = general.as_deref();
        self.objects.contains(key)
            || general.is_some_and(|general| self.objects.contains(general))
            || (general == Some(key) && self.anywhere.contains(key))
    }
}

/// Returns the last part of a key or a target.
fn name(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}
