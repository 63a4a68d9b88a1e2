//! The objects that Argo CD applies from a tree, and those that it deletes when the tree changes.

use serde_json::Value;

use super::flux::{compared, comparison, config, effects, text_of};

/// Returns an Application named `name` that delivers `path` and prunes, with `more` in its spec.
pub(super) fn application(name: &str, path: &str, more: &str) -> String {
    format!(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}}\nspec:\n{}{more}---\n",
        spec(path)
    )
}

/// Returns the spec of an Application that delivers `path` and prunes.
fn spec(path: &str) -> String {
    format!(
        "  source: {{repoURL: 'https://git.example.org/fleet.git', path: '{path}'}}\n  destination: {{server: 'https://kubernetes.default.svc', namespace: shop}}\n  syncPolicy: {{automated: {{prune: true}}}}\n"
    )
}

/// Returns the file of a root Application that delivers `argocd/apps`.
pub(super) fn root() -> String {
    format!(
        "== root.yaml\n{}== argocd/apps/beside.yaml\n{}",
        application("root", "argocd/apps", ""),
        config("beside")
    )
}

/// Returns the file of an ApplicationSet: its generators, the name and path of its Applications, and more of its spec.
pub(super) fn set(generators: &str, name: &str, path: &str, more: &str) -> String {
    let spec: String = spec(path)
        .lines()
        .map(|line| format!("    {line}\n"))
        .collect();
    format!(
        "== argocd/apps/set.yaml\napiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: all, namespace: argocd}}\nspec:\n  generators: [{generators}]\n{more}  template:\n    metadata: {{name: '{name}'}}\n    spec:\n{spec}"
    )
}

/// Returns the files of an Application `web` that the root Application delivers, and of its only object, `a`.
pub(super) fn delivered() -> String {
    root()
        + &format!(
            "== argocd/apps/web.yaml\n{}== web/a.yaml\n{}",
            application("web", "web", ""),
            config("a")
        )
}

/// Returns two folders with an object each.
fn folders() -> String {
    format!(
        "== web/a.yaml\n{}== api/b.yaml\n{}",
        config("a"),
        config("b")
    )
}

pub(super) const DIRECTORIES: &str =
    "{git: {repoURL: 'https://git.example.org/fleet.git', directories: [{path: 'svc/*'}]}}";

#[test]
fn object_removed_from_application_folder_is_deleted() {
    let both = delivered();
    let document = compared(&both, &format!("== web/b.yaml\n{}", config("b")), "");
    assert_eq!(effects(&document), ["deleted ConfigMap/shop/b certain, ."]);
    let delivery = &document["effects"][0]["delivery"];
    assert_eq!(delivery["id"], ".|Application.argoproj.io/argocd/web");
}

#[test]
fn removed_application_with_finalizer_deletes_its_objects() {
    let both = root() + &folders();
    let web = format!("== argocd/apps/web.yaml\n{}", application("web", "web", ""));
    assert_eq!(
        effects(&compared(&both, &web, "")),
        [
            "deleted ConfigMap/shop/a certain, .",
            "deleted Application.argoproj.io/argocd/web certain, ."
        ]
    );
    // Without the finalizer, every object stays.
    let bare = web.replace(", finalizers: [resources-finalizer.argocd.argoproj.io]", "");
    assert_eq!(
        effects(&compared(&both, &bare, "")),
        [
            "orphaned ConfigMap/shop/a certain, .",
            "deleted Application.argoproj.io/argocd/web certain, ."
        ]
    );
}

#[test]
fn removed_list_element_deletes_its_application_unless_preserved() {
    let both = root() + &folders();
    let elements = |all: &str, more: &str| {
        let list = format!("{{list: {{elements: [{all}]}}}}");
        set(&list, "app-{{name}}", "{{name}}", more)
    };
    let base = elements("{name: web}, {name: api}", "");
    let gone = [
        "deleted ConfigMap/shop/b certain, .",
        "deleted Application.argoproj.io/argocd/app-api certain, .",
    ];
    assert_eq!(
        effects(&compared(&both, &base, &elements("{name: web}", ""))),
        gone
    );
    // The Application already has the finalizer when the setting arrives.
    let preserves = "  syncPolicy: {preserveResourcesOnDeletion: true}\n";
    assert_eq!(
        effects(&compared(&both, &base, &elements("{name: web}", preserves))),
        gone
    );
    let base = elements("{name: web}, {name: api}", preserves);
    assert_eq!(
        effects(&compared(&both, &base, &elements("{name: web}", preserves))),
        [
            "orphaned ConfigMap/shop/b certain, .",
            "deleted Application.argoproj.io/argocd/app-api certain, .",
        ]
    );
    let never = "  syncPolicy: {applicationsSync: create-update}\n";
    let base = elements("{name: web}, {name: api}", never);
    assert_eq!(
        effects(&compared(&both, &base, &elements("{name: web}", never))),
        [
            "kept ConfigMap/shop/b certain, .",
            "orphaned Application.argoproj.io/argocd/app-api certain, .",
        ]
    );
}

/// The controller may see the removed folder before the policy. A list changes with the policy.
#[test]
fn policy_that_arrives_with_the_removal_may_be_too_late() {
    let never = "  syncPolicy: {applicationsSync: create-update}\n";
    let of = |more: &str| set(DIRECTORIES, "{{path.basename}}", "{{path}}", more);
    let both = root() + &format!("== svc/web/a.yaml\n{}", config("a"));
    let api = format!("== svc/api/b.yaml\n{}", config("b"));
    let document = compared(&both, &(of("") + &api), &of(never));
    assert_eq!(
        effects(&document),
        [
            "deleted ConfigMap/shop/b race, .",
            "deleted Application.argoproj.io/argocd/api race, ."
        ]
    );
    let document = compared(&both, &(of(never) + &api), &of(never));
    assert_eq!(document["summary"]["verdict"], "nothing");
}

#[test]
fn other_revision_of_a_git_generator_is_not_read() {
    let both = root() + &format!("== svc/web/a.yaml\n{}", config("a"));
    let of = |revision: &str| {
        let generators =
            DIRECTORIES.replace("{git: {", &format!("{{git: {{revision: {revision}, "));
        set(&generators, "{{path.basename}}", "{{path}}", "")
    };
    let verdict = |base: &str, head: &str| {
        let document = compared(&both, &of(base), &of(head));
        document["summary"]["verdict"].clone()
    };
    assert_eq!(verdict("HEAD", "v1.0.0"), "unknown");
    assert_eq!(verdict("v1.0.0", "v1.0.0"), "nothing");
}

