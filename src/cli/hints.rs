//! Suggestions for words from kubectl and other linters.

use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};

use super::error::Error;
use super::output::{Named, OutputSpec};
use crate::inventory::STDIN;
use crate::kube::shell;
use crate::manifest::KUSTOMIZATIONS;
use crate::rules;
use crate::text::near;

/// Options of other tools, with what to type instead. They are looked up if a command does not have the option.
const OPTIONS: &[(&[&str], &str)] = &[
    (
        &["-f", "--file", "--files", "--filename"],
        "write files and folders without an option: `ownerlint rendered/`",
    ),
    (
        &["--format", "--output-format", "--formatter", "--fmt"],
        "the format is `--output`: `ownerlint -o json rendered/`",
    ),
    (&["--json"], "write `--output json`"),
    (&["--sarif"], "write `--output sarif`"),
    (
        &["--output-file", "--out", "--report"],
        "write `--output FORMAT:FILE`: `ownerlint -o sarif:out.sarif rendered/`",
    ),
    (
        &["-q", "--quiet", "-s", "--silent"],
        "`--output concise` prints a line per finding (of `diff`, also per deleted object), and nothing if there is none",
    ),
    (
        &["-l", "--selector", "--field-selector"],
        "there are no selectors: name objects as `deployment/web`, or select before: `kubectl get all -l app=web -o yaml | ownerlint -`",
    ),
    (
        &["-A", "--all-namespaces"],
        "leave it out: every namespace in the input is read",
    ),
    (
        &["--all"],
        "leave it out to read everything; to delete everything in a namespace, plan to delete the namespace: `ownerlint plan delete ns/shop`",
    ),
    (
        &["-R", "-r", "--recursive"],
        "leave it out: folders are always read recursively",
    ),
    (
        &["-k", "--kustomize"],
        "build it first: `kustomize build overlays/prod | ownerlint -`",
    ),
    (
        &["--helm", "--chart", "--values", "--set", "--release-name"],
        "render the chart first: `helm template web ./chart | ownerlint -`",
    ),
    (
        &["--dry-run"],
        "leave it out: ownerlint changes nothing in a cluster; `--fix-dry-run` shows what `--fix` would write",
    ),
    (
        &["--apply", "--write", "--in-place"],
        "write `--fix`; `--fix-dry-run` shows the changes first",
    ),
    (
        &["--unsafe-fixes", "--fix-all"],
        "write `--fix --suggested`; `--fix-dry-run --suggested` shows the changes first",
    ),
    (
        &["--context", "--kubeconfig", "--cluster", "--live"],
        "ownerlint does not connect to a cluster: `kubectl get … -o yaml | ownerlint -`",
    ),
    (&["--strict", "--max-warnings"], "write `--fail-on warning`"),
    (
        &[
            "--level",
            "--severity",
            "--min-severity",
            "--failure-level",
            "--error-on",
        ],
        "write `--fail-on SEVERITY`",
    ),
    (
        &[
            "--rule",
            "--rules",
            "--enable",
            "--include",
            "--check",
            "--checks",
        ],
        "write `--select RULE`",
    ),
    (
        &[
            "--disable",
            "--skip",
            "--skip-rule",
            "--exclude-rule",
            "--exclude-rules",
        ],
        "write `--ignore RULE`",
    ),
    (
        &[
            "--ignore-path",
            "--ignore-paths",
            "--ignore-file",
            "--ignore-filename-pattern",
        ],
        "write `--exclude GLOB`",
    ),
    (&["--list-rules", "--show-rules"], "write `ownerlint rules`"),
    (
        &["--k8s-version", "--kube-version", "--target-version"],
        "write `--kubernetes-version 1.30`",
    ),
    (
        &["--no-color", "--no-colour", "--no-colors"],
        "write `--color never`",
    ),
    (&["--colour", "--colors"], "write `--color WHEN`"),
    (&["--debug"], "write `--verbose`"),
    (&["-j", "--jobs", "--parallel"], "write `--threads N`"),
    (&["--stdin"], "write `-` for standard input"),
    (
        &["--diff"],
        "write `--fix-dry-run` to see what `--fix` would change, or `ownerlint diff` for what a change deletes",
    ),
    (&["--since"], "write `--only-changed-from origin/main`"),
    (
        &["--force", "--grace-period", "--now"],
        "leave it out: a plan shows a normal deletion; for a forced one, write a step `op: force-delete` (`ownerlint plan --help`)",
    ),
    (
        &["--wait", "--timeout", "--ignore-not-found"],
        "leave it out: a plan shows the final state, however long that takes",
    ),
];

