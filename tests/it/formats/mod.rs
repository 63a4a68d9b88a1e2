//! Every output format: a golden file, and a schema or a reference reader.

mod contracts;
mod corpus;
mod golden;
mod hostile;
mod readers;
mod sample;
pub(crate) mod schemas;
