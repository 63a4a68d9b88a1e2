//! `list --deliveries`: which objects of a tree are applied to which cluster, and by what.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use regex::Regex;
use serde_json::Value;

use crate::diff::places::Folder;
use crate::formats::schemas::{parsed, schema_errors, validator};
use crate::support::{Repository, ownerlint, root, skip};

const EXAMPLE: &str = "fixtures/examples/flux";

fn listed(folder: &Path, arguments: &[&str]) -> String {
    let mut command = ownerlint();
    command
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .current_dir(folder)
        .args(["list", "--deliveries"])
        .args(arguments);
    let output = command.output().expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).expect("text")
}

pub(super) fn document(folder: &Path, arguments: &[&str]) -> Value {
    let text = listed(folder, &[arguments, &["--output", "json"]].concat());
    let document = parsed(&text);
    assert_eq!(schema_errors(validator("deliveries"), &document), [""; 0]);
    document
}

#[test]
fn flux_deliveries_are_listed_by_cluster() {
    let text = listed(root(), &[EXAMPLE]);
    insta::assert_snapshot!(text);
}

/// For a file, the deliveries of its repository that use it are listed.
#[test]
fn deliveries_of_a_file_are_those_of_its_repository_that_use_it() {
    let repository = Repository::new();
    repository.copy(&root().join(EXAMPLE));
    let names = |file: &str| {
        let listed = document(&repository.path(), &[file]);
        let all = listed["deliveries"].as_array().expect("a list").iter();
        let all = all.map(|one| {
            let count = one["instances"].as_array().expect("a list").len();
            format!("{} {count}", one["id"].as_str().expect("an id"))
        });
        all.collect::<Vec<_>>()
    };
    let files = [
        "apps/base/web.yaml",
        "apps/stage/kustomization.yaml",
        "apps/prod/cache.yaml",
        "clusters/stage/apps.yaml",
    ];
    insta::assert_debug_snapshot!(files.map(|file| (file, names(file))));
    repository.write("README.md", "# Shop\n");
    let mut unused = ownerlint();
    unused
        .current_dir(repository.path())
        .args(["list", "--deliveries", "README.md"]);
    let output = unused.output().expect("it runs");
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(
        said.contains("no delivery that was read uses `README.md`"),
        "{said}"
    );
}

#[test]
fn argo_cd_deliveries_are_listed_by_control_plane() {
    let example = "fixtures/examples/argocd";
    let text = listed(root(), &[example]);
    insta::assert_snapshot!(text);
}

#[test]
fn possible_applications_are_counted_below_the_first_three() {
    let set = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: all, namespace: argocd}\nspec:\n  \
        generators: [{matrix: {generators: [{scmProvider: {github: {organization: a}}}, {git: {repoURL: 'https://git.example.org/fleet.git', \
        directories: [{path: 'svc/*'}]}}]}}]\n  template:\n    metadata: {name: '{{path.basename}}'}\n    spec:\n      \
        source: {repoURL: 'https://git.example.org/fleet.git', path: '{{path}}'}\n      \
        destination: {server: 'https://kubernetes.default.svc', namespace: shop}\n";
    let folder = Folder::new();
    folder.write("set.yaml", set);
    for name in ["a", "b", "c", "d", "e"] {
        let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
        folder.write(&format!("svc/{name}/{name}.yaml"), &text);
    }
    insta::assert_snapshot!(listed(folder.path(), &[]));
}

#[test]
fn graphs_and_html_nest_deliveries_below_their_parents() {
    let example = "fixtures/examples/argocd";
    for format in ["mermaid", "dot"] {
        insta::assert_snapshot!(format, listed(root(), &[example, "--output", format]));
    }
    let html = listed(root(), &[example, "--output", "html"]);
    let names = [
        "<b>bootstrap</b>",
        ">Application argocd/root ",
        ">ApplicationSet argocd/services ",
        ">Application argocd/cart ",
        "<code>StatefulSet.apps/shop/cart</code>",
    ];
    let places = names.map(|name| html.find(name).expect(name));
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(
        html.matches("<details").count(),
        html.matches("</details>").count()
    );
    assert!(!html.contains("<script"));
}

