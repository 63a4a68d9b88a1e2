//! Truncates a tree for display. If too many siblings have the same kind and ending, the rest become one entry with
//! their number. Objects below the maximum depth are counted at their ancestor.
//!
//! Entries are allotted level by level, so that a long branch does not displace its neighbours. All walks are loops
//! over vectors, so that a long chain of objects cannot overflow the stack.

use std::collections::{BTreeMap, VecDeque};

use super::telling::{Affected, Fate};

/// The limits of an outline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Maximum number of entries in the outline.
    pub(crate) entries: usize,
    /// Maximum number of siblings of one kind and ending that have entries of their own. If only one more is left, it
    /// has an entry, too.
    pub(crate) siblings: usize,
    /// Childless siblings of one kind and ending become a single entry if there are more than this.
    pub(crate) leaves: usize,
    /// Maximum number of levels.
    pub(crate) depth: usize,
}

/// Number of objects per kind.
pub(crate) type KindCounts = BTreeMap<String, usize>;

/// One object, or the rest of its siblings.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) item: Shown,
    /// The index of the parent's entry, less than its own.
    pub(crate) parent: Option<usize>,
    pub(crate) depth: usize,
    /// Number of objects below it without an entry, by kind.
    pub(crate) hidden: KindCounts,
}

/// The content of an entry.
#[derive(Debug)]
pub(crate) enum Shown {
    /// An object, by its index among the affected objects.
    Object(usize),
    /// Siblings, by their indices.
    Rest(Vec<usize>),
}

/// Builds the outline of the tree that [`Affected::parent`] defines. An entry comes after its parent's.
pub(crate) fn outline(affected: &[Affected], limits: Limits) -> Vec<Line> {
    let tree = CauseTree::new(affected);
    let mut entries: Vec<Line> = Vec::new();
    let mut waiting: VecDeque<Option<usize>> = VecDeque::from([None]);
    while let Some(parent) = waiting.pop_front() {
        let (children, depth) = match parent.map(|at| &entries[at]) {
            None => (&tree.roots, 0),
            Some(above) => match above.item {
                Shown::Object(place) => (&tree.children[place], above.depth + 1),
                Shown::Rest(_) => continue,
            },
        };
        if children.is_empty() {
            continue;
        }
        let left = limits.entries.saturating_sub(entries.len());
        if left == 0 || depth >= limits.depth {
            let hidden = tree.kinds(children, true);
            if let Some(parent) = parent {
                entries[parent].hidden = hidden;
            }
            continue;
        }
        for item in tree.pick(children, left, limits) {
            let hidden = match &item {
                Shown::Object(_) => KindCounts::new(),
                Shown::Rest(places) => tree.kinds(places, false),
            };
            waiting.push_back(Some(entries.len()));
            entries.push(Line {
                item,
                parent,
                depth,
                hidden,
            });
        }
    }
    entries
}

/// Returns the index of each entry, depth first, with a flag for each of its ancestors and itself: whether that is the
/// last of its siblings.
pub(crate) fn reading_order(entries: &[Line]) -> Vec<(usize, Vec<bool>)> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); entries.len()];
    let mut roots = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        entry
            .parent
            .map_or(&mut roots, |parent| &mut children[parent])
            .push(at);
    }
    let mut stack = with_ends(&roots, &[]);
    let mut order = Vec::with_capacity(entries.len());
    while let Some((at, ends)) = stack.pop() {
        stack.extend(with_ends(&children[at], &ends));
        order.push((at, ends));
    }
    order
}

/// Returns `siblings` in reverse order, each with the flags `above` and its own: whether it is the last sibling.
fn with_ends(siblings: &[usize], above: &[bool]) -> Vec<(usize, Vec<bool>)> {
    let last = siblings.len().saturating_sub(1);
    let each = siblings.iter().enumerate().rev();
    each.map(|(n, at)| (*at, [above, &[n == last]].concat()))
        .collect()
}

struct CauseTree<'a> {
    affected: &'a [Affected],
    children: Vec<Vec<usize>>,
    roots: Vec<usize>,
}

impl<'a> CauseTree<'a> {
    fn new(affected: &'a [Affected]) -> Self {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); affected.len()];
        let mut roots = Vec::new();
        for (place, node) in affected.iter().enumerate() {
            node.parent
                .map_or(&mut roots, |parent| &mut children[parent])
                .push(place);
        }
        Self {
            affected,
            children,
            roots,
        }
    }

    /// Counts the descendants of these nodes by kind, and the nodes themselves if `inclusive`.
    fn kinds(&self, places: &[usize], inclusive: bool) -> KindCounts {
        let mut kinds = KindCounts::new();
        let children = |place: &usize| self.children[*place].iter().copied();
        let mut stack: Vec<usize> = if inclusive {
            places.to_vec()
        } else {
            places.iter().flat_map(children).collect()
        };
        while let Some(place) = stack.pop() {
            *kinds
                .entry(self.affected[place].key.kind().to_string())
                .or_default() += 1;
            stack.extend(&self.children[place]);
        }
        kinds
    }

    /// Picks at most `left` entries for siblings: as many of each kind and ending as there is room for.
    fn pick(&self, siblings: &[usize], left: usize, limits: Limits) -> Vec<Shown> {
        let affected = self.affected;
        let mut groups: BTreeMap<(&str, &str, Fate), Vec<usize>> = BTreeMap::new();
        for &place in siblings {
            let Affected { key, fate, .. } = &affected[place];
            groups
                .entry((key.kind(), key.group(), *fate))
                .or_default()
                .push(place);
        }
        for group in groups.values_mut() {
            group.sort_by(|a, b| affected[*a].key.cmp(&affected[*b].key));
        }
        let Some(few) = (0..=limits.siblings).rev().find(|few| {
            let costs = groups.values().map(|group| {
                let shown = self.shown(group, *few, limits);
                shown + usize::from(shown < group.len())
            });
            costs.sum::<usize>() <= left
        }) else {
            // There is not even room for one entry per kind and ending.
            return vec![Shown::Rest(siblings.to_vec())];
        };
        let mut items = Vec::new();
        for mut group in groups.into_values() {
            let rest = group.split_off(self.shown(&group, few, limits));
            items.extend(group.into_iter().map(Shown::Object));
            if !rest.is_empty() {
                items.push(Shown::Rest(rest));
            }
        }
        items
    }

    /// Returns the number of objects of a group that are shown if there is room for `few`.
    fn shown(&self, group: &[usize], few: usize, limits: Limits) -> usize {
        let mut members = group.iter();
        if group.len() > limits.leaves && members.all(|place| self.children[*place].is_empty()) {
            0
        } else if group.len() <= few + 1 {
            // "1 more" takes as much space as the object itself.
            group.len()
        } else {
            few
        }
    }
}
