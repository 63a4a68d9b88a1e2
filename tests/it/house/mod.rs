//! The table of rooms in CONTRIBUTING.md is the truth: a room imports only rooms above it, every room is in the table, and
//! the files of a room do not import each other in a circle.

pub(crate) mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

use walkdir::WalkDir;

use self::source::{Modules, Target};
use crate::support::root;

/// The rooms in the order of the table.
fn rooms(contributing: &str) -> Vec<String> {
    let cells = contributing
        .lines()
        .filter_map(|line| line.strip_prefix("| `src/")?.split_once("/` |"));
    cells.map(|(room, _)| room.to_owned()).collect()
}

/// The room of a file below `src/`; files at the crate's root stand above all rooms.
fn room(file: &str) -> Option<&str> {
    file.split_once('/').map(|(room, _)| room)
}

/// What is wrong with the sources in `src`, one sentence each.
fn complaints(src: &Path, contributing: &str) -> Vec<String> {
    let rooms = rooms(contributing);
    let modules = Modules::read(src);
    let mut complaints = BTreeSet::new();
    let mut imports: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (path, module) in modules.iter() {
        let Some(from) = room(&module.file) else {
            continue;
        };
        let Some(place) = rooms.iter().position(|room| room == from) else {
            complaints.insert(format!("`src/{from}/` is missing from the table of rooms"));
            continue;
        };
        for reference in modules.references(path, module) {
            let file = modules.file(&reference.target);
            let above =
                room(file).is_some_and(|room| rooms[..place].iter().any(|above| above == room));
            let inside = room(file) == Some(from);
            if !above && !inside {
                complaints.insert(format!(
                    "{} imports {file}: `{}`",
                    module.file, reference.path
                ));
            }
            if inside
                && file != module.file
                && !reference.re_export
                && matches!(reference.target, Target::Item(_))
            {
                imports.entry(&module.file).or_default().insert(file);
            }
        }
    }
    let missing = rooms.iter().filter(|room| !src.join(room).is_dir());
    complaints.extend(
        missing.map(|room| format!("`src/{room}/` is in the table of rooms and does not exist")),
    );
    complaints.extend(
        circles(&imports)
            .into_iter()
            .map(|files| format!("in a circle: {}", files.join(", "))),
    );
    complaints.into_iter().collect()
}

/// The groups of files that all reach each other.
fn circles<'a>(imports: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> BTreeSet<Vec<&'a str>> {
    let reached = |start: &'a str| {
        let mut reached = BTreeSet::new();
        let mut pending = vec![start];
        while let Some(file) = pending.pop() {
            let next = imports.get(file).into_iter().flatten();
            pending.extend(next.filter(|&&file| reached.insert(file)));
        }
        reached
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        imports.keys().map(|&file| (file, reached(file))).collect();
    let circle = |file: &&'a str| {
        let both = reached[file]
            .iter()
            .filter(|other| reached.get(*other).is_some_and(|back| back.contains(file)));
        both.copied().collect::<Vec<_>>()
    };
    imports
        .keys()
        .map(circle)
        .filter(|circle| !circle.is_empty())
        .collect()
}

/// What is wrong with our own sources.
fn our_complaints() -> &'static [String] {
    static OURS: LazyLock<Vec<String>> =
        LazyLock::new(|| complaints(&root().join("src"), &contributing()));
    &OURS
}

fn contributing() -> String {
    std::fs::read_to_string(root().join("CONTRIBUTING.md")).expect("the table")
}

#[test]
fn rooms_import_only_what_stands_above_them_and_files_nothing_in_a_circle() {
    assert_eq!(our_complaints(), [""; 0]);
}

/// A copy of our own sources.
struct Copy {
    folder: tempfile::TempDir,
}

impl Copy {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for entry in WalkDir::new(root().join("src"))
            .into_iter()
            .map(|entry| entry.expect("our own files"))
        {
            let copy = folder
                .path()
                .join(entry.path().strip_prefix(root()).expect("a file of ours"));
            if entry.file_type().is_dir() {
                std::fs::create_dir(copy).expect("a folder");
            } else {
                std::fs::copy(entry.path(), copy).expect("a file");
            }
        }
        Self { folder }
    }

    fn append(&self, file: &str, text: &str) {
        let file = self.folder.path().join("src").join(file);
        let old = std::fs::read_to_string(&file).expect("a file of ours");
        std::fs::write(file, old + text).expect("a file");
    }

    /// What is wrong with the copy that is not wrong with the original.
    fn complaints(&self) -> Vec<String> {
        let mut found = complaints(&self.folder.path().join("src"), &contributing());
        found.retain(|complaint| !our_complaints().contains(complaint));
        found
    }
}