#[test]
fn change_affects_no_git_generator_of_a_fixed_revision() {
    let both = root() + &format!("== svc/web/a.yaml\n{}", config("a"));
    let gone = |generators: &str| {
        let set = set(generators, "{{path.basename}}", "{{path}}", "");
        let api = format!("== svc/api/b.yaml\n{}", config("b"));
        let document = compared(&(both.clone() + &set), &api, "");
        effects(&document)
            .iter()
            .map(|one| one.split(' ').take(2).collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        gone(DIRECTORIES),
        [
            "deleted ConfigMap/shop/b",
            "deleted Application.argoproj.io/argocd/api"
        ]
    );
    let fixed = DIRECTORIES.replace("{git: {", "{git: {revision: v1.0.0, ");
    assert_eq!(gone(&fixed), ["kept ConfigMap/shop/b"]);
}

/// An ApplicationSet over folders, in both template languages.
#[test]
fn removed_folder_deletes_its_generated_application() {
    let go = "  goTemplate: true\n  goTemplateOptions: [missingkey=error]\n";
    for (name, path, more) in [
        ("{{path.basename}}", "{{path}}", ""),
        (
            "{{ .path.basename | upper | lower }}",
            "{{ .path.path }}",
            go,
        ),
    ] {
        let both = root()
            + &set(DIRECTORIES, name, path, more)
            + &format!("== svc/web/a.yaml\n{}", config("a"));
        let api = format!("== svc/api/b.yaml\n{}", config("b"));
        assert_eq!(
            effects(&compared(&both, &api, "")),
            [
                "deleted ConfigMap/shop/b certain, .",
                "deleted Application.argoproj.io/argocd/api certain, ."
            ],
            "{name}"
        );
    }
}

#[test]
fn help_for_generated_application_edits_its_application_set() {
    let claim = |name: &str| config(name).replace("ConfigMap", "PersistentVolumeClaim");
    let both = root()
        + &format!(
            "== svc/a/a.yaml\n{}== svc/b/b.yaml\n{}",
            claim("a"),
            claim("b")
        );
    let of = |generators: &str| set(generators, "{{path.basename}}", "{{path}}", "");
    let one = DIRECTORIES.replace("svc/*", "svc/a");
    let document = compared(&both, &of(DIRECTORIES), &of(&one));
    let findings = document["findings"].as_array().expect("findings");
    let starts = "in ApplicationSet `all` set `spec.syncPolicy.preserveResourcesOnDeletion: true`";
    let has_help = |finding: &&Value| {
        let help = finding["help"].as_str();
        help.is_some_and(|help| help.starts_with(starts))
    };
    let finding = findings.iter().find(has_help);
    let finding = finding.unwrap_or_else(|| panic!("{findings:#?}"));
    // The finding is on the line of the ApplicationSet, because no file contains the Application.
    let place = &finding["location"];
    let file = place["file"].as_str().expect("a file");
    assert!(file.ends_with("argocd/apps/set.yaml"), "{place}");
    let line = "apiVersion: argoproj.io/v1alpha1";
    assert_eq!(place["line"], 1, "{place}");
    assert_eq!(place["endColumn"], line.len() + 1, "{place}");
}

#[test]
fn matrix_generator_combines_folders_with_a_list() {
    let matrix = |elements: &str| {
        let list = format!("{{list: {{elements: [{elements}]}}}}");
        set(
            &format!("{{matrix: {{generators: [{DIRECTORIES}, {list}]}}}}"),
            "{{path.basename}}-{{env}}",
            "{{path}}/{{env}}",
            "",
        )
    };
    let both = root()
        + &format!(
            "== svc/web/a.yaml\n{0}== svc/web/dev/a.yaml\n{0}== svc/web/prod/b.yaml\n{1}",
            config("a"),
            config("b")
        );
    assert_eq!(
        effects(&compared(
            &both,
            &matrix("{env: dev}, {env: prod}"),
            &matrix("{env: dev}")
        )),
        [
            "deleted ConfigMap/shop/b certain, .",
            "deleted Application.argoproj.io/argocd/web-prod certain, ."
        ]
    );
}

#[test]
fn matrix_generator_over_the_limit_is_an_error() {
    let list = |name: &str| {
        let elements: Vec<String> = (0..300).map(|at| format!("{{{name}: '{at}'}}")).collect();
        format!("{{list: {{elements: [{}]}}}}", elements.join(", "))
    };
    let matrix = format!("{{matrix: {{generators: [{}, {}]}}}}", list("a"), list("b"));
    let both = root() + &set(&matrix, "{{a}}-{{b}}", "web", "") + &folders();
    let error = comparison(&both, "", "").expect_err("a limit");
    assert!(error.contains("objects deliver others"), "{error}");
}

#[test]
fn failing_generator_keeps_all_applications_of_the_set() {
    let both = root() + &folders();
    let elements = |all: &str| {
        set(
            &format!("{{list: {{elements: [{all}]}}}}"),
            "app-{{name}}",
            "{{name}}",
            "",
        )
    };
    let document = compared(
        &both,
        &elements("{name: web}, {name: api}"),
        &elements("{name: web}, {name: [api]}"),
    );
    assert_eq!(
        effects(&document),
        [
            "kept Application.argoproj.io/argocd/app-api certain, .",
            "kept Application.argoproj.io/argocd/app-web certain, ."
        ]
    );
    assert_eq!(
        document["failed"][0]["delivery"],
        ".|ApplicationSet.argoproj.io/argocd/all"
    );
}

#[test]
fn merge_generator_uses_values_of_listed_clusters() {
    let merge = |elements: &str| {
        let generators = format!(
            "{{merge: {{mergeKeys: [name], generators: [{{clusters: {{values: {{dir: base}}}}}}, {{list: {{elements: [{elements}]}}}}]}}}}"
        );
        set(&generators, "web-{{name}}", "web/{{values.dir}}", "")
            .replace("https://kubernetes.default.svc", "{{server}}")
    };
    let both = root()
        + &format!(
            "== web/base/a.yaml\n{0}== web/eu/a.yaml\n{0}== web/eu/b.yaml\n{1}",
            config("a"),
            config("b")
        );
    // `eu` is then treated like every other cluster.
    let document = compared(&both, &merge("{name: eu, values.dir: eu}"), &merge(""));
    assert_eq!(
        effects(&document),
        ["deleted ConfigMap/shop/b possible, ./eu"]
    );
    // An entry that replaces that of every cluster.
    let document = compared(
        &both.replace("== web/eu/a.yaml\n", "== other/a.yaml\n"),
        &merge(""),
        &merge("{name: eu, values.dir: eu}"),
    );
    assert_eq!(
        effects(&document),
        ["deleted ConfigMap/shop/a possible, ./eu"]
    );
}

#[test]
fn selector_that_excludes_a_cluster_deletes_its_application() {
    let clusters = |selector: &str| {
        let generator = format!("{{clusters: {{}}{selector}}}");
        set(&generator, "web-{{name}}", "web", "")
            .replace("https://kubernetes.default.svc", "{{server}}")
    };
    let both = root() + &folders();
    let selector = ", selector: {matchExpressions: [{key: name, operator: NotIn, values: [eu]}]}";
    assert_eq!(
        effects(&compared(&both, &clusters(""), &clusters(selector))),
        [
            "deleted ConfigMap/shop/a possible, ./eu",
            "deleted Application.argoproj.io/argocd/web-eu possible, ."
        ]
    );
}

#[test]
fn hooks_confirmed_prunes_and_disabled_pruning_keep_objects() {
    let both = root() + &format!("== web/a.yaml\n{}", config("a"));
    let web = |more: &str| {
        format!(
            "== argocd/apps/web.yaml\n{}",
            application("web", "web", more)
        )
    };
    let b = format!("== web/b.yaml\n{}", config("b"));
    let leaves = |more: &str, b: &str| effects(&compared(&(both.clone() + &web(more)), b, ""));
    // A hook, and an object whose deletion a person has to confirm.
    let marked = |annotation: &str| {
        b.replace(
            "namespace: shop}",
            &format!("namespace: shop, annotations: {{{annotation}}}}}"),
        )
    };
    let hook = marked("argocd.argoproj.io/hook: PostSync");
    assert_eq!(leaves("", &hook), ["kept ConfigMap/shop/b certain, ."]);
    let confirm = marked("argocd.argoproj.io/sync-options: Prune=confirm");
    let both_leave = confirm + &format!("== web/c.yaml\n{}", config("c"));
    assert_eq!(
        leaves("", &both_leave),
        [
            "orphaned ConfigMap/shop/b certain, .",
            "orphaned ConfigMap/shop/c certain, ."
        ]
    );
    let off = web("").replace("prune: true", "prune: false");
    assert_eq!(
        effects(&compared(&(both.clone() + &off), &b, "")),
        ["orphaned ConfigMap/shop/b certain, ."]
    );
    // Turning off pruning in the same commit usually comes too late.
    let document = compared(&both, &(web("") + &b), &off);
    assert_eq!(effects(&document), ["deleted ConfigMap/shop/b race, ."]);
}

#[test]
fn application_left_without_objects_deletes_nothing() {
    let both = root()
        + &format!(
            "== argocd/apps/web.yaml\n{}== web/README.md\nhello\n",
            application("web", "web", "")
        );
    let document = compared(&both, &format!("== web/a.yaml\n{}", config("a")), "");
    assert_eq!(effects(&document), ["kept ConfigMap/shop/a certain, ."]);
    let reason = document["failed"][0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("allowEmpty"), "{reason}");
}

#[test]
fn kustomize_name_prefix_of_application_deletes_old_names() {
    let web = "  source: {repoURL: 'https://git.example.org/fleet.git', path: web, kustomize: {namePrefix: new-}}\n";
    let app = application("web", "web", "");
    let renamed = app.replacen(
        "  source: {repoURL: 'https://git.example.org/fleet.git', path: 'web'}\n",
        web,
        1,
    );
    assert_ne!(app, renamed);
    let both = root()
        + &format!(
            "== web/kustomization.yaml\nresources: [a.yaml]\n== web/a.yaml\n{}",
            config("a")
        );
    let document = compared(
        &both,
        &format!("== argocd/apps/web.yaml\n{app}"),
        &format!("== argocd/apps/web.yaml\n{renamed}"),
    );
    assert_eq!(effects(&document), ["deleted ConfigMap/shop/a certain, ."]);
}

#[test]
fn changed_unrendered_chart_is_unknown_and_deletes_nothing() {
    let chart = |version: &str| {
        format!(
            "== argocd/apps/web.yaml\n{}",
            application("web", "web", "").replace(
                "path: 'web'",
                &format!("chart: web, targetRevision: {version}")
            )
        )
    };
    let document = compared(&(root() + &folders()), &chart("1.0.0"), &chart("2.0.0"));
    assert_eq!(effects(&document), [""; 0]);
    assert_eq!(document["summary"]["verdict"], "unknown");
}

#[test]
fn control_planes_with_equal_applications_are_separate_clusters() {
    let plane = |name: &str, more: &str| {
        format!(
            "== {name}/root.yaml\n{}== {name}/svc/kustomization.yaml\nresources: [a.yaml{more}]\n== {name}/svc/a.yaml\n{}== {name}/svc/b.yaml\n{}",
            application("root", &format!("{name}/svc"), ""),
            config("a"),
            config("b")
        )
    };
    let document = compared(
        &plane("stage", ", b.yaml"),
        &plane("prod", ", b.yaml"),
        &plane("prod", ""),
    );
    assert_eq!(
        effects(&document),
        ["deleted ConfigMap/shop/b certain, prod"]
    );
}

#[test]
fn cluster_generator_uses_configured_clusters() {
    let generator = "{clusters: {selector: {matchLabels: {tier: prod}}, values: {dir: '{{metadata.labels.region}}'}}}";
    let set = set(
        generator,
        "web-{{nameNormalized}}",
        "web/{{values.dir}}",
        "",
    )
    .replace("https://kubernetes.default.svc", "{{server}}");
    let config_file = "== ownerlint.yaml\nversion: 1\nclusters:\n\
        - {name: Prod_EU, server: 'https://eu', labels: {tier: prod, region: eu}}\n\
        - {name: prod-us, server: 'https://us', labels: {tier: prod, region: us}}\n\
        - {name: test, server: 'https://test', labels: {tier: test, region: us}}\n";
    let both = root() + &set + &format!("== web/eu/a.yaml\n{0}== web/us/a.yaml\n{0}", config("a"));
    let left = format!("== web/us/b.yaml\n{}", config("b"));
    let document = compared(&(both.clone() + config_file), &left, "");
    assert_eq!(
        effects(&document),
        ["deleted ConfigMap/shop/b certain, ./prod-us"]
    );
    assert_eq!(
        document["effects"][0]["delivery"]["id"],
        "./prod-us|Application.argoproj.io/argocd/web-prod-us"
    );
    // Without the configuration, the list of clusters is only in the cluster.
    let document = compared(&both, &left, "");
    assert_eq!(
        effects(&document),
        ["deleted ConfigMap/shop/b possible, ./{{server}}"]
    );
}

#[test]
fn cluster_generator_uses_cluster_secrets_of_the_tree() {
    let set = set("{clusters: {}}", "web-{{name}}", "web/{{name}}", "")
        .replace("https://kubernetes.default.svc", "{{server}}");
    let secret = "== argocd/apps/eu.yaml\napiVersion: v1\nkind: Secret\nmetadata: {name: eu, namespace: argocd, labels: {argocd.argoproj.io/secret-type: cluster}}\nstringData: {server: 'https://eu'}\ndata: {name: ZXU=}\n";
    let both = root() + &set + secret + &format!("== web/eu/a.yaml\n{}", config("a"));
    let document = compared(&both, &format!("== web/eu/b.yaml\n{}", config("b")), "");
    // Another cluster may have the folder as well.
    assert_eq!(
        effects(&document),
        [
            "deleted ConfigMap/shop/b possible, ./eu",
            "deleted ConfigMap/shop/b possible, ./{{server}}",
        ]
    );
}

/// operate-first/apps a045541a: a kustomization adds a suffix to the Applications, and a Namespace is removed from what
/// one of them delivers.
#[test]
fn application_renamed_by_kustomize_deletes_removed_objects() {
    let app = application("cluster-resources", "cluster-scope/overlays/smaug", "")
        .replace(", namespace: argocd", "");
    let namespace =
        |name: &str| format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n");
    let both = format!(
        "== app-of-apps.yaml\n{}== argocd/overlays/smaug/kustomization.yaml\nnamespace: argocd\nnameSuffix: -smaug\nresources: [app.yaml]\n== argocd/overlays/smaug/app.yaml\n{app}== cluster-scope/overlays/smaug/a.yaml\n{}",
        application("root", "argocd/overlays/smaug", ""),
        namespace("stays"),
    );
    let left = format!(
        "== cluster-scope/overlays/smaug/b.yaml\n{}",
        namespace("fybrik")
    );
    let document = compared(&both, &left, "");
    assert_eq!(effects(&document), ["deleted Namespace//fybrik certain, ."]);
    assert_eq!(
        document["effects"][0]["delivery"]["id"],
        ".|Application.argoproj.io/argocd/cluster-resources-smaug"
    );
}

/// redhat-appstudio/infra-deployments 15e1a74a5: a merge of `clusters` with a list chooses the overlay of a cluster,
/// and the overlay no longer has its objects.
#[test]
fn merge_generator_deletes_objects_removed_from_a_cluster_overlay() {
    let generators = "{merge: {mergeKeys: [nameNormalized], generators: [\
        {clusters: {values: {sourceRoot: components/ps, environment: staging, clusterDir: ''}, selector: {matchLabels: {member: 'true'}}}}, \
        {list: {elements: [{nameNormalized: lightwell-dev, values.clusterDir: lightwell-dev}]}}]}}";
    let both = root()
        + &set(
            generators,
            "ps-{{nameNormalized}}",
            "{{values.sourceRoot}}/{{values.environment}}/{{values.clusterDir}}",
            "",
        )
        .replace("https://kubernetes.default.svc", "{{server}}")
        + &format!(
            "== components/ps/staging/lightwell-dev/kustomization.yaml\nresources: [deploy.yaml]\npatches:\n- {{path: delete.yaml, target: {{kind: Secret}}}}\n== components/ps/staging/lightwell-dev/delete.yaml\n$patch: delete\napiVersion: v1\nkind: Secret\nmetadata: {{name: any}}\n== components/ps/staging/lightwell-dev/deploy.yaml\n{}",
            config("stays")
        );
    let deploy = |more: &str| {
        format!(
            "== components/ps/staging/lightwell-dev/deploy.yaml\n{}{more}",
            config("stays")
        )
    };
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: tekton-results}\n---\n";
    let more = format!("{namespace}{}", config("results"));
    let document = compared(&both, &deploy(&more), &deploy(""));
    assert_eq!(
        effects(&document),
        [
            "deleted ConfigMap/shop/results possible, ./lightwell-dev",
            "deleted Namespace//tekton-results possible, ./lightwell-dev",
        ]
    );
    assert_eq!(document["summary"]["verdict"], "deletes");
}

