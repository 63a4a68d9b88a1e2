//! The output that a user reads before a deletion.
//!
//! Clusters are written in the notation of [`crate::gc_support::sketch`].

use std::sync::{Arc, LazyLock};

use ownerlint::gc::{
    Cluster, DefinitionFacts, Deletion, Facts, Object, ObjectId, PodFacts, Step, simulate,
};
use ownerlint::knowledge::Tables;
use ownerlint::kube::{GroupKind, ObjectKey, Policy, Wait};
use ownerlint::report::plan::{PlanFormat, render};
use ownerlint::report::{HumanOptions, MarkdownOptions, Options, plan};
use ownerlint::story::{ImpliedDependent, PlanView};
use proptest::prelude::*;

use crate::gc_support::{delete, key, recorded_kinds, sketch, sketch_key, sketch_object};
use crate::properties::cases;
use crate::support::outside_code;

const BACKGROUND: Option<Policy> = Some(Policy::Background);
const FOREGROUND: Option<Policy> = Some(Policy::Foreground);
const ORPHAN: Option<Policy> = Some(Policy::Orphan);

/// Returns the options of the recordings: there is no kubelet.
fn simulation() -> ownerlint::gc::SimulationOptions {
    ownerlint::gc::SimulationOptions {
        kubelet: false,
        ..ownerlint::gc::SimulationOptions::default()
    }
}

fn title(step: &Step) -> String {
    let names = |targets: &[ObjectKey]| {
        targets
            .iter()
            .map(ObjectKey::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    };
    match step {
        Step::Settle => "settle".to_owned(),
        Step::Delete {
            targets, policy, ..
        } => {
            let policy = policy.map_or("no policy".to_owned(), |policy| {
                format!("{policy:?}").to_lowercase()
            });
            format!("delete {} ({policy})", names(targets))
        }
        Step::RemoveFinalizer {
            targets, finalizer, ..
        } => format!("remove finalizer {finalizer} of {}", targets[0]),
        Step::RemoveAllFinalizers { target } => format!("remove all finalizers of {target}"),
        Step::ForceDelete { target } => format!("force-delete {target}"),
    }
}

fn targets(step: &Step) -> Vec<ObjectKey> {
    match step {
        Step::Settle => Vec::new(),
        Step::Delete { targets, .. } | Step::RemoveFinalizer { targets, .. } => targets.clone(),
        Step::RemoveAllFinalizers { target } | Step::ForceDelete { target } => vec![target.clone()],
    }
}

static TABLES: LazyLock<Arc<Tables>> = LazyLock::new(Tables::bundled);

fn view<'a>(plan: &'a ownerlint::gc::Plan<'a>, steps: &'a [Step]) -> PlanView<'a> {
    let claims = plan
        .cluster()
        .ids()
        .map(|id| plan.cluster().key(id))
        .filter(|key| key.kind() == "PersistentVolumeClaim");
    PlanView {
        plan,
        steps,
        data: claims
            .map(|claim| (claim, "the volume and what is on it".to_owned()))
            .collect(),
        implied: Vec::new(),
        titles: steps.iter().map(title).collect(),
        targets: steps.iter().map(targets).collect(),
        known: &TABLES.finalizers,
        written: None,
        notes: Vec::new(),
        unread: &[],
        follow_ups: 0,
        removal: None,
    }
}

fn drawn(human: HumanOptions) -> Options {
    Options {
        human,
        ..Options::default()
    }
}

fn shown(format: PlanFormat, cluster: &Cluster, steps: &[Step]) -> String {
    let simulated = simulate(cluster, steps, &simulation());
    render(format, &view(&simulated, steps), &Options::default())
}

fn human(cluster: &Cluster, steps: &[Step]) -> String {
    shown(PlanFormat::Human, cluster, steps)
}

fn cluster(objects: Vec<Object>) -> Cluster {
    Cluster::new(recorded_kinds(), objects).expect("a cluster")
}

const DEPLOYMENT: [&str; 5] = [
    "Deployment.apps/shop/web",
    "ReplicaSet.apps/shop/web-5d -> !Deployment.apps/shop/web",
    "Pod/shop/web-5d-1 -> !ReplicaSet.apps/shop/web-5d",
    "Pod/shop/web-5d-2 -> !ReplicaSet.apps/shop/web-5d",
    "ConfigMap/shop/unrelated",
];

