//! What the deletion of an object does to data, by the table of data and by what the input says about volumes.

use super::tables::{DataFate, DataVerdict, FieldPath, FieldValue, RowName, Tables};
use crate::inventory::{Inventory, Member};
use crate::kube::{GroupKind, Namespace, ObjectKey, kinds};
use crate::yaml::Value;

/// What the deletion of an object does to data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLoss {
    /// What becomes of the data.
    pub fate: DataFate,
    /// What is deleted if it is lost: `the topic and its messages`.
    pub lost: String,
    /// The field and its value that decide, where the object itself writes them.
    pub written: Option<(FieldPath, FieldValue)>,
    /// The row that says so.
    pub row: RowName,
    /// Whether the source of the row proves it.
    pub verified: bool,
}

/// What the deletion of `member` does to data; `None` for objects that are none.
pub fn data_loss(inventory: &Inventory, tables: &Tables, member: &Member) -> Option<DataLoss> {
    let row = tables.data_of(member.key.group(), member.key.kind())?;
    let DataVerdict { fate, written } = row.verdict(member.object.value());
    let reclaimed = || reclaim_policy(inventory, member.object.at(&["spec"]));
    let fate = match fate {
        DataFate::Unknown if member.object.is(kinds::PERSISTENT_VOLUME_CLAIM) => {
            reclaimed().unwrap_or(fate)
        }
        fate => fate,
    };
    Some(DataLoss {
        fate,
        lost: row.lost.clone(),
        written,
        row: row.name(),
        verified: row.verified,
    })
}

/// What becomes of the volume of a claim with this `spec`: as its PersistentVolume says, else its StorageClass, if the input
/// contains them.
pub fn reclaim_policy(inventory: &Inventory, spec: Option<Value<'_>>) -> Option<DataFate> {
    let text = |key: &str| {
        spec.and_then(|spec| spec.get(key))
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
    };
    let find = |kind: GroupKind<&str>, name: &str| {
        let id = *inventory
            .with_key(&ObjectKey::new(kind, Namespace::None, name))
            .first()?;
        Some(inventory.member(id))
    };
    let policy = |member: &Member, path: &[&str], default: &str| {
        let policy = member
            .object
            .at(path)
            .and_then(Value::as_str)
            .unwrap_or(default)
            .to_owned();
        if policy == "Retain" {
            DataFate::Kept
        } else {
            DataFate::Lost
        }
    };
    let volume = text("volumeName").and_then(|name| find(kinds::PERSISTENT_VOLUME, name));
    // A volume that people write has Retain unless they say otherwise; a class has Delete.
    let by_volume =
        volume.map(|volume| policy(volume, &["spec", "persistentVolumeReclaimPolicy"], "Retain"));
    let class = || {
        text("storageClassName")
            .and_then(|name| find(GroupKind::new("storage.k8s.io", "StorageClass"), name))
    };
    by_volume.or_else(|| class().map(|class| policy(class, &["reclaimPolicy"], "Delete")))
}
