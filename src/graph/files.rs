//! The files of one state of a tree, by their paths from its root.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use foldhash::HashMap;
use memchr::memmem;

use super::kustomize::{KustomizationDoc, kustomization};
use super::node::Node;
use super::scopes::ClusterScopes;
use crate::charts::{ChartFolder, FolderFiles};
use crate::kustomize::{folder_of, resolve};
use crate::manifest::{KUSTOMIZATIONS, ParsedFile, is_kustomization};
use crate::text::{ColumnUnit, SourceFile, Span, decode_manifest};
use crate::yaml::{self, Content, Tree};

/// The bytes of a file, or why there are none.
pub type Bytes = Result<Arc<[u8]>, String>;

/// Reader of files that are not read yet.
pub type Reader<'r> = Box<dyn Fn(&str) -> Bytes + Send + Sync + 'r>;

/// The files of a state. Each is read and parsed on first use.
pub struct TreeFiles<'r> {
    files: BTreeMap<String, TreeFile<'r>>,
    links: BTreeSet<String>,
    reader: Reader<'r>,
    read: Mutex<HashMap<String, Bytes>>,
    parsed: Mutex<HashMap<String, Arc<Parsed>>>,
    charts: Mutex<HashMap<String, FoundChart>>,
    kustomizations: OnceLock<Vec<KustomizationDoc>>,
    scopes: OnceLock<Arc<ClusterScopes>>,
}

/// A file of the tree, with its bytes or its parsed form if they are known already.
struct TreeFile<'r> {
    bytes: Option<Bytes>,
    parsed: Option<&'r ParsedFile>,
}

/// A chart of the tree, or why it cannot be rendered.
type FoundChart = Result<Arc<ChartFolder>, String>;

/// A file as a sequence of documents.
#[derive(Debug)]
pub struct Parsed {
    /// The documents that are not empty.
    pub documents: Vec<Node>,
    /// The reason why the file cannot be read, and the line.
    pub error: Option<(String, usize)>,
    source: Option<SourceFile>,
}

impl Parsed {
    /// Returns the documents of a file that was parsed before; `None` unless the trees of all documents were kept.
    fn from_parsed_file(file: &ParsedFile) -> Option<Self> {
        let documents = file.trees()?.into_iter().filter_map(value_of);
        Some(Self {
            documents: documents.collect(),
            error: None,
            source: Some(file.source().clone()),
        })
    }

    fn unreadable(reason: String) -> Self {
        Self {
            documents: Vec::new(),
            error: Some((reason, 1)),
            source: None,
        }
    }

    /// Returns the line of a place.
    pub fn line(&self, span: Option<Span>) -> usize {
        let (Some(source), Some(span)) = (&self.source, span) else {
            return 1;
        };
        source.position(span.start, ColumnUnit::Utf8).line
    }
}

impl<'r> TreeFiles<'r> {
    /// Creates the files of a state, some of which are read already.
    pub fn new(files: BTreeMap<String, Option<Bytes>>, reader: Reader<'r>) -> Self {
        let parsed = None;
        let files = files
            .into_iter()
            .map(|(path, bytes)| (path, TreeFile { bytes, parsed }));
        Self {
            files: files.collect(),
            links: BTreeSet::new(),
            reader,
            read: Mutex::default(),
            parsed: Mutex::default(),
            charts: Mutex::default(),
            kustomizations: OnceLock::new(),
            scopes: OnceLock::new(),
        }
    }

