//! Options of commands that render.

use clap::Args;

use crate::charts::RenderingTerms;

/// What rendering may do.
#[derive(Debug, Args)]
pub(super) struct RenderingArgs {
    /// With --render: fetch charts from this host, too, although only the change names it (may be repeated)
    #[arg(long, value_name = "HOST", help_heading = "Input", requires = "render")]
    render_from: Vec<String>,
    /// With --render: contact nobody, and take charts that were fetched before
    #[arg(long, help_heading = "Input", requires = "render")]
    offline: bool,
}

impl RenderingArgs {
    /// The same as terms.
    pub(super) fn terms(self) -> RenderingTerms {
        RenderingTerms {
            offline: self.offline,
            hosts: self.render_from,
        }
    }
}
