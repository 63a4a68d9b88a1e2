//! Small inputs that need much work: each ends with one error, which names its place, before the work begins.
//! `benches/growth.py` measures the cost of the largest inputs within the limits.

use crate::limits::limited;
use crate::support::{Repository, ownerlint, root};

const DIFF: &str = "diff --base base --head head --no-config --threads 2";

fn map(name: &str) -> String {
    format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n")
}

fn maps(count: usize) -> String {
    (0..count).map(|at| map(&format!("m{at}"))).collect()
}

/// Returns the error that ends a run, without its help, on one line.
fn error(repository: &Repository, arguments: &str) -> String {
    let run = limited(&repository.path(), arguments);
    let error = String::from_utf8_lossy(&run.stderr)
        .split_whitespace()
        .filter(|word| *word != "│")
        .collect::<Vec<_>>()
        .join(" ");
    assert_eq!(run.status.code(), Some(2), "{arguments}: {error:.500}");
    error
}

/// Compares an attack tree. Returns the exit status, standard output and standard error, one line each.
fn compared(attack: &str) -> (i32, String, String) {
    let folder = root().join("fixtures/security").join(attack);
    let output = ownerlint()
        .current_dir(folder)
        .args(["diff", "--base", "base", "--head", "head"])
        .output();
    let output = output.expect("it runs");
    let words = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.split_whitespace()
            .filter(|word| *word != "│")
            .collect::<Vec<_>>()
            .join(" ")
    };
    (
        output.status.code().expect("a status"),
        words(&output.stdout),
        words(&output.stderr),
    )
}

/// Regression: 1.2 MB took more than 8 GB of memory.
#[test]
fn overlays_of_a_large_file_hit_the_instance_limit() {
    let inside = Repository::new();
    for side in ["base", "head"] {
        inside.write(&format!("{side}/app/maps.yaml"), &maps(20_000));
        inside.write(
            &format!("{side}/app/kustomization.yaml"),
            "resources: [maps.yaml]\n",
        );
        for at in 100..200 {
            let overlay = format!("resources: [../../app]\nnamespace: n{at}\n");
            inside.write(
                &format!("{side}/overlays/{at}/kustomization.yaml"),
                &overlay,
            );
        }
    }
    let error = error(&inside, DIFF);
    let expected =
        "`overlays/108/kustomization.yaml`: builds make more than 150000 copies of objects";
    assert!(error.contains(expected), "{error}");
    assert!(error.contains("`limits.instances`"), "{error}");
}

