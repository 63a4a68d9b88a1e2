//! Charts that are rendered or skipped, and hosts that are not contacted.

use super::surroundings::{LAST_COMMIT, Surroundings, effects, unread};
use crate::formats::schemas::parsed;

const REPOSITORY: &str = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: acme, namespace: flux-system}\n\
                          spec: {url: 'https://charts.example.org'}\n";

/// A Kustomization of Flux that applies the folder `apps`.
const FLUX: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n\
                    spec: {path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n";

pub(super) fn release(name: &str, version: &str, more: &str) -> String {
    format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: {name}, namespace: shop}}\nspec:\n  chart:\n    \
         spec: {{chart: web, version: {version}, sourceRef: {{kind: HelmRepository, name: acme, namespace: flux-system}}}}\n{more}"
    )
}

fn object(kind: &str, name: &str) -> String {
    let api = if kind == "Deployment" {
        "apps/v1"
    } else {
        "v1"
    };
    format!(
        "---\n# Source: web/templates/{name}.yaml\napiVersion: {api}\nkind: {kind}\nmetadata: {{name: {name}}}\n"
    )
}

/// Creates a Flux repository with a HelmRelease of the chart `web`, of which two versions are served.
pub(super) fn flux() -> Surroundings {
    let tree = Surroundings::with_fake_helm();
    let both = object("ConfigMap", "RELEASE-config") + &object("Service", "RELEASE");
    tree.serve("web", "1.0.0", &both)
        .serve("web", "2.0.0", &object("ConfigMap", "RELEASE-config"));
    tree.write(&[
        ("clusters/prod/apps.yaml", FLUX),
        ("apps/repository.yaml", REPOSITORY),
        ("apps/web.yaml", &release("web", "1.0.0", "")),
    ]);
    tree.folder.commit();
    tree
}

pub(super) fn bump(tree: &Surroundings) {
    tree.write(&[("apps/web.yaml", &release("web", "2.0.0", ""))]);
    tree.folder.commit();
}

#[test]
fn charts_are_not_rendered_without_render_option() {
    let tree = flux();
    bump(&tree);
    let document = tree.diff(&[]);
    assert_eq!(tree.calls(), [""; 0]);
    assert_eq!(effects(&document), [""; 0]);
    assert_eq!(
        unread(&document),
        ["chart web 1.0.0 → 2.0.0: the chart is not rendered"]
    );
    assert_eq!(document["summary"]["verdict"], "unknown");
}

#[test]
fn new_chart_version_deletes_objects_it_lacks() {
    let tree = flux();
    bump(&tree);
    let document = tree.diff(&["--render"]);
    assert_eq!(effects(&document), ["deleted Service/shop/web"]);
    assert_eq!(unread(&document), [""; 0]);
    assert_eq!(
        document["effects"][0]["delivery"]["key"],
        "HelmRelease.helm.toolkit.fluxcd.io/shop/web"
    );
    assert_eq!(document["effects"][0]["delivery"]["tool"], "flux");
}

#[test]
fn comment_names_objects_deleted_by_new_chart_version() {
    let tree = flux();
    bump(&tree);
    let mut command = tree.ownerlint();
    command.args(["diff", "--base-ref", "HEAD~", "--render", "-o", "markdown"]);
    let output = command.output().expect("it runs");
    let comment = String::from_utf8(output.stdout).expect("text");
    let first = comment.lines().next();
    assert_eq!(
        first,
        Some("## Merging this deletes 1 object: Service <code>web</code>")
    );
    let row = "| <code>Service/shop/web</code> | by HelmRelease shop/web (chart web 1.0.0 → 2.0.0) in cluster apps |";
    assert!(comment.lines().any(|line| line == row), "{comment}");
}

#[test]
fn only_changed_charts_are_rendered_and_results_are_cached() {
    let tree = flux();
    for number in 0..60 {
        let name = format!("other-{number}");
        let path = format!("apps/{name}.yaml");
        tree.write(&[(&path, &release(&name, "1.0.0", ""))]);
    }
    tree.folder.commit();
    bump(&tree);
    let first = tree.diff(&["--render"]);
    let mut calls = tree.calls();
    calls.sort();
    assert_eq!(
        calls,
        ["pull web", "pull web", "template web", "template web"]
    );
    let second = tree.diff(&["--render"]);
    assert_eq!(tree.calls().len(), 4, "the second run starts nothing");
    assert_eq!(first, second);
}

#[test]
fn removed_helm_release_is_uninstalled() {
    let tree = flux();
    tree.folder.remove("apps/web.yaml").commit();
    let document = tree.diff(&["--render"]);
    assert_eq!(
        effects(&document),
        [
            "deleted ConfigMap/shop/web-config",
            "deleted HelmRelease.helm.toolkit.fluxcd.io/shop/web",
            "deleted Service/shop/web"
        ]
    );
}

