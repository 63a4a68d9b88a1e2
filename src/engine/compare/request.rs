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
    /// Whether base is compared as it is, even if head does not contain it. Otherwise the comparison starts at the merge base of the
    /// two, so that the changes of another branch are not taken for deletions of this one.
    pub literal_base: bool,
    /// Files, folders and globs that both states are limited to; all files if there are none. Those of a commit are looked up in its
    /// tree.
    pub paths: Vec<String>,
    /// Files and folders with what else the cluster contains, before and after.
    pub beside: Vec<String>,
    /// Globs of paths that are left out, besides those of the configuration.
    pub exclude: Vec<String>,
    /// The namespace of namespaced objects without one.
    pub namespace: Option<String>,
    /// The release of Kubernetes whose built-in kinds count.
    pub release: Option<Release>,
    /// Whether both states are rendered: with the commands of the configuration, or else with kustomize; the charts that deliveries
    /// name are rendered with helm. This runs code that the states contain.
    pub render: bool,
    /// Which charts may be rendered, with which helm, and how long it may take.
    pub rendering: RenderingTerms,
    /// The delivery tools that the caller names; those of other objects are found out.
    #[doc(hidden)]
    pub delivery: DeliveryChoice,
    /// Which configuration counts. A file of the repository is read from base, so that a change cannot silence findings on itself. Of one
    /// that only head has, the bundles, scopes and namespaces count.
    pub config: ConfigChoice,
    /// The commit that the configuration is read from, instead of base.
    pub config_ref: Option<String>,
    /// The rules of change that run; none: all.
    pub select: Vec<String>,
    /// The rules that do not.
    pub ignore: Vec<String>,
    /// The day of the run, for ignores that expire; without it no ignore expires.
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
    /// The request to compare two states, with defaults for the rest.
    pub fn new(base: StateChoice, head: StateChoice) -> Self {
        Self {
            base,
            head,
            ..Self::default()
        }
    }
}
