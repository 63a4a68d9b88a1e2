//! Who removes which finalizer: `rules/tables/known-finalizers.csv`.
//!
//! Absence from the table proves nothing: a kind that no row lists is [`Handles::Unlisted`], or [`Handles::Unproven`] where
//! the source does not prove a row, and rules keep such answers at info.

mod pattern;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use foldhash::HashMap;
use serde::Deserialize;

use crate::inventory::table as table_of_kinds;
use crate::kube::ObjectKey;

use pattern::WildName;
pub use pattern::{ImagePattern, KindPattern, image_name};

const ROWS: &str = include_str!("../../../rules/tables/known-finalizers.csv");

/// The table does not have the form its README describes.
#[derive(Debug, thiserror::Error)]
pub enum FinalizerTableError {
    /// A row has the wrong columns or an unknown word in one of them.
    #[error("known finalizers: {0}")]
    Rows(#[from] csv::Error),
    /// A pattern cannot be compiled.
    #[error("known finalizers: {0}")]
    Pattern(#[from] globset::Error),
}

/// How a finalizer comes onto an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Added {
    /// Its controller adds it; in a manifest it is a copy of a live object.
    Runtime,
    /// Manifests are meant to contain it.
    Written,
    /// Either.
    Both,
}

/// Whether the controllers of a finalizer look at objects of a kind. A row is partial knowledge: controllers learn
/// kinds, and forks keep the finalizers of what they were forked from. Only for Kubernetes' own finalizers is the table
/// complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handles {
    /// One of them does.
    Yes,
    /// None does: the finalizer, Kubernetes' own, stays forever.
    No,
    /// The table lists other kinds.
    Unlisted,
    /// None is known to, but the table's source does not prove the list of kinds.
    Unproven,
}

/// One controller that removes a finalizer; a row of the table.
#[derive(Clone, Debug)]
pub struct Controller {
    /// The kinds it handles; empty if no controller removes the finalizer from any object's metadata.
    pub kinds: Vec<KindPattern>,
    /// Who removes it, in words.
    pub removed_by: String,
    /// The images in which it runs; empty when it does not run in the cluster or under an unknown image.
    pub images: Vec<ImagePattern>,
    /// The program that it is, where its image has several.
    pub program: Option<String>,
    /// The workload in which it runs, where a configuration names it.
    pub workload: Option<ObjectKey>,
    /// Where to look for the workload, in words.
    pub workload_hint: String,
    /// How the finalizer gets onto an object.
    pub added: Added,
    /// Whether every object of its kinds gets the finalizer at run time, built-in kinds included, as only a configuration says.
    pub every: bool,
    /// Whether the source proves kinds and images; what rests on an unverified row stays at info.
    pub verified: bool,
    /// Whether the control plane or the cloud's control plane removes it, so no workload in the input will.
    pub control_plane: bool,
    /// Further notes; may be empty.
    pub notes: String,
    /// Where the facts come from.
    pub source: String,
}

/// A controller that a configuration describes, with the finalizers that it removes.
#[derive(Clone, Debug)]
pub struct OwnController {
    /// Their names.
    pub finalizers: Vec<String>,
    /// The controller.
    pub controller: Controller,
}

/// A finalizer with every controller that removes it.
#[derive(Clone, Debug)]
pub struct KnownFinalizer {
    /// The name, or a pattern with `*`.
    pub finalizer: String,
    /// At least one.
    pub controllers: Vec<Controller>,
}

/// All finalizers of the table.
#[derive(Clone, Debug, Default)]
pub struct KnownFinalizers {
    /// In the order of their names.
    exact: Vec<KnownFinalizer>,
    /// Where each name is in it.
    places: HashMap<String, usize>,
    /// The longest pattern first, so the first match is the closest.
    patterns: Vec<(WildName, KnownFinalizer)>,
}

#[derive(Deserialize)]
struct Row {
    finalizer: String,
    kinds: String,
    removed_by: String,
    removed_by_images: String,
    program: String,
    workload_hint: String,
    added: Added,
    verified: WrittenYesNo,
    control_plane: WrittenYesNo,
    notes: String,
    source: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WrittenYesNo {
    Yes,
    No,
}

/// The table that is compiled in.
pub fn table() -> &'static Arc<KnownFinalizers> {
    // The text is compiled in and parsed by the tests, so the branch is unreachable in a build that passes them.
    static TABLE: LazyLock<Arc<KnownFinalizers>> =
        LazyLock::new(|| match KnownFinalizers::parse(ROWS) {
            Ok(table) => Arc::new(table),
            Err(error) => unreachable!("rules/tables: {error}"),
        });
    &TABLE
}

