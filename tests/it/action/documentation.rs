//! Checks that README and guide agree with `action.yml` and `.pre-commit-hooks.yaml`.

use std::collections::BTreeSet;

use serde_yaml::Value;

use super::runner::definition;
use crate::support::{blocks_of, page};

const ACTION: &str = "docs/guide/github-actions.md";
const HOOKS: &str = "docs/guide/pre-commit.md";

#[test]
fn guide_tables_list_every_declared_input_and_output() {
    let (action, guide) = (definition(), page(ACTION));
    let cell = |text: &str| {
        if text.is_empty() {
            String::new()
        } else {
            format!("`{text}`")
        }
    };
    let mut rows = vec![
        "| input | default | |".to_owned(),
        "|---|---|---|".to_owned(),
    ];
    for (name, input) in action["inputs"].as_mapping().expect("inputs") {
        let default = cell(input["default"].as_str().expect("a default"));
        let (name, description) = (
            name.as_str().expect("a name"),
            input["description"].as_str().expect("a text"),
        );
        rows.push(format!("| `{name}` | {default} | {description} |"));
    }
    rows.extend(["", "| output | |", "|---|---|"].map(str::to_owned));
    for (name, output) in action["outputs"].as_mapping().expect("outputs") {
        let (name, description) = (
            name.as_str().expect("a name"),
            output["description"].as_str().expect("a text"),
        );
        rows.push(format!("| `{name}` | {description} |"));
    }
    let table = rows.join("\n") + "\n\n";
    assert!(guide.contains(&table), "the page needs this:\n{table}");
}

#[test]
fn example_workflows_pin_actions_and_use_declared_names() {
    let workflows = blocks_of(&page(ACTION), ".github/workflows/ownerlint.yaml");
    assert_eq!(workflows.len(), 3);
    let action = definition();
    for workflow in workflows {
        assert_eq!(
            workflow["permissions"],
            Value::Mapping(serde_yaml::Mapping::new()),
            "a job asks for what it needs"
        );
        let job = &workflow["jobs"]["ownerlint"];
        let mut inputs = serde_yaml::Mapping::new();
        for step in job["steps"].as_sequence().expect("steps") {
            let Some(uses) = step["uses"].as_str() else {
                continue;
            };
            let (name, pin) = uses.split_once('@').expect("a pin");
            assert!(
                pin.len() == 40 && pin.bytes().all(|byte| byte.is_ascii_hexdigit()),
                "{uses}"
            );
            if name == "ownerlint/ownerlint" {
                inputs = step["with"].as_mapping().expect("inputs").clone();
            }
        }
        let mut needed: BTreeSet<&str> = BTreeSet::from(["contents"]);
        for (name, value) in &inputs {
            assert!(value.is_string(), "an input is a text: {name:?}");
            assert!(
                !action["inputs"][name].is_null(),
                "there is no input {name:?}"
            );
        }
        if inputs
            .get("comment")
            .is_some_and(|comment| comment == "true")
        {
            needed.insert("pull-requests");
        }
        let text = serde_yaml::to_string(&workflow).expect("YAML");
        if text.contains("upload-sarif") {
            needed.insert("security-events");
        }
        let permissions = job["permissions"].as_mapping().expect("permissions");
        assert_eq!(
            permissions
                .keys()
                .filter_map(Value::as_str)
                .collect::<BTreeSet<_>>(),
            needed
        );
        for output in text
            .match_indices("steps.ownerlint.outputs.")
            .map(|(at, prefix)| &text[at + prefix.len()..])
        {
            let name: String = output
                .chars()
                .take_while(|c| c.is_ascii_lowercase() || *c == '-')
                .collect();
            assert!(
                !action["outputs"][name.as_str()].is_null(),
                "there is no output {name}"
            );
        }
    }
}

#[test]
fn pre_commit_guide_names_every_existing_hook() {
    let hooks: Vec<Value> = serde_yaml::from_str(&page(".pre-commit-hooks.yaml")).expect("YAML");
    let guide = page(HOOKS);
    let examples = blocks_of(&guide, ".pre-commit-config.yaml");
    assert_eq!(
        examples.len(),
        2,
        "one for manifests, one that renders first: its own test runs it"
    );
    let used = &examples[0]["repos"][0]["hooks"][0]["id"];
    assert!(hooks.iter().any(|hook| hook["id"] == *used), "{used:?}");
    for hook in hooks {
        assert!(guide.contains(&format!("`{}`", hook["id"].as_str().expect("an id"))));
    }
}

/// Returns the first YAML block of a page that contains a word.
fn block(path: &str, word: &str) -> Value {
    let page = page(path);
    let mut blocks = page
        .split("```yaml\n")
        .skip(1)
        .filter_map(|block| block.split("\n```").next());
    let block = blocks
        .find(|block| block.contains(word))
        .expect("a block of YAML");
    serde_yaml::from_str(block).expect("YAML")
}

#[test]
fn readme_and_quick_start_use_existing_inputs() {
    for path in ["README.md", "docs/start/pull-request.md"] {
        let steps = block(path, "uses: ownerlint/ownerlint@");
        let steps = steps.as_sequence().expect("steps");
        let own = steps.iter().find(|step| {
            step["uses"]
                .as_str()
                .is_some_and(|uses| uses.starts_with("ownerlint/"))
        });
        let inputs = own.expect("a step")["with"].as_mapping().expect("inputs");
        assert!(
            inputs
                .keys()
                .all(|name| !definition()["inputs"][name].is_null()),
            "{path}: {inputs:?}"
        );
    }
}
