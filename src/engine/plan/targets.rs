//! Targets as kubectl users type them: `deployment/web`, `deploy web`, `ns/shop`, `foos.example.com/one`, or a key.

use std::collections::{BTreeMap, BTreeSet};

use miette::Diagnostic;
use thiserror::Error;

use super::notes::unrendered_charts;
use super::target_words::{
    HOW_TO_NAME, Wanted, file_among, incomplete, is_path, parse_words, without_namespace,
};
use crate::inventory::{self, BuiltinKind, Inventory};
use crate::kube::{GroupKind, ObjectKey, guessed_plurals, kinds};
use crate::ownership::Implied;
use crate::text::{near, plain};

/// A target that matches no object, or several.
#[derive(Clone, Debug, Error, Diagnostic, PartialEq, Eq)]
#[non_exhaustive]
pub enum TargetError {
    /// A kind without a name, or a name without a kind.
    #[error("`{word}` does not say which object")]
    Incomplete {
        /// The typed word.
        word: String,
        /// A suggestion.
        #[help]
        help: String,
    },
    /// No object in the input has such a kind.
    #[error("there is no `{kind}` in the input")]
    Kind {
        /// The typed kind.
        kind: String,
        /// A suggestion.
        #[help]
        help: String,
    },
    /// Objects of the kind exist, but not this one.
    #[error("there is no `{target}` in the input")]
    Object {
        /// The typed target.
        target: String,
        /// A suggestion.
        #[help]
        help: String,
    },
    /// Several objects match.
    #[error("`{target}` matches {count} objects")]
    Ambiguous {
        /// The typed target.
        target: String,
        /// The number of objects.
        count: usize,
        /// A list of them.
        #[help]
        help: String,
    },
}

/// The names of one kind.
#[derive(Default)]
struct Names {
    /// The names in lower case.
    names: BTreeSet<String>,
    /// The order in which kubectl prefers kinds that share a name.
    rank: usize,
}

/// The possible targets of a plan.
pub(in crate::engine) struct Targets {
    kinds: BTreeMap<GroupKind, Names>,
    objects: BTreeSet<ObjectKey>,
    /// Namespace objects that the input does not contain, although it has objects in them.
    implicit: BTreeSet<ObjectKey>,
    /// Kustomizations that the Flux Operator creates: no file contains them.
    synced: BTreeSet<ObjectKey>,
    /// Charts whose templates are not rendered.
    charts: BTreeSet<String>,
    /// How a list of the objects begins: `the input contains`.
    origin: &'static str,
}

impl Targets {
    pub(super) fn new(inventory: &Inventory, implied: &Implied<'_>) -> Self {
        let members = inventory
            .members
            .iter()
            .filter(|member| member.decodes())
            .map(|member| &member.key);
        let keys = members.chain(implied.objects.iter().map(|object| &object.key));
        let used: BTreeSet<&str> = keys
            .clone()
            .filter_map(|key| key.namespace.name())
            .collect();
        let objects: BTreeSet<ObjectKey> = keys.cloned().collect();
        let namespaces = used.into_iter().map(ObjectKey::of_namespace);
        let implicit: BTreeSet<ObjectKey> =
            namespaces.filter(|key| !objects.contains(key)).collect();
        let mut targets = Self::from_keys(objects, "the input contains");
        for key in &implicit {
            targets.add_kind(key.group_kind());
        }
        targets.implicit = implicit;
        targets.charts = unrendered_charts(inventory);
        for crd in inventory
            .members
            .iter()
            .filter_map(|member| member.object.definition())
        {
            let plural = crd.plural.iter().map(|plural| plural.value.as_str());
            let names = crd.singular.iter().chain(&crd.short_names);
            targets.add_names(crd.group_kind(), plural.chain(names.map(String::as_str)));
        }
        targets
    }