/// Regression: 5 kB took ten seconds and more than 1 GB of memory.
#[test]
fn repeated_nested_includes_hit_the_instance_limit() {
    for objects in ["[map.yaml]", "[]"] {
        let inside = Repository::new();
        for (level, side) in (0..27).flat_map(|level| ["a", "b"].map(|side| (level, side))) {
            let next = level + 1;
            let under = if level == 26 {
                objects.to_owned()
            } else {
                format!("[../a{next}, ../b{next}]")
            };
            let text = format!("namePrefix: {side}\nresources: {under}\n");
            inside.write(&format!("base/{side}{level}/kustomization.yaml"), &text);
            inside.write(&format!("base/{side}{level}/map.yaml"), &map("m"));
        }
        inside.write("head/map.yaml", &map("m"));
        let error = error(&inside, DIFF);
        let expected = "`a0/kustomization.yaml`: builds make more than 150000 copies of objects";
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn kustomizations_of_a_large_folder_hit_the_instance_limit() {
    let inside = Repository::new();
    for side in ["base", "head"] {
        inside.write(&format!("{side}/apps/maps.yaml"), &maps(10_000));
        for at in 100..200 {
            let object = format!(
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
                 metadata: {{name: k{at}, namespace: flux-system}}\nspec: {{path: ./apps, targetNamespace: n{at}}}\n"
            );
            inside.write(&format!("{side}/flux/{at}.yaml"), &object);
        }
    }
    let error = error(&inside, DIFF);
    assert!(
        error.contains("`apps`: builds make more than 150000 copies of objects"),
        "{error}"
    );
}

#[test]
fn limits_raised_by_head_are_ignored() {
    let (status, out, error) = compared("head-raises-limits");
    assert_eq!((status, out.as_str()), (2, ""), "{error}");
    assert!(
        error.contains("builds make more than 2 copies of objects"),
        "{error}"
    );
    assert!(
        error.contains("raise `limits.instances` in the configuration of base"),
        "{error}"
    );
}

#[test]
fn nesting_beyond_limit_is_reported() {
    let (_, out, error) = compared("kustomizations-nested-beyond-limit");
    assert!(
        out.contains("too many kustomizations include each other"),
        "{out} {error}"
    );
    assert!(out.contains("kustomization in app/"), "{out}");
}

#[test]
fn deliveries_beyond_limit_are_an_error() {
    let (status, out, error) = compared("deliveries-beyond-limit");
    assert_eq!((status, out.as_str()), (2, ""), "{error}");
    assert!(
        error.contains("`flux/c.yaml`: more than 2 objects deliver others"),
        "{error}"
    );
}

#[test]
fn kustomization_that_includes_itself_is_reported() {
    let (status, out, error) = compared("kustomization-includes-itself");
    assert_eq!(status, 0, "{error}");
    assert!(
        out.contains("no longer applies its sources, because"),
        "{out}"
    );
    assert!(out.contains("includes itself"), "{out}");
}

/// Regression: 0.2 MB took 0.5 GB of memory, and 18 seconds to compare.
#[test]
fn thousands_of_bundles_hit_the_bundle_limit() {
    let inside = Repository::new();
    let bundles: String = (0..8_000)
        .map(|at| format!("  b{at}: {{paths: [m]}}\n"))
        .collect();
    for side in ["base", "head", "."] {
        inside.write(&format!("{side}/m/map.yaml"), &map("m"));
        inside.write(
            &format!("{side}/ownerlint.yaml"),
            &format!("version: 1\nbundles:\n{bundles}"),
        );
    }
    for arguments in ["check", "list", "diff --base base --head head"] {
        let error = error(&inside, arguments);
        assert!(
            error.contains("ownerlint.yaml has 8000 bundles, more than 2000"),
            "{error}"
        );
        assert!(error.contains("`limits: {bundles: 8000}`"), "{error}");
    }
    inside.write(
        "ownerlint.yaml",
        &format!("version: 1\nlimits: {{bundles: 8000}}\nbundles:\n{bundles}"),
    );
    let run = limited(&inside.path(), "list m");
    assert_eq!(
        run.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

/// Each bundle would have all 20,000 objects.
#[test]
fn bundles_of_a_large_file_hit_the_instance_limit() {
    let inside = Repository::new();
    inside.write("m/maps.yaml", &maps(20_000));
    let bundles: String = (0..100)
        .map(|at| format!("  b{at}: {{paths: [{}m]}}\n", "./".repeat(at)))
        .collect();
    inside.write(
        "ownerlint.yaml",
        &format!("version: 1\nlimits: {{instances: 30000}}\nbundles:\n{bundles}"),
    );
    let error = error(&inside, "check --threads 2");
    let expected = "the paths of all bundles lead to more than 30000 copies of objects together";
    assert!(
        error.contains("bundle `b10`") && error.contains(expected),
        "{error}"
    );
}

/// Regression: each path visited all files again: eight seconds for 10 kB.
#[test]
fn repeated_bundle_paths_are_cheap_or_hit_the_entry_limit() {
    let inside = Repository::new();
    for at in 0..2_000 {
        inside.write(&format!("m/{at}.yaml"), "");
    }
    inside.write("m/map.yaml", &map("m"));
    let paths = vec!["m"; 2_000].join(", ");
    inside.write(
        "ownerlint.yaml",
        &format!("version: 1\nbundles:\n  b: {{paths: [{paths}]}}\n"),
    );
    let run = limited(&inside.path(), "check --threads 2");
    assert_eq!(
        run.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let spelled: Vec<String> = (0..500).map(|at| format!("{}m", "./".repeat(at))).collect();
    inside.write(
        "ownerlint.yaml",
        &format!(
            "version: 1\nbundles:\n  b: {{paths: [{}]}}\n",
            spelled.join(", ")
        ),
    );
    let error = error(&inside, "check --threads 2");
    let expected =
        "the paths of all bundles lead to more than 500000 repeated entries of folders together";
    assert!(
        error.contains("bundle `b`") && error.contains(expected),
        "{error}"
    );
}

#[test]
fn globs_of_many_bundles_hit_the_entry_limit() {
    let inside = Repository::new();
    for at in 0..2_000 {
        inside.write(&format!("m/{at}.yaml"), "");
    }
    let bundles: String = (0..2_000)
        .map(|at| format!("  b{at}: {{paths: ['m/*{at}.yaml']}}\n"))
        .collect();
    inside.write(
        "ownerlint.yaml",
        &format!("version: 1\nbundles:\n{bundles}"),
    );
    let error = error(&inside, "check --threads 2");
    let expected =
        "the paths of all bundles lead to more than 500000 repeated entries of folders together";
    assert!(
        error.contains("bundle `b") && error.contains(expected),
        "{error}"
    );
}

/// Writes both sides of a comparison.
fn sides(files: &[(&str, String)]) -> Repository {
    let inside = Repository::new();
    for side in ["base", "head"] {
        for (path, text) in files {
            inside.write(&format!("{side}/{path}"), text);
        }
    }
    inside
}

fn kustomization(name: &str, folder: &str, variables: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: flux-system}}\n\
         spec: {{path: ./{folder}, postBuild: {{substitute: {{{variables}}}}}}}\n"
    )
}

fn text_limit(inside: &Repository, place: &str) {
    let error = error(inside, DIFF);
    let expected = "variables, templates and patches make more than 50000000 bytes of text";
    assert!(
        error.contains(&format!("`{place}`: {expected}")),
        "{error:.500}"
    );
    assert!(error.contains("`limits.text`"), "{error:.500}");
}

/// Regression: each operation doubled the time.
#[test]
fn copies_in_json_patch_hit_the_text_limit() {
    let copies: String = (0..40)
        .map(|at| format!("- {{op: copy, from: /data, path: /data/x{at}}}\n"))
        .collect();
    let inside = sides(&[
        ("flux.yaml", kustomization("apps", "apps", "A: b")),
        (
            "apps/kustomization.yaml",
            "resources: [map.yaml]\npatches: [{target: {kind: ConfigMap}, path: p.yaml}]\n"
                .to_owned(),
        ),
        ("apps/map.yaml", map("m") + "data: {a: b}\n"),
        ("apps/p.yaml", copies),
    ]);
    text_limit(&inside, "apps");
}

/// Regression: 0.4 MB took more than 3 GB of memory.
#[test]
fn references_to_long_variable_hit_the_text_limit() {
    let inside = sides(&[
        (
            "flux.yaml",
            kustomization("apps", "apps", &format!("A: {}", "y".repeat(200_000))),
        ),
        (
            "apps/map.yaml",
            map("m") + &format!("data: {{a: '{}'}}\n", "${A}".repeat(2_000)),
        ),
    ]);
    text_limit(&inside, "apps");
}

/// Returns a variable that repeats the variable `A{at}`.
fn repeated(at: usize) -> String {
    format!("A{}: '{}'", at + 1, format!("${{A{at}}}").repeat(200))
}

#[test]
fn variables_made_of_variables_hit_the_text_limit() {
    let inside = sides(&[
        ("flux.yaml", kustomization("a", "a", "A1: yyyyyyyyyy")),
        ("a/k.yaml", kustomization("b", "b", &repeated(1))),
        ("b/k.yaml", kustomization("c", "c", &repeated(2))),
        ("c/k.yaml", kustomization("d", "d", &repeated(3))),
        ("d/map.yaml", map("${A4}")),
    ]);
    let error = error(&inside, DIFF);
    assert!(error.contains("`limits.text`"), "{error:.500}");
}

/// Returns the output of a comparison of two equal ApplicationSets.
fn compared_set(is_go: bool, value: &str, template: &str) -> String {
    let set = format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: set, namespace: argocd}}\nspec:\n  \
         goTemplate: {is_go}\n  generators: [{{list: {{elements: [{{n: a, v: {value}}}]}}}}]\n  template:\n    metadata: {{name: \
         a, annotations: {{z: '{template}'}}}}\n    spec: {{destination: {{name: in-cluster}}, source: {{repoURL: \
         'https://github.com/x/y', path: teams}}}}\n"
    );
    let inside = sides(&[("set.yaml", set), ("teams/map.yaml", map("m"))]);
    let run = limited(&inside.path(), "list --deliveries head --output json");
    let error = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(0), "{error:.500}");
    String::from_utf8(run.stdout).expect("UTF-8")
}

/// Regression: they took all memory.
#[test]
fn long_texts_of_templates_are_not_evaluated() {
    let doubled = format!(
        "{{{{ $x := \"a\" }}}}{}{{{{ len $x }}}}",
        "{{ $x := print $x $x }}".repeat(40)
    );
    let replaced = format!(
        "{{{{ \"a\"{} }}}}",
        " | replace \"a\" \"aaaaaaaaaa\"".repeat(12)
    );
    let joined = "{{ $l := splitList \"\" .v }}{{ $s := join .v $l }}{{ len $s }}".to_owned();
    let value = "y".repeat(20_000);
    for template in [doubled, replaced, joined] {
        let printed = compared_set(true, &value, &template);
        assert!(
            printed.contains("values of a template are too large to evaluate"),
            "{template:.200} {printed:.500}"
        );
    }
    let printed = compared_set(false, &value, &"{{v}}".repeat(2_000));
    assert!(
        printed.contains("makes more text than an object can have"),
        "{printed:.500}"
    );
}
