//! States from Git: either correct, or a clear message. `../hostile/configured.rs` tests that no program which a
//! repository configures is run.

use std::collections::BTreeSet;

use super::places::{Folder, config, lines, object};
use crate::support::ownerlint;

/// Creates a repository whose last commit removed `b` and whose work tree also lacks `a`.
fn repository() -> Folder {
    let folder = Folder::new();
    folder.git(&["init", "-q", "-b", "main"]);
    folder
        .write("apps/a.yaml", &config("a"))
        .write("apps/b.yaml", &config("b"))
        .write("other/c.yaml", &config("c"));
    folder
        .commit()
        .remove("apps/b.yaml")
        .commit()
        .remove("apps/a.yaml");
    folder
}

#[test]
fn two_commits_are_compared_without_the_work_tree() {
    assert_eq!(
        repository().changes(&["--base-ref", "HEAD~", "--head-ref", "HEAD"]),
        ["removed ConfigMap/?/b"]
    );
}

/// A glob selects files of any type that may be inputs, as a folder does.
#[test]
fn unread_inputs_that_a_glob_selects_are_told() {
    let folder = Folder::new();
    folder
        .git(&["init", "-q", "-b", "main"])
        .write("apps/web/main.jsonnet", "{kind: 'ConfigMap'}\n")
        .write("apps/web/a.yaml", &config("a"))
        .commit()
        .write("apps/web/main.jsonnet", "{kind: 'Secret'}\n")
        .commit();
    for paths in ["apps", "apps/**", "apps/*/*"] {
        let compared = folder.run("", &["--base-ref", "HEAD~", "--head-ref", "HEAD", paths]);
        let text = compared.expect("a report").to_string();
        assert!(
            text.contains("program apps/web/main.jsonnet"),
            "{paths}: {text}"
        );
    }
}

/// The change of a named folder deletes an object of a component elsewhere; the changes of other folders count as
/// unchanged.
#[test]
fn paths_limit_the_change_and_not_what_is_read() {
    let kustomization = |entries: &str| {
        format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n{entries}")
    };
    let folder = Folder::new();
    folder
        .git(&["init", "-q", "-b", "main"])
        .write(
            "clusters/prod/flux-system/gotk-sync.yaml",
            &super::flux::kustomization("flux-system", "./clusters/prod", ""),
        )
        .write(
            "clusters/prod/web.yaml",
            &super::flux::kustomization("web", "./apps/web", ""),
        )
        .write(
            "apps/web/kustomization.yaml",
            &kustomization("resources: [web.yaml]\ncomponents: [../../components/cart]\n"),
        )
        .write("apps/web/web.yaml", &super::flux::config("web"))
        .write(
            "components/cart/kustomization.yaml",
            "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [cart.yaml]\n",
        )
        .write("components/cart/cart.yaml", &super::flux::config("cart"))
        .write("other/c.yaml", &super::flux::config("c"))
        .commit()
        .write(
            "apps/web/kustomization.yaml",
            &kustomization("resources: [web.yaml]\n"),
        )
        .remove("other/c.yaml")
        .commit();
    let effects = |paths: &[&str]| {
        let commits = ["--base-ref", "HEAD~", "--head-ref", "HEAD"];
        let compared = folder.run("", &[&commits, paths].concat());
        super::flux::effects(&compared.expect("a report"))
    };
    let deleted = ["deleted ConfigMap/shop/cart certain, clusters/prod"];
    for paths in [
        &["apps"][..],
        &["apps/web/kustomization.yaml"],
        &["apps/**", "clusters"],
    ] {
        assert_eq!(effects(paths), deleted, "{paths:?}");
    }
    assert_eq!(effects(&["clusters"]), [""; 0]);
}

