//! `diff --render`: both states are rendered, and only configured programs run.

use super::places::{Folder, config, lines};
use crate::support::write_program;

/// Creates a repository with a bundle `web` that `render.sh` renders from `web/sources`, which are not manifests.
fn repository(script: &str, more: &str) -> Folder {
    let folder = Folder::new();
    folder.git(&["init", "-q", "-b", "main"]);
    folder
        .write("render.sh", script)
        .write("web/a.txt", &config("a"))
        .write("web/b.txt", &config("b"));
    folder.write(
        "ownerlint.yaml",
        &format!("version: 1\nbundles:\n  web: {{paths: [web], render: [sh, render.sh, 'a b'], {more}}}\n"),
    );
    folder.write("web/values.yaml", "replicas: 1\n");
    folder.commit().remove("web/b.txt").commit();
    folder
}

const CAT: &str = "for file in web/*.txt; do cat $file; echo ---; done\n";
const REFS: [&str; 4] = ["--base-ref", "HEAD~", "--head-ref", "HEAD"];
const RENDER: [&str; 5] = ["--base-ref", "HEAD~", "--head-ref", "HEAD", "--render"];

#[test]
fn render_command_is_not_run_without_render_option() {
    let folder = repository("touch \"$0.ran\" /tmp/ownerlint-must-not-run\n", "");
    let document = folder.run("", &REFS).expect("sources");
    assert_eq!(lines(&document), [""; 0]);
    assert_eq!(
        document["notes"],
        serde_json::json!([
            "compared sources: nothing was rendered; `--render` runs the commands of the configuration in both states"
        ])
    );
    assert!(!folder.path().join("render.sh.ran").exists());
}

#[test]
fn render_command_output_is_compared_on_both_sides() {
    let folder = repository(CAT, "");
    let document = folder.run("", &RENDER).expect("a rendering");
    assert_eq!(lines(&document), ["removed ConfigMap/?/b"]);
    assert_eq!(document["changes"][0]["bundle"], "web");
    assert_eq!(document["changes"][0]["base"]["file"], "web (rendered)");
    assert_eq!(
        document["notes"],
        serde_json::json!(["compared the output of 2 renderings of the two states"])
    );
    let folder = repository(CAT, "");
    folder.remove("web/a.txt");
    let work_tree = folder
        .run("", &["--base-ref", "HEAD", "--render"])
        .expect("a rendering");
    assert_eq!(
        lines(&work_tree),
        ["removed ConfigMap/?/a"],
        "the work tree is rendered where it is"
    );
}

#[test]
fn render_command_runs_in_a_copy_with_clean_environment() {
    let script =
        "[ \"$1\" = 'a b' ] && [ -z \"$SECRET\" ] && [ -d \"$HOME\" ] && [ -z \"$(ls \"$HOME\")\" ] || exit 9\n\
        [ \"$(pwd)\" != \"$(git -C . rev-parse --show-toplevel 2>/dev/null)\" ] || exit 8\n\
        touch left-behind\n"
            .to_owned()
            + CAT;
    let folder = repository(&script, "");
    let mut command = crate::support::ownerlint();
    command
        .env("PATH", std::env::var_os("PATH").expect("a PATH"))
        .env("SECRET", "token");
    let output = command
        .current_dir(folder.path())
        .args([&["diff"][..], &RENDER].concat())
        .output()
        .expect("it runs");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(!folder.path().join("left-behind").exists());
}

#[test]
fn failing_render_command_is_an_error_with_its_output() {
    let folder = repository("echo 'no such chart' >&2\nexit 3\n", "");
    let error = folder.run("", &RENDER).expect_err("it fails");
    assert!(
        error.contains("cannot render bundle `web` of base"),
        "{error}"
    );
    assert!(
        error.contains("exited with status 3") && error.contains("no such chart"),
        "{error}"
    );
}

