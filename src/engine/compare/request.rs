//! The request of a comparison, as plain data that a command line builds.

use crate::charts::RenderingTerms;
use crate::engine::ConfigChoice;
use crate::inventory::Release;
use crate::merge::DeliveryChoice;
use crate::suppression::Date;

/// Two states of a tree to compare, and how to read them.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CompareRequest {
    /// The state before the change.
    pub base: StateChoice,
    /// The state after the change.
    pub head: StateChoice,
    /// Whether base is compared as it is, even if head does not contain it. Otherwise the comparison starts at their
    /// merge base, so that changes of another branch do not look like deletions.
    pub literal_base: bool,
    /// Files, folders and globs that both states are limited to; all files if there are none. For a commit, they are
    /// looked up in its tree. A [`StateChoice::Path`] is read whole.
    pub paths: Vec<String>,
    /// Files, folders and globs with other objects, which the cluster has before and after.
    pub beside: Vec<String>,
    /// Globs of paths to leave out, besides those of the configuration.
    pub exclude: Vec<String>,
    /// The namespace of namespaced objects without one.
    pub namespace: Option<String>,
    /// The Kubernetes release whose built-in kinds are assumed.
    pub release: Option<Release>,
    /// Whether both states are rendered: with the commands of the configuration, else with kustomize; charts that
    /// deliveries name, with helm. This runs code that the states contain.
    pub render: bool,
    /// Terms for rendering charts, such as the allowed hosts and the time limit.
    pub rendering: RenderingTerms,
    /// The delivery tools that the caller names; those of other objects are inferred.
    #[doc(hidden)]
    pub delivery: DeliveryChoice,
    /// The configuration to use. A file of the repository is read from base, so that a change cannot silence findings
    /// on itself. If only head has it, only its bundles, scopes and namespaces are used.
    pub config: ConfigChoice,
    /// The commit that the configuration is read from, instead of base.
    pub config_ref: Option<String>,
    /// Ids, subjects or prefixes of the rules of change to run; all rules if empty.
    pub select: Vec<String>,
    /// Ids, subjects or prefixes of rules that do not run.
    pub ignore: Vec<String>,
    /// The current date, for ignores that expire; if it is `None`, none expires.
    pub today: Option<Date>,
}

/// One state of a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateChoice {
    /// The work tree of the current repository: all files but those that git ignores.
    #[default]
    WorkTree,
    /// The index of the current repository: what the next commit will contain.
    Staged,
    /// A commit of the current repository.
    Commit(String),
    /// A file or folder.
    Path(String),
}

impl CompareRequest {
    /// Builds the request to compare two states, with defaults for everything else.
    pub fn new(base: StateChoice, head: StateChoice) -> Self {
        Self {
            base,
            head,
            ..Self::default()
        }
    }
}
