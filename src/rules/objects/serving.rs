//! Owner references and objects whose kind the API server does not serve.

use crate::cluster::{Analysis, Nearness};
use crate::finding::Severity;
use crate::inventory::{Inventory, Member, Serving, table};
use crate::kube::{ApiVersion, GroupKind};
use crate::manifest::Object;
use crate::rules::draft::Draft;
use crate::rules::rule::{Context, Rule, Sink, rule};

pub(in crate::rules) static KIND_NOT_SERVED: Rule = rule!(
    Objects,
    "kind-not-served",
    Error,
    Rejected,
    "The API server does not serve the object's kind",
    kind_not_served
)
.once_per_message()
.of_applied();

/// [SCOPE-1]: there is no match for the kind, so every client rejects the object.
fn kind_not_served(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    for member in &inventory.members {
        let object = &member.object;
        let serving = &member.resolution.serving;
        // Kinds that the input does not define are usually installed separately.
        if *serving == Serving::Unknown {
            continue;
        }
        let (kind, api_version) = (object.kind(), object.api_version());
        let Some(unserved) = Unserved::of(inventory, serving, kind, api_version) else {
            continue;
        };
        if object.group_version().version.is_empty() || kind.is_empty() || is_client_file(member) {
            continue;
        }
        sink.push_with(|| {
            let unserved = unserved.beside(context.analysis, member, object.group_kind());
            let unserved = if matches!(serving, Serving::Never { .. }) {
                unserved.worded_for(object)
            } else {
                unserved
            };
            let what = unserved.what;
            let message = format!("kind {kind} in `{api_version}` is not served: {what}");
            let draft = Draft::on(member, object.api_version_span(), message)
                .severity(unserved.severity)
                .label(unserved.label)
                .reason(format!(
                    "Clients cannot apply the object: `no matches for kind`. {}",
                    unserved.reason
                ))
                .help(unserved.help)
                .field("apiVersion");
            with_crd(draft, inventory, serving)
        });
    }
}

/// Whether the object is a kubeconfig file: `apiVersion: v1` and `kind: Config`, never applied to a cluster.
fn is_client_file(member: &Member) -> bool {
    member.object.is(GroupKind::new("", "Config"))
}

/// Kinds that OpenShift 3 served in `v1` before it had API groups, if often written by hand.
const OPENSHIFT_LEGACY_KINDS: [&str; 29] = [
    "Build",
    "BuildConfig",
    "ClusterNetwork",
    "ClusterPolicy",
    "ClusterPolicyBinding",
    "ClusterResourceQuota",
    "ClusterRole",
    "ClusterRoleBinding",
    "DeploymentConfig",
    "EgressNetworkPolicy",
    "Group",
    "HostSubnet",
    "Identity",
    "Image",
    "ImageStream",
    "ImageStreamImport",
    "ImageStreamTag",
    "NetNamespace",
    "OAuthClient",
    "PolicyBinding",
    "Project",
    "ProjectRequest",
    "Role",
    "RoleBinding",
    "RoleBindingRestriction",
    "Route",
    "SecurityContextConstraints",
    "Template",
    "User",
];

/// The explanation of why a kind is not served.
pub(in crate::rules) struct Unserved {
    pub(in crate::rules) severity: Severity,
    pub(in crate::rules) what: String,
    pub(in crate::rules) label: String,
    pub(in crate::rules) reason: String,
    pub(in crate::rules) help: String,
}

