//! Evidence from labels and annotations of rendered objects.

use std::collections::BTreeMap;

use super::words::{HELP, PRUNED};
use crate::delivery::marks;
use crate::inventory::Member;
use crate::kube::{Namespace, ObjectKey};
use crate::manifest::Spanned;
use crate::rules::draft::Draft;
use crate::rules::rule::Context;
use crate::rules::words::named;
use crate::text::Span;

/// The deliverer of an object, by the object's own marks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Claimant {
    /// The kind: `Helm release`, `Kustomization`.
    what: &'static str,
    name: String,
    /// `None` if it is not written.
    namespace: Option<String>,
}

impl Claimant {
    /// Whether the two are certainly different deliverers. An unwritten namespace may be equal.
    fn differs(&self, other: &Self) -> bool {
        let namespaces = self.namespace.as_ref().zip(other.namespace.as_ref());
        self.what == other.what
            && (self.name != other.name || namespaces.is_some_and(|(one, other)| one != other))
    }

    fn words(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{} `{}` in namespace `{namespace}`", self.what, self.name),
            None => format!("{} `{}`", self.what, self.name),
        }
    }
}

/// Reports objects that are attributed to different deliverers within one folder.
pub(super) fn twice(context: &Context<'_>) -> Vec<Draft> {
    let inventory = context.inventory;
    // Files in different folders may be for different clusters.
    let folder = |member: &Member| {
        inventory
            .sources
            .file(member.file)
            .path()
            .rsplit_once('/')
            .map(|(folder, _)| folder)
    };
    let mut claims: BTreeMap<&ObjectKey, Vec<(&Member, Claimant, Span)>> = BTreeMap::new();
    for member in &inventory.members {
        // An object without a namespace gets that of its release, so two releases may mean two objects.
        let somewhere = member.key.namespace == Namespace::Unwritten
            || member.object.metadata().name().is_none();
        let claimant = claimant(member).filter(|_| !somewhere && !member.from_dump);
        if let Some((claimant, place)) = claimant {
            claims
                .entry(&member.key)
                .or_default()
                .push((member, claimant, place));
        }
    }
    let drafts = claims.values().filter_map(|claims| {
        let (first, claimant, place) = claims.first()?;
        let second = claims
            .iter()
            .find(|(member, other, _)| claimant.differs(other) && folder(member) == folder(first));
        let (member, other, span) = second?;
        let draft = of_two(member, *span, [claimant, other]);
        Some(draft.related(
            first.file,
            *place,
            format!("here it belongs to {}", claimant.words()),
        ))
    });
    drafts.collect()
}

fn of_two(member: &Member, span: Span, [first, second]: [&Claimant; 2]) -> Draft {
    let helm = first.what == HELM_RELEASE;
    let reason = if helm {
        "Helm refuses to install an object that another release owns. Applied by other means, the object belongs to the \
         release that applied it last, and uninstalling either release deletes it under the other."
    } else {
        PRUNED
    };
    let message = format!(
        "{} belongs to {} and to {}",
        named(member),
        first.words(),
        second.words()
    );
    Draft::on(member, span, message)
        .label(format!("here it belongs to {}", second.words()))
        .reason(reason)
        .help(HELP)
        .target(first.words())
}

const HELM_RELEASE: &str = "Helm release";

/// Returns the deliverer that labels and annotations of an object name, and the place of that mark.
fn claimant(member: &Member) -> Option<(Claimant, Span)> {
    let metadata = member.object.metadata();
    let (labels, annotations) = (metadata.labels(), metadata.annotations());
    let annotated = |key| annotations.get(key).filter(|value| !value.value.is_empty());
    let labelled = |key| labels.get(key).filter(|value| !value.value.is_empty());
    let text = |value: Option<Spanned<&str>>| value.map(|value| value.value.to_owned());
    let claimant = |what, name: &str, namespace, span| {
        Some((
            Claimant {
                what,
                name: name.to_owned(),
                namespace,
            },
            span,
        ))
    };
    if let Some(release) = annotated(marks::HELM_RELEASE_NAME) {
        let namespace = text(annotated(marks::HELM_RELEASE_NAMESPACE));
        return claimant(HELM_RELEASE, release.value, namespace, release.span);
    }
    if let Some(tracking) = annotated(marks::ARGOCD_TRACKING_ID) {
        let name = tracking.value.split(':').next().unwrap_or_default();
        return claimant("Application", name, None, tracking.span);
    }
    if let Some(name) = labelled(marks::FLUX_KUSTOMIZATION_NAME) {
        let namespace = text(labelled(marks::FLUX_KUSTOMIZATION_NAMESPACE));
        return claimant("Kustomization", name.value, namespace, name.span);
    }
    // The labels that charts write by convention; the instance alone may come from any tool.
    let managed = labelled(marks::MANAGED_BY).is_some_and(|value| value.value == "Helm");
    let instance =
        labelled(marks::INSTANCE).filter(|_| managed && labelled(marks::HELM_CHART).is_some());
    instance.and_then(|name| claimant(HELM_RELEASE, name.value, None, name.span))
}
