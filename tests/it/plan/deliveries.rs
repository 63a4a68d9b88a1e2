//! `plan` for delivered objects: names and namespaces of builds, generated objects, clusters, and tools' reactions.

use serde_json::Value;

use crate::formats::schemas::{parsed, schema_errors, validator};
use crate::html::HtmlPage;
use crate::support::Repository;

fn config_map(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n")
}

pub(super) fn kustomization(name: &str, path: &str, more: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n\
         metadata: {{name: {name}, namespace: flux-system}}\n\
         spec: {{path: {path}, prune: true, {more}sourceRef: {{kind: GitRepository, name: a}}}}\n"
    )
}

fn plan(tree: &Repository, arguments: &[&str]) -> Value {
    let arguments = [&["plan", "delete", "-o", "json"], arguments].concat();
    let (status, text, error) = tree.run(&arguments, "");
    assert_eq!(status, 0, "{arguments:?}: {error}");
    let plan = parsed(&text);
    assert_eq!(
        schema_errors(validator("plan"), &plan),
        [""; 0],
        "{arguments:?}"
    );
    plan
}

/// Returns the objects that are gone at the end, without those that controllers create.
fn gone(plan: &Value) -> Vec<String> {
    let steps = plan["steps"].as_array().expect("steps");
    let last = &steps.last().expect("a step")["outcomes"][0]["objects"];
    let objects = last.as_object().expect("objects").iter();
    let gone = objects.filter(|(_, fate)| *fate == "gone");
    let mut gone: Vec<String> = gone.map(|(key, _)| key.clone()).collect();
    gone.sort();
    gone
}

fn notes(plan: &Value) -> String {
    let notes = plan["notes"].as_array().expect("notes").iter();
    let notes: Vec<&str> = notes.filter_map(Value::as_str).collect();
    notes.join("\n")
}

#[test]
fn plan_uses_object_names_of_the_build() {
    let tree = Repository::new();
    let more = "targetNamespace: shop, postBuild: {substitute: {APP: web}}, ";
    tree.write("clusters/a/web.yaml", &kustomization("web", "./web", more));
    tree.write(
        "web/a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${APP}-settings\n",
    );
    tree.write(
        "web/kustomization.yaml",
        "resources: [a.yaml]\nconfigMapGenerator:\n- {name: made, literals: [a=b], options: {disableNameSuffixHash: true}}\n",
    );
    let all = plan(&tree, &["ks/web"]);
    let key = "Kustomization.kustomize.toolkit.fluxcd.io/flux-system/web";
    assert_eq!(
        gone(&all),
        ["ConfigMap/shop/made", "ConfigMap/shop/web-settings", key]
    );
    let one = plan(&tree, &["cm/web-settings", "-n", "shop"]);
    assert_eq!(gone(&one), ["ConfigMap/shop/web-settings"]);
    assert!(!notes(&one).contains("Not read"), "{}", notes(&one));
    assert!(
        notes(&one).contains(&format!(
            "Flux creates again what {key} delivers: ConfigMap/shop/web-settings."
        )),
        "{}",
        notes(&one)
    );
    // The namespace exists because an object is delivered into it.
    assert_eq!(
        gone(&plan(&tree, &["ns/shop"])),
        [
            "ConfigMap/shop/made",
            "ConfigMap/shop/web-settings",
            "Namespace//shop"
        ]
    );
}

#[test]
fn parent_patches_to_a_kustomization_apply() {
    let tree = Repository::new();
    let patch = "patches: [{target: {kind: Kustomization}, patch: '[{\"op\": \"add\", \"path\": \"/spec/deletionPolicy\", \"value\": \"Orphan\"}]'}], ";
    tree.write(
        "clusters/a/all.yaml",
        &kustomization("all", "./apps", patch),
    );
    tree.write("apps/web.yaml", &kustomization("web", "./web", ""));
    let object = config_map("a").replace("a}", "a, namespace: web}");
    tree.write("web/a.yaml", &object);
    let plan = plan(&tree, &["ks/web"]);
    let key = "Kustomization.kustomize.toolkit.fluxcd.io/flux-system/web";
    assert_eq!(gone(&plan), [key]);
    assert!(
        notes(&plan).contains(&format!(
            "Flux keeps what {key} delivered, because it has the deletion policy Orphan."
        )),
        "{}",
        notes(&plan)
    );
}

