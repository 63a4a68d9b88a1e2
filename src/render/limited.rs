//! Runs a program with limits on time and output, and kills it with its children beyond a limit.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// The polling interval for the exit of a program that has closed its output.
const POLL: Duration = Duration::from_millis(5);

/// The reason why a run ended.
pub(super) enum Ended {
    /// The program ended by itself.
    With(ExitStatus),
    /// It was killed, because it exceeded the time limit.
    TimedOut,
    /// It was killed, because it wrote too much.
    TooLong,
}

/// The output of a run.
pub(super) struct LimitedRun {
    pub(super) ended: Ended,
    pub(super) stdout: Vec<u8>,
    /// The beginning of standard error.
    pub(super) stderr: Vec<u8>,
}

/// Runs `command`, and kills it after `timeout` or if it writes more than `most` bytes to standard
/// output. Keeps at most `most_said` bytes of standard error.
pub(super) fn run(
    command: &mut Command,
    timeout: Duration,
    most: u64,
    most_said: u64,
) -> std::io::Result<LimitedRun> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let deadline = Instant::now() + timeout;
    let mut child = command.spawn()?;
    // Without a reader the pipes fill up. The threads are not joined, because another process may keep a pipe open.
    let stdout = collected(child.stdout.take(), most + 1, false);
    let stderr = collected(child.stderr.take(), most_said, true);
    let written = stdout.recv_timeout(timeout);
    let ended = match &written {
        Ok(bytes) if bytes.len() as u64 > most => Ended::TooLong,
        Err(RecvTimeoutError::Timeout) => Ended::TimedOut,
        _ => until(&mut child, deadline)?,
    };
    if !matches!(ended, Ended::With(_)) {
        end(&mut child);
    }
    let left = deadline
        .saturating_duration_since(Instant::now())
        .max(Duration::from_millis(200));
    Ok(LimitedRun {
        ended,
        stdout: written.unwrap_or_default(),
        stderr: stderr.recv_timeout(left).unwrap_or_default(),
    })
}

/// Reads a pipe in a thread, and sends its output once it is closed or `most` bytes are read. With
/// `drain`, the rest is read and dropped first, so that the program is not blocked.
fn collected(
    pipe: Option<impl Read + Send + 'static>,
    most: u64,
    drain: bool,
) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // The bytes that were read before an error are used.
            let _ = pipe.by_ref().take(most).read_to_end(&mut bytes);
            if drain {
                let _ = std::io::copy(&mut pipe, &mut std::io::sink());
            }
        }
        // The receiver is dropped when the time is up.
        let _ = sender.send(bytes);
    });
    receiver
}

fn until(child: &mut Child, deadline: Instant) -> std::io::Result<Ended> {
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(Ended::With(status)),
            None if Instant::now() >= deadline => return Ok(Ended::TimedOut),
            None => std::thread::sleep(POLL),
        }
    }
}

/// Kills the program and, on Unix, its process group.
fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id())
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    {
        // The group may have ended already.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}
