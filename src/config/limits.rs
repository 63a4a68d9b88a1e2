//! The limits that a configuration sets: `limits: {instances, deliveries, bundles, nesting, text}`.

use super::value::Values;
use super::{Config, Mistake};
use crate::text::Limits;
use crate::yaml::Entry;

pub(super) const LIMITS: &[&str] = &["instances", "deliveries", "bundles", "nesting", "text"];

pub(super) fn limits(values: Values<'_>, field: Entry<'_>) -> Result<Limits, Mistake> {
    let mut limits = Limits::default();
    for field in values.fields(field.value, "`limits`", LIMITS)? {
        let limit = match field.key {
            "instances" => &mut limits.instances,
            "deliveries" => &mut limits.deliveries,
            "bundles" => &mut limits.bundles,
            "nesting" => &mut limits.nesting,
            _ => &mut limits.text,
        };
        let number = field
            .value
            .as_int()
            .and_then(|number| usize::try_from(number).ok());
        *limit = number.filter(|number| *number > 0).ok_or_else(|| {
            let message = format!("has a malformed limit for `{}`", field.key);
            let mistake = values.mistake(field.value.span(), message);
            mistake.help("write a whole number, at least 1")
        })?;
    }
    Ok(limits)
}

impl Config {
    /// Returns the configuration, unless it has more bundles than its limits allow.
    ///
    /// # Errors
    /// There are too many bundles.
    pub fn within_limits(self) -> Result<Self, Mistake> {
        let (bundles, limit) = (self.bundles.len(), self.limits.bundles);
        if bundles <= limit {
            return Ok(self);
        }
        let message = format!("has {bundles} bundles, more than {limit}");
        let mistake = Mistake::at(&self.source, self.bundles_place, message);
        Err(mistake
            .help(format!("one bundle may have many paths; to allow more bundles: `limits: {{bundles: {bundles}}}`")))
    }
}
