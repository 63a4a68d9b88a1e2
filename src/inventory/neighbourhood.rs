//! Statements of files about each other: a kustomization names its patches, a test its assertions. A neighbour that
//! applies a file outweighs all others, and so does a delivery object that points at its folder.
//!
//! The author of a change can write any neighbour, so each one affects few files: those in its own folder and below,
//! and other files only if a kustomization governs them. A test in another folder is ignored if the folder contains
//! manifests that no neighbour names: such a folder is applied as it is.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};

use crate::kustomize::{PointedFolder, ancestors, folder_of, name_of, resolve, resolved};
use crate::manifest::{FileFacts, KUSTOMIZATIONS, ManifestTool, SkipReason, Use, is_kustomization};

/// The statements of the neighbours about every file.
#[derive(Clone, Debug, Default)]
pub struct Neighbourhood {
    /// Uses of a file by neighbours in its folder and above it, and every use that applies it.
    uses: HashMap<String, NamedUses>,
    /// All other uses of a file. kustomize reads such files only if `--load-restrictor` allows it.
    uses_from_elsewhere: HashMap<String, NamedUses>,
    /// Folders with a file of a test tool.
    tested: HashSet<String>,
    /// Folders with a file of a tool that reads the files beside it: a kustomization, a test.
    configured: HashSet<String>,
    /// Folders with a manifest that no neighbour names.
    applied: HashSet<String>,
    /// Folders that delivery objects point at, and whether those below are included.
    delivered: HashMap<String, bool>,
    /// Files with an assertion document.
    asserting: HashSet<String>,
    /// Files with a part of an object.
    partial: HashSet<String>,
    /// Files with a directive of a strategic merge patch.
    directives: HashSet<String>,
    /// Folders with a kustomization, in order.
    kustomizations: Vec<String>,
    /// The folders in `kustomizations` as a set, for lookups.
    governed: HashSet<String>,
}

/// Each way in which a file is used, and the number of times.
type NamedUses = Vec<(Use, usize)>;

