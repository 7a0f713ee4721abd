"""How the reader of robot files answers bad ones: always with one family of errors, with file, table and key."""

import random

import numpy as np
import pytest

import linkwise as lw
from linkwise.algorithms.inverse_dynamics import inverse_dynamics
from linkwise.errors import LinkwiseError
from linkwise.formats.library import bundled
from linkwise.formats.toml import load_toml, with_side
from linkwise.formats.toml_writer import to_toml
from support.everything import everything

ARM = """
[[link]]
name = "base"
[[link]]
name = "upper"
mass = 1
[[link]]
name = "lower"
[[joint]]
name = "shoulder"
parent = "base"
child = "upper"
[[joint]]
name = "elbow"
parent = "upper"
child = "lower"
"""
ROW = "[[dh]]\ntheta = 0\nd = 0\na = 0\nalpha = 0\n"
ELBOW = "arm.toml: [[joint]] 2 'elbow'"


def refusal(tmp_path, text):
    path = tmp_path / "arm.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(LinkwiseError) as error:
        lw.load(path)
    return str(error.value)


def test_the_arm_loads():
    assert load_toml(ARM).names == ("shoulder", "elbow")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        # unknown keys, with the valid ones
        ("[joint.drive]\ngea = 5", f"{ELBOW} [drive]: unknown key 'gea'. Did you mean 'gear'? Valid names: 'motor',"),
        ("[joint.drive.motor]\nmas = 5", f"{ELBOW} [drive.motor]: unknown key 'mas'. Did you mean 'mass'?"),
        ("kin = 1", f"{ELBOW}: unknown key 'kin'. Did you mean 'kind'? Valid names: 'name', 'parent', 'child'"),
        ("origin.xy = [1, 2]", f"{ELBOW} [origin]: unknown key 'xy'. Did you mean 'xyz'? Valid names: 'xyz', 'rpy'"),
        ('"a`b - at `$.x`" = 1', f"{ELBOW}: unknown key 'a`b - at `$.x`'."),
        ("[[frames]]\n", "arm.toml: unknown key 'frames'. Did you mean 'frame'? Valid names: 'gravity',"),
        # missing ones
        ("[[frame]]\nname = 'f'", "arm.toml: [[frame]] 1 'f': expected a value for 'link'."),
        ("[[frame]]\nlink = 'base'", "arm.toml: [[frame]] 1: expected a value for 'name'."),
        ("[joint.mimic]", f"{ELBOW} [mimic]: expected a value for 'joint'."),
        # kinds of values
        ("armature = 'a'", f"{ELBOW}: armature: expected a number, got 'a'."),
        ("armature = true", f"{ELBOW}: armature: expected a number, got True."),
        ("armature = 1979-05-27", f"{ELBOW}: armature: expected a number, got datetime.date"),
        (f"armature = {'9' * 400}", f"{ELBOW}: armature: expected a number in range, got 999"),
        ("kind = 3", f"{ELBOW}: kind: expected a text, got 3."),
        ("axis = 3", f"{ELBOW}: axis: expected a list, got 3."),
        ("axis = [1, 2]", f"{ELBOW}: axis: expected a list of length 3, got [1, 2]."),
        ("axis = [1, 2, 'z']", f"{ELBOW}: axis[2]: expected a number, got 'z'."),
        ("drive = 3", f"{ELBOW}: drive: expected a table, got 3."),
        ("drive.curve = [[0, 1], [2]]", f"{ELBOW} [drive]: curve[1]: expected a list of length 2, got [2]."),
        ("[frame]\nname = 'f'", "arm.toml: frame: expected a list of tables [[frame]], got one table [frame]."),
        ("[[loop]]\nname='l'\na='base'\nb='base'\nactive='elbow'", "[[loop]] 1 'l': active: expected a list"),
        # values
        ("armature = nan", f"{ELBOW}: armature: expected a finite number, got nan."),
        ("armature = 1e999", f"{ELBOW}: armature: expected a finite number, got inf."),
        ("armature = -1", f"{ELBOW}: armature: expected a number of at least 0, got -1."),
        ("axis = [0, 0, 0]", f"{ELBOW}: axis: expected a direction, got (0.0, 0.0, 0.0)."),
        ("axis = [nan, 0, 0]", f"{ELBOW}: axis[0]: expected a finite number, got nan."),
        ("kind = 'ball'", f"{ELBOW}: kind: expected one of ('revolute', "),
        ("friction.viscous = -1", f"{ELBOW} [friction]: viscous: expected a number of at least 0"),
        ("friction.law = 'dry'", f"{ELBOW} [friction]: law: expected one of ('coulomb', 'tanh', 'stribeck')"),
        ("limits = { lower = 2, upper = 1 }", f"{ELBOW} [limits]: expected lower <= upper, got 2 > 1. Swap them."),
        ("drive.gear = 0", f"{ELBOW} [drive]: gear: expected a ratio that is not zero"),
        ("drive.motor.com = [nan, 0, 0]", f"{ELBOW} [drive.motor]: com[0]: expected a finite number"),
        ("origin.xyz = [nan, 0, 0]", f"{ELBOW} [origin]: xyz[0]: expected a finite number"),
        ("origin.rpy = [inf, 0, 0]", f"{ELBOW} [origin]: rpy[0]: expected a finite number"),
        ("origin.quaternion = [0, 0, 0, 0]", f"{ELBOW} [origin]: quaternion: expected x, y, z, w of length one"),
        ("origin.quaternion = [0, 0, 0, inf]", f"{ELBOW} [origin]: quaternion[3]: expected a finite number"),
        ("origin = { rpy = [0, 0, 0], quaternion = [0, 0, 0, 1] }", f"{ELBOW} [origin]: expected one of 'rpy',"),
        ("origin.rotation = [[1, 0, 0], [0, 1, 0], [0, 0, 2]]", f"{ELBOW} [origin]: rotation.R: expected a rotation"),
        ("origin.rotation = [[nan, 0, 0], [0, 1, 0], [0, 0, 1]]", f"{ELBOW} [origin]: rotation.R row 0[0]: expected"),
        ("armature = 1\ndrive.motor.rotor = 1", f"{ELBOW}: joint 'elbow': has an armature and a motor"),
        # the robot as a whole
        ("[[link]]\nname = 'far'", "arm.toml: robot: expected one root link, got 2: 'base', 'far'."),
        ("[[link]]\nname = 'upper'", "arm.toml: link 'upper': expected one link of that name, got two."),
        ("mimic.joint = 'elbow'", "arm.toml: joint 'elbow' mimic: expected a joint that moves by itself, got itself"),
        ("mimic.joint = 'hip'", "arm.toml: joint 'elbow' mimic: unknown joint 'hip'."),
        ("[[joint]]\nname='j'\nparent='lower'\nchild='base'", "arm.toml: robot: expected one root link, got none"),
        ("[[joint]]\nname='j'\nparent='lower'\nchild='hand'", "arm.toml: joint 'j' child: unknown link 'hand'."),
        ("[[frame]]\nname='f'\nlink='hand'", "arm.toml: frame 'f': unknown link 'hand'."),
        ("[[frame]]\nname=''\nlink='hand'", "arm.toml: [[frame]] 1: frame name: expected a name"),
        # forms
        (ROW, "arm.toml: expected one of [[link]], [[dh]], [[khalil]], got [[link]] and [[dh]]."),
        ("[convention]", "arm.toml: unknown key 'convention'."),
        # syntax, by line
        ("armature = ", "arm.toml:17: expected TOML, got something that cannot be read: Invalid value."),
        ("armature 3", "arm.toml:17: expected TOML, got something that cannot be read: Expected '=' after a key"),
        ("name = 'x'", "arm.toml:17: expected TOML, got something that cannot be read: Cannot overwrite a value."),
        ("kind = '", "arm.toml:"),
        (f"armature = {'9' * 5000}", "arm.toml:"),
        ("x = " + "[" * 20_000, "arm.toml: expected a robot, got lists or tables nested too deeply."),
    ],
)
def test_bad_lines(tmp_path, line, message):
    """The line is added at the end of the arm, to the joint 'elbow' or after it."""
    assert message in refusal(tmp_path, ARM + line)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ROW, "arm.toml: expected a value for 'convention'."),
        (f"convention = 'craig'\n{ROW}", "arm.toml: convention: expected one of 'standard', 'modified', got 'craig'."),
        (f"convention = 'standard'\n{ROW}thet = 1", "arm.toml: [[dh]] 1: unknown key 'thet'. Did you mean 'theta'?"),
        (f"convention = 'standard'\n{ROW}mass = -1", "arm.toml: [[dh]] 1: mass: expected a number of at least 0"),
        (f"convention = 'standard'\n{ROW}name = 'base'", "arm.toml: [[dh]]: row 1: name: expected a name of its own"),
        (
            f"convention = 'standard'\n{ROW}antecedent = 'elbo'",
            "[[dh]]: row 1: antecedent: unknown row 'elbo'",
        ),
        (f"convention = 'standard'\n{ROW}antecedent = 1", "arm.toml: [[dh]]: row 1: antecedent: expected a way to the"),
        (f"convention = 'standard'\n{ROW}antecedent = []", "[[dh]] 1: antecedent: expected a whole number or a text"),
        (f"convention = 'standard'\n{ROW}limits.low = 1", "arm.toml: [[dh]] 1 [limits]: unknown key 'low'."),
        (
            f"convention = 'standard'\n{ROW}[[joint]]\nname = 'x'",
            "[[joint]] 1 'x': unknown joint 'x'. Valid names: 'joint1'.",
        ),
        (f"convention = 'standard'\n{ROW}[[joint]]\nname='joint1'\nparent='x'", "'joint1': unknown key 'parent'."),
        (ROW.replace("dh", "khalil"), "arm.toml: [[khalil]] 1: unknown key 'a'."),
        ("[[khalil]]\nsigma = 0", "[[khalil]] 1: expected a value for 'antecedent', 'gamma', 'b', 'alpha',"),
        ("link = []", "arm.toml: robot: expected at least one link, got none."),
        ("dh = []\nconvention = 'standard'", "arm.toml: [[dh]]: rows: expected at least one row, got none."),
        ("name = 'x'", "arm.toml: expected one of [[link]], [[dh]], [[khalil]], got none."),
        ("gravity = [0, 0]\n[[link]]\nname = 'a'", "arm.toml: gravity: expected a list of length 3, got [0, 0]."),
        ("gravity = [0, 0, nan]\n[[link]]\nname = 'a'", "arm.toml: gravity[2]: expected a finite number"),
        ("name = ''\n[[link]]\nname = 'a'", "arm.toml: robot name: expected a name"),
        ("link = [3]", "arm.toml: link[0]: expected a table, got 3."),
        ("", "arm.toml: expected a robot, got an empty file."),
        (b"\x80\x81", "arm.toml:1: expected TOML, got bytes that are no UTF-8 text."),
        (b"# x\n\x00", "arm.toml:2: expected TOML, got something that cannot be read"),
        ("<robot/>", "arm.toml:1: expected TOML"),
    ],
)
def test_bad_files(tmp_path, text, message):
    assert message in refusal(tmp_path, text)


