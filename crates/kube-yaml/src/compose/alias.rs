//! Anchors and aliases: the node that each alias names, and the budget for expanding them.
//!
//! Nothing is expanded. An alias costs as much as decoding the node that it names, which is known once that node is
//! complete. So the budget of go-yaml, which decodes the node again for each alias, is checked without decoding it.

use foldhash::HashMap;

use crate::event::SyntaxError;
use crate::limits::{MAX_DEPTH, excessive_aliasing};
use crate::tree::NodeId;

pub(super) const TOO_DEEP: &str = "exceeded max depth of 10000";

/// The cost of decoding a node, with everything that it contains or names.
#[derive(Clone, Copy)]
pub(super) struct Expansion {
    /// The number of nodes that go-yaml counts.
    pub(super) nodes: u64,
    /// The depth of nesting: 0 for a scalar.
    pub(super) depth: usize,
}

/// The anchors of a document so far, and the budget for its aliases.
pub(super) struct Aliases {
    /// The last node with each anchor so far.
    names: HashMap<Box<str>, NodeId>,
    /// The anchored nodes that are complete.
    complete: HashMap<NodeId, Expansion>,
    /// The number of decoded nodes, including the document itself.
    pub(super) decoded: u64,
    /// The number of these that aliases led to.
    expanded: u64,
}

impl Aliases {
    pub(super) fn new() -> Self {
        Self {
            names: HashMap::default(),
            complete: HashMap::default(),
            decoded: 1,
            expanded: 0,
        }
    }

    /// Whether there was an alias.
    pub(super) fn exist(&self) -> bool {
        self.expanded > 0
    }

    /// Records that `node` has an anchor.
    pub(super) fn define(&mut self, name: &str, node: NodeId) {
        self.names.insert(name.into(), node);
    }

    /// Records that an anchored node is complete.
    pub(super) fn complete(&mut self, node: NodeId, expansion: Expansion) {
        self.complete.insert(node, expansion);
    }

    /// Counts a node that is written at offset `at`.
    #[inline]
    pub(super) fn decode(&mut self, at: u32) -> Result<(), SyntaxError> {
        self.decoded += 1;
        if self.exist() { self.check(at) } else { Ok(()) }
    }

    /// Finds the node that an alias at offset `at` names, and charges its cost to the budget. `depth` is the number of
    /// collections around the alias.
    pub(super) fn expand(
        &mut self,
        name: &str,
        at: u32,
        depth: usize,
    ) -> Result<(NodeId, Expansion), SyntaxError> {
        let Some(&node) = self.names.get(name) else {
            let problem = format!("unknown anchor '{name}' referenced");
            return Err(SyntaxError::new(at, problem));
        };
        let Some(&expansion) = self.complete.get(&node) else {
            let problem = format!("anchor '{name}' value contains itself");
            return Err(SyntaxError::new(at, problem));
        };
        self.decoded = self.decoded.saturating_add(expansion.nodes);
        self.expanded = self.expanded.saturating_add(expansion.nodes);
        if depth + expansion.depth > MAX_DEPTH {
            return Err(SyntaxError::new(at, TOO_DEEP));
        }
        self.check(at)?;
        Ok((node, expansion))
    }

    fn check(&self, at: u32) -> Result<(), SyntaxError> {
        if excessive_aliasing(self.decoded, self.expanded) {
            return Err(SyntaxError::new(at, "document contains excessive aliasing"));
        }
        Ok(())
    }
}
