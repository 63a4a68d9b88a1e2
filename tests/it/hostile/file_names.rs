//! File names that collide or are not text: no manifest hides another one.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde_json::{Value, json};

use super::support::{CONFIG_MAP, files};
use crate::support::Repository;

#[test]
fn backslash_is_part_of_a_file_name() {
    let inside = Repository::new();
    inside.write("r\\web.yaml", &CONFIG_MAP.replace("settings", "a"));
    inside.write("r/web.yaml", &CONFIG_MAP.replace("settings", "b"));
    assert_eq!(files(&inside, &["."]), ["r/web.yaml", "r\\web.yaml"]);
    assert_eq!(files(&inside, &["r\\web.yaml"]), ["r\\web.yaml"]);
}

#[test]
fn non_utf8_file_names_are_distinct_and_shown_as_bytes() {
    let inside = Repository::new();
    for name in [b"\xFE.yaml", b"\xFF.yaml"] {
        std::fs::write(inside.path().join(OsStr::from_bytes(name)), CONFIG_MAP).expect("a file");
    }
    assert_eq!(files(&inside, &["."]), ["\\xFE.yaml", "\\xFF.yaml"]);
    // The name of a file may even be the displayed form of another name.
    inside.write("\\xFF.yaml", CONFIG_MAP);
    assert_eq!(
        files(&inside, &["."]),
        ["\\xFE.yaml", "\\xFF.yaml", "\\xFF.yaml"]
    );
}

#[test]
fn non_utf8_file_names_in_a_commit_stay_distinct() {
    let folder = crate::diff::Folder::new();
    folder
        .git(&["init", "-q", "-b", "main"])
        .write("readme", "")
        .commit();
    for (name, object) in [(b"\xFE.yaml", "a"), (b"\xFF.yaml", "b")] {
        let text = CONFIG_MAP.replace("settings", object);
        std::fs::write(folder.path().join(OsStr::from_bytes(name)), text).expect("a file");
    }
    let added = ["added ConfigMap/shop/a", "added ConfigMap/shop/b"];
    assert_eq!(folder.changes(&["--base-ref", "HEAD"]), added);
    folder.commit();
    assert_eq!(
        folder.changes(&["--base-ref", "HEAD~", "--head-ref", "HEAD"]),
        added
    );
}

#[test]
fn deeply_nested_glob_patterns_do_not_panic() {
    let inside = Repository::new();
    inside.write("a.yaml", CONFIG_MAP);
    for open in ["{a,", "[a", "(", "**/", "{a,b}"] {
        let pattern = format!("{}*", open.repeat(200));
        let (status, _, error) = inside.run(&[&pattern], "");
        assert!(
            matches!(status, 0 | 2) && !error.contains("panicked"),
            "{pattern}: {status} {error}"
        );
        inside.write(
            "ownerlint.yaml",
            &format!(
                "version: 1\nexclude: ['{pattern}']\nbundles: {{a: {{paths: ['{pattern}']}}}}\n"
            ),
        );
        let (status, _, error) = inside.run(&[], "");
        assert!(
            matches!(status, 0..=3) && !error.contains("panicked"),
            "{pattern}: {status} {error}"
        );
        std::fs::remove_file(inside.path().join("ownerlint.yaml")).expect("removed");
    }
    let nested = format!("{}{}", "{a,".repeat(20_000), "}".repeat(20_000));
    let (status, _, error) = inside.run(&[&nested], "");
    assert!(
        status == 2 && !error.contains("panicked"),
        "{status} {error}"
    );
}

/// Returns a glob whose expression is too large.
fn oversized_glob() -> String {
    format!("{}{}", "{a,".repeat(50_000), "}".repeat(50_000))
}

/// Returns an Application in `argocd` with this source.
fn application(name: &str, source: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd}}\nspec:\n  \
         source: {{repoURL: 'https://git.example.org/fleet.git', path: web, {source}}}\n  \
         destination: {{server: 'https://kubernetes.default.svc', namespace: shop}}\n"
    )
}

/// Returns an ApplicationSet with these generators.
fn application_set(generators: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: all, namespace: argocd}}\nspec:\n  \
         generators: [{generators}]\n  template:\n    metadata: {{name: '{{{{path.basename}}}}'}}\n    spec:\n      \
         source: {{repoURL: 'https://git.example.org/fleet.git', path: '{{{{path}}}}'}}\n      \
         destination: {{server: 'https://kubernetes.default.svc', namespace: shop}}\n"
    )
}

