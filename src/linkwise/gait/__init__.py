"""The digital human and its walking problem."""

from linkwise.gait.anthropometry import Segment as Segment
from linkwise.gait.audit import Audit as Audit
from linkwise.gait.norms import Band as Band
from linkwise.gait.norms import Match as Match
from linkwise.gait.norms import band as band
from linkwise.gait.objective import effort as effort
from linkwise.gait.opensim import write_ground as write_ground
from linkwise.gait.opensim import write_motion as write_motion
from linkwise.gait.opensim import write_torques as write_torques
from linkwise.gait.person import Load as Load
from linkwise.gait.person import Person as Person
from linkwise.gait.result import Walk as Walk
from linkwise.gait.rows import KINDS as KINDS
from linkwise.gait.rows import Bounds as Bounds
from linkwise.gait.stride import Stride as Stride
from linkwise.gait.sweep import sweep as sweep
from linkwise.gait.tracking import tracking as tracking
from linkwise.gait.walk import walk as walk
