//! The objects that a delivery applies from a rendered chart.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::files::{Bytes, parse_inline};
use super::kustomize::{Origin, Resource, resources_of};
use super::node::Node;
use super::scopes::{ClusterScopes, defines_cluster_scoped};
use super::unread::{UnreadInput, What};
use crate::charts::{CallId, ChartCall, Charts, Rendering, Values};
use crate::kustomize::resolve;

/// Maximum depth of values.
const DEPTH: usize = 200;

/// The rendered chart of a delivery.
#[derive(Debug, Default)]
pub(super) struct Rendered {
    /// The call, if the chart was requested.
    pub(super) call: Option<CallId>,
    pub(super) resources: Vec<Resource>,
    /// Unread inputs: the chart itself, or values that only the cluster knows.
    pub(super) unread: Vec<UnreadInput>,
}

impl Rendered {
    /// Creates the result for a chart that cannot be rendered.
    pub(super) fn not(origin: &Origin, subject: &str, reason: &str) -> Self {
        Self {
            unread: vec![origin.unread(What::Chart, subject, reason)],
            ..Self::default()
        }
    }
}

/// Renders the chart that is named at `origin`, if charts are rendered at all; `subject` is its name in reports.
pub(super) fn rendered(
    charts: &Charts,
    call: impl FnOnce() -> Result<ChartCall, String>,
    subject: &str,
    origin: &Origin,
) -> Rendered {
    if !charts.are_rendered() {
        return Rendered::not(origin, subject, Charts::OFF);
    }
    let call = match call() {
        Ok(call) => call,
        Err(reason) => return Rendered::not(origin, subject, &reason),
    };
    let folder = call.folder().map(str::to_owned);
    let (id, answer) = charts.ask(call);
    let call = Some(id);
    match answer.and_then(|rendering| objects(&rendering, origin, folder.as_deref())) {
        Ok(resources) => Rendered {
            call,
            resources,
            unread: Vec::new(),
        },
        Err(reason) => Rendered {
            call,
            ..Rendered::not(origin, subject, &reason)
        },
    }
}

/// Returns the objects of a rendering, without those with random names, which have other names in
/// the cluster. `folder` is that of the chart, if it is in the tree.
fn objects(
    rendering: &Rendering,
    origin: &Origin,
    folder: Option<&str>,
) -> Result<Vec<Resource>, String> {
    let mut found = parsed(&rendering.text, origin, folder)?;
    if let Some(again) = &rendering.again {
        let again = parsed(again, origin, folder)?.into_iter();
        let steady: BTreeSet<String> = again.map(|resource| resource.id().key()).collect();
        found.retain(|resource| steady.contains(&resource.id().key()));
    }
    Ok(found)
}

fn parsed(text: &str, origin: &Origin, folder: Option<&str>) -> Result<Vec<Resource>, String> {
    let parsed = parse_inline(text);
    if let Some((reason, line)) = &parsed.error {
        return Err(format!("line {line} of helm's output: {reason}"));
    }
    let found = resources_of(&parsed, "")
        .map_err(|line| format!("line {line} of helm's output begins an incomplete object"))?;
    let documents = documents(text);
    let document_of = |offset: u32| documents.range(..=offset).next_back();
    let mut printed: BTreeMap<u32, PrintedDocument> = BTreeMap::new();
    for offset in found.iter().map(|one| one.origin.offset) {
        if let Some((start, text)) = document_of(offset) {
            let known = printed.entry(*start);
            let document = known.or_insert_with(|| PrintedDocument::new(text));
            document.objects += usize::from(document.contains(offset - start));
        }
    }
    let placed = (0..).zip(found).map(|(at, mut resource)| {
        let document = document_of(resource.origin.offset);
        let below = document.map(|(start, _)| resource.origin.offset - start);
        let document = document.and_then(|(start, _)| printed.get(start));
        let file = document.zip(folder).and_then(|(document, folder)| {
            let (_, below) = document.template.split_once('/')?;
            Some(Arc::from(resolve(folder, below)))
        });
        resource.origin = Origin {
            offset: at,
            is_generated: true,
            template: document.map(|one| Arc::clone(&one.template)),
            template_file: file,
            document: document
                .zip(below)
                .map(|(one, below)| one.printed_at(below)),
            ..origin.clone()
        };
        resource
    });
    Ok(placed.collect())
}

