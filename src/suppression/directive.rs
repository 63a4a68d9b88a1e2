//! Finds the directives of a bundle: comments, and annotations `ignore.ownerlint/<rule>`.

use rayon::prelude::*;
use smallvec::{SmallVec, smallvec};
use smol_str::SmolStr;

use super::cover::{self, Nodes, UnreadLines};
use super::syntax::{self, Fault, WrittenDirective};
use crate::inventory::{Inventory, Member};
use crate::manifest::{ParsedDocument, ParsedFile};
use crate::text::{FileId, SourceFile, Span};
use crate::yaml::Comment;

/// How a directive is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    /// `# ownerlint: ignore[rule] reason`: covers the node that it precedes, or the nodes on its line.
    Comment,
    /// `# ownerlint: ignore-document[rule] reason`, before the first key.
    Document,
    /// The annotation `ignore.ownerlint/<rule>: reason`: covers its object.
    Annotation,
}

/// A rule that a directive names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedRule {
    /// The id as written; there may be no such rule.
    pub id: SmolStr,
    /// The span of the id.
    pub span: Span,
}

/// One directive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Directive {
    /// The file.
    pub file: FileId,
    /// Its span: from the `#` to the end of the comment, or the annotation's key.
    pub place: Span,
    /// How it is written.
    pub form: Form,
    /// The rules that it ignores, in written order.
    pub rules: SmallVec<[NamedRule; 1]>,
    /// The reason.
    pub reason: Option<String>,
    /// The bytes that it covers; `None` if it belongs to no node.
    pub covers: Option<Span>,
}

/// Something that looks like a directive but is not one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The file.
    pub file: FileId,
    /// The span of the comment or the annotation's key.
    pub span: Span,
    /// The error, one clause.
    pub message: &'static str,
}

/// All directives of a bundle, in the order of their places.
#[derive(Clone, Debug, Default)]
pub struct Directives {
    /// The directives that are well-formed.
    pub directives: Vec<Directive>,
    /// Texts that look like directives but are not.
    pub malformed: Vec<Malformed>,
}

/// The prefix of the annotation, the slash included.
const ANNOTATION: &str = "ignore.ownerlint/";

impl Directives {
    /// Collects the directives of a bundle.
    pub fn new(inventory: &Inventory) -> Self {
        let mut all = Self::default();
        let files: Vec<_> = inventory.files().collect();
        let commented = files.into_par_iter().map(|(id, file)| of_file(id, file));
        for found in commented.collect::<Vec<_>>() {
            all.directives.extend(found.directives);
            all.malformed.extend(found.malformed);
        }
        for member in &inventory.members {
            all.add_annotations(inventory, member);
        }
        all.directives.sort();
        all.malformed
            .sort_by_key(|malformed| (malformed.file, malformed.span));
        all
    }

    fn add_annotations(&mut self, inventory: &Inventory, member: &Member) {
        for (key, value) in member.object.metadata().annotations().iter() {
            let Some(rule) = key.strip_prefix(ANNOTATION) else {
                if key.starts_with("ownerlint/") || key.trim_end_matches('/') == "ignore.ownerlint"
                {
                    let message =
                        "write an annotation that ignores a rule as `ignore.ownerlint/<rule>`";
                    self.add_malformed(member.file, value.key_span, message);
                }
                continue;
            };
            if rule.is_empty() {
                let message = Fault::EmptyList.message();
                self.add_malformed(member.file, value.key_span, message);
                continue;
            }
            let key_text = inventory.sources.file(member.file).slice(value.key_span);
            let start = value.key_span.start + key_text.find(rule).unwrap_or_default() as u32;
            let span = Span::new(start, (start + rule.len() as u32).min(value.key_span.end));
            self.directives.push(Directive {
                file: member.file,
                place: value.key_span,
                form: Form::Annotation,
                rules: smallvec![NamedRule {
                    id: rule.into(),
                    span
                }],
                reason: Some(value.value.trim().to_owned()).filter(|reason| !reason.is_empty()),
                covers: Some(member.object.value().span()),
            });
        }
    }

    fn add_comment(
        &mut self,
        file: FileId,
        source: &SourceFile,
        place: &Placed<'_>,
        comment: &Comment,
    ) {
        let text = comment.text(source.text());
        let written = match syntax::parse(text) {
            None => return,
            Some(Ok(written)) => written,
            Some(Err(fault)) => return self.add_malformed(file, comment.span, fault.message()),
        };
        let WrittenDirective {
            document,
            rules,
            reason,
        } = written;
        if document && comment.span.start > place.first_content {
            let message = "`ignore-document` must come before the first key of its document";
            return self.add_malformed(file, comment.span, message);
        }
        // The text begins after the `#`.
        let start = comment.span.end - text.len() as u32;
        let named = rules.into_iter().map(|rule| NamedRule {
            id: text[rule.clone()].into(),
            span: Span::new(start + rule.start as u32, start + rule.end as u32),
        });
        let (form, covers) = match &place.content {
            _ if document => (Form::Document, Some(place.document)),
            PlacedContent::Nodes(nodes) => (Form::Comment, nodes.covered(source, comment)),
            PlacedContent::Lines(lines) => (Form::Comment, lines.covered(comment)),
        };
        self.directives.push(Directive {
            file,
            place: comment.span,
            form,
            rules: named.collect(),
            reason,
            covers,
        });
    }

    fn add_malformed(&mut self, file: FileId, span: Span, message: &'static str) {
        self.malformed.push(Malformed {
            file,
            span,
            message,
        });
    }
}

/// A document whose comments are read.
struct Placed<'a> {
    document: Span,
    /// The start of its first line with content: after the comments before its first key.
    first_content: u32,
    content: PlacedContent<'a>,
}

/// The spans that a comment may cover: nodes, or lines of a document that cannot be read.
enum PlacedContent<'a> {
    Nodes(Nodes),
    Lines(UnreadLines<'a>),
}

/// Collects the directives in the comments of a file.
fn of_file(id: FileId, file: &ParsedFile) -> Directives {
    let mut found = Directives::default();
    for document in file.documents() {
        of_document(&mut found, id, file.source(), document);
    }
    found
}

fn of_document(found: &mut Directives, id: FileId, file: &SourceFile, document: &ParsedDocument) {
    let comments: Vec<&Comment> = document
        .comments
        .iter()
        .filter(|comment| syntax::begins(comment.text(file.text())))
        .collect();
    if comments.is_empty() {
        return;
    }
    let first_content = cover::first_content(file, document.span);
    let content = match (document.tree(), document.error()) {
        (Some(tree), _) => PlacedContent::Nodes(Nodes::new(tree)),
        (None, Some(_)) => PlacedContent::Lines(UnreadLines::new(file, document.span)),
        (None, None) if first_content == document.span.end => {
            for comment in comments {
                if syntax::parse(comment.text(file.text())).is_some() {
                    let message = "this document has only comments: write the directive in the document of the object";
                    found.add_malformed(id, comment.span, message);
                }
            }
            return;
        }
        (None, None) => return,
    };
    let place = Placed {
        document: document.span,
        first_content,
        content,
    };
    for comment in comments {
        found.add_comment(id, file, &place, comment);
    }
}
