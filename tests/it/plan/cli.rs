//! `plan` for users: targets, assumptions, statuses and the JSON contract.

use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use serde_json::{Value, json};

use crate::formats::schemas::{parsed, schema_errors, validator};
use crate::support::{Repository, ownerlint};

const RENDERED: &str = "fixtures/plan/rendered.yaml";
const DUMP: &str = "fixtures/plan/dump.yaml";

/// Returns the JSON plan for the arguments, and checks its schema.
fn plan(arguments: &[&str]) -> Value {
    let output = ownerlint()
        .arg("plan")
        .args(arguments)
        .args(["--output", "json"])
        .output()
        .expect("the program runs");
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let plan = parsed(std::str::from_utf8(&output.stdout).expect("the output is text"));
    assert_eq!(
        schema_errors(validator("plan"), &plan),
        [""; 0],
        "{arguments:?}"
    );
    plan
}

#[test]
fn volume_with_delete_policy_is_deleted_after_its_claim() {
    let tree = Repository::new();
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\nspec: {volumeName: disk}\n";
    let volume = "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: disk, finalizers: [kubernetes.io/pv-protection]}\n\
        spec: {persistentVolumeReclaimPolicy: Delete, claimRef: {namespace: shop, name: data}}\n";
    tree.write("claim.yaml", claim);
    let fates = |volume: &str| {
        tree.write("volume.yaml", volume);
        let arguments = ["plan", "delete", "pvc/data", "-f", ".", "-o", "json"];
        let plan = parsed(&tree.run(&arguments, "").1);
        let fate = |key| fate(&plan, key).clone();
        let steps = plan["steps"].as_array().expect("steps").len();
        let keys = ["PersistentVolumeClaim/shop/data", "PersistentVolume//disk"];
        (steps, keys.map(fate))
    };
    assert_eq!(fates(volume), (2, [json!("gone"), json!("gone")]));
    let kept = volume.replace("Delete", "Retain");
    assert_eq!(fates(&kept).0, 1);
    let recycled = volume.replace("Delete", "Recycle");
    assert_eq!(fates(&recycled).0, 1);
}

fn delete(target: &str, more: &[&str]) -> Value {
    plan(&[&["delete", target, "-f", RENDERED][..], more].concat())
}

/// Returns the fate of an object in the verdict of the last step.
fn fate<'p>(plan: &'p Value, key: &str) -> &'p Value {
    let steps = plan["steps"].as_array().expect("steps");
    &steps.last().expect("a step")["outcomes"][0]["objects"][key]
}

/// Returns the fate of an implied object in the verdict of the last step.
fn implied<'p>(plan: &'p Value, key: &str) -> &'p Value {
    let implied = plan["implied"].as_array().expect("a list");
    let found = implied
        .iter()
        .find(|object| object["key"] == key)
        .unwrap_or_else(|| panic!("{key} is not implied"));
    found["outcomes"]
        .as_array()
        .and_then(|outcomes| outcomes.last())
        .expect("an outcome per step")
}

#[test]
fn deleting_flux_kustomization_deletes_delivered_objects() {
    let tree = Repository::new();
    let kustomization = |name: &str, path: &str, more: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
             metadata: {{name: {name}, namespace: flux-system}}\n\
             spec: {{path: {path}, prune: true, {more}sourceRef: {{kind: GitRepository, name: a}}}}\n"
        )
    };
    let object = |name: &str, more: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: web{more}}}\n"
        )
    };
    tree.write("cluster/all.yaml", &kustomization("all", "./apps", ""));
    tree.write("apps/web.yaml", &kustomization("web", "./web", ""));
    tree.write(
        "apps/rests.yaml",
        &kustomization("rests", "./rests", "suspend: true, "),
    );
    tree.write("web/a.yaml", &object("gone", ""));
    let kept = ", annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}";
    tree.write("web/b.yaml", &object("kept", kept));
    tree.write("rests/a.yaml", &object("rests", ""));
    tree.write("else.yaml", &object("elsewhere", ""));
    let (status, text, _) = tree.run(&["plan", "delete", "kustomization/all", "-o", "json"], "");
    assert_eq!(status, 0);
    let plan = parsed(&text);
    let titles: Vec<&str> = plan["steps"]
        .as_array()
        .expect("steps")
        .iter()
        .filter_map(|step| step["because"].as_str())
        .collect();
    let of = "Flux deletes what Kustomization.kustomize.toolkit.fluxcd.io/flux-system";
    assert_eq!(
        titles,
        [format!("{of}/all delivered"), format!("{of}/web delivered")]
    );
    assert_eq!(fate(&plan, "ConfigMap/web/gone"), "gone");
    for name in ["kept", "rests", "elsewhere"] {
        let fate = fate(&plan, &format!("ConfigMap/web/{name}"));
        assert_eq!(fate["terminating"], false, "{name}");
    }
}

