//! Who runs what: the pods that manifests describe, each with its images and its ServiceAccount.

use smol_str::SmolStr;

use crate::inventory::{Inventory, Member, ObjectId};
use crate::manifest::Spanned;
use crate::ownership::pod_specs::{may_run_pods, pod_spec};
use crate::yaml::Value;

/// An object that runs pods, or is one. There may be many: what it runs is read from its tree.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    pub(super) id: ObjectId,
    /// `default` when the pod names none, as the API server fills in.
    pub(super) service_account: SmolStr,
}

/// A container, as far as it says what runs in it.
#[derive(Clone, Debug)]
pub(super) struct RunContainer<'a> {
    pub(super) image: Spanned<&'a str>,
    value: Value<'a>,
}

impl<'a> RunContainer<'a> {
    /// Its `command` and its `args`; nothing where the image decides.
    pub(super) fn command_line(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        command_line(self.value)
    }
}

/// The workloads in an input, in its order; those that end on their own come last, because a controller does not. And how many do
/// not.
pub(super) fn of(inventory: &Inventory) -> (Vec<Workload>, usize) {
    let all = || inventory.members.iter().filter_map(|member| Some((member, pod_of(member)?)));
    let mut workloads = Vec::with_capacity(all().count());
    workloads.extend(all().map(|(member, pod)| workload(member, pod)));
    let ends = |workload: &Workload| inventory.member(workload.id).object.group() == "batch";
    workloads.sort_by_key(ends);
    let running = workloads.partition_point(|workload| !ends(workload));
    (workloads, running)
}

fn pod_of(member: &Member) -> Option<Value<'_>> {
    let pod = pod_spec(&member.object).filter(|_| may_run_pods(member.object.group_kind()))?;
    Some(pod.value)
}

fn workload(member: &Member, pod: Value<'_>) -> Workload {
    let text = |key: &str| pod.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    // `serviceAccount` is the deprecated name of the same field.
    let service_account = text("serviceAccountName").or_else(|| text("serviceAccount")).unwrap_or("default");
    Workload { id: member.id, service_account: service_account.into() }
}

/// All containers of a workload that run a program of their image, init containers and ephemeral ones included.
pub(super) fn containers(member: &Member) -> impl Iterator<Item = RunContainer<'_>> {
    let lists = ["containers", "initContainers", "ephemeralContainers"];
    let listed =
        pod_of(member).into_iter().flat_map(move |pod| lists.into_iter().filter_map(move |list| pod.get(list)));
    let containers = listed.flat_map(Value::items).filter(|container| !runs_a_shell(*container));
    containers.filter_map(|value| {
        let image = value.entry("image")?;
        let text = image.value.as_str()?;
        let image = Spanned { value: text, key_span: image.key_span, span: image.value.span() };
        Some(RunContainer { image, value })
    })
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
    let line = || command_line(container);
    let mut programs = line().filter(|word| !word.starts_with('-')).map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = programs.find(|name| !INIT_PROGRAMS.contains(name)).unwrap_or_default();
    (SHELLS.contains(&program) || program.ends_with(".sh")) && !line().any(|word| word.contains("exec "))
}

fn command_line<'a>(container: Value<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    words(container, "command").chain(words(container, "args"))
}

fn words<'a>(container: Value<'a>, field: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    container.get(field).into_iter().flat_map(Value::items).filter_map(Value::as_str)
}