#[test]
fn changed_release_name_reinstalls_the_release() {
    let tree = flux();
    let chart = object("ConfigMap", "fixed") + &object("Service", "RELEASE");
    tree.serve("web", "1.0.0", &chart);
    tree.write(&[(
        "apps/web.yaml",
        &release("web", "1.0.0", "  releaseName: shop\n"),
    )]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    assert_eq!(
        effects(&document),
        ["deleted Service/shop/web", "recreated ConfigMap/shop/fixed"]
    );
    assert_eq!(
        of_rule(&document, "delivery-removed"),
        [
            "warning: HelmRelease `web` installs another release: Flux uninstalls release `shop/web`, which deletes ConfigMap \
             `fixed` and Service `web`"
        ]
    );
}

/// Returns the severities and messages of the findings of a rule.
fn of_rule(document: &serde_json::Value, rule: &str) -> Vec<String> {
    let findings = document["findings"].as_array().expect("findings").iter();
    let findings = findings.filter(|finding| finding["rule"] == rule);
    let said = findings.map(|finding| {
        let [severity, message] =
            ["severity", "message"].map(|field| finding[field].as_str().unwrap_or_default());
        format!("{severity}: {message}")
    });
    said.collect()
}

const GADGETS: &str = "---\n# Source: web/templates/crd.yaml\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
                       metadata: {name: gadgets.example.com}\nspec:\n  group: example.com\n  scope: Namespaced\n  names: {plural: gadgets, \
                       kind: Gadget}\n  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n";

#[test]
fn replaced_release_deletes_its_definitions_with_all_their_objects() {
    for (before, after) in [
        ("  timeout: 1m\n", "  releaseName: shop\n"),
        ("  targetNamespace: shop\n", "  targetNamespace: store\n"),
    ] {
        let tree = flux();
        tree.serve("web", "1.0.0", GADGETS);
        tree.write(&[("apps/web.yaml", &release("web", "1.0.0", before))]);
        tree.folder.commit();
        tree.write(&[("apps/web.yaml", &release("web", "1.0.0", after))]);
        tree.folder.commit();
        let document = tree.diff(&["--render"]);
        assert_eq!(
            effects(&document),
            ["recreated CustomResourceDefinition.apiextensions.k8s.io//gadgets.example.com"]
        );
        let found = of_rule(&document, "delivery-removed");
        let [found] = found.as_slice() else {
            panic!("{found:?}")
        };
        let end = "which deletes CustomResourceDefinition `gadgets.example.com`, and every object that a deleted \
                   CustomResourceDefinition defines";
        assert!(found.starts_with("error: "), "{found}");
        assert!(found.ends_with(end), "{found}");
    }
}

#[test]
fn charts_in_a_removed_namespace_are_rendered() {
    let tree = flux();
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
    tree.write(&[("apps/namespace.yaml", namespace)]);
    tree.folder.commit();
    tree.folder.remove("apps/namespace.yaml").commit();
    let document = tree.diff(&["--render"]);
    let effects = effects(&document);
    for lost in [
        "cascaded ConfigMap/shop/web-config",
        "deleted Namespace//shop",
    ] {
        assert!(effects.contains(&lost.to_owned()), "{effects:?}");
    }
}

#[test]
fn suspended_helm_release_deletes_nothing() {
    let tree = flux();
    tree.write(&[(
        "apps/web.yaml",
        &release("web", "2.0.0", "  suspend: true\n"),
    )]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    assert_eq!(effects(&document), ["orphaned Service/shop/web"]);
}

#[test]
fn helm_keeps_annotated_objects_and_crds_folder() {
    let tree = flux();
    let kept = object("Service", "RELEASE").replace(
        "{name: RELEASE}",
        "{name: RELEASE, annotations: {helm.sh/resource-policy: keep}}",
    );
    let in_crds = "---\n# Source: web/crds/things.yaml\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
                   metadata: {name: things.example.org}\nspec: {group: example.org, scope: Cluster, names: {kind: Thing, plural: things}}\n";
    tree.serve(
        "web",
        "1.0.0",
        &(kept + in_crds + &object("ConfigMap", "RELEASE-config")),
    );
    bump(&tree);
    let document = tree.diff(&["--render"]);
    assert_eq!(effects(&document), [""; 0]);
}

#[test]
fn definitions_that_move_to_the_folder_crds_leave_the_release() {
    let tree = flux();
    let definition = |folder: &str, kind: &str| {
        let plural = format!("{}s", kind.to_lowercase());
        format!(
            "---\n# Source: web/{folder}/{plural}.yaml\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
             metadata: {{name: {plural}.example.org}}\n\
             spec: {{group: example.org, scope: Cluster, names: {{kind: {kind}, plural: {plural}}}}}\n"
        )
    };
    let chart = |folder: &str| {
        object("ConfigMap", "RELEASE-config")
            + &definition(folder, "Part")
            + &definition(folder, "Thing")
    };
    tree.serve("web", "1.0.0", &chart("templates"))
        .serve("web", "2.0.0", &chart("crds"));
    bump(&tree);
    let document = tree.diff(&["--render"]);
    let findings = document["findings"].as_array().expect("a list").iter();
    let said = findings.map(|finding| {
        // The definition in head is the same object, so only the new version is a related place.
        let related = finding["related"].as_array().expect("a list");
        assert_eq!(related.len(), 1);
        assert_eq!(related[0]["location"]["file"], "apps/web.yaml");
        format!("{} {}", finding["severity"], finding["message"]).replace('"', "")
    });
    // Head still applies both definitions, so each is an error.
    assert_eq!(
        said.collect::<Vec<_>>(),
        ["parts", "things"].map(|plural| {
            format!(
                "error moving CustomResourceDefinition `{plural}.example.org` elsewhere deletes every object of its kind"
            )
        })
    );
}

#[test]
fn random_names_in_renderings_are_not_deletions() {
    let tree = flux();
    tree.serve_file("web-1.0.0/templates/a.yaml", "name: {{ randAlphaNum 5 }}");
    tree.serve_file("web-2.0.0/templates/a.yaml", "name: {{ randAlphaNum 5 }}");
    let random = object("Secret", "RELEASE-RANDOM");
    tree.serve(
        "web",
        "1.0.0",
        &(random.clone() + &object("Service", "RELEASE")),
    );
    tree.serve("web", "2.0.0", &random);
    bump(&tree);
    let document = tree.diff(&["--render"]);
    assert_eq!(effects(&document), ["deleted Service/shop/web"]);
    let templates = tree
        .calls()
        .into_iter()
        .filter(|call| call == "template web");
    assert_eq!(templates.count(), 4, "each version twice");
}

#[test]
fn failed_chart_is_unread_and_others_are_compared() {
    let tree = flux();
    tree.write(&[("apps/other.yaml", &release("other", "1.0.0", ""))]);
    tree.folder.commit();
    tree.serve_file(
        "web-2.0.0/fails",
        "Error: execution error at (web/templates/a.yaml:3:4): image is required\n",
    );
    tree.write(&[("apps/web.yaml", &release("web", "2.0.0", ""))]);
    tree.folder.remove("apps/other.yaml").commit();
    let document = tree.diff(&["--render"]);
    assert_eq!(
        effects(&document),
        [
            "deleted ConfigMap/shop/other-config",
            "deleted HelmRelease.helm.toolkit.fluxcd.io/shop/other",
            "deleted Service/shop/other"
        ]
    );
    assert_eq!(
        unread(&document),
        [
            "chart web 1.0.0 → 2.0.0: helm: execution error at (web/templates/a.yaml:3:4): image is required"
        ]
    );
}

#[test]
fn new_host_is_contacted_only_with_render_from() {
    let tree = flux();
    let moved = REPOSITORY.replace("charts.example.org", "evil.example.net");
    tree.write(&[("apps/repository.yaml", &moved)]);
    bump(&tree);
    let document = tree.diff(&["--render"]);
    assert_eq!(tree.calls(), ["pull web", "template web"], "base alone");
    assert_eq!(effects(&document), [""; 0]);
    assert!(
        unread(&document).contains(
            &"chart web 1.0.0 → 2.0.0: only the change names the host evil.example.net; `--render-from evil.example.net` lets it be contacted"
                .to_owned()
        ),
        "{:?}",
        unread(&document)
    );
    let document = tree.diff(&["--render", "--render-from", "evil.example.net"]);
    assert_eq!(effects(&document), ["deleted Service/shop/web"]);
}

#[test]
fn offline_uses_only_cached_charts() {
    let tree = flux();
    bump(&tree);
    let document = tree.diff(&["--render", "--offline"]);
    assert_eq!(tree.calls(), [""; 0]);
    assert_eq!(
        unread(&document),
        ["chart web 1.0.0 → 2.0.0: it was not pulled before, and `--offline` allows no download"]
    );
    tree.diff(&["--render"]);
    let calls = tree.calls().len();
    let document = tree.diff(&["--render", "--offline"]);
    assert_eq!(effects(&document), ["deleted Service/shop/web"]);
    assert_eq!(tree.calls().len(), calls);
}

#[test]
fn release_and_chart_names_like_options_or_paths_are_rejected() {
    let bad = [
        (
            "  releaseName: --post-renderer=/bin/sh\n",
            "`--post-renderer=/bin/sh` is not a valid release name",
        ),
        ("", "`--repo-file=x` is not a valid chart name"),
        ("", "`../../etc` is not a valid chart name"),
    ];
    let charts = ["web", "--repo-file=x", "../../etc"];
    for ((more, reason), chart) in bad.into_iter().zip(charts) {
        let tree = flux();
        let text =
            release("web", "2.0.0", more).replace("chart: web,", &format!("chart: '{chart}',"));
        tree.write(&[("apps/web.yaml", &text)]);
        tree.folder.commit();
        let document = tree.diff(&["--render"]);
        let said = unread(&document);
        assert!(said.iter().any(|one| one.ends_with(reason)), "{said:?}");
        let calls = tree.calls();
        assert!(
            calls
                .iter()
                .all(|call| call == "pull web" || call == "template web"),
            "{calls:?}"
        );
    }
}

#[test]
fn values_files_outside_the_chart_are_not_read() {
    let tree = flux();
    let text = release("web", "1.0.0", "").replace(
        "version: 1.0.0,",
        "version: 1.0.0, valuesFiles: [../../../../../etc/passwd],",
    );
    tree.write(&[("apps/web.yaml", &text)]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    let said = unread(&document);
    assert!(
        said.iter()
            .any(|one| one.contains("the chart has no file")
                || one.contains("is outside of the chart")),
        "{said:?}"
    );
    assert_eq!(tree.values(), "");
}

#[test]
fn values_from_precede_inline_values_of_helm_release() {
    let tree = flux();
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata:\n  values.yaml: |\n    from: map\n  level: '3'\n";
    let more = "  valuesFrom:\n  - {kind: ConfigMap, name: settings}\n  - {kind: ConfigMap, name: settings, valuesKey: level, \
                targetPath: log.level}\n  values: {from: release}\n";
    tree.write(&[
        ("apps/settings.yaml", map),
        ("apps/web.yaml", &release("web", "1.0.0", more)),
    ]);
    tree.folder.commit();
    tree.folder.remove("apps/web.yaml").commit();
    tree.diff(&["--render"]);
    assert_eq!(
        tree.values(),
        "from: map\n{\"log\":{\"level\":3}}{\"from\":\"release\"}"
    );
}

#[test]
fn values_from_secret_make_deletions_possible_not_certain() {
    let tree = flux();
    let more = "  valuesFrom: [{kind: Secret, name: settings}]\n";
    tree.write(&[("apps/web.yaml", &release("web", "1.0.0", more))]);
    tree.folder.commit();
    tree.write(&[("apps/web.yaml", &release("web", "2.0.0", more))]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    assert_eq!(effects(&document), ["possible deleted Service/shop/web"]);
}

#[test]
fn post_renderers_are_applied() {
    let tree = flux();
    let more = "  postRenderers:\n  - kustomize:\n      patches:\n      - target: {kind: Service}\n        patch: |\n          \
                - {op: replace, path: /metadata/name, value: patched}\n";
    tree.write(&[("apps/web.yaml", &release("web", "1.0.0", more))]);
    tree.folder.commit();
    tree.write(&[("apps/web.yaml", &release("web", "2.0.0", more))]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    assert_eq!(effects(&document), ["deleted Service/shop/patched"]);
}

#[test]
fn changed_local_dependency_rerenders_the_chart() {
    let tree = Surroundings::with_fake_helm();
    let text = release("web", "1.0.0", "").replace(
        "chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: acme, namespace: flux-system}",
        "chart: ./charts/web, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}",
    );
    let about = "apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies: [{name: common, version: 1.0.0, repository: 'file://../common'}]\n";
    tree.write(&[
        ("clusters/prod/apps.yaml", FLUX),
        ("apps/web.yaml", &text),
        ("charts/web/Chart.yaml", about),
        ("charts/web/objects.txt", &object("Service", "RELEASE")),
        (
            "charts/common/Chart.yaml",
            "apiVersion: v2\nname: common\nversion: 1.0.0\n",
        ),
        ("charts/common/templates/_helpers.tpl", "one"),
    ]);
    tree.folder.commit();
    tree.write(&[("charts/web/objects.txt", "")]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    assert_eq!(effects(&document), ["deleted Service/shop/web"]);
    tree.write(&[("charts/common/templates/_helpers.tpl", "two")]);
    tree.folder.commit();
    let before = tree.calls().len();
    tree.diff(&["--render"]);
    assert_eq!(
        tree.calls().len(),
        before + 1,
        "what it depends on is a part of it"
    );
}

#[test]
fn application_deletes_objects_that_new_chart_version_lacks() {
    let tree = Surroundings::with_fake_helm();
    let root = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: root, namespace: argocd}\nspec:\n  source: {repoURL: \
                'https://git.example.org/fleet.git', path: apps}\n  destination: {server: 'https://kubernetes.default.svc', namespace: argocd}\n  \
                syncPolicy: {automated: {prune: true}}\n";
    let child = |version: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web, namespace: argocd}}\nspec:\n  source: {{repoURL: \
             'https://charts.example.org', chart: web, targetRevision: {version}, helm: {{releaseName: shop, valuesObject: {{a: 1}}, \
             parameters: [{{name: b, value: '2,3'}}]}}}}\n  destination: {{server: 'https://kubernetes.default.svc', namespace: \
             shop}}\n  syncPolicy: {{automated: {{prune: true}}}}\n"
        )
    };
    tree.serve(
        "web",
        "1.0.0",
        &(object("ConfigMap", "RELEASE") + &object("Service", "RELEASE")),
    );
    tree.serve("web", "2.0.0", &object("ConfigMap", "RELEASE"));
    tree.write(&[("root.yaml", root), ("apps/web.yaml", &child("1.0.0"))]);
    tree.folder.commit();
    tree.write(&[("apps/web.yaml", &child("2.0.0"))]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    assert_eq!(effects(&document), ["deleted Service/shop/shop"]);
    assert_eq!(tree.values(), "{\"a\":1}{\"a\":1}");
    assert_eq!(unread(&document), [""; 0]);
}

#[test]
fn variables_in_parameters_of_application_are_replaced() {
    let tree = Surroundings::with_fake_helm();
    let application = |version: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web, namespace: argocd}}\nspec:\n  project: team\n  \
             source: {{repoURL: 'https://charts.example.org', chart: web, targetRevision: {version}, helm: {{parameters: [{{name: a, value: \
             '$ARGOCD_APP_PROJECT_NAME-$NONE-${{ARGOCD_APP_SOURCE_TARGET_REVISION}}-$ARGOCD_APP_REVISION'}}]}}}}\n  destination: \
             {{server: 'https://kubernetes.default.svc', namespace: shop}}\n  syncPolicy: {{automated: {{prune: true}}}}\n"
        )
    };
    let named = object("ConfigMap", "web-$ARGOCD_APP_REVISION");
    tree.serve("web", "1.0.0", &object("ConfigMap", "RELEASE"));
    tree.serve("web", "2.0.0", &named);
    tree.write(&[("web.yaml", &application("1.0.0"))]);
    tree.folder.commit();
    tree.write(&[("web.yaml", &application("2.0.0"))]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    let log = tree.log();
    for version in ["1.0.0", "2.0.0"] {
        let option = format!(" --set=a=team--{version}-$ARGOCD_APP_REVISION ");
        assert!(log.contains(&option), "{log}");
    }
    let unread = unread(&document);
    assert!(
        unread
            .iter()
            .any(|one| one.contains("only Argo CD knows the revision in the name")),
        "{unread:?}"
    );
}

