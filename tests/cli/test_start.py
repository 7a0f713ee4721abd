"""The command starts quickly, because its root brings in nothing heavy."""

import os
import resource
import subprocess
import sys

import pytest

HEAVY = ("numpy", "scipy", "rich", "matplotlib", "llvmlite", "msgspec", "linkwise.robot", "linkwise.kernel")
PROBE = """
import sys
try:
    from linkwise.cli.root import cli
    cli.main({arguments!r})
except SystemExit as leaving:
    assert not leaving.code
print([m for m in {heavy!r} if m in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [["--help"], ["torque", "--help"], ["--version"], ["completion", "zsh"]])
def test_no_heavy_imports(arguments):
    probe = PROBE.format(arguments=arguments, heavy=HEAVY)
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_help_takes_little_time():
    """CPU time of the whole process, the best of a few, because the machine may be busy."""
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "linkwise", "--help"], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    assert min(times) <= 0.2


def test_a_process_answers_errors_in_one_line():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for arguments, code in ((["info", "no.urdf"], 2), (["info", "rr"], 0)):
        done = subprocess.run(
            [sys.executable, "-m", "linkwise", *arguments], capture_output=True, text=True,
            env=environment, check=False,
        )  # fmt: skip
        assert done.returncode == code
        assert "Traceback" not in done.stderr


def test_a_reader_that_leaves_is_no_failure():
    """As in `linkwise info puma560 | head -1`."""
    command = [sys.executable, "-m", "linkwise", "info", "puma560"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 0
