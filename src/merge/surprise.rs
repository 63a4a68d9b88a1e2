//! The severity of a lost object: a deletion that the change itself shows is a decision, one that it does not show is a
//! surprise.

use crate::finding::Severity;

/// The standing in head of an object that the cluster loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Head applies it.
    Applied,
    /// A file of head contains it, and it is no longer applied.
    Unapplied,
    /// No manifest contained it: a controller created it.
    Unwritten,
    /// The change removes it.
    Removed,
}

/// Facts about the loss of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surprise {
    /// The standing of the object in head.
    pub standing: Standing,
    /// Something in head still uses it.
    pub used: bool,
    /// An object of base used it: its users are known.
    pub had_users: bool,
    /// Whether it is certain that data outside of Git is deleted with it; `None` if none is.
    pub data: Option<bool>,
    /// It is a CRD or a Namespace, and base contains none of its instances or contents.
    pub has_unseen_content: bool,
    /// It delivers, defines or contains others, or is deleted with its CRD or Namespace; no deliverer of head has its
    /// file.
    pub affects_others: bool,
    /// Its deletion does not finish.
    pub stuck: bool,
    /// Whether the loss is certain, whatever else is in the cluster.
    pub certain: bool,
}

impl Surprise {
    /// Returns the facts of an object of which only the removal is known.
    pub const fn removed(certain: bool) -> Self {
        Self {
            standing: Standing::Removed,
            used: false,
            had_users: false,
            data: None,
            has_unseen_content: false,
            affects_others: false,
            stuck: false,
            certain,
        }
    }

    /// Returns the facts of a removed object that head still needs.
    pub const fn needed(certain: bool) -> Self {
        Self {
            used: true,
            had_users: true,
            ..Self::removed(certain)
        }
    }
}

/// Returns the severity; `None` if the change itself shows the loss.
pub fn severity(surprise: Surprise) -> Option<Severity> {
    let Surprise {
        standing,
        used,
        had_users,
        data,
        has_unseen_content,
        affects_others,
        stuck,
        certain,
    } = surprise;
    let is_error = match (standing, data) {
        (Standing::Applied, _) => certain,
        _ if used || stuck => certain,
        (_, Some(data)) => certain && data,
        (Standing::Unapplied, _) if affects_others => certain,
        (Standing::Unwritten, _) if had_users => return None,
        (Standing::Unwritten | Standing::Unapplied, _) => false,
        _ if has_unseen_content => false,
        (Standing::Removed, _) => return None,
    };
    Some(if is_error {
        Severity::Error
    } else {
        Severity::Warning
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deletions_are_severe_unless_the_change_shows_them() {
        const ERROR: Option<Severity> = Some(Severity::Error);
        const WARNING: Option<Severity> = Some(Severity::Warning);
        use Standing::{Applied, Unapplied, Unwritten};
        /// Facts besides the removal, and the severity if the loss is certain and if it is possible.
        type Case = (
            &'static str,
            fn(&mut Surprise),
            Option<Severity>,
            Option<Severity>,
        );
        let cases: [Case; 12] = [
            ("removed by the change", |_| {}, None, None),
            (
                "head applies it",
                |it| it.standing = Applied,
                ERROR,
                WARNING,
            ),
            (
                "something in head uses it",
                |it| it.used = true,
                ERROR,
                WARNING,
            ),
            (
                "data that is certainly lost",
                |it| it.data = Some(true),
                ERROR,
                WARNING,
            ),
            (
                "data that may be lost",
                |it| it.data = Some(false),
                WARNING,
                WARNING,
            ),
            ("it gets stuck", |it| it.stuck = true, ERROR, WARNING),
            (
                "only in the cluster",
                |it| it.standing = Unwritten,
                WARNING,
                WARNING,
            ),
            (
                "its users left with it",
                |it| (it.standing, it.had_users) = (Unwritten, true),
                None,
                None,
            ),
            (
                "its content is only in the cluster",
                |it| it.has_unseen_content = true,
                WARNING,
                WARNING,
            ),
            (
                "its file stays, and nothing applies it",
                |it| it.standing = Unapplied,
                WARNING,
                WARNING,
            ),
            (
                "its file stays, and it is a delivery",
                |it| (it.standing, it.affects_others) = (Unapplied, true),
                ERROR,
                WARNING,
            ),
            (
                "the change removes a delivery",
                |it| it.affects_others = true,
                None,
                None,
            ),
        ];
        for (what, change, certainly, possibly) in cases {
            for (certain, expected) in [(true, certainly), (false, possibly)] {
                let mut surprise = Surprise::removed(certain);
                change(&mut surprise);
                assert_eq!(severity(surprise), expected, "{what}: {surprise:?}");
            }
        }
    }
}
