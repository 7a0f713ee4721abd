"""Parameters that bodies can have: two methods agree, every result is a body's, and others find nothing better."""

import numpy as np
import pytest
from scipy.optimize import minimize

import linkwise as lw
from linkwise.identification import log_cholesky, physical
from linkwise.identification.physical import METRICS, consistent
from linkwise.identification.scaled_parameters import Scaled
from linkwise.robot.lumped_parameters import inertial_parameters, pseudo_inertia

NOISE = (1e-3, 0.1, 0.5, 2.0)  # of the mean torque


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Regressors of small robots, evaluated once."""
    monkeypatch.setenv("LINKWISE_BACKEND", "numpy")


def experiment(seed, joints=None, noise=None, rows=30, **chances):
    """A random robot, H and g of torques that it needs, with noise, and a prior that is wrong and often no body's."""
    rng = np.random.default_rng(seed)
    further = {"friction": 0.6, "armature": 0.5, "motors": 0.3, "floating": seed % 4 == 0, **chances}
    robot = lw.random_tree(seed, joints or 1 + seed % 7, **further)
    dyn, true = lw.compile(robot), robot.parameters()
    q = dyn.integrate(np.tile(robot.q(), (rows, 1)), rng.uniform(-1.0, 1.0, (rows, robot.nv)), 1.0)
    Y = dyn.regressor(q, *rng.uniform(-2.0, 2.0, (2, rows, robot.nv))).reshape(-1, len(true))
    sigma = (noise or NOISE[seed % 4]) * np.abs(Y @ true).mean()
    tau = Y @ true + sigma * rng.standard_normal(len(Y))
    return robot, Y.T @ Y / sigma**2, Y.T @ tau / sigma**2, true * rng.uniform(0.3, 2.0, len(true))


def is_physical(robot, x):
    n = len(robot.moving_links)
    least = np.linalg.eigvalsh(pseudo_inertia(x[: 10 * n].reshape(n, 10)))[:, 0]
    return np.all(least > 0.0) and np.all(x[10 * n : len(robot.parameter_names)] >= 0.0)


def agreement(a, b, lowest):
    """How far two objectives are apart, by what constraints and prior cost at all."""
    return abs(a - b) / max(abs(a - lowest), 1e-9 * abs(a))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(8))
def test_both_methods_agree_and_are_bodies(seed, metric):
    robot, H, g, prior = experiment(seed)
    found = {m: consistent(robot, H, g, prior=prior, metric=metric, method=m) for m in ("sdp", "cholesky")}
    lowest = -0.5 * g @ np.linalg.lstsq(H, g, rcond=1e-12)[0]
    for method, one in found.items():
        assert (one.status, one.method) == ("solved", method)
        assert is_physical(robot, one.parameters)
        assert one.margin > 0.0
    assert agreement(found["sdp"].objective, found["cholesky"].objective, lowest) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("metric", METRICS)
def test_both_methods_agree_on_many_robots(metric):
    for seed in range(100, 200):
        robot, H, g, prior = experiment(seed)
        one, other = (consistent(robot, H, g, prior=prior, metric=metric, method=m) for m in ("sdp", "cholesky"))
        assert (one.method, other.status) == ("sdp", "solved"), seed
        assert is_physical(robot, one.parameters), seed
        assert is_physical(robot, other.parameters), seed
        assert abs(one.objective - other.objective) < 1e-6 * abs(one.objective), seed


@pytest.mark.parametrize("metric", METRICS)
def test_scipy_finds_nothing_better(metric):
    """SLSQP, from the result and from the prior, with eigenvalues as constraints."""
    robot, H, g, prior = experiment(1, joints=1, noise=0.5)
    found = consistent(robot, H, g, prior=prior, metric=metric)
    model = Scaled(robot, H, g, prior, 1.0, metric)
    program = model.program()
    start = model.start()

    def margin(z):
        return np.linalg.eigvalsh(log_cholesky.matrices(z, 1)[0]) - program.margin

    constraints = [{"type": "ineq", "fun": margin}, {"type": "ineq", "fun": lambda z: program.rows @ z - program.least}]
    scale = abs(found.objective)
    for z in (start, 0.5 * (start + program.centre)):
        theirs = minimize(
            lambda z: program.inner(z) / scale, z, constraints=constraints, method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-14},
        )  # fmt: skip
        assert found.objective <= model.objective(model.parameters(theirs.x)) + 1e-7 * scale


