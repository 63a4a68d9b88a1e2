//! `--render` for a single state: adds the rendered charts of its deliveries to the input.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::compare::{StateChoice, evaluate};
use super::error::SessionError;
use super::request::Request;
use super::resolve::{configuration, release};
use super::standing::repository_root;
use crate::charts::{Charts, RenderingTerms};
use crate::config::Config;
use crate::graph::argo::Terms;
use crate::graph::delivery::Delivery;
use crate::graph::kustomize::Resource;
use crate::graph::unread::What;
use crate::inventory::{Overlay, Release, locate};
use crate::kustomize::{Deliverer, folder_of, name_of, resolve};

/// Maximum nesting of the objects that are written.
const DEPTH: usize = 200;

/// Adds the rendered charts to a request, and returns a sentence for each chart that could not be rendered. Charts are
/// fetched from any host that the tree names: the caller has to trust the tree.
///
/// # Errors
/// A mistake in the configuration, a tree that cannot be read, more than the limits allow.
pub fn with_charts(
    mut request: Request,
    rendering: &RenderingTerms,
) -> Result<(Request, Vec<String>), SessionError> {
    let rendered = rendered(&request, rendering, |root| {
        Some(StateChoice::Path(root.to_string_lossy().into_owned()))
    })?;
    request.exclude.extend(rendered.sources);
    for (overlay, by) in rendered.overlays {
        request.rendered.insert(overlay.path.clone(), by);
        request.overlays.push(overlay);
    }
    Ok((request, rendered.failures.into_iter().collect()))
}

/// Renders the charts of a commit of the current repository. Paths of the request in other repositories are skipped.
///
/// # Errors
/// See [`with_charts`].
pub fn charts_before(
    request: &Request,
    rendering: &RenderingTerms,
    commit: &str,
) -> Result<Vec<Overlay>, SessionError> {
    let here = locate(".");
    let rendered = rendered(request, rendering, |root| {
        let is_here = repository_root(&here) == Some(root);
        is_here.then(|| StateChoice::Commit(commit.to_owned()))
    })?;
    let overlays = rendered.overlays.into_iter();
    Ok(overlays.map(|(overlay, _)| overlay).collect())
}

/// The rendered charts of one state.
#[derive(Default)]
struct Rendered {
    /// The rendered texts, each with the object that delivers it.
    overlays: Vec<(Overlay, Option<Deliverer>)>,
    /// Globs of the files of the charts, which are not manifests.
    sources: Vec<String>,
    /// Sentences on charts that could not be rendered.
    failures: BTreeSet<String>,
}

/// Renders the charts of the paths of a request. `state` returns which state to read of the repository with this root,
/// or of a folder outside of repositories; `None` skips it.
fn rendered(
    request: &Request,
    rendering: &RenderingTerms,
    state: impl Fn(&Path) -> Option<StateChoice>,
) -> Result<Rendered, SessionError> {
    let config = configuration(request)?;
    let config = config.as_ref();
    let limits = config.map(|config| config.limits).unwrap_or_default();
    let terms = Terms {
        limits: &limits,
        clusters: config.and_then(|config| config.clusters.as_deref()),
    };
    let charts = charts_of_one_state(rendering, config, request.release);
    let mut rendered = Rendered::default();
    let mut paths = request.paths.clone();
    if paths.is_empty() {
        paths.push(".".to_owned());
    }
    for path in &paths {
        let place = locate(path);
        if !place.is_dir() {
            continue;
        }
        let root = repository_root(&place).unwrap_or(&place);
        let below = place.strip_prefix(root).unwrap_or(&place);
        let below = below.to_string_lossy().replace('\\', "/");
        let Some(choice) = state(root) else {
            continue;
        };
        evaluate(
            &choice,
            &[],
            terms,
            (&charts, &|file| shown_below(path, &below, file).is_some()),
            |_, all| {
                let folders = charts.folders(all.iter().flat_map(|one| &one.charts));
                // The files of a chart are not manifests.
                let parts = ["templates", "crds", "charts"];
                let inside = folders
                    .iter()
                    .flat_map(|folder| parts.map(|part| resolve(folder, part)));
                let inside = inside.filter_map(|part| shown_below(path, &below, &part));
                let sources = inside.map(|part| format!("{}/**", globset::escape(&part)));
                rendered.sources.extend(sources);
                for one in all {
                    let Some(shown) = shown_below(path, &below, &one.file) else {
                        continue;
                    };
                    let overlay = overlay(one, &shown);
                    rendered
                        .overlays
                        .extend(overlay.map(|overlay| (overlay, one.by.clone())));
                    let charts = one.unread.iter().filter(|input| input.what == What::Chart);
                    rendered.failures.extend(charts.map(|input| {
                        format!(
                            "{shown}: {} is not rendered: {}",
                            input.subject, input.reason
                        )
                    }));
                }
            },
        )?;
    }
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for (overlay, _) in &mut rendered.overlays {
        let number = alike.entry(overlay.path.clone()).or_default();
        *number += 1;
        overlay.path = match *number {
            1 => format!("{}).yaml", overlay.path),
            number => format!("{} {number}).yaml", overlay.path),
        };
    }
    Ok(rendered)
}

/// Sets up charts for a tree that is not compared with another one: any host that it names is allowed.
pub(super) fn charts_of_one_state(
    terms: &RenderingTerms,
    config: Option<&Config>,
    requested: Option<Release>,
) -> Charts {
    let release = release(requested, config).unwrap_or(Release::NEWEST);
    let configured = config.map(|config| terms.and(&config.charts));
    let charts = Charts::rendering(configured.as_ref().unwrap_or(terms), release.to_string());
    charts.trust_all_hosts();
    charts
}

/// Converts `file`, a path from the root of the repository, into one through the argument `path`, whose folder is
/// `below`; `None` if the file is not in that folder.
fn shown_below(path: &str, below: &str, file: &str) -> Option<String> {
    let rest = match below {
        "" => file,
        below => file.strip_prefix(below)?.strip_prefix('/')?,
    };
    Some(match path.trim_end_matches('/') {
        "." => rest.to_owned(),
        path => format!("{path}/{rest}"),
    })
}

/// Joins the rendered charts of a delivery into an overlay beside `file`, the file of the delivery. The caller
/// completes the path of the overlay.
fn overlay(delivery: &Delivery, file: &str) -> Option<Overlay> {
    let of_charts = delivery.resources.iter();
    let of_charts = of_charts.filter(|resource| resource.origin.template.is_some());
    let texts: Vec<String> = of_charts.map(text).collect();
    let name = match (delivery.key.rsplit('/').next(), &*delivery.path) {
        (Some(name), _) if !name.is_empty() => name,
        (_, "") => "charts",
        (_, path) => name_of(path),
    };
    (!texts.is_empty()).then(|| Overlay {
        path: format!("{} (rendered", resolve(folder_of(file), name)),
        text: texts.join("---\n").into(),
    })
}

fn text(resource: &Resource) -> String {
    let template = resource.origin.template.as_deref().unwrap_or_default();
    let object = serde_json::to_string_pretty(&resource.node.to_json(DEPTH));
    format!("# Source: {template}\n{}\n", object.unwrap_or_default())
}
