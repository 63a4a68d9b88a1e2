//! Limits of the operating system on the resources of a run. A run beyond them is killed, so no test measures time.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::ownerlint;

/// Seconds of processor time for an input below 10 MB. The optimised program has one second (`fuzz/bounds.py` looks for
/// inputs that need more); the program under test is hardly optimised and up to ten times slower.
pub(crate) const SECONDS: u64 = 10;

/// Bytes of writable memory for an input below 10 MB, which hardly depend on optimisation. The address space is not
/// limited, because the allocator reserves 64 MB of it for each thread.
pub(crate) const SPACE: u64 = 256 << 20;

/// Runs the program in a folder within these limits, with arguments in the syntax of a shell.
pub(crate) fn limited(folder: &Path, arguments: &str) -> Output {
    let line = format!(
        "ulimit -c 0; ulimit -t {SECONDS}; ulimit -d {}; exec \"$OWNERLINT\" {arguments}",
        SPACE >> 10
    );
    shell(folder, &line)
}

/// Runs a line of `sh` in a folder; `$OWNERLINT` is the program.
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
