//! Data of a page besides its contract: stories, the texts of citations and rules, lines of files, and links to them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::StoryDocument;
use super::snippet::SnippetDocument;
use crate::gc;
use crate::report::{HtmlOptions, Published, Report, Roots, paths};

/// The data that the page contains besides the contract.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageData<'a> {
    /// The command that made the page: `plan`, `diff` or `check`.
    pub(super) command: &'static str,
    pub(super) title: String,
    pub(super) stories: &'a [StoryDocument],
    pub(super) citations: BTreeMap<&'a str, &'static str>,
    /// Links to the files; in a comparison, to those of head.
    pub(super) links: BTreeMap<&'a str, FileLink>,
    pub(super) base_links: BTreeMap<&'a str, FileLink>,
    /// The rules with findings.
    pub(super) rules: BTreeMap<&'static str, RulePage>,
    /// The lines of each finding, in the order of the findings.
    pub(super) snippets: Vec<Vec<SnippetDocument<'a>>>,
    /// The bundles that read the file of each finding, by finding; empty if the run has one bundle.
    pub(super) bundles: Vec<Vec<&'a str>>,
    pub(super) removal: Option<RemovalDocument<'a>>,
}

/// A rule, as the page shows it beside its findings.
#[derive(Debug, Serialize)]
pub(super) struct RulePage {
    summary: &'static str,
    page: &'static str,
}

/// The data of a removal besides its contract.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RemovalDocument<'a> {
    /// The command that removes the objects.
    pub(super) command: &'a str,
    /// Whether an order is known in which nothing gets stuck.
    pub(super) order_known: bool,
}

/// The URL of a line of a file, as the parts before and after the number of the line.
#[derive(Debug, Serialize)]
pub(super) struct FileLink {
    before: String,
    after: String,
}

impl<'a> PageData<'a> {
    pub(super) fn new(command: &'static str, title: String, stories: &'a [StoryDocument]) -> Self {
        let cited = stories.iter().flat_map(StoryDocument::citations);
        Self {
            command,
            title,
            stories,
            citations: cited
                .filter_map(|rule| Some((rule, gc::semantics(rule)?)))
                .collect(),
            links: BTreeMap::new(),
            base_links: BTreeMap::new(),
            rules: BTreeMap::new(),
            snippets: Vec::new(),
            bundles: Vec::new(),
            removal: None,
        }
    }

    /// Adds the lines and rules of findings.
    pub(super) fn with_findings(mut self, report: &'a Report) -> Self {
        let findings = report.findings.iter();
        let found = findings.clone().map(|reported| reported.finding.rule);
        let found: BTreeSet<&str> = found.collect();
        for rule in report.rules.iter().filter(|rule| found.contains(rule.id)) {
            let page = RulePage {
                summary: rule.summary,
                page: rule.page,
            };
            self.rules.insert(rule.id, page);
        }
        let snippets = findings.clone();
        let snippets = snippets.map(|reported| SnippetDocument::of(report, reported));
        self.snippets = snippets.collect();
        if report.run.bundles.len() > 1 {
            let files = findings.map(|reported| reported.finding.primary.file);
            let bundles = files.map(|file| report.bundles_of(file).collect());
            self.bundles = bundles.collect();
        }
        self
    }

    /// Adds links to `files`, and to the files of `base`.
    pub(super) fn linked(
        mut self,
        files: impl Iterator<Item = &'a str>,
        base: impl Iterator<Item = &'a str>,
        options: &HtmlOptions,
        roots: &Roots,
    ) -> Self {
        self.links = links(files, options.published.as_ref(), roots);
        self.base_links = links(base, options.base.as_ref(), roots);
        self
    }
}

/// Returns the links to the files whose published version is the one that was read.
fn links<'a>(
    files: impl Iterator<Item = &'a str>,
    published: Option<&Published>,
    roots: &Roots,
) -> BTreeMap<&'a str, FileLink> {
    let Some(published) = published else {
        return BTreeMap::new();
    };
    let files: BTreeSet<&str> = files.collect();
    let links = files.into_iter().filter_map(|file| {
        let path = paths::from_root(file, roots);
        let is_published = published.files.contains(&path);
        let (before, after) = is_published.then(|| published.address(&path))?;
        Some((file, FileLink { before, after }))
    });
    links.collect()
}
