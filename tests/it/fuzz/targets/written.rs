//! Targets for files that users write for ownerlint: suppressions, configurations, steps.

use ownerlint::config::Config;
use ownerlint::engine::Steps;
use ownerlint::text::SourceFile;

use super::{check, text};

/// Suppressing comments and annotations of an object with findings: each suppresses a finding or is reported.
pub(crate) fn suppressions(data: &[u8]) {
    let object = "kind: Deploymentt\nmetadata: {name: a, finalizers: [bad]}\n";
    let comments: String = text(data)
        .lines()
        .map(|line| format!("# ownerlint: {line}\n"))
        .collect();
    check(&format!("{comments}apiVersion: apps/v1\n{object}"));
    check(&format!(
        "apiVersion: apps/v1 # ownerlint: {}\n{object}",
        text(data).replace(['\n', '\r'], " ")
    ));
}

/// A configuration is read, or its first mistake is shown at its place.
pub(crate) fn config(data: &[u8]) {
    let text = text(data);
    for text in [format!("version: 1\n{text}"), text] {
        if let Err(mistake) = Config::read(SourceFile::new("ownerlint.yaml", text)) {
            shown(&mistake);
        }
    }
}

/// Steps are read, or their first mistake is shown at its place.
pub(crate) fn steps(data: &[u8]) {
    if let Err(mistake) = Steps::read(SourceFile::new("steps.yaml", text(data))) {
        shown(&mistake);
    }
}

fn shown(mistake: &dyn miette::Diagnostic) {
    let handler =
        miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor());
    let mut shown = String::new();
    handler
        .render_report(&mut shown, mistake)
        .expect("a mistake can be shown");
}
