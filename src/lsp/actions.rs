//! Code actions for findings.

use std::collections::HashMap;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, Command, Diagnostic,
    NumberOrString, Position, Range, TextEdit, Uri, WorkspaceEdit,
};
use serde::Deserialize;
use serde_json::Value;

use super::answers::Answers;
use super::place::{offset, range};
use super::workspace::check_options;
use crate::report::{Roots, diagnostics_of};
use crate::text::{ColumnUnit, SourceFile, Span};

/// The command of the editor that opens the page of a rule.
pub(super) const OPEN_PAGE: &str = "ownerlint.openPage";

/// The kind of the action that applies the safe fixes of a file, which editors that fix on saving request.
pub(super) const FIX_ALL: CodeActionKind = CodeActionKind::new("source.fixAll.ownerlint");

/// Returns the actions for the findings at a range, then those for the whole file.
pub(super) fn actions(
    params: &CodeActionParams,
    path: &str,
    answers: &Answers<'_>,
    roots: &Roots,
) -> Option<Vec<CodeActionOrCommand>> {
    let (uri, only) = (&params.text_document.uri, params.context.only.as_deref());
    let (file, report) = (answers.inquiry.source(path)?, answers.report.as_ref()?);
    let mut actions = Vec::new();
    if is_wanted(only, &CodeActionKind::QUICKFIX) {
        let [start, end] = [params.range.start, params.range.end]
            .map(|position| offset(file, position, answers.unit));
        let part = Some(Span::new(start, end));
        let diagnostics = diagnostics_of(report, path, part, answers.unit, roots);
        actions = about(diagnostics, uri, file);
    }
    // This action needs another check of the file, so it is only offered on request.
    if only.is_some() && is_wanted(only, &FIX_ALL) {
        let fixed = answers.inquiry.fixed_text(path, report, &check_options());
        let fixed = fixed.ok().flatten();
        actions.extend(fixed.map(|fixed| fix_all(&fixed, uri, file, answers.unit)));
    }
    let actions = actions.into_iter().map(CodeActionOrCommand::CodeAction);
    Some(actions.collect())
}

/// Returns fixes, suppressions with a reason, and rule pages for the findings of `diagnostics`.
///
/// `diagnostics` are the server's own: the editor may send old ones, or ones without their data.
fn about(diagnostics: Vec<Value>, uri: &Uri, file: &SourceFile) -> Vec<CodeAction> {
    let all = diagnostics.into_iter();
    let all = all.filter_map(|diagnostic| serde_json::from_value::<Diagnostic>(diagnostic).ok());
    let actions = all.flat_map(|diagnostic| {
        let Some(NumberOrString::String(rule)) = &diagnostic.code else {
            return Vec::new();
        };
        let suppress = suppression(rule, &diagnostic, uri, file);
        fixes(&diagnostic)
            .into_iter()
            .chain(suppress)
            .chain(page(rule, &diagnostic))
            .collect()
    });
    actions.collect()
}

/// Returns the action that applies all safe fixes of the file, as one edit from the first change to the last.
fn fix_all(fixed: &str, uri: &Uri, file: &SourceFile, unit: ColumnUnit) -> CodeAction {
    let (span, new_text) = difference(file.text(), fixed);
    let edit = TextEdit {
        range: range(file, span, unit),
        new_text: new_text.to_owned(),
    };
    CodeAction {
        title: "Apply all safe fixes of ownerlint in this file".to_owned(),
        kind: Some(FIX_ALL),
        edit: Some(changes(uri, vec![edit])),
        ..CodeAction::default()
    }
}

/// Returns the differing part of `before`, and its replacement in `after`.
fn difference<'t>(before: &str, after: &'t str) -> (Span, &'t str) {
    let start = common_bytes(before.chars().zip(after.chars()));
    let (rest, new) = (&before[start..], &after[start..]);
    let end = common_bytes(rest.chars().rev().zip(new.chars().rev()));
    (
        Span::new(start as u32, (before.len() - end) as u32),
        &new[..new.len() - end],
    )
}

/// Returns the length in bytes of the equal characters before the first difference.
fn common_bytes(pairs: impl Iterator<Item = (char, char)>) -> usize {
    let same = pairs.take_while(|(one, other)| one == other);
    same.map(|(one, _)| one.len_utf8()).sum()
}

/// Whether an editor that requests some kinds of actions wants this kind: `source` includes `source.fixAll`.
fn is_wanted(only: Option<&[CodeActionKind]>, kind: &CodeActionKind) -> bool {
    only.is_none_or(|only| {
        only.iter().any(|wanted| {
            let rest = kind.as_str().strip_prefix(wanted.as_str());
            rest.is_some_and(|rest| {
                wanted.as_str().is_empty() || rest.is_empty() || rest.starts_with('.')
            })
        })
    })
}

fn fixes(diagnostic: &Diagnostic) -> Vec<CodeAction> {
    let given = diagnostic
        .data
        .as_ref()
        .and_then(|data| data.get("actions"));
    let fixes = given.and_then(|actions| Vec::<CodeAction>::deserialize(actions).ok());
    let fixes = fixes.unwrap_or_default().into_iter();
    fixes
        .map(|fix| CodeAction {
            diagnostics: Some(vec![diagnostic.clone()]),
            ..fix
        })
        .collect()
}

/// Returns the action that inserts a suppressing comment above the line; `None` where no comment is allowed.
fn suppression(
    rule: &str,
    diagnostic: &Diagnostic,
    uri: &Uri,
    file: &SourceFile,
) -> Option<CodeAction> {
    let line = diagnostic.range.start.line;
    let span = file.line_span(line as usize + 1)?;
    let text = file.slice(span);
    let body = text
        .trim_start_matches('\u{feff}')
        .trim_start_matches([' ', '-']);
    if file.path().ends_with(".json") || body.starts_with(['{', '}', '[', ']', '"', ',']) {
        return None;
    }
    let indentation = &text[..text.len() - text.trim_start_matches(' ').len()];
    let end = if file.text()[span.end as usize..].starts_with("\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let at = Position::new(line, 0);
    let edit = TextEdit {
        range: Range::new(at, at),
        new_text: format!("{indentation}# ownerlint: ignore[{rule}] TODO: say why{end}"),
    };
    Some(CodeAction {
        title: format!("Suppress {rule} here, with a reason"),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostic.clone()]),
        // Every editor supports `changes`.
        edit: Some(changes(uri, vec![edit])),
        ..CodeAction::default()
    })
}

fn page(rule: &str, diagnostic: &Diagnostic) -> Option<CodeAction> {
    let url = &diagnostic.code_description.as_ref()?.href;
    let title = format!("Open the page of {rule}");
    let command = Command {
        title: title.clone(),
        command: OPEN_PAGE.to_owned(),
        arguments: Some(vec![url.as_str().into()]),
    };
    Some(CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostic.clone()]),
        command: Some(command),
        ..CodeAction::default()
    })
}

fn changes(uri: &Uri, edits: Vec<TextEdit>) -> WorkspaceEdit {
    WorkspaceEdit {
        changes: Some(HashMap::from([(uri.clone(), edits)])),
        ..WorkspaceEdit::default()
    }
}
