//! One operator, as a file of `rules/operators` tells it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::data::DataKind;
use super::finalizers::{Added, Controller, OwnController};
use super::generators::Generator;
use super::pattern::{ImagePattern, KindPattern};
use super::{Condition, FieldPath};

/// What is known of an operator: which finalizers it removes, what it creates, whose deletion loses data.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "operator")]
pub struct Operator {
    /// The repository of its source, owner/name, or where else the facts come from.
    pub project: Text,
    /// The release or the commit that was read. Sources without a repository are lines of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Text>,
    /// Its programs that remove finalizers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controllers: Vec<OperatorController>,
    /// It was read: it adds no finalizer to any object.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub none: bool,
    /// What it creates for an object, under a name that the object tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generates: Vec<Generator>,
    /// Which objects it makes dependents of others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owns: Vec<OwnedKind>,
    /// Kinds whose deletion deletes data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<DataKind>,
    /// The kinds that its CustomResourceDefinitions define.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crds: Vec<DefinedKind>,
}

/// What an operator's file tells, each fact on its own.
#[derive(Debug)]
pub struct Facts {
    /// Who removes which finalizer.
    pub controllers: Vec<OwnController>,
    /// What is created that no manifest contains.
    pub generators: Vec<Generator>,
    /// Which objects are made dependents of others.
    pub owns: Vec<OwnedKind>,
    /// Kinds whose deletion deletes data.
    pub data: Vec<DataKind>,
    /// The scopes of kinds.
    pub crds: Vec<DefinedKind>,
}

impl Operator {
    /// Its facts, with whole sources.
    pub fn into_facts(self) -> Facts {
        let (project, read) = (self.project, self.read);
        let whole = |source: Sources| source.whole(&project, read.as_ref());
        let controllers = self.controllers.into_iter().flat_map(|program| {
            let images: Arc<[ImagePattern]> = program.images.into();
            program
                .finalizers
                .into_iter()
                .map(move |finalizer| OwnController {
                    finalizer: finalizer.name.0,
                    controller: Controller {
                        kinds: finalizer.kinds,
                        removed_by: program.name.shared(),
                        images: Arc::clone(&images),
                        program: program.program.as_ref().map(Text::shared),
                        workload: None,
                        place: program.place.as_ref().map(Text::shared),
                        added: finalizer.added,
                        when: finalizer.when,
                        kinds_proven: finalizer.proven,
                        images_proven: program.images_proven,
                        control_plane: program.control_plane,
                        way_out: finalizer.way_out.as_ref().map(Text::shared),
                        note: finalizer.note,
                        source: whole(finalizer.source).as_text(),
                    },
                })
        });
        let generators = self.generates.into_iter().map(|row| Generator {
            source: whole(row.source),
            ..row
        });
        let owns = self.owns.into_iter().map(|row| OwnedKind {
            source: whole(row.source),
            ..row
        });
        let data = self.data.into_iter().map(|row| DataKind {
            source: whole(row.source),
            ..row
        });
        Facts {
            controllers: controllers.collect(),
            generators: generators.collect(),
            owns: owns.collect(),
            data: data.collect(),
            crds: self.crds,
        }
    }
}

/// A program that removes finalizers.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "operatorController")]
pub struct OperatorController {
    /// What messages call it, such as "the Rook operator".
    pub name: Text,
    /// The ends of the paths of its images, such as rook/ceph; `*` is any part of one segment. None: it runs in no Pod, or in
    /// an unknown image.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImagePattern>,
    /// Whether the source proves the images.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub images_proven: bool,
    /// The name of the program, where its image has several: a container whose command line names another one does not run it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Text>,
    /// It is part of the control plane, or of the cloud's: always there, in no manifest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub control_plane: bool,
    /// Where to look for it, where no image says so.
    #[serde(default, rename = "where", skip_serializing_if = "Option::is_none")]
    pub place: Option<Text>,
    /// The finalizers that it removes.
    pub finalizers: Vec<OperatorFinalizer>,
}

