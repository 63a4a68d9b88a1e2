//! The resources of a run for an input below 10 MB, within limits that the operating system enforces (`../limits.rs`).
//! `fuzz/bounds.py` looks for the inputs that come closest to the limits, with the optimised program.

use serde_json::Value;

use crate::limits::{limited, shell};
use crate::support::Repository;

/// Checks a text within the limits. Returns the first line of output, or an empty text.
fn checked(text: &str) -> String {
    printed(text, "--allow-empty -o concise")
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Returns the output of a check of a text within the limits.
fn printed(text: &str, arguments: &str) -> String {
    assert!(text.len() < 10_000_000, "{}", text.len());
    let inside = Repository::new();
    inside.write("input.yaml", text);
    let run = limited(
        &inside.path(),
        &format!("--threads 2 --no-config {arguments} input.yaml"),
    );
    let error = String::from_utf8_lossy(&run.stderr);
    assert!(
        matches!(run.status.code(), Some(0 | 1)),
        "{:?}: {error}",
        run.status
    );
    String::from_utf8(run.stdout).expect("UTF-8")
}

/// Repeats `unit`, with its number in place of `#`.
fn numbered(unit: &str, times: usize) -> String {
    (0..times)
        .map(|number| unit.replace('#', &number.to_string()))
        .collect()
}

/// Repeats `unit` as often as it fits into `bytes`, with its number in place of `#`.
fn repeated(unit: &str, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes);
    for number in 0.. {
        let next = unit.replace('#', &number.to_string());
        if text.len() + next.len() > bytes {
            break;
        }
        text.push_str(&next);
    }
    text
}

const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n";

#[test]
fn exponential_aliases_are_rejected() {
    let level = |name: char, before: char| {
        format!(
            "{name}: &{name} [{}]\n",
            vec![format!("*{before}"); 9].join(",")
        )
    };
    let names: Vec<char> = ('a'..='i').collect();
    let rest: String = names
        .windows(2)
        .map(|pair| level(pair[1], pair[0]))
        .collect();
    let found = checked(&format!(
        "{OBJECT}data:\n  a: &a [x,x,x,x,x,x,x,x,x]\n{rest}"
    ));
    assert!(
        found.contains("error[unreadable-document] document contains excessive aliasing"),
        "{found}"
    );
}

/// Regression: counting the alias budget of each document walked through a hundred times its text.
#[test]
fn thousands_of_documents_near_the_alias_limit() {
    let level = |name: char, before: char| {
        format!("- &{name} [{}]\n", vec![format!("*{before}"); 8].join(","))
    };
    let levels: String = ['a', 'b', 'c', 'd', 'e']
        .windows(2)
        .map(|pair| level(pair[1], pair[0]))
        .collect();
    let values = "x,".repeat(1_500);
    let unit =
        format!("---\n{OBJECT}x:\n- [{values}]\n- &a [x,x,x,x,x,x,x,x]\n{levels}- [*e,*e]\n");
    assert_eq!(
        checked(&repeated(&unit.replace("name: a", "name: a#"), 9_900_000)),
        ""
    );
}

#[test]
fn hundred_thousand_nesting_levels_of_every_kind() {
    for unit in [
        "[", "{a: ", "{\"a\":", "[{", "- ", "? ", "a:\n- ", "!x [", "&a [", "- - ", "{? ", "(",
        "<", "\"",
    ] {
        let found = checked(&format!("{OBJECT}data: {}\n", unit.repeat(100_000)));
        assert!(
            found.is_empty() || found.contains("error[unreadable-document]"),
            "{unit:?}: {found}"
        );
        let alone = checked(&unit.repeat(100_000));
        assert!(
            alone.is_empty() || alone.contains("error["),
            "{unit:?}: {alone}"
        );
    }
    // The text grows with the square of its depth: 4,000 levels have 8 MB.
    let indented: String = (0..4_000)
        .map(|level| format!("{}a:\n", " ".repeat(level)))
        .collect();
    checked(&format!("{OBJECT}{indented}"));
    let lists = format!(
        "{}{}",
        "{apiVersion: v1, kind: List, items: [".repeat(3_000),
        "]}".repeat(3_000)
    );
    checked(&lists);
}

