//! The same with real programs: helm 3 and 4, a repository of charts and a registry on this machine, and recorded renderings. `.ci/run`
//! builds the programs into `target/programs`; without them these tests are skipped.

use std::collections::BTreeSet;
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

/// Helm 3 and Helm 4, as far as they are there.
fn helms() -> Vec<PathBuf> {
    let found: Vec<PathBuf> = ["helm-3/helm", "helm-4/helm"]
        .into_iter()
        .filter_map(program)
        .collect();
    if found.is_empty() {
        skip("no helm in target/programs: `.ci/run` builds it");
    }
    found
}

/// Serves the files of a folder until the test ends.
fn serve(folder: &Path) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let folder = folder.to_owned();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that went away is none of ours.
            let _ = answer(stream, &folder);
        }
    });
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

fn run(program: &Path, folder: &Path, arguments: &[&str]) -> String {
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

/// A chart `web` with an object named by its values; the second version has one object less.
fn package(helm: &Path, folder: &Path) {
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

const FLUX: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n\
                    spec: {path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n";

fn release(chart: &str, more: &str) -> String {
    format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: web, namespace: shop}}\nspec:\n  {chart}\n{more}"
    )
}

fn from_repository(version: &str, more: &str) -> String {
    let source = "{kind: HelmRepository, name: acme}";
    format!("chart: {{spec: {{chart: web, version: '{version}', sourceRef: {source}{more}}}}}")
}

fn repository(url: &str, more: &str) -> String {
    format!(
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {{name: acme, namespace: shop}}\nspec: {{url: '{url}'{more}}}\n"
    )
}

/// Commits a tree, and then other texts of some of its files.
fn change(tree: &Surroundings, base: &[(&str, &str)], head: &[(&str, &str)]) -> Value {
    tree.write(base).folder.commit();
    tree.write(head).folder.commit();
    tree.diff(&["--render"])
}

/// A tree with a HelmRelease of the chart `web` in a version, and what its upgrade to 2.0.0 does.
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
fn a_chart_of_a_repository_is_fetched_and_rendered() {
    for helm in helms() {
        let served = tempfile::tempdir().expect("a folder");
        package(&helm, served.path());
        run(&helm, served.path(), &["repo", "index", "."]);
        let url = serve(served.path());
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
        assert!(said.contains("9.0.0") && said.contains("helm: "), "{said}");
    }
}

#[test]
fn later_values_count_more() {
    for helm in helms() {
        let served = tempfile::tempdir().expect("a folder");
        package(&helm, served.path());
        run(&helm, served.path(), &["repo", "index", "."]);
        let url = serve(served.path());
        let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\ndata: {values.yaml: 'name: map'}\n";
        let from_map = "  valuesFrom: [{kind: ConfigMap, name: settings}]\n";
        let with_both = format!("{from_map}  values: {{name: release}}\n");
        let steps = [
            (release(&from_repository("2.0.0", ""), ""), "web-default"),
            (
                release(&from_repository("2.0.0", ", valuesFiles: [other.yaml]"), ""),
                "web-other",
            ),
            (
                release(
                    &from_repository("2.0.0", ", valuesFiles: [other.yaml]"),
                    from_map,
                ),
                "web-map",
            ),
            (
                release(&from_repository("2.0.0", ""), &with_both),
                "web-release",
            ),
        ];
        let tree = Surroundings::with_helm(&helm);
        tree.write(&[
            ("clusters/prod/apps.yaml", FLUX),
            ("apps/repository.yaml", &repository(&url, "")),
            ("apps/settings.yaml", map),
        ]);
        for (number, (text, _)) in steps.iter().enumerate() {
            tree.write(&[("apps/web.yaml", text)]).folder.commit();
            if number > 0 {
                let document = tree.diff(&["--render"]);
                let before = steps[number - 1].1;
                assert_eq!(
                    effects(&document),
                    [format!("deleted ConfigMap/shop/{before}")]
                );
            }
        }
    }
}

/// A registry that ends with the test.
struct Registry(Child, String);

