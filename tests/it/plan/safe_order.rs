//! Printed safe orders, run like a user would: every command exits with 0, none hangs, and nothing is stuck at the end.
//!
//! The player parses each line like a shell, and applies the command to the model of the cluster. `kubectl delete`
//! returns when its targets are gone, whatever else is in progress. A command fails if it names an object or a kind
//! that may be gone, or a finalizer that may have moved.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ownerlint::delivery::helm::HelmVersion;
use ownerlint::engine::{Request, Session, Teardown, TeardownBy, TeardownRequest};
use ownerlint::gc::{
    Cluster, Fate, IMMORTAL_NAMESPACES, ObjectId, Plan, SimulationOptions, Step, simulate,
};
use ownerlint::kube::{ObjectKey, Policy, Wait, kinds};
use ownerlint::story::PlanView;

use crate::formats::schemas::parsed;
use crate::support::{Repository, fixture, root, skip};

const TOOLS: [TeardownBy; 5] = [
    TeardownBy::Helm,
    TeardownBy::Kubectl,
    TeardownBy::ArgoCd,
    TeardownBy::Flux,
    TeardownBy::Namespace,
];

/// The results of running an order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Played {
    /// The commands of the order, without the removal.
    pub(crate) commands: Vec<String>,
    /// The command that removes everything.
    pub(crate) last: String,
    pub(crate) failures: Vec<String>,
    /// Whether a simulation was incomplete.
    pub(crate) is_cut: bool,
}

/// The state while an order is played.
struct Player<'c> {
    cluster: &'c Cluster,
    steps: Vec<Step>,
    waves: Vec<(i64, ObjectKey)>,
    played: Played,
}

/// The arguments of a command: the objects that it names, and its options.
#[derive(Debug, Default)]
struct Words {
    names: Vec<String>,
    namespace: Option<String>,
    options: Vec<String>,
    patch: Option<String>,
}

impl Words {
    fn of(words: &[String]) -> Self {
        let mut read = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "-n" => read.namespace = words.next().cloned(),
                "-p" => read.patch = words.next().cloned(),
                option if option.starts_with('-') => read.options.push(word.clone()),
                _ => read.names.push(word.clone()),
            }
        }
        read
    }

    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|one| one == option)
    }

    fn policy(&self) -> Policy {
        let cascade = self
            .options
            .iter()
            .find_map(|option| option.strip_prefix("--cascade="));
        match cascade {
            Some("foreground") => Policy::Foreground,
            Some("orphan") => Policy::Orphan,
            Some("background") | None => Policy::Background,
            Some(other) => panic!("no such policy: {other}"),
        }
    }
}

/// Whether kubectl accepts `word` as the kind of an object.
fn is_type(cluster: &Cluster, id: ObjectId, word: &str) -> bool {
    let (key, info) = (cluster.key(id), cluster.kind_of(id));
    let kind = key.kind().to_lowercase();
    [kind, info.plural.clone()]
        .into_iter()
        .any(|name| word == name || word == format!("{name}.{}", key.group()))
}

impl<'c> Player<'c> {
    /// Returns the objects named by `TYPE NAME NAME`, `TYPE/NAME TYPE/NAME` or `TYPE,TYPE --all`.
    fn named(&self, words: &Words) -> Vec<ObjectKey> {
        let placed = |id: &ObjectId| {
            let home = self.cluster.key(*id).namespace;
            home.name()
                .is_none_or(|home| words.namespace.as_deref().unwrap_or("default") == home)
        };
        let find = |kind: &str, name: Option<&str>| -> Vec<ObjectKey> {
            let of_kind = self
                .cluster
                .ids()
                .filter(|id| is_type(self.cluster, *id, kind))
                .filter(placed);
            let named = of_kind
                .map(|id| self.cluster.key(id))
                .filter(|key| name.is_none_or(|name| key.name == name));
            named.collect()
        };
        if words.has("--all") {
            return words.names[0]
                .split(',')
                .flat_map(|kind| find(kind, None))
                .collect();
        }
        let pairs: Vec<(&str, &str)> = if words.names[0].contains('/') {
            words
                .names
                .iter()
                .filter_map(|word| word.split_once('/'))
                .collect()
        } else {
            words.names[1..]
                .iter()
                .map(|name| (&*words.names[0], &**name))
                .collect()
        };
        assert!(!pairs.is_empty(), "{words:?} names something");
        let one = |(kind, name): (&str, &str)| {
            let found = find(kind, Some(name));
            assert_eq!(found.len(), 1, "{kind} {name} in {words:?}: {found:?}");
            found[0].clone()
        };
        pairs.into_iter().map(one).collect()
    }