    /// Creates the files of a state, all of which are parsed already.
    pub fn of_parsed(files: impl IntoIterator<Item = (String, &'r ParsedFile)>) -> Self {
        let files = files.into_iter().map(|(path, file)| {
            let (bytes, parsed) = (None, Some(file));
            (path, TreeFile { bytes, parsed })
        });
        Self {
            files: files.collect(),
            ..Self::new(
                BTreeMap::new(),
                Box::new(|_| Err("was not read".to_owned())),
            )
        }
    }

    /// Sets which of the files are symbolic links.
    #[must_use]
    pub fn with_links(self, links: BTreeSet<String>) -> Self {
        Self { links, ..self }
    }

    /// Sets the parsed form of some of the files.
    #[must_use]
    pub fn with_parsed<'p>(
        mut self,
        files: impl IntoIterator<Item = (&'p str, &'r ParsedFile)>,
    ) -> Self {
        for (path, parsed) in files {
            if let Some(file) = self.files.get_mut(path) {
                file.parsed = Some(parsed);
            }
        }
        self
    }

    /// Creates the files of a state, all of which are read already.
    pub fn of_texts(files: impl IntoIterator<Item = (String, Arc<[u8]>)>) -> Self {
        let files = files
            .into_iter()
            .map(|(path, bytes)| (path, Some(Ok(bytes))));
        Self::new(
            files.collect(),
            Box::new(|_| Err("does not exist".to_owned())),
        )
    }

    /// Whether there is a file at a path.
    pub fn has_file(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Whether a file is a symbolic link: it has the content of its target.
    pub fn is_link(&self, path: &str) -> bool {
        self.links.contains(path)
    }

    /// Whether there is a file or a folder at a path.
    pub fn has(&self, path: &str) -> bool {
        self.has_file(path) || self.has_folder(path)
    }

    /// Whether a file lies in or below a folder.
    pub fn has_folder(&self, folder: &str) -> bool {
        folder.is_empty() || self.below(folder).next().is_some()
    }

    /// Returns the paths of all files.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns the paths of the files that are manifests by their names, in order.
    pub fn manifests(&self) -> impl Iterator<Item = &str> {
        self.paths().filter(|path| is_manifest(path))
    }

    /// Returns the files in and below a folder, in order.
    pub fn below(&self, folder: &str) -> impl Iterator<Item = &str> {
        let start = match folder {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        let from = self.files.range(start.clone()..);
        from.take_while(move |(path, _)| path.starts_with(&start))
            .map(|(path, _)| path.as_str())
    }

    /// Returns the kustomizations of a folder; if there are several, kustomize builds nothing.
    pub fn kustomizations_of(&self, folder: &str) -> impl Iterator<Item = String> {
        Self::kustomization_names(folder).filter(|path| self.has_file(path))
    }

    /// Returns the paths at which a kustomization of a folder may be.
    pub fn kustomization_names(folder: &str) -> impl Iterator<Item = String> {
        KUSTOMIZATIONS.iter().map(move |name| resolve(folder, name))
    }

    /// Returns the first kustomization of a folder.
    pub fn kustomization_of(&self, folder: &str) -> Option<String> {
        self.kustomizations_of(folder).next()
    }

    /// Whether a file is the kustomization that builds its folder.
    pub fn builds_its_folder(&self, path: &str) -> bool {
        is_kustomization(path) && self.kustomization_of(folder_of(path)).as_deref() == Some(path)
    }

    /// Returns the bytes of a file.
    pub fn bytes(&self, path: &str) -> Bytes {
        match self.files.get(path) {
            None => return Err("does not exist".to_owned()),
            Some(TreeFile {
                bytes: Some(bytes), ..
            }) => return bytes.clone(),
            Some(TreeFile {
                parsed: Some(file), ..
            }) => return Ok(file.source().text().as_bytes().into()),
            Some(_) => {}
        }
        cached(&self.read, path, || (self.reader)(path))
    }

    fn parsed_already(&self, path: &str) -> Option<&'r ParsedFile> {
        self.files.get(path)?.parsed
    }

    /// Whether a file contains a word.
    pub fn mentions(&self, path: &str, word: &str) -> bool {
        let word = word.as_bytes();
        let is_in = |bytes: &[u8]| memmem::find(bytes, word).is_some();
        match self.parsed_already(path) {
            Some(file) => is_in(file.source().text().as_bytes()),
            None => self.bytes(path).is_ok_and(|bytes| is_in(&bytes)),
        }
    }

    /// Returns the documents of a file.
    pub fn parsed(&self, path: &str) -> Arc<Parsed> {
        cached(&self.parsed, path, || {
            let known = self.parsed_already(path).and_then(Parsed::from_parsed_file);
            Arc::new(known.unwrap_or_else(|| match self.bytes(path) {
                Ok(bytes) => parse(path, &bytes),
                Err(reason) => Parsed::unreadable(reason),
            }))
        })
    }
}

/// Returns the cached value for `path`, or caches that of `make`, which runs without the lock.
fn cached<T: Clone>(cache: &Mutex<HashMap<String, T>>, path: &str, make: impl FnOnce() -> T) -> T {
    let known = cache.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(value) = known.get(path) {
        return value.clone();
    }
    drop(known);
    let value = make();
    let mut known = cache.lock().unwrap_or_else(PoisonError::into_inner);
    known.insert(path.to_owned(), value.clone());
    value
}

impl TreeFiles<'_> {
    /// Returns all kustomizations, in the order of their paths; those that cannot be read are left out.
    pub fn kustomizations(&self) -> &[KustomizationDoc] {
        self.kustomizations.get_or_init(|| {
            let found = self.paths().filter(|path| self.builds_its_folder(path));
            found
                .filter_map(|path| kustomization(self, folder_of(path)).ok())
                .collect()
        })
    }

