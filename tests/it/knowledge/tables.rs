//! The tables of `rules/tables/` can be read, do not contradict themselves, and are correct; each row has a source.

use std::collections::{BTreeMap, BTreeSet};

use ownerlint::delivery::{KindOrder, Sequence, kind_order};
use ownerlint::inventory::{self, DefaultGcPolicy, FinalizerNameCheck, Release, Served};
use ownerlint::kube::Scope;

use crate::support::root;

pub(crate) fn csv_rows(name: &str) -> Vec<BTreeMap<String, String>> {
    let path = format!("{}/rules/tables/{name}", env!("CARGO_MANIFEST_DIR"));
    let mut reader = csv::Reader::from_path(&path).expect(&path);
    reader.deserialize().collect::<Result<_, _>>().expect(&path)
}

fn served(group: &str, version: &str, kind: &str, release: u16) -> Served<'static> {
    inventory::table().served(group, version, kind, Release::new(release))
}

/// Describes an answer in a few words, for tables of expectations.
fn word(answer: &Served<'_>) -> String {
    match answer {
        Served::Yes(_) => "yes".to_owned(),
        Served::YesUntil(kind) => format!("yes until {}", kind.removed_in),
        Served::OffByDefault(_) => "off".to_owned(),
        Served::Removed(kind) => format!("removed in {}", kind.removed_in),
        Served::NotYet { introduced_in } => format!("not before {introduced_in}"),
        Served::Never { served_as } => format!("served as [{}]", served_as.join(" ")),
        Served::UnknownGroup => "unknown group".to_owned(),
    }
}

// --- every table ---

#[test]
fn csv_rows_have_sources_and_unique_keys() {
    for (table, key) in [
        ("removed-kinds.csv", &["group", "version", "kind"][..]),
        ("introduced.csv", &["group", "version", "kind"][..]),
        ("delivery-orders.csv", &["order"][..]),
    ] {
        let mut seen = BTreeSet::new();
        for row in csv_rows(table) {
            let key: Vec<_> = key.iter().map(|column| row[*column].clone()).collect();
            assert!(
                !row["source"].trim().is_empty(),
                "{table}: {key:?} has no source"
            );
            assert!(
                row.values().all(|cell| cell == cell.trim()),
                "{table}: {key:?} has blanks around a cell"
            );
            assert!(seen.insert(key.clone()), "{table}: {key:?} stands twice");
        }
    }
}

#[test]
fn malformed_table_error_names_the_table() {
    let error = inventory::BuiltinTable::parse("{}", "[]", "[]", "[]").expect_err("no resources");
    assert!(
        error.to_string().starts_with("the table of built-in kinds"),
        "{error}"
    );
    let row = r#"[{"group":"apps","version":"v1","kind":"*","introduced_in":"2.0","source":"x"}]"#;
    let kinds = r#"{"groupVersionPriority":{},"resources":[]}"#;
    let error =
        inventory::BuiltinTable::parse(kinds, "[]", row, "[]").expect_err("no such release");
    assert!(
        error
            .to_string()
            .contains("`2.0` is not a Kubernetes release"),
        "{error}"
    );
}

// --- built-in kinds ---

#[test]
fn table_has_104_distinct_kinds_of_1_37() {
    let keys: BTreeSet<_> = inventory::table()
        .resources()
        .map(|row| (row.api_version(), row.kind.clone()))
        .collect();
    assert_eq!(inventory::table().resources().count(), 104);
    assert_eq!(keys.len(), 104);
}

/// [SCOPE-2], in all versions.
const CLUSTER_SCOPED: &[(&str, &str)] = &[
    ("", "ComponentStatus Namespace Node PersistentVolume"),
    (
        "admissionregistration.k8s.io",
        "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration \
         ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
    ),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
    ("authentication.k8s.io", "SelfSubjectReview TokenReview"),
    (
        "authorization.k8s.io",
        "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
    ),
    (
        "certificates.k8s.io",
        "CertificateSigningRequest ClusterTrustBundle",
    ),
    (
        "flowcontrol.apiserver.k8s.io",
        "FlowSchema PriorityLevelConfiguration",
    ),
    ("internal.apiserver.k8s.io", "StorageVersion"),
    ("networking.k8s.io", "IngressClass IPAddress ServiceCIDR"),
    ("node.k8s.io", "RuntimeClass"),
    (
        "rbac.authorization.k8s.io",
        "ClusterRole ClusterRoleBinding",
    ),
    (
        "resource.k8s.io",
        "DeviceClass ResourceSlice DeviceTaintRule ResourcePoolStatusRequest",
    ),
    ("scheduling.k8s.io", "PriorityClass"),
    (
        "storage.k8s.io",
        "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
    ),
    ("storagemigration.k8s.io", "StorageVersionMigration"),
];

