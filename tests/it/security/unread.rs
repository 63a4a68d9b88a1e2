//! Changed inputs that affect which objects are applied, but that ownerlint does not evaluate: they are listed, and the
//! verdict is not "deletes nothing".

use serde_json::Value;

use crate::diff::Folder;
use crate::support::{ownerlint, root};

/// Returns the report on the change of a fixture.
fn report(name: &str) -> Value {
    let mut command = ownerlint();
    command.current_dir(root().join("fixtures/security").join(name));
    command.args([
        "diff",
        "--no-config",
        "--base",
        "base",
        "--head",
        "head",
        "-o",
        "json",
    ]);
    let output = command.output().expect("it runs");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{name}: {error}: {}",
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

/// Returns the output for the change of a fixture in a format, and the exit status.
fn shown(name: &str, more: &[&str]) -> (String, Option<i32>) {
    let mut command = ownerlint();
    command.current_dir(root().join("fixtures/security").join(name));
    let output = command
        .args(["diff", "--no-config", "--base", "base", "--head", "head"])
        .args(more)
        .output();
    let output = output.expect("it runs");
    (
        String::from_utf8(output.stdout).expect("text"),
        output.status.code(),
    )
}

/// For each fixture, the kind of the unread input, its place and its side.
const NAMED: [(&str, &str, &str); 40] = [
    (
        "unread-argocd-cluster",
        "other-repository",
        "head/web.yaml:5 both",
    ),
    ("unread-argocd-plugin", "plugin", "head/web.yaml:10 head"),
    (
        "unread-argocd-repository",
        "other-repository",
        "head/web.yaml:7 both",
    ),
    (
        "unread-argocd-revision",
        "other-repository",
        "head/web.yaml:7 both",
    ),
    (
        "unread-argocd-source-file",
        "values",
        "head/apps/.argocd-source-web.yaml:1 head",
    ),
    (
        "unread-argocd-value-file",
        "values",
        "head/web.yaml:10 both",
    ),
    ("unread-argocd-values", "values", "head/web.yaml:10 both"),
    (
        "unread-chart-beside-manifests",
        "chart",
        "head/apps/Chart.yaml:1 head",
    ),
    (
        "unread-chart-removed",
        "chart",
        "base/chart/Chart.yaml:1 base",
    ),
    (
        "unread-chart-template",
        "template",
        "head/chart/templates/all.yaml:1 both",
    ),
    (
        "unread-chart-values",
        "values",
        "head/chart/values.yaml:1 both",
    ),
    ("unread-chart-version", "chart", "head/web.yaml:7 both"),
    (
        "unread-encrypted-name",
        "encrypted",
        "base/secret.yaml:3 base",
    ),
    (
        "unread-encrypted-resource",
        "encrypted",
        "head/all.yaml:1 both",
    ),
    (
        "unread-generator-file",
        "generator",
        "head/kustomization.yaml:2 both",
    ),
    (
        "unread-helm-charts",
        "chart",
        "base/kustomization.yaml:3 base",
    ),
    ("unread-helmfile", "chart", "head/helmfile.yaml:1 both"),
    (
        "unread-jsonnet",
        "jsonnet",
        "base/apps/claim.jsonnet:1 base",
    ),
    (
        "unread-kube-config",
        "other-repository",
        "head/flux.yaml:8 head",
    ),
    (
        "unread-kustomization-broken",
        "unparsable",
        "head/apps/kustomization.yaml:2 head",
    ),
    (
        "unread-local-config",
        "transformer",
        "head/claim.yaml:5 head",
    ),
    (
        "unread-placeholder",
        "variable",
        "base/apps/claim.yaml:1 base",
    ),
    ("unread-release-name", "chart", "head/web.yaml:7 both"),
    ("unread-release-values", "values", "head/web.yaml:10 both"),
    (
        "unread-release-values-from",
        "values",
        "head/web.yaml:10 both",
    ),
    ("unread-remote", "remote", "base/kustomization.yaml:3 base"),
    (
        "unread-remote-version",
        "remote",
        "head/kustomization.yaml:3 both",
    ),
    (
        "unread-replacement",
        "transformer",
        "head/kustomization.yaml:5 both",
    ),
    (
        "unread-resource-missing",
        "missing",
        "head/apps/kustomization.yaml:1 head",
    ),
    ("unread-set-element", "generator", "head/set.yaml:6 both"),
    ("unread-set-file", "generator", "head/set.yaml:6 both"),
    ("unread-set-folder", "generator", "head/set.yaml:6 both"),
    ("unread-source-ignore", "remote", "head/source.yaml:3 both"),
    ("unread-source-tag", "remote", "head/source.yaml:3 both"),
    ("unread-source-url", "remote", "head/source.yaml:3 both"),
    (
        "unread-sourceignore-file",
        "missing",
        "head/.sourceignore:1 head",
    ),
    (
        "unread-substitute-from",
        "variable",
        "head/settings.yaml:1 both",
    ),
    ("unread-template", "template", "base/claim.yaml:1 base"),
    (
        "unread-upper-case",
        "missing",
        "head/apps/claim.YAML:1 head",
    ),
    (
        "unread-vars",
        "transformer",
        "head/kustomization.yaml:2 head",
    ),
];

#[test]
fn every_changed_unread_input_is_reported() {
    for (fixture, what, place) in NAMED {
        let document = report(fixture);
        assert_ne!(document["summary"]["verdict"], "nothing", "{fixture}");
        let unread = document["unread"].as_array().expect("a list");
        assert_eq!(document["summary"]["unread"], unread.len(), "{fixture}");
        let text = |value: &Value| value.as_str().map(str::to_owned).expect("text");
        let named = unread.iter().map(|input| {
            let [file, side, what] = ["file", "side", "what"].map(|key| text(&input[key]));
            (what, format!("{file}:{} {side}", input["line"]))
        });
        let named: Vec<(String, String)> = named.collect();
        assert!(
            named.contains(&(what.to_owned(), place.to_owned())),
            "{fixture}: {named:?}"
        );
        for format in ["human", "markdown", "html"] {
            let (said, status) = shown(fixture, &["-o", format]);
            assert!(
                !said.contains("Merging this deletes nothing"),
                "{fixture}: {said}"
            );
            assert!(!said.contains("No object changed"), "{fixture}: {said}");
            assert_eq!(status, Some(0), "{fixture}");
        }
        let (_, status) = shown(fixture, &["--fail-on", "error,unknown"]);
        assert_eq!(
            status,
            Some(i32::from(document["summary"]["unread"] != 0)),
            "{fixture}"
        );
    }
}

/// Manual builds are evaluated like those of tools: changes of identity are not unread inputs.
#[test]
fn undelivered_builds_are_evaluated() {
    for (fixture, change, key) in [
        ("unread-generated", "removed", "Secret/?/login-hmbb7mfmdf"),
        (
            "unread-patch-by-label",
            "removed",
            "PersistentVolumeClaim/?/data",
        ),
        (
            "unread-patch-by-pattern",
            "removed",
            "PersistentVolumeClaim/?/data",
        ),
        (
            "unread-patch-json",
            "renamed",
            "PersistentVolumeClaim/?/other",
        ),
        ("unread-transformer", "renamed", "ConfigMap/?/other-other"),
    ] {
        let document = report(fixture);
        let found = &document["changes"][0];
        assert_eq!(
            (&found["change"], &found["key"]),
            (&change.into(), &key.into()),
            "{fixture}"
        );
        assert_eq!(document["unread"], serde_json::json!([]), "{fixture}");
        assert_eq!(document["summary"]["verdict"], "unknown", "{fixture}");
    }
}

#[test]
fn generated_object_is_located_at_its_generator() {
    let place = &report("unread-generated")["changes"][0]["base"];
    assert_eq!(place["file"], "base/kustomization.yaml");
    assert_eq!(place["line"], 3);
}

#[test]
fn escaped_patch_key_deletes_object() {
    let document = report("unread-patch-escaped");
    assert_eq!(document["summary"]["verdict"], "deletes");
    assert_eq!(
        document["effects"][0]["key"],
        "PersistentVolumeClaim/shop/data"
    );
}

/// Inputs of Flux Kustomizations that a build evaluates.
#[test]
fn evaluated_flux_inputs_reveal_deletions() {
    for fixture in [
        "unread-component",
        "unread-component-content",
        "unread-flux-patch",
        "unread-substitute",
    ] {
        let document = report(fixture);
        assert_eq!(document["summary"]["verdict"], "deletes", "{fixture}");
        assert_eq!(document["unread"], serde_json::json!([]), "{fixture}");
        let key = document["effects"][0]["key"].as_str().expect("a key");
        assert!(
            key.starts_with("PersistentVolumeClaim/shop/"),
            "{fixture}: {key}"
        );
    }
}

#[test]
fn renaming_to_json_removes_the_object_from_flux() {
    let document = report("unread-json-for-flux");
    assert_eq!(document["summary"]["verdict"], "deletes");
    assert_eq!(document["summary"]["unread"], 0);
}

#[test]
fn deletion_by_an_unknown_tool_is_only_possible() {
    let document = report("unread-nobody");
    assert_eq!(document["summary"]["verdict"], "unknown");
    assert_eq!(
        (
            &document["summary"]["unknown"],
            &document["summary"]["deleted"]
        ),
        (&1.into(), &0.into())
    );
    let effects = document["effects"].as_array().expect("a list");
    assert!(!effects.is_empty());
    for effect in effects {
        assert_eq!(
            (&effect["certainty"], &effect["regime"]),
            (&"possible".into(), &"unknown".into()),
            "{effect}"
        );
    }
    insta::assert_snapshot!(shown("unread-nobody", &[]).0);
    insta::assert_snapshot!(shown("unread-nobody", &["-o", "markdown"]).0);
}

#[test]
fn failed_build_keeps_its_objects() {
    for (fixture, file, line, reason) in [
        (
            "unread-kustomization-broken",
            "head/apps/kustomization.yaml",
            2,
            "apps/kustomization.yaml cannot be read: did not find expected ',' or ']'",
        ),
        (
            "unread-resource-missing",
            "head/apps/kustomization.yaml",
            1,
            "claim.yaml does not exist",
        ),
    ] {
        let document = report(fixture);
        let failed = &document["failed"];
        assert_eq!(failed.as_array().map(Vec::len), Some(1), "{fixture}");
        assert_eq!(
            (&failed[0]["file"], &failed[0]["line"]),
            (&file.into(), &line.into()),
            "{fixture}"
        );
        assert_eq!(
            (&failed[0]["reason"], &failed[0]["side"]),
            (&reason.into(), &"head".into()),
            "{fixture}"
        );
        let effects = document["effects"].as_array().expect("a list");
        assert!(!effects.is_empty(), "{fixture}");
        assert!(
            effects.iter().all(|effect| effect["effect"] == "kept"),
            "{fixture}: {effects:?}"
        );
    }
}

#[test]
fn removed_chart_gives_verdict_unknown_but_new_version_does_not() {
    insta::assert_snapshot!(shown("unread-chart-removed", &[]).0);
    insta::assert_snapshot!(shown("unread-chart-removed", &["-o", "markdown"]).0);
    insta::assert_snapshot!(shown("unread-chart-version", &["-o", "markdown"]).0);
}

#[test]
fn kustomizations_nested_too_deeply_are_reported_unread() {
    let folder = Folder::new();
    for side in ["base", "head"] {
        for level in 0..80 {
            let resource = if level == 79 {
                "claim.yaml".to_owned()
            } else {
                format!("../l{}", level + 1)
            };
            folder.write(
                &format!("{side}/l{level}/kustomization.yaml"),
                &format!("resources: [{resource}]\n"),
            );
        }
        folder.write(
            &format!("{side}/l79/other.yaml"),
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
        );
    }
    let claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\n";
    folder
        .write("base/l79/claim.yaml", claim)
        .write("head/l79/claim.yaml", "");
    let document = folder
        .run("", &["--base", "base", "--head", "head"])
        .expect("it runs");
    assert_eq!(document["summary"]["verdict"], "unknown");
    assert_eq!(document["unread"][0]["what"], "limit");
}

#[test]
fn unchanged_unread_inputs_are_counted() {
    let folder = Folder::new();
    for side in ["base", "head"] {
        folder.write(
            &format!("{side}/chart/Chart.yaml"),
            "apiVersion: v2\nname: web\nversion: 1.0.0\n",
        );
        folder.write(
            &format!("{side}/chart/templates/all.yaml"),
            "{{ .Values.text }}\n",
        );
    }
    for (side, image) in [("base", "web:1"), ("head", "web:2")] {
        let pod = format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: web}}\nspec: {{containers: [{{name: a, image: '{image}'}}]}}\n"
        );
        folder.write(&format!("{side}/pod.yaml"), &pod);
    }
    let document = folder
        .run("", &["--base", "base", "--head", "head"])
        .expect("it runs");
    let summary = &document["summary"];
    assert_eq!(
        (&summary["verdict"], &summary["unread"]),
        (&"nothing".into(), &0.into())
    );
    assert_eq!(summary["unreadUnchanged"], 2);
}

