//! Kustomizations that others include: each is built once for all that include it.

use std::sync::Arc;

use super::budget::Taken;
use super::build::{Build, Built, Outcome};
use super::doc::KustomizationDoc;
use super::memo::{Record, Tolerance};
use crate::graph::unread::What;

/// The build of a kustomization that others include.
pub(super) struct Part {
    pub(super) built: Built,
    /// Everything that determines the build.
    pub(super) record: Record,
    taken: Taken,
    /// The number of levels of kustomizations in it.
    pub(super) levels: usize,
}

impl Build<'_> {
    /// Returns the build of a kustomization that another one includes, which is built once for all that include it.
    pub(super) fn part(
        &self,
        doc: &KustomizationDoc,
        on_the_way: &mut Vec<String>,
    ) -> Outcome<Arc<Part>> {
        let around = on_the_way.len();
        let known = self.builds.part(self.files.tolerance, &doc.folder);
        let known = known.filter(|known| {
            let includes = |folder: &String| known.built.reached.contains(folder);
            around + known.levels <= self.budget.nesting + 1 && !on_the_way.iter().any(includes)
        });
        if let Some(known) = known.filter(|known| self.budget.repeat(&known.taken)) {
            self.files.include(&known, around);
            return Ok(known);
        }
        let files = self.files.of_part();
        // The file was read for the including build; the part depends on it, too.
        files.has_file(&doc.file);
        let mut built = Built::default();
        let (outcome, taken) = self.budget.recorded(|| {
            let build = Build {
                files: &files,
                ..*self
            };
            build.accumulate(doc, &mut built, on_the_way)
        });
        if let Err(error) = outcome {
            self.files.include_failed(files);
            return Err(error);
        }
        let record = files.into_record();
        let part = Arc::new(Part {
            built,
            taken,
            levels: record.deepest - around,
            record,
        });
        self.files.include(&part, around);
        // If the nesting limit cut it short, it depends on the kustomizations around it.
        let is_whole = part.built.unread.iter().all(|one| one.what != What::Limit);
        if is_whole && self.files.tolerance != Tolerance::Whatever {
            self.builds.keep(self.files.tolerance, &doc.folder, &part);
        }
        Ok(part)
    }
}
