"""The MJCF reader: what is noted, what is left out, and how bad files are answered (oracles/ has the numbers)."""

import math
import time

import pytest

from linkwise.errors import LinkwiseError, ModelError
from linkwise.formats.mjcf import load_mjcf
from linkwise.formats.registry import load
from linkwise.robot import Friction, Limits, Mimic, Spring
from support.mjcf import BODY, body, mjcf

HINGE = '<joint name="j"/>'


def arm(*inside: str, **others):
    """The robot of one body."""
    return load_mjcf(mjcf(body("a", *inside), **others))


def joint(attributes: str, **others):
    return arm(BODY, f'<joint name="j" {attributes}/>', **others).joint("j")


def remarks(robot):
    return {(n.level, n.where): n.message for n in robot.diagnostics}


# ---- what elements mean


def test_names_and_sizes():
    robot = load_mjcf(mjcf(body("a", BODY, HINGE, '<site name="tool" pos="0 0 1"/>', "<site/>", body("b", BODY))))
    assert robot.name == "arm"
    assert [k.name for k in robot.links] == ["world", "a", "b"]
    assert (robot.names, [j.name for j in robot.joints]) == (("j",), ["j", "b_weld"])
    assert [(f.name, f.link, tuple(f.origin.p)) for f in robot.frames] == [("tool", "a", (0.0, 0.0, 1.0))]
    assert tuple(robot.gravity) == (0.0, 0.0, -9.81)


def test_what_has_no_name_gets_one():
    inner = f"<body>{BODY}<joint/></body>"
    robot = load_mjcf(mjcf(f'<body>{BODY}<joint/><joint axis="1 0 0"/>{inner}</body>', body("body4", BODY, HINGE)))
    assert [k.name for k in robot.links] == ["world", "body1_body1_joint", "body1", "body3", "body4"]
    assert robot.names == ("body1_joint", "body1_joint2", "body3_joint", "j")


def test_the_file_names_a_model_without_a_name(tmp_path):
    path = tmp_path / "crane.xml"
    path.write_text(mjcf(body("a", BODY)).replace(' model="arm"', ""))
    assert load_mjcf(path).name == load_mjcf(str(path)).name == "crane"


def test_joint_defaults():
    j = joint("")
    assert (j.kind, tuple(j.axis), tuple(j.anchor)) == ("revolute", (0.0, 0.0, 1.0), (0.0, 0.0, 0.0))
    assert (j.limits, j.friction, j.armature, j.spring) == (Limits(), Friction(), 0.0, None)


def test_passive_forces():
    j = joint('damping="1" frictionloss="2" armature="3" stiffness="4" springref="90"')
    assert (j.friction, j.armature, j.spring) == (Friction(1.0, 2.0), 3.0, Spring(4.0, rest=math.pi / 2))
    assert joint('stiffness="0" springref="90"').spring is None
    off = ['<option><flag damper="disable" spring="disable" frictionloss="disable"/></option>']
    assert joint('damping="1" frictionloss="2" stiffness="4"', head=off).friction == Friction()
    assert joint('stiffness="4"', head=['<option><flag passive="disable"/></option>']).spring is None


@pytest.mark.parametrize(
    ("attributes", "compiler", "limits"),
    [
        ('range="-90 90"', "", Limits(-math.pi / 2, math.pi / 2)),
        ('range="-1 2"', 'angle="radian"', Limits(-1, 2)),
        ('range="-1 2" type="slide"', "", Limits(-1, 2)),
        ('range="0 0"', "", Limits()),
        ('range="-1 2" limited="false"', "", Limits()),
        ('range="-1 2"', 'autolimits="false"', Limits()),
        ('range="-1 2" limited="true"', 'autolimits="false" angle="radian"', Limits(-1, 2)),
        ('actuatorfrcrange="-5 5"', "", Limits(effort=5)),
        ('actuatorfrcrange="-5 5" actuatorfrclimited="false"', "", Limits()),
        ('actuatorfrcrange="-5 4"', "", Limits()),
    ],
)
def test_limits(attributes, compiler, limits):
    assert joint(attributes, head=[f"<compiler {compiler}/>"]).limits == limits