/// Regression: each line break was kept as a problem with a path and a kind: 850 MB.
#[test]
fn millions_of_nonstandard_line_breaks() {
    let breaks = "\u{85}".repeat(3_000_000);
    let found = printed(
        &format!("{OBJECT}{breaks}data: {{}}\n"),
        "-o concise --show info",
    );
    assert!(
        found.contains("info[nonstandard-yaml] a Unicode line break (NEL, LS or PS) ends a line"),
        "{found:.300}"
    );
}

/// Regression: each tag was kept with its prefix: 500,000 times 5 MB.
#[test]
fn tag_prefix_of_five_megabytes() {
    // With an LF before its `---`, a directive is a document of its own.
    let directive = format!("%TAG ! !{}\r---\r", "x".repeat(5_000_000));
    let entries = "- !a x\n".repeat(500_000);
    let found = printed(
        &format!("{directive}{OBJECT}x:\n{entries}"),
        "-o concise --show info",
    );
    assert_eq!(found.lines().count(), 0, "{found:.300}");
}

/// Regression: each delivery object built the whole folder: 20 seconds and 2 GB.
#[test]
fn thousands_of_delivery_objects_that_build_one_folder() {
    let inside = Repository::new();
    for number in 0..1_000 {
        let object = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a{number}, namespace: b}}\n"
        );
        inside.write(&format!("apps/{number}.yaml"), &object);
    }
    let delivery = "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
                    metadata: {name: k#, namespace: flux-system}\n\
                    spec: {path: ./apps, prune: true, targetNamespace: n#, sourceRef: {kind: GitRepository, name: a}}\n";
    inside.write("flux.yaml", &repeated(delivery, 2_000_000));
    let run = limited(&inside.path(), "--threads 2 --no-config -o concise");
    let error = String::from_utf8_lossy(&run.stderr);
    assert!(
        matches!(run.status.code(), Some(0 | 1)),
        "{:?}: {error}",
        run.status
    );
    assert!(
        error.contains("builds make more than 150000 copies of objects: their objects were not followed any further"),
        "{error}"
    );
}

/// An ordinary input: 40 clusters build the 1,000 objects of one folder, of which one is removed.
#[test]
fn overlays_of_40_clusters_share_a_folder_of_1000_objects() {
    let inside = Repository::new();
    for (side, count) in [("base", 1_000), ("head", 999)] {
        let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c#, namespace: b}\n";
        for number in 0..count {
            inside.write(
                &format!("{side}/apps/{number}.yaml"),
                &object.replace('#', &number.to_string()),
            );
        }
        let resources = numbered("- #.yaml\n", count);
        inside.write(
            &format!("{side}/apps/kustomization.yaml"),
            &format!("resources:\n{resources}"),
        );
        for number in 0..40 {
            let kustomization = format!("nameSuffix: -k{number}\nresources: [../../apps]\n");
            inside.write(
                &format!("{side}/clusters/{number}/kustomization.yaml"),
                &kustomization,
            );
        }
    }
    let run = limited(
        &inside.path(),
        "diff --base base --head head --no-config --fail-on never --threads 2",
    );
    let (out, error) = (
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr),
    );
    assert_eq!(run.status.code(), Some(0), "{error}");
    assert!(out.lines().any(|line| line == "40 removed"), "{out:.300}");
}

/// Regression: each deletion searched every object for its deliveries, and every object of its folder's destination.
#[test]
fn thousands_of_folders_with_one_delivery_each() {
    let inside = Repository::new();
    let object = |number, of| {
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{number}-{of}, namespace: b}}\n"
        )
    };
    for number in 0..6_000 {
        for (side, last) in [("base", 2), ("head", 1)] {
            let objects: String = (0..last).map(|of| object(number, of)).collect();
            inside.write(&format!("{side}/apps/{number}/cm.yaml"), &objects);
            inside.write(
                &format!("{side}/apps/{number}/kustomization.yaml"),
                "resources: [cm.yaml]\n",
            );
        }
    }
    let delivery = "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
                    metadata: {name: k#, namespace: flux-system}\n\
                    spec: {path: ./apps/#, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n";
    let source = "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n\
                  metadata: {name: flux-system, namespace: flux-system}\nspec: {url: \"ssh://git@x/y\"}\n";
    for side in ["base", "head"] {
        inside.write(
            &format!("{side}/flux.yaml"),
            &format!("{}{source}", numbered(delivery, 6_000)),
        );
    }
    for (arguments, says) in [
        ("--base base --head head", "Merging this deletes"),
        (
            "--base base/apps --head head/apps --by helm",
            "Merging this deletes",
        ),
        ("--base base --head empty", "Merging this may delete"),
    ] {
        inside.write("empty/cm.yaml", OBJECT);
        let run = limited(
            &inside.path(),
            &format!("diff {arguments} --no-config --fail-on never --threads 2"),
        );
        let error = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(0), "{arguments}: {error}");
        assert!(
            String::from_utf8_lossy(&run.stdout).contains(says),
            "{arguments}"
        );
    }
}

