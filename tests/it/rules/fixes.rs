//! Every fix does what it says, for every rule that has fixes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ownerlint::engine::{self, Check, Selection};
use ownerlint::finding::{Applicability, Edit, Finding, Fix, Fixes, Severity};
use ownerlint::inventory::{Inventory, Settings};
use ownerlint::manifest::ParsedFile;
use ownerlint::report::{Format, Report};
use ownerlint::rules::{Page, RULES, World};
use ownerlint::text::{SourceFile, Span, replaced};
use ownerlint::yaml::read;
use rayon::prelude::*;
use serde_json::Value;

use crate::conformance::corpus::files;
use crate::support::{check_text, corpus, root};
use crate::yaml::support::tree_json;

/// Applies the edits of a fix, all of which are in one file.
pub(crate) fn applied(text: &str, fix: &Fix) -> String {
    let edits = fix
        .edits
        .iter()
        .map(|edit| (edit.span, edit.replacement.as_str()));
    replaced(text, edits).expect("the edits of a fix do not overlap")
}

/// Returns the fixes of a report that can be applied together, with their rules.
fn together(report: &Report, up_to: Applicability) -> Vec<(&'static str, &Fix)> {
    let mut chosen: Vec<(&str, &Fix)> = Vec::new();
    let around = |edit: &Edit| {
        (
            edit.file,
            edit.span.start.min(edit.within.start),
            edit.span.end.max(edit.within.end),
        )
    };
    for reported in &report.findings {
        let Some(fix) = reported
            .finding
            .fix
            .as_ref()
            .filter(|fix| fix.applicability <= up_to)
        else {
            continue;
        };
        let taken = || chosen.iter().flat_map(|(_, fix)| &fix.edits).map(around);
        let free = |(file, start, end)| {
            taken().all(|(other, from, to)| other != file || to < start || end < from)
        };
        if fix.edits.iter().map(around).all(free) {
            chosen.push((reported.finding.rule, fix));
        }
    }
    chosen
}

/// Applies all fixes of a text, repeatedly.
pub(crate) fn fixed(text: &str, check: &Check, up_to: Applicability) -> String {
    let mut text = text.to_owned();
    for _ in 0..20 {
        let report = check_text("example.yaml", &text, check);
        let fixes = together(&report, up_to);
        if fixes.is_empty() {
            return text;
        }
        let edits = fixes.iter().flat_map(|(_, fix)| &fix.edits);
        text = replaced(
            &text,
            edits.map(|edit| (edit.span, edit.replacement.as_str())),
        )
        .expect("they do not interfere");
    }
    panic!("there is always something left to fix: {text}");
}

/// Returns every example and fixture of the rules, with the options for checking it.
fn examples() -> Vec<(String, String, Check)> {
    let mut examples = Vec::new();
    for rule in RULES.iter().filter(|rule| !rule.is_of_change()) {
        let check = |info: &str| {
            let world = if info.contains("world=closed") {
                World::Closed
            } else {
                World::Open
            };
            Check {
                world,
                every: true,
                ..Check::default()
            }
        };
        for example in Page::parse(rule.page).expect("rules.rs tests it").examples {
            examples.push((
                format!("rules/{}.md", rule.id),
                example.text,
                check(&example.info),
            ));
        }
        for kind in ["bad", "good"] {
            let folder = root().join("fixtures/rules").join(rule.id).join(kind);
            for file in std::fs::read_dir(folder)
                .expect("rules.rs tests it")
                .flatten()
            {
                // One fixture cannot be read as text.
                let Ok(text) = std::fs::read_to_string(file.path()) else {
                    continue;
                };
                let check = check(text.lines().next().unwrap_or_default());
                examples.push((file.path().to_string_lossy().into_owned(), text, check));
            }
        }
    }
    examples
}

/// Counts the findings with the message of `finding`, and the other errors.
fn counts(report: &Report, finding: &Finding) -> (usize, usize) {
    let says_it =
        |other: &Finding| (other.rule, &other.message) == (finding.rule, &finding.message);
    let findings = || report.findings.iter().map(|reported| &reported.finding);
    let errors = findings().filter(|other| other.severity == Severity::Error && !says_it(other));
    (
        findings().filter(|other| says_it(other)).count(),
        errors.count(),
    )
}