#[test]
fn background_cascade_is_rendered() {
    insta::assert_snapshot!(human(
        &sketch(&DEPLOYMENT),
        &[delete(&["Deployment.apps/shop/web"], BACKGROUND)]
    ));
}

#[test]
fn foreground_dependents_are_numbered_before_their_owner() {
    insta::assert_snapshot!(human(
        &sketch(&DEPLOYMENT),
        &[delete(&["Deployment.apps/shop/web"], FOREGROUND)]
    ));
}

#[test]
fn implied_objects_and_assumptions_are_marked() {
    let cluster = sketch(&DEPLOYMENT);
    let steps = [delete(&["Deployment.apps/shop/web"], BACKGROUND)];
    let simulated = simulate(&cluster, &steps, &simulation());
    let implied = |object: &str, owner: &str, rule: &'static str| ImpliedDependent {
        key: key(object),
        owner: key(owner),
        rule: rule.into(),
    };
    let view = PlanView {
        implied: vec![
            implied(
                "ReplicaSet.apps/shop/web-5d",
                "Deployment.apps/shop/web",
                "DEP-1",
            ),
            implied("Pod/shop/web-5d-1", "ReplicaSet.apps/shop/web-5d", "DEP-2"),
        ],
        notes: vec!["The controllers have created what the manifests ask for".to_owned()],
        ..view(&simulated, &steps)
    };
    let [human, mermaid] = [PlanFormat::Human, PlanFormat::Mermaid]
        .map(|format| render(format, &view, &Options::default()));
    insta::assert_snapshot!(format!("{human}\n---\n{mermaid}"));
}

#[test]
fn dependent_with_second_owner_is_shown_as_kept() {
    insta::assert_snapshot!(human(
        &sketch(&["a", "b", "c -> !a, !b", "d -> a"]),
        &[delete(&["a"], BACKGROUND)]
    ));
}

#[test]
fn stuck_foreground_owner_is_shown_with_its_blocker() {
    insta::assert_snapshot!(human(
        &sketch(&["o", "c{example.com/hold} -> !o", "d -> o"]),
        &[delete(&["o"], FOREGROUND)]
    ));
}

#[test]
fn foreground_deadlock_is_explained() {
    insta::assert_snapshot!(human(
        &sketch(&["a -> !a", "b -> a"]),
        &[delete(&["a"], FOREGROUND)]
    ));
}

#[test]
fn uncollectable_blocker_is_explained() {
    let objects = ["o", "ClusterRole.rbac.authorization.k8s.io//reader -> !o"];
    insta::assert_snapshot!(human(&sketch(&objects), &[delete(&["o"], FOREGROUND)]));
}

#[test]
fn orphaned_dependents_are_shown() {
    insta::assert_snapshot!(human(
        &sketch(&["o", "c -> o", "d -> !o, p", "p"]),
        &[delete(&["o"], ORPHAN)]
    ));
}

#[test]
fn stuck_namespace_shows_content_with_finalizers() {
    let objects = [
        "Namespace//n",
        "c{example.com/hold}",
        "d -> c",
        "Secret/n/s",
    ];
    insta::assert_snapshot!(human(
        &sketch(&objects),
        &[delete(&["Namespace//n"], BACKGROUND)]
    ));
}

#[test]
fn stuck_pod_is_shown_to_block_namespace_deletion() {
    let objects = ["Namespace//n", "Pod/n/p{example.com/hold}", "Secret/n/s"];
    insta::assert_snapshot!(human(
        &sketch(&objects),
        &[delete(&["Namespace//n"], BACKGROUND)]
    ));
}

const DEFINITION: &str = "CustomResourceDefinition.apiextensions.k8s.io//cakes.shop.example";

fn definition() -> Object {
    Object {
        facts: Facts::Definition(Box::new(DefinitionFacts {
            group: "shop.example".into(),
            kind: "Cake".into(),
            plural: "cakes".into(),
            namespaced: true,
            served: vec!["v1".into()],
            established: true,
        })),
        ..sketch_object(DEFINITION)
    }
}

