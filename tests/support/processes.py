"""Python processes of their own."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import linkwise

PATH = os.pathsep.join([str(Path(linkwise.__file__).parents[1]), str(Path(__file__).parents[1])])


def start(code: str, **environment: str) -> subprocess.Popen[str]:
    """Start `python -c code`, warnings as errors, with further environment variables."""
    env = {**os.environ, "PYTHONPATH": PATH, **environment}
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code)]
    return subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def finish(process: subprocess.Popen[str], seconds: float = 60.0) -> str:
    """What it printed; fails with its error message."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"the process did not end within {seconds} s") from None
    assert process.returncode == 0, err
    return out


def run(code: str, **environment: str) -> str:
    """What `python -c code` prints."""
    return finish(start(code, **environment))
