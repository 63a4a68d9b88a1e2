//! `rules`: the registry, for people and scripts.

use serde::Serialize;

use super::RuleInfo;

#[derive(Serialize)]
struct RulesDocument<'a> {
    schema: &'static str,
    rules: Vec<RuleJson<'a>>,
}

#[derive(Serialize)]
struct RuleJson<'a> {
    id: &'a str,
    severity: &'a str,
    consequence: &'a str,
    summary: &'a str,
    fixes: Vec<&'a str>,
    url: &'a str,
    page: &'a str,
}

/// The contract `ownerlint.rules/1`, ending in a line break.
pub fn rules_json(rules: &[RuleInfo]) -> String {
    let rules = rules.iter().map(|rule| RuleJson {
        id: rule.id,
        severity: rule.severity.as_str(),
        consequence: rule.consequence.as_str(),
        summary: &rule.summary,
        fixes: rule.fixes.iter().map(|fix| fix.as_str()).collect(),
        url: &rule.url,
        page: &rule.page,
    });
    super::line::line(serde_json::to_string_pretty(&RulesDocument {
        schema: "ownerlint.rules/1",
        rules: rules.collect(),
    }))
}

/// A line per rule: severity, id, what it flags.
pub fn rules_human(rules: &[RuleInfo]) -> String {
    let width = rules.iter().map(|rule| rule.id.len()).max().unwrap_or_default();
    let line = |rule: &RuleInfo| format!("{:7}  {:width$}  {}\n", rule.severity.as_str(), rule.id, rule.summary);
    let lines: String = rules.iter().map(line).collect();
    format!("{lines}\n`ownerlint explain RULE` says why, and how to fix it.\n")
}
