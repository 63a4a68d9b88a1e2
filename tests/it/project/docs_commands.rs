//! Runs every command in the README and the pages of `docs/`, and compares its output with the page, if the page shows
//! it, and with a snapshot.
//!
//! The `console` blocks of a page are run in order, in the scene of the page. In a block with lines that begin with `$
//! `, the other lines are output; a line `…` matches any number of lines. Comments before a block control it:
//!
//! * `<!-- scene: NAME -->` starts the blocks below it in a new copy of that scene (`SCENES`).
//! * `<!-- not run: REASON -->` excludes the next block.
//!
//! `UPDATE_DOCS=1` writes the output of the program into the pages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use ownerlint::rules::RULES;

use crate::charts::surroundings::HELM;
use crate::cli::scope::git;
use crate::support::{Repository, page, root, skip, write_program};

/// The languages of blocks that contain no command.
const DATA: [&str; 10] = [
    "diff", "elisp", "json", "jsonc", "lua", "mermaid", "rust", "text", "toml", "yaml",
];

/// A folder in which the commands of a page are run.
struct Scene(Repository);

type Make = fn() -> Scene;

/// Every scene by name.
const SCENES: [(&str, Make); 10] = [
    ("checkout", checkout),
    ("pull-request", pull_request),
    ("release", release),
    ("flux", flux),
    ("argocd", argocd),
    ("fixes", fixes),
    ("chart", chart),
    ("removed-chart", removed_chart),
    ("baseline-stale", stale_baseline),
    ("unreadable-file", unreadable_file),
];

/// The scenes of rule pages, which have no comments.
const SCENES_OF_RULES: [(&str, &str); 2] = [
    ("rules/baseline-stale.md", "baseline-stale"),
    ("rules/unreadable-file.md", "unreadable-file"),
];

impl Scene {
    fn new(name: &str) -> Self {
        let found = SCENES.iter().find(|(known, _)| *known == name);
        found
            .unwrap_or_else(|| panic!("there is no scene `{name}`"))
            .1()
    }

    fn path(&self) -> PathBuf {
        self.0.path()
    }

    /// Runs a command in bash, as on a terminal. Returns its output and exit status.
    fn run(&self, command: &str) -> (String, i32) {
        let folder = self.path();
        let bin = Path::new(env!("CARGO_BIN_EXE_ownerlint"))
            .parent()
            .expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let command = command.replace("cargo run -- ", "ownerlint ");
        let output = Command::new("bash")
            .args(["-c", &format!("set -o pipefail; exec 2>&1; {command}")])
            .current_dir(&folder)
            .env_clear()
            .env("COLUMNS", "100")
            .env("HOME", &folder)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env(
                "PATH",
                format!("{}:{}:{path}", folder.join(".bin").display(), bin.display()),
            )
            .stdin(std::process::Stdio::null())
            .output()
            .expect("bash runs");
        let text = String::from_utf8(output.stdout).expect("text");
        (text, output.status.code().unwrap_or(-1))
    }
}

/// Commits everything at a fixed time, so that the commit has the same hash in every run.
fn commit(repository: &Repository) {
    let time = "2026-11-01T12:00:00Z";
    let set = format!(
        "GIT_AUTHOR_DATE={time} GIT_COMMITTER_DATE={time} git -c user.name=t -c user.email=t@example.com"
    );
    let status = Command::new("sh")
        .args(["-c", &format!("git add -A && {set} commit -qm change")])
        .current_dir(repository.path())
        .status();
    assert!(status.expect("a shell").success());
}

/// Creates a branch on which `edit` changes the files of a folder, and a remote with `main` and `release`.
fn branch(from: &str, edit: fn(&Repository)) -> Scene {
    let repository = Repository::new();
    repository.copy(&root().join(from));
    changed(repository, edit)
}

/// Creates a branch on which `edit` changes `files`.
fn branch_of(files: &[(&str, &str)], edit: impl Fn(&Repository)) -> Scene {
    let repository = Repository::new();
    for (path, text) in files {
        repository.write(path, text);
    }
    changed(repository, edit)
}

