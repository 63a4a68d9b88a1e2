//! Completion: kinds, apiVersions, owners, finalizers and annotations.
//!
//! The position of the cursor is inferred from the indentation of the lines above it, because unfinished text is seldom
//! valid YAML.

use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, Position, Range, TextEdit,
};

use super::answers::Answers;
use super::place::{offset, range};
use crate::delivery::marks;
use crate::engine::PossibleOwner;
use crate::manifest::OWNER_REFERENCE_FIELDS;
use crate::rules::RULES;
use crate::text::{Span, plain};

/// The beginning of annotations that ignore a rule.
const IGNORE: &str = "ignore.ownerlint/";

/// Returns the completions at a position; each replaces the typed part of its word.
pub(super) fn items(
    answers: &Answers<'_>,
    path: &str,
    position: Position,
) -> Option<Vec<CompletionItem>> {
    let file = answers.inquiry.source(path)?;
    let at = offset(file, position, answers.unit);
    let before = file.text().get(..at as usize)?;
    let cursor = Cursor::find(before)?;
    let document = Document::around(file.text(), at as usize);
    let inquiry = &answers.inquiry;
    let mut suggestions = match (cursor.parents.as_slice(), cursor.key) {
        ([], Some("kind")) => inquiry.kinds(path, document.api_version),
        ([], Some("apiVersion")) => inquiry.api_versions(path, document.kind),
        ([.., "metadata", "finalizers"], None) => {
            inquiry.finalizers(path, document.api_version?, document.kind?)
        }
        ([.., "metadata", "annotations"], None) => annotations_to_write(),
        ([.., "metadata", "ownerReferences"], None) => {
            let keys = OWNER_REFERENCE_FIELDS.into_iter();
            keys.filter(|key| cursor.siblings.iter().all(|(other, _)| other != key))
                .map(|key| (key.to_owned(), field_of_owner(key).to_owned()))
                .collect()
        }
        ([.., "metadata", "ownerReferences"], Some(key)) => {
            let owners = inquiry.possible_owners(path, document.namespace);
            let fitting = owners.iter().filter(|owner| cursor.fits(owner));
            fitting.filter_map(|owner| entry_of(owner, key)).collect()
        }
        _ => return None,
    };
    let typed = range(file, Span::new(at - cursor.typed as u32, at), answers.unit);
    let form = match cursor.parents.last() {
        Some(&"annotations") => Form::Key,
        Some(&"ownerReferences") if cursor.key.is_none() => Form::Key,
        _ if before.ends_with(':') => Form::ValueAtColon,
        _ => Form::Value,
    };
    let word = &before[before.len() - cursor.typed..];
    suggestions.sort_by(|(a, _), (b, _)| (is_rare(a), a).cmp(&(is_rare(b), b)));
    suggestions.dedup_by(|a, b| a.0 == b.0);
    suggestions.retain(|(text, _)| is_plain(text) && text != word);
    let suggestions = suggestions.into_iter();
    let items = suggestions.map(|(text, detail)| item(text, detail, typed, form));
    Some(items.collect())
}

/// Whether a text can be inserted without quotes: names in a manifest may contain anything, even line breaks.
fn is_plain(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_./:".contains(c))
}

/// Describes a field of an owner reference.
fn field_of_owner(key: &str) -> &'static str {
    match key {
        "apiVersion" => "group and version of the owner",
        "uid" => "uid of the owner, which differs in every cluster",
        "controller" => "whether the owner manages this object",
        "blockOwnerDeletion" => "whether a Foreground deletion of the owner waits for this object",
        _ => "of the owner",
    }
}

/// Returns the owner's value for a key of an owner reference, with another value that distinguishes the owner.
fn entry_of(owner: &PossibleOwner<'_>, key: &str) -> Option<(String, String)> {
    let (text, detail) = match key {
        "kind" => (owner.kind, owner.api_version),
        "apiVersion" => (owner.api_version, owner.kind),
        "name" => (owner.name, owner.kind),
        _ => return None,
    };
    Some((text.to_owned(), detail.to_owned()))
}

