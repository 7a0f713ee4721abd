"""How the URDF reader answers bad files: always with one family of errors, and with file, line and item."""

import random
import re

import pytest

from linkwise.errors import LinkwiseError, ModelError
from linkwise.formats.registry import load
from linkwise.formats.urdf import load_urdf
from support.urdf import joint, link, three, urdf

TWO = (link("a"), link("b"))


def refused(tmp_path, lines, place, message):
    """The file of these lines is refused at line `place`."""
    path = tmp_path / "arm.urdf"
    path.write_text(urdf(*lines), encoding="utf-8")
    with pytest.raises(ModelError) as error:
        load_urdf(path)
    assert str(error.value).startswith(f"arm.urdf:{place}: ")
    assert message in str(error.value)


# ---- numbers and names, at the line of their element


@pytest.mark.parametrize(
    ("mass", "message"),
    [
        ('value="-1"', "link 'a' mass: expected a number of at least 0, got -1"),
        ('value="nan"', "link 'a' mass value: expected a finite number, got nan"),
        ('value="1e999"', "link 'a' mass value: expected a finite number, got inf"),
        ('value="1e99"', "link 'a' mass: expected a number of magnitude up to 1e+50, got 1e+99"),
        ('value="one"', "link 'a' mass value: expected a number, got 'one'"),
        ('value="1_0"', "link 'a' mass value: expected a number, got '1_0'"),
        ('value="٣"', "link 'a' mass value: expected a number, got '٣'"),
        ('value="0,5"', "link 'a' mass value: expected a number, got '0,5'"),
        ('value="${m}"', "link 'a' mass value: expected a number, got '${m}'. Expand the xacro first"),
        ('value=""', "link 'a' mass value: expected a number, got ''"),
        ("", "link 'a' mass value: expected a number, got None"),
    ],
)
def test_bad_masses(tmp_path, mass, message):
    refused(tmp_path, ["", link("a", f"<inertial>\n<mass {mass}/></inertial>")], 4, message)


@pytest.mark.parametrize(
    ("element", "message"),
    [
        ('<inertia iyy="1" izz="1"/>', "link 'a' inertia ixx: expected a number, got None"),
        ('<inertia ixx="1" ixy="x" iyy="1" izz="1"/>', "link 'a' inertia ixy: expected a number, got 'x'"),
        ('<origin xyz="0 0"/>', "link 'a' origin xyz: expected 3 numbers, got '0 0'"),
        ('<origin rpy="0 nan 0"/>', "link 'a' origin rpy: expected a finite number, got nan"),
    ],
)
def test_bad_inertials(tmp_path, element, message):
    refused(tmp_path, [link("a", f"<inertial>\n{element}</inertial>")], 3, message)


@pytest.mark.parametrize(
    ("element", "message"),
    [
        ('<origin xyz="0 0 0 0"/>', "joint 'j' origin xyz: expected 3 numbers, got '0 0 0 0'"),
        ('<axis xyz="0 0 0"/>', "joint 'j' axis: expected a direction, got (0.0, 0.0, 0.0)"),
        ('<axis xyz="0 0 z"/>', "joint 'j' axis xyz: expected a number, got 'z'"),
        ('<limit lower="1" upper="-1"/>', "joint 'j' limits: expected lower <= upper, got 1 > -1"),
        ('<limit lower="nan"/>', "joint 'j' limit lower: expected a finite number, got nan"),
        ('<limit effort="-1"/>', "joint 'j' limits effort: expected a number of at least 0, got -1"),
        ('<dynamics damping="-1"/>', "joint 'j' friction viscous: expected a number of at least 0, got -1"),
        ('<dynamics friction="x"/>', "joint 'j' dynamics friction: expected a number, got 'x'"),
        ("<mimic/>", "joint 'j' mimic joint: expected a name"),
        ('<mimic joint="i" offset="?"/>', "joint 'j' mimic offset: expected a number, got '?'"),
    ],
)
def test_bad_elements_of_joints(tmp_path, element, message):
    refused(tmp_path, [*TWO, joint("j", "a", "b", inside=f"\n{element}")], 5, message)