/// Commits files, and an edit of them on a branch.
fn changed(repository: Repository, edit: impl Fn(&Repository)) -> Scene {
    std::fs::remove_dir(repository.path().join(".git")).expect("a marker");
    repository.write(".gitignore", "*.html\n/.bin\n/.cache\n");
    assert!(git(&repository, &["init", "-q", "-b", "main"]), "git");
    commit(&repository);
    for name in [
        "refs/remotes/origin/main",
        "refs/remotes/origin/release",
        "refs/tags/v1",
    ] {
        assert!(git(&repository, &["update-ref", name, "HEAD"]));
    }
    assert!(git(&repository, &["checkout", "-q", "-b", "change"]));
    edit(&repository);
    commit(&repository);
    assert!(git(&repository, &["tag", "v2"]));
    Scene(repository)
}

fn remove(repository: &Repository, path: &str) {
    let path = repository.path().join(path);
    let removed = if path.is_dir() {
        std::fs::remove_dir_all(path)
    } else {
        std::fs::remove_file(path)
    };
    removed.expect("it was there");
}

/// Creates a branch that removes a definition whose objects stay.
fn pull_request() -> Scene {
    branch("docs/examples/pull-request", |repository| {
        remove(repository, "crds/externalsecrets.yaml");
    })
}

/// Creates a branch that removes the claim from one of two clusters.
fn flux() -> Scene {
    branch("fixtures/examples/flux", |repository| {
        remove(repository, "apps/prod/database.yaml");
        let list = repository.read("apps/prod/kustomization.yaml");
        repository.write(
            "apps/prod/kustomization.yaml",
            &list.replace("  - database.yaml\n", ""),
        );
    })
}

/// Creates a branch that removes a folder for which an ApplicationSet generates an Application.
fn argocd() -> Scene {
    branch("fixtures/examples/argocd", |repository| {
        remove(repository, "services/cart");
    })
}

/// Creates a checkout of this repository with the files that pages name.
fn checkout() -> Scene {
    Scene(Repository::of_copies(&["fixtures/bundles/rook"]))
}

/// Creates a chart, its rendering, and a dump of the cluster. Fakes of Helm, Kustomize and kubectl print these files.
fn release() -> Scene {
    let repository = Repository::new();
    // Outside of repositories, a rendered file does not have the other ones as its context.
    std::fs::remove_dir(repository.path().join(".git")).expect("the marker");
    repository.copy(&root().join("docs/examples/release"));
    let rendered = repository.read("rendered/shop.yaml");
    let without_web = rendered
        .split("---\n# Source: shop/templates/web.yaml")
        .next()
        .expect("a beginning");
    // Kustomize removes comments.
    let built: Vec<&str> = rendered
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    repository.write(".bin/built.yaml", &built.join("\n"));
    repository
        .write("old.yaml", &rendered)
        .write("new.yaml", without_web);
    let prints = |file: &str| {
        format!(
            "#!/bin/sh\ncat '{}'\n",
            repository.path().join(file).display()
        )
    };
    for (program, file) in [
        ("helm", "rendered/shop.yaml"),
        ("kustomize", ".bin/built.yaml"),
        ("kubectl", "dump.yaml"),
    ] {
        write_program(
            &repository.path().join(".bin").join(program),
            prints(file).as_bytes(),
        );
    }
    Scene(repository)
}

