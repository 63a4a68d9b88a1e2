//! A file as a value: read and parsed once, with all that later rooms ask of it.

use std::sync::Arc;

use super::Object;
use super::documents::{Found, objects_of};
use super::skip::{Skip, SkipReason, configures_kustomize, loses_a_manifest};
use crate::text::{Side, SourceFile, Span};
use crate::yaml::{self, Comment, Content, Document, Problem, ReadError, Tree};

/// What one text holds. It depends on nothing but that text: scopes, keys and namespaces are a bundle's and are settled in its
/// inventory. Clones share everything, so that bundles, the two sides of a change and the runs of an editor can have one
/// file in common.
#[derive(Clone, Debug)]
pub struct ParsedFile {
    source: SourceFile,
    content: Arc<Result<Vec<ParsedDocument>, String>>,
}

/// One document of a file.
#[derive(Debug, Default)]
pub struct ParsedDocument {
    /// Its text. A leading `---` belongs to it, the `---` that ends it does not.
    pub span: Span,
    /// Its value; `None` when it is empty or cannot be read.
    pub tree: Option<Arc<Tree>>,
    /// Why it cannot be read, which is no mistake of an unrendered Helm template.
    pub error: Option<ReadError>,
    /// Its objects, in written order.
    pub objects: Vec<Arc<Object>>,
    /// What of it is no object.
    pub skipped: Vec<Skip>,
    /// What Kubernetes drops or overrides silently, as far as it concerns a manifest.
    pub problems: Vec<Problem>,
    /// Its comments, in written order.
    pub comments: Vec<Comment>,
}

impl ParsedFile {
    /// Parses a text. This is the one place where manifests are parsed.
    pub fn parse(source: SourceFile) -> Self {
        let documents = yaml::read(&source).into_iter().map(|document| parse_document(&source, document)).collect();
        Self { source, content: Arc::new(Ok(documents)) }
    }

    /// A file without a text, and why, to be read after its name: `is a broken symbolic link`.
    pub fn unreadable(path: impl Into<Arc<str>>, reason: String) -> Self {
        Self { source: SourceFile::new(path, ""), content: Arc::new(Err(reason)) }
    }

    /// The same file under another name, or on another side; nothing is parsed again.
    pub fn seen_as(&self, path: impl Into<Arc<str>>, side: Side) -> Self {
        Self { source: self.source.seen_as(path, side), content: Arc::clone(&self.content) }
    }

    /// Its name, side and text.
    pub fn source(&self) -> &SourceFile {
        &self.source
    }

    /// Its documents, in the order in which Kubernetes' reader counts them from 0, empty ones included.
    pub fn documents(&self) -> &[ParsedDocument] {
        self.content.as_deref().unwrap_or_default()
    }

    /// Why it has no text.
    pub fn failure(&self) -> Option<&str> {
        self.content.as_ref().as_ref().err().map(String::as_str)
    }

    /// Whether both are one parsed text, under whatever names.
    pub fn shares_content_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.content, &other.content)
    }
}

fn parse_document(source: &SourceFile, document: Document) -> ParsedDocument {
    let Document { span, content, problems, comments, .. } = document;
    let mut parsed = ParsedDocument { span, comments, ..ParsedDocument::default() };
    match content {
        Content::Empty => {
            parsed.skipped.push(Skip::new(Span::empty(span.start), SkipReason::Empty, "nothing but comments"));
        }
        Content::Unreadable(error) => {
            let reason = if error.template { SkipReason::Template } else { SkipReason::Unreadable };
            parsed.skipped.push(Skip::new(error.span, reason, error.message.clone()));
            parsed.error = Some(error);
        }
        Content::Value(tree) => parsed.take(Arc::new(tree)),
    }
    // A values file with a key twice is nobody's business here; a manifest that is lost behind it is.
    let is_manifest = !parsed.objects.is_empty();
    let concerns = |problem: &Problem| is_manifest || loses_a_manifest(source, problem);
    parsed.problems = problems.into_iter().filter(concerns).collect();
    parsed
}

impl ParsedDocument {
    /// Takes over a value with its objects.
    fn take(&mut self, tree: Arc<Tree>) {
        let Found { objects, others, .. } = objects_of(&tree);
        let others = others.into_iter().map(|other| Skip::new(other.span, SkipReason::NotAManifest, other.detail));
        self.skipped.extend(others);
        for object in objects {
            match configures_kustomize(&object) {
                true => {
                    self.skipped.push(Skip::new(object.start, SkipReason::NotAManifest, "configures kustomize"));
                }
                false => self.objects.push(Arc::new(object)),
            }
        }
        self.tree = Some(tree);
    }
}
