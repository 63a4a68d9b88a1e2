//! One document of a file, read: its objects, and what there is to say of it.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::Object;
use super::document_value::DocumentValue;
use super::documents::WithoutIdentity;
use super::provenance::may_name_template;
use super::recognition::{
    DocumentTraits, FileFacts, Skip, SkipReason, TemplateLanguage, Unreadable, is_about_manifests,
    is_kustomization,
};
use super::secret::{self, DocumentParts};
use super::secret_words::SecretWords;
use crate::text::{SourceFile, Span};
use crate::yaml::{
    self, Comment, Content, Document, Notation, Problem, ProblemKind, Quirk, ReadError, Tree,
};

/// The length from which values of a text are not kept unless they are objects or the first, in bytes: kustomizations and charts
/// are short, and a long text has millions of documents if each is `{}`.
const LONG: usize = 256 * 1024;

/// One document of a file.
#[derive(Debug)]
pub struct ParsedDocument {
    /// 0-based, as Kubernetes' reader counts.
    pub index: u32,
    /// Its text. A leading `---` belongs to it, the `---` that ends it does not.
    pub span: Span,
    /// The language that it is read as.
    pub notation: Notation,
    content: DocumentContent,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<ParsedDocument>() <= 32);

/// What is kept of a document: an input may have a million small ones.
#[derive(Debug)]
enum DocumentContent {
    /// An object of which there is nothing to say, as most are.
    Plain(Arc<Object>),
    Remarkable(Box<(DocumentValue, Remarks)>),
}

/// What there is to say of few documents.
#[derive(Debug, Default)]
struct Remarks {
    error: Option<ReadError>,
    skipped: Vec<Skip>,
    problems: Vec<Problem>,
    quirks: Vec<(Quirk, Span)>,
    comments: Vec<Comment>,
}

/// So many documents of a file are said to be unreadable each with its own reason; of more it is said how many they are.
const MOST_UNREADABLE: usize = 100;

/// What is said of each of the others.
const LIKE_OTHERS: &str = "unreadable, like 100 documents before it";

/// A document of which there is nothing to say but why it is not an object to apply.
#[derive(Clone, Copy, Debug)]
struct BareDocument {
    index: u32,
    span: Span,
    reason: BareReason,
}

#[derive(Clone, Copy, Debug)]
enum BareReason {
    Empty,
    NoIdentity(WithoutIdentity),
    /// One of too many that cannot be read.
    Template(TemplateLanguage),
    Unreadable,
    Text,
}

/// The documents of a text.
#[derive(Debug, Default)]
pub(super) struct Documents {
    /// In order.
    parsed: Vec<ParsedDocument>,
    /// The others, in order: a few bytes each, for there may be a million of them.
    bare: Vec<BareDocument>,
    /// What they say of the file and of other files.
    facts: FileFacts,
    /// Whether a comment may name the template of one.
    may_name_templates: bool,
    /// How many of the first are unreadable.
    unreadable: usize,
}

