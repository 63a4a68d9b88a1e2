//! Writes a proposal as a commented configuration.

use super::Starter;
use super::bundles::Proposed;
use super::exclude::Exclusion;
use crate::kustomize::shown;
use crate::text::plain;

/// The maximum number of commands or folders shown in one place.
const MAX_SHOWN: usize = 5;

impl Starter {
    /// Returns the configuration as a text with comments.
    pub fn to_yaml(&self) -> String {
        let mut text = HEAD.to_owned();
        if self.bundles.is_empty() {
            push_clusters(&mut text, self);
        } else {
            text.push_str(BUNDLES);
            for bundle in &self.bundles {
                push_bundle(&mut text, bundle);
            }
        }
        push_exclude(&mut text, &self.exclude);
        push_charts(&mut text, &self.charts);
        text.push_str(REST);
        text
    }
}

/// Describes the deliveries if there are no bundles.
fn push_clusters(text: &mut String, starter: &Starter) {
    let number = starter.clusters.len();
    match number {
        0 => {}
        1 => text.push_str(
            "\n# `ownerlint list --deliveries` shows deliveries to one cluster only, so no bundles \
             are needed.\n",
        ),
        _ => text.push_str(&format!(
            "\n# `ownerlint list --deliveries` shows deliveries to {number} clusters. `bundles:` \
             would separate their objects.\n"
        )),
    }
}

fn push_bundle(text: &mut String, bundle: &Proposed) {
    let paths: Vec<_> = bundle.paths.iter().map(|path| quoted(path)).collect();
    let line = format!("    paths: [{}]\n", paths.join(", "));
    text.push_str(&format!("  {}:\n", quoted(&bundle.name)));
    if line.len() <= 120 {
        text.push_str(&line);
    } else {
        text.push_str("    paths:\n");
        for path in paths {
            text.push_str(&format!("      - {path}\n"));
        }
    }
    if !bundle.built.is_empty() {
        text.push_str("    # Read before it is built. To check what is applied:\n");
        let folders = bundle.built.iter();
        let commands =
            folders.map(|folder| format!("kustomize build {} | ownerlint -", word(folder)));
        push_some(text, "    ", commands.collect());
    }
}

fn push_exclude(text: &mut String, exclude: &[Exclusion]) {
    if exclude.is_empty() {
        return;
    }
    text.push_str("\n# Test data is never applied.\nexclude:\n");
    for exclusion in exclude {
        let files = plain::count(exclusion.covers, "file");
        text.push_str(&format!("  - {} # {files}\n", quoted(&exclusion.glob)));
    }
}

fn push_charts(text: &mut String, charts: &[String]) {
    if charts.is_empty() {
        return;
    }
    text.push_str("\n# Templates are skipped. `ownerlint --render` renders these charts with `helm` and checks them, too:\n");
    push_some(text, "", charts.iter().map(|folder| word(folder)).collect());
}

/// Adds the first of `lines` as comments, and the number of the others.
fn push_some(text: &mut String, indent: &str, lines: Vec<String>) {
    for line in lines.iter().take(MAX_SHOWN) {
        text.push_str(&format!("{indent}#   {line}\n"));
    }
    let others = lines.len().saturating_sub(MAX_SHOWN);
    if others > 0 {
        text.push_str(&format!("{indent}#   and {others} more\n"));
    }
}

/// Quotes a text for a shell command inside a comment.
fn word(text: &str) -> String {
    let text = comment(shown(text));
    if text.chars().all(is_plain) && !text.starts_with('-') {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_./".contains(c)
}

/// Replaces control characters in a comment, which a line break would end.
fn comment(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

/// Writes a text as YAML, quoted unless it is a plain word.
fn quoted(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(is_plain)
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

const HEAD: &str = concat!(
    "# yaml-language-server: $schema=",
    env!("CARGO_PKG_REPOSITORY"),
    "/raw/main/rules/schema/config.schema.json\n",
    "# All settings: ",
    env!("CARGO_PKG_REPOSITORY"),
    "/blob/main/docs/guide/configuration.md\n",
    "version: 1\n",
);

const BUNDLES: &str = "
# A bundle is everything that is applied to one cluster. Objects of one bundle can refer to each other; objects of different bundles cannot.
bundles:
";

const REST: &str = "
# The lowest severity that makes a run fail: error, warning, info or never.
fail-on: error
";

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn hostile_names_give_a_readable_configuration() {
        let hostile = "a'b\"\n# c: [d]\u{1b}${x}`";
        let bundle = Proposed {
            name: hostile.to_owned(),
            paths: vec![hostile.to_owned(), ".".to_owned(), "yes".to_owned()],
            built: vec![hostile.to_owned()],
        };
        let exclusion = Exclusion {
            glob: format!("{hostile}/**"),
            covers: 2,
        };
        let starter = Starter {
            bundles: vec![bundle],
            exclude: vec![exclusion],
            charts: vec![hostile.to_owned()],
            clusters: BTreeMap::new(),
        };
        let text = starter.to_yaml();
        let read: serde_yaml::Value =
            serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let paths = &read["bundles"][hostile]["paths"];
        let expected = format!("[{}, ., 'yes']", quoted(hostile));
        let expected: serde_yaml::Value = serde_yaml::from_str(&expected).expect("YAML");
        assert_eq!(*paths, expected);
        assert_eq!(read["exclude"][0], format!("{hostile}/**"));
        let shown = "'a'\\''b\"\u{fffd}# c: [d]\u{fffd}${x}`'";
        let command = format!("    #   kustomize build {shown} | ownerlint -\n");
        assert!(text.contains(&command), "{text}");
        assert!(text.contains(&format!("\n#   {shown}\n")), "{text}");

        let starter = Starter {
            clusters: BTreeMap::from([(hostile.to_owned(), 1)]),
            ..Starter::default()
        };
        let read: serde_yaml::Value = serde_yaml::from_str(&starter.to_yaml()).expect("YAML");
        assert_eq!(read.as_mapping().map(serde_yaml::Mapping::len), Some(2));
    }
}
