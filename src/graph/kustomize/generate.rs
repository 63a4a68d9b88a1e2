//! ConfigMaps and Secrets that a kustomization generates, and the hash of their content in their names (kustomize
//! api/internal/generators, api/hasher/hasher.go).

use std::collections::BTreeMap;
use std::sync::Arc;

use data_encoding::{BASE64, HEXLOWER};
use foldhash::HashSet;
use sha2_const_stable::Sha256;
use smol_str::SmolStr;

use super::build::BuildError;
use super::memo::Watched;
use super::resource::{Origin, Resource};
use crate::graph::node::Node;
use crate::kustomize::{name_of, resolve};

/// An entry of `configMapGenerator` or `secretGenerator`.
pub(super) struct Generator<'g> {
    pub(super) files: &'g Watched<'g>,
    /// The folder of the kustomization.
    pub(super) folder: &'g str,
    /// The place of the entry.
    pub(super) origin: Origin,
    pub(super) entry: &'g Node,
    /// `generatorOptions` of the kustomization.
    pub(super) options: Option<Node>,
    pub(super) is_secret: bool,
}

impl Generator<'_> {
    /// Runs the generator of the entry; fails for a file that does not exist, a literal without a key, and a key that
    /// is given twice.
    pub(super) fn run(&self) -> Result<Resource, BuildError> {
        let mut data: Vec<(String, Vec<u8>)> = Vec::new();
        let mut is_whole = true;
        for literal in self.entry.texts_at("literals") {
            let (key, value) = literal
                .split_once('=')
                .filter(|(key, _)| !key.is_empty())
                .ok_or_else(|| {
                    let name = self.entry.text_at(&["name"]).unwrap_or_default();
                    let reason = format!("a literal of `{name}` is not `key=value`");
                    self.origin.failed(reason)
                })?;
            data.push((key.to_owned(), unquoted(value).as_bytes().to_vec()));
        }
        for file in self.entry.texts_at("files") {
            let (key, path) = match file.split_once('=') {
                Some((key, path)) => (key.to_owned(), path.to_owned()),
                None => (name_of(&file).to_owned(), file),
            };
            data.push((key, self.read(&path, &mut is_whole)?.to_vec()));
        }
        let env = self.entry.text_at(&["env"]);
        for path in self.entry.texts_at("envs").into_iter().chain(env) {
            let bytes = self.read(&path, &mut is_whole)?;
            let text = String::from_utf8_lossy(&bytes);
            let lines = text.trim_start_matches('\u{feff}').lines();
            let lines = lines.map(str::trim_start);
            for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
                let (key, value) = line.split_once('=').unwrap_or((line, ""));
                data.push((key.to_owned(), value.as_bytes().to_vec()));
            }
        }
        // kustomize api/internal/generators/utils.go, makeValidatedDataMap.
        let mut keys = HashSet::default();
        if let Some((key, _)) = data.iter().find(|(key, _)| !keys.insert(key)) {
            let name = self.entry.text_at(&["name"]).unwrap_or_default();
            let reason = format!("`{name}` repeats the key `{key}`");
            return Err(self.origin.failed(reason));
        }
        let mut made = self.made(data);
        // The hash of partly known data would be wrong.
        made.needs_hash &= is_whole;
        Ok(made)
    }

    /// Reads a file. If it is missing and may be, returns no bytes and clears `is_whole`.
    fn read(&self, path: &str, is_whole: &mut bool) -> Result<Arc<[u8]>, BuildError> {
        let place = resolve(self.folder, path);
        if self.files.lacks(&place) {
            *is_whole = false;
            return Ok(Arc::default());
        }
        let bytes = self.files.bytes(&place);
        bytes.map_err(|reason| self.origin.failed(format!("{path} {reason}")))
    }

    fn made(&self, data: Vec<(String, Vec<u8>)>) -> Resource {
        let name = self.entry.text_at(&["name"]).unwrap_or_default();
        let mut node = Node::empty_map();
        node.set("apiVersion", Node::text("v1"));
        let kind = if self.is_secret {
            "Secret"
        } else {
            "ConfigMap"
        };
        node.set("kind", Node::text(kind));
        let metadata = node.entry_mut("metadata");
        *metadata = Node::empty_map();
        metadata.set("name", Node::text(name));
        if let Some(namespace) = self.entry.text_at(&["namespace"]) {
            metadata.set("namespace", Node::text(namespace));
        }
        for (key, value) in data {
            let (field, text) = match String::from_utf8(value) {
                Ok(text) if self.is_secret => ("data", folded(text.as_bytes())),
                Ok(text) => ("data", text),
                Err(error) if self.is_secret => ("data", folded(error.as_bytes())),
                Err(error) => ("binaryData", folded(error.as_bytes())),
            };
            node.entry_mut(field).set(&key, Node::text(text));
        }
        if self.is_secret {
            let of_type = self.entry.text_at(&["type"]);
            let of_type = of_type.as_deref().unwrap_or("Opaque");
            node.set("type", Node::text(of_type));
        }
        let mut resource = Resource {
            node,
            previous: Arc::default(),
            origin: self.origin.clone(),
            references: Arc::default(),
            needs_hash: true,
            is_possible: false,
            is_disputed: false,
        };
        for options in self.options.iter().chain(&self.entry.get("options")) {
            for field in ["labels", "annotations"] {
                resource.mark(field, &options.entries_at(&[field]));
            }
            resource.needs_hash &= !options.is_true_at(&["disableNameSuffixHash"]);
        }
        resource
    }
}

