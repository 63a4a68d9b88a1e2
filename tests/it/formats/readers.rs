//! Reference readers: each machine-readable format, parsed like its consumer.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jsonschema::Validator;
use ownerlint::finding::{Identity, Severity};
use ownerlint::report::{Format, Options, Report, render};
use ownerlint::text::{ColumnUnit, SourceFile};
use serde_json::{Value, json};

use super::schemas::{parsed, schema_errors, validator};
use crate::html::HtmlPage;

// Compiling a schema takes longer than checking a document.
static SARIF: LazyLock<Validator> = LazyLock::new(sarif_schema);
static GITLAB: LazyLock<Validator> = LazyLock::new(gitlab_schema);
static RDJSON: LazyLock<Validator> = LazyLock::new(rdjson_schema);
static LSP: LazyLock<Validator> = LazyLock::new(lsp_schema);

/// Parses `text`, and asserts that it agrees with `report`.
pub(crate) fn read(format: Format, text: &str, report: &Report, options: &Options) {
    let messages = || {
        report
            .findings
            .iter()
            .map(|reported| reported.finding.message.as_str())
    };
    match format {
        Format::Human => assert!(text.lines().count() > different(report, options.human.show)),
        Format::Concise => {
            let lines = text.lines().count();
            assert_eq!(
                lines,
                different(report, options.concise_show),
                "one line per finding: {text:?}"
            );
        }
        Format::Json => {
            let document = valid(validator("report"), text);
            assert!(messages().eq(strings(&document["findings"], "/message")));
        }
        Format::Jsonl => {
            assert!(messages().eq(text.lines().map(parsed).map(|line| line["message"].clone())));
        }
        Format::Sarif => sarif(text, report),
        Format::Github => github(text, report),
        Format::Gitlab => {
            let document = valid(&GITLAB, text);
            let prints = strings(&document, "/fingerprint");
            assert_eq!(prints.len(), report.findings.len());
            assert_eq!(
                prints.iter().collect::<BTreeSet<_>>().len(),
                prints.len(),
                "GitLab keeps one of equal ones"
            );
        }
        Format::Junit => junit(text, report, options),
        Format::Rdjson => {
            let document = valid(&RDJSON, text);
            assert_eq!(
                document["diagnostics"].as_array().map(Vec::len),
                Some(report.findings.len())
            );
        }
        Format::Lsp => {
            let document = valid(&LSP, text);
            assert_eq!(
                document.as_array().map(Vec::len),
                Some(report.sources.len()),
                "files without findings too"
            );
            assert_eq!(strings(&document, "/uri").len(), report.sources.len());
            ranges(&document, report, options.position_encoding);
        }
        Format::Markdown => markdown(text, report, options),
        Format::Html => html(text, report),
        other => panic!("nothing reads {other} back"),
    }
}

/// Counts the findings from a severity on that differ in message or file.
fn different(report: &Report, show: Severity) -> usize {
    let shown = report
        .findings
        .iter()
        .map(|reported| &reported.finding)
        .filter(|finding| finding.severity >= show);
    let said = shown.map(|finding| {
        (
            finding.rule,
            finding.severity,
            finding.primary.file,
            Identity::of(finding).field,
            &finding.message,
        )
    });
    said.collect::<BTreeSet<_>>().len()
}

fn valid(validator: &Validator, text: &str) -> Value {
    let document = parsed(text);
    let start: String = text.chars().take(4_000).collect();
    assert_eq!(schema_errors(validator, &document), [""; 0], "{start}");
    document
}

fn strings(array: &Value, pointer: &str) -> Vec<String> {
    let items = array.as_array().expect("an array").iter();
    items
        .map(|item| {
            item.pointer(pointer)
                .and_then(Value::as_str)
                .expect("a string")
                .to_owned()
        })
        .collect()
}

