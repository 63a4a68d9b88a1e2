//! The scopes of kinds, from the built-in table, the CRDs in the input, and the kinds that the user adds. A kind that
//! none of them defines stays unknown; its scope is never guessed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ObjectId;
use super::builtin::{self, Release, Served};
use crate::kube::{ApiVersion, GroupKind, KindMap, Scope, guessed_plurals};
use crate::manifest::CustomResourceDefinition;

/// A kind that the user adds in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtraKind {
    /// API group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// The served versions; if empty, all of them.
    pub versions: Vec<String>,
    /// Scope.
    pub scope: Scope,
}

/// Where the scope of a kind comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeSource {
    /// The built-in table.
    BuiltIn,
    /// A CRD in the input.
    Crd(ObjectId),
    /// The configuration.
    Config,
    /// No source.
    None,
}

/// Whether a group, version and kind is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Serving {
    /// It is served.
    Yes,
    /// Built in, but an alpha or beta version that a cluster serves only when it is turned on.
    OffByDefault {
        /// The apiVersions of its group that serve the kind by default.
        served_as: Vec<String>,
    },
    /// Built in once, and since removed.
    Removed {
        /// The release that removed it.
        in_release: Release,
        /// The apiVersion that serves the kind now; `None` when the kind is gone.
        replacement: Option<String>,
    },
    /// Built in, but only in later releases than the one in use.
    NotYet {
        /// The first release that serves it.
        introduced_in: Release,
    },
    /// No release served the kind in this version.
    Never {
        /// The apiVersions under which a kind of that name is served.
        served_as: Vec<String>,
    },
    /// A CRD in the input defines the kind, but not this version.
    NotByCrd {
        /// The CRD.
        crd: ObjectId,
        /// The versions that it serves; shared by all objects of the kind.
        served: Arc<[String]>,
    },
    /// The group is neither built in nor defined in the input.
    Unknown,
}

/// The facts about a group, version and kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The scope; `None` is unknown.
    pub scope: Option<Scope>,
    /// Where the scope comes from.
    pub source: ScopeSource,
    /// Whether it is served.
    pub serving: Serving,
}

/// A kind that CRDs in the input define. A CRD that appears twice serves the union of the versions.
#[derive(Clone, Debug, Default)]
struct Defined {
    crds: Vec<ObjectId>,
    /// Version → whether some copy serves it.
    versions: BTreeMap<String, bool>,
    /// The first plural that a copy contains.
    plural: Option<String>,
    /// `None` if the copies disagree or none has a scope.
    scope: Option<Scope>,
    disagree: bool,
    /// Whether the release accepts at least one of the copies.
    is_served: bool,
    /// The versions that some copy serves.
    served: Arc<[String]>,
}

/// The first release that serves no CustomResourceDefinition in v1beta1.
const WITHOUT_BETA_CRDS: Release = Release::new(22);

/// All kinds that the input may use.
#[derive(Clone, Debug, Default)]
pub struct Kinds {
    release: Release,
    defined: KindMap<Defined>,
    extra: Vec<ExtraKind>,
}

impl Kinds {
    /// Combines the built-in kinds of `release` with CRDs and additions.
    pub fn new<'a>(
        release: Release,
        crds: impl IntoIterator<Item = (ObjectId, &'a CustomResourceDefinition)>,
        extra: Vec<ExtraKind>,
    ) -> Self {
        let mut copies: BTreeMap<GroupKind, Defined> = BTreeMap::new();
        for (id, crd) in crds {
            let kind = copies.entry(crd.group_kind().to_owned()).or_default();
            // A v1beta1 CRD defines the scope even if the release does not accept it.
            let is_served = !crd.is_beta || release < WITHOUT_BETA_CRDS;
            kind.is_served |= is_served;
            kind.crds.push(id);
            if kind.plural.is_none() {
                kind.plural = crd.plural.as_ref().map(|plural| plural.value.clone());
            }
            for version in crd.versions.iter().filter(|_| is_served) {
                *kind.versions.entry(version.name.value.clone()).or_default() |= version.served;
            }
            let scope = crd.scope.as_ref().map(|scope| scope.value);
            kind.disagree |= kind.scope.is_some() && scope.is_some() && kind.scope != scope;
            kind.scope = if kind.disagree {
                None
            } else {
                kind.scope.or(scope)
            };
        }
        let mut defined = KindMap::default();
        for (of, mut kind) in copies {
            let served = kind.versions.iter().filter(|(_, served)| **served);
            kind.served = served.map(|(version, _)| version.clone()).collect();
            defined.insert(of.as_ref(), kind);
        }
        Self {
            release,
            defined,
            extra,
        }
    }

