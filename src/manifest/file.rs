//! A file that is read and parsed once, with everything that later rooms need.

use std::sync::Arc;

use super::parsed::{Documents, ParsedDocument, WholeText};
use super::provenance::templates;
use super::recognition::{FileFacts, Skip, SkipReason};
use super::secret;
use super::secret_words::SecretWords;
use crate::text::{RenderedPart, Side, SourceFile, Span};
use crate::yaml::{self, Tree};

/// The content of one text. It depends on that text alone: the inventory of a bundle determines scopes, keys and
/// namespaces. Clones share everything, so bundles, the two sides of a change and the runs of an editor can share one
/// file.
#[derive(Clone, Debug)]
pub struct ParsedFile {
    source: SourceFile,
    content: Arc<Result<Documents, String>>,
}

impl ParsedFile {
    /// Parses a text. Manifests are parsed nowhere else.
    pub fn parse(source: SourceFile) -> Self {
        let secrets = SecretWords::new(source.text());
        let whole = WholeText::new(&source, &secrets);
        let documents = Documents::joined(
            yaml::read_each(
                source.shared_text(),
                |documents: &mut Documents, document| {
                    documents.read(&whole, document);
                },
            ),
            &whole,
        );
        let hidden = if secrets.any {
            secret::hidden(&source, &secrets, &documents.parsed)
        } else {
            Vec::new()
        };
        let parts = if documents.may_name_templates {
            templates(source.text())
        } else {
            Vec::new()
        };
        Self {
            source: source.with_hidden(hidden).with_template_marks(parts),
            content: Arc::new(Ok(documents)),
        }
    }

    /// Creates a file without a text. The reason follows the name of the file: `is a broken symbolic link`.
    pub fn unreadable(path: impl Into<Arc<str>>, reason: String) -> Self {
        Self {
            source: SourceFile::new(path, ""),
            content: Arc::new(Err(reason)),
        }
    }

    /// Returns the file under another name, or on another side; nothing is parsed again.
    pub fn seen_as(&self, path: impl Into<Arc<str>>, side: Side) -> Self {
        Self {
            source: self.source.seen_as(path, side),
            content: Arc::clone(&self.content),
        }
    }

    /// Records the parts of a text that is not in the tree and that programs render, in order.
    pub fn with_rendered(self, parts: Vec<RenderedPart>) -> Self {
        Self {
            source: self.source.with_rendered(parts),
            ..self
        }
    }

    /// Returns its path, side and text.
    pub fn source(&self) -> &SourceFile {
        &self.source
    }

    /// Returns its documents in the order of Kubernetes' reader, except those of which only a
    /// [`Skip`] is kept.
    pub fn documents(&self) -> &[ParsedDocument] {
        self.read().map_or(&[], |documents| &documents.parsed)
    }

    /// Whether it contains an object.
    pub fn has_objects(&self) -> bool {
        self.documents()
            .iter()
            .any(|document| !document.objects().is_empty())
    }

    /// Returns the values of its documents, in order; `None` if one of them cannot be read or was not kept.
    pub fn trees(&self) -> Option<Vec<&Arc<Tree>>> {
        let documents = self.read()?;
        let trees: Vec<&Arc<Tree>> = documents
            .parsed
            .iter()
            .filter_map(|document| document.tree.as_ref())
            .collect();
        let skipped = documents.skipped.iter();
        let empty = skipped.filter(|(_, skip)| matches!(skip.reason, SkipReason::Empty));
        (trees.len() + empty.count() == documents.count).then_some(trees)
    }

    /// Returns the document with the index `index`, if it is kept.
    pub fn document(&self, index: u32) -> Option<&ParsedDocument> {
        let documents = self.documents();
        let at = documents.binary_search_by_key(&index, |document| document.index);
        documents.get(at.ok()?)
    }

    /// Returns the number of documents that Kubernetes' reader counts, including empty ones.
    pub fn document_count(&self) -> usize {
        self.read().map_or(0, |documents| documents.count)
    }

    /// Returns its number of objects or of documents, whichever is larger, and at least 1.
    pub fn instances(&self) -> usize {
        let documents = self.documents().iter();
        let objects: usize = documents.map(|document| document.objects().len()).sum();
        objects.max(self.document_count()).max(1)
    }

    /// Returns everything in it that is not an object to apply, with its document, in order.
    pub fn skipped(&self) -> &[(u32, Skip)] {
        self.read().map_or(&[], |documents| &documents.skipped)
    }

    /// Returns the first of the unreadable manifests that are only counted, because there are too many, and their
    /// number.
    pub fn more_unreadable(&self) -> Option<(Span, usize)> {
        self.read()?.more_unreadable
    }

    fn read(&self) -> Option<&Documents> {
        self.content.as_ref().as_ref().ok()
    }

    /// Returns its facts about itself and its neighbours; `None` if it has no text.
    pub fn facts(&self) -> Option<&FileFacts> {
        self.read().map(|documents| &documents.facts)
    }

    /// Returns the reason why it has no text.
    pub fn failure(&self) -> Option<&str> {
        self.content.as_ref().as_ref().err().map(String::as_str)
    }

    /// Whether both share one parsed text, under whatever paths.
    pub fn shares_content_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.content, &other.content)
    }
}