/// Words that are not commands, with the command to type instead.
const COMMANDS: &[(&[&str], &str)] = &[
    (
        &[
            "lint", "scan", "validate", "verify", "test", "run", "analyze", "analyse", "audit",
        ],
        "check",
    ),
    (
        &["get", "ls", "objects", "tree", "inventory", "describe"],
        "list",
    ),
    (&["delete", "rm", "remove"], "plan delete"),
    (&["uninstall", "teardown", "destroy"], "plan teardown"),
    (&["simulate", "predict", "dry-run", "graph"], "plan"),
    (&["docs", "doc", "describe-rule", "why"], "explain"),
    (&["version"], "--version"),
    (&["config"], "init"),
];

/// Endings of files that are outputs rather than manifests.
const OUTPUT_ENDINGS: [&str; 8] = ["json", "jsonl", "sarif", "xml", "md", "txt", "dot", "mmd"];

/// Adds a suggestion to clap's error about an argument. `root` must be built.
pub(super) fn on_argument(error: &mut clap::Error, root: &Command) {
    if error.kind() == ErrorKind::MissingRequiredArgument && misses(error, "<TARGET>...") {
        return tip(
            error,
            "name an object: `ownerlint plan delete deployment/web -f web.yaml`".to_owned(),
        );
    }
    if error.kind() == ErrorKind::MissingRequiredArgument && misses(error, "--head <PATH>") {
        return tip(
            error,
            "`--base` and `--head` name two files or folders; a branch or commit needs no option: `ownerlint diff main`"
                .to_owned(),
        );
    }
    let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg) else {
        return;
    };
    let name = argument.split('=').next().unwrap_or_default().to_owned();
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let instead = OPTIONS
        .iter()
        .find(|(names, _)| names.contains(&name.as_str()));
    let instead = instead.map(|(_, instead)| (*instead).to_owned());
    let instead = instead.or_else(|| elsewhere(root, &name)).or_else(|| {
        rules::find(&name).map(|rule| format!("write `ownerlint explain {}`", rule.id))
    });
    if let Some(instead) = instead {
        // clap's own suggestion also changes the usage line.
        if error.remove(ContextKind::SuggestedArg).is_some() {
            error.remove(ContextKind::Usage);
        }
        tip(error, instead);
    }
}

fn misses(error: &clap::Error, argument: &str) -> bool {
    let missing = error.get(ContextKind::InvalidArg);
    matches!(missing, Some(ContextValue::Strings(names)) if names.iter().any(|name| name == argument))
}

fn tip(error: &mut clap::Error, text: String) {
    error.insert(
        ContextKind::Suggested,
        ContextValue::StyledStrs(vec![StyledStr::from(text)]),
    );
}

/// Lists the commands that do have an option; `None` if there are none.
fn elsewhere(root: &Command, option: &str) -> Option<String> {
    let (mut found, mut left) = (Vec::new(), root.get_subcommands().collect::<Vec<_>>());
    while let Some(command) = left.pop() {
        if command
            .get_arguments()
            .any(|argument| is_called(argument, option))
        {
            found.extend(command.get_bin_name().map(|name| format!("`{name}`")));
        }
        left.extend(command.get_subcommands());
    }
    found.sort();
    (!found.is_empty()).then(|| format!("`{option}` is an option of {}", found.join(", ")))
}

