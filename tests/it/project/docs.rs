//! `docs/` is generated from the rule pages, the schemas and the README; `rules/schema/` from the types of the
//! documents.
//!
//! With `UPDATE_DOCS=1`, `cargo test --test it docs` writes them; without the variable, an outdated page fails.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use ownerlint::finding::{Applicability, Consequence, Severity};
use ownerlint::report::{Format, SCHEMAS, schema};
use ownerlint::rules::{Page, RULES, Rule, Subject};
use serde_json::Value;

use crate::support::{Repository, ownerlint, root};

/// A part of the table of contents: its title, and for each page the title and the path in `docs/`.
type Part = (&'static str, &'static [(&'static str, &'static str)]);

/// The pages in reading order. A page without a path is not written yet.
const PARTS: [Part; 5] = [
    (
        "Start here",
        &[
            ("A pull request", "start/pull-request.md"),
            ("Rendered manifests", "start/rendered.md"),
            ("A deletion", "start/deletion.md"),
            ("A Flux or Argo CD repository", "start/gitops.md"),
            ("An editor", "editors/README.md"),
        ],
    ),
    (
        "How it decides",
        &[
            ("How it decides", "guide/how-it-decides.md"),
            (
                "What is pruned, what stays and what gets stuck",
                "guide/what-stays.md",
            ),
            ("Rules", "rules/README.md"),
            ("Known operators", "operators.md"),
        ],
    ),
    (
        "Use it",
        &[
            ("Changes: what merging deletes", "guide/diff.md"),
            ("Plans: what a deletion does", "guide/plan.md"),
            ("Interactive HTML page", "guide/html.md"),
            ("Fixes", "guide/fixes.md"),
            ("Existing findings", "guide/adopt.md"),
            ("GitHub Actions", "guide/github-actions.md"),
            ("GitLab", "guide/gitlab.md"),
            ("pre-commit", "guide/pre-commit.md"),
            ("Helm", "guide/helm.md"),
            ("Argo CD", "guide/argocd.md"),
            ("Flux", "guide/flux.md"),
            ("kubectl and Kustomize", "guide/kubectl.md"),
        ],
    ),
    (
        "Reference",
        &[
            ("Configuration, JSON, exit status", "README.md"),
            ("Configuration explained", "guide/configuration.md"),
            ("Commands and options", "commands.md"),
            ("The library", "guide/library.md"),
        ],
    ),
    (
        "About",
        &[
            ("Comparison", "guide/comparison.md"),
            ("Architecture", "guide/architecture.md"),
            ("Security", "security.md"),
            ("Hostile inputs", "guide/hostile-inputs.md"),
        ],
    ),
];

/// The pages about editors.
const EDITORS: [(&str, &str); 6] = [
    ("The language server", "lsp"),
    ("VS Code", "vscode"),
    ("Neovim", "neovim"),
    ("Helix", "helix"),
    ("Emacs", "emacs"),
    ("Zed", "zed"),
];

/// The addresses at which files of the repository are shown, and those of their raw content.
const SHOWN: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main");
const RAW: &str = "https://raw.githubusercontent.com/ownerlint/ownerlint/main";

/// Describes the reaction of the cluster in words.
fn words(consequence: Consequence) -> &'static str {
    match consequence {
        Consequence::Rejected => "the API server rejects the object",
        Consequence::RejectedStrict => {
            "kubectl rejects the object, other clients silently drop the field"
        }
        Consequence::Warned => "the API server accepts it with a warning",
        Consequence::Collected => "the cluster deletes an object unexpectedly",
        Consequence::NeverCollected => {
            "the garbage collector never deletes the object although its owner is gone"
        }
        Consequence::Stuck => "a deletion never finishes",
        Consequence::Lost => "part of the input never reaches the cluster",
        Consequence::Orphaned => "dependents outlive their owner",
        Consequence::Ignored => "what is written has no effect",
        Consequence::Style => "works, but should be tidied up",
        other => panic!("no words for {other:?}"),
    }
}