fn fails(arguments: &[&str], message: &str, help: &str) {
    let assert = ownerlint().arg("plan").args(arguments).assert().code(2);
    assert
        .stderr(contains(message).count(1).and(contains(help)))
        .stdout("");
}

#[test]
fn targets_accept_kubectl_notation() {
    for words in [
        &["deployment/web", "-n", "shop"][..],
        &["deploy/web", "-n", "shop"],
        &["deploy", "web", "-n", "shop"],
        &["Deployments.apps/web", "--namespace", "shop"],
        &["deployments.v1.apps/web", "-n", "shop"],
        &["Deployment.apps/shop/web"],
        &["deploy/shop/web"],
    ] {
        let plan = plan(&[&["delete"], words, &["-f", RENDERED]].concat());
        assert_eq!(
            plan["steps"][0]["target"], "Deployment.apps/shop/web",
            "{words:?}"
        );
        assert_eq!(plan["steps"][0]["policy"], "Background", "{words:?}");
    }
    for (word, key) in [
        (
            "crd/foos.example.com",
            "CustomResourceDefinition.apiextensions.k8s.io//foos.example.com",
        ),
        ("foos.example.com/one", "Foo.example.com/shop/one"),
        ("fo/one", "Foo.example.com/shop/one"),
        ("svc/web", "Service/shop/web"),
        ("ns/shop", "Namespace//shop"),
        ("sts/db", "StatefulSet.apps/shop/db"),
        ("mystery/m", "Mystery.unknown.example.org/shop/m"),
    ] {
        assert_eq!(delete(word, &[])["steps"][0]["target"], key, "{word}");
    }
}

#[test]
fn several_targets_are_requested_in_one_step() {
    let plan = plan(&[
        "delete",
        "cm/bound",
        "cm/unbound",
        "svc/web",
        "-f",
        RENDERED,
        "--cascade",
        "foreground",
    ]);
    let step = &plan["steps"][0];
    assert_eq!(plan["steps"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&step["target"], &step["http"], &step["policy"]),
        (
            &json!("ConfigMap/shop/bound"),
            &json!(200),
            &json!("Foreground")
        )
    );
    assert_eq!(
        step["requests"][2],
        json!({"target": "Service/shop/web", "http": 200})
    );
    for key in [
        "ConfigMap/shop/bound",
        "ConfigMap/shop/unbound",
        "Service/shop/web",
    ] {
        assert_eq!(fate(&plan, key), "gone");
    }
}

#[test]
fn missing_target_error_suggests_nearest_names() {
    let ask = |words: &[&str], message: &str, help: &str| {
        fails(
            &[&["delete"], words, &["-f", RENDERED]].concat(),
            message,
            help,
        );
    };
    ask(
        &["deploy/wbe", "-n", "shop"],
        "there is no `deploy/wbe -n shop` in the input",
        "Deployment.apps/shop/web",
    );
    ask(
        &["cm/web"],
        "there is no `cm/web` in the input",
        "ConfigMap/shop/bound",
    );
    ask(
        &["deploymnet/web"],
        "there is no `deploymnet` in the input",
        "did you mean `deployment`?",
    );
    ask(
        &["ingress/web"],
        "there is no `ingress` in the input",
        "the input contains",
    );
    ask(
        &["ns/shpo"],
        "there is no `ns/shpo` in the input",
        "Namespace//shop",
    );
    ask(
        &["web"],
        "`web` does not say which object",
        "deployment/web",
    );
    let file = RENDERED;
    let read = format!("`ownerlint plan delete svc web -f {file}`");
    ask(
        &["svc", "web", file],
        &format!("`{file}` does not say which object"),
        &read,
    );
    ask(
        &["svc/web", "rendered/"],
        "`rendered/` does not say which object",
        "`ownerlint plan delete svc/web -f rendered/`",
    );
    ask(
        &["deploy", "svc/web"],
        "`deploy` does not say which object",
        "deployment/web",
    );
}

