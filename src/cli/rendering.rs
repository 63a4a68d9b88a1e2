//! Options of commands that render charts.

use std::collections::BTreeSet;

use clap::Args;

use super::error::Error;
use super::{progress, terminal};
use crate::charts::{ChartSettings, RenderingTerms};
use crate::engine::{Request, charts_before, with_charts};
use crate::inventory::Past;

/// Options for rendering the charts of both states of a change.
#[derive(Clone, Debug, Args)]
pub(super) struct RenderingArgs {
    /// With --render: also fetch charts from this host if only the change names it (may be repeated)
    #[arg(long, value_name = "HOST", help_heading = "Input", requires = "render")]
    render_from: Vec<String>,
    /// With --render: use only charts that were fetched before, and contact no host
    #[arg(long, help_heading = "Input", requires = "render")]
    offline: bool,
}

impl RenderingArgs {
    pub(super) fn terms(self) -> RenderingTerms {
        RenderingTerms {
            offline: self.offline,
            settings: ChartSettings {
                hosts: self.render_from,
                ..ChartSettings::default()
            },
            ..RenderingTerms::default()
        }
    }
}

/// Options for rendering the charts of one state.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ChartArgs {
    /// Render charts with helm and read the result, too. This fetches remote charts and runs their templates
    ///
    /// A chart that no delivery names is rendered as a release with the chart's name and its own values, in the
    /// namespace of its bundle. For another name or other values, write the command as `render:` of the bundle, or pass
    /// the output of `helm template NAME CHART` instead.
    #[arg(long, help_heading = "Input")]
    render: bool,
    /// With --render: use only charts that were fetched before, and contact no host
    #[arg(long, help_heading = "Input", requires = "render")]
    offline: bool,
}

impl ChartArgs {
    /// Returns the settings for rendering; `None` without `--render`.
    pub(super) fn terms(&self) -> Option<RenderingTerms> {
        self.render.then(|| RenderingTerms {
            offline: self.offline,
            ..RenderingTerms::default()
        })
    }

    /// Adds the rendered charts of a commit, if charts are rendered, and returns those that helm rejects.
    pub(super) fn add_past(
        &self,
        past: &mut Past,
        request: &Request,
        commit: &str,
    ) -> Result<BTreeSet<String>, Error> {
        let Some(terms) = self.terms() else {
            return Ok(BTreeSet::new());
        };
        let bar = progress::of_charts(&terms.progress);
        let (renderings, unrendered) = charts_before(request, &terms, commit)?;
        drop(bar);
        for rendering in renderings {
            past.add(&rendering.path, &rendering.text);
        }
        Ok(unrendered.rejected)
    }

    /// Adds rendered charts to a request, if `--render` is given. Warns of charts that could not be rendered.
    pub(super) fn add_to(&self, request: Request) -> Result<Request, Error> {
        let Some(terms) = self.terms() else {
            return Ok(request);
        };
        let bar = progress::of_charts(&terms.progress);
        let request = with_charts(request, &terms)?;
        drop(bar);
        let unrendered = &request.unrendered;
        for chart in unrendered.rejected.iter().chain(&unrendered.others) {
            terminal::say(&format!("warning: {chart}"));
        }
        Ok(request)
    }
}
