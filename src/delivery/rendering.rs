//! The output of Helm: the template of each document, and the files of each release.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use foldhash::HashMap;

use crate::charts::templates_of;
use crate::inventory::{Inventory, Member};
use crate::kube::GroupKind;
use crate::kustomize::folder_of;
use crate::text::{FileId, SourceFile, Span, TemplateMark};

/// The output of Helm in an inventory.
#[derive(Debug)]
pub(super) struct Renderings {
    files: HashMap<FileId, RenderedFile>,
    copied: OnceLock<BTreeSet<FileId>>,
}

/// A file that Helm wrote.
#[derive(Debug)]
struct RenderedFile {
    /// The template of each document, with the document's start.
    templates: Vec<TemplateMark>,
    /// The first file that the same release wrote: below one output folder, or of the same chart in the same folder.
    first: FileId,
    /// Whether nothing else is known to install its objects.
    is_installed: bool,
}

impl Renderings {
    pub(super) fn of(inventory: &Inventory) -> Self {
        let mut all = Self {
            files: HashMap::default(),
            copied: OnceLock::new(),
        };
        let mut releases: HashMap<(&str, Option<&str>), FileId> = HashMap::default();
        for (id, file) in inventory.files() {
            let source = file.source();
            let templates = templates_of(source);
            if templates.is_empty() {
                continue;
            }
            let release = match release_folder(source.path(), source) {
                Some(folder) => (folder, None),
                None => (folder_of(source.path()), chart_of(source)),
            };
            let rendered = RenderedFile {
                templates,
                first: *releases.entry(release).or_insert(id),
                is_installed: !all.is_copied(inventory, id),
            };
            all.files.insert(id, rendered);
        }
        all
    }

    /// Returns the first file of the release that wrote a file; else the file itself.
    pub(super) fn first_file(&self, file: FileId) -> FileId {
        self.files
            .get(&file)
            .map_or(file, |rendered| rendered.first)
    }

    /// Whether Helm wrote a file and nothing else is known to install its objects.
    pub(super) fn is_installed(&self, file: FileId) -> bool {
        self.files
            .get(&file)
            .is_some_and(|rendered| rendered.is_installed)
    }

    /// Returns the path of the template that an object was rendered from, in the object's file.
    pub(super) fn template(&self, member: &Member) -> Option<Span> {
        let templates = &self.files.get(&member.file)?.templates;
        let start = member.object.start().start;
        let after = templates.partition_point(|(document, _)| *document <= start);
        templates.get(after.checked_sub(1)?)?.1
    }

    /// Whether something other than Helm installs the objects of a file, whose labels are then
    /// copies of a chart's: a kustomization names the file, or it is beside the
    /// ClusterServiceVersion of a bundle for the Operator Lifecycle Manager.
    pub(super) fn is_copied(&self, inventory: &Inventory, file: FileId) -> bool {
        self.copied
            .get_or_init(|| copied_files(inventory))
            .contains(&file)
    }
}

fn copied_files(inventory: &Inventory) -> BTreeSet<FileId> {
    let versions = GroupKind::new("operators.coreos.com", "ClusterServiceVersion");
    let versions = inventory.of_kind(versions);
    let bundles: BTreeSet<&str> = versions
        .map(|member| inventory.folder_of(member.file))
        .collect();
    let files = inventory.files();
    files
        .filter(|(_, file)| {
            let path = file.source().path();
            bundles.contains(folder_of(path)) || inventory.neighbourhood().is_kustomized(path)
        })
        .map(|(id, _)| id)
        .collect()
}

/// Returns the folder into which `helm template --output-dir` wrote a release, such as `out/web`
/// for `out/web/templates/crd.yaml`, if the `path` of the file ends with that of its template.
pub fn release_folder<'p>(path: &'p str, file: &SourceFile) -> Option<&'p str> {
    let (template, chart) = (first_template(file)?, chart_of(file)?);
    if ends_with(path, template) {
        return Some(&path[..path.len() - template.len() + chart.len()]);
    }
    // The path may begin within the folder.
    ends_with(template, path).then_some("")
}

/// Whether the last parts of `path` are those of `end`.
fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Returns the first template that a file names.
fn first_template(file: &SourceFile) -> Option<&str> {
    let template = file.template_marks().iter().find_map(|(_, part)| *part)?;
    Some(file.slice(template))
}

/// Returns the chart of the first template that a file names.
fn chart_of(file: &SourceFile) -> Option<&str> {
    let (chart, _) = first_template(file)?.split_once('/')?;
    Some(chart)
}
