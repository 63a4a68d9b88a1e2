//! The places of head that cause the removal of objects of base.

use foldhash::{HashMap, HashMapExt, HashSet};

use super::part::MergePart;
use crate::changes::TreePart;
use crate::inventory::Member;
use crate::kustomize::{Deliverer, ancestors, folder_of, resolve};
use crate::manifest::{KUSTOMIZATIONS, is_kustomization};
use crate::text::{FileId, Span};

/// The label of an edit that changes how objects are built.
const CHANGES_BUILD: &str = "changes how it is built";

/// A place of head that causes the removal of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseInHead {
    /// The file, by its id among the files of both sides.
    pub file: FileId,
    /// The edited part of it.
    pub span: Span,
    /// The label of the place, such as `its new name`.
    pub label: &'static str,
}

/// A file that both sides have with different texts.
#[derive(Debug)]
pub(super) struct EditedFile {
    /// The part of head that contains it.
    part: usize,
    file: FileId,
    /// The first line that differs.
    first: Span,
    /// The edit of a kustomization.
    kustomization: Option<EditedKustomization>,
}

/// The places of an edited kustomization that may cause the removal of objects.
#[derive(Debug)]
struct EditedKustomization {
    /// The new line that gives all its objects another namespace or other names.
    renaming: Option<Span>,
    /// The start of `resources`, from which one may have been removed.
    resources: Span,
}

impl EditedKustomization {
    fn new(before: &str, after: &str) -> Self {
        let at = after.find("\nresources:");
        let at = at.map_or(0, |at| at as u32 + 1);
        Self {
            renaming: renaming_line(before, after),
            resources: Span::new(at, at),
        }
    }
}

impl MergePart<'_> {
    /// Finds the cause of the removal of an object of base: the kustomization that gives it another name or namespace,
    /// the object under its new name, the file that no longer contains it, or an edited kustomization above it.
    pub fn cause_in_head(&self, member: &Member) -> Option<CauseInHead> {
        if let Some(&(_, is)) = self.counterparts.get(&member.id) {
            let (part, after) = (&self.sides.head[is.tree], self.sides.of_head(is));
            let place = part.place(after.file);
            let renaming = if self.edited().contains_key(place) {
                None
            } else {
                let mut above = self.edited_above(place);
                above.find_map(|(edited, kustomization)| {
                    let span = kustomization.renaming?;
                    Some(self.at(edited, span, "gives it another name or namespace"))
                })
            };
            return Some(renaming.unwrap_or_else(|| CauseInHead {
                file: self.sides.head_file(is.tree, after.file),
                span: after.object.name_span(),
                label: if after.key.name != member.key.name {
                    "its new name"
                } else if after.key.namespace != member.key.namespace {
                    "in a new namespace"
                } else {
                    "changed here"
                },
            }));
        }
        if self.base.inventory.sources.file(member.file).is_rendered() {
            return self.delivery_cause(self.base.destination(member.file).deliverer()?);
        }
        let place = self.base.place(member.file);
        let own = self.edited().get(place).filter(|edited| {
            let inventory = &self.sides.head[edited.part].inventory;
            inventory.members_of(edited.file).iter().all(|there| {
                there.object.group_kind() != member.object.group_kind()
                    || there.object.name() != member.object.name()
            })
        });
        let own = own.map(|edited| self.at(edited, Span::new(0, 0), "left out here"));
        own.or_else(|| {
            let (edited, kustomization) = self.edited_above(place).next()?;
            Some(self.at(edited, kustomization.resources, "left out here"))
        })
    }

    /// Finds the reason why an object of head is built differently: an edited kustomization that the build reads, else
    /// the edited object that delivers it.
    pub fn build_cause(&self, member: &Member) -> Option<CauseInHead> {
        let head = self.head?;
        let build = head.build_of(member.file)?;
        let of_build = build.cause.get_or_init(|| {
            let folders = build.reached().iter();
            let mut names =
                folders.flat_map(|folder| KUSTOMIZATIONS.map(|name| resolve(folder, name)));
            names.find(|name| self.edited().contains_key(name))
        });
        if let Some(edited) = of_build.as_ref().and_then(|name| self.edited().get(name)) {
            return Some(self.at(edited, edited.first, CHANGES_BUILD));
        }
        self.delivery_cause(head.destination(member.file).deliverer()?)
    }

    /// Finds the edit of the object that represents a deliverer.
    fn delivery_cause(&self, by: &Deliverer) -> Option<CauseInHead> {
        let (part, by) = self.find_delivering(self.sides.head, by)?;
        let edited = self.edited().get(self.sides.head[part].place(by.file))?;
        Some(self.at(edited, edited.first, CHANGES_BUILD))
    }

    fn at(&self, edited: &EditedFile, span: Span, label: &'static str) -> CauseInHead {
        CauseInHead {
            file: self.sides.head_file(edited.part, edited.file),
            span,
            label,
        }
    }

    /// Returns the files that both sides have with different texts, by path.
    fn edited(&self) -> &HashMap<String, EditedFile> {
        self.edited.get_or_init(|| {
            let base: HashMap<&str, &str> = files(self.sides.base)
                .map(|(place, .., text)| (place, text))
                .collect();
            let mut edited = HashMap::new();
            for (place, part, file, after) in files(self.sides.head) {
                let before = base.get(place).filter(|before| **before != after);
                let Some(before) = before else {
                    continue;
                };
                let of_first_part = edited.entry(place.to_owned());
                of_first_part.or_insert_with(|| EditedFile {
                    part,
                    file,
                    first: first_difference(before, after),
                    kustomization: is_kustomization(place)
                        .then(|| EditedKustomization::new(before, after)),
                });
            }
            edited
        })
    }

    /// Returns the edited kustomizations in the folder of a file and in those above it.
    fn edited_above(
        &self,
        place: &str,
    ) -> impl Iterator<Item = (&EditedFile, &EditedKustomization)> {
        let names = ancestors(folder_of(place))
            .flat_map(|folder| KUSTOMIZATIONS.map(|name| resolve(folder, name)));
        names.filter_map(|name| {
            let edited = self.edited().get(&name)?;
            Some((edited, edited.kustomization.as_ref()?))
        })
    }
}

