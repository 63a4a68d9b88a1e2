//! Every rule.

use super::rule::{self, Rule};
use super::{
    change, claimed, finalizer_lifecycle, finalizer_syntax, finalizer_template, gitops, metadata,
    operator, owner_graph, owner_identity, owner_shape, permission, protection, reading, release,
    scope, serving, shared_namespace, simulation, suppressing, unanswered, volume,
};

/// Every rule, in the order in which they are listed.
pub static RULES: &[&Rule] = &[
    &scope::OWNER_OF_CLUSTER_SCOPED,
    &scope::OWNER_CROSS_NAMESPACE,
    &serving::OWNER_KIND_UNRESOLVABLE,
    &serving::KIND_NOT_SERVED,
    &scope::NAMESPACE_ON_CLUSTER_SCOPED,
    &owner_shape::OWNER_MISSING_FIELD,
    &owner_shape::OWNER_WRONG_TYPE,
    &owner_shape::OWNER_EVENT,
    &owner_shape::OWNER_MULTIPLE_CONTROLLERS,
    &owner_shape::OWNER_DUPLICATE,
    &owner_shape::OWNER_SAME_UID,
    &owner_shape::OWNER_UNKNOWN_FIELD,
    &owner_identity::OWNER_LITERAL_UID,
    &owner_identity::OWNER_IDENTITY_MISMATCH,
    &owner_identity::OWNER_NOT_FOUND,
    &owner_graph::OWNER_SELF,
    &owner_graph::OWNER_CYCLE,
    &metadata::METADATA_UNKNOWN_FIELD,
    &metadata::OBJECT_WITHOUT_NAME,
    &metadata::LIVE_OBJECT,
    &finalizer_syntax::FINALIZER_INVALID_NAME,
    &finalizer_syntax::FINALIZER_WRONG_TYPE,
    &finalizer_syntax::FINALIZER_CONFLICT,
    &finalizer_syntax::FINALIZER_UNQUALIFIED,
    &finalizer_lifecycle::FINALIZER_PRESET_GC,
    &finalizer_lifecycle::FINALIZER_UNKNOWN,
    &finalizer_lifecycle::FINALIZER_RUNTIME,
    &finalizer_lifecycle::FINALIZER_MISPLACED,
    &finalizer_lifecycle::NAMESPACE_SPEC_FINALIZERS,
    &finalizer_template::TEMPLATE_FINALIZER,
    &simulation::DELETED_ON_ARRIVAL,
    &simulation::FOREGROUND_DEADLOCK,
    &simulation::NAMESPACE_NEVER_EMPTIES,
    &operator::OPERATOR_DELETED_FIRST,
    &shared_namespace::NAMESPACE_SHARED_WITH_OPERATOR,
    &permission::FINALIZERS_PERMISSION_MISSING,
    &unanswered::WEBHOOK_BLOCKS_DELETION,
    &unanswered::APISERVICE_WITHOUT_BACKEND,
    &release::CRD_WITHOUT_KEEP,
    &release::RELEASE_OWNS_ITS_NAMESPACE,
    &release::HOOK_SURVIVES_UNINSTALL,
    &protection::PROTECTION_INEFFECTIVE,
    &gitops::TRACKING_LABEL_LEAKS,
    &gitops::FORCE_REPLACE_ON_STATEFUL,
    &volume::VOLUME_DELETED_WITH_OWNER,
    &claimed::OBJECT_CLAIMED_TWICE,
    &change::definition::CRD_REMOVED,
    &change::delivery::DELIVERY_REMOVED,
    &change::namespace::NAMESPACE_REMOVED,
    &change::generator::GENERATOR_REMOVED,
    &change::data::VOLUME_REMOVED,
    &change::data::DATA_REMOVED,
    &change::owner::OWNER_REMOVED,
    &change::project::APPPROJECT_REMOVED,
    &change::weakened::PROTECTION_WEAKENED,
    &change::hook::BECAME_HOOK,
    &change::immutable::IMMUTABLE_CHANGED,
    &change::immutable::SCOPE_CHANGED,
    &change::controller::CONTROLLER_REMOVED,
    &change::controller::PERMISSION_REMOVED,
    &change::backend::CONVERSION_WEBHOOK_REMOVED,
    &change::backend::WEBHOOK_BACKEND_REMOVED,
    &reading::UNREADABLE_FILE,
    &reading::UNREADABLE_DOCUMENT,
    &reading::DUPLICATE_KEY,
    &reading::DROPPED_CONTENT,
    &reading::NONSTANDARD_YAML,
    &reading::DUPLICATE_OBJECT,
    &suppressing::SUPPRESSION_MALFORMED,
    &suppressing::SUPPRESSION_UNKNOWN_RULE,
    &suppressing::SUPPRESSION_WITHOUT_REASON,
    &suppressing::SUPPRESSION_UNUSED,
    &suppressing::BASELINE_STALE,
];

/// The rule of an id.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

/// What to say to somebody who names a rule that does not exist.
pub(crate) fn suggestion(id: &str) -> String {
    rule::suggestion(id, RULES)
}
