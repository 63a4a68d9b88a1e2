//! Simulates steps on a cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cluster::Cluster;
use crate::events::{self, Event};
use crate::flags::TERMINATING;
use crate::ids::ObjectId;
use crate::names::Wait;
use crate::options::SimulationOptions;
use crate::outcome::Outcome;
use crate::plan::{Plan, StepPlan};
use crate::rounds;
use crate::search;
use crate::state::State;
use crate::steps::{BoundRequest, Step};
use crate::trace::Trace;
use crate::world::Simulation;

/// Simulates the steps in order, and returns the plan.
///
/// The collector runs until it is at rest before the first step, because it deletes objects with dangling references
/// without any request `[SIM-4]`. The plan shows these changes as part of the first step; begin with [`Step::Settle`]
/// to see them separately.
pub fn simulate<'c>(cluster: &'c Cluster, steps: &[Step], options: &SimulationOptions) -> Plan<'c> {
    let kubelet = options.kubelet;
    let requests = BoundRequest::of_steps(cluster, steps);
    let events = events::events(cluster);
    let mut world = Simulation::new(cluster);
    world.trace = Some(Trace::default());
    rounds::settle(&mut world, kubelet, &BTreeSet::new());
    let mut plan = Plan {
        cluster,
        steps: Vec::with_capacity(steps.len()),
    };
    let mut targeted: Vec<(usize, ObjectId)> = Vec::new();
    let mut halted: BTreeSet<usize> = BTreeSet::new();
    for request in &requests {
        let responses = if halted.contains(&request.client) {
            Vec::new()
        } else {
            world.request(request)
        };
        let targets = request.targets.iter().flatten().copied();
        targeted.extend(targets.map(|target| (request.client, target)));
        if request.wait != Wait::None {
            rounds::settle(&mut world, kubelet, &BTreeSet::new());
            for (client, id) in targeted.drain(..) {
                if world.state.live(id) && request.waiting.contains(&client) {
                    halted.insert(client);
                }
            }
        } else if request.is_awaited && !halted.contains(&request.client) {
            let awaited: BTreeSet<ObjectId> = request.targets.iter().flatten().copied().collect();
            rounds::settle(&mut world, kubelet, &awaited);
            if awaited.iter().any(|id| world.state.live(*id)) {
                halted.insert(request.client);
            }
        }
        let outcomes = match request.wait {
            Wait::Settled => vec![Outcome::verdict(Arc::new(world.state.clone()))],
            Wait::None | Wait::Named | Wait::Gone => Vec::new(),
        };
        let (log, rejected) = world.trace.as_mut().map(Trace::take).unwrap_or_default();
        plan.steps.push(StepPlan {
            responses,
            outcomes,
            complete: options.state_cap > 0,
            verdict_reached: options.state_cap > 0,
            events: events_after(cluster, &world.state, &events),
            log,
            rejected,
        });
        if request.wait == Wait::Settled {
            world.flag_lost_needs();
        }
    }
    if options.state_cap > 0 {
        search::add_outcomes(
            cluster,
            &requests,
            options,
            !halted.is_empty(),
            &mut plan.steps,
        );
    }
    plan
}

/// Returns the events outside of removed namespaces. Those in Terminating ones are not certain to be stored.
fn events_after(cluster: &Cluster, state: &State, events: &[(ObjectId, Event)]) -> Vec<Event> {
    let kept = events.iter().filter_map(|(child, event)| {
        let mut event = event.clone();
        if let Some(home) = cluster.links.home_of(*child) {
            if state.gone(home) {
                return None;
            }
            event.certain &= !state.has(home, TERMINATING);
        }
        Some(event)
    });
    let mut kept: Vec<Event> = kept.collect();
    kept.sort();
    kept
}