#[test]
fn mermaid_graph_is_truncated_and_hostile_names_are_escaped() {
    let folder = Folder::new();
    let kustomization = |name: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: '{name}', namespace: a}}\nspec: {{path: './<b>\"x', sourceRef: {{kind: GitRepository, name: a}}}}\n---\n"
        )
    };
    let many: String = (0..400)
        .map(|number| kustomization(&format!("k{number}")))
        .collect();
    folder.write("a.yaml", &(kustomization("<b>\"]") + &many));
    let mermaid = listed(folder.path(), &[".", "--output", "mermaid"]);
    assert!(mermaid.matches(" --> ").count() <= 500);
    assert!(mermaid.contains("more[\""), "{mermaid}");
    for format in ["mermaid", "dot", "html"] {
        let text = listed(folder.path(), &[".", "--output", format]);
        assert!(!text.contains("<b>\"]"), "{format}");
    }
}

#[test]
fn list_of_key_finds_deliveries_of_generated_application() {
    let document = document(
        root(),
        &[
            "fixtures/examples/argocd",
            "--of",
            "Application.argoproj.io/argocd/platform-us",
        ],
    );
    let deliveries = document["deliveries"].as_array().expect("a list").iter();
    let found: Vec<String> = deliveries
        .map(|one| {
            format!(
                "{} {}",
                one["id"].as_str().expect("an id"),
                one["certainty"].as_str().expect("a word")
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            "bootstrap|Application.argoproj.io/argocd/root certain",
            "bootstrap|ApplicationSet.argoproj.io/argocd/platform certain"
        ]
    );
}

/// Returns the objects of the deliveries of `target`, and those above them.
fn listed_of(folder: &Path, target: &[&str]) -> Vec<String> {
    keys_of(&document(folder, &[&[".", "--of"], target].concat()))
}

/// Returns the keys of all listed objects.
fn keys_of(document: &Value) -> Vec<String> {
    let deliveries = document["deliveries"].as_array().expect("a list").iter();
    let instances = deliveries.flat_map(|one| one["instances"].as_array().expect("a list"));
    let keys = instances.map(|one| one["key"].as_str().expect("a key").to_owned());
    keys.collect()
}

#[test]
fn list_of_object_takes_names_of_kubectl() {
    let folder = &root().join(EXAMPLE);
    let key = "Deployment.apps/shop/web-prod";
    let expected = listed_of(folder, &[key]);
    assert!(expected.iter().any(|one| one == key), "{expected:?}");
    for target in [
        &["deploy/web-prod"][..],
        &["deploy web-prod"],
        &["deployments.apps/web-prod"],
        &["deployment/web-prod", "--namespace", "shop"],
        &["deploy/web-prod -n shop"],
        &["Deployment.apps/?/web-prod"],
        &["Deployment.apps//web-prod"],
    ] {
        assert_eq!(listed_of(folder, target), expected, "{target:?}");
    }
    let kustomization = "Kustomization.kustomize.toolkit.fluxcd.io/flux-system/apps";
    assert_eq!(
        listed_of(folder, &["ks/apps"]),
        listed_of(folder, &[kustomization])
    );
}

#[test]
fn list_of_short_name_finds_generated_application() {
    let folder = &root().join("fixtures/examples/argocd");
    let key = "Application.argoproj.io/argocd/platform-us";
    let expected = listed_of(folder, &[key]);
    for target in [
        &["app/platform-us"][..],
        &["Application/argocd/platform-us"],
        &["application/platform-us", "-n", "argocd"],
    ] {
        assert_eq!(listed_of(folder, target), expected, "{target:?}");
    }
}

/// The listing of files leaves the namespace open, and the delivery sets it.
#[test]
fn listed_keys_of_files_are_targets() {
    let folder = Folder::new();
    folder
        .write(
            "clusters/prod/apps.yaml",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n\
             spec: {path: ./apps, targetNamespace: shop, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n",
        )
        .write(
            "apps/objects.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n---\n\
             apiVersion: example.com/v1\nkind: Gadget\nmetadata: {name: one}\n---\n\
             apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n\
             spec: {group: example.com, scope: Namespaced, names: {kind: Thing, plural: things, shortNames: [tg]}, \
             versions: [{name: v1, served: true, storage: true}]}\n---\n\
             apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: two}\n",
        );
    let mut list = ownerlint();
    let output = list
        .current_dir(folder.path())
        .arg("list")
        .output()
        .expect("it runs");
    let listed = String::from_utf8(output.stdout).expect("text");
    for (key, applied) in [
        ("ConfigMap/?/settings", "ConfigMap/shop/settings"),
        ("Gadget.example.com/?/one", "Gadget.example.com/shop/one"),
        ("Thing.example.com/?/two", "Thing.example.com/shop/two"),
    ] {
        assert!(listed.contains(key), "{key}: {listed}");
        assert_eq!(listed_of(folder.path(), &[key]), [applied]);
        let mut plan = ownerlint();
        let plan = plan
            .current_dir(folder.path())
            .args(["plan", "delete", key])
            .assert()
            .code(0);
        plan.stdout(predicates::str::contains(format!(
            "delete {applied} (Background)"
        )));
    }
    assert_eq!(
        listed_of(folder.path(), &["tg/two"]),
        ["Thing.example.com/shop/two"]
    );
}

#[test]
fn json_deliveries_have_cluster_parent_and_objects() {
    let document = document(root(), &[EXAMPLE]);
    let deliveries = document["deliveries"].as_array().expect("a list");
    let ids: Vec<&str> = deliveries
        .iter()
        .filter_map(|one| one["id"].as_str())
        .collect();
    let key = |name: &str| format!("Kustomization.kustomize.toolkit.fluxcd.io/flux-system/{name}");
    assert_eq!(
        ids,
        [
            "clusters/prod|HelmRelease.helm.toolkit.fluxcd.io/shop/cache".to_owned(),
            format!("clusters/prod|{}", key("apps")),
            format!("clusters/prod|{}", key("flux-system")),
            format!("clusters/stage|{}", key("apps")),
            format!("clusters/stage|{}", key("flux-system")),
        ]
    );
    let apps = &deliveries[1];
    assert_eq!(apps["parent"], ids[2]);
    assert_eq!(apps["path"], "apps/prod");
    assert_eq!(apps["settings"]["prune"], true);
    let web = apps["instances"]
        .as_array()
        .expect("a list")
        .iter()
        .find(|one| one["key"] == "Deployment.apps/shop/web-prod");
    let web = web.expect("the Deployment, as it is applied");
    assert_eq!(web["written"], "Deployment.apps//web-${STAGE}");
    assert_eq!(
        (&web["file"], &web["line"]),
        (&"apps/base/web.yaml".into(), &1.into())
    );
    assert_eq!(
        document["unreached"],
        serde_json::json!([{"file": "docs/example.yaml", "objects": 1}])
    );
}

/// The file of the ClusterRole contains no `$`, and a target namespace does not change the object.
#[test]
fn escaped_variable_names_cluster_scoped_object() {
    let folder = Folder::new();
    folder
        .write(
            "clusters/prod/apps.yaml",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n\
             spec: {path: ./apps, targetNamespace: shop, postBuild: {substitute: {env: prod}}, \
             sourceRef: {kind: GitRepository, name: flux-system}}\n",
        )
        .write(
            "apps/role.yaml",
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: \"\\u0024{env}-admin\"}\n",
        );
    let keys = keys_of(&document(folder.path(), &[]));
    assert_eq!(keys, ["ClusterRole.rbac.authorization.k8s.io//prod-admin"]);
}

#[test]
fn list_ref_reads_a_commit_instead_of_the_work_tree() {
    let folder = tempfile::tempdir().expect("a folder");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command
            .current_dir(folder.path())
            .args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        assert!(
            command
                .args(arguments)
                .status()
                .expect("git runs")
                .success()
        );
    };
    let file = folder.path().join("kustomization.yaml");
    git(&["init", "-q"]);
    std::fs::write(&file, "configMapGenerator: [{name: a, literals: [b=c]}]\n").expect("a file");
    git(&["add", "-A"]);
    git(&["commit", "-qm", "x"]);
    std::fs::write(&file, "namePrefix: later-\n").expect("a file");
    let document = document(folder.path(), &["--ref", "HEAD"]);
    let delivery = &document["deliveries"][0];
    assert_eq!(
        (&delivery["id"], &delivery["tool"], &delivery["certainty"]),
        (&"|".into(), &"kustomize".into(), &"unknown".into())
    );
    let key = delivery["instances"][0]["key"].as_str().expect("a key");
    assert!(key.starts_with("ConfigMap//a-"), "{key}");
}

#[test]
fn listed_objects_agree_with_recorded_flux_builds() {
    let shared = root().join("../shared");
    let Ok(truth) = std::fs::read_to_string(shared.join("conformance/flux-builds.json")) else {
        skip("no recordings of Flux's builds beside the repository");
        return;
    };
    let truth: Value = serde_json::from_str(&truth).expect("JSON");
    let clones = tempfile::tempdir().expect("a folder");
    let variable = Regex::new(r"\$\{([A-Za-z_][A-Za-z0-9_]*)[^}]*\}").expect("a pattern");
    let normal = |key: &str| variable.replace_all(key, "UNKNOWN_$1").into_owned();
    let (mut applied, mut right, mut more) = (0, 0, Vec::new());
    for repository in truth["repositories"].as_array().expect("a list") {
        let bundle = shared
            .join("histories")
            .join(repository["bundle"].as_str().expect("a bundle"));
        let clone = clones
            .path()
            .join(bundle.file_stem().expect("a name of a file"));
        let mut git = Command::new("git");
        git.args(["clone", "-q", "--bare"]).arg(bundle).arg(&clone);
        assert!(git.status().expect("git runs").success());
        let commit = repository["applied"]["commit"].as_str().expect("a commit");
        let ours = instances(&document(&clone, &["--ref", commit]), &normal);
        let kustomizations = repository["applied"]["kustomizations"].as_array();
        for kustomization in kustomizations.expect("a list") {
            let name = kustomization["kustomization"].as_str().expect("a name");
            let objects = kustomization["objects"].as_array().into_iter().flatten();
            let theirs: BTreeSet<String> = objects
                .filter_map(|key| key.as_str().map(str::to_owned))
                .collect();
            let own = ours.get(name).cloned().unwrap_or_default();
            applied += theirs.len();
            right += theirs.intersection(&own).count();
            more.extend(own.difference(&theirs).map(|key| format!("{name}: {key}")));
        }
    }
    assert!(applied > 1_800, "{applied} objects are recorded");
    // Some objects were applied by hand, and two kinds were taken for namespaced without their CRDs.
    assert!(applied - right <= 5, "{right} of {applied}");
    let scopes = ["VolumeGroupSnapshotClass.", "Connector.tailscale.com"];
    more.retain(|key| !scopes.iter().any(|kind| key.contains(kind)));
    assert_eq!(more, [""; 0]);
}

/// The person who builds may have the file, for example a generated one that git ignores.
#[test]
fn missing_patch_of_undelivered_kustomization_is_unread() {
    let folder = Folder::new();
    folder.write(
        "kustomization.yaml",
        "resources: [a.yaml]\npatches: [{path: gone.yaml}]\n",
    );
    folder.write(
        "a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
    );
    let document = document(folder.path(), &[]);
    let deliveries = document["deliveries"].as_array().expect("a list").iter();
    let unread = deliveries.flat_map(|one| one["unread"].as_array().expect("a list"));
    let subjects: Vec<&Value> = unread.map(|input| &input["subject"]).collect();
    assert_eq!(subjects, ["gone.yaml"]);
}

/// A possible Application is identified by its folder and its ApplicationSet.
#[test]
fn listed_objects_cover_recorded_argo_cd_builds() {
    let shared = root().join("../shared");
    let Ok(truth) = std::fs::read_to_string(shared.join("conformance/argo-builds.json")) else {
        skip("no recordings of Argo CD's builds beside the repository");
        return;
    };
    let truth: Value = serde_json::from_str(&truth).expect("JSON");
    let clones = tempfile::tempdir().expect("a folder");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    // Converts `group/Kind/namespace/name` to our keys, without the namespace.
    let ours = |key: &str| {
        let parts: Vec<&str> = key.splitn(4, '/').collect();
        let [group, kind, _, name] = parts.as_slice() else {
            panic!("{key} is no key");
        };
        match *group {
            "" => format!("{kind}/{name}"),
            group => format!("{kind}.{group}/{name}"),
        }
    };
    let bare = |key: &str| {
        let (kind, rest) = key.split_once('/').unwrap_or_default();
        let (_, name) = rest.split_once('/').unwrap_or_default();
        format!("{kind}/{name}")
    };
    let (mut applied, mut right) = (0, 0);
    let unknown = Regex::new(r"\\\{\\\{.*?\\\}\\\}").expect("a pattern");
    for (repository, bundle) in [
        ("redhat-appstudio/infra-deployments", "infra-deployments"),
        ("vehagn/homelab", "vehagn-homelab"),
    ] {
        let bundle = shared.join("histories").join(format!("{bundle}.bundle"));
        let clone = clones
            .path()
            .join(bundle.file_stem().expect("a name of a file"));
        let mut git = Command::new("git");
        git.args(["clone", "-q", "--bare"]).arg(&bundle).arg(&clone);
        assert!(git.status().expect("git runs").success());
        let repositories = truth["repositories"].as_array().expect("a list");
        let recorded = repositories.iter().find(|one| one["repo"] == repository);
        let recorded = &recorded.expect("a recording")["tree_at"];
        let commit = text(&recorded["commit"]);
        let document = document(&clone, &["--ref", &commit]);
        let mut listed: BTreeMap<String, Vec<(Regex, BTreeSet<String>)>> = BTreeMap::new();
        for one in document["deliveries"].as_array().expect("a list") {
            let key = text(&one["key"]);
            let Some(name) = key.strip_prefix("Application.argoproj.io/") else {
                continue;
            };
            let name = unknown.replace_all(&regex::escape(name), ".+").into_owned();
            let name = Regex::new(&format!("^{name}$")).expect("a pattern");
            let keys = one["instances"].as_array().expect("a list").iter();
            let keys = keys.map(|instance| bare(&text(&instance["key"]))).collect();
            listed
                .entry(text(&one["path"]))
                .or_default()
                .push((name, keys));
        }
        let planes = recorded["planes"].as_array().expect("a list").iter();
        for application in
            planes.flat_map(|plane| plane["applications"].as_array().expect("a list"))
        {
            let name = text(&application["key"]).replace("argoproj.io/Application/", "");
            let paths = application["paths"].as_array().into_iter().flatten();
            let own: Vec<&BTreeSet<String>> = paths
                .flat_map(|path| {
                    listed
                        .get(text(path).trim_matches('/'))
                        .into_iter()
                        .flatten()
                })
                .filter(|(pattern, _)| pattern.is_match(&name))
                .map(|(_, keys)| keys)
                .collect();
            for key in application["keys"].as_array().expect("a list") {
                applied += 1;
                let key = ours(&text(key));
                right += usize::from(own.iter().any(|keys| keys.contains(&key)));
            }
        }
    }
    assert!(applied > 12_000, "{applied} objects are recorded");
    // 57 of them belong to an Application that is in no file, because it was created by hand.
    assert!((applied - right) * 200 <= applied, "{right} of {applied}");
}

/// Returns the keys that each Kustomization applies, by its namespace and name.
fn instances(
    document: &Value,
    normal: &impl Fn(&str) -> String,
) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for delivery in document["deliveries"].as_array().expect("a list") {
        let key = delivery["key"].as_str().unwrap_or_default();
        let Some(name) = key.strip_prefix("Kustomization.kustomize.toolkit.fluxcd.io/") else {
            continue;
        };
        let instances = delivery["instances"].as_array().expect("a list").iter();
        let keys = instances.filter_map(|one| Some(normal(one["key"].as_str()?)));
        all.entry(name.to_owned()).or_default().extend(keys);
    }
    all
}
