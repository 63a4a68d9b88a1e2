//! Objects whose manifests stay the same, but that the change builds differently.

use serde_json::Value;

use super::argo::{application, root as argo_root};
use super::flux::{compared, kustomization, root};

const DEPLOYMENT: &str = "== apps/web.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: 'web:1'}]}\n";

/// Returns a kustomization of the Deployment.
fn apps(more: &str) -> String {
    format!("== apps/kustomization.yaml\nresources: [web.yaml]\n{more}")
}

/// Returns the tree of a cluster whose Kustomization `apps` has `more` in its spec.
fn flux(more: &str) -> String {
    let apps = kustomization("apps", "./apps", more);
    root("prod") + "== clusters/prod/apps.yaml\n" + &apps
}

/// Returns the changes as `changed KEY`, and the findings as `rule file:line, cause file:line`.
fn lines(document: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let changes = document["changes"].as_array().expect("a list").iter();
    let changes = changes.map(|one| format!("{} {}", text(&one["change"]), text(&one["key"])));
    let findings = document["findings"].as_array().expect("a list").iter();
    let findings = findings.map(|one| {
        let place = |labelled: &Value| {
            let place = &labelled["location"];
            format!("{}:{}", text(&place["file"]), place["line"])
        };
        let related = one["related"].as_array().expect("a list").iter();
        let causes: String = related.map(|one| format!(", {}", place(one))).collect();
        format!("{} {}{causes}", text(&one["rule"]), place(one))
    });
    changes.chain(findings).collect()
}

#[test]
fn changed_value_of_a_variable_changes_only_the_build() {
    let job = "== apps/job.yaml\napiVersion: batch/v1\nkind: Job\nmetadata: {name: once, namespace: shop}\nspec:\n  template:\n    spec: {restartPolicy: Never, containers: [{name: once, image: 'a:${TAG}'}]}\n";
    let of = |tag: &str| flux(&format!("  postBuild: {{substitute: {{TAG: '{tag}'}}}}\n"));
    let document = compared(job, &of("1"), &of("2"));
    assert_eq!(
        lines(&document),
        [
            "changed Job.batch/shop/once",
            "changed Kustomization.kustomize.toolkit.fluxcd.io/flux-system/apps",
            "immutable-changed base/apps/job.yaml:6, head/clusters/prod/apps.yaml:8"
        ]
    );
    let note = document["findings"][0]["reason"].as_str();
    assert!(note.is_some_and(|note| note.contains("changes in the build")));
}

#[test]
fn selector_changed_by_labels_of_kustomization_is_rejected() {
    let labels = "labels:\n- {pairs: {team: a}, includeSelectors: true}\n";
    let patch = "patches:\n- target: {kind: Deployment}\n  patch: |\n    - {op: add, path: /spec/selector/matchLabels/team, value: a}\n    - {op: add, path: /spec/template/metadata/labels/team, value: a}\n";
    let expected = [
        "changed Deployment.apps/shop/web",
        "immutable-changed base/apps/web.yaml:5, head/apps/kustomization.yaml:2",
    ];
    for more in [labels, "commonLabels: {team: a}\n", patch] {
        for tool in [flux(""), String::new()] {
            let both = tool + DEPLOYMENT;
            assert_eq!(
                lines(&compared(&both, &apps(""), &apps(more))),
                expected,
                "{more}"
            );
        }
    }
    let both = flux("") + DEPLOYMENT;
    let document = compared(
        &both,
        &apps(labels),
        &apps(&labels.replace("team: a", "team: b")),
    );
    assert_eq!(document["summary"]["changed"], 1);
    let without = labels.replace("includeSelectors: true", "includeSelectors: false");
    let document = compared(&both, &apps(""), &apps(&without));
    assert_eq!(lines(&document), ["changed Deployment.apps/shop/web"]);
}

#[test]
fn selector_changed_by_base_of_overlay_is_rejected() {
    let overlay = "== overlay/kustomization.yaml\nresources: [../apps]\nnamespace: shop\n";
    let both = flux("").replace("path: ./apps", "path: ./overlay") + overlay + DEPLOYMENT;
    let document = compared(&both, &apps(""), &apps("commonLabels: {team: a}\n"));
    assert_eq!(
        lines(&document),
        [
            "changed Deployment.apps/shop/web",
            "immutable-changed base/apps/web.yaml:5, head/apps/kustomization.yaml:2",
        ]
    );
}

#[test]
fn patch_of_one_of_two_clusters_is_compared() {
    let stage = kustomization("apps", "./apps", "");
    let both = flux("").replace("path: ./apps", "path: ./prod")
        + &root("stage")
        + "== clusters/stage/apps.yaml\n"
        + &stage
        + DEPLOYMENT
        + &apps("")
        + "== prod/kustomization.yaml\nresources: [../apps]\npatches: [{path: patch.yaml}]\n";
    let patch = |team: &str| {
        format!(
            "== prod/patch.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop}}\nspec: {{selector: {{matchLabels: {{team: {team}}}}}}}\n"
        )
    };
    let document = compared(&both, &patch("a"), &patch("b"));
    assert_eq!(
        lines(&document),
        [
            "changed Deployment.apps/shop/web",
            "immutable-changed base/apps/web.yaml:5",
        ]
    );
    assert_eq!(document["changes"][0]["cluster"], "clusters/prod");
}

