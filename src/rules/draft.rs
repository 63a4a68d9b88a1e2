//! Findings under construction.

use super::proposal::Proposal;
use crate::finding::{Chain, Consequence, Finding, Label, Relation, Severity};
use crate::inventory::{Inventory, Member};
use crate::knowledge::{KnownFinalizer, RowName};
use crate::kube::ObjectKey;
use crate::text::{FileId, Span, plain};

/// The maximum number of related places that a finding shows.
pub(super) const MAX_RELATED: usize = 8;

/// The maximum number of characters of a message. Names are bounded, but a message may quote keys and values, which are
/// not.
const MAX_MESSAGE: usize = 4_000;

/// The maximum number of characters of a reason or a help text.
const MAX_TEXT: usize = 16_000;

fn limited(text: String, limit: usize) -> String {
    if text.len() <= limit {
        text
    } else {
        plain::shortened(&text, limit).into_owned()
    }
}

/// A finding without its rule. A draft always has a place; the sink adds the rest.
#[derive(Clone, Debug)]
#[must_use = "push it into the sink"]
pub struct Draft {
    primary: Label,
    message: String,
    reason: String,
    help: String,
    severity: Option<Severity>,
    consequence: Option<Consequence>,
    object: Option<ObjectKey>,
    alike: Vec<ObjectKey>,
    field: Option<String>,
    target: Option<String>,
    related: Vec<Label>,
    chain: Chain,
    tables: Vec<String>,
    fix: Option<Proposal>,
}

impl Draft {
    /// Creates a finding at a place of a file, about no object.
    pub fn in_file(file: FileId, span: Span, message: impl Into<String>) -> Self {
        Self {
            primary: Label::new(file, span, String::new()),
            message: message.into(),
            reason: String::new(),
            help: String::new(),
            severity: None,
            consequence: None,
            object: None,
            alike: Vec::new(),
            field: None,
            target: None,
            related: Vec::new(),
            chain: Chain::default(),
            tables: Vec::new(),
            fix: None,
        }
    }

    /// Creates a finding at a place of an object.
    pub fn on(member: &Member, span: Span, message: impl Into<String>) -> Self {
        Self {
            object: Some(member.key.clone()),
            ..Self::in_file(member.file, span, message)
        }
    }

    /// Sets the object that the finding is about.
    pub fn about(mut self, member: &Member) -> Self {
        self.object = Some(member.key.clone());
        self
    }

