//! One function per command: arguments in, text out, status back.

use std::io::IsTerminal;
use std::path::Path;
use std::time::Instant;

use super::adoption_args::ReportedArgs;
use super::args::{CheckArgs, ExplainArgs, GlobalArgs, ListArgs, MarkdownOrJson, RulesArgs, SchemaArgs, TextOrJson};
use super::changed::{as_committed, changed_from};
use super::error::Error;
use super::output::{Named, OutputSpec};
use super::settings::Settings;
use super::{Status, terminal};
use crate::engine::{self, Check, ReportScope, UnknownRule};
use crate::gc;
use crate::report::{self, Format, HumanOptions, JunitOptions, Options, Published, Report, Roots};
use crate::rules::{self, Page, RULES};
use crate::text::near;

/// The names of the commands, to recognise a misspelt one.
const COMMANDS: [&str; 10] =
    ["check", "list", "plan", "explain", "rules", "baseline", "init", "schema", "completions", "man"];

pub(super) fn check(args: CheckArgs, global: &GlobalArgs) -> Result<Status, Error> {
    let CheckArgs { input, output, fail_on, select, ignore, world, reported } = args;
    distinct(&output)?;
    misspelt_command(&input.paths)?;
    let allow_empty = input.allow_empty;
    let settings = Settings::resolve(input, world)?;
    let fail_on = settings.fail_on(fail_on.map(|fail_on| fail_on.0));
    let check = Check {
        baseline: if reported.no_baseline { None } else { settings.baseline(reported.baseline.as_deref())? },
        only: report_scope(&reported)?,
        ..settings.check(&select, &ignore)?
    };
    let started = Instant::now();
    let bundles = settings.read()?;
    let read = started.elapsed();
    let report = engine::check_bundles(bundles, &check);
    if global.verbose {
        terminal::say(&timing(&report, read, started.elapsed()));
    }
    let published = reported.source_url.map(|url| Published { url, files: as_committed() });
    for spec in &output {
        let mut options = options(global, spec, fail_on);
        options.lsp.position_encoding = reported.position_encoding.into();
        options.markdown.published.clone_from(&published);
        options.markdown.bytes = reported.markdown_bytes.unwrap_or(options.markdown.bytes);
        write(spec, &report, &options)?;
    }
    // A reader of findings on a terminal or in a hook sees this too; a program that reads standard output does not.
    let concise = output.iter().any(|spec| spec.format == Format::Concise && spec.file.is_none());
    if let Some(closing) = report::closing(&report, fail_on).filter(|_| concise && !reported.exit_zero) {
        terminal::say(&closing);
    }
    let found = |least| report.findings.iter().any(|reported| reported.finding.severity >= least);
    Ok(match fail_on {
        _ if is_incomplete(&report) => Status::Failure,
        Some(least) if found(least) && !reported.exit_zero => Status::Findings,
        _ if report.summary.objects == 0 && !allow_empty => no_objects(report.summary.files),
        _ => Status::Clean,
    })
}

/// Whether a part of the analysis failed, so that the absence of findings proves nothing.
pub(super) fn is_incomplete(report: &Report) -> bool {
    report.notes.iter().any(|note| note.severity == crate::finding::Severity::Error)
}

fn report_scope(args: &ReportedArgs) -> Result<Option<ReportScope>, Error> {
    let changed = args.only_changed_from.as_deref().map(changed_from).transpose()?;
    let limited = changed.is_some() || !args.only.is_empty();
    Ok(limited.then(|| ReportScope::new(args.only.iter().cloned().chain(changed.unwrap_or_default()))))
}

pub(super) fn list(args: ListArgs, global: &GlobalArgs) -> Result<Status, Error> {
    let started = Instant::now();
    let allow_empty = args.input.allow_empty;
    misspelt_command(&args.input.paths)?;
    let bundles = Settings::resolve(args.input, None)?.read()?;
    let listing = engine::list_bundles(&bundles);
    if global.verbose {
        terminal::say(&format!("{} objects in {:?}", listing.objects.len(), started.elapsed()));
    }
    terminal::print(&match args.output {
        TextOrJson::Human => listing.human(),
        TextOrJson::Json => listing.json(),
    })?;
    match listing.objects.is_empty() && !allow_empty {
        true => Ok(Status::NoObjects),
        false => Ok(Status::Clean),
    }
}

