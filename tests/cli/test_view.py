import pytest

from support.browser import Opened
from support.command import error, linkwise


def test_a_page_of_a_robot_and_of_its_motion(folder, browser):
    done = linkwise("view", "arm.urdf", "-o", "arm.html")
    assert done.exit_code == 0, done.output
    assert done.stdout == "page in arm.html\n"
    arguments = ("--ghost", "swing.csv", "--wrenches", "--base-motion", "z=0.05,1.5", "--payload", "2@tool")
    done = linkwise("view", "arm.urdf", "swing.csv", *arguments, "-o", "swing.html")
    assert done.exit_code == 0, done.output
    with Opened(browser, folder / "swing.html") as page:
        page.ask("linkwise.ready.then(() => true)")
        assert page.ask("linkwise.views[0].head.motion.t.length") > 10
        assert not page.console


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("arm.urdf", "none.csv", "-o", "a.html"), "none.csv"),
        (("arm.urdf", "-o", "a.png"), "expected a name that ends in .html"),
        (("none.urdf", "-o", "a.html"), "none.urdf"),
        (("arm.urdf", "swing.csv", "--ghost", "none.csv", "-o", "a.html"), "none.csv"),
    ],
)
def test_what_is_wrong_is_said(folder, arguments, message):
    assert message in error("view", *arguments)


def test_a_package_that_is_not_found_is_said_with_where_to_name_it(folder):
    mesh = '<visual><geometry><mesh filename="package://my_robot/arm.stl"/></geometry></visual></link>'
    text = (folder / "arm.urdf").read_text().replace("</link>", mesh, 1)
    (folder / "meshes.urdf").write_text(text)
    said = linkwise("view", "meshes.urdf", "-o", "meshes.html").output
    assert "mesh not found: package://my_robot/arm.stl" in said
    assert "in ROS_PACKAGE_PATH" in said