#[test]
fn exactly_the_listed_kinds_are_cluster_scoped() {
    let listed: BTreeSet<(&str, &str)> = CLUSTER_SCOPED
        .iter()
        .flat_map(|(group, kinds)| kinds.split_whitespace().map(move |kind| (*group, kind)))
        .collect();
    let table: BTreeSet<(&str, &str)> = inventory::table()
        .resources()
        .filter(|row| row.scope == Scope::Cluster)
        .map(|row| (row.group.as_str(), row.kind.as_str()))
        .collect();
    assert_eq!(table, listed);
}

#[test]
fn kinds_that_sound_cluster_scoped_are_namespaced() {
    // [SCOPE-3]
    for (group, kind) in [
        ("coordination.k8s.io", "Lease"),
        ("coordination.k8s.io", "LeaseCandidate"),
        ("storage.k8s.io", "CSIStorageCapacity"),
        ("discovery.k8s.io", "EndpointSlice"),
        ("certificates.k8s.io", "PodCertificateRequest"),
        ("scheduling.k8s.io", "PodGroup"),
        ("scheduling.k8s.io", "Workload"),
        ("authorization.k8s.io", "LocalSubjectAccessReview"),
        ("resource.k8s.io", "ResourceClaim"),
        ("resource.k8s.io", "ResourceClaimTemplate"),
    ] {
        assert_eq!(
            inventory::table().scope_of(group, kind),
            Some(Scope::Namespaced),
            "{group}/{kind}"
        );
    }
}

#[test]
fn scope_and_plural_do_not_vary_by_version() {
    // [SCOPE-5]
    let mut known: BTreeMap<(String, String), (Scope, String)> = BTreeMap::new();
    let table = inventory::table();
    let today = table
        .resources()
        .map(|row| (&row.group, &row.kind, row.scope, &row.plural));
    let then = table
        .removed()
        .map(|row| (&row.group, &row.kind, row.scope, &row.plural));
    for (group, kind, scope, plural) in today.chain(then) {
        let facts = (scope, plural.clone());
        let first = known
            .entry((group.clone(), kind.clone()))
            .or_insert_with(|| facts.clone());
        assert_eq!(*first, facts, "{group}/{kind}");
    }
}

#[test]
fn only_stable_versions_are_enabled_by_default() {
    // [SCOPE-4]
    for row in inventory::table().resources() {
        let stable = !row.version.contains("alpha") && !row.version.contains("beta");
        assert_eq!(
            row.enabled_by_default,
            stable,
            "{} {}",
            row.api_version(),
            row.kind
        );
    }
}

#[test]
fn collector_and_finalizer_facts_of_kinds_are_read() {
    let table = inventory::table();
    let find = |group, version, kind| table.find(group, version, kind).expect("a built-in kind");
    assert_eq!(
        find("batch", "v1", "Job").default_policy,
        DefaultGcPolicy::OrphanDependents
    );
    assert_eq!(
        find("apps", "v1", "Deployment").default_policy,
        DefaultGcPolicy::DeleteDependents
    );
    assert_eq!(
        find("", "v1", "Event").default_policy,
        DefaultGcPolicy::Unsupported
    );
    assert!(!find("", "v1", "Event").gc_tracked && find("", "v1", "Pod").gc_tracked);
    assert!(
        find("", "v1", "Pod").namespace_deletable && !find("", "v1", "Node").namespace_deletable
    );
    assert_eq!(
        find("", "v1", "Pod").finalizer_name_check,
        FinalizerNameCheck::QualifiedAndStandard
    );
    assert_eq!(
        find("coordination.k8s.io", "v1", "Lease").finalizer_name_check,
        FinalizerNameCheck::Qualified
    );
    assert_eq!(
        find("authentication.k8s.io", "v1", "TokenReview").finalizer_name_check,
        FinalizerNameCheck::None
    );
    assert!(find("autoscaling", "v2", "HorizontalPodAutoscaler").preferred);
    assert!(!find("autoscaling", "v1", "HorizontalPodAutoscaler").preferred);
}

