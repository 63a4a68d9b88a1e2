//! A step of a plan as the HTML page shows it: the tree of causes, the relations, the stuck objects and how to release
//! them. Data in the contract is not repeated here.

use serde::Serialize;

use crate::gc::{Cause, HeldObject, Hold, ObjectId};
use crate::kube::ObjectKey;
use crate::story::remedy::{Remedy, Stuck, stuck};
use crate::story::telling::{Affected, Fate, Story, Tally, stories};
use crate::story::ties::{Stroke, Web};
use crate::story::unanswered::{Unanswered, unanswered};
use crate::story::variation::{Alternative, Variation, incomplete, variations};
use crate::story::{PlanView, words};
use crate::text::plain;

/// A step of a plan as owned data, without the data of the contract.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoryDocument {
    title: String,
    counts: CountsDocument,
    /// Parents come before their children; untouched owners come last.
    objects: Vec<ObjectDocument>,
    /// Relations as indices into `objects`: from, to, and the kind.
    ties: Vec<(usize, usize, &'static str)>,
    stuck: Vec<StuckDocument>,
    unanswered: Vec<UnansweredDocument>,
    rejected: Vec<(String, u16)>,
    variations: Vec<VariationDocument>,
    incomplete: Option<&'static str>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CountsDocument {
    deleted: usize,
    implied: usize,
    stuck: usize,
    still_stuck: usize,
    kept: usize,
    untouched: usize,
}

#[derive(Clone, Debug, Serialize)]
struct ObjectDocument {
    kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    namespace: String,
    name: String,
    effect: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<usize>,
    /// Objects with the same number are deleted together.
    #[serde(skip_serializing_if = "is_zero")]
    wave: usize,
    #[serde(skip_serializing_if = "String::is_empty")]
    why: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cites: Vec<&'static str>,
    /// The rule by which a controller creates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    implied: Option<String>,
    /// The data that is deleted with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// The finalizers that hold it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    finalizers: Vec<String>,
    /// Whether it gets stuck only if another deletion is quicker than its controller.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    race: bool,
}

#[derive(Clone, Debug, Serialize)]
struct StuckDocument {
    key: String,
    /// Whether it was Terminating before the step.
    before: bool,
    /// Whether releasing other objects is enough.
    waits: bool,
    holds: Vec<HoldDocument>,
}

#[derive(Clone, Debug, Serialize)]
struct HoldDocument {
    what: String,
    cites: Vec<&'static str>,
    help: String,
    commands: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
struct UnansweredDocument {
    what: String,
    cites: &'static [&'static str],
    help: String,
    command: String,
}

#[derive(Clone, Debug, Serialize)]
struct VariationDocument {
    title: String,
    outcomes: Vec<AlternativeDocument>,
    more: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
struct AlternativeDocument {
    text: String,
    cites: &'static [&'static str],
}

// serde passes a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl StoryDocument {
    /// Converts every step of a plan.
    pub(in crate::report) fn all(view: &PlanView<'_>) -> Vec<Self> {
        stories(view)
            .iter()
            .map(|story| Self::of(story, &story.title()))
            .collect()
    }

    /// Converts the last step of a plan, under a title; `None` if it touches nothing.
    pub fn last(view: &PlanView<'_>, title: &str) -> Option<Self> {
        let stories = stories(view);
        let last = stories.last()?;
        let touches = !last.affected.is_empty() || !last.stuck.is_empty();
        touches.then(|| Self::of(last, title))
    }

    fn of(story: &Story<'_>, title: &str) -> Self {
        let Web { others, arrows } = Web::of(story);
        let touched = story.affected.iter();
        let touched = touched.map(|affected| ObjectDocument::touched(story, affected));
        let untouched = others.iter();
        let untouched = untouched.map(|id| ObjectDocument::untouched(story, *id));
        let arrows = arrows.iter();
        let ties = arrows.map(|arrow| (arrow.from, arrow.to, stroke(arrow.tie)));
        let stuck = stuck(story).into_iter();
        let unanswered = unanswered(story).into_iter();
        let rejected = story.rejected().into_iter();
        let rejected = rejected.map(|(key, code)| (key.to_string(), code));
        let variations = variations(story).into_iter();
        Self {
            title: plain::one_line(title),
            counts: CountsDocument::from(story.counts),
            objects: touched.chain(untouched).collect(),
            ties: ties.collect(),
            stuck: stuck.map(StuckDocument::from).collect(),
            unanswered: unanswered.map(UnansweredDocument::from).collect(),
            rejected: rejected.collect(),
            variations: variations.map(VariationDocument::from).collect(),
            incomplete: incomplete(story),
        }
    }

    /// Returns every citation in the story.
    pub(super) fn citations(&self) -> impl Iterator<Item = &str> {
        let holds = self.stuck.iter().flat_map(|stuck| &stuck.holds);
        let variations = self.variations.iter();
        let outcomes = variations.flat_map(|variation| &variation.outcomes);
        let objects = self.objects.iter();
        let implied = objects.clone().filter_map(|one| one.implied.as_deref());
        objects
            .flat_map(|object| &object.cites)
            .chain(holds.flat_map(|hold| &hold.cites))
            .chain(self.unanswered.iter().flat_map(|one| one.cites))
            .chain(outcomes.flat_map(|outcome| outcome.cites))
            .copied()
            .chain(implied)
    }

    /// Whether there is a relation to draw.
    pub(super) fn has_graph(&self) -> bool {
        !self.ties.is_empty()
    }

    /// Returns the files that contain the objects.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        let objects = self.objects.iter();
        objects.filter_map(|object| object.file.as_deref())
    }
}

