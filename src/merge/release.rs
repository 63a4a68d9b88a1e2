//! Objects that leave the release of a HelmRelease or a chart, but not the tree.

use std::collections::BTreeSet;

use super::part::MergePart;
use crate::changes::{Destination, TreePart, written_release};
use crate::charts::in_crds_folder;
use crate::delivery::Deliveries;
use crate::graph::delivery::{Release, Settings};
use crate::inventory::Member;
use crate::kube::kinds;
use crate::kustomize::{Deliverer, SourceTool};

/// A HelmRelease that installs another release than before.
#[derive(Debug)]
pub struct ReplacedRelease<'a> {
    /// Its object in base.
    pub base: &'a Member,
    /// Its object in head.
    pub head: &'a Member,
    /// The release that it uninstalls.
    pub was: Release,
    /// The release that it installs.
    pub is: Release,
    /// The objects of the old release; `None` if its chart was not read.
    pub objects: Option<Vec<&'a Member>>,
}

impl<'a> MergePart<'a> {
    /// Whether a HelmRelease installs another release in head than in base.
    pub(super) fn is_another_release(&self, by: &Deliverer) -> bool {
        let [was, is] =
            [Some(self.base), self.head].map(|part| part?.delivery(by)?.settings.release.as_ref());
        was.zip(is).is_some_and(|(was, is)| was.is_replaced_by(is))
    }

    /// Whether an object belongs to a release that is uninstalled before head installs another one.
    pub fn is_reinstalled(&self, member: &Member) -> bool {
        let by = self.base.destination(member.file).deliverer();
        by.is_some_and(|by| by.tool == SourceTool::FluxRelease && self.is_another_release(by))
    }

    /// Returns the HelmReleases of base that install another release in head, with both releases.
    pub fn replaced_releases(&self) -> impl Iterator<Item = ReplacedRelease<'a>> {
        self.replaced_and_read().chain(self.replaced_and_unread())
    }

    fn replaced_and_read(&self) -> impl Iterator<Item = ReplacedRelease<'a>> {
        let base = self.base;
        base.destinations().filter_map(move |destination| {
            let by = destination.deliverer()?;
            if by.tool != SourceTool::FluxRelease || !self.is_another_release(by) {
                return None;
            }
            let object = self.delivering_here(by)?;
            let after = self.still_applied(object)?;
            let (was, is) = (base.delivery(by)?, self.delivery_in_head(by)?);
            let is_replaced = is.error.is_none() && is.settings.suspend != Some(true);
            is_replaced.then_some(ReplacedRelease {
                base: object,
                head: after,
                was: was.settings.release.clone()?,
                is: is.settings.release.clone()?,
                objects: Some(base.members_at(destination).collect()),
            })
        })
    }

    fn replaced_and_unread(&self) -> impl Iterator<Item = ReplacedRelease<'a>> {
        let base = self.base;
        let known = self.deliverers_of_all();
        let applied = base.inventory.of_kind(kinds::HELM_RELEASE);
        let applied = applied.filter(move |member| {
            base.destination(member.file).is_applied() && !known.contains(&member.id)
        });
        applied.filter_map(|member| {
            let (head, after) = self.head.zip(self.still_applied(member))?;
            let held = head.destination(after.file);
            let (was, is) = (unread_release(base, member)?, unread_release(head, after)?);
            let is_replaced = !head.is_held_back(held)
                && is.suspend != Some(true)
                && was.release.as_ref()?.is_replaced_by(is.release.as_ref()?);
            is_replaced.then_some(ReplacedRelease {
                base: member,
                head: after,
                was: was.release?,
                is: is.release?,
                objects: None,
            })
        })
    }

    /// Returns the objects that are removed from a rendered release but not from the tree: head has them only in the
    /// folder `crds` of the chart, which is not part of a release, or in another release, which is installed after the
    /// old one is uninstalled.
    pub(super) fn leaving_only_their_release(&self) -> Vec<&'a Member> {
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
            let template = after.and_then(|after| self.template_in_head(after));
            template.is_some_and(in_crds_folder)
        });
        moved.collect()
    }

    /// Returns the template that an object of head is rendered from, if its rendering names it.
    pub fn template_in_head(&self, after: &Member) -> Option<&'a str> {
        let head = self.head?;
        self.deliveries_of_head()?.template(&head.inventory, after)
    }
}

/// Returns the settings of a HelmRelease whose chart was not read: as the delivery graph has it, else as it is written.
fn unread_release(part: &TreePart, member: &Member) -> Option<Settings> {
    if let Some(settings) = part.unread_release(member) {
        return Some(settings.clone());
    }
    let by = part.destination(member.file).deliverer();
    // The graph has all HelmReleases that Flux applies, so this one was read.
    if by.is_some_and(|by| by.tool.is_flux()) {
        return None;
    }
    let spec = member.object.at(&["spec"])?;
    let own = member.key.namespace.name().unwrap_or_default();
    Some(Settings {
        release: Some(written_release(spec, (own, &member.key.name))),
        suspend: Some(spec.is_true_at(&["suspend"])),
        ..Settings::default()
    })
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
