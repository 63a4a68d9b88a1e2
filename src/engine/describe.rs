//! The program, its rules and a run, as reports name them.

use std::collections::BTreeMap;

use super::check::Check;
use super::input::Bundle;
use crate::finding::Severity;
use crate::report::{BundleInfo, RuleInfo, RunInfo, Tool};
use crate::rules::{Page, Rule, World};

/// The program as reports name it.
pub fn tool() -> Tool {
    Tool {
        name: env!("CARGO_PKG_NAME").to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        url: env!("CARGO_PKG_REPOSITORY").to_owned(),
    }
}

/// What a run was asked to read, and how.
pub(super) fn run_info(bundles: &[Bundle], check: &Check) -> RunInfo {
    let bundle = |bundle: &Bundle| BundleInfo {
        name: bundle.name.clone(),
        world: match bundle.world {
            World::Open => "open",
            World::Closed => "closed",
        },
        namespace: bundle.inventory.namespace.clone(),
    };
    RunInfo {
        configuration: check.configuration.clone(),
        baseline: check.baseline.as_ref().map(|(file, _)| file.path().to_owned()),
        bundles: bundles.iter().map(bundle).collect(),
    }
}

/// A rule as reports describe it.
pub fn describe(rule: &Rule) -> RuleInfo {
    let page = Page::parse(rule.page);
    RuleInfo {
        id: rule.id,
        summary: rule.summary.to_owned(),
        severity: rule.severity,
        consequence: rule.consequence,
        fixes: page.as_ref().map(|page| page.front_matter.fixes()).unwrap_or_default(),
        page: page.map_or(rule.page, |page| page.body).to_owned(),
        url: rule.url(),
    }
}

/// A rule with its severity in a run that gives some rules another one.
pub(super) fn describe_as(rule: &Rule, severities: &BTreeMap<&'static str, Severity>) -> RuleInfo {
    let severity = severities.get(rule.id).copied().unwrap_or(rule.severity);
    RuleInfo { severity, ..describe(rule) }
}
