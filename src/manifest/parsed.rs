//! One document of a file as it was read: its objects, and everything to report about it.

use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use super::Object;
use super::documents::{Found, WithoutIdentity, objects_of};
use super::provenance::may_name_template;
use super::recognition::{
    DocumentTraits, FileFacts, Skip, SkipReason, Unreadable, is_about_manifests, skip_reason,
};
use super::secret;
use super::secret_words::SecretWords;
use crate::text::{SourceFile, Span};
use crate::yaml::{
    Comment, Content, Document, Notation, Problem, ProblemKind, Quirk, ReadError, Tree,
};

/// The length of a text, in bytes, from which only the values of objects, of Secrets and of the
/// first document are kept. Texts of which more is needed, such as kustomizations, are shorter.
const LONG: usize = 256 * 1024;

/// The maximum number of unreadable documents of a file with a reason of their own; further ones are only counted.
const MAX_UNREADABLE: usize = 100;

/// The reason of the documents that are only counted.
const ABRIDGED_REASON: &str = "unreadable, like 100 documents before it";

/// One document of a file.
#[derive(Debug, Default)]
pub struct ParsedDocument {
    /// 0-based, as in Kubernetes' reader.
    pub index: u32,
    /// Its text. A leading `---` belongs to it, the `---` that ends it does not.
    pub span: Span,
    /// The language that it is read as.
    pub notation: Notation,
    /// The fields and the text of a manifest that Kubernetes silently drops or overrides, and bytes that are not UTF-8.
    pub problems: Vec<Problem>,
    /// The text in a manifest that Kubernetes accepts and YAML 1.2 forbids or reads differently, with its places.
    pub quirks: Vec<(Quirk, Span)>,
    /// Its comments, in written order: those that mention ownerlint, or all if it may contain a Secret.
    pub comments: Vec<Comment>,
    pub(super) tree: Option<Arc<Tree>>,
    objects: SmallVec<[Arc<Object>; 1]>,
    error: Option<ReadError>,
    is_unreadable: bool,
}

/// Everything in a document that is not an object to apply.
type Skips = SmallVec<[Skip; 1]>;

#[derive(Debug, Default)]
pub(super) struct Documents {
    /// In order, except those of which only a [`Skip`] is kept.
    pub(super) parsed: Vec<ParsedDocument>,
    /// Everything that is not an object to apply, with its document, in order.
    pub(super) skipped: Vec<(u32, Skip)>,
    pub(super) count: usize,
    /// The facts that they state about this and other files.
    pub(super) facts: FileFacts,
    /// Whether a comment may name the template of a document.
    pub(super) may_name_templates: bool,
    unreadable: usize,
    /// The first unreadable manifest whose reason is [`ABRIDGED_REASON`], and the number of these.
    pub(super) more_unreadable: Option<(Span, usize)>,
}

/// The text that contains the documents.
#[derive(Debug)]
pub(super) struct WholeText<'s> {
    source: &'s SourceFile,
    secrets: &'s SecretWords,
    /// Computed for the first document that cannot be read.
    about_manifests: OnceLock<bool>,
}

impl<'s> WholeText<'s> {
    pub(super) fn new(source: &'s SourceFile, secrets: &'s SecretWords) -> Self {
        Self {
            source,
            secrets,
            about_manifests: OnceLock::new(),
        }
    }

    fn is_about_manifests(&self) -> bool {
        *self
            .about_manifests
            .get_or_init(|| is_about_manifests(self.source.text()))
    }
}

impl Documents {
    /// Adds the next document of a text.
    pub(super) fn read(&mut self, text: &WholeText<'_>, document: Document) {
        self.may_name_templates |= may_name_template(text.source.slice(document.span));
        self.count += 1;
        let (document, skips) = parse(text, document, &mut self.facts);
        self.push(text, document, skips);
    }

