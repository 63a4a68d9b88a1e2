//! The deletions behind findings that stand on a simulation, played once more for reports to draw.
//!
//! Costs nothing where there are no such findings; else one verdict per picture.

use std::collections::HashSet;

use super::input::Bundle;
use crate::cluster::Built;
use crate::gc::Step;
use crate::kube::ObjectKey;
use crate::ownership::Ownership;
use crate::report::plan::Cascade;
use crate::report::{Cascades, Reported};
use crate::rules::simulation::{cluster, step_behind, verdict};
use crate::story::PlanView;
use crate::text::Sources;

/// Pictures in one report.
const MOST: usize = 4;

/// One step with the objects whose fate is reported.
struct Scene {
    step: Step,
    title: String,
    objects: Vec<ObjectKey>,
}

/// The cascades behind `findings`, whose places lie in `sources`.
pub(super) fn cascades(bundles: &[Bundle], sources: &Sources, findings: &[Reported]) -> Cascades {
    let mut cascades = Cascades::default();
    for bundle in bundles {
        let scenes = scenes(bundle, sources, findings);
        let room = MOST - cascades.shown.len();
        cascades.left_out += scenes.len().saturating_sub(room);
        if scenes.is_empty() || room == 0 {
            continue;
        }
        let ownership = Ownership::of(&bundle.inventory);
        let Some(built) = cluster(&bundle.inventory, &ownership) else { continue };
        cascades.shown.extend(scenes.iter().take(room).map(|scene| draw(&built, scene)));
    }
    cascades
}

/// What is to be played of a bundle, in the order of the findings.
fn scenes(bundle: &Bundle, sources: &Sources, findings: &[Reported]) -> Vec<Scene> {
    let mut scenes: Vec<Scene> = Vec::new();
    let mut files: Option<HashSet<&str>> = None;
    for reported in findings {
        let finding = &reported.finding;
        let Some(object) = &finding.object else { continue };
        let Some((step, title)) = step_behind(finding.rule, object) else { continue };
        let files = files.get_or_insert_with(|| bundle.inventory.sources.iter().map(|(_, file)| file.path()).collect());
        if !files.contains(sources.file(finding.primary.file).path()) {
            continue;
        }
        match scenes.iter_mut().find(|scene| scene.step == step) {
            Some(scene) => scene.objects.push(object.clone()),
            None => scenes.push(Scene { step, title, objects: vec![object.clone()] }),
        }
    }
    scenes
}

fn draw(built: &Built, scene: &Scene) -> Cascade {
    let plan = verdict(built, &scene.step);
    let view = PlanView {
        plan: &plan,
        steps: std::slice::from_ref(&scene.step),
        implied: Vec::new(),
        titles: vec![scene.title.clone()],
        targets: vec![Vec::new()],
        notes: Vec::new(),
    };
    Cascade::new(scene.title.clone(), &view, &scene.objects)
}