impl Drop for Registry {
    fn drop(&mut self) {
        // It may have ended by itself.
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
    // Whoever does not read makes it wait.
    std::thread::spawn(move || lines.for_each(drop));
    Some(Registry(child, format!("localhost:{port}")))
}

#[test]
fn a_chart_of_a_registry_is_fetched_and_rendered() {
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

#[test]
fn links_in_an_archive_lead_nowhere() {
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

/// The charts that real Helm rendered, and both states of each.
struct Recorded {
    cases: Vec<Value>,
    clone: TempDir,
}

fn recorded() -> Option<Recorded> {
    let shared = root().join("../shared");
    let bundle = shared.join("histories/charts.bundle");
    let Ok(text) = std::fs::read_to_string(shared.join("conformance/charts.json")) else {
        skip("no recorded charts");
        return None;
    };
    let clone = tempfile::tempdir().expect("a folder");
    let bundle = bundle.to_str()?;
    run(
        Path::new("git"),
        clone.path(),
        &["clone", "-q", bundle, "."],
    );
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    let cases = document["cases"].take();
    let cases = cases.as_array().expect("a list").iter();
    let cases = cases
        .filter(|case| !case["bundle"].is_null())
        .cloned()
        .collect();
    Some(Recorded { cases, clone })
}

/// Some folders of a commit as a tree of their own.
fn export(clone: &Path, commit: &str, folders: &[&str], to: &Path) {
    let listed = run(Path::new("git"), clone, &["ls-tree", "--name-only", commit]);
    let listed: BTreeSet<&str> = listed.lines().collect();
    let there = folders
        .iter()
        .copied()
        .filter(|folder| listed.contains(folder));
    let archive = to.join("tree.tar");
    let archive = archive.to_str().expect("a path");
    let arguments = ["archive", "-o", archive, commit].into_iter().chain(there);
    run(Path::new("git"), clone, &arguments.collect::<Vec<_>>());
    run(Path::new("tar"), to, &["xf", archive]);
    std::fs::remove_file(archive).expect("the archive");
}

fn keys(list: &Value) -> BTreeSet<String> {
    let list = list.as_array().into_iter().flatten();
    list.map(|key| key.as_str().expect("a key").to_owned())
        .collect()
}

/// What the upgrade of a recorded case deletes, and what `diff` says that it does.
fn deletions(helm: &Path, clone: &Path, case: &Value, tool: &str) -> [BTreeSet<String>; 2] {
    let tree = Surroundings::with_helm(helm);
    for (side, commit) in [
        ("base", &case["bundle"]["from"]),
        ("head", &case["bundle"]["to"]),
    ] {
        let to = tree.folder.path().join(side);
        std::fs::create_dir(&to).expect("a folder");
        let commit = commit.as_str().expect("a commit");
        export(clone, commit, &[tool, "charts"], &to);
    }
    let mut command = tree.ownerlint();
    let arguments = [
        "diff",
        "--base",
        "base",
        "--head",
        "head",
        "--render",
        "-o",
        "json",
        "--exit-zero",
    ];
    let output = command.args(arguments).output().expect("it runs");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let effects = document["effects"].as_array().expect("a list").iter();
    let deleted = effects.filter(|effect| {
        ["deleted", "cascaded"]
            .iter()
            .any(|kind| effect["effect"] == *kind)
    });
    let said = deleted.map(|effect| effect["key"].as_str().expect("a key").to_owned());
    [keys(&case["deleted"]), said.collect()]
}

#[test]
fn upgrades_of_recorded_charts_delete_what_helm_deletes() {
    let helms = helms();
    let Some(Recorded { cases, clone }) = recorded().filter(|_| !helms.is_empty()) else {
        return;
    };
    let mut compared = 0;
    let mut complaints = Vec::new();
    let is_refused = |case: &Value| {
        let fields = case["immutable"].as_array().into_iter().flatten();
        fields.into_iter().any(|field| field["accepted"] != true)
    };
    for (at, case) in cases.iter().enumerate().filter(|(at, _)| at % 6 == 0) {
        for helm in &helms {
            let is_recorded = helm
                .display()
                .to_string()
                .contains(&format!("helm-{}", case["helm"].as_str().unwrap_or("4")));
            if !is_recorded {
                continue;
            }
            let [truth, said] = deletions(helm, clone.path(), case, "flux");
            let truth = if is_refused(case) {
                BTreeSet::new()
            } else {
                truth
            };
            // The group `extensions` had kinds that other groups have, too: one object has two names.
            let kind_and_name = |key: &str| {
                let (kind, rest) = key.split_once('/').unwrap_or((key, ""));
                let kind = kind.split('.').next().unwrap_or_default();
                (kind.to_owned(), rest.to_owned())
            };
            let twice = truth.iter().filter(|key| key.contains(".extensions/"));
            let twice: BTreeSet<_> = twice.map(|key| kind_and_name(key)).collect();
            // What has no name is refused by every API server, and such a rendering is not read.
            let counts =
                |key: &&String| !key.contains("(no name)") && !twice.contains(&kind_and_name(key));
            let differ: Vec<&String> = truth.symmetric_difference(&said).filter(counts).collect();
            compared += truth.len();
            if !differ.is_empty() {
                complaints.push(format!(
                    "{at} {} {} → {}: {differ:?}",
                    case["chart"], case["from"]["version"], case["to"]["version"]
                ));
            }
        }
    }
    assert!(compared > 50, "{compared} deletions");
    assert_eq!(complaints, [""; 0]);
}