#[test]
fn stuck_crd_shows_its_instance_with_finalizers() {
    let objects = vec![
        definition(),
        sketch_object(
            "Cake.shop.example/n/apple{bakery.shop.example/oven,bakery.shop.example/box}",
        ),
        sketch_object("Cake.shop.example/n/plum"),
    ];
    insta::assert_snapshot!(human(
        &cluster(objects),
        &[delete(&[DEFINITION], BACKGROUND)]
    ));
}

#[test]
fn stuck_claim_and_pod_without_kubelet_are_explained() {
    let pod = Object {
        facts: Facts::Pod(Box::new(PodFacts {
            scheduled: true,
            claims: vec!["data".into()],
            ..PodFacts::default()
        })),
        ..sketch_object("Pod/n/db")
    };
    let cluster = cluster(vec![
        sketch_object("PersistentVolumeClaim/n/data{kubernetes.io/pvc-protection}"),
        pod,
    ]);
    insta::assert_snapshot!(human(
        &cluster,
        &[
            delete(&["PersistentVolumeClaim/n/data"], BACKGROUND),
            delete(&["Pod/n/db"], BACKGROUND)
        ]
    ));
}

#[test]
fn unresolvable_and_cross_namespace_owners_are_explained() {
    let mut unresolvable = sketch_object("c -> o, z");
    unresolvable.owner_references[1].api_version = "apps/v1beta1".into();
    unresolvable.owner_references[1].kind = "Deployment".into();
    let objects = vec![
        sketch_object("o"),
        unresolvable,
        sketch_object("ConfigMap/ns2/far"),
        sketch_object("ConfigMap/ns1/near -> ConfigMap/ns2/far"),
    ];
    insta::assert_snapshot!(human(
        &cluster(objects),
        &[Step::Settle, delete(&["o"], BACKGROUND)]
    ));
}

#[test]
fn racing_outcomes_are_shown() {
    insta::assert_snapshot!(human(
        &sketch(&["o", "p{x/y} -> !o", "c -> !o, p"]),
        &[delete(&["o"], FOREGROUND)]
    ));
}

#[test]
fn races_over_termination_and_references_are_distinguished() {
    let terminating = human(
        &sketch(&["o", "p -> o", "q -> p", "r{x/y} -> !q"]),
        &[delete(&["o"], FOREGROUND)],
    );
    let references = human(
        &sketch(&["o", "p -> o", "c{x/y} -> p, !o"]),
        &[delete(&["o"], BACKGROUND)],
    );
    insta::assert_snapshot!(format!("{terminating}\n---\n{references}"));
}

#[test]
fn incomplete_search_is_noted() {
    let cluster = sketch(&["o", "p{x/y} -> !o", "c -> !o, p"]);
    let steps = [delete(&["o"], FOREGROUND)];
    let simulated = simulate(
        &cluster,
        &steps,
        &ownerlint::gc::SimulationOptions {
            state_cap: 0,
            ..simulation()
        },
    );
    let text = render(
        PlanFormat::Human,
        &view(&simulated, &steps),
        &Options::default(),
    );
    assert!(
        text.contains("May vary\n  Note: not every order of events was tried"),
        "{text}"
    );
    let markdown = render(
        PlanFormat::Markdown,
        &view(&simulated, &steps),
        &Options::default(),
    );
    assert!(
        markdown.contains("not every order of events was tried"),
        "{markdown}"
    );
}

#[test]
fn owner_cycle_is_shown_once() {
    insta::assert_snapshot!(human(
        &sketch(&["a -> !b, c", "b -> !a", "c -> a, b"]),
        &[delete(&["a", "b"], FOREGROUND)]
    ));
}

#[test]
fn rejected_requests_are_shown() {
    let cluster = sketch(&["Namespace//default", "a"]);
    insta::assert_snapshot!(human(
        &cluster,
        &[delete(&["Namespace//default", "nowhere", "a"], BACKGROUND)]
    ));
}

#[test]
fn earlier_terminating_object_is_not_blamed_on_the_step() {
    let cluster = sketch(&["old{T,x/y}", "a"]);
    insta::assert_snapshot!(human(&cluster, &[delete(&["a"], BACKGROUND)]));
}

