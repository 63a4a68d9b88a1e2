//! Repositories that configure programs: in `.git/config`, in attributes, in hooks, in folders that imitate `.git`. No
//! command runs any of them.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::diff::Folder;
use crate::support::{ownerlint, write_program};

/// Settings with which Git starts a program; each value is a program.
const PROGRAMS: [&str; 24] = [
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.sshCommand",
    "core.askPass",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "core.hooksPath",
    "pager.diff",
    "pager.ls-tree",
    "pager.cat-file",
    "diff.external",
    "diff.evil.textconv",
    "diff.evil.command",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "filter.a=b.c.clean",
    "merge.evil.driver",
    "credential.helper",
    "uploadpack.packObjectsHook",
    "gpg.program",
    "sequence.editor",
    "browser.evil.cmd",
];

/// Hooks that Git may run at the end of an operation.
const HOOKS: [&str; 6] = [
    "post-index-change",
    "post-checkout",
    "reference-transaction",
    "fsmonitor-watchman",
    "pre-auto-gc",
    "post-rewrite",
];

const CONFIG_MAP: &str = super::support::CONFIG_MAP;

/// Writes a program that logs that it ran, and returns its path.
fn program(folder: &Path, ran: &Path) -> String {
    let script = folder.join("evil");
    let text = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", ran.display());
    write_program(&script, text.as_bytes());
    script.display().to_string()
}

/// Configures every program that Git could run.
fn configure(folder: &Folder, evil: &str) {
    for key in PROGRAMS {
        folder.git(&["config", key, evil]);
    }
    for filter in ["evil", "a=b.c"] {
        folder.git(&["config", &format!("filter.{filter}.required"), "true"]);
    }
    for alias in ["cat-file", "diff", "ls-files", "rev-parse"] {
        folder.git(&["config", &format!("alias.{alias}"), &format!("!{evil}")]);
    }
    for hook in HOOKS {
        let hooks = folder.path().join(".git/hooks");
        std::fs::create_dir_all(&hooks).expect("a folder");
        let script = std::fs::read(evil).expect("the script");
        write_program(&hooks.join(hook), &script);
    }
    let attributes = "*.yaml filter=evil diff=evil merge=evil\nother.yaml filter=a=b.c\n";
    std::fs::write(folder.path().join(".git/info/attributes"), attributes).expect("attributes");
}

/// Creates a repository with two commits and changed files, so that Git has to examine everything.
fn repository() -> Folder {
    let folder = Folder::new();
    folder.git(&["init", "-q", "-b", "main"]);
    folder
        .write("a.yaml", CONFIG_MAP)
        .write("b.yaml", &CONFIG_MAP.replace("settings", "b"));
    folder
        .write("other.yaml", &CONFIG_MAP.replace("settings", "other"))
        .commit();
    folder.write("c.yaml", &CONFIG_MAP.replace("settings", "c"));
    folder
        .write(
            ".gitattributes",
            "*.yaml filter=evil diff=evil merge=evil text eol=lf\n",
        )
        .commit();
    folder
}

/// Rewrites files, with equal or with other content, so that Git has to compare them.
fn touch(folder: &Folder) {
    folder
        .write("a.yaml", CONFIG_MAP)
        .write("b.yaml", &CONFIG_MAP.replace("settings", "changed"));
    folder.write("other.yaml", &CONFIG_MAP.replace("settings", "others"));
}

