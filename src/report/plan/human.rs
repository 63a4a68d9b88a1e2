//! A plan on a terminal: per step a headline, the tree of deleted, stuck and kept objects with reasons, how to release
//! stuck objects, variations, and the counts.
//!
//! A tree line is `wave object reason [citations]`; objects of one wave are deleted together. However large the cascade is,
//! a step fits on a screen or two.

use std::collections::BTreeSet;

use super::removal;
use super::screen::{Emphasis, Screen};
use crate::gc::{Cause, WEBHOOK_FAILED};
use crate::report::HumanOptions;
use crate::story::PlanView;
use crate::story::outline::{Limits, Line, Shown, outline, reading_order};
use crate::story::remedy::{Remedy, Stuck, stuck};
use crate::story::telling::{Affected, Ending, Story, Tally, stories};
use crate::story::unanswered::{Unanswered, unanswered};
use crate::story::variation::{incomplete, variations};
use crate::story::words;
use crate::text::plain;

/// Limits that keep a tree to a screen or two.
const TREE: Limits = Limits {
    entries: 80,
    siblings: 6,
    leaves: usize::MAX,
    depth: 16,
};
/// The maximum number of objects in a tree that shows every sibling.
const SMALL: usize = 30;
/// The maximum number of stuck objects that are explained.
const STUCK: usize = 12;
/// The number of objects explained of those stuck for the same reason. If only one more is left, it is explained too.
const ALIKE: usize = 2;
/// The maximum number of items of each list: events, rejected requests, and webhooks and APIs without a backend.
const LISTED: usize = 5;

/// Renders all steps, in order.
pub(super) fn render(view: &PlanView<'_>, options: &HumanOptions) -> String {
    let mut page = Screen::new(options);
    let stories = stories(view);
    let mut listed = BTreeSet::new();
    for story in &stories {
        if story.step > 0 {
            page.out.push('\n');
        }
        headline(&mut page, story, stories.len());
        tree(&mut page, story);
        stuck_objects(&mut page, story);
        unanswered_calls(&mut page, story);
        if let Some(told) = view
            .removal
            .as_ref()
            .filter(|told| told.first == story.step)
        {
            removal::kept_and_lost(&mut page, told, story);
        }
        varying(&mut page, story);
        events(&mut page, story, &mut listed);
        page.out.push_str(&format!("\n{}\n", counts(story)));
    }
    if let Some(told) = &view.removal {
        removal::safe_order(&mut page, told);
    }
    assumptions(&mut page, view);
    page.out
}

fn headline(page: &mut Screen<'_>, story: &Story<'_>, steps: usize) {
    let title = plain::one_line(&story.title());
    let title = if steps > 1 {
        format!("Step {} of {steps}: {title}", story.step + 1)
    } else {
        title
    };
    let title = page.styled(&title, Emphasis::Strong);
    page.line(&title);
    let rejected = story.rejected();
    for (key, code) in rejected.iter().take(LISTED) {
        let why = match *code {
            404 => "not found (404)",
            403 => "rejected (403): the API server never deletes it",
            WEBHOOK_FAILED => "rejected (500): a webhook has no backend",
            _ => "rejected",
        };
        page.line(&format!(
            "  {} {}",
            words::key(key),
            page.styled(why, Emphasis::Warn)
        ));
    }
    if rejected.len() > LISTED {
        page.line(&format!(
            "  and {}",
            plain::count(rejected.len() - LISTED, "more rejection")
        ));
    }
    page.prose(2, &summary(story));
}

/// Sums up the whole step on a line or two.
fn summary(story: &Story<'_>) -> String {
    let counts = &story.counts;
    let vary = story.view.plan.steps[story.step].outcomes.len() > 1;
    let vary = if vary {
        " Other outcomes are possible: see \"May vary\"."
    } else {
        ""
    };
    let deleted = match counts.deleted {
        0 => "Nothing is deleted".to_owned(),
        number => format!("{number} deleted"),
    };
    let stuck = if counts.stuck > 0 {
        format!(", {} stuck", counts.stuck)
    } else {
        String::new()
    };
    let waiting = if counts.waiting > 0 {
        format!(", {} Terminating until a later step", counts.waiting)
    } else {
        String::new()
    };
    let kept = if counts.kept > 0 {
        format!(", {} kept", counts.kept)
    } else {
        String::new()
    };
    let data = words::data(story)
        .map(|data| format!(" Data deleted: {data}."))
        .unwrap_or_default();
    format!("{deleted}{stuck}{waiting}{kept}.{data}{vary}")
}

