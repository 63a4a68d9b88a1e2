//! Removes suppressed findings from a run, and remembers which suppressions had an effect.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashSet};

use super::ignore::IgnoreIndex;
use super::intervals::Intervals;
use super::{Date, Directive, Form, Ignore};
use crate::finding::Finding;
use crate::kube::ObjectKey;
use crate::text::{FileId, Span};

/// What the directives of one file cover.
#[derive(Debug, Default)]
struct CoveredFile {
    spans: Intervals,
    /// For each span, the directives that cover it. Many may cover the same, such as a document: all but the first are told once
    /// that they are used.
    directives: Vec<ByRule>,
}

/// By rule, the directives that name it, with its place among their rules.
type ByRule = HashMap<String, Vec<(usize, usize)>>;

impl CoveredFile {
    /// The directives, with the place of the rule, that cover `place` for `rule`: of those of one span the first, and the
    /// others only when they are asked for the first time.
    fn matching(&mut self, place: u32, rule: &str) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for at in self.spans.containing(place) {
            if let Some(directives) = self.directives[at].get_mut(rule) {
                found.extend(directives.iter().copied());
                directives.truncate(1);
            }
        }
        found
    }
}

/// What the directives cover, by file: their nodes, and the directives themselves, for findings about them. The end counts: a
/// value that is left out is the empty span after its key.
fn covered(directives: &[Directive]) -> HashMap<FileId, CoveredFile> {
    let mut by_span: BTreeMap<(FileId, Span), ByRule> = BTreeMap::new();
    for (at, directive) in directives.iter().enumerate() {
        let covers = directive.covers.filter(|covers| *covers != directive.place);
        for span in std::iter::once(directive.place).chain(covers) {
            let rules = by_span.entry((directive.file, span)).or_default();
            for (place, rule) in directive.rules.iter().enumerate() {
                rules.entry(rule.id.clone()).or_default().push((at, place));
            }
        }
    }
    let mut files: HashMap<FileId, (Vec<Span>, Vec<ByRule>)> = HashMap::default();
    for ((file, span), rules) in by_span {
        let (spans, directives) = files.entry(file).or_default();
        spans.push(span);
        directives.push(rules);
    }
    let covered = |(spans, directives)| CoveredFile { spans: Intervals::of(spans), directives };
    files.into_iter().map(|(file, found)| (file, covered(found))).collect()
}

/// All suppressions of a run.
#[derive(Debug)]
pub struct Suppressions {
    directives: Vec<Directive>,
    /// For each directive, which of its rules suppressed something.
    used: Vec<Vec<bool>>,
    covered: HashMap<FileId, CoveredFile>,
    ignores: Vec<Ignore>,
    /// The ignores of each rule.
    ignores_of: HashMap<&'static str, IgnoreIndex>,
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
        let mut of_rule: HashMap<&'static str, Vec<usize>> = HashMap::default();
        for (at, ignore) in ignores.iter().enumerate().filter(|(_, ignore)| !ignore.is_expired(today)) {
            of_rule.entry(ignore.rule).or_default().push(at);
        }
        let index = |(rule, places)| (rule, IgnoreIndex::new(&ignores, places));
        Self {
            covered: covered(&directives),
            directives,
            used,
            ignores_of: of_rule.into_iter().map(index).collect(),
            ignored: vec![false; ignores.len()],
            ignores,
            config,
            today,
        }
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
        let mut matching: Vec<(usize, usize)> = match self.covered.get_mut(&finding.primary.file) {
            Some(covered) => covered.matching(finding.primary.span.start, finding.rule),
            None => Vec::new(),
        };
        matching.sort_unstable();
        for &(directive, rule) in &matching {
            self.used[directive][rule] = true;
        }
        let mut reason = matching.first().map(|(directive, _)| self.directives[*directive].reason.clone());
        if let (Some(index), Some(object)) = (self.ignores_of.get(finding.rule), &finding.object) {
            for at in index.matching(&self.ignores, object) {
                self.ignored[at] = true;
                reason.get_or_insert_with(|| Some(self.ignores[at].reason.clone()));
            }
        }
        reason
    }

    /// What has no effect although its rule ran, in the order of the places. An ignore in the configuration is judged only if the
    /// input contains what it is about: one of `objects`, or everything, if there are none to compare with.
    pub fn idle<'k>(
        &self,
        ran: impl Fn(&str) -> bool,
        objects: Option<impl Iterator<Item = &'k ObjectKey>>,
    ) -> Vec<Idle> {
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
        let unused = |at: &usize| !self.ignored[*at] && ran(self.ignores[*at].rule);
        let unused: Vec<usize> = (0..self.ignores.len()).filter(unused).collect();
        let judged = match objects {
            None => unused.into_iter().collect(),
            Some(objects) => self.about(objects, unused),
        };
        for (at, ignore) in self.ignores.iter().enumerate() {
            let object = ignore.object.as_str().to_owned();
            let cause = match ignore.expires.filter(|_| ignore.is_expired(self.today)) {
                Some(on) => IdleCause::Expired { object, on },
                None if judged.contains(&at) => IdleCause::Ignore { object },
                None => continue,
            };
            idle.push(Idle { file, span: ignore.place, rule: ignore.rule.to_owned(), cause });
        }
        idle
    }

    /// Which of the ignores at these places are about one of the objects.
    fn about<'k>(&self, objects: impl Iterator<Item = &'k ObjectKey>, places: Vec<usize>) -> HashSet<usize> {
        if places.is_empty() {
            return HashSet::default();
        }
        let index = IgnoreIndex::new(&self.ignores, places);
        objects.flat_map(|object| index.matching(&self.ignores, object)).collect()
    }
}