def test_a_linear_equality_is_a_mimic():
    two = body("a", BODY, '<joint name="i" ref="10"/>', '<joint name="j" ref="20" axis="1 0 0"/>')
    tie = '<equality><joint joint1="j" joint2="i" polycoef="0.5 -2 0 0 0"/></equality>'
    robot = load_mjcf(mjcf(two, tail=[tie]))
    mimic = robot.joint("j").mimic
    assert (robot.names, mimic.joint, mimic.ratio) == (("i",), "i", -2.0)
    assert mimic.offset == pytest.approx(0.5 + math.radians(20) + 2 * math.radians(10), rel=1e-15)
    assert remarks(robot)["info", "equality <joint>"] == "is taken as exact: joint 'j' mimics 'i'"
    plain = load_mjcf(mjcf(two, tail=['<equality><joint name="e" joint1="j" joint2="i"/></equality>']))
    assert plain.joint("j").mimic.ratio == Mimic("i").ratio
    assert ("info", "equality 'e'") in remarks(plain)


@pytest.mark.parametrize(
    "tie",
    [
        '<joint joint1="i"/>',
        '<joint joint1="j" joint2="i" polycoef="0 1 0.1 0 0"/>',
        '<joint joint1="i" joint2="i"/>',
        '<joint joint1="k" joint2="i"/><joint joint1="i" joint2="j"/>',
        '<joint joint1="i" joint2="free"/>',
    ],
)
def test_other_joint_equalities_are_noted(tie):
    joints = [f'<joint name="{n}" axis="{axis}"/>' for n, axis in (("i", "1 0 0"), ("j", "0 1 0"), ("k", "0 0 1"))]
    free = body("f", BODY, '<freejoint name="free"/>')
    robot = load_mjcf(mjcf(body("a", BODY, *joints), free, tail=[f"<equality>{tie}</equality>"]))
    assert robot.joint("i").mimic is robot.joint("j").mimic is None
    assert remarks(robot)["warning", "equality <joint>"].endswith("not modelled")


def test_points_that_are_connected_are_a_loop():
    """The second body's point is the one that is at the anchor where the file draws it; actuated joints are active."""
    crank = body("crank", BODY, '<joint name="crank" axis="0 1 0"/>',
                 body("rod", BODY, '<joint name="rod" axis="0 1 0" ref="20"/>', '<site name="end" pos="0.4 0 0"/>',
                      attributes='pos="0.2 0 0" euler="0 90 0"'))  # fmt: skip
    slide = body("slide", BODY, '<joint name="slide" type="slide" axis="1 0 0"/>', '<site name="pin"/>',
                 attributes='pos="0.5 0 0"')  # fmt: skip
    drive = '<actuator><motor joint="crank"/><motor joint="other"/></actuator>'
    tie = '<equality><connect name="pin" body1="rod" body2="slide" anchor="0.1 0 0.3" solref="0.01 1"/></equality>'
    robot = load_mjcf(mjcf(crank, slide, tail=[drive, tie]))
    (loop,) = robot.loops
    assert (loop.name, loop.a, loop.b, loop.kind, loop.active) == ("pin", "rod", "slide", "spherical", ("crank",))
    assert loop.origin_a.p == (0.1, 0.0, 0.3)
    assert loop.origin_b.p == pytest.approx((0.0, 0.0, -0.1), abs=1e-15)
    assert ("info", "equality 'pin'") in remarks(robot)
    sites = load_mjcf(mjcf(crank, slide, tail=['<equality><connect site1="end" site2="pin"/></equality>']))
    assert [(x.name, x.a, x.b, x.origin_a.p, x.active) for x in sites.loops] == [
        ("connect1", "rod", "slide", (0.4, 0.0, 0.0), ())
    ]
    world = load_mjcf(mjcf(crank, tail=['<equality><connect body1="rod" anchor="0 0 0"/></equality>']))
    assert (world.loops[0].b, world.loops[0].origin_b.p) == ("world", (0.2, 0.0, 0.0))


