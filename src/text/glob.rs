//! Globs in which `*` stays within a folder and `**` crosses folders.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// Compiles a set that matches if one of several patterns does.
///
/// # Errors
/// Returns the first pattern that is malformed or too large, with the reason.
pub(crate) fn globs<'p>(
    patterns: impl IntoIterator<Item = &'p str>,
) -> Result<GlobSet, (&'p str, String)> {
    let mut all = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        let glob = glob.map_err(|error| (pattern, error.kind().to_string()))?;
        compiled(&glob).map_err(|reason| (pattern, reason))?;
        all.add(glob);
    }
    all.build().map_err(|error| ("", error.kind().to_string()))
}

/// Compiles a set that matches a glob.
///
/// # Errors
/// The expression is too large, which nested braces can cause. [`Glob::compile_matcher`] would panic.
pub(crate) fn compiled(glob: &Glob) -> Result<GlobSet, String> {
    let set = GlobSet::builder().add(glob.clone()).build();
    set.map_err(|_| "it is too large".to_owned())
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