@pytest.mark.parametrize(
    ("element", "message"),
    [
        (joint("j", "a", "a"), "joint 'j': expected two links, got 'a' as parent and child"),
        (joint("j", "a", "bb"), "joint 'j' child: unknown link 'bb'. Did you mean 'b'?"),
        (joint("j", "aa", "b"), "joint 'j' parent: unknown link 'aa'"),
        (joint("j", "a", "b", "hinge"), "joint 'j' type: expected one of"),
        (joint("j", "a", "b", "screw"), "joint 'j' type: expected one of ('revolute', 'continuous', 'prismatic'"),
        (joint("j", "a", "b", inside='<mimic joint="i"/>'), "joint 'j' mimic: unknown joint 'i'"),
        (
            joint("j", "a", "b", inside='<mimic joint="j"/>'),
            "expected a joint that moves by itself, got itself",
        ),
        ('<joint name="j"/>', "joint 'j' type: expected one of"),
        ('<joint type="fixed"/>', '<joint>: expected name="...", got none'),
        ('<joint name="j" type="fixed"/>', "joint 'j': expected <parent link=\"...\"/>, got none"),
        (
            '<joint name="j" type="fixed"><parent link="a"/><child/></joint>',
            "joint 'j': expected <child link=",
        ),
        ("<link/>", '<link>: expected name="...", got none'),
        (link(""), '<link>: expected name="...", got none'),
        (link("a"), "link 'a': expected one link of that name, got two"),
    ],
)
def test_bad_joints_and_links(tmp_path, element, message):
    refused(tmp_path, [*TWO, element], 4, message)


WHOLE = urdf(
    link("a"),
    link("b", '<inertial><origin xyz="1 2 3" rpy="0.4 0.5 0.6"/><mass value="7"/>'
              '<inertia ixx="8" ixy="0.1" ixz="0.2" iyy="9" iyz="0.3" izz="10"/></inertial>'),
    link("c"),
    joint("i", "a", "b", inside='<axis xyz="0 0.6 0.8"/><limit lower="-1" upper="1" velocity="2" effort="3"/>'),
    joint("j", "b", "c", inside='<origin xyz="1 2 3" rpy="1 2 3"/><dynamics damping="1" friction="2"/>'
                                '<mimic joint="i" multiplier="2" offset="0.5"/>'),
)  # fmt: skip
NUMBERS = [m.span() for m in re.finditer(r"-?\b\d[\d.]*\b", WHOLE)]


@pytest.mark.parametrize("place", NUMBERS, ids=lambda span: WHOLE[slice(*span)])
@pytest.mark.parametrize("word", ["nan", "-nan", "NaN", "x"])
def test_no_number_may_be_without_a_value(place, word):
    load_urdf(WHOLE)
    with pytest.raises(ModelError, match=r"^URDF text:\d+: (link|joint) '.' .*: expected a (finite )?number, got"):
        load_urdf(WHOLE[: place[0]] + word + WHOLE[place[1] :])


# ---- structure


@pytest.mark.parametrize(
    ("lines", "place", "message"),
    [
        ([], 1, "robot: expected at least one <link>, got none"),
        ([*TWO], 1, "robot: expected one root link, got 2: 'a', 'b'"),
        ([*TWO, joint("j", "a", "b"), joint("i", "b", "a")], 1, "got none: the joints form a cycle"),
        ([*TWO, link("c"), joint("j", "a", "b"), joint("i", "b", "a")], 1, "form a cycle apart from the"),
        ([*TWO, link("c"), link("d"), joint("j", "b", "c"), joint("i", "c", "b")], 1, "got 2: 'a', 'd'"),
        ([*TWO, joint("j", "a", "b"), joint("i", "a", "b")], 3, "link 'b': expected one joint that carries"),
        (
            [*TWO, link("c"), joint("j", "a", "b"), joint("j", "b", "c")],
            6,
            "joint 'j': expected one joint of",
        ),
    ],
)
def test_bad_trees(tmp_path, lines, place, message):
    refused(tmp_path, lines, place, message)


def test_a_mimic_of_a_mimic_is_refused():
    text = three("revolute", "revolute", third='<mimic joint="j"/>')
    with pytest.raises(ModelError, match=r"URDF text:8: joint 'k' mimic: .* got a joint that mimics \('j'\)"):
        load_urdf(text)


# ---- errors of form

