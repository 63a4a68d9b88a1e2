//! Runs the rules and takes their findings through suppressions, baseline and scope to the report.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use foldhash::{HashMap, HashSet};
use rayon::prelude::*;

use super::cascade::cascades;
use super::check::Check;
use super::coverage::{Coverage, ReadExtent};
use super::describe::{describe_as, run_info, tool};
use super::input::Bundle;
use super::judge;
use super::list::skipped_in;
use super::merge::{Merged, places};
use super::notes::{note_on_test_data, note_on_unlisted, notes_on_links, remedy};
use super::repeats;
use super::scope::FilesInScope;
use super::standing::{ByStanding, Standings, by_standing};
use super::summary::{OwnFiles, statistics, summarise};
use crate::baseline::Parted;
use crate::cluster::{Analysis, PlanCache};
use crate::finding::{Finding, Fingerprint, Identity, Severity, fingerprint};
use crate::inventory::Inventory;
use crate::knowledge::Tables;
use crate::kube::ObjectKey;
use crate::report::{Cascades, Graphs, Note, Place, Report, Reported, Summary, SuppressedFinding};
use crate::rules::{self, Rule, RunOutcome};
use crate::suppression::{Directive, Directives, Suppressed, Suppressions};
use crate::text::FileId;

/// Runs the selected rules over one bundle.
pub fn check(inventory: Inventory, check: &Check) -> Report {
    let tables = check.tables.clone().unwrap_or_else(Tables::bundled);
    check_bundles(&[Bundle::of(inventory, check.world, tables)], check)
}

/// Runs the selected rules on each bundle by itself, and merges the findings into one report. Repeated findings are
/// combined, unless `check.every` is set.
pub(super) fn check_bundles(bundles: &[Bundle], check: &Check) -> Report {
    let analyses: Vec<Analysis<'_>> = bundles.iter().map(Bundle::analysis).collect();
    check_analysed(bundles, &analyses.iter().collect::<Vec<_>>(), check)
}

