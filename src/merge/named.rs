//! Objects that head has, or may have, under another key than base.

use foldhash::HashMap;

use super::cascade::CascadeKind;
use super::part::{MergePart, applied};
use crate::changes::ChangeKind;
use crate::inventory::{Member, table};
use crate::knowledge::{DefinedScope, scope_of};
use crate::kube::{GroupKind, Namespace, ObjectKey, kinds};
use crate::manifest::may_be_same;

impl<'a> MergePart<'a> {
    /// Returns the object of head that is an object of base under another name or in another namespace.
    pub fn renamed(&self, member: &Member) -> Option<&'a Member> {
        let (kind, is) = self.counterparts.get(&member.id)?;
        (*kind == ChangeKind::Renamed).then(|| self.sides.of_head(*is))
    }

    /// Returns the condition under which an object of base is removed, if head may still apply it
    /// under another key: its kind may be cluster-scoped and head adds an object of its name, or a
    /// placeholder in one of its names may stand for the other.
    pub fn removed_only_if(&self, member: &Member) -> Option<&'static str> {
        let is_delivery = CascadeKind::of(member.key.group_kind()) == Some(CascadeKind::Delivery);
        let GroupKind { group, kind } = member.key.group_kind();
        let is_namespaced = scope_of(group, kind) == Some(DefinedScope::Namespaced);
        if member.scope().is_none() && !is_namespaced && !is_delivery {
            let had_deliverer = self.base.destination(member.file).deliverer().is_some();
            let is_delivered = self.added().get(&without_namespace(&member.key));
            if is_delivered.is_some_and(|is_delivered| *is_delivered || !had_deliverer) {
                return Some("If its kind is namespaced");
            }
        }
        let [was, is] = [&member.key, &self.renamed(member)?.key];
        let [left, reached] = [was, is].map(|key| key.namespace.name().unwrap_or_default());
        let may_be_it = may_be_same(&was.name, &is.name) && may_be_same(left, reached);
        may_be_it.then_some("If its name changes")
    }

    fn added(&self) -> &HashMap<ObjectKey, bool> {
        self.added.get_or_init(|| {
            let mut added = HashMap::default();
            let applied = self.head.into_iter().flat_map(applied);
            // If base has such a key, too, there are two objects in two namespaces.
            let new = applied.filter(|(member, _)| {
                !member.is_generated && self.base.inventory.with_key(&member.key).is_empty()
            });
            for (member, destination) in new {
                let is_delivered = added.entry(without_namespace(&member.key)).or_default();
                *is_delivered |= destination.deliverer().is_some();
            }
            added
        })
    }

    /// Whether a kustomization of head renames the object that is written with `key`, and updates
    /// the reference of `user`, an object of head. Kustomize does so in objects of built-in kinds
    /// (api/internal/konfig/builtinpluginconsts/namereference.go).
    pub(super) fn follows_rename(&self, user: &Member, key: &ObjectKey) -> bool {
        let Some(head) = self.head.filter(|_| !key.is(kinds::NAMESPACE)) else {
            return false;
        };
        let written = self.written_keys.get_or_init(|| {
            let members = head.inventory.members.iter();
            let renamed = members.filter_map(|member| {
                let name = member.object.name()?;
                let is_renamed = *name != *member.key.name;
                is_renamed.then(|| {
                    let destination = head.destination(member.file).clone();
                    (destination, member.key.named(&*name))
                })
            });
            renamed.collect()
        });
        table().is_builtin_group(user.key.group_kind().group)
            && written.contains(&(head.destination(user.file).clone(), key.clone()))
    }
}

fn without_namespace(key: &ObjectKey) -> ObjectKey {
    let mut key = key.clone();
    key.namespace = Namespace::None;
    key
}
