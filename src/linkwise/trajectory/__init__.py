"""Motions as tables of samples: read from files, differentiated, checked against limits, written with torques."""

from linkwise.trajectory.columns import column_names as column_names
from linkwise.trajectory.limits import Excess as Excess
from linkwise.trajectory.limits import exceeded as exceeded
from linkwise.trajectory.platform import PlatformMotion as PlatformMotion
from linkwise.trajectory.platform import read_platform as read_platform
from linkwise.trajectory.platform import write_platform as write_platform
from linkwise.trajectory.reader import read as read
from linkwise.trajectory.reversals import Reversal as Reversal
from linkwise.trajectory.reversals import reversals as reversals
from linkwise.trajectory.trajectory import Trajectory as Trajectory
from linkwise.trajectory.writer import write as write
