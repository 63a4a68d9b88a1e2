//! Objects that leave the release of a HelmRelease or a chart, but not the tree.

use std::collections::BTreeSet;

use super::part::MergePart;
use crate::changes::{Destination, TreePart};
use crate::charts::in_crds_folder;
use crate::delivery::Deliveries;
use crate::inventory::Member;
use crate::kube::kinds;
use crate::kustomize::{Deliverer, SourceTool};

impl<'a> MergePart<'a> {
    /// Whether a HelmRelease installs another release in head than in base.
    pub(super) fn is_another_release(&self, by: &Deliverer) -> bool {
        let [was, is] =
            [Some(self.base), self.head].map(|part| Some(&part?.delivery(by)?.settings.release));
        is.is_some() && was != is
    }

    /// Returns the objects that are removed from a rendered release but not from the tree: head has them only in the
    /// folder `crds` of the chart, which is not part of a release, or in another release, which is installed after the
    /// old one is uninstalled.
    pub(super) fn leaves_its_release(&self) -> Vec<&'a Member> {
        let mut leaves = self.definitions_that_leave_their_chart();
        if !self.base.knows(SourceTool::FluxRelease) {
            return leaves;
        }
        let (Some(head), Some(of_head)) = (self.head, self.deliveries_of_head()) else {
            return leaves;
        };
        let stays = in_releases(head, of_head);
        let stays: BTreeSet<_> = stays.map(|(there, member)| (there, &member.key)).collect();
        let rendered = in_releases(self.base, self.analysis.deliveries());
        let rendered = rendered.filter(|(there, member)| {
            let is_out = !stays.contains(&(*there, &member.key));
            (is_out
                || there
                    .deliverer()
                    .is_some_and(|by| self.is_another_release(by)))
                && self.leaving.binary_search(&member.id).is_err()
        });
        leaves.extend(rendered.map(|(_, member)| member));
        leaves
    }

    /// Returns the CRDs of charts that no object delivers and that move from the templates to the folder `crds`.
    fn definitions_that_leave_their_chart(&self) -> Vec<&'a Member> {
        let base = self.base;
        let deliveries = self.analysis.deliveries();
        let definitions = base.inventory.of_kind(kinds::CUSTOM_RESOURCE_DEFINITION);
        let definitions = definitions.filter(|member| {
            let destination = base.destination(member.file);
            destination.is_applied()
                && destination.deliverer().is_none()
                && deliveries
                    .template(&base.inventory, member)
                    .is_some_and(|template| !in_crds_folder(template))
        });
        let moved = definitions.filter(|member| {
            let after = self.after(&member.key);
            let template = after.zip(self.head).and_then(|(after, head)| {
                self.deliveries_of_head()?.template(&head.inventory, after)
            });
            template.is_some_and(in_crds_folder)
        });
        moved.collect()
    }
}

/// Returns the objects of a part that rendered releases contain, without those from the folder `crds` of a chart.
fn in_releases<'t>(
    part: &'t TreePart,
    deliveries: &Deliveries,
) -> impl Iterator<Item = (&'t Destination, &'t Member)> {
    let members = part.inventory.members.iter();
    let members = members.map(|member| (part.destination(member.file), member));
    members.filter(|(destination, member)| {
        let by = destination.deliverer();
        by.is_some_and(|by| by.tool == SourceTool::FluxRelease)
            && !deliveries
                .template(&part.inventory, member)
                .is_some_and(in_crds_folder)
    })
}
