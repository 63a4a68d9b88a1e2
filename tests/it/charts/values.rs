//! The precedence of values with equal keys, which differs between the tools.

use super::real::{
    ARGO, FLUX, from_repository, helms, package, release, repository, served_charts,
};
use super::surroundings::{Surroundings, effects, unread};

/// Commits texts of a file one after the other, and asserts that each deletes the object of the one before.
fn deletes_in_turn(tree: &Surroundings, path: &str, steps: &[(String, &str)]) {
    for (number, (text, _)) in steps.iter().enumerate() {
        tree.write(&[(path, text)]).folder.commit();
        if number > 0 {
            let document = tree.diff(&["--render"]);
            assert_eq!(unread(&document), [""; 0]);
            let before = steps[number - 1].1;
            assert_eq!(
                effects(&document),
                [format!("deleted ConfigMap/shop/{before}")]
            );
        }
    }
}

#[test]
fn helm_release_values_have_flux_precedence() {
    for helm in helms() {
        let (_served, url) = served_charts(&helm);
        let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {values.yaml: 'name: map'}\n";
        let from_map = "  valuesFrom: [{kind: ConfigMap, name: settings}]\n";
        let with_both = format!("{from_map}  values: {{name: release}}\n");
        let own = from_repository("2.0.0", "");
        let other = from_repository("2.0.0", ", valuesFiles: [other.yaml]");
        let tree = Surroundings::with_helm(&helm);
        tree.write(&[
            ("clusters/prod/apps.yaml", FLUX),
            ("apps/repository.yaml", &repository(&url, "")),
            ("apps/settings.yaml", map),
        ]);
        let steps = [
            (release(&own, ""), "web-default"),
            (release(&other, ""), "web-other"),
            (release(&other, from_map), "web-map"),
            (release(&own, &with_both), "web-release"),
        ];
        deletes_in_turn(&tree, "apps/web.yaml", &steps);
    }
}

#[test]
fn application_values_have_argo_cd_precedence() {
    for helm in helms() {
        let tree = Surroundings::with_helm(&helm);
        let charts = tree.folder.path().join("charts");
        std::fs::create_dir(&charts).expect("a folder");
        package(&helm, &charts);
        let application = |helm: &str| {
            format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web, namespace: argocd}}\nspec:\n  \
                 destination: {{server: 'https://kubernetes.default.svc', namespace: shop}}\n  \
                 syncPolicy: {{automated: {{prune: true}}}}\n  \
                 source:\n    repoURL: 'https://git.example.org/fleet.git'\n    path: charts/web\n    helm: {{{helm}}}\n"
            )
        };
        tree.write(&[
            ("root.yaml", ARGO),
            ("charts/web/last.yaml", "name: last\n"),
            ("charts/web/dev-a.yaml", "name: a\n"),
            ("charts/web/dev-b.yaml", "name: b\n"),
        ]);
        let files = "valueFiles: [other.yaml, last.yaml]";
        let inline = "values: 'name: text', valuesObject: {name: object}";
        let missing = "valueFiles: [other.yaml, none.yaml], ignoreMissingValueFiles: true";
        let parameters = "parameters: [{name: name, value: parameter}]";
        let steps = [
            (application(""), "web-default"),
            (application(missing), "web-other"),
            (application("valueFiles: ['dev-*.yaml']"), "web-b"),
            (application(files), "web-last"),
            (
                application(&format!("{files}, values: 'name: text'")),
                "web-text",
            ),
            (application(&format!("{files}, {inline}")), "web-object"),
            (
                application(&format!("{inline}, {parameters}")),
                "web-parameter",
            ),
            (application("releaseName: other"), "other-default"),
        ];
        deletes_in_turn(&tree, "apps/web.yaml", &steps);
    }
}
