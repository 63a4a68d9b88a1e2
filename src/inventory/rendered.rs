//! Templates of charts without expressions, which look like manifests, and whose rendering is in the input, too.

use std::collections::BTreeMap;

use foldhash::HashSet;

use crate::charts::templates_of;
use crate::kustomize::{ancestors, folder_of, name_of, resolved};
use crate::manifest::{Object, ParsedFile};

/// An object that helm printed: its template, its kind, its namespace and its name.
type Printed<'f> = (&'f str, &'f str, Option<&'f str>, String);

/// The objects of an input that helm printed, and the charts in it.
#[derive(Debug, Default)]
pub(super) struct RenderedTemplates<'f> {
    /// The names of charts by their folders.
    charts: BTreeMap<String, &'f str>,
    printed: HashSet<Printed<'f>>,
}

impl<'f> RenderedTemplates<'f> {
    pub(super) fn of(files: &'f [ParsedFile]) -> Self {
        let rendered = files.iter().filter(|file| is_rendered(file));
        let mut rendered = rendered.peekable();
        if rendered.peek().is_none() {
            return Self::default();
        }
        let charts = files
            .iter()
            .filter(|file| name_of(file.source().path()) == "Chart.yaml");
        let charts = charts.filter_map(|file| {
            let mut trees = file.documents().iter().filter_map(|one| one.tree());
            let name = trees.next_back()?.root().str_at(&["name"])?;
            Some((folder_of(&resolved(file.source().path())).to_owned(), name))
        });
        let charts: BTreeMap<String, &str> = charts.collect();
        if charts.is_empty() {
            return Self::default();
        }
        let printed = rendered.flat_map(printed_in);
        Self {
            charts,
            printed: printed.collect(),
        }
    }

    /// Whether helm printed the object of a chart's template, and the output is in the input.
    pub(super) fn has(&self, file: &ParsedFile, object: &Object) -> bool {
        if self.printed.is_empty() || is_rendered(file) {
            return false;
        }
        let path = resolved(file.source().path());
        let mut folders = ancestors(folder_of(&path));
        folders.any(|folder| {
            let Some(name) = self.charts.get(folder) else {
                return false;
            };
            let below = path[folder.len()..].trim_start_matches('/');
            let template = format!("{name}/{below}");
            self.printed.contains(&printed(&template, object))
        })
    }
}

fn is_rendered(file: &ParsedFile) -> bool {
    !file.source().template_marks().is_empty()
}

fn printed<'f>(template: &'f str, object: &'f Object) -> Printed<'f> {
    let name = object.name().unwrap_or_default().into_owned();
    (template, object.kind(), object.namespace(), name)
}

/// Returns the objects of a file that helm printed.
fn printed_in(file: &ParsedFile) -> Vec<Printed<'_>> {
    let source = file.source();
    let templates = templates_of(source);
    let objects = file.documents().iter().flat_map(|one| one.objects());
    let objects = objects.filter_map(|object| {
        let start = object.start().start;
        let after = templates.partition_point(|(document, _)| *document <= start);
        let (_, template) = templates[..after].last()?;
        Some(printed(source.slice((*template)?), object))
    });
    objects.collect()
}
