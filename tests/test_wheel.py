"""What is packed: the wheel has the library and what it reads, and no more; the archive of sources has everything."""

import io
import re
import tarfile
import zipfile
from pathlib import Path

import pytest

import linkwise as lw

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "linkwise"
MOST = 1_500_000  # bytes of the wheel
# the code, and where there may be data that it reads
CODE = {".py", ".typed"}
DATA = (
    "backend/*.ll", "formats/library/*.toml", "walking/data/bands.toml", "walking/*.html", "view/assets/*.css",
    "view/assets/*.js", "view/assets/three.js.gz", "view/assets/three.LICENSE",
)  # fmt: skip
NOT_PACKED = {"view/assets/README.md", "view/assets/three.entry.js"}  # how three.js.gz is made


def sources() -> list[str]:
    """The files of the package, by their paths in it."""
    found = [p.relative_to(PACKAGE) for p in PACKAGE.glob("**/*") if p.is_file() and "__pycache__" not in p.parts]
    return sorted(p.as_posix() for p in found)


def allowed(name: str) -> bool:
    return Path(name).suffix in CODE or any(Path(name).match(pattern) for pattern in DATA)


def test_the_package_has_what_it_needs_alone():
    assert [name for name in sources() if not allowed(name) and name not in NOT_PACKED] == []


def test_the_package_is_small(capsys):
    """Packed here as a wheel is, so that nobody has to build one to see that it has grown."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name in sources():
            wheel.write(PACKAGE / name, name)
    with capsys.disabled():
        print(f"\nwheel: {len(packed.getvalue()) / 1e6:.2f} MB in {len(sources())} files")
    assert len(packed.getvalue()) <= MOST


def test_the_version_is_one_number():
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+|rc\d+)?", lw.__version__)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    (released,) = re.findall(r"\ndate-released: (\S+)\n", citation)
    assert f"\nversion: {lw.__version__}\n" in citation
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)$", changes, re.MULTILINE)[:2] == ["[Unreleased]", f"[{lw.__version__}] - {released}"]


def test_the_wheel(tmp_path):
    """The one that `python -m build` makes."""
    builder = pytest.importorskip("hatchling.builders.wheel").WheelBuilder(str(ROOT))
    (path,) = builder.build(directory=str(tmp_path), versions=["standard"])
    assert Path(path).name == f"linkwise-{lw.__version__}-py3-none-any.whl"
    assert Path(path).stat().st_size <= MOST
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        (meta,) = [n for n in names if n.endswith(".dist-info/METADATA")]
        metadata = wheel.read(meta).decode()
    inside = {n.removeprefix("linkwise/") for n in names if n.startswith("linkwise/")}
    assert inside == set(sources()) - NOT_PACKED
    assert all(n.startswith(("linkwise/", f"linkwise-{lw.__version__}.dist-info/")) for n in names)
    assert "Requires-Python: >=3.11" in metadata
    assert "License-Expression: MIT" in metadata


def test_the_archive_of_sources(tmp_path):
    """It has what `make test` needs, and nothing that was made."""
    builder = pytest.importorskip("hatchling.builders.sdist").SdistBuilder(str(ROOT))
    (path,) = builder.build(directory=str(tmp_path), versions=["standard"])
    with tarfile.open(path) as archive:
        names = {n.partition("/")[2] for n in archive.getnames()}
    top = {n.partition("/")[0] for n in names}
    assert {
        "src",
        "tests",
        "docs",
        "papers",
        "examples",
        "benchmarks",
        "attack",
        "Makefile",
        "LICENSE",
        ".github",
    } <= top
    assert {"README.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml"} <= top
    assert not [n for n in names if "__pycache__" in n or "_build" in n or n.endswith(".pyc")]
