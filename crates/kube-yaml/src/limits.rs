//! The limits of reading, and their sources. Exceeding one gives a [`super::ReadError`] with a span.

/// The maximum depth of nesting, in go-yaml v2 and in Go's JSON reader.
pub(super) const MAX_DEPTH: usize = 10_000;

/// The maximum size of an object's JSON in bytes: an API server accepts no larger request (k8s.io/apiserver,
/// `MaxRequestBodyBytes`).
pub(super) const MAX_REQUEST: usize = 3 * 1024 * 1024;

/// The maximum number of nodes that one document may gain by expanding its aliases. go-yaml's own budget is a share of
/// the whole document and is checked as well; this bounds very large documents.
pub(super) const MAX_EXPANDED: u64 = 1_000_000;

/// Whether aliases exceed [`MAX_EXPANDED`] or go-yaml's budget: 99 % of up to 400,000 decoded nodes, 10 % from
/// 4,000,000 on, a linear share in between. The budget does not apply up to 1,000 nodes, or up to 100 expanded ones.
pub(super) fn excessive_aliasing(decoded: u64, expanded: u64) -> bool {
    const LOW: f64 = 400_000.0;
    const HIGH: f64 = 4_000_000.0;
    let count = decoded as f64;
    let allowed = 0.99 - 0.89 * ((count - LOW) / (HIGH - LOW)).clamp(0.0, 1.0);
    expanded > MAX_EXPANDED
        || (expanded > 100 && decoded > 1_000 && expanded as f64 / count > allowed)
}
