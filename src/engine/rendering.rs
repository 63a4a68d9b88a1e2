//! `--render` for a single state: adds the rendered charts of its deliveries to the input.

use std::collections::BTreeMap;
use std::path::Path;

use super::compare::{StateChoice, evaluate};
use super::error::SessionError;
use super::programs;
use super::repository::repository_root;
use super::request::{Request, UnrenderedCharts};
use super::resolve::{bundles_and_rest, configuration, release};
use crate::charts::{Charts, RenderingTerms};
use crate::config::Config;
use crate::graph::argo::Terms;
use crate::graph::delivery::Delivery;
use crate::graph::files::parse_inline;
use crate::graph::kustomize::{Resource, resources_of};
use crate::graph::unread::{UnreadInput, What};
use crate::inventory::{Exclusion, Overlay, Release, locate};
use crate::kustomize::{Deliverer, folder_of, name_of, resolve, shown};
use crate::text::{RenderedPart, plain};

/// Maximum nesting of the objects that are written.
const DEPTH: usize = 200;

/// The folders of a chart whose files are not manifests.
const CHART_PARTS: [&str; 3] = ["templates", "crds", "charts"];

/// Adds the rendered charts to a request, and the charts that could not be rendered. Charts are fetched from any host that
/// the tree names: the caller has to trust the tree.
///
/// # Errors
/// A mistake in the configuration, a tree that cannot be read, more than the limits allow.
pub fn with_charts(
    mut request: Request,
    rendering: &RenderingTerms,
) -> Result<Request, SessionError> {
    let rendered = rendered(&request, rendering, |root| {
        Some(StateChoice::Path(root.to_string_lossy().into_owned()))
    })?;
    request.renders = true;
    request.exclude.extend(rendered.sources);
    for RenderedText { overlay, by, made } in rendered.texts {
        request.rendered.insert(overlay.path.clone(), by);
        request.made.insert(overlay.path.clone(), made);
        request.overlays.push(overlay);
    }
    request.printed = rendered.printed;
    request.unrendered = rendered.unrendered;
    Ok(request)
}

/// Renders the charts of a commit of the current repository, and returns those that could not be rendered, too. Paths of
/// the request in other repositories are skipped.
///
/// # Errors
/// See [`with_charts`].
pub fn charts_before(
    request: &Request,
    rendering: &RenderingTerms,
    commit: &str,
) -> Result<(Vec<Overlay>, UnrenderedCharts), SessionError> {
    let here = locate(".");
    let rendered = rendered(request, rendering, |root| {
        let is_here = repository_root(&here) == Some(root);
        is_here.then(|| StateChoice::Commit(commit.to_owned()))
    })?;
    let texts = rendered.texts.into_iter();
    Ok((
        texts.map(|text| text.overlay).collect(),
        rendered.unrendered,
    ))
}

/// The rendered charts of one state.
#[derive(Default)]
struct Rendered {
    texts: Vec<RenderedText>,
    /// The paths of the texts that programs of bundles printed, by the names of the bundles.
    printed: BTreeMap<String, String>,
    /// Globs of the files of the charts, which are not manifests.
    sources: Vec<String>,
    unrendered: UnrenderedCharts,
}

