//! The command `diff`: the effects of merging a change.

use std::path::Path;
use std::str::FromStr;

use clap::Args;

use super::check::{is_incomplete, options, shown};
use super::error::Error;
use super::global_args::GlobalArgs;
use super::hints;
use super::input_args::{ConfigArgs, namespace, release};
use super::known::{OneOf, known, rule_words};
use super::output::{FailOn, OutputSpec, distinct, formats, severity, write_document};
use super::plan::{HELM_VERSIONS, TOOL_POLICIES};
use super::progress;
use super::published::PublishedArgs;
use super::rendering::RenderingArgs;
use super::status::{Status, fails_without_objects};
use super::terminal;
use crate::delivery::DeliveryTool;
use crate::delivery::helm::HelmVersion;
use crate::engine::{
    CompareRequest, Comparison, SessionError, StateChoice, is_commit, similar_reference,
    usual_change,
};
use crate::finding::Severity;
use crate::git::GitError;
use crate::inventory::Release;
use crate::kube::Policy;
use crate::merge::DeliveryChoice;
use crate::report::Format;
use crate::report::diff::{self, Acceptance};
use crate::suppression::Date;

#[derive(Clone, Debug, Args)]
pub(super) struct DiffArgs {
    /// The state before the change: a file or folder, or `-` for standard input
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath, conflicts_with_all = ["base_ref", "head_ref", "staged", "paths"], requires = "head", help_heading = "Input")]
    base: Option<String>,
    /// The state after it: a file or folder, or `-` for standard input
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath, requires = "base", help_heading = "Input")]
    head: Option<String>,
    /// The branch or commit that the change is based on: the comparison starts at its merge base with head. Also A...B,
    /// or A..B for the two commits themselves [default: the default branch; on that branch HEAD, or the commit before
    /// it if nothing is edited; with --staged HEAD]
    #[arg(long, value_name = "GITREF", help_heading = "Input")]
    base_ref: Option<String>,
    /// Compare with --base-ref itself instead of the merge base
    #[arg(long, help_heading = "Input")]
    no_merge_base: bool,
    /// The commit that contains the change [default: the work tree]
    #[arg(
        long,
        value_name = "GITREF",
        requires = "base_ref",
        conflicts_with = "staged",
        help_heading = "Input"
    )]
    head_ref: Option<String>,
    /// Compare with the index: what the next commit will contain
    #[arg(long, help_heading = "Input")]
    staged: bool,
    /// Files, folders and globs whose changes count [default: the whole repository]; the first may be a commit, two
    /// commits, A...B or A..B instead of --base-ref
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Render both states: with the commands under `render:`, else with kustomize, and charts with helm. This runs code of both
    ///
    /// A chart that no delivery names is rendered as a release with the chart's name and its own values. For another
    /// name, namespace or other values, write `render: [helm, template, NAME, CHART]` for a bundle with its folder, or
    /// compare two outputs of `helm template` with --base and --head.
    #[arg(long, help_heading = "Input")]
    render: bool,
    #[command(flatten)]
    rendering: RenderingArgs,
    /// Other objects of the cluster, before and after (may be repeated)
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath, help_heading = "Input")]
    beside: Vec<String>,
    /// Leave out files whose path matches this glob (may be repeated)
    #[arg(long, value_name = "GLOB", help_heading = "Input")]
    exclude: Vec<String>,
    /// The namespace of namespaced objects without one
    #[arg(short, long, value_name = "NAME", value_parser = namespace, help_heading = "Input")]
    namespace: Option<String>,
    /// The Kubernetes release of the cluster, such as 1.34: which built-in kinds it serves, and how it deletes [default:
    /// that of ownerlint.yaml, else the newest known]
    #[arg(long, value_name = "VERSION", value_parser = release, help_heading = "Input")]
    kubernetes_version: Option<Release>,
    /// The tool that delivers everything: helm upgrades, argocd and flux prune, kubectl deletes nothing [default:
    /// detected from the tree]
    #[arg(long, value_name = "TOOL", value_parser = OneOf(&TOOLS), help_heading = "Delivery")]
    by: Option<DeliveryTool>,
    /// The major version of Helm, which is not detected: an uninstall by Helm 4 deletes webhook configurations first, one
    /// by Helm 3 among the last objects
    #[arg(
        long,
        value_name = "MAJOR",
        value_parser = OneOf(&HELM_VERSIONS),
        default_value = "3",
        help_heading = "Delivery"
    )]
    helm_version: HelmVersion,
    /// Propagation policy of each delete request [default: the tool's]
    #[arg(long, value_name = "POLICY", value_parser = OneOf(&TOOL_POLICIES), help_heading = "Delivery")]
    cascade: Option<Policy>,
    #[command(flatten)]
    config: ConfigArgs,
    /// Read the configuration from this commit [default: base]. Entries that only head has are
    /// ignored, except bundles, scopes and namespaces
    #[arg(
        long,
        value_name = "GITREF",
        conflicts_with = "no_config",
        help_heading = "Input"
    )]
    config_ref: Option<String>,
    /// Run only these rules about changes
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = known::<String>(rule_words), hide_possible_values = true, help_heading = "Rules")]
    select: Vec<String>,
    /// Do not run these rules
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = known::<String>(rule_words), hide_possible_values = true, help_heading = "Rules")]
    ignore: Vec<String>,
    /// Output format, with a file to write it to (may be repeated)
    #[arg(short, long, value_name = "FORMAT[:FILE]", default_value = "human", value_parser = known::<OutputSpec>(formats::<Format>), help_heading = "Output")]
    output: Vec<OutputSpec>,
    #[command(flatten)]
    published: PublishedArgs,
    /// The maximum size of the `markdown` output; the default is GitHub's limit for a comment
    #[arg(long, value_name = "BYTES", default_value_t = COMMENT, help_heading = "Output")]
    markdown_bytes: usize,
    /// The lowest severity that human and concise output show: error, warning or info [default: warning, or that of --fail-on]
    #[arg(long, value_name = "SEVERITY", value_parser = severity, help_heading = "Output")]
    show: Option<Severity>,
    /// When the run fails: the lowest severity of a finding, `unknown` if deletions are unknown or
    /// a delivery breaks, or both: `error,unknown` [default: error]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = known::<DiffFailOn>(DiffFailOn::names), help_heading = "Exit status")]
    fail_on: Vec<DiffFailOn>,
    /// Accept the deletion of this object, given by its key as in reports (may be repeated)
    ///
    /// A finding becomes info when every loss that it reports is accepted.
    #[arg(long, value_name = "KEY", help_heading = "Exit status")]
    accept: Vec<String>,
    /// Read keys to accept from a file, one per line; empty lines and lines that begin with # are ignored
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Exit status")]
    accept_file: Option<String>,
    /// The name of the person who accepts the deletions
    #[arg(long, value_name = "NAME", help_heading = "Exit status")]
    accepted_by: Option<String>,
    /// Succeed if neither state has an object, nor a template that would render to one
    #[arg(long, help_heading = "Exit status")]
    allow_empty: bool,
    /// Exit with 0 whatever is found
    #[arg(long, help_heading = "Exit status")]
    exit_zero: bool,
}

