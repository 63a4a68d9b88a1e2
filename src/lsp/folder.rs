//! A folder of the editor, and the answers from its last reading.

use lsp_types::Uri;
use self_cell::self_cell;

use super::answers::Answers;
use super::workspace::{Workspace, check_options};
use crate::engine::{Session, SessionError};
use crate::text::ColumnUnit;

self_cell!(
    /// A session with the answers that borrow from it.
    struct Reading {
        owner: Session,
        #[not_covariant]
        dependent: Answers,
    }
);

/// A folder of the editor, or a text without a file.
pub(super) struct Folder {
    pub(super) workspace: Workspace,
    reading: Option<Reading>,
    /// The file whose diagnostics show the mistake that prevents a check of the folder.
    pub(super) mistake_file: Option<Uri>,
    /// The error of the last check, if it failed; it is not shown twice.
    pub(super) reported_error: Option<String>,
    /// Whether the last check exceeded a limit, which is not logged again.
    pub(super) is_limited: bool,
}

impl Folder {
    /// Creates a folder that is not read yet.
    pub(super) fn new(workspace: Workspace) -> Self {
        Self {
            workspace,
            reading: None,
            mistake_file: None,
            reported_error: None,
            is_limited: false,
        }
    }

    /// Whether it was never read.
    pub(super) fn is_new(&self) -> bool {
        self.reading.is_none()
    }

    /// Reads and checks the folder again. If it cannot be read, the answers of the last reading stay available, because
    /// a text may be unfinished.
    ///
    /// # Errors
    /// The configuration has a mistake, or the folder cannot be read.
    pub(super) fn refresh(&mut self, unit: ColumnUnit) -> Result<(), SessionError> {
        let earlier = self.reading.as_ref().map(Reading::borrow_owner);
        let Some(session) = self.workspace.read(earlier)? else {
            return Ok(());
        };
        let text = self.workspace.text().cloned();
        let mut reading = Reading::new(session, |session| Answers {
            inquiry: session.inquiry(),
            report: None,
            unit,
            text,
        });
        let judged = reading.with_dependent_mut(|_, answers| {
            answers.report = Some(answers.inquiry.check(check_options())?);
            Ok(())
        });
        self.reading = Some(reading);
        judged
    }

    /// Calls `question` with the answers of the last reading; `None` if there is none.
    pub(super) fn ask<R>(&self, question: impl FnOnce(&Answers<'_>) -> R) -> Option<R> {
        let reading = self.reading.as_ref()?;
        Some(reading.with_dependent(|_, answers| question(answers)))
    }
}
