//! The lines of text that say what merging a change does.

use super::places::{Folder, config, object};

/// Returns the output of the comparison of `base` and `head` below a folder, with each run of blanks as one space.
fn unwrapped(folder: &Folder, more: &[&str]) -> String {
    let said = folder.text(more);
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn stateful_set(name: &str, more: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n  replicas: 2\n  selector: {{matchLabels: {{app: db}}}}\n  template: {{metadata: {{labels: {{app: db}}}}, spec: {{containers: [{{name: db, image: db}}]}}}}\n  volumeClaimTemplates: [{{metadata: {{name: data}}}}]\n{more}"
    )
}

#[test]
fn claims_of_deleted_stateful_sets_stay() {
    let folder = Folder::new();
    folder
        .write("base/a.yaml", &stateful_set("db", ""))
        .write("base/b.yaml", &config("b"))
        .write("head/b.yaml", &config("b"));
    let claims = "StatefulSet.apps/shop/db does not delete its claims, and their data stays: PersistentVolumeClaim/shop/data-db-0, \
                  PersistentVolumeClaim/shop/data-db-1";
    // The note is shown whether the tool is known or not.
    for by in [&["--by", "flux"][..], &[]] {
        let said = unwrapped(&folder, by);
        assert!(said.contains(&format!("note: {claims} ")), "{said}");
        for format in ["json", "html", "markdown"] {
            let said = folder.text(&[&["-o", format], by].concat());
            assert!(said.contains("does not delete its claims"), "{said}");
        }
    }
    let comment = folder.text(&["--by", "flux", "-o", "markdown"]);
    assert_eq!(comment.lines().count(), 1, "{comment}");

    folder.write("base/c.yaml", &stateful_set("cache", ""));
    let both = "2 StatefulSets do not delete their claims, and their data stays: PersistentVolumeClaim/shop/data-cache-0, \
                PersistentVolumeClaim/shop/data-cache-1, PersistentVolumeClaim/shop/data-db-0 and 1 more";
    let said = unwrapped(&folder, &["--by", "flux"]);
    assert!(said.contains(both), "{said}");
}

#[test]
fn claims_of_removed_replicas_are_deleted() {
    let folder = Folder::new();
    let policy = "  persistentVolumeClaimRetentionPolicy: {whenScaled: Delete}\n";
    let set = stateful_set("db", policy);
    folder
        .write("base/a.yaml", &set)
        .write("head/a.yaml", &set.replace("replicas: 2", "replicas: 1"));
    let said = unwrapped(&folder, &["--by", "flux"]);
    for part in [
        "scaling down StatefulSet `db` deletes 1 claim, such as `data-db-1`",
        "PersistentVolumeClaim/shop/data-db-1",
        "Merging this deletes 1 object",
        "the data of 1 volume may be deleted",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("data-db-0"), "{said}");
    let retained = set.replace("Delete", "Retain");
    folder.write("base/a.yaml", &retained).write(
        "head/a.yaml",
        &retained.replace("replicas: 2", "replicas: 1"),
    );
    let said = unwrapped(&folder, &["--by", "flux"]);
    assert!(!said.contains("data-db-1"), "{said}");
}

#[test]
fn remedy_for_changed_selector_does_not_promise_adoption() {
    let folder = Folder::new();
    let set = stateful_set("db", "");
    folder
        .write("base/a.yaml", &set)
        .write("head/a.yaml", &set.replace("app: db", "app: data"));
    let said = unwrapped(&folder, &["--by", "flux"]);
    assert!(said.contains("a new one would not adopt them"), "{said}");
    assert!(!said.contains("--cascade=orphan"), "{said}");
    folder.write("head/a.yaml", &(set.clone() + "  serviceName: db\n"));
    let said = unwrapped(&folder, &["--by", "flux"]);
    assert!(said.contains("--cascade=orphan"), "{said}");
}

