//! Large inputs: the length of the output stays proportional to the input.

use serde_json::Value;

use super::support::repository;
use crate::limits::shell;

/// Returns the output of a check of a text on standard input, in `format`.
fn printed(text: &str, format: &str) -> String {
    let (status, out, error) = repository().run(&["--no-config", "-o", format, "-"], text);
    assert!(matches!(status, 0 | 1), "{error}");
    out
}

#[test]
fn findings_of_one_rule_are_limited_to_10000_and_counted() {
    let text = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: b}}\ndata:\n{}",
        "  k: v\n".repeat(12_001)
    );
    let report: Value = serde_json::from_str(&printed(&text, "json")).expect("JSON");
    let findings = report["findings"].as_array().expect("findings");
    assert_eq!(
        findings
            .iter()
            .filter(|finding| finding["rule"] == "duplicate-key")
            .count(),
        10_000
    );
    assert_eq!(
        report["notes"][0]["message"],
        "rule `duplicate-key` found 2000 more: at most 10000 findings are reported per rule"
    );
}

#[test]
fn skipped_documents_are_limited_to_100000_and_counted() {
    let text = "{}\n".repeat(100_002);
    let (_, out, error) =
        repository().run(&["--no-config", "--allow-empty", "-o", "json", "-"], &text);
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{error}"));
    assert_eq!(report["skipped"].as_array().map(Vec::len), Some(100_000));
    assert_eq!(
        report["notes"][0]["message"],
        "2 more documents were skipped: 100000 are listed"
    );
    assert_eq!(report["summary"]["documents"], 100_002);
}

#[test]
fn long_name_is_not_repeated_in_outputs() {
    let long = "a".repeat(300_000);
    let text = format!(
        "apiVersion: apps/v1\nkind: Deploymentt\nmetadata:\n  name: {long}\n  namespace: {long}\n  finalizers: [{long}, b]\n  \
         {long}: x\n  ownerReferences: [{{apiVersion: v1, kind: {long}, name: {long}, uid: {long}}}]\n"
    );
    let inside = repository();
    let formats = [
        "json", "jsonl", "sarif", "github", "gitlab", "junit", "rdjson", "lsp", "markdown",
        "human", "concise",
    ];
    let files = formats.map(|format| format!("{format}:{format}.out"));
    let outputs: Vec<&str> = files.iter().flat_map(|file| ["-o", file]).collect();
    let (status, _, error) = inside.run(&[&outputs[..], &["-"]].concat(), &text);
    assert_eq!(status, 1, "{error}");
    for format in formats {
        let size = inside.read(&format!("{format}.out")).len();
        assert!(size < 200_000, "{format}: {size} bytes");
    }
    let (_, listed, _) = inside.run(&["list", "-o", "json", "-"], &text);
    assert!(listed.len() < 20_000, "{} bytes", listed.len());
}

#[test]
fn thread_count_is_limited_and_failed_thread_start_is_survived() {
    let inside = repository();
    for (threads, reason) in [
        ("0", "at least one thread is needed"),
        ("100000", "at most 1024 threads are started"),
    ] {
        let (status, _, error) = inside.run(&["--threads", threads, "rendered"], "");
        assert!(
            status == 2 && error.starts_with(&format!("error: `--threads {threads}`: {reason}")),
            "{error}"
        );
    }
    // No machine has enough memory for the stack of one more thread.
    let run = shell(
        &inside.path(),
        "ulimit -v 1000000; RUST_MIN_STACK=4000000000 exec \"$OWNERLINT\" rendered",
    );
    assert_eq!(
        run.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}
