//! A chart of the tree that a HelmRelease and an Application both deliver.

use super::surroundings::{LAST_COMMIT, Surroundings};
use crate::formats::schemas::parsed;

const SOURCE: &str = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: fleet, namespace: flux-system}\n\
                      spec: {url: 'https://git.example.org/fleet.git'}\n";

const APPLICATION: &str = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd}\nspec:\n  source: \
                           {repoURL: 'https://git.example.org/fleet.git', path: charts/web, helm: {releaseName: web}}\n  destination: {server: \
                           'https://kubernetes.default.svc', namespace: shop}\n  syncPolicy: {automated: {prune: true}}\n";

fn helm_release(name: &str) -> String {
    format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: web, namespace: flux-system}}\nspec:\n  releaseName: {name}\n  \
         targetNamespace: shop\n  storageNamespace: shop\n  chart: {{spec: {{chart: ./charts/web, reconcileStrategy: Revision, sourceRef: {{kind: \
         GitRepository, name: fleet, namespace: flux-system}}}}}}\n"
    )
}

/// Returns an object of the chart; `more` follows its metadata.
fn object(kind: &str, template: &str, more: &str) -> String {
    let api = if kind == "StatefulSet" {
        "apps/v1"
    } else {
        "v1"
    };
    format!(
        "---\n# Source: web/templates/{template}.yaml\napiVersion: {api}\nkind: {kind}\nmetadata:\n  name: RELEASE-{template}\n{more}"
    )
}

fn stateful_set(policy: &str) -> String {
    let spec = "spec:\n  selector: {matchLabels: {app: db}}\n  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: \
                db}]}}\n  volumeClaimTemplates: [{metadata: {name: data}}]\n";
    object("StatefulSet", "db", &format!("{spec}{policy}"))
}

fn claim() -> String {
    object(
        "PersistentVolumeClaim",
        "files",
        "  annotations: {helm.sh/resource-policy: keep}\n",
    )
}

/// Creates a repository with both deliveries of a chart that renders to `objects`.
fn delivered_twice(objects: &str) -> Surroundings {
    let tree = Surroundings::with_fake_helm();
    tree.write(&[
        ("flux/source.yaml", SOURCE),
        ("flux/release.yaml", &helm_release("web")),
        ("argocd/application.yaml", APPLICATION),
        (
            "charts/web/Chart.yaml",
            "apiVersion: v2\nname: web\nversion: 1.0.0\n",
        ),
        ("charts/web/templates/db.yaml", "{{ x }}\n"),
        ("charts/web/templates/files.yaml", "{{ x }}\n"),
    ]);
    render(&tree, objects);
    tree
}

/// Makes the chart render to `objects`.
fn render(tree: &Surroundings, objects: &str) {
    tree.write(&[("charts/web/objects.txt", objects)]);
    tree.folder.commit();
}

fn rename(tree: &Surroundings) {
    tree.write(&[("flux/release.yaml", &helm_release("shop"))]);
    tree.folder.commit();
}

