//! What an editor offers to do about a finding.

use std::collections::HashMap;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, Command, Diagnostic, NumberOrString, Position,
    Range, TextEdit, Uri, WorkspaceEdit,
};

use crate::text::SourceFile;

/// The command that opens the page of a rule.
pub(super) const OPEN_PAGE: &str = "ownerlint.openPage";

/// Fixes, suppressions with a reason, and the pages of the rules, for the findings that the editor asks about.
pub(super) fn actions(params: &CodeActionParams, file: &SourceFile) -> Vec<CodeActionOrCommand> {
    let own = params.context.diagnostics.iter().filter(|diagnostic| diagnostic.source.as_deref() == Some("ownerlint"));
    own.flat_map(|diagnostic| {
        let Some(NumberOrString::String(rule)) = &diagnostic.code else { return Vec::new() };
        let suppress = suppression(rule, diagnostic, &params.text_document.uri, file);
        let all = fixes(diagnostic).into_iter().chain(suppress).chain(page(rule, diagnostic));
        all.map(CodeActionOrCommand::CodeAction).collect()
    })
    .collect()
}

/// The fixes that came with the finding: editors send back what they were given.
fn fixes(diagnostic: &Diagnostic) -> Vec<CodeAction> {
    let given = diagnostic.data.as_ref().and_then(|data| data.get("actions")).cloned();
    let fixes = given.and_then(|actions| serde_json::from_value::<Vec<CodeAction>>(actions).ok()).unwrap_or_default();
    fixes.into_iter().map(|fix| CodeAction { diagnostics: Some(vec![diagnostic.clone()]), ..fix }).collect()
}

/// A comment above the line; none where a comment cannot stand: JSON, and flows over several lines.
fn suppression(rule: &str, diagnostic: &Diagnostic, uri: &Uri, file: &SourceFile) -> Option<CodeAction> {
    let line = diagnostic.range.start.line;
    let text = file.slice(file.line_span(line as usize + 1)?);
    let body = text.trim_start_matches('\u{feff}').trim_start_matches([' ', '-']);
    if file.path().ends_with(".json") || body.starts_with(['{', '}', '[', ']', '"', ',']) {
        return None;
    }
    let indentation = &text[..text.len() - text.trim_start_matches(' ').len()];
    let at = Position::new(line, 0);
    let edit = TextEdit {
        range: Range::new(at, at),
        new_text: format!("{indentation}# ownerlint: ignore[{rule}] TODO: say why\n"),
    };
    Some(CodeAction {
        title: format!("Suppress {rule} here, with a reason"),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostic.clone()]),
        // `changes` is understood by every editor.
        edit: Some(changes(uri, vec![edit])),
        ..CodeAction::default()
    })
}

fn page(rule: &str, diagnostic: &Diagnostic) -> Option<CodeAction> {
    let url = &diagnostic.code_description.as_ref()?.href;
    let title = format!("Open the page of {rule}");
    let command =
        Command { title: title.clone(), command: OPEN_PAGE.to_owned(), arguments: Some(vec![url.as_str().into()]) };
    Some(CodeAction {
        title,
        diagnostics: Some(vec![diagnostic.clone()]),
        command: Some(command),
        ..CodeAction::default()
    })
}

fn changes(uri: &Uri, edits: Vec<TextEdit>) -> WorkspaceEdit {
    WorkspaceEdit { changes: Some(HashMap::from([(uri.clone(), edits)])), ..WorkspaceEdit::default() }
}
