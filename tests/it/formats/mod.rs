//! Every output format: a golden file to read, and a schema or a reference reader to agree with.

mod golden;
mod hostile;
mod sample;
mod schemas;
