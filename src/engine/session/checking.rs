//! Checks of a session: the selected rules with the configured severities, and the findings that are already known.

use super::{Session, read};
use crate::baseline::{Baseline, Renewal};
use crate::cluster::Analysis;
use crate::engine::check::Check;
use crate::engine::coverage::Coverage;
use crate::engine::edits::note_on_edits;
use crate::engine::error::SessionError;
use crate::engine::request::BaselineChoice;
use crate::engine::resolve::resolve;
use crate::engine::run::{check_analysed, check_bundles};
use crate::engine::scope::ReportScope;
use crate::engine::selection::Selection;
use crate::finding::Fixes;
use crate::inventory::Past;
use crate::report::{Graphs, Note, Report};
use crate::suppression::Date;

/// Options of a check, besides those of its configuration.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CheckOptions {
    /// Ids, subjects or prefixes of the rules to run; all rules if empty.
    pub select: Vec<String>,
    /// Ids, subjects or prefixes of rules that do not run.
    pub ignore: Vec<String>,
    /// The known findings, which are not reported.
    pub baseline: BaselineChoice,
    /// The files to which the report is limited; `None` means all.
    pub only: Option<ReportScope>,
    /// The earlier contents of changed files: findings that they already had are counted and not reported.
    #[doc(hidden)]
    pub since: Option<Past>,
    /// Whether repeated findings are all reported, as baselines count them, instead of combined.
    pub every: bool,
    /// Whether every file is treated as applied, as editors need it for the open file.
    pub as_applied: bool,
    /// Whether findings come with their fixes.
    pub fixes: Fixes,
    /// Whether the report gets the simulated deletions behind its findings.
    pub graphs: Graphs,
    /// Whether findings are counted by rule.
    pub statistics: bool,
    /// The current date, for ignores that expire; if it is `None`, none expires.
    pub today: Option<Date>,
}

impl Session {
    /// Checks the input. Findings in rendered charts have no fixes, because no file contains the
    /// text. The report records what each of these texts is made from.
    ///
    /// # Errors
    /// An unknown rule, a selection without rules, and a baseline that cannot be read.
    pub fn check(&self, options: CheckOptions) -> Result<Report, SessionError> {
        let mut report = check_bundles(&self.bundles, &self.how_to_check(options)?);
        for reported in &mut report.findings {
            let file = report.sources.file(reported.finding.primary.file);
            if self.is_rendered(file.path()) {
                reported.finding.fix = None;
            }
        }
        for (path, parts) in &self.request.made {
            for id in report.sources.with_path(path) {
                let file = report.sources.file(id).clone().with_rendered(parts.clone());
                report.sources.replace(id, file);
            }
        }
        Ok(report)
    }

    /// Runs [`Session::check`] with existing analyses, one for each bundle.
    pub(in crate::engine) fn check_analysed(
        &self,
        analyses: &[&Analysis<'_>],
        options: CheckOptions,
    ) -> Result<Report, SessionError> {
        let check = self.how_to_check(options)?;
        Ok(check_analysed(&self.bundles, analyses, &check))
    }

    fn how_to_check(&self, options: CheckOptions) -> Result<Check, SessionError> {
        let CheckOptions {
            select,
            ignore,
            baseline,
            only,
            since,
            every,
            as_applied,
            fixes,
            graphs,
            statistics,
            today,
        } = options;
        let config = self.config.as_ref();
        let ignores = config.filter(|config| !config.ignores.is_empty());
        let selection = Selection::configured(config, &select, &ignore)?;
        if selection.rules().is_empty() {
            return Err(selection
                .first_by_name()
                .map_or(SessionError::NoRuleLeft, |rule| {
                    SessionError::OfAnotherCommand {
                        id: rule.id,
                        what: "changes",
                        command: "diff",
                    }
                }));
        }
        let mut check = Check {
            selection,
            severities: config
                .map(|config| config.severities.clone())
                .unwrap_or_default(),
            ignores: ignores.map(|config| (config.source.clone(), config.ignores.clone())),
            configuration: config.map(|config| config.source.path().to_owned()),
            extent: self.extent,
            baseline: self.known(&baseline)?,
            only,
            every,
            as_applied,
            renders: self.request.renders,
            fixes,
            graphs,
            statistics,
            today,
            ..Check::default()
        };
        if let Some(past) = since {
            let (before, note) = self.found_before(&past, &check)?;
            check.before = Some(before);
            check.notes.extend(note);
        }
        Ok(check)
    }

    /// Runs `check` on the files before a change with the current configuration. Returns its findings, and a note if
    /// the change edits the configuration, the baseline or suppressions.
    fn found_before(
        &self,
        past: &Past,
        check: &Check,
    ) -> Result<(Baseline, Option<Note>), SessionError> {
        let resolved = resolve(&self.request, self.config.as_ref())?;
        let mut files = self.files.clone();
        let bundles = read(&self.request, resolved, Some(past), &mut files)?;
        let everything = Check {
            only: None,
            every: true,
            // Only identities are compared, and they do not depend on `as_applied`.
            as_applied: true,
            fixes: Fixes::LeftOut,
            graphs: Graphs::LeftOut,
            ..check.clone()
        };
        let report = check_bundles(&bundles, &everything);
        let own = check.configuration.iter().map(String::as_str);
        let own: Vec<&str> = own
            .chain(check.baseline.iter().map(|(file, _)| file.path()))
            .collect();
        let [before, now] =
            [&bundles, &self.bundles].map(|bundles| bundles.iter().map(|bundle| &bundle.inventory));
        let note = note_on_edits(past, &own, before, now);
        Ok((
            Baseline::of(report.findings.iter().map(|reported| &reported.finding)),
            note,
        ))
    }

    /// Updates the baseline `known` after a check of this session without a baseline. Entries that the check could not
    /// have found are kept. New findings are added if `learn` is set.
    #[doc(hidden)]
    pub fn renew(&self, known: &Baseline, report: &Report, learn: bool) -> Renewal {
        let coverage = Coverage::of(
            &self.bundles,
            report.rules.iter().map(|rule| rule.id),
            self.extent,
        );
        let findings = report.findings.iter().map(|reported| &reported.finding);
        known.after(
            findings,
            |entry, found| coverage.judges(entry, found),
            learn,
        )
    }
}
