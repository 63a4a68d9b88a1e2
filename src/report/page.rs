//! `explain`: a rule's page as a terminal shows it, without Markdown and without the marks that its tests need.

use super::wrap::fill;
use super::{HumanOptions, KnownRule, RuleInfo};
use crate::finding::Applicability;
use crate::rules::Subject;

/// The indentation of text below its heading, and of examples below the text.
const INDENT: &str = "  ";
/// The indentation of all lines of a table row but the first.
const BELOW: &str = "    ";

/// The maximum width: longer lines of prose are hard to read.
const WIDEST: usize = 100;

/// Formats a rule's page as plain text.
pub fn page_human(rule: &KnownRule, options: &HumanOptions) -> String {
    let KnownRule { info: rule, fixes } = rule;
    let options = &HumanOptions {
        width: options.width.min(WIDEST),
        ..*options
    };
    let mut page = TerminalPage {
        out: String::new(),
        paragraph: Vec::new(),
        options,
    };
    page.heading(&format!(
        "{}[{}]: {}",
        rule.severity.as_str(),
        rule.id,
        rule.summary
    ));
    let mut columns: Option<Vec<&str>> = None;
    let mut in_example = false;
    for line in rule.page.lines() {
        if let Some(kind) = line.strip_prefix("```") {
            page.end_paragraph();
            in_example = !in_example;
            let label = if kind.ends_with("good") {
                "Right:"
            } else {
                "Wrong:"
            };
            if kind.starts_with("yaml") || kind.starts_with("diff") {
                page.out.push_str(&format!("{INDENT}{label}\n\n"));
            }
            if !in_example {
                page.out.push('\n');
            }
        } else if in_example {
            let shown = line.split("# expect:").next().unwrap_or_default();
            let shown = format!("{INDENT}{INDENT}{shown}");
            page.out.push_str(&format!("{}\n", shown.trim_end()));
        } else if line.starts_with("# ") {
            // The title is the id, which is in the first line already.
        } else if let Some(heading) = line.strip_prefix("## ") {
            page.heading(heading);
        } else if let Some(row) = line.strip_prefix('|') {
            let cells = row.trim_end_matches('|').split('|');
            let cells: Vec<_> = cells.map(str::trim).collect();
            match &columns {
                None => columns = Some(cells),
                Some(_) if row.starts_with("---") => {}
                Some(columns) => page.row(columns, &cells),
            }
        } else if line.is_empty() {
            page.end_paragraph();
            if columns.take().is_some() {
                page.out.push('\n');
            }
        } else {
            if is_bullet(line) {
                page.end_line();
            }
            page.paragraph.push(line);
        }
    }
    page.end_paragraph();
    if let Some(fixes) = fixed_by(fixes) {
        let fixes = fill(fixes, options.width, "", "");
        page.out.push_str(&format!("{fixes}\n\n"));
    }
    if let Some((how, example)) = accepted_by(rule) {
        let how = fill(how, options.width, "", "");
        page.out
            .push_str(&format!("{how}\n\n{INDENT}{example}\n\n"));
    }
    page.out.push_str(&format!("{}\n", rule.url));
    page.out
}

/// Says how to accept a finding, with an example; `None` for rules on input text and suppressions.
fn accepted_by(rule: &RuleInfo) -> Option<(&'static str, String)> {
    match rule.subject {
        Subject::Reading => None,
        Subject::Change => Some((
            "If the deletion is intended, accept it with the key of every object that is lost:",
            "ownerlint diff --accept KEY".to_owned(),
        )),
        _ => Some((
            "If a finding is acceptable, a comment above its line suppresses it:",
            format!("# ownerlint: ignore[{}] REASON", rule.id),
        )),
    }
}

/// Names the command that applies the fixes of a rule; `None` if it has none.
fn fixed_by(fixes: &[Applicability]) -> Option<&'static str> {
    Some(match fixes {
        [] => return None,
        [Applicability::Safe] => "`ownerlint --fix` fixes it.",
        [Applicability::Suggested] => "`ownerlint --fix --suggested` fixes it.",
        _ => {
            "`ownerlint --fix` fixes it where that is safe, and `ownerlint --fix --suggested` everywhere."
        }
    })
}

struct TerminalPage<'a> {
    out: String,
    paragraph: Vec<&'a str>,
    options: &'a HumanOptions,
}

impl TerminalPage<'_> {
    fn heading(&mut self, text: &str) {
        self.end_paragraph();
        let heading = fill(text, self.options.width, "", INDENT);
        self.out.push_str(&if self.options.color {
            format!("\u{1b}[1m{heading}\u{1b}[0m\n\n")
        } else {
            heading + "\n\n"
        });
    }

    fn end_paragraph(&mut self) {
        if !self.paragraph.is_empty() {
            self.end_line();
            self.out.push('\n');
        }
    }

    /// Writes the collected lines: a paragraph, or an item of a list.
    fn end_line(&mut self) {
        let lines = std::mem::take(&mut self.paragraph);
        let below = match lines.first() {
            None => return,
            Some(first) if is_bullet(first) => BELOW,
            Some(_) => INDENT,
        };
        let words = lines.iter().map(|line| line.trim());
        let text = without_links(&words.collect::<Vec<_>>().join(" "));
        let text = fill(&text, self.options.width, INDENT, below);
        self.out.push_str(&format!("{text}\n"));
    }

    /// Writes a row of a table: `- first cell: second cell`, or a line per cell with the name of its column.
    fn row(&mut self, columns: &[&str], cells: &[&str]) {
        let (first, others) = cells.split_first().unwrap_or((&"", &[]));
        if let [only] = others {
            return self.line(&format!("- {first}: {only}"), INDENT);
        }
        self.line(&format!("- {first}"), INDENT);
        for (column, cell) in columns.iter().skip(1).zip(others) {
            self.line(&format!("{column}: {cell}"), BELOW);
        }
    }

    fn line(&mut self, text: &str, indent: &str) {
        let text = without_links(text);
        let text = fill(&text, self.options.width, indent, BELOW);
        self.out.push_str(&format!("{text}\n"));
    }
}

/// Whether a line begins an item of a list.
fn is_bullet(line: &str) -> bool {
    line.starts_with("* ") || line.starts_with("- ")
}

/// Replaces links between pages, written `[rule](rule.md)`, by their labels.
fn without_links(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("](")
        && let Some((_, after)) = link.split_once(')')
    {
        let (before, label) = before.rsplit_once('[').unwrap_or((before, ""));
        shown.push_str(before);
        shown.push_str(label);
        rest = after;
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_become_their_text_and_other_brackets_stay() {
        assert_eq!(
            without_links("as [owner-self](owner-self.md), `ignore[x]`, [b](b.md)."),
            "as owner-self, `ignore[x]`, b."
        );
    }
}
