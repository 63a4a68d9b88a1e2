//! SARIF 2.1.0, as GitHub code scanning reads it.
//!
//! Everything over GitHub's limits is left out here, since GitHub would choose itself what to drop. Regions stay on one
//! line, since an alert shows on a pull request only when the change touches all of its lines.

mod document;

use document::{
    ArtifactChange, ArtifactLocation, CodeFlow, Configuration, Driver, Help, InsertedContent,
    Invocation, Location, Log, LogicalLocation, Message, Notification, PartialFingerprints,
    PhysicalLocation, Region, Replacement, ReportingDescriptor, RuleProperties, RuleReference, Run,
    RunResult, ThreadFlow, ThreadFlowLocation, Tool,
};

use super::line::{Each, line};
use super::relation::rendered_from;
use super::{Note, Place, Report, Reported, Roots, RuleInfo, paths, suggestion};
use crate::finding::{Edit, Fix, Relation, Severity};
use crate::text::{ColumnUnit, Position, plain};

/// The maximum number of results that GitHub keeps of one run.
const MAX_RESULTS: usize = 5_000;
/// The maximum number of related locations of a result. GitHub keeps 100, which is more than a reader needs.
const MAX_RELATED: usize = 20;
/// The maximum number of steps that GitHub keeps of one flow.
const MAX_STEPS: usize = 1_000;
/// The maximum number of characters of a rule's descriptions.
const MAX_DESCRIPTION: usize = 1_024;
/// The maximum number of characters of a message. All limits together keep a full document under 10 MB compressed.
const MAX_MESSAGE: usize = 2_000;
/// The maximum number of notifications; GitHub shows a few.
const MAX_NOTIFICATIONS: usize = 100;

/// Renders one run with all its rules; if there are too many results, the worst ones.
pub(super) fn render(report: &Report, roots: &Roots) -> String {
    let kept = kept(report);
    let rules = report.rules.iter();
    let run = Run {
        tool: Tool {
            driver: Driver {
                name: &report.tool.name,
                version: &report.tool.version,
                information_uri: &report.tool.url,
                rules: rules.map(|info| rule(info, report)).collect(),
            },
        },
        column_kind: "utf16CodeUnits",
        invocations: [invocation(report, roots)],
        results: Each(kept.iter().map(|reported| result(report, reported, roots))),
    };
    let log = Log {
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
    let mut kept = report.each_rule_first();
    kept.truncate(MAX_RESULTS);
    kept
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn rule<'a>(rule: &'a RuleInfo, report: &Report) -> ReportingDescriptor<'a> {
    let summary = plain::shortened(rule.summary, MAX_DESCRIPTION);
    // An error is certain, a warning depends on assumptions, an info may be intended.
    let (precision, problem_severity) = match rule.severity {
        Severity::Error => ("very-high", "error"),
        Severity::Warning => ("high", "warning"),
        Severity::Info => ("medium", "recommendation"),
    };
    ReportingDescriptor {
        id: rule.id,
        short_description: Message::new(summary.clone()),
        full_description: Message::new(summary),
        help: Help {
            text: format!("{} {}", rule.summary, rule.url),
            markdown: page(rule, report),
        },
        help_uri: &rule.url,
        default_configuration: Configuration {
            level: level(rule.severity),
        },
        properties: RuleProperties {
            tags: ["kubernetes", "ownership", rule.consequence.as_str()],
            precision,
            problem_severity,
        },
    }
}

/// Returns the page of a rule, with links to the published pages: GitHub shows the page by itself.
fn page(rule: &RuleInfo, report: &Report) -> String {
    let mut parts = rule.page.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |page, link| {
        page + "](" + published(link, report).as_deref().unwrap_or(link)
    })
}

/// Replaces the address at the start of `link` with the published one; `None` if it is not the page of a rule.
fn published(link: &str, report: &Report) -> Option<String> {
    let (id, rest) = link.split_once(".md)")?;
    let other = report.rules.iter().find(|other| other.id == id)?;
    Some(format!("{}){rest}", other.url))
}

fn result<'a>(report: &'a Report, reported: &'a Reported, roots: &Roots) -> RunResult<'a> {
    let finding = &reported.finding;
    let object = finding.object.as_ref();
    let related = finding.related.iter().take(MAX_RELATED).enumerate();
    let related = related.map(|(at, label)| Location {
        id: Some(at + 1),
        message: Some(Message::new(shown(&label.message))),
        ..physical(report, label, roots).into()
    });
    RunResult {
        rule_id: finding.rule,
        rule_index: report.rules.iter().position(|rule| rule.id == finding.rule),
        level: level(finding.severity),
        message: Message::new(message(report, reported)),
        locations: [Location {
            logical_locations: object.map(|object| [LogicalLocation::object(object)]),
            ..physical(report, &finding.primary, roots).into()
        }],
        related_locations: related.collect(),
        code_flows: (finding.chain.objects.len() > 1).then(|| {
            let locations = flow(report, reported, roots);
            let thread_flows = [ThreadFlow { locations }];
            [CodeFlow { thread_flows }]
        }),
        fixes: suggestion::shown(finding).map(|fix| [fix_of(report, fix, roots)]),
        partial_fingerprints: PartialFingerprints {
            primary_location_line_hash: reported.fingerprint.to_string(),
        },
    }
}

