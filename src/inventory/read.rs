//! Reads files in parallel. Results come in the order of the reported paths, whatever thread read them.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::walk::{InputFile, Origin, Walk, describe};
use super::{Skip, SkipReason};
use crate::manifest::{self, Object};
use crate::text::{FileId, SourceFile, Span, decode};
use crate::yaml::{self, Content, Problem, ReadError};

/// Unsaved text that stands in for a file's content: an editor's buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlay {
    /// The file, as it is or would be reported.
    pub path: String,
    /// Its unsaved text.
    pub text: String,
}

/// A document that cannot be read.
#[derive(Clone, Debug)]
pub struct UnreadableDocument {
    /// The file.
    pub file: FileId,
    /// 0-based, as Kubernetes' reader counts.
    pub document: u32,
    /// What is wrong.
    pub error: ReadError,
}

/// A file that cannot be read at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableInput {
    /// The file, known without text.
    pub file: FileId,
    /// Why, to be read after its name: `is a broken symbolic link`.
    pub reason: String,
}

/// What Kubernetes drops or overrides in silence while it reads a document.
#[derive(Clone, Debug)]
pub struct DocumentProblem {
    /// The file.
    pub file: FileId,
    /// 0-based, as Kubernetes' reader counts.
    pub document: u32,
    /// What happens.
    pub problem: Problem,
}

/// An object and where it stands.
#[derive(Clone, Debug)]
pub(super) struct ReadObject {
    pub(super) document: u32,
    pub(super) object: Object,
}

/// All that one file gave.
#[derive(Debug, Default)]
pub(super) struct ReadFile {
    pub(super) documents: usize,
    pub(super) objects: Vec<ReadObject>,
    pub(super) skipped: Vec<(u32, Span, SkipReason, String)>,
    pub(super) unreadable: Vec<(u32, ReadError)>,
    pub(super) problems: Vec<(u32, Problem)>,
}

/// A file's text, or why there is none, with what was read from it.
pub(super) struct Reading {
    pub(super) source: SourceFile,
    pub(super) outcome: Result<ReadFile, String>,
}

/// Reads every file of `walk`. Files that cannot be read stand among the others, in path order.
pub(super) fn read_all(walk: Walk, overlay: Option<&Overlay>) -> Vec<Reading> {
    let mut inputs: BTreeMap<String, Result<Origin, String>> = BTreeMap::new();
    inputs.extend(walk.files.into_iter().map(|InputFile { path, origin }| (path, Ok(origin))));
    inputs.extend(walk.unreadable.into_iter().map(|file| (file.path, Err(file.reason))));
    if let Some(overlay) = overlay {
        inputs.entry(overlay.path.clone()).or_insert(Ok(Origin::Stdin));
    }
    let inputs: Vec<_> = inputs.into_iter().collect();
    inputs.into_par_iter().map(|(path, origin)| read_one(path, origin, overlay)).collect()
}

fn read_one(path: String, origin: Result<Origin, String>, overlay: Option<&Overlay>) -> Reading {
    let text = match overlay.filter(|overlay| overlay.path == path) {
        Some(overlay) => Ok(overlay.text.clone()),
        None => origin.and_then(|origin| bytes_of(&origin)).and_then(|bytes| decode(bytes).map_err(|e| e.to_string())),
    };
    match text {
        Ok(text) => {
            let source = SourceFile::new(path, text);
            let read = read_documents(&source);
            Reading { source, outcome: Ok(read) }
        }
        Err(reason) => Reading { source: SourceFile::new(path, ""), outcome: Err(reason) },
    }
}

fn bytes_of(origin: &Origin) -> Result<Vec<u8>, String> {
    let limit = SourceFile::MAX_BYTES;
    let too_large = || format!("is larger than {} MiB", limit / 1024 / 1024);
    let mut bytes = Vec::new();
    let read = match origin {
        Origin::Stdin => std::io::stdin().lock().take(limit + 1).read_to_end(&mut bytes),
        Origin::Disk(path) => {
            if path.metadata().is_ok_and(|metadata| metadata.len() > limit) {
                return Err(too_large());
            }
            open_and_read(path, limit, &mut bytes)
        }
    };
    read.map_err(|error| describe(&error))?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

fn open_and_read(path: &Path, limit: u64, bytes: &mut Vec<u8>) -> std::io::Result<usize> {
    std::fs::File::open(path)?.take(limit + 1).read_to_end(bytes)
}

fn read_documents(source: &SourceFile) -> ReadFile {
    let mut read = ReadFile::default();
    for document in yaml::read(source) {
        read.documents += 1;
        let index = document.index;
        let objects_before = read.objects.len();
        match document.content {
            Content::Empty => {
                read.skip(index, Span::empty(document.span.start), SkipReason::Empty, "nothing but comments")
            }
            Content::Unreadable(error) if error.template => {
                read.skip(index, error.span, SkipReason::Template, &error.message);
            }
            Content::Unreadable(error) => {
                read.skip(index, error.span, SkipReason::Unreadable, &error.message);
                read.unreadable.push((index, error));
            }
            Content::Value(tree) => {
                let found = manifest::objects_of(&Arc::new(tree));
                for other in found.others {
                    read.skip(index, other.span, SkipReason::NotAManifest, &other.detail);
                }
                for object in found.objects {
                    read.keep(index, object);
                }
            }
        }
        // A values file with a key twice is nobody's business here; a manifest that is lost behind it is.
        let is_manifest = read.objects.len() > objects_before;
        let concerns = |problem: &yaml::Problem| is_manifest || loses_a_manifest(source, problem);
        read.problems.extend(document.problems.into_iter().filter(concerns).map(|problem| (index, problem)));
    }
    read
}

/// Whether what Kubernetes drops may be an object.
fn loses_a_manifest(source: &SourceFile, problem: &yaml::Problem) -> bool {
    matches!(problem.kind, yaml::ProblemKind::DroppedContent { .. })
        && source.slice(problem.span).contains("apiVersion")
}

impl ReadFile {
    fn skip(&mut self, document: u32, span: Span, reason: SkipReason, detail: &str) {
        self.skipped.push((document, span, reason, detail.to_owned()));
    }

    fn keep(&mut self, document: u32, object: Object) {
        // Kustomize's own files configure kustomize and never reach a cluster. The group tells them, not the file name:
        // Flux's Kustomization is a manifest.
        // `apiVersion: builtin` is how a configuration of kustomize's own transformers is written.
        let configures = object.group() == "kustomize.config.k8s.io" || object.api_version.value == "builtin";
        match configures {
            true => self.skip(document, object.start, SkipReason::NotAManifest, "configures kustomize"),
            false => self.objects.push(ReadObject { document, object }),
        }
    }
}

impl Skip {
    pub(super) fn new(file: FileId, (document, span, reason, detail): (u32, Span, SkipReason, String)) -> Self {
        Self { file, document, span, reason, detail }
    }
}
