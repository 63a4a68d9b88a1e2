//! A finished report: everything that a format may say about one run.

use foldhash::HashSet;
use schemars::JsonSchema;
use serde::Serialize;

use super::ListedSkip;
use super::plan::Cascade;
use crate::finding::{
    Applicability, Certainty, Consequence, Finding, Fingerprint, Label, Severity,
};
use crate::rules::Subject;
use crate::starter::Exclusion;
use crate::text::{FileId, Sources, Span, plain};

/// Everything a format may say about one run.
#[derive(Clone, Debug)]
pub struct Report {
    /// Who speaks.
    #[doc(hidden)]
    pub tool: Tool,
    /// The input and the options of the run.
    #[doc(hidden)]
    pub run: RunInfo,
    /// The files of the run, those without findings too: editors clear old diagnostics of them.
    #[doc(hidden)]
    pub sources: Sources,
    /// The findings, sorted by path, offset and rule.
    pub findings: Vec<Reported>,
    /// All enabled rules, in the registry's fixed order, whether or not they fired.
    #[doc(hidden)]
    pub rules: Vec<RuleInfo>,
    /// Counts of the run.
    pub summary: Summary,
    /// How often each rule says something, if that was asked for.
    pub statistics: Option<Vec<RuleStatistics>>,
    /// Findings that were suppressed, sorted like `findings`.
    #[doc(hidden)]
    pub suppressed: Vec<SuppressedFinding>,
    /// The step that settles most findings, if there is one.
    #[doc(hidden)]
    pub remedy: Option<Remedy>,
    /// Notes besides the findings: skipped templates, files that could not be opened.
    pub notes: Vec<Note>,
    /// Documents and list items that were not judged, in path order.
    pub skipped: Vec<ListedSkip>,
    /// The simulated deletions behind findings that stand on one.
    #[doc(hidden)]
    pub cascades: Cascades,
    /// The files that each of `run.bundles` read, in order.
    #[doc(hidden)]
    pub files_of_bundles: Vec<Vec<FileId>>,
}

/// One step that settles most findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Build the kustomizations, and check the output.
    Build {
        /// The errors and warnings in files that kustomizations change.
        settled: usize,
        /// All errors and warnings.
        of: usize,
    },
    /// Leave out files that hold most errors and look like no manifests to apply.
    Exclude(Exclusion),
}

impl Remedy {
    /// The number of findings that it settles.
    pub fn settles(&self) -> usize {
        match self {
            Self::Build { settled, .. } => *settled,
            Self::Exclude(exclusion) => exclusion.covers,
        }
    }
}

/// The input and the options of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "run")]
pub struct RunInfo {
    /// The path of the configuration.
    pub configuration: Option<String>,
    /// The path of the baseline.
    pub baseline: Option<String>,
    /// Sorted by name; files outside every configured bundle come last.
    pub bundles: Vec<BundleInfo>,
}

/// A bundle of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "bundle")]
pub struct BundleInfo {
    /// Null for files outside every configured bundle.
    pub name: Option<String>,
    /// `closed`: the bundle is treated as the whole cluster.
    #[schemars(extend("enum" = ["open", "closed"]))]
    pub world: &'static str,
    /// The namespace of objects without a namespace.
    pub namespace: Option<String>,
}

/// How often a rule says something, what says the same twice counted twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "statistics")]
pub struct RuleStatistics {
    /// The rule.
    pub rule: &'static str,
    /// Reported findings of severity error.
    pub error: usize,
    /// Reported findings of severity warning.
    pub warning: usize,
    /// Reported findings of severity info.
    pub info: usize,
    /// Suppressed findings, those in test data that nothing delivers among them.
    pub suppressed: usize,
    /// Reported findings in files that nothing in the repository delivers, although it delivers others.
    pub undelivered: usize,
}

impl RuleStatistics {
    /// Those of a rule that says nothing.
    pub(crate) fn none(rule: &'static str) -> Self {
        Self {
            rule,
            error: 0,
            warning: 0,
            info: 0,
            suppressed: 0,
            undelivered: 0,
        }
    }

