//! One object that is deleted or gets stuck, and its standing in head.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::cascade::CascadeKind;
use super::effect::{DiffEffect, EffectCertainty, EffectKind};
use super::mention::PassingMentions;
use super::outlook::Outlook;
use super::part::{MergePart, with_key};
use super::surprise::{Standing, Surprise, severity};
use super::withdraw::PartWithdrawal;
use crate::changes::Destination;
use crate::finding::Severity;
use crate::inventory::{Member, ObjectId};
use crate::kube::{GroupKind, ObjectKey, kinds};
use crate::ownership::{DeliveryDestination, instances_of};

/// An object that is deleted or gets stuck.
#[derive(Clone, Debug)]
pub struct Loss<'a> {
    /// The object.
    pub key: ObjectKey,
    /// The object of base; `None` if no manifest contains it.
    pub member: Option<&'a Member>,
    /// Its standing in head.
    pub standing: Standing,
    /// Its users in head, if no object of head provides it.
    pub users: Vec<&'a Member>,
    /// The object of head that generates it.
    pub provider: Option<&'a Member>,
    /// Whether its deletion does not finish.
    pub stuck: bool,
    /// Whether it is certain that data outside of Git is deleted with it; `None` if none is.
    pub data: Option<bool>,
    /// Whether the tool creates it again.
    pub recreated: bool,
    /// How sure the loss is.
    pub certainty: EffectCertainty,
    /// The chain of causes, from the topmost removed object down to this one.
    pub because: Vec<ObjectKey>,
    /// The severity; `None` if the change itself shows the loss.
    pub severity: Option<Severity>,
}

/// Builder of losses from effects.
pub(super) struct Losses<'a, 'p> {
    pub(super) part: &'p MergePart<'a>,
    pub(super) withdrawn: &'p PartWithdrawal,
}

