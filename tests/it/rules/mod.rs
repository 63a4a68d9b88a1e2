//! Rules: the registry, fixtures, messages and fixes, and the facts that findings depend on.

mod analysis;
mod believable;
mod cascades;
mod change;
mod cohabiting;
mod commands;
mod delivery;
mod finalizers;
mod fix_forms;
mod fix_forms_support;
mod fixes;
mod messages;
mod operators;
mod owners;
mod reading;
mod recall;
mod registry;
mod repeats;
mod served_kinds;
mod services;
mod standing;
mod ties;
