//! What the files of an input say about each other: a kustomization names its patches, a test its assertions. A
//! neighbour that applies a file outweighs all others.

use std::borrow::Cow;

use foldhash::{HashMap, HashSet};

use crate::kustomize::{folder_of, name_of, resolve, resolved};
use crate::manifest::{FileFacts, KUSTOMIZATIONS, ManifestTool, SkipReason, Use, is_kustomization};

/// What the neighbours of every file say about it.
#[derive(Clone, Debug, Default)]
pub struct Neighbourhood {
    /// How the files of a path are used.
    uses: HashMap<String, Vec<Use>>,
    /// Folders with a file of a test tool.
    tested: HashSet<String>,
    /// Folder → the numbers of the steps that apply something, as they are written: `00`.
    steps: HashMap<String, HashSet<String>>,
    /// Folders with a file like `00-assert.yaml`.
    asserting: HashSet<String>,
    /// Files that assert by a document of their own, or contain a part of an object.
    hints: HashMap<String, Hints>,
    /// Folders with a kustomization, in order.
    kustomizations: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Hints {
    asserts: bool,
    partial: bool,
}

impl Neighbourhood {
    /// Puts together what the files say. Paths are the reported ones.
    pub fn of<'a>(files: impl IntoIterator<Item = (&'a str, &'a FileFacts)>) -> Self {
        let files: Vec<(Cow<'_, str>, &FileFacts)> =
            files.into_iter().map(|(path, facts)| (resolved(path), facts)).collect();
        let mut all = Self::default();
        for (path, facts) in &files {
            all.note(path, facts);
        }
        all.spread(&files);
        all
    }

    fn note(&mut self, path: &str, facts: &FileFacts) {
        let folder = folder_of(path);
        for mention in &facts.mentions {
            self.uses.entry(resolve(folder, &mention.path)).or_default().push(mention.used.clone());
        }
        self.tested.extend(facts.tested.iter().map(|tested| resolve(folder, tested)));
        if facts.is_kustomization {
            self.kustomizations.push(folder.to_owned());
        }
        match StepFile::of(path) {
            Some(StepFile { check: Some(StepCheck::Assert), .. }) => {
                self.asserting.insert(folder.to_owned());
            }
            Some(StepFile { number, check: None }) => {
                self.steps.entry(folder.to_owned()).or_default().insert(number.to_owned());
            }
            Some(StepFile { check: Some(StepCheck::Errors), .. }) | None => {}
        }
        let hints = Hints { asserts: facts.has_test_assert, partial: facts.has_partial_object };
        // Most files give none.
        if hints.asserts || hints.partial {
            self.hints.insert(path.to_owned(), hints);
        }
    }

    /// A folder of transformers is a kustomization itself: its resources are transformers, too.
    fn spread(&mut self, files: &[(Cow<'_, str>, &FileFacts)]) {
        let kustomizations = files.iter().filter(|(path, _)| is_kustomization(path));
        let facts: HashMap<&str, &FileFacts> = kustomizations.map(|(path, facts)| (&**path, *facts)).collect();
        let kustomization = |folder: &str| KUSTOMIZATIONS.iter().find_map(|name| facts.get(&*resolve(folder, name)));
        let not_applied = |uses: &Vec<Use>| uses.iter().find(|used| matches!(used, Use::Otherwise(_))).cloned();
        let named = self.uses.iter().filter_map(|(path, uses)| Some((path.clone(), not_applied(uses)?)));
        let mut pending: Vec<(String, Use)> = named.collect();
        pending.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut seen = HashSet::default();
        while let Some((folder, used)) = pending.pop() {
            let Some(facts) = kustomization(&folder).filter(|_| seen.insert(folder.clone())) else { continue };
            for mention in facts.mentions.iter().filter(|mention| matches!(mention.used, Use::Applied(_))) {
                let path = resolve(&folder, &mention.path);
                let uses = self.uses.entry(path.clone()).or_default();
                // What this kustomization said about the file, and nothing that others say.
                if let Some(said) = uses.iter_mut().find(|other| **other == mention.used) {
                    *said = used.clone();
                }
                pending.push((path, used.clone()));
            }
        }
    }

    /// Why no object of the file at `path` is to be applied, by what its neighbours say.
    pub fn skip_reason(&self, path: &str) -> Option<SkipReason> {
        let path = &*resolved(path);
        let uses = self.uses.get(path).map_or(&[][..], Vec::as_slice);
        if uses.iter().any(|used| matches!(used, Use::Applied(_))) {
            return None;
        }
        let named = uses.iter().filter_map(|used| match used {
            Use::Otherwise(reason) => Some(reason.clone()),
            Use::Applied(_) => None,
        });
        named.min().or_else(|| self.is_assertion(path).then_some(SkipReason::Assertion(ManifestTool::Kuttl)))
    }

    /// Whether kustomize rewrites the objects of the file before they are applied.
    pub fn is_kustomized(&self, path: &str) -> bool {
        self.uses.get(&*resolved(path)).is_some_and(|uses| uses.contains(&Use::Applied(ManifestTool::Kustomize)))
    }

    /// Folders with a kustomization, in path order.
    pub fn kustomizations(&self) -> &[String] {
        &self.kustomizations
    }

    /// kuttl and chainsaw recognise assertions by the name of their file; somebody's `01-errors.yaml` may be a
    /// Deployment of error pages, so a name alone is not enough.
    fn is_assertion(&self, path: &str) -> bool {
        let hints = self.hints.get(path).copied().unwrap_or_default();
        let Some(StepFile { number, check: Some(check) }) = StepFile::of(path) else { return hints.asserts };
        let folder = folder_of(path);
        let beside_a_step = match check {
            StepCheck::Assert => self.steps.get(folder).is_some_and(|steps| steps.contains(number)),
            StepCheck::Errors => self.asserting.contains(folder),
        };
        hints.asserts || hints.partial || beside_a_step || self.is_tested(folder)
    }

    /// Whether the folder, or one above it, contains a file of a test tool.
    fn is_tested(&self, folder: &str) -> bool {
        let mut folder = folder;
        loop {
            if self.tested.contains(folder) {
                return true;
            }
            if folder.is_empty() {
                return false;
            }
            folder = folder_of(folder);
        }
    }
}

/// A file of a test step, `01-install.yaml`, by its name.
struct StepFile<'a> {
    number: &'a str,
    check: Option<StepCheck>,
}

/// What a step checks: `01-assert.yaml`, `01-errors.yaml`.
#[derive(Clone, Copy)]
enum StepCheck {
    Assert,
    Errors,
}

impl<'a> StepFile<'a> {
    /// kuttl: `^(?:\d+-)?([^-\.]+)(-[^\.]+)?(?:\.yaml)?$` (kudobuilder/kuttl, pkg/test/step.go); chainsaw:
    /// `^(\d\d)-(.*)\.(?:yaml|yml)$` (kyverno/chainsaw, pkg/discovery).
    fn of(path: &'a str) -> Option<Self> {
        let name = name_of(path);
        let stem = name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml"))?;
        let (number, rest) = stem.split_once('-')?;
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let word = rest.split('-').next().unwrap_or(rest).to_ascii_lowercase();
        let check = match word.as_str() {
            "assert" => Some(StepCheck::Assert),
            "error" | "errors" => Some(StepCheck::Errors),
            _ => None,
        };
        Some(Self { number, check })
    }
}
