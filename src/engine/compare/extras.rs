//! Parts of a comparison that only some formats show. They are computed only for these, because they are slow.

use crate::merge::Merge;
use crate::report::html::StoryDocument;
use crate::report::plan::{Cascade, LastStep};
use crate::report::{Cascades, Format};
use crate::story::PlanView;

/// The parts that only some formats show, for the clusters of a comparison.
#[derive(Debug)]
pub(super) struct FormatExtras {
    draws_graphs: bool,
    needs_outcomes: bool,
    needs_stories: bool,
    pub(super) cascades: Cascades,
    pub(super) stories: Vec<StoryDocument>,
    /// The fate of every object.
    pub(super) outcomes: Option<LastStep>,
}

impl FormatExtras {
    /// Creates the parts of `formats`, still empty.
    pub(super) fn new(formats: &[Format]) -> Self {
        Self {
            draws_graphs: formats.iter().any(|format| format.draws_graphs()),
            needs_outcomes: formats.iter().any(|format| format.shows_outcomes()),
            needs_stories: formats.iter().any(|format| format.shows_stories()),
            cascades: Cascades::default(),
            stories: Vec::new(),
            outcomes: None,
        }
    }

    /// Whether no format shows any of the parts.
    pub(super) fn is_silent(&self) -> bool {
        !(self.draws_graphs || self.needs_outcomes || self.needs_stories)
    }

    /// Adds the effects of a merge on the cluster called `name`.
    pub(super) fn add(&mut self, merge: &Merge<'_>, view: &PlanView<'_>, name: &str) {
        if self.draws_graphs {
            let drawn = merge.effects.iter().map(|effect| &effect.key).collect();
            self.cascades
                .shown
                .extend(Cascade::of_ties(name, view, &drawn));
        }
        if self.needs_stories {
            self.stories.extend(StoryDocument::last(view, name));
        }
        if self.needs_outcomes {
            let mut outcomes = LastStep::of(view);
            for member in merge.appearing() {
                outcomes.add_untouched(&member.key);
            }
            match &mut self.outcomes {
                None => self.outcomes = Some(outcomes),
                Some(all) => all.merge(outcomes),
            }
        }
    }
}
