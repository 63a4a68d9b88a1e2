//! Symbolic links: a repository decides what it contains, but not what else of the machine is read.

use std::os::unix::fs::symlink;

use ownerlint::render::{Checkout, CheckoutFile};

use super::support::{CONFIG_MAP, files, findings, repository};
use crate::support::Repository;

#[test]
fn symlink_to_file_outside_repository_is_not_read() {
    let (outside, inside) = (Repository::new(), repository());
    outside.write(
        "token.yaml",
        "apiVersion: v1\nkind: Config\nusers: [token: hunter2\n",
    );
    symlink(
        outside.path().join("token.yaml"),
        inside.path().join("rendered/x.yaml"),
    )
    .expect("a link");
    assert_eq!(
        findings(&inside, &["."]),
        [
            "unreadable-file `rendered/x.yaml` is a symbolic link out of the tree: name the file that it leads to instead"
        ]
    );
    assert_eq!(files(&inside, &["."]), ["rendered/good.yaml"]);
    let (_, out, error) = inside.run(&["."], "");
    assert!(!(out + &error).contains("hunter2"));
}

#[test]
fn symlink_into_git_folder_is_not_read_even_if_named() {
    let inside = repository();
    inside.write(
        ".git/config",
        "apiVersion: v1\nkind: Config\n[http]\n\textraheader = AUTHORIZATION: basic hunter2\n",
    );
    symlink("../.git/config", inside.path().join("rendered/x.yaml")).expect("a link");
    for path in [".", "rendered/x.yaml", "rendered/*.yaml"] {
        assert_eq!(
            findings(&inside, &[path, "--allow-empty"]),
            ["unreadable-file `rendered/x.yaml` is a symbolic link into `.git`"]
        );
        let (_, out, error) = inside.run(&[path], "");
        assert!(!(out + &error).contains("hunter2"), "{path}");
    }
}

#[test]
fn symlink_to_folder_outside_repository_is_noted_not_followed() {
    let inside = repository();
    symlink("/", inside.path().join("rendered/everything")).expect("a link");
    symlink("/proc", inside.path().join("rendered/processes")).expect("a link");
    assert_eq!(files(&inside, &["."]), ["rendered/good.yaml"]);
    let (status, out, _) = inside.run(&["."], "");
    assert_eq!(status, 0);
    for link in ["rendered/everything", "rendered/processes"] {
        let note = format!("{link}: this symbolic link leads out of the tree and was not followed");
        assert!(out.contains(&note), "{out}");
    }
}

#[test]
fn symlink_within_the_repository_is_followed() {
    let inside = repository();
    inside.write("base/web.yaml", &CONFIG_MAP.replace("settings", "web"));
    symlink("../base", inside.path().join("rendered/base")).expect("a link");
    assert_eq!(
        files(&inside, &["rendered"]),
        ["rendered/base/web.yaml", "rendered/good.yaml"]
    );
    assert_eq!(
        files(&inside, &["."]),
        ["base/web.yaml", "rendered/good.yaml"],
        "what is really there is named so"
    );
}

#[test]
fn symlink_argument_is_followed_out_of_repository() {
    let (outside, inside) = (repository(), Repository::new());
    symlink(
        outside.path().join("rendered"),
        inside.path().join("result"),
    )
    .expect("a link");
    symlink(
        outside.path().join("rendered/good.yaml"),
        inside.path().join("one.yaml"),
    )
    .expect("a link");
    assert_eq!(files(&inside, &["result"]), ["result/good.yaml"]);
    assert_eq!(files(&inside, &["one.yaml"]), ["one.yaml"]);
}

#[test]
fn folder_with_many_symlinks_is_visited_once() {
    let inside = repository();
    // Each of 25 folders has two links to the next one, so 2^25 paths lead to the last one.
    for number in 0..25 {
        let folder = inside.path().join(format!("tree/{number}"));
        std::fs::create_dir_all(&folder).expect("a folder");
        for link in ["a", "b"] {
            symlink(format!("../{}", number + 1), folder.join(link)).expect("a link");
        }
    }
    inside.write("tree/25/deep.yaml", &CONFIG_MAP.replace("settings", "deep"));
    assert_eq!(files(&inside, &["tree"]), ["tree/25/deep.yaml"]);
    assert_eq!(
        files(&inside, &["tree/0"]).len(),
        1,
        "reached through links only, and once"
    );
    assert_eq!(files(&inside, &["tree/**/*.yaml"]), ["tree/25/deep.yaml"]);
}

#[test]
fn symlink_loop_is_reported() {
    let inside = repository();
    symlink("..", inside.path().join("rendered/up")).expect("a link");
    symlink("x.yaml", inside.path().join("rendered/x.yaml")).expect("a link");
    assert_eq!(
        findings(&inside, &["."]),
        [
            "unreadable-file `rendered/up` is a symbolic link back to ``, a loop",
            "unreadable-file `rendered/x.yaml` is a broken symbolic link",
        ]
    );
}

#[test]
fn order_of_arguments_does_not_affect_symlinked_files() {
    let inside = repository();
    inside.write("base/web.yaml", &CONFIG_MAP.replace("settings", "web"));
    symlink("../base", inside.path().join("rendered/base")).expect("a link");
    assert_eq!(
        files(&inside, &["rendered", "base"]),
        files(&inside, &["base", "rendered"])
    );
}

