"""The playground of the documentation: the numbers of Python, whatever table is typed."""

import json
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

import linkwise as lw
from playground.build import page, three
from playground.kernels import torques
from support.browser import Opened

PART = 1e-12  # of the largest torque; matrices to as much of a metre
NAMES = ("Two links", "SCARA", "Stanford arm", "PUMA-like", "UR-like", "Elbow (modified)")
HOSTILE = "<img src=x onerror=window.hurt=1>"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("playground") / "page.html"
    path.write_text(page(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def opened(browser, path):
    """The page, which must not complain, and asks for nothing on the network."""
    with Opened(browser, path, 1280, 800) as opened:
        yield opened
        assert opened.console == []
        assert opened.ask("window.hurt") is None


@pytest.fixture
def fresh(opened):
    """The page with its first robot."""
    opened.page.evaluate("location.hash = ''")
    opened.page.select_option("#preset", "PUMA-like")
    return opened


EVALUATE = """([state, motions]) => {
    const arm = playground.meaning(state), six = x => Float64Array.from({length: 6}, (_, k) => x[k] ?? 0);
    return [arm.errors, motions.map(([q, qd, qdd]) => {
        const A = new Float64Array(96), T = new Float64Array(96);
        playground.posesOf(arm, six(q), A, T);
        return [[...A], [...T], playground.partsOf(arm, six(q), six(qd), six(qdd)).map(x => [...x])];
    })];
}"""


def in_page(opened, state, motions):
    """Row transforms, poses, and torques with their parts, for each motion."""
    errors, found = opened.page.evaluate(EVALUATE, [state, [[x.tolist() for x in m] for m in motions]])
    assert errors == []
    n = len(state["rows"])
    A, T, tau = (np.array([f[k] for f in found]) for k in range(3))
    return A.reshape(-1, 6, 4, 4)[:, :n], T.reshape(-1, 6, 4, 4)[:, :n], tau[..., :n]


def compare(opened, state, robot, rng):
    n = len(state["rows"])
    motions = rng.uniform(-2.0, 2.0, (4, 3, n))
    A, T, tau = in_page(opened, state, motions)
    q, qd, qdd = motions.swapaxes(0, 1)
    k, zero = lw.compile(robot, lw.inverse_dynamics), np.zeros(n)
    M = np.array([np.reshape(lw.mass_matrix.plain(robot, x.tolist()), (n, n)) for x in q])
    gravity = k(q, zero, zero)
    expected = [k(q, qd, qdd), (M @ qdd[..., None])[..., 0], k(q, qd, zero) - gravity, gravity]
    size = np.abs(expected).max(axis=(0, 2))[:, None]
    for k, part in enumerate(expected):
        assert (np.abs(tau[:, k] - part) <= PART * size).all(), np.abs(tau[:, k] - part).max()
    links = [f"link{k + 1}" for k in range(n)]
    frames = np.array([[lw.pose.plain(robot, x.tolist(), frame=name) for name in links] for x in q]).reshape(
        -1, n, 4, 4
    )
    np.testing.assert_allclose(T, frames, rtol=0.0, atol=PART * max(1.0, np.abs(frames).max()))
    product = np.eye(4)
    for k in range(n):
        product = product @ A[:, k]
        np.testing.assert_allclose(product, frames[:, k], rtol=0.0, atol=PART * max(1.0, np.abs(frames).max()))


def random_table(rng, convention, unit):
    """A state of the page, as texts, and the robot that Python makes of the same numbers."""
    n = int(rng.integers(1, 7))
    rows, made = [], []
    for _ in range(n):
        kind = "P" if rng.random() < 0.3 else "R"
        theta, alpha = (
            float(x) for x in np.round(rng.uniform(-180, 180, 2) * (1 if unit == "deg" else np.pi / 180), 6)
        )
        d, a = (float(x) for x in np.round(rng.uniform(-0.6, 0.6, 2), 6))
        m, com = float(rng.uniform(0.1, 9.0)), rng.uniform(-0.3, 0.3, 3).tolist()
        root = rng.uniform(-0.3, 0.3, (3, 3))
        I = np.trace(root @ root.T) * np.eye(3) - root @ root.T
        inertia = [float(I[i, j]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
        rows.append({"kind": kind, "cells": [repr(x) for x in (theta, d, a, alpha)],
                     "body": [repr(x) for x in (m, *com, *inertia)]})  # fmt: skip
        scale = np.pi / 180 if unit == "deg" else 1.0
        geometry = {"theta": theta * scale, "alpha": alpha * scale, "d": d, "a": a}
        made.append({**geometry, "kind": kind, "mass": m, "com": com, "inertia": inertia})
    payload, down = float(np.round(rng.uniform(0.0, 5.0), 3)), rng.choice(["-z", "+z", "-y", "+x"])
    state = {"convention": convention, "unit": unit, "rows": rows, "rods": False, "density": "5", "down": str(down),
             "pull": "9.81", "payload": repr(payload), "law": "sine", "duration": "2",
             "from": [0] * n, "to": [0] * n}  # fmt: skip
    return state, made, payload


def robot_of(state, made, payload, maker):
    """The robot by one of three makers."""
    sign, axis = state["down"]
    gravity = [float(f"{sign}9.81") * (axis == name) for name in "xyz"]
    kinds = {"R": "revolute", "P": "prismatic"}
    if maker == "khalil":
        rows = [
            {"antecedent": k, "sigma": int(r["kind"] == "P"), "gamma": 0.0, "b": 0.0, "alpha": r["alpha"], "d": r["a"],
             "theta": r["theta"], "r": r["d"], **{x: r[x] for x in ("mass", "com", "inertia")}}
            for k, r in enumerate(made)
        ]  # fmt: skip
    else:
        rows = [{**r, "kind": kinds[r["kind"]]} for r in made]
    robot = getattr(lw, maker)(rows, gravity=gravity)
    return robot.with_payload(payload, at=f"link{len(made)}") if payload else robot


# ---- numbers


@pytest.mark.parametrize("maker", ["standard_dh", "modified_dh", "khalil"])
@pytest.mark.parametrize("unit", ["deg", "rad"])
def test_random_tables_give_the_numbers_of_python(opened, maker, unit):
    rng = np.random.default_rng(len(maker) + len(unit) + (unit == "deg"))
    for _ in range(4):
        state, made, payload = random_table(rng, "standard" if maker == "standard_dh" else "modified", unit)
        compare(opened, state, robot_of(state, made, payload, maker), rng)


@pytest.mark.parametrize("name", NAMES)
def test_robots_of_the_page_are_those_that_it_writes_in_python(fresh, name):
    fresh.page.select_option("#preset", name)
    fresh.page.fill("#payload", "1.5")
    fresh.page.click("#python")
    space = {}
    exec(fresh.page.input_value("#text"), space)
    state = fresh.ask("playground.state")
    assert space["robot"].nq == len(state["rows"])
    assert np.isfinite(space["tau"]).all()
    compare(fresh, state, space["robot"], np.random.default_rng(0))


def test_all_robots_of_the_page_are_tested(opened):
    assert tuple(opened.ask("Object.keys(playground.PRESETS)")) == NAMES


def test_what_is_shown_is_what_is_computed(fresh):
    """The text of a torque at rest, and the matrices, are those of Python."""
    fresh.page.click("#python")
    space = {}
    exec(fresh.page.input_value("#text"), space)
    q = np.array(fresh.ask("Array.from(playground.pose[0])"))
    tau = lw.compile(space["robot"]).inverse_dynamics(q, 0 * q, 0 * q)
    shown = fresh.ask("[...document.querySelectorAll('#joints .torque')].map(x => x.value)")
    np.testing.assert_allclose([float(x.split()[0]) for x in shown], tau, atol=0.06)
    fresh.ask("document.getElementById('matrices').open = true")
    fresh.page.wait_for_selector("#grid figure")
    cells = fresh.ask("[...document.querySelectorAll('#grid figure:last-child td')].map(x => Number(x.textContent))")
    truth = lw.compile(space["robot"], lw.pose, frame="link6")(q)
    np.testing.assert_allclose(np.reshape(cells, (4, 4)), truth, atol=6e-5)
    fresh.ask("document.getElementById('matrices').open = false")


def test_size_and_speed(opened, path, capsys):
    size = len(path.read_bytes()) - len(three().encode())
    rate = max(opened.ask("playground.evaluationsPerSecond(playground.arm, 200)") for _ in range(3))
    with capsys.disabled():
        print(f"\nplayground: {size / 1000:.0f} kB beside three.js, {rate:,.0f} torque evaluations a second")
    assert size <= 400_000
    assert rate >= 60


# ---- texts


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.35", 0.35), ("pi/2", np.pi / 2), ("-2*pi/3", -2 * np.pi / 3), ("π", np.pi), ("2pi", 2 * np.pi),
     (" 1e-3 ", 1e-3), ("0,35", 0.35), ("−90", -90.0), (".5", 0.5), ("1/4", 0.25), ("+3", 3.0)],
)  # fmt: skip
def test_numbers_as_people_write_them(opened, text, value):
    assert opened.page.evaluate("playground.parse", text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "text", ["", "abc", "1e999", "pi pi", "--1", "1/0", "0x10", "1 2", "*2", "NaN", "Infinity", HOSTILE]
)
def test_texts_that_are_no_numbers(opened, text):
    assert np.isnan(opened.page.evaluate("playground.parse", text))


def test_an_arm_survives_its_address(fresh, browser, path):
    fresh.page.fill('[aria-label="row 2, alpha"]', "pi/7")
    fresh.page.fill("#payload", "2.5")
    fresh.page.evaluate("document.querySelector('.table details').open = true")
    fresh.page.click("#rods")
    fresh.page.fill('[aria-label="link 3, Ixx"]', "0.75")
    fresh.page.click("#link")
    address = fresh.page.input_value("#text")
    before = fresh.ask("playground.state")
    with Opened(browser, path) as other:
        other.page.goto("about:blank")
        other.page.goto(address)
        after = other.ask("playground.state")
        assert other.console == []
    for given in (before, after):
        given["from"], given["to"] = (np.round(given[key], 4).tolist() for key in ("from", "to"))
    assert after == before
    assert after["rows"][1]["cells"][3] == "pi/7"


@pytest.mark.parametrize(
    "hash_",
    [
        "#x",
        "#%",
        "#{}",
        "#" + quote('{"rows": []}'),
        "#" + quote(json.dumps({"rows": [[HOSTILE]] * 9})),
        "#[]",
        "#null",
    ],
)
def test_addresses_that_hold_no_arm(opened, hash_):
    assert opened.page.evaluate("playground.stateOf", hash_) is None


def test_hostile_text_is_shown_as_text(fresh, browser, path):
    fresh.page.fill('[aria-label="row 1, d"]', HOSTILE[:40])
    shown = fresh.page.inner_text("#problems")
    assert HOSTILE[:40] in shown
    assert "expected a number" in shown
    assert fresh.page.get_attribute('[aria-label="row 1, d"]', "aria-invalid") == "true"
    assert fresh.ask("document.querySelectorAll('#problems img').length") == 0
    assert np.isfinite(fresh.ask("[...playground.arm.table]")).all()  # the arm stays as it was
    state = fresh.ask("playground.preset('SCARA')")
    rows = [[r["kind"], *r["cells"]] for r in state["rows"]]
    rows[0][1] = HOSTILE
    with Opened(browser, path) as other:
        other.page.goto("about:blank")
        other.page.goto(path.as_uri() + "#" + quote(json.dumps({**state, "rows": rows})))
        assert HOSTILE[:40] in other.page.inner_text("#problems")
        assert other.ask("window.hurt") is None
        assert other.console == []


# ---- the page


def test_tables_are_edited(fresh):
    count = "document.querySelectorAll('#dh tbody tr').length"
    for _ in range(5):
        fresh.page.click("#remove")
    assert fresh.ask(count) == 1
    assert fresh.page.is_disabled("#remove")
    fresh.page.click("#add")
    fresh.page.select_option('[aria-label="row 2, kind"]', "P")
    fresh.page.fill('[aria-label="row 2, a"]', "0.4")
    state = fresh.ask("playground.state")
    assert [r["kind"] for r in state["rows"]] == ["R", "P"]
    table = np.reshape(fresh.ask("[...playground.arm.table]"), (6, 7))
    assert table[1, [4, 6]].tolist() == [0.4, 1.0]
    assert (table[2:] == 0.0).all()
    fresh.page.check("input[name=convention][value=modified]")
    assert fresh.ask("[...playground.arm.table]")[7 + 1] == 0.4


def test_units(fresh):
    """Changing the unit keeps the arm; numbers that look like the other unit get a warning, and a way out."""
    before = np.array(fresh.ask("[...playground.arm.table]"))
    fresh.page.check("input[name=unit][value=rad]")
    np.testing.assert_allclose(fresh.ask("[...playground.arm.table]"), before, rtol=1e-15)
    assert fresh.page.inner_text("#problems") == ""
    fresh.page.fill('[aria-label="row 1, alpha"]', "90")
    assert "more than a turn" in fresh.page.inner_text("#problems")
    fresh.page.click("#problems button")
    assert fresh.ask("playground.state.unit") == "deg"
    np.testing.assert_allclose(fresh.ask("playground.arm.geometry[0].alpha"), np.pi / 2, rtol=1e-15)
    fresh.page.fill('[aria-label="row 1, alpha"]', "1.5708")
    assert "looks like radians" in fresh.page.inner_text("#problems")
    fresh.page.fill('[aria-label="row 1, d"]', "670")
    assert "Lengths are in metres" in fresh.page.inner_text("#problems")


def test_motions_play(fresh):
    fresh.page.click("#play")
    moving = "new Promise(done => setTimeout(() => done(playground.pose[1].some(x => Math.abs(x) > 0.01)), 50))"
    assert any(fresh.ask(moving) for _ in range(100))
    fresh.page.click("#play")
    ends = fresh.ask("[0, 2, 4].map(t => [...playground.motionAt(playground.state, 2, t)[0]])")
    np.testing.assert_allclose(ends[0], ends[2], atol=1e-12)
    h = 1e-5
    for law in ("quintic", "sine"):  # rates are derivatives
        at = f"t => playground.motionAt({{...playground.state, law: '{law}'}}, 2, t).map(x => [...x])"
        for t in (0.3, 1.1, 2.6):
            low, mid, high = (np.array(fresh.page.evaluate(at, x)) for x in (t - h, t, t + h))
            np.testing.assert_allclose((high - low)[:2] / (2 * h), mid[1:], atol=1e-8)


def test_the_table_as_csv(fresh):
    fresh.page.click("#csv")
    head, *lines = fresh.page.input_value("#text").splitlines()
    assert head.startswith("joint,kind,theta [deg],d [m],a [m],alpha [deg],mass [kg]")
    assert len(lines) == 6
    assert lines[0].startswith("1,revolute,0,0.67,0,90,")


def test_arms_are_drawn_at_every_width(browser, path):
    for width, height in ((1280, 800), (390, 844)):
        with Opened(browser, path, width, height) as seen:
            seen.page.wait_for_timeout(300)
            assert seen.colours() > 60
            assert seen.ask("document.documentElement.scrollWidth") <= width
            assert seen.console == []


def test_the_documentation_tells_how_long_the_function_is():
    text = Path(__file__).parents[2].joinpath("docs", "playground.md").read_text(encoding="utf-8")
    assert f"one function of {len(torques().schedule):,} operations" in text


def test_the_policy_lets_nothing_else_in(path):
    text = path.read_text(encoding="utf-8")
    assert "default-src 'none'; script-src 'sha256-" in text
    assert "unsafe" not in text.split("</head>")[0]
    assert "://" not in text.split("<script>")[0]
