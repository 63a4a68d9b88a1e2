//! Registry, pages, fixtures, README and the `rules` command agree.

use std::collections::BTreeSet;

use ownerlint::engine::Check;
use ownerlint::report::Report;
use ownerlint::rules::{ExampleLanguage, Page, RULES, Rule, Subject, World};
use ownerlint::text::ColumnUnit;

use crate::rules::change::{assert_marks_of_change, assert_marks_of_diff};
use crate::support::{check_text, marked_lines, ownerlint, root};

/// Rules whose subject is not the text of a manifest: an unreadable file, a baseline.
pub(crate) const WITHOUT_EXAMPLES: [&str; 2] = ["unreadable-file", "baseline-stale"];

/// Returns the lines at which a rule points.
fn lines_of(report: &Report, rule: &str) -> Vec<usize> {
    let findings = report
        .findings
        .iter()
        .filter(|reported| reported.finding.rule == rule);
    let mut lines: Vec<_> = findings
        .map(|reported| {
            let primary = &reported.finding.primary;
            report
                .sources
                .file(primary.file)
                .position(primary.span.start, ColumnUnit::Utf8)
                .line
        })
        .collect();
    lines.dedup();
    lines
}

pub(crate) fn check_for(info: &str) -> Check {
    let world = if info.contains("world=closed") {
        World::Closed
    } else {
        World::Open
    };
    Check {
        world,
        ..Check::default()
    }
}

/// Asserts that a rule points at exactly the marked lines of a text.
fn assert_marks(rule: &Rule, place: &str, info: &str, text: &str) {
    let report = check_text("example.yaml", text, &check_for(info));
    assert_eq!(
        lines_of(&report, rule.id),
        marked_lines(text, rule.id),
        "{place}: lines on which {} points",
        rule.id
    );
}

/// Returns the headings of a page, without comments in its examples.
fn headings(body: &str) -> Vec<&str> {
    let outside = body.split("```").step_by(2);
    outside
        .flat_map(str::lines)
        .filter(|line| line.starts_with('#'))
        .collect()
}

#[test]
fn every_page_describes_its_rule() {
    for rule in RULES {
        let page =
            Page::parse(rule.page).unwrap_or_else(|error| panic!("rules/{}.md: {error}", rule.id));
        let front = &page.front_matter;
        assert_eq!(front.id, rule.id);
        assert_eq!(front.severity, rule.severity.as_str(), "{}", rule.id);
        assert_eq!(front.fixes(), rule.fixes, "{}", rule.id);
        assert_eq!(front.consequence, rule.consequence.as_str(), "{}", rule.id);
        assert_eq!(front.summary, rule.summary, "{}", rule.id);
        let headings = headings(page.body);
        let title = format!("# {}", rule.id);
        let order = [
            "## What is wrong",
            "## What the cluster does",
            "## How to fix it",
            "## When to ignore it",
        ];
        assert_eq!(
            headings,
            [[title.as_str()].as_slice(), order.as_slice()].concat(),
            "{}",
            rule.id
        );
    }
}

#[test]
fn page_examples_trigger_their_rule_as_marked() {
    for rule in RULES {
        let page = Page::parse(rule.page).expect("tested above");
        for example in &page.examples {
            let place = format!("rules/{}.md:{}", rule.id, example.line);
            let bad = example.info.starts_with("bad");
            assert!(
                bad || example.info.starts_with("good"),
                "{place}: an example is `yaml bad` or `yaml good`"
            );
            assert_eq!(
                bad,
                !marked_lines(&example.text, rule.id).is_empty(),
                "{place}: bad examples are marked"
            );
            let changes = example.language == ExampleLanguage::Diff;
            assert_eq!(
                changes,
                rule.is_of_change(),
                "{place}: an example of what the rule is about"
            );
            if changes {
                assert_marks_of_diff(rule, &place, &example.text);
            } else {
                assert_marks(rule, &place, &example.info, &example.text);
            }
        }
        let kinds: BTreeSet<_> = page
            .examples
            .iter()
            .filter_map(|e| e.info.split(' ').next())
            .collect();
        let wanted = if WITHOUT_EXAMPLES.contains(&rule.id) {
            vec![]
        } else {
            vec!["bad", "good"]
        };
        assert_eq!(
            kinds.into_iter().collect::<Vec<_>>(),
            wanted,
            "rules/{}.md: one bad and one good example",
            rule.id
        );
    }
}

