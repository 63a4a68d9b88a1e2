//! Matrix and merge generators, and the clusters that merges and selectors name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::generators::{CLUSTER_NAMES, Generated, Generators, failed};
use super::gotemplate::printed;
use super::parameters::{compared, key_of, merge_key_of, put_all};
use super::template::{Language, NamedCluster, Outcome, Parameters};
use crate::graph::node::Node;

impl Parameters {
    /// Returns the parameters of a cluster of which only the `values` of `keys` are known.
    fn in_cluster(&self, keys: &[String], values: &[String], is_selected: bool) -> Self {
        let mut one = self.clone();
        for (key, value) in keys.iter().zip(values) {
            one.known.insert(key.clone(), value.as_str().into());
        }
        one.cluster = Some(NamedCluster {
            name: values.join("/"),
            for_any_cluster: self.known.clone(),
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
        for one in outer.all {
            self.take(1)?;
            let inner = self.one(second, Some(&one), depth + 1)?;
            given.unread.extend(inner.unread);
            for other in inner.all {
                self.take(1)?;
                given.all.push(self.combined(&one, other)?);
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
                put_all(&mut known, &one.known);
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
            template: None,
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
        let mut own = given.all.iter().filter_map(|one| merge_key_of(one, &keys));
        if !own.all(|key| known.insert(key)) {
            return failed("two elements of a merge have the same keys");
        }
        let mut over: Vec<BTreeMap<Vec<String>, Parameters>> = Vec::new();
        for generator in others {
            let other = self.one(generator, None, depth + 1)?;
            given.unread.extend(other.unread);
            let mut by_key = BTreeMap::new();
            for parameters in other.all {
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
            .any(|one| one.are_partly_unknown && key_of(one, &keys).is_none());
        if unknown {
            self.name_clusters(&keys, &over, &mut given)?;
        }
        for one in &mut given.all {
            let Some(key) = merge_key_of(one, &keys) else {
                continue;
            };
            for other in over.iter().filter_map(|by_key| by_key.get(&key)) {
                put_all(&mut one.known, &other.known);
            }
        }
        Ok(given)
    }

    /// Adds copies of each element of `given` with unknown `keys`: one for each cluster that `over`
    /// names in this state or the other one, because such a cluster may exist.
    fn name_clusters(
        &mut self,
        keys: &[String],
        over: &[BTreeMap<Vec<String>, Parameters>],
        given: &mut Generated,
    ) -> Outcome<()> {
        self.names += 1;
        let here = over.iter().flat_map(BTreeMap::values);
        let here = here.filter_map(|one| key_of(one, keys));
        let named = self.named.listed.entry(keys.to_vec()).or_default();
        named.extend(here);
        let elsewhere = self.clusters.listed.get(keys).into_iter().flatten();
        let all: BTreeSet<Vec<String>> = named.iter().chain(elsewhere).cloned().collect();
        let mut open = Vec::new();
        let mut known = BTreeSet::new();
        for one in &given.all {
            match key_of(one, keys) {
                Some(values) => {
                    known.insert(values);
                }
                None => open.push(one.clone()),
            }
        }
        for values in all.difference(&known) {
            for one in &open {
                self.take(1)?;
                given.all.push(one.in_cluster(keys, values, false));
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
        let mut keys: BTreeSet<Vec<String>> = self.clusters.selected.keys().cloned().collect();
        for (key, values) in selector.map(compared).unwrap_or_default() {
            let mut parameters = given.all.iter();
            if CLUSTER_NAMES.contains(&&*key)
                && parameters.any(|one| one.are_partly_unknown && !one.known.contains_key(&key))
            {
                let named = &mut self.named.selected;
                let named = named.entry(vec![key.clone()]).or_default();
                named.extend(values.into_iter().map(|value| vec![value]));
                keys.insert(vec![key]);
            }
        }
        for key in keys {
            let here = self.named.selected.get(&key).into_iter().flatten();
            let elsewhere = self.clusters.selected.get(&key).into_iter().flatten();
            let names: BTreeSet<Vec<String>> = here.chain(elsewhere).cloned().collect();
            let mut open = Vec::new();
            let mut known = BTreeSet::new();
            for one in &mut given.all {
                match key_of(one, &key) {
                    None if one.are_partly_unknown => open.push(one.clone()),
                    None => {}
                    Some(values) => {
                        if let Some(cluster) = &mut one.cluster {
                            cluster.is_selected |= names.contains(&values);
                        }
                        known.insert(values);
                    }
                }
            }
            for values in names.difference(&known) {
                for one in &open {
                    self.take(1)?;
                    given.all.push(one.in_cluster(&key, values, true));
                }
            }
        }
        Ok(())
    }
}
