//! Lookup of objects by uid, key, kind and name.

use std::sync::Arc;

use foldhash::HashMap;

use super::builtin::table;
use super::index::Index;
use super::kinds::Resolution;
use super::{Inventory, Member, ObjectId};
use crate::kube::{ApiVersion, GroupKind, Namespace, ObjectKey, Scope};
use crate::manifest::{OwnerReference, Template, WITH_TEMPLATES};
use crate::text::FileId;

/// Returns the uid of an object, if it has one.
fn uid_of(member: &Member) -> Option<&str> {
    member.object.uid()
}

/// Returns the key of an object; `None` if the server generates its name, so that nothing can refer to it.
fn named_key_of(member: &Member) -> Option<&ObjectKey> {
    (!member.is_generated).then_some(&member.key)
}

/// Returns the group, kind and name of an object whose name is not generated.
fn name_of(member: &Member) -> Option<(&str, &str, &str)> {
    named_key_of(member).map(|key| (key.group(), key.kind(), key.name.as_str()))
}

/// Returns the namespace of an object, if it is known.
fn namespace_of(member: &Member) -> Option<&str> {
    member.key.namespace.name()
}

impl Inventory {
    pub(super) fn index(&mut self) {
        let (by_key, (by_kind, with_rare_fields)) = rayon::join(
            || Index::new(self.ids(), |id| named_key_of(self.member(id))),
            || {
                let members = self.members.iter();
                let with_rare_fields =
                    members.filter(|member| member.object.metadata().has_rare_fields());
                (
                    Index::new(self.ids(), |id| Some(self.member(id).object.group_kind())),
                    with_rare_fields.map(|member| member.id).collect::<Vec<_>>(),
                )
            },
        );
        // Every object with a uid has rare fields.
        self.by_uid = Index::new(with_rare_fields.iter().copied(), |id| {
            uid_of(self.member(id))
        });
        (self.by_key, self.by_kind, self.with_rare_fields) = (by_key, by_kind, with_rare_fields);
    }

    fn ids(&self) -> impl Iterator<Item = ObjectId> + use<> {
        (0..self.members.len() as u32).map(ObjectId)
    }

    /// Returns the object with this id, which must be an id of this inventory. Panics if there is none.
    pub fn member(&self, id: ObjectId) -> &Member {
        &self.members[id.0 as usize]
    }

    /// Returns the objects of a file, in order.
    pub fn members_of(&self, file: FileId) -> &[Member] {
        let start = self.members.partition_point(|member| member.file < file);
        let end = self.members.partition_point(|member| member.file <= file);
        &self.members[start..end]
    }