    fn push(&mut self, text: &WholeText<'_>, document: ParsedDocument, mut skips: Skips) {
        let index = document.index;
        let may_be_hidden = text.secrets.are_in(document.span);
        let is_silent = document.problems.is_empty() && document.comments.is_empty();
        self.unreadable += usize::from(document.is_unreadable);
        let is_one_more = document.is_unreadable && self.unreadable > MAX_UNREADABLE;
        if is_one_more && is_silent && !may_be_hidden {
            self.unreadable -= 1;
            for skip in &mut skips {
                self.abridge(skip);
            }
        } else if may_be_hidden || !is_silent || document.has_content() {
            self.parsed.push(document);
        }
        self.skipped
            .extend(skips.into_iter().map(|skip| (index, skip)));
    }

    fn abridge(&mut self, skip: &mut Skip) {
        match &mut skip.reason {
            SkipReason::Template(_, reason) | SkipReason::Text(reason) => {
                *reason = ABRIDGED_REASON.into();
            }
            SkipReason::Unreadable(reason) => {
                *reason = ABRIDGED_REASON.into();
                self.more_unreadable.get_or_insert((skip.span, 0)).1 += 1;
            }
            _ => {}
        }
    }

    /// Joins the documents of the parts of a text, in their order.
    pub(super) fn joined(mut parts: Vec<Self>, text: &WholeText<'_>) -> Self {
        let mut all = if parts.len() == 1 {
            parts.swap_remove(0)
        } else {
            Self::default()
        };
        for part in parts {
            all.append(part, text);
        }
        // Files stay in memory, and most have one document.
        all.parsed.shrink_to_fit();
        all.skipped.shrink_to_fit();
        all
    }

    /// Adds the documents of the next part.
    fn append(&mut self, part: Self, text: &WholeText<'_>) {
        self.count += part.count;
        self.facts.add(part.facts);
        self.may_name_templates |= part.may_name_templates;
        let mut skipped = part.skipped.into_iter().peekable();
        for document in part.parsed {
            let index = document.index;
            let before = std::iter::from_fn(|| skipped.next_if(|(of, _)| *of < index));
            self.skipped.extend(before);
            let own = std::iter::from_fn(|| skipped.next_if(|(of, _)| *of == index));
            let own = own.map(|(_, skip)| skip).collect();
            self.push(text, document, own);
        }
        self.skipped.extend(skipped);
        if let Some((first, count)) = part.more_unreadable {
            self.more_unreadable.get_or_insert((first, 0)).1 += count;
        }
    }
}

impl ParsedDocument {
    /// Returns its value; `None` if it is empty, unreadable, or not kept: it is not an object and the text is long.
    pub fn tree(&self) -> Option<&Tree> {
        self.tree.as_deref()
    }

    /// Returns its objects, in written order.
    pub fn objects(&self) -> &[Arc<Object>] {
        &self.objects
    }

    /// Returns its objects, in written order, including those that look like templates or parts of something else: a
    /// build may read any of them as an object.
    pub fn every_object(&self) -> Vec<Arc<Object>> {
        let Some(tree) = &self.tree else {
            return self.objects.to_vec();
        };
        let found = objects_of(tree).objects.into_iter();
        found
            .map(|(node, fields)| Arc::new(Object::new(Arc::clone(tree), node, fields)))
            .collect()
    }

    /// Returns the error if it cannot be read, unless it is a template or the file is not about manifests.
    pub fn error(&self) -> Option<&ReadError> {
        self.error.as_ref()
    }

    /// Whether it has more than skips, problems and comments.
    fn has_content(&self) -> bool {
        self.tree.is_some() || self.error.is_some() || !self.quirks.is_empty()
    }
}

