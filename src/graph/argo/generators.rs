//! The output of the generators of an ApplicationSet: parameters of Applications (argo-cd applicationset/generators).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foldhash::HashMap;
use serde_json::{Map, Value};

use super::clusters::KnownClusters;
use super::folders;
use super::parameters::{
    compared, flat_element, flatten, key_of, path_parameters, patterns, put_over, selects,
};
use super::repository::Repositories;
use super::template::{Language, NamedCluster, Parameters, TemplateError};
use crate::graph::files::TreeFiles;
use crate::graph::node::Node;
use crate::graph::unread::What;

/// Maximum nesting of generators; Argo CD allows three.
const DEEPEST: usize = 4;

/// Maximum depth of the values that are read from list elements and from files of git generators.
const FILE_DEPTH: usize = 20;

/// The values by which sets name clusters, by the parameters that have these values.
pub(super) type ClusterNames = BTreeMap<Vec<String>, BTreeSet<Vec<String>>>;

/// The output of a generator.
#[derive(Debug, Default)]
pub(super) struct Generated {
    /// The parameters, each with the template of the generator that overrides that of the set.
    pub(super) all: Vec<(Parameters, Option<Node>)>,
    /// Inputs that were not evaluated: kind, name, reason.
    pub(super) unread: BTreeSet<(What, String, &'static str)>,
}

/// The context of generators, apart from their set.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'g> {
    pub(super) files: &'g TreeFiles<'g>,
    pub(super) repositories: &'g Repositories,
    pub(super) clusters: &'g KnownClusters,
    /// Maximum number of generated Applications.
    pub(super) most: usize,
}

/// Evaluator of the generators of one set.
pub(super) struct Generators<'g> {
    pub(super) around: Surroundings<'g>,
    pub(super) language: Language,
    /// The clusters that this set names, in this state of the tree or in the other one.
    pub(super) clusters: &'g ClusterNames,
    /// The clusters that its selectors name, in this state or in the other one.
    pub(super) selected: &'g ClusterNames,
    /// The clusters that it names in this state.
    pub(super) named: ClusterNames,
    /// The clusters that its selectors name in this state.
    pub(super) named_by_selectors: ClusterNames,
    /// The remaining budget of parameters that are combined from others.
    pub(super) left: usize,
    /// Cache of the results of git generators, by their inputs: the inner generator of a matrix runs once for each
    /// result of the outer one.
    pub(super) found: HashMap<Wanted, Arc<[String]>>,
}

/// The search of a git generator in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wanted {
    /// Whether it searches files; otherwise folders.
    are_files: bool,
    include: Vec<String>,
    exclude: Vec<String>,
}

/// The parameters that name a cluster (argo-cd applicationset/generators/cluster.go).
pub(super) const CLUSTER_NAMES: [&str; 3] = ["name", "nameNormalized", "server"];

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

type Outcome<T> = Result<T, TemplateError>;

pub(super) fn failed<T>(reason: impl Into<String>) -> Outcome<T> {
    Err(TemplateError::Failed(reason.into()))
}