/// The form in which a text is inserted.
#[derive(Clone, Copy)]
enum Form {
    Key,
    Value,
    /// A value whose key has no space after its colon yet.
    ValueAtColon,
}

fn item(text: String, detail: String, typed: Range, form: Form) -> CompletionItem {
    let new_text = match form {
        Form::Key => format!("{text}: "),
        Form::Value => text.clone(),
        Form::ValueAtColon => format!(" {text}"),
    };
    CompletionItem {
        label: plain::one_line(&text),
        kind: Some(CompletionItemKind::VALUE),
        detail: Some(plain::one_line(&detail)),
        // A tilde sorts after letters.
        sort_text: is_rare(&text).then(|| format!("~{text}")),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit::new(typed, new_text))),
        ..CompletionItem::default()
    }
}

/// Whether a text is offered last: there is one for each rule.
fn is_rare(text: &str) -> bool {
    text.starts_with(IGNORE)
}

/// Returns the annotations that affect deletions, and those that ignore a rule.
fn annotations_to_write() -> Vec<(String, String)> {
    let ignored = RULES.iter().map(|rule| {
        let text = format!("{IGNORE}{}", rule.id);
        (text, rule.summary.to_owned())
    });
    let helm = [
        marks::HELM_RESOURCE_POLICY,
        marks::HELM_HOOK,
        marks::HELM_HOOK_DELETE_POLICY,
        marks::HELM_HOOK_WEIGHT,
    ];
    let of_tools = [
        (&helm[..], "Helm"),
        (&marks::ARGOCD_OPTIONS, "Argo CD"),
        (&marks::FLUX_OPTIONS, "Flux"),
    ];
    let of_tools = of_tools.into_iter().flat_map(|(keys, tool)| {
        let keys = keys.iter();
        keys.map(move |key| ((*key).to_owned(), format!("read by {tool}")))
    });
    of_tools.chain(ignored).collect()
}

/// The position of the cursor.
#[derive(Debug, PartialEq, Eq)]
struct Cursor<'t> {
    /// The keys above the position, outermost first. Items of lists have no key.
    parents: Vec<&'t str>,
    /// The key whose value is being typed; `None` for a key and for an item of a list.
    key: Option<&'t str>,
    /// The length of the typed part of the word, in bytes.
    typed: usize,
    /// The entries of the same mapping above the position.
    siblings: Vec<(&'t str, &'t str)>,
}

impl<'t> Cursor<'t> {
    /// Finds the position at the end of a text; `None` where this module has nothing to suggest.
    fn find(text: &'t str) -> Option<Self> {
        let mut lines = text.rsplit('\n');
        let line = lines.next()?;
        let (mut column, dashes, entry) = parts(line);
        if entry.starts_with('#') {
            return None;
        }
        let (key, word) = match entry.split_once(':') {
            Some((key, value)) if value.is_empty() || value.starts_with(' ') => {
                (Some(key.trim()), value.trim_start())
            }
            _ => (None, entry),
        };
        let word = word.strip_prefix(['"', '\'']).unwrap_or(word);
        if word.contains([' ', '"', '\'', '#', '[', '{']) {
            return None;
        }
        let mut cursor = Self {
            parents: Vec::new(),
            key,
            typed: word.len(),
            siblings: Vec::new(),
        };
        // The column of the innermost dash, until the key of its list is found.
        let mut item = dashes.last().copied();
        let mut is_sibling = item.is_none();
        for line in lines {
            let (at, dashes, entry) = parts(line);
            if line.starts_with("---") {
                break;
            }
            if entry.is_empty() && dashes.is_empty() || entry.starts_with('#') {
                continue;
            }
            if let Some((key, value)) = entry.split_once(':') {
                let value = value.trim();
                let is_above = match item {
                    Some(dash) => at <= dash && value.is_empty(),
                    None => at < column,
                };
                if is_above {
                    cursor.parents.push(key.trim());
                    (column, item, is_sibling) = (at, None, false);
                } else if is_sibling && item.is_none() && at == column {
                    cursor.siblings.push((key.trim(), value));
                }
            }
            if item.is_none()
                && let Some(&dash) = dashes.iter().rfind(|dash| **dash < column)
            {
                (item, is_sibling) = (Some(dash), false);
            }
        }
        cursor.parents.reverse();
        Some(cursor)
    }

