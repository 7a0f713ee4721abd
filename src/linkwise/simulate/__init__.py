"""Motion in time: accurate integration, forces of the environment, compiled rollouts."""

from linkwise.simulate.forces import Drag as Drag
from linkwise.simulate.forces import GroundContact as GroundContact
from linkwise.simulate.forces import GroundFriction as GroundFriction
from linkwise.simulate.forces import JointStop as JointStop
from linkwise.simulate.forces import RollingWheel as RollingWheel
from linkwise.simulate.forces import Thrust as Thrust
from linkwise.simulate.forces import joint_stops as joint_stops
from linkwise.simulate.parallel import ParallelSimulation as ParallelSimulation
from linkwise.simulate.parallel import simulate_parallel as simulate_parallel
from linkwise.simulate.result import Simulation as Simulation
from linkwise.simulate.rollout import Rollout as Rollout
from linkwise.simulate.rollout import compile_rollout as compile_rollout
from linkwise.simulate.simulation import simulate as simulate
