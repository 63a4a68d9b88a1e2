//! Globs in which `*` stays within a folder and `**` crosses folders.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Compiles a set that matches if one of several patterns does.
///
/// # Errors
/// Returns the first pattern that is malformed, with the reason. Nested braces can make an expression too large: a
/// single compiled glob would panic.
pub(crate) fn globs<'p>(
    patterns: impl IntoIterator<Item = &'p str>,
) -> Result<GlobSet, (&'p str, String)> {
    let mut all = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        let glob = glob.map_err(|error| (pattern, error.kind().to_string()))?;
        GlobSet::builder()
            .add(glob.clone())
            .build()
            .map_err(|_| (pattern, "it is too large".to_owned()))?;
        all.add(glob);
    }
    all.build().map_err(|error| ("", error.kind().to_string()))
}

/// Compiles a set that matches a pattern.
///
/// # Errors
/// Returns the error in the pattern.
pub(crate) fn glob(pattern: &str) -> Result<GlobSet, String> {
    globs([pattern]).map_err(|(_, reason)| reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        glob(pattern).is_ok_and(|glob| glob.is_match(path))
    }

    #[test]
    fn star_matches_within_one_folder() {
        assert!(
            matches("a/*.yaml", "a/b.yaml")
                && !matches("a/*.yaml", "a/b/c.yaml")
                && matches("a/**", "a/b/c.yaml")
        );
    }

    #[test]
    fn invalid_and_oversized_globs_are_rejected() {
        let nested = format!("{}{}", "{a,".repeat(300), "}".repeat(300));
        assert_eq!(glob(&nested).err().as_deref(), Some("it is too large"));
        assert!(globs(["fine", "[", "{"]).is_err_and(|(pattern, _)| pattern == "["));
    }
}