#[test]
fn rule_fixtures_trigger_their_rule_as_marked() {
    for rule in RULES {
        for (kind, fires) in [("bad", true), ("good", false)] {
            let folder = root().join("fixtures/rules").join(rule.id).join(kind);
            let files = std::fs::read_dir(&folder)
                .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
            let mut texts = 0;
            let changes = files.flatten().filter(|_| rule.is_of_change());
            for case in changes {
                assert_marks_of_change(rule, &case.path(), fires);
                texts += 1;
            }
            let files = std::fs::read_dir(&folder)
                .expect("it is there")
                .filter(|_| !rule.is_of_change());
            for file in files
                .flatten()
                .filter(|_| !WITHOUT_EXAMPLES.contains(&rule.id))
            {
                let text = std::fs::read_to_string(file.path()).expect("a readable fixture");
                let place = format!(
                    "fixtures/rules/{}/{kind}/{}",
                    rule.id,
                    file.file_name().to_string_lossy()
                );
                assert_eq!(
                    fires,
                    !marked_lines(&text, rule.id).is_empty(),
                    "{place}: marks"
                );
                assert_marks(rule, &place, text.lines().next().unwrap_or_default(), &text);
                texts += 1;
            }
            assert!(
                texts > 0 || WITHOUT_EXAMPLES.contains(&rule.id),
                "{} has no fixture",
                folder.display()
            );
        }
    }
}

#[test]
fn pages_and_fixtures_match_the_rules() {
    let ids: BTreeSet<String> = RULES.iter().map(|rule| rule.id.to_owned()).collect();
    assert_eq!(ids.len(), RULES.len(), "ids are unique");
    let stems = |folder: &str, pages: bool| -> BTreeSet<String> {
        let entries = std::fs::read_dir(root().join(folder))
            .expect("the folder")
            .flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names
            .filter_map(|name| {
                if pages {
                    name.strip_suffix(".md").map(str::to_owned)
                } else {
                    Some(name)
                }
            })
            .collect()
    };
    assert_eq!(stems("rules", true), ids);
    assert_eq!(stems("fixtures/rules", false), ids);
}

#[test]
fn rules_command_lists_every_rule() {
    let ids: Vec<_> = RULES.iter().map(|rule| rule.id.to_owned()).collect();
    let output = ownerlint()
        .args(["rules", "--output", "json"])
        .output()
        .expect("it runs");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let from_command: Vec<_> = json["rules"]
        .as_array()
        .expect("rules")
        .iter()
        .map(|r| r["id"].as_str().unwrap_or(""))
        .collect();
    assert_eq!(from_command, ids);
}

#[test]
fn explain_gives_every_page_as_markdown() {
    for rule in RULES {
        let output = ownerlint()
            .args(["explain", rule.id, "--output", "markdown"])
            .output()
            .expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(output.status.success());
        assert!(
            text.contains(Page::parse(rule.page).expect("tested above").body),
            "{}",
            rule.id
        );
    }
}

#[test]
fn explain_shows_every_page_as_text() {
    for rule in RULES {
        let output = ownerlint()
            .args(["explain", rule.id])
            .output()
            .expect("it runs");
        let text = String::from_utf8(output.stdout).expect("text");
        assert!(
            text.starts_with(&format!("{}[{}]: ", rule.severity.as_str(), rule.id)),
            "{text}"
        );
        for heading in [
            "What is wrong",
            "What the cluster does",
            "How to fix it",
            "When to ignore it",
        ] {
            assert_eq!(
                rule.page.contains(heading),
                text.contains(&format!("\n{heading}\n\n")),
                "{heading}: {text}"
            );
        }
        for mark in ["# expect:", "```", "](", "\n#", "\n|", "\n\n\n", "\u{1b}"] {
            assert!(!text.contains(mark), "{mark:?} in {text}");
        }
        let accepts = match rule.subject {
            Subject::Change => "ownerlint diff --accept KEY".to_owned(),
            Subject::Reading => String::new(),
            _ => format!("  # ownerlint: ignore[{}] REASON\n", rule.id),
        };
        assert!(text.contains(&accepts), "{text}");
        assert!(text.ends_with(&format!("\n\n{}\n", rule.url())), "{text}");
    }
}

#[test]
fn explain_fits_the_terminal() {
    let output = ownerlint()
        .env("COLUMNS", "72")
        .args(["explain", "finalizer-preset-gc"])
        .output()
        .expect("it runs");
    insta::assert_snapshot!(String::from_utf8(output.stdout).expect("text"));
}

#[test]
fn duplicate_key_names_its_own_object_despite_aliases() {
    let item = |anchor: &str, name: &str, data: &str| {
        format!(
            "- {anchor}\n  apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: {name}}}\n  data: {data}\n"
        )
    };
    let items = item("&a", "first", "{a: b}") + &item("&b", "second", "{a: b, a: c}") + "- *a\n";
    let text = format!("apiVersion: v1\nkind: List\nitems:\n{items}");
    let report = check_text("list.yaml", &text, &Check::default());
    let twice = report
        .findings
        .iter()
        .find(|found| found.finding.rule == "duplicate-key")
        .expect("it is found");
    assert_eq!(
        twice.finding.object.as_ref().expect("an object").name,
        "second"
    );
}
