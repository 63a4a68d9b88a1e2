//! Immutable fields, compared with the answers of a real API server.

use base64_of::encode;
use ownerlint::changes::{class_set_later, rejected_fields};
use ownerlint::manifest::{Object, ParsedFile};
use ownerlint::text::SourceFile;
use serde_json::{Map, Value, json};

use crate::support::fixture;

mod base64_of {
    /// Encodes `stringData` as base64, like the API server. The recorded values are shorter than three bytes.
    pub(super) fn encode(text: &str) -> String {
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let bytes: Vec<u32> = text.bytes().map(u32::from).chain([0, 0]).take(3).collect();
        let bits = bytes[0] << 16 | bytes[1] << 8 | bytes[2];
        let digits = (0..4).map(|at| char::from(DIGITS[(bits >> (18 - 6 * at) & 63) as usize]));
        digits
            .enumerate()
            .map(|(at, digit)| if at <= text.len() { digit } else { '=' })
            .collect()
    }
}

fn object(manifest: &Value) -> std::sync::Arc<Object> {
    let file = ParsedFile::parse(SourceFile::new("a.json", manifest.to_string()));
    let objects = file
        .documents()
        .iter()
        .flat_map(|document| document.objects().to_vec());
    objects.into_iter().next().expect("an object")
}

/// Returns the object in the form in which the API server stores it.
fn stored(mut manifest: Value) -> Value {
    if let Some(Value::Object(strings)) = manifest
        .as_object_mut()
        .and_then(|object| object.remove("stringData"))
    {
        let data: Map<String, Value> = strings
            .into_iter()
            .map(|(key, value)| (key, json!(encode(value.as_str().expect("text")))))
            .collect();
        if manifest["kind"] == "Secret" {
            manifest["data"] = Value::Object(data);
        }
    }
    manifest
}

/// Sets a value at a path, which may contain list indexes.
fn changed(manifest: &Value, path: &str, value: &Value) -> Value {
    let mut changed = manifest.clone();
    let (parents, last) = path.rsplit_once('.').unwrap_or(("", path));
    let mut at = &mut changed;
    for part in parents.split('.').filter(|part| !part.is_empty()) {
        at = match part.parse::<usize>() {
            Ok(index) => &mut at[index],
            Err(_) => &mut at[part],
        };
    }
    match value.as_str() {
        Some("drop-storage") => {
            at[last].as_array_mut().expect("versions").remove(0);
            at[last][0]["storage"] = json!(true);
        }
        Some("drop-second") => {
            at[last].as_array_mut().expect("versions").remove(1);
        }
        _ if value.is_null() => {
            at.as_object_mut().expect("an object").remove(last);
        }
        _ => at[last] = value.clone(),
    }
    changed
}

