"""A live page: who can reach it, what moves in it, what a user's hand does to the robot."""

import io
import signal
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from matplotlib.image import imread
from scipy.spatial.transform import Rotation

import linkwise as lw
from linkwise.view import server as served
from linkwise.view.nodes import creased, node_name
from linkwise.view.panel import slid, value
from linkwise.view.scene import Slider
from linkwise.view.solids import box, sphere
from support.browser import Console

WIDTH, HEIGHT = 700, 400  # of a page
MIDDLE = np.array([0.5, 0.0, 0.15])  # a point on the robot of that page
HOSTILE = ("<img src=x onerror=window.pwned=1>", "../../x", "a\nb\x00c", "</script><script>window.pwned=1</script>")


@pytest.fixture(scope="module")
def arm():
    return lw.load("industrial6")


@pytest.fixture
def shown(arm):
    with lw.show(arm, {"shoulder": 0.3, "elbow": -0.4, "pitch": 0.5}, tool="tool", open_browser=False) as made:
        yield made


def until(condition, seconds=10.0):
    """Wait for the painter."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def seen(shown):
    """The poses of links in the page (links, 4, 4)."""
    T = np.tile(np.eye(4), (len(shown.nodes.links), 1, 1))
    T[:, :3, :3] = Rotation.from_quat([n.wxyz for n in shown.nodes.links], scalar_first=True).as_matrix()
    T[:, :3, 3] = [n.position for n in shown.nodes.links]
    return T


def listening():
    found = psutil.Process().net_connections(kind="inet")
    return {c.laddr for c in found if c.status == psutil.CONN_LISTEN}


# ---- the server


def test_it_listens_on_this_machine_alone(arm):
    before = listening()
    with lw.show(arm, open_browser=False) as one, lw.show(arm, open_browser=False) as other:
        opened = listening() - before
        assert {x.ip for x in opened} == {"127.0.0.1"}
        assert {x.port for x in opened} == {one.server.port, other.server.port}
        assert one.address == f"http://127.0.0.1:{one.server.port}"
    assert listening() == before
    assert repr(one) == "<Show of the robot 'industrial6' closed>"


def test_pages_of_other_hosts_are_refused_and_nothing_is_published(shown):
    import viser
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    address, speaks = shown.address.replace("http", "ws"), [f"viser-v{viser.__version__}"]
    for origin in ("http://evil.example", "http://127.0.0.1.evil.example", "null"):
        with (
            connect(address, origin=origin, subprotocols=speaks) as stranger,
            pytest.raises(ConnectionClosed) as closed,
        ):
            stranger.recv(timeout=10.0)
        assert closed.value.rcvd.code == 1008
    with connect(address, origin=shown.address, subprotocols=speaks) as friend:
        assert friend.recv(timeout=10.0)
    assert shown.server.viser.request_share_url() is None


def test_ports_and_packages_are_named_in_errors(arm, monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(lw.InputError, match=f"expected a free port, got {port}"):
            lw.show(arm, port=port, open_browser=False)
    for wrong in (-1, 70000, "80", True):
        with pytest.raises(lw.InputError, match="whole number from 0 to 65535"):
            lw.show(arm, port=wrong, open_browser=False)
    served._class.cache_clear()
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(lw.InputError, match=r'pip install "linkwise\[view\]"'):
        lw.show(arm, open_browser=False)


def test_robots_tools_and_obstacles_are_checked(arm):
    with pytest.raises(lw.InputError, match="'stone', which has none"):
        lw.show(lw.Robot([lw.Link("stone")], name="stone"), open_browser=False)
    with pytest.raises(lw.UnknownNameError, match="Did you mean 'tool'"):
        lw.show(arm, tool="tol", open_browser=False)
    before = listening()
    with pytest.raises(lw.InputError, match="obstacles: expected lw"):
        lw.show(arm, obstacles=["box"], open_browser=False)
    assert listening() == before  # nothing is left of it


ENDS = """
import os, psutil, sys
import linkwise as lw
show = lw.show(lw.load("rr"), open_browser=False)
child = os.fork()
if not child:  # has neither socket nor threads, and moves nothing
    held = psutil.Process().net_connections(kind="inet")
    assert not held, held
    assert not show.is_open
    show.q = [0.1, 0.2]
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
import urllib.request
assert urllib.request.urlopen(show.address).status == 200
print("fine")
"""


def test_forks_do_not_inherit_it_and_exit_does_not_wait():
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", ENDS], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "fine\n", "")
    assert time.monotonic() - began < 60.0


def test_ctrl_c_ends_a_command():
    words = [sys.executable, "-m", "linkwise", "show", "rr", "--simulate", "--no-browser"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline()
        assert line.startswith("page at http://127.0.0.1:")
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode in (0, 130)
    assert out == ""
    assert err in ("", "linkwise: interrupted\n")


def test_the_browser_opens_it_or_a_warning_names_the_page(arm, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or len(opened) == 1)
    with lw.show(arm) as shown:
        assert opened == [shown.address]
    with pytest.warns(UserWarning, match=r"Open http://127.0.0.1:\d+ yourself"):
        shown = lw.show(arm)
    began = time.monotonic()
    shown.wait(0.3)
    assert time.monotonic() - began >= 0.3
    assert not shown.is_open


# ---- motions


def test_setting_q_moves_the_links(arm, shown):
    dyn = lw.compile(arm)
    rng = np.random.default_rng(0)
    for q in rng.uniform(-1.0, 1.0, (3, 6)):
        shown.q = q
        expected = np.concatenate([np.eye(4)[None], dyn.poses(q)])  # the base, then the links that move
        until(lambda expected=expected: np.allclose(seen(shown), expected, rtol=0.0, atol=1e-14))
        assert (shown.q == q).all()
    shown.q = {"elbow": 0.25}
    assert shown.q.tolist() == [0.0, 0.0, 0.25, 0.0, 0.0, 0.0]
    until(lambda: [h.value for _, h in shown.panel.sliders] == pytest.approx(shown.q, abs=1e-3))
    shown.reset()
    assert shown.q == pytest.approx([0.0, 0.3, -0.4, 0.0, 0.5, 0.0])
    for wrong in ([0.0], [np.nan] * 6, "no"):
        with pytest.raises(lw.LinkwiseError):
            shown.q = wrong


def test_a_control_loop_never_waits(shown):
    """A thousand positions take less than a second, although the page has 60 pictures in it."""
    began = time.perf_counter()
    for k in range(1000):
        shown.q = np.full(6, 1e-3 * k)
    assert time.perf_counter() - began < 1.0
    until(lambda: np.allclose(seen(shown)[1:], shown.dynamics.poses(np.full(6, 0.999)), rtol=0.0, atol=1e-14))


def test_results_and_positions_are_played(arm, shown):
    result = lw.simulate(arm, None, None, 0.1)
    shown.play(result, speed=2.0)
    until(lambda: np.allclose(seen(shown)[1:], shown.dynamics.poses(result.q[-1]), rtol=0.0, atol=1e-14))
    assert (shown.q == result.q[-1]).all()
    with pytest.raises(lw.InputError, match="play speed"):
        shown.play(result, speed=0.0)


def test_all_joints_of_a_machine_with_loops_are_played():
    hexapod = lw.gough_stewart()
    q = hexapod.q()
    tree = lw.compile(hexapod).positions(q).q
    with lw.show(hexapod, open_browser=False) as shown:
        shown.play(np.array([tree, tree]), speed=20.0)
        assert shown.q == pytest.approx(q)
        places = np.array([lw.compile(hexapod).poses(q)[k] for k in range(len(shown.links))])
        rows = [place.row for place in shown.scene.places if place.row >= 0]
        moving = [k for k, place in enumerate(shown.scene.places) if place.row >= 0 and place.link in shown.links]
        until(lambda: np.allclose(seen(shown)[moving], places[rows][: len(moving)], rtol=0.0, atol=1e-9))


def test_positions_at_which_loops_do_not_close_are_refused():
    with lw.show(lw.load("delta"), open_browser=False) as shown:
        before = shown.q
        with pytest.raises(lw.InputError, match="loops close"):
            shown.q = [9.0, 0.0, 0.0]
        slider = shown.scene.sliders[0]
        shown.panel._slide(slider, 9.0)  # stays where it is
        assert (shown.q == before).all()


def test_a_base_is_carried_and_set_down(arm, shown):
    def pose(t):
        return lw.Pose.of((0.1 + 0.0 * t, 0.2, 0.3), rpy=(0.0, 0.0, 0.5))

    shown.play({"t": [0.0, 0.05], **{name: [0.0, 0.0] for name in arm.names}}, base_motion=pose)
    until(lambda: shown.nodes.base.position == pytest.approx([0.1, 0.2, 0.3]))
    assert Rotation.from_quat(shown.nodes.base.wxyz, scalar_first=True).as_euler("xyz")[2] == pytest.approx(0.5)
    shown.q = np.zeros(6)
    until(lambda: not shown.nodes.base.position.any())


def test_sliders_turn_quaternions():
    q = np.array([1.0, 2.0, 3.0, *Rotation.from_euler("xyz", [0.1, 0.2, 0.3]).as_quat()])
    yaw = Slider("base.yaw", "base", 3, -3.0, 3.0, False, 2)
    assert value(yaw, q) == pytest.approx(0.3)
    turned = slid(yaw, q, -0.5)
    assert Rotation.from_quat(turned[3:]).as_euler("xyz") == pytest.approx([0.1, 0.2, -0.5])
    assert (turned[:3] == q[:3]).all()
    assert slid(Slider("a", "a", 1, 0.0, 1.0, False, also=(2,)), q, 7.0)[:3].tolist() == [1.0, 7.0, 7.0]


# ---- a user's hand


def test_a_dragged_tool_is_followed(arm, shown):
    goal = lw.compile(arm).pose(shown.q + 0.1, "tool")
    tool = shown._tool
    tool.arrows.position = goal[:3, 3]
    tool.arrows.wxyz = Rotation.from_matrix(goal[:3, :3]).as_quat(scalar_first=True)
    shown.painter.stop()  # the hand's event is handled here, by what the painter would call
    tool._held = True
    tool._follow()
    assert shown.target == pytest.approx(goal, abs=1e-12)
    assert lw.compile(arm).pose(shown.q, "tool") == pytest.approx(goal, abs=2e-6)
    dragged = []
    shown.on_drag = dragged.append
    tool._follow()
    assert dragged[0] == pytest.approx(goal, abs=1e-12)
    far = goal.copy()
    far[:3, 3] = 9.0
    assert not shown.reach(far)  # it goes as near as it can
    assert np.isfinite(shown.q).all()
    shown.tool = None
    assert shown.target is None
    with pytest.raises(lw.InputError, match="expected a tool"):
        shown.reach(goal)


def test_arms_with_few_joints_follow_positions_alone():
    arm = lw.load("rr")
    with lw.show(arm, [0.2, 0.9], tool="link2", open_browser=False) as shown:
        goal = lw.compile(arm).pose(np.array([0.5, 1.2]), "link2")
        goal[:3, :3] = np.eye(3)
        assert shown.reach(goal)
        assert lw.compile(arm).pose(shown.q, "link2")[:3, 3] == pytest.approx(goal[:3, 3], abs=2e-6)


def test_a_link_that_the_mouse_pulls_feels_a_spring(shown):
    """The wrench has the power of the force: f . v of the point, for any motion of the link."""
    T = shown.poses()[shown.placed.links["forearm"]]
    start = T[:3, 3] + T[:3, :3] @ [0.1, 0.02, 0.03]
    end = start + np.array([0.05, -0.1, 0.2])
    for phase in ("start", "update"):
        shown._pulled("forearm", SimpleNamespace(phase=phase, start_position=tuple(start), end_position=tuple(end)))
    row = shown.links.index("forearm")
    assert shown.pushes["forearm"].at == pytest.approx([0.1, 0.02, 0.03])
    f, m = np.split(shown.external[row], 2)
    assert T[:3, :3] @ f == pytest.approx(shown.stiffness * (end - start))
    v, w = np.random.default_rng(1).normal(size=(2, 3))
    assert f @ v + m @ w == pytest.approx(f @ (v + np.cross(w, [0.1, 0.02, 0.03])))
    assert not shown.external[np.arange(6) != row].any()
    until(lambda: shown.nodes.arrows.visible)
    assert shown.nodes.arrows.points[0] == pytest.approx(np.stack([start, end]), abs=1e-6)
    shown._pulled("forearm", SimpleNamespace(phase="end"))
    assert not shown.pushes
    shown._pulled("base", SimpleNamespace(phase="start"))  # which nothing moves
    assert not shown.external.any()


def test_pushes_act_as_in_simulate():
    """A constant force in the world: off by the square of the step, because wrenches are those of its middle."""
    arm, force, at = lw.load("rr"), np.array([0.3, -0.8, 0.0]), np.array([0.2, 0.1, 0.0])
    dyn, q0 = lw.compile(arm), np.array([0.4, -0.9])

    def wrench(t, q, qd):
        f = dyn.poses(q)[1, :3, :3].T @ force
        return np.concatenate([f, np.cross(at, f)])

    truth = lw.simulate(arm, q0, None, 0.4, external={"link2": wrench}, rtol=1e-11, atol=1e-12)
    off = []
    for dt in (4e-3, 2e-3):
        with lw.show(arm, q0, open_browser=False) as shown:
            shown.push("link2", force, at)
            q, qd = shown.simulate(duration=0.4, speed=np.inf, dt=dt, method="rk4", stops=False)
            off.append(max(np.abs(q - truth.q[-1]).max(), np.abs(qd - truth.qd[-1]).max()))
            assert (shown.q == q).all()
    assert np.abs(truth.q[-1] - q0).max() > 0.1  # the force moved it
    assert 3.5 < off[0] / off[1] < 4.5
    assert off[1] < 1e-5


def test_a_simulation_keeps_time_and_starts_again_where_the_robot_is_put(arm, shown):
    began = time.perf_counter()
    shown.simulate(lambda t, q, qd: -200.0 * qd, duration=0.2)
    assert time.perf_counter() - began >= 0.19
    put = np.full(6, 0.3)
    visited = []

    def control(t, q, qd):
        visited.append((q.copy(), qd.copy()))
        if len(visited) == 50:
            shown.q = put
        return np.zeros(6)

    shown.simulate(control, duration=40.0, speed=np.inf)  # many frames, however fast the machine
    again = next(k for k, (q, _) in enumerate(visited) if (q == put).all())
    assert again >= 50
    assert not visited[again][1].any()


@pytest.mark.parametrize("name", ["snake", "gough_stewart", "fourbar", "puma560"])
def test_pulling_hard_stays_finite(name):
    """The mouse at ten sizes of the robot, on its last link: springs are no stiffer than steps can follow."""
    with lw.show(lw.load(name), open_browser=False) as shown:
        far = np.full(3, 10.0 * shown.scene.size)
        here = shown.poses()[-1][:3, 3]
        link = shown.scene.places[-1].link
        shown._pulled(link, SimpleNamespace(phase="start", start_position=here, end_position=here + far))
        q, qd = shown.simulate(duration=0.3, speed=np.inf)
        assert shown.pushes
        assert np.isfinite(q).all()
        assert np.isfinite(qd).all()


def test_controls_and_times_are_checked(shown):
    for wrong in ({"control": [1.0]}, {"speed": -1.0}, {"duration": np.nan}, {"dt": 0.0}, {"control": "x"}):
        with pytest.raises(lw.InputError):
            shown.simulate(**wrong)
    with pytest.raises(lw.UnknownNameError):
        shown.push("arm", [0.0, 0.0, 1.0])
    with pytest.raises(lw.InputError, match="three finite numbers"):
        shown.push("forearm", [0.0, np.inf, 1.0])


# ---- what is drawn


def test_edges_are_sharp_and_round_things_smooth():
    cube, ball = creased(box(1.0, 2.0, 3.0)), sphere(1.0)
    assert len(cube.vertices) == 24  # a corner for each face
    assert len(creased(ball).vertices) == len(ball.vertices)
    assert cube.vertices[cube.faces] == pytest.approx(box(1.0, 2.0, 3.0).vertices[box(1.0, 2.0, 3.0).faces])


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_nodes_are_harmless(name):
    assert set(node_name(3, name)) <= set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_- ")


def test_the_page_is_drawn_and_dragged_and_names_in_it_are_text(browser):
    """One page for all of it, because a browser takes its time: a robot with hostile names, pulled by the mouse."""
    link, other, joint, robot = HOSTILE
    pendulum = lw.Robot(
        [lw.Link(link), lw.Link(other, 1.0, (0.5, 0.0, 0.0), (0.0, 0.1, 0.1, 0.0, 0.0, 0.0))],
        [lw.Joint(joint, link, other, "revolute", axis=(0, 1, 0))],
        frames=[lw.Frame(HOSTILE[0] + "tool", other, lw.Pose.of((1.0, 0.0, 0.0)))],
        shapes=[lw.Shape(other, "box", (1.0, 0.3, 0.3), lw.Pose.of((0.5, 0.0, 0.0)))],
        name=robot,
    )
    obstacle = lw.Shape("anything", "sphere", (0.1,), lw.Pose.of((-0.5, 0.0, 0.0)))
    with lw.show(pendulum, obstacles=[obstacle], open_browser=False) as shown:
        page = (browser.contexts[0] if browser.contexts else browser.new_context()).new_page()
        page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
        page.set_default_timeout(120_000)  # without a graphics card, among other tests
        console = Console()
        console.watch(page)
        assert any(pulled(page, shown) for _ in range(4))
        assert page.get_by_text(robot).count()
        assert page.evaluate("window.pwned") is None
        assert shown.external[0, :3].any()
        x, y = pixel(shown, MIDDLE)
        picture = page.screenshot(clip={"x": x - 40, "y": y - 40, "width": 80, "height": 80})
        assert len(np.unique(imread(io.BytesIO(picture), format="png").reshape(6400, -1), axis=0)) > 20  # light, shade
        page.mouse.up()
        until(lambda: not shown.pushes, 60.0)
        asked = {line.removeprefix("asked for ") for line in console if line.startswith("asked for")}
        assert asked == {f"{shown.address}/"}
        assert not [line for line in console if "rror" in line]
        page.close()
        assert shown.is_open


def pulled(page, shown):
    """Open the page and pull at the robot; whether it is held, which takes a page that is drawn by then."""
    page.goto(shown.address)
    page.locator("canvas").first.wait_for()
    until(shown.server.viser.get_clients, 60.0)
    x, y = pixel(shown, MIDDLE)
    time.sleep(2.0)
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(1, 6):
        page.mouse.move(x + 8 * k, y - 8 * k)
    for _ in range(100):
        if shown.pushes:
            return True
        time.sleep(0.1)
    page.mouse.up()
    return False


def pixel(shown, point):
    """Where a point of the world is in the page."""
    camera = shown.server.viser.initial_camera
    ahead = camera.look_at - camera.position
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, camera.up)
    right /= np.linalg.norm(right)
    away = point - camera.position
    scale = HEIGHT / 2.0 / np.tan(camera.fov / 2.0) / (away @ ahead)
    return WIDTH / 2.0 + scale * (away @ right), HEIGHT / 2.0 - scale * (away @ np.cross(right, ahead))
