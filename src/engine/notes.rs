//! Notes on a bundle besides its findings: skipped documents, how to have them checked, and the best next step.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use foldhash::HashSet;

use super::input::Bundle;
use super::list::MAX_SKIPPED;
use crate::finding::Severity;
use crate::kustomize::{ancestors, folder_of, is_remote, name_of, resolve};
use crate::manifest::{ParsedFile, SkipReason, TemplateLanguage, is_kustomization};
use crate::ownership::Reach;
use crate::report::{Note, Remedy, Reported};
use crate::starter::{dominant, is_most};
use crate::text::{ColumnUnit, Sources, Span, plain};

/// Returns the notes on skipped templates and on kustomizations. `renders`: whether charts are rendered.
pub(super) fn notes_on_sources(bundle: &Bundle, renders: bool) -> Vec<Note> {
    template_notes(bundle, renders)
        .into_iter()
        .chain(dangling_note(bundle))
        .chain(kustomize_note(bundle))
        .collect()
}

/// Returns notes on symbolic links that were not followed.
pub(super) fn notes_on_links(outside: &[String]) -> impl Iterator<Item = Note> + '_ {
    outside.iter().map(|path| Note {
        severity: Severity::Warning,
        message: "this symbolic link leads out of the tree and was not followed: name the folder that it leads to"
            .to_owned(),
        path: Some(path.clone()),
        line: None,
    })
}

/// Returns a note if delivery objects build more than the limits allow to follow.
pub(super) fn note_on_reach(reach: &Reach) -> Option<Note> {
    let beyond = reach.beyond()?;
    Some(Note {
        severity: Severity::Warning,
        message: format!(
            "{beyond}: their objects were not followed any further (`limits.{}`)",
            beyond.key()
        ),
        path: Some(beyond.path.clone()),
        line: None,
    })
}

/// Returns a note on findings in undelivered test data and on how to exclude it. `found`: the glob of each finding.
pub(super) fn note_on_test_data<'g>(found: impl Iterator<Item = &'g str> + Clone) -> Option<Note> {
    let globs: BTreeSet<&str> = found.clone().collect();
    if globs.is_empty() {
        return None;
    }
    let flags: Vec<String> = globs
        .iter()
        .map(|glob| format!("--exclude '{glob}'"))
        .collect();
    Some(Note {
        severity: Severity::Info,
        message: format!(
            "{} in test data that nothing delivers, not counted: exclude these files with {}, or \
             name them to check them",
            plain::count(found.count(), "finding"),
            flags.join(" ")
        ),
        path: None,
        line: None,
    })
}

/// Returns the step that resolves the most findings: an exclusion, if it resolves most errors, or a
/// build of the kustomizations, if it resolves most errors and warnings.
pub(super) fn remedy(
    findings: &[Reported],
    sources: &Sources,
    bundles: &[Bundle],
) -> Option<Remedy> {
    let grave = paths_of(findings, Severity::Warning, sources);
    let kustomized: HashSet<&str> = bundles.iter().flat_map(kustomized_files).collect();
    let kustomized = grave.iter().filter(|path| kustomized.contains(*path));
    let (resolved, of) = (kustomized.count(), grave.len());
    let build = is_most(resolved, of).then_some(Remedy::Build { resolved, of });
    let files = bundles
        .iter()
        .flat_map(|bundle| bundle.files().map(|(file, _)| bundle.path(file)));
    let files: Vec<_> = files.collect::<BTreeSet<_>>().into_iter().collect();
    let errors = paths_of(findings, Severity::Error, sources);
    let exclude = dominant(&errors, &files).map(Remedy::Exclude);
    let remedies = exclude.into_iter().chain(build);
    remedies.max_by_key(Remedy::resolves)
}

/// Returns the reported paths of the files that kustomizations change.
fn kustomized_files(bundle: &Bundle) -> impl Iterator<Item = &str> {
    let neighbourhood = bundle.inventory.neighbourhood();
    let files = bundle.files();
    let kustomized = files.filter(|(_, file)| neighbourhood.is_kustomized(file.source().path()));
    kustomized.map(|(file, _)| bundle.path(file))
}

/// Returns the path of each finding that is at least as severe as `least`.
fn paths_of<'s>(findings: &[Reported], least: Severity, sources: &'s Sources) -> Vec<&'s str> {
    let findings = findings.iter().map(|reported| &reported.finding);
    let grave = findings.filter(|finding| finding.severity >= least);
    grave
        .map(|finding| sources.file(finding.primary.file).path())
        .collect()
}

/// Returns a note on skipped documents that a report does not list.
pub(super) fn note_on_unlisted(bundle: &Bundle) -> Option<Note> {
    let more = bundle
        .skipped()
        .count()
        .checked_sub(MAX_SKIPPED)
        .filter(|more| *more > 0)?;
    Some(Note {
        severity: Severity::Warning,
        message: format!("{more} more documents were skipped: {MAX_SKIPPED} are listed"),
        path: None,
        line: None,
    })
}

