//! For people: what, where, why and what to do, with the lines in question.
//!
//! miette draws the snippets. It knows one source per diagnostic, so each other file is a block of its own, titled by the
//! role it plays. The headline is ours: it starts the line with `severity[rule]:`, to be found by eye and by `grep`.

use std::fmt;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode, SourceSpan, ThemeCharacters,
    ThemeStyles,
};

use super::excerpt::{Excerpt, Frame};
use super::{HumanOptions, Report, Reported, Summary, wrap};
use crate::finding::{Chain, Label, Relation, Severity};
use crate::kube::ObjectKey;
use crate::text::Span;
use crate::text::plain;

/// Lines of context around each place. The excerpt holds them, and miette is told to show them.
const CONTEXT: usize = 2;

/// Related places that are drawn, in the main snippet and outside it; a finding that touches hundreds of objects stays
/// readable.
const MAX_PLACES: usize = 8;

/// Every finding, the notes, and one line of counts.
pub(super) fn render(report: &Report, options: &HumanOptions) -> String {
    let mut out = String::new();
    for reported in &report.findings {
        finding(&mut out, report, reported, options);
        out.push('\n');
    }
    for note in &report.notes {
        let place = match (&note.path, note.line) {
            (Some(path), Some(line)) => format!("{}:{line}: ", plain::one_line(path)),
            (Some(path), None) => format!("{}: ", plain::one_line(path)),
            (None, _) => String::new(),
        };
        out.push_str(&format!("note: {place}{}\n", plain::one_line(&note.message)));
    }
    out.push_str(&counts(&report.summary));
    out
}

fn finding(out: &mut String, report: &Report, reported: &Reported, options: &HumanOptions) {
    let finding = &reported.finding;
    let headline = format!("{}[{}]:", finding.severity.as_str(), finding.rule);
    let (here, elsewhere): (Vec<&Label>, Vec<&Label>) =
        finding.related.iter().partition(|label| label.file == finding.primary.file);
    let labels: Vec<&Label> = std::iter::once(&finding.primary).chain(here.iter().copied().take(MAX_PLACES)).collect();
    let (block, unseen) = Block::new(report, plain::one_line(&finding.message), finding.severity, &labels, options);
    block.draw(out, &headline, options);

    let blocks: Vec<&Label> = unseen.into_iter().chain(elsewhere).collect();
    for label in blocks.iter().take(MAX_PLACES) {
        let role = if label.message.trim().is_empty() { "see also" } else { &label.message };
        let bare = Label { message: String::new(), ..(*label).clone() };
        let (block, _) = Block::new(report, plain::one_line(role), Severity::Info, &[&bare], options);
        block.draw(out, if options.ascii { "  >" } else { "  ☞" }, options);
    }
    let more = here.len().saturating_sub(MAX_PLACES) + blocks.len().saturating_sub(MAX_PLACES);
    if more > 0 {
        out.push_str(&format!("  and {}\n", plain::count(more, "more place")));
    }
    facts(out, reported, options);
}

/// What follows the snippets: a column of names and a column of text.
fn facts(out: &mut String, reported: &Reported, options: &HumanOptions) {
    let finding = &reported.finding;
    let object = finding.object.as_ref().map(ObjectKey::to_string);
    for (title, text) in [("object", &object), ("field", &finding.field)] {
        fact(out, title, &plain::one_line(text.as_deref().unwrap_or("")), options);
    }
    fact(out, "why", &finding.reason, options);
    fact(out, "help", &finding.help, options);
    if finding.chain.objects.len() > 1 {
        out.push_str(&format!("  {} {}\n", name("chain", options), chain(&finding.chain, options)));
    }
    if let Some(url) = &reported.url {
        let url = plain::visible(url);
        let shown = if options.links {
            format!("\u{1b}]8;;{url}\u{1b}\\{}\u{1b}]8;;\u{1b}\\", finding.rule)
        } else {
            url.into_owned()
        };
        out.push_str(&format!("  {} {shown}\n", name("page", options)));
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
    out.push_str(&format!("  {} {}\n", name(title, options), filled.join("\n")));
}

fn name(title: &str, options: &HumanOptions) -> String {
    let padded = format!("{:7}", format!("{title}:"));
    if options.color { ThemeStyles::ansi().help.style(padded).to_string() } else { padded }
}

/// The chain as a small tree, one line each: below a dependent its owner, to the right of it; below what takes others with
/// it all of them, side by side.
fn chain(chain: &Chain, options: &HumanOptions) -> String {
    let [tee, corner] = if options.ascii { ["|- ", "`- "] } else { ["├─ ", "└─ "] };
    let last = chain.objects.len().saturating_sub(1);
    let lines = chain.objects.iter().map(|key| plain::one_line(&key.to_string())).enumerate().map(|(at, key)| {
        match chain.relation {
            _ if at == 0 => key,
            Relation::OwnedBy => format!("{INDENT}{}{corner}owned by {key}", "   ".repeat(at - 1)),
            Relation::Takes => format!("{INDENT}{}takes {key} with it", if at == last { corner } else { tee }),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn counts(summary: &Summary) -> String {
    let kept = [(summary.suppressed, "suppressed"), (summary.baseline, "known to the baseline")];
    let kept: String = kept.into_iter().filter(|&(n, _)| n > 0).map(|(n, what)| format!("; {n} {what}")).collect();
    format!(
        "{} in {} ({}, {}){kept}\n",
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
        let frame = Frame { context: CONTEXT, width: options.width.max(40).saturating_sub(10) };
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
                    let texts: Vec<_> = shown[at].label().map(str::to_owned).into_iter().chain(text).collect();
                    shown[at].set_label(Some(texts.join("; ")).filter(|texts| !texts.is_empty()));
                }
                None if shown.is_empty() => shown.push(LabeledSpan::new_primary_with_span(text, span)),
                None => shown.push(LabeledSpan::new_with_span(text, span)),
            }
        }
        (Self { title, severity, excerpt, labels: shown }, unseen)
    }

    /// Draws the block under the line `icon title`.
    fn draw(&self, out: &mut String, icon: &str, options: &HumanOptions) {
        let base = if options.ascii { ThemeCharacters::ascii() } else { ThemeCharacters::unicode() };
        // miette starts its headline with two spaces and the severity's icon; our icon is the start of ours.
        let indent = icon.len() - icon.trim_start().len();
        let icon = icon.trim_start();
        let [error, warning, advice] = [icon; 3].map(str::to_owned);
        let characters = ThemeCharacters { error, warning, advice, ..base };
        let styles = if options.color { ThemeStyles::ansi() } else { ThemeStyles::none() };
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
        out.push_str(&" ".repeat(indent));
        out.push_str(drawn.trim_start_matches(' '));
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
