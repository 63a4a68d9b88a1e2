//! The Helm release that a teardown uninstalls: its name, its namespace, and its objects.

use std::collections::{BTreeMap, BTreeSet};

use super::Tooling;
use crate::delivery::{helm, marks};
use crate::inventory::Member;
use crate::manifest::Spanned;
use crate::text::plain;

impl<'b> Tooling<'b, '_> {
    /// Returns the name of the release, from Helm's annotation or its own record, else from the labels of its chart.
    pub(super) fn release(&self) -> Option<String> {
        self.named_by(release_by_helm)
            .or_else(|| self.named_by(helm::record_of))
            .or_else(|| self.named_by(release_by_chart))
    }

    /// Returns the namespace of the release: the requested one, else that of Helm's annotation or record, else that of
    /// the input, else the only one of the objects.
    pub(super) fn release_namespace(&self) -> Option<String> {
        let members = &self.leaving.members;
        let mark = marks::HELM_RELEASE_NAMESPACE;
        self.request
            .release_namespace
            .clone()
            .or_else(|| self.named_by(|member| member.object.metadata().annotation(mark)))
            .or_else(|| {
                let mut records = members
                    .iter()
                    .filter(|member| helm::record_of(member).is_some());
                let home = records.find_map(|record| record.key.namespace.name());
                home.map(str::to_owned)
            })
            .or_else(|| self.cluster.inventory().namespace.clone())
            .or_else(|| {
                let homes = members.iter();
                let homes = homes.filter_map(|member| member.key.namespace.name());
                let homes: BTreeSet<&str> = homes.collect();
                let only = homes.first().filter(|_| homes.len() == 1);
                only.map(|home| (*home).to_owned())
            })
    }

    /// Removes from `members` the objects that name a release other than `release`. Returns a note for each other
    /// release, and one on objects that name no release: they count as part of `release`.
    pub(super) fn keep_release(
        &self,
        members: &mut Vec<&'b Member>,
        release: Option<&str>,
    ) -> Vec<String> {
        let Some(release) = release else {
            return Vec::new();
        };
        let mut others: BTreeMap<&str, usize> = BTreeMap::new();
        let mut without = 0;
        members.retain(|member| {
            let named = self.as_applied(member).find_map(named_release);
            match named {
                Some(named) if named.value != release => {
                    *others.entry(named.value).or_default() += 1;
                    false
                }
                named => {
                    without += usize::from(named.is_none());
                    true
                }
            }
        });
        let others = others.into_iter().map(|(other, number)| {
            format!(
                "Release `{other}` keeps {}: `helm uninstall {release}` does not delete what another release applied.",
                plain::count(number, "object")
            )
        });
        let mut notes: Vec<String> = others.collect();
        if without > 0 && without < members.len() {
            notes.push(format!(
                "{} without a label or annotation of a release: assumed to be part of release `{release}`.",
                plain::count(without, "object")
            ));
        }
        notes
    }

    /// Returns the live version of an object, if the input contains it, and then the written version.
    pub(super) fn as_applied(&self, member: &'b Member) -> impl Iterator<Item = &'b Member> {
        let live = self.live.get(&member.key).copied();
        live.into_iter().chain([member])
    }
}

fn named_release(member: &Member) -> Option<Spanned<&str>> {
    release_by_helm(member).or_else(|| release_by_chart(member))
}

/// Returns the release that Helm wrote onto an object when Helm applied it.
fn release_by_helm(member: &Member) -> Option<Spanned<&str>> {
    let metadata = member.object.metadata();
    metadata.annotation(marks::HELM_RELEASE_NAME)
}

/// Returns the release that a chart's labels name, unless it is the name that `helm template` uses by default.
fn release_by_chart(member: &Member) -> Option<Spanned<&str>> {
    let metadata = member.object.metadata();
    let [is_managed, is_heritage] = [marks::MANAGED_BY, marks::HERITAGE].map(|key| {
        let tool = metadata.label(key);
        tool.is_some_and(|tool| ["Helm", "Tiller"].contains(&tool.value))
    });
    let of_chart = is_managed || metadata.label(marks::HELM_CHART).is_some();
    let name = metadata.label(marks::INSTANCE).filter(|_| of_chart);
    let name = name.or_else(|| metadata.label("release").filter(|_| is_heritage));
    name.filter(|name| !name.value.eq_ignore_ascii_case("release-name"))
}
