//! The pairing of objects that only base has with those that only head has: moved, rehashed or renamed.

use std::collections::{BTreeMap, VecDeque};

use foldhash::{HashMap, HashSet};

use super::similar::ValueHashes;
use super::tree::{TreePart, TreePlace, destination_of, file_of, key_of, member};
use crate::kube::{GroupKind, Namespace, ObjectKey, kinds};

/// Minimum likeness at which an object counts as renamed.
const RENAMED: f64 = 0.6;
/// Minimum number of values for a comparison by likeness: all Namespaces are alike.
const FEW_VALUES: usize = 4;
/// Maximum number of objects of one kind on each side. If there are more, none of them counts as renamed.
const MAX_COMPARED: usize = 64;

/// Two objects, one of each side.
pub(super) type Pair = (TreePlace, TreePlace);

/// The objects of both sides that are not in a pair yet.
pub(super) struct Unpaired<'t> {
    pub(super) base: &'t [TreePart],
    pub(super) head: &'t [TreePart],
    pub(super) gone: Vec<TreePlace>,
    pub(super) new: Vec<TreePlace>,
}

impl Unpaired<'_> {
    /// Pairs objects with one key at different destinations, preferably in the same file, if both
    /// destinations are applied or neither is. An applied object whose new destination is not
    /// applied, or a delivered one whose new destination has no deliverer, counts as removed.
    pub(super) fn moved(&mut self) -> Vec<Pair> {
        let (base, head) = (self.base, self.head);
        self.take(
            |gone| {
                let needs_deliverer = destination_of(base, gone).deliverer().is_some();
                let is_applied = destination_of(base, gone).is_applied();
                [Some(file_of(base, gone)), None]
                    .map(|file| (key_of(base, gone), is_applied, needs_deliverer, file))
            },
            |new| {
                let is_delivered = destination_of(head, new).deliverer().is_some();
                let is_applied = may_apply(head, new);
                let fits = [false, true]
                    .into_iter()
                    .take(1 + usize::from(is_delivered));
                fits.flat_map(move |delivered| {
                    [Some(file_of(head, new)), None]
                        .map(|file| (key_of(head, new), is_applied, delivered, file))
                })
            },
        )
    }

    /// Pairs ConfigMaps and Secrets whose names differ only in the hash of their content.
    pub(super) fn hashed(&mut self) -> Vec<Pair> {
        let (base, head) = (self.base, self.head);
        self.take(
            |gone| Some((stem(key_of(base, gone))?, destination_of(base, gone))),
            |new| Some((stem(key_of(head, new))?, destination_of(head, new))),
        )
    }

    /// Pairs objects of one kind with nearly the same content under another name or in another namespace.
    pub(super) fn renamed(&mut self) -> Vec<Pair> {
        let mut by_kind: BTreeMap<GroupKind, (Vec<TreePlace>, Vec<TreePlace>)> = BTreeMap::new();
        for &place in &self.gone {
            let kind = key_of(self.base, place).group_kind().to_owned();
            by_kind.entry(kind).or_default().0.push(place);
        }
        for &place in &self.new {
            let kind = key_of(self.head, place).group_kind().to_owned();
            if let Some((_, new)) = by_kind.get_mut(&kind) {
                new.push(place);
            }
        }
        let pairs: Vec<Pair> = by_kind
            .into_values()
            .flat_map(|(gone, new)| self.renamed_of_kind(&gone, &new))
            .collect();
        self.drop_pairs(&pairs);
        pairs
    }

    /// Pairs objects of one kind, those with the highest likeness first.
    fn renamed_of_kind(&self, gone: &[TreePlace], new: &[TreePlace]) -> Vec<Pair> {
        if gone.len() > MAX_COMPARED || new.len() > MAX_COMPARED {
            return Vec::new();
        }
        let (hashes_gone, hashes_new) = (hashes(self.base, gone), hashes(self.head, new));
        let mut candidates = Vec::new();
        for (i, &from) in gone.iter().enumerate() {
            for (j, &to) in new.iter().enumerate() {
                let similarity = self.similarity(
                    (from, &hashes_gone[i]),
                    (to, &hashes_new[j]),
                    gone.len() == 1 && new.len() == 1,
                );
                if similarity >= RENAMED {
                    candidates.push((similarity, i, j));
                }
            }
        }
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let (mut from_used, mut to_used) = (vec![false; gone.len()], vec![false; new.len()]);
        let mut pairs = Vec::new();
        for (_, i, j) in candidates {
            if !from_used[i] && !to_used[j] {
                (from_used[i], to_used[j]) = (true, true);
                pairs.push((gone[i], new[j]));
            }
        }
        pairs
    }

    /// Returns the likeness of two objects, with a bonus for the same file and the same name.
    /// `alone`: neither side has another unpaired object of the kind.
    fn similarity(
        &self,
        (from, gone): (TreePlace, &ValueHashes),
        (to, new): (TreePlace, &ValueHashes),
        alone: bool,
    ) -> f64 {
        let (was, is) = (key_of(self.base, from), key_of(self.head, to));
        let (left, reached) = (
            destination_of(self.base, from),
            destination_of(self.head, to),
        );
        let applied =
            left.is_applied() == may_apply(self.head, to) && !left.loses_delivery_in(reached);
        // A CRD is named after its kind, so another name is another CRD.
        if !applied || was.is(kinds::CUSTOM_RESOURCE_DEFINITION) {
            return 0.0;
        }
        let same_file = file_of(self.base, from) == file_of(self.head, to);
        let same_name = was.name == is.name && was.namespace != Namespace::None;
        if gone.len().min(new.len()) < FEW_VALUES {
            return if alone && same_file || same_name {
                1.0
            } else {
                0.0
            };
        }
        let bonus = if same_file { 0.15 } else { 0.0 } + if same_name { 0.15 } else { 0.0 };
        gone.similarity(new) + bonus
    }

    /// Removes and returns pairs that share an identity. The identities of a `gone` object are in order of preference;
    /// of several `new` objects with one identity, the first is taken.
    fn take<K: Eq + std::hash::Hash, Gone: IntoIterator<Item = K>, New: IntoIterator<Item = K>>(
        &mut self,
        of_gone: impl Fn(TreePlace) -> Gone,
        of_new: impl Fn(TreePlace) -> New,
    ) -> Vec<Pair> {
        let mut by_identity: HashMap<K, VecDeque<TreePlace>> = HashMap::default();
        for &place in &self.new {
            for identity in of_new(place) {
                by_identity.entry(identity).or_default().push_back(place);
            }
        }
        let mut taken: HashSet<TreePlace> = HashSet::default();
        let mut pairs = Vec::new();
        for &gone in &self.gone {
            let new = of_gone(gone).into_iter().find_map(|identity| {
                let candidates = by_identity.get_mut(&identity)?;
                std::iter::from_fn(|| candidates.pop_front()).find(|new| !taken.contains(new))
            });
            if let Some(new) = new {
                taken.insert(new);
                pairs.push((gone, new));
            }
        }
        self.drop_pairs(&pairs);
        pairs
    }

    fn drop_pairs(&mut self, pairs: &[Pair]) {
        let gone: HashSet<TreePlace> = pairs.iter().map(|(gone, _)| *gone).collect();
        let new: HashSet<TreePlace> = pairs.iter().map(|(_, new)| *new).collect();
        self.gone.retain(|place| !gone.contains(place));
        self.new.retain(|place| !new.contains(place));
    }
}

/// Whether an object is applied, and its deliverer is neither suspended nor failing.
fn may_apply(trees: &[TreePart], place: TreePlace) -> bool {
    let destination = destination_of(trees, place);
    destination.is_applied() && !trees[place.tree].is_held_back(destination)
}

fn hashes(trees: &[TreePart], places: &[TreePlace]) -> Vec<ValueHashes> {
    places
        .iter()
        .map(|&place| ValueHashes::new(&member(trees, place).object))
        .collect()
}

fn stem(key: &ObjectKey) -> Option<ObjectKey> {
    without_hash(key).map(|name| key.named(name))
}

/// Returns the name of a ConfigMap or Secret without the hash of its content that kustomize adds: ten characters of an
/// alphabet without vowels (kubernetes-sigs/kustomize, api/hasher/hasher.go, `encode`).
fn without_hash(key: &ObjectKey) -> Option<&str> {
    let hashed = key.group().is_empty() && matches!(key.kind(), "ConfigMap" | "Secret");
    let (stem, hash) = key.name.rsplit_once('-').filter(|_| hashed)?;
    let encoded = hash.len() == 10 && hash.bytes().all(|byte| b"2456789bcdfghkmt".contains(&byte));
    (encoded && !stem.is_empty()).then_some(stem)
}
