//! Helm charts that deliveries name, rendered with the user's own `helm`.
//!
//! A [`ChartCall`] holds the input of a rendering; two calls that are equal render the same. [`Charts`] records the
//! calls that the delivery graph makes while it is evaluated, answers those that are rendered already, and renders the
//! others on request. Before that, no program runs and no chart is fetched.
//!
//! * `call` the input of a rendering; `folder` a chart of the tree with its dependencies
//! * `by_hand` the namespaces of charts that no delivery installs
//! * `store` requested renderings and their results
//! * `helm` runs `helm template`; `pull` fetches charts; `cache` stores both; `digest` computes their keys
//!
//! Reads no YAML but the metadata and the dependencies of charts.

mod by_hand;
mod cache;
mod call;
mod digest;
mod folder;
mod helm;
mod pull;
mod store;

pub use by_hand::{BundleCharts, ByHand};
pub use call::{
    CallId, ChartCall, ChartSource, RemoteChart, Values, in_crds_folder, numbers_in, templates_of,
};
pub use folder::{ChartFolder, FolderFiles, packed_chart};
pub use store::{ChartSettings, Charts, Rendering, RenderingProgress, RenderingTerms};