/// Returns the subjects, each with its rules in the order of the registry.
fn subjects() -> Vec<(&'static str, Vec<&'static Rule>)> {
    let of = |subject: Subject| {
        let rules = RULES.iter().copied();
        let rules = rules.filter(move |rule| rule.subject == subject);
        (subject.title(), rules.collect())
    };
    Subject::ALL.into_iter().map(of).collect()
}

fn generated_from(source: &str) -> String {
    format!("<!-- Generated from {source}: UPDATE_DOCS=1 cargo test --test it docs -->\n\n")
}

fn link(rule: &Rule) -> String {
    format!("[{0}]({0}.md)", rule.id)
}

fn joined(rules: &[&Rule]) -> String {
    rules
        .iter()
        .map(|rule| link(rule))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns the rules to which a page links.
fn mentions(rule: &Rule) -> BTreeSet<&'static str> {
    RULES
        .iter()
        .filter(|other| rule.page.contains(&format!("]({}.md)", other.id)))
        .map(|other| other.id)
        .collect()
}

/// Returns the page of the rule at `at`, for browsers.
fn rule_page(at: usize) -> String {
    let rule = RULES[at];
    let page = Page::parse(rule.page).expect("rules.rs tests it");
    let front = &page.front_matter;
    let mut out = generated_from(&format!("rules/{}.md", rule.id));
    let body = page
        .body
        .strip_prefix(&format!("# {}\n\n", rule.id))
        .expect("a page begins with its title");
    out.push_str(&format!(
        "[ownerlint](../README.md) / [rules](README.md) / {}\n\n# {0}\n\n{}.\n\n",
        rule.id, rule.summary
    ));
    out.push_str(&format!(
        "**{}** · **{}**: {} · since {}{}\n\n",
        front.severity,
        front.consequence,
        words(rule.consequence),
        front.since,
        match front.fixes().as_slice() {
            [] => "",
            [Applicability::Safe] => " · fixed by `--fix`",
            [Applicability::Suggested] => " · fixed by `--fix --suggested`",
            _ => " · fixed by `--fix`, or by `--fix --suggested` where the fix has an effect in the cluster",
        }
    ));
    out.push_str(&body_for_browsers(rule, body));

    let (own, cited) = (mentions(rule), |other: &Rule| {
        mentions(other).contains(rule.id)
    });
    let others = RULES.iter().copied().filter(|other| other.id != rule.id);
    let related: Vec<_> = others
        .filter(|other| own.contains(other.id) || cited(other))
        .collect();
    let subject = subjects()
        .into_iter()
        .find(|(_, rules)| rules.iter().any(|other| other.id == rule.id));
    let (subject, rules) = subject.expect("every rule has one");
    let rules: Vec<_> = rules
        .into_iter()
        .filter(|other| other.id != rule.id)
        .collect();
    out.push_str("\n---\n\n");
    if !related.is_empty() {
        out.push_str(&format!("Related: {}\n\n", joined(&related)));
    }
    out.push_str(&format!("{subject}: {}\n\n", joined(&rules)));
    let neighbour = |at: Option<usize>| at.and_then(|at| RULES.get(at));
    let before = neighbour(at.checked_sub(1)).map(|rule| format!("← {}", link(rule)));
    let after = neighbour(Some(at + 1)).map(|rule| format!("{} →", link(rule)));
    let index = Some("[all rules](README.md)".to_owned());
    out.push_str("[How to suppress a finding](../guide/adopt.md#suppress-a-finding)\n\n");
    out.push_str(&format!(
        "{}\n",
        [before, index, after]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" · ")
    ));
    out
}

/// Replaces the info strings and marks of examples, which the tests read, by words.
fn body_for_browsers(rule: &Rule, body: &str) -> String {
    let mut out = String::new();
    for line in body.lines() {
        match line {
            "```yaml bad" => out.push_str("Flagged on the lines with an arrow:\n\n```yaml"),
            "```yaml good" => out.push_str("Not flagged:\n\n```yaml"),
            "```diff bad" => out.push_str("Flagged on the lines with an arrow:\n\n```diff"),
            "```diff good" => out.push_str("Not flagged:\n\n```diff"),
            _ => {
                assert!(
                    !line.starts_with("```yaml"),
                    "{}: an example that nothing describes: {line}",
                    rule.id
                );
                out.push_str(&line.replace("# expect:", "# ←"));
            }
        }
        out.push('\n');
    }
    out
}

