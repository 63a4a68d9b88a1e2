//! The parts of the page that are always the same, and the hashes by which its security policy allows them.
//!
//! A test compares the hashes with the parts, and writes them: `UPDATE_DOCS=1 cargo test --test it html`.

/// The body of the page before any script runs.
pub(super) const BODY: &str = include_str!("assets/body.html");

/// The style sheet.
pub(super) const STYLE: &str = concat!(
    include_str!("assets/style.css"),
    include_str!("assets/explorer.css"),
    include_str!("assets/narrow.css"),
    include_str!("assets/print.css")
);

/// The script that builds the page from its data: one function, in parts by subject.
pub(super) const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("assets/dom.js"),
    include_str!("assets/markdown.js"),
    include_str!("assets/data.js"),
    include_str!("assets/state.js"),
    include_str!("assets/filters.js"),
    include_str!("assets/details.js"),
    include_str!("assets/tree.js"),
    include_str!("assets/timeline.js"),
    include_str!("assets/graph.js"),
    include_str!("assets/drawing.js"),
    include_str!("assets/explorer.js"),
    include_str!("assets/plan.js"),
    include_str!("assets/change.js"),
    include_str!("assets/findings.js"),
    include_str!("assets/main.js"),
    "})();\n"
);

/// The library that lays out graphs in layers: dagre 3.1.3, MIT licence, in THIRD-PARTY-NOTICES.md.
pub(super) const LAYOUT: &str = include_str!("assets/dagre.js");

/// The hash of [`STYLE`] in the form of a security policy.
pub(super) const STYLE_HASH: &str = "sha256-psEkaoJ/lv6zzuCEpGHZ8Cqfximb6GMc3KEKhY/c5xU=";

/// The hash of [`SCRIPT`].
pub(super) const SCRIPT_HASH: &str = "sha256-ajPOZF08Tma4IwBNCc0BmNq1+NC2XkeBDX1V/BvvcQ0=";

/// The hash of [`LAYOUT`].
pub(super) const LAYOUT_HASH: &str = "sha256-autc/G9bLHdC0j7GTbnpyKt76hxHZjr6qSX/S3u2nLg=";
