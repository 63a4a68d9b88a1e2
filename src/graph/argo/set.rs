//! One ApplicationSet of Argo CD: its specification, and the Applications that it generates.

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};

use super::application::{GROUP, RESOURCES_FINALIZER};
use super::generators::{ClusterNames, Generators, Surroundings};
use super::set_cache::CachedOutput;
use super::template::{Language, Outcome, Parameters, TemplateError};
use crate::graph::delivery::Settings;
use crate::graph::files::parse_inline;
use crate::graph::kustomize::{BuildError, Origin, Resource, merged};
use crate::graph::node::Node;
use crate::graph::unread::{UnreadInput, What};
use crate::kustomize::{Deliverer, Limit, SourceTool};

/// An ApplicationSet as its parent applies it.
#[derive(Clone, Debug)]
pub(super) struct ApplicationSet {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) node: Node,
    pub(super) origin: Origin,
}

impl PartialEq for ApplicationSet {
    /// Whether both are the same object, at one address and of one file.
    fn eq(&self, other: &Self) -> bool {
        let [one, other] =
            [self, other].map(|set| (&set.namespace, &set.name, &set.origin, set.node.address()));
        one == other
    }
}

/// The clusters that a set names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SetClusters {
    /// Named by lists that are merged with unknown parameters.
    pub(super) listed: ClusterNames,
    /// Named by selectors.
    pub(super) selected: ClusterNames,
}

impl SetClusters {
    /// Returns the clusters of both.
    pub(super) fn and(&self, other: &Self) -> Self {
        let mut both = self.clone();
        for (all, more) in [
            (&mut both.listed, &other.listed),
            (&mut both.selected, &other.selected),
        ] {
            for (keys, values) in more {
                let all: &mut BTreeSet<Vec<String>> = all.entry(keys.clone()).or_default();
                all.extend(values.iter().cloned());
            }
        }
        both
    }

    /// Whether `other` contains a name that these clusters do not.
    pub(super) fn are_less_than(&self, other: &Self) -> bool {
        let both = [
            (&self.listed, &other.listed),
            (&self.selected, &other.selected),
        ];
        both.into_iter().any(|(own, others)| {
            others
                .iter()
                .any(|(keys, values)| !own.get(keys).is_some_and(|own| own.is_superset(values)))
        })
    }
}

/// An Application that a set generates.
#[derive(Clone, Debug)]
pub(super) struct GeneratedApplication {
    pub(super) resource: Resource,
    /// The cluster that its parameters name.
    pub(super) cluster: Option<String>,
    /// The Application for any cluster, if only the name of its cluster is known.
    pub(super) for_any_cluster: Option<AnyCluster>,
}

/// The Application for any cluster: unknown parameters stay as they are written.
#[derive(Clone, Debug)]
pub(super) struct AnyCluster {
    /// The name of its object, which represents the Applications of clusters that only a list names.
    pub(super) name: Option<String>,
    /// The folder of its source.
    pub(super) path: String,
}

/// The output of a set.
#[derive(Clone, Debug, Default)]
pub(super) struct SetOutput {
    pub(super) applications: Vec<GeneratedApplication>,
    pub(super) unread: BTreeSet<UnreadInput>,
    pub(super) error: Option<BuildError>,
    /// The limit that it exceeds.
    pub(super) beyond: Option<Limit>,
}

impl ApplicationSet {
    /// Reads an object, if it is an ApplicationSet.
    pub(super) fn from_resource(resource: &Resource) -> Option<Self> {
        if !resource.is_of(GROUP, "ApplicationSet") {
            return None;
        }
        let id = resource.id();
        Some(Self {
            namespace: id.namespace.into(),
            name: id.name.into(),
            node: resource.node.clone(),
            origin: resource.origin.clone(),
        })
    }

