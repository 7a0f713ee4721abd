"""Joints: how one link moves on another, a file for each kind."""

from linkwise.robot.joint.curve import Course as Course
from linkwise.robot.joint.curve import Curve as Curve
from linkwise.robot.joint.joint import KINDS as KINDS
from linkwise.robot.joint.joint import Joint as Joint
from linkwise.robot.joint.joint import Mimic as Mimic
from linkwise.robot.joint.kind import Kind as Kind
