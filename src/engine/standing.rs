//! Decides whether the file of a finding is applied. An error has to be certain, and it is certain only if its document
//! is applied: a delivery of the repository reaches it, Helm rendered it, it comes from standard input, or it was named
//! as a file. If nothing in a repository is known to be applied, all files but test data are treated as applied.
//!
//! Deliveries are evaluated only if a finding depends on them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::compare::{StateChoice, evaluate};
use super::input::Bundle;
use super::merge::Merged;
use super::repository::repository_root;
use crate::charts::Charts;
use crate::cluster::Analysis;
use crate::finding::{Finding, Severity};
use crate::graph::argo::Terms;
use crate::graph::delivery::Delivery;
use crate::inventory::{STDIN, locate};
use crate::kustomize::{SourceTool, ancestors, folder_of, resolve};
use crate::manifest::is_rendered;
use crate::report::Reported;
use crate::rules::{self, Rule};
use crate::starter::fixture_glob;
use crate::text::{FileId, Limits};

/// Added to the reason of findings about a draft.
const DRAFT: &str = " Nothing in the repository delivers this file, and other files are delivered: it may be a draft.";

/// Findings, divided by the standing of their files.
#[derive(Default)]
pub(super) struct ByStanding {
    /// Findings on applied files and on drafts.
    pub(super) kept: Vec<Reported>,
    /// Findings on test data, each with the glob of its file.
    pub(super) test_data: Vec<(String, Reported)>,
}

/// Lowers findings on drafts to `info`, unless `severities` of the configuration contain their rule, and separates
/// findings on test data: neither drafts nor test data are applied.
pub(super) fn by_standing(
    findings: Vec<Reported>,
    standings: &mut Standings<'_>,
    severities: &BTreeMap<&'static str, Severity>,
) -> ByStanding {
    let mut divided = ByStanding::default();
    for mut reported in findings {
        match standings.of(&reported.finding) {
            Standing::Applied => divided.kept.push(reported),
            Standing::Draft => {
                let finding = &mut reported.finding;
                finding.reason.push_str(DRAFT);
                // A configured severity applies to all findings of the rule.
                if !severities.contains_key(finding.rule) {
                    finding.severity = Severity::Info;
                }
                divided.kept.push(reported);
            }
            Standing::TestData(glob) => divided.test_data.push((glob, reported)),
        }
    }
    divided
}

/// The standing of a file: how its findings are treated.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Standing {
    /// The file is treated as applied.
    Applied,
    /// Nothing delivers the file, but other files are delivered, or rendered by Helm.
    Draft,
    /// The file is test data that nothing delivers; the glob matches such files.
    TestData(String),
}

/// Computes and caches the standing of files.
pub(super) struct Standings<'s> {
    bundles: &'s [Bundle],
    analyses: Vec<&'s Analysis<'s>>,
    merged: &'s Merged,
    limits: Limits,
    /// The named paths, without a slash at the end.
    arguments: BTreeSet<&'s str>,
    /// Whether Helm rendered some file.
    is_rendered: bool,
    /// The deliveries of each repository, by its root; `None` if they could not be evaluated.
    repositories: BTreeMap<PathBuf, Option<Delivered>>,
    /// The glob of the test data that a file belongs to; only its path below the argument is considered.
    test_data: BTreeMap<FileId, Option<String>>,
    files: BTreeMap<FileId, Standing>,
}

impl<'s> Standings<'s> {
    pub(super) fn new(
        bundles: &'s [Bundle],
        analyses: Vec<&'s Analysis<'s>>,
        merged: &'s Merged,
    ) -> Self {
        let arguments = bundles.iter().flat_map(|bundle| &bundle.arguments);
        let limits = bundles.first().map(|bundle| bundle.inventory.limits);
        let mut sources = merged.sources.iter().map(|(_, file)| file);
        Self {
            bundles,
            analyses,
            merged,
            limits: limits.unwrap_or_default(),
            arguments: arguments
                .map(|argument| argument.trim_end_matches('/'))
                .collect(),
            is_rendered: sources.any(|file| !file.template_marks().is_empty()),
            repositories: BTreeMap::new(),
            test_data: BTreeMap::new(),
            files: BTreeMap::new(),
        }
    }

    fn of(&mut self, finding: &Finding) -> Standing {
        let file = finding.primary.file;
        let is_of_applied = rules::find(finding.rule).is_some_and(|rule: &Rule| rule.is_of_applied);
        let depends = is_of_applied && finding.severity > Severity::Info;
        if !depends && self.test_data(file).is_none() {
            return Standing::Applied;
        }
        let standing = self.of_file(file);
        if standing == Standing::Draft && !depends {
            return Standing::Applied;
        }
        standing
    }

    /// Whether a file is applied, as far as is known.
    pub(super) fn is_applied(&mut self, file: FileId) -> bool {
        self.of_file(file) == Standing::Applied
    }

    fn of_file(&mut self, file: FileId) -> Standing {
        if let Some(known) = self.files.get(&file) {
            return known.clone();
        }
        let found = self.standing(file);
        self.files.insert(file, found.clone());
        found
    }

