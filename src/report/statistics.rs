//! `check --statistics`: the number of findings of each rule, as a table.

use std::fmt::Display;

use super::model::RuleStatistics;

/// The columns after the rule.
const COLUMNS: [&str; 5] = ["errors", "warnings", "infos", "suppressed", "undelivered"];

/// Renders a line for each rule, and the sums.
pub(super) fn table(statistics: &[RuleStatistics]) -> String {
    let rules = statistics.iter().map(|rule| (rule.rule, rule.counts()));
    let mut sums = [0; COLUMNS.len()];
    for rule in statistics {
        for (sum, count) in sums.iter_mut().zip(rule.counts()) {
            *sum += count;
        }
    }
    let width = statistics.iter().map(|rule| rule.rule.len()).max();
    let width = width.unwrap_or_default().max("rule".len());
    let head = row(width, "rule", COLUMNS);
    let lines: String = rules
        .map(|(rule, counts)| row(width, rule, counts))
        .collect();
    format!("{head}{lines}{}", row(width, "all", sums))
}

fn row(width: usize, name: &str, cells: [impl Display; COLUMNS.len()]) -> String {
    let cells = cells.iter().zip(COLUMNS);
    let cells: String = cells
        .map(|(cell, column)| format!("  {cell:>width$}", width = column.len()))
        .collect();
    format!("{name:width$}{cells}\n")
}
