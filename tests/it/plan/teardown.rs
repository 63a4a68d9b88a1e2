//! `plan teardown` for users: the tools, other objects of the cluster, and the JSON contract.

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use serde_json::Value;

use crate::formats::schemas::{parsed, schema_errors, validator};
use crate::support::{Repository, fixture, ownerlint};

const CONFIG_MAP: &str =
    "{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME, namespace: shop}}\n";

pub(super) fn config_map(name: &str) -> String {
    CONFIG_MAP.replace("NAME", name)
}

/// Returns the JSON plan for the arguments in a repository, and checks its schema.
pub(super) fn plan(repository: &Repository, arguments: &[&str]) -> Value {
    let (status, out, error) = repository.run(
        &[&["plan", "teardown", "-o", "json"], arguments].concat(),
        "",
    );
    assert_eq!(status, 0, "{arguments:?}: {error}");
    let plan = parsed(&out);
    assert_eq!(
        schema_errors(validator("plan"), &plan),
        [""; 0],
        "{arguments:?}"
    );
    plan
}

fn steps(plan: &Value) -> &[Value] {
    plan["steps"].as_array().expect("steps")
}

fn targets(plan: &Value) -> Vec<&str> {
    steps(plan)
        .iter()
        .map(|step| step["target"].as_str().unwrap_or("-"))
        .collect()
}

/// Returns the fates of the objects in the verdict.
pub(super) fn objects(plan: &Value) -> &serde_json::Map<String, Value> {
    steps(plan).last().expect("a step")["outcomes"][0]["objects"]
        .as_object()
        .expect("objects")
}

#[test]
fn every_request_is_a_step_and_only_the_last_has_outcomes() {
    let repository = Repository::new();
    repository
        .write("out/a.yaml", &config_map("a"))
        .write("out/b.yaml", &config_map("b"));
    let plan = plan(&repository, &["--by", "kubectl", "out"]);
    let [first, last] = steps(&plan) else {
        panic!("two requests: {plan}")
    };
    assert_eq!(
        (
            &first["op"],
            &first["policy"],
            &first["wait"],
            &first["http"]
        ),
        (
            &"delete".into(),
            &"Background".into(),
            &"none".into(),
            &200.into()
        )
    );
    assert_eq!(
        (&first["outcomes"], &first["why"]),
        (&serde_json::json!([]), &serde_json::json!({}))
    );
    assert_eq!(last["wait"], "gone");
    assert_eq!(
        objects(&plan).values().collect::<Vec<_>>(),
        ["gone", "gone"]
    );
    assert_eq!(plan["safeOrder"], serde_json::json!([]));
}

#[test]
fn kubectl_reads_arguments_in_their_order_and_folders_by_name() {
    let repository = Repository::new();
    repository
        .write("b.yaml", &config_map("b"))
        .write("dir/x.yaml", &config_map("x"))
        .write("dir/a/z.yaml", &config_map("z"))
        .write("dir/a.yaml", &config_map("a"));
    let names = |arguments: &[&str]| {
        let plan = plan(&repository, &[&["--by", "kubectl"], arguments].concat());
        let names = targets(&plan)
            .into_iter()
            .map(|key| key.trim_start_matches("ConfigMap/shop/").to_owned());
        names.collect::<Vec<_>>().join(" ")
    };
    // kubectl visits a folder before a file whose name begins with that of the folder.
    assert_eq!(names(&["dir", "b.yaml"]), "z a x b");
    assert_eq!(names(&["./b.yaml", "dir/"]), "b z a x");
    assert_eq!(names(&["dir/x.yaml", "dir"]), "x z a");
}