/// The text that the documents are of, and what is asked of all of it for one of them.
#[derive(Debug)]
pub(super) struct WholeText<'s> {
    source: &'s SourceFile,
    /// What may have to be hidden later is kept.
    secrets: &'s SecretWords,
    /// Asked for a document that cannot be read, and answered once for all of those.
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
        let has_secrets = text.secrets.are_in(document.span);
        self.may_name_templates |= may_name_template(text.source.slice(document.span));
        let at_once = BareDocument::at_once(text, &document, self.unreadable >= MOST_UNREADABLE);
        let bare = match at_once.filter(|_| !has_secrets) {
            None => {
                let parsed = parse(text, document, has_secrets, &mut self.facts);
                self.take(parsed, has_secrets)
            }
            bare => bare,
        };
        self.bare.extend(bare);
    }

    /// Takes a document, or gives it back in a few bytes.
    fn take(&mut self, document: ParsedDocument, has_secrets: bool) -> Option<BareDocument> {
        let bare = document
            .bare(self.unreadable >= MOST_UNREADABLE)
            .filter(|_| !has_secrets);
        if bare.is_none() {
            self.unreadable += usize::from(document.is_unreadable());
            self.parsed.push(document);
        }
        bare
    }

    /// Those of a text, from those of its parts in their order.
    pub(super) fn joined(mut parts: Vec<Self>, text: &WholeText<'_>) -> Self {
        let mut all = if parts.len() == 1 {
            parts.swap_remove(0)
        } else {
            Self::default()
        };
        all.parsed
            .reserve_exact(parts.iter().map(|part| part.parsed.len()).sum());
        all.bare
            .reserve_exact(parts.iter().map(|part| part.bare.len()).sum());
        for part in parts {
            all.append(part, text);
        }
        // Most files have one document, and stay in memory.
        all.parsed.shrink_to_fit();
        all.bare.shrink_to_fit();
        all
    }

    /// Adds those of the next part.
    fn append(&mut self, part: Self, text: &WholeText<'_>) {
        self.facts.add(part.facts);
        self.may_name_templates |= part.may_name_templates;
        let mut bare = part.bare.into_iter().peekable();
        for document in part.parsed {
            let has_secrets = text.secrets.are_in(document.span);
            if let Some(one_more) = self.take(document, has_secrets) {
                self.bare.extend(std::iter::from_fn(|| {
                    bare.next_if(|before| before.index < one_more.index)
                }));
                self.bare.push(one_more);
            }
        }
        self.bare.extend(bare);
    }

    /// What they say of the file and of other files.
    pub(super) fn facts(&self) -> &FileFacts {
        &self.facts
    }

    /// The first of the documents that nothing but their number says to be unreadable, and how many there are.
    pub(super) fn more_unreadable(&self) -> Option<(Span, usize)> {
        let mut more = self
            .bare
            .iter()
            .filter(|bare| matches!(bare.reason, BareReason::Unreadable));
        Some((more.next()?.span, 1 + more.count()))
    }

    pub(super) fn parsed(&self) -> &[ParsedDocument] {
        &self.parsed
    }

    pub(super) fn may_name_templates(&self) -> bool {
        self.may_name_templates
    }

    pub(super) fn len(&self) -> usize {
        self.parsed.len() + self.bare.len()
    }

    /// How much is not an object to apply.
    pub(super) fn skipped_count(&self) -> usize {
        self.bare.len()
            + self
                .parsed
                .iter()
                .map(|document| document.skipped().len())
                .sum::<usize>()
    }

    /// What is not an object to apply, with its document, in order.
    pub(super) fn skipped(&self) -> impl Iterator<Item = (u32, Skip)> {
        let of = |document: &'_ ParsedDocument| (document.index, document.skipped().to_vec());
        let mut parsed = self
            .parsed
            .iter()
            .map(of)
            .flat_map(|(at, all)| all.into_iter().map(move |skip| (at, skip)));
        let mut next = parsed.next();
        let mut bare = self.bare.iter().peekable();
        std::iter::from_fn(move || {
            let document = next.as_ref().map(|(document, _)| *document);
            match bare.next_if(|bare| document.is_none_or(|document| bare.index < document)) {
                Some(bare) => Some((bare.index, bare.skip())),
                None => std::mem::replace(&mut next, parsed.next()),
            }
        })
    }
}

impl BareDocument {
    /// A document that nobody needs to look into: a text may have a million of them. `is_one_more`: many others are unreadable.
    fn at_once(text: &WholeText<'_>, document: &Document, is_one_more: bool) -> Option<Self> {
        let source = text.source;
        let (span, reason) = match &document.content {
            Content::Empty => (Span::empty(document.span.start), BareReason::Empty),
            Content::Value(tree)
                if !is_kept(source, document.index) && !is_kustomization(source.path()) =>
            {
                let root = tree.root();
                let is_hollow = root.entries().len() == 0;
                (
                    root.span(),
                    is_hollow.then(|| BareReason::NoIdentity(WithoutIdentity::of(root)))?,
                )
            }
            Content::Unreadable(error) if is_one_more => {
                let reason = match Unreadable::of(source, document.span, error, || {
                    text.is_about_manifests()
                }) {
                    Unreadable::Statement(language) => BareReason::Template(language),
                    Unreadable::Braces => BareReason::Template(TemplateLanguage::Braces),
                    Unreadable::Manifest => BareReason::Unreadable,
                    Unreadable::Text => BareReason::Text,
                };
                (error.span, reason)
            }
            Content::Value(_) | Content::Unreadable(_) => return None,
        };
        // What is forgiven matters in a manifest only.
        let silent = document.comments.is_empty()
            && document.problems.is_empty()
            && source.replaced().is_none();
        silent.then_some(Self {
            index: document.index,
            span,
            reason,
        })
    }

