//! Charts with real programs: Helm 3 and 4, and a local chart repository and registry. `.ci/run` builds the programs
//! into `target/programs`; if they are missing, the tests are skipped.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::surroundings::{Surroundings, effects, unread};
use crate::support::{root, skip};

fn program(path: &str) -> Option<PathBuf> {
    let found = root().join("target/programs").join(path);
    found.is_file().then_some(found)
}

/// Returns Helm 3 and Helm 4, as far as they are built.
pub(super) fn helms() -> Vec<PathBuf> {
    let found: Vec<PathBuf> = ["helm-3/helm", "helm-4/helm"]
        .into_iter()
        .filter_map(program)
        .collect();
    if found.is_empty() {
        skip("no helm in target/programs: `.ci/run` builds it");
    }
    found
}

/// Serves the files of a folder until the test ends, and returns its address.
fn serve(folder: &Path) -> String {
    let folder = folder.to_owned();
    // Errors of clients that disconnect are ignored.
    listen(move |stream| _ = answer(stream, &folder))
}

/// Calls `answer` for each connection until the test ends, and returns the address.
fn listen(answer: impl Fn(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || listener.incoming().flatten().for_each(answer));
    format!("http://{address}")
}

fn answer(mut stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let path = first
        .split(' ')
        .nth(1)
        .unwrap_or("/")
        .trim_start_matches('/');
    match std::fs::read(folder.join(path)) {
        Ok(bytes) => {
            let length = bytes.len();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            )?;
            stream.write_all(&bytes)
        }
        Err(_) => stream
            .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    }
}

pub(super) fn run(program: &Path, folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program)
        .current_dir(folder)
        .env("HOME", folder)
        .args(arguments)
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Packages two versions of a chart `web` with an object named by its values; the second has one object less.
pub(super) fn package(helm: &Path, folder: &Path) {
    let config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: '{{ .Release.Name }}-{{ .Values.name }}'}\n";
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: '{{ .Release.Name }}'}\nspec: {ports: [{port: 80}]}\n";
    for version in ["1.0.0", "2.0.0"] {
        let chart = folder.join("web");
        let _ = std::fs::remove_dir_all(&chart);
        std::fs::create_dir_all(chart.join("templates")).expect("a folder");
        let write =
            |path: &str, text: &str| std::fs::write(chart.join(path), text).expect("a file");
        write(
            "Chart.yaml",
            &format!("apiVersion: v2\nname: web\nversion: {version}\n"),
        );
        write("values.yaml", "name: default\n");
        write("other.yaml", "name: other\n");
        write("templates/config.yaml", config);
        if version == "1.0.0" {
            write("templates/service.yaml", service);
        }
        run(helm, folder, &["package", "web"]);
    }
}

pub(super) const FLUX: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n\
                    spec: {path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n";

pub(super) fn release(chart: &str, more: &str) -> String {
    format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: web, namespace: shop}}\nspec:\n  {chart}\n{more}"
    )
}

pub(super) fn from_repository(version: &str, more: &str) -> String {
    let source = "{kind: HelmRepository, name: acme}";
    format!("chart: {{spec: {{chart: web, version: '{version}', sourceRef: {source}{more}}}}}")
}

pub(super) fn repository(url: &str, more: &str) -> String {
    format!(
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {{name: acme, namespace: shop}}\nspec: {{url: '{url}'{more}}}\n"
    )
}

/// Commits `base` and then `head`, and compares the two commits.
fn change(tree: &Surroundings, base: &[(&str, &str)], head: &[(&str, &str)]) -> Value {
    tree.write(base).folder.commit();
    tree.write(head).folder.commit();
    tree.diff(&["--render"])
}

