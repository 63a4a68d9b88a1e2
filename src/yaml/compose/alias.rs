//! Anchors and aliases: which node each alias names, and whether expanding them stays within bounds.
//!
//! Nothing is expanded. An alias adds what the node that it names took to decode, which is known once that node is complete: so
//! the budget of go-yaml, which decodes the node again for each alias, is counted without decoding it.

use foldhash::HashMap;

use crate::yaml::event::SyntaxError;
use crate::yaml::limits::{MAX_DEPTH, excessive_aliasing};
use crate::yaml::tree::NodeId;

pub(super) const TOO_DEEP: &str = "exceeded max depth of 10000";

/// The cost of decoding a node, with everything that it contains or names.
#[derive(Clone, Copy)]
pub(super) struct Expansion {
    /// How many nodes go-yaml counts.
    pub(super) nodes: u64,
    /// How deep it nests: a scalar not at all.
    pub(super) depth: usize,
}

/// The anchors of a document so far, and the budget of its aliases.
pub(super) struct Aliases {
    /// The last node with each anchor.
    names: HashMap<Box<str>, NodeId>,
    /// Anchored nodes that are complete.
    complete: HashMap<NodeId, Expansion>,
    /// How many nodes were decoded, the document itself included.
    pub(super) decoded: u64,
    /// Those of them that aliases led to.
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

    /// Notes that `node` has an anchor.
    pub(super) fn define(&mut self, name: &str, node: NodeId) {
        self.names.insert(name.into(), node);
    }

    /// Notes that an anchored node is complete.
    pub(super) fn complete(&mut self, node: NodeId, expansion: Expansion) {
        self.complete.insert(node, expansion);
    }

    /// Counts a node that is written at the offset `at`.
    #[inline]
    pub(super) fn decode(&mut self, at: u32) -> Result<(), SyntaxError> {
        self.decoded += 1;
        if self.exist() { self.check(at) } else { Ok(()) }
    }

    /// Finds the node that an alias at the offset `at` names, and counts what it adds inside of `depth` collections.
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
