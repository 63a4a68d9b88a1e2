//! Inputs that determine which objects are applied, but are not evaluated.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::text::without_credentials;

/// The kinds of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// A Helm chart.
    Chart,
    /// A resource, a component or a patch that is on the network, encrypted or missing.
    Remote,
    /// A variable, or values of a chart, that only the cluster knows.
    Variable,
    /// A template that is not evaluated.
    Template,
    /// A generator that is a program, or that reads a cluster, a service or another repository.
    Generator,
    /// A program that makes manifests.
    Plugin,
    /// A Jsonnet program.
    Jsonnet,
    /// A transformer, or a replacement that may change the identity of objects.
    Transformer,
    /// A repository, an artifact or a bucket that is not this tree, or another revision of this tree.
    OtherRepository,
    /// An input beyond a limit.
    Limit,
}

impl What {
    /// Returns its name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chart => "chart",
            Self::Remote => "remote",
            Self::Variable => "variable",
            Self::Template => "template",
            Self::Generator => "generator",
            Self::Plugin => "plugin",
            Self::Jsonnet => "jsonnet",
            Self::Transformer => "transformer",
            Self::OtherRepository => "other-repository",
            Self::Limit => "limit",
        }
    }

    /// Whether such an input contains objects, which kustomizations transform.
    fn has_objects(self) -> bool {
        matches!(self, Self::Chart | Self::Remote | Self::Generator)
    }
}

/// An input that was not read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnreadInput {
    /// The kind of the input.
    pub what: What,
    /// Its name.
    pub subject: String,
    /// The file that names it, from the root of the tree.
    pub file: String,
    /// The line.
    pub line: usize,
    /// Why it was not read.
    pub reason: String,
    /// A fingerprint of the transformations that set the names and namespaces of its objects.
    pub transformed: u64,
}

impl UnreadInput {
    /// Creates an input that a line of a file names. The subject may be a URL: its user and password are removed.
    pub fn new(what: What, subject: &str, file: &str, line: usize, reason: &str) -> Self {
        Self {
            what,
            subject: without_credentials(subject),
            file: file.to_owned(),
            line,
            reason: reason.to_owned(),
            transformed: 0,
        }
    }

    /// Adds a transformation to the fingerprints of all inputs that contain objects.
    pub(super) fn transform(all: &mut [Self], by: impl Hash) {
        for one in all.iter_mut().filter(|one| one.what.has_objects()) {
            let mut hasher = DefaultHasher::new();
            (one.transformed, &by).hash(&mut hasher);
            one.transformed = hasher.finish();
        }
    }
}
