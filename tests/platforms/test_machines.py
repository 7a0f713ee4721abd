"""What a user does with platforms on legs: builders, positions both ways, limits, files."""

import pickle

import numpy as np
import pytest

import linkwise as lw
from linkwise.formats.toml import load_toml
from support.machines import NAMES, machine

GOUGH = lw.gough_stewart(stroke=(0.7, 1.0))
HOME = np.array([0.0, 0.0, 0.75, 0.0, 0.0, 0.0, 1.0])
REST = np.zeros(6)
FORMER = """
name = "hexapod of old"
mobility = "spatial"
gravity = [0.0, 0.0, -9.81]

[platform]
name = "platform"
mass = 10.0
com = [0.0, 0.0, 0.02]
inertia = [0.3, 0.3, 0.6]
"""
FORMER_LEG = """
[[leg]]
name = "leg{k}"
tip = "rod"
at = {at}
actuated = ["slide"]
base.xyz = {foot}
base.rotation = {axes}
home."slide" = {length}

[[leg.link]]
name = "ground"

[[leg.link]]
name = "cross"

[[leg.link]]
name = "cylinder"
mass = 1.5
com = [0.0, 0.0, 0.2]
inertia = [0.02, 0.02, 0.001]

[[leg.link]]
name = "rod"
mass = 0.8
com = [0.0, 0.0, -0.2]
inertia = [0.01, 0.01, 0.0005]

[[leg.joint]]
name = "tilt"
parent = "ground"
child = "cross"
axis = [1.0, 0.0, 0.0]

[[leg.joint]]
name = "swing"
parent = "cross"
child = "cylinder"
axis = [0.0, 1.0, 0.0]

[[leg.joint]]
name = "slide"
parent = "cylinder"
child = "rod"
kind = "prismatic"
limits.lower = 0.5
limits.upper = 1.5
"""


def former():
    """The file of a hexapod in the form of a platform and legs; its legs are those of `GOUGH` but for their masses."""
    text, slots = FORMER, dict(GOUGH.reference)
    for k, loop in enumerate(GOUGH.loops, start=1):
        X = GOUGH.frame(f"leg{k}.foot").origin
        at, foot = ([float(x) for x in p] for p in (loop.origin_a.p, X.p))
        axes = [[float(x) for x in row] for row in X.R]
        text += FORMER_LEG.format(k=k, at=at, foot=foot, axes=axes, length=slots[f"leg{k}.slide"][0])
    return text


def slides(robot, q):
    """Positions of the drives among those of all joints."""
    slots = robot.opened().slots
    return q[..., [slots[n].q for n in robot.drives]]


