//! The inputs that a change touches, as they are reported.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use foldhash::{HashMap, HashSet};
use schemars::JsonSchema;
use serde::Serialize;

use super::input::PACKED;

/// The kind of an input, as it is named in the JSON of `diff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "unreadWhat")]
#[non_exhaustive]
pub enum UnreadWhat {
    /// A chart: its folder, its version, or the release that installs it.
    Chart,
    /// Values of a chart.
    Values,
    /// A template that was not rendered.
    Template,
    /// A source outside of the tree.
    Remote,
    /// A variable in the name or namespace of an object.
    Variable,
    /// A generator of objects.
    Generator,
    /// A plugin of Argo CD.
    Plugin,
    /// A transformation of objects.
    Transformer,
    /// Another repository, or another cluster.
    OtherRepository,
    /// An encrypted text.
    Encrypted,
    /// A program in Jsonnet.
    Jsonnet,
    /// A file that does not exist, or that a tool does not read under its name.
    Missing,
    /// A text that cannot be read.
    Unparsable,
    /// An input beyond the limits of ownerlint.
    Limit,
    /// Objects that left the sources of an Application that did not prune, or of a delivery that was suspended.
    Unpruned,
}

impl UnreadWhat {
    /// Whether it decides what a chart renders to.
    pub(super) fn is_of_chart(self) -> bool {
        matches!(self, Self::Chart | Self::Values | Self::Template)
    }
}

/// The states that have an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "unreadSide")]
pub enum UnreadSide {
    /// Only base: the change removes it.
    Base,
    /// Only head: the change adds it.
    Head,
    /// Both, with different content.
    Both,
}

/// An input that the change touches and that was not evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[schemars(rename = "unread")]
#[non_exhaustive]
pub struct Unread {
    /// Its kind.
    pub what: UnreadWhat,
    /// Its name for display: `chart cilium 1.16.5 → 1.17.0`.
    pub subject: String,
    /// The file, in head if head has it.
    pub file: String,
    /// 1-based.
    #[schemars(range(min = 1))]
    pub line: usize,
    /// The file in base, if the change moves it to another one.
    pub was: Option<String>,
    /// The states that have it.
    pub side: UnreadSide,
    /// Why it was not evaluated, as a sentence.
    pub reason: String,
    /// The delivery that it belongs to, if that is known.
    pub delivery: Option<String>,
    /// Whether only a version or values changed, or something was added that removes no objects.
    #[serde(skip)]
    pub is_harmless: bool,
}

/// The comparison of the inputs of two states.
#[derive(Clone, Debug, Default)]
pub struct UnreadChanges {
    /// The inputs that differ: first those that may remove objects, then by kind, subject and file.
    pub changed: Vec<Unread>,
    /// The number of inputs that are equal in both states.
    pub unchanged: usize,
    /// The unchanged charts of HelmReleases, by the keys of the HelmReleases as written. Deleting such a HelmRelease
    /// uninstalls objects that were not read.
    pub releases: BTreeMap<String, Unread>,
    /// Inputs that both states have and whose change, if any, removes no objects.
    pub(super) retained: Vec<RetainedInput>,
}

/// An input that both states have, which is removed only with its delivery.
#[derive(Clone, Debug)]
pub(super) struct RetainedInput {
    /// The place of its file.
    pub(super) place: String,
    /// The key, as written, of the object that contains it.
    pub(super) holder: Option<String>,
    /// The report if its delivery is removed.
    pub(super) gone: Unread,
    /// The report if its delivery stays and the input changes.
    pub(super) changed: Option<Unread>,
}

/// The inputs in files that stay, but that no delivery applies any more.
#[derive(Clone, Debug, Default)]
pub struct GoneInputs {
    /// The places of files with inputs, each with the id of the delivery.
    pub places: BTreeMap<String, String>,
    /// The keys, as written, of the objects that contain inputs, each with the id of the delivery.
    pub holders: BTreeMap<String, String>,
}

impl GoneInputs {
    /// Returns the delivery that no longer applies an input.
    fn delivery_of(&self, input: &RetainedInput) -> Option<&String> {
        match &input.holder {
            Some(holder) => self.holders.get(holder),
            None => self.places.get(&input.place),
        }
    }
}

fn place_of(input: &Unread) -> (UnreadWhat, String, usize) {
    (input.what, input.file.clone(), input.line)
}

