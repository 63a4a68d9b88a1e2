//! Secrets that hold the token of a ServiceAccount.

use crate::finding::Severity;
use crate::kube::{ObjectKey, kinds};
use crate::rules::draft::Draft;
use crate::rules::rule::{Context, Rule, Sink, World, rule};
use crate::rules::words::named;

pub(in crate::rules) static TOKEN_SECRET_WITHOUT_ACCOUNT: Rule = rule!(
    Objects,
    "token-secret-without-account",
    Info,
    Collected,
    "A Secret requests the token of a ServiceAccount that the input does not contain: without the \
     ServiceAccount, it is deleted",
    token_secret_without_account
);

/// The annotation that names the ServiceAccount of the Secret.
const ACCOUNT: &str = "kubernetes.io/service-account.name";

/// The ServiceAccount that every namespace has (kube-controller-manager,
/// pkg/controller/serviceaccount/serviceaccounts_controller.go).
const DEFAULT: &str = "default";

/// [DEP-19]: the token controller deletes the Secret.
fn token_secret_without_account(context: &Context<'_>, sink: &mut Sink) {
    let inventory = context.inventory;
    for member in inventory.of_kind(kinds::SECRET) {
        if member.object.value().str_at(&["type"]) != Some("kubernetes.io/service-account-token") {
            continue;
        }
        let Some(account) = member.object.metadata().annotation(ACCOUNT) else {
            continue;
        };
        let namespace = inventory.namespace_beside(member);
        let key = ObjectKey::new(kinds::SERVICE_ACCOUNT, namespace, account.value);
        if account.value == DEFAULT || !inventory.with_key(&key).is_empty() {
            continue;
        }
        let severity = match context.world {
            World::Closed => Severity::Warning,
            World::Open => Severity::Info,
        };
        let who = named(member);
        let name = account.value;
        let message = format!("{who} is deleted unless ServiceAccount `{name}` exists");
        sink.push(
            Draft::on(member, account.span, message)
                .label("not in the input")
                .reason(
                    "The token controller deletes a Secret of type `kubernetes.io/service-account-token` whose ServiceAccount \
                     does not exist in its namespace, as soon as it sees the Secret.",
                )
                .help("create the ServiceAccount in the same namespace, before the Secret, or remove the Secret")
                .field(format!("metadata.annotations.{ACCOUNT}"))
                .severity(severity)
                .claims_absence(inventory),
        );
    }
}