#[test]
fn ambiguous_target_error_lists_both_namespaces() {
    let help = "`Deployment.apps/lab/web`, `Deployment.apps/shop/web`";
    let assert = ownerlint()
        .env("COLUMNS", "160")
        .args(["plan", "delete", "deploy/web", "-f", RENDERED])
        .assert()
        .code(2);
    assert.stderr(
        contains("`deploy/web` matches 2 objects")
            .and(contains("-n NAMESPACE"))
            .and(contains(help)),
    );
}

#[test]
fn misuse_is_reported_once() {
    fails(&[], "there is nothing to plan", "plan delete TARGET");
    fails(&[RENDERED], "there is nothing to plan", "--steps FILE");
    fails(&["delete"], "required", "<TARGET>");
    fails(
        &["delete", "svc/web", "--cascade", "gently"],
        "invalid value 'gently'",
        "background",
    );
    fails(
        &["delete", "svc/web", "--output", "jsno"],
        "there is no output format `jsno`",
        "did you mean `json`?",
    );
    fails(
        &["--steps", "no/such.yaml", RENDERED],
        "cannot read `no/such.yaml`",
        "",
    );
    fails(
        &["--steps", "-", "-"],
        "both the steps and the manifests are read from standard input",
        "",
    );
    let steps = |text: &str, message: &str, help: &str| {
        let assert = ownerlint()
            .args(["plan", "--steps", "-", RENDERED])
            .write_stdin(text)
            .assert()
            .code(2);
        assert.stderr(contains(message).and(contains(help)));
    };
    steps(
        "- {op: delte, target: A/b/c}",
        "unknown value `delte` for `op`",
        "did you mean `delete`?",
    );
    steps(
        "- {op: delete, target: web}",
        "`web` does not say which object",
        "Deployment.apps/shop/web",
    );
    steps("op: delete", "is not a list of steps", "steps are a list");
}

#[test]
fn rendered_owner_references_are_bound_by_name() {
    let plan = delete("Deployment.apps/shop/web", &[]);
    assert_eq!(fate(&plan, "ConfigMap/shop/bound"), "gone");
    assert_eq!(
        fate(&plan, "Deployment.apps/lab/web")["terminating"],
        false,
        "another namespace is another owner"
    );
    // The reference to the deleted owner is removed; the other owner is assumed to exist.
    let references = |key: &str| fate(&plan, key)["ownerReferences"].clone();
    let elsewhere = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "elsewhere", "uid": "22222222-aaaa-4aaa-8aaa-222222222222"}]);
    assert_eq!(references("ConfigMap/shop/both"), elsewhere);
    assert_eq!(references("ConfigMap/shop/unbound"), elsewhere);
    assert_eq!(
        fate(&plan, "Deployment.apps/shop/elsewhere"),
        &Value::Null,
        "what is only assumed is not shown"
    );
    assert!(
        plan["notes"]
            .to_string()
            .contains("Deployment.apps/shop/elsewhere, owner of ConfigMap/shop/both")
    );
    assert!(
        !plan.to_string().contains("minted"),
        "uids that were made up stay inside"
    );
}

#[test]
fn assumed_owners_are_not_counted() {
    // 11 objects are written and 12 implied; the assumed owner is neither.
    let human = ownerlint()
        .args(["plan", "delete", "deploy/web", "-n", "shop", "-f", RENDERED])
        .assert()
        .code(0);
    human
        .stdout(contains(
            "5 deleted (3 implied), 0 stuck, 1 kept, 17 untouched",
        ))
        .stdout(contains("kept by Deployment.apps/shop/elsewhere"));
}

