//! The command `check`.

use std::io::IsTerminal;
use std::time::Instant;

use clap::Args;

use super::changed::changed_from;
use super::error::Error;
use super::fix::{self, FixArgs};
use super::global_args::GlobalArgs;
use super::hints;
use super::input_args::{InputArgs, WORLDS, open};
use super::known::{OneOf, known, rule_words};
use super::output::{FailOn, OutputSpec, display, distinct, formats, severity, write_document};
use super::published::PublishedArgs;
use super::status::{Status, of_empty};
use super::terminal;
use crate::engine::{BaselineChoice, CheckOptions, Fixed, ReportScope, Request};
use crate::finding::{Fixes, Severity};
use crate::report::{self, Closing, Format, Graphs, Options, Report};
use crate::rules::World;
use crate::suppression::Date;
use crate::text::{ColumnUnit, plain};

#[derive(Clone, Debug, Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// Output format, with a file to write it to (may be repeated)
    #[arg(short, long, value_name = "FORMAT[:FILE]", default_value = "human", value_parser = known::<OutputSpec>(formats::<Format>), help_heading = "Output")]
    pub(super) output: Vec<OutputSpec>,
    /// The lowest severity that makes the run fail [default: error]
    #[arg(long, value_name = "SEVERITY", value_parser = known::<FailOn>(FailOn::names), help_heading = "Exit status")]
    pub(super) fail_on: Option<FailOn>,
    /// The lowest severity that human and concise output show: error, warning or info [default: warning, or that of --fail-on]
    #[arg(long, value_name = "SEVERITY", value_parser = severity, help_heading = "Output")]
    pub(super) show: Option<Severity>,
    /// Run only these rules: ids, beginnings (owner-*) or subjects (references)
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = known::<String>(rule_words), hide_possible_values = true, help_heading = "Rules")]
    pub(super) select: Vec<String>,
    /// Do not run these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = known::<String>(rule_words), hide_possible_values = true, help_heading = "Rules")]
    pub(super) ignore: Vec<String>,
    /// Whether other objects may exist in the cluster; if not (closed), a missing owner is an error
    #[arg(long, value_name = "WORLD", value_parser = OneOf(&WORLDS), help_heading = "Rules")]
    pub(super) world: Option<World>,
    /// Count findings by rule instead of showing them; the json output has both
    #[arg(long, help_heading = "Output")]
    pub(super) statistics: bool,
    #[command(flatten)]
    pub(super) fixes: FixArgs,
    #[command(flatten)]
    pub(super) reported: ReportedArgs,
}

/// Which findings are reported, and how.
#[derive(Clone, Debug, Args)]
pub(super) struct ReportedArgs {
    /// Report only findings that touch this file or folder; everything else is still read (may be repeated)
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath, help_heading = "Report")]
    pub(super) only: Vec<String>,
    /// Report only findings that the merge base with this git ref does not have; count the others
    #[arg(long, value_name = "GITREF", help_heading = "Report")]
    pub(super) only_changed_from: Option<String>,
    /// The known findings [default: ownerlint-baseline.json beside the configuration]
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Report", conflicts_with = "no_baseline")]
    pub(super) baseline: Option<String>,
    /// Report known findings too
    #[arg(long, help_heading = "Report")]
    pub(super) no_baseline: bool,
    /// The unit of a column in the `lsp` output
    #[arg(
        long,
        value_name = "ENCODING",
        value_parser = OneOf(&ENCODINGS),
        default_value = "utf-16",
        help_heading = "Output"
    )]
    pub(super) position_encoding: ColumnUnit,
    #[command(flatten)]
    pub(super) published: PublishedArgs,
    /// The maximum size of the `markdown` output; GitHub accepts 65536 in a comment [default: 1000000]
    #[arg(long, value_name = "BYTES", help_heading = "Output")]
    pub(super) markdown_bytes: Option<usize>,
    /// Exit with 0 whatever is found
    #[arg(long, help_heading = "Exit status")]
    pub(super) exit_zero: bool,
}

