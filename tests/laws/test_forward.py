"""Forward dynamics: every route is the inverse of inverse dynamics, and all routes agree."""

import numpy as np
import pytest

import linkwise as lw

SEEDS = range(8)
EVERYTHING = {"friction": 0.6, "armature": 0.6, "springs": 0.5}


def relative(a, b):
    return np.abs(a - b).max() / np.abs(b).max()


def posed(robot, rows=20, seed=1):
    """Random states; quaternions of floating joints normalised."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.normal(size=(rows, robot.nq)), *rng.normal(size=(2, rows, robot.nv))
    return q, qd, qdd


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_forward_after_inverse(seed, floating):
    """qdd -> tau -> qdd, with friction, rotors, springs, external wrenches, by both routes."""
    robot = lw.random_tree(seed, 6, floating=floating, **EVERYTHING)
    q, qd, qdd = posed(robot)
    push = np.random.default_rng(seed).normal(size=(20, 1, 6)) * 10
    options = {"external": ("tool",)}
    tau = lw.compile(robot, lw.inverse_dynamics, **options)(q, qd, qdd, push)
    for route in ("inertia", "articulated"):
        back = lw.compile(robot, lw.forward_dynamics, route=route, **options)(q, qd, tau, push)
        assert relative(back, qdd) < 1e-10, route


@pytest.mark.parametrize("seed", SEEDS)
def test_motors_and_mimics_go_by_the_inertia_matrix(seed):
    """Couplings beyond the tree: the cheapest route that knows them is taken."""
    robot = lw.random_tree(seed, 6, mimic=0.3, motors=0.5)
    q, qd, qdd = posed(robot)
    dyn = lw.compile(robot)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    assert relative(dyn.forward_dynamics(q, qd, tau), qdd) < 1e-10


@pytest.mark.parametrize("seed", SEEDS)
def test_sources_forms(seed):
    """Nasser's sweeps and Walker and Orin's columns agree with the routes that are used."""
    robot = lw.random_tree(seed, 6, **EVERYTHING)
    q, qd, tau = posed(robot)
    dyn = lw.compile(robot)
    assert (
        relative(lw.compile(robot, lw.algorithms.inbound_outbound)(q, qd, tau), dyn.forward_dynamics(q, qd, tau))
        < 1e-10
    )
    assert relative(lw.compile(robot, lw.algorithms.unit_accelerations)(q), dyn.mass_matrix(q)) < 1e-13


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_mix_of_known_and_unknown(seed, floating):
    """Half of the joints driven, half free: accelerations, forces and joint wrenches of the full solution."""
    robot = lw.random_tree(seed, 6, floating=floating, **EVERYTHING)
    q, qd, qdd = posed(robot)
    tau, wrench = lw.compile(robot).joint_wrenches(q, qd, qdd)
    for driven in ((), robot.names, robot.names[::2], robot.names[1:]):
        places = [robot.slots[n].v + k for n in driven for k in range(robot.slots[n].nv)]
        given = tau.copy()
        given[:, places] = qdd[:, places]
        for route in ("articulated", "inertia"):
            found = lw.compile(robot, lw.hybrid_dynamics, driven=driven, route=route)(q, qd, given)
            assert relative(found.qdd, qdd) < 1e-10
            assert relative(found.tau, tau) < 1e-10
            assert relative(found.wrench, wrench) < 1e-10


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_mix_with_motors_and_mimics(seed, floating):
    """Couplings beyond the tree: the route by the inertia matrix knows them, wrenches included."""
    robot = lw.random_tree(seed, 6, floating=floating, mimic=0.3, motors=0.5, **EVERYTHING)
    q, qd, qdd = posed(robot)
    tau, wrench = lw.compile(robot).joint_wrenches(q, qd, qdd)
    for driven in ((), robot.names, robot.names[::2]):
        places = [robot.slots[n].v + k for n in driven for k in range(robot.slots[n].nv)]
        given = tau.copy()
        given[:, places] = qdd[:, places]
        found = lw.compile(robot, lw.hybrid_dynamics, driven=driven, route="inertia")(q, qd, given)
        assert relative(found.qdd, qdd) < 1e-10
        assert relative(found.tau, tau) < 1e-10
        assert relative(found.wrench, wrench) < 1e-10
        lw.compile(robot, lw.hybrid_dynamics, driven=driven)  # the open choice finds this route


def test_base_motion_in_forward_dynamics():
    robot = lw.random_tree(3, 6, **EVERYTHING)
    q, qd, qdd = posed(robot)
    base = np.random.default_rng(5).normal(size=(2, 6))
    tau = lw.compile(robot, lw.inverse_dynamics, base_motion=True)(q, qd, qdd, *base)
    for route in ("inertia", "articulated"):
        back = lw.compile(robot, lw.forward_dynamics, base_motion=True, route=route)(q, qd, tau, *base)
        assert relative(back, qdd) < 1e-11


@pytest.mark.parametrize("route", ["inertia", "articulated"])
def test_a_massless_free_link_is_named(route):
    robot = lw.Robot(
        [lw.Link("ground"), lw.Link("arm", 1.0, (0.1, 0, 0), (1, 1, 1)), lw.Link("ghost")],
        [lw.Joint("shoulder", "ground", "arm"), lw.Joint("wrist", "arm", "ghost", origin=(0.3, 0, 0))],
    )
    with pytest.raises(lw.LinkwiseError, match=r"'wrist'.*'ghost'"):
        lw.compile(robot, lw.forward_dynamics, route=route)
    with pytest.raises(lw.LinkwiseError, match=r"'wrist'.*'ghost'"):
        lw.compile(robot, lw.algorithms.inbound_outbound)
    assert np.isfinite(lw.compile(robot).inverse_dynamics(*np.ones((3, 2)))).all()


def gimbal(tilt=0.0):
    """Two rings without mass and a head: where yaw and roll turn about one line, their shares are not determined."""
    links = [lw.Link("ground"), lw.Link("outer"), lw.Link("inner")]
    links.append(lw.Link("head", 2.0, (0.1, 0.05, 0.2), (0.02, 0.03, 0.04)))
    joints = [
        lw.Joint("yaw", "ground", "outer", axis=(0, 0, 1)),
        lw.Joint("pitch", "outer", "inner", axis=(0, 1, 0)),
        lw.Joint("roll", "inner", "head", axis=(np.sin(tilt), 0, np.cos(tilt))),
    ]
    return lw.Robot(links, joints)


@pytest.mark.parametrize("tilt", [0.0, 0.3])
@pytest.mark.parametrize("route", ["inertia", "articulated"])
def test_a_singular_state_is_nan_and_its_neighbours_in_the_batch_are_not(route, tilt):
    robot = gimbal(tilt)
    off = np.array([0.0, 1e-12, 1e-9, 1e-7, np.pi, 1e-3, 0.1, 1.0, -2.0])  # from yaw and roll in line
    q = np.stack([np.full(9, 0.3), off - tilt, np.full(9, 0.7)], axis=1)
    qd, qdd = np.random.default_rng(0).normal(size=(2, 9, 3))
    tau = lw.compile(robot).inverse_dynamics(q, qd, qdd)
    found = lw.compile(robot, lw.forward_dynamics, route=route)(q, qd, tau)
    assert np.isnan(found[:5]).all()
    assert np.isnan(lw.compile(robot, lw.algorithms.inbound_outbound)(q, qd, tau)[:5]).all()
    assert np.abs(found[6:] - qdd[6:]).max() < 1e-10
    assert np.abs(found[5] - qdd[5]).max() < 1e-7
    mixed = lw.compile(robot, lw.hybrid_dynamics, driven=("yaw",), route=route)
    tau[:, 0] = qdd[:, 0]
    assert np.abs(mixed(q, qd, tau).qdd - qdd).max() < 1e-10


@pytest.mark.parametrize("route", ["inertia", "articulated"])
def test_a_tilted_thin_rod_cannot_turn_freely_about_itself(route):
    """A free body whose inertia about a slanted line is zero but for round-off is refused."""
    along = np.array([0.36, 0.48, 0.8])
    I = 0.1 * (np.eye(3) - np.outer(along, along))
    rod = lw.Link("rod", 1.0, 0.1 * along, I)
    robot = lw.Robot([lw.Link("world"), rod], [lw.Joint("free", "world", "rod", "floating")])
    with pytest.raises(lw.LinkwiseError, match=r"'free'.*'rod'"):
        lw.compile(robot, lw.forward_dynamics, route=route)


def test_a_hand_without_mass_whose_fingers_mimic_is_named():
    """The refusal is of the route that knows mimicry, not of the one that does not."""
    links = [lw.Link("ground"), lw.Link("arm", 1.0, (0.1, 0, 0), (1, 1, 1)), lw.Link("left"), lw.Link("right")]
    joints = [
        lw.Joint("shoulder", "ground", "arm"),
        lw.Joint("grip", "arm", "left", "prismatic", axis=(0, 1, 0)),
        lw.Joint("follow", "arm", "right", "prismatic", axis=(0, -1, 0), mimic=lw.Mimic("grip")),
    ]
    robot = lw.Robot(links, joints)
    for algorithm in (lw.forward_dynamics, lw.hybrid_dynamics):
        with pytest.raises(lw.LinkwiseError, match=r"'grip'.*'left'"):
            lw.compile(robot, algorithm)


def test_an_unknown_driven_joint_is_named():
    robot = lw.random_tree(0, 3)
    with pytest.raises(lw.LinkwiseError, match="unknown joint 'elbow'"):
        lw.compile(robot, lw.hybrid_dynamics, driven=("elbow",))
    with pytest.raises(lw.LinkwiseError, match="unknown joint 3"):
        lw.compile(robot, lw.hybrid_dynamics, driven=(3,))
    with pytest.raises(lw.InputError, match="driven: expected names of joints, got 3"):
        lw.compile(robot, lw.hybrid_dynamics, driven=3)


def test_one_driven_joint_may_be_given_by_its_name():
    robot = lw.random_tree(0, 3)
    q, qd, given = np.random.default_rng(0).normal(size=(3, robot.nv))
    one, same = (lw.compile(robot, lw.hybrid_dynamics, driven=d)(q, qd, given) for d in ("joint2", ("joint2",)))
    np.testing.assert_array_equal(one.qdd, same.qdd)
    np.testing.assert_array_equal(one.tau, same.tau)


def test_a_long_chain_with_mimics_goes_by_the_inertia_matrix():
    """The route that is taken untried for long chains refuses joints that mimic: the other one is taken."""
    robot = lw.random_tree(3, 70, mimic=0.1, branching=0.0)
    with pytest.raises(lw.LinkwiseError, match="mimic"):
        lw.compile(robot, lw.forward_dynamics, route="articulated")
    chosen, inertia = lw.compile(robot, lw.forward_dynamics), lw.compile(robot, lw.forward_dynamics, route="inertia")
    assert chosen.count() == inertia.count()