#[test]
fn untouched_owner_references_keep_their_written_uids() {
    let plan = delete("svc/web", &[]);
    let references = &fate(&plan, "ConfigMap/shop/bound")["ownerReferences"];
    assert_eq!(references[0]["uid"], "11111111-aaaa-4aaa-8aaa-111111111111");
}

#[test]
fn events_show_uids_as_written() {
    let manifests = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: owner, namespace: shop}\n---\n\
                     apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: role\n  ownerReferences: \
                     [{apiVersion: v1, kind: ConfigMap, name: owner, uid: 11111111-aaaa-4aaa-8aaa-111111111111}]\n";
    let output = ownerlint()
        .args([
            "plan", "delete", "cm/owner", "-n", "shop", "-o", "json", "-f", "-",
        ])
        .write_stdin(manifests)
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(
        text.contains("name: owner, uid: 11111111-aaaa-4aaa-8aaa-111111111111]"),
        "{text}"
    );
    assert!(!text.contains("minted"), "{text}");
}

#[test]
fn objects_created_by_controllers_are_listed_as_implied_only() {
    let plan = delete("deploy/web", &["-n", "shop"]);
    for key in [
        "ReplicaSet.apps/shop/web-<hash>",
        "Pod/shop/web-<hash>-<1>",
        "Pod/shop/web-<hash>-<2>",
    ] {
        assert_eq!(implied(&plan, key), "gone");
        assert_eq!(fate(&plan, key), &Value::Null);
    }
    assert_eq!(
        implied(&plan, "EndpointSlice.discovery.k8s.io/shop/web-<hash>")["terminating"],
        false
    );
    assert_eq!(implied(&plan, "Endpoints/shop/web")["terminating"], false);
    assert_eq!(
        plan["implied"][0],
        json!({"key": "ReplicaSet.apps/shop/web-<hash>", "owner": "Deployment.apps/shop/web", "rule": "DEP-1", "outcomes": ["gone"]})
    );
    let service = delete("svc/web", &[]);
    assert_eq!(
        implied(&service, "Endpoints/shop/web"),
        "gone",
        "tied by its name [DEP-19]"
    );
    assert_eq!(
        implied(&service, "EndpointSlice.discovery.k8s.io/shop/web-<hash>"),
        "gone"
    );
}

#[test]
fn claim_in_use_waits_for_its_pod_and_retained_claim_stays() {
    let key = "PersistentVolumeClaim/shop/data-db-0";
    let waits = delete("pvc/data-db-0", &[]);
    assert_eq!(
        implied(&waits, key)["finalizers"],
        json!(["kubernetes.io/pvc-protection"])
    );
    assert_eq!(
        implied(&waits, key)["terminating"],
        true,
        "the Pod that mounts it runs on a node"
    );
    assert_eq!(
        implied(&delete("pvc/data-db-0", &["--kubelet", "no"]), key),
        "gone",
        "the Pod was never scheduled"
    );
    let set = delete("sts/db", &[]);
    assert_eq!(implied(&set, "Pod/shop/db-0"), "gone");
    assert_eq!(
        implied(&set, key),
        &json!({"terminating": false, "finalizers": ["kubernetes.io/pvc-protection"], "ownerReferences": []})
    );
}

#[test]
fn cascade_option_sets_the_propagation_policy() {
    let orphan = delete("deploy/web", &["-n", "shop", "--cascade", "orphan"]);
    assert_eq!(
        fate(&orphan, "ConfigMap/shop/bound")["ownerReferences"],
        json!([])
    );
    assert_eq!(
        implied(&orphan, "Pod/shop/web-<hash>-<1>")["terminating"],
        false
    );
    assert_eq!(
        delete("deploy/web", &["-n", "shop", "--cascade", "none"])["steps"][0]["policy"],
        Value::Null
    );
}