fn by_consequence(folder: &str) -> String {
    let mut out = String::new();
    for consequence in Consequence::ALL {
        let rules: Vec<_> = RULES
            .iter()
            .filter(|rule| rule.consequence == consequence)
            .collect();
        if rules.is_empty() {
            continue;
        }
        let rows = rules.iter().map(|rule| {
            format!(
                "| [{0}]({folder}{0}.md) | {1} | {2} |\n",
                rule.id,
                rule.severity.as_str(),
                rule.summary
            )
        });
        out.push_str(&format!(
            "### {}: {}\n\n| rule | severity | what it flags |\n|---|---|---|\n{}\n",
            consequence.as_str(),
            words(consequence),
            rows.collect::<String>()
        ));
    }
    out
}

fn rules_index() -> String {
    let mut out = generated_from("rules/");
    let of = |severity| {
        RULES
            .iter()
            .filter(|rule| rule.severity == severity)
            .count()
    };
    let counts = [Severity::Error, Severity::Warning, Severity::Info].map(of);
    out.push_str(&format!("[ownerlint](../README.md) / rules\n\n# Rules\n\n{} rules: {} are errors, {} warnings and {} infos unless the configuration says otherwise. A finding \
         can differ from its rule in severity and consequence.\n\n## By consequence\n\nWhat the cluster \
         does about the defect.\n\n{}## By subject\n\n",
        RULES.len(),
        counts[0],
        counts[1],
        counts[2],
        by_consequence("")));
    let rows = subjects()
        .into_iter()
        .map(|(subject, rules)| format!("| {subject} | {} |\n", joined(&rules)));
    out.push_str(&format!(
        "| subject | rules |\n|---|---|\n{}",
        rows.collect::<String>()
    ));
    out
}

/// Returns the entry page.
fn entry() -> String {
    let mut out = generated_from("README.md, rules/ and rules/schema/");
    out.push_str(
        "# ownerlint\n\n[Start](index.md) · [Commands and options](commands.md) · [All rules](rules/README.md)\n\n\
         On this page: [rules](#rules), [configuration](#configuration), [exit status](#exit-status), [JSON](#json)\n\n## Rules\n\n",
    );
    out.push_str("| consequence | what the cluster does | rules |\n|---|---|---|\n");
    for consequence in Consequence::ALL {
        let rules = RULES.iter().filter(|rule| rule.consequence == consequence);
        let links: Vec<_> = rules
            .map(|rule| format!("[{0}](rules/{0}.md)", rule.id))
            .collect();
        if !links.is_empty() {
            out.push_str(&format!(
                "| {} | {} | {} |\n",
                consequence.as_str(),
                words(consequence),
                links.join(", ")
            ));
        }
    }
    out.push_str("\nThe consequence of a finding can differ from that of its rule.\n\n");
    out.push_str("## Configuration\n\n");
    out.push_str(&configuration());
    out.push_str(&format!("## Exit status\n\n{}\n", exit_status()));
    out.push_str(
        "## JSON\n\nJSON documents name their contract in `schema`, the configuration in `version`. `ownerlint schema NAME` prints the JSON Schema.\n\n",
    );
    out.push_str("| contract | schema | |\n|---|---|---|\n");
    for name in SCHEMAS {
        let text = schema(name).expect("a schema");
        let schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
        let (title, about) = (
            string(&schema["title"]),
            string(&described(&schema, &schema)["description"]),
        );
        out.push_str(&format!(
            "| `{title}` | [`ownerlint schema {name}`]({}/blob/main/rules/schema/{name}.schema.json) | {about} |\n",
            env!("CARGO_PKG_REPOSITORY")
        ));
    }
    out
}

/// Returns the help of a command, 100 columns wide.
fn help(words: &[&str]) -> String {
    let output = ownerlint().args(words).arg("--help").output();
    String::from_utf8(output.expect("it runs").stdout).expect("text")
}