#[test]
fn served_versions_match_the_api_server_of_each_release() {
    for (api_version, kind, release, expected) in [
        ("apps/v1", "Deployment", 36, "yes"),
        ("extensions/v1beta1", "Deployment", 15, "yes until 1.16"),
        ("extensions/v1beta1", "Deployment", 16, "removed in 1.16"),
        ("extensions/v1beta1", "Ingress", 21, "yes until 1.22"),
        ("extensions/v1beta1", "Ingress", 36, "removed in 1.22"),
        ("networking.k8s.io/v1", "Ingress", 18, "not before 1.19"),
        ("policy/v1", "PodDisruptionBudget", 20, "not before 1.21"),
        (
            "policy/v1beta1",
            "PodDisruptionBudget",
            21,
            "yes until 1.25",
        ),
        ("policy/v1beta1", "PodSecurityPolicy", 25, "removed in 1.25"),
        ("batch/v1beta1", "CronJob", 36, "removed in 1.25"),
        ("batch/v1", "CronJob", 20, "not before 1.21"),
        ("batch/v1", "Job", 20, "yes"),
        ("batch/v2alpha1", "CronJob", 21, "removed in 1.21"),
        (
            "autoscaling/v2beta1",
            "HorizontalPodAutoscaler",
            25,
            "removed in 1.25",
        ),
        (
            "autoscaling/v2beta2",
            "HorizontalPodAutoscaler",
            25,
            "yes until 1.26",
        ),
        (
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            22,
            "not before 1.23",
        ),
        (
            "apiextensions.k8s.io/v1beta1",
            "CustomResourceDefinition",
            22,
            "removed in 1.22",
        ),
        (
            "flowcontrol.apiserver.k8s.io/v1beta1",
            "FlowSchema",
            36,
            "removed in 1.26",
        ),
        (
            "flowcontrol.apiserver.k8s.io/v1beta2",
            "FlowSchema",
            36,
            "removed in 1.29",
        ),
        (
            "flowcontrol.apiserver.k8s.io/v1beta3",
            "FlowSchema",
            36,
            "removed in 1.32",
        ),
        (
            "storage.k8s.io/v1beta1",
            "CSIStorageCapacity",
            36,
            "removed in 1.27",
        ),
        ("storage.k8s.io/v1beta1", "CSIDriver", 36, "removed in 1.22"),
        (
            "rbac.authorization.k8s.io/v1alpha1",
            "Role",
            36,
            "removed in 1.23",
        ),
        (
            "settings.k8s.io/v1alpha1",
            "PodPreset",
            36,
            "removed in 1.20",
        ),
        (
            "resource.k8s.io/v1alpha2",
            "ResourceClass",
            36,
            "removed in 1.31",
        ),
        ("resource.k8s.io/v1beta1", "ResourceClaim", 36, "off"),
        ("resource.k8s.io/v1", "ResourceClaim", 33, "not before 1.34"),
        (
            "admissionregistration.k8s.io/v1",
            "MutatingAdmissionPolicy",
            36,
            "yes",
        ),
        (
            "admissionregistration.k8s.io/v1",
            "MutatingAdmissionPolicy",
            35,
            "not before 1.36",
        ),
    ] {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        assert_eq!(
            word(&served(group, version, kind, release)),
            expected,
            "{api_version} {kind} in 1.{release}"
        );
    }
}

#[test]
fn never_served_version_lists_the_served_versions() {
    for (group, version, kind, expected) in [
        ("", "v1", "Deployment", "served as [apps/v1]"),
        ("apps", "v1", "Ingress", "served as [networking.k8s.io/v1]"),
        ("apps", "v2", "StatefulSet", "served as [apps/v1]"),
        ("policy", "v1", "PodSecurityPolicy", "served as []"),
        ("", "v1", "Route", "served as []"),
        ("apps", "v1", "deployment", "served as []"),
        ("", "v1", "List", "served as []"),
        ("autoscaling", "v1", "Scale", "served as []"),
    ] {
        assert_eq!(
            word(&served(group, version, kind, 36)),
            expected,
            "{group}/{version} {kind}"
        );
    }
    // The migration guide lists it, but apps/v1beta1 only registered Deployment, StatefulSet and ControllerRevision.
    assert!(word(&served("apps", "v1beta1", "ReplicaSet", 36)).starts_with("served as [apps/v1]"));
}