#[test]
fn changed_submodule_is_reported_unread() {
    let folder = Folder::new();
    folder
        .write(
            "pod.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n",
        )
        .git(&["init", "-q", "."]);
    for commit in [
        "1111111111111111111111111111111111111111",
        "2222222222222222222222222222222222222222",
    ] {
        folder.git(&["add", "pod.yaml"]);
        folder.git(&[
            "update-index",
            "--add",
            "--cacheinfo",
            &format!("160000,{commit},platform"),
        ]);
        folder.git(&["commit", "-qm", "x"]);
    }
    let document = folder
        .run("", &["--base-ref", "HEAD~", "--head-ref", "HEAD"])
        .expect("it runs");
    assert_eq!(document["unread"][0]["subject"], "submodule platform");
    assert_eq!(document["summary"]["verdict"], "unknown");
}

#[test]
fn comparison_without_objects_exits_with_3() {
    let folder = Folder::new();
    folder
        .write("base/values.yaml", "a: 1\n")
        .write("head/values.yaml", "a: 2\n");
    let status = |more: &[&str]| {
        let mut command = ownerlint();
        command
            .current_dir(folder.path())
            .args(["diff", "--base", "base", "--head", "head"])
            .args(more);
        command.output().expect("it runs").status.code()
    };
    assert_eq!(status(&[]), Some(3));
    assert_eq!(status(&["--allow-empty"]), Some(0));
    assert_eq!(status(&["--fail-on", "unknown"]), Some(1));
}

