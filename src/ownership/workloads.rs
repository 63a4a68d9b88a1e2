//! The Pods that manifests describe, each with its images and its ServiceAccount.

use std::collections::BTreeSet;

use foldhash::HashMap;
use smol_str::SmolStr;

use crate::inventory::{Inventory, Member, ObjectId};
use crate::knowledge::{Controller, image_name};
use crate::manifest::Spanned;
use crate::ownership::pod_specs::{containers_of, may_run_pods, pod_spec};
use crate::yaml::Value;

/// An object that runs Pods, or is one. To save memory, its containers stay in its tree.
#[derive(Clone, Debug)]
pub(super) struct Workload {
    pub(super) id: ObjectId,
    /// `default` if the Pod names none, as the API server fills in.
    pub(super) service_account: SmolStr,
}

#[derive(Debug, Default)]
pub(super) struct Workloads {
    /// In the order of the input; Jobs and CronJobs come last, because they end on their own and controllers do not.
    pub(super) all: Vec<Workload>,
    /// The number of workloads that do not end on their own.
    running: usize,
    /// Indexes into `all`, ascending, by the names of their images.
    by_image: HashMap<String, Vec<usize>>,
}

impl Workloads {
    /// Finds the workloads in an input, with their images.
    pub(super) fn of(inventory: &Inventory) -> Self {
        let found = inventory.members.iter();
        let found = found.filter_map(|member| Some((member, pod_of(member)?)));
        let mut all = Vec::with_capacity(found.clone().count());
        all.extend(found.map(|(member, pod)| workload(member, pod)));
        all.sort_by_key(|workload| ends(inventory, workload));
        let running = all.partition_point(|workload| !ends(inventory, workload));
        let mut by_image: HashMap<String, Vec<usize>> = HashMap::default();
        for (at, workload) in all.iter().enumerate() {
            for (image, _) in containers(inventory.member(workload.id)) {
                let name = image_name(image.value);
                match by_image.get_mut(name) {
                    Some(places) => places.push(at),
                    None => _ = by_image.insert(name.to_owned(), vec![at]),
                }
            }
        }
        Self {
            all,
            running,
            by_image,
        }
    }

    /// Returns the index of a workload.
    pub(super) fn place(&self, workload: ObjectId) -> Option<usize> {
        let (running, ending) = self.all.split_at(self.running);
        place_in(running, workload).or_else(|| Some(self.running + place_in(ending, workload)?))
    }

    /// Returns the workloads that run a controller by image and command line, as `is_run_by` decides: in order, each
    /// with the image.
    pub(super) fn running<'a>(
        &'a self,
        inventory: &'a Inventory,
        controller: &'a Controller,
        is_run_by: fn(&Controller, &str, &[&str]) -> bool,
    ) -> impl Iterator<Item = (ObjectId, Spanned<&'a str>)> {
        let places: BTreeSet<usize> = controller
            .images
            .iter()
            .flat_map(|pattern| match pattern.name() {
                Some(name) => self.by_image.get(name).cloned().unwrap_or_default(),
                None => (0..self.all.len()).collect(),
            })
            .collect();
        places.into_iter().filter_map(move |at| {
            let workload = self.all[at].id;
            let mut containers = containers(inventory.member(workload));
            let (image, _) = containers.find(|(image, container)| {
                let command_line: Vec<&str> = command_line(*container).collect();
                is_run_by(controller, image.value, &command_line)
            })?;
            Some((workload, image))
        })
    }
}

fn pod_of(member: &Member) -> Option<Value<'_>> {
    let pod = pod_spec(&member.object).filter(|_| may_run_pods(member.object.group_kind()))?;
    Some(pod.value)
}

fn workload(member: &Member, pod: Value<'_>) -> Workload {
    // `serviceAccount` is the deprecated name of the same field.
    let mut names = ["serviceAccountName", "serviceAccount"].into_iter();
    let service_account = names
        .find_map(|key| pod.text_at(&[key]))
        .unwrap_or("default");
    Workload {
        id: member.id,
        service_account: service_account.into(),
    }
}

/// Whether the workload is a Job or a CronJob.
fn ends(inventory: &Inventory, workload: &Workload) -> bool {
    inventory.member(workload.id).object.group() == "batch"
}

/// Returns the index of a workload among some that are sorted by id.
fn place_in(among: &[Workload], workload: ObjectId) -> Option<usize> {
    among.binary_search_by_key(&workload, |known| known.id).ok()
}

/// Returns all containers of a workload that run the program of their image, init and ephemeral containers included,
/// each with its image.
fn containers(member: &Member) -> impl Iterator<Item = (Spanned<&str>, Value<'_>)> {
    let listed = pod_of(member).into_iter().flat_map(containers_of);
    let containers = listed.filter(|container| !runs_a_shell(*container));
    containers.filter_map(|container| {
        let image = container.entry("image")?;
        let image = Spanned {
            value: image.value.as_str()?,
            key_span: image.key_span,
            span: image.value.span(),
        };
        Some((image, container))
    })
}

/// Programs that start another program, and pass signals on to it.
const INIT_PROGRAMS: [&str; 2] = ["tini", "dumb-init"];
/// Programs that a container runs instead of its own work.
const SHELLS: [&str; 7] = ["sh", "bash", "ash", "dash", "zsh", "sleep", "tail"];

/// Whether a container replaces the program of its image by a shell or a script, as the toolbox of Rook does, which has
/// the image of the operator. A script that replaces itself (`exec`) may well start that program.
fn runs_a_shell(container: Value<'_>) -> bool {
    if words(container, "command").next().is_none() {
        return false;
    }
    let mut programs = command_line(container)
        .filter(|word| !word.starts_with('-'))
        .map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = programs
        .find(|name| !INIT_PROGRAMS.contains(name))
        .unwrap_or_default();
    (SHELLS.contains(&program) || program.ends_with(".sh"))
        && !command_line(container).any(|word| word.contains("exec "))
}

/// Returns the words of the `command` and `args` of all containers of a workload.
pub fn command_words(workload: &Member) -> impl Iterator<Item = &str> {
    let containers = pod_of(workload).into_iter().flat_map(containers_of);
    containers.flat_map(command_line)
}

/// Returns the `command` and the `args` of a container; empty if the image decides.
fn command_line(container: Value<'_>) -> impl Iterator<Item = &str> + use<'_> {
    words(container, "command").chain(words(container, "args"))
}

fn words<'a>(container: Value<'a>, field: &'static str) -> impl Iterator<Item = &'a str> {
    container.items_at(field).filter_map(Value::as_str)
}