/// The maximum number of characters of a comment on GitHub.
const COMMENT: usize = 65_536;

const TOOLS: [(&str, DeliveryTool); 4] = [
    ("helm", DeliveryTool::Helm),
    ("argocd", DeliveryTool::ArgoCd),
    ("flux", DeliveryTool::Flux),
    ("kubectl", DeliveryTool::Kubectl),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DiffFailOn {
    Severity(FailOn),
    Unknown,
}

impl DiffFailOn {
    fn names() -> Vec<String> {
        let mut names = FailOn::names();
        names.push("unknown".to_owned());
        names
    }
}

impl FromStr for DiffFailOn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "unknown" {
            return Ok(Self::Unknown);
        }
        text.parse().map(Self::Severity).map_err(|_: String| {
            "write `error`, `warning`, `info` or `never`, and `unknown`".to_owned()
        })
    }
}

pub(super) fn diff(args: DiffArgs, global: &GlobalArgs) -> Result<Status, Error> {
    distinct(&args.output)?;
    hints::on_addresses(&args.paths)?;
    let fail_on_unknown = args.fail_on.contains(&DiffFailOn::Unknown);
    let fail_on = args.fail_on.iter().rev().find_map(|word| match word {
        DiffFailOn::Severity(fail_on) => Some(fail_on.0),
        DiffFailOn::Unknown => None,
    });
    let acceptance = args.acceptance()?;
    let two_states = if args.names_states() {
        None
    } else {
        hints::on_two_states(&args.paths)
    };
    let suggest = |error| suggesting(error, &args, two_states.as_deref());
    let request = args.clone().request().map_err(suggest)?;
    let rendering = &request.rendering.progress;
    let bar = request.render.then(|| progress::of_charts(rendering));
    let comparison = Comparison::open(&request).map_err(|error| suggest(error.into()))?;
    drop(bar);
    let fail_on = comparison.fail_on(fail_on);
    let formats: Vec<_> = args.output.iter().map(|spec| spec.format).collect();
    let report = comparison.report_for(&formats)?.accepting(&acceptance);
    let base = args.published.of_base(report.base.commit());
    let head = args.published.of_head(report.head.commit());
    let show = shown(args.show, fail_on, global.verbose);
    for spec in &args.output {
        let mut options = options(global, spec.file.is_none(), fail_on);
        options.human.show = show;
        options.concise_show = show;
        options.markdown.bytes = args.markdown_bytes;
        options.html.published.clone_from(&head);
        options.html.base.clone_from(&base);
        write_document(spec, &diff::render(spec.format, &report, &options))?;
    }
    if let Some(command) = two_states.filter(|_| report.summary.only_adds()) {
        terminal::say(&format!(
            "each path was compared with itself in another state; to compare one with the other: `{command}`"
        ));
    }
    let is_unknown = !report.is_wholly_known();
    Ok(match fail_on {
        _ if is_incomplete(&report.findings) => Status::Failure,
        Some(least) if report.reaches(least) && !args.exit_zero => {
            if formats.contains(&Format::Human)
                && let Some(how) = report.how_to_accept()
            {
                terminal::say(&how);
            }
            Status::Findings
        }
        _ if fail_on_unknown && is_unknown && !args.exit_zero => Status::Findings,
        Some(_) if report.breaks_charts() && !args.exit_zero => Status::Findings,
        _ if comparison.objects() == 0
            && fails_without_objects(args.allow_empty, comparison.templates()) =>
        {
            terminal::say(match comparison.templates() {
                0 => {
                    "no Kubernetes object found on either side; `--allow-empty` makes that a success"
                }
                _ => {
                    "no Kubernetes object found on either side, only templates that are not rendered"
                }
            });
            Status::NoObjects
        }
        _ => Status::Clean,
    })
}

