//! Rules on the deletions and protections of delivery tools: severities and the necessary evidence.

use ownerlint::delivery::{Flaw, ineffective_protections};
use ownerlint::engine::Check;
use ownerlint::finding::{Applicability, Severity};

use crate::rules::fixes::fixed;
use crate::support::{Repository, check_text, fixture, inventory_of};

/// Returns the severities of a rule's findings in a text, in order.
fn severities(rule: &str, text: &str) -> Vec<Severity> {
    let report = check_text(
        "a.yaml",
        text,
        &Check {
            every: true,
            ..Check::default()
        },
    );
    let found = report
        .findings
        .iter()
        .filter(|reported| reported.finding.rule == rule);
    found.map(|reported| reported.finding.severity).collect()
}

fn object(kind: &str, metadata: &str, rest: &str) -> String {
    format!("---\n{kind}\nmetadata: {{name: a, {metadata}}}\n{rest}\n")
}

const CONFIG_MAP: &str = "apiVersion: v1\nkind: ConfigMap";
const CLAIM: &str = "apiVersion: v1\nkind: PersistentVolumeClaim";
const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace";
const STATEFUL_SET: &str = "apiVersion: apps/v1\nkind: StatefulSet";
const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition";

// --- protection-ineffective ---

#[test]
fn misspelt_protections_are_distinguished_from_other_values() {
    let option = |written, meant| Some(Flaw::Option { written, meant });
    for (annotation, flaw) in [
        ("helm.sh/resource-policy: keep", None),
        ("helm.sh/resource-policy: KEEP", Some(Flaw::PolicyCase)),
        ("helm.sh/resource-policy: ''", Some(Flaw::Policy)),
        ("helm.sh/resource-policy: 'keep,delete'", Some(Flaw::Policy)),
        (
            "helm.sh/resource_policy: keep",
            Some(Flaw::Key("helm.sh/resource-policy")),
        ),
        (
            "meta.helm.sh/resource-policy: keep",
            Some(Flaw::Key("helm.sh/resource-policy")),
        ),
        ("helm.sh/chart: keep-1", None),
        (
            "argocd.argoproj.io/sync-options: 'Prune=false,Delete=false'",
            None,
        ),
        (
            "argocd.argoproj.io/sync-options: 'PruneLast=true, Replace=true'",
            None,
        ),
        ("argocd.argoproj.io/sync-options: Prune=true", None),
        (
            "argocd.argoproj.io/sync-options: SkipDryRunOnMissingResource=true",
            None,
        ),
        (
            "argocd.argoproj.io/sync-options: prune=false",
            option("prune=false", "Prune=false"),
        ),
        (
            "argocd.argoproj.io/sync-options: 'Prune: false'",
            option("Prune: false", "Prune=false"),
        ),
        (
            "argocd.argoproj.io/sync-options: 'Delete = false'",
            option("Delete = false", "Delete=false"),
        ),
        (
            "argocd.argoproj.io/sync-options: Prune=no",
            option("Prune=no", "Prune=false"),
        ),
        (
            "argocd.argoproj.io/sync-options: 'Prune=false Delete=false'",
            option("Prune=false Delete=false", "Prune=false"),
        ),
        (
            "argocd.argoproj.io/sync-options: Delete=Confirm",
            option("Delete=Confirm", "Delete=confirm"),
        ),
        (
            "argocd.argoproj.io/syncOptions: Prune=false",
            Some(Flaw::Key("argocd.argoproj.io/sync-options")),
        ),
        ("argocd.argoproj.io/sync-option: Validate=true", None),
        ("argocd.argoproj.io/sync-wave: 'false'", None),
        ("kustomize.toolkit.fluxcd.io/prune: DISABLED", None),
        ("kustomize.toolkit.fluxcd.io/prune: enabled", None),
        ("kustomize.toolkit.fluxcd.io/prune: 'true'", None),
        (
            "kustomize.toolkit.fluxcd.io/prune: disable",
            Some(Flaw::FluxValue("disabled")),
        ),
        (
            "kustomize.toolkit.fluxcd.io/reconcile: 'no'",
            Some(Flaw::FluxValue("disabled")),
        ),
        ("kustomize.toolkit.fluxcd.io/ssa: ignore", None),
        (
            "kustomize.toolkit.fluxcd.io/ssa: Ignored",
            Some(Flaw::FluxValue("Ignore")),
        ),
        ("kustomize.toolkit.fluxcd.io/ssa: IfNotPresent", None),
        (
            "fluxcd.io/prune: disabled",
            Some(Flaw::Key("kustomize.toolkit.fluxcd.io/prune")),
        ),
        ("example.com/prune: disabled", None),
        ("fluxcd.io/ignore: 'true'", None),
    ] {
        let inventory = inventory_of(
            "a.yaml",
            &object(CONFIG_MAP, &format!("annotations: {{{annotation}}}"), ""),
        );
        let found = ineffective_protections(inventory.members[0].object.metadata())
            .into_iter()
            .map(|belief| belief.flaw)
            .next();
        assert_eq!(found, flaw, "{annotation}");
    }
}