/// Regression: requests about one object were compared with all others at every step: a minute for 2,000.
#[test]
fn thousand_applications_that_delete_one_object() {
    let inside = Repository::new();
    let delivery = "---\napiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: k#, namespace: argocd}\n\
                    spec: {project: default, syncPolicy: {automated: {prune: true}}, destination: {namespace: b, server: x}, \
                    source: {repoURL: \"https://x/y\", path: apps/#}}\n";
    for number in 0..1_000 {
        inside.write(&format!("base/apps/{number}/cm.yaml"), OBJECT);
        inside.write(
            &format!("head/apps/{number}/cm.yaml"),
            &OBJECT.replace("name: a", "name: z"),
        );
    }
    for side in ["base", "head"] {
        inside.write(&format!("{side}/argo.yaml"), &numbered(delivery, 1_000));
    }
    let run = limited(
        &inside.path(),
        "diff --base base --head head --no-config --fail-on never --threads 2",
    );
    let error = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(0), "{error}");
    assert!(String::from_utf8_lossy(&run.stdout).contains("ConfigMap/b/a"));
}

/// Both files of a level include both of the next: 67 million builds of the last file, of which many were compared.
#[test]
fn exponentially_shared_overlays_are_an_error() {
    let inside = Repository::new();
    for (level, side) in (0..26).flat_map(|level| ["a", "b"].map(|side| (level, side))) {
        let next = if level == 25 {
            "[cm.yaml]".to_owned()
        } else {
            format!("[../{0}a, ../{0}b]", level + 1)
        };
        let kustomization = format!("namePrefix: {side}-\nresources: {next}\n");
        inside.write(
            &format!("base/{level}{side}/kustomization.yaml"),
            &kustomization,
        );
        inside.write(&format!("base/{level}{side}/cm.yaml"), OBJECT);
    }
    inside.write("head/cm.yaml", OBJECT);
    let run = limited(&inside.path(), "diff --base base --head head --no-config");
    let error = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{error}");
    assert!(
        error.contains("builds make more than 150000 copies of objects"),
        "{error}"
    );
}

#[test]
fn million_empty_documents() {
    assert_eq!(checked(&"---\n".repeat(1_000_000)), "");
}

#[test]
fn list_limits_skipped_documents_to_100000() {
    let inside = Repository::new();
    inside.write("input.yaml", &"---\n{}\n".repeat(150_000));
    let run = limited(
        &inside.path(),
        "list --no-config --threads 2 --allow-empty -o json input.yaml",
    );
    let listing: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    assert_eq!(listing["skipped"].as_array().map(Vec::len), Some(100_000));
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(
        said.trim(),
        "warning: 50000 more documents were skipped: 100000 are listed"
    );
}

#[test]
fn hundreds_of_thousands_of_documents_without_objects() {
    assert_eq!(checked(&repeated("---\na: #\n", 3_000_000)), "");
    assert_eq!(checked(&repeated("{}\n", 1_200_000)), "");
}

#[test]
fn hundred_thousand_unreadable_documents() {
    assert_eq!(checked(&repeated("---\n[\n", 600_000)), "");
    let manifests = checked(&repeated("---\napiVersion: [\n", 1_000_000));
    assert!(
        manifests.contains("error[unreadable-document]"),
        "{manifests}"
    );
}

#[test]
fn three_megabytes_of_objects() {
    checked(&repeated(
        &format!("---\n{}", OBJECT.replace("name: a", "name: a#")),
        3_000_000,
    ));
}

/// Regression: each object indented the picture in `human` further: 3 GB for 10 MB.
#[test]
fn ring_of_thousands_of_owners_is_drawn_truncated() {
    const COUNT: usize = 6_000;
    let object = |number: usize| {
        let owner = (number + 1) % COUNT;
        format!(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a{number}, namespace: a, uid: u{number}, resourceVersion: '1', \
             ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: a{owner}, uid: u{owner}}}]}}\n"
        )
    };
    let text: String = (0..COUNT).map(object).collect();
    let drawn = printed(&text, "-o human");
    assert!(
        drawn.contains("ConfigMap/a/a9 → 5990 more objects → ConfigMap/a/a0"),
        "{drawn}"
    );
    assert!(
        drawn.contains("and 5989 more objects\n") && drawn.len() < 20_000,
        "{} bytes",
        drawn.len()
    );
}