/// A patch makes Argo CD replace a Job, which otherwise could not be changed.
#[test]
fn job_replaced_by_sync_option_has_no_immutable_finding() {
    let job = |image: &str| {
        format!(
            "== jobs/job.yaml\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: migrate, namespace: shop}}\nspec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: a, image: '{image}'}}]}}}}}}\n"
        )
    };
    let both = |patches: &str| {
        root()
            + &format!(
                "== argocd/apps/jobs.yaml\n{}== jobs/kustomization.yaml\nresources: [job.yaml]\n{patches}",
                application("jobs", "jobs", "")
            )
    };
    let rules = |patches: &str| -> Vec<String> {
        let document = compared(&both(patches), &job("a:1"), &job("a:2"));
        let findings = document["findings"].as_array().expect("a list").iter();
        findings.map(|one| one["rule"].to_string()).collect()
    };
    assert_eq!(rules(""), ["\"immutable-changed\""]);
    let patch = "patches:\n- target: {kind: Job}\n  patch: |\n    - {op: add, path: /metadata/annotations, value: {argocd.argoproj.io/sync-options: 'Force=true,Replace=true'}}\n";
    assert_eq!(rules(patch), [""; 0]);
}

/// Files other than manifests that affect what an Application builds.
#[test]
fn extensions_parameter_files_and_charts_affect_application_builds() {
    let both = delivered() + "== web/kustomization.yaml\nresources: [a.yaml]\n";
    // Argo CD does not read `.YAML`.
    let folder = both.replace("web/kustomization.yaml", "web/README.md");
    let [lower, upper] = ["yaml", "YAML"].map(|end| format!("== web/b.{end}\n{}", config("b")));
    assert_eq!(
        effects(&compared(&folder, &lower, &upper)),
        ["deleted ConfigMap/shop/b certain, ."]
    );
    let document = compared(&folder, &upper, "");
    assert_eq!(document["summary"]["verdict"], "unknown");
    assert_eq!(document["effects"][0]["regime"], "unknown");
    // A file of parameters is for the Application with its name.
    let suffix = "== web/.argocd-source-web.yaml\nkustomize: {nameSuffix: -b}\n";
    let other = suffix.replace("-web.yaml", "-other.yaml");
    assert_eq!(
        effects(&compared(&both, "", suffix)),
        ["deleted ConfigMap/shop/a certain, ."]
    );
    assert_eq!(effects(&compared(&both, "", &other)), [""; 0]);
    // A chart replaces the manifests beside it.
    let document = compared(&folder, "", "== web/Chart.yaml\nname: web\n");
    assert_eq!(effects(&document), [""; 0]);
    assert_eq!(document["summary"]["verdict"], "unknown");
    assert!(
        document["unread"]
            .as_array()
            .is_some_and(|unread| !unread.is_empty())
    );
    // A local configuration is not applied as an object.
    let local = config("b").replace(
        "namespace: shop",
        "namespace: shop, annotations: {config.kubernetes.io/local-config: 'true'}",
    );
    let listed = both.replace("[a.yaml]", "[a.yaml, b.yaml]");
    let [plain, local] = [config("b"), local].map(|text| format!("== web/b.yaml\n{text}"));
    assert_eq!(
        effects(&compared(&listed, &plain, &local)),
        ["deleted ConfigMap/shop/b certain, ."]
    );
}