#[test]
fn a_correction_keeps_what_was_right_and_an_option_is_written_out() {
    for (before, after) in [
        (
            "argocd.argoproj.io/sync-options: Validate=false,Delete=False",
            "argocd.argoproj.io/sync-options: \"Validate=false,Delete=false\"",
        ),
        (
            "argocd.argoproj.io/sync-option: &all 'Prune=false,Delete=false'\n    example.com/copy: *all",
            "argocd.argoproj.io/sync-options: &all 'Prune=false,Delete=false'\n    example.com/copy: *all",
        ),
        (
            "helm.sh/resource-policies: delete",
            "helm.sh/resource-policy: keep",
        ),
    ] {
        let of = |annotation: &str| {
            format!("{CONFIG_MAP}\nmetadata:\n  name: a\n  annotations:\n    {annotation}\n")
        };
        let check = Check {
            every: true,
            ..Check::default()
        };
        let fixed = fixed(&of(before), &check, Applicability::Suggested);
        assert_eq!(fixed, of(after));
    }
}

#[test]
fn a_mistaken_label_is_named_as_a_label() {
    let label = object(CONFIG_MAP, "labels: {helm.sh/resource-policy: keep}", "");
    let annotation = object(
        CONFIG_MAP,
        "annotations: {helm.sh/resource-policy: Keep}",
        "",
    );
    let fields = [label, annotation].map(|text| {
        let report = check_text("a.yaml", &text, &Check::default());
        let finding = report
            .findings
            .iter()
            .find(|reported| reported.finding.rule == "protection-ineffective");
        finding.and_then(|reported| reported.finding.field.clone())
    });
    let of = |place: &str| Some(format!("metadata.{place}.helm.sh/resource-policy"));
    assert_eq!(fields, [of("labels"), of("annotations")]);
}

#[test]
fn severity_of_prune_false_depends_on_data_and_cascading() {
    let rule = "protection-ineffective";
    let only = "annotations: {argocd.argoproj.io/sync-options: Prune=false}";
    assert_eq!(
        severities(rule, &object(CLAIM, only, "")),
        [Severity::Warning]
    );
    assert_eq!(
        severities(rule, &object(NAMESPACE, only, "")),
        [Severity::Warning]
    );
    assert_eq!(
        severities(rule, &object(CONFIG_MAP, only, "")),
        [Severity::Info]
    );
    let chart = "labels: {app.kubernetes.io/managed-by: Helm, helm.sh/chart: a-1}";
    assert_eq!(
        severities(rule, &object(CLAIM, &format!("{only}, {chart}"), "")),
        [Severity::Warning]
    );
    let flux = "labels: {kustomize.toolkit.fluxcd.io/name: a}";
    assert_eq!(
        severities(rule, &object(CLAIM, &format!("{only}, {flux}"), "")),
        []
    );
    let application = |metadata: &str, spec: &str| {
        object(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application",
            metadata,
            &format!("spec: {{{spec}}}"),
        )
    };
    let with = |application: String| {
        severities(rule, &format!("{application}{}", object(CLAIM, only, "")))
    };
    let cascading = "finalizers: [resources-finalizer.argocd.argoproj.io/background]";
    assert_eq!(with(application(cascading, "")), [Severity::Warning]);
    assert_eq!(with(application("", "")), []);
    assert_eq!(
        with(application(
            cascading,
            "syncPolicy: {syncOptions: [Delete=false]}"
        )),
        []
    );
}