#[test]
fn oci_repository_of_another_namespace_is_no_artifact() {
    let tree = flux();
    let chart = |tag: &str| {
        format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {{name: web, namespace: shop}}\n\
             spec: {{url: 'oci://charts.example.org/web', ref: {{tag: {tag}}}}}\n"
        )
    };
    let artifact = FLUX.replace("name: apps,", "name: other,").replace(
        "kind: GitRepository, name: flux-system",
        "kind: OCIRepository, name: web",
    );
    let named = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\n\
                 spec: {chartRef: {kind: OCIRepository, name: web}}\n";
    tree.write(&[
        ("apps/web.yaml", named),
        ("apps/chart.yaml", &chart("1.0.0")),
        ("apps/other.yaml", &artifact),
    ]);
    tree.folder.commit();
    tree.write(&[("apps/chart.yaml", &chart("2.0.0"))]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    assert_eq!(effects(&document), ["deleted Service/shop/web"]);
    assert_eq!(unread(&document), [""; 0]);
    // If the Kustomization uses the OCIRepository, it is an artifact, which is not read.
    let here = artifact.replace("name: web}", "name: web, namespace: shop}");
    tree.write(&[
        ("apps/other.yaml", &here),
        ("apps/chart.yaml", &chart("1.0.0")),
    ]);
    tree.folder.commit();
    assert_eq!(unread(&tree.diff(&["--render"])).len(), 1);
}