def test_at_its_height_a_hexapod_stands_at_zero():
    """All universal joints are at zero there, all legs alike; and that is where it is assembled."""
    found = lw.compile(GOUGH).positions(HOME)
    q = found.q[7:].reshape(6, 3)
    np.testing.assert_allclose(q[:, :2], 0.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(q[:, 2], q[0, 2], rtol=1e-14)
    np.testing.assert_allclose(GOUGH.q(), HOME, rtol=0, atol=1e-12)


def test_a_hexapod_carries_its_weight():
    """Six equal forces; with legs that weigh nothing they are the platform's weight over six cosines."""
    none = lw.Link("part")
    dyn = lw.compile(lw.gough_stewart(cylinder=none, rod=none))
    tau = dyn.inverse_dynamics(HOME, REST, REST)
    length = slides(dyn.robot, dyn.positions(HOME).q)[0]
    np.testing.assert_allclose(tau, 10.0 * 9.81 / 6.0 * length / 0.75, rtol=1e-12)


def test_a_delta_in_the_middle():
    """Equal angles, whose knees are an arm and a forearm from motor and platform; torques that hold it."""
    dyn = lw.compile(lw.delta())
    angles = slides(dyn.robot, dyn.positions([0.0, 0.0, -0.5]).q)
    np.testing.assert_allclose(angles, angles[0], rtol=1e-13)
    knee = np.array([0.2 + 0.25 * np.cos(angles[0]), -0.25 * np.sin(angles[0])])
    assert abs(np.linalg.norm(knee - [0.05, -0.5]) - 0.6) < 1e-14
    assert (dyn.inverse_dynamics([0.0, 0.0, -0.5], np.zeros(3), np.zeros(3)) < 0.0).all()  # it would fall


@pytest.mark.parametrize("elbow", [1, -1])
def test_elbows(elbow):
    robot = lw.three_rrr(elbow=elbow)
    q = lw.compile(robot).positions([0.02, 0.01, 0.1]).q
    slots = robot.opened().slots
    assert all(np.sign(q[slots[f"leg{k}.elbow"].q]) == elbow for k in (1, 2, 3))


def test_a_horizontal_planar_machine_needs_no_force_at_rest():
    dyn = lw.compile(lw.three_rrr())
    assert not dyn.inverse_dynamics([0.02, 0.01, 0.1], np.zeros(3), np.zeros(3)).any()
    assert not dyn.gravity_forces([0.02, 0.01, 0.1]).any()


def test_limits_of_legs():
    dyn = lw.compile(GOUGH)
    q = np.tile(HOME, (3, 1))
    q[:, 2] += [0.0, 0.3, -0.4]
    space = dyn.workspace(q)
    assert space.reached.all()
    np.testing.assert_array_equal(space.within, [True, False, False])
    lengths, excess = slides(GOUGH, dyn.positions(q).q), slides(GOUGH, space.excess)
    np.testing.assert_allclose(excess[1], lengths[1] - 1.0, rtol=1e-12)
    np.testing.assert_allclose(excess[2], 0.7 - lengths[2], rtol=1e-12)
    assert not space.excess[0].any()


def test_condition_shows_singular_positions():
    """A hexapod whose platform is turned by a right angle is singular, whatever its height: Fichter's pose."""
    dyn = lw.compile(lw.gough_stewart(platform_spread=np.radians(20.0)))
    half = np.pi / 4.0

    def condition(angle, **length):
        q = [0.0, 0.0, 0.75, 0.0, 0.0, np.sin(angle), np.cos(angle)]
        return dyn.workspace(q, **length).drive_condition

    assert condition(0.0) < 5.0
    assert condition(half) > 1e12
    near = [condition(half - d) for d in (0.1, 0.01, 0.001)]
    assert near[0] < near[1] < near[2]
    assert condition(0.0, length=1.0) != condition(0.0)
    K = dyn.drive_jacobian(HOME) / [1.0, 1.0, 1.0, 0.35, 0.35, 0.35]
    assert condition(0.0) == pytest.approx(np.linalg.cond(K), rel=1e-12)
    with pytest.raises(lw.LinkwiseError, match="workspace length: expected a number above 0, got -1"):
        dyn.workspace(HOME, length=-1)


def test_of_a_tree_every_drive_is_its_own():
    space = lw.compile(lw.load("rr")).workspace([0.1, 0.2])
    assert space.drive_condition == pytest.approx(1.0)


@pytest.mark.parametrize("name", NAMES)
def test_files(name, tmp_path):
    """A saved robot reads back equal."""
    robot = machine(name).robot
    assert lw.save(robot, tmp_path / "machine.toml") == ()
    again = lw.load(tmp_path / "machine.toml")
    assert again == robot
    assert hash(again) == hash(robot)


def test_files_of_platform_and_legs(tmp_path):
    """The form in which platforms had files of their own: the same robot."""
    (tmp_path / "former.toml").write_text(former())
    robot = lw.load(str(tmp_path / "former.toml"), strict=True)
    assert robot.name == "hexapod of old"
    assert robot.drives == GOUGH.drives
    np.testing.assert_allclose(robot.q(), HOME, rtol=0, atol=1e-9)
    dyn, ours = lw.compile(robot), lw.compile(GOUGH)
    q = [0.02, 0.01, 0.76, 0.1, 0.05, -0.1, 0.9]
    np.testing.assert_allclose(dyn.positions(q).q, ours.positions(q).q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(dyn.drive_jacobian(q), ours.drive_jacobian(q), rtol=0, atol=1e-12)
    (tmp_path / "side.toml").write_text('[[joint]]\nname = "leg1.slide"\narmature = 2.0\n')
    assert lw.load(tmp_path / "former.toml", side=tmp_path / "side.toml").joint("leg1.slide").armature == 2.0
    assert lw.load(tmp_path / "former.toml", base="floating").nv == 12
    with pytest.raises(lw.InputError, match=r"load base: expected one of"):
        lw.load(tmp_path / "former.toml", base="free")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[platform]", "[plate]", r"unknown key of a platform on legs 'plate'. Did you mean 'platform'\?"),
        ('tip = "rod"', 'tip = "rood"', r"\[\[leg\]\] 1 'leg1': tip: unknown frame or link 'rood'|leg 'leg1' tip"),
        ("mass = 10.0", 'mass = "10"', r"\[platform\]: mass: expected a number, got '10'"),
        ("actuated = ", "actuatd = ", r"\[\[leg\]\] 1: unknown key of a leg 'actuatd'"),
        (
            'kind = "prismatic"',
            'kind = "slide"',
            r"\[\[leg\]\] 1 'leg1': \[\[joint\]\] 3 'slide': kind: expected one of",
        ),
        ('mobility = "spatial"', 'mobility = "planar"', "leg 'leg1' joint 'tilt': expected an axis along z"),
        ('mobility = "spatial"', 'mobility = "free"', "unknown mobility 'free'.*'spatial', 'translation', 'planar'"),
        ("at = [", "at = [1.0, ", "leg 'leg1' at: expected 3 numbers, got 4"),
        ("actuated = [", "actuated = 3 # [", "expected a list of names for 'actuated'"),
    ],
)
def test_errors_in_files_are_placed(old, new, message):
    text = former().replace(old, new, 1)
    assert text != former()
    with pytest.raises(lw.ModelError, match=message):
        load_toml(text)


