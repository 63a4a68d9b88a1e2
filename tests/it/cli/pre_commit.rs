//! The hook, run by a real `pre-commit` in a temporary repository. The hook that builds from source runs the same
//! command; it is not built here.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{blocks_of, page, root, skip, write_program};

const OWNED: &str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: owned
  namespace: shop
  ownerReferences:
    - {apiVersion: apps/v1, kind: Deployment, name: web, uid: '<uid>'}
";
const OWNER: &str =
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n";

struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    /// Creates a repository with the hook that checks; `None`, with a note, if pre-commit is not installed.
    fn new(arguments: &str) -> Option<Self> {
        Self::with_hook("ownerlint-system", arguments)
    }

    fn with_hook(id: &str, arguments: &str) -> Option<Self> {
        if !Command::new("pre-commit")
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success())
        {
            skip("pre-commit is not installed");
            return None;
        }
        let project = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        for name in ["hook", "project", "bin"] {
            std::fs::create_dir(project.path(name)).expect("a folder");
        }
        std::os::unix::fs::symlink(
            env!("CARGO_BIN_EXE_ownerlint"),
            project.path("bin/ownerlint"),
        )
        .expect("a link");
        std::fs::copy(
            root().join(".pre-commit-hooks.yaml"),
            project.path("hook/.pre-commit-hooks.yaml"),
        )
        .expect("a file");
        for name in ["hook", "project"] {
            project.git(name, &["init", "-q"]);
        }
        project.commit("hook");
        let revision = project.git("hook", &["rev-parse", "HEAD"]);
        let hook = project.path("hook");
        project.write(
            ".pre-commit-config.yaml",
            &format!(
                "repos:\n  - repo: {}\n    rev: {revision}\n    hooks:\n      - id: {id}\n        args: [{arguments}]\n",
                hook.display()
            ),
        );
        project.commit("project");
        Some(project)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path("project").join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }

    fn command(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .current_dir(folder)
            .env("PATH", format!("{}:{path}", self.path("bin").display()));
        command
            .env("PRE_COMMIT_HOME", self.path("cache"))
            .env("GIT_CONFIG_GLOBAL", "/dev/null");
        command
            .env_remove("OWNERLINT_CONFIG")
            .env_remove("PRE_COMMIT_COLOR");
        command
    }

    fn git(&self, folder: &str, arguments: &[&str]) -> String {
        let mut command = self.command("git", &self.path(folder));
        command.args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.com",
            "-c",
            "commit.gpgsign=false",
        ]);
        let output = command.args(arguments).output().expect("git runs");
        assert!(output.status.success(), "{arguments:?}: {}", text(&output));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn commit(&self, folder: &str) {
        self.git(folder, &["add", "-A"]);
        self.git(folder, &["commit", "-q", "--no-verify", "-m", "x"]);
    }

    /// Stages everything and runs the hooks as a commit does. Returns whether they passed, and the output.
    fn run(&self, arguments: &[&str]) -> (bool, String) {
        self.git("project", &["add", "-A"]);
        let mut command = self.command("pre-commit", &self.path("project"));
        let output = command
            .args(["run", "--color", "never"])
            .args(arguments)
            .output()
            .expect("pre-commit runs");
        (output.status.success(), text(&output))
    }
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr]
        .map(|text| String::from_utf8_lossy(text).into_owned())
        .concat()
}

#[test]
fn hook_passes_without_output() {
    let Some(project) = Project::new("") else {
        return;
    };
    project.write("m/owner.yaml", OWNER);
    project.write("m/owned.yaml", OWNED);
    let (passed, said) = project.run(&["--verbose"]);
    assert!(passed, "{said}");
    // The first run fills the cache of pre-commit.
    let (passed, said) = project.run(&["--verbose"]);
    assert!(passed, "{said}");
    let own = said
        .lines()
        .filter(|line| !line.starts_with("ownerlint....") && !line.starts_with("- "));
    assert_eq!(
        own.collect::<String>(),
        "",
        "the hook prints nothing: {said}"
    );
}

#[test]
fn hook_fails_and_prints_location_of_error() {
    let Some(project) = Project::new("") else {
        return;
    };
    let role = OWNED.replace(
        "v1\nkind: ConfigMap",
        "rbac.authorization.k8s.io/v1\nkind: ClusterRole",
    );
    project.write("m/role.yaml", &role.replace("  namespace: shop\n", ""));
    let (passed, said) = project.run(&[]);
    assert!(
        !passed && said.contains("\nm/role.yaml:6:35: error[owner-of-cluster-scoped] "),
        "{said}"
    );
    assert!(
        said.contains(
            "\n1 error; why, and how to fix it:\n  ownerlint explain owner-of-cluster-scoped\n"
        ),
        "{said}"
    );
}

#[test]
fn hook_checks_relations_to_unchanged_files() {
    let Some(project) = Project::new("--fail-on=warning") else {
        return;
    };
    project.write("infra/owner.yaml", OWNER);
    project.write("apps/owned.yaml", OWNED);
    assert!(project.run(&[]).0);
    project.commit("project");
    project.write("infra/owner.yaml", &OWNER.replace("shop", "elsewhere"));
    let (passed, said) = project.run(&[]);
    assert!(
        !passed && said.contains("\napps/owned.yaml:7:35: warning[owner-cross-namespace] "),
        "{said}"
    );
}

