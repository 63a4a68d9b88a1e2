//! Takes the findings of a change from the rules to the report: configured severity, suppressions of base, order.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use foldhash::HashMap;

use super::configured::Judging;
use crate::changes::BothSides;
use crate::engine::describe::{describe_as, tool};
use crate::engine::judge::{Judgement, run_all};
use crate::engine::merge::Merged;
use crate::engine::run::{order, reported, suppressed_finding};
use crate::finding::{Finding, fingerprint};
use crate::kube::ObjectKey;
use crate::merge::Merge;
use crate::report::{Cascades, Note, Report, Reported, RunInfo, Summary};
use crate::suppression::{Applied, Directive, Directives, Suppressions};
use crate::text::FileId;

/// The findings of the rules of change, part by part.
#[derive(Debug, Default)]
pub(super) struct Judged {
    findings: Vec<Finding>,
    notes: Vec<Note>,
    /// The suppressions of base, computed on first use.
    suppressions: OnceLock<Suppressions>,
}

impl Judged {
    /// Runs the rules on one part.
    pub(super) fn add(&mut self, merge: &Merge<'_>, judging: &Judging) {
        let Judgement {
            findings, notes, ..
        } = run_all(&judging.rules, |rule| {
            rule.run_on_merge(merge, &|finding| {
                let suppressions = self
                    .suppressions
                    .get_or_init(|| suppressions(merge.part.sides, judging, false, |file| file));
                !suppressions.suppress(finding)
            })
        });
        self.findings.extend(findings);
        self.notes.extend(notes);
    }

    pub(super) fn report(self, sides: BothSides<'_>, judging: &Judging) -> Report {
        let Self {
            mut findings,
            mut notes,
            ..
        } = self;
        let merged = Merged::new(&[sides.files().collect()], None, None);
        let files = &merged.sets[0];
        for finding in &mut findings {
            merged.relocate(finding, 0);
        }
        // A file that several roots build is checked several times: duplicates are removed.
        findings.sort_by(|a, b| order(a).cmp(&order(b)));
        findings.dedup();
        notes.dedup();
        let mut definitions: HashMap<&ObjectKey, usize> = HashMap::default();
        for member in sides.base.iter().flat_map(|tree| &tree.inventory.members) {
            *definitions.entry(&member.key).or_default() += 1;
        }
        let prints = fingerprint(
            &findings,
            |finding| merged.sources.file(finding.primary.file).path(),
            |key| definitions.get(key).copied().unwrap_or_default(),
        );
        let findings = findings.into_iter().zip(prints);
        let findings: Vec<Reported> = findings
            .map(|(finding, print)| reported(finding, Vec::new(), print, &judging.severities))
            .collect();
        let mut suppressions = suppressions(sides, judging, findings.is_empty(), |file| {
            files[file.0 as usize]
        });
        let Applied {
            kept: findings,
            suppressed,
        } = suppressions.apply(findings, |reported| &reported.finding);
        let suppressed: Vec<_> = suppressed.into_iter().map(suppressed_finding).collect();
        Report {
            statistics: None,
            tool: tool(),
            run: RunInfo {
                configuration: judging.configuration.clone(),
                ..RunInfo::default()
            },
            summary: Summary {
                suppressed: suppressed.len(),
                ..summarise(sides, &findings)
            },
            rules: judging
                .rules
                .iter()
                .map(|rule| describe_as(rule, &judging.severities))
                .collect(),
            findings,
            suppressed,
            remedy: None,
            notes,
            skipped: Vec::new(),
            cascades: Cascades::default(),
            files_of_bundles: Vec::new(),
            context: BTreeSet::new(),
            sources: merged.sources,
        }
    }
}

/// Returns the suppressions of base, so that a change cannot suppress findings on itself. Unused ones are not reported.
fn suppressions(
    sides: BothSides<'_>,
    judging: &Judging,
    unneeded: bool,
    to: impl Fn(FileId) -> FileId,
) -> Suppressions {
    let trees = sides.base.iter().enumerate().filter(|_| !unneeded);
    let directives = trees.flat_map(|(at, tree)| {
        let directives = Directives::new(&tree.inventory).directives.into_iter();
        directives
            .map(|directive| Directive {
                file: to(sides.base_file(at, directive.file)),
                ..directive
            })
            .collect::<Vec<_>>()
    });
    Suppressions::new(
        directives.collect(),
        judging.ignores.clone(),
        None,
        judging.today,
    )
}

fn summarise(sides: BothSides<'_>, findings: &[Reported]) -> Summary {
    let files: BTreeSet<_> = sides
        .files()
        .map(|file| (file.path(), file.side()))
        .collect();
    let trees: Vec<_> = sides.base.iter().chain(sides.head).collect();
    Summary {
        files: files.len(),
        documents: trees.iter().map(|tree| tree.inventory.documents()).sum(),
        objects: trees.iter().map(|tree| tree.inventory.members.len()).sum(),
        ..Summary::of(findings)
    }
}
