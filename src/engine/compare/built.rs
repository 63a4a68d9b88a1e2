//! The build of a delivery as a root: files of the tree, with the names under which the build applies their objects,
//! and objects that no file contains.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use foldhash::HashMap;
use smol_str::SmolStr;

use super::variables::WrittenObjects;
use crate::changes::{BuiltObjects, DeliveredMarks};
use crate::delivery::marks;
use crate::graph::delivery::Delivery;
use crate::graph::kustomize::{BuildError, ResId, Resource};
use crate::graph::scopes::ClusterScopes;
use crate::graph::unread::What;
use crate::inventory::{BuiltKeys, BuiltObject};
use crate::kube::Namespace;
use crate::kustomize::Deliverer;
use crate::manifest::ParsedFile;
use crate::text::{RenderedPart, Side, SourceFile};

/// A build, and the files of the tree that have its objects.
#[derive(Clone, Debug, Default)]
pub(super) struct BuildRoot {
    /// The folder; empty for the top of the tree.
    pub(super) folder: String,
    /// The object that delivers it; `None` if a person does.
    pub(super) by: Option<Arc<Deliverer>>,
    /// The files that it reads, by index, each with the keys of the objects in it.
    pub(super) files: Vec<(usize, Arc<BuiltKeys>)>,
    pub(super) error: Option<BuildError>,
    /// The folders whose kustomizations it builds, and the files that it reads.
    pub(super) reached: Arc<BTreeSet<String>>,
    /// A folder that it includes but that was not followed because of a limit.
    pub(super) unfollowed: Option<String>,
    /// The objects that no file contains, as files of their own with their places.
    pub(super) generated: Vec<(Arc<str>, ParsedFile)>,
    /// The generated ConfigMaps and Secrets.
    pub(super) data: Vec<GeneratedData>,
    /// Whether it is a chart that was rendered, and so a release of Helm.
    pub(super) is_chart: bool,
    /// Its objects as it applies them, unless it fails.
    pub(super) objects: Option<Arc<BuiltObjects>>,
}

/// A ConfigMap or Secret that a kustomization generates.
#[derive(Clone, Debug)]
pub(super) struct GeneratedData {
    /// The kustomization.
    pub(super) file: Arc<str>,
    /// The name in the generator.
    pub(super) generator: SmolStr,
    /// The identity as it is delivered.
    pub(super) id: ResId,
}

/// Returns the build of a delivery; for a failing one, with the objects that it would build without the failure.
pub(super) fn root_of(
    delivery: &Delivery,
    (index, files_of_state): (&HashMap<&str, usize>, &[&ParsedFile]),
    written: &mut WrittenObjects,
    scopes: &ClusterScopes,
    side: Side,
) -> BuildRoot {
    // A file that is built several times has several copies of its objects.
    let mut files: BTreeMap<usize, Vec<Vec<(BuiltObject, &Resource)>>> = BTreeMap::new();
    let mut copies_of: HashMap<(usize, u32), usize> = HashMap::default();
    for path in delivery.reached.iter() {
        if let Some(at) = index.get(path.as_str()) {
            files.entry(*at).or_insert_with(|| vec![Vec::new()]);
        }
    }
    let mut generated: BTreeMap<&str, Vec<&Resource>> = BTreeMap::new();
    let attempt = delivery.attempt.iter().flat_map(|attempt| attempt.iter());
    for resource in delivery.resources.iter().chain(attempt) {
        let file = &*resource.origin.file;
        if resource.origin.is_generated {
            generated.entry(file).or_default().push(resource);
        } else if let Some(at) = index.get(file) {
            let id = resource.id();
            let namespace = match id.namespace.as_str() {
                _ if scopes.is_cluster(&id.group, &id.kind) => Namespace::None,
                "" => Namespace::Unwritten,
                namespace => Namespace::Named(namespace.into()),
            };
            let begins = resource.origin.offset;
            let copies = files.entry(*at).or_default();
            let copy = copies_of.entry((*at, begins)).or_default();
            if copies.len() == *copy {
                copies.push(Vec::new());
            }
            let object = BuiltObject {
                begins,
                namespace,
                name: id.name,
                object: None,
            };
            copies[*copy].push((object, resource));
            *copy += 1;
        }
    }
    let files = files.into_iter().flat_map(|(file, copies)| {
        let copies = copies.into_iter().map(|mut objects| {
            written.apply((file, files_of_state[file]), &mut objects);
            let objects = objects.into_iter().map(|(object, _)| object);
            (file, Arc::new(BuiltKeys::new(objects.collect())))
        });
        copies.collect::<Vec<_>>()
    });
    let data = generated.values().flatten().filter_map(|resource| {
        let id = resource.id();
        let is_data = matches!(id.kind.as_str(), "ConfigMap" | "Secret");
        is_data.then(|| GeneratedData {
            file: Arc::clone(&resource.origin.file),
            generator: resource.original().name,
            id,
        })
    });
    let data = data.collect();
    let generated = generated.into_iter().map(|(file, resources)| {
        let path = index
            .get(file)
            .map_or(file, |at| files_of_state[*at].source().path());
        generated_file((file, path), resources, side)
    });
    let unfollowed = delivery.unread.iter().find(|one| one.what == What::Limit);
    BuildRoot {
        folder: delivery.path.clone(),
        by: delivery.by.clone().map(Arc::new),
        files: files.collect(),
        error: delivery.error.clone(),
        reached: Arc::clone(&delivery.reached),
        unfollowed: unfollowed.map(|one| one.subject.clone()),
        generated: generated.collect(),
        data,
        is_chart: delivery.is_chart,
        objects: None,
    }
}