/// Creates a tree with a HelmRelease of the chart `web`, and returns it with the effects of its upgrade to 2.0.0.
fn upgraded(helm: &Path, repository: &str, version: &str) -> (Surroundings, Value) {
    let tree = Surroundings::with_helm(helm);
    let of = |version: &str| release(&from_repository(version, ""), "");
    let base = [
        ("clusters/prod/apps.yaml", FLUX),
        ("apps/repository.yaml", repository),
        ("apps/web.yaml", &of(version)),
    ];
    let document = change(&tree, &base, &[("apps/web.yaml", &of("2.0.0"))]);
    (tree, document)
}

#[test]
fn chart_from_http_repository_is_fetched_and_rendered() {
    for helm in helms() {
        let (_served, url) = served_charts(&helm);
        let (tree, document) = upgraded(&helm, &repository(&url, ""), "1.x");
        assert_eq!(unread(&document), [""; 0]);
        assert_eq!(effects(&document), ["deleted Service/shop/web"]);
        let missing = [(
            "apps/web.yaml",
            &*release(&from_repository("9.0.0", ""), ""),
        )];
        tree.write(&missing).folder.commit();
        let document = tree.diff(&["--render"]);
        assert_eq!(effects(&document), [""; 0]);
        let said = unread(&document).join("\n");
        assert!(
            said.contains("9.0.0") && said.contains("helm pull: "),
            "{said}"
        );
    }
}

/// The process and the address of a registry, which is killed when the test ends.
struct Registry(Child, String);

impl Drop for Registry {
    fn drop(&mut self) {
        // It may already have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn registry() -> Option<Registry> {
    let Some(program) = program("registry/registry") else {
        skip("no registry in target/programs: `.ci/run` builds it");
        return None;
    };
    let mut child = Command::new(program)
        .args(["-port", "0"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let said = child.stderr.take().expect("its output");
    let mut lines = BufReader::new(said).lines();
    let port = loop {
        let line = lines.next().expect("a line").expect("text");
        if let Some((_, port)) = line.rsplit_once("port ") {
            break port.to_owned();
        }
    };
    // If its output is not read, the registry blocks.
    std::thread::spawn(move || lines.for_each(drop));
    Some(Registry(child, format!("localhost:{port}")))
}

#[test]
fn chart_from_oci_registry_is_fetched_and_rendered() {
    for helm in helms() {
        let Some(registry) = registry() else { return };
        let host = &registry.1;
        let folder = tempfile::tempdir().expect("a folder");
        package(&helm, folder.path());
        for version in ["1.0.0", "2.0.0"] {
            let to = format!("oci://{host}/charts");
            run(
                &helm,
                folder.path(),
                &["push", &format!("web-{version}.tgz"), &to, "--plain-http"],
            );
        }
        let insecure = ", type: oci, insecure: true";
        let (tree, document) = upgraded(
            &helm,
            &repository(&format!("oci://{host}/charts"), insecure),
            "1.0.0",
        );
        assert_eq!(unread(&document), [""; 0]);
        assert_eq!(effects(&document), ["deleted Service/shop/web"]);
        let artifact = |tag: &str| {
            format!(
                "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {{name: web, namespace: shop}}\nspec: {{url: \
                 'oci://{host}/charts/web', ref: {{tag: {tag}}}, insecure: true}}\n"
            )
        };
        let named = release("chartRef: {kind: OCIRepository, name: web}", "");
        let base = [
            ("apps/web.yaml", &*named),
            ("apps/repository.yaml", &artifact("1.0.0")),
        ];
        let document = change(
            &tree,
            &base,
            &[("apps/repository.yaml", &artifact("2.0.0"))],
        );
        assert_eq!(effects(&document), ["deleted Service/shop/web"]);
    }
}

/// Serves a repository with the charts of [`package`].
pub(super) fn served_charts(helm: &Path) -> (TempDir, String) {
    let served = tempfile::tempdir().expect("a folder");
    package(helm, served.path());
    run(helm, served.path(), &["repo", "index", "."]);
    let url = serve(served.path());
    (served, url)
}

/// An Application of the folder `apps`.
pub(super) const ARGO: &str = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: root, namespace: argocd}\nspec:\n  source: {repoURL: \
                    'https://git.example.org/fleet.git', path: apps}\n  destination: {server: 'https://kubernetes.default.svc', namespace: \
                    argocd}\n  syncPolicy: {automated: {prune: true}}\n";

#[test]
fn chart_of_argo_cd_application_is_fetched_and_rendered() {
    for helm in helms() {
        let (_served, url) = served_charts(&helm);
        let application = |version: &str| {
            format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: web, namespace: argocd}}\nspec:\n  \
                 destination: {{server: 'https://kubernetes.default.svc', namespace: shop}}\n  \
                 syncPolicy: {{automated: {{prune: true}}}}\n  source: {{repoURL: '{url}', chart: web, targetRevision: {version}}}\n"
            )
        };
        let tree = Surroundings::with_helm(&helm);
        let base = [
            ("root.yaml", ARGO),
            ("apps/web.yaml", &*application("1.0.0")),
        ];
        let document = change(&tree, &base, &[("apps/web.yaml", &application("2.0.0"))]);
        assert_eq!(unread(&document), [""; 0]);
        assert_eq!(effects(&document), ["deleted Service/shop/web"]);
    }
}

