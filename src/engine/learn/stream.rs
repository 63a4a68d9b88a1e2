//! Splits the output of `kubectl get … -o yaml` or `-o json` into objects, one at a time: it may be larger than memory.

use std::fmt;
use std::io::BufRead;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Maximum size of a document in YAML. Objects of a cluster are smaller: etcd stores at most 1.5 MiB of each.
const LARGEST: usize = 32 << 20;

/// The text of an object, and the line that it begins at.
pub(super) struct Piece {
    pub(super) text: String,
    /// Counted from 1; always 1 for JSON.
    pub(super) line: usize,
}

impl Piece {
    /// Creates an empty piece that begins at `line`.
    fn at(line: usize) -> Self {
        Self {
            text: String::new(),
            line,
        }
    }
}

/// A dump that cannot be split.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum DumpError {
    /// It cannot be read.
    #[error("cannot read {path}: {reason}")]
    Read {
        /// Its path.
        path: String,
        /// The error of the system.
        reason: std::io::Error,
    },
    /// It is not JSON, although it begins like it.
    #[error("{path} is not JSON: {reason}")]
    Json {
        /// Its path.
        path: String,
        /// The error in the text.
        reason: serde_json::Error,
    },
    /// A document that exceeds the maximum size.
    #[error("{path}:{line}: a document is larger than 32 MiB, which no object of a cluster is")]
    #[diagnostic(help("write the dump with `kubectl get KINDS --all-namespaces -o yaml`"))]
    TooLarge {
        /// Its path.
        path: String,
        /// Where the document begins.
        line: usize,
    },
}

impl DumpError {
    fn unreadable(path: &str, reason: std::io::Error) -> Self {
        Self::Read {
            path: path.to_owned(),
            reason,
        }
    }
}

/// Calls `take` with every object of a dump, in order.
pub(super) fn split(
    path: &str,
    mut dump: impl BufRead,
    take: impl FnMut(Piece),
) -> Result<(), DumpError> {
    let first = loop {
        let buffer = dump.fill_buf();
        let buffer = buffer.map_err(|reason| DumpError::unreadable(path, reason))?;
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
        _ => yaml(path, dump, take),
    }
}

fn yaml(path: &str, mut dump: impl BufRead, take: impl FnMut(Piece)) -> Result<(), DumpError> {
    let mut splitter = Splitter {
        piece: Piece::at(1),
        is_item: false,
        items: Items::None,
        is_list: false,
        take,
    };
    let mut bytes = Vec::new();
    for number in 1.. {
        bytes.clear();
        let read = dump.read_until(b'\n', &mut bytes);
        if read.map_err(|reason| DumpError::unreadable(path, reason))? == 0 {
            break;
        }
        splitter.line(number, &String::from_utf8_lossy(&bytes));
        if splitter.piece.text.len() > LARGEST {
            return Err(DumpError::TooLarge {
                path: path.to_owned(),
                line: splitter.piece.line,
            });
        }
    }
    splitter.end_piece(0);
    Ok(())
}

/// Where a line is in relation to the items of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Items {
    /// Outside of the items.
    None,
    /// Just before the first item: the line is `items:`.
    Next,
    /// In the items, whose dashes have this indentation.
    Indented(usize),
}

struct Splitter<T> {
    piece: Piece,
    /// Whether the piece is an item of a list, and not a document or another part of a list.
    is_item: bool,
    items: Items,
    is_list: bool,
    take: T,
}

impl<T: FnMut(Piece)> Splitter<T> {
    fn line(&mut self, number: usize, line: &str) {
        let text = line.trim_end();
        if text == "---" || text.starts_with("--- ") {
            self.end_piece(number);
            (self.is_item, self.items, self.is_list) = (false, Items::None, false);
            return;
        }
        let content = text.trim_start();
        if content.is_empty() || content.starts_with('#') {
            self.piece.text.push_str(line);
            return;
        }
        let indent = text.len() - content.len();
        self.items = match self.items {
            Items::Next if content.starts_with("- ") => Items::Indented(indent),
            Items::Indented(at) if indent > at => Items::Indented(at),
            Items::Indented(at) if indent == at && content.starts_with("- ") => Items::Indented(at),
            _ => Items::None,
        };
        if self.items == Items::Indented(indent) {
            self.end_piece(number);
            self.is_item = true;
            // The dash becomes a space, so that the item is a document.
            self.piece.text.push_str(&line[..indent]);
            self.piece.text.push(' ');
            self.piece.text.push_str(&line[indent + 1..]);
            return;
        }
        if self.is_item && self.items == Items::None {
            self.end_piece(number);
            self.is_item = false;
        }
        if !self.is_item && text == "items:" {
            (self.items, self.is_list) = (Items::Next, true);
        }
        self.piece.text.push_str(line);
    }

