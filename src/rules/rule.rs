//! What a rule is, what it may look at, and where its findings go.

use super::draft::Draft;
use super::proposal::{Proposal, fixed};
use crate::baseline::Stale;
use crate::cluster::{Analysis, Verdicts};
use crate::finding::{Consequence, Finding, Fixes, Severity};
use crate::inventory::Inventory;
use crate::merge::Merge;
use crate::ownership::Ownership;
use crate::suppression::{Directives, Idle};
use crate::text::{Side, near};

/// Whether the input is treated as the whole cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum World {
    /// Objects outside the input may exist: absence proves nothing.
    #[default]
    Open,
    /// The input is the whole cluster.
    Closed,
}

/// What a rule may look at.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The objects.
    pub inventory: &'a Inventory,
    /// The edges between them.
    pub ownership: &'a Ownership,
    /// What else is found out about the bundle, each fact once.
    pub analysis: &'a Analysis<'a>,
    /// What single steps do to that cluster.
    pub verdicts: &'a Verdicts<'a>,
    /// Whether absence proves anything.
    pub world: World,
    /// The directives that suppress findings.
    pub directives: &'a Directives,
    /// Every rule: directives may name others.
    pub rules: &'a [&'static Rule],
}

/// What became of the findings of a run: what rules on suppressions and baselines look at.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOutcome<'a> {
    /// Suppressions without effect.
    pub idle: &'a [Idle],
    /// What the baseline lists and the run did not find.
    pub stale: &'a [Stale],
}

