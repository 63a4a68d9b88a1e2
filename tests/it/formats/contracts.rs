//! Guarantees of single formats beyond their schema.

use ownerlint::finding::{Finding, Label, Severity};
use ownerlint::report::{Format, MarkdownOptions, Options, Report, Roots, UnknownFormat, render};
use ownerlint::text::{ColumnUnit, FileId, SourceFile, Sources, Span};
use serde_json::{Value, json};

use super::{readers, sample, schemas::parsed};
use crate::support::Repository;

/// Returns a report with a finding of each severity, all at one place of one file.
fn many(severities: impl IntoIterator<Item = Severity>) -> Report {
    let sources = Sources::new(vec![SourceFile::new("a.yaml", "kind: A\n")]);
    let label = || Label::new(FileId(0), Span::new(0, 4), "");
    let findings = severities
        .into_iter()
        .enumerate()
        .map(|(at, severity)| Finding {
            message: format!("finding number {at}"),
            object: Some(sample::key(&format!("A/ns/{}", at % 3))),
            ..sample::finding("duplicate-object", severity, label())
        });
    sample::with(sources, findings.collect())
}

fn repeat(severity: Severity, times: usize) -> impl Iterator<Item = Severity> {
    std::iter::repeat_n(severity, times)
}

fn rendered(format: Format, report: &Report, options: &Options) -> String {
    let text = render(format, report, options);
    readers::read(format, &text, report, options);
    text
}

#[test]
fn format_names_round_trip_and_unknown_names_are_rejected() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse(), Ok(format));
    }
    assert_eq!(
        "Json".parse::<Format>(),
        Err(UnknownFormat("Json".to_owned()))
    );
    assert_eq!(
        UnknownFormat("yaml".to_owned()).to_string(),
        "there is no output format `yaml`"
    );
}

#[test]
fn sample_report_is_valid_in_every_format() {
    for format in Format::ALL {
        rendered(format, &sample::report(), &sample::options());
    }
}

#[test]
fn report_without_findings_is_valid() {
    let report = many([]);
    let text = |format| rendered(format, &report, &sample::options());
    assert_eq!(
        text(Format::Human),
        "nothing found in 1 file (5 documents, 4 objects); 1 suppressed; 2 known to the baseline\n"
    );
    for format in [Format::Concise, Format::Jsonl, Format::Github] {
        assert_eq!(text(format), "", "{format}");
    }
    assert_eq!(parsed(&text(Format::Gitlab)), json!([]));
    assert_eq!(
        parsed(&text(Format::Sarif))["runs"][0]["results"],
        json!([])
    );
    assert_eq!(
        parsed(&text(Format::Lsp)),
        json!([{"uri": "file:///home/me/repo/a.yaml", "diagnostics": []}])
    );
}

#[test]
fn fingerprints_are_equal_in_all_formats() {
    let report = sample::report();
    let prints: Vec<Value> = report
        .findings
        .iter()
        .map(|reported| json!(reported.fingerprint.to_string()))
        .collect();
    let parsed = |format| parsed(&rendered(format, &report, &sample::options()));
    let of = |array: &Value, pointer: &str| -> Vec<Value> {
        array
            .as_array()
            .expect("an array")
            .iter()
            .filter_map(|item| item.pointer(pointer).cloned())
            .collect()
    };
    assert_eq!(
        of(&parsed(Format::Json)["findings"], "/fingerprint"),
        prints
    );
    assert_eq!(of(&parsed(Format::Gitlab), "/fingerprint"), prints);
    assert_eq!(
        of(
            &parsed(Format::Sarif)["runs"][0]["results"],
            "/partialFingerprints/primaryLocationLineHash"
        ),
        prints
    );
    let files = parsed(Format::Lsp);
    let diagnostics = files
        .as_array()
        .expect("an array")
        .iter()
        .flat_map(|file| of(&file["diagnostics"], "/data/fingerprint"));
    assert_eq!(diagnostics.collect::<Vec<_>>(), prints);
}

#[test]
fn github_sorts_by_severity_and_counts_omitted_findings() {
    let report = many(
        repeat(Severity::Info, 3)
            .chain(repeat(Severity::Error, 12))
            .chain(repeat(Severity::Warning, 1)),
    );
    let text = rendered(Format::Github, &report, &sample::options());
    let kinds: Vec<_> = text
        .lines()
        .map(|line| line.split([' ', ':']).nth(2).unwrap_or_default())
        .collect();
    assert_eq!(
        kinds[..14],
        [["error"; 10].as_slice(), &["warning"], &["notice"; 3]].concat()
    );
    assert_eq!(
        text.lines().last(),
        Some("2 more findings without an annotation; `--output json` has them all")
    );
}

