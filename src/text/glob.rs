//! Compiles untrusted globs without a panic.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// The maximum nesting of braces. `globset` calls itself for each level, so deep nesting would exhaust the stack.
const MAX_BRACES: usize = 50;

const TOO_LARGE: &str = "it is too large";

/// Compiles a set that matches if one of several patterns does. `*` stays within a folder, and `**` crosses folders.
///
/// # Errors
/// Returns the first pattern that is malformed or too large, with the reason; an empty pattern if only all of them
/// together are too large.
pub(crate) fn globs<'p>(
    patterns: impl IntoIterator<Item = &'p str>,
) -> Result<GlobSet, (&'p str, String)> {
    let mut all = GlobSetBuilder::new();
    for pattern in patterns {
        all.add(read(pattern, true).map_err(|reason| (pattern, reason))?);
    }
    all.build().map_err(|error| ("", error.kind().to_string()))
}

/// Parses a pattern, to be added to a set. Unless `within_folders` is set, `*` crosses folders, too.
///
/// # Errors
/// The pattern is malformed, or its expression is too large, which nested braces can cause.
pub(crate) fn read(pattern: &str, within_folders: bool) -> Result<Glob, String> {
    let glob = parsed(pattern, within_folders)?;
    set_of(&glob).map(|_| glob)
}

/// Compiles a set that matches a pattern; see [`read`].
///
/// # Errors
/// Returns the error in the pattern.
pub(crate) fn compiled(pattern: &str, within_folders: bool) -> Result<GlobSet, String> {
    set_of(&parsed(pattern, within_folders)?)
}

fn parsed(pattern: &str, within_folders: bool) -> Result<Glob, String> {
    let mut depth = 0_usize;
    for byte in pattern.bytes() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_BRACES {
            return Err(TOO_LARGE.to_owned());
        }
    }
    let mut glob = GlobBuilder::new(pattern);
    let glob = glob.literal_separator(within_folders).build();
    glob.map_err(|error| error.kind().to_string())
}

/// Compiles one glob; [`Glob::compile_matcher`] would panic if it is too large.
fn set_of(glob: &Glob) -> Result<GlobSet, String> {
    let set = GlobSet::builder().add(glob.clone()).build();
    set.map_err(|_| TOO_LARGE.to_owned())
}

/// Compiles a set that matches a pattern in which `*` stays within a folder.
///
/// # Errors
/// Returns the error in the pattern.
pub(crate) fn glob(pattern: &str) -> Result<GlobSet, String> {
    compiled(pattern, true)
}

/// Returns the folder above the first parameter or wildcard of a path; the path itself without one.
pub(crate) fn fixed_folder(path: &str) -> &str {
    match path.find(['{', '*', '?', '[']) {
        Some(end) => path[..end]
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder),
        None => path,
    }
}

/// Converts a text to a pattern that has `unknown` for each part in double braces. If `unknown` is `*`, `apps/{{name}}`
/// becomes `apps/*`.
pub(crate) fn with_unknown_parts(text: &str, unknown: &str) -> String {
    let (known, last) = known_parts(text);
    let known = known.into_iter().map(|part| escaped(part) + unknown);
    known.collect::<String>() + &escaped(last)
}

/// Returns `text` for display, with `*` for each part in double braces.
pub(crate) fn with_stars(text: &str) -> String {
    let (known, last) = known_parts(text);
    let known = known.into_iter().map(|part| format!("{part}*"));
    known.collect::<String>() + last
}

/// Returns the texts before each part in double braces, and the text after the last one.
fn known_parts(text: &str) -> (Vec<&str>, &str) {
    let mut known = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        known.push(before);
        rest = after.split_once("}}").map_or("", |(_, after)| after);
    }
    (known, rest)
}

/// Whether `text` may become `known` when its unknown parts `{{…}}` are filled in.
pub(crate) fn stands_for(text: &str, known: &str) -> bool {
    if text == known || !text.contains("{{") {
        return text == known;
    }
    // An unknown part matches one or more characters of a name, but no slash.
    let pattern = with_unknown_parts(text, "?*");
    glob(&pattern).is_ok_and(|glob| glob.is_match(known))
}

/// Escapes a text as a glob that matches only this text.
fn escaped(text: &str) -> String {
    globset::escape(text).replace('\\', "[\\]")
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
    fn shown_text_has_stars_and_no_escapes() {
        let path = r"a\[b]/{{.name}}/{{x}}-{c}";
        assert_eq!(with_stars(path), r"a\[b]/*/*-{c}");
    }

    #[test]
    fn escaped_text_matches_only_itself() {
        let text = r"a\b[c]{d,e}?*";
        assert!(matches(&escaped(text), text) && !matches(&escaped(text), "ab[c]{d,e}?*"));
    }

    #[test]
    fn unknown_parts_match_characters_of_a_name() {
        let cases = [
            ("ConfigMap/a/b", "ConfigMap/a/b", true),
            ("ConfigMap/a/b", "ConfigMap/a/c", false),
            ("ConfigMap/a/{{b}}", "ConfigMap/a/b", true),
            ("ConfigMap/a/{{b}}", "ConfigMap/a/{{b}}", true),
            ("ConfigMap/a/{{b}}", "ConfigMap/a/", false),
            ("ConfigMap/{{b}}", "ConfigMap/a/b", false),
            ("ConfigMap/{{a}}/b-{{c}}", "ConfigMap/a/b-c", true),
            ("ConfigMap/a/x-{{b}}", "ConfigMap/a/y-b", false),
            // A fixed part may occur several times.
            ("ConfigMap/a/{{a}}b{{c}}", "ConfigMap/a/bbx", true),
            ("ConfigMap/a/{{a}}b{{c}}", "ConfigMap/a/abc", true),
            ("ConfigMap/a/{{a}}b{{c}}", "ConfigMap/a/bx", false),
            // Adjacent unknown parts take a character each.
            ("ConfigMap/a/{{a}}{{b}}", "ConfigMap/a/ab", true),
            ("ConfigMap/a/{{a}}{{b}}", "ConfigMap/a/a", false),
            // Fixed parts are no patterns.
            ("ConfigMap/a/*-{{b}}", "ConfigMap/a/*-b", true),
            ("ConfigMap/a/*-{{b}}", "ConfigMap/a/a-b", false),
            ("ConfigMap/a/${A}-{{b}}", "ConfigMap/a/${A}-b", true),
        ];
        for (text, known, expected) in cases {
            assert_eq!(stands_for(text, known), expected, "{text}, {known}");
        }
    }
}
