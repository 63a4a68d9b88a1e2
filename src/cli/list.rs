//! The command `list`.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};

use super::error::Error;
use super::global_args::GlobalArgs;
use super::input_args::{InputArgs, open};
use super::status::{Status, of_empty};
use super::{progress, terminal};
use crate::engine::{PlanError, StateChoice, TargetError, list_deliveries, repository_root};
use crate::inventory::locate;
use crate::report::DeliveryListing;
use crate::text::plain;
use crate::text::runner::Syntax;

#[derive(Clone, Debug, Args)]
pub(super) struct ListArgs {
    #[command(flatten)]
    pub(super) input: InputArgs,
    /// List which tool applies which objects to which cluster, from the entry points of Flux and Argo CD down, and the
    /// objects that nothing applies
    #[arg(long, help_heading = "Deliveries", conflicts_with_all = [
        "exclude", "kubernetes_version", "stdin_filename", "allow_empty",
    ])]
    pub(super) deliveries: bool,
    /// The tree of this commit, without a checkout [default: the work tree]
    #[arg(
        long,
        value_name = "REF",
        requires = "deliveries",
        help_heading = "Deliveries"
    )]
    pub(super) r#ref: Option<String>,
    /// List only the deliveries of this object: `deployment/web`, or a key like `Deployment.apps/shop/web`; with
    /// `--namespace`, in that namespace
    #[arg(
        long,
        value_name = "TARGET",
        requires = "deliveries",
        help_heading = "Deliveries"
    )]
    pub(super) of: Option<String>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "human")]
    pub(super) output: ListFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ListFormat {
    #[value(alias = "text")]
    Human,
    Json,
    /// One page to explore; with --deliveries
    Html,
    /// A flowchart; with --deliveries
    Mermaid,
    /// A graph of Graphviz; with --deliveries
    Dot,
}

pub(super) fn list(args: ListArgs, global: &GlobalArgs) -> Result<Status, Error> {
    if args.deliveries {
        return deliveries(&args);
    }
    let is_json = match args.output {
        ListFormat::Human => false,
        ListFormat::Json => true,
        format @ (ListFormat::Html | ListFormat::Mermaid | ListFormat::Dot) => {
            let format = format.to_possible_value();
            let format = format.map(|value| value.get_name().to_owned());
            return Err(Error::NeedsDeliveries {
                format: format.unwrap_or_default(),
            });
        }
    };
    let started = Instant::now();
    let allow_empty = args.input.allow_empty;
    let request = args.input.request(None)?;
    let session = open(&request)?;
    if is_json {
        terminal::print_by(Syntax::Json, |out| session.write_list(out))?;
    } else {
        terminal::print(&session.list().human())?;
    }
    let objects = session.readable_objects();
    if global.verbose {
        terminal::say(&format!(
            "{} in {:.1?}",
            plain::count(objects, "object"),
            started.elapsed()
        ));
    }
    for note in session.notes_on_list() {
        terminal::say(&format!("{}: {}", note.severity.as_str(), note.message));
    }
    let status = of_empty(&session, objects, allow_empty, &request.paths);
    Ok(status.unwrap_or(Status::Clean))
}

fn deliveries(args: &ListArgs) -> Result<Status, Error> {
    let namespace = args.input.namespace.as_deref();
    if args.of.is_none() && namespace.is_some() {
        return Err(Error::NamespaceOfDeliveries);
    }
    let paths = &args.input.paths;
    let mut files = BTreeSet::new();
    let (choice, paths) = if let Some(reference) = &args.r#ref {
        (StateChoice::Commit(reference.clone()), paths.as_slice())
    } else if let Some((root, below)) = files_of_tree(paths) {
        files = below;
        (StateChoice::Path(root), [].as_slice())
    } else {
        match paths.as_slice() {
            [] => (StateChoice::Path(".".to_owned()), [].as_slice()),
            [path] => (StateChoice::Path(path.clone()), [].as_slice()),
            paths => (StateChoice::WorkTree, paths),
        }
    };
    let terms = args.input.charts.terms();
    let bar = terms
        .as_ref()
        .map(|terms| progress::of_charts(&terms.progress));
    let config = args.input.config.clone().choice();
    let all = list_deliveries(&choice, paths, &files, &config, terms.as_ref())?;
    drop(bar);
    let unread = all.listing.unread();
    let (listing, unmatched) = match &args.of {
        None => (all.listing, None),
        Some(target) => match all.of(target, namespace) {
            Ok(listing) => (listing, None),
            Err(TargetError::Kind { help, .. } | TargetError::Object { help, .. }) => {
                let said = not_applied(target, unread, &help);
                (DeliveryListing::default(), Some(said))
            }
            Err(error) => return Err(PlanError::from(error).into()),
        },
    };
    match args.output {
        ListFormat::Human => terminal::print(&listing.human())?,
        ListFormat::Html => terminal::print(&listing.html())?,
        ListFormat::Mermaid => terminal::print(&listing.mermaid())?,
        ListFormat::Dot => terminal::print(&listing.dot())?,
        ListFormat::Json => terminal::print_by(Syntax::Json, |out| listing.write_json(out))?,
    }
    if listing.is_empty() {
        let empty = if files.is_empty() {
            "no Kubernetes object found".to_owned()
        } else {
            let files: Vec<&String> = files.iter().collect();
            format!("no delivery that was read uses {}", plain::few(&files))
        };
        terminal::say(&unmatched.unwrap_or(empty));
        return Ok(Status::NoObjects);
    }
    Ok(Status::Clean)
}

/// Returns the root of the repository in which all `paths` are files, and their paths from it; `None` if there is no
/// path, or one is not a file in a repository.
fn files_of_tree(paths: &[String]) -> Option<(String, BTreeSet<String>)> {
    let located: Vec<PathBuf> = paths.iter().map(|path| locate(path)).collect();
    let root = repository_root(located.first()?.parent()?)?;
    let files = located.iter().map(|path| {
        let below = path.strip_prefix(root).ok().filter(|_| path.is_file());
        Some(below?.to_str()?.replace('\\', "/"))
    });
    let files: Option<BTreeSet<String>> = files.collect();
    Some((root.to_str()?.to_owned(), files?))
}

/// Says that no delivery applies the object that `--of` names.
fn not_applied(target: &str, unread: usize, help: &str) -> String {
    let target = plain::one_line(target);
    let reason = match unread {
        0 => String::new(),
        _ => format!(" ({} not read may apply it)", plain::count(unread, "input")),
    };
    format!("no delivery that was read applies `{target}`{reason}; {help}")
}
