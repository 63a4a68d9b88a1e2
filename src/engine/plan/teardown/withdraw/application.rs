//! The objects of the Application that a teardown deletes, among those of others.

use std::collections::{BTreeMap, BTreeSet};

use super::Tooling;
use crate::delivery::{RegimeSource, argocd, marks};
use crate::engine::plan::question::PlanError;
use crate::inventory::Member;
use crate::kube::kinds;
use crate::text::plain;

impl<'b> Tooling<'b, '_> {
    /// Removes other Applications and their objects from `members`, because the deletion of the Application called
    /// `name` leaves them. Returns a note for each. `own` is the deleted Application, if the input contains it.
    pub(super) fn keep_application(
        &self,
        members: &mut Vec<&'b Member>,
        own: Option<&Member>,
        name: Option<&str>,
    ) -> Vec<String> {
        let Some(name) = name else {
            return Vec::new();
        };
        let deleted = self.deleted_applications(members, name);
        let mut kept: BTreeMap<String, usize> = BTreeMap::new();
        members.retain(|member| {
            let of_other = match self.application_of(member) {
                Some(application) => {
                    (!deleted.contains(application)).then(|| application.to_owned())
                }
                // If the input contains the deleted Application, others that nothing delivers stay.
                None => own
                    .filter(|own| own.id != member.id && member.key.is(kinds::APPLICATION))
                    .map(|_| member.key.name.to_string()),
            };
            match of_other {
                Some(other) => {
                    *kept.entry(other).or_default() += 1;
                    false
                }
                None => true,
            }
        });
        let notes = kept.into_iter().map(|(other, number)| {
            format!(
                "Application `{other}` keeps {}: the deletion of Application `{name}` does not delete what another one \
                 delivers.",
                plain::count(number, "object")
            )
        });
        notes.collect()
    }

    /// Returns the names of the Applications that are deleted with everything that they deliver: the one called `name`,
    /// and those with a resources finalizer that it or one of these delivers.
    fn deleted_applications(&self, members: &[&'b Member], name: &str) -> BTreeSet<String> {
        let applications = members
            .iter()
            .copied()
            .filter(|member| member.key.is(kinds::APPLICATION))
            .filter(|member| argocd::policy_of(&member.object).is_some());
        let mut delivered: BTreeMap<&str, Vec<&'b str>> = BTreeMap::new();
        for application in applications {
            if let Some(by) = self.above(&application.key.name).next() {
                let of_it = delivered.entry(by).or_default();
                of_it.push(application.key.name.as_str());
            }
        }
        let mut deleted = BTreeSet::new();
        let mut pending = vec![name];
        while let Some(name) = pending.pop() {
            if deleted.insert(name.to_owned()) {
                pending.extend(delivered.get(name).into_iter().flatten());
            }
        }
        deleted
    }

    /// Returns the Application that delivers all removed objects, directly or through others. `None`: nothing names one.
    ///
    /// # Errors
    /// Several Applications deliver them, and none of these delivers the others.
    pub(super) fn delivering_application(&self) -> Result<Option<String>, PlanError> {
        let members = self.leaving.members.iter().copied();
        let names = members.filter_map(|member| match self.application_of(member) {
            None if member.key.is(kinds::APPLICATION) => Some(member.key.name.as_str()),
            name => name,
        });
        let names: BTreeSet<&str> = names.collect();
        let tops = names.iter().filter(|name| {
            let mut above = self.above(name);
            !above.any(|above| names.contains(above))
        });
        let tops: Vec<&str> = tops.copied().collect();
        match tops[..] {
            [] => Ok(names.first().map(|name| (*name).to_owned())),
            [one] => Ok(Some(one.to_owned())),
            _ => Err(PlanError::WhichApplication {
                found: plain::few(&tops),
            }),
        }
    }

    /// Returns the names of the Applications above the one called `name`.
    fn above(&self, name: &str) -> impl Iterator<Item = &'b str> {
        let object = |name: &str| self.delivering(kinds::APPLICATION, name, None);
        let mut seen = BTreeSet::new();
        let mut open = object(name);
        std::iter::from_fn(move || {
            while let Some(member) = open.take().filter(|member| seen.insert(member.id)) {
                if let Some(above) = self.application_of(member) {
                    open = object(above);
                    return Some(above);
                }
                // A set may generate it.
                open = match self.leaving.deliveries.regime(member).source {
                    RegimeSource::Object(id) => Some(self.cluster.inventory().member(id)),
                    _ => None,
                };
            }
            None
        })
    }

    /// Returns the name of the Application that delivers an object, by its tracking id or label, else by the sources of
    /// the Applications in the input.
    fn application_of(&self, member: &'b Member) -> Option<&'b str> {
        let marked = self.as_applied(member).find_map(|member| {
            let metadata = member.object.metadata();
            let id = metadata.annotation(marks::ARGOCD_TRACKING_ID);
            let tracked = id.and_then(|id| marks::tracked_application(id.value));
            let label = || Some(metadata.label(marks::ARGOCD_INSTANCE)?.value);
            tracked.or_else(label)
        });
        marked.or_else(|| match self.leaving.deliveries.regime(member).source {
            RegimeSource::Object(id) => {
                let object = self.cluster.inventory().member(id);
                let is_application = object.key.is(kinds::APPLICATION);
                is_application.then_some(object.key.name.as_str())
            }
            _ => None,
        })
    }
}
