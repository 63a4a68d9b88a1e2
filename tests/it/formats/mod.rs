//! Every output format: a golden file to read, and a schema or a reference reader to agree with.

mod contracts;
mod corpus;
mod golden;
mod hostile;
mod readers;
mod sample;
pub(crate) mod schemas;