    fn skip(&self) -> Skip {
        let reason = match self.reason {
            BareReason::Empty => SkipReason::Empty,
            BareReason::NoIdentity(what) => SkipReason::NoIdentity(what),
            BareReason::Template(language) => SkipReason::Template(language, LIKE_OTHERS.into()),
            BareReason::Unreadable => SkipReason::Unreadable(LIKE_OTHERS.into()),
            BareReason::Text => SkipReason::Text(LIKE_OTHERS.into()),
        };
        Skip {
            span: self.span,
            reason,
        }
    }
}

impl ParsedDocument {
    /// Its value; `None` when it is empty or cannot be read, and where it is no object and the text is long. What the
    /// [`ReadChoice`](yaml::ReadChoice) leaves out is not in it.
    pub fn tree(&self) -> Option<&Tree> {
        match &self.content {
            DocumentContent::Plain(object) => Some(object.tree()),
            DocumentContent::Remarkable(content) => content.0.tree(),
        }
    }

    /// Its objects, in written order.
    pub fn objects(&self) -> &[Arc<Object>] {
        match &self.content {
            DocumentContent::Plain(object) => std::slice::from_ref(object),
            DocumentContent::Remarkable(content) => content.0.objects(),
        }
    }

    fn remarks(&self) -> Option<&Remarks> {
        match &self.content {
            DocumentContent::Plain(_) => None,
            DocumentContent::Remarkable(content) => Some(&content.1),
        }
    }

    /// Why it cannot be read, unless it is a template or the file is not about manifests.
    pub fn error(&self) -> Option<&ReadError> {
        self.remarks()?.error.as_ref()
    }

    /// What in it is not an object to apply.
    pub fn skipped(&self) -> &[Skip] {
        self.remarks().map_or(&[], |remarks| &remarks.skipped)
    }

    /// What Kubernetes drops or overrides silently, as far as it concerns a manifest.
    pub fn problems(&self) -> &[Problem] {
        self.remarks().map_or(&[], |remarks| &remarks.problems)
    }

    /// What Kubernetes forgives in a manifest and YAML 1.2 does not, each with its place.
    pub fn quirks(&self) -> &[(Quirk, Span)] {
        self.remarks().map_or(&[], |remarks| &remarks.quirks)
    }

    /// Its comments, in written order: those that mention this program, or all where a Secret may be.
    pub fn comments(&self) -> &[Comment] {
        self.remarks().map_or(&[], |remarks| &remarks.comments)
    }

    /// Its whole value, whatever was left out; `source` is its file.
    pub fn whole_tree(&self, source: &SourceFile) -> Option<Cow<'_, Tree>> {
        let tree = self.tree()?;
        let again = (!tree.is_whole())
            .then(|| yaml::read_whole(source, self.span, self.notation))
            .flatten();
        Some(again.map_or(Cow::Borrowed(tree), Cow::Owned))
    }

    pub(super) fn parts(&self) -> DocumentParts<'_> {
        DocumentParts {
            span: self.span,
            notation: self.notation,
            tree: self.tree(),
            objects: self.objects(),
            comments: self.comments(),
        }
    }

    /// Whether it cannot be read.
    fn is_unreadable(&self) -> bool {
        let reasons = self.skipped().iter().map(|skip| &skip.reason);
        self.tree().is_none()
            && reasons
                .into_iter()
                .any(|reason| !matches!(reason, SkipReason::Empty | SkipReason::NoIdentity(_)))
    }

    /// The document in a few bytes, if that says all there is to say. `is_one_more`: many others are unreadable, too.
    fn bare(&self, is_one_more: bool) -> Option<BareDocument> {
        let DocumentContent::Remarkable(content) = &self.content else {
            return None;
        };
        let (DocumentValue::Nothing, remarks) = &**content else {
            return None;
        };
        let [skip] = &remarks.skipped[..] else {
            return None;
        };
        let reason = match &skip.reason {
            SkipReason::Empty => BareReason::Empty,
            SkipReason::NoIdentity(value) => BareReason::NoIdentity(*value),
            SkipReason::Template(language, _) if is_one_more => BareReason::Template(*language),
            SkipReason::Unreadable(_) if is_one_more => BareReason::Unreadable,
            SkipReason::Text(_) if is_one_more => BareReason::Text,
            _ => return None,
        };
        let silent = remarks.problems.is_empty() && remarks.comments.is_empty();
        silent.then_some(BareDocument {
            index: self.index,
            span: skip.span,
            reason,
        })
    }
}

