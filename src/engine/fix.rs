//! Applies fixes to texts, in rounds, until nothing is left to fix.
//!
//! Writes no file. A round applies the first of the fixes that change the same mapping or list.
//! Every round checks the input again, because a fix may cause or resolve other findings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::error::SessionError;
use super::inquiry::Inquiry;
use super::session::{CheckOptions, Session};
use crate::finding::{Applicability, Edit, Fix, Fixes};
use crate::inventory::locate;
use crate::report::{Graphs, Report};
use crate::text::{FileId, Side, SourceFile, Span, replaced};

/// Maximum number of rounds. Only a mapping or list with as many defects needs all of them.
const MAX_ROUNDS: usize = 100;

/// Budget for the bytes that all rounds check together. The round that exceeds it is the last.
const MAX_BYTES: usize = 32 << 20;

/// A file that fixes change.
#[derive(Clone, Debug)]
pub struct FixedFile {
    /// The file as it was read.
    pub before: SourceFile,
    /// The fixed text.
    pub after: String,
}

/// The result of fixes.
#[derive(Debug)]
pub struct Fixed {
    /// The session with the fixed texts.
    pub session: Session,
    /// Remaining findings, from a check of the fixed texts.
    pub report: Report,
    /// The files that change, in the order of their paths.
    pub files: Vec<FixedFile>,
    /// How many findings of each rule were fixed.
    pub applied: BTreeMap<&'static str, usize>,
    /// Whether a limit ended the rounds, so that there may be more to fix.
    pub unfinished: bool,
}

impl Inquiry<'_> {
    /// Returns the text of the file at `path` after all its safe fixes that change no other file; `None` if there are
    /// none. `report` is the result of a check with `options`.
    ///
    /// # Errors
    /// See [`Session::open`] and [`Session::check`].
    pub fn fixed_text(
        &self,
        path: &str,
        report: &Report,
        options: &CheckOptions,
    ) -> Result<Option<String>, SessionError> {
        let mut fixed: Option<String> = None;
        let mut judged: Option<Report> = None;
        let mut rounds = FixRounds::default();
        loop {
            let report = judged.as_ref().unwrap_or(report);
            let chosen = Chosen::of(report, Applicability::Safe, |file| file.path() == path);
            let Some((id, edits)) = chosen.edits.into_iter().next() else {
                break;
            };
            let pieces = edits
                .iter()
                .map(|edit| (edit.span, edit.replacement.as_str()));
            let Some(text) = replaced(report.sources.file(id).text(), pieces) else {
                break;
            };
            if !chosen.held_back || !rounds.another(report) {
                return Ok(Some(text));
            }
            judged = Some(
                self.session
                    .with_text(path, &text)?
                    .check(options.clone())?,
            );
            fixed = Some(text);
        }
        Ok(fixed)
    }
}

impl Session {
    /// Applies the fixes of a check that are at most as risky as `applicability`. If the session has unsaved texts,
    /// only these are changed.
    ///
    /// # Errors
    /// See [`Session::open`] and [`Session::check`].
    #[doc(hidden)]
    pub fn fix(
        mut self,
        options: &CheckOptions,
        applicability: Applicability,
    ) -> Result<Fixed, SessionError> {
        let unsaved = self.has_unsaved_texts();
        let mut changed: BTreeMap<PathBuf, FixedFile> = BTreeMap::new();
        let mut applied = BTreeMap::new();
        let mut rounds = FixRounds::default();
        let unfinished = loop {
            let report = self.check(CheckOptions {
                every: true,
                fixes: Fixes::WorkedOut,
                graphs: Graphs::LeftOut,
                ..options.clone()
            })?;
            let chosen = Chosen::of(&report, applicability, |file| {
                !unsaved || file.side() == Side::Unsaved
            });
            if chosen.edits.is_empty() {
                break false;
            }
            for rule in chosen.rules {
                *applied.entry(rule).or_default() += 1;
            }
            let (request, mut files) = self.into_files();
            for (id, edits) in chosen.edits {
                let before = report.sources.file(id);
                let pieces = edits
                    .iter()
                    .map(|edit| (edit.span, edit.replacement.as_str()));
                let Some(after) = replaced(before.text(), pieces) else {
                    continue;
                };
                files.replace(before, after.clone());
                changed
                    .entry(locate(before.path()))
                    .or_insert_with(|| FixedFile {
                        before: before.clone(),
                        after: String::new(),
                    })
                    .after = after;
            }
            self = Self::open_among(&request, files)?;
            if !rounds.another(&report) {
                break true;
            }
        };
        let report = self.check(options.clone())?;
        let mut files: Vec<FixedFile> = changed.into_values().collect();
        files.sort_by(|a, b| a.before.path().cmp(b.before.path()));
        Ok(Fixed {
            session: self,
            report,
            files,
            applied,
            unfinished,
        })
    }
}

