//! Clients of Services: webhooks, aggregated APIs, and conversions between the versions of a kind.

use super::Spanned;
use super::selector::LabelSelector;
use crate::kube::{GroupKind, kinds};
use crate::yaml::Value;

/// A Service that the API server calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceReference {
    /// Its namespace.
    pub namespace: Spanned<String>,
    /// Its name.
    pub name: Spanned<String>,
    /// Its port; 443 if none is written.
    pub port: i64,
    /// The path of the URL; empty if none is written.
    pub path: String,
}

/// One entry of `webhooks` of a ValidatingWebhookConfiguration or MutatingWebhookConfiguration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// The index in the list.
    pub index: usize,
    /// `name`.
    pub name: Spanned<String>,
    /// `clientConfig.service`; `None` for a webhook that is called by its URL.
    pub service: Option<ServiceReference>,
    /// Whether requests are rejected if the webhook does not answer: `failurePolicy: Fail`, the default of v1.
    pub fails_closed: bool,
    /// Whether rules on one version match requests in another: `matchPolicy: Equivalent`, the default of v1.
    pub any_version: bool,
    /// `rules`: one of them has to match.
    pub rules: Vec<WebhookRule>,
    /// `namespaceSelector`.
    pub namespaces: LabelSelector,
    /// `objectSelector`.
    pub objects: LabelSelector,
    /// Whether `matchConditions` may exempt requests: CEL, which is not evaluated here.
    pub has_conditions: bool,
    /// `timeoutSeconds`; 10 if none is written, and 30 in v1beta1.
    pub timeout_seconds: i64,
}

/// Requests for which a webhook is called; `*` stands for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookRule {
    /// `operations`: `CREATE`, `UPDATE`, `DELETE`, `CONNECT`.
    pub operations: Vec<Spanned<String>>,
    /// `apiGroups`.
    pub groups: Vec<String>,
    /// `apiVersions`.
    pub versions: Vec<String>,
    /// `resources`, subresources after a slash.
    pub resources: Vec<String>,
    /// `scope`: `Namespaced`, `Cluster` or `*`; all if none is written.
    pub scope: Option<String>,
}

/// An APIService: one version of an API group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiService {
    /// `spec.group`.
    pub group: String,
    /// `spec.version`.
    pub version: String,
    /// `spec.service`; `None` for a group that the API server itself serves.
    pub service: Option<ServiceReference>,
}

/// The Services that the API server calls because of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceClient {
    /// Each of its webhooks.
    Webhooks(Vec<Webhook>),
    /// The API group that it registers.
    Api(ApiService),
    /// The webhook of a CustomResourceDefinition that converts objects between versions.
    Conversion(ServiceReference),
}

impl ServiceClient {
    /// Reads the Services of an object of that kind and version.
    pub(super) fn read(kind: GroupKind<&str>, version: &str, object: Value<'_>) -> Option<Self> {
        match kind {
            kinds::VALIDATING_WEBHOOK_CONFIGURATION | kinds::MUTATING_WEBHOOK_CONFIGURATION => {
                let webhooks = object.items_at("webhooks").enumerate();
                let webhooks =
                    webhooks.filter_map(|(index, webhook)| read_webhook(index, version, webhook));
                Some(Self::Webhooks(webhooks.collect()))
            }
            kinds::API_SERVICE => {
                let spec = object.get("spec")?;
                Some(Self::Api(ApiService {
                    group: spec.str_at(&["group"]).unwrap_or_default().to_owned(),
                    version: spec.str_at(&["version"]).unwrap_or_default().to_owned(),
                    service: spec.get("service").and_then(service),
                }))
            }
            kinds::CUSTOM_RESOURCE_DEFINITION => {
                let conversion = object.at(&["spec", "conversion"])?;
                if conversion.str_at(&["strategy"]) != Some("Webhook") {
                    return None;
                }
                // The fields of v1, then of v1beta1.
                let client = conversion.at(&["webhook", "clientConfig"]);
                let client = client.or_else(|| conversion.get("webhookClientConfig"))?;
                Some(Self::Conversion(service(client.get("service")?)?))
            }
            _ => None,
        }
    }
}

fn read_webhook(index: usize, version: &str, webhook: Value<'_>) -> Option<Webhook> {
    // The defaults of v1beta1, which 1.22 removed, were the opposite (admissionregistration v1beta1 defaults.go).
    let is_v1 = version != "v1beta1";
    Some(Webhook {
        index,
        name: Spanned::filled(webhook.entry("name")?)?,
        service: webhook.at(&["clientConfig", "service"]).and_then(service),
        fails_closed: webhook
            .str_at(&["failurePolicy"])
            .map_or(is_v1, |policy| policy == "Fail"),
        any_version: webhook
            .str_at(&["matchPolicy"])
            .map_or(is_v1, |policy| policy == "Equivalent"),
        rules: webhook.items_at("rules").map(read_rule).collect(),
        namespaces: LabelSelector::read(webhook.get("namespaceSelector")),
        objects: LabelSelector::read(webhook.get("objectSelector")),
        has_conditions: webhook.items_at("matchConditions").next().is_some(),
        timeout_seconds: webhook
            .get("timeoutSeconds")
            .and_then(Value::as_int)
            .unwrap_or(if is_v1 { 10 } else { 30 }),
    })
}

fn read_rule(rule: Value<'_>) -> WebhookRule {
    let operations = rule
        .items_at("operations")
        .filter_map(|item| Some(Spanned::of_item(item, item.as_str()?.to_owned())));
    WebhookRule {
        operations: operations.collect(),
        groups: rule.texts_at("apiGroups"),
        versions: rule.texts_at("apiVersions"),
        resources: rule.texts_at("resources"),
        scope: rule.str_at(&["scope"]).map(str::to_owned),
    }
}

fn service(service: Value<'_>) -> Option<ServiceReference> {
    Some(ServiceReference {
        namespace: Spanned::filled(service.entry("namespace")?)?,
        name: Spanned::filled(service.entry("name")?)?,
        port: service.get("port").and_then(Value::as_int).unwrap_or(443),
        path: service.str_at(&["path"]).unwrap_or_default().to_owned(),
    })
}