def test_files_without_platform_or_legs():
    with pytest.raises(lw.ModelError, match=r"TOML text: expected a table \[platform\], got none"):
        load_toml("name = 'a'\n[[leg]]\nname = 'b'\n")
    with pytest.raises(lw.ModelError, match=r"TOML text: expected tables \[\[leg\]\], got none"):
        load_toml("name = 'a'\n[platform]\nmass = 1.0\n")
    with pytest.raises(lw.ModelError, match=r"\[\[leg\]\] 1: expected a table, got 3"):
        load_toml("leg = [3]\n[platform]\nmass = 1.0\n")


def test_a_former_class_is_a_function():
    """`ParallelRobot` warns, and makes a robot."""
    with pytest.warns(DeprecationWarning, match=r"lw\.ParallelRobot is now lw\.platforms\.on_legs"):
        build = lw.ParallelRobot
    legs = [lw.platforms.Leg(f"leg{k}", chain(), "end", at, "j0", home={"j1": 1.0}) for k, at in enumerate(TRIANGLE)]
    robot = build(lw.Link("plate", 1.0), legs, mobility="planar", name="old")
    assert (robot.name, robot.coordinates, robot.nu) == ("old", ("plate",), 3)
    assert robot == lw.platforms.on_legs(lw.Link("plate", 1.0), legs, "planar", name="old")
    with pytest.raises(lw.ModelError, match="unknown mobility 'spherical'"):
        build(lw.Link("plate", 1.0), legs, "spherical")


TRIANGLE = ((0.1, 0.0, 0.0), (-0.1, 0.1, 0.0), (-0.1, -0.1, 0.0))


def chain():
    """Two links in a plane."""
    links = [lw.Link("ground"), lw.Link("near", 1.0), lw.Link("far", 1.0)]
    joints = [lw.Joint("j0", "ground", "near"), lw.Joint("j1", "near", "far", origin=lw.Pose.of((0.4, 0, 0)))]
    return lw.Robot(links, joints, [lw.Frame("end", "far", lw.Pose.of((0.4, 0, 0)))])


@pytest.mark.parametrize("name", NAMES)
def test_where_legs_are_at_home(name):
    """Without a home the platform is where the homes of its legs meet."""
    robot, home = machine(name)
    assert machine(name).dyn.workspace(robot.q()).reached
    if name[0].isdigit() and name != "3-RRR upright":
        np.testing.assert_allclose(robot.q(), home, rtol=0, atol=1e-9)


def test_legs_say_where_the_platform_is():
    """A rail machine assembled from the homes of its legs."""
    links = [lw.Link("rail"), lw.Link("carriage", 1.0), lw.Link("cross"), lw.Link("rod", 0.5, (0, 0, 0.3))]
    joints = [
        lw.Joint("slide", "rail", "carriage", "prismatic", axis=(1, 0, 0), limits=lw.Limits(0.2, 0.6)),
        lw.Joint("tilt", "carriage", "cross", axis=(0, 1, 0)),
        lw.Joint("lean", "cross", "rod", axis=(1, 0, 0)),
    ]
    rail = lw.Robot(links, joints, [lw.Frame("end", "rod", lw.Pose.of((0, 0, 0.6)))])
    legs = []
    for k in range(3):
        turn = lw.Pose.of(rpy=(0, 0, 2 * np.pi * k / 3))
        legs.append(lw.platforms.Leg(f"leg{k}", rail, "end", turn.point(lw.Vec3(0.05, 0, 0)), "slide", turn,
                                     {"tilt": -0.5}))  # fmt: skip
    robot = lw.platforms.on_legs(lw.Link("platform", 0.5), legs, "translation")
    q = robot.q()
    np.testing.assert_allclose(q[:2], 0.0, atol=1e-9)
    assert 0.4 < q[2] < 0.6
    carriages = slides(robot, lw.compile(robot).positions(q).q)
    np.testing.assert_allclose(carriages, carriages[0], rtol=1e-9)
    assert (carriages > 0.05).all()


