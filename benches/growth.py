#!/usr/bin/env python3
"""Sweeps inputs that once cost more than their size: each shape at 1, 2, 4 and 8 times its size, the largest as a stranger sends it.

    python3 benches/growth.py BINARY [--only SHAPE]

Prints, per size, the bytes, the processor time (user and system), the peak memory, and how the run ended; then the growth from the
smallest to the largest run that read everything, and whether each run stayed below its bound: START seconds plus TIMES times the
reading of the same bytes, which is `ownerlint list` on the same files without a configuration. A run that ends with a limit's error
has to stay below it, too. BINARY is an optimised build.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile

START, TIMES = 0.3, 10
SECONDS, SPACE = 60, 10 << 30
SWEEP = (1, 2, 4, 8)

SHAPES = {}


def shape(command):
    def register(make):
        SHAPES[make.__name__] = (command, make)
        return make
    return register


DIFF = ["diff", "--base", "base", "--head", "head"]
CHECK = ["check"]


def write(place, path, text):
    path = os.path.join(place, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def config_map(name, namespace=None, value="v"):
    inside = f", namespace: {namespace}" if namespace else ""
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}{inside}}}\ndata: {{k: {value}}}\n"


def both(place, make):
    """The same tree twice; `make` gets the folder and whether it is head."""
    for side in ("base", "head"):
        make(os.path.join(place, side), side == "head")


def overlays(place, count, objects):
    def make(place, head):
        maps = "---\n".join(config_map(f"m{at}") for at in range(objects - head))
        write(place, "app/kustomization.yaml", "resources: [maps.yaml]\n")
        write(place, "app/maps.yaml", maps)
        for at in range(count):
            write(place, f"overlays/o{at}/kustomization.yaml", f"resources: [../../app]\nnamespace: n{at}\n")
    both(place, make)


@shape(DIFF)
def overlays_of_a_large_file_hit_the_instance_limit(place, times):
    overlays(place, 100 * times // 8, 20_000)


@shape(DIFF)
def overlays_of_some_objects(place, times):
    overlays(place, 100 * times, 800)


@shape(DIFF)
def kustomizations_that_include_twice(place, times):
    def make(place, head):
        levels = 27 * times // 8
        for at in range(levels):
            for side in "ab":
                under = f"[../a{at + 1}, ../b{at + 1}]" if at + 1 < levels else "[map.yaml]"
                write(place, f"{side}{at}/kustomization.yaml", f"resources: {under}\nnamePrefix: {side}\n")
        for side in "ab":
            write(place, f"{side}{levels - 1}/map.yaml", config_map("m", value=head))
    both(place, make)


@shape(DIFF)
def kustomizations_that_are_included_twice(place, times):
    def make(place, head):
        levels = 54 * times // 8
        for at in range(levels):
            under = f"../l{at + 1}"
            under = f"[{under}, {under}]" if at + 1 < levels else "[map.yaml]"
            write(place, f"l{at}/kustomization.yaml", f"resources: {under}\n")
        write(place, f"l{levels - 1}/map.yaml", config_map("m", value=head))
    both(place, make)


@shape(DIFF)
def flux_kustomizations_of_one_folder(place, times):
    def make(place, head):
        for at in range(50 * times):
            write(place, f"flux/k{at}.yaml", (
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
                f"metadata: {{name: k{at}, namespace: flux-system}}\nspec:\n  path: ./apps\n  prune: true\n"
                f"  targetNamespace: n{at}\n  sourceRef: {{kind: GitRepository, name: flux-system}}\n"
            ))
        for at in range(400 - head):
            write(place, f"apps/m{at}.yaml", config_map(f"m{at}"))
    both(place, make)


def flux_repository(place, times):
    """At the largest size 500 Kustomizations with ten objects each."""
    names = [f"app{at}" for at in range(500 * times // 8)]
    texts = [
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
        f"metadata: {{name: {name}, namespace: flux-system}}\nspec:\n  path: ./apps/{name}\n  prune: true\n"
        f"  targetNamespace: {name}\n  sourceRef: {{kind: GitRepository, name: flux-system}}\n"
        for name in names
    ]
    write(place, "clusters/prod/apps.yaml", "---\n".join(texts))
    for name in names:
        for at in range(10):
            write(place, f"apps/{name}/m{at}.yaml", config_map(f"m{at}"))


@shape(["list", "--deliveries", "."])
def deliveries_of_flux(place, times):
    flux_repository(place, times)


@shape(DIFF)
def one_object_less_of_flux(place, times):
    def make(side, head):
        flux_repository(side, times)
        if head:
            os.remove(os.path.join(side, "apps/app0/m0.yaml"))
    both(place, make)


def set_over_folders(place, count):
    write(place, "set.yaml", (
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: all, namespace: argocd}\nspec:\n"
        "  generators: [{git: {repoURL: https://git.example.org/fleet.git, directories: [{path: 'svc/*'}]}}]\n"
        "  template:\n    metadata: {name: '{{path.basename}}'}\n    spec:\n"
        "      source: {repoURL: https://git.example.org/fleet.git, path: '{{path}}'}\n"
        "      destination: {server: 'https://kubernetes.default.svc', namespace: shop}\n"
        "      syncPolicy: {automated: {prune: true}}\n"
    ))
    for at in range(count):
        write(place, f"svc/s{at}/map.yaml", config_map(f"m{at}"))


@shape(["list", "--deliveries", "."])
def deliveries_of_a_set_over_folders(place, times):
    set_over_folders(place, 250 * times)


@shape(DIFF)
def one_folder_less_of_a_set(place, times):
    both(place, lambda side, head: set_over_folders(side, 250 * times - head))


@shape(DIFF)
def applications_and_projects(place, times):
    def make(place, head):
        texts = []
        for at in range(1_250 * times - 10 * head):
            texts.append(
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\n"
                f"metadata: {{name: a{at}, namespace: argocd, finalizers: [resources-finalizer.argocd.argoproj.io]}}\n"
                f"spec:\n  project: p{at}\n  source: {{repoURL: https://example.org/x.git, path: apps/a{at}}}\n"
                f"  destination: {{namespace: a{at}, server: https://kubernetes.default.svc}}\n"
                "---\napiVersion: argoproj.io/v1alpha1\nkind: AppProject\n"
                f"metadata: {{name: p{at}, namespace: argocd}}\nspec: {{sourceRepos: ['*']}}\n"
            )
        write(place, "all.yaml", "---\n".join(texts))
    both(place, make)


@shape(DIFF)
def definitions_and_instances(place, times):
    def make(place, head):
        texts = []
        for at in range(1_750 * times):
            if not (head and at % 2):
                texts.append(
                    "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
                    f"metadata: {{name: k{at}s.x.example}}\nspec:\n  group: x.example\n  scope: Namespaced\n"
                    f"  names: {{kind: K{at}, plural: k{at}s}}\n"
                    "  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]\n"
                )
            texts.append(f"apiVersion: x.example/v1\nkind: K{at}\nmetadata: {{name: k, namespace: n}}\nspec: {{a: b}}\n")
        write(place, "all.yaml", "---\n".join(texts))
    both(place, make)


@shape(CHECK)
def one_path_many_times(place, times):
    for at in range(250 * times):
        write(place, f"m/f{at}.yaml", "")
    write(place, "m/map.yaml", config_map("m"))
    paths = ", ".join(["m"] * (250 * times))
    write(place, "ownerlint.yaml", f"version: 1\nbundles:\n  b:\n    paths: [{paths}]\n")


@shape(CHECK)
def globs_of_bundles(place, times):
    for at in range(250 * times):
        write(place, f"m/f{at}.yaml", config_map(f"m{at}"))
    bundles = "".join(f"  b{at}: {{paths: ['m/*{at}.yaml']}}\n" for at in range(250 * times))
    write(place, "ownerlint.yaml", f"version: 1\nbundles:\n{bundles}")


def bundles(count):
    return "version: 1\nbundles:\n" + "".join(f"  b{at}: {{paths: [m]}}\n" for at in range(count))


@shape(CHECK)
def bundles_of_one_folder(place, times):
    write(place, "m/map.yaml", config_map("m"))
    write(place, "ownerlint.yaml", bundles(1_000 * times))


@shape(DIFF)
def bundles_of_one_folder_compared(place, times):
    def make(place, head):
        write(place, "m/map.yaml", config_map("m", value=head))
        write(place, "ownerlint.yaml", bundles(1_000 * times))
    both(place, make)


def measured(command, folder):
    """How a command ends: its status, seconds, megabytes, and what it said last on standard error."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_DATA, (SPACE, SPACE))
    with open(os.devnull, "w") as nowhere, tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, cwd=folder, stdout=nowhere, stderr=said, preexec_fn=limit)
        _, status, usage = os.wait4(process.pid, 0)
        said.seek(0)
        lines = [line.strip() for line in said.read().decode(errors="replace").splitlines() if line.strip()]
    error = next((line for line in lines if line.startswith(("error", "Error", "×", "x "))), lines[-1] if lines else "")
    status = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
    return status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, error


