//! Placeholders of template languages in fields where Kubernetes does not accept them.

use std::sync::LazyLock;

use regex::Regex;

use super::reason::TemplateLanguage;

/// The placeholders of each language, anywhere in a text, in the order in which they are tried: `{{ x }}` also contains
/// `{ x }`.
static PATTERNS: [(TemplateLanguage, LazyLock<Option<Regex>>); 4] = [
    (
        TemplateLanguage::Jinja,
        LazyLock::new(|| Regex::new(r"\{%.*?%\}|\{#.*?#\}").ok()),
    ),
    (
        TemplateLanguage::Braces,
        LazyLock::new(|| Regex::new(r"\{\{.*?\}\}").ok()),
    ),
    (
        TemplateLanguage::Variable,
        LazyLock::new(|| {
            Regex::new(r"\$\{[^{}]+\}|\$\([A-Za-z_][A-Za-z0-9_.-]*\)|\$[A-Za-z_][A-Za-z0-9_]*").ok()
        }),
    ),
    // Go renders a missing value as `<nil>` or `<no value>`, and that text is applied.
    (
        TemplateLanguage::Placeholder,
        LazyLock::new(|| {
            Regex::new(
                r"\{[A-Za-z][A-Za-z0-9_.-]*\}|\[[A-Z][A-Z0-9_-]*\]|<[A-Za-z][A-Za-z0-9_ .-]*>|__[A-Z][A-Z0-9_]*?__|@[A-Z][A-Z0-9_]*@|%[A-Z][A-Z0-9_]*%",
            )
            .ok()
        }),
    ),
];

/// Placeholders in place of a value that no YAML value begins with: `@NAME@`, `%%_NAME_%%`, `%s`, `${NAME}`.
static IN_PLACE_OF_A_VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:@+[A-Za-z_][A-Za-z0-9_.-]*@+|%+[A-Za-z_][A-Za-z0-9_.-]*%+|%[-+#0-9.]*[sdvqtfx](?-u:\b)|\$\{[^{}]+\})").ok()
});

/// Whether `text` begins with a placeholder that no YAML value begins with.
pub(super) fn stands_for_a_value(text: &str) -> bool {
    let pattern = IN_PLACE_OF_A_VALUE.as_ref();
    pattern.is_some_and(|pattern| pattern.is_match(text))
}

const RENDERED_AS_MISSING: [&str; 2] = ["<nil>", "<no value>"];

/// Whether a placeholder may begin with that byte.
fn may_be_first(byte: u8) -> bool {
    matches!(byte, b'{' | b'$' | b'[' | b'<' | b'_' | b'@' | b'%')
}

/// Whether a placeholder may be at the beginning of `text`.
pub(super) fn may_be_at_start(text: &str) -> bool {
    text.bytes().next().is_some_and(may_be_first)
}

/// Finds the first placeholder in `text`, with its language.
pub(super) fn find(text: &str) -> Option<(TemplateLanguage, &str)> {
    // Most names are plain words.
    if !text.bytes().any(may_be_first) {
        return None;
    }
    PATTERNS.iter().find_map(|(language, regex)| {
        let regex = regex.as_ref()?;
        let mut found = regex.find_iter(text).map(|found| found.as_str());
        let found = found.find(|found| !RENDERED_AS_MISSING.contains(found))?;
        // `<b>` is a placeholder only if the rest of the text can be a name.
        let sure = *language != TemplateLanguage::Placeholder
            || regex.replace_all(text, "").chars().all(is_of_names);
        sure.then_some((*language, found))
    })
}

fn is_of_names(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-._:/".contains(character)
}

/// Returns the language if `text` is one placeholder and nothing else; `(removed)` counts here, too.
pub(super) fn is_whole(text: &str) -> Option<TemplateLanguage> {
    let text = text.trim();
    if text.starts_with('(') && text.ends_with(')') && text.len() > 2 {
        return Some(TemplateLanguage::Placeholder);
    }
    let (language, found) = find(text)?;
    (found == text).then_some(language)
}

/// Whether two texts may be the same with placeholders filled in: of the parts before their first
/// placeholders, one is a prefix of the other; of those after the last, one is a suffix.
pub fn may_be_same(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|text| (text, around(text)));
    match (one, other) {
        ((one, None), (other, None)) => one == other,
        ((one, known), (other, also_known)) => {
            let (start, end) = known.unwrap_or((one, one));
            let (other_start, other_end) = also_known.unwrap_or((other, other));
            let shared = |one: &str, other: &str, fits: fn(&str, &str) -> bool| {
                fits(one, other) || fits(other, one)
            };
            let starts = shared(start, other_start, |one, other| one.starts_with(other));
            starts && shared(end, other_end, |one, other| one.ends_with(other))
        }
    }
}

/// Returns the text before the first placeholder and the text after the last one.
fn around(text: &str) -> Option<(&str, &str)> {
    let (_, first) = find(text)?;
    let (before, mut after) = text.split_once(first)?;
    while let Some((_, next)) = find(after) {
        after = after.split_once(next).map_or("", |(_, rest)| rest);
    }
    Some((before, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_of_every_language_are_found() {
        let cases = [
            ("{{ .Values.name }}-web", TemplateLanguage::Braces),
            ("{% raw %}web{% endraw %}", TemplateLanguage::Jinja),
            ("web-${NAME:=x}", TemplateLanguage::Variable),
            ("$kind", TemplateLanguage::Variable),
            ("$(NAME)", TemplateLanguage::Variable),
            ("{name}", TemplateLanguage::Placeholder),
            ("[NAME]-web", TemplateLanguage::Placeholder),
            ("<your name>", TemplateLanguage::Placeholder),
            ("__NAME__", TemplateLanguage::Placeholder),
            ("@NAME@", TemplateLanguage::Placeholder),
        ];
        for (text, language) in cases {
            let found = find(text).map(|(language, _)| language);
            assert_eq!(found, Some(language), "{text}");
        }
    }

    #[test]
    fn text_around_placeholders_decides_whether_names_may_be_same() {
        let cases = [
            ("data-${X}", "data-${Y}", true),
            ("data-${X}", "data-web", true),
            ("web", "${X}", true),
            ("${X}-data-${Y}", "web-data", true),
            ("data-${X}", "store-${X}", false),
            ("data-${X}-a", "data-${X}-b", false),
            ("data", "store", false),
        ];
        for (one, other, expected) in cases {
            assert_eq!(may_be_same(one, other), expected, "{one} {other}");
            assert_eq!(may_be_same(other, one), expected, "{other} {one}");
        }
    }

    #[test]
    fn valid_names_and_rendering_leftovers_are_not_placeholders() {
        for text in [
            "web",
            "system:node_x",
            "a.b-c",
            "web-<nil>",
            "<no value>",
            "100%",
            "a<b",
            "x__y",
            "$",
            "50$",
            "a`<b>|x",
        ] {
            assert_eq!(find(text), None, "{text}");
        }
    }

    #[test]
    fn placeholder_filling_the_whole_text_is_recognised() {
        assert_eq!(is_whole("$ANNOTATIONS"), Some(TemplateLanguage::Variable));
        assert_eq!(is_whole("(removed)"), Some(TemplateLanguage::Placeholder));
        assert_eq!(is_whole("echo ${HOME}"), None);
        assert_eq!(is_whole("()"), None);
    }
}
