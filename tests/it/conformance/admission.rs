//! Recorded answers of a real API server about metadata (`fixtures/conformance/admission.json`), compared with the
//! rules.
//!
//! Every case is checked twice, with the CRDs of its custom kinds and without them.

use ownerlint::engine::Check;
use ownerlint::finding::{Consequence, Finding, Severity};
use serde_json::Value;

use crate::support::{check_text, fixture};

/// CRDs of Widget, which is namespaced, and Gadget, which is not; both are served as v1 and v1beta1.
const CRDS: &str = r"---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions: [{name: v1, served: true, storage: true}, {name: v1beta1, served: true, storage: false}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Gadget, plural: gadgets}
  versions: [{name: v1, served: true, storage: true}, {name: v1beta1, served: true, storage: false}]
";

/// One manifest and the server's answer.
struct Case {
    name: String,
    manifest: Value,
    /// Whether default clients, which validate strictly, are accepted.
    strict: bool,
    /// Whether it is accepted with validation ignored.
    ignore: bool,
    /// Whether it is accepted with a warning.
    warned: bool,
    /// The stored object: ownership fields only.
    stored: Value,
}

fn cases(wanted: impl Fn(&str) -> bool) -> Vec<Case> {
    let recorded: Vec<Value> =
        serde_json::from_str(&fixture("conformance/admission.json")).expect("JSON");
    let case = |case: &Value| {
        let accepted = |run: &str| case[run]["accepted"].as_bool().expect("a verdict");
        let stderr = |run: &str| case[run]["stderr"].as_str().expect("text").to_owned();
        Case {
            name: case["name"].as_str().expect("a name").to_owned(),
            manifest: case["manifest"].clone(),
            strict: accepted("strict"),
            ignore: accepted("ignore"),
            warned: stderr("strict").contains("Warning:") || stderr("ignore").contains("Warning:"),
            stored: case["ignore"]["stored"].clone(),
        }
    };
    // The recording cluster did not know the kind, so the answer is not about metadata.
    let about_metadata = |case: &Case| case.name != "scope-unknown-kind";
    recorded
        .iter()
        .map(case)
        .filter(about_metadata)
        .filter(|case| wanted(&case.name))
        .collect()
}

/// Whether a case is for the rules on finalizers. A misspelt key is not a finalizer.
fn is_about_finalizers(name: &str) -> bool {
    let subject = name
        .trim_start_matches("core-")
        .trim_start_matches("custom-");
    (subject.starts_with("finalizer") && subject != "finalizer-misspelt-key")
        || subject.starts_with("namespace-")
}

/// Whether the cluster would act on the stored object: no owner has the uid, or no controller removes the finalizer.
fn is_harmed(stored: &Value) -> bool {
    let entries = |field: &str| stored[field].as_array().map_or(0, Vec::len);
    let foreign = stored["spec.finalizers"]
        .as_array()
        .is_some_and(|list| list.iter().any(|name| name != "kubernetes"));
    entries("ownerReferences") > 0 || entries("finalizers") > 0 || foreign
}

fn findings(case: &Case, crds: &str) -> Vec<Finding> {
    let text = format!("{}\n{crds}", case.manifest);
    let report = check_text("case.yaml", &text, &Check::default());
    report
        .findings
        .into_iter()
        .map(|reported| reported.finding)
        .collect()
}

/// Returns the differences between the findings on a case and the server's answer.
fn disagreements(case: &Case, crds: &str) -> Vec<String> {
    let findings = findings(case, crds);
    let has = |consequence| {
        findings
            .iter()
            .any(|finding| finding.consequence == consequence)
    };
    let rejected = has(Consequence::Rejected);
    let refused = rejected || has(Consequence::RejectedStrict);
    let loudest = findings.iter().map(|finding| finding.severity).max();
    let silent = case.strict && !case.warned && !is_harmed(&case.stored);
    // Without its CRD a kind may belong to some tool, and older releases serve a version that 1.36 has removed.
    let certain = !case.strict && !crds.is_empty() && case.name != "scope-known-kind-wrong-group";
    let checks = [
        (
            rejected != case.ignore,
            "rejected exactly when refused with validation ignored",
        ),
        (
            refused != case.strict,
            "rejected or rejected-strict exactly when the strict run refused",
        ),
        (
            has(Consequence::Warned) == case.warned,
            "warned exactly when the server warned",
        ),
        (
            !silent || loudest <= Some(Severity::Info),
            "nothing above info for what does no harm",
        ),
        (
            !certain || loudest == Some(Severity::Error),
            "what is certainly refused is an error",
        ),
    ];
    let shown: Vec<_> = findings
        .iter()
        .map(|f| format!("{} {:?} {:?}", f.rule, f.severity, f.consequence))
        .collect();
    let broken = checks.into_iter().filter(|(holds, _)| !holds);
    broken
        .map(|(_, rule)| format!("{}: {rule}; found {shown:?}", case.name))
        .collect()
}

fn assert_agreement(cases: &[Case]) {
    assert!(cases.len() > 40, "{} cases", cases.len());
    let broken: Vec<_> = cases
        .iter()
        .flat_map(|case| [CRDS, ""].map(|crds| disagreements(case, crds)))
        .flatten()
        .collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn owner_and_metadata_findings_agree_with_api_server() {
    assert_agreement(&cases(|name| !is_about_finalizers(name)));
}

#[test]
fn stored_owner_references_always_give_a_garbage_collection_finding() {
    for case in cases(|name| !is_about_finalizers(name)) {
        if case.stored["ownerReferences"]
            .as_array()
            .is_none_or(Vec::is_empty)
        {
            continue;
        }
        let findings = findings(&case, CRDS);
        let acts = [
            Consequence::Collected,
            Consequence::NeverCollected,
            Consequence::Stuck,
        ];
        let said = findings
            .iter()
            .any(|f| f.severity > Severity::Info && acts.contains(&f.consequence));
        assert!(said, "{}: {findings:#?}", case.name);
    }
}
