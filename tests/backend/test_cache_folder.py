"""The folder of the cache: opened once and checked as opened, bounded, and found where people mean it to be."""

import multiprocessing
import os
import random
import stat
import time
import warnings
from pathlib import Path

import pytest

from linkwise.backend import cache
from linkwise.backend.cache import CacheWarning

pytestmark = pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="descriptors of folders are POSIX")

KEY = "k" * 64
GOOD, FORGED = [b"good", b"code"], [b"forged"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache with one entry."""
    path = tmp_path / "cache"
    monkeypatch.setenv("LINKWISE_CACHE", str(path))
    monkeypatch.delenv("LINKWISE_CACHE_SIZE", raising=False)
    monkeypatch.setattr(cache, "_warned", False)
    cache.write(KEY, GOOD)
    assert cache.read(KEY) == GOOD
    return path


def read(key=KEY):
    """What is read, and the warnings."""
    cache._warned = False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = cache.read(key)
    assert all(w.category is CacheWarning for w in caught)
    return found, [str(w.message) for w in caught]


def descriptors():
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


# ---- what stands in the place of an entry


def replaced(folder, make):
    path = folder / f"{KEY}.bin"
    data = path.read_bytes()
    path.unlink()
    make(path, data)


def other_file(folder, data):
    path = folder.parent / "elsewhere"
    path.write_bytes(data)
    return path


PLACED = {
    "a link": lambda path, data: path.symlink_to(other_file(path.parent, data)),
    "a link to nothing": lambda path, data: path.symlink_to(path.parent / "nothing"),
    "a link to itself": lambda path, data: path.symlink_to(path),
    "a pipe": lambda path, data: os.mkfifo(path),
    "a folder": lambda path, data: path.mkdir(),
    "a file that others can write": lambda path, data: (path.write_bytes(data), path.chmod(0o666)),
    "a file of a group": lambda path, data: (path.write_bytes(data), path.chmod(0o620)),
}


@pytest.mark.parametrize("what", PLACED)
def test_only_a_file_of_the_user_alone_is_an_entry(folder, what):
    replaced(folder, PLACED[what])
    before = descriptors()
    for _ in range(3):
        found, messages = read()
        assert found is None
        assert len(messages) == 1
    assert descriptors() == before


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root gives files away")
def test_an_entry_of_another_user_is_refused(folder):
    os.chown(folder / f"{KEY}.bin", 12345, 12345)
    assert read()[0] is None


def test_nothing_stays_open(folder):
    before = descriptors()
    for _ in range(50):
        cache.read(KEY)
        cache.read("missing")
        cache.write("other", GOOD)
    assert descriptors() == before


# ---- folders above


@pytest.mark.parametrize("mode", [0o777, 0o757, 0o703])
def test_a_folder_in_one_that_others_can_write_to_is_not_trusted(folder, mode):
    folder.parent.chmod(mode)
    found, (message,) = read()
    assert found is None
    assert str(folder.parent) in message
    assert "LINKWISE_CACHE" in message
    folder.parent.chmod(mode | stat.S_ISVTX)  # as /tmp is: nobody can replace what others own
    assert read() == (GOOD, [])


def test_a_far_ancestor_that_others_can_write_to_is_not_trusted(tmp_path, monkeypatch):
    monkeypatch.setenv("LINKWISE_CACHE", str(tmp_path / "a" / "b" / "c"))
    cache.write(KEY, GOOD)
    assert read() == (GOOD, [])
    (tmp_path / "a").chmod(0o777)
    assert read()[0] is None


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root gives folders away")
def test_a_folder_in_one_of_another_user_is_not_trusted(folder):
    os.chown(folder.parent, 12345, 12345)
    assert read()[0] is None
    os.chown(folder.parent, 0, 0)
    assert read() == (GOOD, [])


def test_a_folder_behind_a_link_of_the_user_is_used(folder, monkeypatch, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.setenv("LINKWISE_CACHE", str(tmp_path / "link"))
    assert read() == (GOOD, [])


# ---- folders that change places


def swap(folder, other, stop):
    """Put two folders in each other's place, over and over."""
    spare = folder.with_name("spare")
    while not stop.is_set():
        os.rename(folder, spare)
        os.rename(other, folder)
        os.rename(spare, other)
        time.sleep(1e-5)


def swapped(folder, tmp_path, reads):
    """How often forged code is read while its folder, open to others, changes places with the private one."""
    other = tmp_path / "forged"
    other.mkdir()
    (other / f"{KEY}.bin").write_bytes(cache._pack(KEY, FORGED))
    other.chmod(0o755)
    stop = multiprocessing.get_context("spawn").Event()
    process = multiprocessing.get_context("spawn").Process(target=swap, args=(folder, other, stop))
    process.start()
    counts = {"good": 0, "forged": 0, "none": 0}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CacheWarning)
            for _ in range(reads):
                found = cache.read(KEY)
                counts["none" if found is None else "good" if found == GOOD else "forged"] += 1
    finally:
        stop.set()
        process.join(30)
        process.kill()
    return counts


