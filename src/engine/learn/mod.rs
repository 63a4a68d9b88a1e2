//! `learn`: derives the facts about operators that a dump of a cluster proves, as a file that a configuration can name.

mod stream;

use std::collections::BTreeMap;
use std::io::BufRead;

use crate::inventory::table;
use crate::knowledge::{
    Added, DataFate, DataKind, DefinedKind, DefinedScope, KindPattern, Operator,
    OperatorController, OperatorFinalizer, OwnedKind, Sources, Tables, Text,
};
use crate::kube::{GroupKind, finalizers, kinds};
use crate::manifest::{Object, ParsedFile};
use crate::text::{SourceFile, plain};

pub use stream::DumpError;

/// The facts that were read from dumps.
#[derive(Debug, Default)]
pub struct Learned {
    /// Number of objects of a cluster that were read.
    pub objects: u64,
    /// Documents that cannot be read: file, line, reason.
    pub unreadable: Vec<(String, usize, String)>,
    kinds: BTreeMap<GroupKind, KindFacts>,
    /// Owner and dependent, with the number of references.
    owners: BTreeMap<(GroupKind, GroupKind), u64>,
    /// Kinds whose objects own claims or StatefulSets with claim templates, with the number of references.
    claims: BTreeMap<GroupKind, u64>,
}

#[derive(Debug, Default)]
struct KindFacts {
    objects: u64,
    in_namespaces: u64,
    finalizers: BTreeMap<String, u64>,
}

impl Learned {
    /// Reads a dump in YAML or JSON, as kubectl prints it, one object at a time.
    ///
    /// # Errors
    /// The dump cannot be read. A single document that cannot be read is added to [`unreadable`](Self::unreadable).
    pub fn read(&mut self, path: &str, dump: impl BufRead) -> Result<(), DumpError> {
        stream::split(path, dump, |piece| {
            let file = ParsedFile::parse(SourceFile::new(path, piece.text));
            for document in file.documents() {
                if let Some(error) = document.error() {
                    let reason = error.message.to_string();
                    self.unreadable.push((path.to_owned(), piece.line, reason));
                }
                for object in document.every_object() {
                    self.observe(&object);
                }
            }
        })
    }

    fn observe(&mut self, object: &Object) {
        // An object without a uid is a manifest, and proves nothing about a cluster.
        if object.uid().is_none() {
            return;
        }
        self.objects += 1;
        let metadata = object.metadata();
        let kind = object.group_kind();
        let facts = self.kinds.entry(kind.to_owned()).or_default();
        facts.objects += 1;
        facts.in_namespaces += u64::from(object.namespace().is_some());
        for finalizer in metadata.finalizers() {
            *facts.finalizers.entry(finalizer.value.clone()).or_default() += 1;
        }
        let has_claims = kind == kinds::PERSISTENT_VOLUME_CLAIM
            || kind == kinds::STATEFUL_SET
                && object
                    .at(&["spec", "volumeClaimTemplates"])
                    .is_some_and(|templates| templates.items().next().is_some());
        for reference in &metadata.owner_references().entries {
            let group = reference.group_version().group;
            let owner = GroupKind::new(group, reference.kind()).to_owned();
            *self
                .owners
                .entry((owner.clone(), kind.to_owned()))
                .or_default() += 1;
            if has_claims {
                *self.claims.entry(owner).or_default() += 1;
            }
        }
    }

    /// Returns the facts as the file of an operator, without built-in kinds, and without the data and finalizers that
    /// `tables` already has.
    pub fn operator(&self, tables: &Tables) -> Operator {
        let crds = self.kinds.iter().filter(|(kind, _)| is_custom(kind));
        let crds = crds.map(|(kind, facts)| DefinedKind {
            kind: exactly(kind),
            scope: match facts.in_namespaces {
                0 => DefinedScope::Cluster,
                _ => DefinedScope::Namespaced,
            },
        });
        let owns = self
            .owners
            .iter()
            .filter(|((owner, _), _)| is_custom(owner));
        let owns = owns.map(|((owner, child), count)| OwnedKind {
            kind: exactly(owner),
            child: exactly(child),
            owner_field: None,
            proven: true,
            note: String::new(),
            source: source(*count),
        });
        let claims = self.claims.iter().filter(|(owner, _)| {
            is_custom(owner)
                && tables
                    .data_about(&owner.group, &owner.kind)
                    .next()
                    .is_none()
        });
        let data = claims.map(|(owner, count)| DataKind {
            kinds: exactly(owner),
            lost: Text::from("its volumes"),
            when: Vec::new(),
            keep: Vec::new(),
            default: DataFate::Unknown,
            volumes: true,
            proven: true,
            note: "The reclaim policies of the volumes decide".to_owned(),
            source: source(*count),
        });
        let finalizers = self.finalizers(tables);
        let controllers = (!finalizers.is_empty()).then(|| OperatorController {
            name: Text::from("a controller of this cluster"),
            images: Vec::new(),
            images_proven: false,
            program: None,
            control_plane: false,
            place: None,
            finalizers,
        });
        Operator {
            project: Text::from("a dump of a cluster"),
            read: None,
            controllers: controllers.into_iter().collect(),
            none: false,
            generates: Vec::new(),
            owns: owns.collect(),
            data: data.collect(),
            crds: crds.collect(),
        }
    }

    /// Returns the finalizers without a known controller, each with the kinds that have it.
    fn finalizers(&self, tables: &Tables) -> Vec<OperatorFinalizer> {
        let mut found: BTreeMap<&str, Vec<(&GroupKind, u64, u64)>> = BTreeMap::new();
        for (kind, facts) in &self.kinds {
            for (finalizer, count) in &facts.finalizers {
                let known = tables.finalizers.find(finalizer);
                let is_known = finalizers::is_collectors(finalizer)
                    || known.is_some_and(|known| {
                        known.controller_of(&kind.group, &kind.kind).is_some()
                    });
                if !is_known {
                    let seen = (kind, *count, facts.objects);
                    found.entry(finalizer).or_default().push(seen);
                }
            }
        }
        let told = found.into_iter().filter_map(|(name, seen)| {
            let counts = seen
                .iter()
                .map(|(kind, count, all)| format!("{count} of {all} {}", kind.kind));
            Some(OperatorFinalizer {
                name: name.parse().ok()?,
                kinds: seen.iter().map(|(kind, ..)| exactly(kind)).collect(),
                // Even if all objects have it today, this does not prove that each gets it.
                added: Added::Sometimes,
                when: Vec::new(),
                proven: true,
                way_out: None,
                note: format!("On {}", counts.collect::<Vec<_>>().join(", ")),
                source: Sources::one("objects of a cluster"),
            })
        });
        told.collect()
    }
}

fn exactly(kind: &GroupKind) -> KindPattern {
    KindPattern::Exact {
        kind: kind.kind.as_str().into(),
        group: kind.group.as_str().into(),
    }
}

fn is_custom(kind: &GroupKind) -> bool {
    !table().is_builtin_group(&kind.group)
}

fn source(count: u64) -> Sources {
    let objects = plain::count(count as usize, "object");
    Sources::one(format!("{objects} of a cluster"))
}
