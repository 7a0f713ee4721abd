"""The digital human and its walking problem."""

from linkwise.walking.anthropometry import Segment as Segment
from linkwise.walking.audit import Audit as Audit
from linkwise.walking.effort import effort as effort
from linkwise.walking.norms import Band as Band
from linkwise.walking.norms import Match as Match
from linkwise.walking.norms import band as band
from linkwise.walking.opensim import write_ground as write_ground
from linkwise.walking.opensim import write_motion as write_motion
from linkwise.walking.opensim import write_torques as write_torques
from linkwise.walking.person import Load as Load
from linkwise.walking.person import Person as Person
from linkwise.walking.result import Walk as Walk
from linkwise.walking.rows import KINDS as KINDS
from linkwise.walking.rows import Bounds as Bounds
from linkwise.walking.stride import Stride as Stride
from linkwise.walking.sweep import sweep as sweep
from linkwise.walking.tracking import tracking as tracking
from linkwise.walking.walk import walk as walk