fn fix_of<'a>(report: &Report, fix: &'a Fix, roots: &Roots) -> document::Fix<'a> {
    let changes = suggestion::by_file(fix).into_iter();
    let changes = changes.map(|(file, edits)| ArtifactChange {
        artifact_location: artifact(report.path(file), roots),
        replacements: edits
            .into_iter()
            .map(|edit| replacement(report, edit))
            .collect(),
    });
    document::Fix {
        description: Message::new(format!(
            "{} ({})",
            suggestion::title(fix),
            fix.applicability.as_str()
        )),
        artifact_changes: changes.collect(),
    }
}

fn replacement<'a>(report: &Report, edit: &'a Edit) -> Replacement<'a> {
    let at = report.region(edit, ColumnUnit::Utf16);
    Replacement {
        deleted_region: Region {
            start_line: at.start.line,
            start_column: Some(at.start.column),
            end_line: Some(at.end.line),
            end_column: Some(at.end.column),
        },
        inserted_content: InsertedContent {
            text: &edit.replacement,
        },
    }
}

/// Builds the message. The first sentence is the alert's title; the related places are linked by their ids.
fn message(report: &Report, reported: &Reported) -> String {
    let finding = &reported.finding;
    let from = rendered_from(report, &finding.primary);
    let title = plain::one_line(&finding.message);
    let mut text = format!("{}{from}.", title.trim_end_matches('.'));
    for part in [&finding.reason, &finding.help] {
        if !part.trim().is_empty() {
            text.push_str(&format!("\n\n{}", part.trim()));
        }
    }
    // Text from the input must not contain links.
    let mut text = plain::shortened(&text.replace("](", "] ("), MAX_MESSAGE).into_owned();
    let links = finding.related.iter().take(MAX_RELATED).enumerate();
    let links = links.map(|(at, label)| {
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

/// Returns the role of a place in one line; a link without text would be invisible.
fn shown(role: &str) -> String {
    let role = plain::one_line(role);
    if role.is_empty() {
        "related".to_owned()
    } else {
        plain::shortened(&role, 200).into_owned()
    }
}

/// Builds the flow of the chain. GitHub rejects steps without a place, so the step of an object that is in no file has
/// the place of the step before it.
fn flow<'a>(report: &Report, reported: &'a Reported, roots: &Roots) -> Vec<ThreadFlowLocation<'a>> {
    let finding = &reported.finding;
    let mut known: Place = (&finding.primary).into();
    let keys = finding.chain.objects.iter().take(MAX_STEPS).enumerate();
    let steps = keys.map(|(at, key)| {
        let place = reported.chain_places.get(at).copied().flatten();
        known = place.unwrap_or(known);
        let name = plain::one_line(&key.to_string());
        let text = match finding.chain.relation {
            _ if at == 0 => name,
            Relation::OwnedBy => format!("owned by {name}"),
            Relation::Takes => format!("takes {name} with it"),
        };
        ThreadFlowLocation {
            location: Location {
                logical_locations: Some([LogicalLocation::object(key)]),
                message: Some(Message::new(text)),
                ..physical(report, known, roots).into()
            },
        }
    });
    steps.collect()
}

fn physical(report: &Report, place: impl Into<Place>, roots: &Roots) -> PhysicalLocation {
    let at = report.first_line(place, ColumnUnit::Utf16);
    let Position { line, column } = at.start;
    PhysicalLocation {
        artifact_location: artifact(at.path, roots),
        region: Some(Region {
            start_line: line,
            start_column: Some(column),
            end_line: Some(line),
            // An empty region would be invisible.
            end_column: Some(at.end.column.max(column + 1)),
        }),
    }
}

fn artifact(path: &str, roots: &Roots) -> ArtifactLocation {
    ArtifactLocation {
        uri: paths::uri_from_root(path, roots),
    }
}

fn invocation<'a>(report: &'a Report, roots: &Roots) -> Invocation<'a> {
    let mut notes = report.notes.iter();
    let complete = notes.all(|note| note.severity != Severity::Error);
    let unreadable = report.findings.iter().filter(|reported| {
        let mut rules = report.rules.iter();
        rules.any(|rule| rule.id == reported.finding.rule && rule.is_unread)
    });
    let dropped = report.findings.len().saturating_sub(MAX_RESULTS);
    let dropped = (dropped > 0).then(|| Notification {
        level: "warning",
        message: Message::new(format!(
            "{} left out: GitHub keeps {MAX_RESULTS} per run",
            plain::count(dropped, "finding")
        )),
        associated_rule: None,
        locations: None,
    });
    let notes = report.notes.iter().map(|note| notification(note, roots));
    let unreadable = unreadable.map(|reported| {
        let finding = &reported.finding;
        Notification {
            level: level(finding.severity),
            message: Message::new(shown(&finding.message)),
            associated_rule: Some(RuleReference { id: finding.rule }),
            locations: Some([physical(report, &finding.primary, roots).into()]),
        }
    });
    let notifications = dropped.into_iter().chain(notes).chain(unreadable);
    Invocation {
        execution_successful: complete,
        tool_execution_notifications: notifications.take(MAX_NOTIFICATIONS).collect(),
    }
}

fn notification<'a>(note: &Note, roots: &Roots) -> Notification<'a> {
    let place = note.path.as_deref().map(|path| PhysicalLocation {
        artifact_location: artifact(path, roots),
        region: note.line.map(|line| Region {
            start_line: line,
            start_column: None,
            end_line: None,
            end_column: None,
        }),
    });
    Notification {
        level: level(note.severity),
        message: Message::new(shown(&note.message)),
        associated_rule: None,
        locations: place.map(|place| [place.into()]),
    }
}
