//! `baseline write`, `update` and `prune`.

use clap::{Args, Subcommand};

use super::check::is_incomplete;
use super::error::Error;
use super::input_args::{InputArgs, WORLDS, open};
use super::known::OneOf;
use super::replace::replace;
use super::status::{Status, of_empty};
use super::terminal;
use crate::baseline::{Baseline, Renewal};
use crate::engine::{BaselineChoice, CheckOptions, Session, read_baseline};
use crate::finding::Fixes;
use crate::report::{Graphs, Report};
use crate::rules::World;
use crate::suppression::Date;
use crate::text::plain;

#[derive(Clone, Debug, Args)]
pub(super) struct BaselineArgs {
    #[command(subcommand)]
    pub(super) action: BaselineAction,
}

#[derive(Clone, Debug, Subcommand)]
pub(super) enum BaselineAction {
    /// Replace the baseline with all current findings
    Write(BaselineFileArgs),
    /// Add new findings, remove those that are gone, and count both
    Update(BaselineFileArgs),
    /// Remove findings that no longer occur, and add none
    Prune(BaselineFileArgs),
}

#[derive(Clone, Debug, Args)]
pub(super) struct BaselineFileArgs {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// The known findings [default: ownerlint-baseline.json beside the configuration]
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) baseline: Option<String>,
    /// Whether the input is the whole cluster (`closed`) or the cluster may contain more (`open`)
    #[arg(long, value_name = "WORLD", value_parser = OneOf(&WORLDS))]
    pub(super) world: Option<World>,
}

/// An action: writes the baseline from the current findings.
type Action = fn(&CurrentFindings) -> Result<(), Error>;

pub(super) fn baseline(args: BaselineArgs) -> Result<Status, Error> {
    let (args, run): (BaselineFileArgs, Action) = match args.action {
        BaselineAction::Write(args) => (args, write),
        BaselineAction::Update(args) => (args, update),
        BaselineAction::Prune(args) => (args, prune),
    };
    match find_current(args)? {
        Ok(current) => run(&current).map(|()| Status::Clean),
        Err(status) => Ok(status),
    }
}

/// The findings of a run without a baseline, and the path of the baseline.
struct CurrentFindings {
    session: Session,
    report: Report,
    found: Baseline,
    path: String,
}

/// Checks the input without a baseline; `Err` with the exit status if it is incomplete or has no objects.
fn find_current(args: BaselineFileArgs) -> Result<Result<CurrentFindings, Status>, Error> {
    let allow_empty = args.input.allow_empty;
    let mut request = args.input.request(args.world)?;
    request.in_repository = true;
    let session = open(&request)?;
    let path = session.baseline_path_to_write(args.baseline.as_deref())?;
    let report = session.check(CheckOptions {
        baseline: BaselineChoice::Without,
        today: Some(Date::today()),
        every: true,
        fixes: Fixes::LeftOut,
        graphs: Graphs::LeftOut,
        ..CheckOptions::default()
    })?;
    if is_incomplete(&report) {
        for note in &report.notes {
            terminal::say(&note.message);
        }
        return Ok(Err(Status::Failure));
    }
    let objects = report.summary.objects;
    if let Some(status) = of_empty(&session, objects, allow_empty, &request.paths) {
        return Ok(Err(status));
    }
    let found = Baseline::of(report.findings.iter().map(|reported| &reported.finding));
    Ok(Ok(CurrentFindings {
        session,
        report,
        found,
        path,
    }))
}

fn write(CurrentFindings { found, path, .. }: &CurrentFindings) -> Result<(), Error> {
    replace(path, &found.to_json())?;
    terminal::print(&format!("`{path}` lists {}\n", findings(found.count())))
}

fn update(current: &CurrentFindings) -> Result<(), Error> {
    let (change, path) = (current.renewal(true)?, &current.path);
    replace(path, &change.baseline.to_json())?;
    terminal::print(&format!(
        "`{path}` lists {}: {} new, {} gone{}\n",
        findings(change.baseline.count()),
        change.new,
        change.gone,
        unread(&change)
    ))
}

fn prune(current: &CurrentFindings) -> Result<(), Error> {
    let (change, path) = (current.renewal(false)?, &current.path);
    if change.gone > 0 {
        replace(path, &change.baseline.to_json())?;
    }
    let (known, gone) = (findings(change.baseline.count()), change.gone);
    terminal::print(&format!(
        "`{path}` lists {known}: {gone} gone{}\n",
        unread(&change)
    ))
}

impl CurrentFindings {
    /// Returns the stored baseline, updated with the findings. New ones are added if `learn` is
    /// set.
    fn renewal(&self, learn: bool) -> Result<Renewal, Error> {
        let known = read_baseline(&self.path)?.1;
        Ok(self.session.renew(&known, &self.report, learn))
    }
}

/// Describes the findings that stay in the baseline because this run could not have found them.
fn unread(change: &Renewal) -> String {
    match change.unread {
        0 => String::new(),
        unread => format!(
            "; {} kept, because this run could not check them",
            findings(unread)
        ),
    }
}

fn findings(count: usize) -> String {
    plain::count(count, "finding")
}
