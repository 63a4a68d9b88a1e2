//! Files about operators: those of `rules/operators`, and those that a configuration names under `operators:`.

use serde_json::{Map, Number, Value as Json};
use serde_path_to_error::{Path, Segment};

use super::value::{first_line, start, tree_of};
use super::{Config, Mistake, folder_of};
use crate::inventory::ExtraKind;
use crate::knowledge::{
    Conflict, DefinedScope, KindPattern, KnownFinalizers, NamedOperator, Operator, Tables,
    conflicts,
};
use crate::kube::Scope;
use crate::text::{SourceFile, Span};
use crate::yaml::{Kind, Value};

/// No operator nests deeper.
const DEEPEST: usize = 16;

/// Reads what a file tells of an operator.
///
/// # Errors
/// The first mistake, with its place.
pub fn read_operator(file: &SourceFile) -> Result<Operator, Mistake> {
    let tree = tree_of(file)?;
    let Some(root) = tree.as_ref().map(|tree| tree.root()) else {
        return Err(
            Mistake::at(file, Span::empty(0), "says nothing of an operator")
                .help("begin with `project: owner/name`, the repository of its source"),
        );
    };
    let Some(json) = json(root, DEEPEST) else {
        return Err(Mistake::at(
            file,
            start(root),
            "nests deeper than any operator file",
        ));
    };
    let operator: Operator = serde_path_to_error::deserialize(json).map_err(|error| {
        let place = place(file, root, error.path());
        let path = error.path().to_string();
        let whose = match path.as_str() {
            "." => String::new(),
            path => format!(" in `{path}`"),
        };
        Mistake::at(
            file,
            place,
            format!("has a mistake{whose}: {}", error.inner()),
        )
        .help("`ownerlint schema operator` prints what such a file may say")
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

/// The value without places; `None` if it nests too deeply.
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
            let entries = value.entries();
            let entries = entries
                .map(|entry| Some((entry.key.to_owned(), json(entry.value, deeper)?)))
                .collect::<Option<Map<_, _>>>()?;
            Json::Object(entries)
        }
        Kind::Seq => {
            let items = value.items().map(|item| json(item, deeper));
            Json::Array(items.collect::<Option<_>>()?)
        }
    })
}

/// Where a mistake is written: the value that a path leads to, or the last one on the way; of a key that is not known the key.
fn place(file: &SourceFile, root: Value<'_>, path: &Path) -> Span {
    let mut value = root;
    let mut span = start(root);
    for segment in path {
        let entry = match segment {
            Segment::Map { key } => value.entries().find(|entry| entry.key == *key),
            Segment::Seq { index } => {
                let Some(item) = value.items().nth(*index) else {
                    break;
                };
                value = item;
                span = first_line(file, item.span());
                continue;
            }
            Segment::Enum { .. } | Segment::Unknown => None,
        };
        let Some(entry) = entry else { break };
        value = entry.value;
        span = match value.is_map() || value.is_seq() {
            true => entry.key_span,
            false => first_line(file, value.span()),
        };
    }
    span
}

impl Config {
    /// Takes in the files under `operators:`, as `read` reads them.
    ///
    /// # Errors
    /// A file that cannot be read, and a mistake in one.
    pub fn with_operators(
        mut self,
        mut read: impl FnMut(&str) -> Result<SourceFile, String>,
    ) -> Result<Self, Mistake> {
        let folder = folder_of(self.source.path()).to_owned();
        let mut known = Vec::new();
        for (path, span) in std::mem::take(&mut self.operator_files) {
            let place = format!("{folder}{}", path.strip_prefix("./").unwrap_or(&path));
            let file = read(&place).map_err(|reason| {
                Mistake::at(&self.source, span, format!("names a file that cannot be read: {reason}"))
                    .help("write the path of a file about an operator, from the folder of the configuration")
            })?;
            let operator = read_operator(&file)?;
            self.take_operator(&operator);
            known.push(NamedOperator {
                name: place,
                operator,
            });
            if let Some(conflict) = conflicts(&known).into_iter().next() {
                let Conflict { about, first, .. } = conflict;
                let message =
                    format!("names a file that tells of the {about}, and so does {first}");
                return Err(Mistake::at(&self.source, span, message)
                    .help("leave it to one of the two files"));
            }
        }
        Ok(self)
    }

    /// What a file tells comes after what the configuration itself says.
    fn take_operator(&mut self, operator: &Operator) {
        let Tables {
            generators,
            owns,
            data,
            ..
        } = Tables::of_operators([operator]);
        self.controllers
            .extend(KnownFinalizers::of_operator(operator));
        self.generators.extend(generators);
        self.owns.extend(owns);
        self.data.extend(data);
        for defined in &operator.crds {
            if let KindPattern::Exact { kind, group } = &defined.kind {
                self.scopes.push(ExtraKind {
                    group: group.clone(),
                    kind: kind.clone(),
                    versions: Vec::new(),
                    scope: match defined.scope {
                        DefinedScope::Namespaced => Scope::Namespaced,
                        DefinedScope::Cluster => Scope::Cluster,
                    },
                });
            }
        }
    }
}