def test_forged_code_is_never_read_from_a_folder_that_was_swapped(folder, tmp_path):
    assert swapped(folder, tmp_path, 5000)["forged"] == 0


@pytest.mark.slow
def test_forged_code_is_never_read_from_folders_swapped_at_length(folder, tmp_path):
    counts = swapped(folder, tmp_path, 400_000)
    assert counts["forged"] == 0
    assert counts["good"] > 0


# ---- tampered entries


def tampered(folder, count, seed):
    """Random changes of an entry: none is read as another list of objects than the one that was written."""
    rng = random.Random(seed)
    objects = [rng.randbytes(rng.randrange(0, 300)) for _ in range(4)]
    cache.write(KEY, objects)
    path = folder / f"{KEY}.bin"
    data = path.read_bytes()
    refused = 0
    for _ in range(count):
        changed = bytearray(data)
        for _ in range(rng.randrange(1, 4)):
            at, kind = rng.randrange(len(changed)), rng.randrange(6)
            if kind == 0:
                changed[at] ^= 1 << rng.randrange(8)
            elif kind == 1:
                del changed[at:]
            elif kind == 2:
                changed[at:at] = rng.randbytes(rng.randrange(1, 20))
            elif kind == 3:
                del changed[at : at + rng.randrange(1, 20)]
            elif kind == 4:
                changed[at : at + 8] = rng.choice([b"\xff" * 8, b"\0" * 8, (2**63).to_bytes(8, "little")])
            else:
                changed = bytearray(cache._pack("j" * 64, objects))  # of another name
            if not changed:
                break
        path.write_bytes(bytes(changed))
        found, messages = read()
        assert found == (objects if bytes(changed) == data else None)
        assert len(messages) == (bytes(changed) != data)
        refused += found is None
    return refused


def test_tampered_entries(folder):
    assert tampered(folder, 500, 0) > 450


@pytest.mark.slow
def test_ten_thousand_tampered_entries(folder):
    assert tampered(folder, 10_000, 1) > 9000


# ---- how much is kept


def entries(folder):
    return sorted(p.stem for p in folder.glob("*.bin"))


def test_the_entries_used_longest_ago_make_room(folder, monkeypatch):
    (folder / f"{KEY}.bin").unlink()
    monkeypatch.setenv("LINKWISE_CACHE_SIZE", "10k")
    for k, name in enumerate("abcd"):
        cache.write(name, [bytes(2000)])
        os.utime(folder / f"{name}.bin", (1000 + k, 1000 + k))
    assert cache.read("a") == [bytes(2000)]  # used now
    cache.write("e", [bytes(3000)])
    assert entries(folder) == ["a", "c", "d", "e"]
    cache.write("f", [bytes(7000)])
    assert "f" in entries(folder)
    assert sum(p.stat().st_size for p in folder.iterdir()) <= 10 * 1024
    cache.write("huge", [bytes(20_000)])  # more than all: it is not kept, and costs no other
    assert "huge" not in entries(folder)
    assert "f" in entries(folder)