/// Returns the meaning of each exit status, from the help of `check`.
fn exit_status() -> String {
    let help = help(&["check"]);
    let (_, rest) = help
        .split_once("\nExit status:\n")
        .expect("the help lists them");
    let rows = rest.lines().take_while(|line| !line.is_empty());
    let rows = rows.map(|line| {
        let (status, meaning) = line
            .trim()
            .split_once("  ")
            .expect("a status and its meaning");
        format!("| {status} | {meaning} |\n")
    });
    format!(
        "| status | meaning |\n|---|---|\n{}",
        rows.collect::<String>()
    )
}

/// Returns every command with its help.
fn commands() -> String {
    let mut out = generated_from("the program's own help");
    out.push_str("# Commands and options\n\n`ownerlint COMMAND -h` prints a summary, `--help` all of this.\n\n");
    let help_of_all = help(&[]);
    let (_, listed) = help_of_all.split_once("\nCommands:\n").expect("commands");
    let names = listed.lines().take_while(|line| !line.is_empty());
    let names = names.filter_map(|line| {
        line.strip_prefix("  ")?
            .split(' ')
            .next()
            .filter(|name| !name.is_empty())
    });
    let mut all: Vec<Vec<&str>> = vec![vec![]];
    for name in names.filter(|name| *name != "help") {
        all.push(vec![name]);
        match name {
            "plan" => all.extend([vec![name, "delete"], vec![name, "teardown"]]),
            "baseline" => all.extend([
                vec![name, "write"],
                vec![name, "update"],
                vec![name, "prune"],
            ]),
            _ => {}
        }
    }
    for words in all {
        let title = [&["ownerlint"], &words[..]].concat().join(" ");
        out.push_str(&format!(
            "## {title}\n\n```text\n{}\n```\n\n",
            help(&words).trim_end()
        ));
    }
    out.trim_end().to_owned() + "\n"
}

/// Returns the threat model with absolute links, because the site does not contain other files of the repository.
fn security() -> String {
    let text = crate::support::page("SECURITY.md");
    let mut parts = text.split("](");
    let mut out = generated_from("SECURITY.md") + parts.next().unwrap_or_default();
    for part in parts {
        let is_relative = !part.starts_with("https://") && !part.starts_with('#');
        out.push_str("](");
        if is_relative {
            out.push_str(&format!("{SHOWN}/"));
        }
        out.push_str(part);
    }
    out
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the other alternative of a schema that also accepts null.
fn not_null(schema: &Value) -> &Value {
    match schema["anyOf"].as_array().map(Vec::as_slice) {
        Some([choice, null]) if null["type"] == "null" => choice,
        _ => schema,
    }
}

/// Returns a schema, or the one to which it refers.
fn described<'a>(whole: &'a Value, schema: &'a Value) -> &'a Value {
    let schema = not_null(schema);
    match schema["$ref"].as_str() {
        Some(reference) => whole
            .pointer(reference.trim_start_matches('#'))
            .expect("a reference leads somewhere"),
        None => schema,
    }
}

/// Describes every key of the configuration from its schema, in a table for each mapping.
fn configuration() -> String {
    let whole: Value = serde_json::from_str(&schema("config").expect("a schema")).expect("JSON");
    let top = described(&whole, &whole);
    let mut out = format!("`ownerlint.yaml`. {}\n\n", string(&top["description"]));
    let mut mappings = vec![(String::new(), top)];
    while let Some((path, mapping)) = mappings.pop() {
        if !path.is_empty() {
            out.push_str(&format!(
                "### `{path}`\n\n{}\n\n",
                string(&mapping["description"])
            ));
        }
        out.push_str("| key | value | |\n|---|---|---|\n");
        let required = |key: &str| {
            mapping["required"]
                .as_array()
                .is_some_and(|keys| keys.iter().any(|k| k == key))
        };
        let mut deeper = Vec::new();
        for (key, own) in mapping["properties"]
            .as_object()
            .expect("a mapping has keys")
        {
            let about = described(&whole, own);
            let text = [own, about]
                .map(|schema| string(&schema["description"]))
                .into_iter()
                .find(|text| !text.is_empty());
            let below = if path.is_empty() {
                key.clone()
            } else {
                format!("{path}.{key}")
            };
            let value = value_of(&whole, own, &below, &mut deeper);
            let needed = if required(key) { " (required)" } else { "" };
            out.push_str(&format!(
                "| `{key}`{needed} | {value} | {} |\n",
                text.unwrap_or_default()
            ));
        }
        out.push('\n');
        mappings.extend(deeper.into_iter().rev());
    }
    out
}

/// Describes the type of a key in words, and adds mappings below it to `deeper`.
fn value_of<'a>(
    whole: &'a Value,
    own: &'a Value,
    path: &str,
    deeper: &mut Vec<(String, &'a Value)>,
) -> String {
    let schema = described(whole, own);
    let code = |value: &Value| {
        format!(
            "`{}`",
            value.as_str().map_or(value.to_string(), str::to_owned)
        )
    };
    let types: Vec<_> = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several
            .iter()
            .map(string)
            .filter(|name| *name != "null")
            .collect(),
        _ => vec![],
    };
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(code).collect::<Vec<_>>().join(", ");
    }
    if !schema["const"].is_null() {
        return code(&schema["const"]);
    }
    if let Some(words) = schema["oneOf"].as_array()
        && words.iter().all(|word| word["const"].is_string())
    {
        let words = words.iter().map(|word| code(&word["const"]));
        return words.collect::<Vec<_>>().join(", ");
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let choices = choices
            .iter()
            .map(|choice| value_of(whole, choice, path, deeper));
        return choices.collect::<Vec<_>>().join(" or ");
    }
    if schema["format"] == "date" {
        return "date, `YYYY-MM-DD`".to_owned();
    }
    let mut inside = |schema: &'a Value, path: String| -> String {
        let target = described(whole, schema);
        if target["properties"].is_object() {
            let anchor: String = path
                .chars()
                .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
                .map(|c| c.to_ascii_lowercase())
                .collect();
            let link = format!("[`{path}`](#{anchor})");
            deeper.push((path, target));
            link
        } else {
            value_of(whole, schema, &path, deeper)
        }
    };
    match types[..] {
        ["array"] => format!("list of {}", inside(&schema["items"], format!("{path}[]"))),
        ["object"] if schema["properties"].is_object() => inside(schema, path.to_owned()),
        ["object"] => {
            let items = not_null(&schema["additionalProperties"]);
            let name = string(&items["$ref"]).trim_start_matches("#/$defs/");
            format!("mapping of {}", inside(items, format!("{path}.<{name}>")))
        }
        [_, ..] => types.join(" or ").replace("string", "text"),
        [] => panic!("{path}: a value that nothing describes: {schema}"),
    }
}

