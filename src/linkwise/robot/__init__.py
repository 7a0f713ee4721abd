"""What a robot is: frozen data and its checks, and the tree of bodies that algorithms walk along."""

from linkwise.robot.dh import khalil as khalil
from linkwise.robot.dh import modified_dh as modified_dh
from linkwise.robot.dh import standard_dh as standard_dh
from linkwise.robot.diagnose import Diagnostic as Diagnostic
from linkwise.robot.drive import Drive as Drive
from linkwise.robot.drive import Friction as Friction
from linkwise.robot.drive import Limits as Limits
from linkwise.robot.drive import Motor as Motor
from linkwise.robot.drive import Spring as Spring
from linkwise.robot.joint import Joint as Joint
from linkwise.robot.joint import Mimic as Mimic
from linkwise.robot.link import Frame as Frame
from linkwise.robot.link import Link as Link
from linkwise.robot.load import load as load
from linkwise.robot.loop import Loop as Loop
from linkwise.robot.random import random_tree as random_tree
from linkwise.robot.robot import Robot as Robot
from linkwise.robot.robot import permutation as permutation
from linkwise.robot.table import DHRow as DHRow
from linkwise.robot.table import KhalilRow as KhalilRow
from linkwise.robot.urdf import load_urdf as load_urdf