#[test]
fn immutable_fields_agree_with_recorded_updates() {
    let parse = |name: &str| {
        serde_json::from_str::<Value>(&fixture(&format!("conformance/{name}"))).expect("JSON")
    };
    let (cases, before) = (parse("immutable.json"), parse("immutable-base.json"));
    let cases = cases.as_array().expect("a list");
    assert!(cases.len() > 40);
    let mut wrong = Vec::new();
    for case in cases {
        let name = case["case"].as_str().expect("a name");
        let path = case["path"].as_str().expect("a path");
        let old = stored(before[name].clone());
        let new = changed(&old, path, &case["value"]);
        let rejected = rejected_fields(&object(&old), &object(&new));
        if rejected.is_empty() != (case["http"] == 200) {
            wrong.push(format!("{name} {path}: {} and {rejected:?}", case["http"]));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn string_data_of_an_immutable_secret_is_compared_as_it_is_stored() {
    let secret = |data: Value, texts: Value| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "immutable": true, "data": data, "stringData": texts});
    let old = secret(json!({"a": "b25l"}), json!({"b": "two"}));
    for (data, texts, is_rejected) in [
        (json!({"b": "dHdv"}), json!({"a": "one"}), false),
        (json!({"a": "b25l", "b": "dHdv"}), json!({}), false),
        (json!({"a": "b25l", "b": "dHdv"}), json!({"b": "2"}), true),
        (json!({"a": "b25l"}), json!({}), true),
    ] {
        let new = secret(data, texts);
        let rejected = rejected_fields(&object(&old), &object(&new));
        assert_eq!(!rejected.is_empty(), is_rejected, "{new}");
    }
}

#[test]
fn defaults_and_larger_claims_are_not_rejected() {
    let claim = |spec: Value| json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "a"}, "spec": spec});
    let set = |template: Value| json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "a"}, "spec": {"volumeClaimTemplates": [template]}});
    for (old, new) in [
        (
            claim(json!({"accessModes": ["ReadWriteOnce"]})),
            claim(json!({"accessModes": ["ReadWriteOnce"], "storageClassName": "fast"})),
        ),
        (claim(json!({})), claim(json!({"volumeMode": "Filesystem"}))),
        (
            claim(json!({"resources": {"requests": {"storage": "1Gi"}}})),
            claim(json!({"resources": {"requests": {"storage": "1024Mi"}}})),
        ),
        (
            claim(json!({"resources": {"requests": {"storage": "1Gi"}}})),
            claim(json!({"resources": {"requests": {"storage": "2Gi"}}})),
        ),
        (
            set(json!({"metadata": {"name": "data"}, "spec": {}})),
            set(json!({"metadata": {"name": "data"}, "spec": {"volumeMode": "Filesystem"}})),
        ),
    ] {
        assert_eq!(
            rejected_fields(&object(&old), &object(&new)),
            [],
            "{old} -> {new}"
        );
    }
}

#[test]
fn claim_cannot_lose_its_class() {
    let claim = |spec: Value| json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "a"}, "spec": spec});
    let [slow, none, null] = [
        json!({"storageClassName": "slow"}),
        json!({}),
        json!({"storageClassName": null}),
    ]
    .map(|spec| object(&claim(spec)));
    for lost in [&none, &null] {
        let fields: Vec<_> = rejected_fields(&slow, lost)
            .iter()
            .map(|one| one.field)
            .collect();
        assert_eq!(fields, ["spec.storageClassName"]);
        assert_eq!(rejected_fields(lost, &slow), []);
        assert!(class_set_later(lost, &slow).is_some());
    }
    assert_eq!(class_set_later(&none, &null), None);
}

#[test]
fn mode_of_a_volume_is_immutable() {
    let volume = |spec: Value| json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "a"}, "spec": spec});
    let of = |mode: &str| volume(json!({"volumeMode": mode}));
    let rejected = |new: &Value| {
        let old = volume(json!({}));
        rejected_fields(&object(&old), &object(new))
    };
    assert_eq!(rejected(&of("Block"))[0].field, "spec.volumeMode");
    assert_eq!(rejected(&of("Filesystem")), []);
}

#[test]
fn claim_template_labels_are_immutable() {
    let set = |labels: Value| json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "a"}, "spec": {"volumeClaimTemplates": [{"metadata": {"name": "data", "labels": labels}}]}});
    let (old, new) = (
        set(json!({"chart": "a-1"})),
        set(json!({"chart": "a-1", "more": "x"})),
    );
    let fields: Vec<_> = rejected_fields(&object(&old), &object(&new))
        .into_iter()
        .map(|one| one.field)
        .collect();
    assert_eq!(fields, ["spec.volumeClaimTemplates"]);
}

#[test]
fn null_and_omitted_are_the_same() {
    let deployment = |selector: Value| json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": {"selector": selector}});
    let job = |labels: Value| json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": {"metadata": {"labels": labels}}}});
    let old = deployment(json!({"matchLabels": {"a": "b"}}));
    let new = deployment(json!({"matchLabels": {"a": "b", "c": null}, "matchExpressions": null}));
    assert_eq!(rejected_fields(&object(&old), &object(&new)), []);
    let (old, new) = (job(json!({"a": "b", "c": null})), job(json!({"a": "b"})));
    assert_eq!(rejected_fields(&object(&old), &object(&new)), []);
    let new = job(json!({"a": "b", "c": "d"}));
    assert_eq!(rejected_fields(&object(&old), &object(&new)).len(), 1);
}
