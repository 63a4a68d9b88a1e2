//! Matches findings with the entries of a baseline.
//!
//! In a key `ConfigMap/?/web`, the namespace is not known, for example in a run without `--namespace`. The key matches
//! the object of that name in any namespace.

use foldhash::HashMap;

use super::Baseline;
use crate::finding::Identity;

/// The mark for a namespace that is not known.
const ANY: &str = "?";

/// The assignment of findings to entries.
pub(super) struct Matches {
    /// For each finding, the index of the entry that covers it.
    pub(super) entries: Vec<Option<usize>>,
    /// For each entry, the number of findings that it covers, at most its count.
    pub(super) found: Vec<usize>,
}

impl Baseline {
    /// Assigns findings to entries: equal identities first, so that a finding with an unknown namespace does not use up the
    /// entry of one whose namespace is known.
    pub(super) fn matches(&self, findings: &[Identity]) -> Matches {
        let mut matches = Matches {
            entries: vec![None; findings.len()],
            found: vec![0; self.entries.len()],
        };
        let identities = self.entries.iter().map(|entry| &entry.identity);
        let exact: HashMap<&Identity, usize> = identities.zip(0..).collect();
        for (at, identity) in findings.iter().enumerate() {
            if let Some(&entry) = exact.get(identity) {
                self.take(&mut matches, at, entry);
            }
        }
        // Entries by their identity without a namespace. The lists are in reverse order, because entries are popped.
        let mut anywhere: HashMap<Identity, Vec<usize>> = HashMap::default();
        for (at, entry) in self.entries.iter().enumerate().rev() {
            if let Some(identity) = without_namespace(&entry.identity) {
                anywhere.entry(identity).or_default().push(at);
            }
        }
        for (at, identity) in findings.iter().enumerate() {
            let general = without_namespace(identity);
            let Some(general) = general.filter(|_| matches.entries[at].is_none()) else {
                continue;
            };
            // The namespace of the finding is known: only an entry for any namespace can match.
            if general != *identity {
                if let Some(&entry) = exact.get(&general) {
                    self.take(&mut matches, at, entry);
                }
                continue;
            }
            let Some(indices) = anywhere.get_mut(&general) else {
                continue;
            };
            while let Some(&entry) = indices.last() {
                if self.take(&mut matches, at, entry) {
                    break;
                }
                indices.pop();
            }
        }
        matches
    }

    /// Assigns the finding at index `finding` to the entry at index `entry`, unless the entry has
    /// reached its count. Returns whether the finding was assigned.
    fn take(&self, matches: &mut Matches, finding: usize, entry: usize) -> bool {
        let has_room = matches.found[entry] < self.entries[entry].count;
        if has_room {
            matches.found[entry] += 1;
            matches.entries[finding] = Some(entry);
        }
        has_room
    }
}

/// Returns the identity for any namespace; `None` if it is not about an object.
fn without_namespace(identity: &Identity) -> Option<Identity> {
    let object = any_namespace(identity.object.as_deref()?)?;
    Some(Identity {
        object: Some(object),
        ..identity.clone()
    })
}

/// Converts a key `Kind/namespace/name` into the one for any namespace, `Kind/?/name`. `None` if it is not a key.
pub fn any_namespace(key: &str) -> Option<String> {
    let mut parts = key.splitn(3, '/');
    let (kind, _, name) = (parts.next()?, parts.next()?, parts.next()?);
    Some(format!("{kind}/{ANY}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(object: &str) -> Identity {
        Identity {
            rule: "r".to_owned(),
            object: Some(object.to_owned()),
            field: None,
            target: None,
        }
    }

    fn matched(entries: &[(&str, usize)], findings: &[&str]) -> Vec<Option<usize>> {
        let entries = entries
            .iter()
            .map(|(object, count)| (identity(object), *count));
        let findings: Vec<_> = findings.iter().map(|object| identity(object)).collect();
        Baseline::of_counts(entries).matches(&findings).entries
    }

    #[test]
    fn unknown_namespace_matches_any_namespace() {
        assert_eq!(
            matched(&[("A/?/x", 1)], &["A/shop/x", "A/shop/x"]),
            [Some(0), None]
        );
        assert_eq!(
            matched(&[("A/shop/x", 1)], &["A/?/x", "A/?/x"]),
            [Some(0), None]
        );
        assert_eq!(
            matched(&[("A/?/x", 1)], &["A//x"]),
            [Some(0)],
            "a scope that was not known, either"
        );
        assert_eq!(matched(&[("A/shop/x", 1)], &["A/other/x"]), [None]);
        assert_eq!(
            matched(&[("A/?/x", 1)], &["A/shop/y", "B/shop/x"]),
            [None, None]
        );
    }

    #[test]
    fn equal_keys_are_matched_before_unknown_namespaces() {
        assert_eq!(
            matched(
                &[("A/?/x", 1), ("A/shop/x", 1)],
                &["A/?/x", "A/shop/x", "A/other/x"]
            ),
            [Some(0), Some(1), None]
        );
        assert_eq!(
            matched(&[("A/a/x", 1), ("A/b/x", 1)], &["A/?/x", "A/b/x", "A/?/x"]),
            [Some(0), Some(1), None]
        );
    }
}
