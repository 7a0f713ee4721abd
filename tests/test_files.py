"""Files: written whole whoever else writes or reads, and read without trust."""

import multiprocessing
import os
import socket
import stat
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise import files
from linkwise.files import arrays, contents, reading, replacing

posix = pytest.mark.skipif(os.name != "posix", reason="modes, owners, links and pipes are of POSIX")
linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc is of Linux")

SIZE = 3000  # bytes of a file in the test of many writers: more than one write() when buffered by lines


def write(path, text="new"):
    with replacing(path) as part:
        part.write_text(text)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


# ---- writing


@posix
def test_a_new_file_has_the_mode_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "a.csv")
    finally:
        os.umask(before)
    assert mode(tmp_path / "a.csv") == 0o640


@posix
@pytest.mark.parametrize("kept", [0o600, 0o640, 0o664, 0o755])
def test_a_file_keeps_its_mode(tmp_path, kept):
    path = tmp_path / "a.csv"
    path.write_text("old")
    path.chmod(kept)
    write(path)
    assert (path.read_text(), mode(path)) == ("new", kept)


@posix
def test_a_secret_file_is_never_open_to_others_on_the_way(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")
    path.chmod(0o600)
    with replacing(path) as part:
        assert mode(part) == 0o600
        part.write_text("new")


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() != 0, reason="only root may give files away")
def test_a_file_keeps_its_owner(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")
    os.chown(path, 12345, 54321)
    write(path)
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


def test_a_read_only_file_is_refused_and_kept(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(lw.InputError, match=r"a\.csv': expected a file that can be written, got: .* read-only"):
        write(path)
    assert (path.read_text(), mode(path)) == ("old", 0o444)


@posix
def test_links_are_followed(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("data/real.csv")
    (tmp_path / "dangling.csv").symlink_to("data/none.csv")
    write(tmp_path / "link.csv")
    write(tmp_path / "dangling.csv", "made")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "data" / "real.csv").read_text() == "new"
    assert (tmp_path / "data" / "none.csv").read_text() == "made"
    (tmp_path / "round.csv").symlink_to("round.csv")
    with pytest.raises(lw.InputError, match="expected a file that can be written"):
        write(tmp_path / "round.csv")


@posix
def test_a_planted_file_is_not_followed(tmp_path, monkeypatch):
    """Even where someone knows the name of the file in between."""
    victim = tmp_path / "victim"
    victim.write_text("old")
    monkeypatch.setattr(files.os, "urandom", lambda count: bytes(count))
    (tmp_path / f".linkwise-{bytes(8).hex()}.csv").symlink_to(victim)
    with pytest.raises(lw.InputError, match="File exists"):
        write(tmp_path / "a.csv")
    assert victim.read_text() == "old"


def special_files(folder):
    os.mkfifo(folder / "pipe.csv")
    (folder / "null.csv").symlink_to("/dev/null")
    (folder / "folder.csv").mkdir()
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(folder / "socket.csv"))
    return {"pipe": "a named pipe", "null": "a device", "folder": "a folder", "socket": "a socket"}


@posix
def test_what_is_no_file_is_refused_and_stays_what_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, words in special_files(tmp_path).items():
        path = tmp_path / f"{name}.csv"
        before = path.lstat()
        with pytest.raises(lw.InputError, match=f"expected a file that can be written, got: {words}"):
            write(path)
        assert path.lstat().st_ino == before.st_ino
    ends = os.pipe()
    with pytest.raises(lw.InputError, match="a named pipe"):
        write(f"/dev/fd/{ends[1]}")
    for end in ends:
        os.close(end)
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("path", ["a\0b.csv", "x" * 300 + ".csv", "no/such/folder.csv", ""])
def test_names_that_no_file_can_have(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(lw.InputError, match="expected a file that can be written"):
        write(path)


def test_long_names_and_capital_suffixes(tmp_path):
    """The name in between is short, and ends as writers such as NumPy's expect."""
    write(tmp_path / ("n" * 250 + ".csv"))
    robot = lw.load("rr")
    lw.simulate(robot, [0.0, 0.0], None, 0.01).save(tmp_path / "RUN.NPZ")
    assert len(lw.simulation.Simulation.load(tmp_path / "RUN.NPZ")) > 1
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, OSError, SystemExit])
def test_a_block_that_fails_leaves_nothing_behind(tmp_path, error):
    path = tmp_path / "a.csv"
    path.write_text("old")

    def fail():
        with replacing(path) as part:
            part.write_text("half")
            raise error

    with pytest.raises((error, lw.InputError)):
        fail()
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]
    assert path.read_text() == "old"


