//! Protections that lack some or all of their effect because their value or key is wrong, or because they are labels,
//! and how to correct them.

use crate::delivery::{Flaw, IneffectiveProtection, marks};
use crate::rules::draft::Draft;
use crate::rules::holder::MetadataHolder;
use crate::rules::proposal::Proposal;

/// Reports a key or a value that the tool does not know, or a label that it does not read.
pub(super) fn mistaken(
    holder: &MetadataHolder<'_>,
    protection: &IneffectiveProtection<'_>,
) -> Draft {
    let named = holder.named();
    let IneffectiveProtection {
        key,
        value,
        is_label,
        flaw,
    } = protection;
    let written = value.value;
    let shown = if written.is_empty() { "\"\"" } else { written };
    let where_written = if *is_label { "labels" } else { "annotations" };
    let (message, reason, help) = match flaw {
        Flaw::Policy => (
            format!("`{key}: {shown}` is not `keep`: an uninstall leaves {named} behind, and an upgrade may delete it"),
            "`helm uninstall` leaves every object with this annotation alone, whatever its value, \
             and does not list it among the kept objects. An upgrade to a chart without the object \
             keeps it only if the value is exactly `keep`, so it deletes this one."
                .to_owned(),
            "write `keep` if the object must stay, else remove the annotation: no value makes Helm delete an object".to_owned(),
        ),
        Flaw::PolicyCase => (
            format!("`{key}: {written}` is not exactly `keep`, so an upgrade may delete {named}"),
            "`helm uninstall` ignores upper and lower case, and keeps the object. An upgrade to a \
             chart without the object keeps it only if the value is exactly `keep`, so it deletes \
             this one."
                .to_owned(),
            "write `keep` in lower case, without spaces".to_owned(),
        ),
        Flaw::Key(meant) => (
            format!("no tool reads `{key}`, so it does not protect {named}"),
            format!("The key looks like `{meant}`, which a tool reads. Unknown keys have no effect."),
            match *meant {
                marks::ARGOCD_SYNC_OPTIONS if written.contains('=') => {
                    let kept = "if the object must also survive the deletion of its Application";
                    if written.contains("Delete=") {
                        format!("rename the key to `{meant}`")
                    } else {
                        format!("rename the key to `{meant}`; add `Delete=false` {kept}")
                    }
                }
                marks::ARGOCD_SYNC_OPTIONS => format!("write `{meant}: Prune=false,Delete=false`"),
                marks::HELM_RESOURCE_POLICY => format!("write `{meant}: keep`"),
                _ => format!("write `{meant}: disabled`"),
            },
        ),
        Flaw::Option { written, meant } => (
            format!("Argo CD does not know the sync option `{written}`, so it does not protect {named}"),
            "Argo CD splits the annotation at commas and compares every option exactly, upper and lower case included. It \
             ignores options that it does not know."
                .to_owned(),
            if is_several(written) {
                let options: Vec<&str> = parts(written).collect();
                format!("separate the options with commas: `{}`", options.join(","))
            } else {
                format!("write `{meant}`")
            },
        ),
        Flaw::FluxValue(meant) => (
            format!("Flux does not know `{key}: {written}`, so it does not protect {named}"),
            format!("Flux compares the value with `{meant}`, and ignores every other one."),
            format!("write `{key}: {meant}`"),
        ),
        Flaw::Label => (
            format!("`{key}` is a label, and tools read it as an annotation: it does not protect {named}"),
            "Helm and Argo CD look at annotations only. A label of the same name has no effect.".to_owned(),
            "move it to `metadata.annotations`".to_owned(),
        ),
    };
    let (place, words) = match flaw {
        Flaw::Key(_) => (value.key_span, "an unknown key"),
        Flaw::Label => (value.key_span, "not read as a label"),
        Flaw::Policy | Flaw::PolicyCase => (value.span, "not `keep`"),
        Flaw::Option { .. } | Flaw::FluxValue(_) => (value.span, "has no effect"),
    };
    Draft::on(holder.member, place, message)
        .label(words)
        .reason(reason)
        .help(help)
        .fix(corrected(holder, protection))
        .field(format!("{}.{where_written}.{key}", holder.field))
}

/// Whether the text contains several options that are separated by something other than commas.
fn is_several(option: &str) -> bool {
    parts(option)
        .filter(|part| part.contains('='))
        .nth(1)
        .is_some()
}

fn parts(option: &str) -> impl Iterator<Item = &str> {
    let parts = option.split([' ', ';', '|', '\n']);
    parts.filter(|part| !part.is_empty())
}

/// Proposes to write the protection as the tool reads it; `None` for several options that are not separated by commas.
fn corrected(
    holder: &MetadataHolder<'_>,
    protection: &IneffectiveProtection<'_>,
) -> Option<Proposal> {
    let IneffectiveProtection {
        key,
        value,
        is_label,
        flaw,
    } = *protection;
    let written = value.value;
    let (meant_key, meant) = match flaw {
        Flaw::Policy | Flaw::PolicyCase => (key, "keep".to_owned()),
        Flaw::FluxValue(meant) => (key, meant.to_owned()),
        Flaw::Label => (key, written.to_owned()),
        Flaw::Option {
            written: option,
            meant,
        } if !is_several(option) => {
            let options = marks::sync_options(written);
            let options = options.map(|one| if one == option { meant } else { one });
            (key, options.collect::<Vec<_>>().join(","))
        }
        Flaw::Option { .. } => return None,
        Flaw::Key(marks::ARGOCD_SYNC_OPTIONS) if written.contains('=') => {
            (marks::ARGOCD_SYNC_OPTIONS, written.to_owned())
        }
        Flaw::Key(marks::ARGOCD_SYNC_OPTIONS) => (
            marks::ARGOCD_SYNC_OPTIONS,
            "Prune=false,Delete=false".to_owned(),
        ),
        Flaw::Key(marks::HELM_RESOURCE_POLICY) => (marks::HELM_RESOURCE_POLICY, "keep".to_owned()),
        Flaw::Key(flux) => (flux, "disabled".to_owned()),
    };
    let (member, field) = (holder.member, holder.field);
    let annotations = format!("{field}.annotations");
    let proposal = Proposal::suggested(format!("write the annotation `{meant_key}: {meant}`"));
    Some(if is_label {
        proposal
            .remove_key(member, &format!("{field}.labels"), key)
            .set(member, &annotations, meant_key, &meant)
    } else if meant_key == key {
        proposal.set(member, &annotations, key, &meant)
    } else if written == meant {
        proposal.rename(member, &annotations, key, meant_key)
    } else {
        proposal
            .rename(member, &annotations, key, meant_key)
            .set(member, &annotations, key, &meant)
    })
}