impl KnownFinalizers {
    /// Reads the table.
    ///
    /// # Errors
    /// When it does not have the form that `rules/tables/README.md` describes.
    pub fn parse(text: &str) -> Result<Self, FinalizerTableError> {
        let mut entries: BTreeMap<String, KnownFinalizer> = BTreeMap::new();
        for row in csv::Reader::from_reader(text.as_bytes()).into_deserialize() {
            let row: Row = row?;
            let entry = entries
                .entry(row.finalizer.clone())
                .or_insert_with(|| KnownFinalizer {
                    finalizer: row.finalizer.clone(),
                    controllers: Vec::new(),
                });
            entry.controllers.push(Controller::from_row(row)?);
        }
        let (wild, exact): (BTreeMap<_, _>, _) = entries
            .into_iter()
            .partition(|(name, _)| name.contains('*'));
        let mut patterns = Vec::new();
        for entry in wild.into_values() {
            patterns.push((WildName::parse(&entry.finalizer)?, entry));
        }
        patterns.sort_by_key(|(_, entry)| std::cmp::Reverse(entry.finalizer.len()));
        Ok(Self::of(exact, patterns))
    }

    fn of(
        exact: BTreeMap<String, KnownFinalizer>,
        patterns: Vec<(WildName, KnownFinalizer)>,
    ) -> Self {
        let places = exact.keys().cloned().zip(0..).collect();
        Self {
            exact: exact.into_values().collect(),
            places,
            patterns,
        }
    }

    /// The rows without patterns, by name.
    fn by_name(&self) -> BTreeMap<String, KnownFinalizer> {
        self.exact
            .iter()
            .map(|entry| (entry.finalizer.clone(), entry.clone()))
            .collect()
    }

    /// This table with the controllers of a configuration, which come first: whoever describes their own controller knows it
    /// better.
    pub fn with(&self, own: &[OwnController]) -> Self {
        let mut exact = self.by_name();
        for OwnController {
            finalizers,
            controller,
        } in own.iter().rev()
        {
            for finalizer in finalizers {
                // What a pattern said of the finalizer still holds.
                let known = self
                    .find(finalizer)
                    .map_or(&[][..], |known| &known.controllers);
                let named = || KnownFinalizer {
                    finalizer: finalizer.clone(),
                    controllers: known.to_vec(),
                };
                let entry = exact.entry(finalizer.clone()).or_insert_with(named);
                entry.controllers.insert(0, controller.clone());
            }
        }
        Self::of(exact, self.patterns.clone())
    }

    /// This table without a finalizer, as the table has it.
    pub fn without(&self, finalizer: &str) -> Self {
        let (mut exact, mut patterns) = (self.by_name(), self.patterns.clone());
        exact.remove(finalizer);
        patterns.retain(|(_, entry)| entry.finalizer != finalizer);
        Self::of(exact, patterns)
    }

    /// What is known about a finalizer as an object has it: the exact name first, then the closest pattern.
    pub fn find(&self, finalizer: &str) -> Option<&KnownFinalizer> {
        let by_pattern = || {
            self.patterns
                .iter()
                .find(|(name, _)| name.matches(finalizer))
                .map(|(_, entry)| entry)
        };
        self.places
            .get(finalizer)
            .map(|at| &self.exact[*at])
            .or_else(by_pattern)
    }

    /// Every finalizer: names in their order, then patterns.
    pub fn iter(&self) -> impl Iterator<Item = &KnownFinalizer> {
        self.exact
            .iter()
            .chain(self.patterns.iter().map(|(_, entry)| entry))
    }

    /// What a workload with this image removes: each finalizer with the controller that runs in the image.
    pub fn removed_by_image(
        &self,
        image: &str,
    ) -> impl Iterator<Item = (&KnownFinalizer, &Controller)> {
        self.iter().flat_map(move |entry| {
            entry
                .controllers
                .iter()
                .filter(move |row| row.runs_in(image))
                .map(move |row| (entry, row))
        })
    }

    /// The finalizers that objects of a kind may have, each with the controller that handles the kind.
    pub fn of_kind(
        &self,
        group: &str,
        kind: &str,
    ) -> impl Iterator<Item = (&KnownFinalizer, &Controller)> {
        self.iter()
            .filter_map(move |entry| Some((entry, entry.controller_of(group, kind)?)))
    }
}

impl KnownFinalizers {
    /// What objects get from controllers outside the control plane as soon as those see them.
    pub fn added_at_run_time(&self) -> AddedFinalizers<'_> {
        let is_added = |known: &&KnownFinalizer| {
            known
                .controllers
                .iter()
                .any(|row| known.is_added_by(row, false))
        };
        AddedFinalizers {
            rows: self.iter().filter(is_added).collect(),
        }
    }
}

