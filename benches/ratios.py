#!/usr/bin/env python3
"""Times ownerlint against its yardstick and its peers on the same files, and prints the table of the README.

    python3 benches/ratios.py FOLDER        (FOLDER holds manifests; default: fixtures)

FOLDER may be any checkout of repositories with manifests.

All numbers are processor time of one thread, user and system, and of it the user's; each command runs ROUNDS times in turn with
the others, and the least counts, so that a busy machine changes the ratios little. Memory is the peak of the process. Peers that are not installed
are left out: PyYAML with its C loader (`pip install pyyaml`), kubeconform (a program of that name).
"""

import argparse
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROUNDS = 5
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUFFIXES = (".yaml", ".yml", ".json")

PYYAML = """
import os, sys, yaml
for folder, _, names in os.walk(sys.argv[1], followlinks=True):
    for name in names:
        if name.endswith((".yaml", ".yml", ".json")):
            with open(os.path.join(folder, name), "rb") as file:
                text = file.read()
            try:
                for _ in yaml.%s(text, Loader=yaml.CSafeLoader):
                    pass
            except (yaml.YAMLError, ValueError):
                pass
"""


def built():
    """The paths of the optimised program and of the yardstick."""
    command = ["cargo", "build", "--release", "--bin", "ownerlint", "--message-format=json"]
    program = executable(command, "ownerlint")
    command = ["cargo", "bench", "--no-run", "--bench", "yardstick", "--message-format=json"]
    return program, executable(command, "yardstick")


def executable(command, name):
    output = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout
    for line in output.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == name:
            return message["executable"]
    sys.exit(f"{name} was not built")


def measured(command, folder):
    """Seconds of processor time, of these in user mode, and megabytes at the peak; None when the command does not run."""
    with open(os.devnull, "w") as nowhere:
        process = subprocess.Popen(command, cwd=folder, stdout=nowhere, stderr=nowhere)
        _, status, usage = os.wait4(process.pid, 0)
    # 1 and 3 are answers of ownerlint: something was found, nothing was there to check.
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status) > 3:
        return None
    return usage.ru_utime + usage.ru_stime, usage.ru_utime, usage.ru_maxrss / 1024


def least(commands, folder):
    """For each command the least of several rounds."""
    best = {}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            found = measured(command, folder)
            if found is not None:
                seconds, user, memory = best.get(name, found)
                best[name] = (min(seconds, found[0]), min(user, found[1]), max(memory, found[2]))
    return best


def peers(folder):
    found = {}
    has_pyyaml = "import yaml; yaml.CSafeLoader"
    if subprocess.run([sys.executable, "-c", has_pyyaml], stderr=subprocess.DEVNULL).returncode == 0:
        found["PyYAML with libyaml, events only (`yaml.parse`)"] = [sys.executable, "-c", PYYAML % "parse", folder]
        found["PyYAML with libyaml (`yaml.load_all`)"] = [sys.executable, "-c", PYYAML % "load_all", folder]
    if shutil.which("kubeconform"):
        nothing = "-schema-location", "/nonexistent/{{.ResourceKind}}.json"
        found["kubeconform without schemas"] = ["kubeconform", "-n", "1", *nothing, "-ignore-missing-schemas", folder]
    return found


def print_table(title, rows, base):
    print(f"\n{title}\n")
    print("| | seconds | times the yardstick | seconds in user mode | peak memory |")
    print("|---|---|---|---|---|")
    for name, (seconds, user, memory) in rows.items():
        print(f"| {name} | {seconds:.3f} | {seconds / base:.1f} | {user:.3f} | {memory:.0f} MB |")


def manifests(folder):
    for inside, _, names in os.walk(folder, followlinks=True):
        for name in sorted(names):
            path = os.path.join(inside, name)
            if name.endswith(SUFFIXES) and os.path.isfile(path):
                yield path


def small(number, name):
    return (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}-{number}\n  namespace: shop\n"
        f"  labels: {{app: web-{number}}}\ndata:\n  key: value\n"
    )


def synthetic(place, paths):
    """What a corpus has not: 10,000 small documents, 50,000 small files, 100 MB in one file, its own and small ones, and nothing."""
    def folder(name):
        path = os.path.join(place, name)
        os.makedirs(path)
        return path

    documents = folder("10,000 documents in one file")
    with open(os.path.join(documents, "all.yaml"), "w") as file:
        file.write("---\n".join(small(number, "web") for number in range(10_000)))
    files = folder("50,000 files")
    for number in range(50_000):
        os.makedirs(os.path.join(files, str(number // 500)), exist_ok=True)
        with open(os.path.join(files, str(number // 500), f"{number}.yaml"), "w") as file:
            file.write(small(number, "web"))
    own = folder("100 MB of these files in one file")
    with open(os.path.join(own, "all.yaml"), "wb") as file:
        for path in itertools.cycle(path for path in paths if not path.endswith(".json")):
            if file.tell() >= 100_000_000:
                break
            with open(path, "rb") as manifest:
                file.write(manifest.read().removeprefix(b"\xef\xbb\xbf") + b"\n---\n")
    large = folder("100 MB of small ConfigMaps in one file")
    with open(os.path.join(large, "all.yaml"), "w") as file:
        number = 0
        while file.tell() < 100_000_000:
            file.write("---\n".join(small(at, "web") for at in range(number, number + 1_000)) + "---\n")
            number += 1_000
    return [folder("an empty folder"), documents, files, own, large]


def main():
    arguments = argparse.ArgumentParser(description="Times ownerlint, its yardstick and its peers.")
    arguments.add_argument("folder", nargs="?", default=os.path.join(ROOT, "fixtures"), help="holds manifests")
    arguments.add_argument("--built", nargs=2, metavar=("OWNERLINT", "YARDSTICK"), help="programs to time, not built anew")
    given = arguments.parse_args()
    folder = os.path.abspath(given.folder)
    program, yardstick = map(os.path.abspath, given.built) if given.built else built()
    check = [program, "check", "--no-config", "--threads", "1", "--allow-empty"]
    paths = list(manifests(folder))
    size = sum(os.path.getsize(path) for path in paths)
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors")
    commands = {
        "walk, read and count line breaks (the yardstick)": [yardstick, folder],
        "`ownerlint check`": [*check, folder],
        **peers(folder),
    }
    rows = least(commands, folder)
    print_table(f"{len(paths):,} files, {size / 1e6:.0f} MB", rows, next(iter(rows.values()))[0])
    with tempfile.TemporaryDirectory() as place:
        print("\n| `ownerlint check` on | seconds | peak memory |\n|---|---|---|")
        for inside in synthetic(place, paths):
            seconds, _, memory = least({"check": [*check, "."]}, inside)["check"]
            print(f"| {os.path.basename(inside)} | {seconds:.3f} | {memory:.0f} MB |")


if __name__ == "__main__":
    main()
