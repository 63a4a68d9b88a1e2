//! The limits of reading, and where they come from. Each one that is hit is a [`super::ReadError`] with a span.

/// The deepest nesting: the limit of go-yaml v2 and of Go's JSON reader.
pub(super) const MAX_DEPTH: usize = 10_000;

/// The most bytes that an object's JSON may take: an API server takes no larger request (k8s.io/apiserver,
/// `MaxRequestBodyBytes`).
pub(super) const MAX_REQUEST: usize = 3 * 1024 * 1024;

/// How many nodes one document may gain by expanding its aliases. go-yaml's own budget is a share of the whole document
/// and is checked as well; this bounds it for very large ones.
pub(super) const MAX_EXPANDED: u64 = 1_000_000;

/// go-yaml's alias budget: up to 400,000 decoded nodes 99 % may come out of aliases, from 4,000,000 on 10 %, in between
/// the share falls in a straight line. The budget does not apply to the first 1,000 nodes, nor to 100 expanded ones.
pub(super) fn excessive_aliasing(decoded: u64, expanded: u64) -> bool {
    const LOW: f64 = 400_000.0;
    const HIGH: f64 = 4_000_000.0;
    let count = decoded as f64;
    let allowed = 0.99 - 0.89 * ((count - LOW) / (HIGH - LOW)).clamp(0.0, 1.0);
    expanded > MAX_EXPANDED
        || (expanded > 100 && decoded > 1_000 && expanded as f64 / count > allowed)
}
