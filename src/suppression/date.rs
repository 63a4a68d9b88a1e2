//! Calendar days, as far as an expiry needs them.

use std::fmt;
use std::str::FromStr;

/// A day of the Gregorian calendar, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// The day that lies `seconds` after the start of 1970 in UTC. Years end at 9999.
    pub fn from_unix_seconds(seconds: u64) -> Self {
        let mut days = seconds / 86_400;
        let mut year = 1970;
        while year < 9999 && days >= days_of_year(year) {
            days -= days_of_year(year);
            year += 1;
        }
        let mut month = 1;
        while month < 12 && days >= u64::from(days_of_month(year, month)) {
            days -= u64::from(days_of_month(year, month));
            month += 1;
        }
        let last = u64::from(days_of_month(year, month)) - 1;
        Self { year, month, day: days.min(last) as u8 + 1 }
    }
}

fn is_leap(year: u16) -> bool {
    (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400)
}

fn days_of_year(year: u16) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

fn days_of_month(year: u16, month: u8) -> u8 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// A text that is no day.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no date: write it as 2031-12-31")]
pub struct NotADate(pub String);

impl FromStr for Date {
    type Err = NotADate;

    fn from_str(text: &str) -> Result<Self, NotADate> {
        let wrong = || NotADate(text.to_owned());
        let parts: Vec<&str> = text.split('-').collect();
        let [year, month, day] = parts.as_slice() else { return Err(wrong()) };
        let digits = |part: &str, length| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
        if !(digits(year, 4) && digits(month, 2) && digits(day, 2)) {
            return Err(wrong());
        }
        let year = year.parse().map_err(|_| wrong())?;
        let month = month.parse().map_err(|_| wrong())?;
        let day = day.parse().map_err(|_| wrong())?;
        let exists = (1..=12).contains(&month) && (1..=days_of_month(year, month)).contains(&day);
        if exists { Ok(Self { year, month, day }) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_days() {
        // `date -u -d @N +%F`
        for (seconds, day) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_709_164_800, "2024-02-29"),
            (1_735_689_599, "2024-12-31"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(Date::from_unix_seconds(seconds).to_string(), day);
        }
    }

    #[test]
    fn only_days_that_exist_are_read() {
        assert_eq!("2028-02-29".parse::<Date>().map(|date| date.to_string()), Ok("2028-02-29".to_owned()));
        for text in ["2027-02-29", "2027-13-01", "2027-1-1", "27-01-01", "2027-01-00", "tomorrow", "2027-01-01T00:00"] {
            assert_eq!(text.parse::<Date>(), Err(NotADate(text.to_owned())));
        }
    }
}
