//! Splits what `kubectl get … -o yaml` or `-o json` printed into its objects, one at a time: a dump may be larger than memory.

use std::fmt;
use std::io::BufRead;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// No object of a cluster is larger: etcd stores at most 1.5 MiB of each.
const LARGEST: usize = 32 << 20;

/// The text of an object, and the line that it begins at.
pub(super) struct Piece {
    pub(super) text: String,
    /// From 1; 1 for JSON.
    pub(super) line: usize,
}

/// A dump that cannot be split.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum DumpError {
    /// It cannot be read.
    #[error("cannot read {path}: {reason}")]
    Read {
        /// Its path.
        path: String,
        /// What the system says.
        reason: std::io::Error,
    },
    /// It is not JSON, although it begins like it.
    #[error("{path} is not JSON: {reason}")]
    Json {
        /// Its path.
        path: String,
        /// What is wrong.
        reason: serde_json::Error,
    },
    /// A document without an end.
    #[error("{path}:{line}: a document is larger than 32 MiB, as no object of a cluster is")]
    #[diagnostic(help("write the dump with `kubectl get KINDS --all-namespaces -o yaml`"))]
    TooLarge {
        /// Its path.
        path: String,
        /// Where the document begins.
        line: usize,
    },
}

/// Hands over every object of a dump in its order.
pub(super) fn split(
    path: &str,
    mut dump: impl BufRead,
    mut take: impl FnMut(Piece),
) -> Result<(), DumpError> {
    let read = |reason| DumpError::Read {
        path: path.to_owned(),
        reason,
    };
    let first = loop {
        let buffer = dump.fill_buf().map_err(read)?;
        let blanks = buffer
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        match buffer.get(blanks) {
            Some(byte) => break Some(*byte),
            None if blanks == 0 => break None,
            None => dump.consume(blanks),
        }
    };
    match first {
        Some(b'{') => json(path, dump, take),
        _ => yaml(path, dump, &mut take),
    }
}

/// Where a line of YAML belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A document of its own, or what stands around the items of a list.
    Around,
    /// An item of a list.
    Item,
}

fn yaml(path: &str, mut dump: impl BufRead, take: &mut impl FnMut(Piece)) -> Result<(), DumpError> {
    let mut piece = Piece {
        text: String::new(),
        line: 1,
    };
    let (mut part, mut is_list) = (Part::Around, false);
    // How far the dashes of the items are indented, once `items:` was seen.
    let mut items: Option<Option<usize>> = None;
    let (mut bytes, mut number) = (Vec::new(), 0);
    loop {
        bytes.clear();
        let read = dump.read_until(b'\n', &mut bytes);
        let count = read.map_err(|reason| DumpError::Read {
            path: path.to_owned(),
            reason,
        })?;
        number += 1;
        let line = String::from_utf8_lossy(&bytes);
        let text = line.trim_end();
        let indent = text.len() - text.trim_start().len();
        let is_blank = text.is_empty() || text.trim_start().starts_with('#');
        let ends_document = count == 0 || text == "---" || text.starts_with("--- ");
        let mut dash = None;
        if let Some(known) = items.filter(|_| !ends_document && !is_blank) {
            let starts = text[indent..].starts_with("- ") && known.is_none_or(|at| at == indent);
            match starts {
                true => {
                    items = Some(Some(indent));
                    dash = Some(indent);
                }
                false if known.is_some_and(|at| indent > at) => {}
                false => items = None,
            }
        }
        let leaves_item = part == Part::Item && items.is_none() && !is_blank;
        if ends_document || dash.is_some() || leaves_item {
            let ended = std::mem::replace(
                &mut piece,
                Piece {
                    text: String::new(),
                    line: number,
                },
            );
            // What stands around the items of a list is no object.
            if part == Part::Item || !is_list && !ended.text.trim().is_empty() {
                take(ended);
            }
            part = match dash {
                Some(_) => Part::Item,
                None => Part::Around,
            };
        }
        if count == 0 {
            return Ok(());
        }
        if ends_document {
            (is_list, items) = (false, None);
            continue;
        }
        if part == Part::Around && text == "items:" {
            (is_list, items) = (true, Some(None));
        }
        match dash {
            // The dash becomes a blank, so that the item is a document.
            Some(at) => {
                piece.text.push_str(&line[..at]);
                piece.text.push(' ');
                piece.text.push_str(&line[at + 1..]);
            }
            None => piece.text.push_str(&line),
        }
        if piece.text.len() > LARGEST {
            return Err(DumpError::TooLarge {
                path: path.to_owned(),
                line: piece.line,
            });
        }
    }
}