#[test]
fn render_output_that_is_no_manifest_is_an_error() {
    // If the output were compared, everything in base would seem removed.
    for (printed, said) in [
        ("hello: [world", "line 2: there is no"),
        ("Error: no such chart", "line 2: there is no"),
    ] {
        let script = format!(
            "if [ -e web/b.txt ]; then cat web/b.txt; else echo ---; echo '{printed}'; fi\n"
        );
        let folder = repository(&script, "");
        let error = folder.run("", &RENDER).expect_err("it fails");
        assert!(
            error.contains("cannot render bundle `web` of head") && error.contains(said),
            "{error}"
        );
    }
}

#[test]
fn removed_rendered_definition_does_not_rename_its_objects() {
    let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ships.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n  names: {kind: Ship, plural: ships}\n  versions: [{name: v1, served: true, storage: true}]\n";
    let folder = Folder::new();
    folder.git(&["init", "-q", "-b", "main"]);
    let bundles = "  web: {paths: [web], namespace: shop, render: [sh, -c, 'cat web/*.txt']}\n";
    folder
        .write(
            "ownerlint.yaml",
            &format!("version: 1\nbundles:\n{bundles}"),
        )
        .write("web/values.yaml", "a: b\n");
    folder.write(
        "web/a.txt",
        "apiVersion: example.com/v1\nkind: Ship\nmetadata: {name: flagship}\n---\n",
    );
    folder
        .write("web/b.txt", definition)
        .commit()
        .remove("web/b.txt")
        .commit();
    let document = folder.run("", &RENDER).expect("a rendering");
    assert_eq!(
        lines(&document),
        ["removed CustomResourceDefinition.apiextensions.k8s.io//ships.example.com"]
    );
}

#[test]
fn empty_rendering_is_noted() {
    let folder = repository("[ ! -e web/b.txt ] || cat web/b.txt\n", "");
    let document = folder.run("", &RENDER).expect("a rendering");
    assert_eq!(lines(&document), ["removed ConfigMap/?/b"]);
    assert_eq!(
        document["notes"][0],
        "bundle `web` of head is rendered to nothing"
    );
}

#[test]
fn render_command_over_the_timeout_is_an_error() {
    let folder = repository("sleep 600 & echo waiting >&2\nsleep 600\n", "timeout: 1");
    let error = folder.run("", &RENDER).expect_err("it fails");
    assert!(
        error.contains("did not finish within 1 s") && error.contains("waiting"),
        "{error}"
    );
}

#[test]
fn bundle_missing_in_head_is_not_rendered_there() {
    let folder = repository(CAT, "");
    folder
        .remove("web/a.txt")
        .remove("web/values.yaml")
        .commit();
    let document = folder.run("", &RENDER).expect("an empty bundle");
    assert_eq!(lines(&document), ["removed ConfigMap/?/a"]);
}

#[test]
fn kustomize_builds_roots_without_render_command() {
    let folder = Folder::new();
    folder.git(&["init", "-q", "-b", "main"]);
    // A fake of kustomize that also prints an object which is not in the sources.
    let script = "#!/bin/sh\n[ \"$1 $2\" = 'build .' ] && cat *.yaml && cat generated.txt\n";
    write_program(&folder.path().join("bin/kustomize"), script.as_bytes());
    folder.git(&["update-index", "--add", "--chmod=+x", "bin/kustomize"]);
    folder
        .write("app/kustomization.yaml", "resources: [a.yaml]\n")
        .write("app/a.yaml", &config("a"));
    folder.write("app/generated.txt", &format!("---\n{}", config("made")));
    folder
        .write("broken/kustomization.yaml", "resources: [b.yaml]\n")
        .write("broken/b.yaml", &config("b"));
    folder
        .commit()
        .remove("broken/b.yaml")
        .write("broken/kustomization.yaml", "resources: []\n");
    folder.write("app/generated.txt", "").commit();
    let mut command = crate::support::ownerlint();
    let path = format!(
        "{}:{}",
        folder.path().join("bin").display(),
        std::env::var("PATH").expect("a PATH")
    );
    command
        .env("PATH", path)
        .current_dir(folder.path())
        .args(["diff", "-o", "json"])
        .args(RENDER);
    let output = command.output().expect("it runs");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        lines(&document),
        ["removed ConfigMap/?/b", "removed ConfigMap/?/made"]
    );
    let notes = document["notes"].to_string();
    assert!(
        notes.contains("broken is compared as it is written")
            && notes.contains("exited with status 1"),
        "{notes}"
    );
    assert!(
        notes.contains("compared the output of 4 renderings"),
        "{notes}"
    );
}