def test_sources_that_are_no_files(tmp_path):
    for source in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(LinkwiseError, match="expected a file that can be read"):
            load_toml(source)
    with pytest.raises(LinkwiseError, match="expected a path or a text"):
        load_toml(3)


# ---- side files


@pytest.mark.parametrize(
    ("side", "message"),
    [
        ("[[joint]]\nname = 'elbo'", "TOML text: [[joint]] 1 'elbo': unknown joint 'elbo'. Did you mean 'elbow'?"),
        ("[[joint]]\nname = 'elbow'\nparent = 'x'", "TOML text: [[joint]] 1 'elbow': unknown key 'parent'."),
        ("[[joint]]\nname = 'elbow'\n[joint.drive]\ngea = 1", "[[joint]] 1 'elbow' [drive]: unknown key 'gea'."),
        ("[[joint]]\nname = 'elbow'\n" * 2, "[[joint]] 2 'elbow': expected one [[joint]] of that name, got two."),
        ("[[joint]]\narmature = 1", "TOML text: [[joint]] 1: expected a value for 'name'."),
        ("[[link]]\nname = 'x'", "TOML text: unknown key of a side file 'link'. Valid names: 'gravity', 'leads',"),
        ("name = 'x'\n", "TOML text: unknown key of a side file 'name'."),
        ("[[frame]]\nname = 'x'\nlink = 'y'", "TOML text: frame 'x': unknown link 'y'."),
        ("[[loop]]\nname = 'x'\na = 'y'\nb = 'z'", "TOML text: loop 'x': unknown link 'y'."),
        ("[[joint]]\nname = 'elbow'\nlimits.lower = 9", "'elbow' [limits]: expected lower <= upper"),
    ],
)
def test_bad_side_files(side, message):
    robot = load_toml(ARM + "limits = { lower = -1, upper = 1 }\n")
    with pytest.raises(LinkwiseError) as error:
        with_side(robot, side.encode())
    assert message in str(error.value)


