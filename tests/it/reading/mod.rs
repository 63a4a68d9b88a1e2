//! The files and documents that a run reads or skips.

mod parsed_files;
mod recognition;
mod walking;
