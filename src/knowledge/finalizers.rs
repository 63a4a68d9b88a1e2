//! Finalizers, and the controllers that remove them.
//!
//! Absence proves nothing: a kind that is not listed is [`Handles::Unlisted`], or [`Handles::Unproven`] if the source
//! does not prove the kinds. Findings that depend on either are at most info.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::condition::Condition;
use super::pattern::{ImagePattern, KindPattern, WildName, image_name};
use super::source::Sources;
use crate::kube::ObjectKey;

/// How an object gets a finalizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "added")]
pub enum Added {
    /// Its controller adds it to every object of its kinds; in a manifest it is a copy of a live object.
    Always,
    /// Its controller adds it to some objects.
    Sometimes,
    /// Manifests are meant to contain it.
    Written,
    /// Manifests may contain it, and its controller adds it, too.
    Both,
}

impl Added {
    /// Whether only a controller adds it, so that it does not belong in a manifest.
    pub fn is_at_run_time(self) -> bool {
        matches!(self, Self::Always | Self::Sometimes)
    }
}

/// Whether the controllers of a finalizer handle objects of a kind. A row is partial knowledge: new releases handle
/// more kinds, and forks keep the finalizers of their origin. The table is complete only for Kubernetes' own
/// finalizers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handles {
    /// One of them handles the kind.
    Yes,
    /// None does, and never will: the finalizer is one of Kubernetes' own.
    No,
    /// The table lists other kinds.
    Unlisted,
    /// None is known to handle it, but one may: the source does not prove the kinds, or a controller handles other
    /// kinds of this group, which belongs to an operator.
    Unproven,
}

/// Image names that do not identify an operator.
const GENERIC_NAMES: [&str; 6] = [
    "agent",
    "controller",
    "manager",
    "operator",
    "plugin",
    "server",
];

/// One controller that removes a finalizer.
#[derive(Clone, Debug)]
pub struct Controller {
    /// The kinds that it handles; empty if no controller removes the finalizer from any object's metadata.
    pub kinds: Vec<KindPattern>,
    /// The name of the controller, in words.
    pub removed_by: Arc<str>,
    /// The images in which it runs; empty if it runs outside the cluster or in an unknown image.
    pub images: Arc<[ImagePattern]>,
    /// The program, if its image contains several.
    pub program: Option<Arc<str>>,
    /// The workload in which it runs, if a configuration names it.
    pub workload: Option<ObjectKey>,
    /// Where to look for the workload, in words, if no image identifies it.
    pub place: Option<Arc<str>>,
    /// How the finalizer gets onto an object.
    pub added: Added,
    /// Conditions on the object under which it has the finalizer: all of them hold.
    pub when: Vec<Condition>,
    /// Whether the source proves the kinds.
    pub kinds_proven: bool,
    /// Whether the source proves the images.
    pub images_proven: bool,
    /// Whether the control plane or that of a cloud removes it, so that no workload in the input will.
    pub control_plane: bool,
    /// The documented way to release an object if the controller is gone.
    pub way_out: Option<Arc<str>>,
    /// Further notes; may be empty.
    pub note: String,
    /// Where the facts come from.
    pub source: Sources,
}

/// A controller, with the name of a finalizer that it removes.
#[derive(Clone, Debug)]
pub struct OwnController {
    /// The name of the finalizer, or a pattern.
    pub finalizer: String,
    /// The controller.
    pub controller: Controller,
}

/// A finalizer with every controller that removes it.
#[derive(Clone, Debug)]
pub struct KnownFinalizer {
    /// The name of the finalizer, or a pattern with `*`.
    pub finalizer: String,
    /// The controllers, the likeliest first; never empty.
    pub controllers: Vec<Controller>,
}

/// All finalizers of the table.
#[derive(Clone, Debug, Default)]
pub struct KnownFinalizers {
    /// Finalizers with exact names, sorted by name.
    exact: Vec<KnownFinalizer>,
    /// Finalizers with patterns, the longest pattern first, so that the first match is the closest.
    patterns: Vec<(WildName, KnownFinalizer)>,
}

