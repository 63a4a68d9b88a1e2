//! A Provider of Crossplane that a delivery tool deletes together with the resources that only it can release.

use std::collections::BTreeSet;

use super::early_hooks::EarlyHooks;
use crate::delivery::{DeliveredSet, Regime, argocd, marks};
use crate::inventory::Member;
use crate::kube::GroupKind;
use crate::rules::draft::Draft;
use crate::rules::finalizers::held::counted;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::named;

pub(in crate::rules) static PROVIDER_DELETED_FIRST: Rule = rule!(
    Finalizers,
    "provider-deleted-first",
    Warning,
    Stuck,
    "A delivery tool deletes a Crossplane Provider together with the resources that only it can release",
    provider_deleted_first
);

const PROVIDER: GroupKind<&str> = GroupKind::new("pkg.crossplane.io", "Provider");

/// Domains of the API groups of providers: `s3.aws.upbound.io`, and `s3.aws.m.upbound.io` for namespaced kinds.
const DOMAINS: [&str; 2] = ["crossplane.io", "upbound.io"];

fn provider_deleted_first(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    if inventory.of_kind(PROVIDER).next().is_none() {
        return;
    }
    for set in context.analysis.deliveries().sets(inventory) {
        let members: Vec<&Member> = set.members.iter().map(|id| inventory.member(*id)).collect();
        let providers = members.iter().filter(|member| member.object.is(PROVIDER));
        let mut providers = providers.peekable();
        if providers.peek().is_none() {
            continue;
        }
        let mut hooks = EarlyHooks::of(context, &set);
        for provider in providers {
            let Some(names) = package_names(provider) else {
                continue;
            };
            let left = members.iter().copied().filter(|member| {
                is_managed(member.key.group_kind(), &names)
                    && !goes_first(&set, member, provider)
                    && !hooks.may_release(context, member, None)
            });
            let left: Vec<&Member> = left.collect();
            if !left.is_empty() {
                sink.push(hooks.beside(finding(provider, &left, &set)));
            }
        }
    }
}

/// Returns the parts of a package's name in reverse, as in an API group: `provider-aws-s3` manages `s3.aws`.
fn package_names(provider: &Member) -> Option<Vec<&str>> {
    let package = provider.object.value().str_at(&["spec", "package"])?;
    let image = package.rsplit('/').next()?;
    let name = image.split([':', '@']).next()?.strip_prefix("provider-")?;
    Some(name.rsplit('-').collect())
}

/// Whether a provider with the package `names` manages the objects of a kind. Objects that only configure the provider
/// do not have `finalizer.managedresource.crossplane.io` (crossplane-runtime pkg/reconciler/managed/reconciler.go).
fn is_managed(kind: GroupKind<&str>, names: &[&str]) -> bool {
    let domain = DOMAINS.into_iter().find_map(|domain| {
        let labels = kind.group.strip_suffix(domain)?.strip_suffix('.')?;
        Some(labels.strip_suffix(".m").unwrap_or(labels))
    });
    let configures =
        kind.kind.starts_with("ProviderConfig") || kind.kind == "ClusterProviderConfig";
    let Some(labels) = domain.filter(|_| !configures) else {
        return false;
    };
    // `provider-aws` manages every service of `aws`, `provider-aws-s3` only `s3`.
    labels.split('.').collect::<Vec<_>>().ends_with(names)
}

/// Whether the tool waits until the object is gone before it deletes the provider.
fn goes_first(set: &DeliveredSet, member: &Member, provider: &Member) -> bool {
    set.regime == Regime::ArgoCd && argocd::wave(member) > argocd::wave(provider)
}

fn finding(provider: &Member, left: &[&Member], set: &DeliveredSet) -> Draft {
    let who = named(provider);
    let removal = match set.regime {
        Regime::Helm => "uninstalling the release",
        Regime::ArgoCd => "deleting the Application",
        _ => "deleting what delivers it",
    };
    let objects = counted(named(left[0]), left.len());
    let mitigation = match set.regime {
        Regime::ArgoCd => format!(
            ", or give them a higher `{}` than the Provider: Argo CD deletes the highest wave first, and waits for it",
            marks::ARGOCD_SYNC_WAVE
        ),
        _ => ", and remove them first".to_owned(),
    };
    let kinds: BTreeSet<&str> = left.iter().map(|member| member.object.kind()).collect();
    Draft::on(
        provider,
        provider.object.name_span(),
        format!("{removal} may leave {objects} stuck: {who} is deleted at about the same time"),
    )
    .label("may be gone before the objects are released")
    .reason(format!(
        "The Pods of {who} put the finalizer `finalizer.managedresource.crossplane.io` on every object that they manage, and remove \
         it after they have deleted the external resource. Without them the objects stay Terminating, their external resources stay, \
         and the CustomResourceDefinitions of the Provider, which are deleted with it, get stuck too."
    ))
    .help(format!(
        "deliver the managed resources separately from their Provider{mitigation}"
    ))
    .field("metadata.name")
    .target(kinds.into_iter().collect::<Vec<_>>().join(","))
    .related_objects(left.iter().copied(), "is managed by the Provider")
}
