//! The command `plan`: predicts a deletion without performing it.

use clap::{ArgAction, Args, Subcommand, ValueEnum};

use super::error::Error;
use super::global_args::GlobalArgs;
use super::input_args::{ConfigArgs, namespace, open, release};
use super::known::{OneOf, known};
use super::output::{OutputSpec, display, distinct, formats, write_document};
use super::published::PublishedArgs;
use super::rendering::ChartArgs;
use super::status::{Status, of_empty};
use super::{help, hints};
use crate::delivery::helm::HelmVersion;
use crate::engine::{
    POLICIES, PlanError, Question, Request, Session, Steps, TeardownBy, TeardownRequest, read_text,
};
use crate::gc::Plan;
use crate::inventory::{Release, STDIN};
use crate::kube::Policy;
use crate::report::plan::{self, PlanFormat};
use crate::story::PlanView;
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
    /// Predict what a deletion deletes, keeps and leaves stuck
    #[command(after_help = help::PLAN)]
    Delete(DeleteArgs),
    /// Predict what is deleted, kept and stuck when a tool removes everything, and find a safe order
    #[command(after_help = help::TEARDOWN)]
    Teardown(TeardownArgs),
}

#[derive(Debug, Args)]
struct TeardownArgs {
    /// The tool that removes everything [default: the tool that delivers all objects, if their marks show it]
    #[arg(long = "by", value_name = "TOOL")]
    tool: Option<By>,
    /// Files, folders, globs, or `-` for standard input: what is removed [default: the current folder]
    #[arg(value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    paths: Vec<String>,
    /// Other objects of the cluster: files, folders or globs (may be repeated)
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath, help_heading = "Input")]
    beside: Vec<String>,
    /// The namespace of the Helm release, or the namespace that is deleted
    #[arg(long, value_name = "NAME", value_parser = namespace, help_heading = "Input")]
    release_namespace: Option<String>,
    /// Propagation policy of each delete request [default: the tool's]
    #[arg(long, value_name = "POLICY", value_parser = OneOf(&TOOL_POLICIES))]
    cascade: Option<Policy>,
    /// The major version of Helm, which is not detected: an uninstall by Helm 4 deletes webhook configurations first, one
    /// by Helm 3 among the last objects
    #[arg(long, value_name = "VERSION", value_parser = OneOf(&HELM_VERSIONS), default_value = "3")]
    helm_version: HelmVersion,
    #[command(flatten)]
    options: PlanOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// `helm uninstall`
    Helm,
    /// `kubectl delete -f`: in the order of the arguments, files of a folder by name
    Kubectl,
    /// The Application is deleted
    Argocd,
    /// The Kustomizations that no other one delivers are deleted, or the HelmReleases of objects
    /// that Helm rendered
    Flux,
    /// The Namespace is deleted; cluster-scoped objects stay
    Namespace,
}

/// The propagation policies of tools, which always send one.
pub(super) const TOOL_POLICIES: [(&str, Policy); 3] = [
    ("background", Policy::Background),
    ("foreground", Policy::Foreground),
    ("orphan", Policy::Orphan),
];

/// A policy, or none. An alias, because clap takes an `Option` field for an optional argument.
type SentPolicy = Option<Policy>;

pub(super) const HELM_VERSIONS: [(&str, HelmVersion); 2] =
    [("3", HelmVersion::V3), ("4", HelmVersion::V4)];

#[derive(Debug, Args)]
struct DeleteArgs {
    /// Objects: `deployment/web`, `deploy web`, `ns/shop`, `foos.example.com/one`, or a key like `Deployment.apps/shop/web`
    #[arg(value_name = "TARGET", required = true)]
    targets: Vec<String>,
    /// Files, folders, globs, or `-` for standard input (may be repeated) [default: the current folder]
    #[arg(short, long = "filename", value_name = "PATH", value_hint = clap::ValueHint::AnyPath, help_heading = "Input")]
    filename: Vec<String>,
    /// Propagation policy of the request; `none` sends no policy, as raw API clients do
    #[arg(long, value_name = "POLICY", value_parser = OneOf(&POLICIES), default_value = "background")]
    cascade: SentPolicy,
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

const YES_OR_NO: [(&str, bool); 2] = [("yes", true), ("no", false)];

#[derive(Debug, Args)]
struct PlanOptions {
    #[command(flatten)]
    charts: ChartArgs,
    /// The namespace of objects without one, and of targets
    #[arg(short, long, value_name = "NAME", value_parser = namespace, help_heading = "Input")]
    namespace: Option<String>,
    /// Whether kubelets run, so that Pods end when they are deleted; without kubelets, Pods that are bound to a node
    /// stay Terminating
    #[arg(long, value_name = "YES|NO", action = ArgAction::Set, value_parser = OneOf(&YES_OR_NO), default_value = "yes")]
    kubelet: bool,
    /// Output format, with a file to write it to (may be repeated)
    #[arg(short, long, value_name = "FORMAT[:FILE]", default_value = "human", value_parser = known::<OutputSpec<PlanFormat>>(formats::<PlanFormat>), help_heading = "Output")]
    output: Vec<OutputSpec<PlanFormat>>,
    #[command(flatten)]
    published: PublishedArgs,
    /// When the run fails: `stuck` when something stays Terminating after the last step
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "never",
        help_heading = "Exit status"
    )]
    fail_on: FailOnPlan,
    /// Leave out files whose path matches this glob (may be repeated)
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    exclude: Vec<String>,
    /// The Kubernetes release of the cluster, such as 1.34: which built-in kinds it serves, and how it deletes [default:
    /// that of ownerlint.yaml, else the newest known]
    #[arg(long, value_name = "VERSION", value_parser = release, help_heading = "Input")]
    kubernetes_version: Option<Release>,
    #[command(flatten)]
    config: ConfigArgs,
    /// The bundle of the configuration to plan in; with paths, the bundle whose settings apply to them
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    bundle: Option<String>,
    /// The cluster to plan in, if the input is delivered to several: a name from `list --deliveries`
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    cluster: Option<String>,
    /// Exit with 0 when there is no Kubernetes object, and no template that would render to one
    #[arg(long, help_heading = "Exit status")]
    allow_empty: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FailOnPlan {
    Stuck,
    Never,
}

