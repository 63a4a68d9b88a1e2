//! Unrendered templates: text with the braces of Go's templates, as in the `templates/` of a Helm chart.

use super::document::{Content, Document};

/// Whether unrendered template braces broke a document of the file, or stand where they bend it: on a line of their own or
/// as the beginning of a value. Braces inside quotes and block scalars are ordinary text.
pub fn is_unrendered_template(documents: &[Document]) -> bool {
    documents.iter().any(|document| matches!(&document.content, Content::Unreadable(error) if error.template))
}
