//! The output of the generators of an ApplicationSet: parameters of Applications (argo-cd applicationset/generators).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foldhash::HashMap;
use serde_json::{Map, Value};

use super::clusters::KnownClusters;
use super::folders;
use super::parameters::{flat_element, flatten, path_parameters, selects};
use super::repository::Repositories;
use super::set::SetClusters;
use super::set_cache::SetCache;
use super::sources::is_fixed;
use super::template::{Language, Outcome, Parameters, TemplateError};
use crate::graph::files::{TreeFiles, parse_inline};
use crate::graph::kustomize::Budget;
use crate::graph::node::Node;
use crate::graph::unread::What;
use crate::kustomize::Limit;

/// Maximum number of generators that contain a generator. Argo CD does not read a matrix or a merge at this depth, and
/// fails because the generator is then empty (argo-cd pkg/apis/application/v1alpha1/applicationset_types.go,
/// ApplicationSetTerminalGenerator; applicationset/generators/matrix.go, getParams).
const DEEPEST: usize = 2;

/// Maximum depth of the values that are read from list elements and from files of git generators.
const FILE_DEPTH: usize = 20;

/// The clusters that sets name: the values of parameters, by the names of these (such as `name`).
pub(super) type ClusterNames = BTreeMap<Vec<String>, BTreeSet<Vec<String>>>;

/// The parameters of an element of a git generator, and the path of its folder or file.
pub(super) type GitElement = (Map<String, Value>, String);

/// The output of a generator.
#[derive(Debug, Default)]
pub(super) struct Generated {
    pub(super) all: Vec<Parameters>,
    /// Inputs that were not evaluated, with their kind, their name and the reason.
    pub(super) unread: BTreeSet<(What, String, &'static str)>,
}

/// The context of generators, apart from their set.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'g> {
    pub(super) files: &'g TreeFiles<'g>,
    pub(super) repositories: &'g Repositories,
    pub(super) clusters: &'g KnownClusters,
    /// The limit of deliveries, which is the initial [`Generators::left`].
    pub(super) most: usize,
    /// The budget of the texts of templates.
    pub(super) budget: &'g Budget,
    pub(super) sets: &'g SetCache,
}

impl Surroundings<'_> {
    /// Returns a text with `parameters` filled in.
    pub(super) fn replaced(
        &self,
        text: &str,
        language: Language,
        parameters: &Parameters,
    ) -> Outcome<String> {
        let new = language.replace(text, parameters)?;
        let taken = self.budget.take_text(new.len());
        taken.map_err(|_| TemplateError::Beyond(Limit::Text))?;
        Ok(new)
    }

    /// Returns a value with `parameters` filled into its texts.
    pub(super) fn filled(
        &self,
        node: &Node,
        language: Language,
        parameters: &Parameters,
    ) -> Outcome<Node> {
        let changed = node.with_texts(&mut |text| {
            if !text.contains("{{") {
                return Ok(None);
            }
            let new = self.replaced(text, language, parameters)?;
            Ok((new != text).then_some(new))
        })?;
        Ok(changed.unwrap_or_else(|| node.clone()))
    }
}

/// Evaluator of the generators of one set.
pub(super) struct Generators<'g> {
    pub(super) around: Surroundings<'g>,
    pub(super) language: Language,
    /// The clusters that this set names, in this state of the tree or in the other one.
    pub(super) clusters: &'g SetClusters,
    /// The clusters that it names in this state.
    pub(super) named: SetClusters,
    /// The number of merges that called `name_clusters`.
    pub(super) names: usize,
    /// Whether a generator reads files of the tree.
    pub(super) reads_tree: bool,
    /// The remaining budget of elements of matrices and of copies for named clusters.
    pub(super) left: usize,
    /// Cache of the results of git generators by their inputs, because a matrix runs its inner
    /// generator once for each result of the outer one.
    pub(super) found: HashMap<Wanted, Arc<[String]>>,
}