/// Creates a branch with a new version of a chart that a HelmRelease installs, and a fake of Helm.
fn chart() -> Scene {
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\nspec:\n  \
                   chart: {spec: {chart: web, version: 1.0.0, sourceRef: {kind: HelmRepository, name: acme}}}\n";
    let files = [
        (
            "clusters/prod/flux-system.yaml",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\n\
             spec: {path: ./clusters/prod, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n",
        ),
        (
            "clusters/prod/apps.yaml",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n\
             spec: {path: ./apps, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}\n",
        ),
        (
            "apps/repository.yaml",
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: acme, namespace: shop}\n\
             spec: {url: 'https://charts.example.org'}\n",
        ),
        ("apps/web.yaml", release),
    ];
    let scene = branch_of(&files, |repository| {
        repository.write("apps/web.yaml", &release.replace("1.0.0", "2.0.0"));
    });
    let bin = scene.path().join(".bin");
    let object = |kind: &str, name: &str| {
        format!("---\napiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}}}\n")
    };
    let both = object("ConfigMap", "RELEASE-config");
    for (version, objects) in [
        ("1.0.0", both.clone() + &object("Service", "RELEASE")),
        ("2.0.0", both),
    ] {
        let chart = bin.join(format!("served/web-{version}"));
        std::fs::create_dir_all(&chart).expect("a folder");
        let about = format!("apiVersion: v2\nname: web\nversion: {version}\n");
        std::fs::write(chart.join("Chart.yaml"), about).expect("a file");
        std::fs::write(chart.join("objects.txt"), objects).expect("a file");
    }
    write_program(&bin.join("helm"), HELM.as_bytes());
    scene
}

/// Creates a branch that removes a chart.
fn removed_chart() -> Scene {
    let about = "apiVersion: v2\nname: longhorn\nversion: 1.5.1\n";
    let files = [
        (
            "web.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\n",
        ),
        ("longhorn/Chart.yaml", about),
        ("longhorn/templates/volumes.yaml", "{{ .Values.volumes }}\n"),
    ];
    branch_of(&files, |repository| remove(repository, "longhorn"))
}

/// Creates a bundle in which everything is fixed, and its old baseline.
fn stale_baseline() -> Scene {
    let repository = Repository::new();
    let from = "fixtures/rules/baseline-stale/bad";
    let baseline = page(&format!("{from}/ownerlint-baseline.json"));
    repository
        .write("ownerlint-baseline.json", &baseline)
        .write("rendered/web.yaml", &page(&format!("{from}/fixed.yaml")));
    Scene(repository)
}

/// Creates a bundle with a broken link.
fn unreadable_file() -> Scene {
    let repository = Repository::new();
    repository.write(
        "rendered/cart.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cart}\n",
    );
    std::os::unix::fs::symlink("gone.yaml", repository.path().join("rendered/web.yaml"))
        .expect("a link");
    Scene(repository)
}

/// Creates a file with a finding that has a safe fix.
fn fixes() -> Scene {
    let repository = Repository::new();
    repository.write(
        "role.yaml",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: reader\n  namespace: shop # of no use\n  labels:\n    app: web\nrules: []\n",
    );
    Scene(repository)
}

/// A block of a page: its language, the comment before it, its lines, and the number of the first line.
struct Block<'p> {
    language: &'p str,
    not_run: Option<&'p str>,
    scene: Option<&'p str>,
    lines: Vec<&'p str>,
    first: usize,
}

/// Returns the text of a comment `<!-- NAME: TEXT -->`.
fn comment<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let inside = line.trim().strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    inside.strip_prefix(name)?.strip_prefix(": ")
}

/// Returns the blocks of a page, without the indentation of lists.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let (mut not_run, mut scene) = (None, None);
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        not_run = comment(line, "not run")
            .or(not_run.filter(|_| line.trim().is_empty() || line.contains("```")));
        scene = comment(line, "scene").or(scene);
        let Some(language) = line.trim_start().strip_prefix("```") else {
            continue;
        };
        let indent = line.len() - line.trim_start().len();
        let inside = lines
            .by_ref()
            .map(|(_, line)| line)
            .take_while(|line| line.trim() != "```");
        let inside = inside
            .map(|line| line.get(indent..).unwrap_or_default())
            .collect();
        found.push(Block {
            language,
            not_run: not_run.take(),
            scene: scene.take(),
            lines: inside,
            first: number + 1,
        });
    }
    found
}

