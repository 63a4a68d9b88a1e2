//! Rules on suppressions and baselines: each must be well-formed, give a reason and have an effect.

use crate::rules::draft::Draft;
use crate::rules::registry::{HOW_TO_LIST, find, suggestion};
use crate::rules::rule::{Context, Rule, RunOutcome, Sink, rule};
use crate::suppression::{Form, IdleCause, NamedRule};

pub(in crate::rules) static SUPPRESSION_MALFORMED: Rule = rule!(
    Reading,
    "suppression-malformed",
    Warning,
    Ignored,
    "A comment or annotation looks like a directive but is not one",
    suppression_malformed
);

pub(in crate::rules) static SUPPRESSION_UNKNOWN_RULE: Rule = rule!(
    Reading,
    "suppression-unknown-rule",
    Warning,
    Ignored,
    "A directive names a rule that does not exist",
    suppression_unknown_rule
);

pub(in crate::rules) static SUPPRESSION_WITHOUT_REASON: Rule = rule!(
    Reading,
    "suppression-without-reason",
    Info,
    Style,
    "A directive does not give a reason",
    suppression_without_reason
);

pub(in crate::rules) static SUPPRESSION_UNUSED: Rule = rule!(Reading, "suppression-unused", Warning, Style, "A suppression has no effect", outcome suppression_unused);

pub(in crate::rules) static BASELINE_STALE: Rule = rule!(
    Reading,
    "baseline-stale",
    Warning,
    Style,
    "The baseline lists a finding that no longer occurs",
    outcome baseline_stale
);

fn suppression_malformed(context: &Context<'_>, sink: &mut Sink) {
    for malformed in &context.directives.malformed {
        sink.push_with(|| {
            Draft::in_file(malformed.file, malformed.span, malformed.message)
                .reason("ownerlint does not understand the directive, so it has no effect.")
                .help("write `# ownerlint: ignore[rule-a, rule-b] reason`")
        });
    }
}

/// The maximum number of unknown names for which a suggestion is computed.
const MAX_SUGGESTED: usize = 100;

fn suppression_unknown_rule(context: &Context<'_>, sink: &mut Sink) {
    let mut suggested = 0;
    for directive in &context.directives.directives {
        for NamedRule { id, span } in &directive.rules {
            if find(id).is_some() {
                continue;
            }
            suggested += 1;
            sink.push_with(|| {
                Draft::in_file(directive.file, *span, format!("there is no rule `{id}`"))
                    .reason("This part of the directive has no effect.")
                    .help(if suggested > MAX_SUGGESTED {
                        HOW_TO_LIST.to_owned()
                    } else {
                        suggestion(id)
                    })
                    .target(id.clone())
            });
        }
    }
}

fn suppression_without_reason(context: &Context<'_>, sink: &mut Sink) {
    for directive in &context.directives.directives {
        if directive.reason.is_some() {
            continue;
        }
        sink.push_with(|| {
            let ids: Vec<_> = directive.rules.iter().map(|rule| rule.id.as_str()).collect();
            let help = match directive.form {
                Form::Comment | Form::Document => {
                    "say after the brackets why the finding is acceptable here, or when it will be fixed"
                }
                Form::Annotation => {
                    "say in the annotation's value why the finding is acceptable here, or when it will be fixed"
                }
            };
            Draft::in_file(directive.file, directive.place, "a suppression without a reason")
                .reason("The next reader cannot tell whether it still applies.")
                .help(help)
                .target(ids.join(","))
        });
    }
}

fn suppression_unused(outcome: &RunOutcome<'_>, sink: &mut Sink) {
    for idle in outcome.idle {
        let rule = &idle.rule;
        let (message, reason, help) = match &idle.cause {
            IdleCause::Directive(form) => (
                format!("`{rule}` has nothing to suppress here"),
                match form {
                    Form::Comment => "The rule finds nothing in the node that the comment covers.",
                    Form::Document => "The rule finds nothing in this document.",
                    Form::Annotation => "The rule finds nothing in this object.",
                },
                "remove it: it would hide the next finding of this rule",
            ),
            IdleCause::Ignore { object } => (
                format!("`{rule}` has nothing to suppress on `{object}`"),
                "The rule finds nothing on these objects.",
                "remove it: it would hide the next finding of this rule",
            ),
            IdleCause::Expired { object, on } => (
                format!("the ignore of `{rule}` on `{object}` expired on {on}"),
                "From the next day on, the findings are reported again.",
                "fix what it hid, or give it a new date and say why",
            ),
        };
        sink.push(
            Draft::in_file(idle.file, idle.span, message)
                .reason(reason)
                .help(help)
                .target(rule.clone()),
        );
    }
}

fn baseline_stale(outcome: &RunOutcome<'_>, sink: &mut Sink) {
    for stale in outcome.stale {
        let identity = &stale.identity;
        let about = identity.object.as_ref().or(identity.target.as_ref());
        let about = about.map_or_else(String::new, |about| format!(" on `{about}`"));
        let message = match stale.found {
            0 => format!("`{}`{about} is no longer found", identity.rule),
            found => format!(
                "the baseline allows {} of `{}`{about}; {found} found",
                stale.known, identity.rule
            ),
        };
        let target = [&identity.object, &identity.field, &identity.target];
        let target = target.map(|part| part.as_deref().unwrap_or_default());
        sink.push(
            Draft::in_file(stale.file, stale.span, message)
                .reason("As long as the baseline lists it, the defect can come back unnoticed.")
                .help("run `ownerlint baseline prune`")
                .target(format!("{} {}", identity.rule, target.join(" "))),
        );
    }
}
