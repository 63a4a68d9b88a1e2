//! The options of a client's DELETE, and its wait before it sends the next request.

/// `propagationPolicy` of a DELETE: the fate of the dependents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// The object is removed at once; the collector deletes its dependents afterwards.
    Background,
    /// The collector deletes the blocking dependents first.
    Foreground,
    /// The collector detaches the dependents first.
    Orphan,
}

impl Policy {
    /// Returns the value as command lines write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Background => "background",
            Self::Foreground => "foreground",
            Self::Orphan => "orphan",
        }
    }
}

/// The wait of a client between the API server's answer to a request and its next request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wait {
    /// Nothing: the next request follows at once. Controllers may have acted in between, or not yet.
    None,
    /// Until the objects that this request names are gone, as `kubectl delete --wait` does. Other effects of the
    /// request may still be under way. If one of the objects gets stuck, the client sends nothing more. The search for
    /// other outcomes ignores this wait before requests to objects in independent parts of the cluster.
    Named,
    /// Until the objects of all the client's requests so far are gone. If one is stuck, the client sends nothing more.
    Gone,
    /// Until nothing in the cluster moves any more, whatever is stuck by then.
    Settled,
}
