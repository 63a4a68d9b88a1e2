//! Times as Go reads them.

use jiff::civil::Date;

/// Whether Go's `time.Parse(time.RFC3339, …)`, which `metav1.Time` calls, accepts `text`. The
/// grammar is Go's own: an hour may have one digit, a fraction may follow a comma, an offset may
/// say 24 hours and 60 minutes, and there is no leap second (`parse` in Go's `time/format.go`).
pub(super) fn is_time(text: &str) -> bool {
    Remaining(text).check().unwrap_or(false)
}

/// The remaining text. The methods return `None` if the text has another form.
struct Remaining<'a>(&'a str);

impl Remaining<'_> {
    /// Whether the whole text is a time whose parts are in range.
    fn check(mut self) -> Option<bool> {
        let year = self.number(4)?;
        let month = self.literal("-")?.number(2)?;
        let day = self.literal("-")?.number(2)?;
        let date = Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?);
        self.literal("T")?;
        let hour = self.number(2).or_else(|| self.number(1))?;
        let minute = self.literal(":")?.number(2)?;
        let second = self.literal(":")?.number(2)?;
        if let Some(fraction) = self
            .0
            .strip_prefix(['.', ','])
            .filter(|text| text.starts_with(|c: char| c.is_ascii_digit()))
        {
            self.0 = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        let is_in_range = date.is_ok() && hour < 24 && minute < 60 && second < 60;
        if self.literal("Z").is_some() {
            return Some(is_in_range && self.0.is_empty());
        }
        self.0 = self.0.strip_prefix(['+', '-'])?;
        let hours = self.number(2)?;
        let minutes = self.literal(":")?.number(2)?;
        Some(is_in_range && hours <= 24 && minutes <= 60 && self.0.is_empty())
    }

    /// Reads a number of exactly `digits` digits.
    fn number(&mut self, digits: usize) -> Option<i16> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        self.0 = rest;
        number.parse().ok()
    }

    fn literal(&mut self, literal: &str) -> Option<&mut Self> {
        self.0 = self.0.strip_prefix(literal)?;
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_go_accepts_are_accepted() {
        for good in [
            "2022-06-24T06:43:16Z",
            "2022-06-24T06:43:16.123Z",
            "2022-06-24T06:43:16,5Z",
            "2022-06-24T06:43:16+02:00",
            "2022-06-24T6:43:16-24:60",
            "2024-02-29T00:00:00Z",
            "0000-01-01T00:00:00Z",
        ] {
            assert!(is_time(good), "{good}");
        }
    }

    #[test]
    fn nonexistent_dates_and_times_are_rejected() {
        for bad in [
            "2024-02-31T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2022-13-24T06:43:16Z",
            "2022-00-24T06:43:16Z",
            "2022-06-24T24:00:00Z",
            "2022-06-24T06:60:00Z",
            "2022-06-24T06:43:60Z",
            "2022-06-24T06:43:16+25:00",
            "2022-06-24T06:43:16+00:61",
        ] {
            assert!(!is_time(bad), "{bad}");
        }
    }

    #[test]
    fn malformed_times_are_rejected() {
        for bad in [
            "",
            "now",
            "2022-06-24",
            "2022-06-24 06:43:16Z",
            "2022-06-24t06:43:16Z",
            "2022-06-24T06:43:16",
            "2022-06-24T06:43:16.Z",
            "2022-06-24T06:4:16Z",
            "2022-6-24T06:43:16Z",
            "+022-06-24T06:43:16Z",
            "2022-06-24T06:43:16Z ",
            "2022-06-24T06:43:16+0200",
            "2022-06-24T06:43:1\u{661}Z",
        ] {
            assert!(!is_time(bad), "{bad}");
        }
    }
}
