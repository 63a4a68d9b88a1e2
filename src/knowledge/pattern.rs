//! The patterns of the tables: finalizer names, kinds and images.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use globset::GlobSet;
use smol_str::SmolStr;

use super::written::written_as_text;
use crate::text::glob::glob;

/// A pattern in which `*` is any text without a slash. It is compiled on first use, because compiling is expensive and
/// a run needs few of the known patterns.
#[derive(Clone, Debug)]
pub(super) struct Wildcard {
    text: String,
    matcher: OnceLock<Option<GlobSet>>,
}

impl Wildcard {
    /// # Errors
    /// The text is not a valid glob, such as `[a`, or is too large.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wildcard = Self {
            text: text.to_owned(),
            matcher: OnceLock::new(),
        };
        // A pattern with no other special character than a star is always valid.
        if text.contains(['?', '[', ']', '{', '}', '\\']) {
            let compiled = wildcard.compile()?;
            wildcard.matcher.get_or_init(|| Some(compiled));
        }
        Ok(wildcard)
    }

    fn compile(&self) -> Result<GlobSet, String> {
        glob(&self.text)
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        let matcher = self.matcher.get_or_init(|| self.compile().ok());
        matcher
            .as_ref()
            .is_some_and(|matcher| matcher.is_match(text))
    }
}

/// The name of a finalizer with a `*` in it. Comparing its beginning and end first avoids most uses of the matcher.
#[derive(Clone, Debug)]
pub(super) struct WildName {
    start: String,
    end: String,
    pattern: Wildcard,
}

impl WildName {
    pub(super) fn parse(name: &str) -> Result<Self, String> {
        let start = name
            .split(['*', '?', '[', '{', '\\'])
            .next()
            .unwrap_or_default()
            .to_owned();
        let end = name
            .rsplit(['*', '?', ']', '}'])
            .next()
            // A backslash makes the next character a literal, and is none itself.
            .filter(|end| !end.contains('\\'))
            .unwrap_or_default()
            .to_owned();
        Ok(Self {
            start,
            end,
            pattern: Wildcard::parse(name)?,
        })
    }

    pub(super) fn matches(&self, finalizer: &str) -> bool {
        finalizer.starts_with(&self.start)
            && finalizer.ends_with(&self.end)
            && self.pattern.matches(finalizer)
    }
}

/// A set of kinds: `Kind.group`, `*.group`, `*.*.group`, `*`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KindPattern {
    /// `*`: every kind.
    Any,
    /// `Kind.group`, or `Kind` for the core group.
    Exact {
        /// The kind.
        kind: SmolStr,
        /// Its group; empty for the core group.
        group: SmolStr,
    },
    /// `*.group`: every kind of a group.
    Group(SmolStr),
    /// `*.*.group`: every kind of every group below that one.
    GroupsBelow(SmolStr),
}

impl KindPattern {
    /// Parses a pattern.
    pub fn parse(text: &str) -> Self {
        if text == "*" {
            return Self::Any;
        }
        if let Some(parent) = text.strip_prefix("*.*.") {
            return Self::GroupsBelow(parent.into());
        }
        match text.split_once('.') {
            Some(("*", group)) => Self::Group(group.into()),
            Some((kind, group)) => Self::Exact {
                kind: kind.into(),
                group: group.into(),
            },
            None => Self::Exact {
                kind: text.into(),
                group: SmolStr::default(),
            },
        }
    }

    /// Ranks patterns by breadth: the closest has the lowest rank.
    pub(super) fn breadth(&self) -> usize {
        match self {
            Self::Exact { .. } => 0,
            Self::Group(_) => 1,
            Self::GroupsBelow(_) => 2,
            Self::Any => 3,
        }
    }

    /// Whether the pattern includes `kind` in `group`.
    pub fn matches(&self, group: &str, kind: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exact {
                kind: wanted,
                group: of,
            } => wanted == kind && of == group,
            Self::Group(of) => of == group,
            Self::GroupsBelow(parent) => group
                .strip_suffix(parent.as_str())
                .is_some_and(|below| below.ends_with('.')),
        }
    }
}

impl FromStr for KindPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, group) = text.split_once('.').unwrap_or((text, ""));
        let is_kind = kind == "*"
            || kind.starts_with(|c: char| c.is_ascii_alphabetic())
                && kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_group = group
            .strip_prefix("*.")
            .filter(|_| kind == "*")
            .unwrap_or(group)
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-'));
        if is_kind && is_group && !text.ends_with('.') {
            Ok(Self::parse(text))
        } else {
            Err(format!(
                "names `{text}`, which is not a kind: write `Kind` or `Kind.group`, such as `Deployment.apps`, without a \
                 version"
            ))
        }
    }
}

