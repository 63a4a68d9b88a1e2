//! One input of one state, and its comparison with the other state.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::report::{RetainedInput, Unread, UnreadChanges, UnreadSide, UnreadWhat, order};
use super::state::SourceState;
use crate::graph::delivery::Release;
use crate::manifest::ParsedFile;
use crate::text::{ColumnUnit, Span, without_credentials};

pub(super) const CHART: &str = "the chart is not rendered";
pub(super) const PACKED: &str = "ownerlint does not read packed charts";
pub(super) const VALUES: &str =
    "values decide which objects a chart contains, and the chart is not rendered";
pub(super) const TEMPLATE: &str = "it is a template that is not rendered";
pub(super) const JSONNET: &str = "Jsonnet is not evaluated";
pub(super) const ELSEWHERE: &str = "it is loaded from elsewhere, and ownerlint does not load it";
pub(super) const OTHER_CLUSTER: &str =
    "objects of another cluster are not compared with those of this one";

/// The reason for a chart whose release the change uninstalls (fluxcd/helm-controller internal/action/verify.go).
const REPLACED_RELEASE: &str = "this uninstalls the release and installs another one: the objects of the chart are \
    deleted and created again, and the chart is not rendered";
/// The reason if the uninstall depends on a chart name that is not in the tree.
const POSSIBLY_REPLACED_RELEASE: &str = "the name of a chart is not in the tree: if it changes, this uninstalls the \
    release and installs another one, and the objects of the chart are deleted and created again";
/// The reason if the release moves to another namespace: the uninstall looks there for objects
/// whose templates name no namespace.
const MOVED_RELEASE: &str = "this uninstalls the release and installs it in another namespace: the objects of the chart \
    are deleted where its templates name a namespace, and stay behind where they name none; the chart is not rendered";

#[derive(Clone, Debug)]
pub(super) struct FoundInput {
    pub(super) what: UnreadWhat,
    /// Its name, without a version.
    pub(super) name: String,
    /// The version to show.
    pub(super) version: String,
    pub(super) file: String,
    pub(super) line: usize,
    place: String,
    /// The key, as written, of the object that contains the input.
    pub(super) holder: Option<String>,
    pub(super) reason: Cow<'static, str>,
    /// The key by which it is paired with an input of the other state.
    pub(super) identity: String,
    /// The Helm release that Flux installs from the input, which is a chart.
    pub(super) release: Option<HelmRelease>,
    /// Text whose change removes no objects: versions and values.
    pub(super) text: String,
    /// Parts whose removal may remove objects.
    pub(super) parts: BTreeSet<String>,
    /// Whether adding the input may remove objects.
    pub(super) takes_away: bool,
    /// The identity of the input, kustomization or object that contains this input. If the
    /// container is added or removed too, this input is not reported.
    pub(super) within: Option<String>,
    /// Whether the input is reported only if both states have it. If only one does, the object that
    /// names it is added or removed, which is compared anyway.
    pub(super) only_changes: bool,
    /// Whether builds evaluate it.
    pub(super) is_built: bool,
}

/// The installation of a HelmRelease of Flux.
#[derive(Clone, Debug)]
pub(super) struct HelmRelease {
    /// The key of the HelmRelease as written.
    pub(super) key: String,
    /// The release that it installs.
    pub(super) installed: Release,
}

#[derive(Debug, Default)]
pub(super) struct StateInputs {
    pub(super) found: Vec<FoundInput>,
    /// The identities of kustomizations and objects, whether they are inputs or not.
    pub(super) present: BTreeSet<String>,
}

impl StateInputs {
    fn identities(&self) -> BTreeSet<String> {
        let found = self.found.iter().map(|input| &input.identity);
        found.chain(&self.present).cloned().collect()
    }
}

impl FoundInput {
    pub(super) fn new(
        what: UnreadWhat,
        name: impl Into<String>,
        reason: impl Into<Cow<'static, str>>,
    ) -> Self {
        let name = name.into();
        Self {
            what,
            identity: name.clone(),
            name,
            version: String::new(),
            file: String::new(),
            line: 1,
            place: String::new(),
            holder: None,
            reason: reason.into(),
            release: None,
            text: String::new(),
            parts: BTreeSet::new(),
            takes_away: false,
            within: None,
            only_changes: false,
            is_built: false,
        }
    }

    /// Marks it as an input that builds evaluate.
    pub(super) fn built(mut self) -> Self {
        self.is_built = true;
        self
    }

