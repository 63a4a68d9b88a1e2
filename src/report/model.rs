//! The result of one run, which every format renders.

use std::collections::BTreeSet;

use foldhash::HashSet;
use schemars::JsonSchema;
use serde::Serialize;

use super::ListedSkip;
use super::plan::Cascade;
use crate::finding::{
    Applicability, Certainty, Consequence, Edit, Finding, Fingerprint, Label, Severity,
};
use crate::rules::Subject;
use crate::starter::Exclusion;
use crate::text::{FileId, SourceFile, Sources, Span, plain};

/// The result of one run: everything that a format may show.
#[derive(Clone, Debug)]
pub struct Report {
    /// The program that made the report.
    #[doc(hidden)]
    pub tool: Tool,
    /// The input and the options of the run.
    #[doc(hidden)]
    pub run: RunInfo,
    /// All files of the run, including those without findings: editors clear the old diagnostics of these.
    #[doc(hidden)]
    pub sources: Sources,
    /// The findings, sorted by path, offset and rule.
    pub findings: Vec<Reported>,
    /// All enabled rules, in the registry's fixed order, whether or not they fired.
    #[doc(hidden)]
    pub rules: Vec<RuleInfo>,
    /// Counts of the run.
    pub summary: Summary,
    /// The number of findings of each rule, if requested.
    pub statistics: Option<Vec<RuleStatistics>>,
    /// Findings that were suppressed, sorted like `findings`.
    #[doc(hidden)]
    pub suppressed: Vec<SuppressedFinding>,
    /// The one step that resolves most findings, if there is one.
    #[doc(hidden)]
    pub remedy: Option<Remedy>,
    /// Notes besides the findings: skipped templates, files that could not be opened.
    pub notes: Vec<Note>,
    /// Documents and list items that were not checked, in path order.
    pub skipped: Vec<ListedSkip>,
    /// The simulated deletions on which findings are based.
    #[doc(hidden)]
    pub cascades: Cascades,
    /// The files that each bundle of `run.bundles` read, in the order of the bundles.
    #[doc(hidden)]
    pub files_of_bundles: Vec<Vec<FileId>>,
    /// Files that were read as context. They are not part of the input, and have no findings in this report.
    #[doc(hidden)]
    pub context: BTreeSet<FileId>,
}

/// One step that resolves most findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Build the kustomizations, and check the output.
    Build {
        /// The number of errors and warnings in files that kustomizations change.
        resolved: usize,
        /// The number of all errors and warnings.
        of: usize,
    },
    /// Exclude the files that contain most errors and do not look like manifests to apply.
    Exclude(Exclusion),
}

impl Remedy {
    /// Returns the number of findings that it resolves.
    pub fn resolves(&self) -> usize {
        match self {
            Self::Build { resolved, .. } => *resolved,
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

/// The number of findings of a rule. Repeated findings, which the report combines into one, are counted one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
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
    /// Suppressed findings, including those in test data that nothing delivers.
    pub suppressed: usize,
    /// Reported findings in files that nothing in the repository delivers; 0 if nothing is known to be delivered.
    pub undelivered: usize,
}

impl RuleStatistics {
    /// Returns zero counts for `rule`.
    pub(crate) fn none(rule: &'static str) -> Self {
        Self {
            rule,
            ..Self::default()
        }
    }

    /// Returns the numbers of errors, warnings, infos, suppressed and undelivered findings.
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
    /// The reason given for the suppression, if any.
    pub reason: Option<String>,
}

/// Simulated deletions, for formats that draw graphs.
#[derive(Clone, Debug, Default)]
pub struct Cascades {
    /// The deletions to draw.
    pub shown: Vec<Cascade>,
    /// The number of further deletions.
    pub left_out: usize,
}

/// Whether a report contains [`Cascades`], each of which costs a simulation. Few formats draw them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Graphs {
    /// The report contains the first few.
    #[default]
    Drawn,
    /// The report contains none.
    LeftOut,
}

/// The program, as formats name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// `ownerlint`.
    pub name: String,
    /// The released version: `1.2.3`.
    pub version: String,
    /// The URL of the project.
    pub url: String,
}

/// A finding as it is reported: with its identity across runs and its documentation.
#[derive(Clone, Debug)]
pub struct Reported {
    /// The finding itself.
    pub finding: Finding,
    /// Its certainty, derived from the severity that the rule gave it, whatever severity is configured.
    pub certainty: Certainty,
    /// Its identity, the same in every format and in baselines.
    pub fingerprint: Fingerprint,
    /// The URL of its rule's page.
    pub url: Option<String>,
    /// The place of each object of [`Finding::chain`]; `None` for an object that is in no file. May be shorter than the
    /// chain.
    #[doc(hidden)]
    pub chain_places: Vec<Option<Place>>,
}

/// A range of bytes in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file that contains them.
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