    /// Creates the targets with these keys. A list of them begins with `origin`.
    pub(in crate::engine) fn from_keys(objects: BTreeSet<ObjectKey>, origin: &'static str) -> Self {
        let mut targets = Self {
            kinds: BTreeMap::new(),
            objects: BTreeSet::new(),
            implicit: BTreeSet::new(),
            synced: BTreeSet::new(),
            charts: BTreeSet::new(),
            origin,
        };
        for key in &objects {
            targets.add_kind(key.group_kind());
        }
        targets.objects = objects;
        targets
    }

    fn add_kind(&mut self, kind: GroupKind<&str>) {
        self.kinds
            .entry(kind.to_owned())
            .or_insert_with(|| names_of(kind));
    }

    /// Adds the names that a CRD gives to a kind.
    pub(in crate::engine) fn add_names<'n>(
        &mut self,
        kind: GroupKind<&str>,
        names: impl IntoIterator<Item = &'n str>,
    ) {
        if let Some(known) = self.kinds.get_mut(&kind.to_owned()) {
            let names = names.into_iter().map(str::to_lowercase);
            known.names.extend(names);
        }
    }

    /// Adds the Kustomizations that the Flux Operator creates. They cannot be targets.
    #[must_use]
    pub(super) fn with_synced(self, synced: BTreeSet<ObjectKey>) -> Self {
        Self { synced, ..self }
    }

    /// Whether `key` is a Namespace that the input does not contain, although it has objects in it.
    pub(super) fn is_implicit(&self, key: &ObjectKey) -> bool {
        self.implicit.contains(key)
    }

    /// Returns the objects that `words` name. Targets without a namespace are looked up in `namespace`.
    pub(super) fn resolve(
        &self,
        words: &[String],
        namespace: Option<&str>,
    ) -> Result<Vec<ObjectKey>, TargetError> {
        self.find_all(words, namespace)
            .map_err(|error| file_among(words).unwrap_or(error))
    }

    fn find_all(
        &self,
        words: &[String],
        namespace: Option<&str>,
    ) -> Result<Vec<ObjectKey>, TargetError> {
        let mut keys: Vec<ObjectKey> = Vec::new();
        for wanted in parse_words(words)? {
            let key = self.find(&wanted, namespace)?;
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        Ok(keys)
    }

    /// Returns the object that one line names: a key, or arguments of `kubectl delete`, such as `deployment/web -n
    /// shop`. `namespace` is for lines without one.
    pub(super) fn resolve_line(
        &self,
        line: &str,
        namespace: Option<&str>,
    ) -> Result<ObjectKey, TargetError> {
        if let Some(key) = line
            .parse()
            .ok()
            .filter(|key| self.objects.contains(key) || self.implicit.contains(key))
        {
            return Ok(key);
        }
        let (words, own) = without_namespace(line);
        match self
            .resolve(&words, own.as_deref().or(namespace))?
            .as_slice()
        {
            [key] => Ok(key.clone()),
            _ => Err(TargetError::Incomplete {
                word: line.to_owned(),
                help: HOW_TO_NAME.to_owned(),
            }),
        }
    }

    /// Returns the object that one line names, see [`Self::resolve_line`], and those that it may name: their keys have
    /// unknown parts, `{{…}}`.
    pub(in crate::engine) fn resolve_possible(
        &self,
        line: &str,
        namespace: Option<&str>,
    ) -> Result<BTreeSet<ObjectKey>, TargetError> {
        let found = self.resolve_line(line, namespace);
        let (words, own) = without_namespace(line);
        let words = match &found {
            Ok(key) => vec![key.to_string()],
            Err(TargetError::Kind { .. } | TargetError::Object { .. }) => words,
            Err(error) => return Err(error.clone()),
        };
        let namespace = own.as_deref().or(namespace);
        let mut keys = BTreeSet::new();
        for wanted in parse_words(&words)? {
            let possible = self.of_kind(wanted.kind).into_iter();
            let possible = possible.filter(|key| wanted.may_match(key, namespace));
            keys.extend(possible.cloned());
        }
        match found {
            Ok(key) => keys.insert(key),
            Err(error) if keys.is_empty() => return Err(error),
            Err(_) => false,
        };
        Ok(keys)
    }

    /// Returns the objects whose kind has the name `typed`.
    fn of_kind(&self, typed: &str) -> Vec<&ObjectKey> {
        let kinds = self.kinds.iter();
        let kinds: Vec<GroupKind<&str>> = kinds
            .filter(|(kind, names)| names.answer_to(typed, &kind.group))
            .map(|(kind, _)| kind.as_ref())
            .collect();
        let all = self.objects.iter().chain(&self.implicit);
        all.filter(|key| kinds.contains(&key.group_kind()))
            .collect()
    }

    fn find(&self, wanted: &Wanted<'_>, namespace: Option<&str>) -> Result<ObjectKey, TargetError> {
        let same = self.of_kind(wanted.kind);
        if same.is_empty() {
            let unwritten = self.unwritten(wanted);
            return Err(unwritten.unwrap_or_else(|| self.unknown_kind(wanted)));
        }
        let mut named = same.clone();
        named.retain(|key| key.name == wanted.name);
        let mut found = named.clone();
        found.retain(|key| wanted.is_in(&key.namespace, namespace));
        if found.is_empty() && matches!(wanted.namespace, Some("" | "?")) {
            // A key of a file that leaves the namespace to a delivery, or of a kind whose scope is unknown.
            let wanted = Wanted {
                namespace: None,
                ..*wanted
            };
            found = named;
            found.retain(|key| wanted.is_in(&key.namespace, namespace));
        }
        let best = found.iter().map(|key| self.rank(key)).min();
        let found: Vec<&ObjectKey> = found
            .into_iter()
            .filter(|key| Some(self.rank(key)) == best)
            .collect();
        match found[..] {
            [] => Err(self
                .unwritten(wanted)
                .unwrap_or_else(|| self.unknown_object(wanted, namespace, &same))),
            [key] => Ok(key.clone()),
            _ => Err(ambiguous(wanted, &found)),
        }
    }

    /// Returns the rank of an object's kind. If several kinds share a name, the one with the lowest rank is meant.
    fn rank(&self, key: &ObjectKey) -> usize {
        self.kinds
            .get(&key.group_kind().to_owned())
            .map_or(usize::MAX, |names| names.rank)
    }

    /// Returns the help if no name is similar: the candidates, and charts that may contain more.
    fn contains(&self, all: &[impl AsRef<str>]) -> String {
        let all = match all {
            [] => format!("{} no objects", self.origin),
            _ => format!("{}: {}", self.origin, plain::few(all)),
        };
        match self.charts.first() {
            Some(chart) => format!(
                "{all}. The templates of {chart} are not rendered: `--render` renders charts with helm"
            ),
            None => all,
        }
    }

    /// Returns the error for a Kustomization of Flux that is in the cluster but in no file.
    fn unwritten(&self, wanted: &Wanted<'_>) -> Option<TargetError> {
        let kind = kinds::FLUX_KUSTOMIZATION;
        if !names_of(kind).answer_to(wanted.kind, kind.group) {
            return None;
        }
        let synced = self.synced.iter().find(|key| key.name == wanted.name);
        let help = match synced.map(|key| (key, key.namespace.name())) {
            Some((key, Some(namespace))) => format!(
                "no file contains it: the Flux Operator creates it for a FluxInstance. Write that of the cluster to a file, \
                 `kubectl get kustomizations.kustomize.toolkit.fluxcd.io {} -n {namespace} -o yaml > ks.yaml`, and add it to \
                 the input, `-f . -f ks.yaml`",
                key.name
            ),
            _ if wanted.name == "flux-system" => {
                "`flux bootstrap` writes it to `gotk-sync.yaml`, in the folder \
                 `flux-system` of the cluster: add that file with `-f`"
                    .to_owned()
            }
            _ => return None,
        };
        Some(TargetError::Object {
            target: wanted.to_string(),
            help,
        })
    }

    fn unknown_object(
        &self,
        wanted: &Wanted<'_>,
        namespace: Option<&str>,
        same: &[&ObjectKey],
    ) -> TargetError {
        let names: BTreeSet<&str> = same.iter().map(|key| key.name.as_str()).collect();
        let near = near::similar(wanted.name, names).into_iter();
        let near = near
            .flat_map(|name| same.iter().filter(move |key| key.name == name))
            .map(ToString::to_string);
        let near: Vec<String> = near.collect();
        let all: Vec<String> = same.iter().map(ToString::to_string).collect();
        let target = match namespace.filter(|_| wanted.namespace.is_none()) {
            Some(namespace) => format!("{wanted} -n {namespace}"),
            None => wanted.to_string(),
        };
        let help = if near.is_empty() {
            self.contains(&all)
        } else {
            format!("did you mean {}?", plain::few(&near))
        };
        TargetError::Object { target, help }
    }

    fn unknown_kind(&self, wanted: &Wanted<'_>) -> TargetError {
        let (kind, word) = (wanted.kind, wanted.to_string());
        if is_path(&word) {
            return incomplete(&word);
        }
        let names = self.kinds.values().flat_map(|names| &names.names);
        let help = match near::nearest(kind, names) {
            Some(name) if !is_builtin(kind) => format!("did you mean `{name}`?"),
            _ => {
                let kinds: Vec<&str> = self.kinds.keys().map(|kind| kind.kind.as_str()).collect();
                self.contains(&kinds)
            }
        };
        TargetError::Kind {
            kind: kind.to_owned(),
            help,
        }
    }
}

