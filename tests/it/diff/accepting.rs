//! `--accept`: a deletion that a person has approved.

use std::path::Path;
use std::process::Output;

use super::places::Folder;
use crate::support::{ownerlint, root};

/// The keys of the objects that the fixture of a Kustomization loses.
const LOST: [&str; 5] = [
    "Deployment.apps/apps/history",
    "ExternalSecret.external-secrets.io/apps/history",
    "Kustomization.kustomize.toolkit.fluxcd.io/flux-system/history",
    "PersistentVolumeClaim/apps/history",
    "Secret/apps/history-login",
];

/// Returns the status and the output of a comparison of a fixture.
fn compared(fixture: &str, more: &[&str]) -> (Option<i32>, String) {
    compared_in(&root().join("fixtures/diff/comment").join(fixture), more)
}

fn compared_in(folder: &Path, more: &[&str]) -> (Option<i32>, String) {
    let output = output_in(folder, more);
    let said = String::from_utf8(output.stdout).expect("text");
    (output.status.code(), said)
}

fn output_in(folder: &Path, more: &[&str]) -> Output {
    let mut command = ownerlint();
    command
        .current_dir(folder)
        .args([
            "diff",
            "--base",
            "base",
            "--head",
            "head",
            "--fail-on",
            "warning",
        ])
        .args(more);
    command.output().expect("it runs")
}

fn accepting<'k>(keys: &[&'k str]) -> Vec<&'k str> {
    keys.iter().flat_map(|key| ["--accept", key]).collect()
}

#[test]
fn finding_is_accepted_only_if_all_lost_objects_are_named() {
    assert_eq!(compared("kustomization", &[]).0, Some(1));
    let all = accepting(&LOST);
    assert_eq!(compared("kustomization", &all).0, Some(0));
    for left_out in LOST {
        let keys = LOST.into_iter().filter(|key| *key != left_out);
        let keys: Vec<&str> = keys.collect();
        let (status, _) = compared("kustomization", &accepting(&keys));
        assert_eq!(status, Some(1), "without {left_out}");
    }
    let pattern = accepting(&["*", "*/apps/*", "PersistentVolumeClaim/apps"]);
    assert_eq!(
        compared("kustomization", &pattern).0,
        Some(1),
        "no patterns"
    );
}

#[test]
fn finding_on_several_objects_is_accepted_only_if_all_are_named() {
    let fixture = "fixtures/rules/crd-removed/bad/several-of-which-git-has-no-instance";
    let folder = root().join(fixture);
    let keys = ["externalsecrets", "secretstores"].map(|plural| {
        format!("CustomResourceDefinition.apiextensions.k8s.io//{plural}.external-secrets.io")
    });
    let [first, second] = &keys;
    for (accepted, status) in [
        (vec![first.as_str()], 1),
        (vec![second.as_str()], 1),
        (vec![first.as_str(), second.as_str()], 0),
    ] {
        let found = compared_in(&folder, &accepting(&accepted)).0;
        assert_eq!(found, Some(status), "{accepted:?}");
    }
    let (_, comment) = compared_in(&folder, &["-o", "markdown"]);
    assert!(keys.iter().all(|key| comment.contains(key)), "{comment}");
}

#[test]
fn accepted_findings_are_shown_as_info_with_the_acceptor() {
    let mut all = accepting(&LOST);
    all.extend(["--accepted-by", "ann", "-o", "markdown"]);
    let (_, comment) = compared("kustomization", &all);
    assert!(
        comment.starts_with("## Merging this deletes 5 objects (1 by cascade)"),
        "{comment}"
    );
    assert!(
        comment.contains("- **info:** removing Kustomization"),
        "{comment}"
    );
    assert!(comment.contains("(accepted by ann)"), "{comment}");
    assert!(!comment.contains("If this is intended"), "{comment}");

    *all.last_mut().expect("an argument") = "json";
    let (_, json) = compared("kustomization", &all);
    let document: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let accepted = document["accepted"].as_array().expect("a list");
    assert!(!accepted.is_empty());
    assert!(
        accepted
            .iter()
            .all(|one| one["by"] == "ann" && one["severity"] != "info"),
        "{json}"
    );
    assert_eq!(document["summary"]["findings"]["warning"], 0);
    let all = [&all[..], &["--fail-on", "info"]].concat();
    assert_eq!(
        compared("kustomization", &all).0,
        Some(0),
        "it decides nothing"
    );
}

#[test]
fn terminal_lists_accepted_findings_that_it_does_not_draw() {
    let mut all = accepting(&LOST);
    all.extend(["--accepted-by", "ann"]);
    let (_, said) = compared("kustomization", &all);
    insta::assert_snapshot!(said);
    let (_, said) = compared("kustomization", &[&all[..], &["--show", "info"]].concat());
    assert!(!said.contains("Accepted\n"), "{said}");
    assert!(said.contains("(accepted by ann)"), "{said}");
    let (_, said) = compared("kustomization", &[]);
    assert!(!said.contains("Accepted\n"), "{said}");
}

#[test]
fn comment_lists_the_keys_that_accept_it() {
    let (_, comment) = compared("kustomization", &["-o", "markdown"]);
    let (_, wanted) = comment
        .split_once("<pre>\n/ownerlint accept\n")
        .expect("the keys");
    let (keys, _) = wanted.split_once("\n</pre>").expect("an end");
    assert_eq!(keys.lines().collect::<Vec<_>>(), LOST);
    let folder = Folder::new();
    folder.write("keys", &format!("# by ann\n\n{keys}\n"));
    let file = folder.path().join("keys").display().to_string();
    assert_eq!(
        compared("kustomization", &["--accept-file", &file]).0,
        Some(0)
    );
}

