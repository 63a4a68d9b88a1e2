//! Findings on a terminal: for each one the lines, the reason and the fix.
//!
//! annotate-snippets draws each finding as rustc draws a diagnostic. The headline starts with `severity[rule]:`, which
//! is easy to see and to `grep` for.

use std::collections::BTreeSet;
use std::ops::Range;

use annotate_snippets::renderer::{AnsiColor, DecorStyle, Effects, Style};
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use rayon::prelude::*;

use super::digest::{Digest, DigestEntry, Folding};
use super::excerpt::{Excerpt, by_file, excerpts};
use super::{HumanOptions, Report, Reported, closing, wrap};
use crate::finding::{Chain, Label, Relation, Severity};
use crate::kube::ObjectKey;
use crate::text::{ColumnUnit, FileId, Span, plain};

/// The maximum number of related places drawn in the finding's own file, and again in other files.
const MAX_PLACES: usize = 8;

/// The maximum number of lines for the places of a finding; further places are only counted.
const MAX_LINES: usize = 20;

/// The maximum number of objects of a chain that are drawn.
const MAX_LINKS: usize = 12;

/// The facts whose text is wrapped.
const PROSE: [&str; 2] = ["note", "help"];

/// The height of a screen in lines. A longer report contains a table.
const SCREEN: usize = 50;

/// The minimum number of findings for a table.
const TABLE: usize = 5;

/// Renders the step that resolves most findings, the findings, a table if they fill more than a
/// screen, the notes, the counts of hidden findings, and one line of totals.
pub(super) fn render(report: &Report, options: &HumanOptions) -> String {
    let digest = Digest::new(report, options.show, Folding::AcrossFiles);
    let remedy = closing::remedy(report);
    let remedy = remedy.map(|line| wrap::fill(&line, options.width, "", "  ") + "\n\n");
    let mut out = remedy.unwrap_or_default() + &shown(report, &digest, options);
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
    let hidden = closing::hidden(&digest);
    let hidden = hidden.iter();
    rest.extend(hidden.map(|line| plain::shortened(line, options.width).into_owned()));
    for line in rest {
        out.push_str(&line);
        out.push('\n');
    }
    out.push_str(&counts(report));
    out
}

/// Renders the findings alone.
pub(super) fn findings(report: &Report, options: &HumanOptions) -> String {
    let digest = Digest::new(report, options.show, Folding::AcrossFiles);
    shown(report, &digest, options)
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

/// Writes a table of the rules and folders with most findings.
fn table(out: &mut String, report: &Report, digest: &Digest<'_>) {
    let (rows, rest) = digest.table(report);
    if digest.shown.len() < TABLE {
        return;
    }
    let findings = plain::count(digest.count(), "finding");
    out.push_str(&format!("{findings} by rule and folder:\n"));
    let numbers = rows.iter().map(|row| row.count.to_string().len()).max();
    let rules = rows.iter().map(|row| row.rule.len()).max();
    let numbers = numbers.unwrap_or_default();
    let rules = rules.unwrap_or_default();
    for row in rows {
        let count = row.count;
        let rule = row.rule;
        let folder = plain::one_line(row.folder);
        out.push_str(&format!("  {count:>numbers$}  {rule:rules$}  {folder}\n"));
    }
    if rest > 0 {
        out.push_str(&format!("  {rest:>numbers$}  elsewhere\n"));
    }
    out.push('\n');
}

/// Draws a finding: the headline, its lines file by file, and the facts.
fn finding(out: &mut String, report: &Report, entry: &DigestEntry<'_>, options: &HumanOptions) {
    let reported = entry.reported;
    let finding = &reported.finding;
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let title = level.primary_title(plain::one_line(&finding.message));
    let mut title = title.id(finding.rule);
    if let Some(url) = &reported.url {
        title = title.id_url(plain::visible(url));
    }
    let related = finding.related.iter();
    let (here, elsewhere): (Vec<&Label>, Vec<&Label>) =
        related.partition(|label| label.file == finding.primary.file);
    let listed = [&here, &elsewhere].map(|labels| &labels[..labels.len().min(MAX_PLACES)]);
    let listed = listed.concat();
    let labels = std::iter::once(&finding.primary).chain(listed.iter().copied());
    let sections = sections(report, labels, options.width);
    let mut group = Group::with_title(title);
    let mut last_line = 1;
    let (mut drawn, mut left_out) = (0, 0);
    for section in &sections {
        drawn += section.height();
        if drawn > MAX_LINES && !section.is_primary && !options.verbose {
            left_out += section.excerpt.places.len();
            continue;
        }
        last_line = last_line.max(section.excerpt.last_line());
        group = section.draw(group, report);
    }
    let gutter = last_line.to_string().len();
    let unlisted = finding.related.len() - listed.len();
    let more = unlisted + left_out;
    let is_hidden = left_out > 0;
    let all = if is_hidden { " (`-v` shows more)" } else { "" };
    let more = (more > 0).then(|| format!("and {}{all}", plain::count(more, "more place")));
    let repetitions = entry
        .repetitions(report)
        .map(|repetitions| format!("and {repetitions}"));
    for text in more.into_iter().chain(repetitions) {
        group = group.element(Level::NOTE.no_name().message(text));
    }
    for Fact { level, name, text } in facts(report, reported, options) {
        let text = if PROSE.contains(&name) {
            // The width of ` = note: ` after the line numbers.
            let indent = gutter + name.len() + 5;
            wrap::fill(&text, options.width.saturating_sub(indent), "", "")
        } else {
            text
        };
        group = group.element(level.with_name(name).message(text));
    }
    out.push_str(&renderer(options).render(&[group]));
    out.push('\n');
}

const BOLD: Style = Style::new().effects(Effects::BOLD);

/// Draws findings in colours that are readable on dark and on light backgrounds: no plain yellow,
/// and important text is bold.
fn renderer(options: &HumanOptions) -> Renderer {
    let renderer = if options.color {
        Renderer::styled()
            .error(color(AnsiColor::Red))
            .warning(color(AnsiColor::Magenta))
            .info(color(AnsiColor::Blue))
            .note(BOLD)
            .help(color(AnsiColor::Cyan))
            .context(color(AnsiColor::Blue))
            .line_num(AnsiColor::Blue.on_default())
            .emphasis(BOLD)
    } else {
        Renderer::plain()
    };
    renderer
        .decor_style(DecorStyle::Ascii)
        .term_width(options.width)
        .hyperlink(options.links)
}

const fn color(color: AnsiColor) -> Style {
    color.on_default().effects(Effects::BOLD)
}

/// Consecutive lines of one file, with the labels on them.
struct Section<'a> {
    file: FileId,
    excerpt: Excerpt,
    /// Whether it contains the first label, the finding's own place.
    is_primary: bool,
    labels: Vec<&'a Label>,
}