    /// Simulates until the cluster is settled: kubectl may have returned at any moment before.
    fn simulated(&mut self) -> Plan<'c> {
        let steps = [&self.steps[..], &[Step::Settle]].concat();
        let plan = simulate(self.cluster, &steps, &SimulationOptions::default());
        self.played.is_cut |= plan.steps.iter().any(|step| !step.complete);
        plan
    }

    fn fail(&mut self, command: &str, why: impl std::fmt::Display) {
        self.played.failures.push(format!("{command}: {why}"));
    }

    /// Returns every possible fate of an object.
    fn fates(plan: &Plan<'c>, key: &ObjectKey) -> Vec<Fate> {
        let id = plan.cluster().find(key).expect("an object of the cluster");
        let last = plan.steps.last().expect("a step");
        last.outcomes
            .iter()
            .map(|outcome| plan.fate(outcome, id))
            .collect()
    }

    /// Records a failure for each object that may be gone, unless `ignored`, and for each kind that may be gone.
    fn find(&mut self, command: &str, keys: &[ObjectKey], ignored: bool) {
        let plan = self.simulated();
        for key in keys {
            if !ignored && Self::fates(&plan, key).contains(&Fate::Gone) {
                self.fail(command, format!("{key} may not be found"));
            }
            let info = self.cluster.find(key).map(|id| self.cluster.kind_of(id));
            let definition = info
                .filter(|info| info.custom)
                .map(|info| format!("{}.{}", info.plural, key.group()));
            let definition = definition.and_then(|name| {
                let ids = self.cluster.ids().map(|id| self.cluster.key(id));
                ids.into_iter()
                    .find(|key| key.is(kinds::CUSTOM_RESOURCE_DEFINITION) && key.name == name)
            });
            if definition
                .is_some_and(|definition| Self::fates(&plan, &definition).contains(&Fate::Gone))
            {
                self.fail(command, format!("the kind of {key} may be gone"));
            }
        }
    }

    fn run(&mut self, command: &str) {
        let words =
            shlex::split(command).unwrap_or_else(|| panic!("a person cannot paste {command}"));
        assert_eq!(words[0], "kubectl", "{command}");
        let read = Words::of(&words[2..]);
        match words[1].as_str() {
            "delete" => {
                let targets = self.named(&read);
                self.find(
                    command,
                    &targets,
                    read.has("--ignore-not-found") || read.has("--all"),
                );
                let (policy, wait) = (Some(read.policy()), Wait::Named);
                self.steps.push(Step::Delete {
                    targets: targets.clone(),
                    policy,
                    wait,
                    client: 0,
                });
                let plan = self.simulated();
                for key in targets {
                    if Self::fates(&plan, &key)
                        .iter()
                        .any(|fate| *fate != Fate::Gone)
                    {
                        self.fail(command, format!("hangs, because {key} may stay"));
                    }
                }
            }
            "patch" => {
                let targets = self.named(&read);
                self.find(command, &targets, false);
                self.patch(
                    command,
                    &targets[0],
                    read.patch.as_deref().expect("a patch"),
                );
            }
            "annotate" => {
                let (annotation, mut read) =
                    (read.names.last().cloned().expect("an annotation"), read);
                read.names.pop();
                let wave = annotation
                    .strip_prefix("argocd.argoproj.io/sync-wave=")
                    .expect("a wave");
                let wave: i64 = wave.parse().expect("a number");
                let targets = self.named(&read);
                self.find(command, &targets, false);
                self.waves
                    .extend(targets.into_iter().map(|key| (wave, key)));
            }
            verb => panic!("no such command: {verb}"),
        }
    }

    fn patch(&mut self, command: &str, target: &ObjectKey, patch: &str) {
        let patch: serde_json::Value = serde_json::from_str(patch).expect("JSON");
        let Some(operations) = patch.as_array() else {
            assert!(patch["metadata"]["finalizers"].is_null());
            return self.steps.push(Step::RemoveAllFinalizers {
                target: target.clone(),
            });
        };
        let plan = self.simulated();
        for test in operations
            .iter()
            .filter(|operation| operation["op"] == "test")
        {
            let finalizer = test["value"].as_str().expect("a finalizer").to_owned();
            let place = test["path"]
                .as_str()
                .and_then(|path| path.rsplit('/').next()?.parse::<usize>().ok());
            let id = self.cluster.find(target).expect("an object of the cluster");
            let stored = plan.stored_finalizers(plan.steps.len() - 1, id);
            let is_stored = |fate: &Fate| match fate {
                Fate::Present(present) => present.finalizers.len() == stored.len(),
                Fate::Gone => false,
            };
            let in_place = place.and_then(|place| stored.get(place)) == Some(&finalizer);
            if !in_place || !Self::fates(&plan, target).iter().all(is_stored) {
                self.fail(command, format!("{finalizer} may have moved: {stored:?}"));
            }
            self.steps.push(Step::RemoveFinalizer {
                targets: vec![target.clone()],
                finalizer,
                wait: Wait::None,
            });
        }
    }

    /// Plays the removal: the requests of the tool, after the waves that were annotated.
    fn remove(&mut self, by: TeardownBy, command: &str, requests: &[Step]) {
        let asked: Vec<ObjectKey> = requests.iter().flat_map(targets).cloned().collect();
        let ignored = match by {
            TeardownBy::Kubectl | TeardownBy::Namespace => command.contains("--ignore-not-found"),
            _ => true,
        };
        // Argo CD and Flux request only existing objects.
        if !matches!(by, TeardownBy::ArgoCd | TeardownBy::Flux) {
            self.find(command, &asked, ignored);
        }
        let mut waves = std::mem::take(&mut self.waves);
        waves.sort_by_key(|(wave, _)| -wave);
        let raised: BTreeSet<&ObjectKey> = waves.iter().map(|(_, key)| key).collect();
        let policy = requests.iter().find_map(|step| match step {
            Step::Delete { policy, .. } => Some(*policy),
            _ => None,
        });
        for wave in waves.chunk_by(|one, next| one.0 == next.0) {
            let targets = wave.iter().map(|(_, key)| key.clone()).collect();
            self.steps.push(Step::Delete {
                targets,
                policy: policy.flatten(),
                wait: Wait::Gone,
                client: 0,
            });
        }
        let rest = requests
            .iter()
            .filter(|step| !targets(step).iter().all(|key| raised.contains(key)));
        self.steps.extend(rest.cloned());
        let plan = self.simulated();
        let last = plan.steps.last().expect("a step");
        let fates = last.outcomes.iter().flat_map(|outcome| plan.fates(outcome));
        let stays = |key: &ObjectKey, fate: &Fate| {
            matches!(fate, Fate::Present(present) if present.terminating || asked.contains(key))
                && !IMMORTAL_NAMESPACES.contains(&key.name.as_str())
        };
        let left: BTreeSet<ObjectKey> = fates
            .filter(|(key, fate)| stays(key, fate))
            .map(|(key, _)| key)
            .collect();
        for key in left {
            self.fail(command, format!("{key} may stay"));
        }
    }
}