#[test]
fn objects_beside_the_removal_are_simulated_but_not_requested() {
    let repository = Repository::new();
    repository
        .write(
            "out/ns.yaml",
            "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}",
        )
        .write("other/a.yaml", &config_map("neighbour"))
        .write("other/b.yaml", &config_map("far").replace("shop", "far"));
    let plan = plan(&repository, &["--by", "helm", "out", "--beside", "other"]);
    assert_eq!(targets(&plan), ["Namespace//shop"]);
    assert_eq!(objects(&plan)["ConfigMap/shop/neighbour"], "gone");
    assert_eq!(objects(&plan)["ConfigMap/far/far"]["terminating"], false);
}

#[test]
fn removed_file_is_not_counted_beside_itself() {
    let repository = Repository::new();
    repository
        .write("out/a.yaml", &config_map("a"))
        .write("out/b.yaml", &config_map("b"));
    let plan = plan(
        &repository,
        &["--by", "kubectl", "out/a.yaml", "--beside", "out"],
    );
    assert_eq!(targets(&plan), ["ConfigMap/shop/a"]);
    assert_eq!(objects(&plan)["ConfigMap/shop/b"]["terminating"], false);
}

#[test]
fn teardown_that_keeps_everything_gives_the_reason() {
    let repository = Repository::new();
    repository.write(
        "a.yaml",
        &config_map("a").replace("shop}", "shop, annotations: {helm.sh/hook: post-install}}"),
    );
    let plan = plan(&repository, &["--by", "helm", "a.yaml"]);
    assert_eq!(objects(&plan)["ConfigMap/shop/a"]["terminating"], false);
    assert_eq!(plan["kept"][0]["why"], "a hook is not part of the release");
    assert_eq!(steps(&plan)[0]["op"], "settle");
}

#[test]
fn hooks_already_deleted_by_helm_are_not_listed_as_kept() {
    let hook = |name: &str, more: &str| {
        let annotations = format!("shop, annotations: {{helm.sh/hook: {more}}}}}");
        config_map(name).replace("shop}", &annotations)
    };
    let repository = Repository::new();
    repository
        .write("out/stays.yaml", &hook("stays", "post-install"))
        .write(
            "out/ran.yaml",
            &hook(
                "ran",
                "post-install, helm.sh/hook-delete-policy: 'before-hook-creation, hook-succeeded'",
            ),
        )
        .write("out/test.yaml", &hook("test", "test"));
    let plan = plan(&repository, &["--by", "helm", "out"]);
    assert_eq!(objects(&plan)["ConfigMap/shop/stays"]["terminating"], false);
    assert_eq!(
        (
            &objects(&plan)["ConfigMap/shop/ran"],
            &objects(&plan)["ConfigMap/shop/test"]
        ),
        (&"gone".into(), &"gone".into())
    );
    let kept: Vec<&str> = plan["kept"]
        .as_array()
        .expect("kept")
        .iter()
        .filter_map(|kept| kept["key"].as_str())
        .collect();
    assert_eq!(kept, ["ConfigMap/shop/stays"]);
}

#[test]
fn namespace_teardown_uses_written_or_given_namespace() {
    let repository = Repository::new();
    repository
        .write(
            "ns.yaml",
            "{apiVersion: v1, kind: Namespace, metadata: {name: far}}",
        )
        .write("a.yaml", &config_map("a"))
        .write("b.yaml", &config_map("b").replace("shop", "far"));
    let deleted = |arguments: &[&str]| {
        let plan = plan(&repository, &[&["--by", "namespace"], arguments].concat());
        targets(&plan).join(" ")
    };
    assert_eq!(deleted(&["."]), "Namespace//far");
    assert_eq!(deleted(&["a.yaml"]), "Namespace//shop");
    assert_eq!(
        deleted(&["a.yaml", "b.yaml", "--release-namespace", "far"]),
        "Namespace//far"
    );
    let (status, _, error) = repository.run(
        &["plan", "teardown", "--by", "namespace", "a.yaml", "b.yaml"],
        "",
    );
    assert_eq!(status, 2);
    assert!(
        error.contains("the objects live in 2") && error.contains("--release-namespace"),
        "{error}"
    );
}