impl fmt::Display for KindPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            Self::Exact { kind, group } if group.is_empty() => f.write_str(kind),
            Self::Exact { kind, group } => write!(f, "{kind}.{group}"),
            Self::Group(group) => write!(f, "*.{group}"),
            Self::GroupsBelow(group) => write!(f, "*.*.{group}"),
        }
    }
}

written_as_text!(
    KindPattern,
    "kinds",
    "Kind for the core group, Kind.group, *.group for every kind of a group, *.*.group for every kind of every group below it, * for every kind. Without a version."
);

/// A pattern for the last segments of an image's path.
#[derive(Clone, Debug)]
pub struct ImagePattern {
    text: String,
    /// The matcher, unless every segment is literal.
    wildcard: Option<Wildcard>,
    /// Whether the first segment may be a registry.
    registry: bool,
}

impl ImagePattern {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let wildcard = is_wild(text).then(|| Wildcard::parse(text)).transpose()?;
        Ok(Self {
            text: text.to_owned(),
            wildcard,
            registry: false,
        })
    }

    /// Returns the pattern for an image reference: without tag and digest, and with its registry if one is written.
    /// `None` if nothing is left, or if a segment is empty or an invalid pattern.
    pub fn of_reference(text: &str) -> Option<Self> {
        let name = text.trim().split('@').next().unwrap_or_default();
        let last = name.rfind('/').map_or(0, |slash| slash + 1);
        let end = name[last..].find(':').map_or(name.len(), |tag| last + tag);
        let text = &name[..end];
        let whole = text
            .split('/')
            .all(|segment| !segment.is_empty() && !segment.contains(char::is_whitespace));
        let pattern = Self::parse(text).ok().filter(|_| whole)?;
        Some(Self {
            registry: true,
            ..pattern
        })
    }

    /// Returns the pattern as the table has it: `argoproj/argocd`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the name of all images that match, in terms of [`image_name`]; `None` if it is a wildcard.
    pub fn name(&self) -> Option<&str> {
        let last = self.text.rsplit('/').next();
        last.filter(|name| !is_wild(name))
    }

    /// Whether an image reference (`registry/path:tag@digest`) ends in these whole segments: `argoproj/argocd` matches
    /// neither `argoproj/argocd-image-updater` nor `notargoproj/argocd`. Only a pattern
    /// [of a reference](Self::of_reference) may name a registry.
    pub fn matches(&self, image: &str) -> bool {
        let mut path = path_segments(image, self.registry);
        let mut wanted = self.text.rsplit('/');
        let Some(wildcard) = &self.wildcard else {
            return wanted.all(|wanted| path.next() == Some(wanted));
        };
        let Some(mut end) = wanted.map(|_| path.next()).collect::<Option<Vec<_>>>() else {
            return false;
        };
        end.reverse();
        wildcard.matches(&end.join("/"))
    }
}

/// Whether the path contains a wildcard.
fn is_wild(path: &str) -> bool {
    path.contains(|c: char| !(c.is_ascii_alphanumeric() || "-_./".contains(c)))
}

impl FromStr for ImagePattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_path = text.split('/').all(|segment| {
            !segment.is_empty()
                && !segment.contains(|c: char| c.is_whitespace() || "@:;".contains(c))
        });
        let pattern = Self::parse(text).ok().filter(|_| is_path);
        pattern.ok_or_else(|| {
            format!(
                "names `{text}`, which is not an image: write the end of its path, such as `example/operator`; `*` is any \
                 part of a segment"
            )
        })
    }
}

impl fmt::Display for ImagePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

written_as_text!(
    ImagePattern,
    "image",
    "The end of the path of an image, without registry, tag and digest; `*` is any part of one segment."
);

/// Returns the last segment of the path of an image reference, without tag and digest.
pub fn image_name(image: &str) -> &str {
    path_segments(image, false).next().unwrap_or_default()
}