/// The short names of kinds whose CustomResourceDefinitions are rarely among the input (fluxcd/flux2 manifests, argo-cd
/// manifests/crds).
const SHORT_NAMES: [(GroupKind<&str>, &[&str]); 4] = [
    (kinds::FLUX_KUSTOMIZATION, &["ks"]),
    (kinds::HELM_RELEASE, &["hr"]),
    (kinds::APPLICATION, &["app", "apps"]),
    (kinds::APPLICATION_SET, &["appset", "appsets"]),
];

/// Returns the names of a kind: those of the built-in table, else guessed plurals and known short names.
fn names_of(kind: GroupKind<&str>) -> Names {
    let rows: Vec<(usize, &BuiltinKind)> = inventory::table()
        .resources()
        .enumerate()
        .filter(|(_, row)| row.group_kind() == kind)
        .collect();
    let mut names = BTreeSet::from([kind.kind.to_lowercase()]);
    for (_, row) in &rows {
        names.extend([row.plural.clone(), row.singular.clone()]);
        names.extend(row.short_names.iter().cloned());
    }
    if rows.is_empty() {
        names.extend(guessed_plurals(kind.kind));
        let short = SHORT_NAMES.iter().filter(|(known, _)| *known == kind);
        names.extend(short.flat_map(|(_, names)| names.iter().map(|name| (*name).to_owned())));
    }
    Names {
        names,
        rank: rows.first().map_or(usize::MAX, |(rank, _)| *rank),
    }
}

