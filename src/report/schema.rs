//! The published JSON Schemas: of the JSON contracts, of the configuration, of baselines and of steps.

/// Every schema: its name and its text, sorted by name.
pub const SCHEMAS: [(&str, &str); 7] = [
    (
        "baseline",
        include_str!("../../rules/schema/baseline.schema.json"),
    ),
    (
        "config",
        include_str!("../../rules/schema/config.schema.json"),
    ),
    ("diff", include_str!("../../rules/schema/diff.schema.json")),
    ("list", include_str!("../../rules/schema/list.schema.json")),
    ("plan", include_str!("../../rules/schema/plan.schema.json")),
    (
        "report",
        include_str!("../../rules/schema/report.schema.json"),
    ),
    (
        "steps",
        include_str!("../../rules/schema/steps.schema.json"),
    ),
];

/// The JSON Schema (draft 2020-12) of the document `ownerlint.<name>/1`, or of the configuration; `None` when there is no such document.
pub fn schema(name: &str) -> Option<&'static str> {
    SCHEMAS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|&(_, text)| text)
}