def size(folder):
    return sum(os.path.getsize(os.path.join(inside, name)) for inside, _, names in os.walk(folder) for name in names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--only", help="shapes whose names contain this")
    arguments = parser.parse_args()
    binary, beyond = os.path.abspath(arguments.binary), 0
    print("| input | times | kB | reading s | s | of its bound | MB | ends |\n|---|---|---|---|---|---|---|---|")
    for name, (command, make) in SHAPES.items():
        if arguments.only and arguments.only not in name:
            continue
        read = []
        for times in SWEEP:
            place = tempfile.mkdtemp(prefix="growth-")
            try:
                make(place, times)
                _, reading, _, _ = measured([binary, "list", "--no-config", "--output", "json", "."], place)
                status, seconds, memory, error = measured([binary, *command], place)
                bytes_read = size(place)
            finally:
                shutil.rmtree(place)
            bound = START + TIMES * reading
            beyond += seconds > bound
            ends = f"{status}" if status in (0, 1) else f"{status}: {error[:100]}"
            if status in (0, 1):
                read.append((times, seconds, memory))
            print(f"| {name} | {times} | {bytes_read / 1000:.0f} | {reading:.3f} | {seconds:.2f} | {seconds / bound:.2f} "
                  f"| {memory:.0f} | {ends} |", flush=True)
        if len(read) > 1:
            (first, least, _), (last, most, _) = read[0], read[-1]
            print(f"| {name} | growth | | | {most / max(least, 0.01):.1f} for {last / first:.0f} | | | |", flush=True)
    print(f"\n{beyond} beyond the bound of {START} s and {TIMES} times the reading")
    sys.exit(beyond > 0)


if __name__ == "__main__":
    main()
