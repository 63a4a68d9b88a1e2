//! Text that cannot be read: a template, a broken manifest, or neither.

use memchr::memmem;

use super::placeholder;
use super::reason::{SkipReason, TemplateLanguage};
use crate::text::{SourceFile, Span};
use crate::yaml::ReadError;

/// The kind of a document that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::manifest) enum Unreadable {
    /// A template: the line of the error, or the one above it, is a statement of that language.
    Statement(TemplateLanguage),
    /// A template: braces break the YAML.
    Braces,
    /// A document of a file that [is about manifests](is_about_manifests): kubectl fails on it.
    Manifest,
    /// A document of any other file.
    Text,
}

impl Unreadable {
    /// Returns the kind of an unreadable document of `file`. `document` is its text.
    pub(in crate::manifest) fn of(
        file: &SourceFile,
        document: Span,
        error: &ReadError,
        is_about_manifests: impl FnOnce() -> bool,
    ) -> Self {
        match Lines::around(file, document, error).template_language() {
            Some(language) => Self::Statement(language),
            None if error.is_template() => Self::Braces,
            None if is_about_manifests() => Self::Manifest,
            None => Self::Text,
        }
    }

    /// Returns the reason for skipping it.
    pub(in crate::manifest) fn reason(self, error: &ReadError) -> SkipReason {
        let message = error.message.clone();
        match self {
            Self::Statement(language) => {
                let evidence = format!("{} breaks the YAML: {message}", language.as_str());
                SkipReason::template(language, evidence)
            }
            Self::Braces => SkipReason::Template(TemplateLanguage::Braces, message),
            Self::Manifest => SkipReason::Unreadable(message),
            Self::Text => SkipReason::Text(message),
        }
    }
}

/// The line of an error, and the line above it, which may be its cause.
struct Lines<'f> {
    here: &'f str,
    /// The rest of the line from the error on, including a `$` before it.
    rest: &'f str,
    /// The last line above that is not blank, if the scanner may have noticed the error one line late, for example
    /// because a line has a value but no key; otherwise empty.
    above: &'f str,
}

impl<'f> Lines<'f> {
    fn around(file: &'f SourceFile, document: Span, error: &ReadError) -> Self {
        let problem = &*error.message;
        let at = error.span.start;
        let before = file.slice(Span::new(document.start, at));
        let after = file.slice(Span::new(at, document.end));
        let start = before.rfind('\n').map_or(0, |line_break| line_break + 1);
        let end = at + after.find('\n').unwrap_or(after.len()) as u32;
        let here = file.slice(Span::new(document.start + start as u32, end));
        let above = last_line(&before[..start]);
        // If both lines have the same indentation, a plain scalar may continue from the first to the second. If not, a
        // block scalar has ended between them.
        let noticed_late = problem.ends_with("could not find expected ':'")
            || problem.ends_with("mapping values are not allowed in this context")
                && indentation(above) == indentation(here);
        // In a flow sequence, the scanner reads the `$` of `${NAME}` as a scalar, and fails at the brace.
        let begin = document.start + before.strip_suffix('$').unwrap_or(before).len() as u32;
        Self {
            here: here.trim(),
            rest: file.slice(Span::new(begin, end)),
            above: if noticed_late { above.trim() } else { "" },
        }
    }

    fn template_language(&self) -> Option<TemplateLanguage> {
        [self.here, self.above]
            .into_iter()
            .find_map(statement)
            .or_else(|| begins_with_braces(self.here))
            .or_else(|| {
                placeholder::stands_for_a_value(self.rest).then_some(TemplateLanguage::Placeholder)
            })
    }
}

/// Returns the last line that is not blank.
fn last_line(text: &str) -> &str {
    let mut lines = text.lines().rev();
    lines
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default()
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the language of a line that is nothing but a statement of a template: `{% if x %}`, `$X`, `<word>`.
fn statement(line: &str) -> Option<TemplateLanguage> {
    if line.starts_with("{%") || line.starts_with("{#") {
        return Some(TemplateLanguage::Jinja);
    }
    if !placeholder::may_be_at_start(line) {
        return None;
    }
    let (language, found) = placeholder::find(line)?;
    (found == line && language != TemplateLanguage::Braces).then_some(language)
}

/// Returns the language of a value that begins with a placeholder and continues after it: `cidr: {IPv6}/128`.
fn begins_with_braces(line: &str) -> Option<TemplateLanguage> {
    let value = line.split_once(": ").map_or(line, |(_, value)| value);
    let value = value.trim_start_matches("- ").trim();
    if value.starts_with("{{") || !placeholder::may_be_at_start(value) {
        return None;
    }
    let (language, found) = placeholder::find(value)?;
    let begins = value.starts_with(found) && value.len() > found.len();
    (begins && language == TemplateLanguage::Placeholder).then_some(language)
}

/// Whether a line of the text begins with `apiVersion` or `kind`, or either is a JSON key. Indented, or in JSON, `kind`
/// counts only before a capitalized word: tasks of an editor have `"kind": "build"`.
pub(in crate::manifest) fn is_about_manifests(text: &str) -> bool {
    // Most texts that are not manifests contain neither word.
    if !["apiVersion", "kind"]
        .iter()
        .any(|word| memmem::find(text.as_bytes(), word.as_bytes()).is_some())
    {
        return false;
    }
    let by_line = text.lines().any(|line| {
        let key = line.trim_start().trim_start_matches("- ");
        key.starts_with("apiVersion")
            || line.starts_with("kind:")
            || key.strip_prefix("kind:").is_some_and(is_kind)
    });
    by_line
        || json_values(text, "\"apiVersion\"").next().is_some()
        || json_values(text, "\"kind\"").any(is_kind)
}

/// Whether a value, quoted or not, begins with a capital letter.
fn is_kind(value: &str) -> bool {
    let value = value.trim_start().trim_start_matches(['"', '\'']);
    value.starts_with(|first: char| first.is_ascii_uppercase())
}

/// Returns the text after each `"key":` in the outermost mapping. A configuration of another tool may have such a key
/// further inside.
fn json_values<'t>(text: &'t str, key: &'static str) -> impl Iterator<Item = &'t str> {
    let mut depth = 0_usize;
    let mut seen = 0;
    text.match_indices(key).filter_map(move |(at, key)| {
        for byte in text[seen..at].bytes() {
            match byte {
                b'{' => depth += 1,
                b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        seen = at;
        let value = text[at + key.len()..].trim_start().strip_prefix(':')?;
        (depth <= 1).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_manifest_is_recognised_by_api_version_or_kind() {
        for text in [
            "apiVersion v1\n",
            "kind: Pod\n",
            "kind: [\n",
            "- kind: Pod",
            "{\"apiVersion\":\"v1\"",
            "{\"kind\" : \"Pod\"",
            "[{\"spec\": {}, \"kind\": \"Pod\"",
        ] {
            assert!(is_about_manifests(text), "{text}");
        }
        for text in [
            "switched to db\n{ \"_id\" : }\n",
            "{\n  // tasks\n  \"kind\": \"build\"",
            "my apiVersion: x",
            "  kind: of",
            "{\n  // of an editor\n  \"schemas\": {\"a\": {\"apiVersion\": \"v1\", \"kind\": \"Pod\"}}",
        ] {
            assert!(!is_about_manifests(text), "{text}");
        }
    }
}
