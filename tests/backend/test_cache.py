"""Machine code on disk: private, checked, rebuilt where anything is unexpected, and never executed then."""

import hashlib
import os
import stat
import warnings

import numpy as np
import pytest

from linkwise.backend import cache, gufunc, llvm, native
from linkwise.backend.cache import CacheWarning
from linkwise.backend.folder import Folder
from linkwise.graph.program import Port, trace
from support.processes import finish, run, start

X = np.arange(12.0).reshape(4, 3)


def program(factor=2.0):
    return trace("scaled", lambda x: ([factor * a for a in x],), [Port("x", (3,))], [Port("y", (3,))])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache, and a process that has compiled nothing and warned of nothing."""
    path = tmp_path / "cache"
    monkeypatch.setenv("LINKWISE_CACHE", str(path))
    monkeypatch.setenv("LINKWISE_BACKEND", "llvm")
    monkeypatch.setattr(native, "_functions", {})
    monkeypatch.setattr(native, "_checked", True)
    monkeypatch.setattr(cache, "_warned", False)
    return path


@pytest.fixture
def work(monkeypatch):
    """What is compiled and what is loaded from now on."""
    log = {"compiled": [], "loaded": []}
    compile_objects, load_objects = llvm.compile_objects, llvm.load_objects

    def compiling(*given):
        log["compiled"].append(compile_objects(*given))
        return log["compiled"][-1]

    def loading(objects):
        log["loaded"].append(objects)
        return load_objects(objects)

    monkeypatch.setattr(llvm, "compile_objects", compiling)
    monkeypatch.setattr(llvm, "load_objects", loading)
    return log


def call(factor=2.0):
    """A call in what might be a new process, and how often it warned."""
    native._functions.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.testing.assert_array_equal(native.function(program(factor))(X), factor * X)
    assert all(w.category is CacheWarning for w in caught)
    return len(caught)


def entry(folder):
    (path,) = folder.glob("*.bin")
    return path


def test_entries_are_private(folder):
    assert call() == 0
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(folder).stat().st_mode) == 0o600
    assert [p.name for p in folder.iterdir()] == [entry(folder).name]


def test_a_warm_cache_compiles_nothing(folder, work):
    assert call() == 0
    assert call() == 0
    assert len(work["compiled"]) == 1
    assert work["loaded"][1] == work["compiled"][0]


def test_a_function_is_loaded_once_in_a_process(folder, work):
    assert native.function(program()) is native.function(program())
    assert len(work["loaded"]) == 1


def test_different_programs_have_different_entries(folder):
    call(2.0)
    call(3.0)
    assert len(list(folder.glob("*.bin"))) == 2


CHANGES = {
    "nothing": (native, "BACKENDS", native.BACKENDS),
    "processor": (llvm, "host", lambda: ("triple", "another processor", "")),
    "version of Linkwise": (native, "__version__", "another"),
    "length of chunks": (llvm, "CHUNK", 77),
    "writer of the code": (llvm, "_generator", lambda: "another"),
    "format of entries": (cache, "MAGIC", b"another"),
}


def test_the_key_depends_on_all_that_decides_the_code(folder, monkeypatch):
    keys = []
    function = native.function(program())

    def remember(key):
        keys.append(key)
        return [b""]

    monkeypatch.setattr(cache, "read", remember)
    monkeypatch.setattr(llvm, "load_objects", lambda objects: 0)
    monkeypatch.setattr(gufunc, "make", lambda *a: function)
    for module, name, value in CHANGES.values():
        native._functions.clear()
        with monkeypatch.context() as m:
            m.setattr(module, name, value)
            native.function(program())
    assert len(set(keys)) == len(CHANGES)


def content(data):
    return data[len(cache.MAGIC) + 32 :]


def flip(at):
    return lambda data: data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


DAMAGE = {
    "empty": lambda data: b"",
    "one byte": lambda data: data[:1],
    "head only": lambda data: data[: len(cache.MAGIC)],
    "no content": lambda data: data[: len(cache.MAGIC) + 32],
    "half": lambda data: data[: len(data) // 2],
    "last byte missing": lambda data: data[:-1],
    "byte added": lambda data: data + b"\0",
    "format": lambda data: b"linkwise-code-0\n" + data[len(cache.MAGIC) :],
    "foreign": lambda data: b"\x7fELF" + os.urandom(2000),
    "text": lambda data: b"not machine code\n" * 100,
    "flip in format": flip(3),
    "flip in hash": flip(len(cache.MAGIC) + 5),
    "flip in count": flip(len(cache.MAGIC) + 32),
    "flip in code": flip(-100),
    "hash of the content alone": lambda data: cache.MAGIC + hashlib.sha256(content(data)).digest() + content(data),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_entry_is_rebuilt_and_never_executed(folder, work, kind):
    call()
    good = entry(folder).read_bytes()
    entry(folder).write_bytes(DAMAGE[kind](good))
    assert call() == 1
    assert work["loaded"] == work["compiled"]  # only what was compiled here
    assert len(work["compiled"]) == 2
    assert entry(folder).read_bytes() == good
    assert call() == 0


def test_an_entry_under_the_name_of_another_is_rebuilt(folder, work):
    call(2.0)
    (two,) = folder.glob("*.bin")
    call(3.0)
    (three,) = set(folder.glob("*.bin")) - {two}
    three.write_bytes(two.read_bytes())
    assert call(3.0) == 1
    assert len(work["compiled"]) == 3


def test_an_entry_that_is_a_directory(folder):
    call()
    path = entry(folder)
    path.unlink()
    path.mkdir()
    assert call() == 1
    assert [p.name for p in folder.iterdir()] == [path.name]  # nothing half-written is left


def test_one_warning_in_a_process(folder):
    call(2.0)
    call(3.0)
    for path in folder.glob("*.bin"):
        path.write_bytes(b"")
    assert call(2.0) + call(3.0) == 1


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes of directories are POSIX")
@pytest.mark.parametrize("mode", [0o777, 0o755, 0o770, 0o701])
def test_a_directory_open_to_others_is_refused(folder, work, mode):
    call()
    folder.chmod(mode)
    assert call() == 1
    assert len(work["compiled"]) == 2
    assert call() == 0
    folder.chmod(0o700)
    assert call() == 0
    assert len(work["compiled"]) == 3


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="owners of directories are POSIX")
def test_a_directory_of_another_user_is_refused(folder, monkeypatch):
    call()
    mine = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: mine + 1)
    assert call() == 1


def test_a_directory_that_cannot_be_made(folder, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    for path in ("file", "file/cache"):
        monkeypatch.setattr(cache, "_warned", False)
        monkeypatch.setenv("LINKWISE_CACHE", str(tmp_path / path))
        assert call() == 1


def test_a_directory_that_cannot_be_written(folder, monkeypatch):
    def refuse(*a, **k):
        raise PermissionError("read-only")

    monkeypatch.setattr(Folder, "write", refuse)
    assert call() == 1
    monkeypatch.setattr(cache, "_warned", False)
    with pytest.warns(CacheWarning, match="Name a folder that can be written by LINKWISE_CACHE"):
        cache.write("key", [])
    assert list(folder.iterdir()) == []


def test_a_full_disk_leaves_nothing_behind(folder, monkeypatch):
    def full(*a):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache, "_pack", full)
    assert call() == 1
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("word", ["off", "OFF", "0", "no", "none", ""])
def test_the_cache_can_be_turned_off(folder, work, monkeypatch, tmp_path, word):
    monkeypatch.setenv("LINKWISE_CACHE", word)
    monkeypatch.chdir(tmp_path)
    assert call() + call() == 0
    assert len(work["compiled"]) == 2
    assert list(tmp_path.iterdir()) == []


def test_the_default_is_the_users_cache_directory(folder, monkeypatch, tmp_path):
    monkeypatch.delenv("LINKWISE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.directory() == tmp_path / "xdg" / "linkwise"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.directory() == tmp_path / ".cache" / "linkwise"


# ---- processes

CALL = """
import numpy as np
from support.arms import arm, states
import linkwise as lw
from linkwise.backend import llvm

def refuse(program, levels):
    raise SystemExit("compiled " + program.name)

WARM and setattr(llvm, "compile_objects", refuse)
robot = arm(3)
print(lw.compile(robot).inverse_dynamics(*states(robot, 5)).tobytes().hex())
"""


def test_the_second_process_finds_the_code(folder):
    cold = run(CALL.replace("WARM", "False"))
    assert run(CALL.replace("WARM", "True")) == cold


def test_processes_that_write_the_same_entry(folder):
    processes = [start(CALL.replace("WARM", "False")) for _ in range(4)]
    assert len({finish(p) for p in processes}) == 1
    assert len(list(folder.iterdir())) == 3  # the kernel, notes on it, and the trial kernel of each first use
    assert run(CALL.replace("WARM", "True"))
