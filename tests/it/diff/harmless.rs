//! Mechanical changes to renderings of the corpus that do not change the content of a cluster: nothing is removed,
//! nothing has an effect, and no rule has findings.

use std::collections::BTreeSet;

use ownerlint::kustomize::{folder_of, name_of};
use ownerlint::merge::DeliveryChoice;
use serde_json::{Value, json};

use super::renderings::{Rendering, Texts, compare, samples};
use crate::support::corpus;

/// Asserts that changes made by `sides` have no effects, and report only the `allowed` kinds of changes.
fn are_silent(allowed: &[&str], sides: impl Fn(Rendering) -> (Texts, Texts)) {
    let Some(corpus) = corpus() else { return };
    let mut wrong = Vec::new();
    for (sample, rendering) in samples(corpus) {
        let (base, head) = sides(rendering.clone());
        assert_ne!(base, head, "{} is changed", sample.path);
        let report = compare(
            &base,
            &head,
            DeliveryChoice {
                by: sample.by,
                ..DeliveryChoice::default()
            },
        );
        let changes = report
            .changes
            .iter()
            .filter(|change| !allowed.contains(&change.change));
        wrong.extend(
            changes.map(|change| format!("{}: {} {}", sample.path, change.change, change.key)),
        );
        wrong.extend(
            report
                .effects
                .iter()
                .map(|effect| format!("{}: {:?} {}", sample.path, effect.effect, effect.key)),
        );
        let findings = report
            .findings
            .findings
            .iter()
            .map(|reported| &reported.finding);
        wrong.extend(
            findings
                .map(|finding| format!("{}: {} {}", sample.path, finding.rule, finding.message)),
        );
    }
    assert_eq!(wrong, [""; 0]);
}

/// Asserts that a change to each object has no effects.
fn is_silent_of_each(change: impl Fn(&mut Value)) {
    are_silent(&["changed"], |rendering| {
        let mut head = rendering.clone();
        head.objects_mut().for_each(&change);
        (rendering.original, head.written(json_documents))
    });
}

fn json_documents(documents: &[Value]) -> String {
    documents
        .iter()
        .map(|document| format!("---\n{document}\n"))
        .collect()
}

/// Writes YAML in block style, with every text in quotes.
fn block(value: &Value, indent: usize, text: &mut String) {
    let pad = " ".repeat(indent);
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (key, value) in map {
                text.push_str(&format!("\n{pad}{}:", json!(key)));
                block(value, indent + 3, text);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                text.push_str(&format!("\n{pad}-"));
                block(item, indent + 3, text);
            }
        }
        other => text.push_str(&format!(" {other}")),
    }
}

fn block_documents(documents: &[Value]) -> String {
    let mut text = String::new();
    for document in documents {
        text.push_str("\n---");
        block(document, 0, &mut text);
    }
    text + "\n"
}

/// Writes JSON with the keys in reverse order.
fn reversed(value: &Value) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Object(map) => {
            let entries = map
                .iter()
                .rev()
                .map(|(key, value)| format!("{}: {}", json!(key), reversed(value)));
            format!("{{{}}}", joined(entries.collect()))
        }
        Value::Array(items) => format!("[{}]", joined(items.iter().map(reversed).collect())),
        other => other.to_string(),
    }
}

#[test]
fn yaml_style_has_no_effects() {
    are_silent(&[], |rendering| {
        (
            rendering.original.clone(),
            rendering.written(block_documents),
        )
    });
}

#[test]
fn key_order_has_no_effects() {
    let write = |documents: &[Value]| {
        let documents: Vec<String> = documents.iter().map(reversed).collect();
        documents.join("\n---\n")
    };
    are_silent(&[], |rendering| {
        (rendering.original.clone(), rendering.written(write))
    });
}

