//! Who runs what: the pods that manifests describe, each with its images and its ServiceAccount.

use crate::inventory::{Inventory, Member, ObjectId};
use crate::manifest::Spanned;
use crate::ownership::pod_specs::{may_run_pods, pod_spec};
use crate::yaml::Value;

/// An object that runs pods, or is one.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    pub(super) id: ObjectId,
    /// All that run a program of their image, init containers and ephemeral ones included.
    pub(super) containers: Box<[RunContainer]>,
    /// `default` when the pod names none, as the API server fills in.
    pub(super) service_account: String,
}

/// A container, as far as it says what runs in it.
#[derive(Clone, Debug)]
pub(super) struct RunContainer {
    pub(super) image: Spanned<String>,
    /// Its `command` and its `args`; empty where the image decides.
    pub(super) command_line: Box<[String]>,
}

/// The workloads in an input, in its order; those that end on their own come last, because a controller does not.
pub(super) fn of(inventory: &Inventory) -> Vec<Workload> {
    let mut workloads: Vec<Workload> = inventory.members.iter().filter_map(workload).collect();
    workloads.sort_by_key(|workload| inventory.member(workload.id).object.group() == "batch");
    workloads
}

fn workload(member: &Member) -> Option<Workload> {
    let pod = pod_spec(&member.object).filter(|_| may_run_pods(member.object.group_kind()))?.value;
    let text = |key: &str| pod.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    // `serviceAccount` is the deprecated name of the same field.
    let service_account = text("serviceAccountName").or_else(|| text("serviceAccount")).unwrap_or("default");
    let lists = ["containers", "initContainers", "ephemeralContainers"];
    let containers = lists.into_iter().filter_map(|list| pod.get(list)).flat_map(Value::items);
    let containers = containers.filter(|container| !runs_a_shell(*container)).filter_map(|container| {
        let image = container.entry("image")?;
        let value = image.value.as_str()?.to_owned();
        let image = Spanned { value, key_span: image.key_span, span: image.value.span() };
        let command_line = words(container, "command").chain(words(container, "args")).map(str::to_owned).collect();
        Some(RunContainer { image, command_line })
    });
    Some(Workload { id: member.id, containers: containers.collect(), service_account: service_account.to_owned() })
}

/// What starts another program, and passes signals on to it.
const INIT_PROGRAMS: [&str; 2] = ["tini", "dumb-init"];
/// What people let a container do instead of its own work.
const SHELLS: [&str; 7] = ["sh", "bash", "ash", "dash", "zsh", "sleep", "tail"];

/// Whether a container replaces the program of its image by a shell or a script, as a toolbox does: Rook's has the image of its
/// operator. A script that ends by replacing itself (`exec`) may well start that program.
fn runs_a_shell(container: Value<'_>) -> bool {
    if words(container, "command").next().is_none() {
        return false;
    }
    let line = || words(container, "command").chain(words(container, "args"));
    let mut programs = line().filter(|word| !word.starts_with('-')).map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = programs.find(|name| !INIT_PROGRAMS.contains(name)).unwrap_or_default();
    (SHELLS.contains(&program) || program.ends_with(".sh")) && !line().any(|word| word.contains("exec "))
}

fn words<'a>(container: Value<'a>, field: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    container.get(field).into_iter().flat_map(Value::items).filter_map(Value::as_str)
}