/// Returns a git generator with a pattern for folders or files.
fn git_generator(repository: &str, kind: &str, pattern: &str) -> String {
    format!("{{git: {{repoURL: '{repository}', {kind}: [{{path: '{pattern}'}}]}}}}")
}

#[test]
fn oversized_globs_of_deliveries_do_not_panic() {
    let glob = oversized_glob();
    let own = ["directories", "files"]
        .map(|kind| git_generator("https://git.example.org/fleet.git", kind, &glob));
    let inside = Repository::new();
    let include = format!("directory: {{include: '{glob}'}}");
    let values = format!("helm: {{valueFiles: ['{glob}']}}");
    inside
        .write("web/a.yaml", CONFIG_MAP)
        .write(
            "web/Chart.yaml",
            "apiVersion: v2\nname: web\nversion: 1.0.0\n",
        )
        .write("include.yaml", &application("include", &include))
        .write("values.yaml", &application("values", &values))
        .write("set.yaml", &application_set(&own.join(", ")));
    let (status, out, error) = inside.run(&["list", "--deliveries", "--render", "-o", "json"], "");
    assert_eq!(status, 0, "{error}");
    let listed: Value = serde_json::from_str(&out).expect("JSON");
    let deliveries = listed["deliveries"].as_array().expect("a list");
    let delivery = |name: &str| {
        let key = format!("Application.argoproj.io/argocd/{name}");
        deliveries.iter().find(|one| one["key"] == key.as_str())
    };
    let included = delivery("include").expect("an Application");
    assert_eq!(
        (&included["instances"], &included["error"]),
        (&json!([]), &Value::Null)
    );
    let set = deliveries
        .iter()
        .find(|one| one["key"] == "ApplicationSet.argoproj.io/argocd/all");
    let set = set.expect("an ApplicationSet");
    assert_eq!(
        (&set["instances"], &set["error"]),
        (&json!([]), &Value::Null)
    );
    let unread = delivery("values").expect("an Application")["unread"].to_string();
    assert!(
        unread.contains("cannot be matched: it is too large"),
        "{unread}"
    );
}

#[test]
fn oversized_glob_of_unevaluated_set_does_not_panic() {
    let glob = oversized_glob();
    let elsewhere = ["directories", "files"]
        .map(|kind| git_generator("https://git.example.org/other.git", kind, &glob));
    let set = application_set(&format!("{{scmProvider: {{}}}}, {}", elsewhere.join(", ")));
    let folder = crate::diff::Folder::new();
    for side in ["base", "head"] {
        folder
            .write(&format!("{side}/set.yaml"), &set)
            .write(&format!("{side}/web/a.yaml"), CONFIG_MAP);
    }
    let changes = folder.changes(&["--base", "base", "--head", "head"]);
    assert_eq!(changes, [""; 0]);
}

#[test]
fn oversized_image_pattern_is_a_mistake() {
    let glob = oversized_glob();
    let operator =
        format!("project: a/b\ncontrollers: [{{name: x, images: ['{glob}'], finalizers: []}}]\n");
    let inside = Repository::new();
    inside
        .write("ownerlint.yaml", "version: 1\noperators: [op.yaml]\n")
        .write("op.yaml", &operator)
        .write("a.yaml", CONFIG_MAP);
    let (status, _, error) = inside.run(&["check", "a.yaml"], "");
    let words = error.split_whitespace().filter(|word| *word != "│");
    let words: Vec<&str> = words.collect();
    assert!(
        status == 2 && words.join(" ").contains("which is not an image"),
        "{status} {error}"
    );
}

#[test]
fn line_break_in_file_name_starts_no_line_of_junit() {
    let inside = Repository::new();
    let object = CONFIG_MAP.replace("namespace: shop", "namespace: shop, finalizers: [a]");
    inside.write("a\n::error::pwned.yaml", &object);
    let (_, out, _) = inside.run(&["-o", "junit", "--fail-on", "never"], "");
    assert!(out.contains("a␊::error::pwned.yaml"), "{out}");
    assert!(!out.contains("\n::error"), "{out}");
}
