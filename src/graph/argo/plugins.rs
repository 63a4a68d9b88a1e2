//! Plugins that only run `kustomize build`, as the tree defines them: in a `ConfigManagementPlugin`, or in the values
//! of Argo CD's chart (`configs.cmp.plugins`).

use std::collections::BTreeSet;

use memchr::memmem;

use crate::graph::files::{TreeFiles, parse_inline};
use crate::graph::node::Node;

/// Returns the names of the plugins that only run `kustomize build`.
pub(super) fn of_kustomize(files: &TreeFiles<'_>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in files.manifests() {
        if !files.bytes(path).is_ok_and(|bytes| may_define(&bytes)) {
            continue;
        }
        for document in &files.parsed(path).documents {
            plugins_of(document, &mut found);
            // The definition may be a file in a ConfigMap.
            for (_, text) in document.entries_at(&["data"]) {
                let text = text.as_str().unwrap_or_default();
                if text.contains("ConfigManagementPlugin") {
                    for inner in &parse_inline(text).documents {
                        plugins_of(inner, &mut found);
                    }
                }
            }
        }
    }
    found
}

fn may_define(bytes: &[u8]) -> bool {
    memmem::find(bytes, b"kustomize").is_some()
        && (memmem::find(bytes, b"cmp").is_some()
            || memmem::find(bytes, b"ConfigManagementPlugin").is_some())
}

fn plugins_of(document: &Node, found: &mut BTreeSet<String>) {
    if document.text_at(&["kind"]).as_deref() == Some("ConfigManagementPlugin") {
        let name = document.text_at(&["metadata", "name"]);
        let version = document.text_at(&["spec", "version"]);
        let name = name.map(|name| match version {
            Some(version) => format!("{name}-{version}"),
            None => name,
        });
        let spec = document.get("spec").unwrap_or(Node::Null);
        found.extend(name.filter(|_| is_kustomize(&spec)));
    }
    // The chart may be a subchart, whose values are below its name.
    let below = document.entries().into_iter().map(|(_, value)| value);
    for values in below.chain([document.clone()]) {
        for (name, plugin) in values.entries_at(&["configs", "cmp", "plugins"]) {
            if is_kustomize(&plugin) {
                found.insert(name.to_string());
            }
        }
    }
}

/// Whether a plugin only runs kustomize in the folder of the source. A plugin with an `init`
/// command does not, because the command may edit the files.
fn is_kustomize(plugin: &Node) -> bool {
    let init = plugin.get("init").unwrap_or(Node::Null);
    if !init.items_at("command").is_empty() {
        return false;
    }
    let generate = plugin.get("generate").unwrap_or(Node::Null);
    let words = [generate.texts_at("command"), generate.texts_at("args")];
    let line = words.concat().join(" ");
    let line = line
        .strip_prefix("sh -c ")
        .or_else(|| line.strip_prefix("bash -c "))
        .unwrap_or(&line);
    let mut words = line.split_whitespace();
    let is_plain = !line.contains(['|', ';', '&', '<', '>', '$', '`', '\n']);
    is_plain
        && words.next() == Some("kustomize")
        && words.next() == Some("build")
        && words.all(|word| word == "." || word.starts_with("--"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plugins_running_plain_kustomize_are_recognised() {
        let text = "configs:\n  \"cmp\":\n    plugins:\n\
                    \x20     plain: {generate: {command: [sh, -c], args: [kustomize build --enable-helm]}}\n\
                    \x20     piped: {generate: {command: [sh, -c], args: ['kustomize build . | envsubst']}}\n\
                    \x20     edited: {init: {command: [sh, -c], args: [kustomize edit add resource a.yaml]}, generate: {command: [kustomize, build]}}\n";
        let own = "kind: ConfigManagementPlugin\nmetadata: {name: own}\n\
                   spec: {version: v1, init: {}, generate: {command: [kustomize, build, .]}}\n";
        let files = [("values.yaml", text), ("own.yaml", own)];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().into()));
        let tree = TreeFiles::of_texts(files);
        let found: Vec<String> = of_kustomize(&tree).into_iter().collect();
        assert_eq!(found, ["own-v1", "plain"]);
    }
}