    /// Returns the deliverer of its Applications in a cluster.
    pub(super) fn deliverer(&self, cluster: &Arc<str>) -> Deliverer {
        Deliverer::new(cluster, SourceTool::ArgoCdSet, &self.namespace, &self.name)
    }

    fn preserves(&self) -> bool {
        self.node
            .is_true_at(&["spec", "syncPolicy", "preserveResourcesOnDeletion"])
    }

    /// Returns its settings for the Applications that it generates.
    pub(super) fn settings(&self) -> Settings {
        let policy = self.node.at(&["spec", "syncPolicy"]).unwrap_or(Node::Null);
        Settings {
            preserve_resources: self.preserves().then_some(true),
            applications_sync: policy.text_at(&["applicationsSync"]),
            ..Settings::default()
        }
    }

    fn language(&self) -> Language {
        let spec = self.node.get("spec").unwrap_or(Node::Null);
        if !spec.is_true_at(&["goTemplate"]) {
            return Language::Plain;
        }
        let options = spec.texts_at("goTemplateOptions");
        let missing_is_error = options.iter().any(|one| one == "missingkey=error");
        Language::Go { missing_is_error }
    }

    /// Generates the Applications, and adds the clusters that the set names to `clusters`. If one generator fails, Argo
    /// CD changes no Application.
    pub(super) fn output(&self, around: Surroundings<'_>, clusters: &mut SetClusters) -> SetOutput {
        let known = around
            .sets
            .find(self, around.clusters, clusters, around.budget);
        let (output, named) = known.unwrap_or_else(|| self.evaluated(around, clusters));
        *clusters = clusters.and(&named);
        output
    }

    /// Evaluates the generators and the template. Also returns the clusters that the set names.
    fn evaluated(
        &self,
        around: Surroundings<'_>,
        clusters: &SetClusters,
    ) -> (SetOutput, SetClusters) {
        let mut generators = Generators {
            around,
            language: self.language(),
            clusters,
            named: SetClusters::default(),
            names: 0,
            reads_tree: false,
            left: around.most,
            found: HashMap::new(),
        };
        let (output, taken) = around.budget.recorded(|| self.generated(&mut generators));
        let Generators {
            named,
            names,
            reads_tree,
            ..
        } = generators;
        if !reads_tree && output.beyond.is_none() {
            around.sets.add(CachedOutput {
                output: output.clone(),
                named: named.clone(),
                names_once: names <= 1,
                set: self.clone(),
                known: around.clusters.clone(),
                given: clusters.clone(),
                taken,
            });
        }
        (output, named)
    }

    fn generated(&self, generators: &mut Generators<'_>) -> SetOutput {
        let mut output = SetOutput::default();
        let (language, around) = (generators.language, generators.around);
        let spec = self.node.get("spec").unwrap_or(Node::Null);
        let generated = match generators.all(&spec) {
            Ok(generated) => generated,
            Err(error) => {
                self.take(&mut output, error);
                return output;
            }
        };
        for (what, subject, reason) in generated.unread {
            output
                .unread
                .insert(self.origin.unread(what, subject, reason));
        }
        for parameters in &generated.all {
            match self.application(&spec, (language, around), parameters) {
                Ok(application) => output.applications.push(application),
                Err(error) => {
                    self.take(&mut output, error);
                    if output.error.is_some() || output.beyond.is_some() {
                        output.applications.clear();
                        break;
                    }
                }
            }
        }
        output
    }

    fn take(&self, output: &mut SetOutput, error: TemplateError) {
        match error {
            TemplateError::Failed(reason) | TemplateError::Missing(reason) => {
                output.error = Some(self.origin.failed(reason));
            }
            TemplateError::Unread(reason) => {
                let subject = format!("ApplicationSet {}", self.name);
                output
                    .unread
                    .insert(self.origin.unread(What::Template, subject, &reason));
            }
            TemplateError::Beyond(limit) => output.beyond = Some(limit),
        }
    }

