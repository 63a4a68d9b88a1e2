//! Builds of kustomizations, compared with those of kustomize itself (`fixtures/kustomize`).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ownerlint::Limits;
use ownerlint::charts::Charts;
use ownerlint::graph::files::TreeFiles;
use ownerlint::graph::kustomize::{Budget, Builder, Builds, kustomization};
use ownerlint::graph::node::Node;
use serde_json::{Value, json};
use walkdir::WalkDir;

/// The fields that name objects with their namespaces, as in `record.py`.
const REFERENCES: [&[&str]; 4] = [
    &["subjects"],
    &["webhooks"],
    &["spec", "service"],
    &["spec", "conversion"],
];

type Files = Vec<(String, Arc<[u8]>)>;

fn files(folder: &Path) -> Files {
    let files = WalkDir::new(folder)
        .into_iter()
        .map(|entry| entry.expect("a fixture"));
    let files = files.filter(|entry| entry.file_type().is_file());
    let read = files.map(|entry| {
        let path = entry.path().strip_prefix(folder).expect("below the folder");
        let bytes: Arc<[u8]> = std::fs::read(entry.path()).expect("a file").into();
        (path.to_str().expect("text").to_owned(), bytes)
    });
    read.collect()
}

/// Returns the objects in the form of `record.py`, or the error.
fn built(builds: &Builds<'_>) -> Result<Value, String> {
    let budget = Budget::new(&Limits::default());
    let builder = Builder::within(builds, &budget);
    let built = kustomization(builds.files(), "").and_then(|doc| builder.build(&doc));
    let built =
        built.map_err(|error| format!("{}:{}: {}", error.file, error.line, error.reason))?;
    let mut objects: Vec<Value> = built
        .resources
        .iter()
        .map(|resource| {
            let marks = |field| {
                let marks = resource.node.at(&["metadata", field]);
                let marks = marks.filter(|marks| !marks.is_null());
                marks.unwrap_or_else(Node::empty_map).to_json(8)
            };
            let text = |path: &[&str]| resource.node.text_at(path);
            let mut object = vec![
                json!(text(&["apiVersion"])),
                json!(text(&["kind"])),
                json!(text(&["metadata", "namespace"])),
                json!(text(&["metadata", "name"])),
                marks("labels"),
                marks("annotations"),
            ];
            let references = REFERENCES.iter();
            let references = references.filter_map(|path| resource.node.at(path));
            object.extend(references.map(|reference| reference.to_json(8)));
            Value::Array(object)
        })
        .collect();
    objects.sort_by_key(Value::to_string);
    Ok(Value::Array(objects))
}

fn cases() -> Vec<PathBuf> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/kustomize");
    let entries = std::fs::read_dir(cases).expect("fixtures").flatten();
    let folders = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir());
    folders.collect()
}

#[test]
fn builds_agree_with_recorded_kustomize_builds() {
    let cases = cases();
    let mut wrong = Vec::new();
    for folder in &cases {
        let expected = std::fs::read_to_string(folder.join("expected.json")).expect("a recording");
        let mut expected: Value = serde_json::from_str(&expected).expect("JSON");
        if let Value::Array(objects) = &mut expected {
            objects.sort_by_key(Value::to_string);
        }
        let tree = TreeFiles::of_texts(files(folder));
        let said = match built(&Builds::new(&tree, &Charts::unrendered())) {
            Ok(_) if expected == "fails" => "builds, where kustomize fails".to_owned(),
            Ok(objects) if objects != expected => format!("{objects:#}\nnot {expected:#}"),
            Err(reason) if expected != "fails" => format!("fails: {reason}"),
            _ => continue,
        };
        wrong.push(format!("{}: {said}", folder.display()));
    }
    assert!(cases.len() > 20, "{} cases", cases.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns variants of the files: for each file, without it, and with another first line, indentation or name.
fn changed(files: &Files) -> Vec<Files> {
    let mut all = Vec::new();
    for at in 0..files.len() {
        let mut without = files.clone();
        without.remove(at);
        all.push(without);
        let text = String::from_utf8_lossy(&files[at].1).into_owned();
        let others = [
            format!("# changed\n{text}"),
            text.replace("  ", "   "),
            text.replace("name: ", "name: other-"),
        ];
        all.extend(others.map(|other| {
            let mut with = files.clone();
            with[at].1 = other.into_bytes().into();
            with
        }));
        let mut beside = files.clone();
        let folder = Path::new(&files[at].0).parent().expect("a folder");
        let second = folder.join("Kustomization");
        let nothing: Arc<[u8]> = Arc::from(*b"kind: Kustomization\n");
        beside.push((second.to_str().expect("text").to_owned(), nothing));
        all.push(beside);
    }
    all
}

#[test]
fn incremental_builds_equal_full_builds() {
    let (mut same, mut other) = (0, 0);
    for folder in cases() {
        let files = files(&folder);
        let base = TreeFiles::of_texts(files.clone());
        let charts = Charts::unrendered();
        let of_base = Builds::new(&base, &charts);
        let before = built(&of_base);
        for changed in changed(&files) {
            let head = TreeFiles::of_texts(changed);
            let alone = built(&Builds::new(&head, &charts));
            assert_eq!(
                built(&Builds::after(&of_base, &head)),
                alone,
                "{}",
                folder.display()
            );
            *(if alone == before {
                &mut same
            } else {
                &mut other
            }) += 1;
        }
    }
    assert!(same > 100 && other > 100, "{same} {other}");
}
