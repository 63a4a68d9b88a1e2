//! Irregular files, which may block a reader or never end.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use super::support::{findings, repository};
use crate::limits::shell;
use crate::support::{Repository, ownerlint, skip, write_program};

fn fifo(repository: &Repository, path: &str) {
    let made = Command::new("mkfifo")
        .arg(repository.path().join(path))
        .status()
        .expect("mkfifo runs");
    assert!(made.success());
}

#[test]
fn fifos_and_devices_are_reported_and_not_read() {
    let inside = repository();
    fifo(&inside, "rendered/fifo.yaml");
    symlink("fifo.yaml", inside.path().join("rendered/linked-fifo.yaml")).expect("a link");
    symlink("/dev/zero", inside.path().join("rendered/zero.yaml")).expect("a link");
    symlink("/proc/kmsg", inside.path().join("rendered/log.yaml")).expect("a link");
    let outside = "is a symbolic link out of the tree: name the file that it leads to instead";
    assert_eq!(
        findings(&inside, &["rendered"]),
        [
            "unreadable-file `rendered/fifo.yaml` is not a regular file".to_owned(),
            "unreadable-file `rendered/linked-fifo.yaml` is not a regular file".to_owned(),
            format!("unreadable-file `rendered/log.yaml` {outside}"),
            format!("unreadable-file `rendered/zero.yaml` {outside}"),
        ]
    );
    // The result is equal if the files are named as arguments.
    for path in [
        "rendered/fifo.yaml",
        "rendered/linked-fifo.yaml",
        "rendered/zero.yaml",
    ] {
        let found = findings(&inside, &[path, "--allow-empty"]);
        assert_eq!(
            found,
            [format!("unreadable-file `{path}` is not a regular file")]
        );
    }
    let found = findings(&inside, &["rendered/log.yaml", "--allow-empty"]);
    assert_eq!(
        found,
        ["unreadable-file `rendered/log.yaml` is not a regular file"]
    );
}

#[test]
fn configuration_baseline_and_steps_must_be_regular_files() {
    for special in ["fifo", "zero"] {
        let inside = repository();
        fifo(&inside, "fifo");
        symlink("/dev/zero", inside.path().join("zero")).expect("a link");
        let refused = |arguments: &[&str]| {
            let (status, _, error) = inside.run(arguments, "");
            let reasons = [
                "is not a regular file",
                "is a symbolic link out of the tree",
            ];
            assert!(
                status == 2 && reasons.iter().any(|reason| error.contains(reason)),
                "{arguments:?}: {error}"
            );
        };
        refused(&["rendered", "--config", special]);
        refused(&["rendered", "--baseline", special]);
        refused(&["plan", "--steps", special, "rendered"]);
        refused(&["baseline", "update", "--baseline", special, "rendered"]);
        std::fs::rename(
            inside.path().join(special),
            inside.path().join("ownerlint-baseline.json"),
        )
        .expect("renamed");
        refused(&["rendered"]);
    }
    let (status, _, error) = repository().run(&["rendered", "--config", "rendered"], "");
    assert!(status == 2 && error.contains("is a folder"), "{error}");
}

#[test]
fn fifo_named_like_a_configuration_is_ignored() {
    let inside = repository();
    fifo(&inside, "ownerlint.yaml");
    assert_eq!(inside.run(&["rendered"], "").0, 0);
}

#[test]
fn dev_stdin_is_readable_as_manifest_and_steps() {
    let inside = repository();
    inside.write(
        "steps.yaml",
        "- {op: delete, target: ConfigMap/shop/settings}\n",
    );
    let planned = shell(
        &inside.path(),
        "cat steps.yaml | \"$OWNERLINT\" plan --steps /dev/stdin rendered && cat rendered/good.yaml | \"$OWNERLINT\" list /dev/stdin",
    );
    assert_eq!(
        planned.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&planned.stderr)
    );
    assert!(String::from_utf8_lossy(&planned.stdout).contains("/dev/stdin:1"));
}

#[test]
fn named_device_is_read_up_to_the_size_limit() {
    // Endless zeros are cut at the size limit of a file; the memory limit is that of `bounds.rs`.
    let inside = repository();
    let run = shell(
        &inside.path(),
        "ulimit -v 1500000; \"$OWNERLINT\" -o json --allow-empty /dev/full",
    );
    assert!(String::from_utf8_lossy(&run.stdout).contains("`/dev/full` is larger than 256 MiB"));
}

/// Stops the thread that changes files when dropped, even if an assertion fails.
struct Ends<'s>(&'s AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn files_changing_during_a_run_do_not_fail_it() {
    let inside = repository();
    let path = inside.path().join("rendered");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (stop, path) = (&stop, &path);
        scope.spawn(move || {
            for turn in 0.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                let moving = path.join(format!("moving-{}.yaml", turn % 7));
                match turn % 3 {
                    0 => drop(std::fs::write(&moving, "a: 1\n".repeat(20_000))),
                    1 => drop(std::fs::write(&moving, "")),
                    _ => drop(std::fs::remove_file(&moving)),
                }
            }
        });
        let _ends = Ends(stop);
        for _ in 0..5 {
            let (status, _, error) = inside.run(&["rendered"], "");
            assert!(matches!(status, 0 | 1), "{status}: {error}");
        }
    });
}

#[test]
fn unreadable_files_and_folders_are_reported_and_others_are_checked() {
    let inside = repository();
    inside
        .write("rendered/closed/a.yaml", "")
        .write("rendered/closed.yaml", "");
    let allow = |path: &str, mode| {
        std::fs::set_permissions(inside.path().join(path), Permissions::from_mode(mode))
            .expect("permissions");
    };
    allow("rendered/closed", 0);
    allow("rendered/closed.yaml", 0);
    // Permissions do not stop root. If the test runs as root, it runs a copy of the program as the user `nobody`.
    let mut command = Command::new(ownerlint().get_program());
    if std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        let program = std::fs::read(ownerlint().get_program()).expect("the program");
        write_program(&inside.path().join("program"), &program);
        allow("", 0o755);
        command = Command::new(inside.path().join("program"));
        command.uid(65534).gid(65534);
    }
    let run = command
        .env_clear()
        .current_dir(inside.path())
        .args(["-o", "json", "rendered"])
        .output()
        .expect("it runs");
    allow("rendered/closed", 0o700);
    let out = String::from_utf8_lossy(&run.stdout);
    for path in ["closed", "closed.yaml"] {
        assert!(
            out.contains(&format!(
                "`rendered/{path}` cannot be opened: permission denied"
            )),
            "{out}"
        );
    }
    assert!(
        run.status.code() == Some(1) && out.contains("\"objects\": 1"),
        "{out}"
    );
}

#[test]
fn files_in_shared_memory_are_read_and_written() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        return skip("there is no shared memory");
    };
    let folder = memory.path();
    std::fs::write(folder.join("good.yaml"), super::support::CONFIG_MAP).expect("a file");
    let run = shell(
        folder,
        "\"$OWNERLINT\" list . && \"$OWNERLINT\" -o \"json:$PWD/out.json\" \"$PWD\" && cat out.json",
    );
    let out = String::from_utf8_lossy(&run.stdout);
    assert!(
        out.contains("ConfigMap/shop/settings"),
        "{out}{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert!(out.contains("\"objects\": 1"), "{out}");
}