def test_optimality_conditions_hold():
    """The gradient is a sum of multipliers: in the cone of links' matrices, and complementary to them."""
    robot, H, g, prior = experiment(3, noise=0.5)
    model = Scaled(robot, H, g, prior, 1e-4, "pullback")
    program = model.program()
    z = log_cholesky.solve(program, model.start()).z
    gradient = program.P @ (z - program.centre) + program.c
    n = program.links
    dual = log_cholesky.unpacked(gradient[: 10 * n].reshape(n, 10))
    size = np.abs(program.P @ (model.z0 - program.centre)).max()
    assert np.linalg.eigvalsh(dual).min() > -1e-6 * size
    S = log_cholesky.matrices(z, n) - program.margin * np.eye(4)
    assert np.abs(np.einsum("kij,kij->k", dual, S)).max() < 1e-6 * size
    assert np.linalg.eigvalsh(S).min() < 1e-6, "at least one link is on the boundary"


@pytest.mark.parametrize("entropy", [0.0, 0.7])
def test_derivatives_equal_complex_steps(entropy):
    rng = np.random.default_rng(5)
    robot, H, g, prior = experiment(5)
    first = robot.moving_links[0]
    bounds = {"mass": {first: (0.0, 1e3)}, "boxes": {first: ([-9.0] * 3, [9.0] * 3)}}
    model = Scaled(robot, H, g, prior, **bounds)
    program = model.program()._replace(entropy=entropy)
    theta = log_cholesky.coordinates(program, model.start()) + 0.1 * rng.uniform(-1.0, 1.0, len(program.centre))
    theta[10 * program.links :] = np.abs(theta[10 * program.links :]) + 0.1
    weight = 1e-3 * abs(program.inner(log_cholesky.point(program, theta)))
    gradient, hessian, _ = log_cholesky.derivatives(program, theta, weight)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-12 * np.abs(hessian).max())
    for k in range(len(theta)):
        moved = theta.astype(complex)
        moved[k] += 1e-30j
        slope = np.imag(log_cholesky.value(program, moved, weight)) / 1e-30
        assert slope == pytest.approx(gradient[k], rel=1e-9, abs=1e-9 * np.abs(gradient).max())
        bend = np.imag(log_cholesky.derivatives(program, moved, weight)[0]) / 1e-30
        np.testing.assert_allclose(bend, hessian[k], rtol=1e-8, atol=1e-9 * np.abs(hessian).max())


def test_coordinates_and_back():
    robot, H, g, prior = experiment(6)
    model = Scaled(robot, H, g, prior, 1.0, "pullback")
    program, z = model.program(), model.start()
    np.testing.assert_allclose(log_cholesky.point(program, log_cholesky.coordinates(program, z)), z, atol=1e-12)
    x = model.parameters(z)[: 10 * model.n].reshape(-1, 10)
    np.testing.assert_allclose(inertial_parameters(pseudo_inertia(x)), x, rtol=1e-12, atol=1e-15)


def test_true_parameters_are_found_where_data_determine_them():
    """Base parameters of the result are the true ones to the accuracy of the data, wherever the prior is."""
    robot, H, g, prior = experiment(2, noise=1e-5, rows=200)
    base = lw.base_parameters(robot)
    B = base.mapping
    wanted, found = B @ robot.parameters(), B @ consistent(robot, H, g, prior=prior).parameters
    np.testing.assert_allclose(found, wanted, rtol=1e-2, atol=2e-3 * np.abs(wanted).max())


def test_without_data_the_prior_is_kept():
    robot, H, g, _ = experiment(4)
    for metric in METRICS:
        for method in ("sdp", "cholesky"):
            found = consistent(robot, 0.0 * H, 0.0 * g, metric=metric, method=method)
            np.testing.assert_allclose(
                found.parameters, robot.parameters(), atol=2e-4 * np.abs(robot.parameters()).max()
            )


@pytest.mark.parametrize("method", ["sdp", "cholesky"])
def test_masses_and_boxes_hold(method):
    robot, H, g, prior = experiment(5, joints=3, noise=2.0)
    free = consistent(robot, H, g, prior=prior, method=method)
    first, second, third = robot.moving_links
    mass = {first: (0.0, 0.5 * free.parameters[0]), second: 1.25}
    boxes = {third: ([-0.1, -0.05, -0.1], [0.1, 0.2, 0.1])}
    found = consistent(robot, H, g, prior=prior, mass=mass, boxes=boxes, method=method)
    x = found.parameters
    assert found.status == "solved"
    assert found.objective > free.objective
    assert x[0] <= 0.5 * free.parameters[0] * (1.0 + 1e-6)
    assert x[10] == pytest.approx(1.25, rel=2e-6)
    com = x[21:24] / x[20]
    assert np.all(com >= np.array(boxes[third][0]) - 1e-6)
    assert np.all(com <= np.array(boxes[third][1]) + 1e-6)
    central = np.diag(pseudo_inertia(x[20:30]))[:3] / x[20] - com**2
    assert np.all(central <= (com - boxes[third][0]) * (boxes[third][1] - com) * (1 + 1e-6) + 1e-9)