#[test]
fn comments_have_no_effects() {
    let commented = |text: &String| {
        let lines = text.lines().map(|line| {
            if line.starts_with("---") {
                format!("# the end of a document\n{line}\n")
            } else {
                format!("{line}\n")
            }
        });
        format!("# a comment\n{}", lines.collect::<String>())
    };
    are_silent(&[], |rendering| {
        let head = rendering
            .original
            .iter()
            .map(|(path, text)| (path.clone(), commented(text)));
        (rendering.original.clone(), head.collect())
    });
}

#[test]
fn json_notation_has_no_effects() {
    are_silent(&["moved"], |rendering| {
        let items =
            |documents: &[Value]| json!({"apiVersion": "v1", "kind": "List", "items": documents});
        let objects = |documents: &[Value]| {
            Rendering::of(documents.to_vec())
                .objects()
                .cloned()
                .collect::<Vec<_>>()
        };
        let head = rendering.rearranged(|path, documents| {
            let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
            vec![(format!("{stem}.json"), vec![items(&objects(documents))])]
        });
        (
            rendering.original,
            head.written(|documents| documents.iter().map(Value::to_string).collect()),
        )
    });
}

#[test]
fn moved_files_have_no_effects() {
    are_silent(&["moved"], |rendering| {
        let moved = |path: &str| {
            format!("{}/moved/{}", folder_of(path), name_of(path))
                .trim_start_matches('/')
                .to_owned()
        };
        let head = rendering.rearranged(|path, documents| vec![(moved(path), documents.to_vec())]);
        (rendering.original, head.written(json_documents))
    });
}

#[test]
fn splitting_and_joining_files_has_no_effects() {
    let split = |rendering: &Rendering| {
        rendering.rearranged(|path, documents| {
            let part = |(at, document): (usize, &Value)| {
                (format!("{path}-{at}.yaml"), vec![document.clone()])
            };
            documents.iter().enumerate().map(part).collect()
        })
    };
    are_silent(&["moved"], |rendering| {
        (
            rendering.original.clone(),
            split(&rendering).written(json_documents),
        )
    });
    are_silent(&["moved"], |rendering| {
        (
            split(&rendering).written(json_documents),
            rendering.original.clone(),
        )
    });
    are_silent(&["moved"], |rendering| {
        let all = |path: &str| {
            format!("{}/joined.yaml", folder_of(path))
                .trim_start_matches('/')
                .to_owned()
        };
        let head = rendering.rearranged(|path, documents| vec![(all(path), documents.to_vec())]);
        (rendering.original, head.written(json_documents))
    });
}

/// Whether updates of the object's Pod template are rejected. A hook is recreated instead.
fn is_plain_job(object: &Value) -> bool {
    object["kind"] == "Job"
        && object["metadata"]["annotations"]
            .get("helm.sh/hook")
            .is_none()
}

#[test]
fn changed_labels_and_annotations_have_no_effects() {
    is_silent_of_each(|object| {
        let is_workload = ["Deployment", "DaemonSet", "StatefulSet"]
            .iter()
            .any(|kind| object["kind"] == *kind);
        let paths = ["/metadata", "/spec/template/metadata"];
        for path in &paths[..if is_workload { 2 } else { 1 }] {
            let Some(Value::Object(metadata)) = object.pointer_mut(path) else {
                continue;
            };
            for (key, label) in [
                ("labels", "example.com/revision"),
                ("annotations", "checksum/config"),
            ] {
                if let Value::Object(labels) = metadata.entry(key).or_insert_with(|| json!({})) {
                    labels.insert(label.to_owned(), json!("2"));
                    labels
                        .entry("helm.sh/chart")
                        .and_modify(|chart| *chart = json!("chart-9.9.9"));
                    labels
                        .entry("app.kubernetes.io/version")
                        .and_modify(|version| *version = json!("9.9.9"));
                }
            }
        }
    });
}

#[test]
fn changed_images_have_no_effects() {
    fn pull_others(value: &mut Value) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    match value {
                        Value::String(image) if key == "image" => image.push_str("-2"),
                        value => pull_others(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(pull_others),
            _ => {}
        }
    }
    is_silent_of_each(|object| {
        if !is_plain_job(object) {
            pull_others(object);
        }
        object["metadata"]["annotations"]["example.com/built"] = json!("today");
    });
}

