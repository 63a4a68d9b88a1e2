//! The tool that delivers an object, and the objects that it spares.

use ownerlint::cluster::Analysis;
use ownerlint::delivery::{
    Delivered, DeliveryTool, Exemption, FluxObject, Regime, RegimeSource, Removal, spared,
};
use ownerlint::inventory::{Inventory, Settings};
use ownerlint::manifest::ParsedFile;
use ownerlint::text::SourceFile;

use crate::support::inventory_of;

const EVERY_REMOVAL: [Removal; 7] = [
    Removal::HelmUninstall,
    Removal::HelmUpgrade,
    Removal::Kubectl,
    Removal::ArgoCdPrune,
    Removal::ArgoCdApplication,
    Removal::FluxPrune,
    Removal::Namespace,
];

fn object(kind: &str, metadata: &str) -> Inventory {
    inventory_of(
        "a.yaml",
        &format!("{kind}\nmetadata: {{name: a, {metadata}}}\n"),
    )
}

fn config_map(metadata: &str) -> Inventory {
    object("apiVersion: v1\nkind: ConfigMap", metadata)
}

/// Returns the removals that spare an object.
fn sparing(inventory: &Inventory, template: Option<&str>) -> Vec<Removal> {
    let object = &inventory.members[0].object;
    EVERY_REMOVAL
        .into_iter()
        .filter(|removal| spared(object, template, *removal).is_some())
        .collect()
}

fn of(inventory: &Inventory, at: usize, tool: Option<DeliveryTool>) -> Delivered {
    let analysis = Analysis::of(inventory).delivered_by(tool);
    analysis.deliveries().regime(&inventory.members[at])
}

fn regime(inventory: &Inventory, tool: Option<DeliveryTool>) -> Regime {
    of(inventory, 0, tool).regime
}

// --- protections ---

#[test]
fn unprotected_object_is_deleted_by_every_tool() {
    assert_eq!(sparing(&config_map("labels: {app: a}"), None), []);
    assert_eq!(
        sparing(
            &config_map("labels: {app: a}"),
            Some("a/templates/crds/a.yaml")
        ),
        []
    );
}

#[test]
fn annotation_protects_only_from_the_removals_that_read_it() {
    use Removal::{ArgoCdApplication, ArgoCdPrune, FluxPrune, HelmUninstall, HelmUpgrade};
    for (annotation, by) in [
        (
            "helm.sh/resource-policy: keep",
            &[HelmUninstall, HelmUpgrade, ArgoCdApplication][..],
        ),
        // Trimmed and case-insensitive on uninstall, exact on upgrade; Argo CD reads a list of exact words.
        ("helm.sh/resource-policy: Keep", &[HelmUninstall]),
        (
            "helm.sh/resource-policy: ' keep'",
            &[HelmUninstall, ArgoCdApplication],
        ),
        ("helm.sh/resource-policy: ''", &[HelmUninstall]),
        ("helm.sh/resource-policy: delete", &[HelmUninstall]),
        // Argo CD runs Helm's hooks as its own.
        (
            "helm.sh/hook: pre-install",
            &[HelmUninstall, HelmUpgrade, ArgoCdPrune],
        ),
        ("argocd.argoproj.io/hook: PreSync", &[ArgoCdPrune]),
        (
            "argocd.argoproj.io/sync-options: Prune=false",
            &[ArgoCdPrune],
        ),
        (
            "argocd.argoproj.io/sync-options: Delete=false",
            &[ArgoCdApplication],
        ),
        (
            "argocd.argoproj.io/sync-options: 'Replace=true, Prune=false ,Delete=confirm'",
            &[ArgoCdPrune, ArgoCdApplication],
        ),
        ("argocd.argoproj.io/sync-options: 'Prune: false'", &[]),
        ("argocd.argoproj.io/sync-options: prune=false", &[]),
        ("argocd.argoproj.io/sync-options: Prune=true", &[]),
        ("argocd.argoproj.io/sync-option: Prune=false", &[]),
        ("kustomize.toolkit.fluxcd.io/prune: disabled", &[FluxPrune]),
        ("kustomize.toolkit.fluxcd.io/prune: Disabled", &[FluxPrune]),
        ("kustomize.toolkit.fluxcd.io/prune: 'false'", &[]),
        (
            "kustomize.toolkit.fluxcd.io/reconcile: disabled",
            &[FluxPrune],
        ),
        ("kustomize.toolkit.fluxcd.io/ssa: Ignore", &[FluxPrune]),
        ("kustomize.toolkit.fluxcd.io/ssa: Merge", &[]),
    ] {
        assert_eq!(
            sparing(&config_map(&format!("annotations: {{{annotation}}}")), None),
            by,
            "{annotation}"
        );
    }
}