impl<'a> Losses<'a, '_> {
    /// Returns the losses, ordered by key. `because` extends a chain of causes upwards.
    pub(super) fn of(
        &self,
        effects: &[DiffEffect],
        because: impl Fn(&[ObjectKey]) -> Vec<ObjectKey>,
    ) -> Vec<Loss<'a>> {
        let mut by_key: BTreeMap<&ObjectKey, Vec<&DiffEffect>> = BTreeMap::new();
        for effect in effects {
            by_key.entry(&effect.key).or_default().push(effect);
        }
        let mentioned = Mentioned::of(self.part, by_key.keys().copied());
        let mut clients = Clients::default();
        let outlook = self.part.outlook.iter();
        for object in outlook.flat_map(Outlook::delivery_objects) {
            let DeliveryDestination { cluster, namespace } = &object.destination;
            if let (None, Some(namespace)) = (cluster, namespace.as_deref()) {
                clients.entry(namespace).or_default().push(object.id);
            }
        }
        let losses = by_key
            .into_iter()
            .filter_map(|(key, effects)| self.loss(key, &effects, &because, &mentioned, &clients));
        losses.collect()
    }

    fn loss(
        &self,
        key: &ObjectKey,
        effects: &[&DiffEffect],
        because: &impl Fn(&[ObjectKey]) -> Vec<ObjectKey>,
        mentioned: &Mentioned<'a>,
        clients: &Clients<'_>,
    ) -> Option<Loss<'a>> {
        use EffectKind::{Cascaded, DataLost, Deleted, GeneratedDeleted, Recreated, Stuck};
        let end = first(effects, &[Deleted, Cascaded, GeneratedDeleted, Stuck])?;
        let because = because(&end.because);
        let member = self.part.applied_before(key);
        let standing = match member {
            None => Standing::Unwritten,
            Some(member) if self.part.still_applied(member).is_some() => Standing::Applied,
            Some(member) if self.part.renamed(member).is_some() => Standing::Removed,
            Some(member) if self.may_be_applied(member) => Standing::Applied,
            // It moved to a place from which no tool of the tree applies it.
            Some(member) if self.part.after(&member.key).is_some() => Standing::Unapplied,
            // The change itself shows the removal, even if the file stays: it removes an entry of a kustomization.
            Some(_) if because.len() <= 1 => Standing::Removed,
            Some(member) if self.part.generated_by(member).is_some() => Standing::Unwritten,
            Some(member) if self.part.is_written(member) => Standing::Unapplied,
            Some(_) => Standing::Removed,
        };
        let provider = self.provider(key);
        let users = match provider {
            None => self.users(key, clients),
            Some(_) => Vec::new(),
        };
        let had_users = self.part.analysis.ties().users_of(key).next().is_some()
            || member.is_none() && users.is_empty() && mentioned.lost(key, &because);
        let data =
            first(effects, &[DataLost]).map(|effect| effect.certainty == EffectCertainty::Certain);
        let tool = self.withdrawn.tool_of_first(&end.because);
        let may_stay = member.is_some_and(|member| self.part.removed_only_if(member).is_some());
        // That it is deleted is certain, but not that a controller outside of base finishes it.
        let unattended = end.effect == Stuck
            && end.certainty == EffectCertainty::Possible
            && self.withdrawn.assumed.is_empty()
            && tool.is_none_or(|(_, is_known)| is_known)
            && !may_stay;
        let in_doubt =
            unattended && member.is_some_and(|member| self.has_unknown_finalizer(member));
        // Until its claim is gone, a volume that is retained works as before.
        let waits = end.effect == Stuck
            && data.is_none()
            && member.is_some_and(|member| member.object.is(kinds::PERSISTENT_VOLUME));
        let surprise = Surprise {
            standing,
            used: !users.is_empty(),
            had_users,
            data,
            has_unseen_content: member.is_some_and(|member| self.has_unseen_content(member)),
            affects_others: standing == Standing::Unapplied
                && member.is_some_and(|member| self.affects_others(member, &because)),
            stuck: end.effect == Stuck && !unattended && !waits,
            certain: end.certainty == EffectCertainty::Certain || unattended,
        };
        // Assumptions about other objects make it no less certain that a tool deletes this one.
        let requested = match tool {
            Some((_, true)) if end.effect == Stuck => severity(Surprise {
                stuck: false,
                certain: !may_stay,
                ..surprise
            }),
            _ => None,
        };
        let severity = severity(surprise)
            .max((in_doubt || waits).then_some(Severity::Warning))
            .max(requested);
        Some(Loss {
            key: key.clone(),
            member,
            standing,
            users,
            provider,
            stuck: surprise.stuck || in_doubt || waits,
            data,
            recreated: first(effects, &[Recreated]).is_some(),
            certainty: end.certainty,
            because,
            severity,
        })
    }

    /// Whether an object has a finalizer that no known controller, in base or elsewhere, removes from its kind.
    fn has_unknown_finalizer(&self, member: &Member) -> bool {
        let known = self.part.analysis.ownership().removers.known();
        let GroupKind { group, kind } = member.key.group_kind();
        let mut finalizers = member.object.metadata().finalizers().iter();
        finalizers.any(|finalizer| {
            known
                .find(&finalizer.value)
                .is_none_or(|row| row.controller_of(group, kind).is_none())
        })
    }

    /// Returns whether base contains no object in a Namespace, or no instance of a CRD: their number is then unknown.
    fn has_unseen_content(&self, member: &Member) -> bool {
        let inventory = self.part.analysis.inventory();
        match (
            member.object.is(kinds::NAMESPACE),
            member.object.definition(),
        ) {
            (true, _) => inventory.in_namespace(&member.key.name).is_empty(),
            (_, Some(crd)) => instances_of(inventory, crd.group_kind()).next().is_none(),
            _ => false,
        }
    }

    /// Whether an object delivers, defines or contains others, or is deleted with its CRD or
    /// Namespace, and nothing in head delivers its file. (Another app may still deliver it.)
    fn affects_others(&self, member: &Member, because: &[ObjectKey]) -> bool {
        use CascadeKind::{Definition, Delivery, Namespace};
        let kind = CascadeKind::of(member.object.group_kind());
        let mut above = because.iter().map(|key| CascadeKind::of(key.group_kind()));
        let affects_others = matches!(kind, Some(Definition | Delivery | Namespace))
            || above.any(|kind| matches!(kind, Some(Definition | Namespace)));
        affects_others && !self.part.is_delivered(member)
    }

    /// Returns the object of head that generates an object.
    fn provider(&self, key: &ObjectKey) -> Option<&'a Member> {
        let ties = self.part.outlook.as_ref()?.ties();
        let mut generators = ties.generators_of(key);
        generators.find_map(|tie| self.applied(tie.from))
    }

    /// Returns the objects that use an object in head, unless head applies it: consumers and, of a Namespace, objects
    /// that deliver into it.
    fn users(&self, key: &ObjectKey, clients: &Clients<'_>) -> Vec<&'a Member> {
        let Some(outlook) = &self.part.outlook else {
            return Vec::new();
        };
        if self.part.after(key).is_some() {
            return Vec::new();
        }
        // An object may name another one in several fields.
        let consumers: BTreeSet<ObjectId> =
            outlook.ties().users_of(key).map(|tie| tie.from).collect();
        let clients = clients.get(key.name.as_str());
        let delivering = clients.filter(|_| key.is(kinds::NAMESPACE));
        consumers
            .into_iter()
            .chain(delivering.into_iter().flatten().copied())
            .filter_map(|id| self.applied(id))
            .filter(|user| !self.part.follows_rename(user, key))
            .collect()
    }

    fn applied(&self, id: ObjectId) -> Option<&'a Member> {
        let head = self.part.head?;
        let member = head.inventory.member(id);
        head.destination(member.file)
            .may_be_applied()
            .then_some(member)
    }

    /// Whether head has the object below a kustomization that no root reaches: whatever applied its file in base may
    /// still do so.
    fn may_be_applied(&self, member: &Member) -> bool {
        self.part.head.is_some_and(|head| {
            with_key(&head.inventory, &member.key)
                .any(|after| matches!(head.destination(after.file), Destination::NewlyGoverned(_)))
        })
    }
}

