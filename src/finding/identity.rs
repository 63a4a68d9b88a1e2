//! The identity of a finding, without its place: equal before and after reformatting, reordering and moving.

use super::Finding;
use crate::kube::ObjectKey;

/// Rule, object, field and target of a finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The rule's id.
    pub rule: String,
    /// The key of the object; `None` if the finding is not about an object.
    pub object: Option<String>,
    /// The field, without the indices of lists, which change when entries are added before them.
    pub field: Option<String>,
    /// The finding's target, which distinguishes findings on one field; its message if it has neither a target nor an
    /// object.
    pub target: Option<String>,
}

impl Identity {
    /// Returns the identity of a finding.
    pub fn of(finding: &Finding) -> Self {
        Self {
            rule: finding.rule.to_owned(),
            object: finding.object.as_ref().map(ObjectKey::to_string),
            field: finding.field.as_deref().map(without_indices),
            target: finding
                .target
                .clone()
                .or_else(|| finding.object.is_none().then(|| finding.message.clone())),
        }
    }
}

/// Removes indices: `metadata.ownerReferences[12].uid` becomes `metadata.ownerReferences[].uid`.
pub(super) fn without_indices(path: &str) -> String {
    let mut inside = false;
    let kept = path.chars().filter(|&c| {
        inside = c == '[' || (inside && c != ']');
        !(inside && c.is_ascii_digit())
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_identity_ignores_list_indices() {
        assert_eq!(
            without_indices("metadata.ownerReferences[12].uid"),
            "metadata.ownerReferences[].uid"
        );
    }
}
