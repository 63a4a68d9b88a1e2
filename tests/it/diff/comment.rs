//! The comment on a pull request, as a reviewer sees it.

use super::places::{Folder, config, object};
use crate::support::{outside_code, ownerlint, root};

/// Returns the comment on a change from `base` to `head` below a folder.
fn comment(folder: &std::path::Path, more: &[&str]) -> String {
    let mut command = ownerlint();
    command
        .current_dir(folder)
        .args(["diff", "--base", "base", "--head", "head", "-o", "markdown"])
        .args(more);
    let output = command.output().expect("it runs");
    assert_ne!(
        output.status.code(),
        Some(2),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

/// Returns the comment on a fixture, with a few rules only, so that a new rule does not change it.
fn golden(name: &str) -> String {
    let rules = "crd-removed,data-removed,delivery-removed,namespace-removed";
    comment(
        &root().join("fixtures/diff/comment").join(name),
        &["--select", rules],
    )
}

/// Creates a change that removes a Namespace, while the files `rest` stay in it.
fn a_namespace_leaves(rest: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    folder
        .write("base/ns.yaml", &object("v1", "Namespace", "shop"))
        .write("head/none.yaml", "");
    for side in ["base", "head"] {
        for (path, text) in rest {
            folder.write(&format!("{side}/{path}"), text);
        }
    }
    folder
}

fn in_shop(text: &str) -> String {
    text.replacen("metadata:\n", "metadata:\n  namespace: shop\n", 1)
}

#[test]
fn comment_on_removed_application_with_data_and_shared_secret() {
    insta::assert_snapshot!(golden("application"));
}

#[test]
fn comment_on_removed_operator_with_definitions() {
    insta::assert_snapshot!(golden("definitions"));
}

#[test]
fn comment_on_removed_namespace_replaced_by_release() {
    insta::assert_snapshot!(golden("namespace"));
}

#[test]
fn comment_on_removed_kustomization_with_remaining_files() {
    insta::assert_snapshot!(golden("kustomization"));
}

#[test]
fn comment_on_removed_database() {
    insta::assert_snapshot!(golden("database"));
}

#[test]
fn comment_on_obvious_change_is_one_line() {
    let folder = Folder::new();
    folder
        .write("base/a.yaml", &config("a"))
        .write("base/b.yaml", &config("b"))
        .write("head/b.yaml", &config("b"));
    assert_eq!(
        comment(folder.path(), &["--by", "flux"]),
        "Merging this deletes 1 object: ConfigMap <code>a</code>. The change itself removes it.\n"
    );
    assert_eq!(
        comment(folder.path(), &["--by", "kubectl"]),
        "Merging this deletes nothing. 1 object that it removes stays in the cluster: no tool deletes it.\n"
    );
    folder.write("head/a.yaml", &config("a"));
    assert_eq!(
        comment(folder.path(), &[]),
        "Merging this deletes nothing.\n"
    );
}

#[test]
fn comment_lists_deleted_objects_of_unchanged_files() {
    let folder = Folder::new();
    let kustomization = |files: &str| format!("resources: [{files}]\n");
    for side in ["base", "head"] {
        folder
            .write(&format!("{side}/a.yaml"), &config("a"))
            .write(&format!("{side}/b.yaml"), &config("b"));
    }
    folder
        .write("base/kustomization.yaml", &kustomization("a.yaml, b.yaml"))
        .write("head/kustomization.yaml", &kustomization("b.yaml"));
    let comment = comment(folder.path(), &["--by", "flux"]);
    assert!(
        comment.starts_with("## Merging this deletes 1 object: ConfigMap <code>a</code>\n"),
        "{comment}"
    );
    let row = "| Deleted by the tool | 1 | <code>ConfigMap/?/a</code> |";
    assert!(comment.lines().any(|line| line == row), "{comment}");
}

#[test]
fn hostile_names_are_escaped_in_comment() {
    const NAMES: [&str; 9] = [
        "<img src=x onerror=alert(1)>",
        "**bold** [link](http://evil.example) ![x](y)",
        "@team #1 | cell",
        "</details><script>alert(1)</script>",
        "n0 --> n1\"]:::deleted; click n0 \"javascript:alert(1)\"",
        "```\n# heading",
        "\u{1b}[31mred\u{202e}desrever",
        "<!-- ownerlint -->",
        "1. list `code` $x$",
    ];
    let quoted: Vec<String> = NAMES
        .iter()
        .map(|name| {
            in_shop(&object(
                "v1",
                "ConfigMap",
                &serde_json::to_string(name).expect("JSON"),
            ))
        })
        .collect();
    let held: Vec<String> = quoted
        .iter()
        .map(|text| format!("{text}  finalizers: [example.com/hold]\n"))
        .collect();
    // A diagram draws up to three similar objects, so each has its own kind.
    let held: Vec<String> = held
        .iter()
        .zip("ABCDEFGHI".chars())
        .map(|(text, kind)| {
            text.replace("kind: ConfigMap", &format!("kind: {kind}"))
                .replace("apiVersion: v1", "apiVersion: example.com/v1")
        })
        .collect();
    let folder = a_namespace_leaves(&[("all.yaml", &held.join("---\n"))]);
    let said = comment(folder.path(), &["--by", "flux"]);
    let picture = said
        .split("```mermaid\n")
        .nth(1)
        .and_then(|rest| rest.split("\n```\n").next())
        .expect("a picture");
    assert!(
        picture.contains("#60;img src#61;x") && !picture.contains("<img"),
        "{picture}"
    );
    let outside = outside_code(&said);
    for danger in [
        "<img",
        "**bold",
        "](http://",
        "@team",
        "<script",
        "\n# ",
        "\u{1b}",
        "\u{202e}",
        "<!--",
        "$x$",
        "| cell",
    ] {
        assert!(!outside.contains(danger), "{danger:?}: {outside}");
    }
    assert_eq!(
        outside.matches("<details>").count(),
        outside.matches("</details>").count()
    );
}

#[test]
fn comment_is_truncated_to_its_limit_with_a_note() {
    let many: Vec<String> = (0..2_000)
        .map(|n| in_shop(&object("v1", "ConfigMap", &format!("settings-{n}"))))
        .collect();
    let folder = a_namespace_leaves(&[("all.yaml", &many.join("---\n"))]);
    let said = comment(folder.path(), &["--by", "flux"]);
    assert!(
        said.len() <= 65_536 && said.contains("\nand 1800 more\n"),
        "{} {said}",
        said.len()
    );
    for limit in [1_000, 4_000, 10_000] {
        let said = comment(
            folder.path(),
            &["--by", "flux", "--markdown-bytes", &limit.to_string()],
        );
        assert!(said.len() <= limit, "{} of {limit}", said.len());
        assert!(
            said.ends_with(
                "\nThe rest is left out: it does not fit into a comment. `ownerlint diff` lists every object.\n"
            ),
            "{said}"
        );
        assert_eq!(
            said.matches("<details>").count(),
            said.matches("</details>").count()
        );
        assert_eq!(said.matches("```").count() % 2, 0);
    }
}

#[test]
fn changed_images_are_listed_beside_deletions() {
    let folder = Folder::new();
    let deployment = |image: &str, probe: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop}}\nspec:\n  template:\n    spec:\n      \
             containers: [{{name: web, image: {image}}}, {{name: probe, image: {probe}}}]\n      \
             initContainers: [{{name: init, image: {image}}}]\n"
        )
    };
    let rollout = |image: &str| {
        let deployment = deployment(image, "p");
        deployment
            .replace("apps/v1", "argoproj.io/v1alpha1")
            .replace("Deployment", "Rollout")
    };
    for (side, tag, probe) in [
        ("base", "1.0", "quay.io/a/p:1"),
        ("head", "1.1", "ghcr.io/b/p:1"),
    ] {
        let image = format!("example.com:5000/web:{tag}");
        folder
            .write(&format!("{side}/web.yaml"), &deployment(&image, probe))
            .write(&format!("{side}/rollout.yaml"), &rollout(&image));
    }
    folder.write(
        "base/ns.yaml",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n",
    );
    let comment = comment(folder.path(), &["--by", "flux"]);
    let images: Vec<&str> = comment
        .lines()
        .filter(|line| line.starts_with("Image: "))
        .collect();
    let expected = [
        "Image: <code>example.com:5000/web</code> 1.0 → 1.1 in 2 objects.",
        "Image: quay.io/a/p:1 → ghcr.io/b/p:1 in 1 object.",
    ];
    assert_eq!(images, expected, "{comment}");
}
