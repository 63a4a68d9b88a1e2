//! The choice of the rules to run.

use miette::Diagnostic;
use thiserror::Error;

use crate::config::Config;
use crate::rules::{self, RULES, Rule};

/// A word that matches no rule.
#[derive(Clone, Debug, Error, Diagnostic, PartialEq, Eq)]
#[error("there is no rule `{id}`")]
#[non_exhaustive]
pub struct UnknownRule {
    /// The word.
    pub id: String,
    /// A suggestion.
    #[help]
    pub help: String,
}

impl UnknownRule {
    /// Builds the error for `id`, with the most similar rule as a suggestion.
    #[doc(hidden)]
    pub fn new(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            help: rules::suggestion(id),
        }
    }
}

/// A choice among the rules: all of them unless some are selected, without those that are ignored.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    select: Vec<&'static Rule>,
    ignore: Vec<&'static Rule>,
}

impl Selection {
    /// Selects rules by id, subject (`references`) or prefix (`owner-*`); an empty `select` means all rules.
    ///
    /// # Errors
    /// A word that matches no rule.
    pub fn new(select: &[String], ignore: &[String]) -> Result<Self, UnknownRule> {
        Ok(Self {
            select: find_all(select)?,
            ignore: find_all(ignore)?,
        })
    }

    /// Selects rules like [`Self::new`], without those that the configuration turns off, except
    /// rules that are selected by their ids.
    pub(super) fn configured(
        config: Option<&Config>,
        select: &[String],
        ignore: &[String],
    ) -> Result<Self, UnknownRule> {
        let off = config.iter().flat_map(|config| &config.off);
        let off = off
            .map(|id| (*id).to_owned())
            .filter(|id| !select.contains(id));
        let ignore: Vec<_> = ignore.iter().cloned().chain(off).collect();
        Self::new(select, &ignore)
    }

    /// Returns the chosen rules that `check` runs, in the registry's order.
    pub fn rules(&self) -> Vec<&'static Rule> {
        self.chosen().filter(|rule| !rule.is_of_change()).collect()
    }

    /// Returns the chosen rules that `diff` runs, in the registry's order.
    pub fn rules_of_change(&self) -> Vec<&'static Rule> {
        self.chosen().filter(|rule| rule.is_of_change()).collect()
    }

    /// Returns the first chosen rule if `select` is not empty.
    pub(super) fn first_by_name(&self) -> Option<&'static Rule> {
        self.chosen().find(|_| !self.select.is_empty())
    }

    fn chosen(&self) -> impl Iterator<Item = &'static Rule> {
        let chosen = RULES
            .iter()
            .copied()
            .filter(move |rule| self.select.is_empty() || is_among(&self.select, rule));
        chosen.filter(move |rule| !is_among(&self.ignore, rule))
    }
}

fn is_among(rules: &[&Rule], rule: &Rule) -> bool {
    rules.iter().any(|other| other.id == rule.id)
}

fn find_all(words: &[String]) -> Result<Vec<&'static Rule>, UnknownRule> {
    let found = words.iter().map(|word| find(word));
    Ok(found.collect::<Result<Vec<_>, _>>()?.concat())
}

fn find(word: &str) -> Result<Vec<&'static Rule>, UnknownRule> {
    if let Some(rule) = rules::find(word) {
        return Ok(vec![rule]);
    }
    let meant: Vec<_> = RULES
        .iter()
        .copied()
        .filter(|rule| match word.strip_suffix('*') {
            Some(start) => rule.id.starts_with(start),
            None => rule.subject.name() == word,
        })
        .collect();
    if meant.is_empty() {
        return Err(UnknownRule::new(word));
    }
    Ok(meant)
}