pub(super) fn explain(args: &ExplainArgs) -> Result<Status, Error> {
    let Some(id) = &args.rule else {
        return rules(&RulesArgs {
            output: match args.output {
                MarkdownOrJson::Markdown => TextOrJson::Human,
                MarkdownOrJson::Json => TextOrJson::Json,
            },
        });
    };
    if let Some(says) = gc::semantics(&id.to_uppercase()) {
        // What a plan cites in brackets is one sentence, in any format.
        terminal::print(&format!("{says}\n"))?;
        return Ok(Status::Clean);
    }
    let rule = rules::find(id).ok_or_else(|| UnknownRule::new(id))?;
    let body = Page::parse(rule.page).map_or(rule.page, |page| page.body);
    let text = match args.output {
        MarkdownOrJson::Markdown => {
            format!("{body}\n---\n{} · {} · {}\n", rule.severity.as_str(), rule.consequence.as_str(), rule.url())
        }
        MarkdownOrJson::Json => report::rules_json(&[engine::describe(rule)]),
    };
    terminal::print(&text)?;
    Ok(Status::Clean)
}

pub(super) fn rules(args: &RulesArgs) -> Result<Status, Error> {
    let described: Vec<_> = RULES.iter().map(|rule| engine::describe(rule)).collect();
    terminal::print(&match args.output {
        TextOrJson::Human => report::rules_human(&described),
        TextOrJson::Json => report::rules_json(&described),
    })?;
    Ok(Status::Clean)
}

pub(super) fn schema(args: &SchemaArgs) -> Result<Status, Error> {
    let Some(schema) = report::schema(&args.name) else {
        let known: Vec<_> = report::SCHEMAS.iter().map(|(name, _)| *name).collect();
        return Err(Error::Schema { name: args.name.clone(), known: known.join(", ") });
    };
    terminal::print(schema)?;
    Ok(Status::Clean)
}

/// `ownerlint chekc rendered/`: the first word is no path, and nearly a command.
fn misspelt_command(paths: &[String]) -> Result<(), Error> {
    let word = paths.first().filter(|word| !word.contains(['/', '.', '*']) && !Path::new(word).exists());
    let meant = |word: &&String| COMMANDS.into_iter().find(|command| near::is_misspelling(word, command));
    match word.and_then(|word| meant(&word).map(|command| (word, command))) {
        Some((word, command)) => Err(Error::Command { word: word.clone(), command }),
        None => Ok(()),
    }
}

pub(super) fn no_objects(files: usize) -> Status {
    terminal::say(&format!("no Kubernetes object found in {files} files; `--allow-empty` makes that a success"));
    Status::NoObjects
}

/// Two documents in one stream would be no document.
pub(super) fn distinct<F: Named>(specs: &[OutputSpec<F>]) -> Result<(), Error> {
    for (at, second) in specs.iter().enumerate() {
        if let Some(first) = specs[..at].iter().find(|first| first.file == second.file) {
            let place = second.file.as_ref().map_or("standard output".to_owned(), |file| format!("`{file}`"));
            let (first, second) = (first.format.to_string(), second.format.to_string());
            return Err(Error::SharedOutput { place, first, second });
        }
    }
    Ok(())
}

fn options(global: &GlobalArgs, spec: &OutputSpec, fail_on: Option<crate::finding::Severity>) -> Options {
    Options { junit: JunitOptions { fail_on }, ..display(global, spec.file.is_none()) }
}

/// How to show a document; colours and links are for standard output only.
pub(super) fn display(global: &GlobalArgs, to_stdout: bool) -> Options {
    let stdout = std::io::stdout();
    let here = std::env::current_dir().ok();
    let color = to_stdout && terminal::use_color(global.color, &stdout);
    Options {
        human: HumanOptions {
            color,
            links: color && stdout.is_terminal(),
            width: terminal::width(),
            ..HumanOptions::default()
        },
        roots: Roots {
            repository_root: here.as_deref().and_then(repository_root).map(slashes),
            working_directory: here.as_deref().map(slashes),
        },
        ..Options::default()
    }
}

/// The folder that holds `.git`: code hosts want paths from there.
fn repository_root(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(".git").exists())
}

fn slashes(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

fn write(spec: &OutputSpec, report: &Report, options: &Options) -> Result<(), Error> {
    write_text(spec.file.as_deref(), &report::render(spec.format, report, options))
}

/// Writes a document to a file, or to standard output.
pub(super) fn write_text(file: Option<&str>, text: &str) -> Result<(), Error> {
    match file {
        None => terminal::print(text),
        Some(file) => std::fs::write(file, text).map_err(|source| Error::Write { place: format!("`{file}`"), source }),
    }
}

fn timing(report: &Report, read: std::time::Duration, all: std::time::Duration) -> String {
    let summary = report.summary;
    format!(
        "read {} files, {} documents, {} objects in {read:.1?}; {} rules in {:.1?}",
        summary.files,
        summary.documents,
        summary.objects,
        report.rules.len(),
        all.saturating_sub(read)
    )
}