/// khuedoan/homelab b4ba7ea6: the folder of a chart is removed, and with it all volumes of the cluster. The content of
/// the chart is not read.
#[test]
fn removed_chart_folder_deletes_application_and_is_unread() {
    let both = root()
        + &set(
            &DIRECTORIES.replace("svc/*", "system/*"),
            "{{path.basename}}",
            "{{path}}",
            "",
        )
        + &format!("== system/web/a.yaml\n{}", config("a"));
    let chart = "== system/longhorn/Chart.yaml\nname: longhorn\nversion: 0.0.0\ndependencies: [{name: longhorn, version: 1.5.3, repository: 'https://charts.longhorn.io'}]\n== system/longhorn/values.yaml\nlonghorn: {}\n";
    let document = compared(&both, chart, "");
    assert_eq!(
        effects(&document),
        ["deleted Application.argoproj.io/argocd/longhorn certain, ."]
    );
    assert_eq!(document["summary"]["verdict"], "deletes");
    let unread = document["unread"].to_string();
    assert!(unread.contains("chart longhorn 1.5.3"), "{unread}");
    let templates = chart.to_owned() + "== system/longhorn/templates/a.yaml\na: {{ .Values.a }}\n";
    let unread = compared(&both, &templates, "")["unread"].to_string();
    assert!(unread.contains("chart longhorn 0.0.0"), "{unread}");
}

