//! The files that Flux builds from a folder: its kustomization, or one that Flux generates (fluxcd/pkg
//! kustomize/kustomize_generator.go).

use std::sync::Arc;

use crate::graph::files::{TreeFiles, is_manifest};
use crate::graph::kustomize::{BuildError, KustomizationDoc, kustomization, objects_of};
use crate::graph::node::Node;
use crate::kustomize::{IgnoredFiles, ancestors, folder_of};

/// Patterns that a source leaves out by default (fluxcd/pkg sourceignore, `ExcludeCI` and `ExcludeExt`).
const DEFAULT: &str = ".github/\n.circleci/\n.travis.yml\n.gitlab-ci.yml\nappveyor.yml\n.drone.yml\n.cloudbuild.yaml\n\
                       codeship-services.yml\ncodeship-steps.yml\n*.jpg\n*.jpeg\n*.gif\n*.png\n*.wmv\n*.flv\n*.tar.gz\n*.zip\n";

/// The files of a tree that a source of Flux contains.
pub(super) struct SourceFiles {
    /// The patterns that leave files out.
    pub(super) patterns: String,
    ignored: IgnoredFiles,
}

impl SourceFiles {
    /// Creates it from `ignore` of a source or the defaults, and the `.sourceignore` of the tree.
    pub(super) fn new(files: &TreeFiles<'_>, ignore: Option<&str>) -> Self {
        let mut patterns = ignore.unwrap_or(DEFAULT).to_owned();
        if let Ok(bytes) = files.bytes(".sourceignore") {
            patterns.push('\n');
            patterns.push_str(&String::from_utf8_lossy(&bytes));
        }
        Self {
            ignored: IgnoredFiles::read(&patterns),
            patterns,
        }
    }

    pub(super) fn has(&self, path: &str) -> bool {
        !self.ignored.contain(path)
    }
}

/// Returns the kustomization that Flux builds in a folder. Fails if the folder does not exist or,
/// unless `tolerates`, if it has YAML that is not a Kubernetes object.
pub(super) fn kustomization_of(
    files: &TreeFiles<'_>,
    source: &SourceFiles,
    folder: &str,
    by: &str,
    tolerates: bool,
) -> Result<KustomizationDoc, BuildError> {
    if files.has_file(folder) || !files.has_folder(folder) {
        let reason = format!("the path {folder} does not exist");
        return Err(BuildError::new(reason, by, 1));
    }
    if files.kustomization_of(folder).is_some() {
        return kustomization(files, folder);
    }
    let mut resources = Vec::new();
    let mut last_folder = String::new();
    // Artifacts contain no links (fluxcd/pkg artifact/storage/archive.go).
    let below = files.below(folder);
    for path in below.filter(|path| source.has(path) && !files.is_link(path)) {
        let outermost = ancestors(folder_of(path))
            .take_while(|above| above.len() > folder.len())
            .filter(|above| files.kustomization_of(above).is_some())
            .last();
        if let Some(outermost) = outermost {
            if last_folder != outermost {
                outermost.clone_into(&mut last_folder);
                resources.push(outermost.to_owned());
            }
            continue;
        }
        if !is_manifest(path) {
            continue;
        }
        if !tolerates {
            objects_of(&files.parsed(path), path)?;
        }
        resources.push(path.to_owned());
    }
    let mut node = Node::empty_map();
    let below = resources
        .iter()
        .map(|path| Node::text(path[folder.len()..].trim_start_matches('/')));
    node.set("resources", Node::Seq(Arc::new(below.collect())));
    Ok(KustomizationDoc {
        folder: folder.to_owned(),
        file: by.to_owned(),
        node,
    })
}