impl Unserved {
    pub(in crate::rules) fn of(
        inventory: &Inventory,
        serving: &Serving,
        kind: &str,
        api_version: &str,
    ) -> Option<Self> {
        let release = inventory.kinds.release();
        let unserved = match serving {
            Serving::Yes => return None,
            Serving::Unknown => Self {
                severity: Severity::Info,
                what: "neither Kubernetes nor a CRD in the input defines it".to_owned(),
                label: "unknown group".to_owned(),
                reason: "This assumes that the cluster has no CRD of the kind: the input has none.".to_owned(),
                help: format!("check the group and version, or add the CRD of {kind} to the input"),
            },
            Serving::OffByDefault { served_as } => Self {
                severity: Severity::Info,
                what: format!("it is off by default in Kubernetes {release}"),
                label: "off by default".to_owned(),
                reason: "Alpha and beta versions of built-in kinds are off unless `--runtime-config` of the API server names them.".to_owned(),
                help: match served_as.as_slice() {
                    [] => format!("make sure that every target cluster serves `{api_version}`"),
                    versions => format!("write `apiVersion: {}`, which Kubernetes {release} serves", versions.join("` or `")),
                },
            },
            Serving::Removed { in_release, replacement } => Self {
                severity: Severity::Warning,
                what: format!("Kubernetes {in_release} removed it"),
                label: format!("not served since {in_release}"),
                reason: format!("A cluster of release {in_release} or later does not serve it."),
                help: match replacement {
                    Some(replacement) => format!("write `apiVersion: {replacement}`; its fields may differ"),
                    None => "the kind has no replacement: remove it".to_owned(),
                },
            },
            Serving::NotYet { introduced_in } => Self {
                severity: Severity::Warning,
                what: format!("Kubernetes {introduced_in} introduced it, and {release} does not have it"),
                label: format!("served since {introduced_in}"),
                reason: format!("A cluster of release {release} does not serve it."),
                help: format!("write a version that {release} serves, or check with `--kubernetes-version {introduced_in}`"),
            },
            Serving::Never { served_as } if api_version == "v1" && OPENSHIFT_LEGACY_KINDS.contains(&kind) => Self {
                severity: Severity::Warning,
                what: "only the legacy API of OpenShift 3 had it".to_owned(),
                label: "OpenShift 3 only".to_owned(),
                reason: "OpenShift 3 served its kinds in `v1`; since then they have their own groups.".to_owned(),
                help: match served_as.as_slice() {
                    [] => format!("write the group, as `oc api-resources` shows it for {kind}"),
                    versions => format!("{kind} is served as `{}`", versions.join("` or `")),
                },
            },
            Serving::Never { served_as } if ["v1beta1", "v1beta2", "v1beta3"].contains(&api_version) => Self {
                severity: Severity::Warning,
                what: "no release since Kubernetes 1.0 has it".to_owned(),
                label: "from before 1.0".to_owned(),
                reason: "The first releases had the core kinds in versions that clusters no longer serve.".to_owned(),
                help: match served_as.as_slice() {
                    [] => format!("check the spelling of `{kind}` and of `{api_version}`"),
                    versions => format!("write `apiVersion: {}`", versions.join("` or `")),
                },
            },
            Serving::Never { served_as } => Self {
                severity: Severity::Error,
                what: "no Kubernetes release ever had it".to_owned(),
                label: "never served".to_owned(),
                reason: "The group is built into Kubernetes, so no CRD can add the kind.".to_owned(),
                help: match served_as.as_slice() {
                    [] => gone(kind, api_version).unwrap_or_else(|| format!("check the spelling of `{kind}` and of `{api_version}`")),
                    versions => format!("{kind} is served as `{}`", versions.join("` or `")),
                },
            },
            Serving::NotByCrd { served, .. } => Self {
                severity: Severity::Error,
                what: "the CRD in the input does not serve that version".to_owned(),
                label: "not served by the CRD".to_owned(),
                reason: "The API server serves only the versions that the CRD marks `served: true`.".to_owned(),
                help: match &served[..] {
                    [] => "no version of the CRD is served: set `served: true`".to_owned(),
                    versions => {
                        let (shown, more) = versions.split_at(versions.len().min(MAX_VERSIONS));
                        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
                        format!("the CRD serves `{}`{more}", shown.join("`, `"))
                    }
                },
            },
        };
        Some(unserved)
    }
}