/// Adds a suggestion to an error unless an option names a state: for an error of Git, the command
/// that compares two paths; for an unknown path, a branch with a similar name.
fn suggesting(error: Error, args: &DiffArgs, two_states: Option<&str>) -> Error {
    let Error::Session(reason) = error else {
        return error;
    };
    let command = match (&reason, two_states) {
        (SessionError::Git(_) | SessionError::InNeitherState { .. }, Some(command)) => command,
        (SessionError::InNeitherState { path }, None) if !args.names_states() => {
            return match similar_reference(path) {
                Some(reference) => Error::UnknownReference {
                    reason: reason.to_string(),
                    reference,
                },
                None => Error::Session(reason),
            };
        }
        (SessionError::Git(GitError::Refused(_)), None) if !args.names_states() => {
            "ownerlint diff --base OLD --head NEW"
        }
        _ => return Error::Session(reason),
    };
    Error::NoStates {
        reason: reason.to_string(),
        command: command.to_owned(),
    }
}

impl DiffArgs {
    /// Whether an option names one of the states.
    fn names_states(&self) -> bool {
        self.base.is_some() || self.base_ref.is_some() || self.staged
    }

    /// Returns the accepted keys, from the option and the file.
    fn acceptance(&self) -> Result<Acceptance, Error> {
        let mut keys = self.accept.clone();
        if let Some(file) = &self.accept_file {
            let text = std::fs::read_to_string(file).map_err(|error| Error::Read {
                file: format!("`{file}`"),
                reason: error.to_string(),
            })?;
            let lines = text.lines().map(str::trim);
            let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
            keys.extend(lines.map(str::to_owned));
        }
        // Keys copied from the comment have an invisible space after `@`, which keeps GitHub from reading a mention.
        let keys = keys.into_iter().map(|key| key.replace('\u{200b}', ""));
        Ok(Acceptance {
            keys: keys.collect(),
            by: self.accepted_by.clone(),
        })
    }

