//! One test binary. Every file reads as a specification of one part.

mod cli;
mod corpus;
mod corpus_list;
mod determinism;
mod examples;
mod formats;
mod known_finalizers;
mod rules;
mod support;
mod tables;
mod yaml_decode;
mod yaml_support;
