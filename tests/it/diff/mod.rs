//! `diff`: comparisons of two states.

mod accepting;
mod argo;
mod built;
mod changes;
mod clusters;
mod comment;
mod conformance;
mod destructive;
mod disputed;
mod effects;
mod elsewhere;
mod findings;
mod flux;
#[cfg(unix)]
mod git;
mod gone;
mod harmless;
mod helm;
mod histories;
mod immutable;
mod kept;
mod lines;
mod moves;
pub(crate) mod places;
mod projects;
mod releases;
#[cfg(unix)]
mod rendering;
mod renderings;
mod resumed;
mod sources;
mod synced;
mod transformed;
mod values;
mod waiting;

pub(crate) use places::Folder;