    /// Builds the Application for `parameters` (argo-cd applicationset/utils/utils.go,
    /// RenderTemplateParams; applicationset/controllers/template/template.go).
    fn application(
        &self,
        spec: &Node,
        (language, around): (Language, Surroundings<'_>),
        parameters: &Parameters,
    ) -> Outcome<GeneratedApplication> {
        let mut template = spec.get("template").unwrap_or(Node::Null);
        if let Some(over) = &parameters.template {
            let set = std::mem::replace(&mut template, over.clone());
            fill(&mut template, &set);
        }
        // Without parameters, Argo CD takes the template as it is written.
        let mut node = if parameters.is_empty() {
            template.clone()
        } else {
            around.filled(&template, language, parameters)?
        };
        let metadata = node.entry_mut("metadata");
        let has_finalizers = !metadata.items_at("finalizers").is_empty();
        if !has_finalizers && !parameters.is_empty() && !self.preserves() {
            let finalizers = vec![Node::text(RESOURCES_FINALIZER)];
            metadata.set("finalizers", Node::Seq(Arc::new(finalizers)));
        }
        if let Some(patch) = spec.text_at(&["templatePatch"]) {
            let text = around.replaced(&patch, language, parameters)?;
            let parsed = parse_inline(&text);
            if let Some((reason, _)) = parsed.error {
                let reason = format!("`templatePatch` cannot be read: {reason}");
                return Err(TemplateError::Failed(reason));
            }
            if let Some(patch) = parsed.documents.first() {
                if !patch.is_map() && !patch.is_null() {
                    let reason = "`templatePatch` is no mapping".to_owned();
                    return Err(TemplateError::Failed(reason));
                }
                node = merged(node, patch).unwrap_or(Node::Null);
            }
        }
        node.set("apiVersion", Node::text("argoproj.io/v1alpha1"));
        node.set("kind", Node::text("Application"));
        let metadata = node.entry_mut("metadata");
        metadata.set("namespace", Node::text(self.namespace.as_str()));
        let Some(mut resource) = Resource::written(node, &self.origin.file, self.origin.line)
        else {
            return Err(TemplateError::Failed(
                "its template gives no name".to_owned(),
            ));
        };
        resource.is_possible = parameters.are_partly_unknown;
        let for_any_cluster = parameters.cluster.as_ref().map(|cluster| {
            let for_any_cluster = Parameters {
                known: cluster.for_any_cluster.clone(),
                are_partly_unknown: true,
                ..Parameters::default()
            };
            let paths = [&["metadata", "name"][..], &["spec", "source", "path"]];
            let [name, path] = paths.map(|path| {
                let text = template.str_at(path).unwrap_or_default();
                language.replace(text, &for_any_cluster).ok()
            });
            AnyCluster {
                name: name.filter(|_| !cluster.is_selected),
                path: path.unwrap_or_default(),
            }
        });
        resource.origin = Origin {
            is_generated: true,
            ..self.origin.clone()
        };
        let cluster = parameters.cluster.as_ref();
        Ok(GeneratedApplication {
            resource,
            cluster: cluster.map(|cluster| cluster.name.clone()),
            for_any_cluster,
        })
    }
}

/// Adds the fields of `set`, the template of a set, that `over`, the template of a generator, lacks or leaves empty
/// (argo-cd applicationset/generators/generator_spec_processor.go, mergeGeneratorTemplate; mergo without an override).
fn fill(over: &mut Node, set: &Node) {
    for (key, value) in set.entries() {
        match over.get(&key) {
            Some(own) if own.is_map() && value.is_map() => fill(over.entry_mut(&key), &value),
            Some(own) if !is_empty(&own) => {}
            _ => over.set(&key, value),
        }
    }
}

fn is_empty(node: &Node) -> bool {
    if node.is_map() {
        return node.entries().is_empty();
    }
    if node.is_seq() {
        return node.items().is_empty();
    }
    matches!(node.scalar().as_deref(), None | Some("" | "false" | "0"))
}
