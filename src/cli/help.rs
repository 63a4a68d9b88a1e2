//! The parts of `--help` besides the options: examples, and the meaning of the exit status. clap wraps lines that do
//! not fit into the terminal, so most of them are at most 80 columns wide.

/// `-h` shows only common options of a command with more options than this.
const MANY: usize = 12;

/// The common options of a command with many; required ones are always shown.
const COMMON: [&str; 21] = [
    "paths",
    "filename",
    "cluster",
    "accept",
    "namespace",
    "exclude",
    "config",
    "output",
    "fail_on",
    "select",
    "ignore",
    "fix",
    "fix_dry_run",
    "statistics",
    "base",
    "base_ref",
    "head",
    "staged",
    "targets",
    "tool",
    "help",
];

/// The common options of the program, which `ownerlint -h` shows below its commands.
const COMMON_OF_ALL: [&str; 4] = ["paths", "output", "fail_on", "help"];

/// Shows examples before the options. `-h` is limited to common options; `--help` shows everything.
pub(super) fn examples_first(command: clap::Command) -> clap::Command {
    let template = "{about-with-newline}\n{usage-heading} {usage}{after-help}\n\n{all-args}";
    let command = command
        .help_template(template)
        .mut_subcommands(examples_first);
    let Some(said) = command.get_after_help().map(ToString::to_string) else {
        return command;
    };
    let is_long = command.get_arguments().count() > MANY;
    let common: &[&str] = if command.has_subcommands() {
        &COMMON_OF_ALL
    } else {
        &COMMON
    };
    let command = command.mut_args(|argument| {
        let is_common = argument.is_required_set() || common.contains(&argument.get_id().as_str());
        argument.hide_short_help(is_long && !is_common)
    });
    let examples = said.split("\n\n").next().unwrap_or_default().to_owned();
    command
        .after_help(format!(
            "{examples}\n\n`--help` shows everything: exit status, all options."
        ))
        .after_long_help(said)
}

pub(super) const OWNERLINT: &str = "\
Examples:
  ownerlint rendered/                        check rendered manifests
  helm template web ./chart | ownerlint -    check what Helm renders
  kustomize build prod | ownerlint -         check what Kustomize renders
  ownerlint list rendered/                   objects, scopes, owners, finalizers
  ownerlint plan delete deploy/web -n shop   what is deleted with it
  ownerlint explain owner-of-cluster-scoped  why a rule exists, how to fix it
  ownerlint init                             write a commented ownerlint.yaml
  ownerlint baseline write                   from now on only new findings
  ownerlint --only-changed-from origin/main  only what this branch adds

Exit status:
  0  nothing at or above --fail-on (default: error)
  1  findings at or above it, or with --render a chart that helm rejects
  2  usage, configuration, I/O or internal failure
  3  no Kubernetes object found (--allow-empty makes it 0, except for unrendered templates)";