/// What every object of some kind gets from a controller.
#[derive(Clone, Debug)]
pub struct AddedFinalizers<'t> {
    rows: Vec<&'t KnownFinalizer>,
}

impl<'t> AddedFinalizers<'t> {
    /// Those of every object of a kind.
    pub fn of_kind(
        &self,
        group: &str,
        kind: &str,
    ) -> impl Iterator<Item = (&'t KnownFinalizer, &'t Controller)> {
        let built_in = table_of_kinds().is_builtin_group(group);
        let of_kind = self
            .rows
            .iter()
            .filter_map(move |known| Some((*known, known.controller_of(group, kind)?)));
        of_kind.filter(move |(known, row)| known.is_added_by(row, built_in))
    }
}

impl KnownFinalizer {
    /// Whether any controller removes this finalizer from objects of `kind` in `group` (empty for the core group).
    pub fn handles(&self, group: &str, kind: &str) -> Handles {
        if self.controller_of(group, kind).is_some() {
            Handles::Yes
        } else if self.is_kubernetes_own() {
            Handles::No
        } else if self.controllers.iter().all(|row| row.verified) {
            Handles::Unlisted
        } else {
            Handles::Unproven
        }
    }

    /// Whether a controller gives it to every object of its kinds. A row with a note or a pattern applies only to some objects, and
    /// so does a row about a built-in kind, because a controller marks only the objects that it manages; an unverified row
    /// applies to none with certainty.
    fn is_added_by(&self, row: &Controller, built_in: bool) -> bool {
        let some = built_in || !row.notes.is_empty() || row.kinds.contains(&KindPattern::Any);
        let always = row.verified && !some && !self.finalizer.contains('*');
        row.every || always && row.added != Added::Written && !row.control_plane
    }

    /// `kubernetes` and `kubernetes.io/*`: every kind that admission and the control plane handle is known ([FIN-1] to
    /// [FIN-3], [FIN-16]).
    fn is_kubernetes_own(&self) -> bool {
        self.finalizer == "kubernetes" || self.finalizer.starts_with("kubernetes.io/")
    }

    /// The controller that removes it from objects of a kind: of several the likeliest, which comes first.
    pub fn controller_of(&self, group: &str, kind: &str) -> Option<&Controller> {
        self.controllers.iter().find(|row| row.handles(group, kind))
    }

    /// Whether a workload with this image removes it.
    pub fn removed_by_image(&self, image: &str) -> bool {
        self.controllers.iter().any(|row| row.runs_in(image))
    }

    /// Whether the control plane removes it, so that its controller need not be looked for.
    pub fn removed_by_control_plane(&self) -> bool {
        self.controllers.iter().any(|row| row.control_plane)
    }
}

impl Controller {
    /// Whether it removes the finalizer from objects of `kind` in `group`.
    pub fn handles(&self, group: &str, kind: &str) -> bool {
        self.kinds
            .iter()
            .any(|pattern| pattern.matches(group, kind))
    }

    /// Whether it runs in a container with that image, whose command line as the manifest has it may name another program.
    pub fn is_run_by<'w>(
        &self,
        image: &str,
        command_line: impl IntoIterator<Item = &'w str>,
    ) -> bool {
        let mut words = command_line.into_iter().peekable();
        let mut names = |program: &str| {
            words.peek().is_none() || words.any(|word| word.rsplit('/').next() == Some(program))
        };
        self.runs_in(image) && self.program.as_deref().is_none_or(&mut names)
    }

    /// Whether it runs in that image.
    pub fn runs_in(&self, image: &str) -> bool {
        self.images.iter().any(|pattern| pattern.matches(image))
    }

    fn from_row(row: Row) -> Result<Self, globset::Error> {
        Ok(Self {
            kinds: cells(&row.kinds).map(KindPattern::parse).collect(),
            removed_by: row.removed_by,
            images: cells(&row.removed_by_images)
                .map(ImagePattern::parse)
                .collect::<Result<_, _>>()?,
            program: Some(row.program).filter(|program| !program.is_empty()),
            workload: None,
            workload_hint: row.workload_hint,
            added: row.added,
            every: false,
            verified: row.verified == WrittenYesNo::Yes,
            control_plane: row.control_plane == WrittenYesNo::Yes,
            notes: row.notes,
            source: row.source,
        })
    }
}

fn cells(text: &str) -> impl Iterator<Item = &str> {
    text.split(';').filter(|cell| !cell.is_empty())
}
