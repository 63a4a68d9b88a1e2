//! One object on its way through a build.

use std::collections::BTreeSet;
use std::sync::Arc;

use smol_str::SmolStr;

use super::build::BuildError;
use super::namespaced::set_namespaces;
use crate::graph::node::Node;
use crate::graph::unread::{UnreadInput, What};
use crate::kube::{ApiVersion, Scope};
use crate::text::RenderedPart;

/// The estimated size of a label or an annotation in bytes, apart from its text.
const MARK: usize = 16;

/// The place where an object is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// Its file, from the root of the tree.
    pub file: Arc<str>,
    /// The line.
    pub line: usize,
    /// The byte at which it begins; for an object of a rendered chart, its number.
    pub offset: u32,
    /// Whether no file contains the object: a kustomization, a chart or an ApplicationSet at this place generates it.
    pub is_generated: bool,
    /// The template of the chart that it is rendered from: `web/templates/service.yaml`.
    pub template: Option<Arc<str>>,
    /// The file of this template, if the chart is in the tree.
    pub template_file: Option<Arc<str>>,
    /// The document that helm printed, with its comments. If it has several objects, or does not contain this one, only
    /// the comment that names the template.
    pub document: Option<Arc<str>>,
}

impl Origin {
    /// Returns the origin of the part of a rendered text at `line` that contains the object: the
    /// path that `shown` returns for its template, or else the line in `file`.
    pub fn made_part(
        &self,
        line: usize,
        file: &str,
        shown: impl FnOnce(&str) -> Option<String>,
    ) -> RenderedPart {
        match self.template_file.as_deref().and_then(shown) {
            Some(template) => (line, template.into(), 1),
            None => (line, file.into(), self.line),
        }
    }

    /// Returns the comments at the start of the document that helm printed; the first one names the
    /// template.
    pub fn comments(&self) -> String {
        let printed = self.document.as_deref().unwrap_or_default().lines();
        let comments = printed.take_while(|line| line.trim().is_empty() || line.starts_with('#'));
        comments.map(|line| format!("{line}\n")).collect()
    }

    /// Creates the error of a build that fails because of this place.
    pub fn failed(&self, reason: impl Into<String>) -> BuildError {
        BuildError::new(reason, &*self.file, self.line)
    }

    /// Creates an unread input that is named at this place.
    pub fn unread(&self, what: What, subject: impl AsRef<str>, reason: &str) -> UnreadInput {
        UnreadInput::new(what, subject.as_ref(), &self.file, self.line, reason)
    }
}

/// The identity of an object in kustomize.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ResId {
    /// The API group.
    pub group: SmolStr,
    /// The version.
    pub version: SmolStr,
    /// The kind.
    pub kind: SmolStr,
    /// The namespace as written.
    pub namespace: SmolStr,
    /// The name.
    pub name: SmolStr,
}

impl ResId {
    /// Reads the identity of an object; `None` if the object is incomplete.
    pub fn from_node(node: &Node) -> Option<Self> {
        let version = ApiVersion::split(node.str_at(&["apiVersion"]).unwrap_or_default());
        let kind = node.str_at(&["kind"]).filter(|kind| !kind.is_empty())?;
        let metadata = node.get("metadata")?;
        let name = match metadata.str_at(&["name"]) {
            Some(name) => name.into(),
            None => metadata.get("name")?.scalar()?.into(),
        };
        let namespace = metadata.str_at(&["namespace"]).unwrap_or_default();
        Some(Self {
            group: version.group.into(),
            version: version.version.into(),
            kind: kind.into(),
            namespace: namespace.into(),
            name,
        })
    }

    /// Returns the namespace as kustomize compares it: an object without one is in `default`.
    pub fn effective_namespace(&self) -> &str {
        match self.namespace.as_str() {
            _ if is_cluster_scoped(&self.group, &self.kind) => "_non_namespaceable_",
            "" => "default",
            namespace => namespace,
        }
    }

    /// Returns the identity in the form that is equal for all identities of one object (kustomize
    /// kyaml/resid/resid.go, Equals: namespace, group, version, kind, name).
    pub fn comparable(&self) -> Self {
        Self {
            namespace: self.effective_namespace().into(),
            ..self.clone()
        }
    }

    /// Returns a text that two identities share if their [comparable](Self::comparable) forms are equal.
    pub fn versioned_key(&self) -> String {
        [&*self.version, " ", &self.key()].concat()
    }

    /// Returns its key in messages.
    pub fn key(&self) -> String {
        self.key_in(match self.effective_namespace() {
            "_non_namespaceable_" => "",
            namespace => namespace,
        })
    }