fn tree(page: &mut Screen<'_>, story: &Story<'_>) {
    if story.affected.is_empty() {
        return;
    }
    page.section("What happens, and why");
    page.line(if page.options.citations { "(objects with the same number are deleted together; `ownerlint explain GC-22` explains a citation)" } else { "(objects with the same number are deleted together; `-v` cites the rules)" });
    let siblings = if story.affected.len() <= SMALL {
        SMALL
    } else {
        TREE.siblings
    };
    let entries = outline(&story.affected, Limits { siblings, ..TREE });
    for (at, ends) in reading_order(&entries) {
        let branch = branch(&ends, page.options.ascii);
        let line = match &entries[at].item {
            Shown::Object(place) => {
                object_line(page, story, &story.affected[*place], &entries[at], &branch)
            }
            Shown::Rest(places) => rest_line(page, story, places, &entries[at], &branch),
        };
        page.line(&line);
    }
}

/// Draws the lines from the ancestors to an entry; `ends` says which of them are the last of their siblings.
fn branch(ends: &[bool], ascii: bool) -> String {
    let [through, blank, tee, corner] = if ascii {
        ["|  ", "   ", "|- ", "`- "]
    } else {
        ["│  ", "   ", "├─ ", "└─ "]
    };
    let Some((last, above)) = ends.split_last() else {
        return String::new();
    };
    // Roots have no lines before them.
    if above.is_empty() {
        return String::new();
    }
    let above: String = above
        .iter()
        .skip(1)
        .map(|end| if *end { blank } else { through })
        .collect();
    above + if *last { corner } else { tee }
}

fn object_line(
    page: &Screen<'_>,
    story: &Story<'_>,
    affected: &Affected,
    entry: &Line,
    branch: &str,
) -> String {
    let margin = margin(page, story, affected, affected.wave);
    let implied = story
        .implied(&affected.key)
        .map_or(String::new(), |implied| page.implied(&implied.rule));
    let rules = page.styled(
        &page.cited(&Cause::all_citations(&affected.causes)),
        Emphasis::Dim,
    );
    let below = if entry.hidden.is_empty() {
        String::new()
    } else {
        format!(" (below it: {})", words::kinds(&entry.hidden))
    };
    let key = page.styled(&words::key(&affected.key), Emphasis::Strong);
    format!(
        "{margin}  {branch}{key}{implied}: {}{below} {rules}",
        words::reason(story, affected)
    )
}

/// Returns `… and 94 more that are stuck: Pod`.
fn rest_line(
    page: &Screen<'_>,
    story: &Story<'_>,
    places: &[usize],
    entry: &Line,
    branch: &str,
) -> String {
    let siblings: Vec<&Affected> = places.iter().map(|place| &story.affected[*place]).collect();
    let wave = siblings
        .iter()
        .map(|affected| affected.wave)
        .max()
        .unwrap_or(0);
    let margin = margin(page, story, siblings[0], wave);
    let below = if entry.hidden.is_empty() {
        String::new()
    } else {
        format!(" (below them: {})", words::kinds(&entry.hidden))
    };
    let dots = if page.options.ascii { "..." } else { "…" };
    format!(
        "{margin}  {branch}{dots} and {}{below}",
        words::rest(&siblings)
    )
}

/// Returns the wave of a deleted object, or else a word for its fate.
fn margin(page: &Screen<'_>, story: &Story<'_>, affected: &Affected, wave: usize) -> String {
    match affected.ending {
        Ending::Deleted => format!("{wave:>5}"),
        Ending::Stuck if story.waits(affected.id) => "later".to_owned(),
        Ending::Stuck => page.styled("stuck", Emphasis::Bad),
        Ending::Kept => page.styled(" kept", Emphasis::Warn),
    }
}

fn stuck_objects(page: &mut Screen<'_>, story: &Story<'_>) {
    let stuck = stuck(story);
    if stuck.is_empty() {
        return;
    }
    page.section("Stuck in Terminating, and how to release it");
    let mut left = STUCK;
    let mut rest = crate::story::outline::KindCounts::new();
    for alike in alike(&stuck) {
        let shown = alike
            .len()
            .min(if alike.len() <= ALIKE + 1 {
                ALIKE + 1
            } else {
                ALIKE
            })
            .min(left);
        left -= shown;
        alike
            .iter()
            .take(shown)
            .for_each(|stuck| stuck_object(page, stuck));
        if shown > 0 && shown < alike.len() {
            let kind = plain::one_line(alike[0].key.kind());
            page.line(&format!(
                "  and {} more {kind} in the same way",
                alike.len() - shown
            ));
        } else if shown == 0 {
            *rest.entry(alike[0].key.kind().to_string()).or_default() += alike.len();
        }
    }
    if !rest.is_empty() {
        page.prose(
            2,
            &format!(
                "and also: {}; --output json has them all",
                words::kinds(&rest)
            ),
        );
    }
}