    /// Whether an owner matches the other entries of the reference.
    fn fits(&self, owner: &PossibleOwner<'_>) -> bool {
        self.siblings.iter().all(|(key, written)| match *key {
            "kind" => *written == owner.kind,
            "apiVersion" => *written == owner.api_version,
            "name" => *written == owner.name,
            _ => true,
        })
    }
}

/// Returns the column of a line's entry, the columns of the dashes before it, and the entry.
fn parts(line: &str) -> (usize, Vec<usize>, &str) {
    let mut rest = line.trim_start_matches(' ');
    let mut dashes = Vec::new();
    while let Some(after) = rest
        .strip_prefix('-')
        .filter(|after| after.is_empty() || after.starts_with(' '))
    {
        dashes.push(line.len() - rest.len());
        rest = after.trim_start_matches(' ');
    }
    (line.len() - rest.len(), dashes, rest.trim_end())
}

/// The document around an offset, as far as its lines show it.
#[derive(Default)]
struct Document<'t> {
    api_version: Option<&'t str>,
    kind: Option<&'t str>,
    namespace: Option<&'t str>,
}

impl<'t> Document<'t> {
    fn around(text: &'t str, at: usize) -> Self {
        let start = text[..at].rfind("\n---").map_or(0, |start| start + 4);
        let end = text[at..].find("\n---").map_or(text.len(), |end| at + end);
        let mut document = Self::default();
        let mut is_metadata = false;
        for line in text[start..end].lines() {
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            let value = value.trim().trim_matches(['"', '\'']);
            let value = (!value.is_empty()).then_some(value);
            match key {
                "apiVersion" => document.api_version = value,
                "kind" => document.kind = value,
                _ if is_metadata && key.trim_start() == "namespace" => {
                    document.namespace = document.namespace.or(value);
                }
                _ => {}
            }
            if !key.starts_with([' ', '-']) {
                is_metadata = key == "metadata";
            }
        }
        document
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> (Vec<&str>, Option<&str>, usize) {
        let cursor = Cursor::find(text).expect("a place");
        (cursor.parents, cursor.key, cursor.typed)
    }

    #[test]
    fn cursor_finds_its_parent_keys() {
        assert_eq!(place("kind: Dep"), (vec![], Some("kind"), 3));
        assert_eq!(
            place("metadata:\n  name: a\n  finalizers:\n  - fore"),
            (vec!["metadata", "finalizers"], None, 4)
        );
        assert_eq!(
            place("metadata:\n  annotations:\n    a: b\n    helm"),
            (vec!["metadata", "annotations"], None, 4)
        );
        assert_eq!(
            place("spec:\n  template:\n    metadata:\n      finalizers:\n        - \"x"),
            (vec!["spec", "template", "metadata", "finalizers"], None, 1)
        );
        assert_eq!(place("a: b\n---\nkind: "), (vec![], Some("kind"), 0));
    }

    #[test]
    fn cursor_finds_siblings_in_owner_reference() {
        let text = "metadata:\n  ownerReferences:\n    - kind: A\n      name: x\n    - apiVersion: v1\n      kind: B\n      name: ";
        let cursor = Cursor::find(text).expect("a place");
        assert_eq!(cursor.parents, ["metadata", "ownerReferences"]);
        assert_eq!(cursor.key, Some("name"));
        assert_eq!(cursor.siblings, [("kind", "B"), ("apiVersion", "v1")]);
    }

    #[test]
    fn cursor_finds_nothing_in_comments_or_second_words() {
        assert_eq!(Cursor::find("# kind: "), None);
        assert_eq!(Cursor::find("kind: A B"), None);
    }
}
