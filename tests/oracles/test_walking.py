"""The walking skeleton against Pinocchio: ground reactions, torques after them, and points of the body."""

import numpy as np
import pinocchio as pin
import pytest

import linkwise as lw
from linkwise.walking import Person
from linkwise.walking.ground import Support
from linkwise.walking.reactions import LoadKernel
from linkwise.walking.skeleton_numbers import FIGURE

SUPPORTS = {
    "flat": Support(0.0, 1.0, 0.0, 1.0),
    "heel off": Support(0.0, 1.0, 1.0, 1.0),
    "double": Support(1.0, 1.0, 0.0, 1.0, 0.27, 0.07, -0.17, -0.07),
}


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A person's skeleton here, and as Pinocchio reads it."""
    robot = Person(62.0, 1.7, "female").with_backpack(9.0).robot(frozen=True)
    path = tmp_path_factory.mktemp("walking") / "person.urdf"
    lw.save(robot, path)
    model = pin.buildModelFromUrdf(str(path))
    model.gravity.linear = np.array([0.0, -9.81, 0.0])
    order = np.array([model.joints[model.getJointId(n)].idx_v for n in robot.names])
    return robot, model, order


@pytest.mark.parametrize("name", SUPPORTS)
def test_torques_after_ground_reactions(people, name):
    """The six forces of the pelvis give the total; on the feet as external forces it leaves none, and our torques."""
    robot, model, order = people
    data, rng = model.createData(), np.random.default_rng(0)
    support = SUPPORTS[name]
    for _ in range(10):
        z = rng.uniform(-1, 1, (3, 38)) * [[0.3], [1.5], [4.0]]
        loads = LoadKernel(robot)(z, np.array(support))
        q, v, a = (np.zeros(38) for _ in range(3))
        for there, here in zip((q, v, a), z, strict=True):
            there[order] = here
        free = pin.rnea(model, data, q, v, a)[order]
        np.testing.assert_allclose(loads.ground.sum(axis=0)[:3], free[:3], atol=1e-8)
        pin.forwardKinematics(model, data, q)
        pin.updateFramePlacements(model, data)
        forces = pin.StdVec_Force([pin.Force.Zero() for _ in range(model.njoints)])
        for side, W in zip("rl", loads.ground, strict=True):
            toes = support.toe_r if side == "r" else support.toe_l
            joint = model.getJointId(f"toe_{side}" if toes else f"ank_inv_{side}")
            forces[joint] = data.oMi[joint].actInv(pin.Force(W[:3], W[3:]))
        tau = pin.rnea(model, data, q, v, a, forces)[order]
        np.testing.assert_allclose(loads.tau, tau, atol=1e-8)
        assert np.abs(tau[:6]).max() < 1e-8
        for k, point in enumerate(FIGURE):
            if point.startswith("hand"):  # in a URDF it shares its name with the link
                continue
            frame = model.getFrameId(point, pin.FrameType.BODY)
            np.testing.assert_allclose(loads.points[k], data.oMf[frame].translation, atol=1e-10)
