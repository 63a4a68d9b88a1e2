//! `clusters: [{name, server, labels, annotations}]`: the clusters that are registered with Argo CD. The list is
//! complete: generators find no others, except the cluster in which Argo CD runs.

use std::collections::{BTreeMap, BTreeSet};

use super::Mistake;
use super::value::{Values, start};
use crate::graph::argo::KnownCluster;
use crate::yaml::{Entry, Value};

pub(super) const CLUSTER: &[&str] = &["name", "server", "labels", "annotations"];

pub(super) fn clusters(values: Values<'_>, field: Entry<'_>) -> Result<Vec<KnownCluster>, Mistake> {
    let mut names = BTreeSet::new();
    let mut all = Vec::new();
    for item in values.items(field)? {
        let cluster = cluster(values, item)?;
        if !names.insert(cluster.name.clone()) {
            let message = format!("names the cluster `{}` twice", cluster.name);
            return Err(values.mistake(start(item), message));
        }
        all.push(cluster);
    }
    Ok(all)
}

fn cluster(values: Values<'_>, value: Value<'_>) -> Result<KnownCluster, Mistake> {
    let mut cluster = KnownCluster::default();
    for field in values.fields(value, "an entry of `clusters`", CLUSTER)? {
        match field.key {
            "name" => cluster.name = values.string(field)?.to_owned(),
            "server" => cluster.server = values.string(field)?.to_owned(),
            "labels" => cluster.labels = string_map(values, field)?,
            _ => cluster.annotations = string_map(values, field)?,
        }
    }
    if cluster.name.is_empty() || cluster.server.is_empty() {
        let expected = "expects `name` and `server` for every entry of `clusters`";
        return Err(values.mistake(start(value), expected));
    }
    Ok(cluster)
}

fn string_map(values: Values<'_>, field: Entry<'_>) -> Result<BTreeMap<String, String>, Mistake> {
    let entries = values.mapping(field.value, &format!("`{}`", field.key))?;
    entries
        .into_iter()
        .map(|entry| {
            let text = entry.value.as_str().ok_or_else(|| {
                let message = format!("expects a string for `{}`", entry.key);
                values.mistake(start(entry.value), message)
            })?;
            Ok((entry.key.to_owned(), text.to_owned()))
        })
        .collect()
}