impl Neighbourhood {
    /// Combines the facts about all files, by reported path. `pointers` come from all delivery
    /// objects.
    pub fn of<'a>(
        files: impl IntoIterator<Item = (&'a str, &'a FileFacts)>,
        pointers: impl IntoIterator<Item = PointedFolder>,
    ) -> Self {
        let files: Vec<(Cow<'_, str>, &FileFacts)> = files
            .into_iter()
            .map(|(path, facts)| (resolved(path), facts))
            .collect();
        let mut all = Self::default();
        // Pointers at a root are ignored: they may point at the root of another repository.
        let pointers = pointers.into_iter();
        for pointer in pointers.filter(|pointer| !pointer.folder.is_empty()) {
            *all.delivered.entry(pointer.folder).or_default() |= pointer.recursive;
        }
        for (path, facts) in &files {
            all.note(path, facts);
        }
        for (path, facts) in &files {
            let is_named =
                all.uses.contains_key(&**path) || all.uses_from_elsewhere.contains_key(&**path);
            if facts.has_manifest && !is_named && step_of(path).is_none() {
                all.applied.insert(folder_of(path).to_owned());
            }
        }
        all.spread(&files);
        all
    }

    fn note(&mut self, path: &str, facts: &FileFacts) {
        let folder = folder_of(path);
        for mention in &facts.mentions {
            self.record_use(folder, resolve(folder, &mention.path), mention.used.clone());
        }
        self.tested
            .extend(facts.tested.iter().map(|tested| resolve(folder, tested)));
        if facts.is_kustomization {
            self.kustomizations.push(folder.to_owned());
            self.governed.insert(folder.to_owned());
        }
        if facts.is_kustomization || !facts.tested.is_empty() {
            self.configured.insert(folder.to_owned());
        }
        if facts.has_directive {
            self.directives.insert(path.to_owned());
        }
        if facts.has_test_assert {
            self.asserting.insert(path.to_owned());
        }
        if facts.has_partial_object {
            self.partial.insert(path.to_owned());
        }
    }

    /// Records that a file in `folder` names another.
    fn record_use(&mut self, folder: &str, file: String, used: Use) {
        let is_below = ancestors(folder_of(&file)).any(|above| above == folder);
        let uses = match used {
            Use::NotApplied(_) if !is_below => &mut self.uses_from_elsewhere,
            _ => &mut self.uses,
        };
        let uses = uses.entry(file).or_default();
        match uses.iter_mut().find(|(other, _)| *other == used) {
            Some((_, count)) => *count += 1,
            None => uses.push((used, 1)),
        }
    }

    fn is_named_as_applied(&self, path: &str) -> bool {
        self.is_used(path, |used| matches!(used, Use::Applied(_)))
    }

    fn is_used(&self, path: &str, is_wanted: impl Fn(&Use) -> bool) -> bool {
        let mut uses = self.uses.get(path).into_iter().flatten();
        uses.any(|(used, count)| *count > 0 && is_wanted(used))
    }

    /// Propagates the use of a folder to the resources of its kustomization: if the folder is used as a transformer,
    /// the resources are transformers.
    fn spread(&mut self, files: &[(Cow<'_, str>, &FileFacts)]) {
        let kustomizations = files.iter().filter(|(path, _)| is_kustomization(path));
        let facts: HashMap<&str, &FileFacts> = kustomizations
            .map(|(path, facts)| (&**path, *facts))
            .collect();
        let named = self.uses.iter().chain(&self.uses_from_elsewhere);
        let named =
            named.filter(|(path, _)| !self.is_named_as_applied(path) && !self.is_pointed_at(path));
        let named = named.filter_map(|(path, uses)| {
            let mut uses = uses.iter().map(|(used, _)| used);
            let not_applied = uses.find(|used| matches!(used, Use::NotApplied(_)))?;
            Some((path.clone(), not_applied.clone()))
        });
        let mut pending: Vec<(String, Use)> = named.collect();
        pending.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut seen = HashSet::default();
        while let Some((folder, used)) = pending.pop() {
            let facts = KUSTOMIZATIONS
                .iter()
                .find_map(|name| facts.get(&*resolve(&folder, name)));
            let Some(facts) = facts.filter(|_| seen.insert(folder.clone())) else {
                continue;
            };
            let mentions = facts.mentions.iter();
            for mention in mentions.filter(|mention| matches!(mention.used, Use::Applied(_))) {
                let path = resolve(&folder, &mention.path);
                // Withdraws the statement of this kustomization about the file; those of others remain.
                let uses = self.uses.get_mut(&path).into_iter().flatten();
                if let Some((_, count)) = uses.into_iter().find(|(other, _)| *other == mention.used)
                {
                    *count = count.saturating_sub(1);
                }
                self.record_use(&folder, path.clone(), used.clone());
                if !self.is_named_as_applied(&path) {
                    pending.push((path, used.clone()));
                }
            }
        }
    }

    /// Returns why no object of the file at `path` is to be applied, according to its neighbours.
    pub fn skip_reason(&self, path: &str) -> Option<SkipReason> {
        let path = &*resolved(path);
        let governed = self.is_governed(path);
        let reason = self.other_uses(path, governed).min().cloned().or_else(|| {
            self.is_assertion(path)
                .then_some(SkipReason::Assertion(ManifestTool::Kuttl))
        })?;
        let folder = folder_of(path);
        let is_assertion = matches!(reason, SkipReason::Assertion(_));
        let is_applied =
            is_assertion && self.applied.contains(folder) && !self.configured.contains(folder);
        (!is_applied && !self.is_reached(path)).then_some(reason)
    }

    /// Whether objects in the file at `path` that contain a directive of a strategic merge patch
    /// are patches.
    pub fn has_patches(&self, path: &str) -> bool {
        let path = &*resolved(path);
        if !self.directives.contains(path) {
            return false;
        }
        let is_used = self.is_governed(path) || self.other_uses(path, true).next().is_some();
        is_used && !self.is_reached(path)
    }

    /// Returns why neighbours use the file without applying it. `elsewhere` includes neighbours in other folders.
    fn other_uses(&self, path: &str, elsewhere: bool) -> impl Iterator<Item = &SkipReason> {
        let elsewhere = self.uses_from_elsewhere.get(path).filter(|_| elsewhere);
        let uses = self.uses.get(path).into_iter().chain(elsewhere).flatten();
        uses.filter_map(|(used, _)| match used {
            Use::NotApplied(reason) => Some(reason),
            Use::Applied(_) => None,
        })
    }

    /// Whether a neighbour applies the file at `path`, or a delivery object applies its folder.
    pub(super) fn is_applied(&self, path: &str) -> bool {
        self.is_reached(&resolved(path))
    }

    /// Whether a neighbour applies the file, or a delivery object applies its folder.
    fn is_reached(&self, path: &str) -> bool {
        self.is_named_as_applied(path) || self.is_delivered(folder_of(path))
    }

    /// Whether there is a kustomization at or above the folder of a file.
    fn is_governed(&self, path: &str) -> bool {
        ancestors(folder_of(path)).any(|folder| self.governed.contains(folder))
    }

    /// Whether a delivery object applies the files of a folder as they are, without a kustomization at or above it.
    fn is_delivered(&self, folder: &str) -> bool {
        let mut plain = ancestors(folder).take_while(|above| !self.governed.contains(*above));
        !self.delivered.is_empty()
            && plain.any(|above| {
                self.pointers_at(above)
                    .any(|with_those_below| with_those_below || above == folder)
            })
    }

    fn is_pointed_at(&self, folder: &str) -> bool {
        self.pointers_at(folder).next().is_some()
    }

    /// Returns, for each delivery object that may point at a folder, whether it includes the folders below. The object
    /// names the folder from the root of its repository, which may be any folder above.
    fn pointers_at(&self, folder: &str) -> impl Iterator<Item = bool> {
        let below_roots = folder
            .match_indices('/')
            .map(|(slash, _)| &folder[slash + 1..]);
        std::iter::once(folder)
            .chain(below_roots)
            .filter_map(|named| self.delivered.get(named).copied())
    }

    /// Whether a kustomization applies the file, and so may rewrite its objects.
    pub fn is_kustomized(&self, path: &str) -> bool {
        let by_kustomize = Use::Applied(ManifestTool::Kustomize);
        self.is_used(&resolved(path), |used| *used == by_kustomize)
    }

    /// Returns the folders with a kustomization, in path order.
    pub fn kustomizations(&self) -> &[String] {
        &self.kustomizations
    }

    /// Whether the file contains assertions of a test. kuttl and chainsaw recognise them by the file name. A file
    /// `01-errors.yaml` may also be a Deployment of error pages, so the name alone is not enough.
    fn is_assertion(&self, path: &str) -> bool {
        self.asserting.contains(path)
            || step_of(path) == Some(Step::Check)
                && (self.partial.contains(path) || self.is_tested(folder_of(path)))
    }

    /// Whether the folder, or one above it, contains a file of a test tool.
    fn is_tested(&self, folder: &str) -> bool {
        ancestors(folder).any(|above| self.tested.contains(above))
    }
}

/// The content of the file of a test step.
#[derive(PartialEq, Eq)]
enum Step {
    /// The checks of the step: `01-assert.yaml`, `01-errors.yaml`.
    Check,
    /// Anything else: `01-install.yaml`.
    Other,
}

/// Recognises the file of a test step by its name. kuttl: `^(?:\d+-)?([^-\.]+)(-[^\.]+)?(?:\.yaml)?$`
/// (kudobuilder/kuttl, pkg/test/step.go); chainsaw: `^(\d\d)-(.*)\.(?:yaml|yml)$` (kyverno/chainsaw, pkg/discovery).
fn step_of(path: &str) -> Option<Step> {
    let name = name_of(path);
    let stem = name.strip_suffix(".yaml").or(name.strip_suffix(".yml"))?;
    let (number, rest) = stem.split_once('-')?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let word = rest.split('-').next().unwrap_or(rest).to_ascii_lowercase();
    Some(match word.as_str() {
        "assert" | "error" | "errors" => Step::Check,
        _ => Step::Other,
    })
}
