//! Files are written completely or not at all, and the exit status does not depend on the reader of the output.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::support::{CONFIG_MAP, repository};
use crate::limits::shell;
use crate::support::{Repository, ownerlint, skip};

/// An object that gets stuck, so that a run fails.
const STUCK: &str = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: shop, finalizers: [example.com/x, bad]}\n";

fn broken() -> Repository {
    let repository = repository();
    repository.write("rendered/stuck.yaml", STUCK);
    repository
}

/// Returns the names in the folder of a repository.
fn names(repository: &Repository) -> Vec<String> {
    let entries = std::fs::read_dir(repository.path()).expect("a folder");
    let mut names: Vec<_> = entries
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("text")
        })
        .collect();
    names.sort();
    names
}

#[test]
fn full_disk_keeps_the_old_file() {
    // A limit on the size of files has the effect of a full disk.
    let full = |line: &str| format!("trap '' XFSZ; ulimit -f 0; exec \"$OWNERLINT\" {line}");
    for (file, line) in [
        ("ownerlint-baseline.json", "baseline write rendered"),
        ("out.json", "-o json:out.json rendered"),
        (
            "out.md",
            "plan delete ns/shop -f rendered -o markdown:out.md",
        ),
        ("ownerlint.yaml", "init --force ."),
    ] {
        let inside = broken();
        inside.write(file, "old\n");
        let before = names(&inside);
        let run = shell(&inside.path(), &full(line));
        let error = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{line}: {error}");
        assert!(
            error.contains(&format!("cannot write `{file}`: File too large"))
                || line.starts_with("init"),
            "{error}"
        );
        assert_eq!(
            (inside.read(file).as_str(), names(&inside)),
            ("old\n", before),
            "{line}"
        );
    }
}

#[test]
fn read_only_baseline_is_not_replaced() {
    let inside = broken();
    inside.write("ownerlint-baseline.json", "old\n");
    let path = inside.path().join("ownerlint-baseline.json");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).expect("permissions");
    let (status, _, error) = inside.run(&["baseline", "write", "rendered"], "");
    assert!(
        status == 2 && error.contains("cannot write `ownerlint-baseline.json`: permission denied"),
        "{error}"
    );
    assert_eq!(inside.read("ownerlint-baseline.json"), "old\n");
}

#[test]
fn unwritable_output_is_named_with_the_reason() {
    let inside = broken();
    inside.write("old.json", "old\n").write("folder/file", "");
    let old = inside.path().join("old.json");
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o444)).expect("permissions");
    for (target, reason) in [
        ("old.json", "permission denied"),
        ("folder", "Is a directory"),
        ("nowhere/out.json", "No such file or directory"),
    ] {
        for command in [
            &["rendered"][..],
            &["plan", "delete", "secret/a", "-n", "shop", "-f", "rendered"],
        ] {
            let output = format!("json:{target}");
            let (status, _, error) = inside.run(&[command, &["-o", &output]].concat(), "");
            let expected = format!("cannot write `{target}`");
            assert!(
                status == 2 && error.contains(&expected) && error.contains(reason),
                "{command:?}: {error}"
            );
        }
    }
    assert_eq!(inside.read("old.json"), "old\n");
    assert_eq!(names(&inside), [".git", "folder", "old.json", "rendered"]);
}

#[test]
fn outputs_keep_permissions_and_new_files_follow_umask() {
    let inside = broken();
    inside.write("old.json", "old\n");
    let mode = |name: &str| {
        inside
            .path()
            .join(name)
            .metadata()
            .expect("a file")
            .permissions()
            .mode()
            & 0o777
    };
    std::fs::set_permissions(
        inside.path().join("old.json"),
        std::fs::Permissions::from_mode(0o640),
    )
    .expect("set");
    let run = shell(
        &inside.path(),
        "umask 022; \"$OWNERLINT\" -o json:old.json -o sarif:new.sarif rendered",
    );
    assert_eq!(run.status.code(), Some(1));
    assert_eq!((mode("old.json"), mode("new.sarif")), (0o640, 0o644));
}

#[test]
fn symlink_at_output_path_is_replaced_not_followed() {
    let (outside, inside) = (Repository::new(), broken());
    outside.write("profile", "mine\n");
    symlink(
        outside.path().join("profile"),
        inside.path().join("report.json"),
    )
    .expect("a link");
    assert_eq!(inside.run(&["-o", "json:report.json", "rendered"], "").0, 1);
    assert_eq!(outside.read("profile"), "mine\n");
    assert!(inside.read("report.json").contains("ownerlint.report/1"));
}

#[test]
fn outputs_to_device_files_work() {
    let inside = broken();
    let run = shell(
        &inside.path(),
        "\"$OWNERLINT\" -o json:/dev/stdout rendered > out.json; \"$OWNERLINT\" -o json:/dev/null rendered",
    );
    assert_eq!(run.status.code(), Some(1));
    assert!(inside.read("out.json").contains("ownerlint.report/1"));
    let full = shell(&inside.path(), "\"$OWNERLINT\" -o json:/dev/full rendered");
    let error = String::from_utf8_lossy(&full.stderr).into_owned();
    assert!(
        full.status.code() == Some(2) && error.contains("cannot write `/dev/full`: No space left"),
        "{error}"
    );
}