/// Groups the objects of one kind and namespace that are stuck for the same reason, in the order of their first
/// members.
fn alike(stuck: &[Stuck]) -> Vec<Vec<&Stuck>> {
    let mut groups: Vec<Vec<&Stuck>> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for stuck in stuck {
        let remedies: Vec<_> = stuck
            .remedies
            .iter()
            .map(|remedy| (&remedy.what, &remedy.help))
            .collect();
        let shape = (
            stuck.key.group(),
            stuck.key.kind(),
            &stuck.key.namespace,
            stuck.before,
            remedies,
        );
        let place = *places.entry(shape).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[place].push(stuck);
    }
    groups
}

fn stuck_object(page: &mut Screen<'_>, stuck: &Stuck) {
    let before = if stuck.before {
        " (was Terminating before this step)"
    } else {
        ""
    };
    let key = page.styled(&words::key(&stuck.key), Emphasis::Bad);
    page.line(&format!("  {key}{before}"));
    for Remedy {
        what,
        citations,
        help,
        commands,
        ..
    } in &stuck.remedies
    {
        page.prose(4, &format!("{what} {}", page.cited(citations)));
        if !help.is_empty() {
            page.prose(4, help);
        }
        for command in commands {
            // Commands are never wrapped, so that they can be copied.
            page.line(&format!(
                "      {}",
                page.styled(&plain::visible(command), Emphasis::Strong)
            ));
        }
    }
}

fn unanswered_calls(page: &mut Screen<'_>, story: &Story<'_>) {
    let unanswered = unanswered(story);
    if unanswered.is_empty() {
        return;
    }
    page.section("Without a backend");
    for Unanswered {
        what,
        citations,
        help,
        command,
    } in unanswered.iter().take(LISTED)
    {
        page.item(&format!("{what}. {}", page.cited(citations)));
        page.prose(4, help);
        page.line(&format!(
            "      {}",
            page.styled(&plain::visible(command), Emphasis::Strong)
        ));
    }
    if unanswered.len() > LISTED {
        page.item(&format!(
            "and {}",
            plain::count(unanswered.len() - LISTED, "more webhook or API")
        ));
    }
}

fn varying(page: &mut Screen<'_>, story: &Story<'_>) {
    let variations = variations(story);
    let incomplete = incomplete(story);
    if variations.is_empty() && incomplete.is_none() {
        return;
    }
    page.section("May vary");
    if !variations.is_empty() {
        page.prose(
            2,
            "Kubernetes' controllers race here. The plan above shows one outcome; also possible:",
        );
    }
    for variation in variations {
        page.prose(2, &format!("{}:", variation.title));
        for outcome in &variation.outcomes {
            page.item(&format!(
                "{} {}",
                outcome.text,
                page.cited(outcome.citations)
            ));
        }
        if let Some(more) = &variation.more {
            page.item(&format!("and {more}"));
        }
    }
    if let Some(note) = incomplete {
        page.prose(2, &format!("Note: {note}."));
    }
}

/// Lists each event in the first step that contains it: the events of a step include those of earlier steps.
fn events(page: &mut Screen<'_>, story: &Story<'_>, listed: &mut BTreeSet<String>) {
    let events = &story.view.plan.steps[story.step].events;
    let new: Vec<_> = events
        .iter()
        .filter(|event| listed.insert(format!("{}{}", event.object, event.message)))
        .collect();
    if new.is_empty() {
        return;
    }
    page.section("Events that the garbage collector records");
    for event in new.iter().take(LISTED) {
        let sure = if event.certain {
            ""
        } else {
            " (not in every order of events)"
        };
        let (object, owner) = (words::key(&event.object), &event.owner);
        let place = match owner.namespace.name() {
            Some(namespace) => format!("in namespace {namespace}"),
            None => "outside namespaces".to_owned(),
        };
        page.item(&format!(
            "{} on {object}: no {} {} {place}{sure}",
            event.reason,
            owner.kind(),
            owner.name
        ));
    }
    if new.len() > LISTED {
        page.item(&format!(
            "and {}",
            plain::count(new.len() - LISTED, "more event")
        ));
    }
}

/// Returns `5 deleted (2 implied), 1 stuck, 1 kept, 12 untouched`.
fn counts(story: &Story<'_>) -> String {
    let counts = &story.counts;
    let implied = if counts.implied > 0 {
        format!(" ({} implied)", counts.implied)
    } else {
        String::new()
    };
    let Tally {
        deleted,
        stuck,
        waiting,
        still_stuck,
        kept,
        untouched,
        ..
    } = counts;
    let still = if *still_stuck > 0 {
        format!(", {still_stuck} still stuck")
    } else {
        String::new()
    };
    let later = if *waiting > 0 {
        format!(", {waiting} later")
    } else {
        String::new()
    };
    format!(
        "{deleted} deleted{implied}, {stuck} stuck{still}{later}, {kept} kept, {untouched} untouched"
    )
}

fn assumptions(page: &mut Screen<'_>, view: &PlanView<'_>) {
    if view.notes.is_empty() {
        return;
    }
    page.section("Assumed");
    for note in &view.notes {
        page.item(note);
    }
}
