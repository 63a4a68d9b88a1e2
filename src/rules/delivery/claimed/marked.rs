//! Evidence from labels and annotations of rendered objects.

use foldhash::HashMap;

use super::{HELP, PRUNED};
use crate::delivery::marks;
use crate::inventory::Member;
use crate::kube::Namespace;
use crate::manifest::{Labels, Spanned};
use crate::rules::draft::Draft;
use crate::rules::rule::Context;
use crate::rules::words::named;
use crate::text::Span;

/// The deliverer of an object, by the object's own marks.
#[derive(Clone, Copy)]
struct Claimant<'a> {
    /// The kind: `Helm release`, `Kustomization`.
    what: &'static str,
    name: &'a str,
    /// `None` if it is not written.
    namespace: Option<&'a str>,
}

impl Claimant<'_> {
    /// Whether the two, of the same tool, are certainly different. An unwritten namespace may be equal.
    fn differs(&self, other: &Self) -> bool {
        let namespaces = self.namespace.zip(other.namespace);
        self.name != other.name || namespaces.is_some_and(|(one, other)| one != other)
    }

    fn words(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{} `{}` in namespace `{namespace}`", self.what, self.name),
            None => format!("{} `{}`", self.what, self.name),
        }
    }
}

/// An object with its deliverer, and the place of the mark that names it.
#[derive(Clone, Copy)]
struct Claim<'a> {
    member: &'a Member,
    claimant: Claimant<'a>,
    place: Span,
}

/// Reports objects that are attributed to different deliverers within one folder.
pub(super) fn twice(context: &Context<'_>) -> Vec<Draft> {
    let inventory = context.inventory;
    // For each object, folder and tool, the first claim and the first one with a namespace. Files in different folders may
    // be for different clusters.
    let mut known: HashMap<_, (Claim<'_>, Option<Claim<'_>>)> = HashMap::default();
    let mut drafts = Vec::new();
    for member in &inventory.members {
        // An object without a namespace gets that of its release, so two releases may mean two objects.
        let somewhere = member.key.namespace == Namespace::Unwritten
            || member.object.metadata().name().is_none();
        if somewhere || member.from_dump {
            continue;
        }
        let Some((claimant, place)) = claimant(member) else {
            continue;
        };
        let claim = Claim {
            member,
            claimant,
            place,
        };
        let group = (&member.key, inventory.folder_of(member.file), claimant.what);
        let (first, placed) = known.entry(group).or_insert((claim, None));
        let mut earlier = [Some(*first), *placed].into_iter().flatten();
        if let Some(other) = earlier.find(|other| other.claimant.differs(&claimant)) {
            let words = format!("here it belongs to {}", other.claimant.words());
            let draft = of_two(member, place, [&other.claimant, &claimant]);
            drafts.push(draft.related(other.member.file, other.place, words));
        } else if claimant.namespace.is_some() {
            placed.get_or_insert(claim);
        }
    }
    drafts
}

fn of_two(member: &Member, span: Span, [first, second]: [&Claimant<'_>; 2]) -> Draft {
    let reason = if first.what == HELM_RELEASE {
        "Helm refuses to install an object that another release owns. Applied by other means, the object belongs to the \
         release that applied it last, and uninstalling either release deletes it, although the other still needs it."
    } else {
        PRUNED
    };
    let (first, second) = (first.words(), second.words());
    let message = format!("{} belongs to {first} and to {second}", named(member));
    Draft::on(member, span, message)
        .label(format!("here it belongs to {second}"))
        .reason(reason)
        .help(HELP)
        .target(first)
}

const HELM_RELEASE: &str = "Helm release";

/// Returns the deliverer that labels and annotations of an object name, and the place of that mark.
fn claimant(member: &Member) -> Option<(Claimant<'_>, Span)> {
    let metadata = member.object.metadata();
    let (labels, annotations) = (metadata.labels(), metadata.annotations());
    let (what, name, namespace, span) =
        if let Some(release) = written(annotations, marks::HELM_RELEASE_NAME) {
            let namespace = written(annotations, marks::HELM_RELEASE_NAMESPACE);
            (HELM_RELEASE, release.value, namespace, release.span)
        } else if let Some(tracking) = written(annotations, marks::ARGOCD_TRACKING_ID) {
            let name = tracking.value.split(':').next().unwrap_or_default();
            ("Application", name, None, tracking.span)
        } else if let Some(name) = written(labels, marks::FLUX_KUSTOMIZATION_NAME) {
            let namespace = written(labels, marks::FLUX_KUSTOMIZATION_NAMESPACE);
            ("Kustomization", name.value, namespace, name.span)
        } else {
            // The labels that charts write by convention; the instance alone may come from any tool.
            written(labels, marks::MANAGED_BY).filter(|value| value.value == "Helm")?;
            let instance = written(labels, marks::INSTANCE)?;
            written(labels, marks::HELM_CHART)?;
            (HELM_RELEASE, instance.value, None, instance.span)
        };
    let claimant = Claimant {
        what,
        name,
        namespace: namespace.map(|namespace| namespace.value),
    };
    Some((claimant, span))
}

/// Returns the value of a label or annotation, unless it is empty.
fn written<'a>(marks: Labels<'a>, key: &str) -> Option<Spanned<&'a str>> {
    marks.get(key).filter(|value| !value.value.is_empty())
}
