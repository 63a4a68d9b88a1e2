//! A fake of the part of GitHub's runner that a composite action needs: steps in order, `env`, `if`, the expressions of
//! `action.yml`, the files behind `GITHUB_OUTPUT` and `GITHUB_STEP_SUMMARY`, and commands in the log.
//!
//! It panics at anything unknown in `action.yml`, so that no part is silently skipped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_yaml::Value;

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    /// The ids of the steps, in order, with their status; `None` for a skipped step.
    pub(crate) steps: Vec<(String, Option<i32>)>,
    pub(crate) outputs: BTreeMap<String, String>,
    pub(crate) summary: String,
    /// Standard output and standard error of all steps.
    pub(crate) log: String,
    /// The log commands that the runner executes.
    pub(crate) commands: Vec<LogCommand>,
}

impl Run {
    pub(crate) fn succeeded(&self) -> bool {
        self.steps
            .iter()
            .filter_map(|(_, status)| *status)
            .all(|status| status == 0)
    }

    /// Returns the status of a step; `None` if it was skipped.
    pub(crate) fn status(&self, step: &str) -> Option<i32> {
        self.steps
            .iter()
            .find(|(id, _)| id == step)
            .unwrap_or_else(|| panic!("no step {step}: {self:#?}"))
            .1
    }

    /// Returns the steps that were run, in order.
    pub(crate) fn ran(&self) -> Vec<&str> {
        self.steps
            .iter()
            .filter(|(_, status)| status.is_some())
            .map(|(id, _)| id.as_str())
            .collect()
    }

    pub(crate) fn output(&self, name: &str) -> &str {
        self.outputs
            .get(name)
            .unwrap_or_else(|| panic!("no output {name}: {self:#?}"))
    }

    /// Returns annotations as `error path` or `warning`, in the order of the log.
    pub(crate) fn annotations(&self) -> Vec<String> {
        let annotations =
            self.commands
                .iter()
                .map(|command| match command.properties.get("file") {
                    Some(file) => format!("{} {file}", command.name),
                    None => command.name.clone(),
                });
        annotations.collect()
    }
}

/// A log command `::name key=value,…::data`, unescaped.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LogCommand {
    pub(crate) name: String,
    pub(crate) properties: BTreeMap<String, String>,
    pub(crate) data: String,
}

/// A job with the action as its only step.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    /// The checkout of the repository to check.
    pub(crate) workspace: PathBuf,
    /// The folder for everything else; one per job.
    pub(crate) temp: PathBuf,
    pub(crate) inputs: BTreeMap<String, String>,
    pub(crate) event_name: String,
    pub(crate) event: serde_json::Value,
    pub(crate) sha: String,
    /// Additional environment variables.
    pub(crate) environment: BTreeMap<String, String>,
}

/// Reads the repository's `action.yml`.
pub(crate) fn definition() -> Value {
    let text =
        std::fs::read_to_string(crate::support::root().join("action.yml")).expect("action.yml");
    serde_yaml::from_str(&text).expect("YAML")
}

/// Restores or saves a cache of one file, unless it exists.
fn restore(from: &Path, to: &Path) {
    if from.is_file() && !to.exists() {
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        std::fs::copy(from, to).expect("a file");
    }
}

impl Job {
    pub(crate) fn with(mut self, input: &str, value: &str) -> Self {
        self.inputs.insert(input.to_owned(), value.to_owned());
        self
    }

