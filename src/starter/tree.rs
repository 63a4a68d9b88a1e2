//! The input of `init`: the files of a tree, each with its objects, tools and mentioned files.

/// The files of a tree, sorted by path. Paths start at the folder of the configuration and have forward slashes.
#[derive(Clone, Debug, Default)]
pub(super) struct FileTree {
    pub(super) files: Vec<TreeFile>,
}

/// One file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TreeFile {
    pub(super) path: String,
    /// The keys of its objects.
    pub(super) objects: Vec<String>,
    /// The names of the custom resource definitions among them.
    pub(super) definitions: Vec<String>,
    /// Folders of tests that it mentions.
    pub(super) tests: Vec<String>,
    /// Whether it describes a chart that can be installed.
    pub(super) is_chart: bool,
}

impl FileTree {
    /// The place of the file at `path`.
    pub(super) fn file(&self, path: &str) -> Option<usize> {
        self.files
            .binary_search_by(|file| file.path.as_str().cmp(path))
            .ok()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A tree of files with the keys of their objects, by words.
    pub(in super::super) fn tree(files: &[(&str, &str)]) -> FileTree {
        let mut files: Vec<_> = files
            .iter()
            .map(|(path, objects)| TreeFile {
                path: (*path).to_owned(),
                objects: objects.split_whitespace().map(str::to_owned).collect(),
                ..TreeFile::default()
            })
            .collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        FileTree { files }
    }
}
