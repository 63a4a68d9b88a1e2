//! Unrendered templates: text with the braces of Go's templates, as in the `templates/` of a Helm chart.

use super::document::{Content, Document};

/// Whether template braces broke a document of the file: `{{ … }}` where YAML reads nested flow mappings, a bare line
/// `{{- if … }}`, or an error on a line that contains braces. Braces inside quotes and block scalars are ordinary text.
pub fn is_unrendered_template(documents: &[Document]) -> bool {
    documents.iter().any(
        |document| matches!(&document.content, Content::Unreadable(error) if error.is_template()),
    )
}