/// An argument that is a path is no glob, even if it looks like one.
#[test]
fn path_that_looks_like_a_glob_is_a_path() {
    let folder = Folder::new();
    folder
        .git(&["init", "-q", "-b", "main"])
        .write("a[b/x.yaml", &config("x"))
        .write("a[b/y.yaml", &config("y"))
        .commit()
        .remove("a[b/x.yaml")
        .commit();
    assert_eq!(
        folder.changes(&["--base-ref", "HEAD~", "--head-ref", "HEAD", "a[b"]),
        ["removed ConfigMap/?/x"]
    );
}

/// Creates two branches: `main` added `gained`, and `topic`, which is checked out, removed `a`.
fn parted() -> Folder {
    let folder = Folder::new();
    folder
        .git(&["init", "-q", "-b", "main"])
        .write("apps/a.yaml", &config("a"))
        .commit();
    folder
        .git(&["checkout", "-q", "-b", "topic"])
        .remove("apps/a.yaml")
        .commit();
    folder
        .git(&["checkout", "-q", "main"])
        .write("apps/gained.yaml", &config("gained"))
        .commit();
    folder.git(&["checkout", "-q", "topic"]);
    folder
}

#[test]
fn base_ref_means_the_merge_base() {
    let folder = parted();
    let heads = [&["--head-ref", "topic"][..], &[], &["--staged"]];
    for head in heads {
        assert_eq!(
            folder.changes(&[&["--base-ref", "main"], head].concat()),
            ["removed ConfigMap/?/a"],
            "{head:?}"
        );
    }
    let literal = folder.changes(&["--base-ref", "main", "--no-merge-base"]);
    assert_eq!(
        literal,
        ["removed ConfigMap/?/a", "removed ConfigMap/?/gained"]
    );
}

#[test]
fn merge_base_is_named_in_report() {
    let folder = parted();
    let document = folder.run("", &["--base-ref", "main"]).expect("changes");
    let commit = document["base"]["commit"]
        .as_str()
        .expect("the commit that was compared");
    assert_eq!(document["base"]["ref"], "main");
    let note = document["notes"][0].as_str().expect("a note");
    assert_eq!(
        note,
        format!(
            "compared with {}, the merge base of `HEAD` and `main`; `--no-merge-base` compares with `main` itself",
            &commit[..12]
        )
    );
    let ancestor = folder.run("", &["--base-ref", commit]).expect("changes");
    assert_eq!(
        ancestor["base"],
        serde_json::json!({"ref": commit}),
        "a commit that head contains is compared as named"
    );
    assert_eq!(ancestor["notes"], serde_json::json!([]));
}

/// On `main`, `diff topic` compares nothing of `topic`.
#[test]
fn base_that_contains_head_hints_at_its_own_commits() {
    let folder = Folder::new();
    folder
        .git(&["init", "-q", "-b", "main"])
        .write("apps/a.yaml", &config("a"))
        .write("apps/b.yaml", &config("b"))
        .commit()
        .git(&["checkout", "-q", "-b", "topic"])
        .remove("apps/a.yaml")
        .commit()
        .git(&["checkout", "-q", "main"]);
    let document = folder.run("", &["topic"]).expect("a report");
    assert_eq!(document["changes"], serde_json::json!([]));
    let hint = "`topic` contains `HEAD`, so its commits are not compared; to see what merging it deletes: \
                `ownerlint diff HEAD...topic`";
    assert_eq!(document["notes"], serde_json::json!([hint]));
    assert_eq!(folder.changes(&["HEAD...topic"]), ["removed ConfigMap/?/a"]);
}

#[test]
fn two_and_three_dot_ranges_work_like_in_git() {
    let folder = parted();
    let own = ["removed ConfigMap/?/a"];
    let both = ["removed ConfigMap/?/a", "removed ConfigMap/?/gained"];
    for arguments in [
        &["--base-ref", "main...topic"][..],
        &["main...topic"],
        &["main..."],
        &["main...", "apps"],
    ] {
        assert_eq!(folder.changes(arguments), own, "{arguments:?}");
    }
    for arguments in [
        &["--base-ref", "main..topic"][..],
        &["main..topic"],
        &["main..", "apps"],
        &["main", "topic"],
        &["main", "topic", "apps"],
    ] {
        assert_eq!(folder.changes(arguments), both, "{arguments:?}");
    }
    assert_eq!(
        folder.changes(&["topic...main"]),
        ["added ConfigMap/?/gained"]
    );
    let error = folder
        .run("", &["main..topic", "--staged"])
        .expect_err("two heads");
    assert!(error.contains("main..topic"), "{error}");
    let error = folder
        .run("", &["--base-ref", "main..topic", "--head-ref", "main"])
        .expect_err("two heads");
    assert!(
        error.starts_with("error: `main..topic` names the state after the change"),
        "{error}"
    );
}

