//! One Flux Kustomization: its specification, and its build.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::SourceName;
use super::release::Applied;
use super::scan::{SourceFiles, kustomization_of};
use super::substitute::{Variables, names_in, substitute_in};
use crate::graph::delivery::{Delivery, Settings};
use crate::graph::files::TreeFiles;
use crate::graph::kustomize::{
    Budget, BuildError, Builder, Built, Origin, Resource, is_namespaced,
};
use crate::graph::node::Node;
use crate::graph::unread::What;
use crate::kustomize::{Deliverer, SourceTool, ancestors, folder_of, resolve};

/// The group of Flux Kustomizations.
pub(super) const GROUP: &str = "kustomize.toolkit.fluxcd.io";

/// The fields of a spec that are set in the kustomization, with their names there.
const FIELDS: [(&str, &str); 3] = [
    ("targetNamespace", "namespace"),
    ("namePrefix", "namePrefix"),
    ("nameSuffix", "nameSuffix"),
];

/// The lists of a spec that are added to those of the kustomization.
const PATCHES: [&str; 3] = ["patches", "patchesStrategicMerge", "patchesJson6902"];

/// Fields of a spec that affect neither the set of objects nor their identities.
pub const COSMETIC: [&str; 18] = [
    "commonMetadata",
    "decryption",
    "deletionPolicy",
    "dependsOn",
    "force",
    "healthCheckExprs",
    "healthChecks",
    "images",
    "interval",
    "kubeConfig",
    "prune",
    "retryInterval",
    "serviceAccountName",
    "suspend",
    "timeout",
    "validation",
    "wait",
    "ignoreMissingComponents",
];

/// A ConfigMap or a Secret that Kustomizations take variables from.
pub(super) struct VariableSource {
    /// Its variables; the value is `None` if only the cluster knows it.
    entries: BTreeMap<String, Option<String>>,
    is_partly_unknown: bool,
    /// Whether nothing in the tree is known to apply it.
    is_doubtful: bool,
}

impl VariableSource {
    /// Reads an object. Values in Secrets and encrypted values are unknown.
    pub(super) fn new(object: &Node, is_doubtful: bool) -> Self {
        let is_secret = object.str_at(&["kind"]) == Some("Secret");
        let fields: &[&str] = if is_secret {
            &["data", "stringData"]
        } else {
            &["data"]
        };
        let written = fields.iter().flat_map(|field| object.entries_at(&[field]));
        let entries = written.map(|(name, value)| {
            let value = value.scalar().unwrap_or_default().replace('\n', "");
            let is_known = !is_secret && !value.starts_with("ENC[");
            (name.to_string(), is_known.then_some(value))
        });
        let entries: BTreeMap<_, _> = entries.collect();
        Self {
            is_partly_unknown: is_secret || entries.values().any(Option::is_none),
            entries,
            is_doubtful,
        }
    }
}

/// A Kustomization as its parent applies it.
#[derive(Clone, Debug)]
pub(super) struct FluxKustomization {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) spec: Node,
    pub(super) origin: Origin,
    /// The folder of the tree that is the root of its source.
    pub(super) root: String,
}

impl FluxKustomization {
    /// Reads an object, if it is a Kustomization of Flux.
    pub(super) fn from_resource(resource: &Resource) -> Option<Self> {
        if !resource.is_of(GROUP, "Kustomization") {
            return None;
        }
        let id = resource.id();
        Some(Self {
            namespace: id.namespace.into(),
            name: id.name.into(),
            spec: resource.node.get("spec")?,
            origin: resource.origin.clone(),
            root: String::new(),
        })
    }

    /// Sets the root of its source, if that is a folder of the tree.
    pub(super) fn set_root(&mut self, roots: &BTreeMap<SourceName, String>) {
        if let Some(root) = roots.get(&self.source()) {
            self.root.clone_from(root);
        }
    }

    pub(super) fn key(&self) -> String {
        format!("Kustomization.{GROUP}/{}/{}", self.namespace, self.name)
    }

    /// Returns the id of its delivery, if it is an entry point.
    pub(super) fn entry_id(&self) -> String {
        format!("{}|{}", self.folder(), self.key())
    }

    /// Returns the folder that it builds, from the root of the tree.
    pub(super) fn folder(&self) -> String {
        let path = self.spec.text_at(&["path"]).unwrap_or_default();
        resolve(
            &self.root,
            path.trim_start_matches("./").trim_start_matches('/'),
        )
    }

    /// Returns the folder by which an entry point names the clusters of `kubeConfig`s: the folder that it builds or, if
    /// its file is not in that folder, the folder of its file. Entry points with the same folder share these clusters.
    pub(super) fn home(&self) -> String {
        let folder = self.folder();
        let file = folder_of(&self.origin.file);
        if ancestors(file).any(|above| above == folder) {
            folder
        } else {
            file.to_owned()
        }
    }