    /// Returns the objects with this group and kind as written, in any version, in order.
    pub fn of_kind(&self, kind: GroupKind<&str>) -> impl Iterator<Item = &Member> + use<'_> {
        let of_kind = self
            .by_kind
            .get(&kind, |id| Some(self.member(id).object.group_kind()));
        of_kind.iter().map(|id| self.member(*id))
    }

    /// Returns the objects of several kinds.
    pub fn of_kinds(&self, kinds: &[GroupKind<&str>]) -> impl Iterator<Item = &Member> + use<'_> {
        let mut found: Vec<ObjectId> = kinds
            .iter()
            .flat_map(|kind| self.of_kind(*kind).map(|member| member.id))
            .collect();
        found.sort_unstable();
        found.into_iter().map(|id| self.member(id))
    }

    /// Returns the objects whose metadata [contain rare fields](crate::manifest::Metadata::has_rare_fields), in order.
    pub fn with_rare_fields(&self) -> impl Iterator<Item = &Member> {
        self.with_rare_fields.iter().map(|id| self.member(*id))
    }

    /// Returns the templates of the objects, in order.
    pub fn templates(&self) -> impl Iterator<Item = (&Member, Template<'_>)> {
        let with_templates = self.with_templates.get_or_init(|| {
            let with_templates = self
                .of_kinds(&WITH_TEMPLATES)
                .filter(|member| member.object.templates().next().is_some());
            with_templates.map(|member| member.id).collect()
        });
        let members = with_templates.iter().map(|id| self.member(*id));
        members.flat_map(|member| {
            member
                .object
                .templates()
                .map(move |template| (member, template))
        })
    }

    /// Returns the kinds of the objects' keys, in no order. A kind is repeated if manifests write it with several
    /// groups, such as `apps` and `extensions`.
    pub fn kinds_of_members(&self) -> impl Iterator<Item = GroupKind<&str>> {
        self.by_kind
            .each(|id| Some(self.member(id).object.group_kind()))
            .filter_map(|ids| Some(self.member(*ids.first()?).key.group_kind()))
    }

    /// Returns the objects with this uid, in order.
    pub fn with_uid(&self, uid: &str) -> &[ObjectId] {
        self.by_uid.get(&uid, |id| uid_of(self.member(id)))
    }

    /// Returns the objects with this key, in order; several if it appears more than once.
    pub fn with_key(&self, key: &ObjectKey) -> &[ObjectId] {
        self.by_key.get(&key, |id| named_key_of(self.member(id)))
    }

    /// Returns the objects that were read from a cluster, by key; if several have the same key, the last.
    pub fn live(&self) -> HashMap<&ObjectKey, &Member> {
        let live = self
            .members
            .iter()
            .filter(|member| member.from_dump && member.decodes());
        live.map(|member| (&member.key, member)).collect()
    }

    /// Returns the groups of objects with the same key, in the order of their first objects.
    pub fn duplicates(&self) -> Vec<&[ObjectId]> {
        let groups = self.by_key.each(|id| named_key_of(self.member(id)));
        let mut duplicates: Vec<&[ObjectId]> = groups.filter(|ids| ids.len() > 1).collect();
        duplicates.sort_unstable_by_key(|ids| ids.first().copied());
        duplicates
    }

    /// Returns the objects that are known to be in a namespace, in order. The namespace controller deletes them with
    /// the namespace.
    pub fn in_namespace(&self, name: &str) -> &[ObjectId] {
        let by_namespace = self
            .by_namespace
            .get_or_init(|| Index::new(self.ids(), |id| namespace_of(self.member(id))));
        by_namespace.get(&name, |id| namespace_of(self.member(id)))
    }

    /// Returns the objects with this group, kind and name in any namespace, in order.
    pub fn with_name(&self, group: &str, kind: &str, name: &str) -> &[ObjectId] {
        let by_name = self
            .by_name
            .get_or_init(|| Index::new(self.ids(), |id| name_of(self.member(id))));
        let name = (table().identity(group, kind), kind, name);
        by_name.get(&name, |id| name_of(self.member(id)))
    }

    /// Returns the objects with this kind and name that a reference in `here` may mean, in order: those in that
    /// namespace, in an unknown one or in none. If `here` has no name, those in every namespace.
    pub fn with_name_near<'a>(
        &'a self,
        kind: GroupKind<&str>,
        name: &str,
        here: &Namespace,
    ) -> impl Iterator<Item = ObjectId> + use<'a> {
        let everywhere = match here {
            Namespace::Named(_) => &[][..],
            Namespace::None | Namespace::Unwritten => self.with_name(kind.group, kind.kind, name),
        };
        let group = table().identity(kind.group, kind.kind);
        let named = here.name().map(|name| {
            [
                Namespace::Named(name.into()),
                Namespace::Unwritten,
                Namespace::None,
            ]
        });
        let kind = GroupKind::new(group, kind.kind);
        let parts = named.into_iter().flatten();
        let parts = parts.map(|namespace| self.with_key(&ObjectKey::new(kind, namespace, name)));
        let parts = parts.collect();
        everywhere.iter().copied().chain(merged(parts))
    }

    /// Returns the facts about the kind that a reference names.
    pub fn owner_kind(&self, reference: &OwnerReference) -> Arc<Resolution> {
        self.resolution_of(reference.api_version(), reference.kind())
    }

    /// Returns the facts about a kind; cached for those of objects and their owners.
    pub(super) fn resolution_of(&self, api_version: &str, kind: &str) -> Arc<Resolution> {
        let known = self.resolutions.get(api_version, kind).cloned();
        known.unwrap_or_else(|| Arc::new(self.kinds.resolve(ApiVersion::split(api_version), kind)))
    }

    /// Returns the key under which the collector looks for an owner: in the dependent's namespace, or in none if the
    /// owner's kind is cluster-scoped ([GC-15]). `None` if the scope of the owner's kind is unknown.
    pub fn owner_key(&self, dependent: &Member, reference: &OwnerReference) -> Option<ObjectKey> {
        let namespace = match self.owner_kind(reference).scope? {
            Scope::Cluster => Namespace::None,
            Scope::Namespaced => dependent.key.namespace.clone(),
        };
        let group = table().identity(reference.group_version().group, reference.kind());
        Some(ObjectKey::new(
            GroupKind::new(group, reference.kind()),
            namespace,
            reference.name(),
        ))
    }
}

/// Merges sorted lists, each without duplicates, into one sorted list without duplicates.
fn merged<T: Ord + Copy>(mut lists: Vec<&[T]>) -> impl Iterator<Item = T> {
    std::iter::from_fn(move || {
        let next = *lists.iter().filter_map(|list| list.first()).min()?;
        for list in &mut lists {
            *list = list.strip_prefix(&[next]).unwrap_or(list);
        }
        Some(next)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_lists_are_sorted_without_duplicates() {
        let lists: [&[u8]; 4] = [&[1, 4, 5], &[], &[2, 4], &[4, 9]];
        assert_eq!(merged(lists.to_vec()).collect::<Vec<_>>(), [1, 2, 4, 5, 9]);
    }
}
