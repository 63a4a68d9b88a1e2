//! Accepted deletions. An object is accepted by its key, never by a pattern. A finding is accepted
//! if all lost objects that it is about, and all objects lost with these, are accepted.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::DiffReport;
use crate::finding::{Finding, Severity};
use crate::kube::{ObjectKey, shell};
use crate::merge::DiffEffect;
use crate::report::{Report, Summary};
use crate::text::{near, plain};

/// The deletions that a user wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acceptance {
    /// Keys of objects, as reports write them: `PersistentVolumeClaim/shop/data`. If several clusters lose an object,
    /// each key ends with `@` and the cluster: `PersistentVolumeClaim/shop/data@clusters/prod`.
    pub keys: BTreeSet<String>,
    /// The user who accepts them, if known.
    pub by: Option<String>,
}

/// A finding whose severity was lowered because its losses are accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "accepted")]
#[non_exhaustive]
pub struct AcceptedFinding {
    /// The fingerprint of the finding, which is reported as info.
    #[schemars(regex(pattern = "^[0-9a-f]{32}$"))]
    pub fingerprint: String,
    /// The severity that it had.
    pub severity: Severity,
    /// Who accepted it, if known.
    pub by: Option<String>,
}

/// The losses of a merge, and the objects that are lost together.
struct Losses<'r> {
    by_key: BTreeMap<String, Vec<&'r DiffEffect>>,
    /// The keys of the objects that are directly lost with an object: those that it owns, contains or delivers.
    with: BTreeMap<String, BTreeSet<String>>,
}

impl<'r> Losses<'r> {
    fn of(effects: &'r [DiffEffect]) -> Self {
        let mut losses = Self {
            by_key: BTreeMap::new(),
            with: BTreeMap::new(),
        };
        let effects = effects.iter().filter(|effect| !effect.is_supposed());
        for effect in effects.filter(|effect| effect.effect.is_loss()) {
            let key = effect.key.to_string();
            let mut because = effect.because.iter().rev();
            let above = because.find(|above| **above != effect.key);
            let delivery = effect.delivery.as_ref();
            let delivery = delivery.and_then(|delivery| delivery.key.clone());
            for above in above.map(ObjectKey::to_string).into_iter().chain(delivery) {
                losses.with.entry(above).or_default().insert(key.clone());
            }
            losses.by_key.entry(key).or_default().push(effect);
        }
        losses
    }

    /// Returns the names of the lost objects that `finding` is about, and of all objects that are lost with them.
    fn names(&self, finding: &Finding) -> BTreeSet<String> {
        let about = finding.object.iter().chain(&finding.alike);
        let mut pending: Vec<String> = about.map(ObjectKey::to_string).collect();
        let (mut seen, mut names) = (BTreeSet::new(), BTreeSet::new());
        while let Some(key) = pending.pop() {
            let lost = self.by_key.get(&key).into_iter().flatten();
            names.extend(lost.map(|effect| self.name(effect)));
            let with = self.with.get(&key).into_iter().flatten().cloned();
            if seen.insert(key) {
                pending.extend(with);
            }
        }
        names
    }

    fn name(&self, effect: &DiffEffect) -> String {
        let key = effect.key.to_string();
        let mut others = self.by_key.get(&key).into_iter().flatten();
        match &effect.cluster {
            Some(cluster) if others.any(|other| other.cluster != effect.cluster) => {
                format!("{key}@{cluster}")
            }
            _ => key,
        }
    }
}

/// Whether `key` and `lost` are full keys of different kinds, not kubectl names such as `pvc/data`.
fn differ_in_kind(key: &str, lost: &str) -> bool {
    if key.starts_with(|c: char| c.is_ascii_lowercase()) {
        return false;
    }
    let (key, lost) = (without_cluster(key), without_cluster(lost));
    match (key.parse::<ObjectKey>(), lost.parse::<ObjectKey>()) {
        (Ok(key), Ok(lost)) => key.group_kind() != lost.group_kind(),
        _ => false,
    }
}

/// Returns the name in a key or in `kind/name`, without the cluster after `@`.
fn name_of(key: &str) -> &str {
    let key = without_cluster(key);
    key.splitn(3, '/').last().unwrap_or(key)
}

fn without_cluster(key: &str) -> &str {
    key.split_once('@').map_or(key, |(key, _)| key)
}