    /// Sets the identity, where the name does not distinguish inputs.
    pub(super) fn with_identity(mut self, identity: impl Into<String>) -> Self {
        self.identity = identity.into();
        self
    }

    /// Appends a number to the identity: an object may have several inputs of a kind.
    pub(super) fn with_number(self, number: usize) -> Self {
        let identity = format!("{} {number}", self.identity);
        self.with_identity(identity)
    }

    pub(super) fn in_version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    pub(super) fn with_text(mut self, text: impl Into<String>) -> Self {
        self.text = text.into();
        self
    }

    pub(super) fn part(mut self, part: impl Into<String>) -> Self {
        self.parts.insert(part.into());
        self
    }

    pub(super) fn parts(mut self, parts: impl IntoIterator<Item = String>) -> Self {
        self.parts.extend(parts);
        self
    }

    pub(super) fn may_remove(mut self) -> Self {
        self.takes_away = true;
        self
    }

    pub(super) fn within(mut self, identity: impl Into<String>) -> Self {
        self.within = Some(identity.into());
        self
    }

    pub(super) fn only_changes(mut self) -> Self {
        self.only_changes = true;
        self
    }

    pub(super) fn releasing(mut self, release: HelmRelease) -> Self {
        self.release = Some(release);
        self
    }

    /// Returns why it is not read, and what follows if the change uninstalls its release.
    fn reason(&self, before: Option<&Self>) -> &str {
        let [old, new] = [before, Some(self)].map(|one| one?.release.as_ref());
        let (Some(old), Some(new)) = (old, new) else {
            return &self.reason;
        };
        // An owned reason is the error of a failed rendering.
        if let Cow::Owned(reason) = &self.reason {
            return reason;
        }
        if old.installed.may_be_replaced_by(&new.installed) {
            POSSIBLY_REPLACED_RELEASE
        } else if !old.installed.is_replaced_by(&new.installed) {
            &self.reason
        } else if old.installed.namespace != new.installed.namespace {
            MOVED_RELEASE
        } else {
            REPLACED_RELEASE
        }
    }

    /// Returns the input as a [`RetainedInput`]; `None` if it is reported with another input or a
    /// release instead.
    fn retained(&self, changed: Option<Unread>) -> Option<RetainedInput> {
        let goes_alone = self.within.is_none()
            && self.release.is_none()
            && !self.only_changes
            && self.what != UnreadWhat::Missing;
        goes_alone.then(|| RetainedInput {
            place: self.place.clone(),
            holder: self.holder.clone(),
            gone: self.reported(UnreadSide::Base, None, false),
            changed,
        })
    }

    fn same_as(&self, other: &Self) -> bool {
        (&self.text, &self.parts, &self.version) == (&other.text, &other.parts, &other.version)
    }

    fn subject(&self, before: Option<&Self>) -> String {
        let version = match before.map(|before| before.version.as_str()) {
            Some(before)
                if before != self.version && !before.is_empty() && !self.version.is_empty() =>
            {
                format!("{before} → {}", self.version)
            }
            _ => self.version.clone(),
        };
        if version.is_empty() {
            self.name.clone()
        } else {
            format!("{} {version}", self.name)
        }
    }

    fn reported(&self, side: UnreadSide, before: Option<&Self>, is_harmless: bool) -> Unread {
        Unread {
            what: self.what,
            subject: without_credentials(&self.subject(before)),
            file: self.file.clone(),
            line: self.line,
            was: None,
            side,
            reason: self.reason(before).to_owned(),
            delivery: None,
            is_harmless,
        }
    }
}

/// Removes the charts of base that head has elsewhere, under the same name, from the inputs that only one state has, and
/// returns them.
fn moved(alone: &mut Vec<(FoundInput, UnreadSide)>) -> Vec<Unread> {
    let mut before: BTreeMap<String, Vec<FoundInput>> = BTreeMap::new();
    let is_old = |one: &(FoundInput, UnreadSide)| {
        one.1 == UnreadSide::Base && one.0.what == UnreadWhat::Chart && one.0.within.is_none()
    };
    for (old, _) in alone.extract_if(.., |one| is_old(one)) {
        before.entry(old.name.clone()).or_default().push(old);
    }
    let mut found = Vec::new();
    alone.retain(|(new, _)| {
        let old = before
            .get_mut(&new.name)
            .filter(|_| new.what == UnreadWhat::Chart);
        let Some(old) = old.and_then(Vec::pop) else {
            return true;
        };
        found.push(Unread {
            subject: without_credentials(&new.subject(Some(&old))),
            was: (old.place != new.place).then_some(old.file),
            ..new.reported(UnreadSide::Both, None, false)
        });
        false
    });
    let left = before.into_values().flatten();
    alone.extend(left.map(|old| (old, UnreadSide::Base)));
    found
}

