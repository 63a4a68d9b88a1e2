//! Assumptions of a simulation, and the limits of its search.

/// How to simulate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimulationOptions {
    /// Kubelets end the grace period of the Pods bound to their nodes. Without, such Pods stay
    /// Terminating until they are force-deleted.
    pub kubelet: bool,
    /// How many states at which there is a choice the search for other outcomes may look at, over
    /// all steps (fewer if they are large). 0: no search, the verdict only.
    pub state_cap: usize,
    /// Whether the search makes moves that commute with all others without branching. Without, it
    /// finds the same outcomes with far more states: a check of the reduction, nothing else.
    pub reduction: bool,
}

impl SimulationOptions {
    /// The verdict alone, without a search for what races could change.
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
