//! Limits on the work that a small input can cause. A configuration sets them as `limits`.

/// The limits of a run. An input beyond one of them ends with an error that names the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Copies of objects that kustomizations, delivery objects and bundles make together. The first copy of each object does
    /// not count, so an input of any size may be read once.
    pub instances: usize,
    /// Objects that deliver others: Applications and Flux Kustomizations.
    pub deliveries: usize,
    /// Bundles of the configuration.
    pub bundles: usize,
    /// The nesting depth of kustomizations.
    pub nesting: usize,
    /// Bytes of text that variables, templates and patches make together.
    pub text: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            instances: 150_000,
            deliveries: 50_000,
            bundles: 2_000,
            nesting: 64,
            text: 50_000_000,
        }
    }
}
