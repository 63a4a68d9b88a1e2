//! The places in clusters into which builds deliver the objects of files.

use foldhash::HashMap;

use super::Parsed;
use crate::changes::{Home, WrittenAs};
use crate::engine::compare::built::BuildRoot;
use crate::inventory::BuiltKeys;
use crate::kube::Namespace;
use crate::kustomize::Deliverer;

/// The builds of a state, by the files whose objects they deliver.
#[derive(Default)]
pub(in crate::engine::compare) struct Homes<'p> {
    written: HashMap<&'p str, Vec<(&'p BuildRoot, &'p BuiltKeys)>>,
    /// The ConfigMaps and Secrets that kustomizations generate, by the kustomization and the name in the generator.
    generated: HashMap<(&'p str, &'p str), Vec<Home>>,
}

impl<'p> Homes<'p> {
    pub(in crate::engine::compare) fn of(state: &'p Parsed) -> Self {
        let mut homes = Self::default();
        for root in &state.roots {
            for (file, built) in &root.files {
                let of_file = homes.written.entry(&*state.places[*file]).or_default();
                of_file.push((root, &**built));
            }
            for data in &root.data {
                let namespace = Some(data.id.namespace.to_string());
                let generator = (&*data.file, data.generator.as_str());
                let of_generator = homes.generated.entry(generator).or_default();
                of_generator.push(Home {
                    cluster: cluster_of(root),
                    namespace: namespace.filter(|namespace| !namespace.is_empty()),
                    name: data.id.name.to_string(),
                });
            }
        }
        homes
    }

    /// Returns where the object that is written in the file at `place`, or the objects of a generator in it, are
    /// delivered.
    pub(in crate::engine::compare) fn find(
        &self,
        place: &str,
        written: WrittenAs<'_>,
    ) -> Vec<Home> {
        let begins = match written {
            WrittenAs::Object(begins) => begins,
            WrittenAs::Generator(name) => {
                let generated = self.generated.get(&(place, name));
                return generated.cloned().unwrap_or_default();
            }
        };
        let built = self.written.get(place).into_iter().flatten();
        let found = built.filter_map(|(root, built)| {
            let built = built.of(begins)?;
            let namespace = match &built.namespace {
                Namespace::Named(name) => Some(name.to_string()),
                Namespace::None | Namespace::Unwritten => None,
            };
            Some(Home {
                cluster: cluster_of(root),
                namespace,
                name: built.name.to_string(),
            })
        });
        found.collect()
    }
}

fn cluster_of(root: &BuildRoot) -> String {
    let place = root.by.as_deref().map(Deliverer::place);
    place.map(|place| place.to_string()).unwrap_or_default()
}