def test_half_written_files_of_dead_processes_are_removed(folder):
    old, new = folder / ".new-1-old", folder / ".new-2-young"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (1000, 1000))
    cache.write("more", GOOD)
    assert not old.exists()
    assert new.exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 2**30),
        ("1000", 1000),
        ("2k", 2048),
        ("1.5M", 1.5 * 2**20),
        ("3GiB", 3 * 2**30),
        (" 1 tb ", 2**40),
        ("0", 0),
    ],
)
def test_sizes_that_people_write(monkeypatch, text, expected):
    monkeypatch.setenv("LINKWISE_CACHE_SIZE", text)
    assert cache.limit() == expected


@pytest.mark.parametrize("text", ["much", "-1", "1e9", "1G2", "inf", "nan"])
def test_sizes_that_nobody_understands(monkeypatch, text):
    monkeypatch.setenv("LINKWISE_CACHE_SIZE", text)
    monkeypatch.setattr(cache, "_warned", False)
    with pytest.warns(CacheWarning, match="such as 500M or 2G"):
        assert cache.limit() == cache.SIZE


def crowd(seed):
    rng = random.Random(seed)
    wrong = 0
    for _ in range(150):
        name = rng.choice("abcdefgh")
        cache.write(name, [name.encode() * 3000])
        found = cache.read(rng.choice("abcdefgh"))
        wrong += found is not None and (len(set(found[0])) != 1 or len(found[0]) != 3000)
    return wrong + cache._warned


def test_processes_that_write_read_and_evict_at_once(folder, monkeypatch):
    monkeypatch.setenv("LINKWISE_CACHE_SIZE", "12k")
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert pool.map(crowd, range(3)) == [0, 0, 0]
    assert sum(p.stat().st_size for p in folder.iterdir()) <= 12 * 1024 + 4 * 3100
    assert not list(folder.glob(".new-*"))


# ---- where it is


def test_a_tilde_is_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LINKWISE_CACHE", "~/x/y")
    assert cache.directory() == tmp_path / "x" / "y"
    monkeypatch.setenv("LINKWISE_CACHE", "~")
    assert cache.directory() == tmp_path
    monkeypatch.setenv("LINKWISE_CACHE", ".")
    assert cache.directory() == Path()
    monkeypatch.setenv("LINKWISE_CACHE", "~nobody-of-this-name/x")
    monkeypatch.setattr(cache, "_warned", False)
    with pytest.warns(CacheWarning, match="cannot be used"):
        assert cache.directory() is None


@pytest.mark.parametrize("base", ["", "relative/folder", "./x", "~/.cache"])
def test_a_relative_cache_home_is_ignored(monkeypatch, tmp_path, base):
    monkeypatch.delenv("LINKWISE_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", base)
    assert cache.directory() == tmp_path / ".cache" / "linkwise"


@pytest.mark.parametrize("home", [None, "", "/", "relative"])
@pytest.mark.parametrize("setting", [None, "~/x"])
def test_without_a_home_the_password_database_knows_one(monkeypatch, tmp_path, home, setting):
    import pwd

    for name, value in (("LINKWISE_CACHE", setting), ("XDG_CACHE_HOME", None), ("HOME", home)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    known = list(pwd.getpwuid(os.getuid()))
    known[5] = str(tmp_path)
    monkeypatch.setattr(pwd, "getpwuid", lambda _: pwd.struct_passwd(known))
    assert cache.directory() == (tmp_path / "x" if setting else tmp_path / ".cache" / "linkwise")
    known[5] = "/"
    monkeypatch.setattr(cache, "_warned", False)
    with pytest.warns(CacheWarning, match="set HOME, or LINKWISE_CACHE"):
        assert cache.directory() is None

    def unknown(_):
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert cache.directory() is None
    assert not Path("/.cache").exists() or Path("/.cache").stat().st_mtime < time.time() - 60
