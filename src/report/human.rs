//! For people: what, where, why and what to do, with the lines in question.
//!
//! miette draws the snippets. It knows one source per diagnostic, so each other file is a block of its own, titled by the
//! role it plays. The headline is ours: it starts the line with `severity[rule]:`, to be found by eye and by `grep`.

use std::fmt;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode, SourceSpan,
    ThemeCharacters,
};
use rayon::prelude::*;

use super::digest::{Digest, DigestEntry};
use super::excerpt::{Excerpt, Frame, NAME};
use super::relation::rendered_from;
use super::{HumanOptions, Report, Reported, Summary, closing, theme, wrap};
use crate::finding::{Chain, Label, Relation, Severity};
use crate::kube::ObjectKey;
use crate::text::{ColumnUnit, Span, plain};

/// Lines of context around each place. The excerpt holds them, and miette is told to show them.
const CONTEXT: usize = 2;

/// Related places that are drawn, in the main snippet and outside it; a finding that touches hundreds of objects stays
/// readable.
const MAX_PLACES: usize = 8;

/// Objects of a chain that are drawn. Each stands to the right of the one before it.
const MAX_LINKS: usize = 12;

/// Lines of a screen. A longer report ends with a table.
const SCREEN: usize = 50;

/// Findings that a table sums up; fewer are seen at a glance.
const TABLE: usize = 5;

/// The findings, the worst first; the notes, what is not shown, and one line of counts.
pub(super) fn render(report: &Report, options: &HumanOptions) -> String {
    let digest = Digest::new(report, options.show);
    let mut out = shown(report, &digest, options);
    if out.lines().count() > SCREEN {
        table(&mut out, report, &digest);
    }
    let notes = closing::notes(report, options.verbose).into_iter();
    let mut rest: Vec<_> = notes
        .map(|note| wrap::fill(&note, options.width, "", "  "))
        .collect();
    if options.verbose {
        rest.extend(report.skipped.iter().map(closing::skip));
    }
    rest.extend(closing::exclusion(report));
    rest.extend(
        closing::held_back(&digest)
            .iter()
            .map(|line| plain::shortened(line, options.width).into_owned()),
    );
    for line in rest {
        out.push_str(&line);
        out.push('\n');
    }
    out.push_str(&counts(report));
    out
}

/// The findings alone.
pub(super) fn findings(report: &Report, options: &HumanOptions) -> String {
    shown(report, &Digest::new(report, options.show), options)
}

fn shown(report: &Report, digest: &Digest<'_>, options: &HumanOptions) -> String {
    let drawn = digest.shown.par_iter().map(|entry| {
        let mut out = String::new();
        finding(&mut out, report, entry, options);
        out.push('\n');
        out
    });
    drawn.collect()
}

/// Where most of what was found is.
fn table(out: &mut String, report: &Report, digest: &Digest<'_>) {
    let (rows, rest) = digest.table(report);
    if digest.shown.len() < TABLE {
        return;
    }
    out.push_str(&format!(
        "{} by rule and folder:\n",
        plain::count(digest.count(), "finding")
    ));
    let numbers = rows
        .iter()
        .map(|row| row.count.to_string().len())
        .max()
        .unwrap_or_default();
    let rules = rows
        .iter()
        .map(|row| row.rule.len())
        .max()
        .unwrap_or_default();
    for row in rows {
        let folder = plain::one_line(row.folder);
        out.push_str(&format!(
            "  {:>numbers$}  {:rules$}  {folder}\n",
            row.count, row.rule
        ));
    }
    if rest > 0 {
        out.push_str(&format!("  {rest:>numbers$}  elsewhere\n"));
    }
    out.push('\n');
}

fn finding(out: &mut String, report: &Report, entry: &DigestEntry<'_>, options: &HumanOptions) {
    let reported = entry.reported;
    let finding = &reported.finding;
    let headline = format!("{}[{}]:", finding.severity.as_str(), finding.rule);
    let (here, elsewhere): (Vec<&Label>, Vec<&Label>) = finding
        .related
        .iter()
        .partition(|label| label.file == finding.primary.file);
    let labels: Vec<&Label> = std::iter::once(&finding.primary)
        .chain(here.iter().copied().take(MAX_PLACES))
        .collect();
    let message = theme::bold(&plain::one_line(&finding.message), options);
    let (block, unseen) = Block::new(report, message, finding.severity, &labels, options);
    block.draw(out, &headline, options);

    let blocks: Vec<&Label> = unseen.into_iter().chain(elsewhere).collect();
    for label in blocks.iter().take(MAX_PLACES) {
        let role = if label.message.trim().is_empty() {
            "see also"
        } else {
            &label.message
        };
        let bare = Label {
            message: String::new(),
            ..(*label).clone()
        };
        let (block, _) = Block::new(
            report,
            plain::one_line(role),
            Severity::Info,
            &[&bare],
            options,
        );
        block.draw(out, if options.ascii { "  >" } else { "  ☞" }, options);
    }
    let more = here.len().saturating_sub(MAX_PLACES) + blocks.len().saturating_sub(MAX_PLACES);
    if more > 0 {
        out.push_str(&format!("  and {}\n", plain::count(more, "more place")));
    }
    if let Some(alike) = entry.alike() {
        out.push_str(&format!("  and {alike}\n"));
    }
    facts(out, reported, options);
}

