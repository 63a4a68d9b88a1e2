//! The generators that combine others, matrix and merge, and the clusters that these and selectors name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::generators::{CLUSTER_NAMES, Generated, Generators, Outcome, failed};
use super::gotemplate::printed;
use super::parameters::{compared, key_of, merge_key_of, put_over};
use super::template::{Language, NamedCluster, Parameters};
use crate::graph::node::Node;

impl Parameters {
    /// Returns the parameters of one cluster, of which only the `values` of `keys` are known.
    fn in_cluster(&self, keys: &[String], values: &[String], is_selected: bool) -> Self {
        let mut one = self.clone();
        for (key, value) in keys.iter().zip(values) {
            one.known.insert(key.clone(), value.as_str().into());
        }
        one.cluster = Some(NamedCluster {
            name: values.join("/"),
            of_any: self.known.clone(),
            is_selected,
        });
        one
    }
}

impl Generators<'_> {
    pub(super) fn matrix(&mut self, body: &Node, depth: usize) -> Outcome<Generated> {
        let generators = body.items_at("generators");
        let [first, second] = generators.as_slice() else {
            return failed("a matrix does not have exactly two generators");
        };
        let mut given = Generated::default();
        let outer = self.one(first, None, depth + 1)?;
        given.unread.extend(outer.unread);
        for (one, _) in outer.all {
            self.take(1)?;
            let inner = self.one(second, Some(&one), depth + 1)?;
            given.unread.extend(inner.unread);
            for (other, _) in inner.all {
                self.take(1)?;
                given.all.push((self.combined(&one, other)?, None));
            }
        }
        Ok(given)
    }

    /// Combines the parameters of both generators of a matrix: in Go templates, those of the first one win.
    fn combined(&self, one: &Parameters, other: Parameters) -> Outcome<Parameters> {
        let mut known = Map::new();
        match self.language {
            Language::Go { .. } => {
                known = other.known;
                for (key, value) in &one.known {
                    match known.get_mut(key) {
                        Some(there) => put_over(there, value.clone()),
                        None => {
                            known.insert(key.clone(), value.clone());
                        }
                    }
                }
            }
            Language::Plain => {
                for (key, value) in one.known.iter().chain(&other.known) {
                    let value: Value = printed(value).into();
                    if known
                        .insert(key.clone(), value.clone())
                        .is_some_and(|there| there != value)
                    {
                        let both = "both generators of a matrix give";
                        return failed(format!("{both} `{key}`, with different values"));
                    }
                }
            }
        }
        Ok(Parameters {
            known,
            are_partly_unknown: one.are_partly_unknown || other.are_partly_unknown,
            cluster: other.cluster.or_else(|| one.cluster.clone()),
        })
    }

    /// Returns the elements of the first generator, overridden by elements of the others with the same keys.
    pub(super) fn merge(&mut self, body: &Node, depth: usize) -> Outcome<Generated> {
        let keys = body.texts_at("mergeKeys");
        let generators = body.items_at("generators");
        let first = generators
            .split_first()
            .filter(|(_, others)| !others.is_empty());
        let (Some((first, others)), false) = (first, keys.is_empty()) else {
            return failed("a merge has no keys or less than two generators");
        };
        let mut given = self.one(first, None, depth + 1)?;
        let mut known = BTreeSet::new();
        let own = given
            .all
            .iter()
            .filter_map(|(one, _)| merge_key_of(one, &keys));
        for key in own {
            if !known.insert(key) {
                return failed("two elements of a merge have the same keys");
            }
        }
        let mut over: Vec<BTreeMap<Vec<String>, Parameters>> = Vec::new();
        for generator in others {
            let other = self.one(generator, None, depth + 1)?;
            given.unread.extend(other.unread);
            let mut by_key = BTreeMap::new();
            for (parameters, _) in other.all {
                let Some(key) = merge_key_of(&parameters, &keys) else {
                    continue;
                };
                if by_key.insert(key, parameters).is_some() {
                    return failed("two elements of a merge have the same keys");
                }
            }
            over.push(by_key);
        }
        let unknown = given
            .all
            .iter()
            .any(|(one, _)| one.are_partly_unknown && key_of(one, &keys).is_none());
        if unknown {
            self.name_clusters(&keys, &over, &mut given)?;
        }
        for (one, _) in &mut given.all {
            let Some(key) = merge_key_of(one, &keys) else {
                continue;
            };
            for other in over.iter().filter_map(|by_key| by_key.get(&key)) {
                for (name, value) in &other.known {
                    match one.known.get_mut(name) {
                        Some(there) => put_over(there, value.clone()),
                        None => {
                            one.known.insert(name.clone(), value.clone());
                        }
                    }
                }
            }
        }
        Ok(given)
    }

    /// Adds an element for each named key beside the elements with unknown keys: there may be such a cluster.
    fn name_clusters(
        &mut self,
        keys: &[String],
        over: &[BTreeMap<Vec<String>, Parameters>],
        given: &mut Generated,
    ) -> Outcome<()> {
        let here = over.iter().flat_map(BTreeMap::values);
        let here = here.filter_map(|one| key_of(one, keys));
        let named = self.named.entry(keys.to_vec()).or_default();
        named.extend(here);
        let elsewhere = self.clusters.get(keys).into_iter().flatten();
        let known: BTreeSet<Vec<String>> = given
            .all
            .iter()
            .filter_map(|(one, _)| key_of(one, keys))
            .collect();
        let all: BTreeSet<Vec<String>> = named.iter().chain(elsewhere).cloned().collect();
        let open = given
            .all
            .iter()
            .filter(|(one, _)| key_of(one, keys).is_none());
        let open: Vec<(Parameters, Option<Node>)> = open.cloned().collect();
        for values in all.difference(&known) {
            for (one, template) in &open {
                self.take(1)?;
                let one = one.in_cluster(keys, values, false);
                given.all.push((one, template.clone()));
            }
        }
        Ok(())
    }

    /// Adds elements for the clusters that a selector names, in this state or in the other one.
    pub(super) fn select_clusters(
        &mut self,
        selector: Option<&Node>,
        given: &mut Generated,
    ) -> Outcome<()> {
        let mut keys: BTreeSet<Vec<String>> = self.selected.keys().cloned().collect();
        for (key, values) in selector.map(compared).unwrap_or_default() {
            let mut parameters = given.all.iter().map(|(one, _)| one);
            if CLUSTER_NAMES.contains(&&*key)
                && parameters.any(|one| one.are_partly_unknown && !one.known.contains_key(&key))
            {
                let named = self
                    .named_by_selectors
                    .entry(vec![key.clone()])
                    .or_default();
                named.extend(values.into_iter().map(|value| vec![value]));
                keys.insert(vec![key]);
            }
        }
        for key in keys {
            let here = self.named_by_selectors.get(&key).into_iter().flatten();
            let names: BTreeSet<Vec<String>> = here
                .chain(self.selected.get(&key).into_iter().flatten())
                .cloned()
                .collect();
            let mut open = Vec::new();
            let mut known = BTreeSet::new();
            for (one, template) in &mut given.all {
                match key_of(one, &key) {
                    None if one.are_partly_unknown => open.push((one.clone(), template.clone())),
                    None => {}
                    Some(values) => {
                        if let Some(cluster) =
                            one.cluster.as_mut().filter(|_| names.contains(&values))
                        {
                            cluster.is_selected = true;
                        }
                        known.insert(values);
                    }
                }
            }
            for values in names.difference(&known) {
                for (one, template) in &open {
                    self.take(1)?;
                    let one = one.in_cluster(&key, values, true);
                    given.all.push((one, template.clone()));
                }
            }
        }
        Ok(())
    }
}
