//! The effect of a change on one object.

use schemars::JsonSchema;
use serde::Serialize;

use crate::changes::DeliveryName;
use crate::kube::ObjectKey;

/// The effect of a change on an object of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[schemars(rename = "effect")]
#[non_exhaustive]
pub struct DiffEffect {
    /// The object.
    pub key: ObjectKey,
    /// The kind of the effect.
    pub effect: EffectKind,
    /// How certain the effect is.
    pub certainty: EffectCertainty,
    /// The causes, from the removed object down to this one.
    pub because: Vec<ObjectKey>,
    /// The tool that acts: `helm`, `argocd`, `flux` or `kubectl`; `unknown` if it happens only if an unknown tool
    /// prunes.
    #[schemars(extend("enum" = ["helm", "argocd", "flux", "kubectl", "unknown", null]))]
    pub regime: Option<&'static str>,
    /// The cluster, as the configuration or the delivery graph names it; `null` if unknown.
    pub cluster: Option<String>,
    /// The deliverer of the object in base; `null` for an object that a controller created, and if neither an object
    /// nor a kustomization applies it.
    pub delivery: Option<DeliveryName>,
    /// The other deliveries of a deleted object in base: those that delete it, too, and those that would keep it.
    pub also: Vec<OtherDelivery>,
}

/// Another delivery of a deleted object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[schemars(rename = "otherDelivery")]
#[non_exhaustive]
pub struct OtherDelivery {
    /// The delivery.
    pub delivery: DeliveryName,
    /// The cluster, as the configuration or the delivery graph names it; `null` if unknown.
    pub cluster: Option<String>,
    /// Whether it keeps the object; otherwise it deletes it.
    pub keeps: bool,
}

impl DiffEffect {
    /// The regime of an effect that happens only if an unknown tool prunes.
    #[doc(hidden)]
    pub const UNKNOWN: &'static str = "unknown";

    /// Whether the tool that would act is unknown.
    pub fn is_supposed(&self) -> bool {
        self.regime == Some(Self::UNKNOWN)
    }
}

/// The kinds of effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "effectKind")]
#[non_exhaustive]
pub enum EffectKind {
    /// The tool deletes it.
    Deleted,
    /// It is deleted with another object.
    Cascaded,
    /// It is deleted with the object for which a controller created it; no manifest contains it.
    GeneratedDeleted,
    /// Its deletion does not finish.
    Stuck,
    /// It is removed from the tree, and stays in the cluster.
    Orphaned,
    /// It is removed from the tree, and the tool keeps it.
    Kept,
    /// Data is deleted with it.
    DataLost,
    /// It is deleted, and the tool creates it again as a new object.
    Recreated,
}

impl EffectKind {
    /// Whether an object of a manifest is deleted, and not created again.
    pub(crate) fn is_deletion(self) -> bool {
        matches!(self, Self::Deleted | Self::Cascaded)
    }

    /// Whether the cluster loses the object or its data.
    pub(crate) fn is_loss(self) -> bool {
        match self {
            Self::Kept | Self::Orphaned => false,
            Self::Deleted
            | Self::Cascaded
            | Self::GeneratedDeleted
            | Self::Stuck
            | Self::DataLost
            | Self::Recreated => true,
        }
    }
}

/// The certainty of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "effectCertainty")]
#[non_exhaustive]
pub enum EffectCertainty {
    /// It happens.
    Certain,
    /// It happens if a race between controllers goes that way.
    Race,
    /// It happens if the assumptions hold.
    Possible,
}

impl EffectCertainty {
    /// Returns this certainty, lowered to `Possible` unless `certain`.
    #[doc(hidden)]
    pub fn and(self, certain: bool) -> Self {
        if certain { self } else { Self::Possible }
    }
}
