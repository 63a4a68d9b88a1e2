//! Common parts of the finalizer rules: the entries that they check, descriptions of removers, and the commands that
//! release a stuck object.

use std::collections::hash_map::Entry;

use foldhash::HashMap;
use smallvec::SmallVec;

use crate::inventory::{Inventory, Member};
use crate::kube::finalizers;
use crate::kube::kubectl::{self, Target};
use crate::manifest::Spanned;
use crate::ownership::{Evidence, Remover};
use crate::rules::draft::Draft;
use crate::rules::proposal::Proposal;
use crate::rules::words::named;
use crate::yaml::Value;

/// One finalizer of one object, with its position in the list.
pub(in crate::rules) struct FinalizerEntry<'a> {
    pub(in crate::rules) member: &'a Member,
    pub(in crate::rules) index: usize,
    pub(in crate::rules) finalizer: &'a Spanned<String>,
    /// The positions of equal entries.
    repetitions: Vec<usize>,
}

impl<'a> FinalizerEntry<'a> {
    /// Creates an entry without repetitions.
    pub(in crate::rules) fn new(
        member: &'a Member,
        index: usize,
        finalizer: &'a Spanned<String>,
    ) -> Self {
        Self {
            member,
            index,
            finalizer,
            repetitions: Vec::new(),
        }
    }

    pub(in crate::rules) fn name(&self) -> &str {
        self.finalizer.as_str()
    }

    /// Creates a draft that points at the entry.
    pub(in crate::rules) fn draft(&self, message: String) -> Draft {
        Draft::on(self.member, self.finalizer.span, message)
            .field(format!("metadata.finalizers[{}]", self.index))
            .target(self.name())
    }

    /// Returns the fix that removes the entry, and its repetitions, from the manifest.
    pub(in crate::rules) fn removed(&self, proposal: fn(&'static str) -> Proposal) -> Proposal {
        let all = std::iter::once(&self.index).chain(&self.repetitions);
        all.fold(proposal("remove the finalizer"), |proposal, index| {
            proposal.remove(self.member, &format!("metadata.finalizers[{index}]"))
        })
    }

    /// Returns the command that releases a stuck object from this finalizer, and what that breaks.
    pub(in crate::rules) fn release(&self) -> String {
        release(&Target::from(&self.member.key), self.index, self.name())
    }
}

/// Returns every finalizer of `metadata.finalizers` in the input. A repeated entry comes once.
pub(in crate::rules) fn entries(inventory: &Inventory) -> impl Iterator<Item = FinalizerEntry<'_>> {
    inventory.with_rare_fields().flat_map(|member| {
        let (mut found, mut places) = (SmallVec::<[_; 1]>::new(), HashMap::default());
        let metadata = member.object.metadata();
        // Most objects with finalizers have one, which needs no map.
        if let [_] = metadata.finalizers() {
            let only = metadata.numbered_finalizers();
            found.extend(only.map(|(index, only)| FinalizerEntry::new(member, index, only)));
            return found;
        }
        for (index, finalizer) in metadata.numbered_finalizers() {
            match places.entry(finalizer.as_str()) {
                Entry::Vacant(place) => {
                    place.insert(found.len());
                    found.push(FinalizerEntry::new(member, index, finalizer));
                }
                Entry::Occupied(place) => found[*place.get()].repetitions.push(index),
            }
        }
        found
    })
}

/// Returns a Namespace's `spec.finalizers` by position. A null entry is empty; entries of other types are left out.
pub(in crate::rules) fn namespace_finalizers(member: &Member) -> Vec<(usize, Spanned<String>)> {
    let list = member.object.at(&["spec", "finalizers"]);
    let items = list.into_iter().flat_map(Value::items).enumerate();
    let finalizers = items.filter_map(|(index, item)| {
        let finalizer = Spanned {
            value: item.as_str().or(item.is_null().then_some(""))?.to_owned(),
            key_span: item.span(),
            span: item.span(),
        };
        Some((index, finalizer))
    });
    finalizers.collect()
}

/// Returns the command that removes one finalizer of an object, as code, and what that breaks.
pub(in crate::rules) fn release(target: &Target, index: usize, finalizer: &str) -> String {
    let command = format!("`{}`", kubectl::remove_finalizer(target, index, finalizer));
    match finalizers::removal_breaks(finalizer) {
        Some(breaks) => format!("{command} ({breaks})"),
        None => command,
    }
}

/// Returns a clause on who removes a finalizer: `Argo CD application controller removes it, but is not in the input`.
pub(in crate::rules) fn who_removes(inventory: &Inventory, remover: &Remover<'_>) -> String {
    match remover {
        Remover::ControlPlane(controller) => format!("{} removes it", controller.removed_by),
        Remover::Workload {
            id,
            evidence,
            controller,
        } => {
            let workload = named(inventory.member(*id));
            match (evidence, controller.map(|known| &known.removed_by)) {
                (Evidence::Image { image, .. }, Some(who)) => {
                    format!(
                        "{who} removes it; in the input, that is {workload}, which runs `{image}`"
                    )
                }
                (Evidence::Image { image, .. }, None) => {
                    format!("{workload} may remove it: it runs `{image}`")
                }
                (Evidence::ImageName { image, .. }, Some(who)) => {
                    format!(
                        "{who} removes it; in the input, {workload} may be that: it runs `{image}`"
                    )
                }
                (Evidence::ImageName { image, .. }, None) => {
                    format!("{workload} may be that: it runs `{image}`")
                }
                (Evidence::Configuration, Some(who)) => {
                    format!("{who} removes it; according to the configuration, that is {workload}")
                }
                (Evidence::Configuration, None) => {
                    format!("{workload} removes it, according to the configuration")
                }
                (
                    Evidence::Access {
                        service_account: account,
                        ..
                    },
                    Some(who),
                ) => format!(
                    "{who} removes it; in the input, {workload} may remove it: its ServiceAccount `{account}` may change \
                     such objects"
                ),
                (
                    Evidence::Access {
                        service_account: account,
                        ..
                    },
                    None,
                ) => format!(
                    "{workload} may remove it: its ServiceAccount `{account}` may change such objects"
                ),
            }
        }
        Remover::KnownElsewhere(controller) => format!(
            "{} ({}) removes it, but is not in the input",
            controller.removed_by,
            controller.whereabouts()
        ),
        Remover::Unlisted(controller) => format!(
            "{} removes it, but as far as is known only from other kinds",
            controller.removed_by
        ),
        Remover::Unknown => "no known controller removes it".to_owned(),
    }
}

/// Adds the workload that removes the finalizer as a related place, if the input contains it.
pub(in crate::rules) fn with_workload(
    draft: Draft,
    inventory: &Inventory,
    remover: &Remover<'_>,
) -> Draft {
    let Remover::Workload { id, evidence, .. } = remover else {
        return draft;
    };
    let workload = inventory.member(*id);
    match evidence {
        Evidence::Image { span, .. } => {
            draft.related(workload.file, *span, "its controller runs here")
        }
        Evidence::ImageName { span, .. } => {
            draft.related(workload.file, *span, "its controller may run here")
        }
        Evidence::Configuration => draft.related_object(workload, "its controller runs here"),
        Evidence::Access { binding, role, .. } => {
            let draft = draft.related_object(workload, "this workload may remove the finalizer");
            let shown = inventory.member(role.unwrap_or(*binding));
            draft.related_object(shown, "the permissions of its ServiceAccount")
        }
    }
}
