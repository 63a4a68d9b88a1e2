//! `--parser verify`: the two parsers of YAML read what a run reads alike, or the run fails.

use super::error::SessionError;
use crate::inventory::Inventory;
use crate::text::ColumnUnit;
use crate::yaml::verify;

/// Compares what the parsers make of the files of all inventories.
///
/// # Errors
/// The first difference.
pub(super) fn parsers_agree<'a>(
    inventories: impl IntoIterator<Item = &'a Inventory>,
) -> Result<(), SessionError> {
    for (_, file) in inventories
        .into_iter()
        .flat_map(|inventory| inventory.sources.iter())
    {
        if let Some(difference) = verify(file).differences.into_iter().next() {
            return Err(SessionError::ParsersDiffer {
                path: file.path().to_owned(),
                document: difference.document,
                line: file.position(difference.span.start, ColumnUnit::Utf8).line,
                what: difference.what,
            });
        }
    }
    Ok(())
}