/// How a rule looks for its defect.
#[derive(Clone, Copy, Debug)]
pub enum RuleCheck {
    /// In a bundle.
    Bundle(fn(&Context<'_>, &mut Sink)),
    /// In what merging a change does to one part of a tree.
    Merge(fn(&Merge<'_>, &mut Sink)),
    /// In what became of the findings of all bundles.
    Outcome(fn(&RunOutcome<'_>, &mut Sink)),
}

/// How often a rule says one thing. Suppressions, baselines and fingerprints deal with every single finding; only the
/// output combines them, and keeps every place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// Every finding is shown.
    Shown,
    /// Findings with places in the same files are shown as one.
    OncePerFiles,
    /// Findings of one file that say the same are shown as one.
    OncePerMessage,
}

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// The id: kebab-case, names the defect, reads well after "ignore".
    pub id: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// The severity unless a finding says otherwise.
    pub severity: Severity,
    /// The consequence unless a finding says otherwise.
    pub consequence: Consequence,
    /// The page `rules/<id>.md`, front matter included.
    pub page: &'static str,
    /// Looks for the defect.
    pub check: RuleCheck,
    /// How often it says one thing.
    pub repeats: Repeats,
}

impl Rule {
    /// The folder of the repository with the pages that links lead to; they are generated from `rules/`.
    pub const PAGES: &'static str = "docs/rules";

    /// The page on the web.
    pub fn url(&self) -> String {
        format!("{}/blob/main/{}/{}.md", env!("CARGO_PKG_REPOSITORY"), Self::PAGES, self.id)
    }

    /// Runs the rule on a bundle: what it finds, and how many findings more than [`MOST_FINDINGS`] there are.
    pub fn run(&'static self, context: &Context<'_>, fixes: Fixes) -> (Vec<Finding>, usize) {
        let mut sink = Sink::new(self);
        if let RuleCheck::Bundle(check) = self.check {
            check(context, &mut sink);
        }
        let omitted = sink.omitted;
        let found = match fixes {
            Fixes::WorkedOut => fixed(context.inventory, sink.found, |_| true),
            Fixes::OfUnsavedTexts => fixed(context.inventory, sink.found, |file| file.side() == Side::Unsaved),
            Fixes::LeftOut => sink.without_fixes(),
        };
        (found, omitted)
    }

    /// Runs the rule on a change, as [`Rule::run`] does on a bundle.
    pub fn run_on_merge(&'static self, merge: &Merge<'_>) -> (Vec<Finding>, usize) {
        let mut sink = Sink::new(self);
        if let RuleCheck::Merge(check) = self.check {
            check(merge, &mut sink);
        }
        let omitted = sink.omitted;
        (sink.without_fixes(), omitted)
    }

    /// Whether the rule is about changes: `diff` runs it, and `check` does not.
    pub fn is_of_change(&self) -> bool {
        matches!(self.check, RuleCheck::Merge(_))
    }

    /// Runs the rule on what became of the findings of a run.
    pub fn run_on_outcome(&'static self, outcome: &RunOutcome<'_>) -> Vec<Finding> {
        let mut sink = Sink::new(self);
        if let RuleCheck::Outcome(check) = self.check {
            check(outcome, &mut sink);
        }
        sink.without_fixes()
    }
}

/// The findings of one rule in one bundle that are kept: a file of a few megabytes can be wrong in a million places.
pub const MOST_FINDINGS: usize = 10_000;

/// Describes a rule and embeds its page.
macro_rules! rule {
    ($id:literal, $severity:ident, $consequence:ident, $summary:literal, $check:path) => {
        $crate::rules::rule::rule!($id, $severity, $consequence, $summary, $check, Shown)
    };
    ($id:literal, $severity:ident, $consequence:ident, $summary:literal, $check:path, $repeats:ident) => {
        $crate::rules::rule::rule!(
            @ $id, $severity, $consequence, $summary, $crate::rules::rule::RuleCheck::Bundle($check), $repeats
        )
    };
    ($id:literal, $severity:ident, $consequence:ident, $summary:literal, change $check:path) => {
        $crate::rules::rule::rule!(
            @ $id, $severity, $consequence, $summary, $crate::rules::rule::RuleCheck::Merge($check), Shown
        )
    };
    ($id:literal, $severity:ident, $consequence:ident, $summary:literal, outcome $check:path) => {
        $crate::rules::rule::rule!(
            @ $id, $severity, $consequence, $summary, $crate::rules::rule::RuleCheck::Outcome($check), Shown
        )
    };
    (@ $id:literal, $severity:ident, $consequence:ident, $summary:literal, $check:expr, $repeats:ident) => {
        $crate::rules::rule::Rule {
            id: $id,
            summary: $summary,
            severity: $crate::finding::Severity::$severity,
            consequence: $crate::finding::Consequence::$consequence,
            page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/", $id, ".md")),
            check: $check,
            repeats: $crate::rules::rule::Repeats::$repeats,
        }
    };
}
pub(super) use rule;

/// Collects the findings of one rule.
#[derive(Debug)]
pub struct Sink {
    rule: &'static Rule,
    found: Vec<(Finding, Option<Proposal>)>,
    /// Findings beyond the limit.
    omitted: usize,
}

impl Sink {
    fn new(rule: &'static Rule) -> Self {
        Self { rule, found: Vec::new(), omitted: 0 }
    }

    /// Adds a draft as a finding of this rule.
    pub fn push(&mut self, draft: Draft) {
        self.push_with(|| draft);
    }

    /// [`Self::push`], for findings of which an input may have a million: nobody words those beyond the limit.
    pub fn push_with(&mut self, draft: impl FnOnce() -> Draft) {
        if self.found.len() == MOST_FINDINGS {
            self.omitted += 1;
            return;
        }
        self.found.push(draft().into_finding(self.rule.id, self.rule.severity, self.rule.consequence));
    }

    /// What was found, without what would fix it.
    fn without_fixes(self) -> Vec<Finding> {
        self.found.into_iter().map(|(finding, _)| finding).collect()
    }

    /// Adds several drafts.
    pub fn extend(&mut self, drafts: impl IntoIterator<Item = Draft>) {
        drafts.into_iter().for_each(|draft| self.push(draft));
    }
}

/// What to say to somebody who names a rule that is none of `rules`.
pub(super) fn suggestion(id: &str, rules: &[&Rule]) -> String {
    near::did_you_mean(id, rules.iter().map(|rule| rule.id), || "`ownerlint rules` lists all rules".to_owned())
}
