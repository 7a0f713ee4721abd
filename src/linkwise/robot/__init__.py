"""What a robot is: frozen data and its checks, and the tree of bodies that algorithms walk along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwise.lazy import lazy

if TYPE_CHECKING:  # what comes when it is first asked for; the table below has the same names
    from linkwise.robot.beam import beam as beam
    from linkwise.robot.diagnose import Diagnostic as Diagnostic
    from linkwise.robot.drive import Drive as Drive
    from linkwise.robot.drive import Friction as Friction
    from linkwise.robot.drive import Limits as Limits
    from linkwise.robot.drive import Motor as Motor
    from linkwise.robot.drive import Spring as Spring
    from linkwise.robot.geometry import Shape as Shape
    from linkwise.robot.height_field import HeightField as HeightField
    from linkwise.robot.joint import Course as Course
    from linkwise.robot.joint import Curve as Curve
    from linkwise.robot.joint import Joint as Joint
    from linkwise.robot.joint import Mimic as Mimic
    from linkwise.robot.joint_order import Permutation as Permutation
    from linkwise.robot.joint_order import permutation as permutation
    from linkwise.robot.link import Frame as Frame
    from linkwise.robot.link import Link as Link
    from linkwise.robot.loop import Loop as Loop
    from linkwise.robot.random import random_tree as random_tree
    from linkwise.robot.robot import Robot as Robot

lazy(
    __name__,
    {
        "beam": "beam",
        "diagnose": "Diagnostic",
        "drive": "Drive Friction Limits Motor Spring",
        "geometry": "Shape",
        "height_field": "HeightField",
        "joint": "Course Curve Joint Mimic",
        "link": "Frame Link",
        "loop": "Loop",
        "joint_order": "Permutation permutation",
        "random": "random_tree",
        "robot": "Robot",
    },
)