/// The set is evaluated: its Applications are known, and their folders are in this tree.
#[test]
fn removed_set_over_own_folders_leaves_nothing_unread() {
    let both = root() + &format!("== svc/web/a.yaml\n{}", config("a"));
    let removed = set(DIRECTORIES, "{{path.basename}}", "{{path}}", "");
    let document = compared(&both, &removed, "");
    assert_eq!(document["summary"]["verdict"], "deletes");
    assert_eq!(document["unread"], serde_json::json!([]));
    let elsewhere = removed.replacen(
        "source: {repoURL: 'https://git.example.org/fleet.git'",
        "source: {repoURL: 'https://git.example.org/other.git'",
        1,
    );
    let unread = compared(&both, &elsewhere, "")["unread"].to_string();
    assert!(
        unread.contains("another repository, which is not read"),
        "{unread}"
    );
}

#[test]
fn removed_definition_file_of_a_chart_is_no_template() {
    let both = "== chart/Chart.yaml\nname: web\nversion: 1.0.0\n";
    let crd = "== chart/crds/web.yaml\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: webs.example.org}\nspec: {group: example.org, scope: Namespaced, names: {kind: Web, plural: webs}, versions: [{name: v1, served: true, storage: true}]}\n";
    let unread = compared(both, crd, "")["unread"].to_string();
    assert!(unread.contains("\"file chart/crds/web.yaml\""), "{unread}");
}

#[test]
fn settings_of_unread_source_make_change_unknown() {
    let verdict = |base: &str, head: &str| {
        let file = |text: &str| format!("== argocd/apps/web.yaml\n{text}");
        let document = compared(&root(), &file(base), &file(head));
        document["summary"]["verdict"].as_str().map(str::to_owned)
    };
    let remote = application("web", "web", "").replace("git.example.org", "git.other.org");
    let chart = remote.replace("path: 'web'", "chart: web, targetRevision: 1.0.0");
    let with = |text: &str, more: &str| text.replace("source: {", &format!("source: {{{more}, "));
    let unknown = Some("unknown".to_owned());
    for text in [&remote, &chart] {
        let moved = text.replace("namespace: shop", "namespace: other");
        assert_eq!(verdict(text, &moved), unknown);
    }
    for more in [
        "kustomize: {namePrefix: a-}",
        "directory: {recurse: true}",
        "kustomize: {namespace: a}",
    ] {
        assert_eq!(verdict(&remote, &with(&remote, more)), unknown, "{more}");
    }
    let images = with(&remote, "kustomize: {images: [a:2]}");
    let before = with(&remote, "kustomize: {images: [a:1]}");
    assert_eq!(verdict(&before, &images), Some("nothing".to_owned()));
}

#[test]
fn file_of_plugin_folder_makes_change_unknown() {
    let web = application("web", "web", "").replace("source: {", "source: {plugin: {name: cue}, ");
    let both = format!("{}== argocd/apps/web.yaml\n{web}", root());
    for path in ["web/a.cue", "web/a.yaml"] {
        let [base, head] = ["a", "b"].map(|value| format!("== {path}\na: {value}\n"));
        let document = compared(&both, &base, &head);
        assert_eq!(document["summary"]["verdict"], "unknown", "{path}");
    }
}

/// `git ls-files envs` lists the files below the folder, and a brace in a path is a brace.
#[test]
fn patterns_of_unread_set_match_as_in_evaluated_sets() {
    let by_files = "{git: {repoURL: 'https://git.example.org/fleet.git', files: [{path: envs}]}}";
    let unreadable = "{{.app | snakecase}}";
    let path = format!("x{{y}}/{unreadable}");
    let both = root()
        + &set(by_files, unreadable, &path, "  goTemplate: true\n")
        + "== envs/b.json\napp: other\n";
    for (file, contents, expected) in [
        (
            "envs/prod/a.json",
            ["app: web\n".to_owned(), "app: api\n".to_owned()],
            "files envs",
        ),
        ("x{y}/web/a.yaml", [config("a"), config("b")], "folders x"),
    ] {
        let [base, head] = contents.map(|content| format!("== {file}\n{content}"));
        let document = compared(&both, &base, &head);
        assert_eq!(document["summary"]["verdict"], "unknown", "{file}");
        let unread = document["unread"].to_string();
        assert!(unread.contains(expected), "{unread}");
    }
}

#[test]
fn two_names_of_own_cluster_are_one_destination() {
    let file = |text: &str| format!("== argocd/apps/web.yaml\n{text}");
    let web = application("web", "web", "");
    let named = web.replace(
        "server: 'https://kubernetes.default.svc'",
        "name: in-cluster",
    );
    let both = root() + &folders();
    let document = compared(&both, &file(&web), &file(&named));
    assert_eq!(document["summary"]["verdict"], "nothing");
}

