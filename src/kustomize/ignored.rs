//! Files that a source of Flux leaves out. The patterns are those of `.gitignore`: the last one that matches a file, or
//! a folder above it, decides (fluxcd/pkg sourceignore/sourceignore.go; go-git plumbing/format/gitignore).

use globset::{Candidate, Glob, GlobSet};

use super::path::ancestors;
use crate::text::glob;

/// Patterns of files that are left out.
pub(crate) struct IgnoredFiles {
    globs: GlobSet,
    /// The patterns, in the order of `globs`.
    patterns: Vec<IgnorePattern>,
}

struct IgnorePattern {
    only_folders: bool,
    /// Whether it begins with `!`: the files that it matches are kept.
    keeps: bool,
}

impl IgnoredFiles {
    /// Reads patterns, one on each line. An invalid one matches nothing.
    pub(crate) fn read(patterns: &str) -> Self {
        let lines = patterns.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let (globs, patterns): (Vec<_>, Vec<_>) = lines.filter_map(read).unzip();
        // Each of them is valid alone; together they may be too large.
        let globs = GlobSet::new(globs).unwrap_or_else(|_| GlobSet::empty());
        Self { globs, patterns }
    }

    /// Whether the file at `path` is left out.
    pub(crate) fn contain(&self, path: &str) -> bool {
        let mut last = None;
        let mut matching = Vec::new();
        for place in ancestors(path).filter(|place| !place.is_empty()) {
            self.globs
                .matches_candidate_into(&Candidate::new(place), &mut matching);
            let here = matching.iter().copied();
            let here = here.filter(|at| place != path || !self.patterns[*at].only_folders);
            last = last.max(here.max());
        }
        last.is_some_and(|at| !self.patterns[at].keeps)
    }
}

fn read(line: &str) -> Option<(Glob, IgnorePattern)> {
    let (keeps, rest) = line
        .strip_prefix('!')
        .map_or((false, line), |rest| (true, rest));
    let (only_folders, rest) = rest
        .strip_suffix('/')
        .map_or((false, rest), |rest| (true, rest));
    // A pattern without a slash matches names in any folder.
    let text = if rest.contains('/') {
        rest.trim_start_matches('/').to_owned()
    } else {
        format!("**/{rest}")
    };
    let pattern = IgnorePattern {
        only_folders,
        keeps,
    };
    Some((glob::read(&text, true).ok()?, pattern))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_matching_ignore_pattern_wins() {
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
