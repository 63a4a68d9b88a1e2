//! Disables workflow commands, which runners execute from the output of a step: text of a manifest must not be
//! executed.

use std::borrow::Cow;

/// How an output is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// By a person, or as markup.
    Text,
    /// As JSON: only its strings matter.
    Json,
    /// By the runner: the commands are intended, and already escaped.
    Commands,
}

/// Returns `text` without anything that would start a command.
///
/// Commands are `::name` at the start of a line, after optional blanks, and `##[name]`, `##vso[name]` or
/// `##teamcity[name]` anywhere.
pub fn without_commands(text: &str, syntax: Syntax) -> Cow<'_, str> {
    let suspect = text.contains("##") || text.contains("::");
    if syntax == Syntax::Commands || !suspect {
        return Cow::Borrowed(text);
    }
    // In a JSON string, an escape keeps the value; elsewhere, the added blank is visible.
    let apart = if syntax == Syntax::Json {
        "#\\u0023"
    } else {
        "# #"
    };
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let start = line.len() - line.trim_start().len();
        let (blanks, rest) = line.split_at(start);
        out.push_str(blanks);
        let rest = if let Some(command) = rest.strip_prefix("::") {
            out.push_str(": :");
            command
        } else {
            rest
        };
        // A second pass, since `###` contains two overlapping pairs.
        out.push_str(&rest.replace("##", apart).replace("##", apart));
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inert(text: &str) -> Cow<'_, str> {
        without_commands(text, Syntax::Text)
    }

    #[test]
    fn workflow_commands_in_text_are_defused() {
        assert_eq!(
            inert("::error::x\n \t::set-output\na::b\n"),
            ": :error::x\n \t: :set-output\na::b\n"
        );
        assert_eq!(inert("x ##[error]y ###vso[z]"), "x # #[error]y # # #vso[z]");
        assert_eq!(inert("####[error]y"), "# # # #[error]y");
        assert_eq!(inert("plain # text"), "plain # text");
    }

    #[test]
    fn defused_json_keeps_its_value() {
        let json = r####"{"a": "###[error]::x"}"####;
        let inert = without_commands(json, Syntax::Json);
        assert!(!inert.contains("##"), "{inert}");
        let [read, expected] =
            [&*inert, json].map(|text| serde_json::from_str::<serde_json::Value>(text).ok());
        assert_eq!(read, expected);
    }

    #[test]
    fn intended_workflow_commands_are_kept() {
        assert_eq!(
            without_commands("::error file=a::b\n", Syntax::Commands),
            "::error file=a::b\n"
        );
    }
}