fn targets(step: &Step) -> &[ObjectKey] {
    match step {
        Step::Delete { targets, .. } => targets,
        _ => &[],
    }
}

/// Plays the safe order of a removal; `None` if none is known.
pub(crate) fn play(by: TeardownBy, teardown: &Teardown) -> Option<Played> {
    let plan = teardown.simulate();
    let view: PlanView<'_> = teardown.view(&plan);
    let removal = view.removal.as_ref().expect("a removal");
    let order = removal.safe_order.as_ref()?;
    let (before, requests) = view.steps.split_at(removal.first);
    let played = Played {
        commands: order.iter().map(|one| one.command.clone()).collect(),
        last: removal.command.clone(),
        ..Played::default()
    };
    if order.is_empty() {
        return Some(played);
    }
    let mut player = Player {
        cluster: plan.cluster(),
        steps: before.to_vec(),
        waves: Vec::new(),
        played,
    };
    for command in player.played.commands.clone() {
        player.run(&command);
    }
    player.remove(by, &removal.command, requests);
    Some(player.played)
}

/// Returns the removal of `paths` by a tool.
pub(crate) fn teardown(
    by: TeardownBy,
    namespace: Option<&str>,
    paths: &[String],
    beside: &[String],
) -> Option<Teardown> {
    let mut request = Request::new(paths.iter().cloned());
    request.beside = beside.to_vec();
    request.namespace = namespace.map(str::to_owned);
    let session = Session::open(&request).ok()?;
    let (cascade, helm_version) = (None, HelmVersion::default());
    let release_namespace = namespace.map(str::to_owned);
    session
        .teardown(&TeardownRequest {
            by: Some(by),
            cascade,
            helm_version,
            release_namespace,
            cluster: None,
            kubelet: true,
        })
        .ok()
}

