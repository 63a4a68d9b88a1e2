//! `--render` for a single state: runs the programs of the configuration's bundles.

use std::path::Path;
use std::sync::Arc;

use super::compare::{PrintingBundle, StateChoice, printed as printed_in};
use super::error::SessionError;
use super::input::{BundleInput, RenderSettings};
use super::rendering::RenderedText;
use super::repository::repository_root;
use super::request::Request;
use super::resolve::{bundles_and_rest, folder, folder_of_configuration, joined, sources_of};
use crate::charts::{BundleCharts, ByHand};
use crate::config::{BundleConfig, Config};
use crate::inventory::{Overlay, locate};
use crate::text::glob::fixed_folder;

/// Runs the programs of the bundles that a request reads. Returns what they print, with the names of the bundles.
/// `state` returns which state to read of the repository with this root; `None` skips it.
///
/// # Errors
/// A program that fails, and a state that cannot be checked out.
pub(super) fn printed(
    request: &Request,
    config: Option<&Config>,
    state: impl Fn(&Path) -> Option<StateChoice>,
) -> Result<Vec<(String, RenderedText)>, SessionError> {
    let Some(config) = config else {
        return Ok(Vec::new());
    };
    let (place, below) = (folder_of_configuration(config), below_root(config));
    let root = repository_root(&place).unwrap_or(&place);
    let (bundles, _) = bundles_and_rest(request, Some(config));
    let asked = bundles.into_iter().zip(&config.bundles);
    let asked = asked.filter(|(bundle, configured)| {
        bundle.rendering.arguments.is_some() && is_asked_for(request, config, configured)
    });
    let asked: Vec<PrintingBundle> = asked
        .map(|(bundle, configured)| PrintingBundle {
            name: configured.name.clone(),
            rendering: RenderSettings {
                folder: below.clone(),
                ..bundle.rendering
            },
            paths: sources_of(configured, &below)
                .iter()
                .map(|path| fixed_folder(path).to_owned())
                .collect(),
        })
        .collect();
    let Some(choice) = state(root).filter(|_| !asked.is_empty()) else {
        return Ok(Vec::new());
    };
    let texts = printed_in(&choice, &asked)?.into_iter().zip(asked);
    let is_earlier = matches!(choice, StateChoice::Commit(_));
    let texts = texts.filter_map(|(text, bundle)| {
        // An earlier commit may lack the bundle, which is then empty.
        let text = text.or_else(|| is_earlier.then(|| Arc::from("")));
        let path = format!("{} (rendered).yaml", bundle.name.replace('/', "-"));
        let made = (1, config.source.path().into(), bundle.rendering.line);
        let rendered = RenderedText {
            overlay: Overlay {
                path: joined(folder(Some(config)), &path),
                text: text?,
            },
            by: None,
            made: vec![made],
        };
        Some((bundle.name, rendered))
    });
    Ok(texts.collect())
}

/// Whether a request reads all of a bundle.
fn is_asked_for(request: &Request, config: &Config, bundle: &BundleConfig) -> bool {
    let is_chosen = match &request.bundle {
        Some(name) => *name == bundle.name,
        None => true,
    };
    let sources = sources_of(bundle, folder(Some(config)));
    let mut paths = request.paths.iter().map(|path| locate(path));
    is_chosen
        && (request.paths.is_empty()
            || paths.any(|path| {
                let mut sources = sources.iter();
                sources.any(|source| locate(fixed_folder(source)).starts_with(&path))
            }))
}

/// Returns the namespaces of the charts of a single state that no delivery installs.
pub(super) fn by_hand(request: &Request, config: Option<&Config>) -> ByHand {
    let (bundles, rest) = bundles_and_rest(request, config);
    let below = config.map(below_root).unwrap_or_default();
    let configured = config.iter().flat_map(|config| &config.bundles);
    let paths = configured.map(|bundle| sources_of(bundle, &below));
    installed_by_hand(&rest, bundles.iter().zip(paths))
}

/// Returns the namespaces of the charts that no delivery installs, given the bundles with their paths from the root of
/// the tree.
pub(super) fn installed_by_hand<'b>(
    rest: &BundleInput,
    bundles: impl IntoIterator<Item = (&'b BundleInput, Vec<String>)>,
) -> ByHand {
    let namespace = rest.input.settings.namespace.clone();
    let by_hand = ByHand::new(namespace.unwrap_or_default());
    bundles
        .into_iter()
        .fold(by_hand, |by_hand, (bundle, paths)| {
            let charts = match &bundle.rendering.arguments {
                Some(_) => BundleCharts::RenderedByProgram,
                None => BundleCharts::Into(bundle.input.settings.namespace.clone()),
            };
            by_hand.with_bundle(paths.iter().map(String::as_str), &charts)
        })
}

/// Returns the folder of a configuration from the root of its repository, with a slash at its end unless it is empty.
fn below_root(config: &Config) -> String {
    let place = folder_of_configuration(config);
    let root = repository_root(&place).unwrap_or(&place);
    let below = place.strip_prefix(root).unwrap_or(&place);
    let below = below.to_string_lossy().replace('\\', "/");
    if below.is_empty() { below } else { below + "/" }
}