@pytest.mark.parametrize(
    ("tail", "level", "message"),
    [
        ('<connect name="e" body1="a" body2="fast" anchor="0 0 0"/>', "info", "never moves apart"),
        ('<connect name="e" body1="a" body2="hand" anchor="0 0 0"/>', "warning", "motion capture is not modelled"),
    ],
)
def test_connections_that_are_no_loops(tail, level, message):
    bodies = [
        body("a", BODY, HINGE, body("fast", BODY)),
        body("hand", attributes='mocap="true"'),
    ]
    robot = load_mjcf(mjcf(*bodies, tail=[f"<equality>{tail}</equality>"]))
    assert robot.loops == ()
    assert message in remarks(robot)[level, "equality 'e'"]
    for switch in ('<connect active="false" body1="a" anchor="0 0 0"/>', ""):
        assert load_mjcf(mjcf(*bodies, tail=[f"<equality>{switch}</equality>"])).loops == ()
    off = '<option><flag equality="disable"/></option>'
    tie = '<equality><connect body1="a" anchor="1 0 0"/></equality>'
    assert load_mjcf(mjcf(*bodies, tail=[off, tie])).loops == ()


# ---- what is noted


@pytest.mark.parametrize(
    ("tail", "where", "message"),
    [
        ('<equality><weld name="w" body1="a" body2="b"/></equality>', "equality 'w'", "is not modelled"),
        ('<tendon><fixed name="t" stiffness="3"/></tendon>', "tendon 't'", "its stiffness: not modelled"),
        ('<actuator><motor name="m" joint="j" armature="2"/></actuator>', "actuator 'm'", "its armature: not"),
        ('<deformable><flex name="f"/></deformable>', "flex 'f'", "is not modelled"),
        ('<option density="1.2" viscosity="0"/>', "option", "density is not modelled"),
    ],
)
def test_forces_left_out_are_noted(tail, where, message):
    robot = arm(BODY, HINGE, body("b", BODY), tail=[tail])
    assert message in remarks(robot)["warning", where]


def test_what_does_not_matter_is_quiet():
    tail = [
        '<actuator><motor joint="j" forcerange="-1 1"/></actuator>',
        '<sensor><gyro site="s"/></sensor><asset><mesh file="no.stl"/><include file="no.xml"/></asset>',
        '<visual/><size/><statistic/><custom/><keyframe><key qpos="0"/></keyframe><contact/><extension/>',
        '<equality><weld active="false" body1="a"/></equality><option timestep="0.1" wind="0 0 0"/>',
    ]
    robot = arm(BODY, HINGE, '<geom size="0.1"/>', "<camera/>", "<light/>", tail=tail)
    assert robot.diagnostics == ()
    assert robot.joint("j").limits.effort == 1.0
    tendon = arm(BODY, HINGE, tail=['<tendon><spatial name="t"><site site="s"/></spatial></tendon>'])
    assert remarks(tendon) == {("info", "tendon 't'"): "it: not modelled"}


@pytest.mark.parametrize(
    ("text", "level", "message"),
    [
        (body("a", HINGE), "info", "has no <inertial>: taken as without mass"),
        (body("a", '<geom size="0.1"/>'), "info", "has its mass from geoms: taken as without mass, as it never moves"),
        (body("a", HINGE, '<geom size="0.1" mass="0"/>'), "info", "has no <inertial>: taken as without mass"),
        (body("a", HINGE, '<geom size="0.1" density="0"/>'), "info", "has no <inertial>: taken as without mass"),
        (body("a", '<inertial mass="1" pos="0 0 0"/>'), "warning", "has neither diaginertia nor fullinertia"),
        (body("a", BODY, attributes='gravcomp="1"'), "warning", "gravcomp is not modelled"),
        (body("a", BODY, attributes='mocap="true"'), "info", "is moved by motion capture: taken as fixed"),
        (body("a", BODY, attributes='naem="b"'), "warning", "<body> naem is not known: ignored"),
        (body("a", BODY.replace("/>", ' mas="2"/>')), "warning", "<inertial> mas is not known: ignored"),
    ],
)
def test_notes_on_bodies(text, level, message):
    assert remarks(load_mjcf(mjcf(text)))[level, "link 'a'"].startswith(message)


def test_slips_of_the_pen_in_joints_are_noted():
    robot = arm(BODY, '<joint name="j" dampin="1"/>')
    assert remarks(robot)["warning", "joint 'j'"] == "<joint> dampin is not known: ignored"