impl Remarks {
    fn skip(&mut self, span: Span, reason: SkipReason) {
        self.skipped.push(Skip { span, reason });
    }

    fn is_empty(&self) -> bool {
        let Self {
            error,
            skipped,
            problems,
            quirks,
            comments,
        } = self;
        let noticed = !problems.is_empty() || !quirks.is_empty() || !comments.is_empty();
        error.is_none() && skipped.is_empty() && !noticed
    }
}

/// `has_secrets`: what is written in it may have to be hidden, its comments too. What it says of its file and of others is added to
/// `facts`.
fn parse(
    text: &WholeText<'_>,
    document: Document,
    has_secrets: bool,
    facts: &mut FileFacts,
) -> ParsedDocument {
    let source = text.source;
    let Document {
        index,
        span,
        format: notation,
        content,
        problems,
        quirks,
        comments,
    } = document;
    let mut remarks = Remarks {
        comments,
        ..Remarks::default()
    };
    let value = match content {
        Content::Empty => {
            remarks.skip(Span::empty(span.start), SkipReason::Empty);
            DocumentValue::Nothing
        }
        Content::Unreadable(mut error) => {
            if has_secrets {
                error.message = secret::without_quotes(&error.message).into();
            }
            let unreadable = Unreadable::of(source, span, &error, || text.is_about_manifests());
            remarks.skip(error.span, unreadable.reason(&error));
            remarks.error = (unreadable == Unreadable::Manifest).then_some(error);
            DocumentValue::Nothing
        }
        Content::Value(tree) => {
            let comments = remarks
                .comments
                .iter()
                .map(|comment| (source.slice(comment.span), comment.own_line));
            let traits = DocumentTraits::of(source.slice(span), &tree, comments);
            let keeps = has_secrets || is_kept(source, index);
            match DocumentValue::of(tree, source.path(), &traits, &mut remarks.skipped, facts) {
                DocumentValue::Value(tree) if !keeps && !secret::is_secret(tree.root()) => {
                    DocumentValue::Nothing
                }
                value => value,
            }
        }
    };
    if !has_secrets {
        remarks
            .comments
            .retain(|comment| comment.text(source).contains("ownerlint"));
    }
    // A values file that contains a key twice does not matter here; a manifest that is lost after it does.
    let is_manifest = !value.objects().is_empty();
    let concerns = |problem: &Problem| is_manifest || loses_a_manifest(source, problem);
    let not_utf8 = source
        .replaced()
        .filter(|(first, _)| span.start <= first.start && first.start < span.end);
    let not_utf8 = not_utf8.map(|(first, count)| {
        let kind = ProblemKind::NotUtf8 { count };
        Problem {
            kind,
            span: first,
            related: None,
            path: String::new(),
        }
    });
    remarks.problems = problems
        .into_iter()
        .chain(not_utf8)
        .filter(concerns)
        .collect();
    if is_manifest {
        remarks.quirks = quirks;
        remarks.quirks.shrink_to_fit();
    }
    let content = match value {
        DocumentValue::Object(object) if remarks.is_empty() => DocumentContent::Plain(object),
        value => DocumentContent::Remarkable(Box::new((value, remarks))),
    };
    ParsedDocument {
        index,
        span,
        notation,
        content,
    }
}

/// Whether the value of a document is kept, whatever it is.
fn is_kept(source: &SourceFile, index: u32) -> bool {
    index == 0 || source.text().len() < LONG
}

/// Whether what Kubernetes drops may be an object.
fn loses_a_manifest(source: &SourceFile, problem: &Problem) -> bool {
    matches!(problem.kind, ProblemKind::DroppedContent { .. })
        && source.slice(problem.span).contains("apiVersion")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_without_a_reason_of_their_own_name_how_many_have_one() {
        assert!(LIKE_OTHERS.contains(&format!(" {MOST_UNREADABLE} ")));
    }
}
