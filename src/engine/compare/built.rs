//! The build of a delivery as a root: files of the tree with the names under which it applies their objects, and
//! objects that no file has.

use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::HashMap;

use crate::changes::DeliveredMarks;
use crate::delivery::marks;
use crate::graph::delivery::Delivery;
use crate::graph::kustomize::Resource;
use crate::graph::scopes::ClusterScopes;
use crate::kube::Namespace;
use crate::kustomize::{
    BuildObstacle, BuildRoot, BuiltFile, Deliverer, Edits, FilePatterns, Pointer,
};
use crate::manifest::ParsedFile;
use crate::text::{Side, SourceFile};

/// The keys under which the objects of a file are applied, by their offsets.
type Keys = HashMap<u32, (Namespace, String)>;

/// The build of a delivery as a root; without a deliverer it is applied from outside of the tree.
pub(super) fn root_of(
    deliverer: Option<Deliverer>,
    delivery: &Delivery,
    index: &HashMap<&str, usize>,
    scopes: &ClusterScopes,
    side: Side,
) -> BuildRoot {
    // A file that is built several times has several copies of its objects.
    let mut files: BTreeMap<usize, Vec<Keys>> = BTreeMap::new();
    let mut copies_of: HashMap<(usize, u32), usize> = HashMap::default();
    for path in delivery.reached.iter() {
        if let Some(at) = index.get(path.as_str()) {
            files.entry(*at).or_insert_with(|| vec![Keys::default()]);
        }
    }
    let mut generated: BTreeMap<&str, Vec<&Resource>> = BTreeMap::new();
    for resource in delivery.resources.iter() {
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
                copies.push(Keys::default());
            }
            copies[*copy].insert(begins, (namespace, id.name));
            *copy += 1;
        }
    }
    let folder = delivery.path.clone();
    let files = files.into_iter().flat_map(|(file, copies)| {
        copies.into_iter().map(move |keys| BuiltFile {
            file,
            edits: Arc::new(Edits::Known(keys)),
        })
    });
    let generated = generated.into_iter().map(|(file, resources)| {
        let texts = resources.iter().map(|resource| {
            let text = match resource.origin.template {
                Some(_) => written(resource),
                None => identity_of(resource),
            };
            // Text that looks like a placeholder is an unknown value here, and no template.
            let unknown = text.contains("{{").then_some(file);
            match resource.origin.template.as_deref().or(unknown) {
                Some(template) => format!("# Source: {template}\n{text}"),
                None => text,
            }
        });
        let text = texts.collect::<Vec<_>>().join("---\n");
        let is_of_chart = resources.iter().all(|one| one.origin.template.is_some());
        let made = if is_of_chart { "rendered" } else { "generated" };
        let path = format!("{file} ({made})");
        let file = ParsedFile::parse(SourceFile::new(path.as_str(), text));
        file.seen_as(path, side)
    });
    BuildRoot {
        pointer: deliverer.map(|deliverer| Pointer {
            by: Some(Arc::new(deliverer)),
            folder: folder.clone(),
            repository: None,
            ignore: None,
            recursive: true,
            files: FilePatterns::default(),
            edits: Arc::default(),
        }),
        files: files.collect(),
        unbuildable: delivery.error.as_ref().map(|error| BuildObstacle {
            reason: error.reason.clone(),
            place: error.file.clone(),
            named: None,
        }),
        kustomizations: delivery.reached.as_ref().clone(),
        unfollowed: None,
        generated: generated.collect(),
        is_chart: delivery.is_chart,
        folder,
    }
}

/// The marks that the build of a delivery adds to an object, if any.
pub(super) fn marks_of(resource: &Resource) -> Option<DeliveredMarks> {
    let metadata = resource.node.get("metadata")?;
    let is_placed_by_release =
        resource.origin.template.is_some() && resource.original().namespace.is_empty();
    let is_marked = metadata.get("annotations").is_some() || metadata.get("labels").is_some();
    if !is_marked && !is_placed_by_release {
        return None;
    }
    let annotation = |key: &str| resource.meta("annotations", key);
    let options = annotation(marks::ARGOCD_SYNC_OPTIONS).unwrap_or_default();
    let compared = annotation("argocd.argoproj.io/compare-options").unwrap_or_default();
    let mut compared = marks::sync_options(&compared);
    let hooks = [marks::ARGOCD_HOOK, marks::HELM_HOOK];
    let hook = hooks.into_iter().find_map(annotation);
    let policies = [
        marks::ARGOCD_HOOK_DELETE_POLICY,
        marks::HELM_HOOK_DELETE_POLICY,
    ];
    let policy = policies
        .into_iter()
        .find_map(annotation)
        .unwrap_or_default();
    let is_passing = hook.as_deref().is_some_and(|hook| {
        let succeeded = ["HookSucceeded", "hook-succeeded"];
        !marks::sync_options(hook).any(|phase| {
            let phase = phase.to_ascii_lowercase();
            phase.contains("sync") || phase.contains("install") || phase.contains("upgrade")
        }) || marks::sync_options(&policy).any(|policy| succeeded.contains(&policy))
    });
    let found = DeliveredMarks {
        is_spared_by_flux: resource.disables(marks::FLUX_PRUNE),
        is_forced_by_flux: resource.is_marked(marks::FLUX_FORCE, "enabled"),
        sync_options: marks::sync_options(&options).map(str::to_owned).collect(),
        is_hook: hook.is_some(),
        is_passing,
        is_ignored_as_extraneous: compared.any(|option| option == "IgnoreExtraneous"),
        is_placed_by_release,
    };
    (found != DeliveredMarks::default()).then_some(found)
}

/// A generated object without its content, in one line.
pub(super) fn identity_of(resource: &Resource) -> String {
    let mut text = serde_json::to_string(&without_content(resource)).unwrap_or_default();
    text.push('\n');
    text
}

/// The text of an object of a chart, as people read it.
fn written(resource: &Resource) -> String {
    let mut text = serde_json::to_string_pretty(&without_content(resource)).unwrap_or_default();
    text.push('\n');
    text
}

fn without_content(resource: &Resource) -> serde_json::Value {
    let mut node = resource.node.clone();
    for field in ["data", "binaryData", "stringData"] {
        node.remove(field);
    }
    node.to_json(20)
}