/// Returns a namespace with 5,000 Pods, 100 of them with a finalizer, below 10 ReplicaSets.
fn fan_out() -> Cluster {
    let mut objects = vec![sketch_object("Deployment.apps/n/big")];
    objects.extend((0..10).map(|set| {
        sketch_object(&format!(
            "ReplicaSet.apps/n/s{set} -> !Deployment.apps/n/big"
        ))
    }));
    objects.extend((0..5_000).map(|pod| {
        let held = if pod % 50 == 0 {
            "{example.com/hold}"
        } else {
            ""
        };
        sketch_object(&format!(
            "Pod/n/p{pod:04}{held} -> !ReplicaSet.apps/n/s{}",
            pod % 10
        ))
    }));
    cluster(objects)
}

fn unsearched() -> ownerlint::gc::SimulationOptions {
    ownerlint::gc::SimulationOptions {
        state_cap: 0,
        ..simulation()
    }
}

#[test]
fn plan_of_five_thousand_dependents_is_below_150_lines() {
    let cluster = fan_out();
    let steps = [delete(&["Deployment.apps/n/big"], BACKGROUND)];
    let simulated = simulate(&cluster, &steps, &unsearched());
    let text = render(
        PlanFormat::Human,
        &view(&simulated, &steps),
        &Options::default(),
    );
    assert!(text.lines().count() < 150, "{} lines", text.lines().count());
    insta::assert_snapshot!(text);
}

#[test]
fn graphs_of_five_thousand_objects_have_limited_size() {
    let cluster = fan_out();
    let steps = [delete(&["Deployment.apps/n/big"], FOREGROUND)];
    let simulated = simulate(&cluster, &steps, &unsearched());
    let view = view(&simulated, &steps);
    let (nodes, edges) = read_mermaid(&render(PlanFormat::Mermaid, &view, &Options::default()));
    assert!(nodes <= 150 && edges <= 500, "{nodes} nodes, {edges} edges");
    assert!(nodes > 10, "it still shows something: {nodes} nodes");
    let (nodes, edges) = read_dot(&render(PlanFormat::Dot, &view, &Options::default()));
    assert!(nodes <= 170 && edges <= 500, "{nodes} nodes, {edges} edges");
}

#[test]
fn plan_of_20000_object_chain_is_below_400_lines() {
    let mut objects = vec![sketch_object("c00000")];
    objects.extend((1..20_000).map(|n| sketch_object(&format!("c{n:05} -> c{:05}", n - 1))));
    let cluster = cluster(objects);
    let steps = [delete(&["c00000"], BACKGROUND)];
    let simulated = simulate(&cluster, &steps, &unsearched());
    for format in [PlanFormat::Human, PlanFormat::Dot, PlanFormat::Mermaid] {
        let text = render(format, &view(&simulated, &steps), &Options::default());
        assert!(
            text.lines().count() < 400,
            "{format:?}: {} lines",
            text.lines().count()
        );
    }
    let text = render(
        PlanFormat::Human,
        &view(&simulated, &steps),
        &Options::default(),
    );
    assert!(text.contains("(below it: 19984 ConfigMap)"), "{text}");
}

const HOSTILE: [&str; 7] = [
    "\u{1b}[31mred\u{7}",
    "a\"];x[\"b`|c|\\",
    "#35; <script>alert(1)</script> &amp;",
    "1. - [link](http://x) **b** @team",
    "'; rm -rf / #'$(id)",
    "-o=name",
    "\u{202e}nimda\nnext\r\nline ```sh",
];

/// Returns owners with hostile names, each with a dependent that has a hostile finalizer.
fn hostile() -> Cluster {
    let mut objects = Vec::new();
    for name in HOSTILE {
        let mut owner = Object {
            uid: format!("uid of {name}").into(),
            ..sketch_object("o")
        };
        owner.key.name = (*name).into();
        let mut held = Object {
            uid: format!("uid of {name}2").into(),
            ..sketch_object("c -> !o")
        };
        held.key.name = format!("{name}2").into();
        held.owner_references[0].name = name.into();
        held.owner_references[0].uid = owner.uid.clone();
        held.finalizers = vec![format!("{name}/f")];
        objects.extend([owner, held]);
    }
    cluster(objects)
}

