//! Every place in an object where owner references can appear: its own metadata, and that of templates that Kubernetes
//! decodes.
//!
//! Fields of the same name inside schemas, strings or templates of custom resources are not Kubernetes metadata and are
//! never visited.

use super::words::named;
use crate::finding::Consequence;
use crate::inventory::{Inventory, Member};
use crate::manifest::{DecodeError, Metadata, OwnerReference, TemplateKind};

/// Metadata, with the object and the field that contain it.
#[derive(Clone, Copy, Debug)]
pub(super) struct MetadataHolder<'a> {
    pub(super) member: &'a Member,
    pub(super) metadata: Metadata<'a>,
    /// Fields of the object or template that do not decode.
    pub(super) decode_errors: &'a [DecodeError],
    /// The field: `metadata`, `spec.template.metadata`.
    pub(super) field: &'a str,
    /// The kind of template, or `None` for the object's own metadata.
    pub(super) template: Option<TemplateKind>,
}

impl MetadataHolder<'_> {
    /// Returns the path of an entry: `metadata.ownerReferences[0]`.
    pub(super) fn entry(&self, reference: &OwnerReference) -> String {
        format!("{}.ownerReferences[{}]", self.field, reference.index)
    }

    /// Names the holder in a sentence.
    pub(super) fn named(&self) -> String {
        match self.template {
            None => named(self.member),
            Some(TemplateKind::Claim) => format!("a claim template of {}", named(self.member)),
            Some(_) => format!("a template in {}", named(self.member)),
        }
    }

    /// Returns a sentence on who rejects metadata that breaks [VAL-4] to [VAL-9]. An object is rejected on arrival; a
    /// claim when the StatefulSet controller copies it from its template, whose metadata is not validated ([VAL-36]).
    pub(super) fn rejection(&self) -> &'static str {
        match self.template {
            None => "The API server rejects the object, no matter which client sends it.",
            Some(_) => {
                "The API server accepts the StatefulSet, whose claim templates it does not validate. The StatefulSet \
                 controller copies the template into every claim, the API server rejects the claims, and no pod is \
                 ever created."
            }
        }
    }

    /// Returns the consequence that matches [`MetadataHolder::rejection`].
    pub(super) fn consequence(&self) -> Consequence {
        match self.template {
            None => Consequence::Rejected,
            Some(_) => Consequence::Lost,
        }
    }
}

/// Visits the metadata that strict validation covers, because clients or the API server decode it into types: that of
/// objects with rare fields, and that of templates.
pub(super) fn each_decoded(inventory: &Inventory, mut visit: impl FnMut(MetadataHolder<'_>)) {
    for member in inventory.with_rare_fields() {
        visit(own_metadata(member));
    }
    each_template(inventory, visit);
}

/// Visits the metadata whose owner references reach the cluster: that of objects, and that of claim templates, which is
/// copied whole ([VAL-36]). Pod and job templates lose theirs ([VAL-35], [VAL-37]).
pub(super) fn each_effective(inventory: &Inventory, mut visit: impl FnMut(MetadataHolder<'_>)) {
    each_decoded(inventory, |holder| {
        if matches!(holder.template, None | Some(TemplateKind::Claim)) {
            visit(holder);
        }
    });
}

/// Visits the metadata of templates.
pub(super) fn each_template(inventory: &Inventory, mut visit: impl FnMut(MetadataHolder<'_>)) {
    for (member, template) in inventory.templates() {
        visit(MetadataHolder {
            member,
            metadata: template.metadata,
            decode_errors: template.decode_errors,
            field: &format!("{}.metadata", template.field),
            template: Some(template.kind),
        });
    }
}

/// Returns the metadata of an object itself.
pub(super) fn own_metadata(member: &Member) -> MetadataHolder<'_> {
    MetadataHolder {
        member,
        metadata: member.object.metadata(),
        decode_errors: member.object.decode_errors(),
        field: "metadata",
        template: None,
    }
}