/// Returns the files of all parts of a side: path from the root of the side, part, file, text.
fn files(parts: &[TreePart]) -> impl Iterator<Item = (&str, usize, FileId, &str)> {
    parts.iter().enumerate().flat_map(|(part, tree)| {
        let files = tree.inventory.sources.iter();
        files.map(move |(id, file)| (tree.place(id), part, id, file.text()))
    })
}

/// Returns the first line of `after` that differs from that of `before`; the last line if `after` is the beginning of
/// `before`.
fn first_difference(before: &str, after: &str) -> Span {
    let mut known = before.lines().map(str::trim_end);
    let mut last = Span::new(0, 0);
    for (span, line) in lines_of(after) {
        last = span;
        if known.next() != Some(line) {
            break;
        }
    }
    last
}

/// Returns the first line of `after` that `before` lacks and that renames all objects.
fn renaming_line(before: &str, after: &str) -> Option<Span> {
    let known = before.lines().map(str::trim_end);
    let known: HashSet<&str> = known.filter(|line| renames(line)).collect();
    let mut lines = lines_of(after);
    let found = lines.find(|(_, line)| renames(line) && !known.contains(line));
    found.map(|(span, _)| span)
}

/// Returns the lines of a text without the white space at their ends, each with its span.
fn lines_of(text: &str) -> impl Iterator<Item = (Span, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |whole| {
        let line = whole.trim_end();
        let span = Span::new(start, start + line.len() as u32);
        start += whole.len() as u32;
        (span, line)
    })
}

fn renames(line: &str) -> bool {
    let keys = ["namespace:", "namePrefix:", "nameSuffix:"];
    keys.iter().any(|key| line.starts_with(key))
}