#[test]
fn headline_fits_one_removed_template() {
    let folder = Folder::new();
    for side in ["base", "head"] {
        let chart = format!("{side}/app/Chart.yaml");
        folder.write(&chart, "apiVersion: v2\nname: app\nversion: 1.0.0\n");
    }
    folder.write(
        "base/app/templates/a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}'}\ndata: {{ .Values.data }}\n",
    );
    let mut command = ownerlint();
    command
        .current_dir(folder.path())
        .args(["diff", "--base", "base", "--head", "head"]);
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains(
            "ownerlint cannot tell: the change removes templates of base/app, which cannot be read\n"
        ),
        "{said}"
    );
}

#[test]
fn predicted_deletion_does_not_hide_an_unread_input() {
    let folder = Folder::new();
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n";
    folder
        .write("base/a.yaml", object)
        .write("base/values.yaml", "a: 1\n")
        .write("head/values.yaml", "a: 2\n");
    let status = |fail_on: &str| {
        let mut command = ownerlint();
        command.current_dir(folder.path()).args([
            "diff",
            "--base",
            "base",
            "--head",
            "head",
            "--by",
            "flux",
            "--allow-empty",
            "--fail-on",
            fail_on,
        ]);
        let output = command.output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("Merging this deletes 1 object"), "{said}");
        output.status.code()
    };
    assert_eq!(status("error"), Some(0));
    assert_eq!(status("unknown"), Some(1));
}

#[test]
fn headlines_name_unread_inputs() {
    for (fixture, headline) in [
        (
            "unread-chart-version",
            "Nothing that ownerlint can read is deleted. Not read: chart web 1.0.0 → 2.0.0.",
        ),
        (
            "unread-chart-removed",
            "## ownerlint cannot tell: the change removes chart longhorn 1.5.1, which cannot be read",
        ),
        (
            "unread-release-name",
            "## ownerlint cannot tell: chart web 1.0.0 changed and cannot be read",
        ),
        (
            "unread-nobody",
            "## ownerlint cannot tell: 1 object is gone from the files, and nothing says which tool applies it",
        ),
        (
            "unread-json-for-flux",
            "## Merging this deletes 1 object: PersistentVolumeClaim <code>data</code>; the data of 1 volume may be deleted",
        ),
    ] {
        let said = shown(fixture, &["-o", "markdown"]).0;
        assert_eq!(said.lines().next(), Some(headline), "{fixture}");
    }
    let said = shown("unread-upper-case", &["-o", "markdown"]).0;
    assert!(
        said.contains("\nNot read: manifest apps/claim.YAML.\n"),
        "{said}"
    );
}