    /// Returns its key in a namespace, which is empty for a cluster-scoped object.
    pub fn key_in(&self, namespace: &str) -> String {
        let dot = if self.group.is_empty() { "" } else { "." };
        [
            &*self.kind,
            dot,
            &self.group,
            "/",
            namespace,
            "/",
            &self.name,
        ]
        .concat()
    }
}

/// Whether kustomize knows a kind as cluster-scoped: it knows the built-in ones, and treats all others as namespaced.
pub fn is_cluster_scoped(group: &str, kind: &str) -> bool {
    crate::inventory::table().scope_of(group, kind) == Some(Scope::Cluster)
}

/// Whether a kind is a built-in one whose objects are in namespaces.
pub fn is_namespaced(group: &str, kind: &str) -> bool {
    crate::inventory::table().scope_of(group, kind) == Some(Scope::Namespaced)
}

/// An object, with its history in a build.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Its fields now.
    pub node: Node,
    /// Its earlier identities, the original first.
    pub previous: Arc<[ResId]>,
    /// The place where it is written.
    pub origin: Origin,
    /// The new names in its references to objects that the build renamed.
    pub references: Arc<BTreeSet<SmolStr>>,
    /// Whether its final name gets a hash of its content.
    pub needs_hash: bool,
    /// Whether it exists only under unknown conditions.
    pub is_possible: bool,
    /// Whether several ApplicationSets generate it, of which one owns it.
    pub is_disputed: bool,
}

impl Resource {
    /// Creates an object as it is written; `None` if it is incomplete.
    pub fn written(node: Node, file: &Arc<str>, line: usize) -> Option<Self> {
        ResId::from_node(&node)?;
        let offset = node.span().map(|span| span.start).unwrap_or_default();
        Some(Self {
            node,
            previous: Arc::default(),
            origin: Origin {
                file: Arc::clone(file),
                line,
                offset,
                ..Origin::default()
            },
            references: Arc::default(),
            needs_hash: false,
            is_possible: false,
            is_disputed: false,
        })
    }

    /// Returns its current identity.
    pub fn id(&self) -> ResId {
        ResId::from_node(&self.node).unwrap_or_default()
    }

    /// Whether it is an object of a kind, by its current identity.
    pub fn is_of(&self, group: &str, kind: &str) -> bool {
        self.kind() == kind && self.group() == group
    }

    /// Returns its kind.
    pub fn kind(&self) -> &str {
        self.node.str_at(&["kind"]).unwrap_or_default()
    }

    /// Returns its API group.
    pub fn group(&self) -> &str {
        ApiVersion::split(self.node.str_at(&["apiVersion"]).unwrap_or_default()).group
    }

    /// Returns its first identity.
    pub fn original(&self) -> ResId {
        self.previous.first().cloned().unwrap_or_else(|| self.id())
    }

    /// Adds its current identity to the earlier ones.
    pub fn record_identity(&mut self) {
        let id = self.id();
        if self.previous.last() == Some(&id) {
            return;
        }
        self.previous = self.previous.iter().cloned().chain([id]).collect();
    }

    /// Adds its current identity to the earlier ones, and sets its name or its namespace, by `field`.
    pub fn rename(&mut self, field: &str, text: impl Into<Arc<str>>) {
        self.record_identity();
        let metadata = self.node.entry_mut("metadata");
        metadata.set(field, Node::text(text));
    }

    /// Sets the namespaces in its references that follow the namespace of its kustomization.
    pub fn set_namespaces(&mut self, namespace: &str) {
        let id = self.id();
        if set_namespaces(&mut self.node, (&id.group, &id.kind), namespace) {
            let known = self.references.iter().cloned();
            self.references = Arc::new(known.chain([namespace.into()]).collect());
        }
    }

    /// Returns a label or an annotation, by `field`.
    pub fn meta(&self, field: &str, key: &str) -> Option<&str> {
        self.node.str_at(&["metadata", field, key])
    }

    /// Whether a label or an annotation has a value, ignoring case.
    pub fn is_marked(&self, key: &str, value: &str) -> bool {
        ["labels", "annotations"].into_iter().any(|field| {
            let mark = self.meta(field, key);
            mark.is_some_and(|mark| mark.eq_ignore_ascii_case(value))
        })
    }

    /// Returns the bytes that labels or annotations take.
    pub fn bytes_of(marks: &[(SmolStr, Node)]) -> usize {
        let bytes = marks.iter().map(|(key, value)| {
            let value = value.scalar().unwrap_or_default();
            key.len() + value.len() + MARK
        });
        bytes.sum()
    }

    /// Puts labels or annotations on it.
    pub fn mark(&mut self, field: &str, marks: &[(SmolStr, Node)]) {
        if marks.is_empty() {
            return;
        }
        let place = self.node.entry_mut("metadata").entry_mut(field);
        for (key, value) in marks {
            place.set(key, Node::text(value.scalar().unwrap_or_default()));
        }
    }
}