#[test]
fn hook_passes_without_objects_and_is_skipped_without_yaml() {
    let Some(project) = Project::new("") else {
        return;
    };
    project.write("values.yaml", "replicas: 3\n");
    let (passed, said) = project.run(&["--verbose"]);
    assert!(passed && said.contains("Passed"), "{said}");
    project.commit("project");
    project.write("notes.txt", "nothing to see\n");
    let (passed, said) = project.run(&["--verbose"]);
    assert!(passed && said.contains("Skipped"), "{said}");
}

/// Creates a project with the guide's hook that renders first. Its fake `helm` prints `manifests/web.yaml`, or fails.
fn rendering_project() -> Option<Project> {
    let project = Project::new("")?;
    let page = page("docs/guide/pre-commit.md");
    let example =
        serde_yaml::to_string(&blocks_of(&page, ".pre-commit-config.yaml")[1]).expect("YAML");
    project.write(".pre-commit-config.yaml", &example);
    let helm =
        "#!/bin/sh\n[ \"$*\" = 'template web chart --namespace web' ] && cat manifests/web.yaml\n";
    write_program(&project.path("bin/helm"), helm.as_bytes());
    project.write("chart/Chart.yaml", "name: web\n");
    Some(project)
}

#[test]
fn rendering_hook_of_guide_checks_rendered_chart() {
    let Some(project) = rendering_project() else {
        return;
    };
    project.write("manifests/web.yaml", OWNER);
    let (passed, said) = project.run(&[]);
    assert!(passed, "{said}");
    project.write(
        "manifests/web.yaml",
        &OWNER.replace("name: web", "nam: web"),
    );
    let (passed, said) = project.run(&[]);
    assert!(
        !passed && said.contains("error[object-without-name]"),
        "{said}"
    );
}

#[test]
fn rendering_hook_of_guide_fails_if_rendering_fails() {
    let Some(project) = rendering_project() else {
        return;
    };
    let (passed, said) = project.run(&[]);
    assert!(!passed && said.contains("manifests/web.yaml"), "{said}");
}

const DELIVERY: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: all, namespace: flux-system}\nspec: {path: ./m, prune: true}\n";
const DEFINITION: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ships.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n  names: {kind: Ship, plural: ships}\n  versions: [{name: v1, served: true, storage: true}]\n";
const INSTANCE: &str =
    "apiVersion: example.com/v1\nkind: Ship\nmetadata: {name: flagship, namespace: shop}\n";

#[test]
fn diff_hook_rejects_commit_that_only_deletes_a_crd() {
    let Some(project) = Project::with_hook("ownerlint-diff-system", "") else {
        return;
    };
    project.write("flux.yaml", DELIVERY);
    project.write("m/definition.yaml", DEFINITION);
    project.write("m/instance.yaml", INSTANCE);
    assert!(project.run(&[]).0, "nothing is deleted");
    project.commit("project");
    std::fs::remove_file(project.path("project/m/definition.yaml")).expect("a file");
    let (passed, said) = project.run(&[]);
    assert!(!passed && said.contains("error[crd-removed] "), "{said}");
    std::fs::remove_file(project.path("project/m/instance.yaml")).expect("a file");
    let (passed, said) = project.run(&["--verbose"]);
    assert!(
        passed && said.contains("Passed"),
        "what the commit shows is a decision: {said}"
    );
}

#[test]
fn release_profile_has_no_lto() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("Cargo.toml");
    let (_, release) = manifest
        .split_once("\n[profile.release]\n")
        .expect("a profile");
    let release = release.split("\n[").next().unwrap_or_default();
    assert!(
        !release.contains("lto") && !release.contains("codegen-units"),
        "{release}"
    );
    assert!(
        manifest.contains("\n[profile.dist]\n"),
        "releases have a profile of their own"
    );
}

#[test]
fn hook_fails_in_chart_repository_because_nothing_was_checked() {
    let Some(project) = Project::new("") else {
        return;
    };
    project.write("chart/Chart.yaml", "name: web\n");
    project.write(
        "chart/templates/web.yaml",
        "apiVersion: v1\nkind: Service\nmetadata: {name: {{ .Release.Name }}}\n",
    );
    let (passed, said) = project.run(&[]);
    assert!(
        !passed && said.contains("nothing was checked, only 1 template skipped"),
        "{said}"
    );
}

#[test]
fn both_hooks_exist_for_python_rust_and_system() {
    let text = std::fs::read_to_string(root().join(".pre-commit-hooks.yaml")).expect("the hooks");
    let mut hooks: Vec<serde_yaml::Mapping> = serde_yaml::from_str(&text).expect("YAML");
    let mut installed = Vec::new();
    for hook in &mut hooks {
        let mut text = |key: &str| {
            hook.remove(key)
                .expect("a key")
                .as_str()
                .expect("text")
                .to_owned()
        };
        installed.push((text("id"), text("language")));
        text("description");
    }
    let expected = ["ownerlint", "ownerlint-diff"]
        .into_iter()
        .flat_map(|command| {
            [("", "python"), ("-source", "rust"), ("-system", "system")]
                .map(|(suffix, language)| (format!("{command}{suffix}"), language.to_owned()))
        });
    assert_eq!(installed, expected.collect::<Vec<_>>());
    for command in hooks.chunks(3) {
        assert!(
            command.windows(2).all(|pair| pair[0] == pair[1]),
            "{command:?}"
        );
    }
}
