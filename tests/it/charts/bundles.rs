//! Bundles of the configuration with `--render`: their namespaces, and the programs that render them.

use super::surroundings::Surroundings;

const CHART: (&str, &str) = (
    "charts/web/Chart.yaml",
    "apiVersion: v2\nname: web\nversion: 1.0.0\n",
);
/// An object in the namespace of the release that lacks the uid of its owner.
const OBJECT: &str = "---\n# Source: web/templates/a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: RELEASE, namespace: NAMESPACE, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner}]}\n";

fn tree(bundle: &str) -> Surroundings {
    let tree = Surroundings::with_fake_helm();
    let config = format!(
        "version: 1\nbundles:\n  other: {{paths: [other]}}\n  shop: {{paths: [charts/web], {bundle}}}\n"
    );
    tree.write(&[
        CHART,
        ("charts/web/objects.txt", OBJECT),
        (
            "other/a.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n",
        ),
        ("ownerlint.yaml", &config),
    ]);
    tree.folder.commit();
    tree
}

/// Returns the exit status, the standard output and the standard error.
fn run(tree: &Surroundings, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = tree.ownerlint().args(arguments).output();
    let output = output.expect("it runs");
    let [said, notes] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
    (output.status.code(), said, notes)
}

const RENDER: &str = "namespace: shop, render: [sed, -e, s/RELEASE/mine/, -e, s/NAMESPACE/theirs/, charts/web/objects.txt]";

#[test]
fn chart_is_installed_into_namespace_of_its_bundle() {
    let tree = tree("namespace: shop");
    for arguments in [
        &["list", "--render"][..],
        &["list", "--render", "charts/web"],
    ] {
        let (_, said, notes) = run(&tree, arguments);
        assert!(said.contains("ConfigMap/shop/web"), "{said}{notes}");
    }
    let (_, said, _) = run(&tree, &["list", "--render", "-n", "else"]);
    assert!(said.contains("ConfigMap/else/web"), "{said}");
}

#[test]
fn program_of_bundle_is_run_instead_of_helm() {
    let tree = tree(RENDER);
    for arguments in [
        &["list", "--render"][..],
        &["list", "--render", "."],
        &["list", "--render", "charts/web"],
    ] {
        let (status, said, notes) = run(&tree, arguments);
        assert_eq!(status, Some(0), "{notes}");
        let expected = "ConfigMap/theirs/mine  namespaced  shop (rendered).yaml:3\n";
        assert!(said.contains(expected), "{arguments:?}: {said}");
        assert_eq!(said.matches("ConfigMap/").count(), 1, "{said}");
    }
    assert_eq!(tree.calls(), [""; 0]);
    let (_, said, _) = run(&tree, &["list", "--render", "other"]);
    assert!(!said.contains("ConfigMap"), "{said}");
}

#[test]
fn finding_in_output_of_program_names_line_of_bundle() {
    let tree = tree(RENDER);
    let (status, said, _) = run(&tree, &["check", "--render", "-o", "github"]);
    assert_eq!(status, Some(1));
    assert!(said.contains("file=ownerlint.yaml,line=4"), "{said}");
    let (status, said, notes) = run(&tree, &["check", "--render", "--only-changed-from", "HEAD"]);
    assert_eq!(status, Some(0), "known before: {said}{notes}");
    let config = std::fs::read_to_string(tree.folder.path().join("ownerlint.yaml"));
    let more = "  more: {paths: [charts/new], render: [cat, charts/new/objects.txt]}\n";
    let config = config.expect("a file") + more;
    tree.write(&[
        ("ownerlint.yaml", &config),
        ("charts/new/objects.txt", &OBJECT.replace("RELEASE", "new")),
    ]);
    let (status, said, notes) = run(&tree, &["check", "--render", "--only-changed-from", "HEAD"]);
    assert_eq!(status, Some(1), "{notes}");
    assert!(said.contains("more (rendered).yaml:5"), "{said}");
    assert!(!said.contains("shop (rendered)"), "{said}");
}

#[test]
fn failing_program_of_bundle_ends_check() {
    let tree = tree("render: [sh, -c, 'echo broken >&2; exit 1']");
    let (status, _, notes) = run(&tree, &["check", "--render"]);
    assert_eq!(status, Some(2), "{notes}");
    assert!(
        notes.contains("cannot render bundle `shop` of the work tree"),
        "{notes}"
    );
}

#[test]
fn plan_runs_program_of_bundle() {
    let tree = tree(RENDER);
    let arguments = [
        "plan",
        "delete",
        "configmap/mine",
        "-n",
        "theirs",
        "--render",
    ];
    let (status, said, notes) = run(&tree, &arguments);
    assert_eq!(status, Some(0), "{notes}");
    assert!(said.contains("ConfigMap/theirs/mine: deleted"), "{said}");
}
