//! SARIF 2.1.0, as GitHub code scanning reads it.
//!
//! The limits are GitHub's: what is over them would be dropped there, from an end that we do not choose. Regions stay on
//! one line, since an alert shows on a pull request only when the change touches all of its lines.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::line::{Each, line};
use super::relation::rendered_from;
use super::{Note, Place, Report, Reported, Roots, RuleInfo, paths, suggestion};
use crate::finding::{Edit, Fix, Relation, Severity};
use crate::text::plain;
use crate::text::{ColumnUnit, Position};

/// Results that GitHub keeps of one run.
const MAX_RESULTS: usize = 5_000;
/// Related locations of one result. GitHub keeps a hundred; nobody follows so many, and they fill the document.
const MAX_RELATED: usize = 20;
/// Steps that it keeps of one flow.
const MAX_STEPS: usize = 1_000;
/// Characters of a rule's descriptions.
const MAX_DESCRIPTION: usize = 1_024;
/// Characters of a message; with the other limits it keeps a document of full size under 10 MB compressed.
const MAX_MESSAGE: usize = 2_000;
/// Notifications; GitHub shows a few.
const MAX_NOTIFICATIONS: usize = 100;

#[derive(Serialize)]
struct SarifLog<R> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [SarifRun<R>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRun<R> {
    tool: Value,
    column_kind: &'static str,
    invocations: [Value; 1],
    results: R,
}

/// One run with all its rules; the worst results if there are too many.
pub(super) fn render(report: &Report, roots: &Roots) -> String {
    let kept = kept(report);
    let run = SarifRun {
        tool: json!({"driver": {
            "name": report.tool.name,
            "version": report.tool.version,
            "informationUri": report.tool.url,
            "rules": report.rules.iter().map(|info| rule(info, report)).collect::<Vec<_>>(),
        }}),
        column_kind: "utf16CodeUnits",
        invocations: [invocation(report, roots)],
        results: Each(kept.iter().map(|reported| result(report, reported, roots))),
    };
    let log = SarifLog {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [run],
    };
    line(serde_json::to_string_pretty(&log))
}

fn kept(report: &Report) -> Vec<&Reported> {
    if report.findings.len() <= MAX_RESULTS {
        return report.findings.iter().collect();
    }
    report
        .each_rule_first()
        .into_iter()
        .take(MAX_RESULTS)
        .collect()
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn rule(rule: &RuleInfo, report: &Report) -> Value {
    let summary = plain::shortened(rule.summary, MAX_DESCRIPTION);
    // An error is certain, a warning says what it assumes, an info may be right as it is.
    let (precision, problem) = match rule.severity {
        Severity::Error => ("very-high", "error"),
        Severity::Warning => ("high", "warning"),
        Severity::Info => ("medium", "recommendation"),
    };
    json!({
        "id": rule.id,
        "shortDescription": {"text": summary},
        "fullDescription": {"text": summary},
        "help": {"text": format!("{} {}", rule.summary, rule.url), "markdown": page(rule, report)},
        "helpUri": rule.url,
        "defaultConfiguration": {"level": level(rule.severity)},
        "properties": {
            "tags": ["kubernetes", "ownership", rule.consequence.as_str()],
            "precision": precision,
            "problem.severity": problem,
        },
    })
}

/// The page of a rule. It is shown alone: links to pages beside it lead to where they are published.
fn page(rule: &RuleInfo, report: &Report) -> String {
    let published = |link: &str| {
        let (id, rest) = link.split_once(".md)")?;
        let other = report.rules.iter().find(|other| other.id == id)?;
        Some(format!("{}){rest}", other.url))
    };
    let mut parts = rule.page.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |page, link| {
        page + "](" + published(link).as_deref().unwrap_or(link)
    })
}

fn result(report: &Report, reported: &Reported, roots: &Roots) -> Value {
    let finding = &reported.finding;
    let mut members = Map::new();
    members.insert("ruleId".to_owned(), json!(finding.rule));
    if let Some(index) = report.rules.iter().position(|rule| rule.id == finding.rule) {
        members.insert("ruleIndex".to_owned(), json!(index));
    }
    members.insert("level".to_owned(), json!(level(finding.severity)));
    members.insert(
        "message".to_owned(),
        json!({"text": message(report, reported)}),
    );
    let mut location =
        json!({"physicalLocation": physical(report, (&finding.primary).into(), roots)});
    if let Some(object) = &finding.object {
        location["logicalLocations"] = json!([{"fullyQualifiedName": object, "kind": "object"}]);
    }
    members.insert("locations".to_owned(), json!([location]));
    let related = finding.related.iter().take(MAX_RELATED).enumerate().map(|(at, label)| {
        json!({"id": at + 1, "physicalLocation": physical(report, label.into(), roots), "message": {"text": shown(&label.message)}})
    });
    let related: Vec<_> = related.collect();
    if !related.is_empty() {
        members.insert("relatedLocations".to_owned(), json!(related));
    }
    if finding.chain.objects.len() > 1 {
        members.insert(
            "codeFlows".to_owned(),
            json!([{"threadFlows": [{"locations": flow(report, reported, roots)}]}]),
        );
    }
    if let Some(fix) = suggestion::shown(finding) {
        members.insert("fixes".to_owned(), json!([fix_of(report, fix, roots)]));
    }
    let fingerprint = reported.fingerprint.to_string();
    members.insert(
        "partialFingerprints".to_owned(),
        json!({"primaryLocationLineHash": fingerprint}),
    );
    Value::Object(members)
}

fn fix_of(report: &Report, fix: &Fix, roots: &Roots) -> Value {
    let replacement = |edit: &&Edit| {
        let at = report.region(
            Place {
                file: edit.file,
                span: edit.span,
            },
            ColumnUnit::Utf16,
        );
        let (start, end) = (at.start, at.end);
        let region = json!({"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column});
        json!({"deletedRegion": region, "insertedContent": {"text": edit.replacement}})
    };
    let changes = suggestion::by_file(fix).into_iter().map(|(file, edits)| {
        json!({
            "artifactLocation": {"uri": paths::uri_from_root(report.path(file), roots)},
            "replacements": edits.iter().map(replacement).collect::<Vec<_>>(),
        })
    });
    let description = format!(
        "{} ({})",
        suggestion::title(fix),
        fix.applicability.as_str()
    );
    json!({"description": {"text": description}, "artifactChanges": changes.collect::<Vec<_>>()})
}

/// The first sentence is the alert's title; the related places are linked by their ids.
fn message(report: &Report, reported: &Reported) -> String {
    let finding = &reported.finding;
    let from = rendered_from(report, &finding.primary);
    let mut text = format!(
        "{}{from}.",
        plain::one_line(&finding.message).trim_end_matches('.')
    );
    for part in [&finding.reason, &finding.help] {
        if !part.trim().is_empty() {
            text.push_str("\n\n");
            text.push_str(part.trim());
        }
    }
    // Only our own links are links.
    let mut text = plain::shortened(&text.replace("](", "] ("), MAX_MESSAGE).into_owned();
    let links = finding
        .related
        .iter()
        .take(MAX_RELATED)
        .enumerate()
        .map(|(at, label)| {
            let role = shown(&label.message)
                .replace('\\', "\\\\")
                .replace('[', "\\[")
                .replace(']', "\\]");
            format!("[{role}]({})", at + 1)
        });
    let links = links.collect::<Vec<_>>().join(", ");
    if !links.is_empty() {
        text.push_str(&format!("\n\nSee {links}."));
    }
    text
}

/// The role of a place in one line; a link without text would not show.
fn shown(role: &str) -> String {
    let role = plain::one_line(role);
    if role.is_empty() {
        "related".to_owned()
    } else {
        plain::shortened(&role, 200).into_owned()
    }
}

/// The chain. A step whose object no file holds is known from the reference before it, so it stands there:
/// GitHub rejects steps without a place.
fn flow(report: &Report, reported: &Reported, roots: &Roots) -> Vec<Value> {
    let finding = &reported.finding;
    let mut known: Place = (&finding.primary).into();
    let steps = finding
        .chain
        .objects
        .iter()
        .take(MAX_STEPS)
        .enumerate()
        .map(|(at, key)| {
            known = reported
                .chain_places
                .get(at)
                .copied()
                .flatten()
                .unwrap_or(known);
            let name = plain::one_line(&key.to_string());
            let text = match finding.chain.relation {
                _ if at == 0 => name,
                Relation::OwnedBy => format!("owned by {name}"),
                Relation::Takes => format!("takes {name} with it"),
            };
            json!({"location": {
                "physicalLocation": physical(report, known, roots),
                "logicalLocations": [{"fullyQualifiedName": key, "kind": "object"}],
                "message": {"text": text},
            }})
        });
    steps.collect()
}

fn physical(report: &Report, place: Place, roots: &Roots) -> Value {
    let at = report.first_line(place, ColumnUnit::Utf16);
    let Position { line, column } = at.start;
    json!({
        "artifactLocation": {"uri": paths::uri_from_root(at.path, roots)},
        // An empty region would not show.
        "region": {"startLine": line, "startColumn": column, "endLine": line, "endColumn": at.end.column.max(column + 1)},
    })
}

fn invocation(report: &Report, roots: &Roots) -> Value {
    let complete = report
        .notes
        .iter()
        .all(|note| note.severity != Severity::Error);
    let unreadable = report
        .findings
        .iter()
        .filter(|reported| reported.finding.rule.starts_with("unreadable-"));
    let dropped = report.findings.len().saturating_sub(MAX_RESULTS);
    let dropped = (dropped > 0).then(|| {
        let text = format!(
            "{} left out: GitHub keeps {MAX_RESULTS} per run",
            plain::count(dropped, "finding")
        );
        json!({"level": "warning", "message": {"text": text}})
    });
    let notes = report.notes.iter().map(|note| notification(note, roots));
    let unreadable = unreadable.map(|reported| {
        let finding = &reported.finding;
        json!({
            "level": level(finding.severity),
            "message": {"text": shown(&finding.message)},
            "associatedRule": {"id": finding.rule},
            "locations": [{"physicalLocation": physical(report, (&finding.primary).into(), roots)}],
        })
    });
    let notifications: Vec<_> = dropped
        .into_iter()
        .chain(notes)
        .chain(unreadable)
        .take(MAX_NOTIFICATIONS)
        .collect();
    let mut invocation = json!({"executionSuccessful": complete});
    if !notifications.is_empty() {
        invocation["toolExecutionNotifications"] = json!(notifications);
    }
    invocation
}

fn notification(note: &Note, roots: &Roots) -> Value {
    let mut notification =
        json!({"level": level(note.severity), "message": {"text": shown(&note.message)}});
    if let Some(path) = &note.path {
        let mut place = json!({"artifactLocation": {"uri": paths::uri_from_root(path, roots)}});
        if let Some(line) = note.line {
            place["region"] = json!({"startLine": line});
        }
        notification["locations"] = json!([{"physicalLocation": place}]);
    }
    notification
}
