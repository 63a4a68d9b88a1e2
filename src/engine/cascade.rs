//! Simulated deletions behind findings, for reports to draw.
//!
//! Simulations that the rules have cached are reused.

use foldhash::HashSet;

use crate::cluster::PlanCache;
use crate::gc::Step;
use crate::kube::ObjectKey;
use crate::ownership::Implied;
use crate::report::plan::Cascade;
use crate::report::{Cascades, Reported};
use crate::rules;
use crate::story::PlanView;
use crate::text::FileId;

/// Maximum number of drawn cascades in one report.
const MOST: usize = 4;

/// A step to simulate, with the objects of the findings about it.
struct Scene {
    step: Step,
    title: String,
    objects: Vec<ObjectKey>,
}

/// Simulates the deletions behind `findings`. `files`: the files of each bundle.
pub(super) fn cascades(
    bundles: &[PlanCache<'_>],
    files: &[Vec<FileId>],
    findings: &[Reported],
) -> Cascades {
    let mut cascades = Cascades::default();
    for (plans, files) in bundles.iter().zip(files) {
        let scenes = scenes(files, findings);
        let room = MOST - cascades.shown.len();
        cascades.left_out += scenes.len().saturating_sub(room);
        let drawn = scenes.iter().take(room);
        cascades
            .shown
            .extend(drawn.filter_map(|scene| draw(plans, scene)));
    }
    cascades
}

/// Returns the scenes of a bundle of `files`, in the order of the findings.
fn scenes(files: &[FileId], findings: &[Reported]) -> Vec<Scene> {
    let mut scenes: Vec<Scene> = Vec::new();
    let files: HashSet<FileId> = files.iter().copied().collect();
    for reported in findings {
        let finding = &reported.finding;
        let cascade = rules::find(finding.rule).and_then(|rule| rule.cascade);
        let (Some(object), Some(cascade)) = (&finding.object, cascade) else {
            continue;
        };
        let (step, title) = cascade(object);
        if !files.contains(&finding.primary.file) {
            continue;
        }
        match scenes.iter_mut().find(|scene| scene.step == step) {
            Some(scene) => scene.objects.push(object.clone()),
            None => scenes.push(Scene {
                step,
                title,
                objects: vec![object.clone()],
            }),
        }
    }
    scenes
}

fn draw(plans: &PlanCache<'_>, scene: &Scene) -> Option<Cascade> {
    let plan = plans.plan(&scene.step)?;
    let view = PlanView {
        plan: &plan,
        steps: std::slice::from_ref(&scene.step),
        data: plans.analysis().data(&Implied::default()),
        implied: Vec::new(),
        titles: vec![scene.title.clone()],
        targets: vec![Vec::new()],
        known: plans.analysis().ownership().removers.known(),
        written: None,
        notes: Vec::new(),
        unread: &[],
        follow_ups: 0,
        removal: None,
    };
    Some(Cascade::new(scene.title.clone(), &view, &scene.objects))
}