fn hostile_steps() -> [Step; 1] {
    let targets = HOSTILE.iter().map(|name| sketch_key("o").named(*name));
    [Step::Delete {
        targets: targets.collect(),
        policy: FOREGROUND,
        wait: Wait::Settled,
        client: 0,
    }]
}

#[test]
fn hostile_names_are_escaped_for_terminal_and_shell() {
    let text = human(&hostile(), &hostile_steps());
    assert!(
        text.chars()
            .all(|c| c == '\n' || !(c.is_control() || c == '\u{202e}')),
        "{text}"
    );
    insta::assert_snapshot!(text);
}

#[test]
fn hostile_names_do_not_break_graphs() {
    let (cluster, steps) = (hostile(), hostile_steps());
    let mermaid = shown(PlanFormat::Mermaid, &cluster, &steps);
    assert_eq!(read_mermaid(&mermaid), (14, 7), "{mermaid}");
    let dot = shown(PlanFormat::Dot, &cluster, &steps);
    assert_eq!(read_dot(&dot).0, 14, "{dot}");
    insta::assert_snapshot!(mermaid);
}

#[test]
fn hostile_names_do_not_break_markdown() {
    let markdown = shown(PlanFormat::Markdown, &hostile(), &hostile_steps());
    let outside = outside_code(&markdown);
    for danger in ["<script", "](", "**b**", "@team", "http://x", "\u{1b}"] {
        assert!(!outside.contains(danger), "{danger:?} in {outside}");
    }
    let fences = markdown
        .lines()
        .filter(|line| line.trim_start().starts_with("```"))
        .count();
    assert_eq!(fences % 2, 0, "every block is closed");
}

#[test]
fn job_summary_is_rendered_as_markdown() {
    let objects = [
        "Namespace//n",
        "o",
        "c{example.com/hold} -> !o",
        "d -> o, e",
        "e",
        "Secret/n/s",
    ];
    insta::assert_snapshot!(shown(
        PlanFormat::Markdown,
        &sketch(&objects),
        &[delete(&["o"], FOREGROUND)]
    ));
}

#[test]
fn job_summary_respects_the_byte_limit() {
    let cluster = fan_out();
    let steps = [delete(&["Deployment.apps/n/big"], BACKGROUND)];
    let simulated = simulate(&cluster, &steps, &unsearched());
    let view = view(&simulated, &steps);
    for limit in [600, 5_000, 20_000, 64_000, 1_000_000] {
        let options = Options {
            markdown: MarkdownOptions {
                bytes: limit,
                ..MarkdownOptions::default()
            },
            ..Options::default()
        };
        let markdown = plan::render(PlanFormat::Markdown, &view, &options);
        assert!(
            markdown.len() <= limit,
            "{} bytes of {limit}",
            markdown.len()
        );
        let (opened, closed) = (
            markdown.matches("<details>").count(),
            markdown.matches("</details>").count(),
        );
        assert_eq!(opened, closed, "every fold is closed");
        outside_code(&markdown);
    }
}

#[test]
fn graphviz_output_is_valid_dot() {
    let cluster = sketch(&["a", "b", "c -> !a, !b", "d{x/y} -> a", "Namespace//n"]);
    let dot = shown(PlanFormat::Dot, &cluster, &[delete(&["a"], BACKGROUND)]);
    read_dot(&dot);
    insta::assert_snapshot!(dot);
}

#[test]
fn several_steps_make_one_graph() {
    let cluster = sketch(&["o", "c{x/y} -> !o"]);
    let steps = [
        delete(&["o"], FOREGROUND),
        Step::RemoveFinalizer {
            targets: vec![sketch_key("c")],
            finalizer: "x/y".to_owned(),
            wait: Wait::Settled,
        },
    ];
    let mermaid = shown(PlanFormat::Mermaid, &cluster, &steps);
    assert_eq!(read_mermaid(&mermaid), (2, 1));
    assert_eq!(mermaid.matches("step 2").count(), 2, "{mermaid}");
    insta::assert_snapshot!(human(&cluster, &steps));
}

