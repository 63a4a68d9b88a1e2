//! Files about operators: those of `rules/operators`, and those that the configuration lists under `operators:`.

use serde_json::{Map, Number, Value as Json};
use serde_path_to_error::{Path, Segment};

use super::value::{start, tree_of};
use super::{Config, Mistake, folder_of};
use crate::inventory::ExtraKind;
use crate::knowledge::{
    Conflict, DefinedKind, DefinedScope, KindPattern, NamedOperator, Operator, conflicts,
};
use crate::kube::Scope;
use crate::text::{SourceFile, Span};
use crate::yaml::{Kind, Value};

/// The nesting limit: no operator file nests deeper.
const DEEPEST: usize = 16;

/// Reads an operator file.
///
/// # Errors
/// The first mistake, with its place.
pub fn read_operator(file: &SourceFile) -> Result<Operator, Mistake> {
    let tree = tree_of(file)?;
    let Some(root) = tree.as_ref().map(|tree| tree.root()) else {
        return Err(Mistake::at(file, Span::empty(0), "describes no operator")
            .help("begin with `project: owner/name`, the repository of its source"));
    };
    let Some(json) = json(root, DEEPEST) else {
        let message = "is nested too deeply for an operator file";
        return Err(Mistake::at(file, start(root), message));
    };
    let operator: Operator = serde_path_to_error::deserialize(json).map_err(|error| {
        let place = place(file, root, error.path());
        let whose = match error.path().to_string().as_str() {
            "." => String::new(),
            path => format!(" in `{path}`"),
        };
        let message = format!("has a mistake{whose}: {}", error.inner());
        Mistake::at(file, place, message)
            .help("`ownerlint schema operator` prints the schema of such a file")
    })?;
    let mut finalizers = operator.controllers.iter().flat_map(|one| &one.finalizers);
    if let Some(finalizer) = finalizers.next().filter(|_| operator.none) {
        let name = finalizer.name.as_str();
        let message =
            format!("says that the operator adds no finalizer (`none: true`), and lists `{name}`");
        return Err(Mistake::at(file, start(root), message).help("leave out one of the two"));
    }
    Ok(operator)
}

/// Converts a YAML value to JSON; `None` if it nests too deeply.
fn json(value: Value<'_>, depth: usize) -> Option<Json> {
    let deeper = depth.checked_sub(1)?;
    Some(match value.kind() {
        Kind::Null => Json::Null,
        Kind::Bool(flag) => Json::Bool(flag),
        Kind::Int(number) => Json::Number(number.into()),
        Kind::Uint(number) => Json::Number(number.into()),
        Kind::Float(number) => Number::from_f64(number).map_or(Json::Null, Json::Number),
        Kind::String(text) => Json::String(text.to_owned()),
        Kind::Map => {
            let entries = value
                .entries()
                .map(|entry| Some((entry.key.to_owned(), json(entry.value, deeper)?)));
            Json::Object(entries.collect::<Option<Map<_, _>>>()?)
        }
        Kind::Seq => {
            let items = value.items().map(|item| json(item, deeper));
            Json::Array(items.collect::<Option<_>>()?)
        }
    })
}

/// Returns the place of the mistake at `path`: the deepest existing value on it, or the key of a
/// map or list.
fn place(file: &SourceFile, root: Value<'_>, path: &Path) -> Span {
    let mut value = root;
    let mut span = start(root);
    for segment in path {
        let (inner, key_span) = match segment {
            Segment::Map { key } => {
                let entry = value.entry(key);
                (
                    entry.map(|entry| entry.value),
                    entry.map(|entry| entry.key_span),
                )
            }
            Segment::Seq { index } => (value.items().nth(*index), None),
            Segment::Enum { .. } | Segment::Unknown => (None, None),
        };
        let Some(inner) = inner else { break };
        value = inner;
        span = key_span
            .filter(|_| value.is_map() || value.is_seq())
            .unwrap_or(file.first_line(value.span()));
    }
    span
}

impl Config {
    /// Adds the facts of the files under `operators:`, which `read` reads.
    ///
    /// # Errors
    /// A file cannot be read, or contains a mistake.
    pub fn with_operators(
        mut self,
        mut read: impl FnMut(&str) -> Result<SourceFile, String>,
    ) -> Result<Self, Mistake> {
        let folder = folder_of(self.source.path()).to_owned();
        let named = std::mem::take(&mut self.operator_files);
        let mut known = Vec::new();
        for (path, span) in &named {
            let place = format!("{folder}{}", path.strip_prefix("./").unwrap_or(path));
            let file = read(&place).map_err(|reason| {
                Mistake::at(&self.source, *span, format!("names a file that cannot be read: {reason}"))
                    .help("write the path of a file about an operator, from the folder of the configuration")
            })?;
            known.push(NamedOperator {
                operator: read_operator(&file)?,
                name: place,
            });
        }
        if let Some(Conflict {
            about,
            first,
            second,
        }) = conflicts(&known).into_iter().next()
        {
            let mut places = known.iter().zip(&named);
            let place = places.find(|(operator, _)| operator.name == second);
            let span = place.map_or(Span::empty(0), |(_, (_, span))| *span);
            let message = format!("names a file about the {about}, and so does {first}");
            return Err(
                Mistake::at(&self.source, span, message).help("keep it in one of the two files")
            );
        }
        for NamedOperator { operator, .. } in known {
            self.facts.add(operator.into_facts());
        }
        for DefinedKind { kind, scope } in std::mem::take(&mut self.facts.crds) {
            if let KindPattern::Exact { kind, group } = kind {
                self.scopes.push(ExtraKind {
                    group: group.into(),
                    kind: kind.into(),
                    versions: Vec::new(),
                    scope: match scope {
                        DefinedScope::Namespaced => Scope::Namespaced,
                        DefinedScope::Cluster => Scope::Cluster,
                    },
                });
            }
        }
        Ok(self)
    }
}