/// The position encodings of the language server protocol.
const ENCODINGS: [(&str, ColumnUnit); 3] = [
    ("utf-8", ColumnUnit::Utf8),
    ("utf-16", ColumnUnit::Utf16),
    ("utf-32", ColumnUnit::Chars),
];

pub(super) fn check(args: CheckArgs, global: &GlobalArgs) -> Result<Status, Error> {
    let output = args.output;
    let reported = args.reported;
    let applicability = args.fixes.applicability()?;
    distinct(&output)?;
    hints::on_outputs(&output, &args.input.paths)?;
    let allow_empty = args.input.allow_empty;
    let charts = args.input.charts.clone();
    let mut request = args.input.request(args.world)?;
    request.in_repository = true;
    let started = Instant::now();
    let session = open(&request)?;
    let read = started.elapsed();
    let only = session.known_scope(&reported.only)?;
    let only = (!only.is_empty()).then(|| ReportScope::new(only));
    let mut rejected_charts = request.unrendered.rejected.clone();
    let since = match &reported.only_changed_from {
        Some(reference) => {
            let (base, mut past) = changed_from(reference)?;
            let rejected_before = charts.add_past(&mut past, &request, &base)?;
            rejected_charts.retain(|chart| !rejected_before.contains(chart));
            Some(past)
        }
        None => None,
    };
    let fail_on = session.fail_on(args.fail_on.map(|fail_on| fail_on.0));
    let baseline = match reported.baseline {
        _ if reported.no_baseline => BaselineChoice::Without,
        Some(file) => BaselineChoice::File(file),
        None => BaselineChoice::Discover,
    };
    // Hint at fixes only to a user who can apply them at once.
    let hints_at_fixes =
        output.iter().any(is_text) && (applicability.is_some() || std::io::stdout().is_terminal());
    let fixes_shown = hints_at_fixes || output.iter().any(|spec| spec.format.carries_fixes());
    let graphs_shown = output.iter().any(|spec| spec.format.draws_graphs());
    let asked = CheckOptions {
        select: args.select,
        ignore: args.ignore,
        baseline,
        only,
        since,
        fixes: if fixes_shown {
            Fixes::WorkedOut
        } else {
            Fixes::LeftOut
        },
        graphs: if graphs_shown {
            Graphs::Drawn
        } else {
            Graphs::LeftOut
        },
        statistics: args.statistics,
        today: Some(Date::today()),
        ..CheckOptions::default()
    };
    let mut piped = false;
    let (session, report) = match applicability {
        None => {
            let report = session.check(asked)?;
            (session, report)
        }
        Some(applicability) => {
            let fixed = session.fix(&asked, applicability)?;
            if args.fixes.fix_dry_run {
                return show_diff(&fixed, allow_empty, &request, reported.exit_zero);
            }
            fix::write(&fixed.files)?;
            if let Some(text) = fix::piped(&fixed) {
                piped = true;
                terminal::print(text)?;
            }
            terminal::say(&fix::summary(&fixed, "fixed"));
            (fixed.session, fixed.report)
        }
    };
    if global.verbose {
        terminal::say(&timing(&report, read, started.elapsed()));
    }
    let closing = Closing {
        show: shown(args.show, fail_on, global.verbose),
        fail_on,
        verbose: global.verbose,
    };
    let published = reported.published.of_work_tree();
    for spec in &output {
        let mut options = options(global, spec.file.is_none(), fail_on);
        options.human.show = closing.show;
        options.concise_show = closing.show;
        options.position_encoding = reported.position_encoding;
        options.markdown.published.clone_from(&published);
        options.html.published.clone_from(&published);
        options.markdown.bytes = reported.markdown_bytes.unwrap_or(options.markdown.bytes);
        let rendered = report::render(spec.format, &report, &options);
        match spec.file {
            // Standard output already contains the fixed text.
            None if piped => terminal::tell(&rendered),
            _ => write_document(spec, &rendered)?,
        }
    }
    // Print to standard error: terminals and hooks show it, readers of standard output do not.
    for spec in output.iter().filter(|spec| spec.file.is_none()) {
        let fail_on = fail_on.filter(|_| !reported.exit_zero);
        terminal::tell(&report::closing(
            spec.format,
            &report,
            &Closing { fail_on, ..closing },
        ));
    }
    if let Some(line) = fix::remaining(&report, applicability.is_some()).filter(|_| hints_at_fixes)
    {
        terminal::say(&line);
    }
    let severities = report
        .findings
        .iter()
        .map(|reported| reported.finding.severity);
    let gravest = severities.max();
    let status = match fail_on {
        _ if is_incomplete(&report) => Status::Failure,
        Some(least) if gravest >= Some(least) && !reported.exit_zero => Status::Findings,
        Some(_) if !rejected_charts.is_empty() && !reported.exit_zero => {
            say_rejected_charts(rejected_charts.len());
            Status::Findings
        }
        _ => of_empty(&session, session.objects(), allow_empty, &request.paths)
            .unwrap_or(Status::Clean),
    };
    // The process ends now, and the operating system frees the memory faster.
    std::mem::forget((session, report));
    Ok(status)
}

