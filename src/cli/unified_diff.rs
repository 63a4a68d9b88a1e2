//! Unified diffs of texts that may be long.
//!
//! Finding the smallest difference may take time quadratic in the number of lines, so texts are
//! compared in windows that begin at a difference. Fixes change few lines at a time, so a window
//! also has equal lines after them.

use std::fmt::Write;

use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// The number of lines that are compared at a time, from the first difference.
const WINDOW: usize = 256;
/// The number of lines shown around a change.
const CONTEXT: usize = 3;

/// Returns the unified diff of a file's texts; empty if they are equal.
pub(super) fn unified(before: &str, after: &str, path: &str) -> String {
    let (old, new) = (lines(before), lines(after));
    let hunks = group_diff_ops(operations(&old, &new), CONTEXT);
    let mut text = String::new();
    for hunk in hunks.iter().filter(|hunk| !hunk.is_empty()) {
        if text.is_empty() {
            text = format!("--- {path}\n+++ {path}\n");
        }
        writeln!(text, "{}", UnifiedHunkHeader::new(hunk)).expect("a string takes everything");
        for operation in hunk {
            let (kept, removed, added) = match operation {
                DiffOp::Equal { .. } => (&old[operation.old_range()], &old[..0], &new[..0]),
                _ => (
                    &old[..0],
                    &old[operation.old_range()],
                    &new[operation.new_range()],
                ),
            };
            for (sign, lines) in [(' ', kept), ('-', removed), ('+', added)] {
                for line in lines {
                    push(&mut text, sign, line);
                }
            }
        }
    }
    text
}

fn push(text: &mut String, sign: char, line: &str) {
    text.push(sign);
    text.push_str(line);
    if !line.ends_with('\n') {
        text.push_str("\n\\ No newline at end of file\n");
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns the operations that turn one text into the other, in order.
fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let mut operations = Vec::new();
    let (mut at_old, mut at_new) = (0, 0);
    while at_old < old.len() || at_new < new.len() {
        let (left, right) = (&old[at_old..], &new[at_new..]);
        let same = left
            .iter()
            .zip(right)
            .take_while(|(left, right)| left == right)
            .count();
        let (left, right) = (&left[same..], &right[same..]);
        add(
            &mut operations,
            DiffOp::Equal {
                old_index: at_old,
                new_index: at_new,
                len: same,
            },
        );
        (at_old, at_new) = (at_old + same, at_new + same);
        let near_left = &left[..left.len().min(WINDOW)];
        let near_right = &right[..right.len().min(WINDOW)];
        let mut near = capture_diff_slices(Algorithm::Myers, near_left, near_right);
        // The window may end within a change, so the next window begins after the last common line of this one.
        let is_rest = near_left.len() == left.len() && near_right.len() == right.len();
        if let Some(last) = near
            .iter()
            .rposition(|operation| matches!(operation, DiffOp::Equal { .. }))
            .filter(|_| !is_rest)
        {
            near.truncate(last + 1);
        }
        for operation in near {
            let (old_len, new_len) = (operation.old_range().len(), operation.new_range().len());
            // Moves the operation to its place in the whole texts. An insertion or deletion becomes a replacement with
            // an empty side: only ranges are read.
            let operation = match operation {
                DiffOp::Equal { len, .. } => DiffOp::Equal {
                    old_index: at_old,
                    new_index: at_new,
                    len,
                },
                _ => DiffOp::Replace {
                    old_index: at_old,
                    old_len,
                    new_index: at_new,
                    new_len,
                },
            };
            add(&mut operations, operation);
            (at_old, at_new) = (at_old + old_len, at_new + new_len);
        }
    }
    operations
}

/// Adds an operation, and joins consecutive equal lines.
fn add(operations: &mut Vec<DiffOp>, operation: DiffOp) {
    match (operations.last_mut(), operation) {
        (_, DiffOp::Equal { len: 0, .. }) => {}
        (Some(DiffOp::Equal { len, .. }), DiffOp::Equal { len: more, .. }) => *len += more,
        _ => operations.push(operation),
    }
}

#[cfg(test)]
mod tests {
    use similar::TextDiff;

    use super::*;

    fn numbered(lines: impl Iterator<Item = usize>) -> String {
        lines.map(|number| format!("line {number}\n")).collect()
    }

    /// Returns the result of `similar` for the whole texts.
    fn expected(before: &str, after: &str) -> String {
        TextDiff::from_lines(before, after)
            .unified_diff()
            .context_radius(CONTEXT)
            .header("web", "web")
            .to_string()
    }

    #[test]
    fn diff_of_few_changes_matches_diff_of_whole_texts() {
        let before = numbered(0..2_000);
        let texts = [
            before.clone(),
            numbered((0..2_000).filter(|number| number % 100 != 7)),
            numbered((0..2_000).map(|number| {
                if number % 300 == 5 {
                    number + 10_000
                } else {
                    number
                }
            })),
            numbered((0..2_000).flat_map(|number| {
                [number; 2]
                    .into_iter()
                    .take(1 + usize::from(number % 250 == 249))
            })),
            numbered(0..10),
            numbered(3..2_000),
            before.trim_end().to_owned(),
            String::new(),
        ];
        for after in &texts {
            assert_eq!(unified(&before, after, "web"), expected(&before, after));
            assert_eq!(unified(after, &before, "web"), expected(after, &before));
        }
    }

    /// Applies a diff like `patch`.
    fn patched(before: &str, diff: &str) -> String {
        let old = lines(before);
        let (mut text, mut at) = (String::new(), 0);
        for line in diff.lines().skip(2) {
            let (sign, rest) = line.split_at(1);
            match sign {
                "@" => {
                    let start: String = rest
                        .trim_start_matches("@ -")
                        .chars()
                        .take_while(char::is_ascii_digit)
                        .collect();
                    let start = start.parse::<usize>().expect("a line").saturating_sub(1);
                    text.extend(old[at..start].iter().copied());
                    at = start;
                }
                "+" => _ = writeln!(text, "{rest}"),
                " " | "-" => {
                    assert_eq!(old[at].trim_end(), rest);
                    text.push_str(if sign == " " { old[at] } else { "" });
                    at += 1;
                }
                _ => panic!("{line}"),
            }
        }
        text.extend(old[at..].iter().copied());
        text
    }

    #[test]
    fn diff_of_dissimilar_texts_applies() {
        let before = numbered((0..3_000).map(|number| number % 7));
        for after in [
            numbered((0..2_000).map(|number| number % 11)),
            numbered(
                (0..3_000)
                    .filter(|number| number % 3 != 0)
                    .map(|number| number % 7),
            ),
            numbered((0..900).map(|number| number + 50)),
            numbered((500..3_000).chain(0..500).map(|number| number % 7)),
        ] {
            assert_eq!(patched(&before, &unified(&before, &after, "web")), after);
        }
    }
}
