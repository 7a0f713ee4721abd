"""Operating systems: what differs between Linux, macOS and Windows, each asked where it runs."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.backend import cache, direct, llvm, native
from linkwise.backend.folder import private
from linkwise.cli import streams
from linkwise.files import contents, replacing
from linkwise.robot.geometry import _plain
from support.processes import PATH

windows = pytest.mark.skipif(sys.platform != "win32", reason="Windows alone")
macos = pytest.mark.skipif(sys.platform != "darwin", reason="macOS alone")
posix = pytest.mark.skipif(os.name != "posix", reason="modes and owners are of POSIX")


def python(text: str, *arguments: str, **settings: str) -> subprocess.CompletedProcess[bytes]:
    """A script in a process of its own, and the bytes that it prints."""
    environment = {**os.environ, "PYTHONPATH": PATH, **settings}
    return subprocess.run(
        [sys.executable, "-c", text, *arguments], env=environment, capture_output=True, timeout=120, check=False
    )


# ---- everywhere


def test_kernels_are_native():
    """And not by the interpreter of programs, which is what remains where LLVM fails."""
    assert native.backend() == "llvm"
    assert llvm.target().lanes > 1


@pytest.mark.skipif(not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="without the lock NumPy's way is taken")
def test_arrays_are_laid_out_as_expected():
    assert direct._method().name == b"kernel"


def test_threads_share_rows():
    """In threads of the system, whose stacks are small on some: the numbers of one thread, to the last bit."""
    robot = lw.load("arm7")
    x = np.random.default_rng(0).normal(size=(3, 20_000, robot.nv))
    one, two = (lw.compile(robot, lw.inverse_dynamics, threads=n)(*x) for n in (1, 2))
    assert np.array_equal(one, two)


def test_a_second_process_finds_the_code_of_the_first(tmp_path):
    text = "import linkwise as lw; print(lw.compile(lw.load('rr')).inverse_dynamics([0, 0], [0, 0], [0, 0]))"
    folder = tmp_path / "Wärme und Kälte"  # a path as users have them
    first = python(text, LINKWISE_CACHE=str(folder))
    kept = {p.name: p.stat().st_size for p in folder.iterdir()}
    second = python(text, LINKWISE_CACHE=str(folder))
    assert first.stdout == second.stdout, (first.stderr, second.stderr)
    assert first.stderr == second.stderr == b""
    assert kept == {p.name: p.stat().st_size for p in folder.iterdir()}
    assert len(kept) > 1


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "cp437"])
def test_every_encoding_of_a_pipe_will_do(encoding):
    """What it does not have becomes a question mark, and nothing fails."""
    done = python("from linkwise.cli import main; main()", "info", "rr", PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    assert b"rr" in done.stdout
    done.stdout.decode(encoding)


def test_names_and_line_ends_of_every_system(tmp_path):
    path = tmp_path / "ein Arm mit Ärmel.toml"
    lw.save(lw.load("rr"), path)
    path.write_bytes(b"\r\n".join(path.read_bytes().splitlines()))
    assert lw.load(path) == lw.load("rr")
    table = tmp_path / "a b.csv"
    table.write_bytes(b"t,joint1,joint2\r\n" + b"".join(b"%.1f,0,%.2f\r\n" % (k / 10, k * k / 900) for k in range(9)))
    done = python("from linkwise.cli import main; main()", "torque", str(path), str(table), "--json")
    assert done.returncode == 0, done.stderr


def test_meshes_on_a_drive():
    assert _plain("/C:/my%20meshes/arm.stl", windows=True) == "C:/my meshes/arm.stl"
    assert _plain("meshes/arm.stl", windows=True) == "meshes/arm.stl"
    assert _plain("/C:/my%20meshes/arm.stl", windows=False) == "/C:/my meshes/arm.stl"


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(lw.InputError, match="Is a directory"):
        contents(tmp_path, 10)


def test_a_console_of_windows_keeps_its_characters(monkeypatch):
    """Bytes would be read there in the code page of the console."""

    class Console(streams.io.TextIOWrapper):
        def isatty(self):
            return True

    console = Console(streams.io.BytesIO(), "utf-8")
    monkeypatch.setattr(streams.sys, "platform", "win32")
    monkeypatch.setattr(sys, "stdout", console)
    monkeypatch.setattr(sys, "stderr", console)
    streams.guard()
    assert sys.stdout is console
    assert console.errors == "replace"
    assert streams._left(OSError(streams.errno.EINVAL, "Invalid argument"))  # what a pipe says whose reader has left


# ---- POSIX


@posix
def test_the_cache_is_private(tmp_path):
    folder = tmp_path / "cache"
    with private(folder) as opened:
        opened.write("a.bin", b"1")
    assert (folder.stat().st_mode & 0o777, (folder / "a.bin").stat().st_mode & 0o777) == (0o700, 0o600)


@macos
def test_a_fork_of_macos_computes():
    """Python warns of it there, and starts processes anew by default; a fork of ours works all the same."""
    text = """
import os, linkwise as lw
k = lw.compile(lw.load("arm7"), lw.inverse_dynamics, threads=2)
x = __import__("numpy").zeros((3, 20_000, 7))
k(*x)
child = os.fork()
if child == 0:
    k(*x)
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert python(text).stdout.strip() == b"7"


# ---- Windows


@windows
def test_the_cache_of_windows_is_in_the_profile(monkeypatch):
    monkeypatch.delenv("LINKWISE_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache.directory().is_relative_to(Path.home())


@windows
def test_an_entry_that_another_process_reads_stays(tmp_path):
    with private(tmp_path / "cache") as folder:
        folder.write("a.bin", b"1")
        with (folder.path / "a.bin").open("rb"):
            folder.write("a.bin", b"2")
        assert folder.read("a.bin") in (b"1", b"2")


@windows
def test_a_file_that_is_open_is_not_lost(tmp_path):
    """Windows lets nobody replace it: an error says so, and the old content stays."""
    path = tmp_path / "plan.csv"
    path.write_text("old")
    with (
        path.open(),
        pytest.raises(lw.InputError, match="expected a file that can be written"),
        replacing(path) as part,
    ):
        part.write_text("new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["plan.csv"]


@windows
def test_a_reader_may_leave_on_windows():
    text = "import subprocess, sys; p = subprocess.Popen([sys.executable, '-m', 'linkwise', 'robots'], stdout=-1,"
    text += " stderr=-1); p.stdout.close(); print(p.stderr.read(), p.wait())"
    assert python(text).stdout.strip() == b"b'' 0"
