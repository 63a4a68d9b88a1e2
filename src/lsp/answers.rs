//! Answers to requests of an editor about the objects of its folder.

use std::str::FromStr;

use lsp_types::{
    CodeLens, DocumentSymbol, Hover, HoverContents, Location, MarkupContent, MarkupKind, Position,
    Range, SymbolKind, WorkspaceSymbol,
};
use lsp_types::{OneOf, Uri};
use serde_json::json;

use super::hover::{headline, text};
use super::place::{offset, range};
use crate::engine::{Inquiry, ObjectPlace, ObjectSpot};
use crate::report::plan::PlanFormat;
use crate::report::{Report, file_uri};
use crate::text::{ColumnUnit, plain};

/// The command of the editor that opens the plan of a deletion as a page.
pub(super) const OPEN_PLAN: &str = "ownerlint.openPlan";

/// The maximum number of symbols that one search returns.
pub(super) const SYMBOLS: usize = 500;

/// The answers about a folder as it is between two changes.
#[derive(Debug)]
pub(super) struct Answers<'s> {
    pub(super) inquiry: Inquiry<'s>,
    /// The findings, if the folder could be checked.
    pub(super) report: Option<Report>,
    pub(super) unit: ColumnUnit,
    /// The document, if there is only a text without a file.
    pub(super) text: Option<Uri>,
}

impl Answers<'_> {
    fn at(&self, path: &str, position: Position) -> Option<ObjectSpot> {
        let file = self.inquiry.source(path)?;
        self.inquiry.at(path, offset(file, position, self.unit))
    }

    /// Returns the place of an object's name, or the line of the kustomization that generates it.
    fn location(&self, object: &ObjectPlace) -> Option<Location> {
        let (file, name) = (&object.file, object.name);
        let uri = match &self.text {
            Some(uri) => uri.clone(),
            None => Uri::from_str(&file_uri(file.path_in_tree())).ok()?,
        };
        let range = if file.path_in_tree() == file.path() {
            range(file, name, self.unit)
        } else {
            let line = file.line_in_tree(name.start).saturating_sub(1) as u32;
            Range::new(Position::new(line, 0), Position::new(line, 0))
        };
        Some(Location { uri, range })
    }

    /// Describes the owner at a position, removers of finalizers, or the effects of a deletion.
    pub(super) fn hover(&self, path: &str, position: Position) -> Option<Hover> {
        let value = text(&self.inquiry, &self.at(path, position)?)?;
        let contents = HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value,
        });
        Some(Hover {
            contents,
            range: None,
        })
    }

    /// Returns the places of the owner, the used object, the Namespace, or the definition of the kind; several if builds
    /// of the file differ.
    pub(super) fn definition(&self, path: &str, position: Position) -> Option<Vec<Location>> {
        let found = self.inquiry.definitions(&self.at(path, position)?);
        let places = self.locations(&found);
        (!places.is_empty()).then_some(places)
    }

    /// Returns the dependents of the object, or of the object that is named at the position.
    pub(super) fn references(&self, path: &str, position: Position) -> Option<Vec<Location>> {
        let found = self.at(path, position)?;
        Some(self.locations(&self.inquiry.references(&found)))
    }

    fn locations(&self, objects: &[ObjectPlace]) -> Vec<Location> {
        let places = objects.iter().filter_map(|object| self.location(object));
        places.collect()
    }

    /// Returns the objects of a file.
    pub(super) fn document_symbols(&self, path: &str) -> Option<Vec<DocumentSymbol>> {
        self.inquiry.source(path)?;
        let objects = self.inquiry.objects_of(path).into_iter();
        Some(objects.map(|object| self.symbol(&object)).collect())
    }

    #[expect(
        deprecated,
        reason = "the type has no constructor, so every field must be set"
    )]
    fn symbol(&self, object: &ObjectPlace) -> DocumentSymbol {
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
    }

    /// Returns the objects whose keys contain `query`, ignoring case.
    pub(super) fn workspace_symbols(&self, query: &str) -> Vec<WorkspaceSymbol> {
        let query = query.to_lowercase();
        let named = self
            .inquiry
            .object_places()
            .filter(|object| object.key.to_string().to_lowercase().contains(&query));
        let symbols = named.filter_map(|object| {
            let location = self.location(&object)?;
            Some(WorkspaceSymbol {
                name: plain::one_line(&object.key.to_string()),
                kind: SymbolKind::OBJECT,
                tags: None,
                container_name: None,
                location: OneOf::Left(location),
                data: None,
            })
        });
        symbols.take(SYMBOLS).collect()
    }

    /// Returns a lens for each object whose deletion has known effects. Its title is computed when the editor shows it.
    pub(super) fn lenses(&self, path: &str, uri: &Uri) -> Vec<CodeLens> {
        self.inquiry
            .deletable_objects_of(path)
            .into_iter()
            .map(|object| CodeLens {
                range: range(&object.file, object.name, self.unit),
                command: None,
                data: Some(json!({"uri": uri.as_str(), "offset": object.name.start})),
            })
            .collect()
    }

    /// Returns the title of a lens: the number of deleted objects.
    pub(super) fn lens_title(&self, path: &str, offset: u32) -> Option<String> {
        let found = self.inquiry.at(path, offset)?;
        let deletion = self.inquiry.deletion(&found.object)?;
        Some(headline(&deletion))
    }

    /// Renders the plan that deletes the object at a byte offset of a file, as a page.
    pub(super) fn plan(&self, path: &str, offset: u32) -> Option<String> {
        let found = self.inquiry.at(path, offset)?;
        let plan = self.inquiry.plan(&found.object)?;
        Some(plan.render(PlanFormat::Html))
    }
}