# ---- damage


def _damaged(text: str, draw: random.Random) -> str:
    lines = text.split("\n")
    for _ in range(draw.randint(1, 3)):
        k, j = draw.randrange(len(lines)), draw.randrange(len(lines))
        what = draw.randrange(7)
        if what == 0:
            del lines[k]
        elif what == 1:
            lines.insert(j, lines[k])
        elif what == 2:
            lines[k], lines[j] = lines[j], lines[k]
        elif what == 3 and lines[k]:
            at = draw.randrange(len(lines[k]))
            lines[k] = lines[k][:at] + draw.choice('x[]{}="#.-0 \t') + lines[k][at + draw.randint(0, 1) :]
        elif what == 4:
            lines[k] = lines[k].partition("=")[0] + "= " + draw.choice(["nan", "-1", "1e999", "[]", "{}", "''", "0"])
        elif what == 5:
            a, b = (line.partition(" = ") for line in (lines[k], lines[j]))
            lines[k] = a[0] + a[1] + b[2]
        else:
            lines[k] = lines[k].replace(".", draw.choice(["", "-", "e9", "e99"]), 1)
        lines = lines or [""]
    return "\n".join(lines)


def _survives(text: str) -> bool:
    """Whether a damaged file loads, and then with finite torques; anything but a LinkwiseError is raised."""
    try:
        robot = load_toml(text + "\n").rigid()
    except LinkwiseError:
        return False
    robot = robot.opened()  # loops of a damaged file need not close
    ones = np.ones(robot.nv)
    with np.errstate(all="ignore"):
        inverse_dynamics.plain(robot, robot.q(), ones, ones)
    return True


@pytest.mark.parametrize("name", ["puma560", "industrial6", "scara", "everything"])
def test_damaged_files_load_or_are_refused(name):
    text = to_toml(everything(5, 4) if name == "everything" else bundled(name))
    draw = random.Random(name)
    loaded = sum(_survives(_damaged(text, draw)) for _ in range(100))
    assert 5 < loaded < 95