/// Returns the segments of an image reference from its end, without tag and digest; with its registry on request.
fn path_segments(image: &str, registry: bool) -> impl Iterator<Item = &str> {
    let name = image.trim().split('@').next().unwrap_or_default();
    // Container runtimes distinguish a registry by a dot, a port, or `localhost`, followed by a path.
    let (first, rest) = name.split_once('/').unwrap_or(("", name));
    let has_registry = first.contains(['.', ':']) || first == "localhost";
    let path = if has_registry && !registry {
        rest
    } else {
        name
    };
    let mut segments = path.rsplit('/');
    let last = segments.next().and_then(|last| last.split(':').next());
    last.into_iter().chain(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(pattern: &str, image: &str) -> bool {
        ImagePattern::parse(pattern)
            .expect("a pattern of the test")
            .matches(image)
    }

    #[test]
    fn image_matches_by_its_last_path_segments() {
        for reference in [
            "argoproj/argocd",
            "quay.io/argoproj/argocd",
            "quay.io/argoproj/argocd:v3.1.0",
            "quay.io/argoproj/argocd@sha256:0123",
            "quay.io/argoproj/argocd:v3.1.0@sha256:0123",
            "localhost:5000/mirror/argoproj/argocd:dev",
            "localhost/argoproj/argocd",
        ] {
            assert!(image("argoproj/argocd", reference), "{reference}");
        }
    }

    #[test]
    fn partial_segment_or_registry_does_not_match() {
        for reference in [
            "",
            "argocd",
            "quay.io/argoproj/argocd-image-updater",
            "quay.io/notargoproj/argocd",
            "quay.io/argoproj/argocd/extension",
            "quay.io/argoproj:argocd",
            "{{ .Values.image }}",
        ] {
            assert!(!image("argoproj/argocd", reference), "{reference}");
        }
        assert!(
            !image("quay.io/argocd", "quay.io/argocd"),
            "the registry is not part of the path"
        );
        assert!(
            image("argocd", "registry.example.com:8443/argocd:v3"),
            "a port is not a tag"
        );
    }

    #[test]
    fn configured_pattern_may_be_a_full_image_reference() {
        for (pattern, image, is_named) in [
            (
                "example.com:5000/team/operator:v1",
                "example.com:5000/team/operator:v2",
                true,
            ),
            (
                "team/operator@sha256:0123",
                "example.com/team/operator:v2",
                true,
            ),
            ("example.com/operator", "other.com/operator", false),
            ("operator-*", "example.com/team/operator-a:v1", true),
        ] {
            let pattern = ImagePattern::of_reference(pattern).expect("a pattern");
            assert_eq!(pattern.matches(image), is_named, "{image}");
        }
        for text in ["", "  ", ":v1", "/x", "a//b", "a b", "a/[b"] {
            assert!(ImagePattern::of_reference(text).is_none(), "{text}");
        }
    }

    #[test]
    fn double_star_needs_the_slash_that_follows_it() {
        let name = WildName::parse("**/cleanup").expect("a pattern");
        assert!(name.matches("example.com/cleanup"));
        assert!(!name.matches("cleanup") && !name.matches("example.com/no-cleanup"));
    }

    #[test]
    fn oversized_pattern_is_no_image() {
        let nested = format!("{}{}", "{a,".repeat(300), "}".repeat(300));
        assert!(ImagePattern::of_reference(&nested).is_none());
        assert!(nested.parse::<ImagePattern>().is_err());
    }

    #[test]
    fn star_matches_within_one_segment() {
        assert!(image(
            "upbound/provider-*",
            "xpkg.upbound.io/upbound/provider-aws-s3:v1"
        ));
        assert!(!image(
            "upbound/provider-*",
            "xpkg.upbound.io/upbound/provider-aws/s3"
        ));
    }

    #[test]
    fn kind_patterns_match_exact_kinds_or_whole_groups() {
        assert!(KindPattern::parse("Pod").matches("", "Pod"));
        assert!(!KindPattern::parse("Pod").matches("metrics.k8s.io", "Pod"));
        assert!(KindPattern::parse("Job.batch").matches("batch", "Job"));
        assert!(KindPattern::parse("*.longhorn.io").matches("longhorn.io", "Volume"));
        assert!(!KindPattern::parse("*.longhorn.io").matches("backup.longhorn.io", "Volume"));
        assert!(
            KindPattern::parse("*.*.services.k8s.aws").matches("s3.services.k8s.aws", "Bucket")
        );
        assert!(
            !KindPattern::parse("*.*.services.k8s.aws").matches("services.k8s.aws", "FieldExport")
        );
        assert!(KindPattern::parse("*").matches("any.example.com", "Thing"));
    }
}