#[test]
fn objects_without_namespace_use_the_release_namespace() {
    let repository = Repository::new();
    repository.write(
        "a.yaml",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
    );
    let plan = plan(
        &repository,
        &["--by", "helm", "--release-namespace", "shop", "a.yaml"],
    );
    assert_eq!(targets(&plan), ["ConfigMap/shop/a"]);
}

#[test]
fn application_without_finalizer_keeps_everything() {
    let tracked =
        ", annotations: {\"argocd.argoproj.io/tracking-id\": \"web:/ConfigMap:shop/a\"}}}";
    let application = |finalizers: &str| {
        format!(
            "{{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {{name: web, namespace: argocd{finalizers}}}}}"
        )
    };
    let repository = Repository::new();
    repository
        .write("out/a.yaml", &config_map("a").replace("}}", tracked))
        .write("app.yaml", &application(""));
    let arguments = ["--by", "argocd", "out", "--beside", "app.yaml"];
    let kept = plan(&repository, &arguments);
    // `argocd app delete` would add the finalizer.
    let (_, output, _) = repository.run(&[&["plan", "teardown"], &arguments[..]].concat(), "");
    assert!(
        output.starts_with("kubectl delete application.argoproj.io web -n argocd\n"),
        "{output}"
    );
    assert_eq!(objects(&kept)["ConfigMap/shop/a"]["terminating"], false);
    assert_eq!(
        kept["kept"][0]["why"],
        "what delivers it has no resources finalizer"
    );
    repository.write(
        "app.yaml",
        &application(", finalizers: [resources-finalizer.argocd.argoproj.io/background]"),
    );
    let deleted = plan(&repository, &arguments);
    assert_eq!(objects(&deleted)["ConfigMap/shop/a"], "gone");
    assert_eq!(steps(&deleted)[0]["policy"], "Background");
}

#[test]
fn kustomization_of_the_removed_path_decides_the_deletion() {
    let kustomization = |spec: &str| {
        format!(
            "{{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {{name: web, namespace: flux-system}}, spec: {{path: ./apps/web, sourceRef: {{kind: GitRepository, name: flux-system}}, {spec}}}}}"
        )
    };
    let repository = Repository::new();
    repository.write("apps/web/a.yaml", &config_map("a"));
    for (spec, ending) in [
        ("prune: true", true),
        ("prune: true, suspend: true", false),
        ("prune: false", false),
    ] {
        repository.write("clusters/web.yaml", &kustomization(spec));
        let plan = plan(
            &repository,
            &["--by", "flux", "apps/web", "--beside", "clusters"],
        );
        assert_eq!(
            objects(&plan)["ConfigMap/shop/a"] == "gone",
            ending,
            "{spec}"
        );
    }
}

#[test]
fn stuck_teardown_fails_only_with_fail_on_stuck() {
    let repository = Repository::new();
    repository.write(
        "a.yaml",
        &config_map("a").replace("shop}", "shop, finalizers: [example.com/nobody]}"),
    );
    let arguments = ["plan", "teardown", "--by", "helm", "a.yaml"];
    assert_eq!(repository.run(&arguments, "").0, 0);
    assert_eq!(
        repository
            .run(&[&arguments[..], &["--fail-on", "stuck"]].concat(), "")
            .0,
        1
    );
}

#[test]
fn safe_order_patches_only_objects_nothing_releases() {
    let repository = Repository::new();
    repository
        .write(
            "a.yaml",
            &config_map("a").replace("shop}", "shop, finalizers: [example.com/nobody]}"),
        )
        .write("b.yaml", &config_map("b"));
    let plan = plan(&repository, &["--by", "kubectl", "."]);
    let commands = plan["safeOrder"].as_array().expect("commands");
    assert_eq!(commands.len(), 1, "{commands:?}");
    let command = commands[0]["command"].as_str().expect("a command");
    assert!(
        command.starts_with("kubectl patch configmap a -n shop --type=json"),
        "{command}"
    );
    assert_eq!(objects(&plan)["ConfigMap/shop/a"]["terminating"], true);
}