def test_both_methods_agree_with_bounds():
    robot, H, g, prior = experiment(5, joints=3, noise=2.0)
    first, second, third = robot.moving_links
    given = {"mass": {first: (0.1, 0.2), second: 1.25}, "boxes": {third: ([-0.1, -0.05, -0.1], [0.1, 0.2, 0.1])}}
    for metric in METRICS:
        one, other = (consistent(robot, H, g, prior=prior, metric=metric, method=m, **given) for m in physical.METHODS)
        assert one.objective == pytest.approx(other.objective, rel=1e-6)


def test_further_columns_are_free_or_positive():
    robot, H, g, prior = experiment(1, joints=2)
    wide = np.zeros((len(g) + 2,) * 2)
    wide[: len(g), : len(g)] = H
    wide[-2:, -2:] = 4.0 * np.eye(2)
    right = np.concatenate([g, [-8.0, -8.0]])
    found = consistent(robot, wide, right, prior=prior, names=["a", "b"], positive=["b"], gamma=1e-6)
    assert found.parameters[-2] == pytest.approx(-2.0, rel=1e-3)
    assert 0.0 <= found.parameters[-1] < 1e-6


def test_fixed_numbers_stay():
    robot, H, g, _ = experiment(6, joints=3)
    prior = robot.parameters()
    link, joint = robot.moving_links[1], robot.joints[-1].name
    found = consistent(robot, H, g, prior=prior, fixed=[link, f"{joint}.viscous"]).parameters
    np.testing.assert_array_equal(found[10:20], prior[10:20])
    k = robot.parameter_names.index(f"{joint}.viscous")
    assert found[k] == prior[k]
    assert not np.allclose(found[:10], prior[:10])


def test_without_clarabel_the_other_method_is_taken(monkeypatch):
    robot, H, g, prior = experiment(1)
    monkeypatch.setattr(physical, "find_spec", lambda name: None)
    found = consistent(robot, H, g, prior=prior)
    assert found.method == "cholesky"
    assert "Clarabel is not installed" in found.notes[-1]


def test_links_without_mass_are_named():
    robot = lw.Robot(
        [lw.Link("base"), lw.Link("a", 1.0, (0.1, 0.0, 0.0), (0.01, 0.01, 0.01)), lw.Link("dummy"), lw.Link("b", 2.0)],
        [lw.Joint("one", "base", "a"), lw.Joint("two", "a", "dummy", axis=(1, 0, 0)), lw.Joint("three", "dummy", "b")],
    )
    n = len(robot.parameter_names)
    found = consistent(robot, np.zeros((n, n)), np.zeros(n))
    assert any("'dummy'" in note for note in found.notes)
    assert is_physical(robot, found.parameters)
    assert found.parameters[10] < 0.01
    again = robot.with_parameters(found.parameters)
    assert not [d for d in again.diagnostics if d.level == "error"]


def test_wrong_arguments_are_named():
    robot, H, g, _ = experiment(1, joints=1)
    for given, words in (
        ({"metric": "riemann"}, "metric: expected one of"),
        ({"method": "magic"}, "method: expected one of"),
        ({"gamma": 0.0}, "gamma: expected a number above 0"),
        ({"mass": {"nobody": 1.0}}, "unknown link in mass"),
        ({"mass": {robot.moving_links[0]: (2.0, 1.0)}}, "a least mass below a largest"),
        ({"mass": {robot.moving_links[0]: "heavy"}}, "expected two numbers or one"),
        ({"boxes": {robot.moving_links[0]: ([1, 1, 1], [0, 0, 0])}}, "a lower and an upper corner"),
        ({"boxes": {robot.moving_links[0]: 3}}, "expected two corners"),
        ({"positive": ["nobody"]}, "unknown parameter of a joint"),
        ({"positive": [0]}, "a place after the links'"),
        ({"fixed": ["nobody"]}, "unknown parameter of a joint"),
        ({"prior": [1.0]}, "prior: expected"),
        ({"names": ["a"]}, "expected 0 names"),
    ):
        with pytest.raises(lw.LinkwiseError, match=words):
            consistent(robot, H, g, **given)
    with pytest.raises(lw.InputError, match="expected H"):
        consistent(robot, H[:-1], g)
    with pytest.raises(lw.InputError, match="without negative eigenvalues"):
        consistent(robot, -H, g)
    with pytest.raises(lw.InputError, match="finite numbers in H and g"):
        consistent(robot, H * np.nan, g)