/// The rendered charts of a delivery, or what the program of a bundle printed.
pub(super) struct RenderedText {
    pub(super) overlay: Overlay,
    /// The object that delivers them.
    pub(super) by: Option<Deliverer>,
    /// The parts of the text.
    pub(super) made: Vec<RenderedPart>,
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
    let charts = charts_of_one_state(rendering, config, request.release)
        .installed_by_hand(programs::by_hand(request, config));
    let exclude = Exclusion::new(&bundles_and_rest(request, config).1.input.exclude)?;
    let mut rendered = Rendered::default();
    let mut paths = request.paths.clone();
    if paths.is_empty() {
        paths.push(".".to_owned());
    }
    for path in &paths {
        let place = locate(path);
        let root = repository_root(&place).unwrap_or(&place);
        if let Some(chart) = chart_around(&place, root) {
            let chart = plain::path(chart.strip_prefix(locate(".")).unwrap_or(chart));
            rendered.unrendered.others.insert(format!(
                "{}: files of this chart are read as they are, because it is rendered only if its folder is named",
                shown(&chart)
            ));
        }
        if !place.is_dir() {
            continue;
        }
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
            |_, all, _| {
                let folders = charts.folders(all.iter().flat_map(|one| &one.charts));
                // The files of a chart are not manifests.
                let inside = folders
                    .iter()
                    .flat_map(|folder| CHART_PARTS.map(|part| resolve(folder, part)));
                let inside = inside.filter_map(|part| shown_below(path, &below, &part));
                let sources = inside.map(|part| format!("{}/**", globset::escape(&part)));
                rendered.sources.extend(sources);
                for one in all {
                    let Some(shown) = shown_below(path, &below, &one.file) else {
                        continue;
                    };
                    let show = |file: &str| shown_below(path, &below, file);
                    let text = rendered_text(one, &shown, &show, |template| {
                        show(template).is_some_and(|template| exclude.is_match(&template))
                    });
                    rendered.texts.extend(text);
                    if exclude.is_match(&shown) {
                        continue;
                    }
                    for input in one.unread.iter().filter(|input| input.what == What::Chart) {
                        let unrendered = &mut rendered.unrendered;
                        match rejection_message(one, input) {
                            Some(said) => unrendered.rejected.insert(format!(
                                "{shown}: helm rejects {}, and nothing in it is checked: {said}",
                                input.subject
                            )),
                            None => unrendered.others.insert(format!(
                                "{shown}: {} is not rendered: {}",
                                input.subject, input.reason
                            )),
                        };
                    }
                }
            },
        )?;
    }
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for RenderedText { overlay, .. } in &mut rendered.texts {
        let number = alike.entry(overlay.path.clone()).or_default();
        *number += 1;
        overlay.path = match *number {
            1 => format!("{}).yaml", overlay.path),
            number => format!("{} {number}).yaml", overlay.path),
        };
    }
    for (name, text) in programs::printed(request, config, state)? {
        rendered.printed.insert(name, text.overlay.path.clone());
        rendered.texts.push(text);
    }
    Ok(rendered)
}

/// Returns why helm rejects the chart of a delivery; `None` if helm was not run, or may lack values
/// that only the cluster knows.
fn rejection_message<'i>(delivery: &Delivery, chart: &'i UnreadInput) -> Option<&'i str> {
    let are_values_known = delivery.unread.iter().all(|one| one.what != What::Variable);
    Charts::rejection_message(&chart.reason).filter(|_| are_values_known)
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

/// Converts `file`, a path from the root of the repository, into one below the argument `path`,
/// which is the folder `below`; `None` if the file is not in that folder.
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

/// Returns the folder of the chart of which `place` is a template, a definition or a dependency.
fn chart_around<'p>(place: &'p Path, root: &Path) -> Option<&'p Path> {
    let mut below = place;
    while let Some(above) = below.parent().filter(|above| above.starts_with(root)) {
        let name = below.file_name().unwrap_or_default();
        if CHART_PARTS.iter().any(|part| name == *part) && above.join("Chart.yaml").is_file() {
            return Some(above);
        }
        below = above;
    }
    None
}

/// Joins the rendered charts of a delivery into a text beside their file, without the objects of templates that are
/// `excluded`; the caller completes its path. `show` converts a path from the root of the repository.
fn rendered_text(
    delivery: &Delivery,
    file: &str,
    show: &impl Fn(&str) -> Option<String>,
    excluded: impl Fn(&str) -> bool,
) -> Option<RenderedText> {
    let of_charts = delivery.resources.iter();
    let of_charts = of_charts.filter(|resource| {
        let file = resource.origin.template_file.as_deref();
        resource.origin.template.is_some() && !file.is_some_and(&excluded)
    });
    let mut line = 1;
    let (mut texts, mut made) = (Vec::new(), Vec::new());
    for resource in of_charts {
        let text = text(resource);
        made.push(resource.origin.made_part(line, file, show));
        // A separator follows.
        line += text.lines().count() + 1;
        texts.push(text);
    }
    let name = match (delivery.key.rsplit('/').next(), &*delivery.path) {
        (Some(name), _) if !name.is_empty() => name,
        (_, "") => "charts",
        (_, path) => name_of(path),
    };
    (!texts.is_empty()).then(|| RenderedText {
        overlay: Overlay {
            path: format!("{} (rendered", resolve(folder_of(file), name)),
            text: texts.join("---\n").into(),
        },
        by: delivery.by.clone(),
        made,
    })
}

/// Writes an object of a chart: as helm printed it, or as JSON if the delivery changes it. The comments before the first
/// key are kept.
fn text(resource: &Resource) -> String {
    let printed = resource.origin.document.as_deref().unwrap_or_default();
    let object = resource.node.to_json(DEPTH);
    let before = resources_of(&parse_inline(printed), "").unwrap_or_default();
    if let [before] = &before[..]
        && before.node.to_json(DEPTH) == object
    {
        return format!("{}\n", printed.trim_end());
    }
    let mut text = resource.origin.comments();
    text.push_str(&serde_json::to_string_pretty(&object).unwrap_or_default());
    text.push('\n');
    text
}