/// Splits the places into sections: first the lines of the first label, then the rest of its file,
/// then the other files. A label on the hidden part of a long line has a section of its own.
fn sections<'a>(
    report: &Report,
    labels: impl Iterator<Item = &'a Label>,
    width: usize,
) -> Vec<Section<'a>> {
    let mut files = by_file(labels);
    let mut sections = Vec::new();
    files.reverse();
    while let Some((file, labels)) = files.pop() {
        let spans: Vec<Span> = labels.iter().map(|label| label.span).collect();
        let mut unseen = vec![true; labels.len()];
        for excerpt in excerpts(report.sources.file(file), &spans, width) {
            for (index, _) in &excerpt.places {
                unseen[*index] = false;
            }
            let is_primary = sections.is_empty();
            sections.push(Section {
                file,
                excerpt,
                is_primary,
                labels: labels.clone(),
            });
        }
        let rest = labels.into_iter().zip(unseen);
        let rest = rest.filter(|(_, unseen)| *unseen);
        let rest: Vec<_> = rest.map(|(label, _)| label).collect();
        if !rest.is_empty() {
            files.push((file, rest));
        }
    }
    sections
}

impl<'a> Section<'a> {
    /// Returns the height in lines, including the line with the path.
    fn height(&self) -> usize {
        self.excerpt.text.lines().count() + self.excerpt.places.len() + 2
    }