# each would take gigabytes, hours, or a file of the user's if it were followed
BILLION_LAUGHS = (
    '<!DOCTYPE r [<!ENTITY l0 "ha">'
    + "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 10))
    + ']><robot name="&l9;"/>'
)
QUADRATIC = f'<!DOCTYPE r [<!ENTITY a "{"a" * 50_000}">]><robot>{"&a;" * 50_000}</robot>'
EXTERNAL = '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><robot name="&a;"><link name="a"/></robot>'
PARAMETER = '<!DOCTYPE r [<!ENTITY % a SYSTEM "http://example.org/x.dtd">%a;]><robot/>'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot", "URDF text:1: expected XML"),
        ("<robot>\n<link>\n</robot>", "URDF text:3: expected XML, got something that cannot be read: mism"),
        ('<robot name="a" name="b"/>', "URDF text:1: expected XML"),
        ("<robot>&e;</robot>", "URDF text:1: expected XML"),
        ("<sdf/>", "URDF text:1: expected <robot> (URDF), got <sdf>"),
        ('<!DOCTYPE robot SYSTEM "http://example.org/x.dtd"><robot/>', "expected no document type"),
        ('<!DOCTYPE r [<!ENTITY a "a"><!ENTITY b "&a;&a;">]><robot>&b;</robot>', "expected no document type"),
        pytest.param(BILLION_LAUGHS, "expected no document type", id="billion_laughs"),
        pytest.param(QUADRATIC, "expected no document type", id="quadratic"),
        pytest.param(EXTERNAL, "expected no document type", id="external"),
        pytest.param(PARAMETER, "expected no document type", id="parameter"),
        pytest.param("<robot>" + "<link>" * 100_000, "expected at most 200 nested elements", id="depth"),
        ("<robot>" + "<a>" * 200 + "</a>" * 200 + "</robot>", "expected at most 200 nested elements"),
        ("<robot>\ud800</robot>", "URDF text:1: "),
        (b'<?xml version="1.0" encoding="no-such"?><robot/>', "expected XML"),
        (b'<?xml version="1.0" encoding="utf-7"?><robot/>', "expected XML"),
        (b"<robot><link name='\xff\xfe'/></robot>", "expected XML"),
        (b"", "URDF text: expected a robot, got an empty file"),
        (b" \n", "URDF text: expected a robot, got an empty file"),
        (b"\x00" * 100, "expected XML"),
        (b"\x7fELF\x02\x01\x01\x00", "expected XML"),
        (b"PK\x03\x04 not a robot", "expected XML"),
        (None, "expected a path or a text, got None"),
        (3, "expected a path or a text, got 3"),
        ('<robot><xacro:include filename="x"/></robot>', "Expand it first: xacro arm.xacro > arm.urdf"),
    ],
)  # fmt: skip
def test_bad_texts(text, message):
    with pytest.raises(LinkwiseError) as error:
        load_urdf(text)
    assert message in str(error.value)


def test_other_encodings():
    text = urdf(link("Ärm"))
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "iso-8859-1"):
        declared = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>{text}'
        assert load_urdf(declared.encode(encoding)).links[0].name == "Ärm"
        assert load_urdf(declared).links[0].name == "Ärm"


def test_files_that_cannot_be_read(tmp_path):
    for path, message in (
        (tmp_path / "no.urdf", "No such file"),
        (tmp_path, "Is a directory"),
        ("a\0b", "null"),
    ):
        with pytest.raises(LinkwiseError, match=f"expected a file that can be read, got: .*{message}"):
            load_urdf(path)


def test_size_is_bounded(tmp_path):
    path = tmp_path / "big.urdf"
    with path.open("wb") as file:
        file.truncate(64 * 1024 * 1024 + 1)  # sparse
    with pytest.raises(LinkwiseError, match=r"big\.urdf: expected at most 64 MB, got more"):
        load_urdf(path)


def test_the_number_of_elements_is_bounded(monkeypatch):
    monkeypatch.setattr("linkwise.formats.xml.MOST", 10)
    assert len(load_urdf(urdf(link("a", "<plugin/>" * 100))).links) == 1
    with pytest.raises(ModelError, match="expected at most 10 elements"):
        load_urdf(urdf(*(link(f"l{k}", "") for k in range(11))))


def test_xacro_files_are_answered_with_how_to_expand_them(tmp_path):
    path = tmp_path / "crane.urdf.xacro"
    path.write_text(urdf(link("a")))
    for read in (load, load_urdf):
        with pytest.raises(ModelError, match=r"got xacro\. Expand it first: xacro crane.urdf.xacro > crane.urdf$"):
            read(path)


def test_an_expanded_xacro_loads():
    text = urdf(link("a")).replace("<robot", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"')
    assert load_urdf(text).nv == 0


def test_random_damage_never_escapes_the_family_of_errors():
    rng = random.Random(5)
    whole = three("revolute", "continuous").encode()
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(data))
            if rng.random() < 0.5:
                data[at] = rng.randrange(256)
            else:
                del data[at : at + rng.randrange(20)]
        try:
            load_urdf(bytes(data))
        except LinkwiseError as error:
            assert str(error).startswith("URDF text:")  # noqa: PT017
