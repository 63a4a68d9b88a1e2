//! Objects that left the sources of deliveries before base and were not pruned: they are in neither state.

use super::Parsed;
use crate::changes::{Unread, UnreadSide, UnreadWhat};
use crate::graph::delivery::Delivery;
use crate::kustomize::SourceTool;
use crate::merge::{never_deletes, prunes};
use crate::report::spoken;

impl Parsed {
    /// Returns what deliveries prune in head although it left their sources before base: objects of
    /// an Application that did not prune, by tracking mark, and of a suspended Kustomization, by
    /// inventory. Flux forgets objects that leave a Kustomization that reconciles without pruning.
    pub(in super::super) fn unpruned(&self, base: &Self) -> Vec<Unread> {
        let deliveries = self.delivered.deliveries().into_iter();
        let pruning = deliveries.filter_map(|delivery| {
            let before = &base.delivered.delivery(&delivery.id)?.settings;
            let is_resumed = before.suspend == Some(true);
            let begins = match delivery.by.as_ref()?.tool {
                SourceTool::ArgoCd => !prunes(before),
                SourceTool::Flux => is_resumed,
                SourceTool::ArgoCdSet => {
                    let begins = never_deletes(before) && !never_deletes(&delivery.settings);
                    return begins.then(|| self.ungenerated_by(delivery));
                }
                SourceTool::FluxRelease => false,
            };
            (begins && prunes(&delivery.settings)).then(|| self.unpruned_by(delivery, is_resumed))
        });
        pruning.collect()
    }

    fn unpruned_by(&self, delivery: &Delivery, is_resumed: bool) -> Unread {
        let (while_suspended, when) = if is_resumed {
            (" while it was suspended", "while it was suspended")
        } else {
            ("", "before")
        };
        let subject = format!(
            "objects that {} did not prune{while_suspended}",
            spoken(&delivery.key)
        );
        let reason = format!(
            "it prunes from now on, including objects that left its sources {when}, which are not \
             in the tree"
        );
        self.left_before(delivery, subject, reason)
    }

    fn ungenerated_by(&self, delivery: &Delivery) -> Unread {
        let subject = format!("Applications that {} did not delete", spoken(&delivery.key));
        let reason = "it deletes Applications from now on, including those that it stopped \
                      generating before, which are not in the tree";
        self.left_before(delivery, subject, reason.to_owned())
    }

    fn left_before(&self, delivery: &Delivery, subject: String, reason: String) -> Unread {
        Unread {
            what: UnreadWhat::Unpruned,
            subject,
            file: self.shown(&delivery.file).to_owned(),
            line: delivery.line,
            was: None,
            side: UnreadSide::Head,
            reason,
            delivery: Some(delivery.id.clone()),
            is_harmless: false,
        }
    }
}