    /// Runs the steps of `action.yml`.
    pub(crate) fn run(&self) -> Run {
        let action = definition();
        assert_eq!(action["runs"]["using"], "composite");
        let mut contexts = self.contexts(&action);
        let mut run = Run {
            steps: Vec::new(),
            outputs: BTreeMap::new(),
            summary: String::new(),
            log: String::new(),
            commands: Vec::new(),
        };
        let files = self.temp.join("runner");
        std::fs::create_dir_all(&files).expect("a folder");
        let mut cached = None;
        let steps = action["runs"]["steps"].as_sequence().expect("steps");
        for (at, step) in steps.iter().enumerate() {
            for key in step.as_mapping().expect("a step").keys() {
                let key = key.as_str().expect("a key");
                assert!(
                    ["id", "name", "shell", "if", "env", "run", "uses", "with"].contains(&key),
                    "the runner knows no `{key}`"
                );
            }
            let id = step["id"]
                .as_str()
                .expect("every step has an id")
                .to_owned();
            if !wanted(
                step["if"].as_str().unwrap_or_default(),
                run.succeeded(),
                &contexts,
            ) {
                run.steps.push((id, None));
                continue;
            }
            if let Some(uses) = step["uses"].as_str() {
                let (name, commit) = uses.split_once('@').expect("a pin");
                assert_eq!(
                    (name, commit.len()),
                    ("actions/cache", 40),
                    "the runner knows no other"
                );
                let with =
                    |key: &str| interpolated(step["with"][key].as_str().expect("text"), &contexts);
                let entry = (
                    PathBuf::from(with("path")),
                    self.temp.join("cache").join(with("key")),
                );
                restore(&entry.1, &entry.0);
                cached = Some(entry);
                run.steps.push((id, Some(0)));
                continue;
            }
            let file = |name: &str| {
                let path = files.join(format!("{at}-{name}"));
                std::fs::write(&path, "").expect("a file");
                path
            };
            let (outputs, summary, variables) = (file("output"), file("summary"), file("env"));
            let script = files.join(format!("{at}.sh"));
            std::fs::write(&script, step["run"].as_str().expect("a script")).expect("a file");
            assert!(
                !step["run"].as_str().unwrap_or_default().contains("${{"),
                "no expression inside of a script"
            );
            assert_eq!(step["shell"], "bash");
            let mut command = self.command(&script);
            command
                .env("GITHUB_OUTPUT", &outputs)
                .env("GITHUB_STEP_SUMMARY", &summary)
                .env("GITHUB_ENV", &variables);
            if let Some(env) = step["env"].as_mapping() {
                for (key, value) in env {
                    let value = interpolated(value.as_str().expect("text"), &contexts);
                    command.env(key.as_str().expect("a name"), value);
                }
            }
            let output = command.stdin(Stdio::null()).output().expect("bash runs");
            let status = output.status.code().expect("a status");
            let outcome = if status == 0 { "success" } else { "failure" };
            contexts.insert(format!("steps.{id}.outcome"), outcome.to_owned());
            let log = [output.stdout, output.stderr]
                .map(|text| String::from_utf8_lossy(&text).into_owned())
                .concat();
            run.commands.extend(commands(&log));
            run.log.push_str(&log);
            run.summary
                .push_str(&std::fs::read_to_string(&summary).expect("text"));
            assert_eq!(
                std::fs::read_to_string(&variables).expect("text"),
                "",
                "no step sets variables"
            );
            for (key, value) in key_values(&std::fs::read_to_string(&outputs).expect("text")) {
                contexts.insert(format!("steps.{id}.outputs.{key}"), value);
            }
            run.steps.push((id, Some(status)));
        }
        if let Some((path, entry)) = cached.filter(|_| run.succeeded()) {
            restore(&path, &entry);
        }
        for (name, output) in action["outputs"].as_mapping().expect("outputs") {
            let value = interpolated(output["value"].as_str().expect("text"), &contexts);
            run.outputs
                .insert(name.as_str().expect("a name").to_owned(), value);
        }
        run
    }

    /// Runs another step of the job before the action, and returns its output.
    pub(crate) fn before(&self, script: &str) -> String {
        let files = self.temp.join("runner");
        std::fs::create_dir_all(&files).expect("a folder");
        let path = files.join("before.sh");
        std::fs::write(&path, script).expect("a file");
        let output = self.command(&path).output().expect("bash runs");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{said}");
        said
    }

