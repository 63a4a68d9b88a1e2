//! The type of a rule, its input, and the sink for its findings.

use super::Subject;
use super::draft::Draft;
use super::proposal::{Proposal, fixed};
use crate::baseline::Stale;
use crate::cluster::{Analysis, PlanCache};
use crate::delivery::Removal;
use crate::finding::{Applicability, Consequence, Finding, Fixes, Severity};
use crate::gc::Step;
use crate::inventory::{Inventory, Member};
use crate::kube::ObjectKey;
use crate::manifest::OwnerReference;
use crate::merge::Merge;
use crate::ownership::{OwnerEdge, Ownership};
use crate::suppression::{Directives, Idle};
use crate::text::Side;

/// Whether the input is treated as the whole cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, schemars::JsonSchema)]
#[schemars(rename = "world", rename_all = "lowercase")]
pub enum World {
    /// Objects outside the input may exist: absence proves nothing.
    #[default]
    Open,
    /// The input is the whole cluster.
    Closed,
}

/// The input of a rule.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The objects of the bundle.
    pub inventory: &'a Inventory,
    /// The ownership edges between them.
    pub ownership: &'a Ownership,
    /// Further facts about the bundle, each computed once.
    pub analysis: &'a Analysis<'a>,
    /// A cache of simulations on the bundle's cluster.
    pub plans: &'a PlanCache<'a>,
    /// Whether absence from the input proves anything.
    pub world: World,
    /// The directives that suppress findings.
    pub directives: &'a Directives,
}

impl<'a> Context<'a> {
    /// Returns every written owner reference: its edge, the dependent, and the reference itself.
    pub(super) fn references(
        &self,
    ) -> impl Iterator<Item = (&'a OwnerEdge, &'a Member, &'a OwnerReference)> {
        let inventory = self.inventory;
        let edges = self.ownership.written.iter();
        edges.map(move |edge| (edge, edge.dependent(inventory), edge.reference(inventory)))
    }

    /// Whether an object is spared from a removal.
    pub(super) fn is_spared(&self, member: &Member, removal: Removal) -> bool {
        let deliveries = self.analysis.deliveries();
        deliveries.spared(self.inventory, member, removal).is_some()
    }
}

/// The result of a run: the input of rules on suppressions and baselines.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunOutcome<'a> {
    /// Suppressions without effect.
    pub idle: &'a [Idle],
    /// Known findings that the run did not find.
    pub stale: &'a [Stale],
}

