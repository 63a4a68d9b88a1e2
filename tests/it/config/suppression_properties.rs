//! Baselines and suppressions survive all changes of text that change no object.

use std::collections::BTreeSet;

use ownerlint::baseline::Baseline;
use ownerlint::engine::{Check, check};
use ownerlint::report::Report;
use ownerlint::text::SourceFile;
use proptest::prelude::*;

use crate::properties::cases;
use crate::support::inventory_at;

/// The form of a suppression.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Silence {
    Above,
    Behind,
    Document,
    Annotation,
}

/// A ConfigMap that names Deployments of another namespace as owners. Each of them is a finding.
#[derive(Clone, Debug)]
struct Dependent {
    owners: BTreeSet<u8>,
    silence: Silence,
}

/// The parts of a text that can change without changing an object.
#[derive(Clone, Debug)]
struct Layout {
    /// For each object, its file and its position in it.
    places: Vec<(u8, u32)>,
    indent: usize,
    comments: bool,
    blank_lines: usize,
    quotes: bool,
    reverse_owners: bool,
}

const RULE: &str = "owner-cross-namespace";

fn dependents() -> impl Strategy<Value = Vec<Dependent>> {
    let silence = prop_oneof![
        Just(Silence::Above),
        Just(Silence::Behind),
        Just(Silence::Document),
        Just(Silence::Annotation)
    ];
    let dependent = (prop::collection::btree_set(0u8..3, 0..3), silence)
        .prop_map(|(owners, silence)| Dependent { owners, silence });
    prop::collection::vec(dependent, 1..5)
}

fn layout() -> impl Strategy<Value = Layout> {
    let places = prop::collection::vec((0u8..3, any::<u32>()), 16);
    let style = (
        1usize..5,
        any::<bool>(),
        0usize..3,
        any::<bool>(),
        any::<bool>(),
    );
    (places, style).prop_map(
        |(places, (indent, comments, blank_lines, quotes, reverse_owners))| Layout {
            places,
            indent,
            comments,
            blank_lines,
            quotes,
            reverse_owners,
        },
    )
}

impl Layout {
    fn line(&self, text: &mut String, depth: usize, line: &str) {
        if self.comments {
            text.push_str(&format!(
                "{}# a remark: [on] {{this}}\n",
                " ".repeat(depth * self.indent)
            ));
        }
        text.push_str(&format!("{}{line}\n", " ".repeat(depth * self.indent)));
        text.push_str(&"\n".repeat(self.blank_lines));
    }

    fn scalar(&self, text: &str) -> String {
        if self.quotes {
            format!("\"{text}\"")
        } else {
            text.to_owned()
        }
    }

    fn deployment(&self, index: u8) -> String {
        let mut text = String::new();
        for (depth, line) in [
            (0, "apiVersion: apps/v1".to_owned()),
            (0, format!("kind: {}", self.scalar("Deployment"))),
            (0, "metadata:".to_owned()),
            (1, format!("name: web-{index}")),
            (1, "namespace: shop".to_owned()),
        ] {
            self.line(&mut text, depth, &line);
        }
        text
    }

    fn dependent(&self, index: usize, dependent: &Dependent, silenced: bool) -> String {
        let says = |silence| silenced && dependent.silence == silence;
        let mut text = String::new();
        if says(Silence::Document) {
            text.push_str(&format!(
                "# ownerlint: ignore-document[{RULE}] moved by hand\n"
            ));
        }
        for line in ["apiVersion: v1", "kind: ConfigMap", "metadata:"] {
            self.line(&mut text, 0, line);
        }
        self.line(
            &mut text,
            1,
            &format!("name: {}", self.scalar(&format!("settings-{index}"))),
        );
        self.line(&mut text, 1, "namespace: other");
        if says(Silence::Annotation) {
            self.line(&mut text, 1, "annotations:");
            self.line(
                &mut text,
                2,
                &format!("ignore.ownerlint/{RULE}: moved by hand"),
            );
        }
        let behind = if says(Silence::Behind) {
            format!(" # ownerlint:ignore[{RULE}] moved by hand")
        } else {
            String::new()
        };
        if says(Silence::Above) {
            text.push_str(&format!(
                "{}# ownerlint: ignore [ {RULE} ] moved by hand\n",
                " ".repeat(self.indent)
            ));
        }
        if dependent.owners.is_empty() {
            self.line(&mut text, 1, &format!("ownerReferences: []{behind}"));
        } else {
            self.line(&mut text, 1, &format!("ownerReferences:{behind}"));
            let mut owners: Vec<_> = dependent.owners.iter().collect();
            if self.reverse_owners {
                owners.reverse();
            }
            for owner in owners {
                // A placeholder: a literal uid would be another finding.
                let uid = format!("'<uid-{owner}>'");
                let line = format!(
                    "- {{apiVersion: apps/v1, kind: Deployment, name: web-{owner}, uid: {uid}}}"
                );
                self.line(&mut text, 2, &line);
            }
        }
        text
    }