/// Checks the official schema, and what GitHub's documentation requires in addition.
fn sarif(text: &str, report: &Report) {
    let document = valid(&SARIF, text);
    let run = &document["runs"][0];
    let rules = strings(&run["tool"]["driver"]["rules"], "/id");
    assert!(
        rules.iter().eq(report.rules.iter().map(|rule| rule.id)),
        "all rules, in their order"
    );
    for rule in run["tool"]["driver"]["rules"].as_array().expect("rules") {
        let length = |pointer: &str| {
            rule.pointer(pointer)
                .and_then(Value::as_str)
                .expect("a text")
                .chars()
                .count()
        };
        assert!(
            length("/shortDescription/text") <= 1_024 && length("/fullDescription/text") <= 1_024
        );
        assert!(length("/help/text") > 0 && length("/help/markdown") > 0);
        assert!(
            rule["properties"]["tags"]
                .as_array()
                .is_some_and(|tags| tags.len() <= 10)
        );
    }
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), report.findings.len().min(5_000));
    for result in results {
        let region = &result["locations"][0]["physicalLocation"]["region"];
        let number = |name: &str| region[name].as_u64().expect("all four numbers");
        assert_eq!(number("startLine"), number("endLine"), "one line");
        assert!(number("startColumn") < number("endColumn"));
        assert_eq!(result["locations"].as_array().map(Vec::len), Some(1));
        assert!(
            result["relatedLocations"]
                .as_array()
                .is_none_or(|related| related.len() < 100)
        );
        let steps = result
            .pointer("/codeFlows/0/threadFlows/0/locations")
            .and_then(Value::as_array);
        assert!(steps.is_none_or(|steps| (2..=1_000).contains(&steps.len())));
        let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            .as_str()
            .expect("a reference");
        assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()), "{uri}");
        let index = result["ruleIndex"].as_u64().expect("an index");
        assert_eq!(
            result["ruleId"].as_str(),
            Some(rules[index as usize].as_str())
        );
        assert_eq!(
            result["partialFingerprints"]["primaryLocationLineHash"]
                .as_str()
                .map(str::len),
            Some(32)
        );
        assert!(text_of(result).chars().count() < 30_000);
    }
}

/// Removes patterns for languages, which have an extra bracket that some regex engines reject; we write no language.
fn sarif_schema() -> Validator {
    let mut schema = parsed(include_str!(
        "../../../fixtures/schema/sarif-2.1.0.schema.json"
    ));
    for pointer in [
        "/definitions/run/properties/language",
        "/definitions/toolComponent/properties/language",
    ] {
        if let Some(language) = schema.pointer_mut(pointer).and_then(Value::as_object_mut) {
            language.remove("pattern");
        }
    }
    jsonschema::options()
        .should_validate_formats(true)
        .build(&schema)
        .expect("the schema is a schema")
}

fn text_of(result: &Value) -> &str {
    result["message"]["text"].as_str().expect("a message")
}

/// Parses commands like `ActionCommand` of `actions/runner`.
fn github(text: &str, report: &Report) {
    let mut shown = 0;
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("::") else {
            assert!(line.ends_with("`--output json` has them all"), "{line:?}");
            assert!(!line.contains("::") && !line.contains("##["));
            continue;
        };
        shown += 1;
        let (command, data) = rest.split_once("::").expect("a command has data");
        let (name, properties) = command.split_once(' ').expect("a command has properties");
        let properties: Vec<_> = properties
            .split(',')
            .map(|pair| pair.split_once('=').expect("key=value"))
            .collect();
        let get = |key: &str| {
            properties
                .iter()
                .find(|(name, _)| *name == key)
                .map(|(_, value)| unescaped(value))
        };
        let severity = match name {
            "error" => Severity::Error,
            "warning" => Severity::Warning,
            _ => Severity::Info,
        };
        let title = get("title").expect("a title");
        let words = |text: &str| text.split_whitespace().count();
        let data = unescaped(data);
        let first = data.lines().next().unwrap_or_default();
        // A place that Helm rendered is followed by its template in brackets.
        let before = first
            .rsplit_once(" (")
            .filter(|(_, template)| template.ends_with(')'))
            .map(|(before, _)| before);
        let says = |message: &str| {
            [Some(first), before]
                .into_iter()
                .flatten()
                .any(|text| words(text) == words(message))
        };
        let known = report
            .findings
            .iter()
            .map(|reported| &reported.finding)
            .any(|finding| {
                finding.severity == severity && finding.rule == title && says(&finding.message)
            });
        assert!(known, "{line:?}");
        assert!(get("line").is_some_and(|line| line.parse::<usize>().is_ok()));
        assert_eq!(
            get("col").is_some(),
            get("line") == get("endLine"),
            "columns on one line only"
        );
    }
    let of = |severity| {
        report
            .findings
            .iter()
            .filter(|reported| reported.finding.severity == severity)
            .count()
    };
    let per_kind =
        [Severity::Error, Severity::Warning, Severity::Info].map(|severity| of(severity).min(10));
    assert_eq!(shown, per_kind.iter().sum::<usize>());
}