#[test]
fn chart_of_kustomization_is_fetched_and_rendered() {
    for helm in helms() {
        let (_served, url) = served_charts(&helm);
        let kustomization = |version: &str| {
            format!(
                "namespace: shop\nhelmCharts: [{{name: web, repo: '{url}', version: {version}, releaseName: web}}]\n"
            )
        };
        let tree = Surroundings::with_helm(&helm);
        let base = [
            ("clusters/prod/apps.yaml", FLUX),
            ("apps/kustomization.yaml", &*kustomization("1.0.0")),
        ];
        let head = kustomization("2.0.0");
        let document = change(&tree, &base, &[("apps/kustomization.yaml", &head)]);
        assert_eq!(unread(&document), [""; 0]);
        assert_eq!(effects(&document), ["deleted Service/shop/web"]);
    }
}

#[test]
fn offline_renders_cached_chart_and_downloads_nothing() {
    for helm in helms() {
        let (served, url) = served_charts(&helm);
        let (tree, document) = upgraded(&helm, &repository(&url, ""), "1.0.0");
        assert_eq!(effects(&document), ["deleted Service/shop/web"]);
        drop(served);
        let document = tree.diff(&["--render", "--offline"]);
        assert_eq!(effects(&document), ["deleted Service/shop/web"]);
        let newer = release(&from_repository("3.0.0", ""), "");
        tree.write(&[("apps/web.yaml", &newer)]).folder.commit();
        let document = tree.diff(&["--render", "--offline"]);
        assert_eq!(effects(&document), [""; 0]);
        let said = unread(&document).join("\n");
        assert!(said.contains("`--offline` allows no download"), "{said}");
    }
}

#[test]
fn host_named_only_by_the_change_gets_no_request() {
    for helm in helms() {
        let (_served, known) = served_charts(&helm);
        let (heard, hears) = std::sync::mpsc::channel();
        let stranger = listen(move |_| heard.send(()).expect("the test runs"));
        let stranger = stranger.replace("127.0.0.1", "localhost");
        let tree = Surroundings::with_helm(&helm);
        let base = [
            ("clusters/prod/apps.yaml", FLUX),
            ("apps/repository.yaml", &repository(&known, "")),
            ("apps/web.yaml", &release(&from_repository("1.0.0", ""), "")),
        ];
        // The change cannot add the host in its own configuration.
        let head = [
            ("apps/repository.yaml", &*repository(&stranger, "")),
            (
                "ownerlint.yaml",
                "version: 1\ncharts: {hosts: [localhost]}\n",
            ),
        ];
        let document = change(&tree, &base, &head);
        let said = unread(&document).join("\n");
        assert!(said.contains("--render-from localhost"), "{said}");
        assert!(hears.try_recv().is_err());
    }
}

