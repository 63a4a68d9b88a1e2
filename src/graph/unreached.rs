//! What no tool of the tree delivers: kustomizations that a person or an unknown tool builds, and files with objects.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::delivery::{Delivery, Settings};
use super::files::TreeFiles;
use super::kustomize::{Budget, Builder, Builds, KustomizationDoc, kustomizations, resources_of};
use crate::kustomize::{BeyondLimit, Limit};
use crate::text::Limits;

/// The kustomizations that neither a delivery nor another kustomization builds, built.
///
/// # Errors
/// There are more copies of objects than the limits allow.
pub fn roots(
    builds: &Builds<'_>,
    delivered: &[Delivery],
    limits: &Limits,
) -> Result<Vec<Delivery>, BeyondLimit> {
    let budget = Budget::of(limits.instances);
    let reached: BTreeSet<&str> = delivered
        .iter()
        .flat_map(|delivery| delivery.reached.iter())
        .map(String::as_str)
        .collect();
    let builder = Builder::within(builds, &budget);
    let docs = kustomizations(builds.files());
    let included: BTreeSet<String> = docs.iter().flat_map(KustomizationDoc::includes).collect();
    let is_root = |doc: &KustomizationDoc| {
        let is_component = doc.node.text_at(&["kind"]).as_deref() == Some("Component");
        !is_component && !reached.contains(doc.folder.as_str()) && !included.contains(&doc.folder)
    };
    let built = docs.into_iter().filter(is_root).map(|doc| {
        let (built, error) = match builder.build(&doc) {
            Ok(built) => (built, None),
            Err(error) => (Default::default(), Some(error)),
        };
        Delivery {
            id: format!("|{}", doc.folder),
            cluster: "".into(),
            parent: None,
            key: String::new(),
            by: None,
            file: doc.file.as_str().into(),
            line: 1,
            settings: Settings::default(),
            error,
            built_first: None,
            resources: Arc::new(built.resources),
            reached: Arc::new(built.reached),
            is_possible: false,
            object: None,
            unread: built.unread,
            charts: built.charts,
            path: doc.folder,
        }
    });
    let built = built.collect();
    if budget.is_spent() {
        return Err(BeyondLimit::of(Limit::Instances, limits, "kustomizations"));
    }
    Ok(built)
}

/// The files with objects that no delivery reaches, and how many objects are in each.
pub fn files(files: &TreeFiles<'_>, delivered: &[Delivery]) -> Vec<(String, usize)> {
    let reached: BTreeSet<&str> = delivered
        .iter()
        .flat_map(|delivery| {
            let own = std::iter::once(&*delivery.file);
            let read = delivery.reached.iter().map(String::as_str);
            let written = delivery.resources.iter();
            own.chain(read)
                .chain(written.map(|resource| &*resource.origin.file))
        })
        .collect();
    let left = files
        .manifests()
        .filter(|path| !reached.contains(path) && !files.is_kustomization(path));
    let counted = left.map(|path| {
        let objects = resources_of(&files.parsed(path), path).unwrap_or_default();
        (path.to_owned(), objects.len())
    });
    counted.filter(|(_, objects)| *objects > 0).collect()
}