/// Groups controllers by the finalizer that they remove, in their order.
fn by_finalizer(
    controllers: impl IntoIterator<Item = OwnController>,
) -> BTreeMap<String, Vec<Controller>> {
    let mut entries: BTreeMap<String, Vec<Controller>> = BTreeMap::new();
    for own in controllers {
        entries
            .entry(own.finalizer)
            .or_default()
            .push(own.controller);
    }
    entries
}

impl KnownFinalizers {
    /// Collects the finalizers of some controllers, the likeliest controller of each finalizer first.
    pub(super) fn new(controllers: impl IntoIterator<Item = OwnController>) -> Self {
        Self::of(by_finalizer(controllers))
    }

    fn of(entries: BTreeMap<String, Vec<Controller>>) -> Self {
        let mut known = Self::default();
        for (finalizer, controllers) in entries {
            let pattern = finalizer.contains('*').then(|| WildName::parse(&finalizer));
            let entry = KnownFinalizer {
                finalizer,
                controllers,
            };
            match pattern {
                None => known.exact.push(entry),
                Some(Ok(pattern)) => known.patterns.push((pattern, entry)),
                // Invalid patterns were rejected when the file was read.
                Some(Err(_)) => {}
            }
        }
        known
            .patterns
            .sort_by_key(|(_, entry)| std::cmp::Reverse(entry.finalizer.len()));
        known
    }

    /// Adds the controllers of a configuration, which take precedence.
    pub fn with(&self, own: &[OwnController]) -> Self {
        let mut entries = by_finalizer(own.iter().cloned());
        for (finalizer, controllers) in &mut entries {
            // Other facts about the finalizer still hold, even those from a pattern.
            let known = self.find(finalizer).map(|known| known.controllers.clone());
            controllers.extend(known.unwrap_or_default());
        }
        for known in self.iter() {
            entries
                .entry(known.finalizer.clone())
                .or_insert_with(|| known.controllers.clone());
        }
        Self::of(entries)
    }

    /// Returns these finalizers without one of them.
    pub fn without(&self, finalizer: &str) -> Self {
        let others = self.iter().filter(|known| known.finalizer != finalizer);
        Self::of(
            others
                .map(|known| (known.finalizer.clone(), known.controllers.clone()))
                .collect(),
        )
    }

    /// Returns the facts about a finalizer of an object: those for the exact name, or else for the closest pattern.
    pub fn find(&self, finalizer: &str) -> Option<&KnownFinalizer> {
        let exact = self
            .exact
            .binary_search_by(|known| known.finalizer.as_str().cmp(finalizer));
        if let Ok(at) = exact {
            return Some(&self.exact[at]);
        }
        let mut patterns = self.patterns.iter();
        let (_, known) = patterns.find(|(name, _)| name.matches(finalizer))?;
        Some(known)
    }

    /// Returns every finalizer: exact names in their order, then patterns.
    pub fn iter(&self) -> impl Iterator<Item = &KnownFinalizer> {
        self.exact
            .iter()
            .chain(self.patterns.iter().map(|(_, entry)| entry))
    }

    /// Returns the finalizers that objects of a kind may have, each with the controller that handles the kind.
    pub fn of_kind(
        &self,
        group: &str,
        kind: &str,
    ) -> impl Iterator<Item = (&KnownFinalizer, &Controller)> {
        self.iter()
            .filter_map(move |entry| Some((entry, entry.controller_of(group, kind)?)))
    }

    /// Returns the finalizers that controllers outside the control plane add to every object of a kind that meets the
    /// conditions of the controller.
    pub fn added_to(
        &self,
        group: &str,
        kind: &str,
    ) -> impl Iterator<Item = (&KnownFinalizer, &Controller)> {
        self.of_kind(group, kind)
            .filter(|(known, row)| known.is_added_by(row))
    }
}

impl KnownFinalizer {
    /// Whether any controller removes this finalizer from objects of `kind` in `group` (empty for the core group).
    pub fn handles(&self, group: &str, kind: &str) -> Handles {
        if self.controller_of(group, kind).is_some() {
            Handles::Yes
        } else if self.is_kubernetes_own() {
            Handles::No
        } else if self
            .controllers
            .iter()
            .all(|row| row.kinds_proven && !row.handles_others_of(group))
        {
            Handles::Unlisted
        } else {
            Handles::Unproven
        }
    }

