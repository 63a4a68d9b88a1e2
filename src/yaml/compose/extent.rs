//! What a look along the tape shows before it is composed.

use crate::yaml::limits::MAX_DEPTH;
use crate::yaml::tape::{EventKind, SyntaxError, Tape};

/// What a look along the tape shows.
pub(super) struct TapeExtent {
    /// Scalars, collections and aliases, keys among them.
    pub(super) values: usize,
    /// Keys of mappings.
    pub(super) keys: usize,
    /// Whether there is an anchor or an alias.
    pub(super) shares: bool,
}

impl TapeExtent {
    pub(super) fn of(tape: &Tape) -> Result<Self, SyntaxError> {
        let shares = tape.properties.iter().any(|properties| properties.anchor.is_some());
        let mut extent = Self { values: 0, keys: 0, shares };
        // For each open collection, how many values it has, and whether every other one is a key.
        let mut open: Vec<(usize, bool)> = Vec::new();
        for event in &tape.events {
            match event.kind {
                EventKind::MapEnd | EventKind::SeqEnd => {
                    if let Some((values, true)) = open.pop() {
                        extent.keys += values / 2;
                    }
                    continue;
                }
                EventKind::Alias => extent.shares = true,
                EventKind::MapStart { .. } | EventKind::SeqStart { .. } | EventKind::Scalar(_) => {}
            }
            extent.values += 1;
            if let Some((values, _)) = open.last_mut() {
                *values += 1;
            }
            if let EventKind::MapStart { .. } | EventKind::SeqStart { .. } = event.kind {
                open.push((0, matches!(event.kind, EventKind::MapStart { .. })));
                if open.len() > MAX_DEPTH {
                    return Err(SyntaxError::new(event.start, "exceeded max depth of 10000"));
                }
            }
        }
        Ok(extent)
    }
}
