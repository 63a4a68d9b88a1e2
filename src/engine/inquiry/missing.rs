//! Paths in a file that lead to nothing. They are no findings, because the next change may add what they name.

use std::path::Path;

use super::Inquiry;
use crate::engine::notes::dangling_entries;
use crate::ownership::DeliveryKind;
use crate::text::Span;

impl Inquiry<'_> {
    /// Returns the paths in the file at `path` that do not exist, with the consequence of each: entries of a kustomization,
    /// and the folder of a Kustomization of Flux that delivers from this repository.
    pub fn missing_paths(&self, path: &str) -> Vec<(Span, String)> {
        let Some(&(at, id)) = self.files.get(path) else {
            return Vec::new();
        };
        let asked = &self.bundles[at];
        let inventory = &asked.bundle.inventory;
        let file = inventory.files().find(|(other, _)| *other == id);
        let entries = file.map(|(_, file)| dangling_entries(file, path));
        let entries = entries.into_iter().flatten().map(|(span, written)| {
            let message =
                format!("`{written}` does not exist, so kustomize builds nothing of this folder");
            (span, message)
        });
        let mut missing: Vec<_> = entries.collect();
        for (at, object) in asked.analysis.delivery_objects().iter().enumerate() {
            let is_here = inventory.member(object.id).file == id;
            if !is_here || object.kind != DeliveryKind::Kustomization {
                continue;
            }
            let mut deliveries = asked.analysis.reach().deliveries(at);
            let failing = deliveries.find_map(|delivered| delivered.failing_folder());
            if let (Some(folder), [source]) = (failing, &object.sources[..])
                && !Path::new(&folder).exists()
            {
                let message =
                    "this folder does not exist in the repository, so Flux applies nothing of it";
                missing.push((source.span, message.to_owned()));
            }
        }
        missing
    }
}
