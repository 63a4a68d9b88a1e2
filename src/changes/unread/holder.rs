//! Objects that contain inputs: delivery objects, their sources, and the installations of charts.

use std::borrow::Cow;

use super::input::{Finder, FoundInput};
use super::patches::{self, Patched};
use super::report::UnreadWhat;
use super::state::{SourceState, canonical_text, contents, shown_key, written_key};
use crate::manifest::{Object, ParsedFile};
use crate::text::Span;
use crate::yaml::Value;

/// An object with a `spec`, outside of all charts.
#[derive(Clone, Copy)]
pub(super) struct Holder<'s> {
    pub(super) place: &'s str,
    pub(super) file: &'s ParsedFile,
    pub(super) object: &'s Object,
    pub(super) spec: Value<'s>,
}

impl<'s> Holder<'s> {
    /// Returns the holders of a state, in order.
    pub(super) fn all(state: &'s SourceState<'s>) -> impl Iterator<Item = Self> {
        let objects = state
            .objects()
            .filter(|(place, ..)| state.chart_of(place).is_none());
        objects.filter_map(|(place, file, object)| {
            let spec = object.at(&["spec"])?;
            Some(Self {
                place,
                file,
                object,
                spec,
            })
        })
    }

    pub(super) fn key(self) -> String {
        written_key(self.object)
    }

    pub(super) fn text(self, value: Option<Value<'_>>) -> String {
        canonical_text(self.file, value)
    }

    /// Returns the canonical texts of some fields of the spec, one per line.
    pub(super) fn fields(self, keys: &[&str]) -> String {
        let texts = keys.iter().map(|key| self.text(self.spec.get(key)));
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Creates the input `name` of the object.
    pub(super) fn input(
        self,
        what: UnreadWhat,
        name: &str,
        reason: impl Into<Cow<'static, str>>,
    ) -> FoundInput {
        let shown = format!("{name} of {}", shown_key(self.object));
        FoundInput::new(what, shown, reason).with_identity(format!("{name} of {}", self.key()))
    }

    pub(super) fn add(self, finder: &mut Finder<'_>, span: Span, mut input: FoundInput) {
        input.holder = Some(self.key());
        finder.add(self.place, self.file, span, input);
    }

    /// Adds the fields of `value` that are not `known`.
    pub(super) fn add_unknown(
        self,
        finder: &mut Finder<'_>,
        value: Value<'_>,
        known: &[&[&str]],
        reason: &'static str,
    ) {
        for entry in value.entries() {
            if known.iter().any(|known| known.contains(&entry.key)) {
                continue;
            }
            let input = self
                .input(UnreadWhat::Transformer, entry.key, reason)
                .part(self.text(Some(entry.value)))
                .may_remove()
                .within(self.key());
            self.add(finder, entry.key_span, input);
        }
    }

    /// Adds the content of a component's folder: the keys of the objects below it.
    pub(super) fn add_component(self, finder: &mut Finder<'_>, span: Span, folder: &str) {
        let name = format!("component {folder}");
        if finder.is_first(&name) {
            let reason = "components that a delivery object adds are not built";
            let input = FoundInput::new(UnreadWhat::Transformer, name, reason)
                .parts(contents(finder.state, folder))
                .only_changes()
                .built();
            self.add(finder, span, input);
        }
    }

    /// Adds the patches in `value`, a part of the object.
    pub(super) fn add_patches(self, finder: &mut Finder<'_>, value: Value<'_>) {
        let patched = Patched {
            place: self.place,
            file: self.file,
            folder: None,
            owner: shown_key(self.object),
            within: self.key(),
        };
        patches::find(finder, &patched, value);
    }
}