/// Returns all generated files, by path from the root.
fn pages() -> BTreeMap<String, String> {
    let rules = RULES
        .iter()
        .enumerate()
        .map(|(at, rule)| (format!("{}/{}.md", Rule::PAGES, rule.id), rule_page(at)));
    let indexes = [
        ("docs/README.md".to_owned(), entry()),
        ("docs/SUMMARY.md".to_owned(), contents()),
        ("docs/index.md".to_owned(), front()),
        ("docs/commands.md".to_owned(), commands()),
        ("docs/security.md".to_owned(), security()),
        (format!("{}/README.md", Rule::PAGES), rules_index()),
    ];
    rules.chain(indexes).collect()
}

/// Returns the first page of the site: the README before its first section, and all parts.
fn front() -> String {
    let mut out = generated_from("README.md");
    let readme = crate::support::page("README.md");
    let introduction = readme.split("\n## ").next().expect("a beginning").trim();
    let raw = format!("{RAW}/docs/");
    out.push_str(&introduction.replace(&raw, ""));
    out.push('\n');
    for (part, pages) in PARTS {
        out.push_str(&format!("\n**{part}**\n\n"));
        for (title, page) in pages.iter().filter(|(_, page)| !page.is_empty()) {
            out.push_str(&format!("- [{title}]({page})\n"));
        }
    }
    out
}

