//! The state that a comparison starts from. For a commit that head does not contain, it is their merge base.

use std::path::Path;

use super::request::{CompareRequest, StateChoice};
use super::state::StateReader;
use crate::git::{GitError, Repository};
use crate::kube::shell;
use crate::report::diff::StateName;
use crate::text::near;

/// The default comparison, if the user names no states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsualChange {
    /// The state before the change.
    pub base: StateChoice,
    /// The state after the change.
    pub head: StateChoice,
    /// The comparison in words.
    pub said: String,
}

/// Returns the change of the current branch: its commits and edits since it left the default branch; on the default
/// branch, the edits or, without any, the last commit.
///
/// # Errors
/// There is no repository, no commit, no default branch, or nothing before the first commit.
pub fn usual_change() -> Result<UsualChange, GitError> {
    let repository = Repository::discover(Path::new("."))?;
    let head = repository.commit("HEAD")?;
    let default = repository.default_branch();
    let default = default.ok_or(GitError::NoDefaultBranch)?;
    let left = repository.merge_base(&default, "HEAD")?;
    let is_clean = repository.is_clean()?;
    let (edited, tree) = match is_clean {
        None => (StateChoice::Commit("HEAD".to_owned()), "HEAD"),
        Some(_) => (StateChoice::WorkTree, "the work tree"),
    };
    if left != head {
        return Ok(UsualChange {
            said: format!("comparing {tree} with its merge base with {default}"),
            base: StateChoice::Commit(default),
            head: edited,
        });
    }
    if is_clean == Some(false) {
        return Ok(UsualChange {
            base: StateChoice::Commit("HEAD".to_owned()),
            head: edited,
            said: "comparing the work tree with HEAD".to_owned(),
        });
    }
    let parent = repository.commit("HEAD^");
    parent.map_err(|_| GitError::FirstCommit)?;
    Ok(UsualChange {
        base: StateChoice::Commit("HEAD^".to_owned()),
        head: StateChoice::Commit("HEAD".to_owned()),
        said: format!("comparing HEAD, which is part of {default}, with the commit before it"),
    })
}

/// Whether `word` names a commit of the current repository.
pub fn is_commit(word: &str) -> bool {
    Repository::discover(Path::new(".")).is_ok_and(|repository| repository.commit(word).is_ok())
}

/// Returns the branch or tag of the current repository that is most similar to `word`; `None` if none is similar.
pub fn similar_reference(word: &str) -> Option<String> {
    let repository = Repository::discover(Path::new(".")).ok()?;
    near::nearest(word, repository.references())
}

/// The state that is compared, and its name in reports.
pub(super) struct Start {
    pub(super) choice: StateChoice,
    pub(super) name: StateName,
    pub(super) note: Option<String>,
}

impl Start {
    /// Finds the state that a comparison starts from.
    ///
    /// # Errors
    /// A word that names no commit, and two commits without a common history.
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
        let note = if commit == repository.commit(head)? {
            let range = format!("{head}...{reference}");
            let command = shell::line(["ownerlint", "diff", &range]);
            format!(
                "`{reference}` contains `{head}`, so its commits are not compared; to see what merging it deletes: `{command}`"
            )
        } else {
            let short = commit.get(..12).unwrap_or(&commit);
            format!(
                "compared with {short}, the merge base of `{head}` and `{reference}`; \
                 `--no-merge-base` compares with `{reference}` itself"
            )
        };
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
