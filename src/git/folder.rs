//! Recognises `.git`, the folder of git's own files, by name.

use std::ffi::OsStr;
use std::path::Path;

/// Whether some file system takes a name for `.git`, as in git's `verify_path`: HFS+ ignores case
/// and zero-width characters, NTFS ignores dots and blanks at the end and has a short name.
pub fn is_git_folder(name: impl AsRef<OsStr>) -> bool {
    let name = name.as_ref();
    // A quick test first: this runs for every part of every path.
    if !matches!(
        name.as_encoded_bytes().first(),
        Some(b'.' | b'g' | b'G' | 0x80..)
    ) {
        return false;
    }
    let seen: String = name.to_string_lossy().chars().filter(|c| !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')).collect();
    let seen = seen
        .split(':')
        .next()
        .unwrap_or_default()
        .trim_end_matches(['.', ' ']);
    seen.eq_ignore_ascii_case(".git") || seen.eq_ignore_ascii_case("git~1")
}

/// Whether a path leads through git's own folder.
pub fn in_git_folder(path: &Path) -> bool {
    path.iter().any(is_git_folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternative_spellings_of_git_folder_are_recognised() {
        for name in [
            ".git",
            ".GIT",
            ".git.",
            ".Git ",
            ".g\u{200c}it",
            "git~1",
            ".git::$INDEX_ALLOCATION",
        ] {
            assert!(is_git_folder(name), "{name}");
        }
        for name in [".github", ".gitignore", "git", "", "x.git", ".gitea"] {
            assert!(!is_git_folder(name), "{name}");
        }
        assert!(
            in_git_folder(Path::new("a/.git/hooks")) && !in_git_folder(Path::new("a/git/.github"))
        );
    }
}