#[test]
fn kustomize_helm_charts_are_rendered_and_prefixed() {
    let tree = flux();
    let kustomization = |version: &str| {
        format!(
            "namespace: shop\nnamePrefix: prod-\nhelmCharts:\n- {{name: web, repo: 'https://charts.example.org', version: {version}, \
             releaseName: web}}\n"
        )
    };
    let flux = FLUX.replace("apps", "more");
    tree.write(&[
        ("clusters/prod/more.yaml", &flux),
        ("more/kustomization.yaml", &kustomization("1.0.0")),
    ]);
    tree.folder.commit();
    tree.write(&[("more/kustomization.yaml", &kustomization("2.0.0"))]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    assert_eq!(effects(&document), ["deleted Service/shop/prod-web"]);
    assert_eq!(unread(&document), [""; 0]);
}

/// The chart keeps its version: only the kustomization moves its objects.
#[test]
fn chart_of_changed_namespace_is_rendered_in_both_states() {
    let tree = flux();
    let kustomization = |namespace: &str| {
        format!(
            "namespace: {namespace}\nhelmCharts:\n- {{name: web, repo: 'https://charts.example.org', version: 1.0.0, releaseName: \
             web}}\n"
        )
    };
    let flux = FLUX.replace("apps", "more");
    tree.write(&[
        ("clusters/prod/more.yaml", &flux),
        ("more/kustomization.yaml", &kustomization("shop")),
    ]);
    tree.folder.commit();
    tree.write(&[("more/kustomization.yaml", &kustomization("default"))]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    assert_eq!(
        effects(&document),
        [
            "deleted ConfigMap/shop/web-config",
            "deleted Service/shop/web"
        ]
    );
    assert_eq!(unread(&document), [""; 0]);
    // The chart of this version does not exist, so it stays unread.
    tree.write(&[(
        "more/kustomization.yaml",
        &kustomization("again").replace("1.0.0", "3.0.0"),
    )]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    assert_eq!(effects(&document), [""; 0]);
    assert_eq!(unread(&document).len(), 1, "{:?}", unread(&document));
}

#[test]
fn values_of_a_kept_application_are_read() {
    let tree = Surroundings::with_fake_helm();
    let application = |name: &str, path: &str, more: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: {name}, namespace: argocd{more}}}\nspec:\n  \
             source: {{repoURL: 'https://git.example.org/fleet.git', path: {path}}}\n  destination: {{server: \
             'https://kubernetes.default.svc', namespace: shop}}\n  syncPolicy: {{automated: {{prune: true}}}}\n"
        )
    };
    let kept = ", annotations: {argocd.argoproj.io/sync-options: Prune=false}";
    tree.write(&[
        ("root.yaml", &application("root", "apps", "")),
        ("apps/web.yaml", &application("web", "charts/web", kept)),
        ("apps/beside.yaml", &object("ConfigMap", "beside")),
        (
            "charts/web/Chart.yaml",
            "apiVersion: v2\nname: web\nversion: 1.0.0\n",
        ),
        ("charts/web/values.yaml", "a: 1\n"),
        ("charts/web/templates/a.yaml", "{{ .Values.a }}"),
        ("charts/web/objects.txt", &object("ConfigMap", "RELEASE")),
    ]);
    tree.folder.commit();
    tree.write(&[("charts/web/values.yaml", "a: 2\n")]);
    tree.folder.git(&["rm", "-q", "apps/web.yaml"]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    assert_eq!(effects(&document), [""; 0]);
    assert_eq!(unread(&document), [""; 0]);
    assert_eq!(document["summary"]["verdict"], "nothing");
}