/// The search of a git generator in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wanted {
    /// Whether it searches for files, and not for folders.
    are_files: bool,
    include: Vec<String>,
    exclude: Vec<String>,
}

/// The parameters that name a cluster (argo-cd applicationset/generators/cluster.go).
pub(super) const CLUSTER_NAMES: [&str; 3] = ["name", "nameNormalized", "server"];

pub(super) fn failed<T>(reason: impl Into<String>) -> Outcome<T> {
    Err(TemplateError::Failed(reason.into()))
}

impl Generators<'_> {
    /// Returns the output of all generators of a set. Fails if one of them fails: Argo CD then changes no
    /// Application of the set.
    pub(super) fn all(&mut self, set: &Node) -> Outcome<Generated> {
        let mut all = Generated::default();
        for generator in set.items_at("generators") {
            let one = self.one(&generator, None, 0)?;
            all.all.extend(one.all);
            all.unread.extend(one.unread);
        }
        Ok(all)
    }

    /// Evaluates one generator. `outer` contains the parameters of the outer one, if it is the inner one of a matrix;
    /// `depth` is the number of generators that contain it.
    pub(super) fn one(
        &mut self,
        generator: &Node,
        outer: Option<&Parameters>,
        depth: usize,
    ) -> Outcome<Generated> {
        let mut kinds = generator.entries();
        kinds.retain(|(key, body)| &**key != "selector" && !body.is_null());
        if depth == DEEPEST {
            let all = kinds.len();
            kinds.retain(|(key, _)| !["matrix", "merge"].contains(&&**key));
            if kinds.is_empty() && all > 0 {
                return failed("a matrix or merge is nested more deeply than Argo CD allows");
            }
        }
        match (kinds.as_slice(), depth) {
            // Argo CD ignores an empty generator of a set.
            ([], 0) => return Ok(Generated::default()),
            ([_], _) => {}
            (_, 0) => {
                // A generator of several kinds is evaluated as one generator per kind.
                let mut all = Generated::default();
                for (kind, body) in kinds {
                    let mut single = Node::empty_map();
                    single.set(&kind, body);
                    if let Some(selector) = generator.get("selector") {
                        single.set("selector", selector);
                    }
                    let given = self.one(&single, outer, depth)?;
                    all.all.extend(given.all);
                    all.unread.extend(given.unread);
                }
                return Ok(all);
            }
            _ => return failed("a generator within another one does not have exactly one kind"),
        }
        let (kind, mut body) = kinds.remove(0);
        if let Some(outer) = outer.filter(|outer| !outer.is_empty()) {
            body = self.interpolated(&body, outer)?;
        }
        let mut given = match &*kind {
            "list" => self.list(&body)?,
            "git" => self.git(&body)?,
            "matrix" => self.matrix(&body, depth)?,
            "merge" => self.merge(&body, depth)?,
            "clusters" => self.clusters(&body)?,
            other => self.unknown(&body, other, "generators of this kind are not evaluated")?,
        };
        if depth == 0 {
            self.select_clusters(generator.get("selector").as_ref(), &mut given)?;
        }
        if let Some(selector) = generator.get("selector") {
            given.all.retain(|one| selects(&selector, one, depth == 0));
        }
        let template = body
            .get("template")
            .filter(|template| depth == 0 && !template.entries().is_empty());
        // The templates of generators within others have no effect.
        for one in &mut given.all {
            one.template.clone_from(&template);
        }
        Ok(given)
    }

    /// Fills the parameters of the outer generator of a matrix into the inner one (argo-cd applicationset/utils/utils.go,
    /// RenderGeneratorParams). `values` that use parameters of the inner one stay as they are written.
    fn interpolated(&self, body: &Node, outer: &Parameters) -> Outcome<Node> {
        let strict = match self.language {
            Language::Go { .. } => Language::Go {
                missing_is_error: true,
            },
            Language::Plain => Language::Plain,
        };
        let mut rest = body.clone();
        let values = body.get("values").filter(Node::is_map);
        if values.is_some() {
            rest.remove("values");
        }
        let mut body = self.around.filled(&rest, self.language, outer)?;
        for (key, value) in values.iter().flat_map(Node::entries) {
            let value = match self.around.filled(&value, strict, outer) {
                Err(TemplateError::Missing(_)) => value,
                filled => filled?,
            };
            body.entry_mut("values").set(&key, value);
        }
        Ok(body)
    }

    /// Takes `count` elements from the budget.
    pub(super) fn take(&mut self, count: usize) -> Outcome<()> {
        let left = self.left.checked_sub(count);
        self.left = left.ok_or(TemplateError::Beyond(Limit::Deliveries))?;
        Ok(())
    }

    fn list(&self, body: &Node) -> Outcome<Generated> {
        let mut given = Generated::default();
        for element in body.items_at("elements") {
            let element = mapping(&element, "an element of a list")?;
            let known = match self.language {
                Language::Go { .. } => element,
                Language::Plain => flat_element(element)?,
            };
            given.all.push(known_parameters(known));
        }
        let text = body.text_at(&["elementsYaml"]).unwrap_or_default();
        let parsed = parse_inline(&text);
        let elements = match (parsed.documents.first(), parsed.error) {
            (None, Some((reason, _))) => {
                return failed(format!("`elementsYaml` cannot be read: {reason}"));
            }
            (Some(list), _) if !list.is_seq() && !list.is_null() => {
                return failed("`elementsYaml` is not a list");
            }
            (list, _) => list.map(Node::items).unwrap_or_default(),
        };
        // Not flattened: plain templates use only the strings among these parameters.
        for element in elements {
            let element = mapping(&element, "an element of `elementsYaml`")?;
            given.all.push(known_parameters(element));
        }
        Ok(given)
    }

    /// Returns the files or folders that a git generator selects, from the cache if possible.
    fn looked_for(&mut self, items: &[Node], are_files: bool) -> Arc<[String]> {
        let [include, exclude] = [false, true].map(|excludes| {
            let items = items.iter();
            let items = items.filter(|item| item.is_true_at(&["exclude"]) == excludes);
            items.filter_map(|item| item.text_at(&["path"])).collect()
        });
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
                folders::selected
            };
            take(files, &wanted.include, &wanted.exclude).into()
        });
        Arc::clone(found)
    }

    fn git(&mut self, body: &Node) -> Outcome<Generated> {
        self.reads_tree = true;
        let repository = body.text_at(&["repoURL"]).unwrap_or_default();
        if !self.around.repositories.are_own(&repository) {
            let reason = "it is another repository, which is not read";
            return self.unknown(body, &format!("git {repository}"), reason);
        }
        let prefix = body.text_at(&["pathParamPrefix"]).unwrap_or_default();
        let mut given = Generated::default();
        if body.items_at("directories").is_empty() && body.items_at("files").is_empty() {
            return failed("a git generator has neither `directories` nor `files`");
        }
        let revision = body.text_at(&["revision"]).unwrap_or_default();
        let found = if is_fixed(&revision) {
            let reason = "another revision is not read: this tree is read in its place";
            let input = (
                What::OtherRepository,
                format!("revision {revision}"),
                reason,
            );
            given.unread.insert(input);
            self.git_fixed(body, &revision)?
        } else {
            self.git_elements(body)?
        };
        let is_file = body.items_at("directories").is_empty();
        for (mut known, path) in found {
            let place = path_parameters(&path, is_file, self.language);
            if prefix.is_empty() {
                known.extend(place);
            } else {
                self.language.put(&mut known, &prefix, place);
            }
            given
                .all
                .push(self.with_values(body, known_parameters(known))?);
        }
        Ok(given)
    }

    /// Returns the elements that a git generator reads in this tree.
    fn git_elements(&mut self, body: &Node) -> Outcome<Vec<GitElement>> {
        let directories = body.items_at("directories");
        if directories.is_empty() {
            return self.git_files(&body.items_at("files"));
        }
        let taken = self.looked_for(&directories, false);
        let taken = taken.iter().cloned();
        Ok(taken.map(|folder| (Map::new(), folder)).collect())
    }

    /// Returns the elements that a git generator reads in a fixed revision: those in the state of
    /// the tree that is evaluated first.
    fn git_fixed(&mut self, body: &Node, revision: &str) -> Outcome<Vec<GitElement>> {
        let items = ["directories", "files"].map(|list| {
            let items = body.items_at(list).into_iter();
            let items: Vec<Value> = items.map(|item| item.to_json(FILE_DEPTH)).collect();
            Value::from(items).to_string()
        });
        let language = self.language;
        let search = format!("{revision} {} {language:?}", items.join(" "));
        if let Some(found) = self.around.sets.fixed(&search) {
            return Ok(found);
        }
        let found = self.git_elements(body)?;
        self.around.sets.add_fixed(search, found.clone());
        Ok(found)
    }

    fn git_files(&mut self, items: &[Node]) -> Outcome<Vec<GitElement>> {
        let mut found = Vec::new();
        for path in self.looked_for(items, true).iter() {
            let parsed = self.around.files.parsed(path);
            let first = parsed.documents.first();
            if let (None, Some((reason, _))) = (first, &parsed.error) {
                return failed(format!("{path} cannot be read: {reason}"));
            }
            // An empty file has no parameters of its own.
            let elements = match first {
                Some(list) if list.is_seq() => list.items(),
                first => vec![first.cloned().unwrap_or(Node::Null)],
            };
            for element in elements {
                let element = mapping(&element, path)?;
                let mut known = Map::new();
                match self.language {
                    Language::Go { .. } => known = element,
                    Language::Plain => flatten("", &Value::Object(element), &mut known),
                }
                found.push((known, path.clone()));
            }
        }
        Ok(found)
    }

    /// Returns an element for each known cluster, or one for all with `flatList`. If there may be other clusters, adds
    /// one with unknown parameters for them; with `flatList`, it replaces the list.
    fn clusters(&self, body: &Node) -> Outcome<Generated> {
        let known = self.around.clusters;
        let mut given = Generated::default();
        for parameters in known.selected(body.get("selector").as_ref(), self.language) {
            let parameters = Parameters {
                known: parameters,
                are_partly_unknown: !known.are_complete,
                ..Parameters::default()
            };
            given.all.push(self.with_values(body, parameters)?);
        }
        if body.is_true_at(&["flatList"]) {
            let all: Value = given.all.drain(..).map(|one| one.known).collect();
            if known.are_complete {
                let list = Map::from_iter([("clusters".to_owned(), all)]);
                given.all.push(known_parameters(list));
            }
        }
        if !known.are_complete {
            let reason = "the list of clusters is not in the tree";
            let others = self.unknown(body, "clusters", reason)?;
            given.all.extend(others.all);
            given.unread.extend(others.unread);
        }
        Ok(given)
    }

    /// Returns one element with unknown parameters, for a generator that is not evaluated.
    fn unknown(&self, body: &Node, name: &str, reason: &'static str) -> Outcome<Generated> {
        let parameters = Parameters {
            are_partly_unknown: true,
            ..Parameters::default()
        };
        Ok(Generated {
            all: vec![self.with_values(body, parameters)?],
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
            let value = value.scalar().unwrap_or_default();
            let value = self.around.replaced(&value, self.language, &parameters)?;
            nested.insert(key.to_string(), value.into());
        }
        self.language.put(&mut parameters.known, "values", nested);
        Ok(parameters)
    }
}

/// Returns the entries of a mapping; none for `null`.
fn mapping(node: &Node, name: &str) -> Outcome<Map<String, Value>> {
    match node.to_json(FILE_DEPTH) {
        Value::Object(entries) => Ok(entries),
        Value::Null => Ok(Map::new()),
        _ => failed(format!("{name} is not a mapping")),
    }
}

fn known_parameters(known: Map<String, Value>) -> Parameters {
    Parameters {
        known,
        ..Parameters::default()
    }
}