fn grouped(inputs: Vec<FoundInput>) -> BTreeMap<(UnreadWhat, String), Vec<FoundInput>> {
    let mut groups: BTreeMap<_, Vec<FoundInput>> = BTreeMap::new();
    for input in inputs {
        groups
            .entry((input.what, input.identity.clone()))
            .or_default()
            .push(input);
    }
    groups
}

/// Pairs the inputs of two states by their identities.
pub(super) fn compare(base: StateInputs, head: StateInputs) -> UnreadChanges {
    let (in_base, in_head) = (base.identities(), head.identities());
    let (mut base, head) = (grouped(base.found), grouped(head.found));
    let mut all = UnreadChanges::default();
    let mut alone: Vec<(FoundInput, UnreadSide)> = Vec::new();
    for (key, mut after) in head {
        let mut before = base.remove(&key).unwrap_or_default();
        // Overlays may have inputs with one identity: equal ones are paired first.
        after.retain(|input| {
            let Some(at) = before.iter().position(|other| other.same_as(input)) else {
                return true;
            };
            let same = before.swap_remove(at);
            all.unchanged += 1;
            all.retained.extend(same.retained(None));
            if let Some(release) = &same.release {
                let reported = same.reported(UnreadSide::Base, None, false);
                all.releases.insert(release.key.clone(), reported);
            }
            false
        });
        let paired = before.len().min(after.len());
        for input in before.split_off(paired) {
            alone.push((input, UnreadSide::Base));
        }
        for input in after.split_off(paired) {
            alone.push((input, UnreadSide::Head));
        }
        for (old, new) in before.iter().zip(&after) {
            let is_harmless = old.parts.is_subset(&new.parts);
            let changed = new.reported(UnreadSide::Both, Some(old), is_harmless);
            if is_harmless {
                all.retained.extend(old.retained(Some(changed.clone())));
            }
            all.changed.push(changed);
        }
    }
    for input in base.into_values().flatten() {
        alone.push((input, UnreadSide::Base));
    }
    all.changed.extend(moved(&mut alone));
    for (input, side) in alone {
        let is_covered = input.within.as_ref().is_some_and(|outer| match side {
            UnreadSide::Base => !in_head.contains(outer),
            _ => !in_base.contains(outer),
        });
        // If the file was missing, nothing of it was applied.
        let was_missing = input.what == UnreadWhat::Missing && side == UnreadSide::Base;
        if !is_covered && !input.only_changes && !was_missing {
            let is_harmless = side == UnreadSide::Head && !input.takes_away;
            all.changed.push(input.reported(side, None, is_harmless));
        }
    }
    all.changed.sort_by_cached_key(order);
    all
}

/// Collector of the inputs of one state.
pub(super) struct Finder<'s> {
    pub(super) state: &'s SourceState<'s>,
    pub(super) inputs: StateInputs,
    /// The identities of shared inputs that were added.
    once: BTreeSet<String>,
    /// The number of patterns that were compared with the paths of the state.
    pub(super) patterns: usize,
}

impl<'s> Finder<'s> {
    pub(super) fn new(state: &'s SourceState<'s>) -> Self {
        Self {
            state,
            inputs: StateInputs::default(),
            once: BTreeSet::new(),
            patterns: 0,
        }
    }

    pub(super) fn add(&mut self, place: &str, file: &ParsedFile, span: Span, input: FoundInput) {
        let line = file.source().position(span.start, ColumnUnit::Utf8).line;
        self.add_at(place, file.source().path(), line, input);
    }

    /// Returns `true` for the first call with `identity`: several objects may name the same input.
    pub(super) fn is_first(&mut self, identity: &str) -> bool {
        self.once.insert(identity.to_owned())
    }

    /// Adds an input of any file, unless a build or a renderer evaluated it.
    pub(super) fn add_at(&mut self, place: &str, path: &str, line: usize, mut input: FoundInput) {
        if input.is_built && self.state.is_evaluated(place) || self.state.is_rendered(place) {
            return;
        }
        let charted = self.state.charted(place);
        match charted.filter(|_| input.what.is_of_chart()) {
            Some(Ok(())) => return,
            Some(Err(reason)) => input.reason = reason.into(),
            None => {}
        }
        input.place = place.to_owned();
        input.file = path.to_owned();
        input.line = line;
        self.inputs.found.push(input);
    }
}