#[test]
fn help_for_removed_set_names_the_edits_that_keep_its_objects() {
    let both = root()
        + &format!(
            "== svc/web/a.yaml\n{}",
            config("a").replace("ConfigMap", "PersistentVolumeClaim")
        );
    let helps = |policy: &str, finalizers: &str| {
        let removed = set(DIRECTORIES, "{{path.basename}}", "{{path}}", policy).replace(
            "{name: '{{path.basename}}'}",
            &format!("{{name: '{{{{path.basename}}}}'{finalizers}}}"),
        );
        let document = compared(&both, &removed, "");
        let findings = document["findings"].as_array().expect("findings").iter();
        let helps = findings.filter_map(|finding| finding["help"].as_str().map(str::to_owned));
        helps.collect::<Vec<String>>()
    };
    let preserving = "  syncPolicy: {preserveResourcesOnDeletion: true}\n";
    let finalizer = ", finalizers: [resources-finalizer.argocd.argoproj.io]";
    let policy = "set `spec.syncPolicy.preserveResourcesOnDeletion: true`";
    let taken = "remove the finalizer `resources-finalizer.argocd.argoproj.io` from its template";
    for (more, finalizers, edits) in [
        ("", "", policy.to_owned()),
        ("", finalizer, format!("{policy} and {taken}")),
        (preserving, finalizer, taken.to_owned()),
        // The policy does not decide for a template that lists another finalizer.
        (
            "",
            ", finalizers: [a.example.org/b, resources-finalizer.argocd.argoproj.io]",
            taken.to_owned(),
        ),
    ] {
        let expected = format!(
            "{edits}, merge that and wait until it is synced; then remove or rename the ApplicationSet or its elements"
        );
        let helps = helps(more, finalizers);
        assert!(helps.contains(&expected), "{helps:#?}");
    }
    let helps = helps(preserving, "");
    assert!(
        helps.iter().all(|help| !help.contains("preserveResources")),
        "{helps:#?}"
    );
}

/// Another set cannot take an Application over, because the old set owns it until it is deleted.
#[test]
fn application_moved_to_another_set_is_certainly_deleted() {
    let of = |name: &str| {
        let folders = DIRECTORIES.replace("svc", name);
        set(&folders, "{{path.basename}}", "{{path}}", "")
            .replace("set.yaml", &format!("{name}.yaml"))
            .replace("name: all", &format!("name: {name}"))
    };
    let both = root() + &of("old") + &of("new");
    let both = both
        + &format!(
            "== old/a/a.yaml\n{}== new/b/b.yaml\n{}",
            config("a"),
            config("b")
        );
    let web = |folder: &str| format!("== {folder}/web/web.yaml\n{}", config("web"));
    let document = compared(&both, &web("old"), &web("new"));
    assert_eq!(
        effects(&document),
        [
            "recreated ConfigMap/shop/web certain, .",
            "recreated Application.argoproj.io/argocd/web certain, ."
        ]
    );
    let findings = document["findings"].as_array().expect("findings");
    let mut findings = findings.iter();
    let finding = findings.find(|one| one["rule"] == "move-deletes");
    let finding = finding.expect("a finding");
    assert_eq!(finding["severity"], "error");
    let help = finding["help"].as_str().expect("help");
    let expected = "to keep the delivered objects, in ApplicationSet `old` set `spec.syncPolicy.preserveResourcesOnDeletion: true`";
    assert!(help.starts_with(expected), "{help}");
    assert!(help.ends_with("; then move it"), "{help}");
}

/// The deletion of a Namespace takes a claim that its own annotation protects from the tool.
#[test]
fn help_for_claim_keeps_its_removed_namespace() {
    let both = delivered();
    let removed = |metadata: &str| -> Value {
        let claim = config("db")
            .replace("ConfigMap", "PersistentVolumeClaim")
            .replace("namespace: shop", metadata);
        let base = format!(
            "== web/ns.yaml\napiVersion: v1\nkind: Namespace\nmetadata: {{name: data}}\n== web/claim.yaml\n{claim}"
        );
        let document = compared(&both, &base, "");
        let findings = document["findings"].as_array().expect("findings");
        let mut findings = findings.iter();
        let finding = findings.find(|one| one["rule"] == "volume-removed");
        finding.expect("a finding").clone()
    };
    let option = "argocd.argoproj.io/sync-options";
    let finding = removed("namespace: data");
    assert_eq!(
        finding["help"],
        format!(
            "if the data is needed, annotate the claim and Namespace `data` with `{option}: Prune=false,Delete=false`, merge that and \
             wait until it is synced, and remove them in a second change; or set the reclaim policy of the volume to Retain first"
        )
    );
    let protected = format!("namespace: data, annotations: {{{option}: Prune=false}}");
    let finding = removed(&protected);
    let help = finding["help"].as_str().expect("help");
    assert!(
        help.starts_with("if the data is needed, annotate Namespace `data` with "),
        "{help}"
    );
    let reason = finding["reason"].as_str().expect("a reason");
    assert!(
        reason.starts_with("Argo CD deletes Namespace `data` and everything in it. "),
        "{reason}"
    );
}

#[test]
fn kept_definition_says_that_argo_cd_deletes_none() {
    let both = delivered();
    let definition = "== web/crd.yaml\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: topics.example.com}\nspec:\n  group: example.com\n  names: {kind: Topic, plural: topics}\n  scope: Namespaced\n  versions: [{name: v1, served: true, storage: true}]\n";
    let text = text_of(&both, definition, "", &[]);
    let line = "CustomResourceDefinition.apiextensions.k8s.io//topics.example.com, which Argo CD never deletes";
    assert!(text.contains(line), "{text}");
}

/// Objects that left an Application while it did not prune are deleted later. Flux forgets them.
#[test]
fn application_that_begins_to_prune_makes_deletions_unknown() {
    let both = root() + &folders();
    let web = format!("== argocd/apps/web.yaml\n{}", application("web", "web", ""));
    let off = web.replace("automated: {prune: true}", "automated: {}");
    let of = |automated: &str| {
        set("{list: {elements: [{name: web}]}}", "web", "web", "")
            .replace("{prune: true}", automated)
    };
    for (base, head, place) in [
        (off.as_str(), web.as_str(), "argocd/apps/web.yaml"),
        (
            &of("{prune: false}"),
            &of("{prune: true}"),
            "argocd/apps/set.yaml",
        ),
    ] {
        let document = compared(&both, base, head);
        assert_eq!(document["summary"]["verdict"], "unknown", "{place}");
        let unread = &document["unread"][0];
        assert_eq!(unread["what"], "unpruned", "{place}");
        let subject = "objects that Application argocd/web did not prune";
        assert_eq!(unread["subject"], subject, "{place}");
        let file = unread["file"].as_str().expect("a file");
        assert!(file.ends_with(place), "{file}");
        let document = compared(&both, head, head);
        assert_eq!(document["summary"]["verdict"], "nothing", "{place}");
    }
    let document = compared(&both, &web, &off);
    assert_eq!(document["summary"]["verdict"], "nothing");
}