#[test]
fn every_fix_removes_its_finding_and_adds_no_error() {
    examples().par_iter().for_each(|(place, text, check)| {
        let before = check_text("example.yaml", text, check);
        for reported in &before.findings {
            let (rule, Some(fix)) = (reported.finding.rule, &reported.finding.fix) else {
                continue;
            };
            let text = applied(text, fix);
            let after = check_text("example.yaml", &text, check);
            let of = |report| counts(report, &reported.finding);
            let ((found, errors), (left, new_errors)) = (of(&before), of(&after));
            assert!(
                left < found,
                "{place}: {rule}, {}: {found} {left}\n{text}",
                fix.title
            );
            assert!(
                new_errors <= errors,
                "{place}: {rule}, {}: {errors} {new_errors}\n{text}",
                fix.title
            );
            assert_eq!(
                before.summary.objects, after.summary.objects,
                "{place}: {rule}: objects are lost:\n{text}"
            );
        }
    });
}

#[test]
fn applying_all_fixes_is_idempotent() {
    for up_to in [Applicability::Safe, Applicability::Suggested] {
        examples().par_iter().for_each(|(_, text, check)| {
            let once = fixed(text, check, up_to);
            assert_eq!(fixed(&once, check, up_to), once);
        });
    }
}

#[test]
fn every_page_says_which_fixes_its_rule_offers() {
    let offered = examples().into_par_iter().map(|(_, text, check)| {
        let report = check_text("example.yaml", &text, &check);
        let fixes = report.findings.iter().filter_map(|reported| {
            Some((
                reported.finding.rule,
                reported.finding.fix.as_ref()?.applicability,
            ))
        });
        fixes.collect::<BTreeSet<_>>()
    });
    let offered: BTreeSet<_> = offered.flatten().collect();
    for rule in RULES {
        let page = Page::parse(rule.page).expect("rules.rs tests it");
        let of_rule = offered
            .iter()
            .filter(|(id, _)| *id == rule.id)
            .map(|(_, applicability)| *applicability);
        assert_eq!(
            page.front_matter.fixes(),
            of_rule.collect::<Vec<_>>(),
            "rules/{}.md: `fix`",
            rule.id
        );
    }
}

const ROLE: &str = "\u{feff}apiVersion: rbac.authorization.k8s.io/v1\r\nkind: ClusterRole\r\nmetadata: {name: \"🛒\", \
                    lables: {}, namespace: shop} # é 😀\r\nrules: []\r\n";

/// Replaces ranges that are given by lines and columns.
fn at_positions(
    text: &str,
    edits: &[Value],
    range: &str,
    new: &str,
    position: fn(&str, &Value) -> usize,
) -> String {
    let edits: Vec<(Span, &str)> = edits
        .iter()
        .map(|edit| {
            let place = |end: &str| position(text, &edit[range][end]) as u32;
            (
                Span::new(place("start"), place("end")),
                edit.pointer(new).and_then(Value::as_str).expect("a text"),
            )
        })
        .collect();
    replaced(text, edits).expect("the edits of a fix do not overlap")
}

/// Returns the offset of a position; `units` on the line and the line are counted from 0.
fn offset(text: &str, line: usize, units: usize, length: fn(char) -> usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let mut left = units;
    let before = text[start..].chars().take_while(|c| {
        let counts = left > 0;
        left = left.saturating_sub(length(*c));
        counts
    });
    start + before.map(char::len_utf8).sum::<usize>()
}

fn number(value: &Value) -> usize {
    value.as_u64().expect("a number") as usize
}

