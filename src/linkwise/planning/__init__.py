"""Motions to be found: inverse kinematics, timings of paths, planned curves.

What a plan makes small is in `linkwise.cost`, what it respects in `linkwise.limit`.
"""

from linkwise.planning.ends import State as State
from linkwise.planning.families import sweep as sweep
from linkwise.planning.inverse_kinematics_solver import inverse_kinematics as inverse_kinematics
from linkwise.planning.online import Scaler as Scaler
from linkwise.planning.online import scaler as scaler
from linkwise.planning.path import Path as Path
from linkwise.planning.planner import plan as plan
from linkwise.planning.point import Point as Point
from linkwise.planning.result import Plan as Plan
from linkwise.planning.retimed import Retimed as Retimed
from linkwise.planning.timing import retime as retime
from linkwise.planning.tool_motion import move as move
