//! Minor releases of Kubernetes, the only part of a version that decides what is served.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// A minor release of Kubernetes, such as 1.37; patch releases serve the same kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Release {
    minor: u16,
}

/// The error for a text that is not a version of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a Kubernetes release; write it like `{}`",
    Release::NEWEST
)]
pub struct UnreadableRelease {
    /// The written text.
    pub text: String,
}

impl Release {
    /// The newest release that the built-in table knows.
    pub const NEWEST: Self = Self { minor: 37 };

    /// Creates release 1.`minor`.
    pub const fn new(minor: u16) -> Self {
        Self { minor }
    }
}

impl Default for Release {
    fn default() -> Self {
        Self::NEWEST
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.minor)
    }
}

impl FromStr for Release {
    type Err = UnreadableRelease;

    /// Parses versions as people and clusters write them: `1.37`, `v1.37`, `1.37.2`, `v1.37.2+k3s1`, `v1.37.2-gke.100`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        minor_of(text)
            .map(Self::new)
            .ok_or_else(|| UnreadableRelease {
                text: text.to_owned(),
            })
    }
}

/// Returns the number after `1.`; `None` if the text is not a version of Kubernetes.
fn minor_of(text: &str) -> Option<u16> {
    let version = text.strip_prefix('v').unwrap_or(text);
    let rest = version.strip_prefix("1.")?;
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (minor, tail) = rest.split_at(digits);
    if !matches!(tail.chars().next(), None | Some('.' | '+' | '-')) {
        return None;
    }
    minor.parse().ok()
}

impl TryFrom<String> for Release {
    type Error = UnreadableRelease;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cluster_versions_parse_as_minor_releases() {
        for text in [
            "1.37",
            "v1.37",
            "1.37.2",
            "v1.37.2+k3s1",
            "1.37+",
            "v1.37.0-gke.100",
        ] {
            assert_eq!(text.parse(), Ok(Release::NEWEST), "{text}");
        }
        assert_eq!(Release::new(9).to_string(), "1.9");
        assert!(
            Release::new(9) < Release::new(16),
            "releases are numbers, not text"
        );
    }

    #[test]
    fn invalid_release_error_shows_an_example() {
        for text in [
            "", "1", "1.", "2.0", "37", "1.x", "1.37beta", "1.99999", "latest",
        ] {
            let error = text.parse::<Release>().expect_err(text);
            assert!(error.to_string().contains("`1.37`"), "{error}");
        }
    }
}