/// Runs [`check_bundles`] with existing analyses, one for each bundle, which the caller can use again afterwards.
pub(super) fn check_analysed(
    bundles: &[Bundle],
    analyses: &[&Analysis<'_>],
    check: &Check,
) -> Report {
    let config = check.ignores.as_ref().map(|(file, _)| file);
    let baseline = check.baseline.as_ref().map(|(file, _)| file);
    let (merged, directives): (Merged, Vec<Directives>) = rayon::join(
        || {
            let files: Vec<_> = bundles.iter().map(Bundle::reported_files).collect();
            let files = files.iter().map(|files| files.iter().collect());
            Merged::new(&files.collect::<Vec<_>>(), config, baseline)
        },
        || {
            let inventories = bundles.iter().map(|bundle| &bundle.inventory);
            inventories.map(Directives::new).collect()
        },
    );
    let plans: Vec<PlanCache<'_>> = analyses
        .iter()
        .map(|analysis| PlanCache::new(analysis))
        .collect();
    let scope = FilesInScope::of(check.only.as_ref(), bundles, &merged);
    let run = Run {
        check,
        bundles,
        plans: &plans,
        directives: &directives,
        merged: &merged,
        rules: check.selection.rules(),
        scope: &scope,
        known: OnceLock::new(),
    };
    let (judged, mut skipped) = rayon::join(|| run.judge(), || skipped_in(bundles));
    let mut notes = [check.notes.clone(), judged.notes].concat();
    let findings = run.identified(judged.findings);
    let mut standings = Standings::new(bundles, analyses.to_vec(), &merged);
    let ByStanding {
        kept: findings,
        mut test_data,
    } = if check.as_applied {
        ByStanding {
            kept: findings,
            ..ByStanding::default()
        }
    } else {
        by_standing(findings, &mut standings, &check.severities)
    };
    test_data.retain(|(_, reported)| scope.has(&reported.finding));
    notes.extend(note_on_test_data(
        test_data.iter().map(|(glob, _)| glob.as_str()),
    ));
    let Divided {
        mut kept,
        mut suppressed,
    } = run.suppress(findings, judged.directives, &judged.cut_short);
    kept.retain(|reported| scope.has(&reported.finding));
    suppressed.extend(
        test_data
            .into_iter()
            .map(|(glob, reported)| SuppressedFinding {
                reported,
                reason: Some(format!("test data (`{glob}`), which nothing delivers")),
            }),
    );
    let Parted {
        new: mut findings,
        known,
        stale,
    } = run.part(kept, &judged.cut_short);
    findings.extend(run.outcome(&RunOutcome {
        stale: &stale,
        ..RunOutcome::default()
    }));
    findings.sort_by(|a, b| order(&a.finding).cmp(&order(&b.finding)));
    let is_reported = |reported: &Reported| scope.touches(&reported.finding, |file| file);
    findings.retain(is_reported);
    suppressed.retain(|suppressed| is_reported(&suppressed.reported));
    suppressed.sort_by(|a, b| order(&a.reported.finding).cmp(&order(&b.reported.finding)));
    let before = check.before.as_ref().map(|before| {
        let all = before.divide(std::mem::take(&mut findings), finding_of);
        findings = all.new;
        all.known.len()
    });
    let statistics = check
        .statistics
        .then(|| statistics(&findings, &suppressed, &mut standings));
    if !check.every {
        findings = repeats::once(findings);
    }
    let own = OwnFiles::new(check);
    skipped.retain(|skip| !own.contains(&skip.file));
    let summary = Summary {
        suppressed: suppressed.len(),
        baseline: known
            .iter()
            .filter(|reported| is_reported(reported))
            .count(),
        before,
        skipped: skipped.iter().filter(|skip| !skip.is_empty()).count(),
        ..summarise(bundles, &merged, &scope, &own, &findings)
    };
    let rules = run
        .rules
        .iter()
        .map(|rule| describe_as(rule, &check.severities))
        .collect();
    let cascades = match check.graphs {
        Graphs::Drawn => cascades(&plans, &merged.sets, &findings),
        Graphs::LeftOut => Cascades::default(),
    };
    Report {
        tool: tool(),
        run: run_info(bundles, check),
        remedy: remedy(&findings, &merged.sources, bundles),
        findings,
        rules,
        summary,
        statistics,
        suppressed,
        notes,
        skipped,
        cascades,
        files_of_bundles: in_order(merged.sets),
        context: scope.context(),
        sources: merged.sources,
    }
}

/// The input of every step of a check.
struct Run<'a> {
    check: &'a Check,
    bundles: &'a [Bundle],
    /// The simulations of each bundle.
    plans: &'a [PlanCache<'a>],
    directives: &'a [Directives],
    merged: &'a Merged,
    rules: Vec<&'static Rule>,
    scope: &'a FilesInScope,
    /// Identities of the findings in the baseline and of those from before a change.
    known: OnceLock<HashSet<Identity>>,
}

/// The findings about all bundles, with places in the merged files.
#[derive(Default)]
struct JudgedBundles {
    findings: Vec<(Finding, Vec<Option<Place>>)>,
    directives: Vec<Directive>,
    notes: Vec<Note>,
    /// Ids of the rules that exceeded a limit, so that some of their findings are missing.
    cut_short: CutShort,
}

type CutShort = HashSet<&'static str>;

/// Findings, divided by the suppressions.
struct Divided {
    kept: Vec<Reported>,
    suppressed: Vec<SuppressedFinding>,
}