impl From<&Edit> for Place {
    fn from(edit: &Edit) -> Self {
        Self {
            file: edit.file,
            span: edit.span,
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
    /// The effect on the cluster.
    pub consequence: Consequence,
    /// Whether its findings are about input that was not read.
    pub is_unread: bool,
    /// Its page, in Markdown.
    pub page: &'static str,
    /// The URL of the published page.
    pub url: String,
}

/// A rule, as `rules` and `explain` show it, independent of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRule {
    /// The rule as in reports, with its default severity.
    pub info: RuleInfo,
    /// The applicability of each kind of fix that it offers; empty if it offers none.
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
    /// Findings suppressed by a comment, an annotation or the configuration, or in test data that nothing delivers.
    pub suppressed: usize,
    /// Findings that the baseline lists.
    pub baseline: usize,
    /// Documents and list items that were not checked, without empty documents.
    pub skipped: usize,
    /// Findings that were there before the change; only with `--only-changed-from`, which reports what the change adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<usize>,
}

impl Summary {
    /// Counts the findings by severity. The caller fills in the other counts.
    pub(crate) fn of(findings: &[Reported]) -> Self {
        let mut summary = Self::default();
        for reported in findings {
            match reported.finding.severity {
                Severity::Error => summary.error += 1,
                Severity::Warning => summary.warning += 1,
                Severity::Info => summary.info += 1,
            }
        }
        summary
    }

    /// Lists the numbers of findings that are not reported: `; 2 suppressed; 12 there before the change`.
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

    /// Returns `1 error, 2 warnings`; without findings `nothing found`, or `nothing to check` if there are no objects.
    pub fn found(&self) -> String {
        let found = [
            (self.error, "error"),
            (self.warning, "warning"),
            (self.info, "info"),
        ];
        let found = found.into_iter().filter(|&(n, _)| n > 0);
        let found: Vec<_> = found.map(|(n, noun)| plain::count(n, noun)).collect();
        match (found.is_empty(), self.objects) {
            (false, _) => found.join(", "),
            (true, 0) => "nothing to check".to_owned(),
            (true, _) => "nothing found".to_owned(),
        }
    }
}

/// A remark on the run itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// `Error`: part of the input was not analysed, so absence of findings proves nothing there.
    pub severity: Severity,
    /// One sentence without a full stop.
    pub message: String,
    /// The reported path of the file that it is about, which need not be one of the sources.
    pub path: Option<String>,
    /// The 1-based line in that file.
    pub line: Option<usize>,
}

impl Report {
    /// Returns the findings by descending severity, otherwise in report order.
    pub(super) fn worst_first(&self) -> Vec<&Reported> {
        let mut findings: Vec<_> = self.findings.iter().collect();
        findings.sort_by_key(|reported| std::cmp::Reverse(reported.finding.severity));
        findings
    }

    /// Orders the findings for formats with a limit: by descending severity, then the first of each
    /// rule before the others, then unrequested deletions before stuck objects before the rest.
    pub(super) fn each_rule_first(&self) -> Vec<&Reported> {
        let mut seen = HashSet::default();
        let ranks = self.findings.iter().map(|reported| {
            let finding = &reported.finding;
            let gravity = match finding.consequence {
                Consequence::Collected => 0,
                Consequence::Stuck => 1,
                _ => 2,
            };
            let is_repeated = !seen.insert((finding.severity, finding.rule));
            (std::cmp::Reverse(finding.severity), is_repeated, gravity)
        });
        let mut findings: Vec<_> = ranks.zip(&self.findings).collect();
        findings.sort_by_key(|(rank, _)| *rank);
        findings.into_iter().map(|(_, reported)| reported).collect()
    }

    /// Groups the findings by file, in the order of the sources. The group of a file without findings is empty. Texts that
    /// are not in the tree, and files that were read as context, are left out.
    pub(super) fn by_file(&self) -> impl Iterator<Item = (&SourceFile, Vec<&Reported>)> {
        let mut findings = vec![Vec::new(); self.sources.len()];
        for reported in &self.findings {
            findings[reported.finding.primary.file.0 as usize].push(reported);
        }
        let files = self.sources.iter().zip(findings);
        let files = files.filter(|((id, file), _)| !file.is_made() && !self.context.contains(id));
        files.map(|((_, file), own)| (file, own))
    }

    /// Returns the template that the text at `place` was rendered from; `None` if there is none.
    pub(super) fn template(&self, place: Place) -> Option<&str> {
        let file = self.sources.file(place.file);
        let parts = file.template_marks();
        let after = parts.partition_point(|&(start, _)| start <= place.span.start);
        let template = parts[..after].last()?.1?;
        Some(file.slice(template))
    }

    /// Returns the names of the bundles that read `file`.
    pub(super) fn bundles_of(&self, file: FileId) -> impl Iterator<Item = &str> {
        let bundles = self.run.bundles.iter().zip(&self.files_of_bundles);
        let reading = bundles.filter(move |(_, files)| files.binary_search(&file).is_ok());
        reading.map(|(bundle, _)| bundle.name.as_deref().unwrap_or("outside any bundle"))
    }

    /// Returns the path under which `file` is reported.
    pub(super) fn path(&self, file: FileId) -> &str {
        self.sources.file(file).path()
    }
}
