//! Facts that one file states about other files and about itself.

use super::mentions::{Mention, Mentions, tested_folders};
use super::object::configured_tool;
use crate::manifest::Object;
use crate::yaml::Value;

/// The file names under which kustomize finds a kustomization.
pub const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// Facts that the documents of one file state about other files and about the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// The files and folders that it names.
    pub mentions: Vec<Mention>,
    /// Whether it is a kustomization.
    pub is_kustomization: bool,
    /// Folders that contain tests, according to documents of kuttl or chainsaw; relative to the folder of the file.
    pub tested: Vec<String>,
    /// Whether a document is a kuttl `TestAssert`, so that all others are assertions.
    pub has_test_assert: bool,
    /// Whether an object lacks a name, or one of its owner references a uid.
    pub has_partial_object: bool,
    /// Whether it contains an object that no tool reads as its own configuration.
    pub has_manifest: bool,
    /// Whether an object contains a directive of a strategic merge patch.
    pub has_directive: bool,
}

impl FileFacts {
    /// Adds the facts of further documents of the file.
    pub(in crate::manifest) fn add(&mut self, said: Self) {
        self.mentions.extend(said.mentions);
        self.is_kustomization |= said.is_kustomization;
        self.tested.extend(said.tested);
        self.has_test_assert |= said.has_test_assert;
        self.has_partial_object |= said.has_partial_object;
        self.has_manifest |= said.has_manifest;
        self.has_directive |= said.has_directive;
    }

    /// Adds the facts of an object of the file.
    pub(in crate::manifest) fn add_object(&mut self, object: &Object) {
        let mut mentions = Mentions::default();
        match (object.group(), object.kind()) {
            ("kustomize.config.k8s.io", "Kustomization" | "Component") => {
                self.add_kustomization(object.value());
            }
            ("kuttl.dev", kind) => {
                self.tested.extend(tested_folders(object.value()));
                self.has_test_assert |= kind == "TestAssert";
                mentions.in_kuttl_step(object.value());
            }
            // The paths of a StepTemplate are relative to the test that uses it.
            ("chainsaw.kyverno.io", "Test") => {
                self.tested.extend(tested_folders(object.value()));
                mentions.in_chainsaw_test(object.value());
            }
            _ => {
                self.has_manifest |= configured_tool(object).is_none();
                self.has_partial_object |= is_partial(object);
            }
        }
        self.mentions.extend(mentions.found);
    }

    /// Adds the facts of a document or list item that lacks `apiVersion` or `kind`. A kustomization needs neither.
    pub(in crate::manifest) fn add_other(&mut self, path: &str, value: Value<'_>) {
        if is_kustomization(path) {
            self.add_kustomization(value);
        }
    }

    fn add_kustomization(&mut self, value: Value<'_>) {
        self.is_kustomization = true;
        let mut mentions = Mentions::default();
        mentions.in_kustomization(value);
        self.mentions.extend(mentions.found);
    }
}

/// Whether kustomize reads the file at `path` as a kustomization, whatever its content.
pub fn is_kustomization(path: &str) -> bool {
    KUSTOMIZATIONS.iter().any(|name| {
        path.strip_suffix(name)
            .is_some_and(|folder: &str| folder.is_empty() || folder.ends_with('/'))
    })
}

/// Whether it is a part of an object: the API server rejects objects without a name and owner references without a uid.
fn is_partial(object: &Object) -> bool {
    let mut references = object.metadata().owner_references().entries.iter();
    object.name().is_none() || references.any(|reference| reference.uid().is_empty())
}