/// Returns the plan of deleting `target` from manifests on standard input.
fn plan_of(manifests: &str, target: &str) -> Value {
    let mut command = ownerlint();
    command
        .args(["plan", "delete", target, "-o", "json", "-f", "-"])
        .write_stdin(manifests);
    serde_json::from_slice(&command.output().expect("it runs").stdout).expect("JSON")
}

#[test]
fn rendered_custom_resource_is_deleted_with_its_dependents() {
    let plan = delete("mystery/m", &[]);
    assert_eq!(fate(&plan, "Mystery.unknown.example.org/shop/m"), "gone");
    assert_eq!(fate(&plan, "ConfigMap/shop/of-mystery"), "gone");
    let notes = plan["notes"].to_string();
    assert!(
        notes.contains("treated as installed") && notes.contains("Mystery.unknown.example.org"),
        "{notes}"
    );
    assert!(!notes.contains("Nothing is known"), "{notes}");
}

/// Returns a ConfigMap `c` whose owner is `m`, a `Mystery` of the version `v1`.
fn of_mystery(namespace: &str) -> String {
    let owner = "{apiVersion: example.org/v1, kind: Mystery, name: m, uid: 33333333-aaaa-4aaa-8aaa-333333333333}";
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{namespace}, ownerReferences: [{owner}]}}\n---\n"
    )
}

fn mystery(version: &str, namespace: &str) -> String {
    format!(
        "apiVersion: example.org/{version}\nkind: Mystery\nmetadata: {{name: m{namespace}}}\n---\n"
    )
}

#[test]
fn rendered_object_proves_only_its_own_version() {
    let shop = ", namespace: shop";
    let plan = plan_of(&(mystery("v2", shop) + &of_mystery(shop)), "mystery/m");
    assert_eq!(fate(&plan, "ConfigMap/shop/c")["terminating"], false);
}

#[test]
fn objects_without_namespaces_share_one_namespace() {
    let plan = plan_of(&(mystery("v1", "") + &of_mystery("")), "mystery/m");
    assert_eq!(fate(&plan, "ConfigMap/?/c"), "gone");
}

#[test]
fn owner_of_unknown_scope_keeps_its_dependents() {
    let plan = plan_of(
        &(mystery("v1", "") + &of_mystery(", namespace: shop")),
        "mystery/m",
    );
    assert_eq!(fate(&plan, "ConfigMap/shop/c")["terminating"], false);
    assert!(
        plan["notes"].to_string().contains("Unknown kinds"),
        "{}",
        plan["notes"]
    );
}

#[test]
fn kind_named_only_by_an_owner_reference_stays_unknown() {
    let shop = ", namespace: shop";
    let web = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\n";
    let plan = plan_of(&(of_mystery(shop) + web), "svc/web");
    assert_eq!(fate(&plan, "ConfigMap/shop/c")["terminating"], false);
    assert!(
        !plan["notes"].to_string().contains("Mystery"),
        "{}",
        plan["notes"]
    );
}

#[test]
fn rendered_object_of_a_removed_api_can_be_deleted() {
    let policy = "apiVersion: policy/v1beta1\nkind: PodSecurityPolicy\nmetadata: {name: strict}\n";
    let mut command = ownerlint();
    command.args([
        "plan",
        "delete",
        "PodSecurityPolicy/strict",
        "--cascade",
        "foreground",
    ]);
    let output = command.args(["-o", "json", "-f", "-"]).write_stdin(policy);
    let output = output.output().expect("it runs");
    let plan: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(fate(&plan, "PodSecurityPolicy.policy//strict"), "gone");
    let notes = plan["notes"].to_string();
    assert!(notes.contains("no longer serves them"), "{notes}");
}

#[test]
fn rendered_object_proves_no_kind_in_builtin_groups() {
    let manifests = (mystery("v1", ", namespace: shop") + &of_mystery(", namespace: shop"))
        .replace("example.org", "apps");
    let plan = plan_of(&manifests, "mystery/m");
    assert_eq!(fate(&plan, "ConfigMap/shop/c")["terminating"], false);
}