#[test]
fn default_base_is_merge_base_with_default_branch() {
    let folder = parted();
    for arguments in [&[][..], &["apps"], &["main"], &["main", "apps"]] {
        assert_eq!(
            folder.changes(arguments),
            ["removed ConfigMap/?/a"],
            "{arguments:?}"
        );
    }
    folder.write("apps/new.yaml", &object("v1", "Secret", "new"));
    let edited = ["removed ConfigMap/?/a", "added Secret/?/new"];
    assert_eq!(folder.changes(&[]), edited, "what is edited counts");
}

#[test]
fn default_branch_compares_edits_or_else_the_last_commit() {
    let folder = repository();
    assert_eq!(folder.changes(&[]), ["removed ConfigMap/?/a"], "edited");
    folder.git(&["checkout", "-q", "--", "."]);
    assert_eq!(folder.changes(&[]), ["removed ConfigMap/?/b"], "clean");
}

#[test]
fn default_branch_of_clone_is_known_by_origin_head() {
    let (folder, clone) = (parted(), Folder::new());
    folder.git(&["branch", "-m", "main", "trunk"]);
    folder.git(&["checkout", "-q", "trunk"]);
    let url = format!("file://{}", folder.path().display());
    clone.git(&["clone", "-q", &url, "."]);
    clone.git(&["checkout", "-q", "topic"]);
    assert_eq!(clone.changes(&[]), ["removed ConfigMap/?/a"]);
}

#[test]
fn missing_default_base_error_suggests_base_ref() {
    let folder = parted();
    folder.git(&["branch", "-m", "main", "trunk"]);
    let error = folder.run("", &[]).expect_err("no default branch");
    assert!(error.contains("no default branch is known"), "{error}");
    assert!(error.contains("--base-ref"), "{error}");
    let first = Folder::new();
    first
        .git(&["init", "-q", "-b", "main"])
        .write("a.yaml", &config("a"))
        .commit();
    let error = first.run("", &[]).expect_err("one commit");
    assert!(error.contains("HEAD is the first commit"), "{error}");
}

#[test]
fn base_ref_without_common_history_is_an_error() {
    let (folder, clone) = (parted(), Folder::new());
    clone.git(&[
        "clone",
        "-q",
        "--depth",
        "1",
        "--no-single-branch",
        &format!("file://{}", folder.path().display()),
        ".",
    ]);
    let error = clone
        .run("", &["--base-ref", "origin/main"])
        .expect_err("no common commit");
    assert!(
        error.starts_with("error: `origin/main` has no common history with `HEAD`"),
        "{error}"
    );
    assert!(error.contains("fetch-depth: 0"), "{error}");
    let literal = clone.changes(&["--base-ref", "origin/main", "--no-merge-base"]);
    assert_eq!(
        literal,
        ["removed ConfigMap/?/a", "removed ConfigMap/?/gained"]
    );
}

#[test]
fn default_head_is_the_work_tree_without_ignored_files() {
    let folder = repository();
    folder
        .write("new.yaml", &object("v1", "Secret", "new"))
        .write("out/rendered.yaml", &config("out"))
        .write(".gitignore", "out/\n");
    assert_eq!(
        folder.changes(&["--base-ref", "HEAD"]),
        ["removed ConfigMap/?/a", "added Secret/?/new"]
    );
}

