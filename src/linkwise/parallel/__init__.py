"""Parallel robots: a platform on legs, after [Khalil] section 5."""

from linkwise.parallel.builders import delta as delta
from linkwise.parallel.builders import gough_stewart as gough_stewart
from linkwise.parallel.builders import three_rrr as three_rrr
from linkwise.parallel.dynamics import ParallelDynamics as ParallelDynamics
from linkwise.parallel.robot import Leg as Leg
from linkwise.parallel.robot import ParallelRobot as ParallelRobot