#[test]
fn dumped_object_proves_that_its_version_is_served() {
    let object = |api_version: &str, kind: &str, name: &str, uid: u8, owner: &str| {
        let uid = format!("0a000000-0000-4000-8000-{uid:012}");
        let metadata =
            format!("{{name: {name}, namespace: shop, uid: {uid}, resourceVersion: '1'{owner}}}");
        format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {metadata}\n---\n")
    };
    let owned_by = |api_version: &str| {
        format!(
            ", ownerReferences: [{{apiVersion: {api_version}, kind: Ship, name: s, uid: 0a000000-0000-4000-8000-{:012}}}]",
            1
        )
    };
    let dump = object("example.com/v1", "Ship", "s", 1, "")
        + &object(
            "v1",
            "ConfigMap",
            "same-version",
            2,
            &owned_by("example.com/v1"),
        )
        + &object(
            "v1",
            "ConfigMap",
            "other-version",
            3,
            &owned_by("example.com/v1alpha1"),
        );
    let plan_of = |dump: &str| plan_of(dump, "ship/s");
    let homeless = object("example.com/v1", "Ship", "t", 4, "").replace(", namespace: shop", "");
    let disagreeing = plan_of(&format!("{dump}{homeless}"));
    assert_eq!(
        fate(&disagreeing, "ConfigMap/shop/same-version")["terminating"],
        false,
        "is it namespaced or not?"
    );
    let plan = plan_of(&dump);
    assert_eq!(fate(&plan, "ConfigMap/shop/same-version"), "gone");
    assert_eq!(
        fate(&plan, "ConfigMap/shop/other-version")["terminating"],
        false,
        "nothing proves that version"
    );
    assert!(
        plan["notes"].to_string().contains("Ship.example.com"),
        "{}",
        plan["notes"]
    );
}

#[test]
fn namespace_is_assumed_for_the_objects_in_it() {
    let plan = delete("ns/shop", &[]);
    let namespace = fate(&plan, "Namespace//shop");
    assert_eq!(
        (&namespace["terminating"], &namespace["spec.finalizers"]),
        (&json!(true), &json!(["kubernetes"]))
    );
    let conditions = namespace["conditions"].to_string();
    assert!(
        conditions.contains("foos.example.com has 1 resource instances"),
        "{conditions}"
    );
    assert!(
        conditions.contains("example.com/clean-up in 1 resource instances"),
        "{conditions}"
    );
    assert_eq!(fate(&plan, "Deployment.apps/lab/web")["terminating"], false);
    assert_eq!(
        fate(&delete("svc/web", &[]), "Namespace//shop"),
        &Value::Null,
        "unless it is asked for"
    );
}

#[test]
fn stuck_objects_fail_only_with_fail_on_stuck() {
    let run = |more: &[&str]| {
        ownerlint()
            .args(["plan", "delete", "foos.example.com/one", "-f", RENDERED])
            .args(more)
            .assert()
    };
    run(&[]).code(0);
    run(&["--fail-on", "stuck"]).code(1);
    ownerlint()
        .args([
            "plan",
            "delete",
            "svc/web",
            "-f",
            RENDERED,
            "--fail-on",
            "stuck",
        ])
        .assert()
        .code(0);
}

#[test]
fn dump_settles_before_the_requested_deletion() {
    let plan = plan(&["delete", "cm/owner", "-f", DUMP]);
    let ops: Vec<&Value> = plan["steps"]
        .as_array()
        .expect("steps")
        .iter()
        .map(|step| &step["op"])
        .collect();
    assert_eq!(ops, ["settle", "delete"]);
    let settled = &plan["steps"][0]["outcomes"][0]["objects"];
    assert_eq!(settled["Secret/shop/orphaned"], "gone");
    assert_eq!(settled["ConfigMap/shop/owned"]["terminating"], false);
    assert_eq!(fate(&plan, "ConfigMap/shop/owned"), "gone");
    assert_eq!(
        fate(&plan, "Secret/shop/at-home")["ownerReferences"][0]["uid"],
        "0a000000-0000-4000-8000-000000000008"
    );
    assert!(
        plan["notes"]
            .to_string()
            .contains("ConfigMap/shop/gone, owner of Secret/shop/orphaned")
    );
    assert_eq!(
        plan["implied"],
        json!([]),
        "nothing is implied below a dump"
    );
}

