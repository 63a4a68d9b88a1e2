//! The ConfigMaps and Secrets of one state from which charts read values, and their generators.

use std::collections::{BTreeMap, BTreeSet};

use foldhash::HashMap;

use super::state::{SourceState, canonical_text, items, text_at};
use crate::kustomize::{folder_of, resolve};
use crate::manifest::ParsedFile;
use crate::yaml::Value;

/// The place in a cluster into which an object is delivered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Home {
    /// The cluster; empty if it is not known.
    pub cluster: String,
    /// The namespace, if it is known.
    pub namespace: Option<String>,
    /// The name of the object there.
    pub name: String,
}

/// How a kustomization or manifest writes an object.
#[derive(Clone, Copy, Debug)]
pub enum WrittenAs<'w> {
    /// As an object that begins at a byte.
    Object(u32),
    /// As a generator of ConfigMaps or Secrets with this name.
    Generator(&'w str),
}

impl Home {
    /// Whether an object here may read one that is delivered into `other`.
    fn may_read(&self, other: &Self) -> bool {
        let is_near =
            self.cluster == other.cluster || self.cluster.is_empty() || other.cluster.is_empty();
        let both = self.namespace.as_ref().zip(other.namespace.as_ref());
        is_near && both.is_none_or(|(one, other)| one == other)
    }
}

/// A ConfigMap or Secret, or the generator of one.
pub(super) struct DataObject<'s> {
    pub(super) place: &'s str,
    pub(super) file: &'s ParsedFile,
    pub(super) value: Value<'s>,
    /// The places into which it is delivered.
    homes: Vec<Home>,
}

/// The ConfigMaps and Secrets of one state, and their generators.
#[derive(Default)]
pub(super) struct Data<'s> {
    all: Vec<DataObject<'s>>,
    /// Indices in `all`, by written and by delivered name.
    by_name: BTreeMap<String, BTreeSet<usize>>,
    /// Indices in `all`, by place in a cluster.
    by_home: HashMap<Home, BTreeSet<usize>>,
}

impl<'s> Data<'s> {
    pub(super) fn new(state: &SourceState<'s>) -> Self {
        let mut data = Self::default();
        for (place, file, object) in state.objects() {
            if object.group().is_empty() && matches!(object.kind(), "ConfigMap" | "Secret") {
                let name = object.name().unwrap_or_default();
                let value = object.value();
                let homes = state.homes(place, object);
                data.add(
                    &name,
                    DataObject {
                        place,
                        file,
                        value,
                        homes,
                    },
                );
            }
        }
        for (place, file, root) in state.kustomizations() {
            for value in items(root, &["configMapGenerator", "secretGenerator"]) {
                let name = text_at(value, &["name"]);
                let namespaces = [value, root].map(|value| text_at(value, &["namespace"]));
                let namespace = namespaces.into_iter().find(|text| !text.is_empty());
                let homes = state.generated(place, name, namespace);
                data.add(
                    name,
                    DataObject {
                        place,
                        file,
                        value,
                        homes,
                    },
                );
            }
        }
        data
    }

    fn add(&mut self, name: &str, object: DataObject<'s>) {
        let at = self.all.len();
        for home in &object.homes {
            for name in [name, &home.name] {
                self.by_name.entry(name.to_owned()).or_default().insert(at);
                let home = Home {
                    name: name.to_owned(),
                    ..home.clone()
                };
                self.by_home.entry(home).or_default().insert(at);
            }
        }
        self.all.push(object);
    }

    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = &DataObject<'s>> {
        let found = self.by_name.get(name).into_iter().flatten();
        found.map(|at| &self.all[*at])
    }

    /// Returns the indices of the objects called `name` that an object with homes `readers` may
    /// read.
    pub(super) fn read_by(&self, readers: &[Home], name: &str) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for reader in readers {
            let Some(namespace) = reader
                .namespace
                .as_ref()
                .filter(|_| !reader.cluster.is_empty())
            else {
                let named = self.by_name.get(name).into_iter().flatten().copied();
                found.extend(named.filter(|at| {
                    let mut homes = self.all[*at].homes.iter();
                    homes.any(|home| reader.may_read(home))
                }));
                continue;
            };
            for cluster in ["", &reader.cluster] {
                for namespace in [None, Some(namespace)] {
                    let home = Home {
                        cluster: cluster.to_owned(),
                        namespace: namespace.cloned(),
                        name: name.to_owned(),
                    };
                    found.extend(self.by_home.get(&home).into_iter().flatten());
                }
            }
        }
        found
    }

    /// Returns the content of the objects with the indices in `found`, and of the files that generate them, in an order
    /// that is independent of their places.
    pub(super) fn content(&self, state: &SourceState<'_>, found: &BTreeSet<usize>) -> String {
        let mut texts: Vec<String> = found
            .iter()
            .map(|at| content(state, &self.all[*at]))
            .collect();
        texts.sort();
        texts.concat()
    }
}

fn content(state: &SourceState<'_>, object: &DataObject<'_>) -> String {
    let DataObject {
        place, file, value, ..
    } = object;
    let whole = [
        "data",
        "stringData",
        "binaryData",
        "literals",
        "files",
        "envs",
    ];
    let mut text: String = whole
        .map(|key| canonical_text(file, value.get(key)))
        .concat();
    for written in items(*value, &["files", "envs"]).filter_map(Value::as_str) {
        let path = written.split_once('=').map_or(written, |(_, path)| path);
        text.push_str(&state.digest(&resolve(folder_of(place), path)));
    }
    text
}