/// Returns an object in the form of a dump.
fn live(api_version: &str, kind: &str, name: &str, metadata: &str) -> String {
    format!(
        "apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: shop, uid: {kind}-{name}, \
         resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', {metadata}}}\n---\n"
    )
}

const OF_RELEASE: &str =
    "annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: shop}";

/// Returns the Secret in which Helm stores a revision of a release.
fn record(release: &str, revision: &str) -> String {
    let labels = format!("labels: {{owner: helm, name: {release}, version: '{revision}'}}");
    live(
        "v1",
        "Secret",
        &format!("sh.helm.release.v1.{release}.v{revision}"),
        &labels,
    )
}

#[test]
fn helm_uninstall_deletes_release_records_last() {
    let repository = Repository::new();
    let dump = [
        record("web", "1"),
        record("web", "2"),
        record("other", "1"),
        live("v1", "ConfigMap", "web", OF_RELEASE),
    ];
    repository
        .write("dump.yaml", &dump.concat())
        .write("web.yaml", &config_map("web"));
    for arguments in [
        &["--by", "helm", "dump.yaml"][..],
        &["--by", "helm", "web.yaml", "--beside", "dump.yaml"],
    ] {
        let plan = plan(&repository, arguments);
        let records = [
            "Secret/shop/sh.helm.release.v1.web.v1",
            "Secret/shop/sh.helm.release.v1.web.v2",
        ];
        assert_eq!(
            targets(&plan),
            [&["ConfigMap/shop/web"][..], &records].concat(),
            "{arguments:?}"
        );
        assert_eq!(
            objects(&plan)["Secret/shop/sh.helm.release.v1.other.v1"]["terminating"],
            false
        );
    }
}

#[test]
fn failed_helm_uninstall_keeps_release_records() {
    let webhook = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: hook}\n\
        webhooks: [{name: a.example.com, sideEffects: None, admissionReviewVersions: [v1], clientConfig: {service: {name: none, \
        namespace: shop}}, rules: [{apiGroups: [''], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]}]\n";
    let service = live("v1", "Service", "none", "labels: {}");
    let service = service.replace(
        "---\n",
        "spec: {selector: {a: b}, ports: [{port: 443}]}\n---\n",
    );
    let repository = Repository::new();
    repository
        .write(
            "web.yaml",
            &[
                record("web", "1"),
                live("v1", "ConfigMap", "web", OF_RELEASE),
            ]
            .concat(),
        )
        .write("hook.yaml", &[service, webhook.to_owned()].concat());
    let plan = plan(
        &repository,
        &["--by", "helm", "web.yaml", "--beside", "hook.yaml"],
    );
    assert_eq!(targets(&plan), ["ConfigMap/shop/web"]);
    assert_eq!(
        objects(&plan)["Secret/shop/sh.helm.release.v1.web.v1"]["terminating"],
        false
    );
}

#[test]
fn dump_beside_gives_live_state_of_removed_manifests() {
    let web = "spec: {replicas: 1, selector: {matchLabels: {a: w}}, template: {metadata: {labels: {a: w}}, spec: {containers: [{name: c, image: nginx}]}}}\n";
    let owner = "ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: Deployment-web, controller: true}]";
    let deployment = live(
        "apps/v1",
        "Deployment",
        "web",
        &format!("{OF_RELEASE}, finalizers: [example.com/x]"),
    );
    let replica_set = live("apps/v1", "ReplicaSet", "web-1", owner);
    let with_spec = |object: &str| object.replace("---\n", &format!("{web}---\n"));
    let repository = Repository::new();
    repository.write("dump.yaml", &[with_spec(&deployment), with_spec(&replica_set)].concat()).write(
        "web.yaml",
        &format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop}}\n{web}"),
    );
    let arguments = ["--by", "helm", "web.yaml", "--beside", "dump.yaml"];
    let plan = plan(&repository, &arguments);
    let found: Vec<&String> = objects(&plan).keys().collect();
    assert_eq!(
        found,
        ["Deployment.apps/shop/web", "ReplicaSet.apps/shop/web-1"],
        "nothing is implied below what is there"
    );
    assert_eq!(
        objects(&plan)["Deployment.apps/shop/web"]["finalizers"],
        serde_json::json!(["example.com/x"])
    );
    let (_, output, _) = repository.run(&[&["plan", "teardown"], &arguments[..]].concat(), "");
    assert!(
        !output.contains("more than once") && output.contains("helm uninstall web -n shop"),
        "{output}"
    );
}