/// Returns one note for all charts, and one for the other templates of each language.
fn template_notes(bundle: &Bundle, renders: bool) -> Vec<Note> {
    // Templates of a chart count for the chart's folder, other templates for their own.
    let mut templates: BTreeMap<Option<TemplateLanguage>, BTreeMap<&str, usize>> = BTreeMap::new();
    let mut charts = ChartFolders::default();
    for skip in bundle.skipped() {
        let SkipReason::Template(language, _) = &skip.what.reason else {
            continue;
        };
        let folder = folder_of(bundle.path(skip.file));
        let chart = charts
            .above(folder)
            .filter(|_| *language == TemplateLanguage::Braces);
        // Helm renders no objects from other files of a chart.
        if chart.is_some_and(|chart| !is_in_templates(chart, folder)) {
            continue;
        }
        let language = chart.is_none().then_some(*language);
        let folders = templates.entry(language).or_default();
        let folder = chart.map_or(folder, |chart| charts.installed_with(chart));
        *folders.entry(folder).or_default() += 1;
    }
    let notes = templates.iter().filter_map(|(language, folders)| {
        let (first, _) = folders.first_key_value()?;
        let count = folders.values().sum();
        let (place, remedy) = match (language, count) {
            (None, _) if renders => ("chart", "helm did not render them"),
            (None, _) => (
                "chart",
                "`--render` renders charts with helm, or check the output of `helm template NAME CHART`",
            ),
            (Some(_), 1) => ("folder", "render it first, and check the output"),
            (Some(_), _) => ("folder", "render them first, and check the output"),
        };
        let what = match (language, count) {
            (None, n) => plain::count(n, "unrendered template"),
            (Some(language), 1) => format!("1 {}", language.as_str()),
            (Some(language), n) => format!("{n} {}", plural(language.as_str())),
        };
        let have = match folders.len() - 1 {
            0 => format!("this {place} has"),
            n => format!("this {place} and {n} more have"),
        };
        let message = format!("{have} {what}, not checked: {remedy}");
        Some(note_on(first, Severity::Warning, message))
    });
    notes.collect()
}

fn note_on(folder: &str, severity: Severity, message: String) -> Note {
    let path = if folder.is_empty() { "." } else { folder };
    Note {
        severity,
        message,
        path: Some(path.to_owned()),
        line: None,
    }
}

/// `template with unset variables` → `templates with unset variables`.
fn plural(what: &str) -> String {
    what.replacen("template", "templates", 1)
}

/// Whether `folder` is the `templates` folder of `chart`, or below it.
pub(super) fn is_in_templates(chart: &str, folder: &str) -> bool {
    let below = folder[chart.len()..].trim_start_matches('/');
    below.split('/').next() == Some("templates")
}

/// Cache of the chart that each folder belongs to.
#[derive(Default)]
pub(super) struct ChartFolders<'i>(BTreeMap<&'i str, Option<&'i str>>);

impl<'i> ChartFolders<'i> {
    /// Returns the nearest folder with a Chart.yaml, from `folder` upwards.
    pub(super) fn above(&mut self, folder: &'i str) -> Option<&'i str> {
        *self.0.entry(folder).or_insert_with(|| {
            ancestors(folder).find(|above| Path::new(above).join("Chart.yaml").is_file())
        })
    }

    /// Returns the chart that `chart` is installed with: the one that has it in its folder `charts`, or itself.
    pub(super) fn installed_with(&mut self, chart: &'i str) -> &'i str {
        let (above, parent) = (folder_of(chart), folder_of(folder_of(chart)));
        if name_of(above) == "charts" && self.above(parent) == Some(parent) {
            self.installed_with(parent)
        } else {
            chart
        }
    }
}

/// Returns one note for all entries of kustomizations that name a missing file or folder: kustomize builds nothing of
/// their folders.
fn dangling_note(bundle: &Bundle) -> Option<Note> {
    let files = bundle.files();
    let mut dangling = files.flat_map(|(id, file)| {
        let entries = dangling_entries(file, bundle.path(id)).into_iter();
        entries.map(move |(span, written)| (id, span, written))
    });
    let (id, span, written) = dangling.next()?;
    let source = bundle.inventory.sources.file(id);
    let line = source.position(span.start, ColumnUnit::Utf8).line;
    let more = match dangling.count() {
        0 => String::new(),
        more => format!(" (and {})", plain::count(more, "more such path")),
    };
    Some(Note {
        severity: Severity::Warning,
        message: format!("`{written}` does not exist, so kustomize cannot build this folder{more}"),
        path: Some(bundle.path(id).to_owned()),
        line: Some(line),
    })
}

/// Returns the entries of a kustomization at `path` that name a missing file or folder, each with its place.
pub(super) fn dangling_entries<'f>(file: &'f ParsedFile, path: &str) -> Vec<(Span, &'f str)> {
    let is_read = file.facts().is_some_and(|facts| facts.is_kustomization);
    if !is_read || !is_kustomization(path) {
        return Vec::new();
    }
    let folder = Path::new(folder_of(path));
    let roots = file
        .documents()
        .iter()
        .filter_map(|document| document.tree());
    let keys = ["resources", "bases", "components"];
    let entries = roots.flat_map(|tree| keys.map(|key| tree.root().items_at(key)));
    let entries = entries.flatten().filter_map(|entry| {
        let written = entry.as_str()?;
        let is_path = !written.trim().is_empty()
            && !is_remote(written)
            && !written.contains(['\n', '$', '{']);
        // An absolute path is an error of kustomize; on Windows it may name another machine.
        let is_path = is_path && Path::new(written).is_relative();
        (is_path && !folder.join(written).exists()).then(|| (entry.span(), written))
    });
    entries.collect()
}

/// Returns one note for all kustomizations.
fn kustomize_note(bundle: &Bundle) -> Option<Note> {
    let files = bundle.files().filter(|(_, file)| {
        let facts = file.facts();
        facts.is_some_and(|facts| facts.is_kustomization)
    });
    let folders: Vec<String> = files
        .map(|(id, _)| resolve("", folder_of(bundle.path(id))))
        .collect();
    let first = folders.first()?;
    let folders = match folders.len() - 1 {
        0 => "this folder has".to_owned(),
        n => format!("this folder and {n} more have"),
    };
    let message = format!(
        "{folders} a kustomization, which changes the objects that are applied: run `kustomize \
         build` and check its output"
    );
    Some(note_on(first, Severity::Info, message))
}
