//! Removes suppressed findings from a run, and records which suppressions had an effect.

use std::ops::Range;

use foldhash::{HashMap, HashSet};
use smallvec::{SmallVec, smallvec};
use smol_str::SmolStr;

use super::ignore::IgnoreIndex;
use super::intervals::Intervals;
use super::{Date, Directive, Form, Ignore};
use crate::finding::Finding;
use crate::kube::ObjectKey;
use crate::text::{FileId, Span};

/// The spans that the directives of one file cover.
#[derive(Debug, Default)]
struct CoveredFile {
    spans: Intervals,
    /// For each span, the index in `rules` after its last rule.
    ends: Vec<usize>,
    /// The ignored rules, sorted by span and then by name.
    rules: Vec<IgnoredRule>,
}

/// A rule that a directive names.
#[derive(Clone, Copy, Debug)]
struct IgnoredRule {
    /// Index of the directive.
    directive: u32,
    /// Index of the rule among those of the directive.
    rule: u32,
    /// Whether `matching` has returned it; see there.
    found: bool,
}

impl IgnoredRule {
    fn file(self, directives: &[Directive]) -> FileId {
        directives[self.directive as usize].file
    }

    fn name(self, directives: &[Directive]) -> &str {
        &directives[self.directive as usize].rules[self.rule as usize].id
    }
}

impl CoveredFile {
    /// Collects the ignored rules of a file, which are sorted by span and then by name.
    fn new(ignored: &[(Span, IgnoredRule)]) -> Self {
        let (mut spans, mut ends) = (Vec::new(), Vec::new());
        let mut rules = Vec::with_capacity(ignored.len());
        for in_span in ignored.chunk_by(|(a, _), (b, _)| a == b) {
            spans.push(in_span[0].0);
            rules.extend(in_span.iter().map(|(_, ignored)| *ignored));
            ends.push(rules.len());
        }
        Self {
            spans: Intervals::new(spans),
            ends,
            rules,
        }
    }

    /// Returns the directives that ignore `rule` at `place`. For each span, every call returns the
    /// first directive; the others are returned once, which is enough to mark them as used.
    fn matching(&mut self, place: u32, rule: &str, directives: &[Directive]) -> Vec<IgnoredRule> {
        let mut found = Vec::new();
        for at in self.spans.containing(place) {
            let in_span = self.in_span(at);
            let in_span = &mut self.rules[in_span];
            let before = in_span.partition_point(|ignored| ignored.name(directives) < rule);
            let named = in_span[before..]
                .iter_mut()
                .take_while(|ignored| ignored.name(directives) == rule);
            let new = named
                .enumerate()
                .take_while(|(at, ignored)| *at == 0 || !ignored.found);
            found.extend(new.map(|(_, ignored)| {
                ignored.found = true;
                *ignored
            }));
        }
        found
    }

    /// Whether a directive ignores `rule` at `place`.
    fn ignores(&self, place: u32, rule: &str, directives: &[Directive]) -> bool {
        self.spans.containing(place).into_iter().any(|at| {
            let in_span = &self.rules[self.in_span(at)];
            let found = in_span.binary_search_by(|ignored| ignored.name(directives).cmp(rule));
            found.is_ok()
        })
    }

    /// Returns the indices of the ignored rules of a span.
    fn in_span(&self, at: usize) -> Range<usize> {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[at]
    }
}

/// Collects, by file, the spans that directives cover: their nodes, and their own text, so that they also suppress
/// findings about themselves. The end of a span counts as inside: an omitted value is the empty span after its key.
fn covered(directives: &[Directive]) -> HashMap<FileId, CoveredFile> {
    let mut ignored: Vec<(Span, IgnoredRule)> = Vec::new();
    for (at, directive) in (0u32..).zip(directives) {
        let covers = directive.covers.filter(|covers| *covers != directive.place);
        for span in std::iter::once(directive.place).chain(covers) {
            let rules = (0..directive.rules.len() as u32).map(|rule| IgnoredRule {
                directive: at,
                rule,
                found: false,
            });
            ignored.extend(rules.map(|ignored| (span, ignored)));
        }
    }
    ignored.sort_unstable_by_key(|(span, ignored)| {
        let (file, name) = (ignored.file(directives), ignored.name(directives));
        (file, *span, name, ignored.directive, ignored.rule)
    });
    ignored
        .chunk_by(|(_, a), (_, b)| a.file(directives) == b.file(directives))
        .map(|in_file| (in_file[0].1.file(directives), CoveredFile::new(in_file)))
        .collect()
}

