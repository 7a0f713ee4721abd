"""What notebooks show: tables and small plots in which names are nothing but text."""

import os
import subprocess
import sys
from html.parser import HTMLParser

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

import linkwise as lw
from linkwise.card import card, framed, in_notebook, inline, line, plots, table
from support.browser import Opened

HOSTILE = "<img src=x onerror=window.pwned=1>\"'&\x00\x1b[31m\u202e</script>"
OURS = {"div", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "figure", "figcaption", "svg", "rect"}
OURS |= {"path", "span", "iframe"}
EMPTY = {"rect", "path"}


class Tags(HTMLParser):
    """The elements of a text, which must be closed in their order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.attributes, self.words = [], set(), set(), ""
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attributes}
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data


def hostile_robot():
    links = [lw.Link(HOSTILE), lw.Link(f"{HOSTILE}2", 1.0, (0.5, 0.0, 0.0), (0.0, 0.1, 0.1, 0.0, 0.0, 0.0))]
    joint = lw.Joint(
        HOSTILE, HOSTILE, f"{HOSTILE}2", "revolute", axis=(0, 1, 0), limits=lw.Limits(-2.0, 2.0, effort=9.0)
    )
    frame = lw.Frame(HOSTILE, f"{HOSTILE}2", lw.Pose.of((1.0, 0.0, 0.0)))
    return lw.Robot(links, [joint], frames=[frame], name=HOSTILE)


@pytest.fixture(scope="module")
def objects():
    robot = hostile_robot()
    dyn = lw.compile(robot)
    return {
        "robot": robot,
        "dynamics": dyn,
        "kernel": dyn.inverse_dynamics,
        "rollout": lw.compile_rollout(robot),
        "step": lw.compile_rollout(robot).step,
        "simulation": lw.simulate(robot, None, None, 0.2),
        "plan": lw.plan(robot, [0.0], [1.0], subject_to=lw.limit.joints("effort"), control_points=8, refine=False),
        "retimed": lw.retime(robot, [[0.0], [1.0]]),
        "reached": lw.inverse_kinematics(robot, HOSTILE, dyn.pose(np.array([[0.1], [0.2]]), HOSTILE)),
        "base parameters": lw.base_parameters(robot),
    }


def test_cards_escape_every_name(objects):
    for name, thing in objects.items():
        html = thing._repr_html_()
        found = Tags(html)
        assert found.seen <= OURS, name
        assert not [a for a in found.attributes if a.startswith("on")], name
        assert html.isprintable(), name
        if name not in ("reached", "base parameters"):
            assert "<img src=x onerror=window.pwned=1>" in found.words, name  # there, as text


def test_cards_say_what_an_object_is(objects):
    assert "-2 to 2" in objects["robot"]._repr_html_()
    assert "operations of one evaluation: " in objects["kernel"]._repr_html_()
    assert "Generalised forces" in objects["kernel"]._repr_html_()
    assert "inverse_dynamics" in objects["dynamics"]._repr_html_()
    assert "2 of 2 rows converged" in objects["reached"]._repr_html_()
    assert objects["simulation"]._repr_html_().count("<path") == 2  # a position and a torque
    assert lw.load("walker")._repr_html_().count("<details") == 1  # large tables are folded


def test_repr_stays_as_it_is(objects):
    assert repr(objects["kernel"]).startswith("<Kernel inverse_dynamics of the robot")
    assert repr(objects["robot"]).startswith("<Robot ")


def test_lines_go_through_their_points_and_leave_gaps():
    html = plots([0.0, 1.0, 2.0, 3.0], {"x": (["a"], np.array([[0.0], [1.0], [np.nan], [2.0]]))})
    assert 'd="M4.0 86.0L88.0 45.0M256.0 4.0"' in html
    assert "x: 0 to 2" in html
    assert plots([0.0], {"x": (["a"], np.array([[np.inf]]))})  # no room, no error
    assert plots(np.linspace(0, 1, 9999), {"x": (["a"], np.ones((9999, 1)))}).count("L") < 300
    assert plots([], {}) == ""


def test_long_tables_are_cut():
    html = card("t", line("l"), table(("a",), ((k,) for k in range(100))))
    assert html.count("<tr>") == 61
    assert "... and 40 more" in html


def test_pages_stand_in_frames_of_their_own(browser, tmp_path):
    page = inline(
        "<title>inner</title><script>try { parent.pwned = 1 } catch { parent.postMessage('kept out', '*') }</script>",
        HOSTILE,
    )
    assert 'sandbox="allow-scripts"' in page
    assert Tags(framed('http://127.0.0.1:1/"><img>')).seen == {"iframe"}
    path = tmp_path / "notebook.html"
    path.write_text("<script>addEventListener('message', (e) => { window.said = e.data })</script>" + page)
    with Opened(browser, path) as opened:
        opened.page.wait_for_function("window.said")
        assert opened.ask("window.said") == "kept out"
        assert opened.ask("window.pwned") is None
        opened.page.frames[1].wait_for_function("document.title == 'inner'")  # which may come after the message


CELLS = (
    "import linkwise as lw\nrobot = lw.load('rr')\nrobot",
    "lw.compile(robot).inverse_dynamics",
    "lw.simulate(robot, None, None, 0.1)",
    "robot.view()",
    "show = lw.show(robot)\nshow",
    "show.q = [0.1, 0.2]\nshow.simulate(duration=0.02)\nshow.close()",
)


def test_a_notebook_shows_cards_and_pages():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [cell.outputs for cell in notebook.cells]
    shown = [out[-1].data.get("text/html", "") if out and "data" in out[-1] else "" for out in outputs]
    assert "robot &#x27;rr&#x27;" in shown[0]
    assert "operations of one evaluation" in shown[1]
    assert "<svg" in shown[2]
    assert shown[3].startswith("<iframe srcdoc=")
    assert "linkwise-payload" in shown[3]
    assert shown[4].startswith('<iframe src="http://127.0.0.1:')
    assert [out for out in outputs[5] if out.output_type == "stream"] == []  # nothing is printed
    assert Tags(shown[3]).seen == {"iframe"}


def test_plain_sessions_are_no_notebooks_and_ipython_is_not_imported():
    assert not in_notebook()
    probe = "import sys, linkwise.card as card; assert not card.in_notebook(); assert 'IPython' not in sys.modules"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    subprocess.run([sys.executable, "-c", probe], check=True, env=environment)


def test_one_is_one_degree_of_freedom():
    robot = lw.standard_dh([(0.0, 0.0, 0.4, 0.0)])
    assert ": 1 degree of freedom, 2 links" in repr(robot)
    assert "1 degree of freedom, 2 links" in robot._repr_html_()
