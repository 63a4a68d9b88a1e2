//! Applications that several ApplicationSets generate: only the cluster knows which set owns them.

use serde_json::Value;

use super::argo::{root, set};
use super::flux::{compared, config, effects};

/// Returns the file of an ApplicationSet over a list of `names`.
fn over(set_name: &str, names: &str, path: &str) -> String {
    let list = format!("{{list: {{elements: [{names}]}}}}");
    set(&list, "{{name}}", path, "")
        .replace("apps/set.yaml", &format!("apps/{set_name}.yaml"))
        .replace("name: all", &format!("name: {set_name}"))
}

fn folders() -> String {
    format!(
        "== web/a.yaml\n{}== api/b.yaml\n{}",
        config("a"),
        config("b")
    )
}

fn unread(document: &Value) -> Vec<&str> {
    let unread = document["unread"].as_array().expect("a list").iter();
    unread
        .filter_map(|one| one["subject"].as_str())
        .filter(|subject| subject.starts_with("Application "))
        .collect()
}

#[test]
fn application_that_one_of_two_sets_drops_is_unknown() {
    let disputed =
        "Application argocd/api of ApplicationSet argocd/first and ApplicationSet argocd/second";
    let [all, web] = ["{name: web}, {name: api}", "{name: web}"];
    let second = over("second", "{name: api}", "{{name}}");
    let both = root() + &folders();
    let base = over("first", all, "{{name}}") + &second;
    for head in [
        over("first", web, "{{name}}") + &second,
        over("first", all, "{{name}}") + &over("second", "{name: other}", "web"),
    ] {
        let document = compared(&both, &base, &head);
        assert_eq!(unread(&document), [disputed]);
        assert_eq!(document["summary"]["verdict"], "unknown");
    }
    assert_eq!(unread(&compared(&both, &base, &base)), [""; 0]);
    let document = compared(&both, &base, &over("first", all, "{{name}}"));
    assert_eq!(unread(&document), [disputed]);
    let finding = &document["findings"][0];
    assert_eq!(
        (&finding["severity"], &finding["message"]),
        (
            &"warning".into(),
            &"removing ApplicationSet `second` may delete 1 object that head still applies".into()
        )
    );
    // Both drop it, so its owner certainly deletes it.
    let head = over("first", web, "{{name}}") + &over("second", "{name: other}", "web");
    let document = compared(&both, &base, &head);
    assert_eq!(unread(&document), [""; 0]);
    assert!(
        effects(&document)
            .contains(&"deleted Application.argoproj.io/argocd/api certain, .".to_owned()),
        "{:?}",
        effects(&document)
    );
}

#[test]
fn application_of_two_different_specs_is_possible() {
    let first = over("first", "{name: api}", "api");
    let base = format!("== api/c.yaml\n{}", config("c"));
    let gone = |second: &str| {
        let both = root() + &folders() + &first + second;
        effects(&compared(&both, &base, ""))
    };
    assert_eq!(
        gone(&over("second", "{name: api}", "api")),
        ["deleted ConfigMap/shop/c certain, ."]
    );
    assert_eq!(
        gone(&over("second", "{name: api}", "web")),
        ["deleted ConfigMap/shop/c possible, ."]
    );
}

/// The controller fails on the Application of the other set, and returns before it deletes its own.
#[test]
fn set_that_generates_application_of_another_set_deletes_nothing() {
    let both = root() + &folders() + &over("second", "{name: web}", "{{name}}");
    let base = over("first", "{name: api}", "{{name}}");
    let document = compared(&both, &base, &over("first", "{name: web}", "{{name}}"));
    assert_eq!(
        effects(&document),
        [
            "kept ConfigMap/shop/b certain, .",
            "orphaned Application.argoproj.io/argocd/api certain, .",
        ]
    );
    assert_eq!(document["findings"].as_array().map(Vec::len), Some(0));
    let document = compared(&both, &base, &over("first", "{name: free}", "{{name}}"));
    assert!(
        effects(&document)
            .contains(&"deleted Application.argoproj.io/argocd/api certain, .".to_owned()),
        "{:?}",
        effects(&document)
    );
}
