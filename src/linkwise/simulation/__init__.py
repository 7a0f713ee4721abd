"""Motion in time: accurate integration, forces of the environment, compiled rollouts."""

from linkwise.simulation.forces import Drag as Drag
from linkwise.simulation.forces import GroundContact as GroundContact
from linkwise.simulation.forces import GroundFriction as GroundFriction
from linkwise.simulation.forces import JointStop as JointStop
from linkwise.simulation.forces import RollingWheel as RollingWheel
from linkwise.simulation.forces import Thrust as Thrust
from linkwise.simulation.forces import joint_stops as joint_stops
from linkwise.simulation.limits import LimitMet as LimitMet
from linkwise.simulation.result import Simulation as Simulation
from linkwise.simulation.rollout import Rollout as Rollout
from linkwise.simulation.rollout import compile_rollout as compile_rollout
from linkwise.simulation.simulation import simulate as simulate