/// All suppressions of a run.
#[derive(Debug)]
pub struct Suppressions {
    directives: Vec<Directive>,
    /// For each directive and each of its rules, whether it suppressed something.
    used: Vec<SmallVec<[bool; 1]>>,
    covered: HashMap<FileId, CoveredFile>,
    ignores: Vec<Ignore>,
    /// The ignores of each rule that have not expired.
    ignores_of: HashMap<&'static str, IgnoreIndex>,
    ignored: Vec<bool>,
    config: Option<FileId>,
    today: Option<Date>,
}

/// A suppressed finding, and the reason.
#[derive(Clone, Debug)]
pub struct Suppressed<F> {
    /// The finding.
    pub finding: F,
    /// The reason that the suppression gives.
    pub reason: Option<String>,
}

/// Findings, divided by suppressions.
#[derive(Clone, Debug)]
pub struct Applied<F> {
    /// Findings that are reported.
    pub kept: Vec<F>,
    /// Findings that are suppressed.
    pub suppressed: Vec<Suppressed<F>>,
}

/// A suppression, or a part of one, without effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The file.
    pub file: FileId,
    /// The span to report: the rule in its list, or the ignore.
    pub span: Span,
    /// The ignored rule.
    pub rule: SmolStr,
    /// Why it has no effect.
    pub cause: IdleCause,
}

/// Why a suppression has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdleCause {
    /// The rule finds nothing in the span of the directive.
    Directive(Form),
    /// The rule finds nothing on these objects.
    Ignore {
        /// The objects.
        object: SmolStr,
    },
    /// The ignore has expired.
    Expired {
        /// The objects.
        object: SmolStr,
        /// Its last day.
        on: Date,
    },
}

impl Suppressions {
    /// Collects the suppressions of a run: the directives of all bundles, with places in the files of the run, and the
    /// ignores of the configuration `config`.
    pub fn new(
        mut directives: Vec<Directive>,
        ignores: Vec<Ignore>,
        config: Option<FileId>,
        today: Option<Date>,
    ) -> Self {
        directives.sort();
        // A file in two bundles contributes its directives twice.
        directives.dedup();
        let used = directives.iter();
        let used = used.map(|directive| smallvec![false; directive.rules.len()]);
        let mut of_rule: HashMap<&'static str, Vec<usize>> = HashMap::default();
        for (at, ignore) in ignores.iter().enumerate() {
            if !ignore.is_expired(today) {
                of_rule.entry(ignore.rule).or_default().push(at);
            }
        }
        Self {
            used: used.collect(),
            covered: covered(&directives),
            directives,
            ignores_of: of_rule
                .into_iter()
                .map(|(rule, places)| (rule, IgnoreIndex::new(&ignores, places)))
                .collect(),
            ignored: vec![false; ignores.len()],
            ignores,
            config,
            today,
        }
    }

    /// Divides findings into those that are reported and those that are suppressed.
    pub fn apply<F>(&mut self, findings: Vec<F>, of: impl Fn(&F) -> &Finding) -> Applied<F> {
        let mut applied = Applied {
            kept: Vec::new(),
            suppressed: Vec::new(),
        };
        for finding in findings {
            match self.reason(of(&finding)) {
                None => applied.kept.push(finding),
                Some(reason) => applied.suppressed.push(Suppressed { finding, reason }),
            }
        }
        applied
    }