/// Describes the removal of a kind that earlier releases served in another version of the group; `None` if none did.
fn gone(kind: &str, api_version: &str) -> Option<String> {
    let group = ApiVersion::parse(api_version).group;
    let rows = table().removed();
    let row = rows
        .filter(|row| row.kind == kind && row.group == group)
        .last()?;
    let release = &row.removed_in;
    let had = row.api_version();
    Some(format!(
        "Kubernetes {release} removed {kind}, which it had as `{had}`: remove the object"
    ))
}

/// The maximum number of versions of a CRD that a finding names.
const MAX_VERSIONS: usize = 10;

/// Kinds of a built-in group that are sent to a subresource and never stored.
const REQUEST_BODIES: [&str; 6] = [
    "ConversionReview",
    "DeleteOptions",
    "DeploymentRollback",
    "Eviction",
    "Scale",
    "TokenRequest",
];

impl Unserved {
    /// Lowers the severity and says why, if every CRD of the kind is in another cluster or folder tree than `user`.
    pub(in crate::rules) fn beside(
        self,
        analysis: &Analysis<'_>,
        user: &Member,
        kind: GroupKind<&str>,
    ) -> Self {
        let inventory = analysis.inventory();
        let crds = inventory.kinds.crds_of(kind).iter();
        let crds = crds.map(|crd| analysis.nearness(inventory.member(*crd).file, user.file));
        let (most, place) = match crds.max() {
            None | Some(Nearness::SameCluster) => return self,
            Some(Nearness::OtherTree) => (
                Severity::Warning,
                "is in a different folder tree from the object",
            ),
            Some(Nearness::OtherCluster) => (
                Severity::Info,
                "is delivered to clusters other than the object's",
            ),
        };
        Self {
            severity: self.severity.min(most),
            reason: format!(
                "{} This assumes that the cluster has this CRD, which {place}.",
                self.reason
            ),
            ..self
        }
    }

    /// Explains what an object probably is if its built-in group has no such kind: the body of a
    /// request, a typo, or the file of some tool. Without a group (`v1beta1 AgentConfig`) it is
    /// unlikely that a cluster has the kind.
    fn worded_for(self, object: &Object) -> Self {
        let (kind, api_version) = (object.kind(), object.api_version());
        if REQUEST_BODIES.contains(&kind) {
            return Self {
                severity: Severity::Info,
                what: "it is the body of a request".to_owned(),
                label: "not an object".to_owned(),
                reason:
                    "Clients send it to a subresource of another object, such as `pods/eviction`."
                        .to_owned(),
                help: "leave the file out of the input: `--exclude`".to_owned(),
            };
        }
        let alike = table().by_plural_or_short_name(kind);
        if let Some(meant) = alike.iter().find(|row| row.kind != kind) {
            let help = format!(
                "did you mean `{}` in `{}`?",
                meant.kind,
                meant.api_version()
            );
            return Self { help, ..self };
        }
        let known = !alike.is_empty() || table().scope_of_name(kind).is_some();
        let legacy = api_version == "v1" && OPENSHIFT_LEGACY_KINDS.contains(&kind);
        if !object.group().is_empty() || known {
            self
        } else if legacy {
            Self {
                severity: Severity::Info,
                ..self
            }
        } else {
            Self {
                severity: Severity::Info,
                what: format!("Kubernetes has no kind {kind} in `{api_version}`"),
                label: "unknown kind".to_owned(),
                reason: "Many tools write their own files like this and never apply them."
                    .to_owned(),
                help: format!(
                    "leave the file out of the input if it belongs to a tool; otherwise check `{kind}` and \
                     `{api_version}`"
                ),
            }
        }
    }
}

pub(in crate::rules) fn with_crd(draft: Draft, inventory: &Inventory, serving: &Serving) -> Draft {
    let Serving::NotByCrd { crd, .. } = serving else {
        return draft;
    };
    let crd = inventory.member(*crd);
    let spec = crd.object.at(&["spec"]);
    let versions = spec.and_then(|spec| spec.entry("versions").or_else(|| spec.entry("version")));
    let span = versions.map_or_else(|| crd.object.name_span(), |entry| entry.key_span);
    draft.related(crd.file, span, "the CRD defines its versions here")
}