    fn draw(&'a self, group: Group<'a>, report: &'a Report) -> Group<'a> {
        let path = plain::visible(report.path(self.file));
        let text = self.excerpt.text.as_str();
        let mut snippet = Snippet::source(text)
            .line_start(self.excerpt.first_line)
            .fold(false);
        let mut places: Vec<(&Range<usize>, bool, Vec<String>)> = Vec::new();
        for (index, range) in &self.excerpt.places {
            let label = self.labels[*index];
            let role = Some(plain::one_line(&label.message)).filter(|role| !role.is_empty());
            // Two labels on one place would displace each other.
            match places.iter_mut().find(|(known, ..)| *known == range) {
                Some((_, _, roles)) => {
                    roles.extend(role.filter(|role| roles.last() != Some(role)));
                }
                None => places.push((
                    range,
                    self.is_primary && *index == 0,
                    role.into_iter().collect(),
                )),
            }
        }
        for (range, is_first, roles) in places {
            let kind = if is_first {
                AnnotationKind::Primary
            } else {
                AnnotationKind::Context
            };
            let label = Some(roles.join("; ")).filter(|label| !label.is_empty());
            snippet = snippet.annotation(kind.span(range.clone()).label(label));
        }
        match self.place_beside(report) {
            None => group.element(snippet.path(path)),
            Some(place) => group.element(Origin::path(place)).element(snippet),
        }
    }

    /// Returns `path:line:column` of the first place if the excerpt shows another column, because the line is cut or is
    /// not ASCII before the place. Columns count bytes of the file.
    fn place_beside(&self, report: &Report) -> Option<String> {
        let places = &self.excerpt.places;
        let mut own = places.iter().filter(|_| self.is_primary);
        let own = own.find(|(index, _)| *index == 0);
        let (index, range) = own.or(places.first())?;
        let region = report.region(self.labels[*index], ColumnUnit::Utf8);
        let before = &self.excerpt.text[..range.start];
        let line = before.rsplit('\n').next().unwrap_or_default();
        let same = line.chars().count() + 1 == region.start.column;
        let path = plain::visible(region.path);
        (!same).then(|| format!("{path}:{}:{}", region.start.line, region.start.column))
    }
}

/// A line below the snippets.
struct Fact {
    level: Level<'static>,
    name: &'static str,
    text: String,
}

fn facts(report: &Report, reported: &Reported, options: &HumanOptions) -> Vec<Fact> {
    let finding = &reported.finding;
    let object = finding.object.as_ref().map(ObjectKey::to_string);
    let chain = (finding.chain.objects.len() > 1).then(|| chain(&finding.chain, options));
    let object = object.as_deref().map(plain::one_line);
    let field = finding.field.as_deref().map(plain::one_line);
    let url = reported.url.as_ref();
    let more = url.map(|_| format!("ownerlint explain {}", finding.rule));
    let facts = [
        (Level::NOTE, "object", object),
        (Level::NOTE, "field", field),
        (Level::NOTE, "note", Some(lines(&finding.reason))),
        (Level::HELP, "help", Some(lines(&finding.help))),
        (Level::NOTE, "chain", chain),
        (Level::NOTE, "template", templates(report, reported)),
        (Level::NOTE, "more", more),
    ];
    let facts = facts.into_iter().filter_map(|(level, name, text)| {
        let text = text.filter(|text| !text.is_empty())?;
        Some(Fact { level, name, text })
    });
    facts.collect()
}

/// Returns the templates that the places were rendered from; `None` if there are none.
fn templates(report: &Report, reported: &Reported) -> Option<String> {
    let labels = reported.finding.labels().take(MAX_PLACES + 1);
    let templates = labels.filter_map(|label| report.template(label.into()));
    let mut seen = BTreeSet::new();
    let templates = templates.filter(|template| seen.insert(*template));
    let templates: Vec<&str> = templates.collect();
    (!templates.is_empty()).then(|| plain::one_line(&templates.join(", ")))
}

/// Returns the lines of a text that are not empty.
fn lines(text: &str) -> String {
    let lines = text.trim().lines();
    let lines = lines.map(|line| plain::visible(line.trim_end()));
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

/// Draws the chain as a small tree, a line per object. Each owner is below its dependent, further to the right. Objects
/// that are deleted with the first object are below it, all with the same indentation.
fn chain(chain: &Chain, options: &HumanOptions) -> String {
    let [tee, corner] = if options.ascii {
        ["|- ", "`- "]
    } else {
        ["├─ ", "└─ "]
    };
    let last = chain.objects.len().saturating_sub(1);
    let shown = chain.objects.iter().take(MAX_LINKS);
    let shown = shown.map(|key| plain::one_line(&key.to_string()));
    let lines = shown.enumerate().map(|(at, key)| match chain.relation {
        _ if at == 0 => key,
        Relation::OwnedBy => format!("{}{corner}owned by {key}", "   ".repeat(at - 1)),
        Relation::Takes if at == last => format!("{corner}takes {key} with it"),
        Relation::Takes => format!("{tee}takes {key} with it"),
    });
    let more = chain.objects.len().saturating_sub(MAX_LINKS);
    let more = (more > 0).then(|| format!("and {}", plain::count(more, "more object")));
    lines.chain(more).collect::<Vec<_>>().join("\n")
}

fn counts(report: &Report) -> String {
    let summary = &report.summary;
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