/// Regression: the edits of a finding were copied for each document that it changes.
#[test]
fn finding_with_a_fix_in_tens_of_thousands_of_documents() {
    let unit = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a#, namespace: a, uid: u, resourceVersion: '1'}\n";
    let report: Value =
        serde_json::from_str(&printed(&repeated(unit, 4_000_000), "-o json")).expect("JSON");
    let changed = |finding: &Value| finding["fixes"][0]["edits"].as_array().map_or(0, Vec::len);
    let most = report["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .map(changed)
        .max();
    assert!(most > Some(30_000), "{most:?}");
}

/// A thousand edits cannot be reviewed in an alert or beside a line.
#[test]
fn fix_with_over_1000_edits_is_only_in_json() {
    let unit = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a#, namespace: a, uid: u, resourceVersion: '1'}\n";
    for (objects, is_shown) in [(400, true), (1_200, false)] {
        let text = numbered(unit, objects);
        for (format, member) in [
            ("sarif", "\"fixes\""),
            ("rdjson", "\"suggestions\""),
            ("lsp", "\"newText\""),
        ] {
            assert_eq!(
                printed(&text, &format!("-o {format}")).contains(member),
                is_shown,
                "{format} {objects}"
            );
        }
        assert!(printed(&text, "-o json").contains("\"edits\""), "{objects}");
    }
}

/// Regression: each generator searched all others for a user of the Secret: 20 seconds for 10 MB.
#[test]
fn tens_of_thousands_of_generators_of_one_secret() {
    let unit = "---\napiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: a#, namespace: a}\nspec: {target: {name: s}}\n";
    let inside = Repository::new();
    inside.write("input.yaml", &repeated(unit, 8_000_000));
    let run = limited(
        &inside.path(),
        "plan delete ns/a --no-config --threads 2 -f input.yaml",
    );
    assert_eq!(
        run.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert!(String::from_utf8_lossy(&run.stdout).contains("ExternalSecret"));
}

/// Regression: each of a thousand bundles had its own entry for every file.
#[test]
fn too_many_files_in_all_bundles_are_an_error() {
    let inside = Repository::new();
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c#, namespace: b}\n";
    for number in 0..1_000 {
        inside.write(
            &format!("all/{number}.yaml"),
            &object.replace('#', &number.to_string()),
        );
    }
    let bundles = numbered("  b#: { paths: [all] }\n", 1_000);
    inside.write(
        "ownerlint.yaml",
        &format!("version: 1\nbundles:\n{bundles}"),
    );
    for arguments in ["check --threads 2", "check --threads 2 all"] {
        let run = limited(&inside.path(), arguments);
        assert_eq!(run.status.code(), Some(2), "{arguments}");
        let error = String::from_utf8_lossy(&run.stderr);
        assert!(
            error.contains("the paths of all bundles lead to more than 500000 files together"),
            "{error}"
        );
    }
}

/// Regression: a picture computed all references of an object once for each of them: over 20 seconds for 2.5 MB.
#[test]
fn html_plan_with_tens_of_thousands_of_references() {
    let references = repeated(
        "  - {apiVersion: v1, kind: ConfigMap, name: o#, uid: u#}\n",
        2_400_000,
    );
    let inside = Repository::new();
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: a\n  ownerReferences:\n";
    inside.write("input.yaml", &format!("{head}{references}"));
    let run = limited(
        &inside.path(),
        "plan delete ns/a -o html --no-config --threads 2 -f input.yaml",
    );
    assert_eq!(
        run.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert!(String::from_utf8_lossy(&run.stdout).contains("\"ConfigMap/a/a\":\"gone\""));
}

#[test]
fn tens_of_thousands_of_empty_references() {
    let references = "{},".repeat(30_000);
    checked(&format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, ownerReferences: [{references}]}}\n"
    ));
}

#[test]
fn tens_of_thousands_of_finalizers() {
    let finalizers = repeated("  - example.com/f#\n", 1_200_000);
    checked(&format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  finalizers:\n{finalizers}"
    ));
}