#[test]
fn colour_changes_nothing_but_colour() {
    let cluster = sketch(&["o", "c{x/y} -> !o"]);
    let steps = [delete(&["o"], FOREGROUND)];
    let simulated = simulate(&cluster, &steps, &simulation());
    let coloured = render(
        PlanFormat::Human,
        &view(&simulated, &steps),
        &drawn(HumanOptions {
            color: true,
            ..HumanOptions::default()
        }),
    );
    assert!(coloured.contains("\u{1b}[31m"));
    let mut plain = String::new();
    for (at, part) in coloured.split("\u{1b}[").enumerate() {
        plain.push_str(if at == 0 {
            part
        } else {
            part.split_once('m').expect("an SGR code").1
        });
    }
    assert_eq!(plain, human(&cluster, &steps));
    let ascii = render(
        PlanFormat::Human,
        &view(&simulated, &steps),
        &drawn(HumanOptions {
            ascii: true,
            ..HumanOptions::default()
        }),
    );
    assert!(ascii.is_ascii(), "{ascii}");
}

#[test]
fn graph_omits_namespace_arrows_to_owned_objects() {
    let cluster = sketch(&[
        "Namespace//n",
        "Deployment.apps/n/web",
        "ReplicaSet.apps/n/web-1 -> !Deployment.apps/n/web",
    ]);
    let mermaid = shown(
        PlanFormat::Mermaid,
        &cluster,
        &[delete(&["Namespace//n"], BACKGROUND)],
    );
    assert_eq!(
        read_mermaid(&mermaid),
        (3, 2),
        "namespace → Deployment → ReplicaSet: {mermaid}"
    );
}

#[test]
fn graph_of_owner_cycle_has_one_namespace_arrow() {
    let cluster = sketch(&["Namespace//n", "a -> b", "b -> a"]);
    let mermaid = shown(
        PlanFormat::Mermaid,
        &cluster,
        &[delete(&["Namespace//n"], BACKGROUND)],
    );
    assert_eq!(read_mermaid(&mermaid), (3, 3), "{mermaid}");
}

