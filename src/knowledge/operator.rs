//! One operator, as a file of `rules/operators` describes it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::data::DataKind;
use super::finalizers::{Added, Controller, OwnController};
use super::generators::Generator;
use super::pattern::{ImagePattern, KindPattern};
use super::source::{ReadProject, Sources};
use super::written::serde_as_text;
use super::{Condition, FieldPath};

/// An operator: the finalizers that it removes, the objects that it creates, the objects whose deletion loses data.
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
    /// Its source was read, and it adds no finalizer to any object.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub none: bool,
    /// Objects that it creates for an object, under a name that follows from the object.
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

impl Operator {
    /// Creates a template for a new file, with placeholders in capitals. `finalizer` has its kind, if that is known.
    pub fn sketch(name: &str, finalizer: Option<(&FinalizerName, Option<&KindPattern>)>) -> Self {
        let (finalizer, kind) = finalizer.unzip();
        let kind = kind.flatten().cloned();
        let removed = OperatorFinalizer {
            name: finalizer
                .cloned()
                .unwrap_or_else(|| FinalizerName(format!("{name}.example.com/FINALIZER"))),
            kinds: vec![kind.unwrap_or_else(|| KindPattern::parse("KIND.example.com"))],
            added: Added::Always,
            when: Vec::new(),
            proven: true,
            way_out: None,
            note: String::new(),
            source: Sources::one("path/to/file.go#L1"),
        };
        let controller = OperatorController {
            name: Text(format!("the {name} operator").into()),
            images: ImagePattern::of_reference(&format!("OWNER/{name}"))
                .into_iter()
                .collect(),
            images_proven: true,
            program: None,
            control_plane: false,
            place: None,
            finalizers: vec![removed],
        };
        Self {
            project: Text(format!("OWNER/{name}").into()),
            read: Some(Text::from("COMMIT")),
            controllers: vec![controller],
            none: false,
            generates: Vec::new(),
            owns: Vec::new(),
            data: Vec::new(),
            crds: Vec::new(),
        }
    }

    /// Whether it defines or handles kinds of a group that is not one of Kubernetes.
    pub fn has_group(&self, group: &str) -> bool {
        let defined = self.crds.iter().map(|defined| &defined.kind);
        let mut kinds = defined.chain(self.generates.iter().map(|row| &row.kinds));
        group.contains('.')
            && !group.ends_with("k8s.io")
            && kinds
                .any(|kinds| matches!(kinds, KindPattern::Exact { group: own, .. } if own == group))
    }

    /// Whether one of its controllers removes a finalizer with this name; false for patterns.
    pub fn has_finalizer(&self, name: &str) -> bool {
        let mut removed = self.controllers.iter().flat_map(|one| &one.finalizers);
        removed.any(|removed| removed.name.as_str() == name)
    }

    /// Writes its file. `remark` contains comment lines for the beginning, each with its line break; `schema` is the
    /// path of the schema relative to the file.
    ///
    /// # Errors
    /// A value cannot be written as YAML; this never happens to one that was read from a file or sketched.
    pub fn to_file(&self, schema: &str, remark: &str) -> Result<String, serde_yaml::Error> {
        let text = serde_yaml::to_string(self)?;
        Ok(format!(
            "# yaml-language-server: $schema={schema}\n{remark}{text}"
        ))
    }
}

/// The address of the operator schema, for users outside of this project.
pub const OPERATOR_SCHEMA: &str = concat!(
    env!("CARGO_PKG_REPOSITORY"),
    "/raw/main/rules/schema/operator.schema.json"
);

/// Facts about operators, one by one: of a file, of all bundled files, or of a configuration.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Controllers, each with a finalizer that it removes.
    pub controllers: Vec<OwnController>,
    /// Objects that the operator creates although no manifest contains them.
    pub generators: Vec<Generator>,
    /// Objects that the operator makes dependents of others.
    pub owns: Vec<OwnedKind>,
    /// Kinds whose deletion deletes data.
    pub data: Vec<DataKind>,
    /// The scopes of kinds.
    pub crds: Vec<DefinedKind>,
}

impl Facts {
    /// Adds other facts after these.
    pub fn add(&mut self, other: Self) {
        self.controllers.extend(other.controllers);
        self.generators.extend(other.generators);
        self.owns.extend(other.owns);
        self.data.extend(other.data);
        self.crds.extend(other.crds);
    }
}

impl Operator {
    /// Splits it into facts, whose sources name the project and release.
    pub fn into_facts(mut self) -> Facts {
        let read = Arc::new(ReadProject {
            project: self.project.shared(),
            release: self.read.as_ref().map(Text::shared),
        });
        let read = &read;
        let generators = self.generates.iter_mut().map(|row| &mut row.source);
        let owns = self.owns.iter_mut().map(|row| &mut row.source);
        let data = self.data.iter_mut().map(|row| &mut row.source);
        for source in generators.chain(owns).chain(data) {
            source.set_project(read);
        }
        let controllers = self.controllers.into_iter().flat_map(|program| {
            let images: Arc<[ImagePattern]> = program.images.into();
            program.finalizers.into_iter().map(move |mut finalizer| {
                finalizer.source.set_project(read);
                OwnController {
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
                        source: finalizer.source,
                    },
                }
            })
        });
        Facts {
            controllers: controllers.collect(),
            generators: self.generates,
            owns: self.owns,
            data: self.data,
            crds: self.crds,
        }
    }
}

/// A program that removes finalizers.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "operatorController")]
pub struct OperatorController {
    /// Its name in messages, such as "the Rook operator".
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
    /// It is part of the control plane, or of the cloud provider's: it always runs, and no manifest contains it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub control_plane: bool,
    /// Where to look for it, if no image identifies it.
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
    /// How an object gets it.
    pub added: Added,
    /// Conditions on the object under which it has the finalizer: all of them hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<Condition>,
    /// Whether the source proves the kinds.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub proven: bool,
    /// The documented remedy if the controller is gone, unless that is just to remove the finalizer: "run
    /// `flux uninstall`".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub way_out: Option<Text>,
    /// A further fact: one sentence, without a full stop.
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
    /// the cluster shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner_field: Option<FieldPath>,
    /// Whether the source proves it.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub proven: bool,
    /// A further fact: one sentence, without a full stop.
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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[schemars(inline)]
pub struct Text(#[schemars(length(min = 1))] Arc<str>);

impl Text {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text as a shared pointer.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl From<&str> for Text {
    /// Converts a text of the program itself, which must not be empty.
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Text {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim().is_empty() {
            return Err("expects a text");
        }
        Ok(text.into())
    }
}

serde_as_text!(Text);

/// The name of a finalizer as objects have it, or a pattern in which `*` is any text without a slash.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[schemars(inline)]
pub struct FinalizerName(#[schemars(length(min = 1))] String);

impl FinalizerName {
    /// Returns the name or pattern.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for FinalizerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for FinalizerName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut bytes = text.bytes();
        if !text.is_empty()
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-_./*".contains(&byte))
        {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!(
                "names `{text}`, which is not a finalizer: write it as objects have it, such as `example.com/cleanup`; \
                 `*` is any text without a slash"
            ))
        }
    }
}

serde_as_text!(FinalizerName);

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