#[test]
fn older_release_lists_the_versions_it_served() {
    let answer = word(&served("", "v1", "Ingress", 18));
    assert!(
        answer.starts_with("served as [extensions/v1beta1 networking.k8s.io/v1beta1]"),
        "{answer}"
    );
}

#[test]
fn groups_that_only_look_official_are_not_built_in() {
    for group in [
        "gateway.networking.k8s.io",
        "snapshot.storage.k8s.io",
        "metrics.k8s.io",
        "policy.networking.k8s.io",
        "autoscaling.k8s.io",
        "cluster.x-k8s.io",
        "kustomize.config.k8s.io",
        "certmanager.k8s.io",
        "route.openshift.io",
    ] {
        assert!(!inventory::table().is_builtin_group(group), "{group}");
        assert_eq!(
            word(&served(group, "v1", "Deployment", 36)),
            "unknown group",
            "{group}"
        );
    }
    for group in [
        "",
        "apps",
        "extensions",
        "settings.k8s.io",
        "apiextensions.k8s.io",
        "internal.apiserver.k8s.io",
    ] {
        assert!(inventory::table().is_builtin_group(group), "{group:?}");
    }
}

#[test]
fn scope_is_known_for_never_served_versions() {
    let table = inventory::table();
    assert_eq!(
        table.scope_of("extensions", "PodSecurityPolicy"),
        Some(Scope::Cluster)
    );
    assert_eq!(table.scope_of("extensions", "Pod"), None);
    assert_eq!(
        table.scope_of("rbac.authorization.k8s.io", "ClusterRole"),
        Some(Scope::Cluster)
    );
    assert_eq!(
        table.scope_of("extensions", "Deployment"),
        Some(Scope::Namespaced)
    );
    assert_eq!(table.scope_of("", "Nonsense"), None);
    // Both are never served as `v1`, but only one is a kind of another version.
    assert_eq!(table.scope_of_name("Route"), None);
    assert_eq!(
        table.scope_of_name("PodSecurityPolicy"),
        Some(Scope::Cluster)
    );
}

#[test]
fn removed_kinds_have_consistent_releases_and_replacements() {
    let table = inventory::table();
    for row in table.removed() {
        let name = format!("{} {}", row.api_version(), row.kind);
        assert!(row.removed_in <= Release::NEWEST, "{name}");
        assert!(
            row.introduced_in.is_none_or(|first| first < row.removed_in),
            "{name}"
        );
        assert!(
            table.find(&row.group, &row.version, &row.kind).is_none(),
            "{name} is both removed and known"
        );
        assert!(
            !(row.enabled_by_default && row.version.contains("alpha")),
            "{name}: alpha versions are off"
        );
        if let Some(api_version) = &row.replacement_api_version {
            let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
            let replacement = table.find(group, version, &row.kind).expect(&name);
            assert_eq!(
                (replacement.scope, &replacement.plural),
                (row.scope, &row.plural),
                "{name}"
            );
        }
    }
}

#[test]
fn every_introduced_row_applies_to_a_known_kind() {
    let table = inventory::table();
    for row in csv_rows("introduced.csv") {
        let of_version = |candidate: &&inventory::BuiltinKind| {
            candidate.group == row["group"]
                && candidate.version == row["version"]
                && (row["kind"] == "*" || row["kind"] == candidate.kind)
        };
        let first = table
            .resources()
            .find(of_version)
            .and_then(|kind| kind.introduced_in)
            .map(|it| it.to_string());
        assert_eq!(
            first.as_deref(),
            Some(row["introduced_in"].as_str()),
            "{row:?}"
        );
    }
}