/// What follows the snippets: a column of names and a column of text.
fn facts(out: &mut String, reported: &Reported, options: &HumanOptions) {
    let finding = &reported.finding;
    let object = finding.object.as_ref().map(ObjectKey::to_string);
    for (title, text) in [("object", &object), ("field", &finding.field)] {
        fact(
            out,
            title,
            &plain::one_line(text.as_deref().unwrap_or("")),
            options,
        );
    }
    fact(out, "why", &finding.reason, options);
    fact(out, "help", &finding.help, options);
    if finding.chain.objects.len() > 1 {
        out.push_str(&format!(
            "  {} {}\n",
            name("chain", options),
            chain(&finding.chain, options)
        ));
    }
    if let Some(url) = &reported.url {
        let command = format!("ownerlint explain {}", finding.rule);
        // Terminals and multiplexers without links show the text of one: it has to be of use by itself.
        let shown = if options.links {
            format!(
                "\u{1b}]8;;{}\u{1b}\\{command}\u{1b}]8;;\u{1b}\\",
                plain::visible(url)
            )
        } else {
            command
        };
        out.push_str(&format!("  {} {shown}\n", name("more", options)));
    }
}

/// Where the second column begins.
const INDENT: &str = "          ";

fn fact(out: &mut String, title: &str, text: &str, options: &HumanOptions) {
    if text.trim().is_empty() {
        return;
    }
    let lines: Vec<_> = text.trim().lines().map(plain::visible).collect();
    let filled = wrap::fill(&lines.join("\n"), options.width, INDENT, INDENT);
    // The name takes the place of the first line's indent; it is put there last, since colours have no width.
    let filled: Vec<_> = filled.trim_start().lines().map(str::trim_end).collect();
    out.push_str(&format!(
        "  {} {}\n",
        name(title, options),
        filled.join("\n")
    ));
}

fn name(title: &str, options: &HumanOptions) -> String {
    let padded = format!("{:7}", format!("{title}:"));
    theme::styles(options).help.style(padded).to_string()
}

/// The chain as a small tree, one line each: below a dependent its owner, to the right of it; below what takes others with
/// it all of them, side by side.
fn chain(chain: &Chain, options: &HumanOptions) -> String {
    let [tee, corner] = if options.ascii {
        ["|- ", "`- "]
    } else {
        ["├─ ", "└─ "]
    };
    let last = chain.objects.len().saturating_sub(1);
    let shown = chain
        .objects
        .iter()
        .take(MAX_LINKS)
        .map(|key| plain::one_line(&key.to_string()));
    let lines = shown.enumerate().map(|(at, key)| match chain.relation {
        _ if at == 0 => key,
        Relation::OwnedBy => format!("{INDENT}{}{corner}owned by {key}", "   ".repeat(at - 1)),
        Relation::Takes => format!(
            "{INDENT}{}takes {key} with it",
            if at == last { corner } else { tee }
        ),
    });
    let more = chain.objects.len().saturating_sub(MAX_LINKS);
    let more = (more > 0).then(|| format!("{INDENT}and {}", plain::count(more, "more object")));
    lines.chain(more).collect::<Vec<_>>().join("\n")
}

fn counts(report: &Report) -> String {
    let summary: &Summary = &report.summary;
    let kept = summary.kept();
    let skipped = match summary.skipped {
        0 => String::new(),
        n => format!(", {n} skipped"),
    };
    format!(
        "{} in {} ({}, {}{skipped}){kept}\n",
        summary.found(),
        plain::count(summary.files, "file"),
        plain::count(summary.documents, "document"),
        plain::count(summary.objects, "object")
    )
}

/// One title and one snippet, as miette wants them.
#[derive(Debug)]
struct Block {
    title: String,
    severity: Severity,
    /// The path, as it is shown.
    path: String,
    /// `path:line:column` of the main label.
    place: String,
    excerpt: Excerpt,
    labels: Vec<LabeledSpan>,
}