#[test]
fn helm_keep_is_a_warning_if_argo_cd_prunes() {
    let rule = "protection-ineffective";
    let kept = |mark: &str| {
        object(
            CLAIM,
            &format!("annotations: {{helm.sh/resource-policy: keep, {mark}}}"),
            "",
        )
    };
    let argo = "argocd.argoproj.io/sync-wave: '1'";
    let prunes = "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\n\
                  spec: {syncPolicy: {automated: {prune: true}}}\n";
    assert_eq!(severities(rule, &kept(argo)), [Severity::Info]);
    assert_eq!(
        severities(rule, &format!("{}{prunes}", kept(argo))),
        [Severity::Warning]
    );
    assert_eq!(
        severities(rule, &format!("{}{prunes}", kept("a: b"))),
        [],
        "nothing says that Argo CD delivers it"
    );
    assert_eq!(
        severities(
            rule,
            &kept("argocd.argoproj.io/sync-options: 'Prune=false,Delete=false'")
        ),
        []
    );
}

#[test]
fn configured_delivery_tool_decides_the_finding() {
    let repository = Repository::new();
    repository.write(
        "a.yaml",
        &object(CLAIM, "annotations: {helm.sh/resource-policy: keep}", ""),
    );
    let found = |tool: &str| {
        repository.write(
            "ownerlint.yaml",
            &format!("version: 1\nbundles:\n  all: {{paths: [a.yaml], delivery: {tool}}}\n"),
        );
        let (_, printed, _) = repository.run(
            &["--select", "protection-ineffective", "--output", "json"],
            "",
        );
        serde_json::from_str::<serde_json::Value>(&printed).expect("JSON")["summary"]["info"]
            .as_u64()
    };
    assert_eq!(
        ["helm", "argocd", "flux", "kubectl"].map(found),
        [Some(0), Some(1), Some(1), Some(0)]
    );
    // An Application does not delete the objects that another tool delivers.
    repository.write(
        "a.yaml",
        &object(
            CONFIG_MAP,
            "annotations: {argocd.argoproj.io/sync-options: Prune=false}",
            "",
        ),
    );
    assert_eq!(
        ["helm", "argocd", "flux", "kubectl"].map(found),
        [Some(0), Some(1), Some(0), Some(0)]
    );
}

#[test]
fn severity_of_claim_template_protection_depends_on_retention() {
    let set = |annotation: &str, policy: &str| {
        let claims = format!(
            "volumeClaimTemplates: [{{metadata: {{name: data, annotations: {{{annotation}}}}}}}]"
        );
        severities(
            "protection-ineffective",
            &object(STATEFUL_SET, "", &format!("spec: {{{policy}{claims}}}")),
        )
    };
    let (keep, argo) = (
        "helm.sh/resource-policy: keep",
        "argocd.argoproj.io/sync-options: Delete=false",
    );
    let deletes = "persistentVolumeClaimRetentionPolicy: {whenScaled: Delete}, ";
    assert_eq!(set(keep, ""), [Severity::Info]);
    assert_eq!(set(keep, deletes), [Severity::Warning]);
    assert_eq!(set(argo, ""), [Severity::Warning]);
    assert_eq!(set("example.com/keep: 'true'", deletes), []);
}

// --- force-replace-on-stateful ---

#[test]
fn severity_of_force_depends_on_the_deleted_kind() {
    let rule = "force-replace-on-stateful";
    let of = |kind: &str, options: &str, rest: &str| {
        severities(
            rule,
            &object(
                kind,
                &format!("annotations: {{argocd.argoproj.io/sync-options: '{options}'}}"),
                rest,
            ),
        )
    };
    let both = "Force=true,Replace=true";
    for (kind, replaced, applied) in [
        (CLAIM, Severity::Warning, Severity::Warning),
        (STATEFUL_SET, Severity::Warning, Severity::Info),
        // Argo CD updates these kinds instead of replacing them.
        (NAMESPACE, Severity::Info, Severity::Warning),
        (DEFINITION, Severity::Info, Severity::Warning),
    ] {
        assert_eq!(of(kind, both, ""), [replaced], "{kind}");
        assert_eq!(of(kind, "Force=true", ""), [applied], "{kind}");
        assert_eq!(of(kind, "Replace=true", ""), [], "{kind}");
    }
    let claims_go = "spec: {persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}, volumeClaimTemplates: [{metadata: {name: data}}]}";
    assert_eq!(
        of(STATEFUL_SET, "Force=true", claims_go),
        [Severity::Warning]
    );
    assert_eq!(of(CONFIG_MAP, both, ""), []);
}

// --- hook-survives-uninstall ---

