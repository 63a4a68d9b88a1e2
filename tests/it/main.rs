//! One test binary. Every file reads as a specification of one part.

mod cli;
mod corpus;
mod corpus_list;
mod determinism;
mod examples;
mod formats;
mod gc_conformance;
mod gc_model;
mod gc_properties;
mod gc_support;
mod known_finalizers;
mod plan_cli;
mod plan_conformance;
mod rules;
mod support;
mod tables;
mod yaml_corpus;
mod yaml_decode;
mod yaml_limits;
mod yaml_properties;
mod yaml_rules;
mod yaml_second_opinion;
mod yaml_support;
