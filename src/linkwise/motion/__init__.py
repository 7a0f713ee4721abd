"""Motions as tables of samples: read from files, differentiated, checked against limits, written with torques; logs."""

from linkwise.motion.columns import column_names as column_names
from linkwise.motion.columns import columns_of as columns_of
from linkwise.motion.columns import write as write
from linkwise.motion.delay import delay as delay
from linkwise.motion.limits import Excess as Excess
from linkwise.motion.limits import exceeded as exceeded
from linkwise.motion.log import Log as Log
from linkwise.motion.log_reader import read_log as read_log
from linkwise.motion.reader import read as read
from linkwise.motion.reversals import Reversal as Reversal
from linkwise.motion.reversals import reversals as reversals
from linkwise.motion.smoothing import Smoothed as Smoothed
from linkwise.motion.smoothing import low_pass as low_pass
from linkwise.motion.smoothing import smooth as smooth
from linkwise.motion.trajectory import Trajectory as Trajectory