/// Returns the site's table of contents. mdBook shows a chapter without a path, but does not link it.
fn contents() -> String {
    let mut out = "# ownerlint\n\n[ownerlint](index.md)\n".to_owned();
    for (part, pages) in PARTS {
        out.push_str(&format!("\n# {part}\n\n"));
        for (title, page) in pages {
            out.push_str(&format!("- [{title}]({page})\n"));
            match *page {
                "editors/README.md" => {
                    for (title, page) in EDITORS {
                        out.push_str(&format!("  - [{title}](editors/{page}.md)\n"));
                    }
                }
                "rules/README.md" => {
                    for rule in RULES {
                        out.push_str(&format!("  - [{0}](rules/{0}.md)\n", rule.id));
                    }
                }
                _ => {}
            }
        }
    }
    out
}

#[test]
fn generated_pages_and_schemas_are_up_to_date() {
    let (pages, update) = (pages(), std::env::var_os("UPDATE_DOCS").is_some());
    let folder = root().join(Rule::PAGES);
    if update {
        std::fs::create_dir_all(&folder).expect("a folder");
    }
    let schemas = SCHEMAS.map(|name| {
        let text = schema(name).expect("a schema");
        (format!("rules/schema/{name}.schema.json"), text)
    });
    let others = BTreeMap::from(schemas);
    for (path, text) in pages.iter().chain(&others) {
        let file = root().join(path);
        if update {
            std::fs::write(file, text).expect("a page");
        } else {
            let written = std::fs::read_to_string(file)
                .unwrap_or_default()
                .replace("\r\n", "\n");
            assert!(
                written == *text,
                "{path} is stale: UPDATE_DOCS=1 cargo test --test it docs"
            );
        }
    }
    for file in std::fs::read_dir(folder).expect("the pages").flatten() {
        let path = format!("{}/{}", Rule::PAGES, file.file_name().to_string_lossy());
        assert!(pages.contains_key(&path), "{path} is the page of no rule");
    }
}

/// Returns the links of a Markdown text outside code, as they are written.
fn links(text: &str) -> Vec<&str> {
    let prose = text
        .split("```")
        .step_by(2)
        .flat_map(|prose| prose.split("](").skip(1));
    prose
        .map(|rest| rest.split_once(')').expect("a link ends").0)
        .collect()
}

/// Returns the anchors of a Markdown text. Like GitHub, it numbers repeated ones.
fn anchors(text: &str) -> Vec<String> {
    let headings = text
        .split("```")
        .step_by(2)
        .flat_map(str::lines)
        .filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| -> String {
        let kept = heading.trim_start_matches('#').trim().to_lowercase();
        kept.chars()
            .filter(|c| c.is_alphanumeric() || "-_ ".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    };
    headings.map(anchor).collect()
}

/// Returns `path` without `.` and `..`.
fn resolved(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
        path
    })
}

/// Returns all pages of the documentation, generated or not, and the README.
fn all_pages() -> BTreeMap<String, String> {
    let mut all = pages();
    for folder in ["docs/start", "docs/guide", "docs/editors"] {
        for file in std::fs::read_dir(root().join(folder))
            .expect("a folder")
            .flatten()
        {
            if let Ok(text) = std::fs::read_to_string(file.path()) {
                all.insert(
                    format!("{folder}/{}", file.file_name().to_string_lossy()),
                    text,
                );
            }
        }
    }
    all.insert(
        "README.md".to_owned(),
        std::fs::read_to_string(root().join("README.md")).expect("a README"),
    );
    all
}

#[test]
fn internal_links_of_pages_resolve() {
    let pages = all_pages();
    for (path, text) in pages.iter().filter(|(path, _)| path.ends_with(".md")) {
        for link in links(text).into_iter().filter(|link| !link.is_empty()) {
            let own = [SHOWN, RAW]
                .into_iter()
                .find_map(|web| link.strip_prefix(web)?.strip_prefix('/'));
            if let Some(own) = own {
                let file = own.split('#').next().expect("a path");
                assert!(
                    root().join(file).exists() || pages.contains_key(file),
                    "{path}: {link} leads nowhere"
                );
            }
            if link.starts_with("https://") {
                continue;
            }
            let (target, anchor) = link
                .split_once('#')
                .map_or((link, None), |(target, anchor)| (target, Some(anchor)));
            let folder = Path::new(path).parent().expect("a page has a folder");
            let file = if target.is_empty() {
                PathBuf::from(path)
            } else {
                resolved(&folder.join(target))
            };
            let known = file.to_str().and_then(|file| pages.get(file)).cloned();
            // A picture may not be text.
            let read = || {
                Some(String::from_utf8_lossy(&std::fs::read(root().join(&file)).ok()?).into_owned())
            };
            let text = known.or_else(read);
            let text = text.unwrap_or_else(|| panic!("{path}: {link} leads nowhere"));
            assert!(
                anchor.is_none_or(|anchor| anchors(&text)
                    .iter()
                    .filter(|known| *known == anchor)
                    .count()
                    == 1),
                "{path}: {link} has no such heading, or several"
            );
            assert!(
                file.starts_with("docs"),
                "{path}: {link} is not on the site"
            );
        }
    }
}

