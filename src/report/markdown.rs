//! Markdown for a job summary or a comment: counts, graphs of the cascades behind findings, the
//! findings grouped by object, worst first, then reasons and fixes by rule.
//!
//! Text from manifests is written as character references, so it is neither Markdown nor HTML and mentions no user. The
//! document never exceeds [`MarkdownOptions::bytes`]: GitHub drops a summary over its limit.

use std::collections::{BTreeMap, BTreeSet};

use super::markup::{MAX_CELL, MarkdownText, RESERVE, code, text};
use super::{Cascades, MarkdownOptions, Published, Report, Reported, Roots, paths};
use crate::finding::Severity;
use crate::kube::ObjectKey;
use crate::text::{ColumnUnit, plain};

/// The maximum number of characters of a reason or a help text.
const MAX_PROSE: usize = 4_000;
/// The maximum number of bytes of a link to a line: paths in the input may have any length.
const MAX_ADDRESS: usize = 2_000;
/// The maximum number of different fixes that are shown for one rule.
const FIXES_OF_A_RULE: usize = 10;
/// The number of findings per object that come first if not all fit; the others come last.
const OF_ONE_OBJECT: usize = 3;
/// The maximum number of findings of a change that are listed unfolded.
const LISTED: usize = 10;
/// The maximum number of rules of a change whose fix is shown unfolded.
const RECIPES: usize = 3;
/// The maximum number of objects that are named beside a fix.
const OBJECTS_OF_A_FIX: usize = 3;

/// Renders the whole document within its size limit.
pub(super) fn render(report: &Report, options: &MarkdownOptions, roots: &Roots) -> String {
    let mut page = MarkdownText {
        text: heading(report),
        limit: options.bytes.saturating_sub(RESERVE),
    };
    let notes = notes(report, page.limit / 4);
    page.limit -= notes.len();
    cascades(&mut page, &report.cascades);
    findings(&mut page, report, options.published.as_ref(), roots);
    page.text + &notes
}

fn heading(report: &Report) -> String {
    let summary = &report.summary;
    format!(
        "## {}: {}\n\n{} in {} and {}{}.\n",
        text(&report.tool.name),
        summary.found(),
        plain::count(summary.objects, "object"),
        plain::count(summary.files, "file"),
        plain::count(summary.documents, "document"),
        summary.kept()
    )
}

