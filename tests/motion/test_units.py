"""Units of motions: in the names of columns, for a whole table, or asked about."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.motion.units import degrees_question

T = np.linspace(0.0, 2.0, 21)
EXAMPLE = "arm.urdf"


@pytest.fixture(scope="module")
def arm(request):
    return lw.load(request.config.rootpath / "examples" / EXAMPLE)


@pytest.fixture(scope="module")
def swing():
    q = {"turn": 1.2 * np.sin(T), "shoulder": -0.8 + 0.5 * T, "elbow": 2.0 * np.cos(T)}
    rates = {"qd.turn": 1.2 * np.cos(T), "qd.shoulder": 0.5 + 0.0 * T, "qd.elbow": -2.0 * np.sin(T)}
    return {"t": T, **q, **rates}


def same(a, b):
    return all(np.allclose(getattr(a, key), getattr(b, key), rtol=1e-12, atol=1e-12) for key in ("t", "q", "qd", "qdd"))


def test_degrees_for_all(arm, swing):
    turned = {k: v if k == "t" else np.degrees(v) for k, v in swing.items()}
    expected = lw.motion.read(swing, arm)
    found = lw.motion.read(turned, arm, angles="degrees")
    assert same(found, expected)
    assert found.notes == expected.notes == ()


def test_units_in_names(arm, swing):
    named = {
        "t [ms]": 1e3 * T, "turn [deg]": np.degrees(swing["turn"]), "q.shoulder (rad)": swing["shoulder"],
        "elbow [°]": np.degrees(swing["elbow"]), "qd.turn [deg/s]": np.degrees(swing["qd.turn"]),
        "qd.shoulder": swing["qd.shoulder"], "qd.elbow [rad/s]": swing["qd.elbow"],
    }  # fmt: skip
    assert same(lw.motion.read(named, arm), lw.motion.read(swing, arm))
    with pytest.raises(lw.InputError, match=r"each column once, got 'turn' and 'turn \[deg\]'"):
        lw.motion.read({**swing, "turn [deg]": T}, arm)
    with pytest.raises(lw.InputError, match=r"none for 'turn'"):
        lw.motion.read({**{k: v for k, v in swing.items() if k != "turn"}, "turn [furlong]": T}, arm)


def test_lengths_stay_and_platforms_turn(swing):
    scara = lw.load("scara")
    rng = np.random.default_rng(0)
    q = rng.normal(size=(21, 4)) * 0.1
    given = {"t": T, **dict(zip(scara.names, q.T, strict=True))}
    slide = scara.names[[j.kind for j in scara.joints].index("prismatic")]
    turned = {k: v if k in ("t", slide) else np.degrees(v) for k, v in given.items()}
    assert np.allclose(lw.motion.read(turned, scara, angles="degrees").q, q, rtol=1e-12)
    hexapod = lw.gough_stewart()
    pose = {"t": T, "x": 0.01 * T, "y": 0.0 * T, "z": 0.75 + 0.0 * T, "roll": 0.1 * T, "pitch": 0.0 * T, "yaw": 0.2 * T}
    turned = {k: np.degrees(v) if k in ("roll", "pitch", "yaw") else v for k, v in pose.items()}
    assert same(lw.motion.read(turned, hexapod, angles="degrees"), lw.motion.read(pose, hexapod))


def test_degrees_are_asked_about(arm, swing):
    turned = {k: v if k == "t" else np.degrees(v) for k, v in swing.items()}
    (note,) = lw.motion.read(turned, arm).notes
    assert note.startswith("positions look like degrees: elbow is at 114.6 rad, its limit is 2.6 rad, which is 149 deg")
    far = {**swing, "elbow": 100.0 * swing["elbow"]}  # beyond the limits even so
    assert lw.motion.read(far, arm).notes == ()


def test_wrong_words(arm, swing):
    with pytest.raises(lw.InputError, match="angles: expected 'radians' or 'degrees', got 'deg'"):
        lw.motion.read(swing, arm, angles="deg")


def within_limits(robot, rng):
    """Positions all over the limits of a robot, turns of some without limits."""
    q = np.tile(robot.q(), (50, 1))
    for joint in robot.joints:
        slot = robot.slots.get(joint.name)
        if slot is not None and slot.nv == 1:
            low, high = max(joint.limits.lower, -20.0), min(joint.limits.upper, 20.0)
            q[:, slot.q] = rng.uniform(low, high, 50)
    return q


@pytest.mark.parametrize("name", list(lw.list_robots()))
def test_no_question_within_limits_of_bundled_robots(name):
    robot = lw.load(name)
    assert degrees_question(robot, within_limits(robot, np.random.default_rng(0))) is None


def test_no_question_within_limits_of_real_robots():
    from support.examples import FILES, NOT_ROBOTS

    for path in FILES:
        if path.name in NOT_ROBOTS:
            continue
        robot = lw.load(path)
        q = within_limits(robot, np.random.default_rng(1))
        assert degrees_question(robot, q) is None, path
        assert degrees_question(robot, 1.3 * q) is None, path  # beyond the limits, but in rad
