//! Whether a webhook is called for a request (k8s.io/apiserver, `pkg/admission/plugin/webhook/generic/webhook.go`
//! `ShouldCallHook`, and `predicates/`).

use crate::inventory::table;
use crate::kube::{GroupKind, Namespace};
use crate::manifest::{LabelSelector, Labels, SelectorOperator, Spanned, Webhook, WebhookRule};

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AdmissionOperation {
    /// PUT and PATCH, including every removal of a finalizer.
    Update,
    /// DELETE of an object, and of each object of a collection.
    Delete,
}

impl AdmissionOperation {
    /// Returns the value as webhook rules write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// Whether a webhook is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interception {
    /// It is not called.
    No,
    /// Unknown: it depends on the labels of an object or a namespace, a CEL condition, or the version that a client
    /// sends, which the input does not show.
    Maybe,
    /// It is called.
    Yes,
}

/// The labels of an object; `None` if not all of them are known.
pub type KnownLabels<'a> = Option<Labels<'a>>;

/// The label with its own name that every Namespace gets.
const METADATA_NAME: &str = "kubernetes.io/metadata.name";

/// The kind of the object of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestedKind<'a> {
    /// The kind.
    pub kind: GroupKind<&'a str>,
    /// The names under which it may be served: its plural, or all plurals that it may have.
    pub resources: &'a [String],
    /// The versions in which it is served.
    pub versions: &'a [String],
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
}

impl RequestedKind<'_> {
    /// Whether the rules of `webhook` match such a request; `subresource` is empty for the object itself.
    pub fn matched_by(
        &self,
        webhook: &Webhook,
        operation: AdmissionOperation,
        subresource: &str,
    ) -> Interception {
        if is_exempt(self.kind) {
            return Interception::No;
        }
        let rules = webhook.rules.iter();
        let matched = rules
            .map(|rule| self.matches(rule, operation, subresource, webhook.any_version))
            .max();
        matched.unwrap_or(Interception::No)
    }

    fn matches(
        &self,
        rule: &WebhookRule,
        operation: AdmissionOperation,
        subresource: &str,
        any_version: bool,
    ) -> Interception {
        let operations = rule.operations.iter().map(Spanned::as_str);
        let mut resources = rule.resources.iter();
        if is_or_all(operations, operation.as_str())
            && is_or_all(strings(&rule.groups), self.kind.group)
            && resources.any(|resource| self.is_resource(resource, subresource))
            && self.in_scope(rule.scope.as_deref())
        {
            self.in_versions(&rule.versions, any_version)
        } else {
            Interception::No
        }
    }

    /// Whether a rule's resource matches. `pods` excludes `pods/status`; `*` excludes all subresources, `*/*` none.
    fn is_resource(&self, written: &str, subresource: &str) -> bool {
        let (resource, written_subresource) = written.split_once('/').unwrap_or((written, ""));
        (resource == "*" || self.resources.iter().any(|own| own == resource))
            && (written_subresource == "*" || written_subresource == subresource)
    }

    /// Whether a rule's scope matches. A Namespace is cluster-scoped, although a request for one names a namespace.
    fn in_scope(&self, scope: Option<&str>) -> bool {
        match scope {
            Some("Namespaced") => self.namespaced,
            Some("Cluster") => !self.namespaced,
            _ => true,
        }
    }

    fn in_versions(&self, written: &[String], any_version: bool) -> Interception {
        let named = self.versions.iter();
        let named = named.filter(|version| is_or_all(strings(written), version));
        match named.count() {
            _ if written.iter().any(|version| version == "*") => Interception::Yes,
            _ if self.versions.is_empty() => Interception::Maybe,
            0 => Interception::No,
            all if all == self.versions.len() || any_version => Interception::Yes,
            // The version of the request decides, and clients differ in it.
            _ => Interception::Maybe,
        }
    }
}

/// The object of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestedObject<'a> {
    /// The namespace in the request; for a Namespace its own name.
    pub namespace: &'a Namespace,
    /// Its labels.
    pub labels: KnownLabels<'a>,
    /// The labels of its namespace; for a Namespace its own.
    pub namespace_labels: KnownLabels<'a>,
}

impl RequestedObject<'_> {
    /// Whether the selectors and conditions of `webhook` select a request for the object.
    pub fn selected_by(&self, webhook: &Webhook) -> Interception {
        let conditions = if webhook.has_conditions {
            Interception::Maybe
        } else {
            Interception::Yes
        };
        // Only the namespace selector assumes the automatic label.
        conditions
            .min(selected(&webhook.objects, self.labels, None))
            .min(self.in_namespaces(&webhook.namespaces))
    }

    /// Whether the namespace selector matches. It never exempts cluster-scoped objects other than Namespaces.
    fn in_namespaces(&self, selector: &LabelSelector) -> Interception {
        match self.namespace {
            Namespace::None => Interception::Yes,
            Namespace::Unwritten => selected(selector, None, None),
            Namespace::Named(name) => selected(selector, self.namespace_labels, Some(name)),
        }
    }
}

/// Whether a selector matches labels. `name` is the name of the Namespace if they are those of one.
fn selected(selector: &LabelSelector, labels: KnownLabels<'_>, name: Option<&str>) -> Interception {
    let each = selector.requirements.iter().map(|requirement| {
        let automatic = name.filter(|_| requirement.key == METADATA_NAME);
        let value = automatic.or_else(|| Some(labels?.get(&requirement.key)?.value));
        match (value, labels, &requirement.operator) {
            (_, _, SelectorOperator::Unknown) | (None, None, _) => Interception::Maybe,
            _ if requirement.holds(value) => Interception::Yes,
            _ => Interception::No,
        }
    });
    each.min().unwrap_or(Interception::Yes)
}

/// Whether a kind is exempt: requests for the configuration of admission are never sent to webhooks, since otherwise a
/// broken configuration could not be repaired (`predicates/rules/rules.go` `IsExemptAdmissionConfigurationResource`).
fn is_exempt(kind: GroupKind<&str>) -> bool {
    kind.group == "admissionregistration.k8s.io"
        && table().scope_of(kind.group, kind.kind).is_some()
}

fn is_or_all<'s>(mut written: impl Iterator<Item = &'s str>, wanted: &str) -> bool {
    written.any(|one| one == "*" || one == wanted)
}

fn strings(list: &[String]) -> impl Iterator<Item = &str> {
    list.iter().map(String::as_str)
}
