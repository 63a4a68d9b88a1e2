//! Every crate in `Cargo.lock` was reviewed: `supply-chain/record.tsv` lists it with its version.

use std::collections::BTreeSet;

use crate::support::root;

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The packages of this repository.
const OURS: [&str; 4] = ["kube-gc", "kube-yaml", "ownerlint", "xtask"];

/// Returns `name version` of each other package in the lock file, and its source.
fn locked() -> Vec<(String, Option<String>)> {
    let lock = read("Cargo.lock");
    let packages = lock.split("[[package]]").skip(1);
    let field = |package: &str, name: &str| {
        let line = package
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name} = \"")))?;
        Some(line.trim_end_matches('"').to_owned())
    };
    let named = |package: &str| {
        let (name, version) = (field(package, "name")?, field(package, "version")?);
        Some((
            format!("{name} {version}"),
            field(package, "source")
                .zip(field(package, "checksum"))
                .map(|(source, _)| source),
        ))
    };
    packages
        .filter_map(named)
        .filter(|(name, _)| !OURS.contains(&name.split(' ').next().unwrap_or_default()))
        .collect()
}

#[test]
fn supply_chain_record_lists_exactly_the_locked_crates() {
    let recorded: BTreeSet<String> = read("supply-chain/record.tsv")
        .lines()
        .skip(1)
        .map(|line| line.split('\t').take(2).collect::<Vec<_>>().join(" "))
        .collect();
    let locked: BTreeSet<String> = locked().into_iter().map(|(name, _)| name).collect();
    let missing: Vec<_> = locked.difference(&recorded).collect();
    let gone: Vec<_> = recorded.difference(&locked).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "look at them and record them: {missing:?}; remove: {gone:?}"
    );
}

#[test]
fn every_crate_comes_from_one_registry() {
    let sources: BTreeSet<Option<String>> =
        locked().into_iter().map(|(_, source)| source).collect();
    let is_registry = |source: &Option<String>| {
        source
            .as_deref()
            .is_some_and(|source| source.starts_with("registry+"))
    };
    assert!(
        sources.len() == 1 && sources.iter().all(is_registry),
        "{sources:?}"
    );
}

/// Returns every `uses:` of a YAML text: `action@commit # version`.
fn used(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        line.trim_start()
            .trim_start_matches("- ")
            .strip_prefix("uses: ")
    })
}

#[test]
fn actions_are_pinned_to_recorded_commits() {
    let recorded: BTreeSet<String> = read("supply-chain/actions.tsv")
        .lines()
        .skip(1)
        .map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
            [action, version, commit] => format!("{action}@{commit} # {version}"),
            _ => panic!("three columns: {line}"),
        })
        .collect();
    let folder = root().join(".github/workflows");
    let workflows = std::fs::read_dir(folder)
        .expect("workflows")
        .map(|entry| entry.expect("an entry").path());
    let files = workflows
        .chain(["action.yml", "docs/guide/github-actions.md"].map(|path| root().join(path)));
    let mut pinned = BTreeSet::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a file");
        pinned.extend(
            used(&text)
                .filter(|used| !used.starts_with("ownerlint/ownerlint@"))
                .map(str::to_owned),
        );
    }
    assert_eq!(
        pinned, recorded,
        "look the commit of the version up and record it"
    );
}

/// Returns the jobs of the release workflow.
fn release_jobs() -> serde_yaml::Mapping {
    let workflow: serde_yaml::Value =
        serde_yaml::from_str(&read(".github/workflows/release.yaml")).expect("YAML");
    workflow["jobs"].as_mapping().expect("jobs").clone()
}

#[test]
fn release_job_with_id_token_runs_no_build() {
    let mut with_identity = Vec::new();
    for (name, job) in &release_jobs() {
        if job["permissions"]["id-token"].is_null() {
            continue;
        }
        assert_eq!(job["environment"], "release", "{name:?}");
        for step in job["steps"].as_sequence().expect("steps") {
            let run = step["run"].as_str().unwrap_or_default();
            for tool in [
                "cargo ", "npm ci", "npm run", "npm pack", "npx ", "pipx ", "pip ",
            ] {
                assert!(!run.contains(tool), "{name:?}: {run}");
            }
        }
        with_identity.push(name.as_str().expect("a name").to_owned());
    }
    assert_eq!(with_identity, ["publish"]);
}

