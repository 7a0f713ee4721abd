"""Without noise the equations hold on every machine, through filters and decimation, and give its base parameters."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.identification.least_squares import solve
from linkwise.identification.measurements import measured
from linkwise.identification.samples import Rows, Samples
from linkwise.identification.structure import Structure
from linkwise.motion import Log
from linkwise.motion.smoothing import Smoothed
from support.every_machine import SORTS, sort

RATE, CUTOFF = 100.0, 20.0


def equations(structure: Structure, *motion: np.ndarray) -> Rows:
    """Of states that need no smoothing, in place of a smooth motion."""
    robot = structure.robot
    tau = lw.compile(robot).inverse_dynamics(*motion)
    log = Log(robot, np.arange(len(tau)) / RATE, motion[0], tau=tau)
    none = np.zeros(robot.nv)
    smoothed = Smoothed(log, *motion, none + CUTOFF, none, np.zeros((3, robot.nv)))
    known = np.where(structure.free, 0.0, structure.prior)
    return Samples(smoothed, measured(structure, log).values, CUTOFF, np.zeros(robot.nq)).rows(
        structure, structure.kept, known
    )


QUICK = ("arm", "five-bar", "Delta")


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in SORTS if "moving" not in name],
)
def test_equations_of_every_machine_give_its_base_parameters(name: str) -> None:
    structure = Structure(sort(name).robot)
    truth = structure.mapping @ np.where(structure.free, structure.prior, 0.0)
    rows = equations(structure, *sort(name).states(150 + 6 * len(truth) // structure.robot.nu))
    assert np.abs(rows.A @ truth - rows.b).max() < 1e-9 * np.abs(rows.b).max()
    A = rows.A.reshape(-1, len(truth))
    size = np.linalg.norm(A, axis=0)
    told = size > 1e-9 * size.max()
    spread = np.linalg.svd(A[:, told] / size[told], compute_uv=False)
    found = solve(rows, "ordinary").x
    # round-off of the torques, enlarged by how badly the states tell columns apart
    allowed = 1e-11 * np.abs(rows.b).max() * np.sqrt(rows.b.size) / spread[-1] / size[told]
    assert np.all(np.abs(found - truth)[told] < np.maximum(allowed, 1e-11 * np.abs(truth[told])))


def test_groups_are_those_of_base_parameters() -> None:
    robot = lw.load("puma560")
    base, structure = lw.base_parameters(robot), Structure(robot, offsets=False)
    np.testing.assert_array_equal(structure.kept, base.kept)
    np.testing.assert_allclose(structure.mapping, base.mapping, atol=1e-9)
    assert structure.base_names == base.names


def test_an_offset_is_grouped_with_what_no_torque_tells_from_it() -> None:
    structure = Structure(lw.load("scara"))
    assert "stroke.offset" not in structure.base_names  # on a vertical axis a weight is a constant force
    assert any(name.endswith("stroke.offset") for name in structure.base_names)


def test_some_parameters_may_be_known() -> None:
    robot = lw.load("arm7")
    link = robot.moving_links[-1]
    structure = Structure(robot, payload=link)
    names = structure.base_names
    assert [n for n in names if n.startswith(f"{link}.")] == [f"{link}.{p}" for p in (
        "m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")]  # fmt: skip
    assert not any(".rotor" in n for n in names)
    base = lw.base_parameters(robot, among=[f"{link}.m", f"{link}.mcx"])
    assert base.names == (f"{link}.m", f"{link}.mcx")
    with pytest.raises(lw.UnknownNameError, match="unknown parameter"):
        lw.base_parameters(robot, among=["nobody.m"])