#[test]
fn closed_pipe_does_not_change_exit_status() {
    let inside = broken();
    let objects: String = (0..3_000)
        .map(|n| format!("---\n{}", STUCK.replace("name: a", &format!("name: a{n}"))))
        .collect();
    inside.write("rendered/many.yaml", &objects);
    for arguments in [
        "-o json rendered",
        "-o human rendered",
        "-o concise rendered",
    ] {
        let line =
            format!("{{ \"$OWNERLINT\" {arguments}; echo $? > status; }} | head -c 1 > /dev/null");
        shell(&inside.path(), &line);
        assert_eq!(inside.read("status"), "1\n", "{arguments}");
    }
    for arguments in [
        "plan delete ns/shop -f rendered",
        "check -o html rendered",
        "diff --base rendered --head rendered -o json",
    ] {
        let line = format!(
            "{{ \"$OWNERLINT\" {arguments} 2> error; echo $? > status; }} | head -c 1 > /dev/null"
        );
        shell(&inside.path(), &line);
        assert!(
            ["0\n", "1\n"].contains(&&*inside.read("status")),
            "{arguments}: {}",
            inside.read("error")
        );
        assert!(!inside.read("error").contains("panicked"), "{arguments}");
    }
    shell(
        &inside.path(),
        "{ \"$OWNERLINT\" list rendered; echo $? > status; } | head -c 1 > /dev/null",
    );
    assert_eq!(inside.read("status"), "0\n");
}

#[test]
fn interrupt_ends_the_run_by_signal_and_writes_nothing() {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    // A background process of a shell without job control ignores interrupts, and so do its children.
    let ignored = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = ignored
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .map(str::trim)
        .unwrap_or_default();
    let is_deaf = u64::from_str_radix(ignored, 16).is_ok_and(|signals| signals & 0b10 != 0);
    let hears = ["--default-signal=INT", "true"];
    if is_deaf
        && !Command::new("env")
            .args(hears)
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    {
        return skip("interrupts are ignored here, and env cannot change that");
    }
    let inside = repository();
    let program = ownerlint().get_program().to_owned();
    let mut command = if !is_deaf {
        Command::new(program)
    } else {
        let mut command = Command::new("env");
        command.arg(hears[0]).arg(program);
        command
    };
    // Standard input stays open, so the run cannot end before it is interrupted.
    command
        .current_dir(inside.path())
        .args(["-o", "json:out.json", "-"])
        .stdin(Stdio::piped());
    let mut run = command.spawn().expect("it runs");
    // A pipe holds 64 KiB: when all of this is written, the program itself reads. Before that, the process may still be
    // a copy of the test, or `env`.
    let read = "# the program reads\n".repeat(1 << 16);
    std::io::Write::write_all(run.stdin.as_mut().expect("a pipe"), read.as_bytes())
        .expect("the program reads");
    let sent = Command::new("kill")
        .args(["-INT", &run.id().to_string()])
        .status()
        .expect("kill runs");
    let status = run.wait().expect("it ends");
    assert!(sent.success());
    // The signal ends the run, which shells report as 128 + 2.
    assert_eq!(status.signal(), Some(2));
    assert!(!inside.path().join("out.json").exists());
}

/// Review P3.9. A file that exceeds a limit ends the run by a signal, in the middle of writing.
#[test]
fn run_killed_while_writing_keeps_the_old_file() {
    use std::os::unix::process::ExitStatusExt;

    for (file, line) in [
        ("ownerlint-baseline.json", "baseline write rendered"),
        ("out.json", "-o json:out.json rendered"),
        (
            "out.html",
            "plan delete ns/shop -f rendered -o html:out.html",
        ),
    ] {
        let inside = broken();
        inside.write(file, "old\n");
        let objects: String = (0..50)
            .map(|n| format!("---\n{}", STUCK.replace("name: a", &format!("name: a{n}"))))
            .collect();
        inside.write("rendered/many.yaml", &objects);
        let run = shell(
            &inside.path(),
            &format!("ulimit -c 0; ulimit -f 4; exec \"$OWNERLINT\" {line}"),
        );
        assert!(
            run.status.signal().is_some(),
            "{line}: {}",
            String::from_utf8_lossy(&run.stderr)
        );
        assert_eq!(inside.read(file), "old\n", "{line}");
    }
}

#[test]
fn byte_order_mark_is_accepted_in_every_input_file() {
    let inside = broken();
    assert_eq!(inside.run(&["baseline", "write", "rendered"], "").0, 0);
    for (file, text) in [
        (
            "ownerlint-baseline.json",
            inside.read("ownerlint-baseline.json"),
        ),
        ("ownerlint.yaml", "version: 1\nnamespace: shop\n".to_owned()),
        (
            "steps.yaml",
            "- {op: delete, target: ConfigMap/shop/settings}\n".to_owned(),
        ),
        ("rendered/good.yaml", CONFIG_MAP.to_owned()),
    ] {
        inside.write(file, &format!("\u{feff}{text}"));
    }
    let (status, out, error) = inside.run(&["rendered"], "");
    assert_eq!(status, 0, "{out}{error}");
    let (status, _, error) = inside.run(&["plan", "--steps", "steps.yaml", "rendered"], "");
    assert_eq!(status, 0, "{error}");
}
