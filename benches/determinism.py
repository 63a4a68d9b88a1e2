#!/usr/bin/env python3
"""Runs every command over the same files with 1, 2 and 16 threads, three times each, and compares what comes out, byte by byte.

    python3 benches/determinism.py BINARY FOLDER [GIT_CHECKOUT…]

FOLDER holds manifests; each GIT_CHECKOUT is compared with its commit of some time ago as well. Prints one hash per command, or what
differed. BINARY is best an optimised build: tests/it/cli/determinism.rs does the same in small.
"""

import hashlib
import os
import subprocess
import sys
import tempfile

THREADS = ("1", "2", "16")
ROUNDS = 3
FORMATS = ("human", "json", "sarif", "concise", "markdown", "junit", "html")


def commands(folder, checkouts):
    """Name and arguments of each command; `{out}` is a folder for files."""
    for place in [folder, *checkouts]:
        name = os.path.basename(os.path.abspath(place))
        outputs = [word for format in FORMATS for word in ("-o", f"{format}:{{out}}/{format}")]
        yield f"check {name}", ["check", *outputs, "--no-config", "--exit-zero", place]
        yield f"list {name}", ["list", "-o", "json", "--no-config", place]
        yield f"plan teardown {name}", ["plan", "teardown", "--by", "kubectl", "-o", "json", "--no-config", "--fail-on", "never", place]
    for place in checkouts:
        name = os.path.basename(os.path.abspath(place))
        log = subprocess.run(["git", "-C", place, "rev-list", "--first-parent", "-n", "200", "HEAD"], capture_output=True, text=True, check=True)
        base = log.stdout.split()[-1]
        for format in ("human", "json"):
            arguments = ["diff", "--base-ref", base, "--head-ref", "HEAD", "-o", format, "--fail-on", "never", "."]
            yield f"diff {format} {name}", arguments


def digest(binary, arguments, threads, folder):
    hashed = hashlib.sha256()
    with tempfile.TemporaryDirectory() as out:
        words = [word.format(out=out) for word in arguments]
        run = subprocess.run([binary, *words, "--threads", threads], cwd=folder, capture_output=True, check=False)
        if run.returncode not in (0, 1):
            sys.exit(f"{' '.join(words)}: status {run.returncode}: {run.stderr.decode(errors='replace')[:500]}")
        hashed.update(run.stdout)
        for name in sorted(os.listdir(out)):
            with open(os.path.join(out, name), "rb") as file:
                hashed.update(name.encode() + b"\0" + file.read())
    return hashed.hexdigest()


def main():
    binary, folder, *checkouts = [os.path.abspath(path) for path in sys.argv[1:]]
    differences = 0
    for name, arguments in commands(folder, checkouts):
        inside = next((place for place in checkouts if name.startswith("diff") and name.endswith(os.path.basename(place))), None)
        runs = [digest(binary, arguments, threads, inside) for threads in THREADS for _ in range(ROUNDS)]
        differences += len(set(runs)) > 1
        print(f"{name:40} {len(runs)} runs, {len(set(runs))} hash{'es' if len(set(runs)) > 1 else ''}: {runs[0][:16]}", flush=True)
    sys.exit(differences > 0)


main()
