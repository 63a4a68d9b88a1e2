//! The program and its rules, as reports name them.

use crate::report::{RuleInfo, Tool};
use crate::rules::{Page, Rule};

/// The program as reports name it.
pub fn tool() -> Tool {
    Tool {
        name: env!("CARGO_PKG_NAME").to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        url: env!("CARGO_PKG_REPOSITORY").to_owned(),
    }
}

/// A rule as reports describe it.
pub fn describe(rule: &Rule) -> RuleInfo {
    RuleInfo {
        id: rule.id,
        summary: rule.summary.to_owned(),
        severity: rule.severity,
        consequence: rule.consequence,
        page: Page::parse(rule.page).map_or(rule.page, |page| page.body).to_owned(),
        url: rule.url(),
    }
}
