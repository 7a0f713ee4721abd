"""Exported folders, compiled and run."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wstrict-prototypes", "-Werror")
FLAGS = ("-std=c99", "-fno-math-errno", "-ffp-contract=off", *WARNINGS)


def tool(name: str, package: str) -> str:
    """A program, or why a test cannot run."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not found, which {package} brings")
    return name


def done(*command: Any, cwd: Path) -> str:
    """What a command prints, which must succeed."""
    ran = subprocess.run([str(x) for x in command], cwd=cwd, capture_output=True, text=True, timeout=600)
    assert ran.returncode == 0, f"{' '.join(map(str, command))}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


def worst(text: str) -> float:
    """The largest difference that a test with numbers has printed, of which there is one."""
    found = [float(x) for x in re.findall(r"worst difference (\S+) of the largest", text)]
    assert found, text
    return max(found)


def worst_in_c(folder: Path, *flags: str) -> float:
    """The largest difference of a folder in C, compiled without a warning."""
    sources = [p for p in sorted(folder.glob("*.c")) if p.name != "control_loop.c"]
    done(tool("gcc", "gcc"), *FLAGS, *(flags or ("-O1",)), *(p.name for p in sources), "-o", "all", "-lm", cwd=folder)
    return worst(done("./all", cwd=folder))
