//! The page around the data: one file, which loads nothing and runs nothing but its own scripts.
//!
//! Scripts get manifest data as JSON that is never executed, with every character escaped that has
//! a meaning in HTML, and insert it as text nodes. A policy allows only scripts with known hashes.

use serde::Serialize;

use super::assets::{BODY, LAYOUT, LAYOUT_HASH, SCRIPT, SCRIPT_HASH, STYLE, STYLE_HASH};
use crate::text::plain;

/// The maximum number of characters of the title.
const TITLE: usize = 150;

/// Renders the document of a contract, with further data. Pages with a graph contain the layout library.
pub(super) fn page(
    title: &str,
    contract: &impl Serialize,
    page_data: &impl Serialize,
    with_graph: bool,
) -> String {
    let (layout, layout_hash) = if with_graph {
        (
            format!("<script>{LAYOUT}</script>\n"),
            format!(" '{LAYOUT_HASH}'"),
        )
    } else {
        (String::new(), String::new())
    };
    let title = plain::one_line(title).replace('`', "");
    let title = text(&plain::shortened(&title, TITLE));
    let (contract, page_data) = (json(contract), json(page_data));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '{SCRIPT_HASH}'{layout_hash}; style-src '{STYLE_HASH}'; \
         base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title} · ownerlint</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{BODY}\
         <script type=\"application/json\" id=\"contract\">{contract}</script>\n\
         <script type=\"application/json\" id=\"beside\">{page_data}</script>\n\
         {layout}<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// Renders a document without scripts.
pub(super) fn still(title: &str, body: &str) -> String {
    let title = text(&plain::shortened(&plain::one_line(title), TITLE));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{STYLE_HASH}'; base-uri 'none'; \
         form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title} · ownerlint</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

/// Escapes text between tags.
pub(super) fn text(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Serializes JSON in which nothing ends an element, begins a comment or a workflow command, or
/// changes the text direction. Such characters occur only in strings, where they are escaped.
fn json(document: &impl Serialize) -> String {
    // Serialization fails only on maps whose keys are not strings; there are none.
    let json = serde_json::to_string(document).unwrap_or_default();
    let json = plain::visible_json(&json);
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '#' | '\u{2028}' | '\u{2029}' => {
                escaped.push_str(&format!("\\u{:04x}", c as u32));
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_json_round_trips_without_html_syntax() {
        let hostile = "</script><!--<script>&amp;]]>\u{2028}\u{202e}##[error]\u{7f}";
        let shown = json(&hostile);
        assert!(
            !shown.contains(['<', '>', '&', '#', '\u{2028}', '\u{202e}', '\u{7f}']),
            "{shown}"
        );
        assert_eq!(
            serde_json::from_str::<String>(&shown).ok().as_deref(),
            Some(hostile)
        );
    }

    #[test]
    fn page_title_is_escaped() {
        let page = page("</title><script>", &"", &"", false);
        assert!(page.contains("<title>&lt;/title&gt;&lt;script&gt; · ownerlint</title>"));
    }
}
