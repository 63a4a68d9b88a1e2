//! Sections of a removal's text report: the objects that stay on purpose, the data that is deleted, and a safe order.

use std::collections::BTreeMap;

use super::screen::Screen;
use crate::kube::{ObjectKey, kinds};
use crate::story::telling::{Affected, Fate, Story};
use crate::story::{RemovalView, words};
use crate::text::plain;

/// The maximum number of lines of a list.
const LISTED: usize = 12;
/// The maximum number of commands of a safe order that are shown.
const COMMANDS: usize = 20;

/// Writes the objects that stay on purpose, and the data that is deleted.
pub(super) fn kept_and_lost(page: &mut Screen<'_>, removal: &RemovalView, story: &Story<'_>) {
    if !removal.kept.is_empty() {
        page.section("Stays, and why");
        let lines = by_reason(removal).into_iter().map(|(why, keys)| {
            let keys = words::keys(keys.into_iter());
            format!("{}: {keys}", plain::one_line(why))
        });
        list(page, "more line", lines.collect());
    }
    let deleted = story.with_fate(Fate::Deleted);
    let data = deleted.filter_map(|Affected { key, .. }| {
        let lost = story.view.data.get(key)?;
        Some(if key.is(kinds::PERSISTENT_VOLUME_CLAIM) {
            words::key(key)
        } else {
            format!("{}: {lost}", words::key(key))
        })
    });
    let data: Vec<String> = data.collect();
    if !data.is_empty() {
        page.section("Data that is deleted, unless its volumes are retained");
        list(page, "more object", data);
    }
}

/// Groups the objects that stay by reason, in the order in which the reasons first occur.
pub(super) fn by_reason(removal: &RemovalView) -> Vec<(&str, Vec<&ObjectKey>)> {
    let mut reasons: Vec<(&str, Vec<&ObjectKey>)> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for (key, why) in &removal.kept {
        let place = *places.entry(why).or_insert_with(|| {
            reasons.push((why, Vec::new()));
            reasons.len() - 1
        });
        reasons[place].1.push(key);
    }
    reasons
}

/// Writes the first lines, and counts the others as `more`.
fn list(page: &mut Screen<'_>, more: &str, lines: Vec<String>) {
    for line in lines.iter().take(LISTED) {
        page.item(line);
    }
    if lines.len() > LISTED {
        page.line(&format!(
            "  and {}; --output json has them all",
            plain::count(lines.len() - LISTED, more)
        ));
    }
}

/// Writes the commands after which nothing gets stuck, and the removal itself.
pub(super) fn safe_order(page: &mut Screen<'_>, removal: &RemovalView) {
    let Some(commands) = &removal.safe_order else {
        page.section("Safe order");
        page.prose(2, NO_ORDER);
        return;
    };
    if commands.is_empty() {
        return;
    }
    page.section("Safe order: after these commands nothing gets stuck");
    for (number, command) in (1..).zip(commands.iter().take(COMMANDS)) {
        page.command(number, &command.command);
        page.prose(5, &command.why);
    }
    if commands.len() > COMMANDS {
        page.line(&format!(
            "  … and {}; --output json has them all",
            plain::count(commands.len() - COMMANDS, "more command")
        ));
    }
    page.command(commands.len() + 1, &removal.command);
}

/// The text if no safe order was found.
pub(super) const NO_ORDER: &str = "None was found: in every order that was tried, something gets stuck. Release it by hand, as \
     above.";
