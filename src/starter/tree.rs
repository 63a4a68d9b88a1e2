//! The input of `init`: the files of a tree, each with its objects and the test folders that its documents imply.

/// The files of a tree, sorted by path. Paths are relative to the folder of the configuration and have forward slashes.
#[derive(Clone, Debug, Default)]
pub(super) struct FileTree {
    pub(super) files: Vec<TreeFile>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TreeFile {
    pub(super) path: String,
    /// The keys of its objects.
    pub(super) objects: Vec<String>,
    /// The names of the custom resource definitions among them.
    pub(super) definitions: Vec<String>,
    /// The folders of tests that its kuttl and chainsaw documents imply.
    pub(super) tests: Vec<String>,
    /// Whether it describes a chart that can be installed.
    pub(super) is_chart: bool,
}

impl FileTree {
    /// Returns the position of the file at `path`.
    pub(super) fn file(&self, path: &str) -> Option<usize> {
        self.files
            .binary_search_by(|file| file.path.as_str().cmp(path))
            .ok()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Creates a tree of files, each with the keys of its objects separated by spaces.
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