fn input(name: &str) -> Vec<String> {
    vec![
        root()
            .join("fixtures/plan/safe-order")
            .join(name)
            .to_string_lossy()
            .into_owned(),
    ]
}

fn played(by: TeardownBy, paths: &[&str], beside: &[&str]) -> Played {
    let files = |names: &[&str]| {
        names
            .iter()
            .flat_map(|name| input(name))
            .collect::<Vec<_>>()
    };
    let teardown = teardown(by, Some("l"), &files(paths), &files(beside)).expect("a removal");
    let played = play(by, &teardown).unwrap_or_else(|| panic!("{by:?}: no order is known"));
    assert_eq!(played.failures, [""; 0], "{by:?}: {:?}", played.commands);
    assert!(!played.is_cut, "{by:?}");
    played
}

#[test]
fn safe_order_names_dependents_with_finalizers() {
    for by in TOOLS {
        let played = played(by, &["dependent-with-finalizer.yaml"], &[]);
        let command = &played.commands[0];
        assert!(
            command.contains("bkind0s.longhorn.io/x1 akind0s.longhorn.io/x1 -n l"),
            "{by:?}: {command}"
        );
    }
}

#[test]
fn order_naming_only_owners_leaves_objects_stuck() {
    let by = TeardownBy::Namespace;
    let teardown =
        teardown(by, Some("l"), &input("dependent-with-finalizer.yaml"), &[]).expect("a removal");
    let plan = teardown.simulate();
    let view = teardown.view(&plan);
    let mut player = Player {
        cluster: plan.cluster(),
        steps: Vec::new(),
        waves: Vec::new(),
        played: Played::default(),
    };
    player.run("kubectl delete bkind0s.longhorn.io x1 -n l --ignore-not-found --wait");
    assert_eq!(player.played.failures, [""; 0], "what it names goes");
    player.remove(by, "kubectl delete namespace l", view.steps);
    let stay = ["Akind0.longhorn.io/l/x1", "Namespace//l"]
        .map(|key| format!("kubectl delete namespace l: {key} may stay"));
    assert!(
        stay.iter()
            .all(|line| player.played.failures.contains(line)),
        "{:?}",
        player.played.failures
    );
}

#[test]
fn webhook_beside_the_removal_does_not_change_the_order() {
    let (path, webhook) = ("webhook-beside-path.yaml", "webhook-beside-beside.yaml");
    for by in TOOLS {
        let (beside, both) = (
            played(by, &[path], &[webhook]),
            played(by, &[path, webhook], &[]),
        );
        let line = "kubectl delete bkind0s.longhorn.io x1 -n l --ignore-not-found --wait";
        if by != TeardownBy::ArgoCd {
            assert_eq!(beside.commands, [line], "{by:?}");
        }
        assert_eq!(beside.commands, both.commands, "{by:?}");
    }
}

#[test]
fn blocking_webhook_beside_the_removal_is_deleted_first() {
    let repository = Repository::new();
    let path = fixture("plan/safe-order/webhook-beside-path.yaml");
    let webhook = fixture("plan/safe-order/webhook-beside-beside.yaml");
    repository.write("path.yaml", &path).write(
        "beside.yaml",
        &webhook.replace(
            "name: hook, namespace: l, path",
            "name: none, namespace: l, path",
        ),
    );
    let files = |name: &str| vec![repository.path().join(name).to_string_lossy().into_owned()];
    let by = TeardownBy::Namespace;
    let teardown =
        teardown(by, Some("l"), &files("path.yaml"), &files("beside.yaml")).expect("a removal");
    let played = play(by, &teardown).expect("an order");
    assert_eq!(played.failures, [""; 0]);
    assert!(
        played.commands[0].starts_with(
            "kubectl delete validatingwebhookconfiguration.admissionregistration.k8s.io hook "
        ),
        "{:?}",
        played.commands
    );
}

/// Returns the objects in each outcome of the last step of a plan.
fn outcomes(repository: &Repository, arguments: &[&str]) -> Vec<serde_json::Value> {
    let (status, out, error) =
        repository.run(&[&["plan"], arguments, &["-o", "json"]].concat(), "");
    assert_eq!(status, 0, "{error}");
    let plan = parsed(&out);
    let last = plan["steps"]
        .as_array()
        .and_then(|steps| steps.last())
        .expect("a step");
    last["outcomes"]
        .as_array()
        .expect("outcomes")
        .iter()
        .map(|outcome| outcome["objects"].clone())
        .collect()
}