#[test]
fn staged_compares_the_index() {
    let folder = repository();
    assert_eq!(folder.changes(&["--base-ref", "HEAD", "--staged"]), [""; 0]);
    folder.git(&["add", "-A"]);
    assert_eq!(
        folder.changes(&["--base-ref", "HEAD", "--staged"]),
        ["removed ConfigMap/?/a"]
    );
    assert_eq!(
        folder.changes(&["--staged"]),
        ["removed ConfigMap/?/a"],
        "HEAD is what the index is compared with"
    );
}

#[test]
fn paths_are_relative_to_current_folder_and_need_one_side() {
    let folder = repository();
    let refs = ["--base-ref", "HEAD~", "--head-ref", "HEAD"];
    let limited = |below: &str, path: &str| folder.run(below, &[&refs[..], &[path]].concat());
    assert_eq!(lines(&limited("", "other").expect("changes")), [""; 0]);
    let below = limited("apps", "b.yaml").expect("one side has it");
    assert_eq!(lines(&below), ["removed ConfigMap/?/b"]);
    assert_eq!(below["changes"][0]["base"]["file"], "b.yaml");
    assert_eq!(
        limited("other", "../apps/*.yaml").expect("a glob")["changes"][0]["base"]["file"],
        "../apps/b.yaml"
    );
    let nowhere = limited("", "nowhere").expect_err("neither side has it");
    assert!(
        nowhere.starts_with("error: neither base nor head contains `nowhere`"),
        "{nowhere}"
    );
    let misspelt = folder.run("", &["mian"]).expect_err("neither side has it");
    assert!(misspelt.contains("did you mean `main`?"), "{misspelt}");
    let outside = limited("", "../x").expect_err("outside");
    assert!(
        outside.starts_with("error: `../x` is outside the repository"),
        "{outside}"
    );
}

#[test]
fn path_filter_builds_root_with_bases_outside_of_it() {
    let folder = Folder::new();
    folder.git(&["init", "-q", "-b", "main"]);
    folder.write(
        "prod/kustomization.yaml",
        "namePrefix: prod-\nresources: [../base]\ncomponents: [../extra]\n",
    );
    folder
        .write("base/kustomization.yaml", "resources: [deep, b.yaml]\n")
        .write("base/b.yaml", &config("b"));
    folder
        .write("base/deep/kustomization.yaml", "resources: [a.yaml]\n")
        .write("base/deep/a.yaml", &config("a"));
    folder.write(
        "extra/kustomization.yaml",
        "kind: Component\nresources: [c.yaml]\n",
    );
    folder
        .write("extra/c.yaml", &config("c"))
        .write("other/d.yaml", &config("d"))
        .commit();
    folder
        .remove("base/deep/a.yaml")
        .write("base/deep/kustomization.yaml", "resources: []\n");
    folder
        .remove("extra/c.yaml")
        .write("extra/kustomization.yaml", "kind: Component\n")
        .remove("other/d.yaml")
        .commit();
    let refs = ["--base-ref", "HEAD~", "--head-ref", "HEAD", "prod"];
    assert_eq!(
        folder.changes(&refs),
        ["removed ConfigMap/?/prod-a", "removed ConfigMap/?/prod-c"]
    );
}

#[test]
fn bare_repository_compares_only_commits() {
    let (folder, bare) = (repository(), Folder::new());
    bare.git(&[
        "clone",
        "-q",
        "--bare",
        &folder.path().display().to_string(),
        ".",
    ]);
    assert_eq!(
        bare.changes(&["--base-ref", "HEAD~", "--head-ref", "HEAD"]),
        ["removed ConfigMap/?/b"]
    );
    let error = bare
        .run("", &["--base-ref", "HEAD~"])
        .expect_err("no work tree");
    assert!(
        error.starts_with("error: this repository is bare: it has no work tree"),
        "{error}"
    );
    let error = bare
        .run("", &["--base-ref", "HEAD~", "--staged"])
        .expect_err("no index");
    assert!(
        error.starts_with("error: this repository is bare: it has no index"),
        "{error}"
    );
}