#[test]
fn headline_mentions_unread_objects_of_a_deleted_application() {
    let both = root() + &folders();
    let web = application("web", "web", "");
    let elsewhere = web.replace("path: 'web'", "chart: web, targetRevision: 1.0.0");
    let said = |text: &str| text_of(&both, &format!("== argocd/apps/web.yaml\n{text}"), "", &[]);
    let more = "Application `web` (and what it delivers, which was not read)";
    let text = said(&elsewhere);
    assert!(
        text.contains(&format!("Merging this deletes 1 object: {more}")),
        "{text}"
    );
    let bare = elsewhere.replace(", finalizers: [resources-finalizer.argocd.argoproj.io]", "");
    assert!(!said(&bare).contains("which was not read)"));
    assert!(!said(&web).contains("which was not read)"));
}

/// Returns the notes of a comparison.
fn notes(document: &Value) -> Vec<&str> {
    let notes = document["notes"].as_array().expect("a list").iter();
    notes.filter_map(Value::as_str).collect()
}

/// Returns the files of an Application `web` with a policy.
fn with_policy(policy: &str) -> String {
    let web = application("web", "web", "");
    format!(
        "== argocd/apps/web.yaml\n{}",
        web.replace("syncPolicy: {automated: {prune: true}}", policy)
    )
}

#[test]
fn settings_that_come_with_the_removal_are_noted_as_too_late() {
    let both = root() + &folders();
    let b = format!("== web/b.yaml\n{}", config("b"));
    for policy in [
        "syncPolicy: {automated: {prune: false}}",
        "syncPolicy: {automated: {prune: true}, syncOptions: [Prune=false]}",
    ] {
        let base = with_policy("syncPolicy: {automated: {prune: true}}") + &b;
        let document = compared(&both, &base, &with_policy(policy));
        assert_eq!(effects(&document), ["deleted ConfigMap/shop/b race, ."]);
        assert_eq!(
            notes(&document),
            [
                "the Application argocd/web stops pruning with this change, but handles the changed sources first if its own object \
              is not updated by then"
            ]
        );
    }
    let elements = |all: &str, more: &str| {
        let list = format!("{{list: {{elements: [{all}]}}}}");
        set(&list, "app-{{name}}", "{{name}}", more)
    };
    let document = compared(
        &both,
        &elements("{name: web}, {name: api}", ""),
        &elements(
            "{name: web}",
            "  syncPolicy: {preserveResourcesOnDeletion: true}\n",
        ),
    );
    assert_eq!(
        notes(&document),
        [
            "the ApplicationSet argocd/all begins to preserve objects with this change, but takes the finalizer only from \
          Applications that it still generates: those that left delete their objects"
        ]
    );
}

#[test]
fn sync_option_of_an_application_counts_unless_the_object_has_its_own() {
    let both = root() + &folders();
    let own = |option: &str| {
        config("c").replace(
            "namespace: shop",
            &format!("namespace: shop, annotations: {{argocd.argoproj.io/sync-options: {option}}}"),
        )
    };
    let objects = |option: &str| format!("== web/b.yaml\n{}{}", config("d"), own(option));
    let policy = with_policy(
        "syncPolicy: {automated: {prune: true}, syncOptions: [Prune=false, Delete=false]}",
    );
    // Argo CD prunes what the object itself allows.
    let document = compared(&(both.clone() + &policy), &objects("Prune=true"), "");
    assert_eq!(
        effects(&document),
        [
            "deleted ConfigMap/shop/c certain, .",
            "kept ConfigMap/shop/d certain, ."
        ]
    );
    let document = compared(&(both.clone() + &policy), &objects("Delete=true"), "");
    assert_eq!(
        notes(&document),
        [
            "the Application argocd/web has `Prune=false` in its `syncOptions`, which Argo CD before 3.4 ignores: 2 objects that left \
          stay in the cluster"
        ]
    );
    let document = compared(&(both.clone() + &objects("Delete=true")), &policy, "");
    assert_eq!(
        effects(&document),
        [
            "kept ConfigMap/shop/a certain, .",
            "deleted ConfigMap/shop/c certain, .",
            "kept ConfigMap/shop/d certain, .",
            "deleted Application.argoproj.io/argocd/web certain, ."
        ]
    );
    let document = compared(&both, &policy, "");
    assert_eq!(
        notes(&document),
        [
            "the Application argocd/web has `Delete=false` in its `syncOptions`, which Argo CD before 3.4 ignores: 1 object that left \
          stays in the cluster"
        ]
    );
}

/// Argo CD reads no combined generators below two others: the set fails, and changes nothing.
#[test]
fn set_with_generators_on_three_levels_fails() {
    let list = |name: &str| format!("{{list: {{elements: [{{{name}: web}}]}}}}");
    let matrix = |one: &str, other: &str| format!("{{matrix: {{generators: [{one}, {other}]}}}}");
    let two = matrix(&list("a"), &matrix(&list("b"), &list("name")));
    let three = matrix(
        &list("a"),
        &matrix(&list("b"), &matrix(&list("c"), &list("name"))),
    );
    let both = root() + &folders();
    let of = |generators: &str| set(generators, "app-{{name}}", "{{name}}", "");
    let document = compared(&both, &of(&two), &of(&three));
    assert_eq!(
        effects(&document),
        ["kept Application.argoproj.io/argocd/app-web certain, ."]
    );
    assert_eq!(
        document["failed"][0]["reason"],
        "a matrix or merge is nested more deeply than Argo CD allows"
    );
    let document = compared(&both, &of(&three), "");
    assert_eq!(
        effects(&document),
        ["deleted ApplicationSet.argoproj.io/argocd/all certain, ."]
    );
}

/// A parameter, a label or a selector may also be called `git`.
#[test]
fn generator_is_not_taken_for_git_by_a_key() {
    let never = "  syncPolicy: {applicationsSync: create-update}\n";
    let both = root() + &folders();
    let elements = |all: &str, more: &str| {
        let list = format!(
            "{{list: {{elements: [{all}]}}, selector: {{matchExpressions: [{{key: git, operator: Exists}}]}}}}"
        );
        set(&list, "app-{{name}}", "{{name}}", more)
    };
    let [web, api] = ["{name: web, git: a}", "{name: api, git: a}"];
    let base = elements(&format!("{web}, {api}"), "");
    let document = compared(&both, &base, &elements(web, never));
    assert_eq!(
        effects(&document),
        [
            "kept ConfigMap/shop/b certain, .",
            "orphaned Application.argoproj.io/argocd/app-api certain, ."
        ]
    );
    // The git generator of a matrix counts.
    let matrix = |more: &str| {
        let list = "{list: {elements: [{a: b}]}}";
        set(
            &format!("{{matrix: {{generators: [{list}, {DIRECTORIES}]}}}}"),
            "{{path.basename}}",
            "{{path}}",
            more,
        )
    };
    let both = root() + &format!("== svc/web/a.yaml\n{}", config("a"));
    let api = format!("== svc/api/b.yaml\n{}", config("b"));
    let document = compared(&both, &(matrix("") + &api), &matrix(never));
    assert_eq!(
        effects(&document),
        [
            "deleted ConfigMap/shop/b race, .",
            "deleted Application.argoproj.io/argocd/api race, ."
        ]
    );
}

