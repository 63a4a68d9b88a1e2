//! The subjects of rules.

/// The subject of a rule: the folder of `src/rules/` that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Subject {
    /// Owner references: their form, their owner, and what the collector does because of them.
    References,
    /// Finalizers, and the operators that remove them.
    Finalizers,
    /// Namespaces that never finish deleting.
    Namespaces,
    /// Helm releases.
    Helm,
    /// Argo CD.
    ArgoCd,
    /// Delivery by any tool.
    Delivery,
    /// Volumes and other data.
    Data,
    /// Single objects: their metadata, kind and namespace, and Secrets for tokens.
    Objects,
    /// The effects of a change.
    Change,
    /// The input as text, and suppressions.
    Reading,
}

impl Subject {
    /// Every subject, in the order in which the documentation lists them.
    pub const ALL: [Self; 10] = [
        Self::References,
        Self::Finalizers,
        Self::Namespaces,
        Self::Helm,
        Self::ArgoCd,
        Self::Delivery,
        Self::Data,
        Self::Objects,
        Self::Change,
        Self::Reading,
    ];

    /// Returns the name on the command line: `references`.
    pub fn name(self) -> &'static str {
        match self {
            Self::References => "references",
            Self::Finalizers => "finalizers",
            Self::Namespaces => "namespaces",
            Self::Helm => "helm",
            Self::ArgoCd => "argo-cd",
            Self::Delivery => "delivery",
            Self::Data => "data",
            Self::Objects => "objects",
            Self::Change => "change",
            Self::Reading => "reading",
        }
    }

    /// Returns the title in the documentation.
    pub fn title(self) -> &'static str {
        match self {
            Self::References => "Owner references",
            Self::Finalizers => "Finalizers",
            Self::Namespaces => "Namespaces",
            Self::Helm => "Helm",
            Self::ArgoCd => "Argo CD",
            Self::Delivery => "Delivery",
            Self::Data => "Data",
            Self::Objects => "Objects",
            Self::Change => "Effects of a change",
            Self::Reading => "Reading the input and suppressions",
        }
    }
}