#[test]
fn clone_without_checkout_is_an_error_for_the_work_tree() {
    let (folder, clone) = (repository(), Folder::new());
    clone.git(&[
        "clone",
        "-q",
        "--no-checkout",
        &folder.path().display().to_string(),
        ".",
    ]);
    assert_eq!(
        clone.changes(&["--base-ref", "HEAD~", "--head-ref", "HEAD"]),
        ["removed ConfigMap/?/b"]
    );
    let error = clone
        .run("", &["--base-ref", "HEAD~"])
        .expect_err("nothing is checked out");
    assert!(
        error.starts_with("error: the work tree contains none of its files"),
        "{error}"
    );
}

#[test]
fn clone_with_alternates_is_readable() {
    let (folder, clone) = (repository(), Folder::new());
    clone.git(&[
        "clone",
        "-q",
        "--shared",
        &folder.path().display().to_string(),
        ".",
    ]);
    assert_eq!(
        clone.changes(&["--base-ref", "HEAD~", "--head-ref", "HEAD"]),
        ["removed ConfigMap/?/b"]
    );
}

#[test]
fn shallow_clone_error_suggests_fetch_depth() {
    let (folder, clone) = (repository(), Folder::new());
    clone.git(&[
        "clone",
        "-q",
        "--depth",
        "1",
        &format!("file://{}", folder.path().display()),
        ".",
    ]);
    let error = clone
        .run("", &["--base-ref", "HEAD~", "--head-ref", "HEAD"])
        .expect_err("no such commit");
    assert!(
        error.starts_with("error: there is no such commit: `HEAD~`"),
        "{error}"
    );
    assert!(error.contains("fetch-depth: 0"), "{error}");
}

/// Creates a clone without file contents.
fn without_contents(folder: &Folder) -> Folder {
    partial(folder, "blob:none")
}

/// Creates a clone that lacks the objects of `filter`.
fn partial(folder: &Folder, filter: &str) -> Folder {
    let clone = Folder::new();
    folder.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", folder.path().display());
    let filter = format!("--filter={filter}");
    clone.git(&["clone", "-q", &filter, "--no-checkout", &url, "."]);
    clone
}

#[test]
fn treeless_clone_fetches_missing_trees() {
    let folder = repository();
    folder.git(&["checkout", "-q", "--", "."]);
    let clone = partial(&folder, "tree:0");
    assert_eq!(objects(&clone, "tree"), 0);
    let last = ["--base-ref", "HEAD~", "--head-ref", "HEAD"];
    assert_eq!(
        clone.changes(&last),
        ["removed ConfigMap/?/b"],
        "as in the repository itself"
    );
    let clone = partial(&folder, "tree:0");
    std::fs::rename(folder.path().join(".git"), folder.path().join("gone")).expect("a folder");
    let error = clone.run("", &last).expect_err("no tree");
    assert!(
        error.contains("this clone lacks the files of commit"),
        "{error}"
    );
}

/// A history of thousands of commits, in a clone that fetches file contents on demand.
#[test]
fn partial_clone_of_long_history_fetches_only_manifests() {
    let bundle = crate::support::root().join("../shared/histories/billimek-k8s-gitops.bundle");
    if !bundle.is_file() {
        return crate::support::skip("no histories");
    }
    let server = Folder::new();
    let bundle = bundle.display().to_string();
    server.git(&["clone", "-q", "--bare", &bundle, ".git"]);
    let commits = server.output(&["rev-list", "--count", "HEAD"]);
    assert!(commits.trim().parse::<usize>().expect("a number") > 3000);
    let clone = without_contents(&server);
    let commits = ["HEAD~", "HEAD"];
    let last = ["--base-ref", commits[0], "--head-ref", commits[1]];
    clone.run("", &last).expect("it runs");
    let listed = commits.map(|commit| server.output(&["ls-tree", "-r", commit]));
    let lines = listed.iter().flat_map(|listed| listed.lines());
    let is_manifest = |line: &&str| {
        let ends = [".yaml", ".yml", ".json"];
        ends.iter().any(|end| line.ends_with(end))
    };
    let manifests: BTreeSet<&str> = lines
        .filter(is_manifest)
        .filter_map(|line| line.split_whitespace().nth(2))
        .collect();
    let (all, fetched) = (objects(&server, "blob"), objects(&clone, "blob"));
    assert!(fetched > 0);
    assert!(
        fetched <= manifests.len(),
        "{fetched} of {all} contents, and {} matter",
        manifests.len()
    );
}