    /// Errors, warnings, infos, suppressed and undelivered findings.
    pub(crate) fn counts(&self) -> [usize; 5] {
        [
            self.error,
            self.warning,
            self.info,
            self.suppressed,
            self.undelivered,
        ]
    }
}

/// A suppressed finding.
#[derive(Clone, Debug)]
pub struct SuppressedFinding {
    /// The finding.
    pub reported: Reported,
    /// The reason that was given.
    pub reason: Option<String>,
}

/// Simulated deletions, for formats that can draw.
#[derive(Clone, Debug, Default)]
pub struct Cascades {
    /// The first ones.
    pub shown: Vec<Cascade>,
    /// How many more there are.
    pub left_out: usize,
}

/// Whether a report has its [`Cascades`]. Each is simulated once more, which a report that draws none does not need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Graphs {
    /// The first few are there.
    #[default]
    Drawn,
    /// None is.
    LeftOut,
}

/// The program, as formats name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// `ownerlint`.
    pub name: String,
    /// The released version: `1.2.3`.
    pub version: String,
    /// Where the program lives.
    pub url: String,
}

/// A finding as it is reported: with its identity across runs and its documentation.
#[derive(Clone, Debug)]
pub struct Reported {
    /// What, where, why.
    pub finding: Finding,
    /// How sure its rule is.
    pub certainty: Certainty,
    /// Equal in every format and in baselines.
    pub fingerprint: Fingerprint,
    /// The page of its rule.
    pub url: Option<String>,
    /// Where the objects of [`Finding::chain`] are written, link by link; `None` for an object that no file holds. May be
    /// shorter than the chain.
    #[doc(hidden)]
    pub chain_places: Vec<Option<Place>>,
}

/// Bytes of one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The bytes.
    pub span: Span,
}

impl From<&Label> for Place {
    fn from(label: &Label) -> Self {
        Self {
            file: label.file,
            span: label.span,
        }
    }
}

/// A rule, as formats describe it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// Its id: `owner-of-cluster-scoped`.
    pub id: &'static str,
    /// The subject.
    pub subject: Subject,
    /// One sentence on what it flags.
    pub summary: &'static str,
    /// Its severity in this run.
    pub severity: Severity,
    /// The cluster's reaction.
    pub consequence: Consequence,
    /// Whether its findings are input that was not read.
    pub is_unread: bool,
    /// Its page, in Markdown.
    pub page: &'static str,
    /// Where the page is published.
    pub url: String,
}

/// A rule, as `rules` and `explain` describe it: without a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRule {
    /// The rule's facts in reports; the severity is its default.
    pub info: RuleInfo,
    /// How its fixes may be applied, for each kind of fix that it offers; empty if it offers none.
    pub fixes: Vec<Applicability>,
}

/// Counts of the run; `error`, `warning` and `info` count what is reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "summary")]
pub struct Summary {
    /// Files read.
    pub files: usize,
    /// Documents in them.
    pub documents: usize,
    /// Kubernetes objects in them, items of Lists included.
    pub objects: usize,
    /// Findings of severity error.
    pub error: usize,
    /// Findings of severity warning.
    pub warning: usize,
    /// Findings of severity info.
    pub info: usize,
    /// Findings suppressed by a comment, an annotation or the configuration.
    pub suppressed: usize,
    /// Findings that the baseline lists.
    pub baseline: usize,
    /// Documents and list items that were not judged, without empty documents.
    pub skipped: usize,
    /// Findings that were there before the change; only with `--only-changed-from`, which reports what the change adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<usize>,
}

impl Summary {
    /// Counts the findings by severity; files and objects are counted by their readers.
    pub(crate) fn of(findings: &[Reported]) -> Self {
        let count = |severity| {
            findings
                .iter()
                .filter(|reported| reported.finding.severity == severity)
                .count()
        };
        Self {
            error: count(Severity::Error),
            warning: count(Severity::Warning),
            info: count(Severity::Info),
            ..Self::default()
        }
    }