impl Run<'_> {
    fn judge(&self) -> JudgedBundles {
        let mut all = JudgedBundles::default();
        for (at, bundle) in self.bundles.iter().enumerate() {
            let (plans, directives) = (&self.plans[at], &self.directives[at]);
            let files = &self.merged.sets[at];
            let suppressions = OnceLock::new();
            let verdict = judge::judge(
                bundle,
                plans,
                directives,
                &self.rules,
                self.check.fixes,
                self.check.renders,
                &|finding| {
                    self.scope.touches(finding, |file| files[file.0 as usize])
                        && !suppressions
                            .get_or_init(|| self.suppressions(directives.directives.clone()))
                            .suppress(finding)
                        && !self.known().contains(&Identity::of(finding))
                },
            );
            let chained = verdict
                .findings
                .iter()
                .any(|finding| !finding.chain.objects.is_empty());
            let places = chained.then(|| places(bundle, files));
            for mut finding in verdict.findings {
                self.merged.relocate(&mut finding, at);
                let chain = finding
                    .chain
                    .objects
                    .iter()
                    .map(|key| places.as_ref()?.get(key).copied())
                    .collect();
                all.findings.push((finding, chain));
            }
            all.directives
                .extend(directives.directives.iter().map(|directive| Directive {
                    file: files[directive.file.0 as usize],
                    ..directive.clone()
                }));
            all.notes.extend(verdict.notes);
            all.cut_short.extend(verdict.cut_short);
            all.notes.extend(notes_on_links(&bundle.outside));
            all.notes.extend(note_on_unlisted(bundle));
        }
        // A file in two bundles is checked twice: duplicates are removed.
        all.findings.sort_by(|a, b| order(&a.0).cmp(&order(&b.0)));
        all.findings.dedup_by(|a, b| a.0 == b.0);
        all.notes.dedup();
        all
    }

    /// Computes fingerprints from all findings, so that none depends on suppressions, the baseline or the scope.
    fn identified(&self, found: Vec<(Finding, Vec<Option<Place>>)>) -> Vec<Reported> {
        if found.is_empty() {
            return Vec::new();
        }
        // Only objects with findings are counted: they are few.
        let mut definitions: HashMap<ObjectKey, usize> = found
            .iter()
            .filter_map(|(finding, _)| Some((finding.object.clone()?, 0)))
            .collect();
        for bundle in self.bundles {
            let keys = bundle
                .inventory
                .members
                .par_iter()
                .map(|member| &member.key);
            let found: Vec<&ObjectKey> =
                keys.filter(|key| definitions.contains_key(*key)).collect();
            for key in found {
                *definitions.entry(key.clone()).or_default() += 1;
            }
        }
        let findings = found.iter().map(|(finding, _)| finding);
        let prints = self.fingerprints(findings, |key| {
            definitions.get(key).copied().unwrap_or_default()
        });
        let severities = &self.check.severities;
        found
            .into_iter()
            .zip(prints)
            .map(|((finding, chain), print)| reported(finding, chain, print, severities))
            .collect()
    }

    fn fingerprints<'f>(
        &self,
        findings: impl Iterator<Item = &'f Finding>,
        defined_in: impl Fn(&ObjectKey) -> usize,
    ) -> Vec<Fingerprint> {
        let findings: Vec<&Finding> = findings.collect();
        fingerprint(
            findings,
            |finding| self.merged.sources.file(finding.primary.file).path(),
            defined_in,
        )
    }

    /// Removes suppressed findings, and adds the findings on suppressions without effect, which can be suppressed too.
    fn suppress(
        &self,
        findings: Vec<Reported>,
        directives: Vec<Directive>,
        cut_short: &CutShort,
    ) -> Divided {
        let mut suppressions = self.suppressions(directives);
        let first = suppressions.apply(findings, finding_of);
        let idle = suppressions.idle(
            |rule| self.judges_bundles(rule) && !cut_short.contains(rule),
            self.objects(),
        );
        let second = suppressions.apply(
            self.outcome(&RunOutcome {
                idle: &idle,
                ..RunOutcome::default()
            }),
            finding_of,
        );
        let mut kept = first.kept;
        kept.extend(second.kept);
        kept.sort_by(|a, b| order(&a.finding).cmp(&order(&b.finding)));
        let suppressed = first.suppressed.into_iter().chain(second.suppressed);
        Divided {
            kept,
            suppressed: suppressed.map(suppressed_finding).collect(),
        }
    }

    fn suppressions(&self, directives: Vec<Directive>) -> Suppressions {
        let ignores = self.check.ignores.as_ref();
        let ignores = ignores.map(|(_, ignores)| ignores.clone());
        Suppressions::new(
            directives,
            ignores.unwrap_or_default(),
            self.merged.config,
            self.check.today,
        )
    }

    /// Returns the identities of the findings in the baseline and of those from before a change.
    fn known(&self) -> &HashSet<Identity> {
        self.known.get_or_init(|| {
            let baseline = self.check.baseline.as_ref().map(|(_, baseline)| baseline);
            let entries = baseline
                .into_iter()
                .chain(&self.check.before)
                .flat_map(|known| &known.entries);
            entries.map(|entry| entry.identity.clone()).collect()
        })
    }

    /// Whether a rule ran on the bundles. Rules on the outcome run later, so it is not known yet
    /// whether suppressions of their findings have an effect.
    fn judges_bundles(&self, rule: &str) -> bool {
        self.rules
            .iter()
            .any(|ran| ran.id == rule && matches!(ran.check, rules::RuleCheck::Bundle(_)))
    }

    /// Returns the objects that were read, if the input is incomplete. An unused ignore of the configuration is then
    /// reported only if it matches one of them; `None` means that all unused ones are reported.
    fn objects(&self) -> Option<impl Iterator<Item = &ObjectKey>> {
        let members = self.bundles.iter().flat_map(Bundle::asked_for);
        (self.check.extent != ReadExtent::Whole).then(|| members.map(|member| &member.key))
    }

    fn outcome(&self, outcome: &RunOutcome<'_>) -> Vec<Reported> {
        let mut findings: Vec<_> = self
            .rules
            .iter()
            .flat_map(|rule| rule.run_on_outcome(outcome))
            .collect();
        findings.sort_by(|a, b| order(a).cmp(&order(b)));
        let prints = self.fingerprints(findings.iter(), |_| 0);
        let severities = &self.check.severities;
        findings
            .into_iter()
            .zip(prints)
            .map(|(finding, print)| reported(finding, Vec::new(), print, severities))
            .collect()
    }

    /// Divides findings by the baseline. Entries of rules in `cut_short` are not stale: their findings may be missing.
    fn part(&self, findings: Vec<Reported>, cut_short: &CutShort) -> Parted<Reported> {
        let (Some((_, baseline)), Some(file)) = (&self.check.baseline, self.merged.baseline) else {
            return Parted {
                new: findings,
                known: Vec::new(),
                stale: Vec::new(),
            };
        };
        let coverage = Coverage::of(
            self.bundles,
            self.rules.iter().map(|rule| rule.id),
            self.check.extent,
        );
        baseline.part(
            findings,
            finding_of,
            |entry, found| {
                !cut_short.contains(entry.identity.rule.as_str()) && coverage.judges(entry, found)
            },
            file,
        )
    }
}

