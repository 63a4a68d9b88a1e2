//! Rule pages: Markdown with a YAML front matter and examples that are executed as tests.
//!
//! A page is its rule's documentation for people, for `explain`, for SARIF and for the tests alike. Its YAML examples
//! carry their expectation: every line marked `# expect: <rule-id>` is where that rule must point, and an example without a
//! mark must be silent for the page's rule.

use serde::Deserialize;
use thiserror::Error;

/// What is between the `---` lines of a page.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontMatter {
    /// The rule's id.
    pub id: String,
    /// The default severity.
    pub severity: String,
    /// The default consequence.
    pub consequence: String,
    /// The release of ownerlint that brought the rule.
    pub since: String,
    /// One line for lists.
    pub summary: String,
}

/// A fenced YAML block of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The words after the language: `title="…"`, options such as `world=closed`.
    pub info: String,
    /// The manifests.
    pub yaml: String,
    /// The line of the page on which the block's first line is, 1-based.
    pub line: usize,
}

/// A page, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<'a> {
    /// The front matter.
    pub front_matter: FrontMatter,
    /// The Markdown after it.
    pub body: &'a str,
    /// Its YAML examples.
    pub examples: Vec<Example>,
}

/// A page that cannot be read.
#[derive(Debug, Error)]
pub enum PageError {
    /// No front matter.
    #[error("a rule page begins with front matter between two `---` lines")]
    NoFrontMatter,
    /// Front matter that does not decode.
    #[error("front matter: {0}")]
    FrontMatter(#[from] serde_yaml::Error),
}

impl<'a> Page<'a> {
    /// Takes a page apart.
    ///
    /// # Errors
    /// A missing or wrong front matter.
    pub fn parse(text: &'a str) -> Result<Self, PageError> {
        let inner = text.strip_prefix("---\n").ok_or(PageError::NoFrontMatter)?;
        let (front, body) = inner.split_once("\n---\n").ok_or(PageError::NoFrontMatter)?;
        let first_line = front.lines().count() + 3;
        let body = body.trim_start_matches('\n');
        let skipped = text.len() - body.len();
        let first_line = text[..skipped].lines().count().max(first_line - 1) + 1;
        Ok(Self { front_matter: serde_yaml::from_str(front)?, body, examples: examples(body, first_line) })
    }
}

fn examples(body: &str, first_line: usize) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut open: Option<Example> = None;
    for (at, line) in body.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                if let Some(info) = info.strip_prefix("yaml") {
                    let line = first_line + at + 1;
                    open = Some(Example { info: info.trim().to_owned(), yaml: String::new(), line });
                }
            }
            (Some(_), Some(_)) => examples.extend(open.take()),
            (Some(example), None) => {
                example.yaml.push_str(line);
                example.yaml.push('\n');
            }
            (None, None) => {}
        }
    }
    examples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_gives_its_front_matter_and_examples() {
        let text = "---\nid: a\nseverity: error\nconsequence: stuck\nsince: 0.1.0\nsummary: s\n---\n\n# a\n\n```yaml bad\nx: 1\n```\n\n```console\n$ x\n```\n";
        let page = Page::parse(text).expect("a good page");
        assert_eq!(page.front_matter.id, "a");
        assert_eq!(page.examples, [Example { info: "bad".into(), yaml: "x: 1\n".into(), line: 12 }]);
    }
}