    /// Returns the names that expressions may use, with their values.
    fn contexts(&self, action: &Value) -> BTreeMap<String, String> {
        let mut contexts = BTreeMap::from([
            ("github.token".to_owned(), "the-token".to_owned()),
            ("github.event_name".to_owned(), self.event_name.clone()),
            ("runner.os".to_owned(), "Linux".to_owned()),
            ("runner.arch".to_owned(), "X64".to_owned()),
            (
                "runner.temp".to_owned(),
                self.temp.join("runner").to_string_lossy().into_owned(),
            ),
        ]);
        let inputs = action["inputs"].as_mapping().expect("inputs");
        for (name, input) in inputs {
            let name = name.as_str().expect("a name");
            let default = interpolated(
                input["default"]
                    .as_str()
                    .expect("every input has a default"),
                &contexts,
            );
            let value = self.inputs.get(name).cloned().unwrap_or(default);
            contexts.insert(format!("inputs.{name}"), value);
        }
        for name in self.inputs.keys() {
            assert!(
                inputs.contains_key(name.as_str()),
                "there is no input `{name}`"
            );
        }
        contexts
    }

    fn command(&self, script: &Path) -> Command {
        let event = self.temp.join("event.json");
        std::fs::write(&event, self.event.to_string()).expect("a file");
        let mut command = Command::new("bash");
        command
            .args(["--noprofile", "--norc", "-e", "-o", "pipefail"])
            .arg(script);
        command.current_dir(&self.workspace).env_clear();
        let path = std::env::var("PATH").unwrap_or_default();
        command.env(
            "PATH",
            format!("{}:{path}", self.temp.join("bin").display()),
        );
        command
            .env("HOME", self.temp.join("home"))
            .env("RUNNER_TEMP", self.temp.join("runner"));
        command
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("LANG", "C.UTF-8");
        command
            .env("GITHUB_ACTION_PATH", crate::support::root())
            .env("GITHUB_WORKSPACE", &self.workspace);
        command
            .env("GITHUB_EVENT_NAME", &self.event_name)
            .env("GITHUB_EVENT_PATH", &event);
        command
            .env("GITHUB_SHA", &self.sha)
            .env("GITHUB_REPOSITORY", "shop/deploy");
        command
            .env("GITHUB_RUN_ID", "42")
            .env("GITHUB_SERVER_URL", "https://github.example")
            .env("GITHUB_ACTIONS", "true")
            .env("CI", "true");
        command.envs(&self.environment);
        command
    }
}

/// Replaces each `${{ … }}` in a text.
fn interpolated(text: &str, contexts: &BTreeMap<String, String>) -> String {
    let mut parts = text.split("${{");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (expression, rest) = part.split_once("}}").expect("an expression ends");
        out.push_str(&value(expression, contexts));
        out.push_str(rest);
    }
    out
}

/// Evaluates `inputs.a`, `steps.a.outputs.b`, `github.a` or `'text'`, or the first of several joined by `||` that is
/// not empty. An output that was never set is empty.
fn value(expression: &str, contexts: &BTreeMap<String, String>) -> String {
    let expression = expression.trim();
    if let Some((first, rest)) = expression.split_once("||") {
        return Some(value(first, contexts))
            .filter(|value| !value.is_empty())
            .unwrap_or_else(|| value(rest, contexts));
    }
    if let Some(text) = expression
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''))
    {
        return text.to_owned();
    }
    match contexts.get(expression) {
        Some(value) => value.clone(),
        None if expression.starts_with("steps.") => String::new(),
        None => panic!("the runner knows no `{expression}`"),
    }
}

/// Whether a step runs. After a failure, only steps whose condition asks for it run.
fn wanted(condition: &str, succeeded: bool, contexts: &BTreeMap<String, String>) -> bool {
    let condition = condition
        .strip_prefix("${{")
        .and_then(|rest| rest.strip_suffix("}}"))
        .unwrap_or(condition)
        .trim();
    match condition.strip_prefix("!cancelled() && ") {
        Some(rest) => holds(rest, contexts),
        None => succeeded && (condition.is_empty() || holds(condition, contexts)),
    }
}

