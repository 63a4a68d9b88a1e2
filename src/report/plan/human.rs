//! A plan on a terminal: per step a headline, the tree of deleted, stuck and kept objects with reasons, how to release
//! stuck objects, variations, and the counts.
//!
//! A tree line is `wave object reason [citations]`; objects of one wave are deleted together. However large the cascade is,
//! a step fits on a screen or two.

use std::collections::{BTreeMap, BTreeSet};

use super::removal;
use super::screen::{Emphasis, Screen};
use crate::gc::{Cause, WEBHOOK_FAILED};
use crate::report::HumanOptions;
use crate::story::PlanView;
use crate::story::outline::{Limits, Line, Shown, outline, reading_order};
use crate::story::remedy::{Remedy, Stuck, stuck};
use crate::story::telling::{Affected, Fate, Story, Tally, stories};
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
/// The number of objects stuck for the same reason that are explained. If only one more is left, it
/// is explained too.
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
        let removal = view.removal.as_ref();
        if let Some(told) = removal.filter(|told| told.first == story.step) {
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
        let why = page.styled(why, Emphasis::Warn);
        page.line(&format!("  {} {why}", words::key(key)));
    }
    if rejected.len() > LISTED {
        let more = plain::count(rejected.len() - LISTED, "more rejection");
        page.line(&format!("  and {more}"));
    }
    page.prose(2, &summary(story));
}

/// Sums up the whole step on a line or two.
fn summary(story: &Story<'_>) -> String {
    let counts = &story.counts;
    let vary = if story.view.plan.steps[story.step].outcomes.len() > 1 {
        " Other outcomes are possible: see \"May vary\"."
    } else {
        ""
    };
    let deleted = match (counts.deleted, story.is_incomplete()) {
        (0, true) => "It is not known what is deleted".to_owned(),
        (0, false) => "Nothing is deleted".to_owned(),
        (number, true) => format!("At least {number} deleted"),
        (number, false) => format!("{number} deleted"),
    };
    let stuck = words::unless_zero(counts.stuck, ", ", " stuck");
    let waiting = words::unless_zero(counts.waiting, ", ", " Terminating until a later step");
    let kept = words::unless_zero(counts.kept, ", ", " kept");
    let data = words::data(story).map(|data| format!(" Data deleted: {data}."));
    let data = data.unwrap_or_default();
    format!("{deleted}{stuck}{waiting}{kept}.{data}{vary}")
}

fn tree(page: &mut Screen<'_>, story: &Story<'_>) {
    if story.affected.is_empty() {
        return;
    }
    page.section("What happens, and why");
    page.line(if page.options.citations { "(objects with the same number are deleted together; `ownerlint explain GC-22` explains a citation)" } else { "(objects with the same number are deleted together; `-v` cites the rules)" });
    let is_small = story.affected.len() <= SMALL;
    let siblings = if is_small { SMALL } else { TREE.siblings };
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

/// Draws the lines to an entry. `ends`: whether each ancestor, and then the entry, is a last child.
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
    let rules = page.cited(&Cause::all_citations(&affected.causes));
    let rules = page.styled(&rules, Emphasis::Dim);
    let below = below(entry, "it");
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
    let wave = siblings.iter().map(|affected| affected.wave).max();
    let margin = margin(page, story, siblings[0], wave.unwrap_or(0));
    let below = below(entry, "them");
    let dots = if page.options.ascii { "..." } else { "…" };
    let rest = words::rest(&siblings);
    format!("{margin}  {branch}{dots} and {rest}{below}")
}

/// Counts the objects below an entry that have no entry of their own; empty if there are none.
fn below(entry: &Line, it: &str) -> String {
    match words::kinds(&entry.hidden) {
        kinds if kinds.is_empty() => kinds,
        kinds => format!(" (below {it}: {kinds})"),
    }
}

/// Returns the wave of a deleted object, or else a word for its fate.
fn margin(page: &Screen<'_>, story: &Story<'_>, affected: &Affected, wave: usize) -> String {
    match affected.fate {
        Fate::Deleted => format!("{wave:>5}"),
        Fate::Stuck if story.waits(affected.id) => "later".to_owned(),
        Fate::Stuck => page.styled("stuck", Emphasis::Bad),
        Fate::Kept => page.styled(" kept", Emphasis::Warn),
    }
}

fn stuck_objects(page: &mut Screen<'_>, story: &Story<'_>) {
    let stuck = stuck(story);
    if stuck.is_empty() {
        return;
    }
    page.section("Stuck in Terminating, and how to release it");
    let mut left = STUCK;
    let mut rest = Vec::new();
    for alike in alike(&stuck) {
        let is_few = alike.len() <= ALIKE + 1;
        let most = if is_few { alike.len() } else { ALIKE };
        let shown = most.min(left);
        left -= shown;
        for stuck in &alike[..shown] {
            stuck_object(page, stuck);
        }
        if shown > 0 && shown < alike.len() {
            let kind = plain::one_line(alike[0].key.kind());
            page.line(&format!(
                "  and {} more {kind} in the same way",
                alike.len() - shown
            ));
        } else if shown == 0 {
            rest.extend(alike.iter().map(|stuck| &stuck.key));
        }
    }
    if !rest.is_empty() {
        let rest = words::kinds(&words::count_kinds(rest.into_iter()));
        page.prose(2, &format!("and also: {rest}; --output json has them all"));
    }
}

/// Groups the objects of one kind and namespace that are stuck for the same reason, in the order of their first
/// members.
fn alike(stuck: &[Stuck]) -> Vec<Vec<&Stuck>> {
    let mut groups: Vec<Vec<&Stuck>> = Vec::new();
    let mut places = BTreeMap::new();
    for stuck in stuck {
        let remedies = stuck.remedies.iter();
        let remedies: Vec<_> = remedies.map(|one| (&one.what, &one.help)).collect();
        let key = &stuck.key;
        let shape = (key.group_kind(), &key.namespace, stuck.before, remedies);
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
            page.indented_command(command);
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
        page.indented_command(command);
    }
    page.more(unanswered.len(), LISTED, "more webhook or API");
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
            let cited = page.cited(outcome.citations);
            page.item(&format!("{} {cited}", outcome.text));
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
    let new = events
        .iter()
        .filter(|event| listed.insert(format!("{}{}", event.object, event.message)));
    let new: Vec<_> = new.collect();
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
    page.more(new.len(), LISTED, "more event");
}

/// Returns `5 deleted (2 implied), 1 stuck, 1 kept, 12 untouched`.
fn counts(story: &Story<'_>) -> String {
    let Tally {
        deleted,
        implied,
        stuck,
        waiting,
        still_stuck,
        kept,
        untouched,
    } = story.counts;
    let implied = words::unless_zero(implied, " (", " implied)");
    let still = words::unless_zero(still_stuck, ", ", " still stuck");
    let later = words::unless_zero(waiting, ", ", " later");
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