pub(super) const CHECK: &str = "\
Examples:
  ownerlint check rendered/                      a folder (reads its repository)
  helm template web ./chart | ownerlint check -  standard input
  ownerlint check -n shop overlays/*/out.yaml    files without namespaces
  ownerlint check --fail-on warning rendered/    be strict
  ownerlint check -o sarif:out.sarif -o human    two outputs from one run
  ownerlint check --only web.yaml rendered/      read all, report one file

Exit status:
  0  nothing at or above --fail-on (default: error)
  1  findings at or above it, or with --render a chart that helm rejects
  2  usage, configuration, I/O or internal failure
  3  no Kubernetes object found (--allow-empty makes it 0, except for unrendered templates)";

pub(super) const LIST: &str = "\
Examples:
  ownerlint list rendered/                       what is there, and who owns it
  ownerlint list --deliveries                    who applies what to which cluster
  ownerlint list -o json rendered/ | jq '.objects[] | select(.finalizers != [])'

Exit status:
  0  objects were found
  2  usage, configuration, I/O or internal failure
  3  no Kubernetes object found (--allow-empty makes it 0, except for unrendered templates)";

pub(super) const DIFF: &str = "\
Examples:
  ownerlint diff                                  this branch and uncommitted edits
  ownerlint diff origin/release                   this branch against another one
  ownerlint diff --staged                         what the next commit does
  ownerlint diff origin/main...HEAD               the commits of this branch
  ownerlint diff v1..v2                           two commits as they are
  ownerlint diff --base-ref origin/main clusters  only changes in this folder
  ownerlint diff --base old.yaml --head new.yaml  two renderings

Without a base, the change is everything since this branch left the default
branch. On the default branch, it is the uncommitted edits or, if there are
none, the last commit.
With --base-ref, files are read from the commits and never from a checkout. The
change starts at the merge base: later commits of origin/main are not part of
it. --no-merge-base compares with origin/main itself.
If nothing is rendered, kustomizations are followed: every root that includes a
file has the objects of that file, with the names that this root gives them.

Exit status:
  0  nothing at or above --fail-on (default: error)
  1  findings at or above it; a chart that helm renders in base and rejects in
     head; or, with `--fail-on unknown`, an incomplete answer or a delivery that
     fails only after the change
  2  usage, configuration, I/O or internal failure
  3  no Kubernetes object on either side (--allow-empty makes it 0, except for unrendered templates)";

pub(super) const PLAN: &str = "\
Examples:
  ownerlint plan delete deployment/web -n shop -f rendered/  one object
  ownerlint plan delete ns/shop -f dump.yaml                 a namespace
  ownerlint plan delete crd/foos.example.com                 with its instances
  ownerlint plan delete deploy web api --cascade foreground  several at once
  ownerlint plan delete ks/apps --cluster clusters/prod      what Flux deletes then
  ownerlint plan delete ns/shop --bundle production          as configured
  ownerlint plan --steps steps.yaml dump.yaml                one after the other
  ownerlint explain GC-22                                    what a plan cites

A file of steps is a list in YAML or JSON (`ownerlint schema steps`):
  - op: delete
    target: deployment/web -n shop  # or a key: Deployment.apps/shop/web
    policy: Foreground              # default: Background; null sends none
  - op: remove-finalizer
    target: pvc/data -n shop
    finalizer: kubernetes.io/pvc-protection
  - op: force-delete
    target: pod/web-0 -n shop
The other operations are settle and remove-all-finalizers.

If Flux, Argo CD or kustomize builds the input, a plan covers the objects that
they apply to one cluster, and the objects that they delete as a result.

A dump (`kubectl get … -o yaml`) is treated as the whole cluster. In a
rendering, references are bound by name, an owner that it does not contain
is assumed to exist, and the Pods, ReplicaSets and other objects that
built-in controllers create are implied.

Exit status:
  0  a plan was printed, whatever its result
  1  something stays Terminating, and --fail-on stuck was given
  2  usage, configuration or I/O failure; a target that is not in the input
  3  no Kubernetes object found (--allow-empty makes it 0, except for unrendered templates)";

pub(super) const TEARDOWN: &str = "\
Examples:
  helm template web ./chart | ownerlint plan teardown --by helm -
  ownerlint plan teardown --by helm --helm-version 4 -n shop rendered/
  ownerlint plan teardown --by kubectl crds.yaml operator.yaml instances/
  ownerlint plan teardown --by argocd apps/web --beside apps/others
  ownerlint plan teardown --by namespace --release-namespace shop rendered/
  ownerlint plan teardown --by flux -o json clusters/web | jq .safeOrder

PATH contains the removed objects, --beside the rest of the cluster. The plan
says what is deleted, what gets stuck and why, what stays and why, which data
is lost, and a safe order: the fewest commands after which the same removal
leaves nothing stuck. The order was simulated before it is printed.

  helm       helm uninstall: kind by kind, without waiting in between
  kubectl    kubectl delete -f: in the order of the arguments
  argocd     the Application is deleted: waves in reverse, each awaited
  flux       the Kustomization is deleted; objects of a chart are deleted as
             its HelmRelease would delete them
  namespace  the Namespace is deleted; cluster-scoped objects stay

Exit status:
  0  a plan was printed, whatever its result
  1  something stays Terminating or is rejected, and --fail-on stuck was given
  2  usage, configuration or I/O failure
  3  no Kubernetes object found (--allow-empty makes it 0, except for unrendered templates)";

pub(super) const EXPLAIN: &str = "\
Examples:
  ownerlint explain owner-cross-namespace  a rule's page
  ownerlint explain GC-22                  what a plan cites in brackets
  ownerlint explain                        all rules

Exit status:
  0  it is explained
  2  there is no such rule";

pub(super) const BASELINE: &str = "\
Examples:
  ownerlint baseline write   record today's findings; report only new ones
  ownerlint baseline update  record them again, and show what changed
  ownerlint baseline prune   remove what is no longer found

Exit status:
  0  the baseline is written
  2  usage, configuration or I/O failure";

pub(super) const LEARN: &str = "\
Examples:
  kubectl get KINDS -A -o yaml > dump.yaml    a dump of the kinds that matter
  ownerlint learn -f dump.yaml > learned.yaml what it proves
  kubectl get KINDS -A -o json | ownerlint learn -f -

  Then, in ownerlint.yaml:  operators: [learned.yaml]

Exit status:
  0  objects were read
  2  usage or I/O failure, or no object of a cluster in the dump";

pub(super) const INIT: &str = "\
Examples:
  ownerlint init            configure the current folder
  ownerlint init clusters/  configure this one

Exit status:
  0  ownerlint.yaml is written
  2  there is one already (--force overwrites it), or it cannot be written";

pub(super) const SCHEMA: &str = "\
Examples:
  ownerlint schema config > ownerlint.schema.json  for your editor
  ownerlint schema report                          what -o json prints
  ownerlint schema steps                           what plan --steps reads";

#[cfg(feature = "lsp")]
pub(super) const LSP: &str = "\
Editors start this command; docs/editors has the setup. It shows
findings in open files, unsaved text included, says what owns an object and
what is deleted with it, and offers to fix or suppress a finding.";

pub(super) const COMPLETIONS: &str = "\
Examples:
  ownerlint completions bash > /etc/bash_completion.d/ownerlint
  ownerlint completions zsh > ~/.zfunc/_ownerlint
  ownerlint completions fish > ~/.config/fish/completions/ownerlint.fish";

pub(super) const MAN: &str = "\
Examples:
  ownerlint man | man -l -                        the program
  ownerlint man plan delete | man -l -            one command
  ownerlint man --folder ~/.local/share/man/man1  all commands";