#[test]
fn graphs_name_blocking_finalizers_and_deleted_claims() {
    let cluster = sketch(&["o", "c{x/y} -> o", "PersistentVolumeClaim/n/data -> o"]);
    let steps = [delete(&["o"], BACKGROUND)];
    let dot = shown(PlanFormat::Dot, &cluster, &steps);
    assert!(dot.contains(r#""ConfigMap\nn/c\nfinalizer x/y""#), "{dot}");
    assert!(
        dot.contains(r#""PersistentVolumeClaim\nn/data\n(data)""#),
        "{dot}"
    );
    assert!(shown(PlanFormat::Human, &cluster, &steps).contains("Data deleted: 1 claim."));
    assert!(shown(PlanFormat::Markdown, &cluster, &steps).contains("**Data deleted:** 1 claim."));
}

/// Counts the nodes and edges of a flowchart without its legend. Each line must have an unambiguous form.
fn read_mermaid(text: &str) -> (usize, usize) {
    assert!(
        text.len() < 50_000,
        "Mermaid rejects more than 50,000 characters"
    );
    let (body, _) = text.split_once("  subgraph legend\n").expect("a legend");
    let mut lines = body.lines();
    assert_eq!(lines.next(), Some("flowchart LR"));
    let (mut nodes, mut edges) = (0, 0);
    for line in lines {
        let line = line.strip_prefix("  ").expect("indented");
        if let Some((name, rest)) = line.split_once("[\"") {
            assert!(name == "rest" || name == format!("n{nodes}"), "{line}");
            let (label, class) = rest.split_once("\"]:::").expect("a closed label");
            assert!(
                ["deleted", "stuck", "kept", "untouched"].contains(&class),
                "{line}"
            );
            for part in label.split("<br/>") {
                let odd = |c: char| !(c.is_alphanumeric() || " /.,:-#;".contains(c));
                assert!(!part.contains(odd), "{line}");
                // Every `#` starts an entity.
                for entity in part.split('#').skip(1) {
                    let (number, _) = entity.split_once(';').expect("an entity");
                    assert!(number.parse::<u32>().is_ok(), "{line}");
                }
            }
            nodes += usize::from(name != "rest");
        } else {
            let words: Vec<&str> = line.split(' ').collect();
            let [from, arrow, to] = words[..] else {
                panic!("{line}")
            };
            assert!(["==>", "-->", "-.->", "-.-x"].contains(&arrow), "{line}");
            for end in [from, to] {
                let number: usize = end
                    .strip_prefix('n')
                    .expect("a node")
                    .parse()
                    .expect("a number");
                assert!(number < nodes, "{line}");
            }
            edges += 1;
        }
    }
    (nodes, edges)
}

/// Counts the nodes and edges of a Graphviz graph. Supports only the syntax that we write.
fn read_dot(text: &str) -> (usize, usize) {
    let (mut nodes, mut edges, mut depth) = (0, 0, 0_i32);
    let mut statement = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match c {
            '"' => {
                statement.push('"');
                loop {
                    match characters.next().expect("a closed string") {
                        '\\' => _ = characters.next().expect("an escaped character"),
                        '"' => break,
                        '\n' => panic!("a string over two lines"),
                        _ => {}
                    }
                }
            }
            '{' => {
                depth += 1;
                statement.clear();
            }
            '}' => {
                assert_eq!(statement.trim(), "", "a statement ends before its block");
                depth -= 1;
            }
            ';' => {
                let body = statement.trim();
                let (head, _) = body.split_once(' ').unwrap_or((body, ""));
                if body.contains(" -> ") {
                    edges += 1;
                } else if body.contains(" [") && head != "node" {
                    nodes += 1;
                }
                assert_eq!(
                    body.matches('[').count(),
                    body.matches(']').count(),
                    "{body}"
                );
                statement.clear();
            }
            c => statement.push(c),
        }
    }
    assert_eq!(depth, 0, "every block is closed");
    (nodes, edges)
}

/// Returns the steps for the commands of a human plan, parsed like a shell and `kubectl` would.
fn advised(text: &str, cluster: &Cluster) -> Vec<Step> {
    let commands = text
        .lines()
        .filter_map(|line| line.strip_prefix("      "))
        .filter(|line| line.starts_with("kubectl "));
    commands
        .flat_map(|command| step_of(&shlex::split(command).expect("balanced quotes"), cluster))
        .collect()
}

fn step_of(words: &[String], cluster: &Cluster) -> Vec<Step> {
    let option = |name: &str| {
        words
            .iter()
            .position(|word| word == name)
            .map(|at| words[at + 1].clone())
    };
    let (kind, name) = (&words[2], &words[3]);
    let namespace = option("-n").unwrap_or_default();
    let named = |id: &ObjectId| {
        let (key, info) = (cluster.key(*id), cluster.kind_of(*id));
        let types = [key.kind().to_lowercase(), info.plural.clone()];
        let full = |kind: &String| GroupKind::new(key.group(), kind).to_string();
        types.iter().map(full).any(|full| full == *kind)
            && key.name == *name
            && key.namespace.to_string() == namespace
    };
    let target = cluster.key(
        cluster
            .ids()
            .find(named)
            .unwrap_or_else(|| panic!("{words:?} names an object")),
    );
    if words[1] == "patch" {
        let patch: serde_json::Value =
            serde_json::from_str(&option("-p").expect("a patch")).expect("JSON");
        let operations = patch.as_array().expect("operations");
        let tests = operations
            .iter()
            .filter(|operation| operation["op"] == "test");
        let finalizers: Vec<String> = tests
            .map(|test| test["value"].as_str().expect("text").to_owned())
            .collect();
        assert_eq!(
            operations.len(),
            2 * finalizers.len(),
            "each removal is guarded"
        );
        return finalizers
            .into_iter()
            .map(|finalizer| Step::RemoveFinalizer {
                targets: vec![target.clone()],
                finalizer,
                wait: Wait::Settled,
            })
            .collect();
    }
    assert_eq!(words[1], "delete");
    if words.contains(&"--force".to_owned()) {
        return vec![Step::ForceDelete { target }];
    }
    vec![Step::Delete {
        targets: vec![target],
        policy: BACKGROUND,
        wait: Wait::Settled,
        client: 0,
    }]
}

/// Asserts that following a plan's advice releases every stuck object that it names. If more objects then get stuck,
/// the advice of the next plan is followed.
fn advice_holds(cluster: &Cluster, step: Step) {
    let mut steps = vec![step];
    let stuck = |steps: &[Step]| -> Vec<ObjectKey> {
        let simulated = simulate(cluster, steps, &unsearched());
        simulated
            .stuck(steps.len() - 1)
            .into_iter()
            .map(|held| cluster.key(held.object))
            .collect()
    };
    let before = stuck(&steps);
    for _ in 0..10 {
        let simulated = simulate(cluster, &steps, &unsearched());
        let text = render(
            PlanFormat::Human,
            &view(&simulated, &steps),
            &Options::default(),
        );
        let last = text
            .rfind(&title(&steps[steps.len() - 1]))
            .expect("the last step has a title");
        let advice = advised(&text[last..], cluster);
        if advice.is_empty() {
            break;
        }
        steps.extend(advice);
    }
    for key in stuck(&steps) {
        assert!(
            !before.contains(&key),
            "{key} is still stuck after {steps:#?}"
        );
    }
}

#[test]
fn following_the_advice_unblocks_everything() {
    let cases: [(&[&str], &str); 6] = [
        (&["o", "c{x/y} -> !o"], "o"),
        (&["a -> !a"], "a"),
        (
            &["o", "ClusterRole.rbac.authorization.k8s.io//c -> !o"],
            "o",
        ),
        (
            &["Namespace//n", "c{x/y,a/b}", "Pod/n/p{x/y}"],
            "Namespace//n",
        ),
        (&["o{x/y}", "p{x/y} -> !o", "q{x/y} -> !p, o"], "o"),
        (
            &[
                "Widget.example.com/n/w{x/y,z/z}",
                "c{x/y} -> !Widget.example.com/n/w",
            ],
            "Widget.example.com/n/w",
        ),
    ];
    for (objects, target) in cases {
        for policy in [BACKGROUND, FOREGROUND, ORPHAN, None] {
            advice_holds(&sketch(objects), delete(&[target], policy));
        }
    }
    let pod = Object {
        facts: Facts::Pod(Box::new(PodFacts {
            scheduled: true,
            ..PodFacts::default()
        })),
        deletion: Some(Deletion { grace_seconds: 30 }),
        ..sketch_object("Pod/n/p{x/y}")
    };
    advice_holds(
        &cluster(vec![sketch_object("Namespace//n"), pod]),
        delete(&["Namespace//n"], BACKGROUND),
    );
    advice_holds(
        &cluster(vec![
            definition(),
            sketch_object("Cake.shop.example/n/c{x/y}"),
        ]),
        delete(&[DEFINITION], BACKGROUND),
    );
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn following_the_advice_unblocks_random_owner_graphs(
        shapes in prop::collection::vec((any::<bool>(), prop::collection::vec((0..8_usize, any::<bool>()), 0..3)), 8),
        policy in prop::option::of(prop::sample::select(vec![Policy::Background, Policy::Foreground, Policy::Orphan])),
    ) {
        let lines = shapes.iter().enumerate().map(|(n, (held, owners))| {
            let owners: Vec<String> =
                owners.iter().map(|(owner, blocking)| format!("{}o{owner}", if *blocking { "!" } else { "" })).collect();
            let held = if *held { "{x/y}" } else { "" };
            if owners.is_empty() { format!("o{n}{held}") } else { format!("o{n}{held} -> {}", owners.join(", ")) }
        });
        let objects: Vec<Object> = lines.map(|line| sketch_object(&line)).collect();
        let cluster = cluster(objects);
        advice_holds(&cluster, delete(&["o0"], policy));
        // Graphs can be parsed for any cluster.
        let steps = [delete(&["o0", "o1"], policy)];
        let simulated = simulate(&cluster, &steps, &unsearched());
        read_mermaid(&render(PlanFormat::Mermaid, &view(&simulated, &steps), &Options::default()));
        read_dot(&render(PlanFormat::Dot, &view(&simulated, &steps), &Options::default()));
    }
}
