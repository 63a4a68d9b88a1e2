//! An interval tree: finds the spans that contain a place.

use crate::text::Span;

/// Spans in the order of their starts. A search visits O(log n) spans for each span that contains the place.
#[derive(Debug, Default)]
pub(super) struct Intervals {
    spans: Vec<Span>,
    /// The greatest end in each part of `spans` that a binary search visits, at the index of the middle of the part.
    last_end: Vec<u32>,
}

impl Intervals {
    /// Builds the tree of spans that are in the order of their starts.
    pub(super) fn new(spans: Vec<Span>) -> Self {
        debug_assert!(spans.is_sorted_by_key(|span| span.start), "in order");
        let mut last_end = vec![0; spans.len()];
        note_ends(&spans, &mut last_end);
        Self { spans, last_end }
    }

    /// Returns the indices of the spans that contain `place`, ends included, in order.
    pub(super) fn containing(&self, place: u32) -> Vec<usize> {
        let mut found = Vec::new();
        // The parts to search, as ranges of indices.
        let mut parts = vec![(0, self.spans.len())];
        while let Some((from, to)) = parts.pop() {
            let middle = from + (to - from) / 2;
            if from == to || self.last_end[middle] < place {
                continue;
            }
            if self.spans[middle].start <= place {
                parts.push((middle + 1, to));
                found.extend((place <= self.spans[middle].end).then_some(middle));
            }
            parts.push((from, middle));
        }
        found.sort_unstable();
        found
    }
}

/// Returns the greatest end in `spans` and stores it at the middle of `last_end`, and likewise for each half.
fn note_ends(spans: &[Span], last_end: &mut [u32]) -> u32 {
    let Some(here) = spans.get(spans.len() / 2) else {
        return 0;
    };
    let (before, after) = spans.split_at(spans.len() / 2);
    let (ends_before, ends_here) = last_end.split_at_mut(before.len());
    let Some((end, ends_after)) = ends_here.split_first_mut() else {
        return 0;
    };
    // The depth of the recursion is logarithmic.
    *end = here
        .end
        .max(note_ends(before, ends_before))
        .max(note_ends(&after[1..], ends_after));
    *end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_spans_around_an_offset_are_found() {
        for count in 0..40_u32 {
            let mut spans: Vec<Span> = (0..count)
                .map(|at| Span::new(at * 7 % 23, at * 7 % 23 + at * 5 % 13))
                .collect();
            spans.sort();
            let intervals = Intervals::new(spans.clone());
            for place in 0..40 {
                let expected: Vec<usize> = (0..spans.len())
                    .filter(|at| spans[*at].start <= place && place <= spans[*at].end)
                    .collect();
                assert_eq!(
                    intervals.containing(place),
                    expected,
                    "{place} in {spans:?}"
                );
            }
        }
    }
}
