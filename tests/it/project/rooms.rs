//! A room imports only rooms above it in the table of CONTRIBUTING.md.

use std::path::Path;

use regex::Regex;
use walkdir::WalkDir;

use crate::support::{page, root};

#[test]
fn modules_import_only_modules_listed_above_them() {
    let contributing = page("CONTRIBUTING.md");
    let row = |line: &'static str| Some(line.strip_prefix("| `src/")?.split_once("/` |")?.0);
    let rooms: Vec<&str> = contributing.leak().lines().filter_map(row).collect();
    let src = root().join("src");
    let mut folders: Vec<String> = std::fs::read_dir(&src)
        .expect("our sources")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    folders.sort_unstable();
    let mut sorted = rooms.clone();
    sorted.sort_unstable();
    assert_eq!(folders, sorted, "folders of src and rows of the table");

    let import = Regex::new(r"\bcrate::([a-z_]+)").expect("a pattern");
    let mut violations = Vec::new();
    let mut imports = 0;
    for (place, room) in rooms.iter().enumerate() {
        for file in WalkDir::new(src.join(room)) {
            let file = file.expect("our sources");
            if !file.file_type().is_file() {
                continue;
            }
            let text = std::fs::read_to_string(file.path()).expect("text");
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            let named = code.flat_map(|line| import.captures_iter(line));
            for name in named.filter_map(|found| found.get(1)) {
                imports += 1;
                let is_above = rooms[..=place].contains(&name.as_str());
                if rooms.contains(&name.as_str()) && !is_above {
                    violations.push(format!("{} imports {}", shown(file.path()), name.as_str()));
                }
            }
        }
    }
    assert!(imports > 1000, "imports are found: {imports}");
    assert_eq!(violations, [""; 0]);
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}
