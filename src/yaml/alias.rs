//! Anchors and aliases: which node each alias names, and whether expanding them stays within bounds.
//!
//! Nothing is expanded here. Definitions are found in written order (the last one before the alias wins). What an alias would add is
//! known once the node that it names is complete, so the budget of go-yaml, which decodes that node anew for each alias, is counted
//! without decoding it.

use foldhash::HashMap;

use super::limits::{MAX_DEPTH, excessive_aliasing};
use super::tape::{EventKind, SyntaxError, Tape, TapeEvent};

/// For each event another one: that which an alias names, and that which ends any other node.
pub(super) type EventLinks = Vec<u32>;

/// What decoding a node takes, everything that it contains or names included.
#[derive(Clone, Copy)]
struct Expansion {
    /// How many nodes go-yaml counts. More than four billion are too many anyway.
    nodes: u32,
    /// How deep it nests: a scalar not at all.
    depth: u32,
}

/// A collection that is not complete.
struct UnfinishedNode {
    event: u32,
    is_anchored: bool,
    /// How many nodes had been decoded before it.
    before: u64,
    /// How deep it nests so far, itself left out.
    depth: u32,
}

/// What go-yaml has decoded so far. The document itself counts as a node.
struct Budget {
    decoded: u64,
    /// Those of them that aliases led to.
    expanded: u64,
    /// The first step that was too much.
    overdrawn: Option<SyntaxError>,
}

impl Budget {
    /// Counts a node that is written.
    fn decode(&mut self, event: &TapeEvent) {
        self.decoded += 1;
        self.check(event, false);
    }

    /// Counts what an alias adds in so many open collections. The share of what aliases led to grows with each node of it, so that
    /// none was too much if the last one is not.
    fn expand(&mut self, event: &TapeEvent, expansion: Expansion, depth: usize) {
        self.decoded += u64::from(expansion.nodes);
        self.expanded += u64::from(expansion.nodes);
        self.check(event, depth + expansion.depth as usize > MAX_DEPTH);
    }

    fn check(&mut self, event: &TapeEvent, too_deep: bool) {
        let too_much = excessive_aliasing(self.decoded, self.expanded);
        if self.overdrawn.is_none() && (too_much || too_deep) {
            let problem = if too_deep {
                TOO_DEEP
            } else {
                "document contains excessive aliasing"
            };
            self.overdrawn = Some(SyntaxError::new(event.start(), problem));
        }
    }
}

const TOO_DEEP: &str = "exceeded max depth of 10000";

/// Finds the target of every alias and checks depth and budget. `file` is the text of the whole file.
pub(super) fn resolve(tape: &Tape, file: &str) -> Result<EventLinks, SyntaxError> {
    let mut anchors: HashMap<&str, u32> = HashMap::default();
    // Those of anchored nodes, by the event that ends them.
    let mut expansions: Vec<(u32, Expansion)> = Vec::new();
    let mut links = vec![0_u32; tape.events.len()];
    let mut open: Vec<UnfinishedNode> = Vec::new();
    let mut budget = Budget {
        decoded: 1,
        expanded: 0,
        overdrawn: None,
    };
    for (index, event) in (0u32..).zip(&tape.events) {
        let before = budget.decoded;
        if !matches!(event.kind(), EventKind::MapEnd | EventKind::SeqEnd) {
            budget.decode(event);
        }
        let anchor = tape.anchor(event).and_then(|name| file.get(name.range()));
        if let Some(name) = anchor {
            anchors.insert(name, index);
        }
        match event.kind() {
            EventKind::MapStart { .. } | EventKind::SeqStart { .. } => {
                open.push(UnfinishedNode {
                    event: index,
                    is_anchored: anchor.is_some(),
                    before,
                    depth: 0,
                });
                if open.len() > MAX_DEPTH {
                    return Err(SyntaxError::new(event.start(), TOO_DEEP));
                }
            }
            EventKind::MapEnd | EventKind::SeqEnd => {
                let Some(closed) = open.pop() else { continue };
                links[closed.event as usize] = index;
                let nodes = (budget.decoded - closed.before)
                    .try_into()
                    .unwrap_or(u32::MAX);
                let expansion = Expansion {
                    nodes,
                    depth: closed.depth + 1,
                };
                if closed.is_anchored {
                    expansions.push((index, expansion));
                }
                nests(&mut open, expansion);
            }
            EventKind::Scalar(_) | EventKind::LeftOut => {
                links[index as usize] = index;
                if anchor.is_some() {
                    expansions.push((index, Expansion { nodes: 1, depth: 0 }));
                }
            }
            EventKind::Alias => {
                let name = tape.text_of(file, event);
                let Some(&target) = anchors.get(name) else {
                    return Err(SyntaxError::new(
                        event.start(),
                        format!("unknown anchor '{name}' referenced"),
                    ));
                };
                let end = links[target as usize];
                // Still open: it has no end yet.
                let Ok(complete) = expansions.binary_search_by_key(&end, |(end, _)| *end) else {
                    return Err(SyntaxError::new(
                        event.start(),
                        format!("anchor '{name}' value contains itself"),
                    ));
                };
                let (_, expansion) = expansions[complete];
                links[index as usize] = target;
                if budget.overdrawn.is_none() {
                    budget.expand(event, expansion, open.len());
                }
                nests(&mut open, expansion);
            }
        }
    }
    budget.overdrawn.map_or(Ok(links), Err)
}

/// Notes how deep a node is that the innermost collection contains.
fn nests(open: &mut [UnfinishedNode], node: Expansion) {
    if let Some(around) = open.last_mut() {
        around.depth = around.depth.max(node.depth);
    }
}