    /// Returns the name of its source.
    pub(super) fn source(&self) -> SourceName {
        let [kind, namespace, name] =
            ["kind", "namespace", "name"].map(|key| self.spec.text_at(&["sourceRef", key]));
        (
            kind.unwrap_or_default(),
            namespace.unwrap_or_else(|| self.namespace.clone()),
            name.unwrap_or_default(),
        )
    }

    /// Whether `flux bootstrap` wrote it: the file at `path` is below `folder`, which it builds.
    pub(super) fn is_bootstrap(&self, path: &str, folder: &str) -> bool {
        let builds_itself = folder.is_empty()
            || path
                .strip_prefix(folder)
                .is_some_and(|rest| rest.starts_with('/'));
        // `flux bootstrap` gives the Kustomization and its source the same name.
        let (kind, namespace, name) = self.source();
        let has_own_name =
            kind == "GitRepository" && namespace == self.namespace && name == self.name;
        builds_itself && (path.ends_with("/gotk-sync.yaml") || has_own_name)
    }

    /// Returns its settings as a delivery.
    pub(super) fn settings(&self) -> Settings {
        let depends_on = self.spec.items_at("dependsOn");
        let mut awaits_ready = depends_on.clone();
        awaits_ready.retain(|other| other.get("readyExpr").is_none());
        let needed = self.variables_from().into_iter().filter(|from| {
            from.str_at(&["kind"]) == Some("ConfigMap") && !from.is_true_at(&["optional"])
        });
        let needed =
            needed.filter_map(|from| Some((self.namespace.clone(), from.text_at(&["name"])?)));
        Settings {
            prune: Some(self.spec.is_true_at(&["prune"])),
            suspend: self.spec.bool_at(&["suspend"]),
            deletion_policy: self.spec.text_at(&["deletionPolicy"]),
            service_account: self.spec.text_at(&["serviceAccountName"]),
            depends_on: named(&depends_on, &self.namespace),
            awaits_ready: named(&awaits_ready, &self.namespace),
            source: Some(self.source()),
            variables_from: needed.collect(),
            ..Settings::default()
        }
    }

    /// Builds it. `find` finds a ConfigMap or a Secret, given those that it delivers itself. Fails
    /// if Flux applies nothing.
    pub(super) fn build(
        &self,
        files: &TreeFiles<'_>,
        builder: &Builder<'_>,
        source: &SourceFiles,
        find: impl Fn(&Applied, &SourceName) -> Option<VariableSource>,
    ) -> Result<Built, BuildError> {
        let tolerates = builder.tolerates();
        let by = &self.origin.file;
        let mut doc = kustomization_of(files, source, &self.folder(), by, tolerates)?;
        doc.add(&self.spec, &FIELDS, &PATCHES, files);
        doc.set_images(self.spec.items_at("images"));
        // Flux rewrites the file without them (fluxcd/pkg kustomize/kustomize_generator.go).
        doc.remove_unknown_fields();
        let mut built = builder.build(&doc)?;
        for field in ["labels", "annotations"] {
            let marks = self.spec.entries_at(&["commonMetadata", field]);
            if !marks.is_empty() {
                let bytes = Resource::bytes_of(&marks).saturating_mul(built.resources.len());
                let taken = builder.budget().take_text(bytes);
                taken.map_err(|reason| self.origin.failed(reason))?;
                for resource in built.resources_mut() {
                    resource.mark(field, &marks);
                }
            }
        }
        let mut own = Applied::default();
        let is_remote = self.spec.get("kubeConfig").is_some();
        if !is_remote && !self.variables_from().is_empty() {
            for resource in built.resources.iter() {
                if matches!(resource.kind(), "ConfigMap" | "Secret") {
                    own.add(resource);
                }
            }
        }
        let variables = self.variables(|name| find(&own, name));
        if !variables.are_none() {
            self.substitute(files, &mut built, &variables, builder.budget())?;
        }
        // The API server rejects an object without a namespace, so nothing is applied.
        let without_namespace = built.resources.iter().find(|resource| {
            let id = resource.id();
            id.namespace.is_empty() && is_namespaced(&id.group, &id.kind)
        });
        if let Some(resource) = without_namespace
            && !tolerates
        {
            let reason = format!("{} has no namespace", resource.id().key());
            return Err(resource.origin.failed(reason));
        }
        Ok(built)
    }

    fn substitute(
        &self,
        files: &TreeFiles<'_>,
        built: &mut Built,
        variables: &Variables,
        budget: &Budget,
    ) -> Result<(), BuildError> {
        let mut unread = Vec::new();
        for resource in built.resources_mut() {
            let is_left_alone =
                resource.is_marked("kustomize.toolkit.fluxcd.io/substitute", "disabled");
            if is_left_alone || !may_have_variables(files, resource) {
                continue;
            }
            let before = resource.id();
            let deciding =
                [&before.namespace, &before.name].map(|text| variables.is_doubtful(text));
            let path = resource.node.str_at(&["spec", "path"]);
            let path = path.filter(|_| before.group == GROUP);
            let is_doubtful = path.is_some_and(|path| variables.is_doubtful(path));
            resource.is_possible |= is_doubtful || deciding.contains(&true);
            let unknown = substitute_in(&mut resource.node, variables, budget);
            let unknown = unknown.map_err(|reason| {
                let reason = format!("{}: {reason}", before.key());
                resource.origin.failed(reason)
            })?;
            let after = resource.id();
            let named: BTreeSet<&str> = names_in(&after.namespace)
                .chain(names_in(&after.name))
                .collect();
            let deciding = unknown.into_iter().filter(|one| named.contains(&**one));
            for name in deciding {
                let reason = "only the cluster knows its value";
                unread.push(resource.origin.unread(What::Variable, name, reason));
            }
        }
        built.unread.extend(unread);
        Ok(())
    }