/// Counts the objects of a type in a clone.
fn objects(clone: &Folder, kind: &str) -> usize {
    let listed = clone.output(&["cat-file", "--batch-all-objects", "--batch-check"]);
    listed.matches(&format!(" {kind} ")).count()
}

#[test]
fn partial_clone_fetches_only_changed_manifests() {
    let folder = repository();
    folder.write("notes.txt", "no manifest\n").commit();
    for at in 0..20 {
        folder
            .write("other/c.yaml", &format!("{}# {at}\n", config("c")))
            .commit();
    }
    folder.remove("other/c.yaml").commit();
    let clone = without_contents(&folder);
    assert_eq!(objects(&clone, "blob"), 0);
    let last = ["--base-ref", "HEAD~", "--head-ref", "HEAD"];
    assert_eq!(clone.changes(&last), ["removed ConfigMap/?/c"]);
    assert_eq!(
        objects(&clone, "blob"),
        1,
        "`c` as it was last, of 24 contents"
    );
}

#[test]
fn unfetchable_content_of_partial_clone_is_unread() {
    let folder = repository();
    folder.git(&["checkout", "-q", "--", "."]);
    let clone = without_contents(&folder);
    let both = ["--base-ref", "HEAD", "--head-ref", "HEAD"];
    assert_eq!(clone.changes(&both), [""; 0], "fetches what both have");
    std::fs::rename(folder.path().join(".git"), folder.path().join("gone")).expect("a folder");
    let last = ["--base-ref", "HEAD~", "--head-ref", "HEAD"];
    let document = clone.run("", &last).expect("the run goes on");
    assert_eq!(document["summary"]["verdict"], "unknown");
    let unread = document["unread"].to_string();
    assert!(unread.contains("apps/b.yaml"), "{unread}");
}

#[test]
fn linked_work_tree_is_compared_with_its_own_files() {
    let folder = repository();
    folder.git(&["worktree", "add", "-q", "--detach", "linked", "HEAD"]);
    folder.remove("linked/apps/a.yaml");
    let document = folder
        .run("linked", &["--base-ref", "HEAD"])
        .expect("changes");
    assert_eq!(lines(&document), ["removed ConfigMap/?/a"]);
}

#[test]
fn submodule_is_noted_and_not_compared() {
    let (folder, other) = (repository(), repository());
    other.git(&["checkout", "-q", "--", "."]);
    folder.git(&["checkout", "-q", "--", "."]);
    folder
        .git(&[
            "submodule",
            "--quiet",
            "add",
            &other.path().display().to_string(),
            "vendor",
        ])
        .commit();
    folder
        .git(&["-C", "vendor", "checkout", "-q", "HEAD~"])
        .commit();
    for arguments in [
        &["--base-ref", "HEAD~", "--head-ref", "HEAD"][..],
        &["--base-ref", "HEAD~"],
    ] {
        let document = folder.run("", arguments).expect("changes");
        assert_eq!(lines(&document), [""; 0]);
        assert_eq!(
            document["notes"],
            serde_json::json!(["vendor is a submodule; its files are not compared"])
        );
    }
}

#[test]
fn file_renamed_in_git_is_moved() {
    let folder = repository();
    folder.git(&["mv", "other/c.yaml", "apps/d.yaml"]);
    assert_eq!(
        folder.changes(&["--base-ref", "HEAD", "--staged", "apps", "other"]),
        ["moved ConfigMap/?/c"]
    );
}