#[test]
fn unreferenced_chart_is_treated_as_helm_release() {
    let tree = Surroundings::with_fake_helm();
    let objects = object("ConfigMap", "RELEASE") + &object("Service", "RELEASE");
    tree.write(&[
        (
            "charts/web/Chart.yaml",
            "apiVersion: v2\nname: web\nversion: 1.0.0\n",
        ),
        ("charts/web/objects.txt", &objects),
        ("charts/web/templates/a.yaml", "{{ .Values.a }}"),
        (
            "charts/common/Chart.yaml",
            "apiVersion: v2\nname: common\ntype: library\n",
        ),
    ]);
    tree.folder.commit();
    tree.write(&[
        ("charts/web/objects.txt", &object("ConfigMap", "RELEASE")),
        ("charts/web/templates/a.yaml", ""),
    ]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    assert_eq!(effects(&document), ["deleted Service/?/web"]);
    assert_eq!(document["effects"][0]["regime"], "helm");
    assert_eq!(unread(&document), [""; 0]);
}

#[test]
fn list_deliveries_includes_rendered_objects() {
    let tree = flux();
    let mut command = tree.ownerlint();
    let output = command
        .args(["list", "--deliveries", "--render", "-o", "json", "."])
        .output();
    let document = parsed(&String::from_utf8(output.expect("it runs").stdout).expect("text"));
    let deliveries = document["deliveries"].as_array().expect("a list");
    let release = deliveries
        .iter()
        .find(|one| one["key"] == "HelmRelease.helm.toolkit.fluxcd.io/shop/web");
    let release = release.expect("the HelmRelease");
    let instances = release["instances"].as_array().expect("a list").iter();
    let keys: Vec<&str> = instances
        .map(|one| one["key"].as_str().expect("a key"))
        .collect();
    assert_eq!(keys, ["ConfigMap/shop/web-config", "Service/shop/web"]);
    assert_eq!(release["instances"][0]["file"], "apps/web.yaml");
    assert_eq!(release["unread"], serde_json::json!([]));
}

#[test]
fn check_reports_findings_in_rendered_charts() {
    let tree = flux();
    let claimed = object("ConfigMap", "RELEASE-config").replace(
        "{name: RELEASE-config}",
        "{name: RELEASE-config, finalizers: [nobody.example.org/knows]}",
    );
    tree.serve("web", "1.0.0", &claimed);
    let found = |more: &[&str]| {
        let mut command = tree.ownerlint();
        let output = command
            .args(["check", "-o", "concise", "--show", "info"])
            .args(more)
            .output();
        String::from_utf8(output.expect("it runs").stdout).expect("text")
    };
    assert!(!found(&["apps"]).contains("nobody.example.org/knows"));
    let said = found(&["--render", "apps"]);
    assert!(said.contains("apps/web (rendered).yaml:"), "{said}");
    assert!(said.contains("nobody.example.org/knows"), "{said}");
}

#[test]
fn plan_finds_target_in_rendered_chart() {
    let tree = flux();
    tree.serve("web", "1.0.0", &object("Deployment", "RELEASE"));
    let mut command = tree.ownerlint();
    let target = ["plan", "delete", "deployment/web", "-n", "shop"];
    let output = command
        .args(target)
        .args(["--render", "-f", "apps", "-o", "json"])
        .output();
    let document = parsed(&String::from_utf8(output.expect("it runs").stdout).expect("text"));
    assert_eq!(document["steps"][0]["http"], 200);
}

#[test]
fn chart_without_a_delivery_is_rendered_for_the_given_namespace() {
    let tree = Surroundings::with_fake_helm();
    let objects = object("Service", "web").replace("name: web", "name: web, namespace: NAMESPACE");
    tree.write(&[
        (
            "charts/web/Chart.yaml",
            "apiVersion: v2\nname: web\nversion: 1.0.0\n",
        ),
        ("charts/web/objects.txt", &objects),
    ]);
    let arguments = ["list", "--render", "-n", "shop", "charts/web"];
    let listed = said(&tree, &arguments);
    assert!(listed.contains("Service/shop/web"), "{listed}");
}

/// Returns the standard output of the program.
fn said(tree: &Surroundings, arguments: &[&str]) -> String {
    let output = tree.ownerlint().args(arguments).output();
    String::from_utf8(output.expect("it runs").stdout).expect("text")
}

#[test]
fn plan_of_helm_release_deletion_includes_uninstalled_objects() {
    let tree = flux();
    let plan = |more: &[&str]| {
        let target = [
            "plan",
            "delete",
            "helmrelease/web",
            "-n",
            "shop",
            "-o",
            "json",
        ];
        parsed(&said(&tree, &[&target, more].concat()))
    };
    let rendered = plan(&["--render"]);
    let deleted = rendered["steps"][1]["requests"].as_array().expect("a list");
    let keys: Vec<&str> = deleted
        .iter()
        .map(|request| request["target"].as_str().expect("a key"))
        .collect();
    assert_eq!(keys, ["Service/shop/web", "ConfigMap/shop/web-config"]);
    let unrendered = plan(&[]);
    assert_eq!(unrendered["steps"].as_array().map(Vec::len), Some(1));
    let first = unrendered["notes"][0].as_str().expect("a note");
    assert!(
        first.starts_with(
            "Not part of this plan: once HelmRelease.helm.toolkit.fluxcd.io/shop/web is deleted, \
             Flux deletes the objects of its release"
        ),
        "{first}"
    );
}

#[test]
fn helm_release_with_drift_detection_creates_deleted_objects_again() {
    let tree = flux();
    let notes = |mode: &str| {
        let more = format!("  driftDetection: {{mode: {mode}}}\n");
        tree.write(&[("apps/web.yaml", &release("web", "1.0.0", &more))]);
        let arguments = [
            "plan",
            "delete",
            "service/web",
            "-n",
            "shop",
            "--render",
            "-o",
            "json",
        ];
        parsed(&said(&tree, &arguments))["notes"].to_string()
    };
    let note = "Flux creates again what HelmRelease.helm.toolkit.fluxcd.io/shop/web delivers: Service/shop/web.";
    assert!(notes("enabled").contains(note), "{}", notes("enabled"));
    assert!(!notes("warn").contains("creates again"));
}

#[test]
fn only_changed_from_hides_old_findings_in_rendered_charts() {
    let tree = flux();
    let held = |name: &str| {
        object("ConfigMap", name).replace(
            &format!("{{name: {name}}}"),
            &format!("{{name: {name}, finalizers: [nobody.example.org/knows]}}"),
        )
    };
    tree.serve("web", "1.0.0", &held("RELEASE-old"));
    tree.serve(
        "web",
        "2.0.0",
        &(held("RELEASE-old") + &held("RELEASE-new")),
    );
    tree.write(&[("README.md", "changed")]);
    let arguments = |since| {
        [
            "check",
            "--render",
            "-o",
            "concise",
            "--show",
            "info",
            "--only-changed-from",
            since,
        ]
    };
    let finding = "nobody.example.org/knows";
    assert!(!said(&tree, &arguments("HEAD")).contains(finding));
    bump(&tree);
    let found = said(&tree, &arguments("HEAD~1"));
    let found: Vec<&str> = found
        .lines()
        .filter(|line| line.contains(finding))
        .collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("web-new"), "{found:?}");
}