#[test]
fn flux_honours_annotations_of_the_live_object() {
    let repository = Repository::new();
    repository
        .write(
            "dump.yaml",
            &live(
                "v1",
                "ConfigMap",
                "a",
                "annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}",
            ),
        )
        .write("a.yaml", &config_map("a"));
    let plan = plan(
        &repository,
        &["--by", "flux", "a.yaml", "--beside", "dump.yaml"],
    );
    assert_eq!(plan["kept"][0]["key"], "ConfigMap/shop/a");
}

#[test]
fn release_name_is_taken_from_object_labels() {
    let labelled =
        |labels: &str| config_map("a").replace("shop}", &format!("shop, labels: {{{labels}}}}}"));
    for (labels, release) in [
        (
            "app.kubernetes.io/instance: web, app.kubernetes.io/managed-by: Helm",
            "web",
        ),
        (
            "app.kubernetes.io/instance: web, helm.sh/chart: shop-1.0.0",
            "web",
        ),
        ("release: web, heritage: Tiller", "web"),
        ("app.kubernetes.io/instance: web", "RELEASE"),
        (
            "app.kubernetes.io/instance: release-name, app.kubernetes.io/managed-by: Helm",
            "RELEASE",
        ),
    ] {
        let repository = Repository::new();
        repository.write("a.yaml", &labelled(labels));
        let (_, output, _) = repository.run(&["plan", "teardown", "--by", "helm", "a.yaml"], "");
        assert!(
            output.starts_with(&format!("helm uninstall {release} -n shop\n")),
            "{labels}: {output}"
        );
    }
}

#[test]
fn helm_uninstall_deletes_one_release() {
    let repository = Repository::new();
    let of_release = |name: &str, release: &str| {
        let labels = format!(
            "labels: {{app.kubernetes.io/managed-by: Helm, app.kubernetes.io/instance: {release}}}"
        );
        config_map(name).replace("namespace", &format!("{labels}, namespace"))
    };
    repository
        .write("a.yaml", &of_release("a", "web"))
        .write("b.yaml", &of_release("b", "shop"))
        .write("plain.yaml", &config_map("plain"));
    let plan = plan(&repository, &["--by", "helm", "."]);
    assert_eq!(
        targets(&plan),
        ["ConfigMap/shop/a", "ConfigMap/shop/plain"],
        "{plan}"
    );
    let notes = plan["notes"].to_string();
    assert!(notes.contains("Release `shop` keeps 1 object"), "{notes}");
    assert!(
        notes.contains("1 object without a label or annotation of a release"),
        "{notes}"
    );
}