/// Says that the run fails because helm rejects `count` charts.
fn say_rejected_charts(count: usize) {
    let (charts, them) = (
        plain::count(count, "chart"),
        if count == 1 { "it" } else { "them" },
    );
    terminal::say(&format!(
        "error: helm rejects {charts}: nothing in {them} was checked"
    ));
    terminal::say(
        "  help: correct the chart or its values; if a chart needs other values, check the output of `helm template NAME CHART \
         --values FILE`, and leave the chart out here with `--exclude 'CHART/**'`",
    );
}

/// Prints the changes that fixes would make, and writes nothing.
fn show_diff(
    fixed: &Fixed,
    allow_empty: bool,
    request: &Request,
    exit_zero: bool,
) -> Result<Status, Error> {
    terminal::print(&fix::diff(&fixed.files))?;
    terminal::say(&fix::summary(fixed, "would fix"));
    let session = &fixed.session;
    Ok(match fixed.files.is_empty() {
        _ if is_incomplete(&fixed.report) => Status::Failure,
        false if !exit_zero => Status::Findings,
        _ => of_empty(session, session.objects(), allow_empty, &request.paths)
            .unwrap_or(Status::Clean),
    })
}

/// Whether the output is text on standard output.
fn is_text(spec: &OutputSpec) -> bool {
    spec.file.is_none() && matches!(spec.format, Format::Human | Format::Concise)
}

/// Whether a part of the analysis failed, so that the absence of findings proves nothing.
pub(super) fn is_incomplete(report: &Report) -> bool {
    report
        .notes
        .iter()
        .any(|note| note.severity == Severity::Error)
}

/// Returns the lowest severity that text output shows: `given`, or else one that shows all
/// failures.
pub(super) fn shown(given: Option<Severity>, fail_on: Option<Severity>, verbose: bool) -> Severity {
    let failing = fail_on.unwrap_or(Severity::Error);
    given.unwrap_or(if verbose {
        Severity::Info
    } else {
        failing.min(Severity::Warning)
    })
}

pub(super) fn options(global: &GlobalArgs, to_stdout: bool, fail_on: Option<Severity>) -> Options {
    Options {
        fail_on,
        ..display(global, to_stdout)
    }
}

fn timing(report: &Report, read: std::time::Duration, all: std::time::Duration) -> String {
    let summary = report.summary;
    format!(
        "read {}, {}, {} in {read:.1?}; {} in {:.1?}",
        plain::count(summary.files, "file"),
        plain::count(summary.documents, "document"),
        plain::count(summary.objects, "object"),
        plain::count(report.rules.len(), "rule"),
        all.saturating_sub(read)
    )
}
