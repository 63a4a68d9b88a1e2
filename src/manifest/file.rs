//! A file as a value: read and parsed once, with everything that later rooms need.

use std::sync::Arc;

use super::Object;
use super::documents::{Found, objects_of};
use super::provenance::templates;
use super::recognition::{DocumentTraits, FileFacts, SkipReason, skip_reason, unreadable_reason};
use super::secret::{self, DocumentParts};
use crate::text::{Side, SourceFile, Span};
use crate::yaml::{self, Comment, Content, Document, Notation, Problem, ProblemKind, ReadChoice, ReadError, Tree};

/// The content of one text. It depends on nothing but that text: scopes, keys and namespaces are a bundle's and are
/// settled in its inventory. Clones share everything, so bundles, the two sides of a change and the runs of an editor
/// can share one file.
#[derive(Clone, Debug)]
pub struct ParsedFile {
    source: SourceFile,
    content: Arc<Result<ParsedText, String>>,
}

#[derive(Debug, Default)]
struct ParsedText {
    documents: Vec<ParsedDocument>,
    facts: FileFacts,
}

/// A document, or an item of a list, that is not an object to apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    /// Where.
    pub span: Span,
    /// Why.
    pub reason: SkipReason,
}

/// One document of a file.
#[derive(Debug, Default)]
pub struct ParsedDocument {
    /// Its text. A leading `---` belongs to it, the `---` that ends it does not.
    pub span: Span,
    /// The language that it is read as.
    pub notation: Notation,
    /// Its value; `None` when it is empty or cannot be read. What the [`ReadChoice`] leaves out is not in it.
    pub tree: Option<Arc<Tree>>,
    /// Why it cannot be read, unless it is a template or the file is not about manifests.
    pub error: Option<ReadError>,
    /// Its objects, in written order.
    pub objects: Vec<Arc<Object>>,
    /// What in it is not an object to apply.
    pub skipped: Vec<Skip>,
    /// What Kubernetes drops or overrides silently, as far as it concerns a manifest.
    pub problems: Vec<Problem>,
    /// Its comments, in written order.
    pub comments: Vec<Comment>,
    /// What it says of its file and of other files, if anything.
    facts: Option<Box<FileFacts>>,
}

impl ParsedFile {
    /// Parses a text.
    pub fn parse(source: SourceFile) -> Self {
        Self::parse_with(source, ReadChoice::default())
    }

    /// [`Self::parse`], read in a way of one's choice. This is the one place where manifests are parsed.
    pub fn parse_with(source: SourceFile, choice: ReadChoice) -> Self {
        let parts = templates(source.text());
        let source = source.with_rendered(parts);
        let documents = yaml::read_each(&source, choice, |document| parse_document(&source, document));
        let mut facts = FileFacts::default();
        documents.iter().filter_map(|document| document.facts.as_deref()).for_each(|said| facts.add(said));
        let hidden = secret::hidden(&source, documents.iter().map(ParsedDocument::parts), |span, notation| {
            yaml::read_whole(&source, span, notation)
        });
        Self { source: source.with_hidden(hidden), content: Arc::new(Ok(ParsedText { documents, facts })) }
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
        self.content.as_ref().as_ref().map_or(&[], |text| &text.documents)
    }

    /// What it says of its neighbours and of itself; `None` when it has no text.
    pub fn facts(&self) -> Option<&FileFacts> {
        self.content.as_ref().as_ref().ok().map(|text| &text.facts)
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
    let Document { span, format: notation, content, problems, comments, .. } = document;
    let mut parsed = ParsedDocument { span, notation, comments, ..ParsedDocument::default() };
    match content {
        Content::Empty => parsed.skip(Span::empty(span.start), SkipReason::Empty),
        Content::Unreadable(error) => {
            let reason = unreadable_reason(source, span, &error);
            let is_broken = matches!(reason, SkipReason::Unreadable(_));
            parsed.skip(error.span, reason);
            parsed.error = is_broken.then_some(error);
        }
        Content::Value(tree) => parsed.take(source, Arc::new(tree)),
    }
    // A values file that contains a key twice does not matter here; a manifest that is lost after it does.
    let is_manifest = !parsed.objects.is_empty();
    let concerns = |problem: &Problem| is_manifest || loses_a_manifest(source, problem);
    let not_utf8 = source.replaced().filter(|(first, _)| span.start <= first.start && first.start < span.end);
    let not_utf8 = not_utf8.map(|(first, count)| {
        let kind = ProblemKind::NotUtf8 { count };
        Problem { kind, span: first, related: None, path: String::new() }
    });
    parsed.problems = problems.into_iter().chain(not_utf8).filter(concerns).collect();
    parsed
}

/// Whether what Kubernetes drops may be an object.
fn loses_a_manifest(source: &SourceFile, problem: &Problem) -> bool {
    matches!(problem.kind, ProblemKind::DroppedContent { .. }) && source.slice(problem.span).contains("apiVersion")
}

impl ParsedDocument {
    /// Its whole value, whatever was left out; `source` is its file.
    pub fn whole_tree(&self, source: &SourceFile) -> Option<Arc<Tree>> {
        match &self.tree {
            Some(tree) if !tree.is_whole() => {
                let whole = yaml::read_whole(source, self.span, self.notation).map(Arc::new);
                Some(whole.unwrap_or_else(|| Arc::clone(tree)))
            }
            tree => tree.clone(),
        }
    }

    fn parts(&self) -> DocumentParts<'_> {
        DocumentParts {
            span: self.span,
            notation: self.notation,
            tree: self.tree.as_deref(),
            objects: &self.objects,
            comments: &self.comments,
        }
    }

    /// Takes over a value with its objects.
    fn take(&mut self, source: &SourceFile, tree: Arc<Tree>) {
        let mut facts = FileFacts::default();
        let Found { objects, others, .. } = objects_of(&tree);
        for other in others {
            facts.see_other(source.path(), tree.value(other.node));
            self.skip(other.span, SkipReason::NoIdentity(other.detail));
        }
        let comments = self.comments.iter().map(|comment| (source.slice(comment.span), comment.own_line));
        let traits = DocumentTraits::of(source.slice(self.span), &tree, comments);
        for object in objects {
            facts.see_object(&object);
            match skip_reason(&object, &traits) {
                Some(reason) => self.skip(object.start, reason),
                None => self.objects.push(Arc::new(object)),
            }
        }
        self.tree = Some(tree);
        self.objects.shrink_to_fit();
        self.facts = (!facts.is_empty()).then(|| Box::new(facts));
    }

    fn skip(&mut self, span: Span, reason: SkipReason) {
        self.skipped.push(Skip { span, reason });
    }
}