#[test]
fn racing_objects_are_reported_one_by_one() {
    let cluster = fixture("plan/safe-order/two-workloads-one-image.yaml");
    let engine = cluster.rsplit("---\n").next().expect("a document");
    let engines: Vec<String> = ["f", "g"]
        .map(|name| engine.replace("name: e,", &format!("name: {name},")))
        .to_vec();
    let repository = Repository::new();
    repository.write(
        "cluster.yaml",
        &[std::slice::from_ref(&cluster), &engines[..]]
            .concat()
            .join("\n---\n"),
    );
    let arguments = [
        "--by",
        "namespace",
        "--release-namespace",
        "l",
        "cluster.yaml",
    ];
    let plan = plan(&repository, &arguments);
    let outcomes = steps(&plan).last().expect("a step")["outcomes"]
        .as_array()
        .expect("outcomes");
    let gone =
        |objects: &Value, name: &str| objects[format!("Engine.longhorn.io/l/{name}")] == "gone";
    let mixtures: std::collections::BTreeSet<Vec<bool>> = outcomes
        .iter()
        .map(|one| {
            ["e", "f", "g"]
                .map(|name| gone(&one["objects"], name))
                .to_vec()
        })
        .collect();
    assert_eq!(mixtures.len(), 8, "every mixture of three");
    let (_, output, _) = repository.run(&[&["plan", "teardown"], &arguments[..]].concat(), "");
    for name in ["e", "f", "g"] {
        assert!(
            output.contains(&format!("- Engine.longhorn.io/l/{name} is deleted")),
            "{output}"
        );
    }
}

#[test]
fn teardown_of_folder_without_objects_exits_with_3() {
    let repository = Repository::new();
    repository
        .write("out/readme.yaml", "# nothing\n")
        .write("other/a.yaml", &config_map("a"));
    let (status, ..) = repository.run(
        &[
            "plan", "teardown", "--by", "helm", "out", "--beside", "other",
        ],
        "",
    );
    assert_eq!(status, 3);
}

/// Returns the ConfigMap `name` with a label or annotation in flow style.
fn marked(name: &str, marks: &str) -> String {
    config_map(name).replace("namespace", &format!("{marks}, namespace"))
}

const OF_HELM: &str = "labels: {app.kubernetes.io/managed-by: Helm, helm.sh/chart: web-1.0.0, app.kubernetes.io/instance: web}";

#[test]
fn teardown_without_tool_takes_the_one_that_delivers_everything() {
    let repository = Repository::new();
    repository.write("a.yaml", &marked("a", OF_HELM));
    repository.write("b.yaml", &marked("b", OF_HELM));
    let (status, output, error) = repository.run(&["plan", "teardown", "a.yaml", "b.yaml"], "");
    assert_eq!(status, 0, "{error}");
    assert!(
        output.starts_with("helm uninstall web -n shop\n"),
        "{output}"
    );
    assert!(
        output.contains("By Helm, which delivers all objects"),
        "{output}"
    );
    repository.write(
        "c.yaml",
        &marked("c", "labels: {kustomize.toolkit.fluxcd.io/name: apps}"),
    );
    let (status, _, error) = repository.run(&["plan", "teardown", "."], "");
    assert_eq!(status, 2);
    assert!(
        error.contains(
            "it is not clear which tool removes the objects: 1 object of Flux, 2 objects of Helm"
        ) && error.contains("`--by TOOL`"),
        "{error}"
    );
    repository.write("d.yaml", &config_map("d"));
    let (status, _, error) = repository.run(&["plan", "teardown", "d.yaml"], "");
    assert_eq!(status, 2);
    assert!(
        error.contains("1 object without marks of a tool"),
        "{error}"
    );
}

#[test]
fn deleted_definition_takes_objects_outside_the_input() {
    let crd = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: cakes.shop.example}, \
        spec: {group: shop.example, scope: Namespaced, names: {plural: cakes, kind: Cake}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}";
    let repository = Repository::new();
    repository
        .write("out/a.yaml", &config_map("a"))
        .write("out/crd.yaml", crd);
    let note = "in all namespaces, in the input or not, and the garbage collector deletes their dependents: \
        Cake.shop.example.";
    for by in ["helm", "kubectl", "flux"] {
        let plan = plan(&repository, &["--by", by, "out"]);
        assert!(plan["notes"][0].to_string().contains(note), "{by}: {plan}");
    }
    // Argo CD keeps it.
    let kept = plan(&repository, &["--by", "argocd", "out"]);
    assert!(!kept["notes"].to_string().contains(note), "{kept}");
    let reason = "deleted by this step, with every object of its kind in the cluster";
    for format in ["human", "markdown", "html"] {
        let arguments = [
            "plan",
            "delete",
            "crd/cakes.shop.example",
            "-f",
            "out",
            "-o",
            format,
        ];
        let (_, output, _) = repository.run(&arguments, "");
        assert!(output.contains(reason), "{format}: {output}");
    }
}

