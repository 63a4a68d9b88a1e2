//! HelmReleases that were suspended in base and are not in head.

use crate::changes::{BothSides, ObjectChange, Sides, Unread, UnreadSide, UnreadWhat};
use crate::inventory::Member;
use crate::kube::kinds;
use crate::report::spoken;

/// Returns the objects that left the releases of HelmReleases while these were suspended: the next upgrade deletes them,
/// and they are in neither state.
pub(super) fn unread_of_resumed(sides: BothSides<'_>, changes: &[ObjectChange]) -> Vec<Unread> {
    let applied = changes.iter().filter(|change| sides.applies(change.sides));
    let resumed = applied.filter_map(|change| {
        let Sides::Both(was, is) = change.sides else {
            return None;
        };
        let release = sides.of_head(is);
        if !is_suspended(sides.of_base(was)) || is_suspended(release) {
            return None;
        }
        let tree = &sides.head[is.tree];
        let file = tree.inventory.sources.file(release.file);
        let delivery = tree.delivery_at(tree.destination(release.file));
        let name = spoken(&release.key.to_string());
        Some(Unread {
            what: UnreadWhat::Unpruned,
            subject: format!("objects that {name} did not delete while it was suspended"),
            file: file.path().to_owned(),
            line: file.line_in_tree(release.object.start().start),
            was: None,
            side: UnreadSide::Head,
            reason: "its next upgrade deletes objects that left its chart while it was suspended, \
                     which are not in the tree"
                .to_owned(),
            delivery: delivery.map(|delivery| delivery.id),
            is_harmless: false,
        })
    });
    resumed.collect()
}

fn is_suspended(member: &Member) -> bool {
    let suspend = ["spec", "suspend"];
    member.object.is(kinds::HELM_RELEASE) && member.object.value().is_true_at(&suspend)
}