# ---- what is refused, with file and line


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('<include file="x"/>', "not supported: element <include> in link 'a'"),
        ('<composite type="cable"/>', "not supported: element <composite> in link 'a'"),
        ("<flexcomp/>", "not supported: element <flexcomp> in link 'a'"),
        ('<attach model="m"/>', "not supported: element <attach> in link 'a'"),
        ('<replicate count="3"/>', "not supported: element <replicate> in link 'a'"),
        ("<plugin/>", "not supported: element <plugin> in link 'a'"),
        ("<frame><what/></frame>", "not supported: element <what> in link 'a'"),
        ('<joint name="j" type="ball" damping="1"/>', "not supported: joint 'j', a ball with damping"),
        ('<joint name="j" type="screw"/>', "not supported: joint 'j' of type 'screw'. Use ['hinge', 'slide', 'ball']"),
        ('<joint name="j" springdamper="1 1"/>', "not supported: joint 'j' with springdamper"),
        ('<joint name="j" springyield="1"/>', "not supported: joint 'j' with springyield"),
        ('<joint name="j" stiffness="1 2 3"/>', "not supported: joint 'j' with a polynomial stiffness"),
        ('<joint name="j" type="free" damping="1"/>', "not supported: joint 'j', a free joint with damping"),
        ('<joint name="j"/><freejoint/>', "expected a free joint to be alone and on the world"),
        ('<joint name="j" axis="0 0 0"/>', "joint 'j' axis: expected a direction, got (0.0, 0.0, 0.0)"),
        ('<joint name="j" axis="0 0 x"/>', "joint 'j' joint axis: expected a number, got 'x'"),
        ('<joint name="j" axis="0 1"/>', "joint 'j' joint axis: expected 3 numbers, got '0 1'"),
        ('<joint name="j" range="1 -1"/>', "joint 'j' limits: expected lower <= upper"),
        ('<joint name="j" range="1 nan"/>', "joint 'j' joint range: expected a finite number, got nan"),
        ('<joint name="j" limited="True"/>', "<joint> limited: expected one of ('auto', 'true', 'false'), got 'True'"),
        ('<joint name="j" damping="-1"/>', "joint 'j' friction viscous: expected a number of at least 0, got -1"),
        ('<joint name="j" damping=""/>', "joint 'j' joint damping: expected 1 numbers, got ''"),
        ('<joint name="j" class="z"/>', "<joint> class: unknown class 'z'. Valid names: 'main'"),
        ('<site name="s" quat="0 0 0 0"/>', "frame 's' site quat: expected directions that are not zero"),
        ('<site name="s" xyaxes="1 0 0 2 0 0"/>', "frame 's' site xyaxes: expected directions that are not zero"),
        ('<site name="s" zaxis="0 0 0"/>', "frame 's' site zaxis: expected directions that are not zero"),
        ('<site name="s" axisangle="0 0 0 1"/>', "frame 's' site axisangle: expected directions that are not"),
        ('<site name="s" quat="1 0 0 0" euler="0 0 0"/>', "expected one form of orientation, got quat and euler"),
        (f"{BODY}{BODY}", "link 'a': expected one <inertial>, got 2"),
        ('<inertial pos="0 0 0" diaginertia="1 1 1"/>', "link 'a' inertial mass: expected a number, got None"),
        ('<inertial mass="-1" diaginertia="1 1 1"/>', "link 'a' mass: expected a number of at least 0, got -1"),
        (
            '<inertial mass="1" fullinertia="1 1 1 0 0 0" quat="1 0 0 0"/>',
            "link 'a' inertial: expected fullinertia alone, got quat too",
        ),
        ('<joint name="j"/><geom/>', "link 'a' geom size: expected 1 numbers for a sphere, got 0."),
        (
            '<joint name="j"/><geom type="sdf"/>',
            "not supported: inertia of a <geom> of type 'sdf' in link 'a'. Give the body an",
        ),
        (
            '<joint name="j"/><geom size="1" shellinertia="true"/>',
            "not supported: shellinertia of a <geom>",
        ),
        (
            """<joint name="j"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom mesh="m"/>""",
            "unknown mesh 'm'",
        ),
    ],
)
def test_refused_in_bodies(inside, message):
    with pytest.raises(ModelError) as error:
        load_mjcf(mjcf('<body name="a">', inside, "</body>"))
    assert str(error.value).startswith("MJCF text:4: ")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('<include file="x"/>', "not supported: element <include>"),
        ("<worldboby/>", "not supported: element <worldboby>"),
        ('<default><include file="x"/></default>', "not supported: element <include>"),
        ('<default class="x"/>', "default class: expected 'main' at the top, got 'x'"),
        ("<default><default/></default>", "default class: expected a name of its own, got none"),
        (
            '<default><default class="x"/><default class="x"/></default>',
            "default class: expected a name of its own, got a second 'x'",
        ),
        ('<compiler coordinate="global"/>', "<compiler> coordinate: expected one of ('local',), got 'global'"),
        ('<compiler angle="turns"/>', "<compiler> angle: expected one of ('degree', 'radian'), got 'turns'"),
        ('<compiler eulerseq="xyw"/>', "<compiler> eulerseq: expected three of the letters"),
        ('<compiler boundmass="1"/>', "not supported: boundmass in <compiler>"),
        ('<compiler settotalmass="3"/>', "not supported: settotalmass in <compiler>"),
        ('<option gravity="0 0 inf"/>', "mujoco option gravity: expected a finite number, got inf"),
        ('<worldbody><freejoint/></worldbody>', "<worldbody>: expected no <freejoint>, got one"),
        (
            '<equality><joint name="e" joint1="k"/></equality>',
            "equality 'e' joint1: unknown joint 'k'. Valid names: 'j'",
        ),
        (
            '<equality><connect name="e" body1="c" anchor="0 0 0"/></equality>',
            "equality 'e' body1: unknown body 'c'. Valid names: 'world', 'a'",
        ),
        ('<equality><connect name="e" body1="a"/></equality>', "equality 'e': expected anchor=... or two sites"),
        ('<equality><connect site1="s" site2="t"/></equality>', "equality 'connect1' site1: unknown site 's'"),
        ('<equality><connect name="e" body1="a" body2="a" anchor="0 0 x"/></equality>', "expected a number, got 'x'"),
    ],
)  # fmt: skip
def test_refused_outside_bodies(line, message):
    with pytest.raises(ModelError) as error:
        load_mjcf(mjcf(body("a", BODY, HINGE), head=["", line]))
    assert str(error.value).startswith("MJCF text:3: ")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("bodies", "place", "message"),
    [
        ([body("a", BODY), body("a", BODY)], 6, "link 'a': expected one link of that name, got two"),
        ([body("world", BODY)], 3, "link 'world': expected one link of that name, got two"),
        ([body("a", BODY, body("a", BODY))], 5, "link 'a': expected one link of that name, got two"),
        ([body("a", BODY, HINGE), body("b", BODY, HINGE)], 9, "joint 'j': expected one joint of that name"),
        (['<site name="s"/>', '<site name="s"/>'], 4, "frame 's': expected one frame of that name, got two"),
        ([body("a", BODY, body("b", BODY, "<freejoint/>"))], 7, "expected a free joint to be alone and on the world"),
    ],
)
def test_refused_trees(tmp_path, bodies, place, message):
    path = tmp_path / "arm.xml"
    path.write_text(mjcf(*bodies))
    with pytest.raises(ModelError) as error:
        load_mjcf(path)
    assert str(error.value).startswith(f"arm.xml:{place}: ")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot/>", "MJCF text:1: expected <mujoco> (MJCF), got <robot>"),
        ("<mujoco", "MJCF text:1: expected XML"),
        (b"", "MJCF text: expected a robot, got an empty file"),
        (b"\x00\x01\x02", "expected XML"),
        (None, "MJCF text: expected a path or a text, got None"),
        ('<!DOCTYPE m [<!ENTITY a "a">]><mujoco/>', "expected no document type"),
        ("<mujoco>" + "<a>" * 500 + "</a>" * 500 + "</mujoco>", "expected at most 500 nested elements"),
    ],
)
def test_bad_texts(text, message):
    with pytest.raises(LinkwiseError) as error:
        load_mjcf(text)
    assert message in str(error.value)


