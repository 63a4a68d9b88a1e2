//! The request of a comparison: plain data, as a command line puts it together.

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
    /// The state after it.
    pub head: StateChoice,
    /// Whether a commit that head does not contain is compared as it is. Otherwise the comparison starts at the commit
    /// at which head left it, so that the changes of another branch are not taken for deletions of this one.
    pub literal_base: bool,
    /// Files, folders and globs that both states are limited to; none: all of them. For commits they are looked up in their
    /// trees.
    pub paths: Vec<String>,
    /// Files and folders with what else the cluster contains, before and after.
    pub beside: Vec<String>,
    /// Globs of paths that are left out, besides those of the configuration.
    pub exclude: Vec<String>,
    /// The namespace of namespaced objects without one.
    pub namespace: Option<String>,
    /// The release whose built-in kinds count.
    pub release: Option<Release>,
    /// Whether both states are rendered: with the commands of the configuration, else with kustomize, and the charts
    /// that deliveries name with helm. That runs code of theirs.
    pub render: bool,
    /// The terms of rendering.
    pub rendering: RenderingTerms,
    /// The delivery tools, as far as they are given.
    #[doc(hidden)]
    pub delivery: DeliveryChoice,
    /// Which configuration counts. One of the repository is read from base: a change cannot silence what is said about
    /// it. If only head has it, nothing counts but its bundles, scopes and namespaces.
    pub config: ConfigChoice,
    /// The commit that the configuration is read from, instead of base.
    pub config_ref: Option<String>,
    /// The rules of change that run; none: all.
    pub select: Vec<String>,
    /// The rules that do not.
    pub ignore: Vec<String>,
    /// The day of the run, for ignores that expire; without one none does.
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
    /// Asks to compare two states.
    pub fn new(base: StateChoice, head: StateChoice) -> Self {
        Self {
            base,
            head,
            ..Self::default()
        }
    }
}