impl Block {
    /// The block of `labels`, all of one file, the main one first; and those that cannot be shown with it.
    fn new<'a>(
        report: &Report,
        title: String,
        severity: Severity,
        labels: &[&'a Label],
        options: &HumanOptions,
    ) -> (Self, Vec<&'a Label>) {
        let file = report.sources.file(labels[0].file);
        let spans: Vec<Span> = labels.iter().map(|label| label.span).collect();
        let ellipsis = if options.ascii { '~' } else { '…' };
        let frame = Frame {
            context: CONTEXT,
            width: options.width.max(40).saturating_sub(10),
            ellipsis,
        };
        let (excerpt, ranges) = Excerpt::new(file, &spans, frame);
        let mut shown: Vec<LabeledSpan> = Vec::new();
        let mut unseen = Vec::new();
        for (label, range) in labels.iter().zip(ranges) {
            let Some(range) = range else {
                unseen.push(*label);
                continue;
            };
            let text = Some(plain::one_line(&label.message)).filter(|text| !text.is_empty());
            let span = SourceSpan::from(range);
            let same = shown.iter().position(|known| *known.inner() == span);
            match same {
                // Two labels on one place would push each other aside.
                Some(at) => {
                    let texts: Vec<_> = shown[at]
                        .label()
                        .map(str::to_owned)
                        .into_iter()
                        .chain(text)
                        .collect();
                    shown[at].set_label(Some(texts.join("; ")).filter(|texts| !texts.is_empty()));
                }
                None if shown.is_empty() => {
                    shown.push(LabeledSpan::new_primary_with_span(text, span))
                }
                None => shown.push(LabeledSpan::new_with_span(text, span)),
            }
        }
        let at = report.region(labels[0], ColumnUnit::Utf8);
        let (path, from) = (plain::visible(at.path), rendered_from(report, labels[0]));
        let place = format!("{path}:{}:{}{from}", at.start.line, at.start.column);
        (
            Self {
                title,
                severity,
                path: path.into_owned(),
                place,
                excerpt,
                labels: shown,
            },
            unseen,
        )
    }

    /// Draws the block under the line `icon title`.
    fn draw(&self, out: &mut String, icon: &str, options: &HumanOptions) {
        let base = if options.ascii {
            ThemeCharacters::ascii()
        } else {
            ThemeCharacters::unicode()
        };
        // miette starts its headline with two spaces and the severity's icon; our icon is the start of ours.
        let indent = icon.len() - icon.trim_start().len();
        let icon = icon.trim_start();
        let [error, warning, advice] = [icon; 3].map(str::to_owned);
        let characters = ThemeCharacters {
            error,
            warning,
            advice,
            ..base
        };
        let styles = theme::styles(options);
        let handler = GraphicalReportHandler::new_themed(GraphicalTheme { characters, styles })
            .with_links(false)
            .with_context_lines(CONTEXT)
            .tab_width(4)
            .with_wrap_lines(false)
            .without_cause_chain()
            .without_syntax_highlighting();
        let mut drawn = String::new();
        // Writing to a string does not fail, and the excerpt has all that its labels point at; if miette thinks otherwise,
        // the headline still says what.
        if handler.render_report(&mut drawn, self).is_err() {
            drawn = format!("{icon} {}\n", self.title);
        }
        let drawn = self.located(drawn.trim_start_matches(' '));
        let (headline, snippet) = drawn.split_once('\n').unwrap_or((&drawn, ""));
        let [first, next] = [indent, indent + 2].map(|spaces| " ".repeat(spaces));
        out.push_str(&wrap::fill(headline, options.width, &first, &next));
        out.push('\n');
        out.push_str(snippet);
    }
}

impl Block {
    /// The drawn snippet with its place. miette would count the characters of what it shows; a place is given as in every
    /// other format, in bytes of the file.
    fn located(&self, drawn: &str) -> String {
        let mut parts = drawn.split(NAME);
        let mut located = parts.next().unwrap_or_default().to_owned();
        for (at, part) in parts.enumerate() {
            let after = part.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit());
            let line = part[..part.len() - after.len()]
                .split(':')
                .nth(1)
                .unwrap_or_default();
            match at {
                0 => located.push_str(&self.place),
                // Lines that are far apart are drawn as two snippets; the second one shows a label, not the place.
                _ => located.push_str(&format!("{}:{line}", self.path)),
            }
            located.push_str(after);
        }
        located
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)
    }
}

impl std::error::Error for Block {}

impl Diagnostic for Block {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
            Severity::Info => miette::Severity::Advice,
        })
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.excerpt)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}
