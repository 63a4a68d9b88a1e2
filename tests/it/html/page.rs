//! A strict reader of pages of `--output html`: nothing runs or loads that the page's policy does not name.

use serde_json::Value;
use sha2_const_stable::Sha256;

/// The parts of a page.
#[derive(Debug)]
pub(crate) struct HtmlPage {
    /// The common part of all pages: everything but the data.
    pub(crate) shell: String,
    pub(crate) style: String,
    /// The scripts, in order.
    pub(crate) scripts: Vec<String>,
    pub(crate) policy: String,
    pub(crate) title: String,
    /// The embedded output of `--output json`.
    pub(crate) contract: Value,
    pub(crate) beside: Value,
}

/// Returns the text between two marks, and the rest; the text must begin with the first mark.
fn between<'t>(text: &'t str, start: &str, end: &str) -> (&'t str, &'t str) {
    let rest = text
        .strip_prefix(start)
        .unwrap_or_else(|| panic!("{start} is not next: {}", cut(text)));
    rest.split_once(end)
        .unwrap_or_else(|| panic!("{start} is not closed by {end}"))
}

fn cut(text: &str) -> String {
    text.chars().take(120).collect()
}

/// Returns a hash as a Content-Security-Policy writes it.
pub(crate) fn hash(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digest = Sha256::new().update(text.as_bytes()).finalize();
    let group = |bytes: &[u8]| {
        let number = (0..3).fold(0u32, |number, at| {
            number << 8 | u32::from(bytes.get(at).copied().unwrap_or(0))
        });
        let digit = |at: usize| {
            if at <= bytes.len() {
                DIGITS[(number >> (18 - 6 * at) & 63) as usize] as char
            } else {
                '='
            }
        };
        (0..4).map(digit).collect::<String>()
    };
    format!("sha256-{}", digest.chunks(3).map(group).collect::<String>())
}

impl HtmlPage {
    /// Parses a page like a browser: a text element ends at the first end tag of its name.
    pub(crate) fn read(text: &str) -> Self {
        let start = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
                     <meta http-equiv=\"Content-Security-Policy\" content=\"";
        let (policy, rest) = between(text, start, "\">");
        let (meta, rest) = rest.split_once("<title>").expect("a title");
        let (title, rest) = rest.split_once("</title>").expect("the end of the title");
        let (style, rest) = between(rest, "\n<style>", "</style>");
        let (body, rest) = between(rest, "\n</head>\n<body>\n", "<script");
        let (contract, rest) = between(
            rest,
            " type=\"application/json\" id=\"contract\">",
            "</script>",
        );
        let (beside, mut rest) = between(
            rest,
            "\n<script type=\"application/json\" id=\"beside\">",
            "</script>",
        );
        let mut scripts = Vec::new();
        while rest.starts_with("\n<script>") {
            let (script, after) = between(rest, "\n<script>", "</script>");
            scripts.push(script.to_owned());
            rest = after;
        }
        assert_eq!(rest, "\n</body>\n</html>\n");
        assert!(
            !title.contains('<')
                && !contract.contains(['<', '>', '&'])
                && !beside.contains(['<', '>', '&'])
        );
        let page = Self {
            shell: text
                .replacen(contract, "", 1)
                .replacen(beside, "", 1)
                .replacen(title, "", 1),
            style: style.to_owned(),
            scripts,
            policy: policy.to_owned(),
            title: title.to_owned(),
            contract: serde_json::from_str(contract).expect("the contract is JSON"),
            beside: serde_json::from_str(beside).expect("what is beside it is JSON"),
        };
        for markup in [meta, body] {
            for danger in [" on", " src=", " style=", "http:", "https:"] {
                assert!(!markup.contains(danger), "{danger} in {markup}");
            }
        }
        page.keeps_its_policy();
        page
    }

    fn keeps_its_policy(&self) {
        let hashes: Vec<String> = self
            .scripts
            .iter()
            .rev()
            .map(|script| format!("'{}'", hash(script)))
            .collect();
        let expected = format!(
            "default-src 'none'; script-src {}; style-src '{}'; base-uri 'none'; form-action 'none'; \
             require-trusted-types-for 'script'; trusted-types 'none'",
            hashes.join(" "),
            hash(&self.style)
        );
        assert_eq!(
            self.policy, expected,
            "UPDATE_DOCS=1 cargo test --test it html writes the hashes"
        );
    }
}
