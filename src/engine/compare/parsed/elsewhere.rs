//! The deliveries whose objects are not in the tree: their settings are compared instead.

use std::collections::BTreeMap;

use super::Parsed;
use crate::changes::{Unread, UnreadSide, UnreadWhat};
use crate::delivery::flux::KustomizationSettings;
use crate::graph::delivery::Delivery;
use crate::graph::unread::What;
use crate::report::spoken;

impl Parsed {
    /// Returns the deliveries in both states whose objects one state does not read, if the settings that decide on the
    /// objects differ.
    pub(in super::super) fn edited_elsewhere(&self, base: &Self) -> Vec<Unread> {
        let reason = "its objects are not read, and these settings decide which objects it has";
        let edited = self.delivered.deliveries().into_iter().filter(|delivery| {
            let Some(before) = base.delivered.delivery(&delivery.id) else {
                return false;
            };
            // If one state lacks the folder, `elsewhere` differs without an edit of the delivery object.
            let is_read_once = before.elsewhere.is_some() != delivery.elsewhere.is_some();
            before.elsewhere != delivery.elsewhere
                && !(is_read_once && base.text_at(&before.file) == self.text_at(&delivery.file))
        });
        self.unread_elsewhere(edited, UnreadSide::Both, reason)
    }

    /// Returns the charts and other unread sources whose objects this state gives other names or namespaces than `base`,
    /// unless `is_rendered` holds for the file that names them.
    pub(in super::super) fn transformed(
        &self,
        base: &Self,
        is_rendered: impl Fn(&str) -> bool,
    ) -> Vec<Unread> {
        let mut found = Vec::new();
        for delivery in self.delivered.deliveries() {
            let Some(before) = base.delivered.delivery_or_root(&delivery.id) else {
                continue;
            };
            let inputs = delivery.transformed_since(before).into_iter();
            for input in inputs.filter(|input| !is_rendered(&input.file)) {
                let (what, word) = match input.what {
                    What::Chart => (UnreadWhat::Chart, "chart"),
                    What::Generator => (UnreadWhat::Generator, "objects of"),
                    _ => (UnreadWhat::Remote, "resource"),
                };
                found.push(Unread {
                    what,
                    subject: format!("{word} {}", input.subject),
                    file: self.shown(&input.file).to_owned(),
                    line: input.line,
                    was: None,
                    side: UnreadSide::Both,
                    reason: "the change gives its objects another name or namespace, or deletes some, and they are not read"
                        .to_owned(),
                    delivery: Some(delivery.id.clone()),
                    is_harmless: false,
                });
            }
        }
        found
    }

    fn text_at(&self, place: &str) -> Option<&str> {
        Some(self.file_at(place)?.source().text())
    }

    /// Returns the unread objects that Flux deletes with their Kustomizations, by the id of the Kustomization's parent
    /// and its key.
    pub(in super::super) fn deleted_elsewhere(&self) -> BTreeMap<(Option<String>, String), Unread> {
        let reason = "Flux deletes these objects with the Kustomization, and they are not read";
        let deleting = self.delivered.deliveries().into_iter().filter(|delivery| {
            let is_flux = delivery.by.as_ref().is_some_and(|by| by.tool.is_flux());
            let settings = KustomizationSettings::applied(&delivery.settings);
            is_flux && settings.deletes_with_it() && delivery.elsewhere.is_some()
        });
        let deleting: Vec<&Delivery> = deleting.collect();
        let unread = self.unread_elsewhere(deleting.iter().copied(), UnreadSide::Base, reason);
        let names = deleting
            .iter()
            .map(|one| (one.parent.as_deref().map(str::to_owned), one.key.clone()));
        names.zip(unread).collect()
    }

    fn unread_elsewhere<'d>(
        &self,
        deliveries: impl Iterator<Item = &'d Delivery>,
        side: UnreadSide,
        reason: &str,
    ) -> Vec<Unread> {
        let unread = deliveries.map(|delivery| Unread {
            what: UnreadWhat::OtherRepository,
            subject: format!("source of {}", spoken(&delivery.key)),
            file: self.shown(&delivery.file).to_owned(),
            line: delivery.line,
            was: None,
            side,
            reason: reason.to_owned(),
            delivery: Some(delivery.id.clone()),
            is_harmless: false,
        });
        unread.collect()
    }
}