    /// Whether a controller certainly adds it to every object of its kinds that meets its conditions. False if the name
    /// is a pattern, or if the controller handles every kind.
    fn is_added_by(&self, row: &Controller) -> bool {
        let is_specific = !self.finalizer.contains('*') && !row.kinds.contains(&KindPattern::Any);
        is_specific && row.added == Added::Always && row.kinds_proven && !row.control_plane
    }

    /// Whether it is `kubernetes` or `kubernetes.io/*`: for these, every kind that admission and the control plane
    /// handle is known ([FIN-1] to [FIN-3], [FIN-16]).
    fn is_kubernetes_own(&self) -> bool {
        self.finalizer == "kubernetes" || self.finalizer.starts_with("kubernetes.io/")
    }

    /// Returns the controller that removes it from objects of a kind: the first one, which is the likeliest.
    pub fn controller_of(&self, group: &str, kind: &str) -> Option<&Controller> {
        self.controllers.iter().find(|row| row.handles(group, kind))
    }
}

impl Controller {
    /// Whether it removes the finalizer from objects of `kind` in `group`.
    pub fn handles(&self, group: &str, kind: &str) -> bool {
        self.kinds
            .iter()
            .any(|pattern| pattern.matches(group, kind))
    }

    /// Whether it removes the finalizer from an exact kind, or has the pattern `kinds` itself.
    pub fn is_about(&self, kinds: &KindPattern) -> bool {
        match kinds {
            KindPattern::Exact { kind, group } => self.handles(group, kind),
            _ => self.kinds.contains(kinds),
        }
    }

    /// Whether it handles some kind of `group`, if that is the group of an operator.
    pub fn handles_others_of(&self, group: &str) -> bool {
        group.contains('.')
            && !group.ends_with(".k8s.io")
            && self.kinds.iter().any(
                |pattern| matches!(pattern, KindPattern::Exact { group: of, .. } if of == group),
            )
    }

    /// Whether it runs in a container with that image and command line; an empty command line is taken to start it.
    pub fn is_run_by(&self, image: &str, command_line: &[&str]) -> bool {
        self.runs_in(image) && self.is_started_by(command_line)
    }

    /// Whether the name of one of its images suggests that it runs in a container with that image, even under another
    /// path. False for names that many operators use.
    pub fn may_be_run_by(&self, image: &str, command_line: &[&str]) -> bool {
        let name = image_name(image);
        let names = self.images.iter().filter_map(ImagePattern::name);
        let is_own = !GENERIC_NAMES.contains(&name) && names.into_iter().any(|own| own == name);
        is_own && self.is_started_by(command_line)
    }

    fn is_started_by(&self, command_line: &[&str]) -> bool {
        self.program.as_deref().is_none_or(|program| {
            let mut words = command_line.iter();
            command_line.is_empty() || words.any(|word| word.rsplit('/').next() == Some(program))
        })
    }

    /// Whether it runs in that image.
    pub fn runs_in(&self, image: &str) -> bool {
        self.images.iter().any(|pattern| pattern.matches(image))
    }

    /// Whether the source proves both the kinds from which it removes the finalizer and where it runs. Findings that
    /// depend on an unproven controller stay at info.
    pub fn is_proven(&self) -> bool {
        self.kinds_proven && self.images_proven
    }

    /// Whether the row identifies the program by its kinds, images, workload or place, or as part of the control plane.
    /// The row of a framework does not, because each program written with it handles its own kinds.
    pub fn is_identified(&self) -> bool {
        !self.kinds.contains(&KindPattern::Any)
            || !self.images.is_empty()
            || self.workload.is_some()
            || self.place.is_some()
            || self.control_plane
    }

    /// Whether it is proven and handles objects of a kind.
    pub fn is_proven_for(&self, group: &str, kind: &str) -> bool {
        self.is_proven() && self.handles(group, kind)
    }

    /// Returns where it runs, in words: `image rook/ceph`, `control plane: kube-controller-manager`.
    pub fn whereabouts(&self) -> String {
        if let Some(workload) = &self.workload {
            return workload.to_string();
        }
        if let Some(place) = &self.place {
            return place.to_string();
        }
        if self.images.is_empty() {
            return "somewhere unknown".to_owned();
        }
        let images: Vec<&str> = self.images.iter().map(ImagePattern::as_str).collect();
        format!("image {}", images.join("; "))
    }
}