/// Runs every command that uses Git.
fn ask(folder: &Path, home: &Path) {
    for arguments in [
        &["diff", "--base-ref", "HEAD~", "--head-ref", "HEAD"][..],
        &["diff", "--base-ref", "HEAD", "--staged"],
        &["diff", "--base-ref", "HEAD"],
        &["check", "--only-changed-from", "HEAD~", "."],
        &[
            "check",
            "-o",
            "markdown",
            "--source-url",
            "https://example.com/blob/x",
            ".",
        ],
        &["list", "."],
        &["baseline", "write", "."],
        &["init", "--force", "."],
        &[
            "plan",
            "teardown",
            "--by",
            "kubectl",
            "--fail-on",
            "never",
            "a.yaml",
        ],
        &["check", "--fix", "--suggested", "--allow-empty", "."],
    ] {
        let mut command = ownerlint();
        command
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home)
            .current_dir(folder);
        let output = command.args(arguments).output().expect("it runs");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code().is_some_and(|code| code < 3),
            "{arguments:?}: {error}"
        );
        let said = arguments
            .iter()
            .any(|argument| argument.contains("HEAD"))
            .then_some(output.status.code());
        assert!(
            said.is_none_or(|code| code != Some(2)),
            "{arguments:?}: {error}"
        );
    }
}

#[test]
fn programs_configured_in_git_are_not_run() {
    let (folder, outside) = (repository(), Folder::new());
    let ran = outside.path().join("ran");
    let evil = program(outside.path(), &ran);
    configure(&folder, &evil);
    touch(&folder);
    let _ = std::fs::remove_file(&ran);
    ask(folder.path(), outside.path());
    assert!(
        !ran.exists(),
        "{}",
        std::fs::read_to_string(&ran).unwrap_or_default()
    );
    // Without protection, a program would have run: the test can fail.
    touch(&folder);
    let mut command = std::process::Command::new("git");
    command
        .current_dir(folder.path())
        .env("HOME", outside.path())
        .args(["diff", "--name-only", "HEAD~"]);
    command
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .expect("git runs");
    assert!(ran.exists());
}

#[test]
fn programs_in_included_git_configuration_are_not_run() {
    let (folder, outside) = (repository(), Folder::new());
    let ran = outside.path().join("ran");
    let evil = program(outside.path(), &ran);
    let included = format!(
        "[filter \"evil\"]\n\tclean = {evil}\n\trequired = true\n[core]\n\tfsmonitor = {evil}\n"
    );
    folder
        .write("included", &included)
        .git(&["config", "include.path", "../included"]);
    touch(&folder);
    ask(folder.path(), outside.path());
    assert!(
        !ran.exists(),
        "{}",
        std::fs::read_to_string(&ran).unwrap_or_default()
    );
}

#[test]
fn programs_configured_in_a_submodule_are_not_run() {
    let (folder, outside, other) = (repository(), Folder::new(), repository());
    folder
        .git(&[
            "submodule",
            "--quiet",
            "add",
            &other.path().display().to_string(),
            "vendor",
        ])
        .commit();
    let ran = outside.path().join("ran");
    let evil = program(outside.path(), &ran);
    for key in ["core.fsmonitor", "filter.evil.clean", "filter.evil.process"] {
        folder.git(&["-C", "vendor", "config", key, &evil]);
    }
    folder
        .write("vendor/a.yaml", CONFIG_MAP)
        .write("vendor/b.yaml", "changed: 1\n");
    // A pull request can add this entry to the list of submodules.
    let modules = format!(
        "[submodule \"vendor\"]\n\tpath = vendor\n\turl = ext::{evil}\n\tupdate = !{evil}\n"
    );
    folder.write(".gitmodules", &modules).git(&[
        "config",
        "submodule.vendor.update",
        &format!("!{evil}"),
    ]);
    let _ = std::fs::remove_file(&ran);
    ask(folder.path(), outside.path());
    assert!(
        !ran.exists(),
        "{}",
        std::fs::read_to_string(&ran).unwrap_or_default()
    );
}

