//! What is kept of the value of a document.

use std::sync::Arc;

use super::Object;
use super::documents::{Found, objects_of};
use super::recognition::{DocumentTraits, FileFacts, Skip, SkipReason, skip_reason};
use crate::yaml::Tree;

/// The value of a document, as far as it is kept.
#[derive(Debug)]
pub(super) enum DocumentValue {
    Nothing,
    /// Without an object to apply.
    Value(Arc<Tree>),
    Object(Arc<Object>),
    /// A list and the objects in it.
    List(Arc<Tree>, Vec<Arc<Object>>),
}

impl DocumentValue {
    /// The value of a document of the file at `path`, with its objects. What is none to apply is added to `skipped`, and what it says
    /// of its file and of others to `facts`.
    pub(super) fn of(
        tree: Tree,
        path: &str,
        traits: &DocumentTraits<'_>,
        skipped: &mut Vec<Skip>,
        facts: &mut FileFacts,
    ) -> Self {
        let Found {
            mut objects,
            others,
            is_list,
        } = objects_of(&tree);
        for other in others {
            facts.see_other(path, tree.value(other.node));
            skipped.push(Skip {
                span: other.span,
                reason: SkipReason::NoIdentity(other.what),
            });
        }
        let mut is_applied = |object: &Object| {
            facts.see_object(object);
            facts.has_directive |= traits.has_directive(object);
            let skip = skip_reason(object, traits).map(|reason| Skip {
                span: object.start(),
                reason,
            });
            let is_applied = skip.is_none();
            skipped.extend(skip);
            is_applied
        };
        if let Some((_, fields)) = (!is_list).then(|| objects.pop()).flatten() {
            let object = Object::of_document(tree, fields);
            return match is_applied(&object) {
                true => Self::Object(Arc::new(object)),
                false => Self::Value(object.into_tree()),
            };
        }
        let tree = Arc::new(tree);
        let items = objects
            .into_iter()
            .map(|(node, fields)| Object::of_item(Arc::clone(&tree), node, fields));
        let items: Vec<Arc<Object>> = items.filter(is_applied).map(Arc::new).collect();
        if items.is_empty() {
            Self::Value(tree)
        } else {
            Self::List(tree, items)
        }
    }

    pub(super) fn tree(&self) -> Option<&Tree> {
        match self {
            Self::Nothing => None,
            Self::Value(tree) | Self::List(tree, _) => Some(tree),
            Self::Object(object) => Some(object.tree()),
        }
    }

    pub(super) fn objects(&self) -> &[Arc<Object>] {
        match self {
            Self::Nothing | Self::Value(_) => &[],
            Self::Object(object) => std::slice::from_ref(object),
            Self::List(_, objects) => objects,
        }
    }
}
