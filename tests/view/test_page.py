"""Pages hold nothing but themselves: names are texts, scripts are ours, the network is not asked."""

import base64
import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.view.page import ASSETS, document, policy, viewer
from linkwise.view.payload import payload
from support.browser import Opened

NASTY = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'`${alert(3)}*/\\u2028\u2028\x00\n<!--"
ARM = lw.load("rr")


def wait(page, truth):
    """Until something is true, asked from outside: pages do not evaluate texts."""
    for _ in range(200):
        if page.ask(truth):
            return
        page.page.wait_for_timeout(50)
    raise AssertionError(truth)


def nasty_robot():
    """Every name that a user gives is an attack."""
    names = [f"{NASTY}0", f"{NASTY}1", "__proto__"]
    links = [lw.Link(name, 1.0, (0.1, 0.0, 0.0), (0.1, 0.1, 0.1)) for name in names]
    joints = [
        lw.Joint(f"{NASTY}{k}", links[k].name, links[k + 1].name, origin=lw.Pose.of((0.3, 0, 0))) for k in range(2)
    ]
    shape = lw.Shape(links[0].name, "mesh", file=f"{NASTY}.stl")
    return lw.Robot(links, joints, [lw.Frame(NASTY, links[2].name)], name=NASTY, shapes=[shape])


def test_hostile_names_are_texts(browser, tmp_path):
    robot = nasty_robot()
    t = np.linspace(0.0, 1.0, 5)
    motion = {"t": t, **{f"q.{name}": t for name in robot.names}}
    path = robot.view(tmp_path / "page.html", motion)
    text = path.read_text(encoding="utf-8")
    assert "alert(1)</script>" not in text
    assert text.isprintable() or {c for c in text if not c.isprintable()} == {"\n"}
    with Opened(browser, path) as page:
        page.page.on("dialog", lambda _: pytest.fail("a name was run"))
        page.ask("linkwise.ready.then(() => true)")
        assert page.ask("document.querySelector('.lw-title h1').textContent") == NASTY.replace("\r", "\n")
        assert page.ask("Object.keys(linkwise.poses(0.5))") == [k.name for k in robot.links]
        assert page.ask("document.images.length + document.scripts.length") == 4
        assert not page.console


def test_the_policy_lets_in_nothing_else(browser, tmp_path):
    """Neither scripts that are put into a page nor the network."""
    path = ARM.view(tmp_path / "page.html")
    text = path.read_text()
    path.write_text(text.replace("</body>", "<script>window.bad = 1</script><img src='http://127.0.0.1:9/x'></body>"))
    with Opened(browser, path) as page:
        page.ask("linkwise.ready.then(() => true)")
        assert page.ask("window.bad") is None
        script = "Object.assign(document.createElement('script'), { textContent: 'window.bad = 2' })"
        assert page.ask(f"document.body.append({script}), window.bad") is None
        refused = [said for said in page.console if "Content Security Policy" in said]
        assert len(refused) == 3  # a script, a picture, and a script of a script
        assert page.ask("document.images[0].naturalWidth") == 0
    assert "http" not in re.sub(r"http-equiv|http://www.w3.org/2000/svg", "", text)


def test_several_views_in_one_page(browser, tmp_path):
    """As galleries have them: one viewer, many payloads, each out of sight until somebody scrolls there."""
    shown = [payload(lw.load(name), compact=True) for name in ("rr", "scara", "fivebar")] * 4
    start = """
    const mounts = [...document.querySelectorAll('.here')].map((x) => linkwise.mount(x, x.dataset.payload));
    window.all = Promise.all(mounts);
    """
    style = ".here { width: 300px; height: 220px; }"
    views = "\n".join(f'<div class="here" data-payload="{p.text}"></div>' for p in shown)
    path = tmp_path / "gallery.html"
    path.write_text(
        f"<!doctype html><meta charset=utf-8>{policy(shown, [start], [style])}<style>{style}</style>{views}"
        f"{viewer()}<script>{start}</script>"
    )
    with Opened(browser, path) as page:
        assert page.ask("window.all.then((views) => views.length)") == 12
        page.page.wait_for_timeout(300)
        page.page.mouse.wheel(0, 4000)
        page.page.wait_for_timeout(300)
        assert page.ask("linkwise.views.filter((v) => v.stage.renderer).length") <= 8
        assert page.ask("linkwise.views[11].frames") > 0
        page.page.mouse.wheel(0, -4000)
        page.page.wait_for_timeout(300)
        assert page.ask("linkwise.views[0].stage.renderer !== null")
        assert page.colours() > 40
        assert not page.console


def test_obstacles_that_are_given_are_drawn():
    """Each is a part more, a place of its own on the robot's root; what cannot be drawn is refused."""

    def parts(**options):
        whole = gzip.decompress(base64.b64decode(payload(ARM, **options).text))
        return json.loads(whole[8 : 8 + int.from_bytes(whole[:8], "little")])["parts"]

    step = lw.Shape("step", "box", (0.5, 0.2, 0.8), lw.Pose.of((0.6, 0.1, 0.0)))
    assert len(parts(obstacles=[step, step])) == len(parts()) + 2
    with pytest.raises(lw.InputError, match=r"obstacles: expected lw\.Shape"):
        payload(ARM, obstacles=["box"])
    with pytest.raises(lw.InputError, match="stands still"):
        payload(ARM, obstacles=[step], base_motion=lambda t: lw.Pose.of((0.0, 0.0, t)))


