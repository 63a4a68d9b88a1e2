//! One line per finding, then one per object that is deleted or gets stuck, then the verdict unless nothing is deleted.

use std::collections::BTreeMap;

use super::folded::folded;
use super::in_head::in_head;
use super::lines::{effect_line, in_clusters, several_clusters};
use super::{DiffReport, DiffVerdict};
use crate::kube::ObjectKey;
use crate::merge::{DiffEffect, EffectCertainty, EffectKind};
use crate::report::{Format, Options, render as render_findings};
use crate::text::plain;

/// The effects that have a line, the worst first.
const LISTED: [(EffectKind, &str); 5] = [
    (EffectKind::Stuck, "stuck"),
    (EffectKind::Cascaded, "deleted"),
    (EffectKind::GeneratedDeleted, "deleted"),
    (EffectKind::Recreated, "deleted and created again"),
    (EffectKind::Deleted, "deleted"),
];

pub(super) fn render(report: &DiffReport, options: &Options) -> String {
    let findings = in_head(&folded(&report.findings));
    let mut text = render_findings(Format::Concise, &findings, options);
    let lost = report.of(EffectKind::DataLost);
    let lost: BTreeMap<_, _> = lost.map(|lost| (&lost.key, lost.certainty)).collect();
    for (kind, word) in LISTED {
        let lines = report.of(kind).map(|effect| {
            let line = format!(
                "{word}: {}{}",
                effect_line(effect),
                with_data(effect, &lost)
            );
            (line, effect.cluster.as_deref())
        });
        for (line, clusters) in in_clusters(lines) {
            let line = plain::one_line(&line);
            text.push_str(&format!("{line}{}\n", several_clusters(&clusters)));
        }
    }
    let answer = report.summary.verdict != DiffVerdict::Nothing;
    let lines = [
        answer.then(|| report.headline()),
        report.supposition(),
        report.newly_failing(),
        report.not_read(),
    ];
    for line in lines.into_iter().flatten() {
        text.push_str(&format!("{}\n", plain::one_line(&line)));
    }
    text
}

fn with_data(effect: &DiffEffect, lost: &BTreeMap<&ObjectKey, EffectCertainty>) -> &'static str {
    match lost.get(&effect.key) {
        None => "",
        Some(EffectCertainty::Certain) => ", with its data",
        Some(EffectCertainty::Race | EffectCertainty::Possible) => ", possibly with its data",
    }
}
