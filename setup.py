"""What pre-commit installs for the hook `ownerlint`: no code, only the wheel of the same version.

pre-commit installs the checkout of a hook's repository. Building this one would take minutes and a Rust toolchain.
"""

import re
from pathlib import Path

from setuptools import setup

manifest = (Path(__file__).parent / "Cargo.toml").read_text(encoding="utf-8")
version = re.search(r'^version = "(.+)"$', manifest, re.MULTILINE).group(1)

setup(
    name="ownerlint-hook",
    version=version,
    description="The pre-commit hook of ownerlint",
    packages=[],
    py_modules=[],
    install_requires=[f"ownerlint=={version}"],
)