def test_long_chains_do_not_recurse():
    n = 490
    text = mjcf("".join(f"<body>{BODY}<joint/>" for _ in range(n)) + "</body>" * n)
    assert load_mjcf(text).nv == n
    frames = "<frame>" * n + "<site name='s'/>" + "</frame>" * n
    assert len(load_mjcf(mjcf(frames)).frames) == 1
    classes = "".join(f'<default class="c{k}">' for k in range(n)) + "</default>" * n
    assert load_mjcf(mjcf(body("a", BODY), head=[f"<default>{classes}</default>"])).nv == 0


def test_strict_refuses_doubtful_physics():
    text = mjcf(body("a", BODY.replace("1 1 1", "1 1 5"), HINGE))
    assert [d.level for d in load_mjcf(text).diagnostics] == ["error"]
    with pytest.raises(ModelError, match=r"^MJCF text: expected no errors.*link 'a' inertia breaks the tri"):
        load_mjcf(text, strict=True)


# ---- load


@pytest.mark.parametrize("suffix", [".xml", ".mjcf"])
def test_load_goes_by_the_first_element(tmp_path, suffix):
    text = f"<?xml version='1.0'?>\n<!-- <robot> -->\n{mjcf(body('a', BODY, HINGE))}"
    path = tmp_path / f"arm{suffix}"
    path.write_text(text)
    assert load(path) == load(str(path)) == load(text) == load(text.encode("utf-16")) == load_mjcf(text)
    path.write_text('<robot name="mujoco"><link name="a"/></robot>')
    assert load(path).links[0].name == "a"


