//! A proposal as a commented configuration.

use super::bundles::Proposed;
use super::exclude::Exclusion;

/// Commands that are shown at most for one thing.
const MAX_COMMANDS: usize = 5;

/// The configuration of these bundles and exclusions; `charts` have a name and a folder.
pub(super) fn to_yaml(
    bundles: &[Proposed],
    exclude: &[Exclusion],
    charts: &[(String, String)],
) -> String {
    let mut text = HEAD.to_owned();
    match bundles.is_empty() {
        true => text.push_str(ONE_BUNDLE),
        false => {
            text.push_str("bundles:\n");
            bundles
                .iter()
                .for_each(|bundle| push_bundle(&mut text, bundle));
            text.push_str(BUNDLE_KEYS);
        }
    }
    push_exclude(&mut text, exclude);
    push_charts(&mut text, charts);
    text.push_str(REST);
    text
}

fn push_bundle(text: &mut String, bundle: &Proposed) {
    let paths: Vec<_> = bundle.paths.iter().map(|path| quoted(path)).collect();
    let line = format!("    paths: [{}]\n", paths.join(", "));
    text.push_str(&format!("  {}:\n", quoted(&bundle.name)));
    match line.len() <= 120 {
        true => text.push_str(&line),
        false => {
            text.push_str("    paths:\n");
            paths
                .iter()
                .for_each(|path| text.push_str(&format!("      - {path}\n")));
        }
    }
    if !bundle.kustomizations.is_empty() {
        text.push_str("    # Read before it is rendered. To check what is applied:\n");
        let commands = bundle
            .kustomizations
            .iter()
            .map(|folder| format!("kustomize build {}", word(folder)));
        push_commands(text, "    ", commands.collect());
    }
}

fn push_exclude(text: &mut String, exclude: &[Exclusion]) {
    if exclude.is_empty() {
        text.push_str(NO_EXCLUDE);
        return;
    }
    text.push_str("\n# What tests read or compare with is never applied.\nexclude:\n");
    for exclusion in exclude {
        let files = if exclusion.covers == 1 {
            "1 file".to_owned()
        } else {
            format!("{} files", exclusion.covers)
        };
        text.push_str(&format!("  - {} # {files}\n", quoted(&exclusion.glob)));
    }
}

fn push_charts(text: &mut String, charts: &[(String, String)]) {
    if charts.is_empty() {
        return;
    }
    text.push_str("\n# Templates are skipped. To check what a chart applies:\n");
    let commands = charts
        .iter()
        .map(|(name, folder)| format!("helm template {} {}", word(name), word(folder)));
    push_commands(text, "", commands.collect());
}

/// Each command piped into ownerlint, as comments.
fn push_commands(text: &mut String, indent: &str, commands: Vec<String>) {
    for command in commands.iter().take(MAX_COMMANDS) {
        text.push_str(&format!("{indent}#   {command} | ownerlint -\n"));
    }
    if commands.len() > MAX_COMMANDS {
        text.push_str(&format!(
            "{indent}#   and {} more\n",
            commands.len() - MAX_COMMANDS
        ));
    }
}

/// A text as a word of a shell command inside of a comment.
fn word(text: &str) -> String {
    let text = if text.is_empty() { "." } else { text };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    // A line break would end the comment.
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    match text.chars().all(plain) && !text.starts_with('-') {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// A text as YAML, quoted unless it is a plain word.
fn quoted(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null"
        );
    if plain {
        text.to_owned()
    } else {
        serde_json::Value::from(text).to_string()
    }
}

const HEAD: &str = "\
# The configuration of ownerlint. `ownerlint schema config` prints its JSON Schema.
version: 1

# A bundle is what is applied to one cluster: objects in one bundle see each other, objects in different bundles never do.
# Paths are files, folders or globs, and start at the folder of this file.
";

const ONE_BUNDLE: &str = "\
# bundles:
#   production:
#     paths: [rendered/production]
#     exclude: ['**/tests/**']
#     namespace: shop      # of objects without a namespace
#     world: closed        # the bundle is the whole cluster: a missing owner is an error
";

// A `\` at the end of a line would take the indentation of the next one away.
const BUNDLE_KEYS: &str = "    # exclude: ['**/tests/**']
    # namespace: shop      # of objects without a namespace
    # world: closed        # the bundle is the whole cluster: a missing owner is an error
";

const NO_EXCLUDE: &str = "
# What is left out of every bundle.
# exclude: ['**/testdata/**']
";

const REST: &str = "
# The release whose built-in kinds count.
# kubernetes-version: \"1.37\"

# Kinds whose CRD is not among the manifests.
# scopes:
#   - group: example.com
#     kind: Widget
#     scope: Namespaced

# The lowest severity that makes a run fail: error, warning, info or never.
fail-on: error

# Rules: their severity (error, warning, info, off), and objects that they ignore.
# rules:
#   owner-cross-namespace:
#     severity: error
#     ignore:
#       - object: Deployment.apps/shop/*
#         reason: moved by the operator, see the runbook
#         expires: 2031-12-31
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_names_hold_the_configuration_reads() {
        let hostile = "a'b\"\n# c: [d]\u{1b}${x}`";
        let bundle = Proposed {
            name: hostile.to_owned(),
            paths: vec![hostile.to_owned(), ".".to_owned(), "yes".to_owned()],
            kustomizations: vec![hostile.to_owned()],
        };
        let exclusion = Exclusion {
            glob: format!("{hostile}/**"),
            covers: 2,
        };
        let text = to_yaml(
            &[bundle],
            &[exclusion],
            &[(hostile.to_owned(), String::new())],
        );
        let read: serde_yaml::Value =
            serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(
            read["bundles"][hostile]["paths"],
            serde_yaml::from_str::<serde_yaml::Value>(&format!("[{}, ., 'yes']", quoted(hostile)))
                .expect("YAML")
        );
        assert_eq!(read["exclude"][0], format!("{hostile}/**"));
        assert!(
            text.contains(
                "#   helm template 'a'\\''b\"\u{fffd}# c: [d]\u{fffd}${x}`' . | ownerlint -\n"
            ),
            "{text}"
        );
    }
}