#[test]
fn json_rdjson_sarif_and_lsp_carry_the_same_edits() {
    let report = check_text("role.yaml", ROLE, &Check::default());
    let json: Value = serde_json::from_str(&report.render(Format::Json)).expect("JSON");
    let rdjson: Value = serde_json::from_str(&report.render(Format::Rdjson)).expect("JSON");
    let sarif: Value = serde_json::from_str(&report.render(Format::Sarif)).expect("JSON");
    let lsp: Value = serde_json::from_str(&report.render(Format::Lsp)).expect("JSON");
    assert_eq!(report.findings.len(), 2, "{:#?}", report.findings);
    for (at, reported) in report.findings.iter().enumerate() {
        let expected = applied(ROLE, reported.finding.fix.as_ref().expect("a fix"));
        let edits = json["findings"][at]["fixes"][0]["edits"]
            .as_array()
            .expect("edits");
        let bytes = edits.iter().map(|edit| {
            let place = |end: &str| number(&edit["location"][end]) as u32;
            (
                Span::new(place("byteStart"), place("byteEnd")),
                edit["replacement"].as_str().expect("a text"),
            )
        });
        assert_eq!(replaced(ROLE, bytes).as_deref(), Some(&*expected));

        let edits = rdjson["diagnostics"][at]["suggestions"]
            .as_array()
            .expect("suggestions");
        let bytes = |text: &str, place: &Value| {
            offset(
                text,
                number(&place["line"]) - 1,
                number(&place["column"]) - 1,
                char::len_utf8,
            )
        };
        assert_eq!(at_positions(ROLE, edits, "range", "/text", bytes), expected);

        // Editors do not show the byte order mark.
        let shown = ROLE.trim_start_matches('\u{feff}');
        let changes = &lsp[0]["diagnostics"][at]["data"]["actions"][0]["edit"]["changes"];
        let edits = changes
            .as_object()
            .and_then(|files| files.values().next())
            .and_then(Value::as_array);
        let units = |text: &str, place: &Value| {
            offset(
                text,
                number(&place["line"]),
                number(&place["character"]),
                char::len_utf16,
            )
        };
        let edited = at_positions(shown, edits.expect("edits"), "range", "/newText", units);
        assert_eq!(edited, expected.trim_start_matches('\u{feff}'));

        let replacements =
            sarif["runs"][0]["results"][at]["fixes"][0]["artifactChanges"][0]["replacements"]
                .as_array();
        let edits = replacements
            .expect("replacements")
            .iter()
            .map(|replacement| {
                let region = &replacement["deletedRegion"];
                let place = |line: &str, column: &str| {
                    offset(
                        ROLE,
                        number(&region[line]) - 1,
                        number(&region[column]) - 1,
                        char::len_utf16,
                    ) as u32
                };
                let span = Span::new(
                    place("startLine", "startColumn"),
                    place("endLine", "endColumn"),
                );
                (
                    span,
                    replacement["insertedContent"]["text"]
                        .as_str()
                        .expect("a text"),
                )
            });
        assert_eq!(replaced(ROLE, edits).as_deref(), Some(&*expected));
    }
}

/// Returns the path to each difference between two values.
fn differences(before: &Value, after: &Value) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut pending = vec![(Vec::new(), Some(before), Some(after))];
    while let Some((way, before, after)) = pending.pop() {
        let below = |step: String| [way.clone(), vec![step]].concat();
        match (before, after) {
            (Some(Value::Object(before)), Some(Value::Object(after))) => {
                let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
                pending.extend(
                    keys.into_iter()
                        .map(|key| (below(key.clone()), before.get(key), after.get(key))),
                );
            }
            (Some(Value::Array(before)), Some(Value::Array(after)))
                if before.len() == after.len() =>
            {
                let items = before.iter().zip(after).enumerate();
                pending.extend(items.map(|(at, (before, after))| {
                    (below(at.to_string()), Some(before), Some(after))
                }));
            }
            (before, after) if before == after => {}
            _ => found.push(way),
        }
    }
    found
}

/// Returns the changes of a fix to the values of a file: for each changed document, the path to the innermost place
/// that contains all changes.
fn changed_places(file: &SourceFile, fix: &Fix) -> Vec<Vec<String>> {
    let (before, after) = (
        read(file.shared_text()),
        read(&Arc::new(applied(file.text(), fix))),
    );
    assert_eq!(before.len(), after.len(), "{}: {}", file.path(), fix.title);
    let touched = before.iter().zip(&after).filter(|(before, _)| {
        fix.edits
            .iter()
            .any(|edit| before.span.start <= edit.span.start && edit.span.end <= before.span.end)
    });
    let places = touched.map(|(before, after)| {
        let value =
            |document| tree_json(document).expect("a fix is in a document that can be read");
        let found = differences(&value(before), &value(after));
        let common = |one: Vec<String>, other: &Vec<String>| {
            one.into_iter()
                .zip(other)
                .take_while(|(a, b)| a == *b)
                .map(|(a, _)| a)
                .collect()
        };
        found[1..].iter().fold(found[0].clone(), common)
    });
    places.collect()
}

/// The longest file that is parsed again for every fix.
const MAX_READ_AGAIN: usize = 100_000;

