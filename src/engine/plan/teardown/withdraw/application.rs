//! The objects of the Application that a teardown deletes, among those of others.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::Tooling;
use crate::delivery::{RegimeSource, argocd, marks};
use crate::engine::plan::question::PlanError;
use crate::inventory::{Member, ObjectId};
use crate::kube::kinds;
use crate::text::plain;

impl<'b> Tooling<'b, '_> {
    /// Removes other Applications and their objects from `members`, because the deletion of the
    /// Application called `name` does not delete them. Returns a note for each. `own` is the
    /// deleted Application, if the input contains it.
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
    fn deleted_applications<'n>(&self, members: &[&'b Member], name: &'n str) -> BTreeSet<&'n str>
    where
        'b: 'n,
    {
        let applications = members
            .iter()
            .copied()
            .filter(|member| member.key.is(kinds::APPLICATION))
            .filter(|member| argocd::policy_of(&member.object).is_some());
        let delivered = self.by_application(applications);
        below(&delivered, vec![name])
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
        let applications = self.cluster.inventory().of_kind(kinds::APPLICATION);
        let delivered = self.by_application(applications);
        let directly = names.iter().filter_map(|name| delivered.get(name));
        let below = below(&delivered, directly.flatten().copied().collect());
        let tops: Vec<&str> = names.difference(&below).copied().collect();
        match tops[..] {
            [] => Ok(names.first().map(|name| (*name).to_owned())),
            [one] => Ok(Some(one.to_owned())),
            _ => Err(PlanError::WhichApplication {
                found: plain::few(&tops),
            }),
        }
    }

    /// Groups the names of Applications by the Application that delivers them, directly or through
    /// objects of other kinds. Of several with one name, the first decides.
    fn by_application(
        &self,
        applications: impl Iterator<Item = &'b Member>,
    ) -> BTreeMap<&'b str, Vec<&'b str>> {
        let mut delivered: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let mut known = HashMap::default();
        for application in applications {
            let name = application.key.name.as_str();
            let object = self.delivering(kinds::APPLICATION, name, None);
            if let Some(by) = object.and_then(|object| self.above(object, &mut known)) {
                delivered.entry(by).or_default().push(name);
            }
        }
        delivered
    }

    /// Returns the name of the nearest Application above a delivery object. `known` caches it for each object on the way.
    fn above(
        &self,
        object: &'b Member,
        known: &mut HashMap<ObjectId, Option<&'b str>>,
    ) -> Option<&'b str> {
        let mut way = Vec::new();
        let mut open = Some(object);
        let mut found = None;
        while let Some(object) = open {
            if let Some(by) = known.get(&object.id) {
                found = *by;
                break;
            }
            // Objects that deliver each other have no Application above them.
            known.insert(object.id, None);
            way.push(object.id);
            found = self.application_of(object);
            if found.is_some() {
                break;
            }
            // An ApplicationSet may deliver it.
            open = match self.leaving.deliveries.regime(object).source {
                RegimeSource::Object(id) => Some(self.cluster.inventory().member(id)),
                _ => None,
            };
        }
        known.extend(way.into_iter().map(|id| (id, found)));
        found
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

/// Returns the `pending` Applications and all below them. `delivered`: the Applications that each one delivers.
fn below<'n>(
    delivered: &BTreeMap<&'n str, Vec<&'n str>>,
    mut pending: Vec<&'n str>,
) -> BTreeSet<&'n str> {
    let mut found = BTreeSet::new();
    while let Some(name) = pending.pop() {
        if found.insert(name) {
            pending.extend(delivered.get(name).into_iter().flatten());
        }
    }
    found
}