fn is_called(argument: &Arg, option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(name) => argument.get_long() == Some(name),
        None => argument
            .get_short()
            .is_some_and(|c| option.strip_prefix('-') == Some(c.to_string().as_str())),
    }
}

/// Rejects a missing path that is probably a command: misspelt, from another tool, or in the wrong place.
pub(super) fn on_paths(root: &Command, paths: &[String]) -> Result<(), Error> {
    if let Some(late) = paths
        .iter()
        .skip(1)
        .filter(|path| may_be_command(path))
        .find(|path| {
            root.get_subcommands()
                .any(|command| command.get_name() == path.as_str())
        })
    {
        let others: Vec<&str> = paths
            .iter()
            .filter(|path| *path != late)
            .map(String::as_str)
            .collect();
        return Err(Error::CommandLast {
            command: late.clone(),
            others: others.join(" "),
        });
    }
    let Some(word) = paths.first().filter(|path| may_be_command(path)) else {
        return Ok(());
    };
    let known = COMMANDS
        .iter()
        .find(|(words, _)| words.contains(&word.as_str()))
        .map(|(_, command)| *command);
    let mut commands = root.get_subcommands().map(Command::get_name);
    match known.or_else(|| commands.find(|command| near::is_misspelling(word, command))) {
        Some(command) => Err(Error::Command {
            word: word.clone(),
            command: command.to_owned(),
        }),
        None => Ok(()),
    }
}

/// Returns the command that compares two paths with each other, if `paths` are two existing ones.
pub(super) fn on_two_states(paths: &[String]) -> Option<String> {
    let [base, head] = paths else {
        return None;
    };
    let exist = paths
        .iter()
        .all(|path| path == STDIN || Path::new(path).exists());
    (exist && base != head)
        .then(|| shell::line(["ownerlint", "diff", "--base", base, "--head", head]))
}

/// Whether a path names no file and looks like a command.
fn may_be_command(path: &str) -> bool {
    !path.contains(['/', '.', '*']) && !Path::new(path).exists()
}

/// Rejects addresses: input comes only from files and standard input.
pub(super) fn on_addresses(paths: &[String]) -> Result<(), Error> {
    match paths
        .iter()
        .find(|path| path.starts_with("https://") || path.starts_with("http://"))
    {
        Some(address) => Err(Error::Address {
            address: address.clone(),
        }),
        None => Ok(()),
    }
}

/// Explains why the input may have no objects: for example, it has to be rendered first.
pub(super) fn on_no_objects(paths: &[String]) -> Option<String> {
    if paths == [STDIN] {
        return Some(
            "standard input has none: did the command before `|` fail? `set -o pipefail` shows it"
                .to_owned(),
        );
    }
    let here = [".".to_owned()];
    let paths = if paths.is_empty() { &here } else { paths };
    paths.iter().find_map(|path| {
        let folder = Path::new(path);
        if KUSTOMIZATIONS
            .iter()
            .any(|name| folder.join(name).is_file())
        {
            return Some(format!(
                "build it first: `kustomize build {path} | ownerlint -`"
            ));
        }
        folder
            .join("Chart.yaml")
            .is_file()
            .then(|| format!("render the chart first: `helm template web {path} | ownerlint -`"))
    })
}

/// Rejects an output file among the inputs: `--output sarif out.sarif`.
pub(super) fn on_outputs<F: Named>(specs: &[OutputSpec<F>], words: &[String]) -> Result<(), Error> {
    let Some(spec) = specs
        .iter()
        .find(|spec| spec.file.is_none() && spec.format.to_string() != "human")
    else {
        return Ok(());
    };
    match words.iter().find(|word| {
        let ending = Path::new(word)
            .extension()
            .and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| OUTPUT_ENDINGS.contains(&ending)) && !Path::new(word).exists()
    }) {
        Some(file) => Err(Error::OutputFile {
            file: file.clone(),
            format: spec.format.to_string(),
        }),
        None => Ok(()),
    }
}
