//! CustomResourceDefinitions that move from the folder `crds` of a chart into its templates.

use super::places::{on_name, related_in_head};
use crate::charts::in_crds_folder;
use crate::delivery::{FluxObject, Regime, marks};
use crate::finding::Severity;
use crate::inventory::Member;
use crate::kube::kinds;
use crate::merge::Merge;
use crate::rules::draft::Draft;
use crate::rules::rule::{Rule, Sink, rule};
use crate::rules::words::named;

pub(in crate::rules) static CRD_JOINS_RELEASE: Rule = rule!(
    Change,
    "crd-joins-release",
    Warning,
    Rejected,
    "A CustomResourceDefinition moves from the folder `crds` of a chart to its templates: Helm rejects the one that exists",
    change crd_joins_release
);

fn crd_joins_release(merge: &Merge<'_>, sink: &mut Sink) {
    let base = merge.part.base;
    for crd in base.inventory.of_kind(kinds::CUSTOM_RESOURCE_DEFINITION) {
        let was = merge
            .part
            .analysis
            .deliveries()
            .template(&base.inventory, crd);
        let is_owned = crd
            .object
            .metadata()
            .annotation(marks::HELM_RELEASE_NAME)
            .is_some();
        if is_owned || !base.applies(crd) || !was.is_some_and(in_crds_folder) {
            continue;
        }
        let Some(after) = merge.part.updated(crd) else {
            continue;
        };
        if merge
            .part
            .template_in_head(after)
            .is_none_or(in_crds_folder)
        {
            continue;
        }
        match merge.regime_of(crd) {
            Regime::Helm => sink.push(rejected(merge, crd, after)),
            Regime::Flux(FluxObject::HelmRelease) => sink.push(taken_over(merge, crd, after)),
            Regime::Flux(FluxObject::Kustomization) | Regime::ArgoCd | Regime::Kubectl => {}
        }
    }
}

fn rejected(merge: &Merge<'_>, crd: &Member, after: &Member) -> Draft {
    let who = named(crd);
    let message =
        format!("`helm upgrade` fails on {who}, which moves from `crds` to the templates");
    moved(merge, crd, after, message)
        .reason(
            "Helm installs the folder `crds` once and does not make it part of the release. It \
             rejects an object of the templates that already exists without the annotations of the \
             release: \"exists and cannot be imported into the current release\".",
        )
        .help(
            "upgrade once with `--take-ownership` (Helm 3.17 or newer); or before the upgrade, annotate the definition in the cluster \
             with `meta.helm.sh/release-name` and `meta.helm.sh/release-namespace`, and label it `app.kubernetes.io/managed-by: Helm`",
        )
}

fn taken_over(merge: &Merge<'_>, crd: &Member, after: &Member) -> Draft {
    let who = named(crd);
    let message = format!("{who} becomes part of its HelmRelease, whose uninstall then deletes it");
    moved(merge, crd, after, message)
        .reason(
            "The definition moves from the folder `crds` of the chart, which Helm never deletes, to the templates. helm-controller takes \
             an existing object over, unless the HelmRelease sets `spec.upgrade.disableTakeOwnership` or the controller is too old for \
             this setting: then the upgrade fails.",
        )
        .help("annotate the definition in the templates with `helm.sh/resource-policy: keep`, so that no uninstall deletes it")
        .severity(Severity::Info)
}

fn moved(merge: &Merge<'_>, crd: &Member, after: &Member, message: String) -> Draft {
    let draft = on_name(merge, crd, message).label("is in the folder `crds`");
    related_in_head(draft, merge, after, "is in the templates")
}
