//! Paths in the form that other programs expect: from the root of the repository, or as URIs.
//!
//! Paths are handled as text with forward slashes; the file system is never accessed.

use super::options::{Published, Roots};

impl Published {
    /// Returns the URL of a line of a file, as the parts before and after the line number.
    pub(super) fn address(&self, path: &str) -> (String, String) {
        let path = encode(path);
        if !self.url.contains("{path}") {
            return (
                format!("{}/{path}#L", self.url.trim_end_matches('/')),
                String::new(),
            );
        }
        let address = self.url.replace("{path}", &path);
        match address.split_once("{line}") {
            Some((before, after)) => (before.to_owned(), after.to_owned()),
            // A URL without `{line}` leads to the file: the line number becomes a fragment.
            None => (format!("{address}#"), String::new()),
        }
    }
}

/// Returns `path` from the root of the repository, without `.` and `..`; outside of it, the reported path.
pub(super) fn from_root(path: &str, roots: &Roots) -> String {
    let Some(root) = &roots.repository_root else {
        return normal(path);
    };
    let absolute = absolute(path, roots);
    let root = normal(root);
    match absolute
        .strip_prefix(root.trim_end_matches('/'))
        .and_then(|rest| rest.strip_prefix('/'))
    {
        Some(inside) if !inside.is_empty() => inside.to_owned(),
        _ => normal(path),
    }
}

/// Returns a reference to `path` for formats that resolve it against the root of the repository: percent-encoded, and a
/// `file:` URI for an absolute path outside.
pub(super) fn uri_from_root(path: &str, roots: &Roots) -> String {
    let path = from_root(path, roots);
    if is_absolute(&path) {
        return file_uri(&path);
    }
    let encoded = encode(&path);
    // A colon before the first slash would end a scheme, but it is percent-encoded already.
    if encoded.is_empty() {
        ".".to_owned()
    } else {
        encoded
    }
}

/// Returns the `file:` URI of `path`; a relative reference if the working directory is unknown.
pub fn absolute_uri(path: &str, roots: &Roots) -> String {
    let absolute = absolute(path, roots);
    match path {
        "-" => "untitled:stdin".to_owned(),
        _ if is_absolute(&absolute) => file_uri(&absolute),
        _ => encode(&absolute),
    }
}

/// Whether `path` leads to the file at the absolute path `file`.
pub(super) fn is_at(path: &str, file: &str, roots: &Roots) -> bool {
    path == file || !is_absolute(path) && absolute(path, roots) == file
}

fn absolute(path: &str, roots: &Roots) -> String {
    match &roots.working_directory {
        Some(directory) if !is_absolute(path) => normal(&format!("{directory}/{path}")),
        _ => normal(path),
    }
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || has_drive(path)
}

fn has_drive(path: &str) -> bool {
    let bytes = path.as_bytes();
    matches!(bytes, [letter, b':', b'/', ..] if letter.is_ascii_alphabetic())
}

/// Returns the `file:` URI of an absolute path.
pub fn file_uri(path: &str) -> String {
    if has_drive(path) {
        format!("file:///{}:{}", &path[..1], encode(&path[2..]))
    } else {
        format!("file://{}", encode(path))
    }
}

/// Returns `path` without empty and `.` segments, and with `..` resolved where possible.
fn normal(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if kept.last().is_some_and(|&last| last != "..") => {
                kept.pop();
            }
            // The root has no parent.
            ".." if path.starts_with('/') => {}
            _ => kept.push(segment),
        }
    }
    let joined = kept.join("/");
    if path.starts_with('/') {
        format!("/{joined}")
    } else {
        joined
    }
}

/// Percent-encodes all but the unreserved characters of RFC 3986 and the slash.
pub(super) fn encode(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roots(working_directory: &str) -> Roots {
        Roots {
            working_directory: Some(working_directory.to_owned()),
            repository_root: Some("/home/me/repo".to_owned()),
        }
    }

    #[test]
    fn paths_are_relative_to_the_repository_root() {
        let below = roots("/home/me/repo/deploy");
        assert_eq!(from_root("./a.yaml", &below), "deploy/a.yaml");
        assert_eq!(from_root("../b/../c.yaml", &below), "c.yaml");
        assert_eq!(from_root("/home/me/repo/x.yaml", &below), "x.yaml");
        assert_eq!(
            from_root("/home/me/repository/x.yaml", &below),
            "/home/me/repository/x.yaml"
        );
        assert_eq!(from_root("./a//b.yaml", &Roots::default()), "a/b.yaml");
    }

    #[test]
    fn uris_are_percent_encoded() {
        let root = roots("/home/me/repo");
        assert_eq!(
            uri_from_root("a b/ü#?%:x.yaml", &root),
            "a%20b/%C3%BC%23%3F%25%3Ax.yaml"
        );
        assert_eq!(uri_from_root("/etc/x.yaml", &root), "file:///etc/x.yaml");
        assert_eq!(
            absolute_uri("a b.yaml", &root),
            "file:///home/me/repo/a%20b.yaml"
        );
        assert_eq!(absolute_uri("C:/x.yaml", &root), "file:///C:/x.yaml");
        assert_eq!(absolute_uri("-", &root), "untitled:stdin");
    }
}