#[test]
fn failing_run_says_how_to_accept() {
    let fixtures = root().join("fixtures/diff/comment");
    let hint = |folder: &str, more: &[&str]| {
        let output = output_in(&fixtures.join(folder), more);
        String::from_utf8(output.stderr).expect("text")
    };
    assert_eq!(
        hint("kustomization", &[]),
        "if this is intended: `--accept KEY` for each of the 5 keys that `--output markdown` \
         lists\n"
    );
    assert_eq!(hint("kustomization", &accepting(&LOST)), "");
    assert_eq!(hint("kustomization", &["-o", "json"]), "");
    let claim = Folder::new();
    claim
        .write("base/a.yaml", "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\n")
        .write("base/b.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: shop}\n")
        .write("head/b.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b, namespace: shop}\n");
    let claim = claim.path().to_str().expect("UTF-8").to_owned();
    assert_eq!(
        hint(&claim, &["--by", "argocd"]),
        "if this is intended: `--accept PersistentVolumeClaim/shop/data`\n"
    );
}

#[test]
fn unused_accepted_key_is_noted_and_missing_accept_file_fails() {
    let (_, said) = compared("kustomization", &["--accept", "Secret/apps/other"]);
    assert!(
        said.contains("note: `Secret/apps/other` is accepted, but nothing deletes it\n"),
        "{said}"
    );
    assert_eq!(
        compared("kustomization", &["--accept-file", "absent"]).0,
        Some(2)
    );
}

/// `list` prints the namespace of such a key as `?`, and other commands take short names.
#[test]
fn accepted_key_in_another_form_names_the_key_to_write() {
    for (key, meant) in [
        (
            "PersistentVolumeClaim/?/history",
            "PersistentVolumeClaim/apps/history",
        ),
        (
            "PersistentVolumeClaim//history",
            "PersistentVolumeClaim/apps/history",
        ),
        ("secret/history-login", "Secret/apps/history-login"),
        (
            "PersistentVolumeClaim/apps/hisotry",
            "PersistentVolumeClaim/apps/history",
        ),
    ] {
        let (status, said) = compared("kustomization", &["--accept", key]);
        let words: Vec<&str> = said.split_whitespace().collect();
        let expected = format!(
            "note: `{key}` is accepted, but is not the key of a deleted object: did you mean \
             `{meant}`?"
        );
        assert!(words.join(" ").contains(&expected), "{said}");
        assert_eq!(status, Some(1), "{key}");
    }
}

#[test]
fn finding_accepted_in_part_names_the_missing_keys() {
    let (_, said) = compared("kustomization", &accepting(&LOST[1..]));
    let words: Vec<&str> = said.split_whitespace().collect();
    assert!(
        words.join(" ").contains(
            "note: delivery-removed: not accepted, because 1 of the 5 objects that it deletes is not: \
             `Deployment.apps/apps/history`"
        ),
        "{said}"
    );
}

/// Creates a change that removes one claim from two clusters.
fn claim_leaves_two_clusters() -> Folder {
    let folder = Folder::new();
    let sync = |cluster: &str| {
        format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: flux-system, namespace: flux-system}}\n\
             spec: {{url: https://git.example.org/ops}}\n---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
             metadata: {{name: flux-system, namespace: flux-system}}\nspec: {{path: ./clusters/{cluster}, prune: true, \
             sourceRef: {{kind: GitRepository, name: flux-system}}}}\n"
        )
    };
    let claim =
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\n";
    for side in ["base", "head"] {
        for cluster in ["prod", "stage"] {
            folder.write(
                &format!("{side}/clusters/{cluster}/sync.yaml"),
                &sync(cluster),
            );
            if side == "base" {
                folder.write(&format!("{side}/clusters/{cluster}/data.yaml"), claim);
            }
        }
    }
    folder
}

#[test]
fn object_in_two_clusters_must_be_accepted_for_each() {
    let folder = claim_leaves_two_clusters();
    let status = |keys: &[&str]| compared_in(folder.path(), &accepting(keys)).0;
    let [prod, stage] =
        ["prod", "stage"].map(|at| format!("PersistentVolumeClaim/shop/data@clusters/{at}"));
    assert_eq!(status(&["PersistentVolumeClaim/shop/data"]), Some(1));
    assert_eq!(status(&[&prod]), Some(1));
    assert_eq!(status(&[&prod, &stage]), Some(0));
    let (_, said) = compared_in(folder.path(), &accepting(&["pvc/data@clusters/prod"]));
    let words: Vec<&str> = said.split_whitespace().collect();
    let expected = format!("did you mean `{prod}`, `{stage}`?");
    assert!(words.join(" ").contains(&expected), "{said}");
    // A key copied from the comment has an invisible space after `@`.
    let copied = [prod, stage].map(|key| key.replace('@', "@\u{200b}"));
    assert_eq!(status(&[&copied[0], &copied[1]]), Some(0));
}

#[test]
fn object_lost_by_two_clusters_is_named_once() {
    let folder = claim_leaves_two_clusters();
    let (_, said) = compared_in(folder.path(), &["-o", "markdown"]);
    assert!(
        said.starts_with(
            "## Merging this deletes 2 objects: PersistentVolumeClaim <code>data</code> in 2 clusters;"
        ),
        "{said}"
    );
    let row = said
        .lines()
        .find(|line| line.starts_with("| Data is deleted"));
    assert_eq!(row.expect("a row").matches("<code>").count(), 1, "{said}");
}
