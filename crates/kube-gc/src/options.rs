//! Assumptions of a simulation, and the limits of its search.

/// Options of a simulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulationOptions {
    /// Whether kubelets end the grace period of the Pods bound to their nodes. If not, such Pods stay Terminating until
    /// they are force-deleted.
    pub kubelet: bool,
    /// Maximum number of branching states that the search for other outcomes visits, over all steps
    /// (fewer if states are large). 0 disables the search: there is only the verdict.
    pub state_cap: usize,
    /// Whether the search applies partial-order reduction: moves that commute with all others do not branch. Without
    /// it, the search finds the same outcomes with far more states; useful only to test the reduction.
    pub reduction: bool,
}

impl SimulationOptions {
    /// Returns options for the verdict alone, without a search for other outcomes.
    pub fn verdict() -> Self {
        SimulationOptions {
            state_cap: 0,
            ..SimulationOptions::default()
        }
    }
}

impl Default for SimulationOptions {
    fn default() -> Self {
        SimulationOptions {
            kubelet: true,
            state_cap: 100_000,
            reduction: true,
        }
    }
}