    /// `; 2 suppressed; 12 there before the change`: what was found and is not reported.
    pub(super) fn kept(&self) -> String {
        let kept = [
            (self.suppressed, "suppressed"),
            (self.baseline, "known to the baseline"),
            (self.before.unwrap_or_default(), "there before the change"),
        ];
        kept.into_iter()
            .filter(|&(n, _)| n > 0)
            .map(|(n, what)| format!("; {n} {what}"))
            .collect()
    }

    /// `1 error, 2 warnings`; `nothing found`, or `nothing to check` where there is no object.
    pub fn found(&self) -> String {
        let found = [
            (self.error, "error"),
            (self.warning, "warning"),
            (self.info, "info"),
        ];
        let found: Vec<_> = found
            .into_iter()
            .filter(|&(n, _)| n > 0)
            .map(|(n, noun)| plain::count(n, noun))
            .collect();
        match (found.is_empty(), self.objects) {
            (false, _) => found.join(", "),
            (true, 0) => "nothing to check".to_owned(),
            (true, _) => "nothing found".to_owned(),
        }
    }
}

/// Something about the run itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// `Error`: part of the input was not analysed, so absence of findings proves nothing there.
    pub severity: Severity,
    /// One sentence without a full stop.
    pub message: String,
    /// The file it is about, as reported; it need not be one of the sources.
    pub path: Option<String>,
    /// The 1-based line in that file.
    pub line: Option<usize>,
}

impl Report {
    /// The findings, worst first, else in report order.
    pub(super) fn worst_first(&self) -> Vec<&Reported> {
        let mut findings: Vec<_> = self.findings.iter().collect();
        findings.sort_by_key(|reported| std::cmp::Reverse(reported.finding.severity));
        findings
    }

    /// The findings where not all of them are shown: worst first, and of one severity the first of each rule before all
    /// others, so that no number of equal findings pushes another one out. Unrequested deletions come before rejections.
    pub(super) fn each_rule_first(&self) -> Vec<&Reported> {
        let mut seen = HashSet::default();
        let rank = |reported: &Reported| {
            let Finding {
                rule,
                severity,
                consequence,
                ..
            } = reported.finding;
            let gravity = match consequence {
                Consequence::Collected => 0,
                Consequence::Stuck => 1,
                _ => 2,
            };
            (
                std::cmp::Reverse(severity),
                !seen.insert((severity, rule)),
                gravity,
            )
        };
        let ranks: Vec<_> = self.findings.iter().map(rank).collect();
        let mut findings: Vec<_> = ranks.into_iter().zip(&self.findings).collect();
        findings.sort_by_key(|(rank, _)| *rank);
        findings.into_iter().map(|(_, reported)| reported).collect()
    }

    /// The findings of each file, in the order of the sources; empty for a file without.
    pub(super) fn by_file(&self) -> Vec<Vec<&Reported>> {
        let mut files = vec![Vec::new(); self.sources.len()];
        for reported in &self.findings {
            files[reported.finding.primary.file.0 as usize].push(reported);
        }
        files
    }

    /// The template that the text at `place` was rendered from.
    pub(super) fn template(&self, place: Place) -> Option<&str> {
        let file = self.sources.file(place.file);
        let parts = file.rendered_parts();
        let after = parts.partition_point(|&(start, _)| start <= place.span.start);
        let template = parts[..after].last()?.1?;
        Some(file.slice(template))
    }

    /// The names of the bundles that read `file`.
    pub(super) fn bundles_of(&self, file: FileId) -> impl Iterator<Item = &str> {
        let bundles = self.run.bundles.iter().zip(&self.files_of_bundles);
        let reading = bundles.filter(move |(_, files)| files.binary_search(&file).is_ok());
        reading.map(|(bundle, _)| bundle.name.as_deref().unwrap_or("outside any bundle"))
    }

    /// The path under which `file` is reported.
    pub(super) fn path(&self, file: FileId) -> &str {
        self.sources.file(file).path()
    }
}