#[test]
fn label_moved_from_selector_to_kustomization_is_no_change() {
    let both = flux("");
    let labels = "labels:\n- {pairs: {app: web}, includeSelectors: true, includeTemplates: true}\n";
    let bare = DEPLOYMENT.replace("{app: web}", "{}");
    let base = apps("labels:\n- {pairs: {app: web}}\n") + DEPLOYMENT;
    let document = compared(&both, &base, &(apps(labels) + &bare));
    assert_eq!(lines(&document), [""; 0]);
    assert_eq!(document["summary"]["verdict"], "nothing");
}

#[test]
fn settings_of_delivery_change_its_objects() {
    let image = "  images: [{name: web, newTag: '2'}]\n";
    let document = compared(DEPLOYMENT, &flux(""), &flux(image));
    assert_eq!(
        lines(&document),
        [
            "changed Deployment.apps/shop/web",
            "changed Kustomization.kustomize.toolkit.fluxcd.io/flux-system/apps",
        ]
    );
}

#[test]
fn selector_changed_by_labels_of_application_is_rejected() {
    let both = argo_root() + DEPLOYMENT + &apps("");
    let app = |labels: &str| {
        let app = application("apps", "apps", "");
        format!(
            "== argocd/apps/apps.yaml\n{}",
            app.replace(
                "path: 'apps'",
                &format!("path: 'apps', kustomize: {{{labels}}}")
            )
        )
    };
    let document = compared(&both, &app(""), &app("commonLabels: {team: a}"));
    assert_eq!(
        lines(&document),
        [
            "changed Deployment.apps/shop/web",
            "changed Application.argoproj.io/argocd/apps",
            "immutable-changed base/apps/web.yaml:5, head/argocd/apps/apps.yaml:5",
        ]
    );
}

/// Returns the tree of an Application of the folder `apps` with options of `spec.source.kustomize`.
fn argo_app(options: &str) -> String {
    let app = application("apps", "apps", "");
    let with_options = format!("path: 'apps', kustomize: {{{options}}}");
    format!(
        "== argocd/apps/apps.yaml\n{}",
        app.replace("path: 'apps'", &with_options)
    )
}

#[test]
fn images_and_replicas_of_application_change_its_objects() {
    let both = argo_root() + DEPLOYMENT + &apps("images: [{name: web, newTag: '1'}]\n");
    let changed = |base: &str, head: &str| {
        let document = compared(&both, &argo_app(base), &argo_app(head));
        let changes = document["changes"].as_array().expect("a list").iter();
        changes
            .filter(|one| one["key"] == "Deployment.apps/shop/web")
            .count()
    };
    for option in [
        "images: ['web:2']",
        "images: ['web=example.org/web']",
        "images: ['web@sha256:a']",
        "replicas: [{name: web, count: 2}]",
        "replicas: [{name: web, count: '2'}]",
        "commonAnnotations: {a: b}",
        "commonLabels: {a: b}, labelWithoutSelector: true",
    ] {
        assert_eq!(changed("", option), 1, "{option}");
        assert_eq!(changed(option, option), 0, "{option}");
    }
    // These set what the kustomization sets.
    for option in [
        "images: ['web:1']",
        "images: ['web:*']",
        "images: ['web=*:1']",
    ] {
        assert_eq!(changed("", option), 0, "{option}");
    }
}

#[test]
fn refused_option_of_application_fails_its_build() {
    let both = argo_root() + DEPLOYMENT + &apps("commonLabels: {team: a}\n");
    for (options, expected) in [
        ("images: [web]", "the image `web` changes nothing"),
        ("replicas: [{name: web, count: many}]", "not a number"),
        ("commonLabels: {team: b}", "already sets `team`"),
        (
            "commonLabels: {a: b}, labelIncludeTemplates: true",
            "labelIncludeTemplates needs labelWithoutSelector",
        ),
    ] {
        let document = compared(&both, &argo_app(""), &argo_app(options));
        let reason = document["failed"][0]["reason"].as_str().unwrap_or_default();
        assert!(reason.contains(expected), "{options}: {reason}");
        assert_eq!(document["summary"]["deleted"], 0, "{options}");
    }
    let document = compared(
        &both,
        &argo_app(""),
        &argo_app("commonLabels: {team: b}, forceCommonLabels: true"),
    );
    assert_eq!(document["failed"], serde_json::json!([]));
}

/// A Deployment that reads the ConfigMap `config`, which the kustomization generates with `options`.
fn with_config(literal: &str, more: &str) -> String {
    let reads = "image: 'web:1', envFrom: [{configMapRef: {name: config}}]";
    DEPLOYMENT.replace("image: 'web:1'", reads)
        + &apps(&format!(
            "{more}configMapGenerator: [{{name: config, namespace: shop, literals: [{literal}]}}]\n"
        ))
}