impl Generators<'_> {
    /// Returns the output of all generators of a set.
    ///
    /// # Errors
    /// Returns an error if one of them fails: the whole set then changes nothing.
    pub(super) fn all(&mut self, set: &Node) -> Outcome<Generated> {
        let mut all = Generated::default();
        for generator in set.items_at("generators") {
            let one = self.one(&generator, None, 0)?;
            all.all.extend(one.all);
            all.unread.extend(one.unread);
        }
        Ok(all)
    }

    /// Evaluates one generator. `outer` contains the parameters of the outer one, if it is the inner one of a matrix.
    fn one(
        &mut self,
        generator: &Node,
        outer: Option<&Parameters>,
        depth: usize,
    ) -> Outcome<Generated> {
        if depth > DEEPEST {
            return failed("more generators are within each other than Argo CD allows");
        }
        let known = ["list", "git", "matrix", "merge", "clusters"];
        let kinds = generator.entries().into_iter().map(|(key, _)| key);
        let kind = kinds.into_iter().find(|key| &**key != "selector");
        // Argo CD ignores an empty generator.
        let Some(kind) = kind else {
            return Ok(Generated::default());
        };
        let mut body = generator.get(&kind).unwrap_or(Node::Null);
        if let Some(outer) = outer {
            body = filled(&body, self.language, outer)?;
        }
        let mut given = match &*kind {
            "list" => self.list(&body)?,
            "git" => self.git(&body)?,
            "matrix" => self.matrix(&body, depth)?,
            "merge" => self.merge(&body, depth)?,
            "clusters" => self.clusters(&body)?,
            other => self.unknown(&body, other, "only the service that it asks knows")?,
        };
        if depth == 0 {
            self.select_clusters(generator.get("selector").as_ref(), &mut given)?;
        }
        if let Some(selector) = generator.get("selector") {
            given
                .all
                .retain(|(parameters, _)| selects(&selector, parameters, depth == 0));
        }
        let template = body
            .get("template")
            .filter(|template| !template.entries().is_empty());
        if known.contains(&&*kind) || template.is_some() {
            for (_, over) in &mut given.all {
                *over = over.take().or_else(|| template.clone());
            }
        }
        Ok(given)
    }

    /// Takes `parameters` from the budget.
    fn take(&mut self, parameters: usize) -> Outcome<()> {
        let left = self.left.checked_sub(parameters);
        self.left = left.ok_or(TemplateError::TooMany)?;
        Ok(())
    }

    fn list(&self, body: &Node) -> Outcome<Generated> {
        let mut elements = body.items_at("elements");
        if let Some(text) = body.text_at(&["elementsYaml"]) {
            let parsed = crate::graph::files::parse_inline(&text);
            if let Some((reason, _)) = parsed.error {
                return failed(format!("`elementsYaml` cannot be read: {reason}"));
            }
            elements.extend(parsed.documents.iter().flat_map(Node::items));
        }
        let mut given = Generated::default();
        for element in elements {
            let Value::Object(element) = element.to_json(FILE_DEPTH) else {
                return failed("an element of a list is no mapping");
            };
            let known = match self.language {
                Language::Go { .. } => element,
                Language::Plain => flat_element(element)?,
            };
            given.all.push((of(known), None));
        }
        Ok(given)
    }

    /// Returns the files or folders that a git generator takes, from the cache if possible.
    fn looked_for(&mut self, items: &[Node], are_files: bool) -> Arc<[String]> {
        let (include, exclude) = patterns(items);
        let wanted = Wanted {
            are_files,
            include,
            exclude,
        };
        let files = self.around.files;
        let found = self.found.entry(wanted).or_insert_with_key(|wanted| {
            let take = if are_files {
                folders::files
            } else {
                folders::taken
            };
            take(files, &wanted.include, &wanted.exclude).into()
        });
        Arc::clone(found)
    }

    fn git(&mut self, body: &Node) -> Outcome<Generated> {
        let repository = body.text_at(&["repoURL"]).unwrap_or_default();
        if !self.around.repositories.are_own(&repository) {
            return self.unknown(
                body,
                &format!("git {repository}"),
                "another repository is not read",
            );
        }
        let prefix = body.text_at(&["pathParamPrefix"]).unwrap_or_default();
        let mut given = Generated::default();
        let directories = body.items_at("directories");
        let found: Vec<(Map<String, Value>, String)> = if directories.is_empty() {
            self.git_files(&body.items_at("files"))?
        } else {
            let taken = self.looked_for(&directories, false);
            let taken = taken.iter().cloned();
            taken.map(|folder| (Map::new(), folder)).collect()
        };
        for (mut known, path) in found {
            let is_file = directories.is_empty();
            let place = path_parameters(&path, is_file, self.language);
            match (self.language, prefix.as_str()) {
                (Language::Plain, "") => known.extend(place),
                (Language::Plain, prefix) => {
                    known.extend(
                        place
                            .into_iter()
                            .map(|(key, value)| (format!("{prefix}.{key}"), value)),
                    );
                }
                (Language::Go { .. }, "") => known.extend(place),
                (Language::Go { .. }, prefix) => {
                    known.insert(prefix.to_owned(), Value::Object(place));
                }
            }
            given.all.push((self.with_values(body, of(known))?, None));
        }
        Ok(given)
    }

    fn git_files(&mut self, items: &[Node]) -> Outcome<Vec<(Map<String, Value>, String)>> {
        let mut found = Vec::new();
        for path in self.looked_for(items, true).iter() {
            let parsed = self.around.files.parsed(path);
            if let Some((reason, _)) = &parsed.error {
                return failed(format!("{path} cannot be read: {reason}"));
            }
            let documents = parsed.documents.first();
            let elements = documents.map(|one| {
                if one.is_seq() {
                    one.items()
                } else {
                    vec![one.clone()]
                }
            });
            for element in elements.unwrap_or_default() {
                let Value::Object(element) = element.to_json(FILE_DEPTH) else {
                    return failed(format!(
                        "{path} has neither a mapping nor a list of mappings"
                    ));
                };
                let known = match self.language {
                    Language::Go { .. } => element,
                    Language::Plain => {
                        let mut flat = Map::new();
                        flatten("", &Value::Object(element), &mut flat);
                        flat
                    }
                };
                found.push((known, path.clone()));
            }
        }
        Ok(found)
    }

    /// Returns the parameters of the known clusters, and those that represent all others if there may be others.
    fn clusters(&self, body: &Node) -> Outcome<Generated> {
        let known = self.around.clusters;
        let mut given = Generated::default();
        for parameters in known.selected(body.get("selector").as_ref(), self.language) {
            let parameters = Parameters {
                known: parameters,
                are_partly_unknown: !known.are_complete,
                cluster: None,
            };
            given.all.push((self.with_values(body, parameters)?, None));
        }
        if body.is_true_at(&["flatList"]) {
            let all = given.all.drain(..);
            let all: Vec<Value> = all.map(|(one, _)| Value::Object(one.known)).collect();
            if known.are_complete {
                let list = Map::from_iter([("clusters".to_owned(), Value::Array(all))]);
                given.all.push((of(list), None));
            }
        }
        if !known.are_complete {
            let reason = "which clusters there are is not in the tree";
            let others = self.unknown(body, "clusters", reason)?;
            given.all.extend(others.all);
            given.unread.extend(others.unread);
        }
        Ok(given)
    }

    /// Returns the output of a generator whose parameters only the cluster or a service knows.
    fn unknown(&self, body: &Node, name: &str, reason: &'static str) -> Outcome<Generated> {
        let parameters = Parameters {
            are_partly_unknown: true,
            ..Parameters::default()
        };
        Ok(Generated {
            all: vec![(self.with_values(body, parameters)?, None)],
            unread: BTreeSet::from([(What::Generator, name.to_owned(), reason)]),
        })
    }

    /// Adds `values` of a generator, which may use its other parameters.
    fn with_values(&self, body: &Node, mut parameters: Parameters) -> Outcome<Parameters> {
        let Some(values) = body.get("values") else {
            return Ok(parameters);
        };
        let mut nested = Map::new();
        for (key, value) in values.entries() {
            let value = self
                .language
                .replace(&value.scalar().unwrap_or_default(), &parameters)?;
            nested.insert(key.to_string(), value.into());
        }
        match self.language {
            Language::Go { .. } => {
                parameters
                    .known
                    .insert("values".to_owned(), Value::Object(nested));
            }
            Language::Plain => {
                let flat = nested
                    .into_iter()
                    .map(|(key, value)| (format!("values.{key}"), value));
                parameters.known.extend(flat);
            }
        }
        Ok(parameters)
    }

    fn matrix(&mut self, body: &Node, depth: usize) -> Outcome<Generated> {
        let generators = body.items_at("generators");
        let [first, second] = generators.as_slice() else {
            return failed("a matrix has not exactly two generators");
        };
        let mut given = Generated::default();
        let outer = self.one(first, None, depth + 1)?;
        given.unread.extend(outer.unread);
        for (one, over) in outer.all {
            self.take(1)?;
            let inner = self.one(second, Some(&one), depth + 1)?;
            given.unread.extend(inner.unread);
            for (other, inner_over) in inner.all {
                self.take(1)?;
                let both = self.combined(&one, other)?;
                given.all.push((both, over.clone().or(inner_over)));
            }
        }
        Ok(given)
    }

    fn combined(&self, one: &Parameters, other: Parameters) -> Outcome<Parameters> {
        let mut known = one.known.clone();
        for (key, value) in other.known {
            match (known.get_mut(&key), self.language) {
                (Some(there), Language::Plain) if *there != value => {
                    return failed(format!(
                        "both generators of a matrix give `{key}`, with different values"
                    ));
                }
                (Some(there), Language::Go { .. }) => put_over(there, value),
                _ => {
                    known.insert(key, value);
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
    fn merge(&mut self, body: &Node, depth: usize) -> Outcome<Generated> {
        let keys = body.texts_at("mergeKeys");
        let generators = body.items_at("generators");
        let (Some((first, others)), false) = (generators.split_first(), keys.is_empty()) else {
            return failed("a merge has no keys or no generators");
        };
        let mut given = self.one(first, None, depth + 1)?;
        let mut over: Vec<BTreeMap<Vec<String>, Parameters>> = Vec::new();
        for generator in others {
            let other = self.one(generator, None, depth + 1)?;
            given.unread.extend(other.unread);
            let mut by_key = BTreeMap::new();
            for (parameters, _) in other.all {
                let Some(key) = key_of(&parameters, &keys) else {
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
            let Some(key) = key_of(one, &keys) else {
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
        let here = over.iter().flat_map(BTreeMap::keys).cloned();
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
    fn select_clusters(&mut self, selector: Option<&Node>, given: &mut Generated) -> Outcome<()> {
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

fn of(known: Map<String, Value>) -> Parameters {
    Parameters {
        known,
        ..Parameters::default()
    }
}

/// Returns a value with `parameters` filled into its texts.
pub(super) fn filled(node: &Node, language: Language, parameters: &Parameters) -> Outcome<Node> {
    let changed = node.with_texts(&mut |text| {
        if !text.contains("{{") {
            return Ok(None);
        }
        let new = language.replace(text, parameters)?;
        Ok((new != text).then_some(new))
    })?;
    Ok(changed.unwrap_or_else(|| node.clone()))
}
