//! The delivery graph: the objects that a tree puts into each cluster, their keys, and the deliverers that apply them.
//!
//! Everything that cannot be evaluated is an [`UnreadInput`](unread::UnreadInput): nothing is skipped silently.

pub mod argo;
mod chart;
pub mod delivery;
pub mod files;
pub mod flux;
pub mod kustomize;
pub mod node;
mod reached;
pub mod scopes;
pub mod unreached;
pub mod unread;

use argo::{Memory, Terms};
use delivery::Delivery;
use kustomize::Builds;

use crate::kustomize::BeyondLimit;

/// Returns the deliveries of Flux and Argo CD in a state, and facts about Argo CD. HelmReleases that no Kustomization
/// of Flux delivers are included only if charts are rendered. `before` and `memory` are the results for the previous
/// state, if there is one.
///
/// # Errors
/// Returns an error if a limit is exceeded.
pub fn deliveries(
    builds: &Builds<'_>,
    terms: Terms<'_>,
    (before, memory): (&[Delivery], &Memory),
) -> Result<(Vec<Delivery>, Memory), BeyondLimit> {
    let limits = terms.limits;
    let mut all = flux::deliveries(builds, limits, before)?;
    let (argo, memory) = argo::deliveries(builds, terms, &all, (before, memory))?;
    all.extend(argo);
    if builds.charts().are_rendered() {
        let releases = flux::releases(builds, limits, &all, before)?;
        all.extend(releases);
    }
    Ok((all, memory))
}