/// A command, and the output lines that the block shows; `None` if it shows no output.
type Shown<'b> = (&'b str, Option<Vec<&'b str>>);

/// Returns the commands of a block.
fn commands<'b>(block: &Block<'b>) -> Vec<Shown<'b>> {
    let shows_output = block.lines.iter().any(|line| line.starts_with("$ "));
    let mut commands: Vec<Shown<'b>> = Vec::new();
    for line in &block.lines {
        match line.strip_prefix("$ ") {
            Some(command) => commands.push((command, Some(Vec::new()))),
            None if shows_output => {
                let (_, output) = commands.last_mut().expect("a block begins with a command");
                output.as_mut().expect("it shows output").push(line);
            }
            None if line.trim().is_empty() => {}
            None => commands.push((line, None)),
        }
    }
    commands
}

/// Whether a page shows exactly the printed lines; `…` matches any number of lines.
fn is_shown(shown: &[&str], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((&"…", rest)) => {
            (0..=printed.len()).any(|skipped| is_shown(rest, &printed[skipped..]))
        }
        Some((line, rest)) => printed
            .split_first()
            .is_some_and(|(first, others)| first == line && is_shown(rest, others)),
    }
}

/// Returns the README, every handwritten page, and the rule pages that show commands.
fn pages() -> Vec<String> {
    let mut pages = vec!["README.md".to_owned()];
    for entry in walkdir::WalkDir::new(root().join("docs")).sort_by_file_name() {
        let entry = entry.expect("an entry");
        let path = entry
            .path()
            .strip_prefix(root())
            .expect("below it")
            .to_string_lossy()
            .replace('\\', "/");
        if path.ends_with(".md") && !page(&path).starts_with("<!-- Generated") {
            pages.push(path);
        }
    }
    pages.extend(SCENES_OF_RULES.map(|(page, _)| page.to_owned()));
    pages
}

/// Shortens a long output to its first lines and its length.
fn beginning(text: &str) -> String {
    const MOST: usize = 60;
    let lines: Vec<&str> = text.lines().collect();
    let mut out: String = lines
        .iter()
        .take(MOST)
        .map(|line| format!("{line}\n"))
        .collect();
    if lines.len() > MOST {
        out.push_str(&format!("… {} lines more\n", lines.len() - MOST));
    }
    out
}

/// Runs the commands of a page. Returns their output, and the page with that output.
fn played(path: &str, text: &str) -> (String, String) {
    let of_rule = SCENES_OF_RULES.iter().find(|(page, _)| *page == path);
    let mut scene = Scene::new(of_rule.map_or("checkout", |(_, name)| name));
    let mut transcript = String::new();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut shift = 0isize;
    for block in blocks(text) {
        if let Some(name) = block.scene {
            scene = Scene::new(name);
        }
        if block.language != "console" || block.not_run.is_some() {
            continue;
        }
        let mut refreshed: Vec<String> = Vec::new();
        for (command, shown) in commands(&block) {
            let (printed, status) = scene.run(command);
            assert!(status != 127, "{path}: `{command}`: {printed}");
            transcript.push_str(&format!(
                "$ {command}\n{}[exit status {status}]\n\n",
                beginning(&printed)
            ));
            let Some(shown) = shown else {
                refreshed.push(command.to_owned());
                continue;
            };
            refreshed.push(format!("$ {command}"));
            let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
            if shown.contains(&"…") {
                assert!(
                    is_shown(&shown, &printed),
                    "{path}: `{command}` prints\n{}\nand not\n{}",
                    printed.join("\n"),
                    shown.join("\n")
                );
                refreshed.extend(shown.iter().map(|line| (*line).to_owned()));
            } else {
                refreshed.extend(printed.iter().map(|line| (*line).to_owned()));
            }
        }
        if block.lines.iter().any(|line| line.starts_with("$ ")) {
            let first = block.first.checked_add_signed(shift).expect("a line");
            shift += isize::try_from(refreshed.len()).expect("few")
                - isize::try_from(block.lines.len()).expect("few");
            lines.splice(first..first + block.lines.len(), refreshed);
        }
    }
    (transcript, lines.join("\n") + "\n")
}

