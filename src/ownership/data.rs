//! The effect of deleting an object on data, from the table of data and the volumes of the input.

use crate::inventory::{Inventory, Member, VolumeChoice};
use crate::knowledge::{DataFate, FieldPath, FieldValue, RowName, Tables};
use crate::kube::{GroupKind, Namespace, ObjectKey, kinds};
use crate::yaml::Value;

/// The effect of deleting an object on data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLoss {
    /// The fate of the data.
    pub fate: DataFate,
    /// The lost data, such as `the topic and its messages`.
    pub lost: String,
    /// The field and the value that decide, if the object itself contains them.
    pub written: Option<(FieldPath, FieldValue)>,
    /// The row of the table.
    pub row: RowName,
    /// Whether the source of the row proves the fate.
    pub verified: bool,
}

/// Returns the effect of deleting `member` on data; `None` for an object without data.
pub fn data_loss(inventory: &Inventory, tables: &Tables, member: &Member) -> Option<DataLoss> {
    let object = member.object.value();
    let row = tables.data_of(member.key.group(), member.key.kind(), object)?;
    let (fate, written) = row.verdict(object);
    let fate = match fate {
        DataFate::Unknown if member.object.is(kinds::PERSISTENT_VOLUME_CLAIM) => {
            reclaim_policy(inventory, Some(&member.key), member.object.at(&["spec"]))
                .unwrap_or(fate)
        }
        DataFate::Lost if member.object.is(kinds::STATEFUL_SET) => {
            let templates = member.object.at(&["spec", "volumeClaimTemplates"]);
            fate_of_templates(inventory, templates.into_iter().flat_map(Value::items))
        }
        fate => fate,
    };
    Some(DataLoss {
        fate,
        lost: row.lost.as_str().to_owned(),
        written,
        row: row.name(),
        verified: row.proven,
    })
}

/// Returns the fate of the volumes once the claims from `templates` are deleted: `Lost` if one of them is lost.
pub fn fate_of_templates<'v>(
    inventory: &Inventory,
    templates: impl Iterator<Item = Value<'v>>,
) -> DataFate {
    let fates: Vec<_> = templates
        .map(|claim| reclaim_policy(inventory, None, claim.get("spec")))
        .collect();
    if fates.contains(&Some(DataFate::Lost)) {
        DataFate::Lost
    } else if fates.iter().all(|fate| *fate == Some(DataFate::Kept)) {
        DataFate::Kept
    } else {
        DataFate::Unknown
    }
}

/// Returns the fate of the volume of a claim with this `spec`: from the PersistentVolume that the claim is bound to, or
/// else from the volumes that it may get and the StorageClass that may provision one, if they agree. `None` if unknown.
/// `claim` is the key of the claim, if any.
pub fn reclaim_policy(
    inventory: &Inventory,
    claim: Option<&ObjectKey>,
    spec: Option<Value<'_>>,
) -> Option<DataFate> {
    let candidates = match inventory.volume_of(claim, spec) {
        VolumeChoice::Bound(volume) => return Some(fate_of_volume(volume)),
        VolumeChoice::Unknown => return None,
        VolumeChoice::AnyOf(candidates) => candidates,
    };
    let name = spec.and_then(|spec| spec.str_at(&["storageClassName"]));
    let kind = GroupKind::new("storage.k8s.io", "StorageClass");
    let key = ObjectKey::new(kind, Namespace::None, name.unwrap_or_default());
    let class = inventory
        .with_key(&key)
        .first()
        .map(|id| inventory.member(*id));
    let provisioned = class
        .filter(|class| class.object.value().str_at(&["provisioner"]) != Some(NO_PROVISIONER))
        .map(|class| fate(class, &["reclaimPolicy"], "Delete"));
    let mut fates = candidates
        .into_iter()
        .map(fate_of_volume)
        .chain(provisioned);
    let first = fates.next()?;
    fates.all(|other| other == first).then_some(first)
}

/// The provisioner of a StorageClass whose volumes are created by hand.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// The field of a volume that decides its fate once its claim is gone. A volume that is created by hand has `Retain` by
/// default.
const VOLUME_POLICY: [&str; 2] = ["spec", "persistentVolumeReclaimPolicy"];

fn fate_of_volume(volume: &Member) -> DataFate {
    fate(volume, &VOLUME_POLICY, "Retain")
}

/// Whether a volume is deleted once its claim is gone. `Recycle` deletes the files and keeps the volume.
pub fn deletes_with_its_claim(volume: &Member) -> bool {
    volume.object.value().str_at(&VOLUME_POLICY) == Some("Delete")
}

fn fate(object: &Member, path: &[&str], default: &str) -> DataFate {
    let policy = object.object.value().str_at(path);
    if policy.unwrap_or(default) == "Retain" {
        DataFate::Kept
    } else {
        DataFate::Lost
    }
}
