//! Finalizers in templates: copied to every child, rejected or without effect, depending on the kind of template.

use crate::finding::{Applicability, Consequence, Severity};
use crate::inventory::Member;
use crate::kube::kubectl::Target;
use crate::kube::{Namespace, Scope, finalizers};
use crate::manifest::{Spanned, Template, TemplateKind, label_key_errors};
use crate::ownership::{FinalizerHolder, Remover};
use crate::rules::draft::Draft;
use crate::rules::finalizers::words::{release, who_removes, with_workload};
use crate::rules::proposal::Proposal;
use crate::rules::rule::{Context, Rule, Sink, rule};
use crate::rules::words::named;
use crate::text::capitalised;

pub(in crate::rules) static TEMPLATE_FINALIZER: Rule = rule!(
    Finalizers,
    "template-finalizer",
    Warning,
    Stuck,
    "A template adds a finalizer to every object made from it",
    template_finalizer
)
.fixes(&[Applicability::Safe, Applicability::Suggested]);

/// [VAL-35] to [VAL-38], [L-9].
fn template_finalizer(context: &Context<'_>, sink: &mut Sink) {
    for (member, template) in context.inventory.templates() {
        for (index, finalizer) in template.metadata.numbered_finalizers() {
            let found = TemplateFinalizer {
                member,
                template,
                index,
                finalizer,
            };
            let draft = match template.kind {
                TemplateKind::Pod => found.on_children(context, "Pod", "pod"),
                TemplateKind::Claim => found.on_children(context, "PersistentVolumeClaim", "claim"),
                TemplateKind::Job => found.without_effect(),
                TemplateKind::Restricted => found.rejected(),
            };
            let field = format!("{}.metadata.finalizers[{index}]", template.field);
            let proposal = match template.kind {
                TemplateKind::Job => Proposal::safe("remove the finalizer"),
                _ => Proposal::suggested("remove the finalizer"),
            };
            sink.push(
                draft
                    .fix(proposal.remove(member, &field))
                    .field(field)
                    .target(finalizer.as_str()),
            );
        }
    }
}

/// One finalizer of one template.
struct TemplateFinalizer<'a> {
    member: &'a Member,
    template: Template<'a>,
    /// The position of the finalizer in the list.
    index: usize,
    finalizer: &'a Spanned<String>,
}

impl TemplateFinalizer<'_> {
    fn draft(&self, message: String) -> Draft {
        Draft::on(self.member, self.finalizer.span, message)
    }

    /// Reports a finalizer that is copied to every Pod or claim without a check.
    fn on_children(&self, context: &Context<'_>, kind: &str, word: &str) -> Draft {
        let name = self.finalizer.as_str();
        // Both kinds are built in: a name without a domain must be a standard one ([VAL-20]).
        if !label_key_errors(name).is_empty()
            || !name.contains('/') && !finalizers::is_standard(name)
        {
            return self.never_created(word);
        }
        let namespace = match self.member.scope() {
            Some(Scope::Cluster) => &Namespace::Unwritten,
            _ => &self.member.key.namespace,
        };
        let holder = FinalizerHolder {
            group: "",
            kind,
            scope: Some(Scope::Namespaced),
            namespace,
            name: None,
        };
        // The Job controller removes its finalizer only from its own Pods ([FIN-5]).
        let is_of_job = matches!(self.member.object.kind(), "Job" | "CronJob");
        let remover = if name == finalizers::JOB_TRACKING && !is_of_job {
            Remover::Unknown
        } else {
            let removers = &context.ownership.removers;
            removers.remover_from(context.inventory, &holder, name)
        };
        let harmless = matches!(remover, Remover::ControlPlane(_) | Remover::Workload { .. })
            && !finalizers::is_collectors(name);
        let who = match remover {
            Remover::Unknown => format!(
                "No known controller removes it from a {kind}; this assumes that no controller outside the input does"
            ),
            _ => capitalised(&who_removes(context.inventory, &remover)),
        };
        let target = Target::new(kind, "", namespace);
        let draft = self
            .draft(format!("the template of {} adds finalizer `{name}` to every {word}", named(self.member)))
            .severity(if harmless { Severity::Info } else { Severity::Warning })
            .label(format!("copied to every {word}"))
            .reason(format!(
                "Every {word} made from the template has the finalizer and, once deleted, stays Terminating until the \
                 finalizer is removed. {who}. A stuck {word} blocks the deletion of its namespace, and a rollout or a \
                 scale-down leaves one behind for each replica."
            ))
            .help(format!(
                "remove the entry from the template. To release a stuck {word}, run {}",
                release(&target, self.index, name)
            ));
        with_workload(draft, context.inventory, &remover)
    }

    /// Reports an invalid finalizer: the template is not validated, but its children are.
    fn never_created(&self, word: &str) -> Draft {
        let name = self.finalizer.as_str();
        self.draft(format!("the template of {} has an invalid finalizer, {name:?}", named(self.member)))
            .consequence(Consequence::Lost)
            .label("rejected on every child")
            .reason(format!(
                "The API server accepts the template unchecked and rejects every {word} made from it: no {word} ever \
                 starts, and the only sign is a `FailedCreate` event. The finalizer is never stored, so it never has to \
                 be removed."
            ))
            .help("remove the entry from the template")
    }

    /// [VAL-37].
    fn without_effect(&self) -> Draft {
        self.draft(format!("the job template of {} has a finalizer that no Job gets", named(self.member)))
            .severity(Severity::Info)
            .consequence(Consequence::Ignored)
            .label("never copied")
            .reason("Only labels and annotations of a job template reach the Jobs; the finalizer is accepted and has no effect.")
            .help("remove the entry")
    }

    /// [VAL-38].
    fn rejected(&self) -> Draft {
        self.draft(format!("the claim template of {} has a finalizer, which is not allowed there", named(self.member)))
            .severity(Severity::Error)
            .consequence(Consequence::Rejected)
            .label("cannot be set")
            .reason(format!(
                "The API server rejects the object: `{}.metadata.finalizers: Forbidden: cannot be set`. Such a \
                 template accepts only labels and annotations.",
                self.template.field
            ))
            .help("remove the list")
    }
}
