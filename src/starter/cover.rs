//! The shortest list of paths that includes exactly some files.

/// Returns the folders and files that include exactly those of `paths` for whose index `wanted` holds. `paths` are
/// sorted.
pub(super) fn cover(paths: &[&str], wanted: impl Fn(usize) -> bool) -> Vec<String> {
    let mut covering = Vec::new();
    let mut pending = vec![(0..paths.len(), 0)];
    while let Some((range, depth)) = pending.pop() {
        if !range.clone().any(&wanted) {
            continue;
        }
        let Some(first) = paths.get(range.start) else {
            continue;
        };
        if range.clone().all(&wanted) {
            let whole = first[..depth].trim_end_matches('/');
            covering.push(if whole.is_empty() {
                ".".to_owned()
            } else {
                whole.to_owned()
            });
            continue;
        }
        let mut start = range.start;
        while start < range.end {
            let part = part_end(paths[start], depth);
            let end = start
                + paths[start..range.end]
                    .iter()
                    .take_while(|path| path.get(..part) == paths[start].get(..part))
                    .count();
            pending.push((start..end, part));
            start = end;
        }
    }
    covering.sort();
    covering
}

/// Returns the end of the component of `path` that begins at `depth`, including its slash.
fn part_end(path: &str, depth: usize) -> usize {
    path[depth..]
        .find('/')
        .map_or(path.len(), |at| depth + at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covering(paths: &[&str], wanted: &[&str]) -> Vec<String> {
        cover(paths, |at| wanted.contains(&paths[at]))
    }

    #[test]
    fn cover_names_whole_folders_or_single_files() {
        let paths = [
            "a/b/x.yaml",
            "a/b/y.yaml",
            "a/c/x.yaml",
            "a/c/y.yaml",
            "d.yaml",
        ];
        assert_eq!(covering(&paths, &paths), ["."]);
        assert_eq!(covering(&paths, &paths[..4]), ["a"]);
        assert_eq!(covering(&paths, &paths[..3]), ["a/b", "a/c/x.yaml"]);
        assert_eq!(covering(&paths, &["d.yaml"]), ["d.yaml"]);
        assert_eq!(covering(&paths, &[]), [""; 0]);
    }

    #[test]
    fn cover_distinguishes_folders_with_a_common_prefix() {
        let paths = ["a-b/x.yaml", "a-b/y.yaml", "a/x.yaml", "a/y.yaml"];
        assert_eq!(covering(&paths, &paths[2..]), ["a"]);
        assert_eq!(covering(&paths, &paths[..2]), ["a-b"]);
    }
}
