"""TOML files that are small and would cost much."""

import pytest

import linkwise as lw
from linkwise.formats.toml import load_toml
from linkwise.planning.problem_file import read_problem

LINK = "[[link]]\nname = 'a'\n"


@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 30_000) + " = 1",
        " . ".join(["'a'"] * 15_000) + " = 1",
        ".".join(['"\\""'] * 15_000) + " = 1",
        "[" + ".".join(["a"] * 30_000) + "]",
        "[[" + ".".join(["a"] * 30_000) + "]]",
        "x = {" + ".".join(["a"] * 30_000) + " = 1}",
        'x = """a""""\n' + ".".join(["a"] * 30_000) + " = 1",
    ],
)
def test_long_dotted_keys_are_refused_at_once(tmp_path, text):
    """60 kB of them took 15 s and 2 GB."""
    line = text.count("\n") + 4
    (tmp_path / "a.toml").write_text(f"{LINK}# x\n{text}\n")
    for read in (lw.load, read_problem, load_toml):
        with pytest.raises(
            lw.LinkwiseError, match=rf"a\.toml:{line}: expected keys of at most 64 parts, got one of more"
        ):
            read(tmp_path / "a.toml")


@pytest.mark.parametrize(
    "text",
    [
        "# " + ".a" * 1000,
        "[[note]]\nlevel = 'info'\nwhere = 'x'\nmessage = '" + ".a" * 1000 + "'",
        '[[note]]\nlevel = "info"\nwhere = "x"\nmessage = "\\"' + ".a" * 1000 + '"',
        '[[note]]\nlevel = "info"\nwhere = "x"\nmessage = """\n""' + ".a" * 1000 + '""a"""',
        "[[note]]\nlevel = 'info'\nwhere = 'x'\nmessage = '''\n''" + ".a" * 1000 + "''''",
    ],
)
def test_dots_in_comments_and_strings_are_no_keys(tmp_path, text):
    (tmp_path / "a.toml").write_text(f"{LINK}{text}\n")
    assert lw.load(tmp_path / "a.toml").names == ()


@pytest.mark.parametrize(
    "text", ['"' * 300_001, "'" * 300_001, '"\\' * 150_000, 'x="""' + '\\"""' * 75_000, "a" * 300_000]
)
def test_no_text_takes_long_to_look_through(tmp_path, text):
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(lw.LinkwiseError, match=r"a\.toml:1: expected TOML"):
        lw.load(tmp_path / "a.toml")


def test_numbers_without_measure_are_refused(tmp_path):
    """Whole numbers of TOML have no end, and Python cannot print those of more than 4300 digits."""
    for number in ("0x" + "f" * 100_000, "0x" + "f" * 4000, "9" * 4000, "9" * 5000, "9" * 400):
        (tmp_path / "a.toml").write_text(f"{LINK}mass = {number}\n")
        with pytest.raises(lw.LinkwiseError, match=r"a\.toml"):
            lw.load(tmp_path / "a.toml")
        (tmp_path / "a.toml").write_text(f"duration = {number}\n")
        with pytest.raises(lw.LinkwiseError, match=r"a\.toml"):
            read_problem(tmp_path / "a.toml")
