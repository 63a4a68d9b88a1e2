//! Calendar days, for expiry dates.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A day of the Gregorian calendar, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(jiff::civil::Date);

impl Date {
    /// Returns the current day in UTC.
    pub fn today() -> Self {
        Self(Timestamp::now().to_zoned(TimeZone::UTC).date())
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A text that is not a date.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a date: write it as 2031-12-31")]
pub struct NotADate(pub String);

impl FromStr for Date {
    type Err = NotADate;

    /// Parses only the form in which a date is printed: ISO 8601 has others, down to `20311231T10`.
    fn from_str(text: &str) -> Result<Self, NotADate> {
        let date = text
            .parse()
            .ok()
            .filter(|date: &jiff::civil::Date| date.to_string() == text);
        date.map(Self).ok_or_else(|| NotADate(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonexistent_and_malformed_dates_are_rejected() {
        assert_eq!(
            "2028-02-29".parse::<Date>().map(|date| date.to_string()),
            Ok("2028-02-29".to_owned())
        );
        for text in [
            "2027-02-29",
            "2027-13-01",
            "2027-1-1",
            "27-01-01",
            "2027-01-00",
            "tomorrow",
            "2027-01-01T00:00",
            "20270101",
        ] {
            assert_eq!(text.parse::<Date>(), Err(NotADate(text.to_owned())));
        }
    }

    #[test]
    fn dates_compare_chronologically() {
        let [earlier, later]: [Date; 2] =
            ["2027-12-31", "2028-01-01"].map(|text| text.parse().expect("a date"));
        assert!(earlier < later);
    }
}