#[test]
fn added_replicas_have_no_effects() {
    is_silent_of_each(|object| {
        if ["Deployment", "StatefulSet", "ReplicaSet"]
            .iter()
            .any(|kind| object["kind"] == *kind)
        {
            let replicas = object["spec"]["replicas"].as_u64().unwrap_or(1) + 1;
            object["spec"]["replicas"] = json!(replicas);
        }
        object["metadata"]["annotations"]["example.com/scaled"] = json!("today");
    });
}

/// The fields in which Pods and other objects name ConfigMaps and Secrets.
const REFERENCES: [(&str, &str); 6] = [
    ("configMap", "name"),
    ("configMapRef", "name"),
    ("configMapKeyRef", "name"),
    ("secret", "secretName"),
    ("secretRef", "name"),
    ("secretKeyRef", "name"),
];

fn refer(value: &mut Value, names: &BTreeSet<String>, hash: &str) {
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                let field = REFERENCES
                    .iter()
                    .find(|(holder, _)| holder == key)
                    .map(|(_, field)| field);
                let named = field.and_then(|field| value.get_mut(field));
                if let Some(Value::String(name)) = named
                    && names.contains(name)
                {
                    *name = format!("{name}-{hash}");
                }
                refer(value, names, hash);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| refer(item, names, hash)),
        _ => {}
    }
}

/// Appends a hash of the content to names, like kustomize's generators.
fn generated(mut rendering: Rendering, hash: &str) -> Texts {
    let is_data = |object: &Value| {
        object["apiVersion"] == "v1"
            && (object["kind"] == "ConfigMap" || object["kind"] == "Secret")
    };
    let names = rendering.objects().filter(|object| is_data(object));
    let names: BTreeSet<String> = names
        .filter_map(|object| Some(object["metadata"]["name"].as_str()?.to_owned()))
        .collect();
    for object in rendering.objects_mut() {
        if is_data(object) {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            object["metadata"]["name"] = json!(format!("{name}-{hash}"));
            object["data"]["generation"] = json!(hash);
        } else if !is_plain_job(object) {
            refer(object, &names, hash);
        }
        object["metadata"]["annotations"]["example.com/hash"] = json!(hash);
    }
    rendering.written(json_documents)
}

#[test]
fn changed_name_hashes_have_no_effects() {
    are_silent(&["changed"], |rendering| {
        (
            generated(rendering.clone(), "h5k2c9tgm8"),
            generated(rendering, "7d4fbm6k2t"),
        )
    });
}

#[test]
fn moved_folder_with_updated_references_has_no_effects() {
    let Some(corpus) = corpus() else { return };
    let (_, sources) = samples(corpus)
        .iter()
        .find(|(sample, _)| sample.by.is_none())
        .expect("sources that Flux applies");
    let mut head = Rendering {
        others: sources.others.clone(),
        ..Rendering::default()
    };
    for (path, documents) in &sources.files {
        head.files
            .insert(path.replace("/app/", "/workload/"), documents.clone());
    }
    let mut pointers = 0;
    for object in head
        .objects_mut()
        .filter(|object| object["kind"] == "Kustomization")
    {
        let Some(Value::String(path)) = object.pointer_mut("/spec/path") else {
            continue;
        };
        if let Some(above) = path.strip_suffix("/app") {
            *path = format!("{above}/workload");
            pointers += 1;
        }
    }
    assert!(pointers > 3, "{pointers}");
    let report = compare(
        &sources.original,
        &head.written(json_documents),
        DeliveryChoice::default(),
    );
    let words: BTreeSet<&str> = report.changes.iter().map(|change| change.change).collect();
    assert_eq!(
        (words, report.effects),
        (["changed", "moved"].into(), Vec::new())
    );
    assert!(report.findings.findings.is_empty());
}
