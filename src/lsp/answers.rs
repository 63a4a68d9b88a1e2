//! What a session says to an editor's questions.

use lsp_types::{
    CodeLens, Command, DocumentSymbol, Hover, HoverContents, Location, MarkupContent, MarkupKind, Position, SymbolKind,
    WorkspaceSymbol,
};
use lsp_types::{OneOf, Uri};
use serde_json::json;

use super::place::{location, offset, range};
use crate::engine::{DeletionPlan, ObjectPlace, ObjectSpot, Session, Spot};
use crate::report::RowInfo;
use crate::text::{ColumnUnit, plain};

/// How many objects a hover lists.
const LISTED: usize = 8;
/// How many symbols one search shows.
const SYMBOLS: usize = 500;

/// A session, and how columns are counted.
#[derive(Clone, Copy)]
pub(super) struct Answers<'s> {
    pub(super) session: &'s Session,
    pub(super) unit: ColumnUnit,
}

impl Answers<'_> {
    fn at(&self, path: &str, position: Position) -> Option<ObjectSpot> {
        let file = self.session.source(path)?;
        self.session.at(path, offset(file, position, self.unit))
    }

    /// Who owns, who removes, what is deleted with it.
    pub(super) fn hover(&self, path: &str, position: Position) -> Option<Hover> {
        let found = self.at(path, position)?;
        let text = match &found.spot {
            Spot::Identity => self.deletion(&found.object)?,
            Spot::Owner { named, place: Some(owner) } => {
                let deletion = self.deletion(owner).unwrap_or_default();
                format!(
                    "{} owns {}: it is deleted with its last owner.\n\n{deletion}",
                    code(named),
                    code(&found.object.key)
                )
            }
            Spot::Owner { named, place: None } => {
                let named = code(named);
                format!("{named} is not in the input. If the cluster has no such owner either, the object is deleted.")
            }
            Spot::Finalizer { finalizer, rows } => finalizer_text(finalizer, rows),
            Spot::Namespace => self.deletion(&self.session.definition(&found)?)?,
            Spot::Other => return None,
        };
        let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text });
        Some(Hover { contents, range: None })
    }

    fn deletion(&self, object: &ObjectPlace) -> Option<String> {
        let plan = self.session.deletion_of(object).ok()?;
        let mut text = format!("Deleting {} {}.", code(&object.key), headline(&plan));
        let others = plan.deleted.iter().filter(|key| **key != object.key);
        for key in others.clone().take(LISTED) {
            text.push_str(&format!("\n- {}", code(key)));
        }
        let left = others.count().saturating_sub(LISTED);
        if left > 0 {
            text.push_str(&format!("\n- and {left} more"));
        }
        for key in plan.stuck.iter().take(LISTED) {
            text.push_str(&format!("\n- {} **stays Terminating**", code(key)));
        }
        Some(text)
    }

    /// The owner, the Namespace, or the definition of the kind.
    pub(super) fn definition(&self, path: &str, position: Position) -> Option<Location> {
        let found = self.at(path, position)?;
        location(&self.session.definition(&found)?, self.unit)
    }

    /// What depends on the object, or on the owner that is named there.
    pub(super) fn references(&self, path: &str, position: Position) -> Option<Vec<Location>> {
        let mut found = self.at(path, position)?;
        if let Spot::Owner { place: Some(owner), .. } = &found.spot {
            found = self.session.at(owner.file.path(), owner.name.start)?;
        }
        let dependents = self.session.dependents(&found);
        Some(dependents.iter().filter_map(|object| location(object, self.unit)).collect())
    }

    /// The objects of a file.
    pub(super) fn document_symbols(&self, path: &str) -> Option<Vec<DocumentSymbol>> {
        self.session.source(path)?;
        let symbol = |object: ObjectPlace| {
            #[expect(deprecated, reason = "the type has the field, and no other way to be made")]
            DocumentSymbol {
                name: plain::one_line(&object.key.name),
                detail: Some(plain::one_line(&object.key.to_string())),
                kind: SymbolKind::OBJECT,
                tags: None,
                deprecated: None,
                range: range(&object.file, object.whole, self.unit),
                selection_range: range(&object.file, object.name, self.unit),
                children: None,
            }
        };
        Some(self.session.objects_of(path).into_iter().map(symbol).collect())
    }

    /// The objects whose keys contain `query`, whatever its case.
    pub(super) fn workspace_symbols(&self, query: &str) -> Vec<WorkspaceSymbol> {
        let query = query.to_lowercase();
        let named =
            self.session.object_places().filter(|object| object.key.to_string().to_lowercase().contains(&query));
        let symbol = |object: ObjectPlace| {
            let location = location(&object, self.unit)?;
            Some(WorkspaceSymbol {
                name: plain::one_line(&object.key.to_string()),
                kind: SymbolKind::OBJECT,
                tags: None,
                container_name: None,
                location: OneOf::Left(location),
                data: None,
            })
        };
        named.filter_map(symbol).take(SYMBOLS).collect()
    }

    /// A lens above each object; what it says is found out when the editor shows it.
    pub(super) fn lenses(&self, path: &str, uri: &Uri) -> Vec<CodeLens> {
        let lens = |object: ObjectPlace| CodeLens {
            range: range(&object.file, object.name, self.unit),
            command: None,
            data: Some(json!({"uri": uri.as_str(), "offset": object.name.start})),
        };
        self.session.objects_of(path).into_iter().map(lens).collect()
    }

    /// What a lens says: how many objects a deletion deletes.
    pub(super) fn lens(&self, path: &str, offset: u32) -> Option<Command> {
        let found = self.session.at(path, offset)?;
        let plan = self.session.deletion_of(&found.object).ok()?;
        Some(Command { title: headline(&plan), command: String::new(), arguments: None })
    }
}

/// `deletes 5 objects; 1 gets stuck`.
fn headline(plan: &DeletionPlan) -> String {
    let deleted = format!("deletes {}", plain::count(plan.deleted.len(), "object"));
    match plan.stuck.len() {
        0 => deleted,
        1 => format!("{deleted}; 1 gets stuck"),
        stuck => format!("{deleted}; {stuck} get stuck"),
    }
}

fn finalizer_text(finalizer: &str, rows: &[RowInfo]) -> String {
    let finalizer = code(finalizer);
    if rows.is_empty() {
        return format!(
            "{finalizer}: no known controller removes it. The object stays Terminating until somebody does."
        );
    }
    let rows = rows.iter().map(|row| row.says.join(" "));
    format!("{finalizer}\n\n{}", rows.collect::<Vec<_>>().join("\n\n"))
}

/// A stranger's text as Markdown code, which it cannot end.
fn code(text: impl ToString) -> String {
    format!("`{}`", plain::one_line(&text.to_string()).replace('`', "'"))
}
