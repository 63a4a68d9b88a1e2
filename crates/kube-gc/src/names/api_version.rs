//! `apiVersion` as the API machinery parses it ([VAL-10]), and the order in which it prefers versions.

use std::cmp::{Ordering, Reverse};
use std::fmt;

/// A group and a version, parsed like `schema.ParseGroupVersion`; owned or, as `ApiVersion<&str>`, borrowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApiVersion<S = String> {
    /// The group; empty for the core group.
    pub group: S,
    /// The version; empty if the text does not parse, as in the API server.
    pub version: S,
}

impl<'a> ApiVersion<&'a str> {
    /// Splits `v1`, `apps/v1`, `/v1`. Text without a version (`""`, `/`, `apps/`) and text with two slashes or more
    /// gives an empty version, which the API server rejects in owner references ([VAL-4]).
    pub fn split(text: &'a str) -> Self {
        match text.split_once('/') {
            None => Self {
                group: "",
                version: text,
            },
            Some((_, version)) if version.contains('/') => Self::default(),
            Some((group, version)) => Self { group, version },
        }
    }
}

impl ApiVersion {
    /// Parses like [`ApiVersion::split`] and copies the parts.
    pub fn parse(text: &str) -> Self {
        let ApiVersion { group, version } = ApiVersion::split(text);
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
        }
    }
}

impl<S: AsRef<str>> fmt::Display for ApiVersion<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.group.as_ref(), self.version.as_ref()) {
            ("", version) => f.write_str(version),
            (group, version) => write!(f, "{group}/{version}"),
        }
    }
}

/// Sorts versions by Kubernetes' priority (`CompareKubeAwareVersionStrings`): `v2` before `v1` before `v1beta1` before
/// `v1alpha1`, then everything else, by name.
pub fn sort_versions(versions: &mut [String]) {
    versions.sort_by(|a, b| match (priority(a), priority(b)) {
        (Some(a), Some(b)) => Reverse(a).cmp(&Reverse(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    });
}

/// Returns (stability, major, minor), of which a greater one is preferred; `None` if the version has another form.
fn priority(version: &str) -> Option<(u8, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let (major, stability, minor) = if let Some((major, minor)) = rest.split_once("beta") {
        (major, 1, minor)
    } else if let Some((major, minor)) = rest.split_once("alpha") {
        (major, 0, minor)
    } else {
        (rest, 2, "0")
    };
    Some((stability, major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (&str, &str) {
        let ApiVersion { group, version } = ApiVersion::split(text);
        (group, version)
    }

    #[test]
    fn group_and_version_parse_as_val_10_specifies() {
        assert_eq!(parse(""), ("", ""));
        assert_eq!(parse("/"), ("", ""));
        assert_eq!(parse("v1"), ("", "v1"));
        assert_eq!(parse("apps"), ("", "apps"));
        assert_eq!(parse("apps/v1"), ("apps", "v1"));
        assert_eq!(parse("/v1"), ("", "v1"));
        assert_eq!(parse("apps/"), ("apps", ""));
        assert_eq!(parse("a/b/c"), ("", ""));
        assert_eq!(ApiVersion::parse("apps/v1").to_string(), "apps/v1");
        assert_eq!(ApiVersion::parse("/v1").to_string(), "v1");
    }

    #[test]
    fn version_order_matches_apimachinery_example() {
        let expected = [
            "v10",
            "v2",
            "v1",
            "v11beta2",
            "v10beta3",
            "v3beta1",
            "v1beta10",
            "v1beta2",
            "v12alpha1",
            "v11alpha2",
            "v1alpha1",
            "bar",
            "foo1",
            "foo10",
        ];
        let mut versions = expected.map(str::to_owned);
        versions.reverse();
        sort_versions(&mut versions);
        assert_eq!(versions, expected);
    }
}