    /// Returns the release whose built-in kinds are known.
    pub fn release(&self) -> Release {
        self.release
    }

    /// Returns the kinds that the user adds.
    pub fn extra(&self) -> &[ExtraKind] {
        &self.extra
    }

    /// Returns the facts about `kind` in that group and version. The scope does not depend on the version ([SCOPE-5]).
    pub fn resolve(&self, api_version: ApiVersion<&str>, kind: &str) -> Resolution {
        let ApiVersion { group, version } = api_version;
        let extra = self
            .extra
            .iter()
            .find(|extra| extra.group == group && extra.kind == kind);
        if let Some(extra) = extra.filter(|extra| {
            extra.versions.is_empty() || extra.versions.iter().any(|served| served == version)
        }) {
            return Resolution {
                scope: Some(extra.scope),
                source: ScopeSource::Config,
                serving: Serving::Yes,
            };
        }
        if let Some(defined) = self.defined.get(GroupKind::new(group, kind)) {
            return defined.resolve(version);
        }
        let table = builtin::table();
        let scope = table.scope_of(group, kind);
        let serving = match table.served(group, version, kind, self.release) {
            Served::Yes(_) => Serving::Yes,
            Served::YesUntil(kind) if kind.enabled_by_default => Serving::Yes,
            Served::YesUntil(_) | Served::OffByDefault(_) => {
                let mut served_as = table.served_as(group, kind, self.release);
                served_as.retain(|api_version| ApiVersion::split(api_version).group == group);
                Serving::OffByDefault { served_as }
            }
            Served::Removed(kind) => Serving::Removed {
                in_release: kind.removed_in,
                replacement: kind.replacement_api_version.clone(),
            },
            Served::NotYet { introduced_in } => Serving::NotYet { introduced_in },
            Served::Never { served_as } => Serving::Never { served_as },
            Served::UnknownGroup => Serving::Unknown,
        };
        let source = if scope.is_some() {
            ScopeSource::BuiltIn
        } else {
            ScopeSource::None
        };
        Resolution {
            scope,
            source,
            serving,
        }
    }

    /// Returns the CRDs in the input that define a kind; several if the CRD appears more than once.
    pub fn crds_of(&self, kind: GroupKind<&str>) -> &[ObjectId] {
        self.defined.get(kind).map_or(&[], |defined| &defined.crds)
    }

    /// Returns the plural from a CRD in the input or from the built-in table.
    pub fn plural(&self, kind: GroupKind<&str>) -> Option<&str> {
        let defined = self.defined.get(kind);
        let plural = defined.and_then(|defined| defined.plural.as_deref());
        plural.or_else(|| builtin::table().plural_of(kind))
    }

    /// Returns the resource names of a kind in requests, RBAC and webhooks: its plural, or else every likely plural.
    pub fn resources(&self, kind: GroupKind<&str>) -> Vec<String> {
        match self.plural(kind) {
            Some(plural) => vec![plural.to_owned()],
            None => guessed_plurals(kind.kind),
        }
    }
}

impl Defined {
    fn resolve(&self, version: &str) -> Resolution {
        let crd = self.crds.first().copied();
        let serving = match (self.versions.get(version), crd) {
            (Some(true), _) => Serving::Yes,
            (_, Some(crd)) if self.is_served => Serving::NotByCrd {
                crd,
                served: Arc::clone(&self.served),
            },
            _ => Serving::Unknown,
        };
        let source = crd
            .filter(|_| self.scope.is_some())
            .map_or(ScopeSource::None, ScopeSource::Crd);
        Resolution {
            scope: self.scope,
            source,
            serving,
        }
    }
}