/// Returns what `diff --render` of the last commit writes in a format.
fn diff(tree: &Surroundings, format: &str) -> String {
    let mut command = tree.ownerlint();
    command.args(LAST_COMMIT);
    let output = command.args(["-o", format]).output().expect("it runs");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn set_that_another_delivery_keeps_loses_no_data() {
    let tree = delivered_twice(&stateful_set(""));
    rename(&tree);
    let said = diff(&tree, "concise");
    assert!(
        said.contains("deleted: StatefulSet.apps/shop/web-db"),
        "{said}"
    );
    assert!(!said.contains("error["), "{said}");
    assert!(
        said.contains("renaming StatefulSet `web-db` to `shop-db` starts it with empty volumes"),
        "{said}"
    );
    let policy = "  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}\n";
    let tree = delivered_twice(&stateful_set(policy));
    rename(&tree);
    let said = diff(&tree, "concise");
    assert!(said.contains("error[volume-removed]"), "{said}");
    assert!(
        said.contains("PersistentVolumeClaim `data-web-db-0`"),
        "{said}"
    );
}

#[test]
fn rendered_places_lead_to_files_of_the_tree() {
    let tree = delivered_twice(&(claim() + &stateful_set("")));
    render(&tree, &stateful_set(""));
    let json = parsed(&diff(&tree, "json"));
    let place = &json["findings"][0]["location"];
    assert_eq!(place["file"], "argocd/application.yaml (rendered)");
    assert_eq!(place["template"], "web/templates/files.yaml");
    assert_eq!(json["findings"][0]["related"], serde_json::json!([]));
    for (format, place) in [
        ("sarif", "\"uri\": \"charts/web/templates/files.yaml\""),
        ("github", "file=charts/web/templates/files.yaml,line=1,"),
        ("gitlab", "\"path\": \"charts/web/templates/files.yaml\""),
        ("rdjson", "\"path\": \"charts/web/templates/files.yaml\""),
        ("junit", "file=\"charts/web/templates/files.yaml\""),
        ("lsp", "/charts/web/templates/files.yaml\""),
    ] {
        let said = diff(&tree, format);
        assert!(said.contains(place), "{format}: {said}");
        assert!(
            said.contains("(in base: argocd/application.yaml (rendered):"),
            "{format}: {said}"
        );
    }
}

#[test]
fn checked_places_lead_to_files_of_the_tree() {
    let owned = "  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: x}]\n";
    let tree = delivered_twice(&object("ConfigMap", "db", owned));
    let mut command = tree.ownerlint();
    command.args(["check", "--render", "-o", "github", "."]);
    let output = command.output().expect("it runs");
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(
        said.contains("file=charts/web/templates/db.yaml,line=1,"),
        "{said}"
    );
    assert!(
        said.contains("(web/templates/db.yaml) (at argocd/web (rendered).yaml:"),
        "{said}"
    );
}

#[test]
fn both_deliveries_of_a_deleted_object_are_named() {
    let tree = delivered_twice(&(claim() + &object("ConfigMap", "a", "") + &stateful_set("")));
    render(&tree, &stateful_set(""));
    let json = parsed(&diff(&tree, "json"));
    let effects = json["effects"].as_array().expect("a list").iter();
    let others = effects.filter(|effect| effect["effect"] == "deleted");
    let others = others.map(|effect| {
        let also = effect["also"].as_array().expect("a list").iter();
        let also = also.map(|other| format!("{} {}", other["delivery"]["tool"], other["keeps"]));
        format!(
            "{} {} {}",
            effect["key"],
            effect["delivery"]["tool"],
            also.collect::<Vec<_>>().join(", ")
        )
        .replace('"', "")
    });
    assert_eq!(
        others.collect::<Vec<_>>(),
        [
            "ConfigMap/shop/web-a flux argocd false",
            "PersistentVolumeClaim/shop/web-files argocd flux true"
        ]
    );
    let said = diff(&tree, "human");
    let claim =
        "PersistentVolumeClaim/shop/web-files, although HelmRelease flux-system/web keeps it";
    assert!(said.contains(claim), "{said}");
    let deleted = said.split("Deleted by the tool").nth(1).expect("a section");
    assert_eq!(deleted.matches("ConfigMap/shop/web-a").count(), 2, "{said}");
    assert!(said.contains("Merging this deletes 2 objects"), "{said}");
}

#[test]
fn renamed_release_that_was_rendered_holds_known_objects() {
    let tree = delivered_twice(&object("ConfigMap", "a", ""));
    rename(&tree);
    let said = diff(&tree, "human");
    assert!(said.contains("ConfigMap/shop/web-a"), "{said}");
    assert!(!said.contains("whose objects are not known"), "{said}");
}

#[test]
fn chart_that_head_breaks_fails_the_run() {
    let tree = delivered_twice(&object("ConfigMap", "a", ""));
    let fails = "Error: execution error at (web/templates/a.yaml:3:4): image is required\n";
    tree.write(&[("charts/web/fails", fails)]);
    tree.folder.commit();
    let status = |more: &[&str]| {
        let mut command = tree.ownerlint();
        command.args(["diff", "--base-ref", "HEAD~", "--head-ref", "HEAD"]);
        command.args(more).output().expect("it runs").status.code()
    };
    assert_eq!(status(&[]), Some(0), "nothing is rendered");
    assert_eq!(status(&["--render"]), Some(1));
    assert_eq!(status(&["--render", "--exit-zero"]), Some(0));
    assert_eq!(status(&["--render", "--fail-on", "never"]), Some(0));
    let said = diff(&tree, "concise");
    let sentence = "The change makes 2 deliveries fail, and the objects that they deliver stay as \
                    they are: helm: execution error";
    assert!(said.contains(sentence), "{said}");
    tree.write(&[("README.md", "It failed before, too.\n")]);
    tree.folder.commit();
    assert_eq!(status(&["--render"]), Some(0));
    let mut command = tree.ownerlint();
    let output = command.args(["check", "--render", "."]).output();
    let said = String::from_utf8(output.expect("it runs").stdout).expect("text");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("helm did not render them"), "{said}");
    assert!(!said.contains("`--render` renders"), "{said}");
}
