//! Anchors and aliases: which node each alias names, and whether expanding them stays within bounds.
//!
//! Nothing is expanded here. Definitions are found in written order (the last one before the alias wins), then the budget
//! is checked by walking the tape as go-yaml would decode it, which stops as soon as the budget is spent.

use std::collections::HashMap;

use super::limits::{MAX_DEPTH, excessive_aliasing};
use super::tape::{EventKind, SyntaxError, Tape};

/// For each event another one: that which an alias names, and that which ends any other node.
pub(super) type EventLinks = Vec<u32>;

/// Finds the target of every alias and checks depth and budget. `file` is the text of the whole file.
pub(super) fn resolve(tape: &Tape, file: &str) -> Result<EventLinks, SyntaxError> {
    let mut anchors: HashMap<&str, u32> = HashMap::new();
    let mut links = vec![0_u32; tape.events.len()];
    let mut open: Vec<u32> = Vec::new();
    for (index, event) in tape.events.iter().enumerate() {
        let index = index as u32;
        if let Some(name) = tape.properties(event).and_then(|properties| properties.anchor) {
            anchors.insert(tape.text(file, name), index);
        }
        match event.kind {
            EventKind::MapStart { .. } | EventKind::SeqStart { .. } => {
                open.push(index);
                if open.len() > MAX_DEPTH {
                    return Err(SyntaxError::new(event.start, "exceeded max depth of 10000"));
                }
            }
            EventKind::MapEnd | EventKind::SeqEnd => {
                if let Some(start) = open.pop() {
                    links[start as usize] = index;
                }
            }
            EventKind::Scalar(_) | EventKind::LeftOut => links[index as usize] = index,
            EventKind::Alias => {
                let name = tape.text_of(file, event);
                let Some(&target) = anchors.get(name) else {
                    return Err(SyntaxError::new(event.start, format!("unknown anchor '{name}' referenced")));
                };
                // Still open: only the root is event 0, and it stays open to the end.
                if links[target as usize] == 0 {
                    return Err(SyntaxError::new(event.start, format!("anchor '{name}' value contains itself")));
                }
                links[index as usize] = target;
            }
        }
    }
    if tape.has_aliases {
        check_budget(tape, &links)?;
    }
    Ok(links)
}

/// Walks the document as go-yaml decodes it, entering the target of each alias, and counts.
fn check_budget(tape: &Tape, links: &[u32]) -> Result<(), SyntaxError> {
    // (last event of the expanded node, where to continue after it)
    let mut inside: Vec<(u32, u32)> = Vec::new();
    // go-yaml counts the document itself as a node.
    let (mut decoded, mut expanded, mut depth) = (1_u64, 0_u64, 0_usize);
    let mut at = 0_u32;
    let mut alias_start = 0;
    while let Some(event) = tape.events.get(at as usize) {
        match event.kind {
            EventKind::MapEnd | EventKind::SeqEnd => depth -= 1,
            _ => {
                decoded += 1;
                expanded += u64::from(!inside.is_empty());
                depth += usize::from(matches!(event.kind, EventKind::MapStart { .. } | EventKind::SeqStart { .. }));
            }
        }
        if inside.is_empty() {
            alias_start = event.start;
        }
        if depth > MAX_DEPTH {
            return Err(SyntaxError::new(alias_start, "exceeded max depth of 10000"));
        }
        if excessive_aliasing(decoded, expanded) {
            return Err(SyntaxError::new(alias_start, "document contains excessive aliasing"));
        }
        if event.kind == EventKind::Alias {
            let target = links[at as usize];
            inside.push((links[target as usize], at + 1));
            at = target;
            continue;
        }
        at = match inside.last() {
            Some(&(last, back)) if last == at => {
                inside.pop();
                back
            }
            _ => at + 1,
        };
    }
    Ok(())
}