/// Finds the objects of a document and everything to report about it. Its facts about files are added to `facts`.
fn parse(
    text: &WholeText<'_>,
    document: Document,
    facts: &mut FileFacts,
) -> (ParsedDocument, Skips) {
    let source = text.source;
    let may_be_hidden = text.secrets.are_in(document.span);
    let mut skips = Skips::new();
    let mut parsed = ParsedDocument {
        index: document.index,
        span: document.span,
        notation: document.format,
        ..ParsedDocument::default()
    };
    match document.content {
        Content::Empty => skips.push(Skip {
            span: Span::empty(parsed.span.start),
            reason: SkipReason::Empty,
        }),
        Content::Unreadable(mut error) => {
            if may_be_hidden {
                error.message = secret::without_quotes(&error.message).into();
            }
            let unreadable =
                Unreadable::of(source, parsed.span, &error, || text.is_about_manifests());
            skips.push(Skip {
                span: error.span,
                reason: unreadable.reason(&error),
            });
            parsed.error = (unreadable == Unreadable::Manifest).then_some(error);
            parsed.is_unreadable = true;
        }
        Content::Value(tree) => {
            let tree = Arc::new(tree);
            let comments = document
                .comments
                .iter()
                .map(|comment| (source.slice(comment.span), comment.own_line));
            let traits = DocumentTraits::new(source.slice(parsed.span), &tree, comments);
            parsed.objects = objects(source.path(), &tree, &traits, &mut skips, facts);
            let is_kept = may_be_hidden
                || !parsed.objects.is_empty()
                || parsed.index == 0
                || source.text().len() < LONG
                || secret::is_secret(tree.root());
            parsed.tree = is_kept.then_some(tree);
        }
    }
    parsed.comments = document
        .comments
        .into_iter()
        .filter(|comment| may_be_hidden || comment.text(source.text()).contains("ownerlint"))
        .collect();
    parsed.comments.shrink_to_fit();
    // Problems without an object do not matter, as in a values file, unless a manifest is lost.
    let is_manifest = !parsed.objects.is_empty();
    let problems = document.problems.into_iter();
    parsed.problems = problems
        .chain(not_utf8(source, parsed.span))
        .filter(|problem| is_manifest || loses_a_manifest(source, problem))
        .collect();
    if is_manifest {
        parsed.quirks = document.quirks;
    }
    (parsed, skips)
}

/// Returns the objects to apply in a document of the file at `path`. Everything else in it is added to `skips`.
fn objects(
    path: &str,
    tree: &Arc<Tree>,
    traits: &DocumentTraits<'_>,
    skips: &mut Skips,
    facts: &mut FileFacts,
) -> SmallVec<[Arc<Object>; 1]> {
    let Found { objects, others } = objects_of(tree);
    for other in others {
        let other = tree.value(other);
        facts.add_other(path, other);
        skips.push(Skip {
            span: other.span(),
            reason: SkipReason::NoIdentity(WithoutIdentity::of(other)),
        });
    }
    let objects = objects
        .into_iter()
        .map(|(node, fields)| Object::new(Arc::clone(tree), node, fields));
    let applied = objects.filter(|object| {
        facts.add_object(object);
        facts.has_directive |= traits.has_directive(object);
        let Some(reason) = skip_reason(object, traits) else {
            return true;
        };
        let span = object.start();
        skips.push(Skip { span, reason });
        false
    });
    applied.map(Arc::new).collect()
}

/// Returns the problem that bytes in `document` were replaced.
fn not_utf8(source: &SourceFile, document: Span) -> Option<Problem> {
    let (first, count) = source.replaced_in(document)?;
    Some(Problem {
        kind: ProblemKind::NotUtf8 { count },
        span: first,
        related: None,
        path: String::new(),
    })
}

/// Whether the text that Kubernetes drops may contain an object.
fn loses_a_manifest(source: &SourceFile, problem: &Problem) -> bool {
    matches!(problem.kind, ProblemKind::DroppedContent { .. })
        && source.slice(problem.span).contains("apiVersion")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abridged_reason_names_the_limit() {
        assert!(ABRIDGED_REASON.contains(&format!(" {MAX_UNREADABLE} ")));
    }
}
