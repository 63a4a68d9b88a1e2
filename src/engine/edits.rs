//! Notes on changes that edit the configuration, the baseline or suppressions. `check` uses those of head, so a report
//! says when the change edits them.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::FILE_NAMES;
use crate::finding::Severity;
use crate::inventory::{Inventory, Past};
use crate::kube::ObjectKey;
use crate::report::Note;
use crate::suppression::Directives;
use crate::text::plain;

/// Maximum number of files that a note names.
const NAMED: usize = 5;

/// The identifying parts of a suppression: the rule, the object, the first line that it covers.
type Suppression = (String, Option<ObjectKey>, String);

/// Returns a note on the edited files that decide which findings are reported; `None` if there are none. `own` are the
/// paths of the configuration and the baseline.
pub(super) fn note_on_edits<'i>(
    past: &Past,
    own: &[&str],
    before: impl IntoIterator<Item = &'i Inventory>,
    now: impl IntoIterator<Item = &'i Inventory>,
) -> Option<Note> {
    let mut edited: BTreeSet<String> = past
        .differing(&FILE_NAMES)
        // A workflow may have the name of the configuration.
        .filter(|path| !path.contains(".github/workflows/"))
        .collect();
    edited.extend(
        own.iter()
            .filter(|path| past.differs(path))
            .map(|path| (*path).to_owned()),
    );
    let (before, now) = (suppressions(before), suppressions(now));
    let suppressing = now.iter().filter(|(file, suppressions)| {
        let before = before.get(*file);
        before.is_none_or(|before| !suppressions.is_subset(before))
    });
    let edited: Vec<&str> = edited.iter().map(String::as_str).collect();
    let parts = [
        ("the configuration or the known findings", edited),
        (
            "inline suppressions",
            suppressing.map(|(file, _)| *file).collect(),
        ),
    ];
    let parts = parts.into_iter().filter(|(_, files)| !files.is_empty());
    let parts: Vec<String> = parts
        .map(|(what, files)| format!("{what} ({})", named(&files)))
        .collect();
    (!parts.is_empty()).then(|| Note {
        severity: Severity::Warning,
        message: format!(
            "this change edits inputs that decide which findings are reported: {}",
            parts.join(" and ")
        ),
        path: None,
        line: None,
    })
}

fn named(files: &[&str]) -> String {
    let named = files.iter().take(NAMED).map(|file| plain::one_line(file));
    let more = files.len().saturating_sub(NAMED);
    named
        .chain((more > 0).then(|| format!("{more} more")))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Returns the suppressions of each file that has one.
fn suppressions<'i>(
    inventories: impl IntoIterator<Item = &'i Inventory>,
) -> BTreeMap<&'i str, BTreeSet<Suppression>> {
    let mut all: BTreeMap<&str, BTreeSet<Suppression>> = BTreeMap::new();
    for inventory in inventories {
        for directive in Directives::new(inventory).directives {
            let file = inventory.sources.file(directive.file);
            let members = inventory.members_of(directive.file);
            let after = members
                .partition_point(|member| member.object.start().start <= directive.place.end);
            let object = after.checked_sub(1).map(|at| members[at].key.clone());
            let covered = directive
                .covers
                .map(|span| file.slice(span))
                .and_then(|text| text.lines().next());
            let covered = covered.unwrap_or_default().to_owned();
            let of_file = all.entry(file.path()).or_default();
            of_file.extend(
                directive
                    .rules
                    .iter()
                    .map(|rule| (rule.id.to_string(), object.clone(), covered.clone())),
            );
        }
    }
    all
}