#[test]
fn named_chart_is_rendered_even_if_a_kustomization_uses_it() {
    let tree = flux();
    let held = object("ConfigMap", "RELEASE").replace(
        "{name: RELEASE}",
        "{name: RELEASE, finalizers: [nobody.example.org/knows]}",
    );
    tree.write(&[
        (
            "charts/web/Chart.yaml",
            "apiVersion: v2\nname: web\nversion: 1.0.0\n",
        ),
        ("charts/web/objects.txt", &held),
        ("charts/web/templates/a.yaml", "{{ .Values.a }}"),
        ("charts/web/conf/app.yaml", "{{ .Values.b }}"),
        (
            "site/kustomization.yaml",
            "helmGlobals: {chartHome: ../charts}\nhelmCharts: [{name: web}]\n",
        ),
    ]);
    let output = tree
        .ownerlint()
        .args(["check", "--render", "-o", "concise", "--show", "info"])
        .arg("charts/web")
        .output()
        .expect("it runs");
    let [found, notes] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("text"));
    assert!(found.contains("nobody.example.org/knows"), "{found}");
    assert!(!notes.contains("unrendered"), "{notes}");
}

#[test]
fn chart_that_helm_rejects_fails_check() {
    let tree = flux();
    let outcome = |more: &[&str]| {
        let mut command = tree.ownerlint();
        let output = command.args(["check", "--render", "."]).args(more);
        let output = output.output().expect("it runs");
        let said = String::from_utf8(output.stderr).expect("text");
        (output.status.code(), said)
    };
    tree.serve_file(
        "web-1.0.0/fails",
        "Error: image is required\n\nUse --debug flag to render out invalid YAML\n",
    );
    let (status, said) = outcome(&[]);
    let warning = "warning: apps/web.yaml: helm rejects chart web 1.0.0, and nothing in it is checked: image is required\n";
    assert!(said.contains(warning), "{said}");
    let error = "error: helm rejects 1 chart: nothing in it was checked\n  help: correct the chart or its values";
    assert!(said.contains(error), "{said}");
    assert_eq!(status, Some(1));
    for harmless in [
        &["--exit-zero"][..],
        &["--fail-on", "never"],
        &["--exclude", "apps/web.yaml"],
        &["--only-changed-from", "HEAD"],
    ] {
        let (status, said) = outcome(harmless);
        assert_eq!(status, Some(0), "{harmless:?}: {said}");
    }
    tree.write(&[("apps/web.yaml", &release("web", "9.0.0", ""))]);
    let (status, said) = outcome(&[]);
    let warning = "chart web 9.0.0 is not rendered: helm pull: no chart web 9.0.0";
    assert!(said.contains(warning), "{said}");
    assert_eq!(status, Some(0), "it cannot be fetched");
}

