//! One rule of a role. The conditions are those of Kubernetes, in its order: `RuleAllows` in
//! plugin/pkg/auth/authorizer/rbac/rbac.go, and `VerbMatches`, `APIGroupMatches`, `ResourceMatches` and
//! `ResourceNameMatches` in pkg/apis/rbac/v1/evaluation_helpers.go. Non-resource URLs are left out.

use crate::ownership::finalizer_holder::FinalizerHolder;
use crate::yaml::Value;

const ALL: &str = "*";

/// The attributes of a request that the authorizer decides about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceRequest<'a> {
    /// The verb, such as `update`.
    pub verb: &'a str,
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The plural, such as `widgets`.
    pub resource: &'a str,
    /// The subresource, such as `finalizers` or `status`; empty for the resource itself.
    pub subresource: &'a str,
    /// The name of the object; `None` for any object, so that a rule with `resourceNames` may match.
    pub name: Option<&'a str>,
}

/// One rule of a role. Fields that do not decode allow nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyRule {
    verbs: Entries,
    groups: Entries,
    /// Such as `widgets`, `widgets/status`, `*/scale`, `*`.
    resources: Entries,
    /// Empty for all names.
    resource_names: Entries,
}

/// The strings of one field, sorted for binary search: one rule may list thousands.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entries(Vec<String>);

impl Entries {
    fn new(mut texts: Vec<String>) -> Self {
        texts.sort_unstable();
        texts.dedup();
        Self(texts)
    }

    fn has(&self, text: &str) -> bool {
        self.0
            .binary_search_by(|entry| entry.as_str().cmp(text))
            .is_ok()
    }

    fn has_all_or(&self, text: &str) -> bool {
        self.has(ALL) || self.has(text)
    }

    fn has_subresource(&self, resource: &str, subresource: &str) -> bool {
        let found = self.0.binary_search_by(|entry| {
            let wanted = resource.bytes().chain(*b"/").chain(subresource.bytes());
            entry.bytes().cmp(wanted)
        });
        found.is_ok()
    }

    fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        self.0.iter().map(String::as_str)
    }
}

impl PolicyRule {
    /// Reads an entry of `rules`.
    pub fn of(rule: Value<'_>) -> Self {
        Self {
            verbs: Entries::new(rule.texts_at("verbs")),
            groups: Entries::new(rule.texts_at("apiGroups")),
            resources: Entries::new(rule.texts_at("resources")),
            resource_names: Entries::new(rule.texts_at("resourceNames")),
        }
    }

    /// Returns the rule of `cluster-admin` about resources.
    pub(super) fn everything() -> Self {
        let all = Entries::new(vec![ALL.to_owned()]);
        Self {
            verbs: all.clone(),
            groups: all.clone(),
            resources: all,
            resource_names: Entries::new(Vec::new()),
        }
    }

    /// Whether the rule allows a request.
    pub fn allows(&self, request: ResourceRequest<'_>) -> bool {
        self.verb_matches(request.verb)
            && self.api_group_matches(request.group)
            && self.resource_matches(request.resource, request.subresource)
            && self.resource_name_matches(request.name)
    }

    /// Whether the rule allows updating or patching an object whose kind is one of `resources`, through one of
    /// `subresources`; an empty one stands for the resource itself.
    pub(super) fn allows_change(
        &self,
        holder: &FinalizerHolder<'_>,
        resources: &[String],
        subresources: &[&str],
    ) -> bool {
        let mut parts = resources
            .iter()
            .flat_map(|of| subresources.iter().map(move |part| (of, part)));
        self.updates()
            && self.api_group_matches(holder.group)
            && self.resource_name_matches(holder.name)
            && parts.any(|(of, part)| self.resource_matches(of, part))
    }

    fn updates(&self) -> bool {
        self.verb_matches("update") || self.verb_matches("patch")
    }

    fn verb_matches(&self, verb: &str) -> bool {
        self.verbs.has_all_or(verb)
    }

    fn api_group_matches(&self, group: &str) -> bool {
        self.groups.has_all_or(group)
    }

    /// Whether the rule covers a resource. `*` includes all subresources, `*/finalizers` is that subresource of every
    /// resource, and a resource alone never includes its subresources.
    fn resource_matches(&self, resource: &str, subresource: &str) -> bool {
        if subresource.is_empty() {
            return self.resources.has_all_or(resource);
        }
        [resource, ALL]
            .iter()
            .any(|of| self.resources.has_subresource(of, subresource))
            || self.resources.has(ALL)
    }

    fn resource_name_matches(&self, name: Option<&str>) -> bool {
        self.resource_names.0.is_empty() || name.is_none_or(|name| self.resource_names.has(name))
    }

    /// Whether the rule covers all groups and resources. `*/finalizers` is specific to controllers.
    pub fn is_everything(&self) -> bool {
        self.groups.has(ALL) && self.mentions_everything()
    }

    /// Returns the resources that the rule allows changing, themselves or through `finalizers`; `*` stands for all.
    pub(super) fn changeable(&self) -> impl Iterator<Item = &str> {
        let updates = self.updates();
        let resources = self.resources.iter().filter(move |_| updates);
        resources.filter_map(|entry| match entry.split_once('/') {
            None => Some(entry),
            Some((of, part)) => (part == "finalizers").then_some(of),
        })
    }

    /// Returns the groups and resources that the rule allows creating, as written.
    pub fn creates(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self
            .groups
            .iter()
            .flat_map(|group| self.resources.iter().map(move |resource| (group, resource)));
        pairs.filter(|_| self.verb_matches("create"))
    }

    /// Whether the rule names this subresource of any resource.
    pub fn mentions_subresource(&self, subresource: &str) -> bool {
        self.resources.iter().any(|entry| {
            entry
                .split_once('/')
                .is_some_and(|(_, part)| part == subresource)
        })
    }

    /// Whether the rule names all resources.
    pub fn mentions_everything(&self) -> bool {
        self.resources.has(ALL)
    }

    /// Returns the resources that the rule names, directly or by a subresource.
    pub fn resources(&self) -> impl Iterator<Item = &str> {
        self.resources
            .iter()
            .map(|entry| entry.split_once('/').map_or(entry, |(of, _)| of))
    }

    /// Whether the rule names a resource of a group, or a subresource of it.
    pub fn names(&self, group: &str, resource: &str) -> bool {
        self.groups.has(group) && self.resources().any(|of| of == resource)
    }
}

/// Whether `rules` let a client set a reference with `blockOwnerDeletion: true` to an object. The
/// admission plugin OwnerReferencesPermissionEnforcement, which OpenShift turns on, requires
/// `update` of the owner's `finalizers` (plugin/pkg/admission/gc/gc_admission.go).
pub fn may_set_blocking_reference<'r>(
    rules: impl IntoIterator<Item = &'r PolicyRule>,
    group: &str,
    resource: &str,
    name: Option<&str>,
) -> bool {
    let request = ResourceRequest {
        verb: "update",
        group,
        resource,
        subresource: "finalizers",
        name,
    };
    rules.into_iter().any(|rule| rule.allows(request))
}