/// The objects of head that deliver into a namespace of the cluster, by its name.
type Clients<'o> = HashMap<&'o str, Vec<ObjectId>>;

fn first<'e>(effects: &[&'e DiffEffect], kinds: &[EffectKind]) -> Option<&'e DiffEffect> {
    let mut effects = effects.iter().copied();
    effects.find(|effect| kinds.contains(&effect.effect))
}

/// The mentions, on both sides, of objects that no manifest contains.
#[derive(Default)]
struct Mentioned<'a> {
    base: PassingMentions<'a>,
    head: PassingMentions<'a>,
}

impl<'a> Mentioned<'a> {
    /// Collects the mentions of those `keys` that are in no manifest.
    fn of<'k>(part: &MergePart<'a>, keys: impl Iterator<Item = &'k ObjectKey>) -> Self {
        let unwritten = keys.filter(|key| part.base.inventory.with_key(key).is_empty());
        let names: BTreeSet<&str> = unwritten.map(|key| key.name.as_str()).collect();
        if names.is_empty() {
            return Self::default();
        }
        let head = part.head.map(|head| PassingMentions::of(head, &names));
        Self {
            base: PassingMentions::of(part.base, &names),
            head: head.unwrap_or_default(),
        }
    }

    /// Returns whether base mentions an object and head no longer does: its users were removed or changed with it.
    fn lost(&self, key: &ObjectKey, makers: &[ObjectKey]) -> bool {
        self.base.contain(key, makers) && !self.head.contain(key, &[])
    }
}