    /// Returns the path of a file and the longest argument that contains it.
    fn argument(&self, file: FileId) -> Option<(&'s str, &'s str)> {
        let path = self.merged.sources.file(file).path();
        let named = ancestors(path).find_map(|place| self.arguments.get(place));
        let argument = named.or_else(|| self.arguments.get("."))?;
        Some((path, argument))
    }

    fn test_data(&mut self, file: FileId) -> Option<String> {
        if let Some(known) = self.test_data.get(&file) {
            return known.clone();
        }
        let glob = self.argument(file).and_then(|(path, argument)| {
            let below = path.strip_prefix(argument).unwrap_or(path);
            fixture_glob(below.trim_start_matches('/'))
        });
        self.test_data.insert(file, glob.clone());
        glob
    }

    /// Evaluates the deliveries of a repository, reusing the analysis of a bundle that read all of its files.
    fn delivered(&self, root: &Path) -> Option<Delivered> {
        let mut all = self.bundles.iter().zip(&self.analyses);
        let whole = all.find_map(|(bundle, analysis)| Some((folder_in(bundle, root)?, analysis)));
        let Some((top, analysis)) = whole else {
            return Delivered::of(root, self.limits);
        };
        let reach = analysis.reach();
        let deliveries = reach.applied_below(&top, analysis.inventory()).ok()?;
        Some(Delivered::by(&deliveries))
    }

    fn standing(&mut self, file: FileId) -> Standing {
        let source = self.merged.sources.file(file);
        let Some((path, argument)) = self.argument(file) else {
            return Standing::Applied;
        };
        let is_named = path == argument || path == STDIN;
        if is_named || !source.template_marks().is_empty() {
            return Standing::Applied;
        }
        let located = locate(path);
        let root = located.parent().and_then(repository_root);
        let root = root.map_or_else(|| locate(argument), Path::to_owned);
        let Some(place) = located.strip_prefix(&root).ok().and_then(Path::to_str) else {
            return Standing::Applied;
        };
        let place = place.replace('\\', "/");
        let test_data = self.test_data(file);
        if !self.repositories.contains_key(&root) {
            let delivered = self.delivered(&root);
            self.repositories.insert(root.clone(), delivered);
        }
        let Some(Some(delivered)) = self.repositories.get(&root) else {
            return Standing::Applied;
        };
        match test_data {
            _ if delivered.has(&place) => Standing::Applied,
            Some(glob) => Standing::TestData(glob),
            None if delivered.is_applied || self.is_rendered => Standing::Draft,
            None => Standing::Applied,
        }
    }
}

/// The files that the deliveries of a repository apply.
#[derive(Default)]
struct Delivered {
    /// The files that deliveries read and apply.
    files: BTreeSet<String>,
    /// Folders whose build fails: every file in them may be applied.
    failing: BTreeSet<String>,
    /// Whether anything is known to be applied: something is delivered, or Helm rendered a file.
    is_applied: bool,
}

impl Delivered {
    /// Evaluates a repository; returns `None` if a limit is exceeded or a file cannot be read.
    fn of(root: &Path, limits: Limits) -> Option<Self> {
        let choice = StateChoice::Path(root.to_str()?.to_owned());
        let terms = Terms {
            limits: &limits,
            clusters: None,
        };
        let charts = Charts::unrendered();
        evaluate(
            &choice,
            &[],
            terms,
            (&charts, &|_| false),
            |tree, all, _| {
                let delivered = Self::by(all);
                let is_applied = delivered.is_applied
                    || tree.manifests().any(|path| {
                        let bytes = tree.bytes(path).unwrap_or_default();
                        std::str::from_utf8(&bytes).is_ok_and(is_rendered)
                    });
                Self {
                    is_applied,
                    ..delivered
                }
            },
        )
        .ok()
    }

    fn by(all: &[Delivery]) -> Self {
        let mut delivered = Self::default();
        // Delivery objects in test data are not applied, so they deliver nothing.
        for one in all.iter().filter(|one| fixture_glob(&one.file).is_none()) {
            // An ApplicationSet applies Applications, and builds no folder.
            let is_set = one
                .by
                .as_ref()
                .is_some_and(|by| by.tool == SourceTool::ArgoCdSet);
            if one.error.is_some() && !is_set {
                delivered.failing.insert(one.path.clone());
            }
            let written = one.resources.iter();
            let written = written.map(|resource| resource.origin.file.to_string());
            delivered.files.extend(written);
            delivered.files.extend(one.reached.iter().cloned());
            delivered.files.insert(one.file.to_string());
        }
        delivered.is_applied = !delivered.files.is_empty();
        delivered
    }

    fn has(&self, file: &str) -> bool {
        let mut folders = ancestors(folder_of(file));
        self.files.contains(file) || folders.any(|folder| self.failing.contains(folder))
    }
}

/// Returns the path of `folder`, written like the repository or argument that contains it, if the bundle reads all files in
/// it.
fn folder_in(bundle: &Bundle, folder: &Path) -> Option<String> {
    let arguments = bundle.repositories.iter().chain(&bundle.arguments);
    let mut arguments = arguments.filter(|_| !bundle.excludes);
    arguments.find_map(|argument| {
        let located = locate(argument);
        let below = folder.strip_prefix(&located).ok()?.to_str()?;
        Some(resolve(argument, &below.replace('\\', "/")))
    })
}
