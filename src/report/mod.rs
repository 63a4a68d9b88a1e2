//! The findings of a run, and one file per format that shows them.
//!
//! Every format is a pure function of a finished [`Report`]: no environment, no terminal, no clock, no I/O. Facts that
//! a format cannot know by itself (colour, width, the root of the repository) are in [`Options`]. Text from manifests
//! is untrusted; each format escapes it in its own way.
//!
//! No format reads manifests or runs rules.

mod closing;
mod concise;
mod deliveries;
pub mod diff;
mod digest;
mod excerpt;
mod format;
mod github;
mod gitlab;
pub mod html;
mod human;
mod in_tree;
mod json;
mod junit;
mod line;
mod list;
mod lsp;
mod markdown;
mod markup;
mod model;
mod options;
mod page;
mod paths;
pub mod plan;
mod rdjson;
mod region;
mod relation;
mod render;
mod rows;
mod rules;
mod sarif;
mod schema;
mod statistics;
mod suggestion;
mod wrap;

pub use closing::{Closing, closing};
pub(crate) use deliveries::spoken;
pub use deliveries::{
    DeliveryListing, ListedDelivery, ListedInstance, ListedLocation, ListedSettings, ListedUnread,
    UnreachedFile,
};
pub use format::{Format, UnknownFormat};
pub use list::{ListedObject, ListedPlace, ListedReference, ListedSkip, Listing, write_listed};
pub use lsp::diagnostics_of;
pub use model::{
    BundleInfo, Cascades, Graphs, KnownRule, Note, Place, Remedy, Report, Reported, RuleInfo,
    RuleStatistics, RunInfo, Summary, SuppressedFinding, Tool,
};
pub use options::{HtmlOptions, HumanOptions, MarkdownOptions, Options, Published, Roots};
pub use page::page_human;
pub use paths::{absolute_uri, file_uri};
pub use region::Region;
pub use render::render;
pub use rows::{RowInfo, rows_human, rows_json};
pub use rules::{rules_human, rules_json};
pub use schema::{SCHEMAS, schema};