    fn variables_from(&self) -> Vec<Node> {
        let build = self.spec.get("postBuild").unwrap_or(Node::Null);
        build.items_at("substituteFrom")
    }

    /// Returns its variables. `find` finds a ConfigMap or a Secret of the tree.
    pub(super) fn variables(
        &self,
        find: impl Fn(&SourceName) -> Option<VariableSource>,
    ) -> Variables {
        let mut all = BTreeMap::new();
        let mut variables = Variables::default();
        for (name, value) in self.spec.entries_at(&["postBuild", "substitute"]) {
            let value = value.scalar().unwrap_or_default().replace('\n', "");
            all.insert(name.to_string(), Some(value));
        }
        // Later sources win: from the end, the first value of a variable counts.
        let mut may_be_overridden = false;
        let sources: Vec<SourceName> = self.variable_sources().collect();
        for name in sources.iter().rev() {
            let Some(source) = find(name) else {
                variables.are_partly_unknown = true;
                may_be_overridden = true;
                continue;
            };
            variables.are_partly_unknown |= source.is_partly_unknown;
            for (name, value) in source.entries {
                if let Entry::Vacant(place) = all.entry(name) {
                    if source.is_doubtful || may_be_overridden {
                        variables.doubtful.insert(place.key().clone());
                    }
                    place.insert(value);
                }
            }
        }
        let known = all.into_iter();
        let known = known.filter_map(|(name, value)| Some((name, value?)));
        variables.known = known.collect();
        variables
    }

    /// Returns kind, namespace and name of the ConfigMaps and Secrets that it takes variables from.
    pub(super) fn variable_sources(&self) -> impl Iterator<Item = SourceName> {
        self.variables_from().into_iter().map(|from| {
            let [kind, name] = ["kind", "name"].map(|key| from.text_at(&[key]));
            (
                kind.unwrap_or_default(),
                self.namespace.clone(),
                name.unwrap_or_default(),
            )
        })
    }

    /// Returns the settings that determine its objects, as text, with only a digest of its
    /// variables, whose values may be long or secret.
    pub(super) fn deciding(&self, variables: &Variables) -> String {
        let settings = self.spec.text_without(&COSMETIC);
        let mut digest = DefaultHasher::new();
        variables.known.hash(&mut digest);
        format!("{settings}\n{:x}", digest.finish())
    }

    /// Returns the delivery, without its build.
    pub(super) fn delivery(&self, cluster: &Arc<str>, parent: Option<Arc<str>>) -> Delivery {
        let by = Deliverer::new(cluster, SourceTool::Flux, &self.namespace, &self.name);
        Delivery {
            id: format!("{cluster}|{}", self.key()),
            cluster: Arc::clone(cluster),
            parent,
            key: self.key(),
            by: Some(by),
            path: self.folder(),
            file: Arc::clone(&self.origin.file),
            line: self.origin.line,
            settings: self.settings(),
            ..Delivery::default()
        }
    }
}

/// Returns the namespaces and names of references; `own` is the namespace of those that have none.
pub(super) fn named(references: &[Node], own: &str) -> Vec<(String, String)> {
    let named = references.iter().filter_map(|other| {
        let namespace = other.text_at(&["namespace"]);
        let namespace = namespace.unwrap_or_else(|| own.to_owned());
        Some((namespace, other.text_at(&["name"])?))
    });
    named.collect()
}

/// Returns the cluster that a `kubeConfig` names; without one, `here`, the cluster of the object.
/// `home` is the folder of the entry points.
pub(super) fn destination(spec: &Node, home: &str, here: &Arc<str>) -> Arc<str> {
    let mut names = ["secretRef", "configMapRef"]
        .into_iter()
        .filter_map(|kind| spec.text_at(&["kubeConfig", kind, "name"]));
    match names.next() {
        Some(name) => Arc::from(format!("{home}/{name}")),
        None => Arc::clone(here),
    }
}

/// Whether an object may have a variable: its file contains a `$`, or a build changed it.
fn may_have_variables(files: &TreeFiles<'_>, resource: &Resource) -> bool {
    let has_dollar = files
        .bytes(&resource.origin.file)
        .is_ok_and(|bytes| memchr::memchr(b'$', &bytes).is_some());
    has_dollar || !matches!(resource.node, Node::Written(..))
}