#[test]
fn equal_findings_in_one_file_are_merged_in_text_formats() {
    let mut report = many(repeat(Severity::Error, 265));
    for reported in &mut report.findings {
        reported.finding.message = "the uid is redacted".to_owned();
    }
    let text = |format| rendered(format, &report, &sample::options());
    assert_eq!(
        text(Format::Human)
            .matches("error[duplicate-object]")
            .count(),
        1
    );
    assert!(
        text(Format::Human)
            .contains("= and 264 more in this file, on lines 1, 1, 1, 1, 1 and others\n")
    );
    assert_eq!(text(Format::Concise).lines().count(), 1);
    assert_eq!(
        parsed(&text(Format::Json))["findings"]
            .as_array()
            .map(Vec::len),
        Some(265)
    );
}

#[test]
fn markdown_lists_every_distinct_fix_of_a_rule() {
    let mut report = many(repeat(Severity::Error, 2));
    for (at, reported) in report.findings.iter_mut().enumerate() {
        reported.finding.help = format!("run `kubectl delete a/{at}`");
    }
    let text = rendered(Format::Markdown, &report, &sample::options());
    for at in 0..2 {
        let fix = format!(
            "**How to fix** <code>A/ns/{at}</code>**.** run <code>kubectl delete a/{at}</code>"
        );
        assert!(text.contains(&fix), "{text}");
    }
}

#[test]
fn sarif_stays_within_code_scanning_limits() {
    let mut report = many(repeat(Severity::Info, 3_000).chain(repeat(Severity::Error, 3_000)));
    let first = &mut report.findings[4_000].finding;
    first.message = "m".repeat(100_000);
    first.related = (0..300)
        .map(|at| Label::new(FileId(0), Span::new(0, 1), format!("place {at}")))
        .collect();
    first.chain.objects = (0..2_000)
        .map(|at| sample::key(&format!("A/ns/{at}")))
        .collect();
    let document = parsed(&rendered(Format::Sarif, &report, &sample::options()));
    let run = &document["runs"][0];
    let levels = |level: &str| {
        run["results"]
            .as_array()
            .expect("results")
            .iter()
            .filter(|r| r["level"] == level)
            .count()
    };
    assert_eq!(
        (levels("error"), levels("note")),
        (3_000, 2_000),
        "the worst are kept"
    );
    let result = &run["results"][1_000];
    assert_eq!(
        result["relatedLocations"].as_array().map(Vec::len),
        Some(20)
    );
    assert_eq!(
        result["codeFlows"][0]["threadFlows"][0]["locations"]
            .as_array()
            .map(Vec::len),
        Some(1_000)
    );
    let notes = &run["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(
        notes[0]["message"]["text"],
        "1000 findings left out: GitHub keeps 5000 per run"
    );
}

#[test]
fn sarif_region_ends_on_its_first_line() {
    let text = "a: |\r\n  a line that is longer\r\n";
    let sources = Sources::new(vec![SourceFile::new("a.yaml", text)]);
    let label = Label::new(FileId(0), Span::new(3, text.len() as u32 - 2), "");
    let report = sample::with(
        sources,
        vec![sample::finding("duplicate-object", Severity::Error, label)],
    );
    let document = parsed(&rendered(Format::Sarif, &report, &sample::options()));
    let place = &document["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(
        place["region"],
        json!({"startLine": 1, "startColumn": 4, "endLine": 1, "endColumn": 5})
    );
}

#[test]
fn sarif_notifies_of_unreadable_documents() {
    let sources = Sources::new(vec![SourceFile::new("b.yaml", "a: [\n")]);
    let finding = Finding {
        message: "the flow sequence never ends".to_owned(),
        ..sample::finding(
            "unreadable-document",
            Severity::Error,
            Label::new(FileId(0), Span::new(3, 4), ""),
        )
    };
    let document = parsed(&rendered(
        Format::Sarif,
        &sample::with(sources, vec![finding]),
        &sample::options(),
    ));
    let invocation = &document["runs"][0]["invocations"][0];
    assert_eq!(
        invocation["executionSuccessful"], true,
        "a defect in the input is a finding, not a failure"
    );
    assert_eq!(
        invocation["toolExecutionNotifications"][0]["associatedRule"]["id"],
        "unreadable-document"
    );
}

#[test]
fn code_host_formats_have_paths_relative_to_repository() {
    let options = Options {
        roots: Roots {
            working_directory: Some("/home/me/repo/deploy".to_owned()),
            ..sample::options().roots
        },
        ..sample::options()
    };
    let report = many([Severity::Error]);
    let text = |format| rendered(format, &report, &options);
    assert!(text(Format::Github).starts_with("::error file=deploy/a.yaml,"));
    assert_eq!(
        parsed(&text(Format::Gitlab))[0]["location"]["path"],
        "deploy/a.yaml"
    );
    let sarif = parsed(&text(Format::Sarif));
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "deploy/a.yaml");
    assert!(text(Format::Junit).contains("file=\"deploy/a.yaml\""));
    assert!(
        text(Format::Concise).starts_with("a.yaml:1:1: "),
        "people and editors see what they typed"
    );
    assert_eq!(
        parsed(&text(Format::Rdjson))["diagnostics"][0]["location"]["path"],
        "a.yaml"
    );
}