@pytest.mark.parametrize("text", [b"<!--" * 25_000, b"<", b"<!-- <mujoco/> -->", b"<!DOCTYPE mujoco><mujoco/>", "<\0"])
def test_load_is_quick_to_refuse(text):
    start = time.perf_counter()
    with pytest.raises(LinkwiseError):
        load(text)
    assert time.perf_counter() - start < 5.0


@pytest.mark.parametrize(
    ("actuator", "effort", "remark"),
    [
        ('<motor joint="j" gear="50" forcerange="-2 2"/>', 100.0, "gear 50: limits are those of the joint"),
        ('<motor joint="j" ctrlrange="-3 3"/>', 3.0, ""),
        ('<motor joint="j" ctrlrange="-3 3" ctrllimited="false"/>', math.inf, ""),
        ('<motor joint="j" forcerange="-1 4"/>', 4.0, "forcerange -1 4 is not the same both ways: the larger is taken"),
        (
            '<position joint="j" kp="45" ctrlrange="-1 1" forcerange="-7 7"/>',
            7.0,
            "a position actuator, kp 45: its law",
        ),
        ('<general joint="j" class="strong"/>', 9.0, "a general actuator: its law is not modelled"),
        ('<motor site="s"/>', math.inf, "does not act on a joint: not modelled"),
    ],
)
def test_what_actuators_say_is_read_or_reported(actuator, effort, remark):
    head = ['<default><default class="strong"><motor forcerange="-9 9"/></default></default>']
    robot = arm(BODY, HINGE, head=head, tail=[f"<actuator>{actuator}</actuator>"])
    assert robot.joint("j").limits.effort == effort
    assert remark in " ".join(d.message for d in robot.diagnostics)


def test_geoms_are_shapes(tmp_path):
    file = tmp_path / "arm.xml"
    file.write_text(
        mjcf(
            '<geom type="plane" size="1 1 1"/>',
            body(
                "a", BODY, HINGE, '<geom type="box" size="0.1 0.2 0.3" pos="1 0 0" rgba="1 0 0 1" name="crate"/>',
                '<geom type="mesh" mesh="part" material="tin" contype="0" conaffinity="0"/>',
                '<geom type="capsule" size="0.1" fromto="0 0 0 0 0 2" group="3"/>', '<geom type="sdf" mass="0"/>',
            ),
            head=[
                '<compiler meshdir="meshes"/>',
                '<asset><mesh file="part.stl" scale="2 2 2"/><material name="tin" rgba="0.5 0.5 0.5 1"/></asset>',
            ],
        )
    )  # fmt: skip
    robot = load(file)
    ground, crate, part, capsule = robot.shapes
    assert (ground.link, ground.kind, crate.size, crate.role) == ("world", "plane", (0.2, 0.4, 0.6), "both")
    assert (crate.name, crate.colour, tuple(crate.origin.p)) == ("crate", (1.0, 0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
    assert (part.file, part.size, part.role, part.colour) == (
        "meshes/part.stl",
        (2.0,) * 3,
        "visual",
        (0.5, 0.5, 0.5, 1.0),
    )
    assert (capsule.size, capsule.role, tuple(capsule.origin.p)) == ((0.1, 2.0), "collision", (0.0, 0.0, 1.0))
    assert part.path is None
    assert "a geom of type 'sdf' is not drawn" in [d.message for d in robot.diagnostics]