/// The start of the comment in which Helm names the template of a document.
const SOURCE: &str = "# Source: ";

/// A document that Helm printed.
struct PrintedDocument {
    /// The name of its template.
    template: Arc<str>,
    /// The comment that names the template.
    comment: Arc<str>,
    /// Its text, from this comment on.
    text: Arc<str>,
    /// The number of objects in it.
    objects: usize,
}

impl PrintedDocument {
    fn new(text: &str) -> Self {
        let comment = text.lines().next().unwrap_or_default();
        let template = comment.strip_prefix(SOURCE).unwrap_or_default();
        Self {
            template: Arc::from(template.trim_end()),
            comment: Arc::from(comment),
            text: Arc::from(text),
            objects: 0,
        }
    }

    /// Whether an object that begins `below` bytes after the comment is in this document. Helm
    /// names the template of a file of CRDs only above the first CRD.
    fn contains(&self, below: u32) -> bool {
        (below as usize) < self.text.len()
    }

    /// Returns the text of the object that begins `below` bytes after the comment. If it shares or
    /// follows the document, returns only the comment: a copy for each would take quadratic space.
    fn printed_at(&self, below: u32) -> Arc<str> {
        let is_alone = self.objects == 1 && self.contains(below);
        Arc::clone(if is_alone { &self.text } else { &self.comment })
    }
}

/// Returns the documents whose templates Helm names, each from this comment on, by their offsets.
fn documents(text: &str) -> BTreeMap<u32, &str> {
    let mut found = BTreeMap::new();
    let (mut offset, mut end) = (text.len(), text.len());
    for line in text.split_inclusive('\n').rev() {
        offset -= line.len();
        if line.starts_with("---") {
            end = offset;
        } else if line.starts_with(SOURCE) {
            found.insert(offset as u32, &text[offset..end]);
        }
    }
    found
}

/// Sets the `namespace` of the release in namespaced objects without one, and removes the namespace
/// of cluster-scoped objects. CRDs among `resources` define scopes, too.
pub(super) fn place(resources: &mut [Resource], namespace: &str, scopes: &ClusterScopes) {
    let defined: BTreeSet<(String, String)> = resources
        .iter()
        .filter_map(defines_cluster_scoped)
        .collect();
    for resource in resources {
        let id = resource.id();
        let is_cluster = scopes.is_cluster(&id.group, &id.kind)
            || defined.contains(&(id.group.to_string(), id.kind.to_string()));
        if is_cluster && !id.namespace.is_empty() {
            resource.node.entry_mut("metadata").remove("namespace");
        } else if !is_cluster && id.namespace.is_empty() && !namespace.is_empty() {
            resource.rename("namespace", namespace);
        }
    }
}

/// Returns values as a text; `None` if there are none.
pub(super) fn values_of(node: Option<Node>) -> Option<Values> {
    let node = node.filter(|node| !node.entries().is_empty())?;
    Some(Values::Text(node.to_json(DEPTH).to_string().into()))
}

/// Returns the options of `helm template` for the versions that a chart is rendered for, `kubeVersion` and `apiVersions`.
pub(super) fn version_options(chart: &Node) -> impl Iterator<Item = String> {
    let versions = chart.texts_at("apiVersions").into_iter();
    let versions = versions.map(|version| format!("--api-versions={version}"));
    let kubernetes = chart.text_at(&["kubeVersion"]);
    versions.chain(kubernetes.map(|version| format!("--kube-version={version}")))
}

/// Returns the values in a file of the tree, whose content is `bytes`, and adds the file to the inputs of `call`.
pub(super) fn values_file(
    call: &mut ChartCall,
    place: &str,
    bytes: Bytes,
) -> Result<Values, String> {
    let bytes = bytes.map_err(|reason| format!("{place} {reason}"))?;
    let text = String::from_utf8(bytes.to_vec());
    let text = text.map_err(|_| format!("{place} is not UTF-8"))?;
    call.inputs.insert(place.to_owned());
    Ok(Values::Text(text.into()))
}
