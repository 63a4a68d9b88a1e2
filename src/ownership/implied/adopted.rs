//! Objects of the input to which an operator adds an owner reference. A field of the object names the owner.

use foldhash::HashMap;

use super::object::AdoptedObject;
use crate::inventory::{Inventory, Member};
use crate::knowledge::{OwnedKind, Tables};
use crate::kube::{KindMap, Namespace};

/// Finds the rendered objects that operators adopt, in the order of the inventory. An object is left out unless its field
/// names exactly one owner in the input.
pub(super) fn of(inventory: &Inventory, tables: &Tables) -> Vec<AdoptedObject> {
    let rows = tables.owns.iter();
    let rows = rows.filter(|row| row.proven && row.owner_field.is_some());
    let adopting = KindMap::of(inventory.kinds_of_members(), |kind| {
        let rows = rows.clone();
        rows.filter(move |row| row.child.matches(kind.group, kind.kind))
    });
    let may_own = KindMap::of(inventory.kinds_of_members(), |kind| {
        let rows = rows.clone();
        rows.filter(move |row| row.kind.matches(kind.group, kind.kind))
            .take(1)
    });
    let rendered = inventory.members.iter();
    let rendered = rendered.filter(|member| !member.from_dump && member.decodes());
    let mut owners: HashMap<(&Namespace, &str), Vec<&Member>> = HashMap::default();
    for member in rendered.clone() {
        if may_own.get(member.key.group_kind()).is_some() {
            owners
                .entry((&member.key.namespace, &member.key.name))
                .or_default()
                .push(member);
        }
    }
    let adopted = rendered.flat_map(|child| {
        let rows = adopting.get(child.key.group_kind()).into_iter().flatten();
        rows.filter_map(|row| adopted(&owners, child, row))
            .collect::<Vec<_>>()
    });
    adopted.collect()
}

fn adopted(
    owners: &HashMap<(&Namespace, &str), Vec<&Member>>,
    child: &Member,
    row: &OwnedKind,
) -> Option<AdoptedObject> {
    let [name] = row
        .owner_field
        .as_ref()?
        .values(child.object.value())
        .try_into()
        .ok()?;
    let named = owners.get(&(&child.key.namespace, name.text.as_str()))?;
    let mut named = named.iter().filter(|owner| {
        owner.id != child.id && row.kind.matches(owner.key.group(), owner.key.kind())
    });
    let owner = named.next().filter(|_| named.next().is_none())?;
    Some(AdoptedObject {
        child: child.id,
        owner: owner.id,
    })
}