#[test]
fn only_flux_reads_protection_from_labels() {
    let flux = config_map("labels: {kustomize.toolkit.fluxcd.io/prune: disabled}");
    assert_eq!(sparing(&flux, None), [Removal::FluxPrune]);
    assert_eq!(
        sparing(&config_map("labels: {helm.sh/resource-policy: keep}"), None),
        []
    );
}

#[test]
fn helm_keeps_crds_folder_and_argo_cd_keeps_every_definition() {
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition";
    let definition = object(definition, "labels: {}");
    let by_argo_cd = [Removal::ArgoCdPrune, Removal::ArgoCdApplication];
    assert_eq!(sparing(&definition, None), by_argo_cd);
    assert_eq!(
        sparing(&definition, Some("a/templates/crds/a.yaml")),
        by_argo_cd
    );
    let by_helm_too = [
        Removal::HelmUninstall,
        Removal::HelmUpgrade,
        Removal::ArgoCdPrune,
        Removal::ArgoCdApplication,
    ];
    assert_eq!(sparing(&definition, Some("a/crds/a.yaml")), by_helm_too);
    assert_eq!(
        sparing(&definition, Some("a/charts/crds/crds/more/a.yaml")),
        by_helm_too
    );
}

#[test]
fn unknown_helm_policy_and_prune_confirm_are_distinguished() {
    let unknown = config_map("annotations: {helm.sh/resource-policy: delete}");
    let spared_by = |inventory: &Inventory, removal| {
        let found = spared(&inventory.members[0].object, None, removal).expect("it is spared");
        (format!("{:?}", found.by), found.until_confirmed())
    };
    assert_eq!(
        spared_by(&unknown, Removal::HelmUninstall).0,
        format!("{:?}", Exemption::UnknownPolicy("delete"))
    );
    let confirm = config_map("annotations: {argocd.argoproj.io/sync-options: Prune=confirm}");
    assert!(spared_by(&confirm, Removal::ArgoCdPrune).1);
    let never = config_map("annotations: {argocd.argoproj.io/sync-options: Prune=false}");
    assert!(!spared_by(&never, Removal::ArgoCdPrune).1);
}

// --- tools ---

const CHART: &str = "labels: {app.kubernetes.io/managed-by: Helm, helm.sh/chart: web-1.2.3}";

#[test]
fn labels_and_annotations_identify_the_delivering_tool() {
    let kustomization = Regime::Flux(FluxObject::Kustomization);
    let release = Regime::Flux(FluxObject::HelmRelease);
    for (metadata, expected) in [
        (CHART, Regime::Helm),
        (
            "labels: {heritage: Helm, chart: web-1.2.3, release: web}",
            Regime::Helm,
        ),
        (
            "annotations: {meta.helm.sh/release-name: web}",
            Regime::Helm,
        ),
        (
            "annotations: {argocd.argoproj.io/tracking-id: 'web:apps/Deployment:shop/web'}",
            Regime::ArgoCd,
        ),
        ("labels: {argocd.argoproj.io/instance: web}", Regime::ArgoCd),
        (
            "annotations: {argocd.argoproj.io/sync-wave: '1'}",
            Regime::ArgoCd,
        ),
        (
            "labels: {kustomize.toolkit.fluxcd.io/name: apps}",
            kustomization,
        ),
        (
            "annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}",
            kustomization,
        ),
        (
            "labels: {kustomize.toolkit.fluxcd.io/prune: disabled}",
            kustomization,
        ),
        (
            "labels: {helm.toolkit.fluxcd.io/name: web, app.kubernetes.io/managed-by: Helm, helm.sh/chart: web-1}",
            release,
        ),
        // A mark from a tool outweighs one that is written for another tool.
        (
            "labels: {app.kubernetes.io/managed-by: Helm, helm.sh/chart: web-1}, annotations: {argocd.argoproj.io/hook: Sync}",
            Regime::Helm,
        ),
    ] {
        let inventory = config_map(metadata);
        let Delivered { regime, source } = of(&inventory, 0, None);
        assert_eq!(regime, expected, "{metadata}");
        assert!(matches!(source, RegimeSource::Mark { .. }), "{metadata}");
    }
}