/// Evaluates `a == b` and `startsWith(a, b)`, joined by `&&`. Both ignore case, as on GitHub.
fn holds(condition: &str, contexts: &BTreeMap<String, String>) -> bool {
    condition.split("&&").map(str::trim).all(|term| {
        let value = |side: &str| value(side, contexts).to_lowercase();
        if let Some(arguments) = term
            .strip_prefix("startsWith(")
            .and_then(|term| term.strip_suffix(')'))
        {
            let (text, start) = arguments.split_once(',').expect("two arguments");
            return value(text).starts_with(&value(start));
        }
        let (left, right) = term
            .split_once("==")
            .unwrap_or_else(|| panic!("the runner knows no `{term}`"));
        value(left) == value(right)
    })
}

/// Parses a `GITHUB_OUTPUT` file: `key=value`, or `key<<END`, lines, `END`.
pub(super) fn key_values(text: &str) -> Vec<(String, String)> {
    let mut lines = text.lines();
    let mut pairs = Vec::new();
    while let Some(line) = lines.next() {
        match (line.find('='), line.find("<<")) {
            (equals, Some(here)) if equals.is_none_or(|equals| here < equals) => {
                let end = &line[here + 2..];
                let value: Vec<&str> = lines.by_ref().take_while(|line| *line != end).collect();
                pairs.push((line[..here].to_owned(), value.join("\n")));
            }
            (Some(equals), _) => {
                pairs.push((line[..equals].to_owned(), line[equals + 1..].to_owned()));
            }
            _ => panic!("neither `key=value` nor `key<<END`: {line}"),
        }
    }
    pairs
}

/// Parses the commands of a log like `actions/runner`: `::name::` after white space at the start of a line, `##[name]`
/// anywhere, and nothing between `::stop-commands::token` and `::token::`.
pub(super) fn commands(log: &str) -> Vec<LogCommand> {
    let mut commands = Vec::new();
    let mut stopped: Option<String> = None;
    for line in log.split(['\n', '\r']) {
        let line = line.trim_start();
        if let Some(token) = &stopped {
            if line == format!("::{token}::") {
                stopped = None;
            }
            continue;
        }
        let Some(command) = command(line) else {
            continue;
        };
        match command.name.as_str() {
            "stop-commands" => stopped = Some(command.data),
            _ => commands.push(command),
        }
    }
    assert_eq!(stopped, None, "commands were stopped for ever");
    commands
}

fn command(line: &str) -> Option<LogCommand> {
    let Some((head, data)) = line
        .strip_prefix("::")
        .and_then(|rest| rest.split_once("::"))
    else {
        let (_, old) = line.split_once("##[")?;
        let (name, data) = old.split_once(']')?;
        return Some(LogCommand {
            name: format!("##[{name}]"),
            properties: BTreeMap::new(),
            data: data.to_owned(),
        });
    };
    let (name, properties) = head.split_once(' ').unwrap_or((head, ""));
    let unescaped = |text: &str| {
        let text = text
            .replace("%0D", "\r")
            .replace("%0A", "\n")
            .replace("%3A", ":")
            .replace("%2C", ",");
        text.replace("%25", "%")
    };
    let properties = properties
        .split(',')
        .filter_map(|property| property.split_once('='));
    Some(LogCommand {
        name: name.to_owned(),
        properties: properties
            .map(|(key, value)| (key.to_owned(), unescaped(value)))
            .collect(),
        data: unescaped(data),
    })
}

#[test]
fn fake_runner_parses_workflow_commands() {
    let log = "x ::error::a\n  ::error file=a%2Cb,line=1::c%0Ad\nb ##[warning]e\n::stop-commands::t\n::error::f\n::t::\n";
    let found = commands(log);
    let names: Vec<_> = found
        .iter()
        .map(|command| (command.name.as_str(), command.data.as_str()))
        .collect();
    assert_eq!(names, [("error", "c\nd"), ("##[warning]", "e")]);
    assert_eq!(found[0].properties["file"], "a,b");
    assert_eq!(key_values("a=b<<c\nd<<E\n1\nx=y\nE\n").len(), 2);
}