#[test]
fn an_import_against_the_table_is_found() {
    let copy = Copy::new();
    copy.append("text/span.rs", "use crate::report::Report;\n");
    let complaints = copy.complaints();
    let [complaint] = complaints.as_slice() else {
        panic!("{complaints:?}")
    };
    assert!(
        complaint.starts_with("text/span.rs imports report/"),
        "{complaint}"
    );
}

#[test]
fn a_circle_between_two_files_is_found() {
    let copy = Copy::new();
    copy.append(
        "text/masked.rs",
        "fn length(file: &super::SourceFile) -> u32 { file.len() }\n",
    );
    assert_eq!(
        copy.complaints(),
        ["in a circle: text/file.rs, text/masked.rs"]
    );
}

/// What is wrong with a crate of two rooms, `attic` above `hall`.
fn of_two_rooms(files: &[(&str, &str)]) -> Vec<String> {
    of_rooms(files, "| `src/attic/` | |\n| `src/hall/` | |\n")
}

fn of_rooms(files: &[(&str, &str)], table: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    for (file, text) in [
        ("lib.rs", "mod attic; mod hall;"),
        ("attic/mod.rs", ""),
        ("hall/mod.rs", ""),
    ]
    .iter()
    .chain(files)
    {
        let file = folder.path().join(file);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, text).expect("a file");
    }
    complaints(folder.path(), table)
}

#[test]
fn imports_are_found_wherever_they_stand() {
    let hall = (
        "hall/mod.rs",
        "pub(crate) mod floor; pub(crate) struct Carpet; pub(crate) fn sweep() {}",
    );
    let floor = ("hall/floor.rs", "pub(crate) struct Plank;");
    for (text, path) in [
        ("use crate::hall::Carpet;", "crate::hall::Carpet"),
        (
            "pub(crate) use crate::{hall::{Carpet as Rug}};",
            "crate::hall::Carpet",
        ),
        ("fn f() { crate::hall::sweep() }", "crate::hall::sweep"),
        ("fn f() { super::hall::sweep() }", "super::hall::sweep"),
        (
            "fn f() { println!(\"{:?}\", (1, crate::hall::sweep())) }",
            "crate::hall::sweep",
        ),
        (
            "type T = Vec<Option<crate::hall::Carpet>>;",
            "crate::hall::Carpet",
        ),
        (
            "mod tests { fn f() { super::super::hall::sweep() } }",
            "super::super::hall::sweep",
        ),
        ("use crate::hall::*;", "crate::hall"),
    ] {
        let complaints = of_two_rooms(&[hall, floor, ("attic/mod.rs", text)]);
        assert_eq!(
            complaints,
            [format!("attic/mod.rs imports hall/mod.rs: `{path}`")],
            "{text}"
        );
    }
    let complaints = of_two_rooms(&[
        hall,
        floor,
        ("attic/mod.rs", "use crate::hall; use hall::floor::Plank;"),
    ]);
    assert!(
        complaints.contains(&"attic/mod.rs imports hall/floor.rs: `hall::floor::Plank`".to_owned()),
        "{complaints:?}"
    );
}

#[test]
fn a_re_export_is_no_import_and_leads_to_where_a_thing_is_defined() {
    let files = [
        ("hall/floor.rs", "pub struct Plank;"),
        (
            "hall/table.rs",
            "use super::Plank; pub struct Table(Plank);",
        ),
    ];
    // `mod.rs` hands both on and uses neither: no circle.
    assert_eq!(
        of_two_rooms(
            &[
                &files[..],
                &[(
                    "hall/mod.rs",
                    "mod floor; mod table; pub use floor::Plank; pub use table::*;"
                )]
            ]
            .concat()
        ),
        [""; 0]
    );
    // It defines what `table.rs` uses, and uses `Table`: a circle, whatever way the names come in.
    for used in [
        "pub struct Plank; use table::Table; fn f(_: Table) {}",
        "pub struct Plank; pub use table::Table; fn f(_: Table) {}",
        "pub struct Plank; pub use table::*; fn f(_: Table) {}",
        "pub struct Plank; fn f(_: table::Table) {}",
    ] {
        let text = format!("mod table; {used}");
        let complaints = of_two_rooms(&[files[1], ("hall/mod.rs", &text)]);
        assert_eq!(
            complaints,
            ["in a circle: hall/mod.rs, hall/table.rs"],
            "{used}"
        );
    }
}

#[test]
fn rooms_and_rows_of_the_table_are_the_same() {
    let complaints = of_two_rooms(&[("lib.rs", "mod attic; mod cellar;"), ("cellar/mod.rs", "")]);
    assert_eq!(
        complaints,
        ["`src/cellar/` is missing from the table of rooms"]
    );
    let complaints = of_rooms(
        &[],
        "| `src/attic/` | |\n| `src/hall/` | |\n| `src/tower/` | |\n",
    );
    assert_eq!(
        complaints,
        ["`src/tower/` is in the table of rooms and does not exist"]
    );
}
