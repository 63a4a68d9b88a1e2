//! Limits of the operating system on what a run may use. A run beyond them is ended, so no test looks at a clock.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::ownerlint;

/// Seconds of processor time for an input below 10 MB. The optimised program has one (`fuzz/bounds.py` looks for inputs for which
/// that is not enough); these tests run one that is hardly optimised, or not at all, and needs up to ten times as long.
pub(crate) const SECONDS: u64 = 10;

/// Bytes of data for an input below 10 MB: what the program can write to. Optimisation makes little difference to these. The address
/// space is not what counts: the allocator reserves 64 MB for each thread, whether the thread needs them or not.
pub(crate) const SPACE: u64 = 256 << 20;

/// Runs the program in a folder within these limits, with arguments as a shell reads them.
pub(crate) fn limited(folder: &Path, arguments: &str) -> Output {
    let line = format!(
        "ulimit -c 0; ulimit -t {SECONDS}; ulimit -d {}; exec \"$OWNERLINT\" {arguments}",
        SPACE >> 10
    );
    shell(folder, &line)
}

/// Runs a line of `sh` in a folder, in which `$OWNERLINT` is the program.
pub(crate) fn shell(folder: &Path, line: &str) -> Output {
    let mut command = Command::new("sh");
    let program = ownerlint().get_program().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    command
        .current_dir(folder)
        .env_clear()
        .env("PATH", path)
        .env("OWNERLINT", program)
        .env("COLUMNS", "100");
    command.args(["-c", line]).output().expect("sh runs")
}