#[test]
fn table_of_contents_lists_every_page() {
    let contents = contents();
    for path in all_pages()
        .keys()
        .filter(|path| path.ends_with(".md") && path.starts_with("docs/"))
    {
        let page = path.trim_start_matches("docs/");
        assert!(
            page == "SUMMARY.md" || contents.contains(&format!("({page})")),
            "{path} is not in the table of contents"
        );
    }
}

#[test]
fn report_links_point_to_files_of_the_repository() {
    let published = format!("{}/blob/main/", env!("CARGO_PKG_REPOSITORY"));
    let pages = pages();
    let inside = |url: &str| {
        url.strip_prefix(&published)
            .map(|path| pages.contains_key(path) || root().join(path).is_file())
    };
    for rule in RULES {
        assert_eq!(inside(&rule.url()), Some(true), "{}", rule.url());
    }
    let folder = tempfile::tempdir().expect("a folder");
    let repository = Repository::of_copies(&["fixtures/bundles/rook"]);
    for format in Format::ALL {
        let file = folder.path().join(format.as_str());
        let output = format!("--output={format}:{}", file.display());
        ownerlint()
            .args(["check", "--exit-zero", &output, "fixtures/bundles/rook"])
            .current_dir(repository.path())
            .assert()
            .success();
        let text = std::fs::read_to_string(file).expect("it is written");
        let urls: BTreeSet<_> = text
            .match_indices(&published)
            .map(|(at, _)| {
                text[at..]
                    .split_once(".md")
                    .map_or(&text[at..], |(url, _)| url)
                    .to_owned()
                    + ".md"
            })
            .collect();
        // Concise lines have no room for a link, GitLab shows none, and human output has a command instead.
        let linkless = [Format::Human, Format::Concise, Format::Gitlab];
        assert_eq!(urls.is_empty(), linkless.contains(&format), "{format}");
        for url in urls {
            assert_eq!(inside(&url), Some(true), "{format}: {url}");
        }
    }
}

/// crates.io also shows the links of the README, without the files of the repository.
#[test]
fn readme_has_absolute_links_and_at_most_600_words() {
    let readme = crate::support::page("README.md");
    let relative: Vec<_> = links(&readme)
        .into_iter()
        .filter(|link| !link.starts_with("https://"))
        .collect();
    assert_eq!(relative, [""; 0]);
    let own = links(&readme)
        .into_iter()
        .filter(|link| link.starts_with(SHOWN) || link.starts_with(RAW));
    assert!(own.count() > 8);
    let words = readme.split_whitespace().count();
    assert!(words <= 600, "{words} words");
}

/// Each step of the guide names a function and its file.
#[test]
fn functions_named_in_architecture_guide_exist() {
    let page = crate::support::page("docs/guide/architecture.md");
    let mut steps = 0;
    for journey in page.split("\n## ").skip(1) {
        let own = journey
            .lines()
            .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
        let mut of_journey = 0;
        for line in own {
            let mut words = line.split('`').skip(1).step_by(2);
            let (file, function) = (
                words.next().expect("a file"),
                words.next().expect("a function"),
            );
            let source = crate::support::page(file);
            let starts = [format!("fn {function}("), format!("fn {function}<")];
            assert!(
                starts.iter().any(|start| source.contains(start)),
                "{file} has no function `{function}`"
            );
            of_journey += 1;
        }
        assert!((3..=8).contains(&of_journey), "{journey}");
        steps += of_journey;
    }
    assert!(steps > 20, "{steps}");
}