#[test]
fn object_without_tool_labels_is_applied_by_kubectl() {
    for metadata in [
        "labels: {app.kubernetes.io/managed-by: Helm}",
        "labels: {heritage: Tiller, chart: web-1}",
        "labels: {app.kubernetes.io/instance: web}",
        "",
    ] {
        let delivered = of(&config_map(metadata), 0, None);
        assert_eq!(
            (delivered.regime, delivered.source),
            (Regime::Kubectl, RegimeSource::None),
            "{metadata}"
        );
    }
}

#[test]
fn configured_delivery_overrides_labels() {
    let chart = config_map(CHART);
    assert_eq!(regime(&chart, Some(DeliveryTool::ArgoCd)), Regime::ArgoCd);
    assert_eq!(
        regime(&chart, Some(DeliveryTool::Flux)),
        Regime::Flux(FluxObject::HelmRelease)
    );
    assert_eq!(
        regime(&config_map(""), Some(DeliveryTool::Flux)),
        Regime::Flux(FluxObject::Kustomization)
    );
    assert_eq!(
        of(&chart, 0, Some(DeliveryTool::Kubectl)).source,
        RegimeSource::Config
    );
}

#[test]
fn unlabelled_object_is_delivered_like_its_file_if_unambiguous() {
    let plain = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    let marked = |name: &str, mark: &str| {
        format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, {mark}}}\n")
    };
    let flux = "labels: {kustomize.toolkit.fluxcd.io/name: apps}";
    let agreed = inventory_of(
        "a.yaml",
        &format!("{plain}{}{}", marked("b", CHART), marked("c", CHART)),
    );
    assert_eq!(regime(&agreed, None), Regime::Helm);
    let both = inventory_of(
        "a.yaml",
        &format!("{plain}{}{}", marked("b", CHART), marked("c", flux)),
    );
    assert_eq!(of(&both, 0, None).source, RegimeSource::None);
    assert_eq!(
        of(&both, 2, None).regime,
        Regime::Flux(FluxObject::Kustomization)
    );
}

#[test]
fn unlabelled_object_is_delivered_like_the_majority_of_its_bundle() {
    let plain = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    let marked = |name: &str| {
        format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, {CHART}}}\n")
    };
    let of_first = |others: &str| {
        let files = [("a.yaml", plain), ("b.yaml", others)];
        let files = files.map(|(path, text)| ParsedFile::parse(SourceFile::new(path, text)));
        let inventory = Inventory::new(files.to_vec(), Settings::default());
        of(&inventory, 0, None).source
    };
    assert!(matches!(
        of_first(&(marked("b") + &marked("c"))),
        RegimeSource::Mark { .. }
    ));
    assert_eq!(of_first(&marked("b")), RegimeSource::None);
}

#[test]
fn source_comment_applies_only_to_the_next_object() {
    let text = "---\n# Source: web/templates/a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n\
                ---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n";
    let inventory = inventory_of("a.yaml", text);
    let analysis = Analysis::of(&inventory);
    let template = |at: usize| {
        analysis
            .deliveries()
            .template(&inventory, &inventory.members[at])
    };
    assert_eq!(
        (template(0), template(1)),
        (Some("web/templates/a.yaml"), None)
    );
}

#[test]
fn source_comment_of_crds_file_applies_to_all_its_documents() {
    let text = "---\n# Source: web/crds/a.yaml\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n\
                ---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n\
                ---\n# Source: web/templates/c.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n";
    let inventory = inventory_of("a.yaml", text);
    let analysis = Analysis::of(&inventory);
    let template = |at: usize| {
        analysis
            .deliveries()
            .template(&inventory, &inventory.members[at])
    };
    assert_eq!(
        [0, 1, 2].map(template),
        [
            Some("web/crds/a.yaml"),
            Some("web/crds/a.yaml"),
            Some("web/templates/c.yaml")
        ]
    );
}

#[test]
fn labels_of_neighbours_are_evidence_only_within_one_chart() {
    let chart = format!(
        "---\n# Source: web/templates/b.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: b, {CHART}}}\n"
    );
    let evident = |source: &str| {
        let plain = format!("{source}apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\n");
        let inventory = inventory_of("a.yaml", &format!("{plain}{chart}"));
        Analysis::of(&inventory)
            .deliveries()
            .evident(&inventory.members[0])
    };
    assert_eq!(
        evident("---\n# Source: web/templates/a.yaml\n"),
        Some(Regime::Helm)
    );
    assert_eq!(evident("---\n"), None);
}