fn unescaped(text: &str) -> String {
    let text = text
        .replace("%0D", "\r")
        .replace("%0A", "\n")
        .replace("%3A", ":")
        .replace("%2C", ",");
    text.replace("%25", "%")
}

/// Asserts that every range, counted in `unit`, is within the text of its file.
fn ranges(document: &Value, report: &Report, unit: ColumnUnit) {
    let files = document.as_array().expect("files");
    let fits = |file: &SourceFile, range: &Value| {
        let text = file.text();
        // An editor does not show the first byte order mark, but it shows a second one.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let within = |at: &Value| {
            let line = text.split('\n').nth(at["line"].as_u64()? as usize)?;
            Some(at["character"].as_u64()? as usize <= unit.length(line))
        };
        within(&range["start"]) == Some(true) && within(&range["end"]) == Some(true)
    };
    for (file, (_, source)) in files.iter().zip(report.sources.iter()) {
        for diagnostic in file["diagnostics"].as_array().expect("diagnostics") {
            assert!(
                fits(source, &diagnostic["range"]),
                "{}: {diagnostic}",
                source.path()
            );
            for related in diagnostic["relatedInformation"]
                .as_array()
                .into_iter()
                .flatten()
            {
                let location = &related["location"];
                let named = files
                    .iter()
                    .zip(report.sources.iter())
                    .filter(|(file, _)| file["uri"] == location["uri"]);
                assert!(
                    named
                        .into_iter()
                        .any(|(_, (_, source))| fits(source, &location["range"])),
                    "{location}"
                );
            }
        }
    }
}

fn junit(text: &str, report: &Report, options: &Options) {
    let document = roxmltree::Document::parse(text).expect("well-formed XML");
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    let named = |name: &str| {
        document
            .descendants()
            .filter(|node| node.has_tag_name(name))
            .count()
    };
    let number = |name: &str| {
        root.attribute(name)
            .and_then(|value| value.parse::<usize>().ok())
    };
    assert_eq!(number("tests"), Some(named("testcase")));
    assert_eq!(number("failures"), Some(named("failure")));
    let paths: BTreeSet<&str> = report.sources.iter().map(|(_, file)| file.path()).collect();
    assert_eq!(named("testsuite"), paths.len());
    let limit = options.fail_on.expect("the samples fail on something");
    assert_eq!(
        named("failure"),
        report
            .findings
            .iter()
            .filter(|reported| reported.finding.severity >= limit)
            .count()
    );
}

fn markdown(text: &str, report: &Report, options: &Options) {
    // The heading is always written, even if a tiny limit leaves no room for it.
    assert!(
        text.len() <= options.markdown.bytes.max(600),
        "{} over {}",
        text.len(),
        options.markdown.bytes
    );
    let rows: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| |"))
        .collect();
    for row in &rows {
        assert_eq!(row.matches('|').count(), 5, "{row}");
    }
    let cut = text.contains("left out here");
    assert!(cut || rows.len() == report.findings.len());
    for tag in text.split('<').skip(1) {
        let known = [
            "br>",
            "code>",
            "/code>",
            "details>",
            "/details>",
            "summary>",
            "/summary>",
        ];
        assert!(known.iter().any(|known| tag.starts_with(known)), "<{tag}");
    }
    assert!(!text.contains("@team") && text.matches('`').count() == 0);
}