#[test]
fn discovered_configuration_cannot_name_paths_outside_the_repository() {
    let inside = repository();
    for path in ["/**/*.yaml", "/etc", "../elsewhere"] {
        inside.write(
            "ownerlint.yaml",
            &format!("version: 1\nbundles: {{all: {{paths: ['{path}']}}}}\n"),
        );
        let (status, _, error) = inside.run(&[], "");
        let expected = format!("error: bundle `all`: `{path}` is outside the repository\n");
        assert!(status == 2 && error.starts_with(&expected), "{error}");
    }
    inside.write(
        "ownerlint.yaml",
        "version: 1\nbundles: {all: {paths: ['rendered/**/*.yaml', ./rendered]}}\n",
    );
    assert_eq!(files(&inside, &[]), ["rendered/good.yaml"]);
    inside.write(
        "ownerlint.yaml",
        "version: 1\nbundles: {all: {paths: ['*/good.yaml']}}\n",
    );
    assert_eq!(files(&inside, &[]), ["rendered/good.yaml"]);
}

#[test]
fn symlinked_configuration_baseline_and_steps_are_not_read() {
    let (outside, inside) = (Repository::new(), repository());
    outside.write("token", "hunter2: [\n");
    let token = outside.path().join("token");
    let refused = |arguments: &[&str]| {
        let (status, out, error) = inside.run(arguments, "");
        assert_eq!(status, 2, "{arguments:?}: {error}");
        assert!(
            error.contains("is a symbolic link out of the tree"),
            "{arguments:?}: {error}"
        );
        assert!(!(out + &error).contains("hunter2"), "{arguments:?}");
    };
    symlink(&token, inside.path().join("ownerlint-baseline.json")).expect("a link");
    symlink(&token, inside.path().join("linked.yaml")).expect("a link");
    refused(&["rendered"]);
    refused(&["rendered", "--baseline", "linked.yaml"]);
    refused(&["rendered", "--no-baseline", "--config", "linked.yaml"]);
    refused(&["plan", "--steps", "linked.yaml", "rendered"]);
    symlink(&token, inside.path().join("ownerlint.yaml")).expect("a link");
    refused(&["rendered"]);
    // A linked folder on the path counts like a linked file.
    std::fs::remove_file(inside.path().join("ownerlint.yaml")).expect("removed");
    symlink(outside.path(), inside.path().join("conf")).expect("a link");
    refused(&["rendered", "--no-baseline", "--config", "conf/token"]);
}

#[test]
fn discovered_configuration_cannot_name_a_baseline_outside() {
    let (outside, inside) = (Repository::new(), repository());
    outside.write("token", "hunter2\n");
    let baseline = outside.path().join("token").display().to_string();
    inside.write(
        "ownerlint.yaml",
        &format!("version: 1\nbaseline: {baseline}\n"),
    );
    let (status, out, error) = inside.run(&["rendered"], "");
    assert!(
        status == 2 && error.contains("is outside the repository"),
        "{error}"
    );
    assert!(!(out + &error).contains("hunter2"));
}

#[test]
fn render_checkout_omits_symlinks_that_leave_it() {
    let link = |path, target: &'static str| CheckoutFile {
        path,
        bytes: target.as_bytes(),
        is_link: true,
        is_executable: false,
    };
    let file = CheckoutFile {
        path: "sub/file",
        bytes: b"",
        is_link: false,
        is_executable: false,
    };
    let links = [
        link("fine", "./sub/file"),
        link("sub/up", "../fine"),
        link("absolute", "/etc/passwd"),
        link("above", "../x"),
        // The text of each link stays inside, but one after the other they lead to the root of the machine.
        link("here", "."),
        link("climb", "here/.."),
        link("higher", "climb/.."),
    ];
    let checkout = Checkout::of(links.into_iter().chain([file])).expect("a checkout");
    let root = checkout.root().canonicalize().expect("a folder");
    for path in [
        "fine", "sub/up", "absolute", "above", "here", "climb", "higher",
    ] {
        let place = root.join(path).canonicalize();
        assert!(
            place.as_ref().is_ok_and(|place| place.starts_with(&root)) || place.is_err(),
            "{path}: {place:?}"
        );
        assert_eq!(
            place.is_ok(),
            matches!(path, "fine" | "sub/up" | "here"),
            "{path}"
        );
    }
}

/// Regression: builds followed links of all other names.
#[test]
fn symlinked_inputs_of_builds_outside_repository_are_not_read() {
    let outside = Repository::new();
    outside.write("object.yaml", &CONFIG_MAP.replace("settings", "hunter2"));
    for (entry, in_git) in [
        ("resources: [x.txt]\n", true),
        ("resources: [x.txt]\n", false),
        ("resources: [good.yaml]\npatches: [{path: x.txt}]\n", true),
        ("resources: [good.yaml]\npatches: [{path: x.txt}]\n", false),
    ] {
        let inside = crate::diff::Folder::new();
        inside.write("good.yaml", CONFIG_MAP);
        inside.write("kustomization.yaml", "resources: [good.yaml]\n");
        if in_git {
            inside.git(&["init", "-q", "-b", "main"]).commit();
        }
        inside.write("kustomization.yaml", entry);
        let target = outside.path().join("object.yaml");
        symlink(target, inside.path().join("x.txt")).expect("a link");
        for arguments in [&["list", "--deliveries"][..], &["diff"], &["check"]] {
            let mut program = crate::support::ownerlint();
            let output = program.current_dir(inside.path()).args(arguments).output();
            let output = output.expect("it runs");
            let text = [output.stdout, output.stderr].concat();
            let text = String::from_utf8_lossy(&text);
            assert!(!text.contains("hunter2"), "{arguments:?}: {text}");
            let is_named = arguments[0] != "list" || text.contains("out of the tree");
            assert!(is_named, "{text}");
        }
    }
}