/// Writes the objects that the file at `place` generates, or that the charts it names contain, into a file of their
/// own.
fn generated_file(
    (place, path): (&str, &str),
    mut resources: Vec<&Resource>,
    side: Side,
) -> (Arc<str>, ParsedFile) {
    resources.sort_by_key(|resource| resource.origin.line);
    let mut text = String::new();
    let mut line = 1;
    let mut lines = Vec::new();
    let mut parts_made: Vec<RenderedPart> = Vec::new();
    // Reported paths begin with the path of the state.
    let root = path.strip_suffix(place).unwrap_or_default();
    for resource in &resources {
        let part = match resource.origin.template {
            Some(_) => written(resource),
            None => identity_of(resource),
        };
        let separator = if text.is_empty() { "" } else { "---\n" };
        // Here, `{{` is an unknown value: a `# Source:` comment marks the text as rendered.
        let unknown = part.contains("{{").then_some(path);
        let source = match (&resource.origin.template, unknown) {
            (Some(_), _) => resource.origin.comments(),
            (None, Some(path)) => format!("# Source: {path}\n"),
            (None, None) => String::new(),
        };
        lines.push((line, resource.origin.line));
        let shown = |template: &str| Some(format!("{root}{template}"));
        parts_made.push(resource.origin.made_part(line, path, shown));
        let parts = [separator, &source, &part];
        line += parts.iter().map(|part| part.lines().count()).sum::<usize>();
        text.extend(parts);
    }
    let is_of_chart = resources.iter().all(|one| one.origin.template.is_some());
    let made = if is_of_chart { "rendered" } else { "generated" };
    let [made_place, made_path] = [place, path].map(|path| format!("{path} ({made})"));
    let source = SourceFile::new(made_path.as_str(), text);
    let source = if is_of_chart {
        source.with_rendered(parts_made)
    } else {
        source.with_generator(path, lines)
    };
    (
        made_place.into(),
        ParsedFile::parse(source).seen_as(made_path, side),
    )
}

/// Returns the marks that an object has after its build; `None` if it has none.
pub(super) fn marks_of(resource: &Resource) -> Option<DeliveredMarks> {
    let metadata = resource.node.get("metadata")?;
    let is_placed_by_release =
        resource.origin.template.is_some() && resource.original().namespace.is_empty();
    let is_marked = metadata.get("annotations").is_some() || metadata.get("labels").is_some();
    if !is_marked && !is_placed_by_release {
        return None;
    }
    let options = annotation(resource, &[marks::ARGOCD_SYNC_OPTIONS]).unwrap_or_default();
    let compared = annotation(resource, &["argocd.argoproj.io/compare-options"]);
    let mut compared = marks::sync_options(compared.unwrap_or_default());
    let hook = annotation(resource, &[marks::ARGOCD_HOOK, marks::HELM_HOOK]);
    let policies = [
        marks::ARGOCD_HOOK_DELETE_POLICY,
        marks::HELM_HOOK_DELETE_POLICY,
    ];
    let policy = annotation(resource, &policies).unwrap_or_default();
    let is_transient = hook.is_some_and(|hook| {
        let succeeded = ["HookSucceeded", "hook-succeeded"];
        !marks::sync_options(hook).any(|phase| {
            let phase = phase.to_ascii_lowercase();
            phase.contains("sync") || phase.contains("install") || phase.contains("upgrade")
        }) || marks::sync_options(policy).any(|policy| succeeded.contains(&policy))
    });
    let found = DeliveredMarks {
        is_spared_by_flux: resource.is_marked(marks::FLUX_PRUNE, "disabled"),
        is_forced_by_flux: resource.is_marked(marks::FLUX_FORCE, "enabled"),
        is_skipped_by_flux: marks::FLUX_SKIPS
            .iter()
            .any(|(key, value)| resource.is_marked(key, value)),
        sync_options: marks::sync_options(options).map(str::to_owned).collect(),
        is_hook: hook.is_some(),
        is_transient,
        is_ignored_as_extraneous: compared.any(|option| option == "IgnoreExtraneous"),
        is_placed_by_release,
    };
    (found != DeliveredMarks::default()).then_some(found)
}

/// Returns the value of the first of `keys` that is an annotation.
fn annotation<'r>(resource: &'r Resource, keys: &[&str]) -> Option<&'r str> {
    keys.iter()
        .find_map(|key| resource.meta("annotations", key))
}

/// Returns a generated object without its content, in one line.
pub(super) fn identity_of(resource: &Resource) -> String {
    let text = serde_json::to_string(&without_content(resource));
    text.unwrap_or_default() + "\n"
}

/// Returns the text of an object of a chart without its content, indented.
fn written(resource: &Resource) -> String {
    let text = serde_json::to_string_pretty(&without_content(resource));
    text.unwrap_or_default() + "\n"
}

fn without_content(resource: &Resource) -> serde_json::Value {
    let mut node = resource.node.clone();
    for field in ["data", "binaryData", "stringData"] {
        node.remove(field);
    }
    node.to_json(20)
}