    /// Passes the piece to `take` if it is an object, and begins the next one at line `next`.
    fn end_piece(&mut self, next: usize) {
        let piece = std::mem::replace(&mut self.piece, Piece::at(next));
        // Text outside of the items of a list is not an object.
        let is_document = !self.is_list && !piece.text.trim().is_empty();
        if self.is_item || is_document {
            (self.take)(piece);
        }
    }
}

/// Reads every JSON value of a dump: `kubectl get -o json` prints one for each call.
fn json(path: &str, dump: impl BufRead, mut take: impl FnMut(Piece)) -> Result<(), DumpError> {
    let mut deserializer = serde_json::Deserializer::from_reader(dump);
    while deserializer.end().is_err() {
        let document = Document { take: &mut take };
        let read = deserializer.deserialize_map(document);
        read.map_err(|reason| DumpError::Json {
            path: path.to_owned(),
            reason,
        })?;
    }
    Ok(())
}

/// Visits an object, or a list whose items are passed to `take` as they are read.
struct Document<T> {
    take: T,
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
                    map.next_value_seed(ListItems {
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

struct ListItems<'t, T> {
    take: &'t mut T,
}

impl<'de, T: FnMut(Piece)> DeserializeSeed<'de> for ListItems<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: FnMut(Piece)> Visitor<'de> for ListItems<'_, T> {
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
        pieces(dump)
            .into_iter()
            .map(|(_, text)| {
                let value: Value = serde_yaml::from_str(&text).expect("a document");
                value["metadata"]["name"].as_str().unwrap_or("?").to_owned()
            })
            .collect()
    }

    #[test]
    fn list_items_are_streamed_one_by_one() {
        let list = "apiVersion: v1\nitems:\n- kind: A\n  metadata:\n    name: one\n- kind: B\n  metadata:\n    name: two\n  rules:\n  - verbs: []\nkind: List\nmetadata: {}\n";
        assert_eq!(names(list), ["one", "two"]);
        assert_eq!(pieces(list)[1].0, 6, "the line of the second");
        let indented =
            "kind: List\nitems:\n  - metadata:\n      name: one\n  - metadata: {name: two}\n";
        assert_eq!(names(indented), ["one", "two"]);
        assert_eq!(
            names("kind: List\nitems: []\n"),
            ["?"],
            "an empty list is one document"
        );
    }

    #[test]
    fn documents_are_streamed_without_splitting_their_inner_lists() {
        let documents = "kind: ClusterRole\nmetadata: {name: one}\nrules:\n- verbs: []\n---\nmetadata: {name: two}\n---\nitems:\n- metadata: {name: three}\n";
        assert_eq!(names(documents), ["one", "two", "three"]);
        assert_eq!(names(""), [""; 0]);
    }

    #[test]
    fn json_objects_and_list_items_are_streamed() {
        let list = "\n {\"kind\": \"List\", \"items\": [{\"metadata\": {\"name\": \"one\"}}, {\"metadata\": {\"name\": \"two\"}}], \"metadata\": {}}";
        assert_eq!(names(list), ["one", "two"]);
        assert_eq!(names("{\"metadata\": {\"name\": \"one\"}}"), ["one"]);
        assert_eq!(
            names(&format!("{list}\n{list}")),
            ["one", "two", "one", "two"]
        );
        let broken = split("d.json", "{\"items\": [".as_bytes(), |_| {}).expect_err("no end");
        assert!(
            broken.to_string().starts_with("d.json is not JSON"),
            "{broken}"
        );
    }
}
