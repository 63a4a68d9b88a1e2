//! Written protections that have no effect: a misspelled key, a value that the tool does not know,
//! a label where the tool reads annotations.
//!
//! Recognition is strict: only keys and values that are clearly meant as a protection count.

use super::marks::{self, sync_options};
use crate::manifest::{Metadata, Spanned};
use crate::text::near::{is_misspelling, meant};

/// The reason why a protection lacks some or all of its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw<'a> {
    /// No tool reads the key; the key that is meant.
    Key(&'static str),
    /// Helm reads the annotation and does not know the value.
    Policy,
    /// `helm.sh/resource-policy: Keep`: `helm uninstall` keeps the object, `helm upgrade` does not.
    PolicyCase,
    /// An item of `argocd.argoproj.io/sync-options` that Argo CD does not know; the option that is meant.
    Option {
        /// The item as written.
        written: &'a str,
        /// The item as Argo CD reads it.
        meant: &'static str,
    },
    /// An unknown value of one of Flux's keys; the value that is meant.
    FluxValue(&'static str),
    /// Written as a label; the tool reads annotations.
    Label,
}

/// A protection that lacks some or all of its effect.
#[derive(Clone, Copy, Debug)]
pub struct IneffectiveProtection<'a> {
    /// The key as written.
    pub key: &'a str,
    /// The value, with the places of both.
    pub value: Spanned<&'a str>,
    /// Whether it is a label.
    pub is_label: bool,
    /// Why it lacks some or all of its effect.
    pub flaw: Flaw<'a>,
}

/// Values that are meant to switch something off.
const OFF: [&str; 10] = [
    "false", "no", "off", "disable", "disabled", "never", "none", "skip", "ignore", "keep",
];

/// Returns the protections of `metadata` that lack some or all of their effect.
pub fn ineffective_protections(metadata: Metadata<'_>) -> Vec<IneffectiveProtection<'_>> {
    let labels = metadata.labels().iter().map(|entry| (entry, true));
    let annotations = metadata.annotations().iter().map(|entry| (entry, false));
    let mut protections = Vec::new();
    for ((key, value), is_label) in labels.chain(annotations) {
        let flaws = match key {
            marks::HELM_RESOURCE_POLICY => Vec::from_iter(policy(value.value, is_label)),
            marks::ARGOCD_SYNC_OPTIONS => options(value.value, is_label),
            marks::FLUX_PRUNE | marks::FLUX_RECONCILE => Vec::from_iter(opt_out(value.value)),
            marks::FLUX_SSA => Vec::from_iter(apply_mode(value.value)),
            _ => Vec::from_iter(misspelled(key, value.value).map(Flaw::Key)),
        };
        protections.extend(flaws.into_iter().map(|flaw| IneffectiveProtection {
            key,
            value,
            is_label,
            flaw,
        }));
    }
    protections
}

fn policy(value: &str, is_label: bool) -> Option<Flaw<'_>> {
    match value {
        _ if is_label => Some(Flaw::Label),
        "keep" => None,
        _ if value.trim().eq_ignore_ascii_case("keep") => Some(Flaw::PolicyCase),
        _ => Some(Flaw::Policy),
    }
}

fn options(value: &str, is_label: bool) -> Vec<Flaw<'_>> {
    if is_label {
        return vec![Flaw::Label];
    }
    let flaws = sync_options(value).filter_map(|written| {
        let meant = meant_option(written)?;
        Some(Flaw::Option { written, meant })
    });
    flaws.collect()
}

/// Returns the protecting option that an unknown item means.
fn meant_option(written: &str) -> Option<&'static str> {
    const PROTECTING: [&str; 4] = [
        "Prune=false",
        "Prune=confirm",
        "Delete=false",
        "Delete=confirm",
    ];
    if PROTECTING.contains(&written) {
        return None;
    }
    let separated = written.split([';', '|', ' ', '\n']).collect::<Vec<_>>();
    let mut protecting = PROTECTING.into_iter();
    if let Some(option) = protecting.find(|option| separated.contains(option)) {
        return Some(option);
    }
    let (name, value) = written.split_once(['=', ':', ' '])?;
    let (name, value) = (letters(name), letters(value));
    let value = if OFF.contains(&value.as_str()) {
        "false".to_owned()
    } else {
        value
    };
    PROTECTING
        .into_iter()
        .find(|option| letters(option) == format!("{name}{value}"))
}

/// Returns the ASCII letters and digits of a text, in lower case.
fn letters(text: &str) -> String {
    text.chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_lowercase()
}

/// Checks a value that Flux compares with `disabled`, ignoring case.
fn opt_out(value: &str) -> Option<Flaw<'static>> {
    let written = value.trim().to_lowercase();
    let known = value.eq_ignore_ascii_case("disabled");
    let off = OFF.contains(&written.as_str()) || is_misspelling(&written, "disabled");
    (!known && off).then_some(Flaw::FluxValue("disabled"))
}

/// Checks a value that Flux compares with `Ignore`, ignoring case. The other modes are known too.
fn apply_mode(value: &str) -> Option<Flaw<'static>> {
    let known = ["Ignore", "Override", "Merge", "IfNotPresent"]
        .iter()
        .any(|mode| mode.eq_ignore_ascii_case(value));
    let off =
        is_misspelling(value.trim(), "Ignore") || value.trim().eq_ignore_ascii_case("disabled");
    (!known && off).then_some(Flaw::FluxValue("Ignore"))
}

/// Returns the protecting key that `key` misspells: its domain and name are equal or similar.
fn misspelled(key: &str, value: &str) -> Option<&'static str> {
    const HELM: [&str; 3] = ["helm.sh", "meta.helm.sh", "helm.io"];
    const ARGO_CD: [&str; 4] = [
        "argocd.argoproj.io",
        "argo-cd.argoproj.io",
        "argoproj.io",
        "argocd.io",
    ];
    const FLUX: [&str; 6] = [
        "kustomize.toolkit.fluxcd.io",
        "kustomization.toolkit.fluxcd.io",
        "helm.toolkit.fluxcd.io",
        "toolkit.fluxcd.io",
        "kustomize.fluxcd.io",
        "fluxcd.io",
    ];
    let (domain, name) = key.split_once('/')?;
    // Most keys are in Kubernetes' own domains, and no tool's domain is similar to those.
    if domain.ends_with(".kubernetes.io") {
        return None;
    }
    // The domain is compared first: it rarely matches, and comparing it is cheaper than comparing names.
    if is_domain(domain, &HELM) && meant(name, &["resource-policy"]).is_some() {
        return Some(marks::HELM_RESOURCE_POLICY);
    }
    if is_domain(domain, &ARGO_CD)
        && (meant(name, &["sync-options"]).is_some()
            || name.eq_ignore_ascii_case("prune")
            || name.eq_ignore_ascii_case("delete"))
        && says_one_of(value, &["false", "confirm", "disable"])
    {
        return Some(marks::ARGOCD_SYNC_OPTIONS);
    }
    (is_domain(domain, &FLUX)
        && meant(name, &["prune"]).is_some()
        && says_one_of(value, &["disable"]))
    .then_some(marks::FLUX_PRUNE)
}

/// Whether `domain` is one of a tool's domains or a misspelling of the first.
fn is_domain(domain: &str, tool: &[&str]) -> bool {
    tool.contains(&domain) || is_misspelling(domain, tool[0])
}

/// Whether a value contains one of `words`, which are in lower case.
fn says_one_of(value: &str, words: &[&str]) -> bool {
    let value = value.to_lowercase();
    words.iter().any(|word| value.contains(word))
}
