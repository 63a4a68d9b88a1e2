//! Parts that no tool of the tree delivers: kustomizations and charts used by hand or by an unknown tool, and files
//! with objects.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::chart::{place, rendered};
use super::delivery::Delivery;
use super::files::TreeFiles;
use super::kustomize::{Budget, Builder, Builds, Built, KustomizationDoc, Origin, resources_of};
use crate::charts::{ChartCall, ChartSource, Charts};
use crate::kustomize::{BeyondLimit, Limit, ancestors, folder_of, name_of, resolve, shown};
use crate::text::Limits;

/// Builds the kustomizations that neither a delivery nor another kustomization builds.
///
/// # Errors
/// Returns an error if the builds exceed the limits.
pub fn roots(
    builds: &Builds<'_>,
    delivered: &[Delivery],
    limits: &Limits,
) -> Result<Vec<Delivery>, BeyondLimit> {
    let budget = Budget::new(limits);
    let reached: BTreeSet<&str> = delivered
        .iter()
        .flat_map(|delivery| {
            let failing = delivery.error.as_ref().map(|_| &delivery.path);
            delivery.reached.iter().chain(failing)
        })
        .map(String::as_str)
        .collect();
    let builder = Builder::within(builds, &budget).by_hand();
    let docs = builds.files().kustomizations();
    let included: BTreeSet<String> = docs.iter().flat_map(KustomizationDoc::includes).collect();
    let roots = docs.iter().filter(|doc| {
        doc.node.str_at(&["kind"]) != Some("Component")
            && !reached.contains(doc.folder.as_str())
            && !included.contains(&doc.folder)
    });
    let docs: Vec<&KustomizationDoc> = roots.collect();
    let mut objects = 0_usize;
    for doc in &docs {
        objects = objects.saturating_add(builds.objects_of(doc, limits.nesting));
        if builds.copies(objects) > limits.instances {
            return Err(BeyondLimit::new(
                Limit::Instances,
                limits,
                doc.file.as_str(),
            ));
        }
    }
    let built = docs.into_iter().map(|doc| {
        let (mut built, error) = match builder.build(doc) {
            Ok(built) => (built, None),
            Err(error) => (Built::default(), Some(error)),
        };
        let attempt = error.as_ref().and_then(|_| {
            let tolerant = Builder::within(builds, &budget).without_failures();
            let attempt = tolerant.build(doc).ok()?;
            built.reached = attempt.reached;
            Some(attempt.resources)
        });
        Delivery {
            id: format!("|{}", doc.folder),
            file: doc.file.as_str().into(),
            line: 1,
            error,
            attempt,
            resources: built.resources,
            reached: Arc::new(built.reached),
            unread: built.unread,
            charts: built.charts,
            path: doc.folder.clone(),
            ..Delivery::default()
        }
    });
    let built = built.collect();
    if let Some(limit) = budget.spent() {
        return Err(BeyondLimit::new(limit, limits, "kustomizations"));
    }
    Ok(built)
}

/// Renders the charts of the tree that no delivery renders, as `helm install` does with their default values. A library
/// chart has nothing to install, and a subchart is installed with its parent. Skips charts that a
/// delivery or a kustomization in a file for which `counts` returns `true` renders.
pub fn charts<'d>(
    builds: &Builds<'_>,
    delivered: impl IntoIterator<Item = &'d Delivery>,
    counts: &dyn Fn(&str) -> bool,
) -> Vec<Delivery> {
    let (files, charts) = (builds.files(), builds.charts());
    // Includes kustomizations whose builds fail: they name charts, too.
    let docs = files.kustomizations();
    let mut named: BTreeSet<String> = docs
        .iter()
        .filter(|doc| counts(&doc.file))
        .flat_map(KustomizationDoc::chart_folders)
        .collect();
    for one in delivered.into_iter().filter(|one| counts(&one.file)) {
        let calls = one.charts.iter().filter_map(|call| charts.call(call));
        named.extend(calls.flat_map(|call| call.places()));
        named.extend(one.reached.iter().cloned());
        named.insert(one.path.clone());
    }
    let folders = files.paths().filter(|path| name_of(path) == "Chart.yaml");
    let folders: BTreeSet<&str> = folders.map(folder_of).collect();
    let outermost = folders.iter().filter(|folder| {
        let mut above = ancestors(folder).skip(1);
        !above.any(|above| folders.contains(above)) && !named.contains(**folder)
    });
    outermost
        .filter_map(|folder| chart(files, charts, folder))
        .collect()
}

fn chart(files: &TreeFiles<'_>, charts: &Charts, folder: &str) -> Option<Delivery> {
    let file = resolve(folder, "Chart.yaml");
    let about = files.parsed(&file).documents.first().cloned()?;
    if about.str_at(&["type"]) == Some("library") {
        return None;
    }
    let name = about.text_at(&["name"])?;
    let origin = Origin {
        file: Arc::from(file),
        line: 1,
        is_generated: true,
        ..Origin::default()
    };
    let subject = format!("chart {}", shown(folder));
    let namespace = charts.by_hand().namespace_of(folder)?;
    let call = || call(files, folder, (name, namespace));
    let mut made = rendered(charts, call, &subject, &origin);
    place(&mut made.resources, namespace, files.scopes());
    Some(Delivery {
        id: format!("|{folder}|chart"),
        file: origin.file,
        line: 1,
        resources: Arc::new(made.resources),
        unread: made.unread,
        charts: made.call.into_iter().collect(),
        is_chart: true,
        path: folder.to_owned(),
        ..Delivery::default()
    })
}

/// Returns the call of the chart in a folder for a release of this name and namespace.
fn call(
    files: &TreeFiles<'_>,
    folder: &str,
    (release, namespace): (String, &str),
) -> Result<ChartCall, String> {
    let source = ChartSource::Folder(files.chart(folder)?);
    let mut call = ChartCall::new(source, release, namespace);
    call.options.push("--include-crds".to_owned());
    Ok(call)
}

/// Returns the files with objects that no delivery reaches, each with the number of its objects. Files of rendered
/// charts are left out.
pub fn files(
    files: &TreeFiles<'_>,
    delivered: &[Delivery],
    charts: &Charts,
) -> Vec<(String, usize)> {
    let rendered = charts.folders(delivered.iter().flat_map(|one| &one.charts));
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
        .filter(|path| !reached.contains(path) && !files.builds_its_folder(path))
        .filter(|path| {
            rendered.is_empty() || !ancestors(path).any(|above| rendered.contains(above))
        });
    let counted = left.map(|path| {
        let objects = resources_of(&files.parsed(path), path).unwrap_or_default();
        (path.to_owned(), objects.len())
    });
    counted.filter(|(_, objects)| *objects > 0).collect()
}