const SET: &str = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: apps, namespace: argocd}\nspec:\n  \
     generators:\n  - git: {repoURL: https://example.org/a.git, directories: [{path: apps/*}]}\n  template:\n    \
     metadata: {name: '{{path.basename}}', finalizers: [resources-finalizer.argocd.argoproj.io]}\n    \
     spec:\n      project: default\n      source: {repoURL: https://example.org/a.git, path: '{{path}}'}\n      \
     destination: {server: https://kubernetes.default.svc, namespace: '{{path.basename}}'}\n      \
     syncPolicy: {automated: {prune: true}}\n";

#[test]
fn deleting_application_set_deletes_its_applications() {
    let tree = Repository::new();
    tree.write("set.yaml", SET);
    tree.write("apps/a/a.yaml", &config_map("one"));
    tree.write("apps/b/b.yaml", &config_map("two"));
    let set = plan(&tree, &["appset/apps"]);
    let application = |name| format!("Application.argoproj.io/argocd/{name}");
    assert_eq!(
        gone(&set),
        [
            application("a"),
            application("b"),
            "ApplicationSet.argoproj.io/argocd/apps".to_owned(),
            "ConfigMap/a/one".to_owned(),
            "ConfigMap/b/two".to_owned(),
        ]
    );
    // No file contains this Application.
    let one = plan(&tree, &["app/a"]);
    assert_eq!(gone(&one), [application("a"), "ConfigMap/a/one".to_owned()]);
    assert!(
        notes(&one)
            .contains("Argo CD creates again what ApplicationSet.argoproj.io/argocd/apps delivers"),
        "{}",
        notes(&one)
    );
    let (_, text, _) = tree.run(&["plan", "delete", "app/a"], "");
    assert!(
        text.contains("1 Terminating until a later step") && !text.contains("how to release it"),
        "{text}"
    );
}

#[test]
fn orphaning_deletion_of_a_set_leaves_its_applications() {
    let tree = Repository::new();
    tree.write("set.yaml", SET);
    tree.write("apps/a/a.yaml", &config_map("one"));
    let set = plan(&tree, &["appset/apps", "--cascade", "orphan"]);
    assert_eq!(gone(&set), ["ApplicationSet.argoproj.io/argocd/apps"]);
}

#[test]
fn application_from_another_repository_is_assumed_deleted() {
    let tree = Repository::new();
    tree.write("set.yaml", SET);
    tree.write(
        "app.yaml",
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\n\
         metadata: {name: far, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}\n\
         spec:\n  source: {repoURL: https://git.example.com/b, path: elsewhere}\n  \
         destination: {server: https://kubernetes.default.svc, namespace: a}\n",
    );
    let far = plan(&tree, &["app/far"]);
    assert_eq!(gone(&far), ["Application.argoproj.io/argocd/far"]);
    assert!(
        notes(&far).contains("this assumes that it succeeds"),
        "{}",
        notes(&far)
    );
}

#[test]
fn placeholder_of_an_unknown_application_is_not_deleted() {
    let tree = Repository::new();
    let list = SET.find("  generators:").expect("generators");
    let template = SET.find("  template:").expect("a template");
    let set = format!(
        "{}  generators: [{{scmProvider: {{github: {{organization: acme}}}}}}]\n{}",
        &SET[..list],
        SET[template..].replace("{{path.basename}}", "{{repository}}")
    );
    tree.write("set.yaml", &set);
    tree.write("apps/a/a.yaml", &config_map("one"));
    let all = plan(&tree, &["appset/apps"]);
    assert_eq!(gone(&all), ["ApplicationSet.argoproj.io/argocd/apps"]);
    assert_eq!(all["steps"].as_array().map(Vec::len), Some(1), "{all}");
    assert!(notes(&all).contains("scmProvider"), "{}", notes(&all));
}

#[test]
fn application_with_stuck_objects_is_not_deleted() {
    let tree = Repository::new();
    tree.write("set.yaml", SET);
    let held = config_map("one").replace("one}", "one, finalizers: [example.org/x]}");
    tree.write("apps/a/a.yaml", &held);
    let plan = plan(&tree, &["app/a"]);
    assert_eq!(gone(&plan), [""; 0]);
    let (_, text, _) = tree.run(&["plan", "delete", "app/a"], "");
    assert!(text.contains("how to release it"), "{text}");
}

#[test]
fn target_in_several_clusters_needs_the_cluster_option() {
    let tree = Repository::new();
    for cluster in ["blue", "green"] {
        let path = format!("./clusters/{cluster}");
        tree.write(
            &format!("clusters/{cluster}/flux-system/sync.yaml"),
            &kustomization("flux-system", &path, ""),
        );
        tree.write(
            &format!("clusters/{cluster}/web.yaml"),
            &kustomization("web", "./web", &format!("targetNamespace: {cluster}, ")),
        );
    }
    tree.write("web/a.yaml", &config_map("a"));
    let (status, _, error) = tree.run(&["plan", "delete", "ks/web"], "");
    assert_eq!(status, 2, "{error}");
    assert!(
        error.contains("the target is in 2") && error.contains("`clusters/blue`, `clusters/green`"),
        "{error}"
    );
    let green = plan(&tree, &["ks/web", "--cluster", "clusters/green"]);
    let key = "Kustomization.kustomize.toolkit.fluxcd.io/flux-system/web";
    assert_eq!(gone(&green), ["ConfigMap/green/a", key]);
    // Only one cluster has this object.
    let blue = plan(&tree, &["cm/a", "-n", "blue"]);
    assert_eq!(gone(&blue), ["ConfigMap/blue/a"]);
    let (status, _, error) = tree.run(&["plan", "delete", "ks/web", "--cluster", "red"], "");
    assert_eq!(status, 2);
    assert!(
        error.contains("there is no cluster `red`") && error.contains("`clusters/blue`"),
        "{error}"
    );
}

/// A cluster has each name under which `list --deliveries` shows it.
#[test]
fn only_cluster_may_be_named() {
    let tree = Repository::new();
    tree.write(
        "clusters/home/sync.yaml",
        &kustomization("web", "./web", "targetNamespace: shop, "),
    );
    tree.write("web/a.yaml", &config_map("a"));
    let (_, listed, _) = tree.run(&["list", "--deliveries"], "");
    assert!(listed.starts_with("web\n"), "{listed}");
    let key = "Kustomization.kustomize.toolkit.fluxcd.io/flux-system/web";
    let only = plan(&tree, &["ks/web", "--cluster", "web"]);
    assert_eq!(gone(&only), ["ConfigMap/shop/a", key]);
}

#[test]
fn unapplied_object_is_planned_separately() {
    let tree = Repository::new();
    tree.write("clusters/a/web.yaml", &kustomization("web", "./web", ""));
    tree.write("web/kustomization.yaml", "resources: [a.yaml]\n");
    let object = |name| config_map(name).replace('}', ", namespace: web}");
    tree.write("web/a.yaml", &object("applied"));
    tree.write("web/draft.yaml", &object("draft"));
    let applied = plan(&tree, &["ns/web"]);
    assert_eq!(gone(&applied), ["ConfigMap/web/applied", "Namespace//web"]);
    let draft = plan(&tree, &["cm/draft"]);
    assert_eq!(gone(&draft), ["ConfigMap/web/draft"]);
    assert!(
        notes(&draft).contains("Nothing in the input applies the target"),
        "{}",
        notes(&draft)
    );
}

#[test]
fn failed_build_is_noted_and_deletes_only_the_kustomization() {
    let tree = Repository::new();
    tree.write("clusters/a/web.yaml", &kustomization("web", "./web", ""));
    tree.write("web/kustomization.yaml", "resources: [gone.yaml]\n");
    let plan = plan(&tree, &["ks/web"]);
    let key = "Kustomization.kustomize.toolkit.fluxcd.io/flux-system/web";
    assert_eq!(gone(&plan), [key]);
    let note = format!(
        "The objects that {key} delivers are not known, because it cannot be built: gone.yaml does not exist."
    );
    assert!(notes(&plan).contains(&note), "{}", notes(&plan));
}

#[test]
fn headline_says_that_deleted_objects_are_not_known() {
    let tree = Repository::new();
    let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\n\
         metadata: {name: web, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}\n\
         spec: {source: {repoURL: https://example.org/a.git, path: web}, destination: {server: https://kubernetes.default.svc, namespace: web}}\n";
    tree.write("argocd/web.yaml", application);
    tree.write("web/kustomization.yaml", "resources: [gone.yaml]\n");
    let key = "Application.argoproj.io/argocd/web";
    let (status, text, error) = tree.run(&["plan", "delete", "app/web"], "");
    assert_eq!(status, 0, "{error}");
    assert!(
        text.contains("It is not known what is deleted") && !text.contains("Nothing is deleted"),
        "{text}"
    );
    let unknown = plan(&tree, &["app/web"]);
    assert_eq!(unknown["unread"], serde_json::json!([key]), "{unknown}");
    // Argo CD deletes what it tracks, and needs no build for that.
    assert_eq!(gone(&unknown), [key]);
    // Without the finalizer, it deletes nothing.
    let finalizer = ", finalizers: [resources-finalizer.argocd.argoproj.io]";
    tree.write("argocd/web.yaml", &application.replace(finalizer, ""));
    let kept = plan(&tree, &["app/web"]);
    assert_eq!(
        (gone(&kept), &kept["unread"]),
        (vec![key.to_owned()], &Value::Null)
    );
    tree.write("argocd/web.yaml", application);
    tree.write("web/kustomization.yaml", "resources: [a.yaml]\n");
    tree.write("web/a.yaml", &config_map("a"));
    let read = plan(&tree, &["app/web"]);
    assert_eq!(read["unread"], Value::Null, "{read}");
    assert_eq!(gone(&read), [key, "ConfigMap/web/a"]);
}

#[test]
fn build_reads_files_that_are_no_manifests() {
    let tree = Repository::new();
    tree.write("clusters/a/web.yaml", &kustomization("web", "./web", ""));
    tree.write(
        "web/kustomization.yaml",
        "namespace: web\nresources: [a.yaml]\npatches: [{path: config/label.patch}]\n\
         generatorOptions: {disableNameSuffixHash: true}\n\
         configMapGenerator: [{name: settings, files: [config/web.conf]}]\n\
         secretGenerator: [{name: login, envs: [config/web.env]}]\n",
    );
    tree.write("web/a.yaml", &config_map("a"));
    tree.write("web/config/web.conf", "listen 80\n");
    tree.write("web/config/web.env", "user=a\n");
    let label = config_map("a").replace('}', ", labels: {a: b}}");
    tree.write("web/config/label.patch", &label);
    let key = "Kustomization.kustomize.toolkit.fluxcd.io/flux-system/web";
    // If files are named one by one, the kustomization leads to the files beside it.
    let named = "ks/web -f clusters/a/web.yaml -f web/kustomization.yaml -f web/a.yaml";
    let named: Vec<&str> = named.split(' ').collect();
    for arguments in [&["ks/web"][..], &["ks/web", "-f", "."], &named] {
        let plan = plan(&tree, arguments);
        assert_eq!(
            gone(&plan),
            [
                "ConfigMap/web/a",
                "ConfigMap/web/settings",
                key,
                "Secret/web/login"
            ],
            "{arguments:?}"
        );
        assert!(
            !notes(&plan).contains("cannot be built"),
            "{}",
            notes(&plan)
        );
    }
}

#[test]
fn files_outside_kustomizations_count_without_delivery_tool() {
    let tree = Repository::new();
    tree.write(
        "kustomization.yaml",
        "namespace: web\nresources: [a.yaml]\n",
    );
    tree.write("a.yaml", &config_map("a"));
    let object = config_map("b").replace('}', ", namespace: web}");
    tree.write("b.yaml", &object);
    assert_eq!(
        gone(&plan(&tree, &["ns/web"])),
        ["ConfigMap/web/a", "ConfigMap/web/b", "Namespace//web"]
    );
}

#[test]
fn objects_in_remote_cluster_are_only_noted() {
    let tree = Repository::new();
    let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\n\
         metadata: {name: web, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}\n\
         spec: {source: {repoURL: https://example.org/a.git, path: web}, destination: {server: https://far.example.org, namespace: web}}\n";
    tree.write("app.yaml", application);
    tree.write("web/a.yaml", &config_map("a"));
    let plan = plan(&tree, &["app/web"]);
    assert!(
        notes(&plan).contains("Argo CD deletes once Application.argoproj.io/argocd/web is deleted")
            && notes(&plan).contains("ConfigMap/web/a"),
        "{}",
        notes(&plan)
    );
    let finalizer = ", finalizers: [resources-finalizer.argocd.argoproj.io]";
    tree.write("app.yaml", &application.replace(finalizer, ""));
    let kept = self::plan(&tree, &["app/web"]);
    assert!(
        notes(&kept).contains("because it has no resources finalizer")
            && !notes(&kept).contains("ConfigMap/web/a"),
        "{}",
        notes(&kept)
    );
}

#[test]
fn teardown_uses_the_cluster_of_the_removed_folder() {
    let tree = Repository::new();
    for cluster in ["blue", "green"] {
        tree.write(
            &format!("clusters/{cluster}/sync.yaml"),
            &kustomization("flux-system", &format!("./clusters/{cluster}"), ""),
        );
        tree.write(
            &format!("clusters/{cluster}/web.yaml"),
            &kustomization("web", &format!("./{cluster}"), ""),
        );
        let object = config_map("a").replace('}', ", namespace: web}");
        tree.write(&format!("{cluster}/a.yaml"), &object);
    }
    let teardown = |more: &[&str]| {
        let arguments = ["plan", "teardown", "--by", "flux", "-o", "json"];
        tree.run(&[&arguments[..], more].concat(), "")
    };
    let (status, text, error) = teardown(&["blue", "--beside", "clusters"]);
    assert_eq!(status, 0, "{error}");
    assert_eq!(gone(&parsed(&text)), ["ConfigMap/web/a"]);
    let (status, _, error) = teardown(&["."]);
    assert_eq!(status, 2, "{error}");
    assert!(
        error.contains("`clusters/blue`, `clusters/green`"),
        "{error}"
    );
}

/// Argo CD removes its finalizer, too, if all objects stay.
#[test]
fn application_whose_objects_stay_is_deleted() {
    let tree = Repository::new();
    tree.write("argocd/web.yaml", WEB);
    let kept = "a, annotations: {argocd.argoproj.io/sync-options: Delete=false}}";
    tree.write("web/a.yaml", &config_map("a").replace("a}", kept));
    let plan = plan(&tree, &["app/web"]);
    assert_eq!(gone(&plan), ["Application.argoproj.io/argocd/web"]);
    assert!(
        notes(&plan).contains("ConfigMap/shop/a"),
        "{}",
        notes(&plan)
    );
}

const WEB: &str = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd, finalizers: \
    [resources-finalizer.argocd.argoproj.io]}\nspec:\n  source: {repoURL: 'https://git.example.org/fleet.git', path: web}\n  \
    destination: {server: 'https://kubernetes.default.svc', namespace: shop}\n";

#[test]
fn page_is_titled_by_the_requested_deletion() {
    let tree = Repository::new();
    tree.write("argocd/web.yaml", WEB);
    tree.write("web/a.yaml", &config_map("a"));
    let (_, page, error) = tree.run(&["plan", "delete", "application/web", "-o", "html"], "");
    let page = HtmlPage::read(&page);
    let title = "delete Application.argoproj.io/argocd/web (Background), and 2 more steps";
    assert!(page.title.contains(title), "{}: {error}", page.title);
    let first = &page.beside["stories"][0];
    assert_eq!(first["objects"][0]["effect"], "later", "{first}");
}

const INSTANCE: &str = "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux, namespace: flux-system}\n\
     spec: {distribution: {version: 2.x}, sync: {kind: GitRepository, url: 'https://example.org/a.git', path: clusters/a}}\n";

#[test]
fn deleted_flux_instance_uninstalls_flux_without_pruning() {
    let tree = Repository::new();
    tree.write("clusters/a/instance.yaml", INSTANCE);
    tree.write("clusters/a/web.yaml", &kustomization("web", "./web", ""));
    let object = config_map("a").replace('}', ", namespace: web}");
    tree.write("web/a.yaml", &object);
    let web = "Kustomization.kustomize.toolkit.fluxcd.io/flux-system/web";
    let instance = "FluxInstance.fluxcd.controlplane.io/flux-system/flux";
    let all = plan(&tree, &["fluxinstance/flux"]);
    assert_eq!(gone(&all), [instance, web]);
    assert!(
        notes(&all).contains("It prunes nothing: what Flux applied stays in the cluster")
            && !notes(&all).contains("creates again"),
        "{}",
        notes(&all)
    );
    let disabled = "flux-system, annotations: {fluxcd.controlplane.io/reconcile: disabled}}";
    let disabled = INSTANCE.replace("flux-system}", disabled);
    tree.write("clusters/a/instance.yaml", &disabled);
    assert_eq!(gone(&plan(&tree, &["fluxinstance/flux"])), [instance]);
}

#[test]
fn deleted_flux_instance_releases_dumped_kustomization() {
    let tree = Repository::new();
    let live = |text: &str, uid: &str, more: &str| {
        text.replace("metadata: {", &format!("metadata: {{uid: {uid}, {more}"))
    };
    let held = "finalizers: [finalizers.fluxcd.io], ";
    tree.write("a.yaml", &live(INSTANCE, "u1", ""));
    tree.write(
        "b.yaml",
        &live(&kustomization("web", "./web", ""), "u2", held),
    );
    let applied = "labels: {kustomize.toolkit.fluxcd.io/name: web, kustomize.toolkit.fluxcd.io/namespace: flux-system}, ";
    let object = config_map("a").replace('}', ", namespace: web}");
    tree.write("c.yaml", &live(&object, "u3", applied));
    let plan = plan(&tree, &["fluxinstance/flux"]);
    assert_eq!(
        gone(&plan),
        [
            "FluxInstance.fluxcd.controlplane.io/flux-system/flux",
            "Kustomization.kustomize.toolkit.fluxcd.io/flux-system/web"
        ],
        "{plan}"
    );
}

#[test]
fn kustomization_that_no_file_contains_is_explained() {
    let tree = Repository::new();
    tree.write("clusters/a/instance.yaml", INSTANCE);
    tree.write("clusters/a/web.yaml", &kustomization("web", "./web", ""));
    tree.write(
        "web/a.yaml",
        &config_map("a").replace('}', ", namespace: web}"),
    );
    let ask = |paths: &[&str], help: &str| {
        let arguments = [&["plan", "delete", "ks/flux-system"], paths].concat();
        let (status, _, error) = tree.run(&arguments, "");
        let error = error.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(status, 2, "{error}");
        assert!(
            error.contains("there is no `ks/flux-system` in the input") && error.contains(help),
            "{error}"
        );
    };
    ask(&[], "the Flux Operator creates it for a FluxInstance");
    ask(
        &["-f", "web"],
        "`flux bootstrap` writes it to `gotk-sync.yaml`",
    );
}

/// Returns a tree with the Kustomization that `flux bootstrap` writes.
fn bootstrapped() -> Repository {
    let tree = Repository::new();
    tree.write(
        "clusters/a/flux-system/gotk-sync.yaml",
        &kustomization("flux-system", "./clusters/a", ""),
    );
    tree
}

#[test]
fn deletion_of_its_own_controller_may_stop_half_way() {
    let tree = bootstrapped();
    tree.write(
        "clusters/a/flux-system/controller.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: kustomize-controller, namespace: flux-system}\nspec:\n  \
         selector: {matchLabels: {app: k}}\n  template:\n    metadata: {labels: {app: k}}\n    \
         spec: {containers: [{name: manager, image: 'ghcr.io/fluxcd/kustomize-controller:v1.6.0'}]}\n",
    );
    tree.write("clusters/a/web.yaml", &kustomization("web", "./web", ""));
    tree.write(
        "web/a.yaml",
        &config_map("a").replace('}', ", namespace: web}"),
    );
    let flux = plan(&tree, &["ks/flux-system"]);
    assert!(
        notes(&flux).contains(
            "Flux may stop half-way, because Kustomization.kustomize.toolkit.fluxcd.io/flux-system/flux-system delivered \
             the controller that deletes the objects: Deployment.apps/flux-system/kustomize-controller."
        ),
        "{}",
        notes(&flux)
    );
    let because = flux["steps"]
        .as_array()
        .expect("steps")
        .last()
        .expect("a step")["because"]
        .clone();
    assert!(
        because
            .to_string()
            .ends_with("unless its controller has stopped before\""),
        "{because}"
    );
    let web = plan(&tree, &["ks/web"]);
    assert!(!notes(&web).contains("half-way"), "{}", notes(&web));
}

#[test]
fn resource_set_is_noted_and_listed_as_not_evaluated() {
    let tree = bootstrapped();
    tree.write(
        "clusters/a/set.yaml",
        "apiVersion: fluxcd.controlplane.io/v1\nkind: ResourceSet\nmetadata: {name: tenants, namespace: flux-system}\nspec: {}\n",
    );
    let plan = plan(&tree, &["ks/flux-system"]);
    assert!(
        notes(&plan).contains(
            "Not evaluated, and so not part of this plan: the objects that tools make of \
             ResourceSet.fluxcd.controlplane.io/flux-system/tenants."
        ),
        "{}",
        notes(&plan)
    );
    let (_, listed, _) = tree.run(&["list", "--deliveries"], "");
    assert!(
        listed.contains("ResourceSet flux-system/tenants") && listed.contains("1 input not read"),
        "{listed}"
    );
}

#[test]
fn helm_release_in_a_deleted_namespace_is_not_followed() {
    let tree = Repository::new();
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: db, namespace: shop}\n\
         spec: {chart: {spec: {chart: db, sourceRef: {kind: HelmRepository, name: db}}}}\n";
    tree.write("clusters/a/web.yaml", &kustomization("web", "./web", ""));
    tree.write(
        "web/ns.yaml",
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n",
    );
    tree.write("web/db.yaml", release);
    let key = "HelmRelease.helm.toolkit.fluxcd.io/shop/db";
    let plan = plan(&tree, &["ns/shop"]);
    assert_eq!(plan["unread"], serde_json::json!([key]), "{plan}");
    let note = format!(
        "Not part of this plan: Flux also deletes the objects that {key} delivered, unless its \
         controller is deleted first."
    );
    assert!(notes(&plan).contains(&note), "{}", notes(&plan));
    let (_, text, _) = tree.run(&["plan", "delete", "ns/shop"], "");
    assert!(text.contains("At least 4 deleted"), "{text}");
    // A suspended one deletes nothing.
    tree.write(
        "web/db.yaml",
        &release.replace("{chart: {", "{suspend: true, chart: {"),
    );
    let (_, text, _) = tree.run(&["plan", "delete", "ns/shop"], "");
    assert!(text.contains("\n  4 deleted"), "{text}");
}