#[test]
fn input_without_objects_exits_with_3() {
    let empty = tempfile::tempdir().expect("a folder");
    let path = empty.path().to_str().expect("a plain path");
    ownerlint()
        .args(["plan", "delete", "svc/web", "-f", path])
        .assert()
        .code(3)
        .stderr(contains("no Kubernetes object found"));
}

#[test]
fn verbose_plan_cites_semantics_rules() {
    let shown = |more: &[&str]| {
        let arguments = [
            &["plan", "delete", "deploy/web", "-n", "shop", "-f", RENDERED],
            more,
        ]
        .concat();
        let output = ownerlint().args(arguments).output().expect("it runs");
        String::from_utf8(output.stdout).expect("text")
    };
    let plain = shown(&[]);
    assert!(plain.contains("owned by it\n"), "{plain}");
    assert!(!plain.contains("GC-") && !plain.contains("DEP-"), "{plain}");
    assert!(shown(&["-v"]).contains("owned by it [GC-12, GC-22]\n"));
}

#[test]
fn unused_version_without_crd_may_still_be_served() {
    let widget =
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: one, namespace: shop}\n---\n";
    let owned = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n  namespace: shop\n  ownerReferences: [{apiVersion: \
                 example.com/v2, kind: Widget, name: one, uid: 0a000000-0000-4000-8000-000000000001}]\n";
    let definition = "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: \
                      widgets.example.com}\nspec: {group: example.com, scope: Namespaced, names: {kind: Widget, plural: widgets}, \
                      versions: [{name: v1, served: true, storage: true}]}\n";
    let told = |definition: &str| {
        let mut command = ownerlint();
        command
            .args(["plan", "delete", "widget/one", "-f", "-"])
            .write_stdin([widget, owned, definition].concat());
        String::from_utf8(command.output().expect("it runs").stdout)
            .expect("UTF-8")
            .replace("\n    ", " ")
    };
    let open = told("");
    assert!(
        open.contains("nothing in the input shows that the cluster serves Widget (example.com/v2)"),
        "{open}"
    );
    let known = told(definition);
    assert!(
        known.contains("the cluster does not serve Widget (example.com/v2)"),
        "{known}"
    );
}

#[test]
fn commands_contain_no_invented_pod_names() {
    let manifests = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\n---\n\
        apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  replicas: 2\n  \
        selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec:\n      \
        containers: [{name: web, image: web}]\n      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]\n";
    let tree = Repository::new();
    tree.write("a.yaml", manifests);
    let (_, said, _) = tree.run(&["plan", "delete", "pvc/data", "-n", "shop"], "");
    assert_eq!(
        said.matches("kubectl delete pod NAME -n shop\n").count(),
        1,
        "{said}"
    );
    assert!(!said.contains("kubectl delete pod 'web"), "{said}");
}

#[test]
fn product_is_named_after_the_generator_as_kustomize_names_it() {
    let tree = Repository::new();
    tree.write(
        "kustomization.yaml",
        "namePrefix: prod-\nnamespace: shop\nresources: [a.yaml]\n",
    );
    let scaled = "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: web}\nspec: {scaleTargetRef: {name: web}}\n";
    tree.write("a.yaml", scaled);
    let (_, said, _) = tree.run(
        &["plan", "delete", "scaledobject/prod-web", "-n", "shop"],
        "",
    );
    assert!(said.contains("keda-hpa-prod-web"), "{said}");
    assert!(!said.contains("keda-hpa-web"), "{said}");
}

#[test]
fn unknown_scope_is_noted_where_a_namespace_is_given() {
    let scaled = "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: web}\n";
    let tree = Repository::new();
    tree.write("a.yaml", scaled);
    let (_, said, _) = tree.run(&["plan", "delete", "scaledobject/web", "-n", "shop"], "");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("The scope of these kinds is not known"),
        "{said}"
    );
    assert!(!said.contains("`-n` names it"), "{said}");
}
