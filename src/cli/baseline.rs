//! `baseline write`, `update` and `prune`.

use clap::{Args, Subcommand};

use super::check::is_incomplete;
use super::error::Error;
use super::input_args::{InputArgs, WorldArg};
use super::status::{Status, no_objects};
use super::terminal;
use crate::baseline::Baseline;
use crate::engine::{CheckOptions, Session, read_baseline};
use crate::finding::Identity;
use crate::report::Report;
use crate::suppression::Date;

#[derive(Clone, Debug, Args)]
pub(super) struct BaselineArgs {
    #[command(subcommand)]
    pub(super) action: BaselineAction,
}

#[derive(Clone, Debug, Subcommand)]
pub(super) enum BaselineAction {
    /// Know all findings of today
    Write(BaselineFileArgs),
    /// Know all findings of today, and say what changed since the last time
    Update(BaselineFileArgs),
    /// Forget what is fixed, and learn nothing new
    Prune(BaselineFileArgs),
}

#[derive(Clone, Debug, Args)]
pub(super) struct BaselineFileArgs {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// The known findings [default: ownerlint-baseline.json beside the configuration]
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<String>,
    /// Whether the input is all there is
    #[arg(long, value_name = "WORLD")]
    pub(super) world: Option<WorldArg>,
}

pub(super) fn baseline(args: BaselineArgs) -> Result<Status, Error> {
    match args.action {
        BaselineAction::Write(args) => write(args),
        BaselineAction::Update(args) => update(args),
        BaselineAction::Prune(args) => prune(args),
    }
}

/// What a run finds without a baseline, and where the baseline is kept.
struct Today {
    report: Report,
    found: Baseline,
    path: String,
}

/// `Err`: there is nothing to know, and why.
fn today(args: BaselineFileArgs) -> Result<Result<Today, Status>, Error> {
    let allow_empty = args.input.allow_empty;
    let session = Session::open(&args.input.request(args.world)?)?;
    let path = session.baseline_path(args.baseline.as_deref());
    let report = session.check(CheckOptions { today: Some(Date::today()), every: true, ..CheckOptions::default() })?;
    if is_incomplete(&report) {
        report.notes.iter().for_each(|note| terminal::say(&note.message));
        return Ok(Err(Status::Failure));
    }
    if report.summary.objects == 0 && !allow_empty {
        return Ok(Err(no_objects(report.summary.files)));
    }
    let found = Baseline::of(report.findings.iter().map(|reported| &reported.finding));
    Ok(Ok(Today { report, found, path }))
}

fn write(args: BaselineFileArgs) -> Result<Status, Error> {
    let Today { found, path, .. } = match today(args)? {
        Ok(today) => today,
        Err(status) => return Ok(status),
    };
    save(&path, &found)?;
    terminal::print(&format!("`{path}` knows {}\n", findings(found.count())))?;
    Ok(Status::Clean)
}

fn update(args: BaselineFileArgs) -> Result<Status, Error> {
    let Today { found, path, .. } = match today(args)? {
        Ok(today) => today,
        Err(status) => return Ok(status),
    };
    let (_, known) = read_baseline(&path)?;
    let (new, gone) = (surplus(&found, &known), surplus(&known, &found));
    save(&path, &found)?;
    terminal::print(&format!("`{path}` knows {}: {new} new, {gone} gone\n", findings(found.count())))?;
    Ok(Status::Clean)
}

fn prune(args: BaselineFileArgs) -> Result<Status, Error> {
    let Today { report, path, .. } = match today(args)? {
        Ok(today) => today,
        Err(status) => return Ok(status),
    };
    let (_, known) = read_baseline(&path)?;
    let found = report.findings.iter().map(|reported| &reported.finding);
    let left = known.at_most(found);
    let gone = known.count() - left.count();
    if gone > 0 {
        save(&path, &left)?;
    }
    terminal::print(&format!("`{path}` knows {}: {gone} gone\n", findings(left.count())))?;
    Ok(Status::Clean)
}

/// How many findings of `these` are not in `those`.
fn surplus(these: &Baseline, those: &Baseline) -> usize {
    let count = |identity: &Identity| {
        let same = those.entries.iter().find(|entry| entry.identity == *identity);
        same.map_or(0, |entry| entry.count)
    };
    these.entries.iter().map(|entry| entry.count.saturating_sub(count(&entry.identity))).sum()
}

fn findings(count: usize) -> String {
    format!("{count} {}", if count == 1 { "finding" } else { "findings" })
}

fn save(path: &str, baseline: &Baseline) -> Result<(), Error> {
    let written = std::fs::write(path, baseline.to_json());
    written.map_err(|source| Error::Write { place: format!("`{path}`"), source })
}