#[test]
fn argocd_deletes_one_application() {
    let application = |name: &str, path: &str| {
        format!(
            "{{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {{name: {name}, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}}, \
             spec: {{source: {{repoURL: 'https://example.org/a.git', path: {path}}}, destination: {{server: 'https://kubernetes.default.svc', namespace: shop}}}}}}"
        )
    };
    let repository = Repository::new();
    repository
        .write("apps/root.yaml", &application("root", "children"))
        .write("children/child.yaml", &application("child", "web"))
        .write(
            "children/z.yaml",
            &application("z", "other")
                .replace(", finalizers: [resources-finalizer.argocd.argoproj.io]", ""),
        )
        .write("web/a.yaml", &config_map("a"))
        .write("other/b.yaml", &config_map("b"));
    let plan = plan(&repository, &["--by", "argocd", "."]);
    let notes = plan["notes"].to_string();
    assert!(notes.contains("Application `z` keeps 1 object"), "{notes}");
    let mut gone: Vec<&str> = objects(&plan)
        .iter()
        .filter(|(_, fate)| *fate == "gone")
        .map(|(key, _)| key.as_str())
        .collect();
    gone.sort_unstable();
    assert_eq!(
        gone,
        [
            "Application.argoproj.io/argocd/child",
            "Application.argoproj.io/argocd/root",
            "Application.argoproj.io/argocd/z",
            "ConfigMap/shop/a"
        ],
        "{plan}"
    );
}

#[test]
fn objects_tracked_by_several_applications_need_a_choice() {
    let tracked = |name: &str, id: &str| {
        marked(
            name,
            &format!(
                "annotations: {{argocd.argoproj.io/tracking-id: '{id}:/ConfigMap:shop/{name}'}}"
            ),
        )
    };
    let repository = Repository::new();
    repository
        .write("a.yaml", &tracked("a", "web"))
        .write("b.yaml", &tracked("b", "other"))
        .write("c.yaml", &config_map("c"));
    let (status, _, error) = repository.run(&["plan", "teardown", "--by", "argocd", "."], "");
    assert_eq!(status, 2);
    assert!(
        error.contains("several Applications deliver the objects: `other`, `web`"),
        "{error}"
    );
}

#[test]
fn teardown_rejects_unknown_tool() {
    ownerlint()
        .args(["plan", "teardown", "--by", "argo", "fixtures/plan"])
        .assert()
        .code(2)
        .stderr(contains("argocd").and(contains("flux")));
}

/// The folder of an Application contains the set of further ones.
#[test]
fn teardown_by_argo_cd_deletes_the_application_above_all_others() {
    let application = |name: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd, finalizers: \
             [resources-finalizer.argocd.argoproj.io]}}\nspec:\n  source: {{repoURL: https://example.org/a.git, path: {name}}}\n  \
             destination: {{server: https://kubernetes.default.svc, namespace: shop}}\n"
        )
    };
    let repository = Repository::new();
    repository.write("root.yaml", &application("media"));
    repository.write("media/web.yaml", &application("web"));
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
    repository.write("web/a.yaml", config);
    let teardown = ["plan", "teardown", "--by", "argocd", "."];
    let (_, text, error) = repository.run(&teardown, "");
    assert!(text.contains("argocd app delete media"), "{text}{error}");
    assert!(text.contains("ConfigMap/shop/a"), "{text}");
}
