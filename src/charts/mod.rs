//! Helm charts that deliveries name, rendered with the user's own `helm`.
//!
//! A [`ChartCall`] holds the input of a rendering; two calls that are equal render the same. [`Charts`] is asked for
//! renderings while the delivery graph is evaluated, collects the calls that are not rendered yet, and renders those on
//! request. Nothing runs or is pulled before.
//!
//! * `call` what to render; `folder` a chart of the tree with its dependencies
//! * `store` what was asked for and what came of it
//! * `helm` runs `helm template`; `pull` fetches charts; `cache` keeps both; `digest` names what is kept
//!
//! Knows nothing of YAML but what Chart.yaml says of dependencies.

mod cache;
mod call;
mod digest;
mod folder;
mod helm;
mod pull;
mod store;

pub use call::{CallId, ChartCall, ChartSource, RemoteChart, Values, in_crds_folder};
pub use folder::{ChartFolder, FolderFiles};
pub use store::{ChartSettings, Charts, Rendering, RenderingProgress, RenderingTerms};
