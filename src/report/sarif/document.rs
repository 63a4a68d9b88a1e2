//! The members of SARIF 2.1.0 that we write.

use serde::Serialize;

use crate::kube::ObjectKey;

#[derive(Serialize)]
pub(super) struct Log<'a, R> {
    #[serde(rename = "$schema")]
    pub(super) schema: &'static str,
    pub(super) version: &'static str,
    pub(super) runs: [Run<'a, R>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Run<'a, R> {
    pub(super) tool: Tool<'a>,
    pub(super) column_kind: &'static str,
    pub(super) invocations: [Invocation<'a>; 1],
    pub(super) results: R,
}

#[derive(Serialize)]
pub(super) struct Tool<'a> {
    pub(super) driver: Driver<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Driver<'a> {
    pub(super) name: &'a str,
    pub(super) version: &'a str,
    pub(super) information_uri: &'a str,
    pub(super) rules: Vec<ReportingDescriptor<'a>>,
}

/// A rule.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReportingDescriptor<'a> {
    pub(super) id: &'a str,
    pub(super) short_description: Message,
    pub(super) full_description: Message,
    pub(super) help: Help,
    pub(super) help_uri: &'a str,
    pub(super) default_configuration: Configuration,
    pub(super) properties: RuleProperties<'a>,
}

#[derive(Serialize)]
pub(super) struct Help {
    pub(super) text: String,
    pub(super) markdown: String,
}

#[derive(Serialize)]
pub(super) struct Configuration {
    pub(super) level: &'static str,
}

/// The properties of a rule that code scanning shows.
#[derive(Serialize)]
pub(super) struct RuleProperties<'a> {
    pub(super) tags: [&'a str; 3],
    pub(super) precision: &'static str,
    #[serde(rename = "problem.severity")]
    pub(super) problem_severity: &'static str,
}

/// A finding.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunResult<'a> {
    pub(super) rule_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule_index: Option<usize>,
    pub(super) level: &'static str,
    pub(super) message: Message,
    pub(super) locations: [Location<'a>; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) related_locations: Vec<Location<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) code_flows: Option<[CodeFlow<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fixes: Option<[Fix<'a>; 1]>,
    pub(super) partial_fingerprints: PartialFingerprints,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PartialFingerprints {
    pub(super) primary_location_line_hash: String,
}

#[derive(Serialize)]
pub(super) struct Message {
    pub(super) text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<usize>,
    pub(super) physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logical_locations: Option<[LogicalLocation<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<Message>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    pub(super) artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) region: Option<Region>,
}

#[derive(Serialize)]
pub(super) struct ArtifactLocation {
    pub(super) uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    pub(super) start_line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) start_column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end_column: Option<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogicalLocation<'a> {
    pub(super) fully_qualified_name: &'a ObjectKey,
    pub(super) kind: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeFlow<'a> {
    pub(super) thread_flows: [ThreadFlow<'a>; 1],
}

#[derive(Serialize)]
pub(super) struct ThreadFlow<'a> {
    pub(super) locations: Vec<ThreadFlowLocation<'a>>,
}

#[derive(Serialize)]
pub(super) struct ThreadFlowLocation<'a> {
    pub(super) location: Location<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fix<'a> {
    pub(super) description: Message,
    pub(super) artifact_changes: Vec<ArtifactChange<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactChange<'a> {
    pub(super) artifact_location: ArtifactLocation,
    pub(super) replacements: Vec<Replacement<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replacement<'a> {
    pub(super) deleted_region: Region,
    pub(super) inserted_content: InsertedContent<'a>,
}

#[derive(Serialize)]
pub(super) struct InsertedContent<'a> {
    pub(super) text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation<'a> {
    pub(super) execution_successful: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_execution_notifications: Vec<Notification<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Notification<'a> {
    pub(super) level: &'static str,
    pub(super) message: Message,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) associated_rule: Option<RuleReference<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) locations: Option<[Location<'a>; 1]>,
}

#[derive(Serialize)]
pub(super) struct RuleReference<'a> {
    pub(super) id: &'a str,
}

impl Message {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

impl<'a> LogicalLocation<'a> {
    pub(super) fn object(key: &'a ObjectKey) -> Self {
        Self {
            fully_qualified_name: key,
            kind: "object",
        }
    }
}

impl From<PhysicalLocation> for Location<'_> {
    fn from(physical_location: PhysicalLocation) -> Self {
        Self {
            id: None,
            physical_location,
            logical_locations: None,
            message: None,
        }
    }
}