/// Returns a text without the quotes around it.
fn unquoted(value: &str) -> &str {
    let mut quotes = ['"', '\''].into_iter();
    let quoted = quotes.find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    quoted.unwrap_or(value)
}

/// Encodes base64 as kustomize does: in lines of 70 characters, unless it is shorter than one line.
fn folded(bytes: &[u8]) -> String {
    const LINE: usize = 70;
    let encoded = BASE64.encode(bytes);
    if encoded.len() < LINE {
        return encoded;
    }
    let mut lines = String::new();
    let mut rest = encoded.as_str();
    while !rest.is_empty() {
        let (line, more) = rest.split_at(rest.len().min(LINE));
        lines.push_str(line);
        lines.push('\n');
        rest = more;
    }
    lines
}

/// Adds the data of the generated object `from` to `into`, which has the same name.
pub(super) fn merge_data(into: &mut Node, from: &Node) {
    for field in ["data", "binaryData", "stringData"] {
        for (key, value) in from.entries_at(&[field]) {
            into.entry_mut(field).set(&key, value);
        }
    }
}

/// Returns the hash at the end of the name of a generated object.
pub(super) fn content_hash(node: &Node) -> String {
    let is_secret = node.str_at(&["kind"]) == Some("Secret");
    let data = json_map(node, "data").unwrap_or_else(|| "\"\"".to_owned());
    // kustomize looks the name up under the key `metadata/name`, and finds none.
    let name = "\"\"";
    let encoded = if is_secret {
        let more = json_map(node, "stringData").map(|map| format!(",\"stringData\":{map}"));
        let more = more.unwrap_or_default();
        let of_type = node.get("type").and_then(|of_type| of_type.scalar());
        let of_type = json_text(&of_type.unwrap_or_default(), true);
        format!("{{\"data\":{data},\"kind\":\"Secret\",\"name\":{name}{more},\"type\":{of_type}}}")
    } else {
        let more = json_map(node, "binaryData").map(|map| format!("\"binaryData\":{map},"));
        let more = more.unwrap_or_default();
        format!("{{{more}\"data\":{data},\"kind\":\"ConfigMap\",\"name\":{name}}}")
    };
    let hex = HEXLOWER.encode(&Sha256::new().update(encoded.as_bytes()).finalize());
    let spoken = hex.chars().take(10).map(|digit| match digit {
        '0' => 'g',
        '1' => 'h',
        '3' => 'k',
        'a' => 'm',
        'e' => 't',
        digit => digit,
    });
    spoken.collect()
}

/// Returns the scalars of a mapping, sorted by their keys, in JSON.
fn json_map(node: &Node, field: &str) -> Option<String> {
    let entries = node.get(field).filter(Node::is_map)?.entries();
    let entries: BTreeMap<SmolStr, Node> = entries.into_iter().collect();
    let entries = entries.iter().map(|(key, value)| {
        let value = value.scalar().unwrap_or_default();
        format!("{}:{}", json_text(key, true), json_text(&value, true))
    });
    Some(format!("{{{}}}", entries.collect::<Vec<_>>().join(",")))
}

/// Returns a JSON string as Go's `encoding/json` writes it; with `escapes_html`, `<`, `>` and `&` are escaped, too.
pub fn json_text(text: &str, escapes_html: bool) -> String {
    // Every text can be written as JSON.
    let mut json = serde_json::to_string(text).unwrap_or_default();
    let html: &[char] = if escapes_html { &['<', '>', '&'] } else { &[] };
    for &special in html.iter().chain(&['\u{2028}', '\u{2029}']) {
        if json.contains(special) {
            json = json.replace(special, &format!("\\u{:04x}", u32::from(special)));
        }
    }
    json
}
