//! Files that a source of Flux leaves out: patterns as in `.gitignore`, of which the last one that matches a file or a
//! folder above it decides (fluxcd/pkg sourceignore/sourceignore.go; go-git plumbing/format/gitignore).

use globset::{GlobBuilder, GlobMatcher};

use super::path::{ancestors, name_of};

/// Patterns of files that are left out.
pub(crate) struct IgnoredFiles(Vec<IgnorePattern>);

struct IgnorePattern {
    glob: GlobMatcher,
    /// It is about the whole path, not about a name.
    is_path: bool,
    only_folders: bool,
    /// Files that it matches are kept.
    keeps: bool,
}

impl IgnoredFiles {
    /// Reads patterns, one on each line. One that cannot be read matches nothing.
    pub(crate) fn read(patterns: &str) -> Self {
        let lines = patterns
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        Self(lines.filter_map(IgnorePattern::read).collect())
    }

    /// Whether the file at `path` is left out.
    pub(crate) fn contain(&self, path: &str) -> bool {
        let last = self.0.iter().rev().find(|pattern| pattern.matches(path));
        last.is_some_and(|pattern| !pattern.keeps)
    }
}

impl IgnorePattern {
    fn read(line: &str) -> Option<Self> {
        let (keeps, rest) = line
            .strip_prefix('!')
            .map_or((false, line), |rest| (true, rest));
        let (only_folders, rest) = rest
            .strip_suffix('/')
            .map_or((false, rest), |rest| (true, rest));
        let glob = GlobBuilder::new(rest.trim_start_matches('/'))
            .literal_separator(true)
            .build()
            .ok()?;
        Some(Self {
            glob: glob.compile_matcher(),
            is_path: rest.contains('/'),
            only_folders,
            keeps,
        })
    }

    fn matches(&self, path: &str) -> bool {
        let of = |place: &str| {
            self.glob
                .is_match(if self.is_path { place } else { name_of(place) })
        };
        let mut places = ancestors(path)
            .filter(|place| !place.is_empty() && (!self.only_folders || *place != path));
        places.any(of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_pattern_that_matches_a_file_or_a_folder_above_it_decides() {
        for (patterns, ignored, kept) in [
            (".github/\n.circleci/\n", ".github/a.yaml", "apps/a.yaml"),
            ("/*\n!/clusters", "apps/a.yaml", "clusters/prod/a.yaml"),
            ("apps/*\n# apps/b.yaml\n", "apps/a.yaml", "b/apps/a.yaml"),
            ("Taskfile.yml", "apps/Taskfile.yml", "apps/a.yml"),
            ("test/", "apps/test/a.yaml", "apps/test"),
            ("**/ci", "apps/x/ci/a.yaml", "apps/x/a.yaml"),
        ] {
            let patterns = IgnoredFiles::read(patterns);
            assert!(patterns.contain(ignored), "{ignored}");
            assert!(!patterns.contain(kept), "{kept}");
        }
    }
}