#[test]
fn resource_names_resolve_as_in_kubectl() {
    let table = inventory::table();
    let found = |name: &str| -> Vec<String> {
        let rows = table.by_plural_or_short_name(name);
        rows.iter()
            .map(|row| format!("{} {}", row.api_version(), row.kind))
            .collect()
    };
    for name in [
        "deploy",
        "deployment",
        "deployments",
        "Deployment",
        "deployments.apps",
        "deployments.v1.apps",
    ] {
        assert_eq!(found(name), ["apps/v1 Deployment"], "{name}");
    }
    assert_eq!(
        found("hpa"),
        ["autoscaling/v2 HorizontalPodAutoscaler"],
        "the preferred version"
    );
    assert_eq!(
        found("hpa.v1.autoscaling"),
        ["autoscaling/v1 HorizontalPodAutoscaler"]
    );
    assert_eq!(
        found("ev"),
        ["v1 Event", "events.k8s.io/v1 Event"],
        "the core group first"
    );
    assert_eq!(found("events.events.k8s.io"), ["events.k8s.io/v1 Event"]);
    assert_eq!(
        found("crd"),
        ["apiextensions.k8s.io/v1 CustomResourceDefinition"]
    );
    assert!(found("widgets").is_empty());
}

// --- citations of plans ---

/// Collects every citation such as `"GC-22"` in the sources of the simulation and of plans.
fn citations(folder: &std::path::Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        if entry.path().is_dir() {
            citations(&entry.path(), found);
            continue;
        }
        let text = std::fs::read_to_string(entry.path()).expect("text");
        let is_rule = |text: &&str| {
            text.split_once('-').is_some_and(|(family, number)| {
                ["CRD", "DEL", "DEP", "FIN", "GC", "NS", "SIM", "VAL"].contains(&family)
                    && number.starts_with(|first: char| first.is_ascii_digit())
            })
        };
        found.extend(text.split('"').filter(is_rule).map(str::to_owned));
    }
}

#[test]
fn every_cited_semantics_rule_can_be_explained() {
    let mut cited = BTreeSet::new();
    for folder in [
        "crates/kube-gc/src",
        "src/ownership",
        "src/report/plan",
        "src/engine",
    ] {
        citations(&root().join(folder), &mut cited);
    }
    assert!(cited.len() > 40, "citations are found: {cited:?}");
    let unexplained: Vec<_> = cited
        .iter()
        .filter(|rule| ownerlint::gc::semantics(rule).is_none())
        .collect();
    assert!(
        unexplained.is_empty(),
        "missing in crates/kube-gc/data/deletion-semantics.csv: {unexplained:?}"
    );
    crate::support::ownerlint()
        .args(["explain", "gc-20"])
        .assert()
        .code(0)
        .stdout("A cluster-scoped dependent with a namespaced owner is never collected.\n");
}

// --- delivery-orders.csv ---

#[test]
fn kind_order_needs_each_kind_once_and_a_wildcard() {
    let row = |kinds: &str| {
        KindOrder::parse(&format!(
            r#"[{{"order":"flux-delete","kinds":"{kinds}","verified":"yes","source":"here"}}]"#
        ))
    };
    for kinds in ["Pod;Service", "Pod;*;Pod", "*;*"] {
        let error = row(kinds).expect_err(kinds).to_string();
        assert!(error.contains("every kind exactly once"), "{error}");
    }
    let error = row("Pod;*").expect_err("orders are missing").to_string();
    assert!(error.contains("no Helm3Install"), "{error}");
}

#[test]
fn helm_deletes_unknown_kinds_last_and_helm_4_webhooks_first() {
    let three = kind_order(Sequence::Helm3Uninstall);
    let four = kind_order(Sequence::Helm4Uninstall);
    for order in [three, four] {
        assert!(order.place("Deployment") < order.place("ClusterRole"));
        assert!(order.place("ClusterRole") < order.place("CustomResourceDefinition"));
        assert!(order.place("PriorityClass") < order.place("Cake"));
    }
    let webhooks = "ValidatingWebhookConfiguration";
    assert_eq!(three.place(webhooks), three.place("Cake"));
    assert_eq!(four.place(webhooks), 0);
}

#[test]
fn flux_deletes_unknown_kinds_before_operator_and_crds_last() {
    let order = kind_order(Sequence::FluxDelete);
    let places = [
        "ValidatingWebhookConfiguration",
        "Cake",
        "Deployment",
        "ClusterRole",
        "Namespace",
    ]
    .map(|kind| order.place(kind));
    assert!(places.is_sorted(), "{places:?}");
    assert!(order.place("Namespace") < order.place("CustomResourceDefinition"));
}