#[test]
fn omitting_fixes_changes_nothing_else() {
    let check = |fixes| {
        check_text(
            "role.yaml",
            ROLE,
            &Check {
                fixes,
                ..Check::default()
            },
        )
    };
    let (with, without) = (check(Fixes::WorkedOut), check(Fixes::LeftOut));
    assert_ne!(with.fixable(), (0, 0));
    let bare = with.findings.into_iter().map(|reported| Finding {
        fix: None,
        ..reported.finding
    });
    assert!(
        bare.eq(without
            .findings
            .into_iter()
            .map(|reported| reported.finding))
    );
}

#[test]
fn only_formats_that_carry_fixes_show_them() {
    let show = |format: Format, fixes| {
        check_text(
            "role.yaml",
            ROLE,
            &Check {
                fixes,
                ..Check::default()
            },
        )
        .render(format)
    };
    for format in Format::ALL {
        let same = show(format, Fixes::WorkedOut) == show(format, Fixes::LeftOut);
        assert_eq!(same, !format.carries_fixes(), "{format}");
    }
}

/// Selects the rules with fixes, which need only one file and are fast.
fn selection() -> Selection {
    let with_fixes = RULES
        .iter()
        .filter(|rule| rule.page.contains("\nfix: "))
        .map(|rule| rule.id.to_owned());
    Selection::new(&with_fixes.collect::<Vec<_>>(), &[]).expect("rules")
}

#[test]
fn corpus_fixes_lose_no_object_and_resolve_findings() {
    let Some(corpus) = corpus() else { return };
    let mut folders: BTreeMap<&str, Vec<ParsedFile>> = BTreeMap::new();
    for file in files(corpus) {
        let folder = file
            .source()
            .path()
            .rsplit_once('/')
            .expect("a file of a folder")
            .0;
        folders.entry(folder).or_default().push(file.clone());
    }
    let check = |files: Vec<ParsedFile>| {
        let check = Check {
            selection: selection(),
            every: true,
            ..Check::default()
        };
        engine::check(Inventory::new(files, Settings::default()), &check)
    };
    let counted: Vec<(usize, usize)> = folders
        .into_values()
        .collect::<Vec<_>>()
        .into_par_iter()
        .map(|files| {
            let report = check(files);
            for (finding, fix) in report
                .findings
                .iter()
                .filter_map(|it| Some((&it.finding, it.finding.fix.as_ref()?)))
            {
                let file = report.sources.file(fix.edits[0].file);
                if file.text().len() < MAX_READ_AGAIN {
                    for place in changed_places(file, fix) {
                        // A place is `metadata.labels`, `spec.template.metadata` or `rules`, never the whole object.
                        assert!(
                            !place.is_empty(),
                            "{}: {}: {}",
                            file.path(),
                            finding.rule,
                            fix.title
                        );
                    }
                }
            }
            let fixes = together(&report, Applicability::Suggested);
            let mut by_file: BTreeMap<_, Vec<&Edit>> = BTreeMap::new();
            fixes
                .iter()
                .flat_map(|(_, fix)| &fix.edits)
                .for_each(|edit| by_file.entry(edit.file).or_default().push(edit));
            let texts: Vec<ParsedFile> = report
                .sources
                .iter()
                .map(|(id, file)| {
                    let edits = by_file.remove(&id).unwrap_or_default();
                    let edits = edits
                        .iter()
                        .map(|edit| (edit.span, edit.replacement.as_str()));
                    let text = replaced(file.text(), edits).expect("they do not interfere");
                    ParsedFile::parse(SourceFile::new(file.path(), text))
                })
                .collect();
            let offered = report
                .findings
                .iter()
                .filter(|reported| reported.finding.fix.is_some())
                .count();
            let after = check(texts);
            assert_eq!(
                report.summary.objects, after.summary.objects,
                "no object is lost: {:?}",
                report.sources
            );
            let left = after
                .findings
                .iter()
                .filter(|reported| reported.finding.fix.is_some())
                .count();
            let place = || {
                report
                    .sources
                    .iter()
                    .next()
                    .map(|(_, file)| file.path().to_owned())
            };
            assert!(
                fixes.is_empty() || left < offered,
                "{:?}: {left} of {offered} are left",
                place()
            );
            (offered, fixes.len())
        })
        .collect();
    let (offered, at_once) = counted.iter().fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    println!("{offered} fixes are offered, {at_once} of them applied at once");
    assert!(offered > 100 && at_once > 100, "{offered} {at_once}");
}