#[test]
fn claims_that_are_deleted_or_used_again_do_not_stay() {
    let delete = "  persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}\n";
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
    for (base, head) in [
        (stateful_set("db", delete), config("b")),
        (stateful_set("db", "") + "---\n" + namespace, config("b")),
        (
            stateful_set("db", ""),
            stateful_set("db", "") + "  serviceName: db\n",
        ),
    ] {
        let folder = Folder::new();
        folder
            .write("base/a.yaml", &base)
            .write("head/a.yaml", &head);
        let said = folder.text(&["--by", "flux"]);
        assert!(!said.contains("delete its claims"), "{said}");
    }
}

#[test]
fn concise_output_names_each_deleted_object() {
    let folder = Folder::new();
    folder
        .write("base/a.yaml", &config("a"))
        .write("base/b.yaml", &config("b"))
        .write("head/b.yaml", &config("b"));
    let concise = |more: &[&str]| folder.text(&[&["-o", "concise"], more].concat());
    assert_eq!(
        concise(&["--by", "flux"]),
        "deleted: ConfigMap/?/a\nMerging this deletes 1 object: ConfigMap `a`\n"
    );
    assert_eq!(concise(&["--by", "kubectl"]), "");
    let unknown = concise(&[]);
    assert!(unknown.starts_with("ownerlint cannot tell: "), "{unknown}");

    let claim = object("v1", "PersistentVolumeClaim", "data");
    folder.write("base/a.yaml", &claim);
    let lost = concise(&["--by", "flux"]);
    let lines: Vec<&str> = lost.lines().collect();
    let [finding, deleted, answer] = lines.as_slice() else {
        panic!("{lost}");
    };
    assert!(finding.contains("[volume-removed]"), "{lost}");
    assert_eq!(
        *deleted,
        "deleted: PersistentVolumeClaim/?/data, possibly with its data"
    );
    assert!(
        answer.starts_with("Merging this deletes 1 object"),
        "{lost}"
    );
}

#[test]
fn equal_effects_in_several_clusters_share_a_line() {
    let folder = Folder::new();
    folder.write(
        "base/ownerlint.yaml",
        "version: 1\nbundles:\n  eu: {paths: [eu], delivery: flux, cluster: eu}\n  us: {paths: [us], delivery: flux, cluster: us}\n",
    );
    for cluster in ["eu", "us"] {
        folder
            .write(&format!("base/{cluster}/a.yaml"), &config("a"))
            .write(&format!("base/{cluster}/b.yaml"), &config("b"))
            .write(&format!("head/{cluster}/b.yaml"), &config("b"));
    }
    let said = folder.text(&["--config", "base/ownerlint.yaml"]);
    assert!(
        said.contains("Deleted by the tool\n  ConfigMap/?/a, in 2 clusters\n\n"),
        "{said}"
    );
}

#[test]
fn equal_reasons_for_not_reading_share_a_line() {
    let folder = Folder::new();
    let release = |name: &str, version: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: {name}, namespace: shop}}\nspec: {{chart: {{spec: {{chart: web, version: {version}, sourceRef: {{kind: HelmRepository, name: web}}}}}}}}\n"
        )
    };
    for (side, version) in [("base", "1.0.0"), ("head", "2.0.0")] {
        for name in ["a", "b", "c"] {
            folder.write(&format!("{side}/{name}.yaml"), &release(name, version));
        }
    }
    let said = unwrapped(&folder, &[]);
    assert!(
        said.contains(
            "Not read chart web 1.0.0 → 2.0.0 head/a.yaml:4 and 2 more (the chart is not rendered) note: "
        ),
        "{said}"
    );

    for (side, value) in [("base", "1"), ("head", "2")] {
        for name in ["a", "b", "c", "d", "e"] {
            let values = release(name, "1.0.0")
                .replace("spec: {", &format!("spec: {{values: {{a: {value}}}, "));
            folder.write(&format!("{side}/{name}.yaml"), &values);
        }
    }
    let said = unwrapped(&folder, &[]);
    let row = "values of HelmRelease shop/a, values of HelmRelease shop/b, values of HelmRelease shop/c and 2 more head/a.yaml:4 and 4 more (";
    assert!(said.contains(row), "{said}");
    let comment = folder.text(&["-o", "markdown"]);
    assert_eq!(comment.matches("values of HelmRelease shop/a").count(), 1);
}
