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
    /// `Some` if data outside of Git is deleted with it: whether that is certain.
    pub data: Option<bool>,
    /// It is a CRD or a Namespace, and base contains none of its instances or contents.
    pub hides: bool,
    /// It delivers, defines or contains others, or is deleted with its CRD or Namespace; no deliverer of head has its
    /// file.
    pub grave: bool,
    /// Its deletion does not finish.
    pub stuck: bool,
    /// Whether the loss is certain, whatever else is in the cluster.
    pub certain: bool,
}

impl Surprise {
    /// Returns the facts of an object of which only the removal is known.
    pub const fn removed(certain: bool) -> Self {
        let standing = Standing::Removed;
        Self {
            standing,
            used: false,
            had_users: false,
            data: None,
            hides: false,
            grave: false,
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
        hides,
        grave,
        stuck,
        certain,
    } = surprise;
    let is_error = match (standing, data) {
        (Standing::Applied, _) => certain,
        _ if used || stuck => certain,
        (_, Some(data)) => certain && data,
        (Standing::Unapplied, _) if grave => certain,
        (Standing::Unwritten, _) if had_users => return None,
        (Standing::Unwritten | Standing::Unapplied, _) => false,
        _ if hides => false,
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

    const CALM: Surprise = Surprise::removed(true);

    #[test]
    fn deletions_are_severe_unless_the_change_shows_them() {
        use Severity::{Error, Warning};
        use Standing::{Applied, Unapplied, Unwritten};
        let perhaps = Surprise {
            certain: false,
            ..CALM
        };
        for (what, surprise, expected) in [
            ("removed by the change", CALM, None),
            (
                "head still applies it",
                Surprise {
                    standing: Applied,
                    ..CALM
                },
                Some(Error),
            ),
            (
                "head may still apply it",
                Surprise {
                    standing: Applied,
                    ..perhaps
                },
                Some(Warning),
            ),
            (
                "something in head uses it",
                Surprise { used: true, ..CALM },
                Some(Error),
            ),
            (
                "something in head may use it",
                Surprise {
                    used: true,
                    ..perhaps
                },
                Some(Warning),
            ),
            (
                "data that is certainly lost",
                Surprise {
                    data: Some(true),
                    ..CALM
                },
                Some(Error),
            ),
            (
                "data that may be lost",
                Surprise {
                    data: Some(false),
                    ..CALM
                },
                Some(Warning),
            ),
            (
                "data, if it is deleted",
                Surprise {
                    data: Some(true),
                    ..perhaps
                },
                Some(Warning),
            ),
            (
                "it certainly gets stuck",
                Surprise {
                    stuck: true,
                    ..CALM
                },
                Some(Error),
            ),
            (
                "it may get stuck",
                Surprise {
                    stuck: true,
                    ..perhaps
                },
                Some(Warning),
            ),
            (
                "only in the cluster",
                Surprise {
                    standing: Unwritten,
                    ..CALM
                },
                Some(Warning),
            ),
            (
                "what it takes along is only in the cluster",
                Surprise {
                    hides: true,
                    ..CALM
                },
                Some(Warning),
            ),
            (
                "its users left with it",
                Surprise {
                    standing: Unwritten,
                    had_users: true,
                    ..CALM
                },
                None,
            ),
            (
                "its file stays, and nobody applies it",
                Surprise {
                    standing: Unapplied,
                    ..CALM
                },
                Some(Warning),
            ),
            (
                "its file stays, and it is a delivery",
                Surprise {
                    standing: Unapplied,
                    grave: true,
                    ..CALM
                },
                Some(Error),
            ),
            (
                "its file stays, and a delivery may be deleted",
                Surprise {
                    standing: Unapplied,
                    grave: true,
                    ..perhaps
                },
                Some(Warning),
            ),
            (
                "the change removes a delivery",
                Surprise {
                    grave: true,
                    ..CALM
                },
                None,
            ),
        ] {
            assert_eq!(severity(surprise), expected, "{what}");
        }
    }
}
