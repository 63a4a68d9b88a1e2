//! Output of Helm in every usual layout is recognised as a release.

use serde_json::Value;

use super::places::Folder;
use crate::support::{fixture, ownerlint, page};

/// Returns one side of the change, as a text for each template: `(shop/templates/crd.yaml, text)`.
fn templates(side: &str) -> Vec<(String, String)> {
    let text = fixture(&format!("changes/release-{side}.yaml"));
    let documents = text.split("---\n").filter(|text| !text.is_empty());
    let templates = documents.map(|text| {
        let first = text.lines().next().expect("a line");
        let template = first.strip_prefix("# Source: ").expect("a template");
        (template.to_owned(), format!("---\n{text}"))
    });
    templates.collect()
}

/// The file of each template in a rendering.
type Layout = fn(template: &str) -> String;

const LAYOUTS: [(&str, Layout); 4] = [
    ("one file", |_| "all.yaml".to_owned()),
    ("--output-dir", |template| template.to_owned()),
    ("below another folder", |template| format!("out/{template}")),
    ("one file each", |template| {
        template.rsplit_once('/').expect("a path").1.to_owned()
    }),
];

/// Writes both sides in one layout.
fn rendered(layout: Layout) -> Folder {
    rendered_below("", layout)
}

fn rendered_below(above: &str, layout: Layout) -> Folder {
    let folder = Folder::new();
    for side in ["base", "head"] {
        let mut files: Vec<(String, String)> = Vec::new();
        for (template, text) in templates(side) {
            let path = layout(&template);
            match files.iter_mut().find(|(known, _)| *known == path) {
                Some((_, known)) => known.push_str(&text),
                None => files.push((path, text)),
            }
        }
        for (path, text) in files {
            folder.write(&format!("{side}/{above}{path}"), &text);
        }
    }
    folder
}

/// Returns the findings and the effects of a report, without places.
fn lines(document: &Value) -> Vec<String> {
    let of = |list: &str, fields: &[&str]| {
        let entries = document[list].as_array().cloned().unwrap_or_default();
        let text = move |entry: &Value| {
            let fields = fields.iter().map(|field| match &entry[*field] {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            });
            fields.collect::<Vec<String>>().join(" ")
        };
        entries.iter().map(text).collect::<Vec<String>>()
    };
    let mut lines = of("findings", &["severity", "rule", "object", "message"]);
    lines.extend(of("effects", &["effect", "certainty", "key", "regime"]));
    lines.sort();
    lines
}

fn compared(folder: &Folder) -> Vec<String> {
    let document = folder.run("", &["--base", "base", "--head", "head"]);
    lines(&document.expect("a comparison"))
}

fn checked(folder: &Folder) -> Vec<String> {
    let mut command = ownerlint();
    command.current_dir(folder.path());
    let output = command
        .args(["check", "-o", "json", "--show", "info", "base"])
        .output();
    let text = String::from_utf8(output.expect("it runs").stdout).expect("text");
    lines(&serde_json::from_str(&text).expect("JSON"))
}

#[test]
fn diff_findings_do_not_depend_on_chart_layout() {
    let lines = compared(&rendered(LAYOUTS[0].1));
    let rules = lines.iter().filter(|line| !line.starts_with("deleted"));
    let rules: Vec<&String> = rules.collect();
    assert!(
        rules
            .iter()
            .any(|line| line.starts_with("error crd-removed")),
        "{lines:#?}"
    );
    assert!(
        lines.contains(
            &"kept certain CustomResourceDefinition.apiextensions.k8s.io//plates.example.com helm"
                .to_owned()
        ),
        "{lines:#?}"
    );
    for (name, layout) in &LAYOUTS[1..] {
        assert_eq!(compared(&rendered(*layout)), lines, "{name}");
    }
}

#[test]
fn check_findings_do_not_depend_on_chart_layout() {
    let lines = checked(&rendered(LAYOUTS[0].1));
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("warning crd-without-keep")),
        "{lines:#?}"
    );
    for (name, layout) in &LAYOUTS[1..] {
        assert_eq!(checked(&rendered(*layout)), lines, "{name}");
    }
}

#[test]
fn chart_folder_within_output_folder_is_a_release() {
    let folder = rendered(LAYOUTS[1].1);
    let whole = compared(&folder);
    let document = folder.run("", &["--base", "base/shop", "--head", "head/shop"]);
    assert_eq!(lines(&document.expect("a comparison")), whole);
}

/// Returns the tools of the effects without duplicates.
fn tools(folder: &Folder) -> Vec<String> {
    let document = folder.run("", &["--base", "base", "--head", "head"]);
    let document = document.expect("a comparison");
    let effects = document["effects"].as_array().expect("a list").iter();
    let mut tools: Vec<String> = effects
        .map(|effect| effect["regime"].as_str().unwrap_or("-").to_owned())
        .collect();
    tools.sort();
    tools.dedup();
    tools
}

#[test]
fn rendered_chart_delivered_by_kustomize_or_flux_is_no_release() {
    for (name, layout) in LAYOUTS {
        let folder = rendered_below("apps/", layout);
        assert_eq!(tools(&folder), ["helm"], "{name}");
        for side in ["base", "head"] {
            let mut files: Vec<String> = templates(side)
                .iter()
                .map(|(template, _)| layout(template))
                .collect();
            files.sort();
            files.dedup();
            let text = format!(
                "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [{}]\n",
                files.join(", ")
            );
            folder.write(&format!("{side}/apps/kustomization.yaml"), &text);
        }
        assert_eq!(tools(&folder), ["unknown"], "{name}");
        let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: shop, namespace: flux-system}\nspec: {path: ./apps, prune: true}\n";
        for side in ["base", "head"] {
            folder.write(&format!("{side}/flux.yaml"), flux);
        }
        assert_eq!(tools(&folder), ["flux"], "{name}");
    }
}

/// The first bundle of the README, rendered without any label of Helm.
#[test]
fn removing_operator_of_readme_example_deletes_objects_in_head() {
    assert!(page("README.md").contains("fixtures/bundles/rook"));
    let folder = Folder::new();
    for file in ["csi.yaml", "operator.yaml"] {
        let text = fixture(&format!("bundles/rook/{file}"));
        folder.write(&format!("rook/{file}"), &text);
    }
    folder.git(&["init", "-q", "-b", "main"]).commit();
    folder.git(&["rm", "-q", "rook/operator.yaml"]);
    let document = folder.run("", &[]).expect("a comparison");
    let lines = lines(&document);
    assert!(
        lines.iter().any(|line| line
            .starts_with("error owner-removed Deployment.apps/rook-ceph/rook-ceph-operator")),
        "{lines:#?}"
    );
    assert_eq!(document["summary"]["verdict"], "deletes");
}