#[test]
fn release_tools_are_pinned_to_versions() {
    let text = read(".github/workflows/release.yaml");
    for line in text.lines().map(str::trim) {
        for (tool, pins) in [
            ("cargo install ", &["@"][..]),
            ("pipx install ", &["$MATURIN"]),
            ("pipx run ", &["$MATURIN"]),
            ("pipx inject ", &["$ZIG"]),
            ("npm install ", &["$NPM_CLIENT"]),
        ] {
            assert!(
                !line.contains(tool) || pins.iter().any(|pin| line.contains(pin)),
                "{line}"
            );
        }
    }
    for pin in ["MATURIN: maturin==", "ZIG: ziglang==", "NPM_CLIENT: npm@"] {
        let version = text.split(pin).nth(1).expect("a pin");
        assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{pin}");
    }
}

#[test]
#[cfg(unix)]
fn release_of_commit_off_main_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.com",
            "-c",
            "commit.gpgsign=false",
        ]);
        assert!(
            command
                .args(arguments)
                .current_dir(folder.path())
                .status()
                .expect("git runs")
                .success(),
            "{arguments:?}"
        );
    };
    let on_main = || {
        let script = root().join(".github/release/on-main.sh");
        std::process::Command::new(script)
            .current_dir(folder.path())
            .output()
            .expect("it runs")
            .status
            .success()
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "released"]);
    assert!(!on_main(), "there is no main to be on");
    git(&["commit", "-q", "--allow-empty", "-m", "later"]);
    git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    git(&["checkout", "-q", "HEAD~"]);
    assert!(on_main());
    git(&["commit", "-q", "--allow-empty", "-m", "aside"]);
    assert!(!on_main());
    let ready = &release_jobs()["ready"];
    let steps = ready["steps"].as_sequence().expect("steps");
    assert!(
        steps
            .iter()
            .any(|step| step["run"] == ".github/release/on-main.sh"),
        "it is asked before anything is built"
    );
    assert_eq!(
        steps[0]["with"]["fetch-depth"], 0,
        "with the history of main"
    );
}

#[test]
#[cfg(unix)]
fn release_flags_remap_paths_of_the_build_machine() {
    let workflow = read(".github/workflows/release.yaml");
    let (flags, build) = (
        workflow.find("RUSTFLAGS=$(.github/release/flags.sh)"),
        workflow.find("maturin build"),
    );
    assert!(
        flags.is_some() && flags < build,
        "the flags are set before the build"
    );
    let mut command = std::process::Command::new(root().join(".github/release/flags.sh"));
    let output = command
        .env("CARGO_HOME", "/somewhere/cargo")
        .output()
        .expect("it runs");
    let checkout = root().canonicalize().expect("a folder");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        format!(
            "--remap-path-prefix=/somewhere/cargo=/cargo --remap-path-prefix={}=/ownerlint",
            checkout.display()
        )
    );
}

/// Whether the licence expression of a crate can be met with `allowed` licences.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let expression = expression.replace('/', " OR ");
    expression.split(" AND ").all(|part| {
        part.trim_matches(['(', ')'])
            .split(" OR ")
            .any(|one| allowed.contains(&one))
    })
}

#[test]
fn every_licence_is_allowed_by_deny_toml() {
    let deny = read("deny.toml");
    let list = deny
        .split_once("allow = [")
        .and_then(|(_, rest)| rest.split_once(']'))
        .expect("a list")
        .0;
    let allowed: Vec<&str> = list
        .split(',')
        .map(|licence| licence.trim().trim_matches('"'))
        .collect();
    let record = read("supply-chain/record.tsv");
    let crates: Vec<Vec<&str>> = record
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect())
        .collect();
    let others: Vec<_> = crates
        .iter()
        .filter(|columns| !is_allowed(columns[3], &allowed))
        .collect();
    assert!(crates.len() > 100 && others.is_empty(), "{others:?}");
    assert!(!is_allowed("MIT AND GPL-3.0", &allowed) && !is_allowed("LGPL-2.1-or-later", &allowed));
}

#[test]
fn lock_file_has_no_crate_banned_by_deny_toml() {
    let deny = read("deny.toml");
    let banned: Vec<&str> = deny
        .split("{ crate = \"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let found: Vec<_> = locked()
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| {
            banned
                .iter()
                .any(|banned| name.split(' ').next() == Some(banned))
        })
        .collect();
    assert!(banned.contains(&"reqwest") && found.is_empty(), "{found:?}");
}