impl ObjectDocument {
    fn touched(story: &Story<'_>, affected: &Affected) -> Self {
        let effect = match affected.fate {
            Fate::Deleted => "deleted",
            Fate::Stuck if story.waits(affected.id) => "later",
            Fate::Stuck => "stuck",
            Fate::Kept => "kept",
        };
        let held = story.held(affected.id);
        let implied = story.implied(&affected.key);
        Self {
            parent: affected.parent,
            wave: affected.wave,
            why: words::reason(story, affected),
            cites: Cause::all_citations(&affected.causes),
            implied: implied.map(|implied| implied.rule.to_string()),
            data: story.view.data.get(&affected.key).cloned(),
            finalizers: held.map(finalizers).unwrap_or_default(),
            race: held.is_some_and(|held| !held.is_certain()),
            ..Self::named(story, affected.id, &affected.key, effect)
        }
    }

    /// Describes an owner that the step does not touch.
    fn untouched(story: &Story<'_>, id: ObjectId) -> Self {
        let cluster = story.view.plan.cluster();
        let exists = story.after.has(id);
        let effect = if exists { "untouched" } else { "gone" };
        Self::named(story, id, &cluster.key(id), effect)
    }

    fn named(story: &Story<'_>, id: ObjectId, key: &ObjectKey, effect: &'static str) -> Self {
        let place = story.view.written.and_then(|written| written.place(id));
        Self {
            kind: key.kind().to_string(),
            group: key.group().to_string(),
            namespace: key.namespace.to_string(),
            name: key.name.to_string(),
            effect,
            parent: None,
            wave: 0,
            why: String::new(),
            cites: Vec::new(),
            implied: None,
            data: None,
            file: place.map(|(file, _)| file.to_owned()),
            line: place.map(|(_, line)| line),
            finalizers: Vec::new(),
            race: false,
        }
    }
}

fn finalizers(held: &HeldObject) -> Vec<String> {
    let names = held.holds.iter().filter_map(|hold| match hold {
        Hold::Finalizers(names) => Some(names),
        _ => None,
    });
    names.flatten().cloned().collect()
}

fn stroke(tie: Stroke) -> &'static str {
    match tie {
        Stroke::Blocking => "blocking",
        Stroke::Owned => "owns",
        Stroke::Implied => "implied",
        Stroke::Contains => "contains",
        Stroke::Removed => "removed",
    }
}

impl From<Tally> for CountsDocument {
    fn from(counts: Tally) -> Self {
        Self {
            deleted: counts.deleted,
            implied: counts.implied,
            stuck: counts.stuck,
            still_stuck: counts.still_stuck,
            kept: counts.kept,
            untouched: counts.untouched,
        }
    }
}

impl From<Stuck> for StuckDocument {
    fn from(stuck: Stuck) -> Self {
        Self {
            key: stuck.key.to_string(),
            before: stuck.before,
            waits: stuck.waits(),
            holds: stuck.remedies.into_iter().map(HoldDocument::from).collect(),
        }
    }
}

impl From<Remedy> for HoldDocument {
    fn from(remedy: Remedy) -> Self {
        Self {
            what: remedy.what,
            cites: remedy.citations,
            help: remedy.help,
            commands: remedy.commands,
        }
    }
}

impl From<Unanswered> for UnansweredDocument {
    fn from(unanswered: Unanswered) -> Self {
        Self {
            what: unanswered.what,
            cites: unanswered.citations,
            help: unanswered.help,
            command: unanswered.command,
        }
    }
}

impl From<Variation> for VariationDocument {
    fn from(variation: Variation) -> Self {
        let outcomes = variation.outcomes.into_iter();
        Self {
            title: variation.title,
            outcomes: outcomes.map(AlternativeDocument::from).collect(),
            more: variation.more,
        }
    }
}

impl From<Alternative> for AlternativeDocument {
    fn from(alternative: Alternative) -> Self {
        Self {
            text: alternative.text,
            cites: alternative.citations,
        }
    }
}