#[test]
fn surviving_hook_is_a_warning_only_if_it_rejects_requests() {
    let hook = |kind: &str, rest: &str| {
        severities(
            "hook-survives-uninstall",
            &object(kind, "annotations: {helm.sh/hook: post-install}", rest),
        )
    };
    let configuration =
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration";
    let webhook = |more: &str| {
        format!("webhooks: [{{name: a.example.com, clientConfig: {{service: {{name: a}}}}{more}}}]")
    };
    assert_eq!(hook(configuration, &webhook("")), [Severity::Warning]);
    assert_eq!(
        hook(configuration, &webhook(", failurePolicy: Ignore")),
        [Severity::Info]
    );
    assert_eq!(
        hook(
            configuration,
            "webhooks: [{name: a.example.com, clientConfig: {url: 'https://a.example.com'}}]"
        ),
        [Severity::Info]
    );
    assert_eq!(hook(CLAIM, ""), [Severity::Info]);
    assert_eq!(hook(CONFIG_MAP, ""), []);
}

// --- release-owns-its-namespace ---

#[test]
fn namespace_option_sets_the_release_namespace() {
    let repository = Repository::new();
    let chart = "labels: {app.kubernetes.io/managed-by: Helm, helm.sh/chart: shop-1}";
    repository.write(
        "a.yaml",
        &format!(
            "{}{}",
            object(NAMESPACE, chart, ""),
            object(CONFIG_MAP, chart, "")
        ),
    );
    let found = |namespace: &[&str]| {
        let options = [
            &[
                "a.yaml",
                "--select",
                "release-owns-its-namespace",
                "--output",
                "json",
            ],
            namespace,
        ]
        .concat();
        let (_, printed, _) = repository.run(&options, "");
        serde_json::from_str::<serde_json::Value>(&printed).expect("JSON")["summary"]["warning"]
            .as_u64()
    };
    assert_eq!(found(&["-n", "a"]), Some(1));
    assert_eq!(found(&["-n", "b"]), Some(0));
    assert_eq!(
        found(&[]),
        Some(0),
        "the ConfigMap goes wherever the release is installed"
    );
}

// --- delivery objects in the tree ---

/// Returns the findings of `rule` in a tree of files: severities and messages.
fn of_tree(rule: &str, files: &[(&str, String)]) -> Vec<(String, String)> {
    let repository = Repository::new();
    for (path, text) in files {
        repository.write(path, text);
    }
    let (_, printed, error) = repository.run(
        &["--select", rule, "--output", "json", "--fail-on", "never"],
        "",
    );
    let report: serde_json::Value = serde_json::from_str(&printed).expect(&error);
    let findings = report["findings"].as_array().expect("findings").iter();
    let word = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    findings
        .map(|finding| (word(&finding["severity"]), word(&finding["message"])))
        .collect()
}

fn application(name: &str, path: &str, finalizer: &str, prune: bool) -> String {
    format!(
        "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd, finalizers: [{finalizer}]}}\n\
         spec: {{source: {{repoURL: 'https://example.com/x.git', path: {path}}}, syncPolicy: {{automated: {{prune: {prune}}}}}}}\n"
    )
}

#[test]
fn protection_is_judged_by_the_delivering_application() {
    let claim = |annotation: &str| {
        object(
            CLAIM,
            &format!("namespace: shop, annotations: {{{annotation}}}"),
            "",
        )
    };
    let finalizer = "resources-finalizer.argocd.argoproj.io";
    let tree = |annotation: &str| {
        let applications = application("shop", "shop", "", false)
            + &application("other", "other", finalizer, true);
        let files = [
            ("apps/all.yaml", applications),
            ("shop/a.yaml", claim(annotation)),
            ("other/a.yaml", claim(annotation)),
        ];
        of_tree("protection-ineffective", &files)
            .into_iter()
            .map(|(severity, _)| severity)
            .collect::<Vec<_>>()
    };
    // There is no other evidence that Argo CD delivers them.
    assert_eq!(
        tree("helm.sh/resource-policy: keep"),
        ["warning", "info"],
        "other/ is pruned, shop/ by hand at most"
    );
    assert_eq!(
        tree("argocd.argoproj.io/sync-options: Prune=false"),
        ["warning"],
        "deleting shop deletes nothing else"
    );
}