#[test]
fn chart_over_the_timeout_is_unread() {
    for helm in helms() {
        let (served, known) = served_charts(&helm);
        let endless = "{{ range until 100000 }}{{ range until 10000 }}{{ end }}{{ end }}";
        std::fs::write(served.path().join("web/templates/endless.yaml"), endless).expect("a file");
        run(&helm, served.path(), &["package", "web", "--version=3.0.0"]);
        run(&helm, served.path(), &["repo", "index", "."]);
        let silent = listen(std::mem::forget);
        let tree = Surroundings::with_helm(&helm);
        let of = |version: &str| release(&from_repository(version, ""), "");
        let base = [
            (
                "ownerlint.yaml",
                &*format!(
                    "version: 1\ncharts: {{timeout: 2s, hosts: ['{}']}}\n",
                    silent.trim_start_matches("http://")
                ),
            ),
            ("clusters/prod/apps.yaml", FLUX),
            ("apps/repository.yaml", &repository(&known, "")),
            ("apps/web.yaml", &of("1.0.0")),
        ];
        let document = change(&tree, &base, &[("apps/web.yaml", &of("3.0.0"))]);
        assert_eq!(effects(&document), [""; 0]);
        assert_eq!(
            unread(&document),
            ["chart web 1.0.0 → 3.0.0: helm did not finish within 2 s"]
        );
        let head = [("apps/repository.yaml", &*repository(&silent, ""))];
        tree.write(&head).folder.commit();
        let document = tree.diff(&["--render"]);
        assert_eq!(
            unread(&document),
            ["chart web 3.0.0: helm did not finish within 2 s"]
        );
    }
}

#[test]
fn archive_entries_outside_the_chart_folder_are_not_extracted() {
    for helm in helms() {
        let (served, url) = served_charts(&helm);
        let evil = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: evil}\n";
        std::fs::write(served.path().join("evil.yaml"), evil).expect("a file");
        for way in ["web/../../evil.yaml", "../../evil.yaml", "/tmp/evil.yaml"] {
            let rename = format!("--transform=s,^evil.yaml,{way},");
            let pack = ["czPf", "web-2.0.0.tgz", &rename, "web", "evil.yaml"];
            run(Path::new("tar"), served.path(), &pack);
            run(&helm, served.path(), &["repo", "index", "."]);
            let (tree, document) = upgraded(&helm, &repository(&url, ""), "1.0.0");
            let said = document.to_string();
            assert!(!said.contains("ConfigMap/shop/evil"), "{said}");
            let files = walkdir::WalkDir::new(tree.home()).into_iter().flatten();
            let escaped = files.filter(|file| file.file_name() == "evil.yaml");
            let inside = |path: &Path| path.components().any(|part| part.as_os_str() == "web");
            let escaped = escaped.filter(|file| !inside(file.path())).count();
            assert_eq!((escaped, Path::new("/tmp/evil.yaml").exists()), (0, false));
        }
    }
}

#[test]
fn symlinks_in_chart_archive_are_not_followed() {
    for helm in helms() {
        let served = tempfile::tempdir().expect("a folder");
        package(&helm, served.path());
        let secret = served.path().join("secret");
        std::fs::write(
            &secret,
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: stolen}\n",
        )
        .expect("a file");
        let link = served.path().join("web/templates/link.yaml");
        std::os::unix::fs::symlink(&secret, link).expect("a link");
        let pack = ["czf", "web-2.0.0.tgz", "web"];
        run(Path::new("tar"), served.path(), &pack);
        run(&helm, served.path(), &["repo", "index", "."]);
        let url = serve(served.path());
        let (_, document) = upgraded(&helm, &repository(&url, ""), "1.0.0");
        let added = serde_json::to_string(&document["changes"]).expect("text");
        assert!(!added.contains("stolen"), "{added}");
    }
}
