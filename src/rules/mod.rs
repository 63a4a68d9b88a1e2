//! The rules: each a static description beside a function, and a page `rules/<id>.md`.
//!
//! A rule reads a [`Context`] and pushes [`Draft`]s into a [`Sink`], which stamps them with the rule's id and default
//! severity, so that no rule can mislabel itself. Families live in one file each; [`RULES`] is the one registry.

mod draft;
mod finalizer_lifecycle;
mod finalizer_syntax;
mod finalizer_template;
mod finalizer_words;
mod holder;
mod metadata;
mod operator;
mod owner_graph;
mod owner_identity;
mod owner_shape;
mod page;
mod reading;
mod scope;
pub(crate) mod simulation;
mod suppressing;
mod words;

use crate::baseline::Stale;
use crate::cluster::{Analysis, Verdicts};
use crate::finding::{Consequence, Finding, Severity};
use crate::inventory::Inventory;
use crate::ownership::Ownership;
use crate::suppression::{Directives, Idle};
use crate::text::near;

pub use draft::{Draft, Sink};
pub use page::{Example, FrontMatter, Page, PageError};

/// Whether the input is taken for a whole cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum World {
    /// Objects outside of the input may exist: absence proves nothing.
    #[default]
    Open,
    /// The input is all there is.
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
    /// The directives that silence findings.
    pub directives: &'a Directives,
}

/// What became of the findings of a run: what rules on suppressions and baselines look at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome<'a> {
    /// Suppressions that took nothing away.
    pub idle: &'a [Idle],
    /// What the baseline knows and the run did not find.
    pub stale: &'a [Stale],
}

/// How a rule looks for its defect.
#[derive(Clone, Copy, Debug)]
pub enum Check {
    /// In a bundle.
    Bundle(fn(&Context<'_>, &mut Sink)),
    /// In what became of the findings of all bundles.
    Outcome(fn(&Outcome<'_>, &mut Sink)),
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
    pub check: Check,
}

impl Rule {
    /// The folder of the repository with the pages that links lead to; they are generated from `rules/`.
    pub const PAGES: &'static str = "docs/rules";

    /// The page on the web.
    pub fn url(&self) -> String {
        format!("{}/blob/main/{}/{}.md", env!("CARGO_PKG_REPOSITORY"), Self::PAGES, self.id)
    }

    /// Runs the rule on a bundle.
    pub fn run(&'static self, context: &Context<'_>) -> Vec<Finding> {
        let mut sink = Sink::new(self);
        if let Check::Bundle(check) = self.check {
            check(context, &mut sink);
        }
        sink.into_findings()
    }

    /// Runs the rule on what became of the findings of a run.
    pub fn run_on_outcome(&'static self, outcome: &Outcome<'_>) -> Vec<Finding> {
        let mut sink = Sink::new(self);
        if let Check::Outcome(check) = self.check {
            check(outcome, &mut sink);
        }
        sink.into_findings()
    }
}

/// Describes a rule and embeds its page.
macro_rules! rule {
    ($id:literal, $severity:ident, $consequence:ident, $summary:literal, $check:path) => {
        $crate::rules::rule!(@ $id, $severity, $consequence, $summary, $crate::rules::Check::Bundle($check))
    };
    ($id:literal, $severity:ident, $consequence:ident, $summary:literal, outcome $check:path) => {
        $crate::rules::rule!(@ $id, $severity, $consequence, $summary, $crate::rules::Check::Outcome($check))
    };
    (@ $id:literal, $severity:ident, $consequence:ident, $summary:literal, $check:expr) => {
        $crate::rules::Rule {
            id: $id,
            summary: $summary,
            severity: $crate::finding::Severity::$severity,
            consequence: $crate::finding::Consequence::$consequence,
            page: include_str!(concat!("../../rules/", $id, ".md")),
            check: $check,
        }
    };
}
use rule;

/// Every rule, in the order in which they are listed.
pub static RULES: &[&Rule] = &[
    &scope::OWNER_OF_CLUSTER_SCOPED,
    &scope::OWNER_CROSS_NAMESPACE,
    &scope::OWNER_KIND_UNRESOLVABLE,
    &scope::KIND_NOT_SERVED,
    &owner_shape::OWNER_MISSING_FIELD,
    &owner_shape::OWNER_WRONG_TYPE,
    &owner_shape::OWNER_EVENT,
    &owner_shape::OWNER_MULTIPLE_CONTROLLERS,
    &owner_shape::OWNER_DUPLICATE,
    &owner_shape::OWNER_SAME_UID,
    &owner_shape::OWNER_UNKNOWN_FIELD,
    &owner_identity::OWNER_LITERAL_UID,
    &owner_identity::OWNER_IDENTITY_MISMATCH,
    &owner_identity::OWNER_NOT_FOUND,
    &owner_graph::OWNER_SELF,
    &owner_graph::OWNER_CYCLE,
    &metadata::METADATA_UNKNOWN_FIELD,
    &metadata::OBJECT_WITHOUT_NAME,
    &metadata::LIVE_OBJECT,
    &finalizer_syntax::FINALIZER_INVALID_NAME,
    &finalizer_syntax::FINALIZER_WRONG_TYPE,
    &finalizer_syntax::FINALIZER_CONFLICT,
    &finalizer_syntax::FINALIZER_UNQUALIFIED,
    &finalizer_lifecycle::FINALIZER_PRESET_GC,
    &finalizer_lifecycle::FINALIZER_UNKNOWN,
    &finalizer_lifecycle::FINALIZER_RUNTIME,
    &finalizer_lifecycle::FINALIZER_MISPLACED,
    &finalizer_lifecycle::NAMESPACE_SPEC_FINALIZERS,
    &finalizer_template::TEMPLATE_FINALIZER,
    &simulation::DELETED_ON_ARRIVAL,
    &simulation::FOREGROUND_DEADLOCK,
    &simulation::NAMESPACE_NEVER_EMPTIES,
    &operator::OPERATOR_DELETED_FIRST,
    &reading::UNREADABLE_FILE,
    &reading::UNREADABLE_DOCUMENT,
    &reading::DUPLICATE_KEY,
    &reading::DROPPED_CONTENT,
    &reading::NONSTANDARD_YAML,
    &reading::DUPLICATE_OBJECT,
    &suppressing::SUPPRESSION_MALFORMED,
    &suppressing::SUPPRESSION_UNKNOWN_RULE,
    &suppressing::SUPPRESSION_WITHOUT_REASON,
    &suppressing::SUPPRESSION_UNUSED,
    &suppressing::BASELINE_STALE,
];

/// What to say to somebody who names a rule that does not exist.
pub(crate) fn suggestion(id: &str) -> String {
    near::did_you_mean(id, RULES.iter().map(|rule| rule.id), || "`ownerlint rules` lists all rules".to_owned())
}

/// The rule of an id.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}