def _work(path, who, count, failures):
    """Write and read by turns; a file is one letter throughout."""
    for k in range(count):
        try:
            if k % 2:
                write(path, chr(65 + (who + k) % 26) * SIZE)
            else:
                text = path.read_text()
                assert len(text) == SIZE
                assert set(text) == {text[0]}
        except (OSError, AssertionError, lw.LinkwiseError) as error:
            failures.append(repr(error)[:200])


def _process(path, who, count, threads, pipe):
    failures = []
    workers = [threading.Thread(target=_work, args=(path, who + k, count, failures)) for k in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    pipe.send(failures)


@pytest.mark.parametrize("operations", [2000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_many_writers_and_readers(tmp_path, operations):
    """No reader sees half a file and no writer fails, among threads of several processes."""
    path = tmp_path / "shared.txt"
    path.write_text("A" * SIZE)
    processes, threads = 4, 5
    context = multiprocessing.get_context("spawn")
    running = []
    for k in range(processes):
        mine, theirs = context.Pipe()
        arguments = (path, 7 * k, operations // (processes * threads), threads, theirs)
        process = context.Process(target=_process, args=arguments)
        process.start()
        running.append((process, mine))
    failures = []
    for process, mine in running:
        assert mine.poll(600)
        failures += mine.recv()
        process.join(60)
    assert failures == []
    assert [p.name for p in tmp_path.iterdir()] == ["shared.txt"]


# ---- reading


@posix
def test_what_is_no_file_is_not_waited_for(tmp_path, monkeypatch):
    """A pipe that nobody writes to would be opened, and read, for ever."""
    monkeypatch.chdir(tmp_path)
    special_files(tmp_path)
    for name, words in {"pipe": "a named pipe", "null": "a device", "socket": "a socket"}.items():
        path = (tmp_path / f"{name}.csv").rename(tmp_path / f"{name}.toml")
        with pytest.raises(lw.InputError, match=f"expected a file that can be read, got: {words}"):
            contents(path, 10)
        with pytest.raises(lw.LinkwiseError, match=words):
            lw.load(path)
    os.mkfifo(tmp_path / "a.csv")
    os.mkfifo(tmp_path / "a.npz")
    for load in (lw.planning.Plan.load, lw.simulation.Simulation.load):
        with pytest.raises(lw.InputError, match="a named pipe"):
            load(tmp_path / "a.npz")
    for name in ("a.csv", "a.npz"):
        with pytest.raises(lw.InputError, match="a named pipe"):
            lw.motion.read(tmp_path / name, lw.load("rr"))


@linux
def test_what_a_shell_passes_on_is_read(tmp_path):
    code = "from linkwise.files import contents; import sys; print(contents(sys.argv[1], 100))"
    for name, data in (("/dev/stdin", "x" * 99), ("/dev/fd/0", ""), ("/proc/self/fd/0", "hello")):
        done = subprocess.run(
            [sys.executable, "-c", code, name], input=data, capture_output=True, text=True, timeout=60
        )
        assert done.stdout == f"{data.encode()!r}\n"
    done = subprocess.run([sys.executable, "-c", code, "/dev/stdin"], input="x" * 101, capture_output=True, text=True)
    assert "expected at most 100 bytes, got more" in done.stderr


def test_sizes_are_bounded(tmp_path):
    path = tmp_path / "a.csv"
    with path.open("wb") as file:
        file.truncate(files.LARGEST + 1)  # sparse
    for call in (lambda: contents(path, files.LARGEST), lambda: lw.motion.read(path, lw.load("rr"))):
        with pytest.raises(lw.InputError, match=r"a\.csv: expected at most 4 GB, got more\. Split it"):
            call()


def test_whatever_goes_wrong_is_said_in_words(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"x")
    many = (MemoryError, RuntimeError, SyntaxError, AttributeError, RecursionError, OverflowError, KeyError, OSError)
    for error in many:
        with (
            pytest.raises(lw.InputError, match=r"^a\.npz: expected more"),
            reading(tmp_path / "a.npz", "expected more"),
        ):
            raise error
    with pytest.raises(KeyboardInterrupt), reading(tmp_path / "a.npz", "expected more"):
        raise KeyboardInterrupt


# ---- archives


def npy(header):
    text = f"{header!r}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def archive(path, members, how=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", how) as file:
        for name, data in members:
            file.writestr(name, data)
    return path


HUGE = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}


@pytest.mark.parametrize(
    ("members", "how"),
    [
        ([("q.npy", npy(HUGE))], zipfile.ZIP_STORED),
        ([("q.npy", npy(HUGE | {"descr": "<U0"}))], zipfile.ZIP_STORED),  # no bytes, and yet 10**12 texts
        ([("q.npy", npy(HUGE | {"shape": (2,)}) + bytes(24))], zipfile.ZIP_STORED),  # fewer numbers than there are
        ([("q.npy", npy(HUGE | {"shape": (2,), "descr": "|O"}) + bytes(16))], zipfile.ZIP_STORED),
        ([("q.npy", npy(HUGE | {"shape": (2,)}) + bytes(16))], zipfile.ZIP_LZMA),
        ([("q.npy", b"cos\nsystem\n")], zipfile.ZIP_STORED),
    ],
)
def test_archives_that_claim_too_much(tmp_path, members, how):
    path = archive(tmp_path / "a.npz", members, how)
    with pytest.raises(lw.InputError, match=r"a\.npz: expected"):
        lw.motion.read(path, lw.load("rr"))


def test_archives_that_grow_are_refused_before_they_do(tmp_path):
    """A megabyte that would become 1 GB; the bound is made small so that the test is."""
    zeros = npy(HUGE | {"shape": (1 << 20,)}) + bytes(8 << 20)
    path = archive(tmp_path / "a.npz", [(f"a{k}.npy", zeros) for k in range(5)], zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 100_000
    with pytest.raises(lw.InputError, match="expected at most 32 MB, got more"), reading(path, "") as file:
        arrays(file, 32 << 20)
    with reading(path, "") as file:
        assert len(arrays(file)) == 5


def test_two_arrays_of_one_name(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate"):
        archive(tmp_path / "a.npz", [("q.npy", npy(HUGE | {"shape": (0,)}))] * 2)
    with pytest.raises(lw.InputError, match="two"), reading(tmp_path / "a.npz", "two of them") as file:
        arrays(file)


def test_an_archive_that_lost_arrays(tmp_path):
    """A byte of the directory that is wrong makes a remark of all entries behind it; they must not just be missing."""
    np.savez(tmp_path / "a.npz", t=np.arange(9.0), q=np.zeros((9, 2)), qd=np.ones((9, 2)))
    data = bytearray((tmp_path / "a.npz").read_bytes())
    data[data.index(b"q.npy", data.index(b"PK\1\2")) - 46 + 33] = 1  # the length of a remark, 256 characters
    (tmp_path / "a.npz").write_bytes(data)
    with pytest.raises(lw.InputError, match="expected arrays of numbers"):
        lw.motion.read(tmp_path / "a.npz", lw.load("rr"))


def damaged(good, rng):
    """One bit, one byte, or the end of a file changed."""
    bad, at = bytearray(good), int(rng.integers(len(good)))
    how = int(rng.integers(3))
    if how == 2:
        return bad[:at]
    bad[at] = bad[at] ^ (1 << int(rng.integers(8))) if how else int(rng.integers(256))
    return bad


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A file of each kind, how it is read, and what it says."""
    folder, robot = tmp_path_factory.mktemp("saved"), lw.load("rr")
    events = {"half": lambda t, q, qd: t - 0.025}
    run = lw.simulate(robot, [0.1, 0.2], None, 0.05, events=events)
    plan = lw.plan(
        robot, [0.0, -2.0], [1.0, -1.0], minimize=lw.cost.time(), subject_to=[lw.limit.joints("effort")], progress=False
    )

    def simulation(path):
        found = lw.simulation.Simulation.load(path)
        columns = [column.tobytes() for column in found.columns().values()]
        return columns, [x.tolist() for x in found.events["half"]], found.status, found.notes, found.robot

    def planned(path):
        found = lw.planning.Plan.load(path)
        return found.curve.points.tobytes(), found.curve.basis, found.duration, found.objective, found.robot

    def motion(path):
        found = lw.motion.read(path, robot)
        return [x.tobytes() for x in (found.t, found.q, found.qd, found.qdd)]

    readers = {"run.npz": simulation, "run.parquet": simulation, "plan.npz": planned, "motion.npz": motion}
    for name in readers:
        (plan if name == "plan.npz" else run).save(folder / name)
    return {name: (folder / name, read) for name, read in readers.items()}


@pytest.mark.parametrize("name", ["run.npz", "run.parquet", "plan.npz", "motion.npz"])
@pytest.mark.parametrize("count", [300, pytest.param(5000, marks=pytest.mark.slow)])
def test_damage_is_refused_or_harmless(saved, tmp_path, name, count):
    """Whatever bit is flipped: an error of Linkwise's, or the same data; never another error, or other data."""
    path, read = saved[name]
    good, truth, rng = path.read_bytes(), read(path), np.random.default_rng(1)
    refused = 0
    for _ in range(count):
        (tmp_path / name).write_bytes(damaged(good, rng))
        try:
            assert read(tmp_path / name) == truth
        except lw.LinkwiseError:
            refused += 1
    assert refused > count // 2


@pytest.mark.parametrize(
    "change",
    [
        {"q": lambda x: x.astype(complex)},
        {"q": lambda x: x.astype(str)},
        {"tau": lambda x: np.full_like(x, np.nan)},
        {"qdd": lambda x: np.full_like(x, np.inf)},
        {"t": lambda x: x[:, None, None] * np.ones(2)},
        {"energy": lambda x: x[:, 1:]},
        {key: lambda x: x[:0] for key in ("t", "q", "qd", "qdd", "tau", "energy")},
        {"meta": lambda x: np.array("[" * 100_000)},
        {"meta": lambda x: np.array("{}")},
        {"meta": lambda x: np.array(str(x).replace('"finished"', "3"))},
        {"meta": lambda x: np.array(str(x).replace('"half": [[', '"half": [["a", '))},
    ],
)
def test_simulations_have_finite_numbers(saved, tmp_path, change):
    with np.load(saved["run.npz"][0]) as found:
        every = dict(found)
    np.savez(tmp_path / "a.npz", **{key: change.get(key, lambda x: x)(x) for key, x in every.items()})
    with pytest.raises(lw.InputError, match=r"a\.npz: (array '\w+': )?expected"):
        lw.simulation.Simulation.load(tmp_path / "a.npz")


def test_a_simulation_that_failed_comes_back_with_its_infinities(tmp_path):
    robot = lw.load("puma560")
    with pytest.raises(lw.SimulationError) as caught:
        lw.simulate(robot, robot.q({}), None, 1.0, control=np.full(6, 1e308))
    caught.value.result.save(tmp_path / "a.npz")
    assert lw.simulation.Simulation.load(tmp_path / "a.npz").status == "failed"


@pytest.mark.parametrize(
    "change",
    [
        {"points": lambda x: x.astype(complex)},
        {"points": lambda x: x.astype(str)},
        {"points": lambda x: np.full_like(x, np.nan)},
        {"breaks": lambda x: 2.0 * x},
        {"breaks": lambda x: x[:, None]},
        {"breaks": lambda x: x[:0]},
        {"meta": lambda x: np.array(str(x).replace('"degree": ', '"degree": -'))},
        {"meta": lambda x: np.array(str(x).replace('"duration": ', '"duration": 1e999, "x": '))},
    ],
)
def test_plans_have_finite_numbers(saved, tmp_path, change):
    with np.load(saved["plan.npz"][0]) as found:
        every = dict(found)
    np.savez(tmp_path / "a.npz", **{key: change.get(key, lambda x: x)(x) for key, x in every.items()})
    with pytest.raises(lw.InputError, match=r"a\.npz: expected"):
        lw.planning.Plan.load(tmp_path / "a.npz")
