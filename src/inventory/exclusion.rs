//! Globs of files that are left out.

use std::path::{Path, PathBuf};

use globset::GlobSet;

use super::error::InputError;
use super::walk::globs;
use crate::text::plain;

/// Globs of files that are left out. A relative glob is relative to the working directory, and it matches a file whether
/// its path is reported as relative or as absolute.
pub struct Exclusion {
    globs: GlobSet,
    here: Option<PathBuf>,
}

impl Exclusion {
    /// Compiles the globs.
    ///
    /// # Errors
    /// One of them is malformed.
    pub fn new(patterns: &[String]) -> Result<Self, InputError> {
        let here = std::env::current_dir().ok();
        let relative = patterns
            .iter()
            .filter(|pattern| !(pattern.starts_with('/') || pattern.starts_with("**")));
        let absolute = relative.filter_map(|pattern| {
            let (folder, rest) = resolved_in(here.as_ref()?, pattern);
            Some(format!("{}/{rest}", globset::escape(&folder)))
        });
        let all: Vec<String> = patterns.iter().cloned().chain(absolute).collect();
        Ok(Self {
            globs: globs(&all)?,
            here,
        })
    }

    /// Whether a file is left out, by its reported path.
    pub fn is_match(&self, path: &str) -> bool {
        !self.globs.is_empty() && (self.globs.is_match(path) || self.matches_absolute(path))
    }

    /// Whether a glob matches a relative path as an absolute one.
    fn matches_absolute(&self, path: &str) -> bool {
        let here = self.here.as_ref().filter(|_| !path.starts_with('/'));
        here.is_some_and(|here| {
            let (folder, rest) = resolved_in(here, path);
            self.globs.is_match(format!("{folder}/{rest}"))
        })
    }
}

/// Resolves the `./` and `../` at the beginning of a path that is relative to the folder `here`. Returns the folder and
/// the rest of the path: `/srv` and `a.yaml` for `../a.yaml` in `/srv/shop`.
fn resolved_in<'p>(here: &Path, path: &'p str) -> (String, &'p str) {
    let (mut folder, mut rest) = (here, path);
    loop {
        if let Some(below) = rest.strip_prefix("./") {
            rest = below;
        } else if let Some(beside) = rest.strip_prefix("../") {
            (folder, rest) = (folder.parent().unwrap_or(folder), beside);
        } else {
            let folder = plain::path(folder);
            return (folder.trim_end_matches('/').to_owned(), rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Exclusion;

    fn excludes(pattern: &str, path: &str) -> bool {
        let exclusion = Exclusion::new(&[pattern.to_owned()]);
        exclusion.expect("a glob").is_match(path)
    }

    #[test]
    fn relative_globs_match_absolute_paths_and_the_other_way_round() {
        let here = std::env::current_dir().expect("a folder");
        let (folder, name) = (here.display(), here.file_name().expect("a name").display());
        let absolute = format!("{folder}/charts/a.yaml");
        for pattern in [
            "charts/**".to_owned(),
            "./charts/*".to_owned(),
            "**/charts/**".to_owned(),
            format!("../{name}/charts/**"),
            format!("{folder}/charts/a.yaml"),
        ] {
            for path in [
                "charts/a.yaml",
                &format!("../{name}/charts/a.yaml"),
                &absolute,
            ] {
                assert!(excludes(&pattern, path), "{pattern} {path}");
            }
        }
        assert!(!excludes(
            "charts/**",
            &format!("{folder}/more/charts/a.yaml")
        ));
        assert!(!excludes("*.yaml", &absolute));
    }
}