fn is_builtin(kind: &str) -> bool {
    !inventory::table().by_plural_or_short_name(kind).is_empty()
}

impl Names {
    /// Whether `typed` (`deploy`, `deployments.apps`, `deployments.v1.apps`, any case) means this kind of `group`.
    fn answer_to(&self, typed: &str, group: &str) -> bool {
        let typed = typed.to_lowercase();
        let (resource, qualifier) = match typed.split_once('.') {
            Some((resource, qualifier)) => (resource, Some(qualifier)),
            None => (typed.as_str(), None),
        };
        self.names.contains(resource)
            && qualifier.is_none_or(|qualifier| {
                let after_version = qualifier.split_once('.').map(|(_, rest)| rest);
                qualifier == group || after_version == Some(group)
            })
    }
}

fn ambiguous(wanted: &Wanted<'_>, found: &[&ObjectKey]) -> TargetError {
    let keys: Vec<String> = found.iter().map(ToString::to_string).collect();
    let scoped = found.iter().any(|key| key.namespace.name().is_some());
    let hint = if scoped {
        "choose one with `-n NAMESPACE`, or write its key"
    } else {
        "write its key"
    };
    TargetError::Ambiguous {
        target: wanted.to_string(),
        count: found.len(),
        help: format!("{hint}: {}", plain::few(&keys)),
    }
}
