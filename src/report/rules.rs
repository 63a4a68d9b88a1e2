//! `rules`: the registry, for people and scripts.

use serde::Serialize;

use super::KnownRule;
use crate::rules::Subject;

#[derive(Serialize)]
struct RulesDocument<'a> {
    schema: &'static str,
    rules: Vec<RuleJson<'a>>,
}

#[derive(Serialize)]
struct RuleJson<'a> {
    id: &'a str,
    subject: &'a str,
    severity: &'a str,
    consequence: &'a str,
    summary: &'a str,
    fixes: Vec<&'a str>,
    url: &'a str,
    page: &'a str,
}

/// Returns the contract `ownerlint.rules/1`, ending in a line break.
pub fn rules_json(rules: &[KnownRule]) -> String {
    let rules = rules.iter().map(|KnownRule { info, fixes }| RuleJson {
        id: info.id,
        subject: info.subject.name(),
        severity: info.severity.as_str(),
        consequence: info.consequence.as_str(),
        summary: info.summary,
        fixes: fixes.iter().map(|fix| fix.as_str()).collect(),
        url: &info.url,
        page: info.page,
    });
    super::line::line(serde_json::to_string_pretty(&RulesDocument {
        schema: "ownerlint.rules/1",
        rules: rules.collect(),
    }))
}

/// Lists the subjects with a line for each of their rules: severity, id, summary.
pub fn rules_human(rules: &[KnownRule]) -> String {
    let infos = rules.iter().map(|rule| &rule.info);
    let width = infos.clone().map(|rule| rule.id.len()).max();
    let width = width.unwrap_or_default();
    let subjects = Subject::ALL.into_iter().map(|subject| {
        let infos = infos.clone().filter(|rule| rule.subject == subject);
        let lines = infos.map(|rule| {
            let severity = rule.severity.as_str();
            format!("{severity:7}  {:width$}  {}\n", rule.id, rule.summary)
        });
        format!("{}\n{}\n", subject.name(), lines.collect::<String>())
    });
    let subjects: String = subjects.collect();
    format!(
        "{subjects}`ownerlint explain RULE` says why, and how to fix it. `--select` takes rules, subjects, and beginnings: owner-*.\n"
    )
}