#[test]
fn documented_commands_print_the_documented_output() {
    if Command::new("git").arg("--version").output().is_err() {
        return skip("no git");
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("snapshots/docs_commands");
    settings.set_prepend_module_to_snapshot(false);
    let mut stale = Vec::new();
    let mut transcripts = BTreeMap::new();
    for path in pages() {
        let text = page(&path);
        let (transcript, refreshed) = played(&path, &text);
        if refreshed != text {
            if std::env::var_os("UPDATE_DOCS").is_some() {
                std::fs::write(root().join(&path), refreshed).expect("a page");
            } else {
                stale.push(path.clone());
            }
        }
        if !transcript.is_empty() {
            let name = path
                .trim_start_matches("docs/")
                .trim_end_matches(".md")
                .replace('/', "-");
            transcripts.insert(name, transcript);
        }
    }
    assert!(
        stale.is_empty(),
        "UPDATE_DOCS=1 cargo test --test it docs writes what is printed now: {stale:?}"
    );
    settings.bind(|| {
        for (name, transcript) in transcripts {
            insta::assert_snapshot!(name, transcript);
        }
    });
}

#[test]
fn every_documented_block_runs_or_says_why_not() {
    let mut run = 0;
    for path in pages() {
        let text = page(&path);
        for block in blocks(&text) {
            let place = format!("{path}:{}", block.first);
            if block.language == "console" {
                run += usize::from(block.not_run.is_none()) * commands(&block).len();
                continue;
            }
            assert!(
                DATA.contains(&block.language),
                "{place}: a command belongs into a block `console`, which is run; `{}`?",
                block.language
            );
            assert!(
                block.language != "text" || block.not_run.is_some(),
                "{place}: output belongs below its command in a block `console`; otherwise write `<!-- not run: REASON -->` before it"
            );
        }
    }
    assert!(run >= 60, "{run} commands");
    let shown = RULES.iter().map(|rule| format!("rules/{}.md", rule.id));
    let shown = shown.filter(|path| page(path).contains("```console"));
    let listed = SCENES_OF_RULES.map(|(page, _)| page.to_owned());
    assert_eq!(
        shown.collect::<BTreeSet<_>>(),
        BTreeSet::from(listed),
        "the pages of rules with commands, and their scenes"
    );
}

#[test]
fn documented_configurations_are_accepted() {
    let schema: serde_json::Value =
        serde_json::from_str(&ownerlint::report::schema("config").expect("a schema"))
            .expect("JSON");
    let keys = schema["properties"].as_object().expect("keys");
    let mut shown = 0;
    for path in pages() {
        let text = page(&path);
        for block in blocks(&text)
            .iter()
            .filter(|block| block.language == "yaml")
        {
            let yaml = block.lines.join("\n");
            let Ok(serde_yaml::Value::Mapping(mapping)) = serde_yaml::from_str(&yaml) else {
                continue;
            };
            if !mapping
                .keys()
                .all(|key| key.as_str().is_some_and(|key| keys.contains_key(key)))
            {
                continue;
            }
            shown += 1;
            let repository = Repository::new();
            let version = if mapping.contains_key("version") {
                ""
            } else {
                "version: 1\n"
            };
            repository.write("ownerlint.yaml", &format!("{version}{yaml}\n"));
            // Paths of bundles are checked first, so they must exist.
            let paths = mapping
                .get("bundles")
                .and_then(|bundles| bundles.as_mapping());
            for bundle in paths.into_iter().flat_map(|bundles| bundles.values()) {
                for path in bundle["paths"]
                    .as_sequence()
                    .into_iter()
                    .flatten()
                    .filter_map(|path| path.as_str())
                {
                    repository.write(
                        &format!("{path}/a.yaml"),
                        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
                    );
                }
            }
            repository.write(
                "b.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n",
            );
            let (status, _, error) = repository.run(&["list"], "");
            assert_eq!(status, 0, "{path}:{}: {error}", block.first);
        }
    }
    assert!(shown >= 6, "{shown} configurations");
}

#[test]
fn outdated_documented_output_is_detected() {
    let page = "<!-- scene: release -->\n\n```console\n$ ownerlint rules --output json | head -n 1\nnot this\n```\n";
    let (transcript, refreshed) = played("page", page);
    assert!(
        transcript.contains("ownerlint rules") && refreshed != page,
        "{refreshed}"
    );
    assert!(
        is_shown(&["a", "…", "d"], &["a", "b", "c", "d"])
            && !is_shown(&["a", "…", "e"], &["a", "b", "c", "d"])
    );
    assert_eq!(
        blocks("<!-- not run: no\n-->\n```text\n```\n")[0].not_run,
        None
    );
    assert_eq!(
        blocks("<!-- not run: as it is -->\n```text\n```\n")[0].not_run,
        Some("as it is")
    );
}

/// `.ci/run` calls the first two commands of the README.
#[test]
fn ci_runs_the_first_commands_of_the_readme() {
    let readme = page("README.md");
    let shown = blocks(&readme);
    let first: Vec<&str> = shown
        .iter()
        .filter(|block| block.language == "console")
        .flat_map(commands_of)
        .filter(|line| line.starts_with("cargo "))
        .collect();
    let steps = page(".ci/run");
    for command in ["run", "test"] {
        let found = first
            .iter()
            .find(|line| line.split_whitespace().nth(1) == Some(command));
        let found = found.unwrap_or_else(|| panic!("the README shows `cargo {command}`"));
        let step = found.replacen(
            &format!("cargo {command}"),
            &format!("step cargo {command} --locked"),
            1,
        );
        assert!(
            steps.lines().any(|line| line == step),
            "`.ci/run` has no line `{step}`"
        );
    }
}

fn commands_of<'b>(block: &Block<'b>) -> Vec<&'b str> {
    commands(block)
        .into_iter()
        .map(|(command, _)| command)
        .collect()
}