/// The input of a rule, and its function.
#[derive(Clone, Copy, Debug)]
pub enum RuleCheck {
    /// Checks a bundle.
    Bundle(fn(&Context<'_>, &mut Sink)),
    /// Checks the effects of merging a change on one part of a tree.
    Merge(fn(&Merge<'_>, &mut Sink)),
    /// Checks the findings of all bundles.
    Outcome(fn(&RunOutcome<'_>, &mut Sink)),
}

/// How repeated findings are shown. Suppressions, baselines and fingerprints handle each finding on its own; only the
/// output combines them, and it keeps every place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// Every finding is shown.
    Shown,
    /// Findings with places in the same files are shown as one.
    OncePerFiles,
    /// Findings of one file with the same message are shown as one.
    OncePerMessage,
}

/// Returns the step whose cascade explains a finding on an object, and a title for it.
pub type CascadeOf = fn(&ObjectKey) -> (Step, String);

/// One rule.
#[derive(Debug)]
pub struct Rule {
    /// The id in kebab-case. It names the defect and reads well after "ignore".
    pub id: &'static str,
    /// The subject of the rule.
    pub subject: Subject,
    /// A one-line summary.
    pub summary: &'static str,
    /// The severity unless a finding says otherwise.
    pub severity: Severity,
    /// The consequence unless a finding says otherwise.
    pub consequence: Consequence,
    /// The page `rules/<id>.md`, front matter included.
    pub page: &'static str,
    /// The function that looks for the defect.
    pub check: RuleCheck,
    /// How its repeated findings are shown.
    pub repeats: Repeats,
    /// How its fixes may be applied, for each kind of fix that it offers; empty if it offers none.
    pub fixes: &'static [Applicability],
    /// Whether a finding depends on a single object.
    pub reads_one_object: bool,
    /// Whether it takes long: it looks at every object or simulates deletions. Slow rules start first, so that no
    /// thread waits for them.
    pub is_slow: bool,
    /// Whether its findings mean that some input was not read.
    pub is_unread: bool,
    /// Whether its findings matter only for documents that are meant to be applied.
    pub is_of_applied: bool,
    /// The cascade that explains its findings.
    pub cascade: Option<CascadeOf>,
}

impl Rule {
    /// The folder of the repository with the generated rule pages, to which links lead; their sources are in `rules/`.
    pub const PAGES: &'static str = "docs/rules";

    pub(super) const fn once_per_files(mut self) -> Self {
        self.repeats = Repeats::OncePerFiles;
        self
    }

    pub(super) const fn once_per_message(mut self) -> Self {
        self.repeats = Repeats::OncePerMessage;
        self
    }

    pub(super) const fn fixes(mut self, fixes: &'static [Applicability]) -> Self {
        self.fixes = fixes;
        self
    }

    pub(super) const fn of_one_object(mut self) -> Self {
        self.reads_one_object = true;
        self
    }

    pub(super) const fn of_applied(mut self) -> Self {
        self.is_of_applied = true;
        self
    }

    pub(super) const fn slow(mut self) -> Self {
        self.is_slow = true;
        self
    }

    pub(super) const fn of_unread_input(mut self) -> Self {
        self.is_unread = true;
        self
    }

    pub(super) const fn cascade(mut self, cascade: CascadeOf) -> Self {
        self.cascade = Some(cascade);
        self
    }

    /// Returns the address of the page on the web.
    pub fn url(&self) -> String {
        format!(
            "{}/blob/main/{}/{}.md",
            env!("CARGO_PKG_REPOSITORY"),
            Self::PAGES,
            self.id
        )
    }

    /// Runs the rule on a bundle. Returns its findings, and the numbers of those that limits left out.
    pub fn run(
        &'static self,
        context: &Context<'_>,
        fixes: Fixes,
        shown: Shown<'_>,
    ) -> (Vec<Finding>, Omitted) {
        let mut sink = Sink::new(self, shown);
        if let RuleCheck::Bundle(check) = self.check {
            check(context, &mut sink);
        }
        let (found, omitted) = sink.finish();
        let found = match fixes {
            Fixes::WorkedOut => fixed(context.inventory, found, |_| true),
            Fixes::OfUnsavedTexts => fixed(context.inventory, found, |file| {
                file.side() == Side::Unsaved
            }),
            Fixes::LeftOut => without_fixes(found),
        };
        (found, omitted)
    }

    /// Runs the rule on a change. Returns its findings, without fixes, and the numbers of those that limits left out.
    pub fn run_on_merge(
        &'static self,
        merge: &Merge<'_>,
        shown: Shown<'_>,
    ) -> (Vec<Finding>, Omitted) {
        let mut sink = Sink::new(self, shown);
        if let RuleCheck::Merge(check) = self.check {
            check(merge, &mut sink);
        }
        let (found, omitted) = sink.finish();
        (without_fixes(found), omitted)
    }

    /// Whether the rule is about changes: `diff` runs it, and `check` does not.
    pub fn is_of_change(&self) -> bool {
        matches!(self.check, RuleCheck::Merge(_))
    }

    /// Runs the rule on the suppressions and the baseline after a run.
    pub fn run_on_outcome(&'static self, outcome: &RunOutcome<'_>) -> Vec<Finding> {
        let mut sink = Sink::new(self, &|_| true);
        if let RuleCheck::Outcome(check) = self.check {
            check(outcome, &mut sink);
        }
        without_fixes(sink.finish().0)
    }
}

/// The maximum number of findings of one rule in one bundle that are kept, highest severity first. Findings that a
/// report shows and those that it does not show are limited separately.
pub const MAX_FINDINGS: usize = 10_000;

/// Checks whether a report shows a finding: it is neither suppressed nor in the baseline nor out of scope.
pub type Shown<'r> = &'r (dyn Fn(&Finding) -> bool + Sync);

/// The numbers of findings beyond [`MAX_FINDINGS`], and of cases that a rule did not try.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Omitted {
    /// Findings that a report would show.
    pub shown: usize,
    /// Other findings.
    pub hidden: usize,
    /// Cases that the rule did not examine, because each takes much work.
    pub untried: usize,
}

/// Describes a rule and embeds its page.
macro_rules! rule {
    ($subject:ident, $id:literal, $severity:ident, $consequence:ident, $summary:literal, $check:path) => {
        $crate::rules::rule::rule!(@ $subject, $id, $severity, $consequence, $summary, Bundle($check))
    };
    ($subject:ident, $id:literal, $severity:ident, $consequence:ident, $summary:literal, change $check:path) => {
        $crate::rules::rule::rule!(@ $subject, $id, $severity, $consequence, $summary, Merge($check))
    };
    ($subject:ident, $id:literal, $severity:ident, $consequence:ident, $summary:literal, outcome $check:path) => {
        $crate::rules::rule::rule!(@ $subject, $id, $severity, $consequence, $summary, Outcome($check))
    };
    (@ $subject:ident, $id:literal, $severity:ident, $consequence:ident, $summary:literal, $kind:ident($check:path)) => {
        $crate::rules::rule::Rule {
            id: $id,
            subject: $crate::rules::Subject::$subject,
            summary: $summary,
            severity: $crate::finding::Severity::$severity,
            consequence: $crate::finding::Consequence::$consequence,
            page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/", $id, ".md")),
            check: $crate::rules::rule::RuleCheck::$kind($check),
            repeats: $crate::rules::rule::Repeats::Shown,
            fixes: &[],
            reads_one_object: false,
            is_slow: false,
            is_unread: false,
            is_of_applied: false,
            cascade: None,
        }
    };
}
pub(super) use rule;

/// Collects the findings of one rule.
pub struct Sink<'r> {
    rule: &'static Rule,
    shown: Shown<'r>,
    found: Vec<(Finding, Option<Proposal>)>,
    omitted: Omitted,
    /// Whether later findings are only counted, because all kept ones have the highest severity.
    is_full: bool,
}

impl<'r> Sink<'r> {
    fn new(rule: &'static Rule, shown: Shown<'r>) -> Self {
        Self {
            rule,
            shown,
            found: Vec::new(),
            omitted: Omitted::default(),
            is_full: false,
        }
    }

    /// Adds a draft as a finding of this rule.
    pub fn push(&mut self, draft: Draft) {
        self.push_with(|| draft);
    }

    /// Adds a finding of this rule. `draft` is not called if the finding would only be counted.
    pub fn push_with(&mut self, draft: impl FnOnce() -> Draft) {
        if self.is_full {
            self.omitted.shown += 1;
            return;
        }
        self.found.push(draft().into_finding(
            self.rule.id,
            self.rule.severity,
            self.rule.consequence,
        ));
        // At most two thirds are kept, so that each finding is sorted only a few times.
        if self.found.len() == 3 * MAX_FINDINGS {
            self.trim();
        }
    }

    /// Keeps [`MAX_FINDINGS`] that a report shows, and as many others, highest severity first. Called only with
    /// more than [`MAX_FINDINGS`] findings.
    fn trim(&mut self) {
        let (mut shown, mut hidden): (Vec<_>, Vec<_>) = std::mem::take(&mut self.found)
            .into_iter()
            .partition(|(finding, _)| (self.shown)(finding));
        for (kept, omitted) in [
            (&mut shown, &mut self.omitted.shown),
            (&mut hidden, &mut self.omitted.hidden),
        ] {
            kept.sort_by_key(|(finding, _)| std::cmp::Reverse(finding.severity));
            *omitted += kept.len().saturating_sub(MAX_FINDINGS);
            kept.truncate(MAX_FINDINGS);
        }
        self.is_full = hidden.is_empty()
            && shown
                .last()
                .is_some_and(|(finding, _)| finding.severity == Severity::Error);
        self.found = shown;
        self.found.append(&mut hidden);
    }

    fn finish(mut self) -> (Vec<(Finding, Option<Proposal>)>, Omitted) {
        if self.found.len() > MAX_FINDINGS {
            self.trim();
        }
        (self.found, self.omitted)
    }

    /// Counts cases that the rule does not examine.
    pub fn leave_untried(&mut self, cases: usize) {
        self.omitted.untried += cases;
    }

    /// Adds several drafts.
    pub fn extend(&mut self, drafts: impl IntoIterator<Item = Draft>) {
        for draft in drafts {
            self.push(draft);
        }
    }
}

/// Discards the proposals of findings.
fn without_fixes(found: Vec<(Finding, Option<Proposal>)>) -> Vec<Finding> {
    found.into_iter().map(|(finding, _)| finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{FileId, Span};

    use crate::rules::RULES;

    fn draft(severity: Severity, at: u32) -> Draft {
        Draft::in_file(FileId(0), Span::empty(at), "wrong").severity(severity)
    }

    fn begins_at_one(finding: &Finding) -> bool {
        finding.primary.span.start == 1
    }

    /// Returns the severities of the findings that are kept, and the numbers of the others.
    fn kept(found: &[(Severity, usize)]) -> (Vec<Severity>, Omitted) {
        let mut sink = Sink::new(RULES[0], &|_| true);
        for (severity, count) in found {
            sink.extend((0..*count).map(|_| draft(*severity, 0)));
        }
        let (found, omitted) = sink.finish();
        let severities = without_fixes(found).into_iter();
        (
            severities.map(|finding| finding.severity).collect(),
            omitted,
        )
    }

    #[test]
    fn sink_keeps_the_most_severe_findings() {
        let (severities, omitted) =
            kept(&[(Severity::Warning, 5 * MAX_FINDINGS), (Severity::Error, 1)]);
        assert_eq!(
            (severities.len(), severities[0]),
            (MAX_FINDINGS, Severity::Error)
        );
        assert_eq!(
            omitted,
            Omitted {
                shown: 4 * MAX_FINDINGS + 1,
                ..Omitted::default()
            }
        );
        let (severities, omitted) =
            kept(&[(Severity::Error, 5 * MAX_FINDINGS), (Severity::Info, 1)]);
        assert_eq!(severities, vec![Severity::Error; MAX_FINDINGS]);
        assert_eq!(omitted.shown, 4 * MAX_FINDINGS + 1);
    }

    #[test]
    fn sink_counts_hidden_findings_separately() {
        let mut sink = Sink::new(RULES[0], &begins_at_one);
        sink.push(draft(Severity::Error, 1));
        sink.extend((0..5 * MAX_FINDINGS).map(|_| draft(Severity::Error, 0)));
        sink.push(draft(Severity::Error, 1));
        let (found, omitted) = sink.finish();
        let mut shown = without_fixes(found);
        shown.retain(begins_at_one);
        assert_eq!(shown.len(), 2);
        assert_eq!(
            omitted,
            Omitted {
                hidden: 4 * MAX_FINDINGS,
                ..Omitted::default()
            }
        );
    }
}