    /// Returns the cluster-scoped kinds.
    pub fn scopes(&self) -> &Arc<ClusterScopes> {
        self.scopes
            .get_or_init(|| Arc::new(ClusterScopes::new(self)))
    }

    /// Returns the chart in a folder.
    ///
    /// # Errors
    /// Returns the reason if it cannot be rendered.
    pub fn chart(&self, folder: &str) -> Result<Arc<ChartFolder>, String> {
        cached(&self.charts, folder, || {
            ChartFolder::read(folder, self).map(Arc::new)
        })
    }
}

impl FolderFiles for TreeFiles<'_> {
    fn below(&self, folder: &str) -> Vec<String> {
        TreeFiles::below(self, folder).map(str::to_owned).collect()
    }

    fn bytes(&self, path: &str) -> Bytes {
        TreeFiles::bytes(self, path)
    }
}

/// Parses a text that is part of a file, such as a patch of several lines.
pub fn parse_inline(text: &str) -> Parsed {
    parse("", text.as_bytes())
}

fn parse(path: &str, bytes: &[u8]) -> Parsed {
    let decoded = match decode_manifest(bytes.to_vec()) {
        Ok(decoded) => decoded,
        Err(reason) => return Parsed::unreadable(reason),
    };
    let source = SourceFile::new(path, decoded.text);
    let mut documents = Vec::new();
    let mut error = None;
    for document in yaml::read(source.shared_text()) {
        match document.content {
            Content::Empty => {}
            Content::Unreadable(reason) => {
                let line = source.position(reason.span.start, ColumnUnit::Utf8).line;
                error.get_or_insert((reason.message.to_string(), line));
            }
            Content::Value(tree) => documents.extend(value_of(&Arc::new(tree))),
        }
    }
    Parsed {
        documents,
        error,
        source: Some(source),
    }
}

/// Returns the value of a document; `None` if it is empty: kustomize skips `{}` and `[]`, too.
fn value_of(tree: &Arc<Tree>) -> Option<Node> {
    let node = Node::from_tree(tree);
    let has_parts = !node.entries().is_empty() || !node.items().is_empty();
    (node.scalar().is_some() || has_parts).then_some(node)
}

/// Whether Flux and kustomize treat a file as a manifest: its extension is case-sensitive.
pub fn is_manifest(path: &str) -> bool {
    path.ends_with(".yaml") || path.ends_with(".yml")
}