/// Regression: each finding searched all others for repetitions.
#[test]
fn tens_of_thousands_of_finalizers_matching_one_pattern() {
    let finalizers = repeated("  - wrangler.cattle.io/x#\n", 1_000_000);
    checked(&format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  finalizers:\n{finalizers}"
    ));
}

#[test]
fn hundreds_of_thousands_of_equal_finalizers() {
    let finalizers = "a.b/c,".repeat(380_000);
    checked(&format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, finalizers: [{finalizers}]}}\n"
    ));
}

#[test]
fn object_larger_than_3_mib_is_unreadable() {
    let reference = "  - {apiVersion: v1, kind: ConfigMap, name: o#, uid: u#}\n";
    for (field, unit) in [
        ("ownerReferences", reference),
        ("finalizers", "  - example.com/f#\n"),
    ] {
        let items = repeated(unit, 9_900_000);
        let found = checked(&format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  {field}:\n{items}"
        ));
        assert!(found.contains("larger than the 3 MiB"), "{field}: {found}");
    }
}

#[test]
fn two_megabytes_of_definitions() {
    checked(&repeated(
        "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: ks#.example.com}\nspec: {group: example.com, names: {kind: K#, plural: ks#}, scope: Namespaced, versions: [{name: v1, served: true, storage: true}]}\n",
        2_000_000,
    ));
}

/// Review P3.5: 8 MB with a million duplicate keys made 1.2 GB of JSON. Fewer are tested here, because a million exceed
/// the memory limit; the output does not depend on it.
#[test]
fn hundreds_of_thousands_of_duplicate_keys() {
    let text = format!("{OBJECT}data:\n{}", "  k: v\n".repeat(200_000));
    let printed = printed(&text, "-o json");
    assert!(printed.len() < 16_000_000, "{} bytes", printed.len());
}

/// Review P3.5: a name of 10 MB made an annotation of 10 MB. A name larger than a request is not even shown.
#[test]
fn name_of_three_megabytes_is_not_printed() {
    let name = "a".repeat(3_000_000);
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: b, finalizers: [bad]}}\n"
    );
    for format in ["github", "human", "json"] {
        let printed = printed(&text, &format!("-o {format}"));
        assert!(
            printed.contains("bad") && printed.len() < 30_000,
            "{format}: {} bytes",
            printed.len()
        );
    }
}

#[test]
fn file_larger_than_256_mib_is_unreadable() {
    let inside = Repository::new();
    let file = std::fs::File::create(inside.path().join("huge.yaml")).expect("a file");
    file.set_len(1 << 30).expect("a sparse file");
    let run = limited(&inside.path(), "--threads 2 -o concise .");
    let out = String::from_utf8_lossy(&run.stdout);
    assert_eq!(
        out,
        "huge.yaml:1:1: error[unreadable-file] `huge.yaml` is larger than 256 MiB\n"
    );
}

#[test]
fn committed_file_larger_than_256_mib_fits_memory_limit() {
    let folder = crate::diff::Folder::new();
    folder
        .git(&["init", "-q", "-b", "main"])
        .write("a.yaml", OBJECT)
        .commit();
    // Git compresses zeros to a thousandth of their size.
    let file = std::fs::File::create(folder.path().join("huge.yaml")).expect("a file");
    file.set_len((256 << 20) + 1).expect("a sparse file");
    folder.commit();
    let path = folder.path().display();
    let line = format!(
        "export HOME={path}; ulimit -d 262144; exec \"$OWNERLINT\" --threads 2 diff --base-ref HEAD~ --head-ref HEAD -o json"
    );
    let run = shell(folder.path(), &line);
    assert_eq!(
        run.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

#[test]
fn lsp_message_with_huge_content_length_is_rejected() {
    let folder = Repository::new();
    let line = "ulimit -d 262144; printf 'Content-Length: 99999999999999\\r\\n\\r\\n{}' | \"$OWNERLINT\" lsp";
    let run = shell(&folder.path(), line);
    let answer = String::from_utf8_lossy(&run.stdout);
    let said = "a message of 99999999999999 bytes; the longest that is read has 1073741824";
    assert!(answer.contains(said), "{answer}");
    let error = String::from_utf8_lossy(&run.stderr);
    assert!(
        run.status.code() == Some(2) && error.contains("before it sent `initialize`"),
        "{:?}: {error}",
        run.status
    );
}
