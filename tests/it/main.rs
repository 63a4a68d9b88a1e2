//! The only test binary. Each file specifies one part.

// Tests print notes on skipped cases and on comparisons.
#![allow(clippy::print_stdout)]

#[cfg(unix)]
mod action;
mod admission;
mod admission_finalizers;
mod adoption;
mod adoption_properties;
mod analysis;
mod believable;
mod cascades;
mod charts;
mod claimed;
mod cli;
mod cohabiting;
mod commands;
mod configuration;
mod controllers;
mod corpus;
mod corpus_list;
mod corpus_plans;
mod deliveries;
mod delivery;
mod delivery_requests;
mod delivery_rules;
mod determinism;
mod diff;
mod docs;
mod docs_commands;
mod editors;
mod examples;
mod finalizers;
mod first_impression;
mod fix_command;
mod fix_forms;
mod fix_forms_support;
mod fixes;
mod formats;
mod fuzz;
#[path = "../../crates/kube-gc/tests/it/support.rs"]
#[expect(dead_code, reason = "shared with the tests of kube-gc")]
mod gc_support;
#[cfg(unix)]
mod growth;
mod hostile;
mod html;
mod init;
mod known_finalizers;
mod kustomize_builds;
mod learn;
mod limits;
mod lsp;
mod messages;
mod mistakes;
mod operator_rules;
mod operators;
mod owner_rules;
mod parsed_files;
mod permissions;
mod plan_cli;
mod plan_config;
mod plan_conformance;
mod plan_deliveries;
mod plan_reconcilers;
mod plan_teardown;
mod plan_unanswered;
mod plan_view;
#[cfg(unix)]
mod pre_commit;
mod properties;
mod recall;
mod recognition;
mod releases;
mod repeats;
mod report_scope;
mod rooms;
mod rows;
mod rules;
mod rules_of_change;
mod safe_order;
mod security;
mod served_kinds;
mod serves;

mod standing;
mod supply_chain;
mod support;
mod tables;
mod teardown_conformance;
mod ties;
mod walking;
mod yaml_corpus;
mod yaml_decode;
mod yaml_limits;
mod yaml_mutants;
mod yaml_properties;
mod yaml_rules;
mod yaml_second_opinion;
mod yaml_support;
