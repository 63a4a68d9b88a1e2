//! The Applications that sets generate, compared with recordings of Argo CD's own code (`sets.yaml`).

use serde_json::Value;

use super::list::document;
use crate::diff::places::Folder;

const ROOT: &str = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: root, namespace: argocd}\nspec:\n  \
    source: {repoURL: 'https://git.example.org/fleet.git', path: argocd}\n  \
    destination: {server: 'https://kubernetes.default.svc', namespace: argocd}\n";

/// Returns the Applications of a set in the form of the recordings, or `fails`.
fn generated(files: &Value, spec: &Value) -> Value {
    let folder = Folder::new();
    folder.write("root.yaml", ROOT);
    let set = serde_json::json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "ApplicationSet",
        "metadata": {"name": "set", "namespace": "argocd"},
        "spec": spec,
    });
    folder.write("argocd/set.json", &set.to_string());
    for (path, text) in files.as_object().expect("files") {
        folder.write(path, text.as_str().expect("text"));
    }
    let document = document(folder.path(), &[]);
    let mut all = Vec::new();
    for delivery in document["deliveries"].as_array().expect("a list") {
        let key = delivery["key"].as_str().unwrap_or_default();
        if key.starts_with("ApplicationSet") {
            let unread = delivery["unread"].as_array().expect("a list");
            assert!(unread.is_empty(), "{unread:?}");
            if !delivery["error"].is_null() {
                return "fails".into();
            }
        }
        let name = key.strip_prefix("Application.argoproj.io/argocd/");
        let Some(name) = name.filter(|name| *name != "root") else {
            continue;
        };
        let settings = &delivery["settings"];
        let finalizers = settings["finalizers"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let finalizers: Vec<&str> = finalizers.iter().filter_map(Value::as_str).collect();
        let prunes = match (settings["automated"].as_bool(), settings["prune"].as_bool()) {
            (Some(true), prunes) => prunes.unwrap_or_default().to_string(),
            _ => "-".to_owned(),
        };
        let words = [
            name,
            delivery["path"].as_str().unwrap_or_default(),
            settings["destinationNamespace"]
                .as_str()
                .unwrap_or_default(),
            &finalizers.join(","),
            &prunes,
        ];
        all.push(words.join(" | "));
    }
    all.sort();
    all.into()
}

#[test]
fn sets_generate_applications_that_argo_cd_generates() {
    let recorded: Value = serde_yaml::from_str(include_str!("sets.yaml")).expect("YAML");
    let mut wrong = Vec::new();
    for case in recorded["sets"].as_array().expect("a list") {
        let found = generated(&recorded["files"], &case["spec"]);
        if found != case["applications"] {
            let (about, expected) = (&case["about"], &case["applications"]);
            wrong.push(format!("{about}: {found}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The controller adds its finalizer before it applies the patch, which merges lists of finalizers.
#[test]
fn finalizers_of_a_template_patch_are_added_to_those_of_the_application() {
    let spec = |policy: bool| {
        serde_json::json!({
            "generators": [{"list": {"elements": [{"name": "web"}]}}],
            "syncPolicy": {"preserveResourcesOnDeletion": policy},
            "template": {
                "metadata": {"name": "{{name}}"},
                "spec": {
                    "source": {"repoURL": "https://git.example.org/fleet.git", "path": "svc"},
                    "destination": {"server": "https://kubernetes.default.svc", "namespace": "shop"},
                },
            },
            "templatePatch": "metadata: {finalizers: [a.example.org/b]}",
        })
    };
    let files = serde_json::json!({"svc/a.yaml": "{}"});
    assert_eq!(
        generated(&files, &spec(false)),
        serde_json::json!([
            "web | svc | shop | resources-finalizer.argocd.argoproj.io,a.example.org/b | -"
        ])
    );
    assert_eq!(
        generated(&files, &spec(true)),
        serde_json::json!(["web | svc | shop | a.example.org/b | -"])
    );
}
