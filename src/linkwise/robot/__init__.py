"""What a robot is: frozen data and its checks, and the tree of bodies that algorithms walk along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwise.lazy import lazy

if TYPE_CHECKING:  # what comes when it is first asked for; the table below has the same names
    from linkwise.robot.beam import beam as beam
    from linkwise.robot.dh import khalil as khalil
    from linkwise.robot.dh import modified_dh as modified_dh
    from linkwise.robot.dh import standard_dh as standard_dh
    from linkwise.robot.diagnose import Diagnostic as Diagnostic
    from linkwise.robot.drive import Drive as Drive
    from linkwise.robot.drive import Friction as Friction
    from linkwise.robot.drive import Limits as Limits
    from linkwise.robot.drive import Motor as Motor
    from linkwise.robot.drive import Spring as Spring
    from linkwise.robot.joint import Course as Course
    from linkwise.robot.joint import Curve as Curve
    from linkwise.robot.joint import Joint as Joint
    from linkwise.robot.joint import Mimic as Mimic
    from linkwise.robot.library import list_robots as list_robots
    from linkwise.robot.link import Frame as Frame
    from linkwise.robot.link import Link as Link
    from linkwise.robot.load import load as load
    from linkwise.robot.loop import Loop as Loop
    from linkwise.robot.mjcf import load_mjcf as load_mjcf
    from linkwise.robot.order import Permutation as Permutation
    from linkwise.robot.order import permutation as permutation
    from linkwise.robot.random import random_tree as random_tree
    from linkwise.robot.robot import Robot as Robot
    from linkwise.robot.save import save as save
    from linkwise.robot.table import DHRow as DHRow
    from linkwise.robot.table import KhalilRow as KhalilRow
    from linkwise.robot.to_dh import to_khalil as to_khalil
    from linkwise.robot.to_dh import to_modified_dh as to_modified_dh
    from linkwise.robot.toml import load_toml as load_toml
    from linkwise.robot.urdf import load_urdf as load_urdf

lazy(
    __name__,
    {
        "beam": "beam",
        "dh": "khalil modified_dh standard_dh",
        "diagnose": "Diagnostic",
        "drive": "Drive Friction Limits Motor Spring",
        "joint": "Course Curve Joint Mimic",
        "library": "list_robots",
        "link": "Frame Link",
        "load": "load",
        "loop": "Loop",
        "mjcf": "load_mjcf",
        "order": "Permutation permutation",
        "random": "random_tree",
        "robot": "Robot",
        "save": "save",
        "table": "DHRow KhalilRow",
        "to_dh": "to_khalil to_modified_dh",
        "toml": "load_toml",
        "urdf": "load_urdf",
    },
)