impl From<By> for TeardownBy {
    fn from(by: By) -> Self {
        match by {
            By::Helm => Self::Helm,
            By::Kubectl => Self::Kubectl,
            By::Argocd => Self::ArgoCd,
            By::Flux => Self::Flux,
            By::Namespace => Self::Namespace,
        }
    }
}

pub(super) fn plan(args: PlanArgs, global: &GlobalArgs) -> Result<Status, Error> {
    match args.command {
        Some(PlanCommand::Delete(delete)) => plan_deletion(delete, global),
        Some(PlanCommand::Teardown(teardown)) => plan_teardown(teardown, global),
        None => plan_steps(args.steps, global),
    }
}

fn plan_deletion(args: DeleteArgs, global: &GlobalArgs) -> Result<Status, Error> {
    let options = args.options;
    hints::on_outputs(&options.output, &args.targets)?;
    let question = Question::Delete {
        targets: args.targets,
        namespace: options.namespace.clone(),
        policy: args.cascade,
    };
    answer(&question, options.request(args.filename), &options, global)
}

fn plan_steps(args: StepsArgs, global: &GlobalArgs) -> Result<Status, Error> {
    let paths = args.paths;
    let options = args.options;
    let Some(file) = args.steps else {
        let path = paths.first().map_or("rendered/", String::as_str);
        return Err(Error::NothingToPlan {
            path: path.to_owned(),
        });
    };
    if file == STDIN && paths.iter().any(|path| path == STDIN) {
        return Err(Error::StdinTwice);
    }
    let question = Question::Steps {
        steps: Steps::read(text_of(&file)?).map_err(PlanError::from)?,
        namespace: options.namespace.clone(),
    };
    answer(&question, options.request(paths), &options, global)
}

fn answer(
    question: &Question,
    request: Request,
    options: &PlanOptions,
    global: &GlobalArgs,
) -> Result<Status, Error> {
    let session = options.open(&request)?;
    if let Some(status) = options.nothing(&session, &request) {
        return Ok(status);
    }
    let cluster = options.cluster.as_deref();
    let planner = session.plan(question, cluster, options.kubelet)?;
    let plan = planner.simulate();
    options.write(&planner.view(&plan), global)?;
    Ok(options.status(is_stuck(&plan)))
}

fn plan_teardown(args: TeardownArgs, global: &GlobalArgs) -> Result<Status, Error> {
    let options = args.options;
    hints::on_addresses(&args.beside)?;
    let mut request = options.request(args.paths);
    request.beside = args.beside;
    // Helm installs objects without a namespace into the namespace of the release.
    request.namespace = request.namespace.or(args.release_namespace.clone());
    let session = options.open(&request)?;
    if let Some(status) = options.nothing(&session, &request) {
        return Ok(status);
    }
    let teardown = session.teardown(&TeardownRequest {
        by: args.tool.map(Into::into),
        cascade: args.cascade,
        helm_version: args.helm_version,
        release_namespace: args.release_namespace,
        cluster: options.cluster.clone(),
        kubelet: options.kubelet,
    })?;
    let plan = teardown.simulate();
    options.write(&teardown.view(&plan), global)?;
    Ok(options.status(is_stuck(&plan) || teardown.is_rejected(&plan)))
}

/// Whether something stays Terminating after the last step.
fn is_stuck(plan: &Plan<'_>) -> bool {
    plan.steps
        .len()
        .checked_sub(1)
        .is_some_and(|last| !plan.stuck(last).is_empty())
}

impl PlanOptions {
    fn open(&self, request: &Request) -> Result<Session, Error> {
        distinct(&self.output)?;
        hints::on_addresses(&request.paths)?;
        open(&self.charts.add_to(request.clone())?)
    }

    /// Returns the exit status of a run without objects; `None` if there are objects or none are required.
    fn nothing(&self, session: &Session, request: &Request) -> Option<Status> {
        of_empty(session, session.objects(), self.allow_empty, &request.paths)
    }

    fn write(&self, view: &PlanView<'_>, global: &GlobalArgs) -> Result<(), Error> {
        let published = self.published.of_work_tree();
        for spec in &self.output {
            let mut options = display(global, spec.file.is_none());
            options.html.published.clone_from(&published);
            let rendered = plan::render(spec.format, view, &options);
            write_document(spec, &rendered)?;
        }
        Ok(())
    }

    fn status(&self, stuck: bool) -> Status {
        if stuck && self.fail_on == FailOnPlan::Stuck {
            Status::Findings
        } else {
            Status::Clean
        }
    }

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
    read_text(file).map_err(|reason| Error::Read {
        file: if file == STDIN {
            "standard input".to_owned()
        } else {
            format!("`{file}`")
        },
        reason,
    })
}