/// Breaks lines at `width` columns like a terminal. Escape sequences have no width.
fn broken_at(text: &str, width: usize) -> String {
    let (mut out, mut column, mut is_escape) = (String::new(), 0, false);
    for letter in text.chars() {
        match letter {
            '\n' => column = 0,
            '\u{1b}' => is_escape = true,
            _ if is_escape => is_escape = letter != 'm',
            _ if column == width => {
                out.push('\n');
                column = 1;
            }
            _ => column += 1,
        }
        out.push(letter);
    }
    out
}

/// The picture of the README shows the first command of the page about pull requests in a terminal.
#[test]
fn readme_picture_matches_terminal_output() {
    const PICTURE: &str = "docs/pictures/pull-request.svg";
    if Command::new("git").arg("--version").output().is_err() {
        return skip("no git");
    }
    let (printed, status) =
        Scene::new("pull-request").run("export FORCE_COLOR=1 COLUMNS=100; ownerlint diff");
    assert_eq!(status, 1, "{printed}");
    let text = format!("\u{1b}[1m$ ownerlint diff\u{1b}[0m\n{printed}");
    // The default dark blue is hard to read on black.
    let mut palette = anstyle_svg::WIN10_CONSOLE;
    palette.0[4] = palette.0[12];
    let svg = anstyle_svg::Term::new()
        .palette(palette)
        .render_svg(&broken_at(&text, 100));
    let file = root().join(PICTURE);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &svg).expect("a picture");
    }
    let written = std::fs::read_to_string(file)
        .unwrap_or_default()
        .replace("\r\n", "\n");
    assert!(
        written == svg,
        "{PICTURE} is stale: UPDATE_DOCS=1 cargo test --test it docs"
    );
}
