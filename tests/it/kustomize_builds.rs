//! The builds of kustomizations against those of kustomize itself (`fixtures/kustomize`).

use std::path::Path;
use std::sync::Arc;

use ownerlint::graph::files::TreeFiles;
use ownerlint::graph::kustomize::Builder;
use ownerlint::graph::node::Node;
use serde_json::{Value, json};
use walkdir::WalkDir;

fn tree(folder: &Path) -> TreeFiles<'static> {
    let files = WalkDir::new(folder)
        .into_iter()
        .map(|entry| entry.expect("a fixture"));
    let files = files.filter(|entry| entry.file_type().is_file());
    TreeFiles::of_texts(files.map(|entry| {
        let path = entry.path().strip_prefix(folder).expect("below the folder");
        let bytes: Arc<[u8]> = std::fs::read(entry.path()).expect("a file").into();
        (path.to_str().expect("text").to_owned(), bytes)
    }))
}

/// The objects as `record.py` writes them, or why there are none.
fn built(folder: &Path) -> Result<Value, String> {
    let files = tree(folder);
    let builder = Builder::new(&files);
    let built = builder
        .kustomization("")
        .and_then(|doc| builder.build(&doc));
    let built = built.map_err(|error| error.reason)?;
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
            json!([
                text(&["apiVersion"]),
                text(&["kind"]),
                text(&["metadata", "namespace"]),
                text(&["metadata", "name"]),
                marks("labels"),
                marks("annotations"),
            ])
        })
        .collect();
    objects.sort_by_key(Value::to_string);
    Ok(Value::Array(objects))
}

#[test]
fn builds_what_kustomize_builds() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/kustomize");
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(cases).expect("fixtures").flatten() {
        let folder = entry.path();
        if !folder.is_dir() {
            continue;
        }
        count += 1;
        let expected = std::fs::read_to_string(folder.join("expected.json")).expect("a recording");
        let mut expected: Value = serde_json::from_str(&expected).expect("JSON");
        if let Value::Array(objects) = &mut expected {
            objects.sort_by_key(Value::to_string);
        }
        let said = match built(&folder) {
            Ok(_) if expected == "fails" => "builds, where kustomize fails".to_owned(),
            Ok(objects) if objects != expected => format!("{objects:#}\nnot {expected:#}"),
            Err(reason) if expected != "fails" => format!("fails: {reason}"),
            _ => continue,
        };
        wrong.push(format!("{}: {said}", entry.file_name().to_string_lossy()));
    }
    assert!(count > 20, "{count} cases");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