    /// Whether a suppression matches `finding`. This does not mark any suppression as used.
    pub fn suppress(&self, finding: &Finding) -> bool {
        let covered = self.covered.get(&finding.primary.file);
        let by_directive = covered.is_some_and(|covered| {
            covered.ignores(finding.primary.span.start, finding.rule, &self.directives)
        });
        by_directive
            || self
                .ignores_of
                .get(finding.rule)
                .zip(finding.object.as_ref())
                .is_some_and(|(index, object)| !index.matching(&self.ignores, object).is_empty())
    }

    /// Returns the reason of the first suppression that matches `finding`, and marks every matching one as used.
    fn reason(&mut self, finding: &Finding) -> Option<Option<String>> {
        let place = finding.primary.span.start;
        let covered = self.covered.get_mut(&finding.primary.file);
        let mut matching = covered.map_or_else(Vec::new, |covered| {
            covered.matching(place, finding.rule, &self.directives)
        });
        matching.sort_unstable_by_key(|ignored| (ignored.directive, ignored.rule));
        for ignored in &matching {
            self.used[ignored.directive as usize][ignored.rule as usize] = true;
        }
        let mut reason = matching
            .first()
            .map(|first| self.directives[first.directive as usize].reason.clone());
        if let (Some(index), Some(object)) = (self.ignores_of.get(finding.rule), &finding.object) {
            for at in index.matching(&self.ignores, object) {
                self.ignored[at] = true;
                reason.get_or_insert_with(|| Some(self.ignores[at].reason.clone()));
            }
        }
        reason
    }

    /// Returns the unused rules of directives, then the ignores: all expired ones, and the unused ones that match one
    /// of `objects`; if `objects` is `None` because the input is complete, all unused ones. An unused rule or ignore
    /// counts only if its rule ran.
    pub fn idle<'k>(
        &self,
        ran: impl Fn(&str) -> bool,
        objects: Option<impl Iterator<Item = &'k ObjectKey>>,
    ) -> Vec<Idle> {
        let named = self
            .directives
            .iter()
            .zip(&self.used)
            .flat_map(|(directive, used)| {
                directive
                    .rules
                    .iter()
                    .zip(used)
                    .filter(|(rule, used)| !**used && ran(&rule.id))
                    .map(move |(rule, _)| (directive, rule))
            });
        // Allocated once: there may be as many as comments.
        let mut idle = Vec::with_capacity(named.clone().count());
        idle.extend(named.map(|(directive, rule)| {
            let cause = IdleCause::Directive(directive.form);
            Idle {
                file: directive.file,
                span: rule.span,
                rule: rule.id.clone(),
                cause,
            }
        }));
        let Some(file) = self.config else { return idle };
        let unused: Vec<usize> = (0..self.ignores.len())
            .filter(|at| !self.ignored[*at] && ran(self.ignores[*at].rule))
            .collect();
        let judged = match objects {
            None => unused.into_iter().collect(),
            Some(objects) => self.about(objects, unused),
        };
        for (at, ignore) in self.ignores.iter().enumerate() {
            let object = SmolStr::from(ignore.object.as_str());
            let cause = match ignore.expires.filter(|_| ignore.is_expired(self.today)) {
                Some(on) => IdleCause::Expired { object, on },
                None if judged.contains(&at) => IdleCause::Ignore { object },
                None => continue,
            };
            idle.push(Idle {
                file,
                span: ignore.place,
                rule: ignore.rule.into(),
                cause,
            });
        }
        idle
    }

    /// Returns the ignores among `places` that match one of the objects.
    fn about<'k>(
        &self,
        objects: impl Iterator<Item = &'k ObjectKey>,
        places: Vec<usize>,
    ) -> HashSet<usize> {
        if places.is_empty() {
            return HashSet::default();
        }
        let index = IgnoreIndex::new(&self.ignores, places);
        let matching = objects.flat_map(|object| index.matching(&self.ignores, object));
        matching.collect()
    }
}