    /// Checks all objects in this layout.
    fn report(&self, dependents: &[Dependent], silenced: bool, judge: &Check) -> Report {
        let dependents = dependents.iter().enumerate();
        let mut texts: Vec<_> = dependents
            .map(|(index, one)| self.dependent(index, one, silenced))
            .collect();
        texts.extend((0..3).map(|index| self.deployment(index)));
        let mut placed: Vec<_> = self.places.iter().cycle().zip(texts).collect();
        placed.sort_by_key(|(place, _)| **place);
        let folder = tempfile::tempdir().expect("a folder");
        for file in 0u8..3 {
            let here = placed
                .iter()
                .filter(|((of, _), _)| *of == file)
                .map(|(_, text)| text.as_str());
            let text = here.collect::<Vec<_>>().join("---\n");
            std::fs::write(
                folder.path().join(format!("{file}-{}.yaml", self.indent)),
                text,
            )
            .expect("a file");
        }
        check(inventory_at(&[&folder.path().to_string_lossy()]), judge)
    }
}

fn rules_of(report: &Report) -> Vec<&'static str> {
    report
        .findings
        .iter()
        .map(|reported| reported.finding.rule)
        .collect()
}

/// Creates a check whose baseline contains the findings of a report, written and read again.
fn knowing(report: &Report) -> Check {
    let baseline = Baseline::of(report.findings.iter().map(|reported| &reported.finding));
    let file = SourceFile::new("ownerlint-baseline.json", baseline.to_json());
    let read = Baseline::read(&file).expect("what was written reads");
    Check {
        baseline: Some((file, read)),
        ..Check::default()
    }
}

fn defects(dependents: &[Dependent]) -> usize {
    dependents
        .iter()
        .map(|dependent| dependent.owners.len())
        .sum()
}

/// Adds or removes one defect in the object `at`.
fn with(
    dependents: &[Dependent],
    at: usize,
    change: impl Fn(&mut BTreeSet<u8>) -> bool,
) -> Option<Vec<Dependent>> {
    let mut changed = dependents.to_vec();
    let at = at % changed.len();
    change(&mut changed[at].owners).then_some(changed)
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn baseline_matches_after_any_reformatting(dependents in dependents(), before in layout(), after in layout()) {
        let found = before.report(&dependents, false, &Check::default());
        prop_assert_eq!(found.findings.len(), defects(&dependents));
        let report = after.report(&dependents, false, &knowing(&found));
        prop_assert_eq!(rules_of(&report), Vec::<&str>::new());
        prop_assert_eq!(report.summary.baseline, defects(&dependents));
    }

    #[test]
    fn new_defect_is_reported_despite_baseline(dependents in dependents(), before in layout(), after in layout(), at in 0usize..9, owner in 0u8..3) {
        let Some(worse) = with(&dependents, at, |owners| owners.insert(owner)) else { return Ok(()) };
        let known = knowing(&before.report(&dependents, false, &Check::default()));
        let report = after.report(&worse, false, &known);
        prop_assert_eq!(rules_of(&report), vec![RULE]);
        let target = format!("apps/v1/Deployment/web-{owner}");
        prop_assert_eq!(report.findings[0].finding.target.as_deref(), Some(target.as_str()));
        prop_assert_eq!(report.summary.baseline, defects(&dependents));
    }

    #[test]
    fn fixed_defect_makes_baseline_entry_stale(dependents in dependents(), before in layout(), after in layout(), at in 0usize..9) {
        let Some(better) = with(&dependents, at, |owners| owners.pop_first().is_some()) else { return Ok(()) };
        let known = knowing(&before.report(&dependents, false, &Check::default()));
        let report = after.report(&better, false, &known);
        prop_assert_eq!(rules_of(&report), vec!["baseline-stale"]);
        prop_assert_eq!(report.summary.baseline, defects(&better));
    }

    #[test]
    fn suppressions_match_after_any_reformatting(dependents in dependents(), layout in layout()) {
        let report = layout.report(&dependents, true, &Check::default());
        let idle = dependents.iter().filter(|dependent| dependent.owners.is_empty()).count();
        prop_assert_eq!(rules_of(&report), vec!["suppression-unused"; idle]);
        prop_assert_eq!(report.summary.suppressed, defects(&dependents));
    }

    #[test]
    fn fingerprints_do_not_change_with_reformatting(dependents in dependents(), before in layout(), after in layout()) {
        let prints = |layout: &Layout| {
            let report = layout.report(&dependents, false, &Check::default());
            report.findings.iter().map(|reported| reported.fingerprint).collect::<BTreeSet<_>>()
        };
        prop_assert_eq!(prints(&before), prints(&after));
    }
}
