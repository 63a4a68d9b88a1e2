//! The places of head that make objects of base leave.

use foldhash::{HashMap, HashMapExt};

use super::part::MergePart;
use crate::changes::TreePart;
use crate::inventory::Member;
use crate::kustomize::{ancestors, folder_of, resolve};
use crate::manifest::KUSTOMIZATIONS;
use crate::text::{FileId, Span};

/// A place of head, in the numbering of both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CauseInHead {
    /// The file.
    pub file: FileId,
    /// The edited part of it.
    pub span: Span,
    /// The part that it plays: `its new name`.
    pub words: &'static str,
}

/// A file that both sides have with different texts.
#[derive(Debug)]
pub(super) struct EditedFile {
    before: PartFile,
    after: PartFile,
}

/// A file of a part of one side.
#[derive(Clone, Copy, Debug)]
struct PartFile {
    part: usize,
    file: FileId,
}

impl PartFile {
    fn text(self, parts: &[TreePart]) -> &str {
        parts[self.part].inventory.sources.file(self.file).text()
    }
}

impl MergePart<'_> {
    /// Finds what made an object of base leave: the kustomization that gives it another name or namespace, the object under its
    /// new name, the file that no longer contains it, or the kustomization above that changed.
    pub fn cause_in_head(&self, member: &Member) -> Option<CauseInHead> {
        if let Some(&(_, is)) = self.counterparts.get(&member.id) {
            let (part, after) = (&self.sides.head[is.tree], self.sides.of_head(is));
            let place = part.place(after.file);
            let renaming = (!self.edited().contains_key(place))
                .then(|| self.edited_kustomization(place, renaming_line))
                .flatten();
            return Some(renaming.unwrap_or_else(|| CauseInHead {
                file: self.sides.head_file(is.tree, after.file),
                span: after.object.name_span(),
                words: "its new name",
            }));
        }
        let place = self.base.place(member.file);
        let lacks_it = |edited: &&EditedFile| {
            let PartFile { part, file } = edited.after;
            let inventory = &self.sides.head[part].inventory;
            inventory.members_of(file).iter().all(|there| {
                there.object.group_kind() != member.object.group_kind()
                    || there.object.name() != member.object.name()
            })
        };
        let own = self.edited().get(place).filter(lacks_it);
        let own = own.map(|edited| self.at(edited, Span::new(0, 0), "left out here"));
        own.or_else(|| self.edited_kustomization(place, resources_line))
    }

    fn at(&self, edited: &EditedFile, span: Span, words: &'static str) -> CauseInHead {
        let PartFile { part, file } = edited.after;
        CauseInHead {
            file: self.sides.head_file(part, file),
            span,
            words,
        }
    }

    /// The files that both sides have with different texts, by path.
    fn edited(&self) -> &HashMap<String, EditedFile> {
        self.edited.get_or_init(|| {
            let base: HashMap<&str, PartFile> = files(self.sides.base).collect();
            let mut edited = HashMap::new();
            for (place, after) in files(self.sides.head) {
                let Some(&before) = base.get(place) else {
                    continue;
                };
                if before.text(self.sides.base) != after.text(self.sides.head) {
                    let of_first_part = edited.entry(place.to_owned());
                    of_first_part.or_insert(EditedFile { before, after });
                }
            }
            edited
        })
    }

    /// The first kustomization above a file in whose edit `find` finds a cause.
    fn edited_kustomization(
        &self,
        place: &str,
        find: impl Fn([&str; 2]) -> Option<(Span, &'static str)>,
    ) -> Option<CauseInHead> {
        let names = ancestors(folder_of(place))
            .flat_map(|folder| KUSTOMIZATIONS.map(|name| resolve(folder, name)));
        names.into_iter().find_map(|name| {
            let edited = self.edited().get(name.as_str())?;
            let before = edited.before.text(self.sides.base);
            let after = edited.after.text(self.sides.head);
            let (span, words) = find([before, after])?;
            Some(self.at(edited, span, words))
        })
    }
}

/// The files of all parts of a side, with their paths from the root of the side.
fn files(parts: &[TreePart]) -> impl Iterator<Item = (&str, PartFile)> {
    parts.iter().enumerate().flat_map(|(part, tree)| {
        let files = tree.inventory.sources.iter();
        files.map(move |(file, _)| (tree.place(file), PartFile { part, file }))
    })
}

/// The line with which a kustomization gives all its objects another namespace or other names.
fn renaming_line([before, after]: [&str; 2]) -> Option<(Span, &'static str)> {
    let renames = |line: &str| {
        ["namespace:", "namePrefix:", "nameSuffix:"]
            .iter()
            .any(|key| line.starts_with(key))
    };
    let mut start = 0;
    for line in after.split_inclusive('\n') {
        let written = line.trim_end();
        if renames(line) && !before.lines().any(|line| line == written) {
            let span = Span::new(start, start + written.len() as u32);
            return Some((span, "gives it another name or namespace"));
        }
        start += line.len() as u32;
    }
    None
}

/// The resources of a kustomization, from which one may have been removed.
fn resources_line([_, after]: [&str; 2]) -> Option<(Span, &'static str)> {
    let at = after.find("\nresources:");
    let at = at.map_or(0, |at| at as u32 + 1);
    Some((Span::new(at, at), "left out here"))
}
