//! The capabilities that the editor and the server exchange, and the editor's folders.

use lsp_types::{
    ClientCapabilities, CodeActionKind, CodeActionOptions, CodeActionProviderCapability,
    CodeLensOptions, CompletionOptions, ExecuteCommandOptions, HoverProviderCapability,
    InitializeParams, OneOf, PositionEncodingKind, ServerCapabilities, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextDocumentSyncOptions, Uri, WorkspaceFolder,
    WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};

use super::actions::{FIX_ALL, OPEN_PAGE};
use super::answers::OPEN_PLAN;
use super::place::path_of;
use crate::text::ColumnUnit;

/// Chooses UTF-8, the encoding of files, if the editor supports it; otherwise UTF-16, which every editor supports.
pub(super) fn agreed_unit(client: &ClientCapabilities) -> ColumnUnit {
    let general = client.general.as_ref();
    let offered = general.and_then(|general| general.position_encodings.as_ref());
    if offered.is_some_and(|encodings| encodings.contains(&PositionEncodingKind::UTF8)) {
        ColumnUnit::Utf8
    } else {
        ColumnUnit::Utf16
    }
}

pub(super) fn offered(unit: ColumnUnit) -> ServerCapabilities {
    let encoding = if unit == ColumnUnit::Utf8 {
        PositionEncodingKind::UTF8
    } else {
        PositionEncodingKind::UTF16
    };
    ServerCapabilities {
        position_encoding: Some(encoding),
        text_document_sync: Some(TextDocumentSyncCapability::Options(
            TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(TextDocumentSyncKind::FULL),
                save: Some(true.into()),
                ..TextDocumentSyncOptions::default()
            },
        )),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(vec![" ".to_owned()]),
            ..CompletionOptions::default()
        }),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        code_lens_provider: Some(CodeLensOptions {
            resolve_provider: Some(true),
        }),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX, FIX_ALL]),
            ..CodeActionOptions::default()
        })),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: vec![OPEN_PAGE.to_owned(), OPEN_PLAN.to_owned()],
            ..ExecuteCommandOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}

/// Returns the paths of the folders that the editor has open.
pub(super) fn roots_of(params: &InitializeParams) -> Vec<String> {
    let folders = params.workspace_folders.as_deref().unwrap_or_default();
    if !folders.is_empty() {
        return paths_of(folders);
    }
    #[expect(deprecated, reason = "editors that know no folders say it here")]
    let root = params.root_uri.as_ref().and_then(root_of);
    root.into_iter().collect()
}

pub(super) fn paths_of(folders: &[WorkspaceFolder]) -> Vec<String> {
    let roots = folders.iter().filter_map(|folder| root_of(&folder.uri));
    roots.collect()
}

/// Returns the path of a folder without a trailing slash.
fn root_of(uri: &Uri) -> Option<String> {
    Some(path_of(uri)?.trim_end_matches('/').to_owned())
}
