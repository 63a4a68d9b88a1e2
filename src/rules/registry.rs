//! The registry of rules.

use super::rule::Rule;
use super::{
    argocd, change, data, delivery, finalizers, helm, namespaces, objects, reading, references,
};
use crate::text::near;

/// Every rule, in the order of lists and of the documentation.
pub static RULES: &[&Rule] = &[
    &references::scope::OWNER_OF_CLUSTER_SCOPED,
    &references::scope::OWNER_CROSS_NAMESPACE,
    &references::kind::OWNER_KIND_UNRESOLVABLE,
    &objects::serving::KIND_NOT_SERVED,
    &objects::scope::NAMESPACE_ON_CLUSTER_SCOPED,
    &references::shape::OWNER_MISSING_FIELD,
    &references::shape::OWNER_WRONG_TYPE,
    &references::shape::OWNER_EVENT,
    &references::shape::OWNER_MULTIPLE_CONTROLLERS,
    &references::shape::OWNER_DUPLICATE,
    &references::shape::OWNER_SAME_UID,
    &references::shape::OWNER_UNKNOWN_FIELD,
    &references::identity::OWNER_LITERAL_UID,
    &references::identity::OWNER_IDENTITY_MISMATCH,
    &references::identity::OWNER_NOT_FOUND,
    &references::graph::OWNER_SELF,
    &references::graph::OWNER_CYCLE,
    &objects::metadata::METADATA_UNKNOWN_FIELD,
    &objects::metadata::OBJECT_WITHOUT_NAME,
    &objects::metadata::LIVE_OBJECT,
    &objects::token::TOKEN_SECRET_WITHOUT_ACCOUNT,
    &finalizers::syntax::FINALIZER_INVALID_NAME,
    &finalizers::syntax::FINALIZER_WRONG_TYPE,
    &finalizers::syntax::FINALIZER_CONFLICT,
    &finalizers::syntax::FINALIZER_UNQUALIFIED,
    &finalizers::lifecycle::FINALIZER_PRESET_GC,
    &finalizers::lifecycle::FINALIZER_UNKNOWN,
    &finalizers::lifecycle::FINALIZER_RUNTIME,
    &finalizers::lifecycle::FINALIZER_MISPLACED,
    &finalizers::lifecycle::NAMESPACE_SPEC_FINALIZERS,
    &finalizers::template::TEMPLATE_FINALIZER,
    &references::simulation::DELETED_ON_ARRIVAL,
    &references::simulation::FOREGROUND_DEADLOCK,
    &namespaces::never_empties::NAMESPACE_NEVER_EMPTIES,
    &finalizers::operator::OPERATOR_DELETED_FIRST,
    &finalizers::provider::PROVIDER_DELETED_FIRST,
    &namespaces::shared::NAMESPACE_SHARED_WITH_OPERATOR,
    &finalizers::permission::FINALIZERS_PERMISSION_MISSING,
    &namespaces::unanswered::WEBHOOK_BLOCKS_DELETION,
    &namespaces::conversion::CONVERSION_BLOCKS_DELETION,
    &namespaces::unanswered::APISERVICE_WITHOUT_BACKEND,
    &helm::release::CRD_WITHOUT_KEEP,
    &helm::release::RELEASE_OWNS_ITS_NAMESPACE,
    &helm::release::HOOK_SURVIVES_UNINSTALL,
    &delivery::protection::PROTECTION_INEFFECTIVE,
    &delivery::hooks::HOOK_NOT_KEPT,
    &delivery::lacking::HOOK_LACKS_DEPENDENCY,
    &delivery::account::DELIVERY_LOSES_ITS_ACCOUNT,
    &argocd::gitops::TRACKING_LABEL_LEAKS,
    &argocd::gitops::FORCE_REPLACE_ON_STATEFUL,
    &data::volume::VOLUME_DELETED_WITH_OWNER,
    &delivery::claimed::OBJECT_CLAIMED_TWICE,
    &change::definition::CRD_REMOVED,
    &change::delivery::DELIVERY_REMOVED,
    &change::namespace::NAMESPACE_REMOVED,
    &change::moved::MOVE_DELETES,
    &change::generator::GENERATOR_REMOVED,
    &change::data::VOLUME_REMOVED,
    &change::data::DATA_REMOVED,
    &change::used::REFERRED_REMOVED,
    &change::owner::OWNER_REMOVED,
    &change::project::APPPROJECT_REMOVED,
    &change::weakened::PROTECTION_WEAKENED,
    &change::hook::BECAME_HOOK,
    &change::joined::CRD_JOINS_RELEASE,
    &change::immutable::IMMUTABLE_CHANGED,
    &change::immutable::SCOPE_CHANGED,
    &change::controller::CONTROLLER_REMOVED,
    &change::controller::PERMISSION_REMOVED,
    &change::backend::CONVERSION_WEBHOOK_REMOVED,
    &change::backend::WEBHOOK_BACKEND_REMOVED,
    &reading::input::UNREADABLE_FILE,
    &reading::input::UNREADABLE_DOCUMENT,
    &reading::input::DUPLICATE_KEY,
    &reading::input::DROPPED_CONTENT,
    &reading::input::NONSTANDARD_YAML,
    &reading::duplicates::DUPLICATE_OBJECT,
    &reading::suppressing::SUPPRESSION_MALFORMED,
    &reading::suppressing::SUPPRESSION_UNKNOWN_RULE,
    &reading::suppressing::SUPPRESSION_WITHOUT_REASON,
    &reading::suppressing::SUPPRESSION_UNUSED,
    &reading::suppressing::BASELINE_STALE,
];

/// Returns the rule with an id.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

/// Returns a suggestion for the id of an unknown rule.
pub(crate) fn suggestion(id: &str) -> String {
    near::did_you_mean(id, RULES.iter().map(|rule| rule.id), || {
        HOW_TO_LIST.to_owned()
    })
}

/// How to find the id of a rule.
pub(super) const HOW_TO_LIST: &str = "`ownerlint rules` lists all rules";