def test_a_page_is_small():
    text = document(payload(lw.load("puma560")))
    assert len(text) < 400_000


def test_timeline_keys_and_plots(browser, tmp_path):
    sim = lw.simulate(ARM, ARM.q() + 0.1, [0.5, 0.2], np.linspace(0.0, 2.0, 41))
    path = sim.view(tmp_path / "page.html", ghost=ARM.q(), wrenches=True)
    with Opened(browser, path, 1280, 800) as page:
        page.ask("linkwise.ready.then(() => true)")
        keyboard = page.page.keyboard
        keyboard.press("ArrowRight")
        assert page.ask("linkwise.time()") == pytest.approx(0.05)
        keyboard.press("End")
        assert page.ask("linkwise.time()") == 2.0
        keyboard.press("Home")
        keyboard.press("Space")
        wait(page, "linkwise.time() > 0.1")
        keyboard.press("Space")
        now = page.ask("linkwise.time()")
        page.page.wait_for_timeout(200)
        assert page.ask("linkwise.time()") == now
        box = page.page.locator(".lw-curves").bounding_box()
        page.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert 0.5 < page.ask("linkwise.time()") < 1.5
        page.page.get_by_role("button", name="torque (N m)").click()
        for title in ("Frames", "Centres of mass", "Inertia ellipsoids", "Shadows", "Drive torques", "Joint forces"):
            page.page.get_by_text(title).click()
        page.page.mouse.move(500, 300)
        page.page.wait_for_timeout(300)
        assert page.colours() > 60
        assert not page.console


def test_traces_and_the_picture(browser, tmp_path):
    """The way of a frame is that of `dyn.pose`, with a tube around it; and all of the robot is in the picture."""
    robot = lw.load("scara")
    q = np.outer(np.linspace(0.0, 1.0, 41), [1.5, -1.0, -0.1, 2.0])
    columns = {"t": np.linspace(0.0, 1.0, 41)} | dict(zip([f"q.{n}" for n in robot.names], q.T, strict=True))
    path = robot.view(tmp_path / "page.html", columns, trace="tool")
    way = lw.compile(robot).pose(q, "tool")[:, :3, 3]
    with Opened(browser, path) as page:
        page.ask("linkwise.ready.then(() => true)")
        tube = page.ask("Array.from(linkwise.views[0].traces[0].geometry.attributes.position.array)")
        rings = np.reshape(tube, (-1, 6, 3))
        radius = 0.004 * page.ask("linkwise.views[0].head.size")
        assert np.abs(rings.mean(axis=1) - way).max() < 1e-6
        assert np.allclose(np.linalg.norm(rings - way[:, None], axis=2), radius, rtol=1e-4)
        far = page.ask(
            "linkwise.views[0].extent().points.map((p) => p.project(linkwise.views[0].stage.camera))"
            ".reduce((most, p) => Math.max(most, Math.abs(p.x), Math.abs(p.y)), 0)"
        )
        assert 0.6 < far < 1.0
    with pytest.raises(lw.UnknownNameError, match="tol"):
        robot.view(tmp_path / "page.html", columns, trace="tol")


def test_options_in_the_address(browser, tmp_path):
    sim = lw.simulate(ARM, ARM.q() + 0.1, [0.5, 0.2], np.linspace(0.0, 2.0, 41))
    path = sim.view(tmp_path / "page.html")
    with Opened(browser, path, 1280, 800) as page:
        page.page.goto(f"{path.as_uri()}#t=1.25&panel=0&plots=0&theme=dark")
        page.page.reload()
        page.ask("linkwise.ready.then(() => true)")
        assert page.ask("linkwise.time()") == 1.25
        assert not page.page.locator(".lw-panel").is_visible()
        assert not page.page.locator(".lw-plots").is_visible()
        page.page.goto(f"{path.as_uri()}#autoplay=1&orbit=1")
        page.page.reload()
        wait(page, "window.linkwise && linkwise.frames > 3 && linkwise.time() > 0")
        assert not page.console


def test_a_phone_folds_the_panel(browser, tmp_path):
    with Opened(browser, ARM.view(tmp_path / "page.html"), 390, 844) as page:
        page.ask("linkwise.ready.then(() => true)")
        assert not page.page.locator(".lw-panel").is_visible()
        page.page.get_by_role("button", name="Joints and options").click()
        assert page.page.locator(".lw-panel").is_visible()
        assert page.ask("document.documentElement.scrollWidth") == 390


def test_without_a_path_the_browser_opens(monkeypatch, capsys):
    import webbrowser

    asked = []
    monkeypatch.setattr(webbrowser, "open", lambda address: asked.append(address) or True)
    path = ARM.view()
    assert asked == [path.as_uri()]
    assert capsys.readouterr().out == f"page in {path}\n"
    path.unlink()
    path.parent.rmdir()


def test_three_js_has_all_that_our_scripts_use():
    """Viewer and playground share one bundle, which holds what its entry names and no more."""
    entry = (ASSETS / "three.entry.js").read_text(encoding="utf-8")
    scripts = [*ASSETS.glob("*.js"), *Path(__file__).parents[2].glob("docs/playground/*.js")]
    used = {name for path in scripts for name in re.findall(r"\bTHREE\.([A-Z]\w+)", path.read_text(encoding="utf-8"))}
    assert len(used) > 20
    assert {name for name in used if not re.search(rf"\b{name}\b", entry)} == set()
