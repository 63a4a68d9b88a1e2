//! What the README says of the action, held against `action.yml`.

use std::collections::BTreeSet;

use serde_yaml::Value;

use super::runner::definition;
use crate::support::{readme, readme_blocks, root};

#[test]
fn the_tables_list_every_input_and_output_as_it_is_declared() {
    let (action, readme) = (definition(), readme());
    let cell = |text: &str| if text.is_empty() { String::new() } else { format!("`{text}`") };
    let mut rows = vec!["| input | default | |".to_owned(), "|---|---|---|".to_owned()];
    for (name, input) in action["inputs"].as_mapping().expect("inputs") {
        let default = cell(input["default"].as_str().expect("a default"));
        let (name, description) = (name.as_str().expect("a name"), input["description"].as_str().expect("a text"));
        rows.push(format!("| `{name}` | {default} | {description} |"));
    }
    rows.extend(["", "| output | |", "|---|---|"].map(str::to_owned));
    for (name, output) in action["outputs"].as_mapping().expect("outputs") {
        let (name, description) = (name.as_str().expect("a name"), output["description"].as_str().expect("a text"));
        rows.push(format!("| `{name}` | {description} |"));
    }
    let table = rows.join("\n") + "\n\n";
    assert!(readme.contains(&table), "the README needs this:\n{table}");
}

#[test]
fn example_workflows_use_what_exists_and_pin_what_they_use() {
    let workflows = readme_blocks(".github/workflows/ownerlint.yaml");
    assert_eq!(workflows.len(), 2);
    let action = definition();
    for workflow in workflows {
        assert_eq!(workflow["permissions"], Value::Mapping(serde_yaml::Mapping::new()), "a job asks for what it needs");
        let job = &workflow["jobs"]["ownerlint"];
        let mut inputs = serde_yaml::Mapping::new();
        for step in job["steps"].as_sequence().expect("steps") {
            let Some(uses) = step["uses"].as_str() else { continue };
            let (name, pin) = uses.split_once('@').expect("a pin");
            assert!(pin.len() == 40 && pin.bytes().all(|byte| byte.is_ascii_hexdigit()), "{uses}");
            if name == "ownerlint/ownerlint" {
                inputs = step["with"].as_mapping().expect("inputs").clone();
            }
        }
        let mut needed: BTreeSet<&str> = BTreeSet::from(["contents"]);
        for (name, value) in &inputs {
            assert!(value.is_string(), "an input is a text: {name:?}");
            assert!(!action["inputs"][name].is_null(), "there is no input {name:?}");
        }
        if inputs.get("comment").is_some_and(|comment| comment == "true") {
            needed.insert("pull-requests");
        }
        let text = serde_yaml::to_string(&workflow).expect("YAML");
        if text.contains("upload-sarif") {
            needed.insert("security-events");
        }
        let permissions = job["permissions"].as_mapping().expect("permissions");
        assert_eq!(permissions.keys().filter_map(Value::as_str).collect::<BTreeSet<_>>(), needed);
        for output in text.match_indices("steps.ownerlint.outputs.").map(|(at, prefix)| &text[at + prefix.len()..]) {
            let name: String = output.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
            assert!(!action["outputs"][name.as_str()].is_null(), "there is no output {name}");
        }
    }
}

#[test]
fn the_example_of_a_hook_names_hooks_that_exist() {
    let hooks = std::fs::read_to_string(root().join(".pre-commit-hooks.yaml")).expect("the hooks");
    let hooks: Vec<Value> = serde_yaml::from_str(&hooks).expect("YAML");
    let examples = readme_blocks(".pre-commit-config.yaml");
    assert_eq!(examples.len(), 2, "one for manifests, one that renders first: its own test runs it");
    let used = &examples[0]["repos"][0]["hooks"][0]["id"];
    assert!(hooks.iter().any(|hook| hook["id"] == *used), "{used:?}");
    for hook in hooks {
        assert!(readme().contains(&format!("`{}`", hook["id"].as_str().expect("an id"))));
    }
}
