//! The program, its rules and a run, as reports name them.

use std::collections::BTreeMap;

use super::check::Check;
use super::input::Bundle;
use crate::finding::Severity;
use crate::report::{BundleInfo, KnownRule, RuleInfo, RunInfo, Tool};
use crate::rules::{Page, Rule, World};

/// Describes the program.
pub fn tool() -> Tool {
    Tool {
        name: env!("CARGO_PKG_NAME").to_owned(),
        version: crate::VERSION.to_owned(),
        url: env!("CARGO_PKG_REPOSITORY").to_owned(),
    }
}

/// Describes the input and the options of a run.
pub(super) fn run_info(bundles: &[Bundle], check: &Check) -> RunInfo {
    RunInfo {
        configuration: check.configuration.clone(),
        baseline: check
            .baseline
            .as_ref()
            .map(|(file, _)| file.path().to_owned()),
        bundles: bundles
            .iter()
            .map(|bundle| BundleInfo {
                name: bundle.name.clone(),
                world: match bundle.world {
                    World::Open => "open",
                    World::Closed => "closed",
                },
                namespace: bundle.inventory.namespace.clone(),
            })
            .collect(),
    }
}

/// Describes a rule, for `rules` and `explain`.
pub fn describe(rule: &Rule) -> KnownRule {
    KnownRule {
        info: info(rule, rule.severity),
        fixes: rule.fixes.to_vec(),
    }
}

/// Describes a rule for the report of a run, with the severity that the configuration gives it.
pub(super) fn describe_as(rule: &Rule, severities: &BTreeMap<&'static str, Severity>) -> RuleInfo {
    info(
        rule,
        severities.get(rule.id).copied().unwrap_or(rule.severity),
    )
}

fn info(rule: &Rule, severity: Severity) -> RuleInfo {
    RuleInfo {
        id: rule.id,
        subject: rule.subject,
        summary: rule.summary,
        severity,
        consequence: rule.consequence,
        is_unread: rule.is_unread,
        page: Page::parts(rule.page).map_or(rule.page, |(_, body)| body),
        url: rule.url(),
    }
}