/// Number and size of the rounds so far.
#[derive(Default)]
struct FixRounds {
    number: usize,
    bytes: usize,
}

impl FixRounds {
    /// Counts the round of `report`, and returns whether there may be another one.
    fn another(&mut self, report: &Report) -> bool {
        self.number += 1;
        self.bytes += report
            .sources
            .iter()
            .map(|(_, file)| file.text().len())
            .sum::<usize>();
        self.number < MAX_ROUNDS && self.bytes <= MAX_BYTES
    }
}

/// The fixes of one round.
#[derive(Default)]
struct Chosen<'r> {
    edits: BTreeMap<FileId, Vec<&'r Edit>>,
    /// The rule of each fix.
    rules: Vec<&'static str>,
    /// Whether fixes were held back because they overlap with these.
    held_back: bool,
    /// The spans of the mappings and lists that change: file and end → start.
    taken: BTreeMap<(FileId, u32), u32>,
}

impl<'r> Chosen<'r> {
    /// Chooses fixes that do not overlap; of overlapping ones, the first.
    fn of(
        report: &'r Report,
        applicability: Applicability,
        may_change: impl Fn(&SourceFile) -> bool,
    ) -> Self {
        let mut chosen = Self::default();
        for reported in &report.findings {
            let Some(fix) = &reported.finding.fix else {
                continue;
            };
            let is_wanted = fix.applicability <= applicability;
            let mut files = fix.edits.iter().map(|edit| edit.file);
            let may_change =
                |id: FileId| !report.context.contains(&id) && may_change(report.sources.file(id));
            if !is_wanted || !files.all(may_change) {
                continue;
            }
            if chosen.take(fix) {
                chosen.rules.push(reported.finding.rule);
            } else {
                chosen.held_back = true;
            }
        }
        chosen
    }

    fn take(&mut self, fix: &'r Fix) -> bool {
        for edit in &fix.edits {
            let (file, start, end) = around(edit);
            // Taken spans do not overlap, so only the first that ends after this one begins can overlap with it.
            let next = self.taken.range((file, start)..).next();
            if next.is_some_and(|((other, _), from)| *other == file && *from <= end) {
                return false;
            }
        }
        for edit in &fix.edits {
            let (file, start, end) = around(edit);
            self.claim(file, start, end);
            self.edits.entry(file).or_default().push(edit);
        }
        true
    }

    /// Takes a span, merged with the spans of the same fix that it overlaps.
    fn claim(&mut self, file: FileId, mut start: u32, mut end: u32) {
        while let Some((&(_, until), &from)) = self
            .taken
            .range((file, start)..)
            .next()
            .filter(|((other, _), from)| *other == file && **from <= end)
        {
            self.taken.remove(&(file, until));
            start = start.min(from);
            end = end.max(until);
        }
        self.taken.insert((file, end), start);
    }
}

/// Returns the file of an edit, and the start and end of the range that covers its span and the mapping or list that
/// changes.
fn around(edit: &Edit) -> (FileId, u32, u32) {
    let (Span { start, end }, within) = (edit.span, edit.within);
    (edit.file, start.min(within.start), end.max(within.end))
}
