//! The sources of Applications: the files that they deliver, and the places of their problems.

use serde_json::Value;

use super::list::document;
use crate::diff::places::Folder;

/// Returns an Application with this `spec.source`.
fn application(name: &str, source: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\nspec:\n  \
         source: {{repoURL: 'https://git.example.org/fleet.git', {source}}}\n  \
         destination: {{server: 'https://kubernetes.default.svc', namespace: shop}}\n"
    )
}

/// Returns a folder whose `head` has a root Application, which delivers the Applications in `argocd`.
fn folder(applications: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    folder.write("head/root.yaml", &application("root", "path: argocd"));
    folder.write("head/web/README.md", "");
    for (name, text) in applications {
        folder.write(&format!("head/argocd/{name}.yaml"), text);
    }
    folder
}

fn deliveries(folder: &Folder) -> Vec<Value> {
    let document = document(&folder.path().join("head"), &[]);
    document["deliveries"].as_array().expect("a list").clone()
}

/// Returns the unread inputs of Applications, with their places.
fn unread(folder: &Folder) -> Vec<String> {
    let mut found = Vec::new();
    for delivery in deliveries(folder) {
        let key = delivery["key"].as_str().expect("a key");
        let name = key.rsplit('/').next().expect("a name");
        for input in delivery["unread"].as_array().expect("a list") {
            let [subject, file] = ["subject", "file"].map(|key| input[key].as_str().expect(key));
            found.push(format!("{name}: {subject} {file}:{}", input["line"]));
        }
    }
    found
}

#[test]
fn unread_equal_sources_are_named_by_their_own_applications() {
    let elsewhere = |name: &str| {
        application(name, "path: api").replace("example.org/fleet", "example.org/other")
    };
    let folder = folder(&[
        ("a", &elsewhere("a")),
        ("b", &format!("# The second.\n{}", elsewhere("b"))),
    ]);
    assert_eq!(
        unread(&folder),
        [
            "a: https://git.example.org/other.git argocd/a.yaml:1",
            "b: https://git.example.org/other.git argocd/b.yaml:2",
        ]
    );
}

#[test]
fn equal_failing_sources_fail_at_their_own_applications() {
    let missing = |name: &str| application(name, "path: missing");
    let folder = folder(&[
        ("a", &missing("a")),
        ("b", &format!("# The second.\n{}", missing("b"))),
        ("c", &application("c", "path: web")),
        ("d", &application("d", "path: web")),
    ]);
    folder.write("base/README.md", "");
    let document = folder.run("", &["--base", "base", "--head", "head"]);
    let document = document.expect("a comparison");
    let failed = document["failed"].as_array().expect("a list").iter();
    let failed = failed.map(|one| {
        let [delivery, file] = ["delivery", "file"].map(|key| one[key].as_str().expect(key));
        format!("{delivery} {file}:{}", one["line"])
    });
    assert_eq!(
        failed.collect::<Vec<_>>(),
        [
            ".|Application.argoproj.io/argocd/a head/argocd/a.yaml:1",
            ".|Application.argoproj.io/argocd/b head/argocd/b.yaml:2",
        ]
    );
}

#[test]
fn hydrated_source_has_the_name_of_its_application() {
    let hydrated = |name: &str| {
        application(name, "path: web").replace(
            "  source:",
            "  sourceHydrator: {syncSource: {targetBranch: env, path: web}}\n  source:",
        )
    };
    let folder = folder(&[("a", &hydrated("a")), ("b", &hydrated("b"))]);
    assert_eq!(
        unread(&folder),
        [
            "a: hydrated source of a argocd/a.yaml:1",
            "b: hydrated source of b argocd/b.yaml:1",
        ]
    );
}

#[test]
fn double_star_of_directory_pattern_needs_a_slash() {
    let delivered = |pattern: &str| {
        let directory = format!("path: web, directory: {{recurse: true, {pattern}}}");
        let folder = folder(&[("web", &application("web", &directory))]);
        for (path, name) in [("head/web/a.yaml", "a"), ("head/web/sub/b.yaml", "b")] {
            let object = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n");
            folder.write(path, &object);
        }
        let mut deliveries = deliveries(&folder).into_iter();
        let web = deliveries.find(|one| one["path"] == "web");
        let web = web.expect("the Application");
        let instances = web["instances"].as_array();
        let keys = instances.expect("a list").iter();
        let keys = keys.map(|one| one["key"].as_str().expect("a key").to_owned());
        keys.collect::<Vec<_>>()
    };
    let (a, b) = ("ConfigMap/shop/a", "ConfigMap/shop/b");
    assert_eq!(delivered("include: '**/*.yaml'"), [b]);
    assert_eq!(delivered("exclude: '**/*.yaml'"), [a]);
    assert_eq!(delivered("include: '{*,**/*}.yaml'"), [a, b]);
    assert_eq!(delivered("include: '*.yaml', exclude: 's*b.yaml'"), [a]);
}
