//! `apiVersion` as the API machinery parses it ([VAL-10]).

/// A group and a version, parsed like `schema.ParseGroupVersion`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApiVersion {
    /// The group; empty for the core group.
    pub group: String,
    /// The version; empty when the text does not parse, as the API server then sees it.
    pub version: String,
}

impl ApiVersion {
    /// Parses `v1`, `apps/v1`, `/v1`. Text without a version (`""`, `/`, `apps/`) and text with two slashes or more gives
    /// an empty version, which the API server refuses in owner references ([VAL-4]).
    pub fn parse(text: &str) -> Self {
        match text.split_once('/') {
            None => Self { group: String::new(), version: text.to_owned() },
            Some((_, version)) if version.contains('/') => Self::default(),
            Some((group, version)) => Self { group: group.to_owned(), version: version.to_owned() },
        }
    }
}

impl std::fmt::Display for ApiVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.group.is_empty() {
            true => write!(f, "{}", self.version),
            false => write!(f, "{}/{}", self.group, self.version),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_as_the_table_of_val_10_says() {
        let parse = |text| {
            let ApiVersion { group, version } = ApiVersion::parse(text);
            (group, version)
        };
        let pair = |group: &str, version: &str| (group.to_owned(), version.to_owned());
        assert_eq!(parse(""), pair("", ""));
        assert_eq!(parse("/"), pair("", ""));
        assert_eq!(parse("v1"), pair("", "v1"));
        assert_eq!(parse("apps"), pair("", "apps"));
        assert_eq!(parse("apps/v1"), pair("apps", "v1"));
        assert_eq!(parse("/v1"), pair("", "v1"));
        assert_eq!(parse("apps/"), pair("apps", ""));
        assert_eq!(parse("a/b/c"), pair("", ""));
    }
}