/// Returns a schema of GitLab's "Code Quality report format": the required members and the five severities.
fn gitlab_schema() -> Validator {
    compiled(json!({"type": "array", "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string"},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {"type": "object", "required": ["path", "lines"], "properties": {
                "path": {"type": "string", "not": {"pattern": "^\\./"}},
                "lines": {"type": "object", "required": ["begin"], "properties": {"begin": {"type": "integer", "minimum": 1}}},
            }},
        },
    }}))
}

/// Returns a schema of Reviewdog's `DiagnosticResult` without further members, as its protobuf reader requires.
fn rdjson_schema() -> Validator {
    let position = json!({"type": "object", "additionalProperties": false, "required": ["line", "column"],
        "properties": {"line": {"type": "integer", "minimum": 1}, "column": {"type": "integer", "minimum": 1}}});
    let named = |name: &str| {
        json!({"type": "object", "additionalProperties": false, "required": [name],
        "properties": {name: {"type": "string"}, "url": {"type": "string"}}})
    };
    compiled(
        json!({"type": "object", "additionalProperties": false, "required": ["source", "diagnostics"], "properties": {
            "source": named("name"),
            "diagnostics": {"type": "array", "items": {
                "type": "object", "additionalProperties": false, "required": ["message", "location", "severity", "code"],
                "properties": {
                    "message": {"type": "string"},
                    "location": {"type": "object", "additionalProperties": false, "required": ["path", "range"], "properties": {
                        "path": {"type": "string"},
                        "range": {"type": "object", "additionalProperties": false, "required": ["start", "end"],
                            "properties": {"start": position, "end": position}},
                    }},
                    "severity": {"enum": ["ERROR", "WARNING", "INFO"]},
                    "code": named("value"),
                    "suggestions": {"type": "array", "minItems": 1, "items": {
                        "type": "object", "additionalProperties": false, "required": ["range", "text"], "properties": {
                            "range": {"type": "object", "additionalProperties": false, "required": ["start", "end"],
                                "properties": {"start": position, "end": position}},
                            "text": {"type": "string"},
                        },
                    }},
                },
            }},
        }}),
    )
}

/// Returns a schema of `PublishDiagnosticsParams` of the language server protocol 3.17, as far as we use it.
fn lsp_schema() -> Validator {
    let position = json!({"type": "object", "additionalProperties": false, "required": ["line", "character"],
        "properties": {"line": {"type": "integer", "minimum": 0}, "character": {"type": "integer", "minimum": 0}}});
    let range = json!({"type": "object", "additionalProperties": false, "required": ["start", "end"],
        "properties": {"start": position, "end": position}});
    let uri = json!({"type": "string", "pattern": "^(file:///|untitled:)[!-~]*$"});
    compiled(json!({"type": "array", "items": {
        "type": "object", "additionalProperties": false, "required": ["uri", "diagnostics"], "properties": {
            "uri": uri,
            "diagnostics": {"type": "array", "items": {
                "type": "object", "additionalProperties": false, "required": ["range", "message", "severity", "source"],
                "properties": {
                    "range": range,
                    "severity": {"enum": [1, 2, 3, 4]},
                    "code": {"type": "string"},
                    "codeDescription": {"type": "object", "required": ["href"], "properties": {"href": {"type": "string"}}},
                    "source": {"const": "ownerlint"},
                    "message": {"type": "string"},
                    "relatedInformation": {"type": "array", "items": {
                        "type": "object", "additionalProperties": false, "required": ["location", "message"], "properties": {
                            "location": {"type": "object", "required": ["uri", "range"], "properties": {"uri": uri, "range": range}},
                            "message": {"type": "string"},
                        },
                    }},
                    "data": {"type": "object"},
                },
            }},
        },
    }}))
}

fn compiled(schema: Value) -> Validator {
    jsonschema::validator_for(&schema).expect("the schema is a schema")
}

/// Checks that the page embeds the JSON report, and lines of each finding.
fn html(text: &str, report: &Report) {
    let page = HtmlPage::read(text);
    let contract = render(Format::Json, report, &Options::default());
    assert_eq!(
        page.contract,
        serde_json::from_str::<Value>(&contract).expect("the contract")
    );
    assert_eq!(
        page.beside["snippets"].as_array().map(Vec::len),
        Some(report.findings.len())
    );
}
