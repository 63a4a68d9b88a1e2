//! How deep collections are nested.

use crate::yaml::limits::MAX_DEPTH;
use crate::yaml::tape::{EventKind, SyntaxError, Tape};

/// Refuses a document that is nested more deeply than Kubernetes reads.
pub(super) fn check(tape: &Tape) -> Result<(), SyntaxError> {
    let mut depth = 0_usize;
    for event in &tape.events {
        match event.kind() {
            EventKind::MapStart { .. } | EventKind::SeqStart { .. } => depth += 1,
            EventKind::MapEnd | EventKind::SeqEnd => depth = depth.saturating_sub(1),
            EventKind::Scalar(_) | EventKind::Alias | EventKind::LeftOut => {}
        }
        if depth > MAX_DEPTH {
            return Err(SyntaxError::new(
                event.start(),
                "exceeded max depth of 10000",
            ));
        }
    }
    Ok(())
}
