//! Services that the API server calls and that a change deletes, while the objects that name them stay.

use std::collections::BTreeMap;

use super::part::MergePart;
use crate::finding::Certainty;
use crate::inventory::{Member, ObjectId};
use crate::kube::ObjectKey;
use crate::ownership::{Backend, Purpose, Selected, SelectionId, ServiceCaller};

/// An object of head whose Service has lost its backend, and the deleted object that explains it.
#[derive(Debug)]
pub struct LostBackend<'a> {
    /// The object that names the Service, in head.
    pub object: &'a Member,
    /// The calls to the Service that `object` configures.
    pub clients: Vec<ServiceCaller>,
    /// The removed object, in base: the Service, or the first of its workloads, all of which are deleted.
    pub left: &'a Member,
    /// Whether the loss is certain.
    pub certain: bool,
}

/// Returns `Some` if the merge deletes an object that head does not apply: `true` if certain or a
/// race, `false` if only possible.
type TakesAway<'f> = &'f dyn Fn(&ObjectKey) -> Option<bool>;

/// Returns the clients in head whose Service has no backend there because the merge deletes the one that base had.
pub(super) fn lost_backends<'a>(
    part: &MergePart<'a>,
    takes_away: TakesAway<'_>,
) -> Vec<LostBackend<'a>> {
    let (Some(head), Some(outlook)) = (part.head, &part.outlook) else {
        return Vec::new();
    };
    let (before, after) = (&part.analysis.ownership().serves, outlook.serves());
    let mut answered: BTreeMap<(&ObjectKey, ObjectKey), &ServiceCaller> = BTreeMap::new();
    for client in &before.clients {
        let object = &part.base.inventory.member(client.object).key;
        answered
            .entry((object, client.service_key()))
            .or_insert(client);
    }
    let mut deleted_backends = DeletedBackends {
        part,
        takes_away,
        of_workloads: BTreeMap::new(),
    };
    let mut found: BTreeMap<(ObjectId, ObjectKey), LostBackend<'a>> = BTreeMap::new();
    for client in after
        .clients
        .iter()
        .filter(|client| is_needed(&client.purpose))
    {
        let object = head.inventory.member(client.object);
        let Some(was) = answered.get(&(&object.key, client.service_key())) else {
            continue;
        };
        if !head.applies(object)
            || answers(&client.backend)
            || part.follows_rename(object, &client.service_key())
        {
            continue;
        }
        let Some((left, certain)) = deleted_backends.of(&was.backend) else {
            continue;
        };
        let unanswered = LostBackend {
            object,
            clients: Vec::new(),
            left,
            certain,
        };
        found
            .entry((object.id, client.service_key()))
            .or_insert(unanswered)
            .clients
            .push(client.clone());
    }
    found.into_values().collect()
}

/// Returns whether anything fails without a backend.
fn is_needed(purpose: &Purpose) -> bool {
    match purpose {
        Purpose::Webhook(webhook) => webhook.fails_closed && !webhook.rules.is_empty(),
        Purpose::Api { .. } | Purpose::Conversion => true,
    }
}

/// Returns whether there is or may be a backend: the endpoints of a Service without a selector are managed elsewhere.
fn answers(backend: &Backend) -> bool {
    match backend {
        Backend::Service { pods, .. } => *pods != Selected::NoPods,
        Backend::Absent(_) => false,
    }
}

/// A lookup of deleted backends of base.
struct DeletedBackends<'p, 'a, 'f> {
    part: &'p MergePart<'a>,
    takes_away: TakesAway<'f>,
    /// Cache: whether all workloads of a selection are certainly deleted; `None` if some are not deleted.
    of_workloads: BTreeMap<SelectionId, Option<bool>>,
}

impl<'a> DeletedBackends<'_, 'a, '_> {
    /// Returns the deleted Service of a backend, or the first of its workloads if all are deleted, and whether the
    /// deletion is certain.
    fn of(&mut self, backend: &Backend) -> Option<(&'a Member, bool)> {
        let Backend::Service {
            id,
            certainty,
            pods,
        } = backend
        else {
            return None;
        };
        let inventory = &self.part.base.inventory;
        let (service, known) = (inventory.member(*id), *certainty == Certainty::Certain);
        if let Some(certain) = (self.takes_away)(&service.key) {
            return Some((service, certain && known));
        }
        let Selected::Workloads(selection) = pods else {
            return None;
        };
        let workloads = self.part.analysis.ownership().serves.workloads(*selection);
        let certain = *self.of_workloads.entry(*selection).or_insert_with(|| {
            let ends = workloads
                .iter()
                .map(|id| (self.takes_away)(&inventory.member(*id).key));
            ends.collect::<Option<Vec<bool>>>()
                .map(|ends| ends.into_iter().all(|certain| certain))
        });
        Some((inventory.member(*workloads.first()?), certain? && known))
    }
}
