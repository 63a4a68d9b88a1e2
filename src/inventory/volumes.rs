//! The PersistentVolume to which a claim is bound, following the volume controller
//! (pkg/controller/volume/persistentvolume/index.go).

use foldhash::{HashMap, HashSet};

use super::{Inventory, Member, ObjectId};
use crate::kube::{Namespace, ObjectKey, kinds, quantity};
use crate::manifest::LabelSelector;
use crate::yaml::Value;

/// The maximum number of free volumes of a class that are compared with a claim.
const MAX_CANDIDATES: usize = 64;

/// The PersistentVolumes of an inventory.
#[derive(Debug, Default)]
pub(super) struct Volumes {
    /// Volumes with a `claimRef`, by the namespace and the name of its claim.
    reserved: HashMap<(String, String), ObjectId>,
    /// Volumes that any claim of their class may get.
    free: HashMap<String, Vec<ObjectId>>,
}

/// The volumes that a claim may be bound to.
#[derive(Debug)]
pub enum VolumeChoice<'i> {
    /// The one that the claim or the volume names.
    Bound(&'i Member),
    /// One of these, or a new one if the class provisions volumes; empty if none fits.
    AnyOf(Vec<&'i Member>),
    /// A volume that the inventory does not contain, or one of too many.
    Unknown,
}

impl Volumes {
    pub(super) fn of(inventory: &Inventory) -> Self {
        let mut all = Self::default();
        for volume in inventory.of_kind(kinds::PERSISTENT_VOLUME) {
            let spec = volume.object.at(&["spec"]);
            if let Some(claim) = spec.and_then(|spec| spec.get("claimRef")) {
                if let Some((namespace, name)) =
                    text(Some(claim), "namespace").zip(text(Some(claim), "name"))
                {
                    let place = (namespace.to_owned(), name.to_owned());
                    all.reserved.entry(place).or_insert(volume.id);
                }
            } else {
                let class = text(spec, "storageClassName").unwrap_or_default();
                let of_class = all.free.entry(class.to_owned()).or_default();
                of_class.push(volume.id);
            }
        }
        all
    }
}

impl Inventory {
    /// Returns the volumes that a claim with this `spec` may be bound to; `claim` is its key, if it has one.
    pub fn volume_of(
        &self,
        claim: Option<&ObjectKey>,
        spec: Option<Value<'_>>,
    ) -> VolumeChoice<'_> {
        if let Some(name) = text(spec, "volumeName").filter(|name| !name.is_empty()) {
            let key = ObjectKey::new(kinds::PERSISTENT_VOLUME, Namespace::None, name);
            return match self.with_key(&key).first() {
                Some(id) => VolumeChoice::Bound(self.member(*id)),
                // A provisioned volume is named after the uid of its claim.
                None if name.starts_with("pvc-") => VolumeChoice::AnyOf(Vec::new()),
                None => VolumeChoice::Unknown,
            };
        }
        let volumes = self.volumes.get_or_init(|| Volumes::of(self));
        let reserved = claim.and_then(|claim| {
            let namespace = claim.namespace.name()?.to_owned();
            volumes.reserved.get(&(namespace, claim.name.to_string()))
        });
        if let Some(id) = reserved {
            return VolumeChoice::Bound(self.member(*id));
        }
        // Without a class, the API server sets the default one.
        let free = text(spec, "storageClassName").and_then(|class| volumes.free.get(class));
        let Some(free) = free else {
            return VolumeChoice::AnyOf(Vec::new());
        };
        if free.len() > MAX_CANDIDATES {
            return VolumeChoice::Unknown;
        }
        let free = free.iter().map(|id| self.member(*id));
        VolumeChoice::AnyOf(free.filter(|volume| fits(volume, spec)).collect())
    }
}

/// Whether a volume has the size, the access modes and the labels that a claim asks for.
fn fits(volume: &Member, claim: Option<Value<'_>>) -> bool {
    let spec = volume.object.at(&["spec"]);
    let has = amount(spec, &["capacity", "storage"]);
    let wants = amount(claim, &["resources", "requests", "storage"]);
    let offered: HashSet<&str> = modes(spec).collect();
    let selector = claim.and_then(|claim| claim.get("selector"));
    let labels = volume.object.metadata().labels();
    has.zip(wants).is_none_or(|(has, wants)| has >= wants)
        && modes(claim).all(|mode| offered.contains(mode))
        && LabelSelector::read(selector).selects(|key| labels.get(key).map(|value| value.value))
}

fn modes(spec: Option<Value<'_>>) -> impl Iterator<Item = &str> {
    let modes = spec
        .into_iter()
        .flat_map(|spec| spec.items_at("accessModes"));
    modes.filter_map(Value::as_str)
}

fn amount(spec: Option<Value<'_>>, path: &[&str]) -> Option<f64> {
    let value = spec.and_then(|spec| spec.at(path))?;
    match value.as_str() {
        Some(text) => quantity(text),
        None => value.as_int().map(|amount| amount as f64),
    }
}

fn text<'v>(value: Option<Value<'v>>, field: &str) -> Option<&'v str> {
    value?.str_at(&[field])
}