/// Draws the graphs in at most half of the page, so that there is room for the findings.
fn cascades(page: &mut MarkdownText, cascades: &Cascades) {
    let room = page.limit / 2;
    let mut left_out = cascades.left_out;
    for cascade in &cascades.shown {
        let stuck = match cascade.stuck {
            0 => String::new(),
            stuck => format!(", {stuck} stuck"),
        };
        let title = plain::one_line(&cascade.title);
        let title = text(&plain::shortened(&title, MAX_CELL));
        let deleted = cascade.deleted;
        let block = format!(
            "\n**{title}:** {deleted} deleted{stuck}.\n\n{}",
            cascade.flowchart()
        );
        if page.text.len() + block.len() <= room {
            page.text.push_str(&block);
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        let graphs = plain::count(left_out, "graph");
        page.push(&format!(
            "\n{graphs} left out here; `ownerlint plan` draws them.\n"
        ));
    }
}

/// Writes a table of the findings, then the reasons and fixes by rule, folded.
fn findings(
    page: &mut MarkdownText,
    report: &Report,
    published: Option<&Published>,
    roots: &Roots,
) {
    const HEAD: &str = "\n| | Object | Finding | Where |\n|---|---|---|---|\n";
    if report.findings.is_empty() {
        return;
    }
    let worst_first = by_object(report.worst_first(), usize::MAX);
    let mut rows = rows(report, &worst_first, published, roots);
    if page.text.len() + HEAD.len() + rows.iter().map(String::len).sum::<usize>() > page.limit {
        let each_rule_first = by_object(report.each_rule_first(), OF_ONE_OBJECT);
        rows = self::rows(report, &each_rule_first, published, roots);
    }
    page.push(HEAD);
    let shown = rows.iter().take_while(|row| page.push(row)).count();
    let rest = rows.len() - shown;
    if rest > 0 {
        let rest = plain::count(rest, "finding");
        page.text.push_str(&format!(
            "\n{rest} left out here: the report is too long.\n"
        ));
    }
    explanations(page, report);
}

/// Returns a row for each finding. Of consecutive rows about one object, only the first names it.
fn rows(
    report: &Report,
    findings: &[&Reported],
    published: Option<&Published>,
    roots: &Roots,
) -> Vec<String> {
    let mut last = None;
    let rows = findings.iter().map(|reported| {
        let object = Some(object(reported));
        let is_first = std::mem::replace(&mut last, object) != object;
        row(report, reported, is_first, published, roots)
    });
    rows.collect()
}

/// Returns the subject of a finding: its object, or else its file.
fn object(reported: &Reported) -> (Option<&ObjectKey>, u32) {
    let finding = &reported.finding;
    match &finding.object {
        Some(object) => (Some(object), 0),
        None => (None, finding.primary.file.0),
    }
}

/// Groups the findings by object, in the order of the first finding of each object. Findings after the first `many` of
/// an object come last.
fn by_object(findings: Vec<&Reported>, many: usize) -> Vec<&Reported> {
    let mut objects: BTreeMap<_, (usize, usize)> = BTreeMap::new();
    let mut places = Vec::with_capacity(findings.len());
    for (at, reported) in findings.iter().enumerate() {
        let (first, count) = objects.entry(object(reported)).or_insert((at, 0));
        *count += 1;
        places.push((*count > many, *first, *reported));
    }
    places.sort_by_key(|&(is_late, first, _)| (is_late, first));
    let places = places.into_iter();
    places.map(|(_, _, reported)| reported).collect()
}

fn row(
    report: &Report,
    reported: &Reported,
    first: bool,
    published: Option<&Published>,
    roots: &Roots,
) -> String {
    let finding = &reported.finding;
    let at = report.first_line(&finding.primary, ColumnUnit::Chars);
    let object = match &finding.object {
        Some(object) if first => code(&object.to_string()),
        _ => String::new(),
    };
    let rule = rule(reported);
    let place = place(&paths::from_root(at.path, roots), at.start.line, published);
    let place = match report.template((&finding.primary).into()) {
        Some(template) => format!("{place}<br>{}", code(template)),
        None => place,
    };
    format!(
        "| {} | {object} | {}<br>{rule} | {place} |\n",
        finding.severity.as_str(),
        prose(&finding.message)
    )
}

/// Formats the id of a finding's rule as a link to its page.
fn rule(reported: &Reported) -> String {
    let name = text(reported.finding.rule);
    match &reported.url {
        Some(url) => format!("[{name}]({})", address(url)),
        None => name,
    }
}

/// Lists the findings of a change, then how to make the change safely, then the reasons, folded.
pub(super) fn listed(page: &mut MarkdownText, report: &Report, roots: &Roots) {
    if report.findings.is_empty() {
        return;
    }
    let findings = match report.findings.len() {
        0..=LISTED => report.worst_first(),
        _ => report.each_rule_first(),
    };
    let items = findings.iter().map(|reported| {
        let finding = &reported.finding;
        let at = report.first_line(&finding.primary, ColumnUnit::Chars);
        // Lines of base get no link: only head is published.
        let place = place(&paths::from_root(at.path, roots), at.start.line, None);
        format!(
            "- **{}:** {} ({}, {place})\n",
            finding.severity.as_str(),
            prose(&finding.message),
            rule(reported)
        )
    });
    let items: Vec<String> = items.collect();
    let (first, rest) = items.split_at(items.len().min(LISTED));
    let fits = page.push("\n") && first.iter().all(|item| page.push(item));
    if !rest.is_empty() && fits {
        let title = plain::count(rest.len(), "more finding");
        page.folded(&title, "", rest.iter().cloned(), rest.len());
    }
    let mut told = BTreeSet::new();
    let findings = findings.into_iter();
    let first_of_rules = findings.filter(|reported| told.insert(reported.finding.rule));
    for reported in first_of_rules.take(RECIPES) {
        let help = reported.finding.help.trim();
        if !help.is_empty() {
            let rule = rule(reported);
            let help = paragraphs(help);
            page.push(&format!("\n**To do it safely** ({rule}): {help}\n"));
        }
    }
    explanations(page, report);
}

/// Formats a line of a file, as a link if the published file is the one that was read.
fn place(path: &str, line: usize, published: Option<&Published>) -> String {
    let place = code(&format!("{path}:{line}"));
    let Some(published) = published.filter(|published| published.files.contains(path)) else {
        return place;
    };
    let (before, after) = published.address(path);
    let address = address(&format!("{before}{line}{after}"));
    if address.len() <= MAX_ADDRESS {
        format!("[{place}]({address})")
    } else {
        place
    }
}

/// Writes, for each rule, the reason of its first finding and the fixes of all its findings; errors first.
fn explanations(page: &mut MarkdownText, report: &Report) {
    let mut rules: Vec<(&Reported, usize)> = Vec::new();
    for reported in report.worst_first() {
        let mut known = rules.iter_mut();
        match known.find(|(first, _)| first.finding.rule == reported.finding.rule) {
            Some((_, count)) => *count += 1,
            None => rules.push((reported, 1)),
        }
    }
    for (reported, count) in rules {
        let finding = &reported.finding;
        let why = match finding.reason.trim() {
            "" => String::new(),
            why => format!("\n**Why.** {}\n", paragraphs(why)),
        };
        let parts = why + &fixes(report, finding.rule);
        if parts.is_empty() {
            continue;
        }
        let count = plain::count(count, "finding");
        let title = format!("{} ({count})", text(finding.rule));
        if !page.push(&format!(
            "\n<details><summary>{title}</summary>\n{parts}\n</details>\n"
        )) {
            return;
        }
    }
}

/// Says how to fix the findings of a rule. If not all have the same help, each help text names its objects.
fn fixes(report: &Report, rule: &str) -> String {
    let mut helps: Vec<&str> = Vec::new();
    let mut objects: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let findings = report.worst_first().into_iter();
    for reported in findings.filter(|reported| reported.finding.rule == rule) {
        let finding = &reported.finding;
        let help = finding.help.trim();
        if help.is_empty() {
            continue;
        }
        let of = objects.entry(help).or_insert_with(|| {
            helps.push(help);
            BTreeSet::new()
        });
        of.insert(match &finding.object {
            Some(object) => object.to_string(),
            None => report.path(finding.primary.file).to_owned(),
        });
    }
    if let [help] = helps[..] {
        return format!("\n**How to fix.** {}\n", paragraphs(help));
    }
    let shown = helps.iter().take(FIXES_OF_A_RULE);
    let shown: String = shown.map(|help| fix(help, &objects[help])).collect();
    match helps.len().saturating_sub(FIXES_OF_A_RULE) {
        0 => shown,
        n => {
            let others = plain::count(n, "more help text");
            format!("{shown}\nownerlint check shows {others}.\n")
        }
    }
}

/// Says how to fix the findings about some objects.
fn fix(help: &str, objects: &BTreeSet<String>) -> String {
    let named = objects.iter().take(OBJECTS_OF_A_FIX);
    let named: Vec<_> = named.map(|object| code(object)).collect();
    let more = match objects.len().saturating_sub(OBJECTS_OF_A_FIX) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let named = named.join(", ");
    let help = paragraphs(help);
    format!("\n**How to fix** {named}{more}**.** {help}\n")
}

/// Renders the notes in at most `limit` bytes, to leave room for findings.
fn notes(report: &Report, limit: usize) -> String {
    let mut page = MarkdownText {
        text: String::new(),
        limit,
    };
    for note in &report.notes {
        let mark = if note.severity == Severity::Error {
            "not analysed"
        } else {
            "note"
        };
        let place = match (&note.path, note.line) {
            (Some(path), Some(line)) => format!(" {}", code(&format!("{path}:{line}"))),
            (Some(path), None) => format!(" {}", code(path)),
            (None, _) => String::new(),
        };
        if !page.push(&format!("\n{mark}:{place} {}\n", prose(&note.message))) {
            break;
        }
    }
    page.text
}

/// Formats several lines of prose, and keeps line breaks and indentation.
fn paragraphs(part: &str) -> String {
    let part = plain::shortened(part.trim(), MAX_PROSE);
    let lines = part.lines().map(|line| {
        let indent = line.len() - line.trim_start_matches(' ').len();
        "&nbsp;".repeat(indent.min(16)) + &prose_of(line, MAX_PROSE)
    });
    lines.collect::<Vec<_>>().join("<br>")
}

/// Formats one line in which `names` between backticks become code.
pub(super) fn prose(line: &str) -> String {
    prose_of(line, MAX_CELL)
}

fn prose_of(line: &str, limit: usize) -> String {
    let line = plain::one_line(line);
    let line = plain::shortened(&line, limit);
    let parts: Vec<&str> = line.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return text(&line);
    }
    let parts = parts.into_iter().enumerate();
    let parts = parts.map(|(at, part)| match at % 2 {
        1 if !part.is_empty() => format!("<code>{}</code>", text(part)),
        _ => text(part),
    });
    parts.collect()
}

/// Escapes a URL for the parentheses of a link.
fn address(url: &str) -> String {
    plain::one_line(url)
        .replace(' ', "%20")
        .replace('(', "%28")
        .replace(')', "%29")
        .replace('|', "%7C")
        .replace('<', "%3C")
}