    fn request(mut self) -> Result<CompareRequest, Error> {
        if self.base_ref.is_none() && self.base.is_none() && !self.staged {
            // Accept arguments like `git diff`: `A...B`, `A`, and `A B`, which means `A..B`.
            let named = match self.paths.as_slice() {
                [range, ..] if !Path::new(range).exists() && Range::of(range).is_some() => 1,
                [base, others @ ..] if names_commit(base) => {
                    1 + usize::from(others.first().is_some_and(|head| names_commit(head)))
                }
                _ => 0,
            };
            if named == 0 {
                let usual = usual_change().map_err(SessionError::from)?;
                terminal::say(&usual.said);
                return Ok(self.between(usual.base, usual.head));
            }
            self.base_ref = Some(self.paths.drain(..named).collect::<Vec<_>>().join(".."));
        }
        if let Some(range) = self.base_ref.as_deref().and_then(Range::of) {
            if self.staged || self.head_ref.is_some() {
                return Err(Error::TwoHeads {
                    range: self.base_ref.unwrap_or_default(),
                });
            }
            self.no_merge_base |= range.is_literal;
            self.base_ref = Some(range.base);
            self.head_ref = Some(range.head);
        }
        let base = match (self.base_ref.take(), self.base.take()) {
            (Some(reference), _) => StateChoice::Commit(reference),
            (None, _) if self.staged => StateChoice::Commit("HEAD".to_owned()),
            (None, path) => StateChoice::Path(path.unwrap_or_default()),
        };
        let head = match (self.head_ref.take(), self.head.take()) {
            (Some(reference), _) => StateChoice::Commit(reference),
            (None, Some(path)) => StateChoice::Path(path),
            (None, None) if self.staged => StateChoice::Staged,
            (None, None) => StateChoice::WorkTree,
        };
        Ok(self.between(base, head))
    }

    fn between(self, base: StateChoice, head: StateChoice) -> CompareRequest {
        CompareRequest {
            literal_base: self.no_merge_base,
            paths: self.paths,
            beside: self.beside,
            exclude: self.exclude,
            namespace: self.namespace,
            release: self.kubernetes_version,
            render: self.render,
            rendering: self.rendering.terms(),
            delivery: DeliveryChoice {
                by: self.by,
                helm_version: self.helm_version,
                cascade: self.cascade,
                unknown_prunes: false,
            },
            config: self.config.choice(),
            config_ref: self.config_ref,
            select: self.select,
            ignore: self.ignore,
            today: Some(Date::today()),
            ..CompareRequest::new(base, head)
        }
    }
}

/// Whether a word names a commit and not a file.
fn names_commit(word: &str) -> bool {
    !Path::new(word).exists() && is_commit(word)
}

/// Two commits in one argument, as in Git: `A...B` contains the changes of B since it left A, `A..B` compares the
/// commits themselves. The name of a ref never contains two dots.
struct Range {
    base: String,
    head: String,
    is_literal: bool,
}

impl Range {
    fn of(word: &str) -> Option<Self> {
        let (base, head, is_literal) = match (word.split_once("..."), word.split_once("..")) {
            (Some((base, head)), _) => (base, head, false),
            (None, Some((base, head))) => (base, head, true),
            (None, None) => return None,
        };
        // `..` and `../x` are paths.
        if base.is_empty() && head.is_empty() || head.starts_with(['/', '.']) {
            return None;
        }
        let [base, head] =
            [base, head].map(|word| if word.is_empty() { "HEAD" } else { word }.to_owned());
        Some(Self {
            base,
            head,
            is_literal,
        })
    }
}
