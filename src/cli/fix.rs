//! `check --fix` and `--fix-dry-run`: writes fixed files, prints a fixed text, or prints a diff.

use std::path::Path;

use clap::Args;

use super::error::Error;
use super::replace::rewrite;
use super::unified_diff::unified;
use crate::engine::{Fixed, FixedFile};
use crate::finding::Applicability;
use crate::inventory::{STDIN, place_to_edit};
use crate::manifest::ParsedFile;
use crate::report::Report;
use crate::text::{Side, SourceFile, plain};

/// The options that ask for fixes.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct FixArgs {
    /// Fix what can be fixed safely, and report what is left
    #[arg(long, help_heading = "Fixes")]
    pub(super) fix: bool,
    /// Also apply suggested fixes, which change what the cluster does: read the diff
    #[arg(long, help_heading = "Fixes")]
    pub(super) suggested: bool,
    /// Show what `--fix` would change as a unified diff, and write nothing; exit with 1 if it would change anything
    #[arg(long, help_heading = "Fixes")]
    pub(super) fix_dry_run: bool,
}

impl FixArgs {
    /// Returns the most invasive kind of fix to apply; `None` if no fixes are requested.
    pub(super) fn applicability(self) -> Result<Option<Applicability>, Error> {
        match (self.fix || self.fix_dry_run, self.suggested) {
            (false, true) => Err(Error::SuggestedAlone),
            (false, false) => Ok(None),
            (true, true) => Ok(Some(Applicability::Suggested)),
            (true, false) => Ok(Some(Applicability::Safe)),
        }
    }
}

/// Whether a text came from standard input, with or without a file name. It is fixed on standard output.
fn is_piped(file: &SourceFile) -> bool {
    file.path() == STDIN || file.side() == Side::Unsaved
}

/// Returns the changes as a unified diff. The values of Secrets are masked, and control characters are made visible.
pub(super) fn diff(files: &[FixedFile]) -> String {
    let diffs = files.iter().map(|FixedFile { before, after }| {
        let path = plain::one_line(before.path());
        let after = ParsedFile::parse(SourceFile::new(before.path(), after.as_str()));
        let (before, after) = (shown(before), shown(after.source()));
        unified(&before, &after, &path)
    });
    diffs.collect()
}

/// Returns the text in printable form: each line from [`SourceFile::shown_line`], with its own line break.
fn shown(file: &SourceFile) -> String {
    let lines = (1..=file.line_count()).map(|number| {
        let line = file.shown_line(number);
        let rest = file
            .line_span(number)
            .map_or("", |span| &file.text()[span.end as usize..]);
        let line_break = ["\r\n", "\n"].into_iter().find(|end| rest.starts_with(end));
        plain::visible_in_place(&line) + line_break.unwrap_or_default()
    });
    lines.collect()
}

/// Writes the fixed files, each of them completely or not at all.
pub(super) fn write(files: &[FixedFile]) -> Result<(), Error> {
    for file in files.iter().filter(|file| !is_piped(&file.before)) {
        let path = file.before.path();
        rewrite_unchanged(path, file).map_err(|reason| Error::Write {
            place: format!("`{path}`"),
            reason,
        })?;
    }
    Ok(())
}

/// Replaces a file and keeps its permissions. Fails if the file has changed since it was read, or is outside the
/// repository, to which a symbolic link can lead.
fn rewrite_unchanged(path: &str, file: &FixedFile) -> std::io::Result<()> {
    let place = place_to_edit(Path::new(path))?;
    if std::fs::read(&place)? != file.before.text().as_bytes() {
        let reason = "it is not UTF-8, or has changed since it was read";
        return Err(std::io::Error::other(reason));
    }
    rewrite(&place, &file.after)
}

/// Returns the text of standard input, fixed or not, if it was read.
pub(super) fn piped(fixed: &Fixed) -> Option<&str> {
    let changed = fixed
        .files
        .iter()
        .find(|file| is_piped(&file.before))
        .map(|file| file.after.as_str());
    changed.or_else(|| {
        let mut read = fixed.report.sources.iter().map(|(_, file)| file);
        read.find(|file| is_piped(file) && !fixed.session.is_rendered(file.path()))
            .map(|file| file.text())
    })
}

/// Summarises the fixed findings on one line; `verb` is `fixed` or `would fix`.
pub(super) fn summary(fixed: &Fixed, verb: &str) -> String {
    let count: usize = fixed.applied.values().sum();
    let rendered = in_charts(fixed);
    if count == 0 {
        return format!("{verb} nothing{rendered}");
    }
    let rules: Vec<_> = fixed
        .applied
        .iter()
        .map(|(rule, count)| format!("{rule} {count}"))
        .collect();
    let files = plain::count(fixed.files.len(), "file");
    let more = if fixed.unfinished {
        "; run it again for the rest"
    } else {
        ""
    };
    format!(
        "{verb} {} in {files} ({}){more}{rendered}",
        plain::count(count, "finding"),
        rules.join(", ")
    )
}

/// Counts the findings in rendered charts, to follow a summary; empty if there are none.
fn in_charts(fixed: &Fixed) -> String {
    let findings = fixed.report.findings.iter();
    let files = findings.map(|one| fixed.report.sources.file(one.finding.primary.file));
    match files
        .filter(|file| fixed.session.is_rendered(file.path()))
        .count()
    {
        0 => String::new(),
        count => format!(
            "; not fixed: {} in rendered charts, whose templates have to be changed",
            plain::count(count, "finding")
        ),
    }
}

/// Counts the findings that can still be fixed, on one line: after `--fix`, those that need `--suggested`.
pub(super) fn remaining(report: &Report, fixed: bool) -> Option<String> {
    let (safe, suggested) = report.fixable();
    let (count, with) = match (safe, suggested) {
        (1.., 0) if !fixed => (safe, "`--fix`".to_owned()),
        (1.., _) if !fixed => (
            safe,
            format!("`--fix`, and {suggested} more with `--fix --suggested`"),
        ),
        (_, 1..) => (
            suggested,
            "`--fix --suggested`; `--fix-dry-run --suggested` shows how".to_owned(),
        ),
        _ => return None,
    };
    let count = plain::count(count, "finding");
    Some(format!("{count} can be fixed with {with}"))
}