#[test]
fn folders_of_a_template_are_shown_without_escapes() {
    let plugin = set(
        "{plugin: {configMapRef: {name: a}}}",
        "{{name}}",
        "[x]/{{name}}",
        "",
    );
    let both = root() + &plugin + &format!("== [x]/api/b.yaml\n{}", config("b"));
    let document = compared(&both, &format!("== [x]/web/a.yaml\n{}", config("a")), "");
    assert_eq!(document["unread"][0]["subject"], "folders [x]/*");
}

/// `kubectl replace --force` deletes the object at any change.
#[test]
fn object_with_force_and_replace_is_recreated_at_any_change() {
    let claim = |kind: &str, options: &str, size: &str| {
        format!(
            "== web/data.yaml\napiVersion: v1\nkind: {kind}\nmetadata: {{name: data, namespace: shop, annotations: {{argocd.argoproj.io/sync-options: '{options}'}}}}\nspec: {{accessModes: [ReadWriteOnce], resources: {{requests: {{storage: {size}}}}}}}\n"
        )
    };
    let both = delivered();
    let changed = |kind: &str, before: &str, options: &str| {
        let base = claim(kind, before, "1Gi");
        effects(&compared(&both, &base, &claim(kind, options, "2Gi")))
    };
    let claim_kind = "PersistentVolumeClaim";
    let again = [
        "data-lost PersistentVolumeClaim/shop/data possible, .",
        "recreated PersistentVolumeClaim/shop/data certain, .",
    ];
    let forced = "Force=true,Replace=true";
    assert_eq!(changed(claim_kind, forced, forced), again);
    assert_eq!(changed(claim_kind, "", forced), again);
    for options in ["Force=true", "Replace=true", ""] {
        assert_eq!(changed(claim_kind, forced, options), [""; 0]);
    }
    let replaces = application(
        "web",
        "web",
        "  syncPolicy: {automated: {prune: true}, syncOptions: [Replace=true]}\n",
    );
    let replaces = replaces.replacen("  syncPolicy: {automated: {prune: true}}\n", "", 1);
    let both = format!("{}== argocd/apps/web.yaml\n{replaces}", root());
    let [base, head] = ["1Gi", "2Gi"].map(|size| claim(claim_kind, "Force=true", size));
    assert_eq!(effects(&compared(&both, &base, &head)), again);
}

/// Argo CD fails with `ApplicationSet is empty`, or because the template cannot be parsed.
#[test]
fn set_that_fails_to_generate_deletes_nothing() {
    let files = format!("== svc/web/a.yaml\n{}", config("a"));
    let both = root() + &files;
    let base = set(DIRECTORIES, "{{path.basename}}", "{{path}}", "");
    for (head, reason) in [
        (
            set(
                &DIRECTORIES.replace("directories", "directory"),
                "{{path.basename}}",
                "{{path}}",
                "",
            ),
            "neither `directories` nor `files`",
        ),
        (
            set(
                DIRECTORIES,
                "{{ path.basename }}",
                "{{ path }}",
                "  goTemplate: true\n",
            ),
            "`path`, which is not a function (a parameter is written `{{ .path.basename }}`)",
        ),
    ] {
        let document = compared(&both, &base, &head);
        assert_eq!(
            effects(&document),
            ["kept Application.argoproj.io/argocd/web certain, ."],
            "{reason}"
        );
        assert_eq!(document["summary"]["verdict"], "nothing", "{reason}");
        let failed = document["failed"].to_string();
        assert!(failed.contains(reason), "{failed}");
        assert_eq!(document["unread"].as_array().map(Vec::len), Some(0));
    }
}

/// kustomize rejects it (`json: unknown field`); the case of letters does not matter.
#[test]
fn unknown_field_of_kustomization_fails_its_build() {
    let both = delivered() + &format!("== web/b.yaml\n{}", config("b"));
    let lists = |field: &str| format!("== web/kustomization.yaml\n{field}: [a.yaml, b.yaml]\n");
    let base = lists("resources");
    let document = compared(&both, &base, &lists("resouces"));
    assert_eq!(
        effects(&document),
        [
            "kept ConfigMap/shop/a certain, .",
            "kept ConfigMap/shop/b certain, ."
        ]
    );
    let failed = document["failed"].to_string();
    assert!(
        failed.contains("kustomize knows no field `resouces`; did you mean `resources`?"),
        "{failed}"
    );
    assert_eq!(document["unread"].as_array().map(Vec::len), Some(0));
    assert_eq!(effects(&compared(&both, &base, &base)), [""; 0]);
}

#[test]
fn missing_values_file_of_kustomize_chart_fails_its_build() {
    let charts = "== web/kustomization.yaml\nresources: [a.yaml, b.yaml]\nhelmCharts: [{name: web, repo: 'https://charts.example.org', version: 1.0.0, valuesFile: values.yaml}]\n";
    let both = delivered() + charts;
    let base = format!("== web/values.yaml\na: 1\n== web/b.yaml\n{}", config("b"));
    let head = format!("== web/b.yaml\n{}", config("b"));
    let failed = compared(&both, &base, &head)["failed"].to_string();
    assert!(failed.contains("values.yaml does not exist"), "{failed}");
    assert_eq!(
        compared(&both, &base, &base)["failed"],
        Value::Array(Vec::new())
    );
}

#[test]
fn removed_backend_of_route_is_a_finding() {
    let object = |kind: &str, name: &str, spec: &str| {
        format!(
            "apiVersion: {kind}\nmetadata: {{name: {name}, namespace: shop}}\nspec: {spec}\n---\n"
        )
    };
    let service = object("v1\nkind: Service", "web", "{ports: [{port: 80}]}");
    let ingress = object(
        "networking.k8s.io/v1\nkind: Ingress",
        "web",
        "{defaultBackend: {service: {name: web, port: {number: 80}}}}",
    );
    let route = object(
        "gateway.networking.k8s.io/v1\nkind: HTTPRoute",
        "web",
        "{parentRefs: [{name: web}], rules: [{backendRefs: [{name: web, port: 80}]}]}",
    );
    let gateway = object("gateway.networking.k8s.io/v1\nkind: Gateway", "web", "{}");
    for (gone, stays) in [(&service, &ingress), (&service, &route), (&gateway, &route)] {
        let both = delivered() + &format!("== web/route.yaml\n{stays}");
        let document = compared(&both, &format!("== web/gone.yaml\n{gone}"), "");
        let finding = &document["findings"][0];
        assert_eq!(
            (&finding["rule"], &finding["severity"]),
            (&"referred-removed".into(), &"warning".into()),
            "{stays}"
        );
    }
}