    /// Sets further objects that the finding is about: accepting it accepts their loss, too.
    pub fn alike<'m>(mut self, members: impl IntoIterator<Item = &'m Member>) -> Self {
        self.alike = members
            .into_iter()
            .map(|member| member.key.clone())
            .collect();
        self
    }

    /// Sets the label of the primary place: a few words under the snippet.
    pub fn label(mut self, words: impl Into<String>) -> Self {
        self.primary.message = words.into();
        self
    }

    /// Sets the reason: what the cluster will do and when.
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }

    /// Marks the finding as a claim that something is nowhere in the input. The reason and the severity must be set
    /// already: if documents were not read, the reason says so, and the severity is at most a warning.
    pub fn claims_absence(mut self, inventory: &Inventory) -> Self {
        let unread = match inventory.hidden_documents() {
            0 => return self,
            1 => "1 document in the input was not read (an unrendered template or broken text)"
                .to_owned(),
            n => format!(
                "{n} documents in the input were not read (unrendered templates, broken text)"
            ),
        };
        self.reason
            .push_str(&format!(" This finding may be wrong: {unread}."));
        self.severity = self
            .severity
            .map(|severity| severity.min(Severity::Warning));
        self
    }

    /// Sets the help: how to fix the defect.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = help.into();
        self
    }

    /// Adds a fix. The finding gets none if the text is in a form that cannot be edited safely.
    pub(super) fn fix(mut self, proposal: impl Into<Option<Proposal>>) -> Self {
        self.fix = proposal.into();
        self
    }

    /// Sets the field: `metadata.ownerReferences[0].uid`.
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Sets the target, which distinguishes findings on one field: an owner's key, a finalizer, a kind.
    pub fn target(mut self, target: impl Into<String>) -> Self {
        self.target = Some(target.into());
        self
    }

    /// Sets a severity other than the rule's.
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = Some(severity);
        self
    }

    /// Sets the severity to info if the condition holds.
    pub(super) fn info_if(self, condition: bool) -> Self {
        if condition {
            self.severity(Severity::Info)
        } else {
            self
        }
    }

    /// Sets a consequence other than the rule's.
    pub fn consequence(mut self, consequence: Consequence) -> Self {
        self.consequence = Some(consequence);
        self
    }

    /// Adds a related place.
    pub fn related(mut self, file: FileId, span: Span, words: impl Into<String>) -> Self {
        self.related.push(Label::new(file, span, words));
        self
    }

    /// Adds the place in head that causes the defect.
    pub fn caused(mut self, file: FileId, span: Span, words: impl Into<String>) -> Self {
        self.related.push(Label {
            is_cause: true,
            ..Label::new(file, span, words)
        });
        self
    }

    /// Adds a related object, shown at its name.
    pub fn related_object(self, member: &Member, words: impl Into<String>) -> Self {
        self.related(member.file, member.object.name_span(), words)
    }

    /// Adds up to [`MAX_RELATED`] related objects, each shown at its name.
    pub(super) fn related_objects<'m>(
        self,
        members: impl IntoIterator<Item = &'m Member>,
        words: &str,
    ) -> Self {
        let shown = members.into_iter().take(MAX_RELATED);
        shown.fold(self, |draft, member| draft.related_object(member, words))
    }

    /// Sets the objects that the defect involves, and the relation between the first and the others.
    pub fn chain(
        mut self,
        relation: Relation,
        objects: impl IntoIterator<Item = ObjectKey>,
    ) -> Self {
        self.chain = Chain {
            relation,
            objects: objects.into_iter().collect(),
        };
        self
    }

    /// Adds a table row that the finding depends on, and says in the reason, which must be set
    /// already, how to look it up. An unproven row makes the finding an info.
    pub fn rests_on(mut self, row: &RowName, verified: bool) -> Self {
        let word = if row.row.contains('*') {
            format!("'{row}'")
        } else {
            row.row.to_string()
        };
        self.reason.push_str(&format!(
            " `ownerlint explain {word}` shows the source of this fact."
        ));
        if !verified {
            self.severity = Some(Severity::Info);
        }
        self.tables.push(row.to_string());
        self
    }

    /// Adds the rows of a finalizer that the finding depends on. The reason need not say how to look them up: the
    /// finding names the finalizer, which `ownerlint explain` accepts.
    pub fn rests_on_finalizer(mut self, known: &KnownFinalizer) -> Self {
        self.tables
            .push(RowName::of_finalizer(&known.finalizer).to_string());
        self
    }

    /// Converts the draft to a finding of `rule` and the proposal of its fix. `severity` and `consequence` are
    /// defaults.
    pub(super) fn into_finding(
        self,
        rule: &'static str,
        severity: Severity,
        consequence: Consequence,
    ) -> (Finding, Option<Proposal>) {
        let finding = Finding {
            rule,
            severity: self.severity.unwrap_or(severity),
            consequence: self.consequence.unwrap_or(consequence),
            message: limited(self.message, MAX_MESSAGE),
            reason: limited(self.reason, MAX_TEXT),
            help: limited(self.help, MAX_TEXT),
            object: self.object,
            alike: self.alike,
            field: self.field.map(|field| limited(field, MAX_MESSAGE)),
            target: self.target,
            primary: self.primary,
            related: self.related,
            chain: self.chain,
            tables: self.tables,
            fix: None,
        };
        (finding, self.fix)
    }
}