#[test]
fn files_outside_sparse_checkout_are_not_removed() {
    let folder = repository();
    folder.git(&["checkout", "-q", "--", "."]).git(&[
        "sparse-checkout",
        "set",
        "--no-cone",
        "/apps/",
    ]);
    assert!(!folder.path().join("other/c.yaml").exists());
    assert_eq!(folder.changes(&["--base-ref", "HEAD"]), [""; 0]);
}

#[test]
fn committed_symlink_is_read_as_its_target() {
    let folder = repository();
    folder.git(&["checkout", "-q", "--", "."]);
    std::os::unix::fs::symlink("../apps/a.yaml", folder.path().join("other/link.yaml"))
        .expect("a link");
    folder.commit();
    assert_eq!(
        folder.changes(&["--base-ref", "HEAD~", "--head-ref", "HEAD"]),
        ["added ConfigMap/?/a"]
    );
    assert_eq!(folder.changes(&["--base-ref", "HEAD"]), [""; 0]);
}

#[test]
fn configuration_is_read_from_base() {
    let folder = Folder::new();
    folder
        .git(&["init", "-q", "-b", "main"])
        .write("ownerlint.yaml", "version: 1\nnamespace: shop\n");
    folder.write("a.yaml", &config("a")).commit();
    folder
        .write("ownerlint.yaml", "version: 1\nexclude: ['**']\n")
        .remove("a.yaml")
        .commit();
    assert_eq!(
        folder.changes(&["--base-ref", "HEAD~", "--head-ref", "HEAD"]),
        ["removed ConfigMap/shop/a"]
    );
}

#[test]
fn configuration_is_read_from_head_if_base_has_none() {
    let folder = repository();
    folder.write("ownerlint.yaml", "version: 1\nnamespace: shop\n");
    assert_eq!(
        folder.changes(&["--base-ref", "HEAD"]),
        ["removed ConfigMap/shop/a"]
    );
}

#[test]
fn ref_starting_with_dashes_is_not_passed_as_option() {
    let folder = repository();
    let error = folder
        .run("", &["--base-ref=--output=x", "--head-ref", "HEAD"])
        .expect_err("no ref");
    assert!(
        error.starts_with("error: there is no such commit: `--output=x`"),
        "{error}"
    );
}

#[test]
fn diff_outside_a_repository_is_an_error() {
    let folder = Folder::new();
    folder.write("a.yaml", &object("v1", "Secret", "a"));
    let error = folder
        .run("", &["--base-ref", "HEAD"])
        .expect_err("no repository");
    assert!(
        error.starts_with("error: git: not a git repository"),
        "{error}"
    );
}

#[test]
fn two_paths_without_a_repository_are_named_as_states() {
    let folder = Folder::new();
    folder
        .write("old files/a.yaml", &config("a"))
        .write("new/a.yaml", &config("b"));
    let command = "ownerlint diff --base 'old files' --head new";
    let error = folder.run("", &["old files", "new"]);
    let error = error.expect_err("no repository");
    let expected = format!(
        "error: git: not a git repository (or any of the parent directories): .git\n  help: compare two files or folders: `{command}`\n"
    );
    assert_eq!(error, expected);
    let error = folder.run("", &["v1", "v2"]).expect_err("no repository");
    assert!(
        error.contains("`ownerlint diff --base OLD --head NEW`"),
        "{error}"
    );

    // In a repository, the paths are compared with themselves.
    folder.git(&["init", "-q", "-b", "main"]).commit();
    folder.git(&["commit", "-q", "--allow-empty", "-m", "x"]);
    let output = ownerlint()
        .current_dir(folder.path())
        .args(["diff", "old files", "new"])
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .output()
        .expect("it runs");
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(
        said.contains(&format!("to compare one with the other: `{command}`")),
        "{said}"
    );
}

#[test]
fn staged_objects_before_the_first_commit_are_added() {
    let folder = Folder::new();
    folder
        .git(&["init", "-q"])
        .write("a.yaml", &config("a"))
        .git(&["add", "-A"]);
    assert_eq!(folder.changes(&["--staged"]), ["added ConfigMap/?/a"]);
}
