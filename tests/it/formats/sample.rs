//! Synthetic reports.

use std::collections::BTreeSet;

use ownerlint::finding::{
    Applicability, Chain, Consequence, Edit, Finding, Fix, Label, Relation, Severity, fingerprint,
};
use ownerlint::kube::ObjectKey;
use ownerlint::report::{
    Cascades, HumanOptions, MarkdownOptions, Note, Options, Place, Published, Report, Reported,
    Roots, RuleInfo, RunInfo, Summary, Tool,
};
use ownerlint::rules::Subject;
use ownerlint::text::{FileId, SourceFile, Sources, Span};

pub(crate) const RBAC: &str = "\
# Source: rook/templates/cluster.yaml
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: rook-ceph-global
  ownerReferences:
  - apiVersion: ceph.rook.io/v1
    kind: CephCluster
    name: rook-ceph
    uid: 6f1d1a30-0000-4000-8000-000000000001
rules: []
";

pub(crate) const CLUSTER: &str = "\
apiVersion: ceph.rook.io/v1
kind: CephCluster
metadata:
  name: rook-ceph
  namespace: rook-ceph
";

/// A file with Windows line ends, a tab, and emoji before the place of a finding.
pub(crate) const SHOP: &str = "\
apiVersion: v1\r
kind: ConfigMap\r
metadata: {name: cart, labels: {team: \"🛒🛒 café\"},\townerReferences: [{kind: Deploymnt, name: cart}]}\r
data:\r
  text: |\r
    one\r
    two\r
";

/// A file with hostile names.
pub(crate) const HOSTILE: &str = "\
kind: Secret
metadata:
  name: \"\u{1b}[31mred\u{1b}]8;;https://evil.example\u{7} \u{202e}txt|`x`\"
";

pub(crate) const HOSTILE_PATH: &str = "::error file=x,line=1::pwned/100% a,b:c|`d`<e>&\"f\".yaml";

/// Returns the span of occurrence `nth` (from 0) of `needle`.
pub(crate) fn span(text: &str, needle: &str, nth: usize) -> Span {
    let (at, _) = text
        .match_indices(needle)
        .nth(nth)
        .expect("the sample holds the needle");
    Span::new(at as u32, (at + needle.len()) as u32)
}

pub(crate) fn sources() -> Sources {
    Sources::new(vec![
        SourceFile::new(HOSTILE_PATH, HOSTILE),
        SourceFile::new("deploy/clean.yaml", "kind: Namespace\n"),
        SourceFile::new("deploy/rook/cluster.yaml", CLUSTER),
        SourceFile::new("deploy/rook/rbac.yaml", RBAC),
        SourceFile::new("deploy/shop/ünï code.yaml", SHOP),
    ])
}

pub(crate) fn key(text: &str) -> ObjectKey {
    text.parse().expect("a key")
}

pub(crate) fn finding(rule: &'static str, severity: Severity, primary: Label) -> Finding {
    Finding {
        rule,
        severity,
        consequence: Consequence::Style,
        message: String::new(),
        reason: String::new(),
        help: String::new(),
        object: None,
        alike: Vec::new(),
        field: None,
        target: None,
        primary,
        related: Vec::new(),
        chain: Chain::default(),
        tables: Vec::new(),
        fix: None,
    }
}

fn rook() -> Finding {
    let (cluster, rbac) = (FileId(2), FileId(3));
    let role = "ClusterRole.rbac.authorization.k8s.io//rook-ceph-global";
    let owner = "CephCluster.ceph.rook.io/rook-ceph/rook-ceph";
    Finding {
        consequence: Consequence::NeverCollected,
        message: "ClusterRole `rook-ceph-global` is cluster-scoped, its owner CephCluster is namespaced".to_owned(),
        reason: "A cluster-scoped object has no namespace in which the garbage collector could look for the owner. It gives up, \
                 records an OwnerRefInvalidNamespace event, and the ClusterRole stays when the CephCluster is deleted."
            .to_owned(),
        help: "Remove the owner reference and delete the ClusterRole where the CephCluster is deleted: in the operator's finalizer, \
               or with the release."
            .to_owned(),
        object: Some(key(role)),
        field: Some("metadata.ownerReferences[0].kind".to_owned()),
        target: Some(owner.to_owned()),
        related: vec![
            Label::new(rbac, span(RBAC, "ClusterRole", 0), "cluster-scoped"),
            Label::new(cluster, span(CLUSTER, "namespace", 0), "owner declared here, in a namespace"),
        ],
        chain: Chain {
            relation: Relation::OwnedBy,
            objects: [role, owner, "Application.argoproj.io/argocd/storage"].map(key).to_vec(),
        },
        fix: Some(Fix {
            title: "remove the reference".to_owned(),
            applicability: Applicability::Suggested,
            edits: vec![Edit {
                file: rbac,
                span: span(RBAC, "CephCluster", 0),
                replacement: "two\nlines 😀".to_owned(),
                within: Span::default(),
            }],
        }),
        ..finding(
            "owner-of-cluster-scoped",
            Severity::Error,
            Label::new(rbac, span(RBAC, "CephCluster", 0), "namespaced"),
        )
    }
}

fn shop() -> [Finding; 2] {
    let shop = FileId(4);
    let object = Some(key("ConfigMap/?/cart"));
    [
        Finding {
            consequence: Consequence::NeverCollected,
            message: "no Kubernetes release serves `Deploymnt` in the core group".to_owned(),
            reason: "The garbage collector cannot look the owner up and retries forever."
                .to_owned(),
            help: "Did you mean `Deployment`?\n\n    apiVersion: apps/v1\n    kind: Deployment"
                .to_owned(),
            object: object.clone(),
            field: Some("metadata.ownerReferences[0].kind".to_owned()),
            ..finding(
                "owner-kind-unresolvable",
                Severity::Warning,
                Label::new(shop, span(SHOP, "Deploymnt", 0), "never served"),
            )
        },
        Finding {
            message: "the block goes on over several lines".to_owned(),
            object,
            ..finding(
                "dropped-content",
                Severity::Info,
                Label::new(shop, span(SHOP, "|\r\n    one\r\n    two", 0), ""),
            )
        },
    ]
}

fn hostile() -> Finding {
    Finding {
        consequence: Consequence::Ignored,
        message: "bad\u{1b}[2J name\r\n::error::pwned | `tick` ](http://evil.example) <script>alert(1)</script> & \u{202e}gnp 100%".to_owned(),
        reason: "a\nb".to_owned(),
        help: "```\n|x|\n-- ]]> --".to_owned(),
        object: Some(key("Secret/?/\u{1b}[31mred|`x`\n# heading")),
        related: vec![Label::new(FileId(0), Span::empty(HOSTILE.len() as u32), "the end\u{7} of ::the:: file")],
        ..finding("duplicate-object", Severity::Info, Label::new(FileId(0), span(HOSTILE, "\u{1b}[31mred", 0), "this|`one`"))
    }
}

/// Returns a report with several files, an owner in another file, a chain, emoji, several lines, and hostile strings.
pub(crate) fn report() -> Report {
    let [kind, block] = shop();
    let mut report = with(sources(), vec![hostile(), rook(), kind, block]);
    report.findings[1].chain_places = vec![
        Some(Place {
            file: FileId(3),
            span: span(RBAC, "rook-ceph-global", 0),
        }),
        Some(Place {
            file: FileId(2),
            span: span(CLUSTER, "rook-ceph", 0),
        }),
        None,
    ];
    report.notes = vec![
        Note {
            severity: Severity::Info,
            message: "an unrendered Helm template was skipped: render the chart first".to_owned(),
            path: Some("charts/web/templates/a b.yaml".to_owned()),
            line: Some(3),
        },
        Note {
            severity: Severity::Error,
            message: "permission denied\u{1b}[1m".to_owned(),
            path: Some("deploy/secret.yaml".to_owned()),
            line: None,
        },
    ];
    report
}

/// Returns a report of `findings`, which are in the order of the report.
pub(crate) fn with(sources: Sources, findings: Vec<Finding>) -> Report {
    let fingerprints = fingerprint(
        &findings,
        |finding| sources.file(finding.primary.file).path(),
        |_| 1,
    );
    let of = |severity| {
        findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    };
    let summary = Summary {
        files: sources.len(),
        documents: 5,
        objects: 4,
        error: of(Severity::Error),
        warning: of(Severity::Warning),
        info: of(Severity::Info),
        suppressed: 1,
        baseline: 2,
        skipped: 0,
        before: None,
    };
    let reported = findings.into_iter().zip(fingerprints);
    let findings = reported.map(|(finding, fingerprint)| Reported {
        url: Some(format!("https://ownerlint.example/rules/{}", finding.rule)),
        certainty: finding.severity.into(),
        finding,
        fingerprint,
        chain_places: Vec::new(),
    });
    Report {
        statistics: None,
        tool: tool(),
        run: RunInfo::default(),
        findings: findings.collect(),
        rules: rules(),
        summary,
        suppressed: Vec::new(),
        remedy: None,
        notes: Vec::new(),
        skipped: Vec::new(),
        cascades: Cascades::default(),
        files_of_bundles: Vec::new(),
        context: BTreeSet::new(),
        sources,
    }
}

fn tool() -> Tool {
    Tool {
        name: "ownerlint".to_owned(),
        version: "0.1.0".to_owned(),
        url: "https://ownerlint.example".to_owned(),
    }
}

fn rules() -> Vec<RuleInfo> {
    let rule = |id: &'static str, severity, consequence, summary: &'static str| RuleInfo {
        id,
        subject: Subject::References,
        summary,
        severity,
        consequence,
        is_unread: id == "unreadable-document",
        page: format!("# {id}\n\nWhy, and what to do.").leak(),
        url: format!("https://ownerlint.example/rules/{id}"),
    };
    vec![
        rule(
            "owner-of-cluster-scoped",
            Severity::Error,
            Consequence::NeverCollected,
            "A cluster-scoped object has a namespaced owner.",
        ),
        rule(
            "owner-kind-unresolvable",
            Severity::Warning,
            Consequence::NeverCollected,
            "An owner reference names a kind that is not served.",
        ),
        rule(
            "unreadable-document",
            Severity::Error,
            Consequence::Rejected,
            "A document cannot be read.",
        ),
        rule(
            "dropped-content",
            Severity::Info,
            Consequence::Lost,
            "Content is dropped.",
        ),
        rule(
            "duplicate-object",
            Severity::Info,
            Consequence::Ignored,
            "An object is defined twice.",
        ),
    ]
}

/// Returns the options of a run at the root of a repository that shows everything.
pub(crate) fn options() -> Options {
    Options {
        roots: Roots {
            working_directory: Some("/home/me/repo".to_owned()),
            repository_root: Some("/home/me/repo".to_owned()),
        },
        markdown: MarkdownOptions {
            published: Some(Published {
                url: "https://code.example/me/repo/blob/0123abc".to_owned(),
                files: [HOSTILE_PATH, "deploy/rook/rbac.yaml"]
                    .map(str::to_owned)
                    .into(),
            }),
            ..MarkdownOptions::default()
        },
        human: HumanOptions {
            show: Severity::Info,
            ..HumanOptions::default()
        },
        concise_show: Severity::Info,
        ..Options::default()
    }
}