/// A finalizer of a controller.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "operatorFinalizer")]
pub struct OperatorFinalizer {
    /// Its name as objects have it, or a pattern in which `*` is any text without a slash.
    pub name: FinalizerName,
    /// The kinds from whose objects the controller removes it. None: from no object's metadata.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<KindPattern>,
    /// How it comes onto an object.
    pub added: Added,
    /// Conditions on the object under which it has the finalizer: all of them hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Condition>,
    /// Whether the source proves the kinds.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub proven: bool,
    /// The documented way to release an object when the controller is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way_out: Option<Text>,
    /// What else is worth knowing: one sentence, without a full stop.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Where the facts come from.
    pub source: Sources,
}

/// Objects that an operator makes dependents of another one.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "ownedKind")]
pub struct OwnedKind {
    /// The kind of the owner.
    pub kind: KindPattern,
    /// The kind of the dependents.
    pub child: KindPattern,
    /// The field of the dependent that names its owner, which is in the same namespace. Without it, only the owner reference in
    /// the cluster tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_field: Option<FieldPath>,
    /// The owner reference is inside the claim templates of a StatefulSet that the operator creates: the claims are deleted
    /// with the owner, whatever the policy of the StatefulSet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_claim_templates: bool,
    /// Whether the source proves it.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub proven: bool,
    /// What else is worth knowing: one sentence, without a full stop.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Where the facts come from.
    pub source: Sources,
}

/// A kind that a CustomResourceDefinition of the operator defines.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "definedKind")]
pub struct DefinedKind {
    /// Kind.group.
    pub kind: KindPattern,
    /// Whether its objects are in namespaces.
    pub scope: DefinedScope,
}

/// The scope of a custom resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[schemars(rename = "definedScope")]
pub enum DefinedScope {
    /// In a namespace.
    Namespaced,
    /// In none.
    Cluster,
}

/// A text that is not empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(inline)]
pub struct Text(#[schemars(length(min = 1))] Arc<str>);

impl Text {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, shared.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl From<&str> for Text {
    /// A text that the program itself writes.
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl TryFrom<String> for Text {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.trim().is_empty() {
            return Err("expects a text");
        }
        Ok(Self(text.into()))
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.0.as_ref().to_owned()
    }
}

/// The name of a finalizer as objects have it, or a pattern in which `*` is any text without a slash.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(inline)]
pub struct FinalizerName(#[schemars(length(min = 1))] String);

impl FinalizerName {
    /// The name or pattern.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for FinalizerName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || "-_./*".contains(c);
        if !text.is_empty() && text.chars().all(is_word) {
            Ok(Self(text))
        } else {
            Err(format!(
                "names `{text}`, which is not a finalizer: write it as objects have it, such as `example.com/cleanup`; `*` is any text without a slash"
            ))
        }
    }
}

impl From<FinalizerName> for String {
    fn from(name: FinalizerName) -> Self {
        name.0
    }
}

/// Where a fact comes from: `path/to/file.go#L12` in the project and at the release that was read, or `owner/name:path`, or an
/// address. At least one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
#[schemars(inline)]
pub struct Sources(#[schemars(length(min = 1))] Vec<String>);

impl Sources {
    /// A single source.
    pub fn one(source: impl Into<String>) -> Self {
        Self(vec![source.into()])
    }

    /// As one line.
    pub fn as_text(&self) -> String {
        self.0.join("; ")
    }

    /// These sources, each with its repository and release.
    fn whole(self, project: &Text, read: Option<&Text>) -> Self {
        let read = read.map_or("", Text::as_str);
        let whole = |source: String| match source.split_once("#L") {
            Some((path, _)) if !path.contains(':') => {
                format!("{}@{read}:{source}", project.as_str())
            }
            _ => source,
        };
        Self(self.0.into_iter().map(whole).collect())
    }
}

impl TryFrom<Vec<String>> for Sources {
    type Error = &'static str;

    fn try_from(sources: Vec<String>) -> Result<Self, Self::Error> {
        if sources.is_empty() || sources.iter().any(|source| source.trim().is_empty()) {
            return Err("expects where the fact comes from, such as `[path/to/file.go#L12]`");
        }
        Ok(Self(sources))
    }
}

impl From<Sources> for Vec<String> {
    fn from(sources: Sources) -> Self {
        sources.0
    }
}

pub(super) fn yes() -> bool {
    true
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks with a reference"
)]
pub(super) fn is_yes(flag: &bool) -> bool {
    *flag
}