def test_legs_without_a_closed_form():
    """Axes that pass each other, and legs of six joints: closed by Newton's method."""
    apart = lw.Joint("swing", "cross", "cylinder", origin=lw.Pose.of((0.0, 0.02, 0.0)), axis=(0, 1, 0))
    joints = [
        lw.Joint("tilt", "ground", "cross", axis=(1, 0, 0)), apart,
        lw.Joint("slide", "cylinder", "rod", "prismatic", axis=(0, 0, 1)),
    ]  # fmt: skip
    links = [lw.Link("ground"), lw.Link("cross"), lw.Link("cylinder", 1.5, (0, 0, 0.2), (0.1, 0.1, 0.01)),
             lw.Link("rod", 0.8, (0, 0, -0.2), (0.1, 0.1, 0.01))]  # fmt: skip
    skew = lw.Robot(links, joints)
    legs = []
    for k, loop in enumerate(GOUGH.loops, start=1):
        X = GOUGH.frame(f"leg{k}.foot").origin
        length = dict(GOUGH.reference)[f"leg{k}.slide"][0]
        legs.append(lw.platforms.Leg(f"leg{k}", skew, "rod", loop.origin_a.p, "slide", X, {"slide": length}))
    robot = lw.platforms.on_legs(lw.Link("platform", 10.0, (0, 0, 0.1), (1, 1, 1)), legs, home=HOME)
    dyn = lw.compile(robot)
    q = np.array([0.02, 0.01, 0.76, 0.05, 0.02, -0.05, 0.99])
    qd, qdd = np.linspace(-0.5, 0.5, 6), np.linspace(1.0, -1.0, 6)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(dyn.forward_dynamics(q, qd, tau), qdd, rtol=1e-9, atol=1e-9)


def test_hybrid_machines():
    """An arm on a platform: both lead, both push."""
    robot = lw.gough_stewart().attach(lw.load("rr"), at="platform", prefix="arm_")
    assert robot.coordinates == ("platform", "arm_joint1", "arm_joint2")
    assert robot.nu == 8
    dyn = lw.compile(robot)
    q, qd, qdd = robot.q({"arm_joint1": 0.3}), np.ones(8), np.ones(8)
    np.testing.assert_allclose(dyn.forward_dynamics(q, qd, dyn.inverse_dynamics(q, qd, qdd)), qdd, rtol=1e-9, atol=1e-9)


def test_kernels_travel():
    """Robots, dynamics and kernels can be pickled; a kernel tells its signature and its C source."""
    dyn = lw.compile(GOUGH, external=("platform",))
    again = pickle.loads(pickle.dumps(dyn))
    assert again.robot == GOUGH
    kernel = pickle.loads(pickle.dumps(dyn.inverse_dynamics))
    assert kernel.inputs == {"q": (7,), "qd": (6,), "qdd": (6,), "f_ext": (1, 6)}
    assert kernel.outputs == {"tau": (6,)}
    assert "'Gough-Stewart platform'" in repr(kernel)
    assert kernel.count()["mul"] < 2000
    assert "void inverse_dynamics(" in kernel.c_source()
    f = np.zeros((1, 6))
    np.testing.assert_array_equal(kernel(HOME, REST, REST, f), dyn.inverse_dynamics(HOME, REST, REST, f))


def test_legs_are_felt_at_their_points():
    """Legs by matrices of three: the mass matrix of a hexapod takes about 50 operations an entry, whatever is on it."""
    count = lw.compile(GOUGH).mass_matrix.count()
    assert count["mul"] + count["add"] + count["div"] < 1700


def test_out_lists_and_batches():
    dyn = lw.compile(GOUGH)
    out = np.empty((2, 3, 6))
    q = np.broadcast_to(HOME, (3, 7))
    found = dyn.inverse_dynamics(q, np.zeros((2, 1, 6)), [0] * 6, out=out)
    assert found is out
    assert dyn.positions(q).q.shape == (3, 25)
    assert dyn.joint_wrenches(q, REST, REST).cut.shape == (3, 6, 6)
    lengths = slides(GOUGH, dyn.positions(HOME).q)
    found = dyn.positions(drives=np.broadcast_to(lengths, (2, 3, 6)))
    assert found.q.shape == (2, 3, 25)
    assert found.converged.shape == (2, 3)
    assert dyn.positions(drives=np.empty((0, 6))).q.shape == (0, 25)


def test_a_quaternion_of_any_length():
    dyn = lw.compile(GOUGH)
    x = np.array([0.02, 0.01, 0.75, 0.1, 0.05, -0.1, 0.9])
    longer = x * [1, 1, 1, 3, 3, 3, 3]
    v = np.ones(6)
    np.testing.assert_allclose(dyn.inverse_dynamics(longer, v, v), dyn.inverse_dynamics(x, v, v), rtol=1e-12)
    np.testing.assert_allclose(dyn.positions(longer).q[7:], dyn.positions(x).q[7:], rtol=0, atol=1e-12)