#[test]
fn hash_of_generated_object_changes_its_users() {
    let document = compared(&flux(""), &with_config("a=1", ""), &with_config("a=2", ""));
    assert_eq!(
        lines(&document),
        [
            "changed ConfigMap/shop/config-6gtghh96k8",
            "changed Deployment.apps/shop/web",
        ]
    );
}

#[test]
fn renamed_generated_object_is_not_missed_by_its_users() {
    let fixed = "generatorOptions: {disableNameSuffixHash: true}\n";
    let base = with_config("a=1", fixed);
    let both = flux("");
    let below = with_config("a=1", "namePrefix: a-\n").replace("== apps/", "== apps/inner/");
    let list = "== apps/web.yaml\napiVersion: v1\nkind: List\nitems:\n\
                - {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, \
                template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: 'web:1', envFrom: [{configMapRef: {name: config}}]}]}}}}\n";
    let generated = with_config("a=1", "");
    let (_, kustomization) = generated
        .split_once("== apps/kustomization.yaml")
        .expect("one");
    for head in [
        with_config("a=1", ""),
        below + "== apps/kustomization.yaml\nresources: [inner]\nnamePrefix: b-\n",
        format!("{list}== apps/kustomization.yaml{kustomization}"),
        with_config("a=1", "namePrefix: b-\n"),
        with_config("a=1", &format!("{fixed}nameSuffix: -b\n")),
    ] {
        let document = compared(&both, &base, &head);
        assert_eq!(document["findings"], serde_json::json!([]), "{head}");
        assert_ne!(document["summary"]["deleted"], 0, "{head}");
    }
    // Kustomize renames only references to objects that it has.
    let head = DEPLOYMENT.replace(
        "image: 'web:1'",
        "image: 'web:1', envFrom: [{configMapRef: {name: config}}]",
    ) + &apps("");
    let rules = lines(&compared(&both, &base, &head));
    assert!(
        rules.iter().any(|one| one.starts_with("referred-removed")),
        "{rules:?}"
    );
}

#[test]
fn update_rejected_after_its_build_prevents_pruning() {
    let both = flux("") + DEPLOYMENT;
    let config = "== apps/old.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: old, namespace: shop}\n";
    let base = apps("").replace("web.yaml", "web.yaml, old.yaml") + config;
    let document = compared(&both, &base, &apps("commonLabels: {team: a}\n"));
    assert_eq!(document["summary"]["deleted"], 0);
    assert_eq!(document["summary"]["verdict"], "nothing");
}

/// A value that an unread Secret may set is not known, so it is not known to change.
#[test]
fn field_with_unread_variable_is_not_rejected() {
    let claim = "== apps/kustomization.yaml\nresources: [data.yaml]\n== apps/data.yaml\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\nspec: {storageClassName: '${CLASS:=fast}'}\n";
    let both = root("prod") + claim;
    let tree = |build: &str| {
        let apps = kustomization("apps", "./apps", build);
        format!("== clusters/prod/apps.yaml\n{apps}")
    };
    let secret = "  postBuild: {substituteFrom: [{kind: Secret, name: vars, optional: true}]}\n";
    let is_rejected = |base: &str, head: &str| {
        let lines = lines(&compared(&both, &tree(base), &tree(head)));
        lines
            .iter()
            .any(|line| line.starts_with("immutable-changed"))
    };
    let slow = "  postBuild: {substitute: {CLASS: slow}}\n";
    let none = "  postBuild: {substitute: {OTHER: x}}\n";
    assert!(is_rejected(slow, none));
    assert!(!is_rejected(secret, none));
    assert!(!is_rejected(slow, secret));
}

#[test]
fn unknown_variable_hides_no_other_change_of_an_immutable_field() {
    let from = "  postBuild: {substituteFrom: [{kind: Secret, name: vars}]}\n";
    let both = root("prod")
        + &format!(
            "== clusters/prod/apps.yaml\n{}",
            kustomization("apps", "./apps", from)
        );
    let web = |labels: &str| {
        format!(
            "== apps/web.yaml\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop}}\nspec:\n  selector: {{matchLabels: {{{labels}}}}}\n  template:\n    metadata: {{labels: {{{labels}}}}}\n    spec: {{containers: [{{name: web, image: 'web:1'}}]}}\n"
        )
    };
    let count = |base: &str, head: &str| {
        let document = compared(&both, &web(base), &web(head));
        let findings = document["findings"].as_array().expect("a list").iter();
        findings
            .filter(|one| one["rule"] == "immutable-changed")
            .count()
    };
    assert_eq!(count("app: '${APP}'", "app: web"), 0);
    assert_eq!(count("app: '${APP}', tier: a", "app: web, tier: b"), 1);
    assert_eq!(count("app: '${APP}'", "app: web, tier: b"), 1);
    assert_eq!(count("tier: a, app: '${APP}'", "tier: a, app: '${WEB}'"), 0);
}