#[test]
fn missing_helm_fails_only_a_run_with_charts_to_render() {
    let tree = flux();
    let path = std::env::var_os("PATH").expect("a path");
    let mut places = std::env::split_paths(&path).map(|folder| folder.join("git"));
    let git = places.find(|git| git.is_file()).expect("git");
    std::os::unix::fs::symlink(git, tree.home().join("git")).expect("a link");
    let outcome = |arguments: &[&str]| {
        let mut command = tree.ownerlint();
        command.env("PATH", tree.home()).args(arguments);
        let output = command.output().expect("it runs");
        let said = String::from_utf8(output.stderr).expect("text");
        (output.status.code(), said)
    };
    tree.write(&[("README.md", "more\n")]);
    tree.folder.commit();
    let (status, said) = outcome(&LAST_COMMIT);
    assert_eq!(status, Some(0), "no chart changes: {said}");
    bump(&tree);
    for arguments in [
        &LAST_COMMIT[..],
        &["check", "--render", "."],
        &["list", "--render", "."],
        &["plan", "delete", "service/web", "-n", "shop", "--render"],
    ] {
        let (status, said) = outcome(arguments);
        assert_eq!(status, Some(2), "{arguments:?}: {said}");
        let expected = "error: there is no `helm` on the PATH to render charts with\n";
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}

#[test]
fn chart_of_bundle_with_render_command_is_one_release() {
    let tree = Surroundings::with_fake_helm();
    let objects = object("ConfigMap", "RELEASE") + &object("Service", "RELEASE");
    tree.write(&[
        (
            "ownerlint.yaml",
            "version: 1\nbundles:\n  prod: {paths: [charts/web], namespace: shop, delivery: helm, render: [cat, \
             charts/web/objects.txt]}\n",
        ),
        (
            "charts/web/Chart.yaml",
            "apiVersion: v2\nname: web\nversion: 1.0.0\n",
        ),
        ("charts/web/objects.txt", &objects),
    ]);
    tree.folder.commit();
    tree.write(&[("charts/web/objects.txt", &object("ConfigMap", "RELEASE"))]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    assert_eq!(effects(&document), ["deleted Service/shop/RELEASE"]);
}

#[test]
fn switching_local_chart_recreates_and_never_uninstalls_objects() {
    let tree = flux();
    let from_tree = |chart: &str| {
        release("web", "1.0.0", "").replace(
            "chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: acme, namespace: flux-system}",
            &format!("chart: ./charts/{chart}, sourceRef: {{kind: GitRepository, name: flux-system}}"),
        )
    };
    let objects = object("Service", "RELEASE");
    tree.write(&[
        (
            "charts/one/Chart.yaml",
            "apiVersion: v2\nname: one\nversion: 1.0.0\n",
        ),
        ("charts/one/objects.txt", &objects),
        (
            "charts/two/Chart.yaml",
            "apiVersion: v2\nname: two\nversion: 1.0.0\n",
        ),
        ("charts/two/objects.txt", &objects),
        ("apps/web.yaml", &from_tree("one")),
    ]);
    tree.folder.commit();
    tree.write(&[("apps/web.yaml", &from_tree("two"))]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    assert_eq!(effects(&document), ["recreated Service/shop/web"]);
    tree.folder
        .remove("charts/one/Chart.yaml")
        .remove("charts/one/objects.txt")
        .commit();
    assert_eq!(effects(&tree.diff(&["--render"])), [""; 0]);
}

#[test]
fn release_stored_in_another_namespace_is_rendered_and_reinstalled() {
    let tree = flux();
    tree.write(&[(
        "apps/web.yaml",
        &release("web", "1.0.0", "  storageNamespace: store\n"),
    )]);
    tree.folder.commit();
    let document = tree.diff(&["--render"]);
    let recreated = [
        "recreated ConfigMap/shop/web-config",
        "recreated Service/shop/web",
    ];
    assert_eq!(effects(&document), recreated);
    assert_eq!(unread(&document), [""; 0]);
}