#[test]
fn lsp_columns_follow_position_encoding() {
    let text = "\u{feff}a: 😀é\nb: 😀é x\n";
    let sources = || Sources::new(vec![SourceFile::new("a.yaml", text)]);
    let finding = |needle| {
        sample::finding(
            "duplicate-object",
            Severity::Info,
            Label::new(FileId(0), sample::span(text, needle, 0), ""),
        )
    };
    let starts = |needle, position_encoding| {
        let report = sample::with(sources(), vec![finding(needle)]);
        let options = Options {
            position_encoding,
            ..sample::options()
        };
        let document = parsed(&rendered(Format::Lsp, &report, &options));
        document[0]["diagnostics"][0]["range"]["start"]["character"].clone()
    };
    assert_eq!(starts("x", ColumnUnit::Utf16), 7);
    assert_eq!(starts("x", ColumnUnit::Utf8), 10);
    assert_eq!(starts("x", ColumnUnit::Chars), 6);
    // In an editor, the first line has no byte order mark, whatever the encoding.
    for unit in [ColumnUnit::Utf8, ColumnUnit::Chars, ColumnUnit::Utf16] {
        assert_eq!(starts("a", unit), 0);
    }
}

#[test]
fn junit_failures_follow_fail_on() {
    let report = many([Severity::Error, Severity::Warning, Severity::Info]);
    let failures = |fail_on| {
        render(
            Format::Junit,
            &report,
            &Options {
                fail_on,
                ..Options::default()
            },
        )
        .matches("<failure")
        .count()
    };
    assert_eq!(failures(Some(Severity::Error)), 1);
    assert_eq!(failures(Some(Severity::Info)), 3);
    assert_eq!(failures(None), 0);
}

#[test]
fn junit_has_one_suite_for_file_of_two_bundles() {
    let repository = Repository::new();
    repository
        .write(
            "ownerlint.yaml",
            "version: 1\nbundles: {a: {paths: [m]}, b: {paths: [m]}}\n",
        )
        .write(
            "m/a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
        );
    let (_, said, _) = repository.run(&["check", "-o", "junit"], "");
    assert_eq!(
        said.matches("<testsuite name=\"m/a.yaml\"").count(),
        1,
        "{said}"
    );
}

#[test]
fn markdown_groups_by_object_and_stays_below_its_limit() {
    let report = many(repeat(Severity::Info, 2_000).chain([Severity::Error]));
    let options = Options {
        markdown: MarkdownOptions {
            bytes: 20_000,
            ..sample::options().markdown
        },
        ..sample::options()
    };
    let text = rendered(Format::Markdown, &report, &options);
    assert!((10_000..20_000).contains(&text.len()));
    let mut rows = text
        .lines()
        .filter(|line| line.starts_with("| error") || line.starts_with("| info"));
    let row = "finding number 2000<br>[duplicate-object](https://ownerlint.example/rules/duplicate-object) | <code>a.yaml:1</code> |";
    assert_eq!(
        rows.next(),
        Some(&*format!("| error | <code>A/ns/2</code> | {row}")),
        "the worst object first"
    );
    assert!(
        rows.next()
            .is_some_and(|row| row.starts_with("| info |  | finding number 2<br>")),
        "then the rest of that object"
    );
    assert!(text.contains("findings left out here: the report is too long."));
}

#[test]
fn markdown_escapes_mentions_and_links() {
    let mut report = many([Severity::Error]);
    let finding = &mut report.findings[0].finding;
    finding.message =
        "ask @org/team, see `a|b` at https://evil.example or www.evil.example".to_owned();
    finding.help = "- one\n  ![x](http://y)".to_owned();
    let text = rendered(Format::Markdown, &report, &sample::options());
    assert!(text.contains(
        "ask @&#8203;org/team, see <code>a&#124;b</code> at https&#58;//evil.example or www&#46;evil.example"
    ));
    assert!(text.contains("**How to fix.** - one<br>&nbsp;&nbsp;!&#91;x&#93;(http&#58;//y)"));
}

#[test]
fn human_format_truncates_related_places() {
    let text = "kind: A\n".repeat(100);
    let mut finding = sample::finding(
        "duplicate-object",
        Severity::Error,
        Label::new(FileId(0), Span::new(0, 4), ""),
    );
    let labels = |file| {
        (1..50)
            .map(move |line| Label::new(FileId(file), Span::new(line * 16, line * 16 + 4), "here"))
    };
    finding.related = labels(0).chain(labels(1)).collect();
    let sources = Sources::new(vec![
        SourceFile::new("a.yaml", text.clone()),
        SourceFile::new("b.yaml", text),
    ]);
    let human = rendered(
        Format::Human,
        &sample::with(sources, vec![finding]),
        &sample::options(),
    );
    assert_eq!(human.matches("---- here\n").count(), 8);
    let said = "= and 90 more places (`-v` shows more)\n";
    assert!(human.contains(said), "{human}");
}