#[test]
fn symlink_out_of_the_tree_is_absent_in_render_copy() {
    let folder = repository("if cat web/out 2>/dev/null; then exit 7; fi\n", "");
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("web/out")).expect("a link");
    folder.commit();
    let document = folder.run("", &RENDER).expect("the link is not there");
    assert_eq!(lines(&document), [""; 0]);
}

#[test]
fn malformed_render_and_timeout_settings_are_rejected() {
    for (written, complaint) in [
        (
            "render: sh render.sh",
            "expects a list of arguments for `render`",
        ),
        ("render: []", "expects a list of arguments for `render`"),
        ("timeout: soon", "has a malformed `timeout`"),
        ("timeout: 0", "has a malformed `timeout`"),
    ] {
        let folder = Folder::new();
        folder
            .git(&["init", "-q", "-b", "main"])
            .write("a.yaml", &config("a"));
        folder
            .write(
                "ownerlint.yaml",
                &format!("version: 1\nbundles:\n  web: {{paths: [.], {written}}}\n"),
            )
            .commit();
        let error = folder
            .run("", &["--base-ref", "HEAD"])
            .expect_err("a mistake");
        assert!(error.contains(complaint), "{written}: {error}");
    }
    let folder = Folder::new();
    folder
        .git(&["init", "-q", "-b", "main"])
        .write("a.yaml", &config("a"));
    for limit in ["90s", "5m", "1m 30s", "20"] {
        folder.write(
            "ownerlint.yaml",
            &format!("version: 1\nbundles:\n  web: {{paths: [.], timeout: {limit}}}\n"),
        );
        folder
            .commit()
            .run("", &["--base-ref", "HEAD"])
            .unwrap_or_else(|error| panic!("{limit}: {error}"));
    }
}

#[test]
fn place_in_command_output_leads_to_configuration() {
    let folder = repository(CAT, "");
    let claim =
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: shop}\n";
    folder.write("web/c.txt", claim).commit();
    folder.remove("web/c.txt").commit();
    let mut command = crate::support::ownerlint();
    command.current_dir(folder.path()).arg("diff").args(RENDER);
    command.env("PATH", std::env::var_os("PATH").expect("a PATH"));
    command.args(["--by", "flux", "-o", "github"]);
    let output = command.output().expect("it runs");
    let said = String::from_utf8(output.stdout).expect("text");
    let place = "file=ownerlint.yaml,line=3,";
    assert!(said.contains(place), "{said}");
    assert!(said.contains("(in base: web (rendered):"), "{said}");
}

#[test]
fn edited_program_of_bundle_is_not_used_and_is_named() {
    let folder = repository(CAT, "");
    let config = std::fs::read_to_string(folder.path().join("ownerlint.yaml")).expect("a file");
    let edited = config
        .replace("'a b'", "c")
        .replace("version: 1\n", "version: 1\n# ours\n");
    folder.write("ownerlint.yaml", &edited).commit();
    for options in [&REFS[..], &RENDER] {
        let document = folder.run("", options).expect("a comparison");
        assert_eq!(document["summary"]["verdict"], "unknown");
        let unread = &document["unread"][0];
        assert_eq!(unread["subject"], "program of bundle web");
        assert_eq!(unread["line"], 4);
        let note = "the change edits ownerlint.yaml: both states are compared with the configuration of base, so that a \
                    change cannot hide its own effects";
        let notes = document["notes"].as_array().expect("notes");
        assert!(notes.contains(&serde_json::json!(note)), "{notes:?}");
    }
    let broken = edited.replace("paths:", "path:");
    folder.write("ownerlint.yaml", &broken).commit();
    let document = folder.run("", &REFS).expect("a comparison");
    let notes = document["notes"].to_string();
    assert!(
        notes.contains("the change breaks ownerlint.yaml ("),
        "{notes}"
    );
    assert_eq!(document["summary"]["verdict"], "nothing");
}