/// Returns the possible fates of an engine after a workload is deleted, the likeliest first.
fn engine_without(workload: &str, cluster: &str) -> Vec<bool> {
    let steps = format!(
        "- {{op: delete, target: {workload} -n l}}\n- {{op: delete, target: engine/e -n l}}\n"
    );
    let repository = Repository::new();
    repository
        .write("steps.yaml", &steps)
        .write("cluster.yaml", cluster);
    let outcomes = outcomes(&repository, &["--steps", "steps.yaml", "cluster.yaml"]);
    outcomes
        .iter()
        .map(|objects| objects["Engine.longhorn.io/l/e"] == "gone")
        .collect()
}

#[test]
fn workload_named_after_its_image_is_the_remover() {
    let cluster = fixture("plan/safe-order/two-workloads-one-image.yaml");
    assert_eq!(
        engine_without("deployment/longhorn-driver-deployer", &cluster),
        [true]
    );
    assert_eq!(
        engine_without("daemonset/longhorn-manager", &cluster),
        [false]
    );
}

#[test]
fn either_of_two_ambiguous_workloads_may_be_the_remover() {
    let cluster = fixture("plan/safe-order/two-workloads-one-image.yaml")
        .replace("name: longhorn-manager,", "name: other,");
    for workload in ["deployment/longhorn-driver-deployer", "daemonset/other"] {
        assert_eq!(
            engine_without(workload, &cluster),
            [false, true],
            "{workload}"
        );
    }
}

#[test]
fn safe_order_keeps_both_possible_removers() {
    let repository = Repository::new();
    let cluster = fixture("plan/safe-order/two-workloads-one-image.yaml")
        .replace("name: longhorn-manager,", "name: other,");
    repository.write("cluster.yaml", &cluster);
    let path = vec![
        repository
            .path()
            .join("cluster.yaml")
            .to_string_lossy()
            .into_owned(),
    ];
    for by in TOOLS {
        let teardown = teardown(by, Some("l"), &path, &[]).expect("a removal");
        let played = play(by, &teardown).expect("an order");
        assert_eq!(
            (played.failures, played.commands.len()),
            (Vec::new(), 1),
            "{by:?}"
        );
    }
}

/// Collects all manifests below a folder that could get stuck.
fn manifests(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            manifests(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let holds = [
                "finalizers",
                "WebhookConfiguration",
                "APIService",
                "CustomResourceDefinition",
            ];
            if holds.iter().any(|word| text.contains(word)) {
                found.push(path);
            }
        }
    }
}

/// Plays the order of each manifest, asserts that all succeed, and returns their number.
fn play_all(files: &[PathBuf]) -> usize {
    let mut failures = Vec::new();
    let mut orders = 0;
    for file in files {
        let paths = [file.to_string_lossy().into_owned()];
        for by in TOOLS {
            let Some(teardown) = teardown(by, None, &paths, &[]) else {
                continue;
            };
            let Some(played) = play(by, &teardown).filter(|played| !played.commands.is_empty())
            else {
                continue;
            };
            orders += 1;
            let context = |failure: &String| {
                format!(
                    "{} by {by:?}: {failure}\n  of {:?}",
                    file.display(),
                    played.commands
                )
            };
            failures.extend(played.failures.iter().map(context));
        }
    }
    assert!(
        failures.is_empty(),
        "of {orders} orders:\n{}",
        failures.join("\n")
    );
    orders
}

#[test]
fn every_safe_order_for_fixtures_succeeds() {
    let mut files = Vec::new();
    for folder in ["plan", "bundles", "rules"] {
        manifests(&root().join("fixtures").join(folder), &mut files);
    }
    let orders = play_all(&files);
    assert!(orders > 100, "{orders}");
}

#[test]
fn every_safe_order_for_labelled_files_succeeds() {
    let folder = std::env::var_os("OWNERLINT_BELIEVABLE").map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| root().join("../shared/believable"));
    if !folder.is_dir() {
        return skip("no labelled files: set OWNERLINT_BELIEVABLE to their folder");
    }
    let projects = std::fs::read_dir(&folder)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path());
    let mut files: Vec<PathBuf> = projects.filter(|path| path.is_dir()).collect();
    manifests(&folder, &mut files);
    println!("{} orders", play_all(&files));
}
