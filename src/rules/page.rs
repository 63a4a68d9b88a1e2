//! Rule pages: Markdown with a YAML front matter and examples that are executed as tests.
//!
//! One page serves readers, `explain`, SARIF and the tests. Its examples are manifests, or a change to some, and carry
//! their expectation: the rule must point at every line marked `# expect: <rule-id>`, and must be silent in an example
//! without a mark.

use serde::Deserialize;
use thiserror::Error;

use crate::finding::Applicability;

/// The text between the `---` lines of a page.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontMatter {
    /// The rule's id.
    pub id: String,
    /// The default severity.
    pub severity: String,
    /// The default consequence.
    pub consequence: String,
    /// The first release of ownerlint with the rule.
    pub since: String,
    /// How fixes of the rule may be applied: `safe`, `suggested`, or both with a comma; left out if it offers none.
    #[serde(default)]
    pub fix: Option<String>,
    /// One line for lists.
    pub summary: String,
}

impl FrontMatter {
    /// Returns how fixes of the rule may be applied, for each kind of fix that it offers.
    pub fn fixes(&self) -> Vec<Applicability> {
        let all = [Applicability::Safe, Applicability::Suggested].into_iter();
        all.filter(|one| {
            let mut words = self.fix.iter().flat_map(|fix| fix.split(','));
            words.any(|word| word.trim() == one.as_str())
        })
        .collect()
    }
}

/// A fenced block of a page that is executed as a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Its language.
    pub language: ExampleLanguage,
    /// The words after the language: `title="…"`, options such as `world=closed`.
    pub info: String,
    /// The manifests, or the change.
    pub text: String,
    /// The 1-based line of the page on which the block's content begins.
    pub line: usize,
}

/// The language of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleLanguage {
    /// `yaml`: manifests.
    Yaml,
    /// `diff`: a change. `--- path` begins a file; each following line begins with a space if both sides have it, with
    /// `-` if only base has it, or with `+` if only head has it.
    Diff,
}

impl ExampleLanguage {
    /// Returns the language of a block, and the words after it; `None` if the block is not an example.
    fn of(info: &str) -> Option<(Self, &str)> {
        let yaml = info.strip_prefix("yaml").map(|rest| (Self::Yaml, rest));
        yaml.or_else(|| Some((Self::Diff, info.strip_prefix("diff")?)))
    }
}

/// A parsed page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<'a> {
    /// The front matter.
    pub front_matter: FrontMatter,
    /// The Markdown after it.
    pub body: &'a str,
    /// Its examples.
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
    /// Splits a page into its front matter and the Markdown after it; `None` without front matter.
    pub fn parts(text: &'a str) -> Option<(&'a str, &'a str)> {
        let (front, body) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
        Some((front, body.trim_start_matches('\n')))
    }

    /// Parses a page.
    ///
    /// # Errors
    /// The front matter is missing or does not decode.
    pub fn parse(text: &'a str) -> Result<Self, PageError> {
        let (front, body) = Self::parts(text).ok_or(PageError::NoFrontMatter)?;
        let skipped = text.len() - body.len();
        let first_line = text[..skipped].lines().count() + 1;
        Ok(Self {
            front_matter: serde_yaml::from_str(front)?,
            body,
            examples: examples(body, first_line),
        })
    }
}

fn examples(body: &str, first_line: usize) -> Vec<Example> {
    let mut examples = Vec::new();
    let mut open: Option<Example> = None;
    for (at, line) in body.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                open = ExampleLanguage::of(info).map(|(language, info)| Example {
                    language,
                    info: info.trim().to_owned(),
                    text: String::new(),
                    line: first_line + at + 1,
                });
            }
            (Some(_), Some(_)) => examples.extend(open.take()),
            (Some(example), None) => {
                example.text.push_str(line);
                example.text.push('\n');
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
    fn page_parses_into_front_matter_and_examples() {
        let text = "---\nid: a\nseverity: error\nconsequence: stuck\nsince: 0.1.0\nsummary: s\n---\n\n# a\n\n```yaml bad\nx: 1\n```\n\n```console\n$ x\n```\n";
        let page = Page::parse(text).expect("a good page");
        assert_eq!(page.front_matter.id, "a");
        let example = Example {
            language: ExampleLanguage::Yaml,
            info: "bad".into(),
            text: "x: 1\n".into(),
            line: 12,
        };
        assert_eq!(page.examples, [example]);
    }
}
