//! Texts shared by both kinds of evidence.

pub(super) const HELP: &str =
    "deliver it once: in one of the two, or in a third that both depend on";
/// The reason for tools that prune: Argo CD and Flux.
pub(super) const PRUNED: &str = "Each overwrites the version of the other. When one of them is deleted, or drops the object, the tool prunes it while \
                      the other still needs it; it comes back at the other's next sync, a Namespace or a \
                      CustomResourceDefinition without what it contained.";
