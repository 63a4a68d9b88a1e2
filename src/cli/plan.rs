//! `plan`: what Kubernetes would do, without doing it.

use clap::{Args, Subcommand, ValueEnum};

use super::error::Error;
use super::global_args::GlobalArgs;
use super::input_args::{ConfigArgs, namespace, open, release};
use super::known::known;
use super::output::{OutputSpec, display, distinct, formats, write_text};
use super::status::{Status, no_objects};
use super::{help, hints};
use crate::engine::{Question, Request, Steps};
use crate::inventory::{Release, STDIN};
use crate::kube::Policy;
use crate::report::plan::{self, PlanFormat};
use crate::text::SourceFile;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = help::PLAN)]
pub(super) struct PlanArgs {
    #[command(subcommand)]
    command: Option<PlanCommand>,
    #[command(flatten)]
    steps: StepsArgs,
}

#[derive(Debug, Subcommand)]
enum PlanCommand {
    /// What a deletion takes along, leaves behind and leaves hanging
    #[command(after_help = help::PLAN)]
    Delete(DeleteArgs),
}

#[derive(Debug, Args)]
struct DeleteArgs {
    /// Objects: `deployment/web`, `deploy web`, `ns/shop`, `foos.example.com/one`, or a key like `Deployment.apps/shop/web`
    #[arg(value_name = "TARGET", required = true)]
    targets: Vec<String>,
    /// Files, folders, globs, or `-` for standard input (may be repeated) [default: the current folder]
    #[arg(short, long = "filename", value_name = "PATH", value_hint = clap::ValueHint::AnyPath, help_heading = "Input")]
    filename: Vec<String>,
    /// What the request says of dependents; `none` sends no policy, as raw API clients do
    #[arg(long, value_name = "POLICY", default_value = "background")]
    cascade: Cascade,
    #[command(flatten)]
    options: PlanOptions,
}

#[derive(Debug, Args)]
struct StepsArgs {
    /// A list of steps in YAML or JSON, see below; `-` for standard input
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    steps: Option<String>,
    /// Files, folders, globs, or `-` for standard input [default: the current folder]
    #[arg(value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    paths: Vec<String>,
    #[command(flatten)]
    options: PlanOptions,
}

#[derive(Debug, Args)]
struct PlanOptions {
    /// The namespace of targets and of objects that do not say theirs
    #[arg(short, long, value_name = "NAME", value_parser = namespace, help_heading = "Input")]
    namespace: Option<String>,
    /// Whether Pods run on nodes, so that they finish when they are deleted; without, those bound to a node stay Terminating
    #[arg(long, value_name = "YES|NO", default_value = "yes")]
    kubelet: YesNo,
    /// Output format, with a file to write it to (may be repeated)
    #[arg(short, long, value_name = "FORMAT[:FILE]", default_value = "human", value_parser = known::<OutputSpec<PlanFormat>>(formats::<PlanFormat>), help_heading = "Output")]
    output: Vec<OutputSpec<PlanFormat>>,
    /// What makes the run fail: `stuck` when something stays Terminating after the last step
    #[arg(long, value_name = "WHAT", default_value = "never", help_heading = "Exit status")]
    fail_on: FailOnPlan,
    /// Leave out files whose path matches this glob (may be repeated)
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    exclude: Vec<String>,
    /// The Kubernetes release that decides which built-in kinds are served [default: the newest known]
    #[arg(long, value_name = "VERSION", value_parser = release, help_heading = "Input")]
    kubernetes_version: Option<Release>,
    #[command(flatten)]
    config: ConfigArgs,
    /// The bundle of the configuration to plan in; with paths, the one whose settings count for them
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    bundle: Option<String>,
    /// Exit with 0 when there is no Kubernetes object
    #[arg(long, help_heading = "Exit status")]
    allow_empty: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Cascade {
    Background,
    Foreground,
    Orphan,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum YesNo {
    Yes,
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOnPlan {
    Stuck,
    Never,
}

impl From<Cascade> for Option<Policy> {
    fn from(cascade: Cascade) -> Self {
        match cascade {
            Cascade::Background => Some(Policy::Background),
            Cascade::Foreground => Some(Policy::Foreground),
            Cascade::Orphan => Some(Policy::Orphan),
            Cascade::None => None,
        }
    }
}

pub(super) fn plan(args: PlanArgs, global: &GlobalArgs) -> Result<Status, Error> {
    let (question, paths, options) = match args.command {
        Some(PlanCommand::Delete(DeleteArgs { targets, filename, cascade, options })) => {
            hints::on_outputs(&options.output, &targets)?;
            let namespace = options.namespace.clone();
            (Question::Delete { targets, namespace, policy: cascade.into() }, filename, options)
        }
        None => {
            let StepsArgs { steps, paths, options } = args.steps;
            let Some(file) = steps else {
                return Err(Error::NothingToPlan {
                    path: paths.into_iter().next().unwrap_or_else(|| "rendered/".to_owned()),
                });
            };
            if file == STDIN && paths.iter().any(|path| path == STDIN) {
                return Err(Error::StdinTwice);
            }
            let (steps, namespace) = (Steps::read(text_of(&file)?)?, options.namespace.clone());
            (Question::Steps { steps, namespace }, paths, options)
        }
    };
    distinct(&options.output)?;
    hints::on_addresses(&paths)?;
    let request = options.request(paths);
    let session = open(&request)?;
    if session.objects() == 0 && !options.allow_empty {
        return Ok(no_objects(&session, &request.paths));
    }
    let rehearsal = session.plan(&question, options.kubelet == YesNo::Yes)?;
    let plan = rehearsal.simulate();
    let view = rehearsal.view(&plan);
    for spec in &options.output {
        write_text(spec.file.as_deref(), &plan::render(spec.format, &view, &display(global, spec.file.is_none())))?;
    }
    let stuck = plan.steps.len().checked_sub(1).is_some_and(|last| !plan.stuck(last).is_empty());
    Ok(if stuck && options.fail_on == FailOnPlan::Stuck { Status::Findings } else { Status::Clean })
}

impl PlanOptions {
    fn request(&self, paths: Vec<String>) -> Request {
        Request {
            paths,
            exclude: self.exclude.clone(),
            namespace: self.namespace.clone(),
            release: self.kubernetes_version,
            config: self.config.clone().choice(),
            bundle: self.bundle.clone(),
            ..Request::default()
        }
    }
}

fn text_of(file: &str) -> Result<SourceFile, Error> {
    let text = match file {
        STDIN => std::io::read_to_string(std::io::stdin()),
        _ => std::fs::read_to_string(file),
    };
    let text = text.map_err(|reason| Error::Read { file: place_of(file), reason })?;
    Ok(SourceFile::new(file, text))
}

fn place_of(file: &str) -> String {
    if file == STDIN { "standard input".to_owned() } else { format!("`{file}`") }
}