fn json(path: &str, dump: impl BufRead, take: impl FnMut(Piece)) -> Result<(), DumpError> {
    let mut deserializer = serde_json::Deserializer::from_reader(dump);
    let read = Document { take }.deserialize(&mut deserializer);
    read.map_err(|reason| DumpError::Json {
        path: path.to_owned(),
        reason,
    })
}

/// A list whose items are handed over as they come, or an object.
struct Document<T> {
    take: T,
}

impl<'de, T: FnMut(Piece)> DeserializeSeed<'de> for Document<T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, T: FnMut(Piece)> Visitor<'de> for Document<T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object, or a list of objects")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let (mut object, mut is_list) = (Map::new(), false);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "items" => {
                    is_list = true;
                    map.next_value_seed(Items {
                        take: &mut self.take,
                    })?;
                }
                _ if is_list => _ = map.next_value::<IgnoredAny>()?,
                _ => _ = object.insert(key, map.next_value::<Value>()?),
            }
        }
        if !is_list {
            let text = Value::Object(object).to_string();
            (self.take)(Piece { text, line: 1 });
        }
        Ok(())
    }
}

struct Items<'t, T> {
    take: &'t mut T,
}

impl<'de, T: FnMut(Piece)> DeserializeSeed<'de> for Items<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: FnMut(Piece)> Visitor<'de> for Items<'_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the items of a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<Box<RawValue>>()? {
            let text = item.get().to_owned();
            (self.take)(Piece { text, line: 1 });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(dump: &str) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        split("dump.yaml", dump.as_bytes(), |piece| {
            found.push((piece.line, piece.text));
        })
        .expect("it can be split");
        found
    }

    fn names(dump: &str) -> Vec<String> {
        let name = |text: String| {
            let value: Value = serde_yaml::from_str(&text).expect("a document");
            value["metadata"]["name"].as_str().unwrap_or("?").to_owned()
        };
        pieces(dump)
            .into_iter()
            .map(|(_, text)| name(text))
            .collect()
    }

    #[test]
    fn the_items_of_a_list_come_one_by_one() {
        let list = "apiVersion: v1\nitems:\n- kind: A\n  metadata:\n    name: one\n- kind: B\n  metadata:\n    name: two\n  rules:\n  - verbs: []\nkind: List\nmetadata: {}\n";
        assert_eq!(names(list), ["one", "two"]);
        assert_eq!(pieces(list)[1].0, 6, "the line of the second");
        let indented =
            "kind: List\nitems:\n  - metadata:\n      name: one\n  - metadata: {name: two}\n";
        assert_eq!(names(indented), ["one", "two"]);
        assert_eq!(
            names("kind: List\nitems: []\n"),
            ["?"],
            "an empty list is no list of ours"
        );
    }

    #[test]
    fn documents_come_one_by_one_whatever_lists_they_hold() {
        let documents = "kind: ClusterRole\nmetadata: {name: one}\nrules:\n- verbs: []\n---\nmetadata: {name: two}\n---\nitems:\n- metadata: {name: three}\n";
        assert_eq!(names(documents), ["one", "two", "three"]);
        assert_eq!(names(""), [""; 0]);
    }

    #[test]
    fn json_comes_likewise() {
        let list = "\n {\"kind\": \"List\", \"items\": [{\"metadata\": {\"name\": \"one\"}}, {\"metadata\": {\"name\": \"two\"}}], \"metadata\": {}}";
        assert_eq!(names(list), ["one", "two"]);
        assert_eq!(names("{\"metadata\": {\"name\": \"one\"}}"), ["one"]);
        let broken = split("d.json", "{\"items\": [".as_bytes(), |_| {}).expect_err("no end");
        assert!(
            broken.to_string().starts_with("d.json is not JSON"),
            "{broken}"
        );
    }
}
