//! Removes suppressed findings from a run, and remembers which suppressions had an effect.

use super::{Date, Directive, Form, Ignore};
use crate::finding::Finding;
use crate::text::{FileId, Span};

/// All suppressions of a run.
#[derive(Debug)]
pub struct Suppressions {
    directives: Vec<Directive>,
    /// For each directive, which of its rules suppressed something.
    used: Vec<Vec<bool>>,
    ignores: Vec<Ignore>,
    ignored: Vec<bool>,
    config: Option<FileId>,
    today: Option<Date>,
}

/// A suppressed finding, and why.
#[derive(Clone, Debug)]
pub struct Suppressed<F> {
    /// The finding.
    pub finding: F,
    /// The reason that somebody gave.
    pub reason: Option<String>,
}

/// Findings, divided.
#[derive(Clone, Debug)]
pub struct Applied<F> {
    /// Those that are reported.
    pub kept: Vec<F>,
    /// Those that are suppressed.
    pub suppressed: Vec<Suppressed<F>>,
}

/// A suppression, or a part of one, without effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The file.
    pub file: FileId,
    /// Where to point: the rule in its list, or the ignore.
    pub span: Span,
    /// The rule that is ignored without effect.
    pub rule: String,
    /// Why it has no effect.
    pub cause: IdleCause,
}

/// Why a suppression has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdleCause {
    /// The rule finds nothing in what the directive covers.
    Directive(Form),
    /// The rule finds nothing on these objects.
    Ignore {
        /// The objects.
        object: String,
    },
    /// The ignore has expired.
    Expired {
        /// The objects.
        object: String,
        /// Its last day.
        on: Date,
    },
}

impl Suppressions {
    /// The suppressions of a run: the directives of all bundles with places in `sources` of the run, and the ignores of
    /// the configuration `config`.
    pub fn new(
        mut directives: Vec<Directive>,
        ignores: Vec<Ignore>,
        config: Option<FileId>,
        today: Option<Date>,
    ) -> Self {
        directives.sort();
        // A file in two bundles comes twice.
        directives.dedup();
        let used = directives.iter().map(|directive| vec![false; directive.rules.len()]).collect();
        let ignored = vec![false; ignores.len()];
        Self { directives, used, ignores, ignored, config, today }
    }

    /// Divides findings into those that are reported and those that are suppressed.
    pub fn apply<F>(&mut self, findings: Vec<F>, of: impl Fn(&F) -> &Finding) -> Applied<F> {
        let mut applied = Applied { kept: Vec::new(), suppressed: Vec::new() };
        for finding in findings {
            match self.reason(of(&finding)) {
                None => applied.kept.push(finding),
                Some(reason) => applied.suppressed.push(Suppressed { finding, reason }),
            }
        }
        applied
    }

    /// The reason of the first suppression that matches `finding`; every one that matches counts as used.
    fn reason(&mut self, finding: &Finding) -> Option<Option<String>> {
        let primary = &finding.primary;
        let mut reason = None;
        let from = self.directives.partition_point(|directive| directive.file < primary.file);
        for (directive, used) in self.directives[from..].iter().zip(&mut self.used[from..]) {
            if directive.file != primary.file {
                break;
            }
            if !directive.covers(primary.span) {
                continue;
            }
            for (rule, used) in directive.rules.iter().zip(used) {
                if rule.id == finding.rule {
                    *used = true;
                    reason.get_or_insert_with(|| directive.reason.clone());
                }
            }
        }
        for (ignore, ignored) in self.ignores.iter().zip(&mut self.ignored) {
            let matches = |object| ignore.object.matches(object);
            let applies = ignore.rule == finding.rule && !ignore.is_expired(self.today);
            if applies && finding.object.as_ref().is_some_and(matches) {
                *ignored = true;
                reason.get_or_insert_with(|| Some(ignore.reason.clone()));
            }
        }
        reason
    }

    /// What has no effect although its rule ran, in the order of the places. `proves` says whether the input contains
    /// what an ignore in the configuration is about.
    pub fn idle(&self, ran: impl Fn(&str) -> bool, proves: impl Fn(&Ignore) -> bool) -> Vec<Idle> {
        let mut idle = Vec::new();
        for (directive, used) in self.directives.iter().zip(&self.used) {
            for (rule, used) in directive.rules.iter().zip(used) {
                if !used && ran(&rule.id) {
                    let cause = IdleCause::Directive(directive.form);
                    idle.push(Idle { file: directive.file, span: rule.span, rule: rule.id.clone(), cause });
                }
            }
        }
        let Some(file) = self.config else { return idle };
        for (ignore, used) in self.ignores.iter().zip(&self.ignored) {
            let object = ignore.object.as_str().to_owned();
            let cause = match ignore.expires.filter(|_| ignore.is_expired(self.today)) {
                Some(on) => IdleCause::Expired { object, on },
                None if *used || !ran(ignore.rule) => continue,
                None if proves(ignore) => IdleCause::Ignore { object },
                None => continue,
            };
            idle.push(Idle { file, span: ignore.place, rule: ignore.rule.to_owned(), cause });
        }
        idle
    }
}