/// Sorts the files of each bundle, which may have other paths in the inventory than in the report.
fn in_order(mut files: Vec<Vec<FileId>>) -> Vec<Vec<FileId>> {
    for of_bundle in &mut files {
        of_bundle.sort_unstable();
    }
    files
}

/// Adds to a finding its fingerprint, its documentation, and the severity that is configured for its rule.
pub(super) fn reported(
    mut finding: Finding,
    chain_places: Vec<Option<Place>>,
    fingerprint: Fingerprint,
    severities: &BTreeMap<&'static str, Severity>,
) -> Reported {
    let certainty = finding.severity.into();
    if let Some(severity) = severities.get(finding.rule) {
        finding.severity = *severity;
    }
    Reported {
        url: rules::find(finding.rule).map(Rule::url),
        certainty,
        chain_places,
        finding,
        fingerprint,
    }
}

pub(super) fn suppressed_finding(suppressed: Suppressed<Reported>) -> SuppressedFinding {
    SuppressedFinding {
        reported: suppressed.finding,
        reason: suppressed.reason,
    }
}

fn finding_of(reported: &Reported) -> &Finding {
    &reported.finding
}

/// Returns the sort key (path, offset, rule): file ids are in path order. The other fields only make the order total.
pub(super) fn order(finding: &Finding) -> impl Ord + '_ {
    let Finding {
        rule,
        primary,
        field,
        message,
        ..
    } = finding;
    (primary.file, primary.span, *rule, field, message)
}
