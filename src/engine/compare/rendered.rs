//! Runs the programs that render the two states.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::configured::Configured;
use super::parsed::{Parsed, Rendered};
use super::request::StateChoice;
use super::state::StateReader;
use crate::charts::Charts;
use crate::engine::SessionError;
use crate::engine::input::{BundleInput, RenderSettings};
use crate::inventory::Texts;
use crate::kustomize::{resolve, shown};
use crate::manifest::{KUSTOMIZATIONS, ParsedDocument, ParsedFile};
use crate::render::{Checkout, RenderCommand, RenderError, kustomize};
use crate::text::{ColumnUnit, Side};

/// A program to run in a state.
struct Job {
    at: usize,
    /// The name of a bundle, or the folder of a root.
    what: String,
    /// The line of the configuration that names the bundle; `None` for a root.
    bundle_line: Option<usize>,
    /// The folder in which it is run, from the root of the state.
    folder: String,
    command: RenderCommand,
}

const SIDES: [(Side, &str); 2] = [(Side::Base, "base"), (Side::Head, "head")];

/// Renders both states: the bundles as the configuration says, every other root with kustomize. A root that kustomize
/// cannot build in one state is compared as it is written in both. Adds notes on the renderings. The number in the note
/// includes the charts that were rendered before.
///
/// # Errors
/// A program of the configuration that fails, a missing kustomize, and a state that cannot be checked out.
pub(super) fn rendered(
    states: [(StateChoice, Parsed); 2],
    (configured, charts): (&Configured, &Charts),
    reader: &mut StateReader,
    texts: &mut Texts,
    notes: &mut Vec<String>,
) -> Result<[Parsed; 2], SessionError> {
    let mut jobs = Vec::new();
    for (at, (_, parsed)) in states.iter().enumerate() {
        for bundle in configured.bundles() {
            jobs.extend(of_bundle(at, bundle, parsed)?);
        }
    }
    let kustomized = states.each_ref().map(|(_, parsed)| parsed.kustomized());
    if kustomized.iter().any(|folders| !folders.is_empty()) {
        let command = kustomize()?;
        for (at, folders) in kustomized.into_iter().enumerate() {
            jobs.extend(folders.into_iter().map(|folder| Job {
                at,
                what: folder.clone(),
                bundle_line: None,
                folder,
                command: command.clone(),
            }));
        }
    }
    let [base, head] = states.each_ref().map(|(choice, _)| choice);
    let checkouts = [reader.checkout(base)?, reader.checkout(head)?];
    let configuration = configured.judging.configuration.as_deref();
    let printed: Vec<_> = jobs
        .into_par_iter()
        .filter_map(|job| {
            let checkout = checkouts[job.at].as_ref()?;
            let printed = job.run(checkout);
            let made_by = job.made_by(checkout, configuration);
            Some((job, made_by, printed))
        })
        .collect();
    let count = printed.len() + charts.rendered();
    let mut all = [Rendered::default(), Rendered::default()];
    let mut failed: BTreeMap<String, RenderError> = BTreeMap::new();
    for (job, made_by, printed) in printed {
        match printed.and_then(|bytes| job.parsed(bytes, texts)) {
            Ok(file) => {
                let line = job.bundle_line.unwrap_or(1);
                let made = made_by.map(|path| (1, path.into(), line));
                let file = file.with_rendered(made.into_iter().collect());
                if !file.has_objects() {
                    notes.push(format!(
                        "{} of {} is rendered to nothing",
                        job.called(),
                        SIDES[job.at].1
                    ));
                }
                let Rendered { bundles, roots } = &mut all[job.at];
                let files = if job.is_bundle() { bundles } else { roots };
                files.insert(job.what, file);
            }
            Err(reason) if job.is_bundle() => {
                return Err(SessionError::Render {
                    what: job.called(),
                    side: SIDES[job.at].1,
                    reason,
                });
            }
            Err(reason) => {
                failed.entry(job.what).or_insert(reason);
            }
        }
    }
    let renderings = if count == 1 {
        "rendering"
    } else {
        "renderings"
    };
    notes.push(format!(
        "compared the output of {count} {renderings} of the two states"
    ));
    for (folder, reason) in failed {
        for rendered in &mut all {
            drop(rendered.roots.remove(&folder));
        }
        let folder = shown(&folder);
        notes.push(format!("{folder} is compared as it is written: {reason}"));
    }
    let [(_, mut base), (_, mut head)] = states;
    [base.rendered, head.rendered] = all;
    Ok([base, head])
}

/// Returns the note on states that were not rendered; `None` if the configuration renders nothing.
pub(super) fn unrendered(configured: &Configured) -> Option<String> {
    let mut bundles = configured.bundles();
    bundles.any(|bundle| bundle.rendering.arguments.is_some()).then(|| {
        "compared sources: nothing was rendered; `--render` runs the commands of the configuration in both states".to_owned()
    })
}

