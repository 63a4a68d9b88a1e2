//! One rule of a role, read as the API server's authorizer reads it (Kubernetes plugin/pkg/auth/authorizer/rbac/rbac.go,
//! pkg/apis/rbac/v1/evaluation_helpers.go).

use crate::yaml::Value;

/// What the authorizer is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceRequest<'a> {
    /// `update`.
    pub verb: &'a str,
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The plural: `widgets`.
    pub resource: &'a str,
    /// `finalizers`, `status`; empty for the resource itself.
    pub subresource: &'a str,
    /// The object; `None`: some object, so that a rule for single objects may allow it.
    pub name: Option<&'a str>,
}

/// One rule of a role. What does not decode allows nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyRule {
    verbs: Vec<String>,
    groups: Vec<String>,
    resources: Vec<RuleResource>,
    /// Empty: all names.
    names: Vec<String>,
}

/// An entry of `resources`: `widgets`, `widgets/status`, `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RuleResource {
    entry: String,
    /// Where its `/` is, if it names a subresource.
    slash: Option<usize>,
}

impl RuleResource {
    fn new(entry: String) -> Self {
        Self { slash: entry.find('/'), entry }
    }

    /// The resource.
    fn of(&self) -> &str {
        &self.entry[..self.slash.unwrap_or(self.entry.len())]
    }

    fn subresource(&self) -> Option<&str> {
        Some(&self.entry[self.slash? + 1..])
    }

    /// Whether it names this resource, or this subresource of it.
    fn covers(&self, resource: &str, subresource: &str) -> bool {
        let of = self.of();
        match self.subresource() {
            None => of == "*" || subresource.is_empty() && of == resource,
            Some(part) => !subresource.is_empty() && part == subresource && (of == "*" || of == resource),
        }
    }
}

impl PolicyRule {
    /// Reads an entry of `rules`.
    pub fn of(rule: Value<'_>) -> Self {
        let strings = |key: &str| -> Vec<String> {
            let items = rule.get(key).into_iter().flat_map(Value::items);
            items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
        };
        Self {
            verbs: strings("verbs"),
            groups: strings("apiGroups"),
            resources: strings("resources").into_iter().map(RuleResource::new).collect(),
            names: strings("resourceNames"),
        }
    }

    /// The rule of `cluster-admin`.
    pub(super) fn everything() -> Self {
        let all = || vec!["*".to_owned()];
        Self { verbs: all(), groups: all(), resources: vec![RuleResource::new("*".to_owned())], names: Vec::new() }
    }

    /// Whether it allows a request. `*` among the resources includes their subresources, `*/finalizers` is that subresource of
    /// every one, and a resource alone never includes its subresources.
    pub fn allows(&self, request: ResourceRequest<'_>) -> bool {
        let ResourceRequest { verb, group, resource, subresource, name } = request;
        let listed = |list: &[String], wanted: &str| list.iter().any(|entry| entry == "*" || entry == wanted);
        let named = self.names.is_empty() || name.is_none_or(|name| self.names.iter().any(|entry| entry == name));
        let covered = || self.resources.iter().any(|entry| entry.covers(resource, subresource));
        listed(&self.verbs, verb) && listed(&self.groups, group) && named && covered()
    }

    /// Whether it names neither a group nor a resource. `*/finalizers` is not everything: only controllers ask for it.
    pub fn is_everything(&self) -> bool {
        self.groups.iter().any(|group| group == "*") && self.mentions_everything()
    }

    /// Whether it allows changing what it names.
    pub(super) fn changes(&self) -> bool {
        self.verbs.iter().any(|verb| matches!(verb.as_str(), "*" | "update" | "patch"))
    }

    /// The API groups, as it writes them.
    pub(super) fn groups(&self) -> &[String] {
        &self.groups
    }

    /// The single objects that it is about; none: about all.
    pub(super) fn object_names(&self) -> &[String] {
        &self.names
    }

    /// The resources of which it names this subresource, itself for the empty one. `*`: all of them.
    pub(super) fn resources_with(&self, subresource: &str) -> impl Iterator<Item = &str> {
        let covered = move |entry: &&RuleResource| match entry.subresource() {
            None => subresource.is_empty() || entry.of() == "*",
            Some(part) => !subresource.is_empty() && part == subresource,
        };
        self.resources.iter().filter(covered).map(RuleResource::of)
    }

    /// What it allows to create: groups and resources, as it writes them.
    pub fn creates(&self) -> impl Iterator<Item = (&str, &str)> {
        let creates = self.verbs.iter().any(|verb| verb == "create" || verb == "*");
        let pairs = self.groups.iter().flat_map(|group| self.resources.iter().map(move |it| (&**group, &*it.entry)));
        pairs.filter(move |_| creates)
    }

    /// Whether it names a subresource of some resource.
    pub fn mentions_subresource(&self, subresource: &str) -> bool {
        self.resources.iter().any(|entry| entry.subresource() == Some(subresource))
    }

    /// Whether it names all resources.
    pub fn mentions_everything(&self) -> bool {
        self.resources.iter().any(|resource| resource.entry == "*")
    }

    /// The resources that it names, or of which it names a subresource.
    pub fn resources(&self) -> impl Iterator<Item = &str> {
        self.resources.iter().map(RuleResource::of)
    }

    /// Whether it names a resource of a group, or a subresource of it.
    pub fn names(&self, group: &str, resource: &str) -> bool {
        self.groups.iter().any(|entry| entry == group) && self.resources().any(|of| of == resource)
    }
}

/// Whether these rules let a client set a reference with `blockOwnerDeletion: true` to an object, where the API server enforces
/// that (the admission plugin OwnerReferencesPermissionEnforcement, which OpenShift turns on): it asks for `update` of the
/// owner's `finalizers` (Kubernetes plugin/pkg/admission/gc/gc_admission.go).
pub fn may_set_blocking_reference<'r>(
    rules: impl IntoIterator<Item = &'r PolicyRule>,
    group: &str,
    resource: &str,
    name: Option<&str>,
) -> bool {
    let request = ResourceRequest { verb: "update", group, resource, subresource: "finalizers", name };
    rules.into_iter().any(|rule| rule.allows(request))
}