#[test]
fn an_account_is_lost_only_where_what_delivers_it_deletes_anything() {
    let team = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: team, namespace: apps}\n---\n\
                apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: team, namespace: apps}\n\
                spec: {serviceAccountName: team, chartRef: {kind: OCIRepository, name: team}}\n";
    let found = |deliverer: String| {
        let files = [
            ("clusters/tenants.yaml", deliverer),
            ("tenants/team.yaml", team.to_owned()),
        ];
        of_tree("delivery-loses-its-account", &files).len()
    };
    let kustomization = |prune: bool| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: tenants, namespace: flux-system}}\n\
             spec: {{path: ./tenants, prune: {prune}, sourceRef: {{kind: GitRepository, name: flux-system}}}}\n"
        )
    };
    assert_eq!([true, false].map(kustomization).map(found), [1, 0]);
    let finalizer = "resources-finalizer.argocd.argoproj.io";
    let applications = [("", true), (finalizer, false), ("", false)];
    let found = applications
        .map(|(finalizer, prune)| application("tenants", "tenants", finalizer, prune))
        .map(found);
    assert_eq!(
        found,
        [1, 1, 0],
        "a sync that prunes, the Application's deletion, neither"
    );
}

#[test]
fn kustomization_force_applies_to_delivered_objects() {
    let kustomization = |path: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: apps, namespace: flux-system}}\n\
             spec: {{path: {path}, force: true, prune: true, sourceRef: {{kind: GitRepository, name: flux-system}}}}\n"
        )
    };
    let tree = |path: &str, objects: &[&str]| {
        let objects = objects
            .iter()
            .map(|kind| object(kind, "namespace: shop", ""))
            .collect();
        of_tree(
            "force-replace-on-stateful",
            &[
                ("clusters/apps.yaml", kustomization(path)),
                ("apps/a.yaml", objects),
            ],
        )
    };
    let claim = "PersistentVolumeClaim `a` and 1 more object with state may be deleted and created again: `force: true` does that to change them";
    assert_eq!(
        tree("./apps", &[STATEFUL_SET, CLAIM]),
        [("warning".to_owned(), claim.to_owned())]
    );
    let namespace =
        "Namespace `a` may be deleted and created again: `force: true` does that to change it";
    assert_eq!(
        tree("./apps", &[CONFIG_MAP, NAMESPACE]),
        [("info".to_owned(), namespace.to_owned())]
    );
    assert_eq!(tree("./apps", &[CONFIG_MAP]), []);
    assert_eq!(tree("./elsewhere", &[CLAIM]), []);
    let off = kustomization("./apps").replace("force: true", "force: false");
    let claim = object(CLAIM, "namespace: shop", "");
    let files = [("clusters/apps.yaml", off), ("apps/a.yaml", claim)];
    assert_eq!(of_tree("force-replace-on-stateful", &files), []);
}

#[test]
fn a_webhook_blocks_only_what_is_delivered_to_its_cluster() {
    let kustomization = |folder: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {folder}, namespace: flux-system}}\n\
             spec: {{path: ./{folder}, prune: true, sourceRef: {{kind: GitRepository, name: flux-system}}}}\n"
        )
    };
    for (rule, file, apart) in [
        (
            "conversion-blocks-deletion",
            "stored-as-preferred",
            "Widget",
        ),
        ("webhook-blocks-deletion", "every-operation", "Policy"),
        (
            "webhook-blocks-deletion",
            "what-every-namespace-has",
            "Namespace",
        ),
        (
            "webhook-blocks-deletion",
            "any-instance",
            "CustomResourceDefinition",
        ),
    ] {
        let text = fixture(&format!("rules/{rule}/bad/{file}.yaml"));
        let apart = format!("\nkind: {apart}\n");
        let (apps, webhook): (Vec<&str>, Vec<&str>) = text
            .split("---\n")
            .partition(|document| document.contains(&apart));
        assert_eq!(apps.len(), 1, "{file}");
        let found = |cluster: &str| {
            let delivers_apps = format!("clusters/{cluster}/apps.yaml");
            let files = [
                ("clusters/one/webhook.yaml", kustomization("webhook")),
                (delivers_apps.as_str(), kustomization("apps")),
                ("webhook/all.yaml", webhook.join("---\n")),
                ("apps/all.yaml", apps.join("---\n")),
            ];
            of_tree(rule, &files).len()
        };
        assert_eq!((found("one"), found("two")), (1, 0), "{file}");
    }
}