impl UnreadChanges {
    /// Whether a differing input decides what a chart renders to, and `--render` can render that chart.
    pub fn are_of_charts(&self) -> bool {
        let mut changed = self.changed.iter();
        changed.any(|one| one.what.is_of_chart() && one.reason != PACKED)
    }

    /// Adds charts that could not be rendered, unless their file or the reason is reported already.
    pub fn with_unrendered(mut self, unrendered: impl IntoIterator<Item = Unread>) -> Self {
        let reported = self.changed.iter().filter(|one| one.what.is_of_chart());
        let mut reported: BTreeSet<String> = reported
            .flat_map(|one| [one.file.clone(), one.reason.clone()])
            .collect();
        for one in unrendered {
            if !reported.contains(&one.file) && !reported.contains(&one.reason) {
                reported.extend([one.file.clone(), one.reason.clone()]);
                self.changed.push(one);
            }
        }
        self.changed.sort_by_cached_key(order);
        self
    }

    /// Adds inputs that kustomizations transform differently; known ones are no longer harmless.
    pub fn with_transformed(mut self, transformed: Vec<Unread>) -> Self {
        let mut known = HashMap::default();
        for (at, one) in self.changed.iter().enumerate() {
            known.entry(place_of(one)).or_insert(at);
        }
        for one in transformed {
            match known.entry(place_of(&one)) {
                Entry::Occupied(known) => {
                    let known = &mut self.changed[*known.get()];
                    (known.is_harmless, known.reason) = (false, one.reason);
                }
                Entry::Vacant(new) => {
                    new.insert(self.changed.len());
                    self.unchanged = self.unchanged.saturating_sub(1);
                    self.changed.push(one);
                }
            }
        }
        self.changed.sort_by_cached_key(order);
        self
    }

    /// Adds `sources` that are not read, and facts that only the cluster knows. Another repository
    /// is left out if an input that may remove objects is already reported for it.
    pub fn with_elsewhere(mut self, sources: Vec<Unread>) -> Self {
        let reported = self.changed.iter().filter(|one| !one.is_harmless);
        let reported: BTreeSet<(String, String)> = reported
            .filter(|one| one.what == UnreadWhat::OtherRepository)
            .map(|one| (one.file.clone(), last_name(&one.subject).to_owned()))
            .collect();
        let new = sources.into_iter().filter(|one| {
            let name = last_name(&one.subject).to_owned();
            one.what != UnreadWhat::OtherRepository || !reported.contains(&(one.file.clone(), name))
        });
        self.changed.extend(new);
        self.changed.sort_by_cached_key(order);
        self
    }

    /// Adds the inputs that are `gone` although the change does not remove them from the tree.
    pub fn with_gone(mut self, gone: &GoneInputs) -> Self {
        let mut replaced = HashSet::default();
        let mut added = Vec::new();
        for input in std::mem::take(&mut self.retained) {
            let Some(delivery) = gone.delivery_of(&input) else {
                continue;
            };
            match input.changed {
                Some(changed) => {
                    replaced.insert(changed);
                }
                None => self.unchanged = self.unchanged.saturating_sub(1),
            }
            added.push(Unread {
                delivery: Some(delivery.clone()),
                ..input.gone
            });
        }
        self.changed.retain(|one| !replaced.contains(one));
        self.changed.extend(added);
        self.changed.sort_by_cached_key(order);
        self
    }

    /// Adds the unchanged charts of HelmReleases that the change uninstalls. `uninstalled` maps their keys as written
    /// to their deliveries.
    pub fn with_uninstalled(&self, uninstalled: &BTreeMap<String, Option<String>>) -> Self {
        let mut all = self.clone();
        for (key, delivery) in uninstalled {
            if let Some(chart) = all.releases.remove(key) {
                all.unchanged = all.unchanged.saturating_sub(1);
                all.changed.push(Unread {
                    delivery: delivery.clone(),
                    ..chart
                });
            }
        }
        all.changed.sort_by_cached_key(order);
        all
    }
}

/// Returns the name of the object in a subject, without its namespace, which only some subjects contain.
fn last_name(subject: &str) -> &str {
    subject.rsplit([' ', '/']).next().unwrap_or_default()
}

pub(super) fn order(one: &Unread) -> (bool, UnreadWhat, String, String, usize) {
    (
        one.is_harmless,
        one.what,
        one.subject.clone(),
        one.file.clone(),
        one.line,
    )
}