#[test]
fn programs_of_an_embedded_repository_are_not_run() {
    // A pull request can contain all of this: a bare repository, a file `.git`, and a link of that name.
    let outside = Folder::new();
    let ran = outside.path().join("ran");
    let evil = program(outside.path(), &ran);
    let pretender = repository();
    configure(&pretender, &evil);
    touch(&pretender);
    let _ = std::fs::remove_file(&ran);
    let bare = Folder::new();
    std::fs::rename(pretender.path().join(".git"), bare.path().join("dot-git")).expect("renamed");
    let copy = |name: &str| {
        let folder = bare.path().join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("a.yaml"), CONFIG_MAP).expect("a file");
        folder
    };
    let file = copy("file");
    std::fs::write(file.join(".git"), "gitdir: ../dot-git\n").expect("a file");
    let link = copy("link");
    symlink("../dot-git", link.join(".git")).expect("a link");
    let inside = bare.path().join("dot-git");
    for folder in [&file, &link] {
        ask(folder, outside.path());
        assert!(
            !ran.exists(),
            "{}: {}",
            folder.display(),
            std::fs::read_to_string(&ran).unwrap_or_default()
        );
    }
    let mut command = ownerlint();
    command
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .current_dir(&inside);
    command
        .args(["diff", "--base-ref", "HEAD~", "--head-ref", "HEAD"])
        .output()
        .expect("it runs");
    assert!(
        !ran.exists(),
        "{}",
        std::fs::read_to_string(&ran).unwrap_or_default()
    );
}

#[test]
fn missing_objects_of_partial_clone_run_no_transport_program() {
    let (folder, outside) = (repository(), Folder::new());
    let ran = outside.path().join("ran");
    let evil = program(outside.path(), &ran);
    // The program must not wait for Git, which waits for it.
    std::fs::write(&evil, format!("#!/bin/sh\ntouch '{}'\n", ran.display())).expect("a script");
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", &format!("ext::{evil} %S")),
        ("remote.origin.uploadpack", &evil),
        ("protocol.allow", "always"),
        ("protocol.ext.allow", "always"),
    ] {
        folder.git(&["config", key, value]);
    }
    let mut command = std::process::Command::new("git");
    let named = command
        .current_dir(folder.path())
        .args(["rev-parse", "HEAD:c.yaml"])
        .output()
        .expect("git runs");
    let lost = String::from_utf8(named.stdout).expect("a name");
    let (start, rest) = lost.trim().split_at(2);
    std::fs::remove_file(folder.path().join(".git/objects").join(start).join(rest))
        .expect("an object");
    // Git before 2.45 ignores GIT_NO_LAZY_FETCH.
    let path = std::env::var("PATH").unwrap_or_default();
    let old = outside.path().join("old");
    std::fs::create_dir(&old).expect("a folder");
    let script = format!("#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nPATH='{path}' exec git \"$@\"\n");
    write_program(&old.join("git"), script.as_bytes());
    let mut command = ownerlint();
    command
        .env("PATH", format!("{}:{path}", old.display()))
        .current_dir(folder.path());
    let output = command
        .args(["diff", "--base-ref", "HEAD~", "--head-ref", "HEAD"])
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("c.yaml changed and cannot be read"), "{said}");
    assert!(!ran.exists());
}

#[test]
fn render_command_is_not_run_without_render_option() {
    let (folder, outside) = (repository(), Folder::new());
    let ran = outside.path().join("ran");
    let evil = program(outside.path(), &ran);
    folder.write(
        "ownerlint.yaml",
        &format!("version: 1\nbundles: {{all: {{paths: ['*.yaml'], render: ['{evil}']}}}}\n"),
    );
    folder.write(
        "kustomization.yaml",
        "resources: [a.yaml]\ngenerators: [evil.yaml]\ntransformers: [evil.yaml]\n",
    );
    folder.write("evil.yaml", &format!("apiVersion: x/v1\nkind: X\nmetadata:\n  name: x\n  annotations:\n    config.kubernetes.io/function: '{{exec: {{path: {evil}}}}}'\n"));
    folder.commit();
    ask(folder.path(), outside.path());
    assert!(
        !ran.exists(),
        "{}",
        std::fs::read_to_string(&ran).unwrap_or_default()
    );
}
