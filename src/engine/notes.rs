//! Notes on a bundle besides its findings: what was skipped, and what to run to have it checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::list::MOST_SKIPPED;
use crate::finding::Severity;
use crate::inventory::Inventory;
use crate::kube::kinds;
use crate::manifest::{SkipReason, TemplateLanguage};
use crate::ownership::{Reach, not_generated};
use crate::report::Note;
use crate::text::plain;

/// The notes on what was skipped, in the order of their paths.
pub(super) fn notes_on_sources(inventory: &Inventory) -> Vec<Note> {
    template_notes(inventory)
        .into_iter()
        .chain(kustomize_note(inventory))
        .collect()
}

/// The notes on symbolic links that were not followed.
pub(super) fn notes_on_links(outside: &[String]) -> impl Iterator<Item = Note> + '_ {
    outside.iter().map(|path| Note {
        severity: Severity::Warning,
        message: "this symbolic link leads out of the tree and was not followed: name the folder that it leads to"
            .to_owned(),
        path: Some(path.clone()),
        line: None,
    })
}

/// What delivery objects build beyond what was followed.
pub(super) fn note_on_reach(reach: &Reach) -> Option<Note> {
    let beyond = reach.beyond()?;
    Some(Note {
        severity: Severity::Warning,
        message: format!(
            "{beyond}: what they apply was not followed any further (`limits.{}`)",
            beyond.key()
        ),
        path: Some(beyond.path.clone()),
        line: None,
    })
}

/// ApplicationSets that generate more Applications than are looked at.
pub(super) fn notes_on_generated(inventory: &Inventory) -> impl Iterator<Item = Note> + '_ {
    inventory.of_kind(kinds::APPLICATION_SET).filter_map(|set| {
        let more = Some(not_generated(set)).filter(|more| *more > 0)?;
        let generated = plain::count(more, "more Application");
        Some(Note {
            severity: Severity::Warning,
            message: format!("{} generates {generated} than are looked at", set.key),
            path: Some(inventory.sources.file(set.file).path().to_owned()),
            line: None,
        })
    })
}

/// Findings in test data that nothing delivers, each with the glob of its file: how many, and what to exclude.
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
            "{} in test data that nothing delivers: not counted; leave these files out with {}, or name them to have them checked",
            plain::count(found.count(), "finding"),
            flags.join(" ")
        ),
        path: None,
        line: None,
    })
}

/// What is skipped beyond what a report lists.
pub(super) fn note_on_unlisted(inventory: &Inventory) -> Option<Note> {
    let more = inventory
        .skipped_count()
        .checked_sub(MOST_SKIPPED)
        .filter(|more| *more > 0)?;
    Some(Note {
        severity: Severity::Warning,
        message: format!("{more} more documents were skipped: {MOST_SKIPPED} are listed"),
        path: None,
        line: None,
    })
}

/// What has to be rendered: a chart by its folder, other templates by theirs and their language.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rendering {
    Chart,
    Other(TemplateLanguage),
}

/// One note per chart, and one per folder with other templates.
fn template_notes(inventory: &Inventory) -> Vec<Note> {
    let mut folders: BTreeMap<(String, Rendering), usize> = BTreeMap::new();
    let mut charts: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for skip in inventory.skipped() {
        let SkipReason::Template(language, _) = &skip.what.reason else {
            continue;
        };
        let folder = folder_of(inventory.sources.file(skip.file).path());
        let chart = *charts.entry(folder).or_insert_with(|| chart_above(folder));
        let key = match chart {
            Some(chart) if *language == TemplateLanguage::Braces => (chart, Rendering::Chart),
            _ => (folder, Rendering::Other(*language)),
        };
        *folders.entry((key.0.to_owned(), key.1)).or_default() += 1;
    }
    let note = |((folder, rendering), count): ((String, Rendering), usize)| {
        let (what, run) = match rendering {
            Rendering::Chart => (
                "unrendered Helm template",
                "run `helm template` and check its output",
            ),
            Rendering::Other(language) => {
                (language.as_str(), "render it first, and check the output")
            }
        };
        let article = if what.starts_with('u') { "an" } else { "a" };
        let documents = match count {
            1 => format!("1 document is {article} {what} and was"),
            n => format!("{n} documents are {} and were", plural(what)),
        };
        let path = if folder.is_empty() {
            ".".to_owned()
        } else {
            folder
        };
        Note {
            severity: Severity::Warning,
            message: format!("{documents} skipped: {run}"),
            path: Some(path),
            line: None,
        }
    };
    folders.into_iter().map(note).collect()
}

/// `template with unset variables` → `templates with unset variables`.
fn plural(what: &str) -> String {
    what.replacen("template", "templates", 1)
}

/// The folder of the chart whose file is in `folder`: the nearest one with a Chart.yaml.
fn chart_above(folder: &str) -> Option<&str> {
    let mut folder = folder;
    loop {
        if Path::new(folder).join("Chart.yaml").is_file() {
            return Some(folder);
        }
        if folder.is_empty() {
            return None;
        }
        folder = folder_of(folder);
    }
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// One note for all kustomizations: a repository may have hundreds of them.
fn kustomize_note(inventory: &Inventory) -> Option<Note> {
    let folders = inventory.neighbourhood().kustomizations();
    let first = folders.first()?;
    let path = if first.is_empty() { "." } else { first };
    let folders = match folders.len() - 1 {
        0 => "this folder has".to_owned(),
        n => format!("this folder and {n} more have"),
    };
    Some(Note {
        severity: Severity::Info,
        message: format!(
            "{folders} a kustomization, which applies something other than these files: run `kustomize build` and \
             check its output"
        ),
        path: Some(path.to_owned()),
        line: None,
    })
}
