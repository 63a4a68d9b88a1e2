//! Values that `FromStr` or a table parses, and whose names completions and `--help` can still list.

use std::ffi::OsStr;
use std::marker::PhantomData;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command};

use crate::rules::{RULES, Subject};

/// A parser of `T` with names to list.
#[derive(Clone, Debug)]
pub(super) struct Known<T> {
    values: fn() -> Vec<String>,
    read: PhantomData<fn() -> T>,
}

/// Returns a parser of `T` that lists `values`; `T` may accept others.
pub(super) fn known<T>(values: fn() -> Vec<String>) -> Known<T> {
    Known {
        values,
        read: PhantomData,
    }
}

pub(super) fn rule_ids() -> Vec<String> {
    RULES.iter().map(|rule| rule.id.to_owned()).collect()
}

/// Returns the words that select rules, for completions: ids and subjects.
pub(super) fn rule_words() -> Vec<String> {
    let subjects = Subject::ALL.map(|subject| subject.name().to_owned());
    rule_ids().into_iter().chain(subjects).collect()
}

impl<T> TypedValueParser for Known<T>
where
    T: FromStr<Err: Into<Box<dyn std::error::Error + Send + Sync>>> + Clone + Send + Sync + 'static,
{
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        TypedValueParser::parse_ref(&T::from_str, command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(
            (self.values)().into_iter().map(PossibleValue::new),
        ))
    }
}

/// A parser of the words in a table.
#[derive(Clone)]
pub(super) struct OneOf<T: 'static>(pub(super) &'static [(&'static str, T)]);

impl<T> OneOf<T> {
    fn words(&self) -> PossibleValuesParser {
        PossibleValuesParser::new(self.0.iter().map(|(word, _)| *word))
    }
}

impl<T: Copy + Send + Sync + 'static> TypedValueParser for OneOf<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        // A value that is not Unicode matches no word, and the error lists the words.
        let value = value.to_string_lossy().into_owned();
        let word = self.words().parse(command, argument, value.into())?;
        let found = self.0.iter().find(|(known, _)| *known == word);
        Ok(found.expect("the parser accepts only these words").1)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let words = self.0.iter();
        Some(Box::new(words.map(|(word, _)| PossibleValue::new(*word))))
    }
}