impl DiffReport {
    /// Lowers the severity of the findings whose lost objects are all accepted, and adds a note on each key that names
    /// no lost object. Losses that depend on an unknown tool are never accepted.
    #[must_use]
    pub fn accepting(mut self, acceptance: &Acceptance) -> Self {
        if acceptance.keys.is_empty() {
            return self;
        }
        let losses = Losses::of(&self.effects);
        for reported in &mut self.findings.findings {
            let finding = &mut reported.finding;
            let names = losses.names(finding);
            if names.is_disjoint(&acceptance.keys) {
                continue;
            }
            let missing = names.difference(&acceptance.keys);
            let missing: Vec<String> = missing.map(|key| plain::one_line(key)).collect();
            if !missing.is_empty() {
                self.notes.push(format!(
                    "{}: not accepted, because {} of the {} that it deletes {} not: {}",
                    finding.rule,
                    missing.len(),
                    plain::count(names.len(), "object"),
                    if missing.len() == 1 { "is" } else { "are" },
                    plain::few(&missing),
                ));
                continue;
            }
            self.accepted.push(AcceptedFinding {
                fingerprint: reported.fingerprint.to_string(),
                severity: finding.severity,
                by: acceptance.by.clone(),
            });
            finding.severity = Severity::Info;
            let by = acceptance.by.as_deref().map(plain::one_line);
            let by = by.map(|by| format!(" by {by}")).unwrap_or_default();
            finding.message.push_str(&format!(" (accepted{by})"));
        }
        let lost = losses.by_key.values().flatten();
        let lost: BTreeSet<String> = lost.map(|effect| losses.name(effect)).collect();
        let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for lost in &lost {
            by_name.entry(name_of(lost)).or_default().push(lost);
        }
        for key in acceptance.keys.difference(&lost) {
            // The namespace and the cluster of a key may be wrong.
            let name = name_of(key);
            let alike = by_name.get(name);
            let alike = alike.or_else(|| by_name.get(near::nearest(name, by_name.keys())?));
            let alike = alike.into_iter().flatten();
            let meant: Vec<String> = alike
                .filter(|lost| !differ_in_kind(key, lost))
                .map(|lost| plain::one_line(lost))
                .collect();
            let meant = plain::few(&meant);
            let key = plain::one_line(key);
            self.notes.push(match meant.as_str() {
                "" => format!("`{key}` is accepted, but nothing deletes it"),
                meant => format!(
                    "`{key}` is accepted, but is not the key of a deleted object: did you mean \
                     {meant}?"
                ),
            });
        }
        let counted = Summary::of(&self.findings.findings);
        let summary = &mut self.findings.summary;
        summary.error = counted.error;
        summary.warning = counted.warning;
        summary.info = counted.info;
        self
    }

    /// Whether a finding that is not accepted has at least the severity `least`.
    pub fn reaches(&self, least: Severity) -> bool {
        let accepted = self.accepted_fingerprints();
        let mut findings = self.findings.findings.iter();
        findings.any(|reported| {
            let fingerprint = reported.fingerprint.to_string();
            reported.finding.severity >= least && !accepted.contains(fingerprint.as_str())
        })
    }

    /// Returns the accepted findings of `report`.
    pub(super) fn accepted_in<'f>(&self, report: &'f Report) -> Vec<&'f Finding> {
        let accepted = self.accepted_fingerprints();
        let findings = report.findings.iter().filter(|reported| {
            let fingerprint = reported.fingerprint.to_string();
            accepted.contains(fingerprint.as_str())
        });
        findings.map(|reported| &reported.finding).collect()
    }

    fn accepted_fingerprints(&self) -> BTreeSet<&str> {
        let accepted = self.accepted.iter();
        accepted.map(|one| one.fingerprint.as_str()).collect()
    }

    /// Returns how to accept the findings above info on the command line; `None` if they report no loss.
    pub fn how_to_accept(&self) -> Option<String> {
        let keys = self.acceptable();
        let only = keys.first().filter(|_| keys.len() == 1);
        Some(match (only, keys.len()) {
            (_, 0) => return None,
            (Some(key), _) => {
                let option = shell::line(["--accept", key]);
                format!("if this is intended: `{option}`")
            }
            (None, many) => format!(
                "if this is intended: `--accept KEY` for each of the {many} keys that `--output \
                 markdown` lists"
            ),
        })
    }

    /// Returns the keys that accept all findings above info.
    pub(super) fn acceptable(&self) -> BTreeSet<String> {
        let losses = Losses::of(&self.effects);
        let findings = self.findings.findings.iter();
        let findings = findings.map(|reported| &reported.finding);
        let counting = findings.filter(|finding| finding.severity > Severity::Info);
        counting.flat_map(|finding| losses.names(finding)).collect()
    }
}
