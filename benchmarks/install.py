"""From nothing to a first torque: the wheel is built, installed without extras into a new environment, and used.

Other interpreters are chosen by LINKWISE_PYTHONS, paths with ":" between them; by default this one. The packages come
from where pip finds them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FIRST = """
import time
begin = time.perf_counter()
import linkwise as lw
dyn = lw.compile(lw.load("arm7"))
tau = dyn.inverse_dynamics([0.3] * 7, [0.0] * 7, [0.0] * 7)
import sys
print(sys.version.split()[0], time.perf_counter() - begin, float(abs(tau).sum()))
"""


def told(*command: object, **settings: str) -> str:
    """What a command prints."""
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run([str(x) for x in command], env={**clean, **settings}, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr[-2000:]}")
    return done.stdout


def tried(python: str, wheel: Path, folder: Path) -> dict[str, Any]:
    """Seconds to make an environment and install the wheel, to a first torque there, and to a first command."""
    begin = time.perf_counter()
    told(python, "-m", "venv", folder)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    told(programs / "python", "-m", "pip", "install", "--quiet", wheel)
    installed = time.perf_counter() - begin
    cache = {"LINKWISE_CACHE": str(folder / "cache")}
    version, first, _ = told(programs / "python", "-c", FIRST, **cache).split()
    start = time.perf_counter()
    told(programs / "linkwise", "info", "arm7", **cache)
    command = time.perf_counter() - start
    size = sum(p.stat().st_size for p in folder.glob("**/*") if p.is_file() and not p.is_symlink())
    print(
        f"Python {version}: installed in {installed:.1f} s ({size / 1e6:.0f} MB with all packages), first torque"
        f" {float(first):.2f} s later, first command {command:.2f} s; in all {installed + float(first):.1f} s"
    )
    return {"python": version, "install": installed, "first torque": float(first), "command": command, "bytes": size}


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        tools = Path(folder, "tools")
        venv.create(tools, with_pip=True)
        python = tools / ("Scripts" if os.name == "nt" else "bin") / "python"
        told(python, "-m", "pip", "install", "--quiet", "build")
        told(python, "-m", "build", "--outdir", Path(folder, "dist"), ROOT)
        (wheel,), (sources,) = Path(folder, "dist").glob("*.whl"), Path(folder, "dist").glob("*.tar.gz")
        results = [{"wheel": wheel.stat().st_size, "sources": sources.stat().st_size}]
        print(f"wheel {wheel.stat().st_size / 1e6:.2f} MB, sources {sources.stat().st_size / 1e6:.2f} MB")
        chosen = os.environ.get("LINKWISE_PYTHONS", sys.executable).split(os.pathsep)
        return results + [tried(each, wheel, Path(folder, str(k))) for k, each in enumerate(chosen)]
