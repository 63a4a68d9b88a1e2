//! The state that a comparison starts from: of a commit that head does not contain, the commit at which head left it.

use super::request::{CompareRequest, StateChoice};
use super::state::StateReader;
use crate::git::GitError;
use crate::report::diff::StateName;

/// The state that is compared, and its name in reports.
pub(super) struct Start {
    pub(super) choice: StateChoice,
    pub(super) name: StateName,
    pub(super) note: Option<String>,
}

impl Start {
    /// The start of a comparison.
    ///
    /// # Errors
    /// A word that means no commit, and two commits without a common history.
    pub(super) fn of(request: &CompareRequest, reader: &mut StateReader) -> Result<Self, GitError> {
        let as_named = Self {
            choice: request.base.clone(),
            name: super::describe::name(&request.base),
            note: None,
        };
        let head = match &request.head {
            StateChoice::Path(_) => return Ok(as_named),
            StateChoice::Commit(reference) => reference.as_str(),
            StateChoice::WorkTree | StateChoice::Staged => "HEAD",
        };
        let StateChoice::Commit(reference) = &request.base else {
            return Ok(as_named);
        };
        let repository = reader.repository()?;
        if request.literal_base || reference == head || !repository.has_commits() {
            return Ok(as_named);
        }
        let commit = repository.merge_base(reference, head)?;
        if commit == repository.commit(reference)? {
            return Ok(as_named);
        }
        let short = commit.get(..12).unwrap_or(&commit);
        let note = format!(
            "compared with {short}, where `{head}` left `{reference}`; `--no-merge-base` compares with `{reference}` itself"
        );
        let name = StateName::MergeBase {
            reference: reference.clone(),
            commit: commit.clone(),
        };
        Ok(Self {
            choice: StateChoice::Commit(commit),
            name,
            note: Some(note),
        })
    }
}