/// A bundle whose program is run in a single state.
pub(in crate::engine) struct PrintingBundle {
    pub(in crate::engine) name: String,
    pub(in crate::engine) rendering: RenderSettings,
    /// Its paths from the root of the state, up to their first wildcard.
    pub(in crate::engine) paths: Vec<String>,
}

/// Runs the programs of bundles in a single state, and returns what each prints; `None` for a bundle of which the state
/// has no file.
///
/// # Errors
/// A program that fails, and a state that cannot be checked out.
pub(in crate::engine) fn printed(
    choice: &StateChoice,
    bundles: &[PrintingBundle],
) -> Result<Vec<Option<Arc<str>>>, SessionError> {
    let Some(checkout) = StateReader::default().checkout(choice)? else {
        return Ok(vec![None; bundles.len()]);
    };
    let side = match choice {
        StateChoice::Commit(_) => "the earlier commit",
        _ => "the work tree",
    };
    let printed = bundles.par_iter().map(|bundle| {
        let root = checkout.root();
        if !bundle.paths.iter().any(|path| root.join(path).exists()) {
            return Ok(None);
        }
        let Some(job) = Job::of(0, &bundle.name, &bundle.rendering) else {
            return Ok(None);
        };
        let file = job.run(&checkout).and_then(|bytes| {
            let mut texts = Texts::default();
            job.parsed(bytes, &mut texts)
        });
        match file {
            Ok(file) => Ok(Some(Arc::from(file.source().text()))),
            Err(reason) => Err(SessionError::Render {
                what: job.called(),
                side,
                reason,
            }),
        }
    });
    printed.collect()
}

/// Returns the job for a bundle; `None` if it has no command, or if the state contains none of its files.
fn of_bundle(
    at: usize,
    bundle: &BundleInput,
    parsed: &Parsed,
) -> Result<Option<Job>, SessionError> {
    let name = bundle.name.as_deref().unwrap_or_default();
    let Some(job) = Job::of(at, name, &bundle.rendering) else {
        return Ok(None);
    };
    let has_files = !parsed.named(bundle)?.is_empty();
    Ok(has_files.then_some(job))
}

impl Job {
    /// Creates the job for a bundle; `None` if it has no program.
    fn of(at: usize, name: &str, rendering: &RenderSettings) -> Option<Self> {
        Some(Self {
            at,
            what: name.to_owned(),
            bundle_line: Some(rendering.line),
            folder: rendering.folder.clone(),
            command: RenderCommand {
                arguments: rendering.arguments.clone()?,
                timeout: rendering.timeout.unwrap_or(RenderCommand::TIMEOUT),
            },
        })
    }

    fn is_bundle(&self) -> bool {
        self.bundle_line.is_some()
    }

    fn called(&self) -> String {
        if self.is_bundle() {
            format!("bundle `{}`", self.what)
        } else {
            shown(&self.what).to_owned()
        }
    }

    /// Parses the output of the program as a file of the state. Output that is not a manifest is an error: comparing it
    /// would report that everything was removed.
    fn parsed(&self, printed: Vec<u8>, texts: &mut Texts) -> Result<ParsedFile, RenderError> {
        let path = format!("{} (rendered)", shown(&self.what));
        let text = (path, Ok(Arc::from(printed)));
        let parsed = texts.parse(vec![text], SIDES[self.at].0).pop();
        let file = parsed.ok_or_else(|| self.no_manifests("it cannot be read".to_owned()))?;
        let broken = file.documents().iter().find_map(ParsedDocument::error);
        let source = file.source();
        let mut lines = source.text().lines().zip(1..);
        let other = lines.find(|(line, _)| !separates(line));
        let other = other.filter(|_| !file.has_objects());
        let reason = match (file.failure(), broken, other) {
            (Some(failure), ..) => format!("it {failure}"),
            (_, Some(error), _) => {
                let position = source.position(error.span.start, ColumnUnit::Utf8);
                format!("line {}: {}", position.line, error.message)
            }
            (.., Some((_, line))) => format!("line {line}: there is no Kubernetes object"),
            _ => return Ok(file),
        };
        Err(self.no_manifests(reason))
    }

    /// Returns the file of the tree that names what is rendered: the configuration or the kustomization.
    fn made_by(&self, checkout: &Checkout, configuration: Option<&str>) -> Option<String> {
        if self.is_bundle() {
            return configuration.map(str::to_owned);
        }
        let mut names = KUSTOMIZATIONS
            .map(|name| resolve(&self.folder, name))
            .into_iter();
        names.find(|name| checkout.root().join(name).is_file())
    }

    fn no_manifests(&self, reason: String) -> RenderError {
        RenderError::NoManifests {
            command: self.command.command_line(),
            reason,
        }
    }

    fn run(&self, checkout: &Checkout) -> Result<Vec<u8>, RenderError> {
        let home = checkout.home()?;
        self.command.output(
            &checkout.root().join(resolve("", &self.folder)),
            home.path(),
        )
    }
}

/// Whether a line belongs to no document: it is blank, a comment, or a separator.
fn separates(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#') || matches!(line, "---" | "...")
}
